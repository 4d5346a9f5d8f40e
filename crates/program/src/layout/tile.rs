//! Layout of a tile that is a buffer of its own.

use super::{DeviceLayout, HostDim, HostTensor, LayoutError, sticks_needed};

impl DeviceLayout {
    /// The layout of a tensor with sizes `tile` whose device dimensions stand in the same order as those of `host` here. It is compact:
    /// a buffer of the tile's own, not a window of the larger one.
    ///
    /// # Errors
    /// When a tile would end inside a stick of the larger tensor, or this layout is not of the simple form of
    /// [`DeviceLayout::host_dims`].
    pub fn of_tile(&self, host: &HostTensor, tile: &[i64]) -> Result<Self, LayoutError> {
        let strides = HostTensor::row_major(tile)?;
        let stick = self.format().elements_per_stick();
        let (mut device_size, mut stride_map) = (self.device_size().to_vec(), self.stride_map().to_vec());
        for (dim, place) in self.host_dims(host)?.into_iter().enumerate() {
            let (size, stride) = (tile[dim], strides.strides()[dim]);
            match place {
                HostDim::Unit => {}
                HostDim::Whole { device_dim } => {
                    device_size[device_dim] = size;
                    stride_map[device_dim] = if size == 1 { -1 } else { stride };
                }
                HostDim::Stick { count, within } => {
                    if size != host.sizes()[dim] && size % stick != 0 {
                        return Err(LayoutError::CutsStick { dim, elements: size, stick });
                    }
                    device_size[count] = sticks_needed(size, stick);
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
    fn a_tile_keeps_the_order_and_gets_strides_of_its_own() {
        let host = HostTensor::row_major(&[1024, 4096]).unwrap();
        let tile = DeviceLayout::row_major(&[1024, 4096], Sen169Fp16).unwrap().of_tile(&host, &[512, 1024]).unwrap();
        assert_eq!((tile.device_size(), tile.stride_map()), (&[16, 512, 64][..], &[64, 1024, 1][..]));
    }

    #[test]
    fn a_sparse_tensor_keeps_one_element_a_stick() {
        let host = HostTensor::row_major(&[512, 1]).unwrap();
        let tile = DeviceLayout::sparse(&[512, 1], 1, Sen169Fp16).unwrap().of_tile(&host, &[256, 1]).unwrap();
        assert_eq!((tile.device_size(), tile.stride_map()), (&[1, 256, 64][..], &[-1, 1, -1][..]));
    }

    #[test]
    fn a_tile_must_not_cut_a_stick() {
        let host = HostTensor::row_major(&[8, 96]).unwrap();
        let layout = DeviceLayout::row_major(&[8, 96], Sen169Fp16).unwrap();
        assert_eq!(layout.of_tile(&host, &[8, 48]), Err(LayoutError::CutsStick { dim: 1, elements: 48, stick: 64 }));
        assert!(layout.of_tile(&host, &[4, 96]).is_ok(), "an untouched dimension may end inside a stick");
    }
}
