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
static std::string nearestTo(StringRef name, MLIRContext *context) {
  context->loadAllAvailableDialects();
  std::string nearest;
  // A name with more than a third of the letters wrong is not a misspelling.
  unsigned distance = std::max<unsigned>(1, name.size() / 3) + 1;
  auto offer = [&](StringRef known) {
    unsigned found = name.edit_distance(known, /*AllowReplacements=*/true, distance);
    if (found < distance) {
      distance = found;
      nearest = known.str();
    }
  };
  for (RegisteredOperationName known : context->getRegisteredOperations()) {
    StringRef spelled = known.getStringRef();
    offer(spelled);
    if (spelled.consume_front("func."))
      offer(spelled);
  }
  return nearest;
}

/// Adds a note with the nearest name to MLIR's error about an unknown operation (`custom op 'NAME' is unknown`,
/// possibly longer).
static void addNearest(Diagnostic &found) {
  std::string said = found.str();
  StringRef message = said;
  if (!message.consume_front("custom op '") || !message.contains("' is unknown"))
    return;
  std::string nearest = nearestTo(message.take_until([](char letter) { return letter == '\''; }), found.getLocation().getContext());
  if (!nearest.empty())
    found.attachNote() << "did you mean '" << nearest << "'?";
}

spyre::MisspeltOperations::MisspeltOperations(MLIRContext *context)
    : handler(context, [](Diagnostic &found) {
        addNearest(found);
        // Other handlers print the diagnostic.
        return failure();
      }) {}
