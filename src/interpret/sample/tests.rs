//! Tests that samples have the values that the complete program computes for the same elements.

use super::*;
use crate::interpret::{ConstantLiteral, EvalArray, EvalLoop, evaluate_function};
use element::{FieldElement, FiniteField, RandomArithmetic};
use machine::ElementType;
use proptest::prelude::*;

/// Program that grows op by op from two matrices and row positions.
struct RandomProgram {
    values: Vec<EvalTensor>,
    ops: Vec<EvalOp<'static>>,
    /// Matrices that have been computed.
    matrices: Vec<ValueId>,
}

const POSITIONS: ValueId = 2;

static NUMBERS: [u8; 16] = [0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44, 0, 0x45, 0, 0x46, 0, 0x47, 0, 0x48];

fn half(shape: &[usize]) -> EvalTensor {
    EvalTensor { shape: shape.to_vec(), element: ElementType::F16 }
}

fn named(function: &str) -> EvalOpKind<'static> {
    EvalOpKind::Pointwise { function: function.to_owned(), constants: Vec::new() }
}

fn build_binary_expr(
    build: impl Fn(Box<AffineExpression>, Box<AffineExpression>) -> AffineExpression,
    lhs: AffineExpression,
    rhs: i64,
) -> AffineExpression {
    build(Box::new(lhs), Box::new(AffineExpression::Constant(rhs)))
}

impl RandomProgram {
    fn new() -> Self {
        let positions = EvalTensor { shape: vec![4], element: ElementType::I64 };
        Self { values: vec![half(&[4, 6]), half(&[6, 8]), positions], ops: Vec::new(), matrices: vec![0, 1] }
    }

    fn value(&mut self, shape: &[usize]) -> ValueId {
        self.values.push(half(shape));
        self.values.len() - 1
    }

    fn op(&mut self, kind: EvalOpKind<'static>, inputs: &[ValueId], shape: &[usize]) -> ValueId {
        let output = self.value(shape);
        self.ops.push(EvalOp { kind, inputs: inputs.to_vec(), outputs: vec![output] });
        output
    }

    fn add_random_op(&mut self, which: usize, on: usize) {
        let x = self.matrices[on % self.matrices.len()];
        let &[m, n] = self.values[x].shape.as_slice() else { return };
        if m * n > 2000 {
            return;
        }
        let next = match which {
            0 => self.op(named("exp"), &[x], &[m, n]),
            1 => self.op(named("mul"), &[x, x], &[m, n]),
            2 => {
                let kind = EvalOpKind::Reduce { function: "max".to_owned(), constants: Vec::new(), dims: vec![on % 2] };
                let shape = if on.is_multiple_of(2) { [1, n] } else { [m, 1] };
                let most = self.op(kind, &[x], &shape);
                self.op(named("sub"), &[x, most], &[m, n])
            }
            3 => {
                let turned =
                    self.op(EvalOpKind::View(vec![AffineExpression::Dim(1), AffineExpression::Dim(0)]), &[x], &[n, m]);
                self.op(EvalOpKind::Matmul, &[x, turned], &[m, m])
            }
            4 => {
                let flat = AffineExpression::Add(
                    Box::new(build_binary_expr(AffineExpression::Mul, AffineExpression::Dim(0), 2)),
                    Box::new(AffineExpression::Dim(1)),
                );
                let map = vec![
                    build_binary_expr(AffineExpression::FloorDiv, flat.clone(), n as i64),
                    build_binary_expr(AffineExpression::Mod, flat, n as i64),
                ];
                self.op(EvalOpKind::View(map), &[x], &[m * n / 2, 2])
            }
            5 => {
                let empty = self.op(EvalOpKind::Empty, &[], &[m + m, n]);
                let one = self.op(EvalOpKind::Insert { offsets: vec![0, 0] }, &[x, empty], &[m + m, n]);
                self.op(EvalOpKind::Insert { offsets: vec![m, 0] }, &[x, one], &[m + m, n])
            }
            // The positions go up to 1.
            6 if m > 1 => self.op(EvalOpKind::Gather { dim: 0 }, &[x, POSITIONS], &[4, n]),
            7 if m.is_multiple_of(2) => self.add_folding_loop(x, m, n),
            8 if m > 2 => self.op(
                EvalOpKind::View(vec![
                    build_binary_expr(AffineExpression::Add, AffineExpression::Dim(0), 2),
                    AffineExpression::Dim(1),
                ]),
                &[x],
                &[m - 2, n],
            ),
            9 => {
                let literal = ConstantLiteral { bytes: &NUMBERS, is_splat: false, element: ElementType::F16 };
                let numbers = self.op(EvalOpKind::Constant(literal), &[], &[1, 8]);
                let split = self.op(
                    EvalOpKind::View(vec![
                        AffineExpression::Constant(0),
                        build_binary_expr(AffineExpression::Mod, AffineExpression::Dim(1), 8),
                    ]),
                    &[numbers],
                    &[1, n],
                );
                self.op(named("add"), &[x, split], &[m, n])
            }
            _ => self.op(EvalOpKind::Copy, &[x], &[m, n]),
        };
        self.matrices.push(next);
    }

    /// Adds a loop over two halves of the rows that carries their sum and yields products.
    fn add_folding_loop(&mut self, x: ValueId, m: usize, n: usize) -> ValueId {
        let half_shape = [m / 2, n];
        let begin =
            self.op(EvalOpKind::View(vec![AffineExpression::Dim(0), AffineExpression::Dim(1)]), &[x], &half_shape);
        let [tile, before, after, product] = std::array::from_fn(|_| self.value(&half_shape));
        let single =
            |kind, inputs: [ValueId; 2], output| EvalOp { kind, inputs: inputs.to_vec(), outputs: vec![output] };
        let ops = vec![single(named("add"), [before, tile], after), single(named("mul"), [after, tile], product)];
        let body = EvalBlock { arguments: vec![tile, before], ops, yields: vec![product, after] };
        let around = EvalLoop { count: 2, read: vec![Some(0), None], given: vec![Some(0), None], body };
        let (products, sum) = (self.value(&[m, n]), self.value(&half_shape));
        self.ops.push(EvalOp { kind: EvalOpKind::Loop(around), inputs: vec![x, begin], outputs: vec![products, sum] });
        self.matrices.push(sum);
        products
    }

    fn function(self) -> EvalFunction<'static> {
        let num_results = self.matrices.len().min(3);
        let yields = self.matrices[self.matrices.len() - num_results..].to_vec();
        EvalFunction {
            name: "f".to_owned(),
            ranges: Vec::new(),
            values: self.values,
            body: EvalBlock { arguments: vec![0, 1, 2], ops: self.ops, yields },
        }
    }
}

fn random_arguments(function: &EvalFunction<'_>, field: &FiniteField) -> Vec<EvalArray<FieldElement>> {
    let matrix = |at: u64| {
        EvalArray::numbers(
            (0..function.values[at as usize].length() as u64).map(|index| field.random_input(at, index)).collect(),
        )
    };
    vec![matrix(0), matrix(1), EvalArray::positions([1, 0, 1, 1])]
}

fn select_elements(
    array: &EvalArray<FieldElement>,
    selection: &ElementSelection,
    shape: &[usize],
) -> EvalArray<FieldElement> {
    array.gather(&PositionSequence::Positions(selection.positions(shape)))
}

/// Returns the elements that a sample computes, and those that the complete program computes there.
fn compute_both_ways(function: &EvalFunction<'_>, results: &[ElementSelection]) -> [Vec<EvalArray<FieldElement>>; 2] {
    let field = FiniteField::new(3);
    let given = random_arguments(function, &field);
    let sampled = function.extract_sample(results).unwrap();
    let tensors = sampled.arguments.iter().zip(&function.body.arguments).zip(&given);
    let taken = tensors
        .map(|((selection, id), array)| select_elements(array, selection, &function.values[*id].shape))
        .collect();
    let whole = evaluate_function(function, given.clone(), &field).unwrap();
    let wholes = whole.iter().zip(results).zip(&function.body.yields);
    let expected =
        wholes.map(|((array, selection), id)| select_elements(array, selection, &function.values[*id].shape)).collect();
    [evaluate_function(&sampled.function, taken, &field).unwrap(), expected]
}

fn random_selection(shape: &[usize], seeds: &[usize]) -> ElementSelection {
    ElementSelection::new(shape.iter().map(|size| seeds.iter().map(|seed| seed % size).collect()))
}

proptest! {
    #[test]
    fn samples_equal_complete_runs(
        ops in prop::collection::vec((0_usize..11, 0_usize..100), 1..9), seeds in prop::collection::vec(0_usize..1000, 1..4)
    ) {
        prop_assert_eq!(find_sample_mismatch(&ops, &seeds), None);
    }
}

/// Describes how a sample of this program differs from the complete program; returns `None` if they agree.
fn find_sample_mismatch(ops: &[(usize, usize)], seeds: &[usize]) -> Option<String> {
    let mut program = RandomProgram::new();
    ops.iter().for_each(|(which, on)| program.add_random_op(*which, *on));
    let function = program.function();
    let results: Vec<ElementSelection> =
        function.body.yields.iter().map(|id| random_selection(&function.values[*id].shape, seeds)).collect();
    let [found, expected] = compute_both_ways(&function, &results);
    let is_same = found.iter().zip(&expected).all(|arrays| match arrays {
        (EvalArray::Numbers(found), EvalArray::Numbers(expected)) => {
            found.len() == expected.len()
                && found.iter().zip(expected.iter()).all(|(found, expected)| found.agrees_with(*expected))
        }
        (found, expected) => found == expected,
    });
    (!is_same || found.len() != expected.len()).then(|| format!("{found:?} instead of {expected:?}"))
}

/// A sum of products of spent zeros has a meaningless second component, which may differ in a sample.
#[test]
fn compares_spent_elements_by_meaning() {
    let ops = [(0, 31), (2, 8), (0, 0), (0, 0), (0, 0), (4, 80), (3, 7)];
    assert_eq!(find_sample_mismatch(&ops, &[154]), None);
}

#[test]
fn counts_only_operations_that_the_sample_needs() {
    let mut program = RandomProgram::new();
    program.add_random_op(3, 1);
    let function = program.function();
    let of = |positions: &[usize]| {
        let results: Vec<ElementSelection> =
            function.body.yields.iter().map(|id| random_selection(&function.values[*id].shape, positions)).collect();
        function.extract_sample(&results[2..]).map(|_| ()).unwrap_err();
        function.extract_sample(&results).unwrap().function.count_operations()
    };
    assert!(of(&[0]) * 3 < function.count_operations() && of(&[0]) < of(&[0, 1]));
}

#[test]
fn omits_ops_that_no_element_depends_on() {
    let function = {
        let mut program = RandomProgram::new();
        program.add_random_op(0, 0);
        program.add_random_op(0, 1);
        let mut function = program.function();
        function.body.yields.truncate(1);
        function
    };
    let sampled = function.extract_sample(&[ElementSelection::new([vec![1], vec![2, 3]])]).unwrap();
    let taken: Vec<usize> = sampled.arguments.iter().map(ElementSelection::length).collect();
    assert_eq!(
        (taken, sampled.function.body.ops.len()),
        (vec![0, 2, 0], 0),
        "the first result is the second argument itself"
    );
}

#[test]
fn rejects_loops_with_too_many_iterations() {
    let body = EvalBlock { arguments: vec![1], ops: vec![], yields: vec![1] };
    let inner = EvalLoop { count: usize::MAX, read: vec![Some(0)], given: vec![Some(0)], body };
    let op = EvalOp { kind: EvalOpKind::Loop(inner), inputs: vec![0], outputs: vec![2] };
    let values = vec![half(&[0, 1]), half(&[0, 1]), half(&[0, 1])];
    let function = EvalFunction {
        name: "f".to_owned(),
        ranges: Vec::new(),
        values,
        body: EvalBlock { arguments: vec![0], ops: vec![op], yields: vec![2] },
    };
    assert!(matches!(
        function.extract_sample(&[ElementSelection::whole(&[0, 1])]),
        Err(EvaluationError::TooManyOps { .. })
    ));
}
