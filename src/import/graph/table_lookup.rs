//! Functions of an index as table lookups.
//!
//! An integer that selects rows has few values, from 0 on. A function of it and of constants is tabulated at compile
//! time, in exact arithmetic, and the device looks up the row. The cosine of a position times a frequency is then as
//! exact as the format of its result. A comparison with one result for all values is a constant, and integers need not
//! be exact in a device format.

use super::{
    NodeElementType, NodeId, NodeKind, ValueGraph,
    constant_tensor::{ConstantTensor, MAX_CONSTANT_ELEMENTS},
    gather::NUM_SCALAR_COLUMNS,
    reshape::compute_reshape_map,
    views::compute_used_sizes,
};
use program::affine::AffineExpression;

/// Name of a lookup. Its inputs are the table, the index over the node's dimensions, and the gather that computes the
/// lookup. The first dimension of the table is the index, the others are those of the node.
const LOOKUP_OP: &str = "looked up";

/// Maximum number of elements of a compile-time table: 8 MiB in 16 bits, 32,768 positions of 128 angles.
const MAX_TABLE_ELEMENTS: i64 = 1 << 22;
const _: () = assert!(MAX_TABLE_ELEMENTS <= MAX_CONSTANT_ELEMENTS);

/// Returns the integers `0..n_rows` of `index` as the table that they are looked up in.
pub(in crate::import) fn build_iota_lookup(
    graph: &mut ValueGraph,
    index: NodeId,
    n_rows: i64,
    element: NodeElementType,
) -> NodeId {
    let shape = graph.node(index).shape.clone();
    let of_table = [vec![n_rows], vec![1; shape.len()]].concat();
    let table = graph.add_constant(ConstantTensor::iota(0, n_rows), of_table, NodeElementType::Int);
    build_lookup(graph, table, index, shape, element)
}

/// Builds a lookup of a row of `table`, whose integers are exact regardless of the device format: a constant if all
/// rows are equal.
fn build_lookup(
    graph: &mut ValueGraph,
    table: NodeId,
    index: NodeId,
    shape: Vec<i64>,
    element: NodeElementType,
) -> NodeId {
    if graph.as_scalar(table).is_some() {
        return table;
    }
    let gather = gather_rows(graph, table, index, &shape, element);
    graph.add(NodeKind::Virtual(LOOKUP_OP), &[table, index, gather], shape, element)
}

/// Returns the table and the index of a lookup node.
pub(in crate::import) fn as_lookup(graph: &ValueGraph, id: NodeId) -> Option<(NodeId, NodeId)> {
    let node = graph.node(id);
    let &[table, index, _] = node.inputs.as_slice() else { return None };
    matches!(node.kind, NodeKind::Virtual(LOOKUP_OP)).then_some((table, index))
}

/// Returns the table and the index of a lookup, or of a virtual op, such as a comparison, that a lookup computes.
/// Returns None for other nodes.
fn find_lookup(graph: &ValueGraph, id: NodeId) -> Option<(NodeId, NodeId)> {
    let node = graph.node(id);
    as_lookup(graph, id).or_else(|| match node.kind {
        NodeKind::Virtual(_) => find_lookup(graph, *node.inputs.last()?),
        _ => None,
    })
}

/// Builds an operation on `inputs` as a lookup: `evaluate` receives the tables, with the index as their first
/// dimension. Returns None unless all inputs depend on one index and on constants alone.
pub(in crate::import) fn apply_to_tables(
    graph: &mut ValueGraph,
    inputs: &[NodeId],
    element: NodeElementType,
    evaluate: impl Fn(&mut ValueGraph, &[NodeId]) -> Result<NodeId, String>,
) -> Option<NodeId> {
    let mut indices = inputs.iter().filter_map(|&input| find_lookup(graph, input)).map(|(_, index)| index);
    let index = indices.next()?;
    let is_one = indices.all(|other| other == index);
    if !is_one || !inputs.iter().all(|&input| find_lookup(graph, input).is_some() || graph.as_constant(input).is_some())
    {
        return None;
    }
    let of_index = graph.node(index).shape.clone();
    let tables: Vec<NodeId> = inputs.iter().map(|&input| to_table(graph, input, &of_index)).collect();
    let shape = graph.compute_broadcast_shape(inputs);
    if !is_separable(graph, index, &graph.compute_broadcast_shape(&tables)) {
        return None;
    }
    let table = evaluate(graph, &tables).ok()?;
    Some(build_lookup(graph, table, index, shape, element))
}

/// Returns constants that do not vary along the dimensions of the index as a table of one row; for a lookup, returns
/// its table.
fn to_table(graph: &mut ValueGraph, input: NodeId, of_index: &[i64]) -> NodeId {
    if let Some((table, _)) = find_lookup(graph, input) {
        return table;
    }
    let node = graph.node(input).clone();
    match node.kind {
        NodeKind::Constant(mut known) if !node.shape.is_empty() => {
            let mut shape = node.shape;
            for dim in (0..shape.len()).filter(|&dim| of_index[dim] > 1) {
                (known, shape) = known.collapse_repeated_dim(shape, dim);
            }
            graph.add(NodeKind::Constant(known), &[], [vec![1], shape].concat(), node.element)
        }
        _ => input,
    }
}

/// Returns whether a table of that shape varies along dimensions other than its index, and is small enough.
fn is_separable(graph: &ValueGraph, index: NodeId, table: &[i64]) -> bool {
    let of_index = &graph.node(index).shape;
    let is_small = table.iter().product::<i64>() <= MAX_TABLE_ELEMENTS;
    is_small && table.iter().skip(1).zip(of_index).all(|(&of_table, &of_index)| of_table == 1 || of_index == 1)
}

/// Returns the looked-up node `id` under the indices `map`; None if the index would not vary along whole dimensions.
pub(in crate::import) fn view_lookup(
    graph: &mut ValueGraph,
    id: NodeId,
    map: &[AffineExpression],
    shape: &[i64],
) -> Option<NodeId> {
    let (table, index) = as_lookup(graph, id)?;
    let element = graph.node(id).element;
    let along = |sizes: &[i64]| -> Vec<AffineExpression> {
        sizes
            .iter()
            .zip(map)
            .map(|(&size, expr)| if size == 1 { AffineExpression::Constant(0) } else { expr.clone() })
            .collect()
    };
    let of_index = along(&graph.node(index).shape);
    if has_scalar_rows(graph, table) {
        let n_rows = graph.node(table).shape[0];
        let table = graph.reshape(table, &[vec![n_rows], vec![1; shape.len()]].concat());
        let moved = compute_used_sizes(&of_index, shape);
        let index = graph.view(index, of_index, &moved);
        return Some(build_lookup(graph, table, index, shape.to_vec(), element));
    }
    let is_plain = of_index.iter().all(|expr| matches!(expr, AffineExpression::Dim(_) | AffineExpression::Constant(_)));
    let of_rows = along(&graph.node(table).shape[1..]);
    let (moved, rows) = (compute_used_sizes(&of_index, shape), compute_used_sizes(&of_rows, shape));
    let is_apart = moved.iter().zip(&rows).all(|(&moved, &rows)| moved == 1 || rows == 1);
    if !is_plain || !is_apart {
        return None;
    }
    let after_index = |dim: usize| AffineExpression::Dim(dim + 1);
    let of_table =
        [vec![AffineExpression::Dim(0)], of_rows.iter().map(|expr| expr.with_dims(&after_index)).collect()].concat();
    let rows = [vec![graph.node(table).shape[0]], rows].concat();
    let (table, index) = (graph.view(table, of_table, &rows), graph.view(index, of_index, &moved));
    Some(build_lookup(graph, table, index, shape.to_vec(), element))
}

/// Returns whether a table has one element per value of the index. The looked-up values then have the positions of the
/// index, under any view of it.
fn has_scalar_rows(graph: &ValueGraph, table: NodeId) -> bool {
    graph.node(table).shape.iter().skip(1).all(|&size| size == 1)
}

/// Returns the looked-up node `id` under another shape; None if the index would not vary along whole dimensions.
pub(in crate::import) fn reshape_lookup(graph: &mut ValueGraph, id: NodeId, shape: &[i64]) -> Option<NodeId> {
    let (table, index) = as_lookup(graph, id)?;
    if has_scalar_rows(graph, table) && graph.node(index).shape == graph.node(id).shape {
        let element = graph.node(id).element;
        let n_rows = graph.node(table).shape[0];
        let table = graph.reshape(table, &[vec![n_rows], vec![1; shape.len()]].concat());
        let index = graph.reshape(index, shape);
        return Some(build_lookup(graph, table, index, shape.to_vec(), element));
    }
    let map = compute_reshape_map(&graph.node(id).shape, shape);
    view_lookup(graph, id, &map, shape)
}

/// Merges adjacent slices that one index looks up, if the index does not vary along the dimension of concatenation.
pub(in crate::import) fn merge_lookups(
    graph: &mut ValueGraph,
    parts_at: &[(NodeId, Vec<i64>)],
    shape: &[i64],
) -> Option<NodeId> {
    let (table, index) = as_lookup(graph, parts_at.first()?.0)?;
    let (n_rows, element) = (graph.node(table).shape[0], graph.node(parts_at[0].0).element);
    let of_index = graph.node(index).shape.clone();
    let whole =
        [vec![n_rows], shape.iter().zip(&of_index).map(|(&size, &moved)| if moved == 1 { size } else { 1 }).collect()]
            .concat();
    if whole.iter().product::<i64>() > MAX_TABLE_ELEMENTS {
        return None;
    }
    let mut boxes = Vec::new();
    for (part, offsets) in parts_at {
        let (table, own) = as_lookup(graph, *part)?;
        let node = graph.node(*part);
        // Each slice must read the complete index.
        let is_whole =
            (0..shape.len()).all(|dim| of_index[dim] == 1 || (node.shape[dim] == shape[dim] && offsets[dim] == 0));
        if own != index || node.element != element || !is_whole {
            return None;
        }
        let sizes = [
            vec![n_rows],
            node.shape.iter().zip(&of_index).map(|(&size, &moved)| if moved == 1 { size } else { 1 }).collect(),
        ];
        let NodeKind::Constant(known) = &graph.node(table).kind else { return None };
        let sizes = sizes.concat();
        let known = known.broadcast(&graph.node(table).shape, &sizes);
        boxes.push((known, sizes, [vec![0], offsets.clone()].concat()));
    }
    let of_table = graph.node(table).element;
    let table = ConstantTensor::assemble(&boxes, &whole)?;
    let table = graph.add_constant(table, whole, of_table);
    Some(build_lookup(graph, table, index, shape.to_vec(), element))
}

/// Returns the rows of the table that the index selects, over the node's dimensions.
fn gather_rows(
    graph: &mut ValueGraph,
    table: NodeId,
    index: NodeId,
    shape: &[i64],
    element: NodeElementType,
) -> NodeId {
    let moving = |sizes: &[i64]| -> Vec<usize> { (0..sizes.len()).filter(|&dim| sizes[dim] > 1).collect() };
    let (of_table, of_index) = (graph.node(table).shape.clone(), graph.node(index).shape.clone());
    let (along_row, along_index) = (moving(&of_table[1..]), moving(&of_index));
    let of_row: Vec<i64> = along_row.iter().map(|&dim| of_table[dim + 1]).collect();
    let chosen: Vec<i64> =
        if along_index.is_empty() { vec![1] } else { along_index.iter().map(|&dim| of_index[dim]).collect() };
    let num_columns: i64 = of_row.iter().product();
    let repeated = along_row.is_empty();
    let flat = if repeated {
        let NodeKind::Constant(known) = graph.node(table).kind.clone() else { return table };
        let list = graph.add_constant(known, vec![of_table[0]], element);
        graph.add_repeated_list(list, NUM_SCALAR_COLUMNS)
    } else {
        graph.reshape(table, &[of_table[0], num_columns])
    };
    let index = graph.reshape(index, &chosen);
    let rows = graph.gather_as(flat, 0, index, element);
    let of_rows = if repeated { rows } else { graph.reshape(rows, &[chosen, of_row].concat()) };
    let at_index = if along_index.is_empty() {
        vec![AffineExpression::Constant(0)]
    } else {
        along_index.into_iter().map(AffineExpression::Dim).collect()
    };
    let at_row = if repeated {
        vec![AffineExpression::Constant(0)]
    } else {
        along_row.into_iter().map(AffineExpression::Dim).collect()
    };
    graph.view(of_rows, [at_index, at_row].concat(), shape)
}
