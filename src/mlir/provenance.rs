//! Locations that record how an op was derived: which pass made it from which op.
//!
//! A derived location is a fused location with metadata, such as
//! `fused<{kind = "decomposition", op = "linalg.softmax", pass = "spyre-import-linalg"}>["model.mlir":3:8]`. Diagnostics
//! look through it; the debug handles of the files list the steps.

use super::{
    Attribute, AttributeList, Context, Location, Op, OpExt, build_dictionary, dictionary_entries,
    module_path::fused_locations, other_fused_locations, string, text::read_text,
};
use melior::ir::AttributeLike as _;
use mlir_sys::{
    MlirLocation, mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationFileLineColRangeGet,
    mlirLocationFileLineColRangeGetEndColumn, mlirLocationFileLineColRangeGetEndLine,
    mlirLocationFileLineColRangeGetFilename, mlirLocationFileLineColRangeGetStartColumn,
    mlirLocationFileLineColRangeGetStartLine, mlirLocationFusedGet, mlirLocationFusedGetMetadata,
    mlirLocationGetContext, mlirLocationIsACallSite, mlirLocationIsAFileLineColRange, mlirLocationIsAFused,
    mlirLocationIsAName, mlirLocationNameGetChildLoc,
};

/// Kind of a transformation, as in debug handles of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum TransformKind {
    /// The op replaces one op.
    Rewrite,
    /// The op replaces several ops.
    Fusion,
    /// The op is one of several that replace an op.
    Decomposition,
    /// The op computes again what another op computes, or a tile of it.
    Clone,
}

/// Returns the location of an op that a pass makes from `from`.
#[must_use]
pub fn derived_location<'c>(from: Op<'c>, kind: TransformKind, pass: &str) -> Location<'c> {
    derive_location(from.loc(), kind, pass, from.full_name())
}

/// Returns the location of an op that a pass makes from the op `op` at `from`.
#[must_use]
pub fn derive_location<'c>(from: Location<'c>, kind: TransformKind, pass: &str, op: &str) -> Location<'c> {
    let context = location_context(from);
    let kind: &str = kind.into();
    let metadata = AttributeList::new(context).with_text("kind", kind).with_text("op", op).with_text("pass", pass);
    annotate_location(from, build_dictionary(metadata))
}

/// Returns the fused location of one location with metadata.
#[must_use]
pub fn annotate_location<'c>(from: Location<'c>, metadata: Attribute<'c>) -> Location<'c> {
    // SAFETY: the location and the attribute are of one context, which outlives them.
    unsafe {
        let parts = [from.to_raw()];
        let context = mlirLocationGetContext(from.to_raw());
        Location::from_raw(mlirLocationFusedGet(context, 1, parts.as_ptr(), metadata.to_raw()))
    }
}
