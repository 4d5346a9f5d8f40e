//! How much of a program is executed: all of it, or what some elements of its results depend on.

use super::{DRAWS, Difference, arguments_at, arguments_of, difference};
use crate::interpret::{Array, Fault, Function, Selection, evaluate};
use element::{Draw, Field, FieldElement, Ordered, stirred};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// How many positions along each dimension of a result are tried, the most first. With 64 there is one in each core's slice, as no dimension
/// is cut into more than 32.
const POSITIONS: [usize; 7] = [64, 32, 16, 8, 4, 2, 1];

/// The most element operations of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Of a program that is executed whole; of a larger one samples are taken.
    pub whole: u64,
    /// Of a program that is executed whole in all draws.
    pub all_draws: u64,
    /// Of samples that are executed in all draws.
    pub samples: u64,
    /// Of a program that is executed whole in one draw only.
    pub one_draw: u64,
    /// Of samples that are executed in one draw only.
    pub samples_in_one_draw: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { whole: 1 << 35, all_draws: 1 << 32, samples: 1 << 30, one_draw: 1 << 35, samples_in_one_draw: 1 << 35 }
    }
}

impl Limits {
    /// The draws in which so many element operations are executed: of one draw alone, that in which zero is the largest number. None if they
    /// are too many.
    #[must_use]
    pub fn draws_for(&self, element_operations: u64) -> Option<Range<u64>> {
        match () {
            () if element_operations <= self.all_draws => Some(0..DRAWS),
            () if element_operations <= self.one_draw => Some(DRAWS - 1..DRAWS),
            () => None,
        }
    }
}

/// Result elements that a sampled validation computes, and the element operations that they require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Samples {
    /// The elements of results that are computed.
    pub elements: u64,
    /// The elements of results that there are.
    pub of: u64,
    /// Element operations of what they depend on.
    pub element_operations: u64,
}

/// Draws and samples that a validation executes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Extent {
    pub(super) draws: Range<u64>,
    /// For each function the elements of each result, and what they are in all.
    pub(super) samples: Option<(Vec<Vec<Selection>>, Samples)>,
}

impl Extent {
    /// The places of the elements of each result of the only function, row-major; none where all are compared.
    pub(crate) fn places(&self, function: &Function<'_>) -> Option<Vec<Vec<usize>>> {
        let (selections, _) = self.samples.as_ref()?;
        let shapes = function.body.yields.iter().map(|id| function.values[*id].shape.as_slice());
        Some(selections.first()?.iter().zip(shapes).map(|(selection, shape)| selection.places(shape)).collect())
    }

    /// All of some functions, or as many elements of their results as the limits allow.
    ///
    /// # Errors
    /// Why not even one element of each result can be computed.
    pub(crate) fn of(functions: &[Function<'_>], limits: &Limits) -> Result<Self, String> {
        let all = functions.iter().map(Function::steps).fold(0, u64::saturating_add);
        if all <= limits.whole
            && functions.iter().all(|function| held_elements(function) <= MAX_HELD_ELEMENTS)
            && let Some(draws) = limits.draws_for(all)
        {
            return Ok(Self { draws, samples: None });
        }
        let too_large = format!("cannot be validated: it takes {all} element operations, more than {}", limits.whole.min(limits.one_draw));
        let is_integer = |function: &Function<'_>| function.body.yields.iter().any(|id| function.values[*id].element.is_integer());
        if functions.iter().any(is_integer) {
            return Err(format!("{too_large}, and results of integers are not sampled"));
        }
        let (mut in_one_draw, mut needed) = (None, 0);
        for count in POSITIONS {
            let sampled = samples(functions, count).map_err(|fault| format!("{too_large}, and samples cannot be taken: {fault}"))?;
            needed = sampled.1.element_operations;
            if needed <= limits.samples {
                return Ok(Self { draws: 0..DRAWS, samples: Some(sampled) });
            }
            if needed <= limits.samples_in_one_draw && in_one_draw.is_none() {
                in_one_draw = Some(Self { draws: DRAWS - 1..DRAWS, samples: Some(sampled) });
            }
        }
        let too_many =
            || format!("{too_large}, and one element of each result alone takes {needed}, more than {}", limits.samples_in_one_draw);
        in_one_draw.ok_or_else(too_many)
    }
}

/// The elements that an execution as a whole may hold at a time; each takes 8 bytes in the interpreter, and about 20 in the simulator.
const MAX_HELD_ELEMENTS: u64 = 1 << 28;

/// Returns the elements that an execution of a function holds at a time: of its arguments and results, and of the operands and the result of an op.
fn held_elements(function: &Function<'_>) -> u64 {
    let elements = |shape: &[usize]| shape.iter().fold(1, |product: u64, size| product.saturating_mul(*size as u64));
    let of = |id: &usize| elements(&function.values[*id].shape);
    let ends = function.body.arguments.iter().chain(&function.body.yields).map(of).fold(0, u64::saturating_add);
    let largest = function.values.iter().map(|value| elements(&value.shape)).max().unwrap_or(0);
    ends.saturating_add(largest.saturating_mul(2))
}

/// Returns the results of a function in a draw: all of its results, or samples of them.
pub(super) fn run(function: &Function<'_>, samples: Option<&[Selection]>, draw: u64) -> Result<Vec<Array<FieldElement>>, String> {
    if draw & Field::ORDERED == 0 {
        run_on(&Field::new(draw), function, samples, draw)
    } else {
        run_on(&Ordered::new(draw), function, samples, draw)
    }
}

fn run_on<D: Draw>(
    elements: &D,
    function: &Function<'_>,
    samples: Option<&[Selection]>,
    draw: u64,
) -> Result<Vec<Array<FieldElement>>, String> {
    let done = match samples {
        None => evaluate(function, arguments_of(function, elements, draw), elements),
        Some(samples) => function
            .sampled(samples)
            .and_then(|sampled| evaluate(&sampled.function, arguments_at(function, &sampled.arguments, elements, draw), elements)),
    };
    let results = done.map_err(|fault| fault.to_string())?;
    Ok(results.into_iter().map(|result| result.of(|element| elements.seen(element))).collect())
}

/// Where two executions of a function differ whose results have these shapes, in all elements or in the samples that were taken.
pub(super) fn compare(
    shapes: &[&[usize]],
    samples: Option<&[Selection]>,
    expected: &[Array<FieldElement>],
    found: &[Array<FieldElement>],
    draw: u64,
) -> Option<Difference> {
    let Some(samples) = samples else { return difference(expected, found, shapes, draw) };
    let shapes: Vec<Vec<usize>> = samples.iter().map(Selection::shape).collect();
    let found = difference(expected, found, &shapes.iter().map(Vec::as_slice).collect::<Vec<_>>(), draw)?;
    Some(Difference { index: samples[found.result].indices(&found.index), is_sampled: true, ..found })
}

/// Elements at so many positions along each dimension of each result.
fn samples(functions: &[Function<'_>], count: usize) -> Result<(Vec<Vec<Selection>>, Samples), Fault> {
    let mut samples = Samples { elements: 0, of: 0, element_operations: 0 };
    let mut selections = Vec::with_capacity(functions.len());
    for function in functions {
        let shapes = function.body.yields.iter().map(|id| function.values[*id].shape.as_slice());
        let results: Vec<Selection> = shapes.clone().zip(0..).map(|(shape, result)| spread(shape, count, result)).collect();
        samples.elements += results.iter().map(|selection| selection.length() as u64).sum::<u64>();
        samples.of += shapes.map(|shape| shape.iter().product::<usize>() as u64).sum::<u64>();
        let steps = function.sampled(&results)?.function.steps();
        samples.element_operations = samples.element_operations.saturating_add(steps);
        selections.push(results);
    }
    Ok((selections, samples))
}

/// So many positions along each dimension: one in each of as many equal parts, the first and the last among them.
fn spread(shape: &[usize], count: usize, result: u64) -> Selection {
    let along = |(size, dim): (&usize, u64)| {
        let random = |part: usize| stirred(stirred(result) ^ stirred(dim << 32 | part as u64)) as usize;
        let position = |part: usize| match part {
            0 if count > 1 => 0,
            _ if count > 1 && part == count - 1 => size - 1,
            _ => {
                let (start, end) = (size * part / count, size * (part + 1) / count);
                start + random(part) % (end - start)
            }
        };
        if *size <= count { (0..*size).collect() } else { (0..count).map(position).collect() }
    };
    Selection::new(shape.iter().zip(0..).map(along))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::{Block, Kind, Operation, Tensor};
    use machine::ElementType;

    /// A product of matrices.
    fn product(m: usize, k: usize, n: usize, element: ElementType) -> Function<'static> {
        let half = |shape: &[usize]| Tensor { shape: shape.to_vec(), element: ElementType::F16 };
        let values = vec![half(&[m, k]), half(&[k, n]), Tensor { shape: vec![m, n], element }];
        let ops = vec![Operation { kind: Kind::Matmul, inputs: vec![0, 1], outputs: vec![2] }];
        Function { name: "f".to_owned(), ranges: Vec::new(), values, body: Block { arguments: vec![0, 1], ops, yields: vec![2] } }
    }

    #[test]
    fn a_large_program_is_executed_in_the_draw_that_shows_what_a_maximum_begins_with() {
        let limits = Limits { whole: 100, all_draws: 10, samples: 0, one_draw: 100, samples_in_one_draw: 100 };
        assert_eq!(limits.draws_for(10), Some(0..DRAWS));
        assert_eq!(limits.draws_for(11), Some(2..3));
        assert_eq!((limits.draws_for(100), limits.draws_for(101)), (Some(2..3), None));
    }

    #[test]
    fn every_slice_of_a_core_has_a_sample() {
        let selection = spread(&[4096, 12800, 7], 64, 3);
        assert_eq!(selection.shape(), [64, 64, 7]);
        for (positions, size) in selection.dims().iter().zip([4096, 12800, 7]) {
            assert_eq!((positions.first(), positions.last()), (Some(&0), Some(&(size - 1))));
            let slices = if size % 32 == 0 { 32 } else { 1 };
            let of: std::collections::BTreeSet<usize> = positions.iter().map(|position| position / (size / slices)).collect();
            assert_eq!(of.len(), slices);
        }
        assert_eq!(spread(&[4096, 5], 1, 0).shape(), [1, 1]);
    }

    #[test]
    fn as_many_samples_are_taken_as_the_limits_allow() {
        let functions = [product(256, 128, 256, ElementType::F16)];
        let all = functions[0].steps();
        let of = |limits: Limits| Extent::of(&functions, &limits).map(|extent| (extent.draws, extent.samples.map(|(_, samples)| samples)));
        assert_eq!(of(Limits { whole: all, all_draws: all, samples: 0, one_draw: all, samples_in_one_draw: all }), Ok((0..3, None)));
        let few = of(Limits { whole: all - 1, all_draws: all, samples: all, one_draw: all, samples_in_one_draw: all }).unwrap();
        assert_eq!(few.1.map(|samples| (samples.elements, samples.of)), Some((64 * 64, 256 * 256)));
        let fewer = of(Limits { whole: 0, all_draws: 0, samples: 12_000, one_draw: all, samples_in_one_draw: all }).unwrap();
        assert_eq!((fewer.0, fewer.1.map(|samples| samples.elements)), (0..3, Some(8 * 8)));
        let one_draw = of(Limits { whole: 0, all_draws: 0, samples: 0, one_draw: 12_000, samples_in_one_draw: 12_000 }).unwrap();
        assert_eq!((one_draw.0, one_draw.1.map(|samples| samples.elements)), (2..3, Some(8 * 8)));
        let refused = of(Limits { whole: 0, all_draws: 0, samples: 0, one_draw: 10, samples_in_one_draw: 10 }).unwrap_err();
        assert!(refused.contains("one element of each result alone takes 128, more than 10"), "{refused}");
        let integers = Extent::of(&[product(256, 128, 256, ElementType::I64)], &Limits { whole: 0, ..Limits::default() });
        assert!(integers.is_err_and(|message| message.contains("results of integers")));
    }

    #[test]
    fn of_more_elements_than_may_be_held_samples_are_taken() {
        let large = [product(1 << 14, 1, 1 << 14, ElementType::F16)];
        assert!(Extent::of(&large, &Limits::default()).unwrap().samples.is_some());
        let small = [product(1 << 13, 1, 1 << 13, ElementType::F16)];
        assert_eq!(Extent::of(&small, &Limits::default()).unwrap().samples, None);
    }
}
