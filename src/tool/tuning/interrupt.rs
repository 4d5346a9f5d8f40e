//! Ctrl-C stops a search, which returns the best candidate so far; a second Ctrl-C ends the tool.

use crate::codes;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// Exit code after a signal, by the convention of shells.
const SIGNAL_EXIT_CODE: i32 = 130;

/// Flag that the user has requested a stop.
pub(super) struct InterruptFlag(Arc<AtomicBool>);

/// Installs the signal handlers.
///
/// # Errors
/// The system's error.
pub(super) fn install_handlers() -> Result<InterruptFlag, String> {
    let is_wanted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // Handlers run in the order of registration: the first signal sets the flag, and a second signal, which finds
        // it set, ends the tool.
        flag::register_conditional_shutdown(signal, SIGNAL_EXIT_CODE, Arc::clone(&is_wanted))
            .and_then(|_| flag::register(signal, Arc::clone(&is_wanted)))
            .map_err(|error| codes::SYSTEM.format(format_args!("cannot listen to signals: {error}")))?;
    }
    Ok(InterruptFlag(is_wanted))
}

impl InterruptFlag {
    pub(super) fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
