//! Whole-program choice of sticks: which dimension runs in the sticks of each op and of each buffer, so that relayouts move as few bytes as
//! possible.

use super::{
    Cost,
    flow::{Buffer, Flow, Kind, Op},
    form::{Form, Levels, Way, ways},
    misfit::{Misfit, MisfitKind},
};
use crate::assignment::{Cost as _, Factor, Problem, minimize};
use program::layout::Index;
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use strum::{Display, EnumString, VariantNames};

/// Maximum number of table entries of one buffer with its writer and readers; with more readers, each is counted alone.
const MOST_COSTS: usize = 4096;
/// Maximum number of table entries during variable elimination.
const MOST_ENTRIES: usize = 1 << 16;

/// Method of choosing sticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum Strategy {
    /// Chooses for the whole program at once.
    Global,
    /// Chooses op by op, in program order: the cheapest state for the operands as they are.
    Greedy,
}

/// Layout choice for all ops and buffers of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// For each op the iteration dimension in its sticks.
    pub op_sticks: Vec<Option<usize>>,
    /// For each buffer the dimension in its sticks.
    pub buffer_sticks: Vec<Option<usize>>,
    /// For each op and each of its operands, the relayout that it reads.
    pub ways: Vec<Vec<Way>>,
    /// Bytes read and written by all moves.
    pub moved_bytes: u64,
    /// Whether the plan is proven optimal: no choice moves fewer bytes.
    pub is_optimal: bool,
}

impl Flow {
    /// Chooses the sticks.
    ///
    /// # Errors
    /// Returns the first operand that cannot be read, or result that cannot be written, under any choice.
    pub fn choose(&self, strategy: Strategy) -> Result<Choice, Misfit> {
        let chooser = Chooser::of(self);
        let start = chooser.greedy();
        let problem = chooser.problem(Cost::IMPOSSIBLE);
        let start_cost = problem.cost(&start);
        let (states, is_optimal) = match strategy {
            Strategy::Greedy if start_cost != Cost::IMPOSSIBLE => (start, false),
            Strategy::Greedy | Strategy::Global => {
                let found = minimize(&problem, &start, MOST_ENTRIES);
                // With many readers the problem counts shared moves more than once, so the true cost decides.
                let bytes = |states: &[usize]| chooser.moved_bytes(states).unwrap_or(u64::MAX);
                let is_better = found.cost != Cost::IMPOSSIBLE && (start_cost == Cost::IMPOSSIBLE || bytes(&found.states) <= bytes(&start));
                if is_better { (found.states, found.is_optimal) } else { (start, false) }
            }
        };
        let Some(misfit) = chooser.misfit(&states) else { return Ok(chooser.choice(&states, is_optimal)) };
        Err(if matches!(misfit.kind, MisfitKind::Part(_) | MisfitKind::PartSticks { .. }) {
            // A slice can always be written with one element per stick, so the obstacle is an operand, which can be copied.
            let all_written = minimize(&chooser.problem(UNREADABLE), &states, MOST_ENTRIES).states;
            chooser
                .misfit(&all_written)
                .filter(|misfit| matches!(misfit.kind, MisfitKind::Read { .. } | MisfitKind::View(_) | MisfitKind::Regrouped { .. }))
                .unwrap_or(misfit)
        } else {
            misfit
        })
    }
}

/// Cost of an unreadable operand, or of a result shown with other dimensions than its sticks allow, if all results must be written. Exceeds
/// the cost of all moves of a program.
const UNREADABLE: Cost = Cost { moved_bytes: 1 << 52, ..Cost::ZERO };

/// Inputs of the relayout options of a reader, except the stick dimensions: the rules of the reader, and its view of
/// the buffer.
type ReaderKey<'a> = (Kind, &'a [i64], usize, &'a [Index], &'a Buffer, bool, bool);
/// Key of the memoized relayout options: number of the distinct [`ReaderKey`], stick dimension of the reader, and stick
/// dimension of the buffer.
type WaysKey = (usize, Option<usize>, Option<usize>);

/// Inputs of the levels of an operand: the dimensions of the reader, and its view of the buffer.
type LevelsKey = (Vec<i64>, Vec<Index>, Buffer);

struct Chooser<'a> {
    flow: &'a Flow,
    /// States of each op, then of each buffer that no op owns.
    states: Vec<Vec<Option<usize>>>,
    /// For each buffer its variable: that of its writer, or its own.
    variable_of: Vec<usize>,
    /// For each buffer its writer, unless the buffer is written in parts or is an input.
    writer_of: Vec<Option<usize>>,
    /// Reads of each buffer: op and operand.
    readers: Vec<Vec<(usize, usize)>>,
    /// For each op and operand a number that equivalent readers share: the layers of a model are equivalent, so they share relayout
    /// options.
    alike: Vec<Vec<usize>>,
    known: RefCell<BTreeMap<WaysKey, Rc<Vec<Way>>>>,
    known_levels: RefCell<BTreeMap<LevelsKey, Option<Rc<Levels>>>>,
}

impl<'a> Chooser<'a> {
    fn of(flow: &'a Flow) -> Self {
        let mut states: Vec<Vec<Option<usize>>> = flow.ops.iter().map(Op::sticks).collect();
        let mut writer_of = vec![None; flow.buffers.len()];
        let mut readers = vec![Vec::new(); flow.buffers.len()];
        for (number, op) in flow.ops.iter().enumerate() {
            if op.kind != Kind::Insert {
                writer_of[op.result] = Some(number);
            }
            for (operand, read) in op.reads.iter().enumerate() {
                readers[read.buffer].push((number, operand));
            }
        }
        let mut variable_of = Vec::with_capacity(flow.buffers.len());
        for (buffer, writer) in flow.buffers.iter().zip(&writer_of) {
            variable_of.push(writer.unwrap_or(states.len()));
            if writer.is_none() {
                states.push(buffer.sticks());
            }
        }
        let (alike, known, known_levels) = (alike(flow), RefCell::default(), RefCell::default());
        Self { flow, states, variable_of, writer_of, readers, alike, known, known_levels }
    }

    /// Returns the dimension in the sticks of a buffer, given the state of its variable.
    fn buffer_stick(&self, buffer: usize, state: usize) -> Option<usize> {
        let stick = self.states[self.variable_of[buffer]][state];
        self.writer_of[buffer].map_or(stick, |writer| self.flow.ops[writer].result_stick(stick))
    }

    fn ways(&self, op: usize, operand: usize, stick: Option<usize>, own: Option<usize>) -> Rc<Vec<Way>> {
        let key = (self.alike[op][operand], stick, own);
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let op = &self.flow.ops[op];
        let buffer = &self.flow.buffers[op.reads[operand].buffer];
        let found = Rc::new(ways(op, stick, operand, buffer, own, || self.levels(op, operand, buffer)));
        self.known.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    fn levels(&self, op: &Op, operand: usize, buffer: &Buffer) -> Option<Rc<Levels>> {
        let key = (op.ranges.clone(), op.reads[operand].indices.clone(), buffer.clone());
        let mut known = self.known_levels.borrow_mut();
        known.entry(key).or_insert_with(|| Levels::of(op, operand, buffer).map(Rc::new)).clone()
    }

    /// Returns the problem in which an operand that no chain of moves makes readable costs `unreadable`, and a result whose sticks do not allow the
    /// dimensions with which it is shown.
    fn problem(&self, unreadable: Cost) -> Problem<Cost> {
        let n_states: Vec<usize> = self.states.iter().map(Vec::len).collect();
        let mut factors = Vec::new();
        for (number, op) in self.flow.ops.iter().enumerate() {
            factors.push(self.write_factor(&n_states, number, op, unreadable));
        }
        for (number, buffer) in self.flow.buffers.iter().enumerate() {
            let variable = self.variable_of[number];
            if self.writer_of[number].is_none() {
                factors.push(Factor::new(&n_states, vec![variable], |states| bytes_of(buffer, self.states[variable][states[0]])));
            }
            self.add_read_factors(&n_states, number, unreadable, &mut factors);
        }
        Problem { n_states, factors }
    }

    /// Returns the cost of writing the result of an op, without relayouts. The cost is `unregrouped` if only the stick
    /// dimension prevents the write, and impossible if the op cannot write the result at all.
    fn write_factor(&self, n_states: &[usize], number: usize, op: &Op, unregrouped: Cost) -> Factor<Cost> {
        let buffer = &self.flow.buffers[op.result];
        let variable = self.variable_of[op.result];
        if variable != number {
            return Factor::new(n_states, vec![number, variable], |states| {
                let (stick, own) = (self.states[number][states[0]], self.states[variable][states[1]]);
                if op.writes_part(stick, buffer, own) { Cost::ZERO } else { Cost::IMPOSSIBLE }
            });
        }
        Factor::new(n_states, vec![number], |states| {
            let own = self.buffer_stick(op.result, states[0]);
            match (buffer.allows(own), buffer.given.is_some()) {
                (true, _) => bytes_of(buffer, own),
                (false, true) => Cost::IMPOSSIBLE,
                (false, false) => unregrouped,
            }
        })
    }

    fn add_read_factors(&self, n_states: &[usize], buffer: usize, unreadable: Cost, factors: &mut Vec<Factor<Cost>>) {
        let readers = &self.readers[buffer];
        let variable = self.variable_of[buffer];
        // An op that reads the buffer twice is one variable.
        let variables_of = |readers: &[(usize, usize)]| {
            let ops: BTreeSet<usize> = readers.iter().map(|(op, _)| *op).filter(|op| *op != variable).collect();
            [variable].into_iter().chain(ops).collect::<Vec<usize>>()
        };
        let n_costs =
            |readers| variables_of(readers).iter().try_fold(1_usize, |product, &variable| product.checked_mul(n_states[variable]));
        let together: Vec<&[(usize, usize)]> = match n_costs(readers.as_slice()) {
            Some(product) if product <= MOST_COSTS => vec![readers.as_slice()],
            _ => readers.chunks(1).collect(),
        };
        for readers in together.into_iter().filter(|readers| !readers.is_empty()) {
            let variables = variables_of(readers);
            let places: Vec<usize> = readers.iter().filter_map(|(op, _)| variables.iter().position(|variable| variable == op)).collect();
            factors.push(Factor::new(n_states, variables, |states| {
                let own = self.buffer_stick(buffer, states[0]);
                let ways: Vec<Rc<Vec<Way>>> = readers
                    .iter()
                    .zip(&places)
                    .map(|(&(op, operand), &place)| self.ways(op, operand, self.states[op][states[place]], own))
                    .collect();
                cost_of(ways, unreadable)
            }));
        }
    }

    /// Chooses op by op the cheapest state for the operands as they are; among equal ones, the first.
    fn greedy(&self) -> Vec<usize> {
        let mut chosen = vec![0; self.states.len()];
        for (number, op) in self.flow.ops.iter().enumerate() {
            let cost = |state: usize| {
                let stick = self.states[number][state];
                let variable = self.variable_of[op.result];
                let is_part = variable != number;
                let buffer = &self.flow.buffers[op.result];
                let own = if is_part { self.states[variable][chosen[variable]] } else { op.result_stick(stick) };
                let is_written = if is_part { op.writes_part(stick, buffer, own) } else { buffer.allows(own) };
                let mut cost = if is_written { bytes_of(buffer, own) } else { Cost::IMPOSSIBLE };
                for (operand, read) in op.reads.iter().enumerate() {
                    let own = self.buffer_stick(read.buffer, chosen[self.variable_of[read.buffer]]);
                    let moved = self.ways(number, operand, stick, own).first().map(Way::bytes);
                    let moved = moved.and_then(|bytes| u64::try_from(bytes).ok());
                    cost = cost.saturating_add(moved.map_or(Cost::IMPOSSIBLE, |moved_bytes| Cost { moved_bytes, ..Cost::ZERO }));
                }
                (cost, state)
            };
            chosen[number] = (0..self.states[number].len()).map(cost).min().map_or(0, |(_, state)| state);
        }
        chosen
    }

    /// Returns the cheapest combination of relayouts for all readers of a buffer; `None` if a reader has none.
    fn ways_of(&self, buffer: usize, states: &[usize]) -> Option<(u64, Vec<Way>)> {
        let own = self.buffer_stick(buffer, states[self.variable_of[buffer]]);
        let ways: Vec<Rc<Vec<Way>>> =
            self.readers[buffer].iter().map(|&(op, operand)| self.ways(op, operand, self.states[op][states[op]], own)).collect();
        let (bytes, chosen) = cheapest(&ways)?;
        Some((bytes, ways.iter().zip(chosen).map(|(ways, way)| ways[way].clone()).collect()))
    }

    fn moved_bytes(&self, states: &[usize]) -> Option<u64> {
        (0..self.flow.buffers.len()).try_fold(0_u64, |sum, buffer| sum.checked_add(self.ways_of(buffer, states)?.0))
    }

    fn choice(&self, states: &[usize], is_optimal: bool) -> Choice {
        let mut ways: Vec<Vec<Option<Way>>> = self.flow.ops.iter().map(|op| vec![None; op.reads.len()]).collect();
        let mut moved_bytes = 0;
        for buffer in 0..self.flow.buffers.len() {
            let Some((bytes, chosen)) = self.ways_of(buffer, states) else { continue };
            moved_bytes += bytes;
            for (&(op, operand), way) in self.readers[buffer].iter().zip(chosen) {
                ways[op][operand] = Some(way);
            }
        }
        let n_ops = self.flow.ops.len();
        let own = |buffer| self.buffer_stick(buffer, states[self.variable_of[buffer]]);
        Choice {
            op_sticks: (0..n_ops).map(|op| self.states[op][states[op]]).collect(),
            buffer_sticks: (0..self.flow.buffers.len()).map(own).collect(),
            ways: ways.into_iter().map(|ways| ways.into_iter().flatten().collect()).collect(),
            moved_bytes,
            is_optimal,
        }
    }

    /// Returns the first op that cannot read an operand or write its result.
    fn misfit(&self, states: &[usize]) -> Option<Misfit> {
        (0..self.flow.ops.len()).find_map(|op| {
            let kind = self.unreadable(op, states).or_else(|| self.unwritable(op, states))?;
            Some(Misfit { op, kind })
        })
    }

    fn unreadable(&self, op: usize, states: &[usize]) -> Option<MisfitKind> {
        self.flow.ops[op].reads.iter().enumerate().find_map(|(operand, read)| {
            let found = self.buffer_stick(read.buffer, states[self.variable_of[read.buffer]]);
            let is_unreadable = self.ways(op, operand, self.states[op][states[op]], found).is_empty();
            is_unreadable.then(|| MisfitKind::of_read(&self.flow.ops[op], operand, &self.flow.buffers[read.buffer].sizes, found))
        })
    }

    fn unwritable(&self, number: usize, states: &[usize]) -> Option<MisfitKind> {
        let op = &self.flow.ops[number];
        let (buffer, variable) = (&self.flow.buffers[op.result], self.variable_of[op.result]);
        let (stick, sizes) = (self.states[number][states[number]], buffer.sizes.clone());
        let expected = op.result_stick(stick);
        if variable != number {
            let found = self.states[variable][states[variable]];
            let part = || op.written_window(buffer, found).err().map(MisfitKind::Part);
            let is_unwritable = !op.writes_part(stick, buffer, found);
            let kind = || match buffer.allows(found) {
                true => part().unwrap_or(MisfitKind::PartSticks { sizes, found, expected }),
                false => MisfitKind::Regrouped { sizes, found, stick: buffer.format.elements_per_stick() },
            };
            return is_unwritable.then(kind);
        }
        match (buffer.allows(expected), buffer.given.is_some()) {
            (true, _) => None,
            (false, true) => Some(MisfitKind::Result { found: buffer.sticks()[0], expected }),
            (false, false) => Some(MisfitKind::Regrouped { sizes, found: expected, stick: buffer.format.elements_per_stick() }),
        }
    }
}

/// Numbers the readers of a program; equivalent readers share a number.
fn alike<'a>(flow: &'a Flow) -> Vec<Vec<usize>> {
    let mut numbers: BTreeMap<ReaderKey<'a>, usize> = BTreeMap::new();
    let mut number = |op: &'a Op, operand: usize| {
        let read = &op.reads[operand];
        let key = (op.kind, &op.ranges[..], op.n_reduced, &read.indices[..], &flow.buffers[read.buffer], operand == 0, read.is_exempt);
        let next = numbers.len();
        *numbers.entry(key).or_insert(next)
    };
    let mut numbers_of = |op: &'a Op| (0..op.reads.len()).map(|operand| number(op, operand)).collect();
    flow.ops.iter().map(&mut numbers_of).collect()
}

fn bytes_of(buffer: &Buffer, stick: Option<usize>) -> Cost {
    if !buffer.allows(stick) {
        return Cost::IMPOSSIBLE;
    }
    let bytes = buffer.layout(stick).ok().and_then(|layout| u64::try_from(layout.bytes()).ok());
    // An argument with one element per stick saves moves, but all its padding is read.
    let cost = |buffer_bytes| match (buffer.is_strided(stick), stick) {
        (false, _) => Cost { buffer_bytes, ..Cost::ZERO },
        (true, Some(_)) => Cost { strided_bytes: buffer_bytes, buffer_bytes, ..Cost::ZERO },
        (true, None) => Cost { moved_bytes: buffer_bytes, strided_bytes: buffer_bytes, buffer_bytes },
    };
    bytes.map_or(Cost::IMPOSSIBLE, cost)
}

/// Maximum number of readers for which every combination of relayouts is evaluated.
const MOST_COMBINED: usize = 6;

/// Returns one relayout per reader so that all moves together, each counted once, touch the fewest bytes; `None` if a reader has no
/// relayout.
fn cheapest(readers: &[Rc<Vec<Way>>]) -> Option<(u64, Vec<usize>)> {
    if readers.iter().any(|ways| ways.is_empty()) {
        return None;
    }
    let first = vec![0; readers.len()];
    let moving: Vec<usize> = (0..readers.len()).filter(|&reader| readers[reader][0].form.is_some()).collect();
    let mut best = (bytes_together(readers, &first), first);
    if moving.len() < 2 || moving.len() > MOST_COMBINED {
        return Some(best);
    }
    let mut chosen = vec![0; readers.len()];
    loop {
        let Some(position) = moving.iter().rposition(|&reader| chosen[reader] + 1 < readers[reader].len()) else { return Some(best) };
        chosen[moving[position]] += 1;
        moving[position + 1..].iter().for_each(|&reader| chosen[reader] = 0);
        let bytes = bytes_together(readers, &chosen);
        if bytes < best.0 {
            best = (bytes, chosen.clone());
        }
    }
}

/// Returns the cost of the cheapest ways of all readers together, each without one at `unreadable`.
fn cost_of(mut readers: Vec<Rc<Vec<Way>>>, unreadable: Cost) -> Cost {
    let n_readers = readers.len();
    if unreadable == Cost::IMPOSSIBLE && readers.iter().any(|ways| ways.is_empty()) {
        return unreadable;
    }
    readers.retain(|ways| !ways.is_empty());
    let moved = cheapest(&readers).map_or(Cost::ZERO, |(moved_bytes, _)| Cost { moved_bytes, ..Cost::ZERO });
    (readers.len()..n_readers).fold(moved, |sum, _| sum.saturating_add(unreadable))
}

fn bytes_together(readers: &[Rc<Vec<Way>>], chosen: &[usize]) -> u64 {
    let forms: BTreeSet<&Form> =
        readers.iter().zip(chosen).filter_map(|(ways, &way)| ways[way].form.as_ref()).flat_map(Form::chain).collect();
    forms.into_iter().map(|form| u64::try_from(form.bytes).expect("a size is not negative")).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::{Strategy, *};
    use crate::layout::{
        Read,
        testing::{self, buffer, dims},
    };
    use program::layout::Index;
    use proptest::{prelude::*, strategy::Strategy as _};

    fn read(buffer: usize, ranges: &[i64], order: &[usize]) -> Read {
        Read { buffer, indices: dims(ranges, order), is_exempt: false }
    }

    fn op(kind: Kind, ranges: &[i64], n_reduced: usize, reads: Vec<Read>, result: usize) -> Op {
        Op { reads, result, ..testing::op(kind, ranges, n_reduced) }
    }

    /// `x W^T`, then `(x W^T) V^T` with both weights given row-major.
    fn two_layers(is_free: bool) -> Flow {
        let mut buffers = vec![buffer(&[32, 128]), buffer(&[512, 128]), buffer(&[128, 512]), buffer(&[32, 512]), buffer(&[32, 128])];
        if !is_free {
            for buffer in &mut buffers[..3] {
                buffer.given = Some(buffer.layout(Some(1)).unwrap());
            }
        }
        let (up, down) = ([32, 512, 128], [32, 128, 512]);
        let ops = vec![
            op(Kind::Matmul, &up, 1, vec![read(0, &up, &[0, 2]), read(1, &up, &[1, 2])], 3),
            op(Kind::Matmul, &down, 1, vec![read(3, &down, &[0, 2]), read(2, &down, &[1, 2])], 4),
        ];
        Flow { buffers, ops }
    }

    #[test]
    fn free_arguments_lie_as_their_readers_want_them() {
        let choice = two_layers(true).choose(Strategy::Global).unwrap();
        assert_eq!(choice.moved_bytes, 0);
        assert_eq!(choice.buffer_sticks[..3], [Some(1), Some(0), Some(0)]);
        let greedy = two_layers(true).choose(Strategy::Greedy).unwrap();
        assert_eq!(greedy.moved_bytes, 2 * 2 * 512 * 128 * 2, "greedy has row-major arguments and moves both weights");
    }

    #[test]
    fn fixed_arguments_are_moved() {
        let choice = two_layers(false).choose(Strategy::Global).unwrap();
        assert_eq!(choice.moved_bytes, 2 * 2 * 512 * 128 * 2);
        assert!(choice.is_optimal);
    }

    #[test]
    fn readers_share_a_move() {
        let ranges = [128, 256];
        let mut buffers = vec![buffer(&[128, 256]), buffer(&[256, 128]), buffer(&[128, 256]), buffer(&[128, 256])];
        for buffer in &mut buffers {
            buffer.given = Some(buffer.layout(Some(1)).unwrap());
        }
        let reads = || vec![read(0, &ranges, &[0, 1]), read(1, &ranges, &[1, 0])];
        let ops = vec![op(Kind::Elementwise, &ranges, 0, reads(), 2), op(Kind::Elementwise, &ranges, 0, reads(), 3)];
        let choice = Flow { buffers, ops }.choose(Strategy::Global).unwrap();
        assert_eq!(choice.moved_bytes, 2 * 128 * 256 * 2);
        assert_eq!(choice.ways[0][1], choice.ways[1][1]);
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        // One element a stick, and sixty-four in another, at the same points.
        let ranges = [64];
        let (mut column, mut row) = (buffer(&[64, 1]), buffer(&[64]));
        column.given = Some(column.layout(None).unwrap());
        row.given = Some(row.layout(Some(0)).unwrap());
        let index = || Index::dim(0, &ranges).unwrap();
        let reads = vec![
            Read { buffer: 0, indices: vec![index(), Index::constant(0)], is_exempt: false },
            Read { buffer: 1, indices: vec![index()], is_exempt: false },
        ];
        let buffers = vec![column, row, buffer(&[64])];
        let flow = Flow { buffers, ops: vec![op(Kind::Elementwise, &ranges, 0, reads, 2)] };
        let kind = MisfitKind::Read { operand: 0, sizes: vec![64, 1], found: None };
        assert_eq!(flow.choose(Strategy::Global), Err(Misfit { op: 0, kind }));
    }

    #[test]
    fn what_cannot_be_written_is_named() {
        let ranges = [64, 256, 128];
        let reads = || vec![read(0, &ranges, &[0, 2]), read(1, &ranges, &[2, 1])];
        let mut flow = Flow {
            buffers: vec![buffer(&[64, 128]), buffer(&[128, 256]), buffer(&[64, 256])],
            ops: vec![op(Kind::Matmul, &ranges, 1, reads(), 2)],
        };
        flow.buffers[2].given = Some(flow.buffers[2].layout(Some(0)).unwrap());
        let kind = MisfitKind::Result { found: Some(0), expected: Some(1) };
        assert_eq!(flow.choose(Strategy::Global), Err(Misfit { op: 0, kind }));
    }

    /// A random graph of ops on square tensors, read plain or transposed: two arguments, then one result an op.
    fn graphs() -> impl proptest::strategy::Strategy<Value = Flow> {
        let op = (0_usize..3, any::<prop::sample::Index>(), any::<prop::sample::Index>(), any::<(bool, bool)>());
        (prop::collection::vec(op, 1..6), any::<(bool, bool)>()).prop_map(|(ops, given)| {
            let sizes = [128, 128];
            let mut flow = Flow { buffers: vec![buffer(&sizes), buffer(&sizes)], ops: Vec::new() };
            for (argument, is_given) in [given.0, given.1].into_iter().enumerate() {
                let layout = flow.buffers[argument].layout(Some(1)).unwrap();
                flow.buffers[argument].given = is_given.then_some(layout);
            }
            for (kind, first, second, (is_first_turned, is_second_turned)) in ops {
                let n_buffers = flow.buffers.len();
                let order = |dims: [usize; 2], is_turned: bool| if is_turned { vec![dims[1], dims[0]] } else { dims.to_vec() };
                let (first, second) = (first.index(n_buffers), second.index(n_buffers));
                flow.ops.push(if kind == 0 {
                    let ranges = [128, 128, 128];
                    let reads = vec![
                        read(first, &ranges, &order([0, 2], is_first_turned)),
                        read(second, &ranges, &order([2, 1], is_second_turned)),
                    ];
                    super::tests::op(Kind::Matmul, &ranges, 1, reads, n_buffers)
                } else {
                    let reads =
                        vec![read(first, &sizes, &order([0, 1], is_first_turned)), read(second, &sizes, &order([0, 1], is_second_turned))];
                    super::tests::op(Kind::Elementwise, &sizes, 0, reads, n_buffers)
                });
                flow.buffers.push(buffer(&sizes));
            }
            flow
        })
    }

    /// Bytes of the arguments of one element a stick.
    fn padding_bytes(flow: &Flow, sticks: &[Option<usize>]) -> u64 {
        flow.buffers.iter().zip(sticks).map(|(buffer, &stick)| bytes_of(buffer, stick).moved_bytes).sum()
    }

    fn exhaustive(flow: &Flow) -> Option<u64> {
        let chooser = Chooser::of(flow);
        let mut states = vec![0; chooser.states.len()];
        let (problem, mut best) = (chooser.problem(Cost::IMPOSSIBLE), None);
        loop {
            let is_written = problem.cost(&states) != Cost::IMPOSSIBLE;
            let own = |buffer| chooser.buffer_stick(buffer, states[chooser.variable_of[buffer]]);
            let sticks: Vec<Option<usize>> = (0..flow.buffers.len()).map(own).collect();
            let bytes = chooser.moved_bytes(&states).filter(|_| is_written).map(|bytes| bytes + padding_bytes(flow, &sticks));
            best = match (best, bytes) {
                (Some(best), Some(bytes)) => Some(std::cmp::min(best, bytes)),
                (best, bytes) => best.or(bytes),
            };
            let Some(position) = (0..states.len()).rev().find(|&variable| states[variable] + 1 < chooser.states[variable].len()) else {
                return best;
            };
            states[position] += 1;
            states[position + 1..].fill(0);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(256))]

        #[test]
        fn no_choice_moves_fewer_bytes(flow in graphs()) {
            let found = flow.choose(Strategy::Global).ok();
            let bytes = |choice: &Choice| choice.moved_bytes + padding_bytes(&flow, &choice.buffer_sticks);
            prop_assert_eq!(found.as_ref().map(bytes), exhaustive(&flow));
            if let (Ok(greedy), Some(found)) = (flow.choose(Strategy::Greedy), found) {
                prop_assert!(found.moved_bytes <= greedy.moved_bytes);
            }
        }
    }
}
