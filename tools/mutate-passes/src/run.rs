//! Runs a test program up to a time limit.

use std::{
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// Outcome of a test program.
#[derive(Debug, PartialEq)]
pub(crate) enum TestEnd {
    Success,
    Failure,
    Limit,
}

/// Runs a test program in a separate process group, so that its child processes are stopped with it.
pub(crate) fn run_to_end(command: &mut Command, limit: Duration) -> TestEnd {
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let Ok(mut child) = command.spawn() else { return TestEnd::Failure };
    let started = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return if status.success() { TestEnd::Success } else { TestEnd::Failure },
            Ok(None) if started.elapsed() < limit => thread::sleep(Duration::from_millis(5)),
            _ => {
                let _ = Command::new("kill").args(["-KILL", "--", &format!("-{}", child.id())]).status();
                let _ = child.wait();
                return TestEnd::Limit;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;

    #[test]
    fn stops_child_processes_of_stopped_test() {
        let place = env::temp_dir().join(format!("spyre-stopped-{}", std::process::id()));
        let script = format!("(sleep 2; touch {}) & wait", place.display());
        assert!(run_to_end(Command::new("sh").args(["-c", &script]), Duration::from_millis(200)) == TestEnd::Limit);
        thread::sleep(Duration::from_millis(2500));
        assert!(!place.exists(), "a process of the test went on");
    }
}
