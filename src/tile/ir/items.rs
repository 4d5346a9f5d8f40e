//! The ops of a block as tiling sees them.

use super::combination::combination;
use crate::dialect::ods::spyre;
use crate::{
    dialect::{ComputeOp, Tensor, TileHint, behind_views, plain_view},
    hint::{Count, CountError, maximum_of},
    layout::DeviceLayout,
    mlir::{Op, OpExt, Reported, Value, ValueExt, ValueLike, ValueMap, error_at, remark_at},
    tile::{Operand, TiledOp, cut::Level},
};
use std::collections::BTreeMap;

/// A view between what an op reads and what was made.
#[derive(Clone)]
pub(crate) struct Shown<'c> {
    pub(crate) view: Op<'c>,
    /// For each of its dimensions, the dimension of its input that is cut when it is.
    pub(crate) behind: Vec<Option<usize>>,
}

/// What an op reads.
pub(crate) struct Read<'c> {
    pub(crate) value: Value<'c>,
    /// The same number for the same value.
    pub(crate) number: usize,
    /// The views in front of what an op makes, the outermost first.
    pub(crate) views: Vec<Shown<'c>>,
}

/// What stands in a block, with what it reads from there.
pub(crate) struct Item<'c> {
    pub(crate) op: Op<'c>,
    /// None for a loop that was there before.
    pub(crate) compute: Option<ComputeOp<'c>>,
    pub(crate) reads: Vec<Read<'c>>,
}

/// The ops and loops of a block.
pub(crate) struct Items<'c> {
    pub(crate) list: Vec<Item<'c>>,
    /// The same as plain values.
    pub(crate) plain: Vec<TiledOp>,
    makers: ValueMap<usize>,
    numbers: ValueMap<usize>,
    n_values: usize,
}

impl<'c> Items<'c> {
    pub(crate) fn of(around: Op<'c>, maxima: &BTreeMap<String, i64>) -> Result<Self, Reported> {
        let mut items =
            Self { list: Vec::new(), plain: Vec::new(), makers: ValueMap::default(), numbers: ValueMap::default(), n_values: 0 };
        for op in around.body_ops() {
            match ComputeOp::of(op) {
                Some(compute) => items.add_compute(compute, maxima)?,
                None if !op.outputs().is_empty() && op.body().is_some() => items.add_opaque(op),
                None => {}
            }
        }
        items.compute_again_what_is_read_in_loops_alone(around);
        Ok(items)
    }

    fn add_compute(&mut self, compute: ComputeOp<'c>, maxima: &BTreeMap<String, i64>) -> Result<(), Reported> {
        let refuse = |message: String| error_at(compute.op, message).report();
        let hints = compute.hints();
        let again = hints.iter().filter(|hint| hint.again).map(|hint| hint.id).collect();
        let levels: Result<Vec<Level>, CountError> = hints.into_iter().map(|hint| level_of(hint, maxima)).collect();
        let mut levels = levels.map_err(|error| refuse(error.to_string()))?;
        if compute.is_insert() && !levels.is_empty() {
            remark_at(compute.op, "writes a part of a larger buffer: it is not tiled, and stands between the loops").emit();
            levels.clear();
        }
        if !levels.is_empty() {
            compute.accesses().map_err(refuse)?;
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
        for (index, value) in compute.op.inputs().into_iter().enumerate() {
            let read = self.read(value);
            let dims = if index < n_reads { compute.operand_dims(index) } else { Vec::new() };
            plain.inputs.push(self.operand(&read, dims));
            reads.push(read);
        }
        self.push(Item { op: compute.op, compute: Some(compute), reads }, plain);
        Ok(())
    }

    /// A loop that was there before; it stays as it is.
    fn add_opaque(&mut self, op: Op<'c>) {
        let inside = op.nested().into_iter().flat_map(|inner| inner.inputs());
        let values: Vec<Value<'c>> = op.inputs().into_iter().chain(inside).collect();
        let reads: Vec<Read<'c>> = values.into_iter().map(|value| self.read(value)).collect();
        let inputs = reads.iter().map(|read| self.operand(read, Vec::new())).collect();
        self.push(Item { op, compute: None, reads }, TiledOp { inputs, ..TiledOp::default() });
    }

    /// Only what is elementwise can be had tile by tile, and what the block gives is made once.
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

    fn read(&mut self, value: Value<'c>) -> Read<'c> {
        let number = self.numbers.get(value).copied().unwrap_or_else(|| {
            self.n_values += 1;
            self.numbers.insert(value, self.n_values);
            self.n_values
        });
        let mut views = Vec::new();
        let mut made = value;
        while let Some(view) = made.def().filter(|def| def.is(spyre::VIEW)) {
            views.push(Shown { view, behind: cut_behind(view) });
            made = view.inputs()[0];
        }
        Read { value, number, views }
    }

    fn operand(&self, read: &Read<'c>, dims: Vec<Option<usize>>) -> Operand {
        let through = |dim: usize| read.views.iter().try_fold(dim, |dim, shown| shown.behind.get(dim).copied().flatten());
        let behind = (0..dims.len()).map(through).collect();
        Operand { dims, maker: self.maker(read.value), behind }
    }

    /// The op that makes a value of the block, behind views.
    pub(crate) fn maker(&self, value: Value<'c>) -> Option<usize> {
        self.makers.get(behind_views(value)).copied()
    }
}

/// The level that a hint asks for: tiles have the size that the maximum of their number gives them.
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

/// For each dimension of a view, the dimension of its input that is cut into the same tiles when it is.
fn cut_behind(view: Op<'_>) -> Vec<Option<usize>> {
    let (Some(shown), Some(input)) = (Tensor::of(view.output().r#type()), Tensor::of(view.inputs()[0].r#type())) else {
        return Vec::new();
    };
    let rank = shown.host.shape.len();
    let Some(layout) = &shown.layout else {
        // Nothing but the order of the dimensions differs.
        let indices = plain_view(view).unwrap_or_default();
        let find = |dim: usize| {
            let mut same =
                indices.iter().enumerate().filter(|(_, (moving, _))| *moving == Some(dim)).map(|(behind, (_, first))| (behind, *first));
            same.next().filter(|&(behind, first)| first == 0 && input.host.shape[behind] == shown.host.shape[dim]).map(|(behind, _)| behind)
        };
        return (0..rank).map(find).collect();
    };
    // The same bytes are cut where both cut the same part of the device's places: 32 heads, and 8 groups of 4.
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
