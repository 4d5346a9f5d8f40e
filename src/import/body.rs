//! What the body of a `linalg.generic` computes, as a plain value.

/// A scalar in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    /// The element of input `n`.
    Input(usize),
    /// The running value of result `n`.
    Accumulator(usize),
    /// The result of operation `n` of the body.
    Op(usize),
    /// A number known at compile time.
    Constant(f64),
    /// Something else, such as an index.
    Unknown,
}

/// A scalar operation, by MLIR's name.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarOp {
    /// The full name, such as `arith.addf`.
    pub name: String,
    /// What it is applied to.
    pub operands: Vec<Scalar>,
}

/// A body: operations in order, and what it yields for each result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Body {
    /// The operations in order.
    pub ops: Vec<ScalarOp>,
    /// One scalar per result.
    pub yields: Vec<Scalar>,
}

/// An associative operation that a reduction repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combiner {
    /// Addition.
    Sum,
    /// Multiplication.
    Prod,
    /// The larger.
    Max,
    /// The smaller.
    Min,
}

impl Combiner {
    /// The device function that reduces with it.
    #[must_use]
    pub const fn function(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Max => "max",
            Self::Min => "min",
        }
    }

    /// The number that changes nothing.
    #[must_use]
    pub const fn neutral(self) -> f64 {
        match self {
            Self::Sum => 0.0,
            Self::Prod => 1.0,
            Self::Max => f64::NEG_INFINITY,
            Self::Min => f64::INFINITY,
        }
    }

    fn of(name: &str) -> Option<Self> {
        match name {
            "arith.addf" => Some(Self::Sum),
            "arith.mulf" => Some(Self::Prod),
            "arith.maximumf" | "arith.maxnumf" => Some(Self::Max),
            "arith.minimumf" | "arith.minnumf" => Some(Self::Min),
            _ => None,
        }
    }
}

impl ScalarOp {
    /// The elementwise device function that computes the same; none if there is none yet.
    #[must_use]
    pub fn device_function(&self) -> Option<&'static str> {
        Some(match self.name.as_str() {
            "arith.addf" => "add",
            "arith.subf" => "sub",
            "arith.mulf" => "mul",
            "arith.divf" => "realdiv",
            "arith.negf" => "neg",
            "arith.maximumf" | "arith.maxnumf" => "maximum",
            "arith.minimumf" | "arith.minnumf" => "minimum",
            "math.absf" => "abs",
            "math.exp" => "exp",
            "math.floor" => "floor",
            "math.log" => "log",
            "math.rsqrt" => "rsqrt",
            "math.sqrt" => "sqrt",
            "math.tanh" => "tanh",
            _ => return None,
        })
    }

    /// Whether the operation only changes the number format.
    #[must_use]
    pub fn is_cast(&self) -> bool {
        matches!(self.name.as_str(), "arith.extf" | "arith.truncf")
    }

    /// The operand that the operation returns unchanged because the other one is neutral: `x + 0`, `x * 1`, `x - 0`, `x / 1`,
    /// `max(x, -inf)`, `min(x, inf)`.
    #[must_use]
    pub fn unchanged_operand(&self, constant_of: impl Fn(Scalar) -> Option<f64>) -> Option<usize> {
        let &[lhs, rhs] = self.operands.as_slice() else { return None };
        let is = |scalar: Scalar, number: f64| constant_of(scalar) == Some(number);
        match (Combiner::of(&self.name), self.name.as_str()) {
            (Some(combiner), _) if is(rhs, combiner.neutral()) => Some(0),
            (Some(combiner), _) if is(lhs, combiner.neutral()) => Some(1),
            (None, "arith.subf") if is(rhs, 0.0) => Some(0),
            (None, "arith.divf") if is(rhs, 1.0) => Some(0),
            _ => None,
        }
    }
}

impl Body {
    /// How result `result` is combined over the reduced dimensions: the combiner and the scalar that is new at each point. None if the
    /// body is no such combination.
    #[must_use]
    pub fn reduction(&self, result: usize) -> Option<(Combiner, Scalar)> {
        let Scalar::Op(index) = self.behind_casts(*self.yields.get(result)?) else { return None };
        let op = &self.ops[index];
        let combiner = Combiner::of(&op.name)?;
        let &[lhs, rhs] = op.operands.as_slice() else { return None };
        let is_running = |scalar| self.behind_casts(scalar) == Scalar::Accumulator(result);
        let new = match (is_running(lhs), is_running(rhs)) {
            (true, false) => rhs,
            (false, true) => lhs,
            _ => return None,
        };
        (!self.reads_accumulator(new)).then_some((combiner, new))
    }

    /// The two inputs whose product `scalar` is.
    #[must_use]
    pub fn product(&self, scalar: Scalar) -> Option<(usize, usize)> {
        let Scalar::Op(index) = self.behind_casts(scalar) else { return None };
        let op = &self.ops[index];
        let (&[lhs, rhs], "arith.mulf") = (op.operands.as_slice(), op.name.as_str()) else { return None };
        match (self.behind_casts(lhs), self.behind_casts(rhs)) {
            (Scalar::Input(lhs), Scalar::Input(rhs)) if lhs != rhs => Some((lhs, rhs)),
            _ => None,
        }
    }

    /// The scalar before changes of number format.
    #[must_use]
    pub fn behind_casts(&self, scalar: Scalar) -> Scalar {
        match scalar {
            Scalar::Op(index) if self.ops[index].is_cast() => self.behind_casts(self.ops[index].operands[0]),
            _ => scalar,
        }
    }

    /// Whether `scalar` depends on a running result.
    #[must_use]
    pub fn reads_accumulator(&self, scalar: Scalar) -> bool {
        match scalar {
            Scalar::Accumulator(_) => true,
            Scalar::Op(index) => self.ops[index].operands.iter().any(|&operand| self.reads_accumulator(operand)),
            Scalar::Input(_) | Scalar::Constant(_) | Scalar::Unknown => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn op(name: &str, operands: &[Scalar]) -> ScalarOp {
        ScalarOp { name: name.to_owned(), operands: operands.to_vec() }
    }

    #[test]
    fn a_reduction_is_found_whatever_the_operand_order() {
        for operands in [[Scalar::Input(0), Scalar::Accumulator(0)], [Scalar::Accumulator(0), Scalar::Input(0)]] {
            let body = Body { ops: vec![op("arith.maximumf", &operands)], yields: vec![Scalar::Op(0)] };
            assert_eq!(body.reduction(0), Some((Combiner::Max, Scalar::Input(0))));
        }
    }

    #[test]
    fn an_argmax_beside_a_maximum_is_no_reduction_of_its_own() {
        let ops = vec![
            op("arith.maximumf", &[Scalar::Input(0), Scalar::Accumulator(0)]),
            op("arith.cmpf", &[Scalar::Input(0), Scalar::Accumulator(0)]),
            op("arith.select", &[Scalar::Op(1), Scalar::Unknown, Scalar::Accumulator(1)]),
        ];
        let body = Body { ops, yields: vec![Scalar::Op(0), Scalar::Op(2)] };
        assert_eq!(body.reduction(0), Some((Combiner::Max, Scalar::Input(0))));
        assert_eq!(body.reduction(1), None);
    }

    #[test]
    fn a_running_value_inside_the_new_scalar_is_a_recurrence() {
        let ops =
            vec![op("arith.mulf", &[Scalar::Input(0), Scalar::Accumulator(0)]), op("arith.addf", &[Scalar::Op(0), Scalar::Accumulator(0)])];
        assert_eq!(Body { ops, yields: vec![Scalar::Op(1)] }.reduction(0), None);
    }

    #[test]
    fn a_product_is_seen_through_casts() {
        let ops = vec![
            op("arith.extf", &[Scalar::Input(0)]),
            op("arith.extf", &[Scalar::Input(1)]),
            op("arith.mulf", &[Scalar::Op(0), Scalar::Op(1)]),
            op("arith.addf", &[Scalar::Accumulator(0), Scalar::Op(2)]),
        ];
        let body = Body { ops, yields: vec![Scalar::Op(3)] };
        assert_eq!(body.reduction(0), Some((Combiner::Sum, Scalar::Op(2))));
        assert_eq!(body.product(Scalar::Op(2)), Some((0, 1)));
    }

    #[test]
    fn neutral_operands_change_nothing() {
        let constant = |scalar| if let Scalar::Constant(number) = scalar { Some(number) } else { None };
        let x = Scalar::Input(0);
        assert_eq!(op("arith.maximumf", &[Scalar::Constant(f64::NEG_INFINITY), x]).unchanged_operand(constant), Some(1));
        assert_eq!(op("arith.addf", &[x, Scalar::Constant(0.0)]).unchanged_operand(constant), Some(0));
        assert_eq!(op("arith.subf", &[Scalar::Constant(0.0), x]).unchanged_operand(constant), None);
        assert_eq!(op("arith.divf", &[x, Scalar::Constant(2.0)]).unchanged_operand(constant), None);
    }
}
