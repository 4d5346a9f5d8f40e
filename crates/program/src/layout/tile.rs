//! Layout of a tile that is a separate buffer.

use super::{DeviceLayout, HostDimMapping, HostTensor, LayoutError, count_sticks};

impl DeviceLayout {
    /// Returns the layout of a tensor with sizes `tile` whose device dimensions have the same order as those of `host`
    /// in this layout. It is compact: a separate buffer, not a window of the larger one.
    ///
    /// # Errors
    /// If a tile would end inside a stick of the larger tensor, or if this layout does not have the simple structure of
    /// [`DeviceLayout::host_dims`].
    pub fn to_tile_layout(&self, host: &HostTensor, tile: &[i64]) -> Result<Self, LayoutError> {
        let strides = HostTensor::row_major(tile)?;
        let stick = self.format().elements_per_stick();
        let (mut device_size, mut stride_map) = (self.device_size().to_vec(), self.stride_map().to_vec());
        for (dim, place) in self.host_dims(host)?.into_iter().enumerate() {
            let (size, stride) = (tile[dim], strides.strides()[dim]);
            match place {
                HostDimMapping::Unit => {}
                HostDimMapping::Whole { device_dim } => {
                    device_size[device_dim] = size;
                    stride_map[device_dim] = if size == 1 { -1 } else { stride };
                }
                HostDimMapping::Stick { count, within } => {
                    if size != host.sizes()[dim] && size % stick != 0 {
                        return Err(LayoutError::CutsStick { dim, elements: size, stick });
                    }
                    device_size[count] = count_sticks(size, stick);
                    (stride_map[count], stride_map[within]) = (stride * stick, stride);
                }
            }
        }
        Self::from_parts(device_size, stride_map, self.format())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFormat::Sen169Fp16;

    #[test]
    fn keeps_dim_order_and_computes_compact_strides() {
        let host = HostTensor::row_major(&[1024, 4096]).unwrap();
        let tile =
            DeviceLayout::row_major(&[1024, 4096], Sen169Fp16).unwrap().to_tile_layout(&host, &[512, 1024]).unwrap();
        assert_eq!((tile.device_size(), tile.stride_map()), (&[16, 512, 64][..], &[64, 1024, 1][..]));
    }

    #[test]
    fn keeps_one_element_per_stick_of_sparse_tensor() {
        let host = HostTensor::row_major(&[512, 1]).unwrap();
        let tile = DeviceLayout::sparse(&[512, 1], 1, Sen169Fp16).unwrap().to_tile_layout(&host, &[256, 1]).unwrap();
        assert_eq!((tile.device_size(), tile.stride_map()), (&[1, 256, 64][..], &[-1, 1, -1][..]));
    }

    #[test]
    fn rejects_tile_that_cuts_a_stick() {
        let host = HostTensor::row_major(&[8, 96]).unwrap();
        let layout = DeviceLayout::row_major(&[8, 96], Sen169Fp16).unwrap();
        assert_eq!(
            layout.to_tile_layout(&host, &[8, 48]),
            Err(LayoutError::CutsStick { dim: 1, elements: 48, stick: 64 })
        );
        assert!(layout.to_tile_layout(&host, &[4, 96]).is_ok(), "an untouched dimension may end inside a stick");
    }
}
