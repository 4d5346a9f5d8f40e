//! Splits of a matmul: the cost model that ranks them, and the older K-fast rule.

use super::distribute::{distribute, divisors};
use machine::{Family, Target};
use program::layout::{count_sticks, find_stick_contents};
use program::{DeviceOperand, DimKind, UndividedOp, WorkSplit};

/// Rows that the systolic array processes in one pass.
const ROWS_PER_PASS: f64 = 8.0;
/// Number of passes from which the array runs at full rate. With fewer passes, the rate falls.
const FULL_RATE_PASSES: f64 = 5.0;
const UNDERFILL_EXPONENT: f64 = 0.25;
/// Multiply-adds of one core per microsecond: 98.304 Tflop/s over 2 flop and 32 cores.
const MACS_PER_MICROSECOND: f64 = 1.536e6;
/// HBM bytes per microsecond.
const HBM_BYTES_PER_MICROSECOND: f64 = 204_800.0;
/// Bytes of an element; the model treats every format like f16.
const ELEMENT_BYTES: f64 = 2.0;
/// Number of cores that can share one operand at no cost. Beyond it, HBM time grows.
const FREE_FAN_OUT: f64 = 8.0;
const FAN_OUT_EXPONENT: f64 = 0.75;

/// Roles of the dimensions of a matmul.
#[derive(Clone, Debug)]
struct MatmulDimRoles {
    /// Row dimensions other than `m`, in order.
    batch: Vec<usize>,
    /// The row dimension that only one operand has; the last of several.
    m: usize,
    /// The generated dimension: in the sticks of the result.
    n: usize,
    /// The contracted dimension.
    k: usize,
    /// Whether the second operand is read once for all batches: torch-spyre assumes so if there is no batch, and if one
    /// operand lacks a batch dimension.
    shared_weight: bool,
}

/// Returns the split of lowest cost (torch-spyre's `cost_model_matmul_division`, August 2026). `None` if the model does
/// not apply: the op is no matmul; has minima; has no single generated dimension of several sticks, no row dimension or
/// no single contracted dimension; or the best split uses fewer cores than [`distribute`].
///
/// # Panics
/// If the minima have another number of dimensions than the op.
#[must_use]
pub fn divide_by_cost_model(op: &UndividedOp, target: &Target) -> Option<WorkSplit> {
    let roles = MatmulDimRoles::from_op(op)?;
    if op.minima.num_cores() > 1 {
        return None;
    }
    let mut best: Option<(f64, WorkSplit)> = None;
    for split in enumerate_candidate_splits(op, target.cores) {
        let cost = estimate_microseconds(op, &roles, &split, target.cores);
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            best = Some((cost, split));
        }
    }
    let (_, split) = best?;
    (split.num_cores() >= distribute(op, target).num_cores()).then_some(split)
}

impl MatmulDimRoles {
    fn from_op(op: &UndividedOp) -> Option<Self> {
        let [x, y, result] = op.operands.as_slice() else { return None };
        let long =
            |kind: DimKind| (0..op.dims.len()).filter(move |&dim| op.dims[dim].kind == kind && op.dims[dim].size > 1);
        let n = find_stick_contents(&result.coordinates).dim.filter(|&dim| op.units()[dim] > 1)?;
        let mut contracted = long(DimKind::Reduction);
        let k = contracted.next()?;
        let rows: Vec<usize> = long(DimKind::Output).filter(|&dim| dim != n).collect();
        let of_one_operand: Vec<usize> =
            rows.iter().copied().filter(|&dim| uses_dim(x, dim) != uses_dim(y, dim)).collect();
        let m = *of_one_operand.last()?;
        let batch: Vec<usize> = rows.into_iter().filter(|&dim| dim != m).collect();
        let shared_weight = batch.is_empty() || of_one_operand.len() > 1;
        let is_matmul = op.family == Family::Matmul && contracted.next().is_none();
        is_matmul.then_some(Self { batch, m, n, k, shared_weight })
    }
}

fn uses_dim(operand: &DeviceOperand, dim: usize) -> bool {
    operand.coordinates.iter().any(|coordinate| coordinate.term.is_some_and(|term| term.dim == dim))
}

/// Returns every split into divisors that fits the cores, the last dimension varying fastest.
fn enumerate_candidate_splits(op: &UndividedOp, cores: i64) -> Vec<WorkSplit> {
    let mut candidates = vec![WorkSplit::single_core(op.dims.len())];
    for (dim, units) in op.units().into_iter().enumerate().filter(|&(dim, _)| op.may_split(dim)) {
        let extended = |split: &WorkSplit| {
            let (split, left) = (split.clone(), cores / split.num_cores());
            divisors(units).take_while(move |&slices| slices <= left).map(move |slices| split.with_slices(dim, slices))
        };
        candidates = candidates.iter().flat_map(extended).collect();
    }
    candidates
}

/// Returns the model's estimate in nominal microseconds; only the order is meaningful ("cost models, section 3").
fn estimate_microseconds(op: &UndividedOp, roles: &MatmulDimRoles, split: &WorkSplit, cores: i64) -> f64 {
    let work = MatmulWork::new(op, roles, split);
    let used = to_f64(split.num_cores());
    let compute = work.batch * work.m * work.n * work.k / used / compute_mac_rate(work.num_passes());
    let weights = if roles.shared_weight { 1.0 } else { work.batch } * work.k * work.n;
    let bytes = ELEMENT_BYTES * (work.batch * work.m * work.k + weights + work.batch * work.m * work.n);
    let fan_out = if roles.shared_weight { work.m_slices.max(work.n_slices) } else { work.n_slices };
    let hbm = bytes / HBM_BYTES_PER_MICROSECOND * (fan_out / FREE_FAN_OUT).powf(FAN_OUT_EXPONENT).max(1.0);
    let per_partial_sum = if roles.shared_weight { 1e-3 } else { 1e-4 };
    let block = work.batch * work.m * work.n / (work.batch_slices * work.m_slices * work.n_slices);
    let partial_sums = (work.k_slices - 1.0) * block * per_partial_sum;
    let idle = 150.0 * log2_above_one(to_f64(cores) / used);
    compute + hbm + partial_sums + idle + work.compute_shape_penalty(roles.shared_weight, cores)
}

/// Returns the multiply-adds of a core per microsecond, for this number of passes.
fn compute_mac_rate(passes: f64) -> f64 {
    MACS_PER_MICROSECOND * (passes / FULL_RATE_PASSES).powf(UNDERFILL_EXPONENT).min(1.0)
}

/// Sizes and slices of the roles, as numbers of the model.
struct MatmulWork {
    batch: f64,
    m: f64,
    n: f64,
    k: f64,
    batch_slices: f64,
    m_slices: f64,
    n_slices: f64,
    k_slices: f64,
    /// Rows per core, rounded down as in torch-spyre.
    m_per_core: f64,
    n_per_core: f64,
}

impl MatmulWork {
    fn new(op: &UndividedOp, roles: &MatmulDimRoles, split: &WorkSplit) -> Self {
        let (size, slices) = (|dim: usize| op.dims[dim].size, |dim: usize| split.slices()[dim]);
        // torch-spyre computes N and K in complete sticks of the result.
        let stick = op.operands.last().map_or(1, |result| result.layout.format().elements_per_stick());
        let (n, k) = (count_sticks(size(roles.n), stick) * stick, count_sticks(size(roles.k), stick) * stick);
        Self {
            batch: to_f64(roles.batch.iter().map(|&dim| size(dim)).product()),
            m: to_f64(size(roles.m)),
            n: to_f64(n),
            k: to_f64(k),
            batch_slices: to_f64(roles.batch.iter().map(|&dim| slices(dim)).product()),
            m_slices: to_f64(slices(roles.m)),
            n_slices: to_f64(slices(roles.n)),
            k_slices: to_f64(slices(roles.k)),
            m_per_core: to_f64(size(roles.m) / slices(roles.m)),
            n_per_core: to_f64(n / slices(roles.n)),
        }
    }

    /// Returns the number of passes of the systolic array over one core's rows.
    fn num_passes(&self) -> f64 {
        (self.m_per_core / ROWS_PER_PASS).max(1.0)
    }

    /// Returns the cost that the model adds for per-core blocks of an unfavorable shape.
    fn compute_shape_penalty(&self, shared_weight: bool, cores: i64) -> f64 {
        let wanted_m_slices = (self.m / 32.0).floor().max(1.0).min(to_f64(cores / 2)).max(4.0);
        let lanes = 10.0 * log2_above_one(wanted_m_slices / self.m_slices);
        let underfill = 30.0 * log2_above_one(16.0 / self.m_per_core);
        let wide = 25.0 * log2_above_one(self.n_per_core / 512.0);
        let deep = log2_above_one(self.k / self.n) * log2_above_one(self.n_slices);
        let is_filled = self.m_per_core >= 16.0;
        let ratios = match (shared_weight, is_filled) {
            (true, true) => {
                10.0 * deep + 5.0 * log2_above_one(4096.0 / self.n) * log2_above_one(self.n_per_core / 128.0)
            }
            (true, false) => 10.0 * deep,
            (false, true) => 20.0 * deep,
            (false, false) => 0.0,
        };
        let batches = if shared_weight { 0.0 } else { 10.0 * log2_above_one(self.batch_slices) };
        lanes + underfill + wide + ratios + batches
    }
}

/// Returns the binary logarithm, 0 below 1.
fn log2_above_one(ratio: f64) -> f64 {
    ratio.log2().max(0.0)
}

/// Converts a size to a number of the model; exact, because tensor sizes are far below 2^53.
fn to_f64(size: i64) -> f64 {
    size as f64
}

/// Returns the split by torch-spyre's older rule for a matmul with few rows (`divide_k_fast`, until June 2026): all
/// rows on every core, N and K split between the cores. `None` if it does not apply: the op has other than two output
/// dimensions and one contracted; K or M is bound by minima; there are more than 16 rows per core, or an incomplete
/// stick; or no split uses all cores.
///
/// # Panics
/// If the minima have another number of dimensions than the op.
#[must_use]
pub fn divide_k_fast(op: &UndividedOp, target: &Target) -> Option<WorkSplit> {
    let [first, second, k] = op.dims.as_slice() else { return None };
    let is_matmul = op.family == Family::Matmul && first.kind == DimKind::Output && second.kind == DimKind::Output;
    let (m, n) = if first.size > second.size { (1, 0) } else { (0, 1) };
    let stick = op.operands.first()?.layout.format().elements_per_stick();
    let is_bound = op.minima.slices()[m] > 1 || op.minima.slices()[2] > 1;
    if !is_matmul || k.kind != DimKind::Reduction || is_bound || op.dims[n].size % stick != 0 || k.size % stick != 0 {
        return None;
    }
    let (n_sticks, k_sticks) = (op.dims[n].size / stick, k.size / stick);
    let rows = op.dims[m].size;
    let is_small = rows >= target.cores && rows <= 16 * target.cores;
    let is_narrow = rows <= 4 * target.cores || n_sticks < target.cores;
    if !is_small || !is_narrow || k_sticks < target.cores {
        return None;
    }
    let fits = |&n_slices: &i64| {
        n_slices > 1 && n_slices < target.cores && n_sticks % n_slices == 0 && k_sticks % (target.cores / n_slices) == 0
    };
    let n_slices = divisors(target.cores).filter(fits).last().filter(|&slices| slices >= op.minima.slices()[n])?;
    Some(WorkSplit::single_core(3).with_slices(n, n_slices).with_slices(2, target.cores / n_slices))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{matmul, pointwise};
    use super::*;
    use program::layout::Coordinate;

    const SPYRE: Target = Target::spyre();

    fn choose_slices(op: &UndividedOp, cores: i64) -> Option<Vec<i64>> {
        divide_by_cost_model(op, &Target { cores, ..SPYRE }).map(|split| split.slices().to_vec())
    }

    #[test]
    fn matches_splits_of_torch_spyre() {
        assert_eq!(choose_slices(&matmul(&[], 8, 4096, 4096), 32), Some(vec![1, 8, 4]));
        assert_eq!(choose_slices(&matmul(&[], 32, 4096, 4096), 32), Some(vec![2, 8, 2]));
        assert_eq!(choose_slices(&matmul(&[], 2048, 4096, 32000), 32), Some(vec![8, 4, 1]));
        assert_eq!(choose_slices(&matmul(&[], 70, 100, 150), 32), Some(vec![5, 3, 2]));
        assert_eq!(choose_slices(&matmul(&[], 333, 512, 512), 32), Some(vec![3, 8, 1]));
        assert_eq!(choose_slices(&matmul(&[8], 1024, 128, 1024), 32), Some(vec![1, 16, 2, 1]));
        assert_eq!(choose_slices(&matmul(&[32], 128, 64, 128), 32), Some(vec![2, 8, 2, 1]));
    }

    #[test]
    fn treats_sixteen_rows_as_a_filled_core() {
        let op = matmul(&[], 512, 1024, 1024);
        let work =
            MatmulWork::new(&op, &MatmulDimRoles::from_op(&op).unwrap(), &WorkSplit::single_core(3).with_slices(0, 32));
        // 25 for each doubling of 512 columns, and for a filled core 5 for each of 4096 / 1024 times those of 1024 /
        // 128.
        assert_eq!(work.compute_shape_penalty(true, 32), 25.0 + 5.0 * 2.0 * 3.0);
    }

    #[test]
    fn limits_rate_by_passes_up_to_the_full_rate() {
        let rates = [0.25, 1.0, 4.0].map(|part| compute_mac_rate(FULL_RATE_PASSES * part));
        assert!(rates[0] < MACS_PER_MICROSECOND && rates[1..] == [MACS_PER_MICROSECOND; 2], "{rates:?}");
    }

    #[test]
    fn counts_columns_and_contraction_in_complete_sticks() {
        // With the actual 213 columns and 580 points of K, six slices of rows and one of columns would be cheaper.
        assert_eq!(choose_slices(&matmul(&[], 138, 580, 213), 32), Some(vec![3, 2, 5]));
    }

    /// Returns the row dimension and whether the weight is shared, as the model finds them for a matmul. Operands `x`
    /// and `y` lack the batch dimensions `lack_x` and `lack_y`.
    fn find_roles_without(lack_x: &[usize], lack_y: &[usize]) -> (usize, bool) {
        let mut op = matmul(&[2, 4], 64, 128, 256);
        for (operand, lacks) in [(0, lack_x), (1, lack_y)] {
            for coordinate in &mut op.operands[operand].coordinates {
                if coordinate.term.is_some_and(|term| lacks.contains(&term.dim)) {
                    *coordinate = Coordinate::constant(0);
                }
            }
        }
        let roles = MatmulDimRoles::from_op(&op).unwrap();
        (roles.m, roles.shared_weight)
    }

    #[test]
    fn shares_weight_of_operand_without_batch_dimension() {
        assert_eq!(find_roles_without(&[], &[]), (2, false));
        assert_eq!(find_roles_without(&[], &[0, 1]), (2, true));
        assert_eq!(find_roles_without(&[], &[1]), (2, true), "one is enough");
        assert_eq!(find_roles_without(&[0], &[]), (2, true), "whichever operand lacks it");
    }

    #[test]
    fn declines_unsupported_ops() {
        assert_eq!(choose_slices(&pointwise(&[64, 256]), 32), None, "no matmul");
        assert_eq!(choose_slices(&matmul(&[], 1, 4096, 4096), 32), None, "no rows");
        assert_eq!(choose_slices(&matmul(&[], 64, 8192, 64), 32), None, "one stick of columns");
        assert_eq!(choose_slices(&matmul(&[32], 1, 128, 2048), 32), None, "batches are not rows");
        let mut twice = matmul(&[2], 64, 128, 256);
        twice.dims[0].kind = DimKind::Reduction;
        assert_eq!(choose_slices(&twice, 32), None, "two contracted dimensions");
        assert_eq!(
            choose_slices(&UndividedOp { family: Family::Pointwise, ..matmul(&[], 64, 128, 256) }, 32),
            None,
            "no product"
        );
        let bound = UndividedOp { minima: WorkSplit::single_core(3).with_slices(1, 2), ..matmul(&[], 64, 128, 256) };
        assert_eq!(choose_slices(&bound, 32), None, "minima");
    }

    #[test]
    fn keeps_rows_unsplit_by_k_fast_rule() {
        let slices = |op: &UndividedOp| divide_k_fast(op, &SPYRE).map(|split| split.slices().to_vec());
        assert_eq!(slices(&matmul(&[], 32, 4096, 4096)), Some(vec![1, 16, 2]));
        assert_eq!(slices(&matmul(&[], 32, 4096, 192)), None, "three sticks share no divisor with 32 cores");
        assert_eq!(slices(&matmul(&[], 256, 2048, 1024)), Some(vec![1, 16, 2]));
        assert_eq!(
            slices(&matmul(&[], 256, 2048, 2048)),
            None,
            "more than 4 rows per core need fewer than 32 sticks of columns"
        );
        assert_eq!(slices(&matmul(&[], 1024, 4096, 4096)), None, "more than 16 rows per core");
        assert_eq!(slices(&matmul(&[], 32, 1024, 4096)), None, "16 sticks of K for 32 cores");
        assert_eq!(slices(&matmul(&[4], 32, 4096, 4096)), None, "a batch dimension");
        assert_eq!(slices(&matmul(&[], 16, 4096, 4096)), None, "fewer rows than cores");
        assert_eq!(slices(&matmul(&[], 1024, 2048, 1024)), None, "more than 16 rows per core, of few columns");
        assert_eq!(
            slices(&matmul(&[], 256, 3072, 1024)),
            Some(vec![1, 16, 2]),
            "48 sticks of K in two slices, though not in 32"
        );
    }
}
