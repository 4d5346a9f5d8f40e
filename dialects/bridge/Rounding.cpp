//===- Rounding.cpp - rounding f64 values to narrower formats -------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// A module that computes in f64 has the reference semantics of the program. Rounding simulates the formats of the
// program: each result is rounded to its original type. A sum is rounded once, at its end, because hardware accumulates
// in wider formats.
//
//===----------------------------------------------------------------------===//

#include "Rounding.h"
#include "Formula.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;

namespace {
/// Returns whether an op may return a number that its format does not represent.
bool mayRound(Operation *op) {
  if (isa<arith::ConstantOp, arith::SelectOp, arith::NegFOp, arith::ExtFOp, arith::BitcastOp>(op))
    return false;
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

/// Returns whether an op is in the body of a reduction, which combines its values before rounding.
bool isInReductionBody(Operation *op) {
  auto enclosing = op->getParentOfType<linalg::LinalgOp>();
  return enclosing && enclosing.getNumReductionLoops() > 0;
}

/// Builder of the ops that round one value.
struct RoundingBuilder : spyre::FormulaBuilder {
  using FormulaBuilder::FormulaBuilder;

  /// Rounds a value to the nearest number of a format, or to infinity if it overflows. Veltkamp splitting keeps the
  /// significant bits of a normal number. Adding and subtracting `subnormalShift` drops the low bits of a subnormal.
  Value round(Value value, const llvm::fltSemantics &format) {
    unsigned precision = APFloat::semanticsPrecision(format);
    int minExponent = APFloat::semanticsMinExponent(format);
    double largest = APFloat::getLargest(format).convertToDouble();
    double halfStep = std::ldexp(1.0, APFloat::semanticsMaxExponent(format) - static_cast<int>(precision));
    constexpr int kBits = 53;
    Value scaled = mul(value, constant(std::ldexp(1.0, kBits - precision) + 1.0));
    Value normal = sub(scaled, sub(scaled, value));
    double subnormalShift = 1.5 * std::ldexp(1.0, kBits - 1 + minExponent - (static_cast<int>(precision) - 1));
    Value subnormal = sub(add(value, constant(subnormalShift)), constant(subnormalShift));
    Value infinite = mul(value, constant(std::numeric_limits<double>::infinity()));
    Value magnitude = math::AbsFOp::create(builder, location, value);
    Value isSubnormal = compare(arith::CmpFPredicate::OLT, magnitude, constant(std::ldexp(1.0, minExponent)));
    Value overflows = compare(arith::CmpFPredicate::OGE, magnitude, constant(largest + halfStep));
    Value finite = arith::SelectOp::create(builder, location, isSubnormal, subnormal, normal);
    return arith::SelectOp::create(builder, location, overflows, infinite, finite);
  }

  Value compare(arith::CmpFPredicate predicate, Value left, Value right) {
    return arith::CmpFOp::create(builder, location, predicate, left, right);
  }
};
} // namespace

SmallVector<spyre::RoundedValue> spyre::findRoundedValues(Operation *module) {
  SmallVector<RoundedValue> found;
  module->walk([&](Operation *op) {
    auto reduction = dyn_cast<linalg::LinalgOp>(op);
    bool isReduced = reduction && reduction.getNumReductionLoops() > 0;
    if (!isReduced && (!mayRound(op) || isInReductionBody(op)))
      return;
    for (Value result : op->getResults())
      if (auto format = dyn_cast<FloatType>(getElementTypeOrSelf(result.getType())); format && format.getWidth() < 64)
        found.push_back({result, &format.getFloatSemantics()});
  });
  return found;
}

void spyre::roundValues(ArrayRef<RoundedValue> values) {
  for (const RoundedValue &rounded : values) {
    OpBuilder builder(rounded.value.getContext());
    builder.setInsertionPointAfterValue(rounded.value);
    RoundingBuilder roundingBuilder(builder, rounded.value.getLoc(), rounded.value.getType());
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : rounded.value.getUses())
      uses.push_back(&use);
    Value result = roundingBuilder.round(rounded.value, *rounded.format);
    for (OpOperand *use : uses)
      use->set(result);
  }
}
