//! Comparisons of values that are known along two dimensions, such as a causal mask over many positions, which has too
//! many elements for a constant.
//!
//! `u[s] < v[t]` depends on the order of the numbers alone. Each number is therefore replaced by its rank, written in
//! numbers that the device's formats hold exactly, and the device compares two vectors. Sums and differences of vectors
//! on either side (`t - s > 3`) are sorted by dimension first.
//!
//! The device's comparisons and selects cannot have their results in LX. The ranks of the two sides always differ, so
//! their difference divided by 0 is `inf` where the truth value is 0, and `-inf` where it is 1. This tensor is the
//! *mask* of the truth value (`wall` in the code). A select is computed from the mask of its condition by negation and
//! maximum, without rounding: `inf` or `-inf` selected by two conditions is the larger or the smaller of their masks,
//! `a` or a smaller `b` is `max(-max(mask, -a), b)`, and a tensor `x` or `-inf` is `-max(-x, mask)`.
//!
//! A value that depends on such truth values alone is recomputed tile by tile at each use, not once for all uses
//! ([`spread`]).

use super::{
    Element, Graph, Kind, NodeId,
    known::Known,
    views::{moving_dims, repeated},
};
use program::affine::Expr;

/// Maximum number of elements of a constant comparison result if the device could compare: 8 MiB, a sixth of all scratchpads.
pub(in crate::import) const MOST_COMPARED: i64 = 1 << 22;
/// Bits of a significand that f16 and the device's 16-bit format have in common, without the leading one.
const SIGNIFICAND_BITS: i32 = 9;
/// Exponents of ranks: those of f16 first, then those that only the device's formats have.
const EXPONENTS: std::ops::RangeInclusive<i32> = -14..=30;
/// Name of a truth value that is 1 where the first input is larger; its inputs are never equal.
const ABOVE: &str = "above";

/// Returns the truth values of a comparison of constants along two dimensions, as a device op. Returns None for other comparisons, if a
/// constant suffices, or if there are more distinct numbers than ranks.
pub(in crate::import) fn compared_at_run_time(graph: &mut Graph, name: &str, inputs: &[NodeId]) -> Option<NodeId> {
    let &[one, other] = inputs else { return None };
    let predicate = Predicate::named(name)?;
    if graph.broadcast_shape(inputs).iter().product::<i64>() <= MOST_COMPARED {
        return None;
    }
    // In an unsigned comparison, a negative number is a large number.
    let is_unsigned = name.starts_with("arith.cmpi u");
    if is_unsigned && !inputs.iter().all(|&side| bounds_of_side(graph, side).is_some_and(|[first, _]| first >= 0.0)) {
        return None;
    }
    let mut terms = Terms::default();
    terms.add(graph, one, 1.0)?;
    terms.add(graph, other, -1.0)?;
    let [(along_one, mut left), (along_other, right)]: [(usize, Vec<f64>); 2] = terms.by_dim.try_into().ok()?;
    left.iter_mut().for_each(|number| *number += terms.constant);
    let right: Vec<f64> = right.iter().map(|number| -number).collect();
    let n_dims = graph.broadcast_shape(inputs).len();
    let mut vector = |dim: usize, numbers: &[f64]| {
        let mut shape = vec![1; n_dims];
        shape[dim] = i64::try_from(numbers.len()).expect("the size of a dimension");
        graph.known(Known::table(numbers), shape, Element::F16)
    };
    let (left, right) = ranks(&left, &right, predicate)?;
    let (left, right) = (vector(along_one, &left), vector(along_other, &right));
    let (above, below) = match predicate {
        Predicate::Above { .. } => (left, right),
        Predicate::Below { .. } => (right, left),
        Predicate::Same(function) => return Some(graph.pointwise(function, &[left, right], Element::Bool)),
    };
    let compared = graph.pointwise("greaterthan", &[above, below], Element::Bool);
    Some(graph.virtual_op(ABOVE, &[above, below], compared, Element::Bool))
}

/// Predicate of a comparison.
#[derive(Clone, Copy, PartialEq)]
enum Predicate {
    Above {
        or_same: bool,
    },
    Below {
        or_same: bool,
    },
    /// Device function that tests for equality.
    Same(&'static str),
}

impl Predicate {
    fn named(name: &str) -> Option<Self> {
        let predicate = name.strip_prefix("arith.cmpi ").or_else(|| name.strip_prefix("arith.cmpf "))?;
        Some(match predicate {
            "eq" | "oeq" | "ueq" => Self::Same("equal"),
            "ne" | "one" | "une" => Self::Same("notequal"),
            "slt" | "ult" | "olt" => Self::Below { or_same: false },
            "sle" | "ule" | "ole" => Self::Below { or_same: true },
            "sgt" | "ugt" | "ogt" => Self::Above { or_same: false },
            "sge" | "uge" | "oge" => Self::Above { or_same: true },
            _ => return None,
        })
    }
}

/// Sum of constant vectors, grouped by the dimension that each varies along.
#[derive(Default)]
struct Terms {
    by_dim: Vec<(usize, Vec<f64>)>,
    constant: f64,
}

impl Terms {
    fn add(&mut self, graph: &Graph, id: NodeId, factor: f64) -> Option<()> {
        let node = graph.node(id);
        match (&node.kind, node.inputs.as_slice()) {
            // Beyond 2^53, f64 does not represent all integers.
            (Kind::Known(known), _) if node.element == Element::Int && known.numbers().any(|number| number.abs() > 2_f64.powi(53)) => None,
            (Kind::Known(known), _) => self.add_known(known, &node.shape, factor),
            (Kind::Virtual("arith.addi"), &[one, other, _]) => self.add(graph, one, factor).and_then(|()| self.add(graph, other, factor)),
            (Kind::Virtual("arith.subi"), &[one, other, _]) => self.add(graph, one, factor).and_then(|()| self.add(graph, other, -factor)),
            _ => None,
        }
    }

    fn add_known(&mut self, known: &Known, shape: &[i64], factor: f64) -> Option<()> {
        if known.numbers().any(|number| !number.is_finite()) {
            return None;
        }
        if let Some(number) = known.uniform() {
            self.constant += factor * number;
            return Some(());
        }
        let mut moving = (0..shape.len()).filter(|&dim| shape[dim] > 1);
        let (dim, None) = (moving.next()?, moving.next()) else { return None };
        let numbers = known.numbers().map(|number| factor * number);
        match self.by_dim.iter_mut().find(|(known, _)| *known == dim) {
            Some((_, sum)) => sum.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number),
            None => self.by_dim.push((dim, numbers.collect())),
        }
        Some(())
    }
}

/// Returns the rank of each number among all of them, as numbers that the device's formats represent. Returns None if there are more numbers
/// than ranks. Equal numbers get distinct ranks, in the order that yields the correct result of the comparison.
fn ranks(one: &[f64], other: &[f64], asked: Predicate) -> Option<(Vec<f64>, Vec<f64>)> {
    // -0 and 0 compare equal.
    let plain = |number: &f64| number + 0.0;
    let mut all: Vec<f64> = one.iter().chain(other).map(plain).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let [first, second] = match asked {
        Predicate::Above { or_same: true } | Predicate::Below { or_same: false } => [1, 0],
        Predicate::Above { or_same: false } | Predicate::Below { or_same: true } => [0, 1],
        Predicate::Same(_) => [0, 0],
    };
    let numbers: Vec<f64> = (0..2 * all.len()).map(|rank| number_of_rank(rank, all.len())).collect::<Option<_>>()?;
    let ranked = |some: &[f64], step: usize| {
        some.iter().map(|number| numbers[2 * all.partition_point(|known| known < &plain(number)) + step]).collect()
    };
    Some((ranked(one, first), ranked(other, second)))
}

/// Returns the number that encodes a rank, where `below` ranks have negative numbers.
fn number_of_rank(rank: usize, below: usize) -> Option<f64> {
    let distance = i32::try_from(rank.abs_diff(below)).ok()?;
    if distance == 0 {
        return Some(0.0);
    }
    let steps = 1 << SIGNIFICAND_BITS;
    let exponent = EXPONENTS.start() + (distance - 1) / steps;
    let magnitude = (1.0 + f64::from((distance - 1) % steps) / f64::from(steps)) * f64::from(exponent).exp2();
    EXPONENTS.contains(&exponent).then_some(if rank < below { -magnitude } else { magnitude })
}

/// Returns the conjunction or disjunction (`operation`) of truth values: a virtual op that has a mask if each input has
/// one, else `joined`.
pub(in crate::import) fn joined(graph: &mut Graph, operation: &'static str, inputs: &[NodeId], joined: NodeId) -> NodeId {
    let have_walls = inputs.iter().all(|&input| has_wall(graph, input));
    if have_walls { graph.virtual_op(operation, inputs, joined, Element::Bool) } else { joined }
}

fn has_wall(graph: &Graph, truth: NodeId) -> bool {
    let node = graph.node(truth);
    node.element == Element::Bool && matches!(node.kind, Kind::Virtual(ABOVE | "arith.andi" | "arith.ori"))
}

/// Returns the mask of a truth value: `inf` where it is 0, `-inf` where it is 1. None if it has no mask.
fn wall(graph: &mut Graph, truth: NodeId, element: Element) -> Option<NodeId> {
    let node = graph.node(truth).clone();
    let (Kind::Virtual(operation), &[one, other, _]) = (node.kind, node.inputs.as_slice()) else { return None };
    if operation == ABOVE {
        let (ahead, zero) = (graph.pointwise("sub", &[other, one], element), graph.number(0.0));
        return Some(graph.pointwise("realdiv", &[ahead, zero], element));
    }
    let (one, other) = (wall(graph, one, element)?, wall(graph, other, element)?);
    match operation {
        "arith.andi" => Some(graph.pointwise("maximum", &[one, other], element)),
        "arith.ori" => {
            let (one, other) = (negative(graph, one, element), negative(graph, other, element));
            let larger = graph.pointwise("maximum", &[one, other], element);
            Some(negative(graph, larger, element))
        }
        _ => None,
    }
}

fn negative(graph: &mut Graph, x: NodeId, element: Element) -> NodeId {
    if let Some(number) = graph.number_of(x) {
        return graph.number(0.0 - number);
    }
    graph.negated(x).unwrap_or_else(|| graph.pointwise("neg", &[x], element))
}

/// Computes `select(truth, yes, no)` from the mask of `truth`. Returns None if `truth` has no mask, or if neither `yes`
/// nor `no` is a number below `inf`.
pub(in crate::import) fn chosen(graph: &mut Graph, truth: NodeId, yes: NodeId, no: NodeId, element: Element) -> Option<NodeId> {
    if !has_wall(graph, truth) {
        return None;
    }
    let is_bound = |number: Option<f64>| number.filter(|number| !number.is_nan() && *number != f64::INFINITY);
    let (of_yes, of_no) = (is_bound(graph.number_of(yes)), is_bound(graph.number_of(no)));
    let wall = wall(graph, truth, element)?;
    match (of_yes, of_no) {
        (Some(larger), Some(smaller)) if larger >= smaller => Some(above(graph, yes, no, wall, element)),
        (Some(_), Some(_)) => {
            let wall = negative(graph, wall, element);
            Some(above(graph, no, yes, wall, element))
        }
        (None, Some(low)) => Some(bounded(graph, yes, low, wall, element)),
        (Some(low), None) => {
            let wall = negative(graph, wall, element);
            Some(bounded(graph, no, low, wall, element))
        }
        (None, None) => None,
    }
}

/// Returns `larger` where the mask is `-inf`, and `smaller` where it is `inf`.
fn above(graph: &mut Graph, larger: NodeId, smaller: NodeId, wall: NodeId, element: Element) -> NodeId {
    let least = negative(graph, larger, element);
    let opposite = graph.pointwise("maximum", &[wall, least], element);
    let bounded = negative(graph, opposite, element);
    if graph.number_of(smaller) == Some(f64::NEG_INFINITY) { bounded } else { graph.pointwise("maximum", &[bounded, smaller], element) }
}

/// Returns the tensor `x` where the mask is `-inf`, and the number `low` where it is `inf`.
fn bounded(graph: &mut Graph, x: NodeId, low: f64, wall: NodeId, element: Element) -> NodeId {
    let opposite = negative(graph, x, element);
    let limited = graph.pointwise("maximum", &[opposite, wall], element);
    let limited = negative(graph, limited, element);
    if low == f64::NEG_INFINITY {
        return limited;
    }
    // -inf where the mask is -inf: the tensor may be lower than the number there.
    let (zero, low) = (graph.number(0.0), graph.number(low));
    let opposite = negative(graph, wall, element);
    let before = graph.pointwise("maximum", &[opposite, zero], element);
    let floor = graph.pointwise("sub", &[low, before], element);
    graph.pointwise("maximum", &[limited, floor], element)
}

/// Returns `x`, under the same views, if `added` is a view of `neg(x)` or `neg(x)` itself, so that the addition becomes
/// a subtraction. Returns None for other ops, and for tensors of at most [`MOST_COMPARED`] elements.
pub(in crate::import) fn subtracted(graph: &mut Graph, added: NodeId) -> Option<NodeId> {
    let node = graph.node(added).clone();
    if node.shape.iter().product::<i64>() <= MOST_COMPARED {
        return None;
    }
    match (node.kind, node.inputs.as_slice()) {
        (Kind::Pointwise("neg", _), _) => graph.negated(added),
        (Kind::View(map), &[inner]) => subtracted(graph, inner).map(|x| graph.view(x, map, &node.shape)),
        _ => None,
    }
}

/// Returns a truth value with a mask under the indices `map`; each side has only the dimensions that it varies along.
pub(in crate::import) fn shown(graph: &mut Graph, truth: NodeId, map: &[Expr], shape: &[i64]) -> Option<NodeId> {
    let node = graph.node(truth).clone();
    let Kind::Virtual(operation) = node.kind else { return None };
    let (compared, sides) = node.inputs.split_last().filter(|_| has_wall(graph, truth))?;
    let mut show = |side: NodeId| {
        if has_wall(graph, side) {
            return shown(graph, side, map, shape);
        }
        let indices = indices_of(&graph.node(side).shape, map);
        let small = moving_dims(&indices, shape);
        Some(graph.view(side, indices, &small))
    };
    let sides = sides.iter().map(|&side| show(side)).collect::<Option<Vec<_>>>()?;
    let compared = graph.view(*compared, map.to_vec(), shape);
    let element = node.element;
    Some(graph.add(Kind::Virtual(operation), &[&sides[..], &[compared]].concat(), shape.to_vec(), element))
}

/// Recomputes a large broadcast input of an elementwise op over the op's full iteration space if the input depends on
/// constants alone. The op can then be tiled together with the producers of the input, and the large tensor is never
/// stored or loaded as a whole. Returns any other input unchanged.
pub(in crate::import) fn spread(graph: &mut Graph, input: NodeId, shape: &[i64]) -> NodeId {
    let node = graph.node(input);
    let n_elements: i64 = node.shape.iter().product();
    let is_repeated = node.shape.len() == shape.len() && node.shape != shape;
    if n_elements <= MOST_COMPARED || !is_repeated || graph.known_of(input).is_some() {
        return input;
    }
    let map = repeated(&node.shape, shape).exprs;
    let repeated = (0..shape.len()).filter(|&dim| node.shape[dim] != shape[dim]).collect();
    Spread { shape, repeated }.of(graph, input, &map, true).unwrap_or(input)
}

/// Returns the indices of an operand, where `map` holds those of the op: 0 along the dimensions of size 1.
fn indices_of(operand: &[i64], map: &[Expr]) -> Vec<Expr> {
    operand.iter().zip(map).map(|(&size, index)| if size == 1 { Expr::Constant(0) } else { index.clone() }).collect()
}

struct Spread<'a> {
    shape: &'a [i64],
    /// Returns the dimensions along which the input is broadcast.
    repeated: Vec<usize>,
}

impl Spread<'_> {
    /// Returns a node under the indices `map` of the larger iteration space, which includes the broadcast dimensions if `is_whole`.
    fn of(&self, graph: &mut Graph, id: NodeId, map: &[Expr], is_whole: bool) -> Option<NodeId> {
        let node = graph.node(id).clone();
        match node.kind {
            Kind::Known(known) if known.uniform().is_some() => Some(id),
            Kind::Known(_) => {
                let mut shape = moving_dims(map, self.shape);
                for &dim in self.repeated.iter().filter(|_| is_whole) {
                    shape[dim] = self.shape[dim];
                }
                Some(graph.view(id, map.to_vec(), &shape))
            }
            Kind::View(inner) => {
                let composed: Vec<Expr> = inner.iter().map(|expr| expr.with_dims(&|dim| map[dim].clone())).collect();
                self.of(graph, node.inputs[0], &composed, is_whole)
            }
            Kind::Pointwise(function, constants) => {
                let mut is_whole = is_whole;
                let mut inputs = Vec::with_capacity(node.inputs.len());
                for input in node.inputs {
                    let indices = indices_of(&graph.node(input).shape, map);
                    inputs.push(self.of(graph, input, &indices, is_whole)?);
                    // One broadcast operand is required; a scalar does not count.
                    is_whole &= indices.is_empty();
                }
                let constants: Vec<f64> = constants.into_iter().map(f64::from_bits).collect();
                Some(graph.pointwise_with(function, &constants, &inputs, node.element))
            }
            _ => None,
        }
    }
}

/// Returns whether a result of `width` bits may be one side of such a comparison: a sum or a difference of constant integers with too many
/// elements, without overflow.
pub(in crate::import) fn is_side(graph: &Graph, name: &str, inputs: &[NodeId], width: u32) -> bool {
    let is_sum = matches!(name, "arith.addi" | "arith.subi") && inputs.iter().all(|&input| is_known_or_side(graph, input));
    let is_large = is_sum && graph.broadcast_shape(inputs).iter().product::<i64>() > MOST_COMPARED;
    // Sums of f64 numbers are exact up to 2^53.
    let end = 2_f64.powi(width.min(53).cast_signed() - 1);
    is_large && bounds_of_sum(graph, name, inputs).is_some_and(|[first, last]| first >= -end && last < end)
}

/// Returns lower and upper bounds of constant integers; None for other nodes.
fn bounds_of_side(graph: &Graph, id: NodeId) -> Option<[f64; 2]> {
    let node = graph.node(id);
    match (&node.kind, node.inputs.as_slice()) {
        (Kind::Known(known), _) => {
            Some(known.numbers().fold([f64::INFINITY, f64::NEG_INFINITY], |[first, last], number| [first.min(number), last.max(number)]))
        }
        (Kind::Virtual(name @ ("arith.addi" | "arith.subi")), &[one, other, _]) => bounds_of_sum(graph, name, &[one, other]),
        _ => None,
    }
}

fn bounds_of_sum(graph: &Graph, name: &str, inputs: &[NodeId]) -> Option<[f64; 2]> {
    let &[one, other] = inputs else { return None };
    let ([first, last], [other_first, other_last]) = (bounds_of_side(graph, one)?, bounds_of_side(graph, other)?);
    Some(if name == "arith.addi" { [first + other_first, last + other_last] } else { [first - other_last, last - other_first] })
}

fn is_known_or_side(graph: &Graph, id: NodeId) -> bool {
    graph.known_of(id).is_some() || matches!(graph.node(id).kind, Kind::Virtual("arith.addi" | "arith.subi"))
}

/// Returns the operand that ops other than comparisons read in place of a side of a comparison: its constant value if
/// it is small enough for one, else `id`.
pub(in crate::import) fn numbers_of_side(graph: &Graph, id: NodeId) -> NodeId {
    let numbers = graph.needs(id).first().copied().filter(|&numbers| is_known_or_side(graph, id) && graph.known_of(numbers).is_some());
    numbers.filter(|_| graph.known_of(id).is_none()).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counting(graph: &mut Graph, dim: usize, size: i64) -> NodeId {
        let mut shape = vec![1, 1];
        shape[dim] = size;
        graph.known(Known::counting(0, size), shape, Element::Int)
    }

    fn vector(graph: &Graph, id: NodeId) -> Vec<f64> {
        graph.known_of(id).unwrap().numbers().collect()
    }

    #[test]
    fn every_comparison_of_ranks_is_that_of_the_numbers() {
        let (one, other) = ([3.0, -1.0, 0.0, 1e300, 7.5], [-0.0, 3.0, 8.0, -1e300]);
        let names = ["slt", "sle", "sgt", "sge"];
        for name in names {
            let asked = Predicate::named(&format!("arith.cmpi {name}")).unwrap();
            let holds = |a: f64, b: f64| [a < b, a <= b, a > b, a >= b][names.iter().position(|other| *other == name).unwrap()];
            let (of_one, of_other) = ranks(&one, &other, asked).unwrap();
            for (number, rank) in one.iter().zip(&of_one) {
                for (other_number, other_rank) in other.iter().zip(&of_other) {
                    assert_ne!(rank, other_rank);
                    assert_eq!(holds(*number, *other_number), holds(*rank, *other_rank), "{name}: {number} and {other_number}");
                }
            }
        }
    }

    #[test]
    fn ranks_differ_and_are_held_by_ten_bits() {
        let most = 2 * 45 * 512;
        let numbers: Vec<f64> = (0..=most).map(|rank| number_of_rank(rank, most / 2).unwrap()).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next));
        #[allow(clippy::cast_possible_truncation, reason = "that nothing is lost is the point")]
        let is_held = |number: &f64| f64::from(*number as f32) == *number && (*number as f32).to_bits().trailing_zeros() >= 14;
        assert!(numbers.iter().all(is_held));
        assert_eq!(number_of_rank(most + 1, most / 2), None);
        let of_f16 = number_of_rank(30_720, 15_360).unwrap();
        assert!(of_f16 < 65504.0, "a mask over 15,360 positions needs no other format than f16: {of_f16}");
    }

    #[test]
    fn a_large_mask_compares_two_vectors() {
        let mut graph = Graph::default();
        let (row, column) = (counting(&mut graph, 0, 4096), counting(&mut graph, 1, 4096));
        assert!(is_side(&graph, "arith.subi", &[column, row], 32));
        assert!(!is_side(&graph, "arith.subi", &[column, row], 12), "what begins again at the other end is in no order");
        let refused = graph.refused(0, vec![4096, 4096], Element::Int);
        let ahead = graph.virtual_op("arith.subi", &[column, row], refused, Element::Int);
        let three = graph.number(3.0);
        let mask = compared_at_run_time(&mut graph, "arith.cmpi sgt", &[ahead, three]).unwrap();
        let inputs = graph.node(mask).inputs.clone();
        assert_eq!(graph.node(mask).shape, [4096, 4096]);
        let shapes: Vec<&[i64]> = inputs[..2].iter().map(|input| graph.node(*input).shape.as_slice()).collect();
        assert_eq!(shapes, [[1, 4096], [4096, 1]]);
        let (columns, rows) = (vector(&graph, inputs[0]), vector(&graph, inputs[1]));
        for (s, t) in [(0, 0), (0, 3), (0, 4), (4091, 4095), (4092, 4095), (5, 1000), (1000, 5)] {
            assert_eq!(columns[t] > rows[s], t > s + 3, "{s}, {t}");
        }
    }

    #[test]
    fn a_small_mask_is_a_constant() {
        let mut graph = Graph::default();
        let (row, column) = (counting(&mut graph, 0, 64), counting(&mut graph, 1, 64));
        assert_eq!(compared_at_run_time(&mut graph, "arith.cmpi sgt", &[column, row]), None);
        let mask = graph.apply("arith.cmpi sgt", &[column, row], Element::Bool).unwrap();
        assert!(graph.known_of(mask).is_some());
    }

    #[test]
    fn what_follows_from_known_numbers_is_computed_where_it_is_read() {
        let mut graph = Graph::default();
        let (row, column) = (counting(&mut graph, 0, 4096), counting(&mut graph, 1, 4096));
        let mask = compared_at_run_time(&mut graph, "arith.cmpi sle", &[column, row]).unwrap();
        let (zero, low) = (graph.number(0.0), graph.number(f64::NEG_INFINITY));
        let bias = graph.apply("arith.select", &[mask, zero, low], Element::F16).unwrap();
        let shown = graph.view(bias, vec![Expr::Dim(1), Expr::Dim(2)], &[1, 4096, 4096]);
        let scores = graph.tensor(0, vec![8, 4096, 4096], Element::F16);
        let sum = graph.apply("arith.addf", &[scores, shown], Element::F16).unwrap();
        let read = graph.as_pointwise(sum, "sub").unwrap()[1];
        assert_eq!(graph.node(read).shape, [8, 4096, 4096]);
        assert!(matches!(graph.node(read).kind, Kind::Pointwise("maximum", _)));
    }
}
