//! Indices that a body computes: by arithmetic on iteration dimensions, or read from a tensor.

use super::{
    known_index::index_of_table,
    one_hot::{OneHot, Row, one_hot},
    unfolded::unfolded,
};
use crate::codes;
use crate::import::graph::{Element, Graph, Kind, NodeId, known::Known, linear::refuse_window, rows as tables, views::moving_dims};
use program::affine::Expr;

/// Element of a table, over the iteration space.
pub(in crate::import) struct Lookup {
    /// A view, or a gather where an index is read from a tensor.
    pub(in crate::import) node: NodeId,
    /// The indices that select rows, and the number of rows.
    pub(in crate::import) chosen: Vec<(NodeId, i64)>,
    /// Further conditions that the integers must meet.
    pub(in crate::import) bounds: Vec<NodeId>,
}

impl Lookup {
    const fn plain(node: NodeId) -> Self {
        Self { node, chosen: Vec::new(), bounds: Vec::new() }
    }
}

/// Result of reading a table at indices.
pub(super) enum Found {
    /// The elements.
    Elements(Lookup),
    /// No elements yet: several indices, those of these dimensions of this table, are read from tensors.
    Several(NodeId, Vec<usize>),
}

/// Returns the element of a table of `rows` at `indices` for every point of an iteration space with these sizes, if at most one index is read
/// from a tensor. The node of a table with a single distinct element has no dimensions.
///
/// # Errors
/// Returns the reason why the device cannot read it.
pub(super) fn lookup_by_one(
    graph: &mut Graph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
    sizes: &[i64],
) -> Result<Found, String> {
    let elements = |found: Lookup| Ok(Found::Elements(found));
    if let Some(found) = known_elements(graph, (table, rows), indices)? {
        return elements(Lookup::plain(found));
    }
    let mut exprs: Vec<Option<Expr>> = indices.iter().map(|&index| plain_index(graph, index)).collect();
    let mut table = table;
    if let Some(refused) = graph.refused_among(&[table]) {
        return elements(Lookup::plain(refused));
    }
    if graph.number_of(table).is_none() {
        // The index is not an increasing sequence with a constant step: a gather by a constant index table reorders the rows.
        for dim in 0..exprs.len() {
            if exprs[dim].is_some() || moves_beside(graph, indices[dim], &exprs) {
                continue;
            }
            if let Some((ordered, along)) = in_order(graph, table, dim, indices[dim]) {
                (table, exprs[dim]) = (ordered, Some(Expr::Dim(along)));
            }
        }
    }
    if graph.number_of(table).is_some() {
        for (&index, &rows) in indices.iter().zip(rows) {
            note_chosen(graph, index, rows);
        }
        return elements(Lookup::plain(table));
    }
    let computed: Vec<usize> = (0..exprs.len()).filter(|&dim| exprs[dim].is_none()).collect();
    match computed.as_slice() {
        [] => {
            let exprs: Vec<Expr> = exprs.into_iter().flatten().collect();
            shown_at(graph, table, exprs, sizes).map(Lookup::plain).and_then(elements)
        }
        // Rows in an order that is known at compile time; if another index varies with the row, one element of each.
        &[dim] if graph.known_of(indices[dim]).is_some() => {
            let rows = graph.node(table).shape.clone();
            if moves_beside(graph, indices[dim], &exprs)
                && let Some(found) = computed_row(graph, (table, &rows), indices[dim], dim, &exprs, sizes)
            {
                return elements(found);
            }
            gather(graph, table, dim, indices[dim], &exprs, sizes).map(Lookup::plain).and_then(elements)
        }
        &[dim] => {
            let chosen = chosen_row(graph, indices[dim], rows[dim]);
            if let Some(digits) = chosen.filter(|&index| graph.digits_of(index).is_some()) {
                let found = computed_row(graph, (table, rows), digits, dim, &exprs, sizes);
                return found.ok_or_else(|| NOT_BY_DIGITS.to_owned()).and_then(elements);
            }
            let Some(index) = chosen else {
                if let Some(found) = looked_up(graph, (table, rows), indices[dim], dim, &exprs, sizes) {
                    return elements(found);
                }
                if let Some(found) = computed_row(graph, (table, rows), indices[dim], dim, &exprs, sizes) {
                    return elements(found);
                }
                return Err(
                    "expected an index that is an element of an integer tensor, at most wrapped or clamped to the rows of the table, found \
                     a computed index; pass the computed indices as an argument"
                        .to_owned(),
                );
            };
            // The device cannot select a row if another index varies with it.
            if moves_beside(graph, index, &exprs) {
                // The index of a lookup has as many values as the smallest table that it selects from has rows.
                if graph.is_known_index(index) {
                    graph.note_index(index, rows[dim]);
                }
                let found = computed_row(graph, (table, rows), index, dim, &exprs, sizes);
                return found
                    .ok_or_else(|| codes::UNSUPPORTED.says("of one element per row of a table is not supported; gather whole rows"))
                    .and_then(elements);
            }
            graph.note_index(index, rows[dim]);
            elements(Lookup {
                node: gather(graph, table, dim, index, &exprs, sizes)?,
                chosen: vec![(index, rows[dim])],
                bounds: Vec::new(),
            })
        }
        _ => Ok(Found::Several(table, computed)),
    }
}

/// Returns whether an index varies along a dimension of the iteration space that another index varies along.
fn moves_beside(graph: &Graph, index: NodeId, exprs: &[Option<Expr>]) -> bool {
    let shape = &graph.node(index).shape;
    exprs.iter().flatten().flat_map(Expr::dims).any(|space| shape.get(space).is_some_and(|&size| size > 1))
}

/// Returns the elements of a constant table at constant indices. Constant indices are checked against the sizes of any table.
fn known_elements(graph: &mut Graph, (table, rows): (NodeId, &[i64]), indices: &[NodeId]) -> Result<Option<NodeId>, String> {
    let is_known = indices.iter().all(|&index| graph.known_of(index).is_some());
    for (dim, &index) in indices.iter().enumerate() {
        let Some(known) = graph.known_of(index) else { continue };
        let (first, last) = known.integers().fold((i64::MAX, i64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        if first < 0 || last >= rows[dim] {
            return Err(codes::INDEX_BOUNDS.says(format_args!(
                "expected indices from 0 to {} of dimension {dim}, found indices {first} to {last}; give indices within the table",
                rows[dim] - 1
            )));
        }
    }
    let (true, Some(known)) = (is_known && !indices.is_empty(), graph.known_of(table).cloned()) else { return Ok(None) };
    if known.uniform().is_some() {
        return Ok(Some(table));
    }
    let shape = graph.broadcast_shape(indices);
    let operands: Vec<(&Known, &[i64])> =
        indices.iter().filter_map(|&index| Some((graph.known_of(index)?, graph.node(index).shape.as_slice()))).collect();
    let flat = |at: &[i64]| {
        let flat = at.iter().zip(rows).fold(0, |flat, (&index, &size)| flat * size + index);
        usize::try_from(flat).expect("indices of the table")
    };
    let element = graph.node(table).element;
    let chosen = if element == Element::Int {
        let integers: Vec<i64> = known.integers().collect();
        Known::combined_integers(&operands, &shape, |at| integers[flat(at)])
    } else {
        let numbers: Vec<f64> = known.numbers().collect();
        Known::numbers_of_integers(&operands, &shape, |at| numbers[flat(at)])
    };
    Ok(Some(graph.known(chosen, shape, element)))
}

/// Selects rows by a function of one index argument and constants. For the index plus a constant, slices the table from the constant on;
/// otherwise reorders the rows to the order in which the values of the index select them.
fn looked_up(
    graph: &mut Graph,
    (table, rows): (NodeId, &[i64]),
    computed: NodeId,
    dim: usize,
    exprs: &[Option<Expr>],
    sizes: &[i64],
) -> Option<Lookup> {
    let number = graph.numbers_of(computed).ok()?;
    let Some((known, index)) = tables::parts(graph, number) else {
        graph.want_rows_of_one(number);
        return None;
    };
    let numbers: Vec<f64> = graph.known_of(known)?.numbers().collect();
    let n_rows = graph.rows_of_index(index)?;
    let is_of_index = usize::try_from(n_rows).is_ok_and(|n_rows| n_rows == numbers.len());
    #[allow(clippy::cast_possible_truncation, reason = "indices are small whole numbers")]
    let first = numbers[0] as i64;
    let is_shifted = numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0) && (0..rows[dim]).contains(&first);
    #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
    let n_fit = numbers.iter().take_while(|&&number| (0.0..rows[dim] as f64).contains(&number)).count();
    if is_of_index && is_shifted {
        let n_reached = n_rows.min(rows[dim] - first);
        let along = |other: usize| Expr::Dim(other).plus(Expr::Constant(if other == dim { first } else { 0 }));
        let mut shape = rows.to_vec();
        shape[dim] = n_reached;
        let table = graph.view(table, (0..rows.len()).map(along).collect(), &shape);
        return chosen_of(graph, table, (index, n_reached), dim, exprs, sizes);
    }
    if is_of_index && n_fit == numbers.len() {
        let order = graph.known(Known::table(&numbers), vec![n_rows], Element::Int);
        let gathered = graph.gather(table, dim, order);
        let mut shape = rows.to_vec();
        shape[dim] = n_rows;
        let mut map: Vec<Expr> = vec![Expr::Dim(dim)];
        map.extend((0..rows.len()).filter(|&other| other != dim).map(Expr::Dim));
        let table = graph.view(gathered, map, &shape);
        return chosen_of(graph, table, (index, n_rows), dim, exprs, sizes);
    }
    // Valid arguments are those that yield rows, from 0 on.
    if let Some(n_fit) = i64::try_from(n_fit).ok().filter(|&n_fit| n_fit > 0) {
        graph.note_index(index, n_fit);
    }
    None
}

/// Returns the rows of a table that an index with so many values selects.
fn chosen_of(
    graph: &mut Graph,
    table: NodeId,
    (index, n_rows): (NodeId, i64),
    dim: usize,
    exprs: &[Option<Expr>],
    sizes: &[i64],
) -> Option<Lookup> {
    graph.note_index(index, n_rows);
    Some(Lookup { node: gather(graph, table, dim, index, exprs, sizes).ok()?, chosen: vec![(index, n_rows)], bounds: Vec::new() })
}

/// Selects rows of `dim` at `index`, which is computed from a runtime integer and varies along dimensions of its own; the other dimensions
/// are read at `exprs`.
///
/// # Errors
/// Returns the reason why the device cannot read them.
pub(in crate::import) fn rows_from(
    graph: &mut Graph,
    (table, rows): (NodeId, &[i64]),
    index: NodeId,
    dim: usize,
    exprs: &[Option<Expr>],
    sizes: &[i64],
) -> Result<Lookup, String> {
    // All rows of a splat are equal.
    if graph.number_of(table).is_some() {
        note_chosen(graph, index, rows[dim]);
        return Ok(Lookup { node: graph.broadcast(table, sizes), chosen: Vec::new(), bounds: Vec::new() });
    }
    let chosen = chosen_row(graph, index, rows[dim]);
    if let Some(digits) = chosen.filter(|&index| graph.digits_of(index).is_some()) {
        return computed_row(graph, (table, rows), digits, dim, exprs, sizes).ok_or_else(|| NOT_BY_DIGITS.to_owned());
    }
    if let Some(index) = chosen {
        graph.note_index(index, rows[dim]);
        return Ok(Lookup { node: gather(graph, table, dim, index, exprs, sizes)?, chosen: vec![(index, rows[dim])], bounds: Vec::new() });
    }
    if let Some(found) = looked_up(graph, (table, rows), index, dim, exprs, sizes) {
        return Ok(found);
    }
    let found = computed_row(graph, (table, rows), index, dim, exprs, sizes);
    found.ok_or_else(|| codes::INDEX_COMPUTED.says("requires a first row that the device can compute, and few rows; take fewer rows"))
}

/// Records that an index argument selects one of so many rows.
fn note_chosen(graph: &mut Graph, index: NodeId, rows: i64) {
    if let Some(index) = chosen_row(graph, index, rows) {
        graph.note_index(index, rows);
    }
}

/// Returns the reason why positions that are known by their digits only cannot select rows.
const NOT_BY_DIGITS: &str = "uses positions above 1024 in a shorter table, or together with a second index, which is not supported; reduce \
                             a smaller dimension";

/// Selects rows by integers of the program that the device computes.
fn computed_row(
    graph: &mut Graph,
    (table, rows): (NodeId, &[i64]),
    computed: NodeId,
    dim: usize,
    exprs: &[Option<Expr>],
    sizes: &[i64],
) -> Option<Lookup> {
    let row = match graph.digits_of(computed) {
        Some(digits) => Row::Digits(digits),
        None => Row::Number(graph.numbers_of(computed).ok()?),
    };
    // Integers are selected as the numbers that represent them on the device.
    let is_integer = graph.node(table).element == Element::Int;
    let numbers = if is_integer { graph.numbers_of(table).ok()? } else { table };
    let OneHot { node, bounds } = one_hot(graph, (numbers, rows), row, dim, exprs, sizes)?;
    if !is_integer {
        return Some(Lookup { node, chosen: Vec::new(), bounds });
    }
    graph.note_chosen_from(node, numbers);
    Some(Lookup { node: graph.as_integers(node), chosen: Vec::new(), bounds })
}

/// Returns the numbers of an index that is known at compile time.
fn known_numbers(graph: &Graph, index: NodeId) -> Option<Vec<i64>> {
    graph.known_of(index).map(|known| known.integers().collect())
}

/// Returns an index that is known at compile time, in terms of the iteration dimensions.
fn plain_index(graph: &Graph, index: NodeId) -> Option<Expr> {
    let numbers = known_numbers(graph, index)?;
    if let [number] = numbers.as_slice() { Some(Expr::Constant(*number)) } else { index_of_table(&numbers, &graph.node(index).shape) }
}

/// Returns the inclusive range of an integer, and the index that it equals, if it is an unchanged index.
#[derive(Clone, Copy)]
struct Range {
    first: f64,
    last: f64,
    is_index: Option<NodeId>,
}

impl Range {
    /// Returns whether all types that an operation of this name may have represent the integers, so that none of them wraps around.
    fn is_narrow(&self) -> bool {
        self.first >= f64::from(i32::MIN) && self.last <= f64::from(i32::MAX)
    }
}

/// Simplifies `index`, given that it selects one of `rows` rows: producers wrap negative numbers and clamp to the rows, which is the identity
/// within that range.
fn chosen_row(graph: &Graph, index: NodeId, rows: i64) -> Option<NodeId> {
    range_of(graph, index, &|_| Some(rows))?.is_index
}

/// Returns whether `index` is constant, or an index that selects one of `rows` rows.
pub(super) fn is_row(graph: &Graph, index: NodeId, rows: i64) -> bool {
    graph.known_of(index).is_some() || chosen_row(graph, index, rows).is_some()
}

/// Returns whether a condition holds for every possible value of the indices `gathered`.
pub(in crate::import) fn always_holds(graph: &Graph, condition: NodeId, gathered: &[(NodeId, i64)]) -> bool {
    let rows = |index: NodeId| gathered.iter().filter(|(known, _)| *known == index).map(|&(_, rows)| rows).min();
    range_of(graph, condition, &rows).is_some_and(|range| range.first == 1.0 && range.last == 1.0)
}

/// Returns the result of a comparison of two integers if their compile-time ranges decide it; None otherwise.
pub(in crate::import) fn decided(graph: &Graph, comparison: &str, inputs: &[NodeId]) -> Option<bool> {
    let &[one, other] = inputs else { return None };
    let truth = compared(comparison, range_of(graph, one, &|_| None)?, range_of(graph, other, &|_| None)?)?;
    (truth.first == truth.last).then_some(truth.first == 1.0)
}

/// Returns the range of an integer that is known at compile time, where `rows` returns how many values, from 0 on, an
/// index has. None if no range is known.
fn range_of(graph: &Graph, id: NodeId, rows: &dyn Fn(NodeId) -> Option<i64>) -> Option<Range> {
    let node = graph.node(id);
    let plain = |first: f64, last: f64| Some(Range { first, last, is_index: None });
    if let Kind::Known(known) = &node.kind {
        let bounds = known.numbers().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
        return plain(bounds.0, bounds.1);
    }
    let Kind::Virtual(operation) = node.kind else { return range_of_list(graph, id, rows) };
    if let Some((table, _)) = tables::parts(graph, id) {
        return range_of(graph, table, rows);
    }
    if let Some(digits) = graph.digits_of(id) {
        #[allow(clippy::cast_precision_loss, reason = "two digits count far less than 2^53")]
        let [first, end] = digits.range.map(|bound| bound as f64);
        return Some(Range { first, last: end - 1.0, is_index: Some(id) });
    }
    // The last input of a virtual operation is its expansion, or its rejection.
    let operand = |position: usize| range_of(graph, node.inputs[position], rows);
    let reads_bits = matches!(operation, "arith.maxui" | "arith.minui") || operation.starts_with("arith.cmpi u");
    // In an unsigned comparison, a negative number is a large number.
    if reads_bits && !(0..2).all(|position| operand(position).is_some_and(|range| range.first >= 0.0)) {
        return None;
    }
    match operation {
        "arith.index_cast" | "arith.extsi" | "arith.trunci" => operand(0).filter(Range::is_narrow),
        "arith.index_castui" | "arith.extui" => operand(0).filter(|range| range.is_narrow() && range.first >= 0.0),
        "arith.addi" => {
            let (a, b) = (operand(0)?, operand(1)?);
            plain(a.first + b.first, a.last + b.last).filter(Range::is_narrow)
        }
        "arith.subi" => {
            let (a, b) = (operand(0)?, operand(1)?);
            plain(a.first - b.last, a.last - b.first).filter(Range::is_narrow)
        }
        "arith.maxsi" | "arith.maxui" => {
            let (a, b) = (operand(0)?, operand(1)?);
            if a.first >= b.last {
                Some(a)
            } else if b.first >= a.last {
                Some(b)
            } else {
                plain(a.first.max(b.first), a.last.max(b.last))
            }
        }
        "arith.minsi" | "arith.minui" => {
            let (a, b) = (operand(0)?, operand(1)?);
            if a.last <= b.first {
                Some(a)
            } else if b.last <= a.first {
                Some(b)
            } else {
                plain(a.first.min(b.first), a.last.min(b.last))
            }
        }
        "arith.andi" if node.element == Element::Bool => {
            let (a, b) = (operand(0)?, operand(1)?);
            let is_true = |range: &Range| range.first == 1.0 && range.last == 1.0;
            if is_true(&a) && is_true(&b) { plain(1.0, 1.0) } else { plain(0.0, 1.0) }
        }
        "arith.select" => {
            let condition = operand(0)?;
            match (condition.first, condition.last) {
                (0.0, 0.0) => operand(2),
                (1.0, 1.0) => operand(1),
                _ => None,
            }
        }
        _ if node.inputs.len() > 2 => compared(operation, operand(0)?, operand(1)?),
        _ => None,
    }
}

/// Returns the range of the elements of a list of indices: index arguments are rows, constants are their values.
fn range_of_list(graph: &Graph, id: NodeId, rows: &dyn Fn(NodeId) -> Option<i64>) -> Option<Range> {
    if !graph.is_index_list(id) {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
    let last_row = |id: NodeId| rows(id).map(|rows| rows as f64 - 1.0);
    let whole = last_row(id);
    let (mut range, mut open) = (Range { first: f64::INFINITY, last: f64::NEG_INFINITY, is_index: None }, vec![id]);
    while let Some(part) = open.pop() {
        let node = graph.node(part);
        let (first, last) = match &node.kind {
            Kind::Known(known) => {
                known.numbers().fold((range.first, range.last), |(low, high), number| (low.min(number), high.max(number)))
            }
            Kind::Insert(_) | Kind::View(_) | Kind::Reshape | Kind::Filled => {
                open.extend(&node.inputs);
                continue;
            }
            Kind::Undefined => continue,
            _ => (0.0, whole.or_else(|| last_row(part))?),
        };
        range = Range { first: range.first.min(first), last: range.last.max(last), is_index: None };
    }
    if range.first > range.last {
        return None;
    }
    let is_row = range.first >= 0.0 && whole.is_none_or(|last_row| range.last <= last_row);
    Some(Range { is_index: is_row.then_some(id), ..range })
}

/// Returns the result of a comparison of two ranges, if they decide it.
fn compared(operation: &str, a: Range, b: Range) -> Option<Range> {
    let (is_true, is_false) = match operation.strip_prefix("arith.cmpi ")? {
        "slt" | "ult" => (a.last < b.first, a.first >= b.last),
        "sle" | "ule" => (a.last <= b.first, a.first > b.last),
        "sgt" | "ugt" => (a.first > b.last, a.last <= b.first),
        "sge" | "uge" => (a.first >= b.last, a.last < b.first),
        "ne" => (a.last < b.first || b.last < a.first, false),
        "eq" => (false, a.last < b.first || b.last < a.first),
        _ => return None,
    };
    let (first, last) = match (is_true, is_false) {
        (true, _) => (1.0, 1.0),
        (_, true) => (0.0, 0.0),
        _ => (0.0, 1.0),
    };
    Some(Range { first, last, is_index: None })
}

/// Reorders a table along `dim` to the rows that a constant index selects, which varies along one iteration dimension; also returns that
/// dimension.
fn in_order(graph: &mut Graph, table: NodeId, dim: usize, index: NodeId) -> Option<(NodeId, usize)> {
    graph.known_of(index)?;
    let over = graph.node(index).shape.clone();
    let mut moving = (0..over.len()).filter(|&along| over[along] > 1);
    let (along, None) = (moving.next()?, moving.next()) else { return None };
    let mut shape = graph.node(table).shape.clone();
    let others = (0..shape.len()).filter(|&other| other != dim);
    let index = graph.reshape(index, &[over[along]]);
    let gathered = graph.gather(table, dim, index);
    shape[dim] = over[along];
    let map = [dim].into_iter().chain(others).map(Expr::Dim).collect();
    Some((graph.view(gathered, map, &shape), along))
}

/// Returns a view of a table at these indices of an iteration space.
fn shown_at(graph: &mut Graph, table: NodeId, exprs: Vec<Expr>, sizes: &[i64]) -> Result<NodeId, String> {
    if refuse_window(&exprs, sizes).is_some() {
        return unfolded(graph, table, &exprs, sizes);
    }
    let shape = moving_dims(&exprs, sizes);
    Ok(graph.strided(table, exprs, &shape))
}

/// Gathers rows of `table` along `dim` with `index` (over the iteration space); the other dimensions are read at `exprs`.
fn gather(graph: &mut Graph, table: NodeId, dim: usize, index: NodeId, exprs: &[Option<Expr>], sizes: &[i64]) -> Result<NodeId, String> {
    let rows = graph.node(table).shape.clone();
    let over = graph.node(index).shape.clone();
    let moving: Vec<usize> = (0..over.len()).filter(|&dim| over[dim] > 1).collect();
    let index_shape: Vec<i64> = if moving.is_empty() { vec![1] } else { moving.iter().map(|&dim| over[dim]).collect() };
    let index = graph.reshape(index, &index_shape);
    let gathered = graph.gather(table, dim, index);
    let others = (0..rows.len()).filter(|&other| other != dim);
    let chosen = if moving.is_empty() { vec![Expr::Constant(0)] } else { moving.iter().map(|&dim| Expr::Dim(dim)).collect() };
    let map: Vec<Expr> = chosen.into_iter().chain(others.filter_map(|other| exprs[other].clone())).collect();
    shown_at(graph, gathered, map, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn integer(graph: &mut Graph, operation: &'static str, inputs: &[NodeId]) -> NodeId {
        let fallback = graph.refused(0, vec![3], Element::Int);
        graph.virtual_op(operation, inputs, fallback, Element::Int)
    }

    #[test]
    fn a_wrapped_and_clamped_index_is_the_index() {
        let mut graph = Graph::default();
        let index = graph.tensor(0, vec![3], Element::Int);
        let (zero, rows, last) = (graph.number(0.0), graph.number(128.0), graph.number(127.0));
        let is_negative = integer(&mut graph, "arith.cmpi slt", &[index, zero]);
        let wrapped = integer(&mut graph, "arith.addi", &[index, rows]);
        let chosen = integer(&mut graph, "arith.select", &[is_negative, wrapped, index]);
        let cast = integer(&mut graph, "arith.index_cast", &[chosen]);
        let above = integer(&mut graph, "arith.maxsi", &[cast, zero]);
        let below = integer(&mut graph, "arith.minsi", &[above, last]);
        assert_eq!(chosen_row(&graph, below, 128), Some(index));
        assert_eq!(chosen_row(&graph, below, 200), None, "a clamp to fewer rows changes the index");
        assert_eq!(chosen_row(&graph, wrapped, 128), None);
    }

    #[test]
    fn the_bounds_of_an_index_hold() {
        let mut graph = Graph::default();
        let index = graph.tensor(0, vec![3], Element::Int);
        let rows = graph.number(512.0);
        let is_below = integer(&mut graph, "arith.cmpi slt", &[index, rows]);
        assert!(always_holds(&graph, is_below, &[(index, 512)]));
        assert!(!always_holds(&graph, is_below, &[(index, 600)]));
        assert!(!always_holds(&graph, is_below, &[]), "nothing is known of an index that chooses no row");
    }

    #[test]
    fn counting_is_a_plain_index() {
        let mut graph = Graph::default();
        let known = crate::import::graph::known::Known::table(&[3.0, 5.0, 7.0]);
        let index = graph.known(known, vec![1, 3, 1], Element::Int);
        let two = || Box::new(Expr::Constant(2));
        let scaled = Expr::Mul(Box::new(Expr::Dim(1)), two());
        assert_eq!(plain_index(&graph, index), Some(Expr::Add(Box::new(scaled), Box::new(Expr::Constant(3)))));
        let number = graph.number(4.0);
        assert_eq!(plain_index(&graph, number), Some(Expr::Constant(4)));
    }
}
