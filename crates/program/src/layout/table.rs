//! Layout of a table that an index tensor addresses: the indexed dimension is outermost.

use super::{DeviceLayout, DimOrder, HostDimMapping, HostTensor, LayoutError};
use machine::DeviceFormat;

impl DeviceLayout {
    /// Creates the layout of a contiguous table of these sizes that is indexed along dimension `indexed`. That
    /// dimension is outermost, the others are in their default order. The sticks hold `stick`, or else the last
    /// dimension larger than 1 (torch-spyre's `enforce_indirect_access_layout`; golden case `gather_embedding_1d`:
    /// `[512, 2, 64]` for `[512, 128]`).
    ///
    /// # Errors
    /// If the table has no other dimension larger than 1 for the sticks; otherwise those of [`DeviceLayout::new`].
    ///
    /// # Panics
    /// If there is no dimension `indexed`.
    pub fn new_table(
        sizes: &[i64],
        indexed: usize,
        stick: Option<usize>,
        format: DeviceFormat,
    ) -> Result<Self, LayoutError> {
        let host = HostTensor::row_major(sizes)?;
        let row: Vec<usize> = (0..sizes.len()).filter(|&dim| dim != indexed).collect();
        let row_sizes: Vec<i64> = row.iter().map(|&dim| sizes[dim]).collect();
        let row_strides: Vec<i64> = row.iter().map(|&dim| host.strides()[dim]).collect();
        let last = || row_sizes.iter().rposition(|&size| size > 1);
        let stick = row
            .iter()
            .position(|&dim| Some(dim) == stick)
            .or_else(last)
            .ok_or(LayoutError::TableOfElements { dim: indexed })?;
        let of_row =
            Self::new(&HostTensor::new(&row_sizes, &row_strides)?, format, &DimOrder::with_stick(&row_sizes, stick))?;
        let stride = if sizes[indexed] == 1 { -1 } else { host.strides()[indexed] };
        let device_size = [&[sizes[indexed]], of_row.device_size()].concat();
        let stride_map = [&[stride], of_row.stride_map()].concat();
        Self::from_parts(device_size, stride_map, format)
    }

    /// Returns the host dimension in the sticks; `None` if each stick holds one element, or if the layout does not have
    /// the simple structure of [`DeviceLayout::host_dims`].
    #[must_use]
    pub fn stick_dim(&self, host: &HostTensor) -> Option<usize> {
        self.host_dims(host).ok()?.iter().position(|place| matches!(place, HostDimMapping::Stick { .. }))
    }

    /// Returns the device dimension along which an index into host dimension `dim` moves. The gather must not move
    /// along a dimension outside of it: the files do not state the size of a table, so only the outermost step may
    /// depend on the index (torch-spyre's `enforce_indirect_access_layout`). `is_fixed` returns whether the gather
    /// reads a single position of a device dimension.
    ///
    /// # Errors
    /// If the dimension is in the sticks or inside of another moving one; otherwise those of
    /// [`DeviceLayout::host_dims`].
    pub fn find_indexed_dim(
        &self,
        host: &HostTensor,
        dim: usize,
        is_fixed: impl Fn(usize) -> bool,
    ) -> Result<usize, LayoutError> {
        let found = match self.host_dims(host)?.get(dim) {
            Some(HostDimMapping::Whole { device_dim }) => Some(*device_dim),
            // A table of one row has no step; the first device dimension without host elements represents it.
            Some(HostDimMapping::Unit) => {
                self.stride_map().iter().take(self.rank() - 1).position(|&stride| stride == -1)
            }
            Some(HostDimMapping::Stick { .. }) | None => None,
        };
        let is_outermost =
            |&device_dim: &usize| (0..device_dim).all(|outer| self.device_size()[outer] == 1 || is_fixed(outer));
        found.filter(is_outermost).ok_or(LayoutError::NotOutermost { dim })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFormat::{IeeeFp32, Sen169Fp16};

    fn table_sizes_and_strides(sizes: &[i64], indexed: usize) -> (Vec<i64>, Vec<i64>) {
        let layout = DeviceLayout::new_table(sizes, indexed, None, Sen169Fp16).unwrap();
        let host = HostTensor::row_major(sizes).unwrap();
        assert_eq!(layout.find_indexed_dim(&host, indexed, |_| false), Ok(0), "{layout}");
        (layout.device_size().to_vec(), layout.stride_map().to_vec())
    }

    #[test]
    fn places_indexed_dim_outermost() {
        assert_eq!(table_sizes_and_strides(&[512, 128], 0), (vec![512, 2, 64], vec![128, 64, 1]));
        assert_eq!(table_sizes_and_strides(&[512, 100], 0), (vec![512, 2, 64], vec![100, 64, 1]));
        assert_eq!(table_sizes_and_strides(&[4, 128, 256], 1), (vec![128, 4, 4, 64], vec![256, 64, 32768, 1]));
        assert_eq!(table_sizes_and_strides(&[8, 128], 1), (vec![128, 1, 64], vec![1, 8192, 128]));
        assert_eq!(table_sizes_and_strides(&[128, 4, 1], 0), (vec![128, 1, 1, 64], vec![4, 64, -1, 1]));
    }

    #[test]
    fn keeps_requested_stick() {
        let layout = DeviceLayout::new_table(&[128, 4, 256], 1, Some(0), Sen169Fp16).unwrap();
        assert_eq!((layout.device_size(), layout.stride_map()), (&[4, 2, 256, 64][..], &[256, 65536, 1, 1024][..]));
    }

    #[test]
    fn keeps_dimension_of_single_row() {
        assert_eq!(table_sizes_and_strides(&[1, 256], 0), (vec![1, 4, 64], vec![-1, 64, 1]));
    }

    #[test]
    fn rejects_table_without_dimension_for_sticks() {
        let rejected = |sizes: &[i64]| DeviceLayout::new_table(sizes, 0, None, IeeeFp32);
        assert_eq!(rejected(&[512]), Err(LayoutError::TableOfElements { dim: 0 }));
        assert_eq!(rejected(&[512, 1]), Err(LayoutError::TableOfElements { dim: 0 }));
    }

    #[test]
    fn rejects_indexed_dim_inside_another_dim() {
        let host = HostTensor::row_major(&[512, 128]).unwrap();
        let rows = DeviceLayout::row_major(&[512, 128], Sen169Fp16).unwrap();
        assert_eq!(
            rows.find_indexed_dim(&host, 0, |_| false),
            Err(LayoutError::NotOutermost { dim: 0 }),
            "2 sticks are outside"
        );
        assert_eq!(
            rows.find_indexed_dim(&host, 1, |_| false),
            Err(LayoutError::NotOutermost { dim: 1 }),
            "it is the stick"
        );
        let narrow = DeviceLayout::row_major(&[512, 64], Sen169Fp16).unwrap();
        assert_eq!(
            narrow.find_indexed_dim(&HostTensor::row_major(&[512, 64]).unwrap(), 0, |_| false),
            Ok(1),
            "one stick is outside"
        );
    }
}
