//! Optimization remarks about decisions of the compiler, emitted through MLIR's remark engine.

use super::{
    Context, Location, Op, OpExt,
    context::is_trial,
    pass::{TextCallback, TextReceiver},
    text::{read_text, string_ref},
};
use mlir_sys::{MlirContext, MlirLocation, MlirOperation, MlirStringRef};
use std::{
    ffi::c_void,
    sync::{Mutex, PoisonError},
};

unsafe extern "C" {
    fn spyreEnableRemarks(
        context: MlirContext,
        all: MlirStringRef,
        passed: MlirStringRef,
        missed: MlirStringRef,
        analysis: MlirStringRef,
        is_printed: bool,
        yaml_callback: TextCallback,
        yaml_data: *mut c_void,
        error_callback: TextCallback,
        error_data: *mut c_void,
    ) -> bool;
    fn spyreAreRemarksEnabled(context: MlirContext) -> bool;
    fn spyreEmitRemark(
        function: MlirOperation,
        location: MlirLocation,
        kind: i32,
        category: MlirStringRef,
        name: MlirStringRef,
        message: MlirStringRef,
    );
}

/// Kind of an optimization remark, as in LLVM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// The optimization was applied.
    Passed = 0,
    /// The optimization was not applied; the message gives the reason.
    Missed = 1,
    /// Analysis result, such as a number.
    Analysis = 2,
}

/// Patterns of the enabled remark categories, per kind. A pattern is an LLVM regular expression that must match the
/// complete category; an empty pattern matches nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemarkFilters<'p> {
    /// Pattern for remarks of every kind.
    pub all: &'p str,
    /// Pattern for applied optimizations.
    pub passed: &'p str,
    /// Pattern for missed optimizations.
    pub missed: &'p str,
    /// Pattern for analysis results.
    pub analysis: &'p str,
}

/// Collector of remarks in YAML. The context stores a pointer to the collector, so the collector must outlive the
/// context.
#[derive(Debug, Default)]
pub(super) struct YamlRemarks(Mutex<String>);

impl YamlRemarks {
    /// Returns the YAML of all remarks collected so far.
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Enables the remarks that the filters select. They are emitted as diagnostics if `is_printed`, otherwise they are
    /// collected here.
    ///
    /// # Errors
    /// Returns the reason if a pattern is not a regular expression.
    ///
    /// # Safety
    /// `self` must outlive the context.
    pub(super) unsafe fn enable(
        &self,
        context: &Context,
        filters: RemarkFilters<'_>,
        is_printed: bool,
    ) -> Result<(), String> {
        let RemarkFilters { all, passed, missed, analysis } = filters;
        let [all, passed, missed, analysis] = [all, passed, missed, analysis].map(string_ref);
        let (mut reason, collector) = (TextReceiver::default(), std::ptr::from_ref(self).cast_mut().cast());
        // SAFETY: C++ copies the patterns; the receiver outlives the call, and the caller guarantees that `self`
        // outlives the context.
        let is_valid = unsafe {
            let (take, answer, data) = (Self::take, TextReceiver::take, reason.as_data());
            spyreEnableRemarks(
                context.to_raw(),
                all,
                passed,
                missed,
                analysis,
                is_printed,
                take,
                collector,
                answer,
                data,
            )
        };
        if is_valid { Ok(()) } else { Err(reason.text) }
    }

    unsafe extern "C" fn take(text: MlirStringRef, _is_error: bool, data: *mut c_void) {
        // SAFETY: `data` is the collector that enabled the remarks; it outlives the context, and no `&mut` to it
        // exists.
        let yaml = unsafe { &*data.cast::<Self>() };
        // SAFETY: C++ keeps the text alive until this function returns.
        yaml.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(&unsafe { read_text(text) });
    }
}

/// Returns whether any remark is enabled in the context of `op`. Remarks are disabled in trial compilations.
#[must_use]
pub fn are_remarks_enabled(op: Op<'_>) -> bool {
    // SAFETY: the operation is alive, and so is its context.
    !is_trial(op) && unsafe { spyreAreRemarksEnabled(op.ctx().to_raw()) }
}

/// Emits a remark about a decision in `function`. [`RemarkFilters`] match its category.
pub fn emit_remark(
    function: Op<'_>,
    location: Location<'_>,
    kind: RemarkKind,
    [category, name]: [&str; 2],
    message: &str,
) {
    // SAFETY: operation and location are alive; C++ copies the texts before it returns.
    unsafe {
        spyreEmitRemark(
            function.to_raw(),
            location.to_raw(),
            kind as i32,
            string_ref(category),
            string_ref(name),
            string_ref(message),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mlir::{Module, context::run_as_trial},
        pipeline::create_session,
    };

    #[test]
    fn collects_filtered_remarks_as_yaml() {
        let session = create_session();
        let filters = RemarkFilters { missed: "spyre-l.", all: "spyre-work", ..RemarkFilters::default() };
        session.enable_remarks(filters, false).unwrap();
        let module = Module::parse(&session, "module {}").unwrap();
        assert!(are_remarks_enabled(module.op()));
        // Trial compilations emit no remarks.
        assert!(!run_as_trial(module.op(), || are_remarks_enabled(module.op())));
        for (kind, category) in
            [(RemarkKind::Missed, "spyre-lx"), (RemarkKind::Missed, "spyre-work"), (RemarkKind::Passed, "spyre-lx")]
        {
            emit_remark(module.op(), module.op().loc(), kind, [category, "place"], "is it: \"so\"?");
        }
        let yaml = session.remarks_as_yaml();
        assert!(yaml.starts_with("--- !Missed\nPass:            spyre-lx\nName:            place\n"), "{yaml}");
        // The filters select all kinds of `spyre-work` and the missed optimizations of `spyre-lx`.
        assert!(
            yaml.ends_with("...\n") && yaml.matches("---").count() == 2 && yaml.contains("'is it: \"so\"?'"),
            "{yaml}"
        );
    }

    #[test]
    fn rejects_invalid_patterns() {
        let filters = RemarkFilters { all: "spyre-lx", analysis: "spyre-(", ..RemarkFilters::default() };
        let rejected = create_session().enable_remarks(filters, true).unwrap_err();
        assert!(rejected.starts_with("'spyre-(' is not a regular expression: "), "{rejected}");
    }

    #[test]
    fn disables_remarks_without_an_engine() {
        let session = create_session();
        let module = Module::parse(&session, "module {}").unwrap();
        assert!(!are_remarks_enabled(module.op()));
        // Emission has no effect without a remark engine.
        emit_remark(module.op(), module.op().loc(), RemarkKind::Passed, ["spyre-lx", "place"], "nothing");
    }
}
