//! Maps the elements of a tensor to its device layout, as runs of adjacent elements in one stick.

use super::ConstantError;
use program::layout::{DeviceLayout, HostTensor, LayoutError};

/// Run of host elements that are adjacent in a stick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ElementRun {
    /// Device position of the first element.
    pub(super) device: usize,
    /// Host position of the first element.
    pub(super) host: usize,
    /// Host stride between consecutive elements.
    pub(super) host_stride: usize,
    /// Number of elements.
    pub(super) count: usize,
}

/// Map from a device layout to a row-major host tensor.
#[derive(Clone, Debug)]
pub(super) struct ElementMap {
    /// Sizes of the device dimensions, the stick last.
    sizes: Vec<i64>,
    steps: Vec<DeviceDimStep>,
    /// Sizes of the host dimensions.
    host_sizes: Vec<i64>,
    /// Total number of host elements.
    num_elements: i64,
}

/// Step along a device dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DeviceDimStep {
    /// Only the first position holds elements.
    Nowhere,
    /// A step along a host dimension.
    Along {
        dim: usize,
        /// Size of that host dimension.
        positions: i64,
        /// Host elements per step.
        elements: i64,
    },
}

impl ElementMap {
    /// Returns the map for a tensor of the given shape: device dimension `i` has a stride of `stride_map[i]` host
    /// elements ("torch-spyre facts, B.1"); positions beyond the host dimension hold no element.
    ///
    /// # Errors
    /// If a stride follows no dimension of the tensor, or if the layout omits or repeats elements.
    pub(super) fn new(shape: &[i64], layout: &DeviceLayout) -> Result<Self, ConstantError> {
        let host = HostTensor::row_major(shape)?;
        let host_strides = host.strides();
        let step_of = |(device_dim, (&size, &stride)): (usize, (&i64, &i64))| {
            // The stride of a dimension of size 1 is irrelevant.
            if size == 1 || stride == -1 {
                return Ok(DeviceDimStep::Nowhere);
            }
            let follows = |dim: usize| shape[dim] > 1 && stride >= host_strides[dim] && stride % host_strides[dim] == 0;
            let dim = (0..shape.len()).find(|&dim| follows(dim)).ok_or(ConstantError::Stride { device_dim, stride })?;
            Ok(DeviceDimStep::Along { dim, positions: stride / host_strides[dim], elements: stride })
        };
        let steps = layout
            .device_size()
            .iter()
            .zip(layout.stride_map())
            .enumerate()
            .map(step_of)
            .collect::<Result<_, ConstantError>>()?;
        let num_elements =
            shape.iter().try_fold(1_i64, |count, &size| count.checked_mul(size)).ok_or(LayoutError::TooLarge)?;
        let places = Self { sizes: layout.device_size().to_vec(), steps, host_sizes: shape.to_vec(), num_elements };
        places.check()
    }

    /// Returns the number of host elements.
    pub(super) const fn num_elements(&self) -> i64 {
        self.num_elements
    }

    /// Checks that every element has exactly one position: the device dimensions along a host dimension must form a
    /// mixed-radix number of its positions.
    fn check(self) -> Result<Self, ConstantError> {
        for (dim, &size) in self.host_sizes.iter().enumerate() {
            let digit = |(step, &count): (&DeviceDimStep, &i64)| match *step {
                DeviceDimStep::Along { dim: other, positions, .. } if other == dim => Some((positions, count)),
                DeviceDimStep::Along { .. } | DeviceDimStep::Nowhere => None,
            };
            let mut digits: Vec<(i64, i64)> = self.steps.iter().zip(&self.sizes).filter_map(digit).collect();
            digits.sort_unstable();
            let next =
                |held: i64, (positions, count): (i64, i64)| (positions == held).then(|| held.saturating_mul(count));
            let held = digits.into_iter().try_fold(1, next);
            if held.is_none_or(|held| held < size) {
                return Err(ConstantError::Dimension { dim, size });
            }
        }
        Ok(self)
    }

    /// Visits the elements in device order.
    pub(super) fn visit_runs(&self, mut visit: impl FnMut(ElementRun)) {
        let (Some((&stick, outer)), Some((&within, steps))) = (self.sizes.split_last(), self.steps.split_last()) else {
            return;
        };
        let mut position = vec![0; outer.len()];
        let mut coordinates = vec![0; self.host_sizes.len()];
        for number in 0.. {
            if let Some(host) = locate(&position, steps, &mut coordinates) {
                let (host_stride, count) = match within {
                    DeviceDimStep::Nowhere => (0, i64::from(self.is_inside(&coordinates))),
                    DeviceDimStep::Along { dim, positions, elements } => {
                        let left = (self.host_sizes[dim] - coordinates[dim] + positions - 1) / positions;
                        (elements, if self.is_inside(&coordinates) { left.min(stick) } else { 0 })
                    }
                };
                if count > 0 {
                    let [host, host_stride, count] = [host, host_stride, count]
                        .map(|number| usize::try_from(number).expect("a place is not negative"));
                    visit(ElementRun {
                        device: number * usize::try_from(stick).expect("a size is not negative"),
                        host,
                        host_stride,
                        count,
                    });
                }
            }
            if !advance_position(&mut position, outer) {
                return;
            }
        }
    }

    fn is_inside(&self, coordinates: &[i64]) -> bool {
        coordinates.iter().zip(&self.host_sizes).all(|(at, size)| at < size)
    }
}

/// Returns the host element at a position, and its coordinates; `None` if the position holds no element.
fn locate(position: &[i64], steps: &[DeviceDimStep], coordinates: &mut [i64]) -> Option<i64> {
    coordinates.fill(0);
    let mut host = 0;
    for (at, step) in position.iter().zip(steps) {
        match step {
            DeviceDimStep::Nowhere if *at > 0 => return None,
            DeviceDimStep::Nowhere => {}
            DeviceDimStep::Along { dim, positions, elements } => {
                coordinates[*dim] += at * positions;
                host += at * elements;
            }
        }
    }
    Some(host)
}

/// Advances to the next position, last dimension fastest; returns false after the last one.
fn advance_position(position: &mut [i64], sizes: &[i64]) -> bool {
    for (at, size) in position.iter_mut().zip(sizes).rev() {
        *at += 1;
        if *at < *size {
            return true;
        }
        *at = 0;
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFormat::Sen169Fp16;
    use program::layout::{DimOrder, HostTensor};

    /// Returns the host element at each device position; -1 for none.
    fn collect_positions(shape: &[i64], layout: &DeviceLayout) -> Vec<i64> {
        let mut map = vec![-1; usize::try_from(layout.elements()).unwrap()];
        let places = ElementMap::new(shape, layout).unwrap();
        places.visit_runs(|run| {
            for step in 0..run.count {
                assert_eq!(map[run.device + step], -1, "a position is visited twice");
                map[run.device + step] = i64::try_from(run.host + step * run.host_stride).unwrap();
            }
        });
        let mut held: Vec<i64> = map.iter().copied().filter(|element| *element >= 0).collect();
        held.sort_unstable();
        assert!(held.into_iter().eq(0..places.num_elements()), "every element has one place");
        map
    }

    #[test]
    fn splits_rows_into_sticks() {
        let map = collect_positions(&[3, 100], &DeviceLayout::row_major(&[3, 100], Sen169Fp16).unwrap());
        // Column 1 of the sticks, row 2: elements 64 to 99 of the row, then padding.
        assert_eq!((map[(3 + 2) * 64], map[(3 + 2) * 64 + 35], map[(3 + 2) * 64 + 36]), (264, 299, -1));
    }

    #[test]
    fn places_every_element_once() {
        for sizes in [
            vec![],
            vec![1],
            vec![7],
            vec![130],
            vec![1, 1],
            vec![1, 70],
            vec![70, 1],
            vec![2, 3, 70],
            vec![4, 1, 5, 9],
        ] {
            collect_positions(&sizes, &DeviceLayout::row_major(&sizes, Sen169Fp16).unwrap());
            for stick in 0..sizes.len() {
                let host = HostTensor::row_major(&sizes).unwrap();
                collect_positions(
                    &sizes,
                    &DeviceLayout::new(&host, Sen169Fp16, &DimOrder::with_stick(&sizes, stick)).unwrap(),
                );
            }
        }
    }

    #[test]
    fn strides_over_rows_of_transposed_stick() {
        let host = HostTensor::row_major(&[128, 3]).unwrap();
        let map = collect_positions(
            &[128, 3],
            &DeviceLayout::new(&host, Sen169Fp16, &DimOrder::with_stick(&[128, 3], 0)).unwrap(),
        );
        // The second stick of column 1.
        assert_eq!(map[(3 + 1) * 64..(3 + 1) * 64 + 2], [64 * 3 + 1, 65 * 3 + 1]);
    }

    #[test]
    fn places_one_element_in_sparse_stick() {
        let map = collect_positions(&[5, 1], &DeviceLayout::sparse(&[5, 1], 1, Sen169Fp16).unwrap());
        assert_eq!((map[0], map[1], map[64], map[4 * 64]), (0, -1, 1, 4));
    }

    #[test]
    fn leaves_padded_rows_empty() {
        let layout = DeviceLayout::from_parts(vec![1, 8, 64], vec![64, 64, 1], Sen169Fp16).unwrap();
        let map = collect_positions(&[5, 64], &layout);
        assert_eq!((map[4 * 64], map[5 * 64]), (256, -1));
    }

    #[test]
    fn ignores_stride_of_single_stick() {
        let layout = DeviceLayout::from_parts(vec![32, 1, 16, 64], vec![7, 64, 224, 1], Sen169Fp16).unwrap();
        collect_positions(&[16, 32, 7], &layout);
    }

    #[test]
    fn rejects_layouts_that_lose_or_repeat_elements() {
        let reject = |shape: &[i64], sizes: &[i64], strides: &[i64]| {
            let layout = DeviceLayout::from_parts(sizes.to_vec(), strides.to_vec(), Sen169Fp16).unwrap();
            ElementMap::new(shape, &layout).unwrap_err()
        };
        assert_eq!(reject(&[512, 256], &[4, 64], &[64, 1]), ConstantError::Dimension { dim: 0, size: 512 });
        assert_eq!(reject(&[128], &[1, 64], &[64, 1]), ConstantError::Dimension { dim: 0, size: 128 });
        assert_eq!(reject(&[64], &[2, 64], &[1, 1]), ConstantError::Dimension { dim: 0, size: 64 });
        assert_eq!(reject(&[8, 70], &[2, 8, 64], &[64, 70, 0]), ConstantError::Stride { device_dim: 2, stride: 0 });
        assert_eq!(reject(&[2, 70], &[2, 2, 64], &[75, 70, 1]), ConstantError::Dimension { dim: 1, size: 70 });
    }
}
