//! The walls between crates: which crate of `crates` knows which. `docs/architecture.md` says why.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A crate of `crates`, and those of them that it may depend on.
const CRATES: [(&str, &[&str]); 8] = [
    ("element", &["machine"]),
    ("files", &[]),
    ("machine", &[]),
    ("referee", &["element", "files", "machine", "sdsc-format"]),
    ("scratchpad", &["machine", "scratchpad-verify"]),
    ("scratchpad-verify", &[]),
    ("sdsc-check", &["files", "machine", "sdsc-format"]),
    ("sdsc-format", &["files"]),
];

/// What every package depends on directly, its tests included.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let lock = fs::read_to_string(root().join("Cargo.lock")).expect("the workspace has a lock file");
    let quoted = |line: &str| line.split('"').nth(1).and_then(|text| text.split(' ').next()).unwrap_or_default().to_owned();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in lock.split("[[package]]").skip(1) {
        let name = package.lines().find(|line| line.starts_with("name = ")).map(quoted).expect("a package has a name");
        // Two versions of one package count as one.
        found.entry(name).or_default().extend(package.lines().filter(|line| line.starts_with(" \"")).map(quoted));
    }
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folders of `crates`.
fn crates() -> Vec<String> {
    let entries = fs::read_dir(root().join("crates")).expect("there are crates");
    let mut names: Vec<String> = entries.filter_map(Result::ok).filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

#[test]
fn a_crate_depends_on_what_its_row_says_and_needs_no_mlir() {
    let dependencies = dependencies();
    let mut violations = Vec::new();
    for name in crates() {
        let is_ours = |name: &&String| ["spyre", "xtask"].contains(&name.as_str()) || CRATES.iter().any(|(known, _)| known == name);
        let found: Vec<&str> = dependencies[&name].iter().filter(is_ours).map(String::as_str).collect();
        match CRATES.iter().find(|(known, _)| *known == name) {
            None => violations.push(format!("{name}: has no row in CRATES")),
            Some((_, allowed)) if found != *allowed => violations.push(format!("{name}: depends on {found:?}, its row says {allowed:?}")),
            Some(_) => {}
        }
        let (mut below, mut open) = (BTreeSet::new(), vec![name.clone()]);
        while let Some(package) = open.pop() {
            if below.insert(package.clone()) {
                open.extend(dependencies[&package].iter().cloned());
            }
        }
        violations.extend(below.iter().filter(|package| package.contains("mlir")).map(|package| format!("{name}: needs {package}")));
    }
    assert!(dependencies["spyre"].contains("mlir-sys"), "Cargo.lock is read wrongly");
    let rule = "a crate of `crates` depends on those of its row in CRATES, not on the compiler, and needs no MLIR:";
    assert!(violations.is_empty(), "{rule}\n  {}\n", violations.join("\n  "));
}
