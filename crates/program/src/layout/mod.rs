//! Device layouts, and the indices at which ops read them.
//!
//! Definitions:
//! * A *stick* is 128 bytes, the unit of transfer; `E` is the number of elements in one (64 for f16).
//! * A *host tensor* is the program's view of a tensor: sizes and strides in elements ([`HostTensor`]).
//! * A *device layout* is what the memory sees: row-major sizes whose last dimension is one stick ([`DeviceLayout`]).
//!   Each device dimension says how many host elements one step along it moves (its entry of the stride map), or -1
//!   when it holds nothing of the host (padding, a dimension of size 1).
//! * The *stick dimension* is the host dimension that runs inside the sticks. It takes two device dimensions: the
//!   number of the stick and the position in it. Every other host dimension takes one ([`HostDim`]).
//! * A tensor is *sparse* when each stick holds one element: the result of a reduction over the stick dimension.
//! * An op's *iteration dimensions* are numbered, output dimensions first, then reduction dimensions. A *coordinate*
//!   says which position of one dimension an iteration point touches ([`Coordinate`]); an *access* is one coordinate
//!   per dimension.
//! * A view (a reshape, a transpose, a slice, a broadcast) reads its buffer at *indices* that are sums of *digits*
//!   ([`TensorIndex`]): `(c1 floordiv 32) mod 8` times a factor. Indices become coordinates when the iteration
//!   dimensions are cut into *parts* and the buffer's dimensions into *factors*, so that each factor is moved by one
//!   part at most ([`make_readable()`]).
//!
//! Worked example. An f16 tensor of 1024 rows and 4096 columns has the default device layout `[64, 1024, 64]` with
//! stride map `[64, 4096, 1]`: 64 columns of sticks, each with 1024 sticks. Read at `(c0, c1)` it is touched at
//! `[c1 floordiv 64, c0, c1 mod 64]`. Moving a window down by 512 rows moves its first element by 512 * 64 = 32768
//! device elements; moving it right by 1024 columns moves it by 16 * 1024 * 64 = 1048576; moving it right by 32 columns
//! is an error, because it would cut a stick.
//!
//! | file | content |
//! |---|---|
//! | `host_tensor.rs` | host tensors |
//! | `host_dim.rs` | the device dimensions that a host dimension occupies, the step of a tile window |
//! | `device_layout.rs` | the layout, its constructors, its size |
//! | `coordinates.rs` | device coordinates of an access |
//! | `tile.rs` | the layout of a tile that is a buffer of its own |
//! | `index.rs` | indices as sums of digits, views composed |
//! | `index_list.rs` | whether indices are read one after the other, from the beginning of a stick |
//! | `iteration_split.rs` | iteration dimensions in parts, buffer dimensions in factors |
//! | `reshape.rs` | the layout of a buffer whose dimensions are split |
//! | `readable_op.rs` | device coordinates of operands that read through views; combines the files above |
//! | `sticks.rs` | which dimension runs in the sticks of an access, whether the operands of an op agree, moving the stick |
//! | `view_requirements.rs` | constraints of ops on the views that they read |
//! | `element_order.rs` | the elements that a view shows, by row-major position in the viewed tensor |
//! | `read_window.rs` | the window of a buffer that a reader sees, as a buffer of its own |
//! | `flatten.rs` | copies for readers that divide a sum of dimensions |
//! | `regroup.rs` | copies that merge and split dimensions where no stick ends |
//! | `table.rs` | the layout of a table that an index tensor addresses |
//! | `error.rs` | errors of layouts and indices |
//! | `window.rs` | which windows of a tensor can be written |

mod coordinates;
mod device_layout;
mod element_order;
mod error;
mod flatten;
mod host_dim;
mod host_tensor;
mod index;
mod index_list;
mod iteration_split;
mod read_window;
mod readable_op;
mod regroup;
mod reshape;
mod sticks;
mod table;
#[cfg(test)]
mod testing;
mod tile;
#[cfg(test)]
mod view_chains;
mod view_requirements;
mod window;

pub use coordinates::{Coordinate, CoordinateTerm, compute_device_coordinates};
pub use device_layout::{DeviceLayout, DimOrder, count_sticks};
pub use element_order::{compute_row_major_position, find_row_major_dims};
pub use error::{IndexError, LayoutError};
pub use flatten::{FlattenedCopy, build_flattened_copy, merge_first_two_dims};
pub use host_dim::HostDimMapping;
pub use host_tensor::HostTensor;
pub use index::{IndexDigit, TensorIndex};
pub use index_list::is_index_list;
pub use iteration_split::{IterationSplit, OperandView, SplitOperand, split_iteration};
pub use read_window::ReadWindow;
pub use readable_op::{ReadableOp, ReadableOperand, ViewedOperand, make_readable};
pub use regroup::{
    RegroupedCopy, choose_unsplit_dim, drop_largest_stride, has_unit_step, merge_dims, merge_neighboring_digits,
    pad_to_complete_rows, split_into_digits, split_uneven_runs,
};
pub use sticks::{StickConflict, StickContents, find_common_stick, find_stick_contents};
pub use view_requirements::{DiagonalAccess, covers_dim, find_diagonal, is_whole_dim};
