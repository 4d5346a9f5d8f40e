//! Helpers of all rules: the functions and formats of the device, the common element type of the operands, the sign.

use crate::{
    codes,
    import::graph::{NodeElementType, NodeId, ValueGraph},
};
use machine::{DeviceFormat, DeviceFunction};

/// Returns the common element type of the operands.
///
/// # Errors
/// Returns an error if there are two.
pub(in crate::import) fn common_element_type(elements: &[NodeElementType]) -> Result<NodeElementType, String> {
    match elements {
        [] => Err(codes::UNSUPPORTED
            .format("expected a runtime operand, found constants only; compute the result outside of the program")),
        [element] => Ok(*element),
        [first, second, ..] => Err(format!(
            "expected operands of one element type, found {} and {}; convert one of them",
            first.name(),
            second.name()
        )),
    }
}

pub(in crate::import) type NodeResult = Result<NodeId, String>;

/// Returns whether the device has the function for elements of that type.
pub(in crate::import) fn has_device_function(function: &str, element: NodeElementType) -> bool {
    let format = if element.is_single() { DeviceFormat::IeeeFp32 } else { DeviceFormat::Sen169Fp16 };
    DeviceFunction::find_pointwise(function).is_some_and(|row| row.supports(format))
}

pub(in crate::import) fn neg(graph: &mut ValueGraph, inputs: &[NodeId], element: NodeElementType) -> NodeResult {
    match graph.negation_operand(inputs[0]) {
        Some(undone) => Ok(undone),
        None => Ok(graph.add_pointwise("neg", inputs, element)),
    }
}
