//! Rules on the start and end addresses of tensors.

use super::super::extent::{compute_core_bytes, compute_start_bytes};
use super::super::file_view::{FileView, TensorView};
use super::super::launch::{LinearForm, ValueBase};
use super::super::report::ViolationReport;
use machine::STICK_BYTES;
use sdsc_format::model::CoreKey;
use std::collections::BTreeMap;

pub(super) fn start_path(file: &FileView<'_>, tensor: usize, core: CoreKey) -> String {
    file.node_member_path(tensor, &format!("startAddressCoreCorelet_/data_/{core}"))
}

pub(super) fn check_lx_addresses_are_numbers(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(TensorView::is_lx) {
        if tensor.node.has_symbolic_start() {
            let path = file.node_member_path(tensor.index, "isStartAddrSymbolic_");
            report.report_json(path, "the address of a tensor in LX is symbolic; LX addresses are numbers");
        }
        if let Some((core, address)) = tensor.node.start.data.iter().find(|(_, address)| address.0 < 0) {
            let message = format!("address {}; LX addresses are numbers from 0 on", address.0);
            report.report_json(start_path(file, tensor.index, *core), message);
        }
    }
}

pub(super) fn check_lx_tensors_fit(file: &FileView<'_>, report: &mut ViolationReport) {
    let limit = file.context.target.lx_bytes;
    for tensor in file.tensors().filter(TensorView::is_lx) {
        let bytes = compute_start_bytes(file, &tensor);
        let Some((core, address)) = tensor.node.start.data.0.iter().max_by_key(|(_, address)| address.0) else {
            continue;
        };
        if address.0.saturating_add(bytes) > limit {
            let message = format!("{bytes} bytes from address {}; a core has {limit} bytes of LX", address.0);
            report.report_json(start_path(file, tensor.index, *core), message);
        }
    }
}

pub(super) fn check_hbm_address_kinds(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(|tensor| !tensor.is_lx()) {
        let is_symbolic = tensor.node.has_symbolic_start();
        if let Some((core, found)) = tensor.node.start.data.iter().find(|(_, found)| (found.0 < 0) != is_symbolic) {
            let kind = if is_symbolic { "a symbol, which is negative" } else { "an address, which is not negative" };
            report.report_json(start_path(file, tensor.index, *core), format!("{}; the start is {kind}", found.0));
        }
    }
}

/// Start address of a core's slice of a tensor.
pub(in super::super) struct StartAddress<'a> {
    pub(in super::super) tensor: TensorView<'a>,
    pub(in super::super) core: CoreKey,
    pub(in super::super) form: LinearForm,
}

/// Returns the known start addresses of the tensors in HBM.
pub(in super::super) fn collect_starts<'a>(file: &FileView<'a>) -> Vec<StartAddress<'a>> {
    let mut values: BTreeMap<i64, &LinearForm> = BTreeMap::new();
    if let Some(execute) = file.context.execute {
        let known = execute.symbol_ids().iter().zip(&execute.values);
        values.extend(known.filter_map(|(id, value)| Some((*id, value.as_ref()?))));
    }
    let mut starts = Vec::new();
    for tensor in file.tensors().filter(|tensor| !tensor.is_lx()) {
        for (core, start) in tensor.node.start.data.iter() {
            let is_symbolic = tensor.node.has_symbolic_start();
            let form = if is_symbolic {
                values.get(&start.0).map(|form| (*form).clone())
            } else {
                Some(resolve_baked_address(file, start.0))
            };
            starts.extend(form.map(|form| StartAddress { tensor, core: *core, form }));
        }
    }
    starts
}

/// Resolves a constant address to a byte offset in a kernel argument or in the pool, if the owners of the segments are
/// known.
fn resolve_baked_address(file: &FileView<'_>, address: i64) -> LinearForm {
    let number = LinearForm { base: None, constant: address, terms: Vec::new() };
    let (Some(pool_bytes), true) = (file.context.pool_bytes, address >= 0) else { return number };
    let segment_bytes = file.context.target.segment_bytes;
    let num_pools = i64::from(pool_bytes > 0);
    let base = match usize::try_from(address / segment_bytes - num_pools) {
        Ok(argument) => ValueBase::Argument(argument),
        Err(_) => ValueBase::Pool(0),
    };
    LinearForm { base: Some(base), constant: address % segment_bytes, ..number }
}

/// Reports the first start of each tensor for which `fault` returns a message; later starts usually break the same
/// rule.
fn report_starts(
    file: &FileView<'_>,
    report: &mut ViolationReport,
    mut fault: impl FnMut(&StartAddress<'_>) -> Option<String>,
) {
    let mut reported = None;
    for start in collect_starts(file) {
        if reported == Some(start.tensor.index) {
            continue;
        }
        if let Some(message) = fault(&start) {
            report.report_json(start_path(file, start.tensor.index, start.core), message);
            reported = Some(start.tensor.index);
        }
    }
}

pub(super) fn check_address_alignment(file: &FileView<'_>, report: &mut ViolationReport) {
    for tensor in file.tensors().filter(TensorView::is_lx) {
        if let Some((core, address)) = tensor.node.start.data.iter().find(|(_, address)| address.0 % STICK_BYTES != 0) {
            let message = format!("address {} in LX; addresses are multiples of {STICK_BYTES}", address.0);
            report.report_json(start_path(file, tensor.index, *core), message);
        }
    }
    report_starts(file, report, |start| {
        // The start of a slice of a symbolic size is a plain number, which the front end leaves to the runtime to
        // correct.
        let is_known = start.form.base.is_some() || !start.tensor.node.has_symbolic_start();
        if !is_known || start.tensor.is_index() {
            return None;
        }
        let mut numbers = start.form.terms.iter().map(|(_, stride)| *stride).chain([start.form.constant]);
        let found = numbers.find(|number| number % STICK_BYTES != 0)?;
        Some(format!("the address moves by {found} bytes; addresses are multiples of {STICK_BYTES}"))
    });
}

/// Returns the minimum and maximum of a linear form over its loops, without its base.
pub(in super::super) fn compute_range(form: &LinearForm, loops: &[Option<i64>]) -> Option<(i64, i64)> {
    let (mut least, mut largest) = (form.constant, form.constant);
    for (level, stride) in &form.terms {
        let count = (*loops.get(*level)?)?;
        let reach = stride.saturating_mul(count - 1);
        least = least.saturating_add(reach.min(0));
        largest = largest.saturating_add(reach.max(0));
    }
    Some((least, largest))
}

/// Returns a message if a start is outside its buffer in some iteration of the enclosing loops.
fn find_out_of_bounds_start(file: &FileView<'_>, start: &StartAddress<'_>, size: i64, buffer: &str) -> Option<String> {
    let loops = file.context.launch.map_or(&[][..], |launch| &launch.loops);
    let (least, largest) = compute_range(&start.form, loops)?;
    let end = largest.saturating_add(compute_core_bytes(file, &start.tensor));
    if least >= 0 && end <= size {
        return None;
    }
    let core = start.core.core;
    Some(format!(
        "core {core} reaches bytes {least} to {end} of {buffer}, which has {size}; a tensor lies within its buffer"
    ))
}

pub(super) fn check_pool_bounds(file: &FileView<'_>, report: &mut ViolationReport) {
    let Some(launch) = file.context.launch else { return };
    report_starts(file, report, |start| match start.form.base {
        Some(ValueBase::Pool(pool)) => {
            let baked = file.context.pool_bytes.filter(|_| pool == 0);
            let bytes = launch.pools.get(pool).map(|pool| pool.bytes).or(baked)?;
            find_out_of_bounds_start(file, start, bytes, "the pool")
        }
        Some(ValueBase::Argument(_) | ValueBase::Parameter(_)) | None => None,
    });
}

pub(super) fn check_argument_bounds(file: &FileView<'_>, report: &mut ViolationReport) {
    report_starts(file, report, |start| match start.form.base {
        Some(ValueBase::Argument(argument)) => {
            let buffer = file.context.arguments.get(argument)?;
            find_out_of_bounds_start(
                file,
                start,
                buffer.bytes,
                &format!("'{}', kernel argument {argument}", buffer.name),
            )
        }
        Some(ValueBase::Pool(_) | ValueBase::Parameter(_)) | None => None,
    });
}

pub(super) fn check_segment_bounds(file: &FileView<'_>, report: &mut ViolationReport) {
    let target = file.context.target;
    report_starts(file, report, |start| {
        let address = start.tensor.node.start.data.get(&start.core)?.0;
        if start.tensor.node.has_symbolic_start() || address < 0 {
            return None;
        }
        let segment = address.div_euclid(target.segment_bytes);
        if segment >= target.segments {
            return Some(format!(
                "address {address} is in segment {segment}; a kernel has segments 0 to {}",
                target.segments - 1
            ));
        }
        let left = target.segment_bytes - address.rem_euclid(target.segment_bytes);
        let bytes = compute_core_bytes(file, &start.tensor);
        (bytes > left).then(|| {
            format!("{bytes} bytes from address {address}, where a segment has {left} left; a tensor is in one segment")
        })
    });
}
