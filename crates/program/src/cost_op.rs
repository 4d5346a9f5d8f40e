//! Conversion of program ops to ops of the time model.

use crate::{
    access::{AccessKind, TensorAccess},
    layout::{Coordinate, count_sticks},
    program::{OpOperand, Program, ProgramOp, ValueDef, ValueId},
};
use cost::{Dim, OpKind, TileOp, TileOperand};
use machine::{Family, STICK_BYTES};
use std::collections::{BTreeMap, BTreeSet};

/// Numbering of buffer slices: slices that begin at the same element of one buffer have the same number, whatever their
/// shapes are.
#[derive(Clone, Debug, Default)]
pub struct BufferNumbering {
    numbers: BTreeMap<(ValueId, i64), usize>,
}

impl BufferNumbering {
    /// Returns the number of the slice of a buffer that begins at an element.
    fn assign_number(&mut self, base: ValueId, first_element: i64) -> usize {
        let next = self.numbers.len();
        *self.numbers.entry((base, first_element)).or_insert(next)
    }
}

impl Program {
    /// Returns an op for the time model, before its work is divided and values are placed: in one slice, with all
    /// operands in HBM.
    ///
    /// # Errors
    /// If the layout phase has not run, or a loop tiles a buffer where its layout cannot be tiled.
    pub fn build_tile_op(&self, op: &ProgramOp, numbers: &mut BufferNumbering) -> Result<TileOp, String> {
        let num_outputs = op.space.len() - op.num_reduced;
        // A reduction of one element is a copy.
        let is_reduction = op.space[num_outputs..].iter().any(|&size| size > 1);
        let kind = match op.family {
            Family::Matmul if is_reduction => OpKind::Matmul,
            Family::Reduce if is_reduction => OpKind::Reduction,
            Family::Matmul | Family::Reduce | Family::Pointwise | Family::Copy | Family::Gather => OpKind::Pointwise,
        };
        let dims =
            op.space.iter().enumerate().map(|(dim, &extent)| Dim { extent, slices: 1, is_reduced: dim >= num_outputs });
        let computed = compute_padded_space(op)?;
        let num_indices = count_indices(op);
        let mut operands = Vec::with_capacity(op.operands.len());
        for operand in &op.operands {
            let mut tile = self.build_tile_operand(op, operand, &computed, num_indices)?;
            tile.buffer =
                numbers.assign_number(self.value(operand.value).base, operand.access.find_first_element(&op.space)?);
            operands.push(tile);
        }
        operands.last_mut().into_iter().for_each(|result| result.is_output = true);
        Ok(TileOp {
            kind,
            is_reduction,
            dims: dims.collect(),
            trips: op.loops.iter().map(|around| self.loops[around.0].trips).collect(),
            operands,
            is_irregular: op.operands.iter().any(|operand| operand.access.used_as != AccessKind::Data),
            shuffle: None,
        })
    }

    /// Returns an operand without its buffer number. `computed` has the points of each dimension that cores compute.
    fn build_tile_operand(
        &self,
        op: &ProgramOp,
        operand: &OpOperand,
        computed: &[i64],
        num_indices: i64,
    ) -> Result<TileOperand, String> {
        let access = &operand.access;
        let layout = access.layout()?;
        // Dimensions of one point move nothing.
        let moving = |coordinate: &Coordinate| coordinate.term.map(|term| term.dim).filter(|&dim| op.space[dim] > 1);
        let coordinates = access.coordinates(&op.space)?;
        let indexed = access.find_indexed_dim(&op.space)?;
        let mut tile_bytes = STICK_BYTES;
        let mut outer = Vec::new();
        let (Some(stick), beside) = (coordinates.last(), coordinates.len().saturating_sub(1)) else {
            return Err("has an operand without dimensions".to_owned());
        };
        for (position, (coordinate, &size)) in coordinates[..beside].iter().zip(layout.device_size()).enumerate() {
            let positions = match coordinate.term {
                _ if indexed == Some(position) => size.min(num_indices),
                Some(term) => (term.max_value(computed).map_err(|error| error.to_string())? + 1).min(size),
                None => 1,
            };
            tile_bytes *= positions;
            if size > 1 || moving(coordinate).is_some() || coordinate.offset != 0 {
                outer.push(moving(coordinate));
            }
        }
        let base = self.value(self.value(operand.value).base);
        let is_kernel_input = matches!(base.def, ValueDef::Argument | ValueDef::Constant);
        let moves = operand.moves.as_ref().map_err(Clone::clone)?;
        let advances = op
            .loops
            .iter()
            .map(|around| moves.iter().filter(|moved| moved.0 == *around).map(|moved| moved.1).sum::<i64>() != 0)
            .collect();
        Ok(TileOperand {
            is_kernel_input,
            is_argument: is_kernel_input || base.is_returned,
            tile_bytes,
            element_bytes: layout.format().bytes(),
            moved_by: coordinates.iter().filter_map(moving).collect::<BTreeSet<usize>>().into_iter().collect(),
            stick: moving(stick),
            inner: outer.last().copied().flatten(),
            advances,
            ..TileOperand::default()
        })
    }
}

/// Returns the points of each dimension that cores compute. A matmul computes complete sticks of the contracted
/// dimension, since it reads the zeros after its end.
fn compute_padded_space(op: &ProgramOp) -> Result<Vec<i64>, String> {
    let mut computed = op.space.clone();
    for operand in op.operands.iter().filter(|_| op.family == Family::Matmul) {
        let stick = operand.access.coordinates(&op.space)?.last().and_then(|stick| stick.term.map(|term| term.dim));
        if let Some(dim) = stick {
            let elements = operand.access.layout()?.format().elements_per_stick();
            computed[dim] = count_sticks(computed[dim], elements) * elements;
        }
    }
    Ok(computed)
}

/// Returns the number of elements that an op reads of its index tensor.
fn count_indices(op: &ProgramOp) -> i64 {
    let index = op.operands.iter().map(|operand| &operand.access).find(|access| access.used_as == AccessKind::Indices);
    let elements = |index: &TensorAccess| index.dims.iter().flatten().map(|&dim| op.space[dim]).product();
    index.map_or(i64::MAX, elements)
}
