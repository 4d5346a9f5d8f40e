//! Packing of rectangles. A stand-in until the packing engine is merged.

use crate::lx::exact::{Chain, Link, pack_chains};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rectangle {
    pub lower: i64,
    pub upper: i64,
    pub size: i64,
}

pub struct Steps {
    pub left: u64,
}

pub enum Packing {
    Placed(Vec<i64>),
    Impossible,
    OutOfSteps,
}

pub fn pack(rectangles: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    let link = |one: &Rectangle| Link { start: one.lower as usize, end: one.upper as usize, units: one.size, limit: capacity };
    let chains: Vec<Chain> = rectangles.iter().map(|one| Chain { links: vec![link(one)] }).collect();
    pack_chains(&chains, capacity, steps)
}
