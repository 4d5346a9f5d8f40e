//! Sine and cosine of runtime numbers, by range reduction and a polynomial. If `k` below has too many bits, the result
//! is NaN.
//!
//! `x` is `k pi + r` (for a cosine `(k + 1/2) pi + r`) with `r` between -pi/2 and pi/2, and the result is
//! `(-1)^k sin(r)` (for a cosine with the opposite sign). The polynomial is off by at most 1.4e-11 in exact arithmetic,
//! far below the tolerance of the referee; `docs/reference/functions.md` lists the rounding errors on the device.

use super::{
    recognize::{add, mul, sub},
    rule_helpers::NodeResult,
    single_precision_angles,
};
use crate::import::graph::{NodeElementType, NodeId, ValueGraph};
use std::f64::consts::{FRAC_1_PI, FRAC_PI_2, PI};

/// Range reduction for a format of the device: the maximum magnitude of the argument, and pi in parts.
///
/// `k pi` is subtracted in parts (Cody and Waite). All parts but the last have so few bits that their products with `k`
/// and the differences are exact.
struct RangeReduction {
    max_magnitude: f64,
    parts: &'static [f64],
    /// Part of pi/2 whose difference from the first remainders is exact.
    half: f64,
}

/// Ten significant bits: up to 1024, `k` has nine, and its products with 3, 1/8 and 1/64 are exact.
const HALF_REDUCTION: RangeReduction =
    RangeReduction { max_magnitude: 1024.0, parts: &[3.0, 0.125, 0.015_625], half: 1.5 };
/// 24 significant bits: up to 2^17, `k` has 16, and the parts have 8 each.
const SINGLE_REDUCTION: RangeReduction =
    RangeReduction { max_magnitude: 131_072.0, parts: &[3.140_625, 0.000_965_118_408_203_125], half: 1.5 };

/// Coefficients of `sin(r) / r` as a polynomial of `r^2`, fitted between -pi/2 and pi/2, constant term first.
const SINE_COEFFICIENTS: [f64; 6] = [
    0.999_999_999_889_852_2,
    -0.166_666_665_414_394_04,
    0.008_333_329_264_463_264,
    -0.000_198_407_028_632_323_08,
    2.751_885_566_621_319e-6,
    -2.379_471_397_707_86e-8,
];

pub(in crate::import) fn sin(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    build_periodic(graph, inputs[0], false, element)
}

pub(in crate::import) fn cos(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    build_periodic(graph, inputs[0], true, element)
}

fn build_periodic(graph: &mut ValueGraph, x: NodeId, is_cosine: bool, element: NodeElementType) -> NodeResult {
    // Functions of positions are folded for each position, which is far more precise than a format is for large angles.
    graph.require_table_if_unary(x);
    let is_f32 = element == NodeElementType::F32 && graph.has_single_precision();
    let name = if is_cosine { "math.cos" } else { "math.sin" };
    let in_single = |graph: &mut ValueGraph, angle| {
        build_periodic_parts(graph, angle, is_cosine, NodeElementType::Single, &SINGLE_REDUCTION)
    };
    if !is_f32 && let Some(found) = single_precision_angles::build_angle_function(graph, (name, x), element, in_single)
    {
        return Ok(found);
    }
    let periodic =
        build_periodic_parts(graph, x, is_cosine, element, if is_f32 { &SINGLE_REDUCTION } else { &HALF_REDUCTION })?;
    Ok(graph.add_pointwise("where3", &periodic, element))
}

/// Returns three nodes: whether an argument is in range, the result there, and the result elsewhere.
fn build_periodic_parts(
    graph: &mut ValueGraph,
    x: NodeId,
    is_cosine: bool,
    element: NodeElementType,
    reduction: &RangeReduction,
) -> Result<[NodeId; 3], String> {
    let RangeReduction { max_magnitude: farthest, parts, half } = reduction;
    let number = |graph: &mut ValueGraph, value: f64| graph.add_scalar(value);
    let half_turns = number(graph, FRAC_1_PI);
    let mut turns = mul(graph, &[x, half_turns], element)?;
    if !is_cosine {
        let to_nearest = number(graph, 0.5);
        turns = add(graph, &[turns, to_nearest], element)?;
    }
    let k = graph.add_pointwise("floor", &[turns], element);
    let mut rest = x;
    for (position, &part) in parts.iter().chain([&(PI - parts.iter().sum::<f64>())]).enumerate() {
        let part = number(graph, part);
        let product = mul(graph, &[k, part], element)?;
        rest = sub(graph, &[rest, product], element)?;
        if is_cosine && position == 0 {
            let half = number(graph, *half);
            rest = sub(graph, &[rest, half], element)?;
        }
    }
    if is_cosine {
        let rest_of_half = number(graph, FRAC_PI_2 - half);
        rest = sub(graph, &[rest, rest_of_half], element)?;
    }
    let square = graph.add_pointwise("mul", &[rest, rest], element);
    let (last, others) = SINE_COEFFICIENTS.split_last().expect("a polynomial has coefficients");
    let mut sum = number(graph, *last);
    for coefficient in others.iter().rev() {
        let product = mul(graph, &[sum, square], element)?;
        let coefficient = number(graph, *coefficient);
        sum = add(graph, &[product, coefficient], element)?;
    }
    let sine = graph.add_pointwise("mul", &[sum, rest], element);
    // 1 where k is even, -1 where it is odd; negated for a cosine.
    let (one_half, four, one) = (number(graph, 0.5), number(graph, 4.0), number(graph, 1.0));
    let halved = mul(graph, &[k, one_half], element)?;
    let whole = graph.add_pointwise("floor", &[halved], element);
    let odd = sub(graph, &[halved, whole], element)?;
    let twice = mul(graph, &[odd, four], element)?;
    let sign = if is_cosine { sub(graph, &[twice, one], element)? } else { sub(graph, &[one, twice], element)? };
    let result = mul(graph, &[sine, sign], element)?;
    let magnitude = graph.add_pointwise("abs", &[x], element);
    let (farthest, nan) = (number(graph, *farthest), number(graph, f64::NAN));
    let is_near = graph.add_pointwise("lesserequal", &[magnitude, farthest], NodeElementType::Bool);
    Ok([is_near, result, nan])
}
