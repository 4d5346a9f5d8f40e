//! An op spec from its SDSC file: the inverse of [`from_op_spec()`](crate::sdsc::emit::from_op_spec()), and from all
//! files of a bundle the [`Bundle`](crate::bundle::Bundle).
//!
//! A file says less than an op spec. Where several op specs have the same file, the reader takes one and keeps to it:
//!
//! | the file does not say | the reader takes |
//! |---|---|
//! | how much of a padded range is padding, unless it is masked, or a restickify's gap | the padded range |
//! | which device dimensions of size 1 a tensor has | those of a matrix: `[1, rows, E]`, `[1, columns / E, E]` |
//! | whether bytes in front of a slice belong to its coordinates | in an argument, if gaps have room for all; in the pool, if needed |
//! | the size of a table that indices reach into | as many positions as there are indices |
//! | formats that files rename, arrangements other than of fp8 weights | `IEEE_INT32` indices, `IEEE_FP32` copies, in order |
//! | names of dimensions and index tensors; the value of a constant before rounding | none; `index<n>`; the rounded value |
//! | whether a baked segment 0 is the pool | it is where the program says that the launch has one, else kernel argument 0 |
//!
//! Where the reading is a matter of trial, [`OpSpecCandidate`] lists the possibilities, the likeliest first. No guess
//! is trusted: the op spec is emitted again, and the reader refuses the file when no emission is equal to it. Not
//! compared are the debug handle, which op specs do not have, the number of a masking constant that the reference
//! emitter gets wrong (torch-spyre issue 4390), and constants of which a golden file says the value and not the bits.
//!
//! ```text
//! "N_": {"mb_": 64, "out_": 64}, "coordinateMasking_": {"out": [[50, 14]]}            the range is 50, and 14 points are padding
//! "allocate-Tensor1_hbm": {"layoutDimOrder_": ["mb", "out"], ...}, "scale_": [1, -2]  device coordinates [0, c0, 0]
//! ```

mod axes;
mod bundle;
mod candidate;
mod compare;
mod constants;
mod evaluate;
mod file;
mod indices;
mod launch;
mod location;
mod operand;
mod space;
mod tensor_form;
mod window;

pub use bundle::{is_baked, to_bundle};
pub use evaluate::{SymbolBase, SymbolValue};
pub use launch::parse_launch;

use crate::launch::symbols::MemoryMap;
use crate::sdsc::emit::{SdscError, from_op_spec, from_op_spec_baked};
use crate::{bundle::OpSpec, launch::LaunchError};
use candidate::OpSpecCandidate;
use file::SdscFile;
use sdsc_format::Sdsc;
use std::collections::BTreeMap;

/// Why a file or a bundle is not read back.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpSpecReadError {
    /// A file of a bundle is at fault.
    #[error("sdsc_{index}.json: {source}")]
    InFile {
        /// The number of the file.
        index: usize,
        /// The error in the file.
        source: Box<OpSpecReadError>,
    },
    /// A member of a file has a value that matches no op spec.
    #[error("{member}: {reason}")]
    Member {
        /// The member, from the operation on.
        member: String,
        /// Description of the error.
        reason: String,
    },
    /// No op spec is known that has this file.
    #[error("{member}: no op spec gives this file: the closest one gives {emitted}, found {found}")]
    NoOpSpec {
        /// The first member that differs.
        member: String,
        /// Value in the file.
        found: String,
        /// Value in the file of the closest op spec.
        emitted: String,
    },
    /// The op spec that was read back cannot be emitted as a file.
    #[error(transparent)]
    NotEmitted(#[from] SdscError),
    /// The launch is none that the emitter writes.
    #[error("bundle.mlir: {reason}")]
    Launch {
        /// Description of the error.
        reason: String,
    },
    /// The bundle that was read back has no launch.
    #[error(transparent)]
    NotLaunched(#[from] LaunchError),
}

impl OpSpecReadError {
    fn member(member: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Member { member: member.into(), reason: reason.into() }
    }

    fn launch(reason: impl Into<String>) -> Self {
        Self::Launch { reason: reason.into() }
    }
}

/// Context of a file in its bundle: symbols, pool and memory map.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContext {
    /// The id of the op's first symbol, whether or not the file mentions it.
    pub first_symbol_id: i64,
    /// Value of each symbol of the file, by id.
    pub symbols: BTreeMap<i64, SymbolValue>,
    /// Bytes of the bundle's pool.
    pub pool_bytes: i64,
    /// Where kernel arguments are, when the addresses are baked into the file.
    pub memory: Option<MemoryMap>,
}

/// The op spec of a file.
///
/// # Errors
///
/// When no op spec is found whose file is equal to this one.
pub fn to_op_spec(sdsc: &Sdsc, surroundings: &FileContext) -> Result<OpSpec, OpSpecReadError> {
    let file = SdscFile::new(sdsc, surroundings)?;
    let mut first_error = None;
    for guess in OpSpecCandidate::enumerate(&file) {
        match read_with_candidate(&file, &guess, sdsc, surroundings) {
            Ok(op) => return Ok(op),
            // The first guess is the likeliest, so what is wrong with it tells most.
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
        // The cores may have their slices in another order than the format's.
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

/// The first member in which the file of an op spec is another one.
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
    Ok(compare::find_difference(sdsc, &emitted))
}
