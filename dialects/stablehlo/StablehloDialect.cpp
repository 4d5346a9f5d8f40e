//===- StablehloDialect.cpp - registration, syntax and verifiers ----------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Stablehlo.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace stablehlo;

#include "StablehloDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "StablehloAttrs.cpp.inc"

#define GET_OP_CLASSES
#include "StablehloOps.cpp.inc"

namespace {
/// Allows the inlining of functions with ops of this dialect.
struct StablehloInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void StablehloDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "StablehloAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "StablehloOps.cpp.inc"
      >();
  addInterfaces<StablehloInlinerInterface>();
}

Attribute ScatterNumbersAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> updateWindow, insertedWindow, inputBatching, indicesBatching, toOperand;
  int64_t indexVector = 0;
  auto parseList = [&](SmallVector<int64_t> &list) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&] { return parser.parseInteger(list.emplace_back()); });
  };
  auto parseField = [&]() -> ParseResult {
    StringRef name;
    SMLoc location = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (name == "index_vector_dim")
      return parser.parseInteger(indexVector);
    SmallVector<int64_t> *list = llvm::StringSwitch<SmallVector<int64_t> *>(name)
                                     .Case("update_window_dims", &updateWindow)
                                     .Case("inserted_window_dims", &insertedWindow)
                                     .Case("input_batching_dims", &inputBatching)
                                     .Case("scatter_indices_batching_dims", &indicesBatching)
                                     .Case("scatter_dims_to_operand_dims", &toOperand)
                                     .Default(nullptr);
    return list ? parseList(*list)
                : parser.emitError(location, "expected a list of dimensions of a scatter, found '") << name << "'";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, parseField))
    return {};
  return get(parser.getContext(), updateWindow, insertedWindow, inputBatching, indicesBatching, toOperand, indexVector);
}

void ScatterNumbersAttr::print(AsmPrinter &printer) const {
  printer << '<';
  auto printList = [&](StringRef name, ArrayRef<int64_t> list) {
    if (!list.empty())
      printer << name << " = [" << list << "], ";
  };
  printList("update_window_dims", getUpdateWindowDims());
  printList("inserted_window_dims", getInsertedWindowDims());
  printList("input_batching_dims", getInputBatchingDims());
  printList("scatter_indices_batching_dims", getScatterIndicesBatchingDims());
  printList("scatter_dims_to_operand_dims", getScatterDimsToOperandDims());
  printer << "index_vector_dim = " << getIndexVectorDim() << '>';
}

// The arguments of both regions have the same names, because the text contains the names once.
void WhileOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "iterArg");
}

ParseResult WhileOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseAssignmentList(arguments, operands))
    return failure();
  SmallVector<Type> types;
  if (!operands.empty() && parser.parseColonTypeList(types))
    return failure();
  if (parser.resolveOperands(operands, types, location, result.operands))
    return failure();
  result.addTypes(types);
  for (auto [argument, type] : llvm::zip_equal(arguments, types))
    argument.type = type;
  return failure(parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseKeyword("cond") ||
                 parser.parseRegion(*result.addRegion(), arguments) || parser.parseKeyword("do") ||
                 parser.parseRegion(*result.addRegion(), arguments));
}

void WhileOp::print(OpAsmPrinter &printer) {
  printer << '(';
  llvm::interleaveComma(llvm::zip(getCond().getArguments(), getOperand()), printer, [&](auto pair) {
    printer.printOperand(std::get<0>(pair));
    printer << " = ";
    printer.printOperand(std::get<1>(pair));
  });
  printer << ')';
  if (getNumOperands() > 0)
    printer << " : ";
  llvm::interleaveComma(getOperandTypes(), printer);
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs());
  printer << " cond ";
  printer.printRegion(getCond(), /*printEntryBlockArgs=*/false);
  printer << " do ";
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// Returns the type of an element inside a region: a tensor of rank 0.
static Type getElementTensorType(Type tensor) {
  return RankedTensorType::get({}, cast<RankedTensorType>(tensor).getElementType());
}

/// Verifies the types of the arguments and of the yielded values of a region.
static LogicalResult verifyRegion(Operation *op, Region &region, TypeRange argumentTypes, TypeRange yieldedTypes) {
  Block &body = region.front();
  if (body.getArgumentTypes() != argumentTypes)
    return op->emitOpError("expected arguments (") << argumentTypes << ") of region " << region.getRegionNumber()
                                                   << ", found (" << body.getArgumentTypes() << ")";
  Operation *terminator = body.getTerminator();
  if (terminator->getOperandTypes() != yieldedTypes)
    return terminator->emitOpError("expected operands (")
           << yieldedTypes << ") for '" << op->getName() << "', found (" << terminator->getOperandTypes() << ")";
  return success();
}

static LogicalResult verifyResultTypes(Operation *op, TypeRange inputs) {
  if (!inputs.empty() && inputs == op->getResultTypes())
    return success();
  return op->emitOpError("expected results of the types of its operands, ") << inputs << ", found " << op->getResultTypes();
}

LogicalResult ScatterOp::verify() {
  // scatter_c1
  if (failed(verifyResultTypes(*this, getInputs().getTypes())))
    return failure();
  // scatter_c2
  if (!cast<RankedTensorType>(getScatterIndices().getType()).getElementType().isIntOrIndex())
    return emitOpError("expected indices of integers, found ") << getScatterIndices().getType();
  // scatter_c3
  SmallVector<Type> elementTypes = llvm::map_to_vector(getInputs().getTypes(), getElementTensorType),
                    argumentTypes(elementTypes);
  llvm::append_range(argumentTypes, llvm::map_range(getUpdates().getTypes(), getElementTensorType));
  return verifyRegion(*this, getUpdateComputation(), argumentTypes, elementTypes);
}

LogicalResult SortOp::verify() {
  // sort_c1
  if (failed(verifyResultTypes(*this, getInputs().getTypes())))
    return failure();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(getInputs()[0].getType()).getShape();
  SmallVector<Type> argumentTypes;
  for (Type type : getInputs().getTypes()) {
    if (cast<RankedTensorType>(type).getShape() != shape)
      return emitOpError("expected operands of one shape, found ") << getInputs()[0].getType() << " and " << type;
    argumentTypes.append(2, getElementTensorType(type));
  }
  // sort_c2
  int64_t rank = shape.size(), dimension = getDimension().value_or(-1);
  if (dimension < -rank || dimension >= rank)
    return emitOpError("expected a dimension of ") << getInputs()[0].getType() << ", found dimension " << dimension;
  // sort_c3
  return verifyRegion(*this, getComparator(), argumentTypes,
                      RankedTensorType::get({}, IntegerType::get(getContext(), 1)));
}

LogicalResult WhileOp::verify() {
  TypeRange types = getOperandTypes();
  // while_c1
  if (types != getResultTypes())
    return verifyResultTypes(*this, types);
  // while_c2
  if (failed(verifyRegion(*this, getCond(), types, RankedTensorType::get({}, IntegerType::get(getContext(), 1)))))
    return failure();
  return verifyRegion(*this, getBody(), types, types);
}

LogicalResult CaseOp::verify() {
  // case_c1
  Type indexType = RankedTensorType::get({}, IntegerType::get(getContext(), 32));
  if (getIndex().getType() != indexType)
    return emitOpError("expected an index of type ") << indexType << ", found " << getIndex().getType();
  // case_c2
  if (getBranches().empty())
    return emitOpError("expected at least one branch, found none");
  for (Region &branch : getBranches())
    if (failed(verifyRegion(*this, branch, {}, getResultTypes())))
      return failure();
  return success();
}

LogicalResult IfOp::verify() {
  // if_c1
  Type predicateType = RankedTensorType::get({}, IntegerType::get(getContext(), 1));
  if (getPred().getType() != predicateType)
    return emitOpError("expected a predicate of type ") << predicateType << ", found " << getPred().getType();
  // if_c2
  for (Region *branch : {&getTrueBranch(), &getFalseBranch()})
    if (failed(verifyRegion(*this, *branch, {}, getResultTypes())))
      return failure();
  return success();
}
