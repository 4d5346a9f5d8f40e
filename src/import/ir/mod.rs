//! The passes of stage `import`, and what they share: the files of the stage that know IR.

mod cast;
pub(crate) mod check_input;
mod counted_sizes;
mod emit;
mod emit_constant;
pub(crate) mod expand_functions;
pub(crate) mod fuse_gathers;
mod generic;
mod import_attention;
mod import_generic;
mod import_groups;
pub(crate) mod import_linalg;
mod import_loop;
mod import_scan;
mod import_scatter;
mod import_sort;
mod import_tensor;
mod import_windows;
mod importer;
mod island;
pub(crate) mod lower_stablehlo;
pub(crate) mod lower_tosa;
mod read_body;
pub(crate) mod relax_roundings;
mod scalar;
pub(crate) mod select_program;
pub(crate) mod set_target;
