//! Rewords diagnostics.

use super::{
    Context, Location,
    collect::{CollectedDiagnostic, HandlerGuard, convert_diagnostic},
};
use melior::diagnostic::Diagnostic;
use mlir_sys::MlirLocation;
use std::{cell::RefCell, rc::Rc};

/// Runs a closure and rewords its diagnostics: `reword` receives each error, warning, remark and note; those for which
/// it returns `None` are dropped.
pub fn reword_diagnostics<T>(
    context: &Context,
    do_it: impl FnOnce() -> T,
    reword: impl Fn(&CollectedDiagnostic) -> Option<RewordedMessage>,
) -> T {
    let held = Rc::new(RefCell::new(Vec::new()));
    let sink = Rc::clone(&held);
    let handler = context.attach_diagnostic_handler(move |diagnostic| {
        let location_of = |diagnostic: &Diagnostic<'_>| diagnostic.location().to_raw();
        let notes =
            (0..diagnostic.note_count()).filter_map(|index| diagnostic.note(index).ok()).map(|note| location_of(&note));
        let notes: Vec<MlirLocation> = notes.collect();
        sink.borrow_mut().push((convert_diagnostic(&diagnostic), location_of(&diagnostic), notes));
        true
    });
    let detached = HandlerGuard::new(context, handler);
    let done = do_it();
    drop(detached);
    for (said, location, notes) in held.take() {
        // SAFETY: locations live as long as their context, which is borrowed.
        let location_in = |raw: MlirLocation| unsafe { Location::from_raw(raw) };
        let Some(RewordedMessage { message, details }) = reword(&said) else { continue };
        let notes =
            said.notes.iter().zip(notes).filter_map(|(note, at)| Some((location_in(at), reword(note)?.message)));
        let details = details.map(|details| (location_in(location), details));
        let severity = match said.severity {
            "error" => 0,
            "warning" => 1,
            _ => 2,
        };
        let notes = notes.chain(details).collect();
        super::diag::Diagnostic::from_text((severity, said.code), location_in(location), &message, notes).emit();
    }
    done
}

/// Replacement of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RewordedMessage {
    /// The message.
    pub message: String,
    /// Additional note.
    pub details: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        mlir::{Module, collect_diagnostics, error_at},
        pipeline::create_session,
    };

    #[test]
    fn rewords_diagnostics_and_notes() {
        let session = create_session();
        let module = Module::parse(&session, "module {} loc(\"a.py\":3:5)").unwrap();
        let reword = |said: &CollectedDiagnostic| {
            let details = (said.severity == "error").then(|| said.message.clone());
            (said.message != "dropped")
                .then(|| RewordedMessage { message: format!("reworded {}", said.severity), details })
        };
        let ((), collected) = collect_diagnostics(session.context(), || {
            reword_diagnostics(
                session.context(),
                || {
                    let op = module.op();
                    let _ = error_at(crate::codes::INTERNAL, op, "is wrong")
                        .with_note(op, "dropped")
                        .with_note(op, "kept")
                        .report();
                },
                reword,
            );
        });
        let [error] = collected.as_slice() else { panic!("{collected:?}") };
        assert_eq!((error.severity, error.message.as_str(), error.places[0].line), ("error", "reworded error", 3));
        let notes: Vec<&str> = error.notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(notes, ["reworded note", "'builtin.module' op is wrong"]);
    }
}
