//! Device dimensions of each host dimension in a device layout.

use super::{DeviceLayout, HostTensor, LayoutError, sticks_needed};

/// The device dimensions that one host dimension occupies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDim {
    /// None: its size is 1.
    Unit,
    /// One: a step of the host is a step of the device.
    Whole {
        /// The device dimension.
        device_dim: usize,
    },
    /// Two: this is the stick dimension.
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
    /// When the layout is not of the form that [`DeviceLayout::new`] makes (up to the order of its dimensions): a device dimension that
    /// is neither a host dimension nor the stick count of one, or a host dimension that has no device dimension.
    pub fn host_dims(&self, host: &HostTensor) -> Result<Vec<HostDim>, LayoutError> {
        let within = self.rank() - 1;
        let stick_dim = self.stick_host_dim(host)?;
        let mut dims = vec![HostDim::Unit; host.rank()];
        let mut count = None;
        // A device dimension without host elements (stride -1) has one position.
        let is_empty = |device_dim: usize| self.stride_map()[device_dim] == -1 && self.device_size()[device_dim] == 1;
        for device_dim in (0..within).filter(|&device_dim| !is_empty(device_dim)) {
            if count.is_none() && stick_dim.is_some_and(|dim| self.counts_sticks_of(host, dim, device_dim)) {
                count = Some(device_dim);
            } else if let Some(dim) = self.unplaced_dim_at(host, &dims, device_dim).filter(|&dim| Some(dim) != stick_dim) {
                dims[dim] = HostDim::Whole { device_dim };
            } else {
                return Err(self.unmatched(device_dim));
            }
        }
        if let Some(dim) = stick_dim {
            let count = count.ok_or_else(|| self.unmatched(within))?;
            dims[dim] = HostDim::Stick { count, within };
        }
        match (0..host.rank()).find(|&dim| host.sizes()[dim] > 1 && dims[dim] == HostDim::Unit) {
            Some(dim) => Err(LayoutError::HostDim { dim, size: host.sizes()[dim] }),
            None => Ok(dims),
        }
    }

    /// Returns the offset in device memory, in elements, between two windows that are `elements` apart along host
    /// dimension `dim`. This is the stride of a tiled loop (torch-spyre issue 2859: it follows the device sizes, not
    /// the stride map).
    ///
    /// # Errors
    /// When the step would cut a stick, or the layout is not of the simple form of [`DeviceLayout::host_dims`].
    ///
    /// # Panics
    /// When `dim` is not a dimension of `host`.
    pub fn advance(&self, host: &HostTensor, dim: usize, elements: i64) -> Result<i64, LayoutError> {
        let strides = self.device_strides();
        let stick = self.format().elements_per_stick();
        match self.host_dims(host)?[dim] {
            HostDim::Unit => Ok(0),
            HostDim::Whole { device_dim } => Ok(elements * strides[device_dim]),
            HostDim::Stick { count, .. } if elements % stick == 0 => Ok(elements / stick * strides[count]),
            HostDim::Stick { .. } => Err(LayoutError::CutsStick { dim, elements, stick }),
        }
    }

    /// Returns for each host dimension the size and the stride, in elements, of the device dimension that tiles along it cut: its own one,
    /// or the one that counts its sticks. `None` for a dimension of size 1. If the products of size and stride agree for two layouts of the
    /// same bytes, equal tile counts that divide both sizes cut them alike: strides are products of sizes, so the first tile is the same
    /// fraction of the dimension's span.
    ///
    /// # Errors
    /// When the layout is not of the simple form of [`DeviceLayout::host_dims`].
    pub fn cut_places(&self, host: &HostTensor) -> Result<Vec<Option<(i64, i64)>>, LayoutError> {
        let strides = self.device_strides();
        let place = |place: HostDim| match place {
            HostDim::Unit => None,
            HostDim::Whole { device_dim: cut } | HostDim::Stick { count: cut, .. } => Some((self.device_size()[cut], strides[cut])),
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
        dim.map(Some).ok_or_else(|| self.unmatched(within))
    }

    fn counts_sticks_of(&self, host: &HostTensor, stick_dim: usize, device_dim: usize) -> bool {
        let stick = self.format().elements_per_stick();
        self.stride_map()[device_dim] == host.strides()[stick_dim] * stick
            && self.device_size()[device_dim] == sticks_needed(host.sizes()[stick_dim], stick)
    }

    fn unplaced_dim_at(&self, host: &HostTensor, placed: &[HostDim], device_dim: usize) -> Option<usize> {
        (0..host.rank()).find(|&dim| {
            placed[dim] == HostDim::Unit
                && host.sizes()[dim] > 1
                && host.sizes()[dim] == self.device_size()[device_dim]
                && host.strides()[dim] == self.stride_map()[device_dim]
        })
    }

    fn unmatched(&self, device_dim: usize) -> LayoutError {
        LayoutError::DeviceDim { device_dim, size: self.device_size()[device_dim], stride: self.stride_map()[device_dim] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::DimOrder;
    use machine::DeviceFormat::Sen169Fp16;

    fn rows(sizes: &[i64]) -> (HostTensor, DeviceLayout) {
        (HostTensor::row_major(sizes).unwrap(), DeviceLayout::row_major(sizes, Sen169Fp16).unwrap())
    }

    #[test]
    fn the_stick_dim_takes_two_device_dims_and_the_others_one() {
        let (host, layout) = rows(&[512, 8, 240]);
        let expected = [HostDim::Whole { device_dim: 2 }, HostDim::Whole { device_dim: 0 }, HostDim::Stick { count: 1, within: 3 }];
        assert_eq!(layout.host_dims(&host).unwrap(), expected);
    }

    #[test]
    fn one_stick_per_row_is_told_from_rows_of_the_same_stride() {
        // Device dims 0 (one stick) and 1 (512 rows) both have stride 64.
        let (host, layout) = rows(&[512, 64]);
        assert_eq!(layout.host_dims(&host).unwrap(), [HostDim::Whole { device_dim: 1 }, HostDim::Stick { count: 0, within: 2 }]);
    }

    #[test]
    fn size_one_dims_and_sparse_sticks_occupy_nothing() {
        let host = HostTensor::row_major(&[64, 1]).unwrap();
        let sparse = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        assert_eq!(sparse.host_dims(&host).unwrap(), [HostDim::Whole { device_dim: 1 }, HostDim::Unit]);
    }

    #[test]
    fn a_retiled_layout_is_refused() {
        let host = HostTensor::row_major(&[512, 256]).unwrap();
        let folded = DeviceLayout::from_parts(vec![4, 2, 256, 64], vec![64, 65536, 256, 1], Sen169Fp16).unwrap();
        assert_eq!(folded.host_dims(&host), Err(LayoutError::DeviceDim { device_dim: 1, size: 2, stride: 65536 }));
        let partial = DeviceLayout::from_parts(vec![4, 64], vec![64, 1], Sen169Fp16).unwrap();
        assert_eq!(partial.host_dims(&host), Err(LayoutError::HostDim { dim: 0, size: 512 }));
        let repeated = DeviceLayout::from_parts(vec![1000, 4, 512, 64], vec![-1, 64, 256, 1], Sen169Fp16).unwrap();
        assert_eq!(repeated.host_dims(&host), Err(LayoutError::DeviceDim { device_dim: 0, size: 1000, stride: -1 }));
    }

    #[test]
    fn a_window_steps_by_device_strides() {
        let (host, layout) = rows(&[1024, 4096]);
        assert_eq!(layout.advance(&host, 0, 512), Ok(32_768));
        assert_eq!(layout.advance(&host, 1, 1024), Ok(1_048_576));
        assert_eq!(layout.advance(&host, 1, 32), Err(LayoutError::CutsStick { dim: 1, elements: 32, stick: 64 }));
    }

    #[test]
    fn a_window_steps_over_rows_when_the_stick_is_on_rows() {
        let host = HostTensor::row_major(&[512, 256]).unwrap();
        let columns = DeviceLayout::new(&host, Sen169Fp16, &DimOrder::dense(&[1, 0])).unwrap();
        assert_eq!(columns.advance(&host, 0, 128), Ok(2 * 256 * 64));
        assert_eq!(columns.advance(&host, 1, 3), Ok(3 * 64));
    }

    #[test]
    fn tiles_cut_the_device_dim_or_the_count_of_sticks() {
        let (host, layout) = rows(&[1024, 4096]);
        assert_eq!(layout.cut_places(&host).unwrap(), [Some((1024, 64)), Some((64, 65_536))]);
        let sparse = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        assert_eq!(sparse.cut_places(&HostTensor::row_major(&[64, 1]).unwrap()).unwrap(), [Some((64, 64)), None]);
    }

    #[test]
    fn a_reshape_is_cut_alike_where_it_keeps_a_device_dim() {
        // [8, 64] and [512] have the same bytes: a row is a stick.
        let (matrix, flat) = (rows(&[8, 64]), rows(&[512]));
        assert_eq!(matrix.1.cut_places(&matrix.0).unwrap(), [Some((8, 64)), Some((1, 512))]);
        assert_eq!(flat.1.cut_places(&flat.0).unwrap(), [Some((8, 64))]);
        // A different number of steps, or steps of a different size, tile the bytes differently.
        let (wide, columns) = (rows(&[8, 128]), rows(&[512, 64]));
        assert_eq!(wide.1.cut_places(&wide.0).unwrap(), [Some((8, 64)), Some((2, 512))]);
        assert_eq!(columns.1.cut_places(&columns.0).unwrap(), [Some((512, 64)), Some((1, 32_768))]);
    }

    #[test]
    fn where_a_retiled_layout_is_cut_is_not_known() {
        let host = HostTensor::row_major(&[512, 256]).unwrap();
        let folded = DeviceLayout::from_parts(vec![4, 2, 256, 64], vec![64, 65536, 256, 1], Sen169Fp16).unwrap();
        assert_eq!(folded.cut_places(&host), Err(LayoutError::DeviceDim { device_dim: 1, size: 2, stride: 65536 }));
    }
}
