//! Device layouts: copies between arrays of the host and buffers of the device.
//!
//! A device layout is a row-major device shape and, for each device dimension, the host elements that one step moves
//! (`stride_map`; -1 without a host dimension: padding, or one element in a stick). The last dimension is a stick, or
//! the last dimensions are: `[.., 2, 64]` for sticks of two rows and 64 columns. The runtime's transfer may fill the
//! padding beyond the host's sizes with any bytes. Here it is NaN, so that an operation without a mask is detected.

use crate::error::SimError;
use crate::load::host::{ArrayElements, HostArray};
use crate::machine::memory::{MemoryRegion, WriterId};
use crate::number::{DL16_SATURATED, POISON_BYTE, dl16_to_f32, element_width};
use machine::{DeviceFormat, STICK_BYTES};
use sdsc_format::program::{Tensor, count_stick_dims};
use std::ops::Range;

/// Maximum number of host elements that a device dimension may span, far from overflow.
const MAX_HOST_SPAN: i64 = 1 << 50;

/// Layout of a tensor in its buffer.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceLayout {
    /// The number format.
    pub format: DeviceFormat,
    sizes: Vec<i64>,
    /// Host stride of each device dimension.
    steps: Vec<HostStride>,
    /// Sizes of the host dimensions. Dimensions without a device dimension of their own are merged with their inner
    /// neighbor.
    host_sizes: Vec<i64>,
    host_length: i64,
}

/// Host stride of one device dimension.
#[derive(Clone, Copy, Debug, PartialEq)]
enum HostStride {
    /// Only the first position holds an element.
    Padding,
    /// Every position holds the same element (an expanded dimension).
    Broadcast,
    /// Every position is a step along one host dimension.
    Strided { dim: usize, coordinates: i64, elements: i64 },
}

/// Run of elements along the innermost dimension of a stick.
struct StickRun {
    /// First element in the buffer.
    device: usize,
    /// First element in the host's array.
    host: usize,
    host_stride: usize,
    /// Number of elements of the run that the host has.
    valid: usize,
}

impl DeviceLayout {
    /// Returns the layout of a tensor of `program.json`.
    ///
    /// # Errors
    /// The members of the tensor contradict each other.
    pub fn from_tensor(tensor: &Tensor) -> Result<Self, SimError> {
        Self::new(tensor).map_err(|message| SimError::Array { name: tensor.name.clone(), message })
    }

    fn new(tensor: &Tensor) -> Result<Self, String> {
        let format: DeviceFormat = tensor.format.parse().map_err(|error| format!("{error}"))?;
        let (sizes, map) = (&tensor.device_size, &tensor.stride_map);
        if sizes.len() != map.len() || sizes.iter().any(|size| *size < 1) || tensor.shape.iter().any(|size| *size < 0) {
            return Err(format!(
                "expected positive sizes with one stride each, found device size {sizes:?} and stride map {map:?}"
            ));
        }
        let per_stick = format.elements_per_stick();
        if count_stick_dims(sizes, per_stick).is_none() {
            return Err(format!(
                "the last device sizes of {sizes:?} are not {per_stick} elements, a stick of {format}"
            ));
        }
        if sizes.last().is_some_and(|run| run * format.bits() % 8 != 0) {
            return Err(format!("the last device size of {sizes:?} has a part of a byte in {format}"));
        }
        if tensor.shape.contains(&0) && checked_product(sizes) != Some(per_stick) {
            return Err(format!(
                "expected a device size of one stick for the shape {:?} without elements, found {sizes:?}",
                tensor.shape
            ));
        }
        if let Some(base) = tensor.digit_base.filter(|base| *base < 2 || tensor.shape.first() != Some(&2)) {
            return Err(format!(
                "expected a base above 1 and two digits along the first dimension, found base {base} and shape {:?}",
                tensor.shape
            ));
        }
        let bytes = checked_product(sizes).and_then(|count| format.packed_bytes(count));
        if bytes.is_none_or(|bytes| bytes > tensor.bytes) {
            return Err(format!("the device size {sizes:?} needs more than {} bytes", tensor.bytes));
        }
        let host_length = checked_product(&tensor.shape)
            .filter(|length| checked_product(sizes).is_some_and(|count| *length <= count));
        let host_length =
            host_length.ok_or_else(|| format!("the shape {:?} has more elements than the device", tensor.shape))?;
        if sizes
            .iter()
            .zip(map)
            .any(|(size, step)| *step < -1 || size.checked_mul(*step).is_none_or(|reach| reach > MAX_HOST_SPAN))
        {
            return Err(format!("the stride map {map:?} has a stride that is out of range"));
        }
        // The stride of a dimension of size 1 is never used. For example, 7 columns have one stick, so the stride of 64
        // elements has no effect.
        let map: Vec<i64> = sizes.iter().zip(map).map(|(size, step)| if *size == 1 { -1 } else { *step }).collect();
        let (host_sizes, host_strides) = merge_host_dims(&tensor.shape, &map);
        let steps =
            map.iter().map(|stride| classify_stride(*stride, &host_sizes, &host_strides)).collect::<Result<_, _>>()?;
        Ok(Self { format, sizes: sizes.clone(), steps, host_sizes, host_length })
    }

    /// Stores an array. The remainder of the buffer is NaN, and counts as written.
    pub(crate) fn store_array(
        &self,
        array: &HostArray,
        region: &mut MemoryRegion,
        writer: WriterId,
    ) -> Result<(), String> {
        if self.host_length != array.elements.len() as i64 {
            return Err(format!("has {} elements, expected {}", array.elements.len(), self.host_length));
        }
        let run_bytes = self.byte_offset(self.run_elements());
        let mut bytes = Vec::with_capacity(STICK_BYTES as usize);
        self.for_each_run(|run| {
            bytes.clear();
            array.elements.encode(self.format, run.host, run.host_stride, run.valid, &mut bytes);
            bytes.resize(run_bytes, POISON_BYTE);
            region.write(self.byte_offset(run.device), &bytes);
        });
        region.mark_written(0, region.length(), writer);
        Ok(())
    }

    /// Reads an array back; every element of it must have been written.
    pub(crate) fn load_array(&self, tensor: &Tensor, region: &MemoryRegion) -> Result<HostArray, String> {
        self.check_written(region)?;
        self.decode(tensor, region.bytes())
    }

    /// Returns the array that the bytes of a buffer hold.
    pub(crate) fn decode(&self, tensor: &Tensor, bytes: &[u8]) -> Result<HostArray, String> {
        let mut elements = ArrayElements::zeros_for_tensor(tensor, self.host_length as usize)?;
        self.for_each_run(|run| {
            let bytes = &bytes[self.run_bytes(run)];
            elements.decode(self.format, bytes, run.host, run.host_stride, run.valid);
        });
        Ok(HostArray { shape: tensor.shape.clone(), elements })
    }

    /// Rejects a buffer that lacks elements of the array, or has unwritten ones.
    pub(crate) fn check_written(&self, region: &MemoryRegion) -> Result<(), String> {
        let (mut missing, mut num_read) = (None, 0);
        self.for_each_run(|run| {
            num_read += run.valid as i64;
            let bytes = self.run_bytes(run);
            missing = missing.or_else(|| region.find_unwritten(bytes.start, bytes.end));
        });
        if num_read < self.host_length {
            return Err(format!("the layout holds {num_read} of the {} elements of the result", self.host_length));
        }
        missing.map_or(Ok(()), |byte| Err(format!("no op has written byte {byte:#x} of the result")))
    }

    /// Rejects a constant whose bytes are not its rounded exact numbers. A number beyond the range of the format may be
    /// rounded to the largest number that stands for no infinity.
    pub(crate) fn check_rounded(&self, exact: &HostArray, bytes: &[u8]) -> Result<(), String> {
        if DeviceFormat::PACKED.contains(&self.format) {
            return Err(format!("has exact numbers, but {} rounds integers to integers", self.format));
        }
        let (mut rounded, mut wrong) = (Vec::new(), None);
        let (width, last) = (element_width(self.format), max_finite(self.format));
        self.for_each_element(|index, byte| {
            let number = exact.elements.get(index);
            rounded.clear();
            exact.elements.encode(self.format, index, 1, 1, &mut rounded);
            if number.is_finite() && number.abs() > last {
                ArrayElements::F64(vec![last.copysign(number)]).encode(self.format, 0, 1, 1, &mut rounded);
            }
            let found = bytes.get(byte..byte + width).unwrap_or_default();
            if wrong.is_none() && !rounded.chunks_exact(width).any(|rounded| rounded == found) {
                wrong = Some((index, exact.elements.get(index)));
            }
        });
        wrong.map_or(Ok(()), |(index, number)| {
            Err(format!("its bytes differ from element {index}, which is {number} before rounding"))
        })
    }

    /// Returns the number of elements of the array.
    pub(crate) const fn num_host_elements(&self) -> usize {
        self.host_length as usize
    }

    /// Visits every element of the array: its row-major index and its byte in the buffer.
    pub(crate) fn for_each_element(&self, visit: impl FnMut(usize, usize)) {
        self.for_each_selected_element(|_, _| true, visit);
    }

    /// Visits elements as [`Self::for_each_element`] does, but only in sticks that `is_taken` accepts. Its arguments
    /// are the range of array indices and the byte range in the buffer that the elements of the stick span.
    pub(crate) fn for_each_selected_element(
        &self,
        is_taken: impl Fn(Range<usize>, Range<usize>) -> bool,
        mut visit: impl FnMut(usize, usize),
    ) {
        self.for_each_run(|run| {
            let places = run.host..run.host + run.valid.saturating_sub(1) * run.host_stride + 1;
            if is_taken(places, self.run_bytes(run)) {
                let byte = |step: usize| self.byte_offset(run.device + step);
                (0..run.valid).for_each(|step| visit(run.host + step * run.host_stride, byte(step)));
            }
        });
    }

    /// Returns the number of elements along the innermost dimension.
    fn run_elements(&self) -> usize {
        self.sizes.last().map_or(1, |size| *size as usize)
    }

    /// Returns the byte of the buffer that has an element.
    const fn byte_offset(&self, element: usize) -> usize {
        element * self.format.bits() as usize / 8
    }

    /// Returns the bytes of a run.
    fn run_bytes(&self, run: &StickRun) -> Range<usize> {
        let end = ((run.device + run.valid) * self.format.bits() as usize).div_ceil(8);
        self.byte_offset(run.device)..end
    }

    /// Visits every run that holds an element of the host, in the order of the buffer.
    fn for_each_run(&self, mut visit: impl FnMut(&StickRun)) {
        if self.host_length == 0 {
            return;
        }
        let outer = self.sizes.len() - 1;
        let mut position = vec![0i64; outer];
        let mut coordinates = vec![0i64; self.host_sizes.len()];
        for index in 0.. {
            let host = self.locate_run(&position, &mut coordinates);
            if let Some(host) = host
                && let Some(run) = self.build_run(index, host, &coordinates)
            {
                visit(&run);
            }
            if !advance_position(&mut position, &self.sizes[..outer]) {
                return;
            }
        }
    }

    /// Returns the host element at the first position of a run, and sets its host coordinates. Returns `None` in
    /// padding.
    fn locate_run(&self, position: &[i64], coordinates: &mut [i64]) -> Option<i64> {
        coordinates.fill(0);
        let mut host = 0;
        for (at, step) in position.iter().zip(&self.steps) {
            match step {
                HostStride::Padding if *at > 0 => return None,
                HostStride::Padding | HostStride::Broadcast => {}
                HostStride::Strided { dim, coordinates: moved, elements } => {
                    coordinates[*dim] += at * moved;
                    host += at * elements;
                }
            }
        }
        let inside = coordinates.iter().zip(&self.host_sizes).all(|(at, size)| at < size);
        inside.then_some(host)
    }

    fn build_run(&self, index: usize, host: i64, coordinates: &[i64]) -> Option<StickRun> {
        let length = self.run_elements();
        let (host_stride, valid) = match self.steps.last()? {
            HostStride::Padding => (0, 1),
            HostStride::Broadcast => (0, length),
            HostStride::Strided { dim, coordinates: moved, elements } => {
                let left = self.host_sizes[*dim] - coordinates[*dim];
                (*elements as usize, length.min((left + moved - 1).div_euclid(*moved) as usize))
            }
        };
        Some(StickRun { device: index * length, host: host as usize, host_stride, valid })
    }
}

/// Returns the largest number of a format that stands for no infinity.
fn max_finite(format: DeviceFormat) -> f64 {
    match format {
        DeviceFormat::Sen169Fp16 => dl16_to_f32(DL16_SATURATED - 1).into(),
        _ => f32::MAX.into(),
    }
}

fn checked_product(sizes: &[i64]) -> Option<i64> {
    sizes.iter().try_fold(1i64, |product, size| product.checked_mul(*size))
}

/// Advances to the next position, last dimension fastest. Returns false after the last one.
fn advance_position(position: &mut [i64], sizes: &[i64]) -> bool {
    for (at, size) in position.iter_mut().zip(sizes).rev() {
        *at += 1;
        if *at < *size {
            return true;
        }
        *at = 0;
    }
    false
}

/// Returns the host dimensions larger than 1 with their strides, row-major. A dimension to which no device dimension
/// has the stride is merged with the next inner one.
fn merge_host_dims(shape: &[i64], map: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let (mut sizes, mut strides): (Vec<i64>, Vec<i64>) = (Vec::new(), Vec::new());
    let mut stride = 1;
    for size in shape.iter().rev().copied().filter(|size| *size > 1) {
        let walked = map.contains(&stride);
        match sizes.last_mut() {
            Some(inner) if !walked => *inner *= size,
            _ => {
                sizes.push(size);
                strides.push(stride);
            }
        }
        stride *= size;
    }
    (sizes, strides)
}

fn classify_stride(stride: i64, host_sizes: &[i64], host_strides: &[i64]) -> Result<HostStride, String> {
    match stride {
        -1 => Ok(HostStride::Padding),
        0 => Ok(HostStride::Broadcast),
        _ => {
            let dim = host_strides.iter().rposition(|host| *host <= stride);
            let fits = dim.filter(|dim| stride > 0 && stride % host_strides[*dim] == 0);
            match fits {
                Some(dim) => Ok(HostStride::Strided { dim, coordinates: stride / host_strides[dim], elements: stride }),
                // All sizes are 1, so every step leaves the array.
                None if host_sizes.is_empty() && stride > 0 => Ok(HostStride::Padding),
                None => Err(format!("the stride {stride} does not follow a dimension of the array")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[i64], device_size: &[i64], stride_map: &[i64]) -> Tensor {
        let bytes = device_size.iter().product::<i64>() * 2;
        let (element_type, format) = ("f32".to_owned(), "SEN169_FP16".to_owned());
        let (shape, device_size, stride_map) = (shape.to_vec(), device_size.to_vec(), stride_map.to_vec());
        Tensor {
            name: "t".to_owned(),
            shape,
            element_type,
            format,
            device_size,
            stride_map,
            bytes,
            ..Tensor::default()
        }
    }

    fn check_round_trip(shape: &[i64], device_size: &[i64], stride_map: &[i64]) -> MemoryRegion {
        let of = tensor(shape, device_size, stride_map);
        let layout = DeviceLayout::from_tensor(&of).unwrap();
        let count = shape.iter().product::<i64>();
        let array = HostArray::from_f32(shape, (0..count).map(|index| (index % 500) as f32).collect()).unwrap();
        let mut region = MemoryRegion::new("t".to_owned(), 1 << 24);
        region.ensure_length((device_size.iter().product::<i64>() * 2) as usize);
        layout.store_array(&array, &mut region, 1).unwrap();
        assert_eq!(layout.load_array(&of, &region).unwrap(), array);
        region
    }

    /// The reference vectors of "torch-spyre facts, B.2".
    #[test]
    fn round_trips_reference_layouts() {
        check_round_trip(&[120], &[2, 64], &[64, 1]);
        check_round_trip(&[512, 240], &[4, 512, 64], &[64, 240, 1]);
        check_round_trip(&[512, 8, 240], &[8, 4, 512, 64], &[240, 64, 1920, 1]);
        check_round_trip(&[5, 100, 150], &[100, 3, 5, 64], &[150, 64, 15000, 1]);
        check_round_trip(&[512, 256], &[8, 256, 64], &[16384, 1, 256]);
        check_round_trip(&[512, 8, 256], &[256, 1, 512, 64], &[1, 16384, 2048, 256]);
        check_round_trip(&[512, 256], &[256, 1, 512, 64], &[1, -1, 256, -1]);
        check_round_trip(&[], &[1, 64], &[-1, -1]);
        check_round_trip(&[4, 8], &[1, 64], &[-1, 1]);
        // Heads of 32 columns, two per stick.
        check_round_trip(&[8, 4, 32], &[2, 8, 64], &[64, 128, 1]);
        // The constructor gives the single stick of 7 columns a stride that is no multiple of a row.
        check_round_trip(&[16, 32, 7], &[32, 1, 16, 64], &[7, 64, 224, 1]);
    }

    /// A stick of 4-bit elements has groups of 8 columns of two rows.
    #[test]
    fn places_elements_in_blocks() {
        let of = Tensor {
            element_type: "i8".to_owned(),
            format: "SENINT4".to_owned(),
            bytes: 2 * 2 * 128,
            ..tensor(&[3, 200], &[2, 2, 16, 2, 8], &[128, 400, 8, 200, 1])
        };
        let layout = DeviceLayout::from_tensor(&of).unwrap();
        let elements = ArrayElements::I8((0..600).map(|at| (at % 13 - 6) as i8).collect());
        let array = HostArray { shape: vec![3, 200], elements };
        let mut region = MemoryRegion::new("t".to_owned(), 512);
        region.ensure_length(512);
        layout.store_array(&array, &mut region, 1).unwrap();
        assert_eq!(layout.load_array(&of, &region).unwrap(), array);
        // Element (1, 137): second pair of sticks, first pair of rows, group 1, row 1, column 1.
        let mut value = [0.0];
        crate::number::decode_run(DeviceFormat::SenInt4, region.bytes(), (512 + 16 + 8 + 1) * 4, 1, &mut value);
        assert_eq!(f64::from(value[0]), array.elements.get(337));
        assert!(DeviceLayout::from_tensor(&Tensor { device_size: vec![2, 2, 8, 2, 8], ..of }).is_err());
    }

    #[test]
    fn stores_empty_array_as_one_poisoned_stick() {
        let of = tensor(&[4, 0, 64], &[1, 64], &[64, 1]);
        let layout = DeviceLayout::from_tensor(&of).unwrap();
        let mut region = MemoryRegion::new("t".to_owned(), 128);
        region.ensure_length(128);
        let nothing = HostArray { shape: vec![4, 0, 64], elements: ArrayElements::F32(Vec::new()) };
        layout.store_array(&nothing, &mut region, 0).unwrap();
        assert!(region.bytes().chunks(2).all(|element| element == [POISON_BYTE, POISON_BYTE]));
        assert_eq!(layout.load_array(&of, &region).unwrap(), nothing);
    }

    #[test]
    fn stores_elements_at_layout_positions() {
        let region = check_round_trip(&[3, 100], &[2, 3, 64], &[64, 100, 1]);
        let mut value = [0.0];
        // Element (2, 70): stick column 1, row 2, lane 6.
        crate::number::decode_run(DeviceFormat::Sen169Fp16, region.bytes(), ((3 + 2) * 64 + 6) * 16, 1, &mut value);
        assert_eq!(value[0], 270.0);
        crate::number::decode_run(DeviceFormat::Sen169Fp16, region.bytes(), ((3 + 2) * 64 + 40) * 16, 1, &mut value);
        assert!(value[0].is_nan(), "padding is hostile");
    }

    #[test]
    fn rejects_contradictory_layouts() {
        assert!(DeviceLayout::from_tensor(&tensor(&[512, 256], &[4, 512, 64], &[64, 256])).is_err());
        assert!(DeviceLayout::from_tensor(&tensor(&[512, 256], &[4, 512, 32], &[64, 256, 1])).is_err());
        assert!(DeviceLayout::from_tensor(&tensor(&[512, 0], &[4, 512, 64], &[64, 256, 1])).is_err());
        let mut small = tensor(&[512, 256], &[4, 512, 64], &[64, 256, 1]);
        small.bytes -= 1;
        assert!(DeviceLayout::from_tensor(&small).is_err());
    }

    #[test]
    fn detects_unwritten_result() {
        let of = tensor(&[3, 100], &[2, 3, 64], &[64, 100, 1]);
        let layout = DeviceLayout::from_tensor(&of).unwrap();
        let mut region = MemoryRegion::new("t".to_owned(), 768);
        region.ensure_length(768);
        region.mark_written(0, 760 - 128, 1);
        assert!(layout.load_array(&of, &region).unwrap_err().contains("no op has written"));
    }
}
