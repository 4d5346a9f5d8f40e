use super::*;
use proptest::prelude::*;

/// One row of an attention: each value is a vector along the axis, or a scalar.
#[derive(Clone, Debug, PartialEq)]
enum Number {
    Tile(Vec<f64>),
    One(f64),
}

impl Number {
    fn at(&self, index: usize) -> f64 {
        match self {
            Self::Tile(elements) => elements[index],
            Self::One(element) => *element,
        }
    }

    fn part(&self, part: std::ops::Range<usize>) -> Self {
        match self {
            Self::Tile(elements) => Self::Tile(elements[part].to_vec()),
            Self::One(element) => Self::One(*element),
        }
    }
}

/// Steps, with the values that no step defines.
#[derive(Clone, Debug)]
struct Program {
    given: Vec<Number>,
    steps: Vec<Step>,
}

/// Returns the function of an op with one or two operands.
fn apply(rule: Rule, operands: &[f64]) -> f64 {
    match (rule, operands) {
        (Rule::Same, [x]) => *x,
        (Rule::Neg, [x]) => -x,
        (Rule::Exp, [x]) => x.exp(),
        (Rule::Other, [x]) => x.sin(),
        (Rule::Add, [x, y]) => x + y,
        (Rule::Sub, [x, y]) => x - y,
        (Rule::Mul, [x, y]) => x * y,
        (Rule::Div, [x, y]) => x / y,
        (Rule::Maximum, [x, y]) => x.max(*y),
        (Rule::Minimum, [x, y]) => x.min(*y),
        _ => panic!("{rule:?} of {} operands", operands.len()),
    }
}

fn elementwise(rule: Rule, operands: &[&Number]) -> Number {
    let length = operands.iter().find_map(|operand| if let Number::Tile(elements) = operand { Some(elements.len()) } else { None });
    let at = |index: usize| apply(rule, &operands.iter().map(|operand| operand.at(index)).collect::<Vec<_>>());
    length.map_or_else(|| Number::One(at(0)), |length| Number::Tile((0..length).map(at).collect()))
}

/// Returns the reduction of the operands: over a tile, or over one number repeated for `length` elements.
fn reduced(rule: Rule, operands: &[&Number], length: usize) -> f64 {
    let element = |index: usize| operands.iter().map(|operand| operand.at(index)).product::<f64>();
    let elements = (0..length).map(element);
    match rule {
        Rule::Max => elements.fold(f64::NEG_INFINITY, f64::max),
        Rule::Min => elements.fold(f64::INFINITY, f64::min),
        _ => elements.sum(),
    }
}

fn combine(rule: Rule, had: f64, part: f64) -> f64 {
    match rule {
        Rule::Max => had.max(part),
        Rule::Min => had.min(part),
        _ => had + part,
    }
}

fn neutral(rule: Rule) -> f64 {
    reduced(rule, &[], 0)
}

impl Program {
    /// Returns all values, with each reduction finished before it is read.
    fn whole(&self, length: usize) -> Vec<Number> {
        let mut values = self.given.clone();
        for step in &self.steps {
            let operands: Vec<&Number> = step.reads.iter().map(|read| &values[read.value]).collect();
            let made =
                if step.reduces_axis { Number::One(reduced(step.rule, &operands, length)) } else { elementwise(step.rule, &operands) };
            values.push(made);
        }
        values
    }

    /// Runs one loop over tiles, with the corrections of the analysis, and returns each value at the end of the loop.
    fn online(&self, length: usize, n_parts: usize) -> (Online, Vec<Number>) {
        let mut online = Online::default();
        for (value, given) in self.given.iter().enumerate() {
            let (form, shape) = if matches!(given, Number::Tile(_)) { (Form::Tile, [2, 8]) } else { (Form::Outside, [2, 1]) };
            online.note(value, form, &shape);
        }
        let corrections: Vec<Option<Correction>> = self.steps.iter().map(|step| online.step(step)).collect();
        let mut had: Vec<f64> = self.steps.iter().map(|step| neutral(step.rule)).collect();
        let mut values = self.at_start(length / n_parts);
        for part in 0..n_parts {
            let size = length / n_parts;
            let range = part * size..(part + 1) * size;
            let before = values;
            values = self.given.iter().map(|given| given.part(range.clone())).collect();
            for (number, step) in self.steps.iter().enumerate() {
                let operands: Vec<&Number> = step.reads.iter().map(|read| &values[read.value]).collect();
                if !step.reduces_axis {
                    values.push(elementwise(step.rule, &operands));
                    continue;
                }
                let value = reduced(step.rule, &operands, size);
                if part > 0
                    && let Some(correction) = &corrections[number]
                {
                    had[number] = corrected(had[number], correction, &before, &values);
                }
                had[number] = combine(step.rule, had[number], value);
                values.push(Number::One(had[number]));
            }
        }
        (online, values)
    }
}

impl Program {
    /// Returns each value before the first iteration of the loop; infinities are bounded.
    fn at_start(&self, size: usize) -> Vec<Number> {
        let mut values: Vec<Number> = self.given.iter().map(|given| given.part(0..size)).collect();
        for step in &self.steps {
            let operands: Vec<&Number> = step.reads.iter().map(|read| &values[read.value]).collect();
            let bounded = || Number::One(neutral(step.rule).clamp(-1e300, 1e300));
            values.push(if step.reduces_axis { bounded() } else { elementwise(step.rule, &operands) });
        }
        values
    }
}

fn corrected(had: f64, correction: &Correction, before: &[Number], now: &[Number]) -> f64 {
    let change = |term: &Term| {
        let (old, new) = (before[term.value].at(0), now[term.value].at(0));
        if term.is_subtracted { old - new } else { new - old }
    };
    match correction {
        Correction::Times(term) => had * change(term).exp(),
        Correction::Plus(term) => had + change(term),
    }
}

/// Decodes a step from a few bytes. In these programs, the first dimension, rows, always has size 1; the second is the axis.
fn step(program: &Program, [rule, one, other]: [u8; 3]) -> Step {
    let rules = [
        Rule::Same,
        Rule::Neg,
        Rule::Exp,
        Rule::Other,
        Rule::Add,
        Rule::Sub,
        Rule::Mul,
        Rule::Div,
        Rule::Maximum,
        Rule::Minimum,
        Rule::Sum,
        Rule::Product,
        Rule::Max,
        Rule::Min,
        Rule::Sub,
        Rule::Exp,
        Rule::Sum,
        Rule::Max,
    ];
    let rule = rules[usize::from(rule) % rules.len()];
    let n_reads =
        if matches!(rule, Rule::Add | Rule::Sub | Rule::Mul | Rule::Div | Rule::Maximum | Rule::Minimum | Rule::Product) { 2 } else { 1 };
    let n_values = program.given.len() + program.steps.len();
    let is_tile = |value: usize| value_is_tile(program, value);
    // Prefers recent values.
    let values: Vec<usize> = [one, other][..n_reads].iter().map(|byte| n_values - 1 - usize::from(*byte) % n_values.min(4)).collect();
    let reduces_axis = matches!(rule, Rule::Sum | Rule::Product | Rule::Max | Rule::Min) && values.iter().any(|value| is_tile(*value));
    let rule = if reduces_axis || !matches!(rule, Rule::Sum | Rule::Product | Rule::Max | Rule::Min) { rule } else { Rule::Same };
    let values = if rule == Rule::Same { values[..1].to_vec() } else { values };
    let is_made_tile = !reduces_axis && values.iter().any(|value| is_tile(*value));
    let moved = |value: usize| vec![Some(0), (is_tile(value) && is_made_tile).then_some(1)];
    let reads = values.into_iter().map(|value| Read { value, dims: moved(value) }).collect();
    Step { rule, reads, reduces_axis, output: n_values, shape: vec![2, if is_made_tile { 8 } else { 1 }] }
}

fn value_is_tile(program: &Program, value: usize) -> bool {
    match value.checked_sub(program.given.len()) {
        None => matches!(program.given[value], Number::Tile(_)),
        Some(step) => program.steps[step].shape[1] > 1,
    }
}

const LENGTH: usize = 12;

fn program(begins_with_softmax: bool, seeds: &[[u8; 3]], elements: &[f64]) -> Program {
    let given = vec![Number::One(0.5), Number::Tile(elements[..LENGTH].to_vec()), Number::Tile(elements[LENGTH..].to_vec())];
    let mut program = Program { given, steps: Vec::new() };
    if begins_with_softmax {
        let step = |rule: Rule, values: &[usize], output: usize, width: i64| Step {
            rule,
            reads: values.iter().map(|&value| read(value, value != 3, width > 1)).collect(),
            reduces_axis: rule == Rule::Max,
            output,
            shape: vec![2, width],
        };
        program.steps = vec![step(Rule::Max, &[1], 3, 1), step(Rule::Sub, &[1, 3], 4, 8), step(Rule::Exp, &[4], 5, 8)];
    }
    for seed in seeds {
        let step = step(&program, *seed);
        program.steps.push(step);
    }
    program
}

/// Whether two numbers are equal up to rounding, if they are small enough for rounding errors to be negligible.
fn is_same(one: f64, other: f64) -> bool {
    let is_far = |x: f64| !x.is_finite() || x.abs() > 1e8;
    is_far(one) || is_far(other) || (one - other).abs() <= 1e-6 * one.abs().max(other.abs()).max(1e-3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    /// Checks the corrections on random programs: the values at the end of a loop equal the finished ones.
    #[test]
    fn a_loop_ends_with_what_is_finished(
        begins_with_softmax in any::<bool>(),
        seeds in prop::collection::vec(any::<[u8; 3]>(), 1..12),
        elements in prop::collection::vec(-2.0..2.0_f64, 2 * LENGTH),
    ) {
        let program = program(begins_with_softmax, &seeds, &elements);
        let whole = program.whole(LENGTH);
        let is_calm = whole.iter().all(|value| (0..LENGTH).all(|index| value.at(index).abs() < 1e4));
        if !is_calm {
            return Ok(());
        }
        for n_parts in [1, 2, 3, 12] {
            let (online, ended) = program.online(LENGTH, n_parts);
            for (value, (made, finished)) in ended.iter().zip(&whole).enumerate() {
                if matches!(online.form(value), Form::Running(..)) {
                    prop_assert!(is_same(made.at(0), finished.at(0)), "value {value}: {made:?} for {finished:?} in {n_parts} parts");
                }
            }
        }
    }
}

fn read(value: usize, is_tile: bool, is_made_tile: bool) -> Read {
    Read { value, dims: vec![Some(0), (is_tile && is_made_tile).then_some(1)] }
}

/// Reduces a tile to one number per row.
fn row(rule: Rule, of: usize, output: usize) -> Step {
    Step { rule, reads: vec![read(of, true, false)], reduces_axis: true, output, shape: vec![4, 1] }
}

/// Creates values 0 to 3: `m` is the maximum or the minimum of `x`, `d = x - m`, `e = exp(d)`.
fn exponentials(extreme: Rule) -> Online {
    let mut online = Online::default();
    online.note(0, Form::Tile, &[4, 64]);
    let tile = |rule: Rule, reads: Vec<Read>, output: usize| Step { rule, reads, reduces_axis: false, output, shape: vec![4, 64] };
    for step in [
        row(extreme, 0, 1),
        tile(Rule::Sub, vec![read(0, true, true), read(1, false, true)], 2),
        tile(Rule::Exp, vec![read(2, true, true)], 3),
    ] {
        assert_eq!(online.step(&step), None);
    }
    online
}

fn softmax() -> Online {
    exponentials(Rule::Max)
}

fn subtracted(value: usize) -> Term {
    Term { value, dims: vec![Some(0), None], is_subtracted: true }
}

#[test]
fn a_sum_of_exponentials_is_scaled_when_the_maximum_grows() {
    let mut online = softmax();
    assert_eq!(online.step(&row(Rule::Sum, 3, 4)), Some(Correction::Times(subtracted(1))));
    assert!(matches!(online.form(4), Form::Running(..)));
}

#[test]
fn a_maximum_of_differences_is_shifted() {
    let mut online = softmax();
    assert_eq!(online.step(&row(Rule::Max, 2, 4)), Some(Correction::Plus(subtracted(1))));
}

#[test]
fn a_share_of_the_sum_needs_the_finished_sum() {
    let mut online = softmax();
    online.step(&row(Rule::Sum, 3, 4));
    let share = Step {
        rule: Rule::Div,
        reads: vec![read(3, true, true), read(4, false, true)],
        reduces_axis: false,
        output: 5,
        shape: vec![4, 64],
    };
    online.step(&share);
    assert_eq!(*online.form(5), Form::Finished);
}

#[test]
fn what_could_overflow_on_the_way_waits() {
    // exp(x - min x): the minimum decreases, and results for an earlier minimum would have to increase.
    let mut online = exponentials(Rule::Min);
    assert_eq!(online.step(&row(Rule::Sum, 3, 4)), None);
    assert_eq!(*online.form(4), Form::Finished);
}

#[test]
fn two_infinities_have_no_difference() {
    // max(x - min x): the loop starts with -inf, and with a difference to +inf.
    let mut online = exponentials(Rule::Min);
    assert_eq!(online.step(&row(Rule::Max, 2, 4)), None);
    assert_eq!(*online.form(4), Form::Finished);
    assert_eq!(online.step(&row(Rule::Min, 2, 5)), Some(Correction::Plus(subtracted(1))));
}

#[test]
fn a_product_that_sums_up_the_rows_mixes_their_maxima() {
    let mut online = softmax();
    // The result has no dimension for the rows, each of which has its own maximum.
    let mixed = Step {
        rule: Rule::Product,
        reads: vec![Read { value: 3, dims: vec![None, None] }],
        reduces_axis: true,
        output: 4,
        shape: vec![1, 1],
    };
    assert_eq!(online.step(&mixed), None);
    assert_eq!(*online.form(4), Form::Finished);
}
