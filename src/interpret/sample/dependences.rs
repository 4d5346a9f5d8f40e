//! Computes the operand elements that an op reads for given elements of its result.

use super::super::{
    EvaluationError,
    eval_program::{EvalOp, EvalOpKind, EvalTensor},
    selection::ElementSelection,
};
use program::affine::AffineExpression;
use std::sync::Arc;

/// Returns the elements of each operand that are read; `None` for an operand that is not read.
///
/// # Errors
/// If the operands do not fit the op.
pub(super) fn compute_dependences(
    op: &EvalOp<'_>,
    values: &[EvalTensor],
    wanted: &ElementSelection,
) -> Result<Vec<Option<ElementSelection>>, EvaluationError> {
    let shape = |at: usize| op.inputs.get(at).map_or(&[][..], |id| values[*id].shape.as_slice());
    let outside = |at: usize| EvaluationError::OutOfBounds { shape: shape(at).to_vec() };
    let dims = wanted.dims();
    let same_rank = |at: usize| if shape(at).len() == dims.len() { Ok(()) } else { Err(outside(at)) };
    match (&op.kind, op.inputs.as_slice()) {
        (EvalOpKind::Constant(_) | EvalOpKind::Fill(_) | EvalOpKind::Empty, []) => Ok(Vec::new()),
        (EvalOpKind::Pointwise { .. }, inputs) => {
            let repeated = |at: usize| {
                same_rank(at)?;
                let along =
                    |(dim, size): (&Arc<[usize]>, &usize)| if *size == 1 { all_positions(1) } else { dim.clone() };
                Ok(Some(ElementSelection::from_dims(dims.iter().zip(shape(at)).map(along))))
            };
            (0..inputs.len()).map(repeated).collect()
        }
        (EvalOpKind::Reduce { dims: reduced, .. }, [_]) => {
            same_rank(0)?;
            let along = |at: usize| if reduced.contains(&at) { all_positions(shape(0)[at]) } else { dims[at].clone() };
            Ok(vec![Some(ElementSelection::from_dims((0..dims.len()).map(along)))])
        }
        (EvalOpKind::Matmul, [_, _]) => {
            (0..2).try_for_each(same_rank)?;
            let ([batch @ .., rows, columns], Some(contracted)) = (dims, shape(0).last()) else {
                return Err(outside(0));
            };
            let with = |last: [Arc<[usize]>; 2]| Some(ElementSelection::from_dims(batch.iter().cloned().chain(last)));
            Ok(vec![
                with([rows.clone(), all_positions(*contracted)]),
                with([all_positions(*contracted), columns.clone()]),
            ])
        }
        (EvalOpKind::Gather { dim }, [_, _]) => {
            let num_indices = shape(1).len();
            if dims.len() + 1 != num_indices + shape(0).len() || *dim >= shape(0).len() {
                return Err(outside(0));
            }
            let (index, rest) = dims.split_at(num_indices);
            let mut table = rest.to_vec();
            table.insert(*dim, all_positions(shape(0)[*dim]));
            Ok(vec![Some(ElementSelection::from_dims(table)), Some(ElementSelection::from_dims(index.to_vec()))])
        }
        (EvalOpKind::Copy, [_]) => Ok(vec![Some(wanted.clone())]),
        (EvalOpKind::Insert { offsets }, [_, _]) => {
            (0..2).try_for_each(same_rank)?;
            Ok(compute_insert_dependences(wanted, offsets, shape(0)))
        }
        (EvalOpKind::View(map), [_]) if map.len() == shape(0).len() => {
            let along = |(expr, size): (&AffineExpression, &usize)| {
                compute_index_image(expr, wanted, *size).ok_or_else(|| outside(0))
            };
            Ok(vec![Some(ElementSelection::from_dims(
                map.iter().zip(shape(0)).map(along).collect::<Result<Vec<_>, _>>()?,
            ))])
        }
        (_, inputs) => Err(EvaluationError::Count { expected: 1, found: inputs.len() }),
    }
}

fn all_positions(size: usize) -> Arc<[usize]> {
    (0..size).collect()
}

/// Returns the dependences of an insert: of the slice, the elements in the window; of the buffer, all others, if any.
fn compute_insert_dependences(
    wanted: &ElementSelection,
    offsets: &[usize],
    sizes: &[usize],
) -> Vec<Option<ElementSelection>> {
    let within = |((positions, offset), size): ((&Arc<[usize]>, &usize), &usize)| -> Arc<[usize]> {
        positions
            .iter()
            .filter(|position| (*offset..offset + size).contains(position))
            .map(|position| position - offset)
            .collect()
    };
    let part = ElementSelection::from_dims(wanted.dims().iter().zip(offsets).zip(sizes).map(within));
    let is_touched = part.length() > 0;
    let is_all = part.shape() == wanted.shape();
    vec![is_touched.then_some(part), (!is_touched || !is_all).then(|| wanted.clone())]
}

/// Returns the positions that an index of a view takes.
fn compute_index_image(expr: &AffineExpression, wanted: &ElementSelection, size: usize) -> Option<Arc<[usize]>> {
    if wanted.length() == 0 {
        return Some(Arc::default());
    }
    let dims = expr.dims();
    let mut is_taken = vec![false; size];
    let mut at = vec![0; dims.len()];
    let mut point = vec![0_i64; wanted.dims().len()];
    loop {
        for (dim, at) in dims.iter().zip(&at) {
            *point.get_mut(*dim)? = wanted.dims()[*dim][*at] as i64;
        }
        *is_taken.get_mut(usize::try_from(expr.evaluate(&point)).ok()?)? = true;
        let next = (0..dims.len()).rev().find(|place| {
            at[*place] += 1;
            let is_within = at[*place] < wanted.dims()[dims[*place]].len();
            if !is_within {
                at[*place] = 0;
            }
            is_within
        });
        if next.is_none() {
            return Some(
                is_taken.iter().enumerate().filter(|(_, is_taken)| **is_taken).map(|(position, _)| position).collect(),
            );
        }
    }
}
