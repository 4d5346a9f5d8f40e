//! Tests of the detection of errors that a comparison of results does not reveal: values that a loop overwrites too
//! early, and reads of nonzero padding.

use super::*;
use crate::interpret::EvalTensor;
use machine::ElementType;
use program::affine::AffineExpression;

fn op(kind: EvalOpKind<'static>, inputs: &[ValueId], outputs: &[ValueId]) -> EvalOp<'static> {
    EvalOp { kind, inputs: inputs.to_vec(), outputs: outputs.to_vec() }
}

fn add(inputs: [ValueId; 2], output: ValueId) -> EvalOp<'static> {
    op(EvalOpKind::Pointwise { function: "add".to_owned(), constants: vec![] }, &inputs, &[output])
}

fn function(
    shapes: &[&[usize]],
    arguments: Vec<ValueId>,
    ops: Vec<EvalOp<'static>>,
    yields: Vec<ValueId>,
) -> EvalFunction<'static> {
    let values = shapes.iter().map(|shape| EvalTensor { shape: shape.to_vec(), element: ElementType::F16 }).collect();
    EvalFunction { name: "f".to_owned(), ranges: vec![], values, body: EvalBlock { arguments, ops, yields } }
}

/// Builds the function `(%0) { %1 = fill; %2 = fill; %7, ... = loop 2 carried(%3 = START, ...) { BODY; yield YIELDS };
/// %9 = add(%7, LAST); return %9 }`.
fn function_with_loop(
    starts: &[ValueId],
    body: Vec<EvalOp<'static>>,
    yields: &[ValueId],
    last: ValueId,
) -> EvalFunction<'static> {
    let n = starts.len();
    let body = EvalBlock { arguments: (3..3 + n).collect(), ops: body, yields: yields.to_vec() };
    let eval_loop = EvalLoop { count: 2, read: vec![None; n], given: vec![None; n], body };
    let results: Vec<ValueId> = (7..7 + n).collect();
    let ops = vec![
        op(EvalOpKind::Fill(0.0), &[], &[1]),
        op(EvalOpKind::Fill(1.0), &[], &[2]),
        op(EvalOpKind::Loop(eval_loop), starts, &results),
        add([7, last], 9),
    ];
    function(&[&[4][..]; 10], vec![0], ops, vec![9])
}

#[test]
fn accepts_accumulation_in_one_buffer() {
    assert_eq!(find_clobbered_value(&function_with_loop(&[1], vec![add([3, 0], 5)], &[5], 0)), None);
    assert_eq!(
        find_clobbered_value(&function_with_loop(&[1, 2], vec![add([3, 4], 5), add([4, 0], 6)], &[5, 6], 0)),
        None
    );
}

#[test]
fn finds_values_that_are_overwritten_too_early() {
    let find_error = |starts: &[ValueId], body, yields: &[ValueId], last| {
        find_clobbered_value(&function_with_loop(starts, body, yields, last)).unwrap()
    };
    assert_eq!(
        find_error(&[1, 1], vec![add([3, 0], 5), add([4, 0], 6)], &[5, 6], 0),
        "a loop initializes two carried buffers with one value"
    );
    assert_eq!(
        find_error(&[0], vec![add([3, 3], 5)], &[5], 1),
        "a loop overwrites a value that is not a buffer of its block"
    );
    assert!(find_error(&[1], vec![add([3, 1], 5)], &[5], 0).starts_with("the body of a loop reads"));
    assert_eq!(
        find_error(&[1], vec![add([3, 0], 5)], &[5], 1),
        "the initial value of a loop is read after the loop overwrote it"
    );
    assert_eq!(find_error(&[1, 2], vec![add([3, 4], 5)], &[5, 5], 0), "a loop yields one value twice");
    assert_eq!(find_error(&[1], vec![], &[0], 0), "a loop yields a value that is defined outside of it");
    let late = "a carried value is read after it was overwritten";
    assert_eq!(find_error(&[1], vec![add([3, 0], 5), add([3, 5], 6)], &[5], 0), late);
    assert_eq!(find_error(&[1, 2], vec![add([3, 0], 5)], &[5, 3], 0), late, "two values change places");
}

#[test]
fn treats_view_as_alias_of_its_source() {
    let view = || op(EvalOpKind::View(vec![AffineExpression::Dim(0)]), &[3], &[6]);
    let late = find_clobbered_value(&function_with_loop(&[1], vec![view(), add([3, 0], 5), add([6, 5], 4)], &[5], 0));
    assert_eq!(late, Some("a carried value is read after it was overwritten"));
    assert_eq!(
        find_clobbered_value(&function_with_loop(&[1], vec![add([3, 0], 5), view()], &[5], 0)),
        None,
        "a view reads nothing"
    );
}

#[test]
fn finds_nonzero_padding_outside_of_the_index_range() {
    // A matmul of %0 with %1, which has three rows and is padded to four. The matmul reads the first `num_rows` rows.
    let reads_nonzero_padding = |padding: f64, num_rows: usize| {
        let insert = |row| EvalOpKind::Insert { offsets: vec![row, 0] };
        let ops = vec![
            op(EvalOpKind::Empty, &[], &[2]),
            op(insert(0), &[1, 2], &[3]),
            op(EvalOpKind::Fill(padding), &[], &[4]),
            op(insert(3), &[4, 3], &[5]),
            op(EvalOpKind::View(vec![AffineExpression::Dim(0), AffineExpression::Dim(1)]), &[5], &[6]),
            op(EvalOpKind::Matmul, &[0, 6], &[7]),
        ];
        let (rows, left) = ([num_rows, 2], [5, num_rows]);
        let shapes: [&[usize]; 8] = [&left, &[3, 2], &[4, 2], &[4, 2], &[1, 2], &[4, 2], &rows, &[5, 2]];
        may_read_nonzero_padding(&function(&shapes, vec![0, 1], ops, vec![7]))
    };
    assert!(!reads_nonzero_padding(0.0, 3));
    assert!(reads_nonzero_padding(1.0, 3));
    assert!(!reads_nonzero_padding(1.0, 4), "the program itself reads the ones");
}
