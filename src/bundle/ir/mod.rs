//! Passes of stage `bundle`, and the ops of `sdsc` from and to its model: the files of the stage that use IR.

pub(crate) mod form_bundles;
mod indexed_rows;
pub(crate) mod lower_to_sdsc;
pub(crate) mod sdsc_ops;
