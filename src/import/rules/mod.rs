//! Lowerings of operations: tables, and rules for patterns that are recognized by the value that they compute.
//!
//! | file | contents |
//! |---|---|
//! | `operations.rs` | the table of operations on tensors, and the page of supported operations |
//! | `functions.rs` | the table of scalar operations |
//! | `rule_helpers.rs` | helpers of all rules |
//! | `recognize.rs` | rules for elementwise operations |
//! | `composites.rs` | sigmoid, gelu, mean and others, recognized by the value that they compute |
//! | `safe_softmax.rs` | PyTorch's softmax of rows that may be completely masked |
//! | `body.rs` | the scalar operations and reductions of a body |
//! | `contraction.rs` | which dimensions of a sum of products are batch, M, N and K |
//! | `selected_factor.rs` | products with matrices that are selected by computed integers: experts |
//! | `concatenated_factor.rs` | products with concatenated tensors: keys and values appended to cached ones |
//! | `scaled_product.rs` | one factor for a product of two scaled tensors |
//! | `trigonometry.rs`, `angles.rs`, `rounding.rs`, `powers.rs` | sine, cosine, inverses; rounding, signs, remainders; powers, roots, hyperbolics |
//! | `single_precision_angles.rs` | angles in single precision |
//! | `truth_formats.rs`, `precision.rs` | the number format of truth values; which values keep f32 |
//! | `index.rs` | indices that bodies compute: views and gathers |
//! | `lookup.rs`, `concatenated_index.rs` | elements of a table at such indices, one or several; at indices computed from joined lists |
//! | `nan_comparison.rs` | comparisons of operands that may be NaN |
//! | `unfold.rs` | reads of a table through overlapping windows |
//! | `scan.rs` | running sums as products |
//! | `digit_arithmetic.rs` | sums, differences, comparisons and choices of digits |
//! | `digits.rs` | integers that a format cannot represent, digit by digit |
//! | `sort.rs` | sorted rows, by ranks or one element after the other |
//! | `scatter_combine.rs` | slices whose products, maxima or minima are written to such positions |
//! | `scatter_grid.rs` | positions of such slices that count along complete dimensions |
//! | `scatter.rs` | slices that are written to runtime positions |
//! | `fold.rs` | integer operations on known values, on two's complement of any width |
//! | `integers.rs`, `range.rs` | operations on runtime integers, and the ranges that these must not leave |
//! | `quotients.rs` | quotients and remainders of runtime integers |
//! | `one_hot.rs` | rows that are selected by computed integers |
//! | `pairwise.rs` | reductions of few values as balanced trees |
//! | `merged_reduction.rs` | reductions over dimensions that a reshape merged |
//! | `rank.rs` | tensors of more dimensions than a layout has |
//! | `affine_index.rs` | index tables as affine expressions |
//! | `calls.rs` | op counts of a program after calls are inlined |
//! | `dim_size.rs` | sizes for the dynamic dimensions of a program |
//! | `expansion.rs` | functions in terms of others, whose results may be in LX |

pub(super) mod affine_index;
mod angles;
pub(super) mod body;
pub(super) mod calls;
mod composites;
pub(super) mod concatenated_factor;
mod concatenated_index;
pub(super) mod contraction;
pub(super) mod digit_arithmetic;
pub(super) mod digits;
pub(super) mod dim_size;
pub(super) mod expansion;
pub(super) mod fold;
pub(super) mod functions;
pub(super) mod index;
pub(super) mod integers;
pub(super) mod lookup;
pub(super) mod merged_reduction;
mod nan_comparison;
pub(super) mod one_hot;
pub(super) mod operations;
pub(super) mod pairwise;
mod powers;
pub(super) mod precision;
mod quotients;
pub(super) mod range;
pub(super) mod rank;
mod recognize;
mod rounding;
pub(super) mod rule_helpers;
pub(super) mod safe_softmax;
pub(super) mod scaled_product;
pub(super) mod scan;
pub(super) mod scatter;
mod scatter_combine;
pub(super) mod scatter_grid;
pub(super) mod selected_factor;
mod single_precision_angles;
pub(super) mod sort;
mod trigonometry;
pub(super) mod truth_formats;
mod unfold;
