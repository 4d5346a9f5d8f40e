//! The order of the passes: the only place that knows it.

use crate::mlir::Pass;

/// Every pass.
pub static PASSES: &[Pass] = &[crate::import::set_target::PASS, crate::import::import_linalg::PASS];

/// Expands the options of `--spyre-compile` to a pass pipeline.
///
/// # Errors
/// A message about the option that is wrong.
pub fn expand(_options: &str) -> Result<String, String> {
    Ok(String::new())
}
