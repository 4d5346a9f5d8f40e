//! Delta debugging on a def-use graph: reduces a function to the operations that reproduce a property.

use std::collections::BTreeSet;

/// Def-use graph of a function: for each operation, the number of its results and the operations whose results it
/// reads.
pub(super) struct DefUseGraph {
    pub(super) num_results: Vec<usize>,
    pub(super) reads: Vec<BTreeSet<usize>>,
}

/// Returned value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReturnedValue {
    /// A result of an operation.
    Result { op: usize, result: usize },
    /// An argument of the function.
    Argument(usize),
}

/// Reduced function: results of removed operations become arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReducedFunction {
    pub(super) kept: BTreeSet<usize>,
    pub(super) returned: Vec<ReturnedValue>,
}

/// Search for a small function, with a limit on the number of tests.
pub(super) struct ReductionSearch<'a> {
    outline: &'a DefUseGraph,
    is_interesting: &'a mut dyn FnMut(&ReducedFunction) -> Result<bool, String>,
    pub(super) num_tests: u64,
    budget: u64,
}

impl<'a> ReductionSearch<'a> {
    pub(super) fn new(
        outline: &'a DefUseGraph,
        budget: u64,
        is_interesting: &'a mut dyn FnMut(&ReducedFunction) -> Result<bool, String>,
    ) -> Self {
        Self { outline, is_interesting, num_tests: 0, budget }
    }

    /// Returns a minimal function: no operation and no result can be removed, if the budget suffices.
    ///
    /// # Errors
    /// Returns the errors of the test.
    pub(super) fn shrink(&mut self, whole: ReducedFunction) -> Result<ReducedFunction, String> {
        let mut part = self.find_earliest_failure(whole)?;
        loop {
            let before = part.clone();
            part = self.remove_results(part)?;
            part = self.remove_ops(part)?;
            if part == before || self.is_over() {
                return Ok(part);
            }
        }
    }

    const fn is_over(&self) -> bool {
        self.num_tests >= self.budget
    }

    fn reproduces(&mut self, part: &ReducedFunction) -> Result<bool, String> {
        if self.is_over() {
            return Ok(false);
        }
        self.num_tests += 1;
        (self.is_interesting)(part)
    }

    /// Returns the function up to the first operation whose results have the property; `whole` if no operation has it.
    fn find_earliest_failure(&mut self, whole: ReducedFunction) -> Result<ReducedFunction, String> {
        for &op in &whole.kept {
            let returned =
                (0..self.outline.num_results[op]).map(|result| ReturnedValue::Result { op, result }).collect();
            let part = self
                .outline
                .prune_dead_ops(ReducedFunction { kept: whole.kept.range(..=op).copied().collect(), returned });
            if part.kept.len() < whole.kept.len() && !part.returned.is_empty() && self.reproduces(&part)? {
                return Ok(part);
            }
        }
        Ok(whole)
    }

    fn remove_results(&mut self, mut part: ReducedFunction) -> Result<ReducedFunction, String> {
        for value in part.returned.clone() {
            let returned: Vec<ReturnedValue> = part.returned.iter().copied().filter(|other| *other != value).collect();
            let fewer = self.outline.prune_dead_ops(ReducedFunction { returned, ..part.clone() });
            if !fewer.returned.is_empty() && self.reproduces(&fewer)? {
                part = fewer;
            }
        }
        Ok(part)
    }

    /// Removes consecutive operations, long sequences first.
    fn remove_ops(&mut self, mut part: ReducedFunction) -> Result<ReducedFunction, String> {
        let mut length = part.kept.len();
        while length > 0 {
            let ops: Vec<usize> = part.kept.iter().copied().collect();
            for run in ops.chunks(length) {
                let kept: BTreeSet<usize> = part.kept.iter().copied().filter(|op| !run.contains(op)).collect();
                let fewer = self.outline.prune_dead_ops(ReducedFunction { kept, ..part.clone() });
                if fewer.kept.len() < part.kept.len() && self.reproduces(&fewer)? {
                    part = fewer;
                }
            }
            length = length.min(part.kept.len()) / 2;
        }
        Ok(part)
    }
}

impl DefUseGraph {
    /// Returns the function without dead operations.
    fn prune_dead_ops(&self, part: ReducedFunction) -> ReducedFunction {
        let mut needed = BTreeSet::new();
        let mut open: Vec<usize> = part.returned.iter().filter_map(|value| value.op()).collect();
        while let Some(op) = open.pop() {
            if part.kept.contains(&op) && needed.insert(op) {
                open.extend(&self.reads[op]);
            }
        }
        ReducedFunction { kept: needed, ..part }
    }
}

impl ReturnedValue {
    const fn op(self) -> Option<usize> {
        match self {
            Self::Result { op, .. } => Some(op),
            Self::Argument(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a chain of ops, each of which reads the previous op.
    fn chain(count: usize) -> DefUseGraph {
        DefUseGraph {
            num_results: vec![1; count],
            reads: (0..count).map(|op| op.checked_sub(1).into_iter().collect()).collect(),
        }
    }

    fn complete_function(outline: &DefUseGraph, returned: &[usize]) -> ReducedFunction {
        let returned = returned.iter().map(|op| ReturnedValue::Result { op: *op, result: 0 }).collect();
        ReducedFunction { kept: (0..outline.num_results.len()).collect(), returned }
    }

    fn run_shrink(
        outline: &DefUseGraph,
        part: ReducedFunction,
        budget: u64,
        mut test: impl FnMut(&ReducedFunction) -> bool,
    ) -> (ReducedFunction, u64) {
        let mut is_interesting = |part: &ReducedFunction| Ok(test(part));
        let mut search = ReductionSearch::new(outline, budget, &mut is_interesting);
        let part = search.shrink(part).unwrap();
        (part, search.num_tests)
    }

    #[test]
    fn finds_one_op_in_long_chain() {
        let outline = chain(200);
        let (part, num_tests) =
            run_shrink(&outline, complete_function(&outline, &[199]), 1000, |part| part.kept.contains(&120));
        assert_eq!(
            part,
            ReducedFunction { kept: [120].into(), returned: vec![ReturnedValue::Result { op: 120, result: 0 }] }
        );
        assert!(num_tests < 200, "{num_tests}");
    }

    #[test]
    fn keeps_ops_between_required_ops() {
        let outline = chain(40);
        let (part, _) = run_shrink(&outline, complete_function(&outline, &[39]), 1000, |part| {
            part.kept.contains(&7) && part.kept.contains(&30)
        });
        // Ops between them cannot be removed, because op 30 depends on op 7 through them.
        assert!(part.kept.is_superset(&[7, 30].into()));
        assert_eq!(part.returned, [ReturnedValue::Result { op: 30, result: 0 }]);
        assert_eq!(part.kept.len(), 24, "7 is needed only as long as 30 reads it, through all between");
    }

    #[test]
    fn removes_unneeded_result() {
        let outline = DefUseGraph { num_results: vec![1, 2, 1], reads: vec![BTreeSet::new(), [0].into(), [0].into()] };
        let mut part = complete_function(&outline, &[2]);
        part.returned.extend([ReturnedValue::Result { op: 1, result: 1 }, ReturnedValue::Argument(0)]);
        let both =
            |part: &ReducedFunction| part.returned.contains(&ReturnedValue::Argument(0)) && part.kept.contains(&1);
        let (part, _) = run_shrink(&outline, part, 1000, both);
        assert_eq!(
            part,
            ReducedFunction {
                kept: [1].into(),
                returned: vec![ReturnedValue::Result { op: 1, result: 1 }, ReturnedValue::Argument(0)]
            }
        );
    }

    #[test]
    fn returns_best_reduction_within_budget() {
        let outline = chain(100);
        let (part, num_tests) =
            run_shrink(&outline, complete_function(&outline, &[99]), 5, |part| part.kept.contains(&99));
        assert_eq!((num_tests, part.kept.contains(&99)), (5, true));
    }
}
