//! Message codes of bundles, launches and files.

super::codes! {
    "Bundles, launches and files", 900..=999;

    901 POOL_FULL "the buffers of a launch do not fit in the pool":
        "The temporaries of a launch share a pool of limited size. Use smaller tensors, or fewer values that are \
         live at the same time.";

    902 BAKED_TENSORS "a launch with baked addresses has too many tensors":
        "With `--addresses baked`, each tensor needs its own segment, and the number of segments is limited. Use \
         `--addresses symbolic`."
        see "SPY0014";

    903 BUNDLE_ORDER "the module has not been lowered far enough":
        "The pass requires the result of an earlier phase, which the message names. Run that phase first.";

    904 BUNDLE_FORM "the op cannot be expressed in the file format":
        "The device has no op for this combination of dimensions. Rewrite the op, or report the program.";

    905 LAUNCH_FORM "the launch function has an unsupported form":
        "The function that describes a launch may contain only constants, address computations, loops from 0 with \
         step 1, and executions of files."
        see "docs/reference/bundle-format.md";

    906 FILE_NAME "a file name is not valid":
        "A file name in a bundle must be plain, without directories, and must be unique."
        see "docs/reference/bundle-format.md";

    907 CONSTANT "a constant cannot be stored":
        "A constant must have dense elements in a format of the device. Its size is limited.";

    908 FORMAT_RULE "files break a rule of the file format":
        "The message names the rule. If the files were changed by hand or written by another tool, correct them \
         there. If `spyre-compile` wrote them, please report the program."
        see "docs/reference/bundle-format.md";

    909 DIRECTORY_PROGRAMS "a directory can hold only one program":
        "The module contains several programs or bundles. Write each to its own directory.";

    910 LAUNCH_LIMIT "the op exceeds a limit of the file format":
        "The file format limits the number of dimensions and layout classes, and the size of offsets and addresses. \
         Reshape the op, or use smaller tensors."
        see "docs/reference/bundle-format.md";

    911 BUNDLE_FORMAT "the program has no form in the requested file format":
        "Release 1.0.0 of the format lacks some functions and members that torch-spyre's files have. Select another \
         format with `--bundle-format`."
        see "docs/reference/bundle-format.md";
}
