//! Checks residency intervals: their operations, their addresses, and the HBM bytes that they leave.

use super::{
    Violation, field_violation,
    files::{AccessKind, BufferRow, Instance, ResidencyInterval, ResultFile},
};

/// Residency interval with its buffer.
struct PlacedInterval<'a> {
    buffer: usize,
    interval: &'a ResidencyInterval,
}

/// Checks the residency intervals of a plan, and returns the HBM bytes that the plan leaves.
pub(super) fn check_plan(instance: &Instance, result: &ResultFile) -> Result<i64, Violation> {
    let mut placed = Vec::with_capacity(result.stays.len());
    for interval in &result.stays {
        let buffer = instance
            .find_buffer(&interval.buffer)
            .ok_or_else(|| Violation::Result(format!("there is no buffer '{}'", interval.buffer)))?;
        check_interval(instance, result.certificate.whole_lives, &instance.buffers[buffer], interval)?;
        placed.push(PlacedInterval { buffer, interval });
    }
    placed.sort_by_key(|one| (one.interval.start, one.interval.end));
    check_overlaps(instance, &placed)?;
    let mut intervals_of: Vec<Vec<&ResidencyInterval>> = vec![Vec::new(); instance.buffers.len()];
    placed.iter().for_each(|one| intervals_of[one.buffer].push(one.interval));
    let mut left = 0;
    for (row, intervals) in instance.buffers.iter().zip(&intervals_of) {
        check_summary(result, row, intervals)?;
        left += count_hbm_bytes(row, intervals, result.certificate.whole_lives);
    }
    let num_names = instance.buffers.len();
    if result.addresses.len() != num_names {
        return Err(field_violation("addresses", result.addresses.len(), num_names));
    }
    if result.reasons.keys().any(|name| instance.find_buffer(name).is_none()) {
        return Err(Violation::Result("there is a reason for an unknown buffer".to_owned()));
    }
    if result.hbm_bytes_left == left {
        Ok(left)
    } else {
        Err(field_violation("hbm_bytes_left", result.hbm_bytes_left, left))
    }
}

fn check_interval(
    instance: &Instance,
    whole: bool,
    row: &BufferRow,
    interval: &ResidencyInterval,
) -> Result<(), Violation> {
    let reject = |what: String| {
        Err(Violation::Interval { buffer: row.name.clone(), start: interval.start, end: interval.end, what })
    };
    if let Some(reason) = &row.barred {
        return reject(format!("it may not be in LX: {reason}"));
    }
    let uses = |time: Option<usize>| row.uses.iter().any(|one| Some(one.time) == time);
    if !uses(Some(interval.start)) || !uses(interval.end.checked_sub(1)) || interval.start >= interval.end {
        return reject("it does not begin and end with a use".to_owned());
    }
    let live_range = row.uses.first().zip(row.uses.last());
    if whole && live_range.is_none_or(|(first, last)| (first.time, last.time + 1) != (interval.start, interval.end)) {
        return reject("it does not cover the whole live range".to_owned());
    }
    if interval.address % instance.alignment != 0 {
        return reject(format!("address {} is not aligned to {}", interval.address, instance.alignment));
    }
    if interval.address < 0 || interval.address.checked_add(row.size).is_none_or(|end| end > instance.capacity) {
        return reject(format!(
            "expected an address range inside LX, found {} bytes at {}",
            row.size, interval.address
        ));
    }
    Ok(())
}

/// Checks that no two intervals share a byte during an operation, except a child at the address of its dying parent.
fn check_overlaps(instance: &Instance, placed: &[PlacedInterval<'_>]) -> Result<(), Violation> {
    let mut live: Vec<&PlacedInterval<'_>> = Vec::new();
    for new in placed {
        live.retain(|old| old.interval.end > new.interval.start);
        let (row, low) = (&instance.buffers[new.buffer], new.interval.address);
        for old in &live {
            let (other, other_low) = (&instance.buffers[old.buffer], old.interval.address);
            let shares = low < other_low + other.size && other_low < low + row.size;
            let is_same = old.buffer == new.buffer;
            if is_same
                || (shares
                    && !passes_address_down(instance, placed, old, new)
                    && !passes_address_down(instance, placed, new, old))
            {
                return Err(Violation::Overlap {
                    first: other.name.clone(),
                    second: row.name.clone(),
                    time: new.interval.start,
                });
            }
        }
        live.push(new);
    }
    Ok(())
}

/// Returns whether the descendant has its address from the ancestor, directly or through children of the ancestor that
/// die in the operation of their birth.
fn passes_address_down(
    instance: &Instance,
    placed: &[PlacedInterval<'_>],
    ancestor: &PlacedInterval<'_>,
    heir: &PlacedInterval<'_>,
) -> bool {
    let time = heir.interval.start;
    let from = placed.partition_point(|one| one.interval.start < time);
    let short =
        placed[from..].iter().take_while(|one| one.interval.start == time).filter(|one| one.interval.end == time + 1);
    let mut waiting: Vec<&PlacedInterval<'_>> =
        short.filter(|one| one.interval.address == heir.interval.address && one.buffer != heir.buffer).collect();
    let mut reached = vec![ancestor];
    while let Some(last) = reached.pop() {
        if passes_address(instance, last, heir) {
            return true;
        }
        let (next, others): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|one| passes_address(instance, last, one));
        reached.extend(next);
        waiting = others;
    }
    false
}

/// Returns whether the child is at the parent's address and overlaps it only in the operation of the reuse.
fn passes_address(instance: &Instance, parent: &PlacedInterval<'_>, child: &PlacedInterval<'_>) -> bool {
    let (elder, younger) = (&instance.buffers[parent.buffer], &instance.buffers[child.buffer]);
    let may_be = instance.may_take_over(child.buffer, parent.buffer);
    let meets_once = parent.interval.end == child.interval.start + 1
        && younger.uses.first().is_some_and(|one| one.time == child.interval.start);
    let dies = elder.uses.last().is_some_and(|one| one.time + 1 == parent.interval.end);
    may_be && meets_once && dies && parent.interval.address == child.interval.address
}

/// Formats a value in the syntax of the file.
fn format_json_value<T: std::fmt::Display>(value: Option<&T>) -> String {
    value.map_or_else(|| "null".to_owned(), T::to_string)
}

/// Checks the address of a buffer's first interval in the result, or the reason why the buffer has none.
fn check_summary(result: &ResultFile, row: &BufferRow, intervals: &[&ResidencyInterval]) -> Result<(), Violation> {
    let address = intervals.first().map(|interval| interval.address);
    let stated =
        result.addresses.get(&row.name).ok_or_else(|| Violation::Result(format!("no address for '{}'", row.name)))?;
    if *stated != address {
        return Err(field_violation(
            &format!("addresses.{}", row.name),
            format_json_value(stated.as_ref()),
            format_json_value(address.as_ref()),
        ));
    }
    let has_reason = result.reasons.get(&row.name).is_some_and(|reason| !reason.is_empty());
    if has_reason == address.is_some() || (result.reasons.contains_key(&row.name) && !has_reason) {
        let expected = if address.is_some() { "none" } else { "a reason" };
        return Err(field_violation(
            &format!("reasons.{}", row.name),
            format_json_value(result.reasons.get(&row.name)),
            expected,
        ));
    }
    if let (Some(barred), Some(reason)) = (&row.barred, result.reasons.get(&row.name))
        && barred != reason
    {
        return Err(field_violation(&format!("reasons.{}", row.name), reason, barred));
    }
    Ok(())
}

/// Traverses the uses of a value, and counts the bytes that are copied from and to HBM.
fn count_hbm_bytes(row: &BufferRow, intervals: &[&ResidencyInterval], whole: bool) -> i64 {
    if whole && !intervals.is_empty() {
        let is_written = row.uses.iter().any(|one| one.kind == AccessKind::Write);
        let goes_out = row.graph_output && (is_written || !row.needs_initial_load());
        return row.size * (i64::from(row.needs_initial_load()) + i64::from(goes_out));
    }
    let size = row.size;
    let (mut bytes, mut hbm_is_valid) = (0, row.graph_input);
    let mut interval_before: Option<usize> = None;
    let mut at = 0;
    while at < row.uses.len() {
        let time = row.uses[at].time;
        let group: Vec<_> = row.uses[at..].iter().take_while(|one| one.time == time).collect();
        let writes = group.iter().any(|one| one.kind == AccessKind::Write);
        let replaces = at > 0 && group.iter().all(|one| one.kind == AccessKind::Write);
        let interval = intervals.iter().position(|interval| (interval.start..interval.end).contains(&time));
        if interval_before.is_some() && interval != interval_before && !hbm_is_valid && !replaces {
            // The value left LX, and HBM holds no copy of it.
            bytes += size;
            hbm_is_valid = true;
        }
        match interval {
            Some(_) => {
                let comes = interval != interval_before;
                let is_copied = if at == 0 { row.needs_initial_load() } else { comes && !replaces };
                bytes += if is_copied { size } else { 0 };
                hbm_is_valid = if at == 0 { row.needs_initial_load() && !writes } else { hbm_is_valid && !writes };
            }
            None => {
                bytes += group.iter().map(|_| size).sum::<i64>();
                hbm_is_valid = true;
            }
        }
        interval_before = interval;
        at += group.len();
    }
    if row.graph_output && !hbm_is_valid { bytes + size } else { bytes }
}
