//===- Reduce.cpp - a part of a function ----------------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

/// Gives the function new operands to return, and its type to go with them.
static void setReturned(func::FuncOp function, ArrayRef<Value> returned) {
  Operation *end = function.getBody().front().getTerminator();
  end->setOperands(returned);
  // Names of results that are gone, and whatever else is said of them, go with them.
  function.removeResAttrsAttr();
  FunctionType type = function.getFunctionType();
  function.setFunctionType(FunctionType::get(function.getContext(), type.getInputs(), ValueRange(returned).getTypes()));
}

void spyreKeepPart(MlirOperation operation, const bool *kept, const MlirValue *returned, intptr_t count) {
  auto function = cast<func::FuncOp>(unwrap(operation));
  Block &body = function.getBody().front();
  SmallVector<Value> values;
  for (MlirValue value : llvm::ArrayRef(returned, count))
    values.push_back(unwrap(value));
  setReturned(function, values);
  SmallVector<Operation *> gone;
  for (auto [op, isKept] : llvm::zip(body.without_terminator(), llvm::ArrayRef(kept, std::distance(body.begin(), body.end()) - 1)))
    if (!isKept)
      gone.push_back(&op);
  for (Operation *op : llvm::reverse(gone)) {
    for (OpResult result : op->getResults()) {
      if (result.use_empty())
        continue;
      unsigned index = function.getNumArguments();
      (void)function.insertArgument(index, result.getType(), DictionaryAttr(), op->getLoc());
      result.replaceAllUsesWith(function.getArgument(index));
    }
    op->erase();
  }
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  (void)function.eraseArguments(unused);
}
