//! One small test of the semantics of each op.

use super::*;
use element::{F64Arithmetic, FiniteField, RandomArithmetic};
use machine::ElementType;
use program::affine::AffineExpression;

fn tensor(shape: &[usize], element: ElementType) -> EvalTensor {
    EvalTensor { shape: shape.to_vec(), element }
}

fn half(shape: &[usize]) -> EvalTensor {
    tensor(shape, ElementType::F16)
}

fn op(kind: EvalOpKind<'static>, inputs: &[ValueId], output: ValueId) -> EvalOp<'static> {
    EvalOp { kind, inputs: inputs.to_vec(), outputs: vec![output] }
}

fn named(function: &str) -> EvalOpKind<'static> {
    EvalOpKind::Pointwise { function: function.to_owned(), constants: Vec::new() }
}

/// Function whose first values are its arguments and whose last one is its result.
fn function(values: Vec<EvalTensor>, num_arguments: usize, ops: Vec<EvalOp<'static>>) -> EvalFunction<'static> {
    let body = EvalBlock { arguments: (0..num_arguments).collect(), ops, yields: vec![values.len() - 1] };
    EvalFunction { name: "f".to_owned(), ranges: Vec::new(), values, body }
}

fn numbers(elements: &[f64]) -> EvalArray<f64> {
    EvalArray::numbers(elements.to_vec())
}

fn run(function: &EvalFunction<'_>, arguments: Vec<EvalArray<f64>>) -> Result<Vec<f64>, EvaluationError> {
    match evaluate_function(function, arguments, &F64Arithmetic)?.pop() {
        Some(EvalArray::Numbers(elements)) => Ok(elements.to_vec()),
        _ => Err(EvaluationError::KindMismatch),
    }
}

/// Runs one op on arguments.
fn run_op(kind: EvalOpKind<'static>, shapes: &[&[usize]], arguments: &[&[f64]]) -> Vec<f64> {
    let num_arguments = arguments.len();
    let values: Vec<EvalTensor> = shapes.iter().map(|shape| half(shape)).collect();
    let inputs: Vec<ValueId> = (0..num_arguments).collect();
    run(
        &function(values, num_arguments, vec![op(kind, &inputs, num_arguments)]),
        arguments.iter().map(|elements| numbers(elements)).collect(),
    )
    .unwrap()
}

#[test]
fn broadcasts_unit_dimensions_in_pointwise_ops() {
    let shapes: [&[usize]; 3] = [&[2, 3], &[2, 1], &[2, 3]];
    let found = run_op(named("sub"), &shapes, &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 4.0]]);
    assert_eq!(found, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
    assert_eq!(run_op(named("neg"), &[&[2], &[2]], &[&[1.0, -2.0]]), [-1.0, 2.0]);
    let shapes: [&[usize]; 4] = [&[3], &[3], &[1], &[3]];
    assert_eq!(run_op(named("where3"), &shapes, &[&[0.0, 1.0, 0.0], &[1.0, 2.0, 3.0], &[9.0]]), [9.0, 2.0, 9.0]);
    let clip = EvalOpKind::Pointwise { function: "clip".to_owned(), constants: vec![0.0, 2.0] };
    assert_eq!(run_op(clip, &[&[3], &[3]], &[&[-1.0, 1.0, 3.0]]), [0.0, 1.0, 2.0]);
}

#[test]
fn keeps_reduced_dimensions_with_size_1() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let along = |name: &str, dims: &[usize], to: &'static [usize], constants: &[f64]| {
        let kind = EvalOpKind::Reduce { function: name.to_owned(), constants: constants.to_vec(), dims: dims.to_vec() };
        run_op(kind, &[&[2, 3], to], &[&x])
    };
    assert_eq!(along("sum", &[1], &[2, 1], &[]), [6.0, 15.0]);
    assert_eq!(along("max", &[0], &[1, 3], &[]), [4.0, 5.0, 6.0]);
    assert_eq!(along("min", &[0, 1], &[1, 1], &[]), [1.0]);
    assert_eq!(along("prod", &[1], &[2, 1], &[]), [6.0, 120.0]);
    assert_eq!(along("mean", &[1], &[2, 1], &[0.5]), [3.0, 7.5]);
}

#[test]
fn multiplies_matrices_per_leading_batch() {
    let shapes: [&[usize]; 3] = [&[2, 1, 2], &[2, 2, 1], &[2, 1, 1]];
    assert_eq!(run_op(EvalOpKind::Matmul, &shapes, &[&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]]), [17.0, 53.0]);
    let shapes: [&[usize]; 3] = [&[2, 2], &[2, 2], &[2, 2]];
    assert_eq!(
        run_op(EvalOpKind::Matmul, &shapes, &[&[1.0, 2.0, 3.0, 4.0], &[1.0, 0.0, 0.0, 1.0]]),
        [1.0, 2.0, 3.0, 4.0]
    );
}

#[test]
fn puts_index_dimensions_of_gather_first() {
    let values = vec![half(&[2, 3]), tensor(&[2], ElementType::I64), half(&[2, 2])];
    let gather = function(values, 2, vec![op(EvalOpKind::Gather { dim: 1 }, &[0, 1], 2)]);
    let table = || numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(run(&gather, vec![table(), EvalArray::positions([2, 0])]).unwrap(), [3.0, 6.0, 1.0, 4.0]);
    assert_eq!(
        run(&gather, vec![table(), EvalArray::positions([0, 3])]),
        Err(EvaluationError::Index { index: 3, size: 3 })
    );
    assert_eq!(
        run(&gather, vec![table(), EvalArray::positions([0, -1])]),
        Err(EvaluationError::Index { index: -1, size: 3 })
    );
}

#[test]
fn moves_elements_in_views_and_copies() {
    let transpose = EvalOpKind::View(vec![AffineExpression::Dim(1), AffineExpression::Dim(0)]);
    assert_eq!(run_op(transpose, &[&[2, 2], &[2, 2]], &[&[1.0, 2.0, 3.0, 4.0]]), [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(run_op(EvalOpKind::Copy, &[&[2], &[2]], &[&[1.0, 2.0]]), [1.0, 2.0]);
}

#[test]
fn writes_only_the_window_in_insert() {
    let at = |offset: usize| EvalOpKind::Insert { offsets: vec![offset] };
    let values = vec![half(&[2]), half(&[5]), half(&[5]), half(&[5])];
    let ops = vec![op(EvalOpKind::Empty, &[], 1), op(at(0), &[0, 1], 2), op(at(3), &[0, 2], 3)];
    let found = run(&function(values, 1, ops), vec![numbers(&[1.0, 2.0])]).unwrap();
    assert!(found[2].is_nan(), "nothing has written it");
    assert_eq!([found[0], found[1], found[3], found[4]], [1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn returns_constants_of_the_program() {
    let bytes: &'static [u8] = &[0, 0, 0x80, 0x3f, 0xac, 0xc5, 0x27, 0x37];
    let literal = ConstantLiteral { bytes, is_splat: false, element: ElementType::F32 };
    let constant = function(vec![tensor(&[2], ElementType::F32)], 0, vec![op(EvalOpKind::Constant(literal), &[], 0)]);
    assert_eq!(run(&constant, vec![]).unwrap(), [1.0, f64::from(1e-5_f32)]);
    let fill = function(vec![half(&[2])], 0, vec![op(EvalOpKind::Fill(0.5), &[], 0)]);
    assert_eq!(run(&fill, vec![]).unwrap(), [0.5, 0.5]);
}

/// Returns `%sum = loop 2 tiled(%x[0]) carried(%begin) { %sum = add(%before, %tile); yield %tile[0], %sum }`.
fn accumulation() -> EvalFunction<'static> {
    let values = vec![half(&[4]), half(&[2]), half(&[2]), half(&[2]), half(&[2]), half(&[4]), half(&[2])];
    let body = EvalBlock { arguments: vec![2, 3], ops: vec![op(named("add"), &[3, 2], 4)], yields: vec![4, 4] };
    let around = EvalLoop { count: 2, read: vec![Some(0), None], given: vec![Some(0), None], body };
    let around = EvalOp { kind: EvalOpKind::Loop(around), inputs: vec![0, 1], outputs: vec![5, 6] };
    EvalFunction {
        name: "f".to_owned(),
        ranges: Vec::new(),
        values,
        body: EvalBlock { arguments: vec![0, 1], ops: vec![around], yields: vec![5, 6] },
    }
}

#[test]
fn tiles_concatenates_and_carries_in_loops() {
    let arguments = vec![numbers(&[1.0, 2.0, 3.0, 4.0]), numbers(&[10.0, 20.0])];
    let found = evaluate_function(&accumulation(), arguments, &F64Arithmetic).unwrap();
    assert_eq!(found, [numbers(&[11.0, 22.0, 14.0, 26.0]), numbers(&[14.0, 26.0])]);
}

#[test]
fn runs_scopes_with_access_to_outer_values() {
    let body = EvalBlock { arguments: vec![], ops: vec![op(named("add"), &[0, 0], 1)], yields: vec![1] };
    let scope = function(vec![half(&[1]), half(&[1]), half(&[1])], 1, vec![op(EvalOpKind::Scope(body), &[], 2)]);
    assert_eq!(run(&scope, vec![numbers(&[3.0])]).unwrap(), [6.0]);
}

#[test]
fn computes_order_independent_sums_in_the_field() {
    let field = FiniteField::new(1);
    let elements: Vec<_> = (0..4).map(|index| field.random_input(0, index)).collect();
    let begin = EvalArray::numbers(vec![field.constant(0.0); 2]);
    let carried =
        evaluate_function(&accumulation(), vec![EvalArray::numbers(elements.clone()), begin], &field).unwrap();
    let swapped = vec![elements[2], elements[3], elements[0], elements[1]];
    let begin = EvalArray::numbers(vec![field.constant(0.0); 2]);
    let other = evaluate_function(&accumulation(), vec![EvalArray::numbers(swapped), begin], &field).unwrap();
    assert_eq!(carried[1], other[1]);
    assert_ne!(carried[0], other[0]);
}

#[test]
fn reports_mismatched_arguments_without_panic() {
    assert_eq!(run(&accumulation(), vec![numbers(&[1.0; 4])]), Err(EvaluationError::Count { expected: 2, found: 1 }));
    assert_eq!(
        run(&accumulation(), vec![numbers(&[1.0; 3]), numbers(&[1.0; 2])]),
        Err(EvaluationError::OutOfBounds { shape: vec![4] })
    );
    let unknown = function(vec![half(&[1]), half(&[1])], 1, vec![op(named("sinh"), &[0], 1)]);
    assert_eq!(run(&unknown, vec![numbers(&[1.0])]), Err(EvaluationError::unknown_function("sinh")));
}
