//! Rewrites a program as its residency plan says: inserts the copies between LX and HBM, removes the copies that HBM
//! does not need, and places the results.

use super::{
    program_residency::{CopyDirection, PlannedCopy, ProgramResidencyPlan, ResultLocation},
    values::{DividedProgram, overwrites_carried_value},
};
use cost::ShuffleShape;
use machine::Family;
use program::{
    OpOperand, OpRole, OperandRef, Program, ProgramOp, ProgramTensor, ProgramValue, TensorAccess, ValueDef, ValueId,
    WorkSplit,
};
use std::rc::Rc;

/// Program whose values are placed.
pub(crate) struct PlacedProgram {
    pub(crate) program: Program,
    /// For each op its core split.
    pub(crate) splits: Vec<WorkSplit>,
    /// For each op the position of the op before the rewrite that accesses the same values; `None` for other ops.
    pub(crate) unchanged: Vec<Option<usize>>,
    /// For each op its movement between cores, if it is a shuffle.
    pub(crate) shuffles: Vec<Option<ShuffleShape>>,
    /// For each value whether its buffer is in LX.
    in_lx: Vec<bool>,
}

impl PlacedProgram {
    /// Applies a plan to the program that it was made for.
    ///
    /// # Errors
    /// Returns an error if a copy does not have the slices of its user, or an operand cannot be read from a copy.
    pub(crate) fn new(divided: &DividedProgram, plan: &ProgramResidencyPlan) -> Result<Self, String> {
        let program = &divided.program;
        let mut rewrite = PlacementRewriter {
            divided,
            ops: program.ops.clone(),
            values: program.values.clone(),
            is_changed: vec![false; program.ops.len()],
            is_removed: vec![false; program.ops.len()],
            copies: Vec::new(),
            before: vec![Vec::new(); program.ops.len() + 1],
            in_lx: vec![false; program.values.len()],
        };
        for copy in plan.copies(divided)? {
            rewrite.insert_copy(&copy)?;
        }
        for (time, place) in plan.result_locations() {
            rewrite.place_result(time, &place);
        }
        Ok(rewrite.finish())
    }

    /// Returns whether an operand is in LX.
    pub(crate) fn is_in_lx(&self, operand: &OpOperand) -> bool {
        let base = self.program.value(operand.value).base;
        self.program.value(base).owner.is_some_and(|owner| self.in_lx[owner.0])
    }
}

/// Copy that a plan adds.
struct AddedCopy {
    op: Rc<ProgramOp>,
    split: WorkSplit,
    shuffle: Option<ShuffleShape>,
}

struct PlacementRewriter<'a> {
    divided: &'a DividedProgram,
    ops: Vec<Rc<ProgramOp>>,
    values: Vec<Rc<ProgramValue>>,
    is_changed: Vec<bool>,
    is_removed: Vec<bool>,
    /// Copies in the order of their insertion.
    copies: Vec<AddedCopy>,
    /// For each op the copies before it, by index; then those after the last op.
    before: Vec<Vec<usize>>,
    /// For each value whether it owns a buffer in LX.
    in_lx: Vec<bool>,
}

impl PlacementRewriter<'_> {
    fn value(&self, id: ValueId) -> &ProgramValue {
        &self.values[id.0]
    }

    fn insert_copy(&mut self, copy: &PlannedCopy) -> Result<(), String> {
        match &copy.direction {
            CopyDirection::Store { after, others } => {
                self.insert_store(copy, *after, others);
                Ok(())
            }
            CopyDirection::Load { before, readers, .. } => self.insert_load(copy, (*before, *before), readers),
            CopyDirection::Shuffle { before, shuffle, .. } => {
                self.insert_load(copy, (*before, copy.user.op), &shuffle.readers)
            }
        }
    }

    /// Copies a value out of LX; all operands but `others` read the copy.
    fn insert_store(&mut self, copy: &PlannedCopy, after: usize, others: &[OperandRef]) {
        let base = self.value(copy.value).base;
        let is_returned = self.value(base).is_returned;
        Rc::make_mut(&mut self.values[base.0]).is_returned = false;
        self.is_changed[after] = true;
        let stored = self.add_copy(copy, copy.value, after);
        Rc::make_mut(&mut self.values[stored.0]).is_returned = is_returned;
        let index = self.copies.len() - 1;
        // Otherwise other ops are between the copy and the copies before the next op.
        let place = if self.ops[after].is_followed_at_once { self.before[after + 1].len() } else { 0 };
        self.before[after + 1].insert(place, index);
        for &read in self.divided.program.readers(copy.value) {
            self.is_changed[read.op] = true;
            if !others.contains(&read) {
                Rc::make_mut(&mut self.ops[read.op]).operands[read.operand].value = stored;
            }
        }
    }

    /// Copies a value into LX for some readers, before an op and in the loops of the op `beside`.
    fn insert_load(
        &mut self,
        copy: &PlannedCopy,
        (before, beside): (usize, usize),
        readers: &[OperandRef],
    ) -> Result<(), String> {
        let first = readers.first().ok_or("a residency interval begins without a reader")?;
        let from = self.ops[first.op].operands[first.operand].value;
        let loaded = self.add_copy(copy, from, beside);
        self.in_lx[loaded.0] = true;
        self.before[before].push(self.copies.len() - 1);
        for read in readers {
            let operand = self.redirect_operand(&self.ops[read.op].operands[read.operand], loaded)?;
            self.is_changed[read.op] = true;
            Rc::make_mut(&mut self.ops[read.op]).operands[read.operand] = operand;
        }
        Ok(())
    }

    /// Returns an operand that reads a copy instead of its value.
    fn redirect_operand(&self, operand: &OpOperand, copy: ValueId) -> Result<OpOperand, String> {
        let (of_value, of_copy) = (&self.value(operand.value).tensor, &self.value(copy).tensor);
        let access =
            if of_value == of_copy { operand.access.clone() } else { self.access_without_layouts(operand, of_copy)? };
        Ok(OpOperand { operand: copy, value: copy, access, own: operand.own.clone(), moves: Ok(Vec::new()) })
    }

    /// Returns the access of an operand to a copy in another layout, whose views keep only their indices.
    fn access_without_layouts(&self, operand: &OpOperand, copied: &ProgramTensor) -> Result<TensorAccess, String> {
        let (mut indices, mut at) = (operand.own.clone(), operand.operand);
        while let ValueDef::View { of, indices: viewed } = &self.value(at).def {
            let viewed = viewed
                .as_ref()
                .ok_or("a copy is read through a view that does not only permute, shift, add or drop dimensions")?;
            let through = |&(dim, offset): &(Option<usize>, i64)| {
                let (moving, first) = dim.map_or((None, 0), |dim| indices[dim]);
                (moving, first + offset)
            };
            indices = viewed.iter().map(through).collect();
            at = *of;
        }
        let (dims, offsets) = indices.into_iter().unzip();
        Ok(TensorAccess { tensor: copied.clone(), dims, offsets, used_as: operand.access.used_as })
    }

    /// Adds a copy in the loops of the op at `beside`. Returns its result.
    fn add_copy(&mut self, copy: &PlannedCopy, from: ValueId, beside: usize) -> ValueId {
        let copied = ValueId(self.values.len());
        let (op, source) = (&self.ops[beside], self.value(from));
        let operand = |id: ValueId, tensor: &ProgramTensor, moves| OpOperand {
            operand: id,
            value: id,
            own: (0..tensor.shape.len()).map(|dim| (Some(dim), 0)).collect(),
            access: TensorAccess::identity(tensor.clone()),
            moves,
        };
        let made = ProgramOp {
            family: Family::Copy,
            role: OpRole::Copy { is_removable: false },
            function: String::new(),
            space: source.tensor.shape.clone(),
            num_reduced: 0,
            operands: vec![
                operand(from, &source.tensor, source.moves.clone()),
                operand(copied, &copy.copied, Ok(Vec::new())),
            ],
            block: op.block,
            loops: op.loops.clone(),
            is_placed: false,
            result: Rc::default(),
            is_followed_at_once: false,
            number: None,
            times: 1,
        };
        let shuffle = match &copy.direction {
            CopyDirection::Shuffle { shuffle, .. } => Some(shuffle.shape),
            CopyDirection::Load { .. } | CopyDirection::Store { .. } => None,
        };
        self.copies.push(AddedCopy { op: Rc::new(made), split: copy.split.clone(), shuffle });
        self.values.push(Rc::new(ProgramValue {
            tensor: copy.copied.clone(),
            def: ValueDef::Op,
            block: self.ops[beside].block,
            base: copied,
            written: copied,
            owner: Some(copied),
            is_returned: false,
            moves: Ok(Vec::new()),
        }));
        self.in_lx.push(false);
        copied
    }

    /// Places the result of an op, or removes a copy that is not needed in HBM.
    fn place_result(&mut self, time: usize, place: &ResultLocation) {
        let program = &self.divided.program;
        if overwrites_carried_value(program, time) {
            return;
        }
        let base = program.value(program.result(time)).base;
        match place {
            ResultLocation::Lx(_) => {
                if let Some(owner) = program.value(base).owner {
                    self.in_lx[owner.0] = true;
                }
            }
            ResultLocation::Hbm(_) if self.is_removed_in_hbm(time) => self.remove_copy(time),
            ResultLocation::Hbm(_) => {}
        }
    }

    /// Returns whether a copy would only cost HBM traffic in HBM. A copy from LX stays, because its source may be
    /// overwritten before the readers run.
    fn is_removed_in_hbm(&self, time: usize) -> bool {
        let op = &self.ops[time];
        let base = self.value(op.operands[0].value).base;
        let is_in_lx = || self.value(base).owner.is_some_and(|owner| self.in_lx[owner.0]);
        op.role == OpRole::Copy { is_removable: true } && !is_in_lx()
    }

    /// Removes a copy; its readers read its source.
    fn remove_copy(&mut self, time: usize) {
        let source = self.ops[time].operands[0].clone();
        let removed = self.divided.program.result(time);
        let reread = |operand: &OpOperand| {
            let access = TensorAccess { tensor: source.access.tensor.clone(), ..operand.access.clone() };
            OpOperand { access, own: operand.own.clone(), ..source.clone() }
        };
        self.is_removed[time] = true;
        for read in self.divided.program.readers(removed) {
            let operand = &self.ops[read.op].operands[read.operand];
            // Readers of a copy in LX still read it.
            if operand.value == removed {
                let operand = reread(operand);
                self.is_changed[read.op] = true;
                Rc::make_mut(&mut self.ops[read.op]).operands[read.operand] = operand;
            }
        }
        for copy in self.copies.iter_mut().filter(|copy| copy.op.operands[0].value == removed) {
            let operand = reread(&copy.op.operands[0]);
            Rc::make_mut(&mut copy.op).operands[0] = operand;
        }
    }

    fn finish(self) -> PlacedProgram {
        let n_ops = self.ops.len() + self.copies.len();
        let (mut ops, mut splits, mut unchanged) =
            (Vec::with_capacity(n_ops), Vec::with_capacity(n_ops), Vec::with_capacity(n_ops));
        let mut shuffles = Vec::with_capacity(n_ops);
        for (time, before) in self.before.iter().enumerate() {
            for copy in before.iter().map(|&copy| &self.copies[copy]) {
                ops.push(Rc::clone(&copy.op));
                splits.push(copy.split.clone());
                unchanged.push(None);
                shuffles.push(copy.shuffle);
            }
            if let Some(op) = self.ops.get(time).filter(|_| !self.is_removed[time]) {
                ops.push(Rc::clone(op));
                splits.push(self.divided.divisions[time].split.clone());
                unchanged.push((!self.is_changed[time]).then_some(time));
                shuffles.push(None);
            }
        }
        let program = Program::new(ops, Rc::clone(&self.divided.program.loops), self.values);
        PlacedProgram { program, splits, unchanged, shuffles, in_lx: self.in_lx }
    }
}
