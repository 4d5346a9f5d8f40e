use super::*;
use proptest::prelude::*;

/// One row of an attention: each value is a vector along the axis, or a scalar.
#[derive(Clone, Debug, PartialEq)]
enum SampleValue {
    Tile(Vec<f64>),
    One(f64),
}

impl SampleValue {
    fn element(&self, index: usize) -> f64 {
        match self {
            Self::Tile(elements) => elements[index],
            Self::One(element) => *element,
        }
    }

    fn slice(&self, part: std::ops::Range<usize>) -> Self {
        match self {
            Self::Tile(elements) => Self::Tile(elements[part].to_vec()),
            Self::One(element) => Self::One(*element),
        }
    }
}

/// Ops, with the values that no op defines.
#[derive(Clone, Debug)]
struct SampleProgram {
    given: Vec<SampleValue>,
    steps: Vec<AnalyzedOp>,
}

/// Returns the function of an op with one or two operands.
fn apply(rule: AnalyzedOpKind, operands: &[f64]) -> f64 {
    match (rule, operands) {
        (AnalyzedOpKind::Same, [x]) => *x,
        (AnalyzedOpKind::Neg, [x]) => -x,
        (AnalyzedOpKind::Exp, [x]) => x.exp(),
        (AnalyzedOpKind::Other, [x]) => x.sin(),
        (AnalyzedOpKind::Add, [x, y]) => x + y,
        (AnalyzedOpKind::Sub, [x, y]) => x - y,
        (AnalyzedOpKind::Mul, [x, y]) => x * y,
        (AnalyzedOpKind::Div, [x, y]) => x / y,
        (AnalyzedOpKind::Maximum, [x, y]) => x.max(*y),
        (AnalyzedOpKind::Minimum, [x, y]) => x.min(*y),
        _ => panic!("{rule:?} of {} operands", operands.len()),
    }
}

fn evaluate_elementwise(rule: AnalyzedOpKind, operands: &[&SampleValue]) -> SampleValue {
    let length = operands
        .iter()
        .find_map(|operand| if let SampleValue::Tile(elements) = operand { Some(elements.len()) } else { None });
    let at = |index: usize| apply(rule, &operands.iter().map(|operand| operand.element(index)).collect::<Vec<_>>());
    length.map_or_else(|| SampleValue::One(at(0)), |length| SampleValue::Tile((0..length).map(at).collect()))
}

/// Returns the reduction of the operands: over a tile, or over one number repeated for `length` elements.
fn evaluate_reduction(rule: AnalyzedOpKind, operands: &[&SampleValue], length: usize) -> f64 {
    let element = |index: usize| operands.iter().map(|operand| operand.element(index)).product::<f64>();
    let elements = (0..length).map(element);
    match rule {
        AnalyzedOpKind::Max => elements.fold(f64::NEG_INFINITY, f64::max),
        AnalyzedOpKind::Min => elements.fold(f64::INFINITY, f64::min),
        _ => elements.sum(),
    }
}

fn combine_partial_results(rule: AnalyzedOpKind, had: f64, part: f64) -> f64 {
    match rule {
        AnalyzedOpKind::Max => had.max(part),
        AnalyzedOpKind::Min => had.min(part),
        _ => had + part,
    }
}

fn neutral_element(rule: AnalyzedOpKind) -> f64 {
    evaluate_reduction(rule, &[], 0)
}

impl SampleProgram {
    /// Returns all values, with each reduction finished before it is read.
    fn run_unfused(&self, length: usize) -> Vec<SampleValue> {
        let mut values = self.given.clone();
        for step in &self.steps {
            let operands: Vec<&SampleValue> = step.reads.iter().map(|read| &values[read.value]).collect();
            let made = if step.reduces_axis {
                SampleValue::One(evaluate_reduction(step.rule, &operands, length))
            } else {
                evaluate_elementwise(step.rule, &operands)
            };
            values.push(made);
        }
        values
    }

    /// Runs one loop over tiles, with the corrections of the analysis, and returns each value at the end of the loop.
    fn run_online(&self, length: usize, num_parts: usize) -> (RunningValueAnalysis, Vec<SampleValue>) {
        let mut online = RunningValueAnalysis::default();
        for (value, given) in self.given.iter().enumerate() {
            let (form, shape) = if matches!(given, SampleValue::Tile(_)) {
                (RunningDependence::Tile, [2, 8])
            } else {
                (RunningDependence::Outside, [2, 1])
            };
            online.record(value, form, &shape);
        }
        let corrections: Vec<Option<Correction>> = self.steps.iter().map(|step| online.analyze_op(step)).collect();
        let mut had: Vec<f64> = self.steps.iter().map(|step| neutral_element(step.rule)).collect();
        let mut values = self.initial_values(length / num_parts);
        for part in 0..num_parts {
            let size = length / num_parts;
            let range = part * size..(part + 1) * size;
            let before = values;
            values = self.given.iter().map(|given| given.slice(range.clone())).collect();
            for (number, step) in self.steps.iter().enumerate() {
                let operands: Vec<&SampleValue> = step.reads.iter().map(|read| &values[read.value]).collect();
                if !step.reduces_axis {
                    values.push(evaluate_elementwise(step.rule, &operands));
                    continue;
                }
                let value = evaluate_reduction(step.rule, &operands, size);
                if part > 0
                    && let Some(correction) = &corrections[number]
                {
                    had[number] = apply_correction(had[number], correction, &before, &values);
                }
                had[number] = combine_partial_results(step.rule, had[number], value);
                values.push(SampleValue::One(had[number]));
            }
        }
        (online, values)
    }
}

impl SampleProgram {
    /// Returns each value before the first iteration of the loop; infinities are bounded.
    fn initial_values(&self, size: usize) -> Vec<SampleValue> {
        let mut values: Vec<SampleValue> = self.given.iter().map(|given| given.slice(0..size)).collect();
        for step in &self.steps {
            let operands: Vec<&SampleValue> = step.reads.iter().map(|read| &values[read.value]).collect();
            let bounded = || SampleValue::One(neutral_element(step.rule).clamp(-1e300, 1e300));
            values.push(if step.reduces_axis { bounded() } else { evaluate_elementwise(step.rule, &operands) });
        }
        values
    }
}

fn apply_correction(had: f64, correction: &Correction, before: &[SampleValue], now: &[SampleValue]) -> f64 {
    let change = |term: &RunningTerm| {
        let (old, new) = (before[term.value].element(0), now[term.value].element(0));
        if term.is_subtracted { old - new } else { new - old }
    };
    match correction {
        Correction::Multiply(term) => had * change(term).exp(),
        Correction::Add(term) => had + change(term),
    }
}

/// Decodes an op from a few bytes. In these programs, the first dimension, rows, always has size 1; the second is the
/// axis.
fn decode_op(program: &SampleProgram, [rule, one, other]: [u8; 3]) -> AnalyzedOp {
    let rules = [
        AnalyzedOpKind::Same,
        AnalyzedOpKind::Neg,
        AnalyzedOpKind::Exp,
        AnalyzedOpKind::Other,
        AnalyzedOpKind::Add,
        AnalyzedOpKind::Sub,
        AnalyzedOpKind::Mul,
        AnalyzedOpKind::Div,
        AnalyzedOpKind::Maximum,
        AnalyzedOpKind::Minimum,
        AnalyzedOpKind::Sum,
        AnalyzedOpKind::Product,
        AnalyzedOpKind::Max,
        AnalyzedOpKind::Min,
        AnalyzedOpKind::Sub,
        AnalyzedOpKind::Exp,
        AnalyzedOpKind::Sum,
        AnalyzedOpKind::Max,
    ];
    let rule = rules[usize::from(rule) % rules.len()];
    let num_reads = if matches!(
        rule,
        AnalyzedOpKind::Add
            | AnalyzedOpKind::Sub
            | AnalyzedOpKind::Mul
            | AnalyzedOpKind::Div
            | AnalyzedOpKind::Maximum
            | AnalyzedOpKind::Minimum
            | AnalyzedOpKind::Product
    ) {
        2
    } else {
        1
    };
    let num_values = program.given.len() + program.steps.len();
    let is_tile = |value: usize| value_is_tile(program, value);
    // Prefers recent values.
    let values: Vec<usize> =
        [one, other][..num_reads].iter().map(|byte| num_values - 1 - usize::from(*byte) % num_values.min(4)).collect();
    let reduces_axis =
        matches!(rule, AnalyzedOpKind::Sum | AnalyzedOpKind::Product | AnalyzedOpKind::Max | AnalyzedOpKind::Min)
            && values.iter().any(|value| is_tile(*value));
    let rule = if reduces_axis
        || !matches!(rule, AnalyzedOpKind::Sum | AnalyzedOpKind::Product | AnalyzedOpKind::Max | AnalyzedOpKind::Min)
    {
        rule
    } else {
        AnalyzedOpKind::Same
    };
    let values = if rule == AnalyzedOpKind::Same { values[..1].to_vec() } else { values };
    let is_made_tile = !reduces_axis && values.iter().any(|value| is_tile(*value));
    let moved = |value: usize| vec![Some(0), (is_tile(value) && is_made_tile).then_some(1)];
    let reads = values.into_iter().map(|value| AnalyzedOperand { value, dims: moved(value) }).collect();
    AnalyzedOp { rule, reads, reduces_axis, output: num_values, shape: vec![2, if is_made_tile { 8 } else { 1 }] }
}

fn value_is_tile(program: &SampleProgram, value: usize) -> bool {
    match value.checked_sub(program.given.len()) {
        None => matches!(program.given[value], SampleValue::Tile(_)),
        Some(step) => program.steps[step].shape[1] > 1,
    }
}

const LENGTH: usize = 12;

fn decode_program(begins_with_softmax: bool, seeds: &[[u8; 3]], elements: &[f64]) -> SampleProgram {
    let given = vec![
        SampleValue::One(0.5),
        SampleValue::Tile(elements[..LENGTH].to_vec()),
        SampleValue::Tile(elements[LENGTH..].to_vec()),
    ];
    let mut program = SampleProgram { given, steps: Vec::new() };
    if begins_with_softmax {
        let step = |rule: AnalyzedOpKind, values: &[usize], output: usize, width: i64| AnalyzedOp {
            rule,
            reads: values.iter().map(|&value| make_operand(value, value != 3, width > 1)).collect(),
            reduces_axis: rule == AnalyzedOpKind::Max,
            output,
            shape: vec![2, width],
        };
        program.steps = vec![
            step(AnalyzedOpKind::Max, &[1], 3, 1),
            step(AnalyzedOpKind::Sub, &[1, 3], 4, 8),
            step(AnalyzedOpKind::Exp, &[4], 5, 8),
        ];
    }
    for seed in seeds {
        let step = decode_op(&program, *seed);
        program.steps.push(step);
    }
    program
}

/// Returns whether two numbers are equal up to rounding, if they are small enough for rounding errors to be negligible.
fn is_equal_up_to_rounding(one: f64, other: f64) -> bool {
    let is_far = |x: f64| !x.is_finite() || x.abs() > 1e8;
    is_far(one) || is_far(other) || (one - other).abs() <= 1e-6 * one.abs().max(other.abs()).max(1e-3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20_000, ..ProptestConfig::default() })]

    /// Checks the corrections on random programs: the values at the end of a loop equal the finished ones.
    #[test]
    fn ends_loops_with_finished_values(
        begins_with_softmax in any::<bool>(),
        seeds in prop::collection::vec(any::<[u8; 3]>(), 1..12),
        elements in prop::collection::vec(-2.0..2.0_f64, 2 * LENGTH),
    ) {
        let program = decode_program(begins_with_softmax, &seeds, &elements);
        let whole = program.run_unfused(LENGTH);
        let is_calm = whole.iter().all(|value| (0..LENGTH).all(|index| value.element(index).abs() < 1e4));
        if !is_calm {
            return Ok(());
        }
        for num_parts in [1, 2, 3, 12] {
            let (online, ended) = program.run_online(LENGTH, num_parts);
            for (value, (made, finished)) in ended.iter().zip(&whole).enumerate() {
                if matches!(online.dependence(value), RunningDependence::Running(..)) {
                    prop_assert!(is_equal_up_to_rounding(made.element(0), finished.element(0)), "value {value}: {made:?} for {finished:?} in {num_parts} parts");
                }
            }
        }
    }
}

fn make_operand(value: usize, is_tile: bool, is_made_tile: bool) -> AnalyzedOperand {
    AnalyzedOperand { value, dims: vec![Some(0), (is_tile && is_made_tile).then_some(1)] }
}

/// Reduces a tile to one number per row.
fn reduce_rows(rule: AnalyzedOpKind, of: usize, output: usize) -> AnalyzedOp {
    AnalyzedOp { rule, reads: vec![make_operand(of, true, false)], reduces_axis: true, output, shape: vec![4, 1] }
}

/// Creates values 0 to 3: `m` is the maximum or the minimum of `x`, `d = x - m`, `e = exp(d)`.
fn analyze_exponentials(extreme: AnalyzedOpKind) -> RunningValueAnalysis {
    let mut online = RunningValueAnalysis::default();
    online.record(0, RunningDependence::Tile, &[4, 64]);
    let tile = |rule: AnalyzedOpKind, reads: Vec<AnalyzedOperand>, output: usize| AnalyzedOp {
        rule,
        reads,
        reduces_axis: false,
        output,
        shape: vec![4, 64],
    };
    for step in [
        reduce_rows(extreme, 0, 1),
        tile(AnalyzedOpKind::Sub, vec![make_operand(0, true, true), make_operand(1, false, true)], 2),
        tile(AnalyzedOpKind::Exp, vec![make_operand(2, true, true)], 3),
    ] {
        assert_eq!(online.analyze_op(&step), None);
    }
    online
}

fn analyze_softmax() -> RunningValueAnalysis {
    analyze_exponentials(AnalyzedOpKind::Max)
}

fn subtracted_term(value: usize) -> RunningTerm {
    RunningTerm { value, dims: vec![Some(0), None], is_subtracted: true }
}

#[test]
fn scales_sum_of_exponentials_when_the_maximum_grows() {
    let mut online = analyze_softmax();
    assert_eq!(
        online.analyze_op(&reduce_rows(AnalyzedOpKind::Sum, 3, 4)),
        Some(Correction::Multiply(subtracted_term(1)))
    );
    assert!(matches!(online.dependence(4), RunningDependence::Running(..)));
}

#[test]
fn shifts_maximum_of_differences() {
    let mut online = analyze_softmax();
    assert_eq!(online.analyze_op(&reduce_rows(AnalyzedOpKind::Max, 2, 4)), Some(Correction::Add(subtracted_term(1))));
}

#[test]
fn requires_finished_sum_for_a_quotient() {
    let mut online = analyze_softmax();
    online.analyze_op(&reduce_rows(AnalyzedOpKind::Sum, 3, 4));
    let share = AnalyzedOp {
        rule: AnalyzedOpKind::Div,
        reads: vec![make_operand(3, true, true), make_operand(4, false, true)],
        reduces_axis: false,
        output: 5,
        shape: vec![4, 64],
    };
    online.analyze_op(&share);
    assert_eq!(*online.dependence(5), RunningDependence::Finished);
}

#[test]
fn rejects_correction_that_could_overflow() {
    // exp(x - min x): the minimum decreases, and results for an earlier minimum would have to increase.
    let mut online = analyze_exponentials(AnalyzedOpKind::Min);
    assert_eq!(online.analyze_op(&reduce_rows(AnalyzedOpKind::Sum, 3, 4)), None);
    assert_eq!(*online.dependence(4), RunningDependence::Finished);
}

#[test]
fn rejects_difference_of_two_infinities() {
    // max(x - min x): the loop starts with -inf, and with a difference to +inf.
    let mut online = analyze_exponentials(AnalyzedOpKind::Min);
    assert_eq!(online.analyze_op(&reduce_rows(AnalyzedOpKind::Max, 2, 4)), None);
    assert_eq!(*online.dependence(4), RunningDependence::Finished);
    assert_eq!(online.analyze_op(&reduce_rows(AnalyzedOpKind::Min, 2, 5)), Some(Correction::Add(subtracted_term(1))));
}

#[test]
fn rejects_matmul_that_sums_rows_with_different_maxima() {
    let mut online = analyze_softmax();
    // The result has no dimension for the rows, each of which has its own maximum.
    let mixed = AnalyzedOp {
        rule: AnalyzedOpKind::Product,
        reads: vec![AnalyzedOperand { value: 3, dims: vec![None, None] }],
        reduces_axis: true,
        output: 4,
        shape: vec![1, 1],
    };
    assert_eq!(online.analyze_op(&mixed), None);
    assert_eq!(*online.dependence(4), RunningDependence::Finished);
}
