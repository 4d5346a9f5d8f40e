//===- Foreign.cpp - errors about unsupported dialects --------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Foreign.h"
#include "mlir/IR/Location.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace {
/// Dialects that producers leave in files, and advice on how to lower their programs to linalg.
struct Producer {
  StringLiteral dialects;
  StringLiteral advice;
};

constexpr Producer kProducers[] = {
    {"stablehlo chlo", "lower it with 'stablehlo-opt --chlo-legalize-to-stablehlo --stablehlo-legalize-to-linalg' (JAX, OpenXLA), or call "
                       "spyre_mlir.jax.compile(function, *arguments) in Python"},
    {"vhlo", "read it with 'stablehlo-translate --deserialize', then lower it with 'stablehlo-opt --stablehlo-legalize-to-linalg'"},
    {"mhlo lmhlo", "lower it with 'mlir-hlo-opt --hlo-legalize-to-stablehlo', then with 'stablehlo-opt --stablehlo-legalize-to-linalg'"},
    {"torch torch_c tm_tensor",
     "export with output_type=\"linalg-on-tensors\", or lower it with 'torch-mlir-opt --torch-backend-to-linalg-on-tensors-backend-pipeline'"},
    {"onnx krnl", "import the model with 'torch-mlir-import-onnx', then lower it with 'torch-mlir-opt --torch-onnx-to-torch-backend-pipeline "
                  "--torch-backend-to-linalg-on-tensors-backend-pipeline'"},
    {"tf tfl tf_executor", "lower it to TOSA with 'tf-opt --tfl-to-tosa-pipeline' or 'iree-import-tflite'"},
    {"flow hal stream util iree_linalg_ext iree_input iree_tensor_ext", "stop IREE earlier: 'iree-compile --compile-to=input'"},
    {"tt ttg", "lower it with 'triton-shared-opt --triton-to-linalg-experimental'"},
    {"memref bufferization vector llvm gpu nvgpu omp", "export the program before tensors are lowered to memory or to processor code"},
    {"quant", "quantized types are supported as integers and scales: lower them with 'mlir-opt --lower-quant-ops --strip-func-quant-types'"},
};

StringRef adviceFor(StringRef dialect) {
  for (const Producer &producer : kProducers) {
    SmallVector<StringRef> names;
    StringRef(producer.dialects).split(names, ' ');
    if (llvm::is_contained(names, dialect))
      return producer.advice;
  }
  return "lower it to linalg on tensors before the export";
}

bool isOfName(char letter) { return llvm::isAlnum(letter) || letter == '_' || letter == '.' || letter == '$'; }

/// The first name with a dialect in a text: `dialect.name`, or `dialect` if nothing has a dot.
StringRef nameIn(StringRef text) {
  StringRef first;
  while (!text.empty()) {
    text = text.drop_until([](char letter) { return llvm::isAlpha(letter) || letter == '_'; });
    StringRef name = text.take_while(isOfName);
    text = text.drop_front(name.size());
    if (name.contains('.'))
      return name;
    first = first.empty() ? name : first;
  }
  return first;
}
} // namespace

spyre::ForeignDialects::ForeignDialects(llvm::MemoryBufferRef text, MLIRContext *context) : text(text) {
  handler.emplace(context, [this](Diagnostic &found) { return success(take(found)); });
}

spyre::ForeignDialects::~ForeignDialects() {
  handler.reset();
  if (taken)
    emitError(taken->first) << "[SPY0104] " << taken->second;
}

bool spyre::ForeignDialects::take(Diagnostic &found) {
  std::string said = found.str();
  StringRef message = said;
  // Messages of MLIR about custom ops, generic ops, types and attributes, and bytecode.
  bool isForeign = message.contains("not found for custom op") || message.contains("unregistered dialect") ||
                   message.contains("llowUnregisteredDialects") || message.contains("allow-unregistered-dialect") ||
                   message.contains("custom op 'stablehlo.") || message.contains("unregistered operation 'stablehlo.");
  if (!isForeign)
    return false;
  if (taken)
    return true;
  // The message quotes the op or the dialect; for a generic op it has the location only, and the name is read from the
  // source line.
  StringRef name = message.contains("custom op '") ? message.split("custom op '").second.split('\'').first : StringRef();
  auto place = dyn_cast<FileLineColLoc>(found.getLocation());
  if (name.empty() && place && place.getLine() > 0) {
    StringRef rest = text.getBuffer();
    for (unsigned line = 1; line < place.getLine() && !rest.empty(); ++line)
      rest = rest.split('\n').second;
    StringRef line = rest.split('\n').first;
    // The location may be after the name of an op, or inside the name of a type.
    size_t begin = std::min<size_t>(line.size(), place.getColumn() - 1);
    while (begin > 0 && (isOfName(line[begin - 1]) || line[begin - 1] == '"'))
      --begin;
    name = nameIn(line.drop_front(begin));
  }
  if (name.empty())
    name = message.split('\'').second.split('\'').first;
  StringRef dialect = name.split('.').first;
  taken.emplace(found.getLocation(), ("'" + name + "' belongs to the unsupported dialect '" + dialect +
                                      "'; expected linalg, tensor, arith, math or tosa ops; " + adviceFor(dialect))
                                         .str());
  return true;
}
