//! Samples of long checks: CI runs one in so many, `SPYRE_ALL=1` (`cargo xtask nightly`) runs all.

/// Returns every `one_in`-th item, from the first on; all items with `SPYRE_ALL=1`.
pub(crate) fn sample<T>(items: impl IntoIterator<Item = T>, one_in: usize) -> Vec<T> {
    let step = if std::env::var_os("SPYRE_ALL").is_some_and(|value| value == "1") { 1 } else { one_in };
    items.into_iter().step_by(step).collect()
}
