//! Some ops of a function as a function of their own.

use crate::mlir::{Attributes, BlockExt, Op, OpExt, Scratch, Type, Value, ValueExt, ValueLike, ValueMap, build, new_block, push, set_function_type};
use std::collections::BTreeSet;

/// Where a value comes from: the position of an op in the body and which of its results, or an argument.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Source {
    Argument(usize),
    Result(usize, usize),
}

/// A copy of the ops at positions `steps` of a function's body, with the views and constants that they read. What they read of other ops are its
/// arguments; what others read of them, and what the function gives, are its results.
pub(super) fn segment<'c>(function: Op<'c>, steps: &BTreeSet<usize>) -> Scratch<'c> {
    let ops = function.body_ops();
    let body = Body::of(function, &ops);
    let kept = body.with_what_they_read(steps);
    let inputs = body.inputs(&kept);
    let results = body.results(steps, &kept);
    let types: Vec<Type<'c>> = inputs.iter().map(|(_, value)| value.r#type()).collect();
    let attributes = ["sym_name", "function_type", "spyre.dim_sizes", "spyre.symbols"]
        .into_iter()
        .fold(Attributes::new(function.ctx()), |attributes, name| attributes.with_option(name, function.attr(name)));
    let block = new_block(&types, function.loc());
    let alone = Scratch::from(build("func.func", function.loc(), &[], &[], attributes, vec![block]));
    fill(&alone, function, &kept, &inputs, &results);
    alone
}

/// Moves a copy of the ops into the new function.
fn fill<'c>(alone: &Scratch<'c>, function: Op<'c>, kept: &BTreeSet<usize>, inputs: &[(Source, Value<'c>)], results: &[Source]) {
    let copy = Scratch::of(function);
    let ops = copy.op().body_ops();
    let arguments = copy.op().body().map(BlockExt::args).unwrap_or_default();
    let value = |source: &Source| match *source {
        Source::Argument(number) => arguments[number],
        Source::Result(op, number) => ops[op].outputs()[number],
    };
    let block = alone.op().body();
    let (Some(block), new) = (block, block.map(BlockExt::args).unwrap_or_default()) else { return };
    for ((source, _), argument) in inputs.iter().zip(new) {
        value(source).replace_with(argument);
    }
    let returned: Vec<Value<'_>> = results.iter().map(value).collect();
    for &op in kept {
        ops[op].move_to_end(block);
    }
    push(alone.op(), build("func.return", function.loc(), &returned, &[], Attributes::new(function.ctx()), Vec::new()));
    set_function_type(alone.op());
}

/// The body of a function with the sources of its values.
struct Body<'a, 'c> {
    ops: &'a [Op<'c>],
    sources: ValueMap<Source>,
}

impl<'a, 'c> Body<'a, 'c> {
    fn of(function: Op<'c>, ops: &'a [Op<'c>]) -> Self {
        let mut sources = ValueMap::default();
        for (number, argument) in function.body().map(BlockExt::args).unwrap_or_default().into_iter().enumerate() {
            sources.insert(argument, Source::Argument(number));
        }
        for (position, op) in ops.iter().enumerate() {
            for (number, output) in op.outputs().into_iter().enumerate() {
                sources.insert(output, Source::Result(position, number));
            }
        }
        Self { ops, sources }
    }

    /// What an op and the ops within it read from the body, in order.
    fn reads(&self, op: usize) -> Vec<(Source, Value<'c>)> {
        let values = self.ops[op].nested().into_iter().flat_map(OpExt::inputs);
        values.filter_map(|value| Some((*self.sources.get(value)?, value))).collect()
    }

    /// The ops with all views and constants behind what they read.
    fn with_what_they_read(&self, steps: &BTreeSet<usize>) -> BTreeSet<usize> {
        let mut kept = steps.clone();
        let mut left: Vec<usize> = steps.iter().copied().collect();
        while let Some(op) = left.pop() {
            for (source, _) in self.reads(op) {
                if let Source::Result(behind, _) = source
                    && self.is_view_or_constant(behind)
                    && kept.insert(behind)
                {
                    left.push(behind);
                }
            }
        }
        kept
    }

    fn is_view_or_constant(&self, op: usize) -> bool {
        ["spyre.view", "spyre.constant"].into_iter().any(|name| self.ops[op].is(name))
    }

    /// What the ops read from elsewhere, by first use.
    fn inputs(&self, kept: &BTreeSet<usize>) -> Vec<(Source, Value<'c>)> {
        let mut found: Vec<(Source, Value<'c>)> = Vec::new();
        let mut known: BTreeSet<Source> = BTreeSet::new();
        for (source, value) in kept.iter().flat_map(|&op| self.reads(op)) {
            let is_inside = matches!(source, Source::Result(op, _) if kept.contains(&op));
            if !is_inside && known.insert(source) {
                found.push((source, value));
            }
        }
        found
    }

    /// What the ops make that something else reads, at once or through views.
    fn results(&self, steps: &BTreeSet<usize>, kept: &BTreeSet<usize>) -> Vec<Source> {
        let mut found = BTreeSet::new();
        for op in (0..self.ops.len()).filter(|op| !steps.contains(op) && !(kept.contains(op) && self.is_view_or_constant(*op))) {
            for (source, _) in self.reads(op) {
                found.extend(self.behind_views(source).filter(|(op, _)| steps.contains(op)));
            }
        }
        found.into_iter().map(|(op, number)| Source::Result(op, number)).collect()
    }

    /// The result of an op that is no view which a value shows.
    fn behind_views(&self, source: Source) -> Option<(usize, usize)> {
        let Source::Result(op, number) = source else { return None };
        if self.ops[op].is("spyre.view") {
            let (behind, _) = self.reads(op).into_iter().next()?;
            return self.behind_views(behind);
        }
        Some((op, number))
    }
}
