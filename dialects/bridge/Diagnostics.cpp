//===- Diagnostics.cpp - diagnostics with notes, and source files ---------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Foreign.h"
#include "Input.h"
#include "Misspelt.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;

struct SpyreDiagnostic {
  InFlightDiagnostic inFlight;
};

SpyreDiagnostic *spyreDiagnosticCreate(MlirLocation location, int severity, MlirStringRef message) {
  Location loc = unwrap(location);
  InFlightDiagnostic inFlight = severity == SpyreError     ? emitError(loc)
                                : severity == SpyreWarning ? emitWarning(loc)
                                                           : emitRemark(loc);
  inFlight << unwrap(message);
  return new SpyreDiagnostic{std::move(inFlight)};
}

void spyreDiagnosticAttachNote(SpyreDiagnostic *diagnostic, MlirLocation location, MlirStringRef message) {
  diagnostic->inFlight.attachNote(unwrap(location)) << unwrap(message);
}

void spyreDiagnosticReport(SpyreDiagnostic *diagnostic) {
  diagnostic->inFlight.report();
  delete diagnostic;
}

/// Error codes of src/codes/input.rs.
enum : unsigned { InvalidOperation = 120, RejectedByMlir = 121 };

unsigned spyreGetDefaultErrorCode(MlirStringRef message) {
  StringRef text = unwrap(message);
  bool isOwnDialect = text.starts_with("'spyre.") || text.starts_with("'sdsc.") || text.starts_with("'sdscbundle.");
  return isOwnDialect ? InvalidOperation : RejectedByMlir;
}

namespace {
/// Diagnostic handler that prints the code of a message after its severity: `error[SPY0501]: `.
class CodedDiagnosticHandler : public SourceMgrDiagnosticHandler {
public:
  CodedDiagnosticHandler(llvm::SourceMgr &manager, MLIRContext *context) : SourceMgrDiagnosticHandler(manager, context, stream), stream(text) {
    setHandler([this](Diagnostic &diagnostic) {
      text.clear();
      emitDiagnostic(diagnostic);
      bool isError = diagnostic.getSeverity() == DiagnosticSeverity::Error;
      printWithCode(text, isError ? spyreGetDefaultErrorCode(wrap(StringRef(diagnostic.str()))) : 0);
    });
  }

private:
  /// Prints a message. An error without a code of its own gets `defaultCode`, unless that is 0.
  static void printWithCode(StringRef text, unsigned defaultCode) {
    for (StringRef severity : {"error", "warning", "remark"}) {
      std::string prefix = (severity + ": [SPY").str();
      size_t at = text.find(prefix), end = text.find("] ", at);
      if (at == StringRef::npos || end == StringRef::npos)
        continue;
      size_t code = at + severity.size() + 2;
      llvm::errs() << text.take_front(at + severity.size()) << text.slice(code, end + 1) << ": " << text.drop_front(end + 2);
      return;
    }
    size_t at = defaultCode ? text.find("error: ") : StringRef::npos;
    if (at == StringRef::npos) {
      llvm::errs() << text;
      return;
    }
    size_t end = at + StringRef("error").size();
    llvm::errs() << text.take_front(end) << llvm::format("[SPY%04u]", defaultCode) << text.drop_front(end);
  }

  std::string text;
  llvm::raw_string_ostream stream;
};
} // namespace

struct SpyreSource {
  MLIRContext *context;
  std::shared_ptr<llvm::SourceMgr> manager;
  std::unique_ptr<CodedDiagnosticHandler> handler;
};

static SpyreSource *createSource(std::unique_ptr<llvm::MemoryBuffer> buffer, MLIRContext *context) {
  auto manager = std::make_shared<llvm::SourceMgr>();
  manager->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  auto handler = std::make_unique<CodedDiagnosticHandler>(*manager, context);
  return new SpyreSource{context, std::move(manager), std::move(handler)};
}

SpyreSource *spyreSourceOpen(MlirContext context, MlirStringRef path, MlirStringRef name,
                             SpyreTextCallback errorCallback, void *errorData) {
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> buffer = spyre::openInput(unwrap(path), message, unwrap(name));
  if (!buffer) {
    errorCallback(wrap(StringRef(message)), /*isError=*/true, errorData);
    return nullptr;
  }
  return createSource(std::move(buffer), unwrap(context));
}

SpyreSource *spyreSourceCreateFromText(MlirContext context, MlirStringRef name, MlirStringRef text) {
  return createSource(llvm::MemoryBuffer::getMemBufferCopy(unwrap(text), unwrap(name)), unwrap(context));
}

MlirModule spyreSourceParse(SpyreSource *source, bool guards) {
  const llvm::MemoryBuffer *buffer = source->manager->getMemoryBuffer(source->manager->getMainFileID());
  if (failed(spyre::checkInput(*buffer, source->context)))
    return MlirModule{nullptr};
  spyre::ForeignDialectHandler dialectHandler(*buffer, source->context);
  spyre::OpNameSuggestionHandler suggestionHandler(source->context);
  if (guards)
    spyre::guardParser();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(source->manager, ParserConfig(source->context));
  if (guards)
    spyre::endParserGuard();
  return wrap(module.release());
}

void spyreSourceClose(SpyreSource *source) { delete source; }
