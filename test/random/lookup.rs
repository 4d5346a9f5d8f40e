//! Ops that read a tensor at indices that their bodies compute: rows by index, and positions that depend on the
//! iteration alone.

use crate::random::{
    build::{ElementKind, ProgramBuilder, TensorValue, compute_strides, for_each_point, join_list, map_text},
    scalar::holds_predicate,
};

/// Positions along a dimension that depend on the iteration, and the ops that compute them.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PositionMap {
    /// `2 i + 1`
    Odd,
    /// `2 i`, by a shift.
    Even,
    /// `i / 2`, by the op.
    Half(&'static str),
    /// `(i + 1) / 2`
    HalfAbove,
    /// `i mod n`, by the op.
    Again(&'static str),
    /// `n - 1 - i`
    Backwards,
    /// `min(i, n - 1)`, by the op.
    UpTo(&'static str),
    /// `i`, masked by the op before a position.
    From(&'static str),
    /// `i` where a predicate of `arith.cmpi` holds for it and 2, else 0.
    Where(&'static str),
}

pub(crate) const POSITION_MAPS: [PositionMap; 10] = [
    PositionMap::Odd,
    PositionMap::Even,
    PositionMap::Half("floordivsi"),
    PositionMap::Half("shrsi"),
    PositionMap::HalfAbove,
    PositionMap::Again("remsi"),
    PositionMap::Backwards,
    PositionMap::UpTo("minsi"),
    PositionMap::From("maxsi"),
    PositionMap::Where("slt"),
];

impl PositionMap {
    /// Returns the number of positions along a dimension of a size.
    fn num_positions(self, size: usize) -> usize {
        match self {
            Self::Odd => size / 2,
            Self::Even => size.div_ceil(2),
            Self::Half(_) => 2 * size,
            Self::HalfAbove => 2 * size - 1,
            Self::Again(_) => size + size / 2,
            Self::UpTo(_) => size + 3,
            Self::Backwards | Self::From(_) | Self::Where(_) => size,
        }
    }

    fn position(self, at: usize, size: usize) -> usize {
        match self {
            Self::Odd => 2 * at + 1,
            Self::Even => 2 * at,
            Self::Half(_) => at / 2,
            Self::HalfAbove => at.div_ceil(2),
            Self::Again(_) => at % size,
            Self::Backwards => size - 1 - at,
            Self::UpTo(_) => at.min(size - 1),
            Self::From(_) => at.max((size - 1).min(2)),
            Self::Where(predicate) => at * usize::from(holds_predicate(predicate, at as i64, 2)),
        }
    }

    /// Returns the lines that define `%n` from `%i`.
    fn text(self, size: usize) -> String {
        let last = size - 1;
        let number = |name: &str, value: usize| format!("  %{name} = arith.constant {value} : index\n");
        let by = |op: &str, value: usize| number("k", value) + &format!("  %n = arith.{op} %i, %k : index\n");
        match self {
            Self::Odd => {
                number("k", 2)
                    + "  %m = arith.muli %i, %k : index\n"
                    + &number("l", 1)
                    + "  %n = arith.addi %m, %l : index\n"
            }
            Self::Even => by("shli", 1),
            Self::Half(op) => by(op, if op == "shrsi" { 1 } else { 2 }),
            Self::HalfAbove => by("ceildivsi", 2),
            Self::Again(op) => by(op, size),
            Self::Backwards => number("k", last) + "  %n = arith.subi %k, %i : index\n",
            Self::UpTo(op) => by(op, last),
            Self::From(op) => by(op, last.min(2)),
            Self::Where(predicate) => {
                number("k", 2)
                    + &number("l", 0)
                    + &format!(
                        "  %m = arith.cmpi {predicate}, %i, %k : index\n  %n = arith.select %m, %i, %l : index\n"
                    )
            }
        }
    }
}

/// Computation of an index from an element of an argument.
#[derive(Clone, Copy, Debug)]
pub(crate) enum IndexWrapping {
    Plain,
    /// With assertions of its bounds.
    Asserted,
    /// Negative indices count from the end, and indices beyond the end are clamped to the last one.
    Clamped,
}

impl IndexWrapping {
    /// Returns the lines that define `%n` from `%x0`, for an index below a bound.
    fn text(self, element: &str, bound: usize) -> String {
        let cast = format!("  %n = arith.index_cast %x0 : {element} to index\n");
        match self {
            Self::Plain => cast,
            Self::Asserted => format!(
                "  %l = arith.constant {bound} : {element}\n  %z = arith.constant 0 : {element}\n  \
                 %a = arith.cmpi slt, %x0, %l : {element}\n  cf.assert %a, \"below the rows\"\n  \
                 %b = arith.cmpi sge, %x0, %z : {element}\n  cf.assert %b, \"not negative\"\n{cast}"
            ),
            Self::Clamped => format!(
                "  %l = arith.constant {bound} : {element}\n  %z = arith.constant 0 : {element}\n  \
                 %a = arith.cmpi slt, %x0, %z : {element}\n  %b = arith.addi %x0, %l : {element}\n  \
                 %c = arith.select %a, %b, %x0 : {element}\n  %d = arith.index_cast %c : {element} to index\n  \
                 %e = arith.constant 0 : index\n  %f = arith.constant {} : index\n  \
                 %g = arith.maxsi %d, %e : index\n  %n = arith.minsi %g, %f : index\n",
                bound - 1
            ),
        }
    }
}

impl ProgramBuilder {
    /// Adds a gather of slices of a table along a dimension.
    pub(crate) fn add_gather(&mut self, table: usize, indices: usize, dim: usize, wrapping: IndexWrapping) -> usize {
        let (from, index) = (self.values[table].clone(), self.values[indices].clone());
        let num_index = index.shape.len();
        let others: Vec<usize> = (0..from.shape.len()).filter(|&other| other != dim).collect();
        let shape: Vec<usize> =
            index.shape.iter().copied().chain(others.iter().map(|&other| from.shape[other])).collect();
        let rank = shape.len();
        let read: Vec<Option<usize>> = (0..num_index).map(Some).collect();
        let mut at: Vec<String> = (num_index..rank).map(|dim| format!("%n{dim}")).collect();
        at.insert(dim, "%n".to_owned());
        let lines: String = (num_index..rank).map(|dim| format!("  %n{dim} = linalg.index {dim} : index\n")).collect();
        let of_index = self.element_type(index.kind);
        let computed = wrapping.text(of_index, from.shape[dim]);
        let text = self.extract_text(table, &shape, Some((indices, &read)), &(computed + &lines), &at);
        let steps = compute_strides(&from.shape);
        let of_indices = compute_strides(&index.shape);
        let mut data = Vec::with_capacity(shape.iter().product());
        for_each_point(&shape, |point| {
            let row =
                index.data[point.iter().zip(&of_indices).map(|(at, step)| at * step).sum::<usize>()].value as usize;
            let rest: usize = others.iter().zip(&point[num_index..]).map(|(&other, at)| at * steps[other]).sum();
            data.push(from.data[row * steps[dim] + rest]);
        });
        let classes: Vec<usize> =
            index.classes.iter().copied().chain(others.iter().map(|&other| from.classes[other])).collect();
        let dims = classes.iter().copied().zip(shape.iter().copied()).collect();
        self.push_over(TensorValue { shape, classes, data, kind: from.kind }, &[table, indices], text, dims)
    }

    /// Adds a read of a value at positions along a dimension that depend on the iteration.
    pub(crate) fn add_position_read(&mut self, value: usize, dim: usize, along: PositionMap) -> Option<usize> {
        let from = self.values[value].clone();
        let mut shape = from.shape.clone();
        shape[dim] = along.num_positions(from.shape[dim]);
        if shape[dim] == 0 || shape.iter().product::<usize>() > self.most_elements {
            return None;
        }
        let rank = shape.len();
        let mut at: Vec<String> = (0..rank).map(|dim| format!("%n{dim}")).collect();
        at[dim] = "%n".to_owned();
        let lines: String = (0..rank)
            .filter(|&other| other != dim)
            .map(|dim| format!("  %n{dim} = linalg.index {dim} : index\n"))
            .collect();
        let computed = format!("  %i = linalg.index {dim} : index\n") + &along.text(from.shape[dim]);
        let text = self.extract_text(value, &shape, None, &(computed + &lines), &at);
        let steps = compute_strides(&from.shape);
        let mut data = Vec::with_capacity(shape.iter().product());
        for_each_point(&shape, |point| {
            let of =
                |other: usize| if other == dim { along.position(point[dim], from.shape[dim]) } else { point[other] };
            data.push(from.data[(0..rank).map(|other| of(other) * steps[other]).sum::<usize>()]);
        });
        let mut classes = from.classes.clone();
        classes[dim] = self.new_class();
        Some(self.push(TensorValue { shape, classes, data, kind: from.kind }, &[value], text))
    }

    /// Returns a `linalg.generic` that returns an element of operand 0 at indices that its body computes, with operand
    /// 1 as `%x0` if present.
    fn extract_text(
        &self,
        from: usize,
        shape: &[usize],
        read: Option<(usize, &[Option<usize>])>,
        lines: &str,
        at: &[String],
    ) -> String {
        let (result, rank, kind) = (self.next_number(), shape.len(), self.values[from].kind);
        let (of_result, element, table) = (self.type_of(shape, kind), self.element_type(kind), self.type_text(from));
        let identity: Vec<Option<usize>> = (0..rank).map(Some).collect();
        let maps = read.map(|(_, map)| map_text(rank, map)).into_iter().chain([map_text(rank, &identity)]);
        let (ins, scalar) = read.map_or_else(Default::default, |(value, _)| {
            (
                format!("ins({{1}} : {}) ", self.type_text(value)),
                format!("%x0: {}, ", self.element_type(self.values[value].kind)),
            )
        });
        format!(
            "%e{result} = tensor.empty() : {of_result}\n\
             %v{result} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}\n    \
             {ins}outs(%e{result} : {of_result}) {{\n^bb0({scalar}%out: {element}):\n\
             {lines}  %q = tensor.extract {{0}}[{}] : {table}\n  linalg.yield %q : {element}\n}} -> {of_result}\n",
            join_list(maps),
            join_list((0..rank).map(|_| "\"parallel\"")),
            join_list(at),
        )
    }
}

/// Returns the kind of indices below a bound, of either width.
pub(crate) const fn index_kind(bound: usize, is_short: bool) -> ElementKind {
    ElementKind::Index { bound, is_short }
}
