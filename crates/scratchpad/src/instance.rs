//! Planning instances as files: our JSON and MiniMalloc's CSV.

use super::{Buffer, Capacity, PlacementExclusion, Use, UseKind};
use serde::Deserialize;

/// Planning instance: buffers, and the memory into which they are placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    /// Name in the file; empty for CSV.
    pub name: String,
    /// Memory into which the buffers are placed.
    pub capacity: Capacity,
    /// The buffers in the order of the file.
    pub buffers: Vec<Buffer>,
}

/// Error in an instance file, or a value out of range.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstanceError {
    /// The text is not JSON, or violates the schema.
    #[error("not an instance")]
    Json(#[from] serde_json::Error),
    /// The capacity or the alignment is out of range.
    #[error("expected a capacity from 0 to 2^44 bytes and an alignment from 1 to 2^44, found {bytes} and {alignment}")]
    Capacity {
        /// Capacity, in bytes.
        bytes: i64,
        /// Alignment, in bytes.
        alignment: i64,
    },
    /// Two buffers have the same name.
    #[error("two buffers are named '{0}'")]
    Duplicate(String),
    /// A parent is not another buffer of the list.
    #[error("'{buffer}' names '{parent}' as its parent, which is not another buffer")]
    UnknownParent {
        /// The buffer.
        buffer: String,
        /// Name that matches no other buffer.
        parent: String,
    },
    /// A size is negative or exceeds the maximum.
    #[error("'{buffer}': expected a size from 0 up to 2^44 bytes, found {bytes}")]
    Size {
        /// The buffer.
        buffer: String,
        /// Size of the buffer, in bytes.
        bytes: i64,
    },
    /// Uses are out of order, or the live range does not reach from the first use to the last.
    #[error("the uses of '{buffer}' are not in order, or its start and end are not those of its uses")]
    UseOrder {
        /// The buffer.
        buffer: String,
    },
    /// The index of an operation is out of range.
    #[error("'{buffer}': expected uses by operations up to 2^44, found operation {time}")]
    TimeOutOfRange {
        /// The buffer.
        buffer: String,
        /// Index of the operation.
        time: usize,
    },
    /// The sum of the bytes of all uses exceeds the maximum.
    #[error("'{buffer}': expected uses that move up to 2^44 bytes in all, found {bytes} bytes with this buffer")]
    TotalTooLarge {
        /// Buffer at which the sum exceeds the maximum.
        buffer: String,
        /// Bytes of all uses so far, plus two copies of each buffer. Sizes are rounded up to the alignment.
        bytes: i128,
    },
    /// A CSV line is not `id,lower,upper,size` with lower < upper, followed by a number from 1 if the first line has
    /// `weight`.
    #[error("line {line}: expected 'id,lower,upper,size{}' with lower below upper, found '{text}'{}", if *.has_weights { ",weight" } else { "" }, explain_empty_live_range(text))]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// Text of the line.
        text: String,
        /// Whether there is a column of weights.
        has_weights: bool,
    },
}

/// Explains an empty or reversed live range of a CSV row. Returns an empty string if there is none, or if a number
/// cannot be parsed.
fn explain_empty_live_range(text: &str) -> String {
    let numbers: Vec<i64> = text.split(',').skip(1).take(2).filter_map(|number| number.trim().parse().ok()).collect();
    match *numbers.as_slice() {
        [lower, upper] if lower >= upper => {
            format!(
                ": lower {lower} is not below upper {upper}; live ranges are half-open, so give an upper of at least {}",
                lower.saturating_add(1)
            )
        }
        _ => String::new(),
    }
}

/// Maximum of all counted quantities: bytes of all uses together, bytes of LX, operations. Sums of such quantities
/// times the price scale of the exact planner fit in 64 bits.
const MAX_QUANTITY: i64 = 1 << 44;

/// Instance in the JSON format. Additional keys, which describe its origin, are ignored.
#[derive(Deserialize)]
struct InstanceFile {
    name: String,
    limit: i64,
    alignment: i64,
    buffers: Vec<BufferRow>,
}

#[derive(Deserialize)]
struct BufferRow {
    name: String,
    size: i64,
    uses: Vec<FileUse>,
    start: usize,
    end: usize,
    in_place_parents: Vec<String>,
    graph_input: bool,
    #[serde(default)]
    graph_output: bool,
    barred: Option<String>,
}

#[derive(Deserialize)]
struct FileUse {
    time: usize,
    kind: FileUseKind,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FileUseKind {
    Read,
    Write,
}

impl Instance {
    /// Reads our JSON, with sizes in bytes and half-open live ranges:
    ///
    /// ```text
    /// {name, limit, alignment, buffers: [{name, size, uses: [{time, kind}], start, end, in_place_parents, graph_input,
    ///                                     graph_output?, barred?}]}
    /// ```
    ///
    /// # Errors
    /// Returns the first error in the text.
    pub fn from_json(text: &str) -> Result<Self, InstanceError> {
        let file: InstanceFile = serde_json::from_str(text)?;
        let buffers = file.buffers.iter().map(|row| row.to_buffer(&file.buffers)).collect::<Result<_, _>>()?;
        Self { name: file.name, capacity: Capacity { bytes: file.limit, alignment: file.alignment }, buffers }
            .validate()
    }

    /// Reads MiniMalloc's CSV with the header `id,lower,upper,size`; live ranges are half-open. The format has no uses:
    /// each buffer is written at its birth and read in its last operation. A fifth column `weight` is the number of
    /// times its size that a buffer saves by being in LX. Weight w from 2 up gives w - 1 reads in the last operation.
    /// With weight 1 the buffer starts in HBM, and its first use is a read too.
    ///
    /// # Errors
    /// Returns the first line that is not a buffer.
    pub fn from_csv(text: &str, capacity: Capacity) -> Result<Self, InstanceError> {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let has_weights = match lines.next() {
            Some(("id,lower,upper,size", _)) => false,
            Some(("id,lower,upper,size,weight", _)) => true,
            found => {
                let (text, line) = found.unwrap_or(("", 1));
                return Err(InstanceError::Line { line, text: text.to_owned(), has_weights: false });
            }
        };
        let parsed = |(text, line)| {
            parse_csv_buffer(text, has_weights).ok_or_else(|| InstanceError::Line {
                line,
                text: text.to_owned(),
                has_weights,
            })
        };
        let buffers = lines.map(parsed).collect::<Result<_, _>>()?;
        Self { name: String::new(), capacity, buffers }.validate()
    }

    /// Returns the instance with the same buffers and another memory.
    ///
    /// # Errors
    /// Returns an error if the capacity or the alignment is out of range, or the quantities get too large.
    pub fn with_capacity(self, capacity: Capacity) -> Result<Self, InstanceError> {
        Self { capacity, ..self }.validate()
    }

    fn validate(self) -> Result<Self, InstanceError> {
        let Capacity { bytes, alignment } = self.capacity;
        if !(0..=MAX_QUANTITY).contains(&bytes) || !(1..=MAX_QUANTITY).contains(&alignment) {
            return Err(InstanceError::Capacity { bytes, alignment });
        }
        let mut names = std::collections::BTreeSet::new();
        let mut all = 0_i128;
        for buffer in &self.buffers {
            let name = || buffer.name.clone();
            if !names.insert(&buffer.name) {
                return Err(InstanceError::Duplicate(name()));
            }
            if !(0..=MAX_QUANTITY).contains(&buffer.bytes) {
                return Err(InstanceError::Size { buffer: name(), bytes: buffer.bytes });
            }
            check_times(&buffer.name, &buffer.uses)?;
            all += i128::from(self.capacity.align(buffer.bytes)) * (buffer.uses.len() as i128 + 2);
            if all > i128::from(MAX_QUANTITY) {
                return Err(InstanceError::TotalTooLarge { buffer: name(), bytes: all });
            }
        }
        Ok(self)
    }
}

fn check_times(buffer: &str, uses: &[Use]) -> Result<(), InstanceError> {
    let late = uses.iter().find(|one| i64::try_from(one.time).map_or(true, |time| time > MAX_QUANTITY));
    late.map_or(Ok(()), |late| Err(InstanceError::TimeOutOfRange { buffer: buffer.to_owned(), time: late.time }))
}

impl BufferRow {
    fn to_buffer(&self, rows: &[BufferRow]) -> Result<Buffer, InstanceError> {
        let position = |parent: &String| {
            let other = rows.iter().position(|row| row.name == *parent && *parent != self.name);
            other.ok_or_else(|| InstanceError::UnknownParent { buffer: self.name.clone(), parent: parent.clone() })
        };
        let buffer = Buffer {
            name: self.name.clone(),
            bytes: self.size,
            uses: self.uses.iter().map(|one| Use { time: one.time, kind: one.kind.into() }).collect(),
            in_place_parents: self.in_place_parents.iter().map(position).collect::<Result<_, _>>()?,
            starts_in_hbm: self.graph_input,
            ends_in_hbm: self.graph_output,
            barred: self.barred.clone().map(PlacementExclusion),
        };
        check_times(&buffer.name, &buffer.uses)?;
        let is_ordered = buffer.uses.is_sorted_by_key(|one| one.time);
        if is_ordered && buffer.live_range() == (self.start..self.end) {
            Ok(buffer)
        } else {
            Err(InstanceError::UseOrder { buffer: self.name.clone() })
        }
    }
}

impl From<FileUseKind> for UseKind {
    fn from(kind: FileUseKind) -> Self {
        match kind {
            FileUseKind::Read => Self::Read,
            FileUseKind::Write => Self::Write,
        }
    }
}

fn parse_csv_buffer(line: &str, has_weights: bool) -> Option<Buffer> {
    let mut fields = line.split(',').map(str::trim);
    let name = fields.next()?.to_owned();
    let (lower, upper): (usize, usize) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let bytes = fields.next()?.parse().ok()?;
    let weight: usize = if has_weights { fields.next()?.parse().ok()? } else { 2 };
    if fields.next().is_some() || lower >= upper || !(1..=MAX_WEIGHT).contains(&weight) {
        return None;
    }
    let first = Use { time: lower, kind: if weight == 1 { UseKind::Read } else { UseKind::Write } };
    let mut uses = vec![first];
    uses.resize(weight.max(2), Use { time: upper - 1, kind: UseKind::Read });
    Some(Buffer {
        name,
        bytes,
        uses,
        in_place_parents: Vec::new(),
        starts_in_hbm: weight == 1,
        ends_in_hbm: false,
        barred: None,
    })
}

/// Maximum weight. A weight of w creates w uses.
const MAX_WEIGHT: usize = 1000;

#[cfg(test)]
mod tests {
    use super::*;

    fn parse_json(buffers: &str) -> Result<Instance, InstanceError> {
        Instance::from_json(&format!(
            r#"{{"name": "n", "seed": 7, "limit": 512, "alignment": 128, "buffers": [{buffers}]}}"#
        ))
    }

    const PARENT: &str = r#"{"name": "p", "size": 20, "uses": [{"time": 0, "kind": "write"}, {"time": 4, "kind": "read"}],
        "start": 0, "end": 5, "in_place_parents": [], "graph_input": false, "barred": "op not allowed"}"#;

    fn child_json(end: usize, parent: &str) -> String {
        format!(
            r#"{PARENT}, {{"name": "c", "size": 15, "uses": [{{"time": 4, "kind": "read"}}], "start": 4, "end": {end},
            "in_place_parents": ["{parent}"], "graph_input": true}}"#
        )
    }

    #[test]
    fn resolves_parent_names_to_positions() {
        let instance = parse_json(&child_json(5, "p")).unwrap();
        assert_eq!(instance.capacity, Capacity { bytes: 512, alignment: 128 });
        assert_eq!(instance.buffers[0].barred, Some(PlacementExclusion("op not allowed".to_owned())));
        let child = &instance.buffers[1];
        assert_eq!((child.live_range(), child.is_read_first(), child.starts_in_hbm), (4..5, true, true));
        assert_eq!(child.in_place_parents, [0]);
    }

    #[test]
    fn rejects_invalid_json() {
        assert!(matches!(parse_json(&child_json(6, "p")), Err(InstanceError::UseOrder { .. })));
        assert!(matches!(parse_json(&child_json(5, "q")), Err(InstanceError::UnknownParent { .. })));
        assert!(matches!(parse_json(&child_json(5, "c")), Err(InstanceError::UnknownParent { .. })));
        assert!(matches!(parse_json(&format!("{PARENT}, {PARENT}")), Err(InstanceError::Duplicate(_))));
        assert!(matches!(parse_json(&PARENT.replace("20", "-20")), Err(InstanceError::Size { bytes: -20, .. })));
        assert!(matches!(parse_json("{}"), Err(InstanceError::Json(_))));
        assert!(matches!(
            parse_json(&PARENT.replace("\"size\": 20", "\"size\": 4611686018427387904")),
            Err(InstanceError::Size { .. })
        ));
        assert!(matches!(
            parse_json(&PARENT.replace("\"size\": 20", "\"size\": 8796093022208")),
            Err(InstanceError::TotalTooLarge { .. })
        ));
        assert!(matches!(
            parse_json(&PARENT.replace("\"time\": 4", "\"time\": 18446744073709551615")),
            Err(InstanceError::TimeOutOfRange { .. })
        ));
        let memory = r#"{"name": "n", "limit": 512, "alignment": 0, "buffers": []}"#;
        assert!(matches!(Instance::from_json(memory), Err(InstanceError::Capacity { alignment: 0, .. })));
    }

    #[test]
    fn reads_csv_live_range_as_half_open() {
        let capacity = Capacity { bytes: 100, alignment: 1 };
        let instance = Instance::from_csv("id,lower,upper,size\nb1,3,6,40\nb2,6,7,50\n", capacity).unwrap();
        let live_ranges: Vec<_> =
            instance.buffers.iter().map(|buffer| (buffer.name.as_str(), buffer.live_range(), buffer.bytes)).collect();
        assert_eq!(live_ranges, [("b1", 3..6, 40), ("b2", 6..7, 50)]);
        assert!(!instance.buffers[0].overlaps(&instance.buffers[1]));
    }

    #[test]
    fn rejects_quantities_out_of_range() {
        let read = |text: &str, bytes: i64, alignment: i64| {
            Instance::from_csv(&format!("id,lower,upper,size,weight\n{text}\n"), Capacity { bytes, alignment })
                .map(|_| ())
        };
        let most = 1_i64 << 44;
        assert!(read(&format!("a,0,{most},{},2", most / 4), most, 1).is_ok());
        for size in [1_i64 << 43, (1 << 44) + 1, 1 << 50, 1 << 62] {
            assert!(read(&format!("a,0,3,{size},2"), 100, 1).is_err(), "{size}");
        }
        assert!(
            matches!(read("a,0,3,1099511627776,1000", 100, 1), Err(InstanceError::TotalTooLarge { .. })),
            "weights count"
        );
        assert!(
            matches!(
                read(&format!("a,0,3,1,2\nb,0,3,{},2", most / 4), 100, 1),
                Err(InstanceError::TotalTooLarge { .. })
            ),
            "all together"
        );
        assert!(
            matches!(read("a,0,3,1,2", 100, most), Err(InstanceError::TotalTooLarge { .. })),
            "the alignment counts"
        );
        assert!(matches!(read("a,0,3,1,2", most + 1, 1), Err(InstanceError::Capacity { .. })));
        assert!(matches!(read("a,0,3,1,2", 100, i64::MAX), Err(InstanceError::Capacity { .. })));
        assert!(matches!(read("a,0,18446744073709551615,1,2", 100, 1), Err(InstanceError::TimeOutOfRange { .. })));
    }

    #[test]
    fn counts_weight_as_saved_copies() {
        let text = "id,lower,upper,size,weight\na,3,6,40,1\nb,3,6,40,2\nc,3,6,40,5\n";
        let Instance { buffers, .. } = Instance::from_csv(text, Capacity { bytes: 100, alignment: 1 }).unwrap();
        let saved = |buffer: &Buffer| buffer.bytes * i64::try_from(buffer.uses.len()).unwrap() - buffer.copied_bytes();
        assert!(buffers.iter().all(|buffer| buffer.live_range() == (3..6)));
        assert_eq!(buffers.iter().map(saved).collect::<Vec<_>>(), [40, 80, 200]);
    }

    #[test]
    fn rejects_invalid_csv_with_line_number() {
        let rejected = |text: &str| match Instance::from_csv(text, Capacity { bytes: 1, alignment: 1 }) {
            Err(InstanceError::Line { line, .. }) => line,
            other => panic!("{other:?}"),
        };
        assert_eq!(rejected(""), 1);
        assert_eq!(rejected("lower,upper\n"), 1);
        assert_eq!(rejected("id,lower,upper,size\n0,1,2,3\n\n1,2,2,3\n"), 4);
        assert_eq!(rejected("id,lower,upper,size\n0,1,2,3,4\n"), 2);
        assert_eq!(rejected("id,lower,upper,size\n0,1,2,x\n"), 2);
        assert_eq!(rejected("id,lower,upper,size\n0,1,2,9223372036854775808\n"), 2);
        assert_eq!(rejected("id,lower,upper,size,weight\n0,1,2,3\n"), 2);
        assert_eq!(rejected("id,lower,upper,size,weight\n0,1,2,3,0\n"), 2);
    }
}
