//! Codes of messages: simulator.

super::codes! {
    "Simulator", 1200..=1299;

    1200 SIM_FILES "the files of a bundle cannot be executed":
        "A file is missing, damaged or inconsistent. Compile the program again."
        see "docs/reference/simulator.md";

    1201 SIM_OUT_OF_BOUNDS "out-of-bounds access":
        "An op accesses bytes outside of every buffer."
        see "docs/reference/simulator.md";

    1202 SIM_MISALIGNED "misaligned address":
        "Addresses are multiples of a stick of 128 bytes."
        see "docs/reference/simulator.md";

    1203 SIM_UNWRITTEN "read of a byte that no op has written":
        "The value of such a byte is undefined, so the result would depend on what was in memory."
        see "docs/reference/simulator.md";

    1204 SIM_DEAD "dead value":
        "An op reads a byte after the live range of its value has ended."
        see "docs/reference/simulator.md";

    1205 SIM_READ_ONLY "write to an argument or a constant":
        "Arguments and constants are read only: other launches read them as well."
        see "docs/reference/simulator.md";

    1206 SIM_CONFLICT "two cores access the same byte":
        "Two cores write a byte in one op, or one reads what another writes."
        see "docs/reference/simulator.md";

    1207 SIM_OVERLAP "buffers overlap":
        "Two buffers whose live ranges overlap share bytes, so one overwrites the other."
        see "docs/reference/simulator.md";

    1208 SIM_TORN "an operand mixes bytes of two writers":
        "The operand was partly overwritten before it was read."
        see "docs/reference/simulator.md";

    1209 SIM_NO_VALUE "a symbol has no value":
        "The launch does not define the symbol. Give sizes with `--dim-size`."
        see "docs/reference/simulator.md";

    1210 SIM_INDEX "an index is out of bounds":
        "A runtime index selects a row that the table does not have. Give indices inside the table."
        see "docs/reference/simulator.md";

    1211 SIM_LIMIT "the execution exceeds a limit":
        "Steps and memory of the simulator are limited. Raise the limit, or run a smaller program."
        see "docs/reference/simulator.md";

    1212 SIM_NOT_SIMULATED "a construct is not simulated":
        "The simulator does not execute this construct of the format."
        see "docs/reference/simulator.md";

    1220 RUN_DIRECTORY "the directory is not a bundle":
        "`spyre-run` takes the directory that `spyre-compile -o DIR` wrote."
        see "SPY0001";

    1221 RUN_ARGUMENT "an input names an unknown argument":
        "The message lists the arguments of the program.";

    1222 RUN_ARRAY "an input file does not match the argument":
        "Arrays have the shape and element type of the argument, and are stored in C order. The message says \
         how to convert them.";

    1223 RUN_SIZE "a size does not match the program":
        "`--dim-size` gives sizes that the program leaves open. The message lists them."
        see "SPY0201";

    1224 RUN_DIFFERS "results differ from the reference":
        "The results differ by more than the tolerance. Please report the program."
        see "docs/guides/debug-a-wrong-result.md";
}
