//! Message codes of the scratchpad (LX).

super::codes! {
    "Scratchpad (LX)", 700..=799;

    701 HBM_REASON "a value is in HBM":
        "The remark gives the reason. For example, the value is a function result, or the ops that use it have \
         different core splits."
        see "docs/concepts/scratchpad.md";

    703 LX_PLACE "an address range in LX is not valid":
        "The address must be a multiple of the stick size, the range must end inside LX, and it must not overlap \
         with another live value.";

    704 LX_PLANNER "unknown scratchpad planner":
        "The message lists the values of `--lx-planner`.";

    705 LX_INPUT "the scratchpad planner cannot plan this op":
        "The planner reads `spyre` ops with core splits. Run the phases before `lx` first.";

    706 LX_INSTANCE "the planning problem is not valid":
        "`spyre-plan` reads CSV files with the columns id, lower, upper and size, or JSON. The message names the \
         line or the JSON member."
        see "docs/reference/planner.md";
}
