//! `spyre-pad-contractions`: pads what a contraction reads past.
//!
//! Reads shapes and views. A matmul reads K in whole sticks: the hardware clears the lanes behind K in the left operand, but the right
//! operand's rows behind K must exist and be zero (torch-spyre facts, B.4, padding of batch matmuls). Where K is no multiple of the stick,
//! the right operand is written into a buffer with more rows, the last of them zero, and read as a window of it. What the operand repeats
//! (a shared head) is written once. Of a constant there is another one with these rows: nothing is written at run time.

use super::padded_constant::padded_constant;
use crate::{
    affine::Expr,
    dialect::{ComputeOp, constant, empty, format_of, insert, view},
    layout::{Index, OperandView, sticks_needed},
    mlir::{Op, OpExt, Options, Pass, Reported, TensorType, Value, ValueLike, dense_attribute, error_at, insert_before, map_from_exprs},
};
use machine::Family;

pub(crate) const PASS: Pass = Pass { argument: "spyre-pad-contractions", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for compute in ComputeOp::all_in(module).into_iter().filter(|compute| compute.family() == Family::Matmul) {
        pad(compute).map_err(|message| error_at(compute.op, message).report())?;
    }
    Ok(())
}

fn pad(compute: ComputeOp<'_>) -> Result<(), String> {
    let op = compute.op;
    let rhs = op.inputs()[1];
    let tensor = TensorType::of(rhs.r#type()).ok_or("an operand is no tensor")?;
    let rank = tensor.shape.len();
    let k = tensor.shape[rank - 2];
    let format =
        format_of(tensor.element).ok_or_else(|| format!("has elements of {}, for which the device has no format", tensor.element))?;
    let stick = format.elements_per_stick();
    if k % stick == 0 {
        return Ok(());
    }
    let compact = Compact::of(rhs, &tensor)?;
    let padded = sticks_needed(k, stick) * stick;
    let (context, at) = (op.ctx(), op.loc());
    let mut whole = compact.sizes.clone();
    whole[compact.k] = padded;
    let written = padded_constant(op, rhs, &compact, &whole).unwrap_or_else(|| padded_buffer(op, rhs, &compact, &whole));
    let map = map_from_exprs(context, rank, 0, &compact.shown);
    op.set_input(1, insert_before(op, view(context, at, written, map, tensor.with_shape(tensor.shape.clone()).build())).output());
    Ok(())
}

/// A buffer with the rows of the operand, and zeros behind them.
fn padded_buffer<'c>(op: Op<'c>, rhs: Value<'c>, compact: &Compact, whole: &[i64]) -> Value<'c> {
    let (context, at) = (op.ctx(), op.loc());
    let tensor = TensorType::of(rhs.r#type()).expect("an operand is a tensor");
    let typed = |shape: &[i64]| tensor.with_shape(shape.to_vec()).build();
    let buffer = insert_before(op, empty(context, at, typed(whole))).output();
    let map = map_from_exprs(context, compact.sizes.len(), 0, &compact.source);
    let part = insert_before(op, view(context, at, rhs, map, typed(&compact.sizes))).output();
    let mut start = vec![0; whole.len()];
    let written = insert_before(op, insert(context, at, part, buffer, &start)).output();
    let mut rest = whole.to_vec();
    (start[compact.k], rest[compact.k]) = (compact.sizes[compact.k], whole[compact.k] - compact.sizes[compact.k]);
    let one = typed(&vec![1; whole.len()]);
    let zero = insert_before(op, constant(context, at, dense_attribute(one, &[0.0]), one)).output();
    let map = map_from_exprs(context, whole.len(), 0, &vec![Expr::Constant(0); whole.len()]);
    let zeros = insert_before(op, view(context, at, zero, map, typed(&rest))).output();
    insert_before(op, insert(context, at, zeros, written, &start)).output()
}

/// The dimensions of an operand without those that it only repeats along.
pub(super) struct Compact {
    pub(super) sizes: Vec<i64>,
    /// Which of them is K.
    pub(super) k: usize,
    /// The index along each dimension of the operand in terms of these.
    pub(super) source: Vec<Expr>,
    /// The index along each of these in terms of the operand's.
    shown: Vec<Expr>,
}

impl Compact {
    fn of(rhs: Value<'_>, tensor: &TensorType<'_>) -> Result<Self, String> {
        let seen = crate::dialect::shown_as(rhs);
        let sizes = &tensor.shape;
        let k = sizes.len() - 2;
        let own = || (0..sizes.len()).map(|dim| Index::dim(dim, sizes)).collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string());
        let (behind, indices) = match &seen {
            Some(seen) => (seen.tensor.host.shape.clone(), seen.indices.clone()),
            None => (sizes.clone(), own()?),
        };
        let left = OperandView { sizes: &[], indices: &[] };
        let split = crate::layout::split_iteration(sizes, &[left, OperandView { sizes: &behind, indices: &indices }])
            .map_err(|error| format!("cannot pad what it reads through views: {error}"))?;
        let flat = split.parts.concat();
        let moves = |part: usize| {
            let coordinates = split.operands[1].indices.iter();
            coordinates.filter_map(|coordinate| coordinate.term).any(|term| term.dim == part)
        };
        let mut compact = Self { sizes: Vec::new(), k: 0, source: Vec::new(), shown: Vec::new() };
        let mut number = 0;
        for (dim, parts) in split.parts.iter().enumerate() {
            // Rows and columns stay whole; of a batch dimension the parts that the operand has are kept.
            let is_whole = dim >= k;
            let kept: Vec<usize> = (0..parts.len()).filter(|part| is_whole || moves(number + part)).collect();
            if dim == k {
                compact.k = compact.sizes.len();
            }
            let stride = |part: usize| parts[part + 1..].iter().product::<i64>();
            if is_whole {
                compact.source.push(Expr::Dim(compact.sizes.len()));
                compact.shown.push(Expr::Dim(dim));
                compact.sizes.push(sizes[dim]);
            } else {
                let mut sum = Expr::Constant(0);
                // Parts side by side are one: a buffer has few dimensions.
                for run in kept.chunk_by(|part, next| part + 1 == *next) {
                    let (step, size) = (stride(run[run.len() - 1]), run.iter().map(|part| flat[number + part]).product());
                    let term = Expr::Mul(Box::new(Expr::Dim(compact.sizes.len())), Box::new(Expr::Constant(step)));
                    sum = Expr::Add(Box::new(sum), Box::new(term));
                    let shifted = Expr::FloorDiv(Box::new(Expr::Dim(dim)), Box::new(Expr::Constant(step)));
                    let shown = Expr::Mod(Box::new(shifted), Box::new(Expr::Constant(size)));
                    let shown = Index::of(&shown, sizes).and_then(|index| index.to_expr(sizes));
                    compact.shown.push(shown.map_err(|error| error.to_string())?);
                    compact.sizes.push(size);
                }
                compact.source.push(sum);
            }
            number += parts.len();
        }
        Ok(compact)
    }
}
