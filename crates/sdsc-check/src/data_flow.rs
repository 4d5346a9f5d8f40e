//! Reaching definitions of the bytes that an execute reads: one walk over the executes of a bundle in order, loop
//! bodies twice.
//!
//! In LX the analysis is exact: each core reads its own bytes, and one op wrote all bytes of a tensor, with the same
//! slice on that core. All cores are analyzed together, or one by one if a shuffle leaves out cores or addresses differ
//! between cores. In HBM it is approximate: the first stick that each core reads, and the last stick of all cores, must
//! overlap bytes that earlier ops wrote.

use super::file_facts::{FileFacts, LxTensor, TensorAddress, TensorFacts};
use super::launch::{LaunchValues, ValueBase};
use machine::STICK_BYTES;
use sdsc_format::bundle_text::{Stmt, StmtKind};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// A problem in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FlowFault {
    pub(super) file: String,
    pub(super) path: String,
    pub(super) message: String,
}

/// Findings of a walk.
#[derive(Debug, Default)]
pub(super) struct FlowFindings {
    pub(super) lx_faults: Vec<FlowFault>,
    pub(super) hbm_faults: Vec<FlowFault>,
    pub(super) size_faults: Vec<FlowFault>,
    /// Kernel arguments that are read before the bundle writes them, with the first location.
    pub(super) read_first: BTreeMap<usize, FlowFault>,
    /// Kernel arguments that are written, with the first location.
    pub(super) written: BTreeMap<usize, FlowFault>,
}

/// Analyzes the data flow of a bundle. If the bundle is `alone`, LX may hold values that earlier bundles wrote.
pub(super) fn analyze_flow(
    body: &[Stmt<&str>],
    launch: &LaunchValues<'_>,
    executes: &[Option<Rc<FileFacts>>],
    alone: bool,
) -> FlowFindings {
    let lx = find_lanes(executes).into_iter().map(|lane| (lane, Vec::new())).collect();
    let (hbm, pool, flow, seen) = (BTreeMap::new(), Vec::new(), FlowFindings::default(), BTreeSet::new());
    let mut walk = FlowAnalyzer { launch, executes, alone, lx, hbm, pool, flow, reported: seen };
    walk.visit_statements(body, &mut StatementCursor::default());
    walk.flow
}

/// Position of the walk: executes and loops are numbered in the order of the text.
#[derive(Clone, Copy, Default)]
struct StatementCursor {
    execute: usize,
    loops: usize,
}

/// Returns the lanes in which LX is analyzed: one for all cores, or one for each core.
fn find_lanes(executes: &[Option<Rc<FileFacts>>]) -> Vec<Option<i64>> {
    let parts = || {
        executes.iter().flatten().flat_map(|facts| &facts.tensors).filter_map(|tensor| match &tensor.place {
            TensorAddress::Lx(part) => Some(part),
            TensorAddress::Hbm { .. } | TensorAddress::Unknown => None,
        })
    };
    if parts().all(|part| part.is_uniform) {
        return vec![None];
    }
    let cores: BTreeSet<i64> = parts().flat_map(|part| part.bases.keys().copied()).collect();
    cores.into_iter().map(Some).collect()
}

/// Bytes in LX that one op wrote.
#[derive(Clone, Debug)]
struct LxDefinition {
    /// Byte range that has not been overwritten.
    start: i64,
    end: i64,
    /// The complete byte range that the op wrote.
    whole: LxTensor,
    writer: String,
}

/// A tensor in the pool.
#[derive(Clone, Debug)]
struct PoolTensor {
    base: ValueBase,
    first: i64,
    end: i64,
    sticks: Vec<i64>,
    num_dims: usize,
}

impl PoolTensor {
    fn from_address(place: &TensorAddress) -> Option<Self> {
        match place {
            TensorAddress::Hbm {
                base: base @ ValueBase::Pool(_), first, reach: Some(end), sticks, num_dims, ..
            } => Some(Self { base: *base, first: *first, end: *end, sticks: sticks.clone(), num_dims: *num_dims }),
            TensorAddress::Hbm { .. } | TensorAddress::Lx(_) | TensorAddress::Unknown => None,
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        self.overlaps_range(other.base, (other.first, other.end))
    }

    fn overlaps_range(&self, base: ValueBase, (first, end): (i64, i64)) -> bool {
        self.base == base && self.first < end && first < self.end
    }

    /// Returns whether the tensor is a box in another tensor: with its gaps it covers all of it. Tensors written with
    /// other dimensions count as matching.
    fn is_box_of(&self, other: &Self) -> bool {
        self.num_dims != other.num_dims || self.sticks.iter().any(|sticks| other.sticks.contains(sticks))
    }
}

struct FlowAnalyzer<'a> {
    launch: &'a LaunchValues<'a>,
    executes: &'a [Option<Rc<FileFacts>>],
    alone: bool,
    /// Contents of LX in each lane: a core, or all cores.
    lx: Vec<(Option<i64>, Vec<LxDefinition>)>,
    hbm: BTreeMap<ValueBase, Vec<(i64, i64)>>,
    /// Tensors in the pool, each with the description of the last op that wrote it.
    pool: Vec<PoolTensor>,
    flow: FlowFindings,
    reported: BTreeSet<(String, String)>,
}

impl FlowAnalyzer<'_> {
    fn visit_statements(&mut self, body: &[Stmt<&str>], cursor: &mut StatementCursor) {
        for statement in body {
            match &statement.kind {
                StmtKind::Execute(execute) => {
                    self.visit_execute(cursor.execute, execute.file);
                    cursor.execute += 1;
                }
                StmtKind::For(counted) => {
                    let count = self.launch.loops.get(cursor.loops).copied().flatten();
                    cursor.loops += 1;
                    let first = *cursor;
                    self.visit_statements(&counted.body, cursor);
                    // The next iteration reads the values that the previous one left.
                    if count.is_none_or(|count| count > 1) {
                        *cursor = first;
                        self.visit_statements(&counted.body, cursor);
                    }
                }
                _ => {}
            }
        }
    }

    fn visit_execute(&mut self, number: usize, file: &str) {
        let executes = self.executes;
        let Some(Some(facts)) = executes.get(number) else { return };
        let (results, inputs): (Vec<&TensorFacts>, Vec<&TensorFacts>) =
            facts.tensors.iter().partition(|tensor| tensor.is_result);
        for tensor in &inputs {
            match &tensor.place {
                TensorAddress::Lx(part) => self.read_lx(file, tensor, part),
                TensorAddress::Hbm { base, end, begins, .. } => self.read_hbm(file, tensor, *base, (begins, *end)),
                TensorAddress::Unknown => {}
            }
            if let Some(read) =
                PoolTensor::from_address(&tensor.place).filter(|_| !self.alone && tensor.tables.is_none())
            {
                self.check_sizes(file, tensor, &read);
            }
        }
        for result in results {
            if let TensorAddress::Hbm { base, first, whole, reach, .. } = result.place {
                self.pool.retain(|known| !known.overlaps_range(base, (first, reach.unwrap_or(whole))));
                self.pool.extend(PoolTensor::from_address(&result.place));
            }
            match &result.place {
                TensorAddress::Lx(part) => {
                    self.check_overlap(file, result, part, &inputs);
                    self.write_lx(file, part);
                }
                TensorAddress::Hbm { base, first, whole, .. } => self.write_hbm(file, result, *base, (*first, *whole)),
                TensorAddress::Unknown => {}
            }
        }
    }

    fn new_fault(&mut self, file: &str, tensor: &TensorFacts, message: String) -> Option<FlowFault> {
        let is_new = self.reported.insert((file.to_owned(), tensor.path.clone()));
        is_new.then(|| FlowFault { file: file.to_owned(), path: tensor.path.clone(), message })
    }

    fn read_lx(&mut self, file: &str, tensor: &TensorFacts, read: &LxTensor) {
        let is_met = |lane: &Option<i64>, written: &[LxDefinition]| {
            let read = lane.map_or_else(|| Some(read.clone()), |core| read.restrict_to_core(core));
            read.is_some_and(|read| written.iter().any(|written| overlaps(written, &read)))
        };
        // If the bundle writes these bytes on one core, no earlier bundle left them on the others.
        let alone = self.alone && !self.lx.iter().any(|(lane, written)| is_met(lane, written));
        let message = self.lx.iter().find_map(|(lane, written)| match lane {
            None => find_read_fault(written, read, alone),
            Some(core) => find_read_fault(written, &read.restrict_to_core(*core)?, alone)
                .map(|message| format!("core {core} {message}")),
        });
        let fault = message.and_then(|message| self.new_fault(file, tensor, message));
        self.flow.lx_faults.extend(fault);
    }

    /// Checks that a result either replaces an operand in place, byte for byte, or overlaps none.
    fn check_overlap(&mut self, file: &str, result: &TensorFacts, part: &LxTensor, inputs: &[&TensorFacts]) {
        let overlaps = |read: &LxTensor, part: &LxTensor| {
            read.start < part.end && part.start < read.end && (read.start != part.start || read.order != part.order)
        };
        let met = |read: &LxTensor| {
            let mut cores = part
                .bases
                .keys()
                .filter_map(|core| Some((read.restrict_to_core(*core)?, part.restrict_to_core(*core)?)));
            if read.is_uniform && part.is_uniform {
                overlaps(read, part)
            } else {
                cores.any(|(read, part)| overlaps(&read, &part))
            }
        };
        let overlapped = inputs.iter().find_map(|input| match &input.place {
            TensorAddress::Lx(read) => met(read).then_some(read),
            TensorAddress::Hbm { .. } | TensorAddress::Unknown => None,
        });
        if let Some(read) = overlapped {
            let message = format!(
                "the result in bytes {} to {} of LX overlaps the operand in bytes {} to {}; a result replaces an operand element by \
                 element, or shares no byte with it",
                part.start, part.end, read.start, read.end
            );
            let fault = self.new_fault(file, result, message);
            self.flow.lx_faults.extend(fault);
        }
    }

    fn write_lx(&mut self, file: &str, part: &LxTensor) {
        for (lane, known) in &mut self.lx {
            match lane {
                None => record_lx_write(known, part, file),
                Some(core) => {
                    if let Some(part) = part.restrict_to_core(*core) {
                        record_lx_write(known, &part, file);
                    }
                }
            }
        }
    }

    fn read_hbm(&mut self, file: &str, tensor: &TensorFacts, base: ValueBase, (begins, end): (&[i64], i64)) {
        let first = begins.first().copied().unwrap_or(end);
        let written = self.hbm.get(&base).map_or(&[][..], Vec::as_slice);
        let is_written =
            |start: i64| written.iter().any(|known| known.0 < start.saturating_add(STICK_BYTES) && start < known.1);
        let all = begins.iter().all(|start| is_written(*start)) && is_written(end.saturating_sub(STICK_BYTES));
        match base {
            ValueBase::Argument(argument) if !all => {
                let message = format!(
                    "reads bytes {first} to {end} of kernel argument {argument}, which nothing has written before"
                );
                let fault = FlowFault { file: file.to_owned(), path: tensor.path.clone(), message };
                self.flow.read_first.entry(argument).or_insert(fault);
            }
            ValueBase::Pool(_) if !all => {
                let message = format!("reads bytes {first} to {end} of the pool, not all of which were written before");
                let fault = self.new_fault(file, tensor, message);
                self.flow.hbm_faults.extend(fault);
            }
            ValueBase::Argument(_) | ValueBase::Pool(_) | ValueBase::Parameter(_) => {}
        }
    }

    fn check_sizes(&mut self, file: &str, tensor: &TensorFacts, read: &PoolTensor) {
        let mut found = self.pool.iter().filter(|known| known.overlaps(read));
        let (Some(written), None) = (found.next(), found.next()) else { return };
        if !read.is_box_of(written) {
            let message = format!(
                "{} sticks in {} dimensions with the gaps, where {} sticks in {} were written",
                read.sticks[0], read.num_dims, written.sticks[0], written.num_dims
            );
            let fault = self.new_fault(file, tensor, message);
            self.flow.size_faults.extend(fault);
        }
    }

    fn write_hbm(&mut self, file: &str, tensor: &TensorFacts, base: ValueBase, (first, end): (i64, i64)) {
        insert_range(self.hbm.entry(base).or_default(), (first, end));
        if let ValueBase::Argument(argument) = base {
            let message = format!("writes bytes {first} to {end} of kernel argument {argument}");
            let fault = FlowFault { file: file.to_owned(), path: tensor.path.clone(), message };
            self.flow.written.entry(argument).or_insert(fault);
        }
    }
}

/// Inserts a byte range into a list of sorted disjoint ranges.
fn insert_range(known: &mut Vec<(i64, i64)>, (first, end): (i64, i64)) {
    let from = known.partition_point(|bytes| bytes.1 < first);
    let to = known.partition_point(|bytes| bytes.0 <= end);
    let merged =
        known[from..to].iter().fold((first, end), |merged, bytes| (merged.0.min(bytes.0), merged.1.max(bytes.1)));
    known.splice(from..to, [merged]);
}

/// Replaces the record of the bytes that a file writes.
fn record_lx_write(known: &mut Vec<LxDefinition>, part: &LxTensor, file: &str) {
    for written in std::mem::take(known) {
        if !overlaps(&written, part) {
            known.push(written);
            continue;
        }
        let (front, back) = (written.start..part.start.min(written.end), part.end.max(written.start)..written.end);
        for left in [front, back].into_iter().filter(|left| left.start < left.end) {
            known.push(LxDefinition { start: left.start, end: left.end, ..written.clone() });
        }
    }
    known.push(LxDefinition { start: part.start, end: part.end, whole: part.clone(), writer: file.to_owned() });
}

/// Returns the reason why a read of LX is wrong. If the bundle is `alone`, LX may hold values that earlier bundles
/// wrote.
fn find_read_fault(known: &[LxDefinition], read: &LxTensor, alone: bool) -> Option<String> {
    let found: Vec<&LxDefinition> = known.iter().filter(|written| overlaps(written, read)).collect();
    match found.as_slice() {
        [] if alone => None,
        [] => Some(format!("reads bytes {} to {} of LX, which nothing wrote", read.start, read.end)),
        // Not every file defines the extent.
        found if read.part.is_none() || found.iter().any(|written| written.whole.part.is_none()) => None,
        found => find_lx_fault(found, read),
    }
}

const fn overlaps(written: &LxDefinition, part: &LxTensor) -> bool {
    written.start < part.end && part.start < written.end
}

/// Returns the reason why the written data does not contain a core's slice.
fn find_lx_fault(found: &[&LxDefinition], read: &LxTensor) -> Option<String> {
    let covered: i64 = found.iter().map(|written| written.end.min(read.end) - written.start.max(read.start)).sum();
    if covered < read.end - read.start {
        let missing = read.end - read.start - covered;
        return Some(format!("reads bytes {} to {} of LX, {missing} of which nothing wrote", read.start, read.end));
    }
    match found {
        [one] if (one.whole.start, one.whole.end) == (read.start, read.end) => {
            let mismatch = read.part.as_ref()?.find_mismatch(one.whole.part.as_ref()?)?;
            Some(format!("reads what {} wrote: {mismatch}; a core reads its own slice", one.writer))
        }
        // With at most one writer, the byte ranges decide.
        [] | [_] => None,
        [first, ..] => {
            let is_part = |written: &&&LxDefinition| {
                (written.start, written.end) == (written.whole.start, written.whole.end)
                    && read.start <= written.start
                    && written.end <= read.end
            };
            let broken = found.iter().find(|written| !is_part(written))?;
            Some(format!(
                "reads bytes {} to {} of LX, of which {} wrote {} to {} and {} others; a live tensor is overwritten",
                read.start,
                read.end,
                broken.writer,
                broken.start,
                broken.end,
                if std::ptr::eq(*broken, *first) { &found[1].writer } else { &first.writer }
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_byte_ranges_disjoint() {
        let mut known = Vec::new();
        for bytes in [(0, 2), (8, 9), (4, 6), (2, 5), (20, 30)] {
            insert_range(&mut known, bytes);
        }
        assert_eq!(known, [(0, 6), (8, 9), (20, 30)]);
    }

    /// Accepts a read of three cores, one stick each, of which only the first and the last stick are written before.
    #[test]
    fn accepts_read_by_middle_core_after_write() {
        let at = |is_result: bool, begins: &[i64]| {
            let (first, end) = (begins[0], begins[begins.len() - 1] + STICK_BYTES);
            let begins = begins.to_vec();
            let place = TensorAddress::Hbm {
                base: ValueBase::Pool(0),
                first,
                end,
                begins,
                whole: end,
                sticks: vec![1],
                num_dims: 1,
                reach: Some(end),
            };
            let tensors = vec![TensorFacts {
                path: String::new(),
                is_result,
                fills_sticks: true,
                fills_range: true,
                is_moving: false,
                tables: None,
                place,
            }];
            FileFacts { tensors, ..FileFacts::default() }
        };
        let faults = |writers: [i64; 3]| {
            let launch = LaunchValues::default();
            let mut walk = FlowAnalyzer {
                launch: &launch,
                executes: &[],
                alone: false,
                lx: vec![],
                hbm: BTreeMap::new(),
                pool: vec![],
                flow: FlowFindings::default(),
                reported: BTreeSet::new(),
            };
            for start in writers {
                let writes = at(true, &[start]);
                walk.write_hbm("writer", &writes.tensors[0], ValueBase::Pool(0), (start, start + STICK_BYTES));
            }
            let reads = at(false, &[0, 256, 512]);
            walk.read_hbm("reader", &reads.tensors[0], ValueBase::Pool(0), (&[0, 256, 512], 512 + STICK_BYTES));
            walk.flow.hbm_faults.len()
        };
        assert_eq!((faults([0, 256, 512]), faults([0, 0, 512])), (0, 1));
    }
}
