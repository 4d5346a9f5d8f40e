//! Reading back files: bundles of the reference emitter and of ours yield the files and the launch from which they were
//! read.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use crate::common;
use machine::Target;
use proptest::prelude::*;
use sdsc_format::Sdsc;
use spyre_compiler::launch::symbols::MemoryMap;
use spyre_compiler::sdsc::{self, ProgramFacts, to_bundle};
use spyre_compiler::{
    bundle::{Bundle, BundleItem},
    launch::Launch,
};
use std::path::{Path, PathBuf};

#[path = "read_back/random.rs"]
mod random;

/// Returns the files of a case, by number.
fn read_texts(case: &Path) -> Vec<String> {
    (0..).map_while(|index| std::fs::read_to_string(case.join(format!("sdsc_{index}.json"))).ok()).collect()
}

fn read(texts: &[String]) -> Vec<Sdsc> {
    texts.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
}

/// Returns the files of a bundle, by number.
fn write(bundle: &Bundle, launch: &Launch) -> Vec<String> {
    let write = |(index, op)| {
        let sdsc = sdsc::from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap();
        String::from_utf8(sdsc_format::to_text(&sdsc)).unwrap()
    };
    bundle.ops().into_iter().enumerate().map(write).collect()
}

/// Reads a bundle back and writes it again.
fn check(text: &str, files: &[String], context: &str) -> Bundle {
    let bundle = to_bundle(&sdsc::parse_launch(text).unwrap(), &read(files), ProgramFacts::default())
        .unwrap_or_else(|error| panic!("{context}: {error}"));
    let again = Launch::new(&bundle).unwrap();
    assert_eq!(again.to_string(), text, "{context}");
    for (index, (written, expected)) in write(&bundle, &again).iter().zip(files).enumerate() {
        // Golden files have a placeholder for constants with unknown bits.
        if !expected.contains("\"?DL16(") {
            assert_eq!(written, expected, "{context}: sdsc_{index}.json");
        }
    }
    bundle
}

fn check_golden(cases: &[PathBuf]) {
    for case in cases {
        let text = std::fs::read_to_string(case.join("bundle.mlir")).unwrap();
        check(&text, &read_texts(case), &case.display().to_string());
    }
}

#[test]
fn reads_back_golden_bundles() {
    check_golden(&common::golden_cases());
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn reads_back_golden_bundles() {
        check_golden(&common::shared_golden_cases());
    }
}

/// Returns a bundle of these items in a pool of a megabyte.
fn bundle(items: Vec<BundleItem>) -> Bundle {
    Bundle { pool_bytes: if (Bundle { pool_bytes: 0, items: items.clone() }).uses_pool() { 1 << 20 } else { 0 }, items }
}

proptest! {
    #[test]
    fn random_bundles_are_read_back(ops in prop::collection::vec((random::any_op(), random::changes(false)), 1..4)) {
        let written = bundle(ops.into_iter().map(|(op, changes)| random::placed(op, &changes, false)).collect());
        let launch = Launch::new(&written).unwrap();
        check(&launch.to_string(), &write(&written, &launch), "random");
    }

    /// Bundles that cannot be read back are rejected: `to_bundle` never returns a different bundle.
    #[test]
    fn strange_bundles_are_read_back_or_rejected(op in random::any_op(), changes in random::changes(true)) {
        let written = bundle(vec![random::placed(op, &changes, false)]);
        let Ok(launch) = Launch::new(&written) else { return Ok(()) };
        let Ok(_) = sdsc::from_op_spec(written.ops()[0], 0, -1) else { return Ok(()) };
        let files = write(&written, &launch);
        if let Ok(found) = to_bundle(&launch, &read(&files), ProgramFacts::default()) {
            let again = Launch::new(&found).unwrap();
            prop_assert_eq!(again.to_string(), launch.to_string());
            prop_assert_eq!(write(&found, &again), files);
        }
    }

    #[test]
    fn baked_addresses_are_read_back(op in random::any_op(), changes in random::changes(false)) {
        let written = bundle(vec![random::placed(op, &changes, true)]);
        let target = Target::spyre();
        let Ok(launch) = Launch::new_baked(&written, &target) else { return Ok(()) };
        let file = |bundle: &Bundle| sdsc::from_op_spec_baked(bundle.ops()[0], 0, &MemoryMap::from_bundle(bundle, &target)).unwrap();
        let expected = file(&written);
        let pool_bytes = if written.uses_pool() { written.pool_bytes } else { 0 };
        let found = to_bundle(&launch, std::slice::from_ref(&expected), ProgramFacts { pool_bytes, ..ProgramFacts::default() }).unwrap_or_else(|error| panic!("{error}"));
        prop_assert_eq!(sdsc_format::to_text(&file(&found)), sdsc_format::to_text(&expected));
        prop_assert_eq!(Launch::new_baked(&found, &target).unwrap(), launch);
    }
}

#[test]
fn rejects_file_without_op_spec() {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("test/golden/add");
    let text = std::fs::read_to_string(case.join("bundle.mlir")).unwrap();
    let rejected = |from: &str, to: &str| {
        let file = read_texts(&case)[0].replacen(from, to, 1);
        to_bundle(&sdsc::parse_launch(&text).unwrap(), &read(&[file]), ProgramFacts::default()).unwrap_err().to_string()
    };
    assert_eq!(
        rejected("\"fidelity_\": \"regular\"", "\"fidelity_\": \"high\""),
        "sdsc_0.json: 0_add.dscs_[0].add.computeOp_[0].attributes_.fidelity_: no op spec gives this file: the closest one gives \
         \"regular\", found \"high\""
    );
    assert_eq!(
        rejected("\"dsName_\": \"Tensor0\"", "\"dsName_\": \"Tensor7\""),
        "sdsc_0.json: 0_add.dscs_[0].add.labeledDs_[0].dsName_: no op spec gives this file: the closest one gives \"Tensor0\", found \
         \"Tensor7\""
    );
    assert!(
        rejected("\"[0, 0, 0]\": \"-1\"", "\"[0, 0, 0]\": \"-99\"").ends_with("bundle.mlir gives symbol -99 no value")
    );
}
