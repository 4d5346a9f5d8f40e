//! The scalar computation of an elementwise op: its text and its value.

use crate::random::number::{Binary, Compare, Number, Unary};

/// A scalar computation.
#[derive(Clone, Debug)]
pub(crate) enum Scalar {
    Operand(usize),
    /// A literal of MLIR.
    Constant(&'static str),
    Unary(Unary, Box<Scalar>),
    Binary(Binary, Box<Scalar>, Box<Scalar>),
    /// `x * y + z`
    Fma([Box<Scalar>; 3]),
    /// Between two others.
    Clamp([Box<Scalar>; 3]),
    Power(Box<Scalar>, Power),
    /// A computation that the compiler may approximate.
    Approximate(Box<Scalar>),
    /// Choice between two values.
    Choose(Truth, [Box<Scalar>; 2], Choice),
    /// Truth value as 1 or 0, or as -1 or 0 if signed.
    OfTruth(Truth, bool),
    /// Index of the element along an iteration dimension, as a number. Optionally with a function of it that the
    /// compiler can evaluate and the device does not have.
    Position(usize, Option<&'static str>),
}

/// How a choice is spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Select,
    If,
}

/// An exponent, as it is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Power {
    /// `math.fpowi`
    Whole(i32),
    /// `math.powf`
    Of(&'static str),
}

/// A truth value.
#[derive(Clone, Debug)]
pub(crate) enum Truth {
    Compare(Compare, [Box<Scalar>; 2]),
    /// An operand of truth values.
    Mask(usize),
    Both(Logic, Box<Truth>, Box<Truth>),
    /// Positions along two iteration dimensions, as in a causal mask, by a predicate of `arith.cmpi`; something is done to the first one.
    Positions(&'static str, [usize; 2], Whole),
}

/// An op on a whole number that is known at compile time, and its other operand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whole(pub(crate) &'static str, pub(crate) usize);

pub(crate) const WHOLE: [Whole; 14] = [
    Whole("addi", 0),
    Whole("addi", 2),
    Whole("subi", 1),
    Whole("muli", 2),
    Whole("divsi", 2),
    Whole("divui", 2),
    Whole("floordivsi", 3),
    Whole("ceildivsi", 2),
    Whole("remsi", 3),
    Whole("remui", 5),
    Whole("maxsi", 2),
    Whole("maxui", 3),
    Whole("minsi", 5),
    Whole("minui", 4),
];

impl Whole {
    fn of(self, position: usize) -> i64 {
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

/// Truth values together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Logic {
    And,
    Or,
    Xor,
}

pub(crate) fn operand(position: usize) -> Box<Scalar> {
    Box::new(Scalar::Operand(position))
}

pub(crate) fn unary(function: Unary, of: Box<Scalar>) -> Box<Scalar> {
    Box::new(Scalar::Unary(function, of))
}

pub(crate) fn binary(function: Binary, left: Box<Scalar>, right: Box<Scalar>) -> Box<Scalar> {
    Box::new(Scalar::Binary(function, left, right))
}

pub(crate) fn literal(text: &'static str) -> Box<Scalar> {
    Box::new(Scalar::Constant(text))
}

impl Logic {
    /// The op on truth values.
    pub(crate) const fn op(self) -> &'static str {
        match self {
            Self::And => "arith.andi",
            Self::Or => "arith.ori",
            Self::Xor => "arith.xori",
        }
    }

    pub(crate) fn of(self, one: Number, other: Number) -> Number {
        let (a, b) = (one.value != 0.0, other.value != 0.0);
        let is = match self {
            Self::And => a && b,
            Self::Or => a || b,
            Self::Xor => a != b,
        };
        Number { value: f64::from(is), error: one.error.max(other.error) }
    }
}

/// Whether a predicate of `arith.cmpi` holds of integers of 64 bits.
pub(crate) fn holds(predicate: &str, left: i64, right: i64) -> bool {
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
pub(crate) struct Lines<'a> {
    pub(crate) text: String,
    pub(crate) next: usize,
    pub(crate) element: &'a str,
    pub(crate) names: &'a [String],
}

impl Lines<'_> {
    pub(crate) fn define(&mut self, right: &str) -> String {
        let name = format!("%q{}", self.next);
        self.next += 1;
        self.text += &format!("  {name} = {right}\n");
        name
    }

    fn all<const N: usize>(&mut self, scalars: &[Box<Scalar>; N]) -> String {
        scalars.iter().map(|scalar| self.write(scalar)).collect::<Vec<_>>().join(", ")
    }

    pub(crate) fn write(&mut self, scalar: &Scalar) -> String {
        let element = self.element;
        match scalar {
            Scalar::Operand(position) => self.names[*position].clone(),
            Scalar::Constant(literal) => self.define(&format!("arith.constant {literal} : {element}")),
            Scalar::Unary(function, of) => {
                let of = self.write(of);
                self.define(&format!("{} {of} : {element}", function.op()))
            }
            Scalar::Binary(function, left, right) => {
                let (left, right) = (self.write(left), self.write(right));
                self.define(&format!("{} {left}, {right} : {element}", function.op()))
            }
            Scalar::Fma(parts) => {
                let parts = self.all(parts);
                self.define(&format!("math.fma {parts} : {element}"))
            }
            Scalar::Clamp([of, low, high]) => {
                let (of, low, high) = (self.write(of), self.write(low), self.write(high));
                self.define(&format!("math.clampf {of} to [{low}, {high}] : {element}"))
            }
            Scalar::Power(of, power) => {
                let of = self.write(of);
                match power {
                    Power::Whole(exponent) => {
                        let exponent = self.define(&format!("arith.constant {exponent} : i32"));
                        self.define(&format!("math.fpowi {of}, {exponent} : {element}, i32"))
                    }
                    Power::Of(exponent) => {
                        let exponent = self.define(&format!("arith.constant {exponent} : {element}"));
                        self.define(&format!("math.powf {of}, {exponent} : {element}"))
                    }
                }
            }
            Scalar::Approximate(of) => self.write(of),
            Scalar::Choose(truth, branches, choice) => self.choose(truth, branches, *choice),
            Scalar::OfTruth(truth, is_signed) => {
                let truth = self.truth(truth);
                self.define(&format!("arith.{} {truth} : i1 to {element}", if *is_signed { "sitofp" } else { "uitofp" }))
            }
            Scalar::Position(dim, function) => self.position(*dim, *function),
        }
    }

    fn choose(&mut self, truth: &Truth, [yes, no]: &[Box<Scalar>; 2], choice: Choice) -> String {
        let (element, condition) = (self.element, self.truth(truth));
        if choice == Choice::Select {
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

    fn position(&mut self, dim: usize, function: Option<&str>) -> String {
        let element = self.element;
        let index = self.define(&format!("linalg.index {dim} : index"));
        // Through integers of several widths, as frontends write it.
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
    pub(crate) fn truth(&mut self, truth: &Truth) -> String {
        match truth {
            Truth::Mask(position) => self.names[*position].clone(),
            Truth::Compare(comparison, sides) => {
                let sides = self.all(sides);
                self.define(&format!("arith.cmpf {}, {sides} : {}", comparison.predicate(), self.element))
            }
            Truth::Both(logic, one, other) => {
                let (one, other) = (self.truth(one), self.truth(other));
                self.define(&format!("{} {one}, {other} : i1", logic.op()))
            }
            Truth::Positions(predicate, [left, right], Whole(op, by)) => {
                let indices = [left, right].map(|dim| self.define(&format!("linalg.index {dim} : index")));
                let [left, right] = indices.map(|index| self.define(&format!("arith.index_castui {index} : index to i64")));
                let by = self.define(&format!("arith.constant {by} : i64"));
                let left = self.define(&format!("arith.{op} {left}, {by} : i64"));
                self.define(&format!("arith.cmpi {predicate}, {left}, {right} : i64"))
            }
        }
    }
}

impl Truth {
    pub(crate) fn value(&self, operands: &[Number], point: &[usize], round: &impl Fn(f64) -> f64) -> Number {
        match self {
            Self::Mask(position) => operands[*position],
            Self::Compare(comparison, [left, right]) => {
                left.value(operands, point, round).compare(*comparison, right.value(operands, point, round))
            }
            Self::Both(logic, one, other) => logic.of(one.value(operands, point, round), other.value(operands, point, round)),
            Self::Positions(predicate, [left, right], whole) => {
                Number::exact(f64::from(holds(predicate, whole.of(point[*left]), point[*right] as i64)))
            }
        }
    }

    fn reads(&self, operand: usize) -> bool {
        match self {
            Self::Mask(position) => *position == operand,
            Self::Compare(_, sides) => sides.iter().any(|side| side.reads(operand)),
            Self::Both(_, one, other) => one.reads(operand) || other.reads(operand),
            Self::Positions(..) => false,
        }
    }
}

impl Scalar {
    pub(crate) fn value(&self, operands: &[Number], point: &[usize], round: &impl Fn(f64) -> f64) -> Number {
        let of = |scalar: &Self| scalar.value(operands, point, round);
        match self {
            Self::Operand(position) => operands[*position],
            Self::Constant(literal) => Number::exact(round(literal.parse().unwrap())),
            Self::Unary(function, x) => of(x).unary(*function),
            Self::Binary(function, x, y) => of(x).binary(*function, of(y)),
            Self::Fma([x, y, z]) => of(x).binary(Binary::Mul, of(y)).binary(Binary::Add, of(z)),
            Self::Clamp([x, low, high]) => of(x).binary(Binary::Max, of(low)).binary(Binary::Min, of(high)),
            Self::Power(x, power) => power.of(of(x)),
            Self::Approximate(x) => Number { error: f64::INFINITY, ..of(x) },
            Self::Choose(truth, [yes, no], _) => truth.value(operands, point, round).select(of(yes), of(no)),
            Self::OfTruth(truth, is_signed) => {
                let Number { value, error } = truth.value(operands, point, round);
                Number { value: if *is_signed { -value } else { value }, error }
            }
            Self::Position(dim, function) => known(round(point[*dim] as f64), *function),
        }
    }

    /// Whether an operand is read.
    pub(crate) fn reads(&self, operand: usize) -> bool {
        match self {
            Self::Operand(own) => *own == operand,
            Self::Constant(_) | Self::Position(..) => false,
            Self::Unary(_, of) | Self::Power(of, _) | Self::Approximate(of) => of.reads(operand),
            Self::Binary(_, left, right) => left.reads(operand) || right.reads(operand),
            Self::Fma(parts) | Self::Clamp(parts) => parts.iter().any(|part| part.reads(operand)),
            Self::Choose(truth, parts, _) => truth.reads(operand) || parts.iter().any(|part| part.reads(operand)),
            Self::OfTruth(truth, _) => truth.reads(operand),
        }
    }
}

/// A function of a position. The compiler computes it with the program's precision, which the comparison leaves out.
fn known(position: f64, function: Option<&str>) -> Number {
    let value = match function {
        None => return Number::exact(position),
        Some("math.sin") => position.sin(),
        Some("math.cos") => position.cos(),
        Some("arith.remf") => position % 3.0,
        // Rounding leaves whole numbers unchanged.
        Some(_) => position,
    };
    Number { value, error: f64::INFINITY }
}

impl Power {
    fn of(self, x: Number) -> Number {
        let whole = |exponent: i32| {
            let product = (0..exponent.unsigned_abs()).fold(Number::exact(1.0), |product, _| product.binary(Binary::Mul, x));
            if exponent < 0 { Number::exact(1.0).binary(Binary::Div, product) } else { product }
        };
        match self {
            Self::Whole(exponent) => whole(exponent),
            Self::Of("0.5") => x.unary(Unary::Sqrt),
            Self::Of("-0.5") => x.unary(Unary::Rsqrt),
            Self::Of(exponent) => whole(exponent.parse::<f64>().unwrap() as i32),
        }
    }
}
