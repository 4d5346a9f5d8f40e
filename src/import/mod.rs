//! Stage `import`: from `linalg` on tensors to `spyre` ops.
//!
//! The program is first read into a graph of plain values ([`Graph`]). A `linalg.generic` is a loop nest with a body of scalar operations:
//! each scalar operation becomes a node over the whole iteration space, a combination with the running result a reduction, a sum of
//! products a matmul. What is known at compile time is computed at once, larger shapes (a sigmoid, a gelu, a mean) are recognised by what
//! they compute, and only what the results need is written as `spyre` ops. Spelling does not matter: operand order, kept or dropped unit
//! dimensions, results that nobody uses, casts to a wider format and back, and constants as numbers, splats or tensors all come out the
//! same. `docs/reference/supported-ops.md` lists the operations; it is made from the tables of this stage.
//!
//! | folder or file | what |
//! |---|---|
//! | `graph` | the program as plain values: nodes, what is known of them, index maps |
//! | `rules` | what becomes of what: the tables of operations, and what is recognised in them |
//! | `ir/select_program.rs`, `ir/lower_tosa.rs` | which function is compiled, in which sizes; TOSA by upstream's passes |
//! | `ir/check_calls.rs` | the check of calls, in front of inlining |
//! | `ir/check_input.rs` | the check against the table of operations on tensors |
//! | `ir/import_linalg.rs`, `ir/importer.rs`, `ir/generic.rs`, `ir/import_generic.rs`, `ir/import_windows.rs`, `ir/import_groups.rs`, `ir/read_body.rs`, `ir/scalar.rs`, `ir/import_tensor.rs`, `ir/import_loop.rs`, `ir/import_attention.rs`, `ir/import_scan.rs`, `ir/import_scatter.rs`, `ir/import_sort.rs`, `ir/island.rs` | reading the program |
//! | `ir/emit.rs`, `ir/emit_constant.rs` | writing the `spyre` ops |
//! | `ir/expand_functions.rs` | functions in terms of others |

mod graph;
mod rules;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use graph::{Element, Graph, Kind, Node, NodeId, known::Known};
pub use rules::{
    body::{Body, Combiner, Product, Reduction, Scalar, ScalarOp},
    calls::{CallingFunction, MAX_INLINED_OPS, count_inlined_ops},
    contraction::Contraction,
    dim_size::{DimSize, OpenShape, SettledSizes, settled_sizes},
    expansion::{EXPANSIONS, Expansion, Source, Step},
    functions::{SCALAR_FUNCTIONS, ScalarFunction},
    operations::{OPERATIONS, Operation, Outcome, supported_ops_page},
    precision::{Precision, Rounding},
    truth::{TwoFormats, elements_of_truth},
};
