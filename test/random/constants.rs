//! Ops of random programs: constants in all spellings, calls, booleans, casts, f32 regions and slice insertions.

use crate::random::{
    build::{ElementKind, OperandRead, ProgramBuilder, TensorValue, for_each_point, join_list},
    choices::mix,
    compute::OpDestination,
    number::{BinaryFunction, BoundedValue, UnaryFunction},
    scalar::{BooleanExpression, LogicOp, ScalarWriter},
};

/// Op, or form of its attribute, that defines a constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConstantSpelling {
    /// `arith.constant` with a splat attribute
    Splat,
    /// `linalg.fill`
    Fill,
    /// `tensor.splat`
    TensorSplat,
    /// `arith.constant` with one number per element
    Dense,
    /// `tensor.from_elements`
    FromElements,
}

/// Maximum number of elements of a constant whose text lists each element.
pub(crate) const MAX_LISTED_ELEMENTS: usize = 256;

impl ProgramBuilder {
    /// Adds a constant, and returns its number. `classes` has the union-find class of each dimension.
    pub(crate) fn add_constant(
        &mut self,
        shape: &[usize],
        classes: &[usize],
        spelling: ConstantSpelling,
        literal: &'static str,
    ) -> usize {
        let (result, of_result, element, length) =
            (self.next_number(), self.float_type(shape), self.element, shape.iter().product::<usize>());
        let element_at = |at: usize| ((mix(at as u64 ^ result as u64) % 17) as f64 - 8.0) / 4.0;
        let lists_elements = matches!(spelling, ConstantSpelling::Dense | ConstantSpelling::FromElements)
            && (1..=MAX_LISTED_ELEMENTS).contains(&length);
        let number = self.round(literal.parse().unwrap());
        let data = (0..length)
            .map(|at| BoundedValue::from_exact(if lists_elements { element_at(at) } else { number }))
            .collect();
        let scalar = format!("%c{result} = arith.constant {literal} : {element}\n");
        let text = match spelling {
            ConstantSpelling::Dense if lists_elements => {
                format!(
                    "%v{result} = arith.constant dense<{}> : {of_result}\n",
                    format_nested(shape, &mut (0..length).map(element_at))
                )
            }
            ConstantSpelling::FromElements if lists_elements => {
                let names: Vec<String> = (0..length).map(|at| format!("%c{result}_{at}")).collect();
                let lines = names
                    .iter()
                    .enumerate()
                    .map(|(at, name)| format!("{name} = arith.constant {:?} : {element}\n", element_at(at)));
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

    /// Adds a `linalg.generic` that computes booleans over an iteration space.
    pub(crate) fn add_booleans(
        &mut self,
        sizes: &[usize],
        reads: &[OperandRead],
        expression: &BooleanExpression,
    ) -> usize {
        let classes = self.unify_classes(sizes, reads);
        let names: Vec<String> = (0..reads.len()).map(|position| format!("%x{position}")).collect();
        let mut lines = ScalarWriter { text: String::new(), next: 0, element: self.element, names: &names };
        let result = lines.write_truth(expression);
        let body = format!("{}  linalg.yield {result} : i1\n", lines.text);
        let identity: Vec<Option<usize>> = (0..sizes.len()).map(Some).collect();
        let text = self.generic_text(sizes, reads, &identity, &body, OpDestination::Nothing, ElementKind::Boolean);
        let strides: Vec<_> = reads.iter().map(|read| self.read_strides(read, sizes.len())).collect();
        let mut data = Vec::with_capacity(sizes.iter().product());
        for_each_point(sizes, |point| {
            let compute_offset =
                |steps: &Vec<usize>| steps.iter().zip(point).map(|(step, index)| step * index).sum::<usize>();
            let operands: Vec<BoundedValue> = reads
                .iter()
                .zip(&strides)
                .map(|((value, _), steps)| self.values[*value].data[compute_offset(steps)])
                .collect();
            data.push(expression.evaluate(&operands, point, &|number| self.round(number)));
        });
        let operands: Vec<usize> = reads.iter().map(|(value, _)| *value).collect();
        let dims = classes.iter().copied().zip(sizes.iter().copied()).collect();
        self.push_over(
            TensorValue { shape: sizes.to_vec(), classes, data, kind: ElementKind::Boolean },
            &operands,
            text,
            dims,
        )
    }

    /// Adds a logic op on two boolean tensors of one shape, without a `linalg.generic`.
    pub(crate) fn add_logic_op(&mut self, logic: LogicOp, lhs: usize, rhs: usize) -> usize {
        let (TensorValue { shape, classes, data, .. }, of_other) =
            (self.values[lhs].clone(), self.values[rhs].data.clone());
        let data = data.iter().zip(of_other).map(|(one, other)| logic.apply(*one, other)).collect();
        let text = format!("%v{} = {} {{0}}, {{1}} : {}\n", self.next_number(), logic.op(), self.type_text(lhs));
        let others = self.values[rhs].classes.clone();
        classes.iter().zip(others).for_each(|(class, other)| self.unite(*class, other));
        let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
        self.push_over(TensorValue { shape, classes, data, kind: ElementKind::Boolean }, &[lhs, rhs], text, dims)
    }

    /// Adds an `arith.select` between two tensors of one shape, without a `linalg.generic`.
    pub(crate) fn add_select(&mut self, condition: usize, true_value: usize, false_value: usize) -> usize {
        let TensorValue { shape, classes, data, .. } = self.values[condition].clone();
        let numbers = (0..data.len())
            .map(|at| data[at].select(self.values[true_value].data[at], self.values[false_value].data[at]))
            .collect();
        let of_result = self.float_type(&shape);
        let text = format!(
            "%v{} = arith.select {{0}}, {{1}}, {{2}} : {}, {of_result}\n",
            self.next_number(),
            self.type_text(condition)
        );
        for value in [true_value, false_value] {
            let others = self.values[value].classes.clone();
            classes.iter().zip(others).for_each(|(class, other)| self.unite(*class, other));
        }
        let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
        self.push_over(
            TensorValue { shape, classes, data: numbers, kind: self.kind },
            &[condition, true_value, false_value],
            text,
            dims,
        )
    }

    /// Adds a private function, and a call of it for each of these values of one shape. The function applies `function`
    /// and adds the number `added`.
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

    /// Adds a conversion to another float type: `arith` on tensors, or a `linalg.generic`. Returns the result.
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

    /// Adds a `tensor.cast` to the same type; between static shapes, no other cast is valid.
    pub(crate) fn add_cast(&mut self, value: usize) -> usize {
        let (copy, of_value) = (self.values[value].clone(), self.type_text(value));
        let text = format!("%v{} = tensor.cast {{0}} : {of_value} to {of_value}\n", self.next_number());
        self.push(copy, &[value], text)
    }

    /// Adds a `tensor.insert_slice` of one value into another.
    pub(crate) fn add_insert(&mut self, slice: usize, base: usize, offsets: &[usize]) -> usize {
        let (TensorValue { shape: slice_shape, data: slice_data, .. }, TensorValue { shape, classes, data, kind }) =
            (self.values[slice].clone(), self.values[base].clone());
        let text = format!(
            "%v{} = tensor.insert_slice {{0}} into {{1}}[{}] [{}] [{}] : {} into {}\n",
            self.next_number(),
            join_list(offsets),
            join_list(&slice_shape),
            join_list(slice_shape.iter().map(|_| 1)),
            self.type_text(slice),
            self.type_text(base),
        );
        let strides = crate::random::build::compute_strides(&shape);
        let (mut data, mut at) = (data, 0);
        for_each_point(&slice_shape, |point| {
            data[point
                .iter()
                .zip(offsets)
                .zip(&strides)
                .map(|((at, offset), step)| (at + offset) * step)
                .sum::<usize>()] = slice_data[at];
            at += 1;
        });
        self.push(TensorValue { shape, classes, data, kind }, &[slice, base], text)
    }
}

/// Formats numbers as a dense elements literal, in nested brackets.
fn format_nested(shape: &[usize], numbers: &mut impl Iterator<Item = f64>) -> String {
    match shape {
        [] => numbers.next().map_or_else(String::new, |number| format!("{number:?}")),
        [size, rest @ ..] => {
            format!("[{}]", join_list((0..*size).map(|_| format_nested(rest, numbers)).collect::<Vec<_>>()))
        }
    }
}
