//! Packs the VS Code extension in `editors/vscode` as a file for `code --install-extension`.

use crate::step;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Files of the extension.
const FILES: [&str; 8] = [
    "package.json",
    "extension.js",
    "client.js",
    "server.js",
    "language-configuration.json",
    "mlir.tmLanguage.json",
    "README.md",
    "../../LICENSE",
];

const MANIFEST: &str = include_str!("editor/extension.vsixmanifest");
const CONTENT_TYPES: &str = include_str!("editor/content-types.xml");

/// Packs the extension without a server, and prints how to install it.
pub(crate) fn run() -> Result<(), String> {
    let file = pack(&step::target_dir()?, None)?;
    println!("{}", install_command(&file));
    Ok(())
}

/// Returns the command that installs a packed extension.
pub(crate) fn install_command(file: &Path) -> String {
    format!("to install the extension for VS Code: code --install-extension {}", file.display())
}

/// Packs the extension into a folder, and returns the path of the file. The extension starts `server`; without one, it
/// searches for a server.
pub(crate) fn pack(place: &Path, server: Option<&Path>) -> Result<PathBuf, String> {
    let source = step::root().join("editors").join("vscode");
    let package = fs::read_to_string(source.join("package.json"))
        .map_err(|error| format!("editors/vscode/package.json: {error}"))?;
    let version = parse_version(&package)?;
    let file = place.join(format!("spyre-mlir-{version}.vsix"));
    let staged = place.join("vsix");
    step::remove_folder(&staged)?;
    stage_contents(&source, &staged, &version, server)
        .map_err(|error| format!("cannot pack the extension in {}: {error}", staged.display()))?;
    let mut zip = Command::new("python3");
    zip.current_dir(&staged).args(["-m", "zipfile", "-c"]).arg(&file);
    step::run("extension for VS Code", zip.args(["extension", "extension.vsixmanifest", "[Content_Types].xml"]))?;
    step::remove_folder(&staged)?;
    Ok(file)
}

/// Lays out the contents of the package.
fn stage_contents(source: &Path, staged: &Path, version: &str, server: Option<&Path>) -> std::io::Result<()> {
    let folder = staged.join("extension");
    fs::create_dir_all(&folder)?;
    for name in FILES {
        fs::copy(source.join(name), folder.join(Path::new(name).file_name().unwrap_or_default()))?;
    }
    if let Some(server) = server {
        let path = server.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        fs::write(folder.join("installed.json"), format!("{{ \"server\": \"{path}\" }}\n"))?;
    }
    fs::write(staged.join("extension.vsixmanifest"), MANIFEST.replace("VERSION", version))?;
    fs::write(staged.join("[Content_Types].xml"), CONTENT_TYPES)
}

/// Returns the version in the text of `package.json`.
fn parse_version(package: &str) -> Result<String, String> {
    let found = package.lines().find_map(|line| line.trim().strip_prefix("\"version\": \"")?.split('"').next());
    found.map(str::to_owned).ok_or_else(|| "editors/vscode/package.json has no version".to_owned())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests over files")]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn names_only_packed_files_in_manifest() {
        let folder = step::root().join("editors").join("vscode");
        let json =
            |name: &str| -> Value { serde_json::from_str(&fs::read_to_string(folder.join(name)).unwrap()).unwrap() };
        let manifest = json("package.json");
        let named = [
            &manifest["main"],
            &manifest["contributes"]["languages"][0]["configuration"],
            &manifest["contributes"]["grammars"][0]["path"],
        ];
        for name in named {
            let name = name.as_str().unwrap().strip_prefix("./").unwrap();
            assert!(FILES.contains(&name) && folder.join(name).exists(), "{name}");
        }
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "the extension has the version of the project");
        assert!(manifest.get("dependencies").is_none(), "nothing is fetched");
        assert_eq!(json("mlir.tmLanguage.json")["scopeName"], manifest["contributes"]["grammars"][0]["scopeName"]);
        assert!(json("language-configuration.json")["comments"].is_object());
    }

    #[test]
    fn packs_manifest_and_server() {
        let place = tempfile::tempdir().unwrap();
        let file = pack(place.path(), Some(Path::new("/opt/a \"b\"/bin/spyre-lsp-server"))).unwrap();
        let into = place.path().join("unpacked");
        let done = Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&file).arg(&into).status().unwrap();
        assert!(done.success());
        let read = |name: &str| fs::read_to_string(into.join(name)).unwrap();
        assert!(read("extension.vsixmanifest").contains(&format!("Version=\"{}\"", env!("CARGO_PKG_VERSION"))));
        assert!(read("[Content_Types].xml").contains("application/javascript"));
        let note: Value = serde_json::from_str(&read("extension/installed.json")).unwrap();
        assert_eq!(note["server"], "/opt/a \"b\"/bin/spyre-lsp-server");
        assert!(FILES.iter().all(|name| into.join("extension").join(Path::new(name).file_name().unwrap()).exists()));
        assert!(install_command(&file).ends_with(".vsix"));
    }
}
