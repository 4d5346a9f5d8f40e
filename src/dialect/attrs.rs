//! Attributes of our dialects as plain values. Each function that calls C++ first checks the kind of the attribute.

use super::enums::OdsEnum;
use crate::dialect::ods::{attr, memory};
use crate::mlir::{
    Attribute, AttributeLike, Context, Op, OpExt, TensorType, Type, TypeLike, read_context_text, string_ref,
};
use machine::DeviceFormat;
use mlir_sys::{
    MlirAttribute, MlirContext, MlirStringRef, MlirType, mlirAttributeGetContext, mlirIntegerTypeGetWidth,
    mlirIntegerTypeIsSignless, mlirTypeIsABF16, mlirTypeIsAF16, mlirTypeIsAF32, mlirTypeIsAF64,
    mlirTypeIsAFloat8E4M3FN, mlirTypeIsAFloat8E5M2, mlirTypeIsAInteger,
};
use program::layout::{DeviceLayout, HostTensor, LayoutError};
use program::{SymbolicCount, WorkHint, WorkSplit};

unsafe extern "C" {
    fn spyreAttributeIsALayout(attribute: MlirAttribute) -> bool;
    fn spyreLayoutAttrGet(
        context: MlirContext,
        rank: isize,
        device_size: *const i64,
        stride_map: *const i64,
        format: i32,
        buffer_rank: isize,
        buffer_shape: *const i64,
    ) -> MlirAttribute;
    fn spyreLayoutAttrGetRank(layout: MlirAttribute) -> isize;
    fn spyreLayoutAttrGetDeviceSize(layout: MlirAttribute) -> *const i64;
    fn spyreLayoutAttrGetStrideMap(layout: MlirAttribute) -> *const i64;
    fn spyreLayoutAttrGetFormat(layout: MlirAttribute) -> i32;
    fn spyreLayoutAttrGetBufferRank(layout: MlirAttribute) -> isize;
    fn spyreLayoutAttrGetBufferShape(layout: MlirAttribute) -> *const i64;
    fn spyreAttributeIsAWork(attribute: MlirAttribute) -> bool;
    fn spyreWorkAttrGet(
        context: MlirContext,
        rank: isize,
        slices: *const i64,
        order_rank: isize,
        order: *const i64,
    ) -> MlirAttribute;
    fn spyreWorkAttrGetRank(work: MlirAttribute) -> isize;
    fn spyreWorkAttrGetSlices(work: MlirAttribute) -> *const i64;
    fn spyreWorkAttrGetOrderRank(work: MlirAttribute) -> isize;
    fn spyreWorkAttrGetOrder(work: MlirAttribute) -> *const i64;
    fn spyreAttributeIsAPlace(attribute: MlirAttribute) -> bool;
    fn spyrePlaceAttrGet(context: MlirContext, memory: i32, offset_bytes: i64, reason: MlirStringRef) -> MlirAttribute;
    fn spyrePlaceAttrGetMemory(place: MlirAttribute) -> i32;
    fn spyrePlaceAttrGetOffsetBytes(place: MlirAttribute) -> i64;
    fn spyrePlaceAttrGetReason(place: MlirAttribute) -> MlirStringRef;
    fn spyreAttributeIsATileHint(attribute: MlirAttribute) -> bool;
    fn spyreTileHintAttrGet(
        context: MlirContext,
        id: i64,
        dim: MlirStringRef,
        count: i64,
        symbol: MlirStringRef,
        again: bool,
    ) -> MlirAttribute;
    fn spyreTileHintAttrGetRecompute(hint: MlirAttribute) -> bool;
    fn spyreTileHintAttrGetId(hint: MlirAttribute) -> i64;
    fn spyreTileHintAttrGetDim(hint: MlirAttribute) -> MlirStringRef;
    fn spyreTileHintAttrGetCount(hint: MlirAttribute) -> i64;
    fn spyreTileHintAttrGetSymbol(hint: MlirAttribute) -> MlirStringRef;
    fn spyreAttributeIsAWorkHint(attribute: MlirAttribute) -> bool;
    fn spyreWorkHintAttrGet(context: MlirContext, id: i64, dim: MlirStringRef, slices: i64) -> MlirAttribute;
    fn spyreWorkHintAttrGetId(hint: MlirAttribute) -> i64;
    fn spyreWorkHintAttrGetDim(hint: MlirAttribute) -> MlirStringRef;
    fn spyreWorkHintAttrGetSlices(hint: MlirAttribute) -> i64;
    fn spyreGetTileType(full: MlirType, dim: i64, count: i64) -> MlirType;
}

/// Number that stands for no format: the layout has the format of its element type.
const OWN_FORMAT: i32 = -1;

/// Copies `length` numbers that MLIR's context owns.
fn copy_numbers(data: *const i64, length: isize) -> Vec<i64> {
    if length == 0 {
        return Vec::new();
    }
    // SAFETY: each accessor returns a pointer to as many numbers as the accessor of the length returns; the context
    // owns them.
    unsafe { std::slice::from_raw_parts(data, length.cast_unsigned()) }.to_vec()
}

/// Returns the device format of a type's elements; `None` if the device has none.
#[must_use]
pub fn format_of(element: Type<'_>) -> Option<DeviceFormat> {
    let raw = element.to_raw();
    // SAFETY: the type is valid; width and sign are read only from integers.
    unsafe {
        if mlirTypeIsAInteger(raw) && mlirIntegerTypeIsSignless(raw) {
            return match mlirIntegerTypeGetWidth(raw) {
                // Booleans are stored in the operands' format, f16 by default.
                1 => Some(DeviceFormat::Sen169Fp16),
                // Device indices are 32 bits wide, independently of the host's.
                32 | 64 => Some(DeviceFormat::IeeeInt32),
                8 => Some(DeviceFormat::SenInt8),
                _ => None,
            };
        }
        if mlirTypeIsAF16(raw) || mlirTypeIsABF16(raw) {
            Some(DeviceFormat::Sen169Fp16)
        } else if mlirTypeIsAF32(raw) || mlirTypeIsAF64(raw) {
            // Wider numbers are truncated to the widest format of the device.
            Some(DeviceFormat::IeeeFp32)
        } else if mlirTypeIsAFloat8E4M3FN(raw) {
            Some(DeviceFormat::Sen143Fp8)
        } else {
            mlirTypeIsAFloat8E5M2(raw).then_some(DeviceFormat::Sen152Fp8)
        }
    }
}

/// A tensor type with its device layout.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceTensor<'c> {
    /// Builtin type.
    pub host: TensorType<'c>,
    /// Layout; `None` before the layout phase.
    pub layout: Option<DeviceLayout>,
    /// Shape of the buffer, if the tensor is a window of a larger one.
    pub buffer_shape: Option<Vec<i64>>,
}

impl<'c> DeviceTensor<'c> {
    /// Reads a type; `None` unless it is a tensor of static shape.
    #[must_use]
    pub fn from_type(tensor: Type<'c>) -> Option<Self> {
        let host = TensorType::from_type(tensor)?;
        let Some(encoding) = host.encoding else { return Some(Self { host, layout: None, buffer_shape: None }) };
        let raw = encoding.to_raw();
        // SAFETY: the accessors are only called on a layout attribute.
        let (device_size, stride_map, format, buffer_shape) = unsafe {
            if !spyreAttributeIsALayout(raw) {
                return Some(Self { host, layout: None, buffer_shape: None });
            }
            let rank = spyreLayoutAttrGetRank(raw);
            (
                copy_numbers(spyreLayoutAttrGetDeviceSize(raw), rank),
                copy_numbers(spyreLayoutAttrGetStrideMap(raw), rank),
                spyreLayoutAttrGetFormat(raw),
                copy_numbers(spyreLayoutAttrGetBufferShape(raw), spyreLayoutAttrGetBufferRank(raw)),
            )
        };
        let format = DeviceFormat::from_ods_number(format.into()).or_else(|| format_of(host.element))?;
        let layout = DeviceLayout::from_parts(device_size, stride_map, format).ok()?;
        Some(Self { host, layout: Some(layout), buffer_shape: (!buffer_shape.is_empty()).then_some(buffer_shape) })
    }

    /// Returns the type of this tensor with a layout, as a window of `buffer_shape` if that is present.
    #[must_use]
    pub fn with_layout(&self, context: &'c Context, layout: &DeviceLayout, buffer_shape: Option<&[i64]>) -> Type<'c> {
        let own_format = format_of(self.host.element);
        let format = if own_format == Some(layout.format()) { OWN_FORMAT } else { layout.format().ods_number() };
        let buffer_shape = buffer_shape.unwrap_or_default();
        // SAFETY: MLIR copies the numbers into its context, and the format is one of the cases of the enum.
        let encoding = unsafe {
            Attribute::from_raw(spyreLayoutAttrGet(
                context.to_raw(),
                layout.rank().cast_signed(),
                layout.device_size().as_ptr(),
                layout.stride_map().as_ptr(),
                format,
                buffer_shape.len().cast_signed(),
                buffer_shape.as_ptr(),
            ))
        };
        self.host.with_encoding(encoding).build()
    }

    /// Returns the shape and the layout.
    #[must_use]
    pub fn into_program_tensor(self) -> program::ProgramTensor {
        program::ProgramTensor { shape: self.host.shape, layout: self.layout, buffer_shape: self.buffer_shape }
    }

    /// Returns sizes and strides of the buffer that the layout describes: the tensor's own buffer, or the one that the
    /// tensor is a window of.
    ///
    /// # Errors
    /// If the shape has no contiguous strides.
    pub fn buffer_tensor(&self) -> Result<HostTensor, LayoutError> {
        HostTensor::row_major(self.buffer_shape.as_deref().unwrap_or(&self.host.shape))
    }
}

/// Returns the type of one of `count` tiles of a tensor type along `dim`; `None` if `count` does not divide the size.
#[must_use]
pub fn tile_type(full: Type<'_>, dim: usize, count: i64) -> Option<Type<'_>> {
    // SAFETY: callers pass ranked tensor types.
    unsafe { Type::from_option_raw(spyreGetTileType(full.to_raw(), i64::try_from(dim).ok()?, count)) }
}

/// Returns the slices per iteration dimension from `#spyre.work`.
#[must_use]
pub(super) fn read_work_slices(attribute: Attribute<'_>) -> Option<Vec<i64>> {
    // SAFETY: the accessors are only called on a work attribute.
    unsafe {
        spyreAttributeIsAWork(attribute.to_raw())
            .then(|| copy_numbers(spyreWorkAttrGetSlices(attribute.to_raw()), spyreWorkAttrGetRank(attribute.to_raw())))
    }
}

/// Returns the dimension order from `#spyre.work`, fastest first; empty for the default order of the op's family.
#[must_use]
pub(super) fn read_core_order(attribute: Attribute<'_>) -> Option<Vec<usize>> {
    // SAFETY: the accessors are only called on a work attribute.
    let order = unsafe {
        spyreAttributeIsAWork(attribute.to_raw()).then(|| {
            copy_numbers(spyreWorkAttrGetOrder(attribute.to_raw()), spyreWorkAttrGetOrderRank(attribute.to_raw()))
        })
    };
    order?.into_iter().map(|dim| usize::try_from(dim).ok()).collect()
}

/// Builds `#spyre.work` with the slices and the order of a split.
#[must_use]
pub fn work_attribute<'c>(context: &'c Context, split: &WorkSplit) -> Attribute<'c> {
    let slices = split.slices();
    let order: Vec<i64> = split.order().iter().filter_map(|dim| i64::try_from(*dim).ok()).collect();
    // SAFETY: MLIR copies the numbers.
    unsafe {
        let (rank, order_rank) = (slices.len().cast_signed(), order.len().cast_signed());
        Attribute::from_raw(spyreWorkAttrGet(context.to_raw(), rank, slices.as_ptr(), order_rank, order.as_ptr()))
    }
}

/// Memories of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MemoryLocation {
    /// Scratchpad, at a byte offset that is the same on every core.
    Lx(i64),
    /// HBM pool of a launch, at a byte offset.
    Pool(i64),
    /// Buffer of the program in HBM.
    Hbm,
}

/// Memory of a value, and the reason why it is not in LX.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryPlacement {
    /// Memory, with the offset in it.
    pub memory: MemoryLocation,
    /// Reason why the value is not in LX; empty for a value in LX.
    pub reason: String,
}

impl MemoryPlacement {
    /// Returns the `place` of an op; `None` before LX allocation.
    #[must_use]
    pub fn from_op(op: Op<'_>) -> Option<Self> {
        op.attr(attr::PLACE).and_then(Self::from_attribute)
    }

    /// Sets the `place` of an op.
    pub fn set_on(&self, op: Op<'_>) {
        op.set_attr(attr::PLACE, placement_attribute(op.ctx(), self));
    }

    /// Reads `#spyre.place`.
    fn from_attribute(attribute: Attribute<'_>) -> Option<Self> {
        let raw = attribute.to_raw();
        // SAFETY: the accessors are only called on a place attribute.
        unsafe {
            if !spyreAttributeIsAPlace(raw) {
                return None;
            }
            let offset_bytes = spyrePlaceAttrGetOffsetBytes(raw);
            let memory = match spyrePlaceAttrGetMemory(raw) {
                memory::LX => MemoryLocation::Lx(offset_bytes),
                memory::POOL => MemoryLocation::Pool(offset_bytes),
                memory::HBM => MemoryLocation::Hbm,
                _ => return None,
            };
            Some(Self {
                memory,
                reason: read_context_text(spyrePlaceAttrGetReason(raw), || mlirAttributeGetContext(raw)).to_owned(),
            })
        }
    }
}

/// Builds `#spyre.place`.
#[must_use]
fn placement_attribute<'c>(context: &'c Context, place: &MemoryPlacement) -> Attribute<'c> {
    let (memory, offset_bytes) = match place.memory {
        MemoryLocation::Lx(offset_bytes) => (memory::LX, offset_bytes),
        MemoryLocation::Pool(offset_bytes) => (memory::POOL, offset_bytes),
        MemoryLocation::Hbm => (memory::HBM, 0),
    };
    // SAFETY: MLIR copies the text, and the number is one of the cases of the enum.
    unsafe { Attribute::from_raw(spyrePlaceAttrGet(context.to_raw(), memory, offset_bytes, string_ref(&place.reason))) }
}

/// Loop level that the user requests around an op.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TileHint {
    /// Ops with equal ids share the level; smaller ids are further out.
    pub id: i64,
    /// Name of the dimension.
    pub dim: String,
    /// Number of tiles.
    pub count: SymbolicCount,
    /// Whether an op without that dimension is placed in the loop nevertheless.
    pub recomputes: bool,
}

impl TileHint {
    /// Reads `#spyre.tile_hint`.
    #[must_use]
    pub(super) fn from_attribute(attribute: Attribute<'_>) -> Option<Self> {
        let raw = attribute.to_raw();
        // SAFETY: the accessors are only called on a tile hint.
        unsafe {
            spyreAttributeIsATileHint(raw).then(|| Self {
                id: spyreTileHintAttrGetId(raw),
                dim: read_context_text(spyreTileHintAttrGetDim(raw), || mlirAttributeGetContext(raw)).to_owned(),
                count: match read_context_text(spyreTileHintAttrGetSymbol(raw), || mlirAttributeGetContext(raw)) {
                    "" => SymbolicCount::Number(spyreTileHintAttrGetCount(raw)),
                    symbol => SymbolicCount::Symbol(symbol.to_owned()),
                },
                recomputes: spyreTileHintAttrGetRecompute(raw),
            })
        }
    }

    /// Builds `#spyre.tile_hint`.
    #[must_use]
    pub(super) fn to_attribute<'c>(&self, context: &'c Context) -> Attribute<'c> {
        let (count, symbol) = match &self.count {
            SymbolicCount::Number(count) => (*count, ""),
            SymbolicCount::Symbol(symbol) => (0, symbol.as_str()),
        };
        // SAFETY: MLIR copies the names.
        unsafe {
            let (dim, symbol) = (string_ref(&self.dim), string_ref(symbol));
            Attribute::from_raw(spyreTileHintAttrGet(context.to_raw(), self.id, dim, count, symbol, self.recomputes))
        }
    }
}

/// Reads `#spyre.work_hint`.
#[must_use]
pub(super) fn read_work_hint(attribute: Attribute<'_>) -> Option<WorkHint> {
    let raw = attribute.to_raw();
    // SAFETY: the accessors are only called on a work hint.
    unsafe {
        spyreAttributeIsAWorkHint(raw).then(|| WorkHint {
            id: spyreWorkHintAttrGetId(raw),
            dim: read_context_text(spyreWorkHintAttrGetDim(raw), || mlirAttributeGetContext(raw)).to_owned(),
            slices: spyreWorkHintAttrGetSlices(raw),
        })
    }
}

/// Builds `#spyre.work_hint`.
#[must_use]
pub(super) fn work_hint_attribute<'c>(context: &'c Context, hint: &WorkHint) -> Attribute<'c> {
    // SAFETY: MLIR copies the name.
    unsafe { Attribute::from_raw(spyreWorkHintAttrGet(context.to_raw(), hint.id, string_ref(&hint.dim), hint.slices)) }
}
