//===- TmTensorDialect.cpp - registration, syntax and verifiers -----------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "TmTensor.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/InliningUtils.h"

using namespace mlir;
using namespace tm_tensor;

#include "TmTensorDialect.cpp.inc"

// Parses and prints integers and booleans without their types.
static ParseResult parseNumber(OpAsmParser &parser, IntegerAttr &number) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  number = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

static void printNumber(OpAsmPrinter &printer, Operation *, IntegerAttr number) { printer << number.getInt(); }

static ParseResult parseTruth(OpAsmParser &parser, BoolAttr &boolean) {
  StringRef keyword;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  if (keyword != "true" && keyword != "false")
    return parser.emitError(location, "expected 'true' or 'false', found '") << keyword << "'";
  boolean = parser.getBuilder().getBoolAttr(keyword == "true");
  return success();
}

static void printTruth(OpAsmPrinter &printer, Operation *, BoolAttr boolean) {
  printer << (boolean.getValue() ? "true" : "false");
}

#define GET_OP_CLASSES
#include "TmTensorOps.cpp.inc"

namespace {
/// Allows the inlining of functions with ops of this dialect.
struct TmTensorInlinerInterface : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;

  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const override { return true; }
  bool isLegalToInline(Region *, Region *, bool, IRMapping &) const override { return true; }
};
} // namespace

void TmTensorDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "TmTensorOps.cpp.inc"
      >();
  addInterfaces<TmTensorInlinerInterface>();
}

static LogicalResult verifyResultTypes(Operation *op, OperandRange outputs) {
  if (outputs.getTypes() == op->getResultTypes())
    return success();
  return op->emitOpError("expected results of the types of 'outs'");
}

/// Verifies the types of the arguments and of the yielded value of a body.
static LogicalResult verifyBody(Operation *op, ArrayRef<Type> argumentTypes, Type yieldedType) {
  Block &body = op->getRegion(0).front();
  if (body.getArgumentTypes() != argumentTypes)
    return op->emitOpError("expected a body with one argument for each element that it gets, ")
           << argumentTypes.size() << " in all, found " << body.getNumArguments();
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1 || yield->getOperand(0).getType() != yieldedType)
    return yield->emitOpError("expected one value of type ") << yieldedType;
  return success();
}

static Type getElementType(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); }

static LogicalResult verifyDimension(Operation *op, int64_t dimension, Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (dimension >= 0 && dimension < rank)
    return success();
  return op->emitOpError("expected a dimension of ") << tensor.getType() << ", found dimension " << dimension;
}

LogicalResult ScanOp::verify() {
  // scan_c1
  if (getInputs().size() != 1 || getOutputs().size() != 2)
    return emitOpError("expected one input and two 'outs', found ") << getInputs().size() << " and " << getOutputs().size();
  // scan_c2
  Value input = getInputs()[0];
  if (failed(verifyDimension(*this, getDimension(), input)))
    return failure();
  // scan_c1
  auto type = cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> reducedShape(type.getShape());
  reducedShape.erase(reducedShape.begin() + getDimension());
  auto getShape = [&](unsigned output) { return cast<RankedTensorType>(getOutputs()[output].getType()).getShape(); };
  if (getShape(0) != type.getShape() || getShape(1) != ArrayRef(reducedShape))
    return emitOpError("expected 'outs' of the input's shape, and of the input's shape without dimension ") << getDimension();
  // scan_c3
  if (failed(verifyResultTypes(*this, getOutputs())))
    return failure();
  // scan_c4
  Type element = getElementType(getOutputs()[0]);
  return verifyBody(*this, {element, getElementType(input)}, element);
}

LogicalResult ScatterOp::verify() {
  // scatter_c1
  if (getInputs().size() != 2 || getOutputs().size() != 1)
    return emitOpError("expected two inputs and one 'outs', found ") << getInputs().size() << " and " << getOutputs().size();
  if (failed(verifyResultTypes(*this, getOutputs())))
    return failure();
  // scatter_c2
  Type element = getElementType(getOutputs()[0]);
  return verifyBody(*this, {getElementType(getInputs()[0]), element}, element);
}

LogicalResult SortOp::verify() {
  // sort_c1
  SmallVector<Type> argumentTypes;
  for (Value output : getOutputs()) {
    if (failed(verifyDimension(*this, getDimension(), output)))
      return failure();
    argumentTypes.append(2, getElementType(output));
  }
  if (failed(verifyResultTypes(*this, getOutputs())))
    return failure();
  // sort_c2
  return verifyBody(*this, argumentTypes, IntegerType::get(getContext(), 1));
}

LogicalResult TopkOp::verify() {
  // topk_c1
  if (getInputs().empty() || getInputs().size() > 2 || getOutputs().size() != 2)
    return emitOpError("expected one or two inputs and two 'outs', found ") << getInputs().size() << " and " << getOutputs().size();
  // topk_c2
  Value input = getInputs()[0];
  if (failed(verifyDimension(*this, getDimension(), input)) || failed(verifyResultTypes(*this, getOutputs())))
    return failure();
  // topk_c1
  auto getShape = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  ArrayRef<int64_t> from = getShape(input), to = getShape(getOutputs()[0]);
  SmallVector<int64_t> expected(to);
  if (to.size() == from.size())
    expected[getDimension()] = from[getDimension()];
  bool isValidShape =
      to.size() == from.size() && to[getDimension()] <= from[getDimension()] && ArrayRef(expected) == from;
  if (!isValidShape || getShape(getOutputs()[1]) != to || getShape(getInputs().back()) != from)
    return emitOpError("expected tensors of the input's shape, with at most as many elements in 'outs' along dimension ") << getDimension();
  // topk_c3
  return verifyBody(*this, {getElementType(input), getElementType(input)}, IntegerType::get(getContext(), 1));
}

LogicalResult AttentionOp::verify() {
  auto getShape = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  // attention_c1
  if (getInputs().size() < 3 || getInputs().size() > 4 || getOutputs().size() != 1)
    return emitOpError("expected three or four inputs and one 'outs', found ") << getInputs().size() << " and " << getOutputs().size();
  ArrayRef<int64_t> query = getShape(getInputs()[0]);
  SmallVector<Value> tensors(getOperands());
  auto hasQueryBatchDims = [&](Value tensor) {
    return query.size() >= 2 && getShape(tensor).size() == query.size() &&
           succeeded(verifyCompatibleShape(getShape(tensor).drop_back(2), query.drop_back(2)));
  };
  for (Value tensor : tensors)
    if (!hasQueryBatchDims(tensor))
      return emitOpError("expected all dimensions but the last two as in the queries ")
             << getInputs()[0].getType() << ", found " << tensor.getType();
  // attention_c2
  ArrayRef<int64_t> value = getShape(getInputs()[2]).take_back(2);
  int64_t numKeys = getShape(getInputs()[1]).drop_back().back();
  query = query.take_back(2);
  SmallVector<SmallVector<int64_t>> expected = {{query[0], query[1]}, {numKeys, query[1]}, {numKeys, value[1]}};
  if (getInputs().size() == 4)
    expected.push_back({query[0], numKeys});
  expected.push_back({query[0], value[1]});
  for (auto [tensor, sizes] : llvm::zip_equal(tensors, expected))
    if (failed(verifyCompatibleShape(getShape(tensor).take_back(2), sizes)))
      return emitOpError("expected ") << sizes[0] << " by " << sizes[1]
                                      << " in the last two dimensions, as the other tensors require, found " << tensor.getType();
  // attention_c3
  return verifyResultTypes(*this, getOutputs());
}
