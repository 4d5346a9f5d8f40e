//! Distance of a plan from the lower bound for all plans, and its causes: `lower_bound` and `gap` of the report.

use schemars::JsonSchema;
use serde::Serialize;

/// Lower bound for every plan of a program, independent of layouts, loops, core splits and places.
///
/// Each element of an argument that some op reads is read once, and so is each such element of a constant with several
/// elements. Each element of a result is written once. Of overlapping slices of one tensor, only the largest counts.
/// Values that the back end always writes to HBM, and that an op reads, count too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LowerBound {
    /// HBM bytes in both directions, if indices differ, which is how plans are counted.
    pub hbm: i64,
    /// Part of `hbm` for arguments, results and constants.
    pub compulsory: i64,
    /// Part of `hbm` for results that device functions cannot write to LX, and that other ops read.
    #[serde(skip_serializing_if = "is_zero")]
    pub through_hbm: i64,
    /// Lower bound in HBM bytes for arbitrary indices, if the program has any: no run moves less.
    pub hbm_of_any_indices: i64,
    /// Lower bound in HBM bytes that a machine with this LX must fetch for matmuls alone, even if ops fetch sticks
    /// repeatedly. A count of distinct sticks does not include repeated fetches.
    #[serde(skip_serializing_if = "is_zero")]
    pub products: i64,
    /// Largest of these bounds: `compulsory`, `functions` (with `through_hbm`), or `products`.
    pub binding: &'static str,
    /// `hbm` with each constant counted once per op that reads it, but at most with the bytes that the plan moves of
    /// it. This is not a bound for all plans: a plan may keep a constant in LX between its uses. Present if equal
    /// weights of several layers are one constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hbm_per_use: Option<i64>,
    /// `us` for the bytes of `hbm_per_use`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub us_per_use: Option<f64>,
    /// Lower bound of the modeled time, us.
    pub us: f64,
    /// Part of `us` for HBM traffic, if nothing else took time.
    pub hbm_us: f64,
    /// Part of `us` for computation, if nothing else took time.
    pub compute_us: f64,
    /// Part of `us` for the start-up of ops.
    pub fixed_us: f64,
    /// Largest contribution to the time: `hbm`, `compute` or `fixed`.
    pub limit: &'static str,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
const fn is_zero(bytes: &i64) -> bool {
    *bytes == 0
}

/// Excess of the plan over the lower bound.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Gap {
    /// HBM bytes.
    pub hbm: i64,
    /// Modeled time, us.
    pub us: f64,
    /// Values that move more than the compulsory bytes, the largest excess first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueGap>,
    /// Ops that take longer than their minimum time, the largest excess first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<OpGap>,
}

/// Value in HBM: an argument, a result, a constant, or a temporary that one op writes to the pool and others read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HbmValue {
    /// Buffer (`arg0`, `const0`, `result0`, `temp0`), or the device function that writes the value.
    pub name: String,
    /// Position of the op that writes the value; the last one, if several do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<usize>,
    /// Position of the first op that uses the value.
    pub first_op: usize,
    /// Position of the last op that uses the value.
    pub last_op: usize,
    /// Positions of the ops that read the value, each once per operand.
    pub readers: Vec<usize>,
    /// `hbm` for a separate buffer, `pool` for a place in the pool of a launch.
    pub memory: &'static str,
    /// HBM bytes read of the value, over all executions.
    pub hbm_read: i64,
    /// HBM bytes written of the value, over all executions.
    pub hbm_written: i64,
    /// Part of these bytes that every plan moves.
    pub needed: i64,
    /// Reason for moving more than `needed`; empty if the plan does not.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl HbmValue {
    /// Returns the HBM bytes above the minimum of every plan.
    #[must_use]
    pub const fn excess(&self) -> i64 {
        self.hbm_read + self.hbm_written - self.needed
    }
}

/// Value that moves more than the compulsory bytes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ValueGap {
    /// Buffer (`arg0`, `const0`, `result0`, `temp0`), or the device function that writes the value.
    pub name: String,
    /// Position of the op that writes the value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<usize>,
    /// HBM bytes above the compulsory bytes.
    pub hbm: i64,
    /// Reason for the additional bytes.
    pub why: String,
}

/// Op that takes longer than its minimum time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OpGap {
    /// Position of the op in the report's list of ops.
    pub op: usize,
    /// Device function of the op.
    pub name: String,
    /// Modeled time above the compute time on all cores at the best rate and one start-up, us.
    pub us: f64,
    /// Largest contribution to this time.
    pub why: String,
}
