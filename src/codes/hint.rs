//! Message codes of hints and dimension names.

super::codes! {
    "Hints and dimension names", 400..=499;

    401 DIMS_ARGUMENT "`--dims` names an argument that does not exist":
        "Arguments are numbered from 0, in the order of the function signature."
        see "SPY0402";

    402 DIMS_SIZES "the dimension names do not match the shape":
        "The product of the sizes of all names must equal the number of elements of the argument. Declare sizes with \
         `NAME@SIZE` for all names but one."
        see "SPY0404";

    403 UNKNOWN_DIM "no op in the hint scope has the dimension":
        "A tile count refers to a dimension by name. `--dims` or `spyre.dims` names the dimensions of arguments, and \
         the names are propagated through ops."
        see "SPY0402";

    404 DIM_NOT_FOLLOWED "a dimension name is not propagated":
        "The op reorders the elements of the named dimension in such a way that its result has no dimension with \
         this name. Tiling along the name ends at this op."
        see "docs/concepts/tiling.md";

    405 DIM_NAMES_DIFFER "operands give a dimension different names":
        "The name that the first operand gives is kept. Use one name for dimensions that correspond in an op."
        see "SPY0404";

    406 COUNT_UNBOUND "a named count has no value":
        "Give the name a value with `--bind NAME=NUMBER`, or declare its maximum in `spyre.symbols`."
        see "SPY0407";

    407 BINDING_UNUSED "`--bind` names a count that does not exist":
        "Counts get names in `--tiles DIM=NAME` or in hints. Correct the name, or remove the binding."
        see "SPY0406";

    408 BINDING_RANGE "a bound count exceeds its declared maximum":
        "`spyre.symbols` declares the maximum of a named count. Bind a smaller number, or raise the maximum."
        see "SPY0406";

    409 DIM_SPELLING "a dimension name is not valid":
        "A name must not be empty, and must not contain `*`, which joins several names.";

    411 HINT_TWICE "an op with its own hints is inside a hint scope":
        "Either the scope or the op itself can determine how the op runs. Remove the hints of one of them.";

    412 HINT_RECOMPUTE "a hint recomputes ops along a dimension that is not tiled":
        "`recompute` names dimensions that an enclosing scope tiles. Add tiles along the dimension, or remove the name \
         from `recompute`.";
}
