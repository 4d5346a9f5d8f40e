//! Unrolls loops and inlines scopes of a function.

use super::{
    EvaluationError,
    eval_program::{EvalBlock, EvalFunction, EvalLoop, EvalOp, EvalOpKind, EvalTensor, ValueId},
};
use program::affine::AffineExpression;

/// Maximum number of ops after unrolling.
pub(super) const MAX_UNROLLED_OPS: usize = 1 << 18;

impl<'a> EvalFunction<'a> {
    /// Returns the function without loops and scopes.
    ///
    /// # Errors
    /// If there are more than [`MAX_UNROLLED_OPS`] ops, or ops that fit no loop.
    pub(super) fn unroll(&self) -> Result<Self, EvaluationError> {
        let mut unroller = LoopUnroller {
            tensors: &self.values,
            ids: vec![None; self.values.len()],
            values: Vec::new(),
            ops: Vec::new(),
        };
        let arguments: Vec<ValueId> = self.body.arguments.iter().map(|id| unroller.clone_value(*id)).collect();
        unroller.bind(&self.body.arguments, &arguments);
        let yields = unroller.unroll_block(&self.body)?;
        let body = EvalBlock { arguments, ops: unroller.ops, yields };
        Ok(EvalFunction { name: self.name.clone(), ranges: self.ranges.clone(), values: unroller.values, body })
    }
}

struct LoopUnroller<'f, 'a> {
    /// The tensors of the function with its loops.
    tensors: &'f [EvalTensor],
    /// Value of the unrolled function that corresponds to each value, in the iteration that is being unrolled.
    ids: Vec<Option<ValueId>>,
    values: Vec<EvalTensor>,
    ops: Vec<EvalOp<'a>>,
}

impl<'a> LoopUnroller<'_, 'a> {
    /// Creates a value with the type of an existing one.
    fn clone_value(&mut self, like: ValueId) -> ValueId {
        self.values.push(self.tensors[like].clone());
        self.values.len() - 1
    }

    fn bind(&mut self, ids: &[ValueId], to: &[ValueId]) {
        ids.iter().zip(to).for_each(|(id, to)| self.ids[*id] = Some(*to));
    }

    fn map_values(&self, ids: &[ValueId]) -> Result<Vec<ValueId>, EvaluationError> {
        ids.iter().map(|id| self.ids[*id].ok_or(EvaluationError::UndefinedValue)).collect()
    }

    fn add_op(
        &mut self,
        kind: EvalOpKind<'a>,
        inputs: Vec<ValueId>,
        like: ValueId,
    ) -> Result<ValueId, EvaluationError> {
        if self.ops.len() == MAX_UNROLLED_OPS {
            return Err(EvaluationError::TooManyOps { limit: MAX_UNROLLED_OPS });
        }
        let output = self.clone_value(like);
        self.ops.push(EvalOp { kind, inputs, outputs: vec![output] });
        Ok(output)
    }

    fn unroll_block(&mut self, block: &EvalBlock<'a>) -> Result<Vec<ValueId>, EvaluationError> {
        for op in &block.ops {
            let inputs = self.map_values(&op.inputs)?;
            let results = match (&op.kind, op.outputs.as_slice()) {
                (EvalOpKind::Scope(body), _) => self.unroll_block(body)?,
                (EvalOpKind::Loop(around), outputs) => self.unroll_loop(around, op, inputs, outputs)?,
                (kind, [output]) => vec![self.add_op(kind.clone(), inputs, *output)?],
                (_, outputs) => return Err(EvaluationError::Count { expected: 1, found: outputs.len() }),
            };
            self.bind(&op.outputs, &results);
        }
        self.map_values(&block.yields)
    }

    fn unroll_loop(
        &mut self,
        around: &EvalLoop<'a>,
        op: &EvalOp<'a>,
        wholes: Vec<ValueId>,
        outputs: &[ValueId],
    ) -> Result<Vec<ValueId>, EvaluationError> {
        let (count, body) = (around.count, &around.body);
        let carried = |ids: &[ValueId], dims: &[Option<usize>]| {
            ids.iter().zip(dims).filter(|(_, dim)| dim.is_none()).map(|(id, _)| *id).collect::<Vec<_>>()
        };
        let mut results = outputs
            .iter()
            .map(|output| self.add_op(EvalOpKind::Empty, Vec::new(), *output))
            .collect::<Result<Vec<_>, _>>()?;
        let mut state = carried(&wholes, &around.read);
        for iteration in 0..count {
            let mut states = state.into_iter();
            let operands = op.inputs.iter().zip(&wholes).zip(body.arguments.iter().zip(&around.read));
            for ((input, whole), (argument, dim)) in operands {
                let value = match dim {
                    Some(dim) => {
                        let start = compute_tile_start(&self.tensors[*input].shape, *dim, count, iteration)?;
                        self.add_op(
                            EvalOpKind::View(build_tile_map(self.tensors[*input].shape.len(), *dim, start)),
                            vec![*whole],
                            *argument,
                        )?
                    }
                    None => states.next().ok_or(EvaluationError::UndefinedValue)?,
                };
                self.ids[*argument] = Some(value);
            }
            let yields = self.unroll_block(body)?;
            state = carried(&yields, &around.given);
            for (((result, output), dim), part) in results.iter_mut().zip(outputs).zip(&around.given).zip(yields) {
                *result = match dim {
                    Some(dim) => {
                        let shape = &self.tensors[*output].shape;
                        let mut offsets = vec![0; shape.len()];
                        offsets[*dim] = compute_tile_start(shape, *dim, count, iteration)?;
                        self.add_op(EvalOpKind::Insert { offsets }, vec![part, *result], *output)?
                    }
                    None => part,
                };
            }
        }
        Ok(results)
    }
}

/// Returns the start of tile `iteration` of `count` along a dimension.
fn compute_tile_start(shape: &[usize], dim: usize, count: usize, iteration: usize) -> Result<usize, EvaluationError> {
    let size = shape
        .get(dim)
        .filter(|size| **size % count == 0)
        .ok_or_else(|| EvaluationError::OutOfBounds { shape: shape.to_vec() })?;
    Ok(size / count * iteration)
}

/// Returns the view of a tensor that begins at `start` along a dimension.
fn build_tile_map(rank: usize, dim: usize, start: usize) -> Vec<AffineExpression> {
    let along = |at: usize| match at == dim {
        true => AffineExpression::Add(
            Box::new(AffineExpression::Dim(at)),
            Box::new(AffineExpression::Constant(start as i64)),
        ),
        false => AffineExpression::Dim(at),
    };
    (0..rank).map(along).collect()
}
