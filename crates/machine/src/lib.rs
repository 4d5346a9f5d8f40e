#![doc = include_str!("../README.md")]

mod device_function;
mod element_type;
mod format;
mod time;

pub use device_function::{
    DeviceFunction, ExecutionUnit, Family, MAX_MATMUL_DIMS_PER_ROLE, NARROW_FUNCTION, WIDEN_FUNCTION, is_conversion,
};
pub use element_type::{ElementType, UnknownElementType};
pub use format::{DeviceFormat, STICK_BYTES, UnknownFormat};
pub use time::{
    BroadcastRate, EstimateErrorRatios, HbmRates, RecommendedTime, TimeModel, TorchSpyreTime, TransportRate,
};

use serde::{Deserialize, Serialize};

/// Machine parameters that the compiler assumes. Field names are the keys of a `--target` file; a missing key keeps
/// Spyre's value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Target {
    /// Cores of the card, each with its own LX (torch-spyre hardware notes: 32).
    pub cores: i64,
    /// Bytes of LX that one core's buffers may use: `round_up_128((2 MiB - 64 KiB) * (1 - 0.2))`, without the back
    /// end's own share (torch-spyre, LX capacity of August 2026).
    pub lx_bytes: i64,
    /// Maximum bytes of one tensor that one core may address: 65535 pages of 4096 bytes ("SuperDSC-Bundle
    /// specification, work division constraints").
    pub core_span_bytes: i64,
    /// Maximum bytes of a bundle's HBM pool: a 16 GiB segment less 2 GiB (torch-spyre emitter).
    pub pool_bytes: i64,
    /// Bytes of one address segment; kernel argument `i` starts at segment `i` if addresses are baked into the files
    /// (torch-spyre, memory map).
    pub segment_bytes: i64,
    /// Segments that a kernel may use; the eighth belongs to the runtime (torch-spyre, memory map).
    pub segments: i64,
    /// Maximum number of cores from which a shuffle in LX may collect a core's slice; 0 if the compiler may not move
    /// values between cores. torch-spyre allows 8, one for each address register (`lx_relayout.py`).
    pub lx_fan_in: i64,
    /// 1 if a restickify may access LX, 0 if it works from HBM to HBM. torch-spyre keeps its operands in LX since
    /// September 2026, where each core reads the slice that it has (`allocator.py`, #4153).
    pub lx_restickify: i64,
    /// Constants of the time model.
    pub time: TimeModel,
}

/// Maximum number of cores, and of segments, in a target description. It is far above that of any machine, and ensures
/// that products of parameters fit in 64 bits.
const MAX_UNITS: i64 = 1024;
/// Maximum bytes of a memory in a target description, for the same reason.
const MAX_BYTES: i64 = 1 << 44;

/// Parameters that may be 0.
const MAY_BE_ZERO: [&str; 3] = ["lx_bytes", "lx_fan_in", "lx_restickify"];

/// Parameters that are listed only if they differ from those of the card.
const LISTED_IF_CHANGED: [&str; 2] = ["lx_fan_in", "lx_restickify"];

impl Target {
    /// Returns the parameters of the IBM Spyre card.
    #[must_use]
    pub const fn spyre() -> Self {
        Self {
            cores: 32,
            lx_bytes: 1_625_344,
            core_span_bytes: 65_535 * 4_096,
            pool_bytes: 14 << 30,
            segment_bytes: 16 << 30,
            segments: 7,
            lx_fan_in: 8,
            lx_restickify: 1,
            time: TimeModel::spyre(),
        }
    }

    /// Returns the parameters that describe the machine, with their names as in a `--target` file, without
    /// `lx_fan_in` and `lx_restickify` if these are those of the card.
    #[must_use]
    pub fn named_parameters(&self) -> Vec<(&'static str, i64)> {
        let of_card = Self::spyre().all_parameters();
        let is_listed =
            |parameter: &(&str, i64)| !LISTED_IF_CHANGED.contains(&parameter.0) || !of_card.contains(parameter);
        self.all_parameters().into_iter().filter(is_listed).collect()
    }

    /// Returns all parameters with their names, as in a `--target` file.
    #[must_use]
    pub fn all_parameters(&self) -> [(&'static str, i64); 8] {
        [
            ("cores", self.cores),
            ("lx_bytes", self.lx_bytes),
            ("core_span_bytes", self.core_span_bytes),
            ("pool_bytes", self.pool_bytes),
            ("segment_bytes", self.segment_bytes),
            ("segments", self.segments),
            ("lx_fan_in", self.lx_fan_in),
            ("lx_restickify", self.lx_restickify),
        ]
    }

    /// Rejects parameter values that are out of range.
    ///
    /// # Errors
    /// Returns the name of the parameter, its value and the rule.
    pub fn check(&self) -> Result<(), String> {
        if let Some((name, number)) =
            self.all_parameters().into_iter().find(|&(name, number)| number < 1 && !MAY_BE_ZERO.contains(&name))
        {
            return Err(format!("'{name}' must be positive, found {number}"));
        }
        let max_value = |name: &str| if name.ends_with("_bytes") { MAX_BYTES } else { MAX_UNITS };
        if let Some((name, number)) = self.all_parameters().into_iter().find(|&(name, number)| number > max_value(name))
        {
            return Err(format!("'{name}' may be {} at most, found {number}", max_value(name)));
        }
        if self.lx_fan_in < 0 {
            return Err(format!("'lx_fan_in' must not be negative, found {}", self.lx_fan_in));
        }
        if !(0..=1).contains(&self.lx_restickify) {
            return Err(format!("'lx_restickify' must be 0 or 1, found {}", self.lx_restickify));
        }
        self.time.check()?;
        if self.lx_bytes < 0 || self.lx_bytes % STICK_BYTES != 0 {
            let nearest = (self.lx_bytes / STICK_BYTES).max(1) * STICK_BYTES;
            return Err(format!(
                "'lx_bytes' must be a multiple of {STICK_BYTES}, found {}; give {nearest}",
                self.lx_bytes
            ));
        }
        Ok(())
    }
}

impl Default for Target {
    fn default() -> Self {
        Self::spyre()
    }
}
