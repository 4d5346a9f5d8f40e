//! Errors of layouts and accesses.

/// Layout or access that cannot exist. Dimensions are numbered from 0, sizes and strides are in elements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LayoutError {
    /// A tensor has as many strides as sizes, a layout as many stride-map entries as sizes, an access as many
    /// coordinates as dimensions.
    #[error("{what} needs {expected} entries, but has {found}")]
    Length {
        /// The list of the wrong length.
        what: &'static str,
        /// Expected number of entries.
        expected: usize,
        /// Actual number of entries.
        found: usize,
    },
    /// Sizes are positive: an empty tensor has no device layout.
    #[error("size {size} of dimension {dim} is not positive")]
    Size {
        /// The dimension.
        dim: usize,
        /// Its size.
        size: i64,
    },
    /// The last device dimension is one stick.
    #[error("the last device dimension is {found}, but a stick of this format holds {expected} elements")]
    LastIsNotAStick {
        /// Elements of one stick.
        expected: i64,
        /// The last device size; 0 when there is none.
        found: i64,
    },
    /// A dimension order lists every host dimension once; only dimensions of size 1 may be left out.
    #[error("dimension order {order:?} does not list every dimension of {sizes:?} once")]
    Order {
        /// The order.
        order: Vec<usize>,
        /// The host sizes.
        sizes: Vec<i64>,
    },
    /// The device has layouts for at most six host dimensions (torch-spyre's layout constructor).
    #[error("expected at most 6 dimensions, found {found}; reshape the tensor")]
    Rank {
        /// Host dimensions in the order.
        found: usize,
    },
    /// Sizes in elements or bytes must fit 64 bits.
    #[error("the tensor is too large: its size does not fit in 64 bits")]
    TooLarge,
    /// A sparse tensor has one element per stick, so the dimension that was reduced must have size 1.
    #[error("dimension {dim} of size {size} cannot be the reduced stick dimension: it must have size 1")]
    NotReduced {
        /// The dimension.
        dim: usize,
        /// Its size.
        size: i64,
    },
    /// A host dimension occupies one device dimension, or two if it is the stick dimension; no stage reads other
    /// layouts.
    #[error(
        "device dimension {device_dim} (size {size}, stride {stride}) is neither a host dimension nor the number of its sticks"
    )]
    DeviceDim {
        /// The device dimension that has no match.
        device_dim: usize,
        /// Its size.
        size: i64,
        /// Its entry of the stride map.
        stride: i64,
    },
    /// Every host dimension larger than 1 must be found in the layout.
    #[error("host dimension {dim} of size {size} is not in the device layout")]
    HostDim {
        /// The host dimension.
        dim: usize,
        /// Its size.
        size: i64,
    },
    /// The dimension in the sticks of a table is the indexed one.
    #[error("a table that is indexed along dimension {dim} has no other dimension for its sticks")]
    TableOfElements {
        /// The indexed dimension.
        dim: usize,
    },
    /// An index can move along the outermost device dimension only.
    #[error("dimension {dim} is indexed, but is not the outermost in the device layout")]
    NotOutermost {
        /// The indexed dimension.
        dim: usize,
    },
    /// A window must begin at the start of a stick, and must not share a stick with other elements.
    #[error("{elements} elements along dimension {dim} cut a stick of {stick}")]
    CutsStick {
        /// The host dimension.
        dim: usize,
        /// The offset or step that is no multiple of the stick.
        elements: i64,
        /// Elements of one stick.
        stick: i64,
    },
    /// The device writes whole sticks, so a window that ends inside one would overwrite its neighboring elements. At
    /// the end of the tensor there are none.
    #[error(
        "expected a slice of whole sticks ({stick} elements), found elements {first} to {last} of dimension {dim} of size {size}; \
         align both ends to multiples of {stick}"
    )]
    WritesPartOfStick {
        /// The host dimension.
        dim: usize,
        /// The first position that is written.
        first: i64,
        /// The last position that is written.
        last: i64,
        /// Size of the dimension.
        size: i64,
        /// Elements of one stick.
        stick: i64,
    },
    /// An access stays inside its tensor.
    #[error("positions {first} to {last} are not within dimension {dim} of size {size}")]
    OutOfBounds {
        /// The host dimension.
        dim: usize,
        /// The smallest position.
        first: i64,
        /// The largest position.
        last: i64,
        /// Size of the dimension.
        size: i64,
    },
    /// A coordinate must name an iteration dimension of the op.
    #[error("iteration dimension {dim} does not exist: the op has {rank}")]
    NoIterationDim {
        /// The named dimension.
        dim: usize,
        /// Iteration dimensions of the op.
        rank: usize,
    },
    /// A divisor or a modulus is positive, and a modulus is a multiple of the divisor applied after it.
    #[error(
        "coordinate 'c{dim} mod {modulo} floordiv {floordiv}' is not supported: the modulus must be a multiple of the divisor"
    )]
    Digits {
        /// The iteration dimension.
        dim: usize,
        /// The modulus.
        modulo: i64,
        /// The divisor.
        floordiv: i64,
    },
    /// The digits in a stick must be consecutive digits of one iteration dimension; a merged dimension must split at a
    /// stick.
    #[error("a modulus of {modulo} along dimension {dim} does not split at sticks of {stick}")]
    ModuloCutsStick {
        /// The host dimension.
        dim: usize,
        /// Number of positions after which the coordinate repeats.
        modulo: i64,
        /// Elements of one stick.
        stick: i64,
    },
    /// A dimension is split into factors whose product is its size.
    #[error("factors {factors:?} do not make up dimension {dim} of size {size}")]
    Factors {
        /// The host dimension.
        dim: usize,
        /// Its size.
        size: i64,
        /// The factors, outer to inner.
        factors: Vec<i64>,
    },
    /// The stick can only move to a dimension that does not hold it already, in a tensor that is not sparse.
    #[error("the stick cannot move to dimension {dim}: {reason}")]
    Restickify {
        /// The requested dimension.
        dim: usize,
        /// The reason.
        reason: &'static str,
    },
}

/// Index that is no sum of digits ([`super::TensorIndex`]), or digits that no split of the dimensions can follow
/// ([`super::split_iteration`]). Dimensions and operands are numbered from 0, sizes are in elements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// A buffer has one index per dimension.
    #[error("operand {operand} has {sizes} dimensions, but {indices} indices")]
    Length {
        /// The operand.
        operand: usize,
        /// Dimensions of its buffer.
        sizes: usize,
        /// Indices given.
        indices: usize,
    },
    /// Sizes are positive.
    #[error("size {size} of dimension {dim} is not positive")]
    Size {
        /// The dimension.
        dim: usize,
        /// Its size.
        size: i64,
    },
    /// An index must name existing dimensions.
    #[error("dimension {dim} does not exist: there are {rank}")]
    NoDim {
        /// The named dimension.
        dim: usize,
        /// Number of existing dimensions.
        rank: usize,
    },
    /// An index must consist of dimensions and numbers.
    #[error("symbol {symbol} is no dimension")]
    Symbol {
        /// The symbol.
        symbol: usize,
    },
    /// Dimensions are multiplied and divided by numbers only.
    #[error("a dimension is multiplied or divided by a dimension")]
    NotAffine,
    /// Divisors and moduli are positive.
    #[error("divisor {divisor} is not positive")]
    Divisor {
        /// The divisor.
        divisor: i64,
    },
    /// Factors must not be negative.
    #[error("factor {factor} is negative: an index cannot run backwards")]
    NegativeFactor {
        /// The factor.
        factor: i64,
    },
    /// A division must fall between digits: the digits and the offset below the divisor must not carry.
    #[error("the terms below divisor {divisor} reach {reach}, so the division does not separate them")]
    Carries {
        /// The divisor.
        divisor: i64,
        /// The largest value of the digits and the offset below it.
        reach: i64,
    },
    /// Indices must fit 64 bits.
    #[error("the index is too large: it does not fit in 64 bits")]
    TooLarge,
    /// The split points of an iteration dimension must divide each other.
    #[error(
        "iteration dimension {dim} would be split at {first} and at {second}, but {first} does not divide {second}"
    )]
    Cuts {
        /// The iteration dimension.
        dim: usize,
        /// The smaller split point.
        first: i64,
        /// The next larger split point.
        second: i64,
    },
    /// The split points must divide the iteration dimension.
    #[error("iteration dimension {dim} of size {range} would be split at {cut}, which does not divide {range}")]
    CutRange {
        /// The iteration dimension.
        dim: usize,
        /// Its size.
        range: i64,
        /// The largest split point.
        cut: i64,
    },
    /// The factors of a buffer dimension must divide each other.
    #[error("operand {operand}, dimension {dim}: factor {factor} does not divide {whole}")]
    Factor {
        /// The operand.
        operand: usize,
        /// The dimension of its buffer.
        dim: usize,
        /// The factor.
        factor: i64,
        /// The next larger factor, or the size of the dimension.
        whole: i64,
    },
    /// The digits of a buffer dimension must not overlap: each factor is indexed by one digit.
    #[error("operand {operand}, dimension {dim}: {size} steps of {factor} overlap with steps of {whole}")]
    Overlap {
        /// The operand.
        operand: usize,
        /// The dimension of its buffer.
        dim: usize,
        /// The factor of a digit.
        factor: i64,
        /// Number of values of the digit.
        size: i64,
        /// The next larger factor.
        whole: i64,
    },
    /// A window must lie inside one factor, so that it neither leaves the buffer nor carries.
    #[error("operand {operand}, dimension {dim}: positions {first} to {last} are not within a factor of size {size}")]
    Window {
        /// The operand.
        operand: usize,
        /// The dimension of its buffer.
        dim: usize,
        /// The smallest position in the factor.
        first: i64,
        /// The largest position.
        last: i64,
        /// Size of the factor; the dimension's own if it is not split.
        size: i64,
    },
    /// An iteration dimension must not index two dimensions of a buffer.
    #[error(
        "operand {operand}: iteration dimension {dim} indexes dimensions {first} and {second}, which is a diagonal; run \
         spyre-materialize-views first"
    )]
    Diagonal {
        /// The operand.
        operand: usize,
        /// The iteration dimension.
        dim: usize,
        /// A dimension of the operand's buffer.
        first: usize,
        /// Another dimension of that buffer.
        second: usize,
    },
    /// The layout of an operand cannot be split as required.
    #[error("operand {operand}: {error}")]
    Layout {
        /// The operand.
        operand: usize,
        /// The layout error.
        #[source]
        error: LayoutError,
    },
}

impl IndexError {
    /// Returns the operand whose buffer cannot be split at the steps of its reader. A buffer of only the elements that
    /// the reader accesses may be splittable.
    #[must_use]
    pub const fn partially_read_operand(&self) -> Option<usize> {
        match self {
            Self::Factor { operand, .. } | Self::Overlap { operand, .. } | Self::Window { operand, .. } => {
                Some(*operand)
            }
            _ => None,
        }
    }
}
