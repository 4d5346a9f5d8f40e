//! Splits ops in two along a peeled dimension.
//!
//! Ops of the first slice replace the original ones. Those of the second slice are placed before the first op that reads a
//! complete result, together with the inserts that assemble it; after that op, a new group of second slices begins.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{empty, insert, rebuilt, view},
    mlir::{Op, OpExt, TensorType, Type, Value, ValueExt, ValueLike, insert_before, integers, map_from_exprs, map_of, shape_of},
    peel::Peel,
    tile::ir::items::{Items, Shown},
};
use program::affine::Expr;
use std::collections::{BTreeMap, BTreeSet};

/// Splits the ops of a function along a dimension.
pub(super) fn part_ops(function: Op<'_>, items: &Items<'_>, peel: &Peel) {
    let mut parting = Parting::of(function, items, peel);
    let mut positions = (0..items.list.len()).peekable();
    for op in function.body_ops() {
        match positions.next_if(|&position| items.list[position].op == op) {
            Some(member) if peel.dims.contains_key(&member) => parting.part(member),
            _ if !op.is(spyre::VIEW) && parting.reads_waiting(op) => parting.join(op),
            _ => {}
        }
    }
    peel.dims.keys().rev().for_each(|&member| erase_with_views(items.list[member].op));
}

/// Erases an op without other uses, and the views of its result.
fn erase_with_views(op: Op<'_>) {
    op.output().users().into_iter().for_each(erase_with_views);
    op.erase();
}

/// Slice of the peeled dimension.
#[derive(Clone, Copy)]
enum Part {
    First,
    Rest,
}

struct Parting<'a, 'c> {
    items: &'a Items<'c>,
    peel: &'a Peel,
    /// For each split op, the dimension of its result that is split.
    dims: BTreeMap<usize, usize>,
    /// Split ops whose results are also read as a whole.
    read_whole: BTreeSet<usize>,
    /// Slices of results, by op.
    first: BTreeMap<usize, Value<'c>>,
    rest: BTreeMap<usize, Value<'c>>,
    /// Assembled results, by op.
    both: BTreeMap<usize, Value<'c>>,
    /// Split ops whose second slice has not been written yet, in order.
    waiting: Vec<usize>,
}

impl<'a, 'c> Parting<'a, 'c> {
    fn of(function: Op<'c>, items: &'a Items<'c>, peel: &'a Peel) -> Self {
        let result_dim = |(&op, &dim): (&usize, &usize)| {
            let found = items.plain[op].output.iter().position(|moved_by| *moved_by == Some(dim));
            (op, found.expect("no dimension that is summed up is parted"))
        };
        let dims = peel.dims.iter().map(result_dim).collect();
        let (first, rest, both) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut parting = Self { items, peel, dims, read_whole: BTreeSet::new(), first, rest, both, waiting: Vec::new() };
        let returned = function.yielded().into_iter().filter_map(|value| items.maker(value));
        let reads = (0..items.list.len()).flat_map(|op| (0..items.plain[op].inputs.len()).map(move |operand| (op, operand)));
        let whole = reads.filter(|&(op, operand)| !parting.is_handed_on(op, operand));
        parting.read_whole = whole.filter_map(|(op, operand)| items.plain[op].inputs[operand].maker).chain(returned).collect();
        parting
    }

    /// Returns the dimension of an operand that is indexed by the split dimension.
    fn moving(&self, op: usize, operand: usize) -> Option<usize> {
        let parted = self.peel.dims.get(&op)?;
        self.items.plain[op].inputs[operand].dims.iter().position(|moved_by| moved_by == &Some(*parted))
    }

    /// Whether an operand is, slice by slice, the result of another split op.
    fn is_handed_on(&self, op: usize, operand: usize) -> bool {
        let input = &self.items.plain[op].inputs[operand];
        let made = input.maker.and_then(|maker| self.dims.get(&maker));
        self.moving(op, operand).is_some_and(|moving| made.is_some() && input.behind[moving] == made.copied())
    }

    /// Whether an op that is not split reads a result whose second slice is missing.
    fn reads_waiting(&self, op: Op<'c>) -> bool {
        let read = op.nested().into_iter().flat_map(OpExt::inputs);
        read.filter_map(|value| self.items.maker(value)).any(|maker| self.waiting.contains(&maker))
    }

    /// Writes the first slice of an op.
    fn part(&mut self, member: usize) {
        let op = self.items.list[member].op;
        let inputs = &self.items.plain[member].inputs;
        let is_missing = |operand: usize| inputs[operand].maker.is_some_and(|maker| self.waiting.contains(&maker));
        if (0..inputs.len()).any(|operand| is_missing(operand) && !self.is_handed_on(member, operand)) {
            self.join(op);
        }
        let first = self.part_of(member, Part::First, op);
        self.first.insert(member, first);
        self.waiting.push(member);
    }

    /// Writes the second slices of all pending ops before an op, and assembles the results that other ops read.
    fn join(&mut self, before: Op<'c>) {
        for member in std::mem::take(&mut self.waiting) {
            let rest = self.part_of(member, Part::Rest, before);
            self.rest.insert(member, rest);
            if self.read_whole.contains(&member) {
                let whole = self.items.list[member].op.output();
                let both = self.together(member, before);
                for user in whole.users() {
                    move_views(user, before);
                }
                whole.replace_with(both);
                self.both.insert(member, both);
            }
        }
    }

    /// Creates one slice of an op.
    fn part_of(&self, member: usize, part: Part, before: Op<'c>) -> Value<'c> {
        let op = self.items.list[member].op;
        let inputs: Vec<Value<'c>> =
            (0..self.items.list[member].reads.len()).map(|operand| self.operand(member, operand, part, before)).collect();
        let output = self.cut(op.output().r#type(), self.dims[&member], part);
        let built = match op.attr(attr::REDUCED).and_then(integers) {
            Some(reduced) => rebuilt(op, &inputs, output).with_reduced(&reduced),
            None => rebuilt(op, &inputs, output),
        };
        insert_before(before, built.build()).output()
    }

    /// Returns the operand of one part of a peeled op: the same part of another peeled op's result, a slice of a
    /// complete value, or a complete value.
    fn operand(&self, member: usize, operand: usize, part: Part, before: Op<'c>) -> Value<'c> {
        let read = &self.items.list[member].reads[operand];
        let maker = self.items.plain[member].inputs[operand].maker;
        let moving = self.moving(member, operand);
        if let (Some(maker), Some(moving), true) = (maker, moving, self.is_handed_on(member, operand)) {
            let made = match part {
                Part::First => self.first[&maker],
                Part::Rest => self.rest[&maker],
            };
            return self.shown(&read.views, made, moving, part, before);
        }
        let put_together = maker.and_then(|maker| self.both.get(&maker)).filter(|_| read.views.is_empty());
        let whole = put_together.copied().unwrap_or(read.value);
        moving.map_or(whole, |dim| self.slice(whole, dim, part, before))
    }

    /// Rebuilds `views`, outermost first, on one part of their source.
    fn shown(&self, views: &[Shown<'c>], made: Value<'c>, dim: usize, part: Part, before: Op<'c>) -> Value<'c> {
        let Some((Shown { view: shown, behind }, inner)) = views.split_first() else { return made };
        let input = self.shown(inner, made, behind[dim].expect("the dimension leads to what was made"), part, before);
        let map = shown.required(attr::MAP, map_of);
        insert_before(before, view(shown.ctx(), shown.loc(), input, map, self.cut(shown.output().r#type(), dim, part))).output()
    }

    /// Returns a view of one part of a complete value along a dimension.
    fn slice(&self, whole: Value<'c>, dim: usize, part: Part, before: Op<'c>) -> Value<'c> {
        let offset = match part {
            Part::First => 0,
            Part::Rest => self.peel.at,
        };
        let mut exprs: Vec<Expr> = (0..shape_of(whole).len()).map(Expr::Dim).collect();
        exprs[dim] = Expr::Dim(dim).plus(Expr::Constant(offset));
        let map = map_from_exprs(before.ctx(), exprs.len(), 0, &exprs);
        insert_before(before, view(before.ctx(), before.loc(), whole, map, self.cut(whole.r#type(), dim, part))).output()
    }

    fn cut(&self, of: Type<'c>, dim: usize, part: Part) -> Type<'c> {
        let tensor = TensorType::of(of).expect("what an op reads or makes is a tensor");
        let mut shape = tensor.shape.clone();
        shape[dim] = match part {
            Part::First => self.peel.at,
            Part::Rest => self.peel.size - self.peel.at,
        };
        tensor.with_shape(shape).build()
    }

    /// Assembles both slices of a result in one buffer.
    fn together(&self, member: usize, before: Op<'c>) -> Value<'c> {
        let op = self.items.list[member].op;
        let (context, at) = (op.ctx(), op.loc());
        let buffer = insert_before(before, empty(context, at, op.output().r#type())).output();
        let mut offsets = vec![0; shape_of(op.output()).len()];
        let first = insert_before(before, insert(context, at, self.first[&member], buffer, &offsets)).output();
        offsets[self.dims[&member]] = self.peel.at;
        insert_before(before, insert(context, at, self.rest[&member], first, &offsets)).output()
    }
}

/// Moves a view, and the views of its result, before an op.
fn move_views(user: Op<'_>, before: Op<'_>) {
    if user.is(spyre::VIEW) {
        user.move_to_before(before);
        user.output().users().into_iter().for_each(|behind| move_views(behind, before));
    }
}
