//! Order of elements in sticks: conversions between 16-bit and 32-bit numbers stagger them, in groups of four.
//!
//! A value is in standard order, staggered by one of the two conversions, or equal along each stick (no order). The
//! opposite conversion restores the order. A reduction along the sticks does not depend on it. Other ops compute
//! position by position: their operands have one order, or are equal along the sticks. Matmuls, relayouts and the host
//! need the standard order. The analysis walks over the executes in the order of the text, loop bodies once.

use super::BundleFacts;
use super::data_flow::FlowFault;
use super::file_facts::{FileFacts, TensorAddress, TensorFacts};
use super::file_tree::join_path;
use super::launch::ValueBase;
use super::live_ranges::ExecuteOrder;
use super::order_effect::ElementOrderEffect;
use super::report::ViolationReport;
use sdsc_format::program::{PROGRAM_FILE, Program};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Order of the elements of a value, if not the standard one: the conversion that staggered them (torch-spyre's name),
/// or no order.
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

/// Memory with its own addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AddressSpace {
    Lx,
    Hbm(ValueBase),
}

/// Value that is not in standard order.
#[derive(Clone, Debug)]
struct NonstandardValue {
    memory: AddressSpace,
    start: i64,
    end: i64,
    order: ElementOrder,
    /// File that wrote it; empty for an earlier launch.
    writer: String,
}

/// Values that are not in standard order, during a walk over the executes of a bundle.
#[derive(Debug, Default)]
pub(super) struct ElementOrderState(Vec<NonstandardValue>);

impl ElementOrderState {
    /// Returns the state at the start of a bundle, with the kernel arguments that earlier launches have staggered.
    pub(super) fn new(arguments: &BTreeMap<usize, ElementOrder>) -> Self {
        let staggered = |(argument, order): (&usize, &ElementOrder)| {
            let memory = AddressSpace::Hbm(ValueBase::Argument(*argument));
            NonstandardValue { memory, start: 0, end: i64::MAX, order: *order, writer: String::new() }
        };
        Self(arguments.iter().map(staggered).collect())
    }

    /// Executes a bundle, given the facts of each execute; returns the faults.
    pub(super) fn execute_all(&mut self, order: &ExecuteOrder, executes: &[Option<Rc<FileFacts>>]) -> Vec<FlowFault> {
        let mut faults = Vec::new();
        for (name, facts) in
            order.file_names().zip(executes).filter_map(|(name, facts)| Some((name, facts.as_deref()?)))
        {
            let fault = self.execute(name, facts).filter(|fault| !faults.contains(fault));
            faults.extend(fault);
        }
        faults
    }

    /// Returns the kernel arguments that hold a value in a nonstandard order.
    pub(super) fn nonstandard_arguments(&self) -> BTreeMap<usize, ElementOrder> {
        let argument = |value: &NonstandardValue| match value.memory {
            AddressSpace::Hbm(ValueBase::Argument(argument)) => Some((argument, value.order)),
            AddressSpace::Hbm(ValueBase::Pool(_) | ValueBase::Parameter(_)) | AddressSpace::Lx => None,
        };
        self.0.iter().filter_map(argument).collect()
    }

    /// Executes an op: compares the orders of its operands, and records the order of its result.
    fn execute(&mut self, file: &str, facts: &FileFacts) -> Option<FlowFault> {
        let result = facts.tensors.iter().find(|tensor| tensor.is_result)?;
        let order = self.compute_result_order(file, facts);
        let (memory, start, end) = locate_tensor(result)?;
        // The end of an argument of unknown size is unknown: only a value at its start replaces it.
        let is_replaced = |value: &NonstandardValue| {
            let overlaps = value.memory == memory && value.start < end && start < value.end;
            overlaps && (value.end < i64::MAX || start == value.start)
        };
        self.0.retain(|value| !is_replaced(value));
        match order {
            Ok(order) => {
                let order = order.filter(|_| result.fills_sticks);
                self.0.extend(order.map(|order| NonstandardValue {
                    memory,
                    start,
                    end,
                    order,
                    writer: file.to_owned(),
                }));
                None
            }
            Err(fault) => Some(fault),
        }
    }

    fn compute_result_order(&self, file: &str, facts: &FileFacts) -> Result<Option<ElementOrder>, FlowFault> {
        let inputs: Vec<(&TensorFacts, Option<&NonstandardValue>)> = facts
            .tensors
            .iter()
            .filter(|tensor| !tensor.is_result && tensor.fills_sticks)
            .map(|tensor| (tensor, self.find_value(tensor)))
            .filter(|(_, value)| value.is_none_or(|value| value.order != ElementOrder::Equal))
            .collect();
        let found = inputs.iter().find_map(|(tensor, value)| Some((*tensor, (*value)?)));
        let order = found.map(|(_, value)| value.order);
        let fault = |tensor: &TensorFacts, expected: &str, value: &NonstandardValue| {
            let writer = if value.writer.is_empty() { "an earlier launch" } else { &value.writer };
            let message = format!(
                "expected {expected}, found elements in the order {} that {writer} left; convert them back first",
                value.order
            );
            FlowFault { file: file.to_owned(), path: tensor.path.clone(), message }
        };
        match (facts.transfer, found) {
            (ElementOrderEffect::Widen | ElementOrderEffect::Narrow | ElementOrderEffect::Keep, None)
                if inputs.is_empty() =>
            {
                Ok(Some(ElementOrder::Equal))
            }
            (ElementOrderEffect::Reduce, _) | (ElementOrderEffect::Standard, None) => Ok(None),
            (ElementOrderEffect::Widen, None) => Ok(Some(ElementOrder::Dl16ToFp32)),
            (ElementOrderEffect::Narrow, None) => Ok(Some(ElementOrder::Fp32ToDl16)),
            (ElementOrderEffect::Widen, Some((_, NonstandardValue { order: ElementOrder::Fp32ToDl16, .. }))) => {
                Ok(None)
            }
            (ElementOrderEffect::Narrow, Some((_, NonstandardValue { order: ElementOrder::Dl16ToFp32, .. }))) => {
                Ok(None)
            }
            (ElementOrderEffect::Widen | ElementOrderEffect::Narrow, Some((tensor, value))) => {
                Err(fault(tensor, "an order that the conversion restores", value))
            }
            (ElementOrderEffect::Standard, Some((tensor, value))) => Err(fault(tensor, "the standard order", value)),
            (ElementOrderEffect::Normalize, _) => Ok(order),
            (ElementOrderEffect::Keep, _) => {
                match (found, inputs.iter().find(|(_, value)| value.map(|value| value.order) != order)) {
                    (Some((tensor, value)), Some(_)) => {
                        Err(fault(tensor, "one order of all operands along the sticks", value))
                    }
                    (_, None) | (None, _) => Ok(order),
                }
            }
        }
    }

    fn find_value(&self, tensor: &TensorFacts) -> Option<&NonstandardValue> {
        let (memory, start, end) = locate_tensor(tensor)?;
        self.0.iter().find(|value| value.memory == memory && value.start < end && start < value.end)
    }
}

/// Checks the launches of a program in order: a launch may restore the order of a value that an earlier one staggered.
/// Results must be in standard order.
pub(super) fn check(program: &Program, bundles: &BTreeMap<String, BundleFacts>, report: &mut ViolationReport) {
    let mut staggered: BTreeMap<&str, ElementOrder> = BTreeMap::new();
    for launch in &program.launches {
        let Some(facts) = bundles.get(&launch.bundle) else { continue };
        let names = || launch.arguments.iter().map(String::as_str).enumerate();
        let mut values = ElementOrderState::new(
            &names().filter_map(|(argument, name)| Some((argument, *staggered.get(name)?))).collect(),
        );
        for fault in values.execute_all(&facts.order, &facts.executes) {
            report.enter_file(join_path(&launch.bundle, &fault.file));
            report.report_json(fault.path, fault.message);
        }
        let left = values.nonstandard_arguments();
        for (argument, name) in names() {
            match left.get(&argument) {
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

/// Returns the memory of a tensor and its byte range.
fn locate_tensor(tensor: &TensorFacts) -> Option<(AddressSpace, i64, i64)> {
    match &tensor.place {
        TensorAddress::Lx(part) => Some((AddressSpace::Lx, part.start, part.end)),
        TensorAddress::Hbm { base, first, end, .. } => Some((AddressSpace::Hbm(*base), *first, *end)),
        TensorAddress::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        TensorFacts { path: format!("/{start}"), is_result, fills_sticks, tables: None, place }
    }

    fn op(transfer: ElementOrderEffect, inputs: &[(i64, bool)], result: i64) -> FileFacts {
        let inputs = inputs.iter().map(|(start, fills)| tensor(*start, false, *fills));
        FileFacts { tensors: inputs.chain([tensor(result, true, true)]).collect(), transfer, ..FileFacts::default() }
    }

    fn first_fault(ops: &[FileFacts]) -> Option<String> {
        let mut values = ElementOrderState::default();
        ops.iter()
            .enumerate()
            .find_map(|(number, op)| values.execute(&format!("sdsc_{number}.json"), op))
            .map(|fault| fault.message)
    }

    #[test]
    fn restores_order_by_opposite_conversion() {
        let round = |first, second| {
            [
                op(first, &[(X, true)], Y),
                op(ElementOrderEffect::Keep, &[(Y, true)], Y),
                op(second, &[(Y, true)], Z),
                op(ElementOrderEffect::Standard, &[(Z, true)], X),
            ]
        };
        assert_eq!(first_fault(&round(ElementOrderEffect::Widen, ElementOrderEffect::Narrow)), None);
        assert_eq!(first_fault(&round(ElementOrderEffect::Narrow, ElementOrderEffect::Widen)), None);
        let twice = first_fault(&round(ElementOrderEffect::Widen, ElementOrderEffect::Widen)).unwrap();
        assert_eq!(
            twice,
            "expected an order that the conversion restores, found elements in the order DL16_TO_FP32 that sdsc_1.json left; convert them back first"
        );
    }

    #[test]
    fn requires_one_order_or_operands_equal_along_sticks() {
        let with = |fills| {
            [op(ElementOrderEffect::Widen, &[(X, true)], Y), op(ElementOrderEffect::Keep, &[(Y, true), (Z, fills)], Y)]
        };
        assert_eq!(first_fault(&with(false)), None);
        assert!(first_fault(&with(true)).unwrap().starts_with("expected one order of all operands along the sticks"));
        let both = [
            op(ElementOrderEffect::Widen, &[(X, true)], Y),
            op(ElementOrderEffect::Widen, &[(X, true)], Z),
            op(ElementOrderEffect::Keep, &[(Y, true), (Z, true)], Y),
            op(ElementOrderEffect::Reduce, &[(Y, true)], Z),
            op(ElementOrderEffect::Standard, &[(Z, true)], X),
        ];
        assert_eq!(first_fault(&both), None);
        let product =
            [op(ElementOrderEffect::Widen, &[(X, true)], Y), op(ElementOrderEffect::Standard, &[(Y, true)], Z)];
        assert!(first_fault(&product).unwrap().starts_with("expected the standard order"));
    }

    #[test]
    fn accepts_equal_elements_in_any_order() {
        let spread = op(ElementOrderEffect::Keep, &[(X, false)], Y);
        let narrowed = [
            spread.clone(),
            op(ElementOrderEffect::Narrow, &[(Y, true)], Z),
            op(ElementOrderEffect::Standard, &[(Z, true)], X),
        ];
        assert_eq!(first_fault(&narrowed), None);
        let beside = op(ElementOrderEffect::Keep, &[(Y, true), (X, true)], Z);
        let ordered = [
            spread,
            beside,
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

    #[test]
    fn passes_order_of_arguments_to_next_launch() {
        let values = ElementOrderState::new(&[(3, ElementOrder::Dl16ToFp32)].into());
        assert_eq!(values.nonstandard_arguments(), [(3, ElementOrder::Dl16ToFp32)].into());
    }
}
