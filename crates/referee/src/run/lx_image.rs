//! Contents of LX before the first launch.

use crate::error::SimError;
use crate::machine::{Machine, RegionId};

/// Bytes in the LX of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LxImage {
    /// The core.
    pub core: i64,
    /// The address of the first byte.
    pub address: i64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

pub(crate) fn preload(images: &[LxImage], machine: &mut Machine) -> Result<(), SimError> {
    for image in images {
        let writer = machine.writer("the caller");
        let region = machine.region_mut(RegionId::Lx(image.core));
        let start = usize::try_from(image.address).ok().filter(|start| start + image.bytes.len() <= region.capacity);
        let Some(start) = start else {
            return Err(SimError::Array { name: region.name.clone(), message: "the image does not fit".to_owned() });
        };
        region.ensure(start + image.bytes.len());
        region.keep_values();
        region.write(start, &image.bytes);
        region.mark_written(start, start + image.bytes.len(), writer);
    }
    Ok(())
}
