//! Reading back files of release 1.0.0: those of our emitter give the same bytes, and legal files of other emitters
//! give a bundle with the same results, or are rejected by the name of a member that no op spec expresses.

use super::legal::{ExecutionExpectation, LegalFile, all_legal, base_files, base_program};
use super::run::run;
use super::{convert_to_release, is_sdsc};
use crate::check_bundle::bundles::{Files, RIGHT};
use crate::common;
use machine::Target;
use referee::HostArray;
use sdsc_format::program::{PROGRAM_FILE, Program};
use sdsc_format::{BUNDLE_FILE, Sdsc};
use spyre_compiler::launch::Launch;
use spyre_compiler::launch::symbols::MemoryMap;
use spyre_compiler::sdsc::{
    LegalBundle, ProgramFacts, emit::from_op_spec, emit::from_op_spec_baked, find_executed_files, read_legal_bundle,
};
use std::collections::BTreeMap;

/// Legal files that are rejected, with words of the message. Each message names the member.
const REJECTED: [(&str, &str); 18] = [
    ("no coreIdToWkSlice_ on four cores", "coreIdToWkSlice_: expected a slice for each core"),
    ("constants of a quantization", "labeledDs_[0].dsType_: no op spec gives this file"),
    ("no primaryDsInfo_", "a tensor has this class, which is not there"),
    ("tensors that cores allocate separately", "nonUnifiedAllocInHBM_: expected one allocation for all cores"),
    ("indices that are addresses", "indexTensorType_: expected 'index', found 'address'"),
    ("elements of half a byte", "labeledDs_[1].dataFormat_: expected one of 'SEN169_FP16'"),
    ("sticks of 4-bit blocks", "labeledDs_[0].dataFormat_: expected one of 'SEN169_FP16'"),
    ("fused operations", "computeOp_: expected one operation, found 2"),
    ("a last slice that is smaller", "el_: the sizes differ from those of 'ss_'; no op spec divides work unevenly"),
    ("a smaller last slice without slice counts", "el_: the sizes differ from those of 'ss_'"),
    ("bounds of a symbolic size in N_", "el_.symbolicDimInfo_: no op spec gives this file"),
    ("cores 2, 5, 7 and 9", "coreIdsUsed_: expected the cores from 0 to 3; no op spec chooses cores"),
    ("a total that is not stated", "coreIdToWkSlice_.1.i: no op spec gives this file"),
    ("two descriptions", "dscs_: expected one description that all cores run, found 2"),
    ("unequal work", "dscs_: expected one description that all cores run, found 2"),
    ("two steps with a barrier", "coreIdToDscSchedule: expected the step [-1, 0, 0, 0] on each core"),
    ("two steps without a barrier", "coreIdToDscSchedule: expected the step [-1, 0, 0, 0] on each core"),
    ("a data operation", "coreIdToDscSchedule: expected the step [-1, 0, 0, 0] on each core"),
];

/// Bundles whose list of indices is a single stick without blocks, and one with windows. The compiler does not write
/// such lists, the reader takes them for lists in blocks, and windows of the release need the op spec.
const UNREAD: [&str; 4] = ["gather", "table", "launched", "pooling"];

/// Returns the folders of the bundles in `files`, each with the number of its launch.
fn bundle_folders(files: &Files) -> Vec<(String, usize)> {
    match files.get(PROGRAM_FILE) {
        Some(bytes) if !files.contains_key(BUNDLE_FILE) => {
            let program: Program = serde_json::from_slice(bytes).unwrap();
            let names = program.launches.iter().enumerate();
            names.map(|(launch, entry)| (format!("{}/", entry.bundle), launch)).collect()
        }
        _ => vec![(String::new(), 0)],
    }
}

fn read(files: &Files, (folder, launch): &(String, usize)) -> Result<LegalBundle, String> {
    let program: Option<Program> = files.get(PROGRAM_FILE).map(|bytes| serde_json::from_slice(bytes).unwrap());
    let entry = program.as_ref().and_then(|program| program.launches.get(*launch));
    let facts = entry.map(ProgramFacts::from_entry).unwrap_or_default();
    let text = std::str::from_utf8(&files[&format!("{folder}{BUNDLE_FILE}")]).unwrap();
    let names = find_executed_files(text).map_err(|error| error.to_string())?;
    let sdsc: Vec<Sdsc> =
        names.iter().map(|name| serde_json::from_slice(&files[&format!("{folder}{name}")]).unwrap()).collect();
    read_legal_bundle(text, &sdsc, facts).map_err(|error| error.to_string())
}

/// Returns the files of a bundle under release 1.0.0.
fn write(read: &LegalBundle, folder: &str) -> Files {
    let (bundle, target) = (&read.bundle, Target::spyre());
    let memory = read.is_baked.then(|| MemoryMap::from_bundle(bundle, &target));
    let launch = if read.is_baked { Launch::new_baked(bundle, &target) } else { Launch::new(bundle) }.unwrap();
    let file = |(index, op)| {
        let mut sdsc: Sdsc = match &memory {
            Some(memory) => from_op_spec_baked(op, index, memory),
            None => from_op_spec(op, index, launch.first_symbol_ids[index]),
        }
        .unwrap();
        sdsc.value.convert_to_release();
        (format!("{folder}sdsc_{index}.json"), sdsc_format::to_text(&sdsc))
    };
    let text = (format!("{folder}{BUNDLE_FILE}"), launch.to_string().into_bytes());
    bundle.ops().into_iter().enumerate().map(file).chain([text]).collect()
}

/// Reads back each bundle, and replaces its files by those that are written again.
fn read_and_write(files: &Files) -> Result<Files, String> {
    let mut again: Files = files
        .iter()
        .filter(|(name, _)| !is_sdsc(name) && !name.ends_with(BUNDLE_FILE))
        .map(|(name, bytes)| (name.clone(), bytes.clone()))
        .collect();
    for place in bundle_folders(files) {
        again.extend(write(&read(files, &place)?, &place.0));
    }
    Ok(again)
}

/// Returns the golden bundles without constants of unknown bits, and the correct bundles of our emitter.
fn our_bundles() -> Vec<(String, Files)> {
    let mut bundles: Vec<(String, Files)> = RIGHT
        .iter()
        .filter(|(name, _)| !UNREAD.contains(name))
        .map(|(name, files)| ((*name).to_owned(), files.clone()))
        .collect();
    for case in common::golden_cases() {
        let file = |entry: std::io::Result<std::fs::DirEntry>| {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            (is_sdsc(&name) || name == BUNDLE_FILE).then(|| (name, std::fs::read(entry.path()).unwrap()))
        };
        let files: Files = std::fs::read_dir(&case).unwrap().filter_map(file).collect();
        if !files.values().any(|bytes| String::from_utf8_lossy(bytes).contains("\"?DL16(")) {
            bundles.push((case.display().to_string(), files));
        }
    }
    bundles
}

/// Returns a bundle under release 1.0.0, as the compiler writes it.
fn release_files(files: &Files) -> Files {
    let file = |(name, bytes): (&String, &Vec<u8>)| {
        let bytes = if is_sdsc(name) {
            let mut sdsc: Sdsc = serde_json::from_slice(bytes).unwrap();
            sdsc.value.debug_handle = None;
            sdsc.value.convert_to_release();
            sdsc_format::to_text(&sdsc)
        } else {
            bytes.clone()
        };
        (name.clone(), bytes)
    };
    files.iter().map(file).collect()
}

#[test]
fn writes_released_files_to_same_bytes() {
    let (mut num_same, mut wrong) = (0, String::new());
    for (name, files) in our_bundles() {
        let files = release_files(&files);
        match read_and_write(&files) {
            Ok(again) if again == files => num_same += 1,
            Ok(again) => {
                let differs = files.iter().find(|(name, bytes)| again.get(*name) != Some(*bytes));
                wrong += &format!("\n{name}: {:?} differs", differs.map(|(name, _)| name));
            }
            Err(error) => wrong += &format!("\n{name}: {error}"),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(num_same >= 40, "{num_same}");
}

/// The members of objects have no order.
#[test]
fn reads_members_in_any_order() {
    let mut wrong = String::new();
    for (name, files) in our_bundles() {
        let files = release_files(&files);
        let sorted = files.iter().map(|(name, bytes)| {
            let value: serde_json::Value = match is_sdsc(name) {
                true => serde_json::from_slice(bytes).unwrap(),
                false => return (name.clone(), bytes.clone()),
            };
            (name.clone(), serde_json::to_vec(&value).unwrap())
        });
        match read_and_write(&sorted.collect()) {
            Ok(again) if again == files => {}
            Ok(_) => wrong += &format!("\n{name}: other bytes"),
            Err(error) => wrong += &format!("\n{name}: {error}"),
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn reads_back_or_rejects_legal_files() {
    let mut expected: BTreeMap<&str, Vec<HostArray>> = BTreeMap::new();
    let (mut num_run, mut wrong) = (0, String::new());
    for LegalFile { name, base, files, runs, .. } in all_legal() {
        let program = base_program(base);
        let rejection = REJECTED.iter().find(|(rejected, _)| *rejected == name).map(|(_, words)| words);
        let fault = match (read_and_write(&files), rejection) {
            (Err(error), Some(words)) => (!error.contains(words)).then_some(error),
            (Err(error), None) => Some(error),
            (Ok(_), Some(_)) => Some("is read".to_owned()),
            (Ok(_), None) if matches!(runs, ExecutionExpectation::Rejected(_)) => None,
            (Ok(again), None) => match run(&again, program.as_ref()) {
                Ok(results) => {
                    num_run += 1;
                    let results_of_base =
                        expected.entry(base).or_insert_with(|| run(&base_files(base), program.as_ref()).unwrap());
                    (results != *results_of_base).then(|| "other results".to_owned())
                }
                Err(error) => Some(format!("does not run: {error}")),
            },
        };
        wrong.extend(fault.map(|fault| format!("\n'{name}': {fault}")));
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(num_run >= 50, "{num_run}");
}

#[test]
fn keeps_converted_files_equal() {
    // The test's own conversion leaves more of torch-spyre's spellings; it has the same canonical form.
    // It does not round the blocks of 8-bit weights.
    for (name, files) in our_bundles().into_iter().filter(|(name, _)| !name.ends_with("fp8_product")) {
        let again =
            read_and_write(&convert_to_release(files.clone())).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(again, release_files(&files), "{name}");
    }
}
