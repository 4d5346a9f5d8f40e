//! Finds errors that change results on the device, but not results over complete tensors: loops that overwrite carried
//! values too early, and nonzero padding after the rows that a matmul reads.
//!
//! Every value of the interpreter is a separate tensor, so IR that overwrites a value too early computes equal results
//! there. This module assumes that all values carried by a loop share one buffer, as after phase `tile`, and that a
//! view shares the buffer of its source.

use super::{
    eval_program::{ConstantLiteral, EvalBlock, EvalFunction, EvalLoop, EvalOp, EvalOpKind, ValueId},
    positions::PositionSequence,
};
use std::collections::BTreeSet;

/// Describes a value that is read after a loop has overwritten it; returns `None` if there is none. The time is linear
/// in the ops, times the loop depth.
#[must_use]
pub fn find_clobbered_value(function: &EvalFunction<'_>) -> Option<&'static str> {
    let mut buffers = AliasClasses { of: (0..function.values.len()).collect() };
    buffers.record_block(&function.body);
    buffers.find_aliasing_error(&function.body, &BTreeSet::new())
}

/// Alias classes: for each value, the value whose buffer it shares.
struct AliasClasses {
    of: Vec<ValueId>,
}

impl AliasClasses {
    fn record_block(&mut self, block: &EvalBlock<'_>) {
        for op in &block.ops {
            match (&op.kind, op.inputs.as_slice(), op.outputs.as_slice()) {
                (EvalOpKind::View(_) | EvalOpKind::Pick(_), [viewed], [of]) => self.of[*of] = self.of[*viewed],
                (EvalOpKind::Insert { .. }, [_, whole], [of]) => self.of[*of] = self.of[*whole],
                (EvalOpKind::Loop(EvalLoop { body, .. }) | EvalOpKind::Scope(body), ..) => self.record_block(body),
                _ => {}
            }
        }
    }

    /// Describes an aliasing error in a block; `carried` are the arguments that the enclosing loop carries.
    fn find_aliasing_error(&self, block: &EvalBlock<'_>, carried: &BTreeSet<ValueId>) -> Option<&'static str> {
        let made: BTreeSet<ValueId> =
            block.ops.iter().filter(|op| self.defines_buffer(op)).flat_map(|op| &op.outputs).copied().collect();
        block.ops.iter().enumerate().find_map(|(at, op)| {
            let EvalOpKind::Loop(around) = &op.kind else { return None };
            self.find_initial_value_error(block, at, op, around, &made, carried)
                .or_else(|| self.find_body_error(around))
        })
    }

    fn defines_buffer(&self, op: &EvalOp<'_>) -> bool {
        !matches!(op.kind, EvalOpKind::Constant(_)) && op.outputs.iter().all(|output| self.of[*output] == *output)
    }

    /// Describes an error in the use of the initial values of a loop, which the loop overwrites; returns `None` if
    /// there is no error.
    fn find_initial_value_error(
        &self,
        block: &EvalBlock<'_>,
        at: usize,
        op: &EvalOp<'_>,
        around: &EvalLoop<'_>,
        made: &BTreeSet<ValueId>,
        carried: &BTreeSet<ValueId>,
    ) -> Option<&'static str> {
        let mut taken = BTreeSet::new();
        let starts =
            op.inputs.iter().zip(&around.read).filter(|(_, dim)| dim.is_none()).map(|(start, _)| self.of[*start]);
        for start in starts {
            if !taken.insert(start) {
                return Some("a loop initializes two carried buffers with one value");
            }
            if !made.contains(&start) && !carried.contains(&start) {
                return Some("a loop overwrites a value that is not a buffer of its block");
            }
            if self.is_read(&around.body.ops, &around.body.yields, start) {
                return Some("the body of a loop reads the initial value after overwriting it");
            }
            if self.is_read(&block.ops[at + 1..], &block.yields, start) {
                return Some("the initial value of a loop is read after the loop overwrote it");
            }
        }
        None
    }

    /// Describes an error in the body of a loop: the definition of a yielded value overwrites the carried value that
    /// the iteration received. Returns `None` if there is no error.
    fn find_body_error(&self, around: &EvalLoop<'_>) -> Option<&'static str> {
        let body = &around.body;
        let pick = |values: &[ValueId], dims: &[Option<usize>]| -> Vec<ValueId> {
            values.iter().zip(dims).filter(|(_, dim)| dim.is_none()).map(|(value, _)| self.of[*value]).collect()
        };
        let (found, left) = (pick(&body.arguments, &around.read), pick(&body.yields, &around.given));
        let mut places = BTreeSet::new();
        for (found, left) in found.iter().zip(&left) {
            if !places.insert(left) {
                return Some("a loop yields one value twice");
            }
            if found == left {
                continue;
            }
            let Some(writer) = body.ops.iter().position(|op| op.outputs.contains(left)) else {
                return Some("a loop yields a value that is defined outside of it");
            };
            if self.is_read(&body.ops[writer + 1..], &body.yields, *found) {
                return Some("a carried value is read after it was overwritten");
            }
        }
        self.find_aliasing_error(body, &found.into_iter().collect())
    }

    /// Returns whether ops, or the terminator after them, read the buffer. A view alone does not read.
    fn is_read(&self, ops: &[EvalOp<'_>], yields: &[ValueId], buffer: ValueId) -> bool {
        let is_of_it = |id: &ValueId| self.of[*id] == buffer;
        let reads = |op: &EvalOp<'_>| match &op.kind {
            EvalOpKind::View(_) | EvalOpKind::Pick(_) => false,
            EvalOpKind::Loop(EvalLoop { body, .. }) | EvalOpKind::Scope(body) => {
                op.inputs.iter().any(is_of_it) || self.is_read(&body.ops, &body.yields, buffer)
            }
            _ => op.inputs.iter().any(is_of_it),
        };
        ops.iter().any(reads) || yields.iter().any(is_of_it)
    }
}

/// Returns whether padding that a matmul reads as part of full sticks may be nonzero: constants in the buffer of its
/// right operand, at positions outside of the matmul's index range.
#[must_use]
pub fn may_read_nonzero_padding(function: &EvalFunction<'_>) -> bool {
    let mut producers: Vec<Option<&EvalOp<'_>>> = vec![None; function.values.len()];
    let mut products = Vec::new();
    record_producers(&function.body, &mut producers, &mut products);
    products.into_iter().any(|right| PaddingCheck { function, producers: &producers }.has_nonzero_padding(right))
}

fn record_producers<'f, 'a>(
    block: &'f EvalBlock<'a>,
    producers: &mut [Option<&'f EvalOp<'a>>],
    products: &mut Vec<ValueId>,
) {
    for op in &block.ops {
        op.outputs.iter().for_each(|output| producers[*output] = Some(op));
        match &op.kind {
            EvalOpKind::Matmul => products.extend(op.inputs.get(1)),
            EvalOpKind::Loop(EvalLoop { body, .. }) | EvalOpKind::Scope(body) => {
                record_producers(body, producers, products)
            }
            _ => {}
        }
    }
}

struct PaddingCheck<'f, 'a> {
    function: &'f EvalFunction<'a>,
    producers: &'f [Option<&'f EvalOp<'a>>],
}

impl PaddingCheck<'_, '_> {
    fn has_nonzero_padding(&self, right: ValueId) -> bool {
        let Some(EvalOp { kind: EvalOpKind::View(map), inputs, .. }) = self.producers[right] else { return false };
        let mut buffer = inputs[0];
        let shape = |id: ValueId| self.function.values[id].shape.as_slice();
        let Ok(viewed) = PositionSequence::view(shape(buffer), map, shape(right)) else { return false };
        let viewed: BTreeSet<usize> = viewed.positions().into_iter().collect();
        while let Some(EvalOp { kind: EvalOpKind::Insert { offsets }, inputs, .. }) = self.producers[buffer] {
            let [part, whole] = [inputs[0], inputs[1]];
            let window = PositionSequence::window(shape(whole), offsets, shape(part));
            let is_unseen = |window: PositionSequence| !window.positions().iter().any(|place| viewed.contains(place));
            if self.splat_number(part).is_some_and(|number| number != 0.0) && window.is_ok_and(is_unseen) {
                return true;
            }
            buffer = whole;
        }
        false
    }

    /// Returns the number that a splat value repeats, looking through views.
    fn splat_number(&self, mut id: ValueId) -> Option<f64> {
        while let Some(EvalOp { kind: EvalOpKind::View(_), inputs, .. }) = self.producers[id] {
            id = inputs[0];
        }
        match &self.producers[id]?.kind {
            EvalOpKind::Fill(number) => Some(*number),
            EvalOpKind::Constant(literal @ ConstantLiteral { is_splat, .. }) => {
                let length = self.function.values[id].length();
                (*is_splat || length == 1).then(|| literal.read_f64(0, length))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
