//! Packing of rectangles. A stand-in until the packing engine is merged.

use crate::lx::exact::{Chain, Link, pack_chains};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rectangle {
    pub(crate) lower: i64,
    pub(crate) upper: i64,
    pub(crate) size: i64,
}

pub(crate) struct Steps {
    pub(crate) left: u64,
}

pub(crate) enum Packing {
    Placed(Vec<i64>),
    Impossible,
    OutOfSteps,
}

pub(crate) fn pack(rectangles: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    let link = |one: &Rectangle| Link { start: one.lower as usize, end: one.upper as usize, units: one.size, limit: capacity };
    let chains: Vec<Chain> = rectangles.iter().map(|one| Chain { links: vec![link(one)] }).collect();
    pack_chains(&chains, capacity, steps)
}
