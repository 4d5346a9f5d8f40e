//! Differences between a result and the reference, element by element.

use referee::HostArray;

/// Element with the largest difference.
#[derive(Clone, Debug, PartialEq)]
pub struct WorstElement {
    /// Indices of the element.
    pub index: Vec<i64>,
    /// Number that the simulator computed.
    pub found: f64,
    /// Number that the reference computed.
    pub expected: f64,
}

/// Comparison of a result with its reference.
#[derive(Clone, Debug, PartialEq)]
pub struct ResultComparison {
    /// Root mean square of the reference.
    pub scale: f64,
    /// Largest difference of an element, relative to `scale`; infinite if a non-finite number has no equal counterpart.
    pub error: f64,
    /// Element with the largest difference; `None` for an empty array.
    pub worst: Option<WorstElement>,
}

/// Compares a result with the reference, element by element.
///
/// # Errors
/// If the shapes differ.
pub fn compare_arrays(found: &HostArray, expected: &HostArray) -> Result<ResultComparison, String> {
    if found.shape != expected.shape {
        return Err(format!("the result has shape {:?}, the reference {:?}", found.shape, expected.shape));
    }
    let length = expected.elements.len();
    let finite = (0..length).map(|index| expected.elements.get(index)).filter(|value| value.is_finite());
    let (sum, count) = finite.fold((0.0, 0_u32), |(sum, count), value| (sum + value * value, count + 1));
    let root = (sum / f64::from(count.max(1))).sqrt();
    // A reference of zeros has no scale: its differences are absolute.
    let scale = if root > 0.0 { root } else { 1.0 };
    let (mut error, mut worst) = (0.0, None);
    for index in 0..length {
        let (found, expected_value) = (found.elements.get(index), expected.elements.get(index));
        let off = absolute_difference(found, expected_value) / scale;
        if worst.is_none() || off > error {
            error = off;
            worst =
                Some(WorstElement { index: unflatten_index(index, &expected.shape), found, expected: expected_value });
        }
    }
    Ok(ResultComparison { scale, error, worst })
}

/// Returns the absolute difference; 0 for equal infinities, and if both are NaN.
fn absolute_difference(found: f64, expected: f64) -> f64 {
    match (found.is_finite(), expected.is_finite()) {
        (true, true) => (found - expected).abs(),
        (false, false)
            if found.is_nan() == expected.is_nan() && (found.is_nan() || found.signum() == expected.signum()) =>
        {
            0.0
        }
        _ => f64::INFINITY,
    }
}

/// Returns the indices of an element of a row-major array.
pub(super) fn unflatten_index(flat: usize, shape: &[i64]) -> Vec<i64> {
    let mut rest = i64::try_from(flat).expect("fewer than 2^63");
    let mut indices = vec![0; shape.len()];
    for (index, &size) in indices.iter_mut().zip(shape).rev() {
        *index = rest % size.max(1);
        rest /= size.max(1);
    }
    indices
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee::ArrayElements;

    fn array(values: &[f32]) -> HostArray {
        HostArray {
            shape: vec![1, i64::try_from(values.len()).unwrap()],
            elements: ArrayElements::F32(values.to_vec()),
        }
    }

    #[test]
    fn reports_the_worst_element() {
        let comparison = compare_arrays(&array(&[3.0, 4.5]), &array(&[3.0, 4.0])).unwrap();
        assert_eq!(comparison.worst, Some(WorstElement { index: vec![0, 1], found: 4.5, expected: 4.0 }));
        assert!((comparison.error - 0.5 / 12.5_f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn treats_nan_as_infinite_difference() {
        assert_eq!(compare_arrays(&array(&[f32::NAN]), &array(&[1.0])).unwrap().error, f64::INFINITY);
        assert_eq!(compare_arrays(&array(&[f32::INFINITY]), &array(&[f32::INFINITY])).unwrap().error, 0.0);
        assert_eq!(
            compare_arrays(&array(&[f32::INFINITY]), &array(&[f32::NEG_INFINITY])).unwrap().error,
            f64::INFINITY
        );
    }

    #[test]
    fn rejects_different_shapes() {
        assert!(compare_arrays(&array(&[1.0]), &array(&[1.0, 2.0])).is_err());
    }
}
