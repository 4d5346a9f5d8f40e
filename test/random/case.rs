//! One random case: its program, its hints, and two ways to compile it.

use crate::random::{
    build::{Builder, Value},
    check,
    choices::{Choices, simplest},
    generate::{Family, grow},
    hints::Hints,
    number::Number,
    options::Way,
    write::module,
};
use referee::HostArray;

/// Maximum number of attempts to shrink the program of a failing case before the report. Each other list gets a quarter of them.
const MOST_TRIES: usize = 300;

/// One in so many cases goes through the tools themselves, which compare with MLIR's JIT.
const TOOLS_EVERY: usize = 40;

/// Number of lists of choices that determine a case: for its program, its hints, its options, and the second way to
/// compile it. The lists are shrunk one after the other.
pub(crate) const N_LISTS: usize = 4;
const PROGRAM: usize = 0;
const HINTS: usize = 1;
const OPTIONS: usize = 2;
const SECOND: usize = 3;

#[derive(Clone, Debug)]
pub(crate) struct Numbers([Vec<usize>; N_LISTS]);

/// A program with its hints, and how to compile it.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) text: String,
    pub(crate) way: Way,
}

/// A case, written out.
pub(crate) struct Case {
    /// Program text with the options of each of two ways to compile it.
    pub(crate) written: [Written; 2],
    pub(crate) inputs: Vec<HostArray>,
    pub(crate) expected: Vec<(Vec<usize>, Vec<Number>)>,
    /// The draw of field elements.
    pub(crate) draw: u64,
    /// Whether the case also runs through the command-line tools.
    pub(crate) by_tools: bool,
    /// Whether a rejection because of the offset or the length of a slice counts as a failure.
    pub(crate) is_at_any_offset: bool,
}

/// Outcome of a case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    /// Agreement; with the message if one of the ways is rejected.
    Agrees(Option<String>),
    /// Rejection in both ways, with the message of the first.
    Refused(String),
    /// Short description of the failure, and the message.
    Fails(String, String),
}

impl Case {
    /// The case of a number, and the numbers that it follows from.
    pub(crate) fn of(family: Family, number: usize) -> (Self, Numbers) {
        let (mut case, numbers) = Self::grown(family, [0, 1, 2, 3].map(|part| Choices::of_case(N_LISTS * number + part)));
        case.by_tools = number % TOOLS_EVERY == TOOLS_EVERY - 1;
        (case, numbers)
    }

    fn again(family: Family, numbers: &Numbers, by_tools: bool) -> Self {
        let (case, _) = Self::grown(family, numbers.0.clone().map(Choices::given));
        Self { by_tools, ..case }
    }

    fn grown(family: Family, choices: [Choices; N_LISTS]) -> (Self, Numbers) {
        let [program, mut of_hints, mut of_options, mut of_second] = choices;
        let (builder, results) = grow(family, program);
        // Most programs of users have no hints.
        let has_hints = family == Family::Tiled || family == Family::Any && of_hints.one_in(4);
        let hints = match has_hints {
            _ if family == Family::Cascades => Hints::along_axis(&builder, &mut of_hints),
            true => Hints::drawn(&builder, &mut of_hints),
            false if of_hints.one_in(6) => Hints::calls(&builder, &mut of_hints),
            false => Hints::default(),
        };
        let other = match of_second.below(4) {
            0 | 1 if has_hints => Hints::default(),
            2 if has_hints => hints.clone(),
            _ if has_hints || of_second.one_in(6) => Hints::drawn(&builder, &mut of_second),
            _ => hints.clone(),
        };
        let first = Written::of(&builder, &results, &hints, Way::drawn(&mut of_options));
        let draw = of_options.below(30) as u64;
        let second = Written::of(&builder, &results, &other, Way::drawn(&mut of_second));
        let of_result = |value: &usize| {
            let Value { shape, data, .. } = builder.values[*value].clone();
            (shape, data)
        };
        let case = Self {
            written: [first, second],
            inputs: builder.arguments.iter().map(|value| builder.host(*value)).collect(),
            expected: results.iter().map(of_result).collect(),
            draw,
            by_tools: false,
            is_at_any_offset: builder.is_at_any_offset,
        };
        (case, Numbers([builder.choices, of_hints, of_options, of_second].map(Choices::into_numbers)))
    }

    pub(crate) fn run(&self) -> Outcome {
        check::run(self)
    }

    /// Formats the case for inspection.
    pub(crate) fn report(&self) -> String {
        let [first, second] = &self.written;
        let text = if first.text == second.text { String::new() } else { format!("and with the other hints:\n{}", second.text) };
        format!("options: {}\nand: {}\n{}{text}", first.way.text(), second.way.text(), first.text)
    }
}

impl Written {
    fn of(builder: &Builder, results: &[usize], hints: &Hints, mut way: Way) -> Self {
        let (text, bound) = module(builder, results, hints);
        hints.put_in(builder, &bound, &mut way.options);
        Self { text, way }
    }
}

/// The simplest case that fails in the same way.
pub(crate) fn simplified(family: Family, numbers: Numbers, by_tools: bool, what: &str) -> (Case, Outcome) {
    let still_fails = |numbers: &Numbers| matches!(Case::again(family, numbers, by_tools).run(), Outcome::Fails(again, _) if again == what);
    let mut now = numbers;
    for list in [SECOND, OPTIONS, HINTS, PROGRAM] {
        let most = if list == PROGRAM { MOST_TRIES } else { MOST_TRIES / 4 };
        now.0[list] = simplest(now.0[list].clone(), most, |shorter| {
            let mut numbers = now.clone();
            numbers.0[list] = shorter.to_vec();
            still_fails(&numbers)
        });
    }
    let case = Case::again(family, &now, by_tools);
    let outcome = case.run();
    (case, outcome)
}
