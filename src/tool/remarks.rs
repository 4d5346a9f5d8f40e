//! Options for remarks: selects the decisions that MLIR's remark engine reports, and their output file.

use super::{check_output_file, reporter::MESSAGES, write_file};
use crate::{
    codes,
    mlir::{RemarkFilters, Session},
    pipeline::Phase,
};
use clap::Args;

/// Options for remarks, named as in `mlir-opt`.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = MESSAGES)]
pub(super) struct RemarkArguments {
    /// Print remarks of these categories: spyre-{lx,work,layout,tiles,kernels}
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    remarks_filter: String,
    /// Only remarks about applied optimizations
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    remarks_filter_passed: String,
    /// Only remarks about missed optimizations, with the reason
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    remarks_filter_missed: String,
    /// Only remarks that report numbers
    #[arg(long, value_name = "REGEX", default_value = "", hide_default_value = true)]
    remarks_filter_analysis: String,
    /// Write remarks as YAML for LLVM tools instead of printing them
    #[arg(long, value_name = "FILE.yaml")]
    remarks_output_file: Option<String>,
}

impl RemarkArguments {
    /// Checks the path of the output file before long work.
    pub(super) fn check(&self) -> Result<(), String> {
        let place = self.remarks_output_file.as_deref();
        place.map_or(Ok(()), check_output_file).map_err(|message| format!("--remarks-output-file: {message}"))
    }

    /// Enables the requested remarks. `done` is the last phase that the module has already run.
    ///
    /// Fails if the compilation does not run phase `lx`, which emits the remarks.
    pub(super) fn enable(&self, session: &Session, done: Option<Phase>, compile_to: Phase) -> Result<(), String> {
        let Some(filters) = self.filters() else { return Ok(()) };
        // `spyre-emit-remarks` runs at the end of this phase.
        let told = Phase::Lx;
        if done.is_some_and(|done| done >= told) || compile_to < told {
            let found = done.filter(|done| *done >= told).map_or_else(
                || format!("the compilation stops after phase '{compile_to}'"),
                |done| format!("the module has already run phase '{done}'"),
            );
            return Err(codes::REMARKS_OPTION.format(format_args!(
                "remarks are emitted by phase '{told}', but {found}; remove '--remarks-...', or compile through phase '{told}'"
            )));
        }
        session
            .enable_remarks(filters, self.remarks_output_file.is_none())
            .map_err(|reason| codes::REMARKS_OPTION.format(format_args!("--remarks-filter: {reason}")))
    }

    /// Returns the requested remark filters, or `None` if no remarks are requested. An output file without filters
    /// receives all remarks.
    fn filters(&self) -> Option<RemarkFilters<'_>> {
        let [all, passed, missed, analysis] = [
            &self.remarks_filter,
            &self.remarks_filter_passed,
            &self.remarks_filter_missed,
            &self.remarks_filter_analysis,
        ];
        if ![all, passed, missed, analysis].iter().all(|pattern| pattern.is_empty()) {
            return Some(RemarkFilters { all, passed, missed, analysis });
        }
        self.remarks_output_file.as_ref().map(|_| RemarkFilters { all: ".*", ..RemarkFilters::default() })
    }

    /// Writes the remarks to the output file, if one is specified.
    pub(super) fn write(&self, session: &Session) -> Result<(), String> {
        self.remarks_output_file.as_deref().map_or(Ok(()), |path| write_file(path, session.remarks_as_yaml()))
    }
}
