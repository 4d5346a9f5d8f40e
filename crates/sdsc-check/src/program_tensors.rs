//! Rules on the members of each tensor in `program.json`: each must agree with the others.

use super::program_flow::tensor_lists;
use super::report::ViolationReport;
use super::rules::{LIVE_RANGES, NAMES, TENSORS};
use machine::{DeviceFormat, ElementType};
use sdsc_format::program::{Program, Tensor, count_stick_dims};
use std::collections::BTreeSet;

/// Returns whether a format can hold host elements of a type.
const fn can_hold(format: DeviceFormat, element: ElementType) -> bool {
    match format {
        DeviceFormat::Sen169Fp16 | DeviceFormat::IeeeFp32 => !matches!(element, ElementType::Index),
        DeviceFormat::IeeeInt32 => matches!(element, ElementType::I32 | ElementType::I64 | ElementType::Index),
        DeviceFormat::SenInt8 | DeviceFormat::SenInt4 => matches!(element, ElementType::I8),
        DeviceFormat::Sen143Fp8 | DeviceFormat::Sen152Fp8 => element.is_float(),
        DeviceFormat::SenUint32 => false,
    }
}

pub(super) fn check(program: &Program, report: &mut ViolationReport) {
    report.enter_rule(NAMES);
    check_unique_names(program, report);
    report.enter_rule(TENSORS);
    for (list, tensors) in tensor_lists(program) {
        for (number, tensor) in tensors.iter().enumerate() {
            if let Some((member, fault)) = find_fault(tensor) {
                report.report_json(format!("/{list}/{number}/{member}"), fault);
            }
        }
    }
    report.enter_rule(LIVE_RANGES);
    check_buffer_live_ranges(program, report);
}

fn check_unique_names(program: &Program, report: &mut ViolationReport) {
    let mut seen = BTreeSet::new();
    for (list, tensors) in tensor_lists(program) {
        for (number, tensor) in tensors.iter().enumerate() {
            if tensor.name.is_empty() || !seen.insert(&tensor.name) {
                report.report_json(
                    format!("/{list}/{number}/name"),
                    format!("'{}'; each tensor has a name of its own", tensor.name),
                );
            }
        }
    }
}

/// Returns the member that is inconsistent with the others, and the reason.
fn find_fault(tensor: &Tensor) -> Option<(&'static str, String)> {
    let Ok(format) = tensor.format.parse::<DeviceFormat>() else {
        return Some(("format", format!("'{}' is no format of the device", tensor.format)));
    };
    if !tensor.element_type.parse().is_ok_and(|element| can_hold(format, element)) {
        return Some(("element_type", format!("'{}', which {format} does not hold", tensor.element_type)));
    }
    if tensor.device_size.iter().any(|size| *size < 1) || tensor.shape.iter().any(|size| *size < 0) {
        return Some((
            "shape",
            format!("{:?} as {:?}; sizes are positive, or 0 in a shape", tensor.shape, tensor.device_size),
        ));
    }
    let per_stick = format.elements_per_stick();
    let Some(stick_dims) = count_stick_dims(&tensor.device_size, per_stick) else {
        return Some((
            "device_size",
            format!("{:?}; the last sizes are those of a stick, {per_stick}", tensor.device_size),
        ));
    };
    let elements = tensor.device_size.iter().try_fold(1_i64, |product, size| product.checked_mul(*size));
    let bytes = elements.and_then(|elements| format.packed_bytes(elements));
    if tensor.shape.contains(&0) && elements != Some(per_stick) {
        return Some(("device_size", format!("{:?}; a tensor without elements is one stick", tensor.device_size)));
    }
    if bytes != Some(tensor.bytes) {
        let wanted = bytes.map_or_else(|| "too many".to_owned(), |bytes| bytes.to_string());
        return Some(("bytes", format!("{}; the device size {:?} has {wanted}", tensor.bytes, tensor.device_size)));
    }
    find_stride_map_fault(tensor, per_stick, stick_dims).map(|fault| ("stride_map", fault))
}

/// A device dimension: its stride in host elements, its size, and whether it is in the stick.
type StridedDim = (i64, i64, bool);

/// A host dimension: its stride and its size.
type HostDim = (i64, i64);

/// Checks that every host element has one position on the device, and that no device dimension has unused positions,
/// except for the remainder of a stick.
fn find_stride_map_fault(tensor: &Tensor, per_stick: i64, stick_dims: usize) -> Option<String> {
    let (sizes, map) = (&tensor.device_size, &tensor.stride_map);
    if sizes.len() != map.len() {
        return Some(format!("{} steps for {} device dimensions; each has one", map.len(), sizes.len()));
    }
    if tensor.shape.contains(&0) {
        return None;
    }
    let mut steps: Vec<StridedDim> = Vec::new();
    for (dim, (size, step)) in sizes.iter().zip(map).enumerate() {
        match step {
            // Lanes of a stick that holds one element, or a dimension of padding.
            -1 if *size == 1 || dim + 1 == sizes.len() => {}
            1.. if *size == 1 => {}
            1.. => steps.push((*step, *size, dim + stick_dims >= sizes.len())),
            found => return Some(format!("a step of {found} along device dimension {dim} of {size} positions")),
        }
    }
    let mut stride = 1_i64;
    let mut wanted: Vec<HostDim> = Vec::new();
    for size in tensor.shape.iter().rev() {
        if *size > 1 {
            wanted.push((stride, *size));
        }
        stride = stride.saturating_mul(*size);
    }
    steps.sort_unstable();
    let fits = covers_host_dims(&steps, &wanted, per_stick);
    (!fits).then(|| format!("{map:?} over {sizes:?} does not give each element of {:?} one place", tensor.shape))
}

/// Returns whether device dimensions, by their strides, cover the host dimensions, the innermost first. Several host
/// dimensions may be one device dimension, as in a flattened array.
fn covers_host_dims(steps: &[StridedDim], host: &[HostDim], per_stick: i64) -> bool {
    let Some(((stride, _), _)) = host.split_first() else { return steps.is_empty() };
    (1..=host.len()).any(|taken| {
        let size = host[..taken].iter().fold(1_i64, |size, (_, one)| size.saturating_mul(*one));
        match_host_dim(steps, *stride, size, per_stick)
            .into_iter()
            .any(|used| covers_host_dims(&steps[used..], &host[taken..], per_stick))
    })
}

/// Returns the possible numbers of leading strides that cover a host dimension. Each stride begins where the next inner
/// one ends. The last one ends with the dimension, or with the stick to which the dimension is padded. The dimensions of
/// a stick may be longer than the host's.
fn match_host_dim(steps: &[StridedDim], stride: i64, size: i64, per_stick: i64) -> Vec<usize> {
    let (mut positions, mut filled) = (1_i64, Vec::new());
    for (used, (step, count, is_in_stick)) in (1..).zip(steps) {
        if *step != stride.saturating_mul(positions) {
            break;
        }
        // A stick may hold fewer elements than it has lanes: then the next step begins before the lanes end.
        let next = steps.get(used).map_or(i64::MAX, |(next, ..)| *next);
        if stride == 1 && positions == 1 && *count == per_stick && next < per_stick && size > next {
            positions = next;
            continue;
        }
        let needed = size.saturating_add(positions - 1).div_euclid(positions);
        let padded = size.saturating_add(per_stick - 1).div_euclid(per_stick).saturating_mul(per_stick);
        positions = positions.saturating_mul(*count);
        if *count == needed || positions == padded || (*is_in_stick && positions >= size) {
            filled.push(used);
        }
    }
    filled
}

/// Checks that a buffer is live from the first launch that uses it to the last one, and that the region ends with the
/// last buffer.
fn check_buffer_live_ranges(program: &Program, report: &mut ViolationReport) {
    for (number, buffer) in program.buffers.iter().enumerate() {
        let Some(place) = buffer.place else { continue };
        let uses = |launch: &usize| program.launches[*launch].arguments.contains(&buffer.name);
        let mut users = (0..program.launches.len()).filter(uses);
        let first = users.next();
        let last = users.next_back().or(first);
        if (first, last) != (Some(place.first_launch), Some(place.last_launch)) {
            let message = format!(
                "'{}' lives from launch {} to {}; it is used from {first:?} to {last:?}",
                buffer.name, place.first_launch, place.last_launch
            );
            report.report_json(format!("/buffers/{number}/place"), message);
        }
    }
    let end = |buffer: &Tensor| buffer.place.map(|place| place.offset.saturating_add(buffer.bytes));
    let needed = program.buffers.iter().filter_map(end).max().unwrap_or(0);
    if program.buffer_bytes != needed {
        report
            .report_json("/buffer_bytes", format!("{} bytes; the last buffer ends at {needed}", program.buffer_bytes));
    }
    let placed = program.buffers.iter().filter(|buffer| buffer.place.is_some()).count();
    if let Some(number) = program.buffers.iter().position(|buffer| buffer.place.is_none()).filter(|_| placed > 0) {
        report.report_json(
            format!("/buffers/{number}"),
            "no place, where other buffers have one; launches share one region",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tensor(shape: &[i64], device_size: &[i64], stride_map: &[i64]) -> Tensor {
        Tensor {
            shape: shape.to_vec(),
            element_type: "f16".to_owned(),
            format: "SEN169_FP16".to_owned(),
            device_size: device_size.to_vec(),
            stride_map: stride_map.to_vec(),
            bytes: device_size.iter().product::<i64>() * 2,
            ..Tensor::default()
        }
    }

    #[test]
    fn requires_one_position_per_element() {
        for (shape, device_size, stride_map) in [
            (&[64, 512][..], &[8, 64, 64][..], &[64, 512, 1][..]),
            (&[70, 100], &[2, 70, 64], &[64, 100, 1]),
            (&[100, 100], &[2, 128, 64], &[64, 100, 1]),
            (&[70, 7], &[1, 70, 64], &[64, 7, 1]),
            (&[5], &[1, 5, 64], &[-1, 1, -1]),
            (&[], &[1, 64], &[-1, -1]),
            (&[4, 32, 64], &[1, 128, 64], &[64, 64, 1]),
            (&[4, 0, 64], &[1, 64], &[64, 1]),
        ] {
            assert_eq!(find_fault(&tensor(shape, device_size, stride_map)), None, "{shape:?}");
        }
        for (shape, device_size, stride_map) in [
            (&[64, 512][..], &[8, 65, 64][..], &[64, 512, 1][..]),
            (&[64, 512], &[8, 63, 64], &[64, 512, 1]),
            (&[64, 512], &[8, 64, 64], &[64, 511, 1]),
            (&[64, 512], &[8, 64, 64], &[512, 64, 1]),
            (&[64, 511], &[9, 64, 64], &[64, 511, 1]),
            (&[4, 0, 64], &[4, 64], &[64, 1]),
        ] {
            assert!(find_fault(&tensor(shape, device_size, stride_map)).is_some(), "{shape:?}");
        }
    }

    #[test]
    fn accepts_sticks_of_several_dimensions() {
        let narrow = |format: &str, shape: &[i64], device_size: &[i64], stride_map: &[i64]| {
            let element_type = if format == "SEN143_FP8" { "f8E4M3FN" } else { "i8" }.to_owned();
            let elements: i64 = device_size.iter().product();
            let bytes = if format == "SENINT4" { elements / 2 } else { elements };
            find_fault(&Tensor {
                format: format.to_owned(),
                element_type,
                bytes,
                ..tensor(shape, device_size, stride_map)
            })
        };
        for (format, shape, device_size, stride_map) in [
            ("SENINT8", &[256, 128][..], &[2, 128, 2, 64][..], &[64, 256, 128, 1][..]),
            ("SEN143_FP8", &[5, 40], &[1, 3, 2, 64], &[64, 80, 40, 1]),
            ("SENINT4", &[8, 256], &[2, 4, 16, 2, 8], &[128, 512, 8, 256, 1]),
            ("SENINT4", &[256, 64], &[1, 64, 4, 64], &[64, 256, 64, 1]),
            ("SENINT4", &[3, 20], &[1, 2, 16, 2, 8], &[128, 40, 8, 20, 1]),
        ] {
            assert_eq!(narrow(format, shape, device_size, stride_map), None, "{shape:?}");
        }
        for (format, shape, device_size, stride_map) in [
            ("SENINT8", &[256, 128][..], &[2, 128, 4, 64][..], &[64, 256, 128, 1][..]),
            ("SENINT8", &[256, 128], &[2, 127, 2, 64], &[64, 256, 128, 1]),
            ("SENINT8", &[256, 128], &[2, 128, 2, 64], &[64, 128, 256, 1]),
            ("SENINT4", &[8, 256], &[1, 4, 16, 2, 8], &[128, 512, 8, 256, 1]),
        ] {
            assert!(narrow(format, shape, device_size, stride_map).is_some(), "{device_size:?}");
        }
    }
}
