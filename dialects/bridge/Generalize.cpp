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

void spyreGeneralizeNamedOps(MlirOperation function, void (*replaced)(MlirOperation op)) {
  SmallVector<linalg::LinalgOp> named;
  unwrap(function)->walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp>(op.getOperation()))
      named.push_back(op);
  });
  IRRewriter rewriter(unwrap(function)->getContext());
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    // The rewriter frees what it replaces, which Rust may still point at: so it replaces a copy.
    auto copy = cast<linalg::LinalgOp>(rewriter.clone(*op));
    FailureOr<linalg::GenericOp> generic = linalg::generalizeNamedOp(rewriter, copy);
    if (failed(generic)) {
      // An op that has no general form stays, and import refuses it by its name.
      rewriter.eraseOp(copy);
      continue;
    }
    rewriter.replaceAllUsesWith(op->getResults(), generic->getResults());
    replaced(wrap(op.getOperation()));
  }
}
