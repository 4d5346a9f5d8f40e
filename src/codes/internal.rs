//! Message codes of internal errors.

super::codes! {
    "Internal errors", 9000..=9999;

    9000 INTERNAL "internal error":
        "This is a bug in the compiler. Please report the program with the message; `spyre-reduce` makes the program \
         smaller."
        see "docs/guides/reduce-a-bug.md";

    9001 PANIC "a pass panicked":
        "This is a bug in the compiler. Please report the program with the message."
        see "SPY9000";

    9002 MISCOMPILED "a phase changed what the program computes":
        "Validation detected a bug in the compiler, and no files were written. Please report the program."
        see "docs/concepts/trust.md";

    9003 OWN_FILES "the compiler wrote files that break a rule of the format":
        "This is a bug in the compiler, and no files were written. Please report the program."
        see "SPY9000";

    9004 LIMIT "the program exceeds a limit of the compiler":
        "The compiler generated an op that it cannot compile, and that does not correspond to a single op of the \
         program. Rewrite the op at the location of the message, or report the program."
        see "SPY9000";

    9005 MALFORMED_IR "an op of an internal dialect lacks an attribute or operand":
        "The compiler never generates such ops. The IR was written by hand or by another tool; correct it there."
        see "SPY9000";
}
