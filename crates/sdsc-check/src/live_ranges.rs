//! Checks the live ranges in LX and in the pool of a launch against the accesses of its files.
//!
//! One sweep over the ops of a launch in the order of the text. Each live range and each operand is compared with all
//! ranges that are live at that op; the number of these is limited by the size of the memory.

use super::BundleFacts;
use super::file_facts::{TensorAddress, TensorFacts};
use super::launch::ValueBase;
use super::report::ViolationReport;
use machine::STICK_BYTES;
use sdsc_format::bundle_text::{Stmt, StmtKind};
use sdsc_format::program::{LaunchEntry, Life};
use std::collections::BTreeSet;
use std::ops::Range;

/// Executes of a bundle in the order of the text, and the loops around them.
#[derive(Debug, Default)]
pub(super) struct ExecuteOrder {
    files: Vec<String>,
    /// Enclosing loops of each execute, outermost first.
    loops: Vec<Vec<usize>>,
    /// Range of the executes in each loop.
    ranges: Vec<Range<usize>>,
    /// Whether each loop may have more than one iteration.
    repeats: Vec<bool>,
}

/// Element of a body: an execute, or a loop with its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BodyItem {
    Execute(usize),
    Loop(usize),
}

impl ExecuteOrder {
    /// Returns the order of the executes of a body. `counts` has the iteration count of each loop, if known.
    pub(super) fn from_body(body: &[Stmt<&str>], counts: &[Option<i64>]) -> Self {
        let mut order = Self::default();
        order.add_statements(body, &mut Vec::new());
        let count = |number: usize| counts.get(number).copied().flatten();
        order.repeats = (0..order.ranges.len()).map(|number| count(number).is_none_or(|count| count > 1)).collect();
        order
    }

    /// Returns the order of a loop of files with these numbers.
    #[cfg(test)]
    pub(super) fn from_loop(count: i64, num_files: usize) -> Self {
        Self {
            files: (0..num_files).map(|number| format!("sdsc_{number}.json")).collect(),
            loops: vec![vec![0]; num_files],
            ranges: std::iter::once(0..num_files).collect(),
            repeats: vec![count > 1],
        }
    }

    /// Returns the executes and the loops of a loop's body, or of the function, in order.
    pub(super) fn body_items(&self, around: Option<usize>) -> Vec<BodyItem> {
        let mut executes = around.map_or(0..self.files.len(), |number| self.ranges[number].clone());
        let mut items = Vec::new();
        while let Some(execute) = executes.next() {
            let loops = &self.loops[execute];
            let depth = around.and_then(|number| loops.iter().position(|known| *known == number));
            match loops.get(depth.map_or(0, |depth| depth + 1)) {
                Some(inner) => {
                    executes.start = self.ranges[*inner].end;
                    items.push(BodyItem::Loop(*inner));
                }
                None => items.push(BodyItem::Execute(execute)),
            }
        }
        items
    }

    /// Returns whether a loop may have more than one iteration.
    pub(super) fn repeats(&self, number: usize) -> bool {
        self.repeats[number]
    }

    /// Returns the file of an execute.
    pub(super) fn file_name(&self, execute: usize) -> &str {
        &self.files[execute]
    }

    fn add_statements(&mut self, body: &[Stmt<&str>], around: &mut Vec<usize>) {
        for statement in body {
            match &statement.kind {
                StmtKind::Execute(execute) => {
                    self.files.push(execute.file.to_owned());
                    self.loops.push(around.clone());
                }
                StmtKind::For(counted) => {
                    let (number, first) = (self.ranges.len(), self.files.len());
                    self.ranges.push(first..first);
                    around.push(number);
                    self.add_statements(&counted.body, around);
                    around.pop();
                    self.ranges[number].end = self.files.len();
                }
                _ => {}
            }
        }
    }

    /// Returns whether an execute names the file of an earlier one.
    pub(super) fn repeats_file(&self, op: usize) -> bool {
        self.files.get(op).is_some_and(|file| self.files[..op].contains(file))
    }

    /// Returns all executes of a live range. If only one of its ends is inside a loop, the range covers the complete
    /// loop.
    fn execute_range(&self, live_range: &Life) -> Range<usize> {
        let (first, last) = (&self.loops[live_range.first_op], &self.loops[live_range.last_op]);
        let num_shared = first.iter().zip(last).take_while(|(first, last)| first == last).count();
        let start = first.get(num_shared).map_or(live_range.first_op, |inner| self.ranges[*inner].start);
        start..last.get(num_shared).map_or(live_range.last_op + 1, |inner| self.ranges[*inner].end)
    }
}

/// Checks the live ranges of a launch whose bundle breaks no other rule.
pub(super) fn check(number: usize, launch: &LaunchEntry, facts: &BundleFacts, report: &mut ViolationReport) {
    for (name, live_ranges, is_pool) in [("lx", &launch.lx, false), ("pool", &launch.pool, true)] {
        let path = |live_range: usize| format!("/launches/{number}/{name}/{live_range}");
        let malformed = (0..live_ranges.len())
            .find_map(|index| Some((index, find_range_fault(&live_ranges[index], facts.order.files.len())?)));
        let unordered =
            (1..live_ranges.len()).find(|index| sort_key(&live_ranges[*index - 1]) > sort_key(&live_ranges[*index]));
        let unordered = unordered.map(|index| {
            (index, "begins before the previous live range; live ranges are in the order of their first ops".to_owned())
        });
        if let Some((index, message)) = malformed.or(unordered) {
            report.report_json(path(index), message);
            continue;
        }
        let mut sweep = LiveRangeSweep {
            live_ranges,
            order: &facts.order,
            active: BTreeSet::new(),
            accesses: vec![LiveRangeAccesses::default(); live_ranges.len()],
        };
        match sweep.run(facts, is_pool) {
            Err(LiveRangeFault { live_range: Some(live_range), message }) => {
                report.report_json(path(live_range), message)
            }
            Err(LiveRangeFault { live_range: None, message }) => {
                report.report_json(format!("/launches/{number}"), message)
            }
            Ok(()) => {}
        }
    }
}

/// Returns the sort key of a live range: its first op, then its byte offset.
const fn sort_key(live_range: &Life) -> (usize, i64) {
    (live_range.first_op, live_range.offset)
}

/// Returns a message if the numbers of a live range are invalid in a launch of `n_ops` ops; `None` if they are valid.
fn find_range_fault(live_range: &Life, n_ops: usize) -> Option<String> {
    let &Life { offset, bytes, first_op, last_op } = live_range;
    if offset < 0 || offset % STICK_BYTES != 0 || bytes < 1 || offset.checked_add(bytes).is_none() {
        return Some(format!(
            "a live range of {bytes} bytes from byte {offset} on; it begins at a multiple of 128 and has at least one byte"
        ));
    }
    let has_ops = first_op <= last_op && last_op < n_ops;
    (!has_ops).then(|| {
        format!("a live range from op {first_op} to op {last_op} of {n_ops}; it is from an op of the launch to the same or a later one")
    })
}

/// Observed accesses of a launch to the bytes of a live range.
#[derive(Clone, Debug, Default)]
struct LiveRangeAccesses {
    /// First and last op.
    ops: Option<(usize, usize)>,
    /// Whether the first op writes.
    is_written_first: bool,
    /// First byte.
    start: Option<i64>,
    /// Possible ends of the tensors that begin with the first byte.
    ends: BTreeSet<i64>,
}

struct LiveRangeFault {
    live_range: Option<usize>,
    message: String,
}

struct LiveRangeSweep<'a> {
    live_ranges: &'a [Life],
    order: &'a ExecuteOrder,
    /// Live ranges that contain the current op.
    active: BTreeSet<usize>,
    accesses: Vec<LiveRangeAccesses>,
}

impl LiveRangeSweep<'_> {
    fn run(&mut self, facts: &BundleFacts, is_pool: bool) -> Result<(), LiveRangeFault> {
        let spans: Vec<Range<usize>> =
            self.live_ranges.iter().map(|live_range| self.order.execute_range(live_range)).collect();
        let mut begins: Vec<usize> = (0..spans.len()).collect();
        begins.sort_by_key(|live_range| spans[*live_range].start);
        let mut begins = begins.into_iter().peekable();
        for op in 0..self.order.files.len() {
            self.active.retain(|live_range| spans[*live_range].end > op);
            while let Some(live_range) = begins.next_if(|live_range| spans[*live_range].start == op) {
                self.begin_range(live_range, &spans)?;
            }
            let tensors = facts.executes.get(op).and_then(Option::as_deref).map_or(&[][..], |facts| &facts.tensors);
            for tensor in tensors {
                self.record_access(op, tensor, is_pool)?;
            }
        }
        (0..self.live_ranges.len()).find_map(|live_range| self.find_misstatement(live_range)).map_or(Ok(()), Err)
    }

    /// Adds a live range to the active ones, whose bytes must be disjoint from it. Only an in-place result may overlap
    /// its operand, in one op.
    fn begin_range(&mut self, live_range: usize, spans: &[Range<usize>]) -> Result<(), LiveRangeFault> {
        let Life { offset, bytes, first_op, .. } = self.live_ranges[live_range];
        let is_met = |other: &usize| {
            let known = &self.live_ranges[*other];
            let is_handed_over =
                known.last_op == first_op && spans[*other].end == first_op + 1 && spans[live_range].start == first_op;
            known.offset < offset + bytes && offset < known.offset + known.bytes && !is_handed_over
        };
        if let Some(other) = self.active.iter().copied().find(is_met) {
            let known = &self.live_ranges[other];
            let message = format!(
                "has bytes {offset} to {} from op {first_op} on, but the live range from op {} to op {} has bytes {} to {}; live ranges \
                 that share bytes do not overlap in time",
                offset + bytes,
                known.first_op,
                known.last_op,
                known.offset,
                known.offset + known.bytes
            );
            return Err(LiveRangeFault { live_range: Some(live_range), message });
        }
        self.active.insert(live_range);
        Ok(())
    }

    fn record_access(&mut self, op: usize, tensor: &TensorFacts, is_pool: bool) -> Result<(), LiveRangeFault> {
        let (start, end, reach) = match &tensor.place {
            TensorAddress::Lx(part) if !is_pool => (part.start, part.end, part.whole),
            TensorAddress::Hbm { base: ValueBase::Pool(_), first, end, whole, .. } if is_pool => (*first, *end, *whole),
            TensorAddress::Lx(_) | TensorAddress::Hbm { .. } | TensorAddress::Unknown => return Ok(()),
        };
        let has_it = |live_range: &&usize| {
            let known = &self.live_ranges[**live_range];
            known.offset <= start
                && end <= known.offset + known.bytes
                && (known.first_op < op || known.first_op == op && tensor.is_result)
        };
        // An in-place result begins a live range.
        let found = self
            .active
            .iter()
            .filter(has_it)
            .max_by_key(|live_range| tensor.is_result && self.live_ranges[**live_range].first_op == op);
        let Some(&live_range) = found else {
            let (does, memory) =
                (if tensor.is_result { "writes" } else { "reads" }, if is_pool { "the pool" } else { "LX" });
            let message =
                format!("op {op} {does} bytes {start} to {end} of {memory}, which belong to no live range at that op");
            return Err(LiveRangeFault { live_range: None, message });
        };
        let touched = &mut self.accesses[live_range];
        let first = touched.ops.map_or(op, |(first, _)| first);
        touched.is_written_first |= first == op && tensor.is_result;
        touched.ops = Some((first, op));
        touched.start = Some(touched.start.map_or(start, |least| least.min(start)));
        if start == self.live_ranges[live_range].offset {
            touched.ends.insert(reach);
        }
        Ok(())
    }

    /// Checks that a live range states the bytes and the ops that the files show.
    fn find_misstatement(&self, live_range: usize) -> Option<LiveRangeFault> {
        let (Life { offset, bytes, first_op, last_op }, touched) =
            (self.live_ranges[live_range], &self.accesses[live_range]);
        let message = match touched.ops {
            None => "no op reads or writes its bytes".to_owned(),
            Some((first, _)) if !touched.is_written_first => format!("op {first} reads it before anything writes it"),
            Some(ops) if ops != (first_op, last_op) => {
                let (first, last) = ops;
                format!(
                    "is from op {first_op} to op {last_op}, but used from op {first} to op {last}; it ends with the last use"
                )
            }
            Some(_) if touched.start != Some(offset) || !touched.ends.contains(&(offset + bytes)) => {
                let (start, ends) = (touched.start.unwrap_or(offset), &touched.ends);
                format!(
                    "has bytes {offset} to {}, but its value begins at byte {start} and ends at one of {ends:?}",
                    offset + bytes
                )
            }
            Some(_) => return None,
        };
        Some(LiveRangeFault { live_range: Some(live_range), message })
    }
}
