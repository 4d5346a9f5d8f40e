//! `cargo xtask plugin`: builds the dialects and passes of the project for a stock `mlir-opt`.

use crate::{
    setup,
    step::{self, cargo},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
};

pub(crate) fn run() -> Result<(), String> {
    setup::run()?;
    let library = build(None)?;
    let path = library.display();
    println!(
        "\nmlir-opt --load-dialect-plugin={path} --load-pass-plugin={path} --pass-pipeline='builtin.module(spyre-compile)' FILE"
    );
    Ok(())
}

/// Sets a separate target folder, because mlir-sys links another MLIR for a plugin. Its contents are built once, in
/// full.
pub(crate) fn set_build_folder(command: &mut Command) -> Result<&mut Command, String> {
    Ok(command.arg("--target-dir").arg(build_folder()?).env("CARGO_INCREMENTAL", "0"))
}

/// Returns the target folder of the plugin.
pub(crate) fn build_folder() -> Result<PathBuf, String> {
    Ok(step::target_dir()?.join("plugin"))
}

/// Builds the plugin; returns its path. The dialects may come from an existing build folder.
pub(crate) fn build(dialects: Option<&Path>) -> Result<PathBuf, String> {
    let mut build = cargo(["rustc", "--lib", "--crate-type", "cdylib", "--features", "plugin"]);
    set_build_folder(&mut build)?.env("MLIR_SYS_LINK_SHARED", "1");
    if let Some(dialects) = dialects {
        build.env("SPYRE_DIALECTS", dialects);
    }
    step::run("plugin", &mut build)?;
    Ok(build_folder()?.join("debug").join(format!(
        "{}spyre_compiler{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    )))
}
