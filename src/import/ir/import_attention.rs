//! `spyre-import-linalg`, `tm_tensor.attention`, as torch-mlir writes scaled dot product attention.

use super::importer::FunctionImporter;
use crate::{
    import::{NodeElementType, NodeId, ValueGraph, rules::safe_softmax::build_bounded_softmax},
    mlir::{ErrorReported, Op, OpExt, shape_of},
};
use program::affine::AffineExpression;

/// Builds the matmuls and the softmax of the attention.
pub(super) fn import_attention<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    // The last operand is the destination of the result.
    let given = &op.inputs()[..op.inputs().len() - 1];
    let mut nodes = given.iter().map(|&value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    for (node, &value) in nodes.iter_mut().zip(given) {
        *node = importer.graph.splat_if_scalar(*node, &shape_of(value));
    }
    importer.record_result(op, |importer, shape, element| {
        if let Some(rejected) = importer.graph.find_unsupported(&nodes) {
            return Ok(rejected);
        }
        let found = build_attention(&mut importer.graph, &nodes, &shape, element);
        Ok(found.unwrap_or_else(|message| importer.add_unsupported(op, op.loc(), message, shape, element)))
    })
}

fn build_attention(
    graph: &mut ValueGraph,
    nodes: &[NodeId],
    shape: &[i64],
    element: NodeElementType,
) -> Result<NodeId, String> {
    let &[queries, keys, values, ref mask @ ..] = nodes else {
        return Err("has no queries, keys and values".to_owned());
    };
    let num_batch = shape.len() - 2;
    let (of_keys, length) = (graph.node(keys).shape.clone(), graph.node(queries).shape[num_batch + 1]);
    let across: Vec<AffineExpression> =
        (0..num_batch).chain([num_batch + 1, num_batch]).map(AffineExpression::Dim).collect();
    let columns = graph.view(keys, across, &[&of_keys[..num_batch], &[length, of_keys[num_batch]]].concat());
    let of_scores = [&shape[..=num_batch], &[of_keys[num_batch]]].concat();
    let scores = graph.build_matmul(queries, columns, of_scores, element);
    #[allow(clippy::cast_precision_loss, reason = "a size is far below 2^53")]
    let scale = graph.add_scalar(1.0 / (length as f64).sqrt());
    let mut scores = graph.apply("arith.mulf", &[scores, scale], element)?;
    for &mask in mask {
        scores = if graph.node(mask).element == NodeElementType::Bool {
            let nothing = graph.add_scalar(f64::NEG_INFINITY);
            graph.apply("arith.select", &[mask, scores, nothing], element)?
        } else {
            graph.apply("arith.addf", &[scores, mask], element)?
        };
    }
    let dim = num_batch + 1;
    let weights = if mask.is_empty() {
        let max = graph.reduce("max", scores, dim);
        let shifted = graph.apply("arith.subf", &[scores, max], element)?;
        let powers = graph.apply("math.exp", &[shifted], element)?;
        let sum = graph.reduce("sum", powers, dim);
        graph.apply("arith.divf", &[powers, sum], element)?
    } else {
        build_bounded_softmax(graph, scores, dim)
    };
    Ok(graph.build_matmul(weights, values, shape.to_vec(), element))
}
