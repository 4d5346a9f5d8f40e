//! How far a search has come, on standard error. The clock is asked for nothing else.

use crate::{
    tool::{Progress, Speaker, speech::print_line},
    tune,
};
use std::time::{Duration, Instant};

/// Shows how far a search has come: in the progress line, or with `-v` in one line per batch.
pub(super) struct Display {
    begun: Instant,
    is_verbose: bool,
    progress: Progress,
}

impl Display {
    pub(super) fn new(speaker: Speaker) -> Self {
        let is_verbose = speaker.is_verbose() && !speaker.is_json();
        Self { begun: Instant::now(), is_verbose, progress: Progress::start(speaker, "tuning") }
    }

    pub(super) fn show(&self, progress: tune::Progress) {
        let line = || line(progress, self.begun.elapsed());
        if self.is_verbose {
            print_line(&line());
        } else {
            self.progress.set_detail(line);
        }
    }
}

fn line(progress: tune::Progress, elapsed: Duration) -> String {
    let tune::Progress { n_compiled, most, best, bound } = progress;
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
        let progress = tune::Progress { n_compiled: 10, most: 30, best: cost(3000.0), bound: cost(2000.0) };
        let expected = "10 of at most 30 compiled: best 3.0 us, 64 bytes; bound 2.0 us, 64 bytes, gap 50.0 %; 8 s left";
        assert_eq!(line(progress, Duration::from_secs(4)), expected);
        let nothing = tune::Progress { best: None, bound: None, ..progress };
        assert!(line(nothing, Duration::from_secs(4)).contains("no valid candidate so far"));
    }
}
