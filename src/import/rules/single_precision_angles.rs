//! Angles in single precision: the argument of a sine or a cosine that a program computes in f32.
//!
//! In 16 bits, an angle of 500 is off by up to a quarter. The argument is recomputed in f32 from the f32 tensors, the
//! integers and the constants of the program. The range reduction and the polynomial are in f32, too, and the result is
//! rounded once.
//!
//! A conversion between formats moves elements inside their sticks (`docs/reference/bundle-format.md`, order of
//! elements). A stick of equal elements has no order, so each converted element fills a stick.

use super::recognize::{add, mul, sub};
use crate::import::graph::{
    NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode, constant_tensor::ConstantTensor, formats::StorageFormat,
    table_lookup,
};
use machine::NARROW_FUNCTION;
use program::affine::AffineExpression;
use std::collections::BTreeMap;

/// Maximum number of angles of an operation. With two sticks per angle, a tensor of them has 64 MiB.
const MAX_ANGLES: i64 = 1 << 18;

/// Maximum number of recomputed operations of an argument.
const MAX_REBUILT_OPS: usize = 64;

/// Maximum number of dimensions in addition to that of the lanes.
const MAX_ANGLE_DIMS: usize = 5;

/// Maximum number of products in a sum: the device has no matmul in f32.
const MAX_PRODUCT_TERMS: i64 = 8;

/// Builds a function of angles in single precision, with results of type `element`. Returns None unless the program
/// computes the angles in f32, from its arguments, constants and integers, with at least one product, sum or
/// difference. `name` is the function's name in MLIR. For angles in single precision, `of_angle` returns where the
/// result is valid, the result, and its replacement elsewhere.
pub(super) fn build_angle_function(
    graph: &mut ValueGraph,
    (name, x): (&'static str, NodeId),
    element: NodeElementType,
    of_angle: impl Fn(&mut ValueGraph, NodeId) -> Result<[NodeId; 3], String>,
) -> Option<NodeId> {
    (graph.is_single_operation && !is_folded(graph, x)).then_some(())?;
    AngleFunctionBuilder { graph, name, element, of_angle, results: BTreeMap::new() }.build_result(x)
}

/// Returns whether a function of a node is a constant, or looked up in a table.
fn is_folded(graph: &ValueGraph, id: NodeId) -> bool {
    graph.as_constant(id).is_some() || table_lookup::as_lookup(graph, id).is_some()
}

/// Builder of a function of angles. A function of viewed angles is the viewed function of the angles, which may be
/// fewer.
struct AngleFunctionBuilder<'a, F> {
    graph: &'a mut ValueGraph,
    name: &'static str,
    element: NodeElementType,
    of_angle: F,
    /// Result of each visited node; None while it is built, and where there is none.
    results: BTreeMap<NodeId, Option<NodeId>>,
}

impl<F: Fn(&mut ValueGraph, NodeId) -> Result<[NodeId; 3], String>> AngleFunctionBuilder<'_, F> {
    fn build_result(&mut self, x: NodeId) -> Option<NodeId> {
        if let Some(&known) = self.results.get(&x) {
            return known;
        }
        self.results.insert(x, None);
        let built = self.build_uncached(x);
        self.results.insert(x, built);
        built
    }

    fn build_uncached(&mut self, x: NodeId) -> Option<NodeId> {
        let ValueNode { kind, inputs, shape, .. } = self.graph.node(x).clone();
        match kind {
            NodeKind::Undefined => return Some(self.graph.add_undefined(shape, self.element)),
            _ if is_folded(self.graph, x) => return self.graph.apply(self.name, &[x], self.element).ok(),
            NodeKind::Insert(offsets) => {
                let [part, whole] = [self.build_result(inputs[0])?, self.build_result(inputs[1])?];
                return Some(self.graph.insert(part, whole, offsets));
            }
            NodeKind::View(map) if self.graph.single_precision_value(x).is_none() => {
                let whole = self.build_result(inputs[0])?;
                return Some(self.graph.view(whole, map, &shape));
            }
            NodeKind::Reshape if self.graph.numeric_source_tensor(x).is_none() => {
                let whole = self.build_result(inputs[0])?;
                return Some(self.graph.reshape(whole, &shape));
            }
            _ => {}
        }
        if shape.len() > MAX_ANGLE_DIMS || shape.iter().product::<i64>() > MAX_ANGLES {
            return None;
        }
        let mut rebuilt = SinglePrecisionRewriter { graph: self.graph, nodes: BTreeMap::new(), is_computed: false };
        let angle = rebuilt.rewrite(x).filter(|_| rebuilt.is_computed)?;
        let parts = (self.of_angle)(self.graph, angle).ok()?;
        Some(narrow_result(self.graph, parts, self.element))
    }
}

/// Converts single precision to `element`: selects `result` where `is_valid` holds, `otherwise` elsewhere.
fn narrow_result(
    graph: &mut ValueGraph,
    [is_valid, result, otherwise]: [NodeId; 3],
    element: NodeElementType,
) -> NodeId {
    let shape = graph.node(result).shape.clone();
    let [is_valid, result] = [is_valid, result].map(|node| graph.broadcast_to_lanes(node));
    let single = graph.add_pointwise("where3", &[is_valid, result, otherwise], NodeElementType::Single);
    let converted = graph.convert_lanes(single, NARROW_FUNCTION, element, &shape);
    graph.record_trig_result(graph.node(converted).inputs[0]);
    converted
}

/// Rewriter of nodes in single precision.
struct SinglePrecisionRewriter<'a> {
    graph: &'a mut ValueGraph,
    /// Single-precision node of each visited node; None while it is built, and where there is none.
    nodes: BTreeMap<NodeId, Option<NodeId>>,
    /// Whether an operation rounds.
    is_computed: bool,
}

impl SinglePrecisionRewriter<'_> {
    fn rewrite(&mut self, id: NodeId) -> Option<NodeId> {
        if let Some(&known) = self.nodes.get(&id) {
            return known;
        }
        if self.nodes.len() >= MAX_REBUILT_OPS {
            return None;
        }
        self.nodes.insert(id, None);
        let built = self.rewrite_uncached(id);
        self.nodes.insert(id, built);
        built
    }

    fn rewrite_uncached(&mut self, id: NodeId) -> Option<NodeId> {
        let ValueNode { kind, inputs, shape, element } = self.graph.node(id).clone();
        if let Some(single) = self.graph.single_precision_value(id) {
            return Some(single);
        }
        match kind {
            NodeKind::Constant(_) => Some(id),
            NodeKind::Tensor(number) if element.is_float() => self.rewrite_tensor(id, number),
            NodeKind::Reshape if self.graph.numeric_source_tensor(id).is_some() => self.rewrite_integers(id),
            NodeKind::Reshape if element.is_float() => {
                let input = self.rewrite(inputs[0])?;
                Some(self.graph.reshape(input, &shape))
            }
            NodeKind::View(map) if element.is_float() => {
                let input = self.rewrite(inputs[0])?;
                Some(self.graph.view(input, map, &shape))
            }
            NodeKind::Pointwise(function, constants) => match (function, constants.as_slice()) {
                ("clip", &[low, high]) => {
                    let [low, high] = [low, high].map(|bits| self.graph.add_scalar(f64::from_bits(bits)));
                    let at_least = self.rewrite_pointwise("maximum", &[inputs[0], low])?;
                    self.graph.apply("arith.minimumf", &[at_least, high], NodeElementType::Single).ok()
                }
                _ => self.rewrite_pointwise(function, &inputs),
            },
            NodeKind::Insert(offsets) if element.is_float() => {
                let [part, whole] = [self.rewrite(inputs[0])?, self.rewrite(inputs[1])?];
                Some(self.graph.insert(part, whole, offsets))
            }
            NodeKind::Undefined => Some(self.graph.add_undefined(shape, NodeElementType::Single)),
            NodeKind::Matmul => self.rewrite_matmul(&inputs),
            NodeKind::Virtual(_) => match table_lookup::as_lookup(self.graph, id) {
                Some((table, index)) => self.rewrite_positions(table, index, &shape),
                None if element.is_float() => self.rewrite(*inputs.last()?),
                None => None,
            },
            _ => None,
        }
    }

    /// Returns a tensor of the program in f32; one that the program holds in 16 bits is widened.
    fn rewrite_tensor(&mut self, id: NodeId, number: usize) -> Option<NodeId> {
        let shape = self.graph.node(id).shape.clone();
        if self.graph.is_f32_input(number)? {
            (self.graph.storage_format(number) != Some(StorageFormat::Narrow))
                .then(|| self.graph.add_tensor(number, shape, NodeElementType::Single))
        } else {
            (shape.iter().product::<i64>() <= MAX_ANGLES).then(|| self.graph.widen_to_single(id))
        }
    }

    /// Returns integers as numbers in single precision.
    fn rewrite_integers(&mut self, id: NodeId) -> Option<NodeId> {
        let ValueNode { kind, inputs, shape, .. } = self.graph.node(id).clone();
        let source = self.graph.numeric_source_tensor(id)?;
        self.graph.is_f32_input(source)?;
        (self.graph.storage_format(source) != Some(StorageFormat::Narrow)).then_some(())?;
        let number = self.graph.add(kind, &inputs, shape, NodeElementType::Single);
        self.graph.record_integers(number);
        Some(number)
    }

    /// Returns the numbers of an index that has too many values for a table of its function. If the index also selects
    /// rows, the numbers come from a table.
    fn rewrite_positions(&mut self, table: NodeId, index: NodeId, shape: &[i64]) -> Option<NodeId> {
        let counts = self.graph.as_constant(table).is_some_and(ConstantTensor::is_iota);
        let number = self.graph.source_tensor(index).filter(|_| counts && self.graph.node(index).shape == shape)?;
        self.graph.is_f32_input(number)?;
        if self.graph.storage_format(number) == Some(StorageFormat::Narrow) {
            let n_rows = self.graph.node(table).shape[0];
            let looked_up = table_lookup::build_iota_lookup(self.graph, index, n_rows, NodeElementType::Single);
            return Some(self.graph.device_node(looked_up));
        }
        let number = self.graph.add(NodeKind::Reshape, &[index], shape.to_vec(), NodeElementType::Single);
        self.graph.record_integers(number);
        Some(number)
    }

    fn rewrite_pointwise(&mut self, function: &str, inputs: &[NodeId]) -> Option<NodeId> {
        let inputs = inputs.iter().map(|&input| self.rewrite(input)).collect::<Option<Vec<_>>>()?;
        self.is_computed |= function != "neg";
        let built = match function {
            "add" => add(self.graph, &inputs, NodeElementType::Single),
            "sub" => sub(self.graph, &inputs, NodeElementType::Single),
            "mul" => mul(self.graph, &inputs, NodeElementType::Single),
            "maximum" => self.graph.apply("arith.maximumf", &inputs, NodeElementType::Single),
            "minimum" => self.graph.apply("arith.minimumf", &inputs, NodeElementType::Single),
            "neg" => self.graph.apply("arith.negf", &inputs, NodeElementType::Single),
            "realdiv" => self.graph.apply("arith.divf", &inputs, NodeElementType::Single),
            _ => return None,
        };
        built.ok()
    }

    /// Returns a matmul as a sum of products of columns and rows.
    fn rewrite_matmul(&mut self, inputs: &[NodeId]) -> Option<NodeId> {
        let [lhs, rhs] = [self.rewrite(inputs[0])?, self.rewrite(inputs[1])?];
        let [of_lhs, of_rhs] = [lhs, rhs].map(|input| self.graph.node(input).shape.clone());
        let (k, num_batches) = (*of_lhs.last()?, of_lhs.len() - 2);
        (k <= MAX_PRODUCT_TERMS && of_rhs.len() == of_lhs.len()).then_some(())?;
        self.is_computed = true;
        let mut sum = None;
        for term in 0..k {
            let batch = || (0..num_batches).map(AffineExpression::Dim);
            let column =
                batch().chain([AffineExpression::Dim(num_batches), AffineExpression::Constant(term)]).collect();
            let row =
                batch().chain([AffineExpression::Constant(term), AffineExpression::Dim(num_batches + 1)]).collect();
            let column = self.graph.view(lhs, column, &[&of_lhs[..=num_batches], &[1]].concat());
            let row = self.graph.view(rhs, row, &[&of_rhs[..num_batches], &[1, of_rhs[num_batches + 1]]].concat());
            let product = mul(self.graph, &[column, row], NodeElementType::Single).ok()?;
            sum = Some(match sum {
                Some(sum) => add(self.graph, &[sum, product], NodeElementType::Single).ok()?,
                None => product,
            });
        }
        sum
    }
}
