//! Range of device memory that one core addresses in an operand, and the splits that keep it within the hardware limit.

use super::WorkError;
use super::distribute::divisors;
use machine::Target;
use program::{UndividedOp, WorkSplit};
use std::cmp::Reverse;

/// Returns the bytes of operand `operand` from the first to the last that one core accesses, in complete positions of
/// the outermost device dimension along which the operand moves (torch-spyre, `per_core_span`; the stick dimension is
/// excluded). In a gather's table, its first operand, a core may access every row.
///
/// # Errors
/// If a coordinate names no iteration dimension.
///
/// # Panics
/// If there is no such operand, or the split has another number of dimensions than the op.
pub fn compute_span_bytes(op: &UndividedOp, operand: usize, split: &WorkSplit) -> Result<i64, WorkError> {
    let layout = &op.operands[operand].layout;
    let bytes = layout.format().bytes();
    if let Some(indexed) = op.operands[operand].indexed {
        // The gather stays at one position of each dimension outside of the rows.
        return Ok(layout.device_size()[indexed] * layout.device_strides()[indexed] * bytes);
    }
    for (device_dim, stride) in layout.device_strides().into_iter().enumerate().take(layout.rank() - 1) {
        let positions = count_positions(op, operand, device_dim, split)?;
        if positions > 1 {
            return Ok(positions * stride * bytes);
        }
    }
    Ok(bytes)
}

/// Returns the positions of one device dimension that a core accesses.
fn count_positions(op: &UndividedOp, operand: usize, device_dim: usize, split: &WorkSplit) -> Result<i64, WorkError> {
    match op.operands[operand].coordinates[device_dim].term {
        None => Ok(1),
        Some(term) => Ok(term.max_value(&op.ranges_per_core(split))? + 1),
    }
}

/// Returns the fewest slices that bring every operand under the target's span limit, all 1 if none is above it
/// (torch-spyre's mandatory `span_reduction`). Operands are processed in order, device dimensions from the outside in;
/// slices that one operand needs also apply to the next. An op with a hint gets no minima, because the hint alone
/// decides.
///
/// # Errors
/// If the operation is contradictory, more than one reduction dimension would have to be split, or no split is enough.
pub fn reduce_span(op: &UndividedOp, target: &Target) -> Result<WorkSplit, WorkError> {
    op.check()?;
    let mut minima = WorkSplit::single_core(op.dims.len());
    if op.hint.is_some() {
        return Ok(minima);
    }
    for operand in 0..op.operands.len() {
        minima = reduce_operand(op, operand, minima, target)?;
        let bytes = compute_span_bytes(op, operand, &minima)?;
        if bytes > target.core_span_bytes {
            return Err(WorkError::Span { operand, bytes, limit: target.core_span_bytes, split: minima });
        }
    }
    if op.num_split_reductions(&minima) > 1 {
        return Err(WorkError::Reductions);
    }
    Ok(minima)
}

/// Adds slices along the outer device dimensions of one operand, until its span is within the limit or cannot shrink
/// further.
fn reduce_operand(
    op: &UndividedOp,
    operand: usize,
    minima: WorkSplit,
    target: &Target,
) -> Result<WorkSplit, WorkError> {
    let mut split = minima;
    for device_dim in 0..op.operands[operand].layout.rank() - 1 {
        if compute_span_bytes(op, operand, &split)? <= target.core_span_bytes {
            break;
        }
        let Some(term) = op.operands[operand].coordinates[device_dim].term else { continue };
        if count_positions(op, operand, device_dim, &split)? == 1 {
            continue;
        }
        split = choose_slices(op, operand, term.dim, &split, target)?;
        if count_positions(op, operand, device_dim, &split)? > 1 {
            break;
        }
    }
    Ok(split)
}

/// Returns the slice count of `dim` with the largest span within the limit, so that the fewest cores are bound; if
/// there is none, the one with the smallest span.
fn choose_slices(
    op: &UndividedOp,
    operand: usize,
    dim: usize,
    split: &WorkSplit,
    target: &Target,
) -> Result<WorkSplit, WorkError> {
    let least = split.slices()[dim];
    let cores_left = target.cores / (split.num_cores() / least);
    let mut choices = vec![(compute_span_bytes(op, operand, split)?, least)];
    if op.may_split(dim) {
        for slices in divisors(op.units()[dim]).filter(|slices| (least + 1..=cores_left).contains(slices)) {
            choices.push((compute_span_bytes(op, operand, &split.with_slices(dim, slices))?, slices));
        }
    }
    let inside = choices
        .iter()
        .filter(|(span, _)| *span <= target.core_span_bytes)
        .max_by_key(|&&(span, slices)| (span, Reverse(slices)));
    let chosen = inside.or_else(|| choices.iter().min());
    Ok(chosen.map_or_else(|| split.clone(), |&(_, slices)| split.with_slices(dim, slices)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{matmul, pointwise, reduction};
    use super::*;
    use machine::Family;

    const SPYRE: Target = Target::spyre();

    fn reduce_to_minima(op: &UndividedOp) -> Vec<i64> {
        reduce_span(op, &SPYRE).unwrap().slices().to_vec()
    }

    fn span_of_first_operand(op: &UndividedOp, slices: &[i64]) -> i64 {
        compute_span_bytes(op, 0, &WorkSplit::new(slices.to_vec()).unwrap()).unwrap()
    }

    #[test]
    fn counts_span_in_positions_of_outermost_moving_dim() {
        let op = pointwise(&[512, 256]);
        assert_eq!(span_of_first_operand(&op, &[1, 1]), 4 * 512 * 128);
        assert_eq!(span_of_first_operand(&op, &[32, 1]), 4 * 512 * 128, "rows are inside the columns of sticks");
        assert_eq!(span_of_first_operand(&op, &[1, 2]), 2 * 512 * 128);
        assert_eq!(span_of_first_operand(&op, &[32, 4]), 16 * 128);
        assert_eq!(span_of_first_operand(&pointwise(&[1, 64]), &[1, 1]), 2, "one stick is one position");
    }

    #[test]
    fn requires_no_slices_for_small_tensors() {
        assert_eq!(reduce_to_minima(&pointwise(&[512, 256])), [1, 1]);
        assert_eq!(reduce_to_minima(&reduction(&[4096, 4096], 1)), [1, 1]);
    }

    #[test]
    fn accepts_span_equal_to_the_limit() {
        let op = pointwise(&[512, 256]);
        let with =
            |core_span_bytes: i64| reduce_span(&op, &Target { core_span_bytes, ..SPYRE }).unwrap().slices().to_vec();
        assert_eq!(with(4 * 512 * 128), [1, 1]);
        assert_eq!(with(4 * 512 * 128 - 1), [1, 2]);
    }

    #[test]
    fn splits_large_tensor_along_outermost_device_dim() {
        // 512 MiB in two halves still exceeds the limit by 1 stick of rows.
        assert_eq!(reduce_to_minima(&pointwise(&[16384, 16384])), [1, 4]);
        assert_eq!(reduce_to_minima(&pointwise(&[65536, 8192])), [1, 8]);
        assert_eq!(reduce_to_minima(&pointwise(&[1, 32, 2048, 2048])), [1, 2, 1, 1]);
    }

    #[test]
    fn applies_slices_of_one_operand_to_the_next() {
        assert_eq!(reduce_to_minima(&matmul(&[], 8192, 32768, 4096)), [1, 2, 4]);
    }

    #[test]
    fn splits_single_stick_column_along_rows() {
        // 64 columns are one stick; 4 Mi rows of it are 512 MiB.
        assert_eq!(reduce_to_minima(&pointwise(&[4 << 20, 64])), [4, 1]);
    }

    #[test]
    fn counts_complete_sticks_of_contraction() {
        let of_weights =
            |contracted| compute_span_bytes(&matmul(&[], 8, contracted, 64), 1, &WorkSplit::single_core(3));
        assert_eq!((of_weights(2), of_weights(64), of_weights(65)), (Ok(64 * 128), Ok(64 * 128), Ok(128 * 128)));
    }

    #[test]
    fn rejects_span_that_cannot_shrink() {
        let op = UndividedOp { blocked: vec![1], ..pointwise(&[16384, 16384]) };
        let split = WorkSplit::single_core(2);
        let expected = WorkError::Span { operand: 0, bytes: 512 << 20, limit: SPYRE.core_span_bytes, split };
        assert_eq!(reduce_span(&op, &SPYRE), Err(expected));
    }

    /// Returns a gather from a table of 16,384 rows and columns, indexed along one of its device dimensions.
    fn build_gather(device_dim: usize) -> UndividedOp {
        let mut op = UndividedOp { family: Family::Gather, blocked: vec![0, 1], ..pointwise(&[16384, 16384]) };
        op.operands[0].indexed = Some(device_dim);
        op
    }

    #[test]
    fn counts_all_rows_of_a_table() {
        let split = WorkSplit::single_core(2);
        let expected = WorkError::Span { operand: 0, bytes: 512 << 20, limit: SPYRE.core_span_bytes, split };
        assert_eq!(reduce_span(&build_gather(0), &SPYRE), Err(expected));
        // Sticks are counted outside of the rows.
        assert_eq!(span_of_first_operand(&build_gather(1), &[1, 1]), 16384 * 128);
    }

    #[test]
    fn computes_no_minima_for_hint() {
        let hint = Some(WorkSplit::new(vec![1, 8]).unwrap());
        assert_eq!(reduce_to_minima(&UndividedOp { hint, ..pointwise(&[16384, 16384]) }), [1, 1]);
    }
}
