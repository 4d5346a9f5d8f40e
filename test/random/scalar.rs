//! Scalar computation of an elementwise op: its text and its value.

use crate::random::number::{BinaryFunction, BoundedValue, ComparisonKind, UnaryFunction};

/// Scalar computation.
#[derive(Clone, Debug)]
pub(crate) enum ScalarExpression {
    Operand(usize),
    /// A literal of MLIR.
    Constant(&'static str),
    Unary(UnaryFunction, Box<ScalarExpression>),
    Binary(BinaryFunction, Box<ScalarExpression>, Box<ScalarExpression>),
    /// `x * y + z`
    Fma([Box<ScalarExpression>; 3]),
    /// Clamp between two others.
    Clamp([Box<ScalarExpression>; 3]),
    Power(Box<ScalarExpression>, ExponentSpelling),
    /// A computation that the compiler may approximate.
    Approximate(Box<ScalarExpression>),
    /// Select between two values.
    Choose(BooleanExpression, [Box<ScalarExpression>; 2], SelectSpelling),
    /// Truth value as 1 or 0, or as -1 or 0 if signed.
    FromBoolean(BooleanExpression, bool),
    /// Index of the element along an iteration dimension, as a number. Optionally with a function of it that the
    /// compiler can evaluate and the device does not have.
    Position(usize, Option<&'static str>),
}

/// Spelling of a select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SelectSpelling {
    Select,
    If,
}

/// Spelling of an exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ExponentSpelling {
    /// `math.fpowi`
    Integer(i32),
    /// `math.powf`
    Float(&'static str),
}

/// Boolean computation.
#[derive(Clone, Debug)]
pub(crate) enum BooleanExpression {
    Compare(ComparisonKind, [Box<ScalarExpression>; 2]),
    /// Boolean operand.
    Mask(usize),
    Logic(LogicOp, Box<BooleanExpression>, Box<BooleanExpression>),
    /// Comparison of positions along two iteration dimensions, as in a causal mask, by a predicate of `arith.cmpi`. An
    /// integer op is applied to the first one.
    Positions(&'static str, [usize; 2], IntegerOp),
}

/// Op on an integer that is known at compile time, and its other operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IntegerOp(pub(crate) &'static str, pub(crate) usize);

pub(crate) const INTEGER_OPS: [IntegerOp; 14] = [
    IntegerOp("addi", 0),
    IntegerOp("addi", 2),
    IntegerOp("subi", 1),
    IntegerOp("muli", 2),
    IntegerOp("divsi", 2),
    IntegerOp("divui", 2),
    IntegerOp("floordivsi", 3),
    IntegerOp("ceildivsi", 2),
    IntegerOp("remsi", 3),
    IntegerOp("remui", 5),
    IntegerOp("maxsi", 2),
    IntegerOp("maxui", 3),
    IntegerOp("minsi", 5),
    IntegerOp("minui", 4),
];

impl IntegerOp {
    fn apply(self, position: usize) -> i64 {
        let (at, by) = (position as i64, self.1 as i64);
        match self.0 {
            "addi" => at + by,
            "subi" => at - by,
            "muli" => at * by,
            "divsi" | "divui" | "floordivsi" => at / by,
            "ceildivsi" => (at + by - 1) / by,
            "remsi" | "remui" => at % by,
            "maxsi" | "maxui" => at.max(by),
            _ => at.min(by),
        }
    }
}

/// Op that combines booleans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogicOp {
    And,
    Or,
    Xor,
}

pub(crate) fn operand(position: usize) -> Box<ScalarExpression> {
    Box::new(ScalarExpression::Operand(position))
}

pub(crate) fn unary(function: UnaryFunction, of: Box<ScalarExpression>) -> Box<ScalarExpression> {
    Box::new(ScalarExpression::Unary(function, of))
}

pub(crate) fn binary(
    function: BinaryFunction,
    left: Box<ScalarExpression>,
    right: Box<ScalarExpression>,
) -> Box<ScalarExpression> {
    Box::new(ScalarExpression::Binary(function, left, right))
}

pub(crate) fn literal(text: &'static str) -> Box<ScalarExpression> {
    Box::new(ScalarExpression::Constant(text))
}

impl LogicOp {
    /// Returns the op on booleans.
    pub(crate) const fn op(self) -> &'static str {
        match self {
            Self::And => "arith.andi",
            Self::Or => "arith.ori",
            Self::Xor => "arith.xori",
        }
    }

    pub(crate) fn apply(self, one: BoundedValue, other: BoundedValue) -> BoundedValue {
        let (a, b) = (one.value != 0.0, other.value != 0.0);
        let is = match self {
            Self::And => a && b,
            Self::Or => a || b,
            Self::Xor => a != b,
        };
        BoundedValue { value: f64::from(is), error: one.error.max(other.error) }
    }
}

/// Returns whether a predicate of `arith.cmpi` holds for 64-bit integers.
pub(crate) fn holds_predicate(predicate: &str, left: i64, right: i64) -> bool {
    let (bits, others) = (left.cast_unsigned(), right.cast_unsigned());
    match predicate {
        "eq" => left == right,
        "ne" => left != right,
        "slt" => left < right,
        "sle" => left <= right,
        "sgt" => left > right,
        "sge" => left >= right,
        "ult" => bits < others,
        "ule" => bits <= others,
        "ugt" => bits > others,
        _ => bits >= others,
    }
}

/// Writer of a scalar computation as lines, and of the name of its result.
pub(crate) struct ScalarWriter<'a> {
    pub(crate) text: String,
    pub(crate) next: usize,
    pub(crate) element: &'a str,
    pub(crate) names: &'a [String],
}

impl ScalarWriter<'_> {
    pub(crate) fn define(&mut self, right: &str) -> String {
        let name = format!("%q{}", self.next);
        self.next += 1;
        self.text += &format!("  {name} = {right}\n");
        name
    }

    fn write_all<const N: usize>(&mut self, scalars: &[Box<ScalarExpression>; N]) -> String {
        scalars.iter().map(|scalar| self.write(scalar)).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn write(&mut self, scalar: &ScalarExpression) -> String {
        let element = self.element;
        match scalar {
            ScalarExpression::Operand(position) => self.names[*position].clone(),
            ScalarExpression::Constant(literal) => self.define(&format!("arith.constant {literal} : {element}")),
            ScalarExpression::Unary(function, of) => {
                let of = self.write(of);
                self.define(&format!("{} {of} : {element}", function.op()))
            }
            ScalarExpression::Binary(function, left, right) => {
                let (left, right) = (self.write(left), self.write(right));
                self.define(&format!("{} {left}, {right} : {element}", function.op()))
            }
            ScalarExpression::Fma(parts) => {
                let parts = self.write_all(parts);
                self.define(&format!("math.fma {parts} : {element}"))
            }
            ScalarExpression::Clamp([of, low, high]) => {
                let (of, low, high) = (self.write(of), self.write(low), self.write(high));
                self.define(&format!("math.clampf {of} to [{low}, {high}] : {element}"))
            }
            ScalarExpression::Power(of, power) => {
                let of = self.write(of);
                match power {
                    ExponentSpelling::Integer(exponent) => {
                        let exponent = self.define(&format!("arith.constant {exponent} : i32"));
                        self.define(&format!("math.fpowi {of}, {exponent} : {element}, i32"))
                    }
                    ExponentSpelling::Float(exponent) => {
                        let exponent = self.define(&format!("arith.constant {exponent} : {element}"));
                        self.define(&format!("math.powf {of}, {exponent} : {element}"))
                    }
                }
            }
            ScalarExpression::Approximate(of) => self.write(of),
            ScalarExpression::Choose(truth, branches, choice) => self.write_select(truth, branches, *choice),
            ScalarExpression::FromBoolean(truth, is_signed) => {
                let truth = self.write_truth(truth);
                self.define(&format!(
                    "arith.{} {truth} : i1 to {element}",
                    if *is_signed { "sitofp" } else { "uitofp" }
                ))
            }
            ScalarExpression::Position(dim, function) => self.write_position(*dim, *function),
        }
    }

    fn write_select(
        &mut self,
        truth: &BooleanExpression,
        [yes, no]: &[Box<ScalarExpression>; 2],
        choice: SelectSpelling,
    ) -> String {
        let (element, condition) = (self.element, self.write_truth(truth));
        if choice == SelectSpelling::Select {
            let (yes, no) = (self.write(yes), self.write(no));
            return self.define(&format!("arith.select {condition}, {yes}, {no} : {element}"));
        }
        // The branch contains its computation.
        let before = std::mem::take(&mut self.text);
        let branches = [yes, no].map(|branch| {
            let result = self.write(branch);
            std::mem::take(&mut self.text) + &format!("  scf.yield {result} : {element}\n")
        });
        self.text = before;
        self.define(&format!("scf.if {condition} -> ({element}) {{\n{}  }} else {{\n{}  }}", branches[0], branches[1]))
    }

    fn write_position(&mut self, dim: usize, function: Option<&str>) -> String {
        let element = self.element;
        let index = self.define(&format!("linalg.index {dim} : index"));
        // Converts through integers of several widths, as frontends do.
        let wide = self.define(&format!("arith.index_cast {index} : index to i64"));
        let narrow = self.define(&format!("arith.trunci {wide} : i64 to i32"));
        let number = match dim % 3 {
            0 => self.define(&format!("arith.sitofp {narrow} : i32 to {element}")),
            1 => {
                let again = self.define(&format!("arith.extsi {narrow} : i32 to i64"));
                let unsigned = self.define(&format!("arith.uitofp {again} : i64 to {element}"));
                let whole = self.define(&format!("arith.fptosi {unsigned} : {element} to i32"));
                self.define(&format!("arith.sitofp {whole} : i32 to {element}"))
            }
            _ => {
                let again = self.define(&format!("arith.extui {narrow} : i32 to i64"));
                let unsigned = self.define(&format!("arith.sitofp {again} : i64 to {element}"));
                let whole = self.define(&format!("arith.fptoui {unsigned} : {element} to i32"));
                self.define(&format!("arith.uitofp {whole} : i32 to {element}"))
            }
        };
        match function {
            None => number,
            Some("arith.remf") => {
                let three = self.define(&format!("arith.constant 3.0 : {element}"));
                self.define(&format!("arith.remf {number}, {three} : {element}"))
            }
            Some(function) => self.define(&format!("{function} {number} : {element}")),
        }
    }

    /// Returns the name of a boolean.
    pub(crate) fn write_truth(&mut self, truth: &BooleanExpression) -> String {
        match truth {
            BooleanExpression::Mask(position) => self.names[*position].clone(),
            BooleanExpression::Compare(comparison, sides) => {
                let sides = self.write_all(sides);
                self.define(&format!("arith.cmpf {}, {sides} : {}", comparison.predicate(), self.element))
            }
            BooleanExpression::Logic(logic, one, other) => {
                let (one, other) = (self.write_truth(one), self.write_truth(other));
                self.define(&format!("{} {one}, {other} : i1", logic.op()))
            }
            BooleanExpression::Positions(predicate, [left, right], IntegerOp(op, by)) => {
                let indices = [left, right].map(|dim| self.define(&format!("linalg.index {dim} : index")));
                let [left, right] =
                    indices.map(|index| self.define(&format!("arith.index_castui {index} : index to i64")));
                let by = self.define(&format!("arith.constant {by} : i64"));
                let left = self.define(&format!("arith.{op} {left}, {by} : i64"));
                self.define(&format!("arith.cmpi {predicate}, {left}, {right} : i64"))
            }
        }
    }
}

impl BooleanExpression {
    pub(crate) fn evaluate(
        &self,
        operands: &[BoundedValue],
        point: &[usize],
        round: &impl Fn(f64) -> f64,
    ) -> BoundedValue {
        match self {
            Self::Mask(position) => operands[*position],
            Self::Compare(comparison, [left, right]) => {
                left.evaluate(operands, point, round).compare(*comparison, right.evaluate(operands, point, round))
            }
            Self::Logic(logic, one, other) => {
                logic.apply(one.evaluate(operands, point, round), other.evaluate(operands, point, round))
            }
            Self::Positions(predicate, [left, right], whole) => BoundedValue::from_exact(f64::from(holds_predicate(
                predicate,
                whole.apply(point[*left]),
                point[*right] as i64,
            ))),
        }
    }

    fn reads_operand(&self, operand: usize) -> bool {
        match self {
            Self::Mask(position) => *position == operand,
            Self::Compare(_, sides) => sides.iter().any(|side| side.reads_operand(operand)),
            Self::Logic(_, one, other) => one.reads_operand(operand) || other.reads_operand(operand),
            Self::Positions(..) => false,
        }
    }
}

impl ScalarExpression {
    pub(crate) fn evaluate(
        &self,
        operands: &[BoundedValue],
        point: &[usize],
        round: &impl Fn(f64) -> f64,
    ) -> BoundedValue {
        let of = |scalar: &Self| scalar.evaluate(operands, point, round);
        match self {
            Self::Operand(position) => operands[*position],
            Self::Constant(literal) => BoundedValue::from_exact(round(literal.parse().unwrap())),
            Self::Unary(function, x) => of(x).apply_unary(*function),
            Self::Binary(function, x, y) => of(x).apply_binary(*function, of(y)),
            Self::Fma([x, y, z]) => {
                of(x).apply_binary(BinaryFunction::Mul, of(y)).apply_binary(BinaryFunction::Add, of(z))
            }
            Self::Clamp([x, low, high]) => {
                of(x).apply_binary(BinaryFunction::Max, of(low)).apply_binary(BinaryFunction::Min, of(high))
            }
            Self::Power(x, power) => power.apply(of(x)),
            Self::Approximate(x) => BoundedValue { error: f64::INFINITY, ..of(x) },
            Self::Choose(truth, [yes, no], _) => truth.evaluate(operands, point, round).select(of(yes), of(no)),
            Self::FromBoolean(truth, is_signed) => {
                let BoundedValue { value, error } = truth.evaluate(operands, point, round);
                BoundedValue { value: if *is_signed { -value } else { value }, error }
            }
            Self::Position(dim, function) => evaluate_position_function(round(point[*dim] as f64), *function),
        }
    }

    /// Returns whether an operand is read.
    pub(crate) fn reads_operand(&self, operand: usize) -> bool {
        match self {
            Self::Operand(own) => *own == operand,
            Self::Constant(_) | Self::Position(..) => false,
            Self::Unary(_, of) | Self::Power(of, _) | Self::Approximate(of) => of.reads_operand(operand),
            Self::Binary(_, left, right) => left.reads_operand(operand) || right.reads_operand(operand),
            Self::Fma(parts) | Self::Clamp(parts) => parts.iter().any(|part| part.reads_operand(operand)),
            Self::Choose(truth, parts, _) => {
                truth.reads_operand(operand) || parts.iter().any(|part| part.reads_operand(operand))
            }
            Self::FromBoolean(truth, _) => truth.reads_operand(operand),
        }
    }
}

/// Evaluates a function of a position. The compiler computes it with the program's precision; the error bound includes
/// the difference.
fn evaluate_position_function(position: f64, function: Option<&str>) -> BoundedValue {
    let value = match function {
        None => return BoundedValue::from_exact(position),
        Some("math.sin") => position.sin(),
        Some("math.cos") => position.cos(),
        Some("arith.remf") => position % 3.0,
        // Rounding leaves whole numbers unchanged.
        Some(_) => position,
    };
    BoundedValue { value, error: f64::INFINITY }
}

impl ExponentSpelling {
    fn apply(self, x: BoundedValue) -> BoundedValue {
        let whole = |exponent: i32| {
            let product = (0..exponent.unsigned_abs())
                .fold(BoundedValue::from_exact(1.0), |product, _| product.apply_binary(BinaryFunction::Mul, x));
            if exponent < 0 {
                BoundedValue::from_exact(1.0).apply_binary(BinaryFunction::Div, product)
            } else {
                product
            }
        };
        match self {
            Self::Integer(exponent) => whole(exponent),
            Self::Float("0.5") => x.apply_unary(UnaryFunction::Sqrt),
            Self::Float("-0.5") => x.apply_unary(UnaryFunction::Rsqrt),
            Self::Float(exponent) => whole(exponent.parse::<f64>().unwrap() as i32),
        }
    }
}
