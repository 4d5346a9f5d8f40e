//! Threads of a validation.

use rayon::ThreadPoolBuilder;

/// Runs `work` on a temporary thread pool with one thread per core, so that no threads of a compilation remain in the
/// process. Nested calls share the pool.
///
/// # Errors
/// If the system cannot start more threads.
pub(crate) fn run_on_own_threads<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    if rayon::current_thread_index().is_some() {
        return Ok(work());
    }
    let pool = ThreadPoolBuilder::new().build().map_err(|error| format!("cannot be validated: {error}"))?;
    Ok(pool.install(work))
}
