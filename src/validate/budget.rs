//! Cost budget of a validation, in estimated nanoseconds.
//!
//! Every number here is an estimate from counts, so the result is machine-independent. The two halves of a validation run concurrently,
//! each within the budget.

use super::{DRAWS, Limits};

/// Minimum budget of a validation.
const FREE_NS: u64 = 500_000_000;

/// Cost of compiling an empty program, and additional cost per op.
const COMPILATION_NS: u64 = 30_000_000;
const COMPILED_OP_NS: u64 = 2_000_000;

/// Cost of one element operation over the field, in the interpreter and the simulator together.
const FIELD_STEP_NS: u64 = 3;

/// Cost of the helper process that runs the program as written, and additional cost per op of the program, mostly in LLVM.
const HELPER_NS: u64 = 60_000_000;
const REFERENCE_OP_NS: u64 = 1_500_000;

/// Cost of one element operation of the program as written, and of one in the files in f64 with error bounds.
const REFERENCE_STEP_NS: u64 = 4;
const BOUNDED_STEP_NS: u64 = 25;

/// Cost of one element of an argument: it is drawn, converted, and read by both programs.
const ARGUMENT_ELEMENT_NS: u64 = 20;

/// Counts of a compilation and its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    /// Ops that were compiled.
    pub compiled_ops: u64,
    /// Ops of the program as written; `None` if no helper process can run it.
    pub source_ops: Option<u64>,
    /// Element operations of the imported program.
    pub element_operations: u64,
    /// Elements of the program's arguments.
    pub argument_elements: u64,
    /// Element operations that executing the ops in the files costs in any case.
    pub overhead: u64,
}

/// Limits of the work that a validation executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// Limits of the field.
    pub field: Limits,
    /// Limits of the comparison of the files with the program as written; `None` if there is no helper process, or if it alone exceeds
    /// the budget.
    pub original: Option<Limits>,
}

impl Budget {
    /// Returns the extent of a validation that at most doubles the compilation time, or takes less than half a second.
    #[must_use]
    pub fn of_compilation(counts: &Counts) -> Self {
        let compilation = counts.compiled_ops.saturating_mul(COMPILED_OP_NS).saturating_add(COMPILATION_NS);
        let all = compilation.max(FREE_NS);
        let helper = counts.source_ops.map(|ops| ops.saturating_mul(REFERENCE_OP_NS).saturating_add(HELPER_NS));
        let drawing = counts.argument_elements.saturating_mul(ARGUMENT_ELEMENT_NS);
        let running = counts.element_operations.saturating_mul(REFERENCE_STEP_NS).saturating_add(drawing);
        let for_files = helper.and_then(|helper| all.checked_sub(helper)?.checked_sub(running));
        Self {
            field: within(all / FIELD_STEP_NS, counts.overhead, DRAWS),
            original: for_files.map(|ns| within(ns / BOUNDED_STEP_NS, counts.overhead, 1)),
        }
    }
}

/// Returns limits for a number of element operations and of draws, each of which has an overhead.
fn within(steps: u64, overhead: u64, draws: u64) -> Limits {
    let of_each = (steps / draws).saturating_sub(overhead);
    let of_one = steps.saturating_sub(overhead);
    Limits { whole: of_one, all_draws: of_each, samples: of_each, one_draw: of_one }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(compiled_ops: u64, element_operations: u64) -> Counts {
        Counts { compiled_ops, source_ops: Some(compiled_ops), element_operations, argument_elements: 0, overhead: 0 }
    }

    #[test]
    fn a_small_program_is_executed_whole_by_both_halves() {
        let Budget { field, original } = Budget::of_compilation(&counts(5, 100_000));
        assert!(field.all_draws > 100_000 && original.is_some_and(|limits| limits.whole > 100_000));
    }

    #[test]
    fn a_large_program_leaves_the_program_as_written_out_and_then_is_sampled() {
        let Budget { field, original } = Budget::of_compilation(&counts(5, 1 << 30));
        assert_eq!(original, None);
        assert!(field.whole < 1 << 30 && field.samples > 1 << 20);
    }

    #[test]
    fn a_large_table_of_which_a_few_rows_are_read_is_not_drawn() {
        let large = Counts { argument_elements: 1 << 28, ..counts(5, 100_000) };
        assert_eq!((Budget::of_compilation(&large).original, Budget::of_compilation(&large).field.whole > 100_000), (None, true));
    }

    #[test]
    fn a_program_of_many_ops_is_not_worth_its_code() {
        let of = |source_ops| Budget::of_compilation(&Counts { source_ops, ..counts(5, 100_000) });
        assert_eq!((of(None).original, of(Some(1000)).original), (None, None));
        assert!(of(Some(200)).original.is_some() && of(None).field == of(Some(200)).field);
    }

    #[test]
    fn a_longer_compilation_affords_more_and_executions_cost_something() {
        let [short, long] = [1, 10_000].map(|ops| Budget::of_compilation(&Counts { source_ops: Some(1), ..counts(ops, 1000) }));
        assert!(long.field.whole > 10 * short.field.whole);
        let busy = Budget::of_compilation(&Counts { overhead: 1 << 40, ..counts(1, 1000) });
        assert_eq!((busy.field.whole, busy.original.map(|limits| limits.whole)), (0, Some(0)));
    }
}
