//! Entry points that a stock `mlir-opt` queries a plugin for: the structs of
//! `mlir/Tools/Plugins/{Dialect,Pass}Plugin.h`.

use super::session::spyreRegisterDialects;
use mlir_sys::MlirDialectRegistry;
use std::ffi::{CStr, c_char, c_void};

/// `MLIR_PLUGIN_API_VERSION` of MLIR 22.
const API_VERSION: u32 = 1;
const NAME: &CStr = c"spyre";
// Version of the package, with the terminating zero of a C string.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");

/// `mlir::DialectPluginLibraryInfo`.
#[repr(C)]
pub struct DialectPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: unsafe extern "C" fn(registry: *mut c_void),
}

/// `mlir::PassPluginLibraryInfo`.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: extern "C" fn(),
}

unsafe extern "C" fn register_dialects(registry: *mut c_void) {
    // SAFETY: MLIR passes its registry, which is the type that the C API wraps.
    unsafe { spyreRegisterDialects(MlirDialectRegistry { ptr: registry }) }
}

/// Returns the plugin info through which MLIR registers the dialects.
#[must_use]
pub fn dialect_plugin_info() -> DialectPluginLibraryInfo {
    DialectPluginLibraryInfo {
        api_version: API_VERSION,
        name: NAME.as_ptr(),
        version: VERSION.as_ptr().cast(),
        register: register_dialects,
    }
}

/// Returns the plugin info through which MLIR registers the passes; `register` registers them.
#[must_use]
pub fn pass_plugin_info(register: extern "C" fn()) -> PassPluginLibraryInfo {
    PassPluginLibraryInfo { api_version: API_VERSION, name: NAME.as_ptr(), version: VERSION.as_ptr().cast(), register }
}
