//! `spyre-flatten-hints`: turns hint scopes into hints on ops.
//!
//! Reads `spyre.hint` scopes and the option `tiles`, a scope around every function; writes `hints` and `work_div` on the compute ops and
//! removes the scopes. Ids increase from outside to inside and in program order.

use super::{TileCount, WorkHint};
use crate::{
    dialect::{ComputeOp, TileHint, hints_attribute, work_div_attribute},
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
        let tiles = flattener.tiles(&[], around.iter().map(|tile| (tile.dim.as_str(), tile.count)));
        flattener.flatten(function, &Wishes { tiles, ..Wishes::default() })?;
    }
    Ok(())
}

struct Flattener {
    next_id: i64,
}

/// What is asked for inside a scope.
#[derive(Clone, Default)]
struct Wishes {
    /// From outside to inside.
    tiles: Vec<TileHint>,
    /// One a name, the innermost.
    work: Vec<WorkHint>,
}

impl Flattener {
    fn id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// The tiles inside a scope: those around it and its own with new ids.
    fn tiles<'a>(&mut self, around: &[TileHint], tiles: impl Iterator<Item = (&'a str, i64)>) -> Vec<TileHint> {
        let own = tiles.map(|(dim, count)| TileHint { id: self.id(), dim: dim.to_owned(), count });
        around.iter().cloned().chain(own).collect()
    }

    /// What is asked for inside `scope`, which stands under `around`.
    fn enter(&mut self, scope: Op<'_>, around: &Wishes) -> Wishes {
        let tiles = self.tiles(&around.tiles, numbered(scope, "tile_dims", "tile_counts"));
        let mut work = around.work.clone();
        for (dim, slices) in numbered(scope, "work_dims", "work_slices") {
            work.retain(|outer| outer.dim != dim);
            work.push(WorkHint { id: self.id(), dim: dim.to_owned(), slices });
        }
        Wishes { tiles, work }
    }

    fn flatten(&mut self, around: Op<'_>, wishes: &Wishes) -> Result<(), Reported> {
        for op in around.body_ops() {
            if op.is("spyre.hint") {
                let inner = self.enter(op, wishes);
                self.flatten(op, &inner)?;
                dissolve(op);
            } else if op.is("spyre.loop") {
                self.flatten(op, wishes)?;
            } else if ComputeOp::of(op).is_some() {
                if !wishes.tiles.is_empty() {
                    if op.attr("hints").is_some() {
                        return Err(error_at(op, "has hints of its own, and stands in a scope or under the option 'tiles'").report());
                    }
                    op.set_attr("hints", hints_attribute(op.ctx(), &wishes.tiles));
                }
                if !wishes.work.is_empty() {
                    if op.attr("work_div").is_some() {
                        return Err(error_at(op, "has a 'work_div' of its own, and stands in a scope with another").report());
                    }
                    op.set_attr("work_div", work_div_attribute(op.ctx(), &wishes.work));
                }
            }
        }
        Ok(())
    }
}

/// The entries of one list of a scope: names with their numbers.
fn numbered<'c>(scope: Op<'c>, dims: &str, numbers: &str) -> impl Iterator<Item = (&'c str, i64)> {
    let dims = scope.attr(dims).and_then(strings).unwrap_or_default();
    let numbers = scope.attr(numbers).and_then(integers).unwrap_or_default();
    dims.into_iter().zip(numbers)
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
