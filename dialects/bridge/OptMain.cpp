//===- OptMain.cpp - the opt driver with our dialects ---------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Sdsc.h"
#include "SdscBundle.h"
#include "Spyre.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

using namespace mlir;

// Only what programs and bundles are made of: registering every upstream dialect makes the tools several times larger
// and slower to start.
void spyreRegisterDialects(MlirDialectRegistry registry) {
  unwrap(registry)
      ->insert<spyre::SpyreDialect, sdsc::SdscDialect, sdscbundle::SdscBundleDialect, affine::AffineDialect, arith::ArithDialect,
               cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
               tensor::TensorDialect>();
  func::registerInlinerExtension(*unwrap(registry));
}

int spyreOptMain(int argc, char **argv) {
  DialectRegistry registry;
  spyreRegisterDialects(wrap(&registry));
  return asMainReturnCode(MlirOptMain(argc, argv, "The optimizer driver of spyre-mlir\n", registry));
}
