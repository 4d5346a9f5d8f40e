//! The order of the passes: the only place that knows it.

use crate::{hint, import, layout, lx, mlir::Pass, tile, work};

/// Every pass.
pub static PASSES: &[Pass] = &[
    import::set_target::PASS,
    import::import_linalg::PASS,
    hint::flatten_hints::PASS,
    layout::propagate_layouts::PASS,
    layout::insert_restickify::PASS,
    layout::pad_contractions::PASS,
    hint::propagate_dims::PASS,
    tile::coarse_tile::PASS,
    work::reduce_span::PASS,
    work::divide_work::PASS,
    lx::clone_inputs::PASS,
    lx::plan_lx::PASS,
];

/// Expands the options of `--spyre-compile` to a pass pipeline.
///
/// # Errors
/// A message about the option that is wrong.
pub fn expand(_options: &str) -> Result<String, String> {
    Ok(String::new())
}
