//! Execution plans of ops: an SDSC file, compiled to loop nests and offset tables.
//!
//! Each file is compiled once. Executions of a file differ only in the addresses, which the execute statement supplies.

mod build;
mod error;
mod footprint;
mod kernel;
mod padded_window;
mod point_loops;
mod relayout;
mod stagger;
mod steps;
mod stick;
mod symbolic_size;
mod tensor;
mod window;

pub(crate) use footprint::ByteInterval;
pub(crate) use kernel::{OpKernel, TopKOutput};
pub(crate) use padded_window::PaddedWindow;
pub(crate) use point_loops::{OffsetTables, PointChunk, PointLoopNest, StridedRun, build_dense_tables};
pub(crate) use steps::{ConcurrentPlans, compile_steps};
pub(crate) use stick::StickLanes;
pub(crate) use symbolic_size::SymbolicSize;

use crate::number::{dl16_from_host, dl16_to_f32};
use machine::DeviceFormat;

/// Sentinel in offset tables for a position beyond the end of the tensor.
pub(crate) const HOLE: i64 = i64::MIN;

/// Plan of an op on all its cores.
#[derive(Clone, Debug)]
pub(crate) struct OpPlan {
    /// File and function, for messages.
    pub(crate) name: String,
    /// Device function, as in the file.
    pub(crate) function: String,
    pub(crate) kernel: OpKernel,
    pub(crate) dims: Vec<IterationDim>,
    pub(crate) cores: Vec<CoreAssignment>,
    pub(crate) tensors: Vec<TensorPlan>,
    /// Positions of the input tensors in `tensors`, without index tensors and the result.
    pub(crate) inputs: Vec<usize>,
    /// Positions of the index tensors in `tensors`.
    pub(crate) index_tensors: Vec<usize>,
    /// Position of the result in `tensors`.
    pub(crate) output: usize,
    /// Order of the dimensions of a shuffle's source in memory, from the one next to the stick outwards; empty for
    /// other ops.
    pub(crate) source_order: Vec<usize>,
    /// Mask that replaces inputs beyond the valid range by a constant.
    pub(crate) mask: Option<PaddingMask>,
    /// Numeric parameters of the device function, in the order of the file.
    pub(crate) constants: Vec<OpConstant>,
    /// Symbolic sizes of the file.
    pub(crate) symbolic_sizes: Vec<SymbolicSize>,
    /// Number of points of one core's iteration space.
    pub(crate) points_per_core: u64,
}

/// Dimension of an op's iteration space.
#[derive(Clone, Debug)]
pub(crate) struct IterationDim {
    pub(crate) label: String,
    /// Number of points over all cores.
    pub(crate) size: i64,
    /// Number of slices in the core split.
    pub(crate) num_slices: i64,
    /// Number of points of one core.
    pub(crate) local_size: i64,
}

/// Core with its slice index along each dimension. In a shuffle whose addresses differ between corelets, each corelet
/// has an entry.
#[derive(Clone, Debug)]
pub(crate) struct CoreAssignment {
    pub(crate) id: i64,
    /// Corelet of the core; `None` if its corelets share one address.
    pub(crate) corelet: Option<i64>,
    pub(crate) slice_indices: Vec<i64>,
}

/// Valid region of the iteration space; the remainder is padding.
#[derive(Clone, Debug)]
pub(crate) struct PaddingMask {
    /// Masked dimensions, each with its number of valid points.
    pub(crate) dims: Vec<(usize, i64)>,
    /// Position in `constants` of the number that replaces inputs in the padding.
    pub(crate) constant: usize,
}

/// Numeric parameter of a device function.
#[derive(Clone, Debug)]
pub(crate) struct OpConstant {
    pub(crate) name: String,
    /// Value in the file, which the device uses.
    pub(crate) value: f32,
    /// Value in the program, before rounding to `value`.
    pub(crate) exact: f64,
}

impl OpConstant {
    /// Returns whether `value` is `exact` rounded to a format that constants may have: f32 or DL16.
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
    /// Offset tables, by dimension: for each position of a core, the offset from the start in elements, or [`HOLE`]
    /// beyond the end of the tensor.
    pub(crate) offsets: Vec<Vec<i64>>,
    /// Length of constant-stride runs, by dimension: positions between two multiples of this length have one stride. 0
    /// means that all positions have one stride.
    pub(crate) uniform_run_lengths: Vec<usize>,
    /// Dimension of adjacent elements in a stick.
    pub(crate) stick_dim: usize,
    /// Elements of a stick along each of its dimensions, innermost first.
    pub(crate) stick_lanes: Vec<StickLanes>,
    /// Dimension along which sticks are adjacent in memory: the innermost one, besides the sticks, of size above 1.
    pub(crate) adjacent_stick_dim: Option<usize>,
    /// Number of sticks that all cores access in total; of a gathered table, one row per index counts.
    pub(crate) num_sticks: i64,
    /// Whether the tensor extends along a dimension of the iteration space, by dimension.
    pub(crate) has_dim: Vec<bool>,
    /// Whether each stick holds one element.
    pub(crate) is_sparse: bool,
    pub(crate) indirect: Option<IndirectAccess>,
    /// Slice indices, by dimension, of the data that each core holds, in the order of [`OpPlan::cores`]. Present only
    /// if the data slices differ from the compute slices. `None` for a core that holds no slice of the tensor.
    pub(crate) ownership: Option<Vec<Option<Vec<i64>>>>,
    /// Windows with padding.
    pub(crate) padded_windows: Vec<PaddedWindow>,
    /// Byte intervals that one core reads, relative to its start: those of the elements.
    pub(crate) read_intervals: Vec<ByteInterval>,
    /// Byte intervals that each core reads, in the order of [`OpPlan::cores`], if they differ because of padding; empty
    /// otherwise.
    pub(crate) core_read_intervals: Vec<Vec<ByteInterval>>,
    /// Byte intervals that one core writes, relative to its start: those of the elements, or of complete sticks for a
    /// sparse tensor.
    pub(crate) written_intervals: Vec<ByteInterval>,
}

/// Access to a tensor through an index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndirectAccess {
    /// Position of the index tensor in [`OpPlan::tensors`].
    pub(crate) index_tensor: usize,
    /// Distance between two rows of the table, in elements.
    pub(crate) row_stride: i64,
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

    /// Returns whether a stick has several elements along a dimension.
    pub(crate) fn is_along_stick(&self, dim: usize) -> bool {
        self.stick_lanes.iter().any(|lanes| lanes.dim == dim)
    }

    /// Returns whether sticks are blocks of two rows of 64 columns.
    pub(crate) fn has_weight_blocks(&self) -> bool {
        matches!(self.stick_lanes.as_slice(), [columns, rows] if (columns.elements, rows.elements) == (64, 2))
    }
}

impl OpPlan {
    /// Returns the position of a constant.
    pub(crate) fn find_constant(&self, name: &str) -> Option<usize> {
        self.constants.iter().position(|constant| constant.name == name)
    }

    /// Returns the dimensions that the result has.
    pub(crate) fn output_dims(&self) -> Vec<usize> {
        (0..self.dims.len()).filter(|dim| self.tensors[self.output].has_dim[*dim]).collect()
    }

    /// Returns the dimensions that the result does not have.
    pub(crate) fn reduced_dims(&self) -> Vec<usize> {
        (0..self.dims.len()).filter(|dim| !self.tensors[self.output].has_dim[*dim]).collect()
    }

    /// Returns the dimensions that an input has and the result lacks. Excludes dimensions that no tensor has: they only
    /// repeat the computation.
    pub(crate) fn consumed_dims(&self) -> Vec<usize> {
        let is_read = |dim: &usize| self.tensors.iter().any(|tensor| tensor.has_dim[*dim]);
        self.reduced_dims().into_iter().filter(is_read).collect()
    }

    /// Returns the dimension that a top-k searches, and the dimension of its `k` results.
    pub(crate) fn find_top_k_dims(&self) -> Option<(usize, usize)> {
        let [input] = self.inputs[..] else { return None };
        let (input, output) = (&self.tensors[input], &self.tensors[self.output]);
        let find_only_dim = |one: &TensorPlan, other: &TensorPlan| {
            let mut dims = (0..self.dims.len()).filter(|dim| one.has_dim[*dim] && !other.has_dim[*dim]);
            dims.next().filter(|_| dims.next().is_none())
        };
        Some((find_only_dim(input, output)?, find_only_dim(output, input)?))
    }

    /// Returns the number of points of one core along some dimensions.
    pub(crate) fn volume(&self, dims: &[usize]) -> usize {
        dims.iter().map(|dim| self.dims[*dim].local_size as usize).product()
    }

    /// Returns loops over all points of a core, in chunks along the result's sticks, with one strided run per tensor.
    pub(crate) fn point_loop_nest(&self) -> PointLoopNest<'_> {
        let dims: Vec<usize> = (0..self.dims.len()).collect();
        let output = Some(self.tensors[self.output].stick_dim);
        // A chunk has one index value, so a dimension along which an index tensor varies is not chunked.
        let is_indexed = |dim: usize| {
            self.index_tensors.iter().any(|index| self.tensors[*index].has_dim[dim] && self.dims[dim].local_size > 1)
        };
        let inner = output.filter(|dim| !is_indexed(*dim));
        PointLoopNest::new(
            self.tensors.iter().map(TensorPlan::offset_tables).collect(),
            &self.local_sizes(),
            &dims,
            inner,
        )
    }

    /// Returns the leader of each core: among the cores that compute the same slice of the result, the one that stores
    /// it. The leader is the first core; for a sum in LX, it is the last one, which completes the sum (torch-spyre's
    /// shuffles read it there). Results in LX that are not summed over cores have no common leader: each core stores
    /// its own copy.
    pub(crate) fn find_leaders(&self) -> Vec<usize> {
        let is_lx = self.tensors[self.output].memory == MemorySpace::Lx;
        if !self.kernel.can_accumulate() && is_lx {
            return (0..self.cores.len()).collect();
        }
        let dims = self.output_dims();
        let slice_of = |core: &CoreAssignment| dims.iter().map(|dim| core.slice_indices[*dim]).collect::<Vec<_>>();
        let slices: Vec<Vec<i64>> = self.cores.iter().map(slice_of).collect();
        let find_leader = |slice: &Vec<i64>| {
            let mut same = (0..slices.len()).filter(|other| slices[*other] == *slice);
            if is_lx { same.next_back() } else { same.next() }
        };
        slices.iter().map(|slice| find_leader(slice).expect("a part is one of the parts")).collect()
    }

    /// Returns the largest absolute HBM start address in the file; `None` if all starts are symbols.
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
        self.dims.iter().map(|dim| dim.local_size as usize).collect()
    }
}
