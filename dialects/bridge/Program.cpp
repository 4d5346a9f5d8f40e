//===- Program.cpp - normalization of imported programs -------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// Upstream's passes and patterns lower a program to linalg on tensors of static shape, for the compiler and for the
// reference.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToSCF/TosaToSCF.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;

namespace {
/// Folds ops that compute sizes: integer ops, and ops that move elements. Floating-point ops are not folded, because
/// folding would round to the program's format, and the referee needs the unrounded numbers.
struct FoldSizesPattern final : RewritePattern {
  explicit FoldSizesPattern(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    bool computesSizes =
        op->getNumResults() > 0 && llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndex(); });
    if (op->hasTrait<OpTrait::ConstantLike>() || !(computesSizes || isa<tensor::TensorDialect>(op->getDialect())))
      return failure();
    SmallVector<Value> results;
    rewriter.startOpModification(op);
    if (failed(rewriter.tryFold(op, results))) {
      rewriter.cancelOpModification(op);
      return failure();
    }
    rewriter.finalizeOpModification(op);
    if (!results.empty())
      rewriter.replaceOp(op, results);
    return success();
  }
};

/// Returns the source of a `tensor.cast` from a static shape; other values unchanged.
Value lookThroughCast(Value value) {
  auto cast = value.getDefiningOp<tensor::CastOp>();
  return cast && cast.getSource().getType().hasStaticShape() ? cast.getSource() : value;
}

/// Concatenates inputs in their static types; upstream only considers the type of the result.
struct StaticConcatPattern final : OpRewritePattern<tensor::ConcatOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ConcatOp concat, PatternRewriter &rewriter) const override {
    SmallVector<Value> parts = llvm::map_to_vector(concat.getInputs(), lookThroughCast);
    if (llvm::equal(parts, concat.getInputs()))
      return failure();
    Value whole = tensor::ConcatOp::create(rewriter, concat.getLoc(), concat.getDim(), parts);
    rewriter.replaceOpWithNewOp<tensor::CastOp>(concat, concat.getType(), whole);
    return success();
  }
};

/// Computes elementwise ops in the static types of their operands.
struct StaticElementwisePattern final : RewritePattern {
  explicit StaticElementwisePattern(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    SmallVector<Value> operands = llvm::map_to_vector(op->getOperands(), lookThroughCast);
    if (!OpTrait::hasElementwiseMappableTraits(op) || op->getNumResults() != 1 || llvm::equal(operands, op->getOperands()))
      return failure();
    ArrayRef<int64_t> shape;
    for (auto [operand, old] : llvm::zip(operands, op->getOperands()))
      if (operand != old)
        shape = cast<RankedTensorType>(operand.getType()).getShape();
    auto withShape = [&](Type type) { return cast<RankedTensorType>(type).clone(shape); };
    for (Value &operand : operands)
      if (isa<RankedTensorType>(operand.getType()) && withShape(operand.getType()) != operand.getType())
        operand = tensor::CastOp::create(rewriter, op->getLoc(), withShape(operand.getType()), operand);
    Operation *created = rewriter.clone(*op);
    created->setOperands(operands);
    created->getResult(0).setType(withShape(op->getResult(0).getType()));
    rewriter.replaceOpWithNewOp<tensor::CastOp>(op, op->getResult(0).getType(), created->getResult(0));
    return success();
  }
};

/// Makes shapes static if their sizes are constant.
void inferStaticShapes(func::FuncOp function) {
  MLIRContext *context = function.getContext();
  RewritePatternSet patterns(context);
  patterns.add<FoldSizesPattern, StaticConcatPattern, StaticElementwisePattern>(context);
  auto hasShapeOps = [](Dialect *dialect) {
    return isa<affine::AffineDialect, cf::ControlFlowDialect, linalg::LinalgDialect, scf::SCFDialect, tensor::TensorDialect>(dialect);
  };
  for (Dialect *dialect : context->getLoadedDialects())
    if (hasShapeOps(dialect))
      dialect->getCanonicalizationPatterns(patterns);
  for (RegisteredOperationName op : context->getRegisteredOperations())
    if (hasShapeOps(&op.getDialect()))
      op.getCanonicalizationPatterns(patterns, context);
  GreedyRewriteConfig config;
  config.enableFolding(false).enableConstantCSE(false).setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  // If the driver does not converge, the IR is still valid, and later code reports the shapes that are not static.
  (void)applyPatternsGreedily(function, std::move(patterns), config);
}

/// Makes the function return the sources of casts from static shapes, and updates its type.
void updateSignature(func::FuncOp function) {
  Operation *last = function.front().getTerminator();
  for (OpOperand &returned : last->getOpOperands())
    while (auto cast = returned.get().getDefiningOp<tensor::CastOp>()) {
      if (cast.getSource().getType() == cast.getType() || !cast.getSource().getType().hasStaticShape())
        break;
      returned.set(cast.getSource());
      if (cast->use_empty())
        cast.erase();
    }
  function.setType(FunctionType::get(function.getContext(), function.front().getArgumentTypes(), last->getOperandTypes()));
}

/// Adds the passes that lower tosa to linalg.
void addTosaPasses(PassManager &passes) {
  OpPassManager &nested = passes.nest<func::FuncOp>();
  nested.addPass(tosa::createTosaOptionalDecompositionsPass());
  nested.addPass(tosa::createTosaInferShapesPass());
  nested.addPass(tosa::createTosaMakeBroadcastablePass());
  nested.addPass(tosa::createTosaToLinalgNamed());
  nested.addPass(tosa::createTosaLayerwiseConstantFoldPass());
  nested.addPass(tosa::createTosaMakeBroadcastablePass());
  nested.addPass(tosa::createTosaToLinalg());
  nested.addPass(createTosaToSCFPass());
  nested.addPass(createTosaToArithPass());
  nested.addPass(createTosaToTensorPass());
}
} // namespace

bool spyreLowerTosa(MlirOperation module) {
  auto program = cast<ModuleOp>(unwrap(module));
  auto isTosa = [](Operation *op) { return isa_and_nonnull<tosa::TosaDialect>(op->getDialect()); };
  if (!program.walk([&](Operation *op) { return isTosa(op) ? WalkResult::interrupt() : WalkResult::advance(); }).wasInterrupted())
    return true;
  PassManager passes(program->getName());
  addTosaPasses(passes);
  std::optional<std::pair<Location, std::string>> illegalOp;
  {
    // Upstream's conversion passes report an op without a lowering as illegal.
    ScopedDiagnosticHandler handler(program.getContext(), [&](Diagnostic &diagnostic) {
      std::string message = diagnostic.str();
      if (!StringRef(message).starts_with("failed to legalize operation '"))
        return failure();
      if (!illegalOp)
        illegalOp.emplace(diagnostic.getLocation(), StringRef(message).split('\'').second.split('\'').first.str());
      return success();
    });
    if (failed(passes.run(program)) && !illegalOp)
      return false;
  }
  auto reject = [](Location location, StringRef name) {
    emitError(location) << "'" << name << "' op has no lowering to linalg in MLIR " << LLVM_VERSION_MAJOR << ": not supported";
    return false;
  };
  if (illegalOp)
    return reject(illegalOp->first, illegalOp->second);
  for (auto function : program.getOps<func::FuncOp>())
    if (!function.isDeclaration())
      inferStaticShapes(function);
  Operation *remainingOp = nullptr;
  program.walk([&](Operation *op) { remainingOp = !remainingOp && isTosa(op) ? op : remainingOp; });
  return !remainingOp || reject(remainingOp->getLoc(), remainingOp->getName().getStringRef());
}

void spyreWrapScalarsInTensors(MlirOperation function) {
  auto program = cast<func::FuncOp>(unwrap(function));
  // A program of scalars may not have loaded the tensor dialect.
  program.getContext()->loadDialect<arith::ArithDialect, tensor::TensorDialect>();
  Block &body = program.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  auto getTensorType = [&](Type number) {
    return RankedTensorType::get({}, number.isIndex() ? builder.getI64Type() : number);
  };
  auto isNumber = [](Value value) { return value.getType().isIntOrIndexOrFloat(); };
  auto castIndex = [&](Value value, Type type) -> Value {
    if (value.getType() == type)
      return value;
    return arith::IndexCastOp::create(builder, value.getLoc(), type, value);
  };
  for (BlockArgument argument : llvm::make_filter_range(body.getArguments(), isNumber)) {
    Type number = argument.getType();
    argument.setType(getTensorType(number));
    auto element = tensor::ExtractOp::create(builder, argument.getLoc(), argument, ValueRange());
    Value value = castIndex(element, number);
    argument.replaceAllUsesExcept(value, element);
  }
  builder.setInsertionPoint(body.getTerminator());
  for (OpOperand &returned : body.getTerminator()->getOpOperands())
    if (Value number = returned.get(); isNumber(number)) {
      RankedTensorType tensorType = getTensorType(number.getType());
      returned.set(tensor::FromElementsOp::create(builder, number.getLoc(), tensorType,
                                                  castIndex(number, tensorType.getElementType())));
    }
  updateSignature(program);
}

/// Returns the type if it is a tensor of more dimensions than a device layout holds; null otherwise.
static RankedTensorType getWideTensor(Type type) {
  constexpr int64_t maxDims = 6;
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape() && !tensor.getEncoding() && tensor.getRank() > maxDims ? tensor
                                                                                                  : RankedTensorType();
}

/// Returns the reassociation that collapses the outermost dimensions and keeps the others.
static SmallVector<ReassociationIndices> getOuterReassociation(RankedTensorType type) {
  constexpr int64_t numInnerDims = 5;
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim >= type.getRank() - numInnerDims)
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  return groups;
}

void spyreMergeOuterDims(MlirOperation function) {
  auto program = cast<func::FuncOp>(unwrap(function));
  Block &body = program.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments())
    if (RankedTensorType wide = getWideTensor(argument.getType())) {
      SmallVector<ReassociationIndices> groups = getOuterReassociation(wide);
      argument.setType(tensor::CollapseShapeOp::inferCollapsedType(wide, groups));
      auto whole = tensor::ExpandShapeOp::create(builder, argument.getLoc(), wide, argument, groups);
      argument.replaceAllUsesExcept(whole, whole);
      program.setArgAttr(argument.getArgNumber(), "spyre.shape", builder.getDenseI64ArrayAttr(wide.getShape()));
    }
  builder.setInsertionPoint(body.getTerminator());
  for (OpOperand &returned : body.getTerminator()->getOpOperands())
    if (RankedTensorType wide = getWideTensor(returned.get().getType())) {
      returned.set(tensor::CollapseShapeOp::create(builder, returned.get().getLoc(), returned.get(),
                                                   getOuterReassociation(wide)));
      program.setResultAttr(returned.getOperandNumber(), "spyre.shape", builder.getDenseI64ArrayAttr(wide.getShape()));
    }
  updateSignature(program);
}

static bool isEmpty(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && llvm::is_contained(type.getShape(), 0);
}

void spyreReplaceEmptyTensors(MlirOperation function) {
  auto program = cast<func::FuncOp>(unwrap(function));
  Block &body = program.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : llvm::make_filter_range(body.getArguments(), isEmpty)) {
    auto type = cast<RankedTensorType>(argument.getType());
    argument.replaceAllUsesWith(tensor::EmptyOp::create(builder, argument.getLoc(), type.getShape(), type.getElementType()));
    argument.setType(RankedTensorType::get({1}, type.getElementType()));
    program.setArgAttr(argument.getArgNumber(), "spyre.shape", builder.getDenseI64ArrayAttr(type.getShape()));
  }
  builder.setInsertionPoint(body.getTerminator());
  for (OpOperand &returned : llvm::make_filter_range(body.getTerminator()->getOpOperands(),
                                                     [](OpOperand &operand) { return isEmpty(operand.get()); })) {
    Value old = returned.get();
    auto type = cast<RankedTensorType>(old.getType());
    auto zero = cast<TypedAttr>(builder.getZeroAttr(RankedTensorType::get({1}, type.getElementType())));
    returned.set(arith::ConstantOp::create(builder, old.getLoc(), zero));
    if (Operation *producer = old.getDefiningOp(); producer && isOpTriviallyDead(producer))
      producer->erase();
    program.setResultAttr(returned.getOperandNumber(), "spyre.shape", builder.getDenseI64ArrayAttr(type.getShape()));
  }
  updateSignature(program);
}

/// Returns values that replace an op with empty operands whose result has elements: the inits of a linalg op, the
/// destination of an insert, the other inputs of a concat. None for other ops.
static SmallVector<Value> getReplacements(RewriterBase &rewriter, Operation *op) {
  rewriter.setInsertionPoint(op);
  // An empty iteration space: the results are the inits.
  if (auto loops = dyn_cast<linalg::LinalgOp>(op))
    if (llvm::any_of(loops.getDpsInputs(), isEmpty) && llvm::is_contained(loops.getStaticLoopRanges(), 0))
      return llvm::to_vector(loops.getDpsInits());
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    if (isEmpty(insert.getSource()))
      return {insert.getDest()};
  auto concat = dyn_cast<tensor::ConcatOp>(op);
  if (!concat || !llvm::any_of(concat.getInputs(), isEmpty) || isEmpty(concat))
    return {};
  SmallVector<Value> parts = llvm::filter_to_vector(concat.getInputs(), [&](Value part) { return !isEmpty(part); });
  if (parts.size() == 1)
    return parts;
  return {tensor::ConcatOp::create(rewriter, op->getLoc(), concat.getDim(), parts)};
}

void spyreRemoveEmptyTensors(MlirOperation module) {
  SmallVector<Operation *> ops;
  unwrap(module)->walk([&](Operation *op) { ops.push_back(op); });
  IRRewriter rewriter(unwrap(module)->getContext());
  SmallVector<Operation *> erasable;
  for (Operation *op : ops) {
    SmallVector<Value> results = getReplacements(rewriter, op);
    if (!results.empty() && llvm::equal(ValueRange(results).getTypes(), op->getResultTypes()))
      rewriter.replaceAllUsesWith(op->getResults(), results);
    if (isa<linalg::LinalgDialect, tensor::TensorDialect>(op->getDialect()) && op->getNumResults() > 0)
      erasable.push_back(op);
  }
  // Users follow their operands, so users are erased first.
  for (Operation *op : llvm::reverse(erasable))
    if (op->use_empty() && isMemoryEffectFree(op) && (llvm::any_of(op->getResults(), isEmpty) || llvm::any_of(op->getOperands(), isEmpty)))
      rewriter.eraseOp(op);
}

bool spyreSpecializeDims(MlirOperation function, const int64_t *sizes) {
  auto program = cast<func::FuncOp>(unwrap(function));
  Block &body = program.front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  for (BlockArgument argument : body.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.hasStaticShape())
      continue;
    SmallVector<int64_t> shape(type.getShape());
    for (int64_t &size : shape)
      size = ShapedType::isDynamic(size) ? *sizes++ : size;
    argument.setType(RankedTensorType::get(shape, type.getElementType(), type.getEncoding()));
    auto dynamic = tensor::CastOp::create(builder, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(dynamic, dynamic);
  }
  program.setType(FunctionType::get(program.getContext(), body.getArgumentTypes(), program.getResultTypes()));
  PassManager passes(program->getParentOp()->getName());
  // Called functions are inlined, so the argument types of the call specialize them.
  passes.addPass(createInlinerPass({}, [](OpPassManager &) {}));
  passes.addPass(createSymbolDCEPass());
  if (failed(passes.run(program->getParentOp())))
    return false;
  inferStaticShapes(program);
  updateSignature(program);
  return true;
}
