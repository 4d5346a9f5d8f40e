//! Writes the merged loop.

use super::LoopMerge;
use crate::dialect::ods::attr;
use crate::{
    dialect::{TiledOutput, build_broadcast_view, build_loop, build_pointwise, build_yield, tiled_dims, tiled_outputs},
    mlir::{
        AffineExpression, Op, OpExt, TensorType, Type, Value, ValueExt, ValueLike, ValueMap, append_op, insert_before,
        integer, new_block, unit_attribute,
    },
    tile::{Correction, RunningDependence, RunningTerm, ir::compact_type},
};

/// Loop under construction.
struct MergedLoopBuilder<'a, 'c> {
    merge: &'a LoopMerge<'c>,
    around: Op<'c>,
    /// Maps values of the two loops, and of the ops between them, to values in the merged body.
    now: ValueMap<Value<'c>>,
    /// Maps running values to their values at the start of the iteration.
    before: ValueMap<Value<'c>>,
    /// Changes of running values that corrections use, by the running value, whether it is subtracted, and whether its
    /// exponential is taken.
    changes: Vec<((usize, bool, bool), Value<'c>)>,
}

impl<'c> LoopMerge<'c> {
    /// Writes the merged loop in place of the first one.
    pub(in crate::tile::ir) fn build(self) -> Op<'c> {
        for op in &self.early {
            op.move_to_before(self.first);
        }
        let given: Vec<TiledOutput<'c>> =
            [self.first, self.second].into_iter().flat_map(|from| self.collect_yielded_tiles(from)).collect();
        let operands = self.collect_operands();
        let arguments: Vec<Type<'c>> = operands.iter().map(|(argument, ..)| argument.r#type()).collect();
        let carried = || self.carried.iter().flatten().map(|(of, _)| of.carried);
        let results: Vec<Value<'c>> =
            given.iter().map(|given| given.whole).chain(carried().map(|carried| carried.result)).collect();
        let outputs: Vec<Type<'c>> = results.iter().map(ValueLike::r#type).collect();
        let tiled: Vec<(Value<'c>, usize)> =
            operands.iter().filter_map(|&(_, value, dim)| Some((value, dim?))).collect();
        let before: Vec<Value<'c>> = carried().map(|carried| carried.before).collect();
        let (context, location) = (self.first.ctx(), self.second.loc());
        let level = (self.first.text_attr(attr::DIM), self.first.required_attr("count", integer));
        let body = new_block(&arguments, location);
        let around = insert_before(self.first, build_loop(context, location, level, &tiled, &before, &outputs, body));
        if let Some(symbol) = self.first.attr(attr::SYMBOL) {
            around.set_attr(attr::SYMBOL, symbol);
        }
        let corrects = self.carried[1].iter().any(|(_, correction)| correction.is_some());
        if corrects || [self.first, self.second].iter().any(|from| from.attr(attr::SPYRE_CORRECTS).is_some()) {
            around.set_attr(attr::SPYRE_CORRECTS, unit_attribute(context));
        }
        let mut built = MergedLoopBuilder {
            merge: &self,
            around,
            now: ValueMap::default(),
            before: ValueMap::default(),
            changes: Vec::new(),
        };
        built.map_arguments(&operands);
        built.write_body();
        built.write_terminator(&given);
        for (result, merged) in results.iter().zip(around.outputs()) {
            result.replace_with(merged);
        }
        self.erase_merged_loops();
        erase_dead_ops(around);
        around
    }

    /// Returns the operands of the merged loop, first the tiled ones, then the carried ones: an argument of one of the
    /// old loops, the value, and the tiled dimension (`None` if carried).
    fn collect_operands(&self) -> Vec<(Value<'c>, Value<'c>, Option<usize>)> {
        let mut tiled: Vec<(Value<'c>, Value<'c>, Option<usize>)> = Vec::new();
        for from in [self.first, self.second] {
            let read = from.body_args().into_iter().zip(from.inputs()).zip(tiled_dims(from));
            let is_handed = |argument: Value<'c>| self.forwarded.iter().any(|handed| handed.argument == argument);
            tiled.extend(
                read.filter(|((argument, _), _)| !is_handed(*argument))
                    .map(|((argument, whole), dim)| (argument, whole, Some(dim))),
            );
        }
        let carried = self.carried.iter().flatten().map(|(of, _)| (of.carried.argument, of.carried.before, None));
        tiled.into_iter().chain(carried).collect()
    }

    /// Returns the tiled results of a loop that have uses other than the second loop.
    fn collect_yielded_tiles(&self, from: Op<'c>) -> Vec<TiledOutput<'c>> {
        tiled_outputs(from).into_iter().filter(|given| self.has_other_users(given.whole)).collect()
    }

    /// Returns whether ops other than the second loop read a result of the first one, or a view through which it reads
    /// the result.
    fn has_other_users(&self, value: Value<'c>) -> bool {
        let is_handed_on = |user: Op<'c>| self.forwarded.iter().any(|handed| handed.view == Some(user));
        value.users().into_iter().any(|user| match user {
            _ if user == self.second => false,
            _ if is_handed_on(user) => self.has_other_users(user.output()),
            _ => true,
        })
    }

    fn erase_merged_loops(&self) {
        let views = self.forwarded.iter().filter_map(|handed| handed.view);
        let unread = |op: &Op<'c>| op.outputs().iter().all(|value| value.users().is_empty());
        self.second.erase();
        let mut done: Vec<Op<'c>> = Vec::new();
        for op in self.running.iter().rev().copied().chain(views) {
            if !done.contains(&op) && unread(&op) {
                op.erase();
                done.push(op);
            }
        }
        self.first.erase();
    }
}

/// Erases the dead ops of a body.
fn erase_dead_ops(around: Op<'_>) {
    for op in around.body_ops().into_iter().rev() {
        if !op.outputs().is_empty() && op.outputs().iter().all(|value| value.users().is_empty()) {
            op.erase();
        }
    }
}

impl<'c> MergedLoopBuilder<'_, 'c> {
    fn map_arguments(&mut self, operands: &[(Value<'c>, Value<'c>, Option<usize>)]) {
        for ((argument, ..), own) in operands.iter().zip(self.around.body_args()) {
            self.now.insert(*argument, own);
        }
        for (of, _) in &self.merge.carried[0] {
            if let Some(own) = self.now.get(of.carried.argument).copied() {
                self.before.insert(of.carried.after, own);
                self.before.insert(of.carried.result, own);
            }
        }
    }

    /// Inserts the ops of the first loop, those between the loops, and those of the second one.
    fn write_body(&mut self) {
        let merge = self.merge;
        ops_before_terminator(merge.first).into_iter().for_each(|op| self.clone_op(op));
        for (of, _) in &merge.carried[0] {
            let after = self.lookup_value(of.carried.after);
            self.now.insert(of.carried.result, after);
        }
        merge.running.iter().for_each(|op| self.clone_op(*op));
        for handed in &merge.forwarded {
            let viewed = self.forward_tile(handed.left, handed.argument, handed.view);
            self.now.insert(handed.argument, viewed);
        }
        for op in ops_before_terminator(merge.second) {
            let corrected = merge.carried[1]
                .iter()
                .find(|(of, _)| of.combine == op)
                .and_then(|(of, correction)| Some((of, correction.as_ref()?)));
            let Some((of, correction)) = corrected else {
                self.clone_op(op);
                continue;
            };
            let had = self.insert_correction(self.lookup_value(of.carried.argument), correction);
            self.clone_op(op);
            if let Some(combine) = self.lookup_value(of.carried.after).def() {
                combine.set_input(0, had);
            }
        }
    }

    /// Returns the new value for a value of the old loops; a value from outside of them is returned unchanged.
    fn lookup_value(&self, value: Value<'c>) -> Value<'c> {
        self.now.get(value).copied().unwrap_or(value)
    }

    fn clone_op(&mut self, op: Op<'c>) {
        let copied = append_op(self.around, (*op).clone());
        for (index, value) in op.inputs().into_iter().enumerate() {
            copied.set_input(index, self.lookup_value(value));
        }
        for (old, new) in op.outputs().into_iter().zip(copied.outputs()) {
            self.now.insert(old, new);
        }
    }

    /// Returns a tile that the first loop yields, as the second one reads it: without the copy that was made for the
    /// loop.
    fn forward_tile(&self, left: Value<'c>, argument: Value<'c>, through: Option<Op<'c>>) -> Value<'c> {
        let made =
            left.def().filter(|def| def.attr(attr::SPYRE_FOR_LOOP).is_some()).map_or(left, |copy| copy.inputs()[0]);
        let made = self.lookup_value(made);
        let Some(through) = through else { return made };
        let viewed = append_op(self.around, (*through).clone());
        viewed.set_input(0, made);
        viewed.output().retype(argument.r#type());
        viewed.output()
    }

    /// Corrects the accumulated value `had` to the running value of this iteration.
    fn insert_correction(&mut self, had: Value<'c>, correction: &Correction) -> Value<'c> {
        let (term, is_factor) = match correction {
            Correction::Multiply(term) => (term, true),
            Correction::Add(term) => (term, false),
        };
        let change = self.insert_change(term, is_factor);
        let viewed = self.view_with_dims_of(change, term, had.r#type());
        let function = if is_factor { "mul" } else { "add" };
        append_op(
            self.around,
            build_pointwise(self.around.ctx(), self.around.loc(), function, &[had, viewed], &[], had.r#type()),
        )
        .output()
    }

    /// Returns the change of a running value in this iteration, or the exponential of the change.
    fn insert_change(&mut self, term: &RunningTerm, is_factor: bool) -> Value<'c> {
        let key = (term.value, term.is_subtracted, is_factor);
        if let Some((_, known)) = self.changes.iter().find(|(other, _)| *other == key) {
            return *known;
        }
        let value = self.merge.analysis.value(term.value);
        let (old, new) = (self.previous_value(value), self.lookup_value(value));
        // f(tile) - r: values that were computed with the old r have too little subtracted.
        let operands = if term.is_subtracted { [old, new] } else { [new, old] };
        let (context, location) = (self.around.ctx(), self.around.loc());
        let put = |function: &str, operands: &[Value<'c>]| {
            append_op(self.around, build_pointwise(context, location, function, operands, &[], value.r#type())).output()
        };
        let difference = put("sub", &operands);
        let change = if is_factor { put("exp", &[difference]) } else { difference };
        self.changes.push((key, change));
        change
    }

    /// Returns the value that a running value had at the start of the iteration.
    fn previous_value(&mut self, value: Value<'c>) -> Value<'c> {
        if let Some(&known) = self.before.get(value) {
            return known;
        }
        let is_running = matches!(self.merge.analysis.dependence(value), RunningDependence::Running(..));
        let Some(op) = value.def().filter(|_| is_running) else { return self.lookup_value(value) };
        let inputs: Vec<Value<'c>> = op.inputs().into_iter().map(|input| self.previous_value(input)).collect();
        let copied = append_op(self.around, (*op).clone());
        inputs.into_iter().enumerate().for_each(|(index, input)| copied.set_input(index, input));
        self.before.insert(value, copied.output());
        copied.output()
    }

    /// Returns a running value viewed with the dimensions of a value that was computed from it.
    fn view_with_dims_of(&self, value: Value<'c>, term: &RunningTerm, like: Type<'c>) -> Value<'c> {
        let (Some(own), Some(like)) = (TensorType::from_type(value.r#type()), TensorType::from_type(like)) else {
            return value;
        };
        let is_under_own = term.dims.iter().enumerate().all(|(dim, moving)| moving.is_none_or(|moving| moving == dim));
        if is_under_own && own.shape.len() == like.shape.len() {
            return value;
        }
        let indices: Vec<AffineExpression> = term
            .dims
            .iter()
            .map(|moving| moving.map_or(AffineExpression::Constant(0), AffineExpression::Dim))
            .collect();
        let (context, location) = (self.around.ctx(), self.around.loc());
        append_op(self.around, build_broadcast_view(context, location, (value, own.element), &indices, &like.shape))
            .output()
    }

    fn write_terminator(&mut self, given: &[TiledOutput<'c>]) {
        let carried: Vec<Value<'c>> =
            self.merge.carried.iter().flatten().map(|(of, _)| self.lookup_value(of.carried.after)).collect();
        let tiles: Vec<(Value<'c>, usize)> =
            given.iter().map(|given| (self.lookup_value(given.tile), given.dim)).collect();
        append_op(self.around, build_yield(self.around.ctx(), self.around.loc(), &tiles, &carried));
        self.compact_tiles(given);
    }

    /// Gives compact types to tiles whose buffers have no other uses, since these tiles are live only within an
    /// iteration.
    fn compact_tiles(&self, given: &[TiledOutput<'c>]) {
        for handed in self.merge.forwarded.iter().filter(|handed| !given.iter().any(|given| given.tile == handed.left))
        {
            let whole = self.merge.first.outputs()[handed.position].r#type();
            let tile = self.lookup_value(handed.left);
            // This succeeds for every window that a loop can yield: its tile had a compact type in other loops.
            if let Ok(compact) = compact_type(self.around, whole, tile.r#type()) {
                tile.retype(compact);
            }
        }
    }
}

/// Returns the ops of a body without its terminator.
fn ops_before_terminator(around: Op<'_>) -> Vec<Op<'_>> {
    let mut ops = around.body_ops();
    ops.pop();
    ops
}
