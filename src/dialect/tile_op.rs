//! Compute ops as the model of time sees them.

use super::{Access, Step, Tensor, UsedAs, behind_views, home_of, moves_of};
use crate::dialect::ods::spyre;
use crate::mlir::{Op, OpExt, Value, ValueExt, ValueLike, integer};
use cost::{Dim, OpKind, TileOp, TileOperand};
use machine::{Family, STICK_BYTES};
use program::layout::{Coordinate, sticks_needed};
use std::collections::BTreeSet;

/// A step as the model of time sees it, before anything is divided or placed: all of it in HBM, in one slice. `number` gives the tensor that
/// begins at this element of a buffer its number: a view of a buffer is the same tensor, whatever its dimensions are.
///
/// # Errors
/// If the layout phase has not run, or a loop cuts a buffer where its layout cannot be cut.
pub fn tile_op_of<'c>(step: &Step<'c>, mut number: impl FnMut(Value<'c>, i64) -> usize) -> Result<TileOp, String> {
    let space = step.compute.iteration_space();
    let n_outputs = space.len() - step.compute.n_reduced();
    // A reduction of one element is a copy.
    let is_reduction = space[n_outputs..].iter().any(|&size| size > 1);
    let kind = match step.compute.family() {
        Family::Matmul if is_reduction => OpKind::Matmul,
        Family::Reduce if is_reduction => OpKind::Reduction,
        Family::Matmul | Family::Reduce | Family::Pointwise | Family::Copy | Family::Gather => OpKind::Pointwise,
    };
    let dims = space.iter().enumerate().map(|(dim, &extent)| Dim { extent, slices: 1, is_reduced: dim >= n_outputs });
    let last = step.accesses.len().saturating_sub(1);
    let computed = computed_space(step, &space)?;
    let n_indices = n_indices(step, &space);
    let operands = step.accesses.iter().enumerate().map(|(position, access)| {
        let mut operand = tile_operand(&step.loops, access, &space, &computed, n_indices)?;
        operand.is_output = position == last;
        operand.buffer = number(home_of(access.value), first_element(access, &space)?);
        Ok(operand)
    });
    Ok(TileOp {
        kind,
        is_reduction,
        dims: dims.collect(),
        trips: trips(&step.loops),
        operands: operands.collect::<Result<_, String>>()?,
        is_irregular: step.accesses.iter().any(|access| access.used_as != UsedAs::Data),
    })
}

/// Returns what [`tile_op_of`] returns for an op in these loops that copies a value to a buffer of the same layout, with the buffers 0 and 1.
///
/// # Errors
/// As [`tile_op_of`].
pub fn copy_tile_of<'c>(loops: &[Op<'c>], value: Value<'c>) -> Result<TileOp, String> {
    let tensor = Tensor::of(value.r#type()).ok_or("an operand is no tensor of static shape")?;
    let space = tensor.host.shape.clone();
    let dims = space.iter().enumerate().map(|(dim, &size)| (size > 1).then_some(dim)).collect();
    let access = Access { operand: value, value: behind_views(value), tensor, dims, offsets: vec![0; space.len()], used_as: UsedAs::Data };
    let read = tile_operand(loops, &access, &space, &space, i64::MAX)?;
    let advances = vec![false; loops.len()];
    let written = TileOperand { buffer: 1, is_output: true, is_kernel_input: false, is_argument: false, advances, ..read.clone() };
    Ok(TileOp {
        kind: OpKind::Pointwise,
        is_reduction: false,
        dims: space.iter().map(|&extent| Dim { extent, slices: 1, is_reduced: false }).collect(),
        trips: trips(loops),
        operands: vec![read, written],
        is_irregular: false,
    })
}

fn trips(loops: &[Op<'_>]) -> Vec<i64> {
    loops.iter().map(|around| around.required("count", integer)).collect()
}

/// Points of each dimension that cores compute: a product computes whole sticks, so that it reads the zeros behind the end of what it sums.
fn computed_space(step: &Step<'_>, space: &[i64]) -> Result<Vec<i64>, String> {
    let mut computed = space.to_vec();
    for access in step.accesses.iter().filter(|_| step.compute.family() == Family::Matmul) {
        let stick = access.coordinates(space)?.last().and_then(|stick| stick.term.map(|term| term.dim));
        if let Some(dim) = stick {
            let elements = access.layout()?.format().elements_per_stick();
            computed[dim] = sticks_needed(computed[dim], elements) * elements;
        }
    }
    Ok(computed)
}

fn tile_operand<'c>(loops: &[Op<'c>], access: &Access<'c>, space: &[i64], computed: &[i64], n_indices: i64) -> Result<TileOperand, String> {
    let layout = access.layout()?;
    // Dimensions of one point move nothing.
    let moving = |coordinate: &Coordinate| coordinate.term.map(|term| term.dim).filter(|&dim| space[dim] > 1);
    let coordinates = access.coordinates(space)?;
    let indexed = access.indexed_dim(space)?;
    let mut tile_bytes = STICK_BYTES;
    let mut outer = Vec::new();
    let (Some(stick), beside) = (coordinates.last(), coordinates.len().saturating_sub(1)) else {
        return Err("has an operand without dimensions".to_owned());
    };
    for (position, (coordinate, &size)) in coordinates[..beside].iter().zip(layout.device_size()).enumerate() {
        let positions = match coordinate.term {
            _ if indexed == Some(position) => size.min(n_indices),
            Some(term) => (term.last(computed).map_err(|error| error.to_string())? + 1).min(size),
            None => 1,
        };
        tile_bytes *= positions;
        if size > 1 || moving(coordinate).is_some() || coordinate.offset != 0 {
            outer.push(moving(coordinate));
        }
    }
    let home = home_of(access.value);
    let moves = moves_of(access.operand)?;
    let advances = |around: &Op<'c>| moves.iter().filter(|moved| moved.around == *around).map(|moved| moved.elements).sum::<i64>() != 0;
    let is_constant = home.def().is_some_and(|op| op.is(spyre::CONSTANT));
    Ok(TileOperand {
        is_kernel_input: home.def().is_none() || is_constant,
        is_argument: home.def().is_none() || is_constant || home.find_user(|user| user.is("func.return").then_some(())).is_some(),
        tile_bytes,
        element_bytes: layout.format().bytes(),
        moved_by: coordinates.iter().filter_map(moving).collect::<BTreeSet<usize>>().into_iter().collect(),
        stick: moving(stick),
        inner: outer.last().copied().flatten(),
        advances: loops.iter().map(advances).collect(),
        ..TileOperand::default()
    })
}

/// The element of a buffer, in the order in which the device has them, that an access begins at.
///
/// # Errors
/// If the layout phase has not run.
pub fn first_element(access: &Access<'_>, space: &[i64]) -> Result<i64, String> {
    let coordinates = access.coordinates(space)?;
    let along = coordinates.iter().zip(access.layout()?.device_size());
    Ok(along.fold(0, |first, (coordinate, &size)| first * size + coordinate.offset))
}

/// Elements that a step reads of its index tensor.
fn n_indices(step: &Step<'_>, space: &[i64]) -> i64 {
    let index = step.accesses.iter().find(|access| access.used_as == UsedAs::Indices);
    index.map_or(i64::MAX, |index| index.dims.iter().flatten().map(|&dim| space[dim]).product())
}
