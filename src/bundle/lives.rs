//! Live ranges of the values that a plan places in LX or in the pool.
//!
//! Ops are numbered in the order of their files. A live range extends from the first op that writes the value to the last op that
//! accesses it, within the innermost loop around both: each iteration has a live range of its own. If either op is in a loop further in,
//! the live range covers that loop completely.

use super::{Allocation, Item, Operand};
use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::ops::Range;
use std::str::FromStr;

/// Memory whose bytes are reused by several values within a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scratch {
    /// The LX of every core.
    Lx,
    /// The HBM pool of the launch.
    Pool,
}

/// Live range of a value in such memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Life {
    /// The memory.
    pub memory: Scratch,
    /// Offset of its first byte.
    pub offset_bytes: i64,
    /// Size in bytes; in LX that on one core.
    pub bytes: i64,
    /// The first op that writes it.
    pub first: usize,
    /// The last op that reads or writes it.
    pub last: usize,
}

/// `lx 512 + 128: 0 to 3`.
impl Display for Life {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let memory = match self.memory {
            Scratch::Lx => "lx",
            Scratch::Pool => "pool",
        };
        write!(formatter, "{memory} {} + {}: {} to {}", self.offset_bytes, self.bytes, self.first, self.last)
    }
}

impl FromStr for Life {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let words: Vec<&str> = text.split([' ', ':']).filter(|word| !word.is_empty()).collect();
            let &[memory, offset, "+", bytes, first, "to", last] = words.as_slice() else { return None };
            let memory = match memory {
                "lx" => Scratch::Lx,
                "pool" => Scratch::Pool,
                _ => return None,
            };
            let (offset_bytes, bytes) = (offset.parse().ok()?, bytes.parse().ok()?);
            Some(Self { memory, offset_bytes, bytes, first: first.parse().ok()?, last: last.parse().ok()? })
        };
        read().ok_or_else(|| format!("expected a live range such as 'lx 512 + 128: 0 to 3', found '{text}'"))
    }
}

/// Returns the live ranges after loop unrolling: one per iteration, except for values that the loop moves along.
#[must_use]
pub fn unrolled_lives(items: &[Item], lives: &[Life]) -> Vec<Life> {
    let mut by_first: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut by_last: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (number, life) in lives.iter().enumerate() {
        by_first.entry(life.first).or_default().push(number);
        by_last.entry(life.last).or_default().push(number);
    }
    let most_around = LoopsAround::of(items, lives);
    let mut walk = Walk { lives, most_around, by_first, by_last, next: 0, open: BTreeMap::new(), done: Vec::new() };
    walk.items(items, 0, 0);
    walk.close(&(0..usize::MAX), 0);
    walk.done.sort_unstable_by_key(|life| (life.first, life.offset_bytes, *life));
    walk.done
}

/// Maximum number of loops around each live range. An op that moves along a value with a loop requires a live range that starts outside
/// of that loop, even if no other op uses the value.
struct LoopsAround<'a> {
    lives: &'a [Life],
    /// Live ranges per address, by start; they overlap only if one value takes over the bytes of the other.
    by_place: BTreeMap<(Scratch, i64), Vec<usize>>,
    most: Vec<usize>,
}

impl<'a> LoopsAround<'a> {
    fn of(items: &[Item], lives: &'a [Life]) -> Vec<usize> {
        let mut by_place: BTreeMap<_, Vec<usize>> = BTreeMap::new();
        for (number, life) in lives.iter().enumerate() {
            by_place.entry((life.memory, life.offset_bytes)).or_default().push(number);
        }
        by_place.values_mut().for_each(|numbers| numbers.sort_by_key(|number| lives[*number].first));
        let mut around = Self { lives, by_place, most: vec![usize::MAX; lives.len()] };
        around.items(items, 0);
        around.most
    }

    /// Visits items whose first op has number `first`; returns the number after the last op.
    fn items(&mut self, items: &[Item], first: usize) -> usize {
        let mut op = first;
        for item in items {
            match item {
                Item::Loop { body, .. } => op = self.items(body, op),
                Item::Op(spec) => {
                    spec.operands.iter().for_each(|operand| self.operand(op, operand));
                    op += 1;
                }
            }
        }
        op
    }

    fn operand(&mut self, op: usize, operand: &Operand) {
        let Some(level) = operand.tile_advance.iter().position(|&advance| advance != 0) else { return };
        let place = match operand.allocation {
            Allocation::Lx { offset_bytes } => (Scratch::Lx, offset_bytes),
            Allocation::Pool { offset_bytes } => (Scratch::Pool, offset_bytes),
            Allocation::Hbm { .. } => return,
        };
        let there = self.by_place.get(&place).map_or(&[][..], Vec::as_slice);
        // Operands were written earlier; a result may begin where an operand ends.
        let n_begun = there.partition_point(|number| self.lives[*number].first < op + usize::from(!operand.is_input));
        if let Some(&number) = there[..n_begun].last().filter(|number| self.lives[**number].last >= op) {
            self.most[number] = level.min(self.most[number]);
        }
    }
}

struct Walk<'a> {
    lives: &'a [Life],
    /// Maximum number of loops around each live range.
    most_around: Vec<usize>,
    by_first: BTreeMap<usize, Vec<usize>>,
    by_last: BTreeMap<usize, Vec<usize>>,
    /// Number of the next unrolled op.
    next: usize,
    /// Live ranges that are open in the current iterations, by first op and number.
    open: BTreeMap<(usize, usize), Life>,
    done: Vec<Life>,
}

impl Walk<'_> {
    /// Unrolls items at loop depth `depth`, whose first op in the rolled program is `first`; returns the number after the last op.
    fn items(&mut self, items: &[Item], first: usize, depth: usize) -> usize {
        let mut op = first;
        for item in items {
            match item {
                Item::Op(_) => {
                    self.op(op);
                    op += 1;
                }
                Item::Loop { count, body, .. } => {
                    let start = op;
                    op += n_ops(body);
                    for _ in 0..*count {
                        self.items(body, start, depth + 1);
                        self.close(&(start..op), depth + 1);
                    }
                }
            }
        }
        op
    }

    fn op(&mut self, op: usize) {
        for &number in self.by_first.get(&op).into_iter().flatten() {
            self.open.entry((op, number)).or_insert(Life { first: self.next, last: self.next, ..self.lives[number] });
        }
        for number in self.by_last.get(&op).into_iter().flatten() {
            if let Some(life) = self.open.get_mut(&(self.lives[*number].first, *number)) {
                life.last = self.next;
            }
        }
        self.next += 1;
    }

    /// Ends the live ranges of an iteration of the loop with these ops, the innermost of `depth`.
    fn close(&mut self, ops: &Range<usize>, depth: usize) {
        let begun = self.open.range((ops.start, 0)..(ops.end, 0)).map(|(key, _)| *key);
        let is_ended = |number: usize| ops.contains(&self.lives[number].last) && depth <= self.most_around[number];
        let ended: Vec<(usize, usize)> = begun.filter(|(_, number)| is_ended(*number)).collect();
        self.done.extend(ended.into_iter().filter_map(|key| self.open.remove(&key)));
    }
}

fn n_ops(items: &[Item]) -> usize {
    let of = |item: &Item| match item {
        Item::Op(_) => 1,
        Item::Loop { body, .. } => n_ops(body),
    };
    items.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::super::Coordinate;
    use super::*;
    use crate::bundle::testing::{op, operand};

    fn life(first: usize, last: usize) -> Life {
        Life { memory: Scratch::Lx, offset_bytes: 128, bytes: 256, first, last }
    }

    fn ops(count: usize) -> Vec<Item> {
        (0..count).map(|_| Item::Op(Box::default())).collect()
    }

    #[test]
    fn the_text_of_a_life_reads_back() {
        for memory in [Scratch::Lx, Scratch::Pool] {
            let life = Life { memory, ..life(3, 14) };
            assert_eq!(life.to_string().parse(), Ok(life));
        }
        assert!("lx 0 + 1: 2".parse::<Life>().is_err() && "hbm 0 + 1: 2 to 3".parse::<Life>().is_err());
    }

    #[test]
    fn an_iteration_has_its_own_life_and_a_loop_lengthens_what_comes_from_outside() {
        let around = Item::Loop { count: 3, symbol: None, body: ops(2) };
        let items: Vec<Item> = ops(1).into_iter().chain([around]).chain(ops(1)).collect();
        let times = |given: Life| unrolled_lives(&items, &[given]).iter().map(|life| (life.first, life.last)).collect::<Vec<_>>();
        assert_eq!(times(life(1, 2)), [(1, 2), (3, 4), (5, 6)]);
        assert_eq!(times(life(0, 1)), [(0, 5)]);
        assert_eq!(times(life(1, 3)), [(1, 7)]);
        assert_eq!(times(life(2, 2)), [(2, 2), (4, 4), (6, 6)]);
    }

    /// An op that writes at byte 128 of LX.
    fn writer(tile_advance: &[i64]) -> Item {
        let allocation = Allocation::Lx { offset_bytes: 128 };
        let written = operand(&[1, 64], vec![Coordinate::constant(0), Coordinate::dim(0)]);
        let written = Operand { allocation, tile_advance: tile_advance.to_vec(), ..written };
        Item::Op(Box::new(op("", &[64], vec![written])))
    }

    #[test]
    fn what_the_iterations_fill_has_one_life_even_if_nothing_reads_it() {
        let times = |tile_advance: &[i64]| {
            let inner = Item::Loop { count: 2, symbol: None, body: vec![writer(tile_advance)] };
            let outer = Item::Loop { count: 2, symbol: None, body: vec![inner] };
            unrolled_lives(&[outer], &[life(0, 0)]).iter().map(|life| (life.first, life.last)).collect::<Vec<_>>()
        };
        assert_eq!(times(&[]), [(0, 0), (1, 1), (2, 2), (3, 3)]);
        assert_eq!(times(&[0, 64]), [(0, 1), (2, 3)]);
        assert_eq!(times(&[64, 0]), [(0, 3)]);
        assert_eq!(times(&[64, 64]), [(0, 3)]);
    }

    #[test]
    fn of_several_lives_at_an_address_the_one_is_meant_that_is_there() {
        let body = vec![writer(&[]), writer(&[]), writer(&[64])];
        let around = Item::Loop { count: 2, symbol: None, body };
        let times: Vec<_> = unrolled_lives(&[around], &[life(0, 1), life(2, 2)]).iter().map(|life| (life.first, life.last)).collect();
        assert_eq!(times, [(0, 1), (2, 5), (3, 4)]);
    }
}
