//! Formats of floating-point tensors: f32 in a program that the device computes in 16 bits.

use super::{NodeElementType, NodeId, NodeKind, ValueGraph, ValueNode};
use machine::{DeviceFormat, NARROW_FUNCTION, WIDEN_FUNCTION};
use program::affine::AffineExpression;
use std::collections::{BTreeMap, BTreeSet};

impl NodeElementType {
    /// Returns whether the type is f32 in the program.
    #[must_use]
    pub const fn is_single(self) -> bool {
        matches!(self, Self::F32 | Self::Single)
    }
}

impl ValueGraph {
    /// Returns whether f32 is computed in single precision.
    pub fn has_single_precision(&mut self) -> bool {
        self.depends_on_format = true;
        !self.is_narrow
    }

    /// Returns whether the built nodes are valid only for the current choice of the f32 format.
    #[must_use]
    pub const fn is_valid_for_format(&self, is_narrow: bool) -> bool {
        !self.depends_on_format || self.is_narrow == is_narrow
    }

    /// Records an argument or a constant of the program, and whether the program holds it in f32.
    pub fn record_input_format(&mut self, number: usize, is_single: bool) {
        self.input_is_f32.insert(number, is_single);
    }

    /// Returns whether the program holds an argument or a constant in f32. Returns None for results of ops.
    #[must_use]
    pub fn is_f32_input(&self, number: usize) -> Option<bool> {
        self.input_is_f32.get(&number).copied()
    }

    /// Returns the format in which the device must hold a tensor.
    #[must_use]
    pub fn storage_format(&self, number: usize) -> Option<StorageFormat> {
        self.storage_formats.get(&number).copied()
    }

    /// Returns the storage formats of tensors: those already recorded, and those of tensors that `roots` read both in
    /// single precision and in another format.
    #[must_use]
    pub fn compute_storage_formats(&self, roots: &[NodeId]) -> BTreeMap<usize, StorageFormat> {
        let (mut single, mut narrow, mut integers) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
        let is_moved =
            |id: NodeId| self.source_tensor(id).is_some() && !matches!(self.node(id).kind, NodeKind::Tensor(_));
        for id in self.collect_required(roots, |_| false) {
            let ValueNode { kind, shape, element, .. } = self.node(id);
            let num_elements = shape.iter().product::<i64>();
            match (kind, element, self.numeric_source_tensor(id)) {
                (&NodeKind::Tensor(number), NodeElementType::Single, _)
                | (_, NodeElementType::Single, Some(number)) => _ = single.insert(number),
                (NodeKind::Tensor(number), element, _) if element.is_float() => {
                    _ = narrow.insert(*number, num_elements)
                }
                (_, _, Some(number)) => _ = narrow.insert(number, num_elements),
                // Integers that are only moved have the format of their users.
                _ if is_moved(id) => {}
                _ => integers.extend(self.required_inputs(id).iter().filter_map(|&input| self.source_tensor(input))),
            }
        }
        integers.extend(roots.iter().filter_map(|&root| self.source_tensor(root)));
        let mut held = self.storage_formats.clone();
        for &number in &single {
            let is_large = narrow.get(&number).is_some_and(|&num_elements| num_elements > MAX_CONVERTED_ELEMENTS);
            if integers.contains(&number) || is_large {
                held.insert(number, StorageFormat::Narrow);
            } else if narrow.contains_key(&number) {
                held.insert(number, StorageFormat::Single);
            }
        }
        held
    }

    /// Converts a tensor that is stored in single precision for a user in 16 bits.
    pub fn convert_to_narrow(&mut self, single: NodeId, element: NodeElementType) -> NodeId {
        let read = self.convert_format(single, NARROW_FUNCTION, element);
        self.single_precision_sources.insert(read, single);
        read
    }

    /// Returns the single-precision form of a tensor that is read in 16 bits.
    #[must_use]
    pub fn single_precision_value(&self, read: NodeId) -> Option<NodeId> {
        self.single_precision_sources.get(&read).copied()
    }

    /// Records the converted result of a sine or a cosine that is computed in single precision.
    pub fn record_trig_result(&mut self, narrowed: NodeId) {
        self.trig_results.insert(narrowed);
    }

    /// Returns whether a node is the converted result of a sine or a cosine.
    #[must_use]
    pub fn is_trig_result(&self, id: NodeId) -> bool {
        self.trig_results.contains(&id)
    }

    /// Converts 16-bit numbers to single precision.
    pub fn widen_to_single(&mut self, node: NodeId) -> NodeId {
        self.convert_format(node, WIDEN_FUNCTION, NodeElementType::Single)
    }

    fn convert_format(&mut self, node: NodeId, conversion: &'static str, element: NodeElementType) -> NodeId {
        let ValueNode { shape, element: own, .. } = self.node(node).clone();
        let (lanes, one) = (self.broadcast_to_lanes(node), self.add_scalar(1.0));
        let whole = self.add_pointwise("mul", &[lanes, one], own);
        self.convert_lanes(whole, conversion, element, &shape)
    }

    /// Converts numbers of which each fills a stick (`broadcast_to_lanes`), and views the first element of each stick.
    pub fn convert_lanes(
        &mut self,
        lanes: NodeId,
        conversion: &'static str,
        element: NodeElementType,
        shape: &[i64],
    ) -> NodeId {
        let converted = self.add_pointwise(conversion, &[lanes], element);
        let first = (0..shape.len()).map(AffineExpression::Dim).chain([AffineExpression::Constant(0)]).collect();
        self.view(converted, first, shape)
    }

    /// Repeats each element along an added last dimension, which fills one 16-bit stick or two 32-bit sticks.
    pub fn broadcast_to_lanes(&mut self, node: NodeId) -> NodeId {
        let shape = self.node(node).shape.clone();
        let map = (0..shape.len()).map(AffineExpression::Dim).collect();
        self.view(node, map, &[shape, vec![LANES]].concat())
    }
}

/// Storage format of a tensor that is read in two formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StorageFormat {
    /// f32; users in 16 bits convert it.
    Single,
    /// 16 bits; no angle is computed from it in f32.
    Narrow,
}

/// Elements of a 16-bit stick.
pub(in crate::import) const LANES: i64 = DeviceFormat::Sen169Fp16.elements_per_stick();

/// Maximum number of elements of a tensor that is converted for its users. With two sticks per element, that is 16 MiB.
const MAX_CONVERTED_ELEMENTS: i64 = 1 << 16;
