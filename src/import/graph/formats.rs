//! Formats of floating-point tensors: f32 in a program that the device computes in 16 bits.

use super::{Element, Graph, Kind, Node, NodeId};
use machine::{DeviceFormat, NARROW, WIDEN};
use program::affine::Expr;
use std::collections::{BTreeMap, BTreeSet};

impl Element {
    /// Returns whether it is f32 in the program.
    #[must_use]
    pub const fn is_single(self) -> bool {
        matches!(self, Self::F32 | Self::Single)
    }
}

impl Graph {
    /// Returns whether f32 is computed in single precision.
    pub fn has_single_precision(&mut self) -> bool {
        self.asks_for_format = true;
        !self.is_narrow
    }

    /// Returns whether the built nodes are valid only for the current choice of the f32 format.
    #[must_use]
    pub const fn is_for_format(&self, is_narrow: bool) -> bool {
        !self.asks_for_format || self.is_narrow == is_narrow
    }

    /// Records that a tensor is an argument or a constant of the program, which holds it in f32 or not.
    pub fn note_given(&mut self, number: usize, is_single: bool) {
        self.given_tensors.insert(number, is_single);
    }

    /// Returns whether the program holds an argument or a constant in f32. None for results of ops.
    #[must_use]
    pub fn given(&self, number: usize) -> Option<bool> {
        self.given_tensors.get(&number).copied()
    }

    /// Returns the format in which the device must hold a tensor.
    #[must_use]
    pub fn held(&self, number: usize) -> Option<Held> {
        self.held.get(&number).copied()
    }

    /// Returns the formats in which tensors must be held: those known before, and those of tensors that `roots` need both in single precision and
    /// in another format.
    #[must_use]
    pub fn held_tensors(&self, roots: &[NodeId]) -> BTreeMap<usize, Held> {
        let (mut single, mut narrow, mut integers) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        let is_moved = |id: NodeId| self.source_of(id).is_some() && !matches!(self.node(id).kind, Kind::Tensor(_));
        for id in self.needed_for(roots, |_| false) {
            let Node { kind, shape, element, .. } = self.node(id);
            let n_elements = shape.iter().product::<i64>();
            match (kind, element, self.number_of_integers(id)) {
                (&Kind::Tensor(number), Element::Single, _) | (_, Element::Single, Some(number)) => _ = single.insert(number),
                (Kind::Tensor(number), element, _) if element.is_float() => _ = narrow.insert(*number, n_elements),
                (_, _, Some(number)) => _ = narrow.insert(number, n_elements),
                // Integers that are moved only are those of their readers.
                _ if is_moved(id) => {}
                _ => integers.extend(self.needs(id).iter().filter_map(|&input| self.source_of(input))),
            }
        }
        integers.extend(roots.iter().filter_map(|&root| self.source_of(root)));
        let mut held = self.held.clone();
        for &number in &single {
            let is_large = narrow.get(&number).is_some_and(|&n_elements| n_elements > MOST_CONVERTED);
            if integers.contains(&number) || is_large {
                held.insert(number, Held::Narrow);
            } else if narrow.contains_key(&number) {
                held.insert(number, Held::Single);
            }
        }
        held
    }

    /// Converts a tensor that the device holds in single precision for a reader in 16 bits.
    pub fn read_narrow(&mut self, single: NodeId, element: Element) -> NodeId {
        let read = self.converted(single, NARROW, element);
        self.single_forms.insert(read, single);
        read
    }

    /// Returns the single-precision form of a tensor that is read in 16 bits.
    #[must_use]
    pub fn single_form(&self, read: NodeId) -> Option<NodeId> {
        self.single_forms.get(&read).copied()
    }

    /// Records the converted result of a sine or a cosine that is computed in single precision.
    pub fn note_of_angles(&mut self, narrowed: NodeId) {
        self.of_angles.insert(narrowed);
    }

    /// Returns whether a node is the converted result of a sine or a cosine.
    #[must_use]
    pub fn is_of_angles(&self, id: NodeId) -> bool {
        self.of_angles.contains(&id)
    }

    /// Converts 16-bit numbers to single precision.
    pub fn widened(&mut self, node: NodeId) -> NodeId {
        self.converted(node, WIDEN, Element::Single)
    }

    fn converted(&mut self, node: NodeId, conversion: &'static str, element: Element) -> NodeId {
        let Node { shape, element: own, .. } = self.node(node).clone();
        let (lanes, one) = (self.in_lanes(node), self.number(1.0));
        let whole = self.pointwise("mul", &[lanes, one], own);
        self.converted_lanes(whole, conversion, element, &shape)
    }

    /// Converts numbers that an operation has computed in lanes.
    pub fn converted_lanes(&mut self, lanes: NodeId, conversion: &'static str, element: Element, shape: &[i64]) -> NodeId {
        let converted = self.pointwise(conversion, &[lanes], element);
        let first = (0..shape.len()).map(Expr::Dim).chain([Expr::Constant(0)]).collect();
        self.view(converted, first, shape)
    }

    /// Repeats each element along a last dimension of its own, which fills a 16-bit stick, and two 32-bit sticks.
    pub fn in_lanes(&mut self, node: NodeId) -> NodeId {
        let shape = self.node(node).shape.clone();
        let map = (0..shape.len()).map(Expr::Dim).collect();
        self.view(node, map, &[shape, vec![LANES]].concat())
    }
}

/// Format in which the device must hold a tensor that is read in two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Held {
    /// In f32: readers in 16 bits convert it.
    Single,
    /// In 16 bits: no angle is computed from it in f32.
    Narrow,
}

/// Elements of a 16-bit stick.
pub(in crate::import) const LANES: i64 = DeviceFormat::Sen169Fp16.elements_per_stick();

/// Maximum number of elements of a tensor that is converted for its readers: with two sticks for each, it has 16 MiB.
const MOST_CONVERTED: i64 = 1 << 16;
