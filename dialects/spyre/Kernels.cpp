//===- Kernels.cpp - kernels, and conditions on their knobs ---------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Spyre.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace spyre;

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

namespace {
/// Parses and evaluates a condition in one pass. Stops at the first error. If `lookupKnob` is null, the condition is
/// only parsed.
class ConditionParser {
public:
  ConditionParser(StringRef text, function_ref<std::optional<int64_t>(StringRef)> lookupKnob)
      : rest(text), lookupKnob(lookupKnob) {}

  /// Parses `comparison (&& comparison)*` up to the end of the text.
  ConditionResult parse() {
    bool holds = true;
    do
      holds = parseComparison() && holds;
    while (message.empty() && consume("&&"));
    rest = rest.ltrim();
    if (message.empty() && !rest.empty())
      reject("ends with the unexpected text '" + rest.str() + "'");
    return !message.empty() ? ConditionResult::Malformed : holds ? ConditionResult::Holds : ConditionResult::Fails;
  }

  std::string message;

private:
  /// Limit of nested brackets, which prevents a stack overflow.
  static constexpr unsigned maxDepth = 32;

  bool consume(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  int64_t reject(const Twine &error) {
    if (message.empty())
      message = error.str();
    return 0;
  }

  /// Reports an error that depends on the values of the knobs, if there are values.
  int64_t rejectValues(const Twine &error) { return lookupKnob ? reject(error) : 1; }

  bool parseComparison() {
    int64_t lhs = parseSum();
    // The longer operators come first, because `<` is a prefix of `<=`.
    for (StringRef comparison : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!consume(comparison))
        continue;
      int64_t rhs = parseSum();
      return comparison == "=="   ? lhs == rhs
             : comparison == "!=" ? lhs != rhs
             : comparison == "<=" ? lhs <= rhs
             : comparison == ">=" ? lhs >= rhs
             : comparison == "<"  ? lhs < rhs
                                  : lhs > rhs;
    }
    return reject("has no comparison before '" + rest + "'") != 0;
  }

  int64_t parseSum() {
    int64_t sum = parseProduct();
    while (message.empty()) {
      int64_t left = sum;
      bool overflows = false;
      if (consume("+"))
        overflows = llvm::AddOverflow(left, parseProduct(), sum);
      else if (consume("-"))
        overflows = llvm::SubOverflow(left, parseProduct(), sum);
      else
        break;
      if (overflows)
        return rejectValues("computes a number beyond 64 bits");
    }
    return sum;
  }

  int64_t parseProduct() {
    int64_t product = parseAtom();
    while (message.empty()) {
      if (consume("*")) {
        if (llvm::MulOverflow(product, parseAtom(), product))
          return rejectValues("computes a number beyond 64 bits");
        continue;
      }
      bool isQuotient = consume("/");
      if (!isQuotient && !consume("%"))
        break;
      int64_t divisor = parseAtom();
      if (message.empty() && divisor <= 0)
        rejectValues("divides by " + Twine(divisor) + ", which is not positive");
      if (divisor > 0)
        product = isQuotient ? llvm::divideFloorSigned(product, divisor) : llvm::mod(product, divisor);
    }
    return product;
  }

  int64_t parseAtom() {
    if (consume("(")) {
      if (++depth > maxDepth)
        return reject("has more than " + Twine(maxDepth) + " nested brackets");
      int64_t sum = parseSum();
      --depth;
      return consume(")") ? sum : reject("has no ')' before '" + rest + "'");
    }
    rest = rest.ltrim();
    StringRef word = rest.take_while([](char character) { return llvm::isAlnum(character) || character == '_'; });
    rest = rest.drop_front(word.size());
    int64_t number;
    if (!word.empty() && !word.getAsInteger(10, number))
      return number;
    if (!isCountSymbol(word))
      return reject("has no number and no name before '" + rest + "'");
    std::optional<int64_t> value = lookupKnob ? lookupKnob(word) : 1;
    return value ? *value : reject("names '" + word + "', which is no knob of the kernel");
  }

  StringRef rest;
  function_ref<std::optional<int64_t>(StringRef)> lookupKnob;
  unsigned depth = 0;
};
} // namespace

ConditionResult spyre::evaluateCondition(StringRef text, function_ref<std::optional<int64_t>(StringRef)> lookupKnob,
                                         std::string &message) {
  ConditionParser parser(text, lookupKnob);
  ConditionResult result = parser.parse();
  message = parser.message;
  return result;
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "in");
}

/// Verifies that the knobs are unique and that their conditions hold.
static LogicalResult verifyKnobs(KernelOp kernel) {
  auto knobs = kernel.getKnobs().getAsRange<KnobAttr>();
  auto lookupKnob = [&](StringRef name) -> std::optional<int64_t> {
    for (KnobAttr knob : knobs)
      if (knob.getName() == name)
        return knob.getValue();
    return std::nullopt;
  };
  llvm::StringSet<> names;
  for (KnobAttr knob : knobs) {
    // kernel_c3
    if (!names.insert(knob.getName()).second)
      return kernel.emitOpError("has two knobs '") << knob.getName() << "'";
    // kernel_c4
    std::string message;
    StringRef condition = knob.getCondition();
    ConditionResult result =
        condition.empty() ? ConditionResult::Holds : evaluateCondition(condition, lookupKnob, message);
    if (result == ConditionResult::Malformed)
      return kernel.emitOpError("has the condition \"") << condition << "\", which " << message;
    if (result == ConditionResult::Holds)
      continue;
    InFlightDiagnostic diagnostic = kernel.emitOpError("breaks the condition \"") << condition << "\" with ";
    llvm::interleaveComma(knobs, diagnostic,
                          [&](KnobAttr knob) { diagnostic << knob.getName() << " = " << knob.getValue(); });
    return diagnostic;
  }
  return success();
}

/// Verifies the dimension names of the inputs.
static LogicalResult verifyInputDims(KernelOp kernel, ArrayAttr lists) {
  if (lists.size() != kernel.getInputs().size())
    return kernel.emitOpError("expected names for the dimensions of ") << kernel.getInputs().size() << " inputs, found " << lists.size() << " lists";
  llvm::StringMap<int64_t> sizes;
  for (auto [index, list] : llvm::enumerate(lists)) {
    auto names = dyn_cast<ArrayAttr>(list);
    if (!names || !llvm::all_of(names, llvm::IsaPred<StringAttr>))
      return kernel.emitOpError("expected a list of names for input ") << index << ", found " << list;
    auto type = cast<RankedTensorType>(kernel.getInputs()[index].getType());
    if (!names.empty() && static_cast<int64_t>(names.size()) != type.getRank())
      return kernel.emitOpError("names ") << names.size() << " dimensions of input " << index << ", which is " << type;
    for (auto [dim, name] : llvm::enumerate(names.getAsRange<StringAttr>())) {
      if (name.getValue().contains('*'))
        return kernel.emitOpError("names a dimension of input ") << index << ' ' << name << ": '*' joins the names of a dimension";
      int64_t size = type.getDimSize(dim);
      int64_t firstSize = sizes.try_emplace(name.getValue(), size).first->second;
      if (!name.getValue().empty() && firstSize != size)
        return kernel.emitOpError("expected one size of dimension ")
               << name << ", found " << firstSize << " and " << size;
    }
  }
  return success();
}

LogicalResult KernelOp::verify() {
  // kernel_c1
  Block &body = getBody().front();
  if (!llvm::equal(body.getArgumentTypes(), getInputs().getTypes()))
    return emitOpError("takes ") << getInputs().getTypes() << ", but its body takes " << body.getArgumentTypes();
  // kernel_c2
  auto yield = dyn_cast<YieldOp>(body.getTerminator());
  if (!yield)
    return emitOpError("must end with 'spyre.yield'");
  if (!llvm::equal(yield.getOperandTypes(), getResultTypes()))
    return emitOpError("gives ") << getResultTypes() << ", but yields " << yield.getOperandTypes();
  // kernel_c5
  if (getInputDims() && failed(verifyInputDims(*this, *getInputDims())))
    return failure();
  // kernel_c6
  if (auto enclosing = (*this)->getParentOfType<KernelOp>())
    return emitOpError("is inside of kernel '") << enclosing.getName() << "'; kernels cannot be nested";
  return verifyKnobs(*this);
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &state) {
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  SmallVector<Type> types;
  SMLoc location = parser.getCurrentLocation();
  auto parseInput = [&]() -> ParseResult {
    if (parser.parseArgument(arguments.emplace_back()) || parser.parseEqual() || parser.parseOperand(operands.emplace_back()) ||
        parser.parseColonType(types.emplace_back()))
      return failure();
    arguments.back().type = types.back();
    return success();
  };
  if (parser.parseAttribute(name, "name", state.attributes) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseInput))
    return failure();
  ArrayAttr knobs;
  if (succeeded(parser.parseOptionalKeyword("knobs")) &&
      (parser.parseLParen() || parser.parseAttribute(knobs, "knobs", state.attributes) || parser.parseRParen()))
    return failure();
  Region *body = state.addRegion();
  if (parser.parseRegion(*body, arguments) || parser.parseOptionalAttrDict(state.attributes) ||
      verifyParsedAttributes<KernelOp>(parser, state))
    return failure();
  if (body->empty() || body->front().empty())
    return parser.emitError(parser.getNameLoc(), "a kernel ends with 'spyre.yield'");
  // The results have the types of the yielded values, so the text does not repeat them.
  state.addTypes(body->front().back().getOperandTypes());
  return parser.resolveOperands(operands, types, location, state.operands);
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ' << getNameAttr() << '(';
  llvm::interleaveComma(llvm::enumerate(getInputs()), printer, [&](auto input) {
    printer << getBody().getArgument(input.index()) << " = " << input.value() << " : " << input.value().getType();
  });
  printer << ')';
  if (!getKnobs().empty())
    printer << " knobs(" << getKnobs() << ')';
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs(), {"name", "knobs"});
}
