//! `spyre-import-linalg`, sorting of rows: `tm_tensor.sort` and `tm_tensor.topk`, as torch-mlir writes `sort`,
//! `argsort`, `topk` and `kthvalue`.

use super::{cast::element_type, importer::FunctionImporter, read_body::read_body};
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        ConstantTensor, GenericBody, NodeElementType, NodeId, ValueGraph,
        graph::{
            constant_tensor::{MAX_CONSTANT_ELEMENTS, constant_limit_error},
            digit_pair::DigitPair,
        },
        rules::{
            digits,
            sort::{SortRows, SortTensor, find_sort_order, sort_tensors},
        },
    },
    mlir::{
        ErrorReported, Op, OpExt, ScalarType, Value, ValueExt, ValueLike, error_at, integers, natural_number, shape_of,
    },
};

/// Imports a `tm_tensor.sort`. If only slices of the results are read, computes only the elements up to the end of
/// these slices; the nodes of such results are that long.
pub(super) fn import_sort<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let (body, _) = read_body(importer, op, 0)?;
    let nodes = op.inputs().into_iter().map(|value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    let (shape, dim) = (shape_of(op.inputs()[0]), op.required_attr(attr::DIMENSION, natural_number));
    let num_first = op.outputs().into_iter().map(|output| count_read_elements(output, dim)).max().unwrap_or(0).max(1);
    let rows = SortRows { shape: &shape, dim, num_first };
    record_sorted(importer, op, &body, &nodes, rows);
    Ok(())
}

/// Imports a `tm_tensor.topk`. Its initial elements sort after all others, so only their shape matters.
pub(super) fn import_topk<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let (body, _) = read_body(importer, op, 0)?;
    let (inputs, shape, dim) =
        (op.inputs(), shape_of(op.inputs()[0]), op.required_attr(attr::DIMENSION, natural_number));
    let num_first = shape_of(op.outputs()[0])[dim];
    let (first, num_given) = (importer.node_of(op, inputs[0])?, inputs.len() - 2);
    let places = if num_given == 2 {
        importer.node_of(op, inputs[1])?
    } else {
        let mut along = vec![1; shape.len()];
        along[dim] = shape[dim];
        if shape[dim] > MAX_CONSTANT_ELEMENTS {
            return Err(error_at(codes::SORT_FORM, op, constant_limit_error(shape[dim])).report());
        }
        importer.graph.add_constant(ConstantTensor::iota(0, shape[dim]), along, NodeElementType::Int)
    };
    let start = importer.node_of(op, inputs[num_given])?;
    let is_last = match find_sort_order(&body) {
        // A comparator that is not an order is rejected as such.
        None => true,
        Some((_, order)) => {
            let element = ScalarType::from_type(element_type(inputs[0].r#type())).element_type();
            importer.graph.as_scalar(start).is_some_and(|number| order.combiner().can_start_from(number, element))
        }
    };
    if !is_last {
        let message = "expected the last number in sort order as initial value of the first 'outs', found other numbers; fill 'outs' with it";
        return Err(error_at(codes::SORT_FORM, op, message).report());
    }
    record_sorted(importer, op, &body, &[first, places], SortRows { shape: &shape, dim, num_first });
    Ok(())
}

fn record_sorted<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    body: &GenericBody,
    nodes: &[NodeId],
    rows: SortRows<'_>,
) {
    let found = match importer.graph.find_unsupported(nodes) {
        Some(rejected) => Ok(vec![rejected; nodes.len()]),
        None => build_sort(importer, op, body, nodes, rows),
    };
    match found {
        Ok(results) => {
            op.outputs().into_iter().zip(results).for_each(|(output, node)| importer.record_node(output, node))
        }
        Err(message) => {
            for (&output, &node) in op.outputs().iter().zip(nodes) {
                let element = importer.graph.node(node).element;
                let rejected = importer.add_unsupported(op, op.loc(), message.clone(), shape_of(output), element);
                importer.record_node(output, rejected);
            }
        }
    }
}

fn build_sort<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    body: &GenericBody,
    nodes: &[NodeId],
    rows: SortRows<'_>,
) -> Result<Vec<NodeId>, String> {
    let (key, order) =
        find_sort_order(body).ok_or("expected a comparison of two elements of one tensor, found another comparator")?;
    let graph = &mut importer.graph;
    let mut tensors = Vec::new();
    for &node in nodes {
        let element = graph.node(node).element;
        if element == NodeElementType::Bool {
            return Err(codes::SORT_FORM.format("of truth values is not supported; convert them to numbers"));
        }
        let number = graph
            .convert_to_formatted_numbers(node)
            .map_err(|_| "of these integers is not supported; convert them to f32")?;
        tensors.push(SortTensor { node: number, is_integer: element == NodeElementType::Int });
    }
    let mut of_digits = vec![None; tensors.len()];
    for number in 0..nodes.len() {
        if number != key && tensors[number].is_integer {
            of_digits[number] = split_digits(graph, &mut tensors, number);
        }
    }
    let results = sort_tensors(graph, &tensors, key, rows, order)?;
    let finished = |number: usize| match of_digits[number] {
        Some((upper, end)) => importer
            .add_digits(op, DigitPair { parts: [results[upper], results[number]], range: [0, end], exact: None }),
        None if tensors[number].is_integer => importer.graph.add_integers(results[number]),
        None => results[number],
    };
    Ok((0..nodes.len()).map(finished).collect())
}

/// Splits constant integers that the format does not represent into digits: the lower digits replace the tensor, the
/// upper digits are appended as another tensor. Returns the index of that tensor and the exclusive upper bound of the
/// integers.
fn split_digits(graph: &mut ValueGraph, tensors: &mut Vec<SortTensor>, number: usize) -> Option<(usize, i64)> {
    let known = graph.as_constant(tensors[number].node)?;
    let is_whole = known.numbers().all(|number| number >= 0.0 && number.fract() == 0.0);
    #[allow(clippy::cast_possible_truncation, reason = "a far larger number is above every limit")]
    let end = known.numbers().fold(0.0, f64::max) as i64 + 1;
    let is_spread = is_whole && digits::needs_digits(graph, end);
    let [upper, lower] = is_spread.then(|| digits::split_constant_digits(graph, tensors[number].node)).flatten()?;
    tensors[number] = SortTensor { node: lower, is_integer: false };
    tensors.push(SortTensor { node: upper, is_integer: false });
    Some((tensors.len() - 1, end))
}

/// Returns the number of elements of each row of a result that are read.
fn count_read_elements(result: Value<'_>, dim: usize) -> i64 {
    let length = shape_of(result)[dim];
    let reach = |user: Op<'_>| {
        let list = |name: &str| user.required_attr(name, integers)[dim];
        let is_slice = user.is("tensor.extract_slice") && user.inputs().len() == 1;
        if is_slice { list("static_offsets") + (list("static_sizes") - 1) * list("static_strides") + 1 } else { length }
    };
    result.users().into_iter().map(reach).max().unwrap_or(0)
}
