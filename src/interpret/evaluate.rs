//! Evaluates the ops of a function over any kind of elements.
//!
//! Every tensor is materialized, and every op returns a new one; device layouts, memories and cores are ignored. Loops
//! and scopes run sequentially as written. The time is linear in the elements that ops visit.

use super::{
    EvaluationError,
    array::EvalArray,
    eval_program::{ConstantLiteral, EvalBlock, EvalFunction, EvalLoop, EvalOp, EvalOpKind, EvalTensor, ValueId},
    positions::{PositionRun, PositionSequence, compute_strides},
};
use element::{Arithmetic, BinaryFunction, Reduction, UnaryFunction};
use machine::is_conversion;
use rayon::prelude::*;
use std::{borrow::Cow, sync::Arc};

/// Number of elements per parallel task.
const CHUNK_ELEMENTS: usize = 4096;

/// Approximate number of multiply-adds per parallel task, and its minimum number of rows: each task converts the right
/// operand.
const MATMUL_CHUNK_OPERATIONS: usize = 1 << 20;
const MIN_MATMUL_ROWS: usize = 16;

/// Evaluates a function on arguments and returns its results.
///
/// # Errors
/// The reason why an op cannot be evaluated: see [`EvaluationError`].
pub fn evaluate_function<A: Arithmetic>(
    function: &EvalFunction<'_>,
    arguments: Vec<EvalArray<A::Element>>,
    arithmetic: &A,
) -> Result<Vec<EvalArray<A::Element>>, EvaluationError> {
    let mut evaluator = Evaluator { arithmetic, tensors: &function.values, values: vec![None; function.values.len()] };
    evaluator.bind(&function.body.arguments, arguments)?;
    evaluator.run_block(&function.body)?;
    evaluator.read_values(&function.body.yields)
}

struct Evaluator<'a, A: Arithmetic> {
    arithmetic: &'a A,
    tensors: &'a [EvalTensor],
    values: Vec<Option<EvalArray<A::Element>>>,
}

impl<A: Arithmetic> Evaluator<'_, A> {
    fn bind(&mut self, ids: &[ValueId], arrays: Vec<EvalArray<A::Element>>) -> Result<(), EvaluationError> {
        if ids.len() != arrays.len() {
            return Err(EvaluationError::Count { expected: ids.len(), found: arrays.len() });
        }
        for (id, array) in ids.iter().zip(arrays) {
            let tensor = &self.tensors[*id];
            // Integers may also be used as numbers.
            let is_fit = tensor.element.is_integer() || matches!(array, EvalArray::Numbers(_));
            if array.length() != tensor.length() || !is_fit {
                return Err(EvaluationError::OutOfBounds { shape: tensor.shape.clone() });
            }
            self.values[*id] = Some(array);
        }
        Ok(())
    }

    fn read_value(&self, id: ValueId) -> Result<EvalArray<A::Element>, EvaluationError> {
        self.values[id].clone().ok_or(EvaluationError::UndefinedValue)
    }

    fn read_values(&self, ids: &[ValueId]) -> Result<Vec<EvalArray<A::Element>>, EvaluationError> {
        ids.iter().map(|id| self.read_value(*id)).collect()
    }

    fn read_numbers(&self, id: ValueId) -> Result<Arc<Vec<A::Element>>, EvaluationError> {
        match self.read_value(id)? {
            EvalArray::Numbers(elements) => Ok(elements),
            EvalArray::Positions(_) => Err(EvaluationError::KindMismatch),
        }
    }

    fn shape(&self, id: ValueId) -> &[usize] {
        &self.tensors[id].shape
    }

    fn run_block(&mut self, block: &EvalBlock<'_>) -> Result<(), EvaluationError> {
        let deaths = compute_last_uses(block, self.tensors.len());
        self.run_ops(block, &deaths)
    }

    fn run_ops(&mut self, block: &EvalBlock<'_>, deaths: &[Vec<ValueId>]) -> Result<(), EvaluationError> {
        for (op, dying) in block.ops.iter().zip(deaths) {
            let results = self.run_op(op, dying)?;
            dying.iter().for_each(|id| self.values[*id] = None);
            self.bind(&op.outputs, results)?;
        }
        Ok(())
    }

    fn run_op(&mut self, op: &EvalOp<'_>, dying: &[ValueId]) -> Result<Vec<EvalArray<A::Element>>, EvaluationError> {
        let output = op.outputs.first().map_or(&[][..], |output| self.shape(*output));
        let one = |array| Ok(vec![array]);
        match (&op.kind, op.inputs.as_slice(), op.outputs.as_slice()) {
            (EvalOpKind::Constant(literal), [], [of]) => one(self.eval_constant(literal, &self.tensors[*of])),
            (EvalOpKind::Fill(number), [], [of]) => one(self.eval_fill(*number, &self.tensors[*of])),
            (EvalOpKind::Pointwise { function, constants }, inputs, [of]) => {
                one(EvalArray::numbers(self.eval_pointwise(function, constants, inputs, *of)?))
            }
            (EvalOpKind::Reduce { function, constants, dims }, [input], [of]) => {
                one(EvalArray::numbers(self.eval_reduce(function, constants, *input, dims, *of)?))
            }
            (EvalOpKind::Matmul, [left, right], [_]) => one(EvalArray::numbers(self.eval_matmul(*left, *right)?)),
            (EvalOpKind::Gather { dim }, [table, index], [_]) => one(self.eval_gather(*table, *index, *dim)?),
            (EvalOpKind::Copy, [input], [_]) => one(self.read_value(*input)?),
            (EvalOpKind::Empty, [], [of]) => {
                one(EvalArray::new_unwritten(&self.tensors[*of], self.arithmetic.poison()))
            }
            (EvalOpKind::Insert { offsets }, [part, whole], [_]) => {
                let window = PositionSequence::window(self.shape(*whole), offsets, self.shape(*part))?;
                let part = self.read_value(*part)?;
                // A buffer without other uses is updated in place, so that many inserts cost no more than their
                // elements.
                let taken = if dying.contains(whole) { self.values[*whole].take() } else { None };
                let mut array = taken.map_or_else(|| self.read_value(*whole), Ok)?;
                array.scatter(&window, &part)?;
                one(array)
            }
            (EvalOpKind::View(map), [input], [of]) => {
                let walk = PositionSequence::view(self.shape(*input), map, output)?;
                one(self.reinterpret_positions(self.read_value(*input)?.gather(&walk), *of))
            }
            (EvalOpKind::Pick(walk), [input], [of]) => {
                one(self.reinterpret_positions(self.read_value(*input)?.gather(walk), *of))
            }
            (EvalOpKind::Scope(body), _, _) => {
                self.run_block(body)?;
                self.read_values(&body.yields)
            }
            (EvalOpKind::Loop(around), inputs, outputs) => self.run_loop(around, inputs, outputs),
            (_, inputs, _) => Err(EvaluationError::Count { expected: 1, found: inputs.len() }),
        }
    }

    /// Positions are converted to numbers where a view reinterprets them.
    #[expect(clippy::cast_precision_loss, reason = "integers that ops compute with are small")]
    fn reinterpret_positions(&self, array: EvalArray<A::Element>, of: ValueId) -> EvalArray<A::Element> {
        match &array {
            EvalArray::Positions(positions) if !self.tensors[of].element.is_integer() => {
                let number = |position: &Option<i64>| match position {
                    Some(position) => self.arithmetic.constant(*position as f64),
                    None => self.arithmetic.poison(),
                };
                EvalArray::numbers(positions.iter().map(number).collect())
            }
            EvalArray::Positions(_) | EvalArray::Numbers(_) => array,
        }
    }

    fn eval_constant(&self, literal: &ConstantLiteral<'_>, of: &EvalTensor) -> EvalArray<A::Element> {
        let length = of.length();
        if of.element.is_integer() {
            return EvalArray::positions((0..length).map(|index| literal.read_integer(index)));
        }
        if literal.is_splat {
            return self.eval_fill(literal.read_f64(0, length), of);
        }
        EvalArray::numbers(
            (0..length)
                .into_par_iter()
                .map(|index| self.arithmetic.constant(literal.read_f64(index, length)))
                .collect(),
        )
    }

    #[expect(clippy::cast_possible_truncation, reason = "the number that fills a tensor of integers is an integer")]
    fn eval_fill(&self, number: f64, of: &EvalTensor) -> EvalArray<A::Element> {
        if of.element.is_integer() {
            return EvalArray::positions(std::iter::repeat_n(number as i64, of.length()));
        }
        EvalArray::numbers(vec![self.arithmetic.constant(number); of.length()])
    }

    fn eval_pointwise(
        &self,
        name: &str,
        constants: &[f64],
        inputs: &[ValueId],
        of: ValueId,
    ) -> Result<Vec<A::Element>, EvaluationError> {
        let tensor = &self.tensors[of];
        let arithmetic = self.arithmetic;
        let operands: Vec<Arc<Vec<A::Element>>> =
            inputs.iter().map(|input| self.read_numbers(*input)).collect::<Result<_, _>>()?;
        let mut wide = Vec::with_capacity(operands.len());
        for (input, operand) in inputs.iter().zip(&operands) {
            wide.push(self.broadcast(operand, self.shape(*input), &tensor.shape)?);
        }
        let constants: Vec<A::Element> = constants.iter().map(|constant| arithmetic.constant(*constant)).collect();
        match wide.as_slice() {
            // A conversion between formats.
            [x] if is_conversion(name) => Ok(x.to_vec()),
            [x] => {
                let function = UnaryFunction::from_name(name).ok_or_else(|| EvaluationError::unknown_function(name))?;
                let mut out = x.to_vec();
                out.par_chunks_mut(CHUNK_ELEMENTS).for_each(|out| arithmetic.apply_unary(function, &constants, out));
                Ok(out)
            }
            [left, right] => {
                let function =
                    BinaryFunction::from_name(name).ok_or_else(|| EvaluationError::unknown_function(name))?;
                let mut out = left.to_vec();
                out.par_chunks_mut(CHUNK_ELEMENTS)
                    .zip(right.par_chunks(CHUNK_ELEMENTS))
                    .for_each(|(out, right)| arithmetic.apply_binary(function, out, right));
                Ok(out)
            }
            [condition, yes, no] if name == "where3" => {
                let both = yes.par_iter().zip(no.par_iter());
                Ok(condition
                    .par_iter()
                    .zip(both)
                    .map(|(condition, (yes, no))| arithmetic.select(*condition, *yes, *no))
                    .collect())
            }
            _ => Err(EvaluationError::unknown_function(name)),
        }
    }

    /// Returns an operand with its dimensions of size 1 broadcast.
    fn broadcast<'e>(
        &self,
        elements: &'e [A::Element],
        shape: &[usize],
        to: &[usize],
    ) -> Result<Cow<'e, [A::Element]>, EvaluationError> {
        if shape == to {
            return Ok(Cow::Borrowed(elements));
        }
        let walk = PositionSequence::broadcast(shape, to)?;
        let mut wide = Vec::with_capacity(to.iter().product());
        walk.for_each_run(|row, start| match row {
            PositionRun::Contiguous(length) => wide.extend_from_slice(&elements[start..start + length]),
            PositionRun::Offsets(places) => wide.extend(places.iter().map(|place| elements[start + place])),
        });
        Ok(Cow::Owned(wide))
    }

    fn eval_reduce(
        &self,
        name: &str,
        constants: &[f64],
        input: ValueId,
        dims: &[usize],
        of: ValueId,
    ) -> Result<Vec<A::Element>, EvaluationError> {
        let reduction = Reduction::from_name(name).ok_or_else(|| EvaluationError::unknown_function(name))?;
        let (elements, shape, tensor) = (self.read_numbers(input)?, self.shape(input), &self.tensors[of]);
        let mut out = vec![self.arithmetic.identity(reduction); tensor.length()];
        // Destination of each element: reduced dimensions have stride 0.
        let (own, mut next) = (compute_strides(&tensor.shape), elements.iter());
        let table = |dim: usize| {
            (0..shape[dim]).map(|position| if dims.contains(&dim) { 0 } else { position * own[dim] }).collect()
        };
        PositionSequence::Sums((0..shape.len()).map(table).collect()).for_each_run(|row, start| match row {
            PositionRun::Contiguous(length) => {
                out[start..start + length].iter_mut().zip(&mut next).for_each(|(sum, element)| {
                    *sum = self.arithmetic.fold(reduction, *sum, *element);
                });
            }
            PositionRun::Offsets(places) => places.iter().zip(&mut next).for_each(|(place, element)| {
                let sum = &mut out[start + place];
                *sum = self.arithmetic.fold(reduction, *sum, *element);
            }),
        });
        if let (Reduction::Mean, Some(factor)) = (reduction, constants.first()) {
            let factor = self.arithmetic.constant(*factor);
            out.iter_mut().for_each(|sum| *sum = self.arithmetic.mul(*sum, factor));
        }
        Ok(out)
    }

    fn eval_matmul(&self, left: ValueId, right: ValueId) -> Result<Vec<A::Element>, EvaluationError> {
        let (&[.., m, k], &[.., rows, n]) = (self.shape(left), self.shape(right)) else {
            return Err(EvaluationError::KindMismatch);
        };
        let batch: usize = self.shape(left)[..self.shape(left).len() - 2].iter().product();
        if rows != k || self.tensors[right].length() != batch * k * n {
            return Err(EvaluationError::OutOfBounds { shape: self.shape(right).to_vec() });
        }
        let (left, right) = (self.read_numbers(left)?, self.read_numbers(right)?);
        let mut out = vec![self.arithmetic.constant(0.0); batch * m * n];
        if out.is_empty() || k == 0 {
            return Ok(out);
        }
        let rows = (MATMUL_CHUNK_OPERATIONS / (k * n)).max(MIN_MATMUL_ROWS).min(m);
        let of_batches = out.par_chunks_mut(m * n).zip(left.par_chunks(m * k).zip(right.par_chunks(k * n)));
        of_batches.for_each(|(out, (left, right))| {
            let of_rows = out.par_chunks_mut(rows * n).zip(left.par_chunks(rows * k));
            of_rows.for_each(|(out, left)| self.arithmetic.multiply(left, right, out, k, n));
        });
        Ok(out)
    }

    fn eval_gather(
        &self,
        table: ValueId,
        index: ValueId,
        dim: usize,
    ) -> Result<EvalArray<A::Element>, EvaluationError> {
        let shape = self.shape(table);
        let size = *shape.get(dim).ok_or(EvaluationError::KindMismatch)?;
        let EvalArray::Positions(indices) = self.read_value(index)? else { return Err(EvaluationError::KindMismatch) };
        let position = |index: &Option<i64>| match index {
            Some(index) => usize::try_from(*index)
                .ok()
                .filter(|index| *index < size)
                .ok_or(EvaluationError::Index { index: *index, size }),
            None => Err(EvaluationError::UnwrittenIndex),
        };
        let indices = indices.iter().map(position).collect::<Result<Vec<_>, _>>()?;
        let strides = compute_strides(shape);
        let mut tables = vec![indices.iter().map(|index| index * strides[dim]).collect::<Vec<usize>>()];
        tables.extend(
            (0..shape.len())
                .filter(|other| *other != dim)
                .map(|other| (0..shape[other]).map(|at| at * strides[other]).collect()),
        );
        Ok(self.read_value(table)?.gather(&PositionSequence::Sums(tables)))
    }

    fn run_loop(
        &mut self,
        around: &EvalLoop<'_>,
        inputs: &[ValueId],
        outputs: &[ValueId],
    ) -> Result<Vec<EvalArray<A::Element>>, EvaluationError> {
        let (count, body) = (around.count, &around.body);
        let deaths = compute_last_uses(body, self.tensors.len());
        let wholes = self.read_values(inputs)?;
        let mut results: Vec<_> =
            outputs.iter().map(|id| EvalArray::new_unwritten(&self.tensors[*id], self.arithmetic.poison())).collect();
        let carried = |read: &[Option<usize>]| {
            read.iter().enumerate().filter(|(_, dim)| dim.is_none()).map(|(at, _)| at).collect::<Vec<_>>()
        };
        let mut state: Vec<EvalArray<A::Element>> =
            carried(&around.read).into_iter().map(|at| wholes[at].clone()).collect();
        for iteration in 0..count {
            let mut states = state.drain(..);
            let mut arguments = Vec::with_capacity(inputs.len());
            for ((input, whole), dim) in inputs.iter().zip(&wholes).zip(&around.read) {
                arguments.push(match dim {
                    Some(dim) => whole.gather(&tile_positions(self.shape(*input), *dim, count, iteration)?),
                    None => states.next().ok_or(EvaluationError::UndefinedValue)?,
                });
            }
            drop(states);
            self.bind(&body.arguments, arguments)?;
            self.run_ops(body, &deaths)?;
            let yields = self.read_values(&body.yields)?;
            state.extend(carried(&around.given).into_iter().map(|at| yields[at].clone()));
            for (((result, id), dim), part) in results.iter_mut().zip(outputs).zip(&around.given).zip(&yields) {
                match dim {
                    Some(dim) => {
                        result.scatter(&tile_positions(&self.tensors[*id].shape, *dim, count, iteration)?, part)?
                    }
                    None => *result = part.clone(),
                }
            }
        }
        Ok(results)
    }
}

/// Returns the walk over tile `iteration` of `count` along a dimension.
fn tile_positions(
    shape: &[usize],
    dim: usize,
    count: usize,
    iteration: usize,
) -> Result<PositionSequence, EvaluationError> {
    let mut sizes = shape.to_vec();
    let size = sizes
        .get_mut(dim)
        .filter(|size| **size % count == 0)
        .ok_or_else(|| EvaluationError::OutOfBounds { shape: shape.to_vec() })?;
    *size /= count;
    let mut offsets = vec![0; shape.len()];
    offsets[dim] = *size * iteration;
    PositionSequence::window(shape, &offsets, &sizes)
}

/// Returns, for each op of a block, the values of the block that are dead after it.
fn compute_last_uses(block: &EvalBlock<'_>, num_values: usize) -> Vec<Vec<ValueId>> {
    let mut last = vec![None; num_values];
    for (at, op) in block.ops.iter().enumerate() {
        op.outputs.iter().for_each(|id| last[*id] = Some(at));
        visit_reads(op, &mut |id| last[id] = Some(at));
    }
    block.yields.iter().for_each(|id| last[*id] = None);
    let mut deaths = vec![Vec::new(); block.ops.len()];
    let made = block.arguments.iter().chain(block.ops.iter().flat_map(|op| &op.outputs));
    for id in made {
        if let Some(at) = last[*id] {
            let of: &mut Vec<ValueId> = &mut deaths[at];
            // A result without uses dies when its op ends.
            if !block.ops[at].outputs.contains(id) {
                of.push(*id);
            }
        }
    }
    deaths
}

fn visit_reads(op: &EvalOp<'_>, note: &mut impl FnMut(ValueId)) {
    op.inputs.iter().for_each(|id| note(*id));
    let body = match &op.kind {
        EvalOpKind::Scope(body) => body,
        EvalOpKind::Loop(around) => &around.body,
        _ => return,
    };
    body.ops.iter().for_each(|op| visit_reads(op, &mut *note));
    body.yields.iter().for_each(|id| note(*id));
}

#[cfg(test)]
mod tests;
