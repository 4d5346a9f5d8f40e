//! Labels of value dimensions (names or origins), propagated along def-use chains.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, view_indices},
    mlir::{BlockExt, Op, OpExt, Value, ValueMap, argument_attribute, shape_of, strings},
};

/// Label of each dimension of a value; `None` where it is unknown.
pub(super) type LabelList<T> = Vec<Option<T>>;

/// Labels of values.
pub(super) struct DimLabels<T> {
    of_values: ValueMap<LabelList<T>>,
}

impl<T: Clone> DimLabels<T> {
    /// Creates an empty table, in which no labels are known.
    pub(super) fn new() -> Self {
        Self { of_values: ValueMap::default() }
    }

    pub(super) fn set(&mut self, value: Value<'_>, labels: LabelList<T>) {
        self.of_values.insert(value, labels);
    }

    /// Returns the labels of a value, one per dimension.
    pub(super) fn labels_of(&self, value: Value<'_>) -> LabelList<T> {
        self.of_values.get(value).cloned().unwrap_or_else(|| vec![None; shape_of(value).len()])
    }

    /// Propagates the labels through the ops of a body and its nested ops, in program order.
    pub(super) fn propagate(&mut self, around: Op<'_>) {
        for op in around.body_ops() {
            if let Some(compute) = ComputeOp::from_op(op) {
                let of_dims = self.iteration_labels(compute);
                let given = compute_result_labels(compute, &of_dims);
                self.set(op.output(), given);
            } else if op.is(spyre::VIEW) {
                let after = self.labels_of(op.inputs()[0]);
                let viewed =
                    trace_view_dims(op).into_iter().map(|dim| dim.and_then(|dim| after[dim].clone())).collect();
                self.set(op.output(), viewed);
            } else if op.is(spyre::HINT) || op.is(spyre::KERNEL) || op.is(spyre::LOOP) {
                // A tile has the dimensions of the tiled value.
                for (argument, input) in op.body().map(BlockExt::args).unwrap_or_default().into_iter().zip(op.inputs())
                {
                    let labels = self.labels_of(input);
                    self.set(argument, labels);
                }
                self.propagate(op);
                for (result, value) in op.outputs().into_iter().zip(op.yielded()) {
                    let labels = self.labels_of(value);
                    self.set(result, labels);
                }
            }
        }
    }

    /// Returns the labels of an op's iteration dimensions: for each, the first that an operand has.
    pub(super) fn iteration_labels(&self, compute: ComputeOp<'_>) -> LabelList<T> {
        self.all_iteration_labels(compute).into_iter().map(|labels| labels.into_iter().next()).collect()
    }

    /// Returns, for each iteration dimension of an op, the labels that its operands have.
    pub(super) fn all_iteration_labels(&self, compute: ComputeOp<'_>) -> Vec<Vec<T>> {
        let mut found: Vec<Vec<T>> = vec![Vec::new(); compute.iteration_space().len()];
        for (number, value) in compute.read_operands().into_iter().enumerate() {
            for (label, dim) in self.labels_of(value).into_iter().zip(compute.operand_dims(number)) {
                if let Some(dim) = dim {
                    found[dim].extend(label);
                }
            }
        }
        found
    }
}

/// Returns the labels of an op's result, given those of its iteration dimensions. The result of an insert has more
/// elements than the op reads.
fn compute_result_labels<T: Clone>(compute: ComputeOp<'_>, of_dims: &LabelList<T>) -> LabelList<T> {
    let dims = compute.operand_dims(compute.read_operands().len());
    let sizes = shape_of(compute.op.output());
    let space = compute.iteration_space();
    let along =
        |(dim, size): (Option<usize>, i64)| dim.filter(|dim| space[*dim] == size).and_then(|dim| of_dims[dim].clone());
    dims.into_iter().zip(sizes).map(along).collect()
}

/// Returns, for each dimension of a view, the source dimension that it indexes in full.
pub(super) fn trace_view_dims(view: Op<'_>) -> Vec<Option<usize>> {
    let (after, viewed) = (shape_of(view.inputs()[0]), shape_of(view.output()));
    let indices = view_indices(view);
    let walks = |dim: usize, index: &Option<program::layout::TensorIndex>, size: i64| {
        let Some(index) = index else { return false };
        let [digit] = index.digits.as_slice() else { return false };
        index.offset == 0
            && digit.dim == dim
            && digit.divisor == 1
            && digit.factor == 1
            && digit.size == size
            && viewed[dim] == size
    };
    (0..viewed.len()).map(|dim| indices.iter().zip(&after).position(|(index, size)| walks(dim, index, *size))).collect()
}

/// Returns the names that the program's arguments determine for the dimensions of all values.
pub(super) fn compute_program_labels(function: Op<'_>) -> DimLabels<String> {
    let mut labels = DimLabels::new();
    for (number, argument) in function.body_args().into_iter().enumerate() {
        let names = argument_attribute(function, number, attr::SPYRE_DIMS).and_then(strings).unwrap_or_default();
        if names.len() == shape_of(argument).len() {
            labels.set(argument, names.into_iter().map(|name| (!name.is_empty()).then(|| name.to_owned())).collect());
        }
    }
    labels.propagate(function);
    labels
}
