//! Rules of release 1.0.0 that torch-spyre's practice does not have, or has in another form.

pub(super) mod bundles;
pub(super) mod divisions;
pub(super) mod families;
pub(super) mod folds;
pub(super) mod formats;
pub(super) mod symbols;
pub(super) mod tensors;
pub(super) mod windows;
