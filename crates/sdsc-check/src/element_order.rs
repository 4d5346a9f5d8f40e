//! Dataflow analysis of the order of elements in sticks. Conversions between 16-bit and 32-bit numbers stagger the
//! elements, in groups of four.
//!
//! A value is in standard order, is staggered by one of the two conversions, or is constant along each stick (any
//! order). The opposite conversion restores the standard order. A reduction along the sticks accepts any order.
//! Elementwise ops need operands in one common order; an operand that is constant along the sticks has every order.
//! Matmuls, relayouts and the host need the standard order. The analysis visits the executes in program order, and each
//! loop body until no further value reaches its start from its end.
//!
//! A tensor may consist of several values. If the op reads every byte of their range, the order of all of them counts;
//! otherwise that of one value, as the op may not read the other ones.

use super::BundleFacts;
use super::data_flow::FlowFault;
use super::file_facts::{FileFacts, TensorAddress, TensorFacts};
use super::file_tree::join_path;
use super::launch::ValueBase;
use super::live_ranges::{BodyItem, ExecuteOrder};
use super::order_effect::ElementOrderEffect;
use super::report::ViolationReport;
use sdsc_format::program::{PROGRAM_FILE, Program};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Nonstandard order of the elements of a value: the conversion that staggered them (torch-spyre's name), or any order
/// for equal elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementOrder {
    Dl16ToFp32,
    Fp32ToDl16,
    /// All elements of a stick are equal.
    Equal,
}

impl fmt::Display for ElementOrder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Dl16ToFp32 => "DL16_TO_FP32",
            Self::Fp32ToDl16 => "FP32_TO_DL16",
            Self::Equal => "of equal elements",
        })
    }
}

/// Memory with its own address space: LX, or the buffer at a base address in HBM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressSpace {
    Lx,
    Hbm(ValueBase),
}

/// Value in a nonstandard order, with its byte range.
#[derive(Clone, Debug, PartialEq, Eq)]
struct NonstandardValue {
    memory: AddressSpace,
    start: i64,
    /// End of the range; `i64::MAX` if it is unknown.
    end: i64,
    order: ElementOrder,
    /// Whether the range is that of all iterations of a loop.
    is_moving: bool,
    /// File that wrote the value; empty if an earlier launch wrote it.
    writer: String,
}

impl NonstandardValue {
    fn overlaps(&self, range: &AccessedRange) -> bool {
        self.memory == range.memory && self.start < range.end && range.start < self.end
    }
}

/// Byte range that an op accesses.
#[derive(Clone, Copy, Debug)]
struct AccessedRange {
    memory: AddressSpace,
    start: i64,
    end: i64,
    /// Whether the op accesses every byte, in each iteration.
    is_dense: bool,
    is_moving: bool,
}

impl AccessedRange {
    fn from_tensor(tensor: &TensorFacts) -> Option<Self> {
        let (memory, start, end) = match &tensor.place {
            TensorAddress::Lx(part) => (AddressSpace::Lx, part.start, part.end),
            TensorAddress::Hbm { base, first, end, .. } => (AddressSpace::Hbm(*base), *first, *end),
            TensorAddress::Unknown => return None,
        };
        Some(Self { memory, start, end, is_dense: tensor.fills_range, is_moving: tensor.is_moving })
    }

    /// Returns whether values, all of which overlap the range, cover it.
    fn is_covered_by(&self, values: &[&NonstandardValue]) -> bool {
        let mut ranges: Vec<(i64, i64)> = values.iter().map(|value| (value.start, value.end)).collect();
        ranges.sort_unstable();
        let covered =
            ranges.into_iter().fold(self.start, |end, range| if range.0 <= end { end.max(range.1) } else { end });
        covered >= self.end
    }
}

/// Operand of an op with one of its values; `None` stands for bytes in the standard order.
type OperandOrder<'a> = (&'a TensorFacts, Option<&'a NonstandardValue>);

/// Maximum number of visits of a loop body. Each visit after the first starts with the values that the previous one
/// left.
const MAX_LOOP_VISITS: usize = 4;

/// Executes of a bundle with the facts about each of them.
struct BundleExecutes<'a> {
    order: &'a ExecuteOrder,
    facts: &'a [Option<Rc<FileFacts>>],
}

/// State of the analysis: the values that are in a nonstandard order.
#[derive(Debug, Default)]
pub(super) struct ElementOrderState(Vec<NonstandardValue>);

impl ElementOrderState {
    /// Creates the state at the start of a bundle. `arguments` are the kernel arguments that earlier launches left in a
    /// nonstandard order.
    pub(super) fn new(arguments: &BTreeMap<usize, ElementOrder>) -> Self {
        let to_value = |(argument, order): (&usize, &ElementOrder)| NonstandardValue {
            memory: AddressSpace::Hbm(ValueBase::Argument(*argument)),
            start: 0,
            end: i64::MAX,
            order: *order,
            is_moving: false,
            writer: String::new(),
        };
        Self(arguments.iter().map(to_value).collect())
    }

    /// Applies the executes of a bundle to the state, given the facts about each execute. Returns the faults.
    pub(super) fn apply_executes(&mut self, order: &ExecuteOrder, facts: &[Option<Rc<FileFacts>>]) -> Vec<FlowFault> {
        let mut faults = Vec::new();
        self.visit_body(&BundleExecutes { order, facts }, None, &mut faults);
        faults
    }

    /// Visits the body of a loop, or of the function.
    fn visit_body(&mut self, executes: &BundleExecutes<'_>, around: Option<usize>, faults: &mut Vec<FlowFault>) {
        for item in executes.order.body_items(around) {
            match item {
                BodyItem::Execute(execute) => {
                    let Some(Some(facts)) = executes.facts.get(execute) else { continue };
                    let fault = self.apply_execute(executes.order.file_name(execute), facts);
                    let is_known = |fault: &FlowFault| {
                        faults.iter().any(|known| (&known.file, &known.path) == (&fault.file, &fault.path))
                    };
                    let fault = fault.filter(|fault| !is_known(fault));
                    faults.extend(fault);
                }
                BodyItem::Loop(number) => self.visit_loop(executes, number, faults),
            }
        }
    }

    /// Visits the body of a loop until no further value reaches its start. A value whose address depends on the
    /// iteration does not: the next iteration accesses other bytes of its range.
    fn visit_loop(&mut self, executes: &BundleExecutes<'_>, number: usize, faults: &mut Vec<FlowFault>) {
        let mut head = self.0.clone();
        self.visit_body(executes, Some(number), faults);
        if !executes.order.repeats(number) {
            return;
        }
        for _ in 1..MAX_LOOP_VISITS {
            let carried: Vec<_> =
                self.0.iter().filter(|value| !value.is_moving || head.contains(value)).cloned().collect();
            if carried == head {
                return;
            }
            self.0.clone_from(&carried);
            self.visit_body(executes, Some(number), faults);
            head = carried;
        }
    }

    /// Returns the kernel arguments that hold a value in a nonstandard order.
    pub(super) fn nonstandard_arguments(&self) -> BTreeMap<usize, ElementOrder> {
        let mut arguments = BTreeMap::new();
        for value in &self.0 {
            if let AddressSpace::Hbm(ValueBase::Argument(argument)) = value.memory {
                let known = arguments.entry(argument).or_insert(value.order);
                if *known == ElementOrder::Equal {
                    *known = value.order;
                }
            }
        }
        arguments
    }

    /// Applies an op to the state: checks the orders of its operands, and records the order of its result.
    fn apply_execute(&mut self, file: &str, facts: &FileFacts) -> Option<FlowFault> {
        let (order, fault) = match self.compute_result_order(file, facts) {
            Ok(order) => (order, None),
            Err(fault) => (None, Some(fault)),
        };
        for result in facts.tensors.iter().filter(|tensor| tensor.is_result) {
            if let Some(range) = AccessedRange::from_tensor(result) {
                self.overwrite(&range, order.filter(|_| result.fills_sticks), file);
            }
        }
        fault
    }

    /// Replaces the values of a range by one in this order, or in the standard order.
    fn overwrite(&mut self, range: &AccessedRange, order: Option<ElementOrder>, file: &str) {
        let AccessedRange { memory, start, end, is_dense, is_moving } = *range;
        for value in std::mem::take(&mut self.0) {
            // An argument of an earlier launch has no known end, so a write at its start replaces all of it.
            let has_end = value.end < i64::MAX;
            let is_same = (value.start, value.end) == (start, end);
            if !value.overlaps(range) {
                self.0.push(value);
            } else if is_dense && (has_end || start != value.start) {
                let parts = [(value.start, start), (end, value.end)].into_iter().filter(|(start, end)| start < end);
                self.0.extend(parts.map(|(start, end)| NonstandardValue { start, end, ..value.clone() }));
            } else if !has_end && start != value.start || has_end && !is_same && order == Some(value.order) {
                // The op leaves other bytes of the value.
                self.0.push(value);
            }
        }
        let writer = file.to_owned();
        self.0.extend(order.map(|order| NonstandardValue { memory, start, end, order, is_moving, writer }));
    }

    fn compute_result_order(&self, file: &str, facts: &FileFacts) -> Result<Option<ElementOrder>, FlowFault> {
        let operands: Vec<OperandOrder<'_>> = facts
            .tensors
            .iter()
            .filter(|tensor| !tensor.is_result && tensor.fills_sticks)
            .flat_map(|tensor| self.find_values(tensor).into_iter().map(move |value| (tensor, value)))
            .filter(|(_, value)| value.is_none_or(|value| value.order != ElementOrder::Equal))
            .collect();
        let nonstandard = operands.iter().find_map(|(tensor, value)| Some((*tensor, (*value)?)));
        let order = nonstandard.map(|(_, value)| value.order);
        let is_mixed = operands.iter().any(|(_, value)| value.map(|value| value.order) != order);
        let expected = match (facts.transfer, order) {
            (ElementOrderEffect::Unknown, _) => return Ok(Some(ElementOrder::Equal)),
            (ElementOrderEffect::Widen | ElementOrderEffect::Narrow | ElementOrderEffect::Keep, None)
                if operands.is_empty() =>
            {
                return Ok(Some(ElementOrder::Equal));
            }
            (ElementOrderEffect::Reduce, _) | (ElementOrderEffect::Standard, None) => return Ok(None),
            (ElementOrderEffect::Normalize, _) => return Ok(order),
            (ElementOrderEffect::Standard, Some(_)) => "the standard order",
            (ElementOrderEffect::Widen | ElementOrderEffect::Narrow, _) if is_mixed => "one order of all elements",
            (ElementOrderEffect::Widen, None) => return Ok(Some(ElementOrder::Dl16ToFp32)),
            (ElementOrderEffect::Narrow, None) => return Ok(Some(ElementOrder::Fp32ToDl16)),
            (ElementOrderEffect::Widen, Some(ElementOrder::Fp32ToDl16))
            | (ElementOrderEffect::Narrow, Some(ElementOrder::Dl16ToFp32)) => return Ok(None),
            (ElementOrderEffect::Widen | ElementOrderEffect::Narrow, Some(_)) => {
                "an order that the conversion restores"
            }
            (ElementOrderEffect::Keep, _) if is_mixed => "one order of all operands along the sticks",
            (ElementOrderEffect::Keep, _) => return Ok(order),
        };
        nonstandard.map_or(Ok(order), |operand| Err(build_fault(file, expected, operand)))
    }

    /// Returns the values of a tensor with different orders.
    fn find_values(&self, tensor: &TensorFacts) -> Vec<Option<&NonstandardValue>> {
        let Some(range) = AccessedRange::from_tensor(tensor) else { return vec![None] };
        let mut values: Vec<&NonstandardValue> = self.0.iter().filter(|value| value.overlaps(&range)).collect();
        if !range.is_dense || values.is_empty() {
            return vec![values.first().copied()];
        }
        // Bytes that are not covered may be padding, which matters beside values with an order only.
        let has_order = values.iter().any(|value| value.order != ElementOrder::Equal);
        let rest = (has_order && !range.is_covered_by(&values)).then_some(None);
        let mut orders = Vec::new();
        values.retain(|value| {
            let is_new = !orders.contains(&value.order);
            orders.push(value.order);
            is_new
        });
        values.into_iter().map(Some).chain(rest).collect()
    }
}

/// Returns the fault of an operand whose elements have an unexpected order.
fn build_fault(file: &str, expected: &str, (tensor, value): (&TensorFacts, &NonstandardValue)) -> FlowFault {
    let writer = if value.writer.is_empty() { "an earlier launch" } else { &value.writer };
    let message = format!(
        "expected {expected}, found elements in the order {} that {writer} left; convert them back first",
        value.order
    );
    FlowFault { file: file.to_owned(), path: tensor.path.clone(), message }
}

/// Checks the launches of a program in order, because a launch may restore the order of a value that an earlier launch
/// staggered. Reports results that are not in standard order.
pub(super) fn check(program: &Program, bundles: &BTreeMap<String, BundleFacts>, report: &mut ViolationReport) {
    let mut staggered: BTreeMap<&str, ElementOrder> = BTreeMap::new();
    for launch in &program.launches {
        let Some(facts) = bundles.get(&launch.bundle) else { continue };
        let arguments = || launch.arguments.iter().map(String::as_str).enumerate();
        let mut state = ElementOrderState::new(
            &arguments().filter_map(|(argument, name)| Some((argument, *staggered.get(name)?))).collect(),
        );
        for fault in state.apply_executes(&facts.order, &facts.executes) {
            report.enter_file(join_path(&launch.bundle, &fault.file));
            report.report_json(fault.path, fault.message);
        }
        let nonstandard = state.nonstandard_arguments();
        for (argument, name) in arguments() {
            match nonstandard.get(&argument) {
                Some(order) => drop(staggered.insert(name, *order)),
                None => drop(staggered.remove(name)),
            }
        }
    }
    report.enter_file(PROGRAM_FILE);
    for (number, result) in program.results.iter().enumerate() {
        if let Some(order) = staggered.get(&*result.name).filter(|order| **order != ElementOrder::Equal) {
            let message = format!(
                "expected '{}' in the standard order, which the host reads, found {order}; convert it back first",
                result.name
            );
            report.report_json(format!("/results/{number}"), message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // Start addresses of three values in the pool.
    const X: i64 = 0;
    const Y: i64 = 1000;
    const Z: i64 = 2000;

    fn tensor(start: i64, is_result: bool, fills_sticks: bool) -> TensorFacts {
        let place = TensorAddress::Hbm {
            base: ValueBase::Pool(0),
            first: start,
            end: start + 512,
            begins: vec![start],
            whole: start + 512,
            sticks: vec![4],
            num_dims: 1,
            reach: Some(start + 512),
        };
        let path = format!("/{start}");
        TensorFacts { path, is_result, fills_sticks, fills_range: true, is_moving: false, tables: None, place }
    }

    fn op(transfer: ElementOrderEffect, inputs: &[(i64, bool)], result: i64) -> FileFacts {
        let inputs = inputs.iter().map(|(start, fills)| tensor(*start, false, *fills));
        FileFacts { tensors: inputs.chain([tensor(result, true, true)]).collect(), transfer, ..FileFacts::default() }
    }

    fn first_fault(ops: &[FileFacts]) -> Option<String> {
        let mut state = ElementOrderState::default();
        ops.iter()
            .enumerate()
            .find_map(|(number, op)| state.apply_execute(&format!("sdsc_{number}.json"), op))
            .map(|fault| fault.message)
    }

    #[test]
    fn restores_order_by_opposite_conversion() {
        let convert_twice = |first, second| {
            [
                op(first, &[(X, true)], Y),
                op(ElementOrderEffect::Keep, &[(Y, true)], Y),
                op(second, &[(Y, true)], Z),
                op(ElementOrderEffect::Standard, &[(Z, true)], X),
            ]
        };
        assert_eq!(first_fault(&convert_twice(ElementOrderEffect::Widen, ElementOrderEffect::Narrow)), None);
        assert_eq!(first_fault(&convert_twice(ElementOrderEffect::Narrow, ElementOrderEffect::Widen)), None);
        let twice = first_fault(&convert_twice(ElementOrderEffect::Widen, ElementOrderEffect::Widen)).unwrap();
        assert_eq!(
            twice,
            "expected an order that the conversion restores, found elements in the order DL16_TO_FP32 that sdsc_1.json left; convert them back first"
        );
    }

    #[test]
    fn requires_one_order_or_operands_equal_along_sticks() {
        let add_operands = |fills| {
            [op(ElementOrderEffect::Widen, &[(X, true)], Y), op(ElementOrderEffect::Keep, &[(Y, true), (Z, fills)], Y)]
        };
        assert_eq!(first_fault(&add_operands(false)), None);
        assert!(
            first_fault(&add_operands(true))
                .unwrap()
                .starts_with("expected one order of all operands along the sticks")
        );
        let widened_operands = [
            op(ElementOrderEffect::Widen, &[(X, true)], Y),
            op(ElementOrderEffect::Widen, &[(X, true)], Z),
            op(ElementOrderEffect::Keep, &[(Y, true), (Z, true)], Y),
            op(ElementOrderEffect::Reduce, &[(Y, true)], Z),
            op(ElementOrderEffect::Standard, &[(Z, true)], X),
        ];
        assert_eq!(first_fault(&widened_operands), None);
        let matmul =
            [op(ElementOrderEffect::Widen, &[(X, true)], Y), op(ElementOrderEffect::Standard, &[(Y, true)], Z)];
        assert!(first_fault(&matmul).unwrap().starts_with("expected the standard order"));
    }

    #[test]
    fn accepts_equal_elements_in_any_order() {
        let broadcast = op(ElementOrderEffect::Keep, &[(X, false)], Y);
        let narrowed = [
            broadcast.clone(),
            op(ElementOrderEffect::Narrow, &[(Y, true)], Z),
            op(ElementOrderEffect::Standard, &[(Z, true)], X),
        ];
        assert_eq!(first_fault(&narrowed), None);
        let combined = op(ElementOrderEffect::Keep, &[(Y, true), (X, true)], Z);
        let ordered = [
            broadcast,
            combined,
            op(ElementOrderEffect::Narrow, &[(Z, true)], Z),
            op(ElementOrderEffect::Standard, &[(Z, true)], X),
        ];
        assert!(first_fault(&ordered).unwrap().starts_with("expected the standard order"));
    }

    #[test]
    fn replaces_order_of_overwritten_value() {
        let ops = [
            op(ElementOrderEffect::Widen, &[(X, true)], Y),
            op(ElementOrderEffect::Keep, &[(X, true)], Y),
            op(ElementOrderEffect::Standard, &[(Y, true)], Z),
        ];
        assert_eq!(first_fault(&ops), None);
    }

    /// Returns an op whose operands have 256 bytes each, at these addresses.
    fn half_op(transfer: ElementOrderEffect, input: i64, result: i64) -> FileFacts {
        let mut facts = op(transfer, &[(input, true)], result);
        for tensor in &mut facts.tensors {
            let TensorAddress::Hbm { end, .. } = &mut tensor.place else { continue };
            *end -= 256;
        }
        facts
    }

    #[test]
    fn requires_one_order_of_all_values_of_operand() {
        let narrow = |second| {
            [half_op(ElementOrderEffect::Widen, X, Y), second, op(ElementOrderEffect::Narrow, &[(Y, true)], Z)]
        };
        assert_eq!(first_fault(&narrow(half_op(ElementOrderEffect::Widen, X, Y + 256))), None);
        let expected =
            "expected one order of all elements, found elements in the order DL16_TO_FP32 that sdsc_0.json left";
        for second in [half_op(ElementOrderEffect::Keep, X, Y + 256), half_op(ElementOrderEffect::Keep, X, X)] {
            assert!(first_fault(&narrow(second)).unwrap().starts_with(expected));
        }
        let partly_replaced = [
            op(ElementOrderEffect::Widen, &[(X, true)], Y),
            half_op(ElementOrderEffect::Keep, X, Y),
            op(ElementOrderEffect::Narrow, &[(Y, true)], Z),
        ];
        assert!(first_fault(&partly_replaced).unwrap().starts_with(expected));
        // An op that reads a box may read the bytes of one value only.
        let mut of_box = partly_replaced;
        of_box[2].tensors[0].fills_range = false;
        assert_eq!(first_fault(&of_box), None);
    }

    /// Returns the faults of a bundle of one loop.
    fn loop_faults(count: i64, body: &[FileFacts]) -> Vec<FlowFault> {
        let executes: Vec<_> = body.iter().cloned().map(|facts| Some(Rc::new(facts))).collect();
        let order = ExecuteOrder::from_loop(count, body.len());
        ElementOrderState::default().apply_executes(&order, &executes)
    }

    #[test]
    fn passes_order_to_next_iteration() {
        let body =
            [op(ElementOrderEffect::Keep, &[(Y, true), (X, true)], Z), op(ElementOrderEffect::Widen, &[(X, true)], Y)];
        assert_eq!(loop_faults(1, &body), []);
        let faults = loop_faults(2, &body);
        assert_eq!(faults.len(), 1);
        assert!(faults[0].message.contains("the order DL16_TO_FP32 that sdsc_1.json left"), "{faults:?}");
        let mut moving = body;
        moving[1].tensors[1].is_moving = true;
        assert_eq!(loop_faults(2, &moving), []);
    }

    #[test]
    fn passes_order_of_arguments_to_next_launch() {
        let state = ElementOrderState::new(&[(3, ElementOrder::Dl16ToFp32)].into());
        assert_eq!(state.nonstandard_arguments(), [(3, ElementOrder::Dl16ToFp32)].into());
    }
}
