//! Language server of the tool `spyre-lsp-server`: a proxy in front of MLIR's own server.
//!
//! The proxy passes every message on in both directions. It adds what MLIR's server does not know:
//!
//! | file | purpose |
//! |---|---|
//! | `launch.rs` | start of a session on the standard streams |
//! | `proxy.rs` | the session: messages of the editor, of MLIR's server and of compilations, in one loop |
//! | `frames.rs` | messages on a stream |
//! | `documents.rs` | texts of the open documents, positions in them |
//! | `settings.rs` | what the editor chooses |
//! | `op_reference.rs` | documentation of ops and attributes, from the generated reference pages |
//! | `cursor.rs` | the syntax around a position |
//! | `device_functions.rs` | device functions, and where the syntax has them |
//! | `attributes.rs` | attributes that an op, a function or an argument may have, and dimension names |
//! | `hover.rs`, `completion.rs` | additions to the replies of MLIR's server |
//! | `diagnostics.rs` | messages of the compiler as diagnostics of the protocol |
//! | `schedule.rs` | when documents are compiled, and what is known of each |
//! | `compiler.rs` | the compiler as a child process |

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
