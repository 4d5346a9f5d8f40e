//! Buffers as input of the planners: sizes, uses and constraints.

use machine::{STICK_BYTES, Target};
use std::ops::Range;

/// Kind of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UseKind {
    /// The operation reads the buffer.
    Read,
    /// The operation writes the buffer.
    Write,
}

/// Use of a buffer by an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Index of the operation in program order.
    pub time: usize,
    /// Whether the operation reads or writes the buffer.
    pub kind: UseKind,
}

/// Reason why a buffer is ineligible for LX: a sentence without a full stop, for reports.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct PlacementExclusion(pub String);

/// Candidate for residency in LX over its whole live range. Planners refer to buffers by their position in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Name in reports; planners ignore it.
    pub name: String,
    /// Bytes on one core: the device bytes divided by the number of cores of the writer, rounded down (torch-spyre,
    /// August 2026).
    pub bytes: i64,
    /// All uses, by ascending time.
    pub uses: Vec<Use>,
    /// In-place parents: buffers whose address this buffer may reuse, as positions in the list, in order of preference.
    pub in_place_parents: Vec<usize>,
    /// Whether the value starts in HBM (an input of the graph). Placing the buffer then costs one copy into LX.
    pub starts_in_hbm: bool,
    /// Whether HBM needs the value at the end (an output of the graph). Placing the buffer then costs one copy out of
    /// LX.
    pub ends_in_hbm: bool,
    /// Reason why the buffer is ineligible. It stays in the list, because other buffers may name it as a parent.
    pub barred: Option<PlacementExclusion>,
}

impl Buffer {
    /// Creates an eligible buffer without parents that neither starts nor ends in HBM.
    #[must_use]
    pub const fn new(name: String, bytes: i64, uses: Vec<Use>) -> Self {
        Self { name, bytes, uses, in_place_parents: Vec::new(), starts_in_hbm: false, ends_in_hbm: false, barred: None }
    }

    /// Returns the live range: the operations from the first use to the last, half-open. It is empty without uses.
    #[must_use]
    pub fn live_range(&self) -> Range<usize> {
        match (self.uses.first(), self.uses.last()) {
            (Some(first), Some(last)) => first.time..last.time + 1,
            (None, _) | (_, None) => 0..0,
        }
    }

    /// Returns whether both buffers are live during some operation.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        let (life, others) = (self.live_range(), other.live_range());
        life.start < others.end && others.start < life.end
    }

    /// Returns the bytes that one core copies if the buffer is in LX for its whole live range. It is copied in if its
    /// first operation reads a value from HBM. It is copied out if HBM needs the value at the end and does not have it.
    #[must_use]
    pub fn copied_bytes(&self) -> i64 {
        let first = self.uses.first().map(|first| first.time);
        let is_read = self.uses.iter().any(|one| Some(one.time) == first && one.kind == UseKind::Read);
        let is_written = self.uses.iter().any(|one| one.kind == UseKind::Write);
        let comes_in = self.starts_in_hbm && is_read;
        let goes_out = self.ends_in_hbm && (is_written || !comes_in);
        self.bytes * (i64::from(comes_in) + i64::from(goes_out))
    }

    /// Returns whether the first use is a read.
    #[must_use]
    pub fn is_read_first(&self) -> bool {
        self.uses.first().is_some_and(|first| first.kind == UseKind::Read)
    }
}

/// Returns whether `child` may reuse the address of `parent`, one of its in-place parents. The parent dies in the
/// operation in which the child is born, some operation reads it, and it is at least as large. A parent that is born in
/// the same operation must be listed first, which excludes cycles.
#[must_use]
pub fn can_reuse_in_place(buffers: &[Buffer], child: usize, parent: usize) -> bool {
    let (heir, elder) = (&buffers[child], &buffers[parent]);
    let is_read = elder.uses.iter().any(|one| one.kind == UseKind::Read);
    let is_before = (elder.live_range().start, parent) < (heir.live_range().start, child);
    is_read && is_before && elder.live_range().end == heir.live_range().start + 1 && heir.bytes <= elder.bytes
}

/// Memory into which buffers are placed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// Bytes of one core's LX that buffers may use.
    pub bytes: i64,
    /// Alignment of every address in bytes, at least 1.
    pub alignment: i64,
}

impl Capacity {
    /// Returns the LX of one core, with addresses in whole sticks.
    #[must_use]
    pub const fn from_target(target: &Target) -> Self {
        Self { bytes: target.lx_bytes, alignment: STICK_BYTES }
    }

    /// Returns the first aligned address from `address` up.
    #[must_use]
    pub const fn align(&self, address: i64) -> i64 {
        (address + self.alignment - 1) / self.alignment * self.alignment
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Builds a buffer that is written at the first time and read at the others.
    pub(crate) fn buffer(name: &str, bytes: i64, times: &[usize]) -> Buffer {
        let kind = |position| if position == 0 { UseKind::Write } else { UseKind::Read };
        let uses = times.iter().enumerate().map(|(position, &time)| Use { time, kind: kind(position) }).collect();
        Buffer::new(name.to_owned(), bytes, uses)
    }

    /// Returns `buffer`, allowed to reuse the addresses of `parents` in place.
    pub(crate) fn child(buffer: Buffer, parents: &[usize]) -> Buffer {
        Buffer { in_place_parents: parents.to_vec(), ..buffer }
    }

    #[test]
    fn computes_live_range_from_first_to_last_use() {
        let first = buffer("a", 1, &[2, 5]);
        assert_eq!(first.live_range(), 2..6);
        assert!(first.overlaps(&buffer("b", 1, &[5, 7])));
        assert!(!first.overlaps(&buffer("c", 1, &[6, 7])));
        assert_eq!(buffer("d", 1, &[]).live_range(), 0..0);
    }

    #[test]
    fn allows_in_place_reuse_in_last_operation_of_parent() {
        let succeeds = |child: Buffer, parent: Buffer| can_reuse_in_place(&[parent, child], 1, 0);
        let parent = || buffer("p", 40, &[0, 2]);
        assert!(succeeds(buffer("c", 40, &[2, 3]), parent()));
        assert!(!succeeds(buffer("c", 41, &[2, 3]), parent()), "larger than the parent");
        assert!(!succeeds(buffer("c", 40, &[3, 4]), parent()), "born later");
        assert!(!succeeds(buffer("c", 40, &[0, 3]), buffer("p", 40, &[0])), "a parent that is never read");
        let short = [buffer("b", 40, &[2, 2]), buffer("c", 40, &[2, 2])];
        assert_eq!(
            (can_reuse_in_place(&short, 1, 0), can_reuse_in_place(&short, 0, 1)),
            (true, false),
            "within an operation, in the order of the list"
        );
    }

    #[test]
    fn rounds_addresses_up_to_alignment() {
        let capacity = Capacity { bytes: 512, alignment: 128 };
        assert_eq!([0, 1, 128, 129].map(|address| capacity.align(address)), [0, 128, 128, 256]);
    }
}
