//! `spyre-fuse-online-reductions`: merges loops whose carried values can be corrected.
//!
//! Reads the loops of a function; merges a loop with the preceding one that finishes its operands, where
//! [`crate::tile::RunningValueAnalysis`] finds a correction. The merged loop reads the first loop's partial results,
//! and corrects the second loop's accumulators whenever they change.

use super::merge_loops::LoopMerge;
use crate::mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, integer, remark_at_location};
use crate::{
    codes,
    dialect::ods::{attr, spyre},
};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-fuse-online-reductions", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    module.body_ops().into_iter().filter(|op| op.is("func.func")).for_each(fuse_online_reductions);
    Ok(())
}

/// Merges the loops in the body of `around`, and in nested loops. Each loop is tried with the last preceding one of
/// equal iterations, so the time is linear in the ops for each kind of loop.
pub(crate) fn fuse_online_reductions(around: Op<'_>) {
    let loops: Vec<Op<'_>> = around.body_ops().into_iter().filter(|op| op.is(spyre::LOOP)).collect();
    loops.iter().for_each(|inner| fuse_online_reductions(*inner));
    let mut last: BTreeMap<(String, i64, String), Op<'_>> = BTreeMap::new();
    for second in loops {
        let level = (
            second.text_attr(attr::DIM).to_owned(),
            second.required_attr("count", integer),
            second.text_attr(attr::SYMBOL).to_owned(),
        );
        let merge = last.get(&level).and_then(|first| LoopMerge::analyze_pair(*first, second));
        let here = match merge {
            Some(Ok(merge)) => merge.build(),
            Some(Err(op)) => {
                let dim = &level.0;
                remark_at_location(
                    codes::TILE_SECOND_LOOP,
                    op,
                    format_args!("second loop over '{dim}': the op needs the complete result of the first one"),
                )
                .emit();
                second
            }
            None => second,
        };
        last.insert(level, here);
    }
}
