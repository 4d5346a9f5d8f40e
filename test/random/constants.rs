//! Constants in all spellings, called functions, booleans, and f32 regions.

use crate::random::{
    build::{ElementKind, OperandRead, ProgramBuilder, TensorValue, for_each_point, join_list},
    choices::mix,
    compute::OpDestination,
    number::{BinaryFunction, BoundedValue, UnaryFunction},
    scalar::{BooleanExpression, LogicOp, ScalarWriter},
};

/// Spelling of a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConstantSpelling {
    /// `arith.constant` of one number.
    Splat,
    /// `linalg.fill`
    Fill,
    /// `tensor.splat`
    TensorSplat,
    /// `arith.constant` of a number for each element.
    Dense,
    /// `tensor.from_elements`
    FromElements,
}

/// Maximum number of elements that are written one by one.
pub(crate) const MAX_WRITTEN_ELEMENTS: usize = 256;

impl ProgramBuilder {
    /// Adds a constant whose dimensions have these classes.
    pub(crate) fn add_constant(
        &mut self,
        shape: &[usize],
        classes: &[usize],
        spelling: ConstantSpelling,
        literal: &'static str,
    ) -> usize {
        let (result, of_result, element, length) =
            (self.next_number(), self.float_type(shape), self.element, shape.iter().product::<usize>());
        let own = |at: usize| ((mix(at as u64 ^ result as u64) % 17) as f64 - 8.0) / 4.0;
        let is_written = matches!(spelling, ConstantSpelling::Dense | ConstantSpelling::FromElements)
            && (1..=MAX_WRITTEN_ELEMENTS).contains(&length);
        let number = self.round(literal.parse().unwrap());
        let data = (0..length).map(|at| BoundedValue::from_exact(if is_written { own(at) } else { number })).collect();
        let scalar = format!("%c{result} = arith.constant {literal} : {element}\n");
        let text = match spelling {
            ConstantSpelling::Dense if is_written => {
                format!(
                    "%v{result} = arith.constant dense<{}> : {of_result}\n",
                    format_nested(shape, &mut (0..length).map(own))
                )
            }
            ConstantSpelling::FromElements if is_written => {
                let names: Vec<String> = (0..length).map(|at| format!("%c{result}_{at}")).collect();
                let lines = names
                    .iter()
                    .enumerate()
                    .map(|(at, name)| format!("{name} = arith.constant {:?} : {element}\n", own(at)));
                lines.collect::<String>()
                    + &format!("%v{result} = tensor.from_elements {} : {of_result}\n", join_list(&names))
            }
            ConstantSpelling::Fill => {
                format!(
                    "{scalar}%e{result} = tensor.empty() : {of_result}\n\
                     %v{result} = linalg.fill ins(%c{result} : {element}) outs(%e{result} : {of_result}) -> {of_result}\n"
                )
            }
            ConstantSpelling::TensorSplat => format!("{scalar}%v{result} = tensor.splat %c{result} : {of_result}\n"),
            _ => format!("%v{result} = arith.constant dense<{literal}> : {of_result}\n"),
        };
        self.push(TensorValue { shape: shape.to_vec(), classes: classes.to_vec(), data, kind: self.kind }, &[], text)
    }

    /// Adds booleans over an iteration space.
    pub(crate) fn add_truths(&mut self, sizes: &[usize], reads: &[OperandRead], truth: &BooleanExpression) -> usize {
        let classes = self.unify_classes(sizes, reads);
        let names: Vec<String> = (0..reads.len()).map(|position| format!("%x{position}")).collect();
        let mut lines = ScalarWriter { text: String::new(), next: 0, element: self.element, names: &names };
        let result = lines.write_truth(truth);
        let body = format!("{}  linalg.yield {result} : i1\n", lines.text);
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let text = self.generic_text(sizes, reads, &identity, &body, OpDestination::Nothing, ElementKind::Truth);
        let steps: Vec<_> = reads.iter().map(|read| self.read_strides(read, sizes.len())).collect();
        let mut data = Vec::with_capacity(sizes.iter().product());
        for_each_point(sizes, |point| {
            let at = |steps: &Vec<usize>| steps.iter().zip(point).map(|(step, index)| step * index).sum::<usize>();
            let operands: Vec<BoundedValue> =
                reads.iter().zip(&steps).map(|((value, _), steps)| self.values[*value].data[at(steps)]).collect();
            data.push(truth.evaluate(&operands, point, &|number| self.round(number)));
        });
        let operands: Vec<usize> = reads.iter().map(|(value, _)| *value).collect();
        let dims = classes.iter().copied().zip(sizes.iter().copied()).collect();
        self.push_over(
            TensorValue { shape: sizes.to_vec(), classes, data, kind: ElementKind::Truth },
            &operands,
            text,
            dims,
        )
    }

    /// Combines two boolean tensors of one shape, without a body.
    pub(crate) fn add_logic(&mut self, logic: LogicOp, one: usize, other: usize) -> usize {
        let (TensorValue { shape, classes, data, .. }, of_other) =
            (self.values[one].clone(), self.values[other].data.clone());
        let data = data.iter().zip(of_other).map(|(one, other)| logic.apply(*one, other)).collect();
        let text = format!("%v{} = {} {{0}}, {{1}} : {}\n", self.next_number(), logic.op(), self.type_text(one));
        let others = self.values[other].classes.clone();
        classes.iter().zip(others).for_each(|(class, other)| self.unite(*class, other));
        let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
        self.push_over(TensorValue { shape, classes, data, kind: ElementKind::Truth }, &[one, other], text, dims)
    }

    /// Adds a select between two values of one shape, or between two numbers, without a body.
    pub(crate) fn add_select(&mut self, truth: usize, yes: usize, no: usize) -> usize {
        let TensorValue { shape, classes, data, .. } = self.values[truth].clone();
        let numbers =
            (0..data.len()).map(|at| data[at].select(self.values[yes].data[at], self.values[no].data[at])).collect();
        let of_result = self.float_type(&shape);
        let text = format!(
            "%v{} = arith.select {{0}}, {{1}}, {{2}} : {}, {of_result}\n",
            self.next_number(),
            self.type_text(truth)
        );
        for value in [yes, no] {
            let others = self.values[value].classes.clone();
            classes.iter().zip(others).for_each(|(class, other)| self.unite(*class, other));
        }
        let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
        self.push_over(TensorValue { shape, classes, data: numbers, kind: self.kind }, &[truth, yes, no], text, dims)
    }

    /// Calls a separate function, which is emitted once, with each of these values of one shape.
    pub(crate) fn add_calls(&mut self, values: &[usize], function: UnaryFunction, added: &'static str) {
        let shape = self.shape(values[0]);
        let (number, of_values, element) = (self.next_number(), self.float_type(&shape), self.element);
        self.functions += &format!(
            "func.func private @own{number}(%x: {of_values}) -> {of_values} {{\n  \
             %c = arith.constant dense<{added}> : {of_values}\n  %a = {} %x : {of_values}\n  \
             %r = arith.addf %a, %c : {of_values}\n  return %r : {of_values}\n}}\n",
            function.op()
        );
        let added = BoundedValue::from_exact(self.round(added.parse().unwrap()));
        for &value in values {
            let TensorValue { shape, classes, data, kind } = self.values[value].clone();
            let data = data
                .iter()
                .map(|number| number.apply_unary(function).apply_binary(BinaryFunction::Add, added))
                .collect();
            debug_assert!(element == self.element);
            let text =
                format!("%v{} = func.call @own{number}({{0}}) : ({of_values}) -> {of_values}\n", self.next_number());
            let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
            self.push_over(TensorValue { shape, classes, data, kind }, &[value], text, dims);
        }
    }

    /// Converts a value to another float type, by an op on tensors or by an op with a body. Returns the result.
    pub(crate) fn add_conversion(&mut self, value: usize, to: ElementKind) -> usize {
        let TensorValue { shape, classes, data, kind } = self.values[value].clone();
        let op = if to == ElementKind::Wide { "arith.extf" } else { "arith.truncf" };
        let (of_value, of_result) = (self.type_of(&shape, kind), self.type_of(&shape, to));
        let (from, element) = (self.element_type(kind), self.element_type(to));
        let text = if self.choices.one_in(2) {
            let body = format!("  %q0 = {op} %x0 : {from} to {element}\n  linalg.yield %q0 : {element}\n");
            let read = self.identity_read(value);
            let identity = read.1.clone();
            self.generic_text(&shape, &[read], &identity, &body, OpDestination::Nothing, to)
        } else {
            format!("%v{} = {op} {{0}} : {of_value} to {of_result}\n", self.next_number())
        };
        let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
        self.push_over(TensorValue { shape, classes, data, kind: to }, &[value], text, dims)
    }

    /// Casts a value to its own type; other casts between static shapes do not exist.
    pub(crate) fn add_cast(&mut self, value: usize) -> usize {
        let (copy, of_value) = (self.values[value].clone(), self.type_text(value));
        let text = format!("%v{} = tensor.cast {{0}} : {of_value} to {of_value}\n", self.next_number());
        self.push(copy, &[value], text)
    }

    /// Overwrites a slice of a value by another value.
    pub(crate) fn add_insert(&mut self, part: usize, into: usize, offsets: &[usize]) -> usize {
        let (TensorValue { shape: of_part, data: new, .. }, TensorValue { shape, classes, data, kind }) =
            (self.values[part].clone(), self.values[into].clone());
        let text = format!(
            "%v{} = tensor.insert_slice {{0}} into {{1}}[{}] [{}] [{}] : {} into {}\n",
            self.next_number(),
            join_list(offsets),
            join_list(&of_part),
            join_list(of_part.iter().map(|_| 1)),
            self.type_text(part),
            self.type_text(into),
        );
        let steps = crate::random::build::compute_strides(&shape);
        let (mut data, mut at) = (data, 0);
        for_each_point(&of_part, |point| {
            data[point
                .iter()
                .zip(offsets)
                .zip(&steps)
                .map(|((at, offset), step)| (at + offset) * step)
                .sum::<usize>()] = new[at];
            at += 1;
        });
        self.push(TensorValue { shape, classes, data, kind }, &[part, into], text)
    }
}

/// Formats numbers in nested brackets, as in an attribute.
fn format_nested(shape: &[usize], numbers: &mut impl Iterator<Item = f64>) -> String {
    match shape {
        [] => numbers.next().map_or_else(String::new, |number| format!("{number:?}")),
        [size, rest @ ..] => {
            format!("[{}]", join_list((0..*size).map(|_| format_nested(rest, numbers)).collect::<Vec<_>>()))
        }
    }
}
