//! Files with several named arrays: NumPy's `.npz`, and `.safetensors`.

use super::{contract, npy};
use crate::codes;
use machine::ElementType;
use referee::{ArrayElements, HostArray};
use safetensors::{Dtype, SafeTensors, tensor::TensorView};
use sdsc_format::program::Tensor;
use std::{
    collections::BTreeMap,
    io::{self, Cursor, Read},
    path::Path,
};
use zip::ZipArchive;

/// Reads the arrays of a file. Their names are those of arguments.
///
/// # Errors
/// Returns the file and the error in it, or the name of an array that is no argument.
pub fn read_all(path: &str, arguments: &[Tensor]) -> Result<BTreeMap<String, HostArray>, String> {
    match Path::new(path).extension().and_then(|extension| extension.to_str()) {
        Some("npz") => read_npz(path, arguments),
        Some("safetensors") => read_safetensors(path, arguments),
        _ => Err(codes::RUN_ARRAY.format(format_args!(
            "--inputs: expected a .npz or .safetensors file, found '{path}'; save arrays with numpy.savez, or give --input NAME=FILE.npy"
        ))),
    }
}

/// Returns the argument named `name`.
fn find_argument<'a>(path: &str, name: &str, arguments: &'a [Tensor]) -> Result<&'a Tensor, String> {
    arguments.iter().find(|tensor| tensor.name == name).ok_or_else(|| {
        let names: Vec<&str> = arguments.iter().map(|tensor| tensor.name.as_str()).collect();
        codes::RUN_ARGUMENT.format(format_args!(
            "--inputs: expected arguments of the program, found '{name}' in '{path}'; the arguments are {}",
            names.join(", ")
        ))
    })
}

/// Returns the maximum size in bytes of an array in a file: its elements at 8 bytes each, the largest type, and 64 KiB
/// for its header.
fn max_array_bytes(tensor: &Tensor) -> u64 {
    let num_elements = tensor.shape.iter().map(|size| size.unsigned_abs()).fold(1, u64::saturating_mul);
    num_elements.saturating_mul(8).saturating_add(1 << 16)
}

fn read_npz(path: &str, arguments: &[Tensor]) -> Result<BTreeMap<String, HostArray>, String> {
    let reject = |error: &dyn std::fmt::Display| codes::RUN_ARRAY.format(format_args!("cannot read '{path}': {error}"));
    let file = files::open(Path::new(path)).map_err(|error| {
        reject(&format!("{}; expected a .npz file, give one of numpy.savez", files::reason(&error)))
    })?;
    let mut archive = ZipArchive::new(io::BufReader::new(file)).map_err(|error| {
        reject(&format!("expected a .npz file, found none ({error}); save the arrays again with numpy.savez"))
    })?;
    let mut arrays = BTreeMap::new();
    for index in 0..archive.len() {
        let entry = archive.by_index(index).map_err(|error| reject(&error))?;
        let name = entry.name().map_err(|error| reject(&error))?;
        let name = name.strip_suffix(".npy").unwrap_or(&name).to_owned();
        let tensor = find_argument(path, &name, arguments)?;
        let mut bytes = Vec::new();
        // A compressed entry may expand to any length, so the read is limited.
        entry.take(max_array_bytes(tensor) + 1).read_to_end(&mut bytes).map_err(|error| reject(&error))?;
        let num_bytes = bytes.len() as u64;
        if num_bytes > max_array_bytes(tensor) {
            return Err(format!(
                "cannot read '{path}': '{name}' is longer than an argument of shape {:?}",
                tensor.shape
            ));
        }
        let place = format!("{path}: {name}");
        let read = |element: &str| npy::read_from(Cursor::new(&bytes), num_bytes, &place, element);
        let array = contract::read_argument(tensor, read);
        arrays.insert(name, array.map_err(|message| contract::format_array_error("--inputs", tensor, &message))?);
    }
    Ok(arrays)
}

fn read_safetensors(path: &str, arguments: &[Tensor]) -> Result<BTreeMap<String, HostArray>, String> {
    let most = arguments.iter().map(max_array_bytes).fold(1 << 20, u64::saturating_add);
    let bytes = files::read(Path::new(path), most).map_err(|error| {
        let advice = "expected a .safetensors file, give one of safetensors.numpy.save_file";
        format!("cannot read '{path}': {}; {advice}", files::reason(&error))
    })?;
    let file = SafeTensors::deserialize(&bytes).map_err(|error| {
        let advice = "save the arrays again with safetensors.numpy.save_file";
        format!("cannot read '{path}': expected a .safetensors file, found none ({error}); {advice}")
    })?;
    let mut arrays = BTreeMap::new();
    for (name, view) in file.iter() {
        let tensor = find_argument(path, name, arguments)?;
        let reject = |message: String| {
            contract::format_array_error("--inputs", tensor, &format!("cannot read '{path}': '{name}' {message}"))
        };
        let shape: Vec<i64> = view.shape().iter().map(|size| i64::try_from(*size).unwrap_or(i64::MAX)).collect();
        let read = |element: &str| Ok(HostArray { shape: shape.clone(), elements: convert_elements(&view, element)? });
        arrays.insert(name.to_owned(), contract::read_argument(tensor, read).map_err(reject)?);
    }
    Ok(arrays)
}

/// Returns the elements of an array, whose type must be `element`.
fn convert_elements(view: &TensorView<'_>, element: &str) -> Result<ArrayElements, String> {
    let found = match view.dtype() {
        Dtype::F16 => ElementType::F16,
        Dtype::BF16 => ElementType::Bf16,
        Dtype::F32 => ElementType::F32,
        Dtype::F64 => ElementType::F64,
        // Integers of the program have no sign.
        Dtype::I8 | Dtype::U8 => ElementType::I8,
        Dtype::I32 | Dtype::U32 => ElementType::I32,
        Dtype::I64 | Dtype::U64 => ElementType::I64,
        Dtype::BOOL => ElementType::Bool,
        other => return Err(format!("has elements of {other:?}, which no program has")),
    };
    if element.parse() != Ok(found) {
        return Err(format!("has elements of {found}, and the program has {element}"));
    }
    let num_elements = view.shape().iter().product();
    let mut elements = ArrayElements::zeros(found, num_elements);
    elements.set_bytes(view.data());
    Ok(elements)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::{fs, io::Write};
    use tempfile::TempDir;
    use zip::{ZipWriter, write::SimpleFileOptions};

    fn sample_arguments() -> Vec<Tensor> {
        let tensor = |name: &str, element_type: &str| {
            let text = format!(
                r#"{{"name": "{name}", "shape": [2, 3], "element_type": "{element_type}", "format": "", "device_size": [],
                 "stride_map": [], "bytes": 0}}"#
            );
            serde_json::from_str(&text).unwrap()
        };
        vec![tensor("x", "f16"), tensor("index", "i64")]
    }

    fn sample_arrays() -> [(&'static str, HostArray); 2] {
        let elements =
            [ArrayElements::F16(vec![1, 2, 3, 4, 5, 0x3c00]), ArrayElements::I64(vec![0, -1, 7, 1 << 40, 2, 3])];
        let [x, index] = elements.map(|elements| HostArray { shape: vec![2, 3], elements });
        [("x", x), ("index", index)]
    }

    /// Writes a compressed `.npz` file with these arrays, and returns its path.
    fn write_npz(place: &TempDir, arrays: &[(&str, HostArray)]) -> String {
        let path = place.path().join("arrays.npz");
        let mut archive = ZipWriter::new(fs::File::create(&path).unwrap());
        for (name, array) in arrays {
            npy::write_results(&place.path().join("npy"), &[((*name).to_owned(), array.clone())]).unwrap();
            archive.start_file(format!("{name}.npy"), SimpleFileOptions::default()).unwrap();
            archive.write_all(&fs::read(place.path().join("npy").join(format!("{name}.npy"))).unwrap()).unwrap();
        }
        archive.finish().unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn write_safetensors(place: &TempDir, arrays: &[(&str, HostArray)]) -> String {
        let path = place.path().join("arrays.safetensors");
        let bytes: Vec<Vec<u8>> = arrays.iter().map(|(_, array)| array.elements.to_bytes()).collect();
        let views = arrays.iter().zip(&bytes).map(|((name, array), bytes)| {
            let dtype = if array.elements.element_type() == ElementType::F16 { Dtype::F16 } else { Dtype::I64 };
            let shape = array.shape.iter().map(|size| usize::try_from(*size).unwrap()).collect();
            (*name, TensorView::new(dtype, shape, bytes).unwrap())
        });
        fs::write(&path, safetensors::serialize(views, None).unwrap()).unwrap();
        path.to_str().unwrap().to_owned()
    }

    #[test]
    fn reads_arrays_of_both_file_formats_as_written() {
        let place = tempfile::tempdir().unwrap();
        let expected: BTreeMap<String, HostArray> =
            sample_arrays().into_iter().map(|(name, array)| (name.to_owned(), array)).collect();
        for path in [write_npz(&place, &sample_arrays()), write_safetensors(&place, &sample_arrays())] {
            assert_eq!(read_all(&path, &sample_arguments()).unwrap(), expected, "{path}");
        }
    }

    #[test]
    fn rejects_unknown_arguments_and_other_element_types() {
        let place = tempfile::tempdir().unwrap();
        let [(_, x), (_, index)] = sample_arrays();
        let of_numpy = "convert the array with .astype('float16')";
        let of_safetensors = "arrays.safetensors': 'x' has elements of i64, and the program has f16";
        for (write, wrong) in [(write_npz as fn(&_, &[_]) -> _, of_numpy), (write_safetensors, of_safetensors)] {
            let rejected = read_all(&write(&place, &[("y", x.clone())]), &sample_arguments()).unwrap_err();
            assert!(rejected.ends_with("the arguments are x, index"), "{rejected}");
            let rejected = read_all(&write(&place, &[("x", index.clone())]), &sample_arguments()).unwrap_err();
            assert!(rejected.ends_with(wrong), "{rejected}");
        }
        assert!(
            read_all("arrays.zip", &sample_arguments()).unwrap_err().contains("expected a .npz or .safetensors file")
        );
        assert!(read_all("nowhere.npz", &sample_arguments()).unwrap_err().contains("nowhere.npz"));
    }

    #[test]
    fn rejects_archives_that_unpack_to_more_than_an_argument() {
        let place = tempfile::tempdir().unwrap();
        let long = HostArray { shape: vec![1 << 20], elements: ArrayElements::F16(vec![0; 1 << 20]) };
        let rejected = read_all(&write_npz(&place, &[("x", long)]), &sample_arguments()).unwrap_err();
        assert!(rejected.ends_with("'x' is longer than an argument of shape [2, 3]"), "{rejected}");
    }

    #[test]
    fn rejects_files_that_are_no_archives() {
        let place = tempfile::tempdir().unwrap();
        for name in ["a.npz", "a.safetensors"] {
            let path = place.path().join(name);
            for content in [&b""[..], b"PK\x03\x04", &[0xff; 64]] {
                fs::write(&path, content).unwrap();
                assert!(read_all(path.to_str().unwrap(), &sample_arguments()).unwrap_err().contains("cannot read '"));
            }
        }
    }
}
