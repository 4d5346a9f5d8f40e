//! Causes of HBM traffic above the lower bound.

use super::compulsory_work::BufferKind;
use crate::{
    report::OpReport,
    traffic::{TrafficBuffer, ValueTraffic},
};
use std::fmt;

/// Reason why a value causes more HBM traffic than the lower bound counts for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExcessCause<'a> {
    /// The op that writes the value is a relayout copy: it computes nothing, and only moves elements between sticks.
    RelayoutCopy,
    /// The value is not in LX, for the reason that the planner recorded.
    NotInLx(&'a str),
    /// The value is not a program result, so the bound does not count it.
    NotProgramResult,
    /// The value is a splat constant, so the bound does not count it.
    SplatConstant,
    /// An op reads a program result back; the bound counts only the write.
    ReadBack,
    /// Several operands read the value, and some read the same elements. Holds the number of operands.
    ManyReaders(usize),
    /// Several ops write the program result. Holds the number of ops.
    ManyWriters(usize),
    /// A loop moves the same elements several times. Holds the number of times.
    Repeated(i64),
    /// Elements fill the transferred sticks only partly.
    PartialSticks,
    /// Ops move more elements than the bound counts: of several accesses that may overlap, the bound counts only the
    /// largest.
    Uncounted,
}

impl fmt::Display for ExcessCause<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RelayoutCopy => formatter.write_str("is a relayout copy"),
            Self::NotInLx(reason) => write!(formatter, "is not in LX: {reason}"),
            Self::NotProgramResult => formatter.write_str("is not a program result"),
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

/// Returns the causes of the excess traffic of a value. `kind` is the kind of its buffer, `None` for a location in a
/// pool; `writer` is the op that writes it.
pub(super) fn find_excess_causes<'a>(
    traffic: &ValueTraffic,
    kind: Option<BufferKind>,
    writer: Option<&'a OpReport>,
) -> Vec<ExcessCause<'a>> {
    let mut causes = Vec::new();
    match kind {
        None | Some(BufferKind::Temporary) => {
            causes.push(find_recorded_cause(writer).unwrap_or(ExcessCause::NotProgramResult))
        }
        Some(BufferKind::SplatConstant) => causes.push(ExcessCause::SplatConstant),
        // For a program result, the bound counts one write and no read.
        Some(BufferKind::Result) if traffic.read_bytes > 0 => {
            causes.push(find_recorded_cause(writer).unwrap_or(ExcessCause::ReadBack))
        }
        Some(BufferKind::Result | BufferKind::Argument | BufferKind::Constant) => {}
    }
    let is_input = matches!(kind, Some(BufferKind::Argument | BufferKind::Constant));
    if traffic.readers.len() > 1 && !(is_input && traffic.read_once_bytes <= traffic.needed_bytes) {
        causes.push(ExcessCause::ManyReaders(traffic.readers.len()));
    }
    if traffic.writers.len() > 1
        && kind == Some(BufferKind::Result)
        && traffic.written_bytes - traffic.unused_bytes > traffic.needed_bytes
    {
        causes.push(ExcessCause::ManyWriters(traffic.writers.len()));
    }
    // A location in a pool holds a different value in each iteration, so repeated accesses are not redundant.
    if traffic.repeats > 1 && matches!(traffic.buffer, TrafficBuffer::Named(_)) {
        causes.push(ExcessCause::Repeated(traffic.repeats));
    }
    // If the bound omits the value, all of its sticks are excess traffic, so partial sticks are no separate cause.
    if traffic.unused_bytes > 0
        && matches!(kind, Some(BufferKind::Argument | BufferKind::Constant | BufferKind::Result))
    {
        causes.push(ExcessCause::PartialSticks);
    }
    if causes.is_empty() {
        causes.push(ExcessCause::Uncounted);
    }
    causes
}

/// Returns the reason, recorded by the op that writes a value, why the value is in HBM. `None` if no op writes it, or
/// if no reason is recorded.
fn find_recorded_cause(writer: Option<&OpReport>) -> Option<ExcessCause<'_>> {
    match writer? {
        writer if writer.is_for_layout => Some(ExcessCause::RelayoutCopy),
        writer if !writer.reason.is_empty() => Some(ExcessCause::NotInLx(&writer.reason)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the traffic of a value with 1,024 compulsory bytes that one op reads once.
    fn new_read_once_traffic() -> ValueTraffic {
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

    fn find_argument_causes(traffic: &ValueTraffic) -> Vec<ExcessCause<'static>> {
        find_excess_causes(traffic, Some(BufferKind::Argument), None)
    }

    #[test]
    fn finds_causes_of_excess_argument_bytes() {
        let twice =
            ValueTraffic { readers: vec![0, 1], read_once_bytes: 2048, read_bytes: 2048, ..new_read_once_traffic() };
        assert_eq!(find_argument_causes(&twice), [ExcessCause::ManyReaders(2)]);
        // Two ops read disjoint halves of the elements. Each half fills its sticks only half.
        let halves =
            ValueTraffic { readers: vec![0, 1], unused_bytes: 1024, read_bytes: 2048, ..new_read_once_traffic() };
        assert_eq!(find_argument_causes(&halves), [ExcessCause::PartialSticks]);
        let in_a_loop = ValueTraffic { repeats: 4, read_bytes: 4096, ..new_read_once_traffic() };
        assert_eq!(find_argument_causes(&in_a_loop), [ExcessCause::Repeated(4)]);
        // An argument without compulsory bytes.
        let uncounted = ValueTraffic { needed_bytes: 0, ..new_read_once_traffic() };
        assert_eq!(find_argument_causes(&uncounted), [ExcessCause::Uncounted]);
    }

    #[test]
    fn reports_splat_cause_only_for_splat_constants() {
        let unread = ValueTraffic { needed_bytes: 0, read_bytes: 128, read_once_bytes: 128, ..new_read_once_traffic() };
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
            ..new_read_once_traffic()
        };
        let op = OpReport::default();
        let op_with_reason = OpReport { reason: "a reason".to_owned(), ..OpReport::default() };
        let causes = |part: &ValueTraffic, writer| find_excess_causes(part, Some(BufferKind::Result), Some(writer));
        let read_back = ValueTraffic { readers: vec![2], read_bytes: 1024, read_once_bytes: 1024, ..written.clone() };
        assert_eq!(causes(&read_back, &op), [ExcessCause::ReadBack]);
        assert_eq!(causes(&read_back, &op_with_reason), [ExcessCause::NotInLx("a reason")]);
        // If no op reads the result back, the recorded reason of its writer is no cause.
        let ragged = ValueTraffic { unused_bytes: 512, written_bytes: 1536, ..written.clone() };
        assert_eq!(causes(&ragged, &op_with_reason), [ExcessCause::PartialSticks]);
        let twice = ValueTraffic { writers: vec![1, 3], written_bytes: 2048, ..written };
        assert_eq!(causes(&twice, &op), [ExcessCause::ManyWriters(2)]);
    }

    #[test]
    fn uses_cause_of_writer_for_values_that_are_no_results() {
        let pool = ValueTraffic {
            buffer: TrafficBuffer::Pool { launch: 0, offset_bytes: 0 },
            needed_bytes: 0,
            written_bytes: 1024,
            ..new_read_once_traffic()
        };
        let for_layout = OpReport { is_for_layout: true, ..OpReport::default() };
        let op_with_reason = OpReport { reason: "a reason".to_owned(), ..OpReport::default() };
        assert_eq!(find_excess_causes(&pool, None, Some(&for_layout)), [ExcessCause::RelayoutCopy]);
        assert_eq!(find_excess_causes(&pool, None, Some(&op_with_reason)), [ExcessCause::NotInLx("a reason")]);
        assert_eq!(find_excess_causes(&pool, None, Some(&OpReport::default())), [ExcessCause::NotProgramResult]);
        let shared = ValueTraffic { buffer: TrafficBuffer::Named("temp0".to_owned()), readers: vec![1, 2], ..pool };
        assert_eq!(
            find_excess_causes(&shared, Some(BufferKind::Temporary), Some(&op_with_reason)),
            [ExcessCause::NotInLx("a reason"), ExcessCause::ManyReaders(2)]
        );
    }
}
