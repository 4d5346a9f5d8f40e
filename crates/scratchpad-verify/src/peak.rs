//! Checks the smallest LX in which every eligible buffer is resident for its whole live range.

use super::{
    Violation, field_violation,
    files::{Instance, MinimumLx, ResultFile},
    relaxation::RelaxedProblem,
    stacks::{AliasedStack, can_place_stacks},
};

/// Confirms that the plan has every eligible buffer in LX, and that the bound holds: by the bytes live at once, or else
/// by a search.
pub(super) fn check_peak(instance: &Instance, result: &ResultFile, peak: &MinimumLx) -> Result<(), Violation> {
    let MinimumLx { bytes, lower_bound } = *peak;
    if bytes != instance.capacity {
        return Err(field_violation("peak.bytes", bytes, instance.capacity));
    }
    // Addresses are aligned, so LX has whole units.
    if bytes % instance.alignment != 0 {
        return Err(field_violation("peak.bytes", bytes, format!("a multiple of {}", instance.alignment)));
    }
    if !result.certificate.whole_lives {
        return Err(Violation::Result("the smallest LX requires a plan without split live ranges".to_owned()));
    }
    for row in instance.buffers.iter().filter(|row| row.barred.is_none() && !row.uses.is_empty()) {
        if result.stays.iter().all(|interval| interval.buffer != row.name) {
            return Err(Violation::Result(format!(
                "'{}' is not in LX, which must have room for all buffers",
                row.name
            )));
        }
    }
    let reject = |what: String| Violation::Bound { bound: lower_bound, what };
    if lower_bound > bytes {
        return Err(reject(format!("{bytes} bytes suffice")));
    }
    let load = compute_max_load(instance);
    if lower_bound <= load {
        return Ok(());
    }
    match may_fit_below(instance, lower_bound) {
        Ok(false) => Ok(()),
        Ok(true) => Err(reject(format!("{load} bytes are live at once, and a smaller LX may have room for them"))),
        Err(what) => Err(reject(format!(
            "{load} bytes are live at once, and the check that no smaller LX has room for them was stopped: {what}"
        ))),
    }
}

/// Returns the maximum number of bytes live at once, with sizes rounded up to the alignment. A value that may reuse an
/// address does not count in the operation of its birth.
fn compute_max_load(instance: &Instance) -> i64 {
    let mut changes: Vec<(usize, i64)> = Vec::new();
    for (index, row) in instance.buffers.iter().enumerate().filter(|(_, row)| row.barred.is_none()) {
        let Some((first, last)) = row.uses.first().zip(row.uses.last()) else { continue };
        let bytes = (row.size + instance.alignment - 1) / instance.alignment * instance.alignment;
        let may_inherit = row.parents.iter().any(|&parent| instance.may_take_over(index, parent));
        changes.extend([(first.time + usize::from(may_inherit), bytes), (last.time + 1, -bytes)]);
    }
    changes.sort_unstable();
    let (mut live, mut most) = (0, 0);
    for (_, change) in changes {
        live += change;
        most = live.max(most);
    }
    most
}

/// Returns whether everything may fit into a smaller LX. A value that may reuse an address does not count in the
/// operation of its birth.
fn may_fit_below(instance: &Instance, bytes: i64) -> Result<bool, String> {
    let relaxed = RelaxedProblem::new(instance, true, 1, &[]);
    let capacity = relaxed.units_below(bytes);
    let stack = |value: &super::relaxation::RelaxedValue| {
        let mut stack = AliasedStack::new();
        stack.add(value.uses[0].tick..value.uses[value.uses.len() - 1].tick + 1, value.units, capacity - value.units);
        if !value.parents.is_empty() {
            stack.remove_first_tick();
        }
        stack
    };
    let towers: Vec<AliasedStack> = relaxed.values.iter().map(stack).filter(AliasedStack::has_height).collect();
    can_place_stacks(&towers, capacity)
}
