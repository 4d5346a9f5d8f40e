//! Stage `import`: from `linalg` on tensors to `spyre` ops.
//!
//! The program is first read into a graph of plain values ([`Graph`]). A `linalg.generic` is a loop nest with a body of scalar operations:
//! each scalar operation becomes a node over the whole iteration space, a combination with the running result a reduction, a sum of
//! products a matmul. What is known at compile time is computed at once, larger shapes (a sigmoid, a gelu, a mean) are recognised by what
//! they compute, and only what the results need is written as `spyre` ops. Spelling does not matter: operand order, kept or dropped unit
//! dimensions, results that nobody uses, casts to a wider format and back, and constants as numbers, splats or tensors all come out the
//! same. `docs/supported-ops.md` lists the operations; it is made from the tables of this stage.
//!
//! | file | what |
//! |---|---|
//! | `graph.rs`, `known.rs` | the graph; numbers known at compile time |
//! | `operations.rs`, `ir/check_input.rs` | the table of operations on tensors; the check against it |
//! | `functions.rs` | the table of scalar operations |
//! | `recognize.rs` | rules for elementwise operations |
//! | `composites.rs` | sigmoid, gelu, mean and others by what they compute |
//! | `safe_softmax.rs` | PyTorch's softmax of rows that may be masked as a whole |
//! | `body.rs` | what a body combines |
//! | `contraction.rs` | which dimensions of a sum of products are batch, M, N and K |
//! | `scaled_product.rs` | one factor for a product of two scaled tensors |
//! | `truth.rs` | the number format of truth values |
//! | `index.rs` | indices that bodies compute: views and gathers |
//! | `order.rs` | comparisons of what is known along two dimensions, such as a mask over many positions |
//! | `views.rs`, `reshape.rs` | index maps |
//! | `window.rs` | parts of an iteration space, for branches |
//! | `ir/import_linalg.rs`, `ir/import_generic.rs`, `ir/read_body.rs`, `ir/scalar.rs`, `ir/import_tensor.rs`, `ir/island.rs` | reading the program |
//! | `ir/emit.rs`, `ir/emit_constant.rs` | writing the `spyre` ops |
//! | `expansion.rs`, `ir/expand_functions.rs` | functions in terms of others, whose results may live in LX |

mod body;
mod composites;
mod contraction;
mod expansion;
mod functions;
mod graph;
mod index;
mod known;
mod operations;
mod order;
mod precision;
mod recognize;
mod reshape;
mod safe_softmax;
mod scaled_product;
mod truth;
mod views;
mod window;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use body::{Body, Combiner, Product, Reduction, Scalar, ScalarOp};
pub use contraction::Contraction;
pub use expansion::{EXPANSIONS, Expansion, Source, Step};
pub use functions::{SCALAR_FUNCTIONS, ScalarFunction};
pub use graph::{Element, Graph, Kind, Node, NodeId};
pub use known::Known;
pub use operations::{OPERATIONS, Operation, Outcome, supported_ops_page};
pub use precision::Precision;
pub use truth::{TwoFormats, elements_of_truth};
