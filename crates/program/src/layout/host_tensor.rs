//! Tensor as the host stores it.

use super::LayoutError;

/// Sizes and strides of a tensor, both in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostTensor {
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

impl HostTensor {
    /// Creates a tensor with these strides.
    ///
    /// # Errors
    /// If the lists differ in length or a size is not positive.
    pub fn new(sizes: &[i64], strides: &[i64]) -> Result<Self, LayoutError> {
        if sizes.len() != strides.len() {
            return Err(LayoutError::Length {
                what: "the list of strides",
                expected: sizes.len(),
                found: strides.len(),
            });
        }
        if let Some(dim) = sizes.iter().position(|&size| size < 1) {
            return Err(LayoutError::Size { dim, size: sizes[dim] });
        }
        Ok(Self { sizes: sizes.to_vec(), strides: strides.to_vec() })
    }

    /// Creates a contiguous tensor: the last dimension has stride 1.
    ///
    /// # Errors
    /// If a size is not positive or the number of elements does not fit in 64 bits.
    pub fn row_major(sizes: &[i64]) -> Result<Self, LayoutError> {
        let mut strides = vec![1_i64; sizes.len()];
        for dim in (1..sizes.len()).rev() {
            strides[dim - 1] = strides[dim].checked_mul(sizes[dim]).ok_or(LayoutError::TooLarge)?;
        }
        Self::new(sizes, &strides)
    }

    /// Returns the size of every dimension.
    #[must_use]
    pub fn sizes(&self) -> &[i64] {
        &self.sizes
    }

    /// Returns the stride of every dimension.
    #[must_use]
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// Returns the number of dimensions.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_strides_that_do_not_match_sizes() {
        assert!(matches!(HostTensor::new(&[2, 3], &[1]), Err(LayoutError::Length { expected: 2, found: 1, .. })));
        assert_eq!(HostTensor::row_major(&[2, 0]), Err(LayoutError::Size { dim: 1, size: 0 }));
        assert_eq!(HostTensor::row_major(&[2, i64::MAX, 3]), Err(LayoutError::TooLarge));
    }
}
