//===- Widen.cpp - a module with its floating-point numbers in f64 --------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// The reference semantics of a program are its results without rounding, as far as f64 allows. Only the tool that
// compares with the JIT calls this file.
//
//===----------------------------------------------------------------------===//

#include "Bridge.h"
#include "Formula.h"
#include "Rounding.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;

namespace {
APFloat widened(APFloat number) {
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

/// Returns an f64 tensor with the elements of a resource; null if its contents are missing or of unknown format.
Attribute widenedResource(DenseResourceElementsAttr resource) {
  auto element = dyn_cast<FloatType>(resource.getElementType());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!element || !blob)
    return {};
  auto dense = DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
  auto numbers = dyn_cast_or_null<DenseFPElementsAttr>(dense);
  if (!numbers)
    return {};
  return numbers.mapValues(Float64Type::get(element.getContext()), [](const APFloat &number) { return widened(number).bitcastToAPInt(); });
}

void widenTypes(Operation *module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> std::optional<std::pair<Type, WalkResult>> {
    return std::make_pair(Type(Float64Type::get(type.getContext())), WalkResult::skip());
  });
  replacer.addReplacement([](FloatAttr number) -> std::optional<std::pair<Attribute, WalkResult>> {
    Type wide = Float64Type::get(number.getContext());
    return std::make_pair(Attribute(FloatAttr::get(wide, widened(number.getValue()))), WalkResult::skip());
  });
  replacer.addReplacement([](DenseElementsAttr dense) -> std::optional<std::pair<Attribute, WalkResult>> {
    auto numbers = dyn_cast<DenseFPElementsAttr>(dense);
    if (!numbers || !isa<FloatType>(numbers.getElementType()))
      return std::nullopt;
    Type wide = Float64Type::get(dense.getContext());
    Attribute mapped = numbers.mapValues(wide, [](const APFloat &number) { return widened(number).bitcastToAPInt(); });
    return std::make_pair(mapped, WalkResult::skip());
  });
  replacer.addReplacement([](DenseResourceElementsAttr resource) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (Attribute mapped = widenedResource(resource))
      return std::make_pair(mapped, WalkResult::skip());
    return std::nullopt;
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

/// Erases casts between equal types: all floating-point types are f64.
void eraseCasts(Operation *module) {
  SmallVector<Operation *> casts;
  module->walk([&](Operation *op) {
    if (isa<arith::ExtFOp, arith::TruncFOp>(op) && op->getOperand(0).getType() == op->getResult(0).getType())
      casts.push_back(op);
  });
  for (Operation *cast : casts) {
    cast->getResult(0).replaceAllUsesWith(cast->getOperand(0));
    cast->erase();
  }
}

/// Renames the functions, so that no name clashes with a function of the math library.
LogicalResult rename(ModuleOp module) {
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    auto name = StringAttr::get(module.getContext(), "program." + function.getName());
    if (failed(SymbolTable::replaceAllSymbolUses(function, name, module)))
      return failure();
    function.setName(name);
  }
  return success();
}

/// Builds a formula before an op.
struct Formula : spyre::Formula {
  explicit Formula(Operation *op) : spyre::Formula(OpBuilder(op), op->getLoc(), op->getResult(0).getType()) {}

  /// Returns 2 Phi(x) - 1, with the logistic function that approximates Phi if a gelu is expanded
  /// (docs/reference/lowerings.md).
  Value logistic(Value x) {
    Value cubic = add(mul(mul(x, x), number(-570.0 / 8192.0)), number(-819.0 / 512.0));
    Value exp = math::ExpOp::create(builder, location, mul(x, cubic));
    return add(div(number(2.0), add(number(1.0), exp)), number(-1.0));
  }

  /// Returns the x for which sqrt(2 / pi) (x + 0.044715 x^3) is z: the root of a monotone cubic polynomial.
  Value rootOfCubic(Value z) {
    constexpr double kCube = 0.044715, kScale = 0.7978845608028654;
    double unit = std::sqrt(3.0 * kCube);
    Value scaled = mul(z, number(1.5 * unit / kScale));
    Value third = div(math::AsinhOp::create(builder, location, scaled), number(3.0));
    return mul(math::SinhOp::create(builder, location, third), number(2.0 / unit));
  }
};

/// Replaces `math.erfc` by `math.erf`, so that both have the same approximation.
void spellComplements(Operation *module) {
  module->walk([](math::ErfcOp op) {
    Formula formula(op);
    Value negative = formula.mul(op.getOperand(), formula.number(-1.0));
    Value erf = math::ErfOp::create(formula.builder, formula.location, negative);
    op.replaceAllUsesWith(formula.add(formula.number(1.0), erf));
    op.erase();
  });
}

/// Maximum error of the polynomial that approximates erf outside of a gelu (Abramowitz and Stegun, 7.1.26).
constexpr double kErfError = 1.5e-7;

/// Replaces the functions of a gelu by the compiler's approximations, or by formulas with the opposite error. `pattern`
/// selects which, so that the errors of two functions do not cancel.
void approximate(Operation *module, unsigned pattern) {
  SmallVector<Operation *> functions;
  module->walk([&](Operation *op) {
    if (isa<math::ErfOp, math::TanhOp>(op))
      functions.push_back(op);
  });
  for (auto [number, op] : llvm::enumerate(functions)) {
    Formula formula(op);
    Value argument = op->getOperand(0);
    bool isErf = isa<math::ErfOp>(op);
    Value x = isErf ? formula.mul(argument, formula.number(std::sqrt(2.0))) : formula.rootOfCubic(argument);
    Value result = formula.logistic(x);
    // At points where the logistic function is exact, such as 0, the polynomial for erf is not.
    if (isErf)
      result = formula.add(result, formula.number(kErfError));
    if (llvm::popcount(static_cast<unsigned>(number) & pattern) % 2 == 1) {
      Value exact = formula.builder.clone(*op)->getResult(0);
      result = formula.add(formula.mul(exact, formula.number(2.0)), formula.mul(result, formula.number(-1.0)));
    }
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
  }
}
} // namespace

bool spyreReferenceWiden(MlirModule module, bool rounds, bool approximated, unsigned pattern) {
  ModuleOp op = unwrap(module);
  SmallVector<spyre::RoundedValue> rounded;
  if (rounds)
    rounded = spyre::findRoundedValues(op);
  widenTypes(op);
  spyre::roundValues(rounded);
  eraseCasts(op);
  spellComplements(op);
  if (approximated)
    approximate(op, pattern);
  return succeeded(rename(op)) && succeeded(verify(op));
}

unsigned spyreReferenceApproximated(MlirModule module) {
  unsigned count = 0;
  unwrap(module)->walk([&](Operation *op) { count += isa<math::ErfOp, math::ErfcOp, math::TanhOp>(op); });
  return count;
}
