//! Our dialects and passes for a stock `mlir-opt`, from a `cdylib` (`cargo xtask plugin`).
//!
//! The entry points are Rust's because a `cdylib` hides the symbols of the C++ in it. They have their names only in the
//! plugin (feature `plugin`).

use crate::{
    mlir::{
        self,
        plugin::{DialectPluginLibraryInfo, PassPluginLibraryInfo},
    },
    pipeline::HOOKS,
};

/// The entry point for `--load-dialect-plugin`.
// SAFETY: MLIR gives the name this meaning, and looks it up in the plugin only.
#[cfg_attr(feature = "plugin", unsafe(export_name = "mlirGetDialectPluginInfo"))]
pub extern "C" fn dialect_plugin_info() -> DialectPluginLibraryInfo {
    mlir::plugin::dialect_plugin_info()
}

/// The entry point for `--load-pass-plugin`.
// SAFETY: as above.
#[cfg_attr(feature = "plugin", unsafe(export_name = "mlirGetPassPluginInfo"))]
pub extern "C" fn pass_plugin_info() -> PassPluginLibraryInfo {
    mlir::plugin::pass_plugin_info(register_passes)
}

extern "C" fn register_passes() {
    mlir::register_pipeline_passes(&HOOKS);
}
