//! Relayouts of a buffer for its readers, and the cost of the moves to them.
//!
//! A reader accesses a buffer through a view. If its sticks do not fit, the buffer is moved into a new one, under one
//! of the dimension sets of a [`RelayoutGraph`]. A move of the sticks from one dimension to another is a restickify. A
//! chain may need several moves: if heads are narrower than a stick, the stick first moves to the rows, and from there
//! into the heads or the columns. The same holds for some columns of one row of a stick.

use super::{
    BufferRole, LayoutBuffer, LayoutOp,
    flow::{CopyTraffic, compute_copy_traffic, split_operand},
};
use program::layout::{IndexDigit, IterationSplit, OperandView, TensorIndex, split_iteration};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// Dimensions under which the elements of a buffer are read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StorageDims {
    /// Sizes of the dimensions.
    pub sizes: Vec<i64>,
    /// The index along each dimension of the buffer.
    pub indices: Vec<TensorIndex>,
}

/// New buffer with the elements of another one, after one move.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelayoutBuffer {
    /// Dimensions of the new buffer.
    pub dims: StorageDims,
    /// Dimension in the sticks of the new buffer.
    pub stick: usize,
    /// Source of the move; `None` for the buffer itself.
    pub from: Option<Box<RelayoutBuffer>>,
    /// Index along each dimension of the source.
    pub source: Vec<TensorIndex>,
    /// Bytes read and written by this move; zero for a constant that is emitted in this layout.
    pub bytes: i64,
    /// Whether elements change sticks.
    pub is_restickify: bool,
}

impl RelayoutBuffer {
    /// Returns the chain of moves that leads here, the one from the original buffer first.
    #[must_use]
    pub fn chain(&self) -> Vec<&Self> {
        let mut chain: Vec<&Self> = std::iter::successors(Some(self), |form| form.from.as_deref()).collect();
        chain.reverse();
        chain
    }

    /// Returns whether the new buffer has all elements of its source, under the same dimensions, of these sizes.
    #[must_use]
    pub fn is_plain_copy(&self, sizes: &[i64]) -> bool {
        let is_own =
            |(dim, index): (usize, &TensorIndex)| TensorIndex::from_dim(dim, sizes).is_ok_and(|own| own == *index);
        self.dims.sizes == sizes && self.source.iter().enumerate().all(is_own)
    }

    /// Returns the new buffer for the program model.
    #[must_use]
    pub fn target_buffer(&self, of: &LayoutBuffer) -> LayoutBuffer {
        of.relayout_target(&self.dims.sizes)
    }
}

/// Buffer that a reader can read, and the indices at which it reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RelayoutOption {
    /// The new buffer; `None` for the original one.
    pub buffer: Option<RelayoutBuffer>,
    /// Index along each of its dimensions, in terms of the reader's iteration dimensions.
    pub indices: Vec<TensorIndex>,
}

impl RelayoutOption {
    /// Bytes of all moves.
    #[must_use]
    pub fn moved_bytes(&self) -> i64 {
        self.buffer.iter().flat_map(RelayoutBuffer::chain).map(|form| form.bytes).sum()
    }
}

/// Maximum number of relayout options of one reader; the cheapest ones are kept.
const MAX_RELAYOUT_OPTIONS: usize = 3;
/// Maximum number of consecutive moves.
const MAX_MOVES: usize = 5;

/// Returns the relayout options of operand `operand` of an op, cheapest first: `own` is the stick of `buffer`, `stick`
/// that of the op. Empty if there is none. The relayout graph of the operand is computed only if the buffer must be
/// moved.
#[must_use]
pub(super) fn find_relayout_options(
    op: &LayoutOp,
    stick: Option<usize>,
    operand: usize,
    buffer: &LayoutBuffer,
    own: Option<usize>,
    levels: impl FnOnce() -> Option<Rc<RelayoutGraph>>,
) -> Vec<RelayoutOption> {
    let read = &op.reads[operand];
    let (Ok(host), Ok(layout)) = (buffer.host_tensor(), buffer.layout(own)) else { return Vec::new() };
    if read.is_exempt || op.can_read_directly(stick, operand, &host, &layout, &read.indices) {
        return vec![RelayoutOption { buffer: None, indices: read.indices.clone() }];
    }
    let Some(levels) = levels() else { return Vec::new() };
    let mut found = Vec::new();
    // Starts from the cheapest chain, so that each buffer is reached at its least cost.
    let mut open: BTreeMap<(i64, usize, usize), ReachedBuffer> = BTreeMap::new();
    let mut done: Vec<(usize, usize)> = Vec::new();
    let mut serial = 0;
    open.insert((0, 0, serial), ReachedBuffer { form: None, level: 0, at: own });
    while let Some(((bytes, num_moves, _), ReachedBuffer { form, level, at })) = open.pop_first() {
        if let (Some(form), Some(at)) = (&form, at) {
            if done.contains(&(level, at)) {
                continue;
            }
            done.push((level, at));
            let to = &levels.levels[level];
            let own = form.target_buffer(buffer);
            let is_read = own.host_tensor().ok().zip(own.layout(Some(at)).ok()).is_some_and(|(host, layout)| {
                op.can_read_directly(stick, operand, &host, &layout, &levels.read[level]) && to.sizes == own.sizes
            });
            if is_read {
                found.push(RelayoutOption { buffer: Some(form.clone()), indices: levels.read[level].clone() });
                if found.len() == MAX_RELAYOUT_OPTIONS {
                    break;
                }
            }
        }
        if num_moves == MAX_MOVES {
            continue;
        }
        for RelayoutMove { to, stick, source, moved } in levels.moves_from(buffer, level, at).iter() {
            let (level, source, from) = (levels.levels[*to].clone(), source.clone(), form.clone().map(Box::new));
            let mut step = RelayoutBuffer {
                dims: level,
                stick: *stick,
                from,
                source,
                bytes: moved.bytes,
                is_restickify: moved.is_restickify,
            };
            // A constant is emitted in this layout instead.
            if buffer.role == BufferRole::Constant && step.from.is_none() && step.is_plain_copy(&buffer.sizes) {
                step.bytes = 0;
            }
            serial += 1;
            open.insert(
                (bytes + step.bytes, num_moves + 1, serial),
                ReachedBuffer { form: Some(step), level: *to, at: Some(*stick) },
            );
        }
    }
    found
}

/// Buffer that a chain of moves reaches.
struct ReachedBuffer {
    /// `None` for the original buffer.
    form: Option<RelayoutBuffer>,
    level: usize,
    /// Dimension in the sticks.
    at: Option<usize>,
}

/// Move to a buffer under one of the dimension sets.
struct RelayoutMove {
    to: usize,
    stick: usize,
    /// Index along each dimension of the source.
    source: Vec<TensorIndex>,
    moved: CopyTraffic,
}

/// Moves from one buffer.
type RelayoutMoves = Rc<Vec<RelayoutMove>>;

/// Dimension sets (*levels*) under which a reader's buffer can be stored, and the moves between them.
///
/// The levels are: the buffer's own dimensions; the *fine* dimensions, into which the reader's view splits it (heads
/// out of columns); the dimensions of the reader (columns out of heads); these with those split that the reader can
/// read in parts (the rows of a matmul); and the buffer's own dimensions with a *window* along one of them.
pub(super) struct RelayoutGraph {
    levels: Vec<StorageDims>,
    /// For each level, the index along its dimensions in terms of the reader's iteration dimensions.
    read: Vec<Vec<TensorIndex>>,
    /// For each level the index along the dimensions of the fine level in terms of its own; `None` if no move leads
    /// from there to here.
    of_fine: Vec<Option<Vec<TensorIndex>>>,
    /// Index of the fine level; `None` if it is the buffer's own level.
    fine: Option<usize>,
    /// Moves from each level and stick; they do not depend on the sticks of the op.
    known: RefCell<BTreeMap<(usize, Option<usize>), RelayoutMoves>>,
}

impl RelayoutGraph {
    pub(super) fn new(op: &LayoutOp, operand: usize, buffer: &LayoutBuffer) -> Option<Self> {
        let indices = &op.reads[operand].indices;
        let own = (0..buffer.sizes.len())
            .map(|dim| TensorIndex::from_dim(dim, &buffer.sizes).ok())
            .collect::<Option<Vec<_>>>()?;
        let own = StorageDims { sizes: buffer.sizes.clone(), indices: own };
        let mut levels = Self {
            levels: vec![own],
            read: vec![indices.clone()],
            of_fine: vec![None],
            fine: None,
            known: RefCell::default(),
        };
        let split = split_iteration(&op.ranges, &[OperandView { sizes: &buffer.sizes, indices }]).ok()?;
        let is_cut = split.parts.iter().any(|parts| parts.len() > 1);
        let (fine, parts) = compute_fine_dims(&op.ranges, &split, buffer)?;
        if fine.sizes != buffer.sizes {
            levels.fine = Some(levels.levels.len());
            levels.levels.push(fine);
            levels.read.push(parts.clone());
            levels.of_fine.push(None);
        }
        if is_cut || indices.iter().any(|index| index.digits.len() > 1) {
            let moving = |dim: &usize| is_indexed_by(indices, *dim);
            let seen = (0..op.ranges.len())
                .filter(moving)
                .map(|dim| TensorIndex::from_dim(dim, &op.ranges).ok())
                .collect::<Option<Vec<_>>>()?;
            levels.add_dims(op, indices, &parts, seen)?;
            let in_parts = |dim: usize| {
                if op.must_interval_unsplit(dim) {
                    None
                } else {
                    Some(parts.iter().filter(move |part| belongs_to_dim(part, dim)).cloned())
                }
            };
            let apart = (0..op.ranges.len()).filter(moving).map(|dim| match in_parts(dim) {
                Some(of_dim) => Some(sort_parts(of_dim.collect())),
                None => TensorIndex::from_dim(dim, &op.ranges).ok().map(|whole| vec![whole]),
            });
            levels.add_dims(op, indices, &parts, apart.collect::<Option<Vec<_>>>()?.concat())?;
        }
        levels.add_windows(&op.ranges, indices, buffer)?;
        Some(levels)
    }

    /// Adds, for each dimension of which the reader sees only a window, the buffer's dimensions with that window and
    /// complete other dimensions: while rows are in the sticks, a stick may have more rows than the reader sees.
    fn add_windows(&mut self, ranges: &[i64], indices: &[TensorIndex], buffer: &LayoutBuffer) -> Option<()> {
        for (dim, index) in indices.iter().enumerate() {
            let size = index.max_value() + 1 - index.offset;
            if size == buffer.sizes[dim] || size == 1 {
                continue;
            }
            let mut sizes = buffer.sizes.clone();
            sizes[dim] = size;
            let own = |other: usize| {
                let digit = IndexDigit { dim: other, divisor: 1, size: sizes[other], factor: 1 };
                TensorIndex::new(&[digit], if other == dim { index.offset } else { 0 }, &sizes).ok()
            };
            let level =
                StorageDims { indices: (0..sizes.len()).map(own).collect::<Option<_>>()?, sizes: sizes.clone() };
            if !self.levels.contains(&level) {
                let mut read = indices.to_vec();
                read[dim] = TensorIndex::new(&index.digits, 0, ranges).ok()?;
                self.of_fine.push(None);
                self.levels.push(level);
                self.read.push(read);
            }
        }
        Some(())
    }

    /// Adds the level whose dimensions have these indices in terms of the reader's, unless an equal one exists. `parts`
    /// are those of the fine level.
    fn add_dims(
        &mut self,
        op: &LayoutOp,
        indices: &[TensorIndex],
        parts: &[TensorIndex],
        read: Vec<TensorIndex>,
    ) -> Option<()> {
        let sizes: Vec<i64> = read.iter().map(|index| index.max_value() + 1).collect();
        // Parts that move none of the level's dimensions do not move the buffer.
        let digits = |dim: usize| {
            let of_level =
                read.iter().enumerate().flat_map(|(own, index)| index.digits.iter().map(move |digit| (own, digit)));
            let of_dim = of_level.filter(move |(_, digit)| digit.dim == dim);
            of_dim
                .map(|(own, digit)| IndexDigit { dim: own, divisor: 1, size: digit.size, factor: digit.divisor })
                .collect::<Vec<_>>()
        };
        let ranges = (0..op.ranges.len())
            .map(|dim| TensorIndex::new(&digits(dim), 0, &sizes).ok())
            .collect::<Option<Vec<_>>>()?;
        let in_level = |index: &TensorIndex| index.compose(&ranges, &sizes).ok();
        let level = StorageDims { indices: indices.iter().map(in_level).collect::<Option<_>>()?, sizes: sizes.clone() };
        if !self.levels.contains(&level) {
            self.of_fine.push(self.fine.and_then(|_| parts.iter().map(in_level).collect()));
            self.levels.push(level);
            self.read.push(read);
        }
        Some(())
    }

    /// Returns every move from a buffer of this level and stick.
    fn moves_from(&self, buffer: &LayoutBuffer, level: usize, stick: Option<usize>) -> RelayoutMoves {
        if let Some(known) = self.known.borrow().get(&(level, stick)) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.find_moves(buffer, level, stick));
        self.known.borrow_mut().insert((level, stick), Rc::clone(&found));
        found
    }

    fn find_moves(&self, buffer: &LayoutBuffer, level: usize, stick: Option<usize>) -> Vec<RelayoutMove> {
        let from = LayoutBuffer { sizes: self.levels[level].sizes.clone(), ..buffer.clone() };
        let from = if level == 0 { from } else { LayoutBuffer { given: None, role: BufferRole::Inner, ..from } };
        let (Ok(host), Ok(layout)) = (from.host_tensor(), from.layout(stick)) else { return Vec::new() };
        let mut found = Vec::new();
        for (next, to) in self.levels.iter().enumerate().filter(|(next, _)| *next >= level) {
            let Some(source) = self.source_indices(level, next) else { continue };
            let Some(read) = split_operand(&to.sizes, &host, &layout, &source) else { continue };
            let target = buffer.relayout_target(&to.sizes);
            for at in (0..to.sizes.len()).filter(|&dim| to.sizes[dim] > 1) {
                if next == level && stick == Some(at) {
                    continue;
                }
                let Ok(target) = target.layout(Some(at)) else { continue };
                if let Some(moved) = compute_copy_traffic(&read, &target, at) {
                    found.push(RelayoutMove { to: next, stick: at, source: source.clone(), moved });
                }
            }
        }
        found
    }

    /// Returns the index along each dimension of level `from` in terms of those of level `to`.
    fn source_indices(&self, from: usize, to: usize) -> Option<Vec<TensorIndex>> {
        if from == to {
            let sizes = &self.levels[to].sizes;
            return (0..sizes.len()).map(|dim| TensorIndex::from_dim(dim, sizes).ok()).collect();
        }
        if from == 0 {
            Some(self.levels[to].indices.clone())
        } else {
            self.of_fine[to].clone().filter(|_| self.fine == Some(from))
        }
    }
}

/// Returns the factors of the buffer's dimensions that move, with the number of positions that are read, and the index
/// along each in terms of the reader's iteration dimensions.
fn compute_fine_dims(
    ranges: &[i64],
    split: &IterationSplit,
    buffer: &LayoutBuffer,
) -> Option<(StorageDims, Vec<TensorIndex>)> {
    let operand = split.operands.first()?;
    let (mut sizes, mut read, mut digits) = (Vec::new(), Vec::new(), vec![Vec::new(); buffer.sizes.len()]);
    let mut offsets = vec![0; buffer.sizes.len()];
    let flat = split.parts.concat();
    let mut number = 0;
    for (dim, factors) in operand.factors.iter().enumerate() {
        for (position, _) in factors.iter().enumerate() {
            let stride: i64 = factors[position + 1..].iter().product();
            let coordinate = operand.indices.get(number)?;
            offsets[dim] += coordinate.offset * stride;
            if let Some(term) = coordinate.term {
                digits[dim].push(IndexDigit { dim: sizes.len(), divisor: 1, size: flat[term.dim], factor: stride });
                sizes.push(flat[term.dim]);
                read.push(part_index(ranges, &split.parts, term.dim)?);
            }
            number += 1;
        }
    }
    let indices = digits.iter().zip(&offsets).map(|(digits, &offset)| TensorIndex::new(digits, offset, &sizes).ok());
    let indices = indices.collect::<Option<Vec<_>>>()?;
    Some((StorageDims { sizes, indices }, read))
}

/// Returns a part of an iteration dimension as an index.
fn part_index(ranges: &[i64], parts: &[Vec<i64>], part: usize) -> Option<TensorIndex> {
    let mut first = 0;
    for (dim, sizes) in parts.iter().enumerate() {
        if part < first + sizes.len() {
            let position = part - first;
            let divisor = sizes[position + 1..].iter().product();
            return TensorIndex::new(&[IndexDigit { dim, divisor, size: sizes[position], factor: 1 }], 0, ranges).ok();
        }
        first += sizes.len();
    }
    None
}

fn is_indexed_by(indices: &[TensorIndex], dim: usize) -> bool {
    indices.iter().any(|index| index.digits.iter().any(|digit| digit.dim == dim))
}

/// Returns whether a part belongs to that iteration dimension.
fn belongs_to_dim(part: &TensorIndex, dim: usize) -> bool {
    part.digits.iter().any(|digit| digit.dim == dim)
}

/// Returns the parts of a dimension, outermost first.
fn sort_parts(mut parts: Vec<TensorIndex>) -> Vec<TensorIndex> {
    parts.sort_by_key(|part| std::cmp::Reverse(part.digits.first().map(|digit| digit.divisor)));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{BufferRead, StickRule};
    use machine::DeviceFormat::Sen169Fp16;
    use program::affine::AffineExpression;

    fn buffer(sizes: &[i64]) -> LayoutBuffer {
        LayoutBuffer {
            sizes: sizes.to_vec(),
            format: Sen169Fp16,
            given: None,
            regrouped: Vec::new(),
            symbolic: Vec::new(),
            batch: Vec::new(),
            role: BufferRole::Inner,
        }
    }

    fn op(kind: StickRule, ranges: &[i64], num_reduced: usize, exprs: &[AffineExpression]) -> LayoutOp {
        let indices = exprs.iter().map(|expr| TensorIndex::from_expr(expr, ranges).unwrap()).collect();
        let num_outputs = ranges.len() - num_reduced;
        let written = (0..num_outputs).map(|dim| TensorIndex::from_dim(dim, ranges).unwrap()).collect();
        LayoutOp {
            kind,
            ranges: ranges.to_vec(),
            num_reduced,
            reads: vec![BufferRead { buffer: 0, indices, is_exempt: false }],
            result: 1,
            written,
            table_stick: None,
            symbolic: vec![],
        }
    }

    fn dim(dim: usize) -> AffineExpression {
        AffineExpression::Dim(dim)
    }

    fn number(number: i64) -> Box<AffineExpression> {
        Box::new(AffineExpression::Constant(number))
    }

    fn relayout_options_of(
        op: &LayoutOp,
        stick: Option<usize>,
        operand: usize,
        buffer: &LayoutBuffer,
        own: Option<usize>,
    ) -> Vec<RelayoutOption> {
        find_relayout_options(op, stick, operand, buffer, own, || RelayoutGraph::new(op, operand, buffer).map(Rc::new))
    }

    fn steps(way: &RelayoutOption) -> Vec<(Vec<i64>, usize, bool)> {
        way.buffer
            .iter()
            .flat_map(RelayoutBuffer::chain)
            .map(|form| (form.dims.sizes.clone(), form.stick, form.is_restickify))
            .collect()
    }

    #[test]
    fn reads_fitting_buffer_without_relayout() {
        let exp = op(StickRule::Elementwise, &[64, 256], 0, &[dim(0), dim(1)]);
        let found = relayout_options_of(&exp, Some(1), 0, &buffer(&[64, 256]), Some(1));
        assert_eq!((found.len(), found[0].moved_bytes()), (1, 0));
    }

    #[test]
    fn restickifies_transposed_weight_once() {
        // [N, K] with K in the sticks, as the left operand of a single matmul that needs N there.
        let mut matmul = op(StickRule::Matmul, &[32, 512, 128], 1, &[dim(0), dim(2)]);
        let indices = vec![
            TensorIndex::from_dim(1, &[32, 512, 128]).unwrap(),
            TensorIndex::from_dim(2, &[32, 512, 128]).unwrap(),
        ];
        matmul.reads.push(BufferRead { buffer: 1, indices, is_exempt: false });
        let found = relayout_options_of(&matmul, Some(1), 1, &buffer(&[512, 128]), Some(1));
        assert_eq!(steps(&found[0]), [(vec![512, 128], 0, true)]);
        assert_eq!(found[0].moved_bytes(), 2 * 512 * 128 * 2);

        let constant = LayoutBuffer { role: BufferRole::Constant, ..buffer(&[512, 128]) };
        let found = relayout_options_of(&matmul, Some(1), 1, &constant, Some(1));
        assert_eq!(
            (steps(&found[0]), found[0].moved_bytes()),
            (vec![(vec![512, 128], 0, true)], 0),
            "it is written so"
        );
    }

    #[test]
    fn moves_narrow_heads_twice() {
        // V of grouped-query attention: [64 positions, 2 heads of 32] for a matmul that needs the 32 in the sticks.
        let ranges = [8, 64, 32, 64];
        let head = AffineExpression::FloorDiv(Box::new(dim(0)), number(4));
        let column =
            AffineExpression::Add(Box::new(AffineExpression::Mul(Box::new(head), number(32))), Box::new(dim(2)));
        let mut matmul = op(StickRule::Matmul, &ranges, 1, &[dim(0), dim(1), dim(3)]);
        let indices = [dim(3), column].iter().map(|expr| TensorIndex::from_expr(expr, &ranges).unwrap()).collect();
        matmul.reads.push(BufferRead { buffer: 1, indices, is_exempt: false });
        let found = relayout_options_of(&matmul, Some(2), 1, &buffer(&[64, 64]), Some(1));
        let steps = steps(&found[0]);
        assert_eq!(steps.len(), 2, "{steps:?}");
        assert_eq!(steps[1], (vec![64, 2, 32], 2, true));
    }

    #[test]
    fn moves_narrow_heads_to_columns_in_three_moves() {
        // The output projection reads [8 heads, 64 positions, 32] as [64, 256] with the 256 in the sticks. The first
        // restickify pads the 32 to a stick, so it cannot write the columns next to each other.
        let ranges = [64, 512, 256];
        let exprs = [
            AffineExpression::FloorDiv(Box::new(dim(2)), number(32)),
            dim(0),
            AffineExpression::Mod(Box::new(dim(2)), number(32)),
        ];
        let matmul = op(StickRule::Matmul, &ranges, 1, &exprs);
        let found = relayout_options_of(&matmul, Some(1), 0, &buffer(&[8, 64, 32]), Some(2));
        let steps = steps(&found[0]);
        assert_eq!(steps, [(vec![8, 64, 32], 1, true), (vec![64, 256], 0, false), (vec![64, 256], 1, true)]);
    }

    #[test]
    fn rejects_move_of_sparse_tensor() {
        let exp = op(StickRule::Elementwise, &[64, 256], 0, &[dim(0), AffineExpression::Constant(0)]);
        assert_eq!(relayout_options_of(&exp, Some(0), 0, &buffer(&[64, 1]), None), []);
    }
}
