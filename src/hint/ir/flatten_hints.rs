//! `spyre-flatten-hints`: turns hint scopes into hints on ops.
//!
//! Reads `spyre.hint` scopes and the option `tiles`, a scope around every function; writes `hints` and `work_div` on the compute
//! ops and removes the scopes, and the ops that only unused results of a scope need. Ids increase from outside to inside and in program
//! order. The option `bind` replaces symbolic counts by numbers.

use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, TileHint, declared_maxima, erase_unused, hints_attribute, work_div_attribute},
    hint::{Binding, Bindings, CountError, TileCount},
    mlir::{Attribute, Op, OpExt, Options, Pass, Reported, Value, ValueExt, elements, error_at, error_behind, integer, string, strings},
};
use program::{Count, WorkHint};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-flatten-hints", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let around: Vec<TileCount> = options.list(module, option::TILES)?;
    let refuse = |error: CountError| error_at(error.code(), module, format_args!("option 'bind': {error}")).report();
    let mut bindings = Bindings::new(options.list::<Binding>(module, option::BIND)?).map_err(refuse)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let mut flattener = Flattener { next_id: 0, bindings: &mut bindings, maxima: declared_maxima(function) };
        let tiles = flattener.tiles(function, &[], around.iter().map(|tile| (tile.dim.as_str(), tile.count.clone())))?;
        flattener.flatten(function, &Wishes { tiles, ..Wishes::default() })?;
    }
    bindings.check_used().map_err(refuse)
}

struct Flattener<'a> {
    next_id: i64,
    bindings: &'a mut Bindings,
    /// Maxima that the function declares for unbound symbols.
    maxima: BTreeMap<String, i64>,
}

/// Hints that apply inside a scope.
#[derive(Clone, Default)]
struct Wishes {
    /// Tile hints, outermost first.
    tiles: Vec<TileHint>,
    /// Work hints, one per name; the innermost hint of a name wins.
    work: Vec<WorkHint>,
}

impl Flattener<'_> {
    fn id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns the tile hints that apply inside `asks`: the enclosing ones, then its own with new ids.
    fn tiles<'t>(
        &mut self,
        asks: Op<'_>,
        around: &[TileHint],
        tiles: impl Iterator<Item = (&'t str, Count)>,
    ) -> Result<Vec<TileHint>, Reported> {
        let mut all = around.to_vec();
        for (dim, count) in tiles {
            all.push(TileHint { id: self.id(), dim: dim.to_owned(), count: self.resolve(asks, dim, count)?, again: false });
        }
        Ok(all)
    }

    /// Returns a count that is known or has a maximum.
    fn resolve(&mut self, asks: Op<'_>, dim: &str, count: Count) -> Result<Count, Reported> {
        self.bindings.resolve(dim, count, &self.maxima).map_err(|error| refuse_count(asks, &error))
    }

    /// Returns a slice count, which must be known: this pass fixes the cores' slices.
    fn slices(&mut self, asks: Op<'_>, dim: &str, slices: Count) -> Result<i64, Reported> {
        let symbol = match slices {
            Count::Number(number) => return Ok(number),
            Count::Symbol(symbol) => symbol,
        };
        let number = self.bindings.number(&symbol, &self.maxima).map_err(|error| refuse_count(asks, &error))?;
        number.ok_or_else(|| refuse_count(asks, &CountError::UnboundSlices { dim: dim.to_owned(), symbol }))
    }

    /// Returns the hints that apply inside `scope`; `around` holds the hints of the enclosing scopes.
    fn enter(&mut self, scope: Op<'_>, around: &Wishes) -> Result<Wishes, Reported> {
        let counts = scope.attr(attr::TILE_COUNTS).and_then(elements).unwrap_or_default().into_iter().filter_map(count_of);
        let mut tiles = self.tiles(scope, &around.tiles, names(scope, "tile_dims").into_iter().zip(counts))?;
        for dim in names(scope, attr::AGAIN) {
            if !tiles.iter().any(|tile| tile.dim == dim) {
                let message = codes::HINT_AGAIN.says(format_args!(
                    "expected tiles along '{dim}', which 'again' names, found none; tile \
                     '{dim}' in an enclosing scope, or remove it from 'again'"
                ));
                return Err(error_at(codes::HINT_TWICE, scope, message).report());
            }
            tiles.iter_mut().filter(|tile| tile.dim == dim).for_each(|tile| tile.again = true);
        }
        let mut work = around.work.clone();
        let slices = scope.attr(attr::WORK_SLICES).and_then(elements).unwrap_or_default().into_iter().filter_map(count_of);
        for (dim, slices) in names(scope, "work_dims").into_iter().zip(slices) {
            work.retain(|outer| outer.dim != dim);
            work.push(WorkHint { id: self.id(), dim: dim.to_owned(), slices: self.slices(scope, dim, slices)? });
        }
        Ok(Wishes { tiles, work })
    }

    fn flatten(&mut self, around: Op<'_>, wishes: &Wishes) -> Result<(), Reported> {
        for op in around.body_ops() {
            if op.is(spyre::HINT) {
                let inner = self.enter(op, wishes)?;
                self.flatten(op, &inner)?;
                let is_unused = |&(_, result): &(Value<'_>, Value<'_>)| result.users().is_empty();
                let unused = op.yielded().into_iter().zip(op.outputs()).filter(is_unused).map(|(value, _)| value).collect();
                op.dissolve();
                erase_unused(unused);
            } else if op.is(spyre::LOOP) {
                self.bind_loop(op)?;
                self.flatten(op, wishes)?;
            } else if let Some(compute) = ComputeOp::of(op) {
                self.mark(compute, wishes)?;
            }
        }
        Ok(())
    }

    /// Writes the requested hints on an op.
    fn mark(&mut self, compute: ComputeOp<'_>, wishes: &Wishes) -> Result<(), Reported> {
        let op = compute.op;
        let mut tiles = wishes.tiles.clone();
        if op.attr(attr::HINTS).is_some() {
            if !tiles.is_empty() {
                return Err(error_at(
                    codes::HINT_TWICE,
                    op,
                    "expected hints from one source, found 'hints' on the op inside a scope or \
                     under the option 'tiles'; remove one of them",
                )
                .report());
            }
            for hint in compute.hints() {
                let count = self.resolve(op, &hint.dim, hint.count)?;
                tiles.push(TileHint { count, ..hint });
            }
        }
        if !tiles.is_empty() {
            op.set_attr(attr::HINTS, hints_attribute(op.ctx(), &tiles));
        }
        if !wishes.work.is_empty() {
            if op.attr(attr::WORK_DIV).is_some() {
                return Err(error_at(
                    codes::HINT_TWICE,
                    op,
                    "expected 'work_div' from one source, found it on the op and on its scope; remove one of them",
                )
                .report());
            }
            op.set_attr(attr::WORK_DIV, work_div_attribute(op.ctx(), &wishes.work));
        }
        Ok(())
    }

    /// A loop that existed before has fixed tiles, so its symbolic count can only be bound to their number.
    fn bind_loop(&mut self, op: Op<'_>) -> Result<(), Reported> {
        let Some(symbol) = op.attr(attr::SYMBOL).and_then(string) else { return Ok(()) };
        let number = self.bindings.number(symbol, &self.maxima).map_err(|error| refuse_count(op, &error))?;
        let count = op.required("count", integer);
        match number {
            Some(number) if number != count => {
                let message =
                    format!("loop has {count} tiles, found 'bind={symbol}={number}'; bind '{symbol}' to {count}, or remove the binding");
                Err(error_behind(codes::BINDING_RANGE, op, message).report())
            }
            Some(_) => {
                op.remove_attr(attr::SYMBOL);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn refuse_count(at: Op<'_>, error: &CountError) -> Reported {
    match error {
        CountError::AboveMaximum { .. } => error_at(error.code(), at, format_args!("option 'bind': {error}")).report(),
        _ => error_behind(error.code(), at, error).report(),
    }
}

fn names<'c>(scope: Op<'c>, list: &str) -> Vec<&'c str> {
    scope.attr(list).and_then(strings).unwrap_or_default()
}

/// Count as a scope stores it: an integer, or a name.
fn count_of(attribute: Attribute<'_>) -> Option<Count> {
    integer(attribute).map(Count::Number).or_else(|| string(attribute).map(|symbol| Count::Symbol(symbol.to_owned())))
}
