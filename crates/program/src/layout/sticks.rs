//! Stick dimension of an access, agreement of an op's operands on it, and moves of the stick.

use super::{Coordinate, CoordinateTerm, DeviceLayout, HostDimMapping, HostTensor, LayoutError, count_sticks};

/// Contents of the sticks of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StickContents {
    /// Iteration dimension inside the sticks; `None` if an op uses one element per stick (sparse or broadcast).
    pub dim: Option<usize>,
    /// Lane of the first element.
    pub offset: i64,
}

/// Reason why an op cannot read its operands together: an operand needs a restickify first. Operands are numbered as
/// given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StickConflict {
    /// Lanes match only if every operand starts at lane 0.
    #[error("operand {operand} starts at lane {offset} of a stick")]
    Offset {
        /// The operand.
        operand: usize,
        /// Its first lane.
        offset: i64,
    },
    /// At most one dimension may be in the sticks of an op.
    #[error("operand {operand} has c{dim} in its sticks, another has c{other}")]
    Dims {
        /// The operand.
        operand: usize,
        /// The dimension in its sticks.
        dim: usize,
        /// The dimension in the sticks of an earlier operand.
        other: usize,
    },
    /// The dimension in the sticks of one operand must not step over sticks of another.
    #[error("operand {operand} steps over sticks with c{dim}, the dimension inside the sticks of the op")]
    Outside {
        /// The operand.
        operand: usize,
        /// The op's stick dimension.
        dim: usize,
    },
}

/// Returns the stick of an access with these device coordinates.
#[must_use]
pub fn find_stick_contents(coordinates: &[Coordinate]) -> StickContents {
    let last = coordinates.last().copied().unwrap_or_default();
    StickContents { dim: last.term.map(|term| term.dim), offset: last.offset }
}

/// Returns the iteration dimension in the sticks of an elementwise op or a reduction, from the device coordinates of
/// its operands and results; `None` if all of them are sparse (torch-spyre's `stick_compatible`). Index tensors are not
/// included. Matmuls follow another rule: the contracted dimension is in the sticks of the first operand, the generated
/// one in those of the second and of the result.
///
/// # Errors
/// Returns the first operand that conflicts with those before it.
pub fn find_common_stick(operands: &[&[Coordinate]]) -> Result<Option<usize>, StickConflict> {
    let mut agreed = None;
    for (operand, coordinates) in operands.iter().enumerate() {
        let stick = find_stick_contents(coordinates);
        if stick.offset != 0 {
            return Err(StickConflict::Offset { operand, offset: stick.offset });
        }
        match (agreed, stick.dim) {
            (Some(other), Some(dim)) if other != dim => return Err(StickConflict::Dims { operand, dim, other }),
            (None, Some(dim)) => agreed = Some(dim),
            (Some(_), Some(_)) | (_, None) => {}
        }
    }
    let Some(dim) = agreed else { return Ok(None) };
    match operands.iter().position(|coordinates| steps_over_sticks(coordinates, dim)) {
        Some(operand) => Err(StickConflict::Outside { operand, dim }),
        None => Ok(Some(dim)),
    }
}

/// Returns whether `dim` moves the access other than inside a stick and along the count of the same sticks.
fn steps_over_sticks(coordinates: &[Coordinate], dim: usize) -> bool {
    let Some((within, outer)) = coordinates.split_last() else { return false };
    let own = within.term.filter(|term| term.dim == dim);
    outer
        .iter()
        .filter_map(|coordinate| coordinate.term)
        .any(|term| term.dim == dim && !own.is_some_and(|own| is_stick_count(&term, &own)))
}

/// Returns whether `count` is the number of the stick whose position is `within`.
fn is_stick_count(count: &CoordinateTerm, within: &CoordinateTerm) -> bool {
    within.modulo.is_some() && count.floordiv == within.modulo
}

impl DeviceLayout {
    /// Returns the layout after a restickify that moves the stick to host dimension `to`; the two dimensions swap
    /// places (torch-spyre's restickify target). The restickify costs one pass over [`DeviceLayout::elements`].
    ///
    /// # Errors
    /// If the tensor is sparse or `to` has size 1 (no mechanism gathers elements of several sticks into one, or the
    /// reverse), if `to` is already the stick dimension, or if the layout does not have the simple structure of
    /// [`DeviceLayout::host_dims`].
    pub fn restickify(&self, host: &HostTensor, to: usize) -> Result<Self, LayoutError> {
        let dims = self.host_dims(host)?;
        let reject = |reason| LayoutError::Restickify { dim: to, reason };
        let found = dims.iter().enumerate().find_map(|(dim, place)| match *place {
            HostDimMapping::Stick { count, within } => Some((dim, count, within)),
            HostDimMapping::Unit | HostDimMapping::Whole { .. } => None,
        });
        let (from, count, within) = found.ok_or_else(|| reject("the tensor has one element per stick"))?;
        let device_dim = match dims.get(to) {
            None => return Err(reject("the tensor has no such dimension")),
            Some(HostDimMapping::Unit) => return Err(reject("it has size 1")),
            Some(HostDimMapping::Stick { .. }) => return Err(reject("it holds the stick already")),
            Some(HostDimMapping::Whole { device_dim }) => *device_dim,
        };
        let stick = self.format().elements_per_stick();
        let (mut device_size, mut stride_map) = (self.device_size().to_vec(), self.stride_map().to_vec());
        stride_map[within] = host.strides()[to];
        (device_size[count], stride_map[count]) = (count_sticks(host.sizes()[to], stick), host.strides()[to] * stick);
        (device_size[device_dim], stride_map[device_dim]) = (host.sizes()[from], host.strides()[from]);
        Self::from_parts(device_size, stride_map, self.format())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::{DimOrder, compute_device_coordinates};
    use machine::DeviceFormat::Sen169Fp16;

    fn build_coordinates(sizes: &[i64], order: &[usize], access: &[Coordinate], ranges: &[i64]) -> Vec<Coordinate> {
        let host = HostTensor::row_major(sizes).unwrap();
        let layout = DeviceLayout::new(&host, Sen169Fp16, &DimOrder::dense(order)).unwrap();
        compute_device_coordinates(&layout, &host, access, ranges).unwrap()
    }

    const C0: Coordinate = Coordinate::from_dim(0);
    const C1: Coordinate = Coordinate::from_dim(1);
    const RANGES: [i64; 2] = [128, 256];

    fn build_row_coordinates() -> Vec<Coordinate> {
        build_coordinates(&[128, 256], &[0, 1], &[C0, C1], &RANGES)
    }

    #[test]
    fn finds_common_stick_of_equal_layouts() {
        assert_eq!(find_stick_contents(&build_row_coordinates()), StickContents { dim: Some(1), offset: 0 });
        assert_eq!(find_common_stick(&[&build_row_coordinates(), &build_row_coordinates()]), Ok(Some(1)));
    }

    #[test]
    fn accepts_broadcast_and_sparse_operands_with_any_stick() {
        let bias = build_coordinates(&[256], &[0], &[C1], &RANGES);
        let column = build_coordinates(&[128, 1], &[0, 1], &[C0, Coordinate::constant(0)], &RANGES);
        assert_eq!(find_stick_contents(&column).dim, None);
        assert_eq!(find_common_stick(&[&build_row_coordinates(), &bias, &column]), Ok(Some(1)));
        assert_eq!(find_common_stick(&[&column, &column]), Ok(None));
    }

    #[test]
    fn rejects_transposed_operand() {
        let columns = build_coordinates(&[128, 256], &[1, 0], &[C0, C1], &RANGES);
        assert_eq!(
            find_common_stick(&[&build_row_coordinates(), &columns]),
            Err(StickConflict::Dims { operand: 1, dim: 0, other: 1 })
        );
    }

    #[test]
    fn rejects_stick_dim_that_steps_over_sticks_of_sparse_operand() {
        let column = build_coordinates(&[256, 1], &[0, 1], &[C1, Coordinate::constant(0)], &RANGES);
        assert_eq!(
            find_common_stick(&[&build_row_coordinates(), &column]),
            Err(StickConflict::Outside { operand: 1, dim: 1 })
        );
    }

    #[test]
    fn rejects_offset_in_the_stick() {
        let shifted = Coordinate { offset: 8, ..C1 };
        let window = build_coordinates(&[128, 256], &[0, 1], &[C0, shifted], &[128, 32]);
        assert_eq!(find_common_stick(&[&window]), Err(StickConflict::Offset { operand: 0, offset: 8 }));
    }

    #[test]
    fn swaps_two_dims_in_place() {
        let host = HostTensor::row_major(&[5, 100, 150]).unwrap();
        let layout = DeviceLayout::row_major(&[5, 100, 150], Sen169Fp16).unwrap();
        let moved = layout.restickify(&host, 1).unwrap();
        assert_eq!((moved.device_size(), moved.stride_map()), (&[150, 2, 5, 64][..], &[1, 9600, 15000, 150][..]));
        assert_eq!(moved.restickify(&host, 2).unwrap(), layout, "moving it back gives the first layout");
    }

    #[test]
    fn rejects_restickify_of_sparse_tensors_and_unit_dims() {
        let reason = |result: Result<DeviceLayout, LayoutError>| result.unwrap_err().to_string();
        let host = HostTensor::row_major(&[64, 1]).unwrap();
        let sparse = DeviceLayout::sparse(&[64, 1], 1, Sen169Fp16).unwrap();
        assert_eq!(
            reason(sparse.restickify(&host, 0)),
            "the stick cannot move to dimension 0: the tensor has one element per stick"
        );
        let host = HostTensor::row_major(&[1, 64]).unwrap();
        let layout = DeviceLayout::row_major(&[1, 64], Sen169Fp16).unwrap();
        assert_eq!(reason(layout.restickify(&host, 0)), "the stick cannot move to dimension 0: it has size 1");
        assert_eq!(
            reason(layout.restickify(&host, 1)),
            "the stick cannot move to dimension 1: it holds the stick already"
        );
        assert_eq!(
            reason(layout.restickify(&host, 2)),
            "the stick cannot move to dimension 2: the tensor has no such dimension"
        );
    }
}
