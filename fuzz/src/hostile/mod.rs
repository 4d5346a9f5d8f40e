//! The modules of `test/hostile`, under the path that they have in the tests.

#[path = "../../../test/common/places.rs"]
pub(crate) mod common;
#[path = "../../../test/hostile/corpus.rs"]
pub(crate) mod corpus;
#[path = "../../../test/common/mutation.rs"]
pub(crate) mod mutation;
#[path = "../../../test/hostile/targets.rs"]
pub(crate) mod targets;

pub(crate) use spyre_compiler::tool::spyre_run::npy;

/// Root of the project.
pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
