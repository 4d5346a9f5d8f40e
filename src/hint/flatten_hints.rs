//! `spyre-flatten-hints`: turns hint scopes into hints on ops.
//!
//! Reads `spyre.hint` scopes and the option `tiles`, a scope around every function; writes `hints` on the compute ops and removes the
//! scopes. Ids increase from outside to inside and in program order.

use super::TileCount;
use crate::{
    dialect::{ComputeOp, TileHint, hints_attribute},
    mlir::{Op, OpExt, Options, Pass, Reported, ValueExt, error_at, integers, strings},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-flatten-hints", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let around: Vec<TileCount> = options
        .list("tiles")
        .into_iter()
        .map(str::parse)
        .collect::<Result<_, String>>()
        .map_err(|message| error_at(module, format_args!("option 'tiles': {message}")).report())?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let mut flattener = Flattener { next_id: 0 };
        let hints = flattener.enter(&[], around.iter().map(|tile| (tile.dim.as_str(), tile.count)));
        flattener.flatten(function, &hints)?;
    }
    Ok(())
}

struct Flattener {
    next_id: i64,
}

impl Flattener {
    /// The hints inside a scope: those around it and its own with new ids.
    fn enter<'a>(&mut self, around: &[TileHint], tiles: impl Iterator<Item = (&'a str, i64)>) -> Vec<TileHint> {
        let mut hints = around.to_vec();
        for (dim, count) in tiles {
            hints.push(TileHint { id: self.next_id, dim: dim.to_owned(), count });
            self.next_id += 1;
        }
        hints
    }

    fn flatten(&mut self, around: Op<'_>, hints: &[TileHint]) -> Result<(), Reported> {
        for op in around.body_ops() {
            if op.is("spyre.hint") {
                let dims = op.attr("tile_dims").and_then(strings).unwrap_or_default();
                let counts = op.attr("tile_counts").and_then(integers).unwrap_or_default();
                let inner = self.enter(hints, dims.into_iter().zip(counts));
                self.flatten(op, &inner)?;
                dissolve(op);
            } else if op.is("spyre.loop") {
                self.flatten(op, hints)?;
            } else if ComputeOp::of(op).is_some() && !hints.is_empty() {
                if op.attr("hints").is_some() {
                    return Err(error_at(op, "has hints of its own, and stands in a scope or under the option 'tiles'").report());
                }
                op.set_attr("hints", hints_attribute(op.ctx(), hints));
            }
        }
        Ok(())
    }
}

/// Moves the ops of a scope in front of it and removes it.
fn dissolve(scope: Op<'_>) {
    let mut inside = scope.body_ops();
    let Some(terminator) = inside.pop() else { return };
    for op in inside {
        op.move_to_before(scope);
    }
    for (result, value) in scope.outputs().into_iter().zip(terminator.inputs()) {
        result.replace_with(value);
    }
    scope.erase();
}
