//===- Rounding.cpp - roundings of a module's own formats in f64 ----------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
// A module whose numbers are in f64 computes what the program means. With these roundings it computes what the program
// makes of that in its own formats: each result is rounded to its type, and a sum once, at its end, since hardware
// accumulates in wider formats.
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
bool rounds(Operation *op) {
  if (isa<arith::ConstantOp, arith::SelectOp, arith::NegFOp, arith::ExtFOp, arith::BitcastOp>(op))
    return false;
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect());
}

/// Returns whether an op is in the body of a reduction: its values are combined before they are rounded.
bool isAccumulated(Operation *op) {
  auto around = op->getParentOfType<linalg::LinalgOp>();
  return around && around.getNumReductionLoops() > 0;
}

/// Builds the roundings of one value.
struct Rounder : spyre::Formula {
  using Formula::Formula;

  /// Returns a value rounded to the nearest number of a format, to infinity beyond the largest. Both sums are the
  /// usual ones that make f64 drop bits: one keeps a number of significant bits, one bits down to a place.
  Value round(Value value, const llvm::fltSemantics &format) {
    unsigned precision = APFloat::semanticsPrecision(format);
    int smallest = APFloat::semanticsMinExponent(format);
    double largest = APFloat::getLargest(format).convertToDouble();
    double halfStep = std::ldexp(1.0, APFloat::semanticsMaxExponent(format) - static_cast<int>(precision));
    constexpr int kBits = 53;
    Value scaled = mul(value, number(std::ldexp(1.0, kBits - precision) + 1.0));
    Value normal = sub(scaled, sub(scaled, value));
    double place = 1.5 * std::ldexp(1.0, kBits - 1 + smallest - (static_cast<int>(precision) - 1));
    Value subnormal = sub(add(value, number(place)), number(place));
    Value infinite = mul(value, number(std::numeric_limits<double>::infinity()));
    Value size = math::AbsFOp::create(builder, location, value);
    Value isBelow = compare(arith::CmpFPredicate::OLT, size, number(std::ldexp(1.0, smallest)));
    Value isBeyond = compare(arith::CmpFPredicate::OGE, size, number(largest + halfStep));
    Value finite = arith::SelectOp::create(builder, location, isBelow, subnormal, normal);
    return arith::SelectOp::create(builder, location, isBeyond, infinite, finite);
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
    if (!isReduced && (!rounds(op) || isAccumulated(op)))
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
    Rounder rounder(builder, rounded.value.getLoc(), rounded.value.getType());
    SmallVector<OpOperand *> uses;
    for (OpOperand &use : rounded.value.getUses())
      uses.push_back(&use);
    Value result = rounder.round(rounded.value, *rounded.format);
    for (OpOperand *use : uses)
      use->set(result);
  }
}
