//! Causes of HBM traffic above the lower bound.

use super::needs::BufferKind;
use crate::{
    report::OpReport,
    traffic::{Buffer, Part},
};
use std::fmt;

/// Reason why a value moves more HBM bytes than the bound counts for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause<'a> {
    /// The op that writes it only moves elements between sticks.
    MadeForLayout,
    /// It is not in LX, for the reason that the planner recorded.
    NotInLx(&'a str),
    /// It is not part of a result, so the bound does not count it.
    NoResult,
    /// It is a splat constant, so the bound does not count it.
    OneNumber,
    /// An op reads a result after it is written.
    ReadBack,
    /// Number of operands that read its elements, some of them the same ones.
    ManyReaders(usize),
    /// Number of ops that write the result.
    ManyWriters(usize),
    /// Number of times that a loop moves the same elements.
    Repeated(i64),
    /// Elements fill only part of the transferred sticks.
    PartOfSticks,
    /// Ops move elements that the bound omits, since it counts only the largest of accesses that may overlap.
    Uncounted,
}

impl fmt::Display for Cause<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::MadeForLayout => formatter.write_str("is a relayout copy"),
            Self::NotInLx(reason) => write!(formatter, "is not in LX: {reason}"),
            Self::NoResult => formatter.write_str("is not a program result"),
            Self::OneNumber => formatter.write_str("is a splat constant"),
            Self::ReadBack => formatter.write_str("is a result that an op reads back"),
            Self::ManyReaders(readers) => write!(formatter, "{readers} operands read it"),
            Self::ManyWriters(writers) => write!(formatter, "{writers} ops write it"),
            Self::Repeated(times) => write!(formatter, "a loop reads or writes the same elements {times} times"),
            Self::PartOfSticks => formatter.write_str("uses only a part of each stick that is moved"),
            Self::Uncounted => formatter.write_str("ops move more of it than the bound counts"),
        }
    }
}

/// Returns the causes for which a value moves more than the bound counts. `kind` is the kind of its buffer, `None` for a location in a
/// pool; `writer` is the op that writes it.
pub(super) fn causes_of<'a>(part: &Part, kind: Option<BufferKind>, writer: Option<&'a OpReport>) -> Vec<Cause<'a>> {
    let mut causes = Vec::new();
    match kind {
        None | Some(BufferKind::Temporary) => causes.push(why_in_hbm(writer).unwrap_or(Cause::NoResult)),
        Some(BufferKind::ConstantNumber) => causes.push(Cause::OneNumber),
        // The bound counts the write of a result and no read.
        Some(BufferKind::Result) if part.read_bytes > 0 => causes.push(why_in_hbm(writer).unwrap_or(Cause::ReadBack)),
        Some(BufferKind::Result | BufferKind::Argument | BufferKind::Constant) => {}
    }
    let is_given = matches!(kind, Some(BufferKind::Argument | BufferKind::Constant));
    if part.readers.len() > 1 && !(is_given && part.read_once_bytes <= part.needed_bytes) {
        causes.push(Cause::ManyReaders(part.readers.len()));
    }
    if part.writers.len() > 1 && kind == Some(BufferKind::Result) && part.written_bytes - part.unused_bytes > part.needed_bytes {
        causes.push(Cause::ManyWriters(part.writers.len()));
    }
    // A location in the pool holds another value in each iteration.
    if part.repeats > 1 && matches!(part.buffer, Buffer::Named(_)) {
        causes.push(Cause::Repeated(part.repeats));
    }
    // For a value that the bound omits, all sticks exceed the bound.
    if part.unused_bytes > 0 && matches!(kind, Some(BufferKind::Argument | BufferKind::Constant | BufferKind::Result)) {
        causes.push(Cause::PartOfSticks);
    }
    if causes.is_empty() {
        causes.push(Cause::Uncounted);
    }
    causes
}

/// Returns the cause recorded by the op that writes a value in HBM; `None` if no op writes it, or none is recorded.
fn why_in_hbm(writer: Option<&OpReport>) -> Option<Cause<'_>> {
    match writer? {
        writer if writer.is_for_layout => Some(Cause::MadeForLayout),
        writer if !writer.reason.is_empty() => Some(Cause::NotInLx(&writer.reason)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A value of 1,024 needed bytes, which one op reads once.
    fn read_once() -> Part {
        Part {
            buffer: Buffer::Named("arg0".to_owned()),
            writer: None,
            life: 0..=0,
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

    fn given(part: &Part) -> Vec<Cause<'static>> {
        causes_of(part, Some(BufferKind::Argument), None)
    }

    #[test]
    fn an_argument_has_the_causes_that_explain_its_bytes() {
        let twice = Part { readers: vec![0, 1], read_once_bytes: 2048, read_bytes: 2048, ..read_once() };
        assert_eq!(given(&twice), [Cause::ManyReaders(2)]);
        // Two ops read different halves, in sticks that they fill to a half.
        let halves = Part { readers: vec![0, 1], unused_bytes: 1024, read_bytes: 2048, ..read_once() };
        assert_eq!(given(&halves), [Cause::PartOfSticks]);
        let in_a_loop = Part { repeats: 4, read_bytes: 4096, ..read_once() };
        assert_eq!(given(&in_a_loop), [Cause::Repeated(4)]);
        // The bound does not count it, and it is no constant.
        let uncounted = Part { needed_bytes: 0, ..read_once() };
        assert_eq!(given(&uncounted), [Cause::Uncounted]);
    }

    #[test]
    fn only_a_constant_of_one_number_is_called_so() {
        let unread = Part { needed_bytes: 0, read_bytes: 128, read_once_bytes: 128, ..read_once() };
        assert_eq!(causes_of(&unread, Some(BufferKind::ConstantNumber), None), [Cause::OneNumber]);
        assert_eq!(causes_of(&unread, Some(BufferKind::Constant), None), [Cause::Uncounted]);
    }

    #[test]
    fn a_result_is_above_the_bound_where_it_is_read_or_written_again() {
        let written = Part { readers: Vec::new(), writers: vec![1], written_bytes: 1024, read_bytes: 0, read_once_bytes: 0, ..read_once() };
        let op = OpReport::default();
        let noted = OpReport { reason: "a reason".to_owned(), ..OpReport::default() };
        let causes = |part: &Part, writer| causes_of(part, Some(BufferKind::Result), Some(writer));
        let read_back = Part { readers: vec![2], read_bytes: 1024, read_once_bytes: 1024, ..written.clone() };
        assert_eq!(causes(&read_back, &op), [Cause::ReadBack]);
        assert_eq!(causes(&read_back, &noted), [Cause::NotInLx("a reason")]);
        // Without a reader, the place of the writer's result is no cause.
        let ragged = Part { unused_bytes: 512, written_bytes: 1536, ..written.clone() };
        assert_eq!(causes(&ragged, &noted), [Cause::PartOfSticks]);
        let twice = Part { writers: vec![1, 3], written_bytes: 2048, ..written };
        assert_eq!(causes(&twice, &op), [Cause::ManyWriters(2)]);
    }

    #[test]
    fn what_is_no_result_has_the_cause_of_its_writer() {
        let pool = Part { buffer: Buffer::Pool { launch: 0, offset_bytes: 0 }, needed_bytes: 0, written_bytes: 1024, ..read_once() };
        let for_layout = OpReport { is_for_layout: true, ..OpReport::default() };
        let noted = OpReport { reason: "a reason".to_owned(), ..OpReport::default() };
        assert_eq!(causes_of(&pool, None, Some(&for_layout)), [Cause::MadeForLayout]);
        assert_eq!(causes_of(&pool, None, Some(&noted)), [Cause::NotInLx("a reason")]);
        assert_eq!(causes_of(&pool, None, Some(&OpReport::default())), [Cause::NoResult]);
        let shared = Part { buffer: Buffer::Named("temp0".to_owned()), readers: vec![1, 2], ..pool };
        assert_eq!(causes_of(&shared, Some(BufferKind::Temporary), Some(&noted)), [Cause::NotInLx("a reason"), Cause::ManyReaders(2)]);
    }
}
