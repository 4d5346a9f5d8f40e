//! Copies that a pass inserts before an op.

use crate::{
    dialect::{build_copy, build_relayout_copy},
    mlir::{DerivationKind, Op, OpExt, Type, Value, derived_location, insert_before},
};

/// Name of the pass that lays out values.
pub(super) const LAYOUT_PASS: &str = "spyre-propagate-layouts";

/// Inserts a copy of `value` before `reader`. The pass derives it from the reader.
pub(super) fn insert_copy<'c>(
    reader: Op<'c>,
    (kind, pass): (DerivationKind, &str),
    value: Value<'c>,
    output: Type<'c>,
) -> Op<'c> {
    insert_before(reader, build_copy(reader.ctx(), derived_location(reader, kind, pass), value, output))
}

/// Inserts a copy of `value` before `reader`, which cannot read it in its layout. The pass derives it from the reader.
pub(super) fn insert_relayout_copy<'c>(
    reader: Op<'c>,
    (kind, pass): (DerivationKind, &str),
    value: Value<'c>,
    output: Type<'c>,
) -> Op<'c> {
    insert_before(reader, build_relayout_copy(reader.ctx(), derived_location(reader, kind, pass), value, output))
}
