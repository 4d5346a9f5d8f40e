//! Device layout of a tensor: constructors and sizes.

use super::{HostTensor, LayoutError};
use machine::{DeviceFormat, STICK_BYTES};
use std::fmt;

/// Maximum number of host dimensions of a device layout (torch-spyre's layout constructor).
const MAX_RANK: usize = 6;

/// Layout of a tensor in device memory: row-major over `device_size`, whose last dimension is one *stick* of 128 bytes.
///
/// `stride_map[i]` is the number of host elements that one step along device dimension `i` moves, or -1 if the
/// dimension has no host elements (torch-spyre `SpyreTensorLayout`). The *stick dimension* is the host dimension inside
/// the sticks. It has two device dimensions, the stick number and the position in the stick; any other host dimension
/// has one ([`super::HostDimMapping`]). A tensor is *sparse* if each stick holds one element, such as the result of a
/// reduction over the stick dimension. The text form is the parameter list of `#spyre.layout`.
///
/// Worked example. An f16 tensor of 1024 rows and 4096 columns has the default layout `[64, 1024, 64]` with stride map
/// `[64, 4096, 1]`: 64 columns of sticks, each with 1024 sticks. An access at `(c0, c1)` has the device coordinates
/// `[c1 floordiv 64, c0, c1 mod 64]`. A window that moves down by 512 rows moves by 512 * 64 = 32768 device elements;
/// one that moves right by 1024 columns moves by 16 * 1024 * 64 = 1048576. A move by 32 columns is an error, because it
/// would split a stick.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceLayout {
    device_size: Vec<i64>,
    stride_map: Vec<i64>,
    format: DeviceFormat,
}

/// Order in which host dimensions are laid out; the last one is the stick dimension.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimOrder {
    dims: Vec<usize>,
    sparse: bool,
}

impl DimOrder {
    /// Creates an order of host dimensions, the stick dimension last.
    #[must_use]
    pub fn dense(dims: &[usize]) -> Self {
        Self { dims: dims.to_vec(), sparse: false }
    }

    /// Creates the order for a tensor that stores one element per stick (the trailing -1 of torch-spyre's `dim_order`).
    #[must_use]
    pub fn sparse(dims: &[usize]) -> Self {
        Self { dims: dims.to_vec(), sparse: true }
    }

    /// Creates the default order of a result whose stick dimension is `stick`: host order, dimensions of size 1 moved
    /// right, the stick last (torch-spyre's layout propagation).
    #[must_use]
    pub fn with_stick(sizes: &[i64], stick: usize) -> Self {
        let others = || (0..sizes.len()).filter(|&dim| dim != stick);
        let large = others().filter(|&dim| sizes[dim] != 1);
        let units = others().filter(|&dim| sizes[dim] == 1);
        Self { dims: large.chain(units).chain([stick]).collect(), sparse: false }
    }

    /// Moves another dimension than those of `outer` next to the stick: the last one that is larger than 1. Changes
    /// nothing if there is none, or if the dimension next to the stick is none of `outer`.
    #[must_use]
    pub fn with_outer(mut self, outer: &[usize], sizes: &[i64]) -> Self {
        let Some((_, others)) = self.dims.split_last() else { return self };
        if others.first().is_some_and(|next| outer.contains(next)) {
            let inner = others.iter().rposition(|dim| !outer.contains(dim) && sizes[*dim] > 1);
            self.dims[..=inner.unwrap_or(0)].rotate_right(1);
        }
        self
    }

    /// Returns the host dimension of every device dimension, `None` for a sparse stick. The first host dimension is
    /// next to the stick, the stick count directly before it.
    fn device_dims(&self) -> Vec<Option<usize>> {
        let mut order: Vec<Option<usize>> = self.dims.iter().copied().map(Some).collect();
        if self.sparse {
            order.push(None);
        }
        let Some((&first, rest)) = order.split_first() else { return vec![None, None] };
        let stick = rest.last().copied().unwrap_or(first);
        rest.iter().copied().chain([first, stick]).collect()
    }

    fn check(&self, sizes: &[i64]) -> Result<(), LayoutError> {
        if self.dims.len() > MAX_RANK {
            return Err(LayoutError::Rank { found: self.dims.len() });
        }
        let listed = |dim: usize| self.dims.iter().filter(|&&other| other == dim).count();
        let known = self.dims.iter().all(|&dim| dim < sizes.len());
        let once = (0..sizes.len()).all(|dim| listed(dim) == 1 || (listed(dim) == 0 && sizes[dim] == 1));
        if known && once { Ok(()) } else { Err(LayoutError::Order { order: self.dims.clone(), sizes: sizes.to_vec() }) }
    }
}

impl DeviceLayout {
    /// Creates the layout of `host` in `format` with the dimensions in `order` (torch-spyre
    /// `SpyreTensorLayout(size, strides, dtype, dim_order)`).
    ///
    /// # Errors
    /// If `order` does not list every host dimension larger than 1 once, has more than six, or a size does not fit in
    /// 64 bits.
    pub fn new(host: &HostTensor, format: DeviceFormat, order: &DimOrder) -> Result<Self, LayoutError> {
        order.check(host.sizes())?;
        let dims = order.device_dims();
        let (within, outer) = dims.split_last().ok_or(LayoutError::Rank { found: 0 })?;
        let stick = format.elements_per_stick();
        let size_of = |dim: Option<usize>| match dim {
            None => 1,
            Some(dim) if Some(dim) == *within => count_sticks(host.sizes()[dim], stick),
            Some(dim) => host.sizes()[dim],
        };
        let device_size: Vec<i64> = outer.iter().map(|&dim| size_of(dim)).chain([stick]).collect();
        let stride_map = compute_stride_map(host, &dims, &device_size)?;
        Self::from_parts(device_size, stride_map, format)
    }

    /// Creates the default layout: contiguous, host order, the last dimension in the sticks. A scalar takes one stick.
    ///
    /// # Errors
    /// As [`DeviceLayout::new`].
    pub fn row_major(sizes: &[i64], format: DeviceFormat) -> Result<Self, LayoutError> {
        let order: Vec<usize> = (0..sizes.len()).collect();
        Self::new(&HostTensor::row_major(sizes)?, format, &DimOrder::dense(&order))
    }

    /// Creates the layout of a reduction's result if the reduced dimension was the stick dimension: one element per
    /// stick. The reduced dimension stays in `sizes` with size 1, but has no device dimension.
    ///
    /// # Errors
    /// If `reduced` is not a dimension of size 1; otherwise those of [`DeviceLayout::new`].
    pub fn sparse(sizes: &[i64], reduced: usize, format: DeviceFormat) -> Result<Self, LayoutError> {
        match sizes.get(reduced) {
            Some(1) => {}
            found => return Err(LayoutError::NotReduced { dim: reduced, size: found.copied().unwrap_or(0) }),
        }
        let order: Vec<usize> = (0..sizes.len()).filter(|&dim| dim != reduced).collect();
        Self::new(&HostTensor::row_major(sizes)?, format, &DimOrder::sparse(&order))
    }

    /// Creates a layout from its parts, as `#spyre.layout` writes them.
    ///
    /// # Errors
    /// If the lists differ in length, a size is not positive, the last dimension is not one stick, or the bytes do not
    /// fit in 64 bits.
    pub fn from_parts(device_size: Vec<i64>, stride_map: Vec<i64>, format: DeviceFormat) -> Result<Self, LayoutError> {
        if device_size.len() != stride_map.len() {
            return Err(LayoutError::Length {
                what: "the stride map",
                expected: device_size.len(),
                found: stride_map.len(),
            });
        }
        if let Some(dim) = device_size.iter().position(|&size| size < 1) {
            return Err(LayoutError::Size { dim, size: device_size[dim] });
        }
        let expected = format.elements_per_stick();
        let found = device_size.last().copied().unwrap_or(0);
        if found != expected {
            return Err(LayoutError::LastIsNotAStick { expected, found });
        }
        let sticks = device_size.iter().rev().skip(1).try_fold(STICK_BYTES, |bytes, &size| bytes.checked_mul(size));
        sticks.map(|_| Self { device_size, stride_map, format }).ok_or(LayoutError::TooLarge)
    }

    /// Returns the size of every device dimension, the stick last.
    #[must_use]
    pub fn device_size(&self) -> &[i64] {
        &self.device_size
    }

    /// Returns the host elements that one step along each device dimension moves; -1 for a dimension without host
    /// elements.
    #[must_use]
    pub fn stride_map(&self) -> &[i64] {
        &self.stride_map
    }

    /// Returns the number format of an element.
    #[must_use]
    pub fn format(&self) -> DeviceFormat {
        self.format
    }

    /// Returns the number of device dimensions, at least 1.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.device_size.len()
    }

    /// Returns the device elements between neighbors along each device dimension; the last is 1.
    #[must_use]
    pub fn device_strides(&self) -> Vec<i64> {
        let mut strides = vec![1; self.rank()];
        for dim in (1..self.rank()).rev() {
            strides[dim - 1] = strides[dim] * self.device_size[dim];
        }
        strides
    }

    /// Returns the number of elements of the tensor's memory, padding included.
    #[must_use]
    pub fn elements(&self) -> i64 {
        self.device_size.iter().product()
    }

    /// Returns the bytes of the tensor in device memory: complete sticks, padding included.
    #[must_use]
    pub fn bytes(&self) -> i64 {
        STICK_BYTES * self.device_size[..self.rank() - 1].iter().product::<i64>()
    }
}

impl fmt::Display for DeviceLayout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "<{:?}, {:?}, {}>", self.device_size, self.stride_map, self.format)
    }
}

/// Returns the number of sticks (at least 1) for `elements` elements, at `stick` elements per stick.
#[must_use]
pub const fn count_sticks(elements: i64, stick: i64) -> i64 {
    (elements - 1) / stick + 1
}

/// Computes the stride map from the inside out: the innermost device dimension of a host dimension has the host's
/// stride, the stick count has the stride of one stick.
fn compute_stride_map(host: &HostTensor, dims: &[Option<usize>], device_size: &[i64]) -> Result<Vec<i64>, LayoutError> {
    let mut strides = vec![-1; dims.len()];
    for position in (0..dims.len()).rev() {
        let Some(dim) = dims[position].filter(|&dim| host.sizes()[dim] != 1) else { continue };
        let inner = (position + 1..dims.len()).find(|&inner| dims[inner] == Some(dim));
        strides[position] = match inner {
            None => host.strides()[dim],
            Some(inner) => i64::checked_mul(strides[inner], device_size[inner]).ok_or(LayoutError::TooLarge)?,
        };
    }
    Ok(strides)
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFormat::{IeeeFp32, Sen169Fp16};
    use proptest::prelude::*;

    fn sizes_and_strides(layout: &DeviceLayout) -> (&[i64], &[i64]) {
        (layout.device_size(), layout.stride_map())
    }

    fn build_layout_in_order(sizes: &[i64], order: &DimOrder) -> DeviceLayout {
        DeviceLayout::new(&HostTensor::row_major(sizes).unwrap(), Sen169Fp16, order).unwrap()
    }

    /// Reference layout: host sizes, device sizes, stride map.
    type ReferenceLayout<'a> = (&'a [i64], &'a [i64], &'a [i64]);

    #[test]
    fn matches_reference_default_layouts() {
        let references: [ReferenceLayout<'_>; 7] = [
            (&[120], &[2, 64], &[64, 1]),
            (&[512, 240], &[4, 512, 64], &[64, 240, 1]),
            (&[512, 256], &[4, 512, 64], &[64, 256, 1]),
            (&[512, 8, 240], &[8, 4, 512, 64], &[240, 64, 1920, 1]),
            (&[512, 8, 256], &[8, 4, 512, 64], &[256, 64, 2048, 1]),
            (&[5, 100, 150], &[100, 3, 5, 64], &[150, 64, 15000, 1]),
            (&[1024, 4096], &[64, 1024, 64], &[64, 4096, 1]),
        ];
        for (sizes, device_size, stride_map) in references {
            assert_eq!(
                sizes_and_strides(&DeviceLayout::row_major(sizes, Sen169Fp16).unwrap()),
                (device_size, stride_map),
                "{sizes:?}"
            );
        }
    }

    #[test]
    fn places_first_of_four_dims_next_to_stick() {
        let layout = DeviceLayout::row_major(&[2, 4, 64, 100], Sen169Fp16).unwrap();
        assert_eq!(sizes_and_strides(&layout), (&[4, 64, 2, 2, 64][..], &[6400, 100, 64, 25600, 1][..]));
    }

    #[test]
    fn matches_reference_reordered_layouts() {
        let two: [ReferenceLayout<'_>; 1] = [(&[1, 0], &[8, 256, 64], &[16384, 1, 256])];
        let three: [ReferenceLayout<'_>; 5] = [
            (&[0, 2, 1], &[256, 1, 512, 64], &[1, 16384, 2048, 256]),
            (&[1, 0, 2], &[512, 4, 8, 64], &[2048, 64, 256, 1]),
            (&[1, 2, 0], &[256, 8, 8, 64], &[1, 131_072, 256, 2048]),
            (&[2, 0, 1], &[512, 1, 256, 64], &[2048, 16384, 1, 256]),
            (&[2, 1, 0], &[8, 8, 256, 64], &[256, 131_072, 1, 2048]),
        ];
        let check = |sizes: &[i64], (order, device_size, stride_map): ReferenceLayout<'_>| {
            let dims: Vec<usize> = order.iter().map(|&dim| usize::try_from(dim).unwrap()).collect();
            assert_eq!(
                sizes_and_strides(&build_layout_in_order(sizes, &DimOrder::dense(&dims))),
                (device_size, stride_map),
                "{order:?}"
            );
        };
        two.into_iter().for_each(|reference| check(&[512, 256], reference));
        three.into_iter().for_each(|reference| check(&[512, 8, 256], reference));
    }

    #[test]
    fn stores_one_element_per_stick_in_sparse_layout() {
        let layout = build_layout_in_order(&[512, 256], &DimOrder::sparse(&[0, 1]));
        assert_eq!(sizes_and_strides(&layout), (&[256, 1, 512, 64][..], &[1, -1, 256, -1][..]));
    }

    #[test]
    fn drops_device_dim_of_reduced_stick_dim() {
        let sum = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        assert_eq!(sizes_and_strides(&sum), (&[1, 64, 64][..], &[-1, 1, -1][..]));
        assert_eq!(DeviceLayout::sparse(&[64, 2], 1, Sen169Fp16), Err(LayoutError::NotReduced { dim: 1, size: 2 }));
        assert_eq!(DeviceLayout::sparse(&[64], 1, Sen169Fp16), Err(LayoutError::NotReduced { dim: 1, size: 0 }));
    }

    #[test]
    fn stores_scalar_in_one_stick() {
        let scalar = DeviceLayout::row_major(&[], Sen169Fp16).unwrap();
        assert_eq!(sizes_and_strides(&scalar), (&[1, 64][..], &[-1, -1][..]));
        assert_eq!(scalar.bytes(), 128);
        let one = DeviceLayout::row_major(&[1], Sen169Fp16).unwrap();
        assert_eq!(one, scalar);
    }

    #[test]
    fn moves_unit_dims_next_to_stick() {
        assert_eq!(DimOrder::with_stick(&[1, 8, 256], 2), DimOrder::dense(&[1, 0, 2]));
        assert_eq!(DimOrder::with_stick(&[4, 1, 8], 0), DimOrder::dense(&[2, 1, 0]));
    }

    #[test]
    fn places_outer_dims_away_from_stick() {
        let order = |sizes: &[i64], stick, outer: &[usize]| DimOrder::with_stick(sizes, stick).with_outer(outer, sizes);
        assert_eq!(order(&[4, 32, 64], 2, &[0]), DimOrder::dense(&[1, 0, 2]));
        assert_eq!(order(&[2, 4, 32, 64], 3, &[0, 1]), DimOrder::dense(&[2, 0, 1, 3]));
        assert_eq!(order(&[4, 32, 64], 2, &[1]), DimOrder::dense(&[0, 1, 2]), "the rows are next to the stick");
        assert_eq!(order(&[4, 1, 64], 2, &[0]), DimOrder::dense(&[0, 1, 2]), "there are no rows");
        let moved = build_layout_in_order(&[4, 32, 128], &order(&[4, 32, 128], 2, &[0]));
        assert_eq!(sizes_and_strides(&moved), (&[4, 2, 32, 64][..], &[4096, 64, 128, 1][..]));
    }

    #[test]
    fn counts_bytes_in_complete_sticks() {
        let padded = DeviceLayout::row_major(&[100, 150], Sen169Fp16).unwrap();
        assert_eq!((padded.bytes(), padded.elements()), (3 * 100 * 128, 3 * 100 * 64));
        assert_eq!(padded.device_strides(), [6400, 64, 1]);
        let single = DeviceLayout::row_major(&[64, 50], IeeeFp32).unwrap();
        assert_eq!((single.device_size(), single.bytes()), (&[2, 64, 32][..], 2 * 64 * 128));
    }

    #[test]
    fn rejects_impossible_orders() {
        let host = HostTensor::row_major(&[4, 8]).unwrap();
        for order in [&[0][..], &[0, 0], &[0, 2], &[0, 1, 1]] {
            let result = DeviceLayout::new(&host, Sen169Fp16, &DimOrder::dense(order));
            assert_eq!(result, Err(LayoutError::Order { order: order.to_vec(), sizes: vec![4, 8] }));
        }
        assert_eq!(DeviceLayout::row_major(&[2; 7], Sen169Fp16), Err(LayoutError::Rank { found: 7 }));
        let large = HostTensor::new(&[i64::MAX], &[1]).unwrap();
        assert_eq!(DeviceLayout::new(&large, Sen169Fp16, &DimOrder::dense(&[0])), Err(LayoutError::TooLarge));
    }

    #[test]
    fn rejects_impossible_parts() {
        let from = |size: &[i64], map: &[i64]| DeviceLayout::from_parts(size.to_vec(), map.to_vec(), Sen169Fp16);
        assert!(matches!(from(&[4, 64], &[1]), Err(LayoutError::Length { expected: 2, found: 1, .. })));
        assert_eq!(from(&[4, 32], &[32, 1]), Err(LayoutError::LastIsNotAStick { expected: 64, found: 32 }));
        assert_eq!(from(&[], &[]), Err(LayoutError::LastIsNotAStick { expected: 64, found: 0 }));
        assert_eq!(from(&[0, 64], &[1, 1]), Err(LayoutError::Size { dim: 0, size: 0 }));
        assert_eq!(from(&[i64::MAX, 64], &[1, 1]), Err(LayoutError::TooLarge));
    }

    proptest! {
        #[test]
        fn layouts_hold_their_tensors(sizes in prop::collection::vec(1_i64..200, 0..=4)) {
            let layout = DeviceLayout::row_major(&sizes, Sen169Fp16).unwrap();
            prop_assert!(layout.elements() >= sizes.iter().product::<i64>());
            prop_assert_eq!(layout.bytes(), layout.elements() * Sen169Fp16.bytes());
            prop_assert!(layout.host_dims(&HostTensor::row_major(&sizes).unwrap()).is_ok());
        }
    }
}
