//! Sorted rows, or the first elements of sorted rows.
//!
//! The device cannot move elements by their values. So the rank of an element, the number of elements before it, is counted by all pairwise
//! comparisons, and a result element is the sum over the row of the single element with its rank. If only the first few elements of long rows
//! are requested, they are found one by one, each as the extremum of the remaining ones.
//!
//! The order is stable. A NaN counts as an infinity, the largest of all.

use crate::import::{
    graph::{Element, Graph, Kind, NodeId, known::Known},
    rules::body::{Body, Combiner, Scalar, comparisons},
};
use program::affine::Expr;
use std::cmp::Ordering;

/// Maximum length of a row: positions up to this one are exact in the 16-bit format, and all pairwise comparisons are stored.
const LONGEST_RANKED: i64 = 1024;
/// Maximum number of elements that are found one by one.
const MOST_ROUNDS: i64 = 64;
/// Maximum length of rows that are always ranked, for any number of requested elements: a round is several ops.
const SHORT: i64 = 64;
/// Cost of a round for one element, as the number of elements that could be compared with a row instead.
const ROUND_COST: i64 = 8;

/// Sort order: the element that comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) enum Order {
    /// The smallest.
    Ascending,
    /// The largest.
    Descending,
}

impl Order {
    /// Returns the comparison that holds where one element comes before another.
    const fn before(self) -> &'static str {
        if matches!(self, Self::Ascending) { "lesserthan" } else { "greaterthan" }
    }

    /// Returns the combiner that yields the first of two elements.
    pub(in crate::import) const fn limit(self) -> Combiner {
        if matches!(self, Self::Ascending) { Combiner::Min } else { Combiner::Max }
    }
}

/// Returns which tensor a body compares two elements of, and the order: from comparisons of the two, combined by conjunction or disjunction.
/// Producers define the position of a NaN; here it is the largest number, and a body with another definition has no order.
pub(in crate::import) fn order_of(body: &Body) -> Option<(usize, Order)> {
    let &[Scalar::Op(last)] = body.yields.as_slice() else { return None };
    let key = body.ops.iter().flat_map(|op| &op.operands).find_map(|operand| match operand {
        // The two elements of each tensor are adjacent arguments.
        Scalar::Accumulator(element) => Some(element / 2),
        _ => None,
    })?;
    let holds = |one: f64, other: f64| {
        comparisons::holds(body, last, |scalar| match scalar {
            Scalar::Accumulator(element) if element / 2 == key => Some([one, other][element % 2]),
            _ => None,
        })
    };
    let order = match (holds(0.0, 1.0)?, holds(1.0, 0.0)?) {
        (true, false) => Order::Ascending,
        (false, true) => Order::Descending,
        _ => return None,
    };
    let is_nan_smallest = match (holds(f64::NAN, 0.0)?, holds(0.0, f64::NAN)?) {
        (true, false) => order == Order::Ascending,
        (false, true) => order == Order::Descending,
        _ => false,
    };
    (!is_nan_smallest).then_some((key, order))
}

/// Rows along a dimension, and the number of first elements that are requested.
#[derive(Clone, Copy)]
pub(in crate::import) struct Rows<'a> {
    /// Shape of all tensors.
    pub(in crate::import) shape: &'a [i64],
    /// The dimension.
    pub(in crate::import) dim: usize,
    /// Number of requested elements of each row.
    pub(in crate::import) n_first: i64,
}

impl Rows<'_> {
    fn length(&self) -> i64 {
        self.shape[self.dim]
    }

    /// Returns the shape with another size along the dimension.
    fn sized(&self, size: i64) -> Vec<i64> {
        let mut shape = self.shape.to_vec();
        shape[self.dim] = size;
        shape
    }

    /// Returns numbers along the dimension.
    fn along(&self, size: i64) -> Vec<i64> {
        let mut shape = vec![1; self.shape.len()];
        shape[self.dim] = size;
        shape
    }
}

/// Tensor that is sorted: numbers, or integers in numeric form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::import) struct Sorted {
    /// The numbers.
    pub(in crate::import) node: NodeId,
    /// Whether they are integers.
    pub(in crate::import) is_integer: bool,
}

/// Returns the first elements of `tensors` along the rows, in the order of the tensor at `key`.
///
/// # Errors
/// Returns the reason why the device cannot compute it.
pub(in crate::import) fn sorted(
    graph: &mut Graph,
    tensors: &[Sorted],
    key: usize,
    rows: Rows<'_>,
    order: Order,
) -> Result<Vec<NodeId>, String> {
    let (length, n_first) = (rows.length(), rows.n_first);
    if length == 1 {
        return Ok(tensors.iter().map(|tensor| tensor.node).collect());
    }
    let by_rounds = length > SHORT && n_first <= MOST_ROUNDS && n_first * ROUND_COST <= length;
    if length > LONGEST_RANKED && !by_rounds {
        return Err(format!(
            "expected rows of at most {LONGEST_RANKED} elements, or uses of at most the first {MOST_ROUNDS} elements of longer rows, found \
             rows of {length} elements, of which {n_first} are used; sort shorter rows, or use fewer elements"
        ));
    }
    // A scalar has no rows.
    let with_rows = |graph: &mut Graph, Sorted { node, is_integer }| Sorted { node: graph.filled_if_number(node, rows.shape), is_integer };
    let tensors = tensors.iter().map(|&tensor| along_rows(graph, tensor, rows)).collect::<Vec<_>>();
    let tensors: Vec<Sorted> = tensors.into_iter().map(|tensor| with_rows(graph, tensor)).collect();
    let keys = graph.filled_if_number(tensors[key].node, rows.shape);
    let keys = if tensors[key].is_integer { keys } else { without_nan(graph, keys) };
    Ok(if by_rounds { in_rounds(graph, keys, &tensors, rows, order) } else { by_rank(graph, keys, &tensors, rows, order) })
}

/// Reduces a constant with equal rows, such as positions, to one row. Broadcasts other constants to the shape of the
/// rows, and returns tensors that are not constants unchanged.
fn along_rows(graph: &mut Graph, tensor: Sorted, rows: Rows<'_>) -> Sorted {
    let Some(known) = graph.known_of(tensor.node).cloned() else { return tensor };
    let (from, element) = (graph.node(tensor.node).shape.clone(), graph.node(tensor.node).element);
    let known = known.broadcast(&from, rows.shape);
    let at = |dim: usize| if dim == rows.dim { Expr::Dim(dim) } else { Expr::Constant(0) };
    let of_row = rows.along(rows.length());
    let row = known.viewed(rows.shape, &(0..rows.shape.len()).map(at).collect::<Vec<_>>(), &of_row);
    let is_same = row.broadcast(&of_row, rows.shape) == known;
    let node = if is_same { graph.known(row, of_row, element) } else { graph.known(known, rows.shape.to_vec(), element) };
    Sorted { node, ..tensor }
}

/// Replaces NaN, which no comparison orders, by infinities.
fn without_nan(graph: &mut Graph, keys: NodeId) -> NodeId {
    let (is_number, infinity) = (graph.pointwise("equal", &[keys, keys], Element::Bool), graph.number(f64::INFINITY));
    let element = graph.node(keys).element;
    graph.pointwise("where3", &[is_number, keys, infinity], element)
}

/// Compares all pairs of elements: the rows lie along the last two dimensions of the comparisons, and the results along the last but one.
fn by_rank(graph: &mut Graph, keys: NodeId, tensors: &[Sorted], rows: Rows<'_>, order: Order) -> Vec<NodeId> {
    let rest = rows.shape.len() - 1;
    let rank = rank(graph, keys, rows, order);
    let element = graph.integers.element();
    let places = graph.known(Known::counting(0, rows.n_first), [vec![1; rest], vec![rows.n_first, 1]].concat(), element);
    let is_there = graph.pointwise("equal", &[rank, places], Element::Bool);
    let results = tensors.iter().map(|&tensor| {
        let node = beside(graph, tensor.node, rows, rest + 1);
        let chosen = only(graph, is_there, Sorted { node, ..tensor }, rest + 1);
        back(graph, chosen, rows)
    });
    results.collect()
}

/// Counts the elements of its row that come before each element.
fn rank(graph: &mut Graph, keys: NodeId, rows: Rows<'_>, order: Order) -> NodeId {
    let (length, rest) = (rows.length(), rows.shape.len() - 1);
    let (others, own) = (beside(graph, keys, rows, rest), beside(graph, keys, rows, rest + 1));
    let before = graph.pointwise(order.before(), &[others, own], Element::Bool);
    let equal = graph.pointwise("equal", &[others, own], Element::Bool);
    let count = Known::counting(0, length);
    let is_earlier = |at: &[f64]| f64::from(u8::from(at[0] < at[1]));
    let earlier = Known::combined(&[(&count, &[length, 1]), (&count, &[1, length])], &[length, length], is_earlier);
    let earlier = graph.known(earlier, [vec![1; rest], vec![length, length]].concat(), Element::Bool);
    let ties = graph.pointwise("mul", &[equal, earlier], Element::Bool);
    let before = graph.pointwise("maximum", &[before, ties], Element::Bool);
    let (shape, element) = (graph.node(before).shape.clone(), graph.integers.element());
    let before = graph.add(Kind::Reshape, &[before], shape, element);
    let rank = graph.reduce("sum", before, rest);
    graph.note_integers(rank);
    rank
}

/// Returns a tensor with its rows along one of two dimensions after all others.
fn beside(graph: &mut Graph, tensor: NodeId, rows: Rows<'_>, place: usize) -> NodeId {
    let sizes = graph.node(tensor).shape.clone();
    let at = |dim: usize| match dim.cmp(&rows.dim) {
        _ if sizes[dim] == 1 => Expr::Constant(0),
        Ordering::Less => Expr::Dim(dim),
        Ordering::Equal => Expr::Dim(place),
        Ordering::Greater => Expr::Dim(dim - 1),
    };
    let mut shape: Vec<i64> = (0..sizes.len()).filter(|&dim| dim != rows.dim).map(|dim| sizes[dim]).chain([1, 1]).collect();
    shape[place] = rows.length();
    graph.view(tensor, (0..sizes.len()).map(at).collect(), &shape)
}

/// Moves the second-to-last dimension of `chosen` to the position of the sorted dimension.
fn back(graph: &mut Graph, chosen: NodeId, rows: Rows<'_>) -> NodeId {
    let rest = rows.shape.len() - 1;
    let at = |place: usize| match place.cmp(&rest) {
        Ordering::Greater => Expr::Constant(0),
        Ordering::Equal => Expr::Dim(rows.dim),
        Ordering::Less if place < rows.dim => Expr::Dim(place),
        Ordering::Less => Expr::Dim(place + 1),
    };
    graph.view(chosen, (0..rest + 2).map(at).collect(), &rows.sized(rows.n_first))
}

/// Returns the single element along `dim` for which `holds` is true. A sum with zeros is exact; integers are the sum of the maximum and the
/// minimum with zeros, so that their range does not grow.
fn only(graph: &mut Graph, holds: NodeId, Sorted { node, is_integer }: Sorted, dim: usize) -> NodeId {
    let (zero, element) = (graph.number(0.0), graph.node(node).element);
    let chosen = graph.pointwise("where3", &[holds, node, zero], element);
    if !is_integer {
        return graph.reduce("sum", chosen, dim);
    }
    graph.note_integers(chosen);
    let largest = graph.reduce("max", chosen, dim);
    if graph.known_of(node).is_some_and(|known| known.numbers().all(|number| number >= 0.0)) {
        return largest;
    }
    let smallest = graph.reduce("min", chosen, dim);
    let found = graph.pointwise("add", &[largest, smallest], element);
    graph.note_chosen_from(found, node);
    found
}

/// Finds elements one by one: the extremum of the remaining ones, its first position, and the elements at that position.
fn in_rounds(graph: &mut Graph, keys: NodeId, tensors: &[Sorted], rows: Rows<'_>, order: Order) -> Vec<NodeId> {
    let key_element = graph.node(keys).element;
    let places = Places::new(graph, key_element, rows);
    let last = graph.number(order.limit().neutral());
    let memory = |graph: &mut Graph, tensor: &Sorted| {
        let element = graph.node(tensor.node).element;
        graph.undefined(rows.sized(rows.n_first), element)
    };
    let mut found: Vec<NodeId> = tensors.iter().map(|tensor| memory(graph, tensor)).collect();
    let mut is_left: Option<NodeId> = None;
    for round in 0..rows.n_first {
        let left = is_left.map_or(keys, |is_left| graph.pointwise("where3", &[is_left, keys, last], key_element));
        let limit = graph.reduce(order.limit().function(), left, rows.dim);
        let is_limit = graph.pointwise("equal", &[left, limit], Element::Bool);
        // Removed elements count as the last in the order, and remaining ones may be equal to them.
        let is_limit = is_left.map_or(is_limit, |is_left| graph.pointwise("mul", &[is_limit, is_left], Element::Bool));
        let [is_there, is_elsewhere] = places.first_of(graph, is_limit);
        let mut offsets = vec![0; rows.shape.len()];
        offsets[rows.dim] = round;
        for (found, &tensor) in found.iter_mut().zip(tensors) {
            let one = only(graph, is_there, tensor, rows.dim);
            *found = graph.insert(one, *found, offsets.clone());
        }
        is_left = Some(is_left.map_or(is_elsewhere, |is_left| graph.pointwise("mul", &[is_left, is_elsewhere], Element::Bool)));
    }
    found
}

/// Positions of the elements of a row: as numbers, or as two digits if the format is not exact for all of them.
struct Places {
    high: Option<NodeId>,
    low: NodeId,
    /// Number greater than all digits.
    beyond: NodeId,
    dim: usize,
}

impl Places {
    fn new(graph: &mut Graph, keys: Element, rows: Rows<'_>) -> Self {
        let (length, element) = (rows.length(), graph.integers.element());
        let is_whole = length <= LONGEST_RANKED || keys == Element::F32 && graph.has_single_precision();
        #[allow(clippy::cast_precision_loss, reason = "a row is far shorter than 2^53")]
        let (base, shape) = (if is_whole { length } else { LONGEST_RANKED } as f64, rows.along(length));
        let count = Known::counting(0, length);
        let mut digit = |of: &dyn Fn(f64) -> f64| {
            let known = Known::combined(&[(&count, &shape)], &shape, |number| of(number[0]));
            graph.known(known, shape.clone(), element)
        };
        let low = digit(&|number| number % base);
        let high = (!is_whole).then(|| digit(&|number| (number / base).floor()));
        Self { high, low, beyond: graph.number(base), dim: rows.dim }
    }

    /// Returns, for the positions where a condition holds, whether each is the first one, and whether it is another one.
    fn first_of(&self, graph: &mut Graph, holds: NodeId) -> [NodeId; 2] {
        let Some(high) = self.high else { return self.first_with(graph, self.low, holds) };
        let [is_high, is_before_or_behind] = self.first_with(graph, high, holds);
        let holds = graph.pointwise("mul", &[holds, is_high], Element::Bool);
        let [is_low, is_beside] = self.first_with(graph, self.low, holds);
        let is_elsewhere = graph.pointwise("maximum", &[is_before_or_behind, is_beside], Element::Bool);
        [graph.pointwise("mul", &[is_high, is_low], Element::Bool), is_elsewhere]
    }

    fn first_with(&self, graph: &mut Graph, digit: NodeId, holds: NodeId) -> [NodeId; 2] {
        let element = graph.integers.element();
        let at = graph.pointwise("where3", &[holds, digit, self.beyond], element);
        let first = graph.reduce("min", at, self.dim);
        graph.note_integers(first);
        ["equal", "notequal"].map(|name| graph.pointwise(name, &[digit, first], Element::Bool))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::ScalarOp;

    fn sorted_rows(length: i64, n_first: i64, element: Element) -> Result<(usize, Vec<i64>), String> {
        let mut graph = Graph::default();
        let shape = [3, length];
        let node = graph.tensor(0, shape.to_vec(), element);
        let places = graph.known(Known::counting(0, length), vec![1, length], Element::F32);
        let tensors = [Sorted { node, is_integer: false }, Sorted { node: places, is_integer: true }];
        let results = sorted(&mut graph, &tensors, 0, Rows { shape: &shape, dim: 1, n_first }, Order::Descending)?;
        let needed = graph.needed_for(&results, |_| false);
        let n_reductions = needed.iter().filter(|&&id| matches!(graph.node(id).kind, Kind::Reduce(..))).count();
        Ok((n_reductions, graph.node(results[1]).shape.clone()))
    }

    #[test]
    fn short_rows_are_ranked_and_the_first_of_long_ones_found_one_by_one() {
        assert_eq!(sorted_rows(64, 2, Element::F16), Ok((3, vec![3, 2])));
        assert_eq!(sorted_rows(1000, 900, Element::F16), Ok((3, vec![3, 900])));
        assert_eq!(sorted_rows(1000, 2, Element::F16), Ok((8, vec![3, 2])));
        assert_eq!(sorted_rows(100_000, 2, Element::F32), Ok((8, vec![3, 2])));
        assert_eq!(sorted_rows(1, 1, Element::F16).map(|found| found.0), Ok(0));
    }

    #[test]
    fn rows_that_are_too_long_are_refused() {
        assert!(sorted_rows(1025, 200, Element::F16).is_err_and(|message| message.contains("rows of 1025 elements")));
        assert!(sorted_rows(1025, 1025, Element::F32).is_err_and(|message| message.contains("of which 1025 are used")));
    }

    #[test]
    fn places_that_the_format_does_not_have_are_found_digit_by_digit() {
        // The extremum, one reduction per digit, the value, and two for the position.
        assert_eq!(sorted_rows(1025, 1, Element::F16), Ok((5, vec![3, 1])));
        assert_eq!(sorted_rows(1024, 1, Element::F16), Ok((4, vec![3, 1])));
    }

    fn body(ops: &[(&str, [Scalar; 2])]) -> Body {
        let op = |(name, operands): &(&str, [Scalar; 2])| ScalarOp { name: (*name).to_owned(), operands: operands.to_vec() };
        Body { ops: ops.iter().map(op).collect(), yields: vec![Scalar::Op(ops.len() - 1)] }
    }

    #[test]
    fn a_comparison_says_the_order() {
        let [one, other] = [Scalar::Accumulator(2), Scalar::Accumulator(3)];
        let order = |name, operands| order_of(&body(&[(name, operands)]));
        assert_eq!(order("arith.cmpf ole", [one, other]), Some((1, Order::Ascending)));
        assert_eq!(order("arith.cmpf ole", [other, one]), Some((1, Order::Descending)));
        assert_eq!(order("arith.cmpf ugt", [one, other]), Some((1, Order::Descending)));
        assert_eq!(order("arith.cmpi sgt", [one, other]), Some((1, Order::Descending)));
        for name in ["arith.cmpf oeq", "arith.cmpf ord", "arith.cmpi ult", "arith.addf"] {
            assert_eq!(order(name, [one, other]), None, "{name}");
        }
        assert_eq!(order("arith.cmpf ole", [one, Scalar::Accumulator(1)]), None);
        assert_eq!(order("arith.cmpf ole", [one, Scalar::Unknown]), None);
    }

    #[test]
    fn a_nan_is_the_largest_number_or_there_is_no_order() {
        let [one, other] = [Scalar::Accumulator(0), Scalar::Accumulator(1)];
        let order = |nan: Scalar, name, join| {
            let ops = [("arith.cmpf une", [nan, nan]), (name, [one, other]), (join, [Scalar::Op(0), Scalar::Op(1)])];
            order_of(&body(&ops))
        };
        assert_eq!(order(other, "arith.cmpf ole", "arith.ori"), Some((0, Order::Ascending)));
        assert_eq!(order(one, "arith.cmpf oge", "arith.ori"), Some((0, Order::Descending)));
        assert_eq!(order(one, "arith.cmpf ole", "arith.ori"), None, "a NaN first");
        assert_eq!(order(other, "arith.cmpf oge", "arith.ori"), None, "a NaN last");
        assert_eq!(order(one, "arith.cmpf ole", "arith.xori"), None);
        let only_other = [
            ("arith.cmpf une", [other, other]),
            ("arith.cmpf oeq", [one, one]),
            ("arith.andi", [Scalar::Op(0), Scalar::Op(1)]),
            ("arith.cmpf olt", [one, other]),
            ("arith.ori", [Scalar::Op(2), Scalar::Op(3)]),
        ];
        assert_eq!(order_of(&body(&only_other)), Some((0, Order::Ascending)));
    }
}
