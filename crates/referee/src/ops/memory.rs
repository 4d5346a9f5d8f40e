//! Memory interface of the ops: they read and write the device's bytes or companion elements.

use crate::machine::access::TensorSlice;
use crate::machine::{Machine, RegionId};
use crate::number::{POISON_BYTE, decode_run, element_width, encode_run};
use element::Arithmetic;
use machine::DeviceFormat;

use super::function::DeviceArithmetic;

/// Element type of a memory.
pub(crate) type MemoryElement<M> = <<M as ElementMemory>::Arithmetic as Arithmetic>::Element;

/// Evenly spaced elements of one tensor on one core.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StridedElements<'p> {
    pub(crate) format: DeviceFormat,
    pub(crate) part: &'p TensorSlice,
    /// Offset of the first element from the start of the slice, in elements.
    pub(crate) offset: i64,
    /// Distance of two elements, in elements.
    pub(crate) stride: i64,
}

impl StridedElements<'_> {
    /// Returns the byte of the region at which an element of a format that is not packed begins.
    pub(crate) fn byte_offset(&self, index: usize) -> usize {
        (self.part.byte + (self.offset + self.stride * index as i64) * self.format.bytes()) as usize
    }

    /// Returns the bit of the region at which the first element begins.
    pub(crate) fn first_bit(&self) -> usize {
        (self.part.byte * 8 + self.offset * self.format.bits()) as usize
    }
}

/// Memory that ops read.
pub(crate) trait ElementMemory: Sync {
    /// Arithmetic of the ops on this memory.
    type Arithmetic: Arithmetic;
    /// Unit of storage: an element or a fraction of an element.
    type Cell: Copy + Send;

    fn arithmetic(&self) -> &Self::Arithmetic;

    /// Returns the machine. Its bytes hold the indices of every execution.
    fn machine(&self) -> &Machine;

    /// Returns the element of an op's constant, from the device's number and the program's number.
    fn constant(&self, device: f32, exact: f64) -> MemoryElement<Self>
    where
        Self: Sized;

    /// Reads elements.
    fn read(&self, from: StridedElements<'_>, out: &mut [MemoryElement<Self>])
    where
        Self: Sized;

    /// Appends elements without a conversion.
    fn copy(&self, from: StridedElements<'_>, count: usize, out: &mut Vec<Self::Cell>);

    /// Appends elements as a store rounds them.
    fn encode(&self, format: DeviceFormat, elements: &[MemoryElement<Self>], out: &mut Vec<Self::Cell>)
    where
        Self: Sized;

    /// Returns the number of cells per element.
    fn cells_per_element(format: DeviceFormat) -> usize;

    /// Returns a cell of poison.
    fn poison(&self) -> Self::Cell;
}

/// Memory that stores write to.
pub(crate) trait ElementStore {
    type Cell: Copy;

    /// Returns the number of cells per element.
    fn cells_per_element(format: DeviceFormat) -> usize;

    /// Stores consecutive elements, beginning at a byte of a region.
    fn write(&mut self, region: RegionId, byte: usize, format: DeviceFormat, cells: &[Self::Cell]);
}

impl ElementMemory for Machine {
    type Arithmetic = DeviceArithmetic;
    type Cell = u8;

    fn arithmetic(&self) -> &DeviceArithmetic {
        &DeviceArithmetic
    }

    fn machine(&self) -> &Machine {
        self
    }

    fn constant(&self, device: f32, _exact: f64) -> f32 {
        device
    }

    fn read(&self, from: StridedElements<'_>, out: &mut [f32]) {
        if !out.is_empty() {
            decode_run(from.format, self.bytes(from.part.region), from.first_bit(), from.stride, out);
        }
    }

    fn copy(&self, from: StridedElements<'_>, count: usize, out: &mut Vec<u8>) {
        let (bytes, width) = (self.bytes(from.part.region), element_width(from.format));
        if from.stride == 1 {
            out.extend_from_slice(&bytes[from.byte_offset(0)..][..count * width]);
        } else {
            (0..count).for_each(|index| out.extend_from_slice(&bytes[from.byte_offset(index)..][..width]));
        }
    }

    fn encode(&self, format: DeviceFormat, elements: &[f32], out: &mut Vec<u8>) {
        encode_run(format, elements, out);
    }

    fn cells_per_element(format: DeviceFormat) -> usize {
        element_width(format)
    }

    fn poison(&self) -> u8 {
        POISON_BYTE
    }
}

impl ElementStore for Machine {
    type Cell = u8;

    fn cells_per_element(format: DeviceFormat) -> usize {
        element_width(format)
    }

    fn write(&mut self, region: RegionId, byte: usize, _format: DeviceFormat, cells: &[u8]) {
        self.region_mut(region).write(byte, cells);
    }
}
