//! Contents of LX before the first launch and after the last one.

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

/// Bytes in the LX of a core to read after the last launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LxRange {
    /// The core.
    pub core: i64,
    /// The address of the first byte.
    pub address: i64,
    /// The number of bytes.
    pub bytes: i64,
}

/// Reads ranges that ops or the caller have written.
pub(crate) fn read_lx_ranges(ranges: &[LxRange], machine: &Machine) -> Result<Vec<LxImage>, SimError> {
    let read = |&LxRange { core, address, bytes }: &LxRange| {
        let region = machine.region(RegionId::Lx(core));
        let (start, end) =
            (usize::try_from(address).ok(), address.checked_add(bytes).and_then(|end| usize::try_from(end).ok()));
        let found = match (region, start, end) {
            (Some(region), Some(start), Some(end)) if region.find_unwritten(start, end).is_none() => {
                region.bytes().get(start..end)
            }
            _ => None,
        };
        let message =
            format!("bytes {address} to {} have no value after the last launch", address.saturating_add(bytes));
        let bytes = found.ok_or_else(|| SimError::Array { name: format!("LX of core {core}"), message })?.to_vec();
        Ok(LxImage { core, address, bytes })
    };
    ranges.iter().map(read).collect()
}

pub(crate) fn preload_lx(images: &[LxImage], machine: &mut Machine) -> Result<(), SimError> {
    for image in images {
        let writer = machine.register_writer("the caller");
        let region = machine.region_mut(RegionId::Lx(image.core));
        let start = usize::try_from(image.address).ok().filter(|start| start + image.bytes.len() <= region.capacity);
        let Some(start) = start else {
            return Err(SimError::Array { name: region.name.clone(), message: "the image does not fit".to_owned() });
        };
        region.ensure_length(start + image.bytes.len());
        region.enable_values();
        region.write(start, &image.bytes);
        region.mark_written(start, start + image.bytes.len(), writer);
    }
    Ok(())
}
