//! Extent of an execution: the complete program, or the slice on which sampled result elements depend.

use super::{ElementDifference, NUM_DRAWS, draw_arguments_with, draw_selected_arguments, find_difference};
use crate::interpret::{ElementSelection, EvalArray, EvalFunction, EvaluationError, evaluate_function};
use element::{FieldElement, FiniteField, OrderedField, RandomArithmetic, mix_bits};
use schemars::JsonSchema;
use serde::Serialize;
use std::ops::Range;

/// Numbers of positions to try along each dimension of a result before 1, in descending order. With 64, every core's slice has a
/// sample, because no dimension is split into more than 32 slices.
const POSITIONS_PER_DIM: [usize; 6] = [64, 32, 16, 8, 4, 2];

/// Maximum numbers of element operations of one execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionLimits {
    /// Maximum for a complete program; a larger one is sampled.
    pub whole: u64,
    /// Maximum for a complete program in all draws.
    pub all_draws: u64,
    /// Maximum for samples in all draws.
    pub samples: u64,
    /// Maximum for a complete program in a single draw.
    pub one_draw: u64,
    /// Maximum for samples in a single draw.
    pub samples_in_one_draw: u64,
}

impl Default for ExecutionLimits {
    fn default() -> Self {
        Self { whole: 1 << 35, all_draws: 1 << 32, samples: 1 << 30, one_draw: 1 << 35, samples_in_one_draw: 1 << 35 }
    }
}

impl ExecutionLimits {
    /// Returns the draws in which a program of this size is executed: all of them, or only the one in which zero is the
    /// largest number. Returns `None` if the program is too large.
    #[must_use]
    pub fn draws_for(&self, element_operations: u64) -> Option<Range<u64>> {
        match () {
            () if element_operations <= self.all_draws => Some(0..NUM_DRAWS),
            () if element_operations <= self.one_draw => Some(NUM_DRAWS - 1..NUM_DRAWS),
            () => None,
        }
    }
}

/// Result elements that a sampled validation computes, and the element operations that they require.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Samples {
    /// Number of computed result elements.
    pub elements: u64,
    /// Number of all result elements.
    pub of: u64,
    /// Element operations that the samples require.
    pub element_operations: u64,
}

/// Draws and samples that a validation executes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValidationExtent {
    pub(super) draws: Range<u64>,
    /// Sampled elements of each result of each function, with their totals; `None` for complete execution.
    pub(super) samples: Option<(Vec<Vec<ElementSelection>>, Samples)>,
}

impl ValidationExtent {
    /// Returns the row-major positions of the sampled elements of each result of the only function; `None` if all
    /// elements are compared.
    pub(crate) fn sample_positions(&self, function: &EvalFunction<'_>) -> Option<Vec<Vec<usize>>> {
        let (selections, _) = self.samples.as_ref()?;
        let shapes = function.body.yields.iter().map(|id| function.values[*id].shape.as_slice());
        Some(selections.first()?.iter().zip(shapes).map(|(selection, shape)| selection.positions(shape)).collect())
    }

    /// Chooses complete execution of the functions, or as many samples of their results as the limits allow.
    ///
    /// # Errors
    /// The reason why not even one element of each result can be computed.
    pub(crate) fn choose(functions: &[EvalFunction<'_>], limits: &ExecutionLimits) -> Result<Self, String> {
        let all = functions.iter().map(EvalFunction::count_operations).fold(0, u64::saturating_add);
        if all <= limits.whole
            && functions.iter().all(|function| num_held_elements(function) <= MAX_HELD_ELEMENTS)
            && let Some(draws) = limits.draws_for(all)
        {
            return Ok(Self { draws, samples: None });
        }
        let too_large = format!(
            "cannot be validated: it takes {all} element operations, more than {}",
            limits.whole.min(limits.one_draw)
        );
        let is_integer = |function: &EvalFunction<'_>| {
            function.body.yields.iter().any(|id| function.values[*id].element.is_integer())
        };
        if functions.iter().any(is_integer) {
            return Err(format!("{too_large}, and results of integers are not sampled"));
        }
        let take = |count: usize| {
            build_samples(functions, count)
                .map_err(|fault| format!("{too_large}, and samples cannot be taken: {fault}"))
        };
        // More samples require more operations, so one sample shows which limit can be met.
        let fewest = take(1)?;
        let least = fewest.1.element_operations;
        // Drawing the elements of large tables takes longer than the operations.
        let is_large = functions.iter().any(|function| num_held_elements(function) > MAX_ELEMENTS_OF_DRAWS);
        let has_all_draws = least <= limits.samples;
        let limit = if has_all_draws { limits.samples } else { limits.samples_in_one_draw };
        if least > limit {
            return Err(format!("{too_large}, and one element of each result alone takes {least}, more than {limit}"));
        }
        let draws = if has_all_draws && !is_large { 0..NUM_DRAWS } else { NUM_DRAWS - 1..NUM_DRAWS };
        for count in POSITIONS_PER_DIM {
            let sampled = take(count)?;
            if sampled.1.element_operations <= limit {
                return Ok(Self { draws, samples: Some(sampled) });
            }
        }
        Ok(Self { draws, samples: Some(fewest) })
    }
}

/// Maximum number of elements that a complete execution holds at a time. Each takes 8 bytes in the interpreter, and
/// about 20 in the simulator.
const MAX_HELD_ELEMENTS: u64 = 1 << 28;

/// Maximum number of elements that an execution holds if draws are executed at the same time.
pub(super) const MAX_CONCURRENT_ELEMENTS: u64 = 1 << 25;

/// Maximum number of elements that an execution holds if samples are taken in more than one draw.
const MAX_ELEMENTS_OF_DRAWS: u64 = 1 << 27;

/// Returns the elements that an execution of a function holds at a time: of its arguments and results, and of the
/// operands and the result of an op.
pub(super) fn num_held_elements(function: &EvalFunction<'_>) -> u64 {
    let elements = |shape: &[usize]| shape.iter().fold(1, |product: u64, size| product.saturating_mul(*size as u64));
    let of = |id: &usize| elements(&function.values[*id].shape);
    let ends = function.body.arguments.iter().chain(&function.body.yields).map(of).fold(0, u64::saturating_add);
    let largest = function.values.iter().map(|value| elements(&value.shape)).max().unwrap_or(0);
    ends.saturating_add(largest.saturating_mul(2))
}

/// Returns the results of a function in a draw: all of its results, or samples of them.
pub(super) fn run_draw(
    function: &EvalFunction<'_>,
    samples: Option<&[ElementSelection]>,
    draw: u64,
) -> Result<Vec<EvalArray<FieldElement>>, String> {
    if draw & FiniteField::ORDERED_BIT == 0 {
        run_draw_with(&FiniteField::new(draw), function, samples, draw)
    } else {
        run_draw_with(&OrderedField::new(draw), function, samples, draw)
    }
}

fn run_draw_with<D: RandomArithmetic>(
    elements: &D,
    function: &EvalFunction<'_>,
    samples: Option<&[ElementSelection]>,
    draw: u64,
) -> Result<Vec<EvalArray<FieldElement>>, String> {
    let done = match samples {
        None => evaluate_function(function, draw_arguments_with(function, elements, draw), elements),
        Some(samples) => function.extract_sample(samples).and_then(|sampled| {
            evaluate_function(
                &sampled.function,
                draw_selected_arguments(function, &sampled.arguments, elements, draw),
                elements,
            )
        }),
    };
    let results = done.map_err(|fault| fault.to_string())?;
    Ok(results.into_iter().map(|result| result.map_numbers(|element| elements.field_element(element))).collect())
}

/// Returns the first difference between two executions of a function with results of these shapes. Compares all
/// elements, or the samples.
pub(super) fn compare_results(
    shapes: &[&[usize]],
    samples: Option<&[ElementSelection]>,
    expected: &[EvalArray<FieldElement>],
    found: &[EvalArray<FieldElement>],
    draw: u64,
) -> Option<ElementDifference> {
    let Some(samples) = samples else { return find_difference(expected, found, shapes, draw) };
    let shapes: Vec<Vec<usize>> = samples.iter().map(ElementSelection::shape).collect();
    let found = find_difference(expected, found, &shapes.iter().map(Vec::as_slice).collect::<Vec<_>>(), draw)?;
    Some(ElementDifference { index: samples[found.result].indices(&found.index), is_sampled: true, ..found })
}

/// Samples elements at `count` positions along each dimension of each result.
fn build_samples(
    functions: &[EvalFunction<'_>],
    count: usize,
) -> Result<(Vec<Vec<ElementSelection>>, Samples), EvaluationError> {
    let mut samples = Samples { elements: 0, of: 0, element_operations: 0 };
    let mut selections = Vec::with_capacity(functions.len());
    for function in functions {
        let shapes = function.body.yields.iter().map(|id| function.values[*id].shape.as_slice());
        let results: Vec<ElementSelection> =
            shapes.clone().zip(0..).map(|(shape, result)| spread_positions(shape, count, result)).collect();
        samples.elements += results.iter().map(|selection| selection.length() as u64).sum::<u64>();
        samples.of += shapes.map(|shape| shape.iter().product::<usize>() as u64).sum::<u64>();
        let steps = function.extract_sample(&results)?.function.count_operations();
        samples.element_operations = samples.element_operations.saturating_add(steps);
        selections.push(results);
    }
    Ok((selections, samples))
}

/// Selects `count` positions along each dimension: one in each of `count` equal segments, including the first and the
/// last position.
fn spread_positions(shape: &[usize], count: usize, result: u64) -> ElementSelection {
    let along = |(size, dim): (&usize, u64)| {
        let random = |part: usize| mix_bits(mix_bits(result) ^ mix_bits(dim << 32 | part as u64)) as usize;
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
    ElementSelection::new(shape.iter().zip(0..).map(along))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::{EvalBlock, EvalOp, EvalOpKind, EvalTensor};
    use machine::ElementType;

    /// Function that multiplies two matrices.
    fn product(m: usize, k: usize, n: usize, element: ElementType) -> EvalFunction<'static> {
        let half = |shape: &[usize]| EvalTensor { shape: shape.to_vec(), element: ElementType::F16 };
        let values = vec![half(&[m, k]), half(&[k, n]), EvalTensor { shape: vec![m, n], element }];
        let ops = vec![EvalOp { kind: EvalOpKind::Matmul, inputs: vec![0, 1], outputs: vec![2] }];
        EvalFunction {
            name: "f".to_owned(),
            ranges: Vec::new(),
            values,
            body: EvalBlock { arguments: vec![0, 1], ops, yields: vec![2] },
        }
    }

    #[test]
    fn runs_large_programs_only_in_the_ordered_draw() {
        let limits = ExecutionLimits { whole: 100, all_draws: 10, samples: 0, one_draw: 100, samples_in_one_draw: 100 };
        assert_eq!(limits.draws_for(10), Some(0..NUM_DRAWS));
        assert_eq!(limits.draws_for(11), Some(2..3));
        assert_eq!((limits.draws_for(100), limits.draws_for(101)), (Some(2..3), None));
    }

    #[test]
    fn samples_every_core_slice() {
        let selection = spread_positions(&[4096, 12800, 7], 64, 3);
        assert_eq!(selection.shape(), [64, 64, 7]);
        for (positions, size) in selection.dims().iter().zip([4096, 12800, 7]) {
            assert_eq!((positions.first(), positions.last()), (Some(&0), Some(&(size - 1))));
            let slices = if size % 32 == 0 { 32 } else { 1 };
            let of: std::collections::BTreeSet<usize> =
                positions.iter().map(|position| position / (size / slices)).collect();
            assert_eq!(of.len(), slices);
        }
        assert_eq!(spread_positions(&[4096, 5], 1, 0).shape(), [1, 1]);
    }

    #[test]
    fn takes_as_many_samples_as_limits_allow() {
        let functions = [product(256, 128, 256, ElementType::F16)];
        let all = functions[0].count_operations();
        let of = |limits: ExecutionLimits| {
            ValidationExtent::choose(&functions, &limits)
                .map(|extent| (extent.draws, extent.samples.map(|(_, samples)| samples)))
        };
        assert_eq!(
            of(ExecutionLimits { whole: all, all_draws: all, samples: 0, one_draw: all, samples_in_one_draw: all }),
            Ok((0..3, None))
        );
        let few = of(ExecutionLimits {
            whole: all - 1,
            all_draws: all,
            samples: all,
            one_draw: all,
            samples_in_one_draw: all,
        })
        .unwrap();
        assert_eq!(few.1.map(|samples| (samples.elements, samples.of)), Some((64 * 64, 256 * 256)));
        let fewer =
            of(ExecutionLimits { whole: 0, all_draws: 0, samples: 12_000, one_draw: all, samples_in_one_draw: all })
                .unwrap();
        assert_eq!((fewer.0, fewer.1.map(|samples| samples.elements)), (0..3, Some(8 * 8)));
        let one_draw =
            of(ExecutionLimits { whole: 0, all_draws: 0, samples: 0, one_draw: 12_000, samples_in_one_draw: 12_000 })
                .unwrap();
        assert_eq!((one_draw.0, one_draw.1.map(|samples| samples.elements)), (2..3, Some(8 * 8)));
        let rejected =
            of(ExecutionLimits { whole: 0, all_draws: 0, samples: 0, one_draw: 10, samples_in_one_draw: 10 })
                .unwrap_err();
        assert!(rejected.contains("one element of each result alone takes 128, more than 10"), "{rejected}");
        let integers = ValidationExtent::choose(
            &[product(256, 128, 256, ElementType::I64)],
            &ExecutionLimits { whole: 0, ..ExecutionLimits::default() },
        );
        assert!(integers.is_err_and(|message| message.contains("results of integers")));
    }

    #[test]
    fn samples_programs_that_hold_too_many_elements() {
        let large = [product(1 << 14, 1, 1 << 14, ElementType::F16)];
        assert!(ValidationExtent::choose(&large, &ExecutionLimits::default()).unwrap().samples.is_some());
        let small = [product(1 << 13, 1, 1 << 13, ElementType::F16)];
        assert_eq!(ValidationExtent::choose(&small, &ExecutionLimits::default()).unwrap().samples, None);
    }
}
