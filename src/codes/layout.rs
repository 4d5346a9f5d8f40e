//! Codes of messages: layouts.

super::codes! {
    "Layouts", 300..=399;

    300 LAYOUT_MISSING "an op has no device layout":
        "The layout phase assigns layouts. Run it before this pass.";

    301 LAYOUT_CONFLICT "no layout fits all uses of a buffer":
        "The op needs other elements in its sticks than the buffer has, and no relayout connects the two. \
         Transpose or reshape in the producer."
        see "docs/concepts/layouts-and-sticks.md";

    302 LAYOUT_VIEW "an op cannot read its operand through the views":
        "The composed view has no form on the device. Split the view, or copy the tensor between the views."
        see "docs/concepts/layouts-and-sticks.md";

    304 LAYOUT_STICK "a slice ends inside a stick":
        "The device writes whole sticks. Align offset and size of the slice with the stick."
        see "docs/concepts/layouts-and-sticks.md";

    305 LAYOUT_GATHER "a gather has an unsupported layout":
        "A gathered table is contiguous along its rows, and its index tensor has the layout in the message."
        see "docs/reference/supported-ops.md";

    306 LAYOUT_PADDING "the padded operand has no form on the device":
        "A contraction is padded to whole sticks. The view in front of it prevents that.";

    307 LAYOUT_COLUMN "a product with a single column is not supported":
        "One column fills no stick. Multiply the transposed tensors, with one row.";

    308 LAYOUT_ARGUMENT "an argument or result has no valid layout":
        "The layout in the encoding of the tensor type does not match its shape.";
}
