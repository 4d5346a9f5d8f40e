//===- Reduce.cpp - removal of ops from a function ------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

/// Sets the values that the function returns, and updates its type.
static void setReturnedValues(func::FuncOp function, ArrayRef<Value> returned) {
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->setOperands(returned);
  // The attributes of the old results do not apply to the new ones.
  function.removeResAttrsAttr();
  FunctionType type = function.getFunctionType();
  function.setFunctionType(FunctionType::get(function.getContext(), type.getInputs(), ValueRange(returned).getTypes()));
}

void spyreRetainOps(MlirOperation operation, const bool *kept, const MlirValue *returned, intptr_t count) {
  auto function = cast<func::FuncOp>(unwrap(operation));
  Block &body = function.getBody().front();
  SmallVector<Value> values;
  for (MlirValue value : llvm::ArrayRef(returned, count))
    values.push_back(unwrap(value));
  setReturnedValues(function, values);
  SmallVector<Operation *> erased;
  for (auto [op, isKept] : llvm::zip(body.without_terminator(), llvm::ArrayRef(kept, std::distance(body.begin(), body.end()) - 1)))
    if (!isKept)
      erased.push_back(&op);
  for (Operation *op : llvm::reverse(erased)) {
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
