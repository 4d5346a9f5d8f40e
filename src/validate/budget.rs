//! Cost budget of a validation, in estimated nanoseconds.
//!
//! Every number here is an estimate from counts, so the result is machine-independent. The two halves of a validation
//! run concurrently, each within the budget.

use super::{ExecutionLimits, NUM_DRAWS};
use crate::interpret::{EvalFunction, EvalOp, EvalOpKind};
use element::{BinaryFunction, UnaryFunction};

/// Minimum budget of a validation.
const MIN_BUDGET_NS: u64 = 500_000_000;

/// Cost of compiling an empty program; below, the additional cost per op.
const COMPILATION_NS: u64 = 30_000_000;
const COMPILED_OP_NS: u64 = 2_000_000;

/// Cost of a statement of the files that executes an op, in addition to its element operations.
const EXECUTION_NS: u64 = 3_000;

/// Cost of the helper process that runs the program as written, and additional cost per op of the program, mostly in
/// LLVM.
const HELPER_NS: u64 = 60_000_000;
const REFERENCE_OP_NS: u64 = 1_500_000;

/// Cost of one element operation of the program as written, and of drawing and converting one element of an argument
/// for it.
const REFERENCE_STEP_NS: u64 = 4;
const ARGUMENT_ELEMENT_NS: u64 = 60;

/// Cost of an element operation, or of an element that is drawn, converted or compared.
#[derive(Clone, Copy)]
struct OperationCost {
    /// Over the field, in the interpreter and the simulator together.
    field_ns: u64,
    /// In the files in f64 with error bounds.
    bounded_ns: u64,
}

/// Cost of an element operation over the field, at least, in the computation of a sample: operands are read for each
/// result element.
const SAMPLED_NS: u64 = 80;

/// Cost of an element of an argument, read or not, in the computation of samples: the simulator marks the ones that are
/// read.
const SAMPLED_ARGUMENT_ELEMENT_NS: u64 = 1;

const MATMUL_COST: OperationCost = OperationCost { field_ns: 3, bounded_ns: 6 };
const DEFAULT_COST: OperationCost = OperationCost { field_ns: 35, bounded_ns: 100 };
/// Cost of functions that are defined by a quotient.
const QUOTIENT_COST: OperationCost = OperationCost { field_ns: 80, bounded_ns: 100 };
const ARGUMENT_ELEMENT_COST: OperationCost = OperationCost { field_ns: 30, bounded_ns: 60 };
const RESULT_ELEMENT_COST: OperationCost = OperationCost { field_ns: 66, bounded_ns: 100 };

impl OperationCost {
    fn from_op(op: &EvalOp<'_>) -> Self {
        match &op.kind {
            EvalOpKind::Matmul => MATMUL_COST,
            EvalOpKind::Pointwise { function, .. } if is_quotient(function) => QUOTIENT_COST,
            _ => DEFAULT_COST,
        }
    }
}

fn is_quotient(function: &str) -> bool {
    let is_unary = matches!(
        UnaryFunction::from_name(function),
        Some(
            UnaryFunction::Gelu
                | UnaryFunction::Reciprocal
                | UnaryFunction::Rsqrt
                | UnaryFunction::Sigmoid
                | UnaryFunction::Silu
        )
    );
    is_unary || BinaryFunction::from_name(function) == Some(BinaryFunction::Div)
}

/// Counts of a compilation and its program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidationCounts {
    /// Ops that were compiled.
    pub compiled_ops: u64,
    /// Ops of the program as written; `None` if no helper process can run it.
    pub source_ops: Option<u64>,
    /// Statements of the files that execute an op.
    pub executions: u64,
    /// Cost of executing the imported program.
    pub execution: ExecutionCost,
}

/// Cost of executing a program once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExecutionCost {
    /// Element operations.
    pub element_operations: u64,
    /// Elements of the program's arguments.
    pub argument_elements: u64,
    /// Estimated duration over the field, in nanoseconds.
    field_ns: u64,
    /// Estimated duration over the field per execution of all operations if only samples of the results are computed,
    /// in nanoseconds.
    sampled_ns: u64,
    /// Estimated duration of the files in f64 with error bounds, in nanoseconds.
    bounded_ns: u64,
}

impl ExecutionCost {
    /// Returns the cost of executing each of some functions once.
    #[must_use]
    pub fn estimate(functions: &[EvalFunction<'_>]) -> Self {
        let sum = |of: &dyn Fn(&EvalFunction<'_>) -> u64| functions.iter().map(of).fold(0, u64::saturating_add);
        let elements = |function: &EvalFunction<'_>, ids: &[usize]| {
            ids.iter().map(|id| function.values[*id].length() as u64).fold(0, u64::saturating_add)
        };
        let arguments = |function: &EvalFunction<'_>| elements(function, &function.body.arguments);
        let duration = |ns: fn(OperationCost) -> u64| {
            sum(&|function| {
                let of_ops = function.count_weighted_operations(|op| ns(OperationCost::from_op(op)));
                let of_arguments = arguments(function).saturating_mul(ns(ARGUMENT_ELEMENT_COST));
                let of_results = elements(function, &function.body.yields).saturating_mul(ns(RESULT_ELEMENT_COST));
                of_ops.saturating_add(of_arguments).saturating_add(of_results)
            })
        };
        Self {
            element_operations: sum(&|function| function.count_operations()),
            argument_elements: sum(&arguments),
            field_ns: duration(|rate| rate.field_ns),
            sampled_ns: duration(|rate| rate.field_ns.max(SAMPLED_NS)),
            bounded_ns: duration(|rate| rate.bounded_ns),
        }
    }
}

/// Limits of the work that a validation executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValidationBudget {
    /// Limits of the field.
    pub field: ExecutionLimits,
    /// Limits of the comparison of the files with the program as written; `None` if there is no helper process, or if
    /// it alone exceeds the budget.
    pub original: Option<ExecutionLimits>,
}

impl ValidationBudget {
    /// Returns the extent of a validation that at most doubles the compilation time, or takes less than half a second.
    #[must_use]
    pub fn from_counts(counts: &ValidationCounts) -> Self {
        let ValidationCounts { execution, .. } = counts;
        let compilation = counts.compiled_ops.saturating_mul(COMPILED_OP_NS).saturating_add(COMPILATION_NS);
        let all = compilation.max(MIN_BUDGET_NS);
        let executions = counts.executions.saturating_mul(EXECUTION_NS);
        let helper = counts.source_ops.map(|ops| ops.saturating_mul(REFERENCE_OP_NS).saturating_add(HELPER_NS));
        let drawing = execution.argument_elements.saturating_mul(ARGUMENT_ELEMENT_NS);
        let running = execution.element_operations.saturating_mul(REFERENCE_STEP_NS).saturating_add(drawing);
        let for_files =
            helper.and_then(|helper| all.checked_sub(helper)?.checked_sub(running)?.checked_sub(executions));
        let limits = |ns: u64, draws: u64, whole_ns: u64, sampled_ns: u64| {
            // Element operations that fit in the remaining time, for each of `draws` draws.
            let steps_beside = |draws: u64, other_ns: u64, of_all_ns: u64| {
                affordable_operations((ns / draws).saturating_sub(other_ns), execution.element_operations, of_all_ns)
            };
            let steps = |draws: u64, of_all_ns: u64| steps_beside(draws, executions, of_all_ns);
            let marking = execution.argument_elements.saturating_mul(SAMPLED_ARGUMENT_ELEMENT_NS);
            let sampled_steps = |draws: u64| steps_beside(draws, executions.saturating_add(marking), sampled_ns);
            ExecutionLimits {
                whole: steps(1, whole_ns),
                all_draws: steps(draws, whole_ns),
                samples: sampled_steps(draws),
                one_draw: steps(1, whole_ns),
                samples_in_one_draw: sampled_steps(1),
            }
        };
        let bounded_ns = execution.bounded_ns;
        Self {
            field: limits(all, NUM_DRAWS, execution.field_ns, execution.sampled_ns),
            original: for_files.map(|ns| limits(ns, 1, bounded_ns, bounded_ns)),
        }
    }
}

/// Returns the element operations that take `ns` if `steps` of them take `whole_ns`.
fn affordable_operations(ns: u64, steps: u64, whole_ns: u64) -> u64 {
    let in_time = u128::from(ns) * u128::from(steps.max(1)) / u128::from(whole_ns.max(1));
    u64::try_from(in_time).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::{EvalBlock, EvalTensor};
    use machine::ElementType;

    fn counts(compiled_ops: u64, element_operations: u64) -> ValidationCounts {
        let execution = ExecutionCost {
            element_operations,
            argument_elements: 0,
            field_ns: 3 * element_operations,
            sampled_ns: 80 * element_operations,
            bounded_ns: 4 * element_operations,
        };
        ValidationCounts { compiled_ops, source_ops: Some(compiled_ops), executions: 0, execution }
    }

    /// Function of one op on tensors of these shapes, the last of which is the result.
    fn function(kind: EvalOpKind<'static>, shapes: &[&[usize]]) -> EvalFunction<'static> {
        let values =
            shapes.iter().map(|shape| EvalTensor { shape: shape.to_vec(), element: ElementType::F16 }).collect();
        let (inputs, result) = ((0..shapes.len() - 1).collect::<Vec<_>>(), shapes.len() - 1);
        let ops = vec![EvalOp { kind, inputs: inputs.clone(), outputs: vec![result] }];
        EvalFunction {
            name: "f".to_owned(),
            ranges: Vec::new(),
            values,
            body: EvalBlock { arguments: inputs, ops, yields: vec![result] },
        }
    }

    #[test]
    fn executes_small_programs_whole_in_both_halves() {
        let ValidationBudget { field, original } = ValidationBudget::from_counts(&counts(5, 100_000));
        assert!(field.all_draws > 100_000 && original.is_some_and(|limits| limits.whole > 100_000));
    }

    #[test]
    fn samples_large_programs_without_the_program_as_written() {
        let ValidationBudget { field, original } = ValidationBudget::from_counts(&counts(5, 1 << 30));
        assert_eq!(original, None);
        assert!(field.whole < 1 << 30 && field.samples > 1 << 20);
    }

    #[test]
    fn charges_samples_more_than_complete_matmuls() {
        let limits = |argument_elements: u64| {
            let counts = counts(5, 1 << 30);
            let execution = ExecutionCost { argument_elements, ..counts.execution };
            ValidationBudget::from_counts(&ValidationCounts { execution, ..counts }).field
        };
        assert!(limits(0).samples * 20 < limits(0).all_draws, "{:?}", limits(0));
        assert!((1..limits(0).samples).contains(&limits(1 << 26).samples));
        assert_eq!(limits(1 << 30).samples, 0);
    }

    #[test]
    fn draws_no_large_table_of_which_a_few_rows_are_read() {
        let small = counts(5, 100_000);
        let large =
            ValidationCounts { execution: ExecutionCost { argument_elements: 1 << 28, ..small.execution }, ..small };
        assert_eq!(
            (
                ValidationBudget::from_counts(&large).original,
                ValidationBudget::from_counts(&large).field.whole > 100_000
            ),
            (None, true)
        );
    }

    #[test]
    fn compiles_no_program_of_many_ops_for_the_jit() {
        let of = |source_ops| ValidationBudget::from_counts(&ValidationCounts { source_ops, ..counts(5, 100_000) });
        assert_eq!((of(None).original, of(Some(1000)).original), (None, None));
        assert!(of(Some(200)).original.is_some() && of(None).field == of(Some(200)).field);
    }

    #[test]
    fn affords_more_after_a_longer_compilation_and_less_for_more_executions() {
        let [short, long] = [1, 10_000]
            .map(|ops| ValidationBudget::from_counts(&ValidationCounts { source_ops: Some(1), ..counts(ops, 1000) }));
        assert!(long.field.whole > 10 * short.field.whole);
        let busy = ValidationBudget::from_counts(&ValidationCounts { executions: 1 << 40, ..counts(1, 1000) });
        assert_eq!((busy.field.whole, busy.original), (0, None));
    }

    #[test]
    fn affords_fewer_operations_of_slower_kinds() {
        let shape: &[usize] = &[512, 512];
        let pointwise = |function: &str| EvalOpKind::Pointwise { function: function.to_owned(), constants: Vec::new() };
        let limits = [EvalOpKind::Matmul, pointwise("mul"), pointwise("realdiv")].map(|kind| {
            let execution = ExecutionCost::estimate(&[function(kind, &[shape, shape, shape])]);
            ValidationBudget::from_counts(&ValidationCounts { execution, ..counts(1, 0) }).field.all_draws
        });
        assert!(limits[0] > 10 * limits[1] && limits[1] > limits[2], "{limits:?}");
    }
}
