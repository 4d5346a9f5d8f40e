//! `spyre-raise-loops-to-hints`: turns handwritten loops into hint scopes.
//!
//! Reads `spyre.loop`s whose tensors have no layouts; writes hint scopes with the ops of their bodies, on complete
//! tensors, and dimension names of the arguments. Inner loops are processed before outer ones. `scopes.rs` determines
//! the equivalent op on complete tensors.

use super::{
    argument_names::{ArgumentNames, compute_origins},
    collect_kernels,
    dim_labels::DimLabels,
    dim_name_groups::ArgumentDim,
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{
        ComputeOp, LoopCarriedValue, append_yield, build_constant, loop_carried_values, strip_views, tiled_dims,
        tiled_outputs,
    },
    kernel::{IterationExtent, LoopBodyOp, LoopBodyOperand, compute_view_extent},
    mlir::{
        AttributeList, BlockLike, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Type, Value, ValueExt,
        ValueLike, ValueMap, array_attribute, build_op, dense_attribute, error_at, find_defined_functions, float_value,
        i64_attribute, insert_before, integer, map_of, map_results, new_block, shape_of, splat_value, string_array,
        warning_at,
    },
    tile::ir::combination::find_combination,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-raise-loops-to-hints", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for function in find_defined_functions(module) {
        let loops: Vec<(Op<'_>, Op<'_>)> = collect_layoutless_loops(function)
            .into_iter()
            .map(|around| (enclosing_kernel(around).unwrap_or(function), around))
            .collect();
        for place in collect_kernels(function).into_iter().chain([function]) {
            let in_place: Vec<Op<'_>> =
                loops.iter().filter(|(of, _)| *of == place).map(|(_, around)| *around).collect();
            if !in_place.is_empty() {
                raise_loops_to_hints_in(function, place, &in_place)?;
            }
        }
    }
    Ok(())
}

fn enclosing_kernel(around: Op<'_>) -> Option<Op<'_>> {
    std::iter::successors(around.parent(), |op| op.parent()).find(|op| op.is(spyre::KERNEL))
}

/// Turns the loops of a function, or of a kernel in it, into scopes; the loops name dimensions of its arguments.
fn raise_loops_to_hints_in<'c>(function: Op<'c>, place: Op<'c>, loops: &[Op<'c>]) -> Result<(), ErrorReported> {
    let known = compute_origins(place);
    let mut names = if place == function {
        ArgumentNames::from_function(function, &known)
    } else {
        ArgumentNames::from_kernel(place, function, &known)
    };
    let cuts: Vec<Vec<ArgumentDim>> = loops.iter().map(|around| collect_tiled_origins(*around, &known)).collect();
    cuts.iter().for_each(|cut| names.unify_names(cut));
    if place == function {
        names.unify_kernel_names(function, &known);
    }
    loops.iter().zip(&cuts).try_for_each(|(around, cut)| make_scope(*around, cut, &mut names))?;
    names.write();
    Ok(())
}

/// Returns the argument dimensions that a loop tiles.
fn collect_tiled_origins(around: Op<'_>, known: &DimLabels<ArgumentDim>) -> Vec<ArgumentDim> {
    around.inputs().into_iter().zip(tiled_dims(around)).filter_map(|(whole, dim)| known.labels_of(whole)[dim]).collect()
}

/// Returns the loops over tensors without layouts, inner loops first.
fn collect_layoutless_loops(function: Op<'_>) -> Vec<Op<'_>> {
    let (mut found, mut around) = (Vec::new(), Vec::new());
    for op in function.nested().into_iter().filter(|op| is_layoutless_loop(*op)) {
        let is_in =
            |outer: &Op<'_>| std::iter::successors(op.parent(), |op| op.parent()).any(|parent| parent == *outer);
        while let Some(ended) = around.pop_if(|outer| !is_in(outer)) {
            found.push(ended);
        }
        around.push(op);
    }
    found.extend(around.into_iter().rev());
    found
}

fn is_layoutless_loop(op: Op<'_>) -> bool {
    let has_layout =
        |value: Value<'_>| TensorType::from_type(value.r#type()).is_some_and(|tensor| tensor.encoding.is_some());
    op.is(spyre::LOOP) && !op.inputs().into_iter().chain(op.outputs()).any(has_layout)
}

/// Makes elementwise ops of a loop broadcast a single element where an operand is a splat constant: this is equivalent
/// to a tile of it, and to the complete tensor.
fn broadcast_splats(around: Op<'_>) {
    for op in around.nested().into_iter().filter(|op| op.is(spyre::POINTWISE)) {
        let (inputs, shape) = (op.inputs(), shape_of(op.output()));
        if !inputs.iter().any(|input| shape_of(*input) == shape && splat_number(*input).is_none()) {
            continue;
        }
        for (position, input) in inputs.into_iter().enumerate() {
            if let Some(one) = splat_number(input).and_then(|number| make_one_element_constant(op, input, number)) {
                op.set_input(position, one);
                input.def().filter(|def| def.outputs()[0].users().is_empty()).into_iter().for_each(OpExt::erase);
            }
        }
    }
}

/// Creates a one-element constant before an op, in place of a larger splat of this number.
fn make_one_element_constant<'c>(before: Op<'c>, value: Value<'c>, number: f64) -> Option<Value<'c>> {
    let tensor = TensorType::from_type(value.r#type()).filter(|tensor| tensor.shape.iter().any(|size| *size != 1))?;
    let of = tensor.with_shape(vec![1; tensor.shape.len()]).build();
    Some(insert_before(before, build_constant(before.ctx(), before.loc(), dense_attribute(of, &[number]), of)).output())
}

fn make_scope<'c>(around: Op<'c>, cut: &[ArgumentDim], names: &mut ArgumentNames<'c>) -> Result<(), ErrorReported> {
    broadcast_splats(around);
    let body = ScopeBody::from_loop(around)?;
    let name = resolve_dim_name(around, cut, names)?;
    let (tiles, carried) = (tiled_outputs(around), body.carried);
    let context = around.ctx();
    let types: Vec<Type<'c>> = around.outputs().iter().map(ValueLike::r#type).collect();
    let attributes = AttributeList::new(context)
        .with_attribute(attr::TILE_DIMS, string_array(context, &[name]))
        .with_attribute(attr::TILE_COUNTS, array_attribute(context, &[i64_attribute(context, trip_count(around))]));
    let scope = insert_before(
        around,
        build_op(spyre::HINT, around.loc(), &[], &types, attributes, vec![new_block(&[], around.loc())]),
    );
    for (value, dim) in body.cut {
        value.retype(concatenated_type(value, dim, trip_count(around)));
    }
    around.body_args().into_iter().zip(around.inputs()).for_each(|(argument, given)| argument.replace_with(given));
    let mut ops = around.body_ops();
    ops.pop().into_iter().for_each(OpExt::erase);
    let is_combined =
        |op: &Op<'c>| carried.iter().any(|(carried, part)| *part != carried.after && carried.after.def() == Some(*op));
    let (combining, kept): (Vec<Op<'c>>, Vec<Op<'c>>) = ops.into_iter().partition(is_combined);
    combining.into_iter().for_each(OpExt::erase);
    let block = scope.body().expect("a body was built");
    kept.into_iter().for_each(|op| op.move_to_end(block));
    let given: Vec<Value<'c>> =
        tiles.iter().map(|given| given.tile).chain(carried.iter().map(|(_, part)| *part)).collect();
    append_yield(scope, &given.into_iter().map(|value| map_to_loop_operand(around, value)).collect::<Vec<_>>());
    around.outputs().into_iter().zip(scope.outputs()).for_each(|(old, new)| old.replace_with(new));
    around.erase();
    Ok(())
}

/// Returns the loop operand for an argument of the loop body; any other value is returned unchanged.
fn map_to_loop_operand<'c>(around: Op<'c>, value: Value<'c>) -> Value<'c> {
    around
        .body_args()
        .into_iter()
        .position(|argument| argument == value)
        .map_or(value, |number| around.inputs()[number])
}

fn trip_count(around: Op<'_>) -> i64 {
    around.required_attr(attr::COUNT, integer)
}

/// Returns the type of the concatenated tiles of a loop, along a dimension.
fn concatenated_type<'c>(tile: Value<'c>, dim: usize, count: i64) -> Type<'c> {
    let tensor = TensorType::from_type(tile.r#type()).expect("a compute op gives a tensor");
    let mut shape = tensor.shape.clone();
    shape[dim] *= count;
    tensor.with_shape(shape).build()
}

/// Returns the name of the dimension that a loop tiles: that of the corresponding argument dimensions, or the loop's
/// name, which unnamed ones get.
fn resolve_dim_name(
    around: Op<'_>,
    cut: &[ArgumentDim],
    names: &mut ArgumentNames<'_>,
) -> Result<String, ErrorReported> {
    let Some(name) = names.resolve_name(around.text_attr(attr::DIM), cut) else {
        let message = "expected a loop that tiles a complete dimension of an argument, because it is converted to a hint \
         scope; write the ops of its body on complete tensors in 'spyre.hint'";
        return Err(error_at(codes::KERNEL_LOOP, around, message).report());
    };
    for (argument, dim) in cut.iter().filter(|origin| !names.is_named(**origin, &name)) {
        let message = format!(
            "does not tile dimension {dim} of argument {argument}: '{name}' is the name of another dimension there"
        );
        warning_at(codes::KERNEL_DIM, around, message).emit();
    }
    Ok(name)
}

/// Results and carried values of a loop body that is rewritten to ops on complete tensors.
struct ScopeBody<'c> {
    /// Tiled results, each with its tiled dimension.
    cut: Vec<(Value<'c>, usize)>,
    /// Carried values, each with the partial result that every iteration combines with it; in a loop of one iteration,
    /// with the value that this iteration yields.
    carried: Vec<(LoopCarriedValue<'c>, Value<'c>)>,
}

/// Extent of each value of a loop's body in one iteration.
struct ExtentAnalysis<'c> {
    around: Op<'c>,
    extents: ValueMap<IterationExtent>,
    cut: Vec<(Value<'c>, usize)>,
    carried: Vec<(LoopCarriedValue<'c>, Value<'c>)>,
}

impl<'c> ScopeBody<'c> {
    fn from_loop(around: Op<'c>) -> Result<Self, ErrorReported> {
        if around.attr(attr::SYMBOL).is_some() {
            return Err(report_rejection(around, around, "has a trip count that is known only at launch"));
        }
        if trip_count(around) == 1 {
            // The only tile is the complete tensor, whatever its use.
            return Ok(Self {
                cut: Vec::new(),
                carried: loop_carried_values(around).into_iter().map(|carried| (carried, carried.after)).collect(),
            });
        }
        let mut known = ExtentAnalysis { around, extents: ValueMap::default(), cut: Vec::new(), carried: Vec::new() };
        for (value, dim) in around.body_args().into_iter().zip(tiled_dims(around)) {
            known.extents.insert(value, IterationExtent::Tile(dim));
        }
        for carried in loop_carried_values(around) {
            let part = known.find_partial_result(carried)?;
            known.carried.push((carried, part));
        }
        known.analyze_body(around)?;
        known.check_yielded()?;
        Ok(Self { cut: known.cut, carried: known.carried })
    }
}

impl<'c> ExtentAnalysis<'c> {
    fn extent_of(&self, value: Value<'c>) -> IterationExtent {
        self.extents.get(value).copied().unwrap_or(IterationExtent::All)
    }

    fn record_extent(&mut self, value: Value<'c>, has: IterationExtent) {
        self.extents.insert(value, has);
        if let IterationExtent::Tile(dim) = has {
            self.cut.push((value, dim));
        }
    }

    /// Visits the ops of a body and of its scopes, in order.
    fn analyze_body(&mut self, around: Op<'c>) -> Result<(), ErrorReported> {
        for op in around.body_ops() {
            if op.is(spyre::YIELD) || self.is_combination(op) {
                continue;
            }
            if op.is(spyre::HINT) {
                self.analyze_body(op)?;
                for (result, value) in op.outputs().into_iter().zip(op.yielded()) {
                    let has = self.extent_of(value);
                    self.record_extent(result, has);
                }
                continue;
            }
            let has = self.compute_extent(op).map_err(|why| report_rejection(self.around, op, why))?;
            op.outputs().into_iter().for_each(|result| self.record_extent(result, has));
        }
        Ok(())
    }

    fn is_combination(&self, op: Op<'c>) -> bool {
        self.carried.iter().any(|(carried, _)| carried.after.def() == Some(op))
    }

    fn compute_extent(&self, op: Op<'c>) -> Result<IterationExtent, &'static str> {
        if op.inputs().into_iter().all(|input| self.extent_of(input) == IterationExtent::All) {
            return Ok(IterationExtent::All);
        }
        if op.is(spyre::VIEW) {
            let behind = op.inputs()[0];
            let viewed = compute_view_extent(
                self.extent_of(behind),
                &map_results(op.required_attr(attr::MAP, map_of)),
                &shape_of(behind),
                &shape_of(op.output()),
            );
            return viewed.ok_or("reads a tile through a view that does not keep the tiled dimension");
        }
        let Some(compute) = ComputeOp::from_op(op).filter(|compute| !compute.is_insert()) else {
            return Err("is not an elementwise op, reduction, matmul or gather");
        };
        self.describe_op(compute).result_extent()
    }

    fn describe_op(&self, compute: ComputeOp<'c>) -> LoopBodyOp {
        let reads = compute.read_operands().into_iter().enumerate();
        let reads = reads.map(|(operand, value)| LoopBodyOperand {
            extent: self.extent_of(value),
            sizes: shape_of(value),
            dims: compute.operand_dims(operand),
        });
        LoopBodyOp {
            reads: reads.collect(),
            num_kept: compute.iteration_space().len() - compute.num_reduced_dims(),
            result: compute.operand_dims(compute.read_operands().len()),
            combines: find_combination(compute).is_some(),
            repeats: compute.op.is(spyre::POINTWISE),
        }
    }

    /// Returns the partial result that an iteration combines with the carried value.
    fn find_partial_result(&self, carried: LoopCarriedValue<'c>) -> Result<Value<'c>, ErrorReported> {
        let reject = |why| {
            Err(report_rejection(
                self.around,
                carried.after.def().filter(|op| op.parent() == Some(self.around)).unwrap_or(self.around),
                why,
            ))
        };
        let function = carried.after.def().and_then(ComputeOp::from_op).map(ComputeOp::function).unwrap_or_default();
        let inputs = carried.after.def().map(OpExt::inputs).unwrap_or_default();
        let part = match inputs.as_slice() {
            [before, part] | [part, before] if *before == carried.argument && *part != carried.argument => *part,
            _ => return reject("yields another value than the carried value combined with a partial result"),
        };
        if [carried.argument, carried.after, part].iter().any(|value| value.users().len() != 1) {
            return reject("yields a value that other ops read before it is complete");
        }
        match find_defining_op(part).and_then(find_combination) {
            Some(way) if way.function == function && splat_number(carried.before) == Some(way.neutral) => Ok(part),
            Some(way) if way.function == function => {
                reject("carries an initial value that is not neutral, such as 0 for a sum")
            }
            _ => reject("yields another value than the carried value combined with a partial result"),
        }
    }

    /// Checks that every yielded tile is tiled along the dimension that the loop concatenates, and that every combined
    /// value is a partial result.
    fn check_yielded(&self) -> Result<(), ErrorReported> {
        for given in tiled_outputs(self.around) {
            if self.extent_of(given.tile) != IterationExtent::Tile(given.dim) {
                let at = given.tile.def().filter(|op| op.parent() == Some(self.around)).unwrap_or(self.around);
                return Err(report_rejection(
                    self.around,
                    at,
                    "concatenates results along another dimension than the tiled one",
                ));
            }
        }
        match self.carried.iter().find(|(_, part)| self.extent_of(*part) != IterationExtent::Partial) {
            Some((carried, _)) => {
                let at = carried.after.def().unwrap_or(self.around);
                Err(report_rejection(
                    self.around,
                    at,
                    "combines the carried value with a value that is not a partial result of the tiles",
                ))
            }
            None => Ok(()),
        }
    }
}

/// Returns the op that defines a value, also inside scopes.
fn find_defining_op(value: Value<'_>) -> Option<ComputeOp<'_>> {
    let def = value.def()?;
    if !def.is(spyre::HINT) {
        return ComputeOp::from_op(def);
    }
    let number = def.outputs().iter().position(|result| *result == value)?;
    find_defining_op(def.yielded()[number])
}

/// Returns the number that all elements of a splat value have, if it is known.
fn splat_number(value: Value<'_>) -> Option<f64> {
    let def = strip_views(map_to_kernel_operand(value)).def()?;
    let number = def.attr(attr::VALUE)?;
    if def.is(spyre::FILL) { float_value(number) } else { splat_value(number).and_then(float_value) }
}

/// Returns the kernel operand for a kernel argument, also through views; any other value is returned unchanged.
fn map_to_kernel_operand(value: Value<'_>) -> Value<'_> {
    let behind = strip_views(value);
    let Some((block, number)) = behind.as_block_arg() else { return value };
    block.parent_operation().filter(|op| op.is(spyre::KERNEL)).map_or(value, |kernel| kernel.inputs()[number])
}

/// Reports at an op of the loop's body why the loop cannot become a hint scope.
fn report_rejection(around: Op<'_>, at: Op<'_>, why: &str) -> ErrorReported {
    let advice = "a loop over tensors without layouts must be equivalent to ops on complete tensors";
    let error = error_at(codes::KERNEL_LOOP, at, format_args!("{why}: {advice}"));
    if at == around { error.report() } else { error.with_note(around, "the loop").report() }
}
