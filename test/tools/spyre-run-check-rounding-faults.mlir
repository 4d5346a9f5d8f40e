// Faults that only rounding shows: each program in `faulty` computes what the one in `right` does, and rounds on the way. Without rounding, the
// results are equal. The right programs pass.
// RUN: rm -rf %t && mkdir %t && split-file %s %t/parts
// DEFINE: %{name} = shifted
// DEFINE: %{check} = spyre-compile %t/parts/%{name}.right.mlir -o %t/%{name}.right -q --validate=off && \
// DEFINE:   spyre-run %t/%{name}.right --check %t/parts/%{name}.right.mlir > %t/%{name}.log && \
// DEFINE:   spyre-compile %t/parts/%{name}.faulty.mlir -o %t/%{name}.faulty -q --validate=off && \
// DEFINE:   not spyre-run %t/%{name}.faulty --check %t/parts/%{name}.right.mlir >> %t/%{name}.log 2>&1 && \
// DEFINE:   FileCheck %s --input-file=%t/%{name}.log
// RUN: %{check}
// REDEFINE: %{name} = summed
// RUN: %{check}
// REDEFINE: %{name} = centered
// RUN: %{check}
// REDEFINE: %{name} = squares
// RUN: %{check}
// REDEFINE: %{name} = expanded
// RUN: %{check}
// REDEFINE: %{name} = scaled
// RUN: %{check}
// REDEFINE: %{name} = means
// RUN: %{check}
// REDEFINE: %{name} = products
// RUN: %{check}
// REDEFINE: %{name} = quotient
// RUN: %{check}
// REDEFINE: %{name} = exponents
// RUN: %{check}
// CHECK-COUNT-2: result0: correct
// CHECK:         largest rounding error added in bundle_0/sdsc_
// CHECK:         error[SPY1226]: 'result0' is right without rounding, but not in the formats of the device

// A sum that is rounded beside a large constant.
//--- shifted.right.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %r = arith.addf %x, %y : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- shifted.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %k = arith.constant dense<512.0> : tensor<4x64xf16>
  %a = arith.addf %x, %k : tensor<4x64xf16>
  %b = arith.addf %a, %y : tensor<4x64xf16>
  %r = arith.subf %b, %k : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// A sum of numbers that are rounded beside a large one.
//--- summed.right.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4xf16> {
  %zero = arith.constant dense<0.0> : tensor<4xf16>
  %r = linalg.reduce ins(%x : tensor<4x64xf16>) outs(%zero : tensor<4xf16>) dimensions = [1] (%in: f16, %out: f16) {
    %sum = arith.addf %in, %out : f16
    linalg.yield %sum : f16
  }
  return %r : tensor<4xf16>
}
//--- summed.faulty.mlir
func.func @main(%x: tensor<4x64xf16>) -> tensor<4xf16> {
  %zero = arith.constant dense<0.0> : tensor<4xf16>
  %ones = arith.constant dense<128.0> : tensor<4x64xf16>
  %total = arith.constant dense<8192.0> : tensor<4xf16>
  %more = arith.addf %x, %ones : tensor<4x64xf16>
  %sum = linalg.reduce ins(%more : tensor<4x64xf16>) outs(%zero : tensor<4xf16>) dimensions = [1] (%in: f16, %out: f16) {
    %s = arith.addf %in, %out : f16
    linalg.yield %s : f16
  }
  %r = arith.subf %sum, %total : tensor<4xf16>
  return %r : tensor<4xf16>
}

// A square of a difference of numbers that are not centered.
//--- centered.right.mlir
func.func @main(%a: tensor<4x64xf16>, %m: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %d = arith.subf %a, %m : tensor<4x64xf16>
  %r = arith.mulf %d, %d : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- centered.faulty.mlir
func.func @main(%a: tensor<4x64xf16>, %m: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %k = arith.constant dense<16.0> : tensor<4x64xf16>
  %x = arith.addf %a, %k : tensor<4x64xf16>
  %y = arith.addf %m, %k : tensor<4x64xf16>
  %xx = arith.mulf %x, %x : tensor<4x64xf16>
  %xy = arith.mulf %x, %y : tensor<4x64xf16>
  %yy = arith.mulf %y, %y : tensor<4x64xf16>
  %one = arith.subf %xx, %xy : tensor<4x64xf16>
  %other = arith.subf %yy, %xy : tensor<4x64xf16>
  %r = arith.addf %one, %other : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// A product of a sum and a difference, as a difference of squares.
//--- squares.right.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %k = arith.constant dense<64.0> : tensor<4x64xf16>
  %r = arith.mulf %x, %k : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- squares.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %k = arith.constant dense<16.0> : tensor<4x64xf16>
  %more = arith.addf %x, %k : tensor<4x64xf16>
  %less = arith.subf %x, %k : tensor<4x64xf16>
  %a = arith.mulf %more, %more : tensor<4x64xf16>
  %b = arith.mulf %less, %less : tensor<4x64xf16>
  %r = arith.subf %a, %b : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// A square of a sum, expanded.
//--- expanded.right.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %r = arith.mulf %y, %y : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- expanded.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %k = arith.constant dense<40.0> : tensor<4x64xf16>
  %z = arith.mulf %x, %k : tensor<4x64xf16>
  %sum = arith.addf %z, %y : tensor<4x64xf16>
  %a = arith.mulf %sum, %y : tensor<4x64xf16>
  %b = arith.mulf %z, %y : tensor<4x64xf16>
  %r = arith.subf %a, %b : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// A product with a large factor, of which most is subtracted.
//--- scaled.right.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %k = arith.constant dense<0.5> : tensor<4x64xf16>
  %a = arith.mulf %x, %k : tensor<4x64xf16>
  %r = arith.addf %a, %y : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- scaled.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %large = arith.constant dense<256.5> : tensor<4x64xf16>
  %whole = arith.constant dense<256.0> : tensor<4x64xf16>
  %a = arith.mulf %x, %large : tensor<4x64xf16>
  %b = arith.mulf %x, %whole : tensor<4x64xf16>
  %c = arith.subf %a, %b : tensor<4x64xf16>
  %r = arith.addf %c, %y : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// A mean of numbers beside a large one.
//--- means.right.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %half = arith.constant dense<0.5> : tensor<4x64xf16>
  %sum = arith.addf %x, %y : tensor<4x64xf16>
  %r = arith.mulf %sum, %half : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- means.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %half = arith.constant dense<0.5> : tensor<4x64xf16>
  %k = arith.constant dense<256.0> : tensor<4x64xf16>
  %a = arith.addf %x, %k : tensor<4x64xf16>
  %b = arith.addf %y, %k : tensor<4x64xf16>
  %sum = arith.addf %a, %b : tensor<4x64xf16>
  %mean = arith.mulf %sum, %half : tensor<4x64xf16>
  %r = arith.subf %mean, %k : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// A product of matrices whose rows are shifted.
//--- products.right.mlir
func.func @main(%x: tensor<4x64xf16>, %w: tensor<64x64xf16>) -> tensor<4x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<4x64xf16>
  %r = linalg.matmul ins(%x, %w : tensor<4x64xf16>, tensor<64x64xf16>) outs(%zero : tensor<4x64xf16>) -> tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- products.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %w: tensor<64x64xf16>) -> tensor<4x64xf16> {
  %zero = arith.constant dense<0.0> : tensor<4x64xf16>
  %k = arith.constant dense<256.0> : tensor<4x64xf16>
  %more = arith.addf %x, %k : tensor<4x64xf16>
  %a = linalg.matmul ins(%more, %w : tensor<4x64xf16>, tensor<64x64xf16>) outs(%zero : tensor<4x64xf16>) -> tensor<4x64xf16>
  %b = linalg.matmul ins(%k, %w : tensor<4x64xf16>, tensor<64x64xf16>) outs(%zero : tensor<4x64xf16>) -> tensor<4x64xf16>
  %r = arith.subf %a, %b : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// A quotient with a large whole part.
//--- quotient.right.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %one = arith.constant dense<1.0> : tensor<4x64xf16>
  %yy = arith.mulf %y, %y : tensor<4x64xf16>
  %d = arith.addf %yy, %one : tensor<4x64xf16>
  %r = arith.divf %x, %d : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- quotient.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %one = arith.constant dense<1.0> : tensor<4x64xf16>
  %k = arith.constant dense<128.0> : tensor<4x64xf16>
  %yy = arith.mulf %y, %y : tensor<4x64xf16>
  %d = arith.addf %yy, %one : tensor<4x64xf16>
  %large = arith.mulf %d, %k : tensor<4x64xf16>
  %sum = arith.addf %x, %large : tensor<4x64xf16>
  %q = arith.divf %sum, %d : tensor<4x64xf16>
  %r = arith.subf %q, %k : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}

// Exponents that are rounded beside a large number.
//--- exponents.right.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %d = arith.subf %x, %y : tensor<4x64xf16>
  %r = math.exp %d : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
//--- exponents.faulty.mlir
func.func @main(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %k = arith.constant dense<100.0> : tensor<4x64xf16>
  %a = arith.addf %x, %k : tensor<4x64xf16>
  %b = arith.addf %y, %k : tensor<4x64xf16>
  %d = arith.subf %a, %b : tensor<4x64xf16>
  %r = math.exp %d : tensor<4x64xf16>
  return %r : tensor<4x64xf16>
}
