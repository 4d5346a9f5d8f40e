//===- Bridge.h - what MLIR's C API lacks, as C functions -------*- C -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// The only interface between the C++ of this folder and Rust; src/mlir and src/dialect declare the same functions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_H
#define SPYRE_BRIDGE_H

#include "mlir-c/AffineMap.h"
#include "mlir-c/ExecutionEngine.h"
#include "mlir-c/IR.h"
#include "mlir-c/Support.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A value of an option of a pass that was made from the text of a pipeline. A list has one for each element.
typedef struct {
  MlirStringRef name;
  MlirStringRef text;
} SpyreOptionText;

/// Runs a pass that was made from text on `module`; `hooks` is what was registered. False: it has reported an error.
typedef bool (*SpyreTextualRunner)(const void *hooks, MlirStringRef argument, const SpyreOptionText *options, intptr_t count,
                                   MlirOperation module);

/// Expands the options of the pipeline `spyre-compile` to the text of a pass pipeline, handed to `answer` with `data`; with
/// `isError` the text is a message.
typedef void (*SpyrePipelineAnswer)(MlirStringRef text, bool isError, void *data);
typedef void (*SpyrePipelineExpander)(const void *hooks, MlirStringRef options, SpyrePipelineAnswer answer, void *data);

/// Adds our passes and our pipeline to MLIR's registry, which every textual pipeline of the process is read by. Only the first call has an
/// effect; nothing else needs one.
void spyreRegisterPasses(const void *hooks, SpyreTextualRunner runner, SpyrePipelineExpander expander);

/// What we keep of a context; it lives as long as the context.
typedef struct SpyreContextState SpyreContextState;
const SpyreContextState *spyreContextState(MlirContext context);

/// Adds our dialects and the upstream ones that programs are made of.
void spyreRegisterDialects(MlirDialectRegistry registry);

/// What happens in a pipeline. Where one begins there is no pass and no operation.
typedef enum { SpyrePipelineBegins = 0, SpyreBeforePass = 1, SpyreAfterPass = 2 } SpyreEvent;
/// Looks at a module or function before and after a pass; false: it has reported an error.
typedef bool (*SpyrePassObserver)(MlirStringRef pass, MlirOperation operation, SpyreEvent event, void *data);

/// MLIR's opt driver; returns the exit code. With `--spyre-validate-each` the observer looks at every pass.
int spyreOptMain(int argc, char **argv, SpyrePassObserver observer, void *data);

/// Keeps operations of a function's body (`kept` has one entry for each but the terminator) and returns `count` values of what is kept, or of
/// arguments. Results of the others that are used become arguments; arguments without a use go.
void spyreKeepPart(MlirOperation function, const bool *kept, const MlirValue *returned, intptr_t count);

/// MLIR's language server on standard input and output; returns the exit code.
int spyreLspServerMain(int argc, char **argv);

/// Adds what lowering to LLVM needs beyond the dialects of programs.
void spyreRegisterReferenceDialects(MlirDialectRegistry registry);
/// Lowers the module in place and hands it to the JIT; null if that failed, which has been reported. A function `f` becomes
/// `_mlir_ciface_f`, which takes a descriptor by pointer for each argument and then for each result.
MlirExecutionEngine spyreReferenceCreate(MlirModule module, bool optimizes);
/// Between the two a signal ends the process with a message and exit code 1: what runs is the user's program. For tools alone.
void spyreReferenceGuard(void);
void spyreReferenceEndGuard(void);
/// Makes f64 of all floating-point numbers of the module; false if what comes of it is not valid, which has been reported. With
/// `approximated`, functions for which the compiler states an approximation are replaced by it, or by what is off by as much to the other
/// side: function i if i and the pattern have an odd number of bits in common.
bool spyreReferenceWiden(MlirModule module, bool approximated, unsigned pattern);
/// How many such functions the module has.
unsigned spyreReferenceApproximated(MlirModule module);

/// Makes `linalg.generic` of the named ops in a function and, unlike `linalg-generalize-named-ops`, folds nothing: what folding rounds to
/// the program's format is a number that a referee asks for.
/// A named op has no users then and is left to `replaced`, which takes it out.
void spyreGeneralizeNamedOps(MlirOperation function, void (*replaced)(MlirOperation op));

/// Lowers ops of the dialect `tosa` to linalg by upstream's passes, if the module has any. False if one has no lowering, which has been
/// reported.
bool spyreLowerTosa(MlirOperation module);
/// Turns what JAX leaves of `stablehlo` in functions into ops of scf and tm_tensor; false after an error.
bool spyreLowerStablehlo(MlirOperation module);
/// Makes tensors without dimensions of the numbers that a function takes and returns; an index is a number of 64 bits.
void spyreBoxNumbers(MlirOperation function);
/// Makes the outermost dimensions one, of tensors that a function takes or returns and that have more than a layout holds; their shapes
/// are attributes of arguments and results then.
void spyreMergeDims(MlirOperation function);
/// Makes a tensor of one element of each tensor without elements that a function takes or returns: one that nothing reads, or zero; its shape
/// is an attribute of the argument or the result then.
void spyreBoxEmpty(MlirOperation function);
/// Takes tensors without elements out of what computes with others: what reads none of their elements is what it would be without them.
void spyreDropEmpty(MlirOperation module);
/// Gives sizes to the dynamic dimensions of a function's arguments, in their order, and makes static what follows from them. Inlines what
/// the function calls.
bool spyreSpecialize(MlirOperation function, const int64_t *sizes);

/// Spells operations of a function as others: `scf.if` outside of bodies as both branches and a choice, where neither has an effect, and
/// `tensor.generate` as `linalg.generic`.
void spyreSpellPlainly(MlirOperation function);

/// A diagnostic under construction.
typedef struct SpyreDiagnostic SpyreDiagnostic;
enum SpyreSeverity { SpyreError = 0, SpyreWarning = 1, SpyreRemark = 2 };
SpyreDiagnostic *spyreDiagnosticCreate(MlirLocation location, int severity, MlirStringRef message);
/// Returns the code of an error whose message has none: it comes from MLIR, or from a verifier of our dialects.
unsigned spyreCodeOfUncoded(MlirStringRef message);
void spyreDiagnosticNote(SpyreDiagnostic *diagnostic, MlirLocation location, MlirStringRef message);
/// Sends the diagnostic and frees it.
void spyreDiagnosticReport(SpyreDiagnostic *diagnostic);

/// Asks for the remarks whose category one of the patterns matches: `all` of every kind, the others of one. An empty pattern matches none.
/// Those that are not printed as diagnostics are given to `takes` in YAML, one at a time, as long as the context lives. False if a pattern is
/// no regular expression; `answer` gets the reason.
bool spyreAskForRemarks(MlirContext context, MlirStringRef all, MlirStringRef passed, MlirStringRef missed, MlirStringRef analysis,
                        bool isPrinted, SpyrePipelineAnswer takes, void *taken, SpyrePipelineAnswer answer, void *data);
/// Whether anybody asked for remarks.
bool spyreWantsRemarks(MlirContext context);
enum SpyreRemarkKind { SpyreRemarkPassed = 0, SpyreRemarkMissed = 1, SpyreRemarkAnalysis = 2 };
/// Tells MLIR's remark engine, if there is one, what was decided in a function.
void spyreRemark(MlirOperation function, MlirLocation location, int kind, MlirStringRef category, MlirStringRef name,
                 MlirStringRef message);

/// A source file with the handler that prints diagnostics with its lines.
typedef struct SpyreSource SpyreSource;
/// `path` "-" is standard input. On failure gives null, and `answer` gets the reason.
SpyreSource *spyreSourceOpen(MlirContext context, MlirStringRef path, SpyrePipelineAnswer answer, void *data);
/// The same of a text, which is copied; diagnostics call it `name`.
SpyreSource *spyreSourceOfText(MlirContext context, MlirStringRef name, MlirStringRef text);
/// Parses and verifies; a null module if that failed (it has been reported). With `guards`, a signal in MLIR's parser ends the process with a
/// message and exit code 1: for tools alone, as handlers of signals are those of the whole process.
MlirModule spyreSourceParse(SpyreSource *source, bool guards);
void spyreSourceClose(SpyreSource *source);

/// A pass to run. One of ours has an `instance`, which `SpyreInstanceRunner` gets; one of MLIR's has none.
typedef struct {
  MlirStringRef argument;
  const void *instance;
} SpyrePassInstance;

/// Runs an instance on `module`; false: it has reported an error.
typedef bool (*SpyreInstanceRunner)(const void *instance, MlirOperation module);

/// Runs passes on a module, one after the other; false if one failed (reported at the module). No text is read, and MLIR's registry of passes
/// is not looked at.
bool spyreRunPasses(MlirModule module, const SpyrePassInstance *passes, intptr_t count, bool verifies, SpyreInstanceRunner runner);

/// Runs a textual pass pipeline on a module, by MLIR's registry of passes; false if it is malformed or a pass failed (reported at the module).
bool spyreRunPipeline(MlirModule module, MlirStringRef pipeline, bool verifies);

//===----------------------------------------------------------------------===//
// Dialect attributes and interfaces
//===----------------------------------------------------------------------===//

bool spyreAttributeIsALayout(MlirAttribute attribute);
MlirAttribute spyreLayoutAttrGet(MlirContext context, intptr_t rank, const int64_t *deviceSize, const int64_t *strideMap,
                                 int format, intptr_t bufferRank, const int64_t *bufferShape);
intptr_t spyreLayoutAttrGetRank(MlirAttribute layout);
const int64_t *spyreLayoutAttrGetDeviceSize(MlirAttribute layout);
const int64_t *spyreLayoutAttrGetStrideMap(MlirAttribute layout);
/// The number of the format in `Enums.td`; -1: that of the element type.
int spyreLayoutAttrGetFormat(MlirAttribute layout);
intptr_t spyreLayoutAttrGetBufferRank(MlirAttribute layout);
const int64_t *spyreLayoutAttrGetBufferShape(MlirAttribute layout);

bool spyreAttributeIsAWork(MlirAttribute attribute);
MlirAttribute spyreWorkAttrGet(MlirContext context, intptr_t rank, const int64_t *slices, intptr_t orderRank, const int64_t *order);
intptr_t spyreWorkAttrGetRank(MlirAttribute work);
const int64_t *spyreWorkAttrGetSlices(MlirAttribute work);
intptr_t spyreWorkAttrGetOrderRank(MlirAttribute work);
const int64_t *spyreWorkAttrGetOrder(MlirAttribute work);

bool spyreAttributeIsAPlace(MlirAttribute attribute);
MlirAttribute spyrePlaceAttrGet(MlirContext context, int memory, int64_t offsetBytes, MlirStringRef reason);
int spyrePlaceAttrGetMemory(MlirAttribute place);
int64_t spyrePlaceAttrGetOffsetBytes(MlirAttribute place);
MlirStringRef spyrePlaceAttrGetReason(MlirAttribute place);

bool spyreAttributeIsATileHint(MlirAttribute attribute);
MlirAttribute spyreTileHintAttrGet(MlirContext context, int64_t id, MlirStringRef dim, int64_t count, MlirStringRef symbol, bool again);
bool spyreTileHintAttrGetAgain(MlirAttribute hint);
int64_t spyreTileHintAttrGetId(MlirAttribute hint);
MlirStringRef spyreTileHintAttrGetDim(MlirAttribute hint);
int64_t spyreTileHintAttrGetCount(MlirAttribute hint);
MlirStringRef spyreTileHintAttrGetSymbol(MlirAttribute hint);

bool spyreAttributeIsAWorkHint(MlirAttribute attribute);
MlirAttribute spyreWorkHintAttrGet(MlirContext context, int64_t id, MlirStringRef dim, int64_t slices);
int64_t spyreWorkHintAttrGetId(MlirAttribute hint);
MlirStringRef spyreWorkHintAttrGetDim(MlirAttribute hint);
int64_t spyreWorkHintAttrGetSlices(MlirAttribute hint);

bool spyreAttributeIsAKnob(MlirAttribute attribute);
MlirStringRef spyreKnobAttrGetName(MlirAttribute knob);
int64_t spyreKnobAttrGetValue(MlirAttribute knob);
/// How many values the knob may have; `choices` has room for `capacity` of them.
intptr_t spyreKnobAttrGetChoices(MlirAttribute knob, intptr_t capacity, int64_t *choices);
/// The knob with another of its values.
MlirAttribute spyreKnobAttrWithValue(MlirAttribute knob, int64_t value);
/// What the knob says about the values of all knobs of its kernel; empty for nothing.
MlirStringRef spyreKnobAttrGetCondition(MlirAttribute knob);
/// Whether a condition holds for knobs with these names and values; false if it cannot be read.
bool spyreConditionHolds(MlirStringRef condition, intptr_t count, const MlirStringRef *names, const int64_t *values);

/// The iteration space of a compute op: -1 if `op` is none, else its rank; `sizes` has room for `capacity` numbers.
intptr_t spyreComputeOpGetIterationSpace(MlirOperation op, intptr_t capacity, int64_t *sizes);
unsigned spyreComputeOpGetNumReductionDims(MlirOperation op);
/// The number of the op's family in `Enums.td`.
int spyreComputeOpGetFamily(MlirOperation op);
MlirStringRef spyreComputeOpGetDeviceFunction(MlirOperation op);
/// The operand that the result of a compute op overwrites, as its buffer; -1 if the result is a buffer of its own.
intptr_t spyreOverwrittenOperand(MlirOperation op);
/// What a view of ours shows; null if the op is none.
MlirValue spyreViewSource(MlirOperation op);
/// The access map of operand `index`; the last one is the result's.
MlirAffineMap spyreComputeOpGetAccessMap(MlirOperation op, intptr_t index);
/// The type of one of `count` tiles along `dim`; null where `count` does not divide.
MlirType spyreTileType(MlirType full, int64_t dim, int64_t count);

/// The bytes of a `dense` or `dense_resource` attribute as MLIR stores them: elements one after another, each in whole bytes; of a splat
/// just one element; the booleans of `dense` packed as bits. False for another attribute and for a resource without content.
bool spyreElementsGetRawData(MlirAttribute attribute, const char **data, intptr_t *bytes, bool *isSplat);
/// A `dense` or `dense_resource` attribute as a tensor of another shape with as many elements of the same type; null for another attribute.
MlirAttribute spyreElementsReshaped(MlirAttribute attribute, MlirType type);

/// Whether an attribute is the iterator type of a dimension that is reduced.
bool spyreIteratorIsReduction(MlirAttribute iterator);

/// The parameters of an `#sdsc` attribute as a dictionary of builtin attributes; null for any other attribute.
MlirAttribute sdscAttributeParameters(MlirAttribute attribute);
/// The `#sdsc` attribute of that mnemonic with the given parameters; the caller knows that they are complete and valid.
MlirAttribute sdscAttributeGet(MlirStringRef mnemonic, MlirAttribute parameters);

MlirType sdscbundleInputArgTypeGet(MlirContext context, int64_t granularity, int64_t maxValue);
/// 0 for an address, and for a type of another kind.
int64_t sdscbundleInputArgTypeGetGranularity(MlirType inputArg);
int64_t sdscbundleInputArgTypeGetMaxValue(MlirType inputArg);

#ifdef __cplusplus
}
#endif

#endif // SPYRE_BRIDGE_H
