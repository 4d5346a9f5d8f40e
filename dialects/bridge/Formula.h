//===- Formula.h - builder of f64 formulas --------------------------------===//
//
// Part of spyre-mlir, under the Apache License v2.0 with LLVM Exceptions.
//
//===----------------------------------------------------------------------===//

#ifndef SPYRE_BRIDGE_FORMULA_H
#define SPYRE_BRIDGE_FORMULA_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace spyre {
/// Builder of formulas at an insertion point, on scalars or elementwise on tensors.
///
/// `type` is the type of all values.
struct FormulaBuilder {
  mlir::OpBuilder builder;
  mlir::Location location;
  mlir::Type type;

  FormulaBuilder(mlir::OpBuilder builder, mlir::Location location, mlir::Type type)
      : builder(builder), location(location), type(type) {}

  mlir::Value constant(double value) {
    mlir::TypedAttr attribute = builder.getF64FloatAttr(value);
    if (auto shaped = mlir::dyn_cast<mlir::ShapedType>(type))
      attribute = mlir::DenseElementsAttr::get(shaped, mlir::ArrayRef<double>{value});
    return mlir::arith::ConstantOp::create(builder, location, attribute);
  }
  mlir::Value add(mlir::Value left, mlir::Value right) {
    return mlir::arith::AddFOp::create(builder, location, left, right);
  }
  mlir::Value sub(mlir::Value left, mlir::Value right) {
    return mlir::arith::SubFOp::create(builder, location, left, right);
  }
  mlir::Value mul(mlir::Value left, mlir::Value right) {
    return mlir::arith::MulFOp::create(builder, location, left, right);
  }
  mlir::Value div(mlir::Value left, mlir::Value right) {
    return mlir::arith::DivFOp::create(builder, location, left, right);
  }
};
} // namespace spyre

#endif
