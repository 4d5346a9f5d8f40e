//! Whole-program choice of stick dimensions, one per op and buffer, so that relayouts move as few bytes as possible.

use super::{
    StickCost,
    conflict::{LayoutConflict, LayoutConflictKind},
    flow::{LayoutBuffer, LayoutFlow, LayoutOp, StickRule},
    relayout::{RelayoutBuffer, RelayoutGraph, RelayoutOption, find_relayout_options},
};
use crate::assignment::{AdditiveCost as _, AssignmentProblem, CostFactor, TableMemo, minimize};
use program::layout::TensorIndex;
use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    rc::Rc,
};
use strum::{Display, EnumString, VariantNames};

/// Maximum number of table entries of one buffer with its writer and readers; with more readers, each is counted alone.
const MAX_FACTOR_ENTRIES: usize = 4096;
/// Maximum number of table entries during variable elimination.
const MAX_ELIMINATION_ENTRIES: usize = 1 << 16;

/// Method of choosing sticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum StickStrategy {
    /// Chooses for the whole program at once.
    Global,
    /// Chooses op by op, in program order: the cheapest state for the operands as they are.
    Greedy,
}

/// Layout choice for all ops and buffers of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutChoice {
    /// For each op the iteration dimension in its sticks.
    pub op_sticks: Vec<Option<usize>>,
    /// For each buffer the dimension in its sticks.
    pub buffer_sticks: Vec<Option<usize>>,
    /// For each op and each of its operands, the relayout that it reads.
    pub relayouts: Vec<Vec<RelayoutOption>>,
    /// Bytes read and written by all moves.
    pub moved_bytes: u64,
    /// Whether the plan is proven optimal: no choice moves fewer bytes.
    pub is_optimal: bool,
}

impl LayoutFlow {
    /// Chooses the sticks.
    ///
    /// # Errors
    /// Returns the first operand that cannot be read, or result that cannot be written, under any choice.
    pub fn choose_sticks(&self, strategy: StickStrategy) -> Result<LayoutChoice, LayoutConflict> {
        let chooser = StickChooser::new(self);
        let start = chooser.choose_greedily();
        let problem = chooser.build_problem(StickCost::IMPOSSIBLE);
        let start_cost = problem.cost(&start);
        let (states, is_optimal) = match strategy {
            StickStrategy::Greedy if start_cost != StickCost::IMPOSSIBLE => (start, false),
            StickStrategy::Greedy | StickStrategy::Global => {
                let found = minimize(&problem, &start, MAX_ELIMINATION_ENTRIES, &mut TableMemo::default());
                // With many readers the problem counts shared moves more than once, so the true cost decides.
                let bytes = |states: &[usize]| chooser.total_moved_bytes(states).unwrap_or(u64::MAX);
                let is_better = found.cost != StickCost::IMPOSSIBLE
                    && (start_cost == StickCost::IMPOSSIBLE || bytes(&found.states) <= bytes(&start));
                if is_better { (found.states, found.is_optimal) } else { (start, false) }
            }
        };
        let Some(misfit) = chooser.find_conflict(&states) else { return Ok(chooser.build_choice(&states, is_optimal)) };
        Err(if matches!(misfit.kind, LayoutConflictKind::Part(_) | LayoutConflictKind::PartSticks { .. }) {
            // A slice can always be written with one element per stick, so the obstacle is an operand, which can be
            // copied.
            let all_written = minimize(
                &chooser.build_problem(UNREADABLE_COST),
                &states,
                MAX_ELIMINATION_ENTRIES,
                &mut TableMemo::default(),
            )
            .states;
            chooser
                .find_conflict(&all_written)
                .filter(|misfit| {
                    matches!(
                        misfit.kind,
                        LayoutConflictKind::Read { .. }
                            | LayoutConflictKind::View(_)
                            | LayoutConflictKind::Regrouped { .. }
                    )
                })
                .unwrap_or(misfit)
        } else {
            misfit
        })
    }
}

/// Cost of an unreadable operand, or of a result viewed under other dimensions than its sticks allow, if all results
/// must be written. Exceeds the cost of all moves of a program.
const UNREADABLE_COST: StickCost = StickCost { moved_bytes: 1 << 52, ..StickCost::ZERO };

/// Inputs of the relayout options of a reader, except the stick dimensions: the rules of the reader, and its view of
/// the buffer.
type ReaderKey<'a> = (StickRule, &'a [i64], usize, &'a [TensorIndex], &'a LayoutBuffer, bool, bool);
/// Key of the memoized relayout options: number of the distinct [`ReaderKey`], stick dimension of the reader, and stick
/// dimension of the buffer.
type RelayoutOptionsKey = (usize, Option<usize>, Option<usize>);

/// Key of the relayout graph of an operand: the dimensions of the reader, and its view of the buffer.
type RelayoutGraphKey = (Vec<i64>, Vec<TensorIndex>, LayoutBuffer);

struct StickChooser<'a> {
    flow: &'a LayoutFlow,
    /// States of each op, then of each buffer that no op owns.
    states: Vec<Vec<Option<usize>>>,
    /// For each buffer its variable: that of its writer, or its own.
    variable_of: Vec<usize>,
    /// For each buffer its writer, unless the buffer is written in slices or is an input.
    writer_of: Vec<Option<usize>>,
    /// Reads of each buffer: op and operand.
    readers: Vec<Vec<(usize, usize)>>,
    /// For each op and operand a number that equivalent readers share: the layers of a model are equivalent, so they
    /// share relayout options.
    reader_numbers: Vec<Vec<usize>>,
    known: RefCell<BTreeMap<RelayoutOptionsKey, Rc<Vec<RelayoutOption>>>>,
    known_levels: RefCell<BTreeMap<RelayoutGraphKey, Option<Rc<RelayoutGraph>>>>,
}

impl<'a> StickChooser<'a> {
    fn new(flow: &'a LayoutFlow) -> Self {
        let mut states: Vec<Vec<Option<usize>>> = flow.ops.iter().map(LayoutOp::candidate_sticks).collect();
        let mut writer_of = vec![None; flow.buffers.len()];
        let mut readers = vec![Vec::new(); flow.buffers.len()];
        for (number, op) in flow.ops.iter().enumerate() {
            if op.kind != StickRule::Insert {
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
                states.push(buffer.candidate_sticks());
            }
        }
        let (alike, known, known_levels) = (number_equivalent_readers(flow), RefCell::default(), RefCell::default());
        Self { flow, states, variable_of, writer_of, readers, reader_numbers: alike, known, known_levels }
    }

    /// Returns the dimension in the sticks of a buffer, given the state of its variable.
    fn buffer_stick(&self, buffer: usize, state: usize) -> Option<usize> {
        let stick = self.states[self.variable_of[buffer]][state];
        self.writer_of[buffer].map_or(stick, |writer| self.flow.ops[writer].result_stick(stick))
    }

    fn relayout_options(
        &self,
        op: usize,
        operand: usize,
        stick: Option<usize>,
        own: Option<usize>,
    ) -> Rc<Vec<RelayoutOption>> {
        let key = (self.reader_numbers[op][operand], stick, own);
        if let Some(known) = self.known.borrow().get(&key) {
            return Rc::clone(known);
        }
        let op = &self.flow.ops[op];
        let buffer = &self.flow.buffers[op.reads[operand].buffer];
        let found = Rc::new(find_relayout_options(op, stick, operand, buffer, own, || {
            self.relayout_graph(op, operand, buffer)
        }));
        self.known.borrow_mut().insert(key, Rc::clone(&found));
        found
    }

    fn relayout_graph(&self, op: &LayoutOp, operand: usize, buffer: &LayoutBuffer) -> Option<Rc<RelayoutGraph>> {
        let key = (op.ranges.clone(), op.reads[operand].indices.clone(), buffer.clone());
        let mut known = self.known_levels.borrow_mut();
        known.entry(key).or_insert_with(|| RelayoutGraph::new(op, operand, buffer).map(Rc::new)).clone()
    }

    /// Returns the assignment problem. `unreadable` is the cost of an operand that no chain of moves makes readable,
    /// and of a result whose sticks do not allow the dimensions under which it is viewed.
    fn build_problem(&self, unreadable: StickCost) -> AssignmentProblem<StickCost> {
        let num_states: Vec<usize> = self.states.iter().map(Vec::len).collect();
        let mut factors = Vec::new();
        for (number, op) in self.flow.ops.iter().enumerate() {
            factors.push(self.build_write_factor(&num_states, number, op, unreadable));
        }
        for (number, buffer) in self.flow.buffers.iter().enumerate() {
            let variable = self.variable_of[number];
            if self.writer_of[number].is_none() {
                factors.push(CostFactor::new(&num_states, vec![variable], |states| {
                    buffer_cost(buffer, self.states[variable][states[0]])
                }));
            }
            self.add_read_factors(&num_states, number, unreadable, &mut factors);
        }
        AssignmentProblem { num_states, factors }
    }

    /// Returns the cost of writing the result of an op, without relayouts. The cost is `unregrouped` if only the stick
    /// dimension prevents the write, and impossible if the op cannot write the result at all.
    fn build_write_factor(
        &self,
        num_states: &[usize],
        number: usize,
        op: &LayoutOp,
        unregrouped: StickCost,
    ) -> CostFactor<StickCost> {
        let buffer = &self.flow.buffers[op.result];
        let variable = self.variable_of[op.result];
        if variable != number {
            return CostFactor::new(num_states, vec![number, variable], |states| {
                let (stick, own) = (self.states[number][states[0]], self.states[variable][states[1]]);
                if op.can_write_slice(stick, buffer, own) { StickCost::ZERO } else { StickCost::IMPOSSIBLE }
            });
        }
        CostFactor::new(num_states, vec![number], |states| {
            let own = self.buffer_stick(op.result, states[0]);
            match (buffer.allows_stick(own), buffer.given.is_some()) {
                (true, _) => buffer_cost(buffer, own),
                (false, true) => StickCost::IMPOSSIBLE,
                (false, false) => unregrouped,
            }
        })
    }

    fn add_read_factors(
        &self,
        num_states: &[usize],
        buffer: usize,
        unreadable: StickCost,
        factors: &mut Vec<CostFactor<StickCost>>,
    ) {
        let readers = &self.readers[buffer];
        let variable = self.variable_of[buffer];
        // An op that reads the buffer twice is one variable.
        let variables_of = |readers: &[(usize, usize)]| {
            let ops: BTreeSet<usize> = readers.iter().map(|(op, _)| *op).filter(|op| *op != variable).collect();
            [variable].into_iter().chain(ops).collect::<Vec<usize>>()
        };
        let num_costs = |readers| {
            variables_of(readers)
                .iter()
                .try_fold(1_usize, |product, &variable| product.checked_mul(num_states[variable]))
        };
        let together: Vec<&[(usize, usize)]> = match num_costs(readers.as_slice()) {
            Some(product) if product <= MAX_FACTOR_ENTRIES => vec![readers.as_slice()],
            _ => readers.chunks(1).collect(),
        };
        for readers in together.into_iter().filter(|readers| !readers.is_empty()) {
            let variables = variables_of(readers);
            let places: Vec<usize> =
                readers.iter().filter_map(|(op, _)| variables.iter().position(|variable| variable == op)).collect();
            factors.push(CostFactor::new(num_states, variables, |states| {
                let own = self.buffer_stick(buffer, states[0]);
                let ways: Vec<Rc<Vec<RelayoutOption>>> = readers
                    .iter()
                    .zip(&places)
                    .map(|(&(op, operand), &place)| {
                        self.relayout_options(op, operand, self.states[op][states[place]], own)
                    })
                    .collect();
                relayout_cost(ways, unreadable)
            }));
        }
    }

    /// Chooses op by op the cheapest state for the current operands; among equal ones, the first.
    fn choose_greedily(&self) -> Vec<usize> {
        let mut chosen = vec![0; self.states.len()];
        for (number, op) in self.flow.ops.iter().enumerate() {
            let cost = |state: usize| {
                let stick = self.states[number][state];
                let variable = self.variable_of[op.result];
                let is_part = variable != number;
                let buffer = &self.flow.buffers[op.result];
                let own = if is_part { self.states[variable][chosen[variable]] } else { op.result_stick(stick) };
                let is_written =
                    if is_part { op.can_write_slice(stick, buffer, own) } else { buffer.allows_stick(own) };
                let mut cost = if is_written { buffer_cost(buffer, own) } else { StickCost::IMPOSSIBLE };
                for (operand, read) in op.reads.iter().enumerate() {
                    let own = self.buffer_stick(read.buffer, chosen[self.variable_of[read.buffer]]);
                    let moved =
                        self.relayout_options(number, operand, stick, own).first().map(RelayoutOption::moved_bytes);
                    let moved = moved.and_then(|bytes| u64::try_from(bytes).ok());
                    cost = cost.saturating_add(
                        moved.map_or(StickCost::IMPOSSIBLE, |moved_bytes| StickCost { moved_bytes, ..StickCost::ZERO }),
                    );
                }
                (cost, state)
            };
            chosen[number] = (0..self.states[number].len()).map(cost).min().map_or(0, |(_, state)| state);
        }
        chosen
    }

    /// Returns the cheapest combination of relayouts for all readers of a buffer; `None` if a reader has none.
    fn cheapest_relayouts(&self, buffer: usize, states: &[usize]) -> Option<(u64, Vec<RelayoutOption>)> {
        let own = self.buffer_stick(buffer, states[self.variable_of[buffer]]);
        let ways: Vec<Rc<Vec<RelayoutOption>>> = self.readers[buffer]
            .iter()
            .map(|&(op, operand)| self.relayout_options(op, operand, self.states[op][states[op]], own))
            .collect();
        let (bytes, chosen) = find_cheapest_combination(&ways)?;
        Some((bytes, ways.iter().zip(chosen).map(|(ways, way)| ways[way].clone()).collect()))
    }

    fn total_moved_bytes(&self, states: &[usize]) -> Option<u64> {
        (0..self.flow.buffers.len())
            .try_fold(0_u64, |sum, buffer| sum.checked_add(self.cheapest_relayouts(buffer, states)?.0))
    }

    fn build_choice(&self, states: &[usize], is_optimal: bool) -> LayoutChoice {
        let mut ways: Vec<Vec<Option<RelayoutOption>>> =
            self.flow.ops.iter().map(|op| vec![None; op.reads.len()]).collect();
        let mut moved_bytes = 0;
        for buffer in 0..self.flow.buffers.len() {
            let Some((bytes, chosen)) = self.cheapest_relayouts(buffer, states) else { continue };
            moved_bytes += bytes;
            for (&(op, operand), way) in self.readers[buffer].iter().zip(chosen) {
                ways[op][operand] = Some(way);
            }
        }
        let n_ops = self.flow.ops.len();
        let own = |buffer| self.buffer_stick(buffer, states[self.variable_of[buffer]]);
        LayoutChoice {
            op_sticks: (0..n_ops).map(|op| self.states[op][states[op]]).collect(),
            buffer_sticks: (0..self.flow.buffers.len()).map(own).collect(),
            relayouts: ways.into_iter().map(|ways| ways.into_iter().flatten().collect()).collect(),
            moved_bytes,
            is_optimal,
        }
    }

    /// Returns the first op that cannot read an operand or write its result.
    fn find_conflict(&self, states: &[usize]) -> Option<LayoutConflict> {
        (0..self.flow.ops.len()).find_map(|op| {
            let kind = self.find_read_conflict(op, states).or_else(|| self.find_write_conflict(op, states))?;
            Some(LayoutConflict { op, kind })
        })
    }

    fn find_read_conflict(&self, op: usize, states: &[usize]) -> Option<LayoutConflictKind> {
        self.flow.ops[op].reads.iter().enumerate().find_map(|(operand, read)| {
            let found = self.buffer_stick(read.buffer, states[self.variable_of[read.buffer]]);
            let is_unreadable = self.relayout_options(op, operand, self.states[op][states[op]], found).is_empty();
            is_unreadable.then(|| {
                LayoutConflictKind::from_read(&self.flow.ops[op], operand, &self.flow.buffers[read.buffer].sizes, found)
            })
        })
    }

    fn find_write_conflict(&self, number: usize, states: &[usize]) -> Option<LayoutConflictKind> {
        let op = &self.flow.ops[number];
        let (buffer, variable) = (&self.flow.buffers[op.result], self.variable_of[op.result]);
        let (stick, sizes) = (self.states[number][states[number]], buffer.sizes.clone());
        let expected = op.result_stick(stick);
        if variable != number {
            let found = self.states[variable][states[variable]];
            let part = || op.check_written_window(buffer, found).err().map(LayoutConflictKind::Part);
            let is_unwritable = !op.can_write_slice(stick, buffer, found);
            let kind = || match buffer.allows_stick(found) {
                true => part().unwrap_or(LayoutConflictKind::PartSticks { sizes, found, expected }),
                false => LayoutConflictKind::Regrouped { sizes, found, stick: buffer.format.elements_per_stick() },
            };
            return is_unwritable.then(kind);
        }
        match (buffer.allows_stick(expected), buffer.given.is_some()) {
            (true, _) => None,
            (false, true) => Some(LayoutConflictKind::Result { found: buffer.candidate_sticks()[0], expected }),
            (false, false) => Some(LayoutConflictKind::Regrouped {
                sizes,
                found: expected,
                stick: buffer.format.elements_per_stick(),
            }),
        }
    }
}

/// Numbers the readers of a program; equivalent readers share a number.
fn number_equivalent_readers<'a>(flow: &'a LayoutFlow) -> Vec<Vec<usize>> {
    let mut numbers: BTreeMap<ReaderKey<'a>, usize> = BTreeMap::new();
    let mut number = |op: &'a LayoutOp, operand: usize| {
        let read = &op.reads[operand];
        let key = (
            op.kind,
            &op.ranges[..],
            op.num_reduced,
            &read.indices[..],
            &flow.buffers[read.buffer],
            operand == 0,
            read.is_exempt,
        );
        let next = numbers.len();
        *numbers.entry(key).or_insert(next)
    };
    let mut numbers_of = |op: &'a LayoutOp| (0..op.reads.len()).map(|operand| number(op, operand)).collect();
    flow.ops.iter().map(&mut numbers_of).collect()
}

fn buffer_cost(buffer: &LayoutBuffer, stick: Option<usize>) -> StickCost {
    if !buffer.allows_stick(stick) {
        return StickCost::IMPOSSIBLE;
    }
    let bytes = buffer.layout(stick).ok().and_then(|layout| u64::try_from(layout.bytes()).ok());
    // An argument with one element per stick saves moves, but all its padding is read.
    let cost = |buffer_bytes| match (buffer.is_strided(stick), stick) {
        (false, _) => StickCost { buffer_bytes, ..StickCost::ZERO },
        (true, Some(_)) => StickCost { strided_bytes: buffer_bytes, buffer_bytes, ..StickCost::ZERO },
        (true, None) => StickCost { moved_bytes: buffer_bytes, strided_bytes: buffer_bytes, buffer_bytes },
    };
    bytes.map_or(StickCost::IMPOSSIBLE, cost)
}

/// Maximum number of readers for which every combination of relayouts is evaluated.
const MAX_COMBINED_READERS: usize = 6;

/// Returns one relayout per reader so that all moves together, each counted once, touch the fewest bytes; `None` if a
/// reader has no relayout.
fn find_cheapest_combination(readers: &[Rc<Vec<RelayoutOption>>]) -> Option<(u64, Vec<usize>)> {
    if readers.iter().any(|ways| ways.is_empty()) {
        return None;
    }
    let first = vec![0; readers.len()];
    let moving: Vec<usize> = (0..readers.len()).filter(|&reader| readers[reader][0].buffer.is_some()).collect();
    let mut best = (combined_bytes(readers, &first), first);
    if moving.len() < 2 || moving.len() > MAX_COMBINED_READERS {
        return Some(best);
    }
    let mut chosen = vec![0; readers.len()];
    loop {
        let Some(position) = moving.iter().rposition(|&reader| chosen[reader] + 1 < readers[reader].len()) else {
            return Some(best);
        };
        chosen[moving[position]] += 1;
        moving[position + 1..].iter().for_each(|&reader| chosen[reader] = 0);
        let bytes = combined_bytes(readers, &chosen);
        if bytes < best.0 {
            best = (bytes, chosen.clone());
        }
    }
}

/// Returns the cost of the cheapest relayouts of all readers together; a reader without relayouts costs `unreadable`.
fn relayout_cost(mut readers: Vec<Rc<Vec<RelayoutOption>>>, unreadable: StickCost) -> StickCost {
    let num_readers = readers.len();
    if unreadable == StickCost::IMPOSSIBLE && readers.iter().any(|ways| ways.is_empty()) {
        return unreadable;
    }
    readers.retain(|ways| !ways.is_empty());
    let moved = find_cheapest_combination(&readers)
        .map_or(StickCost::ZERO, |(moved_bytes, _)| StickCost { moved_bytes, ..StickCost::ZERO });
    (readers.len()..num_readers).fold(moved, |sum, _| sum.saturating_add(unreadable))
}

fn combined_bytes(readers: &[Rc<Vec<RelayoutOption>>], chosen: &[usize]) -> u64 {
    let forms: BTreeSet<&RelayoutBuffer> = readers
        .iter()
        .zip(chosen)
        .filter_map(|(ways, &way)| ways[way].buffer.as_ref())
        .flat_map(RelayoutBuffer::chain)
        .collect();
    forms
        .into_iter()
        .map(|form| u64::try_from(form.bytes).expect("a size is not negative"))
        .fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests;
