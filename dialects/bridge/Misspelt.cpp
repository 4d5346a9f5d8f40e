//===- Misspelt.cpp - operations whose names are spelt wrong --------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Misspelt.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"

using namespace mlir;

/// The name of an operation that is nearest to `name`; empty if none is near. Those of `func` are written without their dialect as well.
static std::string nearestTo(StringRef name, MLIRContext *context) {
  context->loadAllAvailableDialects();
  std::string nearest;
  // More than a third of the letters wrong is another word.
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

/// What is said of an operation that no dialect has: `custom op 'NAME' is unknown`, perhaps with more.
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
        // Others print it.
        return failure();
      }) {}
