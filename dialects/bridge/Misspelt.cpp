//===- Misspelt.cpp - suggestions for misspelled op names -----------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Misspelt.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

/// Returns the registered operation name nearest to `name`; empty if none is near. Ops of `func` may be written without
/// their dialect.
static std::string findNearestName(StringRef name, MLIRContext *context) {
  context->loadAllAvailableDialects();
  std::string nearest;
  // A name is a misspelling only if at most a third of its letters differ.
  unsigned distance = std::max<unsigned>(1, name.size() / 3) + 1;
  auto considerCandidate = [&](StringRef candidate) {
    unsigned candidateDistance = name.edit_distance(candidate, /*AllowReplacements=*/true, distance);
    if (candidateDistance < distance) {
      distance = candidateDistance;
      nearest = candidate.str();
    }
  };
  for (RegisteredOperationName candidate : context->getRegisteredOperations()) {
    StringRef spelled = candidate.getStringRef();
    considerCandidate(spelled);
    if (spelled.consume_front("func."))
      considerCandidate(spelled);
  }
  return nearest;
}

/// Adds a note with the nearest name to MLIR's error about an unknown operation (`custom op 'NAME' is unknown`,
/// possibly longer).
static void attachSuggestion(Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  StringRef message = text;
  if (!message.consume_front("custom op '") || !message.contains("' is unknown"))
    return;
  std::string nearest = findNearestName(message.take_until([](char letter) { return letter == '\''; }),
                                        diagnostic.getLocation().getContext());
  if (!nearest.empty())
    diagnostic.attachNote() << "did you mean '" << nearest << "'?";
}

spyre::OpNameSuggestionHandler::OpNameSuggestionHandler(MLIRContext *context)
    : handler(context, [](Diagnostic &diagnostic) {
        attachSuggestion(diagnostic);
        // Other handlers print the diagnostic.
        return failure();
      }) {}
