//! Rules on the start and end addresses of tensors.

use super::super::extent::core_bytes;
use super::super::file_view::{FileView, TensorView};
use super::super::launch::{Base, Form};
use super::super::report::Report;
use machine::STICK_BYTES;
use sdsc_format::model::CoreKey;
use std::collections::BTreeMap;

pub(super) fn start_path(file: &FileView<'_>, tensor: usize, core: CoreKey) -> String {
    file.node_at(tensor, &format!("startAddressCoreCorelet_/data_/{core}"))
}

pub(super) fn lx_addresses_are_numbers(file: &FileView<'_>, report: &mut Report) {
    for tensor in file.tensors().filter(TensorView::is_lx) {
        if tensor.node.has_symbolic_start() {
            let path = file.node_at(tensor.index, "isStartAddrSymbolic_");
            report.json(path, "the address of a tensor in LX is symbolic; LX addresses are numbers");
        }
        if let Some((core, address)) = tensor.node.start.data.iter().find(|(_, address)| address.0 < 0) {
            let message = format!("address {}; LX addresses are numbers from 0 on", address.0);
            report.json(start_path(file, tensor.index, *core), message);
        }
    }
}

pub(super) fn lx_tensors_fit(file: &FileView<'_>, report: &mut Report) {
    let limit = file.around.target.lx_bytes;
    for tensor in file.tensors().filter(TensorView::is_lx) {
        let bytes = core_bytes(file, &tensor);
        let Some((core, address)) = tensor.node.start.data.0.iter().max_by_key(|(_, address)| address.0) else { continue };
        if address.0.saturating_add(bytes) > limit {
            let message = format!("{bytes} bytes from address {}; a core has {limit} bytes of LX", address.0);
            report.json(start_path(file, tensor.index, *core), message);
        }
    }
}

pub(super) fn hbm_addresses_are_symbols_or_numbers(file: &FileView<'_>, report: &mut Report) {
    for tensor in file.tensors().filter(|tensor| !tensor.is_lx()) {
        let is_symbolic = tensor.node.has_symbolic_start();
        if let Some((core, found)) = tensor.node.start.data.iter().find(|(_, found)| (found.0 < 0) != is_symbolic) {
            let kind = if is_symbolic { "a symbol, which is negative" } else { "an address, which is not negative" };
            report.json(start_path(file, tensor.index, *core), format!("{}; the start is {kind}", found.0));
        }
    }
}

/// Start address of a core's part of a tensor.
pub(in super::super) struct Start<'a> {
    pub(in super::super) tensor: TensorView<'a>,
    pub(in super::super) core: CoreKey,
    pub(in super::super) form: Form,
}

/// The starts of the tensors in HBM, as far as they are known.
pub(in super::super) fn starts<'a>(file: &FileView<'a>) -> Vec<Start<'a>> {
    let mut values: BTreeMap<i64, &Form> = BTreeMap::new();
    if let Some(execute) = file.around.execute {
        let known = execute.ids().iter().zip(&execute.values);
        values.extend(known.filter_map(|(id, value)| Some((*id, value.as_ref()?))));
    }
    let mut starts = Vec::new();
    for tensor in file.tensors().filter(|tensor| !tensor.is_lx()) {
        for (core, start) in tensor.node.start.data.iter() {
            let is_symbolic = tensor.node.has_symbolic_start();
            let form = if is_symbolic { values.get(&start.0).map(|form| (*form).clone()) } else { Some(baked(file, start.0)) };
            starts.extend(form.map(|form| Start { tensor, core: *core, form }));
        }
    }
    starts
}

/// A constant address: a byte offset in a kernel argument or in the pool, if the owners of the segments are known.
fn baked(file: &FileView<'_>, address: i64) -> Form {
    let number = Form { base: None, constant: address, terms: Vec::new() };
    let (Some(pool_bytes), true) = (file.around.pool_bytes, address >= 0) else { return number };
    let segment_bytes = file.around.target.segment_bytes;
    let n_pools = i64::from(pool_bytes > 0);
    let base = match usize::try_from(address / segment_bytes - n_pools) {
        Ok(argument) => Base::Argument(argument),
        Err(_) => Base::Pool(0),
    };
    Form { base: Some(base), constant: address % segment_bytes, ..number }
}

/// Reports the first start of each tensor for which `fault` returns a message; later starts usually break the same rule.
fn report_starts(file: &FileView<'_>, report: &mut Report, mut fault: impl FnMut(&Start<'_>) -> Option<String>) {
    let mut reported = None;
    for start in starts(file) {
        if reported == Some(start.tensor.index) {
            continue;
        }
        if let Some(message) = fault(&start) {
            report.json(start_path(file, start.tensor.index, start.core), message);
            reported = Some(start.tensor.index);
        }
    }
}

pub(super) fn addresses_are_whole_sticks(file: &FileView<'_>, report: &mut Report) {
    for tensor in file.tensors().filter(TensorView::is_lx) {
        if let Some((core, address)) = tensor.node.start.data.iter().find(|(_, address)| address.0 % STICK_BYTES != 0) {
            let message = format!("address {} in LX; addresses are multiples of {STICK_BYTES}", address.0);
            report.json(start_path(file, tensor.index, *core), message);
        }
    }
    report_starts(file, report, |start| {
        // A slice of a symbolic size has a plain number, which the front end leaves to the runtime to correct.
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
pub(in super::super) fn range(form: &Form, loops: &[Option<i64>]) -> Option<(i64, i64)> {
    let (mut least, mut largest) = (form.constant, form.constant);
    for (level, stride) in &form.terms {
        let count = (*loops.get(*level)?)?;
        let reach = stride.saturating_mul(count - 1);
        least = least.saturating_add(reach.min(0));
        largest = largest.saturating_add(reach.max(0));
    }
    Some((least, largest))
}

/// Returns a message if a start is outside of a buffer in some iteration of the enclosing loops.
fn leaves(file: &FileView<'_>, start: &Start<'_>, size: i64, buffer: &str) -> Option<String> {
    let loops = file.around.launch.map_or(&[][..], |launch| &launch.loops);
    let (least, largest) = range(&start.form, loops)?;
    let end = largest.saturating_add(core_bytes(file, &start.tensor));
    if least >= 0 && end <= size {
        return None;
    }
    let core = start.core.core;
    Some(format!("core {core} reaches bytes {least} to {end} of {buffer}, which has {size}; a tensor lies within its buffer"))
}

pub(super) fn pool_tensors_lie_within(file: &FileView<'_>, report: &mut Report) {
    let Some(launch) = file.around.launch else { return };
    report_starts(file, report, |start| match start.form.base {
        Some(Base::Pool(pool)) => {
            let baked = file.around.pool_bytes.filter(|_| pool == 0);
            let bytes = launch.pools.get(pool).map(|pool| pool.bytes).or(baked)?;
            leaves(file, start, bytes, "the pool")
        }
        Some(Base::Argument(_) | Base::Parameter(_)) | None => None,
    });
}

pub(super) fn argument_tensors_lie_within(file: &FileView<'_>, report: &mut Report) {
    report_starts(file, report, |start| match start.form.base {
        Some(Base::Argument(argument)) => {
            let buffer = file.around.arguments.get(argument)?;
            leaves(file, start, buffer.bytes, &format!("'{}', kernel argument {argument}", buffer.name))
        }
        Some(Base::Pool(_) | Base::Parameter(_)) | None => None,
    });
}

pub(super) fn baked_addresses_lie_within_segments(file: &FileView<'_>, report: &mut Report) {
    let target = file.around.target;
    report_starts(file, report, |start| {
        let address = start.tensor.node.start.data.get(&start.core)?.0;
        if start.tensor.node.has_symbolic_start() || address < 0 {
            return None;
        }
        let segment = address.div_euclid(target.segment_bytes);
        if segment >= target.segments {
            return Some(format!("address {address} is in segment {segment}; a kernel has segments 0 to {}", target.segments - 1));
        }
        let left = target.segment_bytes - address.rem_euclid(target.segment_bytes);
        let bytes = core_bytes(file, &start.tensor);
        (bytes > left).then(|| format!("{bytes} bytes from address {address}, where a segment has {left} left; a tensor is in one segment"))
    });
}
