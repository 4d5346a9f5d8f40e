//! Passes of stage `layout`, and the IR helpers that they share.

pub(crate) mod clone_constants;
mod compact_operand;
pub(crate) mod copy_aliased_results;
mod copy_windows;
pub(crate) mod defer_divisions;
mod insert_copies;
pub(crate) mod insert_restickify;
pub(crate) mod layout_gather_tables;
pub(crate) mod materialize_views;
pub(crate) mod pad_contractions;
mod padded_constant;
mod program;
pub(crate) mod propagate_layouts;
mod regroup_views;
mod split_tables;
pub(crate) mod split_views;
