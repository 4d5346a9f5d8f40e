//! `spyre-make-scopes`: turns handwritten loops into hint scopes.
//!
//! Reads `spyre.loop`s whose tensors have no layouts; writes hint scopes with the ops of their bodies, on complete tensors, and
//! dimension names of the arguments. Inner loops are processed before outer ones. `scopes.rs` determines the equivalent op on
//! complete tensors.

use super::{
    argument_names::{ArgumentNames, origins},
    dim_labels::DimLabels,
    kernels_of,
    together::Origin,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{Carried, ComputeOp, behind_views, carried_by, constant, end_with, given_tiles, tiled_dims},
    kernel::{Has, OpInLoop, ReadInLoop, shown_has},
    mlir::{
        Attributes, BlockLike, Op, OpExt, Options, Pass, Reported, TensorType, Type, Value, ValueExt, ValueLike, ValueMap, array, build,
        dense_attribute, error_at, float_value, functions_of, i64_attribute, insert_before, integer, map_of, map_results, new_block,
        shape_of, splat_value, string_array, warning_at,
    },
    tile::ir::combination::combination,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-make-scopes", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for function in functions_of(module) {
        let loops: Vec<(Op<'_>, Op<'_>)> =
            open_loops(function).into_iter().map(|around| (kernel_around(around).unwrap_or(function), around)).collect();
        for place in kernels_of(function).into_iter().chain([function]) {
            let in_place: Vec<Op<'_>> = loops.iter().filter(|(of, _)| *of == place).map(|(_, around)| *around).collect();
            if !in_place.is_empty() {
                make_all(function, place, &in_place)?;
            }
        }
    }
    Ok(())
}

fn kernel_around(around: Op<'_>) -> Option<Op<'_>> {
    std::iter::successors(around.parent(), |op| op.parent()).find(|op| op.is(spyre::KERNEL))
}

/// Turns the loops of a function, or of a kernel in it, into scopes; the loops name dimensions of its arguments.
fn make_all<'c>(function: Op<'c>, place: Op<'c>, loops: &[Op<'c>]) -> Result<(), Reported> {
    let known = origins(place);
    let mut names =
        if place == function { ArgumentNames::of_function(function, &known) } else { ArgumentNames::of_kernel(place, function, &known) };
    let cuts: Vec<Vec<Origin>> = loops.iter().map(|around| cut_by(*around, &known)).collect();
    cuts.iter().for_each(|cut| names.join(cut));
    if place == function {
        names.join_those_of_kernels(function, &known);
    }
    loops.iter().zip(&cuts).try_for_each(|(around, cut)| make_scope(*around, cut, &mut names))?;
    names.write();
    Ok(())
}

/// Returns the argument dimensions that a loop tiles.
fn cut_by(around: Op<'_>, known: &DimLabels<Origin>) -> Vec<Origin> {
    around.inputs().into_iter().zip(tiled_dims(around)).filter_map(|(whole, dim)| known.of(whole)[dim]).collect()
}

/// Returns the loops over tensors without layouts, inner loops first.
fn open_loops(function: Op<'_>) -> Vec<Op<'_>> {
    let (mut found, mut around) = (Vec::new(), Vec::new());
    for op in function.nested().into_iter().filter(|op| is_open(*op)) {
        let is_in = |outer: &Op<'_>| std::iter::successors(op.parent(), |op| op.parent()).any(|parent| parent == *outer);
        while let Some(ended) = around.pop_if(|outer| !is_in(outer)) {
            found.push(ended);
        }
        around.push(op);
    }
    found.extend(around.into_iter().rev());
    found
}

fn is_open(op: Op<'_>) -> bool {
    let has_layout = |value: Value<'_>| TensorType::of(value.r#type()).is_some_and(|tensor| tensor.encoding.is_some());
    op.is(spyre::LOOP) && !op.inputs().into_iter().chain(op.outputs()).any(has_layout)
}

/// Makes elementwise ops of a loop broadcast a single element where an operand is a splat constant: this is equivalent to a tile
/// of it, and to the complete tensor.
fn repeat_numbers(around: Op<'_>) {
    for op in around.nested().into_iter().filter(|op| op.is(spyre::POINTWISE)) {
        let (inputs, shape) = (op.inputs(), shape_of(op.output()));
        if !inputs.iter().any(|input| shape_of(*input) == shape && number_of(*input).is_none()) {
            continue;
        }
        for (position, input) in inputs.into_iter().enumerate() {
            if let Some(one) = number_of(input).and_then(|number| one_element(op, input, number)) {
                op.set_input(position, one);
                input.def().filter(|def| def.outputs()[0].users().is_empty()).into_iter().for_each(OpExt::erase);
            }
        }
    }
}

/// Creates a one-element constant before an op, in place of a larger splat of this number.
fn one_element<'c>(before: Op<'c>, value: Value<'c>, number: f64) -> Option<Value<'c>> {
    let tensor = TensorType::of(value.r#type()).filter(|tensor| tensor.shape.iter().any(|size| *size != 1))?;
    let of = tensor.with_shape(vec![1; tensor.shape.len()]).build();
    Some(insert_before(before, constant(before.ctx(), before.loc(), dense_attribute(of, &[number]), of)).output())
}

fn make_scope<'c>(around: Op<'c>, cut: &[Origin], names: &mut ArgumentNames<'c>) -> Result<(), Reported> {
    repeat_numbers(around);
    let body = Body::of(around)?;
    let name = name_of(around, cut, names)?;
    let (tiles, carried) = (given_tiles(around), body.carried);
    let context = around.ctx();
    let types: Vec<Type<'c>> = around.outputs().iter().map(ValueLike::r#type).collect();
    let attributes = Attributes::new(context)
        .with(attr::TILE_DIMS, string_array(context, &[name]))
        .with(attr::TILE_COUNTS, array(context, &[i64_attribute(context, count_of(around))]));
    let scope = insert_before(around, build(spyre::HINT, around.loc(), &[], &types, attributes, vec![new_block(&[], around.loc())]));
    for (value, dim) in body.cut {
        value.retype(whole_type(value, dim, count_of(around)));
    }
    around.body_args().into_iter().zip(around.inputs()).for_each(|(argument, given)| argument.replace_with(given));
    let mut ops = around.body_ops();
    ops.pop().into_iter().for_each(OpExt::erase);
    let is_combined = |op: &Op<'c>| carried.iter().any(|(carried, part)| *part != carried.after && carried.after.def() == Some(*op));
    let (combining, kept): (Vec<Op<'c>>, Vec<Op<'c>>) = ops.into_iter().partition(is_combined);
    combining.into_iter().for_each(OpExt::erase);
    let block = scope.body().expect("a body was built");
    kept.into_iter().for_each(|op| op.move_to_end(block));
    let given: Vec<Value<'c>> = tiles.iter().map(|given| given.tile).chain(carried.iter().map(|(_, part)| *part)).collect();
    end_with(scope, &given.into_iter().map(|value| given_to(around, value)).collect::<Vec<_>>());
    around.outputs().into_iter().zip(scope.outputs()).for_each(|(old, new)| old.replace_with(new));
    around.erase();
    Ok(())
}

/// Returns the loop operand for an argument of the loop body; any other value is returned unchanged.
fn given_to<'c>(around: Op<'c>, value: Value<'c>) -> Value<'c> {
    around.body_args().into_iter().position(|argument| argument == value).map_or(value, |number| around.inputs()[number])
}

fn count_of(around: Op<'_>) -> i64 {
    around.required(attr::COUNT, integer)
}

/// Returns the type of the concatenated tiles of a loop, along a dimension.
fn whole_type<'c>(tile: Value<'c>, dim: usize, count: i64) -> Type<'c> {
    let tensor = TensorType::of(tile.r#type()).expect("a compute op gives a tensor");
    let mut shape = tensor.shape.clone();
    shape[dim] *= count;
    tensor.with_shape(shape).build()
}

/// Returns the name of the dimension that a loop tiles: that of the corresponding argument dimensions, or the loop's name, which
/// unnamed ones get.
fn name_of(around: Op<'_>, cut: &[Origin], names: &mut ArgumentNames<'_>) -> Result<String, Reported> {
    let Some(name) = names.settle(around.text_attr(attr::DIM), cut) else {
        let message = "expected a loop that tiles a complete dimension of an argument, because it is converted to a hint \
         scope; write the ops of its body on complete tensors in 'spyre.hint'";
        return Err(error_at(codes::KERNEL_LOOP, around, message).report());
    };
    for (argument, dim) in cut.iter().filter(|origin| !names.is_named(**origin, &name)) {
        let message = format!("does not tile dimension {dim} of argument {argument}: '{name}' is the name of another dimension there");
        warning_at(codes::KERNEL_DIM, around, message).emit();
    }
    Ok(name)
}

/// Results and carried values of a loop body that is rewritten to ops on complete tensors.
struct Body<'c> {
    /// Tiled results, each with its tiled dimension.
    cut: Vec<(Value<'c>, usize)>,
    /// Carried values, each with the partial result that every iteration combines with it; in a loop of one iteration,
    /// with the value that this iteration yields.
    carried: Vec<(Carried<'c>, Value<'c>)>,
}

/// Extent of each value of a loop's body in one iteration.
struct Known<'c> {
    around: Op<'c>,
    has: ValueMap<Has>,
    cut: Vec<(Value<'c>, usize)>,
    carried: Vec<(Carried<'c>, Value<'c>)>,
}

impl<'c> Body<'c> {
    fn of(around: Op<'c>) -> Result<Self, Reported> {
        if around.attr(attr::SYMBOL).is_some() {
            return Err(refuse(around, around, "has a trip count that is known only at launch"));
        }
        if count_of(around) == 1 {
            // The only tile is the complete tensor, whatever its use.
            return Ok(Self { cut: Vec::new(), carried: carried_by(around).into_iter().map(|carried| (carried, carried.after)).collect() });
        }
        let mut known = Known { around, has: ValueMap::default(), cut: Vec::new(), carried: Vec::new() };
        for (value, dim) in around.body_args().into_iter().zip(tiled_dims(around)) {
            known.has.insert(value, Has::Tile(dim));
        }
        for carried in carried_by(around) {
            let part = known.combined(carried)?;
            known.carried.push((carried, part));
        }
        known.follow(around)?;
        known.check_given()?;
        Ok(Self { cut: known.cut, carried: known.carried })
    }
}

impl<'c> Known<'c> {
    fn of(&self, value: Value<'c>) -> Has {
        self.has.get(value).copied().unwrap_or(Has::All)
    }

    fn note(&mut self, value: Value<'c>, has: Has) {
        self.has.insert(value, has);
        if let Has::Tile(dim) = has {
            self.cut.push((value, dim));
        }
    }

    /// Visits the ops of a body and of its scopes, in order.
    fn follow(&mut self, around: Op<'c>) -> Result<(), Reported> {
        for op in around.body_ops() {
            if op.is(spyre::YIELD) || self.combines(op) {
                continue;
            }
            if op.is(spyre::HINT) {
                self.follow(op)?;
                for (result, value) in op.outputs().into_iter().zip(op.yielded()) {
                    let has = self.of(value);
                    self.note(result, has);
                }
                continue;
            }
            let has = self.given_by(op).map_err(|why| refuse(self.around, op, why))?;
            op.outputs().into_iter().for_each(|result| self.note(result, has));
        }
        Ok(())
    }

    fn combines(&self, op: Op<'c>) -> bool {
        self.carried.iter().any(|(carried, _)| carried.after.def() == Some(op))
    }

    fn given_by(&self, op: Op<'c>) -> Result<Has, &'static str> {
        if op.inputs().into_iter().all(|input| self.of(input) == Has::All) {
            return Ok(Has::All);
        }
        if op.is(spyre::VIEW) {
            let behind = op.inputs()[0];
            let shown = shown_has(self.of(behind), &map_results(op.required(attr::MAP, map_of)), &shape_of(behind), &shape_of(op.output()));
            return shown.ok_or("reads a tile through a view that does not keep the tiled dimension");
        }
        let Some(compute) = ComputeOp::of(op).filter(|compute| !compute.is_insert()) else {
            return Err("is not an elementwise op, reduction, matmul or gather");
        };
        self.described(compute).gives()
    }

    fn described(&self, compute: ComputeOp<'c>) -> OpInLoop {
        let reads = compute.reads().into_iter().enumerate();
        let reads =
            reads.map(|(operand, value)| ReadInLoop { has: self.of(value), sizes: shape_of(value), dims: compute.operand_dims(operand) });
        OpInLoop {
            reads: reads.collect(),
            n_kept: compute.iteration_space().len() - compute.n_reduced(),
            result: compute.operand_dims(compute.reads().len()),
            combines: combination(compute).is_some(),
            repeats: compute.op.is(spyre::POINTWISE),
        }
    }

    /// Returns the partial result that an iteration combines with the carried value.
    fn combined(&self, carried: Carried<'c>) -> Result<Value<'c>, Reported> {
        let refuse =
            |why| Err(refuse(self.around, carried.after.def().filter(|op| op.parent() == Some(self.around)).unwrap_or(self.around), why));
        let function = carried.after.def().and_then(ComputeOp::of).map(ComputeOp::function).unwrap_or_default();
        let inputs = carried.after.def().map(OpExt::inputs).unwrap_or_default();
        let part = match inputs.as_slice() {
            [before, part] | [part, before] if *before == carried.argument && *part != carried.argument => *part,
            _ => return refuse("yields another value than the carried value combined with a partial result"),
        };
        if [carried.argument, carried.after, part].iter().any(|value| value.users().len() != 1) {
            return refuse("yields a value that other ops read before it is complete");
        }
        match maker_of(part).and_then(combination) {
            Some(way) if way.function == function && number_of(carried.before) == Some(way.neutral) => Ok(part),
            Some(way) if way.function == function => refuse("carries an initial value that is not neutral, such as 0 for a sum"),
            _ => refuse("yields another value than the carried value combined with a partial result"),
        }
    }

    /// Checks that every yielded tile is tiled along the dimension that the loop concatenates, and that every combined
    /// value is a partial result.
    fn check_given(&self) -> Result<(), Reported> {
        for given in given_tiles(self.around) {
            if self.of(given.tile) != Has::Tile(given.dim) {
                let at = given.tile.def().filter(|op| op.parent() == Some(self.around)).unwrap_or(self.around);
                return Err(refuse(self.around, at, "concatenates results along another dimension than the tiled one"));
            }
        }
        match self.carried.iter().find(|(_, part)| self.of(*part) != Has::Partial) {
            Some((carried, _)) => {
                let at = carried.after.def().unwrap_or(self.around);
                Err(refuse(self.around, at, "combines the carried value with a value that is not a partial result of the tiles"))
            }
            None => Ok(()),
        }
    }
}

/// Returns the op that defines a value, also inside scopes.
fn maker_of(value: Value<'_>) -> Option<ComputeOp<'_>> {
    let def = value.def()?;
    if !def.is(spyre::HINT) {
        return ComputeOp::of(def);
    }
    let number = def.outputs().iter().position(|result| *result == value)?;
    maker_of(def.yielded()[number])
}

/// Returns the number that all elements of a splat value have, if it is known.
fn number_of(value: Value<'_>) -> Option<f64> {
    let def = behind_views(outside_of_kernel(value)).def()?;
    let number = def.attr(attr::VALUE)?;
    if def.is(spyre::FILL) { float_value(number) } else { splat_value(number).and_then(float_value) }
}

/// Returns the kernel operand for a kernel argument, also through views; any other value is returned unchanged.
fn outside_of_kernel(value: Value<'_>) -> Value<'_> {
    let behind = behind_views(value);
    let Some((block, number)) = behind.arg_of() else { return value };
    block.parent_operation().filter(|op| op.is(spyre::KERNEL)).map_or(value, |kernel| kernel.inputs()[number])
}

/// Reports at an op of the loop's body why the loop cannot become a hint scope.
fn refuse(around: Op<'_>, at: Op<'_>, why: &str) -> Reported {
    let advice = "a loop over tensors without layouts must be equivalent to ops on complete tensors";
    let error = error_at(codes::KERNEL_LOOP, at, format_args!("{why}: {advice}"));
    if at == around { error.report() } else { error.note(around, "the loop").report() }
}
