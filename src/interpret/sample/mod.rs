//! Extracts the slice of a function on which some elements of its results depend, as a function of its own.
//!
//! Loops are unrolled. A backward pass computes the required elements of each value as [`Selection`]s, which may overapproximate but
//! never omit an element. Each op is then rewritten to tensors of the required elements only. [`Function::steps`] returns the cost of
//! that function before any evaluation.

mod needs;

use super::{
    Fault,
    program::{Block, Function, Kind, Operation, Tensor, ValueId},
    selection::Selection,
    walk::{Walk, strides},
};
use needs::needs;
use program::affine::Expr;
use std::sync::Arc;

/// Slice of a function on which some elements of its results depend.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampled<'a> {
    /// Computes the requested elements and only their dependences.
    pub function: Function<'a>,
    /// Elements of the function's arguments that it reads.
    pub arguments: Vec<Selection>,
}

impl<'a> Function<'a> {
    /// Returns the slice of this function on which elements of its results depend.
    ///
    /// # Errors
    /// If unrolling yields too many ops, or ops do not fit their tensors.
    pub fn sampled(&self, results: &[Selection]) -> Result<Sampled<'a>, Fault> {
        let whole = self.unrolled()?;
        if whole.body.yields.len() != results.len() {
            return Err(Fault::Count { expected: whole.body.yields.len(), found: results.len() });
        }
        let mut stored = vec![None; whole.values.len()];
        whole.body.yields.iter().zip(results).for_each(|(id, selection)| include(&mut stored[*id], selection));
        let mut needed = Vec::with_capacity(whole.body.ops.len());
        for op in whole.body.ops.iter().rev() {
            let of = match &stored[single(op)?] {
                Some(wanted) => needs(op, &whole.values, wanted)?,
                None => Vec::new(),
            };
            for (input, selection) in op.inputs.iter().zip(&of) {
                selection.iter().for_each(|selection| include(&mut stored[*input], selection));
            }
            needed.push(of);
        }
        let mut slicer = Slicer { whole: &whole, ids: vec![None; stored.len()], stored, values: Vec::new(), ops: Vec::new() };
        let arguments: Vec<Selection> = whole.body.arguments.iter().map(|id| slicer.argument(*id)).collect();
        let given = (0..arguments.len()).collect();
        for (op, needed) in whole.body.ops.iter().zip(needed.into_iter().rev()) {
            slicer.operation(op, &needed)?;
        }
        let yields = whole.body.yields.iter().zip(results).map(|(id, selection)| slicer.pick(*id, selection)).collect::<Result<_, _>>()?;
        let body = Block { arguments: given, ops: slicer.ops, yields };
        Ok(Sampled {
            function: Function { name: whole.name.clone(), ranges: whole.ranges.clone(), values: slicer.values, body },
            arguments,
        })
    }
}

fn include(all: &mut Option<Selection>, selection: &Selection) {
    match all {
        Some(all) => all.include(selection),
        None => *all = Some(selection.clone()),
    }
}

/// Returns the single result of an op without a body.
fn single(op: &Operation<'_>) -> Result<ValueId, Fault> {
    match op.outputs.as_slice() {
        [output] => Ok(*output),
        outputs => Err(Fault::Count { expected: 1, found: outputs.len() }),
    }
}

struct Slicer<'f, 'a> {
    whole: &'f Function<'a>,
    /// Required elements of each value, if any.
    stored: Vec<Option<Selection>>,
    /// Value of the new function that corresponds to each value, or None.
    ids: Vec<Option<ValueId>>,
    values: Vec<Tensor>,
    ops: Vec<Operation<'a>>,
}

impl<'a> Slicer<'_, 'a> {
    fn value(&mut self, like: ValueId, shape: Vec<usize>) -> ValueId {
        self.values.push(Tensor { shape, element: self.whole.values[like].element });
        self.values.len() - 1
    }

    fn argument(&mut self, id: ValueId) -> Selection {
        let selection = self.stored[id].clone().unwrap_or_else(|| Selection::none(self.whole.values[id].shape.len()));
        self.ids[id] = Some(self.value(id, selection.shape()));
        selection
    }

    fn op(&mut self, kind: Kind<'a>, inputs: Vec<ValueId>, like: ValueId, shape: Vec<usize>) -> ValueId {
        let output = self.value(like, shape);
        self.ops.push(Operation { kind, inputs, outputs: vec![output] });
        output
    }

    fn stored(&self, id: ValueId) -> Result<(ValueId, &Selection), Fault> {
        self.ids[id].zip(self.stored[id].as_ref()).ok_or(Fault::Gone)
    }

    /// Elements of a value.
    fn pick(&mut self, id: ValueId, wanted: &Selection) -> Result<ValueId, Fault> {
        let (own, stored) = self.stored(id)?;
        if stored == wanted {
            return Ok(own);
        }
        let walk = stored.walk_to(wanted).ok_or(Fault::Gone)?;
        Ok(self.op(Kind::Pick(walk), vec![own], id, wanted.shape()))
    }

    fn operation(&mut self, op: &Operation<'a>, needed: &[Option<Selection>]) -> Result<(), Fault> {
        let output = single(op)?;
        let Some(wanted) = self.stored[output].clone() else { return Ok(()) };
        let mut inputs = Vec::with_capacity(op.inputs.len());
        for (input, selection) in op.inputs.iter().zip(needed) {
            inputs.push(match (&op.kind, selection) {
                (_, None) => None,
                // A view reads the stored elements directly.
                (Kind::View(_), Some(_)) => Some(self.stored(*input)?.0),
                (_, Some(selection)) => Some(self.pick(*input, selection)?),
            });
        }
        let shape = wanted.shape();
        self.ids[output] = Some(match (&op.kind, inputs.as_slice()) {
            (Kind::Insert { .. }, [Some(only), None] | [None, Some(only)]) => *only,
            (Kind::Insert { offsets }, [Some(part), Some(whole)]) => {
                // The window's positions are neighbours among those that are wanted.
                let first = |(positions, offset): (&Arc<[usize]>, &usize)| positions.partition_point(|position| position < offset);
                let offsets = wanted.dims().iter().zip(offsets).map(first).collect();
                self.op(Kind::Insert { offsets }, vec![*part, *whole], output, shape)
            }
            (Kind::View(map), [Some(input)]) => {
                let walk = view_walk(map, self.stored(op.inputs[0])?.1, &wanted).ok_or(Fault::Gone)?;
                self.op(Kind::Pick(walk), vec![*input], output, shape)
            }
            (Kind::Constant(literal), []) if !literal.is_splat => {
                let all = Selection::whole(&self.whole.values[output].shape);
                let constant = self.op(op.kind.clone(), Vec::new(), output, all.shape());
                let walk = all.walk_to(&wanted).ok_or(Fault::Gone)?;
                if all == wanted { constant } else { self.op(Kind::Pick(walk), vec![constant], output, shape) }
            }
            (kind, inputs) => {
                let inputs = inputs.iter().copied().collect::<Option<Vec<_>>>().ok_or(Fault::Gone)?;
                self.op(kind.clone(), inputs, output, shape)
            }
        });
        Ok(())
    }
}

/// Returns the positions of a view's requested elements among the stored ones of its source.
fn view_walk(map: &[Expr], stored: &Selection, wanted: &Selection) -> Option<Walk> {
    let strides = strides(&stored.shape());
    let mut point = vec![0_i64; wanted.dims().len()];
    let place = |at: usize, point: &[i64]| {
        let position = usize::try_from(map[at].evaluate(point)).ok()?;
        Some(stored.dims()[at].binary_search(&position).ok()? * strides[at])
    };
    let dims: Vec<Vec<usize>> = map.iter().map(Expr::dims).collect();
    if dims.iter().any(|dims| dims.len() > 1) {
        let n_points = wanted.length();
        let mut places = Vec::with_capacity(n_points);
        let mut at = vec![0; point.len()];
        for _ in 0..n_points {
            at.iter().zip(wanted.dims()).zip(&mut point).for_each(|((at, positions), point)| *point = positions[*at] as i64);
            places.push((0..map.len()).try_fold(0, |sum, at| Some(sum + place(at, &point)?))?);
            advance(&mut at, wanted);
        }
        return Some(Walk::Places(places));
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
    Some(Walk::Sums(tables))
}

fn advance(at: &mut [usize], over: &Selection) {
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
