//! Displays the progress of a tuning search on standard error. Time is measured for this display only, so the result of
//! a search does not depend on it.

use crate::{
    tool::{ProgressIndicator, Reporter, reporter::print_line},
    tune,
};
use std::time::{Duration, Instant};

/// Progress display of a search: the progress line, or with `-v` one line per batch.
pub(super) struct TuningProgressDisplay {
    begun: Instant,
    is_verbose: bool,
    progress: ProgressIndicator,
}

impl TuningProgressDisplay {
    pub(super) fn new(speaker: Reporter) -> Self {
        let is_verbose = speaker.is_verbose() && !speaker.is_json();
        Self { begun: Instant::now(), is_verbose, progress: ProgressIndicator::start(speaker, "tuning") }
    }

    pub(super) fn update(&self, progress: tune::TuneProgress) {
        let line = || format_line(progress, self.begun.elapsed());
        if self.is_verbose {
            print_line(&line());
        } else {
            self.progress.set_detail(line);
        }
    }
}

fn format_line(progress: tune::TuneProgress, elapsed: Duration) -> String {
    let tune::TuneProgress { num_compiled: n_compiled, max_compiled: most, best, bound } = progress;
    let costs = match (best, bound) {
        (Some(best), Some(bound)) => {
            let gap = if bound.ns > 0.0 {
                format!(", gap {:.1} %", 100.0 * (best.ns / bound.ns - 1.0))
            } else {
                String::new()
            };
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
    use cost::ModeledCost;

    #[test]
    fn formats_best_cost_bound_gap_and_remaining_time() {
        let cost = |ns| Some(ModeledCost { ns, hbm_bytes: 64 });
        let progress =
            tune::TuneProgress { num_compiled: 10, max_compiled: 30, best: cost(3000.0), bound: cost(2000.0) };
        let expected = "10 of at most 30 compiled: best 3.0 us, 64 bytes; bound 2.0 us, 64 bytes, gap 50.0 %; 8 s left";
        assert_eq!(format_line(progress, Duration::from_secs(4)), expected);
        let nothing = tune::TuneProgress { best: None, bound: None, ..progress };
        assert!(format_line(nothing, Duration::from_secs(4)).contains("no valid candidate so far"));
    }
}
