//! Converts intervals that share an address into shapes for the packing engine.

use crate::pack::{Packer, PackingShape, Rectangle};
use std::ops::Range;

/// Intervals at one address: each reuses the address of its predecessor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AddressChain {
    pub(crate) links: Vec<ChainLink>,
}

/// Interval of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ChainLink {
    /// First operation.
    pub(crate) start: usize,
    /// First operation after the interval.
    pub(crate) end: usize,
    pub(crate) units: i64,
    /// Exclusive upper limit of the interval's addresses, in units.
    pub(crate) limit: i64,
}

impl AddressChain {
    /// Returns the operations from the first interval to the last.
    pub(crate) fn live_range(&self) -> Range<usize> {
        let start = self.links.iter().map(|link| link.start).min().unwrap_or(0);
        start..self.links.iter().map(|link| link.end).max().unwrap_or(0)
    }

    /// Returns the units of the largest interval.
    pub(crate) fn max_units(&self) -> i64 {
        self.links.iter().map(|link| link.units).max().unwrap_or(0)
    }

    /// Returns the highest address of the chain in `capacity` units; negative if there is none.
    pub(crate) fn highest_address(&self, capacity: i64) -> i64 {
        self.links.iter().map(|link| link.limit.min(capacity) - link.units).min().unwrap_or(-1)
    }
}

/// Builds the search for an address of each chain.
///
/// The packing engine supports one capacity. A chain with a lower limit gets an extra rectangle after all operations.
/// The chain is alone there, and the rectangle is higher by the missing units.
pub(crate) fn build_chain_packer(chains: &[AddressChain], capacity: i64) -> Packer {
    let tick = |tick: usize| i64::try_from(tick).expect("fewer than 2^63");
    let mut after = tick(chains.iter().map(|chain| chain.live_range().end).max().unwrap_or(0));
    let shape = |chain: &AddressChain| {
        let step = |link: &ChainLink| Rectangle { lower: tick(link.start), upper: tick(link.end), size: link.units };
        let mut shape = PackingShape { steps: chain.links.iter().map(step).collect() };
        let size = capacity - chain.highest_address(capacity);
        if size > chain.max_units() {
            shape.steps.push(Rectangle { lower: after, upper: after + 1, size });
            after += 1;
        }
        shape
    };
    let shapes: Vec<PackingShape> = chains.iter().map(shape).collect();
    Packer::new(&shapes, &[], capacity)
}
