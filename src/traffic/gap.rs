//! HBM traffic of a program by value, compared with the compulsory traffic.

use super::op_traffic::{touched_bytes, used_bytes};
use crate::bundle::{Allocation, Bundle, BundleItem};
use std::{collections::BTreeMap, ops::RangeInclusive};

/// Buffer in HBM.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TrafficBuffer {
    /// Buffer with a name in the program: an argument, a result, a constant, or a temporary that launches share.
    Named(String),
    /// Location in the pool of a launch, which several values may occupy one after another.
    Pool {
        /// Number of the launch.
        launch: usize,
        /// Offset in the pool, in bytes.
        offset_bytes: i64,
    },
}

/// Access of an op to a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BufferAccess {
    /// Position of the op in the program.
    pub op: usize,
    /// Accessed buffer.
    pub buffer: TrafficBuffer,
    /// Whether the op reads the buffer.
    pub is_read: bool,
    /// Bytes of sticks that all executions move.
    pub moved_bytes: i64,
    /// Bytes of the sticks that the elements of all executions would fill without gaps.
    pub used_bytes: i64,
    /// Number of times that loops repeat the access to the same elements.
    pub repeats: i64,
}

/// HBM traffic of one value of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueTraffic {
    /// Buffer of the value.
    pub buffer: TrafficBuffer,
    /// Op that wrote the value last; `None` if no op wrote it.
    pub writer: Option<usize>,
    /// First and last op that accesses the value.
    pub live_range: RangeInclusive<usize>,
    /// Ops that read the value, in order, one entry per operand.
    pub readers: Vec<usize>,
    /// Ops that write the value, in order.
    pub writers: Vec<usize>,
    /// Maximum number of times that loops repeat one of its accesses.
    pub repeats: i64,
    /// Moved bytes of sticks that elements do not fill.
    pub unused_bytes: i64,
    /// Bytes of the elements that each op reads, counted once even if iterations repeat the read.
    pub read_once_bytes: i64,
    /// Bytes read from HBM.
    pub read_bytes: i64,
    /// Bytes written to HBM.
    pub written_bytes: i64,
    /// Compulsory bytes, which every plan moves.
    pub needed_bytes: i64,
}

impl ValueTraffic {
    /// Returns the bytes above the compulsory ones.
    #[must_use]
    pub const fn excess_bytes(&self) -> i64 {
        self.read_bytes + self.written_bytes - self.needed_bytes
    }
}

/// Returns the HBM accesses of the ops of a launch, in program order. `names` are the buffers of the kernel arguments;
/// `first_op` is the position of the first op in the program.
#[must_use]
pub fn collect_accesses(bundle: &Bundle, launch: usize, names: &[&str], first_op: usize) -> Vec<BufferAccess> {
    let mut found = Vec::new();
    let mut next_op = first_op;
    visit_ops(&bundle.items, &mut Vec::new(), &mut |op, loops| {
        for operand in &op.operands {
            let buffer = match operand.allocation {
                Allocation::Hbm { argument, .. } => TrafficBuffer::Named(
                    names
                        .get(argument as usize)
                        .map_or_else(|| format!("argument {argument}"), |name| (*name).to_owned()),
                ),
                Allocation::Pool { offset_bytes } => TrafficBuffer::Pool { launch, offset_bytes },
                Allocation::Lx { .. } => continue,
            };
            let intervals =
                |(level, _): &(usize, &i64)| operand.tile_advance.get(*level).is_none_or(|advance| *advance == 0);
            let executions = loops.iter().product::<i64>();
            found.push(BufferAccess {
                op: next_op,
                buffer,
                is_read: operand.is_input,
                moved_bytes: touched_bytes(op, operand) * executions,
                used_bytes: used_bytes(op, operand) * executions,
                repeats: loops.iter().enumerate().filter(intervals).map(|(_, count)| count).product(),
            });
        }
        next_op += 1;
    });
    found
}

fn visit_ops<'a>(
    items: &'a [BundleItem],
    loops: &mut Vec<i64>,
    visit: &mut impl FnMut(&'a crate::bundle::OpSpec, &[i64]),
) {
    for item in items {
        match item {
            BundleItem::Op(op) => visit(op, loops),
            BundleItem::Loop { count, symbol: _, body } => {
                loops.push(*count);
                visit_ops(body, loops, visit);
                loops.pop();
            }
        }
    }
}

/// Groups the accesses of all launches by value. A named buffer is one value; in a pool, each writing op begins a new
/// value. `needed_bytes` returns the compulsory bytes of a named buffer.
#[must_use]
pub fn group_by_value(accesses: &[BufferAccess], needed_bytes: impl Fn(&str) -> i64) -> Vec<ValueTraffic> {
    let mut writers: BTreeMap<&TrafficBuffer, usize> = BTreeMap::new();
    let mut by_value: BTreeMap<(&TrafficBuffer, Option<usize>), Vec<&BufferAccess>> = BTreeMap::new();
    for access in accesses {
        // Operands precede the result, so an op reads the previous value of the buffer that it writes.
        if !access.is_read {
            writers.insert(&access.buffer, access.op);
        }
        let value = match access.buffer {
            TrafficBuffer::Named(_) => None,
            TrafficBuffer::Pool { .. } => writers.get(&access.buffer).copied(),
        };
        by_value.entry((&access.buffer, value)).or_default().push(access);
    }
    let part = |((buffer, writer), accesses): ((&TrafficBuffer, Option<usize>), Vec<&BufferAccess>)| {
        let bytes =
            |is_read| accesses.iter().filter(|access| access.is_read == is_read).map(|access| access.moved_bytes).sum();
        let ops = || accesses.iter().map(|access| access.op);
        ValueTraffic {
            buffer: buffer.clone(),
            writer: writer.or_else(|| writers.get(buffer).copied()),
            live_range: ops().min().unwrap_or_default()..=ops().max().unwrap_or_default(),
            readers: accesses.iter().filter(|access| access.is_read).map(|access| access.op).collect(),
            writers: accesses.iter().filter(|access| !access.is_read).map(|access| access.op).collect(),
            unused_bytes: accesses.iter().map(|access| access.moved_bytes - access.used_bytes).sum(),
            read_once_bytes: accesses
                .iter()
                .filter(|access| access.is_read)
                .map(|access| access.used_bytes / access.repeats)
                .sum(),
            repeats: accesses.iter().map(|access| access.repeats).max().unwrap_or(1),
            read_bytes: bytes(true),
            written_bytes: bytes(false),
            needed_bytes: if let TrafficBuffer::Named(name) = buffer { needed_bytes(name) } else { 0 },
        }
    };
    by_value.into_iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Coordinate, OpSpec, OpSpecOperand};

    const ARGUMENT: Allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };
    const RESULT: Allocation = Allocation::Hbm { argument: 1, offset_bytes: 0 };
    const POOL: Allocation = Allocation::Pool { offset_bytes: 0 };

    /// Builds an op over 64 rows of a stick; `advances` has the strides of both operands for each loop around it.
    fn op(from: Allocation, to: Allocation, advances: [&[i64]; 2]) -> BundleItem {
        let coordinates = || vec![Coordinate::dim(0), Coordinate::dim(1)];
        let [mut read, written] = [from, to].map(|allocation| OpSpecOperand {
            allocation,
            ..crate::bundle::testing::operand(&[256, 64], coordinates())
        });
        let mut written = written;
        (read.is_input, written.is_input) = (true, false);
        (read.tile_advance, written.tile_advance) = (advances[0].to_vec(), advances[1].to_vec());
        BundleItem::Op(Box::new(OpSpec {
            operands: vec![read, written],
            ..crate::bundle::testing::op("neg", &[64, 64], vec![])
        }))
    }

    fn traffic_by_value(items: Vec<BundleItem>, needed_of_result: i64) -> Vec<ValueTraffic> {
        let found = collect_accesses(&Bundle { pool_bytes: 0, items }, 0, &["arg0", "result0"], 0);
        group_by_value(&found, |name| if name == "arg0" { ROWS } else { needed_of_result })
    }

    /// Bytes of 64 rows.
    const ROWS: i64 = 64 * 128;

    #[test]
    fn counts_pool_traffic_as_excess() {
        let found = traffic_by_value(
            vec![op(ARGUMENT, POOL, [&[], &[]]), op(POOL, POOL, [&[], &[]]), op(POOL, RESULT, [&[], &[]])],
            ROWS,
        );
        let excess: Vec<_> = found.iter().map(|part| (part.writer, part.excess_bytes())).collect();
        assert_eq!(excess, [(None, 0), (Some(2), 0), (Some(0), 2 * ROWS), (Some(1), 2 * ROWS)]);
        let live_ranges: Vec<_> = found.iter().map(|part| (part.live_range.clone(), part.readers.as_slice())).collect();
        assert_eq!(live_ranges, [(0..=0, &[0][..]), (2..=2, &[]), (0..=1, &[1]), (1..=2, &[2])]);
    }

    #[test]
    fn counts_repeated_reads_of_loop_invariant_operands() {
        let body = vec![op(ARGUMENT, RESULT, [&[], &[64 * 64]])];
        let found = traffic_by_value(vec![BundleItem::Loop { count: 4, symbol: None, body }], 4 * ROWS);
        let read = &found[0];
        assert_eq!((read.read_bytes, read.written_bytes, read.needed_bytes, read.repeats), (4 * ROWS, 0, ROWS, 4));
        assert_eq!((found[1].excess_bytes(), found[1].repeats), (0, 1));
        assert_eq!((read.read_once_bytes, read.unused_bytes), (ROWS, 0), "read again, but all of it is used");
    }
}
