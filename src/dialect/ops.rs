//! Builds `spyre` ops.

pub use super::attrs::work_attribute;
use super::attrs::{TileHint, work_hint_attribute};
use crate::dialect::ods::{attr, spyre};
use crate::mlir::{
    AffineExpression, AffineMap, Attribute, AttributeList, Context, Location, Op, OpExt, TensorType, Type, Value,
    ValueLike, array_attribute, build_op, f64_array_attribute, insert_before, map_attribute, map_from_exprs,
    unit_attribute,
};
use program::WorkHint;

type DetachedOp<'c> = melior::ir::Operation<'c>;

/// Builds `spyre.pointwise` with the function's constants.
#[must_use]
pub fn build_pointwise<'c>(
    context: &'c Context,
    at: Location<'c>,
    function: &str,
    inputs: &[Value<'c>],
    constants: &[f64],
    output: Type<'c>,
) -> DetachedOp<'c> {
    let attributes = add_constants(AttributeList::new(context).with_text(attr::FUNCTION, function), context, constants);
    build_op(spyre::POINTWISE, at, inputs, &[output], attributes, vec![])
}

fn add_constants<'c>(attributes: AttributeList<'c>, context: &'c Context, constants: &[f64]) -> AttributeList<'c> {
    let numbers = (!constants.is_empty()).then(|| f64_array_attribute(context, constants));
    attributes.with_option(attr::CONSTANTS, numbers)
}

/// Builds `spyre.reduce` along the dimensions `reduced`.
#[must_use]
pub fn build_reduce<'c>(
    context: &'c Context,
    at: Location<'c>,
    function: &str,
    input: Value<'c>,
    reduced: &[i64],
    constants: &[f64],
    output: Type<'c>,
) -> DetachedOp<'c> {
    let attributes = AttributeList::new(context).with_text(attr::FUNCTION, function).with_ints(attr::REDUCED, reduced);
    build_op(spyre::REDUCE, at, &[input], &[output], add_constants(attributes, context, constants), vec![])
}

/// Builds `spyre.gather` along dimension `dim` of the table.
#[must_use]
pub fn build_gather<'c>(
    context: &'c Context,
    at: Location<'c>,
    table: Value<'c>,
    index: Value<'c>,
    dim: i64,
    output: Type<'c>,
) -> DetachedOp<'c> {
    build_op(
        spyre::GATHER,
        at,
        &[table, index],
        &[output],
        AttributeList::new(context).with_int(attr::DIM, dim),
        vec![],
    )
}

/// Builds `spyre.matmul`.
#[must_use]
pub fn build_matmul<'c>(
    context: &'c Context,
    at: Location<'c>,
    lhs: Value<'c>,
    rhs: Value<'c>,
    output: Type<'c>,
) -> DetachedOp<'c> {
    build_op(spyre::MATMUL, at, &[lhs, rhs], &[output], AttributeList::new(context), vec![])
}

/// Builds `spyre.view`.
#[must_use]
pub fn build_view<'c>(
    context: &'c Context,
    at: Location<'c>,
    input: Value<'c>,
    map: AffineMap<'c>,
    output: Type<'c>,
) -> DetachedOp<'c> {
    build_op(
        spyre::VIEW,
        at,
        &[input],
        &[output],
        AttributeList::new(context).with_attribute(attr::MAP, map_attribute(map)),
        vec![],
    )
}

/// Builds a `spyre.view` of a tensor at these indices of a larger tensor of shape `whole`. The view has size 1 along
/// dimensions that no index uses: an elementwise op broadcasts it there.
#[must_use]
pub fn build_broadcast_view<'c>(
    context: &'c Context,
    at: Location<'c>,
    (input, element): (Value<'c>, Type<'c>),
    indices: &[AffineExpression],
    whole: &[i64],
) -> DetachedOp<'c> {
    let moves = |dim: &usize| indices.iter().any(|index| index.dims().contains(dim));
    let shape = whole.iter().enumerate().map(|(dim, size)| if moves(&dim) { *size } else { 1 }).collect();
    let viewed = TensorType { shape, element, encoding: None };
    build_view(context, at, input, map_from_exprs(context, whole.len(), 0, indices), viewed.build())
}

/// Builds a `spyre.view` of the complete tensor under another element type, whose device format must be equal.
#[must_use]
pub fn build_retyped_view<'c>(
    context: &'c Context,
    at: Location<'c>,
    input: Value<'c>,
    shape: &[i64],
    element: Type<'c>,
) -> DetachedOp<'c> {
    let same: Vec<AffineExpression> = (0..shape.len()).map(AffineExpression::Dim).collect();
    let viewed = TensorType { shape: shape.to_vec(), element, encoding: None };
    build_view(context, at, input, map_from_exprs(context, shape.len(), 0, &same), viewed.build())
}

/// Builds `spyre.copy`.
#[must_use]
pub fn build_copy<'c>(context: &'c Context, at: Location<'c>, input: Value<'c>, output: Type<'c>) -> DetachedOp<'c> {
    build_op(spyre::COPY, at, &[input], &[output], AttributeList::new(context), vec![])
}

/// Builds a `spyre.copy` that the program does not contain, for an op that cannot read the tensor in its layout. A mark
/// on the copy tells the report its reason.
#[must_use]
pub fn build_relayout_copy<'c>(
    context: &'c Context,
    at: Location<'c>,
    input: Value<'c>,
    output: Type<'c>,
) -> DetachedOp<'c> {
    let attributes = AttributeList::new(context).with_attribute(attr::SPYRE_FOR_LAYOUT, unit_attribute(context));
    build_op(spyre::COPY, at, &[input], &[output], attributes, vec![])
}

/// Builds a `spyre.copy` of a value in a loop to the buffer from which later ops read it. The report prints `why`.
#[must_use]
pub fn build_loop_copy<'c>(
    context: &'c Context,
    at: Location<'c>,
    input: Value<'c>,
    output: Type<'c>,
    why: &str,
) -> DetachedOp<'c> {
    build_op(
        spyre::COPY,
        at,
        &[input],
        &[output],
        AttributeList::new(context).with_text(attr::SPYRE_FOR_LOOP, why),
        vec![],
    )
}

/// Returns whether a loop in an operation corrects its carried values.
#[must_use]
pub fn has_corrections(op: Op<'_>) -> bool {
    op.nested().into_iter().any(|op| op.attr(attr::SPYRE_CORRECTS).is_some())
}

/// Attribute of a constant, here and in `sdsc`, with the program's numbers in f64 if the elements round them.
pub const EXACT_ATTR: &str = "exact";

/// Builds `spyre.constant` with the elements in `value`.
#[must_use]
pub fn build_constant<'c>(
    context: &'c Context,
    at: Location<'c>,
    value: Attribute<'c>,
    output: Type<'c>,
) -> DetachedOp<'c> {
    build_op(
        spyre::CONSTANT,
        at,
        &[],
        &[output],
        AttributeList::new(context).with_attribute(attr::VALUE, value),
        vec![],
    )
}

/// Copies a constant, with its numbers, before the original, with another type: another layout.
#[must_use]
pub fn clone_constant<'c>(original: Op<'c>, output: Type<'c>) -> Op<'c> {
    let value = original.required_attr(attr::VALUE, Some);
    let clone = insert_before(original, build_constant(original.ctx(), original.loc(), value, output));
    if let Some(exact) = original.attr(EXACT_ATTR) {
        clone.set_attr(EXACT_ATTR, exact);
    }
    clone
}

/// Builds `spyre.restickify`.
#[must_use]
pub fn build_restickify<'c>(
    context: &'c Context,
    at: Location<'c>,
    input: Value<'c>,
    output: Type<'c>,
) -> DetachedOp<'c> {
    build_op(spyre::RESTICKIFY, at, &[input], &[output], AttributeList::new(context), vec![])
}

/// Builder of a compute op over other dimensions.
pub struct OpRebuilder<'c> {
    op: Op<'c>,
    inputs: Vec<Value<'c>>,
    output: Type<'c>,
    reduced: Option<Vec<i64>>,
}

/// Starts a compute op with the device function of `op`, other operands and result type `output`.
#[must_use]
pub fn rebuild_op<'c>(op: Op<'c>, inputs: &[Value<'c>], output: Type<'c>) -> OpRebuilder<'c> {
    OpRebuilder { op, inputs: inputs.to_vec(), output, reduced: None }
}

impl<'c> OpRebuilder<'c> {
    /// Sets the reduced dimensions.
    #[must_use]
    pub fn with_reduced(self, reduced: &[i64]) -> Self {
        Self { reduced: Some(reduced.to_vec()), ..self }
    }

    /// Builds the op, detached.
    #[must_use]
    pub fn build(self) -> DetachedOp<'c> {
        let Self { op, inputs, output, reduced } = self;
        let mut attributes = AttributeList::new(op.ctx());
        for name in
            [attr::FUNCTION, attr::CONSTANTS, attr::HINTS, attr::WORK_DIV, attr::SPYRE_FOR_LAYOUT, attr::SPYRE_FOR_LOOP]
        {
            attributes = attributes.with_option(name, op.attr(name));
        }
        if let Some(reduced) = reduced {
            attributes = attributes.with_ints(attr::REDUCED, &reduced);
        }
        build_op(op.full_name(), op.loc(), &inputs, &[output], attributes, vec![])
    }
}

/// Builds `spyre.empty`, a buffer to be written slice by slice.
#[must_use]
pub fn build_empty<'c>(context: &'c Context, at: Location<'c>, output: Type<'c>) -> DetachedOp<'c> {
    build_op(spyre::EMPTY, at, &[], &[output], AttributeList::new(context), vec![])
}

/// Builds `spyre.insert`, which writes `part` to the window of `whole` that begins at `offsets`.
#[must_use]
pub fn build_insert<'c>(
    context: &'c Context,
    at: Location<'c>,
    part: Value<'c>,
    whole: Value<'c>,
    offsets: &[i64],
) -> DetachedOp<'c> {
    build_op(
        spyre::INSERT,
        at,
        &[part, whole],
        &[whole.r#type()],
        AttributeList::new(context).with_ints(attr::OFFSETS, offsets),
        vec![],
    )
}

/// Builds `spyre.loop`. The arguments of the body are the tiles of the `tiled` operands, followed by the carried
/// values. The first results are those that the iterations write tile by tile.
#[must_use]
pub fn build_loop<'c>(
    context: &'c Context,
    at: Location<'c>,
    (dim, count): (&str, i64),
    tiled: &[(Value<'c>, usize)],
    carried: &[Value<'c>],
    outputs: &[Type<'c>],
    body: melior::ir::Block<'c>,
) -> DetachedOp<'c> {
    let attributes = AttributeList::new(context).with_int(attr::COUNT, count).with_text(attr::DIM, dim);
    let (operands, attributes) = pack_operand_segments(attributes, tiled, carried);
    build_op(spyre::LOOP, at, &operands, outputs, attributes, vec![body])
}

/// Builds `spyre.yield`: in a loop, tiles with their dimensions, followed by the carried values; otherwise the values
/// of a scope.
#[must_use]
pub fn build_yield<'c>(
    context: &'c Context,
    at: Location<'c>,
    tiles: &[(Value<'c>, usize)],
    values: &[Value<'c>],
) -> DetachedOp<'c> {
    let (operands, attributes) = pack_operand_segments(AttributeList::new(context), tiles, values);
    build_op(spyre::YIELD, at, &operands, &[], attributes, vec![])
}

/// Joins tiled and other operands of an op, and adds the tiled dimensions and the segment sizes to its attributes.
fn pack_operand_segments<'c>(
    attributes: AttributeList<'c>,
    tiled: &[(Value<'c>, usize)],
    others: &[Value<'c>],
) -> (Vec<Value<'c>>, AttributeList<'c>) {
    let dims: Vec<i64> = tiled.iter().map(|(_, dim)| i64::try_from(*dim).expect("the number of a dimension")).collect();
    let operands = tiled.iter().map(|(value, _)| *value).chain(others.iter().copied()).collect();
    (operands, attributes.with_ints(attr::TILED_DIMS, &dims).with_segments(&[tiled.len(), others.len()]))
}

/// Builds the `hints` attribute of an op.
#[must_use]
pub fn hints_attribute<'c>(context: &'c Context, hints: &[TileHint]) -> Attribute<'c> {
    let hints: Vec<Attribute<'c>> = hints.iter().map(|hint| hint.to_attribute(context)).collect();
    array_attribute(context, &hints)
}

/// Builds the `work_div` attribute of an op.
#[must_use]
pub fn work_div_attribute<'c>(context: &'c Context, hints: &[WorkHint]) -> Attribute<'c> {
    let hints: Vec<Attribute<'c>> = hints.iter().map(|hint| work_hint_attribute(context, hint)).collect();
    array_attribute(context, &hints)
}
