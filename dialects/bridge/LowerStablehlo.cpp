//===- LowerStablehlo.cpp - lowering of the remaining stablehlo ops -------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers the stablehlo ops that the passes of StableHLO do not lower to linalg. The results are ops of scf, tensor,
// linalg and tm_tensor. The compiler and the reference execution use them.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Stablehlo.h"
#include "TmTensor.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace {
/// Returns the type of a tensor.
RankedTensorType getTensorType(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// Returns the scalar in a tensor of rank 0.
Value extractElement(OpBuilder &builder, Location location, Value tensor) {
  if (auto created = tensor.getDefiningOp<tensor::FromElementsOp>())
    return created.getElements().front();
  DenseElementsAttr numbers;
  if (matchPattern(tensor, m_Constant(&numbers)) && numbers.isSplat())
    return arith::ConstantOp::create(builder, location, numbers.getSplatValue<TypedAttr>());
  return tensor::ExtractOp::create(builder, location, tensor, ValueRange());
}

/// Rewriter of a region: replaces ops on tensors of rank 0 by ops on scalars.
class ElementwiseRewriter {
public:
  ElementwiseRewriter(OpBuilder &builder, Operation *parent) : builder(builder), parent(parent) {}

  /// Maps a tensor of rank 0 to its scalar.
  void map(Value tensor, Value element) { elements.map(tensor, element); }

  /// Rewrites the ops of a block, and returns the scalars that it yields. Returns none after an error, which has been
  /// reported.
  std::optional<SmallVector<Value>> rewriteBlock(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(rewriteOp(op)))
        return {};
    return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return lookupElement(value); });
  }

private:
  /// Returns the scalar of a tensor of rank 0; returns other values unchanged.
  Value lookupElement(Value value) {
    if (elements.contains(value) || !isa<RankedTensorType>(value.getType()))
      return elements.lookupOrDefault(value);
    return extractElement(builder, parent->getLoc(), value);
  }

  /// Rewrites one op; fails if the op has no scalar form.
  LogicalResult rewriteOp(Operation &op) {
    auto isElement = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || tensor.getRank() == 0;
    };
    if (!llvm::all_of(op.getOperandTypes(), isElement) || !llvm::all_of(op.getResultTypes(), isElement))
      return reject(op);
    if (isa<tensor::EmptyOp>(op))
      return success();
    if (isa<arith::ConstantOp>(op) && isa<RankedTensorType>(op.getResult(0).getType())) {
      elements.map(op.getResult(0), extractElement(builder, op.getLoc(), op.getResult(0)));
      return success();
    }
    if (isa<tensor::ExtractOp, tensor::FromElementsOp, linalg::FillOp>(op)) {
      elements.map(op.getResult(0), lookupElement(op.getOperand(0)));
      return success();
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (auto [argument, operand] : llvm::zip_equal(generic.getBody()->getArguments(), generic->getOperands()))
        if (!argument.use_empty())
          elements.map(argument, lookupElement(operand));
      for (Operation &inner : generic.getBody()->without_terminator())
        builder.clone(inner, elements);
      for (auto [result, yielded] :
           llvm::zip_equal(generic.getResults(), generic.getBody()->getTerminator()->getOperands()))
        elements.map(result, elements.lookupOrDefault(yielded));
      return success();
    }
    bool isBitcast = isa<tensor::BitcastOp>(op);
    if (!isBitcast && (!isa_and_nonnull<arith::ArithDialect>(op.getDialect()) || op.getNumResults() != 1))
      return reject(op);
    Type type = getElementTypeOrSelf(op.getResult(0).getType());
    if (isBitcast) {
      elements.map(op.getResult(0),
                   arith::BitcastOp::create(builder, op.getLoc(), type, lookupElement(op.getOperand(0))));
      return success();
    }
    SmallVector<Value> operands =
        llvm::map_to_vector(op.getOperands(), [&](Value value) { return lookupElement(value); });
    OperationState state(op.getLoc(), op.getName(), operands, type, op.getAttrs());
    elements.map(op.getResult(0), builder.create(state)->getResult(0));
    return success();
  }

  LogicalResult reject(Operation &op) {
    InFlightDiagnostic error = op.emitError("'") << op.getName() << "' op is not supported in a region of '"
                                                 << parent->getName() << "', which computes on elements";
    error.attachNote(parent->getLoc()) << "here";
    return error;
  }

  OpBuilder &builder;
  Operation *parent;
  IRMapping elements;
};

/// Adds the body block of a tm_tensor op, with arguments of `types`.
Block *addBody(Operation *op, ArrayRef<Type> types) {
  Block *block = new Block();
  for (Type type : types)
    block->addArgument(type, op->getLoc());
  op->getRegion(0).push_back(block);
  return block;
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Constant-folds a comparator whose arguments `mapping` maps to constants, and returns its result; none if an op does
/// not fold.
std::optional<bool> evaluateComparator(Block &body, IRMapping mapping, MLIRContext *context) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(context));
  OpBuilder builder = OpBuilder::atBlockBegin(scratch->getBody());
  for (Operation &op : body.without_terminator()) {
    Operation *clone = builder.clone(op, mapping);
    SmallVector<Value> folded;
    if (isa<arith::ConstantOp>(clone))
      continue;
    if (failed(builder.tryFold(clone, folded)) || folded.empty())
      return {};
    for (auto [old, value] : llvm::zip_equal(op.getResults(), folded))
      mapping.map(old, value);
  }
  IntegerAttr result;
  if (!matchPattern(mapping.lookupOrDefault(body.getTerminator()->getOperand(0)), m_Constant(&result)))
    return {};
  return result.getValue().isOne();
}

/// Returns sample numbers of a type, in ascending order, on which a comparator is evaluated.
SmallVector<TypedAttr> getSampleNumbers(Type type) {
  SmallVector<TypedAttr> numbers;
  if (auto floatType = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &format = floatType.getFloatSemantics();
    for (double value : {-1e4, -2.0, -1.0, -6e-5, 0.0, 6e-5, 0.5, 1.0, 3.0, 1e4})
      numbers.push_back(FloatAttr::get(type, value));
    numbers.insert(numbers.begin(), FloatAttr::get(type, APFloat::getInf(format, /*Negative=*/true)));
    numbers.push_back(FloatAttr::get(type, APFloat::getInf(format)));
  } else if (type.isInteger()) {
    for (int64_t value : {-100, -2, -1, 0, 1, 2, 100})
      numbers.push_back(IntegerAttr::get(type, value));
  }
  return numbers;
}

/// Sort key of a comparator: the number of the tensor whose elements it compares (block arguments `2 * key` and `2 *
/// key + 1`), and the direction.
struct SortKey {
  unsigned key;
  bool isAscending;
};

/// Returns the sort key of a comparator on scalars; none if the comparator does not order the numbers of one tensor.
/// The comparator is evaluated on sample numbers, not matched: JAX compares the bits of floats, and maps both zeros to
/// the same bits.
std::optional<SortKey> findSortKey(Block &body) {
  SetVector<Value> slice;
  SmallVector<Value> worklist = {body.getTerminator()->getOperand(0)};
  std::optional<unsigned> key;
  while (!worklist.empty()) {
    Value value = worklist.pop_back_val();
    if (!slice.insert(value))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != &body || (key && *key != argument.getArgNumber() / 2))
        return {};
      key = argument.getArgNumber() / 2;
    } else {
      llvm::append_range(worklist, value.getDefiningOp()->getOperands());
    }
  }
  if (!key)
    return {};
  Type type = body.getArgument(2 * *key).getType();
  SmallVector<TypedAttr> numbers = getSampleNumbers(type);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(type.getContext()));
  OpBuilder builder = OpBuilder::atBlockBegin(scratch->getBody());
  SmallVector<Value> constants =
      llvm::map_to_vector(numbers, [&](TypedAttr number) -> Value { return arith::ConstantOp::create(builder, scratch->getLoc(), number); });
  bool isAscending = true, isDescending = true;
  for (unsigned left = 0; left < constants.size(); ++left)
    for (unsigned right = 0; right < constants.size(); ++right) {
      IRMapping mapping;
      mapping.map(body.getArgument(2 * *key), constants[left]);
      mapping.map(body.getArgument(2 * *key + 1), constants[right]);
      std::optional<bool> precedes = evaluateComparator(body, mapping, type.getContext());
      if (!precedes)
        return {};
      isAscending &= *precedes == (left < right);
      isDescending &= *precedes == (left > right);
    }
  if (constants.empty() || isAscending == isDescending)
    return {};
  // A comparator that orders NaN before all numbers differs from a comparison of numbers; the import rejects it.
  if (auto floatType = dyn_cast<FloatType>(type)) {
    auto nan = FloatAttr::get(type, APFloat::getNaN(floatType.getFloatSemantics()));
    IRMapping mapping;
    Value left = body.getArgument(2 * *key), right = body.getArgument(2 * *key + 1);
    mapping.map(isAscending ? left : right, arith::ConstantOp::create(builder, scratch->getLoc(), nan).getResult());
    mapping.map(isAscending ? right : left, constants.front());
    std::optional<bool> isNanFirst = evaluateComparator(body, mapping, type.getContext());
    if (!isNanFirst || *isNanFirst)
      return {};
  }
  return SortKey{*key, isAscending};
}

LogicalResult lower(stablehlo::SortOp sort) {
  OpBuilder builder(sort);
  Location location = sort.getLoc();
  int64_t rank = getTensorType(sort.getInputs()[0]).getRank(), dimension = sort.getDimension().value_or(-1);
  SmallVector<Type> types;
  for (Value input : sort.getInputs())
    types.append(2, getTensorType(input).getElementType());
  auto sorted = tm_tensor::SortOp::create(builder, location, sort.getResultTypes(), sort.getInputs(), dimension < 0 ? dimension + rank : dimension);
  Block *body = addBody(sorted, types);
  builder.setInsertionPointToEnd(body);
  ElementwiseRewriter rewriter(builder, sort);
  for (auto [tensor, element] : llvm::zip_equal(sort.getComparator().getArguments(), body->getArguments()))
    rewriter.map(tensor, element);
  std::optional<SmallVector<Value>> yielded = rewriter.rewriteBlock(sort.getComparator().front());
  if (!yielded)
    return failure();
  tm_tensor::YieldOp::create(builder, location, *yielded);
  // A comparator that orders numbers becomes one comparison; any other comparator is kept, and the import rejects it.
  if (std::optional<SortKey> key = findSortKey(*body)) {
    body->clear();
    builder.setInsertionPointToEnd(body);
    Value left = body->getArgument(2 * key->key), right = body->getArgument(2 * key->key + 1);
    Value precedes;
    if (isa<FloatType>(left.getType()))
      precedes = arith::CmpFOp::create(
          builder, location, key->isAscending ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT, left, right);
    else
      precedes = arith::CmpIOp::create(
          builder, location, key->isAscending ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt, left, right);
    tm_tensor::YieldOp::create(builder, location, precedes);
  }
  sort.replaceAllUsesWith(sorted.getResults());
  sort.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Returns a tensor with its dimensions permuted to `order`.
Value transpose(OpBuilder &builder, Location location, Value tensor, ArrayRef<int64_t> order) {
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    return tensor;
  SmallVector<int64_t> shape =
      llvm::map_to_vector(order, [&](int64_t dim) { return getTensorType(tensor).getDimSize(dim); });
  Value empty = tensor::EmptyOp::create(builder, location, shape, getTensorType(tensor).getElementType());
  return linalg::TransposeOp::create(builder, location, tensor, empty, order)->getResult(0);
}

/// Returns the reassociation that collapses all dimensions into one.
SmallVector<ReassociationIndices> getFullReassociation(int64_t rank) {
  return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
}

/// Reshapes a tensor of static shape.
Value reshape(OpBuilder &builder, Location location, Value tensor, ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(tensor);
  if (type.getShape() == shape)
    return tensor;
  Value flat = tensor;
  if (type.getRank() > 1) {
    flat = tensor::CollapseShapeOp::create(builder, location, tensor, getFullReassociation(type.getRank()));
  } else if (type.getRank() == 0) {
    flat = tensor::ExpandShapeOp::create(builder, location, RankedTensorType::get({1}, type.getElementType()), tensor, ArrayRef<ReassociationIndices>());
  }
  if (shape.size() == 1)
    return flat;
  return tensor::ExpandShapeOp::create(builder, location, type.clone(shape), flat, getFullReassociation(shape.size()));
}

/// Returns an iota: a tensor of integers 0, 1, 2, ... along dimension `along`.
Value createIota(OpBuilder &builder, Location location, RankedTensorType type, int64_t dim) {
  Value empty = tensor::EmptyOp::create(builder, location, type.getShape(), type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location loc, ValueRange) {
    Value index = linalg::IndexOp::create(inner, loc, dim);
    linalg::YieldOp::create(inner, loc,
                            arith::IndexCastOp::create(inner, loc, type.getElementType(), index).getResult());
  };
  return linalg::GenericOp::create(builder, location, TypeRange(type), ValueRange(), ValueRange(empty), ArrayRef(identity), iterators, body).getResult(0);
}

/// Lowers a scatter of one update to `tensor.insert_slice`; `index` has the dynamic offsets along `dims`.
LogicalResult lowerWindowScatter(stablehlo::ScatterOp scatter, OpBuilder &builder, Value update, Value index,
                                 ArrayRef<int64_t> dims) {
  Location location = scatter.getLoc();
  Value input = scatter.getInputs()[0];
  RankedTensorType window = getTensorType(update);
  SmallVector<OpFoldResult> offsets(window.getRank(), builder.getIndexAttr(0)), sizes, strides(window.getRank(), builder.getIndexAttr(1));
  for (int64_t size : window.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  Value zero = arith::ConstantIndexOp::create(builder, location, 0);
  for (auto [column, dim] : llvm::enumerate(dims)) {
    Value offset = tensor::ExtractOp::create(
        builder, location, index, ValueRange{zero, arith::ConstantIndexOp::create(builder, location, column)});
    offsets[dim] = arith::IndexCastOp::create(builder, location, builder.getIndexType(), offset).getResult();
  }
  Block &computation = scatter.getUpdateComputation().front();
  if (computation.getTerminator()->getOperand(0) != computation.getArgument(1)) {
    Value current = tensor::ExtractSliceOp::create(builder, location, window, input, offsets, sizes, strides);
    Value empty = tensor::EmptyOp::create(builder, location, window.getShape(), window.getElementType());
    SmallVector<AffineMap> maps(3, builder.getMultiDimIdentityMap(window.getRank()));
    SmallVector<utils::IteratorType> iterators(window.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(builder, location, TypeRange(window), ValueRange{current, update},
                                             ValueRange(empty), maps, iterators);
    Block *body = new Block();
    for (int argument = 0; argument < 3; ++argument)
      body->addArgument(window.getElementType(), location);
    generic.getRegion().push_back(body);
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    ElementwiseRewriter rewriter(inner, scatter);
    rewriter.map(computation.getArgument(0), body->getArgument(0));
    rewriter.map(computation.getArgument(1), body->getArgument(1));
    std::optional<SmallVector<Value>> yielded = rewriter.rewriteBlock(computation);
    if (!yielded)
      return failure();
    linalg::YieldOp::create(inner, location, *yielded);
    update = generic.getResult(0);
  }
  Value written = tensor::InsertSliceOp::create(builder, location, update, input, offsets, sizes, strides);
  scatter.replaceAllUsesWith(ValueRange(written));
  scatter.erase();
  return success();
}

/// Lowers a scatter to `tm_tensor.scatter`, or to `tensor.insert_slice` if it writes a single window.
LogicalResult lower(stablehlo::ScatterOp scatter) {
  OpBuilder builder(scatter);
  Location location = scatter.getLoc();
  auto reject = [&](StringRef reason) {
    return scatter.emitError("'stablehlo.scatter' op ") << reason << ": not supported yet";
  };
  if (scatter.getInputs().size() != 1)
    return reject("writes to several tensors");
  stablehlo::ScatterNumbersAttr numbers = scatter.getScatterDimensionNumbers();
  Value input = scatter.getInputs()[0], indices = scatter.getScatterIndices(), updates = scatter.getUpdates()[0];
  ArrayRef<int64_t> shape = getTensorType(input).getShape();
  // The index vector dimension has the offsets of one update; the other dimensions of the indices enumerate the
  // updates.
  int64_t indexVectorDim = numbers.getIndexVectorDim();
  SmallVector<int64_t> indicesShape(getTensorType(indices).getShape());
  // Each list must name valid dimensions of its tensor, without duplicates.
  auto areValidDims = [](ArrayRef<int64_t> dims, int64_t rank) {
    llvm::SmallDenseSet<int64_t> uniqueDims;
    return llvm::all_of(dims, [&](int64_t dim) { return dim >= 0 && dim < rank && uniqueDims.insert(dim).second; });
  };
  int64_t rank = shape.size();
  if (indexVectorDim < 0 || indexVectorDim > (int64_t)indicesShape.size() ||
      !areValidDims(numbers.getUpdateWindowDims(), getTensorType(updates).getRank()) ||
      !areValidDims(numbers.getInsertedWindowDims(), rank) || !areValidDims(numbers.getInputBatchingDims(), rank) ||
      !areValidDims(numbers.getScatterDimsToOperandDims(), rank) ||
      !areValidDims(numbers.getScatterIndicesBatchingDims(), indicesShape.size()) ||
      numbers.getInputBatchingDims().size() != numbers.getScatterIndicesBatchingDims().size())
    return reject("refers to dimensions that its tensors do not have");
  if (indexVectorDim == (int64_t)indicesShape.size()) {
    indicesShape.push_back(1);
    indices = reshape(builder, location, indices, indicesShape);
  }
  SmallVector<int64_t> permutation, updateCounts;
  for (int64_t dim = 0; dim < (int64_t)indicesShape.size(); ++dim)
    if (dim != indexVectorDim) {
      permutation.push_back(dim);
      updateCounts.push_back(indicesShape[dim]);
    }
  SmallVector<int64_t> countedDims(permutation);
  permutation.push_back(indexVectorDim);
  int64_t numUpdates = ShapedType::getNumElements(updateCounts), indexVectorSize = indicesShape[indexVectorDim];
  if (indexVectorSize != (int64_t)numbers.getScatterDimsToOperandDims().size())
    return reject("has index vectors with another length than the number of dimensions that they index");
  indices = transpose(builder, location, indices, permutation);
  indices = reshape(builder, location, indices, {numUpdates, indexVectorSize});
  SmallVector<int64_t> dims(numbers.getScatterDimsToOperandDims());
  // The indices have no column for a batching dimension. Its index is an iota along the batching dimension of the
  // indices.
  SmallVector<Value> columns = {indices};
  for (auto [dim, indicesDim] :
       llvm::zip_equal(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims())) {
    const auto *position = llvm::find(countedDims, indicesDim);
    if (position == countedDims.end())
      return reject("refers to dimensions that its tensors do not have");
    Value iota =
        createIota(builder, location, getTensorType(indices).clone(updateCounts), position - countedDims.begin());
    columns.push_back(reshape(builder, location, iota, {numUpdates, 1}));
    dims.push_back(dim);
  }
  if (columns.size() > 1)
    indices = tensor::ConcatOp::create(builder, location, 1, columns);
  // The updates become one tensor. Its first dimension enumerates the updates; then follow all dimensions of the
  // operand, with size 1 if the scatter inserts them.
  SmallVector<int64_t> window = {numUpdates};
  permutation.clear();
  ArrayRef<int64_t> windowDims = numbers.getUpdateWindowDims();
  for (int64_t dim = 0; dim < getTensorType(updates).getRank(); ++dim)
    if (!llvm::is_contained(windowDims, dim))
      permutation.push_back(dim);
  llvm::append_range(permutation, windowDims);
  size_t nextWindowDim = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isInserted = llvm::is_contained(numbers.getInsertedWindowDims(), dim) || llvm::is_contained(numbers.getInputBatchingDims(), dim);
    if (!isInserted && nextWindowDim == windowDims.size())
      return reject("refers to dimensions that its tensors do not have");
    window.push_back(isInserted ? 1 : getTensorType(updates).getDimSize(windowDims[nextWindowDim++]));
  }
  if (nextWindowDim != windowDims.size() ||
      ShapedType::getNumElements(window) != getTensorType(updates).getNumElements())
    return reject("refers to dimensions that its tensors do not have");
  updates = transpose(builder, location, updates, permutation);
  bool isWindow = llvm::any_of(dims, [&](int64_t dim) { return window[dim + 1] != 1; });
  if (isWindow && numUpdates == 1)
    return lowerWindowScatter(scatter, builder, reshape(builder, location, updates, ArrayRef(window).drop_front()),
                              indices, dims);
  updates = reshape(builder, location, updates, window);
  bool isUnique = scatter.getUniqueIndices().value_or(false);
  auto written = tm_tensor::ScatterOp::create(builder, location, scatter.getResultTypes(), ValueRange{updates, indices},
                                              input, dims, isUnique);
  Type element = getTensorType(input).getElementType();
  Block *body = addBody(written, {element, element});
  builder.setInsertionPointToEnd(body);
  ElementwiseRewriter rewriter(builder, scatter);
  rewriter.map(scatter.getUpdateComputation().getArgument(0), body->getArgument(1));
  rewriter.map(scatter.getUpdateComputation().getArgument(1), body->getArgument(0));
  std::optional<SmallVector<Value>> yielded = rewriter.rewriteBlock(scatter.getUpdateComputation().front());
  if (!yielded)
    return failure();
  tm_tensor::YieldOp::create(builder, location, *yielded);
  scatter.replaceAllUsesWith(written.getResults());
  scatter.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Moves the ops of a region to the end of a block. `addTerminator` creates the terminator that replaces the one of the
/// region.
void moveRegion(Region &region, Block *block, function_ref<void(OpBuilder &, Operation *)> addTerminator) {
  Block &source = region.front();
  for (auto [old, argument] : llvm::zip_equal(source.getArguments(), block->getArguments()))
    old.replaceAllUsesWith(argument);
  Operation *terminator = source.getTerminator();
  OpBuilder builder(terminator);
  addTerminator(builder, terminator);
  terminator->erase();
  block->getOperations().splice(block->end(), source.getOperations());
}

void createYield(OpBuilder &builder, Operation *terminator) {
  scf::YieldOp::create(builder, terminator->getLoc(), terminator->getOperands());
}

LogicalResult lower(stablehlo::WhileOp loop) {
  OpBuilder builder(loop);
  auto created = scf::WhileOp::create(builder, loop.getLoc(), loop.getResultTypes(), loop.getOperand());
  for (Region *region : {&created.getBefore(), &created.getAfter()}) {
    Block &block = region->emplaceBlock();
    for (Type type : loop.getResultTypes())
      block.addArgument(type, loop.getLoc());
  }
  moveRegion(loop.getCond(), &created.getBefore().front(), [&](OpBuilder &addTerminator, Operation *terminator) {
    Value condition = extractElement(addTerminator, terminator->getLoc(), terminator->getOperand(0));
    scf::ConditionOp::create(addTerminator, terminator->getLoc(), condition, created.getBefore().getArguments());
  });
  moveRegion(loop.getBody(), &created.getAfter().front(), createYield);
  loop.replaceAllUsesWith(created.getResults());
  loop.erase();
  return success();
}

scf::IfOp createIf(OpBuilder &builder, Location location, TypeRange types, Value condition) {
  return scf::IfOp::create(builder, location, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
}

LogicalResult lower(stablehlo::IfOp choice) {
  OpBuilder builder(choice);
  scf::IfOp created = createIf(builder, choice.getLoc(), choice.getResultTypes(),
                               extractElement(builder, choice.getLoc(), choice.getPred()));
  moveRegion(choice.getTrueBranch(), created.thenBlock(), createYield);
  moveRegion(choice.getFalseBranch(), created.elseBlock(), createYield);
  choice.replaceAllUsesWith(created.getResults());
  choice.erase();
  return success();
}

/// Lowers a case op to nested `scf.if` ops, of which the last branch is the default; a single branch is always
/// executed.
LogicalResult lower(stablehlo::CaseOp choice) {
  OpBuilder builder(choice);
  Location location = choice.getLoc();
  Value index = extractElement(builder, location, choice.getIndex());
  SmallVector<Value> results;
  auto lastBranch = choice.getBranches().size() - 1;
  if (lastBranch == 0) {
    auto region = scf::ExecuteRegionOp::create(builder, location, choice.getResultTypes());
    moveRegion(choice.getBranches().front(), &region.getRegion().emplaceBlock(), createYield);
    choice.replaceAllUsesWith(region.getResults());
    choice.erase();
    return success();
  }
  scf::IfOp outermost;
  for (auto [position, branch] : llvm::enumerate(choice.getBranches().drop_back())) {
    Value branchIndex = arith::ConstantOp::create(builder, location, builder.getIntegerAttr(index.getType(), position));
    Value isSelected = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, index, branchIndex);
    scf::IfOp created = createIf(builder, location, choice.getResultTypes(), isSelected);
    if (outermost)
      scf::YieldOp::create(builder, location, created.getResults());
    else
      outermost = created;
    moveRegion(branch, created.thenBlock(), createYield);
    builder.setInsertionPointToEnd(created.elseBlock());
    if (position + 1 == lastBranch)
      moveRegion(choice.getBranches().back(), created.elseBlock(), createYield);
  }
  choice.replaceAllUsesWith(outermost.getResults());
  choice.erase();
  return success();
}
//===----------------------------------------------------------------------===//
// Integers with a sign in their type
//===----------------------------------------------------------------------===//

/// Makes all integer types signless, as linalg requires. The signedness is in the names of the ops.
void makeIntegersSignless(Operation *module) {
  SmallVector<UnrealizedConversionCastOp> casts;
  module->walk([&](UnrealizedConversionCastOp cast) { casts.push_back(cast); });
  if (casts.empty())
    return;
  AttrTypeReplacer replacer;
  replacer.addReplacement([](IntegerType type) -> std::optional<Type> { return IntegerType::get(type.getContext(), type.getWidth()); });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
  for (UnrealizedConversionCastOp cast : casts)
    if (cast.getOperandTypes() == cast.getResultTypes()) {
      cast.replaceAllUsesWith(cast.getOperands());
      cast.erase();
    }
}
} // namespace

bool spyreLowerStablehlo(MlirOperation module) {
  makeIntegersSignless(unwrap(module));
  SmallVector<Operation *> ops;
  // The walk is post-order: ops in a region are lowered before the op that contains the region.
  unwrap(module)->walk([&](Operation *op) {
    if (isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) && !isa<stablehlo::ReturnOp>(op))
      ops.push_back(op);
  });
  if (!ops.empty())
    unwrap(module)->getContext()->loadDialect<arith::ArithDialect, linalg::LinalgDialect, scf::SCFDialect, tensor::TensorDialect, tm_tensor::TmTensorDialect>();
  for (Operation *op : ops) {
    LogicalResult lowered = TypeSwitch<Operation *, LogicalResult>(op)
                                .Case<stablehlo::ScatterOp, stablehlo::SortOp, stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(
                                    [](auto op) { return lower(op); })
                                .Default([](Operation *op) { return op->emitError("'") << op->getName() << "' op has no users here"; });
    if (failed(lowered))
      return false;
  }
  return true;
}
