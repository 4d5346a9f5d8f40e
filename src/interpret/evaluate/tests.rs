//! One small test for what each op means.

use super::*;
use element::{Draw, Exact, Field};
use machine::ElementType;
use program::affine::Expr;

fn tensor(shape: &[usize], element: ElementType) -> Tensor {
    Tensor { shape: shape.to_vec(), element }
}

fn half(shape: &[usize]) -> Tensor {
    tensor(shape, ElementType::F16)
}

fn op(kind: Kind<'static>, inputs: &[ValueId], output: ValueId) -> Operation<'static> {
    Operation { kind, inputs: inputs.to_vec(), outputs: vec![output] }
}

fn named(function: &str) -> Kind<'static> {
    Kind::Pointwise { function: function.to_owned(), constants: Vec::new() }
}

/// A function whose first values are its arguments and whose last one is its result.
fn function(values: Vec<Tensor>, n_arguments: usize, ops: Vec<Operation<'static>>) -> Function<'static> {
    let body = Block { arguments: (0..n_arguments).collect(), ops, yields: vec![values.len() - 1] };
    Function { name: "f".to_owned(), ranges: Vec::new(), values, body }
}

fn numbers(elements: &[f64]) -> Array<f64> {
    Array::numbers(elements.to_vec())
}

fn run(function: &Function<'_>, arguments: Vec<Array<f64>>) -> Result<Vec<f64>, Fault> {
    match evaluate(function, arguments, &Exact)?.pop() {
        Some(Array::Numbers(elements)) => Ok(elements.to_vec()),
        _ => Err(Fault::Mixed),
    }
}

/// One op on arguments.
fn once(kind: Kind<'static>, shapes: &[&[usize]], arguments: &[&[f64]]) -> Vec<f64> {
    let n_arguments = arguments.len();
    let values: Vec<Tensor> = shapes.iter().map(|shape| half(shape)).collect();
    let inputs: Vec<ValueId> = (0..n_arguments).collect();
    run(&function(values, n_arguments, vec![op(kind, &inputs, n_arguments)]), arguments.iter().map(|elements| numbers(elements)).collect())
        .unwrap()
}

#[test]
fn pointwise_repeats_dimensions_of_one_element() {
    let shapes: [&[usize]; 3] = [&[2, 3], &[2, 1], &[2, 3]];
    let found = once(named("sub"), &shapes, &[&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[1.0, 4.0]]);
    assert_eq!(found, [0.0, 1.0, 2.0, 0.0, 1.0, 2.0]);
    assert_eq!(once(named("neg"), &[&[2], &[2]], &[&[1.0, -2.0]]), [-1.0, 2.0]);
    let shapes: [&[usize]; 4] = [&[3], &[3], &[1], &[3]];
    assert_eq!(once(named("where3"), &shapes, &[&[0.0, 1.0, 0.0], &[1.0, 2.0, 3.0], &[9.0]]), [9.0, 2.0, 9.0]);
    let clip = Kind::Pointwise { function: "clip".to_owned(), constants: vec![0.0, 2.0] };
    assert_eq!(once(clip, &[&[3], &[3]], &[&[-1.0, 1.0, 3.0]]), [0.0, 1.0, 2.0]);
}

#[test]
fn a_reduction_keeps_its_dimensions_with_one_element() {
    let x = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
    let along = |name: &str, dims: &[usize], to: &'static [usize], constants: &[f64]| {
        let kind = Kind::Reduce { function: name.to_owned(), constants: constants.to_vec(), dims: dims.to_vec() };
        once(kind, &[&[2, 3], to], &[&x])
    };
    assert_eq!(along("sum", &[1], &[2, 1], &[]), [6.0, 15.0]);
    assert_eq!(along("max", &[0], &[1, 3], &[]), [4.0, 5.0, 6.0]);
    assert_eq!(along("min", &[0, 1], &[1, 1], &[]), [1.0]);
    assert_eq!(along("prod", &[1], &[2, 1], &[]), [6.0, 120.0]);
    assert_eq!(along("mean", &[1], &[2, 1], &[0.5]), [3.0, 7.5]);
}

#[test]
fn a_product_has_its_batch_in_front() {
    let shapes: [&[usize]; 3] = [&[2, 1, 2], &[2, 2, 1], &[2, 1, 1]];
    assert_eq!(once(Kind::Matmul, &shapes, &[&[1.0, 2.0, 3.0, 4.0], &[5.0, 6.0, 7.0, 8.0]]), [17.0, 53.0]);
    let shapes: [&[usize]; 3] = [&[2, 2], &[2, 2], &[2, 2]];
    assert_eq!(once(Kind::Matmul, &shapes, &[&[1.0, 2.0, 3.0, 4.0], &[1.0, 0.0, 0.0, 1.0]]), [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn a_gather_puts_the_index_dimensions_in_front() {
    let values = vec![half(&[2, 3]), tensor(&[2], ElementType::I64), half(&[2, 2])];
    let gather = function(values, 2, vec![op(Kind::Gather { dim: 1 }, &[0, 1], 2)]);
    let table = || numbers(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(run(&gather, vec![table(), Array::positions([2, 0])]).unwrap(), [3.0, 6.0, 1.0, 4.0]);
    assert_eq!(run(&gather, vec![table(), Array::positions([0, 3])]), Err(Fault::Index { index: 3, size: 3 }));
    assert_eq!(run(&gather, vec![table(), Array::positions([0, -1])]), Err(Fault::Index { index: -1, size: 3 }));
}

#[test]
fn views_and_copies_move_elements() {
    let transpose = Kind::View(vec![Expr::Dim(1), Expr::Dim(0)]);
    assert_eq!(once(transpose, &[&[2, 2], &[2, 2]], &[&[1.0, 2.0, 3.0, 4.0]]), [1.0, 3.0, 2.0, 4.0]);
    assert_eq!(once(Kind::Copy, &[&[2], &[2]], &[&[1.0, 2.0]]), [1.0, 2.0]);
}

#[test]
fn an_insert_writes_its_window_and_leaves_the_rest() {
    let at = |offset: usize| Kind::Insert { offsets: vec![offset] };
    let values = vec![half(&[2]), half(&[5]), half(&[5]), half(&[5])];
    let ops = vec![op(Kind::Empty, &[], 1), op(at(0), &[0, 1], 2), op(at(3), &[0, 2], 3)];
    let found = run(&function(values, 1, ops), vec![numbers(&[1.0, 2.0])]).unwrap();
    assert!(found[2].is_nan(), "nothing has written it");
    assert_eq!([found[0], found[1], found[3], found[4]], [1.0, 2.0, 1.0, 2.0]);
}

#[test]
fn constants_are_what_the_program_says() {
    let bytes: &'static [u8] = &[0, 0, 0x80, 0x3f, 0xac, 0xc5, 0x27, 0x37];
    let literal = Literal { bytes, is_splat: false, element: ElementType::F32 };
    let constant = function(vec![tensor(&[2], ElementType::F32)], 0, vec![op(Kind::Constant(literal), &[], 0)]);
    assert_eq!(run(&constant, vec![]).unwrap(), [1.0, f64::from(1e-5_f32)]);
    let fill = function(vec![half(&[2])], 0, vec![op(Kind::Fill(0.5), &[], 0)]);
    assert_eq!(run(&fill, vec![]).unwrap(), [0.5, 0.5]);
}

/// `%sum = loop 2 tiled(%x[0]) carried(%begin) { %sum = add(%before, %tile); yield %tile[0], %sum }`
fn accumulation() -> Function<'static> {
    let values = vec![half(&[4]), half(&[2]), half(&[2]), half(&[2]), half(&[2]), half(&[4]), half(&[2])];
    let body = Block { arguments: vec![2, 3], ops: vec![op(named("add"), &[3, 2], 4)], yields: vec![4, 4] };
    let around = Loop { count: 2, read: vec![Some(0), None], given: vec![Some(0), None], body };
    let around = Operation { kind: Kind::Loop(around), inputs: vec![0, 1], outputs: vec![5, 6] };
    Function {
        name: "f".to_owned(),
        ranges: Vec::new(),
        values,
        body: Block { arguments: vec![0, 1], ops: vec![around], yields: vec![5, 6] },
    }
}

#[test]
fn a_loop_cuts_tiles_lays_them_side_by_side_and_carries() {
    let arguments = vec![numbers(&[1.0, 2.0, 3.0, 4.0]), numbers(&[10.0, 20.0])];
    let found = evaluate(&accumulation(), arguments, &Exact).unwrap();
    assert_eq!(found, [numbers(&[11.0, 22.0, 14.0, 26.0]), numbers(&[14.0, 26.0])]);
}

#[test]
fn a_scope_runs_its_ops_and_sees_what_is_around() {
    let body = Block { arguments: vec![], ops: vec![op(named("add"), &[0, 0], 1)], yields: vec![1] };
    let scope = function(vec![half(&[1]), half(&[1]), half(&[1])], 1, vec![op(Kind::Scope(body), &[], 2)]);
    assert_eq!(run(&scope, vec![numbers(&[3.0])]).unwrap(), [6.0]);
}

#[test]
fn sums_in_any_order_are_equal_in_the_field() {
    let field = Field::new(1);
    let elements: Vec<_> = (0..4).map(|index| field.input(0, index)).collect();
    let begin = Array::numbers(vec![field.number(0.0); 2]);
    let carried = evaluate(&accumulation(), vec![Array::numbers(elements.clone()), begin], &field).unwrap();
    let swapped = vec![elements[2], elements[3], elements[0], elements[1]];
    let begin = Array::numbers(vec![field.number(0.0); 2]);
    let other = evaluate(&accumulation(), vec![Array::numbers(swapped), begin], &field).unwrap();
    assert_eq!(carried[1], other[1]);
    assert_ne!(carried[0], other[0]);
}

#[test]
fn what_does_not_fit_is_a_fault_and_no_panic() {
    assert_eq!(run(&accumulation(), vec![numbers(&[1.0; 4])]), Err(Fault::Count { expected: 2, found: 1 }));
    assert_eq!(run(&accumulation(), vec![numbers(&[1.0; 3]), numbers(&[1.0; 2])]), Err(Fault::Outside { shape: vec![4] }));
    let unknown = function(vec![half(&[1]), half(&[1])], 1, vec![op(named("sinh"), &[0], 1)]);
    assert_eq!(run(&unknown, vec![numbers(&[1.0])]), Err(Fault::unknown("sinh")));
}
