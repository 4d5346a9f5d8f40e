//===- SpyreDialect.cpp - registration, aliases, discardable attributes ---===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Spyre.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spyre;

#include "SpyreDialect.cpp.inc"
#include "SpyreInterfaces.cpp.inc"

namespace {
/// Prints layouts, which occur on every value, as aliases.
struct SpyreAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (!isa<LayoutAttr>(attr))
      return AliasResult::NoAlias;
    os << "layout";
    return AliasResult::OverridableAlias;
  }
};

/// Allows the inlining of all ops: calls can be in hint scopes, and callees can contain hint scopes.
struct SpyreInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Operation *, bool) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void SpyreDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "SpyreOps.cpp.inc"
      >();
  addInterfaces<SpyreAsmInterface, SpyreInlinerInterface>();
}

// Verifies a dictionary of positive numbers on a function: `spyre.dim_sizes` has the sizes of named dimensions,
// `spyre.symbols` the maxima of symbolic tile counts, `spyre.granularities` the divisors of symbolic sizes.
static LogicalResult verifyPositiveNumbers(Operation *op, NamedAttribute attribute, StringRef valueKind) {
  auto entries = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!entries)
    return op->emitOpError() << '\'' << attribute.getName().getValue() << "' must be a dictionary of " << valueKind
                             << ", found " << attribute.getValue();
  for (NamedAttribute entry : entries) {
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    if (!number || !number.getType().isSignlessInteger(64) || number.getInt() < 1)
      return op->emitOpError() << '\'' << attribute.getName().getValue() << "' must give '" << entry.getName().getValue()
                               << "' a positive number of type i64, found " << entry.getValue();
  }
  return success();
}

static bool isStringArray(Attribute attribute) {
  auto names = dyn_cast<ArrayAttr>(attribute);
  return names && llvm::all_of(names, llvm::IsaPred<StringAttr>);
}

LogicalResult SpyreDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == "spyre.bundle" && isa<IntegerAttr>(attribute.getValue()))
    return success();
  // A copy that was inserted because a user cannot read the layout of the operand.
  if (attribute.getName() == "spyre.for_layout" && op->getName().getStringRef() == "spyre.copy" && isa<UnitAttr>(attribute.getValue()))
    return success();
  // The reason for a copy that was inserted with a loop.
  if (attribute.getName() == "spyre.for_loop" && op->getName().getStringRef() == "spyre.copy" && isa<StringAttr>(attribute.getValue()))
    return success();
  // A loop that corrects carried values when a running value changes.
  if (attribute.getName() == "spyre.corrects" && op->getName().getStringRef() == "spyre.loop" && isa<UnitAttr>(attribute.getValue()))
    return success();
  // The numbers are checked when they are read, because the machine is described in crates/machine only.
  if (attribute.getName() == "spyre.target" && isa<ModuleOp>(op) && isa<DictionaryAttr>(attribute.getValue()))
    return success();
  // The last phase of the compiler that has run on the module.
  if (attribute.getName() == "spyre.phase" && isa<ModuleOp>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == "spyre.dim_sizes" && isa<FunctionOpInterface>(op))
    return verifyPositiveNumbers(op, attribute, "sizes");
  if (attribute.getName() == "spyre.symbols" && isa<FunctionOpInterface>(op))
    return verifyPositiveNumbers(op, attribute, "maxima");
  if (attribute.getName() == "spyre.granularities" && isa<FunctionOpInterface>(op))
    return verifyPositiveNumbers(op, attribute, "granularities");
  // Number of times that loops recompute the op.
  if (attribute.getName() == "spyre.times" && isa<ComputeOpInterface>(op)) {
    auto times = dyn_cast<IntegerAttr>(attribute.getValue());
    if (times && times.getValue().sgt(1))
      return success();
    return op->emitOpError("'spyre.times' must be a number above 1, found ") << attribute.getValue();
  }
  // The symbolic sizes of the iteration dimensions.
  if (attribute.getName() == "spyre.symbolic" && isa<ComputeOpInterface>(op) && isStringArray(attribute.getValue()))
    return success();
  // Result of the tile search, for the report.
  if (attribute.getName() == "spyre.tile_search" && isa<FunctionOpInterface>(op) && isa<DictionaryAttr>(attribute.getValue()))
    return success();
  // The chosen plan, in the format of a plan file.
  if (attribute.getName() == "spyre.plan" && isa<FunctionOpInterface>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  // Lower bound for all tilings, in the format of the certificate.
  if (attribute.getName() == "spyre.proof" && isa<FunctionOpInterface>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  // The dimension that was peeled, for the summary; empty to disable peeling.
  if (attribute.getName() == "spyre.peeled" && isa<FunctionOpInterface>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  // Number of peeled candidates that were compiled, and number of candidates that a rule rejected, for the report.
  if (attribute.getName() == "spyre.peel_trials" && isa<FunctionOpInterface>(op)) {
    auto counts = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (counts && counts.size() == 2)
      return success();
    return op->emitOpError("'spyre.peel_trials' must be two numbers, found ") << attribute.getValue();
  }
  // Result of kernel fusion, for the report.
  if (attribute.getName() == "spyre.kernels" && isa<FunctionOpInterface>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == "spyre.kernel" && isa<FunctionOpInterface>(op) && isa<UnitAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == "spyre.knobs" && isa<FunctionOpInterface>(op)) {
    auto knobs = dyn_cast<ArrayAttr>(attribute.getValue());
    if (knobs && llvm::all_of(knobs, llvm::IsaPred<KnobAttr>))
      return success();
    return op->emitOpError("'spyre.knobs' must be an array of knobs, found ") << attribute.getValue();
  }
  return op->emitOpError("has an unsupported attribute '") << attribute.getName().getValue() << "'";
}

// Verifies `spyre.shape`, the original shape of an argument or result, if that has more dimensions than a layout can
// have, or no elements.
static LogicalResult verifyShapeAttribute(Operation *op, const Twine &subject, Type type, Attribute attribute) {
  auto shape = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!shape || llvm::any_of(shape.asArrayRef(), [](int64_t size) { return size < 0; }))
    return op->emitOpError() << subject << ": 'spyre.shape' must be numbers that are not negative, found " << attribute;
  auto tensor = dyn_cast<RankedTensorType>(type);
  // A tensor whose original shape is empty has one element.
  if (!tensor || !tensor.hasStaticShape() ||
      std::max<int64_t>(ShapedType::getNumElements(shape), 1) != tensor.getNumElements())
    return op->emitOpError() << subject << ": 'spyre.shape' must have as many elements as " << type;
  return success();
}

LogicalResult SpyreDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  if (attribute.getName() == "spyre.digits") {
    auto type = dyn_cast<RankedTensorType>(cast<FunctionOpInterface>(op).getResultTypes()[index]);
    auto base = dyn_cast<IntegerAttr>(attribute.getValue());
    if (base && base.getValue().sgt(1) && type && type.getRank() > 0 && type.getDimSize(0) == 2 && type.getElementType().isInteger())
      return success();
    return op->emitOpError("result ") << index << ": 'spyre.digits' must be a base above 1, on integers with two digits along the first dimension";
  }
  if (attribute.getName() == "spyre.shape")
    return verifyShapeAttribute(op, "result " + Twine(index), cast<FunctionOpInterface>(op).getResultTypes()[index],
                                attribute.getValue());
  return op->emitOpError("result ") << index << " has an unsupported attribute '" << attribute.getName().getValue() << "'";
}

// `spyre.dims` names the dimensions of an argument's storage, outermost first. The number of names may differ from the
// rank: src/hint/sizes.rs checks that the sizes of the names multiply to the element count.
LogicalResult SpyreDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex, NamedAttribute attribute) {
  if (attribute.getName() == "spyre.range") {
    auto range = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!range || range.size() != 2 || range[0] >= range[1])
      return op->emitOpError("argument ") << argIndex << ": 'spyre.range' must be two numbers, the first below the second, found "
                                          << attribute.getValue();
    auto type = dyn_cast<RankedTensorType>(cast<FunctionOpInterface>(op).getArgumentTypes()[argIndex]);
    if (!type || !type.getElementType().isInteger())
      return op->emitOpError("argument ") << argIndex << ": 'spyre.range' requires a tensor of integers";
    return success();
  }
  if (attribute.getName() == "spyre.shape")
    return verifyShapeAttribute(op, "argument " + Twine(argIndex),
                                cast<FunctionOpInterface>(op).getArgumentTypes()[argIndex], attribute.getValue());
  // src/dialect/symbolic.rs checks that there is a name, or an empty string, for each dimension.
  if (attribute.getName() == "spyre.symbolic") {
    if (isStringArray(attribute.getValue()))
      return success();
    return op->emitOpError("argument ") << argIndex << ": 'spyre.symbolic' must be an array of strings, found " << attribute.getValue();
  }
  if (attribute.getName() != "spyre.dims")
    return op->emitOpError("argument ") << argIndex << " has an unsupported attribute '" << attribute.getName().getValue() << "'";
  if (!isStringArray(attribute.getValue()))
    return op->emitOpError("argument ") << argIndex << ": 'spyre.dims' must be an array of strings, found " << attribute.getValue();
  for (auto name : cast<ArrayAttr>(attribute.getValue()).getAsRange<StringAttr>())
    if (name.getValue().contains('*'))
      return op->emitOpError("argument ") << argIndex << ": " << name << " cannot be a name: '*' joins the names of a dimension";
  return success();
}
