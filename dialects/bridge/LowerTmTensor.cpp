//===- LowerTmTensor.cpp - lowering of tm_tensor ops ----------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers the ops to loops and linalg ops for MLIR's JIT. The compiler imports the ops itself.
//
//===----------------------------------------------------------------------===//

#include "LowerTmTensor.h"
#include "TmTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;

namespace {
/// Inlines a body at the insertion point, with `elements` as arguments, and returns the yielded value.
Value inlineBody(OpBuilder &builder, Block &body, ArrayRef<Value> elements) {
  IRMapping mapping;
  mapping.map(body.getArguments(), elements);
  for (Operation &op : body.without_terminator())
    builder.clone(op, mapping);
  return mapping.lookup(body.getTerminator()->getOperand(0));
}

/// Lowers a scan to loops over elements: the second result has the running value.
void lowerScan(tm_tensor::ScanOp scan) {
  OpBuilder builder(scan);
  Location location = scan.getLoc();
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, location, value); };
  int64_t dim = scan.getDimension();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(scan.getInputs()[0].getType()).getShape();
  SmallVector<Value> lower(shape.size(), index(0)), upper, steps(shape.size(), index(1));
  for (int64_t size : shape)
    upper.push_back(index(size));
  Value first = index(0);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange point, ValueRange results) -> scf::ValueVector {
    SmallVector<Value> reducedPoint(point);
    reducedPoint.erase(reducedPoint.begin() + dim);
    Value isFirst = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::eq, point[dim], first);
    Value element = tensor::ExtractOp::create(inner, loc, scan.getInputs()[0], point);
    Value previous = tensor::ExtractOp::create(inner, loc, results[1], reducedPoint);
    Value combined = inlineBody(inner, scan.getBody().front(), {previous, element});
    Value output =
        scan.getInclusive() ? Value(arith::SelectOp::create(inner, loc, isFirst, element, combined)) : previous;
    Value accumulator = scan.getInclusive() ? output : combined;
    return {tensor::InsertOp::create(inner, loc, output, results[0], point),
            tensor::InsertOp::create(inner, loc, accumulator, results[1], reducedPoint)};
  };
  scf::LoopNest loops = scf::buildLoopNest(builder, location, lower, upper, steps, scan.getOutputs(), body);
  scan.replaceAllUsesWith(loops.results);
  scan.erase();
}

/// Lowers a scatter to loops over the elements of each update, in order. Windows are right-aligned to the target.
LogicalResult lowerScatter(tm_tensor::ScatterOp scatter) {
  OpBuilder builder(scatter);
  Location location = scatter.getLoc();
  auto createIndex = [&](OpBuilder &nested, int64_t value) -> Value {
    return arith::ConstantIndexOp::create(nested, location, value);
  };
  Value updates = scatter.getInputs()[0], indices = scatter.getInputs()[1];
  auto getShape = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  ArrayRef<int64_t> shape = getShape(updates);
  int64_t rank = getShape(scatter.getOutputs()[0]).size(), first = rank - (shape.size() - 1);
  if (first < 0)
    return scatter.emitError("the reference cannot insert a tensor of higher rank into one of lower rank");
  SmallVector<Value> lower(shape.size(), createIndex(builder, 0)), upper, steps(shape.size(), createIndex(builder, 1));
  for (int64_t size : shape)
    upper.push_back(createIndex(builder, size));
  auto body = [&](OpBuilder &inner, Location loc, ValueRange point, ValueRange results) -> scf::ValueVector {
    SmallVector<Value> target(rank, lower[0]);
    for (auto [dim, position] : llvm::enumerate(point.drop_front()))
      target[first + dim] = position;
    for (auto [column, dim] : llvm::enumerate(scatter.getDimensionMap())) {
      Value index = tensor::ExtractOp::create(inner, loc, indices, ValueRange{point[0], createIndex(inner, column)});
      Value offset = arith::IndexCastOp::create(inner, loc, inner.getIndexType(), index);
      target[dim] = arith::AddIOp::create(inner, loc, target[dim], offset);
    }
    Value update = tensor::ExtractOp::create(inner, loc, updates, point);
    Value current = tensor::ExtractOp::create(inner, loc, results[0], target);
    Value combined = inlineBody(inner, scatter.getBody().front(), {update, current});
    return {tensor::InsertOp::create(inner, loc, combined, results[0], target)};
  };
  scf::LoopNest loops = scf::buildLoopNest(builder, location, lower, upper, steps, scatter.getOutputs(), body);
  scatter.replaceAllUsesWith(loops.results);
  scatter.erase();
  return success();
}

/// Lowers a sort to a bubble sort with one pass per element. Swaps two neighbors if the second one strictly precedes
/// the first one.
void lowerSort(tm_tensor::SortOp sort) {
  OpBuilder builder(sort);
  Location location = sort.getLoc();
  auto createIndex = [](OpBuilder &inner, Location loc, int64_t value) -> Value {
    return arith::ConstantIndexOp::create(inner, loc, value);
  };
  int64_t dim = sort.getDimension();
  SmallVector<Value> upper;
  for (int64_t size : cast<RankedTensorType>(sort.getOutputs()[0].getType()).getShape())
    upper.push_back(createIndex(builder, location, size));
  // The outermost loop is over passes; the first element of a pair is at most the second to last.
  upper.insert(upper.begin(), upper[dim]);
  upper[dim + 1] = arith::SubIOp::create(builder, location, upper[dim + 1], createIndex(builder, location, 1));
  SmallVector<Value> lower(upper.size(), createIndex(builder, location, 0)),
      steps(upper.size(), createIndex(builder, location, 1));
  auto body = [&](OpBuilder &inner, Location loc, ValueRange point, ValueRange tensors) -> scf::ValueVector {
    SmallVector<Value> first(point.drop_front()), second(first);
    second[dim] = arith::AddIOp::create(inner, loc, first[dim], steps[0]);
    SmallVector<Value> forwards, backwards;
    for (Value tensor : tensors) {
      Value left = tensor::ExtractOp::create(inner, loc, tensor, first),
            right = tensor::ExtractOp::create(inner, loc, tensor, second);
      forwards.append({left, right});
      backwards.append({right, left});
    }
    Value isForward = inlineBody(inner, sort.getBody().front(), forwards),
          isBackward = inlineBody(inner, sort.getBody().front(), backwards);
    Value isSwapped = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ugt, isBackward, isForward);
    scf::ValueVector next;
    for (auto [position, tensor] : llvm::enumerate(tensors)) {
      Value left = forwards[2 * position], right = backwards[2 * position];
      Value newFirst = arith::SelectOp::create(inner, loc, isSwapped, right, left),
            newSecond = arith::SelectOp::create(inner, loc, isSwapped, left, right);
      Value partial = tensor::InsertOp::create(inner, loc, newFirst, tensor, first);
      next.push_back(tensor::InsertOp::create(inner, loc, newSecond, partial, second));
    }
    return next;
  };
  scf::LoopNest loops = scf::buildLoopNest(builder, location, lower, upper, steps, sort.getOutputs(), body);
  sort.replaceAllUsesWith(loops.results);
  sort.erase();
}

/// Lowers top-k to a sort of the elements with their indices, followed by a slice of the first elements.
void lowerTopk(tm_tensor::TopkOp topk) {
  OpBuilder builder(topk);
  Location location = topk.getLoc();
  SmallVector<Value> tensors(topk.getInputs());
  auto type = cast<RankedTensorType>(tensors[0].getType());
  int64_t dim = topk.getDimension();
  if (tensors.size() == 1) {
    auto indicesType = type.clone(cast<RankedTensorType>(topk.getOutputs()[1].getType()).getElementType());
    auto buildIndex = [&](OpBuilder &inner, Location loc, ValueRange point) {
      Value number = point[dim];
      if (!indicesType.getElementType().isIndex())
        number = arith::IndexCastOp::create(inner, loc, indicesType.getElementType(), number);
      tensor::YieldOp::create(inner, loc, number);
    };
    tensors.push_back(tensor::GenerateOp::create(builder, location, indicesType, ValueRange(), buildIndex));
  }
  SmallVector<Type> types = {tensors[0].getType(), tensors[1].getType()};
  auto sort = tm_tensor::SortOp::create(builder, location, types, tensors, static_cast<uint64_t>(dim));
  sort.getBody().takeBody(topk.getBody());
  Type indexType = cast<RankedTensorType>(types[1]).getElementType();
  sort.getBody().front().addArguments({indexType, indexType}, {location, location});
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)),
      steps(type.getRank(), builder.getIndexAttr(1)), sizes;
  for (int64_t size : cast<RankedTensorType>(topk.getResult(0).getType()).getShape())
    sizes.push_back(builder.getIndexAttr(size));
  for (auto [result, sorted] : llvm::zip_equal(topk.getResults(), sort.getResults()))
    result.replaceAllUsesWith(tensor::ExtractSliceOp::create(
        builder, location, cast<RankedTensorType>(result.getType()), sorted, offsets, sizes, steps));
  topk.erase();
  lowerSort(sort);
}

/// Lowers attention to linalg ops. The weights of a fully masked row, which has no maximum and no sum, are 0.
void lowerAttention(tm_tensor::AttentionOp attention) {
  OpBuilder builder(attention);
  Location location = attention.getLoc();
  auto getShape = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
  ValueRange inputs = attention.getInputs();
  auto element = cast<FloatType>(cast<RankedTensorType>(inputs[0].getType()).getElementType());
  // Batch dimensions, then rows, columns and the reduction dimension.
  unsigned numBatchDims = getShape(inputs[0]).size() - 2, numDims = numBatchDims + 3;
  auto buildMap = [&](ArrayRef<unsigned> dimsAfterBatch) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < numBatchDims; ++dim)
      dims.push_back(builder.getAffineDimExpr(dim));
    for (unsigned dim : dimsAfterBatch)
      dims.push_back(builder.getAffineDimExpr(numBatchDims + dim));
    return AffineMap::get(numDims, 0, dims, builder.getContext());
  };
  auto createConstant = [&](OpBuilder &nested, double value) -> Value {
    return arith::ConstantOp::create(nested, location, nested.getFloatAttr(element, value));
  };
  auto createFilled = [&](ArrayRef<int64_t> shape, double value) -> Value {
    Value empty = tensor::EmptyOp::create(builder, location, shape, element);
    return linalg::FillOp::create(builder, location, createConstant(builder, value), empty).getResult(0);
  };
  auto createMatmul = [&](Value left, Value right, std::array<SmallVector<unsigned>, 3> dims,
                          ArrayRef<int64_t> shape) -> Value {
    SmallVector<utils::IteratorType> iterators(numDims, utils::IteratorType::parallel);
    iterators.back() = utils::IteratorType::reduction;
    SmallVector<AffineMap> maps = {buildMap(dims[0]), buildMap(dims[1]), buildMap(dims[2])};
    auto body = [&](OpBuilder &inner, Location loc, ValueRange values) {
      Value next = arith::MulFOp::create(inner, loc, values[0], values[1]);
      linalg::YieldOp::create(inner, loc, Value(arith::AddFOp::create(inner, loc, next, values[2])));
    };
    Value start = createFilled(shape, 0);
    return linalg::GenericOp::create(builder, location, start.getType(), ValueRange{left, right}, start, maps,
                                     iterators, body)
        .getResult(0);
  };
  SmallVector<int64_t> shape(getShape(inputs[0])), rows(shape);
  shape.back() = getShape(inputs[1])[numBatchDims];
  rows.pop_back();
  Value scores = createMatmul(inputs[0], inputs[1], {SmallVector<unsigned>{0, 2}, {1, 2}, {0, 1}}, shape);
  double scale = 1 / std::sqrt(static_cast<double>(getShape(inputs[0]).back()));
  // Applies an elementwise function to tensors of the shape of the scores, or with one number per row.
  auto applyElementwise = [&](ValueRange operands, llvm::function_ref<Value(OpBuilder &, ValueRange)> function) {
    SmallVector<AffineMap> maps;
    for (Value value : operands)
      maps.push_back(
          getShape(value).size() == shape.size()
              ? builder.getMultiDimIdentityMap(shape.size())
              : AffineMap::getMultiDimIdentityMap(shape.size(), builder.getContext()).dropResult(rows.size()));
    maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
    SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
    Value start = createFilled(shape, 0);
    auto body = [&](OpBuilder &inner, Location loc, ValueRange values) {
      linalg::YieldOp::create(inner, loc, function(inner, values));
    };
    scores = linalg::GenericOp::create(builder, location, start.getType(), operands, start, maps, iterators, body)
                 .getResult(0);
  };
  auto reduceRows = [&](double start, llvm::function_ref<Value(OpBuilder &, Value, Value)> function) -> Value {
    auto body = [&](OpBuilder &inner, Location loc, ValueRange values) {
      linalg::YieldOp::create(inner, loc, function(inner, values[0], values[1]));
    };
    return linalg::ReduceOp::create(builder, location, scores, createFilled(rows, start),
                                    ArrayRef<int64_t>{static_cast<int64_t>(rows.size())}, body)
        .getResult(0);
  };
  applyElementwise(scores, [&](OpBuilder &nested, ValueRange values) -> Value {
    return arith::MulFOp::create(nested, location, values[0], createConstant(nested, scale));
  });
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (inputs.size() == 4)
    applyElementwise({scores, inputs[3]}, [&](OpBuilder &nested, ValueRange values) -> Value {
      if (values[1].getType().isInteger(1))
        return arith::SelectOp::create(nested, location, values[1], values[0], createConstant(nested, -kInfinity));
      return arith::AddFOp::create(nested, location, values[0], values[1]);
    });
  Value rowMax = reduceRows(-kInfinity, [&](OpBuilder &nested, Value left, Value right) -> Value {
    return arith::MaximumFOp::create(nested, location, left, right);
  });
  applyElementwise({scores, rowMax}, [&](OpBuilder &nested, ValueRange values) -> Value {
    Value isEmpty = arith::CmpFOp::create(nested, location, arith::CmpFPredicate::OEQ, values[1],
                                          createConstant(nested, -kInfinity));
    Value power = math::ExpOp::create(nested, location, arith::SubFOp::create(nested, location, values[0], values[1]));
    return arith::SelectOp::create(nested, location, isEmpty, createConstant(nested, 0), power);
  });
  Value rowSum = reduceRows(0, [&](OpBuilder &nested, Value left, Value right) -> Value {
    return arith::AddFOp::create(nested, location, left, right);
  });
  applyElementwise({scores, rowSum}, [&](OpBuilder &nested, ValueRange values) -> Value {
    Value isEmpty =
        arith::CmpFOp::create(nested, location, arith::CmpFPredicate::OEQ, values[1], createConstant(nested, 0));
    return arith::SelectOp::create(nested, location, isEmpty, createConstant(nested, 0),
                                   arith::DivFOp::create(nested, location, values[0], values[1]));
  });
  SmallVector<int64_t> outputShape(getShape(attention.getResult(0)));
  Value output = createMatmul(scores, inputs[2], {SmallVector<unsigned>{0, 2}, {2, 1}, {0, 1}}, outputShape);
  attention.getResult(0).replaceAllUsesWith(output);
  attention.erase();
}
} // namespace

LogicalResult spyre::lowerTmTensor(Operation *op) {
  if (auto scatter = dyn_cast<tm_tensor::ScatterOp>(op))
    return lowerScatter(scatter);
  if (auto scan = dyn_cast<tm_tensor::ScanOp>(op))
    lowerScan(scan);
  else if (auto sort = dyn_cast<tm_tensor::SortOp>(op))
    lowerSort(sort);
  else if (auto topk = dyn_cast<tm_tensor::TopkOp>(op))
    lowerTopk(topk);
  else if (auto attention = dyn_cast<tm_tensor::AttentionOp>(op))
    lowerAttention(attention);
  return success();
}
