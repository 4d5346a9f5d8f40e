//! Diagnostics of in-process compilations.

use melior::diagnostic::DiagnosticSeverity;
use spyre_compiler::mlir::Session;
use std::{cell::RefCell, rc::Rc};

/// Collects the errors of a session, without warnings.
pub(crate) fn collect_errors(session: &Session) -> Rc<RefCell<Vec<String>>> {
    let errors = Rc::new(RefCell::new(Vec::new()));
    let seen = Rc::clone(&errors);
    session.context().attach_diagnostic_handler(move |diagnostic| {
        if matches!(diagnostic.severity(), DiagnosticSeverity::Error) {
            seen.borrow_mut().push(diagnostic.to_string());
        }
        true
    });
    errors
}
