//! Stage `import`: from `linalg` on tensors to `spyre` ops.
//!
//! The program is first imported into a value graph ([`Graph`]). In a `linalg.generic`, each scalar operation becomes a
//! node over the whole iteration space, a combination with the accumulator a reduction, a sum of products a matmul.
//! Constants are folded, and larger patterns (a sigmoid, a gelu, a mean) are recognized by the value that they compute,
//! independent of operand order, unit dimensions, dead results, redundant casts and the form of constants. Only live
//! nodes are written. `docs/reference/supported-ops.md` is generated from the tables of this stage.
//!
//! | folder or file | contents |
//! |---|---|
//! | `graph` | the program as a value graph: nodes, facts about them, index maps |
//! | `rules` | tables of operations and their lowerings, and recognized patterns |
//! | `ir/select_program.rs`, `ir/lower_tosa.rs` | which function is compiled, in which sizes; TOSA by upstream's passes |
//! | `ir/check_calls.rs` | the check of calls, before inlining |
//! | `ir/check_input.rs` | the check against the table of operations on tensors |
//! | `ir/import_linalg.rs`, `ir/importer.rs`, `ir/generic.rs`, `ir/import_generic.rs`, `ir/import_windows.rs`, `ir/pack_windows.rs`, `ir/import_groups.rs`, `ir/read_body.rs`, `ir/scalar.rs`, `ir/import_tensor.rs`, `ir/import_loop.rs`, `ir/import_attention.rs`, `ir/import_scan.rs`, `ir/import_scatter.rs`, `ir/import_sort.rs`, `ir/island.rs` | reading the program |
//! | `ir/emit.rs`, `ir/emit_constant.rs` | writing the `spyre` ops |
//! | `ir/expand_functions.rs` | expansion of functions into others |

mod graph;
mod rules;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use graph::{NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode, constant_tensor::ConstantTensor};
pub use rules::{
    body::{BodyReduction, BodyScalar, Combiner, GenericBody, InputProduct, ScalarOp},
    calls::{CallGraphNode, MAX_INLINED_OPS, count_inlined_ops},
    contraction::Contraction,
    dim_size::{ArgumentShape, DimSize, ResolvedSizes, resolve_sizes},
    expansion::{EXPANSIONS, Expansion, ExpansionOperand, ExpansionStep},
    functions::{SCALAR_FUNCTIONS, ScalarFunction},
    operations::{OPERATIONS, OperationStatus, OperationSupport, supported_ops_page},
    precision::{Precision, Rounding},
    truth_formats::{TruthFormatConflict, infer_truth_formats},
};
