//! `spyre-import-linalg`, emission: writes the live nodes of the graph as `spyre` ops.

mod element_formats;
mod integer_ranges;

use super::{
    emit_constant::{build_tensor_type, emit_constant_before, emit_retype_before},
    importer::{ExternalTensor, FunctionImporter, RetainedOp},
};
use crate::{
    codes,
    dialect::{
        build_constant, build_empty, build_gather, build_insert, build_matmul, build_pointwise, build_reduce,
        build_relayout_copy, build_view,
    },
    import::{ConstantTensor, NodeElementType, NodeId, NodeKind, ValueGraph, graph::reshape::compute_reshape_map},
    mlir::{
        AffineExpression, Context, ErrorReported, Location, Op, OpExt, ScalarType, TensorType, Type, Value, ValueLike,
        error_at, insert_before, map_from_exprs, remark_at_location, type_of_element,
    },
};
use machine::ElementType;
use std::collections::BTreeMap;

/// Maximum number of elements of a splat constant. With a stick per element, that is 256 MiB, the largest repetition in
/// a file.
const MAX_REPEATED_ELEMENTS: i64 = (1 << 28) / machine::STICK_BYTES;

/// Writer of the graph as `spyre` ops.
pub(super) struct GraphEmitter<'a, 'c> {
    importer: &'a FunctionImporter<'c>,
    graph: &'a ValueGraph,
    function: Op<'c>,
    context: &'c Context,
    half: Option<NodeElementType>,
    /// Storage format of truth values.
    truth_formats: BTreeMap<NodeId, NodeElementType>,
    /// Types of integers that are moved together with those of an external tensor.
    integer_types: BTreeMap<NodeId, Type<'c>>,
    values: Vec<Option<Value<'c>>>,
    /// Number of uses of each node by live nodes and by retained operations.
    num_uses: Vec<usize>,
}

impl<'a, 'c> GraphEmitter<'a, 'c> {
    pub(super) fn new(importer: &'a FunctionImporter<'c>, function: Op<'c>) -> Self {
        let graph = &importer.graph;
        let n_nodes = graph.len();
        Self {
            importer,
            graph,
            function,
            context: function.ctx(),
            half: importer.half,
            truth_formats: BTreeMap::new(),
            integer_types: BTreeMap::new(),
            values: vec![None; n_nodes],
            num_uses: vec![0; n_nodes],
        }
    }

    /// Writes the nodes that the retained operations need, and replaces their operands.
    pub(super) fn emit(mut self) -> Result<(), ErrorReported> {
        let roots: Vec<NodeId> =
            self.importer.retained_ops.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
        let needed = self.graph.collect_required(&roots, |_| false);
        self.check_unsupported(&needed)?;
        self.choose_format(&needed)?;
        self.choose_truth_formats(&needed)?;
        self.choose_integer_types(&needed);
        self.choose_ranges(&needed)?;
        for &user in &needed {
            for input in self.graph.required_inputs(user) {
                self.num_uses[input.index()] += 1;
            }
        }
        for root in &roots {
            self.num_uses[root.index()] += 1;
        }
        for kept in &self.importer.retained_ops {
            for id in self.graph.collect_required(&kept.inputs, |id| self.values[id.index()].is_some()) {
                let before = self.find_anchor(kept, id);
                self.values[id.index()] = self.emit_node(id, before)?;
            }
            for (position, &input) in kept.inputs.iter().enumerate() {
                self.replace_operand(kept.op, position, input)?;
            }
        }
        self.report_angles(&needed);
        self.importer.f32_regions.report(self.function)
    }

    /// Emits a remark at the first sine or cosine that is computed in single precision.
    fn report_angles(&self, needed: &[NodeId]) {
        let angles: Vec<NodeId> = needed.iter().copied().filter(|&id| self.graph.is_trig_result(id)).collect();
        let Some(&first) = angles.first() else { return };
        let num_bytes = |id: &NodeId| self.graph.node(*id).shape.iter().product::<i64>() * 4;
        let message = format!(
            "the angles of sines and cosines are computed in f32; before they are rounded, the results take {} KiB",
            angles.iter().map(num_bytes).sum::<i64>() / 1024
        );
        remark_at_location(codes::ANGLE_IN_F32, self.function, message).with_location(self.location(first)).emit();
    }

    /// Returns the operation before which a node is inserted: in its own scope.
    fn find_anchor(&self, kept: &RetainedOp<'c>, id: NodeId) -> Op<'c> {
        let scope = self.graph.scope(id);
        kept.enclosing_scopes
            .iter()
            .find(|(around, _)| *around == scope)
            .filter(|_| scope != kept.scope)
            .map_or(kept.op, |(_, op)| *op)
    }

    fn check_unsupported(&self, needed: &[NodeId]) -> Result<(), ErrorReported> {
        for &id in needed {
            if let NodeKind::Unsupported(rejection) = self.graph.node(id).kind {
                let rejection = &self.importer.unsupported_ops[rejection];
                return Err(error_at(codes::UNSUPPORTED, rejection.op, &rejection.message)
                    .with_location(rejection.location)
                    .report());
            }
        }
        Ok(())
    }

    fn location(&self, id: NodeId) -> Location<'c> {
        self.importer.locations.get(self.graph.location(id)).copied().unwrap_or_else(|| self.function.loc())
    }

    /// Writes a node; returns None if the node has no value of its own.
    fn emit_node(&self, id: NodeId, before: Op<'c>) -> Result<Option<Value<'c>>, ErrorReported> {
        let (node, at, context) = (self.graph.node(id), self.location(id), self.context);
        let input = |position: usize| self.materialize_value(node.inputs[position], before);
        let output = self.tensor_type(id);
        let built = match &node.kind {
            NodeKind::Tensor(number) => return self.emit_source(id, *number, before).map(Some),
            // Constants are written at their uses, in the shape that the use needs.
            NodeKind::Constant(_) | NodeKind::Undefined => return Ok(None),
            NodeKind::Unsupported(_) => return Ok(None),
            NodeKind::Virtual(_) => return Ok(self.values[node.inputs[node.inputs.len() - 1].index()]),
            NodeKind::Splat => {
                return Ok(Some(self.emit_splat(node.inputs[0], &node.shape, self.element_type(id), before, at)));
            }
            NodeKind::Reshape => {
                let from = &self.graph.node(node.inputs[0]).shape;
                if *from == node.shape {
                    // Integer arguments are converted to the numbers that ops compute with.
                    let (number, own) = (input(0)?, self.element_type(id));
                    let viewed = TensorType::from_type(number.r#type()).map(|tensor| tensor.element);
                    return Ok(Some(emit_retype_before(before, at, number, from, viewed.unwrap_or(own), own)));
                }
                let map = map_from_exprs(context, node.shape.len(), 0, &compute_reshape_map(from, &node.shape));
                build_view(context, at, input(0)?, map, output)
            }
            NodeKind::View(_) if self.graph.is_lazy_constant(id) => return Ok(None),
            NodeKind::View(map) => {
                build_view(context, at, input(0)?, map_from_exprs(context, node.shape.len(), 0, map), output)
            }
            NodeKind::Pointwise(function, constants) => {
                let inputs = node
                    .inputs
                    .iter()
                    .map(|&input| self.materialize_operand(id, input, before))
                    .collect::<Result<Vec<_>, _>>()?;
                build_pointwise(context, at, function, &inputs, &decode_numbers(constants), output)
            }
            NodeKind::Reduce(function, dim, constants) => build_reduce(
                context,
                at,
                function,
                input(0)?,
                &[i64::try_from(*dim).expect("the number of a dimension")],
                &decode_numbers(constants),
                output,
            ),
            NodeKind::Copy => build_relayout_copy(context, at, input(0)?, output),
            NodeKind::Matmul => build_matmul(context, at, input(0)?, input(1)?, output),
            NodeKind::Gather(dim) => {
                let table = match self.graph.evaluate_constant(node.inputs[0]) {
                    // A table of truth values has the format of the ops that read its rows.
                    Some(known) => emit_constant_before(
                        before,
                        at,
                        &known,
                        self.graph.node(node.inputs[0]).shape.clone(),
                        self.element_type(id),
                    ),
                    None => input(0)?,
                };
                build_gather(
                    context,
                    at,
                    table,
                    input(1)?,
                    i64::try_from(*dim).expect("the number of a dimension"),
                    output,
                )
            }
            NodeKind::Insert(offsets) => {
                let part = input(0)?;
                let whole = self.materialize_destination(id, node.inputs[1], before, output, at)?;
                build_insert(context, at, part, whole, offsets)
            }
        };
        Ok(Some(insert_before(before, built).output()))
    }

    /// Returns the value of a node that must have one.
    fn materialize_value(&self, id: NodeId, before: Op<'c>) -> Result<Value<'c>, ErrorReported> {
        if let Some(value) = self.values[id.index()] {
            return Ok(value);
        }
        match self.graph.evaluate_constant(id) {
            Some(known) => Ok(self.emit_constant(
                &known,
                &self.graph.node(id).shape,
                self.element_type(id),
                before,
                self.location(id),
            )),
            None => {
                Err(error_at(codes::UNWRITTEN, before, "reads a tensor that no op has written; fill it first").report())
            }
        }
    }

    /// Returns an operand of an elementwise op: a scalar has size 1 in every dimension.
    fn materialize_operand(&self, user: NodeId, id: NodeId, before: Op<'c>) -> Result<Value<'c>, ErrorReported> {
        let NodeKind::Constant(known) = &self.graph.node(id).kind else { return self.materialize_value(id, before) };
        let rank = self.graph.node(user).shape.len();
        let shape = if known.splat_value().is_some() { vec![1; rank] } else { self.graph.node(id).shape.clone() };
        // A scalar has the element type of the tensor operands.
        let beside = self
            .graph
            .node(user)
            .inputs
            .iter()
            .find(|&&input| !matches!(self.graph.node(input).kind, NodeKind::Constant(_)));
        let element = self.element_type(
            beside.copied().filter(|&beside| self.graph.node(beside).element != NodeElementType::Bool).unwrap_or(user),
        );
        Ok(emit_constant_before(before, self.location(user), known, shape, element))
    }

    /// Returns the destination of an insert: the tensor itself if it has no other use, else a copy of its initialized
    /// elements.
    fn materialize_destination(
        &self,
        user: NodeId,
        whole: NodeId,
        before: Op<'c>,
        output: Type<'c>,
        at: Location<'c>,
    ) -> Result<Value<'c>, ErrorReported> {
        let kind = &self.graph.node(whole).kind;
        let is_own = matches!(kind, NodeKind::Insert(_)) && self.num_uses[whole.index()] == 1;
        if is_own && self.graph.scope(user) == self.graph.scope(whole) {
            return self.materialize_value(whole, before);
        }
        let fresh = insert_before(before, build_empty(self.context, at, output)).output();
        if *kind == NodeKind::Undefined {
            return Ok(fresh);
        }
        if let Some(parts) = self.graph.find_partial_slices(whole) {
            // Uninitialized elements are not copied.
            return parts.into_iter().try_fold(fresh, |into, (part, offsets)| {
                Ok(insert_before(
                    before,
                    build_insert(self.context, at, self.materialize_value(part, before)?, into, offsets),
                )
                .output())
            });
        }
        let original = match kind {
            NodeKind::Constant(known) if known.splat_value().is_some() => {
                self.emit_splat(whole, &self.graph.node(user).shape, self.element_type(user), before, at)
            }
            _ => self.materialize_value(whole, before)?,
        };
        let start = vec![0; self.graph.node(user).shape.len()];
        Ok(insert_before(before, build_insert(self.context, at, original, fresh, &start)).output())
    }

    /// Writes a constant as a tensor of `shape`: as a constant op, or, for very many equal elements, as a view that
    /// repeats one.
    fn emit_constant(
        &self,
        known: &ConstantTensor,
        shape: &[i64],
        element: Type<'c>,
        before: Op<'c>,
        at: Location<'c>,
    ) -> Value<'c> {
        let num_elements = shape.iter().fold(1, |elements: i64, size| elements.saturating_mul(*size));
        match known.splat_value().filter(|_| num_elements > MAX_REPEATED_ELEMENTS) {
            Some(number) => self.emit_broadcast(number, shape, element, before, at),
            None => emit_constant_before(before, at, known, shape.to_vec(), element),
        }
    }

    /// Writes a scalar as a tensor of `shape`.
    fn emit_splat(
        &self,
        number: NodeId,
        shape: &[i64],
        element: Type<'c>,
        before: Op<'c>,
        at: Location<'c>,
    ) -> Value<'c> {
        self.emit_broadcast(self.graph.as_scalar(number).expect("a number"), shape, element, before, at)
    }

    /// Writes a view that broadcasts one number to all indices.
    fn emit_broadcast(
        &self,
        number: f64,
        shape: &[i64],
        element: Type<'c>,
        before: Op<'c>,
        at: Location<'c>,
    ) -> Value<'c> {
        let one = emit_constant_before(before, at, &ConstantTensor::from_scalar(number), vec![1; shape.len()], element);
        let map = map_from_exprs(self.context, shape.len(), 0, &vec![AffineExpression::Constant(0); shape.len()]);
        insert_before(before, build_view(self.context, at, one, map, build_tensor_type(shape.to_vec(), element)))
            .output()
    }

    fn emit_source(&self, id: NodeId, number: usize, before: Op<'c>) -> Result<Value<'c>, ErrorReported> {
        let at = self.location(id);
        let value = match self.importer.sources[number] {
            ExternalTensor::Value(value) => value,
            ExternalTensor::Weights(attribute, location) => {
                let Some(of) = crate::mlir::type_of_elements(attribute) else {
                    return Err(error_at(codes::MALFORMED_IR, before, "expected a constant tensor")
                        .with_location(location)
                        .report());
                };
                insert_before(before, build_constant(self.context, location, attribute, of)).output()
            }
        };
        let Some(tensor) = TensorType::from_type(value.r#type()) else { return Ok(value) };
        if self.graph.node(id).element == NodeElementType::Int {
            return Ok(value);
        }
        Ok(emit_retype_before(before, at, value, &tensor.shape, tensor.element, self.element_type(id)))
    }

    /// Replaces an operand of a retained operation with a node, in the operand's original type.
    fn replace_operand(&self, op: Op<'c>, position: usize, id: NodeId) -> Result<(), ErrorReported> {
        let old = op.inputs()[position];
        let Some(tensor) = TensorType::from_type(old.r#type()) else { return Ok(()) };
        let new = match &self.graph.node(id).kind {
            NodeKind::Constant(known) => {
                let is_integer = self.graph.node(id).element == NodeElementType::Int;
                let element = match ScalarType::from_type(tensor.element) {
                    _ if is_integer => tensor.element,
                    // Constants are not computed in the device's format, and need not fit in it.
                    ScalarType::F32 | ScalarType::F64 => type_of_element(self.context, ElementType::F32),
                    _ => self.element_type(id),
                };
                let fits = |number: f64| (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&number);
                if is_integer && !known.numbers().all(fits) {
                    return Err(error_at(
                        codes::INTEGER_WIDTH,
                        op,
                        "expected integer results of at most 32 bits, found wider values; return smaller integers",
                    )
                    .report());
                }
                self.emit_constant(known, &tensor.shape, element, op, op.loc())
            }
            _ => self.materialize_value(id, op)?,
        };
        let Some(found) = TensorType::from_type(new.r#type()) else { return Ok(()) };
        let is_computed =
            ScalarType::from_type(found.element).is_float() && self.graph.node(id).element == NodeElementType::Int;
        let is_number = |element: Type<'c>| {
            let of = ScalarType::from_type(element);
            of.is_float()
                || of == ScalarType::F64
                || of == ScalarType::Integer(1)
                || is_computed && matches!(of, ScalarType::Integer(_))
        };
        // Integers as two digits have one more dimension.
        let shape = if self.graph.node(id).shape.len() > tensor.shape.len() { &found.shape } else { &tensor.shape };
        let is_device_word = |element: Type<'c>| matches!(ScalarType::from_type(element), ScalarType::Integer(32 | 64));
        let new = if found.element == tensor.element {
            new
        } else if is_number(found.element) && is_number(tensor.element)
            || is_device_word(found.element) && is_device_word(tensor.element)
        {
            emit_retype_before(op, op.loc(), new, shape, found.element, tensor.element)
        } else {
            let verb = if op.is("func.return") { "returns" } else { "reads" };
            let message = codes::NARROWING.format(format_args!(
                "{verb} {}, found a value computed as {}; export the program in f32 or f16",
                old.r#type(),
                new.r#type()
            ));
            return Err(error_at(codes::INTEGER_RANGE, op, message).report());
        };
        op.set_input(position, new);
        Ok(())
    }
}

fn decode_numbers(constants: &[u64]) -> Vec<f64> {
    constants.iter().map(|&bits| f64::from_bits(bits)).collect()
}
