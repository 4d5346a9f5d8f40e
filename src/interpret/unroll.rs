//! Unrolls loops and inlines scopes of a function.

use super::{
    Fault,
    program::{Block, Function, Kind, Loop, Operation, Tensor, ValueId},
};
use program::affine::Expr;

/// Maximum number of ops after unrolling.
pub(super) const MOST_OPS: usize = 1 << 18;

impl<'a> Function<'a> {
    /// Returns the function without loops and scopes.
    ///
    /// # Errors
    /// If there are more than [`MOST_OPS`] ops, or ops that fit no loop.
    pub(super) fn unrolled(&self) -> Result<Self, Fault> {
        let mut unroller = Unroller { tensors: &self.values, ids: vec![None; self.values.len()], values: Vec::new(), ops: Vec::new() };
        let arguments: Vec<ValueId> = self.body.arguments.iter().map(|id| unroller.value(*id)).collect();
        unroller.bind(&self.body.arguments, &arguments);
        let yields = unroller.block(&self.body)?;
        let body = Block { arguments, ops: unroller.ops, yields };
        Ok(Function { name: self.name.clone(), ranges: self.ranges.clone(), values: unroller.values, body })
    }
}

struct Unroller<'f, 'a> {
    /// The tensors of the function with its loops.
    tensors: &'f [Tensor],
    /// Value of the unrolled function that corresponds to each value, in the iteration that is being unrolled.
    ids: Vec<Option<ValueId>>,
    values: Vec<Tensor>,
    ops: Vec<Operation<'a>>,
}

impl<'a> Unroller<'_, 'a> {
    /// Creates a value with the type of an existing one.
    fn value(&mut self, like: ValueId) -> ValueId {
        self.values.push(self.tensors[like].clone());
        self.values.len() - 1
    }

    fn bind(&mut self, ids: &[ValueId], to: &[ValueId]) {
        ids.iter().zip(to).for_each(|(id, to)| self.ids[*id] = Some(*to));
    }

    fn all(&self, ids: &[ValueId]) -> Result<Vec<ValueId>, Fault> {
        ids.iter().map(|id| self.ids[*id].ok_or(Fault::Gone)).collect()
    }

    fn op(&mut self, kind: Kind<'a>, inputs: Vec<ValueId>, like: ValueId) -> Result<ValueId, Fault> {
        if self.ops.len() == MOST_OPS {
            return Err(Fault::TooManyOps { limit: MOST_OPS });
        }
        let output = self.value(like);
        self.ops.push(Operation { kind, inputs, outputs: vec![output] });
        Ok(output)
    }

    fn block(&mut self, block: &Block<'a>) -> Result<Vec<ValueId>, Fault> {
        for op in &block.ops {
            let inputs = self.all(&op.inputs)?;
            let results = match (&op.kind, op.outputs.as_slice()) {
                (Kind::Scope(body), _) => self.block(body)?,
                (Kind::Loop(around), outputs) => self.run(around, op, inputs, outputs)?,
                (kind, [output]) => vec![self.op(kind.clone(), inputs, *output)?],
                (_, outputs) => return Err(Fault::Count { expected: 1, found: outputs.len() }),
            };
            self.bind(&op.outputs, &results);
        }
        self.all(&block.yields)
    }

    fn run(&mut self, around: &Loop<'a>, op: &Operation<'a>, wholes: Vec<ValueId>, outputs: &[ValueId]) -> Result<Vec<ValueId>, Fault> {
        let (count, body) = (around.count, &around.body);
        let carried = |ids: &[ValueId], dims: &[Option<usize>]| {
            ids.iter().zip(dims).filter(|(_, dim)| dim.is_none()).map(|(id, _)| *id).collect::<Vec<_>>()
        };
        let mut results = outputs.iter().map(|output| self.op(Kind::Empty, Vec::new(), *output)).collect::<Result<Vec<_>, _>>()?;
        let mut state = carried(&wholes, &around.read);
        for iteration in 0..count {
            let mut states = state.into_iter();
            let operands = op.inputs.iter().zip(&wholes).zip(body.arguments.iter().zip(&around.read));
            for ((input, whole), (argument, dim)) in operands {
                let value = match dim {
                    Some(dim) => {
                        let start = start_of(&self.tensors[*input].shape, *dim, count, iteration)?;
                        self.op(Kind::View(tile(self.tensors[*input].shape.len(), *dim, start)), vec![*whole], *argument)?
                    }
                    None => states.next().ok_or(Fault::Gone)?,
                };
                self.ids[*argument] = Some(value);
            }
            let yields = self.block(body)?;
            state = carried(&yields, &around.given);
            for (((result, output), dim), part) in results.iter_mut().zip(outputs).zip(&around.given).zip(yields) {
                *result = match dim {
                    Some(dim) => {
                        let shape = &self.tensors[*output].shape;
                        let mut offsets = vec![0; shape.len()];
                        offsets[*dim] = start_of(shape, *dim, count, iteration)?;
                        self.op(Kind::Insert { offsets }, vec![part, *result], *output)?
                    }
                    None => part,
                };
            }
        }
        Ok(results)
    }
}

/// Returns the start of tile `iteration` of `count` along a dimension.
fn start_of(shape: &[usize], dim: usize, count: usize, iteration: usize) -> Result<usize, Fault> {
    let size = shape.get(dim).filter(|size| **size % count == 0).ok_or_else(|| Fault::Outside { shape: shape.to_vec() })?;
    Ok(size / count * iteration)
}

/// Returns the view of a tensor that begins at `start` along a dimension.
fn tile(rank: usize, dim: usize, start: usize) -> Vec<Expr> {
    let along = |at: usize| match at == dim {
        true => Expr::Add(Box::new(Expr::Dim(at)), Box::new(Expr::Constant(start as i64))),
        false => Expr::Dim(at),
    };
    (0..rank).map(along).collect()
}
