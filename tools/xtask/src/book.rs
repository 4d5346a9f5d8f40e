//! `cargo xtask book`: builds a site from the pages of `docs`.

use crate::step::{self, cargo};
use std::process::Command;

/// Arguments of cargo that install mdBook. Without its server, which is not needed here, it builds in a quarter of the
/// time.
const MDBOOK: [&str; 7] =
    ["install", "--debug", "--locked", "--version=0.5.4", "--no-default-features", "--features=search", "mdbook"];

/// Builds mdBook if it is missing, and then the site.
pub(crate) fn run() -> Result<(), String> {
    let target = step::target_dir()?;
    let place = target.join("mdbook");
    // Cargo skips the installation if this version exists.
    step::run("book: mdBook", cargo(MDBOOK).arg("--root").arg(&place).env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    let book = target.join("book");
    let mut build = Command::new(place.join("bin").join("mdbook"));
    step::run("book", build.arg("build").arg("--dest-dir").arg(&book).arg(step::root().join("docs")))?;
    println!("\n{}", book.join("index.html").display());
    Ok(())
}
