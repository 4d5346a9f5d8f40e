//===- SpyreDialect.cpp - registration, aliases, discardable attributes ---===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Spyre.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spyre;

#include "SpyreDialect.cpp.inc"
#include "SpyreInterfaces.cpp.inc"

namespace {
/// Layouts repeat on every value: an alias keeps the text readable.
struct SpyreAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::OverridableAlias;
  }
};
} // namespace

void SpyreDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "SpyreOps.cpp.inc"
      >();
  addInterfaces<SpyreAsmInterface>();
}

LogicalResult SpyreDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == "spyre.bundle" && isa<IntegerAttr>(attribute.getValue()))
    return success();
  // A copy that was inserted for the layout of what it copies.
  if (attribute.getName() == "spyre.for_layout" && op->getName().getStringRef() == "spyre.copy" && isa<UnitAttr>(attribute.getValue()))
    return success();
  // The numbers in it are checked where they are read: the machine is described in one place, src/target.
  if (attribute.getName() == "spyre.target" && isa<ModuleOp>(op) && isa<DictionaryAttr>(attribute.getValue()))
    return success();
  return op->emitOpError("has no attribute '") << attribute.getName().getValue() << "' of the spyre dialect";
}

// `spyre.dims` names the dimensions of an argument: one string per dimension.
LogicalResult SpyreDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex, NamedAttribute attribute) {
  if (attribute.getName() != "spyre.dims")
    return op->emitOpError("argument ") << argIndex << " has no attribute '" << attribute.getName().getValue()
                                        << "' of the spyre dialect";
  auto names = dyn_cast<ArrayAttr>(attribute.getValue());
  if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
    return op->emitOpError("argument ") << argIndex << ": 'spyre.dims' must be an array of strings, found " << attribute.getValue();
  auto function = dyn_cast<FunctionOpInterface>(op);
  auto type = function ? dyn_cast<RankedTensorType>(function.getArgumentTypes()[argIndex]) : RankedTensorType();
  if (type && static_cast<int64_t>(names.size()) != type.getRank())
    return op->emitOpError("argument ") << argIndex << ": 'spyre.dims' names " << names.size() << " dimensions of a tensor of rank "
                                        << type.getRank();
  return success();
}
