//! Layouts of the same device bytes under split host dimensions.

use super::{DeviceLayout, HostDimMapping, HostTensor, LayoutError, count_sticks};

/// Size and stride of one dimension, in elements of the host.
type SizeAndStride = (i64, i64);

impl DeviceLayout {
    /// Returns the layout of the same bytes, and the host tensor, with each host dimension split: `factors` has one
    /// list per host dimension, outer to inner.
    ///
    /// A device dimension becomes one per factor larger than 1, in its place. In the stick dimension, the innermost of
    /// these must hold complete sticks, unless it is the only one; the others precede the stick count.
    ///
    /// Worked example. `[64, 1024, 64]` with stride map `[64, 4096, 1]` holds `[1024, 4096]`. With factors
    /// `[[1024], [8, 512]]` it is `[8, 8, 1024, 64]` with stride map `[512, 64, 4096, 1]`, and holds `[1024, 8, 512]`.
    ///
    /// # Errors
    /// If the product of the factors is not the host size, if a factor would split a stick, or if the layout does not
    /// have the simple structure of [`DeviceLayout::host_dims`].
    pub fn split(&self, host: &HostTensor, factors: &[Vec<i64>]) -> Result<(Self, HostTensor), LayoutError> {
        let places = self.host_dims(host)?;
        let dims = split_host_dims(host, factors)?;
        let stick = self.format().elements_per_stick();
        let mut device_dims: Vec<SizeAndStride> = Vec::new();
        for (device_dim, (&size, &stride)) in self.device_size().iter().zip(self.stride_map()).enumerate() {
            let whole = places.iter().position(|place| *place == HostDimMapping::Whole { device_dim });
            let counted = places
                .iter()
                .position(|place| matches!(place, HostDimMapping::Stick { count, .. } if *count == device_dim));
            match (whole, counted) {
                (Some(dim), _) => device_dims.extend(skip_unit_dims(&dims[dim])),
                (None, Some(dim)) => {
                    device_dims.extend(to_stick_counts(dim, skip_unit_dims(&dims[dim]).collect(), stick)?)
                }
                (None, None) => device_dims.push((size, stride)),
            }
        }
        let (device_size, stride_map) = device_dims.into_iter().unzip();
        let (sizes, strides): (Vec<i64>, Vec<i64>) = dims.into_iter().flatten().unzip();
        Ok((Self::from_parts(device_size, stride_map, self.format())?, HostTensor::new(&sizes, &strides)?))
    }
}

/// Returns the dimensions that each host dimension is split into, outer to inner.
fn split_host_dims(host: &HostTensor, factors: &[Vec<i64>]) -> Result<Vec<Vec<SizeAndStride>>, LayoutError> {
    if factors.len() != host.rank() {
        return Err(LayoutError::Length { what: "the list of factors", expected: host.rank(), found: factors.len() });
    }
    let split = |(dim, factors): (usize, &Vec<i64>)| {
        let (size, mut stride) = (host.sizes()[dim], host.strides()[dim]);
        let product =
            factors.iter().try_fold(1_i64, |product, &factor| product.checked_mul(factor).filter(|_| factor > 0));
        if product != Some(size) {
            return Err(LayoutError::Factors { dim, size, factors: factors.clone() });
        }
        let mut dims = Vec::with_capacity(factors.len());
        for &factor in factors.iter().rev() {
            dims.push((factor, stride));
            stride = stride.checked_mul(factor).ok_or(LayoutError::TooLarge)?;
        }
        dims.reverse();
        Ok(dims)
    };
    factors.iter().enumerate().map(split).collect()
}

/// Returns the dimensions that have a device dimension.
fn skip_unit_dims(dims: &[SizeAndStride]) -> impl Iterator<Item = SizeAndStride> {
    dims.iter().copied().filter(|&(size, _)| size > 1)
}

/// Returns the split stick dimension `dim`, with the innermost part in sticks.
fn to_stick_counts(dim: usize, mut parts: Vec<SizeAndStride>, stick: i64) -> Result<Vec<SizeAndStride>, LayoutError> {
    let is_split = parts.len() > 1;
    if let Some((size, stride)) = parts.last_mut() {
        if is_split && *size % stick != 0 {
            return Err(LayoutError::CutsStick { dim, elements: *size, stick });
        }
        (*size, *stride) = (count_sticks(*size, stick), *stride * stick);
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{Coordinate, DimOrder, compute_device_coordinates, testing::points};
    use machine::DeviceFormat::{self, IeeeFp32, Sen169Fp16};
    use proptest::prelude::*;

    fn build_row_major(sizes: &[i64]) -> (DeviceLayout, HostTensor) {
        (DeviceLayout::row_major(sizes, Sen169Fp16).unwrap(), HostTensor::row_major(sizes).unwrap())
    }

    fn split_row_major(sizes: &[i64], factors: &[Vec<i64>]) -> Result<DeviceLayout, LayoutError> {
        let (layout, host) = build_row_major(sizes);
        layout.split(&host, factors).map(|(layout, _)| layout)
    }

    fn sizes_and_strides(layout: &DeviceLayout) -> (&[i64], &[i64]) {
        (layout.device_size(), layout.stride_map())
    }

    #[test]
    fn splits_rows_in_place() {
        let (layout, host) = build_row_major(&[512, 8, 256]);
        assert_eq!(sizes_and_strides(&layout), (&[8, 4, 512, 64][..], &[256, 64, 2048, 1][..]));
        let (split, finer) = layout.split(&host, &[vec![4, 1, 128], vec![2, 4], vec![256]]).unwrap();
        assert_eq!(sizes_and_strides(&split), (&[2, 4, 4, 4, 128, 64][..], &[1024, 256, 64, 262_144, 2048, 1][..]));
        assert_eq!(finer, HostTensor::row_major(&[4, 1, 128, 2, 4, 256]).unwrap());
    }

    #[test]
    fn splits_heads_of_complete_sticks_from_stick_count() {
        let heads = split_row_major(&[1024, 4096], &[vec![1024], vec![8, 512]]).unwrap();
        assert_eq!(sizes_and_strides(&heads), (&[8, 8, 1024, 64][..], &[512, 64, 4096, 1][..]));
        let nested = split_row_major(&[1024, 4096], &[vec![1024], vec![4, 2, 512, 1]]).unwrap();
        assert_eq!(sizes_and_strides(&nested), (&[4, 2, 8, 1024, 64][..], &[1024, 512, 64, 4096, 1][..]));
    }

    #[test]
    fn keeps_stick_count_of_one_stick_head() {
        // Both the rows of one head and its only stick have stride 64.
        let (layout, host) = build_row_major(&[8, 256]);
        let (one, finer) = layout.split(&host, &[vec![8], vec![4, 64]]).unwrap();
        assert_eq!(sizes_and_strides(&one), (&[4, 1, 8, 64][..], &[64, 64, 256, 1][..]));
        let expected = [
            HostDimMapping::Whole { device_dim: 2 },
            HostDimMapping::Whole { device_dim: 0 },
            HostDimMapping::Stick { count: 1, within: 3 },
        ];
        assert_eq!(one.host_dims(&finer).unwrap(), expected);
    }

    #[test]
    fn distinguishes_stick_count_from_split_rows() {
        let (layout, host) = build_row_major(&[8, 64]);
        let (split, finer) = layout.split(&host, &[vec![2, 4], vec![64]]).unwrap();
        assert_eq!(sizes_and_strides(&split), (&[1, 2, 4, 64][..], &[64, 256, 64, 1][..]));
        let expected = [
            HostDimMapping::Whole { device_dim: 1 },
            HostDimMapping::Whole { device_dim: 2 },
            HostDimMapping::Stick { count: 0, within: 3 },
        ];
        assert_eq!(split.host_dims(&finer).unwrap(), expected);
    }

    #[test]
    fn splits_sparse_tensor_without_stick_count() {
        let host = HostTensor::row_major(&[64, 1]).unwrap();
        let sparse = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        let (split, finer) = sparse.split(&host, &[vec![2, 32], vec![1]]).unwrap();
        assert_eq!(sizes_and_strides(&split), (&[1, 2, 32, 64][..], &[-1, 32, 1, -1][..]));
        let expected =
            [HostDimMapping::Whole { device_dim: 1 }, HostDimMapping::Whole { device_dim: 2 }, HostDimMapping::Unit];
        assert_eq!(split.host_dims(&finer).unwrap(), expected);
    }

    #[test]
    fn rejects_factor_that_cuts_a_stick() {
        let cuts = |elements| Err(LayoutError::CutsStick { dim: 1, elements, stick: 64 });
        assert_eq!(split_row_major(&[64, 256], &[vec![64], vec![8, 32]]), cuts(32));
        assert_eq!(split_row_major(&[64, 192], &[vec![64], vec![2, 96]]), cuts(96));
        assert_eq!(split_row_major(&[64, 256], &[vec![64], vec![256]]), Ok(build_row_major(&[64, 256]).0));
        assert_eq!(
            split_row_major(&[64, 96], &[vec![64], vec![1, 96, 1]]),
            Ok(build_row_major(&[64, 96]).0),
            "the padded dimension is whole"
        );
    }

    #[test]
    fn rejects_factors_that_do_not_multiply_to_the_size() {
        let wrong = |factors: &[i64]| split_row_major(&[64], &[factors.to_vec()]).unwrap_err().to_string();
        assert_eq!(wrong(&[2, 16]), "factors [2, 16] do not make up dimension 0 of size 64");
        assert_eq!(wrong(&[-8, -8]), "factors [-8, -8] do not make up dimension 0 of size 64");
        assert_eq!(wrong(&[i64::MAX, 2]), format!("factors [{}, 2] do not make up dimension 0 of size 64", i64::MAX));
        assert!(matches!(split_row_major(&[64], &[]), Err(LayoutError::Length { expected: 1, found: 0, .. })));
    }

    /// Factors of each dimension, and the layout of the unsplit tensor.
    #[derive(Clone, Debug)]
    struct SplitCase {
        factors: Vec<Vec<i64>>,
        order: Vec<usize>,
        is_sparse: bool,
        format: DeviceFormat,
    }

    fn split_cases() -> impl Strategy<Value = SplitCase> {
        let dim = prop::collection::vec(prop::sample::select(vec![1_i64, 2, 3, 5, 32, 64, 96, 128]), 1..=3);
        let dims = prop::collection::vec(dim, 1..=3)
            .prop_filter("small", |dims| dims.iter().flatten().product::<i64>() <= 20_000);
        dims.prop_flat_map(|factors| {
            let order = Just((0..factors.len()).collect::<Vec<usize>>()).prop_shuffle();
            (Just(factors), order, any::<bool>(), prop::sample::select(vec![Sen169Fp16, IeeeFp32]))
        })
        .prop_map(|(factors, order, is_sparse, format)| SplitCase { factors, order, is_sparse, format })
    }

    /// Returns the device element of every host element, in row-major order of the host.
    fn compute_device_elements(layout: &DeviceLayout, host: &HostTensor) -> Vec<i64> {
        let access: Vec<Coordinate> = (0..host.rank()).map(Coordinate::from_dim).collect();
        let coordinates = compute_device_coordinates(layout, host, &access, host.sizes()).unwrap();
        let strides = layout.device_strides();
        let element = |point: Vec<i64>| {
            coordinates.iter().zip(&strides).map(|(place, stride)| place.evaluate(&point) * stride).sum()
        };
        points(host.sizes()).map(element).collect()
    }

    proptest! {
        #[test]
        fn keeps_element_positions(case in split_cases()) {
            let sizes: Vec<i64> = case.factors.iter().map(|factors| factors.iter().product()).collect();
            let host = HostTensor::row_major(&sizes).unwrap();
            let order = if case.is_sparse { DimOrder::sparse(&case.order) } else { DimOrder::dense(&case.order) };
            let layout = DeviceLayout::new(&host, case.format, &order).unwrap();
            let stick = case.format.elements_per_stick();
            let stick_dim = case.order.last().copied().filter(|_| !case.is_sparse);
            let cut = stick_dim.and_then(|dim| {
                let moving: Vec<i64> = case.factors[dim].iter().copied().filter(|&factor| factor > 1).collect();
                moving.last().copied().filter(|innermost| moving.len() > 1 && innermost % stick != 0)
            });
            match (layout.split(&host, &case.factors), cut) {
                (Ok((split, finer)), None) => {
                    prop_assert_eq!(finer.sizes(), case.factors.concat());
                    prop_assert_eq!(split.bytes(), layout.bytes());
                    prop_assert_eq!(compute_device_elements(&split, &finer), compute_device_elements(&layout, &host));
                }
                (result, cut) => {
                    prop_assert_eq!(result.unwrap_err(), LayoutError::CutsStick { dim: stick_dim.unwrap(), elements: cut.unwrap(), stick });
                }
            }
        }
    }
}
