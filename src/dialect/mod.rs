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
pub use attrs::{Memory, Place, Tensor, TileHint, format_of, tile_type};
pub use buffers::{Assembly, MOST_PARTS, Misuse, Part, is_apart, is_beside_its_buffer, made_for_one, misused_buffers, parts_of};
pub use compute::{Access, ComputeOp, plain_view, split_of};
pub(crate) use enums::Enumerated;
pub use enums::Role;
pub use home::{
    Carried, GivenTile, Move, ReadTile, Slot, behind_views, carried_by, given_tiles, home_of, is_carried, is_in_lx, is_placed,
    last_writer_of, moves_of, owner_of, read_tiles, readers_through_views, retyped_home, slots_of, tiled_dims, users_behind_views,
    written_home,
};
pub use indices::plain_dims;
pub use kernels::{Knob, computed_again, condition_holds, end_with, input_dims_of, kernel_before, rebuilt_scope, set_input_dims, set_knob};
pub use ops::{
    EXACT, Rebuilt, cloned_constant, constant, copy, copy_for_layout, copy_for_loop, empty, gather, has_corrections, hints_attribute,
    insert, loop_over, matmul, pointwise, rebuilt, reduce, restickify, retyped, shown_along, view, work_attribute, work_div_attribute,
    yield_values,
};
pub use plan::{plan_of, set_plan};
pub use proof::{proof_of, set_proof};
pub use sdsc_attrs::{input_arg_bounds, input_arg_type, sdsc_attribute, sdsc_parameters};
pub use symbolic::{NamedSize, SymbolicSize, SymbolicSizes, mark_symbolic};
pub use symbols::{declared_maxima, declared_sizes};
pub use target::{phase_of, set_phase, set_target, target_of};
pub use tile_search::{PlannedCost, RunnerUp, TileSearch};
pub use views::{View, erase_unused, indices_of_view, shown_as};
