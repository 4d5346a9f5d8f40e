//! `spyre-import-linalg`, reads and writes at runtime positions: slices with such offsets, `tm_tensor.scatter`.

use super::{cast::element_type, importer::Importer, read_body::read_body};
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        Body, Combiner, Element, Known, NodeId, Reduction, Scalar,
        graph::known::{MOST_KNOWN_ELEMENTS, too_many_known},
        rules::{
            digits::is_too_coarse,
            index::{Lookup, rows_from},
            places::{Grid, column_of},
            scatter::{Target, Written, scatter},
        },
    },
    mlir::{Op, OpExt, Reported, ScalarType, ValueLike, error_at, integers, shape_of},
};
use program::affine::Expr;
use std::ops::RangeInclusive;

/// Offsets of a slice.
pub(super) struct Offsets {
    /// Constant offsets; 0 for the others.
    pub(super) known: Vec<i64>,
    /// Dimensions and integers of the runtime offsets.
    pub(super) moving: Vec<(usize, NodeId)>,
}

/// Extracts a slice at runtime offsets with `strides`, one dimension after the other.
pub(super) fn extract_at<'c>(
    importer: &mut Importer<'c>,
    op: Op<'c>,
    (table, shape): (NodeId, &[i64]),
    offsets: &Offsets,
    (sizes, strides): (&[i64], &[i64]),
) -> Result<NodeId, Reported> {
    let is_moving = |dim: usize| offsets.moving.iter().any(|(moving, _)| *moving == dim);
    // The dimensions of the remaining runtime offsets still have their full size.
    let mut shape: Vec<i64> = (0..sizes.len()).map(|dim| if is_moving(dim) { shape[dim] } else { sizes[dim] }).collect();
    let index = |dim: usize| match (offsets.known[dim], strides[dim]) {
        (_, _) if is_moving(dim) => Expr::Dim(dim),
        (offset, stride) => Expr::Dim(dim).times(stride).plus(Expr::Constant(offset)),
    };
    let mut table = importer.graph.strided(table, (0..sizes.len()).map(index).collect(), &shape);
    for &along in &offsets.moving {
        let mut part = shape.clone();
        part[along.0] = sizes[along.0];
        table = extract_along(importer, op, (table, &shape), along, strides[along.0], &part)?;
        shape = part;
    }
    Ok(table)
}

/// Extracts a slice along one dimension, from a runtime offset on, with `stride`.
fn extract_along<'c>(
    importer: &mut Importer<'c>,
    op: Op<'c>,
    table: (NodeId, &[i64]),
    (dim, number): (usize, NodeId),
    stride: i64,
    sizes: &[i64],
) -> Result<NodeId, Reported> {
    // The shape of the rejection differs from that of the slice that it represents.
    if let Some(refused) = importer.graph.refused_among(&[table.0, number]) {
        return Ok(refused);
    }
    let element = importer.graph.node(table.0).element;
    let exprs: Vec<Option<Expr>> = (0..sizes.len()).map(|other| (other != dim).then_some(Expr::Dim(other))).collect();
    let mut shape = vec![1; sizes.len()];
    shape[dim] = sizes[dim];
    #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
    let numbers: Vec<f64> = (0..sizes[dim]).map(|row| (row * stride) as f64).collect();
    let counted = importer.graph.known(Known::table(&numbers), shape, Element::Int);
    let index = moved(importer, number, counted, &vec![1; sizes.len()]);
    let found = index.and_then(|index| rows_from(&mut importer.graph, table, index, dim, &exprs, sizes));
    match found {
        Ok(Lookup { node, chosen, bounds }) => {
            importer.gathered.extend(chosen);
            importer.asserted.extend(bounds.into_iter().map(|bound| (bound, op, op.loc())));
            // An operand that does not vary along a dimension is broadcast along it.
            Ok(importer.graph.broadcast(node, sizes))
        }
        Err(message) => Ok(importer.refused(op, op.loc(), message, sizes.to_vec(), element)),
    }
}

/// Inserts a slice of `sizes` into a tensor at runtime offsets.
pub(super) fn insert_at<'c>(
    importer: &mut Importer<'c>,
    op: Op<'c>,
    (part, sizes): (NodeId, &[i64]),
    (whole, shape): (NodeId, &[i64]),
    offsets: &Offsets,
) -> Result<NodeId, Reported> {
    let (dim, number) = match *offsets.moving.as_slice() {
        [] => return Ok(importer.graph.insert(part, whole, offsets.known.clone())),
        [along] => along,
        [along, ..] => return insert_inside(importer, op, (part, sizes), (whole, shape), offsets, along),
    };
    // Along the other dimensions, only a window may be overwritten.
    let window: Vec<i64> = (0..shape.len()).map(|other| if other == dim { shape[dim] } else { sizes[other] }).collect();
    let map = (0..shape.len()).map(|other| Expr::Dim(other).plus(Expr::Constant(offsets.known[other]))).collect();
    let before = importer.graph.view(whole, map, &window);
    if sizes[dim] > MOST_KNOWN_ELEMENTS {
        return Err(error_at(codes::SCATTER_FORM, op, too_many_known(sizes[dim])).report());
    }
    let places = importer.graph.known(Known::counting(0, sizes[dim]), vec![sizes[dim]], Element::Int);
    let order: Vec<usize> = [dim].into_iter().chain((0..shape.len()).filter(|&other| other != dim)).collect();
    let turned: Vec<i64> = order.iter().map(|&dim| sizes[dim]).collect();
    let place = |dim: usize| order.iter().position(|&other| other == dim).map_or(Expr::Constant(0), Expr::Dim);
    let part = importer.graph.filled_if_number(part, sizes);
    let part = importer.graph.view(part, (0..shape.len()).map(place).collect(), &turned);
    let found = moved(importer, number, places, &[1]).and_then(|places| {
        let places = importer.graph.numbers_of(places).map_err(|_| {
            codes::INDEX_COMPUTED.says("expected indices that can be computed, found others; compute them from arguments or constants")
        })?;
        note_rows(importer, op, number, places, shape[dim] - sizes[dim] + 1..=shape[dim]);
        let target = Target { node: before, shape: &window, batch: &[], dims: &[dim] };
        scatter(&mut importer.graph, target, &[places], part, sizes[dim], Written::Replaced)
    });
    match found {
        Ok(after) => {
            let known = (0..shape.len()).map(|other| if other == dim { 0 } else { offsets.known[other] }).collect();
            Ok(importer.graph.insert(after, whole, known))
        }
        Err(message) => {
            let element = importer.graph.node(whole).element;
            Ok(importer.refused(op, op.loc(), message, shape.to_vec(), element))
        }
    }
}

/// Writes a slice at several runtime offsets, the first of which is `along`: extracts the slice at that offset, inserts
/// `part` into it, and writes it back.
fn insert_inside<'c>(
    importer: &mut Importer<'c>,
    op: Op<'c>,
    part: (NodeId, &[i64]),
    (whole, shape): (NodeId, &[i64]),
    offsets: &Offsets,
    along: (usize, NodeId),
) -> Result<NodeId, Reported> {
    let (dim, none) = (along.0, vec![0; shape.len()]);
    let mut taken = shape.to_vec();
    taken[dim] = part.1[dim];
    let before = extract_along(importer, op, (whole, shape), along, 1, &taken)?;
    let others = Offsets { known: offsets.known.clone(), moving: offsets.moving[1..].to_vec() };
    let after = insert_at(importer, op, part, (before, &taken), &others)?;
    insert_at(importer, op, (after, &taken), (whole, shape), &Offsets { known: none, moving: vec![along] })
}

/// Adds `counted` to a runtime integer that is broadcast to `shape`.
fn moved(importer: &mut Importer<'_>, number: NodeId, counted: NodeId, shape: &[i64]) -> Result<NodeId, String> {
    let graph = &mut importer.graph;
    let number = graph.repeated(number, shape);
    if graph.number_of(counted) == Some(0.0) {
        return Ok(number);
    }
    let element = graph.integers.element();
    let number = graph.numbers_of(number).map_err(|_| {
        codes::INDEX_COMPUTED.says("expected an offset that can be computed, found another; compute it from arguments or constants")
    })?;
    let sum = graph.apply("arith.addf", &[number, counted], element)?;
    Ok(graph.as_integers(sum))
}

/// Records the assertions that each position is a row. If the number format of the device is too coarse for the rows,
/// also records the integer behind the positions as an index.
fn note_rows<'c>(importer: &mut Importer<'c>, op: Op<'c>, index: NodeId, places: NodeId, n_rows: RangeInclusive<i64>) {
    let (of_index, n_rows) = n_rows.into_inner();
    if is_too_coarse(&importer.graph, n_rows) {
        importer.graph.note_index_behind(index, of_index);
    }
    #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer rows than 2^53")]
    for (function, bound) in [("greaterequal", 0.0), ("lesserthan", n_rows as f64)] {
        let bound = importer.graph.number(bound);
        let holds = importer.graph.pointwise(function, &[places, bound], Element::Bool);
        importer.asserted.push((holds, op, op.loc()));
    }
}

pub(super) fn import_scatter<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let (body, _) = read_body(importer, op, 1)?;
    let inputs = op.inputs();
    let nodes = inputs.iter().map(|&value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    let shapes: Vec<Vec<i64>> = inputs.iter().map(|&value| shape_of(value)).collect();
    let found = match importer.graph.refused_among(&nodes) {
        Some(refused) => Ok(refused),
        None => scattered(importer, op, &body, (&nodes, &shapes)),
    };
    importer.note_result(op, |importer, shape, element| {
        Ok(found.unwrap_or_else(|message| importer.refused(op, op.loc(), message, shape, element)))
    })
}

fn scattered<'c>(
    importer: &mut Importer<'c>,
    op: Op<'c>,
    body: &Body,
    (nodes, shapes): (&[NodeId], &[Vec<i64>]),
) -> Result<NodeId, String> {
    let (&[parts, places, whole], [of_parts, of_places, shape]) = (nodes, shapes) else {
        return Err("expected three operands".to_owned());
    };
    let (written, parts) = match (body.yields.as_slice(), body.reduction(0)) {
        ([Scalar::Input(0)], _) => (Written::Replaced, parts),
        (_, Some(Reduction { combiner, new: Scalar::Input(0), casts, .. })) if casts.is_empty() => (Written::Combined(combiner), parts),
        // One number for each slice, as counted positions.
        (_, Some(Reduction { combiner, new: Scalar::Outer(number), casts, .. }))
            if casts.is_empty() && importer.graph.number_of(number).is_some() =>
        {
            (Written::Combined(combiner), number)
        }
        _ => return Err("expected a body that returns or combines the update, found another body".to_owned()),
    };
    let element = ScalarType::of(element_type(op.outputs()[0].r#type()));
    let are_bits = matches!(written, Written::Combined(Combiner::All | Combiner::Any));
    if are_bits && element.width().is_some_and(|width| width > 1) {
        return Err(codes::INTEGER_RUNTIME.says("of the bits of integers at runtime indices is not supported; use arithmetic on integers"));
    }
    let dims: Vec<usize> = op.required(attr::DIMENSION_MAP, integers).into_iter().filter_map(|dim| usize::try_from(dim).ok()).collect();
    let (Some((&n_parts, window)), &[n_places, depth]) = (of_parts.split_first(), of_places.as_slice()) else {
        return Err("expected indices of rank 2".to_owned());
    };
    // The window of a slice is right-aligned to the dimensions of the target.
    let first = shape.len().checked_sub(window.len()).ok_or("expected updates of at most the rank of the tensor")?;
    let is_whole = |dim: usize| match dim.checked_sub(first).map(|at| window[at]) {
        size if dims.contains(&dim) => size.is_none_or(|size| size == 1),
        size => size == Some(shape[dim]),
    };
    if n_parts != n_places || usize::try_from(depth) != Ok(dims.len()) || !(0..shape.len()).all(is_whole) {
        return Err("expected whole rows at one index each, found windows of rows; scatter whole rows".to_owned());
    }
    let columns: Vec<NodeId> = (0..depth).map(|column| column_of(&mut importer.graph, places, column)).collect();
    let grid = Grid::of(&importer.graph, &columns, &dims, shape, n_parts);
    let parts = importer.graph.filled_if_number(parts, of_parts);
    let without_place = (0..shape.len()).filter(|dim| !dims.contains(dim)).map(|dim| shape[dim]);
    let parts = importer.graph.reshape(parts, &[n_parts].into_iter().chain(without_place).collect::<Vec<_>>());
    let parts = importer.graph.view(parts, grid.parts_map(), &grid.part_sizes(shape));
    let (of_places, chosen) = (grid.place_sizes(shape), grid.chosen());
    let mut numbers = Vec::new();
    for (&column, &dim) in columns.iter().zip(&dims) {
        let known = importer.graph.known_of(column).map(|known| known.numbers().collect::<Vec<_>>()).unwrap_or_default();
        #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer rows than 2^53")]
        let within = 0.0..shape[dim] as f64;
        if let Some(outside) = known.into_iter().find(|place| !within.contains(place)) {
            return Err(codes::INDEX_BOUNDS.says(format_args!(
                "expected indices from 0 to {} of dimension {dim}, found {outside}; give indices within the tensor",
                shape[dim] - 1
            )));
        }
    }
    for (&column, &dim) in columns.iter().zip(&dims).filter(|(_, dim)| chosen.contains(dim)) {
        let number = importer.graph.view(column, vec![grid.place()], &of_places);
        let number = importer.graph.numbers_with_format(number);
        let number = number.map_err(|_| {
            codes::INDEX_COMPUTED.says("expected indices that can be computed, found others; compute them from arguments or constants")
        })?;
        let number = importer.graph.filled_if_number(number, &of_places);
        note_rows(importer, op, column, number, shape[dim]..=shape[dim]);
        numbers.push(number);
    }
    let target = Target { node: whole, shape, batch: &grid.batch(), dims: chosen };
    let found = scatter(&mut importer.graph, target, &numbers, parts, grid.n_parts(), written)?;
    if let (Some(width), Written::Combined(_)) = (element.width(), written) {
        importer.graph.note_width(found, width);
    }
    Ok(found)
}
