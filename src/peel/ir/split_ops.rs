//! Splits ops in two along a peeled dimension.
//!
//! Ops of the first slice replace the original ones. Those of the second slice are placed before the first op that
//! reads a complete result, together with the inserts that assemble it; after that op, a new group of second slices
//! begins.

use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{build_empty, build_insert, build_view, rebuild_op},
    mlir::{
        DerivationKind, Op, OpExt, TensorType, Type, Value, ValueExt, ValueLike, derived_location, insert_before,
        integers, map_from_exprs, map_of, shape_of,
    },
    peel::PeeledDim,
    tile::ir::items::{BlockItems, TracedView},
};
use program::affine::AffineExpression;
use std::collections::{BTreeMap, BTreeSet};

/// Splits the ops of a function along a dimension.
pub(super) fn split_ops(function: Op<'_>, items: &BlockItems<'_>, peel: &PeeledDim) {
    let mut parting = OpSplitter::new(function, items, peel);
    let mut positions = (0..items.list.len()).peekable();
    for op in function.body_ops() {
        match positions.next_if(|&position| items.list[position].op == op) {
            Some(member) if peel.dims.contains_key(&member) => parting.split_op(member),
            _ if !op.is(spyre::VIEW) && parting.reads_pending_result(op) => parting.flush_pending(op),
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
enum PeelSlice {
    First,
    Remainder,
}

struct OpSplitter<'a, 'c> {
    items: &'a BlockItems<'c>,
    peel: &'a PeeledDim,
    /// For each split op, the dimension of its result that is split.
    dims: BTreeMap<usize, usize>,
    /// Split ops whose complete results are also read.
    read_whole: BTreeSet<usize>,
    /// Slices of results, by op.
    first: BTreeMap<usize, Value<'c>>,
    rest: BTreeMap<usize, Value<'c>>,
    /// Assembled results, by op.
    assembled: BTreeMap<usize, Value<'c>>,
    /// Split ops whose second slice has not been written yet, in order.
    pending: Vec<usize>,
}

impl<'a, 'c> OpSplitter<'a, 'c> {
    fn new(function: Op<'c>, items: &'a BlockItems<'c>, peel: &'a PeeledDim) -> Self {
        let result_dim = |(&op, &dim): (&usize, &usize)| {
            let found = items.plain[op].output.iter().position(|moved_by| *moved_by == Some(dim));
            (op, found.expect("no dimension that is summed up is peeled"))
        };
        let dims = peel.dims.iter().map(result_dim).collect();
        let (first, rest, both) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let mut parting =
            Self { items, peel, dims, read_whole: BTreeSet::new(), first, rest, assembled: both, pending: Vec::new() };
        let returned = function.yielded().into_iter().filter_map(|value| items.find_producer(value));
        let reads =
            (0..items.list.len()).flat_map(|op| (0..items.plain[op].inputs.len()).map(move |operand| (op, operand)));
        let whole = reads.filter(|&(op, operand)| !parting.is_split_by_producer(op, operand));
        parting.read_whole =
            whole.filter_map(|(op, operand)| items.plain[op].inputs[operand].producer).chain(returned).collect();
        parting
    }

    /// Returns the dimension of an operand that is indexed by the split dimension.
    fn split_operand_dim(&self, op: usize, operand: usize) -> Option<usize> {
        let peeled = self.peel.dims.get(&op)?;
        self.items.plain[op].inputs[operand].dims.iter().position(|moved_by| moved_by == &Some(*peeled))
    }

    /// Returns whether an operand is, slice by slice, the result of another split op.
    fn is_split_by_producer(&self, op: usize, operand: usize) -> bool {
        let input = &self.items.plain[op].inputs[operand];
        let made = input.producer.and_then(|maker| self.dims.get(&maker));
        self.split_operand_dim(op, operand)
            .is_some_and(|moving| made.is_some() && input.source_dims[moving] == made.copied())
    }

    /// Returns whether an op that is not split reads a result whose second slice is missing.
    fn reads_pending_result(&self, op: Op<'c>) -> bool {
        let read = op.nested().into_iter().flat_map(OpExt::inputs);
        read.filter_map(|value| self.items.find_producer(value)).any(|maker| self.pending.contains(&maker))
    }

    /// Writes the first slice of an op.
    fn split_op(&mut self, member: usize) {
        let op = self.items.list[member].op;
        let inputs = &self.items.plain[member].inputs;
        let is_missing = |operand: usize| inputs[operand].producer.is_some_and(|maker| self.pending.contains(&maker));
        if (0..inputs.len()).any(|operand| is_missing(operand) && !self.is_split_by_producer(member, operand)) {
            self.flush_pending(op);
        }
        let first = self.make_slice(member, PeelSlice::First, op);
        self.first.insert(member, first);
        self.pending.push(member);
    }

    /// Writes the second slices of all pending ops before an op, and assembles the results that other ops read.
    fn flush_pending(&mut self, before: Op<'c>) {
        for member in std::mem::take(&mut self.pending) {
            let rest = self.make_slice(member, PeelSlice::Remainder, before);
            self.rest.insert(member, rest);
            if self.read_whole.contains(&member) {
                let whole = self.items.list[member].op.output();
                let both = self.assemble(member, before);
                for user in whole.users() {
                    move_views(user, before);
                }
                whole.replace_with(both);
                self.assembled.insert(member, both);
            }
        }
    }

    /// Creates one slice of an op.
    fn make_slice(&self, member: usize, part: PeelSlice, before: Op<'c>) -> Value<'c> {
        let op = self.items.list[member].op;
        let inputs: Vec<Value<'c>> = (0..self.items.list[member].reads.len())
            .map(|operand| self.slice_operand(member, operand, part, before))
            .collect();
        let output = self.sliced_type(op.output().r#type(), self.dims[&member], part);
        let built = match op.attr(attr::REDUCED).and_then(integers) {
            Some(reduced) => rebuild_op(op, &inputs, output).with_reduced(&reduced),
            None => rebuild_op(op, &inputs, output),
        };
        insert_before(before, built.build()).output()
    }

    /// Returns the operand of one slice of a peeled op: the same slice of another peeled op's result, a slice of a
    /// complete value, or a complete value.
    fn slice_operand(&self, member: usize, operand: usize, part: PeelSlice, before: Op<'c>) -> Value<'c> {
        let read = &self.items.list[member].reads[operand];
        let maker = self.items.plain[member].inputs[operand].producer;
        let moving = self.split_operand_dim(member, operand);
        if let (Some(maker), Some(moving), true) = (maker, moving, self.is_split_by_producer(member, operand)) {
            let made = match part {
                PeelSlice::First => self.first[&maker],
                PeelSlice::Remainder => self.rest[&maker],
            };
            return self.rebuild_views(&read.views, made, moving, part, before);
        }
        let put_together = maker.and_then(|maker| self.assembled.get(&maker)).filter(|_| read.views.is_empty());
        let whole = put_together.copied().unwrap_or(read.value);
        moving.map_or(whole, |dim| self.slice_value(whole, dim, part, before))
    }

    /// Rebuilds `views`, outermost first, on one slice of their source.
    fn rebuild_views(
        &self,
        views: &[TracedView<'c>],
        made: Value<'c>,
        dim: usize,
        part: PeelSlice,
        before: Op<'c>,
    ) -> Value<'c> {
        let Some((TracedView { view: viewed, source_dims: after }, inner)) = views.split_first() else { return made };
        let input =
            self.rebuild_views(inner, made, after[dim].expect("the dimension leads to what was made"), part, before);
        let map = viewed.required_attr(attr::MAP, map_of);
        insert_before(
            before,
            build_view(viewed.ctx(), viewed.loc(), input, map, self.sliced_type(viewed.output().r#type(), dim, part)),
        )
        .output()
    }

    /// Returns a view of one slice of a complete value along a dimension.
    fn slice_value(&self, whole: Value<'c>, dim: usize, part: PeelSlice, before: Op<'c>) -> Value<'c> {
        let offset = match part {
            PeelSlice::First => 0,
            PeelSlice::Remainder => self.peel.first_size,
        };
        let mut exprs: Vec<AffineExpression> = (0..shape_of(whole).len()).map(AffineExpression::Dim).collect();
        exprs[dim] = AffineExpression::Dim(dim).plus(AffineExpression::Constant(offset));
        let map = map_from_exprs(before.ctx(), exprs.len(), 0, &exprs);
        insert_before(
            before,
            build_view(before.ctx(), before.loc(), whole, map, self.sliced_type(whole.r#type(), dim, part)),
        )
        .output()
    }

    fn sliced_type(&self, of: Type<'c>, dim: usize, part: PeelSlice) -> Type<'c> {
        let tensor = TensorType::from_type(of).expect("what an op reads or makes is a tensor");
        let mut shape = tensor.shape.clone();
        shape[dim] = match part {
            PeelSlice::First => self.peel.first_size,
            PeelSlice::Remainder => self.peel.size - self.peel.first_size,
        };
        tensor.with_shape(shape).build()
    }

    /// Assembles both slices of a result in one buffer.
    fn assemble(&self, member: usize, before: Op<'c>) -> Value<'c> {
        let op = self.items.list[member].op;
        let (context, at) = (op.ctx(), derived_location(op, DerivationKind::Clone, "spyre-peel-remainders"));
        let buffer = insert_before(before, build_empty(context, at, op.output().r#type())).output();
        let mut offsets = vec![0; shape_of(op.output()).len()];
        let first = insert_before(before, build_insert(context, at, self.first[&member], buffer, &offsets)).output();
        offsets[self.dims[&member]] = self.peel.first_size;
        insert_before(before, build_insert(context, at, self.rest[&member], first, &offsets)).output()
    }
}

/// Moves a view, and the views of its result, before an op.
fn move_views(user: Op<'_>, before: Op<'_>) {
    if user.is(spyre::VIEW) {
        user.move_to_before(before);
        user.output().users().into_iter().for_each(|after| move_views(after, before));
    }
}
