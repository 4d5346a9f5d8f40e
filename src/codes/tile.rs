//! Codes of messages: tiling and loops.

super::codes! {
    "Tiling and loops", 500..=599;

    501 TILE_COUNT "tile count does not divide the dimension":
        "Every iteration of a loop executes the same files, so all tiles have one size. A hint therefore \
         needs a tile count that divides the dimension. Use one of the divisors in the message. If the size \
         has no useful divisor, remove the hint. Without hints the compiler may peel the remainder: 16,381 \
         rows become 16,320 + 61."
        see "SPY0502 (tile ends inside a stick), docs/concepts/tiling.md";

    502 TILE_STICK "a tile ends inside a stick":
        "The device moves sticks of 128 bytes. A tile along the stick dimension is a whole number of sticks: \
         64 elements of f16."
        see "SPY0501, docs/concepts/layouts-and-sticks.md";

    503 TILE_REDUCTION "a reduction without a combining op cannot be tiled":
        "Tiles of a reduction give partial results, and the device has no op that combines them. Leave the \
         dimension whole."
        see "docs/concepts/tiling.md";

    504 TILE_DIAGONAL "two dimensions of an op have the same name":
        "A loop over both would visit only their diagonal. Rename one of the dimensions."
        see "SPY0402";

    505 TILE_INNER_NAME "an inner name can be tiled only below single positions of the outer name":
        "Elements of an inner name are contiguous only inside one position of the outer name. Tile the outer \
         name to single positions."
        see "SPY0501";

    506 TILE_SIZE_UNKNOWN "the size of a named dimension is unknown":
        "Declare the size with `--dims ARG=NAME@SIZE` or `spyre.dim_sizes`."
        see "SPY0402";

    507 TILE_OUTSIDE "an op stays outside of the loop":
        "The op writes or joins slices of a larger buffer along the tiled dimension. It runs before or after \
         the loop."
        see "docs/concepts/tiling.md";

    508 TILE_SECOND_LOOP "a second loop is needed":
        "The op needs the complete result of the first loop over the dimension."
        see "docs/concepts/tiling.md";

    510 LOOP_OVERWRITES "a loop overwrites a value before its last use":
        "A loop carries values in place. Copies are inserted by `spyre-settle-loops`; run it before this \
         pass.";

    511 TILE_READ "an op reads a tile that no loop provides":
        "The tiled loops and the operands of the op do not match. Change or remove the tile counts of the \
         scope."
        see "SPY0501";

    512 PLAN_LOOPS "a loop nest of the plan does not match the program":
        "The plan was edited, or is for another program. Correct the numbers in the message, or remove the \
         plan."
        see "SPY1320";

    513 MANY_LAUNCH_STEPS "a launch executes many small steps":
        "Every execution of a file has a fixed cost. Use fewer tiles."
        see "docs/concepts/tiling.md";

    514 UNROLLED_OPS "unrolled loops exceed the limit of ops":
        "Unrolled loops are written out op by op. Use `--loops keep`, or fewer tiles."
        see "SPY0513";

    515 TRIP_AT_LAUNCH "a trip count is known only at launch":
        "The backend requires constant trip counts. Bind the name with `--bind NAME=NUMBER`."
        see "SPY0406";
}
