//! Errors in the files of a bundle, and in its use of the machine.

use std::path::PathBuf;

/// Location of a faulty access in an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessSite {
    /// The file of the op and its function.
    pub op: String,
    /// The core.
    pub core: i64,
    /// The tensor of the op, such as `Tensor0`.
    pub tensor: String,
}

impl std::fmt::Display for AccessSite {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: core {}, {}", self.op, self.core, self.tensor)
    }
}

/// Returns the prefix of a message about a member; empty if the error concerns the complete text.
fn at_member(member: &str) -> String {
    if matches!(member, "?" | ".") { String::new() } else { format!("at '{member}': ") }
}

/// Reason why a program could not be loaded or executed.
#[derive(Debug, thiserror::Error)]
pub enum SimError {
    /// A file that is missing or cannot be read.
    #[error("{path}: {reason}", reason = files::reason(source))]
    Io {
        /// The file.
        path: PathBuf,
        /// Error of the operating system.
        source: std::io::Error,
    },
    /// A JSON file that violates the format.
    #[error("{path}: {at}{message}", at = at_member(member))]
    Json {
        /// The file.
        path: PathBuf,
        /// JSON path of the faulty member.
        member: String,
        /// Description of the error.
        message: String,
    },
    /// A `bundle.mlir` that violates the format.
    #[error("{path}:{line}:{column}: {message}")]
    Text {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// The column, from 1.
        column: usize,
        /// Description of the error.
        message: String,
    },
    /// A program or an op whose members contradict each other or the format.
    #[error("{file}: {message}")]
    Malformed {
        /// The file.
        file: String,
        /// Description of the error, and the violated rule.
        message: String,
    },
    /// A valid construct that the simulator does not support.
    #[error("{op}: not simulated: {what}")]
    NotSimulated {
        /// The file of the op and its function.
        op: String,
        /// The construct.
        what: String,
    },
    /// An access outside of every buffer, or beyond the end of one.
    #[error("{site}: bytes {address:#x}..{end:#x} are out of bounds of {memory}")]
    OutOfBounds {
        /// Location of the access.
        site: AccessSite,
        /// The first byte of the access.
        address: i64,
        /// The byte after the last.
        end: i64,
        /// The accessed buffer, and its size.
        memory: String,
    },
    /// A start address inside of a stick.
    #[error("{site}: address {address:#x} is not aligned to a stick of 128 bytes")]
    Misaligned {
        /// Location of the access.
        site: AccessSite,
        /// The address.
        address: i64,
    },
    /// A read of bytes that no op has written.
    #[error("{site}: reads byte {address:#x} of {memory}, which no op has written")]
    Unwritten {
        /// Location of the access.
        site: AccessSite,
        /// The first such byte.
        address: i64,
        /// The buffer.
        memory: String,
    },
    /// A read of bytes whose live range has ended.
    #[error("{site}: reads byte {address:#x} of {memory}, which {writer} wrote, after its live range has ended")]
    Dead {
        /// Location of the access.
        site: AccessSite,
        /// The first such byte.
        address: i64,
        /// The buffer.
        memory: String,
        /// The op that wrote it.
        writer: String,
    },
    /// A write to an argument or a constant.
    #[error("{site}: writes byte {address:#x} of {memory}, which is an argument or a constant; these are read-only")]
    ReadOnly {
        /// Location of the access.
        site: AccessSite,
        /// The first byte of the result.
        address: i64,
        /// The buffer.
        memory: String,
    },
    /// Two cores that write the same bytes in one operation.
    #[error("{site}: writes byte {address:#x} of {memory}, which core {other} writes in the same operation")]
    WriteConflict {
        /// The first core.
        site: AccessSite,
        /// The second core.
        other: i64,
        /// The first such byte.
        address: i64,
        /// The buffer.
        memory: String,
    },
    /// A core that reads bytes that another core writes in the same operation.
    #[error("{site}: reads byte {address:#x} of {memory}, which core {other} writes in the same operation")]
    ReadConflict {
        /// The reader.
        site: AccessSite,
        /// The writer.
        other: i64,
        /// The first such byte.
        address: i64,
        /// The buffer.
        memory: String,
    },
    /// Two tensors of one operation that overlap, one of which is written; only an exact in-place result is legal.
    #[error("{site}: overlaps {other} at byte {address:#x} of {memory}")]
    Overlap {
        /// The written tensor.
        site: AccessSite,
        /// The tensor that it overlaps.
        other: String,
        /// The first such byte.
        address: i64,
        /// The buffer.
        memory: String,
    },
    /// An LX tensor that another operation has partly overwritten: two live buffers overlap.
    #[error("{site}: reads LX bytes of two writers: {first} wrote the first byte, {second} wrote byte {address:#x}")]
    TornBuffer {
        /// The reading access.
        site: AccessSite,
        /// The op that wrote the first byte.
        first: String,
        /// The op that wrote the byte at `address`.
        second: String,
        /// The first byte of the other writer.
        address: i64,
    },
    /// A symbol without a value in the execute statement.
    #[error("{op}: symbol {symbol} has no value")]
    NoValue {
        /// The file of the op and its function.
        op: String,
        /// The symbol.
        symbol: i64,
    },
    /// An index that points outside of the table.
    #[error("{site}: index {index} is out of bounds of {memory}")]
    IndexOutOfBounds {
        /// Location of the access; its tensor is the table.
        site: AccessSite,
        /// The index.
        index: i64,
        /// The buffer of the table.
        memory: String,
    },
    /// An input that is missing or has the wrong shape or type.
    #[error("'{name}': {message}")]
    Array {
        /// The tensor.
        name: String,
        /// Description of the error.
        message: String,
    },
    /// The limit on element operations is exceeded.
    #[error("{op}: more than {limit} element operations; raise the limit of steps")]
    TooManySteps {
        /// The op at which the limit was exceeded.
        op: String,
        /// The limit.
        limit: u64,
    },
    /// The limit on memory is exceeded.
    #[error("{what} needs {bytes} bytes, more than the limit of {limit}")]
    TooMuchMemory {
        /// Object that needs the memory.
        what: String,
        /// Bytes needed.
        bytes: i64,
        /// The limit.
        limit: i64,
    },
}

impl SimError {
    /// Returns the violated rule as a short fixed keyword for tables.
    #[must_use]
    pub const fn rule(&self) -> &'static str {
        match self {
            Self::Io { .. } => "missing-file",
            Self::Json { .. } | Self::Text { .. } | Self::Malformed { .. } => "malformed",
            Self::NotSimulated { .. } => "not-simulated",
            Self::OutOfBounds { .. } => "out-of-bounds",
            Self::Misaligned { .. } => "misaligned",
            Self::Unwritten { .. } => "unwritten",
            Self::Dead { .. } => "dead",
            Self::ReadOnly { .. } => "read-only",
            Self::WriteConflict { .. } => "write-conflict",
            Self::ReadConflict { .. } => "read-conflict",
            Self::Overlap { .. } => "overlap",
            Self::TornBuffer { .. } => "torn-buffer",
            Self::NoValue { .. } => "no-value",
            Self::IndexOutOfBounds { .. } => "index-out-of-bounds",
            Self::Array { .. } => "bad-array",
            Self::TooManySteps { .. } => "too-many-steps",
            Self::TooMuchMemory { .. } => "too-much-memory",
        }
    }
}
