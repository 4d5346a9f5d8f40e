//! `spyre-copy-aliased-results`: copies function results so that each has a buffer of its own.
//!
//! Reads the function results. Layout propagation gives each result its own buffer, but later passes may merge equal
//! ops: two copies of one value, two equivalent views, or values returned from inside and outside of a hint scope. A
//! result that shares the buffer of another result, an argument or a constant is copied, because a launch writes each
//! result.

use super::insert_copies::insert_copy;
use crate::dialect::ods::spyre;
use crate::{
    dialect::base_buffer_of,
    mlir::{DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, Value, ValueExt, ValueLike, ValueMap},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-copy-aliased-results", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let Some(terminator) = function.body_ops().pop() else { continue };
        for (index, result) in find_shared_results(terminator) {
            let copied = insert_copy(terminator, (DerivationKind::Clone, PASS.argument), result, result.r#type());
            terminator.set_input(index, copied.output());
        }
    }
    Ok(())
}

/// Returns the results of a function, with their positions, that have no buffer of their own: arguments, constants, and
/// values whose buffer an earlier result already uses.
pub(crate) fn find_shared_results(terminator: Op<'_>) -> Vec<(usize, Value<'_>)> {
    let mut taken = ValueMap::default();
    let mut is_own = |result: Value<'_>| {
        let buffer = base_buffer_of(result);
        buffer.def().is_some_and(|def| !def.is(spyre::CONSTANT)) && taken.insert(buffer, ()).is_none()
    };
    terminator.inputs().into_iter().enumerate().filter(|&(_, result)| !is_own(result)).collect()
}
