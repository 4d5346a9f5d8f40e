//! Codes of messages: bundles, launches and files.

super::codes! {
    "Bundles, launches and files", 900..=999;

    901 POOL_FULL "the buffers of a launch do not fit in the pool":
        "Buffers between launches share a pool of limited size. Use smaller tensors, or fewer live values.";

    902 BAKED_TENSORS "a launch with baked addresses has too many tensors":
        "Baked addresses use one segment per tensor. Use `--addresses symbolic`."
        see "SPY0014";

    903 BUNDLE_ORDER "the module has not been lowered far enough":
        "The pass reads the result of an earlier phase, which the message names.";

    904 BUNDLE_FORM "the op has no form in a launch":
        "The device has no op for this combination of dimensions. Rewrite the op, or report the program.";

    905 LAUNCH_FORM "the launch function has an unsupported form":
        "`bundle.mlir` has constants, address computations, loops from 0 in steps of 1, and executions of \
         files."
        see "docs/reference/bundle-format.md";

    906 FILE_NAME "a file name is not valid":
        "Files of a bundle have plain names, and no two have the same name."
        see "docs/reference/bundle-format.md";

    907 CONSTANT "a constant cannot be stored":
        "Constants are dense elements in a format of the device, up to a size limit.";

    908 FORMAT_RULE "written files break a rule of the format":
        "The message names the rule. Files made by hand must follow the rules; files of the compiler always \
         do."
        see "docs/reference/bundle-format.md";

    909 DIRECTORY_PROGRAMS "a directory holds one program":
        "The module has a second program or bundle. Write each to its own directory.";

    910 LAUNCH_LIMIT "the op exceeds a limit of the file format":
        "The format limits dimensions, layout classes, offsets and addresses. Reshape the op, or use smaller \
         tensors."
        see "docs/reference/bundle-format.md";
}
