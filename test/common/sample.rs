//! Samples of long checks: CI runs one in `one_in`, `SPYRE_ALL=1` (`cargo xtask nightly`) runs all.

/// Returns every `one_in`-th item, from the first on; all items with `SPYRE_ALL=1`.
pub(crate) fn sample<T>(items: impl IntoIterator<Item = T>, one_in: usize) -> Vec<T> {
    items.into_iter().step_by(if is_all() { 1 } else { one_in }).collect()
}

/// Returns whether checks run on all items; some bounds hold only then.
pub(crate) fn is_all() -> bool {
    std::env::var_os("SPYRE_ALL").is_some_and(|value| value == "1")
}
