//! Transposes of more dimensions than an op iterates over, as a chain of transposes with copies between them.
//!
//! A dimension is a digit of an index: a reshape, a transpose and a reshape are one view. The copies have two
//! dimensions, all outer ones and the last one, so that the next transpose can group the dimensions in another way.

use crate::import::graph::{NodeId, NodeKind, ValueGraph, ValueNode};
use program::{
    affine::AffineExpression,
    layout::{IndexDigit, TensorIndex},
};
use std::{collections::BTreeSet, ops::Range};

/// Maximum number of dimensions of a tensor in a device layout.
pub(super) const MAX_LAYOUT_DIMS: usize = 6;
/// Maximum number of dimensions of an iteration space: an op that merges and splits dimensions iterates over each of
/// them.
pub(super) const MAX_ITERATION_DIMS: usize = 7;

/// Lowers a view that permutes more dimensions than one op iterates over to a chain of transposes, with copies between
/// them. A view of a view is one transpose for an op, so the inner one is copied if both together have too many. Returns
/// None for other views.
pub(super) fn lower_long_transpose(
    graph: &mut ValueGraph,
    input: NodeId,
    map: &[AffineExpression],
    shape: &[i64],
) -> Option<NodeId> {
    let from = graph.node(input).shape.clone();
    let found = DigitTranspose::from_view(map, &from, shape)?;
    if found.num_runs() > MAX_ITERATION_DIMS {
        return transpose_in_steps(graph, input, map, shape);
    }
    let through = found.read_through(&read_through_views(graph, input))?;
    if count_runs(&through) <= MAX_ITERATION_DIMS {
        return None;
    }
    let inner = strip_reshapes(graph, input);
    let copy = copy_flat(graph, inner);
    let source = graph.reshape(copy, &from);
    let element = graph.node(input).element;
    Some(graph.add(NodeKind::View(map.to_vec()), &[source], shape.to_vec(), element))
}

/// Lowers a view that permutes dimensions as [`lower_long_transpose`] does, however few they are.
pub(super) fn transpose_in_steps(
    graph: &mut ValueGraph,
    input: NodeId,
    map: &[AffineExpression],
    shape: &[i64],
) -> Option<NodeId> {
    let moved = DigitTranspose::from_view(map, &graph.node(input).shape, shape)?.build_in_steps(graph, input)?;
    Some(graph.reshape(moved, shape))
}

/// Returns whether a node is a view that moves more dimensions than one op iterates over, alone or together with the
/// views that it reads.
pub(super) fn moves_too_many_dims(graph: &ValueGraph, id: NodeId) -> bool {
    matches!(graph.node(id).kind, NodeKind::View(_)) && count_runs(&read_through_views(graph, id)) > MAX_ITERATION_DIMS
}

/// Digit of the index into a row-major tensor, in the order of a view of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ViewedDigit {
    size: i64,
    /// Number of elements of the tensor from one value of the digit to the next.
    stride: i64,
}

/// Returns the digits of a node's elements in the tensor at the root of the transposes and reshapes that it views.
fn read_through_views(graph: &ValueGraph, id: NodeId) -> Vec<ViewedDigit> {
    let ValueNode { kind, inputs, shape, .. } = graph.node(id);
    let root = || vec![ViewedDigit { size: shape.iter().product(), stride: 1 }];
    match kind {
        NodeKind::Reshape if strip_reshapes(graph, id) != id => read_through_views(graph, inputs[0]),
        NodeKind::View(map) => DigitTranspose::from_view(map, &graph.node(inputs[0]).shape, shape)
            .and_then(|found| found.read_through(&read_through_views(graph, inputs[0])))
            .unwrap_or_else(root),
        _ => root(),
    }
}

/// Returns the number of digits, where neighbors that are neighbors in the tensor count as one.
fn count_runs(digits: &[ViewedDigit]) -> usize {
    let breaks = digits.windows(2).filter(|pair| pair[0].stride != pair[1].stride * pair[1].size);
    breaks.count() + usize::from(!digits.is_empty())
}

/// View that permutes the digits of its operand's indices, each once.
struct DigitTranspose {
    /// Sizes of the digits, in the order of the operand.
    sizes: Vec<i64>,
    /// Positions of the digits in the operand, in the order of the view.
    wanted: Vec<usize>,
}

impl DigitTranspose {
    /// Returns None for views of other kinds. `map` has an index for each dimension of the operand, of shape `from`.
    fn from_view(map: &[AffineExpression], from: &[i64], shape: &[i64]) -> Option<Self> {
        let mut digits: Vec<IndexDigit> = Vec::new();
        for (expr, &size) in map.iter().zip(from) {
            let index = TensorIndex::from_expr(expr, shape).ok().filter(|index| index.offset == 0)?;
            let outer = index.digits.iter().try_fold(size, |rest, digit| {
                let inner = rest / digit.size;
                (inner * digit.size == rest && inner == digit.factor).then_some(inner)
            })?;
            (outer == 1).then_some(())?;
            digits.extend(index.digits);
        }
        let mut wanted: Vec<usize> = (0..digits.len()).collect();
        wanted.sort_by_key(|&position| (digits[position].dim, std::cmp::Reverse(digits[position].divisor)));
        for (dim, &size) in shape.iter().enumerate() {
            let own = wanted.iter().map(|&position| digits[position]).filter(|digit| digit.dim == dim);
            let inner = own.into_iter().try_fold(size, |rest, digit| {
                let inner = rest / digit.size;
                (inner * digit.size == rest && inner == digit.divisor).then_some(inner)
            })?;
            (inner == 1).then_some(())?;
        }
        Some(Self { sizes: digits.into_iter().map(|digit| digit.size).collect(), wanted })
    }

    /// Returns the digits of the view in the tensor of which the operand has the digits `inner`. Returns None if digits
    /// of both begin inside each other.
    fn read_through(&self, inner: &[ViewedDigit]) -> Option<Vec<ViewedDigit>> {
        let mut through = Vec::new();
        for &position in &self.wanted {
            let mut rest = self.sizes[position];
            let innermost: i64 = self.sizes[position + 1..].iter().product();
            // The digit covers one or several digits of the operand, outermost first.
            let mut outer = inner.iter().map(|digit| digit.size).product::<i64>();
            for digit in inner {
                let own = outer / digit.size;
                let (end, start) = (outer.min(innermost * self.sizes[position]), own.max(innermost));
                outer = own;
                if end <= start {
                    continue;
                }
                let size = end / start;
                (end % start == 0 && start % own == 0 && rest % size == 0).then_some(())?;
                rest /= size;
                through.push(ViewedDigit { size, stride: digit.stride * (start / own) });
            }
            (rest == 1).then_some(())?;
        }
        Some(through)
    }

    fn order(&self) -> Vec<usize> {
        (0..self.sizes.len()).collect()
    }

    /// Returns the number of dimensions that an op needs for the view.
    fn num_runs(&self) -> usize {
        find_runs(&self.order(), &self.wanted, &[]).len()
    }

    /// Builds a chain of transposes. Each moves as many digits as it can to their place, outermost first.
    fn build_in_steps(&self, graph: &mut ValueGraph, input: NodeId) -> Option<NodeId> {
        let (mut node, mut order) = (graph.reshape(input, &self.sizes), self.order());
        while order != self.wanted {
            let steps =
                (1..=self.wanted.len()).rev().map(|num_placed| TransposeStep::new(&order, &self.wanted[..num_placed]));
            let step = steps.into_iter().find(|step| step.is_possible() && step.order != order)?;
            node = step.build(graph, node, &order, &self.sizes);
            order = step.order;
        }
        Some(node)
    }
}

/// Returns the ranges of positions in `order` that stay together in `next`, in the order of `next`. The dimensions
/// `alone` are ranges of their own.
fn find_runs(order: &[usize], next: &[usize], alone: &[usize]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for dim in next {
        let position = order.iter().position(|other| other == dim).unwrap_or_default();
        let joins = |run: &&mut Range<usize>| {
            run.end == position && !alone.contains(dim) && !alone.contains(&order[run.end - 1])
        };
        match runs.last_mut().filter(joins) {
            Some(run) => run.end += 1,
            None => runs.push(position..position + 1),
        }
    }
    runs
}

/// Transpose that one op can compute, from and to a tensor of two dimensions: all outer ones, and the last one.
struct TransposeStep {
    /// Dimensions of the result.
    order: Vec<usize>,
    /// Ranges of positions in the operand that stay together, in the order of the result.
    runs: Vec<Range<usize>>,
    /// Whether the last dimension stays the last one.
    keeps_last: bool,
}

impl TransposeStep {
    /// Creates the step that moves the dimensions `placed` to the front.
    fn new(order: &[usize], placed: &[usize]) -> Self {
        let next: Vec<usize> = placed.iter().chain(order.iter().filter(|dim| !placed.contains(dim))).copied().collect();
        let lasts: Vec<usize> = [order.last(), next.last()].into_iter().flatten().copied().collect();
        let runs = find_runs(order, &next, &lasts);
        let keeps_last = order.last() == next.last();
        Self { order: next, runs, keeps_last }
    }

    /// Returns whether the op has few enough dimensions; one that changes the last dimension needs one more.
    fn is_possible(&self) -> bool {
        self.runs.len() + usize::from(!self.keeps_last) <= MAX_LAYOUT_DIMS
    }

    /// Builds the step from a tensor whose dimensions larger than 1 are `order`; `sizes` has all of them.
    fn build(&self, graph: &mut ValueGraph, input: NodeId, order: &[usize], sizes: &[i64]) -> NodeId {
        let size_of = |dims: &[usize]| dims.iter().map(|&dim| sizes[dim]).product::<i64>();
        let to: Vec<i64> = self.runs.iter().map(|run| size_of(&order[run.clone()])).collect();
        let (outer, inner) = to.split_at(to.len() - 1);
        let index_of_run = |run: usize| match outer.get(run) {
            Some(_) => extract_digit(AffineExpression::Dim(0), outer, run),
            None => AffineExpression::Dim(1),
        };
        let mut from: Vec<usize> = (0..self.runs.len()).collect();
        from.sort_by_key(|&run| self.runs[run].start);
        let indices: Vec<AffineExpression> = from.iter().map(|&run| AffineExpression::Dim(run)).collect();
        let from_sizes: Vec<i64> = from.iter().map(|&run| to[run]).collect();
        let (outer_indices, last_index) = indices.split_at(indices.len() - 1);
        let map = vec![
            linearize_index(outer_indices, &from_sizes[..outer_indices.len()], &index_of_run),
            last_index[0].with_dims(&index_of_run),
        ];
        let element = graph.node(input).element;
        let flat = |sizes: &[i64]| vec![sizes[..sizes.len() - 1].iter().product(), sizes[sizes.len() - 1]];
        let source = graph.reshape(input, &flat(&from_sizes));
        let source = limit_separate_dims(graph, source, &mut collect_inner_sizes(&from_sizes));
        let shape = vec![outer.iter().product(), inner[0]];
        let moved = graph.add(NodeKind::View(map), &[source], shape.clone(), element);
        graph.add(NodeKind::Copy, &[moved], shape, element)
    }
}

/// Returns an operand of an op, or a copy of it in fewer dimensions, if the op would iterate over too many. `separate`
/// has the inner sizes of the op's dimensions so far; those in which the operand is stored or moved are added to it.
pub(super) fn limit_separate_dims(graph: &mut ValueGraph, input: NodeId, separate: &mut BTreeSet<i64>) -> NodeId {
    let shape = graph.node(input).shape.clone();
    let stored = strip_reshapes(graph, input);
    let with_operand: BTreeSet<i64> = separate.union(&collect_stored_sizes(graph, stored)).copied().collect();
    if with_operand.len() <= MAX_ITERATION_DIMS {
        *separate = with_operand;
        return input;
    }
    let ValueNode { kind, inputs, shape: stored_shape, element } = graph.node(stored).clone();
    let source = match kind {
        NodeKind::View(_) if collect_stored_sizes(graph, stored).len() > MAX_ITERATION_DIMS => {
            let source = copy_flat(graph, inputs[0]);
            graph.add(kind, &[source], stored_shape, element)
        }
        _ => stored,
    };
    let copy = copy_flat(graph, source);
    graph.reshape(copy, &shape)
}

/// Copies a node to a buffer of two dimensions, all outer ones and the last one; returns the copy in the node's shape.
pub(super) fn copy_flat(graph: &mut ValueGraph, input: NodeId) -> NodeId {
    let ValueNode { shape, element, .. } = graph.node(input).clone();
    let last = shape.iter().rev().copied().find(|&size| size > 1).unwrap_or(1);
    let flat = vec![shape.iter().product::<i64>() / last, last];
    let source = graph.reshape(input, &flat);
    let copy = graph.add(NodeKind::Copy, &[source], flat, element);
    graph.reshape(copy, &shape)
}

/// Returns the node at the root of reshapes.
fn strip_reshapes(graph: &ValueGraph, mut id: NodeId) -> NodeId {
    while graph.node(id).kind == NodeKind::Reshape
        && graph.node(graph.node(id).inputs[0]).element == graph.node(id).element
    {
        id = graph.node(id).inputs[0];
    }
    id
}

/// Returns, for each dimension of a row-major tensor that is larger than 1, its size times that of all inner ones.
pub(super) fn collect_inner_sizes(shape: &[i64]) -> BTreeSet<i64> {
    let sizes = shape.iter().rev().scan(1, |inner, &size| {
        *inner *= size;
        Some(*inner)
    });
    sizes.filter(|&inner| inner > 1).collect()
}

/// Returns the inner sizes of the dimensions that an op needs to read a node as a row-major tensor: for a view that
/// permutes dimensions, those that it moves, and those in which its operand is stored.
fn collect_stored_sizes(graph: &ValueGraph, id: NodeId) -> BTreeSet<i64> {
    let ValueNode { kind, inputs, shape, .. } = graph.node(id);
    let NodeKind::View(map) = kind else { return collect_inner_sizes(shape) };
    let Some(found) = DigitTranspose::from_view(map, &graph.node(inputs[0]).shape, shape) else {
        return collect_inner_sizes(shape);
    };
    let stored = collect_inner_sizes(&graph.node(strip_reshapes(graph, inputs[0])).shape);
    let mut inner_sizes = BTreeSet::new();
    let mut inner = 1;
    for run in find_runs(&found.order(), &found.wanted, &[]).iter().rev() {
        let (size, inner_stored): (i64, i64) =
            (found.sizes[run.clone()].iter().product(), found.sizes[run.end..].iter().product());
        let within = stored.iter().map(|&stored| stored / inner_stored).filter(|&part| part > 1 && part < size);
        inner_sizes.extend(within.map(|part| inner * part));
        inner *= size;
        inner_sizes.insert(inner);
    }
    inner_sizes
}

/// Returns digit `position` of a number whose digits have these sizes.
pub(super) fn extract_digit(number: AffineExpression, sizes: &[i64], position: usize) -> AffineExpression {
    if sizes[position] == 1 {
        return AffineExpression::Constant(0);
    }
    let inner: i64 = sizes[position + 1..].iter().product();
    let shifted = if inner == 1 {
        number
    } else {
        AffineExpression::FloorDiv(Box::new(number), Box::new(AffineExpression::Constant(inner)))
    };
    let is_first = sizes[..position].iter().all(|&size| size == 1);
    if is_first {
        shifted
    } else {
        AffineExpression::Mod(Box::new(shifted), Box::new(AffineExpression::Constant(sizes[position])))
    }
}

/// Returns the number whose digits, of these sizes, are expressions.
pub(super) fn linearize_index(
    map: &[AffineExpression],
    sizes: &[i64],
    dim_of: &impl Fn(usize) -> AffineExpression,
) -> AffineExpression {
    let (mut stride, mut sum) = (1, AffineExpression::Constant(0));
    for (expr, &size) in map.iter().zip(sizes).rev().filter(|(_, size)| **size > 1) {
        sum = expr.with_dims(dim_of).times(stride).plus(sum);
        stride *= size;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::graph::NodeElementType;

    #[test]
    fn transposes_any_dims_one_by_one() {
        let wanted = [7, 0, 5, 2, 8, 1, 6, 3, 4];
        let mut order: Vec<usize> = (0..9).collect();
        for num_placed in 1..=9 {
            let step = TransposeStep::new(&order, &wanted[..num_placed]);
            assert!(step.is_possible(), "{order:?} to {:?}", step.order);
            order = step.order;
        }
        assert_eq!(order, wanted);
    }

    #[test]
    fn transposes_digits_of_few_dims_in_steps() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![256, 8], NodeElementType::F16);
        // The 8 binary digits of the rows in the order 0 4 1 5 2 6 3 7.
        let digit = |position| extract_digit(AffineExpression::Dim(0), &[2; 8], position);
        let places = [0, 2, 4, 6, 1, 3, 5, 7];
        let row = places.iter().fold(AffineExpression::Constant(0), |row, &place| row.times(2).plus(digit(place)));
        let turned = graph.view(x, vec![row, AffineExpression::Dim(1)], &[256, 8]);
        assert!(moves_too_many_dims(&graph, turned));
        let node = graph.node(turned).clone();
        let NodeKind::View(map) = &node.kind else { panic!("a view") };
        let lowered = lower_long_transpose(&mut graph, node.inputs[0], map, &node.shape).unwrap();
        assert_eq!((&graph.node(lowered).kind, graph.node(lowered).shape.as_slice()), (&NodeKind::Copy, &[256, 8][..]));
        let views = graph.collect_required(&[lowered], |_| false);
        assert!(views.iter().all(|&id| !moves_too_many_dims(&graph, id)));
    }

    #[test]
    fn reads_views_of_views_as_one_transpose() {
        let mut graph = ValueGraph::default();
        let turn = |graph: &mut ValueGraph, input: NodeId, shape: [i64; 3]| {
            let map = [1, 0, 2].map(AffineExpression::Dim).to_vec();
            let split = graph.reshape(input, &[shape[1], shape[0], shape[2]]);
            graph.add(NodeKind::View(map), &[split], shape.to_vec(), NodeElementType::F16)
        };
        let x = graph.add_tensor(0, vec![30, 7], NodeElementType::F16);
        let once = turn(&mut graph, x, [6, 5, 7]);
        let digit = |size, stride| ViewedDigit { size, stride };
        assert_eq!(read_through_views(&graph, once), [digit(6, 7), digit(5, 42), digit(7, 1)]);
        let twice = turn(&mut graph, once, [15, 2, 7]);
        assert_eq!(read_through_views(&graph, twice), [digit(3, 7), digit(5, 42), digit(2, 21), digit(7, 1)],);
        assert_eq!(count_runs(&read_through_views(&graph, twice)), 3, "digits of 5 and 2 are neighbors in the tensor");
    }

    #[test]
    fn counts_dims_that_begin_at_different_elements() {
        let count = |one: &[i64], other: &[i64]| collect_inner_sizes(one).union(&collect_inner_sizes(other)).count();
        assert_eq!(count(&[6, 5, 4], &[30, 4]), 3);
        assert_eq!(count(&[6, 20], &[2, 15, 4]), 4);
        assert_eq!(count(&[1, 120, 1], &[120]), 1);
    }

    #[test]
    fn counts_dims_in_which_the_operand_of_a_view_is_stored() {
        let mut graph = ValueGraph::default();
        let x = graph.add_tensor(0, vec![2, 3, 5, 7], NodeElementType::F16);
        let flat = graph.reshape(x, &[6, 35]);
        let turned = graph.view(flat, vec![AffineExpression::Dim(1), AffineExpression::Dim(0)], &[35, 6]);
        assert_eq!(collect_stored_sizes(&graph, turned), BTreeSet::from([3, 6, 42, 210]));
    }
}
