//! `spyre-import-linalg`, state of the import of a function: the graph, and the nodes of the program's values.

use super::cast::{CastTypes, element_type};
use super::f32_regions::F32Regions;
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        BodyScalar, ConstantTensor, NodeElementType, NodeId, Precision, ValueGraph,
        graph::{
            constant_tensor::MAX_CONSTANT_ELEMENTS, digit_pair::DigitPair, formats::StorageFormat,
            integers::IntegerFacts,
        },
        rules::{digits::RESULT_BASE, fold::MAX_WIDTH, index::always_holds},
    },
    mlir::{
        Attribute, Block, BlockExt, DerivationKind, ErrorReported, Location, Op, OpExt, ScalarType, TensorType, Type,
        Value, ValueExt, ValueLike, ValueMap, argument_attribute, dense_attribute, derive_location, error_at,
        float_value, fused_location, integer, integers, read_dense_integers, read_dense_numbers, shape_of,
        type_of_element,
    },
};
use machine::ElementType;
use std::collections::BTreeMap;

/// Maximum number of elements of a constant that is folded at compile time; larger constants are weights.
const MAX_FOLDED_ELEMENTS: i64 = 4096;

/// Returns the graph's element type for an MLIR type; all floating-point types become `half`, if specified.
pub(super) fn to_element_type(r#type: Type<'_>, half: Option<NodeElementType>) -> Option<NodeElementType> {
    let float = |own: NodeElementType| Some(half.unwrap_or(own));
    match ScalarType::from_type(r#type) {
        ScalarType::F16 => float(NodeElementType::F16),
        ScalarType::Bf16 => float(NodeElementType::Bf16),
        // Every other format represents all 8-bit numbers.
        ScalarType::F32 | ScalarType::F64 | ScalarType::F8E4M3Fn | ScalarType::F8E5M2 => float(NodeElementType::F32),
        ScalarType::Integer(1) => Some(NodeElementType::Bool),
        ScalarType::Integer(_) | ScalarType::SignedInteger | ScalarType::Index => Some(NodeElementType::Int),
        ScalarType::Other => None,
    }
}

/// Returns whether the program holds numbers of that type in f32 or f64.
pub(super) fn is_single_precision(element: Type<'_>) -> bool {
    matches!(ScalarType::from_type(element), ScalarType::F32 | ScalarType::F64)
}

/// Converts a constant of 8-bit numbers to the format of its users.
fn widen_quarter_constant<'c>(
    op: Op<'c>,
    value: Attribute<'c>,
    tensor: TensorType<'c>,
    element: NodeElementType,
) -> (Attribute<'c>, TensorType<'c>) {
    let numbers =
        if ScalarType::from_type(tensor.element).is_float8() { read_dense_numbers(value, i64::MAX) } else { None };
    let format = match element {
        NodeElementType::F16 => ElementType::F16,
        NodeElementType::Bf16 => ElementType::Bf16,
        _ => ElementType::F32,
    };
    numbers.map_or((value, tensor.clone()), |numbers| {
        let wide = TensorType { element: type_of_element(op.ctx(), format), ..tensor };
        (dense_attribute(wide.build(), &numbers), wide)
    })
}

/// Source of an external tensor of the graph.
#[derive(Clone, Copy)]
pub(super) enum ExternalTensor<'c> {
    /// Argument, or result of a retained op.
    Value(Value<'c>),
    /// Constant with many elements.
    Weights(Attribute<'c>, Location<'c>),
}

/// Unsupported operation: the op, its location in the program, and the message.
pub(super) struct UnsupportedOp<'c> {
    pub(super) op: Op<'c>,
    pub(super) location: Location<'c>,
    pub(super) message: String,
}

/// Name of the pass.
pub(super) const IMPORT_PASS: &str = "spyre-import-linalg";

/// Graph of a function, and the node of each value of the program.
pub(super) struct FunctionImporter<'c> {
    pub(super) graph: ValueGraph,
    nodes: ValueMap<NodeId>,
    /// Type of all floating-point values; None if each value keeps its own type.
    pub(super) half: Option<NodeElementType>,
    precision: Precision,
    pub(super) sources: Vec<ExternalTensor<'c>>,
    pub(super) locations: Vec<Location<'c>>,
    pub(super) unsupported_ops: Vec<UnsupportedOp<'c>>,
    pub(super) f32_regions: F32Regions<'c>,
    pub(super) retained_ops: Vec<RetainedOp<'c>>,
    /// Operations that are dead after the import, in order.
    pub(super) replaced: Vec<Op<'c>>,
    /// Enclosing scopes of the operation that is imported, each with the op that opens the next one.
    pub(super) enclosing_scopes: Vec<(usize, Op<'c>)>,
    pub(super) num_scopes: usize,
    /// Number of operations that control flow was unrolled into.
    pub(super) num_unrolled_ops: usize,
    /// Tables that indices select rows of: the index and the number of rows.
    pub(super) row_selections: Vec<(NodeId, i64)>,
    /// Assertions of the program: condition, op and location.
    pub(super) assertions: Vec<(NodeId, Op<'c>, Location<'c>)>,
}

/// Retained operation, with the nodes that it reads.
pub(super) struct RetainedOp<'c> {
    pub(super) op: Op<'c>,
    pub(super) inputs: Vec<NodeId>,
    /// Scope of the operation.
    pub(super) scope: usize,
    /// Enclosing scopes of that scope, each with the op that opens the next.
    pub(super) enclosing_scopes: Vec<(usize, Op<'c>)>,
}

/// Formats that are known only after an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ImportFormats {
    /// Whether f32 is computed in 16 bits.
    pub(super) is_narrow: bool,
    /// Storage formats of tensors that are read in two formats, by tensor number.
    pub(super) storage_formats: BTreeMap<usize, StorageFormat>,
}

impl<'c> FunctionImporter<'c> {
    /// Returns the state before the import.
    pub(super) fn new(
        half: Option<NodeElementType>,
        precision: Precision,
        integers: IntegerFacts,
        formats: ImportFormats,
    ) -> Self {
        let mut graph = ValueGraph::with_integers(integers, formats.is_narrow, formats.storage_formats);
        graph.keeps_nan = precision == Precision::Strict;
        Self {
            graph,
            nodes: ValueMap::default(),
            half,
            precision,
            sources: Vec::new(),
            locations: Vec::new(),
            unsupported_ops: Vec::new(),
            f32_regions: F32Regions::default(),
            retained_ops: Vec::new(),
            replaced: Vec::new(),
            enclosing_scopes: Vec::new(),
            num_scopes: 0,
            num_unrolled_ops: 0,
            row_selections: Vec::new(),
            assertions: Vec::new(),
        }
    }

    /// Adds an external tensor.
    pub(super) fn add_source(&mut self, at: Op<'c>, value: Value<'c>) -> Result<(), ErrorReported> {
        let Some(tensor) = TensorType::from_type(value.r#type()) else {
            let message = codes::STATIC_TENSOR.format(format_args!(
                "expected arguments of static shape, found {}; give every dimension a size",
                value.r#type()
            ));
            return Err(error_at(codes::STATIC_TENSOR, at, message).report());
        };
        let Some(element) = to_element_type(tensor.element, self.half) else {
            let message = codes::ELEMENT_TYPE.format(format_args!(
                "expected elements of a device format, found {}; convert them before the export",
                tensor.element
            ));
            return Err(error_at(codes::STATIC_TENSOR, at, message).report());
        };
        let number = self.sources.len();
        if let Some(range) = value
            .as_block_arg()
            .and_then(|(_, number)| argument_attribute(at, number, attr::SPYRE_RANGE))
            .and_then(integers)
        {
            self.graph.integers.record_promised_range(number, [range[0], range[1]]);
        }
        if at.is("func.func") {
            self.graph.record_input_format(number, is_single_precision(tensor.element));
        }
        let node = match self.graph.storage_format(number) {
            Some(StorageFormat::Single) if element.is_float() => {
                let single = self.graph.add_tensor(number, tensor.shape, NodeElementType::Single);
                self.graph.convert_to_narrow(single, element)
            }
            _ => self.graph.add_tensor(number, tensor.shape, element),
        };
        self.sources.push(ExternalTensor::Value(value));
        self.nodes.insert(value, node);
        Ok(())
    }

    /// Records the node of an op with one result, from the result's shape and element type.
    pub(super) fn record_result(
        &mut self,
        op: Op<'c>,
        node: impl FnOnce(&mut Self, Vec<i64>, NodeElementType) -> Result<NodeId, ErrorReported>,
    ) -> Result<(), ErrorReported> {
        let output = op.output();
        let Some(tensor) = TensorType::from_type(output.r#type()) else {
            let message = codes::STATIC_TENSOR.format(format_args!(
                "expected results of static shape, found {}; give every dimension a size",
                output.r#type()
            ));
            return Err(error_at(codes::STATIC_TENSOR, op, message).report());
        };
        let element = to_element_type(tensor.element, self.half).unwrap_or(NodeElementType::F32);
        let node = node(self, tensor.shape, element)?;
        self.record_node(output, node);
        Ok(())
    }

    /// Makes the constants that a scope yields known outside of it too. A program that is accepted without a scope is
    /// then accepted with it.
    pub(super) fn propagate_yielded_constants(&mut self, scope: Op<'c>, body: Block<'c>) {
        let yielded = body.ops().last().map(|yielded| yielded.inputs()).unwrap_or_default();
        for (output, value) in scope.outputs().into_iter().zip(yielded) {
            let Some(&inside) = self.nodes.get(value) else { continue };
            if let Some(known) = self.graph.as_constant(inside).cloned() {
                let element = self.graph.node(inside).element;
                let node = self.graph.add_constant(known, shape_of(output), element);
                self.nodes.insert(output, node);
            }
        }
    }

    /// Returns the node of a constant.
    pub(super) fn import_constant(&mut self, op: Op<'c>) -> Result<NodeId, ErrorReported> {
        let value = op.attr("value").ok_or_else(|| error_at(codes::MALFORMED_IR, op, "has no value").report())?;
        if let Some(number) = float_value(value) {
            let element = to_element_type(op.output().r#type(), self.half).unwrap_or(NodeElementType::F32);
            return Ok(self.graph.add_constant(ConstantTensor::from_scalar(number), Vec::new(), element));
        }
        let is_integer = matches!(
            ScalarType::from_type(op.output().r#type()),
            ScalarType::Integer(..=MAX_WIDTH) | ScalarType::Index
        );
        if let Some(integer) = is_integer.then(|| integer(value)).flatten() {
            let element = to_element_type(op.output().r#type(), self.half).unwrap_or(NodeElementType::F32);
            return Ok(self.graph.add_constant(
                ConstantTensor::from_integer(to_element_bits(integer, element)),
                Vec::new(),
                element,
            ));
        }
        let Some(tensor) = TensorType::from_type(op.output().r#type()) else {
            let message = codes::ELEMENT_TYPE.format(format_args!(
                "expected a number, a signless integer of at most {MAX_WIDTH} bits, or a tensor, found {}",
                op.output().r#type()
            ));
            return Ok(self.add_unsupported(op, op.loc(), message, Vec::new(), NodeElementType::F32));
        };
        check_tensor_size(op, &tensor)?;
        let Some(element) = to_element_type(tensor.element, self.half) else {
            let message = codes::ELEMENT_TYPE.format(format_args!(
                "expected elements of a device format, found {}; convert them before the export",
                tensor.element
            ));
            return Ok(self.add_unsupported(op, op.loc(), message, tensor.shape, NodeElementType::F32));
        };
        let (value, tensor) = widen_quarter_constant(op, value, tensor, element);
        // Integer constants are never weights, at any size: index arithmetic uses an exporter's table of positions.
        let known = if element == NodeElementType::Int {
            read_dense_integers(value, MAX_CONSTANT_ELEMENTS).map(ConstantTensor::from_integers)
        } else {
            read_dense_numbers(value, MAX_FOLDED_ELEMENTS).map(|numbers| {
                ConstantTensor::from_numbers(
                    &numbers
                        .into_iter()
                        .map(|number| if element == NodeElementType::Bool { number.abs() } else { number })
                        .collect::<Vec<_>>(),
                )
            })
        };
        if let Some(known) = known {
            return Ok(self.graph.add_constant(known, tensor.shape, element));
        }
        self.graph.record_input_format(self.sources.len(), is_single_precision(tensor.element));
        let node = self.graph.add_tensor(self.sources.len(), tensor.shape, element);
        self.sources.push(ExternalTensor::Weights(value, op.loc()));
        Ok(node)
    }

    /// Returns the node of a value that an operation uses.
    pub(super) fn node_of(&self, user: Op<'c>, value: Value<'c>) -> Result<NodeId, ErrorReported> {
        let known = self.nodes.get(value).copied();
        known.ok_or_else(|| {
            let (of, name) = (value.r#type(), value.def().map_or("an argument", OpExt::full_name));
            error_at(
                codes::UNSUPPORTED,
                user,
                format_args!("uses a value of type {of} from '{name}', which is not supported"),
            )
            .report()
        })
    }

    /// Returns the node of an external value that a body uses.
    pub(super) fn outer_scalar(&self, value: Value<'c>) -> BodyScalar {
        self.nodes.get(value).map_or(BodyScalar::Unknown, |node| BodyScalar::Outer(*node))
    }

    /// Records the node of a value. A rejection takes the shape of the value.
    pub(super) fn record_node(&mut self, value: Value<'c>, node: NodeId) {
        let shape = TensorType::from_type(value.r#type()).filter(|_| self.graph.find_unsupported(&[node]).is_some());
        let node = shape.map_or(node, |tensor| self.graph.reshape(node, &tensor.shape));
        self.nodes.insert(value, node);
    }

    /// Sets the operation for which the next nodes are built.
    pub(super) fn record_op(&mut self, op: Op<'c>) {
        self.record_op_at(op, op.loc());
    }

    /// Sets the operation for which the next nodes are built, and its location.
    pub(super) fn record_op_at(&mut self, op: Op<'c>, location: Location<'c>) {
        self.graph.set_location(self.locations.len());
        let step = (DerivationKind::Decomposition, IMPORT_PASS);
        self.locations.push(derive_location(op.ctx(), location, step, Some(op.full_name())));
    }

    /// Adds the locations of the operations that are part of `built` to the location of the nodes from `first` on.
    pub(super) fn record_absorbed(&mut self, built: NodeId, first: usize, operands: &[NodeId]) {
        let absorbed = self.graph.find_absorbed_locations(built, first, operands);
        if absorbed.is_empty() {
            return;
        }
        let own = self.locations.len() - 1;
        let places: Vec<Location<'c>> = [own].iter().chain(&absorbed).map(|&place| self.locations[place]).collect();
        self.locations.push(fused_location(&places));
        self.graph.replace_location(first, own, self.locations.len() - 1);
    }

    /// Adds a node that is rejected if it is used.
    pub(super) fn add_unsupported(
        &mut self,
        op: Op<'c>,
        location: Location<'c>,
        message: String,
        shape: Vec<i64>,
        element: NodeElementType,
    ) -> NodeId {
        self.unsupported_ops.push(UnsupportedOp { op, location, message });
        self.graph.add_unsupported(self.unsupported_ops.len() - 1, shape, element)
    }

    /// Builds integers that the device's format does not represent, as their digits. They may be results of the
    /// program, select rows of a table, or be added, subtracted, compared and selected; other ops on them are rejected.
    pub(super) fn add_digits(&mut self, op: Op<'c>, digits: DigitPair) -> NodeId {
        let parts = digits.parts;
        if let [Some(upper), Some(lower)] = parts.map(|digit| self.graph.as_constant(digit).cloned()) {
            let [of_upper, of_lower] = parts.map(|digit| self.graph.node(digit).shape.clone());
            let shape = self.graph.compute_broadcast_shape(&parts);
            #[allow(clippy::cast_precision_loss, reason = "a small number")]
            let base = RESULT_BASE as f64;
            let integers =
                ConstantTensor::map_elementwise(&[(&upper, &of_upper), (&lower, &of_lower)], &shape, |digits| {
                    digits[0] * base + digits[1]
                });
            return self.graph.add_constant(integers, shape, NodeElementType::Int);
        }
        let message = "expected integers above 1024 (two digits in the 16-bit format) only in results, gathers, sums, differences, \
                       comparisons and selects, found another use; reduce a smaller dimension";
        let shape = self.graph.compute_broadcast_shape(&parts);
        let rejected = self.add_unsupported(op, op.loc(), message.to_owned(), shape, NodeElementType::Int);
        self.graph.add_digits(digits, rejected)
    }

    /// Checks that a cast is a no-op; otherwise returns the reason to reject it.
    pub(super) fn fold_cast(&self, cast: CastTypes<'_>) -> Result<(), String> {
        let [from, to] = [cast.from, cast.to].map(|of| ScalarType::from_type(of).element_type());
        let intervals = |reason: &str| {
            codes::CONVERSION.format(format_args!("converts {} to {}, which {reason}", cast.from, cast.to))
        };
        self.precision.fold_cast(self.half.is_some(), from, to).map_err(intervals)
    }

    /// Records a no-op cast: a widening cast starts an f32 region, a narrowing cast ends it.
    pub(super) fn record_cast(&mut self, at: Op<'c>, operand: NodeId) {
        let is_half = |of: Type<'_>| ScalarType::from_type(element_type(of)).is_half();
        if at.is("arith.truncf") {
            self.f32_regions.leave(operand);
        } else if self.half.is_some() && !at.outputs().first().is_some_and(|output| is_half(output.r#type())) {
            self.f32_regions.enter(operand, at);
        }
    }

    /// Records that a node was computed from others in a wider type than the device's.
    pub(super) fn record_wide_value(&mut self, at: Op<'c>, operands: &[NodeId], node: NodeId) {
        if self.half.is_some() && at.outputs().first().is_some_and(|output| is_single_precision(output.r#type())) {
            self.f32_regions.join(operands, node);
        }
    }

    /// Returns the assertions that do not hold for every index value that selects a row. A value range must imply them,
    /// since the device checks nothing.
    pub(super) fn iter_open_asserts(&self) -> impl Iterator<Item = (NodeId, Op<'c>, Location<'c>)> {
        self.assertions
            .iter()
            .copied()
            .filter(|&(condition, ..)| !always_holds(&self.graph, condition, &self.row_selections))
    }

    /// Returns whether angles are computed in f32.
    pub(super) fn keeps_angles(&self) -> bool {
        self.precision == Precision::Mixed
    }

    /// Returns whether f32 values keep their type.
    pub(super) fn is_strict(&self) -> bool {
        self.precision == Precision::Strict
    }
}

/// Converts an integer to the element of a node. A truth value becomes 0 or 1; as a signed integer of one bit, true is
/// -1.
const fn to_element_bits(integer: i64, element: NodeElementType) -> i64 {
    if matches!(element, NodeElementType::Bool) { integer & 1 } else { integer }
}

/// Returns whether an op makes tensors without elements that are only concatenated with others, as in a roll by 0
/// positions.
pub(super) fn is_omitted_op(op: Op<'_>) -> bool {
    let is_joined = |user: &Op<'_>| user.is("tensor.concat") || user.is("tensor.cast") && is_omitted_op(*user);
    let is_left_out = |value: &Value<'_>| {
        let users = value.users();
        has_no_elements(*value) && !users.is_empty() && users.iter().all(is_joined)
    };
    let outputs = op.outputs();
    !outputs.is_empty() && outputs.iter().all(is_left_out)
}

/// Returns whether a tensor has no elements, also if a cast hides its sizes.
pub(super) fn has_no_elements(value: Value<'_>) -> bool {
    match TensorType::from_type(value.r#type()) {
        Some(tensor) => tensor.shape.contains(&0),
        None => value.def().is_some_and(|def| def.is("tensor.cast") && has_no_elements(def.inputs()[0])),
    }
}

/// Rejects a tensor without elements, and one whose number of elements overflows: later code multiplies sizes without
/// checks.
pub(super) fn check_tensor_size<'c>(op: Op<'c>, tensor: &TensorType<'c>) -> Result<(), ErrorReported> {
    if tensor.shape.contains(&0) {
        let message = codes::EMPTY_TENSOR.format(format_args!(
            "expected at least one element in each dimension, found {}; remove the empty tensor",
            tensor.build()
        ));
        return Err(error_at(codes::STATIC_TENSOR, op, message).report());
    }
    // Each element may occupy a stick of its own.
    if tensor.shape.iter().try_fold(machine::STICK_BYTES, |bytes, &size| bytes.checked_mul(size)).is_none() {
        let message = codes::TENSOR_SIZE.format(format_args!(
            "expected a tensor whose size in bytes fits in 64 bits, found {}; use a smaller shape",
            tensor.build()
        ));
        return Err(error_at(codes::STATIC_TENSOR, op, message).report());
    }
    Ok(())
}
