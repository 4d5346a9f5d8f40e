//! Fault injection into the import, for the test of its diagnosis.

use crate::mlir::Module;
use std::env;

/// Environment variable with the replacement `FROM=>TO` for the text of the program as MLIR prints it.
const MISREAD_VARIABLE: &str = "SPYRE_MISREAD_IMPORT";

/// Replaces the program by the result of a faulty import, if the environment variable is set.
pub(super) fn inject_import_fault(module: &mut Module<'_>) {
    let Ok(fault) = env::var(MISREAD_VARIABLE) else { return };
    let text = module.op().to_string();
    let read = fault.split_once("=>").filter(|(from, _)| text.contains(from)).map(|(from, to)| text.replace(from, to));
    let parsed = read.and_then(|text| Module::parse(module.session(), &text));
    *module = parsed.unwrap_or_else(|| panic!("{MISREAD_VARIABLE}: '{fault}' makes no program of {text}"));
}
