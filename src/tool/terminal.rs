//! Progress line of a terminal: redrawn in place, and erased before other output.

use rustix::termios::tcgetwinsize;
use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// Carriage return, and the control sequence that erases up to the end of the line.
const ERASE_LINE: &str = "\r\x1b[K";

/// Whether the line is drawn. All writers to standard output and standard error hold the lock.
static IS_DRAWN: Mutex<bool> = Mutex::new(false);

/// Columns of a terminal of unknown size.
const DEFAULT_COLUMNS: usize = 80;

/// Erases the line, then runs `write`, which writes to standard output or standard error.
pub(super) fn run_with_line_erased<Answer>(write: impl FnOnce() -> Answer) -> Answer {
    let mut is_drawn = lock_line();
    erase_line(&mut io::stderr(), &mut is_drawn);
    write()
}

/// Redraws the line on standard error. `line` receives the number of columns that do not wrap, because a wrapped line
/// cannot be erased.
pub(super) fn redraw(line: impl FnOnce(usize) -> String) {
    redraw_to(&mut io::stderr(), &mut lock_line(), &line(terminal_columns() - 1));
}

/// Returns the width of the terminal, in columns.
fn terminal_columns() -> usize {
    tcgetwinsize(io::stderr())
        .ok()
        .map(|size| usize::from(size.ws_col))
        .filter(|columns| *columns > 0)
        .unwrap_or(DEFAULT_COLUMNS)
}

fn lock_line() -> MutexGuard<'static, bool> {
    IS_DRAWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the line. Ignores failures, because no output is left to report them.
fn redraw_to(out: &mut impl Write, is_drawn: &mut bool, line: &str) {
    let _ = write!(out, "{ERASE_LINE}{line}").and_then(|()| out.flush());
    *is_drawn = true;
}

fn erase_line(out: &mut impl Write, is_drawn: &mut bool) {
    if std::mem::take(is_drawn) {
        let _ = out.write_all(ERASE_LINE.as_bytes()).and_then(|()| out.flush());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn redraws_line_in_place_and_erases_it_once() {
        let (mut out, mut is_drawn) = (Vec::new(), false);
        erase_line(&mut out, &mut is_drawn);
        redraw_to(&mut out, &mut is_drawn, "a, 2 s");
        redraw_to(&mut out, &mut is_drawn, "a, 3 s");
        erase_line(&mut out, &mut is_drawn);
        erase_line(&mut out, &mut is_drawn);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{ERASE_LINE}a, 2 s{ERASE_LINE}a, 3 s{ERASE_LINE}"));
    }
}
