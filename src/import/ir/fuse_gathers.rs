//! `spyre-fuse-gathers`: fuses an elementwise function into the gather that is its only producer.
//!
//! Reads the users of gather results; sets `function` on a gather and erases the elementwise op. The gathered rows are
//! then neither written to HBM nor read back, which is most of the traffic of the two ops. With its fusion enabled,
//! torch-spyre writes a fused op, too.

use crate::dialect::ods::{attr, spyre};
use crate::mlir::{
    DerivationKind, ErrorReported, Op, OpExt, Pass, PassOptions, TensorType, ValueExt, ValueLike, derive_location,
    fused_location, string_attribute,
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-fuse-gathers", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    for gather in module.nested().into_iter().filter(|op| op.is(spyre::GATHER) && op.attr(attr::FUNCTION).is_none()) {
        if let Some(reader) =
            find_only_user(gather).filter(|reader| may_fuse(*reader) && have_same_loops(gather, *reader))
        {
            let fused = fused_location(&[gather.loc(), reader.loc()]);
            gather.set_loc(derive_location(gather.ctx(), fused, (DerivationKind::Fusion, PASS.argument), None));
            gather.set_attr(attr::FUNCTION, string_attribute(gather.ctx(), reader.text_attr(attr::FUNCTION)));
            reader.output().replace_with(reader.inputs()[0]);
            reader.erase();
        }
    }
    Ok(())
}

/// Returns the only user of a result, looking through views.
fn find_only_user(op: Op<'_>) -> Option<Op<'_>> {
    let [reader] = <[Op<'_>; 1]>::try_from(op.output().users()).ok()?;
    let elements =
        |op: Op<'_>| TensorType::from_type(op.output().r#type()).map(|tensor| tensor.shape.iter().product::<i64>());
    if reader.is(spyre::VIEW) && elements(reader) == elements(op) { find_only_user(reader) } else { Some(reader) }
}

/// Returns whether an op is an elementwise function of one operand without constants.
fn may_fuse(op: Op<'_>) -> bool {
    op.is(spyre::POINTWISE) && op.inputs().len() == 1 && op.attr(attr::CONSTANTS).is_none()
}

/// Returns whether hints request the same loops around both ops, or none, and do not divide them.
fn have_same_loops(gather: Op<'_>, reader: Op<'_>) -> bool {
    let is_free = |op: Op<'_>| op.attr(attr::WORK_DIV).is_none();
    gather.attr(attr::HINTS) == reader.attr(attr::HINTS) && is_free(gather) && is_free(reader)
}
