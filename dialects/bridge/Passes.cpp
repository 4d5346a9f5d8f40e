//===- Passes.cpp - the passes of Passes.td, run by Rust ------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Input.h"
#include "PassRegistry.h"
#include "Sdsc.h"
#include "SdscBundle.h"
#include "Spyre.h"
#include "Stablehlo.h"
#include "TmTensor.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"
#include <utility>

using namespace mlir;

std::shared_mutex &spyre::passRegistry() {
  static std::shared_mutex mutex;
  return mutex;
}

namespace spyre {
#define GEN_PASS_DECL
#include "Passes.h.inc"
#include "PassList.h.inc"
#include "Passes.h.inc"
} // namespace spyre

namespace {
SpyrePassRunner runPass = nullptr;
SpyrePipelineExpander expandPipeline = nullptr;

/// The options of a pass as text, without its name and braces.
std::string optionsOf(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  pass.printAsTextualPipeline(stream);
  size_t open = text.find('{');
  return open == std::string::npos ? "" : text.substr(open + 1, text.rfind('}') - open - 1);
}

/// A pass whose options and documentation are tablegen's and whose work is done in Rust. CMake lists those of Passes.td in PassList.h.inc.
#define SPYRE_RUST_PASS(Name)                                                                                                     \
  struct Name final : spyre::impl::Name##Base<Name> {                                                                             \
    using Base = spyre::impl::Name##Base<Name>;                                                                                   \
    using Base::Base;                                                                                                             \
    void runOnOperation() final {                                                                                                 \
      spyre::endParserGuard();                                                                                                    \
      std::string options = optionsOf(*this);                                                                                     \
      if (!runPass(wrap(getArgument()), wrap(getOperation().getOperation()), wrap(StringRef(options))))                           \
        signalPassFailure();                                                                                                      \
    }                                                                                                                             \
  };

SPYRE_PASSES(SPYRE_RUST_PASS)

/// Collects what Rust answers.
struct Answer {
  std::string text;
  bool isError = false;

  static void take(MlirStringRef text, bool isError, void *data) {
    auto *answer = static_cast<Answer *>(data);
    answer->text = unwrap(text).str();
    answer->isError = isError;
  }
};

LogicalResult addCompilePipeline(OpPassManager &passes, StringRef options, function_ref<LogicalResult(const Twine &)> onError) {
  Answer answer;
  expandPipeline(wrap(options), Answer::take, &answer);
  if (answer.isError)
    return onError(answer.text);
  return parsePassPipeline(answer.text, passes);
}
} // namespace

void spyreRegisterPasses(SpyrePassRunner runner, SpyrePipelineExpander expander) {
  std::unique_lock lock(spyre::passRegistry());
  static bool registered = false;
  if (std::exchange(registered, true))
    return;
  runPass = runner;
  expandPipeline = expander;
#define SPYRE_REGISTER(Name) registerPass([]() -> std::unique_ptr<Pass> { return std::make_unique<Name>(); });
  SPYRE_PASSES(SPYRE_REGISTER)
  registerPassPipeline("spyre-compile", "The compiler's pipeline up to a phase", addCompilePipeline,
                       [](function_ref<void(const detail::PassOptions &)>) {});
  registerCanonicalizerPass();
  registerCSEPass();
  registerInlinerPass();
  registerLoopInvariantCodeMotionPass();
  registerSymbolDCEPass();
  registerLinalgGeneralizeNamedOpsPass();
}

bool spyreRunPipeline(MlirModule module, MlirStringRef pipeline, bool verifies) {
  ModuleOp op = unwrap(module);
  PassManager passes(op->getName());
  std::string message;
  llvm::raw_string_ostream stream(message);
  {
    std::shared_lock lock(spyre::passRegistry());
    if (failed(parsePassPipeline(unwrap(pipeline), passes, stream))) {
      emitError(op.getLoc()) << "malformed pass pipeline: " << message;
      return false;
    }
  }
  passes.enableVerifier(verifies);
  return succeeded(passes.run(op));
}
