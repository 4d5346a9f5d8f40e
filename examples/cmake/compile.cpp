// Compiles a program up to the choice of layouts, parses the IR with the dialects of spyre-mlir, and prints the
// layouts.

#include "Spyre.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "spyre-c/Compile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

static void print(const SpyreMessage *message, void *) {
  static const char *const names[] = {"error", "warning", "remark", "note"};
  if (message->file)
    llvm::errs() << message->file << ":" << message->line << ":" << message->column << ": ";
  llvm::errs() << names[message->severity] << ": " << message->message << "\n";
}

int main(int argc, char **argv) {
  if (argc != 2) {
    llvm::errs() << "usage: compile FILE.mlir\n";
    return 1;
  }
  auto file = llvm::MemoryBuffer::getFile(argv[1]);
  if (!file) {
    llvm::errs() << "cannot read '" << argv[1] << "': " << file.getError().message() << "\n";
    return 1;
  }

  const SpyreOption options[] = {{"compile-to", "layout"}, {"cores", "4"}};
  SpyreReport *report = nullptr;
  int code = spyreCompile((*file)->getBufferStart(), argv[1], /*output=*/nullptr, options, 2, print, nullptr, &report);
  if (code != 0)
    return code;

  mlir::DialectRegistry registry;
  registry.insert<spyre::SpyreDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceString<mlir::ModuleOp>(spyreReportIr(report), &context);
  spyreReportFree(report);
  if (!module)
    return 2;
  llvm::outs() << "compiled by " << spyreVersion() << "\n";
  module->walk([](mlir::Operation *op) {
    if (op->getName().getDialectNamespace() != "spyre")
      return;
    for (mlir::Type type : op->getResultTypes())
      if (auto tensor = llvm::dyn_cast<mlir::RankedTensorType>(type))
        if (tensor.getEncoding())
          llvm::outs() << op->getName() << ": " << tensor.getEncoding() << "\n";
  });
  return 0;
}
