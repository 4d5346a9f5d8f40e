//! `spyre-import-linalg`, one scalar operation: in a body, between numbers, or on tensors element by element.

use super::{
    cast::{Cast, element_type},
    importer::{Importer, element_of},
};
use crate::{
    import::{
        ScalarFunction, ScalarOp,
        graph::{Element, Kind, NodeId, order, rows},
        rules::integers,
    },
    mlir::{Location, Op, OpExt, ScalarType, Type, ValueLike},
};

impl<'c> Importer<'c> {
    /// The node of operation `at` on finished nodes; if the device cannot compute it, a refusal at `location` of shape `shape`.
    pub(super) fn scalar_op(
        &mut self,
        at: Op<'c>,
        location: Location<'c>,
        scalar: &ScalarOp,
        operands: &[NodeId],
        shape: &[i64],
    ) -> NodeId {
        if let Some(refused) = self.graph.refused_among(operands) {
            // What is never chosen need not be computed: a place is wrapped where it is negative, which one that was found is not.
            return match (operands, scalar.name.as_str()) {
                (&[condition, then, or], "arith.select") => {
                    self.graph.number_of(condition).map_or(refused, |truth| if truth == 0.0 { or } else { then })
                }
                _ => refused,
            };
        }
        self.note_place(location);
        let element = at.outputs().first().map_or(Element::F32, |output| self.scalar_element(output.r#type()));
        let built = if scalar.is_cast() { self.cast(at, operands[0]) } else { self.computed(at, &scalar.name, operands, element) };
        let built = built.map(|node| self.with_its_name(&scalar.name, operands, node, element));
        built.unwrap_or_else(|message| {
            let cause = operands.iter().find_map(|&operand| self.graph.refusal_behind(operand));
            let refused = cause.unwrap_or_else(|| self.refused(at, location, message, shape.to_vec(), element));
            match ScalarFunction::named(&scalar.name) {
                // It may still be an index, or one side of a comparison.
                Some(function)
                    if function.computes_indices(&self.graph, operands) || order::is_side(&self.graph, function.name, operands) =>
                {
                    self.graph.virtual_op(function.name, operands, refused, element)
                }
                _ => refused,
            }
        })
    }

    /// Integers of run time, and their comparisons, with what they are: an index may be wrapped or clamped, and an assertion be about one.
    fn with_its_name(&mut self, name: &str, operands: &[NodeId], node: NodeId, element: Element) -> NodeId {
        let Some(function) = ScalarFunction::named(name) else { return node };
        let is_named = matches!(element, Element::Int | Element::Bool) && function.computes_indices(&self.graph, operands);
        let has_name = matches!(self.graph.node(node).kind, Kind::Virtual(_)) && rows::parts(&self.graph, node).is_none();
        let is_decided = has_name || self.graph.known_of(node).is_some() || self.graph.node(node).element == Element::Int;
        if is_named && !is_decided { self.graph.virtual_op(function.name, operands, node, element) } else { node }
    }

    /// The element type of a number or a tensor.
    pub(super) fn scalar_element(&self, of: Type<'c>) -> Element {
        element_of(element_type(of), self.half).unwrap_or(Element::F32)
    }

    fn computed(&mut self, at: Op<'c>, name: &str, operands: &[NodeId], element: Element) -> Result<NodeId, String> {
        let function = ScalarFunction::named(name).ok_or("has no device function yet")?;
        if operands.iter().any(|&operand| self.graph.node(operand).kind == Kind::Undefined) {
            return Err("reads a tensor that nothing has written".to_owned());
        }
        if let Some(compared) = order::compared_at_run_time(&mut self.graph, name, operands) {
            return Ok(compared);
        }
        let is_side = order::is_side(&self.graph, name, operands);
        let sides = operands;
        let mut operands: Vec<NodeId> = operands.iter().map(|&operand| order::numbers_of_side(&self.graph, operand)).collect();
        let cast = Cast::of(at);
        let of = |pick: fn(Cast<'c>) -> Type<'c>| cast.map(pick).map_or(ScalarType::Other, ScalarType::of);
        let (from, to) = (of(|cast| cast.from), of(|cast| cast.to));
        if let ("arith.uitofp" | "arith.extui" | "arith.index_castui", ScalarType::Integer(width)) = (name, from) {
            operands[0] = integers::without_sign(&mut self.graph, operands[0], width);
        }
        let operands = operands.as_slice();
        if function.computes_indices(&self.graph, operands) {
            let is_conversion = matches!(name, "arith.sitofp" | "arith.uitofp" | "arith.fptosi" | "arith.fptoui" | "arith.trunci");
            let is_narrow = name == "arith.trunci" && !matches!(to, ScalarType::Integer(32 | 64));
            let built = match name {
                _ if is_narrow => Err("computes integers of a run-time value: not supported yet".to_owned()),
                "arith.uitofp" | "arith.extui" if from == ScalarType::Integer(8) => integers::byte(&mut self.graph, operands[0], element),
                _ => integers::computed(&mut self.graph, function, operands, element),
            };
            return built.map_err(|message| match cast {
                Some(Cast { from, to }) if is_conversion => format!("converts {from} to {to} at run time: not supported yet"),
                _ => message,
            });
        }
        let node = function.build(&mut self.graph, operands, element)?;
        self.note_wide(at, operands, node);
        Ok(if is_side { self.graph.virtual_op(function.name, sides, node, element) } else { node })
    }

    /// A change of number format: within an f32 island there is none.
    fn cast(&mut self, at: Op<'c>, operand: NodeId) -> Result<NodeId, String> {
        let Some(cast) = Cast::of(at) else { return Ok(operand) };
        // What is known is rounded where it is written, but not to 8 bits.
        let is_wider = ScalarType::of(cast.to).element().is_some_and(|element| !element.is_quarter());
        if self.graph.known_of(operand).is_none() || !is_wider {
            self.fold_cast(cast)?;
            self.note_cast(at, operand);
        }
        Ok(operand)
    }
}
