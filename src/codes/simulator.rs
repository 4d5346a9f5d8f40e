//! Message codes of the simulator.

super::codes! {
    "Simulator", 1200..=1299;

    1200 SIM_FILES "the files of a bundle cannot be executed":
        "A file is missing, damaged or inconsistent with the others. Compile the program again."
        see "docs/reference/simulator.md";

    1201 SIM_OUT_OF_BOUNDS "out-of-bounds access":
        "An op accesses bytes outside of every buffer. If `spyre-compile` wrote the files, please report the program."
        see "docs/reference/simulator.md";

    1202 SIM_MISALIGNED "misaligned address":
        "An address must be a multiple of 128 bytes, the size of a stick."
        see "docs/reference/simulator.md";

    1203 SIM_UNWRITTEN "read of a byte that no op has written":
        "The value of such a byte is undefined, so the result would depend on the previous contents of the memory. If \
         `spyre-compile` wrote the files, please report the program."
        see "docs/reference/simulator.md";

    1204 SIM_DEAD "read of a value after its live range":
        "An op reads a byte of a value whose live range has ended. If `spyre-compile` wrote the files, please report the \
         program."
        see "docs/reference/simulator.md";

    1205 SIM_READ_ONLY "write to an argument or a constant":
        "Arguments and constants must not be overwritten, because other launches read them as well. If `spyre-compile` \
         wrote the files, please report the program."
        see "docs/reference/simulator.md";

    1206 SIM_CONFLICT "two cores access the same byte":
        "During one op, two cores write the same byte, or one core reads a byte that another one writes. If \
         `spyre-compile` wrote the files, please report the program."
        see "docs/reference/simulator.md";

    1207 SIM_OVERLAP "live buffers overlap":
        "Two buffers with overlapping live ranges share bytes, so one overwrites the other. If `spyre-compile` wrote the \
         files, please report the program."
        see "docs/reference/simulator.md";

    1208 SIM_TORN "an operand contains bytes of two different values":
        "The operand was partly overwritten before the op read it. If `spyre-compile` wrote the files, please report the \
         program."
        see "docs/reference/simulator.md";

    1209 SIM_NO_VALUE "a symbol has no value":
        "The launch does not define the symbol. If it is a dynamic size, give it with `--dim-size`."
        see "docs/reference/simulator.md";

    1210 SIM_INDEX "a runtime index is out of bounds":
        "The index selects a row that the table does not have. Pass indices that are smaller than the number of \
         rows."
        see "docs/reference/simulator.md";

    1211 SIM_LIMIT "the execution exceeds a limit":
        "The number of steps and the memory of the simulator are limited. Raise the limit of steps with `--max-steps`, or \
         run a smaller program."
        see "docs/reference/simulator.md";

    1212 SIM_NOT_SIMULATED "a construct is not simulated":
        "The simulator does not execute this construct of the format."
        see "docs/reference/simulator.md";

    1220 RUN_DIRECTORY "the directory is not a bundle":
        "`spyre-run` requires a directory that `spyre-compile -o DIR` has written."
        see "SPY0001";

    1221 RUN_ARGUMENT "an input names an unknown argument":
        "The message lists the arguments of the program.";

    1222 RUN_ARRAY "an input file does not match the argument":
        "An array must have the shape and the element type of the argument, and be stored in C order. The message \
         explains how to convert it.";

    1223 RUN_SIZE "a size does not match the program":
        "`--dim-size` gives values to the dynamic sizes of the program. The message lists them."
        see "SPY0201";

    1224 RUN_DIFFERS "results differ from the reference":
        "The results differ by more than the tolerance. The default tolerance allows for all rounding of the device: the \
         program was compiled wrongly, so please report it. With `--tolerance`, the rounding may exceed your value."
        see "docs/guides/debug-a-wrong-result.md";

    1225 RUN_MODULE "the module of `--check` does not match the bundle":
        "`--check` takes the module from which the bundle was compiled, as it was before the import. The module must have \
         the arguments and results of the bundle."
        see "docs/guides/debug-a-wrong-result.md";

    1226 RUN_ROUNDING "a result rounds far more on the device than in the program":
        "The emitted files compute the program. But the device's formats take the result further from its exact numbers than the \
         formats of the program do: more than 8 times as far, and more than 4 roundings of 16 bits. Usually, f32 values between \
         16-bit values are computed in 16 bits. Give such values, for example the sine of large angles, as an argument."
        see "docs/guides/debug-a-wrong-result.md";
}
