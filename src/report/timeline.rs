//! Start times of launches and ops on the axis of modeled time.

use super::{Report, round_to_thousandths};

/// Interval of a launch on the axis of modeled time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LaunchSpan<'r> {
    /// Folder of the launch's bundle.
    pub(super) name: &'r str,
    pub(super) start_us: f64,
    pub(super) us: f64,
}

impl Report {
    /// Assigns a start time to each launch and op. Launches follow one another. A launch lasts as long as its ops
    /// together or as its own estimate, whichever is longer. Ops follow one another within their launch. An op in loops
    /// occurs once, with the time of all its iterations.
    pub fn assign_start_times(&mut self) {
        let (mut start_us, mut first) = (0.0, 0);
        for launch in &mut self.launches {
            launch.start_us = round_to_thousandths(start_us);
            let end = (first + launch.n_ops).min(self.ops.len());
            let mut ops_us = 0.0;
            for op in &mut self.ops[first..end] {
                op.start_us = round_to_thousandths(start_us + ops_us);
                ops_us += op.us;
            }
            start_us += ops_us.max(launch.cost.estimate_us);
            first = end;
        }
    }

    /// Returns the intervals of the launches, in order.
    pub(super) fn launch_spans(&self) -> impl Iterator<Item = LaunchSpan<'_>> {
        let ends = self.launches.iter().scan(0, |end, launch| {
            *end = (*end + launch.n_ops).min(self.ops.len());
            Some(*end)
        });
        self.launches.iter().zip(ends).map(|(launch, end)| {
            let last = end.checked_sub(1).map(|last| &self.ops[last]).filter(|_| launch.n_ops > 0);
            let ops_us = last.map_or(0.0, |op| op.start_us + op.us - launch.start_us);
            LaunchSpan {
                name: &launch.bundle,
                start_us: launch.start_us,
                us: round_to_thousandths(ops_us.max(launch.cost.estimate_us)),
            }
        })
    }
}
