//! Our dialects in Rust: attributes as the plain values that passes compute with, views of ops for reading, and
//! functions that build ops. Nothing here decides or transforms.

mod attrs;
mod base_buffer;
mod buffers;
mod compute;
mod enums;
mod indices;
mod kernels;
pub mod ods;
mod ops;
mod plan;
mod program;
mod proof;
mod sdsc_attrs;
mod symbolic;
mod symbols;
mod target;
mod tile_search;
mod views;

pub use self::program::{IrProgram, read_program};
pub use attrs::{DeviceTensor, MemoryLocation, MemoryPlacement, TileHint, format_of, tile_type};
pub use base_buffer::{
    LoopCarriedValue, TiledInput, TiledOutput, WindowStride, YieldSlot, base_buffer_of, collect_alias_users,
    collect_users_through_views, find_last_writer, is_computed_in_place, is_in_lx, is_loop_carried,
    loop_carried_values, placement_owner_of, storage_root_of, strip_retyping_views, strip_views, tiled_dims,
    tiled_inputs, tiled_outputs, window_strides, yield_slots,
};
pub use buffers::{
    BufferSlice, InsertChain, MAX_IN_PLACE_SLICES, PartialBufferViolation, buffer_slices,
    find_partial_buffer_violations, is_disjoint_slice, is_in_loop_of_buffer, trace_single_use_producer,
};
pub use compute::{ComputeOp, OperandAccess, core_split_of, plain_view_indices, shuffle_destination_of};
pub(crate) use enums::OdsEnum;
pub use enums::ProgramBufferRole;
pub use indices::plain_dims;
pub use kernels::{
    Knob, append_yield, build_kernel_before, condition_holds, input_dims_of, rebuild_scope, set_input_dims, set_knob,
    wrap_in_recompute_scope,
};
pub use ops::{
    EXACT_ATTR, OpRebuilder, build_broadcast_view, build_constant, build_copy, build_empty, build_gather, build_insert,
    build_loop, build_loop_copy, build_matmul, build_pointwise, build_reduce, build_relayout_copy, build_restickify,
    build_retyped_view, build_view, build_yield, clone_constant, has_corrections, hints_attribute, rebuild_op,
    work_attribute, work_div_attribute,
};
pub use plan::{read_plan, set_plan};
pub use proof::{read_proof, set_proof};
pub use sdsc_attrs::{input_arg_bounds, input_arg_type, sdsc_attribute, sdsc_parameters};
pub use symbolic::{NamedSize, SymbolicSize, SymbolicSizes, TiledSize, mark_symbolic};
pub use symbols::{declared_maxima, declared_sizes};
pub use target::{phase_of, set_phase, set_target, target_of};
pub use tile_search::{PlannedCost, RunnerUpPlan, TileSearchSummary};
pub use views::{BufferView, erase_unused, read_buffer_view, view_indices};
