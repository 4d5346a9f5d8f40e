//! What can be wrong with a layout or an access.

/// A layout or an access that cannot exist. Dimensions are numbered from 0, sizes and strides are in elements.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LayoutError {
    /// A tensor has as many strides as sizes, a layout as many stride-map entries as sizes, an access as many coordinates as dimensions.
    #[error("{what} needs {expected} entries, but has {found}")]
    Length {
        /// The list that is too short or too long.
        what: &'static str,
        /// Entries it must have.
        expected: usize,
        /// Entries it has.
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
    #[error("{found} host dimensions are more than the 6 that a device layout can hold")]
    Rank {
        /// Host dimensions in the order.
        found: usize,
    },
    /// Sizes in elements or bytes must fit 64 bits.
    #[error("the tensor is too large: its size does not fit in 64 bits")]
    TooLarge,
    /// A sparse tensor keeps one element per stick, so the dimension that was reduced must have size 1.
    #[error("dimension {dim} of size {size} cannot be the reduced stick dimension: it must have size 1")]
    NotReduced {
        /// The dimension.
        dim: usize,
        /// Its size.
        size: i64,
    },
    /// A host dimension occupies one device dimension, or two if it is the stick dimension; other layouts are read by no stage.
    #[error("device dimension {device_dim} (size {size}, stride {stride}) is no host dimension and no stick count of one")]
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
    /// A window may only begin at the start of a stick, and may only share a stick with itself.
    #[error("{elements} elements along dimension {dim} cut a stick of {stick}")]
    CutsStick {
        /// The host dimension.
        dim: usize,
        /// The offset or step that is no multiple of the stick.
        elements: i64,
        /// Elements of one stick.
        stick: i64,
    },
    /// The device writes whole sticks, so a window that ends inside one would overwrite what is beside it. Where the tensor ends, nothing
    /// is.
    #[error(
        "writes elements {first} to {last} of dimension {dim}, which has {size}: the device writes whole sticks, so a part begins at a \
         multiple of {stick} and ends at one, or with the dimension"
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
    #[error("positions {first}..={last} leave dimension {dim} of size {size}")]
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
    /// A coordinate names an iteration dimension of the op.
    #[error("iteration dimension {dim} does not exist: the op has {rank}")]
    NoIterationDim {
        /// The dimension named.
        dim: usize,
        /// Iteration dimensions of the op.
        rank: usize,
    },
    /// A divisor or a modulus is positive, and a modulus is a multiple of the divisor applied after it.
    #[error("coordinate 'c{dim} mod {modulo} floordiv {floordiv}' is not a run of whole digits")]
    Digits {
        /// The iteration dimension.
        dim: usize,
        /// The modulus.
        modulo: i64,
        /// The divisor.
        floordiv: i64,
    },
    /// A stick is a run of consecutive digits of one iteration dimension; a merged dimension must split at a stick.
    #[error("a modulus of {modulo} along dimension {dim} does not split at sticks of {stick}")]
    ModuloCutsStick {
        /// The host dimension.
        dim: usize,
        /// Positions after which the coordinate starts again.
        modulo: i64,
        /// Elements of one stick.
        stick: i64,
    },
    /// The stick can only move to a dimension that does not hold it already, in a tensor that is not sparse.
    #[error("the stick cannot move to dimension {dim}: {reason}")]
    Restickify {
        /// The dimension it should move to.
        dim: usize,
        /// Why it cannot.
        reason: &'static str,
    },
}
