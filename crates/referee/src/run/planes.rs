//! Companion elements of the device's numbers, for each region of the machine.

use crate::account::rounding::OpError;
use crate::load::host::HostArray;
use crate::load::layout::DeviceLayout;
use crate::machine::access::Parts;
use crate::machine::{Machine, RegionId};
use crate::number::{decode_run, meaning};
use crate::ops::{Elements, Memory, Stored, Written, write};
use crate::plan::Plan;
use crate::run::beside::{Beside, Companion, Given};
use crate::run::execute::results;
use machine::{DeviceFormat, STICK_BYTES};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Slots of a stick: elements of two bytes have one each, of four bytes every second one.
const SLOTS: usize = STICK_BYTES as usize / SLOT_BYTES;
const SLOT_BYTES: usize = 2;

/// Slots that get host memory together.
const PAGE: usize = 64 * SLOTS;

/// The elements of one region.
pub(crate) struct Plane<E> {
    /// Format in which each stick was written.
    formats: Vec<Option<DeviceFormat>>,
    /// The elements of each page; `None` while no element of it is written.
    pages: Vec<Vec<E>>,
}

impl<E: Copy> Plane<E> {
    /// The element that begins at a byte.
    fn get(&self, byte: usize) -> Option<E> {
        let slot = byte / SLOT_BYTES;
        self.pages.get(slot / PAGE)?.get(slot % PAGE).copied()
    }

    /// The slots of a page that has a byte, and where the byte is among them.
    fn page(&mut self, byte: usize, poison: E) -> (&mut [E], usize) {
        let slot = byte / SLOT_BYTES;
        let page = &mut self.pages[slot / PAGE];
        if page.is_empty() {
            page.resize(PAGE, poison);
        }
        (page, slot % PAGE)
    }

    fn set(&mut self, byte: usize, element: E, poison: E) {
        let (page, slot) = self.page(byte, poison);
        page[slot] = element;
    }

    /// Stores elements one after another, from a byte on.
    pub(crate) fn write(&mut self, byte: usize, format: DeviceFormat, cells: &[E], poison: E) {
        let (width, stick_bytes) = (format.bytes() as usize, STICK_BYTES as usize);
        let end = (byte + cells.len() * width).div_ceil(stick_bytes);
        if self.formats.len() < end {
            self.formats.resize(end, None);
            self.pages.resize((end * SLOTS).div_ceil(PAGE), Vec::new());
        }
        for stick in byte / stick_bytes..end {
            if self.formats[stick] != Some(format) {
                self.formats[stick] = Some(format);
                let (page, slot) = self.page(stick * stick_bytes, poison);
                page[slot..slot + SLOTS].fill(poison);
            }
        }
        for (index, cell) in cells.iter().enumerate() {
            self.set(byte + index * width, *cell, poison);
        }
    }
}

/// The elements of all regions.
pub(crate) struct Planes<'a, A: Companion> {
    arithmetic: &'a A,
    regions: BTreeMap<RegionId, Plane<A::Element>>,
    replaces_numbers: bool,
}

/// Whether numbers of a format have companion elements.
pub(crate) const fn is_float(format: DeviceFormat) -> bool {
    matches!(format, DeviceFormat::Sen169Fp16 | DeviceFormat::IeeeFp32)
}

/// Whether an array has floating-point numbers.
pub(crate) fn is_number(array: &HostArray) -> bool {
    array.elements.element_type().is_float()
}

/// Whether a format is wide enough for companion elements.
pub(crate) const fn fits(format: DeviceFormat) -> bool {
    format.bytes() >= SLOT_BYTES as i64
}

impl<'a, A: Companion> Planes<'a, A> {
    pub(crate) const fn new(arithmetic: &'a A) -> Self {
        Self { arithmetic, regions: BTreeMap::new(), replaces_numbers: false }
    }

    /// Returns companion planes that replace the device's numbers, for programs with floating-point numbers only: no device number is computed.
    pub(crate) const fn alone(arithmetic: &'a A) -> Self {
        Self { arithmetic, regions: BTreeMap::new(), replaces_numbers: true }
    }

    /// The elements of a region to write to.
    pub(crate) fn plane(&mut self, region: RegionId) -> &mut Plane<A::Element> {
        self.regions.entry(region).or_insert_with(|| Plane { formats: Vec::new(), pages: Vec::new() })
    }

    /// Returns a reader of the elements of a region.
    pub(crate) fn reader(&self, region: RegionId, format: DeviceFormat) -> impl Fn(usize) -> A::Element {
        let (plane, poison) = (self.regions.get(&region), self.arithmetic.poison());
        move |byte| match plane {
            Some(plane) if plane.formats.get(byte / STICK_BYTES as usize) == Some(&Some(format)) => plane.get(byte).unwrap_or(poison),
            _ => poison,
        }
    }

    /// The elements of an array, row-major, and the device's numbers.
    pub(crate) fn array(&self, region: RegionId, layout: &DeviceLayout, machine: &Machine) -> (Vec<A::Element>, Vec<f32>) {
        let length = layout.host_length();
        let (mut elements, mut device) = (vec![self.arithmetic.poison(); length], vec![f32::NAN; length]);
        let (numbers, read) = (numbers(machine, region, layout.format), self.reader(region, layout.format));
        layout.each_element(|index, byte| {
            device[index] = numbers[byte / layout.format.bytes() as usize];
            elements[index] = match is_float(layout.format) {
                true => read(byte),
                false => self.arithmetic.given(device[index].into(), device[index]),
            };
        });
        (elements, device)
    }
}

/// Returns all of the device's numbers of a region.
fn numbers(machine: &Machine, region: RegionId, format: DeviceFormat) -> Vec<f32> {
    let bytes = machine.bytes(region);
    let mut numbers = vec![0.0; bytes.len() / format.bytes() as usize];
    decode_run(format, bytes, 0, 1, &mut numbers);
    numbers
}

/// The device's bytes and their companion elements.
pub(crate) struct Both<'m, 'a, A: Companion> {
    pub(crate) machine: &'m Machine,
    pub(crate) planes: &'m Planes<'a, A>,
}

impl<A: Companion> Memory for Both<'_, '_, A> {
    type Arithmetic = A;
    type Cell = A::Element;

    fn arithmetic(&self) -> &A {
        self.planes.arithmetic
    }

    fn machine(&self) -> &Machine {
        self.machine
    }

    fn constant(&self, device: f32, exact: f64) -> A::Element {
        self.arithmetic().given(exact, device)
    }

    fn read(&self, from: Elements<'_>, out: &mut [A::Element]) {
        if is_float(from.format) {
            let read = self.planes.reader(from.part.region, from.format);
            out.iter_mut().enumerate().for_each(|(index, element)| *element = read(from.byte(index)));
        } else if !out.is_empty() {
            let mut numbers = vec![0.0; out.len()];
            decode_run(from.format, self.machine.bytes(from.part.region), from.byte(0), from.stride, &mut numbers);
            out.iter_mut().zip(numbers).for_each(|(element, number)| *element = self.arithmetic().given(number.into(), number));
        }
    }

    fn copy(&self, from: Elements<'_>, count: usize, out: &mut Vec<A::Element>) {
        let start = out.len();
        out.resize(start + count, self.poison());
        self.read(from, &mut out[start..]);
    }

    fn encode(&self, format: DeviceFormat, elements: &[A::Element], out: &mut Vec<A::Element>) {
        out.extend(elements.iter().map(|element| self.arithmetic().stored(format, *element)));
    }

    fn cells(_format: DeviceFormat) -> usize {
        1
    }

    fn poison(&self) -> A::Element {
        self.arithmetic().poison()
    }
}

impl<A: Companion> Written for Planes<'_, A> {
    type Cell = A::Element;

    fn cells(_format: DeviceFormat) -> usize {
        1
    }

    fn write(&mut self, region: RegionId, byte: usize, format: DeviceFormat, cells: &[A::Element]) {
        let poison = self.arithmetic.poison();
        self.plane(region).write(byte, format, cells, poison);
    }
}

impl<A: Companion> Beside for Planes<'_, A> {
    fn execute(
        &mut self,
        plan: &Arc<Plan>,
        parts: &Parts,
        leaders: &[usize],
        machine: &Machine,
        device: &[(usize, Stored<u8>)],
    ) -> OpError {
        let own = results(plan, parts, leaders, &Both { machine, planes: self });
        let format = plan.tensors[plan.output].format;
        let mut error = OpError::default();
        let mut numbers = Vec::new();
        for ((_, device), (_, own)) in device.iter().zip(&own).filter(|_| is_float(format)) {
            numbers.resize(own.cells().len(), 0.0);
            decode_run(format, device.cells(), 0, 1, &mut numbers);
            own.cells().iter().zip(&numbers).for_each(|(element, number)| self.arithmetic.judge(*element, *number, &mut error));
        }
        let poison = self.arithmetic.poison();
        own.iter().for_each(|(core, stored)| write(plan, *core, parts, stored, poison, self));
        error
    }

    fn put(&mut self, given: &Given<'_>, machine: &Machine) {
        let format = given.layout.format;
        if !is_float(format) {
            return;
        }
        let (arithmetic, poison) = (self.arithmetic, self.arithmetic.poison());
        let numbers = numbers(machine, given.region, format);
        // Padding of a constant has numbers, too.
        let padding = |number: &f32| match given.argument {
            Some(_) => arithmetic.poison(),
            None => arithmetic.given(meaning(format, *number), *number),
        };
        let cells: Vec<_> = numbers.iter().map(padding).collect();
        self.write(given.region, 0, format, &cells);
        let (Some(exact), Some(plane)) = (given.exact, self.regions.get_mut(&given.region)) else { return };
        let is_number = is_number(exact);
        given.layout.each_element(|index, byte| {
            let (number, device) = (exact.elements.get(index), numbers[byte / format.bytes() as usize]);
            let element = match given.argument.filter(|_| is_number) {
                Some(argument) => arithmetic.argument(argument, index as u64, number, device),
                None => arithmetic.given(number, device),
            };
            plane.set(byte, element, poison);
        });
    }

    fn release(&mut self, region: RegionId) {
        self.regions.remove(&region);
    }

    fn end_life(&mut self, region: RegionId, start: usize, end: usize) {
        let Some(plane) = self.regions.get_mut(&region) else { return };
        let stick = STICK_BYTES as usize;
        let end = end.div_ceil(stick).min(plane.formats.len());
        plane.formats[(start / stick).min(end)..end].fill(None);
    }

    fn replaces_numbers(&self) -> bool {
        self.replaces_numbers
    }
}
