//! Stage `hint`: what the user said about dimensions and tiles.
//!
//! A *name* belongs to a dimension of an argument and follows it through every op and view by index arithmetic. A *hint* asks for a number
//! of tiles along a name; it is written as a scope around ops, or as `--tiles` around the whole program, and becomes an attribute of each
//! op with an id: ops with the same id share a loop, and a smaller id is further out. A *work hint* asks for a number of slices over the
//! cores along a name.

mod spelling;
mod work_hint;

pub(crate) mod flatten_hints;
pub(crate) mod propagate_dims;

pub use spelling::{DimNames, TileCount};
pub use work_hint::{NameError, WorkHint, dim_named};
