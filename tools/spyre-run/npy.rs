//! NumPy files.

use half::f16;
use npyz::{AutoSerialize, NpyFile, WriterBuilder};
use spyre::sim::{Elements, HostArray};
use std::{
    fs::{self, File},
    io::{self, BufReader, BufWriter},
    path::Path,
};

/// Reads an array whose elements become of the type that the program says. NumPy has no bf16: such arguments are read from f32.
pub(crate) fn read(path: &str, element_type: &str) -> Result<HostArray, String> {
    let refuse = |error: io::Error| format!("cannot read '{path}': {error}");
    let file = NpyFile::new(BufReader::new(File::open(path).map_err(refuse)?)).map_err(refuse)?;
    if file.order() != npyz::Order::C {
        return Err(format!("'{path}' is in Fortran order: expected C order"));
    }
    let shape: Vec<i64> = file.shape().iter().map(|&size| size.cast_signed()).collect();
    let elements = match element_type {
        "f16" => Elements::F16(file.into_vec::<f16>().map_err(refuse)?.into_iter().map(f16::to_bits).collect()),
        "f32" => Elements::F32(file.into_vec().map_err(refuse)?),
        "bf16" => {
            let values: Vec<f32> = file.into_vec().map_err(refuse)?;
            Elements::Bf16(values.into_iter().map(spyre::sim::bf16_from_f32).collect())
        }
        "i32" => Elements::I32(file.into_vec().map_err(refuse)?),
        "i64" => Elements::I64(file.into_vec().map_err(refuse)?),
        "i1" => Elements::Bool(file.into_vec::<bool>().map_err(refuse)?.into_iter().map(u8::from).collect()),
        other => return Err(format!("cannot read '{path}': no NumPy type for elements of {other}")),
    };
    Ok(HostArray { shape, elements })
}

/// Writes every result into the folder, which it makes.
pub(crate) fn write_results(folder: &Path, results: &[(String, HostArray)]) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|error| format!("cannot write '{}': {error}", folder.display()))?;
    for (name, array) in results {
        let path = folder.join(format!("{name}.npy"));
        write(&path, array).map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
    }
    Ok(())
}

fn write(path: &Path, array: &HostArray) -> io::Result<()> {
    match &array.elements {
        Elements::F16(bits) => write_all(path, &array.shape, bits.iter().map(|&bits| f16::from_bits(bits))),
        Elements::Bf16(bits) => write_all(path, &array.shape, bits.iter().map(|&bits| spyre::sim::bf16_to_f32(bits))),
        Elements::F32(values) => write_all(path, &array.shape, values.iter().copied()),
        Elements::I32(values) => write_all(path, &array.shape, values.iter().copied()),
        Elements::I64(values) => write_all(path, &array.shape, values.iter().copied()),
        Elements::Bool(values) => write_all(path, &array.shape, values.iter().map(|&value| value != 0)),
    }
}

fn write_all<T: AutoSerialize>(path: &Path, shape: &[i64], values: impl Iterator<Item = T>) -> io::Result<()> {
    let shape: Vec<u64> = shape.iter().map(|&size| size.unsigned_abs()).collect();
    let mut writer = npyz::WriteOptions::new().default_dtype().shape(&shape).writer(BufWriter::new(File::create(path)?)).begin_nd()?;
    writer.extend(values)?;
    writer.finish()
}
