//! Packages of the workspace and their dependencies.

use crate::{
    house::{House, Package},
    source::RustSource,
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// Direct dependencies of every package in `Cargo.lock`, including those of its tests.
pub(crate) struct Packages {
    needs: BTreeMap<String, BTreeSet<String>>,
    /// Packages without a source, which are the project's own.
    ours: BTreeSet<String>,
}

impl Packages {
    /// Reads the text of a lock file.
    pub(crate) fn from_lock_file(lock: &str) -> Self {
        let quoted =
            |line: &str| line.split('"').nth(1).and_then(|text| text.split(' ').next()).unwrap_or_default().to_owned();
        let (mut needs, mut ours): (BTreeMap<String, BTreeSet<String>>, _) = (BTreeMap::new(), BTreeSet::new());
        for package in lock.split("[[package]]").skip(1) {
            let Some(name) = package.lines().find(|line| line.starts_with("name = ")).map(quoted) else { continue };
            if !package.lines().any(|line| line.starts_with("source = ")) {
                ours.insert(name.clone());
            }
            // Two versions of one package are merged.
            needs.entry(name).or_default().extend(package.lines().filter(|line| line.starts_with(" \"")).map(quoted));
        }
        Self { needs, ours }
    }

    /// Returns the direct dependencies of a package within the project.
    fn own_dependencies(&self, name: &str) -> Vec<&str> {
        let all = self.needs.get(name).into_iter().flatten();
        all.filter(|name| self.ours.contains(*name)).map(String::as_str).collect()
    }

    /// Returns all dependencies of a package, including transitive ones.
    fn all_dependencies(&self, name: &str) -> BTreeSet<String> {
        let (mut below, mut open) = (BTreeSet::new(), vec![name.to_owned()]);
        while let Some(package) = open.pop() {
            if below.insert(package.clone()) {
                open.extend(self.needs.get(&package).into_iter().flatten().cloned());
            }
        }
        below
    }

    /// Returns all violations, one line each: dependencies that a row omits, and crates that need MLIR.
    pub(crate) fn find_violations(&self, house: &House) -> Vec<String> {
        let row = |name: &str| house.packages.iter().find(|package| package.name == name);
        let mut wrong = Vec::new();
        for name in &self.ours {
            let found = self.own_dependencies(name);
            let Some(package @ Package { needs, .. }) = row(name) else {
                wrong.push(format!("package {name}: has no row in PACKAGES of tools/rooms/src/house.rs"));
                continue;
            };
            let added = found
                .iter()
                .filter(|need| !needs.contains(need))
                .map(|need| format!("depends on {need}, its row does not say so"));
            let gone = needs
                .iter()
                .filter(|need| !found.contains(need))
                .map(|need| format!("does not depend on {need}, as its row says"));
            wrong.extend(added.chain(gone).map(|what| format!("package {name}: {what}")));
            if package.is_library() {
                let all = self.all_dependencies(name);
                let mlir =
                    all.iter().filter(|need| need.contains("mlir") || *need == "melior" || *need == "spyre-compiler");
                wrong.extend(mlir.map(|need| format!("package {name}: needs {need}")));
            }
        }
        let lost = house.packages.iter().filter(|package| !self.ours.contains(package.name));
        wrong.extend(lost.map(|package| format!("PACKAGES names '{}', which Cargo.lock does not have", package.name)));
        wrong
    }

    /// Returns the packages in the order of their rows: folder, lines, and dependencies.
    pub(crate) fn table(&self, house: &House, root: &Path) -> Result<Vec<[String; 4]>, String> {
        let row = |package: &Package| {
            let folder = Path::new(package.folder).join("src");
            let sources = RustSource::read_all(root, &[&folder.to_string_lossy()])?;
            let lines: usize = sources.iter().map(RustSource::count_lines).sum();
            let needs = self.own_dependencies(package.name).join(", ");
            Ok([package.name.to_owned(), folder.to_string_lossy().into_owned(), lines.to_string(), needs])
        };
        house.packages.iter().map(row).collect()
    }

    /// Reads `Cargo.lock`.
    pub(crate) fn read(root: &Path) -> Result<Self, String> {
        fs::read_to_string(root.join("Cargo.lock"))
            .map(|lock| Self::from_lock_file(&lock))
            .map_err(|error| format!("Cargo.lock: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: &str = "[[package]]\nname = \"low\"\ndependencies = [\n \"mlir-sys 1.0\",\n]\n\n[[package]]\nname = \"high\"\ndependencies = [\n \
                        \"low\",\n \"serde\",\n]\n\n[[package]]\nname = \"serde\"\nsource = \"registry\"\n\n[[package]]\nname = \"mlir-sys\"\n\
                        source = \"registry\"\n";

    #[test]
    fn reports_dependency_missing_from_row() {
        let rows = |packages| House { rooms: &[], exceptions: &[], packages };
        let packages = Packages::from_lock_file(LOCK);
        let (low, high) = (
            Package { name: "low", folder: "tools/low", needs: &[] },
            Package { name: "high", folder: "", needs: &["low"] },
        );
        assert_eq!(packages.find_violations(&rows(Box::leak(Box::new([low, high])))), Vec::<String>::new());
        let alone = Package { needs: &[], ..high };
        assert_eq!(
            packages.find_violations(&rows(Box::leak(Box::new([low, alone])))),
            ["package high: depends on low, its row does not say so"]
        );
        let below = Package { folder: "crates/low", needs: &["high"], ..low };
        assert_eq!(
            packages.find_violations(&rows(Box::leak(Box::new([below, high])))),
            ["package low: does not depend on high, as its row says", "package low: needs mlir-sys",]
        );
        assert_eq!(packages.find_violations(&rows(&[])).len(), 2);
    }
}
