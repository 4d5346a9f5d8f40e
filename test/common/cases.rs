//! Random test cases, each determined by a number; a failing case is simplified before it is reported.

use proptest::{
    strategy::{Strategy, ValueTree},
    test_runner::{Config, RngAlgorithm, TestRng, TestRunner},
};

/// Returns the number in an environment variable; `None` if the variable is not set.
pub(crate) fn read_env_number(variable: &str) -> Option<usize> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, found '{text}'")))
}

/// Generates the value tree of a case: the case with its simplifications. The number of the case is the seed.
pub(crate) fn generate_case<T: Strategy>(strategy: &T, number: usize) -> T::Tree {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&(number as u64).to_le_bytes());
    let mut runner = TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &seed));
    strategy.new_tree(&mut runner).unwrap()
}

/// Outcome of a case.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CaseOutcome {
    /// The results agree.
    Agrees,
    /// Message of the rejection.
    Rejected(String),
    /// Kind of the failure, and its message.
    Fails(&'static str, String),
}

/// Maximum number of simplifications of a failing case before it is reported.
const MAX_SIMPLIFICATIONS: usize = 100;

/// Runs a case. If it fails, returns the result of `run` for the simplest case found that has the same kind of failure.
pub(crate) fn run_simplest<T: ValueTree, R>(
    tree: &mut T,
    run: impl Fn(T::Value) -> (R, CaseOutcome),
) -> (R, CaseOutcome) {
    let mut found = run(tree.current());
    let CaseOutcome::Fails(kind, _) = found.1 else { return found };
    let mut has_next_form = tree.simplify();
    for _ in 0..MAX_SIMPLIFICATIONS {
        if !has_next_form {
            break;
        }
        let simplified = run(tree.current());
        let still_fails = matches!(simplified.1, CaseOutcome::Fails(again, _) if again == kind);
        if still_fails {
            found = simplified;
        }
        has_next_form = if still_fails { tree.simplify() } else { tree.complicate() };
    }
    found
}
