//! Indices that a body computes, by arithmetic on iteration dimensions, or reads from a tensor.

use super::{
    affine_index::find_affine_index,
    one_hot::{OneHotProduct, RowSelector, build_one_hot_product},
    unfold::build_unfolded_view,
};
use crate::codes;
use crate::import::graph::{
    NodeElementType, NodeId, NodeKind, ValueGraph, constant_tensor::ConstantTensor, linear_index::find_view_error,
    table_lookup as tables, views::compute_used_sizes,
};
use program::affine::AffineExpression;

/// Element of a table, over the iteration space.
pub(in crate::import) struct TableLookup {
    /// View, or a gather if an index is read from a tensor.
    pub(in crate::import) node: NodeId,
    /// The indices that select rows, and the number of rows.
    pub(in crate::import) selections: Vec<(NodeId, i64)>,
    /// Further conditions that the integers must meet.
    pub(in crate::import) bounds: Vec<NodeId>,
}

impl TableLookup {
    const fn from_node(node: NodeId) -> Self {
        Self { node, selections: Vec::new(), bounds: Vec::new() }
    }
}

/// Result of reading a table at indices.
pub(super) enum LookupResult {
    /// Elements of the table.
    Elements(TableLookup),
    /// No elements yet: the indices of these dimensions of this table are read from tensors.
    MultipleIndices(NodeId, Vec<usize>),
}

/// Returns the element of a table of `rows` at `indices` for every point of an iteration space with these sizes. At
/// most one index may be read from a tensor. The node of a table with a single distinct element has no dimensions.
///
/// # Errors
/// Returns the reason why the device cannot read it.
pub(super) fn lookup_by_one_index(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
    sizes: &[i64],
) -> Result<LookupResult, String> {
    let elements = |found: TableLookup| Ok(LookupResult::Elements(found));
    if let Some(found) = fold_elements(graph, (table, rows), indices)? {
        return elements(TableLookup::from_node(found));
    }
    let mut exprs: Vec<Option<AffineExpression>> = indices.iter().map(|&index| as_affine_index(graph, index)).collect();
    let mut table = table;
    if let Some(rejected) = graph.find_unsupported(&[table]) {
        return elements(TableLookup::from_node(rejected));
    }
    if graph.as_scalar(table).is_none() {
        // The index is not an increasing sequence with a constant step: a gather by a constant index table reorders the
        // rows.
        for dim in 0..exprs.len() {
            if exprs[dim].is_some() || varies_with_other_index(graph, indices[dim], &exprs) {
                continue;
            }
            if let Some((ordered, along)) = reorder_rows(graph, table, dim, indices[dim]) {
                (table, exprs[dim]) = (ordered, Some(AffineExpression::Dim(along)));
            }
        }
    }
    if graph.as_scalar(table).is_some() {
        for (&index, &rows) in indices.iter().zip(rows) {
            record_row_selection(graph, index, rows);
        }
        return elements(TableLookup::from_node(table));
    }
    let computed: Vec<usize> = (0..exprs.len()).filter(|&dim| exprs[dim].is_none()).collect();
    match computed.as_slice() {
        [] => {
            let exprs: Vec<AffineExpression> = exprs.into_iter().flatten().collect();
            view_at(graph, table, exprs, sizes).map(TableLookup::from_node).and_then(elements)
        }
        // The order of the rows is known at compile time. If another index varies with the row, one element of each row
        // is read.
        &[dim] if graph.as_constant(indices[dim]).is_some() => {
            let rows = graph.node(table).shape.clone();
            if varies_with_other_index(graph, indices[dim], &exprs)
                && let Some(found) = select_computed_row(graph, (table, &rows), indices[dim], dim, &exprs, sizes)
            {
                return elements(found);
            }
            gather_rows(graph, table, dim, indices[dim], &exprs, sizes).map(TableLookup::from_node).and_then(elements)
        }
        &[dim] => {
            let chosen = find_row_index(graph, indices[dim], rows[dim]);
            if let Some(digits) = chosen.filter(|&index| graph.find_digits(index).is_some()) {
                let found = select_computed_row(graph, (table, rows), digits, dim, &exprs, sizes);
                return found.ok_or_else(|| DIGIT_INDEX_MESSAGE.to_owned()).and_then(elements);
            }
            let Some(index) = chosen else {
                if let Some(found) = lookup_by_function(graph, (table, rows), indices[dim], dim, &exprs, sizes) {
                    return elements(found);
                }
                if let Some(found) = select_computed_row(graph, (table, rows), indices[dim], dim, &exprs, sizes) {
                    return elements(found);
                }
                return Err(
                    "expected an index that is an element of an integer tensor, at most wrapped or clamped to the rows of the table, found \
                     a computed index; pass the computed indices as an argument"
                        .to_owned(),
                );
            };
            // The device cannot select a row if another index varies with it.
            if varies_with_other_index(graph, index, &exprs) {
                // The index of a lookup has as many values as the smallest table that it selects from has rows.
                if graph.is_known_index(index) {
                    graph.record_index(index, rows[dim]);
                }
                let found = select_computed_row(graph, (table, rows), index, dim, &exprs, sizes);
                return found
                    .ok_or_else(|| {
                        codes::UNSUPPORTED
                            .format("of one element per row of a table is not supported; gather whole rows")
                    })
                    .and_then(elements);
            }
            graph.record_index(index, rows[dim]);
            elements(TableLookup {
                node: gather_rows(graph, table, dim, index, &exprs, sizes)?,
                selections: vec![(index, rows[dim])],
                bounds: Vec::new(),
            })
        }
        _ => Ok(LookupResult::MultipleIndices(table, computed)),
    }
}

/// Returns whether an index varies along a dimension of the iteration space that another index varies along.
fn varies_with_other_index(graph: &ValueGraph, index: NodeId, exprs: &[Option<AffineExpression>]) -> bool {
    let shape = &graph.node(index).shape;
    exprs.iter().flatten().flat_map(AffineExpression::dims).any(|space| shape.get(space).is_some_and(|&size| size > 1))
}

/// Returns the elements of a constant table at constant indices. Constant indices are checked against the sizes of any
/// table.
fn fold_elements(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
) -> Result<Option<NodeId>, String> {
    let is_known = indices.iter().all(|&index| graph.as_constant(index).is_some());
    for (dim, &index) in indices.iter().enumerate() {
        let Some(known) = graph.as_constant(index) else { continue };
        let (first, last) = known.integers().fold((i64::MAX, i64::MIN), |(low, high), x| (low.min(x), high.max(x)));
        if first < 0 || last >= rows[dim] {
            return Err(codes::INDEX_BOUNDS.format(format_args!(
                "expected indices from 0 to {} of dimension {dim}, found indices {first} to {last}; give indices within the table",
                rows[dim] - 1
            )));
        }
    }
    let (true, Some(known)) = (is_known && !indices.is_empty(), graph.as_constant(table).cloned()) else {
        return Ok(None);
    };
    if known.splat_value().is_some() {
        return Ok(Some(table));
    }
    let shape = graph.compute_broadcast_shape(indices);
    let operands: Vec<(&ConstantTensor, &[i64])> = indices
        .iter()
        .filter_map(|&index| Some((graph.as_constant(index)?, graph.node(index).shape.as_slice())))
        .collect();
    let flat = |at: &[i64]| {
        let flat = at.iter().zip(rows).fold(0, |flat, (&index, &size)| flat * size + index);
        usize::try_from(flat).expect("indices of the table")
    };
    let element = graph.node(table).element;
    let chosen = if element == NodeElementType::Int {
        let integers: Vec<i64> = known.integers().collect();
        ConstantTensor::map_integers(&operands, &shape, |at| integers[flat(at)])
    } else {
        let numbers: Vec<f64> = known.numbers().collect();
        ConstantTensor::map_integers_to_numbers(&operands, &shape, |at| numbers[flat(at)])
    };
    Ok(Some(graph.add_constant(chosen, shape, element)))
}

/// Selects rows by a function of one index argument and constants. For the index plus a constant, slices the table from
/// the constant on. Otherwise reorders the rows to the order in which the values of the index select them.
fn lookup_by_function(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    computed: NodeId,
    dim: usize,
    exprs: &[Option<AffineExpression>],
    sizes: &[i64],
) -> Option<TableLookup> {
    let number = graph.convert_to_numbers(computed).ok()?;
    let Some((known, index)) = tables::as_lookup(graph, number) else {
        graph.require_table_if_unary(number);
        return None;
    };
    let numbers: Vec<f64> = graph.as_constant(known)?.numbers().collect();
    let n_rows = graph.num_index_values(index)?;
    let is_of_index = usize::try_from(n_rows).is_ok_and(|n_rows| n_rows == numbers.len());
    #[allow(clippy::cast_possible_truncation, reason = "indices are small whole numbers")]
    let first = numbers[0] as i64;
    let is_shifted = numbers.windows(2).all(|pair| pair[1] - pair[0] == 1.0) && (0..rows[dim]).contains(&first);
    #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
    let num_fit = numbers.iter().take_while(|&&number| (0.0..rows[dim] as f64).contains(&number)).count();
    if is_of_index && is_shifted {
        let num_reached = n_rows.min(rows[dim] - first);
        let along = |other: usize| {
            AffineExpression::Dim(other).plus(AffineExpression::Constant(if other == dim { first } else { 0 }))
        };
        let mut shape = rows.to_vec();
        shape[dim] = num_reached;
        let table = graph.view(table, (0..rows.len()).map(along).collect(), &shape);
        return gather_selected_rows(graph, table, (index, num_reached), dim, exprs, sizes);
    }
    if is_of_index && num_fit == numbers.len() {
        let order = graph.add_constant(ConstantTensor::from_numbers(&numbers), vec![n_rows], NodeElementType::Int);
        let gathered = graph.gather(table, dim, order);
        let mut shape = rows.to_vec();
        shape[dim] = n_rows;
        let mut map: Vec<AffineExpression> = vec![AffineExpression::Dim(dim)];
        map.extend((0..rows.len()).filter(|&other| other != dim).map(AffineExpression::Dim));
        let table = graph.view(gathered, map, &shape);
        return gather_selected_rows(graph, table, (index, n_rows), dim, exprs, sizes);
    }
    // Valid arguments are those that yield rows, from 0 on.
    if let Some(num_fit) = i64::try_from(num_fit).ok().filter(|&num_fit| num_fit > 0) {
        graph.record_index(index, num_fit);
    }
    None
}

/// Returns the rows of a table that an index with `n_rows` values selects.
fn gather_selected_rows(
    graph: &mut ValueGraph,
    table: NodeId,
    (index, n_rows): (NodeId, i64),
    dim: usize,
    exprs: &[Option<AffineExpression>],
    sizes: &[i64],
) -> Option<TableLookup> {
    graph.record_index(index, n_rows);
    Some(TableLookup {
        node: gather_rows(graph, table, dim, index, exprs, sizes).ok()?,
        selections: vec![(index, n_rows)],
        bounds: Vec::new(),
    })
}

/// Selects rows of `dim` at `index`, which is computed from a runtime integer and varies along dimensions of its own;
/// the other dimensions are read at `exprs`.
///
/// # Errors
/// Returns the reason why the device cannot read them.
pub(in crate::import) fn select_rows(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    index: NodeId,
    dim: usize,
    exprs: &[Option<AffineExpression>],
    sizes: &[i64],
) -> Result<TableLookup, String> {
    // All rows of a splat are equal.
    if graph.as_scalar(table).is_some() {
        record_row_selection(graph, index, rows[dim]);
        return Ok(TableLookup { node: graph.broadcast(table, sizes), selections: Vec::new(), bounds: Vec::new() });
    }
    let chosen = find_row_index(graph, index, rows[dim]);
    if let Some(digits) = chosen.filter(|&index| graph.find_digits(index).is_some()) {
        return select_computed_row(graph, (table, rows), digits, dim, exprs, sizes)
            .ok_or_else(|| DIGIT_INDEX_MESSAGE.to_owned());
    }
    if let Some(index) = chosen {
        graph.record_index(index, rows[dim]);
        return Ok(TableLookup {
            node: gather_rows(graph, table, dim, index, exprs, sizes)?,
            selections: vec![(index, rows[dim])],
            bounds: Vec::new(),
        });
    }
    if let Some(found) = lookup_by_function(graph, (table, rows), index, dim, exprs, sizes) {
        return Ok(found);
    }
    let found = select_computed_row(graph, (table, rows), index, dim, exprs, sizes);
    found.ok_or_else(|| {
        codes::INDEX_COMPUTED.format("requires a first row that the device can compute, and few rows; take fewer rows")
    })
}

/// Records that an index argument selects one of `rows` rows.
fn record_row_selection(graph: &mut ValueGraph, index: NodeId, rows: i64) {
    if let Some(index) = find_row_index(graph, index, rows) {
        graph.record_index(index, rows);
    }
}

/// Message that rejects the selection of rows by positions that are represented by digits.
const DIGIT_INDEX_MESSAGE: &str = "uses positions above 1024 in a shorter table, or together with a second index, which is not supported; reduce \
                             a smaller dimension";

/// Selects rows by integers of the program that the device computes.
fn select_computed_row(
    graph: &mut ValueGraph,
    (table, rows): (NodeId, &[i64]),
    computed: NodeId,
    dim: usize,
    exprs: &[Option<AffineExpression>],
    sizes: &[i64],
) -> Option<TableLookup> {
    let row = match graph.find_digits(computed) {
        Some(digits) => RowSelector::Digits(digits),
        None => RowSelector::Number(graph.convert_to_numbers(computed).ok()?),
    };
    // Integers are selected as the numbers that represent them on the device.
    let is_integer = graph.node(table).element == NodeElementType::Int;
    let numbers = if is_integer { graph.convert_to_numbers(table).ok()? } else { table };
    let OneHotProduct { node, bounds } = build_one_hot_product(graph, (numbers, rows), row, dim, exprs, sizes)?;
    if !is_integer {
        return Some(TableLookup { node, selections: Vec::new(), bounds });
    }
    graph.record_superset(node, numbers);
    Some(TableLookup { node: graph.add_integers(node), selections: Vec::new(), bounds })
}

/// Returns the numbers of an index that is known at compile time.
fn collect_constant_integers(graph: &ValueGraph, index: NodeId) -> Option<Vec<i64>> {
    graph.as_constant(index).map(|known| known.integers().collect())
}

/// Returns an index that is known at compile time, in terms of the iteration dimensions.
fn as_affine_index(graph: &ValueGraph, index: NodeId) -> Option<AffineExpression> {
    let numbers = collect_constant_integers(graph, index)?;
    if let [number] = numbers.as_slice() {
        Some(AffineExpression::Constant(*number))
    } else {
        find_affine_index(&numbers, &graph.node(index).shape)
    }
}

/// Inclusive range of an integer, and the index that it equals, if it is an unmodified index.
#[derive(Clone, Copy)]
struct IndexRange {
    first: f64,
    last: f64,
    is_index: Option<NodeId>,
}

impl IndexRange {
    /// Returns whether all types that an operation of this name may have represent the integers, so that none of them
    /// wraps around.
    fn fits_i32(&self) -> bool {
        self.first >= f64::from(i32::MIN) && self.last <= f64::from(i32::MAX)
    }
}

/// Simplifies `index`, given that it selects one of `rows` rows: producers wrap negative numbers and clamp to the rows,
/// which is the identity within that range.
fn find_row_index(graph: &ValueGraph, index: NodeId, rows: i64) -> Option<NodeId> {
    compute_range(graph, index, &|_| Some(rows))?.is_index
}

/// Returns whether `index` is constant, or an index that selects one of `rows` rows.
pub(super) fn is_row_index(graph: &ValueGraph, index: NodeId, rows: i64) -> bool {
    graph.as_constant(index).is_some() || find_row_index(graph, index, rows).is_some()
}

/// Returns whether a condition holds for every possible value of the indices `gathered`.
pub(in crate::import) fn always_holds(graph: &ValueGraph, condition: NodeId, gathered: &[(NodeId, i64)]) -> bool {
    let rows = |index: NodeId| gathered.iter().filter(|(known, _)| *known == index).map(|&(_, rows)| rows).min();
    compute_range(graph, condition, &rows).is_some_and(|range| range.first == 1.0 && range.last == 1.0)
}

/// Returns the result of a comparison of two integers if their compile-time ranges decide it; None otherwise.
pub(in crate::import) fn decide_comparison(graph: &ValueGraph, comparison: &str, inputs: &[NodeId]) -> Option<bool> {
    let &[one, other] = inputs else { return None };
    let truth =
        compare_ranges(comparison, compute_range(graph, one, &|_| None)?, compute_range(graph, other, &|_| None)?)?;
    (truth.first == truth.last).then_some(truth.first == 1.0)
}

/// Returns the range of an integer that is known at compile time, where `rows` returns the number of values, from 0 on,
/// of an index. Returns None if no range is known.
fn compute_range(graph: &ValueGraph, id: NodeId, rows: &dyn Fn(NodeId) -> Option<i64>) -> Option<IndexRange> {
    let node = graph.node(id);
    let plain = |first: f64, last: f64| Some(IndexRange { first, last, is_index: None });
    if let NodeKind::Constant(known) = &node.kind {
        let bounds = known
            .numbers()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
        return plain(bounds.0, bounds.1);
    }
    let NodeKind::Virtual(operation) = node.kind else { return compute_list_range(graph, id, rows) };
    if let Some((table, _)) = tables::as_lookup(graph, id) {
        return compute_range(graph, table, rows);
    }
    if let Some(digits) = graph.find_digits(id) {
        #[allow(clippy::cast_precision_loss, reason = "two digits count far less than 2^53")]
        let [first, end] = digits.range.map(|bound| bound as f64);
        return Some(IndexRange { first, last: end - 1.0, is_index: Some(id) });
    }
    // The last input of a virtual operation is its expansion, or its rejection.
    let operand = |position: usize| compute_range(graph, node.inputs[position], rows);
    let reads_bits = matches!(operation, "arith.maxui" | "arith.minui") || operation.starts_with("arith.cmpi u");
    // In an unsigned comparison, a negative number is a large number.
    if reads_bits && !(0..2).all(|position| operand(position).is_some_and(|range| range.first >= 0.0)) {
        return None;
    }
    match operation {
        "arith.index_cast" | "arith.extsi" | "arith.trunci" => operand(0).filter(IndexRange::fits_i32),
        "arith.index_castui" | "arith.extui" => operand(0).filter(|range| range.fits_i32() && range.first >= 0.0),
        "arith.addi" => {
            let (a, b) = (operand(0)?, operand(1)?);
            plain(a.first + b.first, a.last + b.last).filter(IndexRange::fits_i32)
        }
        "arith.subi" => {
            let (a, b) = (operand(0)?, operand(1)?);
            plain(a.first - b.last, a.last - b.first).filter(IndexRange::fits_i32)
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
        "arith.andi" if node.element == NodeElementType::Bool => {
            let (a, b) = (operand(0)?, operand(1)?);
            let is_true = |range: &IndexRange| range.first == 1.0 && range.last == 1.0;
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
        _ if node.inputs.len() > 2 => compare_ranges(operation, operand(0)?, operand(1)?),
        _ => None,
    }
}

/// Returns the range of the elements of a list of indices: index arguments are rows, constants are their values.
fn compute_list_range(graph: &ValueGraph, id: NodeId, rows: &dyn Fn(NodeId) -> Option<i64>) -> Option<IndexRange> {
    if !graph.is_index_list(id) {
        return None;
    }
    #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
    let last_row = |id: NodeId| rows(id).map(|rows| rows as f64 - 1.0);
    let whole = last_row(id);
    let (mut range, mut open) =
        (IndexRange { first: f64::INFINITY, last: f64::NEG_INFINITY, is_index: None }, vec![id]);
    while let Some(part) = open.pop() {
        let node = graph.node(part);
        let (first, last) = match &node.kind {
            NodeKind::Constant(known) => known
                .numbers()
                .fold((range.first, range.last), |(low, high), number| (low.min(number), high.max(number))),
            NodeKind::Insert(_) | NodeKind::View(_) | NodeKind::Reshape | NodeKind::Splat => {
                open.extend(&node.inputs);
                continue;
            }
            NodeKind::Undefined => continue,
            _ => (0.0, whole.or_else(|| last_row(part))?),
        };
        range = IndexRange { first: range.first.min(first), last: range.last.max(last), is_index: None };
    }
    if range.first > range.last {
        return None;
    }
    let is_row = range.first >= 0.0 && whole.is_none_or(|last_row| range.last <= last_row);
    Some(IndexRange { is_index: is_row.then_some(id), ..range })
}

/// Returns the result of a comparison of two ranges, if they decide it.
fn compare_ranges(operation: &str, a: IndexRange, b: IndexRange) -> Option<IndexRange> {
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
    Some(IndexRange { first, last, is_index: None })
}

/// Reorders a table along `dim` to the rows that a constant index selects, which varies along one iteration dimension;
/// also returns that dimension.
fn reorder_rows(graph: &mut ValueGraph, table: NodeId, dim: usize, index: NodeId) -> Option<(NodeId, usize)> {
    graph.as_constant(index)?;
    let over = graph.node(index).shape.clone();
    let mut moving = (0..over.len()).filter(|&along| over[along] > 1);
    let (along, None) = (moving.next()?, moving.next()) else { return None };
    let mut shape = graph.node(table).shape.clone();
    let others = (0..shape.len()).filter(|&other| other != dim);
    let index = graph.reshape(index, &[over[along]]);
    let gathered = graph.gather(table, dim, index);
    shape[dim] = over[along];
    let map = [dim].into_iter().chain(others).map(AffineExpression::Dim).collect();
    Some((graph.view(gathered, map, &shape), along))
}

/// Returns a view of a table at these indices of an iteration space.
fn view_at(
    graph: &mut ValueGraph,
    table: NodeId,
    exprs: Vec<AffineExpression>,
    sizes: &[i64],
) -> Result<NodeId, String> {
    if find_view_error(&exprs, sizes).is_some() {
        return build_unfolded_view(graph, table, &exprs, sizes);
    }
    let shape = compute_used_sizes(&exprs, sizes);
    Ok(graph.view_strided(table, exprs, &shape))
}

/// Gathers rows of `table` along `dim` with `index`, which is over the iteration space. The other dimensions are read
/// at `exprs`.
fn gather_rows(
    graph: &mut ValueGraph,
    table: NodeId,
    dim: usize,
    index: NodeId,
    exprs: &[Option<AffineExpression>],
    sizes: &[i64],
) -> Result<NodeId, String> {
    let rows = graph.node(table).shape.clone();
    let over = graph.node(index).shape.clone();
    let moving: Vec<usize> = (0..over.len()).filter(|&dim| over[dim] > 1).collect();
    let index_shape: Vec<i64> = if moving.is_empty() { vec![1] } else { moving.iter().map(|&dim| over[dim]).collect() };
    let index = graph.reshape(index, &index_shape);
    let gathered = graph.gather(table, dim, index);
    let others = (0..rows.len()).filter(|&other| other != dim);
    let chosen = if moving.is_empty() {
        vec![AffineExpression::Constant(0)]
    } else {
        moving.iter().map(|&dim| AffineExpression::Dim(dim)).collect()
    };
    let map: Vec<AffineExpression> =
        chosen.into_iter().chain(others.filter_map(|other| exprs[other].clone())).collect();
    view_at(graph, gathered, map, sizes)
}

#[cfg(test)]
mod tests;
