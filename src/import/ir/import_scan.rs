//! `spyre-import-linalg`, running combinations along a dimension: `tm_tensor.scan`, as torch-mlir writes `cumsum`.

use super::{cast::element_type, importer::FunctionImporter, read_body::read_body};
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        BodyReduction, BodyScalar, Combiner, NodeElementType, NodeId,
        rules::{
            digit_arithmetic::{build_running_sums, is_representable},
            fold::MAX_WIDTH,
            scan::{build_scan, build_sum_bounds},
        },
    },
    mlir::{ErrorReported, Op, OpExt, ScalarType, ValueLike, integer, natural_number, shape_of},
};
use program::affine::AffineExpression;

pub(super) fn import_scan<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let (body, _) = read_body(importer, op, 1)?;
    let (input, shape) = (importer.node_of(op, op.inputs()[0])?, shape_of(op.inputs()[0]));
    let dim = op.required_attr(attr::DIMENSION, natural_number);
    let width = ScalarType::from_type(element_type(op.inputs()[0].r#type())).width();
    let is_integer =
        importer.graph.node(input).element == NodeElementType::Int && importer.graph.as_constant(input).is_none();
    let input = importer.graph.convert_to_numbers(input).unwrap_or_else(|rejected| rejected);
    let is_sum = body.find_reduction(0).is_some_and(|reduction| reduction.combiner == Combiner::Sum);
    let found = match body.find_reduction(0) {
        _ if op.required_attr(attr::INCLUSIVE, integer) == 0 => Err(codes::UNSUPPORTED
            .format("expected inclusive(true), found an exclusive scan; subtract the element from an inclusive scan")),
        Some(_) if width == Some(1) => {
            Err(codes::INTEGER_WIDTH.format("of truth values is not supported; extend them to i32 first"))
        }
        Some(BodyReduction { combiner: Combiner::All | Combiner::Any, .. }) if is_integer => {
            Err(codes::INTEGER_RUNTIME
                .format("of the bits of runtime integers is not supported; use arithmetic on integers"))
        }
        Some(BodyReduction { combiner: Combiner::Sum, new: BodyScalar::Input(0), casts, .. })
            if casts.is_empty()
                && is_integer
                && let Some(digits) = build_running_sums(&mut importer.graph, input, &shape, dim)
                && is_representable(digits.range, width.unwrap_or(MAX_WIDTH)) =>
        {
            Ok(importer.add_digits(op, digits))
        }
        Some(BodyReduction { combiner, new: BodyScalar::Input(0), casts, .. }) if casts.is_empty() => {
            build_scan(&mut importer.graph, combiner, input, (&shape, dim), width)
        }
        _ => Err(codes::REDUCTION_FORM
            .format("expected a sum, product, maximum or minimum in the body, found another operation")),
    };
    let rejected = importer.graph.find_unsupported(&[input]);
    let node = match (rejected, found) {
        (Some(rejected), _) => rejected,
        (None, Ok(node)) if is_integer && importer.graph.find_digits(node).is_none() => {
            if let Some(width) = width {
                importer.graph.record_width(node, width);
            }
            if is_sum && shape[dim] > 1 {
                let exact = build_sum_bounds(&mut importer.graph, input, &shape, dim);
                importer.graph.record_exact_node(node, exact);
            }
            importer.graph.add_integers(node)
        }
        (None, Ok(node)) => node,
        (None, Err(message)) => {
            let element = importer.graph.node(input).element;
            importer.add_unsupported(op, op.loc(), message, shape.clone(), element)
        }
    };
    importer.record_wide_value(op, &[input], node);
    importer.record_node(op.outputs()[0], node);
    let last = view_last_element(importer, node, &shape, dim);
    importer.record_node(op.outputs()[1], last);
    Ok(())
}

/// Returns the last element along a dimension, and removes the dimension.
fn view_last_element(importer: &mut FunctionImporter<'_>, node: NodeId, shape: &[i64], dim: usize) -> NodeId {
    let place = |other: usize| match other.cmp(&dim) {
        std::cmp::Ordering::Less => AffineExpression::Dim(other),
        std::cmp::Ordering::Equal => AffineExpression::Constant(shape[dim] - 1),
        std::cmp::Ordering::Greater => AffineExpression::Dim(other - 1),
    };
    let rest: Vec<i64> = (0..shape.len()).filter(|&other| other != dim).map(|other| shape[other]).collect();
    importer.graph.view(node, (0..shape.len()).map(place).collect(), &rest)
}
