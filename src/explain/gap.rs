//! How far a plan is from what no plan can beat, and where that goes: the parts `lower_bound` and `gap` of the report.

use schemars::JsonSchema;
use serde::Serialize;

/// Lower bound for every plan of a program, independent of layouts, loops, core splits and places.
///
/// Every element that some op reads of an argument, or of a constant with several elements, is read once; every element
/// of a result is written once. Overlapping slices of one tensor count as the largest of them. Values that the back end
/// always writes to HBM and that an op reads count too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct LowerBound {
    /// HBM bytes in both directions, if indices differ: what a plan counts.
    pub hbm: i64,
    /// The part of it that is what the caller gives and gets, and constants.
    pub compulsory: i64,
    /// The part of it that functions write whose results cannot live in LX, and others read back.
    #[serde(skip_serializing_if = "is_zero")]
    pub through_hbm: i64,
    /// Lower bound in HBM bytes for arbitrary indices, if the program has any: no run moves less.
    pub hbm_of_any_indices: i64,
    /// Minimum of HBM bytes that a machine with this LX must fetch for matmuls alone, even if ops fetch sticks
    /// repeatedly. A count of distinct sticks does not include repeated fetches.
    #[serde(skip_serializing_if = "is_zero")]
    pub products: i64,
    /// Which of them is the largest: `compulsory`, `functions` (with what they write to HBM), or `products`.
    pub binding: &'static str,
    /// `hbm` with each constant counted once per op that reads it, and never above what the plan moves of it. No bound
    /// of all plans: a plan may keep a constant in LX between its uses. Present where equal weights of several layers
    /// are one constant.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hbm_per_use: Option<i64>,
    /// `us` for the bytes of `hbm_per_use`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub us_per_use: Option<f64>,
    /// The least modeled time, us.
    pub us: f64,
    /// Traffic with HBM in it, if nothing else took time.
    pub hbm_us: f64,
    /// Computing, if nothing else took time.
    pub compute_us: f64,
    /// Starting ops.
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
    /// The values that move more than the compulsory bytes, the largest excess first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<ValueGap>,
    /// The ops that take longest beyond their least time, the largest excess first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ops: Vec<OpGap>,
}

/// A value in HBM: what the caller gives or gets, a constant, or what one op writes to the pool and others read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct HbmValue {
    /// The buffer (`arg0`, `const0`, `result0`, `temp0`), or the device function that writes the value.
    pub name: String,
    /// The position of the op that writes it; of several the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<usize>,
    /// The first op that uses it.
    pub first_op: usize,
    /// The last one.
    pub last_op: usize,
    /// The ops that read it, each as often as it has operands that do.
    pub readers: Vec<usize>,
    /// `hbm` for a buffer of its own, `pool` for a place in the pool of a launch.
    pub memory: &'static str,
    /// HBM bytes read of it, over all executions.
    pub hbm_read: i64,
    /// HBM bytes written of it.
    pub hbm_written: i64,
    /// The part of these that no plan can do without.
    pub needed: i64,
    /// Why more are moved, if they are.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub why: String,
}

impl HbmValue {
    /// HBM bytes above what no plan can do without.
    #[must_use]
    pub const fn excess(&self) -> i64 {
        self.hbm_read + self.hbm_written - self.needed
    }
}

/// A value that moves more than it must.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct ValueGap {
    /// The buffer (`arg0`, `const0`, `result0`, `temp0`), or the device function that writes the value.
    pub name: String,
    /// The position of the op that writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub op: Option<usize>,
    /// HBM bytes beyond what must be moved of it.
    pub hbm: i64,
    /// Why they are moved.
    pub why: String,
}

/// An op that takes longer than it must.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct OpGap {
    /// Its position in the list of ops.
    pub op: usize,
    /// Its device function.
    pub name: String,
    /// Modeled time beyond computing on all cores at the best rate and starting once, us.
    pub us: f64,
    /// Largest contribution to this time.
    pub why: String,
}
