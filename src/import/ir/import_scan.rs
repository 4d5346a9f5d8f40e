//! `spyre-import-linalg`, running combinations along a dimension: `tm_tensor.scan`, as torch-mlir writes `cumsum`.

use super::{cast::element_type, importer::Importer, read_body::read_body};
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        Combiner, Element, NodeId, Reduction, Scalar,
        rules::{
            digit_arithmetic::{fits, running_sums},
            fold::MAX_WIDTH,
            scan::{range_of_sums, scan},
        },
    },
    mlir::{Op, OpExt, Reported, ScalarType, ValueLike, integer, natural, shape_of},
};
use program::affine::Expr;

pub(super) fn import_scan<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let (body, _) = read_body(importer, op, 1)?;
    let (input, shape) = (importer.node_of(op, op.inputs()[0])?, shape_of(op.inputs()[0]));
    let dim = op.required(attr::DIMENSION, natural);
    let width = ScalarType::of(element_type(op.inputs()[0].r#type())).width();
    let is_integer = importer.graph.node(input).element == Element::Int && importer.graph.known_of(input).is_none();
    let input = importer.graph.numbers_of(input).unwrap_or_else(|refused| refused);
    let is_sum = body.reduction(0).is_some_and(|reduction| reduction.combiner == Combiner::Sum);
    let found = match body.reduction(0) {
        _ if op.required(attr::INCLUSIVE, integer) == 0 => {
            Err(codes::UNSUPPORTED.says("expected inclusive(true), found an exclusive scan; subtract the element from an inclusive scan"))
        }
        Some(_) if width == Some(1) => Err(codes::INTEGER_WIDTH.says("of truth values is not supported; extend them to i32 first")),
        Some(Reduction { combiner: Combiner::All | Combiner::Any, .. }) if is_integer => {
            Err(codes::INTEGER_RUNTIME.says("of the bits of runtime integers is not supported; use arithmetic on integers"))
        }
        Some(Reduction { combiner: Combiner::Sum, new: Scalar::Input(0), casts, .. })
            if casts.is_empty()
                && is_integer
                && let Some(digits) = running_sums(&mut importer.graph, input, &shape, dim)
                && fits(digits.range, width.unwrap_or(MAX_WIDTH)) =>
        {
            Ok(importer.as_digits(op, digits))
        }
        Some(Reduction { combiner, new: Scalar::Input(0), casts, .. }) if casts.is_empty() => {
            scan(&mut importer.graph, combiner, input, (&shape, dim), width)
        }
        _ => Err(codes::REDUCTION_FORM.says("expected a sum, product, maximum or minimum in the body, found another operation")),
    };
    let refused = importer.graph.refused_among(&[input]);
    let node = match (refused, found) {
        (Some(refused), _) => refused,
        (None, Ok(node)) if is_integer && importer.graph.digits_of(node).is_none() => {
            if let Some(width) = width {
                importer.graph.note_width(node, width);
            }
            if is_sum && shape[dim] > 1 {
                let exact = range_of_sums(&mut importer.graph, input, &shape, dim);
                importer.graph.note_exact(node, exact);
            }
            importer.graph.as_integers(node)
        }
        (None, Ok(node)) => node,
        (None, Err(message)) => {
            let element = importer.graph.node(input).element;
            importer.refused(op, op.loc(), message, shape.clone(), element)
        }
    };
    importer.note_wide(op, &[input], node);
    importer.note_node(op.outputs()[0], node);
    let last = last_along(importer, node, &shape, dim);
    importer.note_node(op.outputs()[1], last);
    Ok(())
}

/// Returns the last element along a dimension, and removes the dimension.
fn last_along(importer: &mut Importer<'_>, node: NodeId, shape: &[i64], dim: usize) -> NodeId {
    let place = |other: usize| match other.cmp(&dim) {
        std::cmp::Ordering::Less => Expr::Dim(other),
        std::cmp::Ordering::Equal => Expr::Constant(shape[dim] - 1),
        std::cmp::Ordering::Greater => Expr::Dim(other - 1),
    };
    let rest: Vec<i64> = (0..shape.len()).filter(|&other| other != dim).map(|other| shape[other]).collect();
    importer.graph.view(node, (0..shape.len()).map(place).collect(), &rest)
}
