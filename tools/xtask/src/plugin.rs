//! `cargo xtask plugin`: our dialects and passes for a stock `mlir-opt`.

use crate::{
    setup,
    step::{self, cargo},
};
use std::path::PathBuf;

pub(crate) fn run() -> Result<(), String> {
    setup::run()?;
    let library = build()?;
    let path = library.display();
    println!("\nmlir-opt --load-dialect-plugin={path} --load-pass-plugin={path} --pass-pipeline='builtin.module(spyre-compile)' FILE");
    Ok(())
}

/// Builds the plugin in a target folder of its own, because mlir-sys links another MLIR for it; gives its path.
pub(crate) fn build() -> Result<PathBuf, String> {
    let folder = step::target_dir()?.join("plugin");
    let mut build = cargo(["rustc", "--lib", "--crate-type", "cdylib", "--features", "plugin", "--target-dir"]);
    step::run("plugin", build.arg(&folder).env("MLIR_SYS_LINK_SHARED", "1"))?;
    Ok(folder.join("debug").join(format!("{}spyre{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX)))
}
