//===- Widen.cpp - widening of floating-point types to f64 ----------------===//
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
APFloat widenFloat(APFloat number) {
  bool losesInfo = false;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return number;
}

/// Returns an f64 tensor with the elements of a resource; null if its contents are missing or of unknown format.
Attribute widenResource(DenseResourceElementsAttr resource) {
  auto element = dyn_cast<FloatType>(resource.getElementType());
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!element || !blob)
    return {};
  auto dense = DenseElementsAttr::getFromRawBuffer(resource.getType(), blob->getData());
  auto numbers = dyn_cast_or_null<DenseFPElementsAttr>(dense);
  if (!numbers)
    return {};
  return numbers.mapValues(Float64Type::get(element.getContext()),
                           [](const APFloat &number) { return widenFloat(number).bitcastToAPInt(); });
}

void widenTypes(Operation *module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](FloatType type) -> std::optional<std::pair<Type, WalkResult>> {
    return std::make_pair(Type(Float64Type::get(type.getContext())), WalkResult::skip());
  });
  replacer.addReplacement([](FloatAttr number) -> std::optional<std::pair<Attribute, WalkResult>> {
    Type wide = Float64Type::get(number.getContext());
    return std::make_pair(Attribute(FloatAttr::get(wide, widenFloat(number.getValue()))), WalkResult::skip());
  });
  replacer.addReplacement([](DenseElementsAttr dense) -> std::optional<std::pair<Attribute, WalkResult>> {
    auto numbers = dyn_cast<DenseFPElementsAttr>(dense);
    if (!numbers || !isa<FloatType>(numbers.getElementType()))
      return std::nullopt;
    Type wide = Float64Type::get(dense.getContext());
    Attribute mapped =
        numbers.mapValues(wide, [](const APFloat &number) { return widenFloat(number).bitcastToAPInt(); });
    return std::make_pair(mapped, WalkResult::skip());
  });
  replacer.addReplacement([](DenseResourceElementsAttr resource) -> std::optional<std::pair<Attribute, WalkResult>> {
    if (Attribute mapped = widenResource(resource))
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
LogicalResult renameFunctions(ModuleOp module) {
  for (auto function : llvm::to_vector(module.getOps<func::FuncOp>())) {
    auto name = StringAttr::get(module.getContext(), "program." + function.getName());
    if (failed(SymbolTable::replaceAllSymbolUses(function, name, module)))
      return failure();
    function.setName(name);
  }
  return success();
}

/// Builder of a formula before an op.
struct OpFormulaBuilder : spyre::FormulaBuilder {
  explicit OpFormulaBuilder(Operation *op)
      : spyre::FormulaBuilder(OpBuilder(op), op->getLoc(), op->getResult(0).getType()) {}

  /// Returns 2 Phi(x) - 1, with the logistic function that approximates Phi if a gelu is expanded
  /// (docs/reference/lowerings.md).
  Value buildLogistic(Value x) {
    Value cubic = add(mul(mul(x, x), constant(-570.0 / 8192.0)), constant(-819.0 / 512.0));
    Value exp = math::ExpOp::create(builder, location, mul(x, cubic));
    return add(div(constant(2.0), add(constant(1.0), exp)), constant(-1.0));
  }

  /// Returns the x with sqrt(2 / pi) (x + 0.044715 x^3) = z, the root of a monotone cubic polynomial.
  Value buildCubicRoot(Value z) {
    constexpr double kCube = 0.044715, kScale = 0.7978845608028654;
    double unit = std::sqrt(3.0 * kCube);
    Value scaled = mul(z, constant(1.5 * unit / kScale));
    Value third = div(math::AsinhOp::create(builder, location, scaled), constant(3.0));
    return mul(math::SinhOp::create(builder, location, third), constant(2.0 / unit));
  }
};

/// Replaces `math.erfc` by `math.erf`, so that both have the same approximation.
void expandErfc(Operation *module) {
  module->walk([](math::ErfcOp op) {
    OpFormulaBuilder formula(op);
    Value negative = formula.mul(op.getOperand(), formula.constant(-1.0));
    Value erf = math::ErfOp::create(formula.builder, formula.location, negative);
    op.replaceAllUsesWith(formula.add(formula.constant(1.0), erf));
    op.erase();
  });
}

/// Maximum error of the polynomial that approximates erf outside of a gelu (Abramowitz and Stegun, 7.1.26).
constexpr double kErfError = 1.5e-7;

/// Replaces the functions of a gelu by the compiler's approximations, or by formulas with the opposite error. `pattern`
/// selects which, so that the errors of two functions do not cancel.
void approximateFunctions(Operation *module, unsigned pattern) {
  SmallVector<Operation *> functions;
  module->walk([&](Operation *op) {
    if (isa<math::ErfOp, math::TanhOp>(op))
      functions.push_back(op);
  });
  for (auto [number, op] : llvm::enumerate(functions)) {
    OpFormulaBuilder formula(op);
    Value argument = op->getOperand(0);
    bool isErf = isa<math::ErfOp>(op);
    Value x = isErf ? formula.mul(argument, formula.constant(std::sqrt(2.0))) : formula.buildCubicRoot(argument);
    Value result = formula.buildLogistic(x);
    // At points where the logistic function is exact, such as 0, the polynomial for erf is not.
    if (isErf)
      result = formula.add(result, formula.constant(kErfError));
    if (llvm::popcount(static_cast<unsigned>(number) & pattern) % 2 == 1) {
      Value exact = formula.builder.clone(*op)->getResult(0);
      result = formula.add(formula.mul(exact, formula.constant(2.0)), formula.mul(result, formula.constant(-1.0)));
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
  expandErfc(op);
  if (approximated)
    approximateFunctions(op, pattern);
  return succeeded(renameFunctions(op)) && succeeded(verify(op));
}

unsigned spyreReferenceGetNumApproximated(MlirModule module) {
  unsigned count = 0;
  unwrap(module)->walk([&](Operation *op) { count += isa<math::ErfOp, math::ErfcOp, math::TanhOp>(op); });
  return count;
}
