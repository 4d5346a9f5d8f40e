//===- Bridge.h - C functions that MLIR's C API lacks -------------*- C -*-===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// The only interface between C++ and Rust. src/mlir and src/dialect declare the same functions.
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

/// Value of an option of a pass in a textual pipeline. A list option has one value per element.
typedef struct {
  MlirStringRef name;
  MlirStringRef text;
} SpyreOptionText;

/// Runs a pass that was parsed from text on `module`; `hooks` are the registered ones. Returns false after an error
/// that it has reported.
typedef bool (*SpyreTextualRunner)(const void *hooks, MlirStringRef argument, const SpyreOptionText *options, intptr_t count,
                                   MlirOperation module);

/// Receives a text, which is valid during the call. With `isError` the text is an error message. `data` is the pointer
/// that was passed along with the callback.
typedef void (*SpyreTextCallback)(MlirStringRef text, bool isError, void *data);
/// Expands the options of the pipeline `spyre-compile` to the text of a pass pipeline, and passes the text to
/// `callback`.
typedef void (*SpyrePipelineExpander)(const void *hooks, MlirStringRef options, SpyreTextCallback callback, void *data);

/// Adds our passes and our pipeline to MLIR's pass registry, which parses all textual pipelines of the process. Only
/// the first call has an effect. Only textual pipelines need it.
void spyreRegisterPasses(const void *hooks, SpyreTextualRunner runner, SpyrePipelineExpander expander);

/// State of this bridge for a context, with the lifetime of the context.
typedef struct SpyreContextState SpyreContextState;
/// Returns the state of a context.
const SpyreContextState *spyreContextGetState(MlirContext context);

/// Registers the dialects of this project and the upstream dialects that programs use.
void spyreRegisterDialects(MlirDialectRegistry registry);

/// Event in a pass pipeline. `SpyrePipelineBegins` has no pass and no operation.
typedef enum { SpyrePipelineBegins = 0, SpyreBeforePass = 1, SpyreAfterPass = 2 } SpyreEvent;
/// Observes a module or function before and after a pass. Returns false after an error that it has reported.
typedef bool (*SpyrePassObserver)(MlirStringRef pass, MlirOperation operation, SpyreEvent event, void *data);

/// Runs MLIR's opt driver, and returns the exit code. With `--spyre-validate-each` the observer is called around every
/// pass.
int spyreOptMain(int argc, char **argv, SpyrePassObserver observer, void *data);

/// Removes the operations of a function's body that are not marked in `kept` (one entry per operation except the
/// terminator). The function then returns `count` of their results or of its arguments. Used results of removed
/// operations become arguments; unused arguments are removed.
void spyreRetainOps(MlirOperation function, const bool *kept, const MlirValue *returned, intptr_t count);

/// Runs MLIR's language server on standard input and output, and returns the exit code.
int spyreLspServerMain(int argc, char **argv);

/// Adds the dialects and interfaces that lowering to LLVM requires in addition to the dialects of programs.
void spyreRegisterReferenceDialects(MlirDialectRegistry registry);
/// Lowers the module in place and compiles it with the JIT. Returns null after an error, which has been reported. A
/// function `f` becomes `_mlir_ciface_f`, which takes a descriptor by pointer for each argument and then for each
/// result.
MlirExecutionEngine spyreReferenceCreate(MlirModule module, bool optimizes);
/// Installs signal handlers that end the process with a message and exit code 1, while the user's program runs; and
/// restores them. For tools only.
void spyreReferenceBeginGuard(void);
void spyreReferenceEndGuard(void);
/// Converts all floating-point types of the module to f64; false if the result is invalid, which has been reported.
/// With `approximated`, each function with an approximation by the compiler is replaced by the approximation, or by a
/// formula with the opposite error: function i has the opposite error if i and `pattern` have an odd number of bits in
/// common. With `rounds`, each result is rounded to its former type, and sums at their end.
bool spyreReferenceWiden(MlirModule module, bool rounds, bool approximated, unsigned pattern);
/// Returns the number of functions for which the compiler has an approximation.
unsigned spyreReferenceGetNumApproximated(MlirModule module);

/// Converts the named ops in a function to `linalg.generic`. Unlike `linalg-generalize-named-ops` it folds nothing:
/// folding would round numbers to the program's format, and the referee needs the unrounded ones. A converted op has no
/// users left; `onReplaced` erases it.
void spyreGeneralizeNamedOps(MlirOperation function, void (*onReplaced)(MlirOperation op));

/// Lowers ops of the dialect `tosa` to linalg with upstream's passes, if the module has any. Returns false if an op has
/// no lowering, which has been reported.
bool spyreLowerTosa(MlirOperation module);
/// Lowers the remaining ops of `stablehlo` to ops of scf and tm_tensor. Returns false after an error.
bool spyreLowerStablehlo(MlirOperation module);
/// Converts scalar arguments and results of a function to tensors of rank 0; an index becomes a 64-bit integer.
void spyreWrapScalarsInTensors(MlirOperation function);
/// Collapses the outermost dimensions of arguments and results that have more dimensions than a layout holds. Their
/// original shapes become attributes of the arguments and results.
void spyreMergeOuterDims(MlirOperation function);
/// Replaces empty arguments and results of a function by tensors of one element: an unused argument, or a zero as
/// result. The original shape becomes an attribute of the argument or result.
void spyreReplaceEmptyTensors(MlirOperation function);
/// Removes empty tensors from the operands of ops whose results have elements: the results do not depend on them.
void spyreRemoveEmptyTensors(MlirOperation module);
/// Sets the dynamic dimensions of a function's arguments to `sizes`, in order, and makes the shapes that depend on them
/// static. Inlines the callees of the function. Returns false after an error.
bool spyreSpecializeDims(MlirOperation function, const int64_t *sizes);

/// Rewrites operations of a function: `scf.if` outside of linalg bodies becomes both branches and selects, if the
/// branches have no side effects; `tensor.generate` becomes `linalg.generic`.
void spyreNormalizeStructuredOps(MlirOperation function);

/// Diagnostic under construction.
typedef struct SpyreDiagnostic SpyreDiagnostic;
enum SpyreSeverity { SpyreError = 0, SpyreWarning = 1, SpyreRemark = 2 };
SpyreDiagnostic *spyreDiagnosticCreate(MlirLocation location, int severity, MlirStringRef message);
/// Returns the code of an error message without a code: the error comes from MLIR, or from a verifier of our dialects.
unsigned spyreGetDefaultErrorCode(MlirStringRef message);
void spyreDiagnosticAttachNote(SpyreDiagnostic *diagnostic, MlirLocation location, MlirStringRef message);
/// Sends the diagnostic and frees it.
void spyreDiagnosticReport(SpyreDiagnostic *diagnostic);

/// Enables the remarks whose category matches a pattern: `all` for every kind, the other patterns for one kind each. An
/// empty pattern matches nothing. Remarks that are not printed as diagnostics are passed to `yamlCallback` in YAML, one
/// at a time, during the lifetime of the context. Returns false if a pattern is not a regular expression;
/// `errorCallback` receives the reason.
bool spyreEnableRemarks(MlirContext context, MlirStringRef all, MlirStringRef passed, MlirStringRef missed,
                        MlirStringRef analysis, bool isPrinted, SpyreTextCallback yamlCallback, void *yamlData,
                        SpyreTextCallback errorCallback, void *errorData);
/// Returns whether remarks are enabled.
bool spyreAreRemarksEnabled(MlirContext context);
enum SpyreRemarkKind { SpyreRemarkPassed = 0, SpyreRemarkMissed = 1, SpyreRemarkAnalysis = 2 };
/// Emits a remark about a decision in a function, if MLIR's remark engine is enabled.
void spyreEmitRemark(MlirOperation function, MlirLocation location, int kind, MlirStringRef category,
                     MlirStringRef name, MlirStringRef message);

/// Source file with the handler that prints diagnostics with its lines.
typedef struct SpyreSource SpyreSource;
/// Opens a file; `path` "-" is standard input. Locations state `name` as the file. On failure returns null, and
/// `errorCallback` receives the reason.
SpyreSource *spyreSourceOpen(MlirContext context, MlirStringRef path, MlirStringRef name,
                             SpyreTextCallback errorCallback, void *errorData);
/// Creates a source from a copy of `text`; diagnostics use `name` as its file name.
SpyreSource *spyreSourceCreateFromText(MlirContext context, MlirStringRef name, MlirStringRef text);
/// Parses and verifies a source. Returns a null module after an error, which has been reported. With `guards`, a signal
/// in MLIR's parser ends the process with a message and exit code 1: for tools only, because signal handlers belong to
/// the process.
MlirModule spyreSourceParse(SpyreSource *source, bool guards);
void spyreSourceClose(SpyreSource *source);

/// Pass to run. A pass of this project has an `instance` for `SpyreInstanceRunner`; a pass of MLIR has none.
typedef struct {
  MlirStringRef argument;
  const void *instance;
} SpyrePassInstance;

/// Runs an instance on `module`. Returns false after an error that it has reported.
typedef bool (*SpyreInstanceRunner)(const void *instance, MlirOperation module);

/// Runs passes on a module, in order. Returns false if a pass failed (reported at the module). Neither parses text nor
/// uses MLIR's pass registry.
bool spyreRunPasses(MlirModule module, const SpyrePassInstance *passes, intptr_t count, bool verifies, SpyreInstanceRunner runner);

/// Runs a textual pass pipeline on a module, using MLIR's pass registry. Returns false if the pipeline is malformed or
/// a pass failed (reported at the module).
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
/// Returns the number of the format in `Enums.td`; -1 stands for the format of the element type.
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
MlirAttribute spyreTileHintAttrGet(MlirContext context, int64_t id, MlirStringRef dim, int64_t count, MlirStringRef symbol, bool recompute);
bool spyreTileHintAttrGetRecompute(MlirAttribute hint);
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
/// Returns the number of values of a knob, and writes at most `capacity` of them to `choices`.
intptr_t spyreKnobAttrGetChoices(MlirAttribute knob, intptr_t capacity, int64_t *choices);
/// Returns the knob with `value` as its value.
MlirAttribute spyreKnobAttrGetWithValue(MlirAttribute knob, int64_t value);
/// Returns the knob's condition on the values of all knobs of its kernel; empty if it has none.
MlirStringRef spyreKnobAttrGetCondition(MlirAttribute knob);
/// Returns whether a condition holds for knobs with these names and values; false if it cannot be parsed.
bool spyreConditionHolds(MlirStringRef condition, intptr_t count, const MlirStringRef *names, const int64_t *values);

/// Returns the rank of the iteration space of a compute op, and writes at most `capacity` of its sizes to `sizes`; -1
/// for other ops.
intptr_t spyreComputeOpGetIterationSpace(MlirOperation op, intptr_t capacity, int64_t *sizes);
unsigned spyreComputeOpGetNumReductionDims(MlirOperation op);
/// Returns the number of the op's family in `Enums.td`.
int spyreComputeOpGetFamily(MlirOperation op);
MlirStringRef spyreComputeOpGetDeviceFunction(MlirOperation op);
/// Returns the index of the operand whose buffer the result of a compute op overwrites; -1 if the result has its own
/// buffer.
intptr_t spyreComputeOpGetOverwrittenOperand(MlirOperation op);
/// Returns the source of a view op of our dialect; null for other ops.
MlirValue spyreViewOpGetSource(MlirOperation op);
/// Returns the access map of operand `index`; the last index is the result.
MlirAffineMap spyreComputeOpGetAccessMap(MlirOperation op, intptr_t index);
/// Returns the type of one of `count` tiles along `dim`; null if `count` does not divide the size.
MlirType spyreGetTileType(MlirType full, int64_t dim, int64_t count);

/// Returns the bytes of a `dense` or `dense_resource` attribute in MLIR's form: consecutive elements of whole bytes,
/// one element for a splat, and booleans of `dense` packed as bits. Returns false for other attributes and for a
/// resource without content.
bool spyreElementsGetRawData(MlirAttribute attribute, const char **data, intptr_t *bytes, bool *isSplat);
/// Returns a `dense` or `dense_resource` attribute with another shape of as many elements; null for other attributes.
MlirAttribute spyreElementsReshape(MlirAttribute attribute, MlirType type);

/// Returns whether an attribute is the iterator type of a reduction dimension.
bool spyreIteratorIsReduction(MlirAttribute iterator);

/// Returns the parameters of an `#sdsc` attribute as a dictionary of builtin attributes; null for other attributes.
MlirAttribute sdscAttributeGetParameters(MlirAttribute attribute);
/// Returns the `#sdsc` attribute of a mnemonic. The parameters must be complete and valid.
MlirAttribute sdscAttributeGet(MlirStringRef mnemonic, MlirAttribute parameters);

MlirType sdscbundleInputArgTypeGet(MlirContext context, int64_t granularity, int64_t maxValue);
/// Returns 0 for an address, and for other types.
int64_t sdscbundleInputArgTypeGetGranularity(MlirType inputArg);
int64_t sdscbundleInputArgTypeGetMaxValue(MlirType inputArg);

#ifdef __cplusplus
}
#endif

#endif // SPYRE_BRIDGE_H
