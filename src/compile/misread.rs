//! A program that the import misreads, for the test of what is said of it.

use crate::mlir::Module;
use std::env;

/// Says what is read as what, as `FROM=>TO` over the text of the program as MLIR prints it.
const MISREAD: &str = "SPYRE_MISREAD_IMPORT";

/// Replaces the program by what a fault of the import would make of it, if the environment asks for that.
pub(super) fn misread(module: &mut Module<'_>) {
    let Ok(fault) = env::var(MISREAD) else { return };
    let text = module.op().to_string();
    let read = fault.split_once("=>").filter(|(from, _)| text.contains(from)).map(|(from, to)| text.replace(from, to));
    let parsed = read.and_then(|text| Module::parse(module.session(), &text));
    *module = parsed.unwrap_or_else(|| panic!("{MISREAD}: '{fault}' makes no program of {text}"));
}
