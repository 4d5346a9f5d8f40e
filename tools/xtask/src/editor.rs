//! Packs the VS Code extension in `editors/vscode` into a `.vsix` file for `code --install-extension`.

use crate::step;
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Files of the package, relative to `editors/vscode`.
const PACKAGE_FILES: [&str; 8] = [
    "package.json",
    "extension.js",
    "client.js",
    "server.js",
    "language-configuration.json",
    "mlir.tmLanguage.json",
    "README.md",
    "../../LICENSE",
];

/// Template of the package manifest; `VERSION` is a placeholder.
const MANIFEST_TEMPLATE: &str = include_str!("editor/extension.vsixmanifest");
/// MIME types of the packed files, which a `.vsix` file must declare.
const CONTENT_TYPES: &str = include_str!("editor/content-types.xml");

/// Packs the extension without a server path, and prints the install command.
pub(crate) fn run() -> Result<(), String> {
    let file = pack(&step::target_dir()?, None)?;
    println!("{}", install_command(&file));
    Ok(())
}

/// Returns the command that installs a packed extension.
pub(crate) fn install_command(file: &Path) -> String {
    format!("to install the extension for VS Code: code --install-extension {}", file.display())
}

/// Writes the `.vsix` file into a folder, and returns its path. The extension starts the language server at `server`;
/// if `server` is `None`, the extension searches for one.
pub(crate) fn pack(out_dir: &Path, server: Option<&Path>) -> Result<PathBuf, String> {
    let source = step::root().join("editors").join("vscode");
    let package = fs::read_to_string(source.join("package.json"))
        .map_err(|error| format!("editors/vscode/package.json: {error}"))?;
    let version = parse_version(&package)?;
    let file = out_dir.join(format!("spyre-mlir-{version}.vsix"));
    let staging_dir = out_dir.join("vsix");
    step::remove_folder(&staging_dir)?;
    stage_contents(&source, &staging_dir, &version, server)
        .map_err(|error| format!("cannot pack the extension in {}: {error}", staging_dir.display()))?;
    let mut zip = Command::new("python3");
    zip.current_dir(&staging_dir).args(["-m", "zipfile", "-c"]).arg(&file);
    step::run("extension for VS Code", zip.args(["extension", "extension.vsixmanifest", "[Content_Types].xml"]))?;
    step::remove_folder(&staging_dir)?;
    Ok(file)
}

/// Writes the contents of the package into the folder `staging_dir`, which is then zipped.
fn stage_contents(source: &Path, staging_dir: &Path, version: &str, server: Option<&Path>) -> std::io::Result<()> {
    let folder = staging_dir.join("extension");
    fs::create_dir_all(&folder)?;
    for name in PACKAGE_FILES {
        fs::copy(source.join(name), folder.join(Path::new(name).file_name().unwrap_or_default()))?;
    }
    if let Some(server) = server {
        let path = server.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
        fs::write(folder.join("installed.json"), format!("{{ \"server\": \"{path}\" }}\n"))?;
    }
    fs::write(staging_dir.join("extension.vsixmanifest"), MANIFEST_TEMPLATE.replace("VERSION", version))?;
    fs::write(staging_dir.join("[Content_Types].xml"), CONTENT_TYPES)
}

/// Returns the version in the text of `package.json`.
fn parse_version(package: &str) -> Result<String, String> {
    let version = package.lines().find_map(|line| line.trim().strip_prefix("\"version\": \"")?.split('"').next());
    version.map(str::to_owned).ok_or_else(|| "editors/vscode/package.json has no version".to_owned())
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
        let referenced_files = [
            &manifest["main"],
            &manifest["contributes"]["languages"][0]["configuration"],
            &manifest["contributes"]["grammars"][0]["path"],
        ];
        for name in referenced_files {
            let name = name.as_str().unwrap().strip_prefix("./").unwrap();
            assert!(PACKAGE_FILES.contains(&name) && folder.join(name).exists(), "{name}");
        }
        assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"), "the extension has the version of the project");
        assert!(manifest.get("dependencies").is_none(), "nothing is fetched");
        assert_eq!(json("mlir.tmLanguage.json")["scopeName"], manifest["contributes"]["grammars"][0]["scopeName"]);
        assert!(json("language-configuration.json")["comments"].is_object());
    }

    #[test]
    fn packs_manifest_and_server() {
        let temp_dir = tempfile::tempdir().unwrap();
        let file = pack(temp_dir.path(), Some(Path::new("/opt/a \"b\"/bin/spyre-lsp-server"))).unwrap();
        let unpack_dir = temp_dir.path().join("unpacked");
        let status =
            Command::new("python3").args(["-m", "zipfile", "-e"]).arg(&file).arg(&unpack_dir).status().unwrap();
        assert!(status.success());
        let read = |name: &str| fs::read_to_string(unpack_dir.join(name)).unwrap();
        assert!(read("extension.vsixmanifest").contains(&format!("Version=\"{}\"", env!("CARGO_PKG_VERSION"))));
        assert!(read("[Content_Types].xml").contains("application/javascript"));
        let installed: Value = serde_json::from_str(&read("extension/installed.json")).unwrap();
        assert_eq!(installed["server"], "/opt/a \"b\"/bin/spyre-lsp-server");
        assert!(
            PACKAGE_FILES
                .iter()
                .all(|name| unpack_dir.join("extension").join(Path::new(name).file_name().unwrap()).exists())
        );
        assert!(install_command(&file).ends_with(".vsix"));
    }
}
