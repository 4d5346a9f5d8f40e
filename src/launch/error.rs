//! Reasons to reject a launch ("SuperDSC schema, section 11" and the limits of the file format).

use super::label::DimLabel;
use super::statements::SizeBounds;
use machine::DeviceFormat;

/// Reason why an op or a launch has no form in SuperDSC. The text states the value found and the violated rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaunchError {
    /// Error of an op, with its depth-first number.
    #[error("op {index} ('{function}'): {source}")]
    InOp {
        /// Depth-first number of the op.
        index: usize,
        /// Device function of the op.
        function: String,
        /// Error of the op.
        source: Box<LaunchError>,
    },
    /// More iteration dimensions than labels.
    #[error("{found} iteration dimensions; the file format has labels for at most {limit}")]
    TooManyDims {
        /// Dimensions of the op.
        found: usize,
        /// Number of available labels.
        limit: usize,
    },
    /// Fewer operands than the function has.
    #[error("{found} operands; this op needs at least {needed}")]
    TooFewOperands {
        /// Operands of the op.
        found: usize,
        /// Required number of operands.
        needed: usize,
    },
    /// A range or a split below 1.
    #[error("iteration dimension {dim} has range {range} and split {split}; both must be at least 1")]
    EmptyDim {
        /// Position in the iteration space.
        dim: usize,
        /// Range of the dimension.
        range: i64,
        /// Split of the dimension.
        split: i64,
    },
    /// The numbers of coordinates and device dimensions differ.
    #[error("operand {operand} has {coordinates} coordinates for {sizes} device dimensions; each dimension needs one")]
    CoordinateCount {
        /// The operand.
        operand: usize,
        /// Number of coordinates.
        coordinates: usize,
        /// Number of device dimensions.
        sizes: usize,
    },
    /// The last device dimension is not a stick.
    #[error("operand {operand} ends in a device dimension of {found}; a stick of {format} has {expected} elements")]
    NotAStick {
        /// The operand.
        operand: usize,
        /// Last device size.
        found: i64,
        /// Number format.
        format: DeviceFormat,
        /// Expected number of elements in a stick.
        expected: i64,
    },
    /// A device size below 1.
    #[error("operand {operand} has a device dimension of {found}; sizes are at least 1")]
    EmptySize {
        /// The operand.
        operand: usize,
        /// The size.
        found: i64,
    },
    /// A coordinate names a dimension that the op does not have.
    #[error("operand {operand} refers to iteration dimension {dim}; the op has {dims}")]
    UnknownDim {
        /// The operand.
        operand: usize,
        /// Position of the named dimension.
        dim: usize,
        /// Number of dimensions of the op.
        dims: usize,
    },
    /// An indirect coordinate names an unknown operand.
    #[error("operand {operand} reads the index tensor '{name}'; no operand has that name")]
    UnknownIndex {
        /// The operand.
        operand: usize,
        /// Name in the coordinate.
        name: String,
    },
    /// A number above its limit.
    #[error("{what} is {found}; it must not exceed {limit}")]
    TooLarge {
        /// Name of the quantity.
        what: &'static str,
        /// The number.
        found: i64,
        /// Maximum.
        limit: i64,
    },
    /// A coordinate that starts outside its tensor.
    #[error("coordinate {position} of operand {operand} starts at {found}; its device dimension has {size} positions")]
    OffsetOutside {
        /// The operand.
        operand: usize,
        /// The device dimension.
        position: usize,
        /// The offset of the coordinate.
        found: i64,
        /// The device size.
        size: i64,
    },
    /// A start within a stick. Addresses have stick granularity, so the position would be lost.
    #[error(
        "operand {operand} starts at position {found} of a stick of {elements} elements; an operand starts at the beginning of a stick"
    )]
    StartsInsideStick {
        /// The operand.
        operand: usize,
        /// The position in the stick.
        found: i64,
        /// Elements of the stick.
        elements: i64,
    },
    /// A step of a loop that is not a multiple of the stick size.
    #[error(
        "operand {operand} advances by {bytes} bytes in an iteration of a loop; addresses advance by whole sticks of {stick} bytes"
    )]
    AdvancesInsideStick {
        /// The operand.
        operand: usize,
        /// Bytes per iteration.
        bytes: i64,
        /// Stick size, in bytes.
        stick: i64,
    },
    /// A tensor with too many elements.
    #[error("operand {operand} has more than 2^48 elements")]
    TensorTooLarge {
        /// The operand.
        operand: usize,
    },
    /// More cores than the machine has.
    #[error("the splits make {found} slices; each core computes one slice, and there are {limit} cores")]
    TooManyCores {
        /// Product of the splits.
        found: i64,
        /// Number of cores of the machine.
        limit: i64,
    },
    /// An index tensor in LX.
    #[error("index tensor {operand} is in LX; indirect access goes through HBM only")]
    IndexInLx {
        /// The operand.
        operand: usize,
    },
    /// No label is left for a dimension that the rules add.
    #[error("no label is left for the dimension that must be added for {purpose}")]
    NoLabelLeft {
        /// Purpose of the added dimension.
        purpose: &'static str,
    },
    /// More distinct layouts than class names.
    #[error("the operands need {found} layout classes; the file format names {limit}")]
    TooManyClasses {
        /// Number of required classes.
        found: usize,
        /// Number of class names.
        limit: usize,
    },
    /// A windowed op without its parameters.
    #[error("a windowed op needs {missing}")]
    MissingWindow {
        /// The missing parameter.
        missing: &'static str,
    },
    /// A windowed op without a result.
    #[error("the ranges of the result are {ranges:?}; each must be at least 1")]
    EmptyResult {
        /// `[N, C, H, W]`.
        ranges: [i64; 4],
    },
    /// A window without extent.
    #[error("the {what} of the window is {found}; it must be at least 1")]
    BadWindow {
        /// Name of the invalid property.
        what: &'static str,
        /// Value of the property.
        found: i64,
    },
    /// The dimensions of a windowed op do not match its result.
    #[error(
        "{found} iteration dimensions do not match the {expected} that the result ranges {ranges:?} and the window leave"
    )]
    WindowDims {
        /// Dimensions of the op.
        found: usize,
        /// Number of expected dimensions.
        expected: usize,
        /// `[N, C, H, W]`.
        ranges: [i64; 4],
    },
    /// Ownership on an op that is not a relayout.
    #[error("operand {operand} has its own ownership; only the two LX tensors of an identity may have that")]
    StrayOwnership {
        /// The operand.
        operand: usize,
    },
    /// Ownership that does not assign one slice to each core, and each slice to equally many.
    #[error(
        "the ownership of operand {operand} has {slices} slices; the op uses {cores} cores, of which each holds one, and the source has as many slices"
    )]
    OwnershipCores {
        /// The operand.
        operand: usize,
        /// Product of the slice counts.
        slices: i64,
        /// Cores of the op.
        cores: i64,
    },
    /// An LX tensor that moves with a loop.
    #[error(
        "operand {operand} is in LX and advances by {elements} elements in an enclosing loop; LX addresses are fixed"
    )]
    TiledLx {
        /// The operand.
        operand: usize,
        /// The advance.
        elements: i64,
    },
    /// Advances that do not match the loop nest.
    #[error("operand {operand} has {advances} tile advances within {loops} loops; it needs one for each loop, or none")]
    AdvanceCount {
        /// The operand.
        operand: usize,
        /// Number of advances.
        advances: usize,
        /// Number of enclosing loops.
        loops: usize,
    },
    /// A symbolic dimension that is both split over cores and tiled.
    #[error(
        "operand {operand} is split on the symbolic dimension '{label}' and advances in a loop; such a tensor has no address per core"
    )]
    SymbolicTiled {
        /// The operand.
        operand: usize,
        /// The dimension.
        label: DimLabel,
    },
    /// A pool without a permitted size. The maximum is a segment less 2 GiB.
    #[error("a tensor is in the pool, whose size is {found} bytes; it must be between 1 and {limit}")]
    PoolBytes {
        /// Size of the pool.
        found: i64,
        /// Maximum size.
        limit: i64,
    },
    /// A negative trip count.
    #[error("a loop runs {found} times; the count must not be negative")]
    LoopCount {
        /// The count.
        found: i64,
    },
    /// Two loops over the same symbolic size with different bounds.
    #[error(
        "loops over '{symbol}' expect at most {} in steps of {}, and at most {} in steps of {}; declare one maximum and \
         one multiple",
        first.max, first.granularity, second.max, second.granularity
    )]
    LoopSizeBounds {
        /// Name of the size.
        symbol: String,
        /// Bounds for one loop.
        first: SizeBounds,
        /// Bounds for another loop.
        second: SizeBounds,
    },
    /// Tiles that do not divide every value of a symbolic size.
    #[error(
        "a loop has tiles of {tile} positions of '{symbol}', which is a multiple of {granularity} only; the tile must \
         divide {granularity}"
    )]
    LoopSizeStep {
        /// Name of the size.
        symbol: String,
        /// Positions of a tile.
        tile: i64,
        /// Number of which every size is a multiple.
        granularity: i64,
    },
    /// An operand that advances by a fraction of a byte for one position of a symbolic size.
    #[error(
        "operand {operand} advances by {bytes} bytes for a tile of {tile} positions; one position must advance by whole \
         bytes"
    )]
    AdvanceOfPosition {
        /// The operand.
        operand: usize,
        /// Bytes that one tile advances.
        bytes: i64,
        /// Positions of a tile.
        tile: i64,
    },
    /// A loop over a symbolic size with baked addresses.
    #[error("a loop over '{symbol}' needs a parameter, which baked addresses cannot express; keep addresses symbolic")]
    BakedLoopSize {
        /// Name of the size.
        symbol: String,
    },
    /// A launch argument without a segment.
    #[error("kernel argument {argument} needs segment {segment}; baked addresses have {segments} segments")]
    Segments {
        /// The argument.
        argument: u32,
        /// Required segment.
        segment: i64,
        /// Number of segments.
        segments: i64,
    },
    /// An operand with a baked address that moves in a loop.
    #[error(
        "operand {operand} advances in a loop, which baked addresses cannot express; unroll the loop or keep addresses symbolic"
    )]
    BakedAdvance {
        /// The operand.
        operand: usize,
    },
    /// A symbolic dimension with baked addresses.
    #[error("iteration dimension {dim} is symbolic, which baked addresses cannot express; keep addresses symbolic")]
    BakedSymbolic {
        /// Position in the iteration space.
        dim: usize,
    },
}

impl LaunchError {
    /// Adds the op's number and function to the error.
    pub(crate) fn annotate_with_op(self, index: usize, function: &str) -> Self {
        Self::InOp { index, function: function.to_owned(), source: Box::new(self) }
    }
}
