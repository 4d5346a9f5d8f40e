//! Random small instances, equal on every machine.

use scratchpad::PlacementExclusion;
use scratchpad::{Buffer, Capacity, Use, UseKind};

/// Pseudorandom number generator (SplitMix64).
pub(crate) struct TestRng(pub(crate) u64);

impl TestRng {
    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn sample_below(&mut self, n: usize) -> usize {
        (self.next_u64() % n as u64) as usize
    }
}

/// Samples up to 7 buffers over 4 operations. Some are ineligible, some start or end in HBM, and parents may die in the
/// operation of their birth.
pub(crate) fn sample_buffers(seed: u64) -> (Vec<Buffer>, Capacity) {
    let mut random = TestRng(seed);
    let n = 1 + random.sample_below(7);
    let capacity =
        Capacity { bytes: 3 + random.sample_below(10) as i64, alignment: [1, 1, 1, 2, 3][random.sample_below(5)] };
    let mut buffers: Vec<Buffer> = Vec::new();
    for index in 0..n {
        let uses = sample_uses(&mut random);
        let parents: Vec<usize> = (0..index).filter(|_| random.sample_below(3) > 0).collect();
        buffers.push(Buffer {
            name: format!("b{index}"),
            bytes: random.sample_below(8) as i64,
            uses,
            in_place_parents: parents,
            starts_in_hbm: random.sample_below(5) == 0,
            ends_in_hbm: random.sample_below(8) == 0,
            barred: (random.sample_below(12) == 0).then(|| PlacementExclusion("its size is not known".to_owned())),
        });
    }
    (buffers, capacity)
}

/// Samples 10 to 40 buffers in consecutive layers: mostly short live ranges, some over many operations, with reuses.
pub(crate) fn sample_layers(seed: u64) -> scratchpad::Instance {
    let mut random = TestRng(seed ^ 0xA5A5);
    let n = 10 + random.sample_below(31);
    let capacity =
        Capacity { bytes: 20 + random.sample_below(30) as i64, alignment: [1, 1, 2, 4][random.sample_below(4)] };
    let mut buffers: Vec<Buffer> = Vec::new();
    for index in 0..n {
        let birth = index / 2;
        let length = [1, 1, 2, 2, 3, 5, 8, 1 + random.sample_below(n)][random.sample_below(8)];
        let mut uses =
            vec![Use { time: birth, kind: if random.sample_below(7) == 0 { UseKind::Read } else { UseKind::Write } }];
        let middle = (birth + 1..birth + length).filter(|_| random.sample_below(3) == 0).collect::<Vec<_>>();
        uses.extend(middle.into_iter().chain([birth + length]).map(|time| Use { time, kind: UseKind::Read }));
        let dies_here = |parent: &usize| buffers[*parent].live_range().end == birth + 1;
        let in_place_parents: Vec<usize> =
            (0..index).filter(dies_here).filter(|_| random.sample_below(2) == 0).collect();
        buffers.push(Buffer {
            name: format!("b{index}"),
            bytes: 1 + random.sample_below(12) as i64,
            starts_in_hbm: uses[0].kind == UseKind::Read,
            ends_in_hbm: random.sample_below(9) == 0,
            barred: (random.sample_below(20) == 0).then(|| PlacementExclusion("its size is not known".to_owned())),
            uses,
            in_place_parents,
        });
    }
    scratchpad::Instance { name: format!("layers{seed}"), capacity, buffers }
}

/// Samples up to 9 buffers over 5 operations in a small LX. Many live in one operation only, between a parent that dies
/// there and a child that is born there, so that they can pass an address on. Some parents are listed after their
/// child.
pub(crate) fn sample_linked_buffers(seed: u64) -> (Vec<Buffer>, Capacity) {
    let mut random = TestRng(seed ^ 0x11AA);
    let n = 4 + random.sample_below(6);
    let capacity =
        Capacity { bytes: 3 + random.sample_below(6) as i64, alignment: [1, 1, 1, 2][random.sample_below(4)] };
    let mut live_ranges: Vec<(usize, usize)> = Vec::new();
    for _ in 0..n {
        let birth = if live_ranges.is_empty() || random.sample_below(3) == 0 {
            random.sample_below(5)
        } else {
            live_ranges[random.sample_below(live_ranges.len())].1
        };
        let length = [0, 0, 1, 1, 1, 2, 3][random.sample_below(7)];
        live_ranges.push((birth, (birth + length).min(4)));
    }
    let mut buffer = |index: usize| {
        let (birth, death) = live_ranges[index];
        let mut uses = vec![Use { time: birth, kind: UseKind::Write }];
        let middle: Vec<usize> = (birth + 1..death).filter(|_| random.sample_below(3) == 0).collect();
        let num_last = 1 + random.sample_below(3);
        uses.extend(
            middle
                .into_iter()
                .chain(std::iter::repeat_n(death, num_last))
                .map(|time| Use { time, kind: UseKind::Read }),
        );
        let dies_here = |parent: &usize| *parent != index && live_ranges[*parent].1 == birth;
        let in_place_parents: Vec<usize> = (0..n).filter(dies_here).filter(|_| random.sample_below(4) > 0).collect();
        Buffer {
            name: format!("b{index}"),
            bytes: 1 + random.sample_below(5) as i64,
            uses,
            in_place_parents,
            starts_in_hbm: false,
            ends_in_hbm: random.sample_below(9) == 0,
            barred: (random.sample_below(20) == 0).then(|| PlacementExclusion("its size is not known".to_owned())),
        }
    };
    ((0..n).map(&mut buffer).collect(), capacity)
}

fn sample_uses(random: &mut TestRng) -> Vec<Use> {
    let mut uses = Vec::new();
    let (first, last) = (random.sample_below(4), random.sample_below(4));
    let (first, last) = (first.min(last), first.max(last));
    for time in first..=last {
        let is_end = time == first || time == last;
        if !is_end && random.sample_below(2) == 0 {
            continue;
        }
        let is_written = if time == first { random.sample_below(6) > 0 } else { random.sample_below(7) == 0 };
        let num_reads = if time == first && is_written {
            usize::from(random.sample_below(6) == 0)
        } else {
            1 + usize::from(random.sample_below(5) == 0)
        };
        let num_reads = if time > first && is_written { random.sample_below(2) } else { num_reads };
        uses.extend((0..num_reads).map(|_| Use { time, kind: UseKind::Read }));
        uses.extend(is_written.then_some(Use { time, kind: UseKind::Write }));
    }
    uses
}

/// Returns the instance in the JSON file format.
pub(crate) fn to_json(instance: &scratchpad::Instance) -> String {
    let buffer = |buffer: &Buffer| {
        let kind = |one: &Use| if one.kind == UseKind::Read { "read" } else { "write" };
        let uses: Vec<_> =
            buffer.uses.iter().map(|one| serde_json::json!({"time": one.time, "kind": kind(one)})).collect();
        let parents: Vec<&str> =
            buffer.in_place_parents.iter().map(|&parent| instance.buffers[parent].name.as_str()).collect();
        let life = buffer.live_range();
        serde_json::json!({
            "name": buffer.name, "size": buffer.bytes, "uses": uses, "start": life.start, "end": life.end, "in_place_parents": parents,
            "graph_input": buffer.starts_in_hbm, "graph_output": buffer.ends_in_hbm,
            "barred": buffer.barred.as_ref().map(ToString::to_string),
        })
    };
    let buffers: Vec<_> = instance.buffers.iter().map(buffer).collect();
    let Capacity { bytes, alignment } = instance.capacity;
    serde_json::json!({"name": instance.name, "limit": bytes, "alignment": alignment, "buffers": buffers}).to_string()
}
