//! Stage `hint`: user hints about dimension names, tile counts and core splits.
//!
//! A *name* belongs to the elements of an argument in storage order, and is propagated through ops and views: 16384
//! elements can be `M` of 64 times `K` of 256. A dimension that covers several names has them all: `M*K`, outermost
//! first. A *hint* requests a tile count along a name, and a *work hint* a core split, as a scope around ops or as
//! `--tiles` around the program. The hint becomes an attribute with an id: ops with the same id share a loop. A tile
//! count may be symbolic ([`CountBindings`]).

mod bindings;
mod merge;
mod sizes;
mod spelling;

#[cfg(feature = "mlir")]
pub(crate) mod ir;

pub use bindings::{CountBinding, CountBindings, CountError, declared_maximum};
pub use merge::{DimNameConflict, DimNameRejection, MergedDimNames, WrittenDimNames};
pub use sizes::{NamedArgument, NamedDimSizes, SizeError};
pub use spelling::{DimNames, TileCount};
