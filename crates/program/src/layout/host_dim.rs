//! Device dimensions of each host dimension in a device layout.

use super::{DeviceLayout, HostTensor, LayoutError, count_sticks};

/// Device dimensions that one host dimension occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDimMapping {
    /// No device dimension: its size is 1.
    Unit,
    /// One device dimension: a step of the host is a step of the device.
    Whole {
        /// The device dimension.
        device_dim: usize,
    },
    /// Two device dimensions: it is the stick dimension.
    Stick {
        /// The device dimension that counts sticks.
        count: usize,
        /// The device dimension inside a stick, which is always the last.
        within: usize,
    },
}

impl DeviceLayout {
    /// Returns the device dimensions of each host dimension.
    ///
    /// # Errors
    /// If the layout is none that [`DeviceLayout::new`] creates, up to the order of its dimensions: a device dimension
    /// is neither a host dimension nor the stick count of one, or a host dimension has no device dimension.
    pub fn host_dims(&self, host: &HostTensor) -> Result<Vec<HostDimMapping>, LayoutError> {
        let within = self.rank() - 1;
        let stick_dim = self.stick_host_dim(host)?;
        let mut dims = vec![HostDimMapping::Unit; host.rank()];
        let mut count = None;
        // A device dimension without host elements (stride -1) has one position.
        let is_empty = |device_dim: usize| self.stride_map()[device_dim] == -1 && self.device_size()[device_dim] == 1;
        for device_dim in (0..within).filter(|&device_dim| !is_empty(device_dim)) {
            if count.is_none() && stick_dim.is_some_and(|dim| self.counts_sticks(host, dim, device_dim)) {
                count = Some(device_dim);
            } else if let Some(dim) =
                self.find_unplaced_dim(host, &dims, device_dim).filter(|&dim| Some(dim) != stick_dim)
            {
                dims[dim] = HostDimMapping::Whole { device_dim };
            } else {
                return Err(self.unmatched_dim_error(device_dim));
            }
        }
        if let Some(dim) = stick_dim {
            let count = count.ok_or_else(|| self.unmatched_dim_error(within))?;
            dims[dim] = HostDimMapping::Stick { count, within };
        }
        match (0..host.rank()).find(|&dim| host.sizes()[dim] > 1 && dims[dim] == HostDimMapping::Unit) {
            Some(dim) => Err(LayoutError::HostDim { dim, size: host.sizes()[dim] }),
            None => Ok(dims),
        }
    }

    /// Returns the offset in device memory, in elements, between two windows that are `elements` apart along host
    /// dimension `dim`. This is the stride of a tiled loop (torch-spyre issue 2859: it follows the device sizes, not
    /// the stride map).
    ///
    /// # Errors
    /// If the step would split a stick, or the layout does not have the simple structure of
    /// [`DeviceLayout::host_dims`].
    ///
    /// # Panics
    /// If `dim` is not a dimension of `host`.
    pub fn compute_window_offset(&self, host: &HostTensor, dim: usize, elements: i64) -> Result<i64, LayoutError> {
        let strides = self.device_strides();
        let stick = self.format().elements_per_stick();
        match self.host_dims(host)?[dim] {
            HostDimMapping::Unit => Ok(0),
            HostDimMapping::Whole { device_dim } => Ok(elements * strides[device_dim]),
            HostDimMapping::Stick { count, .. } if elements % stick == 0 => Ok(elements / stick * strides[count]),
            HostDimMapping::Stick { .. } => Err(LayoutError::CutsStick { dim, elements, stick }),
        }
    }

    /// Returns for each host dimension the size and the stride, in elements, of the device dimension that its tiles
    /// split: its own one, or the stick count. The entry is `None` for a dimension of size 1.
    ///
    /// Equal tile counts that divide the sizes in two layouts of the same bytes select the same bytes if the products
    /// of size and stride agree. Strides are products of sizes, so the first tile is the same fraction of the
    /// dimension's span.
    ///
    /// # Errors
    /// If the layout does not have the simple structure of [`DeviceLayout::host_dims`].
    pub fn find_tiled_device_dims(&self, host: &HostTensor) -> Result<Vec<Option<(i64, i64)>>, LayoutError> {
        let strides = self.device_strides();
        let place = |place: HostDimMapping| match place {
            HostDimMapping::Unit => None,
            HostDimMapping::Whole { device_dim: cut } | HostDimMapping::Stick { count: cut, .. } => {
                Some((self.device_size()[cut], strides[cut]))
            }
        };
        Ok(self.host_dims(host)?.into_iter().map(place).collect())
    }

    /// Returns the stick dimension; `None` if each stick holds one element.
    fn stick_host_dim(&self, host: &HostTensor) -> Result<Option<usize>, LayoutError> {
        let within = self.rank() - 1;
        let stride = self.stride_map()[within];
        if stride == -1 {
            return Ok(None);
        }
        let dim = (0..host.rank()).find(|&dim| host.sizes()[dim] > 1 && host.strides()[dim] == stride);
        dim.map(Some).ok_or_else(|| self.unmatched_dim_error(within))
    }

    fn counts_sticks(&self, host: &HostTensor, stick_dim: usize, device_dim: usize) -> bool {
        let stick = self.format().elements_per_stick();
        self.stride_map()[device_dim] == host.strides()[stick_dim] * stick
            && self.device_size()[device_dim] == count_sticks(host.sizes()[stick_dim], stick)
    }

    fn find_unplaced_dim(&self, host: &HostTensor, placed: &[HostDimMapping], device_dim: usize) -> Option<usize> {
        (0..host.rank()).find(|&dim| {
            placed[dim] == HostDimMapping::Unit
                && host.sizes()[dim] > 1
                && host.sizes()[dim] == self.device_size()[device_dim]
                && host.strides()[dim] == self.stride_map()[device_dim]
        })
    }

    fn unmatched_dim_error(&self, device_dim: usize) -> LayoutError {
        LayoutError::DeviceDim {
            device_dim,
            size: self.device_size()[device_dim],
            stride: self.stride_map()[device_dim],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::DimOrder;
    use machine::DeviceFormat::Sen169Fp16;

    fn build_row_major(sizes: &[i64]) -> (HostTensor, DeviceLayout) {
        (HostTensor::row_major(sizes).unwrap(), DeviceLayout::row_major(sizes, Sen169Fp16).unwrap())
    }

    #[test]
    fn maps_stick_dim_to_two_device_dims_and_others_to_one() {
        let (host, layout) = build_row_major(&[512, 8, 240]);
        let expected = [
            HostDimMapping::Whole { device_dim: 2 },
            HostDimMapping::Whole { device_dim: 0 },
            HostDimMapping::Stick { count: 1, within: 3 },
        ];
        assert_eq!(layout.host_dims(&host).unwrap(), expected);
    }

    #[test]
    fn distinguishes_stick_count_from_rows_of_equal_stride() {
        // Device dims 0 (one stick) and 1 (512 rows) both have stride 64.
        let (host, layout) = build_row_major(&[512, 64]);
        assert_eq!(
            layout.host_dims(&host).unwrap(),
            [HostDimMapping::Whole { device_dim: 1 }, HostDimMapping::Stick { count: 0, within: 2 }]
        );
    }

    #[test]
    fn maps_unit_dims_and_sparse_sticks_to_no_device_dim() {
        let host = HostTensor::row_major(&[64, 1]).unwrap();
        let sparse = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        assert_eq!(sparse.host_dims(&host).unwrap(), [HostDimMapping::Whole { device_dim: 1 }, HostDimMapping::Unit]);
    }

    #[test]
    fn rejects_retiled_layout() {
        let host = HostTensor::row_major(&[512, 256]).unwrap();
        let folded = DeviceLayout::from_parts(vec![4, 2, 256, 64], vec![64, 65536, 256, 1], Sen169Fp16).unwrap();
        assert_eq!(folded.host_dims(&host), Err(LayoutError::DeviceDim { device_dim: 1, size: 2, stride: 65536 }));
        let partial = DeviceLayout::from_parts(vec![4, 64], vec![64, 1], Sen169Fp16).unwrap();
        assert_eq!(partial.host_dims(&host), Err(LayoutError::HostDim { dim: 0, size: 512 }));
        let repeated = DeviceLayout::from_parts(vec![1000, 4, 512, 64], vec![-1, 64, 256, 1], Sen169Fp16).unwrap();
        assert_eq!(repeated.host_dims(&host), Err(LayoutError::DeviceDim { device_dim: 0, size: 1000, stride: -1 }));
    }

    #[test]
    fn computes_window_offset_from_device_strides() {
        let (host, layout) = build_row_major(&[1024, 4096]);
        assert_eq!(layout.compute_window_offset(&host, 0, 512), Ok(32_768));
        assert_eq!(layout.compute_window_offset(&host, 1, 1024), Ok(1_048_576));
        assert_eq!(
            layout.compute_window_offset(&host, 1, 32),
            Err(LayoutError::CutsStick { dim: 1, elements: 32, stick: 64 })
        );
    }

    #[test]
    fn computes_window_offset_along_row_sticks() {
        let host = HostTensor::row_major(&[512, 256]).unwrap();
        let columns = DeviceLayout::new(&host, Sen169Fp16, &DimOrder::dense(&[1, 0])).unwrap();
        assert_eq!(columns.compute_window_offset(&host, 0, 128), Ok(2 * 256 * 64));
        assert_eq!(columns.compute_window_offset(&host, 1, 3), Ok(3 * 64));
    }

    #[test]
    fn tiles_device_dim_or_stick_count() {
        let (host, layout) = build_row_major(&[1024, 4096]);
        assert_eq!(layout.find_tiled_device_dims(&host).unwrap(), [Some((1024, 64)), Some((64, 65_536))]);
        let sparse = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        assert_eq!(
            sparse.find_tiled_device_dims(&HostTensor::row_major(&[64, 1]).unwrap()).unwrap(),
            [Some((64, 64)), None]
        );
    }

    #[test]
    fn tiles_reshape_equally_where_it_keeps_a_device_dim() {
        // [8, 64] and [512] have the same bytes: a row is a stick.
        let (matrix, flat) = (build_row_major(&[8, 64]), build_row_major(&[512]));
        assert_eq!(matrix.1.find_tiled_device_dims(&matrix.0).unwrap(), [Some((8, 64)), Some((1, 512))]);
        assert_eq!(flat.1.find_tiled_device_dims(&flat.0).unwrap(), [Some((8, 64))]);
        // A different number of steps, or steps of a different size, tile the bytes differently.
        let (wide, columns) = (build_row_major(&[8, 128]), build_row_major(&[512, 64]));
        assert_eq!(wide.1.find_tiled_device_dims(&wide.0).unwrap(), [Some((8, 64)), Some((2, 512))]);
        assert_eq!(columns.1.find_tiled_device_dims(&columns.0).unwrap(), [Some((512, 64)), Some((1, 32_768))]);
    }

    #[test]
    fn rejects_tiling_of_retiled_layout() {
        let host = HostTensor::row_major(&[512, 256]).unwrap();
        let folded = DeviceLayout::from_parts(vec![4, 2, 256, 64], vec![64, 65536, 256, 1], Sen169Fp16).unwrap();
        assert_eq!(
            folded.find_tiled_device_dims(&host),
            Err(LayoutError::DeviceDim { device_dim: 1, size: 2, stride: 65536 })
        );
    }
}
