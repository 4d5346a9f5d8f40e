//! Validation after every pass: `spyre-opt --spyre-validate-each`.

use super::ResultSnapshot;
use crate::{
    codes,
    mlir::{Op, PassEvent, error_at, record_bug, remark_at_location},
};
use std::sync::{Mutex, PoisonError};

/// State of the functions of a pipeline's module.
#[derive(Default)]
struct ModuleState {
    /// Results of the functions; `None` while they are not tensor programs of `spyre` ops.
    known: Option<ResultSnapshot>,
    /// Passes after these results that have not been validated.
    unjudged: Vec<String>,
}

/// Observer of the passes of successive modules.
#[derive(Default)]
pub struct ValidationObserver(Mutex<ModuleState>);

impl ValidationObserver {
    /// Compares the results of functions before and after a pass. Returns false if the pass changed them, which has
    /// been reported. Passes whose input or output is no tensor program of `spyre` ops cannot be validated; a remark
    /// names them.
    pub fn observe(&self, pass: &str, event: PassEvent<'_>) -> bool {
        let mut observed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            PassEvent::Begin => *observed = ModuleState::default(),
            PassEvent::Before(op) if observed.known.is_none() && observed.unjudged.is_empty() => {
                observed.known = ResultSnapshot::capture(op).ok()
            }
            PassEvent::Before(_) => {}
            PassEvent::After(op) => return observed.validate_pass(pass, op),
        }
        true
    }
}

impl ModuleState {
    fn validate_pass(&mut self, pass: &str, op: Op<'_>) -> bool {
        let after = match ResultSnapshot::capture_like(op, self.known.as_ref()) {
            Ok(after) => after,
            Err(reason) => {
                if self.known.take().is_some() {
                    remark_at_location(
                        codes::PASS_NOT_VALIDATED,
                        op,
                        format_args!("not validated from pass '{pass}' on: {reason}"),
                    )
                    .emit();
                }
                self.unjudged.push(pass.to_owned());
                return true;
            }
        };
        let Some(before) = &mut self.known else {
            self.unjudged.push(pass.to_owned());
            let passes = std::mem::take(&mut self.unjudged).join("', '");
            remark_at_location(
                codes::PASS_NOT_VALIDATED,
                op,
                format_args!("validated after pass '{pass}' only: no reference for '{passes}'"),
            )
            .emit();
            self.known = Some(after);
            return true;
        };
        let difference = before.find_difference(&after);
        // Later changes must not be attributed to this pass.
        before.replace_contents(after);
        let Some((function, difference)) = difference else { return true };
        record_bug(op);
        let _ = error_at(
            codes::MISCOMPILED,
            op,
            format_args!(
                "computes something else after pass '{pass}', which is a compiler bug: '{function}': {difference}"
            ),
        )
        .report();
        false
    }
}
