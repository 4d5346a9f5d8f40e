//! The machine that a module is compiled for: the module attribute `spyre.target`, Spyre without it.

use crate::{
    mlir::{Attributes, Op, OpExt, dictionary, dictionary_entries, integer},
    target::Target,
};

const TARGET: &str = "spyre.target";

/// The machine of a module.
///
/// # Errors
/// A message about the entry that is no number of the machine.
pub fn target_of(module: Op<'_>) -> Result<Target, String> {
    let Some(attribute) = module.attr(TARGET) else { return Ok(Target::spyre()) };
    let entries = dictionary_entries(attribute).ok_or_else(|| format!("'{TARGET}' must be a dictionary, found {attribute}"))?;
    let mut numbers = serde_json::Map::new();
    for (name, value) in entries {
        let number = integer(value).ok_or_else(|| format!("'{TARGET}' must hold numbers, found {name} = {value}"))?;
        numbers.insert(name.to_owned(), number.into());
    }
    let target: Target = serde_json::from_value(numbers.into()).map_err(|error| format!("'{TARGET}': {error}"))?;
    target.check()?;
    Ok(target)
}

/// Writes the machine of a module: the numbers in which it differs from Spyre.
pub fn set_target(module: Op<'_>, target: &Target) {
    if *target == Target::spyre() {
        module.remove_attr(TARGET);
        return;
    }
    let mut entries = Attributes::new(module.ctx());
    for ((name, number), (_, usual)) in target.numbers().into_iter().zip(Target::spyre().numbers()) {
        if number != usual {
            entries = entries.int(name, number);
        }
    }
    module.set_attr(TARGET, dictionary(entries));
}
