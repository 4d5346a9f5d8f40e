//! Coordinates: the position along a dimension that an iteration point accesses.

use super::{DeviceLayout, HostDimMapping, HostTensor, LayoutError};
use std::fmt;

/// Digits of one iteration dimension: `c_dim`, then `mod modulo` if given, then `floordiv floordiv` if given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CoordinateTerm {
    /// The iteration dimension.
    pub dim: usize,
    /// Modulus, applied first: the number of values after which positions repeat.
    pub modulo: Option<i64>,
    /// Divisor, applied second: the number of neighbors that share a position.
    pub floordiv: Option<i64>,
}

/// Position along one dimension as a function of the iteration point: a term, plus a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Coordinate {
    /// Term that moves the position; without one the position is constant.
    pub term: Option<CoordinateTerm>,
    /// The position when the term is 0.
    pub offset: i64,
}

impl Coordinate {
    /// Returns the coordinate that is always `offset`.
    #[must_use]
    pub const fn constant(offset: i64) -> Self {
        Self { term: None, offset }
    }
}

impl CoordinateTerm {
    /// Returns the coordinate that is iteration dimension `dim`.
    #[must_use]
    pub const fn from_dim(dim: usize) -> Self {
        Self { dim, modulo: None, floordiv: None }
    }

    /// Returns the term's value at an iteration point.
    ///
    /// # Panics
    /// If the point has no such dimension.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        let position = point[self.dim];
        let digit = self.modulo.map_or(position, |modulo| position.rem_euclid(modulo));
        self.floordiv.map_or(digit, |floordiv| digit.div_euclid(floordiv))
    }

    /// Returns the largest value over an iteration space with these ranges.
    ///
    /// # Errors
    /// If there is no such dimension, a divisor or modulus is not positive, or the modulus is no multiple of the
    /// divisor.
    pub fn max_value(&self, ranges: &[i64]) -> Result<i64, LayoutError> {
        let Some(&range) = ranges.get(self.dim) else {
            return Err(LayoutError::NoIterationDim { dim: self.dim, rank: ranges.len() });
        };
        let floordiv = self.floordiv.unwrap_or(1);
        let modulo = self.modulo.unwrap_or(floordiv);
        if floordiv < 1 || modulo < 1 || modulo % floordiv != 0 {
            return Err(LayoutError::Digits { dim: self.dim, modulo, floordiv });
        }
        Ok((self.modulo.map_or(range, |modulo| modulo.min(range)) - 1) / floordiv)
    }

    /// Splits a term along host dimension `host_dim` into the stick number, if it spans several sticks, and the
    /// position in the stick.
    fn split_at_sticks(&self, host_dim: usize, stick: i64) -> Result<(Option<Self>, Self), LayoutError> {
        let floordiv = self.floordiv.unwrap_or(1);
        let digits = self.modulo.map(|modulo| modulo / floordiv);
        match digits {
            Some(digits) if digits <= stick => Ok((None, *self)),
            Some(digits) if digits % stick != 0 => {
                Err(LayoutError::ModuloCutsStick { dim: host_dim, modulo: digits, stick })
            }
            Some(_) | None => {
                let count = Self { floordiv: Some(floordiv * stick), ..*self };
                Ok((Some(count), Self { modulo: Some(floordiv * stick), ..*self }))
            }
        }
    }
}

impl Coordinate {
    /// Returns the term that is iteration dimension `dim`.
    #[must_use]
    pub const fn from_dim(dim: usize) -> Self {
        Self { term: Some(CoordinateTerm::from_dim(dim)), offset: 0 }
    }

    /// Returns the position at an iteration point.
    ///
    /// # Panics
    /// If the point lacks the term's dimension.
    #[must_use]
    pub fn evaluate(&self, point: &[i64]) -> i64 {
        self.offset + self.term.map_or(0, |term| term.evaluate(point))
    }

    fn max_term_value(&self, ranges: &[i64]) -> Result<i64, LayoutError> {
        self.term.map_or(Ok(0), |term| term.max_value(ranges))
    }
}

impl fmt::Display for CoordinateTerm {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "c{}", self.dim)?;
        if let Some(modulo) = self.modulo {
            write!(formatter, " mod {modulo}")?;
        }
        self.floordiv.map_or(Ok(()), |floordiv| write!(formatter, " floordiv {floordiv}"))
    }
}

/// Formats as MLIR's affine expressions: `c1 floordiv 64 + 1`, `c0`, `0`.
impl fmt::Display for Coordinate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.term, self.offset) {
            (None, offset) => write!(formatter, "{offset}"),
            (Some(term), 0) => write!(formatter, "{term}"),
            (Some(term), offset) => write!(formatter, "{term} + {offset}"),
        }
    }
}

/// Computes the device coordinates of an access: one per device dimension, in terms of the op's iteration dimensions.
///
/// `access` has one coordinate per host dimension, `ranges` one size per iteration dimension. The stick dimension
/// yields two coordinates (`c1 floordiv 64` and `c1 mod 64`), every other dimension one. Device dimensions without host
/// elements yield 0. A constant offset into the stick dimension is added to the stick count if it is a multiple of the
/// stick, and to the position in the stick if the window fits one stick.
///
/// # Errors
/// If the access leaves the tensor, splits a stick or names no iteration dimension, or if the layout does not have the
/// simple structure of [`DeviceLayout::host_dims`].
pub fn compute_device_coordinates(
    layout: &DeviceLayout,
    host: &HostTensor,
    access: &[Coordinate],
    ranges: &[i64],
) -> Result<Vec<Coordinate>, LayoutError> {
    if access.len() != host.rank() {
        return Err(LayoutError::Length { what: "the access", expected: host.rank(), found: access.len() });
    }
    let stick = layout.format().elements_per_stick();
    let mut coordinates = vec![Coordinate::default(); layout.rank()];
    for (dim, (place, coordinate)) in layout.host_dims(host)?.into_iter().zip(access).enumerate() {
        let last = check_bounds(dim, host.sizes()[dim], coordinate, ranges)?;
        match place {
            HostDimMapping::Unit => {}
            HostDimMapping::Whole { device_dim } => coordinates[device_dim] = *coordinate,
            HostDimMapping::Stick { count, within } => {
                (coordinates[count], coordinates[within]) = compute_stick_coordinates(dim, coordinate, last, stick)?;
            }
        }
    }
    Ok(coordinates)
}

/// Checks that every position is inside the dimension, and returns the largest value of the coordinate's term.
fn check_bounds(dim: usize, size: i64, coordinate: &Coordinate, ranges: &[i64]) -> Result<i64, LayoutError> {
    let extent = coordinate.max_term_value(ranges)?;
    let (first, last) = (coordinate.offset, coordinate.offset + extent);
    if first < 0 || last >= size {
        return Err(LayoutError::OutOfBounds { dim, first, last, size });
    }
    Ok(extent)
}

/// Returns the coordinates of the stick count and of the position in the stick.
fn compute_stick_coordinates(
    dim: usize,
    coordinate: &Coordinate,
    extent: i64,
    stick: i64,
) -> Result<(Coordinate, Coordinate), LayoutError> {
    let lane = coordinate.offset % stick;
    if lane != 0 && lane + extent >= stick {
        return Err(LayoutError::CutsStick { dim, elements: coordinate.offset, stick });
    }
    let (count, within) = match coordinate.term {
        None => (None, None),
        Some(term) => {
            let (count, within) = term.split_at_sticks(dim, stick)?;
            (count, Some(within))
        }
    };
    Ok((Coordinate { term: count, offset: coordinate.offset / stick }, Coordinate { term: within, offset: lane }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{DimOrder, testing::points};
    use machine::DeviceFormat::Sen169Fp16;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn format_coordinates(sizes: &[i64], access: &[Coordinate], ranges: &[i64]) -> Vec<String> {
        let host = HostTensor::row_major(sizes).unwrap();
        let layout = DeviceLayout::row_major(sizes, Sen169Fp16).unwrap();
        let coordinates = compute_device_coordinates(&layout, &host, access, ranges).unwrap();
        coordinates.iter().map(ToString::to_string).collect()
    }

    fn expect_coordinate_error(sizes: &[i64], access: &[Coordinate], ranges: &[i64]) -> LayoutError {
        let host = HostTensor::row_major(sizes).unwrap();
        let layout = DeviceLayout::row_major(sizes, Sen169Fp16).unwrap();
        compute_device_coordinates(&layout, &host, access, ranges).unwrap_err()
    }

    const C0: Coordinate = Coordinate::from_dim(0);
    const C1: Coordinate = Coordinate::from_dim(1);

    fn dim_with_offset(dim: usize, offset: i64) -> Coordinate {
        Coordinate { offset, ..Coordinate::from_dim(dim) }
    }

    #[test]
    fn reads_rows_stick_by_stick() {
        assert_eq!(format_coordinates(&[1024, 4096], &[C0, C1], &[1024, 4096]), ["c1 floordiv 64", "c0", "c1 mod 64"]);
    }

    #[test]
    fn swaps_dims_of_transposed_read() {
        assert_eq!(format_coordinates(&[128, 256], &[C1, C0], &[256, 128]), ["c0 floordiv 64", "c1", "c0 mod 64"]);
    }

    #[test]
    fn matches_golden_case_of_batched_matmul() {
        let [c2, c3] = [Coordinate::from_dim(2), Coordinate::from_dim(3)];
        let ranges = [4, 64, 128, 128];
        assert_eq!(
            format_coordinates(&[4, 64, 128], &[C0, C1, c3], &ranges),
            ["c1", "c3 floordiv 64", "c0", "c3 mod 64"]
        );
        assert_eq!(
            format_coordinates(&[4, 128, 128], &[C0, c3, c2], &ranges),
            ["c3", "c2 floordiv 64", "c0", "c2 mod 64"]
        );
    }

    #[test]
    fn reads_broadcast_dim_at_position_zero() {
        assert_eq!(
            format_coordinates(&[1, 256], &[Coordinate::constant(0), C1], &[128, 256]),
            ["c1 floordiv 64", "0", "c1 mod 64"]
        );
        assert_eq!(format_coordinates(&[256], &[C1], &[128, 256]), ["c1 floordiv 64", "c1 mod 64"]);
    }

    #[test]
    fn reads_reduced_stick_at_position_zero() {
        let host = HostTensor::row_major(&[64, 1]).unwrap();
        let layout = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        let coordinates =
            compute_device_coordinates(&layout, &host, &[C0, Coordinate::constant(0)], &[64, 256]).unwrap();
        assert_eq!(coordinates, [Coordinate::constant(0), C0, Coordinate::constant(0)]);
    }

    #[test]
    fn offsets_stick_count_for_slice_of_whole_sticks() {
        assert_eq!(
            format_coordinates(&[128, 256], &[C0, dim_with_offset(1, 64)], &[128, 128]),
            ["c1 floordiv 64 + 1", "c0", "c1 mod 64"]
        );
        assert_eq!(
            format_coordinates(&[128, 256], &[dim_with_offset(0, 64), C1], &[64, 256]),
            ["c1 floordiv 64", "c0 + 64", "c1 mod 64"]
        );
    }

    #[test]
    fn offsets_lane_for_slice_inside_one_stick() {
        assert_eq!(
            format_coordinates(&[8, 256], &[C0, dim_with_offset(1, 70)], &[8, 58]),
            ["c1 floordiv 64 + 1", "c0", "c1 mod 64 + 6"]
        );
        let error = expect_coordinate_error(&[8, 256], &[C0, dim_with_offset(1, 70)], &[8, 59]);
        assert_eq!(error, LayoutError::CutsStick { dim: 1, elements: 70, stick: 64 });
    }

    #[test]
    fn splits_merged_dim() {
        // The host tensor is [4, 128, 256]; the op iterates over 512 rows made of the first two dimensions.
        let batch = Coordinate { term: Some(CoordinateTerm { dim: 0, modulo: None, floordiv: Some(128) }), offset: 0 };
        let row = Coordinate { term: Some(CoordinateTerm { dim: 0, modulo: Some(128), floordiv: None }), offset: 0 };
        let expected = ["c0 mod 128", "c1 floordiv 64", "c0 floordiv 128", "c1 mod 64"];
        assert_eq!(format_coordinates(&[4, 128, 256], &[batch, row, C1], &[512, 256]), expected);
    }

    #[test]
    fn splits_merged_stick_dim_at_sticks() {
        let head = Coordinate { term: Some(CoordinateTerm { dim: 0, modulo: None, floordiv: Some(128) }), offset: 0 };
        let lane = |modulo| Coordinate {
            term: Some(CoordinateTerm { dim: 0, modulo: Some(modulo), floordiv: None }),
            offset: 0,
        };
        assert_eq!(
            format_coordinates(&[4, 128], &[head, lane(128)], &[512]),
            ["c0 mod 128 floordiv 64", "c0 floordiv 128", "c0 mod 64"]
        );
        let error = expect_coordinate_error(&[4, 100], &[Coordinate::constant(0), lane(100)], &[400]);
        assert_eq!(error, LayoutError::ModuloCutsStick { dim: 1, modulo: 100, stick: 64 });
    }

    #[test]
    fn rejects_access_outside_its_tensor() {
        assert_eq!(
            expect_coordinate_error(&[8, 64], &[C0, C1], &[9, 64]),
            LayoutError::OutOfBounds { dim: 0, first: 0, last: 8, size: 8 }
        );
        assert_eq!(
            expect_coordinate_error(&[1, 64], &[C0, C1], &[2, 64]),
            LayoutError::OutOfBounds { dim: 0, first: 0, last: 1, size: 1 }
        );
        assert_eq!(expect_coordinate_error(&[8, 64], &[C0, C1], &[8]), LayoutError::NoIterationDim { dim: 1, rank: 1 });
        assert!(matches!(
            expect_coordinate_error(&[8, 64], &[C0], &[8, 64]),
            LayoutError::Length { expected: 2, found: 1, .. }
        ));
        let ragged =
            Coordinate { term: Some(CoordinateTerm { dim: 0, modulo: Some(6), floordiv: Some(4) }), offset: 0 };
        assert_eq!(
            expect_coordinate_error(&[8], &[ragged], &[8]),
            LayoutError::Digits { dim: 0, modulo: 6, floordiv: 4 }
        );
    }

    /// Returns up to three dimensions of up to 80, and an order of them.
    fn shapes() -> impl Strategy<Value = (Vec<i64>, Vec<usize>)> {
        prop::collection::vec(1_i64..80, 1..=3).prop_flat_map(|sizes| {
            let order: Vec<usize> = (0..sizes.len()).collect();
            (Just(sizes), Just(order).prop_shuffle())
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn places_each_host_element_once((sizes, order) in shapes()) {
            let host = HostTensor::row_major(&sizes).unwrap();
            let layout = DeviceLayout::new(&host, Sen169Fp16, &DimOrder::dense(&order)).unwrap();
            let access: Vec<Coordinate> = (0..sizes.len()).map(Coordinate::from_dim).collect();
            let coordinates = compute_device_coordinates(&layout, &host, &access, &sizes).unwrap();
            let strides = layout.device_strides();
            let mut places = BTreeSet::new();
            for point in points(&sizes) {
                let device: Vec<i64> = coordinates.iter().map(|coordinate| coordinate.evaluate(&point)).collect();
                prop_assert!(device.iter().zip(layout.device_size()).all(|(&position, &size)| (0..size).contains(&position)));
                let dot = |steps: &[i64]| device.iter().zip(steps).map(|(position, step)| position * step).sum::<i64>();
                prop_assert!(places.insert(dot(&strides)));
                let host_offset: i64 = point.iter().zip(host.strides()).map(|(position, stride)| position * stride).sum();
                prop_assert_eq!(dot(layout.stride_map()), host_offset, "the stride map leads back to the host element");
            }
        }
    }
}
