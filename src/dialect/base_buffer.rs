//! Base buffer of a value, and the strides with which a window of the buffer moves with the loops around it.

use super::{
    attrs::{DeviceTensor, MemoryLocation, MemoryPlacement},
    indices::plain_indices,
};
use crate::dialect::ods::{attr, spyre};
use crate::mlir::{
    AffineExpression, BlockLike, Op, OpExt, TensorType, Value, ValueExt, ValueLike, integers, map_of, map_results,
    shape_of,
};
use mlir_sys::{MlirOperation, MlirValue};

unsafe extern "C" {
    fn spyreComputeOpGetOverwrittenOperand(op: MlirOperation) -> isize;
    fn spyreViewOpGetSource(op: MlirOperation) -> MlirValue;
}

/// Loop with which a window moves, and the distance per iteration.
#[derive(Clone, Copy, Debug)]
pub struct WindowStride<'c> {
    /// Loop that moves the window.
    pub around: Op<'c>,
    /// Distance per iteration, in elements of device memory.
    pub elements: i64,
}

/// Returns the value that names the base buffer of `value`. Looks through views, inserts, tiles that loops read,
/// results that loops write tile by tile, and loop-carried values. The base is an argument of the function, an op or
/// loop result that is not yielded, or the `spyre.empty` of a buffer that is written slice by slice.
#[must_use]
pub fn base_buffer_of(value: Value<'_>) -> Value<'_> {
    let mut home = value;
    while let Some(link) = find_link(home) {
        home = link.target();
    }
    home
}

/// Returns the tensor that `value` reinterprets elementwise as another element type; `value` itself if it is no
/// retyping view. Its numbers may be ones that the host's f16 cannot represent.
#[must_use]
pub fn strip_retyping_views(value: Value<'_>) -> Value<'_> {
    let Some(view) = value.def().filter(|def| def.is(spyre::VIEW)) else { return value };
    let input = view.inputs()[0];
    let maps_alike = map_results(view.required_attr("map", map_of))
        .iter()
        .enumerate()
        .all(|(dim, expr)| *expr == AffineExpression::Dim(dim));
    if maps_alike && shape_of(input) == shape_of(value) { strip_retyping_views(input) } else { value }
}

/// Returns the value that represents all writes to the memory of `value`: the final loop-carried value, or the buffer
/// if `value` is one of its slices or is assembled from slices.
#[must_use]
pub fn storage_root_of(value: Value<'_>) -> Value<'_> {
    let mut home = value;
    while let Some(link @ (BufferLink::Carried(_) | BufferLink::Insert(_) | BufferLink::InPlaceInsert(_))) =
        find_link(home)
    {
        home = link.target();
    }
    home
}

/// Returns whether a loop carries the buffer of a value, or one that contains it: an iteration may overwrite the value.
#[must_use]
pub fn is_loop_carried(value: Value<'_>) -> bool {
    std::iter::successors(find_link(value), |link| find_link(link.target()))
        .any(|link| matches!(link, BufferLink::Carried(_)))
}

/// Returns how `value`, as a window of its buffer, moves with loops.
///
/// # Errors
/// If the buffer's layout cannot be tiled where a loop tiles it, or if a view without a layout has other indices than
/// the buffer.
pub fn window_strides(value: Value<'_>) -> Result<Vec<WindowStride<'_>>, String> {
    let mut moves = Vec::new();
    let mut open: Vec<DimShift<'_>> = Vec::new();
    let mut value = value;
    loop {
        let tensor = DeviceTensor::from_type(value.r#type()).ok_or("is no tensor of static shape")?;
        if let Some(layout) = &tensor.layout {
            let host = tensor.buffer_tensor().map_err(|error| error.to_string())?;
            for shift in open.drain(..) {
                let elements = layout
                    .compute_window_offset(&host, shift.dim, shift.elements)
                    .map_err(|error| error.to_string())?;
                moves.push(WindowStride { around: shift.around, elements });
            }
        }
        let Some(link) = find_link(value) else { break };
        match link {
            BufferLink::View(view) => {
                open = open
                    .into_iter()
                    .filter_map(|shift| shift.map_through_view(view).transpose())
                    .collect::<Result<_, _>>()?
            }
            BufferLink::Tile { around, dim, .. } => {
                open.push(DimShift { around, dim, elements: tensor.host.shape[dim] })
            }
            BufferLink::Carried(_) | BufferLink::Insert(_) | BufferLink::InPlaceInsert(_) => {}
        }
        value = link.target();
    }
    if open.is_empty() { Ok(moves) } else { Err("is a tile of a tensor without a device layout".to_owned()) }
}

/// Shift along a dimension of a value, per iteration of a loop.
struct DimShift<'c> {
    around: Op<'c>,
    dim: usize,
    elements: i64,
}

impl<'c> DimShift<'c> {
    /// Maps a shift of the result of `view` to its input. Returns `None` if no dimension of the input moves: the view
    /// then repeats the same elements.
    fn map_through_view(self, view: Op<'c>) -> Result<Option<Self>, String> {
        let map = view.attr(attr::MAP).and_then(map_of).ok_or("a view without a map")?;
        let shape = TensorType::from_type(view.output().r#type()).ok_or("is no tensor of static shape")?.shape;
        let indices = plain_indices(map, &shape)?.into_iter().enumerate();
        let dims: Vec<usize> =
            indices.filter_map(|(behind, (moving, _))| (moving == Some(self.dim)).then_some(behind)).collect();
        match dims[..] {
            [] => Ok(None),
            [dim] => Ok(Some(Self { dim, ..self })),
            _ => Err(format!("is a tile of a diagonal, read through {map}, which is not supported")),
        }
    }
}

/// Relation of a value to another one in the same buffer.
#[derive(Clone, Copy)]
enum BufferLink<'c> {
    /// The value is a view of another value.
    View(Op<'c>),
    /// The value is a tile of another value along dimension `dim`, in the loop `around`.
    Tile { of: Value<'c>, around: Op<'c>, dim: usize },
    /// A loop carries the value to or from another value.
    Carried(Value<'c>),
    /// The value is a buffer after an insert wrote a slice of it.
    Insert(Value<'c>),
    /// The value is a slice that is computed in place, where the insert writes it.
    InPlaceInsert(Op<'c>),
}

impl<'c> BufferLink<'c> {
    fn target(self) -> Value<'c> {
        match self {
            Self::View(view) => view.inputs()[0],
            Self::Tile { of, .. } => of,
            Self::Carried(value) | Self::Insert(value) => value,
            Self::InPlaceInsert(insert) => insert_destination(insert),
        }
    }
}

fn find_link(value: Value<'_>) -> Option<BufferLink<'_>> {
    let Some(def) = value.def() else {
        let (block, index) = value.as_block_arg()?;
        let around = block.parent_operation().filter(|around| around.is(spyre::LOOP))?;
        return match tiled_dim(around, index) {
            Some(dim) => Some(BufferLink::Tile { of: around.inputs()[index], around, dim }),
            None => loop_carried_values(around)
                .into_iter()
                .find(|carried| carried.argument == value)
                .map(|carried| BufferLink::Carried(carried.result)),
        };
    };
    if def.is(spyre::VIEW) {
        return Some(BufferLink::View(def));
    }
    if is_insert(def) {
        return Some(BufferLink::Insert(insert_destination(def)));
    }
    value.find_user(|user| find_link_at_user(value, user))
}

/// Returns the link from `value` to the value that continues its buffer at `user`: a loop that carries it, a terminator
/// that yields it, or an insert of an in-place tile. Returns `None` for other users.
fn find_link_at_user<'c>(value: Value<'c>, user: Op<'c>) -> Option<BufferLink<'c>> {
    if is_in_place(user) {
        return (user.inputs()[0] == value).then_some(BufferLink::InPlaceInsert(user));
    }
    if user.is(spyre::LOOP) {
        return find_carried_by_init(value, user).map(|carried| BufferLink::Carried(carried.result));
    }
    let around = user.parent().filter(|around| user.is(spyre::YIELD) && around.is(spyre::LOOP))?;
    let index = user.inputs().iter().position(|input| *input == value)?;
    let of = around.outputs()[index];
    Some(tiled_dim(user, index).map_or(BufferLink::Carried(of), |dim| BufferLink::Tile { of, around, dim }))
}

/// Returns the tensor that a value is a tile of, if a loop reads it tile by tile.
pub(super) fn tiled_operand(value: Value<'_>) -> Option<Value<'_>> {
    let (block, index) = value.as_block_arg()?;
    let around = block.parent_operation().filter(|around| around.is(spyre::LOOP))?;
    tiled_dim(around, index).map(|_| around.inputs()[index])
}

/// Returns the tiled dimensions of a loop's tiled operands, or of a yield's tiles, which come first. The remaining
/// operands are loop-carried, or results of a scope.
#[must_use]
pub fn tiled_dims(op: Op<'_>) -> Vec<usize> {
    let dims = op.attr(attr::TILED_DIMS).and_then(integers).unwrap_or_default();
    dims.into_iter().map(|dim| usize::try_from(dim).expect("a loop verifies its dimensions")).collect()
}

/// Returns the dimension of a tiled operand of a loop, or of a tile of a yield; `None` for loop-carried values.
fn tiled_dim(op: Op<'_>, index: usize) -> Option<usize> {
    tiled_dims(op).get(index).copied()
}

/// Returns the positions of the loop-carried operands of a loop or a yield.
fn carried_positions(op: Op<'_>) -> std::ops::Range<usize> {
    tiled_dims(op).len()..op.inputs().len()
}

/// Returns the loop-carried value of a loop whose initial value is `value`.
fn find_carried_by_init<'c>(value: Value<'c>, around: Op<'c>) -> Option<LoopCarriedValue<'c>> {
    loop_carried_values(around).into_iter().find(|carried| carried.before == value)
}

/// Returns whether an op writes a slice of a buffer.
pub(super) fn is_insert(op: Op<'_>) -> bool {
    overwritten_operand(op).is_some()
}

/// Returns whether an op is an insert that copies nothing, because its slice is computed in place.
pub(super) fn is_in_place(op: Op<'_>) -> bool {
    op.is(spyre::INSERT) && op.attr(attr::IN_PLACE).is_some()
}

/// Returns whether a result is computed in place, where an insert writes it.
#[must_use]
pub fn is_computed_in_place(result: Value<'_>) -> bool {
    in_place_offsets(result).is_some()
}

/// Returns the start within its buffer of a result that is computed in place, possibly in loops that write it tile by
/// tile.
pub(super) fn in_place_offsets(result: Value<'_>) -> Option<Vec<i64>> {
    let mut value = result;
    loop {
        value = match find_link(value)? {
            BufferLink::InPlaceInsert(insert) => return insert.attr(attr::OFFSETS).and_then(integers),
            BufferLink::Tile { of, .. } => of,
            BufferLink::View(_) | BufferLink::Carried(_) | BufferLink::Insert(_) => return None,
        }
    }
}

/// Returns the operand into whose buffer the op writes a slice, if the op does not write a buffer of its own.
pub(super) fn overwritten_operand(op: Op<'_>) -> Option<usize> {
    // SAFETY: the query accepts any operation.
    usize::try_from(unsafe { spyreComputeOpGetOverwrittenOperand(op.to_raw()) }).ok()
}

/// Returns the buffer of which an insert writes a slice.
pub(super) fn insert_destination(insert: Op<'_>) -> Value<'_> {
    insert.inputs()[overwritten_operand(insert).expect("an insert overwrites an operand")]
}

/// Returns the source operand of a view; `None` for other ops.
pub(super) fn view_source(op: Op<'_>) -> Option<Value<'_>> {
    // SAFETY: the query accepts any operation.
    let viewed = unsafe { spyreViewOpGetSource(op.to_raw()) };
    // SAFETY: a non-null value is an operand of the op.
    (!viewed.ptr.is_null()).then(|| unsafe { Value::from_raw(viewed) })
}

/// Returns the value at the root of a chain of views; `value` itself if it is no view.
#[must_use]
pub fn strip_views(value: Value<'_>) -> Value<'_> {
    let mut behind = value;
    while let Some(viewed) = behind.def().and_then(view_source) {
        behind = viewed;
    }
    behind
}

/// Returns the ops other than views that use a value or a view of it, one entry per use.
#[must_use]
pub fn collect_users_through_views(value: Value<'_>) -> Vec<Op<'_>> {
    let (mut found, mut viewed) = (Vec::new(), vec![value]);
    while let Some(value) = viewed.pop() {
        for user in value.users() {
            if user.is(spyre::VIEW) { viewed.push(user.output()) } else { found.push(user) }
        }
    }
    found
}

/// Returns the ops that use a value, a view of it, its buffer after later inserts, or a loop-carried value that starts
/// with it.
#[must_use]
pub fn collect_alias_users(value: Value<'_>) -> Vec<Op<'_>> {
    let mut found = Vec::new();
    // Iterative, because a buffer may have very many slices.
    let mut viewed = vec![value];
    while let Some(value) = viewed.pop() {
        for user in value.users() {
            if user.is(spyre::VIEW) || is_insert(user) && insert_destination(user) == value {
                viewed.push(user.output());
                continue;
            }
            match find_link_at_user(value, user) {
                Some(BufferLink::Carried(result)) => {
                    viewed.extend(find_carried_by_init(value, user).map(|carried| carried.argument));
                    viewed.push(result);
                }
                _ => found.push(user),
            }
        }
    }
    found
}

/// Returns the op whose `place` is that of a buffer: the first op that writes it, or the `spyre.empty` if several ops
/// write it; `None` for an argument of the function.
#[must_use]
pub fn placement_owner_of(buffer: Value<'_>) -> Option<Op<'_>> {
    let mut value = buffer;
    loop {
        let def = value.def()?;
        if !def.is(spyre::LOOP) {
            return Some(def);
        }
        let index = def.outputs().iter().position(|result| *result == value)?;
        let carried =
            loop_carried_values(def).into_iter().find(|carried| carried.result == value).map(|carried| carried.before);
        let yielded = || def.body_ops().last().and_then(|terminator| terminator.inputs().get(index).copied());
        value = carried.or_else(yielded)?;
    }
}

/// Returns whether the buffer of a value is in LX, once LX is planned.
#[must_use]
pub fn is_in_lx(value: Value<'_>) -> bool {
    placement_owner_of(base_buffer_of(value))
        .and_then(MemoryPlacement::from_op)
        .is_some_and(|place| matches!(place.memory, MemoryLocation::Lx(_)))
}

/// Returns the last op that writes the buffer of a value before any use of the value reads it; `None` for an argument
/// of the function or of a loop.
#[must_use]
pub fn find_last_writer(value: Value<'_>) -> Option<Op<'_>> {
    let mut value = value;
    loop {
        let def = value.def()?;
        if !def.is(spyre::LOOP) {
            return Some(def);
        }
        let index = def.outputs().iter().position(|result| *result == value)?;
        value = *def.body_ops().last()?.inputs().get(index)?;
    }
}

/// Loop-carried value, with each of its SSA names.
#[derive(Clone, Copy)]
pub struct LoopCarriedValue<'c> {
    /// Initial value, which the first iteration reads.
    pub before: Value<'c>,
    /// Block argument: the value at the start of an iteration.
    pub argument: Value<'c>,
    /// Yielded value: the value at the end of an iteration.
    pub after: Value<'c>,
    /// Result of the loop: the value after the last iteration.
    pub result: Value<'c>,
}

/// Returns the loop-carried values of a loop, in order; empty if the loop has no body.
#[must_use]
pub fn loop_carried_values(around: Op<'_>) -> Vec<LoopCarriedValue<'_>> {
    let Some(terminator) = around.body_ops().pop() else { return Vec::new() };
    let (inputs, outputs, yielded) = (around.inputs(), around.outputs(), terminator.inputs());
    let arguments = around.body_args();
    carried_positions(around)
        .zip(carried_positions(terminator))
        .map(|(from, to)| LoopCarriedValue {
            before: inputs[from],
            argument: arguments[from],
            after: yielded[to],
            result: outputs[to],
        })
        .collect()
}

/// Value that an iteration of a loop yields, and the values that occupied its memory when the iteration began.
pub struct YieldSlot<'c> {
    /// Operand number in the loop's terminator.
    pub position: usize,
    /// The yielded value.
    pub left: Value<'c>,
    /// Whether the next iteration reads it, as a loop-carried value.
    pub is_carried: bool,
    /// Values in this memory at the start of an iteration: the carried block argument, or the tiles that the iteration
    /// reads of the window that it writes.
    pub found: Vec<Value<'c>>,
}

/// Returns the slot of each value that an iteration of the loop yields; empty if the op is no `spyre.loop`.
#[must_use]
pub fn yield_slots(around: Op<'_>) -> Vec<YieldSlot<'_>> {
    let Some(terminator) = around.body_ops().pop().filter(|_| around.is(spyre::LOOP)) else { return Vec::new() };
    let mut carried = loop_carried_values(around).into_iter();
    let slot = |(position, left)| {
        let (is_carried, found) = match tiled_dim(terminator, position) {
            None => (true, carried.next().map(|carried| carried.argument).into_iter().collect()),
            Some(dim) => (false, find_window_tiles(around, dim, around.outputs()[position])),
        };
        YieldSlot { position, left, is_carried, found }
    };
    terminator.inputs().into_iter().enumerate().map(slot).collect()
}

/// Returns the tiles along a dimension that a loop reads from the memory of `written`.
fn find_window_tiles<'c>(around: Op<'c>, dim: usize, written: Value<'c>) -> Vec<Value<'c>> {
    let memory = trace_base_buffer(written);
    let arguments = around.body_args();
    let both = around.inputs().into_iter().zip(arguments).enumerate();
    let same = both
        .filter(|(index, (whole, _))| tiled_dim(around, *index) == Some(dim) && trace_base_buffer(*whole) == memory);
    same.map(|(_, (_, tile))| tile).collect()
}

/// Returns the buffer of a value, and the views and loops through which the value is a window of it.
fn trace_base_buffer(value: Value<'_>) -> (Value<'_>, Vec<(Op<'_>, Option<usize>)>) {
    let (mut home, mut through) = (value, Vec::new());
    while let Some(link) = find_link(home) {
        match &link {
            BufferLink::View(view) => through.push((*view, None)),
            BufferLink::Tile { around, dim, .. } => through.push((*around, Some(*dim))),
            BufferLink::Carried(_) | BufferLink::Insert(_) | BufferLink::InPlaceInsert(_) => {}
        }
        home = link.target();
    }
    (home, through)
}

/// Tensor that a loop reads tile by tile.
#[derive(Clone, Copy)]
pub struct TiledInput<'c> {
    /// The complete tensor.
    pub whole: Value<'c>,
    /// Tile that an iteration reads.
    pub tile: Value<'c>,
}

/// Returns the tensors that a loop reads tile by tile, each with its tile.
#[must_use]
pub fn tiled_inputs(around: Op<'_>) -> Vec<TiledInput<'_>> {
    let both = around.inputs().into_iter().zip(around.body_args()).take(tiled_dims(around).len());
    both.map(|(whole, tile)| TiledInput { whole, tile }).collect()
}

/// Tensor that a loop writes tile by tile.
#[derive(Clone, Copy)]
pub struct TiledOutput<'c> {
    /// Tile that an iteration writes.
    pub tile: Value<'c>,
    /// The complete tensor.
    pub whole: Value<'c>,
    /// Tiled dimension.
    pub dim: usize,
}

/// Returns the tensors that a loop writes tile by tile, each with its tile and the tiled dimension.
#[must_use]
pub fn tiled_outputs(around: Op<'_>) -> Vec<TiledOutput<'_>> {
    let Some(terminator) = around.body_ops().pop() else { return Vec::new() };
    let both = terminator.inputs().into_iter().zip(around.outputs()).zip(tiled_dims(terminator));
    both.map(|((tile, whole), dim)| TiledOutput { tile, whole, dim }).collect()
}
