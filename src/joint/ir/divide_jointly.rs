//! `spyre-divide-jointly`: divides the work of all ops together, by the cost of the splits and of the placement in LX.
//!
//! Reads layouts, access maps, `min_work`, `work_div`, `dims` and program order; writes `work` and removes `work_div`.
//! Replaces `spyre-divide-work`, whose splits are the starting point.

use crate::dialect::ods::option;
use crate::{
    codes,
    dialect::{ComputeOp, IrProgram, core_split_of, read_plan, set_plan, target_of},
    joint::{
        JointMemo, JointProgram,
        placed_costs::{DescribedProgram, PlacedOpCost, compute_costs_when_placed},
    },
    lx::ir::lx_program::{LxProgram, read_function},
    mlir::{ErrorReported, Op, OpExt, Pass, PassOptions, error_at},
    plan_file::{PlanDecisions, PlannedCoreSplit},
    tile::ir::insert_loop_copies::insert_loop_copies,
    work::ir::divide_work::{check_hints, describe_op_to_divide, report_undividable, set_work},
};
use cost::Objective;
use machine::Target;
use program::{BufferNumbering, WorkSplit};
use std::rc::Rc;

pub(crate) const PASS: Pass = Pass { argument: "spyre-divide-jointly", run };

fn run(module: Op<'_>, options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let objective = options.read_enum(module, option::OBJECTIVE)?;
    insert_loop_copies(module);
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let plan = read_plan(function);
        match plan.as_ref().and_then(|chosen| chosen.work.as_deref()) {
            Some(work) => apply_planned_splits(function, work, &target)?,
            None => divide_function(function, &target, objective)?,
        }
        if let Some(chosen) = plan {
            set_plan(
                function,
                &PlanDecisions {
                    work: Some(
                        read_splits(function)
                            .map_err(|message| error_at(codes::SPLIT_PLAN, function, message).report())?,
                    ),
                    ..chosen
                },
            );
        }
    }
    Ok(())
}

/// Applies the core splits of a plan file to the ops of a function.
fn apply_planned_splits(function: Op<'_>, work: &[PlannedCoreSplit], target: &Target) -> Result<(), ErrorReported> {
    let again = "remove 'work' from the plan to choose splits again";
    let ir = read_function(function)?;
    let program = build_joint_program(&ir, target, &mut JointMemo::default(), &mut BufferNumbering::default())?;
    let ops = ir.ops;
    if ops.len() != work.len() {
        let message =
            format!("expected one core split per op in the plan, found {} for {} ops; {again}", work.len(), ops.len());
        return Err(error_at(codes::SPLIT_PLAN, function, message).report());
    }
    for (number, (compute, planned)) in ops.into_iter().zip(work).enumerate() {
        let split = WorkSplit::new(planned.slices.clone()).and_then(|split| split.with_order(planned.order.clone()));
        let split = split.ok().filter(|split| program.op_class(number).splits.contains(split));
        let split = split.ok_or_else(|| {
            let num_splits = program.op_class(number).splits.len();
            let message = format!(
                "expected one of the {num_splits} core splits of the op, found {:?} in the plan; {again}",
                planned.slices
            );
            error_at(codes::SPLIT_PLAN, compute.op, message).report()
        })?;
        set_work(compute, &split);
    }
    Ok(())
}

/// Returns the core splits of the ops of a function, for a plan file.
fn read_splits(function: Op<'_>) -> Result<Vec<PlannedCoreSplit>, String> {
    let planned = |compute: ComputeOp<'_>| {
        let split = core_split_of(compute)?;
        Ok(PlannedCoreSplit {
            function: compute.function().to_owned(),
            slices: split.slices().to_vec(),
            order: split.order().to_vec(),
        })
    };
    ComputeOp::collect_in(function).into_iter().map(planned).collect()
}

/// Divides the work of the ops of a function whose loops are final.
fn divide_function(function: Op<'_>, target: &Target, objective: Objective) -> Result<(), ErrorReported> {
    let mut memo = JointMemo::default();
    let (ir, described) = describe_function(function, target, &mut memo)?;
    let reject = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    let (splits, _) = described.choose_splits(target, objective, &mut memo).map_err(reject)?;
    ir.ops.iter().zip(splits).for_each(|(compute, split)| set_work(*compute, split));
    Ok(())
}

/// Returns the cost of each op of a function whose loops are final, including ops that placement adds, once its work is
/// divided.
pub(crate) fn compute_costs_when_divided(
    function: Op<'_>,
    target: &Target,
    objective: Objective,
    memo: &mut JointMemo,
) -> Result<Vec<PlacedOpCost>, ErrorReported> {
    let (_, described) = describe_function(function, target, memo)?;
    let reject = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    let (splits, priced) = described.choose_splits(target, objective, memo).map_err(reject)?;
    priced.map_or_else(|| described.compute_costs_with_splits(&splits, target).map_err(reject), Ok)
}

/// Returns the cost of each op of a function whose work is divided, including those that placement adds.
pub(crate) fn compute_divided_op_costs(function: Op<'_>, target: &Target) -> Result<Vec<PlacedOpCost>, ErrorReported> {
    let reject = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    compute_costs_when_placed(&LxProgram::from_function(function)?.divided, target).map_err(reject)
}

fn describe_function<'c>(
    function: Op<'c>,
    target: &Target,
    memo: &mut JointMemo,
) -> Result<(IrProgram<'c>, DescribedProgram), ErrorReported> {
    check_hints(&ComputeOp::collect_in(function))?;
    let ir = read_function(function)?;
    let mut numbers = BufferNumbering::default();
    let joint = build_joint_program(&ir, target, memo, &mut numbers)?;
    let program = Rc::clone(&ir.program);
    Ok((ir, DescribedProgram { program, joint, numbers }))
}

/// Describes a program for division, and reports an op that cannot be divided.
fn build_joint_program(
    ir: &IrProgram<'_>,
    target: &Target,
    memo: &mut JointMemo,
    numbers: &mut BufferNumbering,
) -> Result<JointProgram, ErrorReported> {
    let mut ops = Vec::with_capacity(ir.ops.len());
    for (compute, op) in ir.ops.iter().zip(&ir.program.ops) {
        let reject = |message: String| error_at(codes::SPLIT_PLAN, compute.op, message).report();
        let operation = Rc::new(describe_op_to_divide(*compute, op.operands.iter().map(|operand| &operand.access))?);
        memo.find_isolated_split(&operation, target)
            .map_err(|error| report_undividable(*compute, &operation, &error))?;
        ops.push((operation, ir.program.build_tile_op(op, numbers).map_err(reject)?));
    }
    JointProgram::new(&ir.program, &ops, target, memo)
        .map_err(|(op, error)| report_undividable(ir.ops[op], &ops[op].0, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::{is_in_lx, shuffle_destination_of},
        joint::placed_costs::compute_tile_costs,
        lx::{ir::emit_residency::emit_residency, shuffles::build_shape},
        mlir::{DetachedClone, Module},
    };
    use cost::TileOp;

    /// Programs in which values move between LX and HBM: returned values that ops read, inputs of several ops, tiles,
    /// views of copies, copies that HBM does not need.
    const PROGRAMS: [&str; 3] = [
        include_str!("../../../test/lx/allocate-scratchpad-stays.mlir"),
        include_str!("../../../test/lx/allocate-scratchpad-copies.mlir"),
        include_str!("../../../test/lx/allocate-scratchpad-loops.mlir"),
    ];

    /// Returns the costs of the IR after a plan is written to it.
    fn compute_costs_on_clone(function: Op<'_>, splits: &[&WorkSplit], target: &Target) -> Vec<PlacedOpCost> {
        let scratch = DetachedClone::from_op(function);
        for (compute, split) in ComputeOp::collect_in(scratch.op()).into_iter().zip(splits) {
            set_work(compute, split);
        }
        let Ok(program) = LxProgram::from_function(scratch.op()) else { panic!("no program: {}", scratch.op()) };
        emit_residency(&program, target, "spyre-allocate-scratchpad").unwrap();
        let Ok(ir) = read_function(scratch.op()) else { panic!("no program: {}", scratch.op()) };
        let mut numbers = BufferNumbering::default();
        let tile = |(compute, op): (&ComputeOp<'_>, &Rc<program::ProgramOp>)| {
            let mut tile: TileOp = ir.program.build_tile_op(op, &mut numbers).unwrap();
            let split = core_split_of(*compute).unwrap();
            tile.dims.iter_mut().zip(split.slices()).for_each(|(dim, &slices)| dim.slices = slices);
            let destination = shuffle_destination_of(*compute).unwrap();
            let moved = &op.output().access.tensor;
            tile.shuffle = destination.and_then(|to| build_shape(moved, &split, &to).unwrap());
            for (of_tile, operand) in tile.operands.iter_mut().zip(&op.operands) {
                of_tile.is_in_lx = is_in_lx(ir.values[operand.value.0]);
            }
            tile
        };
        let tiles: Vec<TileOp> = ir.ops.iter().zip(&ir.program.ops).map(tile).collect();
        compute_tile_costs(&tiles, &ir.program.ops, target)
    }

    /// Compares the costs of a function under several core splits. Returns the number of ops that placement adds, and
    /// of those that it removes.
    fn compare_costs(function: Op<'_>, target: &Target) -> [usize; 2] {
        let Ok((_, described)) = describe_function(function, target, &mut JointMemo::default()) else { return [0; 2] };
        let program = &described.joint;
        let of =
            |ops: &[PlacedOpCost]| ops.iter().map(|op| (op.cost.ns.to_bits(), op.cost.hbm_bytes)).collect::<Vec<_>>();
        let mut changes = [0; 2];
        for choice in 0..12 {
            let splits: Vec<&WorkSplit> = (0..program.ops.len())
                .map(|op| program.split(op, (choice * (op + 1)) % program.op_class(op).splits.len()))
                .collect();
            let found = described.compute_costs_with_splits(&splits, target).unwrap();
            let expected = compute_costs_on_clone(function, &splits, target);
            assert_eq!(of(&found), of(&expected), "LX of {} bytes, choice {choice}: {function}", target.lx_bytes);
            changes[0] += found.len().saturating_sub(program.ops.len());
            changes[1] += program.ops.len().saturating_sub(found.len());
        }
        changes
    }

    #[test]
    fn computes_equal_costs_for_plan_and_its_ir() {
        let session = crate::pipeline::create_session();
        let mut changes = [0; 2];
        let layouts = "spyre-propagate-layouts,spyre-insert-restickify";
        let with_copies = format!("{layouts},spyre-divide-work,spyre-clone-inputs");
        let texts = PROGRAMS.iter().flat_map(|text| text.split("// -----\n"));
        for (text, passes) in texts.flat_map(|text| [(text, layouts), (text, with_copies.as_str())]) {
            let mut module = Module::parse(&session, text).unwrap();
            assert!(module.run_pipeline(passes), "{text}");
            for function in module.op().body_ops().into_iter().filter(|op| op.is("func.func")) {
                for lx_bytes in [1 << 20, 40 << 10, 10 << 10, 2 << 10, 256] {
                    let found = compare_costs(function, &Target { lx_bytes, ..Target::spyre() });
                    changes = [changes[0] + found[0], changes[1] + found[1]];
                }
            }
        }
        assert!(changes.iter().all(|&n_ops| n_ops > 50), "placement adds and removes few ops: {changes:?}");
    }
}
