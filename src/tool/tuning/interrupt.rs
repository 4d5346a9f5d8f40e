//! Ctrl-C ends a search with the best so far; a second one ends the tool.

use crate::codes;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    flag,
};
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

/// The exit code of a program that a signal has ended, as shells have it.
const ENDED: i32 = 130;

/// Whether the user wants an end.
pub(super) struct Interrupt(Arc<AtomicBool>);

/// Listens from here on.
///
/// # Errors
/// The system's reason.
pub(super) fn listen() -> Result<Interrupt, String> {
    let is_wanted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // What is registered first is asked first: the signal that finds the mark ends the tool, the one before sets it.
        flag::register_conditional_shutdown(signal, ENDED, Arc::clone(&is_wanted))
            .and_then(|_| flag::register(signal, Arc::clone(&is_wanted)))
            .map_err(|error| codes::SYSTEM.says(format_args!("cannot listen to signals: {error}")))?;
    }
    Ok(Interrupt(is_wanted))
}

impl Interrupt {
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
