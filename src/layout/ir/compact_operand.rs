//! Dimensions of a matmul operand, without those along which it only repeats elements.

use crate::mlir::{TensorType, Value};
use program::{
    affine::AffineExpression,
    layout::{OperandView, TensorIndex},
};

/// Dimensions of an operand, without those along which it only repeats elements.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CompactOperand {
    pub(super) sizes: Vec<i64>,
    /// Position of K among them.
    pub(super) k: usize,
    /// Index along each dimension of the operand in terms of these dimensions.
    pub(super) source: Vec<AffineExpression>,
    /// Index along each of these dimensions in terms of those of the operand.
    pub(super) viewed: Vec<AffineExpression>,
}

impl CompactOperand {
    pub(super) fn from_operand(rhs: Value<'_>, tensor: &TensorType<'_>) -> Result<Self, String> {
        let seen = crate::dialect::read_buffer_view(rhs);
        let sizes = &tensor.shape;
        let k = sizes.len() - 2;
        let own = || {
            (0..sizes.len())
                .map(|dim| TensorIndex::from_dim(dim, sizes))
                .collect::<Result<Vec<_>, _>>()
                .map_err(|error| error.to_string())
        };
        let (after, indices) = match &seen {
            Some(seen) => (seen.tensor.host.shape.clone(), seen.indices.clone()),
            None => (sizes.clone(), own()?),
        };
        let left = OperandView { sizes: &[], indices: &[] };
        let split = program::layout::split_iteration(sizes, &[left, OperandView { sizes: &after, indices: &indices }])
            .map_err(|error| {
                format!("cannot pad an operand that it reads through views: {error}; copy the operand first")
            })?;
        let flat = split.parts.concat();
        let moves = |part: usize| {
            let coordinates = split.operands[1].indices.iter();
            coordinates.filter_map(|coordinate| coordinate.term).any(|term| term.dim == part)
        };
        let mut compact = Self { sizes: Vec::new(), k: 0, source: Vec::new(), viewed: Vec::new() };
        let mut number = 0;
        for (dim, parts) in split.parts.iter().enumerate() {
            // Rows and columns stay unsplit; of a batch dimension, the parts that the operand has remain.
            let is_whole = dim >= k;
            let kept: Vec<usize> = (0..parts.len()).filter(|part| is_whole || moves(number + part)).collect();
            if dim == k {
                compact.k = compact.sizes.len();
            }
            let stride = |part: usize| parts[part + 1..].iter().product::<i64>();
            if is_whole {
                compact.source.push(AffineExpression::Dim(compact.sizes.len()));
                compact.viewed.push(AffineExpression::Dim(dim));
                compact.sizes.push(sizes[dim]);
            } else {
                let mut sum = AffineExpression::Constant(0);
                // Neighboring parts are merged, since a buffer has few dimensions.
                for run in kept.chunk_by(|part, next| part + 1 == *next) {
                    let (step, size) =
                        (stride(run[run.len() - 1]), run.iter().map(|part| flat[number + part]).product());
                    let term = AffineExpression::Mul(
                        Box::new(AffineExpression::Dim(compact.sizes.len())),
                        Box::new(AffineExpression::Constant(step)),
                    );
                    sum = AffineExpression::Add(Box::new(sum), Box::new(term));
                    let shifted = AffineExpression::FloorDiv(
                        Box::new(AffineExpression::Dim(dim)),
                        Box::new(AffineExpression::Constant(step)),
                    );
                    let viewed = AffineExpression::Mod(Box::new(shifted), Box::new(AffineExpression::Constant(size)));
                    let viewed = TensorIndex::from_expr(&viewed, sizes).and_then(|index| index.to_expr(sizes));
                    compact.viewed.push(viewed.map_err(|error| error.to_string())?);
                    compact.sizes.push(size);
                }
                compact.source.push(sum);
            }
            number += parts.len();
        }
        Ok(compact)
    }
}
