//! `spyre-import-linalg`, reads and writes at runtime positions: slices with such offsets, `tm_tensor.scatter`.

use super::{cast::element_type, importer::FunctionImporter, read_body::read_body};
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        BodyReduction, BodyScalar, Combiner, ConstantTensor, GenericBody, NodeElementType, NodeId,
        graph::constant_tensor::{MAX_CONSTANT_ELEMENTS, constant_limit_error},
        rules::{
            digits::exceeds_exact_range,
            index::{TableLookup, select_rows},
            scatter::{ScatterTarget, UpdateMode, scatter_slices},
            scatter_grid::{ScatterGrid, view_position_column},
        },
    },
    mlir::{ErrorReported, Op, OpExt, ScalarType, ValueLike, error_at, integers, shape_of},
};
use program::affine::AffineExpression;
use std::ops::RangeInclusive;

/// Offsets of a slice.
pub(super) struct SliceOffsets {
    /// Constant offsets; 0 for the others.
    pub(super) constants: Vec<i64>,
    /// Dimensions and integers of the runtime offsets.
    pub(super) dynamic: Vec<(usize, NodeId)>,
}

/// Extracts a slice at runtime offsets with `strides`, one dimension after the other.
pub(super) fn extract_at_offsets<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    (table, shape): (NodeId, &[i64]),
    offsets: &SliceOffsets,
    (sizes, strides): (&[i64], &[i64]),
) -> Result<NodeId, ErrorReported> {
    let is_moving = |dim: usize| offsets.dynamic.iter().any(|(moving, _)| *moving == dim);
    // The dimensions of the remaining runtime offsets still have their full size.
    let mut shape: Vec<i64> =
        (0..sizes.len()).map(|dim| if is_moving(dim) { shape[dim] } else { sizes[dim] }).collect();
    let index = |dim: usize| match (offsets.constants[dim], strides[dim]) {
        (_, _) if is_moving(dim) => AffineExpression::Dim(dim),
        (offset, stride) => AffineExpression::Dim(dim).times(stride).plus(AffineExpression::Constant(offset)),
    };
    let mut table = importer.graph.view_strided(table, (0..sizes.len()).map(index).collect(), &shape);
    for &along in &offsets.dynamic {
        let mut part = shape.clone();
        part[along.0] = sizes[along.0];
        table = extract_along(importer, op, (table, &shape), along, strides[along.0], &part)?;
        shape = part;
    }
    Ok(table)
}

/// Extracts a slice along one dimension, from a runtime offset on, with `stride`.
fn extract_along<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    table: (NodeId, &[i64]),
    (dim, number): (usize, NodeId),
    stride: i64,
    sizes: &[i64],
) -> Result<NodeId, ErrorReported> {
    // The shape of the rejection differs from that of the slice that it represents.
    if let Some(rejected) = importer.graph.find_unsupported(&[table.0, number]) {
        return Ok(rejected);
    }
    let element = importer.graph.node(table.0).element;
    let exprs: Vec<Option<AffineExpression>> =
        (0..sizes.len()).map(|other| (other != dim).then_some(AffineExpression::Dim(other))).collect();
    let mut shape = vec![1; sizes.len()];
    shape[dim] = sizes[dim];
    #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
    let numbers: Vec<f64> = (0..sizes[dim]).map(|row| (row * stride) as f64).collect();
    let counted = importer.graph.add_constant(ConstantTensor::from_numbers(&numbers), shape, NodeElementType::Int);
    let index = add_runtime_offset(importer, number, counted, &vec![1; sizes.len()]);
    let found = index.and_then(|index| select_rows(&mut importer.graph, table, index, dim, &exprs, sizes));
    match found {
        Ok(TableLookup { node, selections: chosen, bounds }) => {
            importer.row_selections.extend(chosen);
            importer.assertions.extend(bounds.into_iter().map(|bound| (bound, op, op.loc())));
            // An operand that does not vary along a dimension is broadcast along it.
            Ok(importer.graph.broadcast(node, sizes))
        }
        Err(message) => Ok(importer.add_unsupported(op, op.loc(), message, sizes.to_vec(), element)),
    }
}

/// Inserts a slice of `sizes` into a tensor at runtime offsets.
pub(super) fn insert_at_offsets<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    (part, sizes): (NodeId, &[i64]),
    (whole, shape): (NodeId, &[i64]),
    offsets: &SliceOffsets,
) -> Result<NodeId, ErrorReported> {
    let (dim, number) = match *offsets.dynamic.as_slice() {
        [] => return Ok(importer.graph.insert(part, whole, offsets.constants.clone())),
        [along] => along,
        [along, ..] => return insert_at_several_offsets(importer, op, (part, sizes), (whole, shape), offsets, along),
    };
    // Along the other dimensions, only a window may be overwritten.
    let window: Vec<i64> = (0..shape.len()).map(|other| if other == dim { shape[dim] } else { sizes[other] }).collect();
    let map = (0..shape.len())
        .map(|other| AffineExpression::Dim(other).plus(AffineExpression::Constant(offsets.constants[other])))
        .collect();
    let before = importer.graph.view(whole, map, &window);
    if sizes[dim] > MAX_CONSTANT_ELEMENTS {
        return Err(error_at(codes::SCATTER_FORM, op, constant_limit_error(sizes[dim])).report());
    }
    let places =
        importer.graph.add_constant(ConstantTensor::iota(0, sizes[dim]), vec![sizes[dim]], NodeElementType::Int);
    let order: Vec<usize> = [dim].into_iter().chain((0..shape.len()).filter(|&other| other != dim)).collect();
    let turned: Vec<i64> = order.iter().map(|&dim| sizes[dim]).collect();
    let place = |dim: usize| {
        order.iter().position(|&other| other == dim).map_or(AffineExpression::Constant(0), AffineExpression::Dim)
    };
    let part = importer.graph.splat_if_scalar(part, sizes);
    let part = importer.graph.view(part, (0..shape.len()).map(place).collect(), &turned);
    let found = add_runtime_offset(importer, number, places, &[1]).and_then(|places| {
        let places = importer.graph.convert_to_numbers(places).map_err(|_| {
            codes::INDEX_COMPUTED
                .format("expected indices that can be computed, found others; compute them from arguments or constants")
        })?;
        record_row_bounds(importer, op, number, places, shape[dim] - sizes[dim] + 1..=shape[dim]);
        let target = ScatterTarget { node: before, shape: &window, batch: &[], dims: &[dim] };
        scatter_slices(&mut importer.graph, target, &[places], part, sizes[dim], UpdateMode::Replace)
    });
    match found {
        Ok(after) => {
            let known = (0..shape.len()).map(|other| if other == dim { 0 } else { offsets.constants[other] }).collect();
            Ok(importer.graph.insert(after, whole, known))
        }
        Err(message) => {
            let element = importer.graph.node(whole).element;
            Ok(importer.add_unsupported(op, op.loc(), message, shape.to_vec(), element))
        }
    }
}

/// Writes a slice at several runtime offsets, the first of which is `along`: extracts the slice at that offset, inserts
/// `part` into it, and writes it back.
fn insert_at_several_offsets<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    part: (NodeId, &[i64]),
    (whole, shape): (NodeId, &[i64]),
    offsets: &SliceOffsets,
    along: (usize, NodeId),
) -> Result<NodeId, ErrorReported> {
    let (dim, none) = (along.0, vec![0; shape.len()]);
    let mut taken = shape.to_vec();
    taken[dim] = part.1[dim];
    let before = extract_along(importer, op, (whole, shape), along, 1, &taken)?;
    let others = SliceOffsets { constants: offsets.constants.clone(), dynamic: offsets.dynamic[1..].to_vec() };
    let after = insert_at_offsets(importer, op, part, (before, &taken), &others)?;
    insert_at_offsets(
        importer,
        op,
        (after, &taken),
        (whole, shape),
        &SliceOffsets { constants: none, dynamic: vec![along] },
    )
}

/// Adds the constant integers `counted` to a runtime integer that is broadcast to `shape`.
fn add_runtime_offset(
    importer: &mut FunctionImporter<'_>,
    number: NodeId,
    counted: NodeId,
    shape: &[i64],
) -> Result<NodeId, String> {
    let graph = &mut importer.graph;
    let number = graph.broadcast_rank_zero(number, shape);
    if graph.as_scalar(counted) == Some(0.0) {
        return Ok(number);
    }
    let element = graph.integers.element();
    let number = graph.convert_to_numbers(number).map_err(|_| {
        codes::INDEX_COMPUTED
            .format("expected an offset that can be computed, found another; compute it from arguments or constants")
    })?;
    let sum = graph.apply("arith.addf", &[number, counted], element)?;
    Ok(graph.add_integers(sum))
}

/// Records the assertions that each position is a row. If the number format of the device is too coarse for the rows,
/// also records the integer that the positions are computed from as an index.
fn record_row_bounds<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    index: NodeId,
    places: NodeId,
    n_rows: RangeInclusive<i64>,
) {
    let (of_index, n_rows) = n_rows.into_inner();
    if exceeds_exact_range(&importer.graph, n_rows) {
        importer.graph.record_numeric_index(index, of_index);
    }
    #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer rows than 2^53")]
    for (function, bound) in [("greaterequal", 0.0), ("lesserthan", n_rows as f64)] {
        let bound = importer.graph.add_scalar(bound);
        let holds = importer.graph.add_pointwise(function, &[places, bound], NodeElementType::Bool);
        importer.assertions.push((holds, op, op.loc()));
    }
}

pub(super) fn import_scatter<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let (body, _) = read_body(importer, op, 1)?;
    let inputs = op.inputs();
    let nodes = inputs.iter().map(|&value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    let shapes: Vec<Vec<i64>> = inputs.iter().map(|&value| shape_of(value)).collect();
    let found = match importer.graph.find_unsupported(&nodes) {
        Some(rejected) => Ok(rejected),
        None => build_scatter(importer, op, &body, (&nodes, &shapes)),
    };
    importer.record_result(op, |importer, shape, element| {
        Ok(found.unwrap_or_else(|message| importer.add_unsupported(op, op.loc(), message, shape, element)))
    })
}

fn build_scatter<'c>(
    importer: &mut FunctionImporter<'c>,
    op: Op<'c>,
    body: &GenericBody,
    (nodes, shapes): (&[NodeId], &[Vec<i64>]),
) -> Result<NodeId, String> {
    let (&[parts, places, whole], [of_parts, of_places, shape]) = (nodes, shapes) else {
        return Err("expected three operands".to_owned());
    };
    let (written, parts) = match (body.yields.as_slice(), body.find_reduction(0)) {
        ([BodyScalar::Input(0)], _) => (UpdateMode::Replace, parts),
        (_, Some(BodyReduction { combiner, new: BodyScalar::Input(0), casts, .. })) if casts.is_empty() => {
            (UpdateMode::Combine(combiner), parts)
        }
        // The update is one number for all slices, as for counted positions.
        (_, Some(BodyReduction { combiner, new: BodyScalar::Outer(number), casts, .. }))
            if casts.is_empty() && importer.graph.as_scalar(number).is_some() =>
        {
            (UpdateMode::Combine(combiner), number)
        }
        _ => return Err("expected a body that returns or combines the update, found another body".to_owned()),
    };
    let element = ScalarType::from_type(element_type(op.outputs()[0].r#type()));
    let are_bits = matches!(written, UpdateMode::Combine(Combiner::All | Combiner::Any));
    if are_bits && element.width().is_some_and(|width| width > 1) {
        return Err(codes::INTEGER_RUNTIME
            .format("of the bits of integers at runtime indices is not supported; use arithmetic on integers"));
    }
    let dims: Vec<usize> = op
        .required_attr(attr::DIMENSION_MAP, integers)
        .into_iter()
        .filter_map(|dim| usize::try_from(dim).ok())
        .collect();
    let (Some((&num_parts, window)), &[num_places, depth]) = (of_parts.split_first(), of_places.as_slice()) else {
        return Err("expected indices of rank 2".to_owned());
    };
    // The window of a slice is right-aligned to the dimensions of the target.
    let first = shape.len().checked_sub(window.len()).ok_or("expected updates of at most the rank of the tensor")?;
    let is_whole = |dim: usize| match dim.checked_sub(first).map(|at| window[at]) {
        size if dims.contains(&dim) => size.is_none_or(|size| size == 1),
        size => size == Some(shape[dim]),
    };
    if num_parts != num_places || usize::try_from(depth) != Ok(dims.len()) || !(0..shape.len()).all(is_whole) {
        return Err("expected whole rows at one index each, found windows of rows; scatter whole rows".to_owned());
    }
    let columns: Vec<NodeId> =
        (0..depth).map(|column| view_position_column(&mut importer.graph, places, column)).collect();
    let grid = ScatterGrid::from_columns(&importer.graph, &columns, &dims, shape, num_parts);
    let parts = importer.graph.splat_if_scalar(parts, of_parts);
    let without_place = (0..shape.len()).filter(|dim| !dims.contains(dim)).map(|dim| shape[dim]);
    let parts = importer.graph.reshape(parts, &[num_parts].into_iter().chain(without_place).collect::<Vec<_>>());
    let parts = importer.graph.view(parts, grid.slice_map(), &grid.slice_sizes(shape));
    let (of_places, chosen) = (grid.position_sizes(shape), grid.indexed_dims());
    let mut numbers = Vec::new();
    for (&column, &dim) in columns.iter().zip(&dims) {
        let known =
            importer.graph.as_constant(column).map(|known| known.numbers().collect::<Vec<_>>()).unwrap_or_default();
        #[allow(clippy::cast_precision_loss, reason = "a tensor has far fewer rows than 2^53")]
        let within = 0.0..shape[dim] as f64;
        if let Some(outside) = known.into_iter().find(|place| !within.contains(place)) {
            return Err(codes::INDEX_BOUNDS.format(format_args!(
                "expected indices from 0 to {} of dimension {dim}, found {outside}; give indices within the tensor",
                shape[dim] - 1
            )));
        }
    }
    for (&column, &dim) in columns.iter().zip(&dims).filter(|(_, dim)| chosen.contains(dim)) {
        let number = importer.graph.view(column, vec![grid.first_slice_index()], &of_places);
        let number = importer.graph.convert_to_formatted_numbers(number);
        let number = number.map_err(|_| {
            codes::INDEX_COMPUTED
                .format("expected indices that can be computed, found others; compute them from arguments or constants")
        })?;
        let number = importer.graph.splat_if_scalar(number, &of_places);
        record_row_bounds(importer, op, column, number, shape[dim]..=shape[dim]);
        numbers.push(number);
    }
    let target = ScatterTarget { node: whole, shape, batch: &grid.batch_dims(), dims: chosen };
    let found = scatter_slices(&mut importer.graph, target, &numbers, parts, grid.num_slices(), written)?;
    if let (Some(width), UpdateMode::Combine(_)) = (element.width(), written) {
        importer.graph.record_width(found, width);
    }
    Ok(found)
}
