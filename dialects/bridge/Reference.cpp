//===- Reference.cpp - lowering a module to LLVM for MLIR's JIT -----------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// Only the tool that compares with the JIT calls this file, so only that tool links these passes and dialects.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Input.h"
#include "LowerTmTensor.h"
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
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
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
/// Pass that lowers copies to linalg. For views with gaps, which `tensor.concat` and `tensor.insert_slice` create, the
/// lowering to LLVM would call a function of MLIR's runner library, which the JIT does not have.
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
      else if (isa_and_nonnull<tm_tensor::TmTensorDialect>(op->getDialect()))
        failed |= mlir::failed(spyre::lowerTmTensor(op));
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
    magnitudeBits =
        arith::AndIOp::create(builder, location, magnitudeBits, constant(std::numeric_limits<int64_t>::max()));
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

  /// Replaces a `scf.while` by a loop of fixed trip count. Iterations after a false condition have no effect. An
  /// assertion fails if the original loop has more iterations.
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
          SmallVector<Value> next =
              inlineBlock(thenBuilder, *loop.getAfterBody(), ArrayRef(conditionResults).drop_front());
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
    auto counted = scf::ForOp::create(builder, location, createIndex(0), createIndex(kMaxIterations), createIndex(1),
                                      carried, body);
    Value isTrue = arith::ConstantIntOp::create(builder, location, 1, 1);
    Value hasEnded = arith::XOrIOp::create(builder, location, counted.getResult(0), isTrue);
    cf::AssertOp::create(builder, location, hasEnded, "the loop has more iterations than the reference executes");
    loop.replaceAllUsesWith(counted.getResults().drop_front(1 + numInits));
    loop.erase();
  }

  /// Replaces `math.clampf`, which `math-expand-ops` lowers incorrectly: numbers between the bounds become the upper
  /// bound.
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
