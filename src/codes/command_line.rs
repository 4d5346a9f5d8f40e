//! Message codes of the command line.

super::codes! {
    "Command line", 1..=99;

    1 OUTPUT_MISSING "missing output directory":
        "`spyre-compile` writes a bundle, which is a directory of files. Name the directory with `-o DIR`, or print \
         IR with `--compile-to PHASE` instead."
        see "SPY0002";

    2 OUTPUT_PLACE "the output path cannot be used":
        "The output directory must not exist yet, or contain an older bundle, which is replaced. Other files and \
         directories are never overwritten. The parent directory must exist."
        see "SPY0001";

    3 OUTPUT_WRITE "a file cannot be written":
        "The operating system refused to write a file; the message ends with the reason that the system gives.";

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
        "The message names the option and its allowed values."
        see "docs/reference/tools.md";

    8 OPTION_TWICE "an option gives one name two values":
        "Each name can have one value. Remove one of the two."
        see "SPY0012";

    9 NO_EFFECT "an option has no effect":
        "The option belongs to a phase that has already run, or that `--compile-to` does not reach. Remove the \
         option, or start from a module that has not been compiled to this phase.";

    10 NEEDS_SEARCH "the option requires the tile search":
        "A certificate or a plan describes the result of the tile search. Remove `--tile-search none`."
        see "docs/concepts/search.md";

    11 NEEDS_JOINT "the option requires joint planning":
        "The option requires that core splits and scratchpad placement are chosen together. Remove `--lx-planner`, \
         or add `--joint`."
        see "docs/concepts/search.md";

    12 TILES_TWICE "`--tiles` names a dimension twice":
        "A dimension has one tile count. Use the product of the two counts: `A=4` instead of `A=2` and `A=2`."
        see "SPY0501";

    13 PHASE_ONLY "the option requires a complete compilation":
        "The option concerns a decision that the compiler makes only after the phase that `--compile-to PHASE` \
         names. Remove `--compile-to`.";

    14 ADDRESSES "the option requires symbolic addresses":
        "Baked addresses are constants in the files, so they cannot advance inside a loop. Remove `--addresses \
         baked`, or add `--loops unroll`.";

    15 REMARKS_OPTION "the remarks options cannot be used":
        "The pattern is not a regular expression, the file cannot be written, or the phase that emits remarks \
         does not run.";

    16 REDUCE_INPUT "the command succeeds for the complete program":
        "`spyre-reduce` looks for a smaller program for which the command still fails. So the command must fail for \
         the complete program. With `--says TEXT`, it must also print TEXT."
        see "docs/guides/reduce-a-bug.md";

    17 NO_PLAN_CHOSEN "the search made no choice that a file could record":
        "The search had nothing to choose, for example because hints determine all loops. Remove the option that \
         writes the file.";

    18 SYSTEM "an operation of the operating system failed":
        "The tool could not create a temporary directory, start a process, write to a pipe or install a signal \
         handler. The message gives the reason."
        see "SPY0003";

    19 WITHOUT_MLIR "the tool was built without MLIR":
        "Builds with `--no-default-features` contain only the planner, the simulator and the bundle checker. Build \
         with the default features to get the compiler."
        see "docs/getting-started/mlir.md";
}
