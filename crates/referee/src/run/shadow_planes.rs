//! Companion elements of the device's numbers, one plane for each region of the machine.

use crate::account::rounding::OpRoundingError;
use crate::load::host::HostArray;
use crate::load::layout::DeviceLayout;
use crate::machine::access::TensorSlices;
use crate::machine::{Machine, RegionId};
use crate::number::{decode_run, to_program_number};
use crate::ops::{ElementMemory, ElementStore, EncodedSlice, StridedElements, store_slice};
use crate::plan::OpPlan;
use crate::run::execute::compute_results;
use crate::run::shadow_memory::{ShadowArithmetic, ShadowInput, ShadowMemory};
use machine::{DeviceFormat, STICK_BYTES};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Number of slots per stick: a two-byte element has one slot, a four-byte element uses every second one.
const SLOTS_PER_STICK: usize = STICK_BYTES as usize / SLOT_BYTES;
const SLOT_BYTES: usize = 2;

/// Number of slots that are allocated together in host memory.
const SLOTS_PER_PAGE: usize = 64 * SLOTS_PER_STICK;

/// Companion elements of one region.
pub(crate) struct ShadowPlane<E> {
    /// Format in which each stick was written.
    formats: Vec<Option<DeviceFormat>>,
    /// The elements of each page; `None` while no element of it is written.
    pages: Vec<Vec<E>>,
}

impl<E: Copy> ShadowPlane<E> {
    /// Returns the element that begins at a byte.
    fn get(&self, byte: usize) -> Option<E> {
        let slot = byte / SLOT_BYTES;
        self.pages.get(slot / SLOTS_PER_PAGE)?.get(slot % SLOTS_PER_PAGE).copied()
    }

    /// Reads consecutive elements, beginning at a byte. An element that was not written in this format is poison.
    fn read_run(&self, byte: usize, format: DeviceFormat, out: &mut [E], poison: E) {
        let (width, stick_bytes) = (format.bytes() as usize, STICK_BYTES as usize);
        let slots_per_element = width / SLOT_BYTES;
        let (mut byte, mut rest) = (byte, out);
        while !rest.is_empty() {
            let in_stick = (stick_bytes - byte % stick_bytes).div_ceil(width).min(rest.len());
            let (elements, others) = rest.split_at_mut(in_stick);
            let slot = byte / SLOT_BYTES % SLOTS_PER_PAGE;
            let page = self
                .pages
                .get(byte / SLOT_BYTES / SLOTS_PER_PAGE)
                .filter(|page| !page.is_empty() && self.formats.get(byte / stick_bytes) == Some(&Some(format)));
            match page {
                Some(page) if slots_per_element == 1 => elements.copy_from_slice(&page[slot..slot + in_stick]),
                Some(page) => {
                    let slots = page[slot..].iter().step_by(slots_per_element);
                    elements.iter_mut().zip(slots).for_each(|(element, slot)| *element = *slot);
                }
                None => elements.fill(poison),
            }
            (byte, rest) = (byte + in_stick * width, others);
        }
    }

    /// Returns the slots of the page that contains a byte, and the index of the byte's slot.
    fn page_mut(&mut self, byte: usize, poison: E) -> (&mut [E], usize) {
        let slot = byte / SLOT_BYTES;
        let page = &mut self.pages[slot / SLOTS_PER_PAGE];
        if page.is_empty() {
            page.resize(SLOTS_PER_PAGE, poison);
        }
        (page, slot % SLOTS_PER_PAGE)
    }

    fn set(&mut self, byte: usize, element: E, poison: E) {
        let (page, slot) = self.page_mut(byte, poison);
        page[slot] = element;
    }

    /// Stores consecutive elements, beginning at a byte.
    pub(crate) fn write(&mut self, byte: usize, format: DeviceFormat, cells: &[E], poison: E) {
        let (width, stick_bytes) = (format.bytes() as usize, STICK_BYTES as usize);
        let end = (byte + cells.len() * width).div_ceil(stick_bytes);
        if self.formats.len() < end {
            self.formats.resize(end, None);
            self.pages.resize((end * SLOTS_PER_STICK).div_ceil(SLOTS_PER_PAGE), Vec::new());
        }
        for stick in byte / stick_bytes..end {
            if self.formats[stick] != Some(format) {
                self.formats[stick] = Some(format);
                let (page, slot) = self.page_mut(stick * stick_bytes, poison);
                page[slot..slot + SLOTS_PER_STICK].fill(poison);
            }
        }
        for (index, cell) in cells.iter().enumerate() {
            self.set(byte + index * width, *cell, poison);
        }
    }
}

/// Companion elements of all regions.
pub(crate) struct ShadowPlanes<'a, A: ShadowArithmetic> {
    arithmetic: &'a A,
    regions: BTreeMap<RegionId, ShadowPlane<A::Element>>,
    replaces_numbers: bool,
}

/// Returns whether numbers of a format have companion elements.
pub(crate) const fn is_float(format: DeviceFormat) -> bool {
    matches!(format, DeviceFormat::Sen169Fp16 | DeviceFormat::IeeeFp32)
}

/// Returns whether an array has floating-point numbers.
pub(crate) fn is_float_array(array: &HostArray) -> bool {
    array.elements.element_type().is_float()
}

/// Returns whether a format is wide enough for companion elements.
pub(crate) const fn can_hold_shadow(format: DeviceFormat) -> bool {
    format.bytes() >= SLOT_BYTES as i64
}

impl<'a, A: ShadowArithmetic> ShadowPlanes<'a, A> {
    pub(crate) const fn new(arithmetic: &'a A) -> Self {
        Self { arithmetic, regions: BTreeMap::new(), replaces_numbers: false }
    }

    /// Returns companion planes that replace the device's numbers, which are not computed. The program must have
    /// floating-point numbers only.
    pub(crate) const fn new_standalone(arithmetic: &'a A) -> Self {
        Self { arithmetic, regions: BTreeMap::new(), replaces_numbers: true }
    }

    /// Returns the plane of a region to write to.
    pub(crate) fn plane_mut(&mut self, region: RegionId) -> &mut ShadowPlane<A::Element> {
        self.regions.entry(region).or_insert_with(|| ShadowPlane { formats: Vec::new(), pages: Vec::new() })
    }

    /// Returns a function that reads the companion element at a byte of a region.
    pub(crate) fn element_reader(&self, region: RegionId, format: DeviceFormat) -> impl Fn(usize) -> A::Element {
        let (plane, poison) = (self.regions.get(&region), self.arithmetic.poison());
        move |byte| match plane {
            Some(plane) if plane.formats.get(byte / STICK_BYTES as usize) == Some(&Some(format)) => {
                plane.get(byte).unwrap_or(poison)
            }
            _ => poison,
        }
    }

    /// Reads the elements of an array, row-major, and the device's numbers.
    pub(crate) fn read_array(
        &self,
        region: RegionId,
        layout: &DeviceLayout,
        machine: &Machine,
    ) -> (Vec<A::Element>, Vec<f32>) {
        let length = layout.num_host_elements();
        let (mut elements, mut device) = (vec![self.arithmetic.poison(); length], vec![f32::NAN; length]);
        let (numbers, read) =
            (decode_region(machine, region, layout.format), self.element_reader(region, layout.format));
        layout.for_each_element(|index, byte| {
            device[index] = numbers[byte / layout.format.bytes() as usize];
            elements[index] = match is_float(layout.format) {
                true => read(byte),
                false => self.arithmetic.embed_value(device[index].into(), device[index]),
            };
        });
        (elements, device)
    }
}

/// Decodes all device's numbers of a region.
fn decode_region(machine: &Machine, region: RegionId, format: DeviceFormat) -> Vec<f32> {
    let bytes = machine.bytes(region);
    let mut numbers = vec![0.0; bytes.len() / format.bytes() as usize];
    decode_run(format, bytes, 0, 1, &mut numbers);
    numbers
}

/// Device's bytes with their companion elements.
pub(crate) struct MemoryWithShadow<'m, 'a, A: ShadowArithmetic> {
    pub(crate) machine: &'m Machine,
    pub(crate) planes: &'m ShadowPlanes<'a, A>,
}

impl<A: ShadowArithmetic> ElementMemory for MemoryWithShadow<'_, '_, A> {
    type Arithmetic = A;
    type Cell = A::Element;

    fn arithmetic(&self) -> &A {
        self.planes.arithmetic
    }

    fn machine(&self) -> &Machine {
        self.machine
    }

    fn constant(&self, device: f32, exact: f64) -> A::Element {
        self.arithmetic().embed_value(exact, device)
    }

    fn read(&self, from: StridedElements<'_>, out: &mut [A::Element]) {
        if is_float(from.format) {
            let (plane, poison) = (self.planes.regions.get(&from.part.region), self.arithmetic().poison());
            match plane {
                Some(plane) if from.stride == 1 => plane.read_run(from.byte_offset(0), from.format, out, poison),
                _ => {
                    let read = self.planes.element_reader(from.part.region, from.format);
                    out.iter_mut().enumerate().for_each(|(index, element)| *element = read(from.byte_offset(index)));
                }
            }
        } else if !out.is_empty() {
            let mut numbers = vec![0.0; out.len()];
            decode_run(from.format, self.machine.bytes(from.part.region), from.first_bit(), from.stride, &mut numbers);
            out.iter_mut()
                .zip(numbers)
                .for_each(|(element, number)| *element = self.arithmetic().embed_value(number.into(), number));
        }
    }

    fn copy(&self, from: StridedElements<'_>, count: usize, out: &mut Vec<A::Element>) {
        let start = out.len();
        out.resize(start + count, self.poison());
        self.read(from, &mut out[start..]);
    }

    fn encode(&self, format: DeviceFormat, elements: &[A::Element], out: &mut Vec<A::Element>) {
        out.extend(elements.iter().map(|element| self.arithmetic().round_for_store(format, *element)));
    }

    fn cells_per_element(_format: DeviceFormat) -> usize {
        1
    }

    fn poison(&self) -> A::Element {
        self.arithmetic().poison()
    }
}

impl<A: ShadowArithmetic> ElementStore for ShadowPlanes<'_, A> {
    type Cell = A::Element;

    fn cells_per_element(_format: DeviceFormat) -> usize {
        1
    }

    fn write(&mut self, region: RegionId, byte: usize, format: DeviceFormat, cells: &[A::Element]) {
        let poison = self.arithmetic.poison();
        self.plane_mut(region).write(byte, format, cells, poison);
    }
}

impl<A: ShadowArithmetic> ShadowMemory for ShadowPlanes<'_, A> {
    fn execute_op(
        &mut self,
        plan: &Arc<OpPlan>,
        parts: &TensorSlices,
        leaders: &[usize],
        machine: &Machine,
        device: &[(usize, EncodedSlice<u8>)],
    ) -> OpRoundingError {
        let own = compute_results(plan, parts, leaders, &MemoryWithShadow { machine, planes: self });
        let format = plan.tensors[plan.output].format;
        let mut error = OpRoundingError::default();
        let mut numbers = Vec::new();
        for ((_, device), (_, own)) in device.iter().zip(&own).filter(|_| is_float(format)) {
            numbers.resize(own.cells().len(), 0.0);
            decode_run(format, device.cells(), 0, 1, &mut numbers);
            own.cells()
                .iter()
                .zip(&numbers)
                .for_each(|(element, number)| self.arithmetic.record_error(*element, *number, &mut error));
        }
        let poison = self.arithmetic.poison();
        own.iter().for_each(|(core, stored)| store_slice(plan, *core, parts, stored, poison, self));
        error
    }

    fn store_input(&mut self, given: &ShadowInput<'_>, machine: &Machine) {
        let format = given.layout.format;
        if !is_float(format) {
            return;
        }
        let (arithmetic, poison) = (self.arithmetic, self.arithmetic.poison());
        let bytes = machine.bytes(given.region);
        // The padding of a constant has numbers, too.
        let padding = |number: &f32| match given.argument {
            Some(_) => arithmetic.poison(),
            None => arithmetic.embed_value(to_program_number(format, *number), *number),
        };
        // In pieces, because large inputs would need several times their memory.
        let mut numbers = vec![0.0; SLOTS_PER_PAGE];
        let mut cells = Vec::with_capacity(SLOTS_PER_PAGE);
        let width = format.bytes() as usize;
        for (start, piece) in (0..).step_by(SLOTS_PER_PAGE * width).zip(bytes.chunks(SLOTS_PER_PAGE * width)) {
            numbers.truncate(piece.len() / width);
            decode_run(format, piece, 0, 1, &mut numbers);
            cells.clear();
            cells.extend(numbers.iter().map(padding));
            self.write(given.region, start, format, &cells);
        }
        let (Some(exact), Some(plane)) = (given.exact, self.regions.get_mut(&given.region)) else { return };
        let is_number = is_float_array(exact);
        given.layout.for_each_element(|index, byte| {
            let mut device = [0.0];
            decode_run(format, bytes, 8 * byte, 1, &mut device);
            let number = exact.elements.get(index);
            let element = match given.argument.filter(|_| is_number) {
                Some(argument) => arithmetic.embed_argument(argument, index as u64, number, device[0]),
                None => arithmetic.embed_value(number, device[0]),
            };
            plane.set(byte, element, poison);
        });
    }

    fn release_region(&mut self, region: RegionId) {
        self.regions.remove(&region);
    }

    fn end_live_range(&mut self, region: RegionId, start: usize, end: usize) {
        let Some(plane) = self.regions.get_mut(&region) else { return };
        let stick = STICK_BYTES as usize;
        let end = end.div_ceil(stick).min(plane.formats.len());
        plane.formats[(start / stick).min(end)..end].fill(None);
    }

    fn replaces_numbers(&self) -> bool {
        self.replaces_numbers
    }
}
