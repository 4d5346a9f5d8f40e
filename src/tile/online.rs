//! Values that a loop can compute in the same pass as the reductions on which they depend.
//!
//! A loop over an *axis* finishes a reduction along it in its last iteration, so an op that needs the finished value
//! needs a second loop: a softmax iterates over the keys for the maximum `m` of a row, then for the sum of
//! `exp(x - m)`. One loop computes both if partial results can be corrected whenever the maximum grows. A *running*
//! value is the partial result of a reduction in the current iteration. [`RunningValueAnalysis`] determines how each
//! value depends on it.

#[cfg(test)]
mod tests;

/// Kind of an op, as far as the dependence of its result on running values is concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AnalyzedOpKind {
    /// Identical values: a copy, or a view.
    Same,
    /// Elementwise sum of two operands.
    Add,
    /// Elementwise difference of two operands.
    Sub,
    /// Elementwise product of two operands.
    Mul,
    /// Elementwise quotient of two operands.
    Div,
    /// Elementwise negation.
    Neg,
    /// Elementwise exponential.
    Exp,
    /// Elementwise maximum of two operands.
    Maximum,
    /// Elementwise minimum of two operands.
    Minimum,
    /// Matmul: a sum of products of two operands.
    Product,
    /// Sum or mean along dimensions.
    Sum,
    /// Maximum along dimensions.
    Max,
    /// Minimum along dimensions.
    Min,
    /// Any other op.
    #[default]
    Other,
}

/// Value that an op reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyzedOperand {
    /// Number of the value.
    pub value: usize,
    /// For each of its dimensions, the dimension of the result that indexes it.
    pub dims: Vec<Option<usize>>,
}

/// Op, in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnalyzedOp {
    /// Kind of the op.
    pub rule: AnalyzedOpKind,
    /// Values that the op reads.
    pub reads: Vec<AnalyzedOperand>,
    /// Whether it reduces the axis: its result is then a running value.
    pub reduces_axis: bool,
    /// Number of the value that it defines.
    pub output: usize,
    /// Shape of that value.
    pub shape: Vec<i64>,
}

/// Running value in a value that was computed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunningTerm {
    /// Number of the running value.
    pub value: usize,
    /// For each of its dimensions, the dimension of the computed value that indexes it; `None` for size 1.
    pub dims: Vec<Option<usize>>,
    /// Whether it is subtracted, or its negative is the exponent.
    pub is_subtracted: bool,
}

/// Direction in which a running value changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Monotonicity {
    /// It never decreases.
    Increasing,
    /// It never increases.
    Decreasing,
    /// The direction is unknown.
    Unknown,
}

/// Dependence of a value on running values, with `X` of the tile alone and `r` running.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunningDependence {
    /// Identical in every iteration.
    Outside,
    /// The value is `X`: it depends on the tile alone.
    Tile,
    /// The value is `r`, without any value of the tile.
    Running(RunningTerm, Monotonicity),
    /// The value is `X + r` or `X - r`.
    Shifted(RunningTerm, Monotonicity),
    /// The value is `X exp(r)` or `X exp(-r)`.
    Scaled(RunningTerm, Monotonicity),
    /// The value needs finished values.
    Finished,
}

/// Correction of a reduction's partial result when a running value changes.
///
/// Let a reduction `(+)` along the axis have the operand `f(X; r) = X (*) h(r)`, where `(*)` distributes over `(+)` and
/// `h(r)` has an inverse. The reduction of all `X (*) h(old)` is that of all `X`, combined with `h(old)`. Combining a
/// partial result by `(*)` with `h(old)^-1 (*) h(new)` therefore corrects it from the old `r` to the new one. Two pairs
/// are supported:
///
/// * a sum of scaled values, `(+, x)`: the partial result is multiplied by `exp(old - new)`, or by `exp(new - old)` for
///   a plus;
/// * a maximum or a minimum of shifted values, `(max, +)`: `new - old` or `old - new` is added.
///
/// A sum is corrected only if the factor is at most 1: `r` grows and is subtracted, as a running maximum, or falls and
/// is added. Otherwise the partial result could overflow although the finished sum does not. Likewise, corrections only
/// lower a maximum and only raise a minimum: a loop starts with an infinity, and the difference of two infinities has
/// no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Multiplies it by the exponential of the difference.
    Multiply(RunningTerm),
    /// Adds the difference.
    Add(RunningTerm),
}

/// Dependence and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct RecordedDependence {
    dependence: RunningDependence,
    shape: Vec<i64>,
}

/// Analysis of how values in loops along an axis depend on running values.
///
/// A product with a value of the tile, a sum along another dimension and a view preserve the dependence as long as `r`
/// stays separate; any other op needs the finished value.
#[derive(Debug, Default)]
pub struct RunningValueAnalysis {
    values: Vec<Option<RecordedDependence>>,
}

impl RunningValueAnalysis {
    /// Records the dependence of a value that no op defines.
    pub fn record(&mut self, value: usize, form: RunningDependence, shape: &[i64]) {
        if self.values.len() <= value {
            self.values.resize(value + 1, None);
        }
        self.values[value] = Some(RecordedDependence { dependence: form, shape: shape.to_vec() });
    }

    /// Returns how a value depends on running values; a value that is not recorded is `Outside`.
    #[must_use]
    pub fn dependence(&self, value: usize) -> &RunningDependence {
        self.values.get(value).and_then(Option::as_ref).map_or(&RunningDependence::Outside, |known| &known.dependence)
    }

    /// Records the dependence of an op's result; returns the correction of its partial result, if the op reduces the
    /// axis and needs one.
    pub fn analyze_op(&mut self, step: &AnalyzedOp) -> Option<Correction> {
        let made = self.result_dependence(step);
        if !step.reduces_axis {
            self.record(step.output, made, &step.shape);
            return None;
        }
        let (is_running, correction) = match made {
            RunningDependence::Outside | RunningDependence::Tile => (true, None),
            RunningDependence::Scaled(term, course)
                if matches!(step.rule, AnalyzedOpKind::Sum | AnalyzedOpKind::Product)
                    && never_increases(&term, course) =>
            {
                (true, Some(Correction::Multiply(term)))
            }
            RunningDependence::Shifted(term, course)
                if step.rule == AnalyzedOpKind::Max && never_increases(&term, course) =>
            {
                (true, Some(Correction::Add(term)))
            }
            RunningDependence::Shifted(term, course)
                if step.rule == AnalyzedOpKind::Min && never_decreases(&term, course) =>
            {
                (true, Some(Correction::Add(term)))
            }
            _ => (false, None),
        };
        let course = match (step.rule, &correction) {
            (AnalyzedOpKind::Max, None) => Monotonicity::Increasing,
            (AnalyzedOpKind::Min, None) => Monotonicity::Decreasing,
            _ => Monotonicity::Unknown,
        };
        let form = if is_running {
            RunningDependence::Running(to_running_term(step), course)
        } else {
            RunningDependence::Finished
        };
        self.record(step.output, form, &step.shape);
        correction
    }

    /// Returns the dependence of an op's result in one iteration.
    fn result_dependence(&self, step: &AnalyzedOp) -> RunningDependence {
        let forms: Vec<RunningDependence> = step.reads.iter().map(|read| self.operand_dependence(read)).collect();
        let separate = match (step.rule, forms.as_slice()) {
            (AnalyzedOpKind::Same, [form]) => Some(form.clone()),
            (AnalyzedOpKind::Add, [one, other]) => add_dependences(one, other).or_else(|| add_dependences(other, one)),
            (AnalyzedOpKind::Sub, [one, other]) => {
                add_dependences(one, &negate(other)).or_else(|| add_dependences(&negate(other), one))
            }
            (AnalyzedOpKind::Neg, [form @ (RunningDependence::Shifted(..) | RunningDependence::Running(..))]) => {
                Some(negate(form))
            }
            (AnalyzedOpKind::Exp, [RunningDependence::Shifted(term, course)]) => {
                Some(RunningDependence::Scaled(term.clone(), *course))
            }
            (AnalyzedOpKind::Sum | AnalyzedOpKind::Neg, [form @ RunningDependence::Scaled(..)])
            | (AnalyzedOpKind::Max | AnalyzedOpKind::Min, [form @ RunningDependence::Shifted(..)]) => {
                Some(form.clone())
            }
            (
                AnalyzedOpKind::Mul | AnalyzedOpKind::Product,
                [form @ RunningDependence::Scaled(..), RunningDependence::Tile | RunningDependence::Outside]
                | [RunningDependence::Tile | RunningDependence::Outside, form @ RunningDependence::Scaled(..)],
            )
            | (
                AnalyzedOpKind::Div,
                [form @ RunningDependence::Scaled(..), RunningDependence::Tile | RunningDependence::Outside],
            ) => Some(form.clone()),
            _ => None,
        };
        separate.unwrap_or_else(|| merge_dependences(step, &forms))
    }

    /// Returns the dependence of an operand, with running values indexed by the dimensions of the op's result.
    fn operand_dependence(&self, read: &AnalyzedOperand) -> RunningDependence {
        let Some(RecordedDependence { dependence: form, .. }) = self.values.get(read.value).and_then(Option::as_ref)
        else {
            return RunningDependence::Outside;
        };
        let through = |term: &RunningTerm| {
            let shape = &self.values[term.value].as_ref()?.shape;
            let dims = term.dims.iter().zip(shape).map(|(dim, size)| {
                match dim.and_then(|dim| read.dims.get(dim).copied().flatten()) {
                    None if *size > 1 => None,
                    moving => Some(moving),
                }
            });
            Some(RunningTerm { dims: dims.collect::<Option<_>>()?, ..term.clone() })
        };
        let form = match form {
            RunningDependence::Running(term, course) => {
                through(term).map(|term| RunningDependence::Running(term, *course))
            }
            RunningDependence::Shifted(term, course) => {
                through(term).map(|term| RunningDependence::Shifted(term, *course))
            }
            RunningDependence::Scaled(term, course) => {
                through(term).map(|term| RunningDependence::Scaled(term, *course))
            }
            RunningDependence::Outside | RunningDependence::Tile | RunningDependence::Finished => Some(form.clone()),
        };
        form.unwrap_or(RunningDependence::Finished)
    }
}

/// Returns the dependence of a result if the op keeps no running value separate.
fn merge_dependences(step: &AnalyzedOp, forms: &[RunningDependence]) -> RunningDependence {
    let is_fixed = |form: &RunningDependence| matches!(form, RunningDependence::Outside);
    if forms.iter().all(is_fixed) {
        return RunningDependence::Outside;
    }
    if forms.iter().all(|form| matches!(form, RunningDependence::Outside | RunningDependence::Tile)) {
        return RunningDependence::Tile;
    }
    if !forms.iter().all(|form| matches!(form, RunningDependence::Outside | RunningDependence::Running(..))) {
        return RunningDependence::Finished;
    }
    let mut courses = forms
        .iter()
        .filter_map(|form| if let RunningDependence::Running(_, course) = form { Some(*course) } else { None });
    let course = match (step.rule, courses.next(), courses.next()) {
        (AnalyzedOpKind::Maximum | AnalyzedOpKind::Minimum | AnalyzedOpKind::Add, Some(course), None) => course,
        (AnalyzedOpKind::Maximum | AnalyzedOpKind::Minimum | AnalyzedOpKind::Add, Some(one), Some(other))
            if one == other =>
        {
            one
        }
        (AnalyzedOpKind::Sub, Some(course), None) => {
            if is_fixed(&forms[1]) {
                course
            } else {
                course.reverse()
            }
        }
        _ => Monotonicity::Unknown,
    };
    RunningDependence::Running(to_running_term(step), course)
}

/// Combines terms: `tile + running`, `shifted + tile` and `scaled + scaled`.
fn add_dependences(one: &RunningDependence, other: &RunningDependence) -> Option<RunningDependence> {
    match (one, other) {
        (RunningDependence::Tile, RunningDependence::Running(term, course)) => {
            Some(RunningDependence::Shifted(term.clone(), *course))
        }
        (RunningDependence::Shifted(term, course), RunningDependence::Tile | RunningDependence::Outside) => {
            Some(RunningDependence::Shifted(term.clone(), *course))
        }
        (RunningDependence::Scaled(..), RunningDependence::Scaled(..)) if one == other => Some(one.clone()),
        _ => None,
    }
}

/// Negates a summand. A factor is unchanged.
fn negate(form: &RunningDependence) -> RunningDependence {
    let turned = |term: &RunningTerm| RunningTerm { is_subtracted: !term.is_subtracted, ..term.clone() };
    match form {
        RunningDependence::Running(term, course) => RunningDependence::Running(turned(term), *course),
        RunningDependence::Shifted(term, course) => RunningDependence::Shifted(turned(term), *course),
        RunningDependence::Outside
        | RunningDependence::Tile
        | RunningDependence::Scaled(..)
        | RunningDependence::Finished => form.clone(),
    }
}

/// Returns whether neither a term nor its exponential ever increases.
fn never_increases(term: &RunningTerm, course: Monotonicity) -> bool {
    course == if term.is_subtracted { Monotonicity::Increasing } else { Monotonicity::Decreasing }
}

/// Returns whether a term never decreases.
fn never_decreases(term: &RunningTerm, course: Monotonicity) -> bool {
    course == if term.is_subtracted { Monotonicity::Decreasing } else { Monotonicity::Increasing }
}

/// Returns the result of an op as a running value.
fn to_running_term(step: &AnalyzedOp) -> RunningTerm {
    let dims = step.shape.iter().enumerate().map(|(dim, size)| (*size > 1).then_some(dim)).collect();
    RunningTerm { value: step.output, dims, is_subtracted: false }
}

impl Monotonicity {
    const fn reverse(self) -> Self {
        match self {
            Self::Increasing => Self::Decreasing,
            Self::Decreasing => Self::Increasing,
            Self::Unknown => Self::Unknown,
        }
    }
}
