//! `spyre-flatten-hints`: turns hint scopes into hints on ops.
//!
//! Reads `spyre.hint` scopes and the option `tiles`, a scope around every function; writes `hints` and `work_div` on
//! the compute ops and removes the scopes, and the ops that only unused results of a scope need. Ids increase from
//! outside to inside and in program order. The option `bind` replaces symbolic counts by numbers.

use crate::dialect::ods::{attr, option, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, TileHint, declared_maxima, erase_unused, hints_attribute, work_div_attribute},
    hint::{CountBinding, CountBindings, CountError, TileCount},
    mlir::{
        Attribute, ErrorReported, Op, OpExt, Pass, PassOptions, Value, ValueExt, elements, error_at, error_at_location,
        integer, string, strings,
    },
};
use program::{SymbolicCount, WorkHint};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-flatten-hints", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let around: Vec<TileCount> = options.read_list(module, option::TILES)?;
    let reject = |error: CountError| error_at(error.code(), module, format_args!("option 'bind': {error}")).report();
    let mut bindings = CountBindings::new(options.read_list::<CountBinding>(module, option::BIND)?).map_err(reject)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let mut flattener = HintFlattener { next_id: 0, bindings: &mut bindings, maxima: declared_maxima(function) };
        let tiles = flattener.collect_tile_hints(
            function,
            &[],
            around.iter().map(|tile| (tile.dim.as_str(), tile.count.clone())),
        )?;
        flattener.flatten(function, &RequestedHints { tiles, ..RequestedHints::default() })?;
    }
    bindings.check_used().map_err(reject)
}

struct HintFlattener<'a> {
    next_id: i64,
    bindings: &'a mut CountBindings,
    /// Maxima that the function declares for unbound symbols.
    maxima: BTreeMap<String, i64>,
}

/// Hints that apply inside a scope.
#[derive(Clone, Default)]
struct RequestedHints {
    /// Tile hints, outermost first.
    tiles: Vec<TileHint>,
    /// Work hints, one per name; the innermost hint of a name wins.
    work: Vec<WorkHint>,
}

impl HintFlattener<'_> {
    fn allocate_id(&mut self) -> i64 {
        self.next_id += 1;
        self.next_id - 1
    }

    /// Returns the tile hints that apply inside `asks`: the enclosing ones, then its own with new ids.
    fn collect_tile_hints<'t>(
        &mut self,
        asks: Op<'_>,
        around: &[TileHint],
        tiles: impl Iterator<Item = (&'t str, SymbolicCount)>,
    ) -> Result<Vec<TileHint>, ErrorReported> {
        let mut all = around.to_vec();
        for (dim, count) in tiles {
            all.push(TileHint {
                id: self.allocate_id(),
                dim: dim.to_owned(),
                count: self.resolve(asks, dim, count)?,
                recomputes: false,
            });
        }
        Ok(all)
    }

    /// Returns a count that is known or has a maximum.
    fn resolve(&mut self, asks: Op<'_>, dim: &str, count: SymbolicCount) -> Result<SymbolicCount, ErrorReported> {
        self.bindings.resolve(dim, count, &self.maxima).map_err(|error| report_count_error(asks, &error))
    }

    /// Returns a slice count, which must be known: this pass fixes the cores' slices.
    fn resolve_slices(&mut self, asks: Op<'_>, dim: &str, slices: SymbolicCount) -> Result<i64, ErrorReported> {
        let symbol = match slices {
            SymbolicCount::Number(number) => return Ok(number),
            SymbolicCount::Symbol(symbol) => symbol,
        };
        let number =
            self.bindings.bound_number(&symbol, &self.maxima).map_err(|error| report_count_error(asks, &error))?;
        number.ok_or_else(|| report_count_error(asks, &CountError::UnboundSlices { dim: dim.to_owned(), symbol }))
    }

    /// Returns the hints that apply inside `scope`; `around` holds the hints of the enclosing scopes.
    fn enter_scope(&mut self, scope: Op<'_>, around: &RequestedHints) -> Result<RequestedHints, ErrorReported> {
        let counts =
            scope.attr(attr::TILE_COUNTS).and_then(elements).unwrap_or_default().into_iter().filter_map(parse_count);
        let mut tiles =
            self.collect_tile_hints(scope, &around.tiles, scope_names(scope, "tile_dims").into_iter().zip(counts))?;
        for dim in scope_names(scope, attr::RECOMPUTE) {
            if !tiles.iter().any(|tile| tile.dim == dim) {
                let message = codes::HINT_RECOMPUTE.format(format_args!(
                    "expected tiles along '{dim}', which 'recompute' names, found none; tile \
                     '{dim}' in an enclosing scope, or remove it from 'recompute'"
                ));
                return Err(error_at(codes::HINT_TWICE, scope, message).report());
            }
            tiles.iter_mut().filter(|tile| tile.dim == dim).for_each(|tile| tile.recomputes = true);
        }
        let mut work = around.work.clone();
        let slices =
            scope.attr(attr::WORK_SLICES).and_then(elements).unwrap_or_default().into_iter().filter_map(parse_count);
        for (dim, slices) in scope_names(scope, "work_dims").into_iter().zip(slices) {
            work.retain(|outer| outer.dim != dim);
            work.push(WorkHint {
                id: self.allocate_id(),
                dim: dim.to_owned(),
                slices: self.resolve_slices(scope, dim, slices)?,
            });
        }
        Ok(RequestedHints { tiles, work })
    }

    fn flatten(&mut self, around: Op<'_>, requests: &RequestedHints) -> Result<(), ErrorReported> {
        for op in around.body_ops() {
            if op.is(spyre::HINT) {
                let inner = self.enter_scope(op, requests)?;
                self.flatten(op, &inner)?;
                let is_unused = |&(_, result): &(Value<'_>, Value<'_>)| result.users().is_empty();
                let unused =
                    op.yielded().into_iter().zip(op.outputs()).filter(is_unused).map(|(value, _)| value).collect();
                op.inline_body();
                erase_unused(unused);
            } else if op.is(spyre::LOOP) {
                self.bind_loop(op)?;
                self.flatten(op, requests)?;
            } else if let Some(compute) = ComputeOp::from_op(op) {
                self.write_hints(compute, requests)?;
            }
        }
        Ok(())
    }

    /// Writes the requested hints on an op.
    fn write_hints(&mut self, compute: ComputeOp<'_>, requests: &RequestedHints) -> Result<(), ErrorReported> {
        let op = compute.op;
        let mut tiles = requests.tiles.clone();
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
        if !requests.work.is_empty() {
            if op.attr(attr::WORK_DIV).is_some() {
                return Err(error_at(
                    codes::HINT_TWICE,
                    op,
                    "expected 'work_div' from one source, found it on the op and on its scope; remove one of them",
                )
                .report());
            }
            op.set_attr(attr::WORK_DIV, work_div_attribute(op.ctx(), &requests.work));
        }
        Ok(())
    }

    /// Binds the symbolic count of an existing loop. Its tiles are fixed, so the count can only be bound to their
    /// number.
    fn bind_loop(&mut self, op: Op<'_>) -> Result<(), ErrorReported> {
        let Some(symbol) = op.attr(attr::SYMBOL).and_then(string) else { return Ok(()) };
        let number =
            self.bindings.bound_number(symbol, &self.maxima).map_err(|error| report_count_error(op, &error))?;
        let count = op.required_attr("count", integer);
        match number {
            Some(number) if number != count => {
                let message = format!(
                    "loop has {count} tiles, found 'bind={symbol}={number}'; bind '{symbol}' to {count}, or remove the binding"
                );
                Err(error_at_location(codes::BINDING_RANGE, op, message).report())
            }
            Some(_) => {
                op.remove_attr(attr::SYMBOL);
                Ok(())
            }
            None => Ok(()),
        }
    }
}

fn report_count_error(at: Op<'_>, error: &CountError) -> ErrorReported {
    match error {
        CountError::AboveMaximum { .. } => error_at(error.code(), at, format_args!("option 'bind': {error}")).report(),
        _ => error_at_location(error.code(), at, error).report(),
    }
}

fn scope_names<'c>(scope: Op<'c>, list: &str) -> Vec<&'c str> {
    scope.attr(list).and_then(strings).unwrap_or_default()
}

/// Count as a scope stores it: an integer, or a name.
fn parse_count(attribute: Attribute<'_>) -> Option<SymbolicCount> {
    integer(attribute)
        .map(SymbolicCount::Number)
        .or_else(|| string(attribute).map(|symbol| SymbolicCount::Symbol(symbol.to_owned())))
}
