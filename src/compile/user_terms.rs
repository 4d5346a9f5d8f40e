//! Rewords diagnostics in terms of the source program: the ops that the user wrote, at their locations, without
//! compiler-internal terms.
//!
//! Ops of later phases keep the locations of the source ops that they were lowered from, so a message about one names
//! the source op at that location. Remaining internal terms indicate a limit or a compiler bug, and are reported as
//! such.

use crate::{
    codes,
    dialect::{
        ods::{attr, sdsc, sdscbundle, spyre},
        phase_of,
    },
    mlir::{
        CollectedDiagnostic, Module, Op, OpExt, RewordedMessage, SourceFile, SourcePosition, reword_diagnostics,
        source_positions,
    },
};
use std::collections::{BTreeMap, BTreeSet};

/// Dimension labels of the file format that do not occur in source programs.
const DIM_LABELS: [&str; 4] = ["'mb'", "'ki'", "'kj'", "'kij'"];

/// Prefix of a note in which MLIR prints an op.
const PRINTED_OP_PREFIX: &str = "see current operation";

/// Text that marks a compiler bug.
const BUG_PHRASE: &str = "compiler bug";

/// Runs a compilation and rewords its diagnostics in terms of the source program. `shows_details` adds the original
/// message as a note. A module printed after a phase is in internal terms already.
pub fn run_in_user_terms<'c, T>(
    module: &mut Module<'c>,
    shows_details: bool,
    do_it: impl FnOnce(&mut Module<'c>) -> T,
) -> T {
    let Some(terms) = UserTerms::from_module(module.op()) else { return do_it(module) };
    let context = module.session().context();
    reword_diagnostics(context, || do_it(module), |said| terms.reword(said, shows_details))
}

/// Parses a source module, and rewords the errors of MLIR's verifiers.
#[must_use]
pub fn parse_in_user_terms<'c>(source: &SourceFile<'c>) -> Option<Module<'c>> {
    reword_diagnostics(
        source.session().context(),
        || source.parse(),
        |said| {
            let is_of_op = said.severity == "note" && said.message.starts_with(PRINTED_OP_PREFIX);
            let message = reword_slice_error(&said.message).unwrap_or_else(|| said.message.clone());
            (!is_of_op).then_some(RewordedMessage { message, details: None })
        },
    )
}

/// Rewords MLIR's message about an out-of-bounds slice.
fn reword_slice_error(message: &str) -> Option<String> {
    let number = |text: &str| text.trim().parse::<i64>().ok();
    if let Some(found) = message.strip_prefix("expected offsets to be non-negative, but got ") {
        return Some(codes::SLICE_BOUNDS.format(format_args!(
            "expected nonnegative offsets, found {}; give an offset within the tensor",
            number(found)?
        )));
    }
    let (place, numbers) = message.split_once("out-of-bounds: ")?;
    let (found, size) = numbers.split_once(" >= ")?;
    let (found, size) = (number(found)?, number(size)?);
    let (dim, what, advice) = match place.strip_prefix("offset ").and_then(|rest| rest.strip_suffix(" is ")) {
        Some(dim) => (number(dim)?, "an offset of", format!("give an offset from 0 to {}", size - 1)),
        None => {
            let dim = place.strip_prefix("slice along dimension ").and_then(|rest| rest.strip_suffix(" runs "))?;
            (number(dim)?, "its last element at", "give a smaller offset, size or stride".to_owned())
        }
    };
    Some(codes::SLICE_BOUNDS.format(format_args!(
        "expected a slice within the {size} elements of dimension {dim}, found {what} {found}; {advice}"
    )))
}

/// Source ops by location.
#[derive(Debug, Default)]
struct UserTerms {
    /// Outermost op at each location.
    op_by_location: BTreeMap<String, String>,
    /// The names of all ops.
    source_ops: BTreeSet<String>,
}

impl UserTerms {
    /// Reads the ops of a module; `None` if the module has completed a phase.
    fn from_module(module: Op<'_>) -> Option<Self> {
        let mut terms = Self::default();
        for op in module.nested() {
            terms.source_ops.insert(op.full_name().to_owned());
            if let Some(place) = format_locations(&source_positions(op.loc())) {
                terms.op_by_location.entry(place).or_insert_with(|| op.full_name().to_owned());
            }
        }
        let is_lowered = sdsc::EVERY_OP.iter().any(|name| terms.source_ops.contains(*name));
        (phase_of(module).is_none() && !is_lowered).then_some(terms)
    }

    /// Returns the replacement of a message; `None` for a note that prints internal IR.
    fn reword(&self, said: &CollectedDiagnostic, shows_details: bool) -> Option<RewordedMessage> {
        if said.message.starts_with(PRINTED_OP_PREFIX) {
            return None;
        }
        let named = self.substitute_user_op(said);
        let message = match self.find_internal_term(&named) {
            None => named,
            Some(_) if said.severity == "note" => "related code".to_owned(),
            Some(_) if named.contains(BUG_PHRASE) => {
                format!(
                    "{}cannot be compiled because of a {BUG_PHRASE}; please report this program",
                    subject_prefix(&named)
                )
            }
            Some(_) => codes::LIMIT.format(format_args!(
                "{}exceeds a limit of the compiler; rewrite it, or report this program",
                subject_prefix(&named)
            )),
        };
        let details = (shows_details && message != said.message)
            .then(|| format!("in the compiler's own terms: {}", said.message));
        Some(RewordedMessage { message, details })
    }

    /// Returns the message with the source op as its subject, instead of an internal op, an op that a named op was
    /// lowered to, or the enclosing function.
    fn substitute_user_op(&self, said: &CollectedDiagnostic) -> String {
        let Some((op, rest)) = split_op_prefix(&said.message).filter(|(op, _)| *op != "builtin.module") else {
            return said.message.clone();
        };
        let own = format_locations(&said.places)
            .and_then(|place| self.op_by_location.get(&place))
            .filter(|own| *own != "builtin.module");
        let is_other = self.is_internal(op) || op == "func.func" || !self.source_ops.contains(op);
        match own {
            Some(own) if own != op && is_other => format!("'{own}' op {rest}"),
            _ if self.is_internal(op) => format!("an op of the program {rest}"),
            _ => said.message.clone(),
        }
    }

    /// Returns the first internal term in a message.
    fn find_internal_term(&self, message: &str) -> Option<String> {
        let of_files =
            ["sdsc_r", "sdsc.", "sdscbundle."].iter().chain(&DIM_LABELS).find(|term| message.contains(**term));
        let names = spyre::EVERY_OP.iter().filter(|name| self.is_internal(name));
        let of_ops = || names.into_iter().find(|name| has_word(message, name));
        of_files.map(|term| (*term).to_owned()).or_else(|| of_ops().map(|name| (*name).to_owned()))
    }

    /// Returns whether an op is internal and does not occur in the source program.
    fn is_internal(&self, op: &str) -> bool {
        let is_ours = [spyre::EVERY_OP, sdsc::EVERY_OP, sdscbundle::EVERY_OP].iter().any(|names| names.contains(&op));
        // Source programs have an attribute with that name.
        is_ours && op != attr::SPYRE_KERNEL && !self.source_ops.contains(op)
    }
}

/// Returns a location as text; `None` without a file.
fn format_locations(places: &[SourcePosition]) -> Option<String> {
    let places: Vec<String> = places.iter().map(ToString::to_string).collect();
    (!places.is_empty()).then(|| places.join(" "))
}

/// Splits a message into the op that it begins with and the remaining text.
fn split_op_prefix(message: &str) -> Option<(&str, &str)> {
    message.strip_prefix('\'')?.split_once("' op ").filter(|(op, _)| !op.contains([' ', '\'']))
}

/// Returns the prefix of a message that names its op.
fn subject_prefix(message: &str) -> String {
    match split_op_prefix(message) {
        Some((op, _)) if op != "builtin.module" => format!("'{op}' op "),
        _ => "the program ".to_owned(),
    }
}

/// Returns whether a name occurs in a text as a separate word.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '.';
    text.match_indices(name).any(|(start, _)| {
        !text[..start].ends_with(is_part)
            && !text[start + name.len()..].starts_with(|letter: char| letter == '_' || letter.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{mlir::error_at, pipeline::create_session};

    const PROGRAM: &str = "func.func @f(%x: tensor<4xf16>) -> tensor<4xf16> {\n\
                           %y = math.exp %x : tensor<4xf16> loc(\"a.py\":3:5)\n\
                           return %y : tensor<4xf16>\n}";

    fn diagnostic(message: &str, severity: &'static str, line: i64) -> CollectedDiagnostic {
        let places = vec![SourcePosition { file: "a.py".to_owned(), line, column: 5 }];
        CollectedDiagnostic {
            severity,
            code: None,
            message: message.to_owned(),
            places,
            module: String::new(),
            notes: Vec::new(),
        }
    }

    fn reword_message(message: &str, severity: &'static str, line: i64) -> Option<String> {
        let session = create_session();
        let module = Module::parse(&session, PROGRAM).expect("a program");
        let terms = UserTerms::from_module(module.op()).expect("no phase is done");
        terms.reword(&diagnostic(message, severity, line), false).map(|reworded| reworded.message)
    }

    #[test]
    fn names_source_op_instead_of_internal_op() {
        let error = |message, line| reword_message(message, "error", line);
        assert_eq!(error("'spyre.pointwise' op is too large", 3).as_deref(), Some("'math.exp' op is too large"));
        assert_eq!(error("'spyre.pointwise' op is too large", 4).as_deref(), Some("an op of the program is too large"));
        assert_eq!(error("'math.exp' op is too large", 3).as_deref(), Some("'math.exp' op is too large"));
        assert_eq!(error("'index.mul' op is too large", 3).as_deref(), Some("'math.exp' op is too large"));
        assert_eq!(error("'func.func' op computes too much", 3).as_deref(), Some("'math.exp' op computes too much"));
        assert_eq!(error("'func.func' op computes too much", 4).as_deref(), Some("'func.func' op computes too much"));
        assert_eq!(error("argument 'spyre.range' is empty", 3).as_deref(), Some("argument 'spyre.range' is empty"));
    }

    #[test]
    fn reports_remaining_internal_terms_as_limit_or_bug() {
        let limit = "exceeds a limit of the compiler; rewrite it, or report this program";
        for message in ["'spyre.pointwise' op reads a 'spyre.view'", "'math.exp' op has no dimension 'mb'"] {
            assert_eq!(
                reword_message(message, "error", 3),
                Some(format!("[SPY9004] 'math.exp' op {limit}")),
                "{message}"
            );
        }
        let bug = reword_message("'builtin.module' op gives files, which is a compiler bug: sdsc_r50: no", "error", 9);
        assert_eq!(
            bug.as_deref(),
            Some("the program cannot be compiled because of a compiler bug; please report this program")
        );
        assert_eq!(reword_message("see current operation: %0 = spyre.view", "note", 3), None);
    }

    #[test]
    fn keeps_internal_terms_that_the_program_contains() {
        let session = create_session();
        let text = "func.func @f(%x: tensor<4xf16>) -> tensor<4xf16> {\n\
                    %y = spyre.pointwise exp(%x) : tensor<4xf16>\nreturn %y : tensor<4xf16>\n}";
        let module = Module::parse(&session, text).expect("a program");
        let terms = UserTerms::from_module(module.op()).expect("no phase is done");
        let message = "'spyre.pointwise' op is too large";
        assert_eq!(
            terms.reword(&diagnostic(message, "error", 3), true),
            Some(RewordedMessage { message: message.to_owned(), details: None })
        );
    }

    #[test]
    fn rewords_out_of_bounds_slice_errors() {
        let session = create_session();
        let rejected = |slice: &str| {
            let text = format!(
                "func.func @f(%x: tensor<64xf16>) -> tensor<4xf16> {{\n\
                 %y = tensor.extract_slice %x{slice} : tensor<64xf16> to tensor<4xf16>\nreturn %y : tensor<4xf16>\n}}"
            );
            let source = session.source_from_text("a.mlir", &text);
            let (module, said) =
                crate::mlir::collect_diagnostics(session.context(), || parse_in_user_terms(&source).is_some());
            assert!(!module && said.len() == 1 && said[0].notes.is_empty() && said[0].places[0].line == 2, "{said:?}");
            said[0].message.clone()
        };
        let within = "expected a slice within the 64 elements of dimension 0, found";
        assert_eq!(rejected("[100] [4] [1]"), format!("{within} an offset of 100; give an offset from 0 to 63"));
        assert_eq!(
            rejected("[61] [4] [1]"),
            format!("{within} its last element at 64; give a smaller offset, size or stride")
        );
        assert_eq!(
            rejected("[0] [4] [30]"),
            format!("{within} its last element at 90; give a smaller offset, size or stride")
        );
        assert_eq!(
            rejected("[-1] [4] [1]"),
            "expected nonnegative offsets, found -1; give an offset within the tensor"
        );
    }

    #[test]
    fn rewords_errors_of_compilation() {
        let session = create_session();
        let mut module = Module::parse(&session, PROGRAM).expect("a program");
        let mut report = |shows_details| {
            let ((), said) = crate::mlir::collect_diagnostics(session.context(), || {
                run_in_user_terms(&mut module, shows_details, |module| {
                    let _ = error_at(codes::INTERNAL, module.op(), "gives a 'spyre.view'").report();
                });
            });
            said.into_iter().map(|said| (said.message, said.notes.len())).collect::<Vec<_>>()
        };
        let limit = "the program exceeds a limit of the compiler; rewrite it, or report this program";
        assert_eq!(report(false), [(limit.to_owned(), 0)]);
        assert_eq!(report(true), [(limit.to_owned(), 1)]);
    }
}
