//! Scatter positions in PyTorch's form, element by element: detects position columns that count along complete
//! dimensions.

use crate::import::graph::{NodeId, NodeKind, ValueGraph};
use program::affine::AffineExpression;

/// Returns column `column` of positions that were concatenated from columns, one number per slice.
pub(in crate::import) fn view_position_column(graph: &mut ValueGraph, places: NodeId, column: i64) -> NodeId {
    if graph.as_scalar(places).is_some() {
        return places;
    }
    let shape = graph.node(places).shape.clone();
    if let NodeKind::Insert(offsets) = graph.node(places).kind.clone() {
        let (part, whole) = (graph.node(places).inputs[0], graph.node(places).inputs[1]);
        let of_part = graph.node(part).shape.clone();
        let is_in_part = (offsets[1]..offsets[1] + of_part[1]).contains(&column);
        if !is_in_part {
            return view_position_column(graph, whole, column);
        }
        if of_part[0] == shape[0] {
            return view_position_column(graph, part, column - offsets[1]);
        }
    }
    if graph.node(places).kind == NodeKind::Splat {
        return graph.node(places).inputs[0];
    }
    graph.view(places, vec![AffineExpression::Dim(0), AffineExpression::Constant(column)], &shape[..1])
}

/// Slices whose positions are partly constant and count along a whole dimension. If the runtime positions are the same
/// along it, slices that differ only there are merged into one slice with that dimension, as PyTorch writes a row to a
/// cache. Otherwise each index has slices of its own, as in `x.scatter(1, i, v)`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::import) struct ScatterGrid {
    /// Dimensions of the target that slices cover completely, with the digit of the slice number along them.
    whole: Vec<(usize, MixedRadixTerm)>,
    /// Dimensions along which slices are separate.
    apart: Vec<(usize, MixedRadixTerm)>,
    /// Remaining digits of the slice number, outermost first: divisor and size.
    rest: Vec<(i64, i64)>,
    /// Dimensions that runtime integers index.
    chosen: Vec<usize>,
    rank: usize,
}

impl ScatterGrid {
    /// Returns the grid of `num_slices` slices with these positions, one column for each of `dims`.
    pub(in crate::import) fn from_columns(
        graph: &ValueGraph,
        columns: &[NodeId],
        dims: &[usize],
        shape: &[i64],
        num_parts: i64,
    ) -> Self {
        let plain = Self {
            whole: Vec::new(),
            apart: Vec::new(),
            rest: vec![(1, num_parts)],
            chosen: dims.to_vec(),
            rank: shape.len(),
        };
        let whole_digit = |(&column, &dim): (&NodeId, &usize)| {
            let numbers: Vec<i64> = graph.as_constant(column)?.broadcast_scalar(&[num_parts]).integers().collect();
            // All slices are at the only possible position.
            if shape[dim] == 1 && numbers.iter().all(|&number| number == 0) {
                return Some((dim, MixedRadixTerm { divisor: 1, size: 1, step: 1 }));
            }
            let found = find_mixed_radix_term(&numbers)
                .filter(|digit| digit.step == 1 && digit.size == shape[dim] && numbers.first() == Some(&0))?;
            Some((dim, found))
        };
        let counted: Vec<(usize, MixedRadixTerm)> = columns.iter().zip(dims).filter_map(whole_digit).collect();
        let Some(rest) =
            find_remaining_terms(&counted, num_parts).filter(|_| !counted.is_empty() && counted.len() < dims.len())
        else {
            return plain;
        };
        let chosen: Vec<usize> =
            dims.iter().copied().filter(|dim| counted.iter().all(|(other, _)| other != dim)).collect();
        let of_run_time = columns.iter().zip(dims).filter(|(_, dim)| chosen.contains(dim));
        let places: Vec<Option<Vec<i64>>> =
            of_run_time.map(|(&column, _)| trace_source_positions(graph, column)).collect();
        let stands_still = |digit: &MixedRadixTerm| {
            places.iter().all(|at| at.as_ref().is_some_and(|at| digit.keeps_positions(at, num_parts)))
        };
        let (whole, apart) = counted.into_iter().partition(|(_, digit)| stands_still(digit));
        Self { whole, apart, rest, chosen, rank: shape.len() }
    }

    /// Returns the dimensions along which slices are separate.
    pub(in crate::import) fn batch_dims(&self) -> Vec<usize> {
        self.apart.iter().map(|&(dim, _)| dim).collect()
    }

    /// Returns the dimensions that runtime integers index.
    pub(in crate::import) fn indexed_dims(&self) -> &[usize] {
        &self.chosen
    }

    /// Returns the number of slices for each index along the batch.
    pub(in crate::import) fn num_slices(&self) -> i64 {
        self.rest.iter().map(|(_, size)| size).product()
    }

    /// Returns the sizes of the batch and the number of slices.
    pub(in crate::import) fn position_sizes(&self, shape: &[i64]) -> Vec<i64> {
        self.apart.iter().map(|&(dim, _)| shape[dim]).chain([self.num_slices()]).collect()
    }

    /// Returns the dimensions of the target that slices have.
    fn slice_dims(&self) -> Vec<usize> {
        (0..self.rank)
            .filter(|dim| !self.chosen.contains(dim) && self.apart.iter().all(|(other, _)| other != dim))
            .collect()
    }

    /// Returns the sizes of the slices: the batch, their number, and the dimensions of the target that they have.
    pub(in crate::import) fn slice_sizes(&self, shape: &[i64]) -> Vec<i64> {
        self.position_sizes(shape).into_iter().chain(self.slice_dims().into_iter().map(|dim| shape[dim])).collect()
    }

    /// Returns the number of the first original slice that a merged slice consists of, in terms of the indices along
    /// the batch and its number.
    pub(in crate::import) fn first_slice_index(&self) -> AffineExpression {
        let (num_parts, own) = (self.num_slices(), self.apart.len());
        let mut below = num_parts;
        let mut place = AffineExpression::Constant(0);
        for (position, (_, digit)) in self.apart.iter().enumerate().filter(|(_, (_, digit))| digit.size > 1) {
            place = place.plus(AffineExpression::Dim(position).times(digit.divisor));
        }
        for &(divisor, size) in &self.rest {
            let above = below;
            below /= size;
            let mut digit = AffineExpression::Dim(own);
            if below > 1 {
                digit = AffineExpression::FloorDiv(Box::new(digit), Box::new(AffineExpression::Constant(below)));
            }
            if above < num_parts {
                digit = AffineExpression::Mod(Box::new(digit), Box::new(AffineExpression::Constant(size)));
            }
            place = place.plus(digit.times(divisor));
        }
        place
    }

    /// Returns the index map from an element of a merged slice to the original slices, which have a number and the
    /// dimensions without a position.
    pub(in crate::import) fn slice_map(&self) -> Vec<AffineExpression> {
        let (mut number, mut map) = (self.first_slice_index(), Vec::new());
        for (position, dim) in (self.apart.len() + 1..).zip(self.slice_dims()) {
            match self.whole.iter().find(|(whole, _)| *whole == dim) {
                Some((_, digit)) if digit.size > 1 => {
                    number = number.plus(AffineExpression::Dim(position).times(digit.divisor))
                }
                Some(_) => {}
                None => map.push(AffineExpression::Dim(position)),
            }
        }
        [vec![number], map].concat()
    }
}

/// Mixed-radix term of counting numbers: the number at position `p` is the first one plus `step` times
/// `(p / divisor) % size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct MixedRadixTerm {
    divisor: i64,
    size: i64,
    step: i64,
}

impl MixedRadixTerm {
    /// Returns whether the numbers of slices that differ in this digit alone are the same.
    fn keeps_positions(&self, numbers: &[i64], num_parts: i64) -> bool {
        let at = |part: i64| usize::try_from(part).ok().and_then(|part| numbers.get(part));
        (0..num_parts)
            .all(|part| at(part).is_some() && at(part) == at(part - part / self.divisor % self.size * self.divisor))
    }
}

/// Returns the digit that numbers count. Returns None if they do not count, or only downwards.
fn find_mixed_radix_term(numbers: &[i64]) -> Option<MixedRadixTerm> {
    let (&first, num_numbers) = (numbers.first()?, i64::try_from(numbers.len()).ok()?);
    let divisor = i64::try_from(numbers.iter().position(|&number| number != first)?).ok()?;
    let at = |position: i64| usize::try_from(position).ok().and_then(|position| numbers.get(position)).copied();
    let step = at(divisor)? - first;
    // Number of increasing steps.
    let grows = |count: i64| at(count * divisor) == Some(first + count * step);
    let size = (1..=num_numbers).find(|&count| !grows(count))?;
    let is_digit =
        (0_i64..).zip(numbers).all(|(position, &number)| number == first + step * (position / divisor % size));
    (step > 0 && is_digit).then_some(MixedRadixTerm { divisor, size, step })
}

/// Returns the mixed-radix terms of the numbers below `num_slices` that are not among `digits`, outermost first:
/// divisor and size. Returns None if `digits` are not terms of one number.
fn find_remaining_terms(digits: &[(usize, MixedRadixTerm)], num_parts: i64) -> Option<Vec<(i64, i64)>> {
    let mut known: Vec<(i64, i64)> =
        digits.iter().filter(|(_, digit)| digit.size > 1).map(|(_, digit)| (digit.divisor, digit.size)).collect();
    known.sort_unstable();
    let (mut below, mut rest) = (1, Vec::new());
    for (divisor, size) in known.into_iter().chain([(num_parts, 1)]) {
        if divisor % below != 0 {
            return None;
        }
        rest.extend((divisor > below).then_some((below, divisor / below)));
        below = divisor * size;
    }
    rest.reverse();
    (below == num_parts).then_some(rest)
}

/// Returns, for each element of a node, the position of the element in the tensor that its views read; for a scalar,
/// the first position for all.
fn trace_source_positions(graph: &ValueGraph, node: NodeId) -> Option<Vec<i64>> {
    let num_elements = usize::try_from(graph.node(node).shape.iter().product::<i64>()).ok()?;
    let (mut positions, mut node): (Vec<i64>, NodeId) = ((0_i64..).take(num_elements).collect(), node);
    loop {
        let of = graph.node(node);
        let Some(&input) = of.inputs.first() else { return Some(positions) };
        let from = &graph.node(input).shape;
        match &of.kind {
            NodeKind::Reshape => {}
            NodeKind::View(map) => {
                for position in &mut positions {
                    let (mut point, mut flat) = (vec![0; of.shape.len()], *position);
                    for dim in (0..of.shape.len()).rev() {
                        (point[dim], flat) = (flat % of.shape[dim], flat / of.shape[dim]);
                    }
                    *position = map.iter().zip(from).fold(0, |flat, (expr, size)| flat * size + expr.evaluate(&point));
                }
            }
            _ => return Some(positions),
        }
        node = input;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::{NodeElementType, constant_tensor::ConstantTensor};

    #[test]
    fn finds_periodic_term() {
        let digit =
            |numbers: &[i64]| find_mixed_radix_term(numbers).map(|found| [found.divisor, found.size, found.step]);
        assert_eq!(digit(&[0, 1, 2, 3]), Some([1, 4, 1]));
        assert_eq!(digit(&[0, 0, 1, 1, 2, 2]), Some([2, 3, 1]));
        assert_eq!(digit(&[5, 7, 5, 7]), Some([1, 2, 2]));
        assert_eq!(digit(&[0, 0, 1, 1, 0, 0, 1, 1]), Some([2, 2, 1]));
        assert_eq!(digit(&[0, 1, 0, 1, 0]), Some([1, 2, 1]));
        assert_eq!([digit(&[0, 1, 3]), digit(&[3, 2, 1]), digit(&[0, 0, 1, 2]), digit(&[4])], [None; 4]);
    }

    #[test]
    fn merges_slices_along_counting_dim() {
        let mut graph = ValueGraph::default();
        // 128 elements [2, 64] of a cache [2, 32, 64], all at one row.
        let position = graph.add_tensor(0, vec![1], NodeElementType::Int);
        let position = graph.view(position, vec![AffineExpression::Constant(0)], &[128]);
        let counted = |count: fn(i64) -> i64| {
            ConstantTensor::from_numbers(
                &(0..128).map(|part| f64::from(i32::try_from(count(part)).unwrap())).collect::<Vec<_>>(),
            )
        };
        let (outer, inner) = (counted(|part| part / 64), counted(|part| part % 64));
        let [outer, inner] = [outer, inner].map(|known| graph.add_constant(known, vec![128], NodeElementType::Int));
        let grid = ScatterGrid::from_columns(&graph, &[outer, position, inner], &[0, 1, 2], &[2, 32, 64], 128);
        assert_eq!((grid.batch_dims(), grid.indexed_dims()), (vec![], [1].as_slice()));
        assert_eq!(grid.slice_sizes(&[2, 32, 64]), [1, 2, 64]);
        let at = |point: &[i64]| grid.slice_map().iter().map(|expr| expr.evaluate(point)).collect::<Vec<_>>();
        assert_eq!((at(&[0, 1, 5]), at(&[0, 0, 63])), (vec![69], vec![63]));

        // Each element has a row of its own: one of those of its column and batch.
        let rows = graph.add_tensor(1, vec![128], NodeElementType::Int);
        let grid = ScatterGrid::from_columns(&graph, &[outer, rows, inner], &[0, 1, 2], &[2, 32, 64], 128);
        assert_eq!((grid.batch_dims(), grid.slice_sizes(&[2, 32, 64])), (vec![0, 2], vec![2, 64, 1]));
        assert_eq!(grid.first_slice_index().evaluate(&[1, 5, 0]), 69);
        // Each row of 64 has one.
        let rows = graph.add_tensor(2, vec![2], NodeElementType::Int);
        let rows = graph.view(
            rows,
            vec![AffineExpression::FloorDiv(
                Box::new(AffineExpression::Dim(0)),
                Box::new(AffineExpression::Constant(64)),
            )],
            &[128],
        );
        let grid = ScatterGrid::from_columns(&graph, &[outer, rows, inner], &[0, 1, 2], &[2, 32, 64], 128);
        assert_eq!((grid.batch_dims(), grid.slice_sizes(&[2, 32, 64])), (vec![0], vec![2, 1, 64]));
        let at = |point: &[i64]| grid.slice_map().iter().map(|expr| expr.evaluate(point)).collect::<Vec<_>>();
        assert_eq!((at(&[1, 0, 5]), at(&[0, 0, 63])), (vec![69], vec![63]));
    }
}
