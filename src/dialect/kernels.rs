//! Reads and builds `spyre.kernel`: its knobs and the names of its inputs' dimensions.

use super::ops::build_yield;
use crate::dialect::ods::{attr, spyre};
use crate::mlir::{
    Attribute, AttributeLike, AttributeList, BlockExt, Op, OpExt, Type, Value, ValueExt, ValueLike, append_op,
    array_attribute, build_op, elements, insert_before, new_block, read_context_text, string_array, string_ref,
    strings,
};
use mlir_sys::{MlirAttribute, MlirStringRef, mlirAttributeGetContext};

unsafe extern "C" {
    fn spyreAttributeIsAKnob(attribute: MlirAttribute) -> bool;
    fn spyreKnobAttrGetName(knob: MlirAttribute) -> MlirStringRef;
    fn spyreKnobAttrGetValue(knob: MlirAttribute) -> i64;
    fn spyreKnobAttrGetChoices(knob: MlirAttribute, capacity: isize, choices: *mut i64) -> isize;
    fn spyreKnobAttrGetWithValue(knob: MlirAttribute, value: i64) -> MlirAttribute;
    fn spyreKnobAttrGetCondition(knob: MlirAttribute) -> MlirStringRef;
    fn spyreConditionHolds(
        condition: MlirStringRef,
        count: isize,
        names: *const MlirStringRef,
        values: *const i64,
    ) -> bool;
}

/// Tunable parameter of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Knob {
    /// Name of the knob.
    pub name: String,
    /// Default value.
    pub value: i64,
    /// Legal values, in ascending order.
    pub choices: Vec<i64>,
    /// Constraint on the values of all knobs of the kernel together; empty if there is none.
    pub condition: String,
}

impl Knob {
    fn from_attribute(attribute: Attribute<'_>) -> Option<Self> {
        let raw = attribute.to_raw();
        // SAFETY: the accessors are only called on a knob; C++ writes no more numbers than the vector holds.
        unsafe {
            if !spyreAttributeIsAKnob(raw) {
                return None;
            }
            let length = spyreKnobAttrGetChoices(raw, 0, std::ptr::null_mut());
            let mut choices = vec![0; length.cast_unsigned()];
            spyreKnobAttrGetChoices(raw, length, choices.as_mut_ptr());
            let in_context = |text| read_context_text(text, || mlirAttributeGetContext(raw));
            let (name, condition) = (in_context(spyreKnobAttrGetName(raw)), in_context(spyreKnobAttrGetCondition(raw)));
            Some(Self {
                name: name.to_owned(),
                value: spyreKnobAttrGetValue(raw),
                choices,
                condition: condition.to_owned(),
            })
        }
    }

    /// Returns the knobs of a kernel.
    #[must_use]
    pub fn collect_from_kernel(kernel: Op<'_>) -> Vec<Self> {
        kernel
            .attr(attr::KNOBS)
            .and_then(elements)
            .unwrap_or_default()
            .into_iter()
            .filter_map(Self::from_attribute)
            .collect()
    }
}

/// Returns whether a condition holds for knobs with these names and values.
#[must_use]
pub fn condition_holds(condition: &str, names: &[&str], values: &[i64]) -> bool {
    let raw: Vec<MlirStringRef> = names.iter().map(|name| string_ref(name)).collect();
    let count = raw.len().min(values.len()).cast_signed();
    // SAFETY: there are as many names, and as many values, as `count`; the texts outlive the call.
    unsafe { spyreConditionHolds(string_ref(condition), count, raw.as_ptr(), values.as_ptr()) }
}

/// Sets a knob of a kernel to one of its legal values.
///
/// # Panics
/// If the kernel has no knob with that number, or the value is not legal.
pub fn set_knob(kernel: Op<'_>, number: usize, value: i64) {
    let mut knobs = kernel.attr(attr::KNOBS).and_then(elements).unwrap_or_default();
    assert!(
        Knob::from_attribute(knobs[number]).is_some_and(|knob| knob.choices.contains(&value)),
        "{} has no value {value}",
        knobs[number]
    );
    // SAFETY: it is a knob, and one of its values.
    knobs[number] = unsafe { Attribute::from_raw(spyreKnobAttrGetWithValue(knobs[number].to_raw(), value)) };
    kernel.set_attr(attr::KNOBS, array_attribute(kernel.ctx(), &knobs));
}

/// Returns the names of the dimensions of each input, one per dimension; `None` if the kernel uses the names of the
/// program.
#[must_use]
pub fn input_dims_of(kernel: Op<'_>) -> Option<Vec<Vec<Option<String>>>> {
    let lists = elements(kernel.attr(attr::INPUT_DIMS)?)?;
    let ranks = kernel.inputs().into_iter().map(|input| crate::mlir::shape_of(input).len());
    let named = |(list, rank): (Attribute<'_>, usize)| {
        let mut names: Vec<Option<String>> = strings(list)
            .unwrap_or_default()
            .into_iter()
            .map(|name| (!name.is_empty()).then(|| name.to_owned()))
            .collect();
        names.resize(rank, None);
        names
    };
    Some(lists.into_iter().zip(ranks).map(named).collect())
}

/// Sets the names of the dimensions of each input.
pub fn set_input_dims(kernel: Op<'_>, dims: &[Vec<Option<String>>]) {
    let context = kernel.ctx();
    let list = |names: &Vec<Option<String>>| {
        string_array(context, &names.iter().map(|name| name.clone().unwrap_or_default()).collect::<Vec<_>>())
    };
    let lists: Vec<Attribute<'_>> = dims.iter().map(list).collect();
    kernel.set_attr(attr::INPUT_DIMS, array_attribute(context, &lists));
}

/// Creates a `spyre.kernel` before `before` with an empty body, whose arguments are the inputs.
#[must_use]
pub fn build_kernel_before<'c>(
    before: Op<'c>,
    name: &str,
    inputs: &[Value<'c>],
    outputs: &[Type<'c>],
    knobs: Option<Attribute<'c>>,
) -> Op<'c> {
    let types: Vec<Type<'c>> = inputs.iter().map(ValueLike::r#type).collect();
    let attributes = AttributeList::new(before.ctx()).with_text(attr::NAME, name).with_option(attr::KNOBS, knobs);
    let body = new_block(&types, before.loc());
    insert_before(before, build_op(spyre::KERNEL, before.loc(), inputs, outputs, attributes, vec![body]))
}

/// Terminates a scope or a kernel with these values.
pub fn append_yield<'c>(scope: Op<'c>, values: &[Value<'c>]) {
    append_op(scope, build_yield(scope.ctx(), scope.loc(), &[], values));
}

/// Wraps an op in its own hint scope, which recomputes it in every iteration of the loops along these dimensions.
///
/// # Panics
/// If MLIR creates the scope without a body.
pub fn wrap_in_recompute_scope(op: Op<'_>, dims: &[String]) {
    let context = op.ctx();
    let none = || array_attribute(context, &[]);
    let attributes = AttributeList::new(context)
        .with_attribute(attr::TILE_DIMS, none())
        .with_attribute(attr::TILE_COUNTS, none())
        .with_attribute(attr::RECOMPUTE, string_array(context, dims));
    let body = new_block(&[], op.loc());
    let scope =
        insert_before(op, build_op(spyre::HINT, op.loc(), &[], &[op.output().r#type()], attributes, vec![body]));
    op.output().replace_with(scope.output());
    op.move_to_end(scope.body().expect("a body was built"));
    append_yield(scope, &[op.output()]);
}

/// Replaces a kernel or a hint scope by one with other inputs and results, and moves the body. `inputs` pairs each
/// outer value with the number of the argument that it replaces; `yielded` pairs each inner value with the number of
/// the result that it replaces.
///
/// # Panics
/// If an argument or a result without a counterpart is used.
pub fn rebuild_scope<'c>(
    scope: Op<'c>,
    inputs: &[(Value<'c>, Option<usize>)],
    yielded: &[(Value<'c>, Option<usize>)],
) -> Op<'c> {
    let values: Vec<Value<'c>> = inputs.iter().map(|(value, _)| *value).collect();
    let types: Vec<Type<'c>> = yielded.iter().map(|(value, _)| value.r#type()).collect();
    let arguments: Vec<Type<'c>> = values.iter().map(ValueLike::r#type).collect();
    let mut attributes = AttributeList::new(scope.ctx());
    for name in [
        attr::NAME,
        attr::KNOBS,
        attr::TILE_DIMS,
        attr::TILE_COUNTS,
        attr::WORK_DIMS,
        attr::WORK_SLICES,
        attr::RECOMPUTE,
    ] {
        attributes = attributes.with_option(name, scope.attr(name));
    }
    let body = if scope.is(spyre::KERNEL) { new_block(&arguments, scope.loc()) } else { new_block(&[], scope.loc()) };
    let new = insert_before(scope, build_op(scope.full_name(), scope.loc(), &values, &types, attributes, vec![body]));
    let block = new.body().expect("a body was built");
    let mut ops = scope.body_ops();
    let terminator = ops.pop();
    ops.into_iter().for_each(|op| op.move_to_end(block));
    let (old, arguments) = (scope.body_args(), block.args());
    for (argument, (_, replaced)) in arguments.into_iter().zip(inputs) {
        if let Some(replaced) = replaced {
            old[*replaced].replace_with(argument);
        }
    }
    let values: Vec<Value<'c>> = yielded.iter().map(|(value, _)| *value).collect();
    // Map from the arguments of the old scope to those of the new one.
    let renewed = |value: &Value<'c>| {
        let number = old.iter().position(|argument| argument == value);
        let taken = number.and_then(|number| inputs.iter().position(|(_, replaced)| *replaced == Some(number)));
        taken.map_or(*value, |taken| block.args()[taken])
    };
    if let Some(terminator) = terminator {
        terminator.erase();
    }
    append_yield(new, &values.iter().map(renewed).collect::<Vec<_>>());
    for (number, (_, was)) in yielded.iter().enumerate() {
        if let Some(was) = was {
            scope.outputs()[*was].replace_with(new.outputs()[number]);
        }
    }
    scope.erase();
    new
}
