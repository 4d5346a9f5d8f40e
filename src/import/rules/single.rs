//! Angles in single precision: the argument of a sine or a cosine that a program computes in f32.
//!
//! In 16 bits, an angle of 500 is off by up to a quarter. The argument is computed again from the f32 tensors, the integers and the constants
//! of the program, in f32; so are the range reduction and the polynomial, and the result is rounded once.
//!
//! A conversion between formats moves elements inside their sticks (`docs/reference/bundle-format.md`, order of elements). A stick of equal
//! elements has no order, so each converted element fills a stick.

use super::recognize::{add, mul, sub};
use crate::import::graph::{Element, Graph, Kind, Node, NodeId, formats::Held, known::Known, rows};
use machine::NARROW;
use program::affine::Expr;
use std::collections::BTreeMap;

/// Maximum number of angles of an operation: with two sticks for each, a tensor of them has 64 MiB.
const MOST_ANGLES: i64 = 1 << 18;

/// Maximum number of operations of an argument that are computed again.
const MOST_STEPS: usize = 64;

/// Maximum number of dimensions beside that of the lanes.
const MOST_DIMS: usize = 5;

/// Maximum number of products of a sum: the device has no product of matrices in f32.
const MOST_PRODUCTS: i64 = 8;

/// Builds a function of angles in single precision, with results of type `element`. Returns None unless the program computes the angles in f32,
/// from its arguments, constants and integers, with at least one product, sum or difference. `name` is the function's name in MLIR; `of_angle`
/// returns for angles in single precision where the result is valid, the result, and what replaces it elsewhere.
pub(super) fn of_angles(
    graph: &mut Graph,
    (name, x): (&'static str, NodeId),
    element: Element,
    of_angle: impl Fn(&mut Graph, NodeId) -> Result<[NodeId; 3], String>,
) -> Option<NodeId> {
    (graph.is_single_operation && !is_folded(graph, x)).then_some(())?;
    Angles { graph, name, element, of_angle, results: BTreeMap::new() }.result(x)
}

/// Returns whether a function of a node is a constant, or looked up in a table.
fn is_folded(graph: &Graph, id: NodeId) -> bool {
    graph.known_of(id).is_some() || rows::parts(graph, id).is_some()
}

/// A function of moved angles is the moved function of the angles, which may be fewer.
struct Angles<'a, F> {
    graph: &'a mut Graph,
    name: &'static str,
    element: Element,
    of_angle: F,
    /// Result of each visited node; None while it is built, and where there is none.
    results: BTreeMap<NodeId, Option<NodeId>>,
}

impl<F: Fn(&mut Graph, NodeId) -> Result<[NodeId; 3], String>> Angles<'_, F> {
    fn result(&mut self, x: NodeId) -> Option<NodeId> {
        if let Some(&known) = self.results.get(&x) {
            return known;
        }
        self.results.insert(x, None);
        let built = self.built(x);
        self.results.insert(x, built);
        built
    }

    fn built(&mut self, x: NodeId) -> Option<NodeId> {
        let Node { kind, inputs, shape, .. } = self.graph.node(x).clone();
        match kind {
            Kind::Undefined => return Some(self.graph.undefined(shape, self.element)),
            _ if is_folded(self.graph, x) => return self.graph.apply(self.name, &[x], self.element).ok(),
            Kind::Insert(offsets) => {
                let [part, whole] = [self.result(inputs[0])?, self.result(inputs[1])?];
                return Some(self.graph.insert(part, whole, offsets));
            }
            Kind::View(map) if self.graph.single_form(x).is_none() => {
                let whole = self.result(inputs[0])?;
                return Some(self.graph.view(whole, map, &shape));
            }
            Kind::Reshape if self.graph.number_of_integers(x).is_none() => {
                let whole = self.result(inputs[0])?;
                return Some(self.graph.reshape(whole, &shape));
            }
            _ => {}
        }
        if shape.len() > MOST_DIMS || shape.iter().product::<i64>() > MOST_ANGLES {
            return None;
        }
        let mut rebuilt = Rebuilt { graph: self.graph, nodes: BTreeMap::new(), is_computed: false };
        let angle = rebuilt.node(x).filter(|_| rebuilt.is_computed)?;
        let parts = (self.of_angle)(self.graph, angle).ok()?;
        Some(narrowed(self.graph, parts, self.element))
    }
}

/// Converts single precision to `element`: selects `result` where `is_valid` holds, `otherwise` elsewhere.
fn narrowed(graph: &mut Graph, [is_valid, result, otherwise]: [NodeId; 3], element: Element) -> NodeId {
    let shape = graph.node(result).shape.clone();
    let [is_valid, result] = [is_valid, result].map(|node| graph.in_lanes(node));
    let single = graph.pointwise("where3", &[is_valid, result, otherwise], Element::Single);
    let converted = graph.converted_lanes(single, NARROW, element, &shape);
    graph.note_of_angles(graph.node(converted).inputs[0]);
    converted
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
        if let Some(single) = self.graph.single_form(id) {
            return Some(single);
        }
        match kind {
            Kind::Known(_) => Some(id),
            Kind::Tensor(number) if element.is_float() => self.tensor(id, number),
            Kind::Reshape if self.graph.number_of_integers(id).is_some() => self.integers(id),
            Kind::Reshape if element.is_float() => {
                let input = self.node(inputs[0])?;
                Some(self.graph.reshape(input, &shape))
            }
            Kind::View(map) if element.is_float() => {
                let input = self.node(inputs[0])?;
                Some(self.graph.view(input, map, &shape))
            }
            Kind::Pointwise(function, constants) => match (function, constants.as_slice()) {
                ("clip", &[low, high]) => {
                    let [low, high] = [low, high].map(|bits| self.graph.number(f64::from_bits(bits)));
                    let at_least = self.computed("maximum", &[inputs[0], low])?;
                    self.graph.apply("arith.minimumf", &[at_least, high], Element::Single).ok()
                }
                _ => self.computed(function, &inputs),
            },
            Kind::Insert(offsets) if element.is_float() => {
                let [part, whole] = [self.node(inputs[0])?, self.node(inputs[1])?];
                Some(self.graph.insert(part, whole, offsets))
            }
            Kind::Undefined => Some(self.graph.undefined(shape, Element::Single)),
            Kind::Matmul => self.products(&inputs),
            Kind::Virtual(_) => match rows::parts(self.graph, id) {
                Some((table, index)) => self.positions(table, index, &shape),
                None if element.is_float() => self.node(*inputs.last()?),
                None => None,
            },
            _ => None,
        }
    }

    /// Returns a tensor of the program in f32; one that the program holds in 16 bits is widened.
    fn tensor(&mut self, id: NodeId, number: usize) -> Option<NodeId> {
        let shape = self.graph.node(id).shape.clone();
        if self.graph.given(number)? {
            (self.graph.held(number) != Some(Held::Narrow)).then(|| self.graph.tensor(number, shape, Element::Single))
        } else {
            (shape.iter().product::<i64>() <= MOST_ANGLES).then(|| self.graph.widened(id))
        }
    }

    /// Returns the numbers of integers.
    fn integers(&mut self, id: NodeId) -> Option<NodeId> {
        let Node { kind, inputs, shape, .. } = self.graph.node(id).clone();
        let source = self.graph.number_of_integers(id)?;
        self.graph.given(source)?;
        (self.graph.held(source) != Some(Held::Narrow)).then_some(())?;
        let number = self.graph.add(kind, &inputs, shape, Element::Single);
        self.graph.note_integers(number);
        Some(number)
    }

    /// Returns the numbers of an index, whose functions are too many for a table; if rows are selected by it too, by a table of the numbers.
    fn positions(&mut self, table: NodeId, index: NodeId, shape: &[i64]) -> Option<NodeId> {
        let counts = self.graph.known_of(table).is_some_and(Known::counts_from_zero);
        let number = self.graph.source_of(index).filter(|_| counts && self.graph.node(index).shape == shape)?;
        self.graph.given(number)?;
        if self.graph.held(number) == Some(Held::Narrow) {
            let n_rows = self.graph.node(table).shape[0];
            let looked_up = rows::counting(self.graph, index, n_rows, Element::Single);
            return Some(self.graph.on_device(looked_up));
        }
        let number = self.graph.add(Kind::Reshape, &[index], shape.to_vec(), Element::Single);
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
            "maximum" => self.graph.apply("arith.maximumf", &inputs, Element::Single),
            "minimum" => self.graph.apply("arith.minimumf", &inputs, Element::Single),
            "neg" => self.graph.apply("arith.negf", &inputs, Element::Single),
            "realdiv" => self.graph.apply("arith.divf", &inputs, Element::Single),
            _ => return None,
        };
        built.ok()
    }

    /// Returns a product of matrices as a sum of products of columns and rows.
    fn products(&mut self, inputs: &[NodeId]) -> Option<NodeId> {
        let [lhs, rhs] = [self.node(inputs[0])?, self.node(inputs[1])?];
        let [of_lhs, of_rhs] = [lhs, rhs].map(|input| self.graph.node(input).shape.clone());
        let (k, n_batches) = (*of_lhs.last()?, of_lhs.len() - 2);
        (k <= MOST_PRODUCTS && of_rhs.len() == of_lhs.len()).then_some(())?;
        self.is_computed = true;
        let mut sum = None;
        for term in 0..k {
            let batch = || (0..n_batches).map(Expr::Dim);
            let column = batch().chain([Expr::Dim(n_batches), Expr::Constant(term)]).collect();
            let row = batch().chain([Expr::Constant(term), Expr::Dim(n_batches + 1)]).collect();
            let column = self.graph.view(lhs, column, &[&of_lhs[..=n_batches], &[1]].concat());
            let row = self.graph.view(rhs, row, &[&of_rhs[..n_batches], &[1, of_rhs[n_batches + 1]]].concat());
            let product = mul(self.graph, &[column, row], Element::Single).ok()?;
            sum = Some(match sum {
                Some(sum) => add(self.graph, &[sum, product], Element::Single).ok()?,
                None => product,
            });
        }
        sum
    }
}
