//! Constant folding of scalar operations: computes their elements, and marks the undefined ones.

use super::ScalarFunction;
use crate::import::{
    graph::{
        NodeElementType, NodeId, ValueGraph,
        constant_tensor::{ConstantTensor, MAX_CONSTANT_ELEMENTS, constant_limit_error},
    },
    rules::fold::{IntegerWidths, Undefined, find_integer_function, to_integer, to_number, wrap_to_width},
};

/// Constant folding of an operation.
#[derive(Clone, Copy)]
pub(super) enum ConstantFolding {
    /// Numbers from numbers.
    Numbers(fn(&[f64]) -> f64),
    /// Integers from integers, by [`find_integer_function`].
    Integers,
    /// A number from an integer, which is read as signed or unsigned.
    ToNumber { is_signed: bool },
    /// An integer from a number, signed or unsigned.
    ToInteger { is_signed: bool },
    /// The second or the third operand, of any type.
    Select,
}

/// Folded result of an operation, and its undefined elements.
pub(in crate::import) struct FoldedTensor {
    /// Elements; 0 where undefined.
    pub(in crate::import) known: ConstantTensor,
    /// The shape of the elements.
    pub(in crate::import) shape: Vec<i64>,
    /// Whether each element is undefined, and the reason for the first undefined one; None if all are defined.
    pub(in crate::import) undefined: Option<(Vec<bool>, Undefined)>,
}

impl ScalarFunction {
    /// Applies the operation to tables with one row per value of an index. A row without a value is one that no program
    /// may select.
    ///
    /// # Errors
    /// Returns an error if there are too many elements.
    pub(in crate::import::rules) fn fold_tables(
        &self,
        graph: &mut ValueGraph,
        tables: &[NodeId],
        element: NodeElementType,
        widths: IntegerWidths,
    ) -> Result<NodeId, String> {
        let FoldedTensor { known, shape, .. } = self.fold(graph, tables, element, widths)?;
        Ok(graph.add_constant(known, shape, element))
    }

    /// Folds the operation on one integer per operand; returns None if there is no value.
    pub(in crate::import::rules) fn fold_integers(&self, operands: &[i64], widths: IntegerWidths) -> Option<i64> {
        match self.fold {
            ConstantFolding::Integers => find_integer_function(self.name)?(operands, widths).ok(),
            ConstantFolding::Select => operands.get(if operands[0] == 0 { 2 } else { 1 }).copied(),
            ConstantFolding::Numbers(_) | ConstantFolding::ToNumber { .. } | ConstantFolding::ToInteger { .. } => None,
        }
    }

    /// Folds the operation on constant operands, with elements of type `element`.
    ///
    /// # Errors
    /// Returns an error if there are too many elements.
    pub(in crate::import) fn fold(
        &self,
        graph: &ValueGraph,
        inputs: &[NodeId],
        element: NodeElementType,
        widths: IntegerWidths,
    ) -> Result<FoldedTensor, String> {
        let shape = graph.compute_broadcast_shape(inputs);
        let num_elements: i64 = shape.iter().product();
        if num_elements > MAX_CONSTANT_ELEMENTS {
            return Err(constant_limit_error(num_elements));
        }
        let operands = collect_constant_operands(graph, inputs);
        let (mut position, mut undefined) = (0_usize, None);
        let mut integer = |found: Result<i64, Undefined>| {
            position += 1;
            match found {
                // A truth value is 0 or 1; as an integer of one bit, true is -1.
                Ok(found) => {
                    if element == NodeElementType::Bool {
                        found & 1
                    } else {
                        found
                    }
                }
                Err(reason) => {
                    let (places, _) = undefined.get_or_insert_with(|| (Vec::new(), reason));
                    places.push(position - 1);
                    0
                }
            }
        };
        let known =
            match self.fold {
                ConstantFolding::Numbers(evaluate) => ConstantTensor::map_elementwise(&operands, &shape, evaluate),
                ConstantFolding::Integers => {
                    let function =
                        find_integer_function(self.name).ok_or_else(|| format!("'{}' is not folded", self.name))?;
                    let mut own = vec![0; operands.len()];
                    ConstantTensor::map_integers(&operands, &shape, |given| {
                        own.iter_mut().zip(given).for_each(|(own, &given)| *own = wrap_to_width(given, widths.operand));
                        integer(function(&own, widths))
                    })
                }
                ConstantFolding::ToNumber { is_signed } => {
                    ConstantTensor::map_integers_to_numbers(&operands, &shape, |given| {
                        to_number(wrap_to_width(given[0], widths.operand), widths.operand, is_signed)
                    })
                }
                ConstantFolding::ToInteger { is_signed } => {
                    ConstantTensor::map_numbers_to_integers(&operands, &shape, |given| {
                        integer(to_integer(given[0], widths.result, is_signed))
                    })
                }
                ConstantFolding::Select if element == NodeElementType::Int => ConstantTensor::map_integers(
                    &operands,
                    &shape,
                    |given| if given[0] == 0 { given[2] } else { given[1] },
                ),
                ConstantFolding::Select => ConstantTensor::map_elementwise(&operands, &shape, |given| {
                    if given[0] == 0.0 { given[2] } else { given[1] }
                }),
            };
        let undefined = undefined.map(|(places, reason)| {
            let mut is_undefined = vec![false; position];
            places.into_iter().for_each(|place| is_undefined[place] = true);
            (is_undefined, reason)
        });
        Ok(FoldedTensor { known, shape, undefined })
    }

    /// Returns numbers that were folded exactly, with those of the program where the exact ones are not finite. `round`
    /// rounds to the type of the result.
    pub(in crate::import) fn apply_program_rounding(
        &self,
        graph: &ValueGraph,
        inputs: &[NodeId],
        folded: FoldedTensor,
        round: fn(f64) -> f64,
    ) -> FoldedTensor {
        let ConstantFolding::Numbers(evaluate) = self.fold else { return folded };
        let (operands, may_cancel) =
            (collect_constant_operands(graph, inputs), matches!(self.name, "arith.addf" | "arith.subf"));
        let known = ConstantTensor::apply_program_rounding(
            folded.known,
            &operands,
            &folded.shape,
            (evaluate, may_cancel),
            round,
        );
        FoldedTensor { known, ..folded }
    }
}

fn collect_constant_operands<'g>(graph: &'g ValueGraph, inputs: &[NodeId]) -> Vec<(&'g ConstantTensor, &'g [i64])> {
    inputs.iter().filter_map(|&input| Some((graph.as_constant(input)?, graph.node(input).shape.as_slice()))).collect()
}
