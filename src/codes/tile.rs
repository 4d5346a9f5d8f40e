//! Message codes of tiling and loops.

super::codes! {
    "Tiling and loops", 500..=599;

    501 TILE_COUNT "tile count does not divide the dimension":
        "Every iteration of a loop executes the same files, so all tiles have the same size. The tile count of a \
         hint must therefore divide the dimension. Use one of the divisors in the message. If the size has no useful \
         divisor, remove the hint. Without hints the compiler may peel the remainder: 16,381 rows become 16,320 + \
         61."
        see "SPY0502 (tile ends inside a stick), docs/concepts/tiling.md";

    502 TILE_STICK "a tile ends inside a stick":
        "The device moves sticks of 128 bytes. A tile along the stick dimension must be a multiple of a stick, which \
         has 64 elements of f16."
        see "SPY0501, docs/concepts/layouts-and-sticks.md";

    503 TILE_REDUCTION "a reduction without a combining op cannot be tiled":
        "Each tile of a reduction gives a partial result, and the device has no op that combines the partial results \
         of this reduction. Do not tile the dimension."
        see "docs/concepts/tiling.md";

    504 TILE_DIAGONAL "two dimensions of an op have the same name":
        "A loop along this name would tile both dimensions together and process only the diagonal tiles. Rename one \
         of the dimensions."
        see "SPY0402";

    505 TILE_INNER_NAME "the inner of two joined names can be tiled only after the outer one":
        "A dimension with the names `C*D` is contiguous along `D` only within one position of `C`. Use as many tiles \
         of the outer name as it has positions, then tile the inner name."
        see "SPY0501";

    506 TILE_SIZE_UNKNOWN "the size of a named dimension is unknown":
        "Declare the size with `--dims ARG=NAME@SIZE` or `spyre.dim_sizes`."
        see "SPY0402";

    507 TILE_OUTSIDE "an op stays outside of the loop":
        "The op writes a slice of a larger buffer along the tiled dimension. It runs before or after the loop."
        see "docs/concepts/tiling.md";

    508 TILE_SECOND_LOOP "a second loop is needed":
        "The op needs the complete result of the first loop over the dimension, so it runs in a second loop."
        see "docs/concepts/tiling.md";

    510 LOOP_OVERWRITES "a loop overwrites a value before its last use":
        "The carried values of a loop share one buffer. `spyre-insert-loop-copies` inserts the copies that this requires; \
         run it before this pass.";

    511 TILE_READ "an op reads a tile that no loop provides":
        "The loops of the scope do not match the operands of the op. Change or remove the tile counts of the scope."
        see "SPY0501";

    512 PLAN_LOOPS "a loop nest of the plan does not match the program":
        "The plan was edited, or belongs to another program. Correct the numbers that the message names, or \
         remove the plan."
        see "SPY1320";

    513 MANY_LAUNCH_STEPS "a launch executes many small steps":
        "Every execution of a file has a fixed cost, so many executions of small ops are slow. Use fewer tiles."
        see "docs/concepts/tiling.md";

    514 UNROLLED_OPS "unrolled loops exceed the limit of ops":
        "With `--loops unroll`, every iteration becomes separate ops. Use `--loops keep`, or fewer tiles."
        see "SPY0513";

    515 TRIP_AT_LAUNCH "a trip count is known only at launch":
        "The formats `1.0` and `torch-spyre-2026-08` require constant trip counts. Give `--bundle-format=torch-spyre-2026-09`, or one size: `--dim-size NAME=SIZE`, `--bind NAME=NUMBER`."
        see "SPY0406";
}
