//! Stage `import`: converts `linalg` on tensors to `spyre` ops.
//!
//! The program is first imported into a value graph ([`ValueGraph`]). In a `linalg.generic`, each scalar operation
//! becomes a node over the iteration space, a combination with the accumulator a reduction, and a sum of products a
//! matmul. Constants are folded, and larger patterns (a sigmoid, a gelu, a mean) are recognized by the value that they
//! compute. Only live nodes are written. `docs/reference/supported-ops.md` is generated from the tables of this stage.

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
