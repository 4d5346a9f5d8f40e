//===- Generalize.cpp - normalization of structured ops -------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

bool spyreIteratorIsReduction(MlirAttribute iterator) {
  auto type = dyn_cast<linalg::IteratorTypeAttr>(unwrap(iterator));
  return type && type.getValue() == utils::IteratorType::reduction;
}

void spyreGeneralizeNamedOps(MlirOperation function, void (*onReplaced)(MlirOperation op)) {
  SmallVector<linalg::LinalgOp> named;
  unwrap(function)->walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op.getOperation()))
      named.push_back(op);
  });
  IRRewriter rewriter(unwrap(function)->getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    // The rewriter frees the op that it replaces. Rust may hold a handle to the op, so a copy is replaced.
    auto copy = cast<linalg::LinalgOp>(rewriter.clone(*op));
    FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, copy);
    if (failed(generic)) {
      // An op without a generic form is kept; the import rejects it by name.
      rewriter.eraseOp(copy);
      continue;
    }
    rewriter.replaceAllUsesWith(op->getResults(), generic->getResults());
    onReplaced(wrap(op.getOperation()));
  }
}

namespace {
/// Replaces `scf.if` by both branches and selects of their results; by one branch if the condition is constant. Leaves
/// the op unchanged if the condition is dynamic and a branch has side effects.
void convertIfToSelects(IRRewriter &rewriter, scf::IfOp branches) {
  auto isPure = [](Block *block) {
    return !block || llvm::all_of(block->without_terminator(), [](Operation &op) { return isMemoryEffectFree(&op); });
  };
  Block *then = branches.thenBlock(), *otherwise = branches.elseBlock();
  BoolAttr constantCondition;
  if (!matchPattern(branches.getCondition(), m_Constant(&constantCondition)) && !(isPure(then) && isPure(otherwise)))
    return;
  auto inlineBlock = [&](Block *block) -> SmallVector<Value> {
    SmallVector<Value> values(block->getTerminator()->getOperands());
    rewriter.eraseOp(block->getTerminator());
    rewriter.inlineBlockBefore(block, branches);
    return values;
  };
  if (constantCondition) {
    Block *selected = constantCondition.getValue() ? then : otherwise;
    rewriter.replaceOp(branches, selected ? inlineBlock(selected) : SmallVector<Value>());
    return;
  }
  Value condition = branches.getCondition();
  Location location = branches.getLoc();
  SmallVector<Value> results, values = inlineBlock(then);
  if (otherwise)
    for (auto [trueValue, falseValue] : llvm::zip(values, inlineBlock(otherwise)))
      results.push_back(arith::SelectOp::create(rewriter, location, condition, trueValue, falseValue));
  rewriter.replaceOp(branches, results);
}
} // namespace

void spyreNormalizeStructuredOps(MlirOperation function) {
  SmallVector<Operation *> ops;
  unwrap(function)->walk([&](Operation *op) {
    // Inside linalg bodies `scf.if` selects elements, and is kept.
    if (isa<scf::IfOp, tensor::GenerateOp>(op) && !op->getParentOfType<linalg::LinalgOp>())
      ops.push_back(op);
  });
  IRRewriter rewriter(unwrap(function)->getContext());
  // The walk is post-order, so nested ops are rewritten first.
  for (Operation *op : ops) {
    rewriter.setInsertionPoint(op);
    if (auto branches = dyn_cast<scf::IfOp>(op))
      convertIfToSelects(rewriter, branches);
    else
      (void)linalg::rewriteInDestinationPassingStyle(rewriter, cast<tensor::GenerateOp>(op));
  }
}
