//! `spyre-make-kernels`, the values that the user gives to knobs.

use super::kernels_of;
use crate::dialect::ods::attr;
use crate::{
    dialect::{Knob, set_knob},
    kernel::KnobValue,
    mlir::{Op, OpExt, Reported, error_at, verified},
};
use std::collections::BTreeSet;

/// Gives knobs the values that the user wants, in all kernels of the name, and checks these together.
pub(super) fn set_knobs(around: Op<'_>, values: &[KnobValue]) -> Result<(), Reported> {
    let kernels = kernels_of(around);
    for value in values {
        let named: Vec<Op<'_>> = kernels.iter().copied().filter(|kernel| kernel.text_attr(attr::NAME) == value.kernel).collect();
        if named.is_empty() {
            let names: BTreeSet<&str> = kernels.iter().map(|kernel| kernel.text_attr(attr::NAME)).collect();
            let names = names.into_iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
            let found = if names.is_empty() { "none".to_owned() } else { names };
            let message = format!("has no kernel '{}', of which option 'knobs' names a knob: its kernels are {found}", value.kernel);
            return Err(error_at(around, message).report());
        }
        named.into_iter().try_for_each(|kernel| set_value(kernel, value))?;
    }
    kernels.into_iter().try_for_each(verified)
}

fn set_value(kernel: Op<'_>, value: &KnobValue) -> Result<(), Reported> {
    let knobs = Knob::all_of(kernel);
    let Some(number) = knobs.iter().position(|knob| knob.name == value.knob) else {
        let names = knobs.iter().map(|knob| format!("'{}'", knob.name)).collect::<Vec<_>>().join(", ");
        let found = if names.is_empty() { "none".to_owned() } else { names };
        return Err(error_at(kernel, format_args!("has no knob '{}': its knobs are {found}", value.knob)).report());
    };
    if !knobs[number].choices.contains(&value.value) {
        let choices = knobs[number].choices.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        return Err(
            error_at(kernel, format_args!("has no value {} for its knob '{}': it may be {choices}", value.value, value.knob)).report()
        );
    }
    set_knob(kernel, number, value.value);
    Ok(())
}
