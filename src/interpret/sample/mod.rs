//! Extracts the slice of a function on which some elements of its results depend, as a function of its own.
//!
//! Loops are unrolled. A backward pass computes the required elements of each value as [`ElementSelection`]s, which may
//! overapproximate but never omit an element. Each op is then rewritten to tensors of the required elements only.
//! [`EvalFunction::count_operations`] returns the cost of the extracted function before any evaluation.

mod dependences;

use super::{
    EvaluationError,
    eval_program::{EvalBlock, EvalFunction, EvalOp, EvalOpKind, EvalTensor, ValueId},
    positions::{PositionSequence, compute_strides},
    selection::ElementSelection,
};
use dependences::compute_dependences;
use program::affine::AffineExpression;
use std::sync::Arc;

/// Slice of a function on which some elements of its results depend.
#[derive(Clone, Debug, PartialEq)]
pub struct FunctionSample<'a> {
    /// Computes the requested elements and only their dependences.
    pub function: EvalFunction<'a>,
    /// Elements of the function's arguments that it reads.
    pub arguments: Vec<ElementSelection>,
}

impl<'a> EvalFunction<'a> {
    /// Returns the slice of this function on which elements of its results depend.
    ///
    /// # Errors
    /// If unrolling yields too many ops, or ops do not fit their tensors.
    pub fn extract_sample(&self, results: &[ElementSelection]) -> Result<FunctionSample<'a>, EvaluationError> {
        let whole = self.unroll()?;
        if whole.body.yields.len() != results.len() {
            return Err(EvaluationError::Count { expected: whole.body.yields.len(), found: results.len() });
        }
        let mut stored = vec![None; whole.values.len()];
        whole
            .body
            .yields
            .iter()
            .zip(results)
            .for_each(|(id, selection)| include_selection(&mut stored[*id], selection));
        let mut needed = Vec::with_capacity(whole.body.ops.len());
        for op in whole.body.ops.iter().rev() {
            let of = match &stored[single_result(op)?] {
                Some(wanted) => compute_dependences(op, &whole.values, wanted)?,
                None => Vec::new(),
            };
            for (input, selection) in op.inputs.iter().zip(&of) {
                selection.iter().for_each(|selection| include_selection(&mut stored[*input], selection));
            }
            needed.push(of);
        }
        let mut slicer =
            SampleBuilder { whole: &whole, ids: vec![None; stored.len()], stored, values: Vec::new(), ops: Vec::new() };
        let arguments: Vec<ElementSelection> = whole.body.arguments.iter().map(|id| slicer.add_argument(*id)).collect();
        let given = (0..arguments.len()).collect();
        for (op, needed) in whole.body.ops.iter().zip(needed.into_iter().rev()) {
            slicer.rewrite_op(op, &needed)?;
        }
        let yields = whole
            .body
            .yields
            .iter()
            .zip(results)
            .map(|(id, selection)| slicer.pick_elements(*id, selection))
            .collect::<Result<_, _>>()?;
        let body = EvalBlock { arguments: given, ops: slicer.ops, yields };
        Ok(FunctionSample {
            function: EvalFunction {
                name: whole.name.clone(),
                ranges: whole.ranges.clone(),
                values: slicer.values,
                body,
            },
            arguments,
        })
    }
}

fn include_selection(all: &mut Option<ElementSelection>, selection: &ElementSelection) {
    match all {
        Some(all) => all.include(selection),
        None => *all = Some(selection.clone()),
    }
}

/// Returns the single result of an op without a body.
fn single_result(op: &EvalOp<'_>) -> Result<ValueId, EvaluationError> {
    match op.outputs.as_slice() {
        [output] => Ok(*output),
        outputs => Err(EvaluationError::Count { expected: 1, found: outputs.len() }),
    }
}

struct SampleBuilder<'f, 'a> {
    whole: &'f EvalFunction<'a>,
    /// Required elements of each value, if any.
    stored: Vec<Option<ElementSelection>>,
    /// Value of the new function that corresponds to each value, if any.
    ids: Vec<Option<ValueId>>,
    values: Vec<EvalTensor>,
    ops: Vec<EvalOp<'a>>,
}

impl<'a> SampleBuilder<'_, 'a> {
    fn add_value(&mut self, like: ValueId, shape: Vec<usize>) -> ValueId {
        self.values.push(EvalTensor { shape, element: self.whole.values[like].element });
        self.values.len() - 1
    }

    fn add_argument(&mut self, id: ValueId) -> ElementSelection {
        let selection =
            self.stored[id].clone().unwrap_or_else(|| ElementSelection::none(self.whole.values[id].shape.len()));
        self.ids[id] = Some(self.add_value(id, selection.shape()));
        selection
    }

    fn add_op(&mut self, kind: EvalOpKind<'a>, inputs: Vec<ValueId>, like: ValueId, shape: Vec<usize>) -> ValueId {
        let output = self.add_value(like, shape);
        self.ops.push(EvalOp { kind, inputs, outputs: vec![output] });
        output
    }

    fn stored_selection(&self, id: ValueId) -> Result<(ValueId, &ElementSelection), EvaluationError> {
        self.ids[id].zip(self.stored[id].as_ref()).ok_or(EvaluationError::UndefinedValue)
    }

    /// Returns the selected elements of a value.
    fn pick_elements(&mut self, id: ValueId, wanted: &ElementSelection) -> Result<ValueId, EvaluationError> {
        let (own, stored) = self.stored_selection(id)?;
        if stored == wanted {
            return Ok(own);
        }
        let walk = stored.locate(wanted).ok_or(EvaluationError::UndefinedValue)?;
        Ok(self.add_op(EvalOpKind::Pick(walk), vec![own], id, wanted.shape()))
    }

    fn rewrite_op(&mut self, op: &EvalOp<'a>, needed: &[Option<ElementSelection>]) -> Result<(), EvaluationError> {
        let output = single_result(op)?;
        let Some(wanted) = self.stored[output].clone() else { return Ok(()) };
        let mut inputs = Vec::with_capacity(op.inputs.len());
        for (input, selection) in op.inputs.iter().zip(needed) {
            inputs.push(match (&op.kind, selection) {
                (_, None) => None,
                // A view reads the stored elements directly.
                (EvalOpKind::View(_), Some(_)) => Some(self.stored_selection(*input)?.0),
                (_, Some(selection)) => Some(self.pick_elements(*input, selection)?),
            });
        }
        let shape = wanted.shape();
        self.ids[output] = Some(match (&op.kind, inputs.as_slice()) {
            (EvalOpKind::Insert { .. }, [Some(only), None] | [None, Some(only)]) => *only,
            (EvalOpKind::Insert { offsets }, [Some(part), Some(whole)]) => {
                // The positions in the window are adjacent among the required ones.
                let first = |(positions, offset): (&Arc<[usize]>, &usize)| {
                    positions.partition_point(|position| position < offset)
                };
                let offsets = wanted.dims().iter().zip(offsets).map(first).collect();
                self.add_op(EvalOpKind::Insert { offsets }, vec![*part, *whole], output, shape)
            }
            (EvalOpKind::View(map), [Some(input)]) => {
                let walk = compute_view_positions(map, self.stored_selection(op.inputs[0])?.1, &wanted)
                    .ok_or(EvaluationError::UndefinedValue)?;
                self.add_op(EvalOpKind::Pick(walk), vec![*input], output, shape)
            }
            (EvalOpKind::Constant(literal), []) if !literal.is_splat => {
                let all = ElementSelection::whole(&self.whole.values[output].shape);
                let constant = self.add_op(op.kind.clone(), Vec::new(), output, all.shape());
                let walk = all.locate(&wanted).ok_or(EvaluationError::UndefinedValue)?;
                if all == wanted {
                    constant
                } else {
                    self.add_op(EvalOpKind::Pick(walk), vec![constant], output, shape)
                }
            }
            (kind, inputs) => {
                let inputs =
                    inputs.iter().copied().collect::<Option<Vec<_>>>().ok_or(EvaluationError::UndefinedValue)?;
                self.add_op(kind.clone(), inputs, output, shape)
            }
        });
        Ok(())
    }
}

/// Returns the positions of a view's requested elements among the stored ones of its source.
fn compute_view_positions(
    map: &[AffineExpression],
    stored: &ElementSelection,
    wanted: &ElementSelection,
) -> Option<PositionSequence> {
    let strides = compute_strides(&stored.shape());
    let places: Vec<Vec<Option<usize>>> = stored.dims().iter().map(|positions| invert_positions(positions)).collect();
    let mut point = vec![0_i64; wanted.dims().len()];
    let place = |at: usize, point: &[i64]| {
        let position = usize::try_from(map[at].evaluate(point)).ok()?;
        Some((*places[at].get(position)?)? * strides[at])
    };
    let dims: Vec<Vec<usize>> = map.iter().map(AffineExpression::dims).collect();
    if dims.iter().any(|dims| dims.len() > 1) {
        let num_points = wanted.length();
        let mut places = Vec::with_capacity(num_points);
        let mut at = vec![0; point.len()];
        for _ in 0..num_points {
            at.iter()
                .zip(wanted.dims())
                .zip(&mut point)
                .for_each(|((at, positions), point)| *point = positions[*at] as i64);
            places.push((0..map.len()).try_fold(0, |sum, at| Some(sum + place(at, &point)?))?);
            advance_index(&mut at, wanted);
        }
        return Some(PositionSequence::Positions(places));
    }
    // Each index depends on at most one dimension: a position is a sum of per-dimension terms.
    let mut tables: Vec<Vec<usize>> = wanted.shape().into_iter().map(|size| vec![0; size]).collect();
    tables.insert(0, vec![0]);
    for (at, dims) in dims.iter().enumerate() {
        match dims.as_slice() {
            [dim] => {
                for (sum, position) in tables[dim + 1].iter_mut().zip(wanted.dims()[*dim].iter()) {
                    point[*dim] = *position as i64;
                    *sum += place(at, &point)?;
                }
            }
            _ => tables[0][0] += place(at, &point)?,
        }
    }
    Some(PositionSequence::Sums(tables))
}

/// Returns the index of each position in a list of ascending positions; `None` for a position that is not in the list.
fn invert_positions(positions: &[usize]) -> Vec<Option<usize>> {
    let mut places = vec![None; positions.last().map_or(0, |last| last + 1)];
    positions.iter().enumerate().for_each(|(place, position)| places[*position] = Some(place));
    places
}

fn advance_index(at: &mut [usize], over: &ElementSelection) {
    for (at, positions) in at.iter_mut().zip(over.dims()).rev() {
        *at += 1;
        if *at < positions.len() {
            return;
        }
        *at = 0;
    }
}

#[cfg(test)]
mod tests;
