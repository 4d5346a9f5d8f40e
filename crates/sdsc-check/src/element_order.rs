//! Dataflow analysis of the order of elements in sticks. Conversions between 16-bit and 32-bit numbers stagger the
//! elements, in groups of four.
//!
//! A value is in standard order, is staggered by one of the two conversions, or is constant along each stick (any
//! order). The opposite conversion restores the standard order. A reduction along the sticks accepts any order.
//! Elementwise ops need operands in one common order; an operand that is constant along the sticks has every order.
//! Matmuls, relayouts and the host need the standard order. The analysis visits the executes in program order, and each
//! loop body once.

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
#[derive(Clone, Debug)]
struct NonstandardValue {
    memory: AddressSpace,
    start: i64,
    end: i64,
    order: ElementOrder,
    /// File that wrote the value; empty if an earlier launch wrote it.
    writer: String,
}

/// State of the analysis: the values that are in a nonstandard order.
#[derive(Debug, Default)]
pub(super) struct ElementOrderState(Vec<NonstandardValue>);

impl ElementOrderState {
    /// Creates the state at the start of a bundle. `arguments` are the kernel arguments that earlier launches left in a
    /// nonstandard order.
    pub(super) fn new(arguments: &BTreeMap<usize, ElementOrder>) -> Self {
        let to_value = |(argument, order): (&usize, &ElementOrder)| {
            let memory = AddressSpace::Hbm(ValueBase::Argument(*argument));
            NonstandardValue { memory, start: 0, end: i64::MAX, order: *order, writer: String::new() }
        };
        Self(arguments.iter().map(to_value).collect())
    }

    /// Applies the executes of a bundle to the state, given the facts about each execute. Returns the faults.
    pub(super) fn apply_executes(
        &mut self,
        order: &ExecuteOrder,
        executes: &[Option<Rc<FileFacts>>],
    ) -> Vec<FlowFault> {
        let mut faults = Vec::new();
        for (name, facts) in
            order.file_names().zip(executes).filter_map(|(name, facts)| Some((name, facts.as_deref()?)))
        {
            let fault = self.apply_execute(name, facts).filter(|fault| !faults.contains(fault));
            faults.extend(fault);
        }
        faults
    }

    /// Returns the kernel arguments that hold a value in a nonstandard order.
    pub(super) fn nonstandard_arguments(&self) -> BTreeMap<usize, ElementOrder> {
        let to_argument = |value: &NonstandardValue| match value.memory {
            AddressSpace::Hbm(ValueBase::Argument(argument)) => Some((argument, value.order)),
            AddressSpace::Hbm(ValueBase::Pool(_) | ValueBase::Parameter(_)) | AddressSpace::Lx => None,
        };
        self.0.iter().filter_map(to_argument).collect()
    }

    /// Applies an op to the state: checks the orders of its operands, and records the order of its result.
    fn apply_execute(&mut self, file: &str, facts: &FileFacts) -> Option<FlowFault> {
        let result = facts.tensors.iter().find(|tensor| tensor.is_result)?;
        let order = self.compute_result_order(file, facts);
        let (memory, start, end) = locate_tensor(result)?;
        // An argument of an earlier launch has no known end, so only a write at its start replaces it.
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
        let nonstandard_input = inputs.iter().find_map(|(tensor, value)| Some((*tensor, (*value)?)));
        let order = nonstandard_input.map(|(_, value)| value.order);
        let fault = |tensor: &TensorFacts, expected: &str, value: &NonstandardValue| {
            let writer = if value.writer.is_empty() { "an earlier launch" } else { &value.writer };
            let message = format!(
                "expected {expected}, found elements in the order {} that {writer} left; convert them back first",
                value.order
            );
            FlowFault { file: file.to_owned(), path: tensor.path.clone(), message }
        };
        match (facts.transfer, nonstandard_input) {
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
                match (nonstandard_input, inputs.iter().find(|(_, value)| value.map(|value| value.order) != order)) {
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
        TensorFacts { path: format!("/{start}"), is_result, fills_sticks, tables: None, place }
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

    #[test]
    fn passes_order_of_arguments_to_next_launch() {
        let state = ElementOrderState::new(&[(3, ElementOrder::Dl16ToFp32)].into());
        assert_eq!(state.nonstandard_arguments(), [(3, ElementOrder::Dl16ToFp32)].into());
    }
}
