//! `spyre-import-linalg`, emission: writes the live nodes of the graph as `spyre` ops.

use super::{
    emit_constant::{build_tensor_type, emit_constant_before, emit_retype_before},
    importer::{ExternalTensor, FunctionImporter, RetainedOp},
};
use crate::{
    codes,
    dialect::ods::attr,
    dialect::{
        build_constant, build_empty, build_gather, build_insert, build_matmul, build_pointwise, build_reduce,
        build_view,
    },
    import::{
        ConstantTensor, NodeElementType, NodeId, NodeKind, TruthFormatConflict, ValueGraph,
        graph::reshape::compute_reshape_map,
        infer_truth_formats,
        rules::range::{self, FormatLimits, RangeViolation},
    },
    mlir::{
        AffineExpression, Context, ErrorReported, Location, Op, OpExt, ScalarType, TensorType, Type, Value, ValueExt,
        ValueLike, error_at, i64_array_attribute, insert_before, map_from_exprs, remark_at_location,
        set_argument_attribute, string, type_of_element, warning_at,
    },
};
use machine::{DeviceFormat, DeviceFunction, ElementType};
use std::collections::{BTreeMap, BTreeSet};

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
            if let NodeKind::Unsupported(refusal) = self.graph.node(id).kind {
                let refusal = &self.importer.unsupported_ops[refusal];
                return Err(error_at(codes::UNSUPPORTED, refusal.op, &refusal.message)
                    .with_location(refusal.location)
                    .report());
            }
        }
        Ok(())
    }

    /// Returns whether f32 values are computed in the device's 16-bit format because the device lacks a function in
    /// f32.
    pub(super) fn is_narrow(&self) -> bool {
        let roots: Vec<NodeId> =
            self.importer.retained_ops.iter().flat_map(|kept| kept.inputs.iter().copied()).collect();
        let needed = self.graph.collect_required(&roots, |_| false);
        !self.importer.is_strict() && needed.iter().any(|&id| self.lacks_single_precision(id).is_some())
    }

    /// Chooses the format of an f32-only program: f32 if the device has all of its functions in f32, else 16 bits. With
    /// strict precision, a missing function is an error.
    fn choose_format(&mut self, needed: &[NodeId]) -> Result<(), ErrorReported> {
        let lacking = needed.iter().find_map(|&id| self.lacks_single_precision(id).map(|function| (id, function)));
        let Some((id, function)) = lacking else { return Ok(()) };
        let message = format!("the device has no '{function}' in f32");
        if self.importer.is_strict() {
            let location = self.location(id);
            return Err(error_at(
                codes::NEEDS_F32,
                self.function,
                format_args!("requires '{function}' in f32 (--precision strict), which the device does not have; give --precision mixed"),
            )
            .with_location(location)
            .report());
        }
        remark_at_location(
            codes::F32_AS_F16,
            self.function,
            format_args!("f32 values are computed in the device's 16-bit format: {message}"),
        )
        .with_location(self.location(id))
        .emit();
        self.half = Some(NodeElementType::F16);
        Ok(())
    }

    /// Selects the format of truth values: the unique format of the numbers that they are combined with.
    fn choose_truth_formats(&mut self, needed: &[NodeId]) -> Result<(), ErrorReported> {
        if self.half.is_some() && !needed.iter().any(|&id| self.graph.node(id).element == NodeElementType::Single) {
            return Ok(());
        }
        self.truth_formats = infer_truth_formats(self.graph, needed).map_err(|TruthFormatConflict { user, needed, found }| {
            let (found, needed) = (found.name(), needed.name());
            let message = format!(
                "expected i1 values of comparisons in {needed}, found a comparison in {found}; compare and select in one element type"
            );
            error_at(codes::TRUTH_FORMATS, self.function, message).with_location(self.location(user)).report()
        })?;
        Ok(())
    }

    /// Restricts integers that ops compute with to a range in which the device is exact.
    fn choose_ranges(&self, needed: &[NodeId]) -> Result<(), ErrorReported> {
        let limits = if self.half.is_some() { range::HALF_LIMITS } else { range::SINGLE_LIMITS };
        let element = |number: usize| match self.importer.sources.get(number) {
            Some(ExternalTensor::Value(value)) => {
                TensorType::from_type(value.r#type()).map(|tensor| ScalarType::from_type(tensor.element))
            }
            _ => None,
        };
        let of_type = |number: usize| match element(number) {
            Some(ScalarType::Integer(width @ 2..32)) => [-(1_i64 << (width - 1)), 1_i64 << (width - 1)],
            _ => [i64::MIN, i64::MAX],
        };
        let given = |number: usize| self.graph.integers.promised_range(number).unwrap_or_else(|| of_type(number));
        let open = self.collect_checkable_asserts(limits);
        let asserted: Vec<NodeId> = open.iter().map(|(condition, ..)| *condition).collect();
        let mut ranges = range::compute_ranges(self.graph, needed, &asserted, limits, given).map_err(|unbounded| match unbounded {
            RangeViolation::Node(id) => {
                let what = if self.graph.integers.contains(id) { "integers beyond" } else { "numbers of integers beyond" };
                let limit = if self.graph.integers.contains(id) { limits.exact } else { limits.largest };
                let message = codes::INTEGER_RANGE.format(format_args!(
                    "computes {what} {limit:.0}, the largest that the device \
                 computes exactly; bound arguments with 'spyre.range'"
                ));
                error_at(codes::INTEGER_RANGE, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::LowerBound(id) => {
                let code = if self.graph.integers.lower_bound(id) == Some(1) { codes::INTEGER_DIVISOR } else { codes::INTEGER_SIGN };
                let message = match self.graph.integers.lower_bound(id) {
                    Some(1) => "requires a positive integer divisor, found one that may be 0 or negative; apply 'arith.maxsi' with 1 to it",
                    _ => {
                        "requires nonnegative integers for unsigned arithmetic, found integers that may be negative; bound \
                     arguments with 'spyre.range'"
                    }
                };
                error_at(code, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::Width(id, width) => {
                let advice = match width {
                    ..64 => "compute with more bits",
                    _ => "bound arguments with 'spyre.range', or use smaller constants",
                };
                let message = codes::INTEGER_WIDTH
                    .format(format_args!("expected integers that stay within {width} bits, found a value that may overflow; {advice}"));
                error_at(codes::INTEGER_RANGE, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::RoundedConstant(id) => {
                let message = format!(
                    "compares runtime integers with {:.0}, which the device's format cannot represent; compare with a neighboring number",
                    limits.exact + 1.0
                );
                error_at(codes::INTEGER_RANGE, self.function, message).with_location(self.location(id)).report()
            }
            RangeViolation::Assertion(position) => {
                let (_, op, location) = open[position];
                let message = if op.is("cf.assert") {
                    "asserts a condition that contradicts the other assertions on the arguments; remove one of them"
                } else {
                    "indexes a table with integers that may be out of bounds; bound the argument with 'spyre.range'"
                };
                error_at(codes::INTEGER_RANGE, op, message).with_location(location).report()
            }
        })?;
        // No op reads integers that select the same element for all positions, but they still select one of the rows.
        let source =
            |&id: &NodeId| if let NodeKind::Tensor(number) = self.graph.node(id).kind { Some(number) } else { None };
        let read: BTreeSet<usize> = needed.iter().filter_map(source).collect();
        for (number, _) in self.graph.iter_index_tensors().filter(|(number, _)| read.contains(number)) {
            if let (Some(ExternalTensor::Value(value)), Some(ScalarType::Integer(8))) =
                (self.importer.sources.get(number), element(number))
            {
                let message = format!(
                    "expected row indices of i32 or i64, found an argument of {} that selects rows of a table; give the argument one of \
                     these types",
                    value.r#type()
                );
                return Err(error_at(codes::INTEGER_WIDTH, self.function, message).report());
            }
        }
        // A lookup covers the integers from 0 on. It restricts them also if it became a constant that no op reads.
        let unread = self
            .graph
            .iter_index_tensors()
            .map(|(number, rows)| (number, [0, rows]))
            .chain(self.graph.iter_lookup_ranges());
        for (number, covered) in unread.filter(|(number, _)| !read.contains(number)) {
            let range = ranges.entry(number).or_insert_with(|| given(number));
            *range = [range[0].max(covered[0]), range[1].min(covered[1])];
        }
        for (number, range) in ranges {
            if let Some(ExternalTensor::Value(value)) = self.importer.sources.get(number)
                && !matches!(element(number), Some(ScalarType::Integer(8 | 32 | 64)))
            {
                let message = codes::INTEGER_WIDTH.format(format_args!(
                    "expected runtime integers of i8, i32 or i64, found {}; convert them before the export",
                    value.r#type()
                ));
                return Err(error_at(codes::INTEGER_RANGE, self.function, message).report());
            }
            let range = match element(number) {
                Some(ScalarType::Integer(8)) => [range[0].max(i8::MIN.into()), range[1].min(i64::from(i8::MAX) + 1)],
                _ => range,
            };
            let argument = match self.importer.sources[number] {
                ExternalTensor::Value(value) => {
                    value.as_block_arg().filter(|_| value.def().is_none()).map(|(_, position)| position)
                }
                ExternalTensor::Weights(..) => None,
            };
            if let Some(position) = argument {
                set_argument_attribute(
                    self.function,
                    position,
                    attr::SPYRE_RANGE,
                    i64_array_attribute(self.context, &range),
                );
            }
        }
        Ok(())
    }

    /// Returns the assertions that do not hold for every index, without those of the program (`cf.assert`) that no
    /// range of integers makes true. The latter get a warning: the device cannot stop a program, so the caller must
    /// ensure them.
    fn collect_checkable_asserts(&self, limits: FormatLimits) -> Vec<(NodeId, Op<'c>, Location<'c>)> {
        let open: Vec<_> = self.importer.iter_open_asserts().collect();
        let conditions: Vec<NodeId> = open.iter().map(|(condition, ..)| *condition).collect();
        let (unmet, mut kept) = (range::find_unsatisfiable_asserts(self.graph, &conditions, limits), Vec::new());
        for (position, (condition, op, location)) in open.into_iter().enumerate() {
            if op.is("cf.assert") && unmet.binary_search(&position).is_ok() {
                let text = op.attr("msg").and_then(string).unwrap_or_default();
                let message = format!(
                    "is not checked, because the device cannot stop a program; results are undefined where \"{text}\" fails"
                );
                warning_at(codes::ASSERTION_UNCHECKED, op, message).with_location(location).emit();
            } else {
                kept.push((condition, op, location));
            }
        }
        kept
    }

    fn lacks_single_precision(&self, id: NodeId) -> Option<&'static str> {
        let node = self.graph.node(id);
        let is_single = node.element == NodeElementType::F32
            || node.inputs.iter().any(|&input| self.graph.node(input).element == NodeElementType::F32);
        if self.half.is_some() || !is_single {
            return None;
        }
        let in_f32 = |row: Option<&'static DeviceFunction>| row.is_some_and(|row| row.supports(DeviceFormat::IeeeFp32));
        match node.kind {
            NodeKind::Matmul => Some("batchmatmul"),
            NodeKind::Pointwise(function, _) if !in_f32(DeviceFunction::find_pointwise(function)) => Some(function),
            NodeKind::Reduce(function, ..) if !in_f32(DeviceFunction::find_reduce(function)) => Some(function),
            _ => None,
        }
    }

    fn location(&self, id: NodeId) -> Location<'c> {
        self.importer.locations.get(self.graph.location(id)).copied().unwrap_or_else(|| self.function.loc())
    }

    /// Returns the element type of a node in the program.
    fn element_type(&self, id: NodeId) -> Type<'c> {
        let own = self.graph.node(id).element;
        let element = match own {
            NodeElementType::Bool => {
                let own = self.truth_formats.get(&id).copied();
                own.filter(|&own| own == NodeElementType::Single).or(self.half).or(own).unwrap_or(NodeElementType::F16)
            }
            NodeElementType::F32 => self.half.unwrap_or(own),
            NodeElementType::F16 | NodeElementType::Bf16 | NodeElementType::Single | NodeElementType::Int => own,
        };
        let format = match element {
            NodeElementType::F16 | NodeElementType::Bool => ElementType::F16,
            NodeElementType::Bf16 => ElementType::Bf16,
            NodeElementType::F32 | NodeElementType::Single => ElementType::F32,
            NodeElementType::Int => return self.integer_type(id),
        };
        type_of_element(self.context, format)
    }

    /// Returns the integer type of a node: that of the tensor whose elements it has.
    fn integer_type(&self, mut id: NodeId) -> Type<'c> {
        while let NodeKind::View(_) | NodeKind::Reshape | NodeKind::Gather(_) = self.graph.node(id).kind {
            id = self.graph.node(id).inputs[0];
        }
        let value = match self.graph.node(id).kind {
            NodeKind::Tensor(number) => match self.importer.sources[number] {
                ExternalTensor::Value(value) => TensorType::from_type(value.r#type()),
                ExternalTensor::Weights(attribute, _) => {
                    crate::mlir::type_of_elements(attribute).and_then(TensorType::from_type)
                }
            },
            _ => None,
        };
        value.map_or_else(|| type_of_element(self.context, ElementType::I32), |tensor| tensor.element)
    }

    fn tensor_type(&self, id: NodeId) -> Type<'c> {
        build_tensor_type(self.graph.node(id).shape.clone(), self.element_type(id))
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
                    let shown = TensorType::from_type(number.r#type()).map(|tensor| tensor.element);
                    return Ok(Some(emit_retype_before(before, at, number, from, shown.unwrap_or(own), own)));
                }
                let map = map_from_exprs(context, node.shape.len(), 0, &compute_reshape_map(from, &node.shape));
                build_view(context, at, input(0)?, map, output)
            }
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
            NodeKind::Matmul => build_matmul(context, at, input(0)?, input(1)?, output),
            NodeKind::Gather(dim) => {
                let table = match &self.graph.node(node.inputs[0]).kind {
                    // A table of truth values has the format of the ops that read its rows.
                    NodeKind::Constant(known) => emit_constant_before(
                        before,
                        at,
                        known,
                        self.graph.node(node.inputs[0]).shape.clone(),
                        self.element_type(id),
                    ),
                    _ => input(0)?,
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
        match &self.graph.node(id).kind {
            NodeKind::Constant(known) => Ok(self.emit_constant(
                known,
                &self.graph.node(id).shape,
                self.element_type(id),
                before,
                self.location(id),
            )),
            _ => {
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
        let new = if found.element == tensor.element {
            new
        } else if is_number(found.element) && is_number(tensor.element) {
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
