//! `cargo xtask release`: prepares a release in `target/release-VERSION`, without uploading it.

use crate::{editor, python, step};
use rooms::HOUSE;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Tools of an archive.
const TOOLS: [&str; 8] = [
    "spyre-compile",
    "spyre-run",
    "spyre-translate",
    "spyre-tune",
    "spyre-plan",
    "spyre-reduce",
    "spyre-opt",
    "spyre-lsp-server",
];

/// Project files of an archive, in addition to the tools.
const PAGES: [&str; 3] = ["LICENSE", "README.md", "CHANGELOG.md"];

const USAGE: &str = "usage: cargo xtask release [--check] [TAG]";

/// Checks the changelog, builds the wheel, the source distribution and the archive of the tools, and writes checksums
/// and release notes. With `--check`, it stops after the changelog. A tag must match the version.
pub(crate) fn run(words: &[&str]) -> Result<(), String> {
    let (is_check, tag) = match words {
        [] => (false, None),
        ["--check"] => (true, None),
        ["--check", tag] => (true, Some(*tag)),
        [tag] if !tag.starts_with('-') => (false, Some(*tag)),
        _ => return Err(format!("expected '--check' or a tag, found '{}'\n\n{USAGE}", words.join(" "))),
    };
    let root = step::root();
    let version = parse_version(&read(&root.join("Cargo.toml"))?)?;
    check_tag(tag, &version)?;
    let notes = extract_notes(&read(&root.join("CHANGELOG.md"))?, &version)?;
    println!("==> release: CHANGELOG.md has {} lines for version {version}", notes.lines().count());
    if is_check {
        return Ok(());
    }
    let place = step::target_dir()?.join(format!("release-{version}"));
    step::remove_folder(&place)?;
    let mut files = vec![python::build_wheel()?, python::build_source_distribution()?];
    for file in &mut files {
        *file = copy_into(file, &place)?;
    }
    files.push(pack_tools(&place, &version)?);
    check_crates()?;
    write_checksums(&place, &files)?;
    write(&place.join("NOTES.md"), &notes)?;
    println!("\nready to upload: {}", place.display());
    Ok(())
}

/// Packs the crates that need no LLVM as for crates.io, and builds each from its package.
fn check_crates() -> Result<(), String> {
    let mut publish = step::cargo(["publish", "--dry-run"]);
    for package in HOUSE.libraries() {
        publish.args(["--package", package.name]);
    }
    step::run("release: crates", &mut publish)
}

/// Returns the version of the workspace.
fn parse_version(manifest: &str) -> Result<String, String> {
    let (_, package) = manifest.split_once("[workspace.package]").ok_or("Cargo.toml has no [workspace.package]")?;
    let line = package.lines().find_map(|line| line.strip_prefix("version = \""));
    line.and_then(|line| line.split('"').next())
        .map(str::to_owned)
        .ok_or_else(|| "Cargo.toml has no version of the workspace".to_owned())
}

fn check_tag(tag: Option<&str>, version: &str) -> Result<(), String> {
    match tag {
        Some(tag) if tag != format!("v{version}") => Err(format!(
            "expected tag 'v{version}' for the version in Cargo.toml, found '{tag}'; change one of the two"
        )),
        _ => Ok(()),
    }
}

/// Returns the section of a version in the changelog. Its heading is `## 0.2.0` or `## 0.2.0 - 2026-12-01`.
fn extract_notes(changelog: &str, version: &str) -> Result<String, String> {
    let is_heading =
        |line: &&str| line.strip_prefix("## ").and_then(|rest| rest.split_whitespace().next()) == Some(version);
    let mut lines = changelog.lines().skip_while(|line| !is_heading(line));
    if lines.next().is_none() {
        return Err(format!(
            "expected a heading '## {version}' in CHANGELOG.md, found none; rename '## Unreleased' to it"
        ));
    }
    let notes: Vec<&str> = lines.take_while(|line| !line.starts_with("## ")).collect();
    let notes = notes.join("\n").trim().to_owned();
    if notes.is_empty() {
        return Err(format!(
            "expected changes below '## {version}' in CHANGELOG.md, found none; list what users notice"
        ));
    }
    Ok(notes + "\n")
}

/// Builds the tools and packs them with their man pages and the extension for editors.
fn pack_tools(place: &Path, version: &str) -> Result<PathBuf, String> {
    step::run("release: tools", &mut step::cargo(["build", "--release", "--bins", "--package", "spyre-compiler"]))?;
    let built = step::target_dir()?.join("release");
    let name = format!("spyre-mlir-{version}-{}-linux", std::env::consts::ARCH);
    let folder = place.join(&name);
    for tool in TOOLS {
        copy_into(&built.join(tool), &folder.join("bin"))?;
    }
    for page in PAGES {
        copy_into(&step::root().join(page), &folder)?;
    }
    let manual = folder.join("share").join("man").join("man1");
    step::run(
        "release: man pages",
        step::cargo(["run", "--release", "--features", "manual", "--example", "pages", "--", "man"]).arg(manual),
    )?;
    let editors = folder.join("share").join("vscode");
    fs::create_dir_all(&editors).map_err(|error| format!("cannot make {}: {error}", editors.display()))?;
    editor::pack(&editors, None)?;
    let archive = pack_archive(place, &name)?;
    step::remove_folder(&folder)?;
    Ok(archive)
}

/// Packs a folder. Equal folders yield equal archives: entries are sorted, and have neither owner nor time.
fn pack_archive(place: &Path, name: &str) -> Result<PathBuf, String> {
    let file = place.join(format!("{name}.tar.gz"));
    let mut pack = Command::new("tar");
    pack.args([
        "--sort=name",
        "--owner=0",
        "--group=0",
        "--numeric-owner",
        "--mtime=@0",
        "--use-compress-program=gzip -n",
        "-cf",
    ]);
    step::run("release: archive", pack.arg(&file).arg("-C").arg(place).arg(name))?;
    Ok(file)
}

/// Writes `SHA256SUMS`, which `sha256sum --check` reads.
fn write_checksums(place: &Path, files: &[PathBuf]) -> Result<(), String> {
    let mut sum = Command::new("sha256sum");
    sum.current_dir(place).arg("--").args(files.iter().filter_map(|file| file.file_name()));
    let output = sum.output().map_err(|error| format!("cannot run sha256sum: {error}"))?;
    if !output.status.success() {
        return Err(format!("sha256sum: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    write(&place.join("SHA256SUMS"), &String::from_utf8_lossy(&output.stdout))
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {}: {error}", path.display()))
}

/// Copies a file into a folder, and returns its path there.
fn copy_into(file: &Path, folder: &Path) -> Result<PathBuf, String> {
    let copied = folder.join(file.file_name().unwrap_or_default());
    let copy = || fs::create_dir_all(folder).and_then(|()| fs::copy(file, &copied));
    copy().map_err(|error| format!("cannot copy {} to {}: {error}", file.display(), folder.display()))?;
    Ok(copied)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests over files")]
mod tests {
    use super::*;

    const CHANGELOG: &str = "# Changelog\n\n## Unreleased\n\n* next\n\n## 0.2.0 - 2026-12-01\n\n### Added\n\n* a tool\n\n## 0.10.0\n\n## 0.1.0\nFirst.\n";

    #[test]
    fn extracts_notes_of_version() {
        assert_eq!(extract_notes(CHANGELOG, "0.2.0").unwrap(), "### Added\n\n* a tool\n");
        assert_eq!(extract_notes(CHANGELOG, "0.1.0").unwrap(), "First.\n");
        let missing = extract_notes(CHANGELOG, "0.3.0").unwrap_err();
        assert!(
            missing.contains("expected a heading '## 0.3.0'") && missing.contains("rename '## Unreleased'"),
            "{missing}"
        );
        assert!(extract_notes(CHANGELOG, "0.10.0").unwrap_err().contains("expected changes below '## 0.10.0'"));
    }

    #[test]
    fn requires_tag_of_version() {
        assert_eq!(parse_version("[workspace.package]\nversion = \"0.2.0\"\nedition = \"2024\"\n").unwrap(), "0.2.0");
        let version = parse_version(&read(&step::root().join("Cargo.toml")).unwrap()).unwrap();
        assert_eq!((check_tag(None, &version), check_tag(Some(&format!("v{version}")), &version)), (Ok(()), Ok(())));
        assert!(check_tag(Some("v9.9.9"), "0.2.0").unwrap_err().starts_with("expected tag 'v0.2.0'"));
        assert!(run(&["--chek"]).unwrap_err().contains("found '--chek'"));
    }

    #[test]
    fn calls_only_existing_commands_in_workflows() {
        let folder = step::root().join(".github").join("workflows");
        let mut called = Vec::new();
        for name in ["release.yml", "nightly.yml"] {
            let text = read(&folder.join(name)).unwrap();
            let lines = text.lines().filter_map(|line| line.split_once("run: cargo xtask "));
            called.extend(lines.filter_map(|(_, rest)| rest.split_whitespace().next().map(str::to_owned)));
        }
        assert_eq!(called, ["release", "release", "setup", "nightly"]);
        assert!(called.iter().all(|command| crate::HELP.contains(&format!("\n  {command} "))), "{called:?}");
    }

    #[test]
    fn packs_equal_archives_with_checksums() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("tools");
        for name in ["b", "a"] {
            write(&place.path().join(name), name).unwrap();
            copy_into(&place.path().join(name), &folder.join("bin")).unwrap();
        }
        let first = pack_archive(place.path(), "tools").unwrap();
        let bytes = fs::read(&first).unwrap();
        fs::File::open(folder.join("bin/a")).unwrap().set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        pack_archive(place.path(), "tools").unwrap();
        assert_eq!(fs::read(&first).unwrap(), bytes, "an archive depends on no time");
        let listed = Command::new("tar").arg("-tf").arg(&first).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&listed.stdout), "tools/\ntools/bin/\ntools/bin/a\ntools/bin/b\n");

        write_checksums(place.path(), std::slice::from_ref(&first)).unwrap();
        let check = || {
            Command::new("sha256sum").current_dir(place.path()).args(["--check", "SHA256SUMS"]).output().unwrap().status
        };
        assert!(check().success());
        fs::write(&first, "another archive").unwrap();
        assert!(!check().success(), "another file has another checksum");
    }
}
