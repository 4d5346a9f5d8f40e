//! Language server of the tool `spyre-lsp-server`: a proxy between the editor and MLIR's own server.
//!
//! The proxy (`proxy.rs`) forwards every message in both directions. It adds the knowledge of this compiler:
//! documentation, device functions, attributes and dimension names in hovers and completions, and the diagnostics of
//! `spyre-compile`, which it runs as a child process. It does not parse MLIR: `cursor.rs` scans the text around a
//! position.

mod attributes;
mod compiler;
mod completion;
mod cursor;
mod device_functions;
mod diagnostics;
mod documents;
mod frames;
mod hover;
mod launch;
mod op_reference;
mod proxy;
mod schedule;
mod settings;
#[cfg(test)]
mod tests;

#[cfg(feature = "mlir")]
pub(super) use launch::{mlir_server_arguments, serve_stdio};
