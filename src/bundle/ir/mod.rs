//! The passes of stage `bundle`: the files of the stage that know IR.

pub(crate) mod form_bundles;
mod indexed_rows;
pub(crate) mod lower_to_sdsc;
pub(crate) mod sdsc_ops;
