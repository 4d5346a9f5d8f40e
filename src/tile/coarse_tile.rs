//! `spyre-coarse-tile`: runs hinted groups of ops tile by tile.
//!
//! Reads `hints`, `dims` and layouts; writes nested `spyre.loop`s with the ops of each group in them. A value that only the group uses
//! gets a compact layout of its own; a value that others read is a window of its full buffer, which the loop gives.

use super::{Cut, GroupOp, Nest, TensorUse, groups};
use crate::{
    dialect::{Access, ComputeOp, Tensor, TileHint, loop_nest, tile_type, yield_tiles},
    layout::HostTensor,
    mlir::{
        BlockExt, Location, Op, OpExt, Options, Pass, Reported, Type, Value, ValueExt, ValueLike, error_at, insert_before, new_block, push,
    },
};

pub(crate) const PASS: Pass = Pass { argument: "spyre-coarse-tile", run };

fn run(module: Op<'_>, _options: &Options) -> Result<(), Reported> {
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        let ops = ComputeOp::all_in(function);
        // Ops of different blocks are no group, however alike their hints are.
        let mut blocks: Vec<Option<Op<'_>>> = Vec::new();
        let hints: Vec<Vec<(usize, TileHint)>> = ops
            .iter()
            .map(|op| {
                let block = blocks.iter().position(|known| *known == op.op.parent()).unwrap_or_else(|| {
                    blocks.push(op.op.parent());
                    blocks.len() - 1
                });
                op.hints().into_iter().map(|hint| (block, hint)).collect()
            })
            .collect();
        for group in groups(&hints) {
            let hints: Vec<TileHint> = group.hints.into_iter().map(|(_, hint)| hint).collect();
            Tiler::new(&hints, &ops[group.ops])?.build()?;
        }
        for op in &ops {
            op.op.remove_attr("hints");
        }
    }
    Ok(())
}

struct Tiler<'a, 'c> {
    levels: Vec<(String, i64)>,
    ops: &'a [ComputeOp<'c>],
    accesses: Vec<Vec<Access<'c>>>,
    nest: Nest,
}

/// A value with what it becomes, level by level.
struct Tiled<'c> {
    full: Value<'c>,
    cut: Cut,
    now: Value<'c>,
}

impl<'a, 'c> Tiler<'a, 'c> {
    fn new(hints: &[TileHint], ops: &'a [ComputeOp<'c>]) -> Result<Self, Reported> {
        let levels: Vec<(String, i64)> = hints.iter().map(|hint| (hint.dim.clone(), hint.count)).collect();
        let mut accesses = Vec::with_capacity(ops.len());
        for op in ops {
            if op.is_insert() {
                return Err(error_at(op.op, "writes a part of a buffer in a tiled group: not supported yet").report());
            }
            let of_op = op.accesses().map_err(|message| error_at(op.op, message).report())?;
            if op.op.inputs().iter().zip(&of_op).any(|(input, access)| *input != access.value) {
                return Err(error_at(op.op, "reads a tensor under other indices in a tiled group: not supported yet").report());
            }
            accesses.push(of_op);
        }
        let mut values: Vec<Value<'c>> = Vec::new();
        let group: Vec<GroupOp> = ops.iter().zip(&accesses).map(|(op, of_op)| group_op(*op, of_op, &mut values)).collect();
        let nest = Nest::plan(&levels, &group).map_err(|error| error_at(ops[error.op()].op, &error).report())?;
        Ok(Self { levels, ops, accesses, nest })
    }

    fn build(&self) -> Result<(), Reported> {
        let first = self.ops[0].op;
        let location = first.loc();
        let yielded = self.yielded()?;
        self.move_others_before();
        let mut tiled = self.tiled_operands();
        let mut loops: Vec<Op<'c>> = Vec::new();
        for level in 0..self.levels.len() {
            let around = self.insert_loop(level, location, loops.last().copied(), &mut tiled, &yielded)?;
            loops.push(around);
        }
        let Some(innermost) = loops.last().and_then(|around| around.body()) else { return Ok(()) };
        for (op, cuts) in self.ops.iter().zip(&self.nest.cuts) {
            op.op.move_to_end(innermost);
            self.use_tiles(*op, cuts, &tiled);
        }
        self.retype_results(&yielded)?;
        self.close(&loops, location, &yielded);
        Ok(())
    }

    /// Constants and the like that stand between the ops of the group come first: the loop takes the place of the first op.
    fn move_others_before(&self) {
        let (Some(first), Some(last)) = (self.ops.first(), self.ops.last()) else { return };
        let Some(block) = first.op.parent() else { return };
        let between = block.body_ops().into_iter().skip_while(|op| *op != first.op).take_while(|op| *op != last.op);
        for other in between.filter(|op| !self.contains(*op)) {
            if other.inputs().iter().all(|input| input.def().is_none_or(|def| !self.contains(def))) {
                other.move_to_before(first.op);
            }
        }
    }

    /// The results that others read, by position of the op; each must be cut at every level.
    fn yielded(&self) -> Result<Vec<usize>, Reported> {
        let mut found = Vec::new();
        for (position, op) in self.ops.iter().enumerate() {
            let Some(reader) = op.op.output().users().into_iter().find(|user| !self.contains(*user)) else { continue };
            if let Some(level) = self.result_cut(position).iter().position(Option::is_none) {
                let message = format!(
                    "has no dimension '{}', so every iteration makes the same result, but it is used outside the loop: not supported yet",
                    self.levels[level].0
                );
                return Err(error_at(op.op, message).note(reader, "used here").report());
            }
            found.push(position);
        }
        Ok(found)
    }

    fn contains(&self, op: Op<'c>) -> bool {
        self.ops.iter().any(|other| other.op == op)
    }

    fn result_cut(&self, position: usize) -> &Cut {
        // Every op has a result, whose cut stands last.
        &self.nest.cuts[position][self.nest.cuts[position].len() - 1]
    }

    /// The tensors from outside, once per way of cutting them.
    fn tiled_operands(&self) -> Vec<Tiled<'c>> {
        let mut tiled: Vec<Tiled<'c>> = Vec::new();
        for (op, cuts) in self.ops.iter().zip(&self.nest.cuts) {
            for (full, cut) in op.op.inputs().into_iter().zip(cuts) {
                let is_inside = full.def().is_some_and(|def| self.contains(def));
                let is_known = tiled.iter().any(|other| other.full == full && other.cut == *cut);
                if !is_inside && !is_known && cut.iter().any(Option::is_some) {
                    tiled.push(Tiled { full, cut: cut.clone(), now: full });
                }
            }
        }
        tiled
    }

    fn insert_loop(
        &self,
        level: usize,
        location: Location<'c>,
        around: Option<Op<'c>>,
        tiled: &mut [Tiled<'c>],
        yielded: &[usize],
    ) -> Result<Op<'c>, Reported> {
        let context = self.ops[0].op.ctx();
        let (name, count) = &self.levels[level];
        let mut operands = Vec::new();
        let mut arguments = Vec::new();
        for tile in tiled.iter().filter(|tile| tile.cut[level].is_some()) {
            let dim = tile.cut[level].unwrap_or(0);
            operands.push((tile.now, i64::try_from(dim).unwrap_or(0)));
            arguments.push(self.tile_type(tile.now.r#type(), dim, *count)?);
        }
        let outputs = yielded.iter().map(|&position| self.type_at(position, level)).collect::<Result<Vec<_>, _>>()?;
        let nest = loop_nest(context, location, (name, *count), &operands, &outputs, new_block(&arguments, location));
        let built = match around {
            None => insert_before(self.ops[0].op, nest),
            Some(around) => push(around, nest),
        };
        let arguments = built.body().map(BlockExt::args).unwrap_or_default();
        for (tile, argument) in tiled.iter_mut().filter(|tile| tile.cut[level].is_some()).zip(arguments) {
            tile.now = argument;
        }
        Ok(built)
    }

    fn tile_type(&self, full: Type<'c>, dim: usize, count: i64) -> Result<Type<'c>, Reported> {
        let refuse = || error_at(self.ops[0].op, format_args!("cannot cut dimension {dim} of {full} into {count} tiles")).report();
        tile_type(full, dim, count).ok_or_else(refuse)
    }

    /// The type of an op's result as the loop at `level` gives it: the window that the levels outside it leave.
    fn type_at(&self, position: usize, level: usize) -> Result<Type<'c>, Reported> {
        let mut now = self.ops[position].op.output().r#type();
        for (cut, (_, count)) in self.result_cut(position).iter().zip(&self.levels).take(level) {
            if let Some(dim) = cut {
                now = self.tile_type(now, *dim, *count)?;
            }
        }
        Ok(now)
    }

    fn use_tiles(&self, op: ComputeOp<'c>, cuts: &[Cut], tiled: &[Tiled<'c>]) {
        for (index, full) in op.op.inputs().into_iter().enumerate() {
            if let Some(tile) = tiled.iter().find(|tile| tile.full == full && tile.cut == cuts[index]) {
                op.op.set_input(index, tile.now);
            }
        }
    }

    /// A window for what is yielded, a compact tensor for the rest.
    fn retype_results(&self, yielded: &[usize]) -> Result<(), Reported> {
        for (position, op) in self.ops.iter().enumerate() {
            let window = self.type_at(position, self.levels.len())?;
            let output = op.op.output();
            let refuse = |message: String| error_at(op.op, message).report();
            self.check_sticks(position).map_err(refuse)?;
            let tile = if yielded.contains(&position) { window } else { compact(output.r#type(), window, op.op).map_err(refuse)? };
            output.retype(tile);
        }
        Ok(())
    }

    /// A tile must not end inside a stick of a tensor that it is a window of.
    fn check_sticks(&self, position: usize) -> Result<(), String> {
        for (access, cut) in self.accesses[position].iter().zip(&self.nest.cuts[position]) {
            let mut sizes = access.tensor.host.shape.clone();
            for (dim, (_, count)) in cut.iter().zip(&self.levels).filter_map(|(dim, level)| dim.map(|dim| (dim, level))) {
                sizes[dim] /= count;
            }
            let buffer = access.tensor.buffer().map_err(|error| error.to_string())?;
            access.layout()?.of_tile(&buffer, &sizes).map_err(|error| error.to_string())?;
        }
        Ok(())
    }

    /// Yields from inside to outside, and hands the results of the outermost loop to the readers.
    fn close(&self, loops: &[Op<'c>], location: Location<'c>, yielded: &[usize]) {
        let context = self.ops[0].op.ctx();
        for (level, around) in loops.iter().enumerate().rev() {
            let values: Vec<(Value<'c>, i64)> = yielded
                .iter()
                .enumerate()
                .map(|(index, &position)| {
                    let value = loops.get(level + 1).map_or_else(|| self.ops[position].op.output(), |inner| inner.outputs()[index]);
                    (value, self.result_cut(position)[level].and_then(|dim| i64::try_from(dim).ok()).unwrap_or(0))
                })
                .collect();
            push(*around, yield_tiles(context, location, &values));
        }
        let Some(outermost) = loops.first() else { return };
        for (&position, result) in yielded.iter().zip(outermost.outputs()) {
            let value = self.ops[position].op.output();
            let is_inside = |user: &Op<'c>| self.contains(*user) || user.parent().is_some_and(|around| loops.contains(&around));
            for user in value.users().into_iter().filter(|user| !is_inside(user)) {
                for (index, _) in user.inputs().iter().enumerate().filter(|(_, input)| **input == value) {
                    user.set_input(index, result);
                }
            }
        }
    }
}

fn group_op<'c>(op: ComputeOp<'c>, accesses: &[Access<'c>], values: &mut Vec<Value<'c>>) -> GroupOp {
    let mut tensors: Vec<TensorUse> = accesses
        .iter()
        .map(|access| {
            let known = values.iter().position(|value| *value == access.value);
            let value = known.unwrap_or_else(|| {
                values.push(access.value);
                values.len() - 1
            });
            TensorUse { value, dims: access.dims.clone() }
        })
        .collect();
    // Every op has a result, whose access stands last.
    let output = tensors.remove(tensors.len() - 1);
    GroupOp { names: op.dim_names(), sizes: op.iteration_space(), n_reduced: op.n_reduced(), inputs: tensors, output }
}

/// The type of a tile that is a tensor of its own.
fn compact<'c>(full: Type<'c>, window: Type<'c>, op: Op<'c>) -> Result<Type<'c>, String> {
    let (Some(full), Some(tile)) = (Tensor::of(full), Tensor::of(window)) else { return Ok(window) };
    let layout = full.layout.as_ref().ok_or("has a result without a device layout")?;
    let host = HostTensor::row_major(&full.host.shape).map_err(|error| error.to_string())?;
    let layout = layout.of_tile(&host, &tile.host.shape).map_err(|error| error.to_string())?;
    Ok(tile.with_layout(op.ctx(), &layout, None))
}
