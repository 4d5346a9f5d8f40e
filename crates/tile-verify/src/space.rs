//! Search space of the plans: axes, tile counts and loop nests.
//!
//! An axis is a set of dimensions of the ops of a segment, at most one per op. It grows along def-use edges: a
//! dimension of the producer joins a dimension of the consumer if both index one dimension of the value, unless an op
//! would then have two. A loop nest has one axis or two, each with a tile count that divides the sizes of its
//! dimensions.

use super::program::{CertifiedOp, CertifiedProgram};
use std::{collections::BTreeMap, ops::Range};

/// Maximum number of ops of a segment, of iterations of a loop nest, and of tile counts of an axis.
pub(super) const MAX_SEGMENT_OPS: usize = 24;
const MAX_ITERATIONS: i64 = 4096;
const MAX_TILE_COUNTS: usize = 12;

/// Axis of a segment: the tiled dimension of each op, and the possible tile counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TilingAxis {
    pub(super) dims: BTreeMap<usize, usize>,
    pub(super) counts: Vec<i64>,
}

impl TilingAxis {
    /// Returns the axes of a segment that a loop may tile.
    pub(super) fn collect_from_segment(program: &CertifiedProgram, segment: &Range<usize>) -> Vec<Self> {
        let ops = &program.ops;
        let mut parts: Vec<BTreeMap<usize, usize>> = Vec::new();
        for op in segment.clone() {
            parts.extend(
                (0..ops[op].dims.len())
                    .filter(|&dim| ops[op].dims[dim].size > 1)
                    .map(|dim| BTreeMap::from([(op, dim)])),
            );
        }
        for reader in segment.clone() {
            for input in 0..ops[reader].inputs.len() {
                let Some(maker) = program.producer(reader, input).filter(|maker| segment.contains(maker)) else {
                    continue;
                };
                for (of_producer, of_reader) in find_shared_dims(&ops[maker], &ops[reader], input) {
                    unite_axes(&mut parts, (maker, of_producer), (reader, of_reader));
                }
            }
        }
        let axes = parts.into_iter().map(|mut dims| {
            // The tile count must also divide the dimensions that a loop may not tile.
            let size = dims.iter().map(|(&op, &dim)| ops[op].dims[dim].size).fold(0, gcd);
            dims.retain(|op, dim| ops[*op].may_tile(*dim));
            let counts = enumerate_tile_counts(ops, size, &dims);
            Self { dims, counts }
        });
        axes.filter(|axis| !axis.counts.is_empty()).collect()
    }
}

/// Returns the loop nests of one and of two axes, as pairs of axis index and tile count.
pub(super) fn enumerate_nests(axes: &[TilingAxis]) -> impl Iterator<Item = Vec<(usize, i64)>> + '_ {
    let one = |axis: usize| axes[axis].counts.iter().map(move |&count| (axis, count));
    let alone = (0..axes.len()).flat_map(one).map(|cut| vec![cut]);
    let pairs = (0..axes.len()).flat_map(move |outer| (outer + 1..axes.len()).map(move |inner| (outer, inner)));
    let both = pairs
        .flat_map(move |(outer, inner)| one(outer).flat_map(move |cut| one(inner).map(move |other| vec![cut, other])));
    alone.chain(both.filter(|nest| nest[0].1 * nest[1].1 <= MAX_ITERATIONS))
}

/// Returns pairs of a producer's and a consumer's dimension that index the same dimension of the value between them.
fn find_shared_dims(maker: &CertifiedOp, reader: &CertifiedOp, input: usize) -> Vec<(usize, usize)> {
    let input = &reader.inputs[input];
    let pair =
        |(read, after): (&Option<usize>, &Option<usize>)| Some((maker.output.get((*after)?).copied()??, (*read)?));
    input.dims.iter().zip(&input.behind).filter_map(pair).collect()
}

fn unite_axes(parts: &mut [BTreeMap<usize, usize>], one: (usize, usize), other: (usize, usize)) {
    let of = |(op, dim): (usize, usize)| parts.iter().position(|part| part.get(&op) == Some(&dim));
    let (Some(one), Some(other)) = (of(one), of(other)) else { return };
    if one != other && parts[other].keys().all(|op| !parts[one].contains_key(op)) {
        let taken = std::mem::take(&mut parts[other]);
        parts[one].extend(taken);
    }
}

const fn gcd(one: i64, other: i64) -> i64 {
    if one == 0 { other } else { gcd(other % one, one) }
}

/// Returns all tile counts that divide the size and leave whole granules. If there are more than [`MAX_TILE_COUNTS`],
/// returns those closest to powers of two; of two equally close counts, the smaller one.
fn enumerate_tile_counts(ops: &[CertifiedOp], size: i64, dims: &BTreeMap<usize, usize>) -> Vec<i64> {
    let fits =
        |(&op, &dim): (&usize, &usize), count: i64| ops[op].dims[dim].size % (count * ops[op].dims[dim].granule) == 0;
    let most = if dims.is_empty() { 1 } else { size.min(MAX_ITERATIONS) };
    let all: Vec<i64> =
        (2..=most).filter(|count| size % count == 0 && dims.iter().all(|cut| fits(cut, *count))).collect();
    if all.len() <= MAX_TILE_COUNTS {
        return all;
    }
    let mut near: Vec<i64> = Vec::new();
    for power in (1..=12).map(|exponent| 1_i64 << exponent) {
        let closest = all.iter().copied().min_by_key(|count| ((count - power).abs(), *count));
        near.extend(closest.filter(|count| near.last() != Some(count)));
    }
    near
}
