//! Runtime integers. The device has no integers: they are represented as numbers that its formats hold exactly, or as indices that select
//! rows of tables.
//!
//! An integer argument is an index if it selects rows of a table, or if an op on it is not exact on the device (a cosine, a remainder). This
//! is known only after the whole program is imported. Other functions of an index become lookups ([`super::rows`]).

use super::{Element, Graph, Kind, NodeId, formats::Held, gather::COLUMNS, known::Known, rows};
use program::affine::Expr;
use std::collections::{BTreeMap, BTreeSet};

/// Number of rows of a table that nothing in the program bounds, such as positions that only a rotary embedding reads.
const MOST_POSITIONS: i64 = 4096;

/// Facts about the integers of a program that are known at compile time.
#[derive(Debug)]
pub struct Integers {
    /// Representation in which the device computes with the integers.
    element: Element,
    /// Tensors that are indices, by tensor number, with the number of values of each.
    rows: BTreeMap<usize, i64>,
    /// Tensors that must become indices, with the number of rows of the smallest table that they select from, if any.
    wanted: BTreeMap<usize, Option<i64>>,
    /// Ranges that the caller promised, by tensor number: the first integer, and one past the last.
    given: BTreeMap<usize, [i64; 2]>,
    /// Nodes that are integers in the device's format.
    nodes: BTreeSet<NodeId>,
    /// Lower bounds that nodes must meet: 1 for divisors, 0 for unsigned values.
    least: BTreeMap<NodeId, i64>,
    /// Narrowest integer type, in bits, that nodes must not overflow: MLIR's integers wrap around beyond it.
    widths: BTreeMap<NodeId, u32>,
    /// Nodes whose elements are a subset of the elements of another node, however they are computed.
    chosen_from: BTreeMap<NodeId, NodeId>,
    /// Nodes whose values are those of other nodes, which the device does not compute, but whose ranges are known: running sums, and truth
    /// values of integers that are known by their digits.
    exact: BTreeMap<NodeId, NodeId>,
    /// Nodes that are quotients or remainders of integers, however they are computed.
    divided: BTreeMap<NodeId, Division>,
}

/// Floor division of integers by positive integers.
#[derive(Clone, Copy, Debug)]
pub struct Division {
    /// Dividend.
    pub dividend: NodeId,
    /// Divisor.
    pub divisor: NodeId,
    /// Whether the node is the remainder, at least 0 and below the divisor, instead of the quotient.
    pub is_rest: bool,
}

impl Default for Integers {
    fn default() -> Self {
        let (rows, wanted, given) = (BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (nodes, least, widths, chosen_from) = (BTreeSet::new(), BTreeMap::new(), BTreeMap::new(), BTreeMap::new());
        let (exact, divided) = (BTreeMap::new(), BTreeMap::new());
        Self { element: Element::F32, rows, wanted, given, nodes, least, widths, chosen_from, exact, divided }
    }
}

impl Integers {
    /// Returns the initial state, before a program is imported with known indices.
    #[must_use]
    pub fn new(element: Element, rows: BTreeMap<usize, i64>) -> Self {
        // Requests persist: an answered request is not repeated.
        let wanted = rows.iter().map(|(&number, &rows)| (number, Some(rows))).collect();
        Self { element, rows, wanted, ..Self::default() }
    }

    /// Returns the tensors that are indices according to the requests; None if this set is unchanged.
    #[must_use]
    pub fn settled(&self) -> Option<BTreeMap<usize, i64>> {
        let bound = |number: &usize| self.given.get(number).map_or(MOST_POSITIONS, |range| range[1]);
        let rows = self.wanted.iter().map(|(number, rows)| (*number, rows.unwrap_or_else(|| bound(number))));
        // No integer of a range below 0 selects a row.
        let rows: BTreeMap<usize, i64> = rows.filter(|(_, rows)| *rows > 0).collect();
        (rows != self.rows).then_some(rows)
    }

    /// Records the range that the caller promises for the integers of a tensor.
    pub fn promise(&mut self, number: usize, range: [i64; 2]) {
        self.given.insert(number, range);
    }

    /// Returns the range that the caller promised for the integers of a tensor: the first one, and one past the last.
    /// None without a promise.
    #[must_use]
    pub fn promised(&self, number: usize) -> Option<[i64; 2]> {
        self.given.get(&number).copied()
    }

    /// Returns the representation in which the device computes with integers.
    #[must_use]
    pub const fn element(&self) -> Element {
        self.element
    }

    /// Returns whether the node is an integer in the device's format.
    #[must_use]
    pub fn has(&self, id: NodeId) -> bool {
        self.nodes.contains(&id)
    }

    /// Returns the integer type, in bits, that a node must not overflow.
    #[must_use]
    pub fn width(&self, id: NodeId) -> Option<u32> {
        self.widths.get(&id).copied()
    }

    /// Returns the node whose elements include all those of `id`, if one is known.
    #[must_use]
    pub fn chosen_from(&self, id: NodeId) -> Option<NodeId> {
        self.chosen_from.get(&id).copied()
    }

    /// Returns the node with the values of `id` whose range is known, if there is one.
    #[must_use]
    pub fn exact(&self, id: NodeId) -> Option<NodeId> {
        self.exact.get(&id).copied()
    }

    /// Returns the division that a node is the quotient or the remainder of, if any.
    #[must_use]
    pub fn division(&self, id: NodeId) -> Option<Division> {
        self.divided.get(&id).copied()
    }

    /// Returns the lower bound that a node must meet, if an op on it requires one.
    #[must_use]
    pub fn least(&self, id: NodeId) -> Option<i64> {
        self.least.get(&id).copied()
    }
}

impl Graph {
    /// Returns the integer that all elements of a node equal, if any.
    #[must_use]
    pub fn integer_of(&self, id: NodeId) -> Option<i64> {
        self.known_of(id).and_then(Known::uniform_integer)
    }

    /// Returns the external tensor that integers are unchanged elements of, if any.
    #[must_use]
    pub fn source_of(&self, id: NodeId) -> Option<usize> {
        let node = self.node(id);
        match node.kind {
            Kind::Tensor(number) => (node.element == Element::Int).then_some(number),
            Kind::View(_) | Kind::Reshape if node.element == Element::Int => self.source_of(node.inputs[0]),
            _ => None,
        }
    }

    /// Returns the number of values that the elements of an index may have.
    #[must_use]
    pub fn rows_of_index(&self, id: NodeId) -> Option<i64> {
        self.integers.rows.get(&self.source_of(id)?).copied()
    }

    /// Returns whether a tensor that a list is, or is joined of, is known to be an index.
    #[must_use]
    pub fn is_known_index(&self, list: NodeId) -> bool {
        let (mut open, mut seen) = (vec![list], BTreeSet::new());
        while let Some(id) = open.pop() {
            match self.source_of(id) {
                Some(number) if self.integers.rows.contains_key(&number) => return true,
                Some(_) => {}
                None if matches!(self.node(id).kind, Kind::View(_) | Kind::Reshape | Kind::Insert(_)) => {
                    open.extend(self.node(id).inputs.iter().filter(|&&input| seen.insert(input)));
                }
                None => {}
            }
        }
        false
    }

    /// Returns the integer tensors that select rows, each with the size of the smallest table that it selects from.
    pub fn indices(&self) -> impl Iterator<Item = (usize, i64)> {
        self.integers.wanted.iter().filter_map(|(&number, rows)| Some((number, (*rows)?)))
    }

    /// Records that integers select one of `n_rows` rows: those of a tensor, or of all tensors that they are concatenated from.
    pub fn note_index(&mut self, index: NodeId, n_rows: i64) {
        let (mut open, mut seen) = (vec![index], BTreeSet::new());
        while let Some(index) = open.pop() {
            if let Some(number) = self.source_of(index) {
                let known = self.integers.wanted.entry(number).or_insert(None);
                *known = Some(known.map_or(n_rows, |known| known.min(n_rows)));
            } else if matches!(self.node(index).kind, Kind::View(_) | Kind::Reshape | Kind::Insert(_)) {
                open.extend(self.node(index).inputs.iter().filter(|&&input| seen.insert(input)));
            }
        }
    }

    /// Records an index as `note_index` does, where `id` is the numeric form of integers. Does nothing unless these are
    /// the integers of a tensor, and no arithmetic is applied to them.
    pub fn note_index_behind(&mut self, id: NodeId, n_rows: i64) {
        if self.source_of(id).is_some() {
            return self.note_index(id, n_rows);
        }
        let behind = match rows::parts(self, id) {
            Some((table, index)) => self.known_of(table).is_some_and(Known::counts_from_zero).then_some(index),
            // The last input of a virtual op is the node that computes it.
            None => matches!(self.node(id).kind, Kind::View(_) | Kind::Reshape | Kind::Virtual(_))
                .then(|| self.node(id).inputs.last().copied())
                .flatten(),
        };
        if let Some(behind) = behind {
            self.note_index_behind(behind, n_rows);
        }
    }

    /// Returns the number of values of the integers of one tensor that a node is or is computed from: the end of their range, or as many as of
    /// positions that nothing bounds, but `least`.
    #[must_use]
    pub fn n_values_behind(&self, id: NodeId, least: i64) -> i64 {
        let promised = self.tensors_behind(id).into_iter().filter_map(|number| self.integers.promised(number)).map(|range| range[1]);
        promised.max().unwrap_or_else(|| least.max(MOST_POSITIONS))
    }

    /// Returns whether the integers that a node is computed from may be negative, by their declared ranges: they are no indices then.
    #[must_use]
    pub fn has_negative_integers_behind(&self, id: NodeId) -> bool {
        self.tensors_behind(id).into_iter().filter_map(|number| self.integers.promised(number)).any(|range| range[0] < 0)
    }

    /// Returns the tensors of integers that the nodes compute with as numbers.
    #[must_use]
    pub fn tensors_read_as_numbers(&self, roots: &[NodeId]) -> BTreeSet<usize> {
        self.needed_for(roots, |_| false).into_iter().filter_map(|id| self.number_of_integers(id)).collect()
    }

    /// Returns the integer tensor of which a node is the numeric form.
    #[must_use]
    pub fn number_of_integers(&self, id: NodeId) -> Option<usize> {
        let node = self.node(id);
        let shows = node.kind == Kind::Reshape && self.integers.has(id);
        if shows { self.source_of(node.inputs[0]) } else { None }
    }

    /// Returns the tensors of integers that a node is computed from.
    #[must_use]
    pub fn tensors_behind(&self, id: NodeId) -> BTreeSet<usize> {
        let (mut open, mut seen, mut found) = (vec![id], BTreeSet::new(), BTreeSet::new());
        while let Some(id) = open.pop() {
            match self.source_of(id) {
                Some(number) => _ = found.insert(number),
                None => open.extend(self.node(id).inputs.iter().filter(|&&input| seen.insert(input))),
            }
        }
        found
    }

    /// Returns the tensors that are indices, and the range of integers that their lookups cover: the first, and one past the last.
    pub fn ranges_of_lookups(&self) -> impl Iterator<Item = (usize, [i64; 2])> {
        self.integers.rows.iter().map(|(&number, &rows)| (number, [0, rows]))
    }

    /// Requests that functions of the integers behind a node be looked up in tables.
    pub fn want_rows(&mut self, id: NodeId) {
        for number in self.tensors_behind(id) {
            self.integers.wanted.entry(number).or_insert(None);
        }
    }

    /// Requests lookups as `want_rows` does, if `id` is an elementwise function of one integer and constants, without
    /// sums over several integers.
    pub fn want_rows_of_one(&mut self, id: NodeId) {
        if self.follows_from_one(id) {
            self.want_rows(id);
        }
    }

    /// Returns whether a node is an elementwise function of one integer argument and constants.
    #[must_use]
    pub fn follows_from_one(&self, id: NodeId) -> bool {
        let (mut stack, mut seen, mut found) = (vec![id], BTreeSet::new(), BTreeSet::new());
        while let Some(id) = stack.pop() {
            if let Some(number) = self.source_of(id) {
                found.insert(number);
                continue;
            }
            let node = self.node(id);
            match node.kind {
                Kind::Known(_) | Kind::View(_) | Kind::Reshape | Kind::Pointwise(..) | Kind::Virtual(_) => {
                    stack.extend(node.inputs.iter().filter(|&&input| seen.insert(input)));
                }
                _ => return false,
            }
        }
        found.len() == 1
    }

    /// Requests lookups of several nodes as `want_rows` does, if the nodes depend on integers and constants alone.
    pub fn want_rows_alone(&mut self, ids: &[NodeId]) {
        /// Limit of visited nodes. Functions of an integer have few ops, and from any other node a tensor of numbers is
        /// reached within few ops.
        const MOST_STEPS: usize = 64;
        let (mut stack, mut seen, mut has_integers) = (ids.to_vec(), BTreeSet::new(), false);
        while let Some(id) = stack.pop() {
            let is_integer = self.source_of(id).is_some();
            has_integers |= is_integer;
            if is_integer {
                continue;
            }
            let node = self.node(id);
            if matches!(node.kind, Kind::Tensor(_)) || seen.len() > MOST_STEPS {
                return;
            }
            stack.extend(node.inputs.iter().filter(|&&input| seen.insert(input)));
        }
        if has_integers {
            ids.iter().for_each(|&id| self.want_rows(id));
        }
    }

    /// Returns the node that the device computes for a node.
    #[must_use]
    pub fn on_device(&self, id: NodeId) -> NodeId {
        let mut id = id;
        while let (Kind::Virtual(_), Some(&last)) = (&self.node(id).kind, self.node(id).inputs.last()) {
            id = last;
        }
        id
    }

    /// Returns the node that a node is the negative of. None if the node must meet a lower bound, which is checked only where it is
    /// computed: a second negation does not undo it.
    #[must_use]
    pub fn negated(&self, id: NodeId) -> Option<NodeId> {
        let node = self.node(id);
        (matches!(node.kind, Kind::Pointwise("neg", _)) && self.integers.least(id).is_none()).then(|| node.inputs[0])
    }

    /// Records that integers are divided by a node, which must not be 0.
    pub fn note_divisor(&mut self, id: NodeId) {
        self.integers.least.insert(id, 1);
    }

    /// Records that the bits of integers are read as unsigned numbers.
    pub fn note_unsigned(&mut self, id: NodeId) {
        self.integers.least.entry(id).or_insert(0);
    }

    /// Records that a node, or its producer, must not overflow integers of `width` bits.
    pub fn note_width(&mut self, id: NodeId, width: u32) {
        let node = self.node(id);
        match (&node.kind, node.inputs.last()) {
            (Kind::Known(_) | Kind::Refused(_), _) => {}
            (Kind::Virtual(_), Some(&computed)) if rows::parts(self, id).is_none() => self.note_width(computed, width),
            _ => {
                let known = self.integers.widths.entry(id).or_insert(width);
                *known = width.min(*known);
            }
        }
    }

    /// Records that each element of `id` is an element of `whole`: a sum of one element and zeros has the range of the element.
    pub fn note_chosen_from(&mut self, id: NodeId, whole: NodeId) {
        self.integers.chosen_from.insert(id, whole);
    }

    /// Records that the values of a node are those of `exact`, which the device does not compute.
    pub fn note_exact(&mut self, id: NodeId, exact: NodeId) {
        self.integers.exact.insert(id, exact);
    }

    /// Records that a node is the quotient or the remainder of a division: its range follows from the integers, not from the correction steps
    /// on the device.
    pub fn note_division(&mut self, id: NodeId, division: Division) {
        self.integers.divided.insert(id, division);
    }

    /// Records that a node is integers in the device's format.
    pub fn note_integers(&mut self, id: NodeId) {
        self.integers.nodes.insert(id);
    }

    /// Concatenates integers as numbers. The device writes whole sticks of numbers, so a list with a boundary inside a stick is written with
    /// each number in a stick of its own.
    ///
    /// # Errors
    /// Returns the rejection of a part.
    fn joined_numbers(&mut self, id: NodeId) -> Result<NodeId, NodeId> {
        let shape = self.node(id).shape.clone();
        let (parts, below) = self.joined_parts(id);
        let mut whole = match below {
            Some(below) => self.numbers_with_format(below)?,
            None => {
                let element = self.integers.element;
                self.undefined(shape.clone(), element)
            }
        };
        let ends_inside = |part: NodeId, offsets: &[i64]| {
            let ends = |dim: usize| [offsets[dim], offsets[dim] + self.node(part).shape[dim]];
            (0..shape.len()).any(|dim| ends(dim).into_iter().any(|end| end % COLUMNS != 0 && end != shape[dim]))
        };
        let is_wide =
            shape.iter().filter(|&&size| size > 1).count() == 1 && parts.iter().any(|(part, offsets)| ends_inside(*part, offsets));
        if !is_wide {
            for (part, offsets) in parts {
                let part = self.numbers_with_format(part)?;
                whole = self.insert(part, whole, offsets);
            }
            if self.known_of(whole).is_none() {
                self.note_integers(whole);
            }
            return Ok(whole);
        }
        let widened = |graph: &mut Self, node: NodeId, sizes: &[i64]| {
            let wide = [sizes, &[COLUMNS]].concat();
            let map = (0..sizes.len()).map(Expr::Dim).collect();
            let node = graph.filled_if_number(node, sizes);
            match graph.node(node).kind {
                Kind::Filled => graph.filled(graph.node(node).inputs[0], wide),
                _ => graph.view(node, map, &wide),
            }
        };
        whole = widened(self, whole, &shape);
        for (part, mut offsets) in parts {
            let sizes = self.node(part).shape.clone();
            let part = self.numbers_with_format(part)?;
            let part = widened(self, part, &sizes);
            offsets.push(0);
            whole = self.insert(part, whole, offsets);
        }
        let first = (0..shape.len()).map(Expr::Dim).chain([Expr::Constant(0)]).collect();
        let joined = self.view(whole, first, &shape);
        self.note_integers(joined);
        Ok(joined)
    }

    /// Converts integers to numbers to compute with; constants take the format of the others.
    ///
    /// # Errors
    /// Returns the rejection of an input.
    pub fn numbers_with_format(&mut self, id: NodeId) -> Result<NodeId, NodeId> {
        let is_integer = self.node(id).element == Element::Int;
        let number = self.numbers_of(id)?;
        Ok(match self.known_of(number).cloned() {
            Some(known) if is_integer => {
                let (shape, element) = (self.node(number).shape.clone(), self.integers.element());
                self.known(known, shape, element)
            }
            _ => number,
        })
    }

    /// Converts integers to numbers to compute with.
    ///
    /// # Errors
    /// Returns the rejection of an input.
    pub fn numbers_of(&mut self, id: NodeId) -> Result<NodeId, NodeId> {
        let node = self.node(id).clone();
        if node.element == Element::Bool && self.known_of(id).is_none() {
            let element = self.integers.element;
            let number = self.add(Kind::Reshape, &[id], node.shape, element);
            return Ok(number);
        }
        match node.kind {
            _ if node.element != Element::Int => Ok(id),
            Kind::Refused(_) => Err(id),
            Kind::Virtual(_) => {
                let computed = node.inputs[node.inputs.len() - 1];
                if matches!(self.node(computed).kind, Kind::Refused(_)) { Err(computed) } else { Ok(computed) }
            }
            Kind::Tensor(_) | Kind::View(_) | Kind::Reshape if self.source_of(id).is_some() => {
                let element = self.integers.element;
                match self.rows_of_index(id) {
                    Some(n_rows) => Ok(rows::counting(self, id, n_rows, element)),
                    None if self.source_of(id).and_then(|number| self.held(number)) == Some(Held::Single) => {
                        let single = self.add(Kind::Reshape, &[id], node.shape, Element::Single);
                        self.note_integers(single);
                        let number = self.read_narrow(single, element);
                        self.note_integers(number);
                        Ok(number)
                    }
                    None => {
                        let number = self.add(Kind::Reshape, &[id], node.shape, element);
                        self.note_integers(number);
                        Ok(number)
                    }
                }
            }
            Kind::View(map) => {
                let number = self.numbers_of(node.inputs[0])?;
                Ok(self.view(number, map, &node.shape))
            }
            Kind::Reshape => {
                let number = self.numbers_of(node.inputs[0])?;
                Ok(self.reshape(number, &node.shape))
            }
            Kind::Filled => {
                let number = self.numbers_with_format(node.inputs[0])?;
                Ok(self.filled(number, node.shape))
            }
            Kind::Gather(dim) => {
                let table = self.numbers_of(node.inputs[0])?;
                let element = self.integers.element;
                let number = self.add(Kind::Gather(dim), &[table, node.inputs[1]], node.shape, element);
                self.note_integers(number);
                Ok(number)
            }
            Kind::Undefined => {
                let element = self.integers.element;
                Ok(self.undefined(node.shape, element))
            }
            Kind::Insert(_) => self.joined_numbers(id),
            _ => Ok(id),
        }
    }
}
