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

using namespace mlir;

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
