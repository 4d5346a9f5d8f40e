//! `spyre-divide-jointly`: evaluates a choice of splits, on a copy of the program if the plan for LX inserts or removes copies.
//!
//! [`super::joint`] plans whole live ranges; `spyre-plan-lx` also moves values into and out of LX. Both the chosen splits and those of each
//! op in isolation are therefore planned as `spyre-plan-lx` does, and the cheaper result is used.

use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{Access, ComputeOp, Step, copy_tile_of, first_element, home_of, is_in_lx, owner_of, split_of, tile_op_of},
    joint::{self, JointProgram},
    lx::ir::{
        emit_stays::{CopyPosition, Emitted, PlannedCopy, StayPlan, emit_stays},
        program::{Division, LxProgram, Numbers, Values},
    },
    mlir::{Op, OpExt, OperationLike, Reported, Scratch, ValueMap, error_at, integer},
    work::ir::divide_work::set_work,
};
use cost::{Cost, KernelOp, TileOp, TileOperand, describe};
use machine::Target;
use program::{OperandOf, WorkSplit};
use scratchpad::Capacity;
use std::{collections::BTreeMap, rc::Rc};

/// A function, with its description in plain values.
pub(super) struct Described<'c> {
    pub(super) function: Op<'c>,
    pub(super) values: Rc<Values<'c>>,
    pub(super) program: JointProgram,
    /// Numbers of the buffers in the program.
    pub(super) numbers: Numbers,
}

impl<'c> Described<'c> {
    /// Returns the cost of each op, including added ones, if the ops, in order, have these core splits.
    pub(super) fn priced_with_splits(&self, splits: &[&WorkSplit], target: &Target) -> Result<Vec<PricedOp>, Reported> {
        let divided = self.divided(splits);
        let refuse = |message: String| error_at(codes::SPLIT_PLAN, self.function, message).report();
        let plan = StayPlan::new(&divided, &Capacity::of(target)).map_err(refuse)?;
        if let Some(emitted) = plan.emitted(&divided) {
            return self.priced_as_emitted(&divided, &emitted, target).map_err(refuse);
        }
        self.priced_on_copy(splits, target)
    }

    fn divided(&self, splits: &[&WorkSplit]) -> LxProgram<'c> {
        let division = |(op, split): (usize, &&WorkSplit)| Division {
            operation: Rc::clone(&self.program.kind(op).operation),
            split: (*split).clone(),
        };
        LxProgram { values: Rc::clone(&self.values), divisions: splits.iter().enumerate().map(division).collect() }
    }

    /// Returns these costs from a copy of the function whose values are placed.
    fn priced_on_copy(&self, splits: &[&WorkSplit], target: &Target) -> Result<Vec<PricedOp>, Reported> {
        let scratch = Scratch::of(self.function);
        for (compute, split) in ComputeOp::all_in(scratch.op()).into_iter().zip(splits) {
            set_work(compute, split);
        }
        priced_ops(scratch.op(), target)
    }

    /// Prices the ops of a divided program whose values have these places, and the copies between LX and HBM.
    fn priced_as_emitted(&self, divided: &LxProgram<'c>, emitted: &Emitted<'c>, target: &Target) -> Result<Vec<PricedOp>, String> {
        let steps = &divided.values.schedule.steps;
        let mut numbers = self.numbers.clone();
        let mut tiles = self.tiles_in_place(divided, &emitted.in_lx);
        let mut copies: Vec<TileOp> = Vec::with_capacity(emitted.copies.len());
        // For each step the copies before it.
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); steps.len() + 1];
        for (index, copy) in emitted.copies.iter().enumerate() {
            let tile = self.copy_in_place(divided, copy, &copies, &mut numbers, &mut tiles)?;
            copies.push(tile);
            match copy.position {
                CopyPosition::Before(step) => before[step].push(index),
                CopyPosition::Behind(step) => {
                    let next = steps.get(step + 1).map(|next| next.compute.op);
                    let is_beside = next.is_some() && steps[step].compute.op.next_in_block() == next;
                    // Otherwise other ops are between the copy and the copies before the next step.
                    let place = if is_beside { before[step + 1].len() } else { 0 };
                    before[step + 1].insert(place, index);
                }
            }
        }
        let mut kernel = Vec::with_capacity(steps.len() + copies.len());
        let mut made_for: Vec<Option<usize>> = Vec::with_capacity(kernel.capacity());
        for (step, before) in before.iter().enumerate() {
            kernel.extend(before.iter().map(|&copy| copies[copy].shape()));
            made_for.extend(before.iter().map(|_| None));
            kernel.extend(tiles.get(step).map(TileOp::shape));
            made_for.extend((step < steps.len()).then_some(Some(step)));
        }
        let priced = |(op, step): (&KernelOp, Option<usize>)| PricedOp::new(Cost::of(op, &target.time), step.map(|step| &steps[step]));
        Ok(describe(&kernel).iter().zip(made_for).map(priced).collect())
    }

    /// Returns the ops with their splits, and with the operands in LX whose writers are.
    fn tiles_in_place(&self, divided: &LxProgram<'c>, in_lx: &[bool]) -> Vec<TileOp> {
        let steps = &divided.values.schedule.steps;
        let mut places: ValueMap<()> = ValueMap::default();
        for (step, _) in steps.iter().zip(in_lx).filter(|(_, in_lx)| **in_lx) {
            places.insert(step.compute.place_owner().output(), ());
        }
        let is_in_lx = |access: &Access<'_>| owner_of(home_of(access.value)).is_some_and(|owner| places.get(owner.output()).is_some());
        let tile = |((step, division), op): ((&Step<'c>, &Division), &joint::Op)| {
            let mut tile = op.tile.clone();
            set_slices(&mut tile, &division.split);
            tile.operands.iter_mut().zip(&step.accesses).for_each(|(operand, access)| operand.is_in_lx = is_in_lx(access));
            tile
        };
        steps.iter().zip(&divided.divisions).zip(&self.program.ops).map(tile).collect()
    }

    /// Returns a copy between LX and HBM, and makes its readers read it. `copies` are those before it.
    fn copy_in_place(
        &self,
        divided: &LxProgram<'c>,
        copy: &PlannedCopy<'c>,
        copies: &[TileOp],
        numbers: &mut Numbers,
        tiles: &mut [TileOp],
    ) -> Result<TileOp, String> {
        let steps = &divided.values.schedule.steps;
        let (step, is_to_lx) = match copy.position {
            CopyPosition::Before(step) => (step, true),
            CopyPosition::Behind(step) => (step, false),
        };
        let mut tile = copy_tile_of(&steps[step].loops, copy.value)?;
        set_slices(&mut tile, &copy.split);
        let is_returned = tile.operands[0].is_argument;
        let of_copy = |operand: &mut TileOperand, buffer: usize| {
            (operand.buffer, operand.is_kernel_input, operand.is_in_lx) = (buffer, false, is_to_lx);
            operand.is_argument = !is_to_lx && is_returned;
            operand.advances.fill(false);
        };
        let mut parts: BTreeMap<i64, usize> = BTreeMap::new();
        let mut number_of = |first: i64| *parts.entry(first).or_insert_with(|| numbers.fresh());
        of_copy(&mut tile.operands[1], number_of(0));
        for &OperandOf { op, operand } in &copy.reads {
            let first = first_element(&steps[op].accesses[operand], &steps[op].compute.iteration_space())?;
            of_copy(&mut tiles[op].operands[operand], number_of(first));
        }
        match copy.from {
            Some(other) => {
                let written = copies[other].operands.last().cloned().unwrap_or_default();
                tile.operands[0] = TileOperand { is_output: false, ..written };
            }
            None => tile.operands[0].buffer = numbers.of(home_of(copy.value), 0),
        }
        if !is_to_lx {
            // The function returns the copy, and no longer the value.
            tile.operands[0].is_in_lx = true;
            let reads = divided.values.schedule.readers(copy.value).iter().filter(|read| !copy.reads.contains(read));
            tile.operands[0].is_argument = false;
            reads.for_each(|read| tiles[read.op].operands[read.operand].is_argument = false);
            tiles[step].operands.last_mut().into_iter().for_each(|written| written.is_argument = false);
        }
        Ok(tile)
    }
}

fn set_slices(tile: &mut TileOp, split: &WorkSplit) {
    tile.dims.iter_mut().zip(split.slices()).for_each(|(dim, &slices)| dim.slices = slices);
}

/// Cost of an op.
pub(crate) struct PricedOp {
    pub(crate) cost: Cost,
    /// Number in `spyre.number`; none for an op that a pass added.
    pub(crate) number: Option<i64>,
    /// Number of times that loops compute the same result of the op.
    times: i64,
}

impl PricedOp {
    /// Creates the cost of an op of the program, or of an op that was added.
    fn new(cost: Cost, step: Option<&Step<'_>>) -> Self {
        let integer = |name: &str| step.and_then(|step| step.compute.op.attr(name)).and_then(integer);
        Self { cost, number: integer(attr::SPYRE_NUMBER), times: integer(attr::SPYRE_TIMES).map_or(1, |times| times.max(1)) }
    }

    /// Returns the time of all executions but the first, ns.
    pub(crate) fn again_ns(&self) -> f64 {
        self.cost.ns * (self.times - 1) as f64 / self.times as f64
    }
}

/// Assigns places to the values of a divided function, and returns the cost of each op with the number of times that
/// loops repeat it.
pub(crate) fn priced_ops(function: Op<'_>, target: &Target) -> Result<Vec<PricedOp>, Reported> {
    let refuse = |message: String| error_at(codes::SPLIT_PLAN, function, message).report();
    emit_stays(&LxProgram::of(function)?, &Capacity::of(target)).map_err(refuse)?;
    priced(&Values::of(function)?, target).map_err(refuse)
}

/// Prices the ops of a divided and placed program, as one kernel.
fn priced(values: &Values<'_>, target: &Target) -> Result<Vec<PricedOp>, String> {
    let mut numbers = Numbers::default();
    let mut kernel = Vec::with_capacity(values.schedule.steps.len());
    for step in &values.schedule.steps {
        let mut tile = tile_op_of(step, |buffer, first_element| numbers.of(buffer, first_element))?;
        for (dim, &slices) in tile.dims.iter_mut().zip(split_of(step.compute)?.slices()) {
            dim.slices = slices;
        }
        for (operand, access) in tile.operands.iter_mut().zip(&step.accesses) {
            operand.is_in_lx = is_in_lx(access.value);
        }
        kernel.push(tile.shape());
    }
    let steps = values.schedule.steps.iter();
    Ok(describe(&kernel).iter().zip(steps).map(|(op, step)| PricedOp::new(Cost::of(op, &target.time), Some(step))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        joint::{Memo, ir::divide_jointly::described},
        mlir::Module,
    };

    /// Inputs that several ops read, and a returned value that is read as well.
    const PROGRAM: &str = "
      func.func @main(%x: tensor<256x512xf16>, %w: tensor<512x512xf16>) -> (tensor<256x512xf16>, tensor<256x512xf16>) {
        %exp = spyre.pointwise exp(%x) : tensor<256x512xf16>
        %sum = spyre.pointwise add(%exp, %x) : tensor<256x512xf16>
        %product = spyre.matmul(%sum, %w) : (tensor<256x512xf16>, tensor<512x512xf16>) -> tensor<256x512xf16>
        %scaled = spyre.pointwise mul(%product, %x) : tensor<256x512xf16>
        %last = spyre.pointwise add(%scaled, %sum) : tensor<256x512xf16>
        return %scaled, %last : tensor<256x512xf16>, tensor<256x512xf16>
      }";

    #[test]
    fn prices_of_a_plan_are_those_of_its_ir() {
        let session = crate::pipeline::session();
        let mut module = Module::parse(&session, PROGRAM).unwrap();
        assert!(module.run("spyre-propagate-layouts,spyre-insert-restickify"));
        let function = module.op().body_ops().into_iter().find(|op| op.is("func.func")).unwrap();
        let mut n_copies = 0;
        for lx_bytes in [1 << 20, 40 << 10, 20 << 10, 10 << 10, 4 << 10] {
            let target = Target { lx_bytes, ..Target::spyre() };
            let Ok(described) = described(function, &target, &mut Memo::default()) else { panic!("no program: {function}") };
            let program = &described.program;
            for choice in 0..12 {
                let splits: Vec<&WorkSplit> =
                    (0..program.ops.len()).map(|op| program.split(op, (choice * (op + 1)) % program.kind(op).splits.len())).collect();
                let divided = described.divided(&splits);
                let Ok(plan) = StayPlan::new(&divided, &Capacity::of(&target)) else { panic!("no plan") };
                let Some(emitted) = plan.emitted(&divided) else { continue };
                n_copies += emitted.copies.len();
                let of = |ops: &[PricedOp]| ops.iter().map(|op| (op.cost.ns.to_bits(), op.cost.hbm_bytes)).collect::<Vec<_>>();
                let found = described.priced_as_emitted(&divided, &emitted, &target).unwrap();
                let Ok(expected) = described.priced_on_copy(&splits, &target) else { panic!("not priced") };
                assert_eq!(of(&found), of(&expected), "LX of {lx_bytes} bytes, choice {choice}");
            }
        }
        assert!(n_copies > 0, "no plan has copies");
    }
}
