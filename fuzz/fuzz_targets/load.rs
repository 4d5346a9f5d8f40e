//! Loads and runs a program of which one file is what the fuzzer makes of it.
//!
//! ```text
//! mkdir -p fuzz/corpus/load                                         the right files, each behind the byte that names it
//! n=0; for f in program.json bundle.mlir sdsc_0.json sdsc_1.json; do
//!   { printf "\\x0$n"; cat fuzz/seed/$f; } > fuzz/corpus/load/$f; n=$((n+1)); done
//! cargo fuzz run --sanitizer none load -- -max_total_time=600       without --sanitizer on a nightly toolchain
//! ```
//!
//! The first byte of an input says which file it replaces.

#![no_main]

use libfuzzer_sys::fuzz_target;
use spyre_fuzz::{
    sim::{RunOptions, Simulation, seeded},
    target::Target,
};
use std::{collections::BTreeMap, fs, path::PathBuf, sync::LazyLock};

const FILES: [(&str, &[u8]); 4] = [
    ("program.json", include_bytes!("../seed/program.json")),
    ("bundle_0/bundle.mlir", include_bytes!("../seed/bundle.mlir")),
    ("bundle_0/sdsc_0.json", include_bytes!("../seed/sdsc_0.json")),
    ("bundle_0/sdsc_1.json", include_bytes!("../seed/sdsc_1.json")),
];

/// A folder with the right files.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder").keep();
    fs::create_dir(folder.join("bundle_0")).expect("a folder");
    for (name, content) in FILES {
        fs::write(folder.join(name), content).expect("a file");
    }
    folder
});

fuzz_target!(|data: &[u8]| {
    let Some((selector, content)) = data.split_first() else { return };
    let (name, right) = FILES[usize::from(*selector) % FILES.len()];
    fs::write(FOLDER.join(name), content).expect("a file");
    // The simulator answers with a value, whatever the files say.
    if let Ok(simulation) = Simulation::load(&FOLDER, &Target::spyre()) {
        let tensors = simulation.program().arguments.iter();
        let inputs: BTreeMap<_, _> = tensors.filter_map(|tensor| Some((tensor.name.clone(), seeded(tensor, 1).ok()?))).collect();
        let options = RunOptions { max_steps: 1 << 20, max_bytes: 1 << 26, ..RunOptions::default() };
        let _ = simulation.run(&inputs, &options);
    }
    fs::write(FOLDER.join(name), right).expect("a file");
});
