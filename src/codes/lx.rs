//! Codes of messages: scratchpad (LX).

super::codes! {
    "Scratchpad (LX)", 700..=799;

    701 HBM_REASON "a value is in HBM":
        "The remark names the reason: for example, a function result, or uses with different core splits."
        see "docs/concepts/scratchpad.md";

    703 LX_PLACE "a place in LX is not valid":
        "A place is aligned to a stick, ends inside LX, and shares no bytes with another live value.";

    704 LX_PLANNER "unknown scratchpad planner":
        "The message lists the planners that `--lx-planner` accepts.";

    705 LX_INPUT "the scratchpad planner cannot plan this op":
        "The planner reads `spyre` ops. Run the import and the phases before it.";

    706 LX_INSTANCE "the instance of the planner is not valid":
        "`spyre-plan` reads CSV with id, lower, upper and size, or JSON. The message names the line or \
         member."
        see "docs/reference/planner.md";
}
