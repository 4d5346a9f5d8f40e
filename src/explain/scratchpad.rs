//! Values in LX over time, read from the op specs: the `explain.scratchpad` part of the report, and its picture.

use super::{PlanExplanation, TileLoop};
use crate::{
    bundle::{Allocation, Bundle, BundleItem, OpSpec, OpSpecOperand},
    traffic::lx_bytes_per_core,
};
use schemars::JsonSchema;
use scratchpad::{DrawnInterval, LoopBracket, LxDrawing, draw};
use serde::Serialize;

/// Value in LX, from its definition to its last use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct LxValue {
    /// Device function of the op that writes the value.
    pub name: String,
    /// Position of this op in the report's list.
    pub op: usize,
    /// Position of the last op that uses the value. If a loop uses a value from outside, it is the last op of the loop.
    pub last_op: usize,
    /// Positions of the ops that read the value, each once per operand.
    pub readers: Vec<usize>,
    /// Address on every core.
    pub lx_offset_bytes: i64,
    /// Bytes on one core.
    pub bytes: i64,
    /// Position of the op whose dead result was at this address: in-place reuse, its last user writes this value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub takes_over: Option<usize>,
}

/// Returns the values in LX of a bundle, in the order of their definitions. Its first op is op `first_op` of the
/// report.
#[must_use]
pub fn collect_lx_values(bundle: &Bundle, first_op: usize) -> Vec<LxValue> {
    let mut reader = LxValueCollector { next_op: first_op, values: Vec::new() };
    reader.visit_items(&bundle.items);
    reader.values
}

/// Draws the scratchpad as SVG: time to the right, addresses up. `operations` are the names of the report's ops.
#[must_use]
pub fn draw_scratchpad(
    program: &str,
    capacity_bytes: i64,
    explain: &PlanExplanation,
    operations: Vec<String>,
) -> String {
    let name = |value: &LxValue| format!("{} (op {})", value.name, value.op);
    let by_op = |op: usize| explain.scratchpad.iter().find(|value| value.op == op);
    let intervals = explain.scratchpad.iter().map(|value| DrawnInterval {
        name: name(value),
        bytes: value.bytes,
        address: value.lx_offset_bytes,
        times: value.op..value.last_op + 1,
        successor_of: value.takes_over.and_then(by_op).map(name),
    });
    let mut loops = Vec::new();
    add_brackets(&explain.loops, 0, &mut loops);
    draw(&LxDrawing {
        title: format!("{program}: LX of one core"),
        capacity_bytes,
        intervals: intervals.collect(),
        operations,
        loops,
    })
}

fn add_brackets(loops: &[TileLoop], depth: usize, into: &mut Vec<LoopBracket>) {
    for around in loops {
        let ops = || around.ops.iter().map(|inner| inner.op);
        if let (Some(first), Some(last)) = (ops().min(), ops().max()) {
            into.push(LoopBracket {
                name: format!("{} tiles of '{}'", around.count, around.dim),
                times: first..last + 1,
                depth,
            });
        }
        add_brackets(&around.loops, depth + 1, into);
    }
}

struct LxValueCollector {
    next_op: usize,
    values: Vec<LxValue>,
}

impl LxValueCollector {
    fn visit_items(&mut self, items: &[BundleItem]) {
        for item in items {
            match item {
                BundleItem::Op(op) => {
                    self.visit_op(op);
                    self.next_op += 1;
                }
                BundleItem::Loop { body, .. } => {
                    let first = self.next_op;
                    self.visit_items(body);
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

    fn visit_op(&mut self, op: &OpSpec) {
        let now = self.next_op;
        for operand in op.operands.iter().filter(|operand| operand.is_input) {
            if let Some(value) = self.find_value(operand) {
                value.last_op = now;
                value.readers.push(now);
            }
        }
        for operand in op.operands.iter().filter(|operand| !operand.is_input) {
            let Allocation::Lx { offset_bytes } = operand.allocation else { continue };
            let before = self.find_value(operand).filter(|value| value.last_op == now).map(|value| value.op);
            self.values.push(LxValue {
                name: op.function.clone(),
                op: now,
                last_op: now,
                readers: Vec::new(),
                lx_offset_bytes: offset_bytes,
                bytes: lx_bytes_per_core(op, operand),
                takes_over: before,
            });
        }
    }

    /// Returns the value that was last written at the address of an operand.
    fn find_value(&mut self, operand: &OpSpecOperand) -> Option<&mut LxValue> {
        let Allocation::Lx { offset_bytes } = operand.allocation else { return None };
        self.values.iter_mut().rev().find(|value| value.lx_offset_bytes == offset_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::{Coordinate, ElementArrangement, IterationDim};
    use machine::DeviceFormat::Sen169Fp16;

    const HBM: Allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };

    const fn lx(offset_bytes: i64) -> Allocation {
        Allocation::Lx { offset_bytes }
    }

    fn operand(is_input: bool, allocation: Allocation) -> OpSpecOperand {
        OpSpecOperand {
            is_input,
            format: Sen169Fp16,
            arrangement: ElementArrangement::Standard,
            device_size: vec![1, 32, 64],
            coordinates: vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::modulo(1, 64)],
            allocation,
            tile_advance: vec![],
            name: None,
            ownership: None,
        }
    }

    fn op(from: &[Allocation], to: Allocation) -> BundleItem {
        let operands = from.iter().map(|from| operand(true, *from)).chain([operand(false, to)]).collect();
        let iteration_space = vec![IterationDim::new(32, 32), IterationDim::new(64, 1)];
        BundleItem::Op(Box::new(OpSpec { function: "exp".to_owned(), iteration_space, operands, ..OpSpec::default() }))
    }

    fn live_ranges(values: &[LxValue]) -> Vec<(usize, usize, Option<usize>)> {
        values.iter().map(|value| (value.op, value.last_op, value.takes_over)).collect()
    }

    #[test]
    fn ends_live_range_at_last_user_and_records_address_reuse() {
        let items = vec![op(&[HBM], lx(0)), op(&[lx(0)], lx(128)), op(&[lx(0), lx(128)], lx(0)), op(&[lx(0)], HBM)];
        let values = collect_lx_values(&Bundle { pool_bytes: 0, items }, 10);
        assert_eq!(live_ranges(&values), [(10, 12, None), (11, 12, None), (12, 13, Some(10))]);
        assert_eq!((values[1].lx_offset_bytes, values[1].bytes), (128, 128));
        assert_eq!([&values[0].readers, &values[1].readers, &values[2].readers], [&vec![11, 12], &vec![12], &vec![13]]);
    }

    #[test]
    fn extends_live_ranges_of_loop_live_ins_to_end_of_loop() {
        let body = vec![op(&[lx(0)], lx(128)), op(&[lx(128)], HBM)];
        let items = vec![op(&[HBM], lx(0)), BundleItem::Loop { count: 4, symbol: None, body }, op(&[HBM], lx(0))];
        assert_eq!(
            live_ranges(&collect_lx_values(&Bundle { pool_bytes: 0, items }, 0)),
            [(0, 2, None), (1, 2, None), (3, 3, None)]
        );
    }

    #[test]
    fn draws_one_box_per_value() {
        let items = vec![op(&[HBM], lx(0)), op(&[lx(0)], lx(0)), op(&[lx(0)], HBM)];
        let explain = PlanExplanation {
            scratchpad: collect_lx_values(&Bundle { pool_bytes: 0, items }, 0),
            ..PlanExplanation::default()
        };
        let svg = draw_scratchpad("main", 2048, &explain, vec!["load".to_owned(), "negate".to_owned()]);
        assert_eq!(svg.matches("<rect class=\"stay").count(), 2, "{svg}");
        assert!(
            svg.contains("main: LX of one core") && svg.contains("exp (op 1)") && svg.contains(">negate</text>"),
            "{svg}"
        );
    }
}
