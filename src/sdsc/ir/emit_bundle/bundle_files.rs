//! `spyre-emit-bundle`, files of one bundle: `bundle.mlir`, and the SDSC files of its ops.

use crate::dialect::ods::{attr, sdsc};
use crate::sdsc::emit::{from_op_spec, from_op_spec_baked, is_rounded_number, share_files};
use crate::{
    bundle::ir::sdsc_ops,
    bundle::{Bundle, NamedConstant, OpSpec},
    codes,
    launch::ir::launch_ops::launch_from_ir,
    launch::{
        Launch, LaunchError,
        geometry::Geometry,
        launch_spec::written_arguments,
        symbols::{MemoryMap, OpAddresses},
    },
    mlir::{ErrorReported, Op, OpExt, ValueExt, error_at, integer, strings},
};
use machine::Target;
use sdsc_check::Profile;
use sdsc_format::{OutputFile, Sdsc, exact::ExactNumbers, to_text};
use std::{
    collections::{BTreeMap, BTreeSet},
    num::NonZero,
    panic::resume_unwind,
    thread::{self, available_parallelism},
};

/// Files of one bundle.
pub(super) struct EmittedBundleFiles {
    /// `bundle.mlir` and the SDSC files.
    pub(super) files: Vec<OutputFile>,
    /// Kernel arguments that its ops write; `None` if the addresses are in the files.
    pub(super) written: Option<BTreeSet<usize>>,
}

/// Returns `bundle.mlir` and the SDSC files of one bundle, with paths below `folder`.
pub(super) fn build_bundle_files(
    bundle: Op<'_>,
    folder: &str,
    target: &Target,
    format: Profile,
    exact: &mut ExactNumbers,
) -> Result<EmittedBundleFiles, ErrorReported> {
    let launch = launch_from_ir(bundle).map_err(|(op, message)| error_at(codes::LAUNCH_FORM, op, message).report())?;
    check_loop_sizes(bundle, &launch, format)?;
    let memory = baked_memory_map(bundle, target)?;
    if format.shares_files() && memory.is_none() {
        return build_shared_bundle_files(bundle, folder, launch, exact);
    }
    let text = launch.to_string();
    let (mut ops, mut written) = (Vec::new(), BTreeSet::new());
    let mut next_id = -1;
    for op in bundle.body_ops().into_iter().filter(|op| op.is(sdsc::OP)) {
        let reject = |message: String| error_at(codes::LAUNCH_LIMIT, op, message).report();
        let spec = sdsc_ops::op_from_ir(op).map_err(reject)?;
        written.extend(written_arguments(&spec));
        let name = op.text_attr(attr::FILE);
        let number = parse_file_number(name).ok_or_else(|| {
            reject(codes::FILE_NAME.format(format_args!("expected a file name sdsc_<n>.json, found '{name}'")))
        })?;
        let sdsc = match &memory {
            Some(memory) => from_op_spec_baked(&spec, number, memory),
            None => {
                let first = next_id;
                next_id = next_symbol_id(&spec, first).map_err(|error| reject(error.to_string()))?;
                from_op_spec(&spec, number, first)
            }
        };
        let mut sdsc = sdsc.map_err(|error| reject(error.to_string()))?;
        let path = format!("{folder}{name}");
        let rounded = find_rounded_constants(&spec, &sdsc);
        if !rounded.is_empty() {
            exact.ops.insert(path.clone(), rounded);
        }
        if format.is_release() {
            sdsc.value.convert_to_release();
        }
        ops.push((path, sdsc));
    }
    let mut files = vec![OutputFile { path: format!("{folder}bundle.mlir"), content: text.into_bytes() }];
    files.extend(serialize_files(&ops));
    Ok(EmittedBundleFiles { files, written: memory.is_none().then_some(written) })
}

/// Returns the files of one bundle in which equal ops share a file.
fn build_shared_bundle_files(
    bundle: Op<'_>,
    folder: &str,
    mut launch: Launch,
    exact: &mut ExactNumbers,
) -> Result<EmittedBundleFiles, ErrorReported> {
    let reject = |op, message: String| error_at(codes::LAUNCH_LIMIT, op, message).report();
    let ops = || bundle.body_ops().into_iter().filter(|op| op.is(sdsc::OP));
    let specs = ops()
        .map(|op| sdsc_ops::op_from_ir(op).map_err(|message| reject(op, message)))
        .collect::<Result<Vec<_>, _>>()?;
    let shared = share_files(&specs.iter().collect::<Vec<_>>(), &[], &mut launch)
        .map_err(|error| reject(bundle, error.to_string()))?;
    let path = |number: usize| format!("{folder}sdsc_{number}.json");
    for (spec, &number) in specs.iter().zip(&shared.file_of_op) {
        let rounded = find_rounded_constants(spec, &shared.files[number]);
        if !rounded.is_empty() {
            exact.ops.entry(path(number)).or_insert(rounded);
        }
    }
    let named: Vec<(String, Sdsc)> =
        shared.files.into_iter().enumerate().map(|(number, file)| (path(number), file)).collect();
    let mut files = vec![OutputFile { path: format!("{folder}bundle.mlir"), content: launch.to_string().into_bytes() }];
    files.extend(serialize_files(&named));
    Ok(EmittedBundleFiles { files, written: Some(specs.iter().flat_map(written_arguments).collect()) })
}

/// Minimum number of op files per thread.
const MIN_OPS_PER_THREAD: usize = 16;

/// Serializes the files of ops, in several threads if there are many. The threads are scoped: those of a pool would
/// remain in the process.
fn serialize_files(ops: &[(String, Sdsc)]) -> Vec<OutputFile> {
    let all_of = |ops: &[(String, Sdsc)]| -> Vec<OutputFile> {
        ops.iter().map(|(path, sdsc)| OutputFile { path: path.clone(), content: to_text(sdsc) }).collect()
    };
    let num_threads = available_parallelism().map_or(1, NonZero::get).min(ops.len() / MIN_OPS_PER_THREAD);
    if num_threads < 2 {
        return all_of(ops);
    }
    thread::scope(|scope| {
        let spelled: Vec<_> =
            ops.chunks(ops.len().div_ceil(num_threads)).map(|ops| scope.spawn(move || all_of(ops))).collect();
        spelled.into_iter().flat_map(|files| files.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    })
}

/// Returns the constants of an op that are rounded in its file.
fn find_rounded_constants(spec: &OpSpec, file: &Sdsc) -> BTreeMap<String, f64> {
    let infos = || file.value.dscs.iter().flat_map(|named| named.value.constants.0.iter()).map(|(_, info)| info);
    let format = |name: &str| infos().find(|info| info.name == *name).and_then(|info| info.format.parse().ok());
    let is_changed = |constant: &&NamedConstant| {
        format(&constant.name).is_some_and(|format| is_rounded_number(constant.value, format))
    };
    spec.constants.iter().filter(is_changed).map(|constant| (constant.name.clone(), constant.value)).collect()
}

/// Rejects a loop that is bounded by a symbolic size if the format requires constant trip counts (torch-spyre facts,
/// D.10 and G.5).
fn check_loop_sizes(bundle: Op<'_>, launch: &Launch, format: Profile) -> Result<(), ErrorReported> {
    let Some(param) = launch.find_loop_size().filter(|_| !format.has_sized_loops()) else { return Ok(()) };
    // These sizes are the last parameters, so they are matched from the end.
    let after = launch.params.iter().rev().position(|other| other.name == param.name).unwrap_or(0);
    let entry = |list: &str| bundle.attr(list).and_then(strings)?.into_iter().rev().nth(after);
    let is_sized = |op: &Op<'_>| {
        op.is("scf.for")
            && op.inputs().get(1).is_some_and(|bound| bound.def().is_none_or(|def| !def.is("arith.constant")))
    };
    let sized = bundle.nested().into_iter().find(is_sized).unwrap_or(bundle);
    let advice = format!(
        "format '{format}' requires constant trip counts; give --bundle-format={}, or one size",
        Profile::TorchSpyre2026_09
    );
    let message = match (entry(attr::SDSC_LOOP_SIZES), entry(attr::SDSC_LOOP_DIMS)) {
        (Some(size), Some(dim)) => {
            format!("repeats for each tile of '{dim}', whose size '{size}' is known at launch only: {advice}")
        }
        _ => codes::TRIP_AT_LAUNCH.format(format_args!("has the bound '%{}', known at launch only: {advice}", param.value)),
    };
    Err(error_at(codes::TRIP_AT_LAUNCH, sized, message).report())
}

/// Returns the bytes of the pool of a bundle whose addresses are baked.
pub(super) fn baked_pool_bytes(bundle: Op<'_>) -> i64 {
    let bytes = bundle.attr(attr::SDSC_POOL_BYTES).and_then(integer);
    bytes.filter(|_| bundle.text_attr(attr::SDSC_ADDRESSES) == "baked").unwrap_or(0)
}

/// Returns the locations of kernel arguments, if the bundle's addresses are baked.
fn baked_memory_map(bundle: Op<'_>, target: &Target) -> Result<Option<MemoryMap>, ErrorReported> {
    if bundle.text_attr(attr::SDSC_ADDRESSES) != "baked" {
        return Ok(None);
    }
    let pool_bytes = baked_pool_bytes(bundle);
    let mut model = Bundle { pool_bytes, items: Vec::new() };
    for op in bundle.body_ops().into_iter().filter(|op| op.is(sdsc::OP)) {
        let spec: OpSpec =
            sdsc_ops::op_from_ir(op).map_err(|message| error_at(codes::MALFORMED_IR, op, message).report())?;
        model.items.push(crate::bundle::BundleItem::Op(Box::new(spec)));
    }
    Ok(Some(MemoryMap::from_bundle(&model, target)))
}

fn parse_file_number(name: &str) -> Option<usize> {
    name.strip_prefix("sdsc_")?.strip_suffix(".json")?.parse().ok()
}

/// Returns the first symbol id of the next op, after an op whose first id is `first`: ids decrease over the complete
/// bundle.
fn next_symbol_id(spec: &OpSpec, first: i64) -> Result<i64, LaunchError> {
    let geometry = Geometry::new(spec)?;
    Ok(OpAddresses::new_symbolic(spec, &geometry, first)?.next_id())
}
