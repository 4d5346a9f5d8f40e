//! Reconstructs an op spec from its SDSC file, and a [`Bundle`](crate::bundle::Bundle) from all files of a bundle: the
//! inverse of [`from_op_spec()`](crate::sdsc::emit::from_op_spec()).
//!
//! A file states less than an op spec. Where several readings are possible, [`OpSpecCandidate`] lists them, the
//! likeliest first. The reader emits each candidate, and rejects the file if no emission is equal to it. If several op
//! specs have the same file, the reader chooses:
//!
//! | open in the file | choice of the reader |
//! |---|---|
//! | number of padding points of a range, unless it is masked, or a restickify's gap | none |
//! | device dimensions of size 1 of a tensor | those of a matrix: `[1, rows, E]`, `[1, columns / E, E]` |
//! | whether bytes before a slice are part of its coordinates | argument: if gaps have room for all; pool: if needed |
//! | size of a table that is indexed | the number of indices |
//! | formats that files rename; arrangements but of fp8 weights | `IEEE_INT32` indices, `IEEE_FP32` copies; in order |
//! | names of dimensions and index tensors; unrounded value of a constant | none; `index<n>`; the rounded value |
//! | whether a baked segment 0 is the pool | yes if the program states a pool for the launch, else kernel argument 0 |
//!
//! ```text
//! "N_": {"mb_": 64, "out_": 64}, "coordinateMasking_": {"out": [[50, 14]]}            range 50, 14 points of padding
//! "allocate-Tensor1_hbm": {"layoutDimOrder_": ["mb", "out"], ...}, "scale_": [1, -2]  device coordinates [0, c0, 0]
//! ```

mod axes;
mod bundle;
mod candidate;
mod canonical;
mod compare;
mod constants;
mod error;
mod evaluate;
mod file;
mod indices;
mod launch;
mod legal_bundle;
mod location;
mod operand;
mod space;
mod tensor_form;
mod window;

pub use bundle::{ProgramFacts, to_bundle};
pub use error::OpSpecReadError;
pub use evaluate::{SymbolBase, SymbolValue};
pub use launch::parse_launch;
pub use legal_bundle::{LegalBundle, find_executed_files, read_legal_bundle};

use crate::bundle::OpSpec;
use crate::launch::symbols::MemoryMap;
use crate::sdsc::emit::{from_op_spec, from_op_spec_baked};
use candidate::OpSpecCandidate;
use file::SdscFile;
use sdsc_format::Sdsc;
use std::collections::BTreeMap;

/// Comparison of a file with the emission of its op spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileComparison {
    /// The files are the same.
    Exact,
    /// The file is canonical, and has the meaning of the emission. Symbols may have other ids.
    Meaning,
}

/// Context of a file in its bundle: symbols, pool and memory map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContext {
    /// Id of the op's first symbol, even if the file does not mention it.
    pub first_symbol_id: i64,
    /// Value of each symbol of the file, by id.
    pub symbols: BTreeMap<i64, SymbolValue>,
    /// Bytes of the bundle's pool.
    pub pool_bytes: i64,
    /// Locations of kernel arguments, if the addresses are baked into the file.
    pub memory: Option<MemoryMap>,
    /// Comparison of the file with its emission.
    pub comparison: FileComparison,
}

/// Reconstructs the op spec of a file.
///
/// # Errors
///
/// If no candidate has an equal file.
pub fn to_op_spec(sdsc: &Sdsc, surroundings: &FileContext) -> Result<OpSpec, OpSpecReadError> {
    let file = SdscFile::new(sdsc, surroundings)?;
    let mut first_error = None;
    for guess in OpSpecCandidate::enumerate(&file) {
        match read_with_candidate(&file, &guess, sdsc, surroundings) {
            Ok(op) => return Ok(op),
            // The error of the first candidate, the likeliest one, is the most informative.
            Err(error) => first_error = first_error.or(Some(error)),
        }
    }
    Err(first_error
        .unwrap_or_else(|| OpSpecReadError::member("numWkSlicesPerDim_", "no iteration space has these dimensions")))
}

fn read_with_candidate(
    file: &SdscFile<'_>,
    guess: &OpSpecCandidate,
    sdsc: &Sdsc,
    surroundings: &FileContext,
) -> Result<OpSpec, OpSpecReadError> {
    let op = OpSpec {
        function: file.function.clone(),
        is_reduction: guess.is_reduction,
        iteration_space: file.iteration_space(guess)?,
        operands: (0..file.dsc.nodes.len())
            .map(|index| operand::read_operand(file, guess, index))
            .collect::<Result<_, _>>()?,
        constants: constants::read_constants(file)?,
        window: file.window(guess),
        node_output_ranges: file.output_ranges(guess),
    };
    match find_op_difference(&op, file, sdsc, surroundings)? {
        None => Ok(op),
        // The slices may be assigned to cores in another order than the default of the format.
        Some(first) => {
            let mut ordered = op;
            for (dim, label) in ordered.iteration_space.iter_mut().zip(&guess.dims) {
                dim.divisor = Some(file.divisor(*label));
            }
            match find_op_difference(&ordered, file, sdsc, surroundings) {
                Ok(None) => Ok(ordered),
                Ok(Some(_)) | Err(_) => Err(first),
            }
        }
    }
}

/// Returns the first member in which the file of an op spec differs.
fn find_op_difference(
    op: &OpSpec,
    file: &SdscFile<'_>,
    sdsc: &Sdsc,
    surroundings: &FileContext,
) -> Result<Option<OpSpecReadError>, OpSpecReadError> {
    let emitted = match &surroundings.memory {
        Some(memory) => from_op_spec_baked(op, file.index, memory)?,
        None => from_op_spec(op, file.index, surroundings.first_symbol_id)?,
    };
    match surroundings.comparison {
        FileComparison::Exact => Ok(compare::find_difference(sdsc, &emitted)),
        FileComparison::Meaning => compare::find_meaning_difference(sdsc, &emitted, file.index, &surroundings.symbols),
    }
}
