//! `spyre-import-linalg`, one scalar operation: in a body, between numbers, or on tensors element by element.

use super::{
    cast::{CastTypes, element_type},
    importer::{FunctionImporter, is_single_precision, to_element_type},
};
use crate::{
    codes,
    import::{
        ConstantTensor, ScalarFunction, ScalarOp,
        graph::{NodeElementType, NodeId, NodeKind, constant_comparison, table_lookup},
        rules::{
            fold::{IntegerWidths, MAX_WIDTH},
            integers,
        },
    },
    mlir::{Location, Op, OpExt, ScalarType, Type, ValueLike},
};

impl<'c> FunctionImporter<'c> {
    /// Builds the node of operation `at` on finished nodes; if the device cannot compute it, a rejection at `location`
    /// of shape `shape`.
    pub(super) fn build_scalar_op(
        &mut self,
        at: Op<'c>,
        location: Location<'c>,
        scalar: &ScalarOp,
        operands: &[NodeId],
        shape: &[i64],
    ) -> NodeId {
        if let Some(rejected) = self.graph.find_unsupported(operands) {
            // An operand that is never selected need not be computed: negative positions are wrapped, but a computed
            // argmax is never negative.
            return match (operands, scalar.name.as_str()) {
                (&[condition, then, or], "arith.select") => {
                    self.graph.as_scalar(condition).map_or(rejected, |truth| if truth == 0.0 { or } else { then })
                }
                _ => rejected,
            };
        }
        self.record_op_at(at, location);
        let element =
            at.outputs().first().map_or(NodeElementType::F32, |output| self.scalar_element_type(output.r#type()));
        let operands = &self.mask_undefined_operands(&scalar.name, operands);
        let first = self.graph.len();
        let built = if scalar.is_cast() {
            self.build_cast(at, operands[0])
        } else {
            self.fold_op(at, location, &scalar.name, operands)
                .unwrap_or_else(|| self.build_runtime_op(at, &scalar.name, operands, element))
        };
        let built = built.map(|node| self.add_named_op(at, &scalar.name, operands, node));
        if let Ok(node) = built {
            self.record_absorbed(node, first, operands);
        }
        built.unwrap_or_else(|message| {
            let is_computed = |operand: &&NodeId| self.graph.find_digits(**operand).is_none();
            let cause =
                operands.iter().filter(is_computed).find_map(|&operand| self.graph.find_unsupported_fallback(operand));
            let rejected =
                cause.unwrap_or_else(|| self.add_unsupported(at, location, message, shape.to_vec(), element));
            match ScalarFunction::from_name(&scalar.name) {
                // The result may still be an index, or one side of a comparison.
                Some(function)
                    if function.computes_indices(&self.graph, operands) && may_occur_in_index(at)
                        || constant_comparison::is_comparison_side(
                            &self.graph,
                            function.name,
                            operands,
                            read_widths(at).result,
                        ) =>
                {
                    self.graph.add_virtual_op(function.name, operands, rejected, element)
                }
                _ => rejected,
            }
        })
    }

    /// Returns the operands of a select on a constant condition, in which elements without a value count only if the
    /// condition selects them.
    fn mask_undefined_operands(&mut self, name: &str, operands: &[NodeId]) -> Vec<NodeId> {
        let mut operands = operands.to_vec();
        let (true, &[condition, ..]) = (matches!(name, "arith.select" | ScalarOp::BRANCH), operands.as_slice()) else {
            return operands;
        };
        let Some(chosen) = self.graph.as_constant(condition).cloned() else { return operands };
        for (choice, is_then) in operands[1..].iter_mut().zip([true, false]) {
            let Some([known, is_undefined, rejected]) = self.graph.as_partial_constant(*choice) else { continue };
            let shape = self.graph.compute_broadcast_shape(&[condition, is_undefined]);
            let (Some(numbers), Some(undefined)) =
                (self.graph.as_constant(known), self.graph.as_constant(is_undefined))
            else {
                continue;
            };
            let own = self.graph.node(is_undefined).shape.clone();
            let of_condition = self.graph.node(condition).shape.clone();
            let is_chosen = |at: &[f64]| f64::from(u8::from(at[0] != 0.0 && (at[1] != 0.0) == is_then));
            let undefined =
                ConstantTensor::map_elementwise(&[(undefined, &own), (&chosen, &of_condition)], &shape, is_chosen);
            let (numbers, element) = (numbers.broadcast(&own, &shape), self.graph.node(known).element);
            let (known, is_undefined) = (
                self.graph.add_constant(numbers, shape.clone(), element),
                self.graph.add_constant(undefined, shape, NodeElementType::Bool),
            );
            *choice = self.graph.add_partial_constant(known, is_undefined, rejected);
        }
        operands
    }

    /// Folds an operation on constant operands; returns None if one is a runtime value. If some elements have no value,
    /// their uses are rejected.
    fn fold_op(
        &mut self,
        at: Op<'c>,
        location: Location<'c>,
        name: &str,
        operands: &[NodeId],
    ) -> Option<Result<NodeId, String>> {
        let parts: Vec<Option<[NodeId; 3]>> =
            operands.iter().map(|&operand| self.graph.as_partial_constant(operand)).collect();
        let known: Vec<NodeId> =
            operands.iter().zip(&parts).map(|(&operand, parts)| parts.map_or(operand, |parts| parts[0])).collect();
        if operands.is_empty() || !known.iter().all(|&operand| self.graph.as_constant(operand).is_some()) {
            return None;
        }
        let function = ScalarFunction::from_name(name)?;
        let element =
            at.outputs().first().map_or(NodeElementType::F32, |output| self.scalar_element_type(output.r#type()));
        if constant_comparison::is_comparison_side(&self.graph, name, operands, read_widths(at).result) {
            return None;
        }
        if let Some(compared) = constant_comparison::compare_at_runtime(&mut self.graph, name, operands) {
            return Some(Ok(compared));
        }
        if let Some(message) = find_width_error(at) {
            return Some(Err(message));
        }
        let folded = match function.fold(&self.graph, &known, element, read_widths(at)) {
            Ok(folded) => match at.outputs().first().and_then(|output| find_rounding(output.r#type())) {
                Some(round) => function.apply_program_rounding(&self.graph, &known, folded, round),
                None => folded,
            },
            Err(message) => return Some(Err(message)),
        };
        let found = self.graph.add_constant(folded.known, folded.shape.clone(), element);
        let node = match (folded.undefined, parts.iter().flatten().next()) {
            (None, None) => found,
            (Some((places, reason)), None) if places.iter().all(|&place| place) => {
                return Some(Err(reason.to_string()));
            }
            (undefined, inherited) => {
                let masks: Vec<NodeId> = parts.iter().flatten().map(|parts| parts[1]).collect();
                let mut known: Vec<(ConstantTensor, Vec<i64>)> = masks
                    .iter()
                    .filter_map(|&mask| {
                        Some((self.graph.as_constant(mask)?.clone(), self.graph.node(mask).shape.clone()))
                    })
                    .collect();
                let own = undefined.as_ref().map(|(places, _)| {
                    ConstantTensor::from_numbers(
                        &places.iter().map(|&place| f64::from(u8::from(place))).collect::<Vec<_>>(),
                    )
                });
                known.extend(own.map(|own| (own, folded.shape.clone())));
                let masks: Vec<(&ConstantTensor, &[i64])> =
                    known.iter().map(|(known, shape)| (known, shape.as_slice())).collect();
                let mask =
                    ConstantTensor::map_elementwise(&masks, &folded.shape, |at| at.iter().copied().fold(0.0, f64::max));
                let mask = self.graph.add_constant(mask, folded.shape.clone(), NodeElementType::Bool);
                let rejected = match (inherited, undefined) {
                    (Some(parts), _) => parts[2],
                    (None, Some((_, reason))) => {
                        self.add_unsupported(at, location, reason.to_string(), folded.shape, element)
                    }
                    (None, None) => return Some(Ok(found)),
                };
                self.graph.add_partial_constant(found, mask, rejected)
            }
        };
        self.record_wide_value(at, operands, node);
        Some(Ok(node))
    }

    /// Wraps `node` in a virtual op named after the operation on runtime integers, or after their comparison. Indices
    /// may be wrapped or clamped, and assertions may check one: rules recognize both by these names.
    fn add_named_op(&mut self, at: Op<'c>, name: &str, operands: &[NodeId], node: NodeId) -> NodeId {
        let Some(function) = ScalarFunction::from_name(name) else { return node };
        let element =
            at.outputs().first().map_or(NodeElementType::F32, |output| self.scalar_element_type(output.r#type()));
        let is_named = matches!(element, NodeElementType::Int | NodeElementType::Bool)
            && function.computes_indices(&self.graph, operands);
        let has_name = matches!(self.graph.node(node).kind, NodeKind::Virtual(_))
            && table_lookup::as_lookup(&self.graph, node).is_none();
        let is_decided =
            has_name || self.graph.as_constant(node).is_some() || self.graph.node(node).element == NodeElementType::Int;
        match is_named && !is_decided {
            true if may_occur_in_index(at) => self.graph.add_virtual_op(function.name, operands, node, element),
            true if element == NodeElementType::Int => self.graph.add_integers(node),
            _ => node,
        }
    }

    /// Returns the element type of a scalar or a tensor.
    pub(super) fn scalar_element_type(&self, of: Type<'c>) -> NodeElementType {
        to_element_type(element_type(of), self.half).unwrap_or(NodeElementType::F32)
    }

    fn build_runtime_op(
        &mut self,
        at: Op<'c>,
        name: &str,
        operands: &[NodeId],
        element: NodeElementType,
    ) -> Result<NodeId, String> {
        let function = ScalarFunction::from_name(name).ok_or(
            "has no device function yet; write it with ops of docs/reference/supported-ops.md, or compute it outside of the program",
        )?;
        if operands.iter().any(|&operand| self.graph.node(operand).kind == NodeKind::Undefined) {
            return Err(codes::UNWRITTEN.format("reads a tensor that no op has written; fill it first"));
        }
        if let Some(compared) = constant_comparison::compare_at_runtime(&mut self.graph, name, operands) {
            return Ok(compared);
        }
        if let Some(message) = find_width_error(at) {
            return Err(message);
        }
        let widths = read_widths(at);
        let is_side = constant_comparison::is_comparison_side(&self.graph, name, operands, widths.result);
        let sides = operands;
        let operands: Vec<NodeId> =
            operands.iter().map(|&operand| constant_comparison::resolve_side(&self.graph, operand)).collect();
        let cast = CastTypes::from_op(at);
        let of = |pick: fn(CastTypes<'c>) -> Type<'c>| cast.map(pick).map_or(ScalarType::Other, ScalarType::from_type);
        let from = of(|cast| cast.from);
        let operands = operands.as_slice();
        if function.computes_indices(&self.graph, operands) {
            let is_conversion =
                matches!(name, "arith.sitofp" | "arith.uitofp" | "arith.fptosi" | "arith.fptoui" | "arith.trunci");
            let built = match name {
                "arith.uitofp" | "arith.extui" if from == ScalarType::Integer(8) => {
                    integers::convert_unsigned_byte(&mut self.graph, function, operands[0], element, widths)
                }
                _ => integers::build_integer_op(&mut self.graph, function, operands, element, widths),
            };
            return built.map_err(|message| match cast {
                Some(CastTypes { from, to }) if is_conversion => codes::CONVERSION.format(format_args!(
                    "of runtime values from {from} to {to} is not supported; convert the values before the export"
                )),
                _ => message,
            });
        }
        self.graph.is_single_operation = self.keeps_angles()
            && at.outputs().first().is_some_and(|output| is_single_precision(element_type(output.r#type())));
        let node = function.build(&mut self.graph, operands, element, widths)?;
        self.record_wide_value(at, operands, node);
        Ok(if is_side { self.graph.add_virtual_op(function.name, sides, node, element) } else { node })
    }

    /// Builds a change of number format, which is a no-op within an f32 region.
    fn build_cast(&mut self, at: Op<'c>, operand: NodeId) -> Result<NodeId, String> {
        let Some(cast) = CastTypes::from_op(at) else { return Ok(operand) };
        // Constants are rounded when they are written, except to 8 bits.
        let is_wider = ScalarType::from_type(cast.to).element_type().is_some_and(|element| !element.is_f8());
        if self.graph.as_constant(operand).is_none() || !is_wider {
            self.fold_cast(cast)?;
            self.record_cast(at, operand);
        }
        Ok(operand)
    }
}

/// Returns the width of an integer type in bits; the maximum width for other types, whose width is never read.
fn integer_width(of: Type<'_>) -> u32 {
    ScalarType::from_type(of).width().unwrap_or(MAX_WIDTH)
}

/// Returns the integer types of the operand and the result of an operation.
fn read_widths(at: Op<'_>) -> IntegerWidths {
    CastTypes::from_op(at).map_or(IntegerWidths::uniform(MAX_WIDTH), |CastTypes { from, to }| IntegerWidths {
        operand: integer_width(from),
        result: integer_width(to),
    })
}

/// Returns the function that rounds to a floating-point type. Returns None for f64, in which constants are folded.
fn find_rounding(of: Type<'_>) -> Option<fn(f64) -> f64> {
    match ScalarType::from_type(element_type(of)) {
        ScalarType::F16 => Some(|number| half::f16::from_f64(number).to_f64()),
        ScalarType::Bf16 => Some(|number| half::bf16::from_f64(number).to_f64()),
        #[allow(clippy::cast_possible_truncation, reason = "rounds on purpose")]
        ScalarType::F32 => Some(|number| f64::from(number as f32)),
        _ => None,
    }
}

/// Returns the reason to reject an operation whose integers are wider than all supported ones.
fn find_width_error(at: Op<'_>) -> Option<String> {
    let IntegerWidths { operand, result } = read_widths(at);
    let width = operand.max(result);
    (width > MAX_WIDTH).then(|| {
        codes::INTEGER_WIDTH.format(format_args!("expected integers of at most {MAX_WIDTH} bits, found {width}"))
    })
}

/// Returns whether an operation on runtime integers may occur in an index, by its name alone. Types of 32 bits or more
/// represent every index; no narrower type is known to represent all of its rows.
fn may_occur_in_index(at: Op<'_>) -> bool {
    let IntegerWidths { operand, result } = read_widths(at);
    let is_truth = |width: u32| width == 1;
    let of_truths =
        matches!(at.full_name(), "arith.andi" | "arith.ori" | "arith.xori" | "arith.select" | ScalarOp::BRANCH);
    let is_wide = |width: u32| width >= i32::BITS;
    (is_wide(operand) || of_truths && is_truth(operand)) && (is_wide(result) || is_truth(result))
}
