//===- Generalize.cpp - linalg.generic of named ops -----------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;

void spyreGeneralizeNamedOps(MlirOperation function) {
  SmallVector<linalg::LinalgOp> named;
  unwrap(function)->walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op.getOperation()))
      named.push_back(op);
  });
  IRRewriter rewriter(unwrap(function)->getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    // An op that has no general form stays, and import refuses it by its name.
    (void)linalg::generalizeNamedOp(rewriter, op);
  }
}
