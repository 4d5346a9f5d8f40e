//! Codes of messages: command line.

super::codes! {
    "Command line", 1..=99;

    1 OUTPUT_MISSING "missing output directory":
        "`spyre-compile` writes a bundle, which is a directory of files. Add `-o DIR`, or print IR with \
         `--compile-to PHASE`."
        see "SPY0002";

    2 OUTPUT_PLACE "the output path cannot be used":
        "A bundle directory is written to a new path or replaces an older bundle. Existing files and other \
         directories are never overwritten. The parent directory must exist."
        see "SPY0001";

    3 OUTPUT_WRITE "a file cannot be written":
        "The operating system refused to write a file; the message ends with its reason.";

    4 OUTPUT_KIND "the output file name has no known extension":
        "The extension of an output file selects its format, as in `--report FILE.json` and `--report \
         FILE.html`.";

    5 USAGE "the command line is not valid":
        "An option is unknown, has a value of the wrong form, or is missing. `--help` lists all options."
        see "docs/reference/tools.md";

    6 UNKNOWN_CODE "unknown message code":
        "`--explain` takes a code that a message prints in brackets, such as `SPY0501`."
        see "docs/reference/generated/codes.md";

    7 OPTION_VALUE "an option has a value out of range":
        "The message names the option and the values that it takes."
        see "docs/reference/tools.md";

    8 OPTION_TWICE "an option names the same thing twice":
        "Each name can be given one value. Remove one of the two."
        see "SPY0012";

    9 NO_EFFECT "an option has no effect":
        "The option belongs to a phase that has already run, or that `--compile-to` does not reach. Remove \
         the option, or start from an earlier module.";

    10 NEEDS_SEARCH "the option requires the tile search":
        "A certificate or a plan describes the result of the tile search. Remove `--tile-search none`."
        see "docs/concepts/search.md";

    11 NEEDS_JOINT "the option requires joint planning":
        "The option needs core splits and scratchpad placement to be chosen together. Remove `--lx-planner`, \
         or give `--joint`."
        see "docs/concepts/search.md";

    12 TILES_TWICE "`--tiles` names a dimension twice":
        "A dimension has one tile count. Multiply the two counts, as in `A=4` for `A=2` and `A=2`."
        see "SPY0501";

    13 PHASE_ONLY "the option requires a complete compilation":
        "`--compile-to PHASE` stops before the decision that the option writes or reads. Remove \
         `--compile-to`.";

    14 ADDRESSES "the option requires symbolic addresses":
        "Baked addresses are constants, so they cannot advance inside a loop. Remove `--addresses baked`, or \
         give `--loops unroll`.";

    15 REMARKS_OPTION "the remarks options cannot be used":
        "The pattern is not a regular expression, the file cannot be written, or the phase that emits remarks \
         does not run.";

    16 REDUCE_INPUT "the command does not fail for the whole program":
        "`spyre-reduce` keeps what makes a command fail. Give a command that fails for the whole program, or \
         name its message with `--says`."
        see "docs/guides/reduce-a-bug.md";

    17 NO_PLAN_CHOSEN "nothing was chosen that a file could record":
        "The program leaves nothing to the search, for example because hints fix its loops. Remove the \
         option.";

    18 SYSTEM "the system refuses an operation of the tool":
        "A temporary folder, a process, a pipe or a signal handler cannot be had, for the reason in the message."
        see "SPY0003";

    19 WITHOUT_MLIR "the tool was built without MLIR":
        "Builds with `--no-default-features` execute, check and plan. `cargo build` with the default features builds \
         the compiler as well."
        see "docs/getting-started/mlir.md";
}
