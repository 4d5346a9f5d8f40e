//! `spyre-import-linalg`, one scalar operation: in a body, between numbers, or on tensors element by element.

use super::{
    cast::{Cast, element_type},
    importer::{Importer, element_of, is_single},
};
use crate::{
    codes,
    import::{
        Known, ScalarFunction, ScalarOp,
        graph::{Element, Kind, NodeId, order, rows},
        rules::{
            fold::{MAX_WIDTH, Widths},
            integers,
        },
    },
    mlir::{Location, Op, OpExt, ScalarType, Type, ValueLike},
};

impl<'c> Importer<'c> {
    /// Builds the node of operation `at` on finished nodes; if the device cannot compute it, a rejection at `location` of shape `shape`.
    pub(super) fn scalar_op(
        &mut self,
        at: Op<'c>,
        location: Location<'c>,
        scalar: &ScalarOp,
        operands: &[NodeId],
        shape: &[i64],
    ) -> NodeId {
        if let Some(refused) = self.graph.refused_among(operands) {
            // An operand that is never selected need not be computed: negative positions are wrapped, but a computed argmax is never
            // negative.
            return match (operands, scalar.name.as_str()) {
                (&[condition, then, or], "arith.select") => {
                    self.graph.number_of(condition).map_or(refused, |truth| if truth == 0.0 { or } else { then })
                }
                _ => refused,
            };
        }
        self.note_place(location);
        let element = at.outputs().first().map_or(Element::F32, |output| self.scalar_element(output.r#type()));
        let operands = &self.with_values(&scalar.name, operands);
        let first = self.graph.len();
        let built = if scalar.is_cast() {
            self.cast(at, operands[0])
        } else {
            self.folded(at, location, &scalar.name, operands).unwrap_or_else(|| self.computed(at, &scalar.name, operands, element))
        };
        let built = built.map(|node| self.with_its_name(at, &scalar.name, operands, node));
        if let Ok(node) = built {
            self.note_absorbed(node, first, operands);
        }
        built.unwrap_or_else(|message| {
            let is_computed = |operand: &&NodeId| self.graph.digits_of(**operand).is_none();
            let cause = operands.iter().filter(is_computed).find_map(|&operand| self.graph.refusal_behind(operand));
            let refused = cause.unwrap_or_else(|| self.refused(at, location, message, shape.to_vec(), element));
            match ScalarFunction::named(&scalar.name) {
                // The result may still be an index, or one side of a comparison.
                Some(function)
                    if function.computes_indices(&self.graph, operands) && may_be_named(at)
                        || order::is_side(&self.graph, function.name, operands, widths_of(at).result) =>
                {
                    self.graph.virtual_op(function.name, operands, refused, element)
                }
                _ => refused,
            }
        })
    }

    /// Returns the operands of a select on a constant condition, in which elements without a value count only if the condition selects them.
    fn with_values(&mut self, name: &str, operands: &[NodeId]) -> Vec<NodeId> {
        let mut operands = operands.to_vec();
        let (true, &[condition, ..]) = (matches!(name, "arith.select" | ScalarOp::BRANCH), operands.as_slice()) else { return operands };
        let Some(chosen) = self.graph.known_of(condition).cloned() else { return operands };
        for (choice, is_then) in operands[1..].iter_mut().zip([true, false]) {
            let Some([known, is_undefined, refused]) = self.graph.parts_of_partly_known(*choice) else { continue };
            let shape = self.graph.broadcast_shape(&[condition, is_undefined]);
            let (Some(numbers), Some(undefined)) = (self.graph.known_of(known), self.graph.known_of(is_undefined)) else { continue };
            let own = self.graph.node(is_undefined).shape.clone();
            let of_condition = self.graph.node(condition).shape.clone();
            let is_chosen = |at: &[f64]| f64::from(u8::from(at[0] != 0.0 && (at[1] != 0.0) == is_then));
            let undefined = Known::combined(&[(undefined, &own), (&chosen, &of_condition)], &shape, is_chosen);
            let (numbers, element) = (numbers.broadcast(&own, &shape), self.graph.node(known).element);
            let (known, is_undefined) =
                (self.graph.known(numbers, shape.clone(), element), self.graph.known(undefined, shape, Element::Bool));
            *choice = self.graph.partly_known(known, is_undefined, refused);
        }
        operands
    }

    /// Folds an operation on constant operands; returns None if one is a runtime value. If some elements have no value, their uses are
    /// rejected.
    fn folded(&mut self, at: Op<'c>, location: Location<'c>, name: &str, operands: &[NodeId]) -> Option<Result<NodeId, String>> {
        let parts: Vec<Option<[NodeId; 3]>> = operands.iter().map(|&operand| self.graph.parts_of_partly_known(operand)).collect();
        let known: Vec<NodeId> = operands.iter().zip(&parts).map(|(&operand, parts)| parts.map_or(operand, |parts| parts[0])).collect();
        if operands.is_empty() || !known.iter().all(|&operand| self.graph.known_of(operand).is_some()) {
            return None;
        }
        let function = ScalarFunction::named(name)?;
        let element = at.outputs().first().map_or(Element::F32, |output| self.scalar_element(output.r#type()));
        if order::is_side(&self.graph, name, operands, widths_of(at).result) {
            return None;
        }
        if let Some(compared) = order::compared_at_run_time(&mut self.graph, name, operands) {
            return Some(Ok(compared));
        }
        if let Some(message) = too_wide(at) {
            return Some(Err(message));
        }
        let folded = match function.fold(&self.graph, &known, element, widths_of(at)) {
            Ok(folded) => match at.outputs().first().and_then(|output| rounding_to(output.r#type())) {
                Some(round) => function.rounded_as_written(&self.graph, &known, folded, round),
                None => folded,
            },
            Err(message) => return Some(Err(message)),
        };
        let found = self.graph.known(folded.known, folded.shape.clone(), element);
        let node = match (folded.undefined, parts.iter().flatten().next()) {
            (None, None) => found,
            (Some((places, reason)), None) if places.iter().all(|&place| place) => return Some(Err(reason.to_string())),
            (undefined, inherited) => {
                let masks: Vec<NodeId> = parts.iter().flatten().map(|parts| parts[1]).collect();
                let mut known: Vec<(Known, Vec<i64>)> = masks
                    .iter()
                    .filter_map(|&mask| Some((self.graph.known_of(mask)?.clone(), self.graph.node(mask).shape.clone())))
                    .collect();
                let own = undefined
                    .as_ref()
                    .map(|(places, _)| Known::table(&places.iter().map(|&place| f64::from(u8::from(place))).collect::<Vec<_>>()));
                known.extend(own.map(|own| (own, folded.shape.clone())));
                let masks: Vec<(&Known, &[i64])> = known.iter().map(|(known, shape)| (known, shape.as_slice())).collect();
                let mask = Known::combined(&masks, &folded.shape, |at| at.iter().copied().fold(0.0, f64::max));
                let mask = self.graph.known(mask, folded.shape.clone(), Element::Bool);
                let refused = match (inherited, undefined) {
                    (Some(parts), _) => parts[2],
                    (None, Some((_, reason))) => self.refused(at, location, reason.to_string(), folded.shape, element),
                    (None, None) => return Some(Ok(found)),
                };
                self.graph.partly_known(found, mask, refused)
            }
        };
        self.note_wide(at, operands, node);
        Some(Ok(node))
    }

    /// Records the operation on runtime integers, or their comparison, by name in a virtual op around `node`: an index may be wrapped or
    /// clamped, and an assertion may check one.
    fn with_its_name(&mut self, at: Op<'c>, name: &str, operands: &[NodeId], node: NodeId) -> NodeId {
        let Some(function) = ScalarFunction::named(name) else { return node };
        let element = at.outputs().first().map_or(Element::F32, |output| self.scalar_element(output.r#type()));
        let is_named = matches!(element, Element::Int | Element::Bool) && function.computes_indices(&self.graph, operands);
        let has_name = matches!(self.graph.node(node).kind, Kind::Virtual(_)) && rows::parts(&self.graph, node).is_none();
        let is_decided = has_name || self.graph.known_of(node).is_some() || self.graph.node(node).element == Element::Int;
        match is_named && !is_decided {
            true if may_be_named(at) => self.graph.virtual_op(function.name, operands, node, element),
            true if element == Element::Int => self.graph.as_integers(node),
            _ => node,
        }
    }

    /// Returns the element type of a scalar or a tensor.
    pub(super) fn scalar_element(&self, of: Type<'c>) -> Element {
        element_of(element_type(of), self.half).unwrap_or(Element::F32)
    }

    fn computed(&mut self, at: Op<'c>, name: &str, operands: &[NodeId], element: Element) -> Result<NodeId, String> {
        let function = ScalarFunction::named(name).ok_or(
            "has no device function yet; write it with ops of docs/reference/supported-ops.md, or compute it outside of the program",
        )?;
        if operands.iter().any(|&operand| self.graph.node(operand).kind == Kind::Undefined) {
            return Err(codes::UNWRITTEN.says("reads a tensor that no op has written; fill it first"));
        }
        if let Some(compared) = order::compared_at_run_time(&mut self.graph, name, operands) {
            return Ok(compared);
        }
        if let Some(message) = too_wide(at) {
            return Err(message);
        }
        let widths = widths_of(at);
        let is_side = order::is_side(&self.graph, name, operands, widths.result);
        let sides = operands;
        let operands: Vec<NodeId> = operands.iter().map(|&operand| order::numbers_of_side(&self.graph, operand)).collect();
        let cast = Cast::of(at);
        let of = |pick: fn(Cast<'c>) -> Type<'c>| cast.map(pick).map_or(ScalarType::Other, ScalarType::of);
        let from = of(|cast| cast.from);
        let operands = operands.as_slice();
        if function.computes_indices(&self.graph, operands) {
            let is_conversion = matches!(name, "arith.sitofp" | "arith.uitofp" | "arith.fptosi" | "arith.fptoui" | "arith.trunci");
            let built = match name {
                "arith.uitofp" | "arith.extui" if from == ScalarType::Integer(8) => {
                    integers::byte(&mut self.graph, function, operands[0], element, widths)
                }
                _ => integers::computed(&mut self.graph, function, operands, element, widths),
            };
            return built.map_err(|message| match cast {
                Some(Cast { from, to }) if is_conversion => codes::CONVERSION
                    .says(format_args!("of runtime values from {from} to {to} is not supported; convert the values before the export")),
                _ => message,
            });
        }
        self.graph.is_single_operation =
            self.keeps_angles() && at.outputs().first().is_some_and(|output| is_single(element_type(output.r#type())));
        let node = function.build(&mut self.graph, operands, element, widths)?;
        self.note_wide(at, operands, node);
        Ok(if is_side { self.graph.virtual_op(function.name, sides, node, element) } else { node })
    }

    /// Builds a change of number format, which is a no-op within an f32 island.
    fn cast(&mut self, at: Op<'c>, operand: NodeId) -> Result<NodeId, String> {
        let Some(cast) = Cast::of(at) else { return Ok(operand) };
        // Constants are rounded when they are written, except to 8 bits.
        let is_wider = ScalarType::of(cast.to).element().is_some_and(|element| !element.is_quarter());
        if self.graph.known_of(operand).is_none() || !is_wider {
            self.fold_cast(cast)?;
            self.note_cast(at, operand);
        }
        Ok(operand)
    }
}

/// Returns the width of an integer type in bits; the maximum width for other types, whose width is never read.
fn width_of(of: Type<'_>) -> u32 {
    ScalarType::of(of).width().unwrap_or(MAX_WIDTH)
}

/// Returns the integer types of the operand and the result of an operation.
fn widths_of(at: Op<'_>) -> Widths {
    Cast::of(at).map_or(Widths::same(MAX_WIDTH), |Cast { from, to }| Widths { operand: width_of(from), result: width_of(to) })
}

/// Returns the rounding to a type of floating-point numbers; f64 has what is folded.
fn rounding_to(of: Type<'_>) -> Option<fn(f64) -> f64> {
    match ScalarType::of(element_type(of)) {
        ScalarType::F16 => Some(|number| half::f16::from_f64(number).to_f64()),
        ScalarType::Bf16 => Some(|number| half::bf16::from_f64(number).to_f64()),
        #[allow(clippy::cast_possible_truncation, reason = "rounds on purpose")]
        ScalarType::F32 => Some(|number| f64::from(number as f32)),
        _ => None,
    }
}

/// Returns the reason to reject an operation whose integers are wider than all supported ones.
fn too_wide(at: Op<'_>) -> Option<String> {
    let Widths { operand, result } = widths_of(at);
    let width = operand.max(result);
    (width > MAX_WIDTH).then(|| codes::INTEGER_WIDTH.says(format_args!("expected integers of at most {MAX_WIDTH} bits, found {width}")))
}

/// Returns whether an operation on runtime integers may occur in an index, by its name alone. Types of 32 bits or more represent every index;
/// no narrower type is known to represent all of its rows.
fn may_be_named(at: Op<'_>) -> bool {
    let Widths { operand, result } = widths_of(at);
    let is_truth = |width: u32| width == 1;
    let of_truths = matches!(at.full_name(), "arith.andi" | "arith.ori" | "arith.xori" | "arith.select" | ScalarOp::BRANCH);
    let is_wide = |width: u32| width >= i32::BITS;
    (is_wide(operand) || of_truths && is_truth(operand)) && (is_wide(result) || is_truth(result))
}
