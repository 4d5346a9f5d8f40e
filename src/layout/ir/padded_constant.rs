//! Padded constants: zeros after the rows that a contraction reads.

use super::compact_operand::CompactOperand;
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{EXACT_ATTR, build_constant, read_buffer_view},
    mlir::{
        Attribute, Op, OpExt, TensorType, Value, ValueExt, ValueLike, build_dense_elements, insert_before,
        raw_elements, shape_of, type_of_elements,
    },
};
use program::layout::TensorIndex;

/// Returns the constant operand of `op` as a tensor of shape `whole`, with zeros after its rows. `None` if the operand
/// is no constant, or if its values are unknown.
pub(super) fn make_padded_constant<'c>(
    op: Op<'c>,
    operand: Value<'c>,
    compact: &CompactOperand,
    whole: &[i64],
) -> Option<Value<'c>> {
    let (value, indices) = match read_buffer_view(operand) {
        Some(seen) => (seen.value, seen.indices),
        None => {
            let shape = shape_of(operand);
            (operand, (0..shape.len()).map(|dim| TensorIndex::from_dim(dim, &shape)).collect::<Result<_, _>>().ok()?)
        }
    };
    let original = value.def().filter(|def| def.is(spyre::CONSTANT))?;
    let tensor = TensorType::from_type(value.r#type()).filter(|tensor| tensor.encoding.is_none())?;
    let numbers = pad_elements(original.required_attr(attr::VALUE, Some), &indices, compact, whole)?;
    let exact =
        original.attr(EXACT_ATTR).map(|exact| pad_elements(exact, &indices, compact, whole).expect("numbers of f64"));
    let of = tensor.with_shape(whole.to_vec()).build();
    let constant = insert_before(op, build_constant(op.ctx(), original.loc(), numbers, of));
    exact.into_iter().for_each(|exact| constant.set_attr(EXACT_ATTR, exact));
    Some(constant.output())
}

/// Returns the elements of a constant at `indices` of the operand's view, with zeros after its rows.
fn pad_elements<'c>(
    elements: Attribute<'c>,
    indices: &[TensorIndex],
    compact: &CompactOperand,
    whole: &[i64],
) -> Option<Attribute<'c>> {
    let (raw, of) = (raw_elements(elements)?, TensorType::from_type(type_of_elements(elements)?)?);
    let num_elements = if raw.is_splat { 1 } else { usize::try_from(of.shape.iter().product::<i64>()).ok()? };
    let width = raw.bytes.len() / num_elements;
    let mut bytes = Vec::with_capacity(usize::try_from(whole.iter().product::<i64>()).ok()? * width);
    let mut point = vec![0; whole.len()];
    loop {
        if point[compact.k] >= compact.sizes[compact.k] {
            bytes.resize(bytes.len() + width, 0);
        } else {
            let viewed: Vec<i64> = compact.source.iter().map(|expr| expr.evaluate(&point)).collect();
            let place =
                indices.iter().zip(&of.shape).fold(0, |place, (index, size)| place * size + index.evaluate(&viewed));
            let place = if raw.is_splat {
                0
            } else {
                usize::try_from(place).expect("a view shows elements of its tensor") * width
            };
            bytes.extend_from_slice(&raw.bytes[place..place + width]);
        }
        // In row-major order.
        let Some(moving) = (0..whole.len()).rev().find(|&dim| point[dim] + 1 < whole[dim]) else { break };
        point[moving] += 1;
        point[moving + 1..].fill(0);
    }
    build_dense_elements(of.with_shape(whole.to_vec()).build(), &bytes)
}
