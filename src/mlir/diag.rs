//! Diagnostics with a location, and the proof that one was reported.

use super::{Location, Op, OpExt, collect::HandlerGuard, other_fused_locations, text::string_ref};
use crate::codes::{Code, split_code};
use mlir_sys::{MlirLocation, MlirStringRef, mlirOperationVerify};
use std::fmt::Display;

#[repr(C)]
struct RawDiagnostic {
    _opaque: [u8; 0],
}

unsafe extern "C" {
    fn spyreDiagnosticCreate(location: MlirLocation, severity: i32, message: MlirStringRef) -> *mut RawDiagnostic;
    fn spyreDiagnosticAttachNote(diagnostic: *mut RawDiagnostic, location: MlirLocation, message: MlirStringRef);
    fn spyreDiagnosticReport(diagnostic: *mut RawDiagnostic);
}

/// Proof that an error was reported. Only a diagnostic creates it, so no failure is silent.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub struct ErrorReported(());

impl ErrorReported {
    /// Returns the marker for an error that MLIR itself has reported.
    pub(super) const fn from_mlir() -> Self {
        Self(())
    }
}

/// A diagnostic under construction.
pub struct Diagnostic<'c> {
    severity: i32,
    code: Option<Code>,
    location: Location<'c>,
    message: String,
    notes: Vec<(Location<'c>, String)>,
}

impl<'c> Diagnostic<'c> {
    fn new(severity: i32, code: Code, op: Op<'c>, message: impl Display) -> Self {
        let without_op = Self::new_at_location(severity, code, op, message);
        // The op's name comes first, as in MLIR's emitOpError.
        Self { message: format!("'{}' op {}", op.full_name(), without_op.message), ..without_op }
    }

    /// Returns a diagnostic that does not name its operation. A code within the message takes precedence over `code`.
    fn new_at_location(severity: i32, code: Code, op: Op<'c>, message: impl Display) -> Self {
        let (carried, message) = split_code(&message.to_string());
        Self { severity, code: Some(carried.unwrap_or(code)), location: op.loc(), message, notes: Vec::new() }
    }

    /// Returns a diagnostic with the given text; severity 0, 1 or 2 is an error, a warning or a remark.
    pub(super) fn from_text(
        (severity, code): (i32, Option<Code>),
        location: Location<'c>,
        message: &str,
        notes: Vec<(Location<'c>, String)>,
    ) -> Self {
        let (carried, message) = split_code(message);
        Self { severity, code: carried.or(code), location, message, notes }
    }

    /// Sets a location other than the operation's own; it may be unknown.
    #[must_use]
    pub fn with_location(self, location: Location<'c>) -> Self {
        Self { location, ..self }
    }

    /// Adds a note at another operation.
    #[must_use]
    pub fn with_note(self, op: Op<'c>, message: impl Display) -> Self {
        self.with_note_at(op.loc(), message)
    }

    /// Adds a note at a location, such as that of an argument.
    #[must_use]
    pub fn with_note_at(mut self, location: Location<'c>, message: impl Display) -> Self {
        self.notes.push((location, split_code(&message.to_string()).1));
        self
    }

    /// Reports an error.
    pub fn report(self) -> ErrorReported {
        self.send_to_mlir();
        ErrorReported(())
    }

    /// Reports a warning or a remark.
    pub fn emit(self) {
        self.send_to_mlir();
    }

    fn send_to_mlir(self) {
        let message = self.code.map_or_else(|| self.message.clone(), |code| code.format(&self.message));
        // SAFETY: C++ copies the texts before it returns, and frees the diagnostic in `report`.
        unsafe {
            let raw = spyreDiagnosticCreate(self.location.to_raw(), self.severity, string_ref(&message));
            for location in other_fused_locations(self.location) {
                spyreDiagnosticAttachNote(raw, location.to_raw(), string_ref("fused with the operation here"));
            }
            for (location, message) in &self.notes {
                spyreDiagnosticAttachNote(raw, location.to_raw(), string_ref(message));
            }
            spyreDiagnosticReport(raw);
        }
    }
}

/// Runs a closure with its diagnostics suppressed, for trials that may fail.
pub fn suppress_diagnostics<T>(op: Op<'_>, try_it: impl FnOnce() -> T) -> T {
    let context = op.ctx();
    let _detached = HandlerGuard::new(context, context.attach_diagnostic_handler(|_| true));
    try_it()
}

/// Verifies an operation with its MLIR verifier.
///
/// # Errors
/// If verification fails; the verifier has reported why.
pub fn verify_op(op: Op<'_>) -> Result<(), ErrorReported> {
    // SAFETY: the operation is alive.
    if unsafe { mlirOperationVerify(op.to_raw()) } { Ok(()) } else { Err(ErrorReported::from_mlir()) }
}

/// Returns an error at an operation. The message states the value found and the violated rule, in lower case, without a
/// full stop.
#[must_use]
pub fn error_at<'c>(code: Code, op: Op<'c>, message: impl Display) -> Diagnostic<'c> {
    Diagnostic::new(0, code, op, message)
}

/// Returns a warning at an operation.
#[must_use]
pub fn warning_at<'c>(code: Code, op: Op<'c>, message: impl Display) -> Diagnostic<'c> {
    Diagnostic::new(1, code, op, message)
}

/// Returns a warning at an operation, without its name: the message is about an op that it was lowered to.
#[must_use]
pub fn warning_at_location<'c>(code: Code, op: Op<'c>, message: impl Display) -> Diagnostic<'c> {
    Diagnostic::new_at_location(1, code, op, message)
}

/// Returns an error at an operation, without its name: the message is about an op that it was lowered to.
#[must_use]
pub fn error_at_location<'c>(code: Code, op: Op<'c>, message: impl Display) -> Diagnostic<'c> {
    Diagnostic::new_at_location(0, code, op, message)
}

/// Returns a remark about an operation, without its name.
#[must_use]
pub fn remark_at_location<'c>(code: Code, op: Op<'c>, message: impl Display) -> Diagnostic<'c> {
    Diagnostic::new_at_location(2, code, op, message)
}
