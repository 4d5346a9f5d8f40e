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
/// Lowers copies to loops. For views with gaps, which `tensor.concat` and `tensor.insert_slice` create, the lowering to
/// LLVM would call a function of MLIR's runner library, which the JIT does not have.
struct CopiesToLinalgPass : PassWrapper<CopiesToLinalgPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CopiesToLinalgPass)

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

/// Forms of ops that the passes below do not lower, or lower wrongly.
struct ReferenceFormsPass : PassWrapper<ReferenceFormsPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReferenceFormsPass)

  StringRef getArgument() const override { return "spyre-reference-forms"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect, linalg::LinalgDialect, math::MathDialect, scf::SCFDialect, tensor::TensorDialect>();
  }

  void runOnOperation() override {
    bool failed = false;
    getOperation().walk([&](Operation *op) {
      if (auto aggregated = dyn_cast<linalg::AggregatedOpInterface>(op))
        failed |= mlir::failed(decompose(aggregated));
      else if (auto power = dyn_cast<math::FPowIOp>(op))
        widenExponent(power);
      else if (auto clamp = dyn_cast<math::ClampFOp>(op))
        bound(clamp);
      else if (auto sign = dyn_cast<math::CopySignOp>(op))
        copyBit(sign);
      else if (auto magnitude = dyn_cast<math::AbsIOp>(op))
        compare(magnitude);
      else if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
        castByWidth(op);
      else if (auto concat = dyn_cast<tensor::ConcatOp>(op))
        leaveOutEmpty(concat);
      else if (auto pad = dyn_cast<tensor::PadOp>(op))
        crop(pad);
      else if (auto scan = dyn_cast<tm_tensor::ScanOp>(op))
        spell(scan);
      else if (auto scatter = dyn_cast<tm_tensor::ScatterOp>(op))
        failed |= mlir::failed(spell(scatter));
      else if (auto sort = dyn_cast<tm_tensor::SortOp>(op))
        spell(sort);
      else if (auto topk = dyn_cast<tm_tensor::TopkOp>(op))
        spell(topk);
      else if (auto attention = dyn_cast<tm_tensor::AttentionOp>(op))
        spell(attention);
      else if (auto loop = dyn_cast<scf::WhileOp>(op))
        bound(loop);
    });
    if (failed)
      signalPassFailure();
  }

  /// Replaces casts between `index` and integers of other widths than 64 by a cast from or to i64 and a change of the
  /// width. `canonicalize` removes pairs of the original casts, although the inner one drops bits.
  static void castByWidth(Operation *op) {
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

  /// An empty input would become a view whose offset is beyond the end.
  static void leaveOutEmpty(tensor::ConcatOp concat) {
    auto hasElements = [](Value part) { return cast<RankedTensorType>(part.getType()).getNumElements() > 0; };
    SmallVector<Value> parts = llvm::filter_to_vector(concat.getInputs(), hasElements);
    if (!parts.empty())
      concat.getInputsMutable().assign(parts);
  }

  /// Rewrites a pad with negative sizes, which no pass lowers, to a slice and a pad with the remaining borders.
  static void crop(tensor::PadOp pad) {
    SmallVector<int64_t> low(pad.getStaticLow()), high(pad.getStaticHigh());
    auto isNegative = [](int64_t size) { return size < 0 && !ShapedType::isDynamic(size); };
    if (llvm::none_of(low, isNegative) && llvm::none_of(high, isNegative))
      return;
    ArrayRef<int64_t> from = pad.getSourceType().getShape(), to = pad.getResultType().getShape();
    auto isOpen = [](int64_t size) { return ShapedType::isDynamic(size); };
    if (llvm::any_of(low, isOpen) || llvm::any_of(high, isOpen) || llvm::any_of(from, isOpen))
      return;
    OpBuilder builder(pad);
    SmallVector<OpFoldResult> first, left, steps(from.size(), builder.getIndexAttr(1)), front, behind;
    for (size_t dim = 0; dim < from.size(); ++dim) {
      int64_t begin = std::min(from[dim], std::max<int64_t>(0, -low[dim])), added = std::max<int64_t>(0, low[dim]);
      int64_t size = std::max<int64_t>(0, from[dim] - begin - std::max<int64_t>(0, -high[dim]));
      // The offset of an empty slice must not be beyond the end.
      first.push_back(builder.getIndexAttr(size == 0 ? 0 : begin));
      left.push_back(builder.getIndexAttr(size));
      front.push_back(builder.getIndexAttr(std::min(added, to[dim])));
      behind.push_back(builder.getIndexAttr(to[dim] - std::min(added, to[dim]) - size));
    }
    Value slice = tensor::ExtractSliceOp::create(builder, pad.getLoc(), pad.getSource(), first, left, steps);
    auto around = tensor::PadOp::create(builder, pad.getLoc(), pad.getResultType(), slice, front, behind);
    around.getRegion().takeBody(pad.getRegion());
    pad.replaceAllUsesWith(around.getResult());
    pad.erase();
  }

  /// The JIT has no function for `math.absi`: computes the maximum of the integer and its negative.
  static void compare(math::AbsIOp magnitude) {
    OpBuilder builder(magnitude);
    Location location = magnitude.getLoc();
    Value zero = arith::ConstantOp::create(builder, location, builder.getZeroAttr(magnitude.getType()));
    Value negative = arith::SubIOp::create(builder, location, zero, magnitude.getOperand());
    magnitude.replaceAllUsesWith(arith::MaxSIOp::create(builder, location, magnitude.getOperand(), negative).getResult());
    magnitude.erase();
  }

  /// The JIT has no function for `math.copysign`: combines the bits of one number with the sign bit of the other.
  static void copyBit(math::CopySignOp sign) {
    OpBuilder builder(sign);
    Location location = sign.getLoc();
    Type type = sign.getType(), bits = builder.getI64Type();
    if (!getElementTypeOrSelf(type).isF64())
      return;
    if (auto shaped = dyn_cast<ShapedType>(type))
      bits = shaped.clone(bits);
    auto constant = [&](int64_t number) -> Value {
      auto one = builder.getI64IntegerAttr(number);
      if (auto shaped = dyn_cast<ShapedType>(bits))
        return arith::ConstantOp::create(builder, location, DenseElementsAttr::get(shaped, one));
      return arith::ConstantOp::create(builder, location, one);
    };
    Value from = arith::BitcastOp::create(builder, location, bits, sign.getLhs());
    Value of = arith::BitcastOp::create(builder, location, bits, sign.getRhs());
    from = arith::AndIOp::create(builder, location, from, constant(std::numeric_limits<int64_t>::max()));
    of = arith::AndIOp::create(builder, location, of, constant(std::numeric_limits<int64_t>::min()));
    Value both = arith::OrIOp::create(builder, location, from, of);
    sign.replaceAllUsesWith(arith::BitcastOp::create(builder, location, type, both).getResult());
    sign.erase();
  }

  /// `linalg.softmax` has no loops of its own.
  static LogicalResult decompose(linalg::AggregatedOpInterface op) {
    OpBuilder builder(op);
    FailureOr<SmallVector<Value>> parts = op.decomposeOperation(builder);
    if (mlir::failed(parts))
      return op->emitError("the reference cannot decompose this op");
    op->replaceAllUsesWith(*parts);
    op->erase();
    return success();
  }

  /// Replaces `math.fpowi` by `math.powf`: `math-expand-ops` treats every zero with a negative exponent as negative.
  static void widenExponent(math::FPowIOp power) {
    OpBuilder builder(power);
    Value exponent = arith::SIToFPOp::create(builder, power.getLoc(), power.getType(), power.getRhs());
    Value result = math::PowFOp::create(builder, power.getLoc(), power.getLhs(), exponent);
    power.replaceAllUsesWith(result);
    power.erase();
  }

  /// Lowers a scan to loops over elements: the second result has the running value.
  static void spell(tm_tensor::ScanOp scan) {
    OpBuilder builder(scan);
    Location location = scan.getLoc();
    auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, location, value); };
    int64_t along = scan.getDimension();
    ArrayRef<int64_t> shape = cast<RankedTensorType>(scan.getInputs()[0].getType()).getShape();
    SmallVector<Value> lower(shape.size(), index(0)), upper, steps(shape.size(), index(1));
    for (int64_t size : shape)
      upper.push_back(index(size));
    Value first = index(0);
    auto body = [&](OpBuilder &inner, Location at, ValueRange place, ValueRange results) -> scf::ValueVector {
      SmallVector<Value> rest(place);
      rest.erase(rest.begin() + along);
      Value isFirst = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::eq, place[along], first);
      Value element = tensor::ExtractOp::create(inner, at, scan.getInputs()[0], place);
      Value sum = tensor::ExtractOp::create(inner, at, results[1], rest);
      Value next = combined(inner, scan.getBody().front(), {sum, element});
      Value given = scan.getInclusive() ? Value(arith::SelectOp::create(inner, at, isFirst, element, next)) : sum;
      Value kept = scan.getInclusive() ? given : next;
      return {tensor::InsertOp::create(inner, at, given, results[0], place), tensor::InsertOp::create(inner, at, kept, results[1], rest)};
    };
    scf::LoopNest nest = scf::buildLoopNest(builder, location, lower, upper, steps, scan.getOutputs(), body);
    scan.replaceAllUsesWith(nest.results);
    scan.erase();
  }

  /// Lowers a scatter to loops over the elements of each update, in order. Windows are right-aligned to the target.
  static LogicalResult spell(tm_tensor::ScatterOp scatter) {
    OpBuilder builder(scatter);
    Location location = scatter.getLoc();
    auto index = [&](OpBuilder &at, int64_t value) -> Value { return arith::ConstantIndexOp::create(at, location, value); };
    Value parts = scatter.getInputs()[0], places = scatter.getInputs()[1];
    auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
    ArrayRef<int64_t> shape = shapeOf(parts);
    int64_t rank = shapeOf(scatter.getOutputs()[0]).size(), first = rank - (shape.size() - 1);
    if (first < 0)
      return scatter.emitError("the reference cannot insert a tensor of higher rank into one of lower rank");
    SmallVector<Value> lower(shape.size(), index(builder, 0)), upper, steps(shape.size(), index(builder, 1));
    for (int64_t size : shape)
      upper.push_back(index(builder, size));
    auto body = [&](OpBuilder &inner, Location at, ValueRange point, ValueRange results) -> scf::ValueVector {
      SmallVector<Value> target(rank, lower[0]);
      for (auto [dim, position] : llvm::enumerate(point.drop_front()))
        target[first + dim] = position;
      for (auto [column, dim] : llvm::enumerate(scatter.getDimensionMap())) {
        Value place = tensor::ExtractOp::create(inner, at, places, ValueRange{point[0], index(inner, column)});
        Value begin = arith::IndexCastOp::create(inner, at, inner.getIndexType(), place);
        target[dim] = arith::AddIOp::create(inner, at, target[dim], begin);
      }
      Value part = tensor::ExtractOp::create(inner, at, parts, point);
      Value old = tensor::ExtractOp::create(inner, at, results[0], target);
      Value next = combined(inner, scatter.getBody().front(), {part, old});
      return {tensor::InsertOp::create(inner, at, next, results[0], target)};
    };
    scf::LoopNest nest = scf::buildLoopNest(builder, location, lower, upper, steps, scatter.getOutputs(), body);
    scatter.replaceAllUsesWith(nest.results);
    scatter.erase();
    return success();
  }

  /// Bounds the trip count. Accepted loops have fewer iterations; iterations after a false condition have no effect.
  static void bound(scf::WhileOp loop) {
    constexpr int64_t kMostTurns = 1024;
    OpBuilder builder(loop);
    Location location = loop.getLoc();
    auto run = [](OpBuilder &inner, Block &block, ValueRange arguments) -> SmallVector<Value> {
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
    auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(builder, location, value); };
    size_t nInits = loop.getInits().size();
    auto body = [&](OpBuilder &inner, Location at, Value, ValueRange values) {
      auto turn = [&](OpBuilder &then, Location where) {
        SmallVector<Value> asked = run(then, *loop.getBeforeBody(), values.slice(1, nInits));
        auto next = [&](OpBuilder &again, Location place) { scf::YieldOp::create(again, place, run(again, *loop.getAfterBody(), ArrayRef(asked).drop_front())); };
        auto last = [&](OpBuilder &end, Location place) { scf::YieldOp::create(end, place, values.slice(1, nInits)); };
        auto chosen = scf::IfOp::create(then, where, asked.front(), next, last);
        SmallVector<Value> given = {asked.front()};
        llvm::append_range(given, chosen.getResults());
        given.append(asked.begin() + 1, asked.end());
        scf::YieldOp::create(then, where, given);
      };
      auto rest = [&](OpBuilder &end, Location where) { scf::YieldOp::create(end, where, values); };
      auto both = scf::IfOp::create(inner, at, values.front(), turn, rest);
      scf::YieldOp::create(inner, at, both.getResults());
    };
    auto turns = scf::ForOp::create(builder, location, index(0), index(kMostTurns), index(1), carried, body);
    Value yes = arith::ConstantIntOp::create(builder, location, 1, 1);
    Value hasEnded = arith::XOrIOp::create(builder, location, turns.getResult(0), yes);
    cf::AssertOp::create(builder, location, hasEnded, "the loop has more iterations than the reference executes");
    loop.replaceAllUsesWith(turns.getResults().drop_front(1 + nInits));
    loop.erase();
  }

  /// Lowers a sort to a bubble sort with one pass per element. Swaps two neighbors if the second is strictly before.
  static void spell(tm_tensor::SortOp sort) {
    OpBuilder builder(sort);
    Location location = sort.getLoc();
    auto index = [](OpBuilder &inner, Location at, int64_t value) -> Value { return arith::ConstantIndexOp::create(inner, at, value); };
    int64_t along = sort.getDimension();
    SmallVector<Value> upper;
    for (int64_t size : cast<RankedTensorType>(sort.getOutputs()[0].getType()).getShape())
      upper.push_back(index(builder, location, size));
    // The outermost loop is over passes; the first element of a pair is at most the second to last.
    upper.insert(upper.begin(), upper[along]);
    upper[along + 1] = arith::SubIOp::create(builder, location, upper[along + 1], index(builder, location, 1));
    SmallVector<Value> lower(upper.size(), index(builder, location, 0)), steps(upper.size(), index(builder, location, 1));
    auto body = [&](OpBuilder &inner, Location at, ValueRange point, ValueRange tensors) -> scf::ValueVector {
      SmallVector<Value> first(point.drop_front()), second(first);
      second[along] = arith::AddIOp::create(inner, at, first[along], steps[0]);
      SmallVector<Value> forwards, backwards;
      for (Value tensor : tensors) {
        Value one = tensor::ExtractOp::create(inner, at, tensor, first), other = tensor::ExtractOp::create(inner, at, tensor, second);
        forwards.append({one, other});
        backwards.append({other, one});
      }
      Value stays = combined(inner, sort.getBody().front(), forwards), turns = combined(inner, sort.getBody().front(), backwards);
      Value isTurned = arith::CmpIOp::create(inner, at, arith::CmpIPredicate::ugt, turns, stays);
      scf::ValueVector next;
      for (auto [position, tensor] : llvm::enumerate(tensors)) {
        Value one = forwards[2 * position], other = backwards[2 * position];
        Value before = arith::SelectOp::create(inner, at, isTurned, other, one), behind = arith::SelectOp::create(inner, at, isTurned, one, other);
        Value half = tensor::InsertOp::create(inner, at, before, tensor, first);
        next.push_back(tensor::InsertOp::create(inner, at, behind, half, second));
      }
      return next;
    };
    scf::LoopNest nest = scf::buildLoopNest(builder, location, lower, upper, steps, sort.getOutputs(), body);
    sort.replaceAllUsesWith(nest.results);
    sort.erase();
  }

  /// Lowers top-k to a sort of the elements with their positions, and takes the first ones.
  static void spell(tm_tensor::TopkOp topk) {
    OpBuilder builder(topk);
    Location location = topk.getLoc();
    SmallVector<Value> tensors(topk.getInputs());
    auto type = cast<RankedTensorType>(tensors[0].getType());
    int64_t along = topk.getDimension();
    if (tensors.size() == 1) {
      auto placesType = type.clone(cast<RankedTensorType>(topk.getOutputs()[1].getType()).getElementType());
      auto place = [&](OpBuilder &inner, Location at, ValueRange point) {
        Value number = point[along];
        if (!placesType.getElementType().isIndex())
          number = arith::IndexCastOp::create(inner, at, placesType.getElementType(), number);
        tensor::YieldOp::create(inner, at, number);
      };
      tensors.push_back(tensor::GenerateOp::create(builder, location, placesType, ValueRange(), place));
    }
    SmallVector<Type> types = {tensors[0].getType(), tensors[1].getType()};
    auto sort = tm_tensor::SortOp::create(builder, location, types, tensors, static_cast<uint64_t>(along));
    sort.getBody().takeBody(topk.getBody());
    Type placed = cast<RankedTensorType>(types[1]).getElementType();
    sort.getBody().front().addArguments({placed, placed}, {location, location});
    SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0)), steps(type.getRank(), builder.getIndexAttr(1)), sizes;
    for (int64_t size : cast<RankedTensorType>(topk.getResult(0).getType()).getShape())
      sizes.push_back(builder.getIndexAttr(size));
    for (auto [result, sorted] : llvm::zip_equal(topk.getResults(), sort.getResults()))
      result.replaceAllUsesWith(tensor::ExtractSliceOp::create(builder, location, cast<RankedTensorType>(result.getType()), sorted, offsets, sizes, steps));
    topk.erase();
    spell(sort);
  }

  /// Lowers attention to linalg ops. A fully masked row has no maximum and no sum: its weights are 0.
  static void spell(tm_tensor::AttentionOp attention) {
    OpBuilder builder(attention);
    Location location = attention.getLoc();
    auto shapeOf = [](Value tensor) { return cast<RankedTensorType>(tensor.getType()).getShape(); };
    ValueRange inputs = attention.getInputs();
    auto element = cast<FloatType>(cast<RankedTensorType>(inputs[0].getType()).getElementType());
    // Batch dimensions, then rows, columns and the reduction dimension.
    unsigned nBatch = shapeOf(inputs[0]).size() - 2, nDims = nBatch + 3;
    auto mapOf = [&](ArrayRef<unsigned> last) {
      SmallVector<AffineExpr> dims;
      for (unsigned dim = 0; dim < nBatch; ++dim)
        dims.push_back(builder.getAffineDimExpr(dim));
      for (unsigned dim : last)
        dims.push_back(builder.getAffineDimExpr(nBatch + dim));
      return AffineMap::get(nDims, 0, dims, builder.getContext());
    };
    auto number = [&](OpBuilder &at, double value) -> Value { return arith::ConstantOp::create(at, location, at.getFloatAttr(element, value)); };
    auto filled = [&](ArrayRef<int64_t> shape, double value) -> Value {
      Value empty = tensor::EmptyOp::create(builder, location, shape, element);
      return linalg::FillOp::create(builder, location, number(builder, value), empty).getResult(0);
    };
    auto product = [&](Value left, Value right, std::array<SmallVector<unsigned>, 3> dims, ArrayRef<int64_t> shape) -> Value {
      SmallVector<utils::IteratorType> iterators(nDims, utils::IteratorType::parallel);
      iterators.back() = utils::IteratorType::reduction;
      SmallVector<AffineMap> maps = {mapOf(dims[0]), mapOf(dims[1]), mapOf(dims[2])};
      auto body = [&](OpBuilder &inner, Location at, ValueRange values) {
        Value next = arith::MulFOp::create(inner, at, values[0], values[1]);
        linalg::YieldOp::create(inner, at, Value(arith::AddFOp::create(inner, at, next, values[2])));
      };
      Value start = filled(shape, 0);
      return linalg::GenericOp::create(builder, location, start.getType(), ValueRange{left, right}, start, maps, iterators, body).getResult(0);
    };
    SmallVector<int64_t> shape(shapeOf(inputs[0])), rows(shape);
    shape.back() = shapeOf(inputs[1])[nBatch];
    rows.pop_back();
    Value scores = product(inputs[0], inputs[1], {SmallVector<unsigned>{0, 2}, {1, 2}, {0, 1}}, shape);
    double scale = 1 / std::sqrt(static_cast<double>(shapeOf(inputs[0]).back()));
    // Applies an elementwise function to `with`: tensors of the shape of the scores, or with one number per row.
    auto each = [&](ValueRange with, llvm::function_ref<Value(OpBuilder &, ValueRange)> function) {
      SmallVector<AffineMap> maps;
      for (Value value : with)
        maps.push_back(shapeOf(value).size() == shape.size() ? builder.getMultiDimIdentityMap(shape.size())
                                                              : AffineMap::getMultiDimIdentityMap(shape.size(), builder.getContext()).dropResult(rows.size()));
      maps.push_back(builder.getMultiDimIdentityMap(shape.size()));
      SmallVector<utils::IteratorType> iterators(shape.size(), utils::IteratorType::parallel);
      Value start = filled(shape, 0);
      auto body = [&](OpBuilder &inner, Location at, ValueRange values) { linalg::YieldOp::create(inner, at, function(inner, values)); };
      scores = linalg::GenericOp::create(builder, location, start.getType(), with, start, maps, iterators, body).getResult(0);
    };
    auto overRow = [&](double start, llvm::function_ref<Value(OpBuilder &, Value, Value)> function) -> Value {
      auto body = [&](OpBuilder &inner, Location at, ValueRange values) { linalg::YieldOp::create(inner, at, function(inner, values[0], values[1])); };
      return linalg::ReduceOp::create(builder, location, scores, filled(rows, start), ArrayRef<int64_t>{static_cast<int64_t>(rows.size())}, body).getResult(0);
    };
    each(scores, [&](OpBuilder &at, ValueRange values) -> Value { return arith::MulFOp::create(at, location, values[0], number(at, scale)); });
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    if (inputs.size() == 4)
      each({scores, inputs[3]}, [&](OpBuilder &at, ValueRange values) -> Value {
        if (values[1].getType().isInteger(1))
          return arith::SelectOp::create(at, location, values[1], values[0], number(at, -kInfinity));
        return arith::AddFOp::create(at, location, values[0], values[1]);
      });
    Value most = overRow(-kInfinity, [&](OpBuilder &at, Value one, Value other) -> Value { return arith::MaximumFOp::create(at, location, one, other); });
    each({scores, most}, [&](OpBuilder &at, ValueRange values) -> Value {
      Value isEmpty = arith::CmpFOp::create(at, location, arith::CmpFPredicate::OEQ, values[1], number(at, -kInfinity));
      Value power = math::ExpOp::create(at, location, arith::SubFOp::create(at, location, values[0], values[1]));
      return arith::SelectOp::create(at, location, isEmpty, number(at, 0), power);
    });
    Value total = overRow(0, [&](OpBuilder &at, Value one, Value other) -> Value { return arith::AddFOp::create(at, location, one, other); });
    each({scores, total}, [&](OpBuilder &at, ValueRange values) -> Value {
      Value isEmpty = arith::CmpFOp::create(at, location, arith::CmpFPredicate::OEQ, values[1], number(at, 0));
      return arith::SelectOp::create(at, location, isEmpty, number(at, 0), arith::DivFOp::create(at, location, values[0], values[1]));
    });
    SmallVector<int64_t> result(shapeOf(attention.getResult(0)));
    Value y = product(scores, inputs[2], {SmallVector<unsigned>{0, 2}, {2, 1}, {0, 1}}, result);
    attention.getResult(0).replaceAllUsesWith(y);
    attention.erase();
  }

  /// Inlines a body at the builder, with `elements` as arguments, and returns the yielded value.
  static Value combined(OpBuilder &builder, Block &body, ArrayRef<Value> elements) {
    IRMapping mapping;
    mapping.map(body.getArguments(), elements);
    for (Operation &op : body.without_terminator())
      builder.clone(op, mapping);
    return mapping.lookup(body.getTerminator()->getOperand(0));
  }

  /// `math-expand-ops` lowers `math.clampf` wrongly: numbers between the bounds become the upper bound.
  static void bound(math::ClampFOp clamp) {
    OpBuilder builder(clamp);
    Value above = arith::MaximumFOp::create(builder, clamp.getLoc(), clamp.getValue(), clamp.getMin());
    Value result = arith::MinimumFOp::create(builder, clamp.getLoc(), above, clamp.getMax());
    clamp.replaceAllUsesWith(result);
    clamp.erase();
  }
};

/// Registers the passes that the pipeline below names.
void registerReferencePasses() {
  std::unique_lock lock(spyre::passRegistry());
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
  PassRegistration<CopiesToLinalgPass>();
  PassRegistration<ReferenceFormsPass>();
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
  std::shared_lock lock(spyre::passRegistry());
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

void spyreReferenceGuard() { spyre::guardReference(); }

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
