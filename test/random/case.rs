//! One random case: its program, its hints, and two ways to compile it.

use crate::random::{
    build::{ProgramBuilder, TensorValue},
    check,
    choices::{Choices, find_simplest},
    generate::{ProgramFamily, generate_program},
    hints::ProgramHints,
    number::BoundedValue,
    options::CompileConfig,
    write::write_module,
};
use referee::HostArray;

/// Maximum number of attempts to shrink the program of a failing case before the report. Each other list gets a quarter
/// of them.
const MAX_TRIES: usize = 300;

/// One case in this many also runs through the tools themselves, which compare with MLIR's JIT.
const TOOLS_INTERVAL: usize = 40;

/// Number of lists of choices that determine a case: for its program, its hints, its options, and the second way to
/// compile it. The lists are shrunk one after the other.
pub(crate) const NUM_LISTS: usize = 4;
const PROGRAM: usize = 0;
const HINTS: usize = 1;
const OPTIONS: usize = 2;
const SECOND_OPTIONS: usize = 3;

#[derive(Clone, Debug)]
pub(crate) struct CaseNumbers([Vec<usize>; NUM_LISTS]);

/// Program with its hints, and its compile options.
#[derive(Clone, Debug)]
pub(crate) struct CompileInput {
    pub(crate) text: String,
    pub(crate) way: CompileConfig,
}

/// Random case as text.
pub(crate) struct RandomCase {
    /// Program text with the options of each of two ways to compile it.
    pub(crate) written: [CompileInput; 2],
    pub(crate) inputs: Vec<HostArray>,
    pub(crate) expected: Vec<(Vec<usize>, Vec<BoundedValue>)>,
    /// Draw number of the field elements.
    pub(crate) draw: u64,
    /// Whether the case also runs through the command-line tools.
    pub(crate) by_tools: bool,
    /// Whether a rejection because of the offset or the length of a slice counts as a failure.
    pub(crate) is_at_any_offset: bool,
}

/// Outcome of a case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RandomOutcome {
    /// Agreement; with the message if one of the ways is rejected.
    Agrees(Option<String>),
    /// Rejection in both ways, with the message of the first.
    Rejected(String),
    /// Short description of the failure, and the message.
    Fails(String, String),
}

impl RandomCase {
    /// Returns a case, and the numbers that determine it.
    pub(crate) fn from_number(family: ProgramFamily, number: usize) -> (Self, CaseNumbers) {
        let (mut case, numbers) =
            Self::generate(family, [0, 1, 2, 3].map(|part| Choices::from_case(NUM_LISTS * number + part)));
        case.by_tools = number % TOOLS_INTERVAL == TOOLS_INTERVAL - 1;
        (case, numbers)
    }

    fn regenerate(family: ProgramFamily, numbers: &CaseNumbers, by_tools: bool) -> Self {
        let (case, _) = Self::generate(family, numbers.0.clone().map(Choices::from_numbers));
        Self { by_tools, ..case }
    }

    fn generate(family: ProgramFamily, choices: [Choices; NUM_LISTS]) -> (Self, CaseNumbers) {
        let [program, mut of_hints, mut of_options, mut of_second] = choices;
        let (builder, results) = generate_program(family, program);
        // Most programs of users have no hints.
        let has_hints = family == ProgramFamily::Tiled || family == ProgramFamily::Any && of_hints.one_in(4);
        let hints = match has_hints {
            _ if family == ProgramFamily::Cascades => ProgramHints::draw_axis_tiling(&builder, &mut of_hints),
            true => ProgramHints::draw(&builder, &mut of_hints),
            false if of_hints.one_in(6) => ProgramHints::draw_calls(&builder, &mut of_hints),
            false => ProgramHints::default(),
        };
        let other = match of_second.below(4) {
            0 | 1 if has_hints => ProgramHints::default(),
            2 if has_hints => hints.clone(),
            _ if has_hints || of_second.one_in(6) => ProgramHints::draw(&builder, &mut of_second),
            _ => hints.clone(),
        };
        let first = CompileInput::new(&builder, &results, &hints, CompileConfig::draw(&mut of_options));
        let draw = of_options.below(30) as u64;
        let second = CompileInput::new(&builder, &results, &other, CompileConfig::draw(&mut of_second));
        let of_result = |value: &usize| {
            let TensorValue { shape, data, .. } = builder.values[*value].clone();
            (shape, data)
        };
        let case = Self {
            written: [first, second],
            inputs: builder.arguments.iter().map(|value| builder.to_host_array(*value)).collect(),
            expected: results.iter().map(of_result).collect(),
            draw,
            by_tools: false,
            is_at_any_offset: builder.is_at_any_offset,
        };
        (case, CaseNumbers([builder.choices, of_hints, of_options, of_second].map(Choices::into_numbers)))
    }

    pub(crate) fn run(&self) -> RandomOutcome {
        check::run_case(self)
    }

    /// Formats the case for inspection.
    pub(crate) fn report(&self) -> String {
        let [first, second] = &self.written;
        let text = if first.text == second.text {
            String::new()
        } else {
            format!("and with the other hints:\n{}", second.text)
        };
        format!("options: {}\nand: {}\n{}{text}", first.way.text(), second.way.text(), first.text)
    }
}

impl CompileInput {
    fn new(builder: &ProgramBuilder, results: &[usize], hints: &ProgramHints, mut way: CompileConfig) -> Self {
        let (text, bound) = write_module(builder, results, hints);
        hints.add_to_options(builder, &bound, &mut way.options);
        Self { text, way }
    }
}

/// Returns the simplest case that fails in the same way.
pub(crate) fn simplify_case(
    family: ProgramFamily,
    numbers: CaseNumbers,
    by_tools: bool,
    what: &str,
) -> (RandomCase, RandomOutcome) {
    let still_fails = |numbers: &CaseNumbers| matches!(RandomCase::regenerate(family, numbers, by_tools).run(), RandomOutcome::Fails(again, _) if again == what);
    let mut now = numbers;
    for list in [SECOND_OPTIONS, OPTIONS, HINTS, PROGRAM] {
        let most = if list == PROGRAM { MAX_TRIES } else { MAX_TRIES / 4 };
        now.0[list] = find_simplest(now.0[list].clone(), most, |shorter| {
            let mut numbers = now.clone();
            numbers.0[list] = shorter.to_vec();
            still_fails(&numbers)
        });
    }
    let case = RandomCase::regenerate(family, &now, by_tools);
    let outcome = case.run();
    (case, outcome)
}
