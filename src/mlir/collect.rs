//! Diagnostics as values, for callers that are no terminal.

use super::{Context, Location, text_of};
use melior::diagnostic::{Diagnostic, DiagnosticSeverity};
use mlir_sys::{
    MlirLocation, mlirIdentifierStr, mlirLocationCallSiteGetCallee, mlirLocationCallSiteGetCaller, mlirLocationFileLineColRangeGetFilename,
    mlirLocationFileLineColRangeGetStartColumn, mlirLocationFileLineColRangeGetStartLine, mlirLocationFusedGetLocations,
    mlirLocationFusedGetNumLocations, mlirLocationIsACallSite, mlirLocationIsAFileLineColRange, mlirLocationIsAFused, mlirLocationIsAName,
    mlirLocationNameGetChildLoc,
};
use std::{
    cell::RefCell,
    fmt::{self, Write},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
};

/// A line of a file; both count from 1.
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

/// What was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collected {
    /// `error`, `warning`, `remark` or `note`.
    pub severity: &'static str,
    /// What it says.
    pub message: String,
    /// Where: the place itself, then what it was called from, innermost first; none if it is unknown.
    pub places: Vec<SourcePlace>,
    /// What was added.
    pub notes: Vec<Collected>,
}

/// Does something, and gives what it reported instead of printing it.
pub fn collect<T>(context: &Context, do_it: impl FnOnce() -> T) -> (T, Vec<Collected>) {
    let collected = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&collected);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        sink.lock().unwrap_or_else(PoisonError::into_inner).push(collected_from(&diagnostic));
        true
    });
    let done = do_it();
    context.detach_diagnostic_handler(handler);
    let mut collected = collected.lock().unwrap_or_else(PoisonError::into_inner);
    (done, std::mem::take(&mut *collected))
}

/// Does something, and reports in other words what it reported: `reword` gets each error, warning, remark and note, and drops those
/// for which it returns none.
pub fn reworded<T>(context: &Context, do_it: impl FnOnce() -> T, reword: impl Fn(&Collected) -> Option<Rewording>) -> T {
    let held = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&held);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let location_of = |diagnostic: &Diagnostic<'_>| diagnostic.location().to_raw();
        let notes = (0..diagnostic.note_count()).filter_map(|index| diagnostic.note(index).ok()).map(|note| location_of(&note));
        let notes: Vec<MlirLocation> = notes.collect();
        sink.borrow_mut().push((collected_from(&diagnostic), location_of(&diagnostic), notes));
        true
    });
    let done = do_it();
    context.detach_diagnostic_handler(handler);
    for (said, location, notes) in held.take() {
        // SAFETY: locations live as long as their context, which is borrowed.
        let location_in = |raw: MlirLocation| unsafe { Location::from_raw(raw) };
        let Some(Rewording { message, details }) = reword(&said) else { continue };
        let notes = said.notes.iter().zip(notes).filter_map(|(note, at)| Some((location_in(at), reword(note)?.message)));
        let details = details.map(|details| (location_in(location), details));
        let severity = match said.severity {
            "error" => 0,
            "warning" => 1,
            _ => 2,
        };
        super::Diagnostic::in_words(severity, location_in(location), message, notes.chain(details).collect()).emit();
    }
    done
}

/// Other words for what was reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewording {
    /// The message.
    pub message: String,
    /// One more note.
    pub details: Option<String>,
}

/// Shows everything that is reported from here on to `takes` first; what it takes goes nowhere else.
pub fn intercept(context: &Context, mut takes: impl FnMut(&Collected) -> bool) {
    context.attach_diagnostic_handler(move |diagnostic| takes(&collected_from(&diagnostic)));
}

fn collected_from(diagnostic: &Diagnostic<'_>) -> Collected {
    let severity = match diagnostic.severity() {
        DiagnosticSeverity::Error => "error",
        DiagnosticSeverity::Warning => "warning",
        DiagnosticSeverity::Remark => "remark",
        DiagnosticSeverity::Note => "note",
    };
    let notes = (0..diagnostic.note_count()).filter_map(|index| diagnostic.note(index).ok());
    let notes = notes.map(|note| collected_from(&note)).collect();
    // Damaged bytecode is quoted as it is: what is no UTF-8 of it is left out.
    let mut message = String::new();
    let is_whole = write!(message, "{diagnostic}").is_ok();
    message.push_str(if is_whole { "" } else { " (with what is no text)" });
    Collected { severity, message, places: places_of(diagnostic.location()), notes }
}

/// The lines that a location names, innermost first. Of places that were fused, the first that names one.
#[must_use]
pub fn places_of(location: Location<'_>) -> Vec<SourcePlace> {
    // SAFETY: the location is alive as long as its context, of which the caller has a borrow; each getter is asked of its own kind only.
    unsafe { places_below(location.to_raw()) }
}

/// # Safety
/// The location is one of a context that is alive.
unsafe fn places_below(location: MlirLocation) -> Vec<SourcePlace> {
    // SAFETY: each getter is asked of a location of its kind; the array of fused locations has as many entries as C says.
    unsafe {
        if mlirLocationIsAFileLineColRange(location) {
            let file = text_of(mlirIdentifierStr(mlirLocationFileLineColRangeGetFilename(location))).to_owned();
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
            let count = usize::try_from(mlirLocationFusedGetNumLocations(location)).unwrap_or_default();
            let mut parts = vec![MlirLocation { ptr: std::ptr::null() }; count];
            mlirLocationFusedGetLocations(location, parts.as_mut_ptr());
            return parts.into_iter().map(|part| places_below(part)).find(|places| !places.is_empty()).unwrap_or_default();
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
    fn what_is_reported_is_collected_with_its_places_and_notes() {
        let session = session();
        let text = "module {} loc(callsite(fused[unknown, \"a.py\":3:5] at callsite(\"x\"(\"b.py\":7:1) at \"c.py\":9:2)))";
        let module = Module::parse(&session, text).unwrap();
        let ((), collected) = collect(session.context(), || {
            let _ = error_at(module.op(), "is wrong").note(module.op(), "as seen here").report();
        });
        let place = |file: &str, line, column| SourcePlace { file: file.to_owned(), line, column };
        let places = vec![place("a.py", 3, 5), place("b.py", 7, 1), place("c.py", 9, 2)];
        assert_eq!(places_of(module.op().loc()), places);
        let note = Collected { severity: "note", message: "as seen here".to_owned(), places: places.clone(), notes: Vec::new() };
        let error = Collected { severity: "error", message: "'builtin.module' op is wrong".to_owned(), places, notes: vec![note] };
        assert_eq!(collected, [error]);
    }

    #[test]
    fn what_is_reported_can_be_said_in_other_words() {
        let session = session();
        let module = Module::parse(&session, "module {} loc(\"a.py\":3:5)").unwrap();
        let reword = |said: &Collected| {
            let details = (said.severity == "error").then(|| said.message.clone());
            (said.message != "dropped").then(|| Rewording { message: format!("reworded {}", said.severity), details })
        };
        let ((), collected) = collect(session.context(), || {
            reworded(
                session.context(),
                || {
                    let op = module.op();
                    let _ = error_at(op, "is wrong").note(op, "dropped").note(op, "kept").report();
                },
                reword,
            );
        });
        let [error] = collected.as_slice() else { panic!("{collected:?}") };
        assert_eq!((error.severity, error.message.as_str(), error.places[0].line), ("error", "reworded error", 3));
        let notes: Vec<&str> = error.notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(notes, ["reworded note", "'builtin.module' op is wrong"]);
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
