//! Collects diagnostics as values, for library callers.

use super::{
    Context, Location,
    module_path::{module_path, parts_of},
    text::{string_ref, text_of},
};
use crate::codes::{Code, INVALID_OPERATION, REFUSED_BY_MLIR, split_code};
use melior::diagnostic::{Diagnostic, DiagnosticHandlerId, DiagnosticSeverity};
use mlir_sys::{
    MlirLocation, MlirStringRef, mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationCallSiteGetCaller,
    mlirLocationFileLineColRangeGetFilename, mlirLocationFileLineColRangeGetStartColumn, mlirLocationFileLineColRangeGetStartLine,
    mlirLocationIsACallSite, mlirLocationIsAFileLineColRange, mlirLocationIsAFused, mlirLocationIsAName, mlirLocationNameGetChildLoc,
};
use std::{
    fmt::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

unsafe extern "C" {
    fn spyreCodeOfUncoded(message: MlirStringRef) -> u32;
}

/// Source position; line and column count from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourcePlace {
    /// The file.
    pub file: String,
    /// The line.
    pub line: i64,
    /// The column.
    pub column: i64,
}

impl fmt::Display for SourcePlace {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// Reported diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// `error`, `warning`, `remark` or `note`.
    pub severity: &'static str,
    /// Code of the message; warnings, remarks and notes may have none.
    pub code: Option<Code>,
    /// Text of the message, without the code.
    pub message: String,
    /// Source positions: the location itself, then its callers, innermost first; empty if the position is unknown.
    pub places: Vec<SourcePlace>,
    /// Path of the model's module that the location belongs to ([`module_path`]); empty if there is none.
    pub module: String,
    /// Notes attached to the diagnostic.
    pub notes: Vec<Collected>,
}

impl Collected {
    /// Returns the text of the message after its code, as in `SPY0501: tile count 3 does not divide`.
    #[must_use]
    pub fn coded_text(&self) -> String {
        self.code.map_or_else(|| self.message.clone(), |code| format!("{code}: {}", self.message))
    }
}

/// Runs a closure and returns its result and the diagnostics that it reported; nothing is printed.
pub fn collect<T>(context: &Context, do_it: impl FnOnce() -> T) -> (T, Vec<Collected>) {
    let collected = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&collected);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push(collected_from(&diagnostic));
        true
    });
    let detached = Detached::new(context, handler);
    let done = do_it();
    drop(detached);
    let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
    (done, std::mem::take(&mut *collected))
}

/// Detaches a diagnostic handler from its context on drop, also during a panic.
pub(super) struct Detached<'c> {
    context: &'c Context,
    handler: Option<DiagnosticHandlerId>,
}

impl<'c> Detached<'c> {
    /// Creates a guard for a handler of the given context.
    pub(super) const fn new(context: &'c Context, handler: DiagnosticHandlerId) -> Self {
        Self { context, handler: Some(handler) }
    }
}

impl Drop for Detached<'_> {
    fn drop(&mut self) {
        if let Some(handler) = self.handler.take() {
            self.context.detach_diagnostic_handler(handler);
        }
    }
}

/// Passes each diagnostic reported while the guard lives to `takes` first; a diagnostic that `takes` accepts reaches no other handler.
pub fn intercept(context: &Context, mut takes: impl FnMut(&Collected) -> bool) {
    context.attach_diagnostic_handler(move |diagnostic| takes(&collected_from(&diagnostic)));
}

pub(super) fn collected_from(diagnostic: &Diagnostic<'_>) -> Collected {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => "error",
        DiagnosticSeverity::Warning => "warning",
        DiagnosticSeverity::Remark => "remark",
        DiagnosticSeverity::Note => "note",
    };
    let notes = (0..diagnostic.note_count()).filter_map(|index| diagnostic.note(index).ok());
    let notes = notes.map(|note| collected_from(&note)).collect();
    // Damaged bytecode is quoted verbatim, without the bytes that are not UTF-8.
    let mut message = String::new();
    let is_whole = write!(message, "{diagnostic}").is_ok();
    message.push_str(if is_whole { "" } else { " (with bytes that are not UTF-8)" });
    let (code, message) = split_code(&message);
    let code = code.or_else(|| (severity == "error").then(|| code_of_uncoded(&message)));
    let location = diagnostic.location();
    Collected { severity, code, message, places: places_of(location), module: module_path(location), notes }
}

/// Returns the code of an error of MLIR, or of a verifier of our dialects.
fn code_of_uncoded(message: &str) -> Code {
    // SAFETY: the function reads the text only.
    let number = unsafe { spyreCodeOfUncoded(string_ref(message)) };
    if number == INVALID_OPERATION.number() { INVALID_OPERATION } else { REFUSED_BY_MLIR }
}

/// Returns the file positions of a location, innermost first. For a fused location, returns those of the first part that has any.
#[must_use]
pub fn places_of(location: Location<'_>) -> Vec<SourcePlace> {
    // SAFETY: the location is alive as long as its context, of which the caller has a borrow; each getter is asked of its own kind only.
    unsafe { places_below(location.to_raw()) }
}

/// Returns the parts of a fused location at other file positions than [`places_of`] returns, one for each position; of other locations none.
#[must_use]
pub fn fused_with(location: Location<'_>) -> Vec<Location<'_>> {
    let mut known = vec![places_of(location), Vec::new()];
    // SAFETY: the parts of a location live as long as it does.
    let parts = unsafe {
        if !mlirLocationIsAFused(location.to_raw()) {
            return Vec::new();
        }
        parts_of(location.to_raw()).into_iter().map(|part| Location::from_raw(part))
    };
    let mut others = Vec::new();
    for part in parts {
        let places = places_of(part);
        if !known.contains(&places) {
            known.push(places);
            others.push(part);
        }
    }
    others
}

/// # Safety
/// The location is one of a context that is alive.
unsafe fn places_below(location: MlirLocation) -> Vec<SourcePlace> {
    // SAFETY: each getter is asked of a location of its kind; the array of fused locations has as many entries as C says.
    unsafe {
        if mlirLocationIsAFileLineColRange(location) {
            let file = text_of(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location))).into_owned();
            let line = mlirLocationFileLineColRangeGetStartLine(location).into();
            let column = mlirLocationFileLineColRangeGetStartColumn(location).into();
            return vec![SourcePlace { file, line, column }];
        }
        if mlirLocationIsAName(location) {
            return places_below(mlirLocationNameGetChildLoc(location));
        }
        if mlirLocationIsACallSite(location) {
            let mut places = places_below(mlirLocationCallSiteGetCallee(location));
            places.extend(places_below(mlirLocationCallSiteGetCaller(location)));
            return places;
        }
        if mlirLocationIsAFused(location) {
            return parts_of(location).into_iter().map(|part| places_below(part)).find(|places| !places.is_empty()).unwrap_or_default();
        }
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mlir::{Module, OpExt, error_at},
        pipeline::session,
    };

    #[test]
    fn messages_without_a_code_have_the_numbers_of_the_table() {
        for (message, code) in [("'spyre.view' op is wrong", INVALID_OPERATION), ("expected ']'", REFUSED_BY_MLIR)] {
            // SAFETY: the function reads the text only.
            assert_eq!(unsafe { spyreCodeOfUncoded(string_ref(message)) }, code.number(), "{message}");
        }
    }

    #[test]
    fn what_is_reported_is_collected_with_its_places_and_notes() {
        let session = session();
        let text = "module {} loc(callsite(fused[unknown, \"a.py\":3:5] at callsite(\"x\"(\"b.py\":7:1) at \"c.py\":9:2)))";
        let module = Module::parse(&session, text).unwrap();
        let ((), collected) = collect(session.context(), || {
            let _ = error_at(crate::codes::INTERNAL, module.op(), "is wrong").note(module.op(), "as seen here").report();
        });
        let place = |file: &str, line, column| SourcePlace { file: file.to_owned(), line, column };
        let places = vec![place("a.py", 3, 5), place("b.py", 7, 1), place("c.py", 9, 2)];
        assert_eq!(places_of(module.op().loc()), places);
        assert_eq!(module_path(module.op().loc()), "x");
        let note = Collected {
            severity: "note",
            code: None,
            message: "as seen here".to_owned(),
            places: places.clone(),
            module: "x".to_owned(),
            notes: Vec::new(),
        };
        let error = Collected {
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
    fn an_error_at_a_fused_location_has_a_note_at_each_other_place() {
        let session = session();
        let module =
            Module::parse(&session, "module {} loc(fused[\"a.py\":3:5, \"b.py\":7:1, \"a.py\":3:5, unknown, \"c.py\":1:1])").unwrap();
        let ((), collected) = collect(session.context(), || {
            let _ = error_at(crate::codes::INTERNAL, module.op(), "is wrong").report();
        });
        let place = |said: &Collected| said.places[0].to_string();
        assert_eq!(place(&collected[0]), "a.py:3:5");
        assert_eq!(collected[0].notes.iter().map(place).collect::<Vec<_>>(), ["b.py:7:1", "c.py:1:1"]);
        assert!(collected[0].notes.iter().all(|note| note.message == "fused with the operation here"));
    }

    #[test]
    fn errors_of_the_parser_are_collected() {
        let session = session();
        let (module, collected) = collect(session.context(), || Module::parse(&session, "nonsense").is_some());
        assert!(!module && collected.len() == 1 && collected[0].severity == "error", "{collected:?}");
        assert_eq!((collected[0].places[0].line, collected[0].places[0].column), (1, 1));
    }

    #[test]
    fn a_text_is_read_to_its_end_and_no_further() {
        let session = session();
        assert!(Module::parse(&session, &"module {} and more"[.."module {}".len()]).is_some());
        let (module, collected) =
            collect(session.context(), || Module::parse(&session, &"module {} and more"[.."module {} and".len()]).is_some());
        assert!(!module && collected[0].places[0].column == 11, "{collected:?}");
    }
}
