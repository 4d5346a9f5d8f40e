//! Codes of messages: hints and dimension names.

super::codes! {
    "Hints and dimension names", 400..=499;

    401 DIMS_ARGUMENT "`--dims` names an argument that does not exist":
        "Arguments are numbered from 0 in the order of the function's signature."
        see "SPY0402";

    402 DIMS_SIZES "the dimension names do not match the shape":
        "The product of the sizes of all names is the number of elements. Declare sizes with `NAME@SIZE` for \
         all names but one."
        see "SPY0404";

    403 UNKNOWN_DIM "no op in the scope has the dimension":
        "Tile counts name dimensions. Names come from `--dims` or `spyre.dims` and follow the elements \
         through ops."
        see "SPY0402";

    404 DIM_NOT_FOLLOWED "a dimension name is dropped":
        "The op reads the named elements in an order that the name cannot follow. Tiles along the name end \
         here."
        see "docs/concepts/tiling.md";

    405 DIM_NAMES_DIFFER "operands give a dimension different names":
        "The name of the first operand is kept. Use one name for dimensions that an op iterates together."
        see "SPY0404";

    406 COUNT_UNBOUND "a count has a name and no value":
        "Bind the name with `--bind NAME=NUMBER`, or declare its maximum in `spyre.symbols`."
        see "SPY0407";

    407 BINDING_UNUSED "`--bind` names a count that does not exist":
        "Counts get names in `--tiles DIM=NAME` or in hints. Remove the binding, or name a count."
        see "SPY0406";

    408 BINDING_RANGE "a bound count exceeds its declared maximum":
        "`spyre.symbols` declares the maximum of a count."
        see "SPY0406";

    409 DIM_SPELLING "a dimension name is not valid":
        "Names are not empty and contain no `*`, which joins names.";

    411 HINT_TWICE "an op has hints of its own inside another scope":
        "One scope decides how an op runs. Remove one of the two.";

    412 HINT_AGAIN "a hint recomputes along a dimension without tiles":
        "`again` names dimensions that a scope around tiles. Add tiles along the dimension, or remove the \
         name.";
}
