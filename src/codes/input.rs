//! Message codes of input files and the entry point.

super::codes! {
    "Input files and entry point", 100..=199;

    100 INPUT_READ "an input file cannot be read":
        "The message ends with the reason that the operating system gives, and with a similar file name if there is \
         one.";

    101 INPUT_NOT_MLIR "the input is not an MLIR module":
        "The compiler reads MLIR as text or bytecode. Export a PyTorch, JAX or ONNX model to MLIR first."
        see "docs/getting-started/pytorch.md";

    102 INPUT_NESTING "the input nests too deeply":
        "The parser limits the nesting of brackets, operators and aliases, so that a file cannot cause a stack \
         overflow. Write the input with less nesting."
        see "docs/reference/untrusted-input.md";

    103 BYTECODE_VERSION "the bytecode comes from another MLIR version":
        "An older version of MLIR cannot read bytecode of a newer one. Write the module as text instead."
        see "docs/reference/versions.md";

    104 FOREIGN_DIALECT "the program has ops of a dialect that is not supported":
        "A program consists of `linalg`, `tensor`, `arith`, `math`, `scf`, `tosa` and `spyre` ops. Lower other dialects \
         first, with the tool that the message names."
        see "docs/reference/supported-ops.md";

    105 EMPTY_MODULE "the module is empty":
        "The module contains no function. Add a function of `linalg` ops on tensors.";

    106 PHASE_ATTRIBUTE "the phase of the module does not match":
        "The attribute `spyre.phase` names the last phase that was applied to the module. A module with ops of a late \
         phase must have it. Phases cannot be undone: give a later phase to `--compile-to`, or start from an earlier \
         module."
        see "docs/reference/tools.md";

    107 SLICE_BOUNDS "a slice exceeds its tensor":
        "Offset, size and stride of a slice must select elements inside the tensor."
        see "SPY0221";

    108 MACHINE_FILE "the machine description cannot be read":
        "`--target` takes a JSON object of numbers, such as `{\"cores\": 4}`.";

    110 ENTRY_POINT "expected one public function":
        "One public function becomes the program. If a module has several public functions, select one with `--entry \
         NAME`."
        see "SPY0111";

    111 NO_SUCH_FUNCTION "the function named by `--entry` does not exist":
        "The message lists the functions of the module that have a body."
        see "SPY0110";

    112 EXTERNAL_CALL "a called function has no body":
        "Calls are inlined, so every called function needs a body. Define the function, or link the module that \
         defines it.";

    113 RECURSIVE_CALL "functions call each other in a cycle":
        "Calls are inlined, so recursive functions are not supported. Write the repetition as an `scf.for` with a \
         constant trip count."
        see "SPY0210";

    114 INLINED_SIZE "inlined calls make the program too large":
        "Calls are inlined, and the number of ops of the result is limited. Split the program, or call large \
         functions fewer times.";

    120 INVALID_OPERATION "an operation violates the rules of its dialect":
        "The verifier of the operation rejects it. The reference page of the operation lists its operands, attributes \
         and rules."
        see "docs/reference/generated/spyre.md";

    121 REJECTED_BY_MLIR "MLIR rejects the module":
        "The message comes from a parser or verifier of MLIR itself: the text is not valid MLIR, or an operation of an \
         upstream dialect is used wrongly. `mlir-opt` reports the same."
        see "https://mlir.llvm.org/docs/Dialects/";
}
