//! `spyre-make-kernels`: applies the knob values that the user requests.

use super::{collect_kernels, fixed_numbers::collect_fixed_numbers};
use crate::dialect::ods::attr;
use crate::{
    codes,
    dialect::{Knob, set_knob},
    kernel::KnobValue,
    mlir::{ErrorReported, Op, OpExt, error_at, verify_op},
};
use std::collections::BTreeSet;

/// Sets the requested knob values in all kernels of the name, and verifies them together.
pub(super) fn set_knobs(around: Op<'_>, values: &[KnobValue]) -> Result<(), ErrorReported> {
    let kernels = collect_kernels(around);
    // Orders are applied last, since the other numbers are identified by their original positions in the kernel.
    let (orders, numbers): (Vec<&KnobValue>, Vec<&KnobValue>) =
        values.iter().partition(|value| value.knob.starts_with("order"));
    for value in numbers.into_iter().chain(orders) {
        let named: Vec<Op<'_>> =
            kernels.iter().copied().filter(|kernel| kernel.text_attr(attr::NAME) == value.kernel).collect();
        if named.is_empty() {
            let names: BTreeSet<&str> = kernels.iter().map(|kernel| kernel.text_attr(attr::NAME)).collect();
            let names = names.into_iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
            let advice =
                if names.is_empty() { "it has no kernels".to_owned() } else { format!("choose one of {names}") };
            let message = codes::KNOB_UNKNOWN.format(format_args!(
                "option 'knobs': expected a kernel of the program, found '{}'; {advice}",
                value.kernel
            ));
            return Err(error_at(codes::KNOB_UNKNOWN, around, message).report());
        }
        named.into_iter().try_for_each(|kernel| set_value(kernel, value))?;
    }
    kernels.into_iter().try_for_each(verify_op)
}

fn set_value(kernel: Op<'_>, value: &KnobValue) -> Result<(), ErrorReported> {
    let knobs = Knob::collect_from_kernel(kernel);
    let Some(number) = knobs.iter().position(|knob| knob.name == value.knob) else {
        return set_fixed_number(kernel, &knobs, value);
    };
    if !knobs[number].choices.contains(&value.value) {
        let choices = knobs[number].choices.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
        return Err(error_at(
            codes::KNOB_VALUE,
            kernel,
            format_args!("option 'knobs': expected {choices} for knob '{}', found {}", value.knob, value.value),
        )
        .report());
    }
    set_knob(kernel, number, value.value);
    Ok(())
}

/// Changes a number in a scope of the kernel that no knob controls.
fn set_fixed_number(kernel: Op<'_>, knobs: &[Knob], value: &KnobValue) -> Result<(), ErrorReported> {
    let fixed = collect_fixed_numbers(kernel);
    let Some(number) = fixed.iter().find(|number| number.name == value.knob) else {
        let names = knobs.iter().map(|knob| knob.name.as_str()).chain(fixed.iter().map(|number| number.name.as_str()));
        let names = names.map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
        let advice = if names.is_empty() { "it has no knobs".to_owned() } else { format!("choose one of {names}") };
        return Err(error_at(
            codes::KNOB_UNKNOWN,
            kernel,
            format_args!("option 'knobs': expected a knob of the kernel, found '{}'; {advice}", value.knob),
        )
        .report());
    };
    if number.write_value(value.value) {
        return Ok(());
    }
    let most = number.choices(None, 0).len();
    Err(error_at(
        codes::KNOB_VALUE,
        kernel,
        format_args!(
            "option 'knobs': expected one of the {most} orders of loops, found {} for '{}.{}'",
            value.value, value.kernel, value.knob
        ),
    )
    .report())
}
