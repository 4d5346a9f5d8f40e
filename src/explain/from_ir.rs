//! Describes the loops of a function for the report. Reads the IR after memory is assigned; op specs are not needed.

use super::{Accumulator, LoopCopyReport, LoopOpReport, LoopValue, TileLoop, TiledDimReport, ValueLocation};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{
        ComputeOp, DeviceTensor, LoopCarriedValue, MemoryLocation, MemoryPlacement, base_buffer_of, find_last_writer,
        loop_carried_values, placement_owner_of, tiled_inputs, tiled_outputs, window_strides,
    },
    mlir::{BlockLike, Op, OpExt, Value, ValueExt, ValueLike, ValueMap, format_location, integer, string},
};

/// Positions of ops in the report's list, keyed by their results.
#[derive(Default)]
pub(crate) struct OpPositions {
    by_result: ValueMap<usize>,
    n_ops: usize,
}

impl OpPositions {
    /// Assigns the next number to an op.
    pub(crate) fn add(&mut self, compute: ComputeOp<'_>) {
        self.by_result.insert(compute.op.output(), self.n_ops);
        self.n_ops += 1;
    }

    fn position(&self, op: Op<'_>) -> Option<usize> {
        ComputeOp::from_op(op).and_then(|compute| self.by_result.get(compute.op.output()).copied())
    }
}

/// Describes the location of a value. A value without a placement is in HBM.
pub(crate) fn describe_place(place: Option<MemoryPlacement>) -> ValueLocation {
    let (memory, lx_offset_bytes) = match place.as_ref().map(|place| place.memory) {
        Some(MemoryLocation::Lx(offset_bytes)) => ("lx", Some(offset_bytes)),
        Some(MemoryLocation::Pool(_)) => ("pool", None),
        Some(MemoryLocation::Hbm) | None => ("hbm", None),
    };
    ValueLocation { memory, lx_offset_bytes, reason: place.map(|place| place.reason).unwrap_or_default() }
}

/// Returns the loops in the body of `around`, in order. The byte counts are 0 until [`super::sum_loop_bytes`] sets
/// them.
pub(crate) fn describe_loops(around: Op<'_>, numbers: &OpPositions) -> Vec<TileLoop> {
    let loops = around.body_ops().into_iter().filter(|op| op.is(spyre::LOOP));
    loops.map(|op| TileLoopReader { op, numbers, ops: ComputeOp::collect_in(op) }.read()).collect()
}

/// Reader of one loop.
struct TileLoopReader<'a, 'c> {
    op: Op<'c>,
    numbers: &'a OpPositions,
    /// Ops in the loop, including those of inner loops.
    ops: Vec<ComputeOp<'c>>,
}

impl<'c> TileLoopReader<'_, 'c> {
    fn read(&self) -> TileLoop {
        TileLoop {
            dim: self.op.text_attr(attr::DIM).to_owned(),
            count: tile_count(self.op),
            symbol: self.op.attr(attr::SYMBOL).and_then(string).map(str::to_owned),
            location: format_location(self.op.loc()),
            why: self.explain_separation(),
            ops: self.ops.iter().filter_map(|compute| self.describe_op(*compute)).collect(),
            tiles_read: tiled_inputs(self.op)
                .into_iter()
                .map(|read| self.describe_value(read.whole, compact_bytes(read.tile)))
                .collect(),
            invariant: self.collect_invariants(),
            local: self.collect_locals(),
            accumulators: loop_carried_values(self.op)
                .into_iter()
                .map(|carried| self.describe_accumulator(carried))
                .collect(),
            given: tiled_outputs(self.op)
                .into_iter()
                .map(|given| self.describe_value(given.tile, compact_bytes(given.tile)))
                .collect(),
            copied: self.collect_copies(),
            loops: describe_loops(self.op, self.numbers),
            ..TileLoop::default()
        }
    }

    fn describe_op(&self, compute: ComputeOp<'c>) -> Option<LoopOpReport> {
        let loops = compute.enclosing_loops();
        let inner = loops.iter().skip_while(|around| **around != self.op).skip(1);
        let inner: Vec<Op<'c>> = inner.copied().collect();
        let (names, sizes) = (compute.dim_names(), compute.iteration_space());
        let cuts = names.into_iter().zip(sizes).filter(|(names, _)| is_tiled_by(names, self.op)).map(|(dim, size)| {
            let count: i64 =
                inner.iter().filter(|around| is_tiled_by(&dim, **around)).map(|around| tile_count(*around)).product();
            TiledDimReport { tile: size * count, dim }
        });
        Some(LoopOpReport {
            op: self.numbers.position(compute.op)?,
            function: compute.function().to_owned(),
            cuts: cuts.collect(),
        })
    }

    /// Explains why the loop is separate from an earlier loop over the same tiles: its ops need the complete value that
    /// the earlier loop accumulates. Empty if there is no such loop.
    fn explain_separation(&self) -> String {
        let is_alike = |other: Op<'c>| {
            let same = |name: &str| other.attr(name) == self.op.attr(name);
            other.is(spyre::LOOP)
                && other != self.op
                && other.parent() == self.op.parent()
                && same("dim")
                && same("count")
        };
        let adds_up = |value: Value<'c>| {
            let around = value.def().filter(|def| is_alike(*def))?;
            loop_carried_values(around).into_iter().find(|carried| carried.result == value)
        };
        let mut needed: Vec<String> = Vec::new();
        for home in self.collect_read_buffers() {
            // Looks through a copy of the complete value.
            let copied = home.def().filter(|def| def.attr(attr::SPYRE_FOR_LOOP).is_some()).map(|copy| copy.inputs()[0]);
            let Some(carried) = adds_up(copied.unwrap_or(home)) else { continue };
            let value = self.describe_value(carried.result, 0);
            needed.push(format!("'{}'{}", value.name, value.op.map_or_else(String::new, |op| format!(" (op {op})"))));
        }
        if needed.is_empty() {
            return String::new();
        }
        let (noun, verb) = if needed.len() == 1 { ("value", "is") } else { ("values", "are") };
        format!(
            "needs the complete {noun} {}, which {verb} available only after the previous loop",
            needed.join(" and ")
        )
    }

    /// Returns the base buffers from outside of the loop that the loop reads, each once.
    fn collect_read_buffers(&self) -> Vec<Value<'c>> {
        let mut known: ValueMap<()> = ValueMap::default();
        let read = self.ops.iter().flat_map(|compute| compute.read_operands()).map(base_buffer_of);
        read.filter(|home| !self.is_inside(*home) && known.insert(*home, ()).is_none()).collect()
    }

    fn collect_invariants(&self) -> Vec<LoopValue> {
        let mut known: ValueMap<()> = ValueMap::default();
        for carried in loop_carried_values(self.op) {
            known.insert(base_buffer_of(carried.result), ());
        }
        let mut found = Vec::new();
        for read in self.ops.iter().flat_map(|compute| compute.read_operands()) {
            let home = base_buffer_of(read);
            let moves = window_strides(read).unwrap_or_default().into_iter().any(|moved| moved.around == self.op);
            if !moves && !self.is_inside(home) && known.insert(home, ()).is_none() {
                found.push(self.describe_value(home, compact_bytes(self.outer_value(read))));
            }
        }
        found
    }

    /// Returns the values whose buffers are local to an iteration, each once.
    fn collect_locals(&self) -> Vec<LoopValue> {
        let mut known: ValueMap<()> = ValueMap::default();
        let homes = self.ops.iter().map(|compute| base_buffer_of(compute.op.output()));
        homes
            .filter(|home| home.def().and_then(OpExt::parent) == Some(self.op) && known.insert(*home, ()).is_none())
            .map(|home| self.describe_value(home, compact_bytes(home)))
            .collect()
    }

    fn describe_accumulator(&self, carried: LoopCarriedValue<'c>) -> Accumulator {
        let neutral_element = carried.before.def().and_then(|def| self.numbers.position(def));
        Accumulator { value: self.describe_value(carried.argument, compact_bytes(carried.argument)), neutral_element }
    }

    fn collect_copies(&self) -> Vec<LoopCopyReport> {
        let body = self.op.body_ops().into_iter().filter(|op| op.is(spyre::COPY));
        // A copy that initializes an accumulator with the neutral element moves no value of the program. A copy of an
        // accumulator follows its loop, and is added below.
        let in_body = body.filter(|op| !initializes_accumulator(*op) && !copies_accumulator(*op));
        let after = loop_carried_values(self.op).into_iter().flat_map(|carried| carried.result.users());
        in_body
            .chain(after.filter(|user| copies_accumulator(*user)))
            .filter_map(|copy| self.describe_copy(copy))
            .collect()
    }

    fn describe_copy(&self, copy: Op<'c>) -> Option<LoopCopyReport> {
        let (input, to) = (copy.inputs()[0], describe_place(ComputeOp::from_op(copy)?.placement()));
        let from = self.describe_value(input, compact_bytes(input));
        let why = match copy.text_attr(attr::SPYRE_FOR_LOOP) {
            "" if copy.attr(attr::SPYRE_FOR_LAYOUT).is_some() => "an op cannot read its layout",
            "" if to.memory == "lx" && from.place.memory != "lx" => "ops read it from LX",
            "" => "the program requests it",
            why => why,
        };
        Some(LoopCopyReport {
            op: self.numbers.position(copy)?,
            from,
            bytes: compact_bytes(copy.output()),
            why: why.to_owned(),
            to,
        })
    }

    /// Describes a value by the op that completes it, and by the location of its buffer.
    fn describe_value(&self, value: Value<'c>, bytes: i64) -> LoopValue {
        let home = base_buffer_of(value);
        let writer = find_last_writer(home);
        let name = match (home.as_block_arg(), writer.and_then(ComputeOp::from_op)) {
            (Some((_, number)), _) => format!("arg{number}"),
            (None, Some(compute)) => compute.function().to_owned(),
            (None, None) if writer.is_some_and(|writer| writer.is(spyre::CONSTANT)) => "constant".to_owned(),
            (None, None) => "buffer written by several ops".to_owned(),
        };
        let place = describe_place(placement_owner_of(home).and_then(MemoryPlacement::from_op));
        LoopValue { name, op: writer.and_then(|writer| self.numbers.position(writer)), bytes, place }
    }

    /// Returns the value outside of the loop that `value` is read from: the untiled value, or the tile that an outer
    /// loop reads.
    fn outer_value(&self, value: Value<'c>) -> Value<'c> {
        let mut value = value;
        while self.is_inside(value) || compact_bytes(value) == 0 {
            let tile = || {
                let around = value.as_block_arg()?.0.parent_operation()?;
                tiled_inputs(around).into_iter().find(|read| read.tile == value).map(|read| read.whole)
            };
            let view = || value.def().filter(|def| def.is(spyre::VIEW)).map(|view| view.inputs()[0]);
            let Some(after) = tile().or_else(view) else { break };
            value = after;
        }
        value
    }

    /// Returns whether a value is defined in the loop, or is an argument of its body.
    fn is_inside(&self, value: Value<'c>) -> bool {
        let around = value.def().map_or_else(|| value.as_block_arg()?.0.parent_operation(), |def| def.parent());
        std::iter::successors(around, |op| op.parent()).any(|around| around == self.op)
    }
}

/// Returns whether a loop tiles an iteration dimension with these names, joined by `*`: a loop tiles the dimension of
/// its name in every op.
fn is_tiled_by(names: &str, around: Op<'_>) -> bool {
    let dim = around.text_attr(attr::DIM);
    !dim.is_empty() && names.split('*').any(|name| name == dim)
}

fn tile_count(around: Op<'_>) -> i64 {
    around.required_attr("count", integer)
}

/// Returns whether a copy is the initial value of an accumulator.
fn initializes_accumulator(copy: Op<'_>) -> bool {
    let loops = copy.output().users().into_iter().filter(|user| user.is(spyre::LOOP));
    loops.flat_map(loop_carried_values).any(|carried| carried.before == copy.output())
}

/// Returns whether a copy moves the final value of an accumulator.
fn copies_accumulator(copy: Op<'_>) -> bool {
    copy.attr(attr::SPYRE_FOR_LOOP).is_some() && copy.inputs()[0].def().is_some_and(|def| def.is(spyre::LOOP))
}

/// Returns the bytes of a value as a compact buffer; of a window, without the surrounding buffer.
fn compact_bytes(value: Value<'_>) -> i64 {
    let Some(tensor) = DeviceTensor::from_type(value.r#type()) else { return 0 };
    let Some(layout) = &tensor.layout else { return 0 };
    tensor.clone().into_program_tensor().compact_layout().and_then(Result::ok).as_ref().unwrap_or(layout).bytes()
}
