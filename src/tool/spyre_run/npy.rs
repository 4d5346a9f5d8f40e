//! Reads and writes NumPy files.

use crate::{codes, tool};
use half::f16;
use machine::{ElementType, UnknownElementType};
use npyz::{AutoSerialize, NpyFile, WriterBuilder};
use referee::{ArrayElements, HostArray};
use std::{
    fs,
    io::{self, BufReader, Read, Seek, SeekFrom},
    path::Path,
};

/// Reads an array as elements of the program's type. NumPy has no bf16, so bf16 arguments are read from f32. 8-bit
/// floats are read from bytes. Integers of the program have no sign: they are read from signed and unsigned arrays of
/// their width, bit by bit.
///
/// # Errors
/// Returns the file and the error in it.
pub fn read(path: &str, element_type: &str) -> Result<HostArray, String> {
    let reject = |error: io::Error| {
        codes::RUN_ARRAY.format(format_args!(
            "cannot read '{path}': {}; expected a .npy file, give one of numpy.save",
            files::reason(&error)
        ))
    };
    if Path::new(path).extension().is_some_and(|extension| extension == "npz" || extension == "safetensors") {
        let advice = format!("give the archive with --inputs {path}");
        return Err(codes::RUN_ARRAY
            .format(format_args!("expected one array in a .npy file, found several in '{path}'; {advice}")));
    }
    let file = files::open(Path::new(path)).map_err(reject)?;
    let num_bytes = file.metadata().map_err(reject)?.len();
    if num_bytes == 0 {
        let advice = "save the array again with numpy.save";
        return Err(codes::RUN_ARRAY
            .format(format_args!("expected an array in a .npy file, found no bytes in '{path}'; {advice}")));
    }
    read_from(BufReader::new(file), num_bytes, path, element_type)
}

/// Reads an array of `num_bytes` bytes as [`read`] does. `path` is its name in messages.
pub(super) fn read_from(
    mut file: impl Read + Seek,
    num_bytes: u64,
    path: &str,
    element_type: &str,
) -> Result<HostArray, String> {
    let element = element_type.parse();
    let element = element.map_err(|unknown: UnknownElementType| format!("cannot read '{path}': {unknown}"))?;
    let reject = |error: io::Error| format!("cannot read '{path}': {}", files::reason(&error));
    check_header(&mut file, num_bytes).map_err(reject)?;
    let is_byte = ElementType::is_f8(element);
    let as_bytes = |message: String| {
        if is_byte { format!("{message}; give numbers of {element} as bytes, '|u1'") } else { message }
    };
    let file = NpyFile::new(file).map_err(|error| as_bytes(reject(error)))?;
    if file.order() != npyz::Order::C {
        return Err(codes::RUN_ARRAY.format(format_args!(
            "expected an array in C order, found Fortran order in '{path}'; save numpy.ascontiguousarray(array)"
        )));
    }
    let descr = file.dtype().descr();
    check_elements(&descr, path, element)?;
    let is_unsigned = as_signed(descr.trim_matches('\'')).is_some();
    let shape: Vec<i64> = file.shape().iter().map(|&size| size.cast_signed()).collect();
    let elements = match element {
        ElementType::F16 => {
            ArrayElements::F16(file.into_vec::<f16>().map_err(reject)?.into_iter().map(f16::to_bits).collect())
        }
        ElementType::F32 => ArrayElements::F32(file.into_vec().map_err(reject)?),
        ElementType::F64 => ArrayElements::F64(file.into_vec().map_err(reject)?),
        ElementType::Bf16 => {
            let values: Vec<f32> = file.into_vec().map_err(reject)?;
            ArrayElements::Bf16(values.into_iter().map(referee::bf16_from_f32).collect())
        }
        ElementType::F8E4M3Fn => {
            ArrayElements::F8E4M3Fn(read_raw_bytes(file).map_err(|error| as_bytes(reject(error)))?)
        }
        ElementType::F8E5M2 => ArrayElements::F8E5M2(read_raw_bytes(file).map_err(|error| as_bytes(reject(error)))?),
        ElementType::I8 if is_unsigned => {
            ArrayElements::I8(file.into_vec().map_err(reject)?.into_iter().map(u8::cast_signed).collect())
        }
        ElementType::I8 => ArrayElements::I8(file.into_vec().map_err(reject)?),
        ElementType::I32 if is_unsigned => {
            ArrayElements::I32(file.into_vec().map_err(reject)?.into_iter().map(u32::cast_signed).collect())
        }
        ElementType::I32 => ArrayElements::I32(file.into_vec().map_err(reject)?),
        ElementType::I64 | ElementType::Index if is_unsigned => {
            ArrayElements::I64(file.into_vec().map_err(reject)?.into_iter().map(u64::cast_signed).collect())
        }
        ElementType::I64 | ElementType::Index => ArrayElements::I64(file.into_vec().map_err(reject)?),
        ElementType::Bool => {
            ArrayElements::Bool(file.into_vec::<bool>().map_err(reject)?.into_iter().map(u8::from).collect())
        }
    };
    Ok(HostArray { shape, elements })
}

/// Returns the NumPy dtype from which elements of an argument are read: its name, and its `descr` in a file. Returns
/// `None` for types with several spellings.
fn numpy_type(element: ElementType) -> Option<(&'static str, &'static str)> {
    match element {
        ElementType::F16 => Some(("float16", "<f2")),
        ElementType::F32 | ElementType::Bf16 => Some(("float32", "<f4")),
        ElementType::F64 => Some(("float64", "<f8")),
        ElementType::I32 => Some(("int32", "<i4")),
        ElementType::I64 | ElementType::Index => Some(("int64", "<i8")),
        ElementType::F8E4M3Fn | ElementType::F8E5M2 | ElementType::Bool | ElementType::I8 => None,
    }
}

/// Returns the NumPy `descr` of signed integers of the same width, for unsigned integers of a width that programs have.
fn as_signed(descr: &str) -> Option<&'static str> {
    match descr {
        "|u1" => Some("|i1"),
        "<u4" => Some("<i4"),
        "<u8" => Some("<i8"),
        _ => None,
    }
}

/// Rejects elements of another type, with advice in NumPy's terms.
fn check_elements(descr: &str, path: &str, element: ElementType) -> Result<(), String> {
    let (found, torch_name) = (descr.trim_matches('\''), element.torch_name());
    match numpy_type(element) {
        Some((name, _)) if found == "|O" => Err(codes::RUN_ARRAY.format(format_args!(
            "expected elements of {torch_name}, found Python objects ('|O') in '{path}'; give all rows one length, and save \
             numpy.array(rows, dtype='{name}')"
        ))),
        Some((name, expected)) if found != expected && as_signed(found) != Some(expected) => Err(codes::RUN_ARRAY.format(format_args!(
            "expected elements of {torch_name} ('{expected}'), found type '{found}'{} in '{path}'; {}",
            numpy_type_label(found),
            conversion_advice(found, name)
        ))),
        _ => Ok(()),
    }
}

/// Returns advice on converting an array of dtype `found` to the dtype that NumPy calls `name`.
fn conversion_advice(found: &str, name: &str) -> String {
    match found.trim_start_matches(['<', '>', '|', '=']).chars().next() {
        Some('U' | 'S') => format!("give numbers: numpy.array(rows, dtype='{name}')"),
        Some('c') => format!("give the real part, array.real.astype('{name}')"),
        _ => format!("convert the array with .astype('{name}')"),
    }
}

/// Returns the name of a NumPy `descr`, for types that users often confuse; empty for all others.
fn numpy_type_label(found: &str) -> &'static str {
    match found {
        "<f2" => " (float16)",
        "<f4" => " (float32)",
        "<f8" => " (float64)",
        "<i4" => " (int32)",
        "<i8" => " (int64)",
        "<c8" | "<c16" => " (complex)",
        text if text.starts_with("<U") || text.starts_with("|S") => " (text)",
        _ => "",
    }
}

/// Reads the bytes of 8-bit floats. NumPy has no name for their type, so bytes, integers and raw bytes (as packages
/// with such types write them) are accepted.
fn read_raw_bytes<R: Read>(file: NpyFile<R>) -> io::Result<Vec<u8>> {
    let (name, length) = (file.dtype().descr(), file.len());
    match name.trim_matches('\'') {
        "|u1" | "|i1" | "|V1" | "<V1" => {}
        other => {
            return Err(io::Error::new(io::ErrorKind::InvalidData, format!("has elements of '{other}'")));
        }
    }
    let mut bytes = Vec::new();
    file.into_inner().take(length).read_to_end(&mut bytes)?;
    if bytes.len() as u64 == length { Ok(bytes) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
}

/// Maximum size of a header, in bytes. The header of a numeric array has about a hundred.
const MAX_HEADER_BYTES: u64 = 4096;

/// Rejects headers on which the parser of the `npyz` crate would fail badly: long or nested headers, and shapes with
/// more elements than the file has bytes.
fn check_header(file: &mut (impl Read + Seek), num_bytes: u64) -> io::Result<()> {
    let reject = |what: &str| Err(io::Error::new(io::ErrorKind::InvalidData, what));
    let mut start = [0; 12];
    if file.read_exact(&mut start).is_err() || !start.starts_with(b"\x93NUMPY") {
        return reject(
            "expected a .npy file, found another format; read text with numpy.loadtxt, and save the array with numpy.save",
        );
    }
    // Position after the magic number and the version. The length has two bytes in version 1, four in later versions.
    let (length, header) = match start[6] {
        1 => (u64::from(u16::from_le_bytes([start[8], start[9]])), 10),
        _ => (u64::from(u32::from_le_bytes([start[8], start[9], start[10], start[11]])), 12),
    };
    if length > MAX_HEADER_BYTES {
        return reject("the header is too long for an array of numbers");
    }
    file.seek(SeekFrom::Start(header))?;
    let mut text = Vec::new();
    file.by_ref().take(length).read_to_end(&mut text)?;
    let text = String::from_utf8_lossy(&text);
    let num_brackets = text.matches(['(', '[', '{']).count();
    let mut shapes = text.split("shape").skip(1);
    let (Some(shape), None) = (shapes.next(), shapes.next()) else {
        return reject("the header has no shape, or several");
    };
    if num_brackets > 3 || text.contains('\\') {
        return reject("the header is not that of an array of numbers");
    }
    let sizes = shape.split(|letter: char| !letter.is_ascii_digit()).filter(|size| !size.is_empty());
    let num_elements =
        sizes.map(|size| size.parse().ok()).try_fold(1_u64, |product, size: Option<u64>| product.checked_mul(size?));
    if num_elements.is_none_or(|count| count > num_bytes) {
        return reject("the file is shorter than its header says; save the array again");
    }
    file.rewind()
}

/// Writes every result into the folder, which is created. Result names that are no plain file names are rejected before
/// anything is written.
///
/// # Errors
/// Returns the name, or the path and the I/O error.
pub fn write_results(folder: &Path, results: &[(String, HostArray)]) -> Result<(), String> {
    if let Some((name, _)) = results.iter().find(|(name, _)| !files::is_plain_name(name)) {
        return Err(
            codes::OUTPUT_WRITE.format(format_args!("cannot write the result '{name}': it has no plain file name"))
        );
    }
    fs::create_dir_all(folder).map_err(|error| {
        let reason = files::reason(&error);
        codes::OUTPUT_WRITE
            .format(format_args!("--output-dir: cannot write '{}': {reason}; name another directory", folder.display()))
    })?;
    for (name, array) in results {
        let path = folder.join(format!("{name}.npy"));
        let cannot = |error: &dyn std::fmt::Display| format!("cannot write '{}': {error}", path.display());
        let path = path.to_str().ok_or_else(|| cannot(&"the name is no UTF-8"))?;
        tool::write_file(path, &to_npy_bytes(array).map_err(|error| cannot(&error))?)?;
    }
    Ok(())
}

/// Returns the contents of a `.npy` file with the array.
pub(super) fn to_npy_bytes(array: &HostArray) -> io::Result<Vec<u8>> {
    match &array.elements {
        ArrayElements::F16(bits) => serialize_npy(&array.shape, bits.iter().map(|&bits| f16::from_bits(bits))),
        ArrayElements::Bf16(bits) => serialize_npy(&array.shape, bits.iter().map(|&bits| referee::bf16_to_f32(bits))),
        ArrayElements::F32(values) => serialize_npy(&array.shape, values.iter().copied()),
        ArrayElements::F64(values) => serialize_npy(&array.shape, values.iter().copied()),
        // NumPy has no 8-bit floats, so their bytes are written.
        ArrayElements::F8E4M3Fn(bytes) | ArrayElements::F8E5M2(bytes) => {
            serialize_npy(&array.shape, bytes.iter().copied())
        }
        ArrayElements::I8(values) => serialize_npy(&array.shape, values.iter().copied()),
        ArrayElements::I32(values) => serialize_npy(&array.shape, values.iter().copied()),
        ArrayElements::I64(values) => serialize_npy(&array.shape, values.iter().copied()),
        ArrayElements::Bool(values) => serialize_npy(&array.shape, values.iter().map(|&value| value != 0)),
    }
}

fn serialize_npy<T: AutoSerialize>(shape: &[i64], values: impl Iterator<Item = T>) -> io::Result<Vec<u8>> {
    let shape: Vec<u64> = shape.iter().map(|&size| size.unsigned_abs()).collect();
    let mut bytes = Vec::new();
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(&mut bytes).begin_nd()?;
    writer.extend(values)?;
    writer.finish()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    fn read_as<T: AutoSerialize>(values: Vec<T>, element_type: &str) -> Result<HostArray, String> {
        let num_values = i64::try_from(values.len()).unwrap();
        let bytes = serialize_npy(&[num_values], values.into_iter()).unwrap();
        let num_bytes = bytes.len() as u64;
        read_from(Cursor::new(bytes), num_bytes, "x.npy", element_type)
    }

    #[test]
    fn reads_unsigned_integers_bit_by_bit() {
        let elements = |array: Result<HostArray, String>| array.unwrap().elements;
        assert_eq!(elements(read_as(vec![7_u8, 200], "i8")), ArrayElements::I8(vec![7, -56]));
        assert_eq!(elements(read_as(vec![7_u32, u32::MAX], "i32")), ArrayElements::I32(vec![7, -1]));
        assert_eq!(elements(read_as(vec![7_u64, u64::MAX], "i64")), ArrayElements::I64(vec![7, -1]));
        assert_eq!(elements(read_as(vec![7_i8, -56], "i8")), ArrayElements::I8(vec![7, -56]));
    }

    #[test]
    fn rejects_unsigned_integers_of_another_width() {
        for (array, element_type) in [(read_as(vec![7_u32], "i64"), "int64"), (read_as(vec![7_u64], "f16"), "float16")]
        {
            let message = array.unwrap_err();
            assert!(message.contains(&format!("expected elements of {element_type}")), "{message}");
        }
    }
}
