//! Ops of a block, as the tiling algorithm sees them.

use super::combination::combination;
use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{Assembly, ComputeOp, Tensor, TileHint, behind_views, plain_view},
    hint::{CountError, maximum_of},
    mlir::{Op, OpExt, Reported, Value, ValueExt, ValueLike, ValueMap, error_at, error_behind, remark_behind, shape_of},
    tile::{Operand, TiledOp, cut::Level},
};
use program::Count;
use program::layout::DeviceLayout;
use std::collections::{BTreeMap, BTreeSet};

/// View between an operand and its defining op.
#[derive(Clone)]
pub(crate) struct Shown<'c> {
    pub(crate) view: Op<'c>,
    /// For each of its dimensions, the dimension of its input that is tiled with it.
    pub(crate) behind: Vec<Option<usize>>,
}

/// Operand that an op reads, with its value.
pub(crate) struct Read<'c> {
    /// Op that reads the operand; for a value that several inserts assemble, the insert that reads it.
    pub(crate) reader: Op<'c>,
    /// Index of the operand.
    pub(crate) position: usize,
    pub(crate) value: Value<'c>,
    /// Number of the value; equal values have equal numbers.
    pub(crate) number: usize,
    /// Views between the defining op's result and the reader, outermost first.
    pub(crate) views: Vec<Shown<'c>>,
    /// Value behind the views, with its number; for values from outside that are also read through other views.
    pub(crate) source: Option<(Value<'c>, usize)>,
}

/// Op or loop of a block, with its operands. A value that inserts assemble is one item, whose op is the last insert.
pub(crate) struct Item<'c> {
    pub(crate) op: Op<'c>,
    /// Inserts that assemble the value.
    pub(crate) assembly: Option<Assembly<'c>>,
    /// None for a loop that existed before.
    pub(crate) compute: Option<ComputeOp<'c>>,
    pub(crate) reads: Vec<Read<'c>>,
}

/// Ops and loops of a block.
pub(crate) struct Items<'c> {
    pub(crate) list: Vec<Item<'c>>,
    /// Plain description of each item, without IR.
    pub(crate) plain: Vec<TiledOp>,
    makers: ValueMap<usize>,
    numbers: ValueMap<usize>,
    n_values: usize,
}

impl<'c> Items<'c> {
    pub(crate) fn of(around: Op<'c>, maxima: &BTreeMap<String, i64>) -> Result<Self, Reported> {
        let mut items =
            Self { list: Vec::new(), plain: Vec::new(), makers: ValueMap::default(), numbers: ValueMap::default(), n_values: 0 };
        let mut parts: ValueMap<()> = ValueMap::default();
        let assemblies: Vec<Assembly<'c>> = around.body_ops().into_iter().filter_map(Assembly::of).collect();
        for insert in assemblies.iter().flat_map(Assembly::others) {
            parts.insert(insert.output(), ());
        }
        let mut assemblies = assemblies.into_iter().peekable();
        for op in around.body_ops() {
            if let Some(assembly) = assemblies.next_if(|assembly| assembly.last() == op) {
                items.add_assembly(assembly, maxima)?;
                continue;
            }
            match ComputeOp::of(op) {
                Some(_) if parts.get(op.output()).is_some() => {}
                Some(compute) => items.add_compute(compute, maxima)?,
                None if !op.outputs().is_empty() && op.body().is_some() => items.add_opaque(op),
                None => {}
            }
        }
        items.find_sources();
        items.compute_again_what_is_read_in_loops_alone(around);
        Ok(items)
    }

    fn add_compute(&mut self, compute: ComputeOp<'c>, maxima: &BTreeMap<String, i64>) -> Result<(), Reported> {
        let mut levels = levels_of(compute, maxima)?;
        let again = compute.hints().iter().filter(|hint| hint.again).map(|hint| hint.id).collect();
        if compute.is_insert() && !levels.is_empty() {
            remark_behind(
                codes::LAYOUT_VIEW,
                compute.op,
                "not tiled: the op writes a slice of a larger buffer, and runs between the loops",
            )
            .emit();
            levels.clear();
        }
        if !levels.is_empty() {
            compute.accesses().map_err(|message| error_at(codes::LAYOUT_VIEW, compute.op, message).report())?;
        }
        let n_reads = compute.reads().len();
        let mut plain = TiledOp {
            names: compute.dim_names().iter().map(|names| names_of(names)).collect(),
            sizes: compute.iteration_space(),
            n_reduced: compute.n_reduced(),
            levels,
            again,
            inputs: Vec::new(),
            output: compute.operand_dims(n_reads),
            combines: combination(compute).is_some(),
        };
        let mut reads = Vec::new();
        for position in 0..compute.op.inputs().len() {
            let read = self.read(compute.op, position);
            let dims = if position < n_reads { compute.operand_dims(position) } else { Vec::new() };
            plain.inputs.push(self.operand(&read, dims));
            reads.push(read);
        }
        self.push(Item { op: compute.op, assembly: None, compute: Some(compute), reads }, plain);
        Ok(())
    }

    /// Creates the item of a value that inserts assemble: an op over the dimensions of the value that reads all slices.
    fn add_assembly(&mut self, assembly: Assembly<'c>, maxima: &BTreeMap<String, i64>) -> Result<(), Reported> {
        let op = assembly.last();
        let compute = ComputeOp::of(op).ok_or_else(|| error_at(codes::MALFORMED_IR, op, "is no compute op").report())?;
        let levels = levels_of(compute, maxima)?;
        let whole_dims = assembly.whole_dims();
        let mut names: Vec<Vec<String>> = compute.dim_names().iter().map(|names| names_of(names)).collect();
        for (dim, names) in names.iter_mut().enumerate().filter(|(dim, _)| !whole_dims[*dim]) {
            if let Some(level) = levels.iter().find(|level| names.contains(&level.name)) {
                let name = &level.name;
                remark_behind(
                    codes::TILE_OUTSIDE,
                    op,
                    format_args!("not tiled along '{name}': the op joins slices along dimension {dim}, and runs outside of that loop"),
                )
                .emit();
            }
            names.clear();
        }
        let dims: Vec<Option<usize>> = whole_dims.iter().enumerate().map(|(dim, is_whole)| is_whole.then_some(dim)).collect();
        let reads: Vec<Read<'c>> = assembly.inserts.iter().map(|insert| self.read(*insert, 0)).collect();
        let plain = TiledOp {
            names,
            sizes: shape_of(op.output()),
            levels,
            inputs: reads.iter().map(|read| self.operand(read, dims.clone())).collect(),
            output: dims,
            ..TiledOp::default()
        };
        self.push(Item { op, assembly: Some(assembly), compute: Some(compute), reads }, plain);
        Ok(())
    }

    /// Creates the item of a loop that existed before; it stays unchanged.
    fn add_opaque(&mut self, op: Op<'c>) {
        let reads: Vec<Read<'c>> = op
            .nested()
            .into_iter()
            .flat_map(|reader| (0..reader.inputs().len()).map(move |position| (reader, position)))
            .map(|(reader, position)| self.read(reader, position))
            .collect();
        let inputs = reads.iter().map(|read| self.operand(read, Vec::new())).collect();
        self.push(Item { op, assembly: None, compute: None, reads }, TiledOp { inputs, ..TiledOp::default() });
    }

    /// Only elementwise ops can be recomputed tile by tile, and results of the block are computed once.
    fn compute_again_what_is_read_in_loops_alone(&mut self, around: Op<'c>) {
        let given: Vec<usize> = around.yielded().into_iter().filter_map(|value| self.maker(value)).collect();
        for (position, plain) in self.plain.iter_mut().enumerate() {
            if plain.n_reduced > 0 || given.contains(&position) {
                plain.again.clear();
            }
        }
    }

    fn push(&mut self, item: Item<'c>, plain: TiledOp) {
        for output in item.op.outputs() {
            self.makers.insert(output, self.list.len());
        }
        self.list.push(item);
        self.plain.push(plain);
    }

    /// Records the values from outside that are read through different views.
    fn find_sources(&mut self) {
        let mut read_as: ValueMap<BTreeSet<usize>> = ValueMap::default();
        let is_outside = |items: &Self, read: &Read<'c>| items.maker(read.value).is_none();
        for read in self.list.iter().flat_map(|item| &item.reads).filter(|read| is_outside(self, read)) {
            read_as.get_or_default(behind_views(read.value)).insert(read.number);
        }
        for op in 0..self.list.len() {
            for position in 0..self.list[op].reads.len() {
                let read = &self.list[op].reads[position];
                let (value, has_views) = (behind_views(read.value), !read.views.is_empty());
                if has_views && is_outside(self, read) && read_as.get(value).is_some_and(|numbers| numbers.len() > 1) {
                    let number = self.number(value);
                    self.list[op].reads[position].source = Some((value, number));
                }
            }
        }
    }

    fn number(&mut self, value: Value<'c>) -> usize {
        self.numbers.get(value).copied().unwrap_or_else(|| {
            self.n_values += 1;
            self.numbers.insert(value, self.n_values);
            self.n_values
        })
    }

    fn read(&mut self, reader: Op<'c>, position: usize) -> Read<'c> {
        let value = reader.inputs()[position];
        let number = self.number(value);
        let mut views = Vec::new();
        let mut made = value;
        while let Some(view) = made.def().filter(|def| def.is(spyre::VIEW)) {
            views.push(Shown { view, behind: cut_behind(view) });
            made = view.inputs()[0];
        }
        Read { reader, position, value, number, views, source: None }
    }

    fn operand(&self, read: &Read<'c>, dims: Vec<Option<usize>>) -> Operand {
        let through = |dim: usize| read.views.iter().try_fold(dim, |dim, shown| shown.behind.get(dim).copied().flatten());
        let behind = (0..dims.len()).map(through).collect();
        Operand { dims, maker: self.maker(read.value), behind }
    }

    /// Returns the op of the block that defines a value, traced through views.
    pub(crate) fn maker(&self, value: Value<'c>) -> Option<usize> {
        self.makers.get(behind_views(value)).copied()
    }
}

impl<'c> Item<'c> {
    /// Returns the ops that the item consists of: one, or the inserts that assemble a value.
    pub(crate) fn computes(&self) -> Vec<ComputeOp<'c>> {
        match &self.assembly {
            Some(assembly) => assembly.inserts.iter().filter_map(|insert| ComputeOp::of(*insert)).collect(),
            None => self.compute.into_iter().collect(),
        }
    }

    /// Returns the ops that move together with the op, in order, in front of it.
    pub(crate) fn others(&self) -> Vec<Op<'c>> {
        self.assembly.as_ref().map(Assembly::others).unwrap_or_default()
    }
}

/// Returns the levels that the hints of an op request, outermost first.
fn levels_of(compute: ComputeOp<'_>, maxima: &BTreeMap<String, i64>) -> Result<Vec<Level>, Reported> {
    let levels: Result<Vec<Level>, CountError> = compute.hints().into_iter().map(|hint| level_of(hint, maxima)).collect();
    levels.map_err(|error| error_behind(error.code(), compute.op, error).report())
}

/// Returns the level that a hint requests. For a symbolic count, the maximum of the count determines the tile size.
fn level_of(hint: TileHint, maxima: &BTreeMap<String, i64>) -> Result<Level, CountError> {
    let TileHint { id, dim, count, again: _ } = hint;
    let (count, symbol) = match count {
        Count::Number(count) => (count, None),
        Count::Symbol(symbol) => (maximum_of(&dim, &symbol, maxima)?, Some(symbol)),
    };
    Ok(Level { id, name: dim, count, symbol })
}

fn names_of(names: &str) -> Vec<String> {
    names.split('*').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Returns, for each dimension of a view, the dimension of its input that is tiled with it.
fn cut_behind(view: Op<'_>) -> Vec<Option<usize>> {
    let (Some(shown), Some(input)) = (Tensor::of(view.output().r#type()), Tensor::of(view.inputs()[0].r#type())) else {
        return Vec::new();
    };
    let rank = shown.host.shape.len();
    let Some(layout) = &shown.layout else {
        // The view only permutes the dimensions.
        let indices = plain_view(view).unwrap_or_default();
        let find = |dim: usize| {
            let mut same =
                indices.iter().enumerate().filter(|(_, (moving, _))| *moving == Some(dim)).map(|(behind, (_, first))| (behind, *first));
            same.next().filter(|&(behind, first)| first == 0 && input.host.shape[behind] == shown.host.shape[dim]).map(|(behind, _)| behind)
        };
        return (0..rank).map(find).collect();
    };
    // Both tilings select the same bytes if both split the same part of the device dimensions: 32 heads, and 8 groups of 4.
    let places = |tensor: &Tensor<'_>, layout: &DeviceLayout| {
        let places = tensor.buffer().and_then(|host| layout.cut_places(&host)).unwrap_or_default();
        places.into_iter().map(|place| place.map(|(size, stride)| size * stride)).collect::<Vec<Option<i64>>>()
    };
    let Some(input_layout) = &input.layout else { return vec![None; rank] };
    let (of_view, of_input) = (places(&shown, layout), places(&input, input_layout));
    let find = |dim: usize| {
        let place = of_view.get(dim).copied().flatten()?;
        of_input.iter().position(|&other| other == Some(place))
    };
    (0..rank).map(find).collect()
}
