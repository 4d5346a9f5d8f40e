//! The threads of a validation.

use rayon::ThreadPoolBuilder;

/// Runs `work` on threads of its own, one for each core, which end with it: a compilation leaves its process no threads. Where it runs on such threads
/// already, it shares them.
///
/// # Errors
/// The system starts no more threads.
pub(crate) fn on_own_threads<T: Send>(work: impl FnOnce() -> T + Send) -> Result<T, String> {
    if rayon::current_thread_index().is_some() {
        return Ok(work());
    }
    let pool = ThreadPoolBuilder::new().build().map_err(|error| format!("cannot be validated: {error}"))?;
    Ok(pool.install(work))
}
