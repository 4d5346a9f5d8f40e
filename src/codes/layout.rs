//! Message codes of layouts.

super::codes! {
    "Layouts", 300..=399;

    300 LAYOUT_MISSING "an op has no device layout":
        "The phase `layout` assigns device layouts. Run it before this pass.";

    301 LAYOUT_CONFLICT "no layout fits all uses of a buffer":
        "The op requires another stick dimension than the buffer has, and no relayout can produce it. Transpose or \
         reshape the tensor before it is passed to the program."
        see "docs/concepts/layouts-and-sticks.md";

    302 LAYOUT_VIEW "an op cannot read its operand through the views":
        "The composition of the views cannot be expressed in the file format. Split the view, or copy the tensor \
         between two views."
        see "docs/concepts/layouts-and-sticks.md";

    304 LAYOUT_STICK "a slice ends inside a stick":
        "The device writes complete sticks. Align the offset and the size of the slice with the stick size."
        see "docs/concepts/layouts-and-sticks.md";

    305 LAYOUT_GATHER "a gather has an unsupported layout":
        "The rows of a gathered table must be contiguous, and its index tensor must have the layout in the message."
        see "docs/reference/supported-ops.md";

    306 LAYOUT_PADDING "an operand of a contraction cannot be padded":
        "The contracted dimension is padded to complete sticks. The view through which the op reads the operand \
         prevents that. Copy the operand before the op.";

    307 LAYOUT_COLUMN "a matmul has a single column or sums a single element":
        "A result with one column does not fill a stick: multiply the transposed tensors instead, so that the result \
         has one row. A matmul that sums one element is an elementwise multiplication.";

    308 LAYOUT_ARGUMENT "an argument or result has no valid layout":
        "The layout in the encoding of the tensor type does not match the shape of the tensor. Correct the layout.";
}
