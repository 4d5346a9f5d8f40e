//! Device layouts, and the indices at which ops read them.
//!
//! A [`HostTensor`] has sizes and strides of the program's tensor, a [`DeviceLayout`] the order of its elements in
//! device memory. An op numbers its *iteration dimensions*, output dimensions first, then reduction dimensions. An
//! *access* is one [`Coordinate`] per tensor dimension: its position as a function of the iteration point. A view reads
//! its buffer at *indices* that are sums of *digits* ([`TensorIndex`]); [`make_readable()`] splits iteration and buffer
//! dimensions until these indices become coordinates.

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
