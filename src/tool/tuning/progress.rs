//! How far a search has come, on standard error. The clock is asked for nothing else.

use crate::{tool::Speaker, tune::Progress};
use std::{
    io::{self, IsTerminal, Write},
    time::{Duration, Instant},
};

/// The shortest time between two lines.
const PAUSE: Duration = Duration::from_millis(500);

/// Shows how far a search has come.
pub(super) struct Display {
    begun: Instant,
    last: Option<Instant>,
    is_terminal: bool,
    is_shown: bool,
}

impl Display {
    /// On a terminal in one line, with `-v` a line each time; what is read by programs has no progress.
    pub(super) fn new(speaker: Speaker) -> Self {
        let is_verbose = speaker.is_verbose() && !speaker.is_json();
        let is_terminal = io::stderr().is_terminal() && !speaker.is_json() && !speaker.is_quiet();
        Self { begun: Instant::now(), last: None, is_terminal: is_terminal && !is_verbose, is_shown: is_terminal || is_verbose }
    }

    pub(super) fn show(&mut self, progress: Progress) {
        let is_last = progress.n_compiled == progress.most;
        let is_due = self.last.is_none_or(|last| last.elapsed() >= PAUSE) || is_last || !self.is_terminal;
        if !self.is_shown || !is_due {
            return;
        }
        self.last = Some(Instant::now());
        let text = line(progress, self.begun.elapsed());
        // Nobody can be told that this cannot be told.
        let _ = if self.is_terminal { write!(io::stderr(), "\r\x1b[K{text}") } else { writeln!(io::stderr(), "{text}") };
    }

    /// Takes the line away.
    pub(super) fn end(&self) {
        if self.is_shown && self.is_terminal {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

fn line(progress: Progress, elapsed: Duration) -> String {
    let Progress { n_compiled, most, best, bound } = progress;
    let costs = match (best, bound) {
        (Some(best), Some(bound)) => {
            let gap = if bound.ns > 0.0 { format!(", gap {:.1} %", 100.0 * (best.ns / bound.ns - 1.0)) } else { String::new() };
            format!(
                "best {:.1} us, {} bytes; bound {:.1} us, {} bytes{gap}",
                best.ns / 1000.0,
                best.hbm_bytes,
                bound.ns / 1000.0,
                bound.hbm_bytes
            )
        }
        _ => "no valid candidate so far".to_owned(),
    };
    #[expect(clippy::cast_precision_loss, reason = "an estimate for people")]
    let left = elapsed.as_secs_f64() * most.saturating_sub(n_compiled) as f64 / n_compiled.max(1) as f64;
    format!("{n_compiled} of at most {most} compiled: {costs}; {left:.0} s left")
}

#[cfg(test)]
mod tests {
    use super::*;
    use cost::Cost;

    #[test]
    fn a_line_has_the_best_the_bound_the_gap_and_the_time_left() {
        let cost = |ns| Some(Cost { ns, hbm_bytes: 64 });
        let progress = Progress { n_compiled: 10, most: 30, best: cost(3000.0), bound: cost(2000.0) };
        let expected = "10 of at most 30 compiled: best 3.0 us, 64 bytes; bound 2.0 us, 64 bytes, gap 50.0 %; 8 s left";
        assert_eq!(line(progress, Duration::from_secs(4)), expected);
        let nothing = Progress { best: None, bound: None, ..progress };
        assert!(line(nothing, Duration::from_secs(4)).contains("no valid candidate so far"));
    }
}
