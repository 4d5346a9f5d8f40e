//! `spyre-import-linalg`, sorting of rows: `tm_tensor.sort` and `tm_tensor.topk`, as torch-mlir writes `sort`, `argsort`, `topk` and
//! `kthvalue`.

use super::{cast::element_type, importer::Importer, read_body::read_body};
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        Body, Element, Graph, Known, NodeId,
        graph::{
            digits::Digits,
            known::{MOST_KNOWN_ELEMENTS, too_many_known},
        },
        rules::{
            digits,
            sort::{Rows, Sorted, order_of, sorted},
        },
    },
    mlir::{Op, OpExt, Reported, ScalarType, Value, ValueExt, ValueLike, error_at, integers, natural, shape_of},
};

/// Imports a `tm_tensor.sort`. If only slices of the results are read, computes only the elements up to the end of these slices; the nodes of
/// such results are that long.
pub(super) fn import_sort<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let (body, _) = read_body(importer, op, 0)?;
    let nodes = op.inputs().into_iter().map(|value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    let (shape, dim) = (shape_of(op.inputs()[0]), op.required(attr::DIMENSION, natural));
    let n_first = op.outputs().into_iter().map(|output| n_read(output, dim)).max().unwrap_or(0).max(1);
    let rows = Rows { shape: &shape, dim, n_first };
    note_sorted(importer, op, &body, &nodes, rows);
    Ok(())
}

/// Imports a `tm_tensor.topk`. Its initial elements sort after all others, so only their shape matters.
pub(super) fn import_topk<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let (body, _) = read_body(importer, op, 0)?;
    let (inputs, shape, dim) = (op.inputs(), shape_of(op.inputs()[0]), op.required(attr::DIMENSION, natural));
    let n_first = shape_of(op.outputs()[0])[dim];
    let (first, n_given) = (importer.node_of(op, inputs[0])?, inputs.len() - 2);
    let places = if n_given == 2 {
        importer.node_of(op, inputs[1])?
    } else {
        let mut along = vec![1; shape.len()];
        along[dim] = shape[dim];
        if shape[dim] > MOST_KNOWN_ELEMENTS {
            return Err(error_at(codes::SORT_FORM, op, too_many_known(shape[dim])).report());
        }
        importer.graph.known(Known::counting(0, shape[dim]), along, Element::Int)
    };
    let start = importer.node_of(op, inputs[n_given])?;
    let is_last = match order_of(&body) {
        // A comparator that is not an order is rejected as such.
        None => true,
        Some((_, order)) => {
            let element = ScalarType::of(element_type(inputs[0].r#type())).element();
            importer.graph.number_of(start).is_some_and(|number| order.limit().can_start_from(number, element))
        }
    };
    if !is_last {
        let message =
            "expected the last number in sort order as initial value of the first 'outs', found other numbers; fill 'outs' with it";
        return Err(error_at(codes::SORT_FORM, op, message).report());
    }
    note_sorted(importer, op, &body, &[first, places], Rows { shape: &shape, dim, n_first });
    Ok(())
}

fn note_sorted<'c>(importer: &mut Importer<'c>, op: Op<'c>, body: &Body, nodes: &[NodeId], rows: Rows<'_>) {
    let found = match importer.graph.refused_among(nodes) {
        Some(refused) => Ok(vec![refused; nodes.len()]),
        None => in_order(importer, op, body, nodes, rows),
    };
    match found {
        Ok(results) => op.outputs().into_iter().zip(results).for_each(|(output, node)| importer.note_node(output, node)),
        Err(message) => {
            for (&output, &node) in op.outputs().iter().zip(nodes) {
                let element = importer.graph.node(node).element;
                let refused = importer.refused(op, op.loc(), message.clone(), shape_of(output), element);
                importer.note_node(output, refused);
            }
        }
    }
}

fn in_order<'c>(importer: &mut Importer<'c>, op: Op<'c>, body: &Body, nodes: &[NodeId], rows: Rows<'_>) -> Result<Vec<NodeId>, String> {
    let (key, order) = order_of(body).ok_or("expected a comparison of two elements of one tensor, found another comparator")?;
    let graph = &mut importer.graph;
    let mut tensors = Vec::new();
    for &node in nodes {
        let element = graph.node(node).element;
        if element == Element::Bool {
            return Err(codes::SORT_FORM.says("of truth values is not supported; convert them to numbers"));
        }
        let number = graph.numbers_with_format(node).map_err(|_| "of these integers is not supported; convert them to f32")?;
        tensors.push(Sorted { node: number, is_integer: element == Element::Int });
    }
    let mut of_digits = vec![None; tensors.len()];
    for number in 0..nodes.len() {
        if number != key && tensors[number].is_integer {
            of_digits[number] = spread_digits(graph, &mut tensors, number);
        }
    }
    let results = sorted(graph, &tensors, key, rows, order)?;
    let finished = |number: usize| match of_digits[number] {
        Some((upper, end)) => importer.as_digits(op, Digits { parts: [results[upper], results[number]], range: [0, end], exact: None }),
        None if tensors[number].is_integer => importer.graph.as_integers(results[number]),
        None => results[number],
    };
    Ok((0..nodes.len()).map(finished).collect())
}

/// Sorts constant integers that the format does not represent as their digits: the lower digits replace the tensor, the upper digits are
/// appended as another tensor. Returns the index of that tensor and the exclusive upper bound of the integers.
fn spread_digits(graph: &mut Graph, tensors: &mut Vec<Sorted>, number: usize) -> Option<(usize, i64)> {
    let known = graph.known_of(tensors[number].node)?;
    let is_whole = known.numbers().all(|number| number >= 0.0 && number.fract() == 0.0);
    #[allow(clippy::cast_possible_truncation, reason = "a far larger number is above every limit")]
    let end = known.numbers().fold(0.0, f64::max) as i64 + 1;
    let is_spread = is_whole && digits::are_needed(graph, end);
    let [upper, lower] = is_spread.then(|| digits::known_digits(graph, tensors[number].node)).flatten()?;
    tensors[number] = Sorted { node: lower, is_integer: false };
    tensors.push(Sorted { node: upper, is_integer: false });
    Some((tensors.len() - 1, end))
}

/// Returns the number of elements of each row of a result that are read.
fn n_read(result: Value<'_>, dim: usize) -> i64 {
    let length = shape_of(result)[dim];
    let reach = |user: Op<'_>| {
        let list = |name: &str| user.required(name, integers)[dim];
        let is_slice = user.is("tensor.extract_slice") && user.inputs().len() == 1;
        if is_slice { list("static_offsets") + (list("static_sizes") - 1) * list("static_strides") + 1 } else { length }
    };
    result.users().into_iter().map(reach).max().unwrap_or(0)
}
