//! Shuffles: built from two views of a tensor, checked, executed on LX with different previous contents, and compared
//! with a plain copy.

#![allow(clippy::unwrap_used, reason = "a test over files")]

#[path = "shuffles/forged.rs"]
mod forged;
#[path = "shuffles/geometries.rs"]
mod geometries;
#[path = "shuffles/programs.rs"]
mod programs;
#[path = "shuffles/random.rs"]
mod random;

use geometries::{GEOMETRIES, RelayoutGeometry, SliceDistribution, find_geometry};
use machine::{DeviceFormat, Target};
use referee::{LxImage, LxRange, RunOptions, RunOutcome, SimError, Simulation};
use sdsc_check::{BundleFiles, check_bundle};
use sdsc_format::model::Sdsc;
use sdsc_format::program::{LaunchEntry, Program};
use serde_json::json;
use spyre_compiler::launch::geometry::DimLabel;
use spyre_compiler::sdsc::{Shuffle, ShuffleError, ShuffleView, build_shuffle_file};
use std::collections::BTreeMap;

/// Text of a bundle that executes one file without arguments.
const TEXT: &str = "module {\n\tfunc.func @sdsc_bundle() {\n\t\tsdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_0.json\", \"symbol_ids\"=[]}\n\t\treturn\n\t}\n}\n";

/// Two fill bytes of LX before a shuffle.
const POISONS: [u8; 2] = [0x5a, 0xc3];

/// Number of 16-bit elements per stick.
const STICK: i64 = 64;

/// Returns the slice numbers of slice `slice`, the first dimension fastest.
fn slice_numbers(slice: i64, slices: &[i64]) -> Vec<i64> {
    let mut rest = slice;
    let digit = |base: &i64| {
        let digit = rest % base;
        rest /= base;
        digit
    };
    slices.iter().map(digit).collect()
}

fn build_view(held: &SliceDistribution, order: &[DimLabel], addresses: Vec<i64>) -> ShuffleView {
    let mut slots = BTreeMap::new();
    let num_slices: i64 = held.slices.iter().product();
    for slice in 0..num_slices {
        let slot = slice_numbers(slice, held.slices);
        let owner = held.base + slot.iter().zip(held.strides).map(|(slot, stride)| slot * stride).sum::<i64>();
        (0..held.copies)
            .for_each(|copy| assert_eq!(slots.insert(owner + copy * held.step, slot.clone()), None, "core {owner}"));
    }
    ShuffleView {
        order: order.to_vec(),
        slices: held.slices.to_vec(),
        slots,
        gaps: vec![0; held.slices.len()],
        addresses,
    }
}

/// Builds a relayout of the table on all cores of the machine, from `source` to `destination` addresses.
fn build_shuffle(
    geometry: &RelayoutGeometry,
    source: impl Fn(i64) -> i64,
    destination: impl Fn(i64) -> i64,
) -> Shuffle {
    let order: Vec<DimLabel> = geometry.dims.iter().map(|(label, _)| *label).collect();
    let cores = 32;
    Shuffle {
        dims: geometry.dims.to_vec(),
        stick: DimLabel::Out,
        format: DeviceFormat::Sen169Fp16,
        cores,
        corelets: 1,
        is_completed_sum: false,
        source: build_view(&geometry.source, &order, (0..cores).map(source).collect()),
        destination: build_view(&geometry.destination, &order, (0..cores).map(destination).collect()),
    }
}

fn slice_bytes(geometry: &RelayoutGeometry, held: &SliceDistribution) -> i64 {
    geometry.dims.iter().map(|(_, size)| size).product::<i64>() * 2 / held.slices.iter().product::<i64>()
}

/// Builds a relayout whose destination directly follows its source, with the same addresses on every core.
fn build_packed(geometry: &RelayoutGeometry) -> Shuffle {
    let after = slice_bytes(geometry, &geometry.source);
    build_shuffle(geometry, |_| 0, |_| after)
}

/// Returns the byte of a stick within a slice: sticks along `order`, from the inside. Positions along the stick
/// dimension count sticks.
fn byte_in_slice(shuffle: &Shuffle, view: &ShuffleView, sizes: &[i64], position: &[i64]) -> i64 {
    let (mut sticks, mut step) = (0, 1);
    for label in &view.order {
        let dim = shuffle.dims.iter().position(|(known, _)| known == label).unwrap();
        let gap = view.gaps[dim] / if *label == shuffle.stick { STICK } else { 1 };
        sticks += position[dim] * step;
        step *= sizes[dim] / view.slices[dim] + gap;
    }
    128 * sticks
}

/// Visits the sticks of a core's slice: the byte in LX, and the number of the stick in the tensor.
fn for_each_stick(shuffle: &Shuffle, view: &ShuffleView, core: i64, mut visit: impl FnMut(usize, usize)) {
    let Some(slots) = view.slots.get(&core) else { return };
    let in_sticks = |(label, size): &(DimLabel, i64)| if *label == shuffle.stick { size / STICK } else { *size };
    let sizes: Vec<i64> = shuffle.dims.iter().map(in_sticks).collect();
    let locals: Vec<i64> = sizes.iter().zip(&view.slices).map(|(size, slices)| size / slices).collect();
    for stick in 0..locals.iter().product::<i64>() {
        let position = slice_numbers(stick, &locals);
        let number =
            (0..sizes.len()).fold(0, |number, dim| number * sizes[dim] + slots[dim] * locals[dim] + position[dim]);
        let byte = view.addresses[core as usize] + byte_in_slice(shuffle, view, &sizes, &position);
        visit(usize::try_from(byte).unwrap(), usize::try_from(number).unwrap());
    }
}

/// Returns the elements of a stick as bits, which differ from those of other sticks and seeds.
fn stick_pattern(number: usize, seed: u64) -> [u8; 128] {
    let mixed = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ seed.rotate_left(17));
    let mut stick = [0; 128];
    for (lane, element) in (0_u64..).zip(stick.chunks_exact_mut(2)) {
        element.copy_from_slice(&((mixed.wrapping_add(lane.wrapping_mul(mixed | 1)) >> 40) as u16).to_le_bytes());
    }
    stick
}

/// Builds the LX of every core, `bytes` each: filled with `poison`, and the slices of the views with their elements.
fn build_lx_images(shuffle: &Shuffle, views: &[&ShuffleView], bytes: usize, poison: u8, seed: u64) -> Vec<LxImage> {
    let image = |core| {
        let mut image = vec![poison; bytes];
        for view in views {
            for_each_stick(shuffle, view, core, |byte, number| {
                image[byte..byte + 128].copy_from_slice(&stick_pattern(number, seed))
            });
        }
        LxImage { core, address: 0, bytes: image }
    };
    (0..shuffle.cores).map(image).collect()
}

/// Returns the bytes of LX that a shuffle accesses, and a stick after them.
fn touched_bytes(shuffle: &Shuffle) -> usize {
    let mut last = 0;
    for view in [&shuffle.source, &shuffle.destination] {
        (0..shuffle.cores).for_each(|core| for_each_stick(shuffle, view, core, |byte, _| last = last.max(byte + 128)));
    }
    last + 128
}

fn load(file: &Sdsc) -> Result<Simulation, SimError> {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("b")).unwrap();
    std::fs::write(dir.path().join("b/bundle.mlir"), TEXT).unwrap();
    std::fs::write(dir.path().join("b/sdsc_0.json"), sdsc_format::to_text(file)).unwrap();
    let launches = vec![LaunchEntry { bundle: "b".to_owned(), ..LaunchEntry::default() }];
    Simulation::with_program(
        Program { name: "shuffle".to_owned(), launches, ..Program::default() },
        dir.path(),
        &Target::spyre(),
    )
}

/// Runs the file of a shuffle on LX with its source.
fn run(shuffle: &Shuffle, file: &Sdsc, poison: u8, seed: u64) -> Result<RunOutcome, SimError> {
    let bytes = touched_bytes(shuffle);
    let lx = build_lx_images(shuffle, &[&shuffle.source], bytes, poison, seed);
    let observed_lx = (0..shuffle.cores).map(|core| LxRange { core, address: 0, bytes: bytes as i64 }).collect();
    load(file)?.run(&BTreeMap::new(), &RunOptions { lx, observed_lx, ..RunOptions::default() })
}

/// Returns labels and messages of the rules that a bundle of this file violates.
fn broken_rules(file: &Sdsc) -> Vec<(&'static str, String)> {
    let sdsc = [("sdsc_0.json".to_owned(), sdsc_format::to_text(file))].into();
    let found = check_bundle(&BundleFiles { text: TEXT.to_owned(), sdsc, arguments: Vec::new() });
    found.into_iter().map(|violation| (violation.label, violation.to_string())).collect()
}

/// Checks that every core has its slice, and that all other bytes are unchanged, for each previous content of LX.
fn moves_every_element(shuffle: &Shuffle, file: &Sdsc) -> Result<u64, String> {
    let mut moved = 0;
    for (seed, poison) in (1..).zip(POISONS) {
        let outcome = run(shuffle, file, poison, seed).map_err(|error| error.to_string())?;
        let expected =
            build_lx_images(shuffle, &[&shuffle.source, &shuffle.destination], touched_bytes(shuffle), poison, seed);
        let wrong = outcome.lx.iter().zip(&expected).find(|(found, expected)| found != expected);
        if let Some((found, expected)) = wrong {
            let byte = found.bytes.iter().zip(&expected.bytes).position(|(found, expected)| found != expected);
            return Err(format!("core {}, byte {byte:?} of LX", found.core));
        }
        moved = outcome.report.total.ring_bytes;
    }
    Ok(moved)
}

/// Builds, checks and executes a shuffle; returns the bytes that change their core.
fn check_shuffle(name: &str, shuffle: &Shuffle) -> u64 {
    let file = build_shuffle_file(shuffle, 0, &Target::spyre()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let read: Sdsc = serde_json::from_slice(&sdsc_format::to_text(&file)).unwrap();
    assert_eq!(read, file, "{name}");
    assert_eq!(broken_rules(&file), [], "{name}");
    moves_every_element(shuffle, &file).unwrap_or_else(|fault| panic!("{name}: {fault}"))
}

#[test]
fn delivers_every_element_of_recorded_relayouts() {
    for geometry in GEOMETRIES {
        assert_eq!(check_shuffle(geometry.name, &build_packed(geometry)), geometry.remote_bytes, "{}", geometry.name);
    }
}

/// CT-1, CT-2 and CT-3, which combines both: includes copies on the same core.
#[test]
fn runs_conformance_tests_one_to_three() {
    let moved = ["CT-1", "CT-2"].map(|name| check_shuffle(name, &build_packed(find_geometry(name))));
    let delivered =
        ["CT-1", "CT-2"].map(|name| slice_bytes(find_geometry(name), &find_geometry(name).destination) as u64 * 8);
    assert_eq!((moved, delivered), ([1536, 24_576], [1536 + 512, 24_576 + 8192]));
}

/// Builds CT-4: two corelets share sticks of 128 columns.
fn corelet_shuffle() -> Shuffle {
    Shuffle { corelets: 2, ..build_packed(find_geometry("CT-4")) }
}

#[test]
fn runs_conformance_test_four() {
    let file = build_shuffle_file(&corelet_shuffle(), 0, &Target::spyre()).unwrap();
    let folds = |node: usize| {
        let folds = &file.value.dscs[0].value.nodes[node].coordinates.dims.get("out").unwrap().folds;
        serde_json::to_value(folds).unwrap()["dim_prop_attr"]
            .as_array()
            .unwrap()
            .iter()
            .map(|fold| fold["factor_"].as_i64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!((folds(0), folds(1)), (vec![1, 2, 1, 128], vec![1, 2, 1, 128]));
    assert_eq!(check_shuffle("CT-4", &corelet_shuffle()), 3584);
}

/// Returns the file of a shuffle over two corelets whose second corelet has its halves at addresses of their own: of
/// the source, and of the destination.
fn divide_addresses(shuffle: &Shuffle, second: [&dyn Fn(i64) -> i64; 2]) -> Sdsc {
    let mut value = serde_json::to_value(build_shuffle_file(shuffle, 0, &Target::spyre()).unwrap()).unwrap();
    for (tensor, second) in second.into_iter().enumerate() {
        let path = format!("/0_shuffle/dscs_/0/shuffle/scheduleTree_/{tensor}/startAddressCoreCorelet_");
        let start = value.pointer_mut(&path).unwrap();
        start["dim_prop_func"][1] = json!({"Map": {}});
        for core in 0..shuffle.cores {
            start["data_"][format!("[{core}, 1, 0]")] = json!(second(core).to_string());
        }
    }
    serde_json::from_value(value).unwrap()
}

/// CT-4 with an address for each corelet: the halves of a slice follow each other, or are anywhere in LX.
#[test]
fn moves_halves_of_two_corelets() {
    let shuffle = corelet_shuffle();
    // A slice of the source has 256 bytes from 0, one of the destination 512 bytes behind it.
    let halves = [(0, 128), (256, 256)];
    let adjacent: [&dyn Fn(i64) -> i64; 2] = [&|_| 128, &|_| 512];
    let scattered: [&dyn Fn(i64) -> i64; 2] = [&|core| 4096 + 256 * core, &|core| 1024 + 256 * core];
    for second in [adjacent, scattered] {
        let file = divide_addresses(&shuffle, second);
        assert_eq!(broken_rules(&file), []);
        let relocate = |images: Vec<LxImage>, poison: u8| -> Vec<LxImage> {
            let relocated = |image: LxImage| {
                let mut bytes = vec![poison; 16_384];
                for ((first, half), second) in halves.iter().zip(second) {
                    bytes[*first..first + half].copy_from_slice(&image.bytes[*first..first + half]);
                    let at = second(image.core) as usize;
                    bytes[at..at + half].copy_from_slice(&image.bytes[first + half..first + 2 * half]);
                }
                LxImage { bytes, ..image }
            };
            images.into_iter().map(relocated).collect()
        };
        for (seed, poison) in (1..).zip(POISONS) {
            let images = |views: &[&ShuffleView]| relocate(build_lx_images(&shuffle, views, 768, poison, seed), poison);
            let observed_lx = (0..32).map(|core| LxRange { core, address: 0, bytes: 16_384 }).collect();
            let options = RunOptions { lx: images(&[&shuffle.source]), observed_lx, ..RunOptions::default() };
            let outcome = load(&file).unwrap().run(&BTreeMap::new(), &options).unwrap();
            assert!(outcome.lx == images(&[&shuffle.source, &shuffle.destination]));
            assert_eq!(outcome.report.total.ring_bytes, 3584);
        }
    }
}

/// Builds CT-5: every core has its own addresses.
fn per_core_address_shuffle() -> Shuffle {
    build_shuffle(find_geometry("CT-1"), |core| 4096 + 1024 * core, |core| 65_536 + 2048 * core)
}

#[test]
fn runs_conformance_test_five() {
    assert_eq!(check_shuffle("CT-5", &per_core_address_shuffle()), 1536);
}

/// CT-9: 4 MiB do not fit into the LX of a core.
#[test]
fn rejects_emission_of_conformance_test_nine() {
    let mut shuffle = build_packed(find_geometry("CT-2"));
    shuffle.dims = vec![(DimLabel::Mb, 1), (DimLabel::X, 8192), (DimLabel::Out, 256)];
    shuffle.source.slices = vec![1, 8, 1];
    shuffle.source.slots = (0..8).map(|core| (core, vec![0, core, 0])).collect();
    shuffle.destination.slices = vec![1, 1, 1];
    shuffle.destination.slots = (0..8).map(|core| (core, vec![0, 0, 0])).collect();
    shuffle.destination.addresses = vec![524_288; 32];
    let error = build_shuffle_file(&shuffle, 0, &Target::spyre()).unwrap_err();
    assert!(matches!(error, ShuffleError::Capacity { view: "destination", core: 0, bytes: 4_194_304, .. }), "{error}");
    assert!(error.to_string().ends_with("pass the tensor through HBM"), "{error}");
}

/// The last of 512 rows, selected on the four cores that hold it: the source is a box of one row in a buffer of 64.
#[test]
fn distributes_row_of_larger_buffer() {
    let held = |base, slices, strides| SliceDistribution { slices, base, strides, copies: 1, step: 0 };
    let dims = &[(DimLabel::Mb, 1), (DimLabel::Out, 4096)];
    let (source, destination) = (held(28, &[1, 4], &[0, 1]), held(0, &[1, 32], &[0, 1]));
    let geometry = RelayoutGeometry { name: "P14", dims, source, destination, remote_bytes: 7936 };
    let mut shuffle = build_shuffle(&geometry, |_| 63 * 128, |_| 1024 * 64 * 2);
    shuffle.source.gaps = vec![63, 0];
    assert_eq!(check_shuffle("P14", &shuffle), geometry.remote_bytes);
}

/// A completed sum: the file lists only the cores that have it.
#[test]
fn lists_owners_of_completed_sum_as_used() {
    let shuffle = Shuffle { is_completed_sum: true, ..build_packed(find_geometry("KT-07b")) };
    let file = build_shuffle_file(&shuffle, 0, &Target::spyre()).unwrap();
    assert_eq!(file.value.dscs[0].value.core_ids, [3, 7, 11, 15, 19, 23, 27, 31]);
    assert_eq!((file.value.n_cores, file.value.core_fold.factor), (8, 32));
    assert_eq!(check_shuffle("KT-07b", &shuffle), 540_672);
}
