//! The words of messages: an error names operations that the user wrote, and no others.

use crate::mlir::{Op, OpExt};
use std::collections::BTreeSet;

/// The operations that a program is written in.
pub(super) struct Words {
    names: BTreeSet<String>,
}

impl Words {
    /// Reads the operations of a module.
    pub(super) fn read(module: Op<'_>) -> Self {
        Self { names: module.nested().into_iter().map(|op| op.full_name().to_owned()).collect() }
    }

    /// Returns a message without the name of an operation that the program does not have. MLIR begins a message with the name of the operation at
    /// which it is: `'spyre.gather' op needs ...`. The place says which operation of the program is meant.
    pub(super) fn reword(&self, message: &str) -> String {
        let named = message.strip_prefix('\'').and_then(|rest| rest.split_once("' op "));
        match named {
            Some((name, rest)) if is_of_the_compiler(name) && !self.names.contains(name) => format!("this operation {rest}"),
            _ => message.to_owned(),
        }
    }
}

/// Whether an operation is one of the compiler's dialects.
fn is_of_the_compiler(name: &str) -> bool {
    name.starts_with("spyre.") || name.starts_with("sdsc")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations_of_the_program_keep_their_names() {
        let words = Words { names: ["linalg.generic", "spyre.hint"].map(str::to_owned).into() };
        assert_eq!(words.reword("'spyre.gather' op needs a table"), "this operation needs a table");
        assert_eq!(words.reword("'sdsc.op' op has no size"), "this operation has no size");
        for message in ["'linalg.generic' op is wrong", "'spyre.hint' op is wrong", "no name", "'x' is no name"] {
            assert_eq!(words.reword(message), message);
        }
    }
}
