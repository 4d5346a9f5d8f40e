//! Validation after every pass: `spyre-opt --spyre-validate-each`.

use super::Snapshot;
use crate::{
    codes,
    mlir::{Event, Op, error_at, note_bug, remark_behind},
};
use std::sync::{Mutex, PoisonError};

/// State of the functions of a pipeline's module.
#[derive(Default)]
struct Observed {
    /// Results of the functions; `None` while they are not tensor programs of `spyre` ops.
    known: Option<Snapshot>,
    /// Passes since then that have not been validated.
    unjudged: Vec<String>,
}

/// Observer of the passes of successive modules.
#[derive(Default)]
pub struct Observer(Mutex<Observed>);

impl Observer {
    /// Compares the results of functions before and after a pass. Returns false if the pass changed them, which has been reported. Passes
    /// whose input or output is no tensor program of `spyre` ops cannot be validated; a remark names them.
    pub fn observe(&self, pass: &str, event: Event<'_>) -> bool {
        let mut observed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Begin => *observed = Observed::default(),
            Event::Before(op) if observed.known.is_none() && observed.unjudged.is_empty() => observed.known = Snapshot::of(op).ok(),
            Event::Before(_) => {}
            Event::After(op) => return observed.judge(pass, op),
        }
        true
    }
}

impl Observed {
    fn judge(&mut self, pass: &str, op: Op<'_>) -> bool {
        let after = match Snapshot::like(op, self.known.as_ref()) {
            Ok(after) => after,
            Err(reason) => {
                if self.known.take().is_some() {
                    remark_behind(codes::PASS_NOT_VALIDATED, op, format_args!("not validated from pass '{pass}' on: {reason}")).emit();
                }
                self.unjudged.push(pass.to_owned());
                return true;
            }
        };
        let Some(before) = &mut self.known else {
            self.unjudged.push(pass.to_owned());
            let passes = std::mem::take(&mut self.unjudged).join("', '");
            remark_behind(codes::PASS_NOT_VALIDATED, op, format_args!("validated after pass '{pass}' only: no reference for '{passes}'"))
                .emit();
            self.known = Some(after);
            return true;
        };
        let difference = before.difference(&after);
        // Later changes must not be attributed to this pass.
        before.take(after);
        let Some((function, difference)) = difference else { return true };
        note_bug(op);
        let _ = error_at(
            codes::MISCOMPILED,
            op,
            format_args!("computes something else after pass '{pass}', which is a compiler bug: '{function}': {difference}"),
        )
        .report();
        false
    }
}
