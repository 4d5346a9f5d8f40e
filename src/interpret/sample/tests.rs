//! Tests that samples have the values that the complete program computes for the same elements.

use super::*;
use crate::interpret::{Array, Literal, Loop, evaluate};
use element::{Draw, Field, FieldElement};
use machine::ElementType;
use proptest::prelude::*;

/// A program that grows op by op from two matrices and positions of rows.
struct Program {
    values: Vec<Tensor>,
    ops: Vec<Operation<'static>>,
    /// The matrices so far.
    matrices: Vec<ValueId>,
}

const POSITIONS: ValueId = 2;

static NUMBERS: [u8; 16] = [0, 0x3c, 0, 0x40, 0, 0x42, 0, 0x44, 0, 0x45, 0, 0x46, 0, 0x47, 0, 0x48];

fn half(shape: &[usize]) -> Tensor {
    Tensor { shape: shape.to_vec(), element: ElementType::F16 }
}

fn named(function: &str) -> Kind<'static> {
    Kind::Pointwise { function: function.to_owned(), constants: Vec::new() }
}

fn with(build: impl Fn(Box<Expr>, Box<Expr>) -> Expr, lhs: Expr, rhs: i64) -> Expr {
    build(Box::new(lhs), Box::new(Expr::Constant(rhs)))
}

impl Program {
    fn new() -> Self {
        let positions = Tensor { shape: vec![4], element: ElementType::I64 };
        Self { values: vec![half(&[4, 6]), half(&[6, 8]), positions], ops: Vec::new(), matrices: vec![0, 1] }
    }

    fn value(&mut self, shape: &[usize]) -> ValueId {
        self.values.push(half(shape));
        self.values.len() - 1
    }

    fn op(&mut self, kind: Kind<'static>, inputs: &[ValueId], shape: &[usize]) -> ValueId {
        let output = self.value(shape);
        self.ops.push(Operation { kind, inputs: inputs.to_vec(), outputs: vec![output] });
        output
    }

    fn grow(&mut self, which: usize, on: usize) {
        let x = self.matrices[on % self.matrices.len()];
        let &[m, n] = self.values[x].shape.as_slice() else { return };
        if m * n > 2000 {
            return;
        }
        let next = match which {
            0 => self.op(named("exp"), &[x], &[m, n]),
            1 => self.op(named("mul"), &[x, x], &[m, n]),
            2 => {
                let kind = Kind::Reduce { function: "max".to_owned(), constants: Vec::new(), dims: vec![on % 2] };
                let shape = if on.is_multiple_of(2) { [1, n] } else { [m, 1] };
                let most = self.op(kind, &[x], &shape);
                self.op(named("sub"), &[x, most], &[m, n])
            }
            3 => {
                let turned = self.op(Kind::View(vec![Expr::Dim(1), Expr::Dim(0)]), &[x], &[n, m]);
                self.op(Kind::Matmul, &[x, turned], &[m, m])
            }
            4 => {
                let flat = Expr::Add(Box::new(with(Expr::Mul, Expr::Dim(0), 2)), Box::new(Expr::Dim(1)));
                let map = vec![with(Expr::FloorDiv, flat.clone(), n as i64), with(Expr::Mod, flat, n as i64)];
                self.op(Kind::View(map), &[x], &[m * n / 2, 2])
            }
            5 => {
                let empty = self.op(Kind::Empty, &[], &[m + m, n]);
                let one = self.op(Kind::Insert { offsets: vec![0, 0] }, &[x, empty], &[m + m, n]);
                self.op(Kind::Insert { offsets: vec![m, 0] }, &[x, one], &[m + m, n])
            }
            // The positions go up to 1.
            6 if m > 1 => self.op(Kind::Gather { dim: 0 }, &[x, POSITIONS], &[4, n]),
            7 if m.is_multiple_of(2) => self.folded(x, m, n),
            8 if m > 2 => self.op(Kind::View(vec![with(Expr::Add, Expr::Dim(0), 2), Expr::Dim(1)]), &[x], &[m - 2, n]),
            9 => {
                let literal = Literal { bytes: &NUMBERS, is_splat: false, element: ElementType::F16 };
                let numbers = self.op(Kind::Constant(literal), &[], &[1, 8]);
                let split = self.op(Kind::View(vec![Expr::Constant(0), with(Expr::Mod, Expr::Dim(1), 8)]), &[numbers], &[1, n]);
                self.op(named("add"), &[x, split], &[m, n])
            }
            _ => self.op(Kind::Copy, &[x], &[m, n]),
        };
        self.matrices.push(next);
    }

    /// A loop over two halves of the rows that carries their sum and gives products.
    fn folded(&mut self, x: ValueId, m: usize, n: usize) -> ValueId {
        let half_shape = [m / 2, n];
        let begin = self.op(Kind::View(vec![Expr::Dim(0), Expr::Dim(1)]), &[x], &half_shape);
        let [tile, before, after, product] = std::array::from_fn(|_| self.value(&half_shape));
        let single = |kind, inputs: [ValueId; 2], output| Operation { kind, inputs: inputs.to_vec(), outputs: vec![output] };
        let ops = vec![single(named("add"), [before, tile], after), single(named("mul"), [after, tile], product)];
        let body = Block { arguments: vec![tile, before], ops, yields: vec![product, after] };
        let around = Loop { count: 2, read: vec![Some(0), None], given: vec![Some(0), None], body };
        let (products, sum) = (self.value(&[m, n]), self.value(&half_shape));
        self.ops.push(Operation { kind: Kind::Loop(around), inputs: vec![x, begin], outputs: vec![products, sum] });
        self.matrices.push(sum);
        products
    }

    fn function(self) -> Function<'static> {
        let n_results = self.matrices.len().min(3);
        let yields = self.matrices[self.matrices.len() - n_results..].to_vec();
        Function {
            name: "f".to_owned(),
            ranges: Vec::new(),
            values: self.values,
            body: Block { arguments: vec![0, 1, 2], ops: self.ops, yields },
        }
    }
}

fn arguments(function: &Function<'_>, field: &Field) -> Vec<Array<FieldElement>> {
    let matrix = |at: u64| Array::numbers((0..function.values[at as usize].length() as u64).map(|index| field.input(at, index)).collect());
    vec![matrix(0), matrix(1), Array::positions([1, 0, 1, 1])]
}

fn selected(array: &Array<FieldElement>, selection: &Selection, shape: &[usize]) -> Array<FieldElement> {
    array.visited(&Walk::Places(selection.places(shape)))
}

/// The elements that a sample computes, and those that the whole program computes there.
fn both(function: &Function<'_>, results: &[Selection]) -> [Vec<Array<FieldElement>>; 2] {
    let field = Field::new(3);
    let given = arguments(function, &field);
    let sampled = function.sampled(results).unwrap();
    let tensors = sampled.arguments.iter().zip(&function.body.arguments).zip(&given);
    let taken = tensors.map(|((selection, id), array)| selected(array, selection, &function.values[*id].shape)).collect();
    let whole = evaluate(function, given.clone(), &field).unwrap();
    let wholes = whole.iter().zip(results).zip(&function.body.yields);
    let expected = wholes.map(|((array, selection), id)| selected(array, selection, &function.values[*id].shape)).collect();
    [evaluate(&sampled.function, taken, &field).unwrap(), expected]
}

fn selection_of(shape: &[usize], seeds: &[usize]) -> Selection {
    Selection::new(shape.iter().map(|size| seeds.iter().map(|seed| seed % size).collect()))
}

proptest! {
    #[test]
    fn a_sample_computes_what_the_whole_program_does(
        ops in prop::collection::vec((0_usize..11, 0_usize..100), 1..9), seeds in prop::collection::vec(0_usize..1000, 1..4)
    ) {
        prop_assert_eq!(sampled_otherwise(&ops, &seeds), None);
    }
}

/// Describes how a sample of such a program differs from the complete program. Returns None if they agree.
fn sampled_otherwise(ops: &[(usize, usize)], seeds: &[usize]) -> Option<String> {
    let mut program = Program::new();
    ops.iter().for_each(|(which, on)| program.grow(*which, *on));
    let function = program.function();
    let results: Vec<Selection> = function.body.yields.iter().map(|id| selection_of(&function.values[*id].shape, seeds)).collect();
    let [found, expected] = both(&function, &results);
    let is_same = found.iter().zip(&expected).all(|arrays| match arrays {
        (Array::Numbers(found), Array::Numbers(expected)) => {
            found.len() == expected.len() && found.iter().zip(expected.iter()).all(|(found, expected)| found.agrees(*expected))
        }
        (found, expected) => found == expected,
    });
    (!is_same || found.len() != expected.len()).then(|| format!("{found:?} instead of {expected:?}"))
}

/// A sum of products of spent zeros has a second part that means nothing, and that a sample need not have.
#[test]
fn spent_elements_are_compared_by_what_they_mean() {
    let ops = [(0, 31), (2, 8), (0, 0), (0, 0), (0, 0), (4, 80), (3, 7)];
    assert_eq!(sampled_otherwise(&ops, &[154]), None);
}

#[test]
fn the_steps_of_a_sample_are_those_of_what_it_needs() {
    let mut program = Program::new();
    program.grow(3, 1);
    let function = program.function();
    let of = |positions: &[usize]| {
        let results: Vec<Selection> = function.body.yields.iter().map(|id| selection_of(&function.values[*id].shape, positions)).collect();
        function.sampled(&results[2..]).map(|_| ()).unwrap_err();
        function.sampled(&results).unwrap().function.steps()
    };
    assert!(of(&[0]) * 3 < function.steps() && of(&[0]) < of(&[0, 1]));
}

#[test]
fn what_no_element_needs_is_not_computed() {
    let function = {
        let mut program = Program::new();
        program.grow(0, 0);
        program.grow(0, 1);
        let mut function = program.function();
        function.body.yields.truncate(1);
        function
    };
    let sampled = function.sampled(&[Selection::new([vec![1], vec![2, 3]])]).unwrap();
    let taken: Vec<usize> = sampled.arguments.iter().map(Selection::length).collect();
    assert_eq!((taken, sampled.function.body.ops.len()), (vec![0, 2, 0], 0), "the first result is the second argument itself");
}

#[test]
fn loops_without_end_are_not_unrolled() {
    let body = Block { arguments: vec![1], ops: vec![], yields: vec![1] };
    let inner = Loop { count: usize::MAX, read: vec![Some(0)], given: vec![Some(0)], body };
    let op = Operation { kind: Kind::Loop(inner), inputs: vec![0], outputs: vec![2] };
    let values = vec![half(&[0, 1]), half(&[0, 1]), half(&[0, 1])];
    let function =
        Function { name: "f".to_owned(), ranges: Vec::new(), values, body: Block { arguments: vec![0], ops: vec![op], yields: vec![2] } };
    assert!(matches!(function.sampled(&[Selection::whole(&[0, 1])]), Err(Fault::TooManyOps { .. })));
}
