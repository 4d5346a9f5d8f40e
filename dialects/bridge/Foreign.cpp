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
/// Front end that emits unsupported dialects: names of the dialects, separated by spaces, and advice on how to lower
/// its programs to linalg.
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

/// Returns the advice for programs with ops of `dialect`.
StringRef getAdvice(StringRef dialect) {
  for (const Producer &producer : kProducers) {
    SmallVector<StringRef> names;
    StringRef(producer.dialects).split(names, ' ');
    if (llvm::is_contained(names, dialect))
      return producer.advice;
  }
  return "lower it to linalg on tensors before the export";
}

/// Returns whether a character can occur in the name of an op, type or attribute.
bool isNameCharacter(char character) {
  return llvm::isAlnum(character) || character == '_' || character == '.' || character == '$';
}

/// Returns the first name of the form `dialect.name` in `text`, or the first name if no name contains a dot.
StringRef findName(StringRef text) {
  StringRef first;
  while (!text.empty()) {
    text = text.drop_until([](char character) { return llvm::isAlpha(character) || character == '_'; });
    StringRef name = text.take_while(isNameCharacter);
    text = text.drop_front(name.size());
    if (name.contains('.'))
      return name;
    first = first.empty() ? name : first;
  }
  return first;
}
} // namespace

spyre::ForeignDialectHandler::ForeignDialectHandler(llvm::MemoryBufferRef text, MLIRContext *context) : text(text) {
  handler.emplace(context, [this](Diagnostic &diagnostic) { return success(handleDiagnostic(diagnostic)); });
}

spyre::ForeignDialectHandler::~ForeignDialectHandler() {
  handler.reset();
  if (firstError)
    emitError(firstError->first) << "[SPY0104] " << firstError->second;
}

bool spyre::ForeignDialectHandler::handleDiagnostic(Diagnostic &diagnostic) {
  std::string messageText = diagnostic.str();
  StringRef message = messageText;
  // Matches MLIR's messages about unregistered dialects in custom ops, generic ops, types, attributes and bytecode. The
  // last two match ops that the project's own StableHLO dialect does not define.
  bool isForeign = message.contains("not found for custom op") || message.contains("unregistered dialect") ||
                   message.contains("llowUnregisteredDialects") || message.contains("allow-unregistered-dialect") ||
                   message.contains("custom op 'stablehlo.") || message.contains("unregistered operation 'stablehlo.");
  if (!isForeign)
    return false;
  if (firstError)
    return true;
  // The message about a custom op quotes the op. Otherwise, the name is read from the source line, because the message
  // about a generic op does not contain it. If that fails too, the first quoted word of the message is the name.
  StringRef name = message.contains("custom op '") ? message.split("custom op '").second.split('\'').first : StringRef();
  auto location = dyn_cast<FileLineColLoc>(diagnostic.getLocation());
  if (name.empty() && location && location.getLine() > 0) {
    StringRef rest = text.getBuffer();
    for (unsigned line = 1; line < location.getLine() && !rest.empty(); ++line)
      rest = rest.split('\n').second;
    StringRef line = rest.split('\n').first;
    // The location may point past the start of the name, so the scan starts at the beginning of the name.
    size_t begin = std::min<size_t>(line.size(), location.getColumn() - 1);
    while (begin > 0 && (isNameCharacter(line[begin - 1]) || line[begin - 1] == '"'))
      --begin;
    name = findName(line.drop_front(begin));
  }
  if (name.empty())
    name = message.split('\'').second.split('\'').first;
  StringRef dialect = name.split('.').first;
  firstError.emplace(diagnostic.getLocation(),
                     ("'" + name + "' belongs to the unsupported dialect '" + dialect +
                      "'; expected linalg, tensor, arith, math or tosa ops; " + getAdvice(dialect))
                         .str());
  return true;
}
