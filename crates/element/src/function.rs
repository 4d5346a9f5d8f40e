//! Functions of the device, looked up by their names in SDSC files.
//!
//! The names are those of torch-spyre's tables ("torch-spyre facts, C") and of `crates/machine/DeviceFunctions.def`.

/// A function of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryFunction {
    /// The magnitude.
    Abs,
    /// The exponential.
    Exp,
    /// The next integer below.
    Floor,
    /// `x` times the cumulative normal distribution (gelu).
    Gelu,
    /// The natural logarithm.
    Log,
    /// The negation.
    Neg,
    /// `1 / x`.
    Reciprocal,
    /// The larger of `x` and 0.
    Relu,
    /// `1 / sqrt(x)`.
    Rsqrt,
    /// `1 / (1 + exp(-x))`.
    Sigmoid,
    /// `x` times its sigmoid.
    Silu,
    /// The square root.
    Sqrt,
    /// The hyperbolic tangent.
    Tanh,
    /// `log(1 + exp(beta x)) / beta`, and `x` where `beta x` is over a threshold; the constants are beta and the
    /// threshold.
    Softplus,
    /// Clamps to the range between two constants, the lower bound first.
    Clip,
}

/// A function of two inputs. Comparisons yield 1 or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryFunction {
    /// The sum.
    Add,
    /// The difference.
    Sub,
    /// The product.
    Mul,
    /// The quotient.
    Div,
    /// The larger one.
    Maximum,
    /// The smaller one.
    Minimum,
    /// Whether both are equal.
    Equal,
    /// Whether both are unequal.
    NotEqual,
    /// Whether the first is larger.
    Greater,
    /// Whether the first is not smaller.
    GreaterEqual,
    /// Whether the first is smaller.
    Less,
    /// Whether the first is not larger.
    LessEqual,
}

/// A reduction: combines many values into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// The sum.
    Sum,
    /// The sum times a constant.
    Mean,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// The product.
    Prod,
    /// The sum over a window times a constant.
    AveragePool,
}

impl BinaryFunction {
    /// Returns whether a comparison holds for an ordering of its operands; `None` if the function is not a comparison.
    #[must_use]
    pub fn evaluate_comparison<T: PartialOrd>(self, left: &T, right: &T) -> Option<bool> {
        Some(match self {
            Self::Equal => left == right,
            Self::NotEqual => left != right,
            Self::Greater => left > right,
            Self::GreaterEqual => left >= right,
            Self::Less => left < right,
            Self::LessEqual => left <= right,
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Maximum | Self::Minimum => return None,
        })
    }
}

impl UnaryFunction {
    /// Returns the function with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "abs" => Self::Abs,
            "exp" => Self::Exp,
            "floor" => Self::Floor,
            "gelufwd" => Self::Gelu,
            "log" => Self::Log,
            "neg" => Self::Neg,
            "reciprocal" => Self::Reciprocal,
            "relufwd" => Self::Relu,
            "rsqrt" => Self::Rsqrt,
            "sigmoid" => Self::Sigmoid,
            "silu" => Self::Silu,
            "sqrt" => Self::Sqrt,
            "tanh" => Self::Tanh,
            "softplus" => Self::Softplus,
            "clip" => Self::Clip,
            _ => return None,
        })
    }
}

impl BinaryFunction {
    /// Returns the function with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "add" => Self::Add,
            "sub" => Self::Sub,
            "mul" => Self::Mul,
            "realdiv" => Self::Div,
            "maximum" => Self::Maximum,
            "minimum" => Self::Minimum,
            "equal" => Self::Equal,
            "notequal" => Self::NotEqual,
            "greaterthan" => Self::Greater,
            "greaterequal" => Self::GreaterEqual,
            "lesserthan" => Self::Less,
            "lesserequal" => Self::LessEqual,
            _ => return None,
        })
    }
}

impl Reduction {
    /// Returns the reduction with this name. The name has no suffix for reductions off the stick.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Some(match name {
            "sum" => Self::Sum,
            "mean" => Self::Mean,
            "max" => Self::Max,
            "min" => Self::Min,
            "prod" => Self::Prod,
            "avgpoolfwd" => Self::AveragePool,
            _ => return None,
        })
    }
}
