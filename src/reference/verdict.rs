//! Checks whether a result is correct, and measures the errors of the device's formats.
//!
//! These are two questions. The program is correct if its exact numbers, computed in f64 in the device's order of
//! execution, equal the f64 reference up to f64 rounding. The device's numbers differ from the exact ones by the
//! rounding of its formats; they must stay within the bounds that follow from the formats.

use super::compare::unflatten_index;
use referee::{BoundedNumber, HostArray, ShadowResult};

/// Maximum difference of two computations in f64, relative to an element's magnitude plus the root mean square of the
/// result.
pub const ALLOWED_DIFFERENCE: f64 = 1e-9;

/// Rounding error of the two f64 computations, relative to the worst-case error of the same operations in `f32`, in
/// which the device computes.
const F64_TO_F32_ERROR_RATIO: f64 = 4e-8;

/// Factor on the rounding error that follows from the operations of one computation: the other one rounds elsewhere.
const TWO_COMPUTATIONS_FACTOR: f64 = 4.0;

/// Upper bound on the f64 rounding error, relative to the largest intermediate numbers.
const INTERMEDIATE_ERROR_RATIO: f64 = 1e-12;

/// Factor on the largest effect of an approximation, for programs in which only some of its uses are approximated.
const APPROXIMATION_FACTOR: f64 = 3.0;

/// Differences found for a correct result.
#[derive(Clone, Debug, PartialEq)]
pub struct ReferenceVerdict {
    /// Largest difference between exact numbers and the reference, relative to magnitude plus root mean square.
    pub difference: f64,
    /// Allowed difference: [`ALLOWED_DIFFERENCE`], plus the effect of the approximations that the program contains,
    /// plus the rounding of f64 where the difference is larger.
    pub allowed: f64,
    /// Largest difference between the device's numbers and the exact ones, relative to the root mean square of the
    /// reference.
    pub device: f64,
    /// Largest difference that the formats allow, in the same unit; infinite if an element has no bound.
    pub worst_case: f64,
    /// Number of elements that are NaN in the reference.
    pub num_nan: usize,
}

/// Compares a result with the reference. `approximated` are references with the approximations that the compiler
/// states; `on_the_way` is the largest root mean square of an operation's results. If large numbers cancel, f64 leaves
/// a rounding error that the magnitude of the result does not show. An element may differ by that error, but by no more
/// than its bounds allow.
///
/// # Errors
/// The element with the largest excess, or the first one outside of its bounds.
pub fn check_against_reference(
    found: &ShadowResult<BoundedNumber>,
    expected: &HostArray,
    approximated: &[&HostArray],
    on_the_way: f64,
) -> Result<ReferenceVerdict, String> {
    if found.shape != expected.shape {
        return Err(format!("has shape {:?}, the reference {:?}", found.shape, expected.shape));
    }
    let reference = ReferenceNumbers::from_results(expected, approximated);
    let place = |index: usize| unflatten_index(index, &expected.shape);
    let mut verdict = compare_exact(&found.elements, &reference, on_the_way)
        .map_err(|mismatch| format!("differs from the reference: {}", mismatch.describe(&place(mismatch.at))))?;
    let scale = reference.scale;
    for (index, (bound, device)) in found.elements.iter().zip(&found.device).enumerate() {
        let device = f64::from(*device);
        if device.is_nan() && !bound.exact.is_nan() {
            let why = if bound.contains(device) {
                ": rounding alone may cause this, because its error has no bound there"
            } else {
                ""
            };
            return Err(format!(
                "differs from the reference: element {:?} is NaN, the reference {:e}{why}",
                place(index),
                reference.numbers[index]
            ));
        }
        if !bound.contains(device) {
            let BoundedNumber { low, high, .. } = bound;
            return Err(format!(
                "differs from the reference by more than rounding explains: element {:?} is {device:e}, which is not between {low:e} and \
                 {high:e}; without rounding it is {:e}",
                place(index),
                bound.exact,
            ));
        }
        if bound.exact.is_finite() {
            let unit = if scale > 0.0 { scale } else { 1.0 };
            verdict.device = verdict.device.max((device - bound.exact).abs() / unit);
            verdict.worst_case = verdict.worst_case.max((bound.high - bound.exact).max(bound.exact - bound.low) / unit);
        }
    }
    Ok(verdict)
}

/// Reference numbers to compare with.
pub(super) struct ReferenceNumbers {
    pub(super) numbers: Vec<f64>,
    /// Root mean square of the complete result.
    scale: f64,
    /// Largest effect of the approximations that the compiler states.
    effect: f64,
}

impl ReferenceNumbers {
    /// Reads all numbers of a result; `approximated` is the result with approximations.
    pub(super) fn from_results(expected: &HostArray, approximated: &[&HostArray]) -> Self {
        let numbers: Vec<f64> = (0..expected.elements.len()).map(|index| expected.elements.get(index)).collect();
        let effect = approximated.iter().map(|other| largest_difference(&numbers, other)).fold(0.0, f64::max);
        Self { scale: root_mean_square(&numbers), effect: APPROXIMATION_FACTOR * effect, numbers }
    }

    /// Selects the numbers at these positions.
    pub(super) fn select(&self, places: &[usize]) -> Self {
        Self { numbers: places.iter().map(|place| self.numbers[*place]).collect(), ..*self }
    }
}

/// Number that differs from its reference.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NumberMismatch {
    /// Position of the number among the compared ones; it has the largest excess.
    pub(super) at: usize,
    /// All positions that differ.
    pub(super) places: Vec<usize>,
    /// Whether the files have NaN at all of these positions.
    pub(super) is_nan: bool,
    exact: f64,
    expected: f64,
    scale: f64,
}

impl NumberMismatch {
    /// Describes the number at its indices, next to the reference.
    pub(super) fn describe(&self, index: &[i64]) -> String {
        let Self { exact, expected, scale, .. } = self;
        // The arguments may be at fault: a sine is NaN beyond the range in which it is computed.
        let why = if self.is_without_value() {
            ": functions that the device lacks are NaN outside of their ranges (docs/reference/functions.md); --input NAME=FILE.npy gives arguments \
             that stay within"
        } else {
            ""
        };
        format!(
            "element {index:?} is {exact:e} without rounding, the reference {expected:e} (root mean square {scale:.3e}){why}"
        )
    }

    /// Returns the absolute difference from the reference.
    pub(super) fn absolute_error(&self) -> f64 {
        absolute_difference(self.exact, self.expected)
    }

    /// Returns whether the files have NaN where the reference has a number.
    fn is_without_value(&self) -> bool {
        self.exact.is_nan() && !self.expected.is_nan()
    }
}

/// Compares numbers that were never rounded to a device format with the reference.
pub(super) fn compare_exact(
    found: &[BoundedNumber],
    reference: &ReferenceNumbers,
    on_the_way: f64,
) -> Result<ReferenceVerdict, NumberMismatch> {
    let ReferenceNumbers { numbers, scale, effect } = reference;
    let mut verdict =
        ReferenceVerdict { difference: 0.0, allowed: ALLOWED_DIFFERENCE, device: 0.0, worst_case: 0.0, num_nan: 0 };
    let (mut worst, mut places) = (None::<(f64, usize)>, Vec::new());
    for (index, (bound, expected)) in found.iter().zip(numbers).enumerate() {
        verdict.num_nan += usize::from(expected.is_nan());
        let size = expected.abs() + scale;
        let off = absolute_difference(bound.exact, *expected);
        if off > 0.0 {
            verdict.difference = verdict.difference.max(off / size);
            // Without a finite reference, no difference is allowed.
            let rounded = f64_rounding_error(bound, on_the_way);
            if off > ALLOWED_DIFFERENCE * size && size.is_finite() {
                verdict.allowed = verdict.allowed.max(ALLOWED_DIFFERENCE + (effect + rounded) / size);
            }
            let excess = if size.is_finite() { off - ALLOWED_DIFFERENCE * size - effect - rounded } else { off };
            if excess > 0.0 {
                places.push(index);
                if worst.is_none_or(|(most, _)| excess > most) {
                    worst = Some((excess, index));
                }
            }
        }
        if *effect > 0.0 && size > 0.0 {
            verdict.allowed = verdict.allowed.max(ALLOWED_DIFFERENCE + effect / size);
        }
    }
    match worst {
        None => Ok(verdict),
        Some((_, at)) => {
            let is_nan = places.iter().all(|place| found[*place].exact.is_nan());
            Err(NumberMismatch { at, places, is_nan, exact: found[at].exact, expected: numbers[at], scale: *scale })
        }
    }
}

/// Returns the f64 rounding error that the two computations may have in one element. Derives it from the width of the
/// bounds; if the device's formats rounded both bounds to one number, from the operations.
fn f64_rounding_error(bound: &BoundedNumber, on_the_way: f64) -> f64 {
    let width = bound.high - bound.low;
    let by_width = if width.is_finite() { F64_TO_F32_ERROR_RATIO * width } else { 0.0 };
    by_width.max(TWO_COMPUTATIONS_FACTOR * bound.off).min(INTERMEDIATE_ERROR_RATIO * on_the_way)
}

/// Returns the root mean square of the finite numbers. Scales them by the largest one, whose square may overflow.
fn root_mean_square(numbers: &[f64]) -> f64 {
    let finite = || numbers.iter().copied().filter(|number| number.is_finite());
    let most = finite().map(f64::abs).fold(0.0, f64::max);
    if most == 0.0 {
        return 0.0;
    }
    let (sum, count) =
        finite().fold((0.0, 0_u32), |(sum, count), number| ((number / most).mul_add(number / most, sum), count + 1));
    most * (sum / f64::from(count.max(1))).sqrt()
}

fn largest_difference(reference: &[f64], other: &HostArray) -> f64 {
    let differences = reference.iter().enumerate().map(|(index, number)| (number - other.elements.get(index)).abs());
    differences.filter(|difference| difference.is_finite()).fold(0.0, f64::max)
}

/// Returns the absolute difference; 0 for equal infinities, and if both are NaN.
fn absolute_difference(found: f64, expected: f64) -> f64 {
    match (found.is_finite(), expected.is_finite()) {
        (true, true) => (found - expected).abs(),
        _ if found == expected || (found.is_nan() && expected.is_nan()) => 0.0,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::ArrayElements;

    #[test]
    fn explains_nan_by_function_ranges() {
        let message = compare_numbers(&[f64::NAN, 1.0], &[0.5, 1.0], &[f32::NAN, 1.0]).unwrap_err();
        assert!(message.contains("docs/reference/functions.md") && message.contains("element [0] is NaN"), "{message}");
        assert!(!compare_numbers(&[0.7, 1.0], &[0.5, 1.0], &[0.7, 1.0]).unwrap_err().contains("functions.md"));
        assert!(!compare_numbers(&[0.7, 1.0], &[f64::NAN, 1.0], &[0.7, 1.0]).unwrap_err().contains("functions.md"));
    }

    fn compare_numbers(exact: &[f64], expected: &[f64], device: &[f32]) -> Result<ReferenceVerdict, String> {
        let bound = |exact: &f64| BoundedNumber { exact: *exact, off: 0.0, low: exact - 0.01, high: exact + 0.01 };
        let shape = vec![expected.len() as i64];
        let found =
            ShadowResult { shape: shape.clone(), elements: exact.iter().map(bound).collect(), device: device.to_vec() };
        check_against_reference(&found, &HostArray { shape, elements: ArrayElements::F64(expected.to_vec()) }, &[], 0.0)
    }

    #[test]
    fn scales_numbers_with_infinite_squares() {
        assert!(
            compare_numbers(&[1e200, 2e200], &[1e200, 2e200 * (1.0 + 1e-13)], &[f32::INFINITY; 2])
                .unwrap_err()
                .contains("not between")
        );
        assert!(
            compare_numbers(&[1e200, 2e200], &[1e200, 2e200 * (1.0 + 1e-7)], &[f32::INFINITY; 2])
                .unwrap_err()
                .contains("root mean square 1.5")
        );
        assert_eq!(root_mean_square(&[3e200, -3e200, f64::INFINITY]), 3e200);
        assert_eq!(root_mean_square(&[0.0, f64::NAN]), 0.0);
    }

    #[test]
    fn checks_program_in_f64_and_device_against_bounds() {
        let verdict = compare_numbers(&[1.0, 2.0], &[1.0 + 1e-12, 2.0], &[1.005, 2.0]).unwrap();
        assert!(
            verdict.difference > 0.0
                && verdict.difference < 1e-12
                && verdict.device > 0.003
                && verdict.worst_case < 0.01
        );
        assert!(
            compare_numbers(&[1.0, 2.0], &[1.0 + 1e-7, 2.0], &[1.0, 2.0])
                .unwrap_err()
                .contains("element [0] is 1e0 without rounding")
        );
        assert!(compare_numbers(&[1.0, 2.0], &[1.0, 2.0], &[1.0, 2.5]).unwrap_err().contains("not between"));
    }

    #[test]
    fn allows_f64_rounding_of_cancelling_numbers() {
        let left = |exact: f64, (width, off): (f64, f64), on_the_way: f64| {
            let element = BoundedNumber { exact, off, low: exact - width, high: exact + width };
            let found = ShadowResult { shape: vec![1], elements: vec![element], device: vec![0.0] };
            check_against_reference(
                &found,
                &HostArray { shape: vec![1], elements: ArrayElements::F64(vec![7e-15]) },
                &[],
                on_the_way,
            )
        };
        assert!(left(-9e-15, (1e-5, 0.0), 1.0).is_ok());
        assert!(left(-9e-15, (1e-5, 0.0), 1e-5).is_err(), "nothing on the way is as large");
        assert!(left(-9e-15, (1e-12, 0.0), 1.0).is_err(), "small numbers were scaled, and did not cancel");
        assert!(left(-9e-15, (1e-13, 5e-15), 1.0).is_ok(), "the device's formats hide what f64 rounds");
        assert!(left(-9e-15, (1e-13, 5e-15), 1e-5).is_err(), "nothing on the way is as large");
    }

    #[test]
    fn rejects_zeros_and_nans_against_other_numbers() {
        assert!(compare_numbers(&[0.0; 2], &[1.0, 2.0], &[0.0; 2]).is_err());
        let other_shape = HostArray { shape: vec![2, 1], elements: ArrayElements::F64(vec![1.0, 2.0]) };
        let found = ShadowResult {
            shape: vec![2],
            elements: vec![BoundedNumber { exact: 1.0, off: 0.0, low: 1.0, high: 1.0 }; 2],
            device: vec![1.0; 2],
        };
        assert!(
            check_against_reference(&found, &other_shape, &[], 1.0)
                .unwrap_err()
                .contains("has shape [2], the reference [2, 1]")
        );
        assert!(compare_numbers(&[1e-30, 0.0], &[0.0; 2], &[0.0; 2]).is_err());
        assert!(compare_numbers(&[f64::NAN, 2.0], &[1.0, 2.0], &[f32::NAN, 2.0]).is_err());
        assert!(compare_numbers(&[1.0, 2.0], &[1.0, 2.0], &[f32::NAN, 2.0]).unwrap_err().contains("is NaN"));
        let rooted = BoundedNumber { exact: 1.0, off: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        let found = ShadowResult { shape: vec![1], elements: vec![rooted], device: vec![f32::NAN] };
        let expected = HostArray { shape: vec![1], elements: ArrayElements::F64(vec![1.0]) };
        assert!(
            check_against_reference(&found, &expected, &[], 1.0).unwrap_err().contains("rounding alone may cause this")
        );
        let anything = BoundedNumber { exact: f64::NAN, off: 0.0, low: f64::NEG_INFINITY, high: f64::INFINITY };
        let found = ShadowResult { shape: vec![1], elements: vec![anything], device: vec![f32::NAN] };
        let expected = HostArray { shape: vec![1], elements: ArrayElements::F64(vec![f64::NAN]) };
        assert_eq!(check_against_reference(&found, &expected, &[], 1.0).unwrap().num_nan, 1);
    }
}
