//! The bytes of a buffer that a program must move, whatever is decided: the sticks that its ops touch, each once.

use super::moved::touched_bytes;
use crate::bundle::{Mover, OpSpec, Operand};
use std::cmp::Reverse;
use std::ops::Range;

/// The sticks of a buffer that an operand of an op touches in all iterations of the loops around the op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Their bytes, at most.
    pub bytes: i64,
    /// Where they lie, if they are a box: the device shape, and the positions along each of its dimensions but the one in the sticks. An
    /// index chooses no box, nor does a tile that leaves out sticks between two iterations.
    part: Option<(Vec<i64>, Vec<Range<i64>>)>,
}

impl Touched {
    /// What `operand` touches; `loops` are the counts of the loops around the op, outermost first.
    #[must_use]
    pub fn of(op: &OpSpec, operand: &Operand, loops: &[i64]) -> Self {
        let moving = || operand.tile_advance.iter().zip(loops).filter(|(advance, _)| **advance != 0);
        let whole: i64 = operand.device_size.iter().product::<i64>() * operand.format.bytes();
        let bytes = touched_bytes(op, operand) * moving().map(|(_, count)| count).product::<i64>();
        let mut part = part_of(op, operand);
        for (advance, count) in moving() {
            part = part.and_then(|part| moved(part, &operand.device_size, *advance, *count));
        }
        Self { bytes: bytes.min(whole), part: part.map(|part| (operand.device_size.clone(), part)) }
    }

    /// Bytes of the part; those of the whole operand if there is none.
    fn part_bytes(&self) -> i64 {
        let sticks = |(_, part): &(Vec<i64>, Vec<Range<i64>>)| part.iter().map(|range| range.end - range.start).product::<i64>();
        self.part.as_ref().map_or(self.bytes, |part| (sticks(part) * machine::STICK_BYTES).min(self.bytes))
    }
}

/// The positions that an execution touches; none where an index chooses them.
fn part_of(op: &OpSpec, operand: &Operand) -> Option<Vec<Range<i64>>> {
    let outer = operand.coordinates.split_last()?.1;
    let positions = outer.iter().map(|coordinate| match &coordinate.term {
        Some(Mover::Indirect(_)) => None,
        term @ (Some(Mover::Digits(_)) | None) => {
            Some(coordinate.offset..coordinate.offset + super::moved::extent(op, term.as_ref(), i64::MAX))
        }
    });
    positions.collect()
}

/// A box that moves by `advance` elements in each of `count` iterations, as one box; none if that leaves sticks out.
fn moved(mut part: Vec<Range<i64>>, device_size: &[i64], advance: i64, count: i64) -> Option<Vec<Range<i64>>> {
    let (mut dim, mut elements) = (part.len(), *device_size.last()?);
    // The outermost dimension that the advance is whole steps of, and no more steps than it has.
    let mut step = None;
    while dim > 0 {
        dim -= 1;
        if advance % elements == 0 && advance / elements < device_size[dim] {
            step = Some((dim, advance / elements));
        }
        elements *= device_size[dim];
    }
    let (dim, steps) = step.filter(|(_, steps)| *steps > 0)?;
    let range = &mut part[dim];
    let end = range.end + steps * (count - 1);
    let is_gapless = steps <= range.end - range.start && end <= device_size[dim];
    range.end = end;
    is_gapless.then_some(part)
}

/// The fewest bytes that accesses to one buffer move together: boxes that share no stick count each, the larger ones first, and what is no
/// box counts if it alone is more.
#[must_use]
pub fn bytes_needed(accesses: &[Touched]) -> i64 {
    let mut boxes: Vec<&Touched> = accesses.iter().filter(|access| access.part.is_some()).collect();
    boxes.sort_by_key(|access| Reverse(access.part_bytes()));
    let mut counted: Vec<&Touched> = Vec::new();
    for access in boxes {
        if counted.iter().all(|other| are_apart(access, other)) {
            counted.push(access);
        }
    }
    let together = counted.iter().map(|access| access.part_bytes()).sum();
    accesses.iter().map(Touched::part_bytes).max().unwrap_or(0).max(together)
}

/// Whether two boxes share no stick; boxes of other device shapes might.
fn are_apart(one: &Touched, other: &Touched) -> bool {
    let (Some((shape, part)), Some((other_shape, others))) = (&one.part, &other.part) else { return false };
    shape == other_shape && part.iter().zip(others).any(|(one, other)| one.end <= other.start || other.end <= one.start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Allocation, Arrangement, Coordinate, IterationDim};
    use machine::DeviceFormat::Sen169Fp16;

    /// Rows `first..first + rows` of 128 columns of a buffer of 64 rows.
    fn rows(first: i64, rows: i64) -> (OpSpec, Operand) {
        let operand = Operand {
            is_input: true,
            format: Sen169Fp16,
            arrangement: Arrangement::Standard,
            device_size: vec![2, 64, 64],
            coordinates: vec![Coordinate::floordiv(1, 64), Coordinate::dim(0).plus(first), Coordinate::modulo(1, 64)],
            allocation: Allocation::Hbm { argument: 0, offset_bytes: 0 },
            tile_advance: vec![],
            name: None,
            ownership: None,
        };
        let iteration_space = vec![IterationDim::new(rows, 1), IterationDim::new(128, 1)];
        (OpSpec { iteration_space, operands: vec![operand.clone()], ..OpSpec::default() }, operand)
    }

    fn touched(first: i64, n_rows: i64) -> Touched {
        let (op, operand) = rows(first, n_rows);
        Touched::of(&op, &operand, &[])
    }

    #[test]
    fn only_what_is_read_counts() {
        assert_eq!(bytes_needed(&[touched(16, 8)]), 8 * 256);
        assert_eq!(bytes_needed(&[touched(0, 64)]), 64 * 256);
        assert_eq!(bytes_needed(&[]), 0);
    }

    #[test]
    fn a_stick_counts_once() {
        assert_eq!(bytes_needed(&[touched(0, 8), touched(0, 8), touched(8, 8)]), 16 * 256, "the same part twice");
        assert_eq!(bytes_needed(&[touched(0, 64), touched(8, 8)]), 64 * 256, "a part of the whole");
        assert_eq!(bytes_needed(&[touched(0, 8), touched(4, 8)]), 8 * 256, "parts that overlap: the larger one is a bound");
    }

    #[test]
    fn tiles_that_follow_one_another_are_one_part() {
        let tiles = |rows_of_tile: i64, advance: i64| {
            let (op, mut operand) = rows(0, rows_of_tile);
            operand.tile_advance = vec![advance * 64, 0];
            Touched::of(&op, &operand, &[4, 3])
        };
        assert_eq!(tiles(8, 8).part, touched(0, 32).part);
        assert_eq!(bytes_needed(&[tiles(8, 8), touched(32, 8)]), 40 * 256);
        assert_eq!((tiles(8, 16).part, tiles(8, 16).bytes), (None, 32 * 256), "with gaps");
    }

    #[test]
    fn rows_that_an_index_chooses_are_no_box() {
        let (mut op, mut operand) = rows(0, 8);
        let mut index = operand.clone();
        (index.name, index.coordinates) = (Some("i".to_owned()), vec![Coordinate::floordiv(0, 32), Coordinate::modulo(0, 32)]);
        operand.coordinates[1] = Coordinate::indirect("i");
        op.operands = vec![index, operand.clone()];
        let chosen = Touched::of(&op, &operand, &[]);
        assert_eq!((&chosen.part, chosen.bytes), (&None, 8 * 256));
        assert_eq!(bytes_needed(&[chosen.clone(), touched(0, 4)]), 8 * 256);
        assert_eq!(bytes_needed(&[chosen, touched(0, 16)]), 16 * 256);
    }
}
