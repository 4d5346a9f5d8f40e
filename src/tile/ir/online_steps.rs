//! Translates ops and loops to steps of [`Online`].

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{Carried, ComputeOp, plain_view},
    mlir::{Op, OpExt, Value, ValueExt, ValueMap, shape_of},
    tile::{Correction, Form, Online, Read, Rule, Step},
};
use machine::Family;

/// Forms of values, with their numbers in [`Online`].
#[derive(Default)]
pub(super) struct Analysis<'c> {
    online: Online,
    numbers: ValueMap<usize>,
    values: Vec<Value<'c>>,
}

impl<'c> Analysis<'c> {
    /// Records the form of a value that no op defines.
    pub(super) fn note(&mut self, value: Value<'c>, form: Form) {
        let number = self.number(value);
        self.online.note(number, form, &shape_of(value));
    }

    /// Records that a value equals another one.
    pub(super) fn same(&mut self, value: Value<'c>, other: Value<'c>) {
        let number = self.number(other);
        self.numbers.insert(value, number);
    }

    pub(super) fn form(&self, value: Value<'_>) -> &Form {
        self.numbers.get(value).map_or(&Form::Outside, |number| self.online.form(*number))
    }

    /// Returns the value of a number.
    pub(super) fn value(&self, number: usize) -> Value<'c> {
        self.values[number]
    }

    /// Analyzes an op.
    pub(super) fn read(&mut self, op: Op<'c>) {
        let Some(&output) = op.outputs().first() else { return };
        let reads = match ComputeOp::of(op) {
            Some(compute) => self.reads(compute),
            None if op.is(spyre::VIEW) => vec![self.shown(op)],
            None => Vec::new(),
        };
        let step = Step { rule: rule_of(op), reads, reduces_axis: false, output: self.number(output), shape: shape_of(output) };
        self.online.step(&step);
    }

    /// Analyzes the body of a loop. Returns the correction of each carried value.
    pub(super) fn read_body(&mut self, around: Op<'c>, carried: &[Accumulated<'c>]) -> Vec<Option<Correction>> {
        let mut corrections = vec![None; carried.len()];
        for op in around.body_ops() {
            match carried.iter().position(|carried| carried.combine == op) {
                Some(place) => corrections[place] = self.accumulate(&carried[place]),
                None => self.read(op),
            }
        }
        corrections
    }

    fn accumulate(&mut self, accumulated: &Accumulated<'c>) -> Option<Correction> {
        let after = accumulated.combine.output();
        let shape = shape_of(after);
        let rule = match accumulated.combine.text_attr(attr::FUNCTION) {
            "add" => Rule::Sum,
            "maximum" => Rule::Max,
            "minimum" => Rule::Min,
            _ => Rule::Other,
        };
        let read = Read { value: self.number(accumulated.part), dims: (0..shape.len()).map(Some).collect() };
        let step = Step { rule, reads: vec![read], reduces_axis: true, output: self.number(after), shape };
        self.online.step(&step)
    }

    fn reads(&mut self, compute: ComputeOp<'c>) -> Vec<Read> {
        let values = compute.reads();
        let written = compute.operand_dims(values.len());
        let moved = |dim: Option<usize>| dim.and_then(|dim| written.iter().position(|other| *other == Some(dim)));
        let read = |(operand, value): (usize, &Value<'c>)| Read {
            value: self.number(*value),
            dims: compute.operand_dims(operand).into_iter().map(moved).collect(),
        };
        let mut reads: Vec<Read> = values.iter().enumerate().map(read).collect();
        if compute.is_insert() {
            let buffer = compute.op.inputs()[values.len()];
            reads.push(Read { value: self.number(buffer), dims: (0..shape_of(buffer).len()).map(Some).collect() });
        }
        reads
    }

    /// Returns the operand that a view reads. A dimension is followed only where the view shows all of it.
    fn shown(&mut self, view: Op<'c>) -> Read {
        let input = view.inputs()[0];
        let (own, behind) = (shape_of(view.output()), shape_of(input));
        let indices = plain_view(view).unwrap_or_else(|| vec![(None, 0); behind.len()]);
        let followed = |((moving, first), size): ((Option<usize>, i64), &i64)| moving.filter(|dim| first == 0 && own[*dim] == *size);
        Read { value: self.number(input), dims: indices.into_iter().zip(&behind).map(followed).collect() }
    }

    fn number(&mut self, value: Value<'c>) -> usize {
        if let Some(&number) = self.numbers.get(value) {
            return number;
        }
        self.numbers.insert(value, self.values.len());
        self.values.push(value);
        self.values.len() - 1
    }
}

/// Returns the kind of an op, as far as its result's dependence on running values is concerned.
pub(crate) fn rule_of(op: Op<'_>) -> Rule {
    let Some(compute) = ComputeOp::of(op) else { return if op.is(spyre::VIEW) { Rule::Same } else { Rule::Other } };
    match (compute.family(), compute.function()) {
        (Family::Copy, _) if !compute.is_insert() => Rule::Same,
        (Family::Matmul, _) => Rule::Product,
        (Family::Pointwise, "add") => Rule::Add,
        (Family::Pointwise, "sub") => Rule::Sub,
        (Family::Pointwise, "mul") => Rule::Mul,
        (Family::Pointwise, "realdiv") => Rule::Div,
        (Family::Pointwise, "neg") => Rule::Neg,
        (Family::Pointwise, "exp") => Rule::Exp,
        (Family::Pointwise, "maximum") => Rule::Maximum,
        (Family::Pointwise, "minimum") => Rule::Minimum,
        (Family::Reduce, "sum" | "mean") => Rule::Sum,
        (Family::Reduce, "max") => Rule::Max,
        (Family::Reduce, "min") => Rule::Min,
        _ => Rule::Other,
    }
}

/// Carried value with which each iteration combines a partial result.
#[derive(Clone, Copy)]
pub(super) struct Accumulated<'c> {
    /// All aliases of the value.
    pub(super) carried: Carried<'c>,
    /// Op that combines the carried value with the partial result, and the order of its operands.
    pub(super) combine: Op<'c>,
    /// Partial result.
    pub(super) part: Value<'c>,
}

impl<'c> Accumulated<'c> {
    /// Returns None if an iteration computes its yielded value in another way.
    pub(super) fn of(around: Op<'c>, carried: Carried<'c>) -> Option<Self> {
        let combine = carried.after.def().filter(|def| def.is(spyre::POINTWISE) && def.parent() == Some(around))?;
        let &[had, part] = combine.inputs().as_slice() else { return None };
        let is_corrected = || had.def().is_some_and(|def| def.is(spyre::POINTWISE) && def.inputs().first() == Some(&carried.argument));
        (had == carried.argument || is_corrected()).then_some(Self { carried, combine, part })
    }
}
