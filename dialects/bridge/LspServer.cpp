//===- LspServer.cpp - MLIR language server with Spyre dialects -----------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

using namespace mlir;

int spyreLspServerMain(int argc, char **argv) {
  static llvm::cl::extrahelp exitCodes("\nExit codes: 0 success, 1 invalid input or options, 2 internal error\n");
  DialectRegistry registry;
  spyreRegisterDialects(wrap(&registry));
  return failed(MlirLspServerMain(argc, argv, registry)) ? 1 : 0;
}
