//===- Remarks.cpp - what was decided, for MLIR's remark engine -----------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Remarks/Remark.h"
#include "llvm/Remarks/RemarkSerializer.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
/// Passes each remark to a callback in YAML, which LLVM's tools read. The caller writes the file; MLIR's own streamer
/// would open it before the compilation succeeds.
class YamlStreamer final : public remark::detail::MLIRRemarkStreamerBase {
public:
  YamlStreamer(SpyrePipelineAnswer takes, void *taken) : takes(takes), taken(taken) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    auto serializer = llvm::cantFail(llvm::remarks::createRemarkSerializer(llvm::remarks::Format::YAML, stream));
    serializer->emit(remark.generateRemark());
    serializer.reset();
    takes(wrap(StringRef(text)), false, taken);
  }

private:
  SpyrePipelineAnswer takes;
  void *taken;
};

/// Returns the pattern for one kind of remarks: the patterns for every kind and for this kind, or none. MLIR's own
/// pattern for every kind has no effect on a kind without a pattern.
std::optional<std::string> patternOf(MlirStringRef all, MlirStringRef own) {
  SmallVector<StringRef, 2> patterns;
  llvm::copy_if(ArrayRef{unwrap(all), unwrap(own)}, std::back_inserter(patterns), [](StringRef pattern) { return !pattern.empty(); });
  return patterns.empty() ? std::nullopt : std::optional(llvm::join(patterns, "|"));
}
} // namespace

bool spyreAskForRemarks(MlirContext context, MlirStringRef all, MlirStringRef passed, MlirStringRef missed, MlirStringRef analysis,
                        bool isPrinted, SpyrePipelineAnswer takes, void *taken, SpyrePipelineAnswer answer, void *data) {
  for (MlirStringRef pattern : {all, passed, missed, analysis}) {
    std::string reason;
    if (!llvm::Regex(unwrap(pattern)).isValid(reason) && !unwrap(pattern).empty()) {
      std::string message = ("'" + unwrap(pattern) + "' is not a regular expression: " + reason).str();
      answer(wrap(StringRef(message)), true, data);
      return false;
    }
  }
  remark::RemarkCategories categories;
  categories.passed = patternOf(all, passed);
  categories.missed = patternOf(all, missed);
  categories.analysis = patternOf(all, analysis);
  std::unique_ptr<YamlStreamer> streamer = isPrinted ? nullptr : std::make_unique<YamlStreamer>(takes, taken);
  auto policy = std::make_unique<remark::RemarkEmittingPolicyAll>();
  return succeeded(
      remark::enableOptimizationRemarks(*unwrap(context), std::move(streamer), std::move(policy), categories, isPrinted));
}

bool spyreWantsRemarks(MlirContext context) { return unwrap(context)->getRemarkEngine() != nullptr; }

// The engine may keep what it is given until the context goes: names are the context's own.
void spyreRemark(MlirOperation function, MlirLocation location, int kind, MlirStringRef category, MlirStringRef name, MlirStringRef message) {
  MLIRContext *context = unwrap(location)->getContext();
  auto kept = [context](MlirStringRef text) { return StringAttr::get(context, unwrap(text)).getValue(); };
  StringAttr symbol = unwrap(function)->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  remark::RemarkOpts options =
      remark::RemarkOpts::name(kept(name)).category(kept(category)).function(symbol ? symbol.getValue() : StringRef());
  auto emit = kind == SpyreRemarkPassed ? remark::passed : kind == SpyreRemarkMissed ? remark::missed : remark::analysis;
  emit(unwrap(location), options) << remark::add("{0}", unwrap(message).str());
}
