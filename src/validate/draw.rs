//! Random arguments for a function: elements of a finite field, and positions for table lookups.

use crate::interpret::{ElementSelection, EvalArray, EvalBlock, EvalFunction, EvalOpKind, EvalTensor};
use element::{FieldElement, FiniteField, RandomArithmetic, mix_bits};
use machine::ElementType;

/// Exclusive upper bound of positions that index no table.
const DEFAULT_POSITION_END: usize = 16;

/// Returns the arguments of a function in a draw.
#[must_use]
pub fn draw_arguments(function: &EvalFunction<'_>, draw: u64) -> Vec<EvalArray<FieldElement>> {
    draw_arguments_with(function, &FiniteField::new(draw), draw)
}

/// Returns the arguments of a function, with the elements of a draw.
pub(super) fn draw_arguments_with<D: RandomArithmetic>(
    function: &EvalFunction<'_>,
    elements: &D,
    draw: u64,
) -> Vec<EvalArray<D::Element>> {
    let drawn = RandomArguments::new(function, elements, draw);
    (0..function.body.arguments.len())
        .map(|position| drawn.draw_argument(position, 0..drawn.tensor(position).length()))
        .collect()
}

/// Returns the selected elements of each argument.
pub(super) fn draw_selected_arguments<D: RandomArithmetic>(
    function: &EvalFunction<'_>,
    selections: &[ElementSelection],
    elements: &D,
    draw: u64,
) -> Vec<EvalArray<D::Element>> {
    let drawn = RandomArguments::new(function, elements, draw);
    let of = |(position, selection): (usize, &ElementSelection)| {
        let shape = &drawn.tensor(position).shape;
        // The list of the positions of a table takes as much memory as its elements.
        if *selection == ElementSelection::whole(shape) {
            return drawn.draw_argument(position, 0..drawn.tensor(position).length());
        }
        drawn.draw_argument(position, selection.positions(shape))
    };
    selections.iter().enumerate().map(of).collect()
}

/// Lazily drawn arguments of a function.
struct RandomArguments<'f, 'c, D> {
    function: &'f EvalFunction<'c>,
    elements: &'f D,
    rows: Vec<Option<usize>>,
    draw: u64,
}

impl<'f, 'c, D: RandomArithmetic> RandomArguments<'f, 'c, D> {
    fn new(function: &'f EvalFunction<'c>, elements: &'f D, draw: u64) -> Self {
        Self { function, elements, rows: find_table_rows(function), draw }
    }

    fn tensor(&self, position: usize) -> &'f EvalTensor {
        &self.function.values[self.function.body.arguments[position]]
    }

    fn draw_argument(&self, position: usize, places: impl IntoIterator<Item = usize>) -> EvalArray<D::Element> {
        let (elements, argument) = (self.elements, position as u64);
        let rows = self.rows[self.function.body.arguments[position]];
        let range = self.function.ranges.get(position).copied().flatten().filter(|_| rows.is_none());
        let (first, rows) = match range {
            Some([first, end]) => (first, end.abs_diff(first).max(1)),
            None => (0, rows.unwrap_or(DEFAULT_POSITION_END).max(1) as u64),
        };
        let bits = |index: usize| mix_bits(self.draw ^ mix_bits(argument ^ mix_bits(index as u64)));
        let places = places.into_iter();
        match self.tensor(position).element {
            ElementType::I8 | ElementType::I32 | ElementType::I64 | ElementType::Index => {
                EvalArray::positions(places.map(|index| first + (bits(index) % rows).cast_signed()))
            }
            ElementType::Bool => EvalArray::numbers(
                places.map(|index| elements.constant(if bits(index) % 2 == 1 { 1.0 } else { 0.0 })).collect(),
            ),
            ElementType::F16
            | ElementType::Bf16
            | ElementType::F32
            | ElementType::F64
            | ElementType::F8E4M3Fn
            | ElementType::F8E5M2 => {
                EvalArray::numbers(places.map(|index| elements.random_input(argument, index as u64)).collect())
            }
        }
    }
}

/// Returns, for each integer value, the row count of the smallest table that it indexes, if any.
fn find_table_rows(function: &EvalFunction<'_>) -> Vec<Option<usize>> {
    let mut rows = vec![None; function.values.len()];
    propagate_table_rows(&function.body, &function.values, &mut rows);
    rows
}

/// Propagates row counts backwards, from the users of a value to its producers.
fn propagate_table_rows(block: &EvalBlock<'_>, values: &[EvalTensor], rows: &mut [Option<usize>]) {
    let note = |rows: &mut [Option<usize>], id: usize, found: Option<usize>| {
        rows[id] = [rows[id], found].into_iter().flatten().min();
    };
    for op in block.ops.iter().rev() {
        let found = op.outputs.first().and_then(|output| rows[*output]);
        match &op.kind {
            EvalOpKind::Gather { dim } => {
                note(rows, op.inputs[1], Some(values[op.inputs[0]].shape[*dim]));
                note(rows, op.inputs[0], found);
            }
            EvalOpKind::Copy | EvalOpKind::View(_) | EvalOpKind::Pick(_) | EvalOpKind::Insert { .. } => {
                op.inputs.iter().for_each(|input| note(rows, *input, found))
            }
            EvalOpKind::Scope(body) => {
                op.outputs.iter().zip(&body.yields).for_each(|(output, yielded)| note(rows, *yielded, rows[*output]));
                propagate_table_rows(body, values, rows);
            }
            EvalOpKind::Loop(around) => {
                op.outputs
                    .iter()
                    .zip(&around.body.yields)
                    .for_each(|(output, yielded)| note(rows, *yielded, rows[*output]));
                propagate_table_rows(&around.body, values, rows);
                op.inputs
                    .iter()
                    .zip(&around.body.arguments)
                    .for_each(|(input, argument)| note(rows, *input, rows[*argument]));
            }
            EvalOpKind::Constant(_)
            | EvalOpKind::Fill(_)
            | EvalOpKind::Pointwise { .. }
            | EvalOpKind::Reduce { .. }
            | EvalOpKind::Matmul
            | EvalOpKind::Empty => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::EvalOp;

    /// Function that looks up positions in a table of `n_rows` rows, directly and through a copy.
    fn lookup(n_rows: usize) -> EvalFunction<'static> {
        let tensor = |shape: &[usize], element| EvalTensor { shape: shape.to_vec(), element };
        let positions = || tensor(&[100], ElementType::I64);
        let half = |shape: &[usize]| tensor(shape, ElementType::F16);
        let values = vec![half(&[n_rows, 2]), positions(), positions(), half(&[100, 2])];
        let copy = EvalOp { kind: EvalOpKind::Copy, inputs: vec![1], outputs: vec![2] };
        let gather = EvalOp { kind: EvalOpKind::Gather { dim: 0 }, inputs: vec![0, 2], outputs: vec![3] };
        let body = EvalBlock { arguments: vec![0, 1], ops: vec![copy, gather], yields: vec![3] };
        EvalFunction { name: "f".to_owned(), ranges: Vec::new(), values, body }
    }

    #[test]
    fn draws_positions_within_the_smallest_indexed_table() {
        for n_rows in [1, 3, 70] {
            let [table, EvalArray::Positions(positions)] = &draw_arguments(&lookup(n_rows), 0)[..] else {
                panic!("two arguments")
            };
            assert_eq!(table.length(), n_rows * 2);
            let largest = positions.iter().flatten().max().copied();
            assert!(largest < i64::try_from(n_rows).ok() && positions.iter().flatten().all(|position| *position >= 0));
            assert!(n_rows == 1 || largest > Some(0));
        }
    }

    #[test]
    fn repeats_equal_draws_and_varies_different_ones() {
        let of = |draw| draw_arguments(&lookup(3), draw);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
