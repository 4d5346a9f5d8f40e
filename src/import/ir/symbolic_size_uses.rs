//! Rejection of programs that compute with the value of a symbolic size.
//!
//! A program is compiled for the largest size, so the value would be that of the largest size. Uses of a size in shapes
//! and in conditions on shapes are correct for every size; any other use is not.

use crate::{
    codes,
    mlir::{
        ErrorReported, Op, OpExt, Value, ValueExt, ValueLike, ValueMap, error_at, find_defined_functions, integer,
        partial_shape,
    },
};

/// Rejects a program that computes with the value of a symbolic dimension. Symbolic dimensions are named ones of an
/// argument of `entry`, and those of tensors whose shape is not known yet.
pub(super) fn check_symbolic_size_uses(
    module: Op<'_>,
    entry: Op<'_>,
    symbolic: &[Vec<String>],
) -> Result<(), ErrorReported> {
    let is_dim = |op: &Op<'_>| op.is("tensor.dim");
    let dims = find_defined_functions(module).into_iter().flat_map(OpExt::nested).filter(is_dim);
    for op in dims.filter(|op| may_be_symbolic(*op, entry, symbolic)) {
        if let Some(reader) = find_computing_user(op.output()) {
            let message = "computes with the size of a symbolic dimension, which differs between runs; give one size with \
             '--dim-size NAME=SIZE'";
            return Err(error_at(codes::SYMBOLIC_SIZE, reader, message).with_note(op, "the size").report());
        }
    }
    Ok(())
}

fn may_be_symbolic(dim: Op<'_>, entry: Op<'_>, symbolic: &[Vec<String>]) -> bool {
    let [of, position] = dim.inputs()[..] else { return true };
    let position = position
        .def()
        .and_then(|def| def.attr("value"))
        .and_then(integer)
        .and_then(|number| usize::try_from(number).ok());
    let Some(position) = position else { return true };
    let is_open =
        partial_shape(of.r#type()).and_then(|sizes| sizes.get(position).copied()).is_none_or(|size| size.is_none());
    let argument = entry.body_args().into_iter().position(|argument| argument == of);
    is_open && argument.is_none_or(|argument| symbolic[argument].get(position).is_none_or(|name| !name.is_empty()))
}

/// Returns an op that uses a size to compute elements, not a shape.
fn find_computing_user(size: Value<'_>) -> Option<Op<'_>> {
    let (mut left, mut seen) = (vec![size], ValueMap::default());
    while let Some(value) = left.pop() {
        if seen.insert(value, ()).is_some() {
            continue;
        }
        for user in value.users() {
            match user.full_name() {
                "arith.sitofp"
                | "arith.uitofp"
                | "tensor.from_elements"
                | "tensor.insert"
                | "func.return"
                | "func.call" => {
                    return Some(user);
                }
                name if name.starts_with("linalg.") => return Some(user),
                "tensor.splat" if user.inputs().first() == Some(&value) => return Some(user),
                name if name.starts_with("arith.") || name.starts_with("affine.") => left.extend(user.outputs()),
                _ => {}
            }
        }
    }
    None
}
