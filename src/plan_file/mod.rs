//! Plan files: the loops and core splits that were chosen for a program. A plan file replaces a search, can be edited,
//! and can be compared with another one.
//!
//! `loops` and `work` record the decisions; `costs` records the resulting costs and is not read back. LX addresses
//! follow from `loops` and `work`. A plan is for one program: `key` is a hash of the function before loops are chosen.
//! Layouts and names therefore count, and locations do not.

mod compare;

use crate::codes;
pub use compare::compare;

use files::{MAX_TEXT_BYTES, read_text, reason};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, hash::Hasher, io, path::Path};

/// Version that is written at the start of a plan file.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Plan of a program, with its costs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Version of the compiler that wrote the file.
    pub version: String,
    /// Function that the plan is for.
    pub program: String,
    /// Machine parameters, named as in a `--target` file.
    pub target: BTreeMap<String, i64>,
    /// Command-line options that determine the kernels: knob values and the kernel mode. The kernels are part of the
    /// program that the plan is for. These options are not applied when the plan is read; an error about another
    /// program quotes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kernel_options: Vec<String>,
    /// Decisions of the compiler.
    pub chosen: PlanDecisions,
    /// Modeled time of all launches, us.
    pub us: f64,
    /// HBM bytes in both directions.
    pub hbm_bytes: i64,
    /// Cost of each op.
    pub costs: Vec<OpCost>,
}

/// Decisions for a program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanDecisions {
    /// Hash of the program that the decisions are for.
    pub key: String,
    /// Loops around ops without hints.
    pub loops: Vec<PlannedLoopNest>,
    /// Core split of each op after the loops are built, in order; omitted to choose the splits again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Vec<PlannedCoreSplit>>,
}

/// Loop nest, by the positions of ops before loops are built.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLoopNest {
    /// First op of the nest, and the position after the last one.
    pub ops: [usize; 2],
    /// The loops, outermost first.
    pub levels: Vec<PlannedLoop>,
    /// Values that are copied before the loops.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub copies: Vec<PlannedOperandCopy>,
}

/// Loop of a planned nest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedLoop {
    /// Number of tiles.
    pub count: i64,
    /// Tiled iteration dimension, keyed by the position of the op.
    pub dims: BTreeMap<usize, usize>,
}

/// Value that is copied before loops.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedOperandCopy {
    /// Uses of the copy: the position of the op, and the operand number.
    pub reads: Vec<(usize, usize)>,
    /// Dimension of the value that each loop tiles, if it tiles one.
    pub cut_dims: Vec<Option<usize>>,
}

/// Core split of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedCoreSplit {
    /// Device function of the op, for readers of the file.
    pub function: String,
    /// Slices of each iteration dimension.
    pub slices: Vec<i64>,
    /// Dimensions in the order of the core number, the fastest-varying first; empty for the default order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<usize>,
}

/// Decisions for an op, and their cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpCost {
    /// Device function of the op.
    pub function: String,
    /// Location in the program, as `file:line:col`.
    pub location: String,
    /// Trip counts of the loops around the op, outermost first.
    pub loops: Vec<i64>,
    /// Slices of each iteration dimension.
    pub work: Vec<i64>,
    /// Memory of the result.
    pub memory: String,
    /// Modeled time, us.
    pub us: f64,
    /// HBM bytes in both directions.
    pub hbm_bytes: i64,
}

impl PlanFile {
    /// Reads a plan file; returns `None` if the file does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is no plan, or has another compiler version.
    pub fn read(path: &str) -> Result<Option<Self>, String> {
        let text = match read_text(Path::new(path), MAX_TEXT_BYTES) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => {
                return Err(codes::PLAN_READ.format(format_args!("cannot read the plan '{path}': {}", reason(&error))));
            }
        };
        let plan: Self = serde_json::from_str(&text).map_err(|error| {
            codes::PLAN_READ
                .format(format_args!("expected a plan, found '{path}': {error}; write one with --write-plan FILE.json"))
        })?;
        if plan.version != VERSION {
            return Err(codes::PLAN_READ.format(format_args!(
                "expected a plan of version '{VERSION}', found '{path}' of version '{}'; remove the file, and the search writes a new one",
                plan.version
            )));
        }
        Ok(Some(plan))
    }

    /// Rejects a plan for another program or another machine.
    ///
    /// # Errors
    /// Returns a message about the first difference.
    pub fn check(&self, path: &str, key: &str, target: &BTreeMap<String, i64>) -> Result<(), String> {
        let again = "remove the file, and the search writes a new one";
        for (name, number) in target {
            let found = self.target.get(name);
            if found != Some(number) {
                let found = found.map_or_else(|| "none".to_owned(), i64::to_string);
                return Err(codes::PLAN_READ.format(format_args!(
                    "expected a plan for this machine ('{name}' is {number}), found '{path}' ('{name}' is {found}); {again}"
                )));
            }
        }
        if self.chosen.key != key {
            let found = &self.chosen.key;
            let written = match self.kernel_options.as_slice() {
                [] => "without options that kernels depend on".to_owned(),
                words => format!("with '{}'", words.join(" ")),
            };
            return Err(format!(
                "expected a plan for this program (key '{key}'), found '{path}' for another program, or for other layouts, names or \
                 kernels (key '{found}', written {written}); give the same options, or {again}"
            ));
        }
        Ok(())
    }
}

/// Returns the key of a program's text: 16 hexadecimal digits, independent of the machine.
#[must_use]
pub fn compute_program_key(text: &str) -> String {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_plan_of_other_program_or_machine() {
        let target = BTreeMap::from([("cores".to_owned(), 32)]);
        let chosen = PlanDecisions { key: compute_program_key("a"), ..PlanDecisions::default() };
        let plan = PlanFile { target: target.clone(), chosen, ..PlanFile::default() };
        assert_eq!(plan.check("p", &compute_program_key("a"), &target), Ok(()));
        let rejected = |plan: &PlanFile| plan.check("p", &compute_program_key("b"), &target).unwrap_err();
        assert!(rejected(&plan).contains("for another program"));
        assert!(rejected(&plan).contains("written without options that kernels depend on); give"));
        let with = PlanFile { kernel_options: vec!["--knobs".to_owned(), "norm.T=4".to_owned()], ..plan.clone() };
        assert!(
            rejected(&with).contains("written with '--knobs norm.T=4'); give the same options, or remove the file")
        );
        let half = BTreeMap::from([("cores".to_owned(), 16)]);
        assert!(
            plan.check("p", &compute_program_key("a"), &half)
                .unwrap_err()
                .contains("this machine ('cores' is 16), found 'p' ('cores' is 32)")
        );
    }

    #[test]
    fn computes_same_key_on_all_machines() {
        assert_eq!([compute_program_key(""), compute_program_key("a")], ["cbf29ce484222325", "af63dc4c8601ec8c"]);
    }
}
