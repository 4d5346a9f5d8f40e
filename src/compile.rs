//! One compilation: runs the pipeline phase by phase and collects the report on the way.

use crate::{
    bundle::Bundle,
    cost::{OpTraffic, lx_peak_bytes, traffic},
    dialect::{ComputeOp, Memory, Tensor, UsedAs, bundle_of, home_of, target_of},
    mlir::{BlockExt, Location, Module, Op, OpExt, Value, ValueExt, ValueLike, integer},
    pipeline::{Options, Phase},
    report::{Bytes, LaunchReport, LowerBound, OpReport, Report},
};

/// Compiles `module` in place up to the phase that the options name, and writes the files if that is the last one.
///
/// Returns none if a pass failed; it has reported why, and nothing was written.
#[must_use]
pub fn compile(module: &Module<'_>, options: &Options, output: &str) -> Option<Report> {
    let mut report = Report::default();
    for phase in Phase::ALL.into_iter().take_while(|phase| *phase <= options.compile_to) {
        for pass in options.passes_of(phase, output) {
            if !module.run(&pass) {
                return None;
            }
            // Decisions are complete after the LX phase; op specs stand between the passes of the bundle phase.
            match pass.split('{').next() {
                Some("spyre-plan-lx") => describe_ops(module.op(), &mut report),
                Some("spyre-lower-to-sdsc") => describe_launches(module.op(), &mut report),
                _ => {}
            }
        }
    }
    Some(report)
}

fn describe_ops(module: Op<'_>, report: &mut Report) {
    if let Ok(target) = target_of(module) {
        report.target = target.numbers().into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
    }
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        function.text_attr("sym_name").clone_into(&mut report.program);
        report.ops.extend(ComputeOp::all_in(function).into_iter().map(describe_op));
        report.lower_bound.hbm += lower_bound(function).hbm;
    }
}

fn describe_op(compute: ComputeOp<'_>) -> OpReport {
    let place = compute.place();
    let (memory, lx_offset_bytes) = match place.as_ref().map(|place| place.memory) {
        Some(Memory::Lx(offset_bytes)) => ("lx", Some(offset_bytes)),
        Some(Memory::Pool(_)) => ("pool", None),
        Some(Memory::Hbm) | None => ("hbm", None),
    };
    let work = compute.work().unwrap_or_default();
    let layout = Tensor::of(compute.op.output().r#type()).and_then(|tensor| tensor.layout);
    OpReport {
        op: compute.op.full_name().to_owned(),
        function: compute.function().to_owned(),
        location: place_of(compute.op.loc()),
        iteration_space: compute.iteration_space(),
        dims: compute.dim_names(),
        loops: compute.loops().into_iter().filter_map(|around| around.attr("count").and_then(integer)).collect(),
        cores: work.iter().product(),
        work,
        memory,
        lx_offset_bytes,
        result_bytes: layout.map_or(0, |layout| layout.bytes()),
        reason: place.map(|place| place.reason).unwrap_or_default(),
        bytes: Bytes::default(),
    }
}

/// `file:line:col` from MLIR's `loc("file":line:col)`.
fn place_of(location: Location<'_>) -> String {
    let text = location.to_string();
    text.trim_start_matches("loc(").trim_end_matches(')').replace('"', "")
}

/// Arguments and constants as far as some op reads them, and results that some op writes.
fn lower_bound(function: Op<'_>) -> LowerBound {
    let arguments = function.body().map(BlockExt::args).unwrap_or_default();
    let results = function.body_ops().last().map(|terminator| terminator.inputs()).unwrap_or_default();
    let constants = function.nested().into_iter().filter(|op| op.is("spyre.constant")).map(OpExt::output);
    let read = arguments.into_iter().chain(constants).map(bytes_needed_of);
    let written = results.into_iter().filter(|result| home_of(*result).buffer.def().is_some()).map(bytes_of_tensor);
    LowerBound { hbm: read.chain(written).sum() }
}

fn bytes_of_tensor(tensor: Value<'_>) -> i64 {
    let layout = Tensor::of(tensor.r#type()).and_then(|tensor| tensor.layout);
    layout.map_or(0, |layout| layout.bytes())
}

/// Bytes that the program must read of a tensor from outside: all, but of a table that only gathers read one row for each index.
fn bytes_needed_of(tensor: Value<'_>) -> i64 {
    let whole = bytes_of_tensor(tensor);
    let readers = tensor.users();
    let chosen: Option<i64> = readers.into_iter().map(|reader| Some(whole / rows_of_table(reader, tensor)? * n_indices_of(reader)?)).sum();
    chosen.map_or(whole, |chosen| chosen.min(whole))
}

/// The rows of a tensor, if an op reads it as a table only.
fn rows_of_table(reader: Op<'_>, tensor: Value<'_>) -> Option<i64> {
    let UsedAs::Table(dim) = ComputeOp::of(reader)?.used_as(0) else { return None };
    let is_index_too = reader.inputs().get(1) == Some(&tensor);
    Tensor::of(tensor.r#type())?.host.shape.get(dim).copied().filter(|_| !is_index_too)
}

fn n_indices_of(gather: Op<'_>) -> Option<i64> {
    Some(Tensor::of(gather.inputs().get(1)?.r#type())?.host.shape.iter().product())
}

fn describe_launches(module: Op<'_>, report: &mut Report) {
    let mut moved: Vec<OpTraffic> = Vec::new();
    for bundle in module.nested().into_iter().filter(|op| op.is("sdsc.bundle")) {
        let Ok(model) = bundle_of(bundle) else { continue };
        let of_bundle = traffic(&model);
        report.launches.push(describe_launch(bundle.text_attr("sym_name"), &model, &of_bundle));
        moved.extend(of_bundle);
    }
    for (op, moved) in report.ops.iter_mut().zip(&moved) {
        op.bytes = bytes_of(moved);
        report.total.add(&op.bytes);
    }
}

fn describe_launch(name: &str, bundle: &Bundle, moved: &[OpTraffic]) -> LaunchReport {
    let mut bytes = Bytes::default();
    for op in moved {
        bytes.add(&bytes_of(op));
    }
    LaunchReport {
        bundle: name.to_owned(),
        n_ops: moved.len(),
        n_executions: moved.iter().map(|op| op.executions).sum(),
        bytes,
        lx_peak_bytes: lx_peak_bytes(bundle),
        pool_bytes: bundle.pool_bytes,
    }
}

const fn bytes_of(traffic: &OpTraffic) -> Bytes {
    Bytes {
        hbm_read: traffic.hbm_bytes_read,
        hbm_written: traffic.hbm_bytes_written,
        lx_read: traffic.lx_bytes_read,
        lx_written: traffic.lx_bytes_written,
    }
}
