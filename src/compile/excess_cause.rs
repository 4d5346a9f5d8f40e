//! Causes of HBM traffic above the lower bound.

use super::compulsory_work::BufferKind;
use crate::{
    report::OpReport,
    traffic::{TrafficBuffer, ValueTraffic},
};
use std::fmt;

/// Reason why a value moves more HBM bytes than the bound counts for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExcessCause<'a> {
    /// The op that writes it only moves elements between sticks.
    RelayoutCopy,
    /// It is not in LX, for the reason that the planner recorded.
    NotInLx(&'a str),
    /// It is not part of a result, so the bound does not count it.
    NoResult,
    /// It is a splat constant, so the bound does not count it.
    SplatConstant,
    /// An op reads a result after it is written.
    ReadBack,
    /// Number of operands that read its elements, some of them the same ones.
    ManyReaders(usize),
    /// Number of ops that write the result.
    ManyWriters(usize),
    /// Number of times that a loop moves the same elements.
    Repeated(i64),
    /// Elements fill only part of the transferred sticks.
    PartialSticks,
    /// Ops move elements that the bound omits, since it counts only the largest of accesses that may overlap.
    Uncounted,
}

impl fmt::Display for ExcessCause<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RelayoutCopy => formatter.write_str("is a relayout copy"),
            Self::NotInLx(reason) => write!(formatter, "is not in LX: {reason}"),
            Self::NoResult => formatter.write_str("is not a program result"),
            Self::SplatConstant => formatter.write_str("is a splat constant"),
            Self::ReadBack => formatter.write_str("is a result that an op reads back"),
            Self::ManyReaders(readers) => write!(formatter, "{readers} operands read it"),
            Self::ManyWriters(writers) => write!(formatter, "{writers} ops write it"),
            Self::Repeated(times) => write!(formatter, "a loop reads or writes the same elements {times} times"),
            Self::PartialSticks => formatter.write_str("uses only a part of each stick that is moved"),
            Self::Uncounted => formatter.write_str("ops move more of it than the bound counts"),
        }
    }
}

/// Returns the causes for which a value moves more than the bound counts. `kind` is the kind of its buffer, `None` for
/// a location in a pool; `writer` is the op that writes it.
pub(super) fn find_excess_causes<'a>(
    part: &ValueTraffic,
    kind: Option<BufferKind>,
    writer: Option<&'a OpReport>,
) -> Vec<ExcessCause<'a>> {
    let mut causes = Vec::new();
    match kind {
        None | Some(BufferKind::Temporary) => causes.push(recorded_cause(writer).unwrap_or(ExcessCause::NoResult)),
        Some(BufferKind::SplatConstant) => causes.push(ExcessCause::SplatConstant),
        // The bound counts the write of a result and no read.
        Some(BufferKind::Result) if part.read_bytes > 0 => {
            causes.push(recorded_cause(writer).unwrap_or(ExcessCause::ReadBack))
        }
        Some(BufferKind::Result | BufferKind::Argument | BufferKind::Constant) => {}
    }
    let is_given = matches!(kind, Some(BufferKind::Argument | BufferKind::Constant));
    if part.readers.len() > 1 && !(is_given && part.read_once_bytes <= part.needed_bytes) {
        causes.push(ExcessCause::ManyReaders(part.readers.len()));
    }
    if part.writers.len() > 1
        && kind == Some(BufferKind::Result)
        && part.written_bytes - part.unused_bytes > part.needed_bytes
    {
        causes.push(ExcessCause::ManyWriters(part.writers.len()));
    }
    // A location in the pool holds another value in each iteration.
    if part.repeats > 1 && matches!(part.buffer, TrafficBuffer::Named(_)) {
        causes.push(ExcessCause::Repeated(part.repeats));
    }
    // For a value that the bound omits, all sticks exceed the bound.
    if part.unused_bytes > 0 && matches!(kind, Some(BufferKind::Argument | BufferKind::Constant | BufferKind::Result)) {
        causes.push(ExcessCause::PartialSticks);
    }
    if causes.is_empty() {
        causes.push(ExcessCause::Uncounted);
    }
    causes
}

/// Returns the cause recorded by the op that writes a value in HBM; `None` if no op writes it, or none is recorded.
fn recorded_cause(writer: Option<&OpReport>) -> Option<ExcessCause<'_>> {
    match writer? {
        writer if writer.is_for_layout => Some(ExcessCause::RelayoutCopy),
        writer if !writer.reason.is_empty() => Some(ExcessCause::NotInLx(&writer.reason)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a value with 1,024 compulsory bytes that one op reads once.
    fn part_read_once() -> ValueTraffic {
        ValueTraffic {
            buffer: TrafficBuffer::Named("arg0".to_owned()),
            writer: None,
            live_range: 0..=0,
            readers: vec![0],
            writers: Vec::new(),
            repeats: 1,
            unused_bytes: 0,
            read_once_bytes: 1024,
            read_bytes: 1024,
            written_bytes: 0,
            needed_bytes: 1024,
        }
    }

    fn argument_causes(part: &ValueTraffic) -> Vec<ExcessCause<'static>> {
        find_excess_causes(part, Some(BufferKind::Argument), None)
    }

    #[test]
    fn finds_causes_of_excess_argument_bytes() {
        let twice = ValueTraffic { readers: vec![0, 1], read_once_bytes: 2048, read_bytes: 2048, ..part_read_once() };
        assert_eq!(argument_causes(&twice), [ExcessCause::ManyReaders(2)]);
        // Two ops read different halves, in sticks that they half fill.
        let halves = ValueTraffic { readers: vec![0, 1], unused_bytes: 1024, read_bytes: 2048, ..part_read_once() };
        assert_eq!(argument_causes(&halves), [ExcessCause::PartialSticks]);
        let in_a_loop = ValueTraffic { repeats: 4, read_bytes: 4096, ..part_read_once() };
        assert_eq!(argument_causes(&in_a_loop), [ExcessCause::Repeated(4)]);
        // Neither a compulsory nor a constant value.
        let uncounted = ValueTraffic { needed_bytes: 0, ..part_read_once() };
        assert_eq!(argument_causes(&uncounted), [ExcessCause::Uncounted]);
    }

    #[test]
    fn reports_splat_cause_only_for_splat_constants() {
        let unread = ValueTraffic { needed_bytes: 0, read_bytes: 128, read_once_bytes: 128, ..part_read_once() };
        assert_eq!(find_excess_causes(&unread, Some(BufferKind::SplatConstant), None), [ExcessCause::SplatConstant]);
        assert_eq!(find_excess_causes(&unread, Some(BufferKind::Constant), None), [ExcessCause::Uncounted]);
    }

    #[test]
    fn finds_causes_of_results_that_are_read_back_or_rewritten() {
        let written = ValueTraffic {
            readers: Vec::new(),
            writers: vec![1],
            written_bytes: 1024,
            read_bytes: 0,
            read_once_bytes: 0,
            ..part_read_once()
        };
        let op = OpReport::default();
        let noted = OpReport { reason: "a reason".to_owned(), ..OpReport::default() };
        let causes = |part: &ValueTraffic, writer| find_excess_causes(part, Some(BufferKind::Result), Some(writer));
        let read_back = ValueTraffic { readers: vec![2], read_bytes: 1024, read_once_bytes: 1024, ..written.clone() };
        assert_eq!(causes(&read_back, &op), [ExcessCause::ReadBack]);
        assert_eq!(causes(&read_back, &noted), [ExcessCause::NotInLx("a reason")]);
        // Without a reader, the placement of the writer's result is no cause.
        let ragged = ValueTraffic { unused_bytes: 512, written_bytes: 1536, ..written.clone() };
        assert_eq!(causes(&ragged, &noted), [ExcessCause::PartialSticks]);
        let twice = ValueTraffic { writers: vec![1, 3], written_bytes: 2048, ..written };
        assert_eq!(causes(&twice, &op), [ExcessCause::ManyWriters(2)]);
    }

    #[test]
    fn uses_cause_of_writer_for_values_that_are_no_results() {
        let pool = ValueTraffic {
            buffer: TrafficBuffer::Pool { launch: 0, offset_bytes: 0 },
            needed_bytes: 0,
            written_bytes: 1024,
            ..part_read_once()
        };
        let for_layout = OpReport { is_for_layout: true, ..OpReport::default() };
        let noted = OpReport { reason: "a reason".to_owned(), ..OpReport::default() };
        assert_eq!(find_excess_causes(&pool, None, Some(&for_layout)), [ExcessCause::RelayoutCopy]);
        assert_eq!(find_excess_causes(&pool, None, Some(&noted)), [ExcessCause::NotInLx("a reason")]);
        assert_eq!(find_excess_causes(&pool, None, Some(&OpReport::default())), [ExcessCause::NoResult]);
        let shared = ValueTraffic { buffer: TrafficBuffer::Named("temp0".to_owned()), readers: vec![1, 2], ..pool };
        assert_eq!(
            find_excess_causes(&shared, Some(BufferKind::Temporary), Some(&noted)),
            [ExcessCause::NotInLx("a reason"), ExcessCause::ManyReaders(2)]
        );
    }
}
