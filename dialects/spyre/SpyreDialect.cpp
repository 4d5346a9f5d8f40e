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

/// A call in a scope is inlined there, and a scope in a function that is called comes along.
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

// `spyre.dim_sizes` on a function says how large named dimensions are, `spyre.symbols` how large counts can be that are known at
// launch, `spyre.granularities` what sizes are multiples of that are known at launch.
static LogicalResult verifyNumbers(Operation *op, NamedAttribute attribute, StringRef what) {
  auto entries = dyn_cast<DictionaryAttr>(attribute.getValue());
  if (!entries)
    return op->emitOpError() << '\'' << attribute.getName().getValue() << "' must be a dictionary of " << what << ", found "
                             << attribute.getValue();
  for (NamedAttribute entry : entries) {
    auto number = dyn_cast<IntegerAttr>(entry.getValue());
    if (!number || !number.getType().isSignlessInteger(64) || number.getInt() < 1)
      return op->emitOpError() << '\'' << attribute.getName().getValue() << "' must give '" << entry.getName().getValue()
                               << "' a positive number of type i64, found " << entry.getValue();
  }
  return success();
}

static bool isNames(Attribute attribute) {
  auto names = dyn_cast<ArrayAttr>(attribute);
  return names && llvm::all_of(names, llvm::IsaPred<StringAttr>);
}

LogicalResult SpyreDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() == "spyre.bundle" && isa<IntegerAttr>(attribute.getValue()))
    return success();
  // A copy that was inserted for the layout of what it copies.
  if (attribute.getName() == "spyre.for_layout" && op->getName().getStringRef() == "spyre.copy" && isa<UnitAttr>(attribute.getValue()))
    return success();
  // A copy that was inserted with a loop, and why.
  if (attribute.getName() == "spyre.for_loop" && op->getName().getStringRef() == "spyre.copy" && isa<StringAttr>(attribute.getValue()))
    return success();
  // A loop that corrects what it carries when a running value changes.
  if (attribute.getName() == "spyre.corrects" && op->getName().getStringRef() == "spyre.loop" && isa<UnitAttr>(attribute.getValue()))
    return success();
  // The numbers in it are checked where they are read: the machine is described in one place, crates/machine.
  if (attribute.getName() == "spyre.target" && isa<ModuleOp>(op) && isa<DictionaryAttr>(attribute.getValue()))
    return success();
  // The last phase of the compiler that the module has behind it.
  if (attribute.getName() == "spyre.phase" && isa<ModuleOp>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  if (attribute.getName() == "spyre.dim_sizes" && isa<FunctionOpInterface>(op))
    return verifyNumbers(op, attribute, "sizes");
  if (attribute.getName() == "spyre.symbols" && isa<FunctionOpInterface>(op))
    return verifyNumbers(op, attribute, "maxima");
  if (attribute.getName() == "spyre.granularities" && isa<FunctionOpInterface>(op))
    return verifyNumbers(op, attribute, "granularities");
  // How many times loops compute the same of an op.
  if (attribute.getName() == "spyre.times" && isa<ComputeOpInterface>(op)) {
    auto times = dyn_cast<IntegerAttr>(attribute.getValue());
    if (times && times.getValue().sgt(1))
      return success();
    return op->emitOpError("'spyre.times' must be a number above 1, found ") << attribute.getValue();
  }
  // The symbolic sizes that iteration dimensions walk along.
  if (attribute.getName() == "spyre.symbolic" && isa<ComputeOpInterface>(op) && isNames(attribute.getValue()))
    return success();
  // What the search for tiles has found, for the report.
  if (attribute.getName() == "spyre.tile_search" && isa<FunctionOpInterface>(op) && isa<DictionaryAttr>(attribute.getValue()))
    return success();
  // What was chosen, as the plan file says it.
  if (attribute.getName() == "spyre.plan" && isa<FunctionOpInterface>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  // What no plan of loops takes less than, as the certificate says it.
  if (attribute.getName() == "spyre.proof" && isa<FunctionOpInterface>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  // Which dimension was parted, for the summary; nothing where none is to be.
  if (attribute.getName() == "spyre.peeled" && isa<FunctionOpInterface>(op) && isa<StringAttr>(attribute.getValue()))
    return success();
  // How many programs in parts were compiled to be compared, and how many of them a rule refuses, for the report.
  if (attribute.getName() == "spyre.peel_trials" && isa<FunctionOpInterface>(op)) {
    auto counts = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (counts && counts.size() == 2)
      return success();
    return op->emitOpError("'spyre.peel_trials' must be two numbers, found ") << attribute.getValue();
  }
  // What was fused into kernels, for the report.
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
  return op->emitOpError("has no attribute '") << attribute.getName().getValue() << "' of the spyre dialect";
}

// `spyre.shape` of an argument or a result is the shape that the caller knows it by, where that has more dimensions than a layout holds, or
// no elements.
static LogicalResult verifyShape(Operation *op, const Twine &what, Type of, Attribute attribute) {
  auto shape = dyn_cast<DenseI64ArrayAttr>(attribute);
  if (!shape || llvm::any_of(shape.asArrayRef(), [](int64_t size) { return size < 0; }))
    return op->emitOpError() << what << ": 'spyre.shape' must be numbers that are not negative, found " << attribute;
  auto type = dyn_cast<RankedTensorType>(of);
  // What the caller knows without elements is one element here.
  if (!type || !type.hasStaticShape() || std::max<int64_t>(ShapedType::getNumElements(shape), 1) != type.getNumElements())
    return op->emitOpError() << what << ": 'spyre.shape' has not as many elements as " << of;
  return success();
}

LogicalResult SpyreDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned index, NamedAttribute attribute) {
  if (attribute.getName() == "spyre.digits") {
    auto type = dyn_cast<RankedTensorType>(cast<FunctionOpInterface>(op).getResultTypes()[index]);
    auto base = dyn_cast<IntegerAttr>(attribute.getValue());
    if (base && base.getValue().sgt(1) && type && type.getRank() > 0 && type.getDimSize(0) == 2 && type.getElementType().isInteger())
      return success();
    return op->emitOpError("result ") << index << ": 'spyre.digits' is a base above 1, of integers with two digits along the first dimension";
  }
  if (attribute.getName() == "spyre.shape")
    return verifyShape(op, "result " + Twine(index), cast<FunctionOpInterface>(op).getResultTypes()[index], attribute.getValue());
  return op->emitOpError("result ") << index << " has no attribute '" << attribute.getName().getValue() << "' of the spyre dialect";
}

// `spyre.dims` names the elements of an argument in storage order, outermost first. There may be more or fewer names than dimensions:
// that they come to the tensor is checked where their sizes are found, in src/hint/sizes.rs.
LogicalResult SpyreDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned argIndex, NamedAttribute attribute) {
  if (attribute.getName() == "spyre.range") {
    auto range = dyn_cast<DenseI64ArrayAttr>(attribute.getValue());
    if (!range || range.size() != 2 || range[0] >= range[1])
      return op->emitOpError("argument ") << argIndex << ": 'spyre.range' must be two numbers, the first below the second, found "
                                          << attribute.getValue();
    auto type = dyn_cast<RankedTensorType>(cast<FunctionOpInterface>(op).getArgumentTypes()[argIndex]);
    if (!type || !type.getElementType().isInteger())
      return op->emitOpError("argument ") << argIndex << ": 'spyre.range' is for tensors of integers";
    return success();
  }
  if (attribute.getName() == "spyre.shape")
    return verifyShape(op, "argument " + Twine(argIndex), cast<FunctionOpInterface>(op).getArgumentTypes()[argIndex],
                       attribute.getValue());
  // That there is a name or nothing for each dimension is checked where sizes are followed, in src/dialect/symbolic.rs.
  if (attribute.getName() == "spyre.symbolic") {
    if (isNames(attribute.getValue()))
      return success();
    return op->emitOpError("argument ") << argIndex << ": 'spyre.symbolic' must be an array of strings, found " << attribute.getValue();
  }
  if (attribute.getName() != "spyre.dims")
    return op->emitOpError("argument ") << argIndex << " has no attribute '" << attribute.getName().getValue()
                                        << "' of the spyre dialect";
  if (!isNames(attribute.getValue()))
    return op->emitOpError("argument ") << argIndex << ": 'spyre.dims' must be an array of strings, found " << attribute.getValue();
  for (auto name : cast<ArrayAttr>(attribute.getValue()).getAsRange<StringAttr>())
    if (name.getValue().contains('*'))
      return op->emitOpError("argument ") << argIndex << ": " << name << " cannot be a name: '*' joins the names of a dimension";
  return success();
}
