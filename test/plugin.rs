//! The dialects and passes of the project in a stock `mlir-opt`.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

const PROGRAM: &str = r#"
func.func @f(%a: tensor<1024x4096xf16>, %b: tensor<1024x4096xf16>) -> tensor<1024x4096xf16> {
  %z = spyre.hint tiles(A = 2) {
    %y = spyre.pointwise add(%a, %b) : tensor<1024x4096xf16>
    spyre.yield %y : tensor<1024x4096xf16>
  }
  return %z : tensor<1024x4096xf16>
}
"#;

/// Runs MLIR's own `mlir-opt` with the plugin on [`PROGRAM`].
fn run_mlir_opt(pipeline: &str) -> Output {
    let plugin = env::var("SPYRE_PLUGIN")
        .expect("SPYRE_PLUGIN names no plugin: `cargo xtask test` builds it and sets the variable");
    let prefix = env::var_os("MLIR_SYS_220_PREFIX").map_or_else(|| PathBuf::from("/usr/lib/llvm-22"), PathBuf::from);
    let program = Path::new(env!("CARGO_TARGET_TMPDIR")).join("plugin.mlir");
    fs::write(&program, PROGRAM).expect("the folder of the target is writable");
    Command::new(prefix.join("bin/mlir-opt"))
        .args([format!("--load-dialect-plugin={plugin}"), format!("--load-pass-plugin={plugin}")])
        .arg(format!("--pass-pipeline={pipeline}"))
        .arg(program)
        .output()
        .expect("mlir-opt runs")
}

#[test]
#[ignore = "needs the plugin: `cargo xtask test` builds it and runs this"]
fn runs_our_passes_in_stock_mlir_opt() {
    let output = run_mlir_opt("builtin.module(spyre-flatten-hints{tiles=B=4},canonicalize)");
    let (text, errors) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{errors}");
    assert!(text.contains("hints = [#spyre.tile_hint<0, B = 4>, #spyre.tile_hint<1, A = 2>]"), "{text}");
    assert!(!text.contains("spyre.hint tiles"), "{text}");
}

#[test]
#[ignore = "needs the plugin: `cargo xtask test` builds it and runs this"]
fn reports_location_of_rejection_in_plugin() {
    let output = run_mlir_opt("builtin.module(spyre-flatten-hints{tiles=B=0})");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("plugin.mlir:") && errors.contains("] 'builtin.module' op option 'tiles':"), "{errors}");
}
