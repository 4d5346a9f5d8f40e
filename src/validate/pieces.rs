//! Partitions a program that is too large to be executed completely.

use crate::interpret::{EvalBlock, EvalFunction, EvalOp, EvalOpKind, ValueId};
use std::{collections::BTreeSet, ops::Range};

/// Contiguous ops of a function's body, with their dependences.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProgramPiece {
    /// Ops of the piece, by position.
    pub(crate) ops: Range<usize>,
    /// Positions of the preceding constant ops that the piece reads.
    pub(crate) constants: Vec<usize>,
    /// Results of the piece that are used after it: the op, and the number of the result.
    pub(crate) given: Vec<(usize, usize)>,
}

/// Partitions the body of a function into pieces of at most `most` element operations, unless a single op exceeds that.
/// A piece ends where few values are live. It never ends within a buffer that is written slice by slice, or where an
/// integer is live: as an argument of a piece, its range would be unknown.
pub(crate) fn partition_into_pieces(function: &EvalFunction<'_>, most: u64) -> Vec<ProgramPiece> {
    let live_ranges = ValueLiveRanges::from_function(function);
    let crossing = live_ranges.count_crossing_values();
    // Constants are duplicated into the pieces that read them.
    let steps_of =
        |(position, op)| if live_ranges.is_constant(position) { 0 } else { function.count_op_operations(op) };
    let steps: Vec<u64> = function.body.ops.iter().enumerate().map(steps_of).collect();
    let (mut found, mut start) = (Vec::new(), 0);
    while start < steps.len() {
        let end = find_piece_end(start, &steps, &crossing, most);
        found.push(live_ranges.build_piece(start..end));
        start = end;
    }
    found.retain(|piece| !piece.given.is_empty());
    found
}

/// Returns the end of a piece: in its second half by size, where the fewest values are live; ties select the last
/// position.
fn find_piece_end(start: usize, steps: &[u64], crossing: &[Option<usize>], most: u64) -> usize {
    let mut best: Option<(bool, usize, usize)> = None;
    let mut total = 0_u64;
    for (position, of_op) in steps.iter().enumerate().skip(start) {
        total = total.saturating_add(*of_op);
        let end = position + 1;
        if total > most
            && let Some((_, _, end)) = best
        {
            return end;
        }
        if end == steps.len() {
            break;
        }
        if let Some(num_values) = crossing[end] {
            let is_small = total < most / 2;
            if best.is_none_or(|(was_small, least, _)| (is_small, num_values) <= (was_small, least)) {
                best = Some((is_small, num_values, end));
            }
        }
    }
    steps.len()
}

/// Definitions and uses of the values of a function's body.
struct ValueLiveRanges<'f> {
    function: &'f EvalFunction<'f>,
    /// For each value, the op that defines it, and the number of the result.
    made: Vec<Option<(usize, usize)>>,
    /// For each value, the last op that reads it.
    last: Vec<usize>,
    /// For each value, whether the function returns it.
    is_result: Vec<bool>,
    /// For each value, whether it may be an argument of a piece.
    may_cross: Vec<bool>,
    /// Values that each op reads, including in its loops and scopes.
    reads: Vec<BTreeSet<ValueId>>,
}

impl<'f> ValueLiveRanges<'f> {
    fn from_function(function: &'f EvalFunction<'_>) -> Self {
        let ops = &function.body.ops;
        let num_values = function.values.len();
        let mut may_cross: Vec<bool> = function.values.iter().map(|value| !value.element.is_integer()).collect();
        let (mut made, mut last, mut is_result) =
            (vec![None; num_values], vec![0; num_values], vec![false; num_values]);
        let reads: Vec<BTreeSet<ValueId>> = ops.iter().map(collect_reads).collect();
        for (position, op) in ops.iter().enumerate() {
            op.outputs.iter().enumerate().for_each(|(result, id)| made[*id] = Some((position, result)));
            reads[position].iter().for_each(|id| last[*id] = position);
            match (&op.kind, op.inputs.as_slice()) {
                (EvalOpKind::Empty, _) => op.outputs.iter().for_each(|id| may_cross[*id] = false),
                (EvalOpKind::Insert { .. }, [_, whole]) => may_cross[*whole] = false,
                _ => {}
            }
        }
        function.body.yields.iter().for_each(|id| is_result[*id] = true);
        Self { function, made, last, is_result, may_cross, reads }
    }

    /// Returns whether a value is duplicated into each piece.
    fn is_constant(&self, made_by: usize) -> bool {
        matches!(self.function.body.ops[made_by].kind, EvalOpKind::Constant(_) | EvalOpKind::Fill(_))
    }

    /// Returns, for each position between ops, the number of values that would be arguments of a piece that starts
    /// there; `None` if one may not be an argument.
    fn count_crossing_values(&self) -> Vec<Option<usize>> {
        let n_ops = self.function.body.ops.len();
        let (mut begins, mut ends) = (vec![[0_usize; 2]; n_ops + 2], vec![[0_usize; 2]; n_ops + 2]);
        for (id, made) in self.made.iter().enumerate() {
            let Some((made_by, _)) = made.filter(|(made_by, _)| !self.is_constant(*made_by)) else { continue };
            if self.last[id] > made_by {
                begins[made_by + 1][usize::from(!self.may_cross[id])] += 1;
                ends[self.last[id] + 1][usize::from(!self.may_cross[id])] += 1;
            }
        }
        let mut now = [0, 0];
        let mut at = |place: usize| {
            now = [now[0] + begins[place][0] - ends[place][0], now[1] + begins[place][1] - ends[place][1]];
            (now[1] == 0).then_some(now[0])
        };
        (0..=n_ops).map(&mut at).collect()
    }

    fn build_piece(&self, ops: Range<usize>) -> ProgramPiece {
        let producers =
            self.reads[ops.clone()].iter().flatten().filter_map(|id| self.made[*id]).map(|(made_by, _)| made_by);
        let constants: BTreeSet<usize> =
            producers.filter(|made_by| *made_by < ops.start && self.is_constant(*made_by)).collect();
        let results = |position: usize| self.function.body.ops[position].outputs.iter().enumerate();
        let given = ops.clone().flat_map(|position| results(position).map(move |(result, id)| (position, result, *id)));
        let is_given = |(position, _, id): &(usize, usize, ValueId)| {
            self.is_result[*id] || self.last[*id] >= ops.end && !self.is_constant(*position)
        };
        let given = given.filter(is_given).map(|(position, result, _)| (position, result)).collect();
        ProgramPiece { constants: constants.into_iter().collect(), given, ops }
    }
}

fn collect_reads(op: &EvalOp<'_>) -> BTreeSet<ValueId> {
    let mut reads: BTreeSet<ValueId> = op.inputs.iter().copied().collect();
    let mut inside = |block: &EvalBlock<'_>| {
        block.ops.iter().for_each(|op| reads.extend(collect_reads(op)));
        reads.extend(&block.yields);
    };
    match &op.kind {
        EvalOpKind::Scope(body) => inside(body),
        EvalOpKind::Loop(around) => inside(&around.body),
        _ => {}
    }
    reads
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interpret::EvalTensor;
    use machine::ElementType;

    fn op(kind: EvalOpKind<'static>, inputs: &[ValueId], output: ValueId) -> EvalOp<'static> {
        EvalOp { kind, inputs: inputs.to_vec(), outputs: vec![output] }
    }

    fn pointwise(inputs: &[ValueId], output: ValueId) -> EvalOp<'static> {
        op(EvalOpKind::Pointwise { function: "add".to_owned(), constants: Vec::new() }, inputs, output)
    }

    /// Function on value 0 whose values have 100 elements each.
    fn function(num_values: usize, ops: Vec<EvalOp<'static>>, yields: &[ValueId]) -> EvalFunction<'static> {
        let values = vec![EvalTensor { shape: vec![100], element: ElementType::F16 }; num_values];
        EvalFunction {
            name: "f".to_owned(),
            ranges: Vec::new(),
            values,
            body: EvalBlock { arguments: vec![0], ops, yields: yields.to_vec() },
        }
    }

    fn ranges(function: &EvalFunction<'_>, most: u64) -> Vec<Range<usize>> {
        partition_into_pieces(function, most).into_iter().map(|piece| piece.ops).collect()
    }

    #[test]
    fn partitions_equal_layers_into_equal_pieces() {
        // Three layers of four ops. The second and the third op of each read the layer's input, or both read a value
        // that is computed in between.
        let layer = |number: usize| {
            let (x, a, b, c, y) = (4 * number, 4 * number + 1, 4 * number + 2, 4 * number + 3, 4 * number + 4);
            [pointwise(&[x, x], a), pointwise(&[x, a], b), pointwise(&[a, b], c), pointwise(&[b, c], y)]
        };
        let of = function(13, (0..3).flat_map(layer).collect(), &[12]);
        assert_eq!(ranges(&of, 450), [0..4, 4..8, 8..12]);
        assert_eq!(ranges(&of, 1200).len(), 1, "what is small enough is one piece");
        assert_eq!(ranges(&of, 10).len(), 12, "an op that takes more is one by itself");
        assert_eq!(
            partition_into_pieces(&of, 450)[1],
            ProgramPiece { ops: 4..8, constants: Vec::new(), given: vec![(7, 0)] }
        );
    }

    #[test]
    fn duplicates_constants_and_returns_values_used_later() {
        let constant = || op(EvalOpKind::Fill(1.0), &[], 1);
        let ops = vec![constant(), pointwise(&[0, 1], 2), pointwise(&[2, 1], 3), pointwise(&[3, 1], 4)];
        let of = function(5, ops, &[2, 4]);
        let found = partition_into_pieces(&of, 200);
        assert_eq!(found[0], ProgramPiece { ops: 0..3, constants: Vec::new(), given: vec![(1, 0), (2, 0)] });
        assert_eq!(found[1], ProgramPiece { ops: 3..4, constants: vec![0], given: vec![(3, 0)] });
    }

    #[test]
    fn keeps_buffers_and_integers_within_one_piece() {
        let insert = |part, whole, output| op(EvalOpKind::Insert { offsets: vec![0] }, &[part, whole], output);
        let ops = vec![
            pointwise(&[0], 1),
            op(EvalOpKind::Empty, &[], 2),
            insert(0, 2, 3),
            insert(1, 3, 4),
            pointwise(&[4], 5),
        ];
        assert_eq!(ranges(&function(6, ops, &[5]), 100), [0..1, 1..4, 4..5]);
        let mut of = function(4, vec![pointwise(&[0], 1), pointwise(&[1], 2), pointwise(&[2], 3)], &[3]);
        of.values[1].element = ElementType::I64;
        assert_eq!(ranges(&of, 100), [0..2, 2..3]);
    }
}
