//===- Spyre.h - C++ classes of the spyre dialect -------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_SPYRE_H
#define SPYRE_SPYRE_H

#include "Enums.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace spyre {
/// Verifies compute_c1 and compute_c2 for any compute op.
llvm::LogicalResult verifyComputeOp(mlir::Operation *op);

/// Returns the number of elements of `type` in a 128-byte stick of `format`, by default the format of the element type;
/// 0 if there is no format.
int64_t getElementsPerStick(mlir::Type type, std::optional<machine::Format> format);

/// Returns whether `name` is a valid name of a symbolic count: a letter, then letters, digits and '_'.
bool isCountSymbol(llvm::StringRef name);

/// Result of the evaluation of a condition over knobs.
enum class ConditionResult { Holds, Fails, Malformed };

/// Evaluates a condition over knobs, with the values that `lookupKnob` returns. If `lookupKnob` is null, the condition
/// is only parsed. Sets `message` if the condition is malformed.
ConditionResult evaluateCondition(llvm::StringRef text,
                                  llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> lookupKnob,
                                  std::string &message);
} // namespace spyre

#include "SpyreDialect.h.inc"
#include "SpyreInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "SpyreAttrs.h.inc"

#define GET_OP_CLASSES
#include "SpyreOps.h.inc"

namespace spyre {
/// Rejects attributes whose types differ from those that `Op` declares. Custom parsers must call this function, because
/// MLIR drops such attributes silently.
template <typename Op>
llvm::ParseResult verifyParsedAttributes(mlir::OpAsmParser &parser, mlir::OperationState &state) {
  auto emitError = [&] { return parser.emitError(parser.getNameLoc()) << "'" << state.name << "' op "; };
  return Op::verifyInherentAttrs(state.name, state.attributes, emitError);
}
} // namespace spyre

#endif // SPYRE_SPYRE_H
