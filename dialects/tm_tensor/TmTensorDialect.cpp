//===- TmTensorDialect.cpp - registration, text and rules -----------------===//
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

// Integers and Booleans are written in parentheses without their types.
static ParseResult parseNumber(OpAsmParser &parser, IntegerAttr &number) {
  int64_t value;
  if (parser.parseInteger(value))
    return failure();
  number = parser.getBuilder().getI64IntegerAttr(value);
  return success();
}

static void printNumber(OpAsmPrinter &printer, Operation *, IntegerAttr number) { printer << number.getInt(); }

static ParseResult parseTruth(OpAsmParser &parser, BoolAttr &truth) {
  StringRef word;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return failure();
  if (word != "true" && word != "false")
    return parser.emitError(at, "expected 'true' or 'false', found '") << word << "'";
  truth = parser.getBuilder().getBoolAttr(word == "true");
  return success();
}

static void printTruth(OpAsmPrinter &printer, Operation *, BoolAttr truth) { printer << (truth.getValue() ? "true" : "false"); }

#define GET_OP_CLASSES
#include "TmTensorOps.cpp.inc"

namespace {
/// Functions with these ops may be inlined.
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

static LogicalResult verifyResults(Operation *op, OperandRange outputs) {
  if (outputs.getTypes() == op->getResultTypes())
    return success();
  return op->emitOpError("expected results of the types of 'outs'");
}

/// Verifies that a body has arguments of types `taken` and yields a value of type `given`.
static LogicalResult verifyBody(Operation *op, ArrayRef<Type> taken, Type given) {
  Block &body = op->getRegion(0).front();
  if (body.getArgumentTypes() != taken)
    return op->emitOpError("expected a body with one argument for each element that it gets, ") << taken.size() << " in all, found "
                                                                                            << body.getNumArguments();
  Operation *yield = body.getTerminator();
  if (yield->getNumOperands() != 1 || yield->getOperand(0).getType() != given)
    return yield->emitOpError("expected one value of type ") << given;
  return success();
}

static Type elementOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()).getElementType(); }

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
  SmallVector<int64_t> rest(type.getShape());
  rest.erase(rest.begin() + getDimension());
  auto shapeOf = [&](unsigned output) { return cast<RankedTensorType>(getOutputs()[output].getType()).getShape(); };
  if (shapeOf(0) != type.getShape() || shapeOf(1) != ArrayRef(rest))
    return emitOpError("expected 'outs' of the input's shape, and of the input's shape without dimension ") << getDimension();
  // scan_c3
  if (failed(verifyResults(*this, getOutputs())))
    return failure();
  // scan_c4
  Type element = elementOf(getOutputs()[0]);
  return verifyBody(*this, {element, elementOf(input)}, element);
}

LogicalResult ScatterOp::verify() {
  // scatter_c1
  if (getInputs().size() != 2 || getOutputs().size() != 1)
    return emitOpError("expected two inputs and one 'outs', found ") << getInputs().size() << " and " << getOutputs().size();
  if (failed(verifyResults(*this, getOutputs())))
    return failure();
  // scatter_c2
  Type element = elementOf(getOutputs()[0]);
  return verifyBody(*this, {elementOf(getInputs()[0]), element}, element);
}

LogicalResult SortOp::verify() {
  // sort_c1
  SmallVector<Type> taken;
  for (Value output : getOutputs()) {
    if (failed(verifyDimension(*this, getDimension(), output)))
      return failure();
    taken.append(2, elementOf(output));
  }
  if (failed(verifyResults(*this, getOutputs())))
    return failure();
  // sort_c2
  return verifyBody(*this, taken, IntegerType::get(getContext(), 1));
}

LogicalResult TopkOp::verify() {
  // topk_c1
  if (getInputs().empty() || getInputs().size() > 2 || getOutputs().size() != 2)
    return emitOpError("expected one or two inputs and two 'outs', found ") << getInputs().size() << " and " << getOutputs().size();
  // topk_c2
  Value input = getInputs()[0];
  if (failed(verifyDimension(*this, getDimension(), input)) || failed(verifyResults(*this, getOutputs())))
    return failure();
  // topk_c1
  auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  ArrayRef<int64_t> from = shapeOf(input), to = shapeOf(getOutputs()[0]);
  SmallVector<int64_t> whole(to);
  if (to.size() == from.size())
    whole[getDimension()] = from[getDimension()];
  bool isPart = to.size() == from.size() && to[getDimension()] <= from[getDimension()] && ArrayRef(whole) == from;
  if (!isPart || shapeOf(getOutputs()[1]) != to || shapeOf(getInputs().back()) != from)
    return emitOpError("expected tensors of the input's shape, with at most as many elements in 'outs' along dimension ") << getDimension();
  // topk_c3
  return verifyBody(*this, {elementOf(input), elementOf(input)}, IntegerType::get(getContext(), 1));
}

LogicalResult AttentionOp::verify() {
  auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  // attention_c1
  if (getInputs().size() < 3 || getInputs().size() > 4 || getOutputs().size() != 1)
    return emitOpError("expected three or four inputs and one 'outs', found ") << getInputs().size() << " and " << getOutputs().size();
  ArrayRef<int64_t> query = shapeOf(getInputs()[0]);
  SmallVector<Value> tensors(getOperands());
  auto isBeside = [&](Value tensor) {
    return query.size() >= 2 && shapeOf(tensor).size() == query.size() && succeeded(verifyCompatibleShape(shapeOf(tensor).drop_back(2), query.drop_back(2)));
  };
  for (Value tensor : tensors)
    if (!isBeside(tensor))
      return emitOpError("expected all dimensions but the last two as in the queries ")
             << getInputs()[0].getType() << ", found " << tensor.getType();
  // attention_c2
  ArrayRef<int64_t> value = shapeOf(getInputs()[2]).take_back(2);
  int64_t nKeys = shapeOf(getInputs()[1]).drop_back().back();
  query = query.take_back(2);
  SmallVector<SmallVector<int64_t>> expected = {{query[0], query[1]}, {nKeys, query[1]}, {nKeys, value[1]}};
  if (getInputs().size() == 4)
    expected.push_back({query[0], nKeys});
  expected.push_back({query[0], value[1]});
  for (auto [tensor, sizes] : llvm::zip_equal(tensors, expected))
    if (failed(verifyCompatibleShape(shapeOf(tensor).take_back(2), sizes)))
      return emitOpError("expected ") << sizes[0] << " by " << sizes[1]
                                      << " in the last two dimensions, as the other tensors require, found " << tensor.getType();
  // attention_c3
  return verifyResults(*this, getOutputs());
}
