//! Memory that tracks which bytes have been written, and by which op.

use crate::number::POISON_BYTE;
use machine::STICK_BYTES;
use std::io::{self, Read};

const STICK: usize = STICK_BYTES as usize;

/// Number of an op execution that wrote bytes; 0 means none. Messages name the op by this number.
pub(crate) type WriterId = u32;

/// A bit set, for instance with one bit per byte or per stick.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitSet(Vec<u64>);

impl BitSet {
    pub(crate) fn grow(&mut self, num_bits: usize) {
        self.0.resize(num_bits.div_ceil(64).max(self.0.len()), 0);
    }

    pub(crate) fn set(&mut self, start: usize, end: usize) {
        for (word, mask) in iter_word_masks(start, end) {
            self.0[word] |= mask;
        }
    }

    pub(crate) fn clear(&mut self, start: usize, end: usize) {
        for (word, mask) in iter_word_masks(start, end) {
            self.0[word] &= !mask;
        }
    }

    /// Returns whether a bit of a range is set; bits beyond the end are clear.
    pub(crate) fn has_any(&self, start: usize, end: usize) -> bool {
        iter_word_masks(start, end).any(|(word, mask)| self.0.get(word).is_some_and(|bits| bits & mask != 0))
    }

    /// Returns the positions of the set bits, in order.
    pub(crate) fn iter_set_bits(&self) -> impl Iterator<Item = usize> {
        let of = |(word, bits): (usize, &u64)| {
            let bits = *bits;
            (0..64).filter(move |bit| bits >> bit & 1 == 1).map(move |bit| word * 64 + bit)
        };
        self.0.iter().enumerate().filter(|(_, bits)| **bits != 0).flat_map(of)
    }

    /// Returns the number of bits.
    pub(crate) const fn num_bits(&self) -> usize {
        self.0.len() * 64
    }

    fn find_first_clear(&self, start: usize, end: usize) -> Option<usize> {
        iter_word_masks(start, end).find_map(|(word, mask)| {
            let clear = mask & !self.0.get(word).copied().unwrap_or(0);
            (clear != 0).then(|| word * 64 + clear.trailing_zeros() as usize)
        })
    }

    /// Sets the bits of a range, and returns how many of them were set before.
    fn set_and_count(&mut self, start: usize, end: usize) -> usize {
        let mut known = 0;
        for (word, mask) in iter_word_masks(start, end) {
            known += (self.0[word] & mask).count_ones() as usize;
            self.0[word] |= mask;
        }
        known
    }
}

/// Returns the words that contain bits of a range, each with the mask of these bits.
fn iter_word_masks(start: usize, end: usize) -> impl Iterator<Item = (usize, u64)> {
    (start / 64..end.div_ceil(64)).map(move |word| {
        let low = start.max(word * 64) - word * 64;
        let high = end.min(word * 64 + 64) - word * 64;
        (word, if high - low == 64 { u64::MAX } else { ((1 << (high - low)) - 1) << low })
    })
}

/// A buffer in HBM, or the LX of one core.
#[derive(Clone, Debug, Default)]
pub(crate) struct MemoryRegion {
    /// Description of the region, for messages.
    pub(crate) name: String,
    /// Usable bytes.
    pub(crate) capacity: usize,
    /// Bytes in use.
    length: usize,
    /// Whether `bytes` holds the stored values; otherwise only the writers of bytes are recorded.
    has_values: bool,
    /// Whether the region is read-only for ops.
    is_read_only: bool,
    bytes: Vec<u8>,
    written: BitSet,
    /// Sticks that were read since [`Self::reset_reads`].
    read: BitSet,
    /// Last writer of each stick.
    writers: Vec<WriterId>,
}

impl MemoryRegion {
    /// Returns poisoned memory. Host memory is allocated at the first use.
    pub(crate) fn new(name: String, capacity: usize) -> Self {
        Self { name, capacity, has_values: true, ..Self::default() }
    }

    /// Returns poisoned memory that records only which bytes are written, and not their values.
    pub(crate) fn new_without_values(name: String, capacity: usize) -> Self {
        Self { name, capacity, ..Self::default() }
    }

    /// Returns whether the bytes have values.
    pub(crate) const fn has_values(&self) -> bool {
        self.has_values
    }

    /// Returns whether the region is read-only for ops.
    pub(crate) const fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Makes the region read-only for ops.
    pub(crate) const fn protect(&mut self) {
        self.is_read_only = true;
    }

    /// Switches stored values on. All bytes are poison at first.
    pub(crate) fn enable_values(&mut self) {
        self.has_values = true;
        self.bytes.resize(self.length, POISON_BYTE);
    }

    /// Switches stored values off.
    pub(crate) fn disable_values(&mut self) {
        self.has_values = false;
        self.bytes = Vec::new();
    }

    /// Makes the first `end` bytes usable.
    pub(crate) fn ensure_length(&mut self, end: usize) {
        let end = end.min(self.capacity).next_multiple_of(STICK);
        if end > self.length {
            self.length = end;
            if self.has_values {
                self.bytes.resize(end, POISON_BYTE);
            }
            self.written.grow(end);
            self.read.grow(end / STICK);
            self.writers.resize(end / STICK, 0);
        }
    }

    /// Returns the number of bytes in use.
    pub(crate) const fn length(&self) -> usize {
        self.length
    }

    /// Returns all bytes in use; empty if they have no values.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Stores bytes.
    pub(crate) fn write(&mut self, start: usize, bytes: &[u8]) {
        self.bytes[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Stores all bytes of a reader, whose length must equal that of the bytes in use.
    pub(crate) fn load_from(&mut self, mut reader: impl Read) -> io::Result<()> {
        let capacity = self.capacity.min(self.bytes.len());
        reader.read_exact(&mut self.bytes[..capacity])?;
        match reader.read(&mut [0])? {
            0 => Ok(()),
            _ => Err(io::Error::other("is longer than it was")),
        }
    }

    /// Records the writer of a range.
    pub(crate) fn mark_written(&mut self, start: usize, end: usize, writer: WriterId) {
        self.written.set(start, end);
        self.writers[start / STICK..end.div_ceil(STICK)].fill(writer);
    }

    /// Returns the first unwritten byte of a range.
    pub(crate) fn find_unwritten(&self, start: usize, end: usize) -> Option<usize> {
        self.written.find_first_clear(start, end)
    }

    /// Returns the last writer of the stick that contains a byte.
    pub(crate) fn last_writer(&self, byte: usize) -> WriterId {
        self.writers.get(byte / STICK).copied().unwrap_or(0)
    }

    /// Returns the byte offset of the first stick of a range whose last writer is not `writer`.
    pub(crate) fn find_other_writer(&self, start: usize, end: usize, writer: WriterId) -> Option<usize> {
        let first = start / STICK;
        let sticks = &self.writers[first..end.div_ceil(STICK)];
        sticks.iter().position(|other| *other != writer).map(|stick| (first + stick) * STICK)
    }

    /// Counts a read of complete sticks; returns the number of bytes that were read before.
    pub(crate) fn count_read(&mut self, start: usize, end: usize) -> usize {
        self.read.set_and_count(start / STICK, end.div_ceil(STICK)) * STICK
    }

    /// Resets the set of read sticks.
    pub(crate) fn reset_reads(&mut self) {
        self.read.0.fill(0);
    }

    /// Poisons a range of complete sticks that is in use.
    pub(crate) fn poison(&mut self, start: usize, end: usize) {
        if self.has_values {
            self.bytes[start..end].fill(POISON_BYTE);
        }
        self.written.clear(start, end);
        self.writers[start / STICK..end / STICK].fill(0);
    }

    /// Poisons the sticks of a range that are in use and hold no value.
    pub(crate) fn drop_values(&mut self, start: usize, end: usize) {
        let (start, end) = (start - start % STICK, end.next_multiple_of(STICK).min(self.length));
        self.poison(start.min(end), end);
    }

    /// Poisons the complete sticks of an ended live range, as far as they are in use. The record of the writers is
    /// kept.
    pub(crate) fn end_live_range(&mut self, start: usize, end: usize) {
        let end = end.next_multiple_of(STICK).min(self.length);
        let start = start.min(end);
        if self.has_values {
            self.bytes[start..end].fill(POISON_BYTE);
        }
        self.written.clear(start, end);
    }

    /// Poisons everything.
    pub(crate) fn wipe(&mut self) {
        let Self { name, capacity, has_values, .. } = std::mem::take(self);
        *self = Self { name, capacity, has_values, ..Self::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_unwritten_bytes() {
        let mut region = MemoryRegion::new("buffer".to_owned(), 1000);
        region.ensure_length(1000);
        assert_eq!(region.bytes().len(), 1024);
        region.mark_written(100, 300, 1);
        assert_eq!(region.find_unwritten(100, 300), None);
        assert_eq!(region.find_unwritten(99, 300), Some(99));
        assert_eq!(region.find_unwritten(150, 400), Some(300));
        assert_eq!(region.find_unwritten(64, 128), Some(64));
    }

    #[test]
    fn rejects_file_that_does_not_fill_buffer() {
        let mut region = MemoryRegion::new("constant".to_owned(), 256);
        region.ensure_length(256);
        assert!(region.load_from([7; 255].as_slice()).is_err());
        assert!(region.load_from([7; 257].as_slice()).is_err());
        region.load_from([8; 256].as_slice()).unwrap();
        assert_eq!(region.bytes(), [8; 256]);
    }

    #[test]
    fn records_last_writer_of_stick() {
        let mut region = MemoryRegion::new("lx".to_owned(), 4096);
        region.ensure_length(1024);
        region.mark_written(0, 512, 1);
        region.mark_written(256, 384, 2);
        assert_eq!((region.last_writer(0), region.last_writer(300)), (1, 2));
        assert_eq!(region.find_other_writer(0, 512, 1), Some(256));
        assert_eq!(region.find_other_writer(384, 512, 1), None);
    }

    #[test]
    fn counts_repeated_reads() {
        let mut region = MemoryRegion::new("buffer".to_owned(), 4096);
        region.ensure_length(4096);
        assert_eq!(region.count_read(0, 256), 0);
        assert_eq!(region.count_read(128, 512), 128);
        region.reset_reads();
        assert_eq!(region.count_read(0, 256), 0);
    }

    #[test]
    fn poisons_wiped_memory() {
        let mut region = MemoryRegion::new("lx".to_owned(), 256);
        region.ensure_length(256);
        region.write(0, &[1; 256]);
        region.mark_written(0, 256, 1);
        region.wipe();
        region.ensure_length(256);
        assert!(region.bytes().iter().all(|byte| *byte == POISON_BYTE));
        assert_eq!(region.find_unwritten(0, 256), Some(0));
    }

    #[test]
    fn poisons_expired_bytes_and_keeps_their_writer() {
        let mut region = MemoryRegion::new("lx".to_owned(), 512);
        region.ensure_length(384);
        region.write(0, &[1; 384]);
        region.mark_written(0, 384, 7);
        region.end_live_range(128, 1 << 20);
        assert_eq!((region.bytes()[127], region.bytes()[128], region.bytes()[383]), (1, POISON_BYTE, POISON_BYTE));
        assert_eq!((region.find_unwritten(0, 384), region.last_writer(128)), (Some(128), 7));
    }

    #[test]
    fn records_written_bytes_without_values() {
        let mut region = MemoryRegion::new_without_values("buffer".to_owned(), 256);
        region.ensure_length(256);
        region.mark_written(0, 128, 1);
        assert_eq!((region.length(), region.bytes().len()), (256, 0));
        assert_eq!((region.find_unwritten(0, 256), region.last_writer(0)), (Some(128), 1));
        region.enable_values();
        assert_eq!((region.bytes(), region.find_unwritten(0, 128)), (&[POISON_BYTE; 256][..], None));
        region.disable_values();
        assert!(!region.has_values() && region.bytes().is_empty());
    }
}
