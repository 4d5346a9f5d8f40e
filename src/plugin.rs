//! Plugin with the dialects and passes for a stock `mlir-opt`, a `cdylib` (`cargo xtask plugin`).
//!
//! The entry points are written in Rust, because a `cdylib` hides the symbols of its C++ objects. They are exported
//! under MLIR's names in the plugin only (feature `plugin`).

use crate::{
    mlir::{
        self,
        plugin::{DialectPluginLibraryInfo, PassPluginLibraryInfo},
    },
    pipeline::HOOKS,
};

/// Entry point of `--load-dialect-plugin`.
// SAFETY: MLIR gives the name this meaning, and looks it up in the plugin only.
#[cfg_attr(feature = "plugin", unsafe(export_name = "mlirGetDialectPluginInfo"))]
pub extern "C" fn dialect_plugin_info() -> DialectPluginLibraryInfo {
    mlir::plugin::dialect_plugin_info()
}

/// Entry point of `--load-pass-plugin`.
// SAFETY: as above.
#[cfg_attr(feature = "plugin", unsafe(export_name = "mlirGetPassPluginInfo"))]
pub extern "C" fn pass_plugin_info() -> PassPluginLibraryInfo {
    mlir::plugin::pass_plugin_info(register_passes)
}

extern "C" fn register_passes() {
    mlir::register_pipeline_passes(&HOOKS);
}
