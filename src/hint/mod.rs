//! Stage `hint`: what the user said about dimensions and tiles.
//!
//! A *name* belongs to the elements of an argument in storage order and follows them through every op and view by index arithmetic: a
//! tensor of 16384 elements can be `M` of 64 times `K` of 256. A dimension that walks along several names has them all: `M*K`, the outer
//! one first. A *hint* asks for a number of tiles along a name; it is written as a scope around ops, or as `--tiles` around the whole
//! program, and becomes an attribute of each op with an id: ops with the same id share a loop, and a smaller id is further out. A *work hint* asks
//! for a number of slices over the cores along a name.
//!
//! | file | what |
//! |---|---|
//! | `sizes.rs` | how large a name is: declared or implied |
//! | `names.rs` | which names the dimensions of a view walk along |
//! | `merge.rs` | the names of an op from those of its operands; of a buffer that is written in parts |
//! | `spelling.rs` | hints and names as options |
//! | `work_hint.rs` | hints about slices over the cores |

mod merge;
mod names;
mod sizes;
mod spelling;
mod work_hint;

pub(crate) mod flatten_hints;
pub(crate) mod propagate_dims;

pub use merge::{Conflict, Merged, Refusal, Written};
pub use names::{Claim, Loss, Part, Shown, Walk, Why, factors, label};
pub use sizes::{NamedArgument, SizeError, Sizes};
pub use spelling::{DimNames, TileCount};
pub use work_hint::{NameError, WorkHint, dim_named};
