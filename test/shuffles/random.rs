//! Random pairs of views: every shuffle that is built moves every element, and every rejection of a pair names its
//! fault.

use super::{broken_rules, moves_every_element, slice_numbers};
use machine::{DeviceFormat, Target};
use proptest::prelude::*;
use spyre_compiler::launch::geometry::DimLabel;
use spyre_compiler::sdsc::{Shuffle, ShuffleError, ShuffleView, build_shuffle_file};
use std::collections::BTreeMap;

const LABELS: [DimLabel; 3] = [DimLabel::Out, DimLabel::Mb, DimLabel::X];

/// Random view: slice counts, cores in random order, the slices of additional cores, an order of dimensions, and
/// addresses in sticks.
#[derive(Clone, Debug)]
struct RandomView {
    slices: Vec<i64>,
    cores: Vec<i64>,
    copies: Vec<usize>,
    order: Vec<DimLabel>,
    addresses: Vec<i64>,
}

const CORES: i64 = 32;

fn draw_view(is_source: bool) -> impl Strategy<Value = RandomView> {
    let slices =
        (0..3_u32, 0..3_u32, 0..2_u32).prop_map(|(stick, rows, others)| vec![1 << stick, 1 << rows, 1 << others]);
    let cores = Just((0..CORES).collect::<Vec<_>>()).prop_shuffle();
    let copies = prop::collection::vec(0..64_usize, if is_source { 0 } else { CORES as usize });
    let addresses = prop::collection::vec(0..8_i64, CORES as usize);
    let parts = (slices, cores, copies, Just(LABELS.to_vec()).prop_shuffle(), addresses);
    parts.prop_map(|(slices, cores, copies, order, addresses)| RandomView { slices, cores, copies, order, addresses })
}

/// Returns a view: each slice is on one core and, in a destination, some are on additional cores.
fn view(drawn: &RandomView, first_byte: i64, num_further: usize) -> ShuffleView {
    let num_slices: i64 = drawn.slices.iter().product();
    let slot = |slice: i64| slice_numbers(slice, &drawn.slices);
    let mut slots: BTreeMap<i64, Vec<i64>> =
        (0..num_slices).map(|slice| (drawn.cores[slice as usize], slot(slice))).collect();
    let further = drawn.cores.iter().skip(num_slices as usize).take(num_further);
    slots.extend(further.zip(&drawn.copies).map(|(core, copy)| (*core, slot(*copy as i64 % num_slices))));
    let addresses = drawn.addresses.iter().map(|sticks| first_byte + sticks * 128).collect();
    ShuffleView { order: drawn.order.clone(), slices: drawn.slices.clone(), slots, gaps: vec![0; 3], addresses }
}

fn shuffle() -> impl Strategy<Value = Shuffle> {
    let sizes = (1..3_i64, 1..4_i64, 1..3_i64).prop_map(|(sticks, rows, others)| [256 * sticks, 4 * rows, 2 * others]);
    (sizes, draw_view(true), draw_view(false), 0..CORES as usize).prop_map(
        |(sizes, source, destination, num_further)| {
            let bytes = sizes.iter().product::<i64>() * 2;
            Shuffle {
                dims: LABELS.into_iter().zip(sizes).collect(),
                stick: DimLabel::Out,
                format: DeviceFormat::Sen169Fp16,
                cores: CORES,
                corelets: 1,
                is_completed_sum: false,
                source: view(&source, 0, 0),
                destination: view(&destination, bytes + 1024, num_further),
            }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn shuffles_move_each_element(shuffle in shuffle()) {
        let file = build_shuffle_file(&shuffle, 0, &Target::spyre()).unwrap();
        prop_assert_eq!(broken_rules(&file), []);
        prop_assert_eq!(moves_every_element(&shuffle, &file).err(), None);
    }

    #[test]
    fn rejects_view_without_slice(shuffle in shuffle(), is_source in any::<bool>(), slice in 0..64_usize) {
        let mut shuffle = shuffle;
        let view = if is_source { &mut shuffle.source } else { &mut shuffle.destination };
        let lost = view.slots.values().nth(slice % view.slots.len()).unwrap().clone();
        view.slots.retain(|_, slots| *slots != lost);
        let error = build_shuffle_file(&shuffle, 0, &Target::spyre()).unwrap_err();
        prop_assert!(matches!(&error, ShuffleError::Incomplete { slots, .. } if *slots == lost), "{}", error);
    }
}

/// Every kind of rejection.
#[test]
fn names_fault_in_rejection() {
    let rejection = |change: &dyn Fn(&mut Shuffle)| {
        let mut shuffle = super::build_packed(super::find_geometry("CT-1"));
        change(&mut shuffle);
        build_shuffle_file(&shuffle, 0, &Target::spyre()).unwrap_err().to_string()
    };
    let expected = [
        (
            rejection(&|shuffle| shuffle.corelets = 3),
            "expected 1 to 32 cores with 1 or 2 corelets, found 32 cores with 3",
        ),
        (
            rejection(&|shuffle| shuffle.source.order = vec![DimLabel::Mb]),
            "source: expected an order of the dimensions",
        ),
        (rejection(&|shuffle| shuffle.source.gaps = vec![]), "source: expected gaps of 2 dimensions, from 0"),
        (
            rejection(&|shuffle| drop(shuffle.source.slots.insert(0, vec![0, 4]))),
            "source: expected cores below 32 with slices below [2, 4]",
        ),
        (
            rejection(&|shuffle| shuffle.destination.slices.truncate(1)),
            "destination: expected slice counts and slices of 2 dimensions",
        ),
        (
            rejection(&|shuffle| shuffle.source.addresses.truncate(8)),
            "source: expected 32 addresses, one for each core",
        ),
        (
            rejection(&|shuffle| shuffle.dims[1].1 = 128),
            "source: expected slices of 64 points that divide the 128 points of 'out', found 4",
        ),
        (
            rejection(&|shuffle| drop(shuffle.source.slots.insert(8, vec![0, 0]))),
            "source: expected one core for slice [0, 0], found cores 0 and 8; an element has one value",
        ),
        (
            rejection(&|shuffle| shuffle.source.addresses[3] = 64),
            "source: expected an address that is a multiple of 128 from 0, found 64 on core 3",
        ),
        (
            rejection(&|shuffle| shuffle.destination.addresses[5] = 128),
            "expected disjoint parts on core 5, found the source at 0 and the destination at 128",
        ),
    ];
    for (found, expected) in expected {
        assert!(found.starts_with(expected), "{found}");
    }
}
