//! Results of the functions of a module, for comparison with their later results.

use super::{
    ElementDifference, ExecutionLimits,
    extent::{ValidationExtent, compare_results, run_draw},
};
use crate::{
    dialect::has_corrections,
    interpret::{ElementSelection, EvalArray, EvalFunction, read_function},
    mlir::{Op, OpExt},
};
use element::{FieldElement, FiniteField};
use std::collections::BTreeMap;

/// Results of functions in every draw.
#[derive(Clone, Debug, Default)]
pub struct ResultSnapshot {
    functions: BTreeMap<String, FunctionResults>,
}

/// Results in each draw, and their shapes.
#[derive(Clone, Debug)]
struct FunctionResults {
    draws: Vec<(u64, Vec<EvalArray<FieldElement>>)>,
    /// Compared elements of each result, if the function is too large to be executed completely.
    samples: Option<Vec<ElementSelection>>,
    shapes: Vec<Vec<usize>>,
    /// Whether a loop corrects its carried values.
    corrects: bool,
}

impl ResultSnapshot {
    /// Interprets the functions of a module, or one function.
    ///
    /// # Errors
    /// The reason why they cannot be interpreted: an op that is not part of a tensor program, an op that cannot be
    /// sampled, or no function at all.
    pub fn capture(op: Op<'_>) -> Result<Self, String> {
        Self::capture_like(op, None)
    }

    /// Interprets functions as [`Self::capture`] does. Executes the same elements in the same draws as the earlier
    /// snapshot `before`.
    pub(super) fn capture_like(op: Op<'_>, before: Option<&Self>) -> Result<Self, String> {
        let limits = ExecutionLimits::default();
        // The limit applies to one of many passes.
        Self::capture_with_limits(op, &ExecutionLimits { whole: limits.all_draws, ..limits }, before)
    }

    /// Interprets functions within other limits.
    ///
    /// # Errors
    /// As [`ResultSnapshot::capture`].
    pub fn capture_with_limits(op: Op<'_>, limits: &ExecutionLimits, before: Option<&Self>) -> Result<Self, String> {
        let functions = if op.is("func.func") { vec![op] } else { op.body_ops() };
        let functions: Vec<Op<'_>> =
            functions.into_iter().filter(|op| op.is("func.func") && op.body().is_some()).collect();
        if functions.is_empty() {
            return Err("there is no function".to_owned());
        }
        let mut snapshot = Self::default();
        for function in functions {
            let corrects = has_corrections(function);
            let function = read_function(function).map_err(|(_, message)| message)?;
            let known = before.and_then(|before| before.functions.get(&function.name));
            let results = FunctionResults::capture(&function, corrects, limits, known)?;
            snapshot.functions.insert(function.name, results);
        }
        Ok(snapshot)
    }

    /// Returns the name of the first function whose results differ in `after`. Functions that occur in only one
    /// snapshot are ignored.
    #[must_use]
    pub fn find_difference(&self, after: &Self) -> Option<(String, ElementDifference)> {
        self.functions.iter().find_map(|(name, before)| {
            let after = after.functions.get(name)?;
            before.find_difference(after).map(|found| (name.clone(), found))
        })
    }

    /// Replaces the contents by those of another snapshot.
    pub fn replace_contents(&mut self, other: Self) {
        self.functions.extend(other.functions);
    }
}

/// Laws by which a loop corrects exponentials and maxima.
const CORRECTION_LAWS: u64 = FiniteField::LAWFUL_BIT | FiniteField::ORDERED_BIT;

impl FunctionResults {
    fn capture(
        function: &EvalFunction<'_>,
        corrects: bool,
        limits: &ExecutionLimits,
        before: Option<&Self>,
    ) -> Result<Self, String> {
        let (numbers, samples): (Vec<u64>, _) = match before {
            Some(before) => (before.draws.iter().map(|(number, _)| *number).collect(), before.samples.clone()),
            None => {
                let ValidationExtent { draws, samples } =
                    ValidationExtent::choose(std::slice::from_ref(function), limits)?;
                let lawful = draws.start | CORRECTION_LAWS;
                (draws.chain([lawful]).collect(), samples.and_then(|(mut selections, _)| selections.pop()))
            }
        };
        let draws = numbers
            .into_iter()
            .map(|draw| Ok((draw, run_draw(function, samples.as_deref(), draw)?)))
            .collect::<Result<_, String>>()?;
        let shapes = function.body.yields.iter().map(|id| function.values[*id].shape.clone()).collect();
        Ok(Self { draws, samples, shapes, corrects })
    }

    fn find_difference(&self, after: &Self) -> Option<ElementDifference> {
        let shapes: Vec<&[usize]> = self.shapes.iter().map(Vec::as_slice).collect();
        // A pass that makes a loop correct its values preserves these laws only.
        let is_compared = |draw: u64| self.corrects == after.corrects || draw & CORRECTION_LAWS == CORRECTION_LAWS;
        let mut both = self.draws.iter().zip(&after.draws).filter(|((draw, _), _)| is_compared(*draw));
        both.find_map(|((draw, before), (_, after))| {
            compare_results(&shapes, self.samples.as_deref(), before, after, *draw)
        })
    }
}
