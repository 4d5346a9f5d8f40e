//! Text of random integer expressions that have a value for all operands.

use crate::random::choices::Choices;
use std::fmt::Write;

/// Elements along the inner dimension of all tensors.
const LANES: usize = 65;
/// Number of segments in which a result is written; a floating-point number represents all bits of a segment.
const NUM_PARTS: usize = 3;
const PART_BITS: u32 = 22;

/// An integer type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IntegerType(&'static str, u32);

const I1: IntegerType = IntegerType("i1", 1);
const I64: IntegerType = IntegerType("i64", 64);
const INDEX: IntegerType = IntegerType("index", 64);
const TYPES: [IntegerType; 16] = [
    IntegerType("i32", 32),
    IntegerType("i8", 8),
    I64,
    I1,
    INDEX,
    IntegerType("i16", 16),
    IntegerType("i2", 2),
    IntegerType("i3", 3),
    IntegerType("i7", 7),
    IntegerType("i12", 12),
    IntegerType("i24", 24),
    IntegerType("i31", 31),
    IntegerType("i33", 33),
    IntegerType("i48", 48),
    IntegerType("i63", 63),
    IntegerType("i8", 8),
];
/// Types of arguments that the device computes with.
const RUNTIME_TYPES: [IntegerType; 4] = [IntegerType("i32", 32), IntegerType("i8", 8), I64, I1];
/// Types of tables.
const TABLE_TYPES: [IntegerType; 6] =
    [IntegerType("i8", 8), I1, IntegerType("i16", 16), IntegerType("i32", 32), I64, INDEX];

const BINARY: [&str; 10] = [
    "arith.addi",
    "arith.subi",
    "arith.muli",
    "arith.minsi",
    "arith.maxsi",
    "arith.minui",
    "arith.maxui",
    "arith.andi",
    "arith.ori",
    "arith.xori",
];
const SHIFTS: [&str; 3] = ["arith.shli", "arith.shrsi", "arith.shrui"];
const UNSIGNED_QUOTIENTS: [&str; 3] = ["arith.divui", "arith.remui", "arith.ceildivui"];
const SIGNED_QUOTIENTS: [&str; 4] = ["arith.divsi", "arith.remsi", "arith.floordivsi", "arith.ceildivsi"];
const PREDICATES: [&str; 10] = ["slt", "ult", "eq", "ne", "sle", "sgt", "sge", "ule", "ugt", "uge"];

/// Writer of an expression.
pub(crate) struct ExpressionWriter {
    /// The operations of the body.
    body: String,
    next: usize,
    /// Tables and arguments that the body reads, with their types, and the text of a table.
    inputs: Vec<(IntegerType, Option<String>)>,
    is_runtime: bool,
}

/// Returns a function with one result per expression.
pub(crate) fn program(writers: &[ExpressionWriter], element: &str) -> String {
    let shape = format!("tensor<{NUM_PARTS}x{LANES}x{element}>");
    let is_runtime = writers.iter().any(|writer| writer.is_runtime);
    let row = |element: &str| format!("tensor<{LANES}x{element}>");
    let result = if is_runtime { row(element) } else { shape };
    let (mut arguments, mut text) = (vec![format!("%x: {result}")], String::new());
    let _ = writeln!(text, "  %e = tensor.empty() : {result}");
    for (number, writer) in writers.iter().enumerate() {
        let (mut names, mut types) = (vec!["%x".to_owned()], vec![result.clone()]);
        for (input, (IntegerType(name, _), table)) in writer.inputs.iter().enumerate() {
            let value = format!("%v{number}_{input}");
            match table {
                Some(numbers) => {
                    let _ = writeln!(text, "  {value} = arith.constant dense<{numbers}> : {}", row(name));
                }
                None => arguments.push(format!("{value}: {}", row(name))),
            }
            names.push(value);
            types.push(row(name));
        }
        let (space, lanes, iterators) = if is_runtime { ("d0", "d0", 1) } else { ("d0, d1", "d1", 2) };
        let map = |dims: &str| format!("affine_map<({space}) -> ({dims})>");
        let maps: Vec<String> =
            std::iter::once(map(space)).chain(writer.inputs.iter().map(|_| map(lanes))).chain([map(space)]).collect();
        let blocks: Vec<String> = writer
            .inputs
            .iter()
            .enumerate()
            .map(|(input, (IntegerType(name, _), _))| format!("%i{input}: {name}, "))
            .collect();
        let _ = writeln!(
            text,
            "  %r{number} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}} ins({} : {}) outs(%e : {result}) {{\n  ^bb0(%a: {element}, {}%o: \
             {element}):\n{}  }} -> {result}",
            maps.join(", "),
            vec!["\"parallel\""; iterators].join(", "),
            names.join(", "),
            types.join(", "),
            blocks.concat(),
            writer.body.replace("ELEMENT", element),
        );
    }
    let results: Vec<String> = (0..writers.len()).map(|number| format!("%r{number}")).collect();
    let types = vec![result; writers.len()].join(", ");
    format!(
        "func.func @main({}) -> ({types}) {{\n{text}  return {} : {types}\n}}\n",
        arguments.join(", "),
        results.join(", ")
    )
}

impl ExpressionWriter {
    /// Returns a random expression, and the conversion of its integers to floating-point numbers.
    pub(crate) fn write(choices: &mut Choices, is_runtime: bool) -> Self {
        let mut writer = Self { body: String::new(), next: 0, inputs: Vec::new(), is_runtime };
        let of = writer.pick_type(choices);
        let depth = 1 + choices.below(if is_runtime { 3 } else { 4 });
        let value = writer.write_expression(choices, of, depth);
        let number = if is_runtime {
            let convert = if of == I1 || choices.one_in(3) { "uitofp" } else { "sitofp" };
            let value =
                if of == INDEX { writer.define(&format!("arith.index_cast {value} : index to i64")) } else { value };
            let name = if of == INDEX { "i64" } else { of.0 };
            writer.define(&format!("arith.{convert} {value} : {name} to ELEMENT"))
        } else {
            writer.write_part(&value, of)
        };
        let sum = writer.define(&format!("arith.addf %a, {number} : ELEMENT"));
        let _ = writeln!(writer.body, "    linalg.yield {sum} : ELEMENT");
        writer
    }

    fn define(&mut self, right: &str) -> String {
        let name = format!("%q{}", self.next);
        self.next += 1;
        let _ = writeln!(self.body, "    {name} = {right}");
        name
    }

    fn write_number(&mut self, number: i128, IntegerType(name, width): IntegerType) -> String {
        // The lowest bits as a signed number, because MLIR interprets every integer as signed.
        let unused = 128 - width;
        let number = (number << unused) >> unused;
        let text = if width == 1 { (number != 0).to_string() } else { format!("{number} : {name}") };
        self.define(&format!("arith.constant {text}"))
    }

    /// Writes bits of a value, selected by the index along the outer dimension, as a number.
    fn write_part(&mut self, value: &str, of: IntegerType) -> String {
        let wide = self.write_conversion(value, of, I64, true);
        let index = self.define("linalg.index 0 : index");
        let place = self.define(&format!("arith.index_cast {index} : index to i64"));
        let (bits, mask) = (self.write_number(PART_BITS.into(), I64), self.write_number((1 << PART_BITS) - 1, I64));
        let amount = self.define(&format!("arith.muli {place}, {bits} : i64"));
        let shifted = self.define(&format!("arith.shrsi {wide}, {amount} : i64"));
        let part = self.define(&format!("arith.andi {shifted}, {mask} : i64"));
        self.define(&format!("arith.sitofp {part} : i64 to ELEMENT"))
    }

    fn pick_type(&self, choices: &mut Choices) -> IntegerType {
        if self.is_runtime { *choices.pick(&RUNTIME_TYPES) } else { *choices.pick(&TYPES) }
    }

    fn write_conversion(&mut self, value: &str, from: IntegerType, to: IntegerType, is_signed: bool) -> String {
        let op = match (from == INDEX || to == INDEX, from.1.cmp(&to.1)) {
            _ if from == to => return value.to_owned(),
            (true, _) if is_signed => "arith.index_cast",
            (true, _) => "arith.index_castui",
            (_, std::cmp::Ordering::Less) if is_signed => "arith.extsi",
            (_, std::cmp::Ordering::Less) => "arith.extui",
            (_, std::cmp::Ordering::Greater) => "arith.trunci",
            (_, std::cmp::Ordering::Equal) => return value.to_owned(),
        };
        self.define(&format!("{op} {value} : {} to {}", from.0, to.0))
    }

    /// Draws a number at which expressions are likely to be wrong.
    fn draw_edge_number(&self, choices: &mut Choices, IntegerType(_, width): IntegerType) -> i128 {
        if self.is_runtime {
            return [1, 0, 2, 3, 5, 7, -1, -3, 10, 100][choices.below(10)];
        }
        let half = 1_i128 << (width - 1);
        match choices.below(9) {
            0 => 1,
            1 => 0,
            2 => -1,
            3 => half - 1,
            4 => -half,
            5 => 1 - half,
            6 => choices.below(20) as i128,
            7 => (1 << 53) + 1,
            _ => (0..4).fold(0, |bits, _| bits << 16 | choices.below(1 << 16) as i128),
        }
    }

    fn write_leaf(&mut self, choices: &mut Choices, of: IntegerType) -> String {
        match choices.below(if self.is_runtime { 5 } else { 4 }) {
            0 => {
                let number = self.draw_edge_number(choices, of);
                self.write_number(number, of)
            }
            1 if !self.is_runtime => {
                let dim = choices.below(2);
                let index = self.define(&format!("linalg.index {dim} : index"));
                self.write_index_cast(choices, &index, of)
            }
            _ => {
                let types: &[IntegerType] = if self.is_runtime { &RUNTIME_TYPES } else { &TABLE_TYPES };
                let from = if choices.one_in(3) {
                    *choices.pick(types)
                } else {
                    types.iter().copied().find(|&known| known == of).unwrap_or(types[0])
                };
                let input = self.pick_input(choices, from);
                let is_signed = !choices.one_in(3);
                self.write_conversion(&format!("%i{input}"), from, of, is_signed)
            }
        }
    }

    fn write_index_cast(&mut self, choices: &mut Choices, index: &str, of: IntegerType) -> String {
        let is_signed = choices.one_in(2);
        self.write_conversion(index, INDEX, of, is_signed)
    }

    /// Returns a table or an argument of a type, an existing or a new one.
    fn pick_input(&mut self, choices: &mut Choices, from: IntegerType) -> usize {
        let there: Vec<usize> = (0..self.inputs.len()).filter(|&input| self.inputs[input].0 == from).collect();
        if !there.is_empty() && !choices.one_in(3) {
            return *choices.pick(&there);
        }
        let table = (!self.is_runtime).then(|| {
            let unused = 128 - from.1;
            let number =
                |choices: &mut Choices, writer: &Self| (writer.draw_edge_number(choices, from) << unused) >> unused;
            let numbers: Vec<i128> = (0..LANES).map(|_| number(choices, self)).collect();
            let text = |number: &i128| if from == I1 { (*number != 0).to_string() } else { number.to_string() };
            format!("[{}]", numbers.iter().map(text).collect::<Vec<_>>().join(", "))
        });
        self.inputs.push((from, table));
        self.inputs.len() - 1
    }

    fn write_expression(&mut self, choices: &mut Choices, of: IntegerType, depth: usize) -> String {
        if depth == 0 {
            return self.write_leaf(choices, of);
        }
        match choices.below(12) {
            0..=2 => {
                let (op, one, other) = (
                    *choices.pick(&BINARY),
                    self.write_expression(choices, of, depth - 1),
                    self.write_expression(choices, of, depth - 1),
                );
                self.define(&format!("{op} {one}, {other} : {}", of.0))
            }
            3 => self.write_shift(choices, of, depth),
            4 => self.write_quotient(choices, of, depth),
            5 | 6 => self.write_comparison(choices, of, depth),
            7 => {
                let value = self.write_expression(choices, of, depth - 1);
                self.define(&format!("math.absi {value} : {}", of.0))
            }
            8 if of != INDEX && of != I1 && !self.is_runtime => self.write_float_roundtrip(choices, of, depth),
            9 => {
                let (condition, yes, no) = (
                    self.write_expression(choices, I1, depth - 1),
                    self.write_expression(choices, of, depth - 1),
                    self.write_expression(choices, of, depth - 1),
                );
                self.define(&format!("arith.select {condition}, {yes}, {no} : {}", of.0))
            }
            _ => {
                let from = self.pick_type(choices);
                let value = self.write_expression(choices, from, depth - 1);
                let is_signed = choices.one_in(2);
                self.write_conversion(&value, from, of, is_signed)
            }
        }
    }

    /// Writes a shift by less than the width, or by any amount, with a select that replaces the result if it is too
    /// large.
    fn write_shift(&mut self, choices: &mut Choices, of: IntegerType, depth: usize) -> String {
        let (op, value) = (*choices.pick(&SHIFTS), self.write_expression(choices, of, depth - 1));
        if self.is_runtime {
            let amount = self.write_number(choices.below(of.1.min(12) as usize) as i128, of);
            return self.define(&format!("{op} {value}, {amount} : {}", of.0));
        }
        let amount = self.write_expression(choices, of, depth - 1);
        let last = self.write_number(i128::from(of.1) - 1, of);
        let name = of.0;
        if choices.one_in(2) {
            let amount = self.define(&format!("arith.minui {amount}, {last} : {name}"));
            return self.define(&format!("{op} {value}, {amount} : {name}"));
        }
        let is_less = self.define(&format!("arith.cmpi ule, {amount}, {last} : {name}"));
        let shifted = self.define(&format!("{op} {value}, {amount} : {name}"));
        self.define(&format!("arith.select {is_less}, {shifted}, {value} : {name}"))
    }

    /// Writes a quotient or remainder whose divisor is neither 0 nor an overflowing -1.
    fn write_quotient(&mut self, choices: &mut Choices, of: IntegerType, depth: usize) -> String {
        let is_signed = of != I1 && choices.one_in(2);
        let op = if is_signed { *choices.pick(&SIGNED_QUOTIENTS) } else { *choices.pick(&UNSIGNED_QUOTIENTS) };
        let dividend = self.write_expression(choices, of, depth - 1);
        let name = of.0;
        if self.is_runtime && !choices.one_in(4) {
            let divisor = self.write_number([3, 1, 2, 7, 10, 100][choices.below(6)], of);
            return self.define(&format!("{op} {dividend}, {divisor} : {name}"));
        }
        let mut divisor = self.write_expression(choices, of, depth - 1);
        let one = self.write_number(1, of);
        if self.is_runtime && of != I1 {
            let divisor = self.define(&format!("arith.maxsi {divisor}, {one} : {name}"));
            return self.define(&format!("{op} {dividend}, {divisor} : {name}"));
        }
        for forbidden in [0, -1].into_iter().take(if is_signed { 2 } else { 1 }) {
            let forbidden = self.write_number(forbidden, of);
            let is_it = self.define(&format!("arith.cmpi eq, {divisor}, {forbidden} : {name}"));
            divisor = self.define(&format!("arith.select {is_it}, {one}, {divisor} : {name}"));
        }
        self.define(&format!("{op} {dividend}, {divisor} : {name}"))
    }

    fn write_comparison(&mut self, choices: &mut Choices, of: IntegerType, depth: usize) -> String {
        let (predicate, compared) = (*choices.pick(&PREDICATES), self.pick_type(choices));
        let (one, other) =
            (self.write_expression(choices, compared, depth - 1), self.write_expression(choices, compared, depth - 1));
        let truth = self.define(&format!("arith.cmpi {predicate}, {one}, {other} : {}", compared.0));
        if of == I1 {
            return truth;
        }
        if choices.one_in(2) {
            let (yes, no) = (self.write_expression(choices, of, depth - 1), self.write_leaf(choices, of));
            return self.define(&format!("arith.select {truth}, {yes}, {no} : {}", of.0));
        }
        let is_signed = choices.one_in(2);
        self.write_conversion(&truth, I1, of, is_signed)
    }

    /// Writes a conversion of an integer to a number and back, of fewer bits than the type and the number have.
    fn write_float_roundtrip(&mut self, choices: &mut Choices, of: IntegerType, depth: usize) -> String {
        let narrower: Vec<IntegerType> =
            TYPES.into_iter().filter(|from| *from != INDEX && from.1 < of.1 && from.1 <= 48).collect();
        let from = *choices.pick(&narrower);
        let value = self.write_expression(choices, from, depth - 1);
        let sign = if choices.one_in(2) { "u" } else { "s" };
        let number = self.define(&format!("arith.{sign}itofp {value} : {} to f64", from.0));
        self.define(&format!("arith.fpto{sign}i {number} : f64 to {}", of.0))
    }
}
