//! Remarks about decisions of the compiler, for MLIR's remark engine.

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
    fn spyreAskForRemarks(
        context: MlirContext,
        all: MlirStringRef,
        passed: MlirStringRef,
        missed: MlirStringRef,
        analysis: MlirStringRef,
        is_printed: bool,
        takes: TextCallback,
        taken: *mut c_void,
        answer: TextCallback,
        data: *mut c_void,
    ) -> bool;
    fn spyreWantsRemarks(context: MlirContext) -> bool;
    fn spyreRemark(
        function: MlirOperation,
        location: MlirLocation,
        kind: i32,
        category: MlirStringRef,
        name: MlirStringRef,
        message: MlirStringRef,
    );
}

/// Kind of a remark: the outcome of an attempted optimization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemarkKind {
    /// The optimization was applied.
    Passed = 0,
    /// The optimization was missed, for a reason.
    Missed = 1,
    /// Neither: the remark reports a number.
    Analysis = 2,
}

/// Patterns of the enabled categories: LLVM regular expressions that match a complete name. An empty one matches
/// nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct RemarkFilters<'p> {
    /// For remarks of every kind.
    pub all: &'p str,
    /// For applied optimizations.
    pub passed: &'p str,
    /// For missed optimizations.
    pub missed: &'p str,
    /// For numbers only.
    pub analysis: &'p str,
}

/// Collector of remarks in YAML. The context has a pointer to it, so it outlives the context.
#[derive(Debug, Default)]
pub(super) struct YamlRemarks(Mutex<String>);

impl YamlRemarks {
    /// Returns the remarks up to now, in YAML.
    pub(super) fn text(&self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Enables the remarks that the filters select in the context: collected here, or as diagnostics.
    ///
    /// # Safety
    /// `self` outlives the context.
    pub(super) unsafe fn enable(
        &self,
        context: &Context,
        filters: RemarkFilters<'_>,
        is_printed: bool,
    ) -> Result<(), String> {
        let RemarkFilters { all, passed, missed, analysis } = filters;
        let [all, passed, missed, analysis] = [all, passed, missed, analysis].map(string_ref);
        let (mut reason, taken) = (TextReceiver::default(), std::ptr::from_ref(self).cast_mut().cast());
        // SAFETY: C++ copies the patterns; the receiver outlives the call, and the caller guarantees that `self`
        // outlives the context.
        let is_right = unsafe {
            let (take, answer, data) = (Self::take, TextReceiver::take, reason.as_data());
            spyreAskForRemarks(context.to_raw(), all, passed, missed, analysis, is_printed, take, taken, answer, data)
        };
        if is_right { Ok(()) } else { Err(reason.text) }
    }

    unsafe extern "C" fn take(text: MlirStringRef, _is_error: bool, data: *mut c_void) {
        // SAFETY: `data` is the collector that enabled the remarks; it outlives the context, and is only ever shared.
        let yaml = unsafe { &*data.cast::<Self>() };
        // SAFETY: C++ keeps the text until this returns.
        yaml.0.lock().unwrap_or_else(PoisonError::into_inner).push_str(&unsafe { read_text(text) });
    }
}

/// Returns whether remarks are enabled.
#[must_use]
pub fn are_remarks_enabled(op: Op<'_>) -> bool {
    // SAFETY: the operation is alive, and so is its context.
    !is_trial(op) && unsafe { spyreWantsRemarks(op.ctx().to_raw()) }
}

/// Emits a remark about a decision in a function, at a location. Filters match its category.
pub fn emit_remark(
    function: Op<'_>,
    location: Location<'_>,
    kind: RemarkKind,
    [category, name]: [&str; 2],
    message: &str,
) {
    // SAFETY: operation and location are alive; C++ copies the texts before it returns.
    unsafe {
        spyreRemark(
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
        // Trial compilations make no decisions.
        assert!(!run_as_trial(module.op(), || are_remarks_enabled(module.op())));
        for (kind, category) in
            [(RemarkKind::Missed, "spyre-lx"), (RemarkKind::Missed, "spyre-work"), (RemarkKind::Passed, "spyre-lx")]
        {
            emit_remark(module.op(), module.op().loc(), kind, [category, "place"], "is it: \"so\"?");
        }
        let yaml = session.remarks_as_yaml();
        assert!(yaml.starts_with("--- !Missed\nPass:            spyre-lx\nName:            place\n"), "{yaml}");
        // One filter for all kinds of one category, one for a single kind of another category.
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
        // Remarks are disabled.
        emit_remark(module.op(), module.op().loc(), RemarkKind::Passed, ["spyre-lx", "place"], "nothing");
    }
}
