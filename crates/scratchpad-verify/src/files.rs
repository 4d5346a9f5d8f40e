//! Planning instances and results, in their file formats.

use super::{Violation, field_violation};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Planning instance: the input of the planner.
pub(super) struct Instance {
    pub(super) capacity: i64,
    pub(super) alignment: i64,
    pub(super) buffers: Vec<BufferRow>,
    names: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
pub(super) struct BufferRow {
    pub(super) name: String,
    pub(super) size: i64,
    pub(super) uses: Vec<BufferAccess>,
    #[serde(default)]
    in_place_parents: Vec<String>,
    #[serde(default)]
    pub(super) graph_input: bool,
    #[serde(default)]
    pub(super) graph_output: bool,
    pub(super) barred: Option<String>,
    #[serde(skip)]
    pub(super) parents: Vec<usize>,
}

#[derive(Clone, Copy, Deserialize)]
pub(super) struct BufferAccess {
    pub(super) time: usize,
    pub(super) kind: AccessKind,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum AccessKind {
    Read,
    Write,
}

#[derive(Deserialize)]
struct InstanceFile {
    limit: i64,
    alignment: i64,
    buffers: Vec<BufferRow>,
}

/// Result file: the output of the planner.
#[derive(Deserialize)]
pub(super) struct ResultFile {
    capacity: i64,
    alignment: i64,
    pub(super) addresses: BTreeMap<String, Option<i64>>,
    pub(super) reasons: BTreeMap<String, String>,
    pub(super) stays: Vec<ResidencyInterval>,
    pub(super) hbm_bytes_left: i64,
    pub(super) lower_bound: i64,
    pub(super) optimal: bool,
    among: PlanSet,
    pub(super) peak: Option<MinimumLx>,
    pub(super) certificate: BoundCertificate,
}

/// Set of plans that the bound covers.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
enum PlanSet {
    #[serde(rename = "whole lives")]
    WholeLives,
    #[serde(rename = "split stays")]
    SplitStays,
}

/// Result of the search for the smallest LX.
#[derive(Deserialize)]
pub(super) struct MinimumLx {
    pub(super) bytes: i64,
    pub(super) lower_bound: i64,
}

#[derive(Deserialize)]
pub(super) struct ResidencyInterval {
    pub(super) buffer: String,
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) address: i64,
}

#[derive(Deserialize)]
pub(super) struct BoundCertificate {
    /// Whether every residency interval is a whole live range, and the bound covers such plans only.
    pub(super) whole_lives: bool,
    /// Scale: prices are HBM bytes times this factor.
    pub(super) scale: i64,
    /// Operation and price of a unit, by ascending operation; no price is 0.
    pub(super) prices: Vec<(usize, i64)>,
    pub(super) cuts: Vec<CertificateCut>,
    /// Operation, and per buffer the HBM bytes that it pays, by ascending operation: the multipliers per value. If
    /// there are any, they prove the bound.
    #[serde(default)]
    pub(super) rents: Vec<(usize, Vec<(String, i64)>)>,
}

#[derive(Deserialize)]
pub(super) struct CertificateCut {
    pub(super) stays: Vec<CutInterval>,
    /// Names of child and parent.
    pub(super) mergers: Vec<(String, String)>,
    /// Buffers that must be outside LX.
    #[serde(default)]
    pub(super) absent: Vec<String>,
}

/// Residency interval of a cut. It covers at least the operations from the first to the last.
#[derive(Deserialize)]
pub(super) struct CutInterval {
    pub(super) buffer: String,
    pub(super) start: usize,
    pub(super) end: usize,
}

/// Maximum of a number in a file. Larger numbers could make sums overflow.
const MAX_BYTES: i64 = 1 << 44;
const MAX_TIME: usize = 1 << 44;
const MAX_PRICES: i128 = 1 << 60;
const MAX_SCALE: i64 = 1 << 20;

impl ResultFile {
    pub(super) fn parse(text: &str) -> Result<Self, Violation> {
        let result: Self = serde_json::from_str(text).map_err(|error| Violation::Result(error.to_string()))?;
        let BoundCertificate { scale, prices, rents: multipliers, .. } = &result.certificate;
        let reject = |what: &str| Err(Violation::Result(what.to_owned()));
        if !(1..=MAX_SCALE).contains(scale) {
            return reject("expected a scale of the prices from 1 to 2^20");
        }
        let is_priced = prices.iter().all(|(_, price)| *price >= 0)
            && prices.iter().map(|(_, price)| i128::from(*price)).sum::<i128>() <= MAX_PRICES;
        if !prices.is_sorted_by(|one, other| one.0 < other.0) || !is_priced {
            return reject("expected prices that are sorted by operation, not negative, and at most 2^60 in all");
        }
        if !multipliers.is_sorted_by(|one, other| one.0 < other.0)
            || multipliers.iter().flat_map(|one| &one.1).any(|(_, bytes)| !(0..=MAX_BYTES).contains(bytes))
        {
            return reject("expected rents from 0 to 2^44, sorted by operation");
        }
        if result.certificate.whole_lives != (result.among == PlanSet::WholeLives) {
            return reject("expected the same kind of plans in 'whole_lives' and 'among', found different kinds");
        }
        Ok(result)
    }
}

impl Instance {
    /// Parses an instance. A CSV file does not contain the size of LX: it is taken from the result, and addresses are
    /// aligned to single bytes. `given` overrides capacity and alignment of the file.
    pub(super) fn parse(text: &str, result: &ResultFile, given: (Option<i64>, Option<i64>)) -> Result<Self, Violation> {
        let reject = |what: String| Violation::Instance(what);
        let file = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| reject(error.to_string()))?
        } else {
            InstanceFile { limit: result.capacity, alignment: 1, buffers: parse_csv_rows(text)? }
        };
        let InstanceFile { limit, alignment, mut buffers } = file;
        let (capacity, alignment) = (given.0.unwrap_or(limit), given.1.unwrap_or(alignment));
        if result.capacity != capacity {
            return Err(field_violation("capacity", result.capacity, capacity));
        }
        if result.alignment != alignment {
            return Err(field_violation("alignment", result.alignment, alignment));
        }
        if !(1..=MAX_BYTES).contains(&alignment) || !(0..=MAX_BYTES).contains(&capacity) {
            return Err(reject(format!(
                "expected a capacity from 0 to 2^44 bytes and an alignment from 1 to 2^44, found {capacity} and {alignment}"
            )));
        }
        let names: BTreeMap<String, usize> =
            buffers.iter().enumerate().map(|(at, row)| (row.name.clone(), at)).collect();
        if names.len() != buffers.len() {
            return Err(reject("two buffers have the same name".to_owned()));
        }
        let mut all = 0;
        for row in &mut buffers {
            let is_late = row.uses.iter().any(|one| one.time > MAX_TIME);
            if !(0..=MAX_BYTES).contains(&row.size) || is_late || !row.uses.is_sorted_by_key(|one| one.time) {
                return Err(reject(format!(
                    "the size or the uses of '{}' are out of range, or the uses are not sorted",
                    row.name
                )));
            }
            all += (i128::from(row.size) + i128::from(alignment)) * (row.uses.len() as i128 + 2);
            if all > 1 << 60 {
                return Err(reject(format!("the sum of the sizes up to '{}' is too large", row.name)));
            }
            let find =
                |name: &String| names.get(name).copied().ok_or_else(|| reject(format!("there is no buffer '{name}'")));
            row.parents = row.in_place_parents.iter().map(find).collect::<Result<_, _>>()?;
        }
        Ok(Self { capacity, alignment, buffers, names })
    }

    pub(super) fn find_buffer(&self, name: &str) -> Option<usize> {
        self.names.get(name).copied()
    }

    /// Returns whether a buffer may reuse the address of another one. The other one is a listed parent, was read, is no
    /// smaller, and dies when the buffer is born. If both are born in one operation, the parent is listed first.
    pub(super) fn may_take_over(&self, child: usize, parent: usize) -> bool {
        let (heir, elder) = (&self.buffers[child], &self.buffers[parent]);
        let ends = |row: &BufferRow| row.uses.first().zip(row.uses.last()).map(|(first, last)| (first.time, last.time));
        let (Some((birth, _)), Some((start, death))) = (ends(heir), ends(elder)) else { return false };
        let is_read = elder.uses.iter().any(|one| one.kind == AccessKind::Read);
        heir.parents.contains(&parent)
            && birth == death
            && (start < death || parent < child)
            && heir.size <= elder.size
            && is_read
    }
}

impl BufferRow {
    /// Returns whether its first operation needs a value that is in HBM.
    pub(super) fn needs_initial_load(&self) -> bool {
        let first = self.uses.first().map(|first| first.time);
        self.graph_input && self.uses.iter().any(|one| Some(one.time) == first && one.kind == AccessKind::Read)
    }
}

/// Parses the buffers of a MiniMalloc file. A buffer is written in the first operation of its live range and read in
/// the last. Its weight is the number of times its size that it saves.
fn parse_csv_rows(text: &str) -> Result<Vec<BufferRow>, Violation> {
    let mut lines = text.lines().filter(|line| !line.trim().is_empty());
    let wrong = |line: &str| Violation::Instance(format!("expected a buffer, found '{line}'"));
    let has_weights = match lines.next() {
        Some("id,lower,upper,size") => false,
        Some("id,lower,upper,size,weight") => true,
        found => return Err(wrong(found.unwrap_or(""))),
    };
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        let (name, lower, upper, size, weight) = match fields[..] {
            [name, lower, upper, size] if !has_weights => (name, lower, upper, size, 2),
            [name, lower, upper, size, weight] if has_weights => (name, lower, upper, size, weight.parse().ok()?),
            _ => return None,
        };
        let (lower, upper): (usize, usize) = (lower.parse().ok()?, upper.parse().ok()?);
        let last = upper.checked_sub(1).filter(|last| lower <= *last && (1..=1000).contains(&weight))?;
        let graph_input = weight == 1;
        let mut uses =
            vec![BufferAccess { time: lower, kind: if graph_input { AccessKind::Read } else { AccessKind::Write } }];
        uses.extend((1..weight.max(2)).map(|_| BufferAccess { time: last, kind: AccessKind::Read }));
        let (name, size) = (name.to_owned(), size.parse().ok()?);
        Some(BufferRow {
            name,
            size,
            uses,
            in_place_parents: vec![],
            graph_input,
            graph_output: false,
            barred: None,
            parents: vec![],
        })
    };
    lines.map(|line| row(line).ok_or_else(|| wrong(line))).collect()
}
