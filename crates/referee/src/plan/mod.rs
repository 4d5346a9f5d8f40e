//! Ops ready for execution: the contents of an SDSC file as plain loops and tables.
//!
//! A file is compiled once. Only the addresses differ between executions; the execute statement supplies them.

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

/// Offset of a point beyond the end of the tensor.
pub(crate) const HOLE: i64 = i64::MIN;

/// Plan of an op on all its cores.
#[derive(Clone, Debug)]
pub(crate) struct OpPlan {
    /// The file and the function, for messages.
    pub(crate) name: String,
    /// The device function, as in the file.
    pub(crate) function: String,
    pub(crate) kernel: OpKernel,
    pub(crate) dims: Vec<IterationDim>,
    pub(crate) cores: Vec<CoreAssignment>,
    pub(crate) tensors: Vec<TensorPlan>,
    /// Input tensors, without index tensors and without the result.
    pub(crate) inputs: Vec<usize>,
    /// The index tensors.
    pub(crate) indices: Vec<usize>,
    pub(crate) output: usize,
    /// Mask of the inputs beyond the valid range.
    pub(crate) mask: Option<PaddingMask>,
    /// The constants, in the order of the file.
    pub(crate) constants: Vec<OpConstant>,
    /// The symbolic sizes.
    pub(crate) sizes: Vec<SymbolicSize>,
    /// Number of points of one core's iteration space.
    pub(crate) points: u64,
}

/// A dimension of the iteration space.
#[derive(Clone, Debug)]
pub(crate) struct IterationDim {
    pub(crate) label: String,
    /// Number of points on all cores.
    pub(crate) size: i64,
    /// Number of slices over cores.
    pub(crate) slices: i64,
    /// Number of points of one core.
    pub(crate) local: i64,
}

/// A core and its slice number along each dimension.
#[derive(Clone, Debug)]
pub(crate) struct CoreAssignment {
    pub(crate) id: i64,
    pub(crate) slots: Vec<i64>,
}

/// Valid region of the iteration space; the remainder is padding.
#[derive(Clone, Debug)]
pub(crate) struct PaddingMask {
    /// Dimensions, each with the number of its valid points.
    pub(crate) dims: Vec<(usize, i64)>,
    /// Constant that replaces inputs in the padding.
    pub(crate) constant: usize,
}

/// A constant of an op.
#[derive(Clone, Debug)]
pub(crate) struct OpConstant {
    pub(crate) name: String,
    /// Device's number.
    pub(crate) value: f32,
    /// Program's number, from which the device's number is rounded.
    pub(crate) exact: f64,
}

impl OpConstant {
    /// Returns whether the device's number is `exact` rounded to one of the formats of constants.
    pub(crate) fn is_rounded_from(&self, exact: f64) -> bool {
        let single = exact as f32;
        self.value == single || self.value == dl16_to_f32(dl16_from_host(single))
    }
}

/// Plan of a tensor of an op.
#[derive(Clone, Debug)]
pub(crate) struct TensorPlan {
    pub(crate) name: String,
    pub(crate) format: DeviceFormat,
    pub(crate) memory: MemorySpace,
    /// Start of each core's slice, in the order of [`OpPlan::cores`].
    pub(crate) starts: Vec<StartAddress>,
    /// Offset of each position of a core, by dimension, in elements from the start; [`HOLE`] beyond the end of the
    /// tensor.
    pub(crate) offsets: Vec<Vec<i64>>,
    /// Length of evenly spaced runs, by dimension: positions between two multiples of this number have one stride. 0
    /// means all positions.
    pub(crate) even: Vec<usize>,
    /// Dimension along the sticks.
    pub(crate) stick: usize,
    /// Dimension of adjacent sticks: the innermost one with more than one position in memory.
    pub(crate) inner: Option<usize>,
    /// Number of sticks that all cores access together; for a table, one row per index.
    pub(crate) sticks: i64,
    /// Whether the tensor has a dimension, by dimension.
    pub(crate) present: Vec<bool>,
    /// Whether each stick holds one element.
    pub(crate) is_sparse: bool,
    pub(crate) indirect: Option<IndirectAccess>,
    /// Slices that each core holds, by dimension, if they differ from its compute slices, in the order of
    /// [`OpPlan::cores`]. `None` for a core that holds no slice of the tensor.
    pub(crate) ownership: Option<Vec<Option<Vec<i64>>>>,
    /// Byte intervals that one core reads, relative to its start: the elements.
    pub(crate) read: Vec<ByteInterval>,
    /// Byte intervals that one core writes, relative to its start: the elements, or complete sticks for a sparse
    /// tensor.
    pub(crate) written: Vec<ByteInterval>,
}

/// Access to a tensor through an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndirectAccess {
    /// Index tensor.
    pub(crate) index: usize,
    /// Distance of two rows, in elements.
    pub(crate) row: i64,
}

/// Memory that holds a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemorySpace {
    Hbm,
    Lx,
}

/// Start address: a constant, or the symbol of an execute operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StartAddress {
    Address(i64),
    Symbol(i64),
}

impl TensorPlan {
    /// Returns whether a core, as an index of [`OpPlan::cores`], holds a slice of the tensor.
    pub(crate) fn is_held_by(&self, core: usize) -> bool {
        self.ownership.as_ref().is_none_or(|ownership| ownership[core].is_some())
    }
}

impl OpPlan {
    /// Returns the position of a constant.
    pub(crate) fn find_constant(&self, name: &str) -> Option<usize> {
        self.constants.iter().position(|constant| constant.name == name)
    }

    /// Returns the dimensions that the result has.
    pub(crate) fn output_dims(&self) -> Vec<usize> {
        (0..self.dims.len()).filter(|dim| self.tensors[self.output].present[*dim]).collect()
    }

    /// Returns the dimensions that the result does not have.
    pub(crate) fn reduced_dims(&self) -> Vec<usize> {
        (0..self.dims.len()).filter(|dim| !self.tensors[self.output].present[*dim]).collect()
    }

    /// Returns the dimensions that an input has and the result lacks. A dimension that no tensor has repeats the op
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

    /// Returns the number of points of one core along some dimensions.
    pub(crate) fn volume(&self, dims: &[usize]) -> usize {
        dims.iter().map(|dim| self.dims[*dim].local as usize).product()
    }

    /// Returns loops over all points, in chunks along the stick of the result, with one run per tensor.
    pub(crate) fn point_loop_nest(&self) -> PointLoopNest<'_> {
        let dims: Vec<usize> = (0..self.dims.len()).collect();
        let output = Some(self.tensors[self.output].stick);
        // A chunk has one index, so the loops do not chunk an indexed dimension.
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

    /// Returns for each core the core that stores the same slice of the result. It is the first one; for a sum in LX,
    /// it is the last one, which completes the sum (torch-spyre's shuffles read it there). Results that are not summed
    /// over cores are in each core's own LX.
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

    /// Returns the largest HBM address in the file.
    pub(crate) fn max_address(&self) -> Option<i64> {
        let in_hbm = self.tensors.iter().filter(|tensor| tensor.memory == MemorySpace::Hbm);
        let address = |start: &StartAddress| match start {
            StartAddress::Address(address) => Some(*address),
            StartAddress::Symbol(_) => None,
        };
        in_hbm.flat_map(|tensor| tensor.starts.iter().filter_map(address)).max()
    }

    /// Returns the sizes of one core's iteration space.
    pub(crate) fn local_sizes(&self) -> Vec<usize> {
        self.dims.iter().map(|dim| dim.local as usize).collect()
    }
}
