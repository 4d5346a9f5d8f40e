//! Runtime integers. The device has no integers: they are represented as numbers that its formats hold exactly, or as
//! indices that select rows of tables.
//!
//! An integer argument is an index if it selects rows of a table, or if an op on it is not exact on the device (a
//! cosine, a remainder). This is known only after the whole program is imported. Other functions of an index become
//! lookups ([`super::table_lookup`]).

use super::{
    NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor, formats::StorageFormat,
    gather::NUM_SCALAR_COLUMNS, table_lookup,
};
use program::affine::AffineExpression;
use std::collections::{BTreeMap, BTreeSet};

/// Number of rows of a table that nothing in the program bounds, such as positions that only a rotary embedding reads.
const MAX_POSITIONS: i64 = 4096;

/// Facts about the integers of a program that are known at compile time.
#[derive(Debug)]
pub struct IntegerFacts {
    /// Number format in which the device computes with the integers.
    element: NodeElementType,
    /// Tensors that are indices, by tensor number, with the number of values of each.
    rows: BTreeMap<usize, i64>,
    /// Tensors that must become indices, with the number of rows of the smallest table that they select from, if any.
    requested_rows: BTreeMap<usize, Option<i64>>,
    /// Ranges that the caller promised, by tensor number: the first integer, and one past the last.
    promised_ranges: BTreeMap<usize, [i64; 2]>,
    /// Nodes that are integers in the device's format.
    nodes: BTreeSet<NodeId>,
    /// Lower bounds that nodes must meet: 1 for divisors, 0 for unsigned values.
    lower_bounds: BTreeMap<NodeId, i64>,
    /// Narrowest integer type, in bits, that nodes must not overflow: MLIR's integers wrap around beyond it.
    widths: BTreeMap<NodeId, u32>,
    /// Nodes whose elements are a subset of the elements of another node, however they are computed.
    supersets: BTreeMap<NodeId, NodeId>,
    /// Nodes with the same values that the device does not compute, but whose ranges are known. Used for running sums,
    /// and for truth values of integers that are represented by digits.
    exact: BTreeMap<NodeId, NodeId>,
    /// Nodes that are quotients or remainders of integers, however they are computed.
    divided: BTreeMap<NodeId, IntegerDivision>,
}

/// Floor division of integers by positive integers.
#[derive(Clone, Copy, Debug)]
pub struct IntegerDivision {
    /// Dividend.
    pub dividend: NodeId,
    /// Divisor.
    pub divisor: NodeId,
    /// Whether the node is the remainder, at least 0 and below the divisor, instead of the quotient.
    pub is_remainder: bool,
}

impl Default for IntegerFacts {
    fn default() -> Self {
        let (rows, wanted, given) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (nodes, least, widths, chosen_from) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (exact, divided) = (BTreeMap::new(), BTreeMap::new());
        Self {
            element: NodeElementType::F32,
            rows,
            requested_rows: wanted,
            promised_ranges: given,
            nodes,
            lower_bounds: least,
            widths,
            supersets: chosen_from,
            exact,
            divided,
        }
    }
}

impl IntegerFacts {
    /// Returns the initial state, before a program is imported with known indices.
    #[must_use]
    pub fn new(element: NodeElementType, rows: BTreeMap<usize, i64>) -> Self {
        // Requests persist: an answered request is not repeated.
        let wanted = rows.iter().map(|(&number, &rows)| (number, Some(rows))).collect();
        Self { element, rows, requested_rows: wanted, ..Self::default() }
    }

    /// Returns the tensors that are indices according to the requests; None if this set is unchanged.
    #[must_use]
    pub fn updated_index_rows(&self) -> Option<BTreeMap<usize, i64>> {
        let bound = |number: &usize| self.promised_ranges.get(number).map_or(MAX_POSITIONS, |range| range[1]);
        let rows = self.requested_rows.iter().map(|(number, rows)| (*number, rows.unwrap_or_else(|| bound(number))));
        // A range below 0 contains no row.
        let rows: BTreeMap<usize, i64> = rows.filter(|(_, rows)| *rows > 0).collect();
        (rows != self.rows).then_some(rows)
    }

    /// Records the range that the caller promises for the integers of a tensor.
    pub fn record_promised_range(&mut self, number: usize, range: [i64; 2]) {
        self.promised_ranges.insert(number, range);
    }

    /// Returns the range that the caller promised for the integers of a tensor: the first one, and one past the last.
    /// Returns None without a promise.
    #[must_use]
    pub fn promised_range(&self, number: usize) -> Option<[i64; 2]> {
        self.promised_ranges.get(&number).copied()
    }

    /// Returns the number format in which the device computes with integers.
    #[must_use]
    pub const fn element(&self) -> NodeElementType {
        self.element
    }

    /// Returns whether the node is an integer in the device's format.
    #[must_use]
    pub fn contains(&self, id: NodeId) -> bool {
        self.nodes.contains(&id)
    }

    /// Returns the integer type, in bits, that a node must not overflow.
    #[must_use]
    pub fn width(&self, id: NodeId) -> Option<u32> {
        self.widths.get(&id).copied()
    }

    /// Returns the node whose elements include all those of `id`, if one is known.
    #[must_use]
    pub fn superset_node(&self, id: NodeId) -> Option<NodeId> {
        self.supersets.get(&id).copied()
    }

    /// Returns the node with the values of `id` whose range is known, if there is one.
    #[must_use]
    pub fn exact_node(&self, id: NodeId) -> Option<NodeId> {
        self.exact.get(&id).copied()
    }

    /// Returns the division whose quotient or remainder the node is, if any.
    #[must_use]
    pub fn division(&self, id: NodeId) -> Option<IntegerDivision> {
        self.divided.get(&id).copied()
    }

    /// Returns the lower bound that a node must meet, if an op on it requires one.
    #[must_use]
    pub fn lower_bound(&self, id: NodeId) -> Option<i64> {
        self.lower_bounds.get(&id).copied()
    }
}

impl ValueGraph {
    /// Returns the integer that all elements of a node equal, if any.
    #[must_use]
    pub fn as_integer_scalar(&self, id: NodeId) -> Option<i64> {
        self.as_constant(id).and_then(ConstantTensor::splat_integer)
    }

    /// Returns the external tensor that integers are unchanged elements of, if any.
    #[must_use]
    pub fn source_tensor(&self, id: NodeId) -> Option<usize> {
        let node = self.node(id);
        match node.kind {
            NodeKind::Tensor(number) => (node.element == NodeElementType::Int).then_some(number),
            NodeKind::View(_) | NodeKind::Reshape if node.element == NodeElementType::Int => {
                self.source_tensor(node.inputs[0])
            }
            _ => None,
        }
    }

    /// Returns the number of values that the elements of an index may have.
    #[must_use]
    pub fn num_index_values(&self, id: NodeId) -> Option<i64> {
        self.integers.rows.get(&self.source_tensor(id)?).copied()
    }

    /// Returns whether a list, or a tensor that it is concatenated from, is known to be an index.
    #[must_use]
    pub fn is_known_index(&self, list: NodeId) -> bool {
        let (mut open, mut seen) = (vec![list], BTreeSet::new());
        while let Some(id) = open.pop() {
            match self.source_tensor(id) {
                Some(number) if self.integers.rows.contains_key(&number) => return true,
                Some(_) => {}
                None if matches!(self.node(id).kind, NodeKind::View(_) | NodeKind::Reshape | NodeKind::Insert(_)) => {
                    open.extend(self.node(id).inputs.iter().filter(|&&input| seen.insert(input)));
                }
                None => {}
            }
        }
        false
    }

    /// Returns the integer tensors that select rows, each with the size of the smallest table that it selects from.
    pub fn iter_index_tensors(&self) -> impl Iterator<Item = (usize, i64)> {
        self.integers.requested_rows.iter().filter_map(|(&number, rows)| Some((number, (*rows)?)))
    }

    /// Records that integers select one of `n_rows` rows: those of a tensor, or of all tensors that they are
    /// concatenated from.
    pub fn record_index(&mut self, index: NodeId, n_rows: i64) {
        let (mut open, mut seen) = (vec![index], BTreeSet::new());
        while let Some(index) = open.pop() {
            if let Some(number) = self.source_tensor(index) {
                let known = self.integers.requested_rows.entry(number).or_insert(None);
                *known = Some(known.map_or(n_rows, |known| known.min(n_rows)));
            } else if matches!(self.node(index).kind, NodeKind::View(_) | NodeKind::Reshape | NodeKind::Insert(_)) {
                open.extend(self.node(index).inputs.iter().filter(|&&input| seen.insert(input)));
            }
        }
    }

    /// Records an index as [`Self::record_index`] does, where `id` is the numeric form of integers. Does nothing unless
    /// these are the unmodified integers of a tensor.
    pub fn record_numeric_index(&mut self, id: NodeId, n_rows: i64) {
        if self.source_tensor(id).is_some() {
            return self.record_index(id, n_rows);
        }
        let after = match table_lookup::as_lookup(self, id) {
            Some((table, index)) => self.as_constant(table).is_some_and(ConstantTensor::is_iota).then_some(index),
            // The last input of a virtual op is the node that computes it.
            None => matches!(self.node(id).kind, NodeKind::View(_) | NodeKind::Reshape | NodeKind::Virtual(_))
                .then(|| self.node(id).inputs.last().copied())
                .flatten(),
        };
        if let Some(after) = after {
            self.record_numeric_index(after, n_rows);
        }
    }

    /// Returns the number of values of the integers that a node is computed from: the end of their promised range.
    /// Without one, returns `MAX_POSITIONS`, but at least `least`.
    #[must_use]
    pub fn num_source_values(&self, id: NodeId, least: i64) -> i64 {
        let promised = self
            .collect_source_tensors(id)
            .into_iter()
            .filter_map(|number| self.integers.promised_range(number))
            .map(|range| range[1]);
        promised.max().unwrap_or_else(|| least.max(MAX_POSITIONS))
    }

    /// Returns whether the integers that a node is computed from may be negative, by their promised ranges. Negative
    /// integers cannot be indices.
    #[must_use]
    pub fn may_have_negative_sources(&self, id: NodeId) -> bool {
        self.collect_source_tensors(id)
            .into_iter()
            .filter_map(|number| self.integers.promised_range(number))
            .any(|range| range[0] < 0)
    }

    /// Returns the integer tensors that the nodes compute with as numbers.
    #[must_use]
    pub fn find_tensors_used_as_numbers(&self, roots: &[NodeId]) -> BTreeSet<usize> {
        self.collect_required(roots, |_| false).into_iter().filter_map(|id| self.numeric_source_tensor(id)).collect()
    }

    /// Returns the integer tensor of which a node is the numeric form.
    #[must_use]
    pub fn numeric_source_tensor(&self, id: NodeId) -> Option<usize> {
        let node = self.node(id);
        let shows = node.kind == NodeKind::Reshape && self.integers.contains(id);
        if shows { self.source_tensor(node.inputs[0]) } else { None }
    }

    /// Returns the integer tensors that a node is computed from.
    #[must_use]
    pub fn collect_source_tensors(&self, id: NodeId) -> BTreeSet<usize> {
        let (mut open, mut seen, mut found) = (vec![id], BTreeSet::new(), BTreeSet::new());
        while let Some(id) = open.pop() {
            match self.source_tensor(id) {
                Some(number) => _ = found.insert(number),
                None => open.extend(self.node(id).inputs.iter().filter(|&&input| seen.insert(input))),
            }
        }
        found
    }

    /// Iterates over the index tensors, with the range of integers that their lookups cover: the first, and one past
    /// the last.
    pub fn iter_lookup_ranges(&self) -> impl Iterator<Item = (usize, [i64; 2])> {
        self.integers.rows.iter().map(|(&number, &rows)| (number, [0, rows]))
    }

    /// Requests table lookups for functions of the integers that a node depends on.
    pub fn require_table(&mut self, id: NodeId) {
        for number in self.collect_source_tensors(id) {
            self.integers.requested_rows.entry(number).or_insert(None);
        }
    }

    /// Requests lookups as `require_table` does, if `id` is an elementwise function of one integer and constants,
    /// without sums over several integers.
    pub fn require_table_if_unary(&mut self, id: NodeId) {
        if self.depends_on_one_integer(id) {
            self.require_table(id);
        }
    }

    /// Returns whether a node is an elementwise function of one integer argument and constants.
    #[must_use]
    pub fn depends_on_one_integer(&self, id: NodeId) -> bool {
        let (mut stack, mut seen, mut found) = (vec![id], BTreeSet::new(), BTreeSet::new());
        while let Some(id) = stack.pop() {
            if let Some(number) = self.source_tensor(id) {
                found.insert(number);
                continue;
            }
            let node = self.node(id);
            match node.kind {
                NodeKind::Constant(_)
                | NodeKind::View(_)
                | NodeKind::Reshape
                | NodeKind::Pointwise(..)
                | NodeKind::Virtual(_) => {
                    stack.extend(node.inputs.iter().filter(|&&input| seen.insert(input)));
                }
                _ => return false,
            }
        }
        found.len() == 1
    }

    /// Requests lookups of several nodes as `require_table` does, if the nodes depend on integers and constants alone.
    pub fn require_tables_if_integer_only(&mut self, ids: &[NodeId]) {
        /// Maximum number of visited nodes. Functions of an integer have few ops; in other nodes, the search reaches a
        /// tensor of numbers within few ops.
        const MAX_VISITED: usize = 64;
        let (mut stack, mut seen, mut has_integers) = (ids.to_vec(), BTreeSet::new(), false);
        while let Some(id) = stack.pop() {
            let is_integer = self.source_tensor(id).is_some();
            has_integers |= is_integer;
            if is_integer {
                continue;
            }
            let node = self.node(id);
            if matches!(node.kind, NodeKind::Tensor(_)) || seen.len() > MAX_VISITED {
                return;
            }
            stack.extend(node.inputs.iter().filter(|&&input| seen.insert(input)));
        }
        if has_integers {
            ids.iter().for_each(|&id| self.require_table(id));
        }
    }

    /// Returns the node that the device computes for `id`.
    #[must_use]
    pub fn device_node(&self, id: NodeId) -> NodeId {
        let mut id = id;
        while let (NodeKind::Virtual(_), Some(&last)) = (&self.node(id).kind, self.node(id).inputs.last()) {
            id = last;
        }
        id
    }

    /// Returns the operand of a negation. Returns None if `id` must meet a lower bound, which is checked only where it
    /// is computed: a second negation does not undo it.
    #[must_use]
    pub fn negation_operand(&self, id: NodeId) -> Option<NodeId> {
        let node = self.node(id);
        (matches!(node.kind, NodeKind::Pointwise("neg", _)) && self.integers.lower_bound(id).is_none())
            .then(|| node.inputs[0])
    }

    /// Records that integers are divided by a node, which must not be 0.
    pub fn record_divisor(&mut self, id: NodeId) {
        self.integers.lower_bounds.insert(id, 1);
    }

    /// Records that the bits of integers are read as unsigned numbers.
    pub fn record_unsigned(&mut self, id: NodeId) {
        self.integers.lower_bounds.entry(id).or_insert(0);
    }

    /// Records that a node, or its producer, must not overflow integers of `width` bits.
    pub fn record_width(&mut self, id: NodeId, width: u32) {
        let node = self.node(id);
        match (&node.kind, node.inputs.last()) {
            (NodeKind::Constant(_) | NodeKind::Unsupported(_), _) => {}
            (NodeKind::Virtual(_), Some(&computed)) if table_lookup::as_lookup(self, id).is_none() => {
                self.record_width(computed, width)
            }
            _ => {
                let known = self.integers.widths.entry(id).or_insert(width);
                *known = width.min(*known);
            }
        }
    }

    /// Records that each element of `id` is an element of `whole`: a sum of one element and zeros has the range of the
    /// element.
    pub fn record_superset(&mut self, id: NodeId, whole: NodeId) {
        self.integers.supersets.insert(id, whole);
    }

    /// Records that the values of a node are those of `exact`, which the device does not compute.
    pub fn record_exact_node(&mut self, id: NodeId, exact: NodeId) {
        self.integers.exact.insert(id, exact);
    }

    /// Records that a node is the quotient or the remainder of a division: its range follows from the integers, not
    /// from the correction steps on the device.
    pub fn record_division(&mut self, id: NodeId, division: IntegerDivision) {
        self.integers.divided.insert(id, division);
    }

    /// Records that a node has integers in the device's format.
    pub fn record_integers(&mut self, id: NodeId) {
        self.integers.nodes.insert(id);
    }

    /// Concatenates integers as numbers. The device writes whole sticks of numbers. If a boundary lies inside a stick,
    /// each number is written to a stick of its own.
    ///
    /// # Errors
    /// Returns the first rejected input.
    fn concatenate_numbers(&mut self, id: NodeId) -> Result<NodeId, NodeId> {
        let shape = self.node(id).shape.clone();
        let (parts, below) = self.collect_inserted_slices(id);
        let mut whole = match below {
            Some(below) => self.convert_to_formatted_numbers(below)?,
            None => {
                let element = self.integers.element;
                self.add_undefined(shape.clone(), element)
            }
        };
        let ends_inside = |part: NodeId, offsets: &[i64]| {
            let ends = |dim: usize| [offsets[dim], offsets[dim] + self.node(part).shape[dim]];
            (0..shape.len())
                .any(|dim| ends(dim).into_iter().any(|end| end % NUM_SCALAR_COLUMNS != 0 && end != shape[dim]))
        };
        let is_wide = shape.iter().filter(|&&size| size > 1).count() == 1
            && parts.iter().any(|(part, offsets)| ends_inside(*part, offsets));
        if !is_wide {
            for (part, offsets) in parts {
                let part = self.convert_to_formatted_numbers(part)?;
                whole = self.insert(part, whole, offsets);
            }
            if self.as_constant(whole).is_none() {
                self.record_integers(whole);
            }
            return Ok(whole);
        }
        let widened = |graph: &mut Self, node: NodeId, sizes: &[i64]| {
            let wide = [sizes, &[NUM_SCALAR_COLUMNS]].concat();
            let map = (0..sizes.len()).map(AffineExpression::Dim).collect();
            let node = graph.splat_if_scalar(node, sizes);
            match graph.node(node).kind {
                NodeKind::Splat => graph.add_splat(graph.node(node).inputs[0], wide),
                _ => graph.view(node, map, &wide),
            }
        };
        whole = widened(self, whole, &shape);
        for (part, mut offsets) in parts {
            let sizes = self.node(part).shape.clone();
            let part = self.convert_to_formatted_numbers(part)?;
            let part = widened(self, part, &sizes);
            offsets.push(0);
            whole = self.insert(part, whole, offsets);
        }
        let first = (0..shape.len()).map(AffineExpression::Dim).chain([AffineExpression::Constant(0)]).collect();
        let joined = self.view(whole, first, &shape);
        self.record_integers(joined);
        Ok(joined)
    }

    /// Converts integers to numbers to compute with; constants take the format of the others.
    ///
    /// # Errors
    /// Returns the first rejected input.
    pub fn convert_to_formatted_numbers(&mut self, id: NodeId) -> Result<NodeId, NodeId> {
        let is_integer = self.node(id).element == NodeElementType::Int;
        let number = self.convert_to_numbers(id)?;
        Ok(match self.as_constant(number).cloned() {
            Some(known) if is_integer => {
                let (shape, element) = (self.node(number).shape.clone(), self.integers.element());
                self.add_constant(known, shape, element)
            }
            _ => number,
        })
    }

    /// Converts integers to numbers to compute with.
    ///
    /// # Errors
    /// Returns the first rejected input.
    pub fn convert_to_numbers(&mut self, id: NodeId) -> Result<NodeId, NodeId> {
        let node = self.node(id).clone();
        if node.element == NodeElementType::Bool && self.as_constant(id).is_none() {
            let element = self.integers.element;
            let number = self.add(NodeKind::Reshape, &[id], node.shape, element);
            return Ok(number);
        }
        match node.kind {
            _ if node.element != NodeElementType::Int => Ok(id),
            NodeKind::Unsupported(_) => Err(id),
            NodeKind::Virtual(_) => {
                let computed = node.inputs[node.inputs.len() - 1];
                if matches!(self.node(computed).kind, NodeKind::Unsupported(_)) { Err(computed) } else { Ok(computed) }
            }
            NodeKind::Tensor(_) | NodeKind::View(_) | NodeKind::Reshape if self.source_tensor(id).is_some() => {
                let element = self.integers.element;
                match self.num_index_values(id) {
                    Some(n_rows) => Ok(table_lookup::build_iota_lookup(self, id, n_rows, element)),
                    None if self.source_tensor(id).and_then(|number| self.storage_format(number))
                        == Some(StorageFormat::Single) =>
                    {
                        let single = self.add(NodeKind::Reshape, &[id], node.shape, NodeElementType::Single);
                        self.record_integers(single);
                        let number = self.convert_to_narrow(single, element);
                        self.record_integers(number);
                        Ok(number)
                    }
                    None => {
                        let number = self.add(NodeKind::Reshape, &[id], node.shape, element);
                        self.record_integers(number);
                        Ok(number)
                    }
                }
            }
            NodeKind::View(map) => {
                let number = self.convert_to_numbers(node.inputs[0])?;
                Ok(self.view(number, map, &node.shape))
            }
            NodeKind::Reshape => {
                let number = self.convert_to_numbers(node.inputs[0])?;
                Ok(self.reshape(number, &node.shape))
            }
            NodeKind::Splat => {
                let number = self.convert_to_formatted_numbers(node.inputs[0])?;
                Ok(self.add_splat(number, node.shape))
            }
            NodeKind::Gather(dim) => {
                let table = self.convert_to_numbers(node.inputs[0])?;
                let element = self.integers.element;
                let number = self.add(NodeKind::Gather(dim), &[table, node.inputs[1]], node.shape, element);
                self.record_integers(number);
                Ok(number)
            }
            NodeKind::Undefined => {
                let element = self.integers.element;
                Ok(self.add_undefined(node.shape, element))
            }
            NodeKind::Insert(_) => self.concatenate_numbers(id),
            _ => Ok(id),
        }
    }
}
