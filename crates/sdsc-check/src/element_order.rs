//! Order of elements in sticks: conversions between 16-bit and 32-bit numbers stagger them, in groups of four.
//!
//! A value is in standard order, or staggered by one of the two conversions, or equal along each stick, which has no order. The opposite
//! conversion restores the order, and so does a reduction along the sticks, whose result does not depend on it. Other ops compute position by
//! position: their operands have one order, or are equal along the sticks. Matrix products and changes of layout need the standard order, and
//! so does the host.
//!
//! The analysis walks over the executes in the order of the text, loop bodies once.

use super::BundleFacts;
use super::facts::{FileFacts, Place, TensorFacts};
use super::flow::Fault;
use super::launch::Base;
use super::lives::Order;
use super::report::Report;
use super::transfer::Transfer;
use super::tree::path_in;
use sdsc_format::program::{FILE_NAME, Program};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// Order of the elements of a value other than the standard one: the conversion that has staggered them, by torch-spyre's name, or none.
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

/// Memory with addresses of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Memory {
    Lx,
    Hbm(Base),
}

/// A value that is not in standard order.
#[derive(Clone, Debug)]
struct Staggered {
    memory: Memory,
    start: i64,
    end: i64,
    order: ElementOrder,
    /// File that wrote it; empty for an earlier launch.
    writer: String,
}

/// The values that are not in standard order, of a walk over the executes of a bundle.
#[derive(Debug, Default)]
pub(super) struct OrderedValues(Vec<Staggered>);

impl OrderedValues {
    /// Returns the values at the start of a bundle: kernel arguments that earlier launches have staggered.
    pub(super) fn new(arguments: &BTreeMap<usize, ElementOrder>) -> Self {
        let staggered = |(argument, order): (&usize, &ElementOrder)| {
            let memory = Memory::Hbm(Base::Argument(*argument));
            Staggered { memory, start: 0, end: i64::MAX, order: *order, writer: String::new() }
        };
        Self(arguments.iter().map(staggered).collect())
    }

    /// Executes a bundle, given the facts of each execute; returns the faults.
    pub(super) fn run(&mut self, order: &Order, executes: &[Option<Rc<FileFacts>>]) -> Vec<Fault> {
        let mut faults = Vec::new();
        for (name, facts) in order.files().zip(executes).filter_map(|(name, facts)| Some((name, facts.as_deref()?))) {
            let fault = self.execute(name, facts).filter(|fault| !faults.contains(fault));
            faults.extend(fault);
        }
        faults
    }

    /// Returns the kernel arguments that hold a value in another than the standard order.
    pub(super) fn arguments(&self) -> BTreeMap<usize, ElementOrder> {
        let argument = |value: &Staggered| match value.memory {
            Memory::Hbm(Base::Argument(argument)) => Some((argument, value.order)),
            Memory::Hbm(Base::Pool(_) | Base::Parameter(_)) | Memory::Lx => None,
        };
        self.0.iter().filter_map(argument).collect()
    }

    /// Executes an op: compares the orders of its operands, and records the order of its result.
    fn execute(&mut self, file: &str, facts: &FileFacts) -> Option<Fault> {
        let result = facts.tensors.iter().find(|tensor| tensor.is_result)?;
        let order = self.order_of_result(file, facts);
        let (memory, start, end) = extent(result)?;
        // Of an argument of unknown size, a value at its start replaces all.
        let is_replaced = |value: &Staggered| {
            let overlaps = value.memory == memory && value.start < end && start < value.end;
            overlaps && (value.end < i64::MAX || start == value.start)
        };
        self.0.retain(|value| !is_replaced(value));
        match order {
            Ok(order) => {
                let order = order.filter(|_| result.fills_sticks);
                self.0.extend(order.map(|order| Staggered { memory, start, end, order, writer: file.to_owned() }));
                None
            }
            Err(fault) => Some(fault),
        }
    }

    fn order_of_result(&self, file: &str, facts: &FileFacts) -> Result<Option<ElementOrder>, Fault> {
        let inputs: Vec<(&TensorFacts, Option<&Staggered>)> = facts
            .tensors
            .iter()
            .filter(|tensor| !tensor.is_result && tensor.fills_sticks)
            .map(|tensor| (tensor, self.find(tensor)))
            .filter(|(_, value)| value.is_none_or(|value| value.order != ElementOrder::Equal))
            .collect();
        let found = inputs.iter().find_map(|(tensor, value)| Some((*tensor, (*value)?)));
        let order = found.map(|(_, value)| value.order);
        let fault = |tensor: &TensorFacts, expected: &str, value: &Staggered| {
            let writer = if value.writer.is_empty() { "an earlier launch" } else { &value.writer };
            let message =
                format!("expected {expected}, found elements in the order {} that {writer} left; convert them back first", value.order);
            Fault { file: file.to_owned(), path: tensor.path.clone(), message }
        };
        match (facts.transfer, found) {
            (Transfer::Widen | Transfer::Narrow | Transfer::Keep, None) if inputs.is_empty() => Ok(Some(ElementOrder::Equal)),
            (Transfer::Reduce, _) | (Transfer::Standard, None) => Ok(None),
            (Transfer::Widen, None) => Ok(Some(ElementOrder::Dl16ToFp32)),
            (Transfer::Narrow, None) => Ok(Some(ElementOrder::Fp32ToDl16)),
            (Transfer::Widen, Some((_, Staggered { order: ElementOrder::Fp32ToDl16, .. }))) => Ok(None),
            (Transfer::Narrow, Some((_, Staggered { order: ElementOrder::Dl16ToFp32, .. }))) => Ok(None),
            (Transfer::Widen | Transfer::Narrow, Some((tensor, value))) => {
                Err(fault(tensor, "an order that the conversion restores", value))
            }
            (Transfer::Standard, Some((tensor, value))) => Err(fault(tensor, "the standard order", value)),
            (Transfer::Normalize, _) => Ok(order),
            (Transfer::Keep, _) => match (found, inputs.iter().find(|(_, value)| value.map(|value| value.order) != order)) {
                (Some((tensor, value)), Some(_)) => Err(fault(tensor, "one order of all operands along the sticks", value)),
                (_, None) | (None, _) => Ok(order),
            },
        }
    }

    fn find(&self, tensor: &TensorFacts) -> Option<&Staggered> {
        let (memory, start, end) = extent(tensor)?;
        self.0.iter().find(|value| value.memory == memory && value.start < end && start < value.end)
    }
}

/// Checks the launches of a program in order: what one leaves staggered, another may restore. Results are in standard order.
pub(super) fn check(program: &Program, bundles: &BTreeMap<String, BundleFacts>, report: &mut Report) {
    let mut staggered: BTreeMap<&str, ElementOrder> = BTreeMap::new();
    for launch in &program.launches {
        let Some(facts) = bundles.get(&launch.bundle) else { continue };
        let names = || launch.arguments.iter().map(String::as_str).enumerate();
        let mut values = OrderedValues::new(&names().filter_map(|(argument, name)| Some((argument, *staggered.get(name)?))).collect());
        for fault in values.run(&facts.order, &facts.executes) {
            report.enter_file(path_in(&launch.bundle, &fault.file));
            report.json(fault.path, fault.message);
        }
        let left = values.arguments();
        for (argument, name) in names() {
            match left.get(&argument) {
                Some(order) => drop(staggered.insert(name, *order)),
                None => drop(staggered.remove(name)),
            }
        }
    }
    report.enter_file(FILE_NAME);
    for (number, result) in program.results.iter().enumerate() {
        if let Some(order) = staggered.get(&*result.name).filter(|order| **order != ElementOrder::Equal) {
            let message =
                format!("expected '{}' in the standard order, which the host reads, found {order}; convert it back first", result.name);
            report.json(format!("/results/{number}"), message);
        }
    }
}

/// Memory and bytes of a tensor.
fn extent(tensor: &TensorFacts) -> Option<(Memory, i64, i64)> {
    match &tensor.place {
        Place::Lx(part) => Some((Memory::Lx, part.start, part.end)),
        Place::Hbm { base, first, end, .. } => Some((Memory::Hbm(*base), *first, *end)),
        Place::Unknown => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const X: i64 = 0;
    const Y: i64 = 1000;
    const Z: i64 = 2000;

    fn tensor(start: i64, is_result: bool, fills_sticks: bool) -> TensorFacts {
        let place = Place::Hbm {
            base: Base::Pool(0),
            first: start,
            end: start + 512,
            begins: vec![start],
            whole: start + 512,
            sticks: vec![4],
            n_dims: 1,
            reach: Some(start + 512),
        };
        TensorFacts { path: format!("/{start}"), is_result, fills_sticks, tables: None, place }
    }

    fn op(transfer: Transfer, inputs: &[(i64, bool)], result: i64) -> FileFacts {
        let inputs = inputs.iter().map(|(start, fills)| tensor(*start, false, *fills));
        FileFacts { tensors: inputs.chain([tensor(result, true, true)]).collect(), transfer, ..FileFacts::default() }
    }

    fn first_fault(ops: &[FileFacts]) -> Option<String> {
        let mut values = OrderedValues::default();
        ops.iter().enumerate().find_map(|(number, op)| values.execute(&format!("sdsc_{number}.json"), op)).map(|fault| fault.message)
    }

    #[test]
    fn each_conversion_restores_what_the_other_staggered() {
        let round = |first, second| {
            [
                op(first, &[(X, true)], Y),
                op(Transfer::Keep, &[(Y, true)], Y),
                op(second, &[(Y, true)], Z),
                op(Transfer::Standard, &[(Z, true)], X),
            ]
        };
        assert_eq!(first_fault(&round(Transfer::Widen, Transfer::Narrow)), None);
        assert_eq!(first_fault(&round(Transfer::Narrow, Transfer::Widen)), None);
        let twice = first_fault(&round(Transfer::Widen, Transfer::Widen)).unwrap();
        assert_eq!(
            twice,
            "expected an order that the conversion restores, found elements in the order DL16_TO_FP32 that sdsc_1.json left; convert them back first"
        );
    }

    #[test]
    fn operands_have_one_order_or_are_equal_along_the_sticks() {
        let with = |fills| [op(Transfer::Widen, &[(X, true)], Y), op(Transfer::Keep, &[(Y, true), (Z, fills)], Y)];
        assert_eq!(first_fault(&with(false)), None);
        assert!(first_fault(&with(true)).unwrap().starts_with("expected one order of all operands along the sticks"));
        let both = [
            op(Transfer::Widen, &[(X, true)], Y),
            op(Transfer::Widen, &[(X, true)], Z),
            op(Transfer::Keep, &[(Y, true), (Z, true)], Y),
            op(Transfer::Reduce, &[(Y, true)], Z),
            op(Transfer::Standard, &[(Z, true)], X),
        ];
        assert_eq!(first_fault(&both), None);
        let product = [op(Transfer::Widen, &[(X, true)], Y), op(Transfer::Standard, &[(Y, true)], Z)];
        assert!(first_fault(&product).unwrap().starts_with("expected the standard order"));
    }

    #[test]
    fn equal_elements_of_a_stick_have_no_order() {
        let spread = op(Transfer::Keep, &[(X, false)], Y);
        let narrowed = [spread.clone(), op(Transfer::Narrow, &[(Y, true)], Z), op(Transfer::Standard, &[(Z, true)], X)];
        assert_eq!(first_fault(&narrowed), None);
        let beside = op(Transfer::Keep, &[(Y, true), (X, true)], Z);
        let ordered = [spread, beside, op(Transfer::Narrow, &[(Z, true)], Z), op(Transfer::Standard, &[(Z, true)], X)];
        assert!(first_fault(&ordered).unwrap().starts_with("expected the standard order"));
    }

    #[test]
    fn what_overwrites_a_staggered_value_has_its_own_order() {
        let ops = [op(Transfer::Widen, &[(X, true)], Y), op(Transfer::Keep, &[(X, true)], Y), op(Transfer::Standard, &[(Y, true)], Z)];
        assert_eq!(first_fault(&ops), None);
    }

    #[test]
    fn arguments_carry_their_order_to_the_next_launch() {
        let values = OrderedValues::new(&[(3, ElementOrder::Dl16ToFp32)].into());
        assert_eq!(values.arguments(), [(3, ElementOrder::Dl16ToFp32)].into());
    }
}
