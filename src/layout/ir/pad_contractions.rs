//! `spyre-pad-contractions`: pads right operands of matmuls with zero rows along the contracted dimension K.
//!
//! The pass looks at shapes and views. A matmul reads K in complete sticks: the hardware clears the lanes after K in
//! the left operand, but the right operand's rows after K must exist and be zero (torch-spyre facts, B.4, padding of
//! batch matmuls). If K is not a multiple of the stick size, the pass copies the right operand into a buffer with
//! additional zero rows, and the matmul reads a view of the buffer. Broadcast dimensions (a head that several query
//! heads share) are copied once, as are operands of several matmuls. Constants are padded at compile time.

use super::{compact_operand::CompactOperand, padded_constant::make_padded_constant};
use crate::{
    codes,
    dialect::{ComputeOp, build_constant, build_copy, build_empty, build_insert, build_view, format_of},
    mlir::{
        DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, Value, ValueLike, ValueMap,
        dense_attribute, derived_location, error_at, insert_before, map_from_exprs,
    },
};
use machine::Family;
use program::{affine::AffineExpression, layout::count_sticks};

pub(crate) const PASS: Pass = Pass { argument: "spyre-pad-contractions", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let mut padded_operands = ValueMap::default();
    for compute in ComputeOp::collect_in(module).into_iter().filter(|compute| compute.family() == Family::Matmul) {
        pad_operand(compute, &mut padded_operands)
            .map_err(|message| error_at(codes::LAYOUT_PADDING, compute.op, message).report())?;
    }
    Ok(())
}

/// Padded copy of a right operand.
struct PaddedOperand<'c> {
    /// First matmul that reads the copy; later matmuls in the same block may read it too.
    first_user: Op<'c>,
    compact: CompactOperand,
    /// Buffer that holds the copy.
    buffer: Value<'c>,
}

/// Replaces the right operand of a matmul by a view of a padded copy, if K is not a multiple of the stick size.
fn pad_operand<'c>(
    compute: ComputeOp<'c>,
    padded_operands: &mut ValueMap<Vec<PaddedOperand<'c>>>,
) -> Result<(), String> {
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
    let (context, location) = (op.ctx(), derived_location(op, DerivationKind::Rewrite, PASS.argument));
    let compact = match CompactOperand::from_operand(rhs, &tensor) {
        Ok(compact) => compact,
        // A view that a padded buffer cannot express, such as a reshape of a slice, is materialized first.
        Err(_) => {
            rhs =
                insert_before(op, build_copy(context, location, rhs, tensor.with_shape(tensor.shape.clone()).build()))
                    .output();
            op.set_input(1, rhs);
            CompactOperand::from_operand(rhs, &tensor)?
        }
    };
    let padded_k = count_sticks(k, stick) * stick;
    let mut padded_sizes = compact.sizes.clone();
    padded_sizes[compact.k] = padded_k;
    let operand_copies = padded_operands.get_or_default(rhs);
    let reusable = operand_copies
        .iter()
        .find(|candidate| candidate.first_user.parent() == op.parent() && candidate.compact == compact);
    let buffer = reusable
        .map(|copy| copy.buffer)
        .or_else(|| make_padded_constant(op, rhs, &compact, &padded_sizes))
        .unwrap_or_else(|| {
            let new_buffer = make_padded_buffer(op, rhs, &compact, &padded_sizes);
            operand_copies.push(PaddedOperand { first_user: op, compact: compact.clone(), buffer: new_buffer });
            new_buffer
        });
    let map = map_from_exprs(context, rank, 0, &compact.viewed);
    op.set_input(
        1,
        insert_before(op, build_view(context, location, buffer, map, tensor.with_shape(tensor.shape.clone()).build()))
            .output(),
    );
    Ok(())
}

/// Creates a buffer with the rows of the operand, followed by zeros.
fn make_padded_buffer<'c>(op: Op<'c>, rhs: Value<'c>, compact: &CompactOperand, padded_sizes: &[i64]) -> Value<'c> {
    let (context, location) = (op.ctx(), derived_location(op, DerivationKind::Rewrite, PASS.argument));
    let tensor = TensorType::from_type(rhs.r#type()).expect("an operand is a tensor");
    let build_type = |shape: &[i64]| tensor.with_shape(shape.to_vec()).build();
    let buffer = insert_before(op, build_empty(context, location, build_type(padded_sizes))).output();
    let map = map_from_exprs(context, compact.sizes.len(), 0, &compact.source);
    let rows = insert_before(op, build_view(context, location, rhs, map, build_type(&compact.sizes))).output();
    let mut offsets = vec![0; padded_sizes.len()];
    let with_rows = insert_before(op, build_insert(context, location, rows, buffer, &offsets)).output();
    let mut zero_sizes = padded_sizes.to_vec();
    (offsets[compact.k], zero_sizes[compact.k]) =
        (compact.sizes[compact.k], padded_sizes[compact.k] - compact.sizes[compact.k]);
    let scalar_type = build_type(&vec![1; padded_sizes.len()]);
    let zero = insert_before(op, build_constant(context, location, dense_attribute(scalar_type, &[0.0]), scalar_type))
        .output();
    let map = map_from_exprs(context, padded_sizes.len(), 0, &vec![AffineExpression::Constant(0); padded_sizes.len()]);
    let zeros = insert_before(op, build_view(context, location, zero, map, build_type(&zero_sizes))).output();
    insert_before(op, build_insert(context, location, zeros, with_rows, &offsets)).output()
}
