//! Reads the loops of a function. Values must have places; op specs are not needed.

use super::{Accumulator, Copied, CutDim, LoopValue, OpInLoop, TileLoop, ValuePlace};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{
        Carried, ComputeOp, Memory, Place, Tensor, carried_by, given_tiles, home_of, last_writer_of, moves_of, owner_of, read_tiles,
    },
    mlir::{BlockLike, Op, OpExt, Value, ValueExt, ValueLike, ValueMap, integer, location_text, string},
};

/// Positions of ops in the report's list, keyed by their results.
#[derive(Default)]
pub(crate) struct Numbers {
    by_result: ValueMap<usize>,
    n_ops: usize,
}

impl Numbers {
    /// Assigns the next number to an op.
    pub(crate) fn add(&mut self, compute: ComputeOp<'_>) {
        self.by_result.insert(compute.op.output(), self.n_ops);
        self.n_ops += 1;
    }

    fn of(&self, op: Op<'_>) -> Option<usize> {
        ComputeOp::of(op).and_then(|compute| self.by_result.get(compute.op.output()).copied())
    }
}

/// Describes a place; a value without one is in HBM.
pub(crate) fn place_of(place: Option<Place>) -> ValuePlace {
    let (memory, lx_offset_bytes) = match place.as_ref().map(|place| place.memory) {
        Some(Memory::Lx(offset_bytes)) => ("lx", Some(offset_bytes)),
        Some(Memory::Pool(_)) => ("pool", None),
        Some(Memory::Hbm) | None => ("hbm", None),
    };
    ValuePlace { memory, lx_offset_bytes, reason: place.map(|place| place.reason).unwrap_or_default() }
}

/// Returns the loops in the body of `around`, in order. The moved bytes are 0 ([`super::add_up`] sets them).
pub(crate) fn loops_of(around: Op<'_>, numbers: &Numbers) -> Vec<TileLoop> {
    let loops = around.body_ops().into_iter().filter(|op| op.is(spyre::LOOP));
    loops.map(|op| Reader { op, numbers, ops: ComputeOp::all_in(op) }.read()).collect()
}

/// Reads one loop.
struct Reader<'a, 'c> {
    op: Op<'c>,
    numbers: &'a Numbers,
    /// Ops in the loop, including those of inner loops.
    ops: Vec<ComputeOp<'c>>,
}

impl<'c> Reader<'_, 'c> {
    fn read(&self) -> TileLoop {
        TileLoop {
            dim: self.op.text_attr(attr::DIM).to_owned(),
            count: count_of(self.op),
            symbol: self.op.attr(attr::SYMBOL).and_then(string).map(str::to_owned),
            location: location_text(self.op.loc()),
            why: self.why(),
            ops: self.ops.iter().filter_map(|compute| self.op_in_loop(*compute)).collect(),
            tiles_read: read_tiles(self.op).into_iter().map(|read| self.value(read.whole, bytes_of(read.tile))).collect(),
            invariant: self.invariant(),
            local: self.local(),
            accumulators: carried_by(self.op).into_iter().map(|carried| self.accumulator(carried)).collect(),
            given: given_tiles(self.op).into_iter().map(|given| self.value(given.tile, bytes_of(given.tile))).collect(),
            copied: self.copied(),
            loops: loops_of(self.op, self.numbers),
            ..TileLoop::default()
        }
    }

    fn op_in_loop(&self, compute: ComputeOp<'c>) -> Option<OpInLoop> {
        let loops = compute.loops();
        let inner = loops.iter().skip_while(|around| **around != self.op).skip(1);
        let inner: Vec<Op<'c>> = inner.copied().collect();
        let (names, sizes) = (compute.dim_names(), compute.iteration_space());
        let cuts = names.into_iter().zip(sizes).filter(|(names, _)| is_cut_by(names, self.op)).map(|(dim, size)| {
            let count: i64 = inner.iter().filter(|around| is_cut_by(&dim, **around)).map(|around| count_of(*around)).product();
            CutDim { tile: size * count, dim }
        });
        Some(OpInLoop { op: self.numbers.of(compute.op)?, function: compute.function().to_owned(), cuts: cuts.collect() })
    }

    /// Explains why the loop is separate from an earlier loop over the same tiles: its ops need the complete value that
    /// the earlier loop accumulates. Empty if there is no such loop.
    fn why(&self) -> String {
        let is_alike = |other: Op<'c>| {
            let same = |name: &str| other.attr(name) == self.op.attr(name);
            other.is(spyre::LOOP) && other != self.op && other.parent() == self.op.parent() && same("dim") && same("count")
        };
        let adds_up = |value: Value<'c>| {
            let around = value.def().filter(|def| is_alike(*def))?;
            carried_by(around).into_iter().find(|carried| carried.result == value)
        };
        let mut needed: Vec<String> = Vec::new();
        for home in self.homes_read() {
            // Looks through a copy of the complete value.
            let copied = home.def().filter(|def| def.attr(attr::SPYRE_FOR_LOOP).is_some()).map(|copy| copy.inputs()[0]);
            let Some(carried) = adds_up(copied.unwrap_or(home)) else { continue };
            let value = self.value(carried.result, 0);
            needed.push(format!("'{}'{}", value.name, value.op.map_or_else(String::new, |op| format!(" (op {op})"))));
        }
        if needed.is_empty() {
            return String::new();
        }
        let (noun, verb) = if needed.len() == 1 { ("value", "is") } else { ("values", "are") };
        format!("needs the complete {noun} {}, which {verb} available only after the previous loop", needed.join(" and "))
    }

    /// Returns the base buffers from outside of the loop that the loop reads, each once.
    fn homes_read(&self) -> Vec<Value<'c>> {
        let mut known: ValueMap<()> = ValueMap::default();
        let read = self.ops.iter().flat_map(|compute| compute.reads()).map(home_of);
        read.filter(|home| !self.is_inside(*home) && known.insert(*home, ()).is_none()).collect()
    }

    fn invariant(&self) -> Vec<LoopValue> {
        let mut known: ValueMap<()> = ValueMap::default();
        for carried in carried_by(self.op) {
            known.insert(home_of(carried.result), ());
        }
        let mut found = Vec::new();
        for read in self.ops.iter().flat_map(|compute| compute.reads()) {
            let home = home_of(read);
            let moves = moves_of(read).unwrap_or_default().into_iter().any(|moved| moved.around == self.op);
            if !moves && !self.is_inside(home) && known.insert(home, ()).is_none() {
                found.push(self.value(home, bytes_of(self.part_outside(read))));
            }
        }
        found
    }

    /// Returns the values whose buffers are local to an iteration, each once.
    fn local(&self) -> Vec<LoopValue> {
        let mut known: ValueMap<()> = ValueMap::default();
        let homes = self.ops.iter().map(|compute| home_of(compute.op.output()));
        homes
            .filter(|home| home.def().and_then(OpExt::parent) == Some(self.op) && known.insert(*home, ()).is_none())
            .map(|home| self.value(home, bytes_of(home)))
            .collect()
    }

    fn accumulator(&self, carried: Carried<'c>) -> Accumulator {
        let neutral_element = carried.before.def().and_then(|def| self.numbers.of(def));
        Accumulator { value: self.value(carried.argument, bytes_of(carried.argument)), neutral_element }
    }

    fn copied(&self) -> Vec<Copied> {
        let body = self.op.body_ops().into_iter().filter(|op| op.is(spyre::COPY));
        // A copy that initializes an accumulator with the neutral element moves no value of the program. A copy of an
        // accumulator follows its loop, and is added below.
        let in_body = body.filter(|op| !begins_accumulator(*op) && !copies_accumulator(*op));
        let behind = carried_by(self.op).into_iter().flat_map(|carried| carried.result.users());
        in_body.chain(behind.filter(|user| copies_accumulator(*user))).filter_map(|copy| self.copy(copy)).collect()
    }

    fn copy(&self, copy: Op<'c>) -> Option<Copied> {
        let (input, to) = (copy.inputs()[0], place_of(ComputeOp::of(copy)?.place()));
        let from = self.value(input, bytes_of(input));
        let why = match copy.text_attr(attr::SPYRE_FOR_LOOP) {
            "" if copy.attr(attr::SPYRE_FOR_LAYOUT).is_some() => "an op cannot read its layout",
            "" if to.memory == "lx" && from.place.memory != "lx" => "ops read it from LX",
            "" => "the program requests it",
            why => why,
        };
        Some(Copied { op: self.numbers.of(copy)?, from, bytes: bytes_of(copy.output()), why: why.to_owned(), to })
    }

    /// Describes a value by the op that completes it, and the place of its buffer.
    fn value(&self, value: Value<'c>, bytes: i64) -> LoopValue {
        let home = home_of(value);
        let writer = last_writer_of(home);
        let name = match (home.arg_of(), writer.and_then(ComputeOp::of)) {
            (Some((_, number)), _) => format!("arg{number}"),
            (None, Some(compute)) => compute.function().to_owned(),
            (None, None) if writer.is_some_and(|writer| writer.is(spyre::CONSTANT)) => "constant".to_owned(),
            (None, None) => "buffer written by several ops".to_owned(),
        };
        let place = place_of(owner_of(home).and_then(Place::on));
        LoopValue { name, op: writer.and_then(|writer| self.numbers.of(writer)), bytes, place }
    }

    /// Returns the value outside of the loop that `value` is read from: the untiled value, or the tile that an outer
    /// loop reads.
    fn part_outside(&self, value: Value<'c>) -> Value<'c> {
        let mut value = value;
        while self.is_inside(value) || bytes_of(value) == 0 {
            let tile = || {
                let around = value.arg_of()?.0.parent_operation()?;
                read_tiles(around).into_iter().find(|read| read.tile == value).map(|read| read.whole)
            };
            let view = || value.def().filter(|def| def.is(spyre::VIEW)).map(|view| view.inputs()[0]);
            let Some(behind) = tile().or_else(view) else { break };
            value = behind;
        }
        value
    }

    /// Returns whether a value is defined in the loop, or is an argument of its body.
    fn is_inside(&self, value: Value<'c>) -> bool {
        let around = value.def().map_or_else(|| value.arg_of()?.0.parent_operation(), |def| def.parent());
        std::iter::successors(around, |op| op.parent()).any(|around| around == self.op)
    }
}

/// Returns whether a loop tiles an iteration dimension with these names, joined by `*`: a loop tiles the dimension of
/// its name in every op.
fn is_cut_by(names: &str, around: Op<'_>) -> bool {
    let dim = around.text_attr(attr::DIM);
    !dim.is_empty() && names.split('*').any(|name| name == dim)
}

fn count_of(around: Op<'_>) -> i64 {
    around.required("count", integer)
}

/// Returns whether a copy is the initial value of an accumulator.
fn begins_accumulator(copy: Op<'_>) -> bool {
    let loops = copy.output().users().into_iter().filter(|user| user.is(spyre::LOOP));
    loops.flat_map(carried_by).any(|carried| carried.before == copy.output())
}

/// Returns whether a copy moves the final value of an accumulator.
fn copies_accumulator(copy: Op<'_>) -> bool {
    copy.attr(attr::SPYRE_FOR_LOOP).is_some() && copy.inputs()[0].def().is_some_and(|def| def.is(spyre::LOOP))
}

/// Returns the bytes of a value as a compact buffer; of a window, without the surrounding buffer.
fn bytes_of(value: Value<'_>) -> i64 {
    let Some(tensor) = Tensor::of(value.r#type()) else { return 0 };
    let Some(layout) = &tensor.layout else { return 0 };
    tensor.clone().plain().compact_layout().and_then(Result::ok).as_ref().unwrap_or(layout).bytes()
}
