//! Arrangements of the values of a bundle that was read from files, which do not state them.
//!
//! Conversions between 16-bit and 32-bit numbers stagger the elements of a stick ("element arrangement" facts, 2). Every
//! other op keeps the arrangement of its operands, and a reduction along the stick removes it.

use crate::bundle::{Allocation, Bundle, BundleItem, ElementArrangement, OpSpec, OpSpecOperand};
use machine::is_conversion;
use std::collections::BTreeMap;

/// Location of a value: kind of memory, kernel argument, and offset in bytes.
type ValueLocation = (u8, u32, i64);

/// Sets the arrangement of the operands of all ops, in the order of their execution.
pub(crate) fn infer_arrangements(bundle: &mut Bundle) {
    infer_in_items(&mut bundle.items, &mut BTreeMap::new());
}

fn infer_in_items(items: &mut [BundleItem], known: &mut BTreeMap<ValueLocation, ElementArrangement>) {
    for item in items {
        match item {
            BundleItem::Op(op) => infer_in_op(op, known),
            BundleItem::Loop { body, .. } => infer_in_items(body, known),
        }
    }
}

fn infer_in_op(op: &mut OpSpec, known: &mut BTreeMap<ValueLocation, ElementArrangement>) {
    let mut read = ElementArrangement::Standard;
    for operand in op.operands.iter_mut().filter(|operand| operand.is_input && is_convertible(operand)) {
        operand.arrangement = known.get(&location(operand)).copied().unwrap_or_default();
        if is_staggered(operand.arrangement) {
            read = operand.arrangement;
        }
    }
    let function = op.function.as_str();
    let converted = |operand: &OpSpecOperand| match (function, read) {
        _ if !moves_along_stick(operand) => ElementArrangement::Standard,
        ("dl16tofp32", ElementArrangement::Standard) => ElementArrangement::Dl16ToFp32,
        ("fp32todl16", ElementArrangement::Standard) => ElementArrangement::Fp32ToDl16,
        _ if is_conversion(function) => ElementArrangement::Standard,
        _ => read,
    };
    for operand in op.operands.iter_mut().filter(|operand| !operand.is_input && is_convertible(operand)) {
        operand.arrangement = converted(operand);
        known.insert(location(operand), operand.arrangement);
    }
}

/// Returns whether the elements have the order of a conversion between 16-bit and 32-bit numbers.
const fn is_staggered(arrangement: ElementArrangement) -> bool {
    matches!(arrangement, ElementArrangement::Dl16ToFp32 | ElementArrangement::Fp32ToDl16)
}

/// Returns whether an operand has no arrangement of another kind, such as that of 8-bit weights.
const fn is_convertible(operand: &OpSpecOperand) -> bool {
    matches!(operand.arrangement, ElementArrangement::Standard) || is_staggered(operand.arrangement)
}

fn moves_along_stick(operand: &OpSpecOperand) -> bool {
    operand.coordinates.last().is_some_and(|coordinate| coordinate.moving_dim().is_some())
}

fn location(operand: &OpSpecOperand) -> ValueLocation {
    match operand.allocation {
        Allocation::Hbm { argument, offset_bytes } => (0, argument, offset_bytes),
        Allocation::Pool { offset_bytes } => (1, 0, offset_bytes),
        Allocation::Lx { offset_bytes } => (2, 0, offset_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{dense_operand, op};

    /// Returns an op that reads LX at one offset and writes it at another.
    fn unary(function: &str, from: i64, to: i64) -> BundleItem {
        let mut spec = op(function, &[8, 128], vec![dense_operand(&[8, 128], 0, 1), dense_operand(&[8, 128], 0, 1)]);
        for (operand, offset_bytes) in spec.operands.iter_mut().zip([from, to]) {
            operand.allocation = Allocation::Lx { offset_bytes };
        }
        BundleItem::Op(Box::new(spec))
    }

    fn arrangements(items: Vec<BundleItem>) -> Vec<[ElementArrangement; 2]> {
        let mut bundle = Bundle { pool_bytes: 0, items };
        infer_arrangements(&mut bundle);
        bundle.ops().iter().map(|op| [op.operands[0].arrangement, op.operands[1].arrangement]).collect()
    }

    #[test]
    fn follows_conversions_through_ops() {
        use ElementArrangement::{Dl16ToFp32, Fp32ToDl16, Standard};
        let items = vec![unary("dl16tofp32", 0, 8192), unary("exp", 8192, 16384), unary("fp32todl16", 16384, 0)];
        assert_eq!(arrangements(items), [[Standard, Dl16ToFp32], [Dl16ToFp32, Dl16ToFp32], [Dl16ToFp32, Standard]]);
        let items = vec![unary("fp32todl16", 0, 8192), unary("dl16tofp32", 8192, 0), unary("exp", 0, 0)];
        assert_eq!(arrangements(items), [[Standard, Fp32ToDl16], [Fp32ToDl16, Standard], [Standard, Standard]]);
    }
}
