//! Windows of a tensor that an op can write without overwriting neighboring elements.

use super::{DeviceLayout, HostDimMapping, HostTensor, LayoutError};

impl DeviceLayout {
    /// Checks that the window of `sizes` elements that begins at `offsets` of `host` consists of complete sticks. The
    /// last stick of the tensor is complete wherever the tensor ends, since padding follows.
    ///
    /// # Errors
    /// If the window begins or ends inside a stick, or if this layout does not have the simple structure of
    /// [`DeviceLayout::host_dims`].
    ///
    /// # Panics
    /// If there are fewer offsets or sizes than dimensions.
    pub fn check_written_window(&self, host: &HostTensor, offsets: &[i64], sizes: &[i64]) -> Result<(), LayoutError> {
        let stick = self.format().elements_per_stick();
        let places = self.host_dims(host)?;
        let Some(dim) = places.iter().position(|place| matches!(place, HostDimMapping::Stick { .. })) else {
            return Ok(());
        };
        let (first, end, size) = (offsets[dim], offsets[dim] + sizes[dim], host.sizes()[dim]);
        let is_whole = first % stick == 0 && (end % stick == 0 || end == size);
        if is_whole { Ok(()) } else { Err(LayoutError::WritesPartOfStick { dim, first, last: end - 1, size, stick }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::DimOrder;
    use machine::DeviceFormat::Sen169Fp16;

    fn check_window(sizes: &[i64], order: &[usize], offsets: &[i64], part: &[i64]) -> Result<(), LayoutError> {
        let host = HostTensor::row_major(sizes).unwrap();
        DeviceLayout::new(&host, Sen169Fp16, &DimOrder::dense(order))
            .unwrap()
            .check_written_window(&host, offsets, part)
    }

    #[test]
    fn accepts_single_rows() {
        assert_eq!(check_window(&[64, 100], &[0, 1], &[3, 0], &[1, 100]), Ok(()));
    }

    #[test]
    fn rejects_columns_of_partial_sticks() {
        assert_eq!(check_window(&[8, 256], &[0, 1], &[0, 64], &[8, 128]), Ok(()));
        let cut = |first, last| Err(LayoutError::WritesPartOfStick { dim: 1, first, last, size: 256, stick: 64 });
        assert_eq!(check_window(&[8, 256], &[0, 1], &[0, 32], &[8, 32]), cut(32, 63));
        assert_eq!(check_window(&[8, 256], &[0, 1], &[0, 64], &[8, 32]), cut(64, 95));
    }

    #[test]
    fn accepts_partial_last_stick_of_the_tensor() {
        assert_eq!(check_window(&[8, 100], &[0, 1], &[0, 64], &[8, 36]), Ok(()));
        assert!(check_window(&[8, 100], &[0, 1], &[0, 64], &[8, 35]).is_err());
        assert!(check_window(&[8, 100], &[0, 1], &[0, 63], &[8, 37]).is_err());
    }

    #[test]
    fn checks_only_the_stick_dimension() {
        assert_eq!(check_window(&[128, 8], &[1, 0], &[64, 3], &[64, 1]), Ok(()));
        assert!(check_window(&[128, 8], &[1, 0], &[32, 0], &[64, 8]).is_err());
    }
}
