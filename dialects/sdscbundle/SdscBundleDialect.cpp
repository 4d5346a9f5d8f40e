//===- SdscBundleDialect.cpp - registration, syntax and verifiers ---------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "SdscBundle.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sdscbundle;

#include "SdscBundleDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "SdscBundleTypes.cpp.inc"

// Parses and prints a number of bytes without its type.
static ParseResult parseBytes(OpAsmParser &parser, IntegerAttr &bytes) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  bytes = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

static void printBytes(OpAsmPrinter &printer, Operation *, IntegerAttr bytes) { printer << bytes.getInt(); }

#define GET_OP_CLASSES
#include "SdscBundleOps.cpp.inc"

void SdscBundleDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "SdscBundleTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "SdscBundleOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// InputArgType
//===----------------------------------------------------------------------===//

Type InputArgType::parse(AsmParser &parser) {
  Type value;
  int64_t granularity = 0, maxValue = 0;
  if (parser.parseLess() || parser.parseType(value))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("granularity") || parser.parseEqual() || parser.parseInteger(granularity) || parser.parseComma() ||
       parser.parseKeyword("max_value") || parser.parseEqual() || parser.parseInteger(maxValue)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), value, granularity, maxValue);
}

void InputArgType::print(AsmPrinter &printer) const {
  printer << '<' << getValue();
  if (getGranularity())
    printer << ", granularity=" << getGranularity() << ", max_value=" << getMaxValue();
  printer << '>';
}

LogicalResult InputArgType::verify(function_ref<InFlightDiagnostic()> emitError, Type value, int64_t granularity, int64_t maxValue) {
  // input_arg_c1
  if (!value.isIndex())
    return emitError() << "expected a kernel argument of type index, found " << value;
  // input_arg_c2
  if (granularity < 0 || maxValue < 0 || (granularity == 0) != (maxValue == 0))
    return emitError() << "expected positive 'granularity' and 'max_value', or neither, found " << granularity << " and " << maxValue;
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult DeviceMemAllocateOp::verify() {
  // device_mem_allocate_c1
  if (static_cast<int64_t>(getBytes()) <= 0)
    return emitOpError("expected a positive number of bytes, found ") << static_cast<int64_t>(getBytes());
  return success();
}

LogicalResult SdscExecuteOp::verify() {
  if (!getSymbolIds())
    return success();
  // sdsc_execute_c1
  if (getSymbolIds()->size() != getAddresses().size())
    return emitOpError("has ") << getAddresses().size() << " operands, but " << getSymbolIds()->size() << " symbol ids";
  // sdsc_execute_c2
  llvm::DenseSet<int64_t> uniqueIds;
  for (Attribute id : getSymbolIdsAttr()) {
    int64_t value = cast<IntegerAttr>(id).getInt();
    if (value >= 0)
      return emitOpError("expected negative symbol ids, found ") << value;
    if (!uniqueIds.insert(value).second)
      return emitOpError("names symbol id ") << value << " twice";
  }
  return success();
}

ParseResult SdscExecuteOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc location = parser.getCurrentLocation();
  // No types are printed: every operand is an index.
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) || parser.parseOptionalAttrDict(state.attributes) ||
      parser.resolveOperands(operands, parser.getBuilder().getIndexType(), state.operands))
    return failure();
  if (!state.attributes.get("sdsc_filename"))
    return parser.emitError(location, "'sdsc_execute' needs the attribute 'sdsc_filename'");
  return success();
}

void SdscExecuteOp::print(OpAsmPrinter &printer) {
  // The emitter of torch-spyre quotes the second name and prints no spaces around '='.
  printer << " (" << getAddresses() << ") {sdsc_filename=" << getSdscFilenameAttr();
  if (ArrayAttr ids = getSymbolIdsAttr()) {
    printer << ", \"symbol_ids\"=[";
    llvm::interleaveComma(ids, printer, [&](Attribute id) { printer << cast<IntegerAttr>(id).getInt(); });
    printer << ']';
  }
  for (NamedAttribute attribute : (*this)->getAttrs())
    if (attribute.getName() != getSdscFilenameAttrName() && attribute.getName() != getSymbolIdsAttrName())
      printer << ", " << attribute.getName().getValue() << '=' << attribute.getValue();
  printer << '}';
}
