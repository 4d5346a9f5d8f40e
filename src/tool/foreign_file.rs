//! Detects input files that are not MLIR by their extension or first bytes. The error names the kind of file, and how
//! to turn it into a program.

use crate::codes;
use std::{io::Read, path::Path};

/// Number of bytes at the start of a file that are examined.
const MAX_PREFIX_BYTES: u64 = 2048;

/// Kind of a file, and advice for a user who passes one as a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct FileKind {
    name: &'static str,
    advice: &'static str,
}

const fn new_kind(name: &'static str, advice: &'static str) -> FileKind {
    FileKind { name, advice }
}

const ONNX: FileKind = new_kind(
    "an ONNX model",
    "import it with 'torch-mlir-import-onnx', then lower it with 'torch-mlir-opt --torch-onnx-to-torch-backend-pipeline \
     --torch-backend-to-linalg-on-tensors-backend-pipeline'",
);
const PYTORCH: FileKind = new_kind(
    "a file of PyTorch",
    "load it in Python with torch.load, and call spyre_mlir.torch.compile(model, *inputs)",
);
const WEIGHTS: FileKind =
    new_kind("weights", "load them into a model in Python, and call spyre_mlir.torch.compile(model, *inputs)");
const ARRAYS: FileKind = new_kind("arrays of NumPy", "give them to 'spyre-run DIR --input NAME=FILE.npy'");
const ZIP: FileKind = new_kind("a zip archive", "unpack it, and give the file of a module in it");
const GZIP: FileKind = new_kind("a gzip archive", "unpack it first");
const HTML: FileKind = new_kind("a page of HTML", "save the file itself, and not the page that shows it");
const LLVM_IR: FileKind = new_kind("LLVM IR", "export linalg on tensors instead");
const BINARY: FileKind = new_kind("a compiled program", "give the module that it was made from");
const PLAN: FileKind = new_kind("a plan", "give it with --plan, beside the program");
const BUNDLE_FILE: FileKind = new_kind("a file of a bundle", "run the directory of the bundle with 'spyre-run DIR'");
const JSON: FileKind = new_kind("JSON", "give the file of a module, such as model.mlir");
const PYTHON: FileKind = new_kind(
    "a Python program",
    "import it, and call spyre_mlir.torch.compile or spyre_mlir.jax.compile with its function",
);
const MARKDOWN: FileKind = new_kind("a Markdown text", "give the file of a module, such as model.mlir");

/// Rejects a file or directory that is clearly not MLIR. Accepts pipes and unreadable files.
///
/// # Errors
/// Returns the kind of the file, and how to use it.
pub fn check_is_mlir(path: &str) -> Result<(), String> {
    let target = Path::new(path);
    if path == "-" {
        return Ok(());
    }
    if target.is_dir() {
        return check_is_not_bundle(target, path);
    }
    let Ok(file) = files::open(target) else { return Ok(()) };
    let mut start = Vec::new();
    if file.take(MAX_PREFIX_BYTES).read_to_end(&mut start).is_err() {
        return Ok(());
    }
    let extension =
        target.extension().map(|extension| extension.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    detect_kind(&extension, &start).map_or(Ok(()), |FileKind { name, advice }| {
        Err(codes::INPUT_NOT_MLIR
            .format(format_args!("expected MLIR text or bytecode, found {name} in '{path}'; {advice}")))
    })
}

/// Rejects the directory of a bundle or of one of its launches; the error contains the command that runs it.
fn check_is_not_bundle(directory: &Path, path: &str) -> Result<(), String> {
    let reject = |what: &str, bundle: &str| {
        Err(codes::INPUT_NOT_MLIR.format(format_args!(
            "expected MLIR text or bytecode, found {what} '{path}'; run it with 'spyre-run {bundle}'"
        )))
    };
    let parent = directory.parent().filter(|parent| parent.join("program.json").exists());
    match parent {
        _ if directory.join("program.json").exists() => reject("the bundle directory", path),
        Some(parent) if directory.join("bundle.mlir").exists() => {
            let parent = parent.to_string_lossy();
            reject("one launch of a bundle,", if parent.is_empty() { "." } else { &parent })
        }
        _ => Ok(()),
    }
}

/// Returns the kind of a file with this extension and these first bytes; `None` if it may be MLIR.
fn detect_kind(extension: &str, start: &[u8]) -> Option<FileKind> {
    if start.starts_with(b"ML\xefR") {
        return None;
    }
    let by_name = match extension {
        "onnx" => Some(ONNX),
        "pt" | "pth" | "pt2" => Some(PYTORCH),
        "safetensors" | "gguf" => Some(WEIGHTS),
        "npy" | "npz" => Some(ARRAYS),
        "py" => Some(PYTHON),
        "md" => Some(MARKDOWN),
        _ => None,
    };
    by_name.or_else(|| detect_binary_kind(start)).or_else(|| detect_text_kind(&String::from_utf8_lossy(start)))
}

fn detect_binary_kind(start: &[u8]) -> Option<FileKind> {
    let has = |part: &[u8]| start.windows(part.len()).any(|window| window == part);
    let is_pickle = matches!(start, [0x80, 2..=5, ..]);
    match start {
        [b'P', b'K', 3 | 5, ..] if has(b".pkl") => Some(PYTORCH),
        [b'P', b'K', 3 | 5, ..] if has(b".npy") => Some(ARRAYS),
        [b'P', b'K', 3 | 5, ..] => Some(ZIP),
        [0x1f, 0x8b, ..] => Some(GZIP),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Some(ARRAYS),
        [b'G', b'G', b'U', b'F', ..] | [_, _, _, _, _, _, _, 0, b'{', ..] => Some(WEIGHTS),
        [b'B', b'C', 0xc0, 0xde, ..] => Some(LLVM_IR),
        [0x7f, b'E', b'L', b'F', ..] => Some(BINARY),
        _ => is_pickle.then_some(PYTORCH),
    }
}

fn detect_text_kind(text: &str) -> Option<FileKind> {
    let text = text.trim_start();
    let begins = |beginnings: &[&str]| beginnings.iter().any(|beginning| text.starts_with(beginning));
    let lower: String = text.chars().take(16).collect::<String>().to_ascii_lowercase();
    let is_heading = text.trim_start_matches('#').starts_with(' ') && text.starts_with('#');
    // A module may begin with its resources, `{-#`.
    let is_json = begins(&["{", "["]) && !begins(&["{-#"]);
    let is_launch = !text.contains("#sdsc.")
        && text.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("!sdscbundle."));
    if lower.starts_with("<!doctype") || lower.starts_with("<html") || lower.starts_with("<?xml") {
        Some(HTML)
    } else if begins(&["; ModuleID", "source_filename", "target datalayout", "target triple"]) {
        Some(LLVM_IR)
    } else if is_json && text.contains("\"chosen\"") && text.contains("\"program\"") {
        Some(PLAN)
    } else if is_launch || (is_json && text.contains("\"element_type\"")) {
        Some(BUNDLE_FILE)
    } else if is_json {
        Some(JSON)
    } else if begins(&["import ", "from "]) {
        Some(PYTHON)
    } else {
        is_heading.then_some(MARKDOWN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn detects_kind_by_extension_or_prefix() {
        for (extension, start, expected) in [
            ("onnx", &b"\x08\x07"[..], ONNX),
            ("", b"PK\x03\x04....archive/data.pkl", PYTORCH),
            ("", b"PK\x03\x04....x.npy", ARRAYS),
            ("", b"PK\x05\x06", ZIP),
            ("", b"\x80\x02}", PYTORCH),
            ("", b"C\0\0\0\0\0\0\0{\"w\": 1}", WEIGHTS),
            ("", b"\n<!DOCTYPE html>", HTML),
            ("", b"; ModuleID = \"m\"", LLVM_IR),
            ("json", b"{\"version\": \"0.1.0\", \"program\": \"f\", \"chosen\": {}}", PLAN),
            ("json", b"{\"a\": 1}", JSON),
            ("", b"import torch\n", PYTHON),
            ("", b"# Notes\n", MARKDOWN),
            ("mlir", b"func.func @f(%x: !sdscbundle.input_arg<index>)", BUNDLE_FILE),
        ] {
            assert_eq!(detect_kind(extension, start), Some(expected), "{extension}: {start:?}");
        }
    }

    #[test]
    fn leaves_possible_mlir_to_the_parser() {
        let generic = "\"builtin.module\"() ({}) : () -> ()";
        for start in
            ["", "// a comment", "#map = affine_map<(d0) -> (d0)>", "{-# #-}", generic, "// CHECK: !sdscbundle.x"]
        {
            assert_eq!(detect_kind("mlir", start.as_bytes()), None, "{start}");
        }
        assert_eq!(detect_kind("onnx", b"ML\xefR"), None);
    }

    #[test]
    fn names_command_that_runs_a_bundle() {
        let place = tempfile::tempdir().unwrap();
        let launch = place.path().join("bundle_0");
        fs::create_dir(&launch).unwrap();
        let path = |path: &Path| path.to_str().unwrap().to_owned();
        assert_eq!(check_is_mlir(&path(place.path())), Ok(()));
        fs::write(place.path().join("program.json"), "{}").unwrap();
        fs::write(launch.join("bundle.mlir"), "").unwrap();
        let run = format!("run it with 'spyre-run {}'", path(place.path()));
        for directory in [place.path(), &launch] {
            assert!(check_is_mlir(&path(directory)).unwrap_err().ends_with(&run));
        }
    }
}
