//! Comparisons of values that are constant along two dimensions, such as a causal mask with too many elements for a
//! constant.
//!
//! `u[s] < v[t]` depends only on the order of the numbers. Each number is replaced by its rank, encoded in numbers that
//! the device's formats represent exactly, and the device compares two vectors. Sums and differences on either side
//! (`t - s > 3`) are first sorted by dimension. Selects on the results use masks (`build_mask`).

use super::{
    NodeElementType, NodeId, NodeKind, ValueGraph,
    constant_tensor::ConstantTensor,
    views::{broadcast_view, compute_used_sizes},
};
use program::affine::AffineExpression;

/// Maximum number of elements of a constant comparison result if the device could compare: 8 MiB, a sixth of all
/// scratchpads.
pub(in crate::import) const MAX_COMPARED_ELEMENTS: i64 = 1 << 22;
/// Bits of a significand that f16 and the device's 16-bit format have in common, without the leading one.
const SIGNIFICAND_BITS: i32 = 9;
/// Exponents of ranks: those of f16 first, then those that only the device's formats have.
const RANK_EXPONENTS: std::ops::RangeInclusive<i32> = -14..=30;
/// Name of a truth value that is 1 where the first input is larger; its inputs are never equal.
const GREATER_OP: &str = "above";

/// Returns the truth values of a comparison of constants along two dimensions, as a device op. Returns None for other
/// comparisons, if a constant suffices, or if there are more distinct numbers than ranks.
pub(in crate::import) fn compare_at_runtime(graph: &mut ValueGraph, name: &str, inputs: &[NodeId]) -> Option<NodeId> {
    let &[one, other] = inputs else { return None };
    let predicate = ComparePredicate::from_op_name(name)?;
    if graph.compute_broadcast_shape(inputs).iter().product::<i64>() <= MAX_COMPARED_ELEMENTS {
        return None;
    }
    // In an unsigned comparison, a negative number is a large number.
    let is_unsigned = name.starts_with("arith.cmpi u");
    if is_unsigned
        && !inputs.iter().all(|&side| compute_side_bounds(graph, side).is_some_and(|[first, _]| first >= 0.0))
    {
        return None;
    }
    let mut terms = ConstantVectorSum::default();
    terms.add(graph, one, 1.0)?;
    terms.add(graph, other, -1.0)?;
    let [(along_one, mut left), (along_other, right)]: [(usize, Vec<f64>); 2] = terms.by_dim.try_into().ok()?;
    left.iter_mut().for_each(|number| *number += terms.constant);
    let right: Vec<f64> = right.iter().map(|number| -number).collect();
    let num_dims = graph.compute_broadcast_shape(inputs).len();
    let mut vector = |dim: usize, numbers: &[f64]| {
        let mut shape = vec![1; num_dims];
        shape[dim] = i64::try_from(numbers.len()).expect("the size of a dimension");
        graph.add_constant(ConstantTensor::from_numbers(numbers), shape, NodeElementType::F16)
    };
    let (left, right) = assign_ranks(&left, &right, predicate)?;
    let (left, right) = (vector(along_one, &left), vector(along_other, &right));
    let (above, below) = match predicate {
        ComparePredicate::Above { .. } => (left, right),
        ComparePredicate::Below { .. } => (right, left),
        ComparePredicate::Equality(function) => {
            return Some(graph.add_pointwise(function, &[left, right], NodeElementType::Bool));
        }
    };
    let compared = graph.add_pointwise("greaterthan", &[above, below], NodeElementType::Bool);
    Some(graph.add_virtual_op(GREATER_OP, &[above, below], compared, NodeElementType::Bool))
}

/// Predicate of a comparison.
#[derive(Clone, Copy, PartialEq)]
enum ComparePredicate {
    Above {
        or_equal: bool,
    },
    Below {
        or_equal: bool,
    },
    /// Device function that tests for equality.
    Equality(&'static str),
}

impl ComparePredicate {
    fn from_op_name(name: &str) -> Option<Self> {
        let predicate = name.strip_prefix("arith.cmpi ").or_else(|| name.strip_prefix("arith.cmpf "))?;
        Some(match predicate {
            "eq" | "oeq" | "ueq" => Self::Equality("equal"),
            "ne" | "one" | "une" => Self::Equality("notequal"),
            "slt" | "ult" | "olt" => Self::Below { or_equal: false },
            "sle" | "ule" | "ole" => Self::Below { or_equal: true },
            "sgt" | "ugt" | "ogt" => Self::Above { or_equal: false },
            "sge" | "uge" | "oge" => Self::Above { or_equal: true },
            _ => return None,
        })
    }
}

/// Sum of constant vectors, grouped by the dimension that each varies along.
#[derive(Default)]
struct ConstantVectorSum {
    by_dim: Vec<(usize, Vec<f64>)>,
    constant: f64,
}

impl ConstantVectorSum {
    fn add(&mut self, graph: &ValueGraph, id: NodeId, factor: f64) -> Option<()> {
        let node = graph.node(id);
        match (&node.kind, node.inputs.as_slice()) {
            // Beyond 2^53, f64 does not represent all integers.
            (NodeKind::Constant(known), _)
                if node.element == NodeElementType::Int
                    && known.numbers().any(|number| number.abs() > 2_f64.powi(53)) =>
            {
                None
            }
            (NodeKind::Constant(known), _) => self.add_known(known, &node.shape, factor),
            (NodeKind::Virtual("arith.addi"), &[one, other, _]) => {
                self.add(graph, one, factor).and_then(|()| self.add(graph, other, factor))
            }
            (NodeKind::Virtual("arith.subi"), &[one, other, _]) => {
                self.add(graph, one, factor).and_then(|()| self.add(graph, other, -factor))
            }
            _ => None,
        }
    }

    fn add_known(&mut self, known: &ConstantTensor, shape: &[i64], factor: f64) -> Option<()> {
        if known.numbers().any(|number| !number.is_finite()) {
            return None;
        }
        if let Some(number) = known.splat_value() {
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

/// Returns the rank of each number among all of them, as numbers that the device's formats represent. Returns None if
/// there are more numbers than ranks. Equal numbers get distinct ranks, in the order that yields the correct result of
/// the comparison.
fn assign_ranks(one: &[f64], other: &[f64], asked: ComparePredicate) -> Option<(Vec<f64>, Vec<f64>)> {
    // -0 and 0 compare equal.
    let plain = |number: &f64| number + 0.0;
    let mut all: Vec<f64> = one.iter().chain(other).map(plain).collect();
    all.sort_by(f64::total_cmp);
    all.dedup();
    let [first, second] = match asked {
        ComparePredicate::Above { or_equal: true } | ComparePredicate::Below { or_equal: false } => [1, 0],
        ComparePredicate::Above { or_equal: false } | ComparePredicate::Below { or_equal: true } => [0, 1],
        ComparePredicate::Equality(_) => [0, 0],
    };
    let numbers: Vec<f64> = (0..2 * all.len()).map(|rank| encode_rank(rank, all.len())).collect::<Option<_>>()?;
    let ranked = |some: &[f64], step: usize| {
        some.iter().map(|number| numbers[2 * all.partition_point(|known| known < &plain(number)) + step]).collect()
    };
    Some((ranked(one, first), ranked(other, second)))
}

/// Returns the number that encodes a rank, where `below` ranks have negative numbers.
fn encode_rank(rank: usize, below: usize) -> Option<f64> {
    let distance = i32::try_from(rank.abs_diff(below)).ok()?;
    if distance == 0 {
        return Some(0.0);
    }
    let steps = 1 << SIGNIFICAND_BITS;
    let exponent = RANK_EXPONENTS.start() + (distance - 1) / steps;
    let magnitude = (1.0 + f64::from((distance - 1) % steps) / f64::from(steps)) * f64::from(exponent).exp2();
    RANK_EXPONENTS.contains(&exponent).then_some(if rank < below { -magnitude } else { magnitude })
}

/// Returns the conjunction or disjunction (`operation`) of truth values: a virtual op with a mask if each input has
/// one, else `joined`.
pub(in crate::import) fn combine_truth_values(
    graph: &mut ValueGraph,
    operation: &'static str,
    inputs: &[NodeId],
    joined: NodeId,
) -> NodeId {
    let have_walls = inputs.iter().all(|&input| has_mask(graph, input));
    if have_walls { graph.add_virtual_op(operation, inputs, joined, NodeElementType::Bool) } else { joined }
}

fn has_mask(graph: &ValueGraph, truth: NodeId) -> bool {
    let node = graph.node(truth);
    node.element == NodeElementType::Bool
        && matches!(node.kind, NodeKind::Virtual(GREATER_OP | "arith.andi" | "arith.ori"))
}

/// Returns the mask of a truth value (`wall` in the code): `inf` where it is 0, `-inf` where it is 1. Returns None if
/// the value has no mask.
///
/// The device's comparisons and selects cannot write LX. The ranks of the two sides always differ. Their difference
/// divided by 0 is therefore `inf` where the truth value is 0, and `-inf` where it is 1.
fn build_mask(graph: &mut ValueGraph, truth: NodeId, element: NodeElementType) -> Option<NodeId> {
    let node = graph.node(truth).clone();
    let (NodeKind::Virtual(operation), &[one, other, _]) = (node.kind, node.inputs.as_slice()) else { return None };
    if operation == GREATER_OP {
        let (ahead, zero) = (graph.add_pointwise("sub", &[other, one], element), graph.add_scalar(0.0));
        return Some(graph.add_pointwise("realdiv", &[ahead, zero], element));
    }
    let (one, other) = (build_mask(graph, one, element)?, build_mask(graph, other, element)?);
    match operation {
        "arith.andi" => Some(graph.add_pointwise("maximum", &[one, other], element)),
        "arith.ori" => {
            let (one, other) = (negate(graph, one, element), negate(graph, other, element));
            let larger = graph.add_pointwise("maximum", &[one, other], element);
            Some(negate(graph, larger, element))
        }
        _ => None,
    }
}

fn negate(graph: &mut ValueGraph, x: NodeId, element: NodeElementType) -> NodeId {
    if let Some(number) = graph.as_scalar(x) {
        return graph.add_scalar(0.0 - number);
    }
    graph.negation_operand(x).unwrap_or_else(|| graph.add_pointwise("neg", &[x], element))
}

/// Computes `select(truth, yes, no)` from the mask of `truth`, by negation and maximum, without rounding. Returns None
/// if `truth` has no mask, or if neither `yes` nor `no` is a number below `inf`.
///
/// `inf` or `-inf` selected by two conditions is the larger or the smaller of their masks. `a` or a smaller `b` is
/// `max(-max(mask, -a), b)`. A tensor `x` or `-inf` is `-max(-x, mask)`.
pub(in crate::import) fn select_with_mask(
    graph: &mut ValueGraph,
    truth: NodeId,
    yes: NodeId,
    no: NodeId,
    element: NodeElementType,
) -> Option<NodeId> {
    if !has_mask(graph, truth) {
        return None;
    }
    let is_bound = |number: Option<f64>| number.filter(|number| !number.is_nan() && *number != f64::INFINITY);
    let (of_yes, of_no) = (is_bound(graph.as_scalar(yes)), is_bound(graph.as_scalar(no)));
    let wall = build_mask(graph, truth, element)?;
    match (of_yes, of_no) {
        (Some(larger), Some(smaller)) if larger >= smaller => Some(select_scalars(graph, yes, no, wall, element)),
        (Some(_), Some(_)) => {
            let wall = negate(graph, wall, element);
            Some(select_scalars(graph, no, yes, wall, element))
        }
        (None, Some(low)) => Some(select_tensor_or_scalar(graph, yes, low, wall, element)),
        (Some(low), None) => {
            let wall = negate(graph, wall, element);
            Some(select_tensor_or_scalar(graph, no, low, wall, element))
        }
        (None, None) => None,
    }
}

/// Returns `larger` where the mask is `-inf`, and `smaller` where it is `inf`.
fn select_scalars(
    graph: &mut ValueGraph,
    larger: NodeId,
    smaller: NodeId,
    wall: NodeId,
    element: NodeElementType,
) -> NodeId {
    let least = negate(graph, larger, element);
    let opposite = graph.add_pointwise("maximum", &[wall, least], element);
    let bounded = negate(graph, opposite, element);
    if graph.as_scalar(smaller) == Some(f64::NEG_INFINITY) {
        bounded
    } else {
        graph.add_pointwise("maximum", &[bounded, smaller], element)
    }
}

/// Returns the tensor `x` where the mask is `-inf`, and the number `low` where it is `inf`.
fn select_tensor_or_scalar(
    graph: &mut ValueGraph,
    x: NodeId,
    low: f64,
    wall: NodeId,
    element: NodeElementType,
) -> NodeId {
    let opposite = negate(graph, x, element);
    let limited = graph.add_pointwise("maximum", &[opposite, wall], element);
    let limited = negate(graph, limited, element);
    if low == f64::NEG_INFINITY {
        return limited;
    }
    // -inf where the mask is -inf: the tensor may be lower than the number there.
    let (zero, low) = (graph.add_scalar(0.0), graph.add_scalar(low));
    let opposite = negate(graph, wall, element);
    let before = graph.add_pointwise("maximum", &[opposite, zero], element);
    let floor = graph.add_pointwise("sub", &[low, before], element);
    graph.add_pointwise("maximum", &[limited, floor], element)
}

/// Returns `x`, under the same views, if `added` is a view of `neg(x)` or `neg(x)` itself, so that the addition becomes
/// a subtraction. Returns None for other ops, and for tensors of at most [`MAX_COMPARED_ELEMENTS`] elements.
pub(in crate::import) fn find_subtrahend(graph: &mut ValueGraph, added: NodeId) -> Option<NodeId> {
    let node = graph.node(added).clone();
    if node.shape.iter().product::<i64>() <= MAX_COMPARED_ELEMENTS {
        return None;
    }
    match (node.kind, node.inputs.as_slice()) {
        (NodeKind::Pointwise("neg", _), _) => graph.negation_operand(added),
        (NodeKind::View(map), &[inner]) => find_subtrahend(graph, inner).map(|x| graph.view(x, map, &node.shape)),
        _ => None,
    }
}

/// Returns a truth value with a mask under the indices `map`; each side has only the dimensions that it varies along.
pub(in crate::import) fn view_truth_value(
    graph: &mut ValueGraph,
    truth: NodeId,
    map: &[AffineExpression],
    shape: &[i64],
) -> Option<NodeId> {
    let node = graph.node(truth).clone();
    let NodeKind::Virtual(operation) = node.kind else { return None };
    let (compared, sides) = node.inputs.split_last().filter(|_| has_mask(graph, truth))?;
    let mut show = |side: NodeId| {
        if has_mask(graph, side) {
            return view_truth_value(graph, side, map, shape);
        }
        let indices = compute_operand_indices(&graph.node(side).shape, map);
        let small = compute_used_sizes(&indices, shape);
        Some(graph.view(side, indices, &small))
    };
    let sides = sides.iter().map(|&side| show(side)).collect::<Option<Vec<_>>>()?;
    let compared = graph.view(*compared, map.to_vec(), shape);
    let element = node.element;
    Some(graph.add(NodeKind::Virtual(operation), &[&sides[..], &[compared]].concat(), shape.to_vec(), element))
}

/// Recomputes a large broadcast input of an elementwise op over the op's full iteration space if the input depends on
/// constants alone. The op can then be tiled together with the producers of the input, and the large tensor is never
/// stored or loaded as a whole. Returns any other input unchanged.
pub(in crate::import) fn recompute_broadcast(graph: &mut ValueGraph, input: NodeId, shape: &[i64]) -> NodeId {
    let node = graph.node(input);
    let num_elements: i64 = node.shape.iter().product();
    let is_repeated = node.shape.len() == shape.len() && node.shape != shape;
    if num_elements <= MAX_COMPARED_ELEMENTS || !is_repeated || graph.as_constant(input).is_some() {
        return input;
    }
    let map = broadcast_view(&node.shape, shape).exprs;
    let repeated = (0..shape.len()).filter(|&dim| node.shape[dim] != shape[dim]).collect();
    BroadcastRewriter { shape, repeated }.rewrite(graph, input, &map, true).unwrap_or(input)
}

/// Returns the indices of an operand, where `map` holds those of the op: 0 along the dimensions of size 1.
fn compute_operand_indices(operand: &[i64], map: &[AffineExpression]) -> Vec<AffineExpression> {
    operand
        .iter()
        .zip(map)
        .map(|(&size, index)| if size == 1 { AffineExpression::Constant(0) } else { index.clone() })
        .collect()
}

struct BroadcastRewriter<'a> {
    shape: &'a [i64],
    /// Dimensions along which the input is broadcast.
    repeated: Vec<usize>,
}

impl BroadcastRewriter<'_> {
    /// Returns a node under the indices `map` of the larger iteration space. The space includes the broadcast
    /// dimensions if `is_whole`.
    fn rewrite(&self, graph: &mut ValueGraph, id: NodeId, map: &[AffineExpression], is_whole: bool) -> Option<NodeId> {
        let node = graph.node(id).clone();
        match node.kind {
            NodeKind::Constant(known) if known.splat_value().is_some() => Some(id),
            NodeKind::Constant(_) => {
                let mut shape = compute_used_sizes(map, self.shape);
                for &dim in self.repeated.iter().filter(|_| is_whole) {
                    shape[dim] = self.shape[dim];
                }
                Some(graph.view(id, map.to_vec(), &shape))
            }
            NodeKind::View(inner) => {
                let composed: Vec<AffineExpression> =
                    inner.iter().map(|expr| expr.with_dims(&|dim| map[dim].clone())).collect();
                self.rewrite(graph, node.inputs[0], &composed, is_whole)
            }
            NodeKind::Pointwise(function, constants) => {
                let mut is_whole = is_whole;
                let mut inputs = Vec::with_capacity(node.inputs.len());
                for input in node.inputs {
                    let indices = compute_operand_indices(&graph.node(input).shape, map);
                    inputs.push(self.rewrite(graph, input, &indices, is_whole)?);
                    // One broadcast operand is required; a scalar does not count.
                    is_whole &= indices.is_empty();
                }
                let constants: Vec<f64> = constants.into_iter().map(f64::from_bits).collect();
                Some(graph.add_pointwise_with_constants(function, &constants, &inputs, node.element))
            }
            _ => None,
        }
    }
}

/// Returns whether a result of `width` bits may be one side of a constant comparison: a sum or a difference of constant
/// integers with too many elements for a constant. Overflow must not be possible.
pub(in crate::import) fn is_comparison_side(graph: &ValueGraph, name: &str, inputs: &[NodeId], width: u32) -> bool {
    let is_sum =
        matches!(name, "arith.addi" | "arith.subi") && inputs.iter().all(|&input| is_constant_or_side(graph, input));
    let is_large = is_sum && graph.compute_broadcast_shape(inputs).iter().product::<i64>() > MAX_COMPARED_ELEMENTS;
    // Sums of f64 numbers are exact up to 2^53.
    let end = 2_f64.powi(width.min(53).cast_signed() - 1);
    is_large && compute_sum_bounds(graph, name, inputs).is_some_and(|[first, last]| first >= -end && last < end)
}

/// Returns lower and upper bounds of constant integers. Returns None for other nodes.
fn compute_side_bounds(graph: &ValueGraph, id: NodeId) -> Option<[f64; 2]> {
    let node = graph.node(id);
    match (&node.kind, node.inputs.as_slice()) {
        (NodeKind::Constant(known), _) => {
            Some(known.numbers().fold([f64::INFINITY, f64::NEG_INFINITY], |[first, last], number| {
                [first.min(number), last.max(number)]
            }))
        }
        (NodeKind::Virtual(name @ ("arith.addi" | "arith.subi")), &[one, other, _]) => {
            compute_sum_bounds(graph, name, &[one, other])
        }
        _ => None,
    }
}

fn compute_sum_bounds(graph: &ValueGraph, name: &str, inputs: &[NodeId]) -> Option<[f64; 2]> {
    let &[one, other] = inputs else { return None };
    let ([first, last], [other_first, other_last]) =
        (compute_side_bounds(graph, one)?, compute_side_bounds(graph, other)?);
    Some(if name == "arith.addi" {
        [first + other_first, last + other_last]
    } else {
        [first - other_last, last - other_first]
    })
}

fn is_constant_or_side(graph: &ValueGraph, id: NodeId) -> bool {
    graph.as_constant(id).is_some() || matches!(graph.node(id).kind, NodeKind::Virtual("arith.addi" | "arith.subi"))
}

/// Returns the operand that ops other than comparisons read instead of a comparison side. This is its constant value if
/// it is small enough for a constant, else `id`.
pub(in crate::import) fn resolve_side(graph: &ValueGraph, id: NodeId) -> NodeId {
    let numbers = graph
        .required_inputs(id)
        .first()
        .copied()
        .filter(|&numbers| is_constant_or_side(graph, id) && graph.as_constant(numbers).is_some());
    numbers.filter(|_| graph.as_constant(id).is_none()).unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add_iota(graph: &mut ValueGraph, dim: usize, size: i64) -> NodeId {
        let mut shape = vec![1, 1];
        shape[dim] = size;
        graph.add_constant(ConstantTensor::iota(0, size), shape, NodeElementType::Int)
    }

    fn collect_numbers(graph: &ValueGraph, id: NodeId) -> Vec<f64> {
        graph.as_constant(id).unwrap().numbers().collect()
    }

    #[test]
    fn compares_ranks_like_numbers() {
        let (one, other) = ([3.0, -1.0, 0.0, 1e300, 7.5], [-0.0, 3.0, 8.0, -1e300]);
        let names = ["slt", "sle", "sgt", "sge"];
        for name in names {
            let asked = ComparePredicate::from_op_name(&format!("arith.cmpi {name}")).unwrap();
            let holds =
                |a: f64, b: f64| [a < b, a <= b, a > b, a >= b][names.iter().position(|other| *other == name).unwrap()];
            let (of_one, of_other) = assign_ranks(&one, &other, asked).unwrap();
            for (number, rank) in one.iter().zip(&of_one) {
                for (other_number, other_rank) in other.iter().zip(&of_other) {
                    assert_ne!(rank, other_rank);
                    assert_eq!(
                        holds(*number, *other_number),
                        holds(*rank, *other_rank),
                        "{name}: {number} and {other_number}"
                    );
                }
            }
        }
    }

    #[test]
    fn encodes_distinct_ranks_in_ten_bits() {
        let most = 2 * 45 * 512;
        let numbers: Vec<f64> = (0..=most).map(|rank| encode_rank(rank, most / 2).unwrap()).collect();
        assert!(numbers.is_sorted_by(|one, next| one < next));
        #[allow(clippy::cast_possible_truncation, reason = "that nothing is lost is the point")]
        let is_held =
            |number: &f64| f64::from(*number as f32) == *number && (*number as f32).to_bits().trailing_zeros() >= 14;
        assert!(numbers.iter().all(is_held));
        assert_eq!(encode_rank(most + 1, most / 2), None);
        let of_f16 = encode_rank(30_720, 15_360).unwrap();
        assert!(of_f16 < 65504.0, "a mask over 15,360 positions needs no other format than f16: {of_f16}");
    }

    #[test]
    fn compares_two_vectors_for_large_mask() {
        let mut graph = ValueGraph::default();
        let (row, column) = (add_iota(&mut graph, 0, 4096), add_iota(&mut graph, 1, 4096));
        assert!(is_comparison_side(&graph, "arith.subi", &[column, row], 32));
        assert!(
            !is_comparison_side(&graph, "arith.subi", &[column, row], 12),
            "what begins again at the other end is in no order"
        );
        let rejected = graph.add_unsupported(0, vec![4096, 4096], NodeElementType::Int);
        let ahead = graph.add_virtual_op("arith.subi", &[column, row], rejected, NodeElementType::Int);
        let three = graph.add_scalar(3.0);
        let mask = compare_at_runtime(&mut graph, "arith.cmpi sgt", &[ahead, three]).unwrap();
        let inputs = graph.node(mask).inputs.clone();
        assert_eq!(graph.node(mask).shape, [4096, 4096]);
        let shapes: Vec<&[i64]> = inputs[..2].iter().map(|input| graph.node(*input).shape.as_slice()).collect();
        assert_eq!(shapes, [[1, 4096], [4096, 1]]);
        let (columns, rows) = (collect_numbers(&graph, inputs[0]), collect_numbers(&graph, inputs[1]));
        for (s, t) in [(0, 0), (0, 3), (0, 4), (4091, 4095), (4092, 4095), (5, 1000), (1000, 5)] {
            assert_eq!(columns[t] > rows[s], t > s + 3, "{s}, {t}");
        }
    }

    #[test]
    fn folds_small_mask_to_constant() {
        let mut graph = ValueGraph::default();
        let (row, column) = (add_iota(&mut graph, 0, 64), add_iota(&mut graph, 1, 64));
        assert_eq!(compare_at_runtime(&mut graph, "arith.cmpi sgt", &[column, row]), None);
        let mask = graph.apply("arith.cmpi sgt", &[column, row], NodeElementType::Bool).unwrap();
        assert!(graph.as_constant(mask).is_some());
    }

    #[test]
    fn recomputes_constant_expression_at_use() {
        let mut graph = ValueGraph::default();
        let (row, column) = (add_iota(&mut graph, 0, 4096), add_iota(&mut graph, 1, 4096));
        let mask = compare_at_runtime(&mut graph, "arith.cmpi sle", &[column, row]).unwrap();
        let (zero, low) = (graph.add_scalar(0.0), graph.add_scalar(f64::NEG_INFINITY));
        let bias = graph.apply("arith.select", &[mask, zero, low], NodeElementType::F16).unwrap();
        let viewed = graph.view(bias, vec![AffineExpression::Dim(1), AffineExpression::Dim(2)], &[1, 4096, 4096]);
        let scores = graph.add_tensor(0, vec![8, 4096, 4096], NodeElementType::F16);
        let sum = graph.apply("arith.addf", &[scores, viewed], NodeElementType::F16).unwrap();
        let read = graph.as_pointwise(sum, "sub").unwrap()[1];
        assert_eq!(graph.node(read).shape, [8, 4096, 4096]);
        assert!(matches!(graph.node(read).kind, NodeKind::Pointwise("maximum", _)));
    }
}
