//! Assigns slices to cores ("SuperDSC schema, section 5").

use super::{DimLabel, LabeledSpace};
use crate::bundle::OpFamily;
use crate::bundle::is_identity;
use crate::{
    bundle::{OpSpec, OpSpecOperand, Ownership},
    launch::LaunchError,
};

/// Division of one dimension: core `c` has slice `(c / divisor) mod slices`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimDivision {
    /// The dimension.
    pub label: DimLabel,
    /// Number of slices.
    pub slices: i64,
    /// Number of consecutive cores with the same slice.
    pub divisor: i64,
}

impl DimDivision {
    /// Returns the slice of a core.
    #[must_use]
    pub const fn slot(&self, core: i64) -> i64 {
        core / self.divisor % self.slices
    }
}

/// Division of a space among cores.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CoreDivisions {
    dims: Vec<DimDivision>,
}

impl CoreDivisions {
    /// Returns the division of every dimension, fastest first.
    #[must_use]
    pub fn dims(&self) -> &[DimDivision] {
        &self.dims
    }

    /// Returns the division of one dimension; a missing dimension is undivided.
    #[must_use]
    pub fn get(&self, label: DimLabel) -> DimDivision {
        self.dims.iter().copied().find(|division| division.label == label).unwrap_or(DimDivision {
            label,
            slices: 1,
            divisor: 1,
        })
    }
}

/// Returns the division of the op: mixed radix over its dimensions, in the order that the op requests, or else with the
/// first one fastest.
pub(super) fn divide_space(op: &OpSpec, labels: &[DimLabel], space: &LabeledSpace, family: OpFamily) -> CoreDivisions {
    if let Some(asked) = requested_division(op, labels, space) {
        return asked;
    }
    divide_in_order(space, family)
}

/// Returns the division that the op requests, fastest dimension first. Dimensions that the format adds are undivided.
fn requested_division(op: &OpSpec, labels: &[DimLabel], space: &LabeledSpace) -> Option<CoreDivisions> {
    let divisors = op.iteration_space.iter().map(|dim| dim.divisor).collect::<Option<Vec<i64>>>()?;
    let divisor_of = |label: DimLabel| {
        labels.iter().position(|other| *other == label).and_then(|dim| divisors.get(dim).copied()).unwrap_or(1)
    };
    let of_dim = |label: DimLabel| DimDivision { label, slices: space.split(label), divisor: divisor_of(label).max(1) };
    let mut dims: Vec<_> = space.dims().iter().map(|dim| of_dim(dim.label)).collect();
    dims.sort_by_key(|division| if division.slices > 1 { division.divisor } else { i64::MAX });
    (!divisors.is_empty()).then_some(CoreDivisions { dims })
}

/// Returns the default division of the format: the first dimension is fastest.
fn divide_in_order(space: &LabeledSpace, family: OpFamily) -> CoreDivisions {
    let mut order: Vec<_> = space.dims().iter().map(|dim| dim.label).collect();
    // Neighboring cores compute the partial sums of one result, and pass them along the ring. So the contracted
    // dimension of a matmul, the last one, is fastest.
    if family == OpFamily::Matmul && space.dims().last().is_some_and(|contracted| contracted.split > 1) {
        order.rotate_right(1);
    }
    let mut divisor = 1;
    let mut dims = Vec::with_capacity(order.len());
    for label in order {
        let slices = space.split(label);
        dims.push(DimDivision { label, slices, divisor });
        divisor *= slices;
    }
    CoreDivisions { dims }
}

/// Returns the division of each tensor among the cores that hold it, for an LX relayout; `None` for any other op.
pub(super) fn assign_owners(
    op: &OpSpec,
    labels: &[DimLabel],
    space: &LabeledSpace,
    own: &CoreDivisions,
) -> Result<Option<Vec<CoreDivisions>>, LaunchError> {
    let Some(stray) = op.operands.iter().position(|operand| operand.ownership.is_some()) else { return Ok(None) };
    let is_relayout = match op.operands.as_slice() {
        [from, to] => {
            is_identity(op) && from.allocation.is_lx() && to.allocation.is_lx() && from.ownership != to.ownership
        }
        _ => false,
    };
    if !is_relayout {
        return Err(LaunchError::StrayOwnership { operand: stray });
    }
    let owner_of = |(operand, spec): (usize, &OpSpecOperand)| match &spec.ownership {
        Some(ownership) => assign_owner(operand, ownership, labels, space),
        None => Ok(own.clone()),
    };
    op.operands.iter().enumerate().map(owner_of).collect::<Result<_, _>>().map(Some)
}

fn assign_owner(
    operand: usize,
    ownership: &Ownership,
    labels: &[DimLabel],
    space: &LabeledSpace,
) -> Result<CoreDivisions, LaunchError> {
    let mut dims: Vec<_> =
        space.dims().iter().map(|dim| DimDivision { label: dim.label, slices: 1, divisor: 1 }).collect();
    for owned in &ownership.dims {
        let unknown = LaunchError::UnknownDim { operand, dim: owned.dim, dims: labels.len() };
        let label = *labels.get(owned.dim).ok_or(unknown)?;
        for division in dims.iter_mut().filter(|division| division.label == label) {
            *division = DimDivision { label, slices: owned.slices.max(1), divisor: owned.divisor.max(1) };
        }
    }
    let slices = dims.iter().fold(1_i64, |product, division| product.saturating_mul(division.slices));
    // Several cores may get the same slice; one core holds each slice of the source.
    let is_possible = if operand == 0 { slices == space.num_cores() } else { space.num_cores() % slices == 0 };
    if !is_possible {
        return Err(LaunchError::OwnershipCores { operand, slices, cores: space.num_cores() });
    }
    Ok(CoreDivisions { dims })
}

#[cfg(test)]
mod tests {
    use super::super::Geometry;
    use super::*;
    use crate::bundle::testing::{dense_operand, op};
    use crate::bundle::{Allocation, OwnedDim};

    fn copy(from: &[OwnedDim], to: &[OwnedDim]) -> OpSpec {
        let mut copy =
            op("identity", &[64, 256], vec![dense_operand(&[64, 256], 0, 1), dense_operand(&[64, 256], 0, 1)]);
        copy.iteration_space[0].split = 4;
        for (operand, dims) in copy.operands.iter_mut().zip([from, to]) {
            operand.allocation = Allocation::Lx { offset_bytes: 0 };
            operand.ownership = Some(Ownership { dims: dims.to_vec() });
        }
        copy
    }

    const ROWS: OwnedDim = OwnedDim { dim: 0, slices: 4, divisor: 1 };
    const COLUMNS: OwnedDim = OwnedDim { dim: 1, slices: 4, divisor: 1 };

    #[test]
    fn orders_first_dimension_fastest_unless_contraction_is_split() {
        let mut mm = op(
            "batchmatmul",
            &[64, 256, 128],
            vec![dense_operand(&[64, 128], 0, 2), dense_operand(&[128, 256], 2, 1), dense_operand(&[64, 256], 0, 1)],
        );
        mm.iteration_space[0].split = 4;
        mm.iteration_space[1].split = 2;
        let order = |mm: &OpSpec| {
            Geometry::new(mm).unwrap().divisions.dims().iter().map(|dim| (dim.label, dim.divisor)).collect::<Vec<_>>()
        };
        assert_eq!(order(&mm), [(DimLabel::Mb, 1), (DimLabel::Out, 4), (DimLabel::In, 8)]);
        mm.iteration_space[2].split = 2;
        assert_eq!(order(&mm), [(DimLabel::In, 1), (DimLabel::Mb, 2), (DimLabel::Out, 8)]);
    }

    #[test]
    fn assigns_two_ownerships_to_relayout() {
        let geometry = Geometry::new(&copy(&[ROWS], &[COLUMNS])).unwrap();
        assert_eq!(geometry.owner(0).get(DimLabel::Mb).slot(3), 3);
        assert_eq!(geometry.owner(1).get(DimLabel::Mb).slot(3), 0);
        assert_eq!(geometry.owner(1).get(DimLabel::Out).slot(3), 3);
    }

    #[test]
    fn requires_relayout_and_all_cores_for_ownership() {
        assert_eq!(Geometry::new(&copy(&[ROWS], &[ROWS])), Err(LaunchError::StrayOwnership { operand: 0 }));
        let three = OwnedDim { slices: 3, ..COLUMNS };
        assert_eq!(
            Geometry::new(&copy(&[ROWS], &[three])),
            Err(LaunchError::OwnershipCores { operand: 1, slices: 3, cores: 4 })
        );
    }
}
