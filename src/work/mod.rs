//! Stage `work`: into how many slices each iteration dimension of an op is cut, so that every core gets an equal share.
//!
//! Definitions:
//! * An op *iterates* over output dimensions, then reduction dimensions ([`IterationDim`]).
//! * A *unit* of a dimension is what cannot be cut: a stick where the dimension runs in the sticks of some operand, else one position.
//! * A *split* gives every dimension a number of slices that divides its units; their product is the number of cores used
//!   ([`WorkSplit`]). At most one reduction dimension is cut, because the back end adds partial sums along one dimension only.
//! * The *span* of an operand is the run of device memory that one core addresses in it. The hardware limits it
//!   ([`crate::target::Target::core_span_bytes`]), so large tensors force splits. The forced splits are *minima*: they stay, other
//!   dimensions may be cut besides.
//!
//! Two decisions, one after the other: [`reduce_span`] finds the minima, [`divide`] the split. `divide` takes a hint as it is; prices every
//! split of a matmul with torch-spyre's cost model; and gives everything else the largest divisors, longest dimension first.
//!
//! Worked example. A matmul of x[64, 128] and y[128, 256] in f16 iterates over M = 64, N = 256, K = 128, which are 64, 4 and 2 units. No
//! tensor is near the span limit, so there are no minima. The largest-divisor rule would cut M into 32 and leave each core 2 rows, which
//! fill a quarter of one pass of the systolic array; the cost model takes M = 4, N = 4, K = 2. K is the fastest digit of the core number:
//! cores 0 and 1 hold the two halves of the contraction of the same output block ([`CoreOrder`]).
//!
//! | file | what |
//! |---|---|
//! | `operation.rs` | what is known of an op, units |
//! | `split.rs` | splits, and which core has which slice |
//! | `span.rs` | spans, and the minima that keep them inside the limit |
//! | `distribute.rs` | the largest-divisor rule |
//! | `matmul.rs` | the cost model, and the older K-fast rule |

mod distribute;
mod error;
mod hint;
mod matmul;
mod operation;
mod span;
mod split;

pub(crate) mod divide_work;
pub(crate) mod reduce_span;

pub use distribute::distribute;
pub use error::WorkError;
pub use hint::{hinted_split, unheard};
pub use matmul::{cost_model_division, k_fast_division};
pub use operation::{DimKind, IterationDim, Operand, Operation};
pub use span::{reduce_span, span_bytes};
pub use split::{CoreOrder, WorkSplit};

use crate::target::Target;

/// The split of an op over the cores of `target` (torch-spyre, August 2026: hint, else cost model, else largest divisors).
///
/// # Errors
/// When the operation contradicts itself, a hint is impossible, or a core would still address more of a tensor than the hardware can.
pub fn divide(op: &Operation, target: &Target) -> Result<WorkSplit, WorkError> {
    op.check()?;
    check_possible(op, &op.minima, target)?;
    let split = match &op.hint {
        Some(hint) => checked_hint(op, hint, target)?,
        None => match cost_model_division(op, target) {
            Some(split) => split,
            None => distribute(op, target),
        },
    };
    for operand in 0..op.operands.len() {
        let bytes = span_bytes(op, operand, &split)?;
        if bytes > target.core_span_bytes {
            return Err(WorkError::Span { operand, bytes, limit: target.core_span_bytes, split });
        }
    }
    Ok(split)
}

/// Whether the hardware could work so: even slices, no more than there are cores.
fn check_possible(op: &Operation, split: &WorkSplit, target: &Target) -> Result<(), WorkError> {
    for (dim, (&slices, &units)) in split.slices().iter().zip(&op.units()).enumerate() {
        if units % slices != 0 {
            return Err(WorkError::Uneven { dim, units, slices });
        }
    }
    if split.cores() > target.cores {
        return Err(WorkError::Cores { needed: split.cores(), cores: target.cores });
    }
    Ok(())
}

/// A hint overrides the rules, not the hardware.
fn checked_hint(op: &Operation, hint: &WorkSplit, target: &Target) -> Result<WorkSplit, WorkError> {
    if let Some(dim) = (0..hint.slices().len()).find(|&dim| hint.slices()[dim] > 1 && !op.may_split(dim)) {
        return Err(WorkError::Blocked { dim });
    }
    check_possible(op, hint, target)?;
    if op.n_split_reductions(hint) > 1 {
        return Err(WorkError::Reductions);
    }
    Ok(hint.clone())
}

#[cfg(test)]
mod tests {
    use super::operation::tests::{matmul, pointwise, reduction};
    use super::*;
    use proptest::prelude::*;

    const SPYRE: Target = Target::spyre();

    fn slices(op: &Operation) -> Vec<i64> {
        divide(op, &SPYRE).unwrap().slices().to_vec()
    }

    fn hinted(op: Operation, slices: &[i64]) -> Result<WorkSplit, WorkError> {
        divide(&Operation { hint: Some(WorkSplit::new(slices.to_vec())?), ..op }, &SPYRE)
    }

    #[test]
    fn the_worked_examples_of_the_reference_hold() {
        assert_eq!(slices(&pointwise(&[128, 256])), [32, 1]);
        assert_eq!(slices(&matmul(&[], 64, 128, 256)), [4, 4, 2]);
        assert_eq!(slices(&reduction(&[64, 256], 0)), [4, 8]);
    }

    #[test]
    fn minima_of_the_span_stay_in_the_split() {
        let op = matmul(&[], 8192, 32768, 4096);
        let op = Operation { minima: reduce_span(&op, &SPYRE).unwrap(), ..op };
        assert_eq!(op.minima.slices(), [1, 2, 4]);
        assert_eq!(slices(&op), [4, 2, 4]);
    }

    #[test]
    fn a_hint_overrides_the_rules() {
        assert_eq!(hinted(matmul(&[], 64, 128, 256), &[2, 1, 2]).unwrap().slices(), [2, 1, 2]);
    }

    #[test]
    fn an_impossible_hint_is_refused() {
        let op = || matmul(&[], 64, 128, 256);
        assert_eq!(hinted(op(), &[3, 1, 1]), Err(WorkError::Uneven { dim: 0, units: 64, slices: 3 }));
        assert_eq!(hinted(op(), &[1, 8, 1]), Err(WorkError::Uneven { dim: 1, units: 4, slices: 8 }));
        assert_eq!(hinted(op(), &[32, 2, 1]), Err(WorkError::Cores { needed: 64, cores: 32 }));
        assert_eq!(hinted(op(), &[1, 1]), Err(WorkError::Length { expected: 3, found: 2 }));
        assert_eq!(hinted(op(), &[1, 0, 1]), Err(WorkError::Slices { dim: 1, slices: 0 }));
        let blocked = Operation { blocked: vec![0], ..pointwise(&[128, 256]) };
        assert_eq!(hinted(blocked, &[2, 1]), Err(WorkError::Blocked { dim: 0 }));
        assert_eq!(hinted(reduction(&[512, 200], 1), &[1, 2]), Err(WorkError::Blocked { dim: 1 }));
    }

    #[test]
    fn at_most_one_reduction_dim_is_split() {
        let mut op = reduction(&[8, 16, 64], 1);
        op.dims[0].kind = DimKind::Reduction;
        assert_eq!(hinted(op, &[2, 1, 2]), Err(WorkError::Reductions));
    }

    #[test]
    fn a_span_that_no_core_can_address_is_refused() {
        let op = Operation { blocked: vec![0, 1], ..pointwise(&[16384, 16384]) };
        let split = WorkSplit::whole(2);
        let expected = WorkError::Span { operand: 0, bytes: 512 << 20, limit: SPYRE.core_span_bytes, split };
        assert_eq!(divide(&op, &SPYRE), Err(expected));
    }

    /// A small or a large op of any family.
    fn any_operation() -> impl Strategy<Value = Operation> {
        let size = || prop_oneof![1_i64..300, (1_i64..300).prop_map(|size| size * 64)];
        prop_oneof![
            prop::collection::vec(size(), 1..4).prop_map(|sizes| pointwise(&sizes)),
            (size(), size(), 0_usize..2).prop_map(|(rows, columns, dim)| reduction(&[rows, columns], dim)),
            (prop::collection::vec(1_i64..9, 0..2), size(), size(), size()).prop_map(|(batch, m, k, n)| matmul(&batch, m, k, n)),
        ]
    }

    proptest! {
        #[test]
        fn every_split_is_one_that_a_hint_could_ask_for(op in any_operation(), cores in 1_i64..=32) {
            let target = Target { cores, ..SPYRE };
            let minima = reduce_span(&op, &target);
            prop_assume!(!matches!(minima, Err(WorkError::Span { .. } | WorkError::Reductions)));
            let op = Operation { minima: minima.unwrap(), ..op };
            let split = divide(&op, &target).unwrap();
            prop_assert_eq!(checked_hint(&op, &split, &target), Ok(split.clone()));
            prop_assert!(split.slices().iter().zip(op.minima.slices()).all(|(slices, least)| slices >= least));
        }
    }
}
