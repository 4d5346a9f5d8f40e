//! Lower bound on the HBM bytes that an op moves in a segment, whatever other values are in LX.

use super::{min_time::MachineModel, program::CertifiedProgram, space::TilingAxis};
use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
};

/// Def-use information of a program that determines the HBM traffic of its segments.
pub(super) struct TrafficBound<'a> {
    program: &'a CertifiedProgram,
    /// Per value: the first op that uses it.
    first_readers: BTreeMap<usize, usize>,
    /// Values whose first user precedes all other users however ops are reordered, because the others depend on its
    /// result.
    certain_first_reads: BTreeSet<usize>,
    /// Per op: the users of its result.
    readers: Vec<Vec<usize>>,
    lx_bytes: i64,
}

impl<'a> TrafficBound<'a> {
    pub(super) fn new(program: &'a CertifiedProgram, model: &MachineModel<'_>) -> Self {
        let mut first_readers = BTreeMap::new();
        let mut others: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut readers = vec![Vec::new(); program.ops.len()];
        for (op, found) in program.ops.iter().enumerate() {
            for input in &found.inputs {
                let first = *first_readers.entry(input.value).or_insert(op);
                let others = others.entry(input.value).or_default();
                others.extend((op != first).then_some(op));
                if let Some(producer) = input.maker {
                    readers[producer].push(op);
                }
            }
        }
        let begins = |(value, others): (&usize, &Vec<usize>)| {
            others.is_empty() || all_depend_on(program, first_readers[value], others)
        };
        let begun = others.iter().filter(|of_value| begins(*of_value)).map(|(value, _)| *value).collect();
        Self { program, first_readers, certain_first_reads: begun, readers, lx_bytes: model.lx_bytes() }
    }

    /// Returns the bytes that pass through HBM when `op` runs in a segment inside loops along these axes.
    pub(super) fn hbm_bytes(&self, op: usize, segment: &Range<usize>, levels: &[(&TilingAxis, i64)]) -> i64 {
        let read: i64 =
            (0..self.program.ops[op].inputs.len()).map(|input| self.load_bytes(op, input, segment, levels)).sum();
        read + self.store_bytes(op, segment, levels)
    }

    fn load_bytes(&self, op: usize, input: usize, segment: &Range<usize>, levels: &[(&TilingAxis, i64)]) -> i64 {
        let own = &self.program.ops[op];
        let Some(priced) = &own.priced else { return 0 };
        let (value, operand) = (own.inputs[input].value, &priced.operands[input]);
        let is_repeated = own.inputs[..input].iter().any(|other| other.value == value);
        let is_first = self.first_readers.get(&value) == Some(&op);
        let is_charged = match own.inputs[input].maker {
            // A value from outside the program is charged at its first read only, so it must be certain which read is
            // first.
            None => operand.is_kernel_input && is_first && self.certain_first_reads.contains(&value),
            Some(producer) if !self.program.ops[producer].may_be_in_lx => is_first,
            Some(producer) if segment.contains(&producer) => {
                let passes_hbm = |reader: usize| needs_all_tiles(self.program, levels, producer, reader);
                let is_first_that_does = || !self.readers_before(op, value, segment.start..op).any(passes_hbm);
                let has_no_room = || {
                    self.tile_bytes(producer, levels) > self.lx_bytes
                        && self.readers_before(op, value, segment.start..op).next().is_none()
                };
                passes_hbm(op) && is_first_that_does() || has_no_room()
            }
            Some(_) => {
                operand.tile_bytes > self.lx_bytes && self.readers_before(op, value, segment.start..op).next().is_none()
            }
        };
        if is_charged && !is_repeated { operand.tile_bytes } else { 0 }
    }

    /// Returns the ops of a range that use a value before `op`.
    fn readers_before(&self, op: usize, value: usize, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let reads = move |other: &usize| self.program.ops[*other].inputs.iter().any(|input| input.value == value);
        range.filter(move |other| *other < op).filter(reads)
    }

    fn store_bytes(&self, op: usize, segment: &Range<usize>, levels: &[(&TilingAxis, i64)]) -> i64 {
        let own = &self.program.ops[op];
        let Some(result) = own.priced.as_ref().and_then(|priced| priced.operands.last()) else { return 0 };
        let is_in_parts = levels.iter().any(|(axis, _)| is_result_tiled(self.program, axis, op));
        let leaves_loop = |reader: &usize| {
            if segment.contains(reader) { needs_all_tiles(self.program, levels, op, *reader) } else { is_in_parts }
        };
        let readers = &self.readers[op];
        let is_charged = own.is_result
            || !readers.is_empty()
                && (!own.may_be_in_lx
                    || self.tile_bytes(op, levels) > self.lx_bytes
                    || result.tile_bytes > self.lx_bytes && readers.iter().any(|reader| !segment.contains(reader)))
            || readers.iter().any(leaves_loop);
        if is_charged { result.tile_bytes } else { 0 }
    }

    /// Returns the bytes of the result tile that one iteration computes.
    fn tile_bytes(&self, op: usize, levels: &[(&TilingAxis, i64)]) -> i64 {
        let Some(result) = self.program.ops[op].priced.as_ref().and_then(|priced| priced.operands.last()) else {
            return 0;
        };
        let cutting = levels.iter().filter(|(axis, _)| is_result_tiled(self.program, axis, op));
        result.tile_bytes / cutting.map(|(_, count)| count).product::<i64>()
    }
}

/// Returns whether all of some later ops depend on the result of op `first`, directly or transitively.
fn all_depend_on(program: &CertifiedProgram, first: usize, others: &[usize]) -> bool {
    let last = others.iter().copied().max().unwrap_or(first);
    let mut needs = vec![false; last - first + 1];
    needs[0] = true;
    for op in first + 1..=last {
        let producers = program.ops[op].inputs.iter().filter_map(|input| input.maker);
        needs[op - first] = producers.filter(|producer| *producer >= first).any(|producer| needs[producer - first]);
    }
    others.iter().all(|other| needs[other - first])
}

/// Returns whether a loop along an axis computes the result of an op tile by tile.
fn is_result_tiled(program: &CertifiedProgram, axis: &TilingAxis, op: usize) -> bool {
    axis.dims.get(&op).is_some_and(|dim| program.ops[op].output.contains(&Some(*dim)))
}

/// Returns whether some loop computes the producer's result tile by tile and the user is outside that loop. The user
/// then needs all tiles, which are assembled in HBM.
fn needs_all_tiles(program: &CertifiedProgram, levels: &[(&TilingAxis, i64)], producer: usize, reader: usize) -> bool {
    levels.iter().any(|(axis, _)| is_result_tiled(program, axis, producer) && !axis.dims.contains_key(&reader))
}
