//! Locations that record how an op was derived: which pass made it from which op.
//!
//! A derived location is a fused location with metadata, such as
//! `fused<{kind = "decomposition", op = "linalg.softmax", pass = "spyre-import-linalg"}>["model.mlir":3:8]`. Diagnostics
//! look through it; the debug handles of the files list the steps.

use super::{
    Attribute, AttributeLike as _, AttributeList, Context, Location, Op, OpExt, build_dictionary, dictionary_entries,
    string,
};
use mlir_sys::{mlirLocationFusedGet, mlirLocationGetContext};

/// Kind of the transformation of an op, with the names of the file format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum DerivationKind {
    /// The op replaces one op.
    Rewrite,
    /// The op replaces several ops.
    Fusion,
    /// The op is one of several that replace an op.
    Decomposition,
    /// The op computes again what another op computes, or a part of it.
    Clone,
}

/// Step of the derivation of an op.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// Kind of the transformation.
    pub kind: DerivationKind,
    /// Pass that derived the op.
    pub pass: String,
    /// Name of the op that the pass transformed; `None` if it is one of several.
    pub op: Option<String>,
}

impl Derivation {
    /// Reads the metadata of a derived location.
    #[must_use]
    pub fn from_metadata(metadata: Attribute<'_>) -> Option<Self> {
        let entries = dictionary_entries(metadata)?;
        let text = |key: &str| entries.iter().find(|(name, _)| *name == key).and_then(|(_, value)| string(*value));
        Some(Self {
            kind: text("kind")?.parse().ok()?,
            pass: text("pass")?.to_owned(),
            op: text("op").map(str::to_owned),
        })
    }
}

/// Returns the location of an op that a pass makes from `from`.
#[must_use]
pub fn derived_location<'c>(from: Op<'c>, kind: DerivationKind, pass: &str) -> Location<'c> {
    derive_location(from.ctx(), from.loc(), (kind, pass), Some(from.full_name()))
}

/// Returns the location of an op that a pass makes from an op with the name `op` at `from`.
#[must_use]
pub fn derive_location<'c>(
    context: &'c Context,
    from: Location<'c>,
    (kind, pass): (DerivationKind, &str),
    op: Option<&str>,
) -> Location<'c> {
    let kind: &str = kind.into();
    let mut entries = AttributeList::new(context).with_text("kind", kind).with_text("pass", pass);
    if let Some(op) = op {
        entries = entries.with_text("op", op);
    }
    let metadata = build_dictionary(entries);
    // SAFETY: the location and the attribute are of one context, which outlives them.
    unsafe {
        let (context, parts) = (mlirLocationGetContext(from.to_raw()), [from.to_raw()]);
        Location::from_raw(mlirLocationFusedGet(context, 1, parts.as_ptr(), metadata.to_raw()))
    }
}
