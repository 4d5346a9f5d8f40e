//! Extraction of ops into a function of their own.

use crate::dialect::{
    InsertChain,
    ods::{attr, spyre},
};
use crate::mlir::{
    AttributeList, BlockExt, BlockLike, DetachedClone, Op, OpExt, Type, Value, ValueExt, ValueLike, ValueMap,
    append_op, build_op, new_block, set_function_type,
};

/// Copies ops of a function, in order, with the views and constants that they read and all inserts of the assemblies
/// among them. Values from other ops become arguments; values that other ops read or the function returns become
/// results. Time is linear in the ops and their users.
pub(super) fn extract_segment<'c>(function: Op<'c>, ops: &[Op<'c>]) -> DetachedClone<'c> {
    let mut needed = SegmentContents { function, ops: Vec::new(), inputs: Vec::new(), known: ValueMap::default() };
    let ops: Vec<Op<'c>> = ops.iter().flat_map(|op| preceding_assembly_ops(*op).into_iter().chain([*op])).collect();
    ops.iter().for_each(|op| needed.add(*op));
    let types: Vec<Type<'c>> = needed.inputs.iter().map(ValueLike::r#type).collect();
    let attributes = ["sym_name", "function_type", attr::SPYRE_DIM_SIZES, attr::SPYRE_SYMBOLS]
        .into_iter()
        .fold(AttributeList::new(function.ctx()), |attributes, name| attributes.with_option(name, function.attr(name)));
    let alone = build_op("func.func", function.loc(), &[], &[], attributes, vec![new_block(&types, function.loc())]);
    let alone = DetachedClone::from_operation(alone);
    copy_ops(alone.op(), &needed, &collect_results(function, &ops));
    alone
}

/// Returns the ops of an assembly that precede its last insert: the buffer and the other inserts. The list is empty for
/// other ops.
fn preceding_assembly_ops(op: Op<'_>) -> Vec<Op<'_>> {
    InsertChain::from_last_insert(op).map(|assembly| assembly.preceding_ops()).unwrap_or_default()
}

/// Ops and inputs of the extracted function.
struct SegmentContents<'c> {
    function: Op<'c>,
    /// The ops, preceded by the views and constants that they read.
    ops: Vec<Op<'c>>,
    /// Values defined outside of the segment, by first use.
    inputs: Vec<Value<'c>>,
    known: ValueMap<()>,
}

impl<'c> SegmentContents<'c> {
    fn add(&mut self, op: Op<'c>) {
        for value in op.nested().into_iter().flat_map(OpExt::inputs) {
            let is_known = self.known.get(value).is_some() || !self.is_in_body(value);
            match value.def().filter(|def| is_view_or_constant(*def)) {
                _ if is_known => {}
                Some(def) => self.add(def),
                None => {
                    self.known.insert(value, ());
                    self.inputs.push(value);
                }
            }
        }
        for output in op.outputs() {
            self.known.insert(output, ());
        }
        self.ops.push(op);
    }

    /// Returns whether a value is defined in the function's own body, not in a loop in it.
    fn is_in_body(&self, value: Value<'c>) -> bool {
        let owner = value
            .def()
            .map_or_else(|| value.as_block_arg().and_then(|(block, _)| block.parent_operation()), OpExt::parent);
        owner == Some(self.function)
    }
}

fn is_view_or_constant(op: Op<'_>) -> bool {
    op.is(spyre::VIEW) || op.is(spyre::CONSTANT)
}

/// Returns the results of the ops that other ops read, directly or through views.
fn collect_results<'c>(function: Op<'c>, ops: &[Op<'c>]) -> Vec<Value<'c>> {
    let outputs = ops.iter().flat_map(|op| op.outputs());
    outputs.filter(|output| has_users_elsewhere(function, *output, ops)).collect()
}

fn has_users_elsewhere<'c>(function: Op<'c>, value: Value<'c>, ops: &[Op<'c>]) -> bool {
    value.users().into_iter().any(|user| {
        let in_body = std::iter::successors(Some(user), |op| op.parent())
            .find(|op| op.parent() == Some(function))
            .unwrap_or(user);
        let reads_through_view = in_body.is(spyre::VIEW) && has_users_elsewhere(function, in_body.output(), ops);
        reads_through_view || !in_body.is(spyre::VIEW) && !ops.contains(&in_body)
    })
}

/// Copies the ops into the new function.
fn copy_ops<'a>(alone: Op<'a>, needed: &SegmentContents<'a>, results: &[Value<'a>]) {
    let mut copies: ValueMap<Value<'a>> = ValueMap::default();
    let arguments = alone.body().map(BlockExt::args).unwrap_or_default();
    for (input, argument) in needed.inputs.iter().zip(arguments) {
        copies.insert(*input, argument);
    }
    for op in &needed.ops {
        let copy = append_op(alone, (**op).clone());
        for inside in copy.nested() {
            for (index, value) in inside.inputs().into_iter().enumerate() {
                if let Some(copied) = copies.get(value) {
                    inside.set_input(index, *copied);
                }
            }
        }
        for (output, copied) in op.outputs().into_iter().zip(copy.outputs()) {
            copies.insert(output, copied);
        }
    }
    let returned: Vec<Value<'a>> = results.iter().filter_map(|result| copies.get(*result).copied()).collect();
    append_op(alone, build_op("func.return", alone.loc(), &returned, &[], AttributeList::new(alone.ctx()), Vec::new()));
    set_function_type(alone);
}
