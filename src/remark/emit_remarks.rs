//! `spyre-emit-remarks`: emits the decisions about ops as optimization remarks. Reads `place`, `work`, and the records
//! of the tile search and of kernel fusion; writes nothing.

use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, MemoryLocation, TileSearchSummary},
    kernel::FusionOutcome,
    mlir::{
        ErrorReported, Op, OpExt, Pass, PassOptions, RemarkKind, are_remarks_enabled, emit_remark,
        find_defined_functions,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-emit-remarks", run };

/// Category of a remark, by which filters select, and its name.
type RemarkCategory = [&'static str; 2];

const LX_PLACE: RemarkCategory = ["spyre-lx", "place"];
const CORE_SPLIT: RemarkCategory = ["spyre-work", "division"];
const RELAYOUT: RemarkCategory = ["spyre-layout", "move"];
const TILING: RemarkCategory = ["spyre-tiles", "loops"];
const FUSION: RemarkCategory = ["spyre-kernels", "fusion"];

fn run(module: Op<'_>, _: &PassOptions) -> Result<(), ErrorReported> {
    // Disabled remarks cost nothing.
    if !are_remarks_enabled(module) {
        return Ok(());
    }
    for function in find_defined_functions(module) {
        let said =
            |(kind, subject, message): UnlocatedRemark| emit_remark(function, function.loc(), kind, subject, &message);
        // These remarks are at the function: the ops that they describe may no longer exist.
        TileSearchSummary::from_function(function).into_iter().map(build_tiling_remark).for_each(said);
        build_fusion_remarks(function).into_iter().for_each(said);
        for compute in ComputeOp::collect_in(function) {
            let said = [build_place_remark(compute), build_core_split_remark(compute), build_relayout_remark(compute)];
            said.into_iter()
                .flatten()
                .for_each(|(kind, subject, message)| emit_remark(function, compute.op.loc(), kind, subject, &message));
        }
    }
    Ok(())
}

/// Remark without its location.
type UnlocatedRemark = (RemarkKind, RemarkCategory, String);

/// Returns the remark about the memory of an op's result; `None` if the result has no place yet.
fn build_place_remark(compute: ComputeOp<'_>) -> Option<UnlocatedRemark> {
    let (function, place) = (compute.function(), compute.placement()?);
    Some(match place.memory {
        MemoryLocation::Lx(offset) => {
            (RemarkKind::Passed, LX_PLACE, format!("result of '{function}' is in LX at {offset}"))
        }
        MemoryLocation::Hbm | MemoryLocation::Pool(_) if place.reason.is_empty() => {
            (RemarkKind::Analysis, LX_PLACE, format!("result of '{function}' is in HBM"))
        }
        MemoryLocation::Hbm | MemoryLocation::Pool(_) => (
            RemarkKind::Missed,
            LX_PLACE,
            codes::HBM_REASON.format(format_args!("result of '{function}' is in HBM: {}", place.reason)),
        ),
    })
}

/// Returns the remark about the number of cores of an op.
fn build_core_split_remark(compute: ComputeOp<'_>) -> Option<UnlocatedRemark> {
    let work = compute.work()?;
    let sizes = compute.iteration_space();
    let cores: i64 = work.iter().product();
    let message = format!(
        "'{}' runs on {cores} cores: {} slices of {}",
        compute.function(),
        join_sizes(&work),
        join_sizes(&sizes)
    );
    Some((RemarkKind::Analysis, CORE_SPLIT, message))
}

fn join_sizes(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

/// Returns the remark about a relayout or copy that the compiler inserted.
fn build_relayout_remark(compute: ComputeOp<'_>) -> Option<UnlocatedRemark> {
    let message = if compute.op.is(spyre::RESTICKIFY) {
        "restickify: the consumer reads other sticks"
    } else {
        compute.op.attr(attr::SPYRE_FOR_LAYOUT)?;
        "copy: the consumer cannot read the layout of the operand"
    };
    Some((RemarkKind::Analysis, RELAYOUT, message.to_owned()))
}

/// Returns the remark about the result of the tile search.
fn build_tiling_remark(found: TileSearchSummary) -> UnlocatedRemark {
    let TileSearchSummary { nests, us, untiled_us, n_evaluated: n_judged, .. } = found;
    let without =
        untiled_us.map_or_else(|| "not possible without loops".to_owned(), |us| format!("without loops {us:.1} us"));
    let rest = format!("{us:.1} us, {without}; {n_judged} candidates evaluated");
    if nests.is_empty() {
        (RemarkKind::Missed, TILING, format!("no loops chosen: {rest}"))
    } else {
        (RemarkKind::Passed, TILING, format!("loops chosen: {}; {rest}", nests.join(", ")))
    }
}

/// Returns the remarks about the ops that were fused into the kernels of a function, and about the others.
fn build_fusion_remarks(function: Op<'_>) -> Vec<UnlocatedRemark> {
    let noted: Option<FusionOutcome> = serde_json::from_str(function.text_attr(attr::SPYRE_KERNELS)).ok();
    let mut said = Vec::new();
    for kernel in noted.into_iter().flat_map(|outcome| outcome.kernels) {
        let name = &kernel.name;
        for fused in &kernel.fused {
            let saved = fused.saved_us.map_or_else(String::new, |us| format!(", which saves {us:.1} us"));
            let (mode, again) =
                (fused.mode, if fused.times > 1 { format!(", computed {} times", fused.times) } else { String::new() });
            let message = format!(
                "'{}' at {} is fused into kernel '{name}' ({mode}{again}){saved}",
                fused.function, fused.location
            );
            said.push((RemarkKind::Passed, FUSION, message));
        }
        for intervals in &kernel.separate {
            let message = format!(
                "'{}' at {} is not fused into kernel '{name}': {}",
                intervals.function, intervals.location, intervals.message
            );
            said.push((RemarkKind::Missed, FUSION, message));
        }
    }
    said
}
