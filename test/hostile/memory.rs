//! Memory limit for a tool's processing of a file, in addition to the memory of the process: a constant, plus a number
//! of bytes for each byte of the file.

use crate::hostile::targets::Case;
use std::fs;

/// Memory limit for any input: the contents of a simulated machine of 64 MiB, its inputs and its results (`limits` of
/// `targets.rs`).
const BYTES_OF_A_CASE: u64 = 1 << 29;
/// Memory limit for each byte of the file.
const BYTES_OF_A_BYTE: u64 = 4096;

/// Runs a case and reads the peak memory of the process in the meantime.
pub(crate) fn check(case: &Case, run: impl FnOnce()) {
    // In some containers a process cannot reset its peak; then it is unknown.
    let can_measure = fs::write("/proc/self/clear_refs", "5").is_ok();
    let before = status_of("VmRSS");
    run();
    let Some(grown) =
        status_of("VmHWM").zip(before).map(|(most, before)| most.saturating_sub(before)).filter(|_| can_measure)
    else {
        return;
    };
    let allowed = BYTES_OF_A_CASE + BYTES_OF_A_BYTE * case.mutant.len() as u64;
    if std::env::var_os("SPYRE_HOSTILE_TRACE").is_some() {
        println!("grown {grown} {}", case.mutant.len());
    }
    assert!(
        grown <= allowed,
        "a file of {} bytes took {grown} bytes of memory, more than {allowed}",
        case.mutant.len()
    );
}

/// Reads a number of `/proc/self/status`, in bytes.
fn status_of(name: &str) -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with(name))?;
    Some(line.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()? * 1024)
}
