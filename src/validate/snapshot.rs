//! What the functions of a module compute, to be compared with what they compute later.

use super::{DRAWS, Difference, Limits, arguments, difference};
use crate::{
    dialect::has_corrections,
    interpret::{Array, Function, evaluate, read_function},
    mlir::{Op, OpExt},
};
use element::{Field, FieldElement};
use std::collections::BTreeMap;

/// The results of functions in every draw.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    functions: BTreeMap<String, Results>,
}

/// For each draw the results, and their shapes.
#[derive(Clone, Debug)]
struct Results {
    draws: Vec<Vec<Array<FieldElement>>>,
    shapes: Vec<Vec<usize>>,
    /// Whether a loop corrects what it carries.
    corrects: bool,
}

/// The draws that are compared.
fn draws() -> impl Iterator<Item = u64> {
    (0..DRAWS).chain([Field::LAWFUL])
}

impl Snapshot {
    /// Interprets the functions of a module, or one function.
    ///
    /// # Errors
    /// Why they cannot be: an op that is none of a tensor program, more element operations than are executed in all draws, or none is there.
    pub fn of(op: Op<'_>) -> Result<Self, String> {
        let functions = if op.is("func.func") { vec![op] } else { op.body_ops() };
        let functions: Vec<Op<'_>> = functions.into_iter().filter(|op| op.is("func.func") && op.body().is_some()).collect();
        if functions.is_empty() {
            return Err("there is no function".to_owned());
        }
        let mut snapshot = Self::default();
        for function in functions {
            let corrects = has_corrections(function);
            let function = read_function(function).map_err(|(_, message)| message)?;
            let results = Results::of(&function, corrects)?;
            snapshot.functions.insert(function.name, results);
        }
        Ok(snapshot)
    }

    /// The first function that computes something else in `after`, by its name. Functions that are in one snapshot only do not count.
    #[must_use]
    pub fn difference(&self, after: &Self) -> Option<(String, Difference)> {
        self.functions.iter().find_map(|(name, before)| {
            let after = after.functions.get(name)?;
            before.difference(after).map(|found| (name.clone(), found))
        })
    }

    /// Takes what another snapshot says.
    pub fn take(&mut self, other: Self) {
        self.functions.extend(other.functions);
    }
}

impl Results {
    fn of(function: &Function<'_>, corrects: bool) -> Result<Self, String> {
        let (steps, most) = (function.steps(), Limits::default().all_draws);
        if steps > most {
            return Err(format!("'{}' takes {steps} element operations, more than {most}", function.name));
        }
        let run = |draw| evaluate(function, arguments(function, draw), &Field::new(draw)).map_err(|fault| fault.to_string());
        let draws = draws().map(run).collect::<Result<_, _>>()?;
        Ok(Self { draws, corrects, shapes: function.body.yields.iter().map(|id| function.values[*id].shape.clone()).collect() })
    }

    fn difference(&self, after: &Self) -> Option<Difference> {
        let shapes: Vec<&[usize]> = self.shapes.iter().map(Vec::as_slice).collect();
        let in_draw = |position: usize, draw: u64| difference(&self.draws[position], &after.draws[position], &shapes, draw);
        let mut numbered = (0..).zip(draws());
        if self.corrects == after.corrects {
            return numbered.find_map(|(position, draw)| in_draw(position, draw));
        }
        // A pass that lets a loop correct exponentials keeps their law, and nothing else of exponentials of exponentials.
        numbered.find_map(|(position, draw)| if draw & Field::LAWFUL == 0 { None } else { in_draw(position, draw) })
    }
}
