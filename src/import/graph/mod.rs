//! Value graph of a function: a DAG of the `linalg` computation, from which `spyre` ops are emitted.
//!
//! Inputs are built before their users. Equal nodes are shared (hash-consing), and constants are folded when a node is
//! built. Dead nodes are not emitted, and an unsupported operation is rejected only if its result is used. A larger
//! pattern (a sigmoid, a mean) is recognized when its last node is built.

mod absorbed_locations;
pub(in crate::import) mod constant_comparison;
pub(in crate::import) mod constant_tensor;
pub(in crate::import) mod digit_pair;
pub(in crate::import) mod formats;
mod gather;
mod index_list;
pub(in crate::import) mod integers;
pub(in crate::import) mod iteration_box;
mod lazy_constant;
pub(in crate::import) mod linear_index;
mod matmul;
pub(in crate::import) mod pad;
mod partial_constant;
mod partial_memory;
mod program_rounding;
pub(in crate::import) mod reshape;
pub(in crate::import) mod table_lookup;
pub(in crate::import) mod views;

use constant_tensor::{ConstantTensor, MAX_CONSTANT_ELEMENTS};
use formats::StorageFormat;
use machine::ElementType;
use partial_constant::PARTIAL_CONSTANT_OP;
use program::affine::AffineExpression;
use reshape::compute_reshape_map;
use std::collections::{BTreeMap, BTreeSet};

/// Handle of a node: its position in the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

impl NodeId {
    /// Returns the position in construction order, which is topological: inputs precede their users.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }
}

/// Element type of a node. Casts that begin and end an f32 region (f32 values between f16 values) are no-ops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeElementType {
    /// IEEE half precision.
    F16,
    /// bfloat16.
    Bf16,
    /// Single precision in the program. The device computes it in f32 or in 16 bits, as `--precision` selects.
    F32,
    /// Single precision on the device even if other f32 values are computed in 16 bits, as for angles.
    Single,
    /// Booleans, held as 0 or 1 in the format of the compared operands.
    Bool,
    /// Integers of any width.
    Int,
}

impl NodeElementType {
    /// Returns whether the type is a floating-point type.
    #[must_use]
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::Bf16 | Self::F32 | Self::Single)
    }

    /// Returns the name of the type in messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::F16 => ElementType::F16.name(),
            Self::Bf16 => ElementType::Bf16.name(),
            Self::F32 | Self::Single => ElementType::F32.name(),
            Self::Bool => "truth values",
            Self::Int => "integers",
        }
    }
}

/// Kind of a node: its operation with attributes, or its source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeKind {
    /// External tensor `n`: an argument, a result of a retained op, or a large constant.
    Tensor(usize),
    /// Compile-time constant.
    Constant(ConstantTensor),
    /// Broadcast of a scalar input to the shape of the node.
    Splat,
    /// Uninitialized memory.
    Undefined,
    /// Row-major reshape of the input.
    Reshape,
    /// View of the input: for each dimension of the input, the index in terms of the node's dimensions.
    View(Vec<AffineExpression>),
    /// Copy of the input in a buffer of its own.
    Copy,
    /// Elementwise device function with its constants as bits; dimensions of size 1 are broadcast, scalars have no
    /// dimensions.
    Pointwise(&'static str, Vec<u64>),
    /// Elementwise operation without a device function of its own, such as `erf`: a component of a larger pattern, or
    /// an integer operation. The last input is its expansion into supported operations.
    Virtual(&'static str),
    /// Reduction by a device function along one dimension, which remains with size 1; its constants as bits.
    Reduce(&'static str, usize, Vec<u64>),
    /// `[batch..., M, K]` times `[batch..., K, N]`.
    Matmul,
    /// Gather: rows of the first input, selected along its dimension by the second.
    Gather(usize),
    /// Insertion of the first input into the second at these offsets, as `tensor.insert_slice`.
    Insert(Vec<i64>),
    /// Unsupported operation: index `n` into the recorded rejections.
    Unsupported(usize),
}

/// Node of the graph: a tensor, or a scalar without dimensions.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueNode {
    /// Operation or source of the node.
    pub kind: NodeKind,
    /// Operands.
    pub inputs: Vec<NodeId>,
    /// Sizes of the dimensions.
    pub shape: Vec<i64>,
    /// Element type.
    pub element: NodeElementType,
}

/// Value graph of a function, with the state of its construction.
#[derive(Debug, Default)]
pub struct ValueGraph {
    nodes: Vec<ValueNode>,
    /// Source location of each node: that of the operation for which it was first built.
    locations: Vec<usize>,
    /// Scope (block of the IR) in which each node is computed.
    scopes: Vec<usize>,
    /// Hash-consing table. Nodes are shared only within a scope, because each op is emitted in one scope.
    shared_nodes: BTreeMap<(usize, ValueNode), NodeId>,
    /// Scope of the nodes that are built next.
    scope: usize,
    /// Source location of the nodes that are built next.
    location: usize,
    /// Facts about runtime integers.
    pub integers: integers::IntegerFacts,
    /// Whether expansions must treat NaN exactly as the program does, even if that takes more ops: they must not return
    /// NaN where the program returns a number.
    pub keeps_nan: bool,
    /// Whether f32 values are computed in the device's 16-bit format.
    is_narrow: bool,
    /// Whether the graph depends on the format in which f32 values are computed.
    depends_on_format: bool,
    /// Whether an argument or constant is f32 in the program, by tensor number.
    input_is_f32: BTreeMap<usize, bool>,
    /// Storage formats of tensors that are read in two formats, by tensor number.
    storage_formats: BTreeMap<usize, StorageFormat>,
    /// Single-precision source of each conversion to 16 bits.
    single_precision_sources: BTreeMap<NodeId, NodeId>,
    /// Repeated lists that are evaluated where an op reads them.
    lazy_constants: BTreeSet<NodeId>,
    /// Converted results of sines and cosines that are computed in single precision.
    trig_results: BTreeSet<NodeId>,
    /// Whether the operation that is built next has a result of f32 or f64 in the program, and angles are computed in
    /// f32.
    pub is_single_operation: bool,
}

impl ValueGraph {
    /// Creates an empty graph. `integers` are facts about runtime integers, `is_narrow` tells whether f32 is computed
    /// in 16 bits, and `storage_formats` has the storage formats of tensors that are read in two formats.
    #[must_use]
    pub fn with_integers(
        integers: integers::IntegerFacts,
        is_narrow: bool,
        storage_formats: BTreeMap<usize, StorageFormat>,
    ) -> Self {
        Self { integers, is_narrow, storage_formats, ..Self::default() }
    }

    /// Returns the node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &ValueNode {
        &self.nodes[id.0]
    }

    /// Returns the source location of the node.
    #[must_use]
    pub fn location(&self, id: NodeId) -> usize {
        self.locations[id.0]
    }

    /// Returns the scope in which the node is computed.
    #[must_use]
    pub fn scope(&self, id: NodeId) -> usize {
        self.scopes[id.0]
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Returns whether the graph is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Sets the source location of the nodes that are built next.
    pub fn set_location(&mut self, location: usize) {
        self.location = location;
    }

    /// Sets the scope of the nodes that are built next; returns the previous scope.
    pub fn enter_scope(&mut self, scope: usize) -> usize {
        std::mem::replace(&mut self.scope, scope)
    }

    /// Returns the node of the current scope with these contents; adds it if there is none.
    pub fn add(&mut self, kind: NodeKind, inputs: &[NodeId], shape: Vec<i64>, element: NodeElementType) -> NodeId {
        let kind = if let NodeKind::Constant(constant) = kind {
            NodeKind::Constant(constant.to_storage(element == NodeElementType::Int))
        } else {
            kind
        };
        let node = ValueNode { kind, inputs: inputs.to_vec(), shape, element };
        if let Some(&existing) = self.shared_nodes.get(&(self.scope, node.clone())) {
            return existing;
        }
        let id = NodeId(self.nodes.len());
        self.shared_nodes.insert((self.scope, node.clone()), id);
        self.nodes.push(node);
        self.locations.push(self.location);
        self.scopes.push(self.scope);
        id
    }

    /// Adds an external tensor.
    pub fn add_tensor(&mut self, number: usize, shape: Vec<i64>, element: NodeElementType) -> NodeId {
        self.add(NodeKind::Tensor(number), &[], shape, element)
    }

    /// Adds a scalar, which takes the element type of the operands that it is combined with.
    pub fn add_scalar(&mut self, value: f64) -> NodeId {
        self.add_constant(ConstantTensor::from_scalar(value), Vec::new(), NodeElementType::F32)
    }

    /// Adds a constant. A constant whose elements are all equal becomes a scalar without dimensions.
    pub fn add_constant(&mut self, constant: ConstantTensor, shape: Vec<i64>, element: NodeElementType) -> NodeId {
        match constant.to_scalar() {
            Some(scalar) => self.add(NodeKind::Constant(scalar), &[], Vec::new(), element),
            None => self.add(NodeKind::Constant(constant), &[], shape, element),
        }
    }

    /// Adds the broadcast of a scalar to a shape.
    pub fn add_splat(&mut self, scalar: NodeId, shape: Vec<i64>) -> NodeId {
        let element = self.node(scalar).element;
        self.add(NodeKind::Splat, &[scalar], shape, element)
    }

    /// Broadcasts a scalar constant to a shape; returns any other node unchanged.
    pub fn splat_if_scalar(&mut self, node: NodeId, shape: &[i64]) -> NodeId {
        if self.as_scalar(node).is_some() { self.add_splat(node, shape.to_vec()) } else { node }
    }

    /// Adds uninitialized memory.
    pub fn add_undefined(&mut self, shape: Vec<i64>, element: NodeElementType) -> NodeId {
        self.add(NodeKind::Undefined, &[], shape, element)
    }

    /// Adds a rejection, which is reported only if the node is used.
    pub fn add_unsupported(&mut self, rejection: usize, shape: Vec<i64>, element: NodeElementType) -> NodeId {
        self.add(NodeKind::Unsupported(rejection), &[], shape, element)
    }

    /// Returns the first rejected node among `nodes`.
    #[must_use]
    pub fn find_unsupported(&self, nodes: &[NodeId]) -> Option<NodeId> {
        nodes.iter().copied().find(|&id| matches!(self.node(id).kind, NodeKind::Unsupported(_)))
    }

    /// Returns the rejected node that is the expansion of a virtual operation, if any.
    #[must_use]
    pub fn find_unsupported_fallback(&self, id: NodeId) -> Option<NodeId> {
        matches!(self.node(id).kind, NodeKind::Virtual(_))
            .then(|| self.find_unsupported(self.required_inputs(id)))
            .flatten()
    }

    /// Returns the value of a node that is a scalar or splat constant.
    #[must_use]
    pub fn as_scalar(&self, id: NodeId) -> Option<f64> {
        self.as_constant(id).and_then(ConstantTensor::splat_value)
    }

    /// Returns the elements of a node, if they are constant.
    #[must_use]
    pub fn as_constant(&self, id: NodeId) -> Option<&ConstantTensor> {
        if let NodeKind::Constant(constant) = &self.node(id).kind { Some(constant) } else { None }
    }

    /// Builds a row-major reshape of a node to a shape with as many elements.
    pub fn reshape(&mut self, input: NodeId, shape: &[i64]) -> NodeId {
        let ValueNode { kind, inputs, shape: from, element } = self.node(input).clone();
        if from == shape || self.as_scalar(input).is_some() {
            return input;
        }
        match kind {
            NodeKind::Unsupported(rejection) => self.add_unsupported(rejection, shape.to_vec(), element),
            NodeKind::Constant(constant) => self.add_constant(constant, shape.to_vec(), element),
            NodeKind::Undefined => self.add_undefined(shape.to_vec(), element),
            NodeKind::Splat if element == NodeElementType::Int => {
                self.add(NodeKind::Splat, &inputs, shape.to_vec(), element)
            }
            // A reshape of a reshape is one reshape of the first tensor, so inverse reshapes cancel.
            NodeKind::Reshape if self.node(inputs[0]).element == element => self.reshape(inputs[0], shape),
            NodeKind::Virtual(operation) => {
                if let Some(viewed) =
                    constant_comparison::view_truth_value(self, input, &compute_reshape_map(&from, shape), shape)
                {
                    return viewed;
                }
                if table_lookup::as_lookup(self, input).is_some() {
                    return table_lookup::reshape_lookup(self, input, shape)
                        .unwrap_or_else(|| self.reshape(inputs[inputs.len() - 1], shape));
                }
                let viewed = self.map_inputs(&inputs, |graph, input| {
                    let broadcasted = graph.broadcast(input, &from);
                    graph.reshape(broadcasted, shape)
                });
                if let (PARTIAL_CONSTANT_OP, &[known, is_undefined, rejected]) = (operation, viewed.as_slice()) {
                    return self.add_partial_constant(known, is_undefined, rejected);
                }
                self.add(NodeKind::Virtual(operation), &viewed, shape.to_vec(), element)
            }
            _ => self.add(NodeKind::Reshape, &[input], shape.to_vec(), element),
        }
    }

    /// Builds a view of a node. `map` has, for each dimension of the node, the index in terms of the view's dimensions.
    pub fn view(&mut self, input: NodeId, map: Vec<AffineExpression>, shape: &[i64]) -> NodeId {
        let ValueNode { kind, shape: from, element, .. } = self.node(input).clone();
        if self.as_scalar(input).is_some() || (from == shape && is_identity(&map)) {
            return input;
        }
        match kind {
            NodeKind::Unsupported(rejection) => self.add_unsupported(rejection, shape.to_vec(), element),
            NodeKind::Undefined => self.add_undefined(shape.to_vec(), element),
            NodeKind::Splat if element == NodeElementType::Int => {
                self.add(NodeKind::Splat, &self.node(input).inputs.clone(), shape.to_vec(), element)
            }
            NodeKind::Insert(_) => match self.view_inserted_slices(input, &map, shape) {
                Some(found) => found,
                None => self.add(NodeKind::View(map), &[input], shape.to_vec(), element),
            },
            NodeKind::Virtual(operation) => {
                if let Some(viewed) = constant_comparison::view_truth_value(self, input, &map, shape) {
                    return viewed;
                }
                let inputs = self.node(input).inputs.clone();
                if table_lookup::as_lookup(self, input).is_some() {
                    return table_lookup::view_lookup(self, input, &map, shape)
                        .unwrap_or_else(|| self.view(inputs[inputs.len() - 1], map, shape));
                }
                let viewed = self.map_inputs(&inputs, |graph, input| {
                    let broadcasted = graph.broadcast(input, &from);
                    graph.view(broadcasted, map.clone(), shape)
                });
                if let (PARTIAL_CONSTANT_OP, &[known, is_undefined, rejected]) = (operation, viewed.as_slice()) {
                    return self.add_partial_constant(known, is_undefined, rejected);
                }
                self.add(NodeKind::Virtual(operation), &viewed, shape.to_vec(), element)
            }
            NodeKind::Constant(constant) if shape.iter().product::<i64>() <= MAX_CONSTANT_ELEMENTS => {
                let viewed = constant.apply_view(&from, &map, shape);
                self.add_constant(viewed, shape.to_vec(), element)
            }
            _ => self.add(NodeKind::View(map), &[input], shape.to_vec(), element),
        }
    }

    /// Applies a view or reshape to each input of a virtual operation, instead of to its result. Otherwise the view
    /// would hide the inputs from the analysis of indices, which may find that the result equals one of them.
    fn map_inputs(&mut self, inputs: &[NodeId], apply_view: impl Fn(&mut Self, NodeId) -> NodeId) -> Vec<NodeId> {
        inputs.iter().map(|&input| apply_view(self, input)).collect()
    }

    /// Broadcasts a node along the dimensions in which it has size 1.
    pub fn broadcast(&mut self, input: NodeId, shape: &[i64]) -> NodeId {
        let input_shape = self.node(input).shape.clone();
        if input_shape.is_empty() || input_shape == shape {
            return input;
        }
        if let NodeKind::Unsupported(rejection) = self.node(input).kind {
            return self.add_unsupported(rejection, shape.to_vec(), self.node(input).element);
        }
        let index = |(dim, size): (usize, &i64)| {
            if *size == shape[dim] { AffineExpression::Dim(dim) } else { AffineExpression::Constant(0) }
        };
        let map = input_shape.iter().enumerate().map(index).collect();
        self.view(input, map, shape)
    }

    /// Broadcasts a runtime tensor of rank 0 to a shape; returns any other node unchanged.
    pub fn broadcast_rank_zero(&mut self, scalar: NodeId, shape: &[i64]) -> NodeId {
        let is_tensor = self.as_constant(scalar).is_none() && self.node(scalar).shape.is_empty() && !shape.is_empty();
        if is_tensor { self.view(scalar, Vec::new(), shape) } else { scalar }
    }

    /// Returns the shape of an elementwise result: the largest size of each dimension. Scalars are ignored.
    #[must_use]
    pub fn compute_broadcast_shape(&self, inputs: &[NodeId]) -> Vec<i64> {
        let shapes = inputs.iter().map(|&input| &self.node(input).shape).filter(|shape| !shape.is_empty());
        shapes.fold(Vec::new(), |widest, shape| {
            if widest.is_empty() { shape.clone() } else { widest.iter().zip(shape).map(|(a, b)| *a.max(b)).collect() }
        })
    }

    /// Returns the distinct element types of the inputs of an elementwise operation; constants take any type.
    #[must_use]
    pub fn collect_element_types(&self, inputs: &[NodeId]) -> Vec<NodeElementType> {
        let mut elements = Vec::new();
        for node in inputs
            .iter()
            .map(|&input| self.node(input))
            .filter(|node| !matches!(node.kind, NodeKind::Constant(_) | NodeKind::Undefined))
        {
            if !elements.contains(&node.element) {
                elements.push(node.element);
            }
        }
        elements
    }

    /// Builds an elementwise device function without simplifying it; `rules::functions` simplifies.
    pub fn add_pointwise(&mut self, function: &'static str, inputs: &[NodeId], element: NodeElementType) -> NodeId {
        self.add_pointwise_with_constants(function, &[], inputs, element)
    }

    /// Builds an elementwise device function with constants.
    pub fn add_pointwise_with_constants(
        &mut self,
        function: &'static str,
        constants: &[f64],
        inputs: &[NodeId],
        element: NodeElementType,
    ) -> NodeId {
        let constants = constants.iter().map(|constant| constant.to_bits()).collect();
        let shape = self.compute_broadcast_shape(inputs);
        let inputs: Vec<NodeId> =
            inputs.iter().map(|&input| constant_comparison::recompute_broadcast(self, input, &shape)).collect();
        self.add(NodeKind::Pointwise(function, constants), &inputs, shape, element)
    }

    /// Builds a virtual elementwise operation. `fallback` is its expansion, for uses that no larger pattern absorbs.
    pub fn add_virtual_op(
        &mut self,
        operation: &'static str,
        inputs: &[NodeId],
        fallback: NodeId,
        element: NodeElementType,
    ) -> NodeId {
        let shape = self.compute_broadcast_shape(inputs);
        self.add(NodeKind::Virtual(operation), &[inputs, &[fallback]].concat(), shape, element)
    }

    /// Builds a node of integers whose values are computed as numbers of the device's format.
    pub fn add_integers(&mut self, values: NodeId) -> NodeId {
        let shape = self.node(values).shape.clone();
        if let Some(constant) = self.as_constant(values).cloned() {
            return self.add_constant(constant, shape, NodeElementType::Int);
        }
        self.record_integers(values);
        self.add(NodeKind::Virtual("integers"), &[values], shape, NodeElementType::Int)
    }

    /// Builds a node of integers from their digits, side by side: each digit is a number of the device's format.
    pub fn add_digit_integers(&mut self, digits: NodeId) -> NodeId {
        let shape = self.node(digits).shape.clone();
        self.add(NodeKind::Virtual("integers"), &[digits], shape, NodeElementType::Int)
    }

    /// Returns the inputs that are needed to compute a node: for a virtual operation, only its expansion.
    #[must_use]
    pub fn required_inputs(&self, id: NodeId) -> &[NodeId] {
        let ValueNode { kind, inputs, .. } = self.node(id);
        if matches!(kind, NodeKind::Virtual(_)) { &inputs[inputs.len() - 1..] } else { inputs }
    }

    /// Builds a reduction by a device function along one dimension, which remains with size 1.
    pub fn reduce(&mut self, function: &'static str, input: NodeId, dim: usize) -> NodeId {
        let ValueNode { mut shape, element, .. } = self.node(input).clone();
        shape[dim] = 1;
        self.add(NodeKind::Reduce(function, dim, Vec::new()), &[input], shape, element)
    }

    /// Inserts `slice` into the tensor `base` at `offsets`, as `tensor.insert_slice`.
    pub fn insert(&mut self, slice: NodeId, base: NodeId, offsets: Vec<i64>) -> NodeId {
        let ValueNode { shape, element, .. } = self.node(base).clone();
        if self.node(slice).shape == shape {
            return slice;
        }
        // A splat takes the element type of the tensor that it is inserted into.
        let slice = match self.node(slice).clone() {
            ValueNode { kind: NodeKind::Splat, inputs, shape, .. } => {
                self.add(NodeKind::Splat, &inputs, shape, element)
            }
            _ => slice,
        };
        if let Some(inserted) = self.insert_partial_memory(slice, base, &offsets) {
            return inserted;
        }
        let is_untyped = matches!(self.node(slice).kind, NodeKind::Undefined | NodeKind::Unsupported(_));
        let element = if is_untyped { element } else { self.node(slice).element };
        let inserted = self.add(NodeKind::Insert(offsets), &[slice, base], shape, element);
        self.merge_inserts(inserted).unwrap_or(inserted)
    }

    /// Merges a chain of inserts into one node if all inserted slices are constants, or all are table lookups by one
    /// index. Returns `None` otherwise.
    fn merge_inserts(&mut self, last_insert: NodeId) -> Option<NodeId> {
        let (ValueNode { shape, element, .. }, mut inserts, mut base) =
            (self.node(last_insert).clone(), Vec::new(), last_insert);
        let find_constant = |graph: &Self, id: NodeId| match graph.node(id).kind {
            NodeKind::Splat => graph.as_constant(graph.node(id).inputs[0]).cloned(),
            _ => graph.as_constant(id).cloned(),
        };
        let is_mergeable = |graph: &Self, id: NodeId| {
            find_constant(graph, id).is_some() || table_lookup::as_lookup(graph, id).is_some()
        };
        while let NodeKind::Insert(offsets) = &self.node(base).kind {
            let &[slice, previous] = self.node(base).inputs.as_slice() else { return None };
            if !is_mergeable(self, slice) {
                return None;
            }
            inserts.push((slice, offsets.clone()));
            base = previous;
        }
        inserts.reverse();
        let num_elements: i64 = shape.iter().product();
        if num_elements > MAX_CONSTANT_ELEMENTS {
            return None;
        }
        let base_constant = find_constant(self, base)
            .map(|constant| (constant.broadcast_scalar(&shape), shape.clone(), vec![0; shape.len()]));
        if base_constant.is_none() && self.node(base).kind != NodeKind::Undefined {
            return None;
        }
        let to_constant_box = |(slice, offsets): &(NodeId, Vec<i64>)| {
            Some((find_constant(self, *slice)?, self.node(*slice).shape.clone(), offsets.clone()))
        };
        if let Some(boxes) = inserts.iter().map(to_constant_box).collect::<Option<Vec<_>>>() {
            let boxes: Vec<_> = base_constant.into_iter().chain(boxes).collect();
            let constant = ConstantTensor::assemble(&boxes, &shape)?;
            return Some(self.add_constant(constant, shape, element));
        }
        let is_finished = self.find_partial_slices(last_insert).is_none();
        if base_constant.is_some() || !is_finished { None } else { table_lookup::merge_lookups(self, &inserts, &shape) }
    }

    /// Returns the nodes that `roots` need and for which `is_done` is false, inputs before users.
    #[must_use]
    pub fn collect_required(&self, roots: &[NodeId], is_done: impl Fn(NodeId) -> bool) -> Vec<NodeId> {
        let mut stack: Vec<NodeId> = roots.to_vec();
        let mut found = BTreeSet::new();
        while let Some(id) = stack.pop() {
            if !is_done(id) && found.insert(id) {
                stack.extend(self.required_inputs(id));
            }
        }
        found.into_iter().collect()
    }
}

/// Returns whether a map is the identity.
fn is_identity(map: &[AffineExpression]) -> bool {
    map.iter().enumerate().all(|(position, expr)| *expr == AffineExpression::Dim(position))
}

#[cfg(test)]
mod tests;
