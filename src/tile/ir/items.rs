//! Ops of a block, for the tiling algorithm.

use super::combination::find_combination;
use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{ComputeOp, DeviceTensor, InsertChain, TileHint, plain_view_indices, strip_views},
    hint::{CountError, declared_maximum},
    mlir::{
        ErrorReported, Op, OpExt, Value, ValueExt, ValueLike, ValueMap, error_at, error_at_location,
        remark_at_location, shape_of,
    },
    tile::{TiledOp, TiledOperand, level_tiling::LoopLevel},
};
use program::SymbolicCount;
use program::layout::DeviceLayout;
use std::collections::{BTreeMap, BTreeSet};

/// View between an operand and its defining op.
#[derive(Clone)]
pub(crate) struct TracedView<'c> {
    pub(crate) view: Op<'c>,
    /// For each of its dimensions, the dimension of its input that is tiled with it.
    pub(crate) source_dims: Vec<Option<usize>>,
}

/// Operand that an op reads, with its value.
pub(crate) struct ItemOperand<'c> {
    /// Op that reads the operand; for a value that several inserts assemble, the insert that reads it.
    pub(crate) reader: Op<'c>,
    /// Index of the operand.
    pub(crate) position: usize,
    pub(crate) value: Value<'c>,
    /// Number of the value; equal values have equal numbers.
    pub(crate) number: usize,
    /// Views between the defining op's result and the reader, outermost first.
    pub(crate) views: Vec<TracedView<'c>>,
    /// Value that all views are based on, with its number; for values from outside that are also read through other
    /// views.
    pub(crate) source: Option<(Value<'c>, usize)>,
}

/// Op or loop of a block, with its operands. A value that inserts assemble is one item, whose op is the last insert.
pub(crate) struct BlockItem<'c> {
    pub(crate) op: Op<'c>,
    /// Inserts that assemble the value.
    pub(crate) assembly: Option<InsertChain<'c>>,
    /// `None` for a loop that existed before.
    pub(crate) compute: Option<ComputeOp<'c>>,
    pub(crate) reads: Vec<ItemOperand<'c>>,
}

/// Ops and loops of a block.
pub(crate) struct BlockItems<'c> {
    pub(crate) list: Vec<BlockItem<'c>>,
    /// Plain description of each item, without IR.
    pub(crate) plain: Vec<TiledOp>,
    producers: ValueMap<usize>,
    numbers: ValueMap<usize>,
    num_values: usize,
}

impl<'c> BlockItems<'c> {
    pub(crate) fn from_block(around: Op<'c>, maxima: &BTreeMap<String, i64>) -> Result<Self, ErrorReported> {
        let mut items = Self {
            list: Vec::new(),
            plain: Vec::new(),
            producers: ValueMap::default(),
            numbers: ValueMap::default(),
            num_values: 0,
        };
        let mut parts: ValueMap<()> = ValueMap::default();
        let assemblies: Vec<InsertChain<'c>> =
            around.body_ops().into_iter().filter_map(InsertChain::from_last_insert).collect();
        for insert in assemblies.iter().flat_map(InsertChain::preceding_ops) {
            parts.insert(insert.output(), ());
        }
        let mut assemblies = assemblies.into_iter().peekable();
        for op in around.body_ops() {
            if let Some(assembly) = assemblies.next_if(|assembly| assembly.last_insert() == op) {
                items.add_assembly(assembly, maxima)?;
                continue;
            }
            match ComputeOp::from_op(op) {
                Some(_) if parts.get(op.output()).is_some() => {}
                Some(compute) => items.add_compute(compute, maxima)?,
                None if !op.outputs().is_empty() && op.body().is_some() => items.add_opaque(op),
                None => {}
            }
        }
        items.find_sources();
        items.clear_invalid_recomputation(around);
        Ok(items)
    }

    fn add_compute(&mut self, compute: ComputeOp<'c>, maxima: &BTreeMap<String, i64>) -> Result<(), ErrorReported> {
        let mut levels = collect_levels(compute, maxima)?;
        let again = compute.hints().iter().filter(|hint| hint.recomputes).map(|hint| hint.id).collect();
        if compute.is_insert() && !levels.is_empty() {
            remark_at_location(
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
        let num_reads = compute.read_operands().len();
        let mut plain = TiledOp {
            names: compute.dim_names().iter().map(|names| split_names(names)).collect(),
            sizes: compute.iteration_space(),
            num_reduced: compute.num_reduced_dims(),
            levels,
            again,
            inputs: Vec::new(),
            output: compute.operand_dims(num_reads),
            combines: find_combination(compute).is_some(),
        };
        let mut reads = Vec::new();
        for position in 0..compute.op.inputs().len() {
            let read = self.trace_operand(compute.op, position);
            let dims = if position < num_reads { compute.operand_dims(position) } else { Vec::new() };
            plain.inputs.push(self.to_tiled_operand(&read, dims));
            reads.push(read);
        }
        self.push(BlockItem { op: compute.op, assembly: None, compute: Some(compute), reads }, plain);
        Ok(())
    }

    /// Creates the item of a value that inserts assemble: an op over the dimensions of the value that reads all slices.
    fn add_assembly(&mut self, assembly: InsertChain<'c>, maxima: &BTreeMap<String, i64>) -> Result<(), ErrorReported> {
        let op = assembly.last_insert();
        let compute =
            ComputeOp::from_op(op).ok_or_else(|| error_at(codes::MALFORMED_IR, op, "is no compute op").report())?;
        let levels = collect_levels(compute, maxima)?;
        let whole_dims = assembly.spanned_dims();
        let mut names: Vec<Vec<String>> = compute.dim_names().iter().map(|names| split_names(names)).collect();
        for (dim, names) in names.iter_mut().enumerate().filter(|(dim, _)| !whole_dims[*dim]) {
            if let Some(level) = levels.iter().find(|level| names.contains(&level.name)) {
                let name = &level.name;
                remark_at_location(
                    codes::TILE_OUTSIDE,
                    op,
                    format_args!("not tiled along '{name}': the op joins slices along dimension {dim}, and runs outside of that loop"),
                )
                .emit();
            }
            names.clear();
        }
        let dims: Vec<Option<usize>> =
            whole_dims.iter().enumerate().map(|(dim, is_whole)| is_whole.then_some(dim)).collect();
        let reads: Vec<ItemOperand<'c>> =
            assembly.inserts.iter().map(|insert| self.trace_operand(*insert, 0)).collect();
        let plain = TiledOp {
            names,
            sizes: shape_of(op.output()),
            levels,
            inputs: reads.iter().map(|read| self.to_tiled_operand(read, dims.clone())).collect(),
            output: dims,
            ..TiledOp::default()
        };
        self.push(BlockItem { op, assembly: Some(assembly), compute: Some(compute), reads }, plain);
        Ok(())
    }

    /// Creates the item of a loop that existed before; it stays unchanged.
    fn add_opaque(&mut self, op: Op<'c>) {
        let reads: Vec<ItemOperand<'c>> = op
            .nested()
            .into_iter()
            .flat_map(|reader| (0..reader.inputs().len()).map(move |position| (reader, position)))
            .map(|(reader, position)| self.trace_operand(reader, position))
            .collect();
        let inputs = reads.iter().map(|read| self.to_tiled_operand(read, Vec::new())).collect();
        self.push(BlockItem { op, assembly: None, compute: None, reads }, TiledOp { inputs, ..TiledOp::default() });
    }

    /// Clears recomputation that is invalid: only elementwise ops can be recomputed tile by tile, and results of the
    /// block are computed once.
    fn clear_invalid_recomputation(&mut self, around: Op<'c>) {
        let given: Vec<usize> = around.yielded().into_iter().filter_map(|value| self.find_producer(value)).collect();
        for (position, plain) in self.plain.iter_mut().enumerate() {
            if plain.num_reduced > 0 || given.contains(&position) {
                plain.again.clear();
            }
        }
    }

    fn push(&mut self, item: BlockItem<'c>, plain: TiledOp) {
        for output in item.op.outputs() {
            self.producers.insert(output, self.list.len());
        }
        self.list.push(item);
        self.plain.push(plain);
    }

    /// Records the values from outside that are read through different views.
    fn find_sources(&mut self) {
        let mut read_as: ValueMap<BTreeSet<usize>> = ValueMap::default();
        let is_outside = |items: &Self, read: &ItemOperand<'c>| items.find_producer(read.value).is_none();
        for read in self.list.iter().flat_map(|item| &item.reads).filter(|read| is_outside(self, read)) {
            read_as.get_or_default(strip_views(read.value)).insert(read.number);
        }
        for op in 0..self.list.len() {
            for position in 0..self.list[op].reads.len() {
                let read = &self.list[op].reads[position];
                let (value, has_views) = (strip_views(read.value), !read.views.is_empty());
                if has_views && is_outside(self, read) && read_as.get(value).is_some_and(|numbers| numbers.len() > 1) {
                    let number = self.number_value(value);
                    self.list[op].reads[position].source = Some((value, number));
                }
            }
        }
    }

    fn number_value(&mut self, value: Value<'c>) -> usize {
        self.numbers.get(value).copied().unwrap_or_else(|| {
            self.num_values += 1;
            self.numbers.insert(value, self.num_values);
            self.num_values
        })
    }

    fn trace_operand(&mut self, reader: Op<'c>, position: usize) -> ItemOperand<'c> {
        let value = reader.inputs()[position];
        let number = self.number_value(value);
        let mut views = Vec::new();
        let mut made = value;
        while let Some(view) = made.def().filter(|def| def.is(spyre::VIEW)) {
            views.push(TracedView { view, source_dims: trace_tiled_dims(view) });
            made = view.inputs()[0];
        }
        ItemOperand { reader, position, value, number, views, source: None }
    }

    fn to_tiled_operand(&self, read: &ItemOperand<'c>, dims: Vec<Option<usize>>) -> TiledOperand {
        let through =
            |dim: usize| read.views.iter().try_fold(dim, |dim, viewed| viewed.source_dims.get(dim).copied().flatten());
        let after = (0..dims.len()).map(through).collect();
        TiledOperand { dims, producer: self.find_producer(read.value), source_dims: after }
    }

    /// Returns the op of the block that defines a value, traced through views.
    pub(crate) fn find_producer(&self, value: Value<'c>) -> Option<usize> {
        self.producers.get(strip_views(value)).copied()
    }
}

impl<'c> BlockItem<'c> {
    /// Returns the ops that the item consists of: one, or the inserts that assemble a value.
    pub(crate) fn computes(&self) -> Vec<ComputeOp<'c>> {
        match &self.assembly {
            Some(assembly) => assembly.inserts.iter().filter_map(|insert| ComputeOp::from_op(*insert)).collect(),
            None => self.compute.into_iter().collect(),
        }
    }

    /// Returns the ops that move together with the op, in order, before it.
    pub(crate) fn preceding_ops(&self) -> Vec<Op<'c>> {
        self.assembly.as_ref().map(InsertChain::preceding_ops).unwrap_or_default()
    }
}

/// Returns the levels that the hints of an op request, outermost first.
fn collect_levels(compute: ComputeOp<'_>, maxima: &BTreeMap<String, i64>) -> Result<Vec<LoopLevel>, ErrorReported> {
    let levels: Result<Vec<LoopLevel>, CountError> =
        compute.hints().into_iter().map(|hint| to_level(hint, maxima)).collect();
    levels.map_err(|error| error_at_location(error.code(), compute.op, error).report())
}

/// Returns the level that a hint requests. For a symbolic count, the maximum of the count determines the tile size.
fn to_level(hint: TileHint, maxima: &BTreeMap<String, i64>) -> Result<LoopLevel, CountError> {
    let TileHint { id, dim, count, recomputes: _ } = hint;
    let (count, symbol) = match count {
        SymbolicCount::Number(count) => (count, None),
        SymbolicCount::Symbol(symbol) => (declared_maximum(&dim, &symbol, maxima)?, Some(symbol)),
    };
    Ok(LoopLevel { id, name: dim, count, symbol })
}

fn split_names(names: &str) -> Vec<String> {
    names.split('*').filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// Returns, for each dimension of a view, the dimension of its input that is tiled with it.
fn trace_tiled_dims(view: Op<'_>) -> Vec<Option<usize>> {
    let (Some(viewed), Some(input)) =
        (DeviceTensor::from_type(view.output().r#type()), DeviceTensor::from_type(view.inputs()[0].r#type()))
    else {
        return Vec::new();
    };
    let rank = viewed.host.shape.len();
    let Some(layout) = &viewed.layout else {
        // The view only permutes the dimensions.
        let indices = plain_view_indices(view).unwrap_or_default();
        let find = |dim: usize| {
            let mut same = indices
                .iter()
                .enumerate()
                .filter(|(_, (moving, _))| *moving == Some(dim))
                .map(|(after, (_, first))| (after, *first));
            same.next()
                .filter(|&(after, first)| first == 0 && input.host.shape[after] == viewed.host.shape[dim])
                .map(|(after, _)| after)
        };
        return (0..rank).map(find).collect();
    };
    // Both tilings select the same bytes if both split the same device dimensions: for example 32 heads, and 8 groups
    // of 4.
    let places = |tensor: &DeviceTensor<'_>, layout: &DeviceLayout| {
        let places = tensor.buffer_tensor().and_then(|host| layout.find_tiled_device_dims(&host)).unwrap_or_default();
        places.into_iter().map(|place| place.map(|(size, stride)| size * stride)).collect::<Vec<Option<i64>>>()
    };
    let Some(input_layout) = &input.layout else { return vec![None; rank] };
    let (of_view, of_input) = (places(&viewed, layout), places(&input, input_layout));
    let find = |dim: usize| {
        let place = of_view.get(dim).copied().flatten()?;
        of_input.iter().position(|&other| other == Some(place))
    };
    (0..rank).map(find).collect()
}
