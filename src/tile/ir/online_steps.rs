//! Translates ops and loops to input of [`RunningValueAnalysis`].

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, LoopCarriedValue, plain_view_indices},
    mlir::{Op, OpExt, Value, ValueExt, ValueMap, shape_of},
    tile::{AnalyzedOp, AnalyzedOpKind, AnalyzedOperand, Correction, RunningDependence, RunningValueAnalysis},
};
use machine::Family;

/// Dependences of values, with their numbers in [`RunningValueAnalysis`].
#[derive(Default)]
pub(super) struct LoopDependenceAnalysis<'c> {
    online: RunningValueAnalysis,
    numbers: ValueMap<usize>,
    values: Vec<Value<'c>>,
}

impl<'c> LoopDependenceAnalysis<'c> {
    /// Records the dependence of a value that no op defines.
    pub(super) fn record(&mut self, value: Value<'c>, form: RunningDependence) {
        let number = self.number_value(value);
        self.online.record(number, form, &shape_of(value));
    }

    /// Records that a value equals another one.
    pub(super) fn record_alias(&mut self, value: Value<'c>, other: Value<'c>) {
        let number = self.number_value(other);
        self.numbers.insert(value, number);
    }

    pub(super) fn dependence(&self, value: Value<'_>) -> &RunningDependence {
        self.numbers.get(value).map_or(&RunningDependence::Outside, |number| self.online.dependence(*number))
    }

    /// Returns the value of a number.
    pub(super) fn value(&self, number: usize) -> Value<'c> {
        self.values[number]
    }

    /// Analyzes an op.
    pub(super) fn analyze_op(&mut self, op: Op<'c>) {
        let Some(&output) = op.outputs().first() else { return };
        let reads = match ComputeOp::from_op(op) {
            Some(compute) => self.collect_operands(compute),
            None if op.is(spyre::VIEW) => vec![self.trace_view(op)],
            None => Vec::new(),
        };
        let step = AnalyzedOp {
            rule: classify_op(op),
            reads,
            reduces_axis: false,
            output: self.number_value(output),
            shape: shape_of(output),
        };
        self.online.analyze_op(&step);
    }

    /// Analyzes the body of a loop. Returns the correction of each carried value.
    pub(super) fn analyze_body(&mut self, around: Op<'c>, carried: &[AccumulatedValue<'c>]) -> Vec<Option<Correction>> {
        let mut corrections = vec![None; carried.len()];
        for op in around.body_ops() {
            match carried.iter().position(|carried| carried.combine == op) {
                Some(place) => corrections[place] = self.analyze_accumulation(&carried[place]),
                None => self.analyze_op(op),
            }
        }
        corrections
    }

    fn analyze_accumulation(&mut self, accumulated: &AccumulatedValue<'c>) -> Option<Correction> {
        let after = accumulated.combine.output();
        let shape = shape_of(after);
        let rule = match accumulated.combine.text_attr(attr::FUNCTION) {
            "add" => AnalyzedOpKind::Sum,
            "maximum" => AnalyzedOpKind::Max,
            "minimum" => AnalyzedOpKind::Min,
            _ => AnalyzedOpKind::Other,
        };
        let read =
            AnalyzedOperand { value: self.number_value(accumulated.part), dims: (0..shape.len()).map(Some).collect() };
        let step = AnalyzedOp { rule, reads: vec![read], reduces_axis: true, output: self.number_value(after), shape };
        self.online.analyze_op(&step)
    }

    fn collect_operands(&mut self, compute: ComputeOp<'c>) -> Vec<AnalyzedOperand> {
        let values = compute.read_operands();
        let written = compute.operand_dims(values.len());
        let moved = |dim: Option<usize>| dim.and_then(|dim| written.iter().position(|other| *other == Some(dim)));
        let read = |(operand, value): (usize, &Value<'c>)| AnalyzedOperand {
            value: self.number_value(*value),
            dims: compute.operand_dims(operand).into_iter().map(moved).collect(),
        };
        let mut reads: Vec<AnalyzedOperand> = values.iter().enumerate().map(read).collect();
        if compute.is_insert() {
            let buffer = compute.op.inputs()[values.len()];
            reads.push(AnalyzedOperand {
                value: self.number_value(buffer),
                dims: (0..shape_of(buffer).len()).map(Some).collect(),
            });
        }
        reads
    }

    /// Returns the operand that a view reads. A dimension is traced only if the view has all of it.
    fn trace_view(&mut self, view: Op<'c>) -> AnalyzedOperand {
        let input = view.inputs()[0];
        let (own, behind) = (shape_of(view.output()), shape_of(input));
        let indices = plain_view_indices(view).unwrap_or_else(|| vec![(None, 0); behind.len()]);
        let followed = |((moving, first), size): ((Option<usize>, i64), &i64)| {
            moving.filter(|dim| first == 0 && own[*dim] == *size)
        };
        AnalyzedOperand {
            value: self.number_value(input),
            dims: indices.into_iter().zip(&behind).map(followed).collect(),
        }
    }

    fn number_value(&mut self, value: Value<'c>) -> usize {
        if let Some(&number) = self.numbers.get(value) {
            return number;
        }
        self.numbers.insert(value, self.values.len());
        self.values.push(value);
        self.values.len() - 1
    }
}

/// Returns the kind of an op, as far as its result's dependence on running values is concerned.
pub(crate) fn classify_op(op: Op<'_>) -> AnalyzedOpKind {
    let Some(compute) = ComputeOp::from_op(op) else {
        return if op.is(spyre::VIEW) { AnalyzedOpKind::Same } else { AnalyzedOpKind::Other };
    };
    match (compute.family(), compute.function()) {
        (Family::Copy, _) if !compute.is_insert() => AnalyzedOpKind::Same,
        (Family::Matmul, _) => AnalyzedOpKind::Product,
        (Family::Pointwise, "add") => AnalyzedOpKind::Add,
        (Family::Pointwise, "sub") => AnalyzedOpKind::Sub,
        (Family::Pointwise, "mul") => AnalyzedOpKind::Mul,
        (Family::Pointwise, "realdiv") => AnalyzedOpKind::Div,
        (Family::Pointwise, "neg") => AnalyzedOpKind::Neg,
        (Family::Pointwise, "exp") => AnalyzedOpKind::Exp,
        (Family::Pointwise, "maximum") => AnalyzedOpKind::Maximum,
        (Family::Pointwise, "minimum") => AnalyzedOpKind::Minimum,
        (Family::Reduce, "sum" | "mean") => AnalyzedOpKind::Sum,
        (Family::Reduce, "max") => AnalyzedOpKind::Max,
        (Family::Reduce, "min") => AnalyzedOpKind::Min,
        _ => AnalyzedOpKind::Other,
    }
}

/// Carried value with which each iteration combines a partial result.
#[derive(Clone, Copy)]
pub(super) struct AccumulatedValue<'c> {
    /// All aliases of the value.
    pub(super) carried: LoopCarriedValue<'c>,
    /// Op that combines the carried value with the partial result, and the order of its operands.
    pub(super) combine: Op<'c>,
    /// Partial result.
    pub(super) part: Value<'c>,
}

impl<'c> AccumulatedValue<'c> {
    /// Finds the combining op of a carried value; returns `None` if an iteration computes its yielded value in another
    /// way.
    pub(super) fn find(around: Op<'c>, carried: LoopCarriedValue<'c>) -> Option<Self> {
        let combine = carried.after.def().filter(|def| def.is(spyre::POINTWISE) && def.parent() == Some(around))?;
        let &[had, part] = combine.inputs().as_slice() else { return None };
        let is_corrected =
            || had.def().is_some_and(|def| def.is(spyre::POINTWISE) && def.inputs().first() == Some(&carried.argument));
        (had == carried.argument || is_corrected()).then_some(Self { carried, combine, part })
    }
}
