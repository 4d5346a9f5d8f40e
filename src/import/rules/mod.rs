//! What operations become: tables, and rules for what is recognised by what it computes.
//!
//! | file | what |
//! |---|---|
//! | `operations.rs` | the table of operations on tensors, and the page of what is supported |
//! | `functions.rs` | the table of scalar operations |
//! | `plain.rs` | what all rules begin with |
//! | `recognize.rs` | rules for elementwise operations |
//! | `composites.rs` | sigmoid, gelu, mean and others by what they compute |
//! | `safe_softmax.rs` | PyTorch's softmax of rows that may be masked as a whole |
//! | `body.rs` | what a body combines |
//! | `contraction.rs` | which dimensions of a sum of products are batch, M, N and K |
//! | `chosen_factor.rs` | products with matrices that computed integers choose: experts |
//! | `parted_factor.rs` | products with what is put together of parts: keys and values behind cached ones |
//! | `scaled_product.rs` | one factor for a product of two scaled tensors |
//! | `trigonometry.rs`, `angles.rs`, `steps.rs`, `powers.rs` | sine and cosine; what undoes them; rounding, signs, remainders; powers, roots, hyperbolic functions |
//! | `truth.rs`, `precision.rs` | the number format of truth values; which values keep f32 |
//! | `index.rs` | indices that bodies compute: views and gathers |
//! | `lookup.rs` | elements of a table at such indices, one or several |
//! | `unordered.rs` | comparisons of what may be NaN |
//! | `unfolded.rs` | reads of a table through windows that overlap |
//! | `scan.rs` | running sums as products |
//! | `digits.rs` | integers beyond those that a format holds, digit by digit |
//! | `sort.rs` | rows in order, by ranks or one element after the other |
//! | `combined_parts.rs` | parts whose products, maxima or minima are written to such places |
//! | `places.rs` | places of such parts that count along whole dimensions |
//! | `scatter.rs` | parts that are written to places known at run time |
//! | `fold.rs` | integer operations on known values, on two's complement of any width |
//! | `integers.rs`, `range.rs` | operations on integers of run time, and the range that these must keep to |
//! | `quotients.rs` | quotients and remainders of integers of run time |
//! | `one_hot.rs` | rows that computed integers choose |
//! | `rank.rs` | tensors of more dimensions than a layout holds |
//! | `known_index.rs` | indices that come as tables, as expressions |
//! | `calls.rs` | ops that a program has once its calls are inlined |
//! | `dim_size.rs` | sizes for dimensions that a program leaves open |
//! | `expansion.rs` | functions in terms of others, whose results may live in LX |

mod angles;
pub(super) mod body;
pub(super) mod chosen_factor;
pub(super) mod calls;
mod combined_parts;
mod composites;
pub(super) mod contraction;
pub(super) mod digits;
pub(super) mod dim_size;
pub(super) mod expansion;
pub(super) mod fold;
pub(super) mod functions;
pub(super) mod index;
pub(super) mod integers;
pub(super) mod known_index;
pub(super) mod lookup;
pub(super) mod one_hot;
pub(super) mod operations;
pub(super) mod parted_factor;
pub(super) mod places;
pub(super) mod plain;
mod powers;
pub(super) mod precision;
mod quotients;
pub(super) mod range;
pub(super) mod rank;
mod recognize;
pub(super) mod safe_softmax;
pub(super) mod scaled_product;
pub(super) mod scan;
pub(super) mod scatter;
pub(super) mod sort;
mod steps;
mod trigonometry;
pub(super) mod truth;
mod unfolded;
mod unordered;
