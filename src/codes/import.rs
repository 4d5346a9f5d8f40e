//! Message codes of the import: ops, types and ranges.

super::codes! {
    "Import: ops, types and ranges", 200..=299;

    200 UNSUPPORTED "the op is not supported in this form":
        "The message names the unsupported form. The page of supported operations lists the supported ones."
        see "docs/reference/supported-ops.md";

    201 DYNAMIC_DIM "a dimension has no static size":
        "The compiler needs the size of every dimension. Give it with `--dim-size NAME=SIZE`, or give a maximum and \
         a step with `NAME=MAX:STEP`."
        see "SPY0202";

    202 DIM_SIZE "the size of a dimension is not valid":
        "`--dim-size` gives each dynamic dimension one positive size, which must match the argument. Static \
         dimensions need no `--dim-size`."
        see "SPY0201";

    203 STATIC_TENSOR "expected tensors of static shape":
        "Arguments, results and operands must be ranked tensors of static shape, not memrefs. Export the program \
         before bufferization."
        see "SPY0201";

    204 EMPTY_TENSOR "a tensor has no elements":
        "A device tensor must have at least one element in each dimension.";

    205 TENSOR_SIZE "a tensor or an op is too large":
        "Sizes in bytes must fit in 64 bits. A tensor has fewer than 2^56 elements, and the iteration space of an op fewer \
         than 2^56 points. Split the op, or use smaller tensors.";

    206 ELEMENT_TYPE "the device has no format for the element type":
        "Supported element types are f16, bf16, f32, f64 (computed as f32), f8 and integers. Convert other types in the \
         tool that exports the program."
        see "docs/reference/supported-ops.md";

    207 NARROWING "the program stores a value in a type with fewer bits":
        "The element type of a result must be able to represent the computed values. Export the program in f32 or \
         f16.";

    208 CONVERSION "this type conversion is not supported":
        "The message names the two types. Some conversions are supported at compile time only, and some only with \
         `--precision mixed`. Convert the values in the tool that exports the program."
        see "docs/reference/supported-ops.md";

    210 TRIP_COUNT "a loop requires a constant trip count":
        "Loops are unrolled at compile time. Export the program with a constant bound and a constant step."
        see "SPY0212";

    211 EXTRACT_RUNTIME "`tensor.extract` at a runtime index is not supported":
        "The device cannot select a single element at an index that is known only at runtime. Gather complete rows \
         instead.";

    212 LOOP_FORM "the loop has an unsupported form":
        "Loops must count upward with a positive step, and conditions must be constants at compile time."
        see "SPY0210";

    213 CONTROL_FLOW "control flow that depends on runtime values is not supported":
        "The device has no branches: a program is a list of ops on tensors. Compute both values and select one with \
         `arith.select`."
        see "SPY0210";

    214 UNROLLED_SIZE "unrolled loops make the program too large":
        "Loops with constant trip counts are unrolled, and the number of ops is limited. Compile the loop body as a \
         program, and run it several times."
        see "SPY0210";

    220 RUNTIME_POSITION "runtime offsets or sizes are not supported here":
        "Offsets, sizes and strides of slices and pads must be constants, except in the forms that the page of \
         supported operations lists."
        see "docs/reference/supported-ops.md";

    221 INDEX_BOUNDS "a constant index is out of bounds":
        "An index that is known at compile time must select an element of the tensor.";

    222 INDEX_COMPUTED "an index cannot be computed":
        "An index must be a constant, an argument, or the result of one of a few supported operations."
        see "docs/reference/supported-ops.md";

    223 TOO_MANY_PARTS "the op expands to too many ops":
        "Windows, strides and runtime positions are expanded into ops on complete tensors, and the number of these \
         ops is limited. Use a smaller window or tensor.";

    224 UNWRITTEN "an op reads a tensor that no op has written":
        "The elements of `tensor.empty` are undefined. Fill the tensor before the op reads it.";

    225 SORT_FORM "the sort has an unsupported form":
        "The comparator must compare two elements of one tensor. The length of the sorted rows is limited."
        see "docs/reference/supported-ops.md";

    226 SCATTER_FORM "the scatter has an unsupported form":
        "A scatter must write or combine complete rows, each at one index."
        see "docs/reference/supported-ops.md";

    227 REDUCTION_FORM "the reduction has an unsupported form":
        "The body must compute a sum, a product, a maximum, a minimum, or the position of a maximum or minimum."
        see "docs/reference/supported-ops.md";

    228 INTEGER_RANGE_CHECKED "the values of an integer argument are checked at launch":
        "An index must select an existing row, and the device computes exactly only with integers in a certain range. A \
         launch rejects values outside of the range in the message. The attribute `spyre.range` of an argument declares \
         a smaller range."
        see "SPY0240";

    229 F64_AS_F32 "f64 values are computed as f32":
        "The device has no f64. Convert the program to f32 or f16 to choose the format."
        see "SPY0230";

    230 F32_AS_F16 "f32 values are computed in 16 bits":
        "Unless `--precision strict` rejects such programs, the device computes these f32 values in its 16-bit format."
        see "SPY0231";

    231 NEEDS_F32 "the device cannot compute the function in f32":
        "`--precision strict` computes f32 values in f32, and the device does not have this function in f32. Use \
         `--precision mixed`."
        see "SPY0230";

    232 ROUNDING_REMOVED "a rounding to a narrower type was removed":
        "With `--rounding relaxed`, a value that the program rounds to a narrower type and widens again is not \
         rounded.";

    233 ASSERTION_UNCHECKED "an assertion is not checked":
        "The device cannot stop a program. If the asserted condition is false, the results are undefined.";

    234 ANGLE_IN_F32 "angles are computed in f32":
        "The program computes the argument of a sine or a cosine in f32, from f32 values or integers. In 16 bits, a \
         large angle has no accurate sine, so the device computes both in f32. Each angle fills two sticks. Use \
         positions that are integers, and frequencies that are constants: their sines are looked up in a table."
        see "SPY0230";

    240 INTEGER_RANGE "integers exceed the range in which the device is exact":
        "The device computes integers in float formats. Declare smaller ranges of arguments with `spyre.range`, or \
         use smaller integers."
        see "docs/reference/supported-ops.md";

    241 INTEGER_DIVISOR "an integer divisor may be zero or negative":
        "The device divides by positive integers only. Apply `arith.maxsi` with 1 to the divisor, so that it is at \
         least 1."
        see "SPY0240";

    242 INTEGER_SIGN "unsigned arithmetic on integers that may be negative":
        "Unsigned operations are supported on nonnegative integers only. Declare that the argument is nonnegative \
         with `spyre.range`."
        see "SPY0240";

    243 INTEGER_WIDTH "the integer width is not supported":
        "Integers that are known only at runtime must have 8, 32 or 64 bits. Returned integers must fit in 32 bits.";

    244 INTEGER_RUNTIME "the integer operation is not supported on runtime values":
        "Bit operations and some divisions require operands that are known at compile time."
        see "docs/reference/supported-ops.md";

    245 TRUTH_FORMATS "comparisons and selections have different element types":
        "A comparison in one element type selects between values of another one, and the compiler emits no op that \
         converts truth values between the two formats. Compare and select in one element type."
        see "SPY0208";

    250 SYMBOLIC_SIZE "a dimension of symbolic size is used where a number is required":
        "A dimension whose size is known only at launch cannot be tiled, reduced, indexed or stored in sticks. Give \
         one size with `--dim-size NAME=SIZE`."
        see "SPY0201";

    251 SYMBOLIC_DECLARATION "the declaration of a symbolic size is not valid":
        "`spyre.symbolic` must have one entry per dimension. Each name must have one maximum and one multiple."
        see "SPY0250";

    252 KERNEL_NOT_KEPT "a kernel is inlined because of `--dim-size`":
        "Kernels require arguments of static shape. With `--dim-size`, the compiler inlines all called functions, \
         and kernels are not tuned or fused.";
}
