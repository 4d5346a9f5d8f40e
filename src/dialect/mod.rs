//! Our dialects seen from Rust: attributes as the stages' plain values, views for reading and functions for building ops.
//!
//! | file | what |
//! |---|---|
//! | `attrs.rs` | `#spyre` attributes from and to plain values; their C accessors |
//! | `buffers.rs` | who uses buffers that are written in parts |
//! | `compute.rs` | [`ComputeOp`]: any compute op through its iteration space and access maps |
//! | `enums.rs` | plain values that are enums in ODS |
//! | `home.rs` | which buffer a value is a window of, and how the window moves with loops |
//! | `indices.rs` | index maps whose results are dimensions |
//! | `kernels.rs` | `spyre.kernel`: its knobs, building one, changing what it takes and gives |
//! | `ods.rs` | the names of our ops and attributes, as ODS has them |
//! | `ops.rs` | building `spyre` ops |
//! | `sdsc_attrs.rs` | attributes of `sdsc` and types of `sdscbundle`; the C accessors |
//! | `symbolic.rs` | sizes that are known at launch only: which dimensions have them |
//! | `symbols.rs` | counts that are known at launch only |
//! | `plan.rs` | what was chosen, for the plan file |
//! | `program.rs` | a function as a [`program::Program`](::program::Program) |
//! | `proof.rs` | what no plan of loops takes less than |
//! | `tile_search.rs` | what the search for tiles has found |
//! | `views.rs` | what operands show of their buffers |
//! | `target.rs` | the machine that a module is compiled for |

mod attrs;
mod buffers;
mod compute;
mod enums;
mod home;
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
pub use attrs::{MemoryLocation, MemoryPlacement, DeviceTensor, TileHint, format_of, tile_type};
pub use buffers::{InsertChain, MAX_IN_PLACE_SLICES, PartialBufferViolation, BufferSlice, is_disjoint_slice, is_in_loop_of_buffer, trace_single_use_producer, find_partial_buffer_violations, buffer_slices};
pub use compute::{OperandAccess, ComputeOp, plain_view_indices, core_split_of};
pub(crate) use enums::OdsEnum;
pub use enums::ProgramBufferRole;
pub use home::{
    LoopCarriedValue, TiledOutput, WindowStride, TiledInput, YieldSlot, strip_views, loop_carried_values, tiled_outputs, base_buffer_of, is_loop_carried, is_in_lx, is_computed_in_place,
    find_last_writer, window_strides, placement_owner_of, tiled_inputs, collect_users_through_views, strip_retyping_views, yield_slots, tiled_dims, collect_alias_users,
    storage_root_of,
};
pub use indices::plain_dims;
pub use kernels::{Knob, wrap_in_recompute_scope, condition_holds, append_yield, input_dims_of, build_kernel_before, rebuild_scope, set_input_dims, set_knob};
pub use ops::{
    EXACT_ATTR, OpRebuilder, clone_constant, build_constant, build_copy, build_relayout_copy, build_loop_copy, build_empty, build_gather, has_corrections, hints_attribute,
    build_insert, build_loop, build_matmul, build_pointwise, rebuild_op, build_reduce, build_restickify, build_retyped_view, build_broadcast_view, build_view, work_attribute, work_div_attribute,
    build_yield,
};
pub use plan::{read_plan, set_plan};
pub use proof::{read_proof, set_proof};
pub use sdsc_attrs::{input_arg_bounds, input_arg_type, sdsc_attribute, sdsc_parameters};
pub use symbolic::{NamedSize, SymbolicSize, SymbolicSizes, mark_symbolic};
pub use symbols::{declared_maxima, declared_sizes};
pub use target::{phase_of, set_phase, set_target, target_of};
pub use tile_search::{PlannedCost, RunnerUpPlan, TileSearchSummary};
pub use views::{BufferView, erase_unused, view_indices, read_buffer_view};
