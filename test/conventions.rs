//! Conventions that all tools share: version, help, exit codes, verbosity and format of messages, man pages and
//! completions.

#![allow(clippy::unwrap_used, reason = "a test over processes and files")]

#[cfg(feature = "manual")]
#[path = "../tools/pages/write.rs"]
mod pages;
#[path = "../build/version.rs"]
mod version;

use crate::common::schemas;
use serde_json::Value;
use spyre_compiler::tool::{EXIT_CODES, VERSION, commands};
use std::{collections::BTreeSet, fs, path::Path, process::Command};

pub(crate) const TOOLS: [(&str, &str); 8] = [
    ("spyre-compile", env!("CARGO_BIN_EXE_spyre-compile")),
    ("spyre-lsp-server", env!("CARGO_BIN_EXE_spyre-lsp-server")),
    ("spyre-opt", env!("CARGO_BIN_EXE_spyre-opt")),
    ("spyre-plan", env!("CARGO_BIN_EXE_spyre-plan")),
    ("spyre-reduce", env!("CARGO_BIN_EXE_spyre-reduce")),
    ("spyre-run", env!("CARGO_BIN_EXE_spyre-run")),
    ("spyre-translate", env!("CARGO_BIN_EXE_spyre-translate")),
    ("spyre-tune", env!("CARGO_BIN_EXE_spyre-tune")),
];

struct ToolOutput {
    code: Option<i32>,
    out: String,
    err: String,
}

fn run(tool: &str, words: &[&str], folder: &Path) -> ToolOutput {
    let (_, path) = TOOLS.iter().find(|(name, _)| *name == tool).unwrap();
    let output = Command::new(path).args(words).current_dir(folder).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    ToolOutput { code: output.status.code(), out: text(&output.stdout), err: text(&output.stderr) }
}

//===----------------------------------------------------------------------===//
// Version and help
//===----------------------------------------------------------------------===//

#[test]
fn prints_version_origin_and_mlir_in_one_line() {
    let llvm = version::llvm_version(Path::new(env!("MLIR_SYS_220_PREFIX"))).unwrap();
    assert!(
        VERSION.starts_with(concat!(env!("CARGO_PKG_VERSION"), " (")) && VERSION.ends_with(&format!(", MLIR {llvm})")),
        "{VERSION}"
    );
    for (tool, _) in TOOLS {
        let said = run(tool, &["--version"], Path::new("."));
        assert_eq!(
            (said.code, said.out.as_str(), said.err.as_str()),
            (Some(0), format!("{tool} {VERSION}\n").as_str(), "")
        );
    }
}

#[test]
fn names_commit_of_release_and_watches_its_inputs() {
    let place = tempfile::tempdir().unwrap();
    let inner = place.path().join("inner");
    fs::create_dir(&inner).unwrap();
    assert_eq!(version::origin(&inner, true).text, "built from sources without git");
    let git = |words: &[&str]| {
        let own = ["-c", "user.name=test", "-c", "user.email=test"];
        let output = Command::new("git").args(own).args(words).current_dir(place.path()).output().unwrap();
        assert!(output.status.success(), "{words:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    git(&["init", "--quiet"]);
    git(&["commit", "--quiet", "--allow-empty", "--message", "first"]);
    let of_first = version::origin(place.path(), true);
    assert_eq!(of_first.text, format!("commit {}", &git(&["rev-parse", "HEAD"])[..12]));
    let contents = || of_first.watched.iter().map(|path| fs::read(path).unwrap()).collect::<Vec<_>>();
    let before = contents();
    git(&["commit", "--quiet", "--allow-empty", "--message", "second"]);
    assert_ne!(contents(), before, "what is watched changes with the commit");
    assert_ne!(version::origin(place.path(), true).text, of_first.text);
    // Sources copied into another project must not depend on the commits of this repository.
    assert_eq!(version::origin(&inner, true).text, "built from sources without git");
    let development = version::origin(place.path(), false);
    assert_eq!((development.text.as_str(), development.watched.len()), ("development build", 0));
}

#[test]
fn lists_exit_codes_in_every_help() {
    for (tool, _) in TOOLS {
        let said = run(tool, &["--help"], Path::new("."));
        assert_eq!(said.code, Some(0));
        assert!(said.out.contains(EXIT_CODES), "{tool}: {}", said.out);
    }
}

//===----------------------------------------------------------------------===//
// Verbosity
//===----------------------------------------------------------------------===//

/// Creates a folder with a valid program, a program with a warning, and a rejected one.
fn write_programs() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let program = |result: &str| {
        format!(
            "func.func @f(%x: tensor<64x64xf16>) -> tensor<64x64x{result}> {{\n  %e = tensor.empty() : tensor<64x64xf16>\n  \
             %0 = linalg.exp ins(%x : tensor<64x64xf16>) outs(%e : tensor<64x64xf16>) -> tensor<64x64xf16>\n  return %0 : tensor<64x64xf16>\n}}\n"
        )
    };
    fs::write(place.path().join("good.mlir"), program("f16")).unwrap();
    fs::write(place.path().join("bad.mlir"), program("f32")).unwrap();
    place
}

#[test]
fn prints_only_errors_when_quiet() {
    let place = write_programs();
    let said = run("spyre-compile", &["good.mlir", "-q", "-o", "out", "--write-plan", "plan.json"], place.path());
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    // One name for both dimensions of a matrix causes a warning.
    let warned = ["good.mlir", "--dims", "0=A", "-o", "warned"];
    assert!(run("spyre-compile", &warned, place.path()).err.contains("warning[SPY0404]: "));
    let said = run("spyre-compile", &[&warned[..], &["--quiet"]].concat(), place.path());
    assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""));
    let said = run("spyre-compile", &["bad.mlir", "-q", "-o", "other"], place.path());
    assert!(said.code == Some(1) && said.err.contains("error[SPY0121]: "), "{}", said.err);
    // Requested output is printed.
    let said = run("spyre-compile", &["good.mlir", "-q", "--compile-to", "lx"], place.path());
    assert!(said.out.contains("func.func @f") && said.err.is_empty(), "{}", said.err);
    for words in [&["out", "-q"][..], &["out", "-q", "--count"], &["out", "-q", "--check", "good.mlir"]] {
        let said = run("spyre-run", words, place.path());
        assert_eq!((said.code, said.out.as_str(), said.err.as_str()), (Some(0), "", ""), "{words:?}");
    }
}

#[test]
fn prints_each_step_with_its_options_on_request() {
    let place = write_programs();
    let said = run("spyre-compile", &["good.mlir", "-v", "-o", "out", "--cores", "4"], place.path());
    let steps: Vec<&str> = said
        .err
        .lines()
        .filter_map(|line| line.strip_prefix("spyre-compile: phase '")?.split_once('\''))
        .map(|(phase, _)| phase)
        .collect();
    assert_eq!(steps, ["import", "layout", "hint", "tile", "work", "lx", "bundle", "emit"], "{}", said.err);
    assert!(said.err.contains("cores=4") && said.err.contains("spyre-allocate-scratchpad{"), "{}", said.err);
    assert!(said.out.contains("files written to out"), "{}", said.out);
    let said =
        run("spyre-compile", &["good.mlir", "-v", "--validate", "-o", "validated", "--format", "json"], place.path());
    let steps: Vec<Value> = said.err.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(steps.len(), 8);
    steps.iter().for_each(|step| schemas::expect_schema("message", step));
    let said = run("spyre-run", &["out", "-v", "--seed", "7"], place.path());
    assert!(said.err.contains("argument 'arg0': f16 of [64, 64], random data with seed 7"), "{}", said.err);
    let said = run("spyre-run", &["out", "-v", "-q"], place.path());
    assert!(
        said.code == Some(1)
            && said
                .err
                .starts_with("spyre-run: error[SPY0005]: the argument '--verbose' cannot be used with '--quiet'"),
        "{}",
        said.err
    );
}

//===----------------------------------------------------------------------===//
// Messages in JSON
//===----------------------------------------------------------------------===//

#[test]
fn writes_diagnostics_as_json_with_location_and_notes() {
    let place = write_programs();
    assert_eq!(run("spyre-compile", &["good.mlir", "-o", "out"], place.path()).code, Some(0));
    let rejections: [(&str, &[&str]); 4] = [
        ("spyre-compile", &["bad.mlir", "-o", "new"]),
        ("spyre-translate", &["--mlir-to-bundle", "bad.mlir", "-o", "new"]),
        ("spyre-run", &["out", "--check", "bad.mlir"]),
        ("spyre-reduce", &["bad.mlir", "--", "false"]),
    ];
    for (tool, words) in rejections {
        let said = run(tool, &[&["--format=json"], words].concat(), place.path());
        assert_eq!(said.code, Some(1), "{tool}: {}", said.err);
        let message: Value =
            serde_json::from_str(said.err.lines().next().unwrap()).unwrap_or_else(|_| panic!("{tool}: {}", said.err));
        schemas::expect_schema("message", &message);
        assert_eq!(
            (&message["severity"], &message["file"], &message["line"]),
            (&"error".into(), &"bad.mlir".into(), &4.into()),
            "{tool}"
        );
        // MLIR's verifier adds the location of the function.
        assert!(message["message"].as_str().unwrap().contains("f32"), "{tool}: {message}");
    }
    let said = run("spyre-compile", &["good.mlir", "--dims", "0=A", "-o", "new", "--format=json"], place.path());
    let message: Value = serde_json::from_str(said.err.lines().next().unwrap()).unwrap();
    assert_eq!((&message["severity"], &message["notes"][0]["severity"]), (&"warning".into(), &"note".into()));
    assert_eq!((&message["notes"][0]["line"], &message["notes"][0]["column"]), (&1.into(), &14.into()));
}

//===----------------------------------------------------------------------===//
// Pages
//===----------------------------------------------------------------------===//

/// Returns the long options that a help text names.
fn parse_options(help: &str) -> BTreeSet<String> {
    let lines = help.lines().filter_map(|line| line.trim_start().strip_prefix('-').map(|rest| format!("-{rest}")));
    let words = lines.flat_map(|line| line.split_whitespace().take(2).map(str::to_owned).collect::<Vec<_>>());
    words
        .map(|word| word.trim_end_matches(',').split(['=', '[']).next().unwrap().to_owned())
        .filter(|word| word.starts_with("--"))
        .collect()
}

/// Runs with `--workspace`: the Python module has the feature.
#[cfg(feature = "manual")]
#[test]
fn lists_every_option_in_pages_and_completions() {
    let place = tempfile::tempdir().unwrap();
    assert_eq!(commands::tool_commands().len(), 6);
    for command in commands::tool_commands() {
        let tool = &command.get_name().to_owned();
        pages::man(command.clone(), place.path()).unwrap();
        pages::completions(command, place.path()).unwrap();
        let options = parse_options(&run(tool, &["--help-all"], Path::new(".")).out);
        assert!(options.len() > 4, "{tool}: {options:?}");
        let page = fs::read_to_string(place.path().join(format!("{tool}.1"))).unwrap().replace('\\', "");
        for shell in [format!("{tool}.bash"), format!("_{tool}"), format!("{tool}.fish")] {
            let completion = fs::read_to_string(place.path().join(&shell)).unwrap();
            // Fish scripts have options without their dashes.
            let is_there = |option: &&String| {
                completion.contains(option.as_str()) || completion.contains(&format!("-l {}", &option[2..]))
            };
            assert_eq!(options.iter().find(|option| !is_there(option)), None, "{shell}");
        }
        assert_eq!(options.iter().find(|option| !page.contains(option.as_str())), None, "{tool}.1");
        assert!(page.contains(EXIT_CODES), "{tool}.1");
    }
}
