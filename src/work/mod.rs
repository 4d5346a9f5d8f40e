//! Stage `work`: slices each iteration dimension of an op so that every core gets an equal share.
//!
//! The *span* of an operand is the range of device memory that one core addresses in it. The hardware limits it
//! ([`machine::Target::core_span_bytes`]), so [`reduce_span`] first finds the *minima*, the slices that large tensors
//! force. [`divide`] then chooses the split. `docs/concepts/work-division.md` has the rules with their sources and
//! worked examples.

mod core_view;
mod distribute;
mod enumerate_splits;
mod error;
mod explain;
mod hint;
mod matmul;
mod span;
#[cfg(test)]
mod testing;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub(crate) use core_view::compute_shared_view;
pub use core_view::{CoreSplitConflict, CoreUse, CoreView, compute_core_view, find_common_view};
pub use distribute::distribute;
pub use enumerate_splits::{MAX_ENUMERATED_SPLITS, enumerate_splits};
pub use error::WorkError;
pub use hint::{find_unmatched_hint, resolve_hinted_split};
pub use matmul::{divide_by_cost_model, divide_k_fast};
pub use span::{compute_span_bytes, reduce_span};

use machine::Target;
use program::{SplitError, UndividedOp, WorkSplit};

/// Returns the split of an op over the cores of `target` (torch-spyre, August 2026): the hint if there is one, else the
/// choice of the cost model for a matmul, else the largest divisors, longest dimension first.
///
/// A *split* gives every iteration dimension a slice count that divides its *units*: sticks if the dimension runs in
/// the sticks of an operand, else positions. At most one reduction dimension is split, because the back end adds
/// partial sums along one dimension only.
///
/// Worked example. A matmul of x[64, 128] and y[128, 256] in f16 iterates over M = 64, N = 256, K = 128, which are 64,
/// 4 and 2 units. No tensor is near the span limit, so there are no minima. The largest-divisor rule would split M into
/// 32 and leave each core 2 rows, a quarter of one pass of the systolic array; the cost model chooses 4, 4 and 2
/// slices. K is the fastest digit of the core number: cores 0 and 1 have the two halves of the contraction of the same
/// output block ([`CoreOrder`](program::CoreOrder)).
///
/// # Errors
/// If the operation is contradictory, a hint is impossible, or a core would still address more of a tensor than the
/// hardware permits.
///
/// ```
/// use machine::{DeviceFormat, Family, Target};
/// use program::{
///     CoreOrder, DeviceOperand, DimKind, IterationDim, UndividedOp, WorkSplit,
///     layout::{Coordinate, DeviceLayout, HostTensor, compute_device_coordinates},
/// };
/// use spyre_compiler::work::{divide, reduce_span};
///
/// // A sum over the rows of an f16 [64, 256] iterates over 256 columns, which are 4 sticks, then over 64 rows.
/// let operand = |sizes: &[i64], access: &[Coordinate]| {
///     let layout = DeviceLayout::row_major(sizes, DeviceFormat::Sen169Fp16)?;
///     let coordinates = compute_device_coordinates(&layout, &HostTensor::row_major(sizes)?, access, &[256, 64])?;
///     Ok::<_, Box<dyn std::error::Error>>(DeviceOperand { layout, coordinates, part_of: None, indexed: None })
/// };
/// let mut op = UndividedOp {
///     family: Family::Reduce,
///     dims: vec![IterationDim { size: 256, kind: DimKind::Output }, IterationDim { size: 64, kind: DimKind::Reduction }],
///     operands: vec![
///         operand(&[64, 256], &[Coordinate::from_dim(1), Coordinate::from_dim(0)])?,
///         operand(&[1, 256], &[Coordinate::constant(0), Coordinate::from_dim(0)])?,
///     ],
///     minima: WorkSplit::single_core(2),
///     hint: None,
///     blocked: vec![],
/// };
/// op.minima = reduce_span(&op, &Target::spyre())?;
/// let split = divide(&op, &Target::spyre())?;
/// assert_eq!(split.slices(), [4, 8]);
/// assert_eq!(split.core_slices(5, CoreOrder::from_family(op.family)), [1, 1]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn divide(op: &UndividedOp, target: &Target) -> Result<WorkSplit, WorkError> {
    op.check()?;
    check_hardware_limits(op, &op.minima, target)?;
    let split = match &op.hint {
        Some(hint) => validate_hint(op, hint, target)?,
        None => match divide_by_cost_model(op, target) {
            Some(split) => split,
            None => distribute(op, target),
        },
    };
    check_span(op, &split, target)?;
    Ok(split)
}

/// Checks that an op may use this split, by the constraints that results of [`divide`] satisfy.
///
/// # Errors
/// Returns an error if the split has another number of dimensions, the hardware does not support it, or a core would
/// address too much of a tensor.
pub fn check_split(op: &UndividedOp, split: &WorkSplit, target: &Target) -> Result<(), WorkError> {
    op.check()?;
    if split.slices().len() != op.dims.len() {
        return Err(SplitError::Length { expected: op.dims.len(), found: split.slices().len() }.into());
    }
    validate_hint(op, split, target)?;
    check_span(op, split, target)
}

/// Checks that no core addresses more of a tensor than the hardware can.
fn check_span(op: &UndividedOp, split: &WorkSplit, target: &Target) -> Result<(), WorkError> {
    for operand in 0..op.operands.len() {
        let bytes = compute_span_bytes(op, operand, split)?;
        if bytes > target.core_span_bytes {
            return Err(WorkError::Span { operand, bytes, limit: target.core_span_bytes, split: split.clone() });
        }
    }
    Ok(())
}

/// Checks that the hardware supports the split: even slices, at most one per core.
fn check_hardware_limits(op: &UndividedOp, split: &WorkSplit, target: &Target) -> Result<(), WorkError> {
    for (dim, (&slices, &units)) in split.slices().iter().zip(&op.units()).enumerate() {
        if units % slices != 0 {
            return Err(WorkError::Uneven { dim, units, slices });
        }
    }
    if split.num_cores() > target.cores {
        return Err(WorkError::Cores { needed: split.num_cores(), cores: target.cores });
    }
    Ok(())
}

/// Checks a hint: it overrides the rules, but not the hardware limits.
fn validate_hint(op: &UndividedOp, hint: &WorkSplit, target: &Target) -> Result<WorkSplit, WorkError> {
    if let Some(dim) = (0..hint.slices().len()).find(|&dim| hint.slices()[dim] > 1 && !op.may_split(dim)) {
        return Err(WorkError::Blocked { dim });
    }
    check_hardware_limits(op, hint, target)?;
    if op.num_split_reductions(hint) > 1 {
        return Err(WorkError::Reductions);
    }
    Ok(hint.clone())
}

#[cfg(test)]
mod tests {
    use super::testing::{any_operation, matmul, pointwise, reduction};
    use super::*;
    use program::{DimKind, IterationDim};
    use proptest::prelude::*;

    const SPYRE: Target = Target::spyre();

    fn divide_slices(op: &UndividedOp) -> Vec<i64> {
        divide(op, &SPYRE).unwrap().slices().to_vec()
    }

    fn divide_with_hint(op: UndividedOp, slices: &[i64]) -> Result<WorkSplit, WorkError> {
        divide(&UndividedOp { hint: Some(WorkSplit::new(slices.to_vec())?), ..op }, &SPYRE)
    }

    #[test]
    fn matches_worked_examples_of_the_reference() {
        assert_eq!(divide_slices(&pointwise(&[128, 256])), [32, 1]);
        assert_eq!(divide_slices(&matmul(&[], 64, 128, 256)), [4, 4, 2]);
        assert_eq!(divide_slices(&reduction(&[64, 256], 0)), [4, 8]);
    }

    #[test]
    fn keeps_span_minima_in_the_split() {
        let op = matmul(&[], 8192, 32768, 4096);
        let op = UndividedOp { minima: reduce_span(&op, &SPYRE).unwrap(), ..op };
        assert_eq!(op.minima.slices(), [1, 2, 4]);
        assert_eq!(divide_slices(&op), [4, 2, 4]);
    }

    #[test]
    fn follows_hint_instead_of_rules() {
        assert_eq!(divide_with_hint(matmul(&[], 64, 128, 256), &[2, 1, 2]).unwrap().slices(), [2, 1, 2]);
    }

    #[test]
    fn rejects_impossible_hint() {
        let op = || matmul(&[], 64, 128, 256);
        assert_eq!(divide_with_hint(op(), &[3, 1, 1]), Err(WorkError::Uneven { dim: 0, units: 64, slices: 3 }));
        assert_eq!(divide_with_hint(op(), &[1, 8, 1]), Err(WorkError::Uneven { dim: 1, units: 4, slices: 8 }));
        assert_eq!(divide_with_hint(op(), &[32, 2, 1]), Err(WorkError::Cores { needed: 64, cores: 32 }));
        assert_eq!(
            divide_with_hint(op(), &[1, 1]),
            Err(WorkError::Split(SplitError::Length { expected: 3, found: 2 }))
        );
        assert_eq!(divide_with_hint(op(), &[1, 0, 1]), Err(WorkError::Split(SplitError::Slices { dim: 1, slices: 0 })));
        let blocked = UndividedOp { blocked: vec![0], ..pointwise(&[128, 256]) };
        assert_eq!(divide_with_hint(blocked, &[2, 1]), Err(WorkError::Blocked { dim: 0 }));
        assert_eq!(divide_with_hint(reduction(&[512, 200], 1), &[1, 2]), Err(WorkError::Blocked { dim: 1 }));
    }

    #[test]
    fn rejects_split_of_two_reduction_dims() {
        let mut op = reduction(&[8, 16, 64], 1);
        op.dims[0].kind = DimKind::Reduction;
        assert_eq!(divide_with_hint(op, &[2, 1, 2]), Err(WorkError::Reductions));
    }

    #[test]
    fn rejects_span_that_no_core_can_address() {
        let op = UndividedOp { blocked: vec![0, 1], ..pointwise(&[16384, 16384]) };
        let split = WorkSplit::single_core(2);
        let expected = WorkError::Span { operand: 0, bytes: 512 << 20, limit: SPYRE.core_span_bytes, split };
        assert_eq!(divide(&op, &SPYRE), Err(expected));
    }

    proptest! {
        #[test]
        fn splits_keep_the_rules(op in any_operation(), cores in 1_i64..=32, small_span in any::<bool>()) {
            // With a limit of 64 KiB the span binds ops of this size, too.
            let core_span_bytes = if small_span { 65_536 } else { SPYRE.core_span_bytes };
            let target = Target { cores, core_span_bytes, ..SPYRE };
            let minima = match reduce_span(&op, &target) {
                Ok(minima) => minima,
                Err(error) => {
                    let is_expected = matches!(error, WorkError::Span { .. } | WorkError::Reductions);
                    prop_assert!(is_expected, "{}", error);
                    return Ok(());
                }
            };
            let op = UndividedOp { minima, ..op };
            let split = divide(&op, &target).unwrap();
            prop_assert_eq!(validate_hint(&op, &split, &target), Ok(split.clone()));
            prop_assert!(split.slices().iter().zip(op.minima.slices()).all(|(slices, least)| slices >= least));
            // The constraints of `validate_hint`, restated.
            prop_assert!(op.units().iter().zip(split.slices()).all(|(units, slices)| units % slices == 0));
            prop_assert!(split.slices().iter().product::<i64>() <= cores);
            let cut = |(dim, slices): (&IterationDim, &i64)| dim.kind == DimKind::Reduction && *slices > 1;
            prop_assert!(op.dims.iter().zip(split.slices()).filter(|&pair| cut(pair)).count() <= 1);
            for operand in 0..op.operands.len() {
                prop_assert!(compute_span_bytes(&op, operand, &split).unwrap() <= target.core_span_bytes);
            }
        }
    }
}
