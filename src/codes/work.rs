//! Codes of messages: core splits.

super::codes! {
    "Core splits", 600..=699;

    601 SPLIT_DIVISOR "the requested core split does not divide the dimension":
        "Every core gets an equal share. Request a divisor of the number in the message."
        see "docs/concepts/work-division.md";

    602 SPLIT_BLOCKED "the dimension cannot be split across cores":
        "The dimension is masked, or only one reduction dimension may be split. Split another dimension."
        see "docs/concepts/work-division.md";

    603 SPAN "an operand spans too many bytes on one core":
        "A core addresses a limited span of a tensor, which the message names. Use smaller tensors, or more \
         tiles."
        see "docs/concepts/machine.md";

    604 SPLIT_CORES "the requested split needs more cores than there are":
        "The product of all requested slices is at most the number of cores."
        see "SPY0601";

    605 SPLIT_NAME "the core split names an unknown or ambiguous dimension":
        "`work_div` names dimensions as `--dims` does. Use a name of one dimension of the op."
        see "SPY0403";

    606 SPLIT_PLAN "the core splits of the plan do not match the program":
        "The plan was edited, or is for another program. Remove `work` from the plan to choose splits again."
        see "SPY1320";
}
