//! Rules on slices: a core's number determines its slices, and the slices determine the start address of its slice of
//! each tensor.

use super::super::extent::{DimExtent, compute_core_bytes, dim_extents, enumerate_tensor_sizes, saturating_product};
use super::super::file_view::{FileView, KernelArgument, TensorView};
use super::super::functions::FunctionFamily;
use super::super::launch::ValueBase;
use super::super::report::ViolationReport;
use super::addresses::{StartAddress, collect_starts, start_path};
use machine::{DeviceFormat, STICK_BYTES};
use sdsc_format::model::{Entries, Text};
use sdsc_format::program::count_stick_dims;

type CoreSlotTable = Entries<i64, Entries<Text, i64>>;

/// Checks that consecutive cores cycle through the slices of a dimension. The number of consecutive cores with the same
/// slice is the product of the slice counts of all earlier dimensions. A shuffle with the slice counts of its
/// destination must assign the same slices as its destination.
pub(super) fn check_slice_cycle(file: &FileView<'_>, report: &mut ViolationReport) {
    let (path, slots) = (file.member_path("coreIdToWkSlice_"), &file.operation.core_to_slice);
    if let Some(destination) =
        file.tensors().last().filter(|tensor| file.is_shuffle() && has_equal_slices(file, tensor))
    {
        if let Some((core, label)) = find_slot_mismatch(file, &destination) {
            report.report_json(
                format!("{path}/{core}/{label}"),
                format!("not the slice of '{label}' that core {core} gets of the destination; a shuffle has the slices of its destination"),
            );
        }
        let mut cores = destination.node.coordinates.core_to_slice.iter();
        if let Some((core, _)) = cores.find(|(core, _)| slots.get(*core).is_none()) {
            let message = "no slice of a core that gets one; a shuffle has the slices of its destination";
            report.report_json(format!("{path}/{core}"), message);
        }
        return;
    }
    for (label, _) in file.operation.slices.iter() {
        if let Some((core, fault)) = find_cycle_fault(slots, label, file.num_slices(label).unwrap_or(1)) {
            report.report_json(format!("{path}/{core}/{label}"), fault);
        }
    }
}

/// Returns whether a shuffle has as many slices of each dimension as its destination.
fn has_equal_slices(file: &FileView<'_>, destination: &TensorView<'_>) -> bool {
    file.operation.slices.iter().all(|(label, slices)| destination.num_held_slices(label).unwrap_or(1) == *slices)
}

/// Returns a core and a dimension in which a shuffle and its destination have different slices.
fn find_slot_mismatch<'a>(file: &FileView<'a>, destination: &TensorView<'_>) -> Option<(i64, &'a str)> {
    let of_core = |(core, slots): (&i64, &'a Entries<Text, i64>)| {
        let held = destination.node.coordinates.core_to_slice.get(core)?;
        let mut labels = slots.iter().filter(|(label, slot)| held.get(&***label) != Some(slot));
        labels.next().map(|(label, _)| (*core, &**label))
    };
    file.operation.core_to_slice.iter().find_map(of_core)
}

fn find_cycle_fault(slots: &CoreSlotTable, label: &str, slices: i64) -> Option<(i64, String)> {
    let slot = |core: i64| slots.get(&core).and_then(|slots| slots.get(label)).copied();
    let cores = i64::try_from(slots.0.len()).ok()?;
    let in_a_row = (0..cores).find(|core| slot(*core) == Some(1)).unwrap_or(cores).max(1);
    let wanted = |core: i64| (core / in_a_row) % slices.max(1);
    let wrong = (0..cores).find(|core| slot(*core).is_some_and(|found| found != wanted(*core)))?;
    let (found, wanted) = (slot(wrong).unwrap_or_default(), wanted(wrong));
    Some((wrong, format!("core {wrong} has slice {found} of '{label}', but slices in order give it slice {wanted}")))
}

/// Checks that the start of a core is the start of core 0 plus the byte offset of its slices.
pub(super) fn check_slice_starts(file: &FileView<'_>, report: &mut ViolationReport) {
    let starts = collect_starts(file);
    for tensor in file.tensors().filter(|tensor| !tensor.is_lx()) {
        let own: Vec<&StartAddress<'_>> = starts.iter().filter(|start| start.tensor.index == tensor.index).collect();
        let Some(first) = own.iter().find(|start| start.core.core == 0) else { continue };
        // The start of a slice of a symbolic size is a plain number, which the front end leaves to the runtime to
        // correct.
        if file.dsc.dim_symbols.is_some() {
            continue;
        }
        let moves_alike =
            |start: &&&StartAddress<'_>| (start.form.base, &start.form.terms) != (first.form.base, &first.form.terms);
        if let Some(other) = own.iter().find(moves_alike) {
            let message = format!(
                "core {} is in another buffer than core 0, or moves in loops in another way; a tensor is in one buffer",
                other.core.core
            );
            report.report_json(start_path(file, tensor.index, other.core), message);
            continue;
        }
        let found: Vec<(i64, i64)> = own
            .iter()
            .map(|start| (start.core.core, start.form.constant.saturating_sub(first.form.constant)))
            .collect();
        if let Some((core, message)) = find_start_fault(file, &tensor, &found) {
            report.report_json(
                file.node_member_path(tensor.index, &format!("startAddressCoreCorelet_/data_/[{core}, 0, 0]")),
                message,
            );
        }
    }
}

/// Checks that all cores use an indexed table at one address, and that cores divide only dimensions along which indices
/// move: the device adds the selected rows to the address.
pub(super) fn check_unsplit_tables(file: &FileView<'_>, report: &mut ViolationReport) {
    let starts = collect_starts(file);
    for tensor in file.tensors().filter(|tensor| tensor.node.indirection == "value_tensor") {
        let own: Vec<&StartAddress<'_>> = starts.iter().filter(|start| start.tensor.index == tensor.index).collect();
        let Some(first) = own.first() else { continue };
        if let Some(other) = own.iter().find(|start| start.form != first.form) {
            let message = format!(
                "core {} starts elsewhere than core {}; cores use a table at one address",
                other.core.core, first.core.core
            );
            report.report_json(start_path(file, tensor.index, other.core), message);
        }
        let indexed = file.tensors().find(TensorView::is_index);
        let is_moved_by_indices =
            |label: &str| indexed.as_ref().is_some_and(|index| index.node.order.iter().any(|own| **own == *label));
        let is_whole = |label: &str| file.num_slices(label).unwrap_or(1) <= 1 || is_moved_by_indices(label);
        for (position, label) in tensor.node.order.iter().enumerate().filter(|(_, label)| !is_whole(label)) {
            let message = format!(
                "'{label}' has {} slices; only dimensions of the indices of a table are divided",
                file.num_slices(label).unwrap_or(1)
            );
            report.report_json(file.node_member_path(tensor.index, &format!("layoutDimOrder_/{position}")), message);
        }
    }
}

/// Returns the first core whose distance from core 0 is not the byte offset of its slices.
fn find_start_fault(file: &FileView<'_>, tensor: &TensorView<'_>, found: &[(i64, i64)]) -> Option<(i64, String)> {
    // Accesses through windows are not a box, and accesses through indices move with the indices.
    if file.family.is_windowed() || tensor.node.indirection == "value_tensor" {
        return None;
    }
    let extents: Vec<DimExtent<'_>> = dim_extents(file, tensor).collect();
    let mut first_fault = None;
    for sizes in enumerate_memory_sizes(file, &extents) {
        let fault = found.iter().find_map(|(core, bytes)| {
            let wanted = compute_slice_offset(file, tensor, &extents, &sizes, *core)?;
            (wanted != *bytes).then(|| {
                (*core, format!("core {core} starts {bytes} bytes after core 0; its slices start {wanted} bytes after those of core 0"))
            })
        });
        match fault {
            None => return None,
            Some(fault) => first_fault = first_fault.or(Some(fault)),
        }
    }
    first_fault
}

/// Returns the possible sizes of a tensor in memory: first the sizes of the space with the gaps, then sizes that files
/// do not show. These are a device dimension of one position, which the reference emitter counts too, and rows of a
/// padded dimension that a tensor lacks.
fn enumerate_memory_sizes(file: &FileView<'_>, extents: &[DimExtent<'_>]) -> Vec<Vec<i64>> {
    let plain: Vec<i64> = extents.iter().map(DimExtent::memory_size).collect();
    let mut all = enumerate_tensor_sizes(extents);
    for place in 0..plain.len() {
        let mut with_unit = plain.clone();
        with_unit.insert(place, 1);
        all.push(with_unit);
    }
    if matches!(file.family, FunctionFamily::Matmul | FunctionFamily::Conversion) {
        for (place, extent) in extents.iter().enumerate().filter(|(_, extent)| extent.gap == 0) {
            for missing in (1..PADDING_BOUND).take_while(|missing| *missing < extent.whole) {
                let mut short = plain.clone();
                short[place] -= missing;
                all.push(short);
            }
        }
    }
    all
}

/// Exclusive upper bound on padding: it fills up a stick, which has at most this number of elements.
const PADDING_BOUND: i64 = 128;

/// Returns the byte offset of a core's slice of a tensor from that of core 0.
fn compute_slice_offset(
    file: &FileView<'_>,
    tensor: &TensorView<'_>,
    extents: &[DimExtent<'_>],
    sizes: &[i64],
    core: i64,
) -> Option<i64> {
    let slots = file.operation.core_to_slice.get(&core)?;
    let (mut bytes, mut inner) = (0_i64, STICK_BYTES);
    for (extent, size) in extents.iter().zip(sizes) {
        let slices = file.num_slices(extent.label)?.max(1);
        let slot = slots.get(extent.label).copied().unwrap_or_default();
        // If the space includes the gap, the cores share the complete space.
        let shared = extent.whole.saturating_add(if *size > extent.memory_size() { extent.doubt } else { 0 });
        let span = inner.saturating_mul(shared.min(*size));
        bytes = bytes.saturating_add(slot.saturating_mul(span).div_euclid(slices));
        inner = inner.saturating_mul(*size);
    }
    // A slice of an index tensor may be smaller than a stick.
    let is_small = tensor.is_index() && compute_core_bytes(file, tensor) <= STICK_BYTES;
    (!is_small).then_some(bytes)
}

/// Checks that a tensor is a box in its kernel argument: with the gaps it covers the argument, except for dimensions in
/// which it has one position.
pub(super) fn check_argument_sizes(file: &FileView<'_>, report: &mut ViolationReport) {
    if file.family.is_windowed() || file.dsc.dim_symbols.is_some() {
        return;
    }
    let starts = collect_starts(file);
    for tensor in file.tensors().filter(|tensor| tensor.node.indirection != "value_tensor") {
        let base = starts.iter().find(|start| start.tensor.index == tensor.index).and_then(|start| start.form.base);
        let Some(ValueBase::Argument(argument)) = base else { continue };
        let Some(device) = file.context.arguments.get(argument).and_then(outer_device_dims) else { continue };
        let own: Vec<DimExtent<'_>> = dim_extents(file, &tensor).collect();
        let (may_be, wanted) = (enumerate_tensor_sizes(&own), saturating_product(device));
        let fits = |all: &Vec<i64>| {
            let found = saturating_product(all);
            let is_whole = count_nonunit_dims(all) >= count_nonunit_dims(device);
            if is_whole { found == wanted } else { found > 0 && wanted % found == 0 }
        };
        if !may_be.iter().any(fits) {
            let (all, found) = (&may_be[0], saturating_product(&may_be[0]));
            let message = format!(
                "sizes {all:?} with the gaps, {found} sticks; kernel argument {argument} has sizes {device:?}, {wanted} sticks"
            );
            report.report_json(file.node_member_path(tensor.index, "backGapCore_"), message);
        }
    }
}

/// Returns the device dimensions of an argument outside its sticks; `None` if they are unknown.
fn outer_device_dims(argument: &KernelArgument) -> Option<&[i64]> {
    let sizes = &argument.device_size;
    let format = argument.format.parse::<DeviceFormat>().ok();
    let in_stick = format.and_then(|format| count_stick_dims(sizes, format.elements_per_stick())).unwrap_or(1);
    Some(sizes.split_at_checked(sizes.len().checked_sub(in_stick)?)?.0)
}

/// Returns the number of dimensions with more than one position.
fn count_nonunit_dims(sizes: &[i64]) -> usize {
    sizes.iter().filter(|size| **size > 1).count()
}

/// Checks that a tensor has the format of its kernel argument. Files declare indices as unsigned, and copy integers as
/// floats.
pub(super) fn check_argument_formats(file: &FileView<'_>, report: &mut ViolationReport) {
    let starts = collect_starts(file);
    for tensor in file.tensors() {
        let base = starts.iter().find(|start| start.tensor.index == tensor.index).and_then(|start| start.form.base);
        let Some(ValueBase::Argument(argument)) = base else { continue };
        let Some(wanted) =
            file.context.arguments.get(argument).map(|buffer| &*buffer.format).filter(|format| !format.is_empty())
        else {
            continue;
        };
        let found = &*tensor.info.format;
        let is_renamed = match found.parse() {
            Ok(DeviceFormat::SenUint32) => tensor.is_index(),
            Ok(DeviceFormat::IeeeFp32) => file.compute.function == "identity",
            _ => false,
        };
        if found != wanted && !(is_renamed && wanted == DeviceFormat::IeeeInt32.name()) {
            let message = format!(
                "{found}, where kernel argument {argument} is {wanted}; a tensor has the format of its argument"
            );
            report.report_json(file.tensor_member_path(tensor.index, "dataFormat_"), message);
        }
    }
}
