//! Attributes of a module about its compilation: the target machine (`spyre.target`, Spyre if absent), and the last
//! phase that has run (`spyre.phase`, absent before the first).

use crate::dialect::ods::attr;
use crate::mlir::{
    Attribute, AttributeList, Context, Op, OpExt, array_attribute, build_dictionary, dictionary_entries, elements,
    f64_attribute, float_value, integer, string, string_attribute,
};
use machine::Target;
use serde_json::{Map, Value};

/// Returns the name of the last phase that has run on a module.
#[must_use]
pub fn phase_of(module: Op<'_>) -> Option<&str> {
    module.attr(attr::SPYRE_PHASE).and_then(string)
}

/// Sets the name of the last phase that has run on a module.
pub fn set_phase(module: Op<'_>, name: &str) {
    module.set_attr(attr::SPYRE_PHASE, string_attribute(module.ctx(), name));
}

/// Returns the target machine of a module.
///
/// # Errors
/// A message about the entry that is not a parameter of the machine.
pub fn target_of(module: Op<'_>) -> Result<Target, String> {
    let Some(attribute) = module.attr(attr::SPYRE_TARGET) else { return Ok(Target::spyre()) };
    let entries = dictionary_entries(attribute)
        .ok_or_else(|| format!("'spyre.target' must be a dictionary, found {attribute}"))?;
    let mut numbers = Map::new();
    for (name, value) in entries {
        let number = convert_to_json(value)
            .ok_or_else(|| format!("'spyre.target' must hold numbers, found {name} = {value}"))?;
        numbers.insert(name.to_owned(), number);
    }
    let target: Target = serde_json::from_value(numbers.into()).map_err(|error| format!("'spyre.target': {error}"))?;
    target.check()?;
    Ok(target)
}

/// Returns whether a restickify may access LX on the target of the module that an op is in; that of Spyre if the
/// attribute is malformed.
pub(super) fn may_restickify_in_lx(op: Op<'_>) -> bool {
    let target = std::iter::successors(Some(op), |op| op.parent()).find_map(|around| around.attr(attr::SPYRE_TARGET));
    let entry = target.and_then(dictionary_entries).into_iter().flatten().find(|(name, _)| *name == "lx_restickify");
    entry.and_then(|(_, value)| integer(value)).unwrap_or(Target::spyre().lx_restickify) == 1
}

/// Converts a number, or an array or dictionary of numbers, to JSON.
fn convert_to_json(attribute: Attribute<'_>) -> Option<Value> {
    if let Some(number) = integer(attribute) {
        return Some(number.into());
    }
    if let Some(number) = float_value(attribute) {
        return Some(number.into());
    }
    if let Some(entries) = dictionary_entries(attribute) {
        let entries = entries.into_iter().map(|(name, value)| Some((name.to_owned(), convert_to_json(value)?)));
        return entries.collect::<Option<Map<_, _>>>().map(Value::Object);
    }
    elements(attribute)?.into_iter().map(convert_to_json).collect::<Option<Vec<_>>>().map(Value::Array)
}

/// Sets the target machine of a module: the parameters that differ from Spyre.
pub fn set_target(module: Op<'_>, target: &Target) {
    if *target == Target::spyre() {
        module.remove_attr(attr::SPYRE_TARGET);
        return;
    }
    let mut entries = AttributeList::new(module.ctx());
    for ((name, number), (_, usual)) in target.all_parameters().into_iter().zip(Target::spyre().all_parameters()) {
        if number != usual {
            entries = entries.with_int(name, number);
        }
    }
    // A time model has string keys and finite numbers only, so its serialization does not fail.
    let (time, usual) = (serde_json::to_value(&target.time), serde_json::to_value(&Target::spyre().time));
    if let (Ok(time), Ok(usual)) = (time, usual)
        && time != usual
    {
        entries = entries.with_attribute("time", convert_to_attribute(module.ctx(), &time, Some(&usual)));
    }
    module.set_attr(attr::SPYRE_TARGET, build_dictionary(entries));
}

/// Converts a JSON value to an attribute; of an object, only the entries that differ from `usual`.
fn convert_to_attribute<'c>(context: &'c Context, value: &Value, usual: Option<&Value>) -> Attribute<'c> {
    match value {
        Value::Object(entries) => {
            let mut attributes = AttributeList::new(context);
            for (name, value) in entries {
                let usual = usual.and_then(|usual| usual.get(name));
                if usual != Some(value) {
                    attributes = attributes.with_attribute(name, convert_to_attribute(context, value, usual));
                }
            }
            build_dictionary(attributes)
        }
        Value::Array(numbers) => {
            let numbers: Vec<_> = numbers.iter().map(|number| convert_to_attribute(context, number, None)).collect();
            array_attribute(context, &numbers)
        }
        number => f64_attribute(context, number.as_f64().unwrap_or_default()),
    }
}
