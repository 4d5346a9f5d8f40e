//===- OptMain.cpp - MLIR opt driver with Spyre dialects ------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Input.h"
#include "Sdsc.h"
#include "SdscBundle.h"
#include "Spyre.h"
#include "Stablehlo.h"
#include "TmTensor.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MLProgram/IR/MLProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/ToolOutputFile.h"

using namespace mlir;

// Only the dialects of programs and bundles: registering every upstream dialect makes the tools several times larger
// and slower to start.
void spyreRegisterDialects(MlirDialectRegistry registry) {
  unwrap(registry)
      ->insert<spyre::SpyreDialect, sdsc::SdscDialect, sdscbundle::SdscBundleDialect, stablehlo::StablehloDialect, tm_tensor::TmTensorDialect,
               affine::AffineDialect, arith::ArithDialect,
               cf::ControlFlowDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect, ml_program::MLProgramDialect, scf::SCFDialect,
               tensor::TensorDialect, tosa::TosaDialect>();
  func::registerInlinerExtension(*unwrap(registry));
}

/// Checks whether the input may be parsed, and prints errors to standard error, as MLIR's driver does.
static LogicalResult checkInput(const llvm::MemoryBuffer &input) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  llvm::SourceMgr manager;
  SourceMgrDiagnosticHandler handler(manager, &context);
  return spyre::checkInput(input, &context);
}

namespace {
/// Pass instrumentation that calls an observer on modules and functions before and after each pass.
struct ObserverInstrumentation final : PassInstrumentation {
  ObserverInstrumentation(SpyrePassObserver observer, void *data, bool &hasFailed)
      : observer(observer), data(data), hasFailed(hasFailed) {
    observer(wrap(StringRef()), {nullptr}, SpyrePipelineBegins, data);
  }

  void runBeforePass(Pass *pass, Operation *op) override { notifyObserver(pass, op, SpyreBeforePass); }
  void runAfterPass(Pass *pass, Operation *op) override { notifyObserver(pass, op, SpyreAfterPass); }

private:
  void notifyObserver(Pass *pass, Operation *op, SpyreEvent event) {
    // MLIR's own adaptors between modules and functions have no argument.
    if (!pass->getArgument().empty() && isa<ModuleOp, func::FuncOp>(op))
      hasFailed |= !observer(wrap(pass->getArgument()), wrap(op), event, data);
  }

  SpyrePassObserver observer;
  void *data;
  bool &hasFailed;
};
} // namespace

/// Runs MLIR's driver with an observer around every pass; prints nothing if the observer fails.
static LogicalResult runWithObserver(raw_ostream &output, std::unique_ptr<llvm::MemoryBuffer> input,
                                     DialectRegistry &registry, const MlirOptMainConfig &baseConfig,
                                     SpyrePassObserver observer, void *data) {
  bool hasFailed = false;
  MlirOptMainConfig config = baseConfig;
  config.setPassPipelineSetupFn([&baseConfig, &hasFailed, observer, data](PassManager &passes) {
    if (failed(baseConfig.setupPassPipeline(passes)))
      return failure();
    passes.addInstrumentation(std::make_unique<ObserverInstrumentation>(observer, data, hasFailed));
    return success();
  });
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(MlirOptMain(stream, std::move(input), registry, config)) || hasFailed)
    return failure();
  output << text;
  return success();
}

/// Runs MLIR's driver with the parsed command line, and checks the input before it is parsed. `observer` may be null.
static LogicalResult runOpt(StringRef inputFilename, StringRef outputFilename, DialectRegistry &registry, SpyrePassObserver observer,
                            void *data) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input = spyre::openInput(inputFilename, message);
  std::unique_ptr<llvm::ToolOutputFile> output = input ? openOutputFile(outputFilename, &message) : nullptr;
  if (!output) {
    llvm::errs() << "spyre-opt: error: ";
    if (input)
      llvm::errs() << message << "\n";
    else
      llvm::errs() << "cannot read '" << inputFilename << "': " << message << "; expected a module, give a file of MLIR text or bytecode\n";
    return failure();
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (failed(checkInput(*input)))
    return failure();
  // The guard ends when the first of our passes runs.
  spyre::guardParser();
  if (failed(observer ? runWithObserver(output->os(), std::move(input), registry, config, observer, data)
                      : MlirOptMain(output->os(), std::move(input), registry, config)))
    return failure();
  output->keep();
  return success();
}

int spyreOptMain(int argc, char **argv, SpyrePassObserver observer, void *data) {
  static llvm::cl::opt<bool> validatesEach(
      "spyre-validate-each", llvm::cl::desc("Compare functions before and after each pass, over a finite field; reject a difference"));
  static llvm::cl::extrahelp exitCodes("\nExit codes: 0 success, 1 invalid input or options, 2 internal error\n");
  DialectRegistry registry;
  spyreRegisterDialects(wrap(&registry));
  auto [inputFilename, outputFilename] = registerAndParseCLIOptions(argc, argv, "The optimizer driver of spyre-mlir\n", registry);
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  // These options of the driver need no input.
  if (config.shouldShowDialects() || config.shouldListPasses())
    return asMainReturnCode(MlirOptMain(argc, argv, inputFilename, outputFilename, registry));
  llvm::InitLLVM init(argc, argv);
  return asMainReturnCode(runOpt(inputFilename, outputFilename, registry, validatesEach ? observer : nullptr, data));
}
