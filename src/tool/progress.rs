//! Progress line of a tool on standard error: its activity, and the time since the activity began.
//!
//! On a terminal a thread redraws one line. Messages erase the line first. Elsewhere, if the user asks for progress,
//! each line stays, and the time between two lines grows.

use super::{
    speech::{Speaker, print_line},
    terminal::{redraw, without_line},
};
use std::{
    env,
    io::{self, IsTerminal},
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{Builder, JoinHandle},
    time::{Duration, Instant},
};

/// Environment variable that turns progress off (`0`), or on where standard error is no terminal (any other value). The
/// Python package reads it, too.
const VARIABLE: &str = "SPYRE_PROGRESS";

/// Time before the first line.
const PATIENCE: Duration = Duration::from_secs(2);

/// Time between two states of the line of a terminal.
const PERIOD: Duration = Duration::from_millis(500);

/// Factor by which the time between two lines grows where standard error is no terminal.
const GROWTH: u32 = 4;

/// Form of progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// One line that is redrawn.
    Redrawn,
    /// Lines that stay.
    Lines,
}

impl Form {
    /// Returns the form for a tool; none if it shows no progress.
    fn choose(speaker: Speaker, variable: Option<&str>, is_terminal: bool) -> Option<Self> {
        let is_off = speaker.is_quiet() || speaker.is_json() || variable == Some("0");
        let is_forced = variable.is_some_and(|value| !value.is_empty());
        match (is_off, is_terminal) {
            (true, _) => None,
            (false, true) => Some(Self::Redrawn),
            (false, false) => is_forced.then_some(Self::Lines),
        }
    }

    /// Returns the time until the next line, `elapsed` after the beginning.
    fn pause(self, elapsed: Duration) -> Duration {
        match self {
            _ if elapsed < PATIENCE => PATIENCE - elapsed,
            Self::Redrawn => PERIOD,
            Self::Lines => elapsed * (GROWTH - 1),
        }
    }
}

/// Progress of an activity, which is shown until the value is dropped.
pub(super) struct Progress {
    shown: Option<(Arc<Activity>, JoinHandle<()>)>,
}

/// Activity that a thread shows.
struct Activity {
    title: String,
    begun: Instant,
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Default)]
struct State {
    detail: String,
    is_over: bool,
}

impl Progress {
    /// Begins to show an activity, such as `compiling model.mlir`. A system that starts no thread shows none.
    pub(super) fn start(speaker: Speaker, activity: &str) -> Self {
        let variable = env::var(VARIABLE).ok();
        let form = Form::choose(speaker, variable.as_deref(), io::stderr().is_terminal());
        Self { shown: form.and_then(|form| show(form, format!("{}: {activity}", speaker.tool()))) }
    }

    /// Sets the detail of the activity, such as a phase. `detail` is called only if the progress is shown.
    pub(super) fn set_detail(&self, detail: impl FnOnce() -> String) {
        if let Some((activity, _)) = &self.shown {
            activity.state().detail = detail();
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        let Some((activity, thread)) = self.shown.take() else { return };
        activity.state().is_over = true;
        activity.ended.notify_all();
        // The thread has nothing that a panic could leave behind but the line.
        let _ = thread.join();
        without_line(|| ());
    }
}

impl Activity {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes lines until the activity is over.
    fn write_lines(&self, form: Form) {
        let mut state = self.state();
        while !state.is_over {
            let elapsed = self.begun.elapsed();
            let pause = form.pause(elapsed);
            let waited = self.ended.wait_timeout_while(state, pause, |state| !state.is_over);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
            if !state.is_over {
                let line = |columns| line((&self.title, &state.detail), self.begun.elapsed(), columns);
                match form {
                    Form::Redrawn => redraw(line),
                    Form::Lines => print_line(&line(usize::MAX)),
                }
            }
        }
    }
}

/// Starts the thread that shows an activity.
fn show(form: Form, title: String) -> Option<(Arc<Activity>, JoinHandle<()>)> {
    let activity = Arc::new(Activity { title, begun: Instant::now(), state: Mutex::default(), ended: Condvar::new() });
    let shown = Arc::clone(&activity);
    let thread = Builder::new().name("spyre progress".to_owned()).spawn(move || shown.write_lines(form)).ok()?;
    Some((activity, thread))
}

/// Returns the line of an activity after a time, in at most `columns` characters.
fn line((title, detail): (&str, &str), elapsed: Duration, columns: usize) -> String {
    let seconds = format!(", {} s", elapsed.as_secs());
    let detail = if detail.is_empty() { String::new() } else { format!(" ({detail})") };
    let text: String = format!("{title}{detail}").chars().take(columns.saturating_sub(seconds.len())).collect();
    text + &seconds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::{Amount, Format, Messages};

    #[test]
    fn quiet_json_and_the_variable_turn_progress_off() {
        let text = Speaker::new("tool", Messages::default());
        let quiet = text.saying(Amount { quiet: true, verbose: false });
        let json = Speaker::new("tool", Messages { format: Format::Json });
        for (speaker, variable, expected) in
            [(quiet, Some("1"), None), (json, Some("1"), None), (text, Some("0"), None), (text, None, Some(Form::Redrawn))]
        {
            assert_eq!(Form::choose(speaker, variable, true), expected, "{variable:?}");
        }
    }

    #[test]
    fn files_and_pipes_have_progress_only_if_the_variable_asks_for_it() {
        let speaker = Speaker::new("tool", Messages::default());
        let forms = [None, Some(""), Some("0"), Some("1")].map(|variable| Form::choose(speaker, variable, false));
        assert_eq!(forms, [None, None, None, Some(Form::Lines)]);
    }

    #[test]
    fn lines_that_stay_come_at_growing_intervals() {
        let times = |form: Form| {
            let mut elapsed = Duration::ZERO;
            [(); 4].map(|()| {
                elapsed += form.pause(elapsed);
                elapsed.as_millis()
            })
        };
        assert_eq!(times(Form::Lines), [2_000, 8_000, 32_000, 128_000]);
        assert_eq!(times(Form::Redrawn), [2_000, 2_500, 3_000, 3_500]);
    }

    #[test]
    fn a_line_has_activity_detail_and_time_and_does_not_wrap() {
        let after = Duration::from_millis(4_900);
        let shown = |title, detail| line((title, detail), after, 60);
        assert_eq!(shown("spyre-compile: compiling a.mlir", "layout"), "spyre-compile: compiling a.mlir (layout), 4 s");
        assert_eq!(shown("spyre-run: simulating out", ""), "spyre-run: simulating out, 4 s");
        let long = shown(&"é".repeat(200), "layout");
        assert!(long.chars().count() == 60 && long.ends_with("é, 4 s"), "{long}");
    }

    #[test]
    fn an_activity_ends_at_once() {
        let begun = Instant::now();
        let progress = Progress { shown: show(Form::Lines, "tool: working".to_owned()) };
        progress.set_detail(|| "layout".to_owned());
        drop(progress);
        assert!(begun.elapsed() < PATIENCE);
    }
}
