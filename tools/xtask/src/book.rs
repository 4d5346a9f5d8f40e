//! `cargo xtask book`: the pages of docs as a site.

use crate::step::{self, cargo};
use std::process::Command;

/// Arguments of cargo that install the generator of the site. Without its server, which is not needed here, it builds
/// in a quarter of the time.
const MDBOOK: [&str; 7] =
    ["install", "--debug", "--locked", "--version=0.5.4", "--no-default-features", "--features=search", "mdbook"];

/// Builds mdBook, unless it is there, and the site with it.
pub(crate) fn run() -> Result<(), String> {
    let target = step::target_dir()?;
    let place = target.join("mdbook");
    // Cargo itself sees that this version is installed already.
    step::run("book: mdBook", cargo(MDBOOK).arg("--root").arg(&place).env("CARGO_PROFILE_DEV_DEBUG", "0"))?;
    let book = target.join("book");
    let mut build = Command::new(place.join("bin").join("mdbook"));
    step::run("book", build.arg("build").arg("--dest-dir").arg(&book).arg(step::root().join("docs")))?;
    println!("\n{}", book.join("index.html").display());
    Ok(())
}
