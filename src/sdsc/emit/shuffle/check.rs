//! Static checks of a shuffle: two complete views of one tensor, disjoint, and within LX.

use super::{Shuffle, ShuffleView};
use machine::{STICK_BYTES, Target};
use std::collections::{BTreeMap, BTreeSet};

/// Reason why a shuffle has no file. The text states the value found and the violated rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShuffleError {
    /// More cores or corelets than the machine has.
    #[error("expected 1 to {limit} cores with 1 or 2 corelets, found {cores} cores with {corelets}")]
    Cores {
        /// Cores of the shuffle.
        cores: i64,
        /// Corelets of a core.
        corelets: i64,
        /// Cores of the machine.
        limit: i64,
    },
    /// A view whose lists do not have one entry for each dimension or core, or that names an unknown core.
    #[error("{view}: expected {expected}")]
    Shape {
        /// `source` or `destination`.
        view: &'static str,
        /// The rule.
        expected: String,
    },
    /// Slices that do not divide a dimension into equal slices of complete sticks.
    #[error("{view}: expected slices of {unit} points that divide the {size} points of '{label}', found {slices}")]
    Slices {
        /// `source` or `destination`.
        view: &'static str,
        /// Label of the dimension.
        label: &'static str,
        /// Size of the dimension.
        size: i64,
        /// Number of slices.
        slices: i64,
        /// Number of points of which a slice is a multiple.
        unit: i64,
    },
    /// A slice that no core holds.
    #[error(
        "{view}: expected a core that holds slice {slots:?}, found none; the cores of a view hold the complete tensor"
    )]
    Incomplete {
        /// `source` or `destination`.
        view: &'static str,
        /// Slice of each dimension.
        slots: Vec<i64>,
    },
    /// A slice of the source on two cores.
    #[error(
        "source: expected one core for slice {slots:?}, found cores {first} and {second}; an element has one value"
    )]
    TwoOwners {
        /// Slice of each dimension.
        slots: Vec<i64>,
        /// Core that holds the slice.
        first: i64,
        /// Other core that holds the slice.
        second: i64,
    },
    /// An address that is not a stick in LX.
    #[error("{view}: expected an address that is a multiple of 128 from 0, found {address} on core {core}")]
    Address {
        /// `source` or `destination`.
        view: &'static str,
        /// The core.
        core: i64,
        /// The address.
        address: i64,
    },
    /// A slice that does not fit into LX.
    #[error(
        "{view}: expected at most {limit} bytes of LX, found {bytes} bytes from {address} on core {core}; pass the tensor through HBM"
    )]
    Capacity {
        /// `source` or `destination`.
        view: &'static str,
        /// The core.
        core: i64,
        /// Address of the slice.
        address: i64,
        /// Size of the slice, in bytes.
        bytes: i64,
        /// Size of LX, in bytes.
        limit: i64,
    },
    /// Source and destination that share bytes.
    #[error(
        "expected disjoint parts on core {core}, found the source at {source_address} and the destination at {destination_address}"
    )]
    Overlap {
        /// The core.
        core: i64,
        /// Address of the source.
        source_address: i64,
        /// Address of the destination.
        destination_address: i64,
    },
}

pub(super) fn check(shuffle: &Shuffle, target: &Target) -> Result<(), ShuffleError> {
    let (cores, corelets, limit) = (shuffle.cores, shuffle.corelets, target.cores);
    if !(1..=limit).contains(&cores) || !(1..=2).contains(&corelets) {
        return Err(ShuffleError::Cores { cores, corelets, limit });
    }
    for (name, view) in [("source", &shuffle.source), ("destination", &shuffle.destination)] {
        check_shape(shuffle, name, view)?;
        check_slices(shuffle, name, view)?;
        check_complete(name, view)?;
        check_addresses(shuffle, name, view, target.lx_bytes)?;
    }
    check_one_owner(&shuffle.source)?;
    check_disjoint(shuffle)
}

fn check_shape(shuffle: &Shuffle, view: &'static str, found: &ShuffleView) -> Result<(), ShuffleError> {
    let fault = |expected: String| Err(ShuffleError::Shape { view, expected });
    let num_dims = shuffle.dims.len();
    let labels: BTreeSet<&str> = shuffle.dims.iter().map(|(label, _)| label.name()).collect();
    let order: BTreeSet<&str> = found.order.iter().map(|label| label.name()).collect();
    if labels.len() != num_dims
        || order != labels
        || found.order.len() != num_dims
        || !labels.contains(shuffle.stick.name())
    {
        return fault(format!(
            "an order of the dimensions {labels:?}, each once, one of them '{}' along the stick",
            shuffle.stick.name()
        ));
    }
    if found.gaps.len() != num_dims || found.gaps.iter().any(|gap| *gap < 0) {
        return fault(format!("gaps of {num_dims} dimensions, from 0"));
    }
    if found.slices.len() != num_dims || found.slots.values().any(|slots| slots.len() != num_dims) {
        return fault(format!("slice counts and slices of {num_dims} dimensions"));
    }
    let in_range = |slots: &Vec<i64>| slots.iter().zip(&found.slices).all(|(slot, slices)| (0..*slices).contains(slot));
    if found.slots.iter().any(|(core, slots)| !(0..shuffle.cores).contains(core) || !in_range(slots)) {
        return fault(format!("cores below {} with slices below {:?}", shuffle.cores, found.slices));
    }
    if i64::try_from(found.addresses.len()) != Ok(shuffle.cores) {
        return fault(format!("{} addresses, one for each core", shuffle.cores));
    }
    Ok(())
}

/// Checks that the slice of each core, and of each of its corelets, consists of complete sticks.
fn check_slices(shuffle: &Shuffle, view: &'static str, found: &ShuffleView) -> Result<(), ShuffleError> {
    for (((label, size), slices), gap) in shuffle.dims.iter().zip(&found.slices).zip(&found.gaps) {
        let unit = if *label == shuffle.stick { shuffle.format.elements_per_stick() * shuffle.corelets } else { 1 };
        let is_even = *slices > 0 && *size > 0 && size % slices == 0 && (size / slices) % unit == 0 && gap % unit == 0;
        if !is_even {
            return Err(ShuffleError::Slices { view, label: label.name(), size: *size, slices: *slices, unit });
        }
    }
    Ok(())
}

fn check_complete(view: &'static str, found: &ShuffleView) -> Result<(), ShuffleError> {
    let held: BTreeSet<&Vec<i64>> = found.slots.values().collect();
    let mut slots = vec![0; found.slices.len()];
    // The loop ends after at most one slice per core.
    while held.contains(&slots) {
        let mut dims = slots.iter_mut().zip(&found.slices).rev();
        let carried = dims.all(|(slot, slices)| {
            *slot = (*slot + 1) % slices;
            *slot == 0
        });
        if carried {
            return Ok(());
        }
    }
    Err(ShuffleError::Incomplete { view, slots })
}

fn check_one_owner(source: &ShuffleView) -> Result<(), ShuffleError> {
    let mut owners: BTreeMap<&Vec<i64>, i64> = BTreeMap::new();
    for (second, slots) in &source.slots {
        if let Some(first) = owners.insert(slots, *second) {
            return Err(ShuffleError::TwoOwners { slots: slots.clone(), first, second: *second });
        }
    }
    Ok(())
}

fn check_addresses(shuffle: &Shuffle, view: &'static str, found: &ShuffleView, limit: i64) -> Result<(), ShuffleError> {
    let bytes = shuffle.slice_bytes(found);
    for (core, address) in (0..).zip(found.addresses.iter().copied()) {
        if address < 0 || address % STICK_BYTES != 0 {
            return Err(ShuffleError::Address { view, core, address });
        }
        if found.slots.contains_key(&core) && address.saturating_add(bytes) > limit {
            return Err(ShuffleError::Capacity { view, core, address, bytes, limit });
        }
    }
    Ok(())
}

fn check_disjoint(shuffle: &Shuffle) -> Result<(), ShuffleError> {
    let (source, destination) = (&shuffle.source, &shuffle.destination);
    let (source_bytes, destination_bytes) = (shuffle.slice_bytes(source), shuffle.slice_bytes(destination));
    for (core, (source_address, destination_address)) in
        (0..).zip(source.addresses.iter().copied().zip(destination.addresses.iter().copied()))
    {
        let is_both = source.slots.contains_key(&core) && destination.slots.contains_key(&core);
        if is_both
            && source_address < destination_address + destination_bytes
            && destination_address < source_address + source_bytes
        {
            return Err(ShuffleError::Overlap { core, source_address, destination_address });
        }
    }
    Ok(())
}
