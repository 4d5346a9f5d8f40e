//! `spyre-emit-remarks`: emits the decisions about ops as optimization remarks. Reads `place`, `work`, and the records
//! of the tile search and of kernel fusion; writes nothing.

use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{ComputeOp, Memory, TileSearch},
    kernel::Outcome,
    mlir::{Op, OpExt, Options, Pass, Remark, Reported, functions_of, remark, wants_remarks},
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-emit-remarks", run };

/// Category of a remark, by which filters select, and its name.
type Subject = [&'static str; 2];

const PLACE: Subject = ["spyre-lx", "place"];
const DIVISION: Subject = ["spyre-work", "division"];
const MOVE: Subject = ["spyre-layout", "move"];
const LOOPS: Subject = ["spyre-tiles", "loops"];
const FUSION: Subject = ["spyre-kernels", "fusion"];

fn run(module: Op<'_>, _: &Options) -> Result<(), Reported> {
    // No cost if remarks are disabled.
    if !wants_remarks(module) {
        return Ok(());
    }
    for function in functions_of(module) {
        let said = |(kind, subject, message): Said| remark(function, function.loc(), kind, subject, &message);
        // These remarks are at the function: the ops that they describe may no longer exist.
        TileSearch::of(function).into_iter().map(loops_of).for_each(said);
        fusions_of(function).into_iter().for_each(said);
        for compute in ComputeOp::all_in(function) {
            let said = [place_of(compute), division_of(compute), move_of(compute)];
            said.into_iter().flatten().for_each(|(kind, subject, message)| remark(function, compute.op.loc(), kind, subject, &message));
        }
    }
    Ok(())
}

/// Remark without its location.
type Said = (Remark, Subject, String);

/// Returns the remark about the memory of an op's result; none if it has no place yet.
fn place_of(compute: ComputeOp<'_>) -> Option<Said> {
    let (function, place) = (compute.function(), compute.place()?);
    Some(match place.memory {
        Memory::Lx(offset) => (Remark::Passed, PLACE, format!("result of '{function}' is in LX at {offset}")),
        Memory::Hbm | Memory::Pool(_) if place.reason.is_empty() => (Remark::Analysis, PLACE, format!("result of '{function}' is in HBM")),
        Memory::Hbm | Memory::Pool(_) => {
            (Remark::Missed, PLACE, codes::HBM_REASON.says(format_args!("result of '{function}' is in HBM: {}", place.reason)))
        }
    })
}

/// Returns the remark about the number of cores of an op.
fn division_of(compute: ComputeOp<'_>) -> Option<Said> {
    let work = compute.work()?;
    let sizes = compute.iteration_space();
    let cores: i64 = work.iter().product();
    let message = format!("'{}' runs on {cores} cores: {} slices of {}", compute.function(), joined(&work), joined(&sizes));
    Some((Remark::Analysis, DIVISION, message))
}

fn joined(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
}

/// Returns the remark about a relayout or copy that the compiler inserted.
fn move_of(compute: ComputeOp<'_>) -> Option<Said> {
    let message = if compute.op.is(spyre::RESTICKIFY) {
        "restickify: the consumer reads other sticks"
    } else {
        compute.op.attr(attr::SPYRE_FOR_LAYOUT)?;
        "copy: the consumer cannot read the layout of the operand"
    };
    Some((Remark::Analysis, MOVE, message.to_owned()))
}

/// Returns the remark about the result of the tile search.
fn loops_of(found: TileSearch) -> Said {
    let TileSearch { nests, us, untiled_us, n_judged, .. } = found;
    let without = untiled_us.map_or_else(|| "not possible without loops".to_owned(), |us| format!("without loops {us:.1} us"));
    let rest = format!("{us:.1} us, {without}; {n_judged} candidates evaluated");
    if nests.is_empty() {
        (Remark::Missed, LOOPS, format!("no loops chosen: {rest}"))
    } else {
        (Remark::Passed, LOOPS, format!("loops chosen: {}; {rest}", nests.join(", ")))
    }
}

/// Returns the remarks about the ops that were fused into the kernels of a function, and about the others.
fn fusions_of(function: Op<'_>) -> Vec<Said> {
    let noted: Option<Outcome> = serde_json::from_str(function.text_attr(attr::SPYRE_KERNELS)).ok();
    let mut said = Vec::new();
    for kernel in noted.into_iter().flat_map(|outcome| outcome.kernels) {
        let name = &kernel.name;
        for fused in &kernel.fused {
            let saved = fused.saved_us.map_or_else(String::new, |us| format!(", which saves {us:.1} us"));
            let (mode, again) = (fused.mode, if fused.times > 1 { format!(", computed {} times", fused.times) } else { String::new() });
            let message = format!("'{}' at {} is fused into kernel '{name}' ({mode}{again}){saved}", fused.function, fused.location);
            said.push((Remark::Passed, FUSION, message));
        }
        for stays in &kernel.separate {
            let message = format!("'{}' at {} is not fused into kernel '{name}': {}", stays.function, stays.location, stays.message);
            said.push((Remark::Missed, FUSION, message));
        }
    }
    said
}
