//! Collects diagnostics as values, for library callers.

use super::{
    Context,
    module_path::module_path,
    positions::{SourcePosition, source_positions},
    text::string_ref,
};
use crate::codes::{Code, INVALID_OPERATION, REJECTED_BY_MLIR, split_code};
use melior::diagnostic::{Diagnostic, DiagnosticHandlerId, DiagnosticSeverity};
use mlir_sys::MlirStringRef;
use std::{
    fmt::Write,
    sync::{Arc, Mutex, PoisonError},
};

unsafe extern "C" {
    fn spyreGetDefaultErrorCode(message: MlirStringRef) -> u32;
}

/// Reported diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CollectedDiagnostic {
    /// `error`, `warning`, `remark` or `note`.
    pub severity: &'static str,
    /// Code of the message; warnings, remarks and notes may have none.
    pub code: Option<Code>,
    /// Text of the message, without the code.
    pub message: String,
    /// Source positions: the location itself, then its callers, innermost first; empty if the position is unknown.
    pub places: Vec<SourcePosition>,
    /// Path of the model's module that the location belongs to ([`module_path()`]); empty if there is none.
    pub module: String,
    /// Notes attached to the diagnostic.
    pub notes: Vec<CollectedDiagnostic>,
}

impl CollectedDiagnostic {
    /// Returns the text of the message after its code, as in `SPY0501: tile count 3 does not divide`.
    #[must_use]
    pub fn coded_text(&self) -> String {
        self.code.map_or_else(|| self.message.clone(), |code| format!("{code}: {}", self.message))
    }
}

/// Runs a closure and returns its result and the diagnostics that it reported; nothing is printed.
pub fn collect_diagnostics<T>(context: &Context, do_it: impl FnOnce() -> T) -> (T, Vec<CollectedDiagnostic>) {
    let collected = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&collected);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push(convert_diagnostic(&diagnostic));
        true
    });
    let detached = HandlerGuard::new(context, handler);
    let done = do_it();
    drop(detached);
    let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
    (done, std::mem::take(&mut *collected))
}

/// Detaches a diagnostic handler from its context on drop, also during a panic.
pub(super) struct HandlerGuard<'c> {
    context: &'c Context,
    handler: Option<DiagnosticHandlerId>,
}

impl<'c> HandlerGuard<'c> {
    /// Creates a guard for a handler of the given context.
    pub(super) const fn new(context: &'c Context, handler: DiagnosticHandlerId) -> Self {
        Self { context, handler: Some(handler) }
    }
}

impl Drop for HandlerGuard<'_> {
    fn drop(&mut self) {
        if let Some(handler) = self.handler.take() {
            self.context.detach_diagnostic_handler(handler);
        }
    }
}

/// Passes each diagnostic reported while the guard lives to `takes` first; a diagnostic that `takes` accepts reaches no
/// other handler.
pub fn intercept_diagnostics(context: &Context, mut takes: impl FnMut(&CollectedDiagnostic) -> bool) {
    context.attach_diagnostic_handler(move |diagnostic| takes(&convert_diagnostic(&diagnostic)));
}

pub(super) fn convert_diagnostic(diagnostic: &Diagnostic<'_>) -> CollectedDiagnostic {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => "error",
        DiagnosticSeverity::Warning => "warning",
        DiagnosticSeverity::Remark => "remark",
        DiagnosticSeverity::Note => "note",
    };
    let notes = (0..diagnostic.note_count()).filter_map(|index| diagnostic.note(index).ok());
    let notes = notes.map(|note| convert_diagnostic(&note)).collect();
    // Damaged bytecode is quoted verbatim, without the bytes that are not UTF-8.
    let mut message = String::new();
    let is_whole = write!(message, "{diagnostic}").is_ok();
    message.push_str(if is_whole { "" } else { " (with bytes that are not UTF-8)" });
    let (code, message) = split_code(&message);
    let code = code.or_else(|| (severity == "error").then(|| classify_uncoded_message(&message)));
    let location = diagnostic.location();
    CollectedDiagnostic {
        severity,
        code,
        message,
        places: source_positions(location),
        module: module_path(location),
        notes,
    }
}

/// Returns the code of an error of MLIR, or of a verifier of our dialects.
fn classify_uncoded_message(message: &str) -> Code {
    // SAFETY: the function reads the text only.
    let number = unsafe { spyreGetDefaultErrorCode(string_ref(message)) };
    if number == INVALID_OPERATION.as_u32() { INVALID_OPERATION } else { REJECTED_BY_MLIR }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mlir::{Module, OpExt, error_at},
        pipeline::create_session,
    };

    #[test]
    fn assigns_codes_to_uncoded_messages() {
        for (message, code) in [("'spyre.view' op is wrong", INVALID_OPERATION), ("expected ']'", REJECTED_BY_MLIR)] {
            // SAFETY: the function reads the text only.
            assert_eq!(unsafe { spyreGetDefaultErrorCode(string_ref(message)) }, code.as_u32(), "{message}");
        }
    }

    #[test]
    fn collects_diagnostics_with_positions_and_notes() {
        let session = create_session();
        let text =
            "module {} loc(callsite(fused[unknown, \"a.py\":3:5] at callsite(\"x\"(\"b.py\":7:1) at \"c.py\":9:2)))";
        let module = Module::parse(&session, text).unwrap();
        let ((), collected) = collect_diagnostics(session.context(), || {
            let _ = error_at(crate::codes::INTERNAL, module.op(), "is wrong")
                .with_note(module.op(), "as seen here")
                .report();
        });
        let place = |file: &str, line, column| SourcePosition { file: file.to_owned(), line, column };
        let places = vec![place("a.py", 3, 5), place("b.py", 7, 1), place("c.py", 9, 2)];
        assert_eq!(source_positions(module.op().loc()), places);
        assert_eq!(module_path(module.op().loc()), "x");
        let note = CollectedDiagnostic {
            severity: "note",
            code: None,
            message: "as seen here".to_owned(),
            places: places.clone(),
            module: "x".to_owned(),
            notes: Vec::new(),
        };
        let error = CollectedDiagnostic {
            severity: "error",
            code: Some(crate::codes::INTERNAL),
            message: "'builtin.module' op is wrong".to_owned(),
            places,
            module: "x".to_owned(),
            notes: vec![note],
        };
        assert_eq!(collected, [error]);
    }

    #[test]
    fn adds_notes_at_other_fused_locations() {
        let session = create_session();
        let module = Module::parse(
            &session,
            "module {} loc(fused[\"a.py\":3:5, \"b.py\":7:1, \"a.py\":3:5, unknown, \"c.py\":1:1])",
        )
        .unwrap();
        let ((), collected) = collect_diagnostics(session.context(), || {
            let _ = error_at(crate::codes::INTERNAL, module.op(), "is wrong").report();
        });
        let place = |said: &CollectedDiagnostic| said.places[0].to_string();
        assert_eq!(place(&collected[0]), "a.py:3:5");
        assert_eq!(collected[0].notes.iter().map(place).collect::<Vec<_>>(), ["b.py:7:1", "c.py:1:1"]);
        assert!(collected[0].notes.iter().all(|note| note.message == "fused with the operation here"));
    }

    #[test]
    fn collects_parser_errors() {
        let session = create_session();
        let (module, collected) =
            collect_diagnostics(session.context(), || Module::parse(&session, "nonsense").is_some());
        assert!(!module && collected.len() == 1 && collected[0].severity == "error", "{collected:?}");
        assert_eq!((collected[0].places[0].line, collected[0].places[0].column), (1, 1));
    }

    #[test]
    fn parses_text_up_to_its_end_only() {
        let session = create_session();
        assert!(Module::parse(&session, &"module {} and more"[.."module {}".len()]).is_some());
        let (module, collected) = collect_diagnostics(session.context(), || {
            Module::parse(&session, &"module {} and more"[.."module {} and".len()]).is_some()
        });
        assert!(!module && collected[0].places[0].column == 11, "{collected:?}");
    }
}
