//! Uniform view of compute ops as iteration space and access maps, on which every stage works.

use super::{
    attrs::{DeviceTensor, MemoryPlacement, TileHint, read_core_order, read_work_hint, read_work_slices},
    base_buffer::{
        base_buffer_of, in_place_offsets, is_in_place, is_insert, overwritten_operand, placement_owner_of,
        strip_retyping_views, strip_views, tiled_operand,
    },
    enums::OdsEnum,
    indices::plain_indices,
};
use crate::dialect::ods::{attr, spyre};
use crate::mlir::{
    AffineExpression, AffineMap, Op, OpExt, Value, ValueExt, ValueLike, elements, map_of, map_results, natural_number,
    read_context_text, string, strings,
};
use machine::{DeviceFunction, Family};
use mlir_sys::{MlirAffineMap, MlirOperation, MlirStringRef};
use program::{AccessKind, SymbolicCount, WorkHint, WorkSplit};
use std::ops::Deref;

unsafe extern "C" {
    fn spyreComputeOpGetIterationSpace(op: MlirOperation, capacity: isize, sizes: *mut i64) -> isize;
    fn spyreComputeOpGetNumReductionDims(op: MlirOperation) -> u32;
    fn spyreComputeOpGetFamily(op: MlirOperation) -> i32;
    fn spyreComputeOpGetDeviceFunction(op: MlirOperation) -> MlirStringRef;
    fn spyreComputeOpGetAccessMap(op: MlirOperation, index: isize) -> MlirAffineMap;
}

/// Upper bound on the dimensions of any tensor; device ops have at most seven.
const MAX_DIMS: usize = 32;

/// Op that applies a device function to tensors.
#[derive(Clone, Copy)]
pub struct ComputeOp<'c> {
    /// Operation.
    pub op: Op<'c>,
}

/// Access of an op to one of its tensors.
#[derive(Clone, Debug, PartialEq)]
pub struct OperandAccess<'c> {
    /// Operand or result of the op.
    pub operand: Value<'c>,
    /// Accessed tensor, at the root of all views.
    pub value: Value<'c>,
    /// Elements that the op accesses.
    pub access: program::TensorAccess,
    /// Iteration dimension and first index of each dimension of `operand`.
    pub own: Vec<(Option<usize>, i64)>,
}

impl Deref for OperandAccess<'_> {
    type Target = program::TensorAccess;

    fn deref(&self) -> &program::TensorAccess {
        &self.access
    }
}

impl<'c> ComputeOp<'c> {
    /// Returns the op as a compute op; `None` for other ops, and for an insert whose slice is computed in place.
    #[must_use]
    pub fn from_op(op: Op<'c>) -> Option<Self> {
        if is_in_place(op) {
            return None;
        }
        // SAFETY: the query accepts any operation.
        let rank = unsafe { spyreComputeOpGetIterationSpace(op.to_raw(), 0, std::ptr::null_mut()) };
        (rank >= 0).then_some(Self { op })
    }

    /// Returns all compute ops in an operation, in program order.
    #[must_use]
    pub fn collect_in(op: Op<'c>) -> Vec<Self> {
        op.nested().into_iter().filter_map(Self::from_op).collect()
    }

    /// Returns the sizes of the iteration dimensions: output dimensions first, then reduced ones.
    #[must_use]
    pub fn iteration_space(self) -> Vec<i64> {
        let mut sizes = [0_i64; MAX_DIMS];
        // SAFETY: C++ writes no more numbers than the array holds.
        let rank =
            unsafe { spyreComputeOpGetIterationSpace(self.op.to_raw(), MAX_DIMS.cast_signed(), sizes.as_mut_ptr()) };
        let rank = usize::try_from(rank).expect("a rank is not negative");
        sizes.get(..rank).map_or_else(|| self.large_iteration_space(rank), <[i64]>::to_vec)
    }

    /// Returns the sizes of an op with more dimensions than the device supports; a later check rejects it by name.
    fn large_iteration_space(self, rank: usize) -> Vec<i64> {
        let mut sizes = vec![0_i64; rank];
        // SAFETY: C++ writes no more numbers than the vector holds.
        unsafe { spyreComputeOpGetIterationSpace(self.op.to_raw(), rank.cast_signed(), sizes.as_mut_ptr()) };
        sizes
    }

    /// Returns the number of reduced dimensions, which are last in the iteration space.
    #[must_use]
    pub fn num_reduced_dims(self) -> usize {
        // SAFETY: the op is a compute op.
        unsafe { spyreComputeOpGetNumReductionDims(self.op.to_raw()) as usize }
    }

    /// Returns how the device function uses the iteration space.
    #[must_use]
    pub fn family(self) -> Family {
        // SAFETY: the op is a compute op.
        let number = unsafe { spyreComputeOpGetFamily(self.op.to_raw()) };
        Family::from_ods_number(number.into()).expect("ODS has the families of the machine")
    }

    /// Returns the device function's name in the files, without the suffix "nonstick".
    #[must_use]
    pub fn function(self) -> &'c str {
        // SAFETY: the op is a compute op; its context owns the name.
        unsafe { read_context_text(spyreComputeOpGetDeviceFunction(self.op.to_raw()), || self.op.ctx().to_raw()) }
    }

    /// Returns the function's row in the table of device functions; elementwise functions and reductions only.
    #[must_use]
    pub fn table_row(self) -> Option<&'static DeviceFunction> {
        match self.family() {
            Family::Pointwise => DeviceFunction::find_pointwise(self.function()),
            Family::Reduce => DeviceFunction::find_reduce(self.function()),
            Family::Matmul | Family::Copy | Family::Gather => None,
        }
    }

    /// Returns whether the op writes its result into a window of a buffer: `spyre.insert`.
    #[must_use]
    pub fn is_insert(self) -> bool {
        is_insert(self.op)
    }

    /// Returns the operands that the op reads. An insert only writes to the operand that is the buffer of its result.
    #[must_use]
    pub fn read_operands(self) -> Vec<Value<'c>> {
        let mut operands = self.op.inputs();
        if let Some(overwritten) = overwritten_operand(self.op) {
            operands.remove(overwritten);
        }
        operands
    }

    /// Returns the accesses of the operands that the op reads, in order, followed by that of the result.
    ///
    /// # Errors
    /// A message about the first access that has more than one iteration dimension per tensor dimension.
    pub fn accesses(self) -> Result<Vec<OperandAccess<'c>>, String> {
        let values: Vec<Value<'c>> = self.read_operands().into_iter().chain([self.op.output()]).collect();
        let mut space = self.iteration_space();
        for dim in self.window_dims(&values) {
            // A tile of one row moves within its buffer: its dimension is treated as one with several rows.
            space[dim] = space[dim].max(2);
        }
        let mut accesses = values
            .into_iter()
            .enumerate()
            .map(|(index, value)| self.compute_access(index, value, &space))
            .collect::<Result<Vec<_>, _>>()?;
        if let (Some(result), Some(place)) = (accesses.last_mut(), in_place_offsets(self.op.output())) {
            result.access.offsets.iter_mut().zip(place).for_each(|(offset, first)| *offset += first);
        }
        Ok(accesses)
    }

    /// Returns how the op interprets the elements of operand `index`; the result follows the operands.
    #[must_use]
    pub fn operand_use(self, index: usize) -> AccessKind {
        match (self.family(), index) {
            (Family::Gather, 0) => AccessKind::Table(self.op.required_attr("dim", natural_number)),
            (Family::Gather, 1) => AccessKind::Indices,
            _ => AccessKind::Data,
        }
    }

    pub(super) fn access_map(self, index: usize) -> AffineMap<'c> {
        // SAFETY: there is one map per operand that is read and one for the result.
        unsafe { AffineMap::from_raw(spyreComputeOpGetAccessMap(self.op.to_raw(), index.cast_signed())) }
    }

    /// Returns the iteration dimensions along which an operand is a window of a larger buffer.
    fn window_dims(self, values: &[Value<'c>]) -> Vec<usize> {
        let mut dims = Vec::new();
        for (index, value) in values.iter().enumerate() {
            let Some((shape, buffer)) = window_shapes(*value) else { continue };
            let results = map_results(self.access_map(index)).into_iter().zip(shape.iter().zip(&buffer));
            dims.extend(results.filter_map(|(result, (size, whole))| match result {
                AffineExpression::Dim(dim) if size < whole => Some(dim),
                _ => None,
            }));
        }
        dims
    }

    fn compute_access(self, index: usize, value: Value<'c>, space: &[i64]) -> Result<OperandAccess<'c>, String> {
        let operand = value;
        let own = plain_indices(self.access_map(index), space)?;
        let mut indices = own.clone();
        let mut value = value;
        let mut tensor = DeviceTensor::from_type(value.r#type()).ok_or("an operand is no tensor of static shape")?;
        let used_as = self.operand_use(index);
        // A view has no storage: its map is composed with the access map of the tensor at its root. The same holds for
        // a tile of a view.
        while tensor.layout.is_none() {
            if let Some(whole) = tiled_operand(value) {
                value = whole;
                tensor = DeviceTensor::from_type(value.r#type()).ok_or("an operand is no tensor of static shape")?;
                continue;
            }
            let Some(view) = value.def().filter(|op| op.is(spyre::VIEW)) else { break };
            let map = view.attr(attr::MAP).and_then(map_of).ok_or("a view without a map")?;
            let after = plain_indices(map, &tensor.host.shape)?.into_iter();
            let through = |(dim, offset): (Option<usize>, i64)| {
                let (moving, first) = dim.map_or((None, 0), |dim| indices[dim]);
                (moving, first + offset)
            };
            indices = after.map(through).collect();
            value = view.inputs()[0];
            tensor = DeviceTensor::from_type(value.r#type()).ok_or("an operand is no tensor of static shape")?;
        }
        let is_viewed = strip_retyping_views(operand).def().is_some_and(|op| op.is(spyre::VIEW));
        if matches!(used_as, AccessKind::Table(_)) && tensor.layout.is_none() && is_viewed {
            return Err("gathers from a view; run spyre-layout-gather-tables first".to_owned());
        }
        // A view with a layout describes the bytes of its buffer completely, through any views below it.
        value = strip_views(value);
        let (dims, offsets) = indices.into_iter().unzip();
        Ok(OperandAccess {
            operand,
            value,
            access: program::TensorAccess { tensor: tensor.into_program_tensor(), dims, offsets, used_as },
            own,
        })
    }

    /// Returns the slices per iteration dimension, once work is divided.
    #[must_use]
    pub fn work(self) -> Option<Vec<i64>> {
        self.op.attr(attr::WORK).and_then(read_work_slices)
    }

    /// Returns the iteration dimensions in the order in which slices change from core to core, fastest first; empty for
    /// the default order of the op's family.
    #[must_use]
    pub fn core_order(self) -> Vec<usize> {
        self.op.attr(attr::WORK).and_then(read_core_order).unwrap_or_default()
    }

    /// Returns the minimum number of slices per iteration dimension that the span limit requires, if any.
    #[must_use]
    pub fn min_work(self) -> Option<Vec<i64>> {
        self.op.attr(attr::MIN_WORK).and_then(read_work_slices)
    }

    /// Returns the `place` of the result; `None` before LX allocation.
    #[must_use]
    pub fn placement(self) -> Option<MemoryPlacement> {
        MemoryPlacement::from_op(self.placement_owner())
    }

    /// Returns the op whose `place` is that of the result. This is the op itself, or the op that defines the buffer, if
    /// this op writes a slice of it or a loop carries it.
    #[must_use]
    pub fn placement_owner(self) -> Op<'c> {
        placement_owner_of(base_buffer_of(self.op.output())).unwrap_or(self.op)
    }

    /// Returns the number of tiles of the op if every hint tiles it; a symbolic count contributes 1.
    #[must_use]
    pub fn num_hinted_tiles(self) -> i64 {
        let count = |hint: TileHint| if let SymbolicCount::Number(count) = hint.count { count } else { 1 };
        self.hints().into_iter().map(count).fold(1, i64::saturating_mul)
    }

    /// Returns the tile hints, outermost first.
    #[must_use]
    pub fn hints(self) -> Vec<TileHint> {
        self.op
            .attr(attr::HINTS)
            .and_then(elements)
            .unwrap_or_default()
            .into_iter()
            .filter_map(TileHint::from_attribute)
            .collect()
    }

    /// Returns the requested slices, one entry per name; present until the work is divided.
    #[must_use]
    pub fn work_div(self) -> Vec<WorkHint> {
        self.op
            .attr(attr::WORK_DIV)
            .and_then(elements)
            .unwrap_or_default()
            .into_iter()
            .filter_map(read_work_hint)
            .collect()
    }

    /// Returns the names of the iteration dimensions; empty if none is known, or before names are propagated.
    #[must_use]
    pub fn dim_names(self) -> Vec<String> {
        let names = self.op.attr(attr::DIMS).and_then(elements).unwrap_or_default();
        let mut names: Vec<String> =
            names.into_iter().map(|name| string(name).unwrap_or_default().to_owned()).collect();
        names.resize(self.iteration_space().len(), String::new());
        names
    }

    /// Returns, for each iteration dimension, the name of the symbolic size that it has, if any, as `mark_symbolic`
    /// recorded it.
    #[must_use]
    pub fn symbolic_dims(self) -> Vec<String> {
        let names = self.op.attr(attr::SPYRE_SYMBOLIC).and_then(strings).unwrap_or_default();
        let mut names: Vec<String> = names.into_iter().map(str::to_owned).collect();
        names.resize(self.iteration_space().len(), String::new());
        names
    }

    /// Returns the loops around the op, outermost first.
    #[must_use]
    pub fn enclosing_loops(self) -> Vec<Op<'c>> {
        let mut loops: Vec<Op<'c>> =
            std::iter::successors(self.op.parent(), |op| op.parent()).filter(|op| op.is(spyre::LOOP)).collect();
        loops.reverse();
        loops
    }
}

/// Returns the shape of a window and that of its buffer.
fn window_shapes(value: Value<'_>) -> Option<(Vec<i64>, Vec<i64>)> {
    let tensor = DeviceTensor::from_type(value.r#type())?;
    let whole = |value: Value<'_>| DeviceTensor::from_type(value.r#type()).map(|tensor| tensor.host.shape);
    let around = std::iter::successors(tiled_operand(value), |value| tiled_operand(*value)).last();
    let buffer = if tensor.layout.is_some() { tensor.buffer_shape? } else { around.and_then(whole)? };
    Some((tensor.host.shape, buffer))
}

/// Describes a view that only permutes, shifts, adds or drops dimensions. Returns, for each dimension of its input, the
/// dimension of the view that indexes it and the first index. The dimension is `None` for a constant index and for a
/// dimension of size 1. Returns `None` for other views.
#[must_use]
pub fn plain_view_indices(view: Op<'_>) -> Option<Vec<(Option<usize>, i64)>> {
    let shape = DeviceTensor::from_type(view.output().r#type())?.host.shape;
    plain_indices(view.attr(attr::MAP).and_then(map_of)?, &shape).ok()
}

/// Returns the core split of an op.
///
/// # Errors
/// If the work phase has not run.
pub fn core_split_of(compute: ComputeOp<'_>) -> Result<WorkSplit, String> {
    let slices = compute.work().ok_or("has no 'work'; run spyre-divide-work first")?;
    build_split(slices, compute.core_order())
}

/// Returns the core split of a shuffle's result; `None` for other ops.
///
/// # Errors
/// If the slice counts or the order are wrong.
pub fn shuffle_destination_of(compute: ComputeOp<'_>) -> Result<Option<WorkSplit>, String> {
    let Some(destination) = compute.op.attr(attr::DESTINATION) else { return Ok(None) };
    let slices = read_work_slices(destination).ok_or("'destination' is no #spyre.work")?;
    build_split(slices, read_core_order(destination).unwrap_or_default()).map(Some)
}

fn build_split(slices: Vec<i64>, order: Vec<usize>) -> Result<WorkSplit, String> {
    WorkSplit::new(slices).and_then(|split| split.with_order(order)).map_err(|error| error.to_string())
}
