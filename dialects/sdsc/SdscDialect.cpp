//===- SdscDialect.cpp - registration, syntax and verifiers ---------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#include "Sdsc.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace sdsc;

#include "SdscDialect.cpp.inc"

/// Parses a quoted keyword of an enum. `errorPrefix` begins the error for an unknown keyword.
template <typename Enum>
static FailureOr<Enum> parseWord(AsmParser &parser, std::optional<Enum> (*symbolize)(StringRef),
                                 const char *errorPrefix) {
  std::string word;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseString(&word))
    return failure();
  // tensor_c1
  if (std::optional<Enum> found = symbolize(word))
    return *found;
  return parser.emitError(location) << errorPrefix << " \"" << word << "\"", failure();
}

#define GET_ATTRDEF_CLASSES
#include "SdscAttrs.cpp.inc"

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseRole(OpAsmParser &parser, RoleAttr &role) {
  StringRef keyword;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseKeyword(&keyword))
    return failure();
  // buffer_c1
  std::optional<Role> found = symbolizeRole(keyword);
  if (!found)
    return parser.emitError(location)
           << "'sdsc.buffer' op expected 'input', 'constant', 'temporary' or 'output', found '" << keyword << "'";
  role = RoleAttr::get(parser.getContext(), *found);
  return success();
}

static void printRole(OpAsmPrinter &printer, Operation *, RoleAttr role) { printer << stringifyRole(role.getValue()); }

static ParseResult parseBuffers(OpAsmParser &parser, ArrayAttr &buffers) {
  SmallVector<Attribute> symbols;
  auto parseSymbol = [&] {
    StringAttr name;
    if (parser.parseSymbolName(name))
      return failure();
    symbols.push_back(FlatSymbolRefAttr::get(name));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren, parseSymbol))
    return failure();
  buffers = parser.getBuilder().getArrayAttr(symbols);
  return success();
}

static void printBuffers(OpAsmPrinter &printer, Operation *, ArrayAttr buffers) {
  printer << '(';
  llvm::interleaveComma(buffers, printer);
  printer << ')';
}

#define GET_OP_CLASSES
#include "SdscOps.cpp.inc"

namespace {
/// Prints tensors and dimensions, which are long and repeat on every op, as aliases.
struct SdscAsmInterface : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attr, raw_ostream &os) const override {
    if (auto tensor = dyn_cast<TensorAttr>(attr)) {
      os << machine::stringifyMemory(tensor.getMemory());
      return AliasResult::OverridableAlias;
    }
    if (auto dim = dyn_cast<DimAttr>(attr)) {
      os << dim.getName().getValue();
      return AliasResult::OverridableAlias;
    }
    return AliasResult::NoAlias;
  }
};
} // namespace

void SdscDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "SdscAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "SdscOps.cpp.inc"
      >();
  addInterfaces<SdscAsmInterface>();
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

LogicalResult DimAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name, int64_t range, int64_t split, StringAttr,
                              int64_t granularity, int64_t divisor) {
  // dim_c1
  if (range <= 0 || split <= 0 || granularity <= 0 || divisor < 0)
    return emitError() << "dimension " << name << " needs positive numbers, found range " << range << ", split " << split
                       << ", granularity " << granularity << ", divisor " << divisor;
  return success();
}

LogicalResult OwnerAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t dim, int64_t slices, int64_t divisor) {
  // owner_c1
  if (dim < 0 || slices < 2 || divisor < 1)
    return emitError() << "expected an owner with a dimension, at least 2 slices and a positive divisor, found " << dim << ", " << slices << " and "
                       << divisor;
  return success();
}

LogicalResult ConstantAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringAttr name, FloatAttr value) {
  // constant_c1
  if (!value.getType().isF64())
    return emitError() << "expected a 64-bit float for constant " << name << ", found " << value;
  return success();
}

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError, DenseI64ArrayAttr height, DenseI64ArrayAttr width,
                                 StringAttr) {
  // window_c1
  for (DenseI64ArrayAttr axis : {height, width})
    if (axis.size() != 4 && axis.size() != 5)
      return emitError() << "expected 4 or 5 numbers for a window axis, found " << axis.size();
  return success();
}

LogicalResult TensorAttr::verify(function_ref<InFlightDiagnostic()> emitError, machine::Format, DenseI64ArrayAttr deviceSize,
                                 AffineMapAttr coordinates, machine::Memory memory, int64_t argument, int64_t offsetBytes,
                                 DenseI64ArrayAttr, ArrayAttr indexTensors, StringAttr, Arrangement, ArrayAttr) {
  // tensor_c2
  if (offsetBytes < 0)
    return emitError() << "expected an offset that is not negative, found " << offsetBytes;
  bool isInHbm = memory == machine::Memory::Hbm;
  if (isInHbm != (argument >= 0))
    return emitError() << "a tensor in \"" << stringifyMemory(memory) << "\"" << (isInHbm ? " needs an argument" : " has no argument")
                       << ", found argument " << argument;
  // tensor_c3
  AffineMap map = coordinates.getValue();
  if (map.getNumResults() != static_cast<size_t>(deviceSize.size()) || map.getNumSymbols() != (indexTensors ? indexTensors.size() : 0))
    return emitError() << "expected coordinates for " << deviceSize.size() << " device dimensions and "
                       << (indexTensors ? indexTensors.size() : 0) << " index tensors, found " << coordinates;
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult BufferOp::verify() {
  // buffer_c2
  auto type = dyn_cast<RankedTensorType>(getType());
  if (!type || !type.getEncoding())
    return emitOpError("needs a tensor with a device layout, found ") << getType();
  // buffer_c3
  std::optional<ElementsAttr> value = getValue();
  if (value && getRole() != Role::Constant)
    return emitOpError("is '") << stringifyRole(getRole()) << "' and has a value: only a constant has one";
  if (value) {
    ShapedType valueType = value->getShapedType();
    if (valueType.getShape() != type.getShape() || valueType.getElementType() != type.getElementType())
      return emitOpError("expected a value of the shape and element type of ") << type << ", found " << valueType;
  }
  // buffer_c4
  std::optional<ArrayRef<int64_t>> range = getIndexRange();
  if (range && getRole() != Role::Input)
    return emitOpError("has an 'index_range', which is for inputs, not for '") << stringifyRole(getRole()) << "'";
  if (range && (range->size() != 2 || (*range)[0] >= (*range)[1])) {
    InFlightDiagnostic diagnostic = emitOpError("expected an 'index_range' of two numbers, the first below the second, found [");
    llvm::interleaveComma(*range, diagnostic);
    return diagnostic << "]";
  }
  // buffer_c5
  std::optional<ArrayRef<int64_t>> liveRange = getLife();
  if ((getOffset() || liveRange) && getRole() != Role::Temporary)
    return emitOpError("has an 'offset' or a 'life', which are for temporaries, not for '") << stringifyRole(getRole()) << "'";
  if (getOffset().has_value() != liveRange.has_value())
    return emitOpError("has an 'offset' or a 'life' without the other");
  // buffer_c6
  if (getOffset() && (static_cast<int64_t>(*getOffset()) < 0 || *getOffset() % machine::stickBytes != 0))
    return emitOpError("expected an 'offset' that is a multiple of ") << machine::stickBytes
           << " and not negative, found " << static_cast<int64_t>(*getOffset());
  if (liveRange && (liveRange->size() != 2 || (*liveRange)[0] < 0 || (*liveRange)[0] > (*liveRange)[1])) {
    InFlightDiagnostic diagnostic = emitOpError("expected a 'life' of two numbers from 0, the first not above the second, found [");
    llvm::interleaveComma(*liveRange, diagnostic);
    return diagnostic << "]";
  }
  // buffer_c7
  std::optional<ArrayAttr> symbolic = getSymbolic();
  if (symbolic && getRole() != Role::Input && getRole() != Role::Output)
    return emitOpError("has 'symbolic' sizes, which are for inputs and outputs, not for '") << stringifyRole(getRole()) << "'";
  if (symbolic && symbolic->size() != static_cast<size_t>(type.getRank()))
    return emitOpError("expected 'symbolic' with a name or an empty string for each dimension of ") << type << ", found " << *symbolic;
  // buffer_c8
  bool isDigitPair =
      getRole() == Role::Output && type.getElementType().isInteger() && type.getRank() > 0 && type.getDimSize(0) == 2;
  if (getDigitBase() && (!isDigitPair || static_cast<int64_t>(*getDigitBase()) < 2))
    return emitOpError("expected a 'digit_base' above 1, on an output of integers whose first dimension has two digits");
  return success();
}

LogicalResult LoopOp::verify() {
  // loop_c1
  if (static_cast<int64_t>(getCount()) <= 0)
    return emitOpError("expected a count of at least 1, found ") << static_cast<int64_t>(getCount());
  // loop_c2
  StringRef symbol = getSymbol().value_or(""), dim = getDim().value_or("");
  bool isSized = getSymbol().has_value();
  if (getDim().has_value() != isSized || getTile().has_value() != isSized || getGranularity().has_value() != isSized ||
      symbol.empty() == isSized || dim.empty() == isSized)
    return emitOpError("expected all of 'symbol', 'dim', 'tile' and 'granularity' for a dimension of symbolic size, or none, found '")
           << symbol << "' and '" << dim << "'";
  // loop_c3
  if (isSized && (static_cast<int64_t>(*getTile()) < 1 || *getGranularity() % *getTile() != 0))
    return emitOpError("expected tiles that divide the multiple ")
           << static_cast<int64_t>(*getGranularity()) << " of '" << symbol << "', found tiles of "
           << static_cast<int64_t>(*getTile());
  return success();
}

/// Verifies that the program declares the symbolic size `name` with this maximum and granularity.
static LogicalResult verifySymbolicSize(ProgramOp program, Operation *op, StringRef name, int64_t maximum,
                                        std::optional<int64_t> granularity) {
  auto declared = program.getSizes() ? program.getSizes()->getAs<DenseI64ArrayAttr>(name) : DenseI64ArrayAttr();
  if (!declared)
    return op->emitOpError("has the symbolic size '") << name << "', which the program does not declare";
  if (declared[0] != maximum || (granularity && declared[1] != *granularity))
    return op->emitOpError("has the symbolic size '")
           << name << "' of at most " << maximum << ", but the program declares at most " << declared[0]
           << ", in steps of " << declared[1];
  return success();
}

static LogicalResult verifySymbolicSizes(ProgramOp program) {
  // program_c1
  for (NamedAttribute entry : program.getSizes().value_or(DictionaryAttr::get(program.getContext()))) {
    auto numbers = dyn_cast<DenseI64ArrayAttr>(entry.getValue());
    if (!numbers || numbers.size() != 2 || numbers[0] < 1 || numbers[1] < 1 || numbers[0] % numbers[1] != 0)
      return program.emitOpError("'sizes' must give '")
             << entry.getName().getValue() << "' a maximum and a divisor of it, found " << entry.getValue();
  }
  // program_c2
  WalkResult result = program.getBody().walk([&](Operation *op) -> WalkResult {
    if (auto buffer = dyn_cast<BufferOp>(op)) {
      auto shape = cast<RankedTensorType>(buffer.getType()).getShape();
      for (auto [name, size] : llvm::zip(buffer.getSymbolic().value_or(ArrayAttr::get(op->getContext(), {})).getAsRange<StringAttr>(), shape))
        if (!name.getValue().empty() && failed(verifySymbolicSize(program, op, name.getValue(), size, std::nullopt)))
          return WalkResult::interrupt();
    }
    if (auto spec = dyn_cast<OpSpecOp>(op))
      for (auto dim : spec.getDims().getAsRange<DimAttr>())
        if (dim.getSymbol() &&
            failed(verifySymbolicSize(program, op, dim.getSymbol().getValue(), dim.getRange(), dim.getGranularity())))
          return WalkResult::interrupt();
    if (auto loop = dyn_cast<LoopOp>(op); loop && loop.getSymbol())
      if (failed(verifySymbolicSize(program, op, *loop.getSymbol(), loop.getCount() * *loop.getTile(), loop.getGranularity())))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ProgramOp::verifyRegions() {
  return verifySymbolicSizes(*this);
}

LogicalResult BundleOp::verifyRegions() {
  size_t buffers = getBuffers().size();
  WalkResult result = getBody().walk([&](OpSpecOp op) -> WalkResult {
    size_t loops = 0;
    for (Operation *parent = op->getParentOp(); parent != getOperation(); parent = parent->getParentOp())
      ++loops;
    for (Attribute attribute : llvm::concat<const Attribute>(op.getIns(), op.getOuts())) {
      auto tensor = cast<TensorAttr>(attribute);
      // bundle_c1
      if (buffers && tensor.getArgument() >= static_cast<int64_t>(buffers))
        return op.emitOpError("uses kernel argument ") << tensor.getArgument() << " of a bundle with " << buffers << " buffers";
      // bundle_c2
      if (tensor.getAdvance() && static_cast<size_t>(tensor.getAdvance().size()) != loops)
        return op.emitOpError("is in ") << loops << " loops, but a tensor has " << tensor.getAdvance().size() << " advances";
    }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

/// Returns whether elements have the order of a conversion between 16-bit and 32-bit numbers.
static bool isStaggered(Arrangement arrangement) {
  return arrangement == Arrangement::Dl16ToFp32 || arrangement == Arrangement::Fp32ToDl16;
}

/// Returns whether the elements of a stick differ, so that their order matters.
static bool movesAlongStick(TensorAttr tensor) {
  AffineMap map = tensor.getCoordinates().getValue();
  return map.getNumResults() > 0 && !isa<AffineConstantExpr>(map.getResult(map.getNumResults() - 1));
}

/// Verifies that the operands of an op have one arrangement, and that the result has the one that follows from it.
static LogicalResult verifyArrangements(OpSpecOp op) {
  Arrangement read = Arrangement::Standard;
  bool readsStandard = false;
  for (auto tensor : op.getIns().getAsRange<TensorAttr>()) {
    Arrangement found = tensor.getArrangement();
    if (!movesAlongStick(tensor) || (found != Arrangement::Standard && !isStaggered(found)))
      continue;
    if (isStaggered(found) && isStaggered(read) && found != read)
      return op.emitOpError("expected operands of one arrangement, found ") << stringifyArrangement(read) << " and " << stringifyArrangement(found);
    readsStandard |= found == Arrangement::Standard;
    if (isStaggered(found))
      read = found;
  }
  if (readsStandard && isStaggered(read))
    return op.emitOpError("expected operands of one arrangement, found STANDARD and ") << stringifyArrangement(read);
  auto result = cast<TensorAttr>(op.getOuts()[0]);
  if (!movesAlongStick(result))
    return success();
  bool widens = op.getFunction() == "dl16tofp32", narrows = op.getFunction() == "fp32todl16";
  Arrangement made = widens ? Arrangement::Dl16ToFp32 : Arrangement::Fp32ToDl16;
  Arrangement expected = !widens && !narrows ? read : (isStaggered(read) ? Arrangement::Standard : made);
  Arrangement found = result.getArrangement();
  if ((widens || narrows) && read == made)
    return op.emitOpError("cannot convert elements of arrangement ") << stringifyArrangement(read);
  // If the elements of each stick are equal, as in the conversions of the compiler, they have no order.
  if ((widens || narrows) && read == Arrangement::Standard && found == Arrangement::Standard)
    return success();
  if (found != expected && (isStaggered(found) || isStaggered(expected)))
    return op.emitOpError("expected a result of arrangement ") << stringifyArrangement(expected) << ", found " << stringifyArrangement(found);
  return success();
}

LogicalResult OpSpecOp::verify() {
  // op_c1
  constexpr size_t kMaxDims = 7;
  if (getOuts().size() != 1 || getDims().size() > kMaxDims)
    return emitOpError("expected one output and at most ")
           << kMaxDims << " dimensions, found " << getOuts().size() << " and " << getDims().size();
  // op_c2
  for (Attribute attribute : llvm::concat<const Attribute>(getIns(), getOuts())) {
    auto tensor = cast<TensorAttr>(attribute);
    if (tensor.getCoordinates().getValue().getNumDims() != getDims().size())
      return emitOpError("has ") << getDims().size() << " dimensions, but a tensor has coordinates " << tensor.getCoordinates();
  }
  // op_c3
  for (Attribute attribute : getDims()) {
    auto dim = cast<DimAttr>(attribute);
    if (dim.getSplit() > dim.getRange())
      return emitOpError("cannot split dimension ") << dim.getName() << " of " << dim.getRange() << " into " << dim.getSplit() << " slices";
  }
  // op_c4
  return verifyArrangements(*this);
}
