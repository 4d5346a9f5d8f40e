//! Stage `import`: from `linalg` on tensors to `spyre` ops.
//!
//! A `linalg.generic` is a loop nest with a body of scalar operations. The body is read into a plain value ([`Body`]) and asked what it
//! computes: each scalar operation that the device has becomes one `spyre.pointwise` on whole tensors, a combination with the running
//! result becomes a `spyre.reduce`, a sum of products a `spyre.matmul`. Spelling does not matter: operand order, kept or dropped unit
//! dimensions, results that nobody uses, and casts to a wider format and back all come out the same.
//!
//! | linalg | spyre |
//! |---|---|
//! | all iterators parallel | one `pointwise` per scalar operation |
//! | `acc = combine(acc, f(inputs))` | the `pointwise` ops of `f`, then a `reduce` per reduced dimension |
//! | `acc = acc + a * b`, one M, one N, one K | `matmul`; `b` may lack a batch dimension |
//! | `expand_shape`, `collapse_shape`, transposed and broadcast maps | `view` |
//! | `fill`, splat constants | known numbers; neutral ones vanish |

mod body;
mod contraction;
mod import_generic;
pub(crate) mod import_linalg;
mod precision;
mod reshape;
pub(crate) mod set_target;
mod views;

pub use body::{Body, Combiner, Product, Reduction, Scalar, ScalarOp};
pub use contraction::Contraction;
pub use precision::Precision;
