//! `spyre-import-linalg`, operations on whole tensors: reshapes, slices, concatenation, padding and `linalg.softmax`.

use super::{
    import_scatter::{SliceOffsets, extract_at_offsets, insert_at_offsets},
    importer::{FunctionImporter, check_tensor_size, has_no_elements},
};
use crate::{
    codes,
    import::{
        ConstantTensor, NodeElementType,
        graph::{NodeId, linear_index::MAX_WINDOW_PARTS},
    },
    mlir::{ErrorReported, Op, OpExt, TensorType, ValueLike, error_at, integers, natural_number, shape_of},
};
use program::affine::AffineExpression;

/// Size, offset or stride that is a runtime value.
const DYNAMIC: i64 = i64::MIN;

/// Builds the node of a tensor operation.
pub(super) fn import_tensor<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    match op.full_name() {
        "tensor.cast" if TensorType::from_type(op.output().r#type()).is_none() => {
            import_size_erasing_cast(importer, op)
        }
        "tensor.expand_shape" | "tensor.collapse_shape" | "tensor.reshape" | "tensor.cast" => reshape(importer, op),
        "tensor.extract_slice" => extract_slice(importer, op),
        "tensor.insert_slice" => insert_slice(importer, op),
        "tensor.concat" => concat(importer, op),
        "tensor.pad" => pad(importer, op),
        "tensor.splat" => fill(importer, op),
        "tensor.from_elements" => import_from_elements(importer, op),
        "tensor.extract" => extract(importer, op),
        "tensor.dim" => import_dim(importer, op),
        "linalg.softmax" => import_softmax(importer, op),
        _ => {
            let advice = "write it with ops of docs/reference/supported-ops.md, or compute it outside of the program";
            let message = format!("has no device function yet; {advice}");
            importer.record_result(op, |importer, shape, element| {
                Ok(importer.add_unsupported(op, op.loc(), message, shape, element))
            })
        }
    }
}

fn reshape<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let input = importer.node_of(op, op.inputs()[0])?;
    if let Some(tensor) = TensorType::from_type(op.output().r#type()) {
        check_tensor_size(op, &tensor)?;
    }
    importer.record_result(op, |importer, shape, _| Ok(importer.graph.reshape(input, &shape)))
}

/// Imports a cast to a type that hides the static sizes of a tensor, as torch-mlir writes the slices of `roll`.
fn import_size_erasing_cast<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let from = op.inputs()[0];
    let input = importer.node_of(op, from)?;
    let Some(tensor) = TensorType::from_type(from.r#type()) else {
        return Err(error_at(
            codes::STATIC_TENSOR,
            op,
            format_args!("expected operands of static shape, found {}; give every dimension a size", from.r#type()),
        )
        .report());
    };
    let node = reshape_or_splat(importer, input, &tensor.shape);
    importer.record_node(op.output(), node);
    Ok(())
}

/// Returns the offsets, sizes and strides of a slice, whose operands begin with `num_tensors` tensors.
fn read_slice<'c>(
    importer: &FunctionImporter<'c>,
    op: Op<'c>,
    num_tensors: usize,
) -> Result<(SliceOffsets, Vec<i64>, Vec<i64>), ErrorReported> {
    let list = |name: &str| op.required_attr(name, integers);
    let (mut known, sizes, strides) = (list("static_offsets"), list("static_sizes"), list("static_strides"));
    if sizes.iter().chain(&strides).any(|&number| number == DYNAMIC) {
        return Err(error_at(
            codes::RUNTIME_POSITION,
            op,
            "requires constant sizes and strides, found a runtime value; make it a constant",
        )
        .report());
    }
    let inputs = op.inputs();
    let mut given = inputs[num_tensors..].iter();
    let mut moving = Vec::new();
    for (dim, offset) in known.iter_mut().enumerate().filter(|(_, offset)| **offset == DYNAMIC) {
        let Some(&value) = given.next() else { continue };
        let number = importer.node_of(op, value)?;
        *offset = 0;
        match importer.graph.as_integer_scalar(number) {
            Some(constant) => *offset = constant,
            None => moving.push((dim, number)),
        }
    }
    Ok((SliceOffsets { constants: known, dynamic: moving }, sizes, strides))
}

/// Returns the dimension in which a slice at constant offsets exceeds a tensor of this shape, if any. MLIR's verifier
/// sees only offsets that are attributes, but producers pass constants as operands.
fn find_slice_error(offsets: &SliceOffsets, sizes: &[i64], strides: &[i64], shape: &[i64]) -> Option<String> {
    let is_known = |dim: &usize| !offsets.dynamic.iter().any(|(moving, _)| moving == dim);
    (0..shape.len()).filter(is_known).find_map(|dim| {
        let (first, size) = (offsets.constants[dim], shape[dim]);
        let reach = sizes[dim].saturating_sub(1).saturating_mul(strides[dim]);
        let last = first.saturating_add(reach);
        if [first, last].iter().all(|index| (0..size).contains(index)) {
            return None;
        }
        let advice = match size - 1 - reach {
            0 => "give the offset 0".to_owned(),
            most if most > 0 => format!("give an offset from 0 to {most}"),
            _ => "give a smaller size or stride".to_owned(),
        };
        Some(codes::SLICE_BOUNDS.format(format_args!(
            "expected a slice within the {size} elements of dimension {dim}, found elements {first} to {last}; {advice}"
        )))
    })
}

fn extract_slice<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let input = importer.node_of(op, op.inputs()[0])?;
    let (offsets, sizes, strides) = read_slice(importer, op, 1)?;
    if let Some(message) = find_slice_error(&offsets, &sizes, &strides, &shape_of(op.inputs()[0])) {
        return importer.record_result(op, |importer, shape, element| {
            Ok(importer.add_unsupported(op, op.loc(), message, shape, element))
        });
    }
    let slice = extract_at_offsets(importer, op, (input, &shape_of(op.inputs()[0])), &offsets, (&sizes, &strides))?;
    importer.record_result(op, |importer, shape, _| Ok(importer.graph.reshape(slice, &shape)))
}

fn insert_slice<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let (part, whole) = (importer.node_of(op, op.inputs()[0])?, importer.node_of(op, op.inputs()[1])?);
    let (offsets, sizes, strides) = read_slice(importer, op, 2)?;
    if let Some(message) = find_slice_error(&offsets, &sizes, &strides, &shape_of(op.inputs()[1])) {
        return importer.record_result(op, |importer, shape, element| {
            Ok(importer.add_unsupported(op, op.loc(), message, shape, element))
        });
    }
    let is_dense = strides.iter().all(|&stride| stride == 1);
    if !offsets.dynamic.is_empty() && !is_dense {
        let message =
            "with a stride above 1 requires a constant offset, found a runtime value; make the offset a constant";
        return Err(error_at(codes::RUNTIME_POSITION, op, message).report());
    }
    let rejected = importer.graph.find_unsupported(&[part, whole]);
    importer.record_result(op, |importer, shape, _| {
        let part = reshape_or_splat(importer, part, &sizes);
        if let (Some(rejected), true) = (rejected, !offsets.dynamic.is_empty()) {
            return Ok(rejected);
        }
        if is_dense {
            let whole = reshape_or_splat(importer, whole, &shape);
            return insert_at_offsets(importer, op, (part, &sizes), (whole, &shape), &offsets);
        }
        let element = importer.graph.node(part).element;
        Ok(importer.graph.insert_strided(part, whole, &shape, &offsets.constants, &strides).unwrap_or_else(|| {
            let message = codes::TOO_MANY_PARTS.format(format_args!(
                "with strides {strides:?} needs more than {MAX_WINDOW_PARTS} slices; use smaller tensors or unit strides"
            ));
            importer.add_unsupported(op, op.loc(), message, shape, element)
        }))
    })
}

/// Returns a node of that shape; a scalar is broadcast.
fn reshape_or_splat(importer: &mut FunctionImporter<'_>, node: NodeId, shape: &[i64]) -> NodeId {
    match importer.graph.as_scalar(node) {
        Some(_) => importer.graph.add_splat(node, shape.to_vec()),
        None => importer.graph.reshape(node, shape),
    }
}

fn concat<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let dim = op.required_attr("dim", natural_number);
    let mut parts = Vec::new();
    for value in op.inputs().into_iter().filter(|value| !has_no_elements(*value)) {
        let node = importer.node_of(op, value)?;
        // Sizes that the type leaves open are those of the node.
        let shape = TensorType::from_type(value.r#type())
            .map_or_else(|| importer.graph.node(node).shape.clone(), |tensor| tensor.shape);
        parts.push((node, shape));
    }
    importer.record_result(op, |importer, shape, element| {
        let mut whole = importer.graph.add_undefined(shape, element);
        let mut offsets = vec![0; importer.graph.node(whole).shape.len()];
        for (part, shape) in parts {
            let part = reshape_or_splat(importer, part, &shape);
            whole = importer.graph.insert(part, whole, offsets.clone());
            offsets[dim] += shape[dim];
        }
        Ok(whole)
    })
}

fn pad<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let input = importer.node_of(op, op.inputs()[0])?;
    let from = shape_of(op.inputs()[0]);
    let (low, high) = read_padding(importer, op)?;
    let padding = op.body_ops().last().and_then(|terminator| terminator.inputs().first().copied());
    for inner in op.body_ops().into_iter().filter(|inner| inner.is("arith.constant")) {
        let node = importer.import_constant(inner)?;
        importer.record_node(inner.output(), node);
    }
    let number = match padding.map(|value| importer.node_of(op, value)).transpose()? {
        Some(node) if importer.graph.as_scalar(node).is_some() => node,
        _ => {
            return Err(error_at(
                codes::RUNTIME_POSITION,
                op,
                "requires a constant padding value, found a runtime value; make it a constant",
            )
            .report());
        }
    };
    importer.record_result(op, |importer, _, _| {
        let part = reshape_or_splat(importer, input, &from);
        Ok(importer.graph.pad(part, &low, &high, number))
    })
}

/// Returns the low and high padding of each dimension of a `tensor.pad`. Reports an error if one of them is a runtime
/// value.
fn read_padding<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(Vec<i64>, Vec<i64>), ErrorReported> {
    let list = |name: &str| op.required_attr(name, integers);
    let (mut low, mut high) = (list("static_low"), list("static_high"));
    // Amounts that are not attributes are operands, in this order; TOSA leaves constants there.
    let mut given = op.inputs().into_iter().skip(1);
    for size in low.iter_mut().chain(&mut high).filter(|size| **size == DYNAMIC) {
        let Some(value) = given.next() else { continue };
        let node = importer.node_of(op, value)?;
        let Some(number) = importer.graph.as_integer_scalar(node) else {
            return Err(error_at(
                codes::RUNTIME_POSITION,
                op,
                "requires constant padding sizes, found a runtime value; make them constants",
            )
            .report());
        };
        *size = number;
    }
    Ok((low, high))
}

/// Imports a fill: broadcasts a scalar, or the element of a tensor without dimensions.
pub(super) fn fill<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let number = importer.node_of(op, op.inputs()[0])?;
    importer.record_result(op, |importer, shape, _| Ok(importer.graph.broadcast_rank_zero(number, &shape)))
}

fn import_from_elements<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let nodes = op.inputs().into_iter().map(|value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    let graph = &importer.graph;
    let known = if nodes.iter().all(|&node| graph.node(node).element == NodeElementType::Int) {
        nodes
            .iter()
            .map(|&node| graph.as_integer_scalar(node))
            .collect::<Option<Vec<i64>>>()
            .map(ConstantTensor::from_integers)
    } else {
        nodes
            .iter()
            .map(|&node| graph.as_scalar(node))
            .collect::<Option<Vec<f64>>>()
            .map(|numbers| ConstantTensor::from_numbers(&numbers))
    };
    importer.record_result(op, |importer, shape, element| match known {
        Some(known) => Ok(importer.graph.add_constant(known, shape, element)),
        // The tensor has a single element.
        None if nodes.len() == 1 => Ok(reshape_or_splat(importer, nodes[0], &shape)),
        None => {
            let message = codes::RUNTIME_POSITION
                .format("of runtime scalars is not supported; compute the tensor with ops on tensors");
            Ok(importer.add_unsupported(op, op.loc(), message, shape, element))
        }
    })
}

/// Extracts an element outside of all bodies, at a constant position.
fn extract<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let operands = op.inputs();
    let node = importer.node_of(op, operands[0])?;
    let indices = operands[1..].iter().map(|&index| importer.node_of(op, index)).collect::<Result<Vec<_>, _>>()?;
    let place = |&index: &NodeId| importer.graph.as_integer_scalar(index);
    let place: Option<Vec<i64>> = indices.iter().map(place).collect();
    let shape = shape_of(operands[0]);
    let outside = place.iter().flatten().zip(&shape).enumerate().find(|(_, (at, size))| !(0..**size).contains(at));
    let element = importer.graph.node(node).element;
    if let Some((dim, (at, size))) = outside {
        let message = codes::INDEX_BOUNDS.format(format_args!(
            "expected an index from 0 to {} for dimension {dim}, found {at}; give an index within it",
            size - 1
        ));
        let rejected = importer.add_unsupported(op, op.loc(), message, Vec::new(), element);
        importer.record_node(op.output(), rejected);
        return Ok(());
    }
    let node = match place {
        _ if importer.graph.as_scalar(node).is_some() || indices.is_empty() => node,
        Some(place) => importer.graph.view(node, place.into_iter().map(AffineExpression::Constant).collect(), &[]),
        _ => {
            let message = codes::EXTRACT_RUNTIME
                .format("of a single element at a runtime index is not supported; gather whole rows instead");
            importer.add_unsupported(op, op.loc(), message, Vec::new(), element)
        }
    };
    importer.record_node(op.output(), node);
    Ok(())
}

fn import_dim<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let index = importer.node_of(op, op.inputs()[1])?;
    let dim = importer.graph.as_integer_scalar(index).and_then(|dim| usize::try_from(dim).ok());
    let size = dim.and_then(|dim| shape_of(op.inputs()[0]).get(dim).copied());
    let size = size.ok_or_else(|| {
        error_at(
            codes::RUNTIME_POSITION,
            op,
            "requires a constant dimension number, found a runtime value; make it a constant",
        )
        .report()
    })?;
    let node = importer.graph.add_constant(ConstantTensor::from_integer(size), Vec::new(), NodeElementType::Int);
    importer.record_node(op.output(), node);
    Ok(())
}

/// Builds `linalg.softmax` in its numerically safe form, as producers write it: the maximum is subtracted first.
fn import_softmax<'c>(importer: &mut FunctionImporter<'c>, op: Op<'c>) -> Result<(), ErrorReported> {
    let x = importer.node_of(op, op.inputs()[0])?;
    let dim = op.required_attr("dimension", natural_number);
    importer.record_result(op, |importer, shape, element| {
        let graph = &mut importer.graph;
        if graph.find_unsupported(&[x]).is_some() {
            return Ok(x);
        }
        let x = if graph.as_scalar(x).is_some() { graph.add_splat(x, shape) } else { x };
        let max = graph.reduce("max", x, dim);
        let shifted = graph.add_pointwise("sub", &[x, max], element);
        let exp = graph.add_pointwise("exp", &[shifted], element);
        let sum = graph.reduce("sum", exp, dim);
        Ok(graph.add_pointwise("realdiv", &[exp, sum], element))
    })
}
