//! Codes of messages: internal errors.

super::codes! {
    "Internal errors", 9000..=9999;

    9000 INTERNAL "internal error":
        "The compiler has a bug. Please report the program with the message; `spyre-reduce` makes it smaller."
        see "docs/guides/reduce-a-bug.md";

    9001 PANIC "a pass panicked":
        "The compiler has a bug. Please report the program with the message."
        see "SPY9000";

    9002 MISCOMPILED "a phase changed what the program computes":
        "Validation found the bug, and no files were written. Please report the program."
        see "docs/concepts/trust.md";

    9003 OWN_FILES "the compiler wrote files that break a rule of the format":
        "The compiler has a bug, and no files were written. Please report the program."
        see "SPY9000";

    9004 LIMIT "the program exceeds a limit of the compiler":
        "An internal op cannot be expressed in terms of the program. Rewrite the op, or report the program."
        see "SPY9000";

    9005 MALFORMED_IR "an op of an internal dialect lacks an attribute or operand":
        "Only IR that was written by hand or by another tool can have such ops."
        see "SPY9000";
}
