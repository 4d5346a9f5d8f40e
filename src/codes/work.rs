//! Message codes of core splits.

super::codes! {
    "Core splits", 600..=699;

    601 SPLIT_DIVISOR "the requested core split does not divide the dimension":
        "Every core gets a slice of the same size. Request a divisor of the number in the message."
        see "docs/concepts/work-division.md";

    602 SPLIT_BLOCKED "the dimension cannot be split across cores":
        "A reduction over sticks is not split if the last stick is partly unused, and an op splits at most one reduction \
         dimension. Split another dimension."
        see "docs/concepts/work-division.md";

    603 SPAN "a core must address too many bytes of an operand":
        "A core addresses a limited range of each tensor (span); the message names the limit. Use smaller tensors, \
         or more tiles."
        see "docs/concepts/machine.md";

    604 SPLIT_CORES "the requested split needs more cores than there are":
        "The product of all requested slice counts must not exceed the number of cores."
        see "SPY0601";

    605 SPLIT_NAME "the core split names an unknown or ambiguous dimension":
        "`work_div` refers to dimensions by the names that `--dims` or `spyre.dims` gives. Use a name that one \
         dimension of the op has."
        see "SPY0403";

    606 SPLIT_PLAN "the core splits of the plan do not match the program":
        "The plan was edited, or belongs to another program. Remove `work` from the plan; the compiler then chooses \
         the splits."
        see "SPY1320";
}
