//! Body of a `linalg.generic`, as a value type.

pub(super) mod comparisons;

use super::fold::{IntegerWidths, find_integer_function};
use crate::import::graph::NodeId;
use machine::ElementType;

/// Scalar in a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyScalar {
    /// The element of input `n`.
    Input(usize),
    /// The accumulator of result `n`.
    Accumulator(usize),
    /// The result of operation `n` of the body.
    Op(usize),
    /// A value from outside of the body, by its node.
    Outer(NodeId),
    /// Another value, such as a whole tensor.
    Unknown,
}

/// Scalar operation, by MLIR's name.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalarOp {
    /// The full name, such as `arith.addf`, followed by the predicate for comparisons.
    pub name: String,
    /// Operands.
    pub operands: Vec<BodyScalar>,
}

/// Body: operations in order, and the yielded scalar of each result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GenericBody {
    /// The operations in order.
    pub ops: Vec<ScalarOp>,
    /// One scalar per result.
    pub yields: Vec<BodyScalar>,
}

/// Associative combiner of a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Combiner {
    /// Addition.
    Sum,
    /// Multiplication.
    Prod,
    /// Larger value.
    Max,
    /// Smaller value.
    Min,
    /// Conjunction.
    All,
    /// Disjunction.
    Any,
}

impl Combiner {
    /// Returns the device function that reduces with the combiner.
    #[must_use]
    pub const fn function(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Prod => "prod",
            Self::Max | Self::Any => "max",
            Self::Min | Self::All => "min",
        }
    }

    /// Returns the elementwise operation that combines two values.
    #[must_use]
    pub const fn operation(self) -> &'static str {
        match self {
            Self::Sum => "arith.addf",
            Self::Prod => "arith.mulf",
            Self::Max => "arith.maximumf",
            Self::Min => "arith.minimumf",
            Self::All => "arith.andi",
            Self::Any => "arith.ori",
        }
    }

    /// Returns the integer operation that combines two values.
    #[must_use]
    pub const fn integer_operation(self) -> &'static str {
        match self {
            Self::Sum => "arith.addi",
            Self::Prod => "arith.muli",
            Self::Max => "arith.maxsi",
            Self::Min => "arith.minsi",
            Self::All => "arith.andi",
            Self::Any => "arith.ori",
        }
    }

    /// Returns the combiner of truth values as integers of one bit, where true is -1: the product is true if all are,
    /// and so is the maximum. Returns None for a sum.
    #[must_use]
    pub const fn to_truth_combiner(self) -> Option<Self> {
        match self {
            Self::Sum => None,
            Self::Prod | Self::Max | Self::All => Some(Self::All),
            Self::Min | Self::Any => Some(Self::Any),
        }
    }

    /// Combines two integers of `width` bits.
    #[must_use]
    pub fn combine_integers(self, a: i64, b: i64, width: u32) -> i64 {
        let function =
            find_integer_function(self.integer_operation()).expect("an operation that has a value for all integers");
        function(&[a, b], IntegerWidths::uniform(width)).expect("an operation that has a value for all integers")
    }

    /// Combines two numbers.
    #[must_use]
    pub fn combine(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Sum => a + b,
            Self::Prod => a * b,
            Self::Max | Self::Any => max_or_nan(a, b),
            Self::Min | Self::All => min_or_nan(a, b),
        }
    }

    /// Returns the neutral element.
    #[must_use]
    pub const fn neutral_element(self) -> f64 {
        match self {
            Self::Sum | Self::Any => 0.0,
            Self::Prod | Self::All => 1.0,
            Self::Max => f64::NEG_INFINITY,
            Self::Min => f64::INFINITY,
        }
    }

    /// Returns whether a reduction of elements of type `element` may start from `number`. This is the neutral element
    /// or, as some producers write it, the lowest finite number for a maximum.
    #[must_use]
    pub fn can_start_from(self, number: f64, element: Option<ElementType>) -> bool {
        let largest = match element {
            Some(ElementType::F16 | ElementType::Bf16) => 65504.0,
            // For integers, half the range bounds all values of a program.
            Some(ElementType::I8) => 127.0,
            Some(ElementType::I32) => f64::from(1 << 30),
            Some(ElementType::I64 | ElementType::Index) => f64::from(1 << 30) * f64::from(1 << 30),
            Some(
                ElementType::F32 | ElementType::F64 | ElementType::F8E4M3Fn | ElementType::F8E5M2 | ElementType::Bool,
            )
            | None => 3.402_823_4e38,
        };
        match self {
            Self::Sum | Self::Prod | Self::All | Self::Any => (number - self.neutral_element()).abs() < f64::EPSILON,
            Self::Max => number <= -largest,
            Self::Min => number >= largest,
        }
    }

    fn from_op_name(name: &str) -> Option<Self> {
        match name {
            "arith.addf" | "arith.addi" => Some(Self::Sum),
            "arith.mulf" | "arith.muli" => Some(Self::Prod),
            "arith.maximumf" | "arith.maxnumf" | "arith.maxsi" => Some(Self::Max),
            "arith.minimumf" | "arith.minnumf" | "arith.minsi" => Some(Self::Min),
            "arith.andi" => Some(Self::All),
            "arith.ori" => Some(Self::Any),
            _ => None,
        }
    }
}

/// Returns the larger of two numbers; NaN if one is NaN, as on the device.
pub(super) fn max_or_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
}

/// Returns the smaller of two numbers; NaN if one is NaN, as on the device.
pub(super) fn min_or_nan(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
}

impl ScalarOp {
    /// Name of a select between the results of two branches, of which only one is computed. Operands: condition, then,
    /// else. Once the condition is constant, the taken result is the only operand.
    pub const BRANCH: &'static str = "scf.if";

    /// Returns whether the operation only changes the number format.
    #[must_use]
    pub fn is_cast(&self) -> bool {
        matches!(self.name.as_str(), "arith.extf" | "arith.truncf")
    }
}

/// Result that is combined over the reduced dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyReduction {
    /// Combining operation.
    pub combiner: Combiner,
    /// New scalar at each point.
    pub new: BodyScalar,
    /// Casts around the combination and of its accumulator.
    pub casts: Vec<usize>,
    /// Whether a NaN is ignored in favor of the other value, so that the initial value may be NaN.
    pub ignores_nan: bool,
}

/// A product of two inputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputProduct {
    /// The inputs.
    pub factors: [usize; 2],
    /// The casts of the inputs and of the product.
    pub casts: Vec<usize>,
}

/// Result that is the position of the extremum of another result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtremumPosition {
    /// Result that is the maximum or minimum of new values.
    pub extremum_result: usize,
    /// Whether the last of equal values counts instead of the first.
    pub is_last: bool,
    /// Whether a comparison of positions breaks ties: then the largest or the smallest position counts.
    pub is_compared: bool,
}

impl GenericBody {
    /// Recognizes a result that is the position of another result: a select of a new number wherever a new value is
    /// larger (or smaller) than the accumulator. Also returns the new number.
    #[must_use]
    pub fn find_position(&self, result: usize) -> Option<(ExtremumPosition, BodyScalar)> {
        let BodyScalar::Op(index) = *self.yields.get(result)? else { return None };
        let (condition, found, is_new_then) = self.find_accumulator_select(index, result)?;
        (0..self.yields.len()).filter(|&of| of != result).find_map(|of| {
            let BodyReduction { combiner, new, .. } = self.find_reduction(of)?;
            let is_larger = match combiner {
                Combiner::Max => true,
                Combiner::Min => false,
                _ => return None,
            };
            // Returns whether the new number is selected, for the new and the accumulated value and number.
            let takes = |values: [f64; 2], numbers: [f64; 2]| {
                let holds = comparisons::evaluate_condition(self, condition, |scalar| match scalar {
                    _ if scalar == new && scalar == found => None,
                    _ if scalar == new => Some(values[0]),
                    _ if scalar == found => Some(numbers[0]),
                    BodyScalar::Accumulator(other) if other == of => Some(values[1]),
                    BodyScalar::Accumulator(other) if other == result => Some(numbers[1]),
                    _ => None,
                });
                holds.map(|holds| holds == is_new_then)
            };
            let [smaller, larger] = [[0.0, 1.0], [1.0, 0.0]];
            for numbers in [smaller, larger] {
                if takes(smaller, numbers)? == is_larger || takes(larger, numbers)? != is_larger {
                    return None;
                }
            }
            let (takes_smaller, takes_larger) = (takes([0.0; 2], smaller)?, takes([0.0; 2], larger)?);
            let is_compared = takes_smaller != takes_larger;
            Some((ExtremumPosition { extremum_result: of, is_last: takes_larger, is_compared }, found))
        })
    }

    /// Splits a select between a new scalar and the accumulator of a result. Returns the operation of its condition,
    /// the new scalar, and whether the new scalar is selected where the condition holds.
    fn find_accumulator_select(&self, index: usize, result: usize) -> Option<(usize, BodyScalar, bool)> {
        let ScalarOp { name, operands } = &self.ops[index];
        let (&[BodyScalar::Op(condition), one, other], "arith.select") = (operands.as_slice(), name.as_str()) else {
            return None;
        };
        let (new, is_new_then) = match (one, other) {
            (new, BodyScalar::Accumulator(running)) if running == result => (new, true),
            (BodyScalar::Accumulator(running), new) if running == result => (new, false),
            _ => return None,
        };
        (!self.reads_accumulator(new)).then_some((condition, new, is_new_then))
    }

    /// Recognizes a maximum or minimum of a new value and the accumulator that is written as a comparison and a select.
    fn find_selected_extremum(&self, index: usize, result: usize) -> Option<BodyReduction> {
        let (condition, new, is_new_then) = self.find_accumulator_select(index, result)?;
        let takes = |value: f64, running: f64| {
            let holds = comparisons::evaluate_condition(self, condition, |scalar| match scalar {
                _ if scalar == new => Some(value),
                BodyScalar::Accumulator(other) if other == result => Some(running),
                _ => None,
            });
            holds.map(|holds| holds == is_new_then)
        };
        let combiner = match (takes(1.0, 0.0)?, takes(0.0, 1.0)?) {
            (true, false) => Combiner::Max,
            (false, true) => Combiner::Min,
            _ => return None,
        };
        let ignores_nan = !takes(f64::NAN, 0.0)?;
        Some(BodyReduction { combiner, new, casts: Vec::new(), ignores_nan })
    }

    /// Returns the reduction that computes result `result` over the reduced dimensions. Returns None if the body is not
    /// a reduction.
    #[must_use]
    pub fn find_reduction(&self, result: usize) -> Option<BodyReduction> {
        let mut casts = Vec::new();
        let BodyScalar::Op(index) = self.strip_casts(*self.yields.get(result)?, &mut casts) else { return None };
        let op = &self.ops[index];
        if casts.is_empty()
            && let Some(found) = self.find_selected_extremum(index, result)
        {
            return Some(found);
        }
        let combiner = Combiner::from_op_name(&op.name)?;
        let &[lhs, rhs] = op.operands.as_slice() else { return None };
        let is_running = |scalar| self.strip_casts(scalar, &mut Vec::new()) == BodyScalar::Accumulator(result);
        let (running, new) = match (is_running(lhs), is_running(rhs)) {
            (true, false) => (lhs, rhs),
            (false, true) => (rhs, lhs),
            _ => return None,
        };
        self.strip_casts(running, &mut casts);
        casts.sort_unstable();
        let ignores_nan = matches!(op.name.as_str(), "arith.maxnumf" | "arith.minnumf");
        (!self.reads_accumulator(new)).then_some(BodyReduction { combiner, new, casts, ignores_nan })
    }

    /// Recognizes a masked reduction: a select between the combined value and the accumulator. Returns the select
    /// operation, its condition, and whether the combined value is selected where that is true.
    #[must_use]
    pub fn find_guarded_reduction(&self, result: usize) -> Option<(usize, BodyScalar, bool, BodyReduction)> {
        let mut casts = Vec::new();
        let BodyScalar::Op(index) = self.strip_casts(*self.yields.get(result)?, &mut casts) else { return None };
        let ScalarOp { name, operands } = &self.ops[index];
        let (&[condition, chosen, other], true) =
            (operands.as_slice(), matches!(name.as_str(), "arith.select" | ScalarOp::BRANCH))
        else {
            return None;
        };
        let is_running = |scalar| self.strip_casts(scalar, &mut Vec::new()) == BodyScalar::Accumulator(result);
        let (combined, running, is_then) =
            if is_running(other) { (chosen, other, true) } else { (other, chosen, false) };
        if !is_running(running) || self.reads_accumulator(condition) {
            return None;
        }
        let combining = Self { yields: vec![combined; self.yields.len()], ..self.clone() };
        let mut reduction = combining.find_reduction(result)?;
        self.strip_casts(running, &mut casts);
        reduction.casts.extend(casts);
        reduction.casts.sort_unstable();
        reduction.casts.dedup();
        Some((index, condition, is_then, reduction))
    }

    /// Returns the product of two inputs that `scalar` computes, if any.
    #[must_use]
    pub fn find_product(&self, scalar: BodyScalar) -> Option<InputProduct> {
        let mut casts = Vec::new();
        let BodyScalar::Op(index) = self.strip_casts(scalar, &mut casts) else { return None };
        let op = &self.ops[index];
        let (&[lhs, rhs], "arith.mulf") = (op.operands.as_slice(), op.name.as_str()) else { return None };
        let factors = (self.strip_casts(lhs, &mut casts), self.strip_casts(rhs, &mut casts));
        let (BodyScalar::Input(lhs), BodyScalar::Input(rhs)) = factors else { return None };
        casts.sort_unstable();
        (lhs != rhs).then_some(InputProduct { factors: [lhs, rhs], casts })
    }

    /// Looks through changes of number format, and adds them to `casts`.
    fn strip_casts(&self, mut scalar: BodyScalar, casts: &mut Vec<usize>) -> BodyScalar {
        while let BodyScalar::Op(index) = scalar {
            if !self.ops[index].is_cast() {
                break;
            }
            casts.push(index);
            scalar = self.ops[index].operands[0];
        }
        scalar
    }

    /// Returns whether `scalar` depends on an accumulator.
    fn reads_accumulator(&self, scalar: BodyScalar) -> bool {
        let is_running = |scalar: &BodyScalar| matches!(scalar, BodyScalar::Accumulator(_));
        is_running(&scalar)
            || self.collect_required(scalar).into_iter().any(|index| self.ops[index].operands.iter().any(is_running))
    }

    /// Returns the operations that `scalar` depends on, itself included, in order.
    #[must_use]
    pub fn collect_required(&self, scalar: BodyScalar) -> Vec<usize> {
        let mut is_needed = vec![false; self.ops.len()];
        let mark = |scalar: BodyScalar, is_needed: &mut [bool]| {
            if let BodyScalar::Op(index) = scalar {
                is_needed[index] = true;
            }
        };
        mark(scalar, &mut is_needed);
        for index in (0..self.ops.len()).rev() {
            if is_needed[index] {
                self.ops[index].operands.iter().for_each(|&operand| mark(operand, &mut is_needed));
            }
        }
        (0..self.ops.len()).filter(|&index| is_needed[index]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build_op(name: &str, operands: &[BodyScalar]) -> ScalarOp {
        ScalarOp { name: name.to_owned(), operands: operands.to_vec() }
    }

    #[test]
    fn finds_condition_of_guarded_reduction() {
        let (running, new) = (BodyScalar::Accumulator(0), BodyScalar::Input(1));
        let body = |operands: [BodyScalar; 3]| GenericBody {
            ops: vec![build_op("arith.addf", &[new, running]), build_op("arith.select", &operands)],
            yields: vec![BodyScalar::Op(1)],
        };
        let found = |operands| {
            body(operands)
                .find_guarded_reduction(0)
                .map(|(_, condition, is_then, reduction)| (condition, is_then, reduction.new))
        };
        assert_eq!(found([BodyScalar::Input(0), BodyScalar::Op(0), running]), Some((BodyScalar::Input(0), true, new)));
        assert_eq!(found([BodyScalar::Input(0), running, BodyScalar::Op(0)]), Some((BodyScalar::Input(0), false, new)));
        assert_eq!(
            found([BodyScalar::Input(0), BodyScalar::Op(0), new]),
            None,
            "what is left out is not the running value"
        );
        assert_eq!(found([running, BodyScalar::Op(0), running]), None, "the condition depends on the order");
    }

    #[test]
    fn finds_reduction_for_any_operand_order() {
        for operands in
            [[BodyScalar::Input(0), BodyScalar::Accumulator(0)], [BodyScalar::Accumulator(0), BodyScalar::Input(0)]]
        {
            let body =
                GenericBody { ops: vec![build_op("arith.maximumf", &operands)], yields: vec![BodyScalar::Op(0)] };
            assert_eq!(
                body.find_reduction(0),
                Some(BodyReduction {
                    combiner: Combiner::Max,
                    new: BodyScalar::Input(0),
                    casts: vec![],
                    ignores_nan: false
                })
            );
        }
    }

    #[test]
    fn finds_no_reduction_in_argmax() {
        let ops = vec![
            build_op("arith.maximumf", &[BodyScalar::Input(0), BodyScalar::Accumulator(0)]),
            build_op("arith.cmpf", &[BodyScalar::Input(0), BodyScalar::Accumulator(0)]),
            build_op("arith.select", &[BodyScalar::Op(1), BodyScalar::Unknown, BodyScalar::Accumulator(1)]),
        ];
        let body = GenericBody { ops, yields: vec![BodyScalar::Op(0), BodyScalar::Op(2)] };
        assert_eq!(
            body.find_reduction(0),
            Some(BodyReduction {
                combiner: Combiner::Max,
                new: BodyScalar::Input(0),
                casts: vec![],
                ignores_nan: false
            })
        );
        assert_eq!(body.find_reduction(1), None);
    }

    #[test]
    fn finds_position_of_maximum() {
        let argmax = |predicate: &str, operands: [BodyScalar; 2]| {
            let ops = vec![
                build_op("linalg.index", &[]),
                build_op("arith.maximumf", &[BodyScalar::Input(0), BodyScalar::Accumulator(0)]),
                build_op(predicate, &operands),
                build_op("arith.select", &[BodyScalar::Op(2), BodyScalar::Op(0), BodyScalar::Accumulator(1)]),
            ];
            GenericBody { ops, yields: vec![BodyScalar::Op(1), BodyScalar::Op(3)] }.find_position(1)
        };
        let (new, running) = (BodyScalar::Input(0), BodyScalar::Accumulator(0));
        assert_eq!(
            argmax("arith.cmpf ogt", [new, running]),
            Some((ExtremumPosition { extremum_result: 0, is_last: false, is_compared: false }, BodyScalar::Op(0)))
        );
        assert_eq!(
            argmax("arith.cmpf ole", [running, new]),
            Some((ExtremumPosition { extremum_result: 0, is_last: true, is_compared: false }, BodyScalar::Op(0)))
        );
        assert_eq!(argmax("arith.cmpf olt", [new, running]), None);
        assert_eq!(argmax("arith.cmpf ogt", [BodyScalar::Input(1), running]), None);
    }

    #[test]
    fn finds_position_with_tie_break_and_nan_test() {
        let (new, running) = (BodyScalar::Input(0), BodyScalar::Accumulator(0));
        let (place, found) = (BodyScalar::Input(1), BodyScalar::Accumulator(1));
        let body = |limit: &str, tie: &str| {
            let ops = vec![
                build_op(limit, &[running, new]),
                build_op("arith.cmpf une", &[running, running]),
                build_op("arith.ori", &[BodyScalar::Op(0), BodyScalar::Op(1)]),
                build_op("arith.cmpf oeq", &[running, new]),
                build_op(tie, &[found, place]),
                build_op("arith.andi", &[BodyScalar::Op(3), BodyScalar::Op(4)]),
                build_op("arith.ori", &[BodyScalar::Op(2), BodyScalar::Op(5)]),
                build_op("arith.select", &[BodyScalar::Op(2), running, new]),
                build_op("arith.select", &[BodyScalar::Op(6), found, place]),
            ];
            GenericBody { ops, yields: vec![BodyScalar::Op(7), BodyScalar::Op(8)] }
        };
        let argmax = body("arith.cmpf ogt", "arith.cmpi slt");
        let limit = |combiner| Some(BodyReduction { combiner, new, casts: vec![], ignores_nan: false });
        assert_eq!(argmax.find_reduction(0), limit(Combiner::Max));
        assert_eq!(
            argmax.find_position(1),
            Some((ExtremumPosition { extremum_result: 0, is_last: false, is_compared: true }, place))
        );
        let argmin = body("arith.cmpf olt", "arith.cmpi sgt");
        assert_eq!(argmin.find_reduction(0), limit(Combiner::Min));
        assert_eq!(
            argmin.find_position(1),
            Some((ExtremumPosition { extremum_result: 0, is_last: true, is_compared: true }, place))
        );
        assert_eq!(body("arith.cmpf oeq", "arith.cmpi slt").find_reduction(0), None);
        assert_eq!(body("arith.cmpf ogt", "arith.cmpi ult").find_position(1), None);
    }

    #[test]
    fn rejects_recurrence_as_reduction() {
        let ops = vec![
            build_op("arith.mulf", &[BodyScalar::Input(0), BodyScalar::Accumulator(0)]),
            build_op("arith.addf", &[BodyScalar::Op(0), BodyScalar::Accumulator(0)]),
        ];
        assert_eq!(GenericBody { ops, yields: vec![BodyScalar::Op(1)] }.find_reduction(0), None);
    }

    #[test]
    fn finds_product_through_casts() {
        let ops = vec![
            build_op("arith.extf", &[BodyScalar::Input(0)]),
            build_op("arith.extf", &[BodyScalar::Input(1)]),
            build_op("arith.mulf", &[BodyScalar::Op(0), BodyScalar::Op(1)]),
            build_op("arith.addf", &[BodyScalar::Accumulator(0), BodyScalar::Op(2)]),
            build_op("arith.truncf", &[BodyScalar::Op(3)]),
        ];
        let body = GenericBody { ops, yields: vec![BodyScalar::Op(4)] };
        assert_eq!(
            body.find_reduction(0),
            Some(BodyReduction { combiner: Combiner::Sum, new: BodyScalar::Op(2), casts: vec![4], ignores_nan: false })
        );
        assert_eq!(body.find_product(BodyScalar::Op(2)), Some(InputProduct { factors: [0, 1], casts: vec![0, 1] }));
    }

    #[test]
    fn visits_shared_scalars_once() {
        // Each operation uses the previous one twice, so there are 2^60 paths.
        let mut ops = vec![
            build_op("math.exp", &[BodyScalar::Accumulator(0)]),
            build_op("arith.addf", &[BodyScalar::Input(0), BodyScalar::Input(0)]),
        ];
        ops.extend((1..60).map(|index| build_op("arith.addf", &[BodyScalar::Op(index), BodyScalar::Op(index)])));
        let body = GenericBody { yields: vec![BodyScalar::Op(60)], ops };
        assert_eq!(body.collect_required(BodyScalar::Op(60)), (1..=60).collect::<Vec<_>>());
        assert!(!body.reads_accumulator(BodyScalar::Op(60)));
    }

    #[test]
    fn accepts_lowest_number_as_start_of_maximum() {
        assert!(Combiner::Max.can_start_from(-65504.0, Some(ElementType::F16)));
        assert!(!Combiner::Max.can_start_from(-65504.0, Some(ElementType::F32)));
        assert!(Combiner::Max.can_start_from(f64::from(f32::MIN), Some(ElementType::F32)));
        assert!(Combiner::Min.can_start_from(f64::INFINITY, Some(ElementType::F32)));
        assert!(!Combiner::Sum.can_start_from(1.0, Some(ElementType::F32)));
    }
}
