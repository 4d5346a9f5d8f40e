//===- ComputeOps.cpp - iteration spaces, verifiers, syntax ---------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Spyre.h"

using namespace mlir;
using namespace spyre;

namespace {
/// Elementwise device function: a row of DeviceFunctions.def.
struct DeviceFunction {
  llvm::StringLiteral name;
  unsigned operands;
};

constexpr DeviceFunction kPointwiseFunctions[] = {
#define SPYRE_POINTWISE(name, operands, fp32, lx) {#name, operands},
#include "DeviceFunctions.def"
};

/// Device function that copies elements unchanged.
constexpr llvm::StringLiteral kIdentityFunction = "identity";

/// Names of the functions that take constants, once per constant.
constexpr llvm::StringLiteral kFunctionConstants[] = {
#define SPYRE_CONSTANT(function, name) #function,
#include "DeviceFunctions.def"
};

constexpr llvm::StringLiteral kReduceFunctions[] = {
#define SPYRE_REDUCE(name, fp32, lx) #name,
#include "DeviceFunctions.def"
};

/// Verifies that an op has as many constants as its function takes.
LogicalResult verifyConstants(Operation *op, StringRef function, std::optional<ArrayRef<double>> constants) {
  size_t expected = llvm::count(kFunctionConstants, function), found = constants ? constants->size() : 0;
  if (expected != found)
    return op->emitOpError("'") << function << "' takes " << expected << " constants, found " << found;
  return success();
}

SmallVector<int64_t> getTensorShape(Value value) {
  return llvm::to_vector(cast<RankedTensorType>(value.getType()).getShape());
}

AffineMap getIdentityMap(Operation *op, unsigned rank) {
  return AffineMap::getMultiDimIdentityMap(rank, op->getContext());
}

/// Returns a map from iteration point to element of `operand`, whose dimensions of size 1 are broadcast.
AffineMap buildBroadcastMap(Value operand, Value result) {
  auto shape = cast<RankedTensorType>(operand.getType()).getShape();
  auto resultShape = cast<RankedTensorType>(result.getType()).getShape();
  MLIRContext *context = operand.getContext();
  SmallVector<AffineExpr> exprs;
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(shape, resultShape)))
    exprs.push_back(std::get<0>(sizes) == std::get<1>(sizes) ? getAffineDimExpr(dim, context) : getAffineConstantExpr(0, context));
  return AffineMap::get(resultShape.size(), 0, exprs, context);
}

/// Parses the types after the colon: one type if all are equal, otherwise a function type.
ParseResult parseTypes(OpAsmParser &parser, size_t operands, SmallVectorImpl<Type> &inputs, Type &output) {
  if (succeeded(parser.parseOptionalLParen())) {
    if (parser.parseTypeList(inputs) || parser.parseRParen() || parser.parseArrow() || parser.parseType(output))
      return failure();
    return success();
  }
  if (parser.parseType(output))
    return failure();
  inputs.assign(operands, output);
  return success();
}
} // namespace

LogicalResult spyre::verifyComputeOp(Operation *op) {
  SmallVector<int64_t> space = cast<ComputeOpInterface>(op).getIterationSpace();
  // compute_c1
  for (StringRef name : {"min_work", "work"}) {
    auto work = op->getAttrOfType<WorkAttr>(name);
    if (!work)
      continue;
    if (work.getSlices().size() != space.size())
      return op->emitOpError("has ") << space.size() << " iteration dimensions, but '" << name << "' has " << work.getSlices().size()
                                     << " entries";
    for (auto [dim, pair] : llvm::enumerate(llvm::zip(work.getSlices(), space)))
      if (std::get<0>(pair) > std::get<1>(pair))
        return op->emitOpError("cannot split dimension ") << dim << " of " << std::get<1>(pair) << " into " << std::get<0>(pair)
                                                        << " slices";
  }
  // compute_c2
  auto dims = op->getAttrOfType<ArrayAttr>("dims");
  if (!dims)
    return success();
  if (dims.size() != space.size())
    return op->emitOpError("has ") << space.size() << " iteration dimensions, but 'dims' names " << dims.size();
  for (Attribute names : dims)
    if (!isa<StringAttr>(names))
      return op->emitOpError("expected strings as names of dimensions, found ") << names;
  return success();
}

//===----------------------------------------------------------------------===//
// PointwiseOp
//===----------------------------------------------------------------------===//

SmallVector<int64_t> PointwiseOp::getIterationSpace() { return getTensorShape(getOutput()); }
unsigned PointwiseOp::getNumReductionDims() { return 0; }
machine::Family PointwiseOp::getFamily() { return machine::Family::Pointwise; }
StringRef PointwiseOp::getDeviceFunction() { return getFunction(); }

SmallVector<AffineMap> PointwiseOp::getAccessMaps() {
  SmallVector<AffineMap> maps;
  for (Value input : getInputs())
    maps.push_back(buildBroadcastMap(input, getOutput()));
  maps.push_back(getIdentityMap(*this, getOutput().getType().getRank()));
  return maps;
}

LogicalResult PointwiseOp::verify() {
  // pointwise_c1
  const auto *row = llvm::find_if(kPointwiseFunctions,
                                  [&](const DeviceFunction &function) { return function.name == getFunction(); });
  if (row == std::end(kPointwiseFunctions))
    return emitOpError("'") << getFunction() << "' is no elementwise device function";
  // pointwise_c2
  if (getInputs().size() != row->operands)
    return emitOpError("'") << getFunction() << "' takes " << row->operands << " operands, found " << getInputs().size();
  RankedTensorType output = getOutput().getType();
  // pointwise_c7
  bool isWidening = getFunction() == "dl16tofp32", isConversion = isWidening || getFunction() == "fp32todl16";
  if (isConversion) {
    Type input = cast<RankedTensorType>(getInputs().front().getType()).getElementType(), result = output.getElementType();
    Type narrow = isWidening ? input : result, wide = isWidening ? result : input;
    if (!(narrow.isF16() || narrow.isBF16()) || !wide.isF32())
      return emitOpError("'") << getFunction() << "' converts " << (isWidening ? "f16 or bf16 to f32" : "f32 to f16 or bf16") << ", found "
                              << input << " and " << result;
  }
  for (auto [index, input] : llvm::enumerate(getInputs())) {
    auto type = cast<RankedTensorType>(input.getType());
    // pointwise_c3
    if (type.getRank() != output.getRank())
      return emitOpError("operand ") << index << " has rank " << type.getRank() << ", the result " << output.getRank();
    // pointwise_c4
    for (auto [dim, sizes] : llvm::enumerate(llvm::zip(type.getShape(), output.getShape())))
      if (std::get<0>(sizes) != 1 && std::get<0>(sizes) != std::get<1>(sizes))
        return emitOpError("operand ") << index << " has " << std::get<0>(sizes) << " elements in dimension " << dim << ", the result "
                                       << std::get<1>(sizes);
    // pointwise_c5
    bool isCondition = getFunction() == "where3" && index == 0;
    if (!isCondition && !isConversion && type.getElementType() != output.getElementType())
      return emitOpError("operand ") << index << " has elements of " << type.getElementType() << ", the result of "
                                     << output.getElementType();
  }
  // pointwise_c6
  return verifyConstants(*this, getFunction(), getConstants());
}

ParseResult PointwiseOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef function;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> inputs;
  Type output;
  SMLoc location;
  if (parser.parseKeyword(&function) || parser.getCurrentLocation(&location) ||
      parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren) ||
      parser.parseOptionalAttrDict(state.attributes) || verifyParsedAttributes<PointwiseOp>(parser, state) ||
      parser.parseColon() || parseTypes(parser, operands.size(), inputs, output) ||
      parser.resolveOperands(operands, inputs, location, state.operands))
    return failure();
  state.addAttribute("function", parser.getBuilder().getStringAttr(function));
  state.addTypes(output);
  return success();
}

void PointwiseOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFunction() << '(' << getInputs() << ')';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"function"});
  printer << " : ";
  Type output = getOutput().getType();
  if (!getInputs().empty() && llvm::all_of(getInputs().getTypes(), [&](Type type) { return type == output; }))
    printer << output;
  else
    printer.printFunctionalType(*this);
}

//===----------------------------------------------------------------------===//
// ReduceOp
//===----------------------------------------------------------------------===//

SmallVector<int64_t> ReduceOp::getIterationSpace() {
  SmallVector<int64_t> keptSizes, reducedSizes;
  for (auto [dim, size] : llvm::enumerate(getInput().getType().getShape()))
    (llvm::is_contained(getReduced(), dim) ? reducedSizes : keptSizes).push_back(size);
  keptSizes.append(reducedSizes);
  return keptSizes;
}

unsigned ReduceOp::getNumReductionDims() { return getReduced().size(); }
machine::Family ReduceOp::getFamily() { return machine::Family::Reduce; }
StringRef ReduceOp::getDeviceFunction() { return getFunction(); }

SmallVector<AffineMap> ReduceOp::getAccessMaps() {
  unsigned rank = getInput().getType().getRank();
  unsigned nextKept = 0, nextReduced = rank - getReduced().size();
  SmallVector<AffineExpr> input, output;
  for (unsigned dim = 0; dim < rank; ++dim) {
    bool isReduced = llvm::is_contained(getReduced(), dim);
    AffineExpr expr = getAffineDimExpr(isReduced ? nextReduced++ : nextKept++, getContext());
    input.push_back(expr);
    output.push_back(isReduced ? getAffineConstantExpr(0, getContext()) : expr);
  }
  return {AffineMap::get(rank, 0, input, getContext()), AffineMap::get(rank, 0, output, getContext())};
}

LogicalResult ReduceOp::verify() {
  // reduce_c1
  if (!llvm::is_contained(kReduceFunctions, getFunction()))
    return emitOpError("'") << getFunction() << "' is no reduction of the device";
  RankedTensorType input = getInput().getType(), output = getOutput().getType();
  // reduce_c2
  if (getReduced().empty())
    return emitOpError("reduces no dimension");
  for (auto [index, dim] : llvm::enumerate(getReduced())) {
    if (dim < 0 || dim >= input.getRank())
      return emitOpError("reduces dimension ") << dim << " of a tensor of rank " << input.getRank();
    if (index > 0 && getReduced()[index - 1] >= dim)
      return emitOpError("reduced dimensions must increase, found ") << getReduced()[index - 1] << " before " << dim;
  }
  // reduce_c3
  SmallVector<int64_t> expected(input.getShape());
  for (int64_t dim : getReduced())
    expected[dim] = 1;
  if (output.getShape() != ArrayRef(expected))
    return emitOpError("expected reduced dimensions of size 1 in the result, found ") << output;
  // reduce_c4
  if (input.getElementType() != output.getElementType())
    return emitOpError("expected a result with elements of ") << input.getElementType() << ", found " << output.getElementType();
  // reduce_c5
  return verifyConstants(*this, getFunction(), getConstants());
}

ParseResult ReduceOp::parse(OpAsmParser &parser, OperationState &state) {
  StringRef function;
  OpAsmParser::UnresolvedOperand operand;
  SmallVector<int64_t> reduced;
  Type input, output;
  auto parseDim = [&] { return parser.parseInteger(reduced.emplace_back()); };
  if (parser.parseKeyword(&function) || parser.parseLParen() || parser.parseOperand(operand) || parser.parseRParen() ||
      parser.parseKeyword("dims") || parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseDim) ||
      parser.parseOptionalAttrDict(state.attributes) || verifyParsedAttributes<ReduceOp>(parser, state) ||
      parser.parseColonType(input) || parser.parseArrow() || parser.parseType(output) ||
      parser.resolveOperand(operand, input, state.operands))
    return failure();
  state.addAttribute("function", parser.getBuilder().getStringAttr(function));
  state.addAttribute("reduced", parser.getBuilder().getDenseI64ArrayAttr(reduced));
  state.addTypes(output);
  return success();
}

void ReduceOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getFunction() << '(' << getInput() << ") dims [";
  llvm::interleaveComma(getReduced(), printer);
  printer << ']';
  printer.printOptionalAttrDict((*this)->getAttrs(), {"function", "reduced"});
  printer << " : " << getInput().getType() << " -> " << getOutput().getType();
}

//===----------------------------------------------------------------------===//
// MatmulOp
//===----------------------------------------------------------------------===//

SmallVector<int64_t> MatmulOp::getIterationSpace() {
  SmallVector<int64_t> space = getTensorShape(getOutput());
  // The interface verifier runs before the verifier of the op, so the operand may still be a scalar, without K.
  if (getLhs().getType().getRank() > 0)
    space.push_back(getLhs().getType().getShape().back());
  return space;
}

unsigned MatmulOp::getNumReductionDims() { return 1; }
machine::Family MatmulOp::getFamily() { return machine::Family::Matmul; }
StringRef MatmulOp::getDeviceFunction() { return "batchmatmul"; }

SmallVector<AffineMap> MatmulOp::getAccessMaps() {
  unsigned rank = getOutput().getType().getRank();
  unsigned m = rank - 2, n = rank - 1, k = rank;
  auto buildMap = [&](unsigned row, unsigned column) {
    SmallVector<AffineExpr> exprs;
    for (unsigned batch = 0; batch < m; ++batch)
      exprs.push_back(getAffineDimExpr(batch, getContext()));
    exprs.push_back(getAffineDimExpr(row, getContext()));
    exprs.push_back(getAffineDimExpr(column, getContext()));
    return AffineMap::get(rank + 1, 0, exprs, getContext());
  };
  return {buildMap(m, k), buildMap(k, n), buildMap(m, n)};
}

LogicalResult MatmulOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType(), output = getOutput().getType();
  // matmul_c1
  if (lhs.getRank() < 2 || lhs.getRank() != rhs.getRank() || lhs.getRank() != output.getRank())
    return emitOpError("expected tensors of one rank, at least 2, found ranks ")
           << lhs.getRank() << ", " << rhs.getRank() << " and " << output.getRank();
  int64_t m = lhs.getRank() - 2, n = m + 1;
  // matmul_c2
  for (int64_t dim = 0; dim < m; ++dim)
    if (lhs.getDimSize(dim) != rhs.getDimSize(dim) || lhs.getDimSize(dim) != output.getDimSize(dim))
      return emitOpError("batch dimension ") << dim << " differs: " << lhs.getDimSize(dim) << ", " << rhs.getDimSize(dim) << " and "
                                             << output.getDimSize(dim);
  // matmul_c3
  if (lhs.getDimSize(n) != rhs.getDimSize(m))
    return emitOpError("expected as many columns of the left operand as rows of the right, found ")
           << lhs.getDimSize(n) << " and " << rhs.getDimSize(m);
  if (output.getDimSize(m) != lhs.getDimSize(m) || output.getDimSize(n) != rhs.getDimSize(n))
    return emitOpError("computes ") << lhs.getDimSize(m) << " x " << rhs.getDimSize(n) << " elements, but the result has "
                                 << output.getDimSize(m) << " x " << output.getDimSize(n);
  // matmul_c4
  if (lhs.getElementType() != rhs.getElementType() || lhs.getElementType() != output.getElementType())
    return emitOpError("expected tensors of one element type, found ")
           << lhs.getElementType() << ", " << rhs.getElementType() << " and " << output.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// GatherOp
//===----------------------------------------------------------------------===//

SmallVector<int64_t> GatherOp::getIterationSpace() { return getTensorShape(getOutput()); }
unsigned GatherOp::getNumReductionDims() { return 0; }
machine::Family GatherOp::getFamily() { return machine::Family::Gather; }
StringRef GatherOp::getDeviceFunction() { return getFunction().value_or(kIdentityFunction); }

SmallVector<AffineMap> GatherOp::getAccessMaps() {
  unsigned rank = getOutput().getType().getRank(), indexRank = getIndex().getType().getRank();
  SmallVector<AffineExpr> table, index;
  for (unsigned dim = 0; dim < indexRank; ++dim)
    index.push_back(getAffineDimExpr(dim, getContext()));
  unsigned next = indexRank;
  for (int64_t dim = 0; dim < getTable().getType().getRank(); ++dim)
    table.push_back(dim == static_cast<int64_t>(getDim()) ? getAffineConstantExpr(0, getContext()) : getAffineDimExpr(next++, getContext()));
  return {AffineMap::get(rank, 0, table, getContext()), AffineMap::get(rank, 0, index, getContext()),
          getIdentityMap(*this, rank)};
}

LogicalResult GatherOp::verify() {
  RankedTensorType table = getTable().getType(), index = getIndex().getType(), output = getOutput().getType();
  // gather_c1
  int64_t dim = getDim();
  if (dim < 0 || dim >= table.getRank())
    return emitOpError("expected a dimension of the table, which has rank ") << table.getRank() << ", found dimension " << dim;
  // gather_c2
  if (!index.getElementType().isSignlessInteger(32) && !index.getElementType().isSignlessInteger(64))
    return emitOpError("expected indices of i32 or i64, found ") << index.getElementType();
  if (index.getRank() == 0)
    return emitOpError("expected indices of at least one dimension, found ") << index;
  // gather_c3
  SmallVector<int64_t> expected(index.getShape());
  for (auto [position, size] : llvm::enumerate(table.getShape()))
    if (static_cast<int64_t>(position) != dim)
      expected.push_back(size);
  if (output.getShape() != ArrayRef(expected)) {
    InFlightDiagnostic diagnostic = emitOpError("expected a result with the dimensions of the index, then the other dimensions of the table, ");
    llvm::interleave(expected, diagnostic, "x");
    return diagnostic << ", found " << output;
  }
  // gather_c4
  if (table.getElementType() != output.getElementType())
    return emitOpError("expected a result with elements of ") << table.getElementType() << ", found " << output.getElementType();
  // gather_c5
  std::optional<StringRef> function = getFunction();
  if (!function)
    return success();
  bool isUnary = llvm::any_of(kPointwiseFunctions,
                              [&](const DeviceFunction &row) { return row.name == *function && row.operands == 1; });
  if (!isUnary || llvm::is_contained(kFunctionConstants, *function))
    return emitOpError("'") << *function << "' is no elementwise device function of one operand and without constants";
  return success();
}

//===----------------------------------------------------------------------===//
// CopyOp, RestickifyOp, FillOp
//===----------------------------------------------------------------------===//

SmallVector<int64_t> CopyOp::getIterationSpace() { return getTensorShape(getOutput()); }
unsigned CopyOp::getNumReductionDims() { return 0; }
machine::Family CopyOp::getFamily() { return machine::Family::Copy; }
StringRef CopyOp::getDeviceFunction() { return kIdentityFunction; }
SmallVector<AffineMap> CopyOp::getAccessMaps() { return {2, getIdentityMap(*this, getOutput().getType().getRank())}; }
LogicalResult CopyOp::verify() {
  // copy_c1
  std::optional<WorkAttr> destination = getDestination();
  if (!destination)
    return success();
  std::optional<WorkAttr> work = getWork();
  size_t rank = getOutput().getType().getRank();
  if (destination->getSlices().size() < rank)
    return emitOpError("has ") << rank << " dimensions, but 'destination' has slices of " << destination->getSlices().size();
  auto countCores = [](WorkAttr split) {
    return std::accumulate(split.getSlices().begin(), split.getSlices().end(), int64_t{1}, std::multiplies<>());
  };
  if (work && countCores(*work) != countCores(*destination))
    return emitOpError("expected a 'destination' on the ") << countCores(*work) << " cores of 'work', found "
                                                           << countCores(*destination) << " cores";
  return success();
}

SmallVector<int64_t> RestickifyOp::getIterationSpace() { return getTensorShape(getOutput()); }
unsigned RestickifyOp::getNumReductionDims() { return 0; }
machine::Family RestickifyOp::getFamily() { return machine::Family::Copy; }
StringRef RestickifyOp::getDeviceFunction() { return "ReStickifyOpHBM"; }
SmallVector<AffineMap> RestickifyOp::getAccessMaps() {
  return {2, getIdentityMap(*this, getOutput().getType().getRank())};
}

namespace {
/// Removes two relayouts that cancel each other. Other chains are kept, because the device may have no single relayout
/// that replaces both.
struct CancelRestickifyPattern : OpRewritePattern<RestickifyOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(RestickifyOp op, PatternRewriter &rewriter) const override {
    auto inverse = op.getInput().getDefiningOp<RestickifyOp>();
    if (!inverse || inverse.getInput().getType() != op.getType() || op.getHints() || op.getWorkDiv())
      return failure();
    rewriter.replaceOp(op, inverse.getInput());
    return success();
  }
};
} // namespace

void RestickifyOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<CancelRestickifyPattern>(context);
}

LogicalResult RestickifyOp::verify() {
  // restickify_c1
  Attribute from = getInput().getType().getEncoding();
  if (from && from == getOutput().getType().getEncoding())
    return emitOpError("must change the layout, found ") << from << " on both sides";
  return success();
}

SmallVector<int64_t> FillOp::getIterationSpace() { return getTensorShape(getOutput()); }
unsigned FillOp::getNumReductionDims() { return 0; }
machine::Family FillOp::getFamily() { return machine::Family::Copy; }
StringRef FillOp::getDeviceFunction() { return kIdentityFunction; }
SmallVector<AffineMap> FillOp::getAccessMaps() { return {getIdentityMap(*this, getOutput().getType().getRank())}; }

LogicalResult FillOp::verify() {
  // fill_c1
  if (getValue().getType() != getOutput().getType().getElementType())
    return emitOpError("fills elements of ") << getOutput().getType().getElementType() << " with a value of " << getValue().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// InsertOp
//===----------------------------------------------------------------------===//

SmallVector<int64_t> InsertOp::getIterationSpace() { return getTensorShape(getPart()); }
unsigned InsertOp::getNumReductionDims() { return 0; }
machine::Family InsertOp::getFamily() { return machine::Family::Copy; }
StringRef InsertOp::getDeviceFunction() { return kIdentityFunction; }

SmallVector<AffineMap> InsertOp::getAccessMaps() {
  unsigned rank = getPart().getType().getRank();
  SmallVector<AffineExpr> window;
  for (auto [dim, offset] : llvm::enumerate(getOffsets()))
    window.push_back(getAffineDimExpr(dim, getContext()) + offset);
  return {getIdentityMap(*this, rank), AffineMap::get(rank, 0, window, getContext())};
}

/// Returns whether a tensor has the device layout of a window of another tensor.
static bool isWindowOf(RankedTensorType part, RankedTensorType whole) {
  auto partLayout = dyn_cast_or_null<LayoutAttr>(part.getEncoding()),
       wholeLayout = dyn_cast_or_null<LayoutAttr>(whole.getEncoding());
  return partLayout && wholeLayout && partLayout.getDeviceSize() == wholeLayout.getDeviceSize() &&
         partLayout.getStrideMap() == wholeLayout.getStrideMap() && partLayout.getFormat() == wholeLayout.getFormat() &&
         partLayout.getBufferShape() == whole.getShape();
}

namespace {
/// Replaces an insert that covers its complete buffer by the inserted tensor, unless another insert overwrites the
/// result.
struct FoldFullInsertPattern : OpRewritePattern<InsertOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(InsertOp op, PatternRewriter &rewriter) const override {
    auto overwrites = [&](Operation *user) {
      auto insert = dyn_cast<InsertOp>(user);
      return insert && insert.getWhole() == op.getOutput();
    };
    if (op.getPart().getType() != op.getType() || op.getHints() || op.getWorkDiv() || llvm::any_of(op->getUsers(), overwrites))
      return failure();
    rewriter.replaceOp(op, op.getPart());
    return success();
  }
};
} // namespace

void InsertOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<FoldFullInsertPattern>(context);
}

LogicalResult InsertOp::verify() {
  RankedTensorType part = getPart().getType(), whole = getWhole().getType();
  int64_t rank = whole.getRank();
  // insert_c1
  if (part.getRank() != rank || static_cast<int64_t>(getOffsets().size()) != rank)
    return emitOpError("writes a part of rank ") << part.getRank() << " at " << getOffsets().size() << " offsets into a tensor of rank "
                                                 << rank;
  // insert_c2
  for (auto [dim, offset] : llvm::enumerate(getOffsets()))
    if (offset < 0 || offset > whole.getDimSize(dim) - part.getDimSize(dim))
      return emitOpError("writes ") << part.getDimSize(dim) << " elements from " << offset << " along dimension " << dim
                                    << ", which has " << whole.getDimSize(dim);
  // insert_c3
  if (part.getElementType() != whole.getElementType())
    return emitOpError("writes elements of ") << part.getElementType() << " into a tensor of " << whole.getElementType();
  // insert_c4
  if (getInPlace() && !isWindowOf(part, whole))
    return emitOpError("writes ") << part << " in place, which is not a window of " << whole;
  return success();
}
