//===- OptMain.cpp - the opt driver with our dialects ---------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Input.h"
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
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

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

/// Whether the input may be parsed; what is wrong with it goes to standard error, as from MLIR's own driver.
static LogicalResult checkInput(const llvm::MemoryBuffer &input) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  llvm::SourceMgr manager;
  SourceMgrDiagnosticHandler handler(manager, &context);
  return spyre::checkInput(input, &context);
}

/// What MLIR's driver does with its command line, and the check of the input between opening and parsing it.
static LogicalResult runOpt(StringRef inputFilename, StringRef outputFilename, DialectRegistry &registry) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = spyre::openInput(inputFilename, message);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? openOutputFile(outputFilename, &message) : nullptr;
  if (!output) {
    llvm::errs() << message << "\n";
    return failure();
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (failed(checkInput(*input)))
    return failure();
  // Until the first pass of ours runs.
  spyre::guardParser();
  if (failed(MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int spyreOptMain(int argc, char **argv) {
  DialectRegistry registry;
  spyreRegisterDialects(wrap(&registry));
  auto [inputFilename, outputFilename] = registerAndParseCLIOptions(argc, argv, "The optimizer driver of spyre-mlir\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // The driver answers these without an input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, inputFilename, outputFilename, registry));
  llvm::InitLLVM init(argc, argv);
  return asMainReturnCode(runOpt(inputFilename, outputFilename, registry));
}
