//===- Reference.cpp - lowering a module to LLVM for MLIR's JIT -----------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// Only the tool that compares with the JIT calls this file, so only that tool links these passes and dialects.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Input.h"
#include "PassRegistry.h"
#include "TmTensor.h"
#include "mlir/CAPI/ExecutionEngine.h"
#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/ControlFlow/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Linalg/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/AllocationOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferDeallocationOpInterfaceImpl.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;

namespace {
/// Pass that lowers copies to linalg. For views with gaps, which `tensor.concat` and `tensor.insert_slice` create, the lowering to
/// LLVM would call a function of MLIR's runner library, which the JIT does not have.
struct LowerCopiesPass : PassWrapper<LowerCopiesPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(LowerCopiesPass)

  StringRef getArgument() const override { return "spyre-reference-copies-to-linalg"; }
  void getDependentDialects(DialectRegistry &registry) const override { registry.insert<linalg::LinalgDialect>(); }

  void runOnOperation() override {
    getOperation().walk([](memref::CopyOp copy) {
      OpBuilder builder(copy);
      linalg::CopyOp::create(builder, copy.getLoc(), copy.getSource(), copy.getTarget());
      copy.erase();
    });
  }
};

/// Pass that rewrites ops that the passes of the pipeline do not lower, or lower incorrectly.
struct NormalizeOpsPass : PassWrapper<NormalizeOpsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(NormalizeOpsPass)

  StringRef getArgument() const override { return "spyre-reference-forms"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, linalg::LinalgDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    bool failed = false;
    getOperation().walk([&](Operation *op) {
      if (auto aggregated = dyn_cast<linalg::AggregatedOpInterface>(op))
        failed |= mlir::failed(decomposeAggregatedOp(aggregated));
      else if (auto power = dyn_cast<math::FPowIOp>(op))
        lowerFPowI(power);
      else if (auto clamp = dyn_cast<math::ClampFOp>(op))
        lowerClamp(clamp);
      else if (auto sign = dyn_cast<math::CopySignOp>(op))
        lowerCopySign(sign);
      else if (auto magnitude = dyn_cast<math::AbsIOp>(op))
        lowerAbsI(magnitude);
      else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
        lowerIndexCast(op);
      else if (auto concat = dyn_cast<tensor::ConcatOp>(op))
        dropEmptyInputs(concat);
      else if (auto pad = dyn_cast<tensor::PadOp>(op))
        lowerNegativePad(pad);
      else if (auto scan = dyn_cast<tm_tensor::ScanOp>(op))
        lowerScan(scan);
      else if (auto scatter = dyn_cast<tm_tensor::ScatterOp>(op))
        failed |= mlir::failed(lowerScatter(scatter));
      else if (auto sort = dyn_cast<tm_tensor::SortOp>(op))
        lowerSort(sort);
      else if (auto topk = dyn_cast<tm_tensor::TopkOp>(op))
        lowerTopk(topk);
      else if (auto attention = dyn_cast<tm_tensor::AttentionOp>(op))
        lowerAttention(attention);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        boundTripCount(loop);
    });
    if (failed)
      signalPassFailure();
  }

  /// Replaces casts between `index` and integers of other widths than 64 by a cast from or to i64 and a change of the
  /// width. `canonicalize` removes pairs of the original casts, although the inner one drops bits.
  static void lowerIndexCast(Operation *op) {
    constexpr unsigned kIndexBits = 64;
    Type from = op->getOperand(0).getType(), to = op->getResult(0).getType();
    bool isFromIndex = isa<IndexType>(getElementTypeOrSelf(from));
    Type other = isFromIndex ? to : from;
    unsigned width = cast<IntegerType>(getElementTypeOrSelf(other)).getWidth();
    if (width == kIndexBits)
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    Type i64 = builder.getI64Type(), wide = isa<ShapedType>(other) ? cast<ShapedType>(other).clone(i64) : i64;
    bool isUnsigned = isa<arith::IndexCastUIOp>(op);
    auto toWidth = [&](Value value, Type type, bool isNarrower) -> Value {
      if (isNarrower)
        return arith::TruncIOp::create(builder, loc, type, value);
      return isUnsigned ? Value(arith::ExtUIOp::create(builder, loc, type, value)) : arith::ExtSIOp::create(builder, loc, type, value);
    };
    Value value = op->getOperand(0);
    op->getResult(0).replaceAllUsesWith(isFromIndex ? toWidth(arith::IndexCastOp::create(builder, loc, wide, value), to, width < kIndexBits)
                                                    : arith::IndexCastOp::create(builder, loc, to, toWidth(value, wide, width > kIndexBits)));
    op->erase();
  }

  /// Removes the empty inputs of a concatenation: they would become views whose offsets are out of bounds.
  static void dropEmptyInputs(tensor::ConcatOp concat) {
    auto hasElements = [](Value part) { return cast<RankedTensorType>(part.getType()).getNumElements() > 0; };
    SmallVector<Value> parts = llvm::filter_to_vector(concat.getInputs(), hasElements);
    if (!parts.empty())
      concat.getInputsMutable().assign(parts);
  }

  /// Rewrites a pad with negative sizes, which no pass lowers, to a slice and a pad with the remaining borders.
  static void lowerNegativePad(tensor::PadOp pad) {
    SmallVector<int64_t> low(pad.getStaticLow()), high(pad.getStaticHigh());
    auto isNegative = [](int64_t size) { return size < 0 && !ShapedType::isDynamic(size); };
    if (llvm::none_of(low, isNegative) && llvm::none_of(high, isNegative))
      return;
    ArrayRef<int64_t> from = pad.getSourceType().getShape(), to = pad.getResultType().getShape();
    auto isDynamic = [](int64_t size) { return ShapedType::isDynamic(size); };
    if (llvm::any_of(low, isDynamic) || llvm::any_of(high, isDynamic) || llvm::any_of(from, isDynamic))
      return;
    OpBuilder builder(pad);
    SmallVector<OpFoldResult> offsets, sizes, strides(from.size(), builder.getIndexAttr(1)), newLow, newHigh;
    for (size_t dim = 0; dim < from.size(); ++dim) {
      int64_t offset = std::min(from[dim], std::max<int64_t>(0, -low[dim])), padding = std::max<int64_t>(0, low[dim]);
      int64_t size = std::max<int64_t>(0, from[dim] - offset - std::max<int64_t>(0, -high[dim]));
      // The offset of an empty slice must be in bounds.
      offsets.push_back(builder.getIndexAttr(size == 0 ? 0 : offset));
      sizes.push_back(builder.getIndexAttr(size));
      newLow.push_back(builder.getIndexAttr(std::min(padding, to[dim])));
      newHigh.push_back(builder.getIndexAttr(to[dim] - std::min(padding, to[dim]) - size));
    }
    Value slice = tensor::ExtractSliceOp::create(builder, pad.getLoc(), pad.getSource(), offsets, sizes, strides);
    auto padded = tensor::PadOp::create(builder, pad.getLoc(), pad.getResultType(), slice, newLow, newHigh);
    padded.getRegion().takeBody(pad.getRegion());
    pad.replaceAllUsesWith(padded.getResult());
    pad.erase();
  }

  /// Replaces `math.absi`, for which the JIT has no function, by the maximum of the integer and its negative.
  static void lowerAbsI(math::AbsIOp magnitude) {
    OpBuilder builder(magnitude);
    Location location = magnitude.getLoc();
    Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(magnitude.getType()));
    Value negative = arith::SubIOp::create(builder, location, zero, magnitude.getOperand());
    magnitude.replaceAllUsesWith(arith::MaxSIOp::create(builder, location, magnitude.getOperand(), negative).getResult());
    magnitude.erase();
  }

  /// Replaces `math.copysign`, for which the JIT has no function, by operations on bits.
  static void lowerCopySign(math::CopySignOp sign) {
    OpBuilder builder(sign);
    Location location = sign.getLoc();
    Type type = sign.getType(), bits = builder.getI64Type();
    if (!getElementTypeOrSelf(type).isF64())
      return;
    if (auto shaped = dyn_cast<ShapedType>(type))
      bits = shaped.clone(bits);
    auto constant = [&](int64_t number) -> Value {
      auto element = builder.getI64IntegerAttr(number);
      if (auto shaped = dyn_cast<ShapedType>(bits))
        return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(shaped, element));
      return arith::ConstantOp::create(builder, location, element);
    };
    Value magnitudeBits = arith::BitcastOp::create(builder, location, bits, sign.getLhs());
    Value signBits = arith::BitcastOp::create(builder, location, bits, sign.getRhs());
    magnitudeBits = arith::AndIOp::create(builder, location, magnitudeBits, constant(std::numeric_limits<int64_t>::max()));
    signBits = arith::AndIOp::create(builder, location, signBits, constant(std::numeric_limits<int64_t>::min()));
    Value combinedBits = arith::OrIOp::create(builder, location, magnitudeBits, signBits);
    sign.replaceAllUsesWith(arith::BitcastOp::create(builder, location, type, combinedBits).getResult());
    sign.erase();
  }

  /// Decomposes an op such as `linalg.softmax`, which has no loops of its own.
  static LogicalResult decomposeAggregatedOp(linalg::AggregatedOpInterface op) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(builder);
    if (mlir::failed(parts))
      return op->emitError("the reference cannot decompose this op");
    op->replaceAllUsesWith(*parts);
    op->erase();
    return success();
  }

  /// Replaces `math.fpowi` by `math.powf`: `math-expand-ops` treats every zero with a negative exponent as negative.
  static void lowerFPowI(math::FPowIOp power) {
    OpBuilder builder(power);
    Value exponent = arith::SIToFPOp::create(builder, power.getLoc(), power.getType(), power.getRhs());
    Value result = math::PowFOp::create(builder, power.getLoc(), power.getLhs(), exponent);
    power.replaceAllUsesWith(result);
    power.erase();
  }

  /// Lowers a scan to loops over elements: the second result has the running value.
  static void lowerScan(tm_tensor::ScanOp scan) {
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
      Value output = scan.getInclusive() ? Value(arith::SelectOp::create(inner, loc, isFirst, element, combined)) : previous;
      Value accumulator = scan.getInclusive() ? output : combined;
      return {tensor::InsertOp::create(inner, loc, output, results[0], point), tensor::InsertOp::create(inner, loc, accumulator, results[1], reducedPoint)};
    };
    scf::LoopNest loops = scf::buildLoopNest(builder, location, lower, upper, steps, scan.getOutputs(), body);
    scan.replaceAllUsesWith(loops.results);
    scan.erase();
  }

  /// Lowers a scatter to loops over the elements of each update, in order. Windows are right-aligned to the target.
  static LogicalResult lowerScatter(tm_tensor::ScatterOp scatter) {
    OpBuilder builder(scatter);
    Location location = scatter.getLoc();
    auto createIndex = [&](OpBuilder &nested, int64_t value) -> Value { return arith::ConstantIndexOp::create(nested, location, value); };
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

  /// Replaces a `scf.while` by a loop of fixed trip count. Iterations after a false condition have no effect. An assertion
  /// fails if the original loop has more iterations.
  static void boundTripCount(scf::WhileOp loop) {
    constexpr int64_t kMaxIterations = 1024;
    OpBuilder builder(loop);
    Location location = loop.getLoc();
    auto inlineBlock = [](OpBuilder &inner, Block &block, ValueRange arguments) -> SmallVector<Value> {
      IRMapping mapping;
      mapping.map(block.getArguments(), arguments);
      for (Operation &op : block.without_terminator())
        inner.clone(op, mapping);
      return llvm::map_to_vector(block.getTerminator()->getOperands(), [&](Value value) { return mapping.lookupOrDefault(value); });
    };
    SmallVector<Value> carried = {arith::ConstantIntOp::create(builder, location, 1, 1)};
    llvm::append_range(carried, loop.getInits());
    for (Type type : loop.getResultTypes()) {
      if (auto tensor = dyn_cast<RankedTensorType>(type))
        carried.push_back(tensor::EmptyOp::create(builder, location, tensor.getShape(), tensor.getElementType()));
      else
        carried.push_back(arith::ConstantOp::create(builder, location, builder.getZeroAttr(type)));
    }
    auto createIndex = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, location, value); };
    size_t numInits = loop.getInits().size();
    auto body = [&](OpBuilder &inner, Location loc, Value, ValueRange values) {
      auto executeIteration = [&](OpBuilder &nested, Location loc) {
        SmallVector<Value> conditionResults = inlineBlock(nested, *loop.getBeforeBody(), values.slice(1, numInits));
        auto executeBody = [&](OpBuilder &thenBuilder, Location loc) {
          SmallVector<Value> next = inlineBlock(thenBuilder, *loop.getAfterBody(), ArrayRef(conditionResults).drop_front());
          scf::YieldOp::create(thenBuilder, loc, next);
        };
        auto keepValues = [&](OpBuilder &elseBuilder, Location loc) {
          scf::YieldOp::create(elseBuilder, loc, values.slice(1, numInits));
        };
        auto branches = scf::IfOp::create(nested, loc, conditionResults.front(), executeBody, keepValues);
        SmallVector<Value> yielded = {conditionResults.front()};
        llvm::append_range(yielded, branches.getResults());
        yielded.append(conditionResults.begin() + 1, conditionResults.end());
        scf::YieldOp::create(nested, loc, yielded);
      };
      auto skipIteration = [&](OpBuilder &nested, Location loc) { scf::YieldOp::create(nested, loc, values); };
      auto iteration = scf::IfOp::create(inner, loc, values.front(), executeIteration, skipIteration);
      scf::YieldOp::create(inner, loc, iteration.getResults());
    };
    auto counted = scf::ForOp::create(builder, location, createIndex(0), createIndex(kMaxIterations), createIndex(1), carried, body);
    Value isTrue = arith::ConstantIntOp::create(builder, location, 1, 1);
    Value hasEnded = arith::XOrIOp::create(builder, location, counted.getResult(0), isTrue);
    cf::AssertOp::create(builder, location, hasEnded, "the loop has more iterations than the reference executes");
    loop.replaceAllUsesWith(counted.getResults().drop_front(1 + numInits));
    loop.erase();
  }

  /// Lowers a sort to a bubble sort with one pass per element. Swaps two neighbors if the second one strictly precedes the
  /// first one.
  static void lowerSort(tm_tensor::SortOp sort) {
    OpBuilder builder(sort);
    Location location = sort.getLoc();
    auto createIndex = [](OpBuilder &inner, Location loc, int64_t value) -> Value { return arith::ConstantIndexOp::create(inner, loc, value); };
    int64_t dim = sort.getDimension();
    SmallVector<Value> upper;
    for (int64_t size : cast<RankedTensorType>(sort.getOutputs()[0].getType()).getShape())
      upper.push_back(createIndex(builder, location, size));
    // The outermost loop is over passes; the first element of a pair is at most the second to last.
    upper.insert(upper.begin(), upper[dim]);
    upper[dim + 1] = arith::SubIOp::create(builder, location, upper[dim + 1], createIndex(builder, location, 1));
    SmallVector<Value> lower(upper.size(), createIndex(builder, location, 0)), steps(upper.size(), createIndex(builder, location, 1));
    auto body = [&](OpBuilder &inner, Location loc, ValueRange point, ValueRange tensors) -> scf::ValueVector {
      SmallVector<Value> first(point.drop_front()), second(first);
      second[dim] = arith::AddIOp::create(inner, loc, first[dim], steps[0]);
      SmallVector<Value> forwards, backwards;
      for (Value tensor : tensors) {
        Value left = tensor::ExtractOp::create(inner, loc, tensor, first), right = tensor::ExtractOp::create(inner, loc, tensor, second);
        forwards.append({left, right});
        backwards.append({right, left});
      }
      Value isForward = inlineBody(inner, sort.getBody().front(), forwards), isBackward = inlineBody(inner, sort.getBody().front(), backwards);
      Value isSwapped = arith::CmpIOp::create(inner, loc, arith::CmpIPredicate::ugt, isBackward, isForward);
      scf::ValueVector next;
      for (auto [position, tensor] : llvm::enumerate(tensors)) {
        Value left = forwards[2 * position], right = backwards[2 * position];
        Value newFirst = arith::SelectOp::create(inner, loc, isSwapped, right, left), newSecond = arith::SelectOp::create(inner, loc, isSwapped, left, right);
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
  static void lowerTopk(tm_tensor::TopkOp topk) {
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
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), steps(type.getRank(), builder.getIndexAttr(1)), sizes;
    for (int64_t size : cast<RankedTensorType>(topk.getResult(0).getType()).getShape())
      sizes.push_back(builder.getIndexAttr(size));
    for (auto [result, sorted] : llvm::zip_equal(topk.getResults(), sort.getResults()))
      result.replaceAllUsesWith(tensor::ExtractSliceOp::create(builder, location, cast<RankedTensorType>(result.getType()), sorted, offsets, sizes, steps));
    topk.erase();
    lowerSort(sort);
  }

  /// Lowers attention to linalg ops. The weights of a fully masked row, which has no maximum and no sum, are 0.
  static void lowerAttention(tm_tensor::AttentionOp attention) {
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
    auto createConstant = [&](OpBuilder &nested, double value) -> Value { return arith::ConstantOp::create(nested, location, nested.getFloatAttr(element, value)); };
    auto createFilled = [&](ArrayRef<int64_t> shape, double value) -> Value {
      Value empty = tensor::EmptyOp::create(builder, location, shape, element);
      return linalg::FillOp::create(builder, location, createConstant(builder, value), empty).getResult(0);
    };
    auto createMatmul = [&](Value left, Value right, std::array<SmallVector<unsigned>, 3> dims, ArrayRef<int64_t> shape) -> Value {
      SmallVector<utils::IteratorType> iterators(numDims, utils::IteratorType::parallel);
      iterators.back() = utils::IteratorType::reduction;
      SmallVector<AffineMap> maps = {buildMap(dims[0]), buildMap(dims[1]), buildMap(dims[2])};
      auto body = [&](OpBuilder &inner, Location loc, ValueRange values) {
        Value next = arith::MulFOp::create(inner, loc, values[0], values[1]);
        linalg::YieldOp::create(inner, loc, Value(arith::AddFOp::create(inner, loc, next, values[2])));
      };
      Value start = createFilled(shape, 0);
      return linalg::GenericOp::create(builder, location, start.getType(), ValueRange{left, right}, start, maps, iterators, body).getResult(0);
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
        maps.push_back(getShape(value).size() == shape.size() ? builder.getMultiDimIdentityMap(shape.size())
                                                              : AffineMap::getMultiDimIdentityMap(shape.size(), builder.getContext()).dropResult(rows.size()));
      maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
      SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
      Value start = createFilled(shape, 0);
      auto body = [&](OpBuilder &inner, Location loc, ValueRange values) { linalg::YieldOp::create(inner, loc, function(inner, values)); };
      scores = linalg::GenericOp::create(builder, location, start.getType(), operands, start, maps, iterators, body).getResult(0);
    };
    auto reduceRows = [&](double start, llvm::function_ref<Value(OpBuilder &, Value, Value)> function) -> Value {
      auto body = [&](OpBuilder &inner, Location loc, ValueRange values) { linalg::YieldOp::create(inner, loc, function(inner, values[0], values[1])); };
      return linalg::ReduceOp::create(builder, location, scores, createFilled(rows, start), ArrayRef<int64_t>{static_cast<int64_t>(rows.size())}, body).getResult(0);
    };
    applyElementwise(scores, [&](OpBuilder &nested, ValueRange values) -> Value { return arith::MulFOp::create(nested, location, values[0], createConstant(nested, scale)); });
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (inputs.size() == 4)
      applyElementwise({scores, inputs[3]}, [&](OpBuilder &nested, ValueRange values) -> Value {
        if (values[1].getType().isInteger(1))
          return arith::SelectOp::create(nested, location, values[1], values[0], createConstant(nested, -kInfinity));
        return arith::AddFOp::create(nested, location, values[0], values[1]);
      });
    Value rowMax = reduceRows(-kInfinity, [&](OpBuilder &nested, Value left, Value right) -> Value { return arith::MaximumFOp::create(nested, location, left, right); });
    applyElementwise({scores, rowMax}, [&](OpBuilder &nested, ValueRange values) -> Value {
      Value isEmpty = arith::CmpFOp::create(nested, location, arith::CmpFPredicate::OEQ, values[1], createConstant(nested, -kInfinity));
      Value power = math::ExpOp::create(nested, location, arith::SubFOp::create(nested, location, values[0], values[1]));
      return arith::SelectOp::create(nested, location, isEmpty, createConstant(nested, 0), power);
    });
    Value rowSum = reduceRows(0, [&](OpBuilder &nested, Value left, Value right) -> Value { return arith::AddFOp::create(nested, location, left, right); });
    applyElementwise({scores, rowSum}, [&](OpBuilder &nested, ValueRange values) -> Value {
      Value isEmpty = arith::CmpFOp::create(nested, location, arith::CmpFPredicate::OEQ, values[1], createConstant(nested, 0));
      return arith::SelectOp::create(nested, location, isEmpty, createConstant(nested, 0), arith::DivFOp::create(nested, location, values[0], values[1]));
    });
    SmallVector<int64_t> outputShape(getShape(attention.getResult(0)));
    Value output = createMatmul(scores, inputs[2], {SmallVector<unsigned>{0, 2}, {2, 1}, {0, 1}}, outputShape);
    attention.getResult(0).replaceAllUsesWith(output);
    attention.erase();
  }

  /// Inlines a body at the insertion point, with `elements` as arguments, and returns the yielded value.
  static Value inlineBody(OpBuilder &builder, Block &body, ArrayRef<Value> elements) {
    IRMapping mapping;
    mapping.map(body.getArguments(), elements);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    return mapping.lookup(body.getTerminator()->getOperand(0));
  }

  /// Replaces `math.clampf`, which `math-expand-ops` lowers incorrectly: numbers between the bounds become the upper bound.
  static void lowerClamp(math::ClampFOp clamp) {
    OpBuilder builder(clamp);
    Value above = arith::MaximumFOp::create(builder, clamp.getLoc(), clamp.getValue(), clamp.getMin());
    Value result = arith::MinimumFOp::create(builder, clamp.getLoc(), above, clamp.getMax());
    clamp.replaceAllUsesWith(result);
    clamp.erase();
  }
};

/// Registers the passes of `kPipeline`.
void registerReferencePasses() {
  std::unique_lock lock(spyre::getPassRegistryMutex());
  static bool registered = false;
  if (std::exchange(registered, true))
    return;
  bufferization::registerBufferizationPipelines();
  bufferization::registerOneShotBufferizePass();
  bufferization::registerBufferResultsToOutParamsPass();
  registerConvertBufferizationToMemRefPass();
  registerCanonicalizerPass();
  registerCSEPass();
  registerSymbolDCEPass();
  registerLinalgElementwiseOpFusionPass();
  registerLinalgGeneralizeNamedOpsPass();
  registerConvertElementwiseToLinalgPass();
  registerConvertLinalgToLoopsPass();
  registerLowerAffinePass();
  registerSCFToControlFlowPass();
  registerConvertTensorToLinalgPass();
  registerConvertMathToLibmPass();
  registerConvertMathToLLVMPass();
  registerArithToLLVMConversionPass();
  registerConvertIndexToLLVMPass();
  registerFinalizeMemRefToLLVMConversionPass();
  registerConvertFuncToLLVMPass();
  registerConvertControlFlowToLLVMPass();
  registerReconcileUnrealizedCastsPass();
  math::registerMathExpandOpsPass();
  arith::registerArithExpandOpsPass();
  memref::registerExpandOpsPass();
  memref::registerExpandStridedMetadataPass();
  LLVM::registerLLVMRequestCWrappersPass();
  PassRegistration<LowerCopiesPass>();
  PassRegistration<NormalizeOpsPass>();
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
}

// Results become arguments, so that the caller owns all memory. C wrappers take descriptors by pointer; they are
// requested before functions of libm are declared, which need no wrappers. The order was tested on softmax, matmul and
// transformer blocks in f16 and f32.
constexpr llvm::StringLiteral kPipeline =
    "func.func(spyre-reference-forms,convert-elementwise-to-linalg,linalg-generalize-named-ops,canonicalize,cse,linalg-fuse-elementwise-ops,canonicalize,cse),convert-tensor-to-linalg,"
    "one-shot-bufferize{allow-return-allocs-from-loops=true bufferize-function-boundaries=true function-boundary-type-conversion=identity-layout-map},"
    "buffer-results-to-out-params{modify-public-functions=true},func.func(llvm-request-c-wrappers),buffer-deallocation-pipeline,convert-bufferization-to-memref,"
    "func.func(spyre-reference-copies-to-linalg,convert-linalg-to-loops),lower-affine,convert-scf-to-cf,memref-expand,expand-strided-metadata,lower-affine,"
    "func.func(math-expand-ops{ops=rsqrt}),convert-math-to-libm,convert-math-to-llvm,arith-expand,convert-arith-to-llvm,"
    "convert-index-to-llvm,finalize-memref-to-llvm,convert-func-to-llvm,convert-cf-to-llvm,"
    "reconcile-unrealized-casts,symbol-dce";

LogicalResult parseReferencePipeline(OpPassManager &passes) {
  std::shared_lock lock(spyre::getPassRegistryMutex());
  return parsePassPipeline(kPipeline, passes);
}
} // namespace

void spyreRegisterReferenceDialects(MlirDialectRegistry registry) {
  DialectRegistry &into = *unwrap(registry);
  into.insert<bufferization::BufferizationDialect, memref::MemRefDialect, LLVM::LLVMDialect>();
  arith::registerBufferizableOpInterfaceExternalModels(into);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(into);
  cf::registerBufferizableOpInterfaceExternalModels(into);
  cf::registerBufferDeallocationOpInterfaceExternalModels(into);
  linalg::registerBufferizableOpInterfaceExternalModels(into);
  memref::registerAllocationOpInterfaceExternalModels(into);
  scf::registerBufferizableOpInterfaceExternalModels(into);
  scf::registerBufferDeallocationOpInterfaceExternalModels(into);
  tensor::registerBufferizableOpInterfaceExternalModels(into);
  registerBuiltinDialectTranslation(into);
  registerLLVMDialectTranslation(into);
}

void spyreReferenceBeginGuard() { spyre::guardReference(); }

void spyreReferenceEndGuard() { spyre::endReferenceGuard(); }

MlirExecutionEngine spyreReferenceCreate(MlirModule module, bool optimizes) {
  registerReferencePasses();
  ModuleOp op = unwrap(module);
  PassManager passes(op->getName());
  if (failed(parseReferencePipeline(passes)) || failed(passes.run(op)))
    return {nullptr};
  ExecutionEngineOptions options;
  // The options keep a reference to the function only.
  auto transformer = makeOptimizingTransformer(/*optLevel=*/optimizes ? 3 : 0, /*sizeLevel=*/0, /*targetMachine=*/nullptr);
  options.transformer = transformer;
  options.jitCodeGenOptLevel = optimizes ? llvm::CodeGenOptLevel::Aggressive : llvm::CodeGenOptLevel::None;
  auto engine = ExecutionEngine::create(op, options);
  if (!engine) {
    emitError(op.getLoc()) << "the JIT refuses the module: " << llvm::toString(engine.takeError());
    return {nullptr};
  }
  return wrap(engine->release());
}
