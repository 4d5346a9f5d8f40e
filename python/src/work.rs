//! Long work, which leaves Python to others while it runs and ends for the caller on Ctrl-C.

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, RecvTimeoutError},
    },
    thread,
    time::Duration,
};

/// How often it is asked whether the user has had enough.
const SIGNAL_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Does the work on a thread with the stack of a tool. When a signal ends the wait, `KeyboardInterrupt` among them, the
/// work is told that it is over; it ends when it next looks, and nobody sees what it makes.
///
/// # Errors
/// The exception of a signal's handler; that no thread could be started, or that ours has panicked.
pub(crate) fn wait_for<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let (done, mut answer) = mpsc::channel();
    let is_over = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&is_over);
    let thread = thread::Builder::new().stack_size(spyre_compiler::tool::STACK_BYTES).spawn(move || {
        // Nobody waits any more if it cannot be sent.
        let _ = done.send(work(&seen));
    });
    thread.map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    loop {
        // A receiver may be sent to another thread, but not shared, which is all that a plain borrow would say.
        let answer = &mut answer;
        match py.detach(move || answer.recv_timeout(SIGNAL_POLL_INTERVAL)) {
            Ok(answer) => return Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().inspect_err(|_| is_over.store(true, Ordering::Relaxed))?
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "stopped by a compiler bug, which is described above: please report it",
                ));
            }
        }
    }
}
