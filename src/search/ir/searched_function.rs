//! Conversion of a function into the ops of the search.

use super::hints::is_unique_name;
use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{ComputeOp, InsertChain, OperandAccess, strip_views},
    lx::{LxIneligibility, ir::lx_program::read_function, values::find_ineligibility},
    mlir::{ErrorReported, Op, OpExt, ValueExt, ValueMap, error_at},
    search::SearchedOp,
    tile::ir::{
        items::{BlockItem, BlockItems},
        online_steps::classify_op,
    },
};
use machine::Family;
use std::collections::BTreeMap;

/// Steps of a function: its compute ops and loops, in order.
pub(super) struct SearchedFunction<'c> {
    /// The ops and loops.
    pub(super) ops: Vec<Op<'c>>,
    /// Ops and loops for the search, without handles to IR.
    pub(super) plain: Vec<SearchedOp>,
}

impl<'c> SearchedFunction<'c> {
    pub(super) fn from_function(function: Op<'c>, maxima: &BTreeMap<String, i64>) -> Result<Self, ErrorReported> {
        let items = BlockItems::from_block(function, maxima)?;
        let mut plain = Vec::with_capacity(items.list.len());
        for (item, tiled) in items.list.iter().zip(&items.plain) {
            let reject = |message: String| error_at(codes::LAYOUT_VIEW, item.op, message).report();
            let mut op = convert_op(item).map_err(reject)?;
            if !tiled.levels.is_empty() {
                op.may_be_tiled.fill(false);
            }
            op.tiled = tiled.clone();
            op.rule = classify_op(item.op);
            plain.push(op);
        }
        let mut numbers: ValueMap<usize> = ValueMap::default();
        let mut num_values = 0;
        for (item, op) in items.list.iter().zip(&mut plain) {
            for value in item.reads.iter().map(|read| strip_views(read.value)) {
                let number = numbers.get(value).copied().unwrap_or(num_values);
                num_values += usize::from(numbers.insert(value, number).is_none());
                op.values.push(number);
            }
        }
        let mut last_readers: BTreeMap<usize, usize> = BTreeMap::new();
        for reader in 0..plain.len() {
            let reads = || items.list[reader].reads.iter().map(|read| read.number);
            plain[reader].read_before = reads().map(|value| last_readers.get(&value).copied()).collect();
            last_readers.extend(reads().map(|value| (value, reader)));
            for producer in items.list[reader].reads.iter().filter_map(|read| items.find_producer(read.value)) {
                plain[producer].readers.push(reader);
            }
        }
        Ok(Self { ops: items.list.iter().map(|item| item.op).collect(), plain })
    }

    /// Records which results may be in LX. Results that are ineligible only because the function returns them, or
    /// because a loop tiles them, count as eligible.
    pub(super) fn find_lx_eligible(&mut self, function: Op<'c>) -> Result<(), ErrorReported> {
        let ir = read_function(function)?;
        let mut times = 0..ir.ops.len();
        for (op, plain) in self.ops.iter().zip(&mut self.plain) {
            // Ops of existing loops also lie in the range.
            let first = InsertChain::from_last_insert(*op)
                .and_then(|assembly| assembly.inserts.first().copied())
                .unwrap_or(*op);
            let Some(time) = ComputeOp::from_op(first).and_then(|_| times.find(|&time| ir.ops[time].op == first))
            else {
                continue;
            };
            let reason = find_ineligibility(&ir.program, time);
            plain.may_be_in_lx = matches!(
                reason,
                None | Some(LxIneligibility::GraphOutput | LxIneligibility::ViewedOutput | LxIneligibility::Tiled)
            );
        }
        Ok(())
    }
}

/// Converts an op, without its `tiled` view and its readers.
fn convert_op(item: &BlockItem<'_>) -> Result<SearchedOp, String> {
    let Some(compute) = item.compute else {
        return Ok(SearchedOp { operand_bytes: vec![0; item.reads.len() + 1], ..SearchedOp::default() });
    };
    let mut accesses = Vec::new();
    for compute in item.computes() {
        accesses.push((compute, compute.accesses()?));
    }
    let bytes = |access: &OperandAccess<'_>| Ok::<i64, String>(access.layout()?.bytes());
    // All reads, then the result.
    let reads = accesses.iter().filter_map(|(_, accesses)| accesses.split_last()).flat_map(|(_, reads)| reads);
    let result = accesses.last().and_then(|(_, accesses)| accesses.last());
    Ok(SearchedOp {
        may_be_tiled: find_tileable_dims(item, compute),
        granules: compute_granules(&accesses)?,
        operand_bytes: reads.chain(result).map(bytes).collect::<Result<_, _>>()?,
        may_reuse_operand: compute.family() == Family::Pointwise,
        is_assembly: compute.is_insert(),
        is_result: is_returned(compute),
        ..SearchedOp::default()
    })
}

/// Returns for each iteration dimension whether a loop may tile it. A symbolic size stays untiled, as does a dimension
/// along which slices are concatenated. Requested core splits name dimensions, which keep their names.
fn find_tileable_dims(item: &BlockItem<'_>, compute: ComputeOp<'_>) -> Vec<bool> {
    let names = compute.dim_names();
    let keeps_names = !compute.work_div().is_empty();
    let symbolic = compute.symbolic_dims();
    let whole_dims = item.assembly.as_ref().map(InsertChain::spanned_dims);
    let is_in_parts = |dim: usize| whole_dims.as_ref().map_or(compute.is_insert(), |whole| !whole[dim]);
    let may_be_cut =
        |dim: usize| !is_in_parts(dim) && symbolic[dim].is_empty() && (!keeps_names || is_unique_name(&names, dim));
    (0..names.len()).map(may_be_cut).collect()
}

/// Returns whether the function returns the result, or a view of it.
fn is_returned(compute: ComputeOp<'_>) -> bool {
    let mut values = vec![compute.op.output()];
    while let Some(value) = values.pop() {
        for user in value.users() {
            if user.is("func.return") {
                return true;
            }
            if user.is(spyre::VIEW) {
                values.push(user.output());
            }
        }
    }
    false
}

/// Returns for each iteration dimension the elements per stick if the sticks of an operand lie along it, else 1.
fn compute_granules(accesses: &[(ComputeOp<'_>, Vec<OperandAccess<'_>>)]) -> Result<Vec<i64>, String> {
    let num_dims = accesses.first().map_or(0, |(compute, _)| compute.iteration_space().len());
    let mut granules = vec![1; num_dims];
    for access in accesses.iter().flat_map(|(_, accesses)| accesses) {
        let layout = access.layout()?;
        let host = access.tensor.buffer().map_err(|error| error.to_string())?;
        for (dim, &moved_by) in access.dims.iter().enumerate() {
            let ends_in_stick = |elements: &i64| layout.compute_window_offset(&host, dim, *elements).is_err();
            if let Some(moved_by) = moved_by.filter(|_| ends_in_stick(&1)) {
                let stick = layout.format().elements_per_stick();
                granules[moved_by] = granules[moved_by].max(stick);
            }
        }
    }
    Ok(granules)
}
