//===- HintOp.cpp - syntax and verifier of hint scopes --------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Spyre.h"

using namespace mlir;
using namespace spyre;

/// Verifies the pairs of a dimension name and a number in one list of a scope. A number is an integer or a symbol.
static LogicalResult verifyRequests(HintOp op, ArrayAttr dims, ArrayRef<Attribute> numbers, StringRef verb,
                                    StringRef unit, StringRef number) {
  if (dims.size() != numbers.size())
    return op.emitOpError("names ") << dims.size() << " dimensions and " << numbers.size() << ' ' << number << 's';
  for (auto [index, dim] : llvm::enumerate(dims)) {
    auto value = dyn_cast<IntegerAttr>(numbers[index]);
    if (value && value.getInt() <= 0)
      return op.emitOpError() << verb << ' ' << dim << " into " << value.getInt() << ' ' << unit << "; a " << number
                              << " is positive";
    // hint_c3
    if (auto symbol = dyn_cast<StringAttr>(numbers[index]); symbol && !isCountSymbol(symbol))
      return op.emitOpError() << verb << ' ' << dim << " into " << symbol << ' ' << unit
                              << ", which is not a name of letters, digits and '_'";
    if (llvm::is_contained(dims.getValue().take_front(index), dim))
      return op.emitOpError("names dimension ") << dim << " twice in one scope";
  }
  return success();
}

LogicalResult HintOp::verify() {
  // hint_c1
  if (getTileDims().empty() && getWorkDims().empty() && getTileCounts().empty() && getRecompute().empty())
    return emitOpError("requires at least one of 'tiles', 'work_div' or 'recompute'");
  if (failed(verifyRequests(*this, getTileDims(), getTileCounts().getValue(), "cuts", "tiles", "count")) ||
      failed(verifyRequests(*this, getWorkDims(), getWorkSlices().getValue(), "divides", "slices", "number")))
    return failure();
  // hint_c4
  if (llvm::SmallDenseSet<Attribute>(getRecompute().begin(), getRecompute().end()).size() != getRecompute().size())
    return emitOpError("names a dimension twice in 'recompute'");
  // hint_c2
  auto yield = dyn_cast<YieldOp>(getBody().front().getTerminator());
  if (!yield)
    return emitOpError("must end with 'spyre.yield'");
  if (!llvm::equal(yield.getOperandTypes(), getResultTypes()))
    return emitOpError("gives ") << getResultTypes() << ", but yields " << yield.getOperandTypes();
  return success();
}

/// Parses `(name = number, ...)` into names and numbers; a number may be a symbol. `unit` is what the numbers count,
/// for errors.
static ParseResult parseRequests(OpAsmParser &parser, StringRef unit, SmallVector<Attribute> &dims,
                                 SmallVector<Attribute> &numbers) {
  auto parseNumber = [&]() -> ParseResult {
    int64_t value;
    OptionalParseResult number = parser.parseOptionalInteger(value);
    if (number.has_value()) {
      numbers.push_back(parser.getBuilder().getI64IntegerAttr(value));
      return *number;
    }
    std::string symbol;
    if (failed(parser.parseOptionalKeywordOrString(&symbol)))
      return parser.emitError(parser.getCurrentLocation()) << "expected a number of " << unit << ", or the name of one";
    numbers.push_back(parser.getBuilder().getStringAttr(symbol));
    return success();
  };
  auto parseRequest = [&]() -> ParseResult {
    std::string dim;
    if (parser.parseKeywordOrString(&dim) || parser.parseEqual() || parseNumber())
      return failure();
    dims.push_back(parser.getBuilder().getStringAttr(dim));
    return success();
  };
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseRequest);
}

/// Parses `tiles(name = count, ...)`, which is optional; the default is two empty lists.
static ParseResult parseTiles(OpAsmParser &parser, OperationState &state, bool &isPresent) {
  // torch-spyre has used each of these keywords.
  static constexpr StringRef spellings[] = {"tiles", "slices", "num_tiles_per_dim"};
  SmallVector<Attribute> dims, counts;
  StringRef spelling;
  isPresent = succeeded(parser.parseOptionalKeyword(&spelling, spellings));
  if (isPresent && parseRequests(parser, "tiles", dims, counts))
    return failure();
  SMLoc location = parser.getCurrentLocation();
  if (isPresent && succeeded(parser.parseOptionalKeyword(&spelling, spellings)))
    return parser.emitError(location) << "expected one list of tiles, found a second one, '" << spelling << "'";
  state.addAttribute("tile_dims", parser.getBuilder().getArrayAttr(dims));
  state.addAttribute("tile_counts", parser.getBuilder().getArrayAttr(counts));
  return success();
}

/// Parses `work_div(name = slices, ...)`, which is optional.
static ParseResult parseWorkDiv(OpAsmParser &parser, OperationState &state, bool &isPresent) {
  SmallVector<Attribute> dims, slices;
  isPresent = succeeded(parser.parseOptionalKeyword("work_div"));
  if (!isPresent)
    return success();
  if (parseRequests(parser, "slices", dims, slices))
    return failure();
  state.addAttribute("work_dims", parser.getBuilder().getArrayAttr(dims));
  state.addAttribute("work_slices", parser.getBuilder().getArrayAttr(slices));
  return success();
}

/// Parses `recompute(name, ...)`, which is optional.
static ParseResult parseRecompute(OpAsmParser &parser, OperationState &state, bool &isPresent) {
  SmallVector<std::string> dims;
  isPresent = succeeded(parser.parseOptionalKeyword("recompute"));
  auto parseName = [&] { return parser.parseKeywordOrString(&dims.emplace_back()); };
  if (isPresent && parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseName))
    return failure();
  state.addAttribute("recompute",
                     parser.getBuilder().getStrArrayAttr(SmallVector<StringRef>(dims.begin(), dims.end())));
  return success();
}

static void printNumber(OpAsmPrinter &printer, Attribute number) {
  if (auto value = dyn_cast<IntegerAttr>(number))
    printer << value.getInt();
  else
    printer.printKeywordOrString(cast<StringAttr>(number).getValue());
}

static void printRequests(OpAsmPrinter &printer, StringRef keyword, ArrayAttr dims, ArrayAttr numbers) {
  if (dims.empty())
    return;
  printer << ' ' << keyword << '(';
  llvm::interleaveComma(llvm::zip(dims, numbers), printer, [&](auto request) {
    printer.printKeywordOrString(cast<StringAttr>(std::get<0>(request)).getValue());
    printer << " = ";
    printNumber(printer, std::get<1>(request));
  });
  printer << ')';
}

ParseResult HintOp::parse(OpAsmParser &parser, OperationState &state) {
  bool hasTiles, hasWork, hasRecompute;
  if (parseTiles(parser, state, hasTiles) || parseWorkDiv(parser, state, hasWork) ||
      parseRecompute(parser, state, hasRecompute))
    return failure();
  if (!hasTiles && !hasWork && !hasRecompute)
    return parser.emitError(parser.getCurrentLocation(), "expected 'tiles', 'work_div' or 'recompute'");
  Region *body = state.addRegion();
  if (parser.parseOptionalAttrDictWithKeyword(state.attributes) || verifyParsedAttributes<HintOp>(parser, state) ||
      parser.parseRegion(*body))
    return failure();
  if (body->empty() || body->front().empty())
    return parser.emitError(parser.getNameLoc(), "a hint scope ends with 'spyre.yield'");
  // The results have the types of the yielded values, so the text does not repeat them.
  state.addTypes(body->front().back().getOperandTypes());
  return success();
}

void HintOp::print(OpAsmPrinter &printer) {
  printRequests(printer, "tiles", getTileDims(), getTileCounts());
  printRequests(printer, "work_div", getWorkDims(), getWorkSlices());
  if (!getRecompute().empty()) {
    printer << " recompute(";
    llvm::interleaveComma(getRecompute().getAsRange<StringAttr>(), printer,
                          [&](StringAttr dim) { printer.printKeywordOrString(dim); });
    printer << ')';
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"tile_dims", "tile_counts", "work_dims", "work_slices", "recompute"});
  printer << ' ';
  printer.printRegion(getBody());
}
