//! Stage `hint`: user hints about dimension names, tile counts and core splits.
//!
//! A *name* belongs to the elements of an argument in storage order, and index arithmetic propagates it through every
//! op and view: a tensor of 16384 elements can be `M` of 64 times `K` of 256. A dimension that covers several names has
//! them all: `M*K`, outermost first. A *hint* requests a tile count along a name. It is written as a scope around ops,
//! or as `--tiles` around the whole program, and becomes an attribute of each op with an id: ops with the same id share
//! a loop, and a smaller id is further out. A *work hint* requests a core split along a name.
//!
//! The tile count may be symbolic, `tiles(M = T)`. The option `bind` replaces the symbol by a number: `bind=T=4` yields
//! `tiles(M = 4)`. An unbound symbol needs a maximum, `spyre.symbols = {T = 8}` on the function: the dimension is split
//! into 8 tiles, whose size is thus known, and a run executes the first `T` of them, from 1 to 8. So 4 at launch is
//! half of the dimension, and 4 by `bind` is all of it in larger tiles. The loop keeps the symbol down to the bound of
//! `scf.for`. The back end accepts numbers only (torch-spyre facts, G.5).
//!
//! | file | what |
//! |---|---|
//! | `sizes.rs` | size of a name: declared or implied |
//! | `merge.rs` | names of an op from those of its operands; names of a buffer that is written slice by slice |
//! | `bindings.rs` | symbolic counts, and their numbers |
//! | `spelling.rs` | textual form of hints and names in options |

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
