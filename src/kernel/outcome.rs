//! Ops that were fused into kernels and ops that were not, for the report.

use super::{FusionMode, FusionRule};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Side of a kernel on which an op is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NeighborSide {
    /// Producer: it defines an input.
    Prologue,
    /// Consumer: it reads an output.
    Epilogue,
}

/// Fusion results for the kernels of a function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FusionOutcome {
    /// The kernels, in order.
    pub kernels: Vec<KernelOutcome>,
    /// Modeled time of the program with fusion, us; `None` if moves were not evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub us: Option<f64>,
    /// Modeled time of the program without fusion, us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separate_us: Option<f64>,
    /// Time of recomputation in loops that do not tile an op, us, which `us` includes; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_us: Option<f64>,
    /// HBM bytes of the program with fusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hbm_bytes: Option<i64>,
    /// HBM bytes of the program without fusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub separate_hbm_bytes: Option<i64>,
    /// Number of compilations that evaluated moves.
    pub n_judged: usize,
    /// Number of these compilations in which a rule rejected the candidate.
    #[serde(default)]
    pub n_infeasible: usize,
}

/// Fusion result for a kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct KernelOutcome {
    /// Its name.
    pub name: String,
    /// Hash of its body after fusion, 16 hexadecimal digits. Equal texts have equal hashes, regardless of locations.
    pub key: String,
    /// Its knobs with their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub knobs: Vec<(String, i64)>,
    /// Ops that were fused into the kernel, in the order of their fusion.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fused: Vec<FusedOp>,
    /// Its neighbors that stay outside.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub separate: Vec<UnfusedOp>,
}

/// Op that moved into a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FusedOp {
    /// Its device function.
    pub function: String,
    /// Location in the program, as `file:line:col`.
    pub location: String,
    /// Side of the kernel on which it was.
    pub side: NeighborSide,
    /// Execution relative to the ops with which it exchanges a value.
    pub mode: FusionMode,
    /// Loops of the kernel that contain it, outermost first, as `name = count`.
    pub loops: Vec<String>,
    /// Number of times that each of its elements is computed.
    pub times: i64,
    /// Time of all computations after the first, us.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_us: Option<f64>,
    /// Additional time of the program without this move and the moves that depend on it, us; `None` if moves were not
    /// evaluated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_us: Option<f64>,
    /// Additional HBM bytes of the program without this move.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved_hbm_bytes: Option<i64>,
}

/// Op that stays outside of a kernel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UnfusedOp {
    /// Its device function, or the name of the op.
    pub function: String,
    /// Location in the program, as `file:line:col`.
    pub location: String,
    /// Side of the kernel on which it is.
    pub side: NeighborSide,
    /// Always `separate`.
    pub mode: FusionMode,
    /// Name of the violated rule.
    pub code: String,
    /// Details of the violated rule.
    pub message: String,
}

impl UnfusedOp {
    /// Creates the record of an op that violates a rule.
    #[must_use]
    pub fn new(function: String, location: String, side: NeighborSide, code: FusionRule, message: String) -> Self {
        Self { function, location, side, mode: FusionMode::Separate, code: code.name().to_owned(), message }
    }
}

/// Formats for the summary: one line per kernel, and one with the savings.
impl fmt::Display for FusionOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.kernels.iter().map(|kernel| format!("  {kernel}")).collect();
        formatter.write_str(&lines.join("\n"))?;
        let (Some(us), Some(separate_us)) = (self.us, self.separate_us) else { return Ok(()) };
        let (Some(bytes), Some(separate_bytes)) = (self.hbm_bytes, self.separate_hbm_bytes) else { return Ok(()) };
        let n_evaluated = self.n_judged;
        let infeasible =
            if self.n_infeasible > 0 { format!(", {} of them infeasible", self.n_infeasible) } else { String::new() };
        let again = self.again_us.map_or_else(String::new, |us| format!(" ({us:.1} us of recomputation)"));
        write!(
            formatter,
            "\n  with fusion {us:.1} us{again} and {bytes} bytes of HBM traffic, without {separate_us:.1} us and {separate_bytes} bytes; \
             {n_evaluated} compilations{infeasible}"
        )
    }
}

impl fmt::Display for KernelOutcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, key: _, knobs, fused, separate } = self;
        write!(formatter, "kernel '{name}'")?;
        if !knobs.is_empty() {
            let values: Vec<String> = knobs.iter().map(|(knob, value)| format!("{knob} = {value}")).collect();
            write!(formatter, " with {}", values.join(", "))?;
        }
        let in_mode = |mode: FusionMode| -> Vec<String> {
            fused.iter().filter(|fused| fused.mode == mode).map(ToString::to_string).collect()
        };
        let outside: Vec<String> =
            separate.iter().map(|unfused| format!("{} [{}]", unfused.function, unfused.code)).collect();
        let modes = [FusionMode::Inline, FusionMode::Stage].map(|mode| (mode, in_mode(mode)));
        let modes = modes.into_iter().chain([(FusionMode::Separate, outside)]).filter(|(_, ops)| !ops.is_empty());
        let modes: Vec<String> = modes.map(|(mode, ops)| format!("{mode} {}", ops.join(", "))).collect();
        formatter.write_str(": ")?;
        formatter.write_str(&if modes.is_empty() { "no neighboring ops".to_owned() } else { modes.join("; ") })
    }
}

/// Formats the function, with its recomputation.
impl fmt::Display for FusedOp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, times, again_us, .. } = self;
        match again_us {
            Some(us) => write!(formatter, "{function} ({times} times, {us:.1} us more)"),
            None if *times > 1 => write!(formatter, "{function} ({times} times)"),
            None => formatter.write_str(function),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summarizes_fused_and_unfused_ops() {
        let fused = FusedOp {
            function: "mul".to_owned(),
            location: "a.mlir:1:1".to_owned(),
            side: NeighborSide::Prologue,
            mode: FusionMode::Inline,
            loops: vec!["rows = 4".to_owned()],
            times: 1,
            again_us: None,
            saved_us: Some(1.0),
            saved_hbm_bytes: Some(512),
        };
        let again = FusedOp { times: 4, again_us: Some(0.25), ..fused.clone() };
        let staged = FusedOp { mode: FusionMode::Stage, ..fused.clone() };
        let separate = UnfusedOp::new(
            "sum".to_owned(),
            "a.mlir:2:1".to_owned(),
            NeighborSide::Epilogue,
            FusionRule::EKind,
            "is".to_owned(),
        );
        let kernel = KernelOutcome {
            name: "k".to_owned(),
            knobs: vec![("T".to_owned(), 4)],
            fused: vec![fused, staged, again],
            separate: vec![separate],
            ..KernelOutcome::default()
        };
        let plain = KernelOutcome { name: "plain".to_owned(), ..KernelOutcome::default() };
        let mut outcome = FusionOutcome { kernels: vec![kernel, plain], ..FusionOutcome::default() };
        let lines = "  kernel 'k' with T = 4: INLINE mul, mul (4 times, 0.2 us more); STAGE mul; SEPARATE sum [E-KIND]\n  kernel 'plain': \
                     no neighboring ops";
        assert_eq!(outcome.to_string(), lines);
        (outcome.us, outcome.separate_us, outcome.hbm_bytes, outcome.separate_hbm_bytes) =
            (Some(1.0), Some(2.0), Some(512), Some(1024));
        assert!(outcome.to_string().ends_with(
            "\n  with fusion 1.0 us and 512 bytes of HBM traffic, without 2.0 us and 1024 bytes; 0 compilations"
        ));
        let read: FusionOutcome = serde_json::from_str(&serde_json::to_string(&outcome).unwrap()).unwrap();
        assert_eq!(read, outcome);
    }
}
