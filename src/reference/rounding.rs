//! Rounding errors of the device's formats, compared with those of the program's own formats.

use referee::{
    ArrayElements, BoundedNumber, HostArray, ShadowResult,
    number::{dl16_from_host, dl16_to_f32},
};
use std::fmt;

/// Maximum ratio of the device's error to that of the program in its own formats. One rounding of the device has twice
/// the error of one in f16.
const MAX_ERROR_RATIO: f64 = 8.0;

/// Error that is always allowed: four roundings of a format with 9 fraction bits.
const MIN_ALLOWED_ERROR: f64 = 4.0 / 1024.0;

/// Returns an input with its f16 numbers as the device stores them, with 9 fraction bits instead of 10: a function that
/// amplifies the errors of its argument, such as the exponential of a large one, amplifies this one too. Other types
/// keep their numbers.
pub(super) fn round_to_device_format(input: &HostArray) -> HostArray {
    let mut stored = input.clone();
    if matches!(stored.elements, ArrayElements::F16(_)) {
        for index in 0..stored.elements.len() {
            let number = stored.elements.get(index);
            if number.is_finite() {
                #[allow(clippy::cast_possible_truncation, reason = "f32 has every f16 number")]
                stored.elements.set(index, dl16_to_f32(dl16_from_host(number as f32)).into());
            }
        }
    }
    stored
}

/// Returns the elements that are finite in the files and in the program's own formats, but not in the exact reference.
/// The exact program has a pole there, such as the logarithm of numbers that cancel to 0.
#[must_use]
pub fn find_poles(found: &ShadowResult<BoundedNumber>, expected: &HostArray, as_written: &HostArray) -> Vec<usize> {
    let has_numbers =
        |index: usize| found.elements[index].exact.is_finite() && as_written.elements.get(index).is_finite();
    (0..expected.elements.len())
        .filter(|&index| !expected.elements.get(index).is_finite() && has_numbers(index))
        .collect()
}

/// Returns an f64 result with some elements replaced.
#[must_use]
pub fn replace_numbers(result: &HostArray, elements: &[usize], number: impl Fn(usize) -> f64) -> HostArray {
    let mut numbers: Vec<f64> = (0..result.elements.len()).map(|index| result.elements.get(index)).collect();
    elements.iter().for_each(|&index| numbers[index] = number(index));
    HostArray { shape: result.shape.clone(), elements: ArrayElements::F64(numbers) }
}

/// Root mean square errors of a result, relative to the root mean square of its exact numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundingErrors {
    /// Error of the device's numbers.
    pub device: f64,
    /// Error of the program in its own formats.
    pub own: f64,
    /// Number of finite elements that overflow in the program's own formats; they are not compared.
    pub num_overflows: usize,
}

impl RoundingErrors {
    /// Returns the errors of a result. Returns `None` if it has no floating-point numbers, or none that are finite in
    /// all three computations.
    ///
    /// # Panics
    /// If the results differ in shape.
    #[must_use]
    pub fn new(found: &ShadowResult<BoundedNumber>, expected: &HostArray, as_written: &HostArray) -> Option<Self> {
        if !matches!(expected.elements, ArrayElements::F64(_)) {
            return None;
        }
        assert!(
            found.shape == expected.shape && expected.shape == as_written.shape,
            "results of one program have one shape"
        );
        let (mut exact_squares, mut device_squares, mut own_squares) = (0.0, 0.0, 0.0);
        let (mut num_compared, mut num_overflows) = (0_u32, 0);
        for (index, device) in found.device.iter().enumerate() {
            let (exact, own, device) =
                (expected.elements.get(index), as_written.elements.get(index), f64::from(*device));
            if exact.is_finite() && !own.is_finite() {
                num_overflows += 1;
            } else if exact.is_finite() && device.is_finite() {
                num_compared = num_compared.saturating_add(1);
                exact_squares += exact * exact;
                device_squares += (device - exact).powi(2);
                own_squares += (own - exact).powi(2);
            }
        }
        if num_compared == 0 && num_overflows == 0 {
            return None;
        }
        // A result of zeros has no scale: its errors are absolute.
        let scale = if exact_squares > 0.0 { exact_squares } else { f64::from(num_compared.max(1)) };
        let relative = |squares: f64| (squares / scale).sqrt();
        let errors = Self { device: relative(device_squares), own: relative(own_squares), num_overflows };
        (errors.device.is_finite() && errors.own.is_finite()).then_some(errors)
    }

    /// Returns the largest error that the device's formats explain, for a program of 16-bit numbers.
    #[must_use]
    pub fn max_allowed_error(&self) -> f64 {
        (MAX_ERROR_RATIO * self.own).max(MIN_ALLOWED_ERROR)
    }

    /// Returns whether the device's error exceeds [`Self::max_allowed_error`].
    #[must_use]
    pub fn is_excessive(&self) -> bool {
        self.device > self.max_allowed_error()
    }
}

impl fmt::Display for RoundingErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { device, own, num_overflows } = self;
        write!(formatter, "root mean square error {device:.2e}")?;
        if *own > 0.0 {
            write!(formatter, ", {:.1} times that of the program in its own formats ({own:.2e})", device / own)?;
        } else {
            write!(formatter, "; the program is exact in its own formats")?;
        }
        if *num_overflows > 0 {
            write!(
                formatter,
                "; elements that are too large for the program's own formats, and not compared: {num_overflows}"
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(device: &[f32], exact: &[f64], own: &[f64]) -> Option<RoundingErrors> {
        let shape = vec![i64::try_from(exact.len()).unwrap()];
        let array =
            |numbers: &[f64]| HostArray { shape: shape.clone(), elements: ArrayElements::F64(numbers.to_vec()) };
        let found = ShadowResult { shape: shape.clone(), elements: Vec::new(), device: device.to_vec() };
        RoundingErrors::new(&found, &array(exact), &array(own))
    }

    #[test]
    fn computes_errors_relative_to_root_mean_square() {
        let found = errors(&[3.5, 4.0], &[3.0, 4.0], &[3.0, 4.25]).unwrap();
        assert_eq!((found.device, found.own, found.num_overflows), (0.1, 0.05, 0));
        assert_eq!(
            found.to_string(),
            "root mean square error 1.00e-1, 2.0 times that of the program in its own formats (5.00e-2)"
        );
        assert!(!found.is_excessive());
    }

    #[test]
    fn allows_eight_times_own_error_or_four_roundings() {
        assert!(errors(&[1.09], &[1.0], &[1.01]).unwrap().is_excessive());
        assert!(!errors(&[1.0035], &[1.0], &[1.0]).unwrap().is_excessive());
        assert!(errors(&[1.005], &[1.0], &[1.0]).unwrap().is_excessive());
    }

    #[test]
    fn rounds_f16_inputs_to_9_fraction_bits() {
        let halves = [1.0, 1.0 + 1.0 / 1024.0, 1.0 + 3.0 / 1024.0, -2.5].map(referee::f16_from_f32).to_vec();
        let stored = round_to_device_format(&HostArray { shape: vec![4], elements: ArrayElements::F16(halves) });
        let numbers: Vec<f64> = (0..4).map(|index| stored.elements.get(index)).collect();
        assert_eq!(numbers, [1.0, 1.0, 1.0 + 4.0 / 1024.0, -2.5]);
        let single = HostArray { shape: vec![1], elements: ArrayElements::F32(vec![1.0 + 1.0 / 1024.0]) };
        assert_eq!(round_to_device_format(&single), single);
    }

    #[test]
    fn finds_poles_where_only_rounded_results_are_finite() {
        let array = |numbers: &[f64]| HostArray { shape: vec![4], elements: ArrayElements::F64(numbers.to_vec()) };
        let bound = |exact: f64| BoundedNumber { exact, off: 0.0, low: exact, high: exact };
        let elements = [1.0, 2.0, f64::NAN, 3.0].map(bound).to_vec();
        let found = ShadowResult { shape: vec![4], elements, device: vec![1.0, 2.0, f32::NAN, 3.0] };
        let expected = array(&[f64::NAN, 2.0, f64::NAN, f64::INFINITY]);
        let at = find_poles(&found, &expected, &array(&[1.0, 2.0, 3.0, f64::INFINITY]));
        assert_eq!(at, [0]);
        assert_eq!(
            replace_numbers(&array(&[f64::NAN, 2.0]), &at, |_| 5.0).elements,
            ArrayElements::F64(vec![5.0, 2.0])
        );
    }

    #[test]
    fn skips_elements_that_overflow_in_own_formats() {
        let found = errors(&[70000.0, 1.0], &[66000.0, 1.0], &[f64::INFINITY, 1.0]).unwrap();
        assert_eq!((found.device, found.num_overflows), (0.0, 1));
        assert!(
            found
                .to_string()
                .ends_with("; elements that are too large for the program's own formats, and not compared: 1")
        );
        assert_eq!(errors(&[70000.0], &[70000.0], &[f64::INFINITY]).unwrap().num_overflows, 1);
        assert_eq!(errors(&[], &[], &[]), None);
    }
}
