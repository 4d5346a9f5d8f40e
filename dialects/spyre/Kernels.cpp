//===- Kernels.cpp - kernels, and conditions on their knobs -------------===//
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
/// Reads a condition from the left and computes as it reads. A fault ends the reading. Without values it is only read.
class ConditionReader {
public:
  ConditionReader(StringRef text, function_ref<std::optional<int64_t>(StringRef)> valueOf) : rest(text), valueOf(valueOf) {}

  /// `comparison (&& comparison)*`, to the end of the text.
  Condition read() {
    bool holds = true;
    do
      holds = readComparison() && holds;
    while (fault.empty() && accept("&&"));
    rest = rest.ltrim();
    if (fault.empty() && !rest.empty())
      refuse("ends with the unexpected text '" + rest.str() + "'");
    return !fault.empty() ? Condition::Unreadable : holds ? Condition::Holds : Condition::Fails;
  }

  std::string fault;

private:
  /// More nested brackets than a condition needs, and fewer than the stack has room for.
  static constexpr unsigned mostDepth = 32;

  bool accept(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  int64_t refuse(const Twine &message) {
    if (fault.empty())
      fault = message.str();
    return 0;
  }

  /// Refuses what only these values make wrong.
  int64_t refuseValues(const Twine &message) { return valueOf ? refuse(message) : 1; }

  bool readComparison() {
    int64_t lhs = readSum();
    // Longer ones first: `<` begins `<=`.
    for (StringRef sign : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (!accept(sign))
        continue;
      int64_t rhs = readSum();
      return sign == "==" ? lhs == rhs
             : sign == "!=" ? lhs != rhs
             : sign == "<=" ? lhs <= rhs
             : sign == ">=" ? lhs >= rhs
             : sign == "<" ? lhs < rhs
                           : lhs > rhs;
    }
    return refuse("has no comparison before '" + rest + "'") != 0;
  }

  int64_t readSum() {
    int64_t sum = readProduct();
    while (fault.empty()) {
      int64_t left = sum;
      bool isTooLarge = false;
      if (accept("+"))
        isTooLarge = llvm::AddOverflow(left, readProduct(), sum);
      else if (accept("-"))
        isTooLarge = llvm::SubOverflow(left, readProduct(), sum);
      else
        break;
      if (isTooLarge)
        return refuseValues("computes a number beyond 64 bits");
    }
    return sum;
  }

  int64_t readProduct() {
    int64_t product = readAtom();
    while (fault.empty()) {
      if (accept("*")) {
        if (llvm::MulOverflow(product, readAtom(), product))
          return refuseValues("computes a number beyond 64 bits");
        continue;
      }
      bool isQuotient = accept("/");
      if (!isQuotient && !accept("%"))
        break;
      int64_t divisor = readAtom();
      if (fault.empty() && divisor <= 0)
        refuseValues("divides by " + Twine(divisor) + ", which is not positive");
      if (divisor > 0)
        product = isQuotient ? llvm::divideFloorSigned(product, divisor) : llvm::mod(product, divisor);
    }
    return product;
  }

  int64_t readAtom() {
    if (accept("(")) {
      if (++depth > mostDepth)
        return refuse("has more than " + Twine(mostDepth) + " nested brackets");
      int64_t inside = readSum();
      --depth;
      return accept(")") ? inside : refuse("has no ')' before '" + rest + "'");
    }
    rest = rest.ltrim();
    StringRef word = rest.take_while([](char letter) { return llvm::isAlnum(letter) || letter == '_'; });
    rest = rest.drop_front(word.size());
    int64_t number;
    if (!word.empty() && !word.getAsInteger(10, number))
      return number;
    if (!isCountSymbol(word))
      return refuse("has no number and no name before '" + rest + "'");
    std::optional<int64_t> value = valueOf ? valueOf(word) : 1;
    return value ? *value : refuse("names '" + word + "', which is no knob of the kernel");
  }

  StringRef rest;
  function_ref<std::optional<int64_t>(StringRef)> valueOf;
  unsigned depth = 0;
};
} // namespace

Condition spyre::evaluateCondition(StringRef text, function_ref<std::optional<int64_t>(StringRef)> valueOf, std::string &message) {
  ConditionReader reader(text, valueOf);
  Condition condition = reader.read();
  message = reader.fault;
  return condition;
}

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::getAsmBlockArgumentNames(Region &region, OpAsmSetValueNameFn setName) {
  for (BlockArgument argument : region.getArguments())
    setName(argument, "in");
}

/// Checks the knobs and what they say about each other.
static LogicalResult verifyKnobs(KernelOp kernel) {
  auto knobs = kernel.getKnobs().getAsRange<KnobAttr>();
  auto valueOf = [&](StringRef name) -> std::optional<int64_t> {
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
    Condition found = condition.empty() ? Condition::Holds : evaluateCondition(condition, valueOf, message);
    if (found == Condition::Unreadable)
      return kernel.emitOpError("has the condition \"") << condition << "\", which " << message;
    if (found == Condition::Holds)
      continue;
    InFlightDiagnostic diagnostic = kernel.emitOpError("breaks the condition \"") << condition << "\" with ";
    llvm::interleaveComma(knobs, diagnostic, [&](KnobAttr each) { diagnostic << each.getName() << " = " << each.getValue(); });
    return diagnostic;
  }
  return success();
}

/// Checks the names of the inputs' dimensions.
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
      int64_t known = sizes.try_emplace(name.getValue(), size).first->second;
      if (!name.getValue().empty() && known != size)
        return kernel.emitOpError("expected one size of dimension ") << name << ", found " << known << " and " << size;
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
  if (auto around = (*this)->getParentOfType<KernelOp>())
    return emitOpError("is inside of kernel '") << around.getName() << "'; kernels cannot be nested";
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
  if (parser.parseRegion(*body, arguments) || parser.parseOptionalAttrDict(state.attributes) || checkKinds<KernelOp>(parser, state))
    return failure();
  if (body->empty() || body->front().empty())
    return parser.emitError(parser.getNameLoc(), "a kernel ends with 'spyre.yield'");
  // The kernel gives what it yields, so its types need no second spelling.
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
