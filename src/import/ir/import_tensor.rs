//! `spyre-import-linalg`, operations on whole tensors: reshapes, slices, concatenation, padding and `linalg.softmax`.

use super::{
    import_scatter::{Offsets, extract_at, insert_at},
    importer::{Importer, has_no_elements, refuse_size},
};
use crate::{
    codes,
    import::{
        Element, Known,
        graph::{NodeId, linear::MOST_PARTS},
    },
    mlir::{Op, OpExt, Reported, TensorType, ValueLike, error_at, integers, natural, shape_of},
};
use program::affine::Expr;

/// Size, offset or stride that is a runtime value.
const DYNAMIC: i64 = i64::MIN;

/// Builds the node of a tensor operation.
pub(super) fn import_tensor<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    match op.full_name() {
        "tensor.cast" if TensorType::of(op.output().r#type()).is_none() => forget_sizes(importer, op),
        "tensor.expand_shape" | "tensor.collapse_shape" | "tensor.reshape" | "tensor.cast" => reshape(importer, op),
        "tensor.extract_slice" => extract_slice(importer, op),
        "tensor.insert_slice" => insert_slice(importer, op),
        "tensor.concat" => concat(importer, op),
        "tensor.pad" => pad(importer, op),
        "tensor.splat" => fill(importer, op),
        "tensor.from_elements" => from_elements(importer, op),
        "tensor.extract" => extract(importer, op),
        "tensor.dim" => dim(importer, op),
        "linalg.softmax" => softmax(importer, op),
        _ => {
            let advice = "write it with ops of docs/reference/supported-ops.md, or compute it outside of the program";
            let message = format!("has no device function yet; {advice}");
            importer.note_result(op, |importer, shape, element| Ok(importer.refused(op, op.loc(), message, shape, element)))
        }
    }
}

fn reshape<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let input = importer.node_of(op, op.inputs()[0])?;
    if let Some(tensor) = TensorType::of(op.output().r#type()) {
        refuse_size(op, &tensor)?;
    }
    importer.note_result(op, |importer, shape, _| Ok(importer.graph.reshape(input, &shape)))
}

/// Returns a tensor whose type hides its static sizes, as torch-mlir writes the slices of `roll`.
fn forget_sizes<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let from = op.inputs()[0];
    let input = importer.node_of(op, from)?;
    let Some(tensor) = TensorType::of(from.r#type()) else {
        return Err(error_at(
            codes::STATIC_TENSOR,
            op,
            format_args!("expected operands of static shape, found {}; give every dimension a size", from.r#type()),
        )
        .report());
    };
    let node = shaped(importer, input, &tensor.shape);
    importer.note_node(op.output(), node);
    Ok(())
}

/// Returns the offsets, sizes and strides of a slice, whose operands begin with `n_tensors` tensors.
fn slice_of<'c>(importer: &Importer<'c>, op: Op<'c>, n_tensors: usize) -> Result<(Offsets, Vec<i64>, Vec<i64>), Reported> {
    let list = |name: &str| op.required(name, integers);
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
    let mut given = inputs[n_tensors..].iter();
    let mut moving = Vec::new();
    for (dim, offset) in known.iter_mut().enumerate().filter(|(_, offset)| **offset == DYNAMIC) {
        let Some(&value) = given.next() else { continue };
        let number = importer.node_of(op, value)?;
        *offset = 0;
        match importer.graph.integer_of(number) {
            Some(constant) => *offset = constant,
            None => moving.push((dim, number)),
        }
    }
    Ok((Offsets { known, moving }, sizes, strides))
}

/// Returns the dimension in which a slice at constant offsets exceeds a tensor of this shape, if any. MLIR's verifier sees only offsets that
/// are attributes, but producers pass constants as operands.
fn outside(offsets: &Offsets, sizes: &[i64], strides: &[i64], shape: &[i64]) -> Option<String> {
    let is_known = |dim: &usize| !offsets.moving.iter().any(|(moving, _)| moving == dim);
    (0..shape.len()).filter(is_known).find_map(|dim| {
        let (first, size) = (offsets.known[dim], shape[dim]);
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
        Some(codes::SLICE_BOUNDS.says(format_args!(
            "expected a slice within the {size} elements of dimension {dim}, found elements {first} to {last}; {advice}"
        )))
    })
}

fn extract_slice<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let input = importer.node_of(op, op.inputs()[0])?;
    let (offsets, sizes, strides) = slice_of(importer, op, 1)?;
    if let Some(message) = outside(&offsets, &sizes, &strides, &shape_of(op.inputs()[0])) {
        return importer.note_result(op, |importer, shape, element| Ok(importer.refused(op, op.loc(), message, shape, element)));
    }
    let slice = extract_at(importer, op, (input, &shape_of(op.inputs()[0])), &offsets, (&sizes, &strides))?;
    importer.note_result(op, |importer, shape, _| Ok(importer.graph.reshape(slice, &shape)))
}

fn insert_slice<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let (part, whole) = (importer.node_of(op, op.inputs()[0])?, importer.node_of(op, op.inputs()[1])?);
    let (offsets, sizes, strides) = slice_of(importer, op, 2)?;
    if let Some(message) = outside(&offsets, &sizes, &strides, &shape_of(op.inputs()[1])) {
        return importer.note_result(op, |importer, shape, element| Ok(importer.refused(op, op.loc(), message, shape, element)));
    }
    let is_dense = strides.iter().all(|&stride| stride == 1);
    if !offsets.moving.is_empty() && !is_dense {
        let message = "with a stride above 1 requires a constant offset, found a runtime value; make the offset a constant";
        return Err(error_at(codes::RUNTIME_POSITION, op, message).report());
    }
    let refused = importer.graph.refused_among(&[part, whole]);
    importer.note_result(op, |importer, shape, _| {
        let part = shaped(importer, part, &sizes);
        if let (Some(refused), true) = (refused, !offsets.moving.is_empty()) {
            return Ok(refused);
        }
        if is_dense {
            let whole = shaped(importer, whole, &shape);
            return insert_at(importer, op, (part, &sizes), (whole, &shape), &offsets);
        }
        let element = importer.graph.node(part).element;
        Ok(importer.graph.insert_strided(part, whole, &shape, &offsets.known, &strides).unwrap_or_else(|| {
            let message = codes::TOO_MANY_PARTS
                .says(format_args!("with strides {strides:?} needs more than {MOST_PARTS} slices; use smaller tensors or unit strides"));
            importer.refused(op, op.loc(), message, shape, element)
        }))
    })
}

/// Returns a node of that shape; a scalar is broadcast.
fn shaped(importer: &mut Importer<'_>, node: NodeId, shape: &[i64]) -> NodeId {
    match importer.graph.number_of(node) {
        Some(_) => importer.graph.filled(node, shape.to_vec()),
        None => importer.graph.reshape(node, shape),
    }
}

fn concat<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let dim = op.required("dim", natural);
    let mut parts = Vec::new();
    for value in op.inputs().into_iter().filter(|value| !has_no_elements(*value)) {
        let node = importer.node_of(op, value)?;
        // Sizes that the type leaves open are those of the node.
        let shape = TensorType::of(value.r#type()).map_or_else(|| importer.graph.node(node).shape.clone(), |tensor| tensor.shape);
        parts.push((node, shape));
    }
    importer.note_result(op, |importer, shape, element| {
        let mut whole = importer.graph.undefined(shape, element);
        let mut offsets = vec![0; importer.graph.node(whole).shape.len()];
        for (part, shape) in parts {
            let part = shaped(importer, part, &shape);
            whole = importer.graph.insert(part, whole, offsets.clone());
            offsets[dim] += shape[dim];
        }
        Ok(whole)
    })
}

fn pad<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let input = importer.node_of(op, op.inputs()[0])?;
    let from = shape_of(op.inputs()[0]);
    let (low, high) = borders(importer, op)?;
    let padding = op.body_ops().last().and_then(|terminator| terminator.inputs().first().copied());
    for inner in op.body_ops().into_iter().filter(|inner| inner.is("arith.constant")) {
        let node = importer.constant(inner)?;
        importer.note_node(inner.output(), node);
    }
    let number = match padding.map(|value| importer.node_of(op, value)).transpose()? {
        Some(node) if importer.graph.number_of(node).is_some() => node,
        _ => {
            return Err(error_at(
                codes::RUNTIME_POSITION,
                op,
                "requires a constant padding value, found a runtime value; make it a constant",
            )
            .report());
        }
    };
    importer.note_result(op, |importer, _, _| {
        let part = shaped(importer, input, &from);
        Ok(importer.graph.padded(part, &low, &high, number))
    })
}

/// Returns the low and high padding of each dimension of a `tensor.pad`. Reports an error if one of them is a runtime
/// value.
fn borders<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(Vec<i64>, Vec<i64>), Reported> {
    let list = |name: &str| op.required(name, integers);
    let (mut low, mut high) = (list("static_low"), list("static_high"));
    // Amounts that are not attributes are operands, in this order; TOSA leaves constants there.
    let mut given = op.inputs().into_iter().skip(1);
    for size in low.iter_mut().chain(&mut high).filter(|size| **size == DYNAMIC) {
        let Some(value) = given.next() else { continue };
        let node = importer.node_of(op, value)?;
        let Some(number) = importer.graph.integer_of(node) else {
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

/// Broadcasts a scalar, or the element of a tensor without dimensions.
pub(super) fn fill<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let number = importer.node_of(op, op.inputs()[0])?;
    importer.note_result(op, |importer, shape, _| Ok(importer.graph.repeated(number, &shape)))
}

fn from_elements<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let nodes = op.inputs().into_iter().map(|value| importer.node_of(op, value)).collect::<Result<Vec<_>, _>>()?;
    let graph = &importer.graph;
    let known = if nodes.iter().all(|&node| graph.node(node).element == Element::Int) {
        nodes.iter().map(|&node| graph.integer_of(node)).collect::<Option<Vec<i64>>>().map(Known::integer_table)
    } else {
        nodes.iter().map(|&node| graph.number_of(node)).collect::<Option<Vec<f64>>>().map(|numbers| Known::table(&numbers))
    };
    importer.note_result(op, |importer, shape, element| match known {
        Some(known) => Ok(importer.graph.known(known, shape, element)),
        // The tensor is its only element.
        None if nodes.len() == 1 => Ok(shaped(importer, nodes[0], &shape)),
        None => {
            let message = codes::RUNTIME_POSITION.says("of runtime scalars is not supported; compute the tensor with ops on tensors");
            Ok(importer.refused(op, op.loc(), message, shape, element))
        }
    })
}

/// Extracts an element outside of all bodies, at a constant position.
fn extract<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let operands = op.inputs();
    let node = importer.node_of(op, operands[0])?;
    let indices = operands[1..].iter().map(|&index| importer.node_of(op, index)).collect::<Result<Vec<_>, _>>()?;
    let place = |&index: &NodeId| importer.graph.integer_of(index);
    let place: Option<Vec<i64>> = indices.iter().map(place).collect();
    let shape = shape_of(operands[0]);
    let outside = place.iter().flatten().zip(&shape).enumerate().find(|(_, (at, size))| !(0..**size).contains(at));
    let element = importer.graph.node(node).element;
    if let Some((dim, (at, size))) = outside {
        let message = codes::INDEX_BOUNDS
            .says(format_args!("expected an index from 0 to {} for dimension {dim}, found {at}; give an index within it", size - 1));
        let refused = importer.refused(op, op.loc(), message, Vec::new(), element);
        importer.note_node(op.output(), refused);
        return Ok(());
    }
    let node = match place {
        _ if importer.graph.number_of(node).is_some() || indices.is_empty() => node,
        Some(place) => importer.graph.view(node, place.into_iter().map(Expr::Constant).collect(), &[]),
        _ => {
            let message = codes::EXTRACT_RUNTIME.says("of a single element at a runtime index is not supported; gather whole rows instead");
            importer.refused(op, op.loc(), message, Vec::new(), element)
        }
    };
    importer.note_node(op.output(), node);
    Ok(())
}

fn dim<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let index = importer.node_of(op, op.inputs()[1])?;
    let dim = importer.graph.integer_of(index).and_then(|dim| usize::try_from(dim).ok());
    let size = dim.and_then(|dim| shape_of(op.inputs()[0]).get(dim).copied());
    let size = size.ok_or_else(|| {
        error_at(codes::RUNTIME_POSITION, op, "requires a constant dimension number, found a runtime value; make it a constant").report()
    })?;
    let node = importer.graph.known(Known::integer(size), Vec::new(), Element::Int);
    importer.note_node(op.output(), node);
    Ok(())
}

/// Builds the numerically safe form, as producers write it: the maximum is subtracted first.
fn softmax<'c>(importer: &mut Importer<'c>, op: Op<'c>) -> Result<(), Reported> {
    let x = importer.node_of(op, op.inputs()[0])?;
    let dim = op.required("dimension", natural);
    importer.note_result(op, |importer, shape, element| {
        let graph = &mut importer.graph;
        if graph.refused_among(&[x]).is_some() {
            return Ok(x);
        }
        let x = if graph.number_of(x).is_some() { graph.filled(x, shape) } else { x };
        let max = graph.reduce("max", x, dim);
        let shifted = graph.pointwise("sub", &[x, max], element);
        let exp = graph.pointwise("exp", &[shifted], element);
        let sum = graph.reduce("sum", exp, dim);
        Ok(graph.pointwise("realdiv", &[exp, sum], element))
    })
}
