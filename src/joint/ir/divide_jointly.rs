//! `spyre-divide-jointly`: divides the work of all ops together, by what the splits and the placement in LX cost.
//!
//! Reads layouts, access maps, `min_work`, `work_div`, `dims` and program order; writes `work` and removes `work_div`. Replaces
//! `spyre-divide-work`, whose splits are the starting point.

use crate::dialect::ods::option;
use crate::{
    codes,
    dialect::{ComputeOp, IrProgram, plan_of, set_plan, split_of, target_of},
    joint::{
        JointProgram, Memo,
        priced::{Described, PricedOp, priced_when_placed},
    },
    lx::ir::program::{LxProgram, readable},
    mlir::{Op, OpExt, Options, Pass, Reported, error_at},
    plan_file::{Chosen, Split},
    tile::ir::settle_loops::settle_loops,
    work::ir::divide_work::{check_hints, operation_to_divide, set_work, undivided},
};
use cost::Objective;
use machine::Target;
use program::{BufferNumbers, WorkSplit};
use std::rc::Rc;

pub(crate) const PASS: Pass = Pass { argument: "spyre-divide-jointly", run };

fn run(module: Op<'_>, options: &Options) -> Result<(), Reported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    let objective = options.read(module, option::OBJECTIVE)?;
    settle_loops(module);
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let plan = plan_of(function);
        match plan.as_ref().and_then(|chosen| chosen.work.as_deref()) {
            Some(work) => follow(function, work, &target)?,
            None => divide_function(function, &target, objective)?,
        }
        if let Some(chosen) = plan {
            set_plan(
                function,
                &Chosen {
                    work: Some(work_of(function).map_err(|message| error_at(codes::SPLIT_PLAN, function, message).report())?),
                    ..chosen
                },
            );
        }
    }
    Ok(())
}

/// Applies the core splits of a plan file to the ops of a function.
fn follow(function: Op<'_>, work: &[Split], target: &Target) -> Result<(), Reported> {
    let again = "remove 'work' from the plan to choose splits again";
    let ir = readable(function)?;
    let program = joint_program(&ir, target, &mut Memo::default(), &mut BufferNumbers::default())?;
    let ops = ir.ops;
    if ops.len() != work.len() {
        let message = format!("expected one core split per op in the plan, found {} for {} ops; {again}", work.len(), ops.len());
        return Err(error_at(codes::SPLIT_PLAN, function, message).report());
    }
    for (number, (compute, planned)) in ops.into_iter().zip(work).enumerate() {
        let split = WorkSplit::new(planned.slices.clone()).and_then(|split| split.in_order(planned.order.clone()));
        let split = split.ok().filter(|split| program.kind(number).splits.contains(split));
        let split = split.ok_or_else(|| {
            let n_splits = program.kind(number).splits.len();
            let message = format!("expected one of the {n_splits} core splits of the op, found {:?} in the plan; {again}", planned.slices);
            error_at(codes::SPLIT_PLAN, compute.op, message).report()
        })?;
        set_work(compute, &split);
    }
    Ok(())
}

/// Returns the core splits of the ops of a function, for a plan file.
fn work_of(function: Op<'_>) -> Result<Vec<Split>, String> {
    let planned = |compute: ComputeOp<'_>| {
        let split = split_of(compute)?;
        Ok(Split { function: compute.function().to_owned(), slices: split.slices().to_vec(), order: split.order().to_vec() })
    };
    ComputeOp::all_in(function).into_iter().map(planned).collect()
}

/// Divides the work of the ops of a function whose loops are final.
fn divide_function(function: Op<'_>, target: &Target, objective: Objective) -> Result<(), Reported> {
    let mut memo = Memo::default();
    let (ir, described) = described(function, target, &mut memo)?;
    let refuse = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    let (splits, _) = described.choose_splits(target, objective, &mut memo).map_err(refuse)?;
    ir.ops.iter().zip(splits).for_each(|(compute, split)| set_work(*compute, split));
    Ok(())
}

/// Returns the cost of each op of a function whose loops are final, including ops that placement adds, once its work is divided.
pub(crate) fn priced_when_divided(
    function: Op<'_>,
    target: &Target,
    objective: Objective,
    memo: &mut Memo,
) -> Result<Vec<PricedOp>, Reported> {
    let (_, described) = described(function, target, memo)?;
    let refuse = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    let (splits, priced) = described.choose_splits(target, objective, memo).map_err(refuse)?;
    priced.map_or_else(|| described.priced_with_splits(&splits, target).map_err(refuse), Ok)
}

/// Returns the cost of each op of a function whose work is divided, including those that placement adds.
pub(crate) fn priced_ops(function: Op<'_>, target: &Target) -> Result<Vec<PricedOp>, Reported> {
    let refuse = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    priced_when_placed(&LxProgram::of(function)?.divided, target).map_err(refuse)
}

fn described<'c>(function: Op<'c>, target: &Target, memo: &mut Memo) -> Result<(IrProgram<'c>, Described), Reported> {
    check_hints(&ComputeOp::all_in(function))?;
    let ir = readable(function)?;
    let mut numbers = BufferNumbers::default();
    let joint = joint_program(&ir, target, memo, &mut numbers)?;
    let program = Rc::clone(&ir.program);
    Ok((ir, Described { program, joint, numbers }))
}

/// Describes a program for division, and reports an op that cannot be divided.
fn joint_program(ir: &IrProgram<'_>, target: &Target, memo: &mut Memo, numbers: &mut BufferNumbers) -> Result<JointProgram, Reported> {
    let mut ops = Vec::with_capacity(ir.ops.len());
    for (compute, op) in ir.ops.iter().zip(&ir.program.ops) {
        let refuse = |message: String| error_at(codes::SPLIT_PLAN, compute.op, message).report();
        let operation = Rc::new(operation_to_divide(*compute, op.operands.iter().map(|operand| &operand.access))?);
        memo.own_split(&operation, target).map_err(|error| undivided(*compute, &operation, &error))?;
        ops.push((operation, ir.program.tile_op(op, numbers).map_err(refuse)?));
    }
    JointProgram::new(&ir.program, &ops, target, memo).map_err(|(op, error)| undivided(ir.ops[op], &ops[op].0, &error))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        dialect::is_in_lx,
        joint::priced::priced_tiles,
        lx::ir::emit_stays::emit_stays,
        mlir::{Module, Scratch},
    };
    use cost::TileOp;
    use scratchpad::Capacity;

    /// Programs in which values move between LX and HBM: returned values that ops read, inputs of several ops, tiles, views of copies,
    /// copies that HBM does not need.
    const PROGRAMS: [&str; 3] = [
        include_str!("../../../test/lx/plan-lx-stays.mlir"),
        include_str!("../../../test/lx/plan-lx-copies.mlir"),
        include_str!("../../../test/lx/plan-lx-loops.mlir"),
    ];

    /// Returns the prices of the IR that a plan is written to.
    fn priced_on_copy(function: Op<'_>, splits: &[&WorkSplit], target: &Target) -> Vec<PricedOp> {
        let scratch = Scratch::of(function);
        for (compute, split) in ComputeOp::all_in(scratch.op()).into_iter().zip(splits) {
            set_work(compute, split);
        }
        let Ok(program) = LxProgram::of(scratch.op()) else { panic!("no program: {}", scratch.op()) };
        emit_stays(&program, &Capacity::of(target)).unwrap();
        let Ok(ir) = readable(scratch.op()) else { panic!("no program: {}", scratch.op()) };
        let mut numbers = BufferNumbers::default();
        let tile = |(compute, op): (&ComputeOp<'_>, &Rc<program::Op>)| {
            let mut tile: TileOp = ir.program.tile_op(op, &mut numbers).unwrap();
            let split = split_of(*compute).unwrap();
            tile.dims.iter_mut().zip(split.slices()).for_each(|(dim, &slices)| dim.slices = slices);
            for (of_tile, operand) in tile.operands.iter_mut().zip(&op.operands) {
                of_tile.is_in_lx = is_in_lx(ir.values[operand.value.0]);
            }
            tile
        };
        let tiles: Vec<TileOp> = ir.ops.iter().zip(&ir.program.ops).map(tile).collect();
        priced_tiles(&tiles, &ir.program.ops, target)
    }

    /// Compares the prices of a function under several core splits. Returns the numbers of ops that placement adds, and removes.
    fn compare(function: Op<'_>, target: &Target) -> [usize; 2] {
        let Ok((_, described)) = described(function, target, &mut Memo::default()) else { return [0; 2] };
        let program = &described.joint;
        let of = |ops: &[PricedOp]| ops.iter().map(|op| (op.cost.ns.to_bits(), op.cost.hbm_bytes)).collect::<Vec<_>>();
        let mut changes = [0; 2];
        for choice in 0..12 {
            let splits: Vec<&WorkSplit> =
                (0..program.ops.len()).map(|op| program.split(op, (choice * (op + 1)) % program.kind(op).splits.len())).collect();
            let found = described.priced_with_splits(&splits, target).unwrap();
            let expected = priced_on_copy(function, &splits, target);
            assert_eq!(of(&found), of(&expected), "LX of {} bytes, choice {choice}: {function}", target.lx_bytes);
            changes[0] += found.len().saturating_sub(program.ops.len());
            changes[1] += program.ops.len().saturating_sub(found.len());
        }
        changes
    }

    #[test]
    fn prices_of_a_plan_are_those_of_its_ir() {
        let session = crate::pipeline::session();
        let mut changes = [0; 2];
        let layouts = "spyre-propagate-layouts,spyre-insert-restickify";
        let with_copies = format!("{layouts},spyre-divide-work,spyre-clone-inputs");
        let texts = PROGRAMS.iter().flat_map(|text| text.split("// -----\n"));
        for (text, passes) in texts.flat_map(|text| [(text, layouts), (text, with_copies.as_str())]) {
            let mut module = Module::parse(&session, text).unwrap();
            assert!(module.run(passes), "{text}");
            for function in module.op().body_ops().into_iter().filter(|op| op.is("func.func")) {
                for lx_bytes in [1 << 20, 40 << 10, 10 << 10, 2 << 10, 256] {
                    let found = compare(function, &Target { lx_bytes, ..Target::spyre() });
                    changes = [changes[0] + found[0], changes[1] + found[1]];
                }
            }
        }
        assert!(changes.iter().all(|&n_ops| n_ops > 50), "placement adds and removes few ops: {changes:?}");
    }
}
