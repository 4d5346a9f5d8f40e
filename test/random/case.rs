//! One random case: its program, its hints, its options, and what becomes of it.

use crate::{
    build::Builder,
    choices::{Choices, simplest},
    generate::{Family, grow},
    number::Number,
    options,
    write::{Scope, module, scopes},
};
use melior::diagnostic::DiagnosticSeverity;
use spyre::{
    compile::compile,
    mlir::{Module, Session},
    pipeline::Options,
    sim::{Bound, Bounded, Companions, HostArray, RunOptions, Simulation},
    target::Target,
};
use std::{cell::RefCell, path::Path, rc::Rc};

/// What a failing case may cost until it is reported.
const MOST_TRIES: usize = 300;

/// The numbers that a case follows from, in three lists that are made simpler one after the other.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    program: Vec<usize>,
    hints: Vec<usize>,
    options: Vec<usize>,
}

/// A case, written out.
pub(crate) struct Case {
    pub(crate) text: String,
    pub(crate) options: Options,
    inputs: Vec<HostArray>,
    expected: Vec<(Vec<usize>, Vec<Number>)>,
    pub(crate) features: Features,
}

/// What a program has, for the statistics.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    pub(crate) n_ops: usize,
    pub(crate) n_scopes: usize,
}

/// What became of a case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Agrees,
    /// With the message.
    Refused(String),
    /// With what went wrong in a few words, and the message.
    Fails(String, String),
}

impl Case {
    /// The case of a number, and the numbers that it follows from.
    pub(crate) fn of(family: Family, number: usize) -> (Self, Numbers) {
        let of = |part: usize| Choices::of_case(3 * number + part);
        let mut asked = [Vec::new(), Vec::new(), Vec::new()];
        let case = Self::grown(family, [of(0), of(1), of(2)], &mut asked);
        let [program, hints, options] = asked;
        (case, Numbers { program, hints, options })
    }

    fn again(family: Family, numbers: &Numbers) -> Self {
        let given = |list: &Vec<usize>| Choices::given(list.clone());
        Self::grown(family, [given(&numbers.program), given(&numbers.hints), given(&numbers.options)], &mut [const { Vec::new() }; 3])
    }

    fn grown(family: Family, choices: [Choices; 3], asked: &mut [Vec<usize>; 3]) -> Self {
        let [program, mut of_hints, mut of_options] = choices;
        let (builder, results) = grow(family, program);
        // Most programs of users have no hints.
        let has_hints = family == Family::Tiled || family == Family::Any && of_hints.one_in(4);
        let scopes = if has_hints { scopes(&builder, &mut of_hints) } else { vec![] };
        let is_named = !scopes.is_empty();
        let nameless: Vec<usize> = builder.arguments.iter().copied().filter(|_| of_hints.one_in(12)).collect();
        let options = options::options(&mut of_options);
        let case = Self::written(&builder, &results, &scopes, &nameless, is_named, options);
        *asked = [builder.choices.into_numbers(), of_hints.into_numbers(), of_options.into_numbers()];
        case
    }

    fn written(builder: &Builder, results: &[usize], scopes: &[Scope], nameless: &[usize], is_named: bool, options: Options) -> Self {
        let of_result = |value: &usize| (builder.values[*value].shape.clone(), builder.values[*value].data.clone());
        Self {
            text: module(builder, results, scopes, nameless, is_named),
            options,
            inputs: builder.arguments.iter().map(|value| builder.host(*value)).collect(),
            expected: results.iter().map(of_result).collect(),
            features: Features { n_ops: builder.ops.len(), n_scopes: scopes.len() },
        }
    }

    /// Compiles the program, runs what was written, and compares.
    pub(crate) fn run(&self) -> Outcome {
        let place = tempfile::tempdir().unwrap();
        let output = place.path().join("bundle");
        match self.emit(&output) {
            Outcome::Agrees => {}
            other => return other,
        }
        let fails = |what: &str, message: String| Outcome::Fails(what.to_owned(), message);
        let simulation = match Simulation::load(&output, &Target::spyre()) {
            Ok(simulation) => simulation,
            Err(error) => return fails("the simulated machine cannot read the bundle", error.to_string()),
        };
        let names = simulation.program().arguments.iter().map(|tensor| tensor.name.clone());
        let inputs = names.zip(self.inputs.iter().cloned()).collect();
        match simulation.run_with(&Bounded, &inputs, &RunOptions::default()) {
            Err(error) => fails("the simulated machine refuses the bundle", error.to_string()),
            Ok((_, exact)) if exact.len() != self.expected.len() => fails("results are missing", String::new()),
            Ok((outcome, exact)) => {
                let results = outcome.results.iter().zip(exact).zip(&self.expected);
                let complaint = |((result, exact), expected): ((&(String, HostArray), Companions<Bound>), _)| {
                    let (name, array) = result;
                    Some(format!("{name}: {}", difference(array, &exact, expected)?))
                };
                results.into_iter().find_map(complaint).map_or(Outcome::Agrees, |message| fails("the numbers differ", message))
            }
        }
    }

    fn emit(&self, output: &Path) -> Outcome {
        let session = Session::new();
        let errors = listen(&session);
        let Some(module) = Module::parse(&session, &self.text) else {
            return Outcome::Fails("the test wrote a module that is not valid".to_owned(), errors.borrow().join("\n"));
        };
        if compile(&module, &self.options, output.to_str().unwrap()).is_some() {
            return Outcome::Agrees;
        }
        let errors = errors.borrow();
        match errors.iter().find(|message| message.contains("a bug of ours") || message.contains("panicked")).or_else(|| errors.first()) {
            None => Outcome::Fails("it stops without a message".to_owned(), String::new()),
            Some(message) if message.contains("bug of ours") || message.contains("panicked") => {
                Outcome::Fails(format!("spyre-compile has a bug: {}", kind_of(message)), message.clone())
            }
            Some(message) => Outcome::Refused(message.clone()),
        }
    }
}

/// Collects the errors of a session; warnings are none.
fn listen(session: &Session) -> Rc<RefCell<Vec<String>>> {
    let errors = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&errors);
    session.context().attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            seen.borrow_mut().push(diagnostic.to_string());
        }
        true
    });
    errors
}

/// Beyond the bound of each element, so much of its size and of the result's may be off.
const ALLOWED: f64 = 1e-9;

/// Where the reference itself may be off by more of its size, an element says nothing.
const KNOWN: f64 = 1e-6;

/// What is wrong with a result, if anything: with the numbers that were never rounded, or with those of the device beside them.
fn difference(array: &HostArray, found: &Companions<Bound>, (shape, expected): &(Vec<usize>, Vec<Number>)) -> Option<String> {
    if array.shape.iter().map(|size| *size as usize).collect::<Vec<_>>() != *shape {
        return Some(format!("the result is {:?}, but should be {shape:?}", array.shape));
    }
    let finite: Vec<f64> = expected.iter().map(|number| number.value).filter(|value| value.is_finite()).collect();
    let scale = (finite.iter().map(|value| value * value).sum::<f64>() / finite.len().max(1) as f64).sqrt();
    let is_off = |at: &usize| {
        let (is, Number { value, error }) = (found.elements[*at].exact, expected[*at]);
        let is_known = error == 0.0 || error < KNOWN * (value.abs() + scale);
        is_known && !is_near(is, value, 16.0 * error + ALLOWED * (value.abs() + scale))
    };
    let wrong: Vec<usize> = (0..expected.len()).filter(is_off).collect();
    if let Some(&first) = wrong.first() {
        let (is, should_be) = (found.elements[first].exact, expected[first]);
        return Some(format!(
            "{} of {} elements differ; element {first} is {is}, but should be {should_be:?}",
            wrong.len(),
            expected.len()
        ));
    }
    let escaped = (0..expected.len()).find(|&at| !found.elements[at].holds(f64::from(found.device[at])))?;
    Some(format!("element {escaped} of the device is {}, which is not within {:?}", found.device[escaped], found.elements[escaped]))
}

fn is_near(is: f64, should_be: f64, allowed: f64) -> bool {
    is == should_be || is.is_nan() && should_be.is_nan() || (is - should_be).abs() <= allowed
}

/// The simplest case that fails in the same way.
pub(crate) fn simplified(family: Family, numbers: Numbers, what: &str) -> (Case, Outcome) {
    let still_fails = |numbers: &Numbers| matches!(Case::again(family, numbers).run(), Outcome::Fails(again, _) if again == what);
    let mut now = numbers;
    let options = simplest(now.options.clone(), MOST_TRIES / 3, |list| still_fails(&Numbers { options: list.to_vec(), ..now.clone() }));
    now.options = options;
    let hints = simplest(now.hints.clone(), MOST_TRIES / 3, |list| still_fails(&Numbers { hints: list.to_vec(), ..now.clone() }));
    now.hints = hints;
    let program = simplest(now.program.clone(), MOST_TRIES, |list| still_fails(&Numbers { program: list.to_vec(), ..now.clone() }));
    now.program = program;
    let case = Case::again(family, &now);
    let outcome = case.run();
    (case, outcome)
}

/// A message without its numbers and names, for counting.
pub(crate) fn kind_of(message: &str) -> String {
    let mut kind = String::new();
    for (position, part) in message.lines().next().unwrap_or_default().split('\'').enumerate() {
        let part = if position % 2 == 1 && (part.len() < 6 || part.contains('<')) { "#" } else { part };
        for character in part.chars().map(|character| if character.is_ascii_digit() { '#' } else { character }) {
            if character != '#' || !kind.ends_with('#') {
                kind.push(character);
            }
        }
    }
    kind
}
