//===- LowerStablehlo.cpp - stablehlo ops that JAX leaves -----------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// Lowers the ops of stablehlo that its own passes to linalg leave to ops of scf and tm_tensor: for the compiler, and
// for the reference.
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
RankedTensorType typeOf(Value tensor) { return cast<RankedTensorType>(tensor.getType()); }

/// Returns the element of a tensor of rank 0.
Value elementOf(OpBuilder &builder, Location location, Value tensor) {
  if (auto made = tensor.getDefiningOp<tensor::FromElementsOp>())
    return made.getElements().front();
  DenseElementsAttr numbers;
  if (matchPattern(tensor, m_Constant(&numbers)) && numbers.isSplat())
    return arith::ConstantOp::create(builder, location, numbers.getSplatValue<TypedAttr>());
  return tensor::ExtractOp::create(builder, location, tensor, ValueRange());
}

/// Rewrites the ops of a region on tensors of rank 0 to ops on their elements.
class Elementwise {
public:
  Elementwise(OpBuilder &builder, Operation *around) : builder(builder), around(around) {}

  void map(Value tensor, Value element) { elements.map(tensor, element); }

  /// Returns the elements that the region yields; none if an op of the region has no elementwise form, which has been
  /// reported.
  std::optional<SmallVector<Value>> run(Block &block) {
    for (Operation &op : block.without_terminator())
      if (failed(take(op)))
        return {};
    return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return of(value); });
  }

private:
  Value of(Value value) {
    if (elements.contains(value) || !isa<RankedTensorType>(value.getType()))
      return elements.lookupOrDefault(value);
    return elementOf(builder, around->getLoc(), value);
  }

  LogicalResult take(Operation &op) {
    auto isElement = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || tensor.getRank() == 0;
    };
    if (!llvm::all_of(op.getOperandTypes(), isElement) || !llvm::all_of(op.getResultTypes(), isElement))
      return refuse(op);
    if (isa<tensor::EmptyOp>(op))
      return success();
    if (isa<arith::ConstantOp>(op) && isa<RankedTensorType>(op.getResult(0).getType())) {
      elements.map(op.getResult(0), elementOf(builder, op.getLoc(), op.getResult(0)));
      return success();
    }
    if (isa<tensor::ExtractOp, tensor::FromElementsOp, linalg::FillOp>(op)) {
      elements.map(op.getResult(0), of(op.getOperand(0)));
      return success();
    }
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      for (auto [argument, operand] : llvm::zip_equal(generic.getBody()->getArguments(), generic->getOperands()))
        if (!argument.use_empty())
          elements.map(argument, of(operand));
      for (Operation &inner : generic.getBody()->without_terminator())
        builder.clone(inner, elements);
      for (auto [result, given] : llvm::zip_equal(generic.getResults(), generic.getBody()->getTerminator()->getOperands()))
        elements.map(result, elements.lookupOrDefault(given));
      return success();
    }
    bool isBitcast = isa<tensor::BitcastOp>(op);
    if (!isBitcast && (!isa_and_nonnull<arith::ArithDialect>(op.getDialect()) || op.getNumResults() != 1))
      return refuse(op);
    Type type = getElementTypeOrSelf(op.getResult(0).getType());
    if (isBitcast) {
      elements.map(op.getResult(0), arith::BitcastOp::create(builder, op.getLoc(), type, of(op.getOperand(0))));
      return success();
    }
    SmallVector<Value> operands = llvm::map_to_vector(op.getOperands(), [&](Value value) { return of(value); });
    OperationState state(op.getLoc(), op.getName(), operands, type, op.getAttrs());
    elements.map(op.getResult(0), builder.create(state)->getResult(0));
    return success();
  }

  LogicalResult refuse(Operation &op) {
    InFlightDiagnostic error = op.emitError("'") << op.getName() << "' op is not supported in a region of '" << around->getName() << "', which computes on elements";
    error.attachNote(around->getLoc()) << "here";
    return error;
  }

  OpBuilder &builder;
  Operation *around;
  IRMapping elements;
};

/// Adds the body block of a tm_tensor op, with arguments of these element types.
Block *bodyOf(Operation *op, ArrayRef<Type> types) {
  Block *block = new Block();
  for (Type type : types)
    block->addArgument(type, op->getLoc());
  op->getRegion(0).push_back(block);
  return block;
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Folds a region whose arguments are mapped to constants by `known`, and returns its truth value; none if an op does
/// not fold.
std::optional<bool> holds(Block &body, IRMapping known, MLIRContext *context) {
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(context));
  OpBuilder builder = OpBuilder::atBlockBegin(scratch->getBody());
  for (Operation &op : body.without_terminator()) {
    Operation *copy = builder.clone(op, known);
    SmallVector<Value> folded;
    if (isa<arith::ConstantOp>(copy))
      continue;
    if (failed(builder.tryFold(copy, folded)) || folded.empty())
      return {};
    for (auto [old, value] : llvm::zip_equal(op.getResults(), folded))
      known.map(old, value);
  }
  IntegerAttr truth;
  if (!matchPattern(known.lookupOrDefault(body.getTerminator()->getOperand(0)), m_Constant(&truth)))
    return {};
  return truth.getValue().isOne();
}

/// Returns sample numbers of a type, in ascending order, on which a comparator is evaluated.
SmallVector<TypedAttr> probes(Type type) {
  SmallVector<TypedAttr> found;
  if (auto real = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &format = real.getFloatSemantics();
    for (double number : {-1e4, -2.0, -1.0, -6e-5, 0.0, 6e-5, 0.5, 1.0, 3.0, 1e4})
      found.push_back(FloatAttr::get(type, number));
    found.insert(found.begin(), FloatAttr::get(type, APFloat::getInf(format, /*Negative=*/true)));
    found.push_back(FloatAttr::get(type, APFloat::getInf(format)));
  } else if (type.isInteger()) {
    for (int64_t number : {-100, -2, -1, 0, 1, 2, 100})
      found.push_back(IntegerAttr::get(type, number));
  }
  return found;
}

/// Sort key of a comparator: the number of the tensor that it compares (block arguments `2 * key` and `2 * key + 1`),
/// and the direction.
struct Order {
  unsigned key;
  bool isAscending;
};

/// Returns the sort key of a comparator on elements, found by evaluating it on sample numbers: JAX compares the bits of
/// floats, with equal zeros. None if it is no order of the numbers of one tensor.
std::optional<Order> orderOf(Block &body) {
  SetVector<Value> slice;
  SmallVector<Value> open = {body.getTerminator()->getOperand(0)};
  std::optional<unsigned> key;
  while (!open.empty()) {
    Value value = open.pop_back_val();
    if (!slice.insert(value))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner() != &body || (key && *key != argument.getArgNumber() / 2))
        return {};
      key = argument.getArgNumber() / 2;
    } else {
      llvm::append_range(open, value.getDefiningOp()->getOperands());
    }
  }
  if (!key)
    return {};
  Type type = body.getArgument(2 * *key).getType();
  SmallVector<TypedAttr> numbers = probes(type);
  OwningOpRef<ModuleOp> scratch = ModuleOp::create(UnknownLoc::get(type.getContext()));
  OpBuilder builder = OpBuilder::atBlockBegin(scratch->getBody());
  SmallVector<Value> constants =
      llvm::map_to_vector(numbers, [&](TypedAttr number) -> Value { return arith::ConstantOp::create(builder, scratch->getLoc(), number); });
  bool isAscending = true, isDescending = true;
  for (unsigned one = 0; one < constants.size(); ++one)
    for (unsigned other = 0; other < constants.size(); ++other) {
      IRMapping known;
      known.map(body.getArgument(2 * *key), constants[one]);
      known.map(body.getArgument(2 * *key + 1), constants[other]);
      std::optional<bool> isBefore = holds(body, known, type.getContext());
      if (!isBefore)
        return {};
      isAscending &= *isBefore == (one < other);
      isDescending &= *isBefore == (one > other);
    }
  if (constants.empty() || isAscending == isDescending)
    return {};
  // An order that places NaN before all numbers is no comparison of numbers; the import rejects it.
  if (auto real = dyn_cast<FloatType>(type)) {
    auto nan = FloatAttr::get(type, APFloat::getNaN(real.getFloatSemantics()));
    IRMapping known;
    Value first = body.getArgument(2 * *key), second = body.getArgument(2 * *key + 1);
    known.map(isAscending ? first : second, arith::ConstantOp::create(builder, scratch->getLoc(), nan).getResult());
    known.map(isAscending ? second : first, constants.front());
    std::optional<bool> isSmallest = holds(body, known, type.getContext());
    if (!isSmallest || *isSmallest)
      return {};
  }
  return Order{*key, isAscending};
}

LogicalResult lower(stablehlo::SortOp sort) {
  OpBuilder builder(sort);
  Location location = sort.getLoc();
  int64_t rank = typeOf(sort.getInputs()[0]).getRank(), dimension = sort.getDimension().value_or(-1);
  SmallVector<Type> types;
  for (Value input : sort.getInputs())
    types.append(2, typeOf(input).getElementType());
  auto sorted = tm_tensor::SortOp::create(builder, location, sort.getResultTypes(), sort.getInputs(), dimension < 0 ? dimension + rank : dimension);
  Block *body = bodyOf(sorted, types);
  builder.setInsertionPointToEnd(body);
  Elementwise elementwise(builder, sort);
  for (auto [tensor, element] : llvm::zip_equal(sort.getComparator().getArguments(), body->getArguments()))
    elementwise.map(tensor, element);
  std::optional<SmallVector<Value>> given = elementwise.run(sort.getComparator().front());
  if (!given)
    return failure();
  tm_tensor::YieldOp::create(builder, location, *given);
  // An order of numbers becomes one comparison; any other comparator is kept, and the import rejects it.
  if (std::optional<Order> order = orderOf(*body)) {
    body->clear();
    builder.setInsertionPointToEnd(body);
    Value one = body->getArgument(2 * order->key), other = body->getArgument(2 * order->key + 1);
    Value isBefore;
    if (isa<FloatType>(one.getType()))
      isBefore = arith::CmpFOp::create(builder, location, order->isAscending ? arith::CmpFPredicate::OLT : arith::CmpFPredicate::OGT, one, other);
    else
      isBefore = arith::CmpIOp::create(builder, location, order->isAscending ? arith::CmpIPredicate::slt : arith::CmpIPredicate::sgt, one, other);
    tm_tensor::YieldOp::create(builder, location, isBefore);
  }
  sort.replaceAllUsesWith(sorted.getResults());
  sort.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

/// Returns a tensor with its dimensions permuted to `order`.
Value transposed(OpBuilder &builder, Location location, Value tensor, ArrayRef<int64_t> order) {
  if (llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    return tensor;
  SmallVector<int64_t> shape = llvm::map_to_vector(order, [&](int64_t dim) { return typeOf(tensor).getDimSize(dim); });
  Value empty = tensor::EmptyOp::create(builder, location, shape, typeOf(tensor).getElementType());
  return linalg::TransposeOp::create(builder, location, tensor, empty, order)->getResult(0);
}

/// Returns the reassociation that collapses all dimensions.
SmallVector<ReassociationIndices> allOf(int64_t rank) { return {llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))}; }

/// Reshapes a tensor of static shape.
Value reshaped(OpBuilder &builder, Location location, Value tensor, ArrayRef<int64_t> shape) {
  RankedTensorType type = typeOf(tensor);
  if (type.getShape() == shape)
    return tensor;
  Value flat = tensor;
  if (type.getRank() > 1) {
    flat = tensor::CollapseShapeOp::create(builder, location, tensor, allOf(type.getRank()));
  } else if (type.getRank() == 0) {
    flat = tensor::ExpandShapeOp::create(builder, location, RankedTensorType::get({1}, type.getElementType()), tensor, ArrayRef<ReassociationIndices>());
  }
  if (shape.size() == 1)
    return flat;
  return tensor::ExpandShapeOp::create(builder, location, type.clone(shape), flat, allOf(shape.size()));
}

/// Returns a tensor of integers 0, 1, 2, ... along dimension `along`.
Value counted(OpBuilder &builder, Location location, RankedTensorType type, int64_t along) {
  Value empty = tensor::EmptyOp::create(builder, location, type.getShape(), type.getElementType());
  AffineMap identity = builder.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> iterators(type.getRank(), utils::IteratorType::parallel);
  auto body = [&](OpBuilder &inner, Location at, ValueRange) {
    Value index = linalg::IndexOp::create(inner, at, along);
    linalg::YieldOp::create(inner, at, arith::IndexCastOp::create(inner, at, type.getElementType(), index).getResult());
  };
  return linalg::GenericOp::create(builder, location, TypeRange(type), ValueRange(), ValueRange(empty), ArrayRef(identity), iterators, body).getResult(0);
}

/// Lowers a scatter of one update, `part`, to `tensor.insert_slice`; `place` has the runtime offsets along `dims`.
LogicalResult writeWindow(stablehlo::ScatterOp scatter, OpBuilder &builder, Value part, Value place, ArrayRef<int64_t> dims) {
  Location location = scatter.getLoc();
  Value whole = scatter.getInputs()[0];
  RankedTensorType window = typeOf(part);
  SmallVector<OpFoldResult> offsets(window.getRank(), builder.getIndexAttr(0)), sizes, strides(window.getRank(), builder.getIndexAttr(1));
  for (int64_t size : window.getShape())
    sizes.push_back(builder.getIndexAttr(size));
  Value first = arith::ConstantIndexOp::create(builder, location, 0);
  for (auto [column, dim] : llvm::enumerate(dims)) {
    Value at = tensor::ExtractOp::create(builder, location, place, ValueRange{first, arith::ConstantIndexOp::create(builder, location, column)});
    offsets[dim] = arith::IndexCastOp::create(builder, location, builder.getIndexType(), at).getResult();
  }
  Block &region = scatter.getUpdateComputation().front();
  if (region.getTerminator()->getOperand(0) != region.getArgument(1)) {
    Value old = tensor::ExtractSliceOp::create(builder, location, window, whole, offsets, sizes, strides);
    Value empty = tensor::EmptyOp::create(builder, location, window.getShape(), window.getElementType());
    SmallVector<AffineMap> maps(3, builder.getMultiDimIdentityMap(window.getRank()));
    SmallVector<utils::IteratorType> iterators(window.getRank(), utils::IteratorType::parallel);
    auto generic = linalg::GenericOp::create(builder, location, TypeRange(window), ValueRange{old, part}, ValueRange(empty), maps, iterators);
    Block *body = new Block();
    for (int argument = 0; argument < 3; ++argument)
      body->addArgument(window.getElementType(), location);
    generic.getRegion().push_back(body);
    OpBuilder inner = OpBuilder::atBlockEnd(body);
    Elementwise elementwise(inner, scatter);
    elementwise.map(region.getArgument(0), body->getArgument(0));
    elementwise.map(region.getArgument(1), body->getArgument(1));
    std::optional<SmallVector<Value>> given = elementwise.run(region);
    if (!given)
      return failure();
    linalg::YieldOp::create(inner, location, *given);
    part = generic.getResult(0);
  }
  Value written = tensor::InsertSliceOp::create(builder, location, part, whole, offsets, sizes, strides);
  scatter.replaceAllUsesWith(ValueRange(written));
  scatter.erase();
  return success();
}

LogicalResult lower(stablehlo::ScatterOp scatter) {
  OpBuilder builder(scatter);
  Location location = scatter.getLoc();
  auto refuse = [&](StringRef why) { return scatter.emitError("'stablehlo.scatter' op ") << why << ": not supported yet"; };
  if (scatter.getInputs().size() != 1)
    return refuse("writes to several tensors");
  stablehlo::ScatterNumbersAttr numbers = scatter.getScatterDimensionNumbers();
  Value whole = scatter.getInputs()[0], places = scatter.getScatterIndices(), parts = scatter.getUpdates()[0];
  ArrayRef<int64_t> shape = typeOf(whole).getShape();
  // The index vector dimension has the offsets of one update; the other dimensions of the indices count updates.
  int64_t depthDim = numbers.getIndexVectorDim();
  SmallVector<int64_t> ofPlaces(typeOf(places).getShape());
  // Each list must name valid dimensions of its tensor, without duplicates.
  auto areDims = [](ArrayRef<int64_t> dims, int64_t rank) {
    llvm::SmallDenseSet<int64_t> seen;
    return llvm::all_of(dims, [&](int64_t dim) { return dim >= 0 && dim < rank && seen.insert(dim).second; });
  };
  int64_t rank = shape.size();
  if (depthDim < 0 || depthDim > (int64_t)ofPlaces.size() || !areDims(numbers.getUpdateWindowDims(), typeOf(parts).getRank()) ||
      !areDims(numbers.getInsertedWindowDims(), rank) || !areDims(numbers.getInputBatchingDims(), rank) ||
      !areDims(numbers.getScatterDimsToOperandDims(), rank) || !areDims(numbers.getScatterIndicesBatchingDims(), ofPlaces.size()) ||
      numbers.getInputBatchingDims().size() != numbers.getScatterIndicesBatchingDims().size())
    return refuse("refers to dimensions that its tensors do not have");
  if (depthDim == (int64_t)ofPlaces.size()) {
    ofPlaces.push_back(1);
    places = reshaped(builder, location, places, ofPlaces);
  }
  SmallVector<int64_t> order, counts;
  for (int64_t dim = 0; dim < (int64_t)ofPlaces.size(); ++dim)
    if (dim != depthDim) {
      order.push_back(dim);
      counts.push_back(ofPlaces[dim]);
    }
  SmallVector<int64_t> counting(order);
  order.push_back(depthDim);
  int64_t nParts = ShapedType::getNumElements(counts), depth = ofPlaces[depthDim];
  if (depth != (int64_t)numbers.getScatterDimsToOperandDims().size())
    return refuse("has index vectors with another length than the number of dimensions that they index");
  places = transposed(builder, location, places, order);
  places = reshaped(builder, location, places, {nParts, depth});
  SmallVector<int64_t> dims(numbers.getScatterDimsToOperandDims());
  // A dimension that goes with one of the places is counted along it.
  SmallVector<Value> columns = {places};
  for (auto [dim, ofPlace] : llvm::zip_equal(numbers.getInputBatchingDims(), numbers.getScatterIndicesBatchingDims())) {
    const auto *at = llvm::find(counting, ofPlace);
    if (at == counting.end())
      return refuse("refers to dimensions that its tensors do not have");
    Value along = counted(builder, location, typeOf(places).clone(counts), at - counting.begin());
    columns.push_back(reshaped(builder, location, along, {nParts, 1}));
    dims.push_back(dim);
  }
  if (columns.size() > 1)
    places = tensor::ConcatOp::create(builder, location, 1, columns);
  // The parts, one after the other, each with all dimensions of the tensor.
  SmallVector<int64_t> window = {nParts};
  order.clear();
  ArrayRef<int64_t> inWindow = numbers.getUpdateWindowDims();
  for (int64_t dim = 0; dim < typeOf(parts).getRank(); ++dim)
    if (!llvm::is_contained(inWindow, dim))
      order.push_back(dim);
  llvm::append_range(order, inWindow);
  size_t next = 0;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isInserted = llvm::is_contained(numbers.getInsertedWindowDims(), dim) || llvm::is_contained(numbers.getInputBatchingDims(), dim);
    if (!isInserted && next == inWindow.size())
      return refuse("refers to dimensions that its tensors do not have");
    window.push_back(isInserted ? 1 : typeOf(parts).getDimSize(inWindow[next++]));
  }
  if (next != inWindow.size() || ShapedType::getNumElements(window) != typeOf(parts).getNumElements())
    return refuse("refers to dimensions that its tensors do not have");
  parts = transposed(builder, location, parts, order);
  bool isWindow = llvm::any_of(dims, [&](int64_t dim) { return window[dim + 1] != 1; });
  if (isWindow && nParts == 1)
    return writeWindow(scatter, builder, reshaped(builder, location, parts, ArrayRef(window).drop_front()), places, dims);
  parts = reshaped(builder, location, parts, window);
  bool isUnique = scatter.getUniqueIndices().value_or(false);
  auto written = tm_tensor::ScatterOp::create(builder, location, scatter.getResultTypes(), ValueRange{parts, places}, whole, dims, isUnique);
  Type element = typeOf(whole).getElementType();
  Block *body = bodyOf(written, {element, element});
  builder.setInsertionPointToEnd(body);
  Elementwise elementwise(builder, scatter);
  elementwise.map(scatter.getUpdateComputation().getArgument(0), body->getArgument(1));
  elementwise.map(scatter.getUpdateComputation().getArgument(1), body->getArgument(0));
  std::optional<SmallVector<Value>> given = elementwise.run(scatter.getUpdateComputation().front());
  if (!given)
    return failure();
  tm_tensor::YieldOp::create(builder, location, *given);
  scatter.replaceAllUsesWith(written.getResults());
  scatter.erase();
  return success();
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

/// Moves the ops of a region to the end of a block, and replaces the terminator by one of scf.
void moveInto(Region &region, Block *block, function_ref<void(OpBuilder &, Operation *)> end) {
  Block &from = region.front();
  for (auto [old, argument] : llvm::zip_equal(from.getArguments(), block->getArguments()))
    old.replaceAllUsesWith(argument);
  Operation *last = from.getTerminator();
  OpBuilder builder(last);
  end(builder, last);
  last->erase();
  block->getOperations().splice(block->end(), from.getOperations());
}

void yield(OpBuilder &builder, Operation *last) { scf::YieldOp::create(builder, last->getLoc(), last->getOperands()); }

LogicalResult lower(stablehlo::WhileOp loop) {
  OpBuilder builder(loop);
  auto made = scf::WhileOp::create(builder, loop.getLoc(), loop.getResultTypes(), loop.getOperand());
  for (Region *region : {&made.getBefore(), &made.getAfter()}) {
    Block &block = region->emplaceBlock();
    for (Type type : loop.getResultTypes())
      block.addArgument(type, loop.getLoc());
  }
  moveInto(loop.getCond(), &made.getBefore().front(), [&](OpBuilder &end, Operation *last) {
    Value goesOn = elementOf(end, last->getLoc(), last->getOperand(0));
    scf::ConditionOp::create(end, last->getLoc(), goesOn, made.getBefore().getArguments());
  });
  moveInto(loop.getBody(), &made.getAfter().front(), yield);
  loop.replaceAllUsesWith(made.getResults());
  loop.erase();
  return success();
}

scf::IfOp chosen(OpBuilder &builder, Location location, TypeRange types, Value condition) {
  return scf::IfOp::create(builder, location, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
}

LogicalResult lower(stablehlo::IfOp choice) {
  OpBuilder builder(choice);
  scf::IfOp made = chosen(builder, choice.getLoc(), choice.getResultTypes(), elementOf(builder, choice.getLoc(), choice.getPred()));
  moveInto(choice.getTrueBranch(), made.thenBlock(), yield);
  moveInto(choice.getFalseBranch(), made.elseBlock(), yield);
  choice.replaceAllUsesWith(made.getResults());
  choice.erase();
  return success();
}

LogicalResult lower(stablehlo::CaseOp choice) {
  OpBuilder builder(choice);
  Location location = choice.getLoc();
  Value number = elementOf(builder, location, choice.getIndex());
  SmallVector<Value> results;
  auto end = choice.getBranches().size() - 1;
  if (end == 0) {
    auto once = scf::ExecuteRegionOp::create(builder, location, choice.getResultTypes());
    moveInto(choice.getBranches().front(), &once.getRegion().emplaceBlock(), yield);
    choice.replaceAllUsesWith(once.getResults());
    choice.erase();
    return success();
  }
  scf::IfOp outermost;
  for (auto [position, branch] : llvm::enumerate(choice.getBranches().drop_back())) {
    Value own = arith::ConstantOp::create(builder, location, builder.getIntegerAttr(number.getType(), position));
    Value isOwn = arith::CmpIOp::create(builder, location, arith::CmpIPredicate::eq, number, own);
    scf::IfOp made = chosen(builder, location, choice.getResultTypes(), isOwn);
    if (outermost)
      scf::YieldOp::create(builder, location, made.getResults());
    else
      outermost = made;
    moveInto(branch, made.thenBlock(), yield);
    builder.setInsertionPointToEnd(made.elseBlock());
    if (position + 1 == end)
      moveInto(choice.getBranches().back(), made.elseBlock(), yield);
  }
  choice.replaceAllUsesWith(outermost.getResults());
  choice.erase();
  return success();
}
//===----------------------------------------------------------------------===//
// Integers with a sign in their type
//===----------------------------------------------------------------------===//

/// Makes all integer types signless, as linalg requires: the signedness is in the names of the operations.
void dropSigns(Operation *module) {
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
  dropSigns(unwrap(module));
  SmallVector<Operation *> found;
  // The walk is post-order: ops in a region are lowered before the op that contains the region.
  unwrap(module)->walk([&](Operation *op) {
    if (isa_and_nonnull<stablehlo::StablehloDialect>(op->getDialect()) && !isa<stablehlo::ReturnOp>(op))
      found.push_back(op);
  });
  if (!found.empty())
    unwrap(module)->getContext()->loadDialect<arith::ArithDialect, linalg::LinalgDialect, scf::SCFDialect, tensor::TensorDialect, tm_tensor::TmTensorDialect>();
  for (Operation *op : found) {
    LogicalResult lowered = TypeSwitch<Operation *, LogicalResult>(op)
                                .Case<stablehlo::ScatterOp, stablehlo::SortOp, stablehlo::WhileOp, stablehlo::CaseOp, stablehlo::IfOp>(
                                    [](auto op) { return lower(op); })
                                .Default([](Operation *op) { return op->emitError("'") << op->getName() << "' op has no users here"; });
    if (failed(lowered))
      return false;
  }
  return true;
}
