//! Partition of a buffer over the cores, for each of its users.

use machine::{Family, MAX_MATMUL_DIMS_PER_ROLE};
use program::layout::Coordinate;
use program::{CoreOrder, DeviceOperand, DimKind, UndividedOp, WorkSplit};

/// Reason why users of a buffer disagree about the slice of each core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CoreSplitConflict {
    /// The writer and a reader, or two readers, have different slices.
    #[error("use {user} slices it differently from use 0")]
    Slices {
        /// Position of the use that disagrees with the first.
        user: usize,
    },
    /// A reader runs on more cores than there are slices: several cores would need the same slice.
    #[error("use {user} runs on {cores} cores, but there are {slices} slices")]
    Shared {
        /// Position of the use.
        user: usize,
        /// Cores of the op.
        cores: i64,
        /// Slices of the buffer.
        slices: i64,
    },
    /// The writer's cores each hold a partial sum.
    #[error("its writer splits a reduction, so that each core has a partial result")]
    PartialSums,
    /// A core would have none, or not all, of the data that it needs.
    #[error("use {user} splits a dimension of which it uses only a part")]
    PartialUse {
        /// Position of the use.
        user: usize,
    },
    /// A slice is not a range of positions of one device dimension.
    #[error("use {user} splits a device dimension into unequal parts")]
    Uneven {
        /// Position of the use.
        user: usize,
    },
}

/// One use of a buffer by an op whose work is divided. The first use of a buffer that an op writes is the write.
#[derive(Clone, Copy, Debug)]
pub struct CoreUse<'a> {
    /// The op.
    pub op: &'a UndividedOp,
    /// Index of the operand; the last one is the result.
    pub operand: usize,
    /// Core split of the op. That of a shuffle's result may have more dimensions than the op: numbers of cores that
    /// have the same slice.
    pub split: &'a WorkSplit,
}

impl CoreUse<'_> {
    /// Returns whether several cores may have the same slice: a shuffle writes each of them.
    fn is_replicated(&self) -> bool {
        self.split.slices().len() > self.op.dims.len()
    }
}

/// Slices of a buffer over the cores: the digits of a position in the buffer determine the core that has it.
///
/// Positions count the used sticks in memory order, so users agree even if they access the buffer under different
/// dimensions. A torch-spyre `PerCoreView`, which counts the dimensions of one layout, could not compare them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoreView {
    /// Digits from the innermost on, as few as possible.
    digits: Vec<CoreDigit>,
}

/// Sticks of position `p` are on the cores with `core floordiv weight mod slices == p floordiv step mod slices`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CoreDigit {
    step: i64,
    slices: i64,
    weight: i64,
}

impl CoreView {
    /// Merges digits that continue each other, in memory and in the core number.
    fn from_digits(mut digits: Vec<CoreDigit>) -> Self {
        digits.sort_unstable();
        digits.dedup_by(|outer, inner| {
            let continues = outer.step == inner.step * inner.slices && outer.weight == inner.weight * inner.slices;
            if continues {
                inner.slices *= outer.slices;
            }
            continues
        });
        Self { digits }
    }

    /// Returns the number of slices.
    #[must_use]
    pub fn num_slices(&self) -> i64 {
        self.digits.iter().map(|digit| digit.slices).product()
    }
}

/// Returns the common view of all users. The bytes on one core are the bytes of the buffer divided by
/// [`CoreView::num_slices`].
///
/// # Errors
/// Returns the reason why the buffer cannot be in LX: a core has only its own slice there, so every user must have
/// exactly the slice that the writer left.
pub fn find_common_view(uses: &[CoreUse<'_>]) -> Result<CoreView, CoreSplitConflict> {
    let mut agreed: Option<CoreView> = None;
    let is_replicated = uses.first().is_some_and(CoreUse::is_replicated);
    for (user, one) in uses.iter().enumerate() {
        let view = if is_replicated { compute_shared_view(user, one)? } else { compute_core_view(user, one)? };
        match &agreed {
            Some(first) if *first != view => return Err(CoreSplitConflict::Slices { user }),
            Some(_) => {}
            None => agreed = Some(view),
        }
    }
    Ok(agreed.unwrap_or_else(|| CoreView::from_digits(Vec::new())))
}

/// Returns the slices of one user, each on one core; `user` is its position among the users, for the message.
pub fn compute_core_view(user: usize, one: &CoreUse<'_>) -> Result<CoreView, CoreSplitConflict> {
    let (view, cores) = (compute_shared_view(user, one)?, one.split.num_cores());
    if view.num_slices() == cores {
        Ok(view)
    } else {
        Err(CoreSplitConflict::Shared { user, cores, slices: view.num_slices() })
    }
}

/// Returns the slices of one user, which several cores may share.
pub(crate) fn compute_shared_view(user: usize, one: &CoreUse<'_>) -> Result<CoreView, CoreSplitConflict> {
    let operand = &one.op.operands[one.operand];
    let is_write = one.operand + 1 == one.op.operands.len();
    let weights = one.split.divisors(CoreOrder::from_family(one.op.family));
    let touched = count_accessed_positions(one, &operand.coordinates);
    // A user that accesses a slice must agree with the others about the complete buffer.
    let extents: &[i64] = operand.part_of.as_ref().map_or(&touched, |whole| &whole[..touched.len()]);
    let mut digits = Vec::new();
    for (dim, &slices) in one.split.slices().iter().enumerate().filter(|&(_, &slices)| slices > 1) {
        let is_reduced = one.op.dims.get(dim).is_some_and(|dim| dim.kind == DimKind::Reduction);
        if is_write && is_reduced {
            return Err(CoreSplitConflict::PartialSums);
        }
        let Some(device_dim) = find_sliced_dim(user, &operand.coordinates, dim)? else { continue };
        if touched[device_dim] < extents[device_dim] || joins_fixed_position(one.op, operand, device_dim) {
            return Err(CoreSplitConflict::PartialUse { user });
        }
        if extents[device_dim] % slices != 0 {
            return Err(CoreSplitConflict::Uneven { user });
        }
        let step = extents[device_dim..].iter().product::<i64>() / slices;
        digits.push(CoreDigit { step, slices, weight: weights[dim] });
    }
    Ok(CoreView::from_digits(digits))
}

/// Returns whether the files describe device dimension `device_dim` of a matmul's operand as one dimension with the
/// next outer one, of which the op reads one position: a matmul has few batch dimensions, so excess fixed positions are
/// merged into the next inner dimension (`bundle/unit_dims.rs`). A core then needs a part of the merged dimension.
fn joins_fixed_position(op: &UndividedOp, operand: &DeviceOperand, device_dim: usize) -> bool {
    let is_fixed = |operand: &DeviceOperand, position: usize| {
        operand.layout.device_size()[position] > 1 && operand.coordinates[position].term.is_none()
    };
    if op.family != Family::Matmul || !device_dim.checked_sub(1).is_some_and(|outer| is_fixed(operand, outer)) {
        return false;
    }
    let num_fixed = |operand: &DeviceOperand| {
        let outer = 0..operand.coordinates.len().saturating_sub(1);
        outer.filter(|&position| is_fixed(operand, position)).count()
    };
    let moves_all = |dim: usize| {
        let moves = |operand: &DeviceOperand| {
            operand.coordinates.iter().any(|coordinate| coordinate.term.is_some_and(|term| term.dim == dim))
        };
        op.dims[dim].size == 1 || op.operands.iter().all(moves)
    };
    // An operand may be broadcast along a batch dimension, so all dimensions before row and column count.
    let num_outputs = op.dims.iter().filter(|dim| dim.kind == DimKind::Output).count();
    let num_batch = (0..op.dims.len()).filter(|&dim| dim + 2 < num_outputs || moves_all(dim)).count();
    let most_fixed = op.operands.iter().map(num_fixed).max().unwrap_or(0);
    num_batch + most_fixed > MAX_MATMUL_DIMS_PER_ROLE
}

/// Returns the number of positions that a use has of each device dimension except the last, which is one stick. If the
/// layout is that of a larger buffer, these are the positions of the tile, so that a copy of the tile has equal slices.
fn count_accessed_positions(one: &CoreUse<'_>, coordinates: &[Coordinate]) -> Vec<i64> {
    let ranges: Vec<i64> = one.op.dims.iter().map(|dim| dim.size).collect();
    let outer = coordinates.iter().take(coordinates.len().saturating_sub(1));
    outer
        .map(|coordinate| coordinate.term.and_then(|term| term.max_value(&ranges).ok()).map_or(1, |last| last + 1))
        .collect()
}

/// Returns the device dimension that a slice of `dim` splits; `None` if the operand does not move along `dim`. A stick
/// is never split.
fn find_sliced_dim(user: usize, coordinates: &[Coordinate], dim: usize) -> Result<Option<usize>, CoreSplitConflict> {
    let outer = coordinates.iter().enumerate().take(coordinates.len().saturating_sub(1));
    let mut moved = outer
        .filter(|(_, coordinate)| coordinate.term.is_some_and(|term| term.dim == dim))
        .map(|(device_dim, _)| device_dim);
    let first = moved.next();
    // A dimension merged from several others is spread over several device dimensions; splitting it splits none of them
    // evenly.
    if moved.next().is_some() { Err(CoreSplitConflict::Uneven { user }) } else { Ok(first) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use machine::DeviceFormat;
    use program::IterationDim;
    use program::layout::{DeviceLayout, HostTensor, compute_device_coordinates};

    fn build_operand(sizes: &[i64], access: &[Coordinate], ranges: &[i64]) -> DeviceOperand {
        let host = HostTensor::row_major(sizes).unwrap();
        let layout = DeviceLayout::row_major(sizes, DeviceFormat::Sen169Fp16).unwrap();
        let coordinates = compute_device_coordinates(&layout, &host, access, ranges).unwrap();
        DeviceOperand { layout, coordinates, part_of: None, indexed: None }
    }

    const C0: Coordinate = Coordinate::from_dim(0);
    const C1: Coordinate = Coordinate::from_dim(1);

    fn build_operation(
        family: Family,
        ranges: &[i64],
        num_outputs: usize,
        operands: Vec<DeviceOperand>,
    ) -> UndividedOp {
        let kind = |dim| if dim < num_outputs { DimKind::Output } else { DimKind::Reduction };
        let dims = ranges.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect();
        UndividedOp {
            family,
            dims,
            operands,
            minima: WorkSplit::single_core(ranges.len()),
            hint: None,
            blocked: Vec::new(),
        }
    }

    /// Rows plus a bias: operands 0 and 2 are [128, 256], operand 1 is [256].
    fn build_biased_add() -> UndividedOp {
        let ranges = [128, 256];
        let rows = build_operand(&[128, 256], &[C0, C1], &ranges);
        build_operation(Family::Pointwise, &ranges, 2, vec![rows.clone(), build_operand(&[256], &[C1], &ranges), rows])
    }

    fn build_matmul() -> UndividedOp {
        let ranges = [128, 256, 512];
        let c2 = Coordinate::from_dim(2);
        let operands = vec![
            build_operand(&[128, 512], &[C0, c2], &ranges),
            build_operand(&[512, 256], &[c2, C1], &ranges),
            build_operand(&[128, 256], &[C0, C1], &ranges),
        ];
        build_operation(Family::Matmul, &ranges, 2, operands)
    }

    fn build_split(slices: &[i64]) -> WorkSplit {
        WorkSplit::new(slices.to_vec()).unwrap()
    }

    #[test]
    fn accepts_equal_splits() {
        let (op, by_rows) = (build_biased_add(), build_split(&[8, 1]));
        let used = |operand| CoreUse { op: &op, operand, split: &by_rows };
        assert_eq!(find_common_view(&[used(2), used(0)]).map(|view| view.num_slices()), Ok(8));
    }

    #[test]
    fn rejects_different_splits() {
        let op = build_biased_add();
        let (by_rows, by_columns) = (build_split(&[4, 1]), build_split(&[1, 4]));
        let uses =
            [CoreUse { op: &op, operand: 2, split: &by_rows }, CoreUse { op: &op, operand: 0, split: &by_columns }];
        assert_eq!(find_common_view(&uses), Err(CoreSplitConflict::Slices { user: 1 }));
    }

    #[test]
    fn rejects_broadcast_read_of_one_slice_on_several_cores() {
        let (op, by_rows) = (build_biased_add(), build_split(&[8, 1]));
        let uses = [CoreUse { op: &op, operand: 1, split: &by_rows }];
        assert_eq!(find_common_view(&uses), Err(CoreSplitConflict::Shared { user: 0, cores: 8, slices: 1 }));
    }

    #[test]
    fn rejects_partial_sums() {
        let (op, by_k) = (build_matmul(), build_split(&[4, 1, 2]));
        let result = CoreUse { op: &op, operand: 2, split: &by_k };
        assert_eq!(find_common_view(&[result]), Err(CoreSplitConflict::PartialSums));
    }

    #[test]
    fn distinguishes_core_orders() {
        // Both read [128, 512] as 2 x 4 slices, but neighboring cores have neighboring slices of K in the matmul, and
        // of rows in the copy.
        let ranges = [128, 512];
        let rows = build_operand(&[128, 512], &[C0, C1], &ranges);
        let copy = build_operation(Family::Copy, &ranges, 2, vec![rows.clone(), rows]);
        let contract = build_matmul();
        let (copied, contracted) = (build_split(&[2, 4]), build_split(&[2, 1, 4]));
        let uses = [
            CoreUse { op: &copy, operand: 1, split: &copied },
            CoreUse { op: &contract, operand: 0, split: &contracted },
        ];
        assert_eq!(find_common_view(&uses), Err(CoreSplitConflict::Slices { user: 1 }));
    }

    #[test]
    fn distinguishes_slices_under_other_dimensions() {
        // [2, 4, 3, 128] as 4 x 3 x 2 sticks x 2, and the same bytes as [2, 12, 128] of 12 x 2 sticks x 2.
        let fine = [2, 4, 3, 128];
        let dims = [0, 1, 2, 3].map(Coordinate::from_dim);
        let fine = build_operation(Family::Pointwise, &fine, 4, vec![build_operand(&fine, &dims, &fine)]);
        let merged = [2, 12, 128];
        let merged = build_operation(Family::Pointwise, &merged, 3, vec![build_operand(&merged, &dims[..3], &merged)]);
        let agree = |of_fine: &[i64], of_merged: &[i64]| {
            let (of_fine, of_merged) = (build_split(of_fine), build_split(of_merged));
            let of_fine = of_fine.with_order(vec![1, 0, 2, 3]).unwrap();
            let of_merged = of_merged.with_order(vec![1, 0, 2]).unwrap();
            let uses = [
                CoreUse { op: &fine, operand: 0, split: &of_fine },
                CoreUse { op: &merged, operand: 0, split: &of_merged },
            ];
            find_common_view(&uses).map(|view| view.num_slices())
        };
        assert_eq!(agree(&[1, 4, 1, 2], &[2, 4, 1]), Err(CoreSplitConflict::Slices { user: 1 }), "sticks are no rows");
        assert_eq!(agree(&[2, 4, 1, 1], &[2, 4, 1]), Ok(8));
        assert_eq!(
            agree(&[1, 4, 3, 1], &[1, 12, 1]),
            Err(CoreSplitConflict::Slices { user: 1 }),
            "the outer digit changes first"
        );
    }

    #[test]
    fn accepts_all_uses_on_one_core() {
        let (op, whole) = (build_matmul(), WorkSplit::single_core(3));
        let uses = [0, 1, 2].map(|operand| CoreUse { op: &op, operand, split: &whole });
        assert_eq!(find_common_view(&uses).map(|view| view.num_slices()), Ok(1));
    }

    #[test]
    fn rejects_split_of_merged_dim() {
        use program::layout::CoordinateTerm;
        let ranges = [512, 256];
        let batch = Coordinate { term: Some(CoordinateTerm { dim: 0, modulo: None, floordiv: Some(128) }), offset: 0 };
        let row = Coordinate { term: Some(CoordinateTerm { dim: 0, modulo: Some(128), floordiv: None }), offset: 0 };
        let merged = build_operand(&[4, 128, 256], &[batch, row, C1], &ranges);
        let op = build_operation(
            Family::Pointwise,
            &ranges,
            2,
            vec![merged, build_operand(&[512, 256], &[C0, C1], &ranges)],
        );
        let by_rows = build_split(&[8, 1]);
        assert_eq!(
            find_common_view(&[CoreUse { op: &op, operand: 0, split: &by_rows }]),
            Err(CoreSplitConflict::Uneven { user: 0 })
        );
    }

    #[test]
    fn rejects_split_of_dim_that_is_merged_with_fixed_position() {
        // Device dimensions of x: two of which one position is read, the batch, the stick, the rows.
        let ranges = [8, 32, 64, 64];
        let [batch, row, column, sum] = [0, 1, 2, 3].map(Coordinate::from_dim);
        let second = Coordinate { term: None, offset: 1 };
        let build = |fixed: &[i64]| {
            let (sizes, access) =
                ([&[32], fixed, &[8, 64]].concat(), [vec![row], vec![second; fixed.len()], vec![batch, sum]]);
            let x = build_operand(&sizes, &access.concat(), &ranges);
            let y = build_operand(&[64, 8, 64], &[sum, batch, column], &ranges);
            build_operation(
                Family::Matmul,
                &ranges,
                3,
                vec![x, y, build_operand(&[32, 8, 64], &[row, batch, column], &ranges)],
            )
        };
        let view = |op: &UndividedOp, split: &[i64]| {
            compute_core_view(0, &CoreUse { op, operand: 0, split: &build_split(split) }).map(|view| view.num_slices())
        };
        let (one, two) = (build(&[2]), build(&[2, 2]));
        assert_eq!(view(&one, &[8, 1, 1, 1]), Ok(8), "both have a batch dimension of their own");
        assert_eq!(view(&two, &[8, 1, 1, 1]), Err(CoreSplitConflict::PartialUse { user: 0 }));
        assert_eq!(view(&two, &[1, 8, 1, 1]), Ok(8), "the rows are not merged");
        let mut broadcast = build(&[2]);
        broadcast.dims.insert(1, IterationDim { size: 5, kind: DimKind::Output });
        let further = |dim: usize| if dim == 0 { 0 } else { dim + 1 };
        for term in broadcast
            .operands
            .iter_mut()
            .flat_map(|operand| &mut operand.coordinates)
            .filter_map(|coordinate| coordinate.term.as_mut())
        {
            term.dim = further(term.dim);
        }
        assert_eq!(view(&broadcast, &[8, 1, 1, 1, 1]), Err(CoreSplitConflict::PartialUse { user: 0 }));
    }

    #[test]
    fn slices_partial_use_like_the_complete_buffer() {
        // The second half of the columns of [128, 256].
        let ranges = [128, 128];
        let mut part = build_operand(&[128, 256], &[C0, Coordinate { offset: 128, ..C1 }], &ranges);
        part.part_of = Some(part.layout.device_size().to_vec());
        let half =
            build_operation(Family::Pointwise, &ranges, 2, vec![part, build_operand(&[128, 128], &[C0, C1], &ranges)]);
        let whole = build_biased_add();
        let view = |op: &UndividedOp, operand, slices: [i64; 2]| {
            let split = WorkSplit::new(slices.to_vec()).unwrap();
            compute_core_view(1, &CoreUse { op, operand, split: &split })
        };
        assert_eq!(view(&half, 0, [32, 1]), view(&whole, 2, [32, 1]));
        assert_eq!(view(&half, 0, [1, 2]), Err(CoreSplitConflict::PartialUse { user: 1 }));
        assert_eq!(view(&half, 1, [1, 2]).map(|view| view.num_slices()), Ok(2), "the result is whole");
    }
}
