//! Codes of messages: import: ops, types and ranges.

super::codes! {
    "Import: ops, types and ranges", 200..=299;

    200 UNSUPPORTED "the op is not supported in this form":
        "The message names the form. The page of supported operations lists what is supported instead."
        see "docs/reference/supported-ops.md";

    201 DYNAMIC_DIM "a dimension has no size":
        "The compiler plans for known sizes. Give the size with `--dim-size NAME=SIZE`, or a maximum and a \
         step with `NAME=MAX:STEP`."
        see "SPY0202";

    202 DIM_SIZE "the size of a dimension is not valid":
        "A size matches the argument, is positive, and is given once per dynamic dimension. Remove \
         `--dim-size` for static dimensions."
        see "SPY0201";

    203 STATIC_TENSOR "expected tensors of static shape":
        "Arguments, results and operands are ranked tensors of static shape. Export the program before \
         bufferization."
        see "SPY0201";

    204 EMPTY_TENSOR "a tensor has no elements":
        "Device tensors have at least one element in each dimension.";

    205 TENSOR_SIZE "a tensor or an op is too large":
        "Sizes in bytes fit in 64 bits, and one op covers at most 2^56 points. Split the op, or give smaller \
         tensors.";

    206 ELEMENT_TYPE "the device has no format for the element type":
        "Elements are f16, bf16, f32, f8 or integers. Convert other types in the producer."
        see "docs/reference/supported-ops.md";

    207 NARROWING "the program stores a wider type in a narrower one":
        "The result type must hold what was computed. Export the program in f32 or f16.";

    208 CONVERSION "a conversion between these types is not supported":
        "The device converts between its float formats only. Convert integers at compile time.";

    210 TRIP_COUNT "a loop requires a constant trip count":
        "Loops are expanded at compile time. Make the bound and the step constants in the producer."
        see "SPY0212";

    211 EXTRACT_RUNTIME "`tensor.extract` at a runtime index is not supported":
        "A single element at a runtime index has no form on the device. Gather whole rows instead.";

    212 LOOP_FORM "the loop has an unsupported form":
        "Loops count upward in positive steps, and conditions are known at compile time."
        see "SPY0210";

    213 CONTROL_FLOW "control flow that depends on runtime values is not supported":
        "A program is a list of ops on tensors. Replace branches by `arith.select`."
        see "SPY0210";

    214 UNROLLED_SIZE "expanded loops make the program too large":
        "Loops with constant trip counts are expanded, up to a limit of ops. Compile the body once and run it \
         several times."
        see "SPY0210";

    220 RUNTIME_POSITION "offsets or sizes at runtime are not supported here":
        "Offsets, sizes and strides of slices and pads are constants, except in the forms that the page of \
         supported operations lists."
        see "docs/reference/supported-ops.md";

    221 INDEX_BOUNDS "a constant index leaves the tensor":
        "Indices that are known at compile time must select elements of the tensor.";

    222 INDEX_COMPUTED "an index cannot be computed":
        "Indices are known at compile time, arguments, or results of a few supported operations."
        see "docs/reference/supported-ops.md";

    223 TOO_MANY_PARTS "the op expands to too many ops":
        "Windows, strides and runtime positions are expanded into ops on whole tensors, up to a limit. Use a \
         smaller window or tensor.";

    224 UNWRITTEN "an op reads a tensor that no op has written":
        "`tensor.empty` has no values. Fill the tensor first.";

    225 SORT_FORM "the sort has an unsupported form":
        "A comparator compares two elements of one tensor, and rows are limited in length."
        see "docs/reference/supported-ops.md";

    226 SCATTER_FORM "the scatter has an unsupported form":
        "Whole rows are written or combined, each at one index."
        see "docs/reference/supported-ops.md";

    227 REDUCTION_FORM "the reduction has an unsupported form":
        "The body computes a sum, product, maximum or minimum, or the position of one."
        see "docs/reference/supported-ops.md";

    230 F32_AS_F16 "f32 values are computed in 16 bits":
        "With `--precision device`, f32 values between f16 values use the device's 16-bit format. Give \
         `--precision strict` to reject such programs."
        see "SPY0231";

    231 NEEDS_F32 "the device cannot compute the function in f32":
        "`--precision strict` keeps f32, and the device has no such function in f32. Give `--precision \
         device`."
        see "SPY0230";

    232 ROUNDING_REMOVED "a rounding was removed":
        "With `--rounding relaxed`, a value that is rounded and widened again keeps its wider type.";

    233 ASSERTION_UNCHECKED "an assertion is not checked":
        "The device does not stop a program. Results have no meaning where the condition fails.";

    240 INTEGER_RANGE "integers exceed the range in which the device is exact":
        "The device computes integers in float formats. Bound arguments with `spyre.range`, or use smaller \
         integers."
        see "docs/reference/supported-ops.md";

    241 INTEGER_DIVISOR "an integer divisor may be zero or negative":
        "The device divides by positive integers only. Apply `arith.maxsi` with 1 to the divisor."
        see "SPY0240";

    242 INTEGER_SIGN "unsigned arithmetic on integers that may be negative":
        "Bound the argument to nonnegative values with `spyre.range`."
        see "SPY0240";

    243 INTEGER_WIDTH "the integer width is not supported":
        "Runtime integers have 8, 32 or 64 bits and fit in 32 bits where they are returned.";

    244 INTEGER_RUNTIME "the integer operation is not supported on runtime values":
        "Bit operations and some divisions need operands that are known at compile time."
        see "docs/reference/supported-ops.md";

    245 TRUTH_FORMATS "comparisons and selections have different element types":
        "A comparison in one element type selects between values of another one, and the device has no conversion of \
         truth values. Convert the operands of the comparison."
        see "SPY0208";

    250 SYMBOLIC_SIZE "a symbolic size is used where the device needs one number":
        "A symbolic size stays whole: it is not tiled, reduced, indexed or stored in sticks. Give one size \
         with `--dim-size NAME=SIZE`."
        see "SPY0201";

    251 SYMBOLIC_DECLARATION "the declaration of a symbolic size is not valid":
        "`spyre.symbolic` has one entry per dimension, and a name has one maximum and one granularity."
        see "SPY0250";

    252 KERNEL_NOT_KEPT "a kernel is inlined into a program with given sizes":
        "Kernels require static arguments. With `--dim-size`, called functions become part of the program.";
}
