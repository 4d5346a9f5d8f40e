//! `spyre-import-linalg`, state of the import of a function: the graph, and the nodes of the program's values.

use super::cast::{Cast, element_type};
use super::island::Islands;
use crate::{
    codes,
    dialect::ods::attr,
    import::{
        Element, Graph, Known, NodeId, Precision, Scalar,
        graph::{digits::Digits, formats::Held, integers::Integers, known::MOST_KNOWN_ELEMENTS},
        rules::{digits::RESULT_BASE, fold::MAX_WIDTH, index::always_holds},
    },
    mlir::{
        Attribute, Block, BlockExt, Location, Op, OpExt, Reported, ScalarType, TensorType, Type, Value, ValueExt, ValueLike, ValueMap,
        argument_attribute, dense_attribute, dense_integers, dense_numbers, error_at, float_value, fused_location, integer, integers,
        shape_of, type_of_element,
    },
};
use machine::ElementType;
use std::collections::BTreeMap;

/// Maximum number of elements of a constant that is folded at compile time; larger constants are weights.
const MOST_FOLDED_ELEMENTS: i64 = 4096;

/// Returns the graph's element type for an MLIR type; all floating-point types become `half`, if given.
pub(super) fn element_of(r#type: Type<'_>, half: Option<Element>) -> Option<Element> {
    let float = |own: Element| Some(half.unwrap_or(own));
    match ScalarType::of(r#type) {
        ScalarType::F16 => float(Element::F16),
        ScalarType::Bf16 => float(Element::Bf16),
        // Every other format represents all 8-bit numbers.
        ScalarType::F32 | ScalarType::F64 | ScalarType::F8E4M3Fn | ScalarType::F8E5M2 => float(Element::F32),
        ScalarType::Integer(1) => Some(Element::Bool),
        ScalarType::Integer(_) | ScalarType::SignedInteger | ScalarType::Index => Some(Element::Int),
        ScalarType::Other => None,
    }
}

/// Returns whether the program holds numbers of that type in f32 or f64.
pub(super) fn is_single(element: Type<'_>) -> bool {
    matches!(ScalarType::of(element), ScalarType::F32 | ScalarType::F64)
}

/// Converts a constant of 8-bit numbers to the format of its users.
fn in_sixteen_bits<'c>(op: Op<'c>, value: Attribute<'c>, tensor: TensorType<'c>, element: Element) -> (Attribute<'c>, TensorType<'c>) {
    let numbers = if ScalarType::of(tensor.element).is_quarter() { dense_numbers(value, i64::MAX) } else { None };
    let format = match element {
        Element::F16 => ElementType::F16,
        Element::Bf16 => ElementType::Bf16,
        _ => ElementType::F32,
    };
    numbers.map_or((value, tensor.clone()), |numbers| {
        let wide = TensorType { element: type_of_element(op.ctx(), format), ..tensor };
        (dense_attribute(wide.build(), &numbers), wide)
    })
}

/// Source of an external tensor of the graph.
#[derive(Clone, Copy)]
pub(super) enum Source<'c> {
    /// An argument, or a result of an op that is kept.
    Value(Value<'c>),
    /// Constant with many elements.
    Weights(Attribute<'c>, Location<'c>),
}

/// Unsupported operation: the op, its location in the program, and the message.
pub(super) struct Refusal<'c> {
    pub(super) op: Op<'c>,
    pub(super) location: Location<'c>,
    pub(super) message: String,
}

/// Graph of a function, and the node of each value of the program.
pub(super) struct Importer<'c> {
    pub(super) graph: Graph,
    nodes: ValueMap<NodeId>,
    /// Type of all floating-point values; None if each value keeps its own type.
    pub(super) half: Option<Element>,
    precision: Precision,
    pub(super) sources: Vec<Source<'c>>,
    pub(super) places: Vec<Location<'c>>,
    pub(super) refusals: Vec<Refusal<'c>>,
    pub(super) islands: Islands<'c>,
    pub(super) kept: Vec<Kept<'c>>,
    /// Operations that are dead after the import, in order.
    pub(super) replaced: Vec<Op<'c>>,
    /// Enclosing scopes of the operation that is imported, each with the op that opens the next one.
    pub(super) around: Vec<(usize, Op<'c>)>,
    pub(super) n_scopes: usize,
    /// Number of operations that control flow was unrolled into.
    pub(super) n_written_out: usize,
    /// Tables that indices select rows of: the index and the number of rows.
    pub(super) gathered: Vec<(NodeId, i64)>,
    /// Assertions of the program: condition, op and location.
    pub(super) asserted: Vec<(NodeId, Op<'c>, Location<'c>)>,
}

/// Operation that is kept, with the nodes that it reads.
pub(super) struct Kept<'c> {
    pub(super) op: Op<'c>,
    pub(super) inputs: Vec<NodeId>,
    /// Scope of the operation.
    pub(super) scope: usize,
    /// Enclosing scopes of that scope, each with the op that opens the next.
    pub(super) around: Vec<(usize, Op<'c>)>,
}

/// Formats that are known only after an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Formats {
    /// Whether f32 is computed in 16 bits.
    pub(super) is_narrow: bool,
    /// Formats of tensors that are read in two, by tensor number.
    pub(super) held: BTreeMap<usize, Held>,
}

impl<'c> Importer<'c> {
    /// Returns the state before the import.
    pub(super) fn new(half: Option<Element>, precision: Precision, integers: Integers, formats: Formats) -> Self {
        let mut graph = Graph::with_integers(integers, formats.is_narrow, formats.held);
        graph.keeps_nan = precision == Precision::Strict;
        Self {
            graph,
            nodes: ValueMap::default(),
            half,
            precision,
            sources: Vec::new(),
            places: Vec::new(),
            refusals: Vec::new(),
            islands: Islands::default(),
            kept: Vec::new(),
            replaced: Vec::new(),
            around: Vec::new(),
            n_scopes: 0,
            n_written_out: 0,
            gathered: Vec::new(),
            asserted: Vec::new(),
        }
    }

    /// Adds an external tensor.
    pub(super) fn add_source(&mut self, at: Op<'c>, value: Value<'c>) -> Result<(), Reported> {
        let Some(tensor) = TensorType::of(value.r#type()) else {
            let message = codes::STATIC_TENSOR
                .says(format_args!("expected arguments of static shape, found {}; give every dimension a size", value.r#type()));
            return Err(error_at(codes::STATIC_TENSOR, at, message).report());
        };
        let Some(element) = element_of(tensor.element, self.half) else {
            let message = codes::ELEMENT_TYPE
                .says(format_args!("expected elements of a device format, found {}; convert them before the export", tensor.element));
            return Err(error_at(codes::STATIC_TENSOR, at, message).report());
        };
        let number = self.sources.len();
        if let Some(range) = value.arg_of().and_then(|(_, number)| argument_attribute(at, number, attr::SPYRE_RANGE)).and_then(integers) {
            self.graph.integers.promise(number, [range[0], range[1]]);
        }
        if at.is("func.func") {
            self.graph.note_given(number, is_single(tensor.element));
        }
        let node = match self.graph.held(number) {
            Some(Held::Single) if element.is_float() => {
                let single = self.graph.tensor(number, tensor.shape, Element::Single);
                self.graph.read_narrow(single, element)
            }
            _ => self.graph.tensor(number, tensor.shape, element),
        };
        self.sources.push(Source::Value(value));
        self.nodes.insert(value, node);
        Ok(())
    }

    /// Records the node of an op with one result, from the result's shape and element type.
    pub(super) fn note_result(
        &mut self,
        op: Op<'c>,
        node: impl FnOnce(&mut Self, Vec<i64>, Element) -> Result<NodeId, Reported>,
    ) -> Result<(), Reported> {
        let output = op.output();
        let Some(tensor) = TensorType::of(output.r#type()) else {
            let message = codes::STATIC_TENSOR
                .says(format_args!("expected results of static shape, found {}; give every dimension a size", output.r#type()));
            return Err(error_at(codes::STATIC_TENSOR, op, message).report());
        };
        let element = element_of(tensor.element, self.half).unwrap_or(Element::F32);
        let node = node(self, tensor.shape, element)?;
        self.note_node(output, node);
        Ok(())
    }

    /// Makes the constants that a scope yields known outside of it too. A program that is accepted without a scope is
    /// then accepted with it.
    pub(super) fn look_into_scope(&mut self, scope: Op<'c>, body: Block<'c>) {
        let yielded = body.ops().last().map(|yielded| yielded.inputs()).unwrap_or_default();
        for (output, value) in scope.outputs().into_iter().zip(yielded) {
            let Some(&inside) = self.nodes.get(value) else { continue };
            if let Some(known) = self.graph.known_of(inside).cloned() {
                let element = self.graph.node(inside).element;
                let node = self.graph.known(known, shape_of(output), element);
                self.nodes.insert(output, node);
            }
        }
    }

    /// Returns the node of a constant.
    pub(super) fn constant(&mut self, op: Op<'c>) -> Result<NodeId, Reported> {
        let value = op.attr("value").ok_or_else(|| error_at(codes::MALFORMED_IR, op, "has no value").report())?;
        if let Some(number) = float_value(value) {
            let element = element_of(op.output().r#type(), self.half).unwrap_or(Element::F32);
            return Ok(self.graph.known(Known::number(number), Vec::new(), element));
        }
        let is_integer = matches!(ScalarType::of(op.output().r#type()), ScalarType::Integer(..=MAX_WIDTH) | ScalarType::Index);
        if let Some(integer) = is_integer.then(|| integer(value)).flatten() {
            let element = element_of(op.output().r#type(), self.half).unwrap_or(Element::F32);
            return Ok(self.graph.known(Known::integer(as_element(integer, element)), Vec::new(), element));
        }
        let Some(tensor) = TensorType::of(op.output().r#type()) else {
            let message = codes::ELEMENT_TYPE.says(format_args!(
                "expected a number, a signless integer of at most {MAX_WIDTH} bits, or a tensor, found {}",
                op.output().r#type()
            ));
            return Ok(self.refused(op, op.loc(), message, Vec::new(), Element::F32));
        };
        refuse_size(op, &tensor)?;
        let Some(element) = element_of(tensor.element, self.half) else {
            let message = codes::ELEMENT_TYPE
                .says(format_args!("expected elements of a device format, found {}; convert them before the export", tensor.element));
            return Ok(self.refused(op, op.loc(), message, tensor.shape, Element::F32));
        };
        let (value, tensor) = in_sixteen_bits(op, value, tensor, element);
        // Integer constants are never weights, at any size: index arithmetic uses an exporter's table of positions.
        let known = if element == Element::Int {
            dense_integers(value, MOST_KNOWN_ELEMENTS).map(Known::integer_table)
        } else {
            dense_numbers(value, MOST_FOLDED_ELEMENTS).map(|numbers| {
                Known::table(
                    &numbers.into_iter().map(|number| if element == Element::Bool { number.abs() } else { number }).collect::<Vec<_>>(),
                )
            })
        };
        if let Some(known) = known {
            return Ok(self.graph.known(known, tensor.shape, element));
        }
        self.graph.note_given(self.sources.len(), is_single(tensor.element));
        let node = self.graph.tensor(self.sources.len(), tensor.shape, element);
        self.sources.push(Source::Weights(value, op.loc()));
        Ok(node)
    }

    /// Returns the node of a value that an operation uses.
    pub(super) fn node_of(&self, user: Op<'c>, value: Value<'c>) -> Result<NodeId, Reported> {
        let known = self.nodes.get(value).copied();
        known.ok_or_else(|| {
            let (of, name) = (value.r#type(), value.def().map_or("an argument", OpExt::full_name));
            error_at(codes::UNSUPPORTED, user, format_args!("uses a value of type {of} from '{name}', which is not supported")).report()
        })
    }

    /// Returns the node of an external value that a body uses.
    pub(super) fn outer_scalar(&self, value: Value<'c>) -> Scalar {
        self.nodes.get(value).map_or(Scalar::Unknown, |node| Scalar::Outer(*node))
    }

    /// Records the node of a value. A rejection takes the shape of the value.
    pub(super) fn note_node(&mut self, value: Value<'c>, node: NodeId) {
        let shape = TensorType::of(value.r#type()).filter(|_| self.graph.refused_among(&[node]).is_some());
        let node = shape.map_or(node, |tensor| self.graph.reshape(node, &tensor.shape));
        self.nodes.insert(value, node);
    }

    /// Sets the operation for which the next nodes are built.
    pub(super) fn note_place(&mut self, location: Location<'c>) {
        self.graph.set_place(self.places.len());
        self.places.push(location);
    }

    /// Adds the locations of the operations that are part of `built` to that of the nodes from `first` on.
    pub(super) fn note_absorbed(&mut self, built: NodeId, first: usize, operands: &[NodeId]) {
        let absorbed = self.graph.absorbed_places(built, first, operands);
        if absorbed.is_empty() {
            return;
        }
        let own = self.places.len() - 1;
        let places: Vec<Location<'c>> = [own].iter().chain(&absorbed).map(|&place| self.places[place]).collect();
        self.places.push(fused_location(&places));
        self.graph.replace_place(first, own, self.places.len() - 1);
    }

    /// Adds a node that is rejected if it is used.
    pub(super) fn refused(&mut self, op: Op<'c>, location: Location<'c>, message: String, shape: Vec<i64>, element: Element) -> NodeId {
        self.refusals.push(Refusal { op, location, message });
        self.graph.refused(self.refusals.len() - 1, shape, element)
    }

    /// Builds integers that the device's format does not represent, as their digits. They may be results of the program, select rows of a
    /// table, or be added, subtracted, compared and chosen; other ops on them are rejected.
    pub(super) fn as_digits(&mut self, op: Op<'c>, digits: Digits) -> NodeId {
        let parts = digits.parts;
        if let [Some(upper), Some(lower)] = parts.map(|digit| self.graph.known_of(digit).cloned()) {
            let [of_upper, of_lower] = parts.map(|digit| self.graph.node(digit).shape.clone());
            let shape = self.graph.broadcast_shape(&parts);
            #[allow(clippy::cast_precision_loss, reason = "a small number")]
            let base = RESULT_BASE as f64;
            let integers = Known::combined(&[(&upper, &of_upper), (&lower, &of_lower)], &shape, |digits| digits[0] * base + digits[1]);
            return self.graph.known(integers, shape, Element::Int);
        }
        let message = "expected integers above 1024 (two digits in the 16-bit format) only in results, gathers, sums, differences, \
                       comparisons and selects, found another use; reduce a smaller dimension";
        let shape = self.graph.broadcast_shape(&parts);
        let refused = self.refused(op, op.loc(), message.to_owned(), shape, Element::Int);
        self.graph.as_digits(digits, refused)
    }

    /// Returns whether a cast is a no-op.
    pub(super) fn fold_cast(&self, cast: Cast<'_>) -> Result<(), String> {
        let [from, to] = [cast.from, cast.to].map(|of| ScalarType::of(of).element());
        let stays = |reason: &str| codes::CONVERSION.says(format_args!("converts {} to {}, which {reason}", cast.from, cast.to));
        self.precision.fold_cast(self.half.is_some(), from, to).map_err(stays)
    }

    /// Records a no-op cast: widening one starts an f32 island, narrowing one ends it.
    pub(super) fn note_cast(&mut self, at: Op<'c>, operand: NodeId) {
        let is_half = |of: Type<'_>| ScalarType::of(element_type(of)).is_half();
        if at.is("arith.truncf") {
            self.islands.leave(operand);
        } else if self.half.is_some() && !at.outputs().first().is_some_and(|output| is_half(output.r#type())) {
            self.islands.enter(operand, at);
        }
    }

    /// Records that a node was computed from others in a wider type than the device's.
    pub(super) fn note_wide(&mut self, at: Op<'c>, operands: &[NodeId], node: NodeId) {
        if self.half.is_some() && at.outputs().first().is_some_and(|output| is_single(output.r#type())) {
            self.islands.join(operands, node);
        }
    }

    /// Returns the assertions that do not hold for every index value that chooses a row. A value range must imply them,
    /// since the device checks nothing.
    pub(super) fn open_asserts(&self) -> impl Iterator<Item = (NodeId, Op<'c>, Location<'c>)> {
        self.asserted.iter().copied().filter(|&(condition, ..)| !always_holds(&self.graph, condition, &self.gathered))
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

/// A truth value is 0 or 1; as a signed integer of one bit, true is -1.
const fn as_element(integer: i64, element: Element) -> i64 {
    if matches!(element, Element::Bool) { integer & 1 } else { integer }
}

/// Returns whether an op makes tensors without elements that are only concatenated with others: a roll by 0 positions is such a concatenation.
pub(super) fn is_left_out(op: Op<'_>) -> bool {
    let is_joined = |user: &Op<'_>| user.is("tensor.concat") || user.is("tensor.cast") && is_left_out(*user);
    let is_left_out = |value: &Value<'_>| {
        let users = value.users();
        has_no_elements(*value) && !users.is_empty() && users.iter().all(is_joined)
    };
    let outputs = op.outputs();
    !outputs.is_empty() && outputs.iter().all(is_left_out)
}

/// Returns whether a tensor has no elements, also if a cast hides its sizes.
pub(super) fn has_no_elements(value: Value<'_>) -> bool {
    match TensorType::of(value.r#type()) {
        Some(tensor) => tensor.shape.contains(&0),
        None => value.def().is_some_and(|def| def.is("tensor.cast") && has_no_elements(def.inputs()[0])),
    }
}

/// Rejects a tensor without elements, and one whose number of elements overflows: later code multiplies sizes without checks.
pub(super) fn refuse_size<'c>(op: Op<'c>, tensor: &TensorType<'c>) -> Result<(), Reported> {
    if tensor.shape.contains(&0) {
        let message = codes::EMPTY_TENSOR
            .says(format_args!("expected at least one element in each dimension, found {}; remove the empty tensor", tensor.build()));
        return Err(error_at(codes::STATIC_TENSOR, op, message).report());
    }
    // Each element may occupy a stick of its own.
    if tensor.shape.iter().try_fold(machine::STICK_BYTES, |bytes, &size| bytes.checked_mul(size)).is_none() {
        let message = codes::TENSOR_SIZE
            .says(format_args!("expected a tensor whose size in bytes fits in 64 bits, found {}; use a smaller shape", tensor.build()));
        return Err(error_at(codes::STATIC_TENSOR, op, message).report());
    }
    Ok(())
}
