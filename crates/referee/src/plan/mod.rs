//! Ops ready for execution: the contents of an SDSC file as plain loops and tables.
//!
//! The file is interpreted once. Only the addresses differ between executions; the execute statement supplies them.

mod build;
mod error;
mod footprint;
mod kernel;
mod point_loops;
mod relayout;
mod stagger;
mod steps;
mod symbolic_size;
mod tensor;

pub(crate) use footprint::ByteInterval;
pub(crate) use kernel::{OpKernel, TopKOutput};
pub(crate) use point_loops::{OffsetTables, PointChunk, PointLoopNest, StridedRun, build_dense_tables};
pub(crate) use steps::{ConcurrentPlans, compile_steps};
pub(crate) use symbolic_size::SymbolicSize;

use crate::number::{dl16_from_host, dl16_to_f32};
use machine::DeviceFormat;

/// An offset that a tensor does not have: the point lies beyond its end.
pub(crate) const HOLE: i64 = i64::MIN;

/// An op on all its cores.
#[derive(Clone, Debug)]
pub(crate) struct OpPlan {
    /// The file and the function, for messages.
    pub(crate) name: String,
    /// The function as the file spells it.
    pub(crate) function: String,
    pub(crate) kernel: OpKernel,
    pub(crate) dims: Vec<IterationDim>,
    pub(crate) cores: Vec<CoreAssignment>,
    pub(crate) tensors: Vec<TensorPlan>,
    /// The tensors that it reads, without index tensors and without the result.
    pub(crate) inputs: Vec<usize>,
    /// The index tensors.
    pub(crate) indices: Vec<usize>,
    pub(crate) output: usize,
    /// Replacement of the inputs beyond the valid range of masked dimensions.
    pub(crate) mask: Option<PaddingMask>,
    /// The constants, in the order of the file.
    pub(crate) constants: Vec<OpConstant>,
    /// The symbolic sizes.
    pub(crate) sizes: Vec<SymbolicSize>,
    /// Points of one core's iteration space.
    pub(crate) points: u64,
}

/// A dimension of the iteration space.
#[derive(Clone, Debug)]
pub(crate) struct IterationDim {
    pub(crate) label: String,
    /// Total number of points.
    pub(crate) size: i64,
    /// Slices over cores.
    pub(crate) slices: i64,
    /// Points of one core.
    pub(crate) local: i64,
}

/// A core and its slice of each dimension.
#[derive(Clone, Debug)]
pub(crate) struct CoreAssignment {
    pub(crate) id: i64,
    pub(crate) slots: Vec<i64>,
}

/// The part of the iteration space that is not padding.
#[derive(Clone, Debug)]
pub(crate) struct PaddingMask {
    /// A dimension and the number of its valid points.
    pub(crate) dims: Vec<(usize, i64)>,
    /// The constant that replaces the others.
    pub(crate) constant: usize,
}

/// A constant of an op.
#[derive(Clone, Debug)]
pub(crate) struct OpConstant {
    pub(crate) name: String,
    /// The device's number.
    pub(crate) value: f32,
    /// The program's number, from which the device's number is rounded.
    pub(crate) exact: f64,
}

impl OpConstant {
    /// Whether the device's number is the rounded program's number, in one of the formats of constants.
    pub(crate) fn is_rounded_from(&self, exact: f64) -> bool {
        let single = exact as f32;
        self.value == single || self.value == dl16_to_f32(dl16_from_host(single))
    }
}

/// A tensor of an op.
#[derive(Clone, Debug)]
pub(crate) struct TensorPlan {
    pub(crate) name: String,
    pub(crate) format: DeviceFormat,
    pub(crate) memory: MemorySpace,
    /// Start of each core's part, in the order of [`OpPlan::build_cores`].
    pub(crate) starts: Vec<StartAddress>,
    /// By dimension, the elements from the start to each of a core's positions; [`HOLE`] where the tensor has none.
    pub(crate) offsets: Vec<Vec<i64>>,
    /// By dimension, the number of evenly spaced positions from each multiple of that number on.
    pub(crate) even: Vec<usize>,
    /// The dimension along its sticks.
    pub(crate) stick: usize,
    /// The dimension of adjacent sticks: the innermost one with more than one position in memory.
    pub(crate) inner: Option<usize>,
    /// Number of sticks that all cores access together; for a table, one row per index.
    pub(crate) sticks: i64,
    /// By dimension, whether the tensor has it.
    pub(crate) present: Vec<bool>,
    /// One element in each stick.
    pub(crate) is_sparse: bool,
    pub(crate) indirect: Option<IndirectAccess>,
    /// The slices of each dimension that a core holds, if they differ from its compute slices, in the order of
    /// [`OpPlan::build_cores`]; `None` for a core that holds no part of the tensor.
    pub(crate) ownership: Option<Vec<Option<Vec<i64>>>>,
    /// Byte intervals that one core reads, relative to its start: the elements.
    pub(crate) read: Vec<ByteInterval>,
    /// Byte intervals that one core writes, relative to its start: the elements, or full sticks for a sparse tensor.
    pub(crate) written: Vec<ByteInterval>,
}

/// A tensor that is accessed through an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndirectAccess {
    /// The index tensor.
    pub(crate) index: usize,
    /// Elements from one row to the next.
    pub(crate) row: i64,
}

/// Memory of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemorySpace {
    Hbm,
    Lx,
}

/// A start address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartAddress {
    Address(i64),
    Symbol(i64),
}

impl TensorPlan {
    /// Whether a core, as an index of [`OpPlan::build_cores`], holds a part of the tensor.
    pub(crate) fn is_held_by(&self, core: usize) -> bool {
        self.ownership.as_ref().is_none_or(|ownership| ownership[core].is_some())
    }
}

impl OpPlan {
    /// The position of a constant.
    pub(crate) fn find_constant(&self, name: &str) -> Option<usize> {
        self.constants.iter().position(|constant| constant.name == name)
    }

    /// The dimensions that the result has.
    pub(crate) fn output_dims(&self) -> Vec<usize> {
        (0..self.dims.len()).filter(|dim| self.tensors[self.output].present[*dim]).collect()
    }

    /// The dimensions that the result does not have.
    pub(crate) fn reduced_dims(&self) -> Vec<usize> {
        (0..self.dims.len()).filter(|dim| !self.tensors[self.output].present[*dim]).collect()
    }

    /// Returns the dimensions that an input has and the result does not. A dimension that no tensor has is a repetition
    /// without effect.
    pub(crate) fn consumed_dims(&self) -> Vec<usize> {
        let is_read = |dim: &usize| self.tensors.iter().any(|tensor| tensor.present[*dim]);
        self.reduced_dims().into_iter().filter(is_read).collect()
    }

    /// Returns the dimension that a top-k searches, and the dimension of its results.
    pub(crate) fn find_top_k_dims(&self) -> Option<(usize, usize)> {
        let [input] = self.inputs[..] else { return None };
        let (input, output) = (&self.tensors[input], &self.tensors[self.output]);
        let only = |one: &TensorPlan, other: &TensorPlan| {
            let mut dims = (0..self.dims.len()).filter(|dim| one.present[*dim] && !other.present[*dim]);
            dims.next().filter(|_| dims.next().is_none())
        };
        Some((only(input, output)?, only(output, input)?))
    }

    /// Points of one core along some dimensions.
    pub(crate) fn volume(&self, dims: &[usize]) -> usize {
        dims.iter().map(|dim| self.dims[*dim].local as usize).product()
    }

    /// Loops over all points, in pieces along the stick of the result, with one lane for each tensor.
    pub(crate) fn point_loop_nest(&self) -> PointLoopNest<'_> {
        let dims: Vec<usize> = (0..self.dims.len()).collect();
        let output = Some(self.tensors[self.output].stick);
        // An index is looked up once for a piece.
        let by_index =
            |dim: usize| self.indices.iter().any(|index| self.tensors[*index].present[dim] && self.dims[dim].local > 1);
        let inner = output.filter(|dim| !by_index(*dim));
        PointLoopNest::new(
            self.tensors.iter().map(TensorPlan::offset_tables).collect(),
            &self.local_sizes(),
            &dims,
            inner,
        )
    }

    /// Returns for each core the core that stores the same part of the result: the first one, or, for a sum in LX, the
    /// last one, which completes the sum (torch-spyre's shuffles read it there). Results that are not summed over cores
    /// are in each core's own LX.
    pub(crate) fn find_leaders(&self) -> Vec<usize> {
        let is_lx = self.tensors[self.output].memory == MemorySpace::Lx;
        if !self.kernel.can_accumulate() && is_lx {
            return (0..self.cores.len()).collect();
        }
        let dims = self.output_dims();
        let part = |core: &CoreAssignment| dims.iter().map(|dim| core.slots[*dim]).collect::<Vec<_>>();
        let parts: Vec<Vec<i64>> = self.cores.iter().map(part).collect();
        let storing = |part: &Vec<i64>| {
            let mut same = (0..parts.len()).filter(|other| parts[*other] == *part);
            if is_lx { same.next_back() } else { same.next() }
        };
        parts.iter().map(|part| storing(part).expect("a part is one of the parts")).collect()
    }

    /// Returns the largest HBM address that the file itself contains.
    pub(crate) fn max_address(&self) -> Option<i64> {
        let in_hbm = self.tensors.iter().filter(|tensor| tensor.memory == MemorySpace::Hbm);
        let address = |start: &StartAddress| match start {
            StartAddress::Address(address) => Some(*address),
            StartAddress::Symbol(_) => None,
        };
        in_hbm.flat_map(|tensor| tensor.starts.iter().filter_map(address)).max()
    }

    /// The sizes of one core's iteration space.
    pub(crate) fn local_sizes(&self) -> Vec<usize> {
        self.dims.iter().map(|dim| dim.local as usize).collect()
    }
}
