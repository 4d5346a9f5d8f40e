//! Progress line of a tool on standard error: its activity, and the time since the activity began.
//!
//! On a terminal a thread redraws one line. Messages erase the line first. Elsewhere, if the user asks for progress,
//! each line stays, and the time between two lines grows.

use super::{
    reporter::{Reporter, print_line},
    terminal::{redraw, run_with_line_erased},
};
use std::{
    env,
    io::{self, IsTerminal},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

/// Environment variable that turns progress off (`0`). Any other value turns progress on, even if standard error is not
/// a terminal. The Python package reads it, too.
const PROGRESS_VARIABLE: &str = "SPYRE_PROGRESS";

/// Delay of the first line.
const INITIAL_DELAY: Duration = Duration::from_secs(2);

/// Time between two updates of the line on a terminal.
const REDRAW_PERIOD: Duration = Duration::from_millis(500);

/// Factor by which the time between two lines grows if standard error is not a terminal.
const INTERVAL_GROWTH: u32 = 4;

/// Style of progress output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgressStyle {
    /// One line that is redrawn in place.
    Redrawn,
    /// Permanent lines.
    Lines,
}

impl ProgressStyle {
    /// Returns the style for a tool; `None` if it shows no progress.
    fn choose(speaker: Reporter, variable: Option<&str>, is_terminal: bool) -> Option<Self> {
        let is_off = speaker.is_quiet() || speaker.is_json() || variable == Some("0");
        let is_forced = variable.is_some_and(|value| !value.is_empty());
        match (is_off, is_terminal) {
            (true, _) => None,
            (false, true) => Some(Self::Redrawn),
            (false, false) => is_forced.then_some(Self::Lines),
        }
    }

    /// Returns the time until the next line, if `elapsed` has passed since the start.
    fn next_delay(self, elapsed: Duration) -> Duration {
        match self {
            _ if elapsed < INITIAL_DELAY => INITIAL_DELAY - elapsed,
            Self::Redrawn => REDRAW_PERIOD,
            Self::Lines => elapsed * (INTERVAL_GROWTH - 1),
        }
    }
}

/// Progress display of an activity; it ends when the value is dropped.
pub(super) struct ProgressIndicator {
    viewed: Option<(Arc<ProgressActivity>, JoinHandle<()>)>,
}

/// Activity that a thread displays.
struct ProgressActivity {
    title: String,
    begun: Instant,
    state: Mutex<ProgressState>,
    ended: Condvar,
}

#[derive(Default)]
struct ProgressState {
    detail: String,
    is_over: bool,
}

impl ProgressIndicator {
    /// Starts to display an activity, such as `compiling model.mlir`. Displays nothing if no thread can be started.
    pub(super) fn start(speaker: Reporter, activity: &str) -> Self {
        let variable = env::var(PROGRESS_VARIABLE).ok();
        let form = ProgressStyle::choose(speaker, variable.as_deref(), io::stderr().is_terminal());
        Self { viewed: form.and_then(|form| spawn_display(form, format!("{}: {activity}", speaker.tool()))) }
    }

    /// Sets the detail of the activity, such as a phase. `detail` is called only if progress is displayed.
    pub(super) fn set_detail(&self, detail: impl FnOnce() -> String) {
        if let Some((activity, _)) = &self.viewed {
            activity.lock_state().detail = detail();
        }
    }
}

impl Drop for ProgressIndicator {
    fn drop(&mut self) {
        let Some((activity, thread)) = self.viewed.take() else { return };
        activity.lock_state().is_over = true;
        activity.ended.notify_all();
        // A panic of the thread can leave nothing but the line, which is erased below.
        let _ = thread.join();
        run_with_line_erased(|| ());
    }
}

impl ProgressActivity {
    fn lock_state(&self) -> MutexGuard<'_, ProgressState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines until the activity ends.
    fn write_lines(&self, form: ProgressStyle) {
        let mut state = self.lock_state();
        while !state.is_over {
            let elapsed = self.begun.elapsed();
            let pause = form.next_delay(elapsed);
            let waited = self.ended.wait_timeout_while(state, pause, |state| !state.is_over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !state.is_over {
                let line = |columns| format_line((&self.title, &state.detail), self.begun.elapsed(), columns);
                match form {
                    ProgressStyle::Redrawn => redraw(line),
                    ProgressStyle::Lines => print_line(&line(usize::MAX)),
                }
            }
        }
    }
}

/// Starts the thread that displays an activity.
fn spawn_display(form: ProgressStyle, title: String) -> Option<(Arc<ProgressActivity>, JoinHandle<()>)> {
    let activity =
        Arc::new(ProgressActivity { title, begun: Instant::now(), state: Mutex::default(), ended: Condvar::new() });
    let viewed = Arc::clone(&activity);
    let thread = Builder::new().name("spyre progress".to_owned()).spawn(move || viewed.write_lines(form)).ok()?;
    Some((activity, thread))
}

/// Formats the line of an activity after a time, in at most `columns` characters.
fn format_line((title, detail): (&str, &str), elapsed: Duration, columns: usize) -> String {
    let seconds = format!(", {} s", elapsed.as_secs());
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    let text: String = format!("{title}{detail}").chars().take(columns.saturating_sub(seconds.len())).collect();
    text + &seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{MessageArguments, MessageFormat, Verbosity};

    #[test]
    fn disables_progress_for_quiet_json_and_variable() {
        let text = Reporter::new("tool", MessageArguments::default());
        let quiet = text.with_verbosity(Verbosity { quiet: true, verbose: false });
        let json = Reporter::new("tool", MessageArguments { format: MessageFormat::Json });
        for (speaker, variable, expected) in [
            (quiet, Some("1"), None),
            (json, Some("1"), None),
            (text, Some("0"), None),
            (text, None, Some(ProgressStyle::Redrawn)),
        ] {
            assert_eq!(ProgressStyle::choose(speaker, variable, true), expected, "{variable:?}");
        }
    }

    #[test]
    fn shows_progress_in_files_and_pipes_only_on_request() {
        let speaker = Reporter::new("tool", MessageArguments::default());
        let forms =
            [None, Some(""), Some("0"), Some("1")].map(|variable| ProgressStyle::choose(speaker, variable, false));
        assert_eq!(forms, [None, None, None, Some(ProgressStyle::Lines)]);
    }

    #[test]
    fn prints_permanent_lines_at_growing_intervals() {
        let times = |form: ProgressStyle| {
            let mut elapsed = Duration::ZERO;
            [(); 4].map(|()| {
                elapsed += form.next_delay(elapsed);
                elapsed.as_millis()
            })
        };
        assert_eq!(times(ProgressStyle::Lines), [2_000, 8_000, 32_000, 128_000]);
        assert_eq!(times(ProgressStyle::Redrawn), [2_000, 2_500, 3_000, 3_500]);
    }

    #[test]
    fn formats_activity_detail_and_time_without_wrapping() {
        let after = Duration::from_millis(4_900);
        let viewed = |title, detail| format_line((title, detail), after, 60);
        assert_eq!(
            viewed("spyre-compile: compiling a.mlir", "layout"),
            "spyre-compile: compiling a.mlir (layout), 4 s"
        );
        assert_eq!(viewed("spyre-run: simulating out", ""), "spyre-run: simulating out, 4 s");
        let long = viewed(&"é".repeat(200), "layout");
        assert!(long.chars().count() == 60 && long.ends_with("é, 4 s"), "{long}");
    }

    #[test]
    fn ends_activity_immediately() {
        let begun = Instant::now();
        let progress = ProgressIndicator { viewed: spawn_display(ProgressStyle::Lines, "tool: working".to_owned()) };
        progress.set_detail(|| "layout".to_owned());
        drop(progress);
        assert!(begun.elapsed() < INITIAL_DELAY);
    }
}
