// Products of which no core can address its slices in one loop: two loops, along K and along N, are found without a hint.
// RUN: rm -rf %t && split-file %s %t
// RUN: spyre-compile %t/large.mlir --compile-to hint | FileCheck %s --check-prefix=LARGE
// LARGE: hints = [#spyre.tile_hint<0, axis0 = {{[0-9]+}}>, #spyre.tile_hint<1, axis1 = {{[0-9]+}}>]

// A small machine executes a small product.
// RUN: echo '{"cores": 4, "core_span_bytes": 125000}' > %t/target.json
// RUN: not spyre-compile %t/small.mlir --target %t/target.json --tile-search none -o %t/small 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: spyre-compile %t/small.mlir --target %t/target.json --validate -o %t/small | FileCheck %s --check-prefix=SMALL
// NONE: error[SPY0603]
// SMALL: tiling: ops 0-0 in {{[0-9]+}} tiles of axis0 x {{[0-9]+}} tiles of axis1; {{.*}} us (untiled: not possible, estimated
// SMALL: validated:

//--- large.mlir
func.func @main(%a: tensor<65536x65536xf16>, %b: tensor<65536x65536xf16>) -> tensor<65536x65536xf16> {
  %c = spyre.matmul(%a, %b) : (tensor<65536x65536xf16>, tensor<65536x65536xf16>) -> tensor<65536x65536xf16>
  return %c : tensor<65536x65536xf16>
}

//--- small.mlir
func.func @main(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  %c = spyre.matmul(%a, %b) : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16>
  return %c : tensor<512x512xf16>
}
