//! Model of a bundle: counted loops around op specs, after all decisions and before files are written.
//!
//! It is the level of torch-spyre's `OpSpec` and `LoopSpec` ("torch-spyre facts, D.11"; the vocabulary of the golden
//! `case.json`). Iteration dimensions are referred to by position, so names are comments only.

use machine::DeviceFormat;
use program::layout::CoordinateTerm;

/// One kernel launch: ops and loops that run in order, and the HBM pool that they share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundle {
    /// Size of the bundle's own HBM pool, in bytes; 0 if no operand is in it.
    pub pool_bytes: i64,
    /// Ops and loops, in execution order.
    pub items: Vec<BundleItem>,
}

/// Op or loop of a bundle.
#[derive(Clone, Debug, PartialEq)]
pub enum BundleItem {
    /// Operation on all its cores.
    Op(Box<OpSpec>),
    /// Counted loop.
    Loop {
        /// Trip count; the maximum if there is a symbol.
        count: i64,
        /// Size that determines the trip count, if it is known only at launch.
        symbol: Option<LoopSymbol>,
        /// Ops and loops of one iteration.
        body: Vec<BundleItem>,
    },
}

/// Symbolic size of the dimension that a loop tiles: the trip count is the size divided by the size of a tile.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LoopSymbol {
    /// Name of the size.
    pub name: String,
    /// Name of the tiled dimension.
    pub dim: String,
    /// Positions of the dimension in one tile, at least 1.
    pub tile: i64,
    /// Number of which every size is a multiple, itself a multiple of the tile.
    pub granularity: i64,
}

impl OpSpecOperand {
    /// Moves the start of a table that is indexed along device dimension `indexed` to the position of each outer
    /// dimension that its gather reads. The file does not state the size of a table, so a table has no such dimensions.
    pub fn begin_at_window(&mut self, indexed: usize) {
        for dim in 0..indexed {
            let step: i64 = self.device_size[dim + 1..].iter().product::<i64>() * self.format.bytes();
            self.allocation = self.allocation.offset_by(self.coordinates[dim].offset * step);
        }
        for dim in 0..indexed {
            self.device_size[dim] = 1;
            self.coordinates[dim].offset = 0;
        }
    }

    /// Returns the number of slices of a dimension that cores hold.
    #[must_use]
    pub fn num_slices(&self, op: &OpSpec, dim: usize) -> i64 {
        self.ownership.as_ref().map_or_else(|| op.iteration_space[dim].split, |ownership| ownership.num_slices(dim))
    }

    /// Returns the bytes per core, given the number of slices of each iteration dimension.
    #[must_use]
    pub fn bytes_per_core(&self, slices: &[i64]) -> i64 {
        let moves = |dim: usize| self.coordinates.iter().any(|coordinate| coordinate.moving_dim() == Some(dim));
        let held = |(dim, slices): (usize, &i64)| {
            self.ownership.as_ref().map_or(*slices, |ownership| ownership.num_slices(dim))
        };
        let num_parts: i64 = slices.iter().enumerate().filter(|(dim, _)| moves(*dim)).map(held).product();
        self.device_size.iter().product::<i64>() * self.format.bytes() / num_parts.max(1)
    }
}

impl Bundle {
    /// Returns the loops whose trip count is known at launch only, with the maxima, in depth-first order.
    #[must_use]
    pub fn symbolic_loops(&self) -> Vec<(&LoopSymbol, i64)> {
        fn collect<'a>(items: &'a [BundleItem], into: &mut Vec<(&'a LoopSymbol, i64)>) {
            for item in items {
                if let BundleItem::Loop { count, symbol, body } = item {
                    into.extend(symbol.as_ref().map(|symbol| (symbol, *count)));
                    collect(body, into);
                }
            }
        }
        let mut loops = Vec::new();
        collect(&self.items, &mut loops);
        loops
    }

    /// Returns the ops in depth-first order: entry `k` is the operation of `sdsc_<k>.json`.
    #[must_use]
    pub fn ops(&self) -> Vec<&OpSpec> {
        fn collect<'a>(items: &'a [BundleItem], into: &mut Vec<&'a OpSpec>) {
            for item in items {
                match item {
                    BundleItem::Op(op) => into.push(op),
                    BundleItem::Loop { count: _, symbol: _, body } => collect(body, into),
                }
            }
        }
        let mut ops = Vec::new();
        collect(&self.items, &mut ops);
        ops
    }

    /// Returns whether any operand is in the bundle's HBM pool.
    #[must_use]
    pub fn uses_pool(&self) -> bool {
        self.ops()
            .iter()
            .any(|op| op.operands.iter().any(|operand| matches!(operand.allocation, Allocation::Pool { .. })))
    }
}

/// Device operation: a function, its iteration space, and its tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpSpec {
    /// The device function before the "nonstick" and "shuffle" renaming, such as `add` or `batchmatmul`.
    pub function: String,
    /// True for every contraction, including matmul.
    pub is_reduction: bool,
    /// Output dimensions before reduction dimensions; the order names the dimensions in the file.
    pub iteration_space: Vec<IterationDim>,
    /// Index tensors, then inputs, then the output.
    pub operands: Vec<OpSpecOperand>,
    /// Named constants; their order determines their numbers.
    pub constants: Vec<NamedConstant>,
    /// Window of a convolution or a pooling.
    pub window: Option<OpWindow>,
    /// `[N, C, H, W]` of the result of a convolution or a pooling.
    pub node_output_ranges: Option<[i64; 4]>,
}

/// Dimension of an iteration space.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct IterationDim {
    /// Name for display only.
    pub name: Option<String>,
    /// Number of points; the maximum if the dimension is symbolic.
    pub range: i64,
    /// Number of slices that the cores share.
    pub split: i64,
    /// Number of consecutive cores with the same slice: core `c` has slice `(c / divisor) mod split`. Either all
    /// dimensions of an op have a divisor, or the default core order of the format applies ("SuperDSC schema, section
    /// 5").
    pub divisor: Option<i64>,
    /// Symbolic size, if the number of points is known at launch only.
    pub symbolic: Option<SymbolicDim>,
}

impl IterationDim {
    /// Creates a dimension of fixed size.
    #[must_use]
    pub fn new(range: i64, split: i64) -> Self {
        Self { name: None, range, split, divisor: None, symbolic: None }
    }
}

/// Symbolic size of a dimension: its name and its bounds. The launch passes the size as an argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolicDim {
    /// Name of the size; equal names are equal sizes.
    pub symbol: String,
    /// Maximum size.
    pub max: i64,
    /// Number of which the size is a multiple.
    pub granularity: i64,
}

/// Named constant of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedConstant {
    /// Name by which the device function knows the constant.
    pub name: String,
    /// Value; a boolean is 0 or 1.
    pub value: f64,
}

/// Window of a convolution or a pooling, for the height and the width.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpWindow {
    /// Along the height (labels `i` and `ki`).
    pub height: WindowAxis,
    /// Along the width (labels `j` and `kj`).
    pub width: WindowAxis,
    /// Treatment of window positions outside of the input, for a depthwise convolution.
    pub pad_type: Option<String>,
}

/// Window along one axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WindowAxis {
    /// Number of points of the window.
    pub kernel: i64,
    /// Input points from one output point to the next.
    pub stride: i64,
    /// Number of points added on each side of the input.
    pub padding: i64,
    /// Input points from one window point to the next.
    pub dilation: i64,
    /// Number of input points with the padding (depthwise convolutions only).
    pub total_size: Option<i64>,
}

impl Default for WindowAxis {
    fn default() -> Self {
        Self { kernel: 1, stride: 1, padding: 0, dilation: 1, total_size: None }
    }
}

/// Tensor of an op.
#[derive(Clone, Debug, PartialEq)]
pub struct OpSpecOperand {
    /// False for the result.
    pub is_input: bool,
    /// Number format of the elements.
    pub format: DeviceFormat,
    /// Arrangement of the elements within sticks.
    pub arrangement: ElementArrangement,
    /// Device shape, row-major; the last entry is the number of elements in a stick.
    pub device_size: Vec<i64>,
    /// Device position of an iteration point: one coordinate per entry of `device_size`.
    pub coordinates: Vec<Coordinate>,
    /// Location of the start of the tensor.
    pub allocation: Allocation,
    /// Elements by which the start moves in one iteration of each enclosing loop, outermost first; empty if it never
    /// moves.
    pub tile_advance: Vec<i64>,
    /// Name of an index tensor, by which [`CoordinateSource::Indirect`] refers to it.
    pub name: Option<String>,
    /// Assignment of slices to cores, if it differs from the op's own division (LX relayout only).
    pub ownership: Option<Ownership>,
}

/// Arrangement of elements within sticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ElementArrangement {
    /// Elements are in order.
    #[default]
    Standard,
    /// Staggered result of converting DL16 to f32.
    Dl16ToFp32,
    /// Result of converting f32 to DL16.
    Fp32ToDl16,
    /// fp8 values quantized by channel.
    Qfp8Ch,
    /// fp8 weights: a stick is a block of two rows.
    Qfp8Wt,
    /// Two moments in each stick.
    Exx2,
}

impl ElementArrangement {
    /// Every arrangement, in the order of the enum.
    pub const ALL: [Self; 6] =
        [Self::Standard, Self::Dl16ToFp32, Self::Fp32ToDl16, Self::Qfp8Ch, Self::Qfp8Wt, Self::Exx2];

    /// Returns the name that torch-spyre uses.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Standard => "STANDARD",
            Self::Dl16ToFp32 => "DL16_TO_FP32",
            Self::Fp32ToDl16 => "FP32_TO_DL16",
            Self::Qfp8Ch => "QFP8CH",
            Self::Qfp8Wt => "QFP8WT",
            Self::Exx2 => "EXX2",
        }
    }
}

/// Location of the start of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Allocation {
    /// In HBM, above the base of a kernel argument.
    Hbm {
        /// The kernel argument.
        argument: u32,
        /// Bytes above its base.
        offset_bytes: i64,
    },
    /// In the bundle's HBM pool.
    Pool {
        /// Bytes above the start of the pool.
        offset_bytes: i64,
    },
    /// In the LX of each core, at the same address.
    Lx {
        /// The byte address.
        offset_bytes: i64,
    },
}

impl Allocation {
    /// Returns the byte offset within the argument, the pool or LX.
    #[must_use]
    pub const fn offset_bytes(self) -> i64 {
        match self {
            Self::Hbm { argument: _, offset_bytes } | Self::Pool { offset_bytes } | Self::Lx { offset_bytes } => {
                offset_bytes
            }
        }
    }

    /// Returns the location `bytes` bytes further in the same memory.
    #[must_use]
    pub const fn offset_by(self, bytes: i64) -> Self {
        match self {
            Self::Hbm { argument, offset_bytes } => Self::Hbm { argument, offset_bytes: offset_bytes + bytes },
            Self::Pool { offset_bytes } => Self::Pool { offset_bytes: offset_bytes + bytes },
            Self::Lx { offset_bytes } => Self::Lx { offset_bytes: offset_bytes + bytes },
        }
    }

    /// Returns whether the tensor is in LX.
    #[must_use]
    pub const fn is_lx(self) -> bool {
        matches!(self, Self::Lx { .. })
    }
}

/// Position of an operand along one device dimension, as a function of the iteration point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Coordinate {
    /// Term that moves the position; without one the position is constant.
    pub term: Option<CoordinateSource>,
    /// Position for a term of 0.
    pub offset: i64,
}

/// Variable part of a device coordinate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CoordinateSource {
    /// Mixed-radix term of an iteration dimension.
    Digits(CoordinateTerm),
    /// Value of the named index tensor at the current point.
    Indirect(String),
}

impl CoordinateSource {
    /// Returns the dimension itself.
    #[must_use]
    pub const fn dim(dim: usize) -> Self {
        Self::Digits(CoordinateTerm::from_dim(dim))
    }
}

impl Coordinate {
    /// Returns a constant position.
    #[must_use]
    pub const fn constant(offset: i64) -> Self {
        Self { term: None, offset }
    }

    /// Returns the dimension itself.
    #[must_use]
    pub const fn dim(dim: usize) -> Self {
        Self { term: Some(CoordinateSource::dim(dim)), offset: 0 }
    }

    /// Returns `dim floordiv divisor`.
    #[must_use]
    pub const fn floordiv(dim: usize, divisor: i64) -> Self {
        Self {
            term: Some(CoordinateSource::Digits(CoordinateTerm { dim, modulo: None, floordiv: Some(divisor) })),
            offset: 0,
        }
    }

    /// Returns `dim mod modulo`.
    #[must_use]
    pub const fn modulo(dim: usize, modulo: i64) -> Self {
        Self {
            term: Some(CoordinateSource::Digits(CoordinateTerm { dim, modulo: Some(modulo), floordiv: None })),
            offset: 0,
        }
    }

    /// Returns the value of the index tensor `name`.
    #[must_use]
    pub fn indirect(name: impl Into<String>) -> Self {
        Self { term: Some(CoordinateSource::Indirect(name.into())), offset: 0 }
    }

    /// Returns the coordinate shifted by `offset`.
    #[must_use]
    pub fn shifted_by(mut self, offset: i64) -> Self {
        self.offset += offset;
        self
    }

    /// Returns the dimension that moves the coordinate.
    #[must_use]
    pub const fn moving_dim(&self) -> Option<usize> {
        match self.term {
            Some(CoordinateSource::Digits(CoordinateTerm { dim, .. })) => Some(dim),
            Some(CoordinateSource::Indirect(_)) | None => None,
        }
    }

    /// Returns the index tensor that the coordinate reads.
    #[must_use]
    pub fn index_name(&self) -> Option<&str> {
        match &self.term {
            Some(CoordinateSource::Indirect(name)) => Some(name),
            Some(CoordinateSource::Digits(_)) | None => None,
        }
    }
}

/// Assignment of slices of a tensor to cores. A dimension that is not listed is not divided.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ownership {
    /// Divided dimensions, by ascending position.
    pub dims: Vec<OwnedDim>,
}

impl Ownership {
    /// Returns the number of slices of a dimension.
    #[must_use]
    pub fn num_slices(&self, dim: usize) -> i64 {
        self.dims.iter().find(|owned| owned.dim == dim).map_or(1, |owned| owned.slices)
    }
}

/// Divided dimension: core `c` holds slice `(c floordiv divisor) mod slices`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnedDim {
    /// Position in the iteration space.
    pub dim: usize,
    /// Number of slices, at least 2.
    pub slices: i64,
    /// Number of consecutive cores that hold the same slice.
    pub divisor: i64,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{op, operand};

    fn writer(function: &str, allocation: Allocation) -> BundleItem {
        let written = operand(&[1, 64], vec![Coordinate::constant(0), Coordinate::dim(0)]);
        BundleItem::Op(Box::new(op(function, &[64], vec![OpSpecOperand { allocation, ..written }])))
    }

    #[test]
    fn numbers_ops_depth_first() {
        let lx = Allocation::Lx { offset_bytes: 0 };
        let inner = BundleItem::Loop { count: 2, symbol: None, body: vec![writer("b", lx), writer("c", lx)] };
        let bundle = Bundle {
            pool_bytes: 0,
            items: vec![
                writer("a", lx),
                BundleItem::Loop { count: 3, symbol: None, body: vec![inner] },
                writer("d", lx),
            ],
        };
        let names: Vec<_> = bundle.ops().iter().map(|op| op.function.clone()).collect();
        assert_eq!(names, ["a", "b", "c", "d"]);
        assert!(!bundle.uses_pool());
    }

    #[test]
    fn finds_pool_operand_in_loop() {
        let body = vec![writer("a", Allocation::Pool { offset_bytes: 128 })];
        assert!(Bundle { pool_bytes: 256, items: vec![BundleItem::Loop { count: 2, symbol: None, body }] }.uses_pool());
    }
}
