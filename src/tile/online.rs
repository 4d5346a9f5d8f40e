//! Values that a loop can compute in the same pass as the reductions on which they depend.
//!
//! A loop over an *axis* finishes a reduction along it in its last iteration. An op that needs the finished value then
//! needs a second loop: a softmax first iterates over the keys for the maximum of a row, and then for the sum of
//! `exp(x - m)`. One loop does both if its partial results can be corrected whenever the maximum grows. A *running*
//! value is the partial result of a reduction in the current iteration. For an op that reads a running value, this
//! file determines the form of the result:
//!
//! | form | what it is, with `X` of the tile alone and `r` running |
//! |---|---|
//! | `Outside` | the same in every iteration |
//! | `Tile` | `X` |
//! | `Running` | `r` |
//! | `Shifted` | `X + r` or `X - r` |
//! | `Scaled` | `X exp(r)` or `X exp(-r)` |
//! | `Finished` | needs the finished value |
//!
//! Let a reduction `(+)` along the axis take `f(X; r) = X (*) h(r)`, where `(*)` distributes over `(+)` and `h(r)` has
//! an inverse. A partial result with the old `r` is corrected to the new one by combining it, with `(*)`, with
//! `h(old)^-1 (*) h(new)`: the reduction of all `X (*) h(old)` is that of all `X`, combined with `h(old)`. Two pairs
//! are supported:
//!
//! * a sum of scaled values, `(+, x)`: the partial result is multiplied by `exp(old - new)`, or by `exp(new - old)`
//!   for a plus;
//! * a maximum or a minimum of shifted values, `(max, +)`: `new - old` or `old - new` is added.
//!
//! A sum is corrected only where the factor is at most 1: where `r` grows and is subtracted, as a running maximum, or
//! falls and is added. Otherwise the partial result could overflow although the finished sum does not. Likewise,
//! corrections only lower a maximum and only raise a minimum: a loop starts with an infinity, and the difference of
//! two infinities has no value. A product with a value of the tile, a sum along another dimension and a view keep the
//! form as long as they keep `r` separate; everything else needs the finished value.

#[cfg(test)]
mod tests;

/// Kind of an op, as far as forms depend on it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
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
    /// Matrix product: a sum of products of two operands.
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
pub struct Read {
    /// Number of the value.
    pub value: usize,
    /// For each of its dimensions, the dimension of the result that indexes it.
    pub dims: Vec<Option<usize>>,
}

/// Op, in program order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// Kind of the op.
    pub rule: Rule,
    /// Values that the op reads.
    pub reads: Vec<Read>,
    /// Whether it reduces the axis: its result is then a running value.
    pub reduces_axis: bool,
    /// Number of the value that it defines.
    pub output: usize,
    /// Shape of that value.
    pub shape: Vec<i64>,
}

/// Running value in a value that was computed from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// Number of the running value.
    pub value: usize,
    /// For each of its dimensions, the dimension of the computed value that indexes it; none for size 1.
    pub dims: Vec<Option<usize>>,
    /// Whether it is subtracted, or its negative is the exponent.
    pub is_subtracted: bool,
}

/// Direction in which a running value changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// It never decreases.
    Grows,
    /// It never increases.
    Falls,
    /// The direction is unknown.
    Unknown,
}

/// Form of a value: how it depends on running values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// Identical in every iteration.
    Outside,
    /// Depends on the tile alone.
    Tile,
    /// A running value, without any value of the tile.
    Running(Term, Course),
    /// The sum of a value of the tile and a running value.
    Shifted(Term, Course),
    /// The product of a value of the tile and the exponential of a running value.
    Scaled(Term, Course),
    /// Needs finished values.
    Finished,
}

/// Correction of a reduction's partial result when a running value changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correction {
    /// Multiplies it by the exponential of the difference.
    Times(Term),
    /// Adds the difference.
    Plus(Term),
}

/// Form and shape of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    form: Form,
    shape: Vec<i64>,
}

/// Analysis of how values in loops along an axis depend on running values.
#[derive(Debug, Default)]
pub struct Online {
    values: Vec<Option<Known>>,
}

impl Online {
    /// Records a value that no step defines.
    pub fn note(&mut self, value: usize, form: Form, shape: &[i64]) {
        if self.values.len() <= value {
            self.values.resize(value + 1, None);
        }
        self.values[value] = Some(Known { form, shape: shape.to_vec() });
    }

    /// Returns how a value depends on running values; a value that is not recorded is `Outside`.
    #[must_use]
    pub fn form(&self, value: usize) -> &Form {
        self.values.get(value).and_then(Option::as_ref).map_or(&Form::Outside, |known| &known.form)
    }

    /// Records the form of a step's result; returns the correction of its partial result, if the step reduces the axis and needs
    /// one.
    pub fn step(&mut self, step: &Step) -> Option<Correction> {
        let made = self.made(step);
        if !step.reduces_axis {
            self.note(step.output, made, &step.shape);
            return None;
        }
        let (is_running, correction) = match made {
            Form::Outside | Form::Tile => (true, None),
            Form::Scaled(term, course) if matches!(step.rule, Rule::Sum | Rule::Product) && shrinks(&term, course) => {
                (true, Some(Correction::Times(term)))
            }
            Form::Shifted(term, course) if step.rule == Rule::Max && shrinks(&term, course) => (true, Some(Correction::Plus(term))),
            Form::Shifted(term, course) if step.rule == Rule::Min && grows(&term, course) => (true, Some(Correction::Plus(term))),
            _ => (false, None),
        };
        let course = match (step.rule, &correction) {
            (Rule::Max, None) => Course::Grows,
            (Rule::Min, None) => Course::Falls,
            _ => Course::Unknown,
        };
        let form = if is_running { Form::Running(whole(step), course) } else { Form::Finished };
        self.note(step.output, form, &step.shape);
        correction
    }

    /// Returns the form of a step's result in one iteration.
    fn made(&self, step: &Step) -> Form {
        let forms: Vec<Form> = step.reads.iter().map(|read| self.seen(read)).collect();
        let separate = match (step.rule, forms.as_slice()) {
            (Rule::Same, [form]) => Some(form.clone()),
            (Rule::Add, [one, other]) => sum(one, other).or_else(|| sum(other, one)),
            (Rule::Sub, [one, other]) => sum(one, &negative(other)).or_else(|| sum(&negative(other), one)),
            (Rule::Neg, [form @ (Form::Shifted(..) | Form::Running(..))]) => Some(negative(form)),
            (Rule::Exp, [Form::Shifted(term, course)]) => Some(Form::Scaled(term.clone(), *course)),
            (Rule::Sum | Rule::Neg, [form @ Form::Scaled(..)]) | (Rule::Max | Rule::Min, [form @ Form::Shifted(..)]) => Some(form.clone()),
            (
                Rule::Mul | Rule::Product,
                [form @ Form::Scaled(..), Form::Tile | Form::Outside] | [Form::Tile | Form::Outside, form @ Form::Scaled(..)],
            )
            | (Rule::Div, [form @ Form::Scaled(..), Form::Tile | Form::Outside]) => Some(form.clone()),
            _ => None,
        };
        separate.unwrap_or_else(|| plain(step, &forms))
    }

    /// Returns the form of an operand, with running values indexed by the dimensions of the op's result.
    fn seen(&self, read: &Read) -> Form {
        let Some(Known { form, .. }) = self.values.get(read.value).and_then(Option::as_ref) else { return Form::Outside };
        let through = |term: &Term| {
            let shape = &self.values[term.value].as_ref()?.shape;
            let dims = term.dims.iter().zip(shape).map(|(dim, size)| match dim.and_then(|dim| read.dims.get(dim).copied().flatten()) {
                None if *size > 1 => None,
                moving => Some(moving),
            });
            Some(Term { dims: dims.collect::<Option<_>>()?, ..term.clone() })
        };
        let form = match form {
            Form::Running(term, course) => through(term).map(|term| Form::Running(term, *course)),
            Form::Shifted(term, course) => through(term).map(|term| Form::Shifted(term, *course)),
            Form::Scaled(term, course) => through(term).map(|term| Form::Scaled(term, *course)),
            Form::Outside | Form::Tile | Form::Finished => Some(form.clone()),
        };
        form.unwrap_or(Form::Finished)
    }
}

/// Returns the form of a result if the op keeps no running value separate.
fn plain(step: &Step, forms: &[Form]) -> Form {
    let is_fixed = |form: &Form| matches!(form, Form::Outside);
    if forms.iter().all(is_fixed) {
        return Form::Outside;
    }
    if forms.iter().all(|form| matches!(form, Form::Outside | Form::Tile)) {
        return Form::Tile;
    }
    if !forms.iter().all(|form| matches!(form, Form::Outside | Form::Running(..))) {
        return Form::Finished;
    }
    let mut courses = forms.iter().filter_map(|form| if let Form::Running(_, course) = form { Some(*course) } else { None });
    let course = match (step.rule, courses.next(), courses.next()) {
        (Rule::Maximum | Rule::Minimum | Rule::Add, Some(course), None) => course,
        (Rule::Maximum | Rule::Minimum | Rule::Add, Some(one), Some(other)) if one == other => one,
        (Rule::Sub, Some(course), None) => {
            if is_fixed(&forms[1]) {
                course
            } else {
                course.turned()
            }
        }
        _ => Course::Unknown,
    };
    Form::Running(whole(step), course)
}

/// Combines terms: `tile + running`, `shifted + tile` and `scaled + scaled`.
fn sum(one: &Form, other: &Form) -> Option<Form> {
    match (one, other) {
        (Form::Tile, Form::Running(term, course)) => Some(Form::Shifted(term.clone(), *course)),
        (Form::Shifted(term, course), Form::Tile | Form::Outside) => Some(Form::Shifted(term.clone(), *course)),
        (Form::Scaled(..), Form::Scaled(..)) if one == other => Some(one.clone()),
        _ => None,
    }
}

/// Negates a summand. A factor is unchanged.
fn negative(form: &Form) -> Form {
    let turned = |term: &Term| Term { is_subtracted: !term.is_subtracted, ..term.clone() };
    match form {
        Form::Running(term, course) => Form::Running(turned(term), *course),
        Form::Shifted(term, course) => Form::Shifted(turned(term), *course),
        Form::Outside | Form::Tile | Form::Scaled(..) | Form::Finished => form.clone(),
    }
}

/// Whether neither a term nor its exponential ever increases.
fn shrinks(term: &Term, course: Course) -> bool {
    course == if term.is_subtracted { Course::Grows } else { Course::Falls }
}

/// Whether a term never decreases.
fn grows(term: &Term, course: Course) -> bool {
    course == if term.is_subtracted { Course::Falls } else { Course::Grows }
}

/// Returns the result of a step as a running value.
fn whole(step: &Step) -> Term {
    let dims = step.shape.iter().enumerate().map(|(dim, size)| (*size > 1).then_some(dim)).collect();
    Term { value: step.output, dims, is_subtracted: false }
}

impl Course {
    const fn turned(self) -> Self {
        match self {
            Self::Grows => Self::Falls,
            Self::Falls => Self::Grows,
            Self::Unknown => Self::Unknown,
        }
    }
}
