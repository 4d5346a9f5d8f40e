//! Random arguments for a function: elements of a finite field, and positions for table lookups.

use crate::interpret::{Array, Block, Function, Kind, Selection, Tensor};
use element::{Draw, Field, FieldElement, stirred};
use machine::ElementType;

/// Exclusive upper bound of positions that index no table.
const SMALL: usize = 16;

/// Returns the arguments of a function in a draw.
#[must_use]
pub fn arguments(function: &Function<'_>, draw: u64) -> Vec<Array<FieldElement>> {
    arguments_of(function, &Field::new(draw), draw)
}

/// Returns the arguments of a function, with the elements of a draw.
pub(super) fn arguments_of<D: Draw>(function: &Function<'_>, elements: &D, draw: u64) -> Vec<Array<D::Element>> {
    let drawn = Drawn::of(function, elements, draw);
    (0..function.body.arguments.len()).map(|position| drawn.argument(position, 0..drawn.tensor(position).length())).collect()
}

/// Returns the selected elements of each argument.
pub(super) fn arguments_at<D: Draw>(function: &Function<'_>, selections: &[Selection], elements: &D, draw: u64) -> Vec<Array<D::Element>> {
    let drawn = Drawn::of(function, elements, draw);
    let of = |(position, selection): (usize, &Selection)| drawn.argument(position, selection.places(&drawn.tensor(position).shape));
    selections.iter().enumerate().map(of).collect()
}

/// Lazily drawn arguments of a function.
struct Drawn<'f, 'c, D> {
    function: &'f Function<'c>,
    elements: &'f D,
    rows: Vec<Option<usize>>,
    draw: u64,
}

impl<'f, 'c, D: Draw> Drawn<'f, 'c, D> {
    fn of(function: &'f Function<'c>, elements: &'f D, draw: u64) -> Self {
        Self { function, elements, rows: rows(function), draw }
    }

    fn tensor(&self, position: usize) -> &'f Tensor {
        &self.function.values[self.function.body.arguments[position]]
    }

    fn argument(&self, position: usize, places: impl IntoIterator<Item = usize>) -> Array<D::Element> {
        let (elements, argument) = (self.elements, position as u64);
        let rows = self.rows[self.function.body.arguments[position]];
        let range = self.function.ranges.get(position).copied().flatten().filter(|_| rows.is_none());
        let (first, rows) = match range {
            Some([first, end]) => (first, end.abs_diff(first).max(1)),
            None => (0, rows.unwrap_or(SMALL).max(1) as u64),
        };
        let bits = |index: usize| stirred(self.draw ^ stirred(argument ^ stirred(index as u64)));
        let places = places.into_iter();
        match self.tensor(position).element {
            ElementType::I8 | ElementType::I32 | ElementType::I64 | ElementType::Index => {
                Array::positions(places.map(|index| first + (bits(index) % rows).cast_signed()))
            }
            ElementType::Truth => {
                Array::numbers(places.map(|index| elements.number(if bits(index) % 2 == 1 { 1.0 } else { 0.0 })).collect())
            }
            ElementType::F16 | ElementType::Bf16 | ElementType::F32 | ElementType::F64 | ElementType::F8E4M3Fn | ElementType::F8E5M2 => {
                Array::numbers(places.map(|index| elements.input(argument, index as u64)).collect())
            }
        }
    }
}

/// Returns, for each integer value, the row count of the smallest table that it indexes, if any.
fn rows(function: &Function<'_>) -> Vec<Option<usize>> {
    let mut rows = vec![None; function.values.len()];
    note_rows(&function.body, &function.values, &mut rows);
    rows
}

/// Propagates row counts backwards, from the readers of a value to its sources.
fn note_rows(block: &Block<'_>, values: &[Tensor], rows: &mut [Option<usize>]) {
    let note = |rows: &mut [Option<usize>], id: usize, found: Option<usize>| {
        rows[id] = [rows[id], found].into_iter().flatten().min();
    };
    for op in block.ops.iter().rev() {
        let found = op.outputs.first().and_then(|output| rows[*output]);
        match &op.kind {
            Kind::Gather { dim } => {
                note(rows, op.inputs[1], Some(values[op.inputs[0]].shape[*dim]));
                note(rows, op.inputs[0], found);
            }
            Kind::Copy | Kind::View(_) | Kind::Pick(_) | Kind::Insert { .. } => {
                op.inputs.iter().for_each(|input| note(rows, *input, found))
            }
            Kind::Scope(body) => {
                op.outputs.iter().zip(&body.yields).for_each(|(output, yielded)| note(rows, *yielded, rows[*output]));
                note_rows(body, values, rows);
            }
            Kind::Loop(around) => {
                op.outputs.iter().zip(&around.body.yields).for_each(|(output, yielded)| note(rows, *yielded, rows[*output]));
                note_rows(&around.body, values, rows);
                op.inputs.iter().zip(&around.body.arguments).for_each(|(input, argument)| note(rows, *input, rows[*argument]));
            }
            Kind::Constant(_) | Kind::Fill(_) | Kind::Pointwise { .. } | Kind::Reduce { .. } | Kind::Matmul | Kind::Empty => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::Operation;

    /// A table of so many rows, positions in it, and the positions through a copy.
    fn lookup(n_rows: usize) -> Function<'static> {
        let tensor = |shape: &[usize], element| Tensor { shape: shape.to_vec(), element };
        let positions = || tensor(&[100], ElementType::I64);
        let half = |shape: &[usize]| tensor(shape, ElementType::F16);
        let values = vec![half(&[n_rows, 2]), positions(), positions(), half(&[100, 2])];
        let copy = Operation { kind: Kind::Copy, inputs: vec![1], outputs: vec![2] };
        let gather = Operation { kind: Kind::Gather { dim: 0 }, inputs: vec![0, 2], outputs: vec![3] };
        let body = Block { arguments: vec![0, 1], ops: vec![copy, gather], yields: vec![3] };
        Function { name: "f".to_owned(), ranges: Vec::new(), values, body }
    }

    #[test]
    fn positions_fill_the_smallest_table_that_they_are_looked_up_in() {
        for n_rows in [1, 3, 70] {
            let [table, Array::Positions(positions)] = &arguments(&lookup(n_rows), 0)[..] else { panic!("two arguments") };
            assert_eq!(table.length(), n_rows * 2);
            let largest = positions.iter().flatten().max().copied();
            assert!(largest < i64::try_from(n_rows).ok() && positions.iter().flatten().all(|position| *position >= 0));
            assert!(n_rows == 1 || largest > Some(0));
        }
    }

    #[test]
    fn draws_differ_and_repeat() {
        let of = |draw| arguments(&lookup(3), draw);
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
    }
}
