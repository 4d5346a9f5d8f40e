//! Relayouts of a buffer for its readers, and the cost of the moves to them.
//!
//! A reader sees a buffer through a view. Where its sticks do not fit, the buffer is moved into a new one: under its own dimensions, under
//! the *fine* dimensions that the reader's view splits it into (heads out of columns), under the *seen* dimensions of the reader (columns
//! out of heads), under these with those *apart* that the reader need not have in one piece (the rows of a product), or under its own with a
//! *window* along one of them. A move of the sticks from one dimension to another is a restickify. One may not be enough: where heads are narrower
//! than a stick, the stick first goes to the rows, and from there into the heads or the columns; so do some columns of one row of a stick.

use super::{
    Buffer, Op, Role,
    flow::{Moved, moved, read_alone},
};
use program::layout::{Digit, Index, OperandView, SplitIteration, split_iteration};
use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

/// Dimensions under which the elements of a buffer are read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Level {
    /// Sizes of the dimensions.
    pub sizes: Vec<i64>,
    /// The index along each dimension of the buffer.
    pub indices: Vec<Index>,
}

/// New buffer with the elements of another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Form {
    /// Dimensions of the new buffer.
    pub level: Level,
    /// Dimension in the sticks of the new buffer.
    pub stick: usize,
    /// Source form of the move; `None` for the buffer itself.
    pub from: Option<Box<Form>>,
    /// Index along each dimension of the source.
    pub source: Vec<Index>,
    /// Bytes read and written by this move; zero for a constant that is emitted in this form.
    pub bytes: i64,
    /// Whether elements change sticks.
    pub is_restickify: bool,
}

impl Form {
    /// Returns the forms that this form is derived from, the first one moved from the buffer.
    #[must_use]
    pub fn chain(&self) -> Vec<&Self> {
        let mut chain: Vec<&Self> = std::iter::successors(Some(self), |form| form.from.as_deref()).collect();
        chain.reverse();
        chain
    }

    /// Returns whether the form has all elements of its source, under the same dimensions, of these sizes.
    #[must_use]
    pub fn is_plain(&self, sizes: &[i64]) -> bool {
        let is_own = |(dim, index): (usize, &Index)| Index::dim(dim, sizes).is_ok_and(|own| own == *index);
        self.level.sizes == sizes && self.source.iter().enumerate().all(is_own)
    }

    /// The new buffer.
    #[must_use]
    pub fn buffer(&self, of: &Buffer) -> Buffer {
        Buffer {
            sizes: self.level.sizes.clone(),
            format: of.format,
            given: None,
            regrouped: Vec::new(),
            symbolic: Vec::new(),
            role: Role::Inner,
        }
    }
}

/// Form that a reader can read, and the indices at which it reads it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// The form; `None` for the buffer itself.
    pub form: Option<Form>,
    /// The index along each of its dimensions, in terms of the reader's iteration dimensions.
    pub indices: Vec<Index>,
}

impl Way {
    /// Bytes of all moves.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        self.form.iter().flat_map(Form::chain).map(|form| form.bytes).sum()
    }
}

/// Maximum number of relayout options of one reader; the cheapest ones are kept.
const MOST_WAYS: usize = 3;
/// Maximum number of consecutive moves.
const MOST_MOVES: usize = 5;

/// Returns the relayout options of operand `operand` of an op, cheapest first: `own` is the stick of `buffer`, `stick` that of the op.
/// Empty if there is none. The levels of the operand are computed only if the buffer must be moved.
#[must_use]
pub(super) fn ways(
    op: &Op,
    stick: Option<usize>,
    operand: usize,
    buffer: &Buffer,
    own: Option<usize>,
    levels: impl FnOnce() -> Option<Rc<Levels>>,
) -> Vec<Way> {
    let read = &op.reads[operand];
    let (Ok(host), Ok(layout)) = (buffer.host(), buffer.layout(own)) else { return Vec::new() };
    if read.is_exempt || op.reads_directly(stick, operand, &host, &layout, &read.indices) {
        return vec![Way { form: None, indices: read.indices.clone() }];
    }
    let Some(levels) = levels() else { return Vec::new() };
    let mut found = Vec::new();
    // Starts from the cheapest chain, so that a form is reached at its least cost.
    let mut open: BTreeMap<(i64, usize, usize), Reached> = BTreeMap::new();
    let mut done: Vec<(usize, usize)> = Vec::new();
    let mut serial = 0;
    open.insert((0, 0, serial), Reached { form: None, level: 0, at: own });
    while let Some(((bytes, n_moves, _), Reached { form, level, at })) = open.pop_first() {
        if let (Some(form), Some(at)) = (&form, at) {
            if done.contains(&(level, at)) {
                continue;
            }
            done.push((level, at));
            let to = &levels.levels[level];
            let own = form.buffer(buffer);
            let is_read = own.host().ok().zip(own.layout(Some(at)).ok()).is_some_and(|(host, layout)| {
                op.reads_directly(stick, operand, &host, &layout, &levels.read[level]) && to.sizes == own.sizes
            });
            if is_read {
                found.push(Way { form: Some(form.clone()), indices: levels.read[level].clone() });
                if found.len() == MOST_WAYS {
                    break;
                }
            }
        }
        if n_moves == MOST_MOVES {
            continue;
        }
        for Move { to, stick, source, moved } in levels.moves(buffer, level, at).iter() {
            let (level, source, from) = (levels.levels[*to].clone(), source.clone(), form.clone().map(Box::new));
            let mut step = Form { level, stick: *stick, from, source, bytes: moved.bytes, is_restickify: moved.is_restickify };
            // A constant is emitted in this form instead.
            if buffer.role == Role::Constant && step.from.is_none() && step.is_plain(&buffer.sizes) {
                step.bytes = 0;
            }
            serial += 1;
            open.insert((bytes + step.bytes, n_moves + 1, serial), Reached { form: Some(step), level: *to, at: Some(*stick) });
        }
    }
    found
}

/// Form that moves lead to.
struct Reached {
    /// `None` for the buffer itself.
    form: Option<Form>,
    level: usize,
    /// Dimension in the sticks.
    at: Option<usize>,
}

/// Move to a form at a level.
struct Move {
    to: usize,
    stick: usize,
    /// Index along each dimension of the source.
    source: Vec<Index>,
    moved: Moved,
}

/// Moves from one form.
type Moves = Rc<Vec<Move>>;

/// Dimension sets (levels) under which a reader's buffer can be stored: its own, the fine ones, the seen ones, and the seen ones with those
/// dimensions split that the reader can read in parts.
pub(super) struct Levels {
    levels: Vec<Level>,
    /// For each level, the index along its dimensions in terms of the reader's iteration dimensions.
    read: Vec<Vec<Index>>,
    /// For each level the index along the dimensions of the fine level in terms of its own; `None` if no move leads from there to here.
    of_fine: Vec<Option<Vec<Index>>>,
    /// Index of the fine level; `None` if it is the buffer's own level.
    fine: Option<usize>,
    /// Moves from each level and stick; they do not depend on the sticks of the op.
    known: RefCell<BTreeMap<(usize, Option<usize>), Moves>>,
}

impl Levels {
    pub(super) fn of(op: &Op, operand: usize, buffer: &Buffer) -> Option<Self> {
        let indices = &op.reads[operand].indices;
        let own = (0..buffer.sizes.len()).map(|dim| Index::dim(dim, &buffer.sizes).ok()).collect::<Option<Vec<_>>>()?;
        let own = Level { sizes: buffer.sizes.clone(), indices: own };
        let mut levels =
            Self { levels: vec![own], read: vec![indices.clone()], of_fine: vec![None], fine: None, known: RefCell::default() };
        let split = split_iteration(&op.ranges, &[OperandView { sizes: &buffer.sizes, indices }]).ok()?;
        let is_cut = split.parts.iter().any(|parts| parts.len() > 1);
        let (fine, parts) = fine_level(&op.ranges, &split, buffer)?;
        if fine.sizes != buffer.sizes {
            levels.fine = Some(levels.levels.len());
            levels.levels.push(fine);
            levels.read.push(parts.clone());
            levels.of_fine.push(None);
        }
        if is_cut || indices.iter().any(|index| index.digits.len() > 1) {
            let moving = |dim: &usize| moves(indices, *dim);
            let seen = (0..op.ranges.len()).filter(moving).map(|dim| Index::dim(dim, &op.ranges).ok()).collect::<Option<Vec<_>>>()?;
            levels.add(op, indices, &parts, seen)?;
            let in_parts =
                |dim: usize| if op.is_whole(dim) { None } else { Some(parts.iter().filter(move |part| is_of(part, dim)).cloned()) };
            let apart = (0..op.ranges.len()).filter(moving).map(|dim| match in_parts(dim) {
                Some(of_dim) => Some(in_order(of_dim.collect())),
                None => Index::dim(dim, &op.ranges).ok().map(|whole| vec![whole]),
            });
            levels.add(op, indices, &parts, apart.collect::<Option<Vec<_>>>()?.concat())?;
        }
        levels.add_windows(&op.ranges, indices, buffer)?;
        Some(levels)
    }

    /// Adds, for each dimension of which the reader sees only a window, the buffer's dimensions with that window and complete other
    /// dimensions: while rows are in the sticks, a stick may have more rows than the reader sees.
    fn add_windows(&mut self, ranges: &[i64], indices: &[Index], buffer: &Buffer) -> Option<()> {
        for (dim, index) in indices.iter().enumerate() {
            let size = index.last() + 1 - index.offset;
            if size == buffer.sizes[dim] || size == 1 {
                continue;
            }
            let mut sizes = buffer.sizes.clone();
            sizes[dim] = size;
            let own = |other: usize| {
                let digit = Digit { dim: other, divisor: 1, size: sizes[other], factor: 1 };
                Index::new(&[digit], if other == dim { index.offset } else { 0 }, &sizes).ok()
            };
            let level = Level { indices: (0..sizes.len()).map(own).collect::<Option<_>>()?, sizes: sizes.clone() };
            if !self.levels.contains(&level) {
                let mut read = indices.to_vec();
                read[dim] = Index::new(&index.digits, 0, ranges).ok()?;
                self.of_fine.push(None);
                self.levels.push(level);
                self.read.push(read);
            }
        }
        Some(())
    }

    /// Adds the level whose dimensions have these indices in terms of the reader's, unless an equal one exists. `parts` are those of the
    /// fine level.
    fn add(&mut self, op: &Op, indices: &[Index], parts: &[Index], read: Vec<Index>) -> Option<()> {
        let sizes: Vec<i64> = read.iter().map(|index| index.last() + 1).collect();
        // Parts that move none of the level's dimensions do not move the buffer.
        let digits = |dim: usize| {
            let of_level = read.iter().enumerate().flat_map(|(own, index)| index.digits.iter().map(move |digit| (own, digit)));
            let of_dim = of_level.filter(move |(_, digit)| digit.dim == dim);
            of_dim.map(|(own, digit)| Digit { dim: own, divisor: 1, size: digit.size, factor: digit.divisor }).collect::<Vec<_>>()
        };
        let ranges = (0..op.ranges.len()).map(|dim| Index::new(&digits(dim), 0, &sizes).ok()).collect::<Option<Vec<_>>>()?;
        let in_level = |index: &Index| index.through(&ranges, &sizes).ok();
        let level = Level { indices: indices.iter().map(in_level).collect::<Option<_>>()?, sizes: sizes.clone() };
        if !self.levels.contains(&level) {
            self.of_fine.push(self.fine.and_then(|_| parts.iter().map(in_level).collect()));
            self.levels.push(level);
            self.read.push(read);
        }
        Some(())
    }

    /// Returns every move from a form, or from the buffer itself.
    fn moves(&self, buffer: &Buffer, level: usize, stick: Option<usize>) -> Moves {
        if let Some(known) = self.known.borrow().get(&(level, stick)) {
            return Rc::clone(known);
        }
        let found = Rc::new(self.find_moves(buffer, level, stick));
        self.known.borrow_mut().insert((level, stick), Rc::clone(&found));
        found
    }

    fn find_moves(&self, buffer: &Buffer, level: usize, stick: Option<usize>) -> Vec<Move> {
        let from = Buffer { sizes: self.levels[level].sizes.clone(), ..buffer.clone() };
        let from = if level == 0 { from } else { Buffer { given: None, role: Role::Inner, ..from } };
        let (Ok(host), Ok(layout)) = (from.host(), from.layout(stick)) else { return Vec::new() };
        let mut found = Vec::new();
        for (next, to) in self.levels.iter().enumerate().filter(|(next, _)| *next >= level) {
            let Some(source) = self.source(level, next) else { continue };
            let Some(read) = read_alone(&to.sizes, &host, &layout, &source) else { continue };
            let target = Buffer {
                sizes: to.sizes.clone(),
                format: buffer.format,
                given: None,
                regrouped: Vec::new(),
                symbolic: Vec::new(),
                role: Role::Inner,
            };
            for at in (0..to.sizes.len()).filter(|&dim| to.sizes[dim] > 1) {
                if next == level && stick == Some(at) {
                    continue;
                }
                let Ok(target) = target.layout(Some(at)) else { continue };
                if let Some(moved) = moved(&read, &target, at) {
                    found.push(Move { to: next, stick: at, source: source.clone(), moved });
                }
            }
        }
        found
    }

    /// Returns the index along each dimension of level `from` in terms of those of level `to`.
    fn source(&self, from: usize, to: usize) -> Option<Vec<Index>> {
        if from == to {
            let sizes = &self.levels[to].sizes;
            return (0..sizes.len()).map(|dim| Index::dim(dim, sizes).ok()).collect();
        }
        if from == 0 { Some(self.levels[to].indices.clone()) } else { self.of_fine[to].clone().filter(|_| self.fine == Some(from)) }
    }
}

/// Returns the factors of the buffer's dimensions that move, with the number of positions that are read, and the index along each in terms
/// of the reader's iteration dimensions.
fn fine_level(ranges: &[i64], split: &SplitIteration, buffer: &Buffer) -> Option<(Level, Vec<Index>)> {
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
                digits[dim].push(Digit { dim: sizes.len(), divisor: 1, size: flat[term.dim], factor: stride });
                sizes.push(flat[term.dim]);
                read.push(part_index(ranges, &split.parts, term.dim)?);
            }
            number += 1;
        }
    }
    let indices = digits.iter().zip(&offsets).map(|(digits, &offset)| Index::new(digits, offset, &sizes).ok());
    let indices = indices.collect::<Option<Vec<_>>>()?;
    Some((Level { sizes, indices }, read))
}

/// Returns a part of an iteration dimension as an index.
fn part_index(ranges: &[i64], parts: &[Vec<i64>], part: usize) -> Option<Index> {
    let mut first = 0;
    for (dim, sizes) in parts.iter().enumerate() {
        if part < first + sizes.len() {
            let position = part - first;
            let divisor = sizes[position + 1..].iter().product();
            return Index::new(&[Digit { dim, divisor, size: sizes[position], factor: 1 }], 0, ranges).ok();
        }
        first += sizes.len();
    }
    None
}

fn moves(indices: &[Index], dim: usize) -> bool {
    indices.iter().any(|index| index.digits.iter().any(|digit| digit.dim == dim))
}

/// Returns whether a part belongs to that iteration dimension.
fn is_of(part: &Index, dim: usize) -> bool {
    part.digits.iter().any(|digit| digit.dim == dim)
}

/// Returns the parts of a dimension, outermost first.
fn in_order(mut parts: Vec<Index>) -> Vec<Index> {
    parts.sort_by_key(|part| std::cmp::Reverse(part.digits.first().map(|digit| digit.divisor)));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Kind, Read};
    use machine::DeviceFormat::Sen169Fp16;
    use program::affine::Expr;

    fn buffer(sizes: &[i64]) -> Buffer {
        Buffer { sizes: sizes.to_vec(), format: Sen169Fp16, given: None, regrouped: Vec::new(), symbolic: Vec::new(), role: Role::Inner }
    }

    fn op(kind: Kind, ranges: &[i64], n_reduced: usize, exprs: &[Expr]) -> Op {
        let indices = exprs.iter().map(|expr| Index::of(expr, ranges).unwrap()).collect();
        let n_outputs = ranges.len() - n_reduced;
        let written = (0..n_outputs).map(|dim| Index::dim(dim, ranges).unwrap()).collect();
        Op {
            kind,
            ranges: ranges.to_vec(),
            n_reduced,
            reads: vec![Read { buffer: 0, indices, is_exempt: false }],
            result: 1,
            written,
            table_stick: None,
            symbolic: vec![],
        }
    }

    fn dim(dim: usize) -> Expr {
        Expr::Dim(dim)
    }

    fn number(number: i64) -> Box<Expr> {
        Box::new(Expr::Constant(number))
    }

    fn ways_of(op: &Op, stick: Option<usize>, operand: usize, buffer: &Buffer, own: Option<usize>) -> Vec<Way> {
        ways(op, stick, operand, buffer, own, || Levels::of(op, operand, buffer).map(Rc::new))
    }

    fn steps(way: &Way) -> Vec<(Vec<i64>, usize, bool)> {
        way.form.iter().flat_map(Form::chain).map(|form| (form.level.sizes.clone(), form.stick, form.is_restickify)).collect()
    }

    #[test]
    fn what_fits_is_read_as_it_is() {
        let exp = op(Kind::Elementwise, &[64, 256], 0, &[dim(0), dim(1)]);
        let found = ways_of(&exp, Some(1), 0, &buffer(&[64, 256]), Some(1));
        assert_eq!((found.len(), found[0].bytes()), (1, 0));
    }

    #[test]
    fn a_transposed_weight_is_restickified_once() {
        // [N, K] with K in the sticks as the left operand of nothing but a product that wants N there.
        let mut matmul = op(Kind::Matmul, &[32, 512, 128], 1, &[dim(0), dim(2)]);
        let indices = vec![Index::dim(1, &[32, 512, 128]).unwrap(), Index::dim(2, &[32, 512, 128]).unwrap()];
        matmul.reads.push(Read { buffer: 1, indices, is_exempt: false });
        let found = ways_of(&matmul, Some(1), 1, &buffer(&[512, 128]), Some(1));
        assert_eq!(steps(&found[0]), [(vec![512, 128], 0, true)]);
        assert_eq!(found[0].bytes(), 2 * 512 * 128 * 2);

        let constant = Buffer { role: Role::Constant, ..buffer(&[512, 128]) };
        let found = ways_of(&matmul, Some(1), 1, &constant, Some(1));
        assert_eq!((steps(&found[0]), found[0].bytes()), (vec![(vec![512, 128], 0, true)], 0), "it is written so");
    }

    #[test]
    fn narrow_heads_take_two_moves() {
        // V of grouped-query attention: [64 positions, 2 heads of 32] for a product that wants the 32 in the sticks.
        let ranges = [8, 64, 32, 64];
        let head = Expr::FloorDiv(Box::new(dim(0)), number(4));
        let column = Expr::Add(Box::new(Expr::Mul(Box::new(head), number(32))), Box::new(dim(2)));
        let mut matmul = op(Kind::Matmul, &ranges, 1, &[dim(0), dim(1), dim(3)]);
        let indices = [dim(3), column].iter().map(|expr| Index::of(expr, &ranges).unwrap()).collect();
        matmul.reads.push(Read { buffer: 1, indices, is_exempt: false });
        let found = ways_of(&matmul, Some(2), 1, &buffer(&[64, 64]), Some(1));
        let steps = steps(&found[0]);
        assert_eq!(steps.len(), 2, "{steps:?}");
        assert_eq!(steps[1], (vec![64, 2, 32], 2, true));
    }

    #[test]
    fn narrow_heads_become_columns_in_three_moves() {
        // The output projection reads [8 heads, 64 positions, 32] as [64, 256] with the 256 in the sticks. The first restickify pads the
        // 32 to a stick, so that it cannot write the columns side by side.
        let ranges = [64, 512, 256];
        let exprs = [Expr::FloorDiv(Box::new(dim(2)), number(32)), dim(0), Expr::Mod(Box::new(dim(2)), number(32))];
        let matmul = op(Kind::Matmul, &ranges, 1, &exprs);
        let found = ways_of(&matmul, Some(1), 0, &buffer(&[8, 64, 32]), Some(2));
        let steps = steps(&found[0]);
        assert_eq!(steps, [(vec![8, 64, 32], 1, true), (vec![64, 256], 0, false), (vec![64, 256], 1, true)]);
    }

    #[test]
    fn a_sparse_tensor_cannot_be_moved() {
        let exp = op(Kind::Elementwise, &[64, 256], 0, &[dim(0), Expr::Constant(0)]);
        assert_eq!(ways_of(&exp, Some(0), 0, &buffer(&[64, 1]), None), []);
    }
}
