//! Elements of buffers that the operands of an op access, through any chain of views.

use super::{ComputeOp, attrs::DeviceTensor, base_buffer};
use crate::dialect::ods::{attr, spyre};
use crate::mlir::{Op, OpExt, TensorType, Value, ValueExt, ValueLike, map_of, map_results};
use program::{
    affine::AffineExpression,
    layout::{IndexError, TensorIndex},
};

/// Access to a buffer through a chain of views.
#[derive(Clone)]
pub struct BufferView<'c> {
    /// The value at the root of the chain of views.
    pub value: Value<'c>,
    /// The value whose type defines the byte layout: `value`, or the outermost view with a layout.
    pub viewed: Value<'c>,
    /// Type of `shown`.
    pub tensor: DeviceTensor<'c>,
    /// Index along each dimension of `tensor`.
    pub indices: Vec<TensorIndex>,
}

impl<'c> ComputeOp<'c> {
    /// Returns the accesses of the op to the buffers of the operands that it reads, in order, and of its result.
    /// Indices are in terms of the iteration dimensions.
    ///
    /// # Errors
    /// A message about the first view that the device does not support.
    pub fn buffer_views(self) -> Result<Vec<BufferView<'c>>, String> {
        let space = self.iteration_space();
        let values = self.read_operands().into_iter().chain([self.op.output()]);
        values
            .enumerate()
            .map(|(operand, value)| {
                let indices = map_results(self.access_map(operand))
                    .iter()
                    .map(|expr| TensorIndex::from_expr(expr, &space))
                    .collect::<Result<_, _>>();
                resolve_buffer_view(value, indices.map_err(|error: IndexError| error.to_string())?, &space)
            })
            .collect()
    }

    /// Returns, for each dimension of an operand, the iteration dimension that moves it. The result follows the
    /// operands that the op reads.
    #[must_use]
    pub fn operand_dims(self, operand: usize) -> Vec<Option<usize>> {
        let dim = |expr: AffineExpression| if let AffineExpression::Dim(dim) = expr { Some(dim) } else { None };
        map_results(self.access_map(operand)).into_iter().map(dim).collect()
    }

    /// Converts indices over the iteration dimensions, of sizes `ranges`, to expressions over the dimensions of an
    /// operand.
    ///
    /// # Errors
    /// If an index moves with an iteration dimension that the operand lacks.
    pub fn operand_exprs(
        self,
        operand: usize,
        indices: &[TensorIndex],
        ranges: &[i64],
    ) -> Result<Vec<AffineExpression>, String> {
        let dims = self.operand_dims(operand);
        let renumbered = |index: &TensorIndex| {
            let digits = index.digits.iter().map(|digit| {
                let dim = dims.iter().position(|&dim| dim == Some(digit.dim));
                dim.map(|dim| program::layout::IndexDigit { dim, ..*digit })
                    .ok_or("has an index along a dimension that the operand does not have")
            });
            let sizes: Vec<i64> = dims.iter().map(|dim| dim.map_or(1, |dim| ranges[dim])).collect();
            let index = TensorIndex { digits: digits.collect::<Result<_, _>>()?, offset: index.offset };
            index.to_expr(&sizes).map_err(|error| error.to_string())
        };
        indices.iter().map(renumbered).collect()
    }
}

/// Returns the index along each dimension of the operand of a `spyre.view`, in terms of the view's own dimensions. An
/// index is `None` where it is no sum of mixed-radix terms.
#[must_use]
pub fn view_indices(view: Op<'_>) -> Vec<Option<TensorIndex>> {
    let shape = TensorType::from_type(view.output().r#type()).expect("a view gives a tensor").shape;
    let exprs = map_results(view.required_attr("map", map_of));
    exprs.iter().map(|expr| TensorIndex::from_expr(expr, &shape).ok()).collect()
}

/// Returns the access to the buffer under a view, in terms of the view's own dimensions. Returns `None` for a value
/// that is no view, and for a view with a layout.
#[must_use]
pub fn read_buffer_view(value: Value<'_>) -> Option<BufferView<'_>> {
    value.def().filter(|def| def.is(spyre::VIEW))?;
    let tensor = TensorType::from_type(value.r#type())?;
    let own = (0..tensor.shape.len())
        .map(|dim| TensorIndex::from_dim(dim, &tensor.shape).ok())
        .collect::<Option<Vec<_>>>()?;
    resolve_buffer_view(value, own, &tensor.shape)
        .ok()
        .filter(|viewed| viewed.value != value && viewed.value == viewed.viewed)
}

fn resolve_buffer_view<'c>(
    value: Value<'c>,
    indices: Vec<TensorIndex>,
    space: &[i64],
) -> Result<BufferView<'c>, String> {
    let (mut value, mut indices) = (value, indices);
    let mut tensor = DeviceTensor::from_type(value.r#type()).ok_or("an operand is no tensor of static shape")?;
    while tensor.layout.is_none() {
        // A tile of a view has no storage: the first tile is where the view begins.
        let around =
            std::iter::successors(base_buffer::tiled_operand(value), |whole| base_buffer::tiled_operand(*whole)).last();
        if let Some(view) = around.filter(|whole| whole.def().is_some_and(|op| op.is(spyre::VIEW))) {
            value = view;
            tensor = DeviceTensor::from_type(value.r#type()).ok_or("an operand is no tensor of static shape")?;
            continue;
        }
        let Some(view) = value.def().filter(|op| op.is(spyre::VIEW)) else { break };
        let map = view.attr(attr::MAP).and_then(map_of).ok_or("a view without a map")?;
        let text = |error: IndexError| format!("reads through {map}: {error}");
        let exprs = map_results(map);
        let after = exprs.iter().map(|expr| TensorIndex::from_expr(expr, &tensor.host.shape)?.compose(&indices, space));
        indices = after.collect::<Result<_, _>>().map_err(text)?;
        value = view.inputs()[0];
        tensor = DeviceTensor::from_type(value.r#type()).ok_or("an operand is no tensor of static shape")?;
    }
    Ok(BufferView { value: base_buffer::strip_views(value), viewed: value, tensor, indices })
}

/// Erases the ops that compute unused values, and the ops that only these read.
pub fn erase_unused(values: Vec<Value<'_>>) {
    let mut open = values;
    while let Some(value) = open.pop() {
        let Some(op) = value.def().filter(|_| value.users().is_empty()) else { continue };
        let is_pure = ComputeOp::from_op(op).is_some()
            || [spyre::VIEW, spyre::CONSTANT, spyre::EMPTY].iter().any(|name| op.is(name));
        if is_pure {
            // A value may be listed twice, and must not be used after its op is erased.
            open.extend(op.inputs());
            open.retain(|value| !op.outputs().contains(value));
            op.erase();
        }
    }
}
