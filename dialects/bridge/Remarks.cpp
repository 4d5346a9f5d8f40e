//===- Remarks.cpp - optimization remarks ---------------------------------===//
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
/// Remark streamer that passes each remark to a callback in YAML, which LLVM's tools read. The caller writes the file;
/// MLIR's own streamer would open it before the compilation succeeds.
class YamlStreamer final : public remark::detail::MLIRRemarkStreamerBase {
public:
  YamlStreamer(SpyreTextCallback callback, void *data) : callback(callback), data(data) {}

  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    auto serializer = llvm::cantFail(llvm::remarks::createRemarkSerializer(llvm::remarks::Format::YAML, stream));
    serializer->emit(remark.generateRemark());
    serializer.reset();
    callback(wrap(StringRef(text)), false, data);
  }

private:
  SpyreTextCallback callback;
  void *data;
};

/// Combines the pattern for every kind and the pattern for one kind of remarks; none if both are empty. MLIR's own
/// pattern for every kind has no effect on a kind without a pattern.
std::optional<std::string> joinPatterns(MlirStringRef all, MlirStringRef own) {
  SmallVector<StringRef, 2> patterns;
  llvm::copy_if(ArrayRef{unwrap(all), unwrap(own)}, std::back_inserter(patterns), [](StringRef pattern) { return !pattern.empty(); });
  return patterns.empty() ? std::nullopt : std::optional(llvm::join(patterns, "|"));
}
} // namespace

bool spyreEnableRemarks(MlirContext context, MlirStringRef all, MlirStringRef passed, MlirStringRef missed,
                        MlirStringRef analysis, bool isPrinted, SpyreTextCallback yamlCallback, void *yamlData,
                        SpyreTextCallback errorCallback, void *errorData) {
  for (MlirStringRef pattern : {all, passed, missed, analysis}) {
    std::string reason;
    if (!llvm::Regex(unwrap(pattern)).isValid(reason) && !unwrap(pattern).empty()) {
      std::string message = ("'" + unwrap(pattern) + "' is not a regular expression: " + reason).str();
      errorCallback(wrap(StringRef(message)), true, errorData);
      return false;
    }
  }
  remark::RemarkCategories categories;
  categories.passed = joinPatterns(all, passed);
  categories.missed = joinPatterns(all, missed);
  categories.analysis = joinPatterns(all, analysis);
  std::unique_ptr<YamlStreamer> streamer = isPrinted ? nullptr : std::make_unique<YamlStreamer>(yamlCallback, yamlData);
  auto policy = std::make_unique<remark::RemarkEmittingPolicyAll>();
  return succeeded(
      remark::enableOptimizationRemarks(*unwrap(context), std::move(streamer), std::move(policy), categories, isPrinted));
}

bool spyreAreRemarksEnabled(MlirContext context) { return unwrap(context)->getRemarkEngine() != nullptr; }

// The engine may store the names until the context is destroyed, so the context owns the names.
void spyreEmitRemark(MlirOperation function, MlirLocation location, int kind, MlirStringRef category,
                     MlirStringRef name, MlirStringRef message) {
  MLIRContext *context = unwrap(location)->getContext();
  auto internText = [context](MlirStringRef text) { return StringAttr::get(context, unwrap(text)).getValue(); };
  StringAttr symbol = unwrap(function)->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName());
  remark::RemarkOpts options = remark::RemarkOpts::name(internText(name))
                                   .category(internText(category))
                                   .function(symbol ? symbol.getValue() : StringRef());
  auto emit = kind == SpyreRemarkPassed ? remark::passed : kind == SpyreRemarkMissed ? remark::missed : remark::analysis;
  emit(unwrap(location), options) << remark::add("{0}", unwrap(message).str());
}
