//! Values in LX over time, read from the op specs: the `explain.scratchpad` part of the report, and its picture.

use super::{Explain, TileLoop};
use crate::{
    bundle::{Allocation, Bundle, Item, OpSpec, Operand},
    traffic::lx_bytes_of,
};
use schemars::JsonSchema;
use scratchpad::{Bracket, Drawing, Stay, draw};
use serde::Serialize;

/// A value in LX, from the op that writes it to its last reader.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LxValue {
    /// The device function of the op that writes it.
    pub name: String,
    /// The position of that op in the report's list.
    pub op: usize,
    /// The last op that uses it; in a loop that it was not made in, the last op of the loop.
    pub last_op: usize,
    /// The ops that read it, each as often as it has operands that do.
    pub readers: Vec<usize>,
    /// Its address on every core.
    pub lx_offset_bytes: i64,
    /// Its bytes on one core.
    pub bytes: i64,
    /// The op whose result was at this address and is read for the last time as this value is written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes_over: Option<usize>,
}

/// Returns the values in LX of a bundle, in the order of their definitions. Its first op is op `first_op` of the
/// report.
#[must_use]
pub fn values_in_lx(bundle: &Bundle, first_op: usize) -> Vec<LxValue> {
    let mut reader = Reader { next_op: first_op, values: Vec::new() };
    reader.items(&bundle.items);
    reader.values
}

/// Draws the scratchpad as SVG: time to the right, addresses up. `operations` are the names of the report's ops.
#[must_use]
pub fn draw_scratchpad(program: &str, capacity_bytes: i64, explain: &Explain, operations: Vec<String>) -> String {
    let name = |value: &LxValue| format!("{} (op {})", value.name, value.op);
    let by_op = |op: usize| explain.scratchpad.iter().find(|value| value.op == op);
    let stays = explain.scratchpad.iter().map(|value| Stay {
        name: name(value),
        bytes: value.bytes,
        address: value.lx_offset_bytes,
        times: value.op..value.last_op + 1,
        successor_of: value.takes_over.and_then(by_op).map(name),
    });
    let mut loops = Vec::new();
    add_brackets(&explain.loops, 0, &mut loops);
    draw(&Drawing { title: format!("{program}: LX of one core"), capacity_bytes, stays: stays.collect(), operations, loops })
}

fn add_brackets(loops: &[TileLoop], depth: usize, into: &mut Vec<Bracket>) {
    for around in loops {
        let ops = || around.ops.iter().map(|inner| inner.op);
        if let (Some(first), Some(last)) = (ops().min(), ops().max()) {
            into.push(Bracket { name: format!("{} tiles of '{}'", around.count, around.dim), times: first..last + 1, depth });
        }
        add_brackets(&around.loops, depth + 1, into);
    }
}

struct Reader {
    next_op: usize,
    values: Vec<LxValue>,
}

impl Reader {
    fn items(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Op(op) => {
                    self.op(op);
                    self.next_op += 1;
                }
                Item::Loop { body, .. } => {
                    let first = self.next_op;
                    self.items(body);
                    // A value from before the loop that the loop uses is live in every iteration, so its live range
                    // ends with the loop.
                    let last = self.next_op.saturating_sub(1);
                    for value in self.values.iter_mut().filter(|value| value.op < first && value.last_op >= first) {
                        value.last_op = last;
                    }
                }
            }
        }
    }

    fn op(&mut self, op: &OpSpec) {
        let now = self.next_op;
        for operand in op.operands.iter().filter(|operand| operand.is_input) {
            if let Some(value) = self.value_at(operand) {
                value.last_op = now;
                value.readers.push(now);
            }
        }
        for operand in op.operands.iter().filter(|operand| !operand.is_input) {
            let Allocation::Lx { offset_bytes } = operand.allocation else { continue };
            let before = self.value_at(operand).filter(|value| value.last_op == now).map(|value| value.op);
            self.values.push(LxValue {
                name: op.function.clone(),
                op: now,
                last_op: now,
                readers: Vec::new(),
                lx_offset_bytes: offset_bytes,
                bytes: lx_bytes_of(op, operand),
                takes_over: before,
            });
        }
    }

    /// Returns the value that was last written at the address of an operand.
    fn value_at(&mut self, operand: &Operand) -> Option<&mut LxValue> {
        let Allocation::Lx { offset_bytes } = operand.allocation else { return None };
        self.values.iter_mut().rev().find(|value| value.lx_offset_bytes == offset_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Arrangement, Coordinate, IterationDim};
    use machine::DeviceFormat::Sen169Fp16;

    const HBM: Allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };

    const fn lx(offset_bytes: i64) -> Allocation {
        Allocation::Lx { offset_bytes }
    }

    fn operand(is_input: bool, allocation: Allocation) -> Operand {
        Operand {
            is_input,
            format: Sen169Fp16,
            arrangement: Arrangement::Standard,
            device_size: vec![1, 32, 64],
            coordinates: vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::modulo(1, 64)],
            allocation,
            tile_advance: vec![],
            name: None,
            ownership: None,
        }
    }

    fn op(from: &[Allocation], to: Allocation) -> Item {
        let operands = from.iter().map(|from| operand(true, *from)).chain([operand(false, to)]).collect();
        let iteration_space = vec![IterationDim::new(32, 32), IterationDim::new(64, 1)];
        Item::Op(Box::new(OpSpec { function: "exp".to_owned(), iteration_space, operands, ..OpSpec::default() }))
    }

    fn times(values: &[LxValue]) -> Vec<(usize, usize, Option<usize>)> {
        values.iter().map(|value| (value.op, value.last_op, value.takes_over)).collect()
    }

    #[test]
    fn a_value_lives_until_its_last_reader_and_hands_its_address_over() {
        let items = vec![op(&[HBM], lx(0)), op(&[lx(0)], lx(128)), op(&[lx(0), lx(128)], lx(0)), op(&[lx(0)], HBM)];
        let values = values_in_lx(&Bundle { pool_bytes: 0, items }, 10);
        assert_eq!(times(&values), [(10, 12, None), (11, 12, None), (12, 13, Some(10))]);
        assert_eq!((values[1].lx_offset_bytes, values[1].bytes), (128, 128));
        assert_eq!([&values[0].readers, &values[1].readers, &values[2].readers], [&vec![11, 12], &vec![12], &vec![13]]);
    }

    #[test]
    fn what_a_loop_uses_from_outside_lives_until_its_end() {
        let body = vec![op(&[lx(0)], lx(128)), op(&[lx(128)], HBM)];
        let items = vec![op(&[HBM], lx(0)), Item::Loop { count: 4, symbol: None, body }, op(&[HBM], lx(0))];
        assert_eq!(times(&values_in_lx(&Bundle { pool_bytes: 0, items }, 0)), [(0, 2, None), (1, 2, None), (3, 3, None)]);
    }

    #[test]
    fn the_picture_has_a_box_for_each_value() {
        let items = vec![op(&[HBM], lx(0)), op(&[lx(0)], lx(0)), op(&[lx(0)], HBM)];
        let explain = Explain { scratchpad: values_in_lx(&Bundle { pool_bytes: 0, items }, 0), ..Explain::default() };
        let svg = draw_scratchpad("main", 2048, &explain, vec!["load".to_owned(), "negate".to_owned()]);
        assert_eq!(svg.matches("<rect class=\"stay").count(), 2, "{svg}");
        assert!(svg.contains("main: LX of one core") && svg.contains("exp (op 1)") && svg.contains(">negate</text>"), "{svg}");
    }
}
