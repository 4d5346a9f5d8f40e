//! Angles in single precision: the argument of a sine or a cosine that a program computes in f32.
//!
//! In 16 bits, an angle of 500 is off by up to a quarter. The argument is computed again from the f32 tensors, the integers and the constants
//! of the program, in f32; so are the range reduction and the polynomial, and the result is rounded once.
//!
//! A conversion between formats moves elements inside their sticks (`docs/reference/bundle-format.md`, order of elements). A stick of equal
//! elements has no order, so each converted element fills a stick.

use super::recognize::{add, mul, sub};
use crate::import::graph::{Element, Graph, Kind, Node, NodeId, rows};
use machine::{NARROW, WIDEN};
use program::affine::Expr;
use std::collections::BTreeMap;

/// Elements of a 16-bit stick, and of two 32-bit sticks: the conversions read and write pairs of these.
const LANES: i64 = 64;

/// Maximum number of angles of an operation: with two sticks for each, a tensor of them has 16 MiB.
const MOST_ANGLES: i64 = 1 << 16;

/// Maximum number of operations of an argument that are computed again.
const MOST_STEPS: usize = 64;

/// Maximum number of dimensions beside that of the lanes.
const MOST_DIMS: usize = 5;

/// Returns an argument of a sine or a cosine in single precision. None unless the program computes it in f32, from its arguments, constants and
/// integers, with at least one product, sum or difference.
pub(super) fn angle(graph: &mut Graph, x: NodeId) -> Option<NodeId> {
    let shape = &graph.node(x).shape;
    if !graph.is_single_operation || shape.len() > MOST_DIMS || shape.iter().product::<i64>() > MOST_ANGLES {
        return None;
    }
    let mut rebuilt = Rebuilt { graph, nodes: BTreeMap::new(), is_computed: false };
    let angle = rebuilt.node(x)?;
    rebuilt.is_computed.then_some(angle)
}

/// Converts single precision to `element`: selects `result` where `is_valid` holds, `otherwise` elsewhere.
pub(super) fn narrowed(graph: &mut Graph, [is_valid, result, otherwise]: [NodeId; 3], element: Element) -> NodeId {
    let shape = graph.node(result).shape.clone();
    let [is_valid, result] = [is_valid, result].map(|node| in_lanes(graph, node));
    let single = graph.pointwise("where3", &[is_valid, result, otherwise], Element::Single);
    let narrow = graph.pointwise(NARROW, &[single], element);
    first_lane(graph, narrow, &shape)
}

/// Converts 16-bit numbers to single precision.
fn widened(graph: &mut Graph, node: NodeId) -> NodeId {
    let Node { shape, element, .. } = graph.node(node).clone();
    let (lanes, one) = (in_lanes(graph, node), graph.number(1.0));
    let whole = graph.pointwise("mul", &[lanes, one], element);
    let single = graph.pointwise(WIDEN, &[whole], Element::Single);
    first_lane(graph, single, &shape)
}

/// Repeats each element along a dimension of its own.
fn in_lanes(graph: &mut Graph, node: NodeId) -> NodeId {
    let shape = graph.node(node).shape.clone();
    let map = (0..shape.len()).map(Expr::Dim).collect();
    graph.view(node, map, &[shape, vec![LANES]].concat())
}

fn first_lane(graph: &mut Graph, node: NodeId, shape: &[i64]) -> NodeId {
    let map = (0..shape.len()).map(Expr::Dim).chain([Expr::Constant(0)]).collect();
    graph.view(node, map, shape)
}

/// Nodes in single precision.
struct Rebuilt<'a> {
    graph: &'a mut Graph,
    /// Single-precision node of each visited node; None while it is built, and where there is none.
    nodes: BTreeMap<NodeId, Option<NodeId>>,
    /// Whether an operation rounds.
    is_computed: bool,
}

impl Rebuilt<'_> {
    fn node(&mut self, id: NodeId) -> Option<NodeId> {
        if let Some(&known) = self.nodes.get(&id) {
            return known;
        }
        if self.nodes.len() >= MOST_STEPS {
            return None;
        }
        self.nodes.insert(id, None);
        let built = self.built(id);
        self.nodes.insert(id, built);
        built
    }

    fn built(&mut self, id: NodeId) -> Option<NodeId> {
        let Node { kind, inputs, shape, element } = self.graph.node(id).clone();
        match kind {
            Kind::Known(_) => Some(id),
            Kind::Tensor(number) if element.is_float() => self.tensor(id, number),
            Kind::Reshape | Kind::View(_) if self.graph.number_of_integers(id).is_some() => self.integers(id),
            Kind::Reshape if element.is_float() => {
                let input = self.node(inputs[0])?;
                Some(self.graph.reshape(input, &shape))
            }
            Kind::View(map) if element.is_float() => {
                let input = self.node(inputs[0])?;
                Some(self.graph.view(input, map, &shape))
            }
            Kind::Pointwise(function, _) => self.computed(function, &inputs),
            Kind::Matmul => self.outer_product(&inputs),
            Kind::Virtual(_) if element.is_float() && rows::parts(self.graph, id).is_none() => self.node(*inputs.last()?),
            _ => None,
        }
    }

    /// Returns a tensor of the program, without a conversion where the program holds it in f32.
    fn tensor(&mut self, id: NodeId, number: usize) -> Option<NodeId> {
        if !self.graph.is_single_tensor(number) {
            return Some(widened(self.graph, id));
        }
        let shape = self.graph.node(id).shape.clone();
        (!self.graph.is_kept_narrow(number)).then(|| self.graph.tensor(number, shape, Element::Single))
    }

    /// Returns the numbers of integers.
    fn integers(&mut self, id: NodeId) -> Option<NodeId> {
        let Node { kind, inputs, shape, .. } = self.graph.node(id).clone();
        if self.graph.number_of_integers(id).is_some_and(|number| self.graph.is_kept_narrow(number)) {
            return None;
        }
        let number = self.graph.add(kind, &inputs, shape, Element::Single);
        self.graph.note_integers(number);
        Some(number)
    }

    fn computed(&mut self, function: &str, inputs: &[NodeId]) -> Option<NodeId> {
        let inputs = inputs.iter().map(|&input| self.node(input)).collect::<Option<Vec<_>>>()?;
        self.is_computed |= function != "neg";
        let built = match function {
            "add" => add(self.graph, &inputs, Element::Single),
            "sub" => sub(self.graph, &inputs, Element::Single),
            "mul" => mul(self.graph, &inputs, Element::Single),
            "neg" => self.graph.apply("arith.negf", &inputs, Element::Single),
            "realdiv" => self.graph.apply("arith.divf", &inputs, Element::Single),
            _ => return None,
        };
        built.ok()
    }

    /// Returns the product of a column and a row, which needs no matrix product.
    fn outer_product(&mut self, inputs: &[NodeId]) -> Option<NodeId> {
        let of_lhs = &self.graph.node(inputs[0]).shape;
        (of_lhs.last() == Some(&1)).then_some(())?;
        self.computed("mul", inputs)
    }
}
