//! Preference between two plans: time first, bytes second.

use super::ModeledCost;

/// Upper limit of the time saving, as a fraction, that is required of a loop that moves more bytes. Below the limit,
/// the required saving is the fraction of additional bytes, but at least [`EQUAL_TIME_TOLERANCE`].
const MAX_REQUIRED_SAVING: f64 = 0.05;
/// Plans that take at most this fraction longer than the fastest one count as equally fast; the one that moves the
/// fewest bytes wins.
const EQUAL_TIME_TOLERANCE: f64 = 0.01;
/// Fraction of the time that a plan may take longer per fraction of bytes saved, as long as it takes at most the
/// fraction [`MAX_SLOWDOWN`] longer than the fastest plan.
const TIME_PER_SAVED_BYTES: f64 = 0.2;
/// Maximum fraction by which a plan that moves fewer bytes may be slower than the fastest one.
pub(super) const MAX_SLOWDOWN: f64 = 0.1;
/// Returns whether a slower plan is preferred because it moves fewer bytes: a tenth of the bytes is worth a fiftieth of
/// the time, and the plan may be only slightly slower than the fastest one.
pub(super) fn trades_time_for_bytes(cost: &ModeledCost, other: &ModeledCost, fastest_ns: f64) -> bool {
    let saved = to_f64(other.hbm_bytes - cost.hbm_bytes) / to_f64(other.hbm_bytes.max(1));
    cost.ns >= other.ns
        && saved > 0.0
        && cost.ns - other.ns <= other.ns * saved * TIME_PER_SAVED_BYTES
        && cost.ns <= fastest_ns * (1.0 + MAX_SLOWDOWN)
}

#[allow(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
fn to_f64(bytes: i64) -> f64 {
    bytes as f64
}

/// Returns the fraction of the time of `plan` that `other` must save to be preferred although it moves more bytes.
fn required_saving(plan: &ModeledCost, other: &ModeledCost) -> f64 {
    let more = to_f64(other.hbm_bytes - plan.hbm_bytes) / to_f64(plan.hbm_bytes.max(1));
    more.clamp(EQUAL_TIME_TOLERANCE, MAX_REQUIRED_SAVING)
}

/// Returns whether `plan` is preferred to `other`. The faster plan wins; among plans that are hardly slower than the
/// fastest one, the one that moves fewer bytes; and no loop wins over a loop that saves little time and moves more
/// bytes.
pub(super) fn is_preferred(plan: &ModeledCost, other: &ModeledCost, fastest_ns: f64, has_a_loop_less: bool) -> bool {
    let is_fast = |cost: &ModeledCost| cost.ns <= fastest_ns * (1.0 + EQUAL_TIME_TOLERANCE);
    if trades_time_for_bytes(plan, other, fastest_ns) || trades_time_for_bytes(other, plan, fastest_ns) {
        return plan.hbm_bytes < other.hbm_bytes;
    }
    if has_a_loop_less && plan.hbm_bytes < other.hbm_bytes {
        return plan.ns * (1.0 - required_saving(plan, other)) < other.ns;
    }
    match (is_fast(plan), is_fast(other)) {
        (true, true) => plan.hbm_bytes.cmp(&other.hbm_bytes).then(plan.ns.total_cmp(&other.ns)).is_lt(),
        _ => plan.ns < other.ns,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_time_first_and_bytes_second() {
        let cost = |ns, hbm_bytes| ModeledCost { ns, hbm_bytes };
        let preferred = |plan, other| is_preferred(&plan, &other, 100.0, false);
        assert!(preferred(cost(100.0, 20), cost(120.0, 10)));
        assert!(!preferred(cost(120.0, 10), cost(100.0, 20)));
        assert!(preferred(cost(100.9, 10), cost(100.0, 20)), "as fast, with fewer bytes");
        assert!(!preferred(cost(100.0, 20), cost(100.9, 10)));
        assert!(preferred(cost(111.0, 20), cost(112.0, 10)), "neither is nearly as fast as the fastest");
    }

    #[test]
    fn accepts_small_slowdown_for_fewer_bytes() {
        let cost = |ns, hbm_bytes| ModeledCost { ns, hbm_bytes };
        let preferred = |plan, other| is_preferred(&plan, &other, 100.0, false);
        for (ns, hbm_bytes, is_worth_it) in
            [(105.9, 70, true), (106.1, 70, false), (109.9, 10, true), (110.1, 10, false)]
        {
            let (sparing, fastest) = (cost(ns, hbm_bytes), cost(100.0, 100));
            assert_eq!(preferred(sparing, fastest), is_worth_it, "{ns} ns, {hbm_bytes} bytes");
            assert_eq!(preferred(fastest, sparing), !is_worth_it, "{ns} ns, {hbm_bytes} bytes");
        }
    }

    #[test]
    fn prefers_no_loop_to_small_saving_with_more_bytes() {
        let cost = |ns, hbm_bytes| ModeledCost { ns, hbm_bytes };
        let preferred = |plan, other| is_preferred(&plan, &other, 100.0, true);
        assert!(preferred(cost(104.0, 18), cost(100.0, 20)));
        assert!(!preferred(cost(106.0, 18), cost(100.0, 20)));
        assert!(!preferred(cost(104.0, 20), cost(100.0, 20)), "no byte is saved");
        assert!(
            !preferred(cost(104.0, 100), cost(100.0, 103)),
            "a loop that saves a larger part of the time than it moves more"
        );
        assert!(preferred(cost(104.0, 100), cost(100.0, 105)));
        assert!(preferred(cost(100.9, 1000), cost(100.0, 1001)), "a hundredth of the time is nothing");
    }
}
