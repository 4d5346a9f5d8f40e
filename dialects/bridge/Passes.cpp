//===- Passes.cpp - MLIR passes that call Rust ----------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Context.h"
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

std::shared_mutex &spyre::getPassRegistryMutex() {
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
/// Values of options as text, with their names; a list option has one entry per element.
struct OptionTexts {
  void add(StringRef name, const std::string &text) { entries.push_back({name.str(), text}); }
  void add(StringRef name, int64_t number) { entries.push_back({name.str(), std::to_string(number)}); }
  void add(StringRef name, bool isOn) { entries.push_back({name.str(), isOn ? "true" : "false"}); }
  void add(StringRef name, ArrayRef<std::string> elements) {
    for (const std::string &element : elements)
      add(name, element);
  }

  std::vector<std::pair<std::string, std::string>> entries;
};

template <typename T>
void addOption(OptionTexts &texts, const Pass::Option<T> &option) {
  texts.add(option.ArgStr, option.getValue());
}

void addOption(OptionTexts &texts, Pass::ListOption<std::string> &option) { texts.add(option.ArgStr, ArrayRef<std::string>(*option)); }

/// Callback that runs a pass in Rust, with a typed instance or with options as text.
struct PassRunner {
  SpyreInstanceRunner typed = nullptr;
  const void *instance = nullptr;
  SpyreTextualRunner textual = nullptr;
  const void *hooks = nullptr;
};

/// Pass whose options and documentation come from tablegen and whose implementation is in Rust. CMake lists the passes
/// of Passes.td and their options in PassList.h.inc. The tablegen options are set by textual pipelines only.
#define SPYRE_ADD_OPTION(option) addOption(texts, option);
#define SPYRE_RUST_PASS(Name)                                                                                          \
  struct Name final : spyre::impl::Name##Base<Name> {                                                                  \
    using Base = spyre::impl::Name##Base<Name>;                                                                        \
    using Base::Base;                                                                                                  \
    void getDependentDialects(DialectRegistry &registry) const final {                                                 \
      Base::getDependentDialects(registry);                                                                            \
      registry.insert<spyre::SessionDialect>();                                                                        \
    }                                                                                                                  \
    void runOnOperation() final {                                                                                      \
      MlirOperation module = wrap(getOperation().getOperation());                                                      \
      if (!(runner.instance ? runner.typed(runner.instance, module) : runTextual(module)))                             \
        signalPassFailure();                                                                                           \
    }                                                                                                                  \
    bool runTextual(MlirOperation module) {                                                                            \
      spyre::endParserGuard();                                                                                         \
      OptionTexts texts;                                                                                               \
      SPYRE_OPTIONS_##Name(SPYRE_ADD_OPTION);                                                                          \
      std::vector<SpyreOptionText> options;                                                                            \
      for (const auto &[name, text] : texts.entries)                                                                   \
        options.push_back({wrap(StringRef(name)), wrap(StringRef(text))});                                             \
      return runner.textual(runner.hooks, wrap(getArgument()), options.data(), options.size(), module);                \
    }                                                                                                                  \
    PassRunner runner;                                                                                                 \
  };

SPYRE_PASSES(SPYRE_RUST_PASS)

template <typename OwnPass>
std::unique_ptr<Pass> createOwnPass(const PassRunner &runner) {
  auto pass = std::make_unique<OwnPass>();
  pass->runner = runner;
  return pass;
}

/// Creates a pass of this project, or a pass of MLIR that our pipeline uses; null for other names.
std::unique_ptr<Pass> createPass(StringRef argument, const PassRunner &runner) {
  if (!runner.instance) {
    if (argument == "canonicalize")
      return createCanonicalizerPass();
    if (argument == "cse")
      return createCSEPass();
    // The inliner runs no simplification passes on callees.
    if (argument == "inline")
      return createInlinerPass({}, [](OpPassManager &) {});
    if (argument == "symbol-dce")
      return createSymbolDCEPass();
    return nullptr;
  }
#define SPYRE_CREATE(Name)                                                                                             \
  if (argument == Name::getArgumentName())                                                                             \
    return createOwnPass<Name>(runner);
  SPYRE_PASSES(SPYRE_CREATE)
  return nullptr;
}

/// Receiver of the text that Rust passes to a callback.
struct TextReceiver {
  std::string text;
  bool isError = false;

  static void receive(MlirStringRef text, bool isError, void *data) {
    auto *receiver = static_cast<TextReceiver *>(data);
    receiver->text = unwrap(text).str();
    receiver->isError = isError;
  }
};
} // namespace

void spyreRegisterPasses(const void *hooks, SpyreTextualRunner runner, SpyrePipelineExpander expander) {
  std::unique_lock lock(spyre::getPassRegistryMutex());
  // MLIR's pass registry is global to the process as well.
  static bool registered = false;
  if (std::exchange(registered, true))
    return;
  PassRunner textual;
  textual.textual = runner;
  textual.hooks = hooks;
#define SPYRE_REGISTER(Name) registerPass([textual] { return createOwnPass<Name>(textual); });
  SPYRE_PASSES(SPYRE_REGISTER)
  auto addCompilePipeline = [hooks, expander](OpPassManager &passes, StringRef options,
                                              function_ref<LogicalResult(const Twine &)> onError) -> LogicalResult {
    TextReceiver receiver;
    expander(hooks, wrap(options), TextReceiver::receive, &receiver);
    if (receiver.isError)
      return onError(receiver.text);
    return parsePassPipeline(receiver.text, passes);
  };
  registerPassPipeline("spyre-compile", "The compiler's pipeline up to a phase", addCompilePipeline,
                       [](function_ref<void(const detail::PassOptions &)>) {});
  registerCanonicalizerPass();
  registerCSEPass();
  registerInlinerPass();
  registerLoopInvariantCodeMotionPass();
  registerSymbolDCEPass();
  registerLinalgGeneralizeNamedOpsPass();
}

bool spyreRunPasses(MlirModule module, const SpyrePassInstance *instances, intptr_t count, bool verifies, SpyreInstanceRunner runner) {
  ModuleOp op = unwrap(module);
  PassManager passes(op->getName());
  for (const SpyrePassInstance &instance : llvm::ArrayRef(instances, count)) {
    PassRunner typed;
    typed.typed = runner;
    typed.instance = instance.instance;
    std::unique_ptr<Pass> pass = createPass(unwrap(instance.argument), typed);
    if (!pass) {
      emitError(op.getLoc()) << "there is no pass '" << unwrap(instance.argument) << "'";
      return false;
    }
    passes.addPass(std::move(pass));
  }
  passes.enableVerifier(verifies);
  return succeeded(passes.run(op));
}

bool spyreRunPipeline(MlirModule module, MlirStringRef pipeline, bool verifies) {
  ModuleOp op = unwrap(module);
  PassManager passes(op->getName());
  std::string message;
  llvm::raw_string_ostream stream(message);
  {
    std::shared_lock lock(spyre::getPassRegistryMutex());
    if (failed(parsePassPipeline(unwrap(pipeline), passes, stream))) {
      emitError(op.getLoc()) << "malformed pass pipeline: " << message;
      return false;
    }
  }
  passes.enableVerifier(verifies);
  return succeeded(passes.run(op));
}
