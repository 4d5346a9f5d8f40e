//! `spyre-pad-contractions`: pads right operands that a matmul reads past their end.
//!
//! Reads shapes and views. A matmul reads K in complete sticks: the hardware clears the lanes after K in the left
//! operand, but the right operand's rows after K must exist and be zero (torch-spyre facts, B.4, padding of batch
//! matmuls). If K is not a multiple of the stick, the right operand is written into a buffer with additional zero rows,
//! and read as a window of it. Repeated rows (a shared head) and shared operands are written once. Constants are padded
//! at compile time.

use super::{compact_operand::CompactOperand, padded_constant::make_padded_constant};
use crate::{
    codes,
    dialect::{ComputeOp, build_constant, build_copy, build_empty, build_insert, build_view, format_of},
    mlir::{
        ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Value, ValueLike, ValueMap, dense_attribute, error_at,
        insert_before, map_from_exprs,
    },
};
use machine::Family;
use program::{affine::AffineExpression, layout::count_sticks};

pub(crate) const PASS: Pass = Pass { argument: "spyre-pad-contractions", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let mut known = ValueMap::default();
    for compute in ComputeOp::collect_in(module).into_iter().filter(|compute| compute.family() == Family::Matmul) {
        pad_operand(compute, &mut known)
            .map_err(|message| error_at(codes::LAYOUT_PADDING, compute.op, message).report())?;
    }
    Ok(())
}

/// Buffer that an operand is written into.
struct PaddedOperand<'c> {
    /// First contraction that reads the buffer; later ones in the same function or loop may read it too.
    reader: Op<'c>,
    compact: CompactOperand,
    written: Value<'c>,
}

fn pad_operand<'c>(compute: ComputeOp<'c>, known: &mut ValueMap<Vec<PaddedOperand<'c>>>) -> Result<(), String> {
    let op = compute.op;
    let mut rhs = op.inputs()[1];
    let tensor = TensorType::from_type(rhs.r#type()).ok_or("an operand is no tensor")?;
    let rank = tensor.shape.len();
    let k = tensor.shape[rank - 2];
    let format = format_of(tensor.element).ok_or_else(|| {
        codes::ELEMENT_TYPE.format(format_args!(
            "expected elements of a device format, found {}; convert them before the export",
            tensor.element
        ))
    })?;
    let stick = format.elements_per_stick();
    if k % stick == 0 {
        return Ok(());
    }
    let (context, at) = (op.ctx(), op.loc());
    let compact = match CompactOperand::from_operand(rhs, &tensor) {
        Ok(compact) => compact,
        // Views that no padded buffer has, such as a reshape of a slice, become a buffer of their own.
        Err(_) => {
            rhs = insert_before(op, build_copy(context, at, rhs, tensor.with_shape(tensor.shape.clone()).build()))
                .output();
            op.set_input(1, rhs);
            CompactOperand::from_operand(rhs, &tensor)?
        }
    };
    let padded = count_sticks(k, stick) * stick;
    let mut whole = compact.sizes.clone();
    whole[compact.k] = padded;
    let of_operand = known.get_or_default(rhs);
    let before = of_operand.iter().find(|padded| padded.reader.parent() == op.parent() && padded.compact == compact);
    let written = before
        .map(|padded| padded.written)
        .or_else(|| make_padded_constant(op, rhs, &compact, &whole))
        .unwrap_or_else(|| {
            let written = make_padded_buffer(op, rhs, &compact, &whole);
            of_operand.push(PaddedOperand { reader: op, compact: compact.clone(), written });
            written
        });
    let map = map_from_exprs(context, rank, 0, &compact.viewed);
    op.set_input(
        1,
        insert_before(op, build_view(context, at, written, map, tensor.with_shape(tensor.shape.clone()).build()))
            .output(),
    );
    Ok(())
}

/// Creates a buffer with the rows of the operand, followed by zeros.
fn make_padded_buffer<'c>(op: Op<'c>, rhs: Value<'c>, compact: &CompactOperand, whole: &[i64]) -> Value<'c> {
    let (context, at) = (op.ctx(), op.loc());
    let tensor = TensorType::from_type(rhs.r#type()).expect("an operand is a tensor");
    let typed = |shape: &[i64]| tensor.with_shape(shape.to_vec()).build();
    let buffer = insert_before(op, build_empty(context, at, typed(whole))).output();
    let map = map_from_exprs(context, compact.sizes.len(), 0, &compact.source);
    let part = insert_before(op, build_view(context, at, rhs, map, typed(&compact.sizes))).output();
    let mut start = vec![0; whole.len()];
    let written = insert_before(op, build_insert(context, at, part, buffer, &start)).output();
    let mut rest = whole.to_vec();
    (start[compact.k], rest[compact.k]) = (compact.sizes[compact.k], whole[compact.k] - compact.sizes[compact.k]);
    let one = typed(&vec![1; whole.len()]);
    let zero = insert_before(op, build_constant(context, at, dense_attribute(one, &[0.0]), one)).output();
    let map = map_from_exprs(context, whole.len(), 0, &vec![AffineExpression::Constant(0); whole.len()]);
    let zeros = insert_before(op, build_view(context, at, zero, map, typed(&rest))).output();
    insert_before(op, build_insert(context, at, zeros, written, &start)).output()
}
