//===- StructureOps.cpp - constants, buffers, views, loops ----------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Spyre.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

#define GET_OP_CLASSES
#include "SpyreOps.cpp.inc"

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

// `exact` is part of the folded value, so that CSE does not merge constants with equal elements but different exact
// values.
OpFoldResult ConstantOp::fold(FoldAdaptor) {
  if (Attribute exact = (*this)->getAttr("exact"))
    return ArrayAttr::get(getContext(), {getValue(), exact});
  return getValue();
}

LogicalResult ConstantOp::verify() {
  // constant_c1
  auto value = getValue().getShapedType();
  RankedTensorType output = getOutput().getType();
  if (value.getShape() != output.getShape() || value.getElementType() != output.getElementType())
    return emitOpError("expected a result of the shape and element type of ") << value << ", found " << output;
  return success();
}

ParseResult ConstantOp::parse(OpAsmParser &parser, OperationState &state) {
  ElementsAttr value;
  Type output;
  if (parser.parseAttribute(value) || parser.parseOptionalAttrDict(state.attributes) ||
      verifyParsedAttributes<ConstantOp>(parser, state))
    return failure();
  output = value.getType();
  // The type of the result follows an arrow if it has a layout.
  if (succeeded(parser.parseOptionalArrow()) && parser.parseType(output))
    return failure();
  state.addAttribute("value", value);
  state.addTypes(output);
  return success();
}

void ConstantOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getValue();
  printer.printOptionalAttrDict((*this)->getAttrs(), {"value"});
  if (getOutput().getType() != getValue().getType())
    printer << " -> " << getOutput().getType();
}

//===----------------------------------------------------------------------===//
// EmptyOp
//===----------------------------------------------------------------------===//

LogicalResult EmptyOp::verify() {
  // empty_c1
  auto layout = dyn_cast_or_null<LayoutAttr>(getOutput().getType().getEncoding());
  if (layout && !layout.getBufferShape().empty())
    return emitOpError("is a whole buffer, but its layout is that of a window of ") << ArrayRef(layout.getBufferShape());
  return success();
}

//===----------------------------------------------------------------------===//
// ViewOp
//===----------------------------------------------------------------------===//

/// Returns whether a view may show elements of one type as another (view_c3).
bool canViewElements(Type input, Type output) {
  auto isFloat = [](Type element) { return element.isF16() || element.isBF16() || element.isF32() || element.isF64(); };
  // The view converts between integers and the floating-point numbers that ops compute with.
  bool isInteger = input.isInteger() != output.isInteger();
  auto isNumber = [&](Type element) { return isFloat(element) || element.isInteger(1) || (isInteger && element.isInteger()); };
  // The view widens 8-bit numbers to the type that ops compute with.
  bool isWidening = isa<Float8E4M3FNType, Float8E5M2Type>(input) && isFloat(output);
  // The device has 32-bit integers only.
  auto isWord = [](Type element) { return element.isInteger(32) || element.isInteger(64); };
  return input == output || isWidening || (isWord(input) && isWord(output)) || (isNumber(input) && isNumber(output));
}

namespace {
/// Merges a view of a view, unless the inner view has a layout, which determines how its bytes are read.
struct ComposeViewsPattern : OpRewritePattern<ViewOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ViewOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ViewOp>();
    if (!inner || inner.getType().getEncoding())
      return failure();
    // Truth values are seen as integers through numbers only.
    if (!canViewElements(inner.getInput().getType().getElementType(), op.getType().getElementType()))
      return failure();
    // The map is not simplified: simplification turns (d0 mod 3) * 24 into a difference, for which `computeInterval`
    // finds only loose bounds.
    AffineMap map = inner.getMap().compose(op.getMap());
    rewriter.replaceOpWithNewOp<ViewOp>(op, op.getType(), inner.getInput(), AffineMapAttr::get(map));
    return success();
  }
};

/// Range of an index, with inclusive bounds.
struct IndexInterval {
  int64_t first, last;
};

/// Returns the bounds of an affine expression whose dimension `i` is from 0 to `shape[i] - 1`. Returns none if the
/// expression divides by a number that is not positive, or exceeds 64 bits. Terms are bounded separately, so the bounds
/// of a difference of related terms are loose.
std::optional<IndexInterval> computeInterval(AffineExpr expr, ArrayRef<int64_t> shape) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return IndexInterval{constant.getValue(), constant.getValue()};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return IndexInterval{0, shape[dim.getPosition()] - 1};
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<IndexInterval> lhs = computeInterval(binary.getLHS(), shape),
                               rhs = computeInterval(binary.getRHS(), shape);
  if (!lhs || !rhs)
    return std::nullopt;
  int64_t first, last;
  if (expr.getKind() == AffineExprKind::Add) {
    bool overflows = llvm::AddOverflow(lhs->first, rhs->first, first) || llvm::AddOverflow(lhs->last, rhs->last, last);
    return overflows ? std::nullopt : std::optional(IndexInterval{first, last});
  }
  // Affine expressions multiply and divide by constants only.
  int64_t factor = rhs->first;
  if (expr.getKind() == AffineExprKind::Mul) {
    bool overflows = llvm::MulOverflow(lhs->first, factor, first) || llvm::MulOverflow(lhs->last, factor, last);
    return overflows ? std::nullopt : std::optional(IndexInterval{std::min(first, last), std::max(first, last)});
  }
  if (factor <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return IndexInterval{llvm::divideFloorSigned(lhs->first, factor), llvm::divideFloorSigned(lhs->last, factor)};
  if (expr.getKind() == AffineExprKind::CeilDiv)
    return IndexInterval{llvm::divideCeilSigned(lhs->first, factor), llvm::divideCeilSigned(lhs->last, factor)};
  bool isWithinOnePeriod = lhs->first >= 0 && lhs->last < factor;
  return isWithinOnePeriod ? *lhs : IndexInterval{0, factor - 1};
}

/// Returns whether `map` is the identity on the indices of a tensor of `shape`; dimensions of size 1 have only index 0.
bool isIdentityMap(AffineMap map, ArrayRef<int64_t> shape) {
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    auto dimExpr = dyn_cast<AffineDimExpr>(expr);
    auto constantExpr = dyn_cast<AffineConstantExpr>(expr);
    bool isDim = dimExpr && dimExpr.getPosition() == dim;
    bool isZero = (constantExpr && constantExpr.getValue() == 0) || (dimExpr && shape[dimExpr.getPosition()] == 1);
    if (!isDim && !(shape[dim] == 1 && isZero))
      return false;
  }
  return true;
}
} // namespace

Value ViewOp::getViewSource() { return getInput(); }

OpFoldResult ViewOp::fold(FoldAdaptor) {
  if (getInput().getType() == getType() && isIdentityMap(getMap(), getType().getShape()))
    return getInput();
  return {};
}

void ViewOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<ComposeViewsPattern>(context);
}

LogicalResult ViewOp::verify() {
  RankedTensorType input = getInput().getType(), output = getType();
  AffineMap map = getMap();
  // view_c1
  if (map.getNumDims() != output.getRank() || map.getNumResults() != input.getRank() || map.getNumSymbols() != 0)
    return emitOpError("needs a map from ") << output.getRank() << " to " << input.getRank() << " dimensions without symbols, found "
                                            << AffineMapAttr::get(map);
  // view_c2
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    std::optional<IndexInterval> interval = computeInterval(expr, output.getShape());
    if (!interval)
      return emitOpError("reads dimension ") << dim << " at " << AffineMapAttr::get(AffineMap::get(map.getNumDims(), 0, expr))
                                             << ", which divides by a number that is not positive, or exceeds 64 bits";
    if (interval->first < 0 || interval->last >= input.getDimSize(dim))
      return emitOpError("reads indices ") << interval->first << " to " << interval->last << " of dimension " << dim
                                           << ", which has " << input.getDimSize(dim) << " elements";
  }
  // view_c3
  if (!canViewElements(input.getElementType(), output.getElementType()))
    return emitOpError("cannot view elements of ") << input.getElementType() << " as " << output.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// LoopOp
//===----------------------------------------------------------------------===//

RankedTensorType LoopOp::getTileType(RankedTensorType full, int64_t dim, int64_t count) {
  if (dim < 0 || dim >= full.getRank() || count <= 0 || full.getDimSize(dim) % count != 0)
    return {};
  SmallVector<int64_t> shape(full.getShape());
  shape[dim] /= count;
  Attribute encoding = full.getEncoding();
  if (auto layout = dyn_cast_or_null<LayoutAttr>(encoding)) {
    ArrayRef<int64_t> buffer = layout.getBufferShape().empty() ? full.getShape() : layout.getBufferShape();
    encoding = LayoutAttr::get(full.getContext(), layout.getDeviceSize(), layout.getStrideMap(), layout.getFormat(), buffer);
  }
  return RankedTensorType::get(shape, full.getElementType(), encoding);
}

SmallVector<Region *> LoopOp::getLoopRegions() { return {&getBody()}; }

MutableArrayRef<OpOperand> LoopOp::getInitsMutable() { return getBeforeMutable(); }

Block::BlockArgListType LoopOp::getRegionIterArgs() { return getBody().getArguments().take_back(getBefore().size()); }

std::optional<MutableArrayRef<OpOperand>> LoopOp::getYieldedValuesMutable() {
  return cast<YieldOp>(getBody().front().getTerminator()).getValuesMutable();
}

std::optional<ResultRange> LoopOp::getLoopResults() { return getResults().take_back(getBefore().size()); }

std::optional<APInt> LoopOp::getStaticTripCount() {
  if (getSymbol())
    return std::nullopt;
  return getCountAttr().getValue();
}

void LoopOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, argument.getArgNumber() < getTiled().size() ? "tile" : "before");
}

/// Verifies a tiled operand and its block argument.
static LogicalResult verifyTiledOperand(LoopOp loop, size_t index) {
  auto type = cast<RankedTensorType>(loop.getTiled()[index].getType());
  // loop_c2
  RankedTensorType tile = LoopOp::getTileType(type, loop.getTiledDims()[index], loop.getCount());
  if (!tile)
    return loop.emitOpError("cannot split dimension ")
           << loop.getTiledDims()[index] << " of " << type << " into " << loop.getCount() << " tiles";
  // loop_c3
  Type found = loop.getBody().front().getArgument(index).getType();
  if (found != tile)
    return loop.emitOpError("expected tile ") << index << " of " << type << " as " << tile << ", found " << found;
  return success();
}

/// Verifies a result that is concatenated from yielded tiles.
static LogicalResult verifyResultTile(LoopOp loop, YieldOp yield, size_t index) {
  auto type = cast<RankedTensorType>(yield.getTiles()[index].getType());
  auto result = cast<RankedTensorType>(loop.getResult(index).getType());
  int64_t dim = yield.getTiledDims()[index];
  // loop_c4
  SmallVector<int64_t> shape(type.getShape());
  if (dim < 0 || dim >= type.getRank())
    return loop.emitOpError("cannot concatenate tiles to result ") << index << " along dimension " << dim << " of " << type;
  shape[dim] *= loop.getCount();
  if (result.getShape() != ArrayRef(shape) || result.getElementType() != type.getElementType())
    return loop.emitOpError("expected result ") << index << " of " << loop.getCount() << " tiles of " << type << " along dimension " << dim
                                       << ", found " << result;
  return success();
}

/// Verifies the loop-carried values.
static LogicalResult verifyCarriedValues(LoopOp loop, YieldOp yield) {
  // loop_c5
  size_t numCarried = loop.getBefore().size(), numTiled = loop.getTiled().size(), numTiles = yield.getTiles().size();
  if (yield.getValues().size() != numCarried)
    return loop.emitOpError("carries ") << numCarried << " operands, but yields " << yield.getValues().size()
                                        << " values for the next iteration";
  for (size_t index = 0; index < numCarried; ++index) {
    Type before = loop.getBefore()[index].getType();
    Type found = loop.getBody().front().getArgument(numTiled + index).getType();
    if (found != before)
      return loop.emitOpError("carries ") << before << ", but operand " << numTiled + index << " is " << found << " inside";
    Type after = yield.getValues()[index].getType(), result = loop.getResult(numTiles + index).getType();
    if (after != before || result != before)
      return loop.emitOpError("carries ") << before << ", but yields " << after << " and gives " << result;
  }
  return success();
}

LogicalResult LoopOp::verify() {
  // loop_c1
  if (static_cast<int64_t>(getCount()) <= 0)
    return emitOpError("expected at least one tile, found ") << static_cast<int64_t>(getCount());
  // loop_c6
  if (getSymbol() && !isCountSymbol(*getSymbol()))
    return emitOpError("runs over '") << *getSymbol() << "' tiles, which is not a name of letters, digits and '_'";
  Block &body = getBody().front();
  if (getTiled().size() != getTiledDims().size() || getNumOperands() != body.getNumArguments())
    return emitOpError("expected a dimension for each tiled operand and a block argument for each operand, found ")
           << getTiled().size() << " tiled operands, " << getNumOperands() << " operands in all, " << getTiledDims().size()
           << " dimensions and " << body.getNumArguments() << " block arguments";
  for (size_t index = 0, end = getTiled().size(); index < end; ++index)
    if (failed(verifyTiledOperand(*this, index)))
      return failure();
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError("must end with 'spyre.yield'");
  if (yield.getNumOperands() != getNumResults())
    return emitOpError("has ") << getNumResults() << " results, but yields " << yield.getNumOperands() << " values";
  // The yield is verified after the loop, and its verifier reports wrong list sizes and yield_c1.
  ArrayRef<int32_t> lists = yield.getProperties().operandSegmentSizes;
  int64_t numTiles = yield.getTiledDims().size();
  if (lists[0] != numTiles || lists[1] < 0 || numTiles + lists[1] != yield.getNumOperands())
    return success();
  for (size_t index = 0, end = yield.getTiles().size(); index < end; ++index)
    if (failed(verifyResultTile(*this, yield, index)))
      return failure();
  return verifyCarriedValues(*this, yield);
}

/// Adds the attribute with the sizes of the two operand lists of an op.
static void addSegmentSizes(OpAsmParser &parser, OperationState &state, size_t first, size_t second) {
  state.addAttribute("operandSegmentSizes",
                     parser.getBuilder().getDenseI32ArrayAttr({static_cast<int32_t>(first), static_cast<int32_t>(second)}));
}

ParseResult LoopOp::parse(OpAsmParser &parser, OperationState &state) {
  int64_t count;
  StringAttr dim;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<int64_t> dims;
  SmallVector<Type> types;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseInteger(count) || parser.parseAttribute(dim, "dim", state.attributes))
    return failure();
  auto parseTile = [&]() -> ParseResult {
    SMLoc tileLocation = parser.getCurrentLocation();
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseLSquare() || parser.parseInteger(dims.emplace_back()) || parser.parseRSquare() ||
        parser.parseColonType(types.emplace_back()))
      return failure();
    auto full = dyn_cast<RankedTensorType>(types.back());
    RankedTensorType tile = full ? getTileType(full, dims.back(), count) : RankedTensorType();
    if (!tile)
      return parser.emitError(tileLocation, "cannot split dimension ")
             << dims.back() << " of " << types.back() << " into " << count << " tiles";
    arguments.back().type = tile;
    return success();
  };
  auto parseCarried = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(types.emplace_back()))
      return failure();
    arguments.back().type = types.back();
    return success();
  };
  if (succeeded(parser.parseOptionalKeyword("tiled")) && parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseTile))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("carried")) && parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseCarried))
    return failure();
  Region *body = state.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || verifyParsedAttributes<LoopOp>(parser, state) ||
      parser.parseRegion(*body, arguments) || parser.parseOptionalColonTypeList(state.types) ||
      parser.resolveOperands(operands, types, location, state.operands))
    return failure();
  state.addAttribute("count", parser.getBuilder().getI64IntegerAttr(count));
  state.addAttribute("tiled_dims", parser.getBuilder().getDenseI64ArrayAttr(dims));
  addSegmentSizes(parser, state, dims.size(), operands.size() - dims.size());
  return success();
}

void LoopOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getCount() << ' ' << getDimAttr();
  size_t numTiled = getTiled().size();
  auto printOperand = [&](size_t index) {
    printer << getBody().getArgument(index) << " = " << getOperand(index);
    if (index < numTiled)
      printer << '[' << getTiledDims()[index] << ']';
    printer << " : " << getOperand(index).getType();
  };
  if (numTiled > 0) {
    printer << " tiled(";
    llvm::interleaveComma(llvm::seq<size_t>(0, numTiled), printer, printOperand);
    printer << ')';
  }
  if (numTiled < getNumOperands()) {
    printer << " carried(";
    llvm::interleaveComma(llvm::seq<size_t>(numTiled, getNumOperands()), printer, printOperand);
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), {"count", "dim", "tiled_dims", "operandSegmentSizes"});
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  if (getNumResults() != 0)
    printer << " : " << getResultTypes();
}

//===----------------------------------------------------------------------===//
// YieldOp
//===----------------------------------------------------------------------===//

LogicalResult YieldOp::verify() {
  // yield_c1
  if (getTiledDims().size() != getTiles().size())
    return emitOpError("names ") << getTiledDims().size() << " dimensions for " << getTiles().size() << " tiles";
  // yield_c2
  bool runsOnce = isa<HintOp, KernelOp>((*this)->getParentOp());
  if (runsOnce && !getTiles().empty())
    return emitOpError("concatenates values in ")
           << (isa<HintOp>((*this)->getParentOp()) ? "a hint scope" : "a kernel") << ", which runs once";
  return success();
}

ParseResult YieldOp::parse(OpAsmParser &parser, OperationState &state) {
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<int64_t> dims;
  SmallVector<Type> types;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseOptionalAttrDict(state.attributes) || verifyParsedAttributes<YieldOp>(parser, state))
    return failure();
  auto parseDim = [&]() -> ParseResult {
    SMLoc dimLocation = parser.getCurrentLocation();
    if (failed(parser.parseOptionalLSquare()))
      return success();
    if (dims.size() + 1 < operands.size())
      return parser.emitError(dimLocation, "expected tiles before carried values, found a tile after a carried value");
    return failure(parser.parseInteger(dims.emplace_back()) || parser.parseRSquare());
  };
  OpAsmParser::UnresolvedOperand first;
  OptionalParseResult firstResult = parser.parseOptionalOperand(first);
  if (firstResult.has_value()) {
    if (failed(*firstResult))
      return failure();
    operands.push_back(first);
    if (parseDim())
      return failure();
    while (succeeded(parser.parseOptionalComma()))
      if (parser.parseOperand(operands.emplace_back()) || parseDim())
        return failure();
    if (parser.parseColonTypeList(types) || parser.resolveOperands(operands, types, location, state.operands))
      return failure();
  }
  state.addAttribute("tiled_dims", parser.getBuilder().getDenseI64ArrayAttr(dims));
  addSegmentSizes(parser, state, dims.size(), operands.size() - dims.size());
  return success();
}

void YieldOp::print(OpAsmPrinter &printer) {
  printer.printOptionalAttrDict((*this)->getAttrs(), {"tiled_dims", "operandSegmentSizes"});
  if (getNumOperands() == 0)
    return;
  printer << ' ';
  llvm::interleaveComma(llvm::enumerate(getOperands()), printer, [&](auto value) {
    printer << value.value();
    if (value.index() < getTiles().size())
      printer << '[' << getTiledDims()[value.index()] << ']';
  });
  printer << " : " << getOperandTypes();
}
