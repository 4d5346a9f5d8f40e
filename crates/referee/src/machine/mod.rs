//! SimulatedArithmetic machine: buffers in HBM at addresses, and one LX per core.

pub(crate) mod access;
pub(crate) mod memory;

use crate::error::SimError;
use crate::load::live_ranges::LiveRangeId;
use crate::machine::memory::{MemoryRegion, WriterId};
use std::collections::BTreeMap;

/// Memory region: a buffer in HBM or the LX of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RegionId {
    /// A buffer in HBM, by number.
    Hbm(usize),
    /// The LX of a core.
    Lx(i64),
}

/// Location of bytes in a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryLocation {
    pub(crate) region: RegionId,
    pub(crate) byte: i64,
    /// End of the usable bytes: the end of the tensor or of the region, whichever is first.
    pub(crate) end: i64,
}

/// Extent of a tensor in HBM: the bytes of a buffer from `start` to `end`, truncated at the end of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BufferExtent {
    pub(crate) buffer: usize,
    pub(crate) start: i64,
    pub(crate) end: i64,
}

impl BufferExtent {
    /// Returns the extent of a complete buffer.
    pub(crate) const fn whole_buffer(buffer: usize) -> Self {
        Self { buffer, start: 0, end: i64::MAX }
    }
}

/// Mapping of a tensor to an address, for one launch.
#[derive(Clone, Copy, Debug)]
struct AddressMapping {
    base: i64,
    extent: BufferExtent,
}

/// HBM and LX of the simulated machine.
#[derive(Debug)]
pub(crate) struct Machine {
    buffers: Vec<MemoryRegion>,
    lx: BTreeMap<i64, MemoryRegion>,
    lx_bytes: usize,
    mappings: Vec<AddressMapping>,
    /// Distance of the addresses of successive buffers, in bytes.
    segment: i64,
    /// Free bytes of HBM.
    free: i64,
    limit: i64,
    /// Name of each writer, as an index of `names`.
    writers: Vec<usize>,
    names: Vec<String>,
    /// Writer that began each live range in LX.
    begun: BTreeMap<LiveRangeId, WriterId>,
    /// For each writer of a later slice of a value, the writer that began the value.
    continued: BTreeMap<WriterId, WriterId>,
    /// Whether new memory has values.
    has_values: bool,
}

impl Machine {
    pub(crate) fn new(segment: i64, lx_bytes: i64, limit: i64) -> Self {
        Self {
            buffers: Vec::new(),
            lx: BTreeMap::new(),
            lx_bytes: usize::try_from(lx_bytes).unwrap_or(0),
            mappings: Vec::new(),
            segment,
            free: limit,
            limit,
            writers: vec![0],
            names: vec!["nobody".to_owned()],
            begun: BTreeMap::new(),
            continued: BTreeMap::new(),
            has_values: true,
        }
    }

    /// Returns the machine with values switched off for new memory, which records only the writers of bytes.
    pub(crate) fn without_values(self) -> Self {
        Self { has_values: false, ..self }
    }

    /// Returns whether ops compute values.
    pub(crate) const fn has_values(&self) -> bool {
        self.has_values
    }

    /// Allocates a poisoned buffer in HBM.
    pub(crate) fn allocate(&mut self, name: &str, bytes: i64) -> Result<usize, SimError> {
        let size = usize::try_from(bytes).ok().filter(|_| bytes <= self.free);
        let size =
            size.ok_or_else(|| SimError::TooMuchMemory { what: format!("'{name}'"), bytes, limit: self.limit })?;
        self.free -= bytes;
        let mut region = new_region(self.has_values, format!("'{name}' ({bytes} bytes)"), size);
        region.ensure_length(size);
        self.buffers.push(region);
        Ok(self.buffers.len() - 1)
    }

    /// Allocates a poisoned buffer of unknown size. It may grow to `bytes`, within the free HBM.
    pub(crate) fn reserve(&mut self, name: &str, bytes: i64) -> usize {
        let size = bytes.min(self.free).max(0);
        self.free -= size;
        self.buffers.push(new_region(self.has_values, format!("'{name}' (at most {size} bytes)"), size as usize));
        self.buffers.len() - 1
    }

    /// Frees the memory of a dead buffer.
    pub(crate) fn release(&mut self, buffer: usize) {
        let region = &mut self.buffers[buffer];
        self.free += region.capacity as i64;
        region.capacity = 0;
        region.wipe();
    }

    /// Returns the address of a segment, counted from 0.
    pub(crate) fn segment_address(&self, segment: usize) -> i64 {
        self.segment.saturating_mul(segment as i64)
    }

    /// Maps a tensor to an address until [`Self::unmap_all`].
    pub(crate) fn map_tensor(&mut self, extent: BufferExtent, base: i64) {
        self.mappings.push(AddressMapping { base, extent });
    }

    pub(crate) fn unmap_all(&mut self) {
        self.mappings.clear();
    }

    /// Returns the buffer of an HBM address: the buffer that starts at or below it, within a segment.
    pub(crate) fn find_buffer(&self, address: i64) -> Option<MemoryLocation> {
        let below =
            self.mappings.iter().filter(|mapping| mapping.base <= address && address - mapping.base < self.segment);
        let mapping = below.max_by_key(|mapping| mapping.base)?;
        let BufferExtent { buffer, start, end } = mapping.extent;
        let capacity = self.buffers[buffer].capacity as i64;
        Some(MemoryLocation {
            region: RegionId::Hbm(buffer),
            byte: start + (address - mapping.base),
            end: end.min(capacity),
        })
    }

    pub(crate) fn region(&self, id: RegionId) -> Option<&MemoryRegion> {
        match id {
            RegionId::Hbm(buffer) => self.buffers.get(buffer),
            RegionId::Lx(core) => self.lx.get(&core),
        }
    }

    /// Returns the bytes of a region; empty if the region is not in use, or has no values.
    pub(crate) fn bytes(&self, id: RegionId) -> &[u8] {
        self.region(id).map_or(&[], MemoryRegion::bytes)
    }

    /// Returns the bytes of the LX of a core.
    pub(crate) const fn lx_bytes(&self) -> i64 {
        self.lx_bytes as i64
    }

    /// Returns a region to write to. The LX of a core is allocated at the first call.
    pub(crate) fn region_mut(&mut self, id: RegionId) -> &mut MemoryRegion {
        match id {
            RegionId::Hbm(buffer) => &mut self.buffers[buffer],
            RegionId::Lx(core) => {
                let (bytes, has_values) = (self.lx_bytes, self.has_values);
                self.lx
                    .entry(core)
                    .or_insert_with(|| new_region(has_values, format!("LX of core {core} ({bytes} bytes)"), bytes))
            }
        }
    }

    /// Registers a writer with a name for messages.
    pub(crate) fn register_writer(&mut self, name: &str) -> WriterId {
        let known = self.names.iter().position(|other| other == name);
        let index = known.unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        self.writers.push(index);
        (self.writers.len() - 1) as WriterId
    }

    /// Records that a writer stores a value in LX: it begins the live range, or writes a later slice of it.
    pub(crate) fn record_value(&mut self, writer: WriterId, live_range: LiveRangeId, begins: bool) {
        if begins {
            self.begun.insert(live_range, writer);
        } else if let Some(first) = self.begun.get(&live_range) {
            self.continued.insert(writer, *first);
        }
    }

    /// Returns whether two writers of LX wrote slices of one value.
    pub(crate) fn wrote_same_value(&self, one: WriterId, other: WriterId) -> bool {
        let first = |writer: WriterId| self.continued.get(&writer).copied().unwrap_or(writer);
        first(one) == first(other)
    }

    pub(crate) fn writer_name(&self, writer: WriterId) -> &str {
        self.writers.get(writer as usize).map_or("nobody", |index| &self.names[*index])
    }

    /// Returns the LX of every core that has used it.
    pub(crate) fn lx_regions(&self) -> Vec<RegionId> {
        self.lx.keys().map(|core| RegionId::Lx(*core)).collect()
    }

    /// Poisons the LX of every core.
    pub(crate) fn wipe_lx(&mut self) {
        self.lx.values_mut().for_each(MemoryRegion::wipe);
    }

    /// Resets the counter of repeated reads.
    pub(crate) fn reset_reads(&mut self) {
        self.buffers.iter_mut().for_each(MemoryRegion::reset_reads);
    }
}

fn new_region(has_values: bool, name: String, capacity: usize) -> MemoryRegion {
    if has_values { MemoryRegion::new(name, capacity) } else { MemoryRegion::new_without_values(name, capacity) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resolves_address_to_buffer_below() {
        let mut machine = Machine::new(1 << 34, 2 << 20, 1 << 30);
        let first = machine.allocate("a", 256).unwrap();
        let second = machine.allocate("b", 256).unwrap();
        machine.map_tensor(BufferExtent::whole_buffer(first), machine.segment_address(1));
        machine.map_tensor(BufferExtent { buffer: second, start: 128, end: 192 }, machine.segment_address(2));
        assert_eq!(machine.find_buffer(0), None);
        assert_eq!(
            machine.find_buffer((1 << 34) + 300),
            Some(MemoryLocation { region: RegionId::Hbm(first), byte: 300, end: 256 })
        );
        assert_eq!(
            machine.find_buffer(2 << 34),
            Some(MemoryLocation { region: RegionId::Hbm(second), byte: 128, end: 192 })
        );
        machine.unmap_all();
        assert_eq!(machine.find_buffer(2 << 34), None);
    }

    #[test]
    fn recognizes_writers_of_one_live_range() {
        let mut machine = Machine::new(1 << 34, 2 << 20, 1 << 30);
        let writers = [(0, true), (0, false), (0, false), (256, true), (0, true), (0, false)].map(|(byte, begins)| {
            let writer = machine.register_writer("an op");
            machine.record_value(writer, (byte, 0), begins);
            writer
        });
        let with_first = writers.map(|writer| machine.wrote_same_value(writers[1], writer));
        assert_eq!(
            with_first,
            [true, true, true, false, false, false],
            "another life, and the same one in the next iteration"
        );
        assert!(machine.wrote_same_value(writers[4], writers[5]));
    }

    #[test]
    fn limits_memory() {
        let mut machine = Machine::new(1 << 34, 2 << 20, 1000);
        let buffer = machine.allocate("a", 900).unwrap();
        assert!(matches!(machine.allocate("b", 200), Err(SimError::TooMuchMemory { .. })));
        assert!(matches!(machine.allocate("c", -1), Err(SimError::TooMuchMemory { .. })));
        machine.release(buffer);
        assert!(machine.allocate("b", 200).is_ok());
    }
}
