//! `func.func`: its type and the attributes of its arguments.

use super::{
    Attribute, BlockExt, Op, OpExt, Value, ValueLike, array_attribute, dictionary_entries, elements, op::identifier,
    type_attribute,
};
use melior::ir::{attribute::DictionaryAttribute, r#type::FunctionType};
use mlir_sys::{MlirOperation, MlirValue};

unsafe extern "C" {
    fn spyreNormalizeStructuredOps(function: MlirOperation);
    fn spyreGeneralizeNamedOps(function: MlirOperation, on_replaced: unsafe extern "C" fn(MlirOperation));
    fn spyreRetainOps(function: MlirOperation, kept: *const bool, returned: *const MlirValue, count: isize);
}

const ARGUMENT_ATTRIBUTES: &str = "arg_attrs";
const RESULT_ATTRIBUTES: &str = "res_attrs";

/// Rewrites the named linalg ops of a function to `linalg.generic`. Nothing is folded, since folding rounds to the
/// program's format; ops without a general form remain.
pub fn generalize_named_ops(function: Op<'_>) {
    // SAFETY: the operation is alive; replaced operations are not freed before the pass ends.
    unsafe { spyreGeneralizeNamedOps(function.to_raw(), bury_replaced) }
}

/// Rewrites branches without side effects outside of op bodies to selects, and `tensor.generate` to `linalg.generic`.
/// Replaced ops are freed: the caller must hold no handle to an op of the function.
pub fn canonicalize_structured_ops(function: Op<'_>) {
    // SAFETY: the function is alive.
    unsafe { spyreNormalizeStructuredOps(function.to_raw()) }
}

unsafe extern "C" fn bury_replaced(op: MlirOperation) {
    // SAFETY: C++ hands over an operation of the function, without users.
    unsafe { Op::from_raw(op) }.erase();
}

/// Keeps the operations of a function's body marked in `kept`, one entry per operation except the terminator, and
/// returns `returned`, which are values of kept operations or arguments. Results of removed operations that are still
/// used become arguments; unused arguments are removed. Removed operations are freed: the caller must hold no handle to
/// one.
///
/// # Panics
/// If there are more or fewer entries than operations.
pub fn retain_ops(function: Op<'_>, kept: &[bool], returned: &[Value<'_>]) {
    assert_eq!(kept.len() + 1, function.body_ops().len(), "an entry for each operation but the terminator");
    let returned: Vec<MlirValue> = returned.iter().map(ValueLike::to_raw).collect();
    // SAFETY: the function and the values are alive; there are as many entries and values as C++ reads.
    unsafe { spyreRetainOps(function.to_raw(), kept.as_ptr(), returned.as_ptr(), returned.len().cast_signed()) }
}

/// Updates a function's type to the types of its arguments and returned values.
pub fn set_function_type(function: Op<'_>) {
    let Some(body) = function.body() else { return };
    let arguments: Vec<_> = body.args().iter().map(ValueLike::r#type).collect();
    let results: Vec<_> = function.yielded();
    let results: Vec<_> = results.iter().map(ValueLike::r#type).collect();
    let function_type = FunctionType::new(function.ctx(), &arguments, &results);
    function.set_attr("function_type", type_attribute(function_type.into()));
}

/// Returns attribute `name` of argument `index`.
#[must_use]
pub fn argument_attribute<'c>(function: Op<'c>, index: usize, name: &str) -> Option<Attribute<'c>> {
    read_list_attribute(function, ARGUMENT_ATTRIBUTES, index, name)
}

/// Returns attribute `name` of result `index`.
#[must_use]
pub fn result_attribute<'c>(function: Op<'c>, index: usize, name: &str) -> Option<Attribute<'c>> {
    read_list_attribute(function, RESULT_ATTRIBUTES, index, name)
}

fn read_list_attribute<'c>(function: Op<'c>, all: &str, index: usize, name: &str) -> Option<Attribute<'c>> {
    let own = *function.attr(all).and_then(elements)?.get(index)?;
    dictionary_entries(own)?.into_iter().find(|(key, _)| *key == name).map(|(_, attribute)| attribute)
}

/// Sets attribute `name` of argument `index`.
pub fn set_argument_attribute<'c>(function: Op<'c>, index: usize, name: &str, attribute: Attribute<'c>) {
    let num_arguments = function.body().map_or(0, |body| body.args().len());
    set_list_attribute(function, (ARGUMENT_ATTRIBUTES, num_arguments), index, name, attribute);
}

/// Sets attribute `name` of result `index`.
pub fn set_result_attribute<'c>(function: Op<'c>, index: usize, name: &str, attribute: Attribute<'c>) {
    set_list_attribute(function, (RESULT_ATTRIBUTES, function.yielded().len()), index, name, attribute);
}

fn set_list_attribute<'c>(
    function: Op<'c>,
    (list, count): (&str, usize),
    index: usize,
    name: &str,
    attribute: Attribute<'c>,
) {
    let context = function.ctx();
    let mut all = function.attr(list).and_then(elements).unwrap_or_default();
    all.resize(count, DictionaryAttribute::new(context, &[]).into());
    let kept = dictionary_entries(all[index]).unwrap_or_default().into_iter().filter(|(key, _)| *key != name);
    let entries: Vec<_> =
        kept.chain([(name, attribute)]).map(|(key, attribute)| (identifier(context, key), attribute)).collect();
    all[index] = DictionaryAttribute::new(context, &entries).into();
    function.set_attr(list, array_attribute(context, &all));
}
