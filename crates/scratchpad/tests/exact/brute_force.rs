//! Brute force for the minimum HBM bytes: all decisions for each buffer, and all addresses. It implements the
//! documented rules and shares no code with the planner.

use scratchpad::{Buffer, Capacity, UseKind};

/// Residency interval: first and last operation.
#[derive(Clone, Copy)]
struct BruteInterval {
    first: usize,
    last: usize,
}

/// Decisions for one buffer.
struct BufferDecision {
    bytes: i64,
    intervals: Vec<BruteInterval>,
}

struct PlacedBuffer {
    buffer: usize,
    interval: BruteInterval,
    address: i64,
}

impl PlacedBuffer {
    fn overlaps(&self, other: &Self) -> bool {
        self.interval.first <= other.interval.last && other.interval.first <= self.interval.last
    }
}

/// Uses of a buffer in one operation.
struct StepUses {
    time: usize,
    num_uses: i64,
    writes: bool,
    replaces: bool,
}

/// Returns the minimum HBM bytes of plans with unsplit live ranges (`whole`), or of all plans.
pub(crate) fn find_min_hbm_bytes(buffers: &[Buffer], capacity: &Capacity, whole: bool) -> i64 {
    let ways: Vec<Vec<BufferDecision>> =
        buffers.iter().map(|buffer| enumerate_decisions(buffer, capacity, whole)).collect();
    let mut after = vec![0; buffers.len() + 1];
    for index in (0..buffers.len()).rev() {
        after[index] = after[index + 1] + ways[index].iter().map(|way| way.bytes).min().unwrap_or(0);
    }
    let mut search = BruteForceSearch {
        buffers,
        capacity,
        decisions: &ways,
        remaining_bytes: after,
        placed: Vec::new(),
        best: i64::MAX,
    };
    search.search_buffer(0, 0);
    search.best
}

/// Returns the smallest LX, in whole units, in which all eligible buffers have addresses for their whole live ranges.
pub(crate) fn find_min_peak(buffers: &[Buffer], alignment: i64) -> i64 {
    let mut capacity = Capacity { bytes: 0, alignment };
    while !can_place_all(buffers, &capacity) {
        capacity.bytes += alignment;
    }
    capacity.bytes
}

/// Returns whether all eligible buffers have addresses for their whole live ranges.
pub(crate) fn can_place_all(buffers: &[Buffer], capacity: &Capacity) -> bool {
    let way = |buffer: &Buffer| {
        let life = buffer.live_range();
        let whole = BruteInterval { first: life.start, last: life.end.max(1) - 1 };
        let intervals = if buffer.barred.is_some() || life.is_empty() { Vec::new() } else { vec![whole] };
        vec![BufferDecision { bytes: 0, intervals }]
    };
    let ways: Vec<Vec<BufferDecision>> = buffers.iter().map(way).collect();
    let after = vec![0; buffers.len() + 1];
    let mut search = BruteForceSearch {
        buffers,
        capacity,
        decisions: &ways,
        remaining_bytes: after,
        placed: Vec::new(),
        best: i64::MAX,
    };
    search.search_buffer(0, 0);
    search.best == 0
}

/// Returns whether residency intervals (buffer, operations, address) are legal together.
pub(crate) fn is_legal(
    buffers: &[Buffer],
    capacity: &Capacity,
    intervals: impl Iterator<Item = (usize, std::ops::Range<usize>, i64)>,
) -> bool {
    let put = |(buffer, life, address): (usize, std::ops::Range<usize>, i64)| {
        let interval = BruteInterval { first: life.start, last: life.end - 1 };
        PlacedBuffer { buffer, interval, address }
    };
    let puts: Vec<PlacedBuffer> = intervals.map(put).collect();
    let is_inside = |put: &PlacedBuffer| {
        let buffer = &buffers[put.buffer];
        let has_use = |time: usize| buffer.uses.iter().any(|one| one.time == time);
        let is_in_lx =
            put.address >= 0 && put.address % capacity.alignment == 0 && put.address + buffer.bytes <= capacity.bytes;
        is_in_lx
            && buffer.barred.is_none()
            && has_use(put.interval.first)
            && has_use(put.interval.last)
            && put.interval.first <= put.interval.last
    };
    let all_inside = puts.iter().all(is_inside);
    let search =
        BruteForceSearch { buffers, capacity, decisions: &[], remaining_bytes: Vec::new(), placed: puts, best: 0 };
    let fits = |one: &PlacedBuffer, other: &PlacedBuffer| {
        (one.buffer != other.buffer || !one.overlaps(other)) && search.are_compatible(other, one)
    };
    let agree = |(at, one): (usize, &PlacedBuffer)| search.placed[..at].iter().all(|other| fits(one, other));
    all_inside && search.placed.iter().enumerate().all(agree)
}

fn group_uses(buffer: &Buffer) -> Vec<StepUses> {
    let mut groups: Vec<StepUses> = Vec::new();
    for one in &buffer.uses {
        let writes = one.kind == UseKind::Write;
        match groups.last_mut() {
            Some(group) if group.time == one.time => {
                group.num_uses += 1;
                group.writes |= writes;
                group.replaces &= writes;
            }
            _ => groups.push(StepUses { time: one.time, num_uses: 1, writes, replaces: writes }),
        }
    }
    groups
}

fn enumerate_decisions(buffer: &Buffer, capacity: &Capacity, whole: bool) -> Vec<BufferDecision> {
    let groups = group_uses(buffer);
    let mut ways = vec![BufferDecision { bytes: buffer.bytes * buffer.uses.len() as i64, intervals: Vec::new() }];
    if buffer.barred.is_some() || buffer.bytes > capacity.bytes || groups.is_empty() {
        return ways;
    }
    if whole {
        let comes_in = buffer.starts_in_hbm && !groups[0].replaces;
        let is_read_only = groups.iter().all(|group| !group.writes);
        let goes_out = buffer.ends_in_hbm && !(comes_in && is_read_only);
        let bytes = buffer.bytes * (i64::from(comes_in) + i64::from(goes_out));
        ways.push(BufferDecision {
            bytes,
            intervals: vec![BruteInterval { first: groups[0].time, last: groups[groups.len() - 1].time }],
        });
    } else {
        // Bits 2i: LX serves use i. Bits 2i + 1: the buffer remains in LX until the next use.
        for bits in 1_u32..1 << (2 * groups.len() - 1) {
            let in_lx = |at: usize| bits & (1 << (2 * at)) != 0;
            let keeps = |at: usize| bits & (2 << (2 * at)) != 0;
            if (0..groups.len() - 1).any(|at| keeps(at) && !(in_lx(at) && in_lx(at + 1))) {
                continue;
            }
            ways.push(build_decision(buffer, &groups, &in_lx, &keeps));
        }
    }
    // A decision with no more space and no more bytes dominates, unless it passes an address on within one operation.
    if groups.len() == 1 && !buffer.in_place_parents.is_empty() {
        return ways;
    }
    ways.sort_by_key(|way| {
        (
            way.bytes,
            way.intervals.iter().map(|interval| interval.last - interval.first + 1).sum::<usize>(),
            way.intervals.len(),
        )
    });
    let mut best: Vec<BufferDecision> = Vec::new();
    for way in ways {
        if !best.iter().any(|other| other.needs_no_more_space(&way)) {
            best.push(way);
        }
    }
    best
}

impl BufferDecision {
    fn needs_no_more_space(&self, other: &Self) -> bool {
        self.intervals.iter().all(|interval| {
            other.intervals.iter().any(|around| around.first <= interval.first && interval.last <= around.last)
        })
    }
}

fn build_decision(
    buffer: &Buffer,
    groups: &[StepUses],
    in_lx: &dyn Fn(usize) -> bool,
    keeps: &dyn Fn(usize) -> bool,
) -> BufferDecision {
    let (mut copies, mut uses) = (0, 0);
    let mut intervals: Vec<BruteInterval> = Vec::new();
    let mut hbm_has_it = buffer.starts_in_hbm;
    for (at, group) in groups.iter().enumerate() {
        let stayed = at > 0 && keeps(at - 1);
        let was_in_lx = at > 0 && in_lx(at - 1);
        let is_lost = was_in_lx && !stayed && !hbm_has_it;
        if is_lost && !group.replaces {
            copies += 1;
            hbm_has_it = true;
        }
        if in_lx(at) {
            if at == 0 {
                copies += i64::from(buffer.starts_in_hbm && !group.replaces);
            } else if !stayed && !group.replaces {
                copies += 1;
            }
            let arrives = at > 0 || buffer.starts_in_hbm;
            hbm_has_it = hbm_has_it && arrives && !group.writes;
            if stayed {
                intervals.last_mut().unwrap().last = group.time;
            } else {
                intervals.push(BruteInterval { first: group.time, last: group.time });
            }
        } else {
            uses += group.num_uses;
            hbm_has_it = true;
        }
    }
    copies += i64::from(buffer.ends_in_hbm && !hbm_has_it);
    BufferDecision { bytes: (copies + uses) * buffer.bytes, intervals }
}

struct BruteForceSearch<'b> {
    buffers: &'b [Buffer],
    capacity: &'b Capacity,
    decisions: &'b [Vec<BufferDecision>],
    remaining_bytes: Vec<i64>,
    placed: Vec<PlacedBuffer>,
    best: i64,
}

impl BruteForceSearch<'_> {
    fn search_buffer(&mut self, index: usize, bytes: i64) {
        if bytes + self.remaining_bytes[index] >= self.best {
            return;
        }
        let ways = self.decisions;
        let Some(ways) = ways.get(index) else {
            self.best = bytes;
            return;
        };
        for way in ways {
            self.search_intervals(index, &way.intervals, bytes + way.bytes);
        }
    }

    fn search_intervals(&mut self, index: usize, intervals: &[BruteInterval], bytes: i64) {
        if bytes + self.remaining_bytes[index + 1] >= self.best {
            return;
        }
        let Some((interval, rest)) = intervals.split_first() else { return self.search_buffer(index + 1, bytes) };
        let mut address = 0;
        while address + self.buffers[index].bytes <= self.capacity.bytes {
            let put = PlacedBuffer { buffer: index, interval: *interval, address };
            if self.placed.iter().all(|other| self.are_compatible(other, &put)) {
                self.placed.push(put);
                self.search_intervals(index, rest, bytes);
                self.placed.pop();
            }
            address += self.capacity.alignment;
        }
    }

    fn are_compatible(&self, one: &PlacedBuffer, other: &PlacedBuffer) -> bool {
        let (first, second) = (&self.buffers[one.buffer], &self.buffers[other.buffer]);
        let share = one.address < other.address + second.bytes && other.address < one.address + first.bytes;
        !one.overlaps(other) || !share || self.inherits_address(one, other) || self.inherits_address(other, one)
    }

    /// Returns whether `heir` has its address from `ancestor`, directly or through children that live for one
    /// operation.
    fn inherits_address(&self, ancestor: &PlacedBuffer, heir: &PlacedBuffer) -> bool {
        let short = |put: &&PlacedBuffer| {
            put.interval.first == put.interval.last
                && put.interval.first == heir.interval.first
                && put.buffer != ancestor.buffer
        };
        let between = |put: &PlacedBuffer| self.takes_over_address(ancestor, put) && self.inherits_address(put, heir);
        self.takes_over_address(ancestor, heir) || self.placed.iter().filter(short).any(between)
    }

    fn takes_over_address(&self, parent: &PlacedBuffer, child: &PlacedBuffer) -> bool {
        let (elder, younger) = (&self.buffers[parent.buffer], &self.buffers[child.buffer]);
        let time = child.interval.first;
        // Of two buffers that are born in one operation, the parent is listed first.
        let is_older = elder.uses[0].time < time || parent.buffer < child.buffer;
        younger.in_place_parents.contains(&parent.buffer)
            && is_older
            && younger.bytes <= elder.bytes
            && elder.uses.iter().any(|one| one.kind == UseKind::Read)
            && parent.address == child.address
            && parent.interval.last == time
            && elder.uses.last().is_some_and(|one| one.time == time)
            && younger.uses.first().is_some_and(|one| one.time == time)
    }
}
