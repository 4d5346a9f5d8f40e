//! Loops from a plan file, for `spyre-search-tiling`.

use super::{
    hints::{LabelAllocator, write_hints},
    searched_function::SearchedFunction,
};
use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{set_plan, strip_views},
    mlir::{ErrorReported, Op, OpExt, TensorType, ValueLike, error_at},
    plan_file::{self, PlanDecisions, PlanFile, PlannedLoopNest, compute_program_key},
    search::{HoistedCopy, LoopNest, OperandPosition, TiledLoop},
};
use machine::Target;
use std::collections::BTreeMap;

/// Reads the plan file `path`, if it exists; returns an error if it is for another function or machine.
pub(super) fn read_plan(path: &str, key: &str, target: &Target) -> Result<Option<PlanFile>, String> {
    let of_option = |message: String| format!("option 'plan': {message}");
    let Some(plan) = PlanFile::read(path).map_err(of_option)? else { return Ok(None) };
    let numbers: BTreeMap<String, i64> =
        target.named_parameters().into_iter().map(|(name, number)| (name.to_owned(), number)).collect();
    plan.check(path, key, &numbers).map_err(of_option)?;
    Ok(Some(plan))
}

/// Returns the key of a function before any choice is made. Report attributes are left out because they have locations.
pub(super) fn compute_function_key(function: Op<'_>) -> String {
    let Some(noted) = function.attr(attr::SPYRE_KERNELS) else { return compute_program_key(&function.to_string()) };
    function.remove_attr(attr::SPYRE_KERNELS);
    let key = compute_program_key(&function.to_string());
    function.set_attr(attr::SPYRE_KERNELS, noted);
    key
}

/// Records the chosen loops for the plan file.
pub(super) fn record_loops(function: Op<'_>, key: String, loops: &[LoopNest]) {
    set_plan(function, &PlanDecisions { key, loops: loops.iter().map(to_planned_nest).collect(), work: None });
}

/// Writes the loops of a plan as hints.
pub(super) fn apply_loops(
    function: Op<'_>,
    steps: &SearchedFunction<'_>,
    nests: &[PlannedLoopNest],
) -> Result<(), ErrorReported> {
    let mut labels = LabelAllocator::from_function(function);
    for (number, nest) in nests.iter().enumerate() {
        let loops = from_planned_nest(nest);
        check_loops(&loops, steps).map_err(|message| {
            error_at(codes::PLAN_LOOPS, function, format_args!("loop nest {number} of the plan: {message}")).report()
        })?;
        write_hints(&loops, &steps.ops, 0, &mut labels);
    }
    Ok(())
}

/// Returns an error if the loops name an unknown op or operand, or a dimension that no loop may tile.
/// `spyre-coarse-tile` checks whether counts divide.
fn check_loops(loops: &LoopNest, steps: &SearchedFunction<'_>) -> Result<(), String> {
    let n_ops = steps.plain.len();
    if loops.ops.is_empty() || loops.ops.end > n_ops {
        return Err(format!(
            "expected ops of the program, which has {n_ops}, found {} to {}",
            loops.ops.start, loops.ops.end
        ));
    }
    if let Some(level) = loops.levels.iter().find(|level| level.count < 1) {
        return Err(format!("expected a tile count of at least 1, found {}", level.count));
    }
    for level in &loops.levels {
        for (&op, &dim) in &level.dims {
            let cut = steps
                .plain
                .get(op)
                .ok_or_else(|| format!("expected an op of the program, which has {n_ops}, found op {op}"))?;
            if !cut.may_be_tiled.get(dim).copied().unwrap_or(false) {
                return Err(format!("expected a dimension of op {op} that can be tiled, found dimension {dim}"));
            }
        }
    }
    for copied in &loops.copies {
        if copied.tiled_dims.len() != loops.levels.len() {
            return Err(format!(
                "a copy of the plan has {} tiled dimensions, but the nest has {} loops",
                copied.tiled_dims.len(),
                loops.levels.len()
            ));
        }
        for &OperandPosition { op, operand } in &copied.reads {
            let num_operands = steps
                .plain
                .get(op)
                .map(|op| op.values.len())
                .ok_or_else(|| format!("expected an op of the program, which has {n_ops}, found op {op}"))?;
            if operand >= num_operands {
                return Err(format!("op {op} has {num_operands} operands, and no operand {operand}"));
            }
            let rank = TensorType::from_type(strip_views(steps.ops[op].inputs()[operand]).r#type())
                .map_or(0, |tensor| tensor.shape.len());
            if let Some(dim) = copied.tiled_dims.iter().flatten().find(|dim| **dim >= rank) {
                return Err(format!("operand {operand} of op {op} has {rank} dimensions, and no dimension {dim}"));
            }
        }
    }
    Ok(())
}

fn to_planned_nest(loops: &LoopNest) -> PlannedLoopNest {
    let level = |level: &TiledLoop| plan_file::PlannedLoop { count: level.count, dims: level.dims.clone() };
    let copied = |copied: &HoistedCopy| plan_file::PlannedOperandCopy {
        reads: copied.reads.iter().map(|read| (read.op, read.operand)).collect(),
        cut_dims: copied.tiled_dims.clone(),
    };
    PlannedLoopNest {
        ops: [loops.ops.start, loops.ops.end],
        levels: loops.levels.iter().map(level).collect(),
        copies: loops.copies.iter().map(copied).collect(),
    }
}

fn from_planned_nest(nest: &PlannedLoopNest) -> LoopNest {
    let level = |level: &plan_file::PlannedLoop| TiledLoop { count: level.count, dims: level.dims.clone() };
    let copied = |copied: &plan_file::PlannedOperandCopy| HoistedCopy {
        reads: copied.reads.iter().map(|&(op, operand)| OperandPosition { op, operand }).collect(),
        tiled_dims: copied.cut_dims.clone(),
    };
    LoopNest {
        ops: nest.ops[0]..nest.ops[1],
        levels: nest.levels.iter().map(level).collect(),
        copies: nest.copies.iter().map(copied).collect(),
    }
}
