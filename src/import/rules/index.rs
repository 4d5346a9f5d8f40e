//! Indices that a body computes: by arithmetic on iteration dimensions, or read from a tensor.

use super::known_index::index_of_table;
use crate::affine::Expr;
use crate::import::graph::{Element, Graph, Kind, NodeId, linear::refuse_window, views::moving_dims};

/// An element of a table, over the iteration space.
pub(in crate::import) struct Lookup {
    /// A view, or a gather where an index is read from a tensor.
    pub(in crate::import) node: NodeId,
    /// The index that chooses rows, and how many there are.
    pub(in crate::import) chosen: Option<(NodeId, i64)>,
}

/// The element of a table of `rows` at `indices` for every point of an iteration space with these sizes. The node of a table whose elements
/// are one number has none of its dimensions.
///
/// # Errors
/// Why the device cannot read it.
pub(in crate::import) fn lookup(
    graph: &mut Graph,
    (table, rows): (NodeId, &[i64]),
    indices: &[NodeId],
    sizes: &[i64],
) -> Result<Lookup, String> {
    let exprs: Vec<Option<Expr>> = indices.iter().map(|&index| plain_index(graph, index)).collect();
    for (dim, &index) in indices.iter().enumerate() {
        let numbers = known_numbers(graph, index).unwrap_or_default();
        if let (Some(&first), Some(&last)) = (numbers.iter().min(), numbers.iter().max())
            && (first < 0 || last >= rows[dim])
        {
            return Err(format!("reads the indices {first} to {last} of a dimension of {}", rows[dim]));
        }
    }
    let (mut table, mut exprs) = (table, exprs);
    if let Some(refused) = graph.refused_among(&[table]) {
        return Ok(Lookup { node: refused, chosen: None });
    }
    if graph.number_of(table).is_none() {
        // In another order than forwards and evenly: a constant table of indices puts the rows in order.
        for (dim, expr) in exprs.iter_mut().enumerate().filter(|(_, expr)| expr.is_none()) {
            if let Some((ordered, along)) = in_order(graph, table, dim, indices[dim]) {
                (table, *expr) = (ordered, Some(Expr::Dim(along)));
            }
        }
    }
    if graph.number_of(table).is_some() {
        return Ok(Lookup { node: table, chosen: None });
    }
    let computed: Vec<usize> = (0..exprs.len()).filter(|&dim| exprs[dim].is_none()).collect();
    match computed.as_slice() {
        [] => {
            let exprs: Vec<Expr> = exprs.into_iter().flatten().collect();
            if let Some(message) = refuse_window(&exprs, sizes) {
                return Err(format!("reads {message}"));
            }
            let shape = moving_dims(&exprs, sizes);
            Ok(Lookup { node: graph.strided(table, exprs, &shape), chosen: None })
        }
        // In another order than forwards and evenly: the table of indices is a constant.
        &[dim] if graph.known_of(indices[dim]).is_some() => {
            Ok(Lookup { node: gather(graph, table, dim, indices[dim], &exprs, sizes), chosen: None })
        }
        &[dim] => {
            let Some(index) = chosen_row(graph, indices[dim], rows[dim]) else {
                return Err(
                    "takes an index that is computed from a tensor: only an element itself, wrapped or clamped to the rows of the \
                            table, is supported yet"
                        .to_owned(),
                );
            };
            Ok(Lookup { node: gather(graph, table, dim, index, &exprs, sizes), chosen: Some((index, rows[dim])) })
        }
        several => Err(format!("takes {} indices from tensors: one is supported yet", several.len())),
    }
}

/// The numbers of an index that is known at compile time.
fn known_numbers(graph: &Graph, index: NodeId) -> Option<Vec<i64>> {
    #[allow(clippy::cast_possible_truncation, reason = "indices are small whole numbers")]
    graph.known_of(index).map(|known| known.numbers().map(|number| number as i64).collect())
}

/// An index that is known at compile time in terms of the iteration dimensions.
fn plain_index(graph: &Graph, index: NodeId) -> Option<Expr> {
    let numbers = known_numbers(graph, index)?;
    if let [number] = numbers.as_slice() { Some(Expr::Constant(*number)) } else { index_of_table(&numbers, &graph.node(index).shape) }
}

/// The values that an integer may have, both included, and the index that it is, if it is one unchanged.
#[derive(Clone, Copy)]
struct Range {
    first: f64,
    last: f64,
    is_index: Option<NodeId>,
}

/// The index that `index` is, given that it chooses one of `rows` rows: producers wrap negative numbers and clamp to the rows, which
/// changes nothing within them.
fn chosen_row(graph: &Graph, index: NodeId, rows: i64) -> Option<NodeId> {
    range_of(graph, index, &|_| Some(rows))?.is_index
}

/// Whether a condition holds for every value that the indices `gathered` may have.
pub(in crate::import) fn always_holds(graph: &Graph, condition: NodeId, gathered: &[(NodeId, i64)]) -> bool {
    let rows = |index: NodeId| gathered.iter().filter(|(known, _)| *known == index).map(|&(_, rows)| rows).min();
    range_of(graph, condition, &rows).is_some_and(|range| range.first == 1.0 && range.last == 1.0)
}

/// What is known of an integer, where an index has `rows` values from 0 on.
fn range_of(graph: &Graph, id: NodeId, rows: &dyn Fn(NodeId) -> Option<i64>) -> Option<Range> {
    let node = graph.node(id);
    let plain = |first: f64, last: f64| Some(Range { first, last, is_index: None });
    if let Kind::Known(known) = &node.kind {
        let bounds = known.numbers().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), number| (low.min(number), high.max(number)));
        return plain(bounds.0, bounds.1);
    }
    let Kind::Virtual(operation) = node.kind else {
        #[allow(clippy::cast_precision_loss, reason = "a table has far fewer rows than 2^53")]
        let last = rows(id)? as f64 - 1.0;
        return (node.element == Element::Int).then_some(Range { first: 0.0, last, is_index: Some(id) });
    };
    // The last input of a virtual operation is its refusal.
    let operand = |position: usize| range_of(graph, node.inputs[position], rows);
    match operation {
        "arith.index_cast" | "arith.index_castui" | "arith.extsi" | "arith.extui" | "arith.trunci" => operand(0),
        "arith.addi" => {
            let (a, b) = (operand(0)?, operand(1)?);
            plain(a.first + b.first, a.last + b.last)
        }
        "arith.subi" => {
            let (a, b) = (operand(0)?, operand(1)?);
            plain(a.first - b.last, a.last - b.first)
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
        "arith.andi" => {
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
        _ => compared(operation, operand(0)?, operand(1)?),
    }
}

/// The truth of a comparison of two ranges, where they decide it.
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

/// A table with the rows along `dim` that an index chooses, which is known and moves with one iteration dimension; and that dimension.
fn in_order(graph: &mut Graph, table: NodeId, dim: usize, index: NodeId) -> Option<(NodeId, usize)> {
    graph.known_of(index)?;
    let over = graph.node(index).shape.clone();
    let mut moving = (0..over.len()).filter(|&along| over[along] > 1);
    let (along, None) = (moving.next()?, moving.next()) else { return None };
    let (mut shape, element) = (graph.node(table).shape.clone(), graph.node(table).element);
    let others: Vec<usize> = (0..shape.len()).filter(|&other| other != dim).collect();
    let index = graph.reshape(index, &[over[along]]);
    let gathered = [over[along]].into_iter().chain(others.iter().map(|&other| shape[other])).collect();
    let gathered = graph.add(Kind::Gather(dim), &[table, index], gathered, element);
    shape[dim] = over[along];
    let map = [dim].into_iter().chain(others).map(Expr::Dim).collect();
    Some((graph.view(gathered, map, &shape), along))
}

/// Rows of `table` chosen along `dim` by `index` (over the iteration space), its other dimensions read at `exprs`.
fn gather(graph: &mut Graph, table: NodeId, dim: usize, index: NodeId, exprs: &[Option<Expr>], sizes: &[i64]) -> NodeId {
    let (rows, element) = (graph.node(table).shape.clone(), graph.node(table).element);
    let over = graph.node(index).shape.clone();
    let moving: Vec<usize> = (0..over.len()).filter(|&dim| over[dim] > 1).collect();
    let index_shape: Vec<i64> = if moving.is_empty() { vec![1] } else { moving.iter().map(|&dim| over[dim]).collect() };
    let index = graph.reshape(index, &index_shape);
    let others: Vec<usize> = (0..rows.len()).filter(|&other| other != dim).collect();
    let shape = index_shape.iter().copied().chain(others.iter().map(|&other| rows[other])).collect();
    let gathered = graph.add(Kind::Gather(dim), &[table, index], shape, element);
    let chosen = if moving.is_empty() { vec![Expr::Constant(0)] } else { moving.iter().map(|&dim| Expr::Dim(dim)).collect() };
    let map: Vec<Expr> = chosen.into_iter().chain(others.iter().filter_map(|&other| exprs[other].clone())).collect();
    let shape = moving_dims(&map, sizes);
    graph.view(gathered, map, &shape)
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
