//! Evaluates the ops of a function over any kind of elements.
//!
//! Every tensor is materialized, and every op returns a new one; device layouts, places and cores are ignored. Loops and scopes run
//! sequentially as written. The time is linear in the elements that ops visit.

use super::{
    Fault,
    array::Array,
    program::{Block, Function, Kind, Literal, Loop, Operation, Tensor, ValueId},
    walk::{Row, Walk, strides},
};
use element::{Arithmetic, Binary, Reduction, Unary};
use machine::is_conversion;
use rayon::prelude::*;
use std::{borrow::Cow, sync::Arc};

/// Number of elements per parallel task.
const CHUNK: usize = 4096;

/// Approximate number of multiply-adds per parallel task, and its least number of rows: each task converts the right operand.
const PRODUCT_CHUNK: usize = 1 << 20;
const MIN_PRODUCT_ROWS: usize = 16;

/// Evaluates a function on arguments and returns its results.
///
/// # Errors
/// The reason why an op cannot be evaluated: see [`Fault`].
pub fn evaluate<A: Arithmetic>(
    function: &Function<'_>,
    arguments: Vec<Array<A::Element>>,
    arithmetic: &A,
) -> Result<Vec<Array<A::Element>>, Fault> {
    let mut evaluator = Evaluator { arithmetic, tensors: &function.values, values: vec![None; function.values.len()] };
    evaluator.bind(&function.body.arguments, arguments)?;
    evaluator.block(&function.body)?;
    evaluator.all(&function.body.yields)
}

struct Evaluator<'a, A: Arithmetic> {
    arithmetic: &'a A,
    tensors: &'a [Tensor],
    values: Vec<Option<Array<A::Element>>>,
}

impl<A: Arithmetic> Evaluator<'_, A> {
    fn bind(&mut self, ids: &[ValueId], arrays: Vec<Array<A::Element>>) -> Result<(), Fault> {
        if ids.len() != arrays.len() {
            return Err(Fault::Count { expected: ids.len(), found: arrays.len() });
        }
        for (id, array) in ids.iter().zip(arrays) {
            let tensor = &self.tensors[*id];
            // Integers may also be used as numbers.
            let is_fit = tensor.element.is_integer() || matches!(array, Array::Numbers(_));
            if array.length() != tensor.length() || !is_fit {
                return Err(Fault::Outside { shape: tensor.shape.clone() });
            }
            self.values[*id] = Some(array);
        }
        Ok(())
    }

    fn value(&self, id: ValueId) -> Result<Array<A::Element>, Fault> {
        self.values[id].clone().ok_or(Fault::Gone)
    }

    fn all(&self, ids: &[ValueId]) -> Result<Vec<Array<A::Element>>, Fault> {
        ids.iter().map(|id| self.value(*id)).collect()
    }

    fn numbers(&self, id: ValueId) -> Result<Arc<Vec<A::Element>>, Fault> {
        match self.value(id)? {
            Array::Numbers(elements) => Ok(elements),
            Array::Positions(_) => Err(Fault::Mixed),
        }
    }

    fn shape(&self, id: ValueId) -> &[usize] {
        &self.tensors[id].shape
    }

    fn block(&mut self, block: &Block<'_>) -> Result<(), Fault> {
        let deaths = deaths(block, self.tensors.len());
        self.block_with(block, &deaths)
    }

    fn block_with(&mut self, block: &Block<'_>, deaths: &[Vec<ValueId>]) -> Result<(), Fault> {
        for (op, dying) in block.ops.iter().zip(deaths) {
            let results = self.operation(op, dying)?;
            dying.iter().for_each(|id| self.values[*id] = None);
            self.bind(&op.outputs, results)?;
        }
        Ok(())
    }

    fn operation(&mut self, op: &Operation<'_>, dying: &[ValueId]) -> Result<Vec<Array<A::Element>>, Fault> {
        let output = op.outputs.first().map_or(&[][..], |output| self.shape(*output));
        let one = |array| Ok(vec![array]);
        match (&op.kind, op.inputs.as_slice(), op.outputs.as_slice()) {
            (Kind::Constant(literal), [], [of]) => one(self.constant(literal, &self.tensors[*of])),
            (Kind::Fill(number), [], [of]) => one(self.fill(*number, &self.tensors[*of])),
            (Kind::Pointwise { function, constants }, inputs, [of]) => {
                one(Array::numbers(self.pointwise(function, constants, inputs, *of)?))
            }
            (Kind::Reduce { function, constants, dims }, [input], [of]) => {
                one(Array::numbers(self.reduce(function, constants, *input, dims, *of)?))
            }
            (Kind::Matmul, [left, right], [_]) => one(Array::numbers(self.matmul(*left, *right)?)),
            (Kind::Gather { dim }, [table, index], [_]) => one(self.gather(*table, *index, *dim)?),
            (Kind::Copy, [input], [_]) => one(self.value(*input)?),
            (Kind::Empty, [], [of]) => one(Array::unwritten(&self.tensors[*of], self.arithmetic.poison())),
            (Kind::Insert { offsets }, [part, whole], [_]) => {
                let window = Walk::window(self.shape(*whole), offsets, self.shape(*part))?;
                let part = self.value(*part)?;
                // A buffer without other uses is updated in place, so that many inserts cost no more than their elements.
                let taken = if dying.contains(whole) { self.values[*whole].take() } else { None };
                let mut array = taken.map_or_else(|| self.value(*whole), Ok)?;
                array.put(&window, &part)?;
                one(array)
            }
            (Kind::View(map), [input], [of]) => {
                let walk = Walk::view(self.shape(*input), map, output)?;
                one(self.shown(self.value(*input)?.visited(&walk), *of))
            }
            (Kind::Pick(walk), [input], [of]) => one(self.shown(self.value(*input)?.visited(walk), *of)),
            (Kind::Scope(body), _, _) => {
                self.block(body)?;
                self.all(&body.yields)
            }
            (Kind::Loop(around), inputs, outputs) => self.run(around, inputs, outputs),
            (_, inputs, _) => Err(Fault::Count { expected: 1, found: inputs.len() }),
        }
    }

    /// Positions are converted to numbers where a view reinterprets them.
    #[expect(clippy::cast_precision_loss, reason = "integers that ops compute with are small")]
    fn shown(&self, array: Array<A::Element>, of: ValueId) -> Array<A::Element> {
        match &array {
            Array::Positions(positions) if !self.tensors[of].element.is_integer() => {
                let number = |position: &Option<i64>| match position {
                    Some(position) => self.arithmetic.number(*position as f64),
                    None => self.arithmetic.poison(),
                };
                Array::numbers(positions.iter().map(number).collect())
            }
            Array::Positions(_) | Array::Numbers(_) => array,
        }
    }

    fn constant(&self, literal: &Literal<'_>, of: &Tensor) -> Array<A::Element> {
        let length = of.length();
        if of.element.is_integer() {
            return Array::positions((0..length).map(|index| literal.integer(index)));
        }
        if literal.is_splat {
            return self.fill(literal.number(0, length), of);
        }
        Array::numbers((0..length).into_par_iter().map(|index| self.arithmetic.number(literal.number(index, length))).collect())
    }

    #[expect(clippy::cast_possible_truncation, reason = "the number that fills a tensor of integers is an integer")]
    fn fill(&self, number: f64, of: &Tensor) -> Array<A::Element> {
        if of.element.is_integer() {
            return Array::positions(std::iter::repeat_n(number as i64, of.length()));
        }
        Array::numbers(vec![self.arithmetic.number(number); of.length()])
    }

    fn pointwise(&self, name: &str, constants: &[f64], inputs: &[ValueId], of: ValueId) -> Result<Vec<A::Element>, Fault> {
        let tensor = &self.tensors[of];
        let arithmetic = self.arithmetic;
        let operands: Vec<Arc<Vec<A::Element>>> = inputs.iter().map(|input| self.numbers(*input)).collect::<Result<_, _>>()?;
        let mut wide = Vec::with_capacity(operands.len());
        for (input, operand) in inputs.iter().zip(&operands) {
            wide.push(self.repeated(operand, self.shape(*input), &tensor.shape)?);
        }
        let constants: Vec<A::Element> = constants.iter().map(|constant| arithmetic.number(*constant)).collect();
        match wide.as_slice() {
            // A conversion between formats.
            [x] if is_conversion(name) => Ok(x.to_vec()),
            [x] => {
                let function = Unary::of(name).ok_or_else(|| Fault::unknown(name))?;
                let mut out = x.to_vec();
                out.par_chunks_mut(CHUNK).for_each(|out| arithmetic.unary(function, &constants, out));
                Ok(out)
            }
            [left, right] => {
                let function = Binary::of(name).ok_or_else(|| Fault::unknown(name))?;
                let mut out = left.to_vec();
                out.par_chunks_mut(CHUNK).zip(right.par_chunks(CHUNK)).for_each(|(out, right)| arithmetic.binary(function, out, right));
                Ok(out)
            }
            [condition, yes, no] if name == "where3" => {
                let both = yes.par_iter().zip(no.par_iter());
                Ok(condition.par_iter().zip(both).map(|(condition, (yes, no))| arithmetic.select(*condition, *yes, *no)).collect())
            }
            _ => Err(Fault::unknown(name)),
        }
    }

    /// Returns an operand with its dimensions of size 1 broadcast.
    fn repeated<'e>(&self, elements: &'e [A::Element], shape: &[usize], to: &[usize]) -> Result<Cow<'e, [A::Element]>, Fault> {
        if shape == to {
            return Ok(Cow::Borrowed(elements));
        }
        let walk = Walk::repeating(shape, to)?;
        let mut wide = Vec::with_capacity(to.iter().product());
        walk.each_row(|row, start| match row {
            Row::Straight(length) => wide.extend_from_slice(&elements[start..start + length]),
            Row::Places(places) => wide.extend(places.iter().map(|place| elements[start + place])),
        });
        Ok(Cow::Owned(wide))
    }

    fn reduce(&self, name: &str, constants: &[f64], input: ValueId, dims: &[usize], of: ValueId) -> Result<Vec<A::Element>, Fault> {
        let reduction = Reduction::of(name).ok_or_else(|| Fault::unknown(name))?;
        let (elements, shape, tensor) = (self.numbers(input)?, self.shape(input), &self.tensors[of]);
        let mut out = vec![self.arithmetic.identity(reduction); tensor.length()];
        // Destination of each element: reduced dimensions have stride 0.
        let (own, mut next) = (strides(&tensor.shape), elements.iter());
        let table = |dim: usize| (0..shape[dim]).map(|position| if dims.contains(&dim) { 0 } else { position * own[dim] }).collect();
        Walk::Sums((0..shape.len()).map(table).collect()).each_row(|row, start| match row {
            Row::Straight(length) => {
                out[start..start + length].iter_mut().zip(&mut next).for_each(|(sum, element)| {
                    *sum = self.arithmetic.fold(reduction, *sum, *element);
                });
            }
            Row::Places(places) => places.iter().zip(&mut next).for_each(|(place, element)| {
                let sum = &mut out[start + place];
                *sum = self.arithmetic.fold(reduction, *sum, *element);
            }),
        });
        if let (Reduction::Mean, Some(factor)) = (reduction, constants.first()) {
            let factor = self.arithmetic.number(*factor);
            out.iter_mut().for_each(|sum| *sum = self.arithmetic.mul(*sum, factor));
        }
        Ok(out)
    }

    fn matmul(&self, left: ValueId, right: ValueId) -> Result<Vec<A::Element>, Fault> {
        let (&[.., m, k], &[.., rows, n]) = (self.shape(left), self.shape(right)) else { return Err(Fault::Mixed) };
        let batch: usize = self.shape(left)[..self.shape(left).len() - 2].iter().product();
        if rows != k || self.tensors[right].length() != batch * k * n {
            return Err(Fault::Outside { shape: self.shape(right).to_vec() });
        }
        let (left, right) = (self.numbers(left)?, self.numbers(right)?);
        let mut out = vec![self.arithmetic.number(0.0); batch * m * n];
        if out.is_empty() || k == 0 {
            return Ok(out);
        }
        let rows = (PRODUCT_CHUNK / (k * n)).max(MIN_PRODUCT_ROWS).min(m);
        let of_batches = out.par_chunks_mut(m * n).zip(left.par_chunks(m * k).zip(right.par_chunks(k * n)));
        of_batches.for_each(|(out, (left, right))| {
            let of_rows = out.par_chunks_mut(rows * n).zip(left.par_chunks(rows * k));
            of_rows.for_each(|(out, left)| self.arithmetic.multiply(left, right, out, k, n));
        });
        Ok(out)
    }

    fn gather(&self, table: ValueId, index: ValueId, dim: usize) -> Result<Array<A::Element>, Fault> {
        let shape = self.shape(table);
        let size = *shape.get(dim).ok_or(Fault::Mixed)?;
        let Array::Positions(indices) = self.value(index)? else { return Err(Fault::Mixed) };
        let position = |index: &Option<i64>| match index {
            Some(index) => usize::try_from(*index).ok().filter(|index| *index < size).ok_or(Fault::Index { index: *index, size }),
            None => Err(Fault::UnwrittenIndex),
        };
        let indices = indices.iter().map(position).collect::<Result<Vec<_>, _>>()?;
        let strides = strides(shape);
        let mut tables = vec![indices.iter().map(|index| index * strides[dim]).collect::<Vec<usize>>()];
        tables
            .extend((0..shape.len()).filter(|other| *other != dim).map(|other| (0..shape[other]).map(|at| at * strides[other]).collect()));
        Ok(self.value(table)?.visited(&Walk::Sums(tables)))
    }

    fn run(&mut self, around: &Loop<'_>, inputs: &[ValueId], outputs: &[ValueId]) -> Result<Vec<Array<A::Element>>, Fault> {
        let (count, body) = (around.count, &around.body);
        let deaths = deaths(body, self.tensors.len());
        let wholes = self.all(inputs)?;
        let mut results: Vec<_> = outputs.iter().map(|id| Array::unwritten(&self.tensors[*id], self.arithmetic.poison())).collect();
        let carried =
            |read: &[Option<usize>]| read.iter().enumerate().filter(|(_, dim)| dim.is_none()).map(|(at, _)| at).collect::<Vec<_>>();
        let mut state: Vec<Array<A::Element>> = carried(&around.read).into_iter().map(|at| wholes[at].clone()).collect();
        for iteration in 0..count {
            let mut states = state.drain(..);
            let mut arguments = Vec::with_capacity(inputs.len());
            for ((input, whole), dim) in inputs.iter().zip(&wholes).zip(&around.read) {
                arguments.push(match dim {
                    Some(dim) => whole.visited(&tile(self.shape(*input), *dim, count, iteration)?),
                    None => states.next().ok_or(Fault::Gone)?,
                });
            }
            drop(states);
            self.bind(&body.arguments, arguments)?;
            self.block_with(body, &deaths)?;
            let yields = self.all(&body.yields)?;
            state.extend(carried(&around.given).into_iter().map(|at| yields[at].clone()));
            for (((result, id), dim), part) in results.iter_mut().zip(outputs).zip(&around.given).zip(&yields) {
                match dim {
                    Some(dim) => result.put(&tile(&self.tensors[*id].shape, *dim, count, iteration)?, part)?,
                    None => *result = part.clone(),
                }
            }
        }
        Ok(results)
    }
}

/// Returns the walk over tile `iteration` of `count` along a dimension.
fn tile(shape: &[usize], dim: usize, count: usize, iteration: usize) -> Result<Walk, Fault> {
    let mut sizes = shape.to_vec();
    let size = sizes.get_mut(dim).filter(|size| **size % count == 0).ok_or_else(|| Fault::Outside { shape: shape.to_vec() })?;
    *size /= count;
    let mut offsets = vec![0; shape.len()];
    offsets[dim] = *size * iteration;
    Walk::window(shape, &offsets, &sizes)
}

/// Returns, for each op of a block, the values of the block that are dead after it.
fn deaths(block: &Block<'_>, n_values: usize) -> Vec<Vec<ValueId>> {
    let mut last = vec![None; n_values];
    for (at, op) in block.ops.iter().enumerate() {
        op.outputs.iter().for_each(|id| last[*id] = Some(at));
        note_reads(op, &mut |id| last[id] = Some(at));
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

fn note_reads(op: &Operation<'_>, note: &mut impl FnMut(ValueId)) {
    op.inputs.iter().for_each(|id| note(*id));
    let body = match &op.kind {
        Kind::Scope(body) => body,
        Kind::Loop(around) => &around.body,
        _ => return,
    };
    body.ops.iter().for_each(|op| note_reads(op, &mut *note));
    body.yields.iter().for_each(|id| note(*id));
}

#[cfg(test)]
mod tests;
