//! Lower bound of the modeled time of a program, over all plans.

use super::{op_features::as_f64, rates::find_max_hbm_rate, shape::OpKind};
use machine::Target;

/// Minimum work of a program, independent of the compiler's decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramWork {
    /// Multiply-adds of its matmuls.
    pub multiply_adds: i64,
    /// Points of its other ops.
    pub points: i64,
    /// Number of ops that compute; copies can be avoided.
    pub n_ops: i64,
}

/// Lower bound of a program's time, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Roofline {
    /// HBM traffic at the maximum rate of any op.
    pub hbm_ns: f64,
    /// Compute on all cores at the maximum rate.
    pub compute_ns: f64,
    /// Launch overhead of the ops, each once.
    pub fixed_ns: f64,
    /// Total time.
    pub ns: f64,
}

impl ProgramWork {
    /// Computes the lower bound for a program with this work and these HBM bytes.
    ///
    /// An op that is no matmul takes `sqrt(C^2 + M^2)`. A matmul takes `C + M - overlap * min(C, M)`, which is not less
    /// for an overlap of up to `2 - sqrt(2)`. The sum of the square roots is at least the square root for the sums of
    /// `C` and `M`. For a larger overlap, the larger sum is the bound.
    #[must_use]
    pub fn roofline(&self, hbm_bytes: i64, target: &Target) -> Roofline {
        let constants = &target.time.recommended;
        let hbm_ns = as_f64(hbm_bytes) / find_max_hbm_rate(&target.time.hbm);
        let compute_ns = min_compute_ns(OpKind::Matmul, as_f64(self.multiply_adds), target)
            + min_compute_ns(OpKind::Pointwise, as_f64(self.points), target);
        let fixed_ns = constants.kernel_ns.max(0.0) + as_f64(self.n_ops) * constants.op_ns.max(0.0);
        let is_hidden_little = constants.overlap <= 2.0 - std::f64::consts::SQRT_2;
        let both = if is_hidden_little { hbm_ns.hypot(compute_ns) } else { hbm_ns.max(compute_ns) };
        Roofline { hbm_ns, compute_ns, fixed_ns, ns: both + fixed_ns }
    }
}

/// Returns the minimum time in which all cores compute this number of points: multiply-adds of a matmul, or results of
/// another op.
#[must_use]
pub fn min_compute_ns(kind: OpKind, points: f64, target: &Target) -> f64 {
    let (constants, products) = (&target.time.recommended, &target.time.torch_spyre);
    let rate = if kind == OpKind::Matmul {
        let [shared, shared_by_many] = products.shared_products;
        let [few, many] = constants.inner_batch;
        let others = [shared, shared_by_many, few, many, constants.half_inner_batch, constants.batch_split];
        // Slices of the contracted dimension count by their efficiency.
        others.into_iter().fold(products.products, f64::max) * constants.summed_slices.max(1.0)
    } else {
        constants.pointwise.max(constants.reduction).max(constants.lx)
    };
    points / (as_f64(target.cores) * rate)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dim, OpShape, OperandShape, estimate_op_ns, extract_features};

    const TARGET: Target = Target::spyre();

    /// Builds a matmul of `[m, k]` and `[k, n]` with this number of slices each, and an elementwise op, in HBM or not.
    fn build_ops(is_in_lx: bool, slices: [i64; 3]) -> Vec<OpShape> {
        let tensor = |buffer: usize, dims: [usize; 2], is_output: bool| OperandShape {
            buffer,
            is_output,
            is_in_lx,
            is_kernel_input: !is_output,
            device_bytes: 2 * 512 * 512,
            element_bytes: 2,
            moved_by: dims.to_vec(),
            stick: Some(dims[1]),
            inner: Some(dims[0]),
        };
        let dims =
            |n: usize| (0..n).map(|dim| Dim { extent: 512, slices: slices[dim], is_reduced: dim == 2 }).collect();
        let product = [tensor(0, [0, 2], false), tensor(1, [2, 1], false), tensor(2, [0, 1], true)];
        let sum = [tensor(2, [0, 1], false), tensor(3, [0, 1], false), tensor(4, [0, 1], true)];
        let op = |kind, dims, operands: &[OperandShape]| OpShape {
            kind,
            dims,
            operands: operands.to_vec(),
            ..OpShape::default()
        };
        vec![op(OpKind::Matmul, dims(3), &product), op(OpKind::Pointwise, dims(2), &sum)]
    }

    #[test]
    fn bounds_estimates_of_all_core_splits() {
        let work = ProgramWork { multiply_adds: 512 * 512 * 512, points: 512 * 512, n_ops: 2 };
        for (is_in_lx, moved) in [(true, 0), (false, 5 * 2 * 512 * 512)] {
            let least = work.roofline(moved, &TARGET);
            let estimates = [[32, 1, 1], [1, 32, 1], [4, 8, 1], [4, 4, 2], [1, 1, 32], [1, 1, 1]].map(|slices| {
                let described = extract_features(&build_ops(is_in_lx, slices));
                described.iter().map(|op| estimate_op_ns(op, &TARGET.time)).sum::<f64>()
            });
            let found = estimates.into_iter().fold(f64::INFINITY, f64::min);
            assert!(least.ns <= found && found < 4.0 * least.ns, "{found} ns, the least is {least:?}");
        }
    }
}
