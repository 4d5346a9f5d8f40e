//===- SpyreAttrs.cpp - syntax and verifiers of attributes ----------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Spyre.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace spyre;
using namespace machine;

#define GET_ATTRDEF_CLASSES
#include "SpyreAttrs.cpp.inc"

void SpyreDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "SpyreAttrs.cpp.inc"
      >();
}

namespace {
ParseResult parseSizes(AsmParser &parser, SmallVectorImpl<int64_t> &sizes) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(sizes.emplace_back()); });
}

void printSizes(AsmPrinter &printer, ArrayRef<int64_t> sizes) {
  printer << '[';
  llvm::interleaveComma(sizes, printer);
  printer << ']';
}

ParseResult parseFormat(AsmParser &parser, std::optional<Format> &format) {
  std::string name;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeywordOrString(&name))
    return failure();
  format = symbolizeFormat(name);
  // layout_c4
  return format ? success() : parser.emitError(location) << "unknown device format '" << name << "'";
}
} // namespace

int64_t spyre::getElementsPerStick(Type type, std::optional<Format> format) {
  if (format)
    return stickBytes / getElementBytes(*format);
  // Booleans have no format of their own: a comparison returns numbers in the format of its operands, f16 by default.
  if (type.isF16() || type.isBF16() || type.isInteger(1))
    return stickBytes / 2;
  // Device numbers and indices have at most 32 bits, independent of the host type.
  if (type.isF32() || type.isF64() || type.isInteger(32) || type.isInteger(64))
    return stickBytes / 4;
  if (type.isInteger(8) || isa<Float8E4M3FNType, Float8E5M2Type>(type))
    return stickBytes;
  return 0;
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> deviceSize, strideMap, bufferShape;
  std::optional<Format> format;
  if (parser.parseLess() || parseSizes(parser, deviceSize) || parser.parseComma() || parseSizes(parser, strideMap))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("of"))) {
      if (parser.parseEqual() || parseSizes(parser, bufferShape))
        return {};
      continue;
    }
    if (parser.parseKeyword("format", " or 'of'") || parser.parseEqual() || parseFormat(parser, format))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), deviceSize, strideMap, format,
                    bufferShape);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printSizes(printer, getDeviceSize());
  printer << ", ";
  printSizes(printer, getStrideMap());
  if (getFormat())
    printer << ", format = " << stringifyFormat(*getFormat());
  if (!getBufferShape().empty()) {
    printer << ", of = ";
    printSizes(printer, getBufferShape());
  }
  printer << '>';
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> deviceSize,
                                 ArrayRef<int64_t> strideMap, std::optional<Format>, ArrayRef<int64_t>) {
  // layout_c1
  if (deviceSize.size() != strideMap.size() || deviceSize.size() < 2)
    return emitError() << "expected a layout with as many strides as device dimensions, at least 2, found " << deviceSize.size()
                       << " sizes and " << strideMap.size() << " strides";
  // layout_c2
  for (int64_t size : deviceSize)
    if (size <= 0)
      return emitError() << "expected a positive device dimension, found " << size;
  return success();
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type elementType,
                                         function_ref<InFlightDiagnostic()> emitError) const {
  // layout_c3
  int64_t stick = getElementsPerStick(elementType, getFormat());
  if (!stick)
    return emitError() << "the device has no format for element type " << elementType;
  if (getDeviceSize().back() != stick)
    return emitError() << "expected a last device dimension of one stick, " << stick << " elements of " << elementType << ", found "
                       << getDeviceSize().back();
  // layout_c5
  if (getBufferShape().empty())
    return success();
  if (getBufferShape().size() != shape.size())
    return emitError() << "a window of rank " << shape.size() << " cannot be in a buffer of rank " << getBufferShape().size();
  for (auto [dim, sizes] : llvm::enumerate(llvm::zip(shape, getBufferShape())))
    if (std::get<0>(sizes) > std::get<1>(sizes))
      return emitError() << "dimension " << dim << " of a window has " << std::get<0>(sizes) << " elements, its buffer only "
                         << std::get<1>(sizes);
  return success();
}

//===----------------------------------------------------------------------===//
// WorkAttr
//===----------------------------------------------------------------------===//

LogicalResult WorkAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> slices,
                               ArrayRef<int64_t> order) {
  // work_c1
  for (int64_t count : slices)
    if (count <= 0)
      return emitError() << "a dimension must have at least one slice, found " << count;
  // work_c2
  SmallVector<int64_t> sorted(order);
  llvm::sort(sorted);
  if (!order.empty() && !llvm::equal(sorted, llvm::seq<int64_t>(0, slices.size())))
    return emitError() << "expected an order of cores with each of the " << slices.size() << " dimensions once, found [" << order << "]";
  return success();
}

//===----------------------------------------------------------------------===//
// PlaceAttr
//===----------------------------------------------------------------------===//

Attribute PlaceAttr::parse(AsmParser &parser, Type) {
  StringRef word;
  int64_t offsetBytes = 0;
  std::string reason;
  if (parser.parseLess())
    return {};
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&word))
    return {};
  std::optional<Memory> memory = symbolizeMemory(word);
  // place_c1
  if (!memory) {
    parser.emitError(location) << "expected memory 'lx', 'pool' or 'hbm', found '" << word << "'";
    return {};
  }
  if (memory != Memory::Hbm && (parser.parseComma() || parser.parseInteger(offsetBytes)))
    return {};
  if (succeeded(parser.parseOptionalComma()) && parser.parseString(&reason))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), *memory, offsetBytes, reason);
}

void PlaceAttr::print(AsmPrinter &printer) const {
  printer << '<' << stringifyMemory(getMemory());
  if (getMemory() != Memory::Hbm)
    printer << ", " << getOffsetBytes();
  if (!getReason().empty()) {
    printer << ", ";
    printer.printString(getReason());
  }
  printer << '>';
}

LogicalResult PlaceAttr::verify(function_ref<InFlightDiagnostic()> emitError, Memory memory, int64_t offsetBytes, StringRef) {
  // place_c2
  if (offsetBytes < 0 || offsetBytes % stickBytes != 0)
    return emitError() << "expected an offset that is a multiple of " << stickBytes << " bytes, found " << offsetBytes;
  if (memory == Memory::Hbm && offsetBytes != 0)
    return emitError() << "expected no offset in 'hbm', found " << offsetBytes;
  return success();
}

//===----------------------------------------------------------------------===//
// TileHintAttr
//===----------------------------------------------------------------------===//

/// Parses `<id, name =`, the common prefix of both hint attributes.
static ParseResult parseHintPrefix(AsmParser &parser, int64_t &id, std::string &dim) {
  return failure(parser.parseLess() || parser.parseInteger(id) || parser.parseComma() || parser.parseKeywordOrString(&dim) ||
                 parser.parseEqual());
}

static void printHintPrefix(AsmPrinter &printer, int64_t id, StringRef dim) {
  printer << '<' << id << ", ";
  printer.printKeywordOrString(dim);
  printer << " = ";
}

bool spyre::isCountSymbol(StringRef name) {
  auto isNameCharacter = [](char character) { return llvm::isAlnum(character) || character == '_'; };
  return !name.empty() && llvm::isAlpha(name.front()) && llvm::all_of(name, isNameCharacter);
}

Attribute TileHintAttr::parse(AsmParser &parser, Type) {
  int64_t id, count = 0;
  std::string dim, symbol;
  if (parseHintPrefix(parser, id, dim))
    return {};
  OptionalParseResult number = parser.parseOptionalInteger(count);
  if (number.has_value() ? failed(*number) : failed(parser.parseKeywordOrString(&symbol)))
    return {};
  bool recompute = succeeded(parser.parseOptionalComma());
  if ((recompute && parser.parseKeyword("recompute")) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), id, dim, count, symbol, recompute);
}

void TileHintAttr::print(AsmPrinter &printer) const {
  printHintPrefix(printer, getId(), getDim());
  if (getSymbol().empty())
    printer << getCount();
  else
    printer << getSymbol();
  printer << (getRecompute() ? ", recompute>" : ">");
}

/// Maximum hint id: passes add ids after the existing ones.
static constexpr int64_t maxHintId = 2147483647;

static LogicalResult verifyHintId(function_ref<InFlightDiagnostic()> emitError, int64_t id, StringRef dim) {
  if (id < 0 || id > maxHintId)
    return emitError() << "the hint for dimension '" << dim << "' has the id " << id << ", which is not from 0 to " << maxHintId;
  return success();
}

LogicalResult TileHintAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t id, StringRef dim, int64_t count,
                                   StringRef symbol, bool) {
  // tile_hint_c1
  if (symbol.empty() ? count <= 0 : count != 0)
    return emitError() << "dimension '" << dim << "' must have at least one tile, found " << count;
  // tile_hint_c2
  if (!symbol.empty() && !isCountSymbol(symbol))
    return emitError() << "dimension '" << dim << "' is cut into '" << symbol << "' tiles, which is not a name of letters, digits and '_'";
  // tile_hint_c3
  return verifyHintId(emitError, id, dim);
}

//===----------------------------------------------------------------------===//
// WorkHintAttr
//===----------------------------------------------------------------------===//

Attribute WorkHintAttr::parse(AsmParser &parser, Type) {
  int64_t id, slices;
  std::string dim;
  if (parseHintPrefix(parser, id, dim) || parser.parseInteger(slices) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), id, dim, slices);
}

void WorkHintAttr::print(AsmPrinter &printer) const {
  printHintPrefix(printer, getId(), getDim());
  printer << getSlices() << '>';
}

LogicalResult WorkHintAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t id, StringRef dim, int64_t slices) {
  // work_hint_c1
  if (slices <= 0)
    return emitError() << "dimension '" << dim << "' must have at least one slice, found " << slices;
  // work_hint_c2
  return verifyHintId(emitError, id, dim);
}

//===----------------------------------------------------------------------===//
// KnobAttr
//===----------------------------------------------------------------------===//

/// Maximum number of values of a knob.
static constexpr size_t maxChoices = 4096;

static SmallVector<int64_t> computeChoices(KnobKind kind, ArrayRef<int64_t> bounds) {
  if (kind == KnobKind::List)
    return SmallVector<int64_t>(bounds);
  SmallVector<int64_t> choices;
  int64_t first = kind == KnobKind::Range ? bounds[0] : static_cast<int64_t>(llvm::PowerOf2Ceil(bounds[0]));
  for (int64_t choice = first; choice <= bounds[1] && choices.size() <= maxChoices;) {
    choices.push_back(choice);
    if (llvm::AddOverflow(choice, kind == KnobKind::Range ? 1 : choice, choice))
      break;
  }
  return choices;
}

SmallVector<int64_t> KnobAttr::getChoices() const { return computeChoices(getKind(), getBounds()); }

Attribute KnobAttr::parse(AsmParser &parser, Type) {
  std::string name, condition;
  int64_t value;
  KnobKind kind = KnobKind::List;
  SmallVector<int64_t> bounds;
  auto parseBound = [&]() -> ParseResult { return parser.parseInteger(bounds.emplace_back()); };
  if (parser.parseLess() || parser.parseKeywordOrString(&name) || parser.parseEqual() || parser.parseInteger(value) ||
      parser.parseKeyword("in"))
    return {};
  if (succeeded(parser.parseOptionalLSquare())) {
    if (parser.parseCommaSeparatedList(parseBound) || parser.parseRSquare())
      return {};
  } else {
    kind = succeeded(parser.parseOptionalKeyword("pow2")) ? KnobKind::Pow2 : KnobKind::Range;
    if (parseBound() || parser.parseKeyword("to") || parseBound())
      return {};
  }
  if (succeeded(parser.parseOptionalComma()) && (parser.parseKeyword("where") || parser.parseString(&condition)))
    return {};
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(parser.getNameLoc()); }, parser.getContext(), name, value, kind, bounds, condition);
}

void KnobAttr::print(AsmPrinter &printer) const {
  printer << '<';
  printer.printKeywordOrString(getName());
  printer << " = " << getValue() << " in ";
  if (getKind() == KnobKind::List)
    printer << '[' << getBounds() << ']';
  else
    printer << (getKind() == KnobKind::Pow2 ? "pow2 " : "") << getBounds()[0] << " to " << getBounds()[1];
  if (!getCondition().empty()) {
    printer << ", where ";
    printer.printString(getCondition());
  }
  printer << '>';
}

LogicalResult KnobAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, int64_t value, KnobKind kind,
                               ArrayRef<int64_t> bounds, StringRef condition) {
  // knob_c1
  if (!isCountSymbol(name))
    return emitError() << "expected a knob name of letters, digits and '_', found '" << name << "'";
  // knob_c2
  auto isBelow = [](int64_t lower, int64_t upper) { return lower < upper; };
  bool isRange = kind != KnobKind::List;
  if (bounds.empty() || bounds.front() <= 0 || (isRange && (bounds.size() != 2 || bounds[0] > bounds[1])))
    return emitError() << "expected positive values of knob '" << name << "', found " << bounds;
  if (!isRange && std::adjacent_find(bounds.begin(), bounds.end(), std::not_fn(isBelow)) != bounds.end())
    return emitError() << "expected increasing values of knob '" << name << "', found " << bounds;
  SmallVector<int64_t> choices = computeChoices(kind, bounds);
  if (choices.size() > maxChoices)
    return emitError() << "knob '" << name << "' has more than " << maxChoices << " values";
  // knob_c3
  if (!llvm::is_contained(choices, value))
    return emitError() << "knob '" << name << "' is " << value << ", which is none of its values";
  // knob_c4
  std::string message;
  if (!condition.empty() && evaluateCondition(condition, nullptr, message) == ConditionResult::Malformed)
    return emitError() << "knob '" << name << "' has the condition \"" << condition << "\", which " << message;
  return success();
}
