// A value that is rounded to f16 in front of a kernel and widened in it. The compiler emits no conversion, so strict precision rejects the program; with relaxed
// roundings all of it is computed in f32, and the square in front moves into the kernel's loop.
// RUN: not spyre-compile %s -o %t.exact --precision strict 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: spyre-compile %s -o %t.relaxed --precision strict --rounding relaxed --validate 2>&1 | FileCheck %s --check-prefix=RELAXED
// RUN: spyre-run %t.relaxed --check %s | FileCheck %s --check-prefix=NUMBERS
// EXACT: rounding.mlir:{{[0-9]+}}:{{[0-9]+}}: error{{.*}}'arith.truncf' op converts f32 to f16, which --precision strict does not support; give --precision mixed
// RELAXED: remark{{.*}}rounding is removed: its operand is widened again, and stays f32 (--rounding relaxed)
// RELAXED: kernel 'twice' with T = 4: INLINE mul{{$}}
// RELAXED: validated: the files and the imported program agree
// NUMBERS: correct

// Where 16-bit tensors make the program one of 16 bits, nothing is rounded twice, and nothing changes: to the same bytes.
// RUN: spyre-compile %s -o %t.half
// RUN: spyre-compile %s -o %t.half_relaxed --rounding relaxed
// RUN: diff -r %t.half %t.half_relaxed
// RUN: spyre-compile %S/../kernel/Inputs/round_exact.mlir -o %t.round
// RUN: spyre-compile %S/../kernel/Inputs/round_exact.mlir -o %t.round_relaxed --rounding relaxed
// RUN: diff -r %t.round %t.round_relaxed

// An answer of the tuner is for one of them.
// RUN: rm -rf %t.cache
// RUN: spyre-tune %s --cache %t.cache
// RUN: spyre-tune %s --cache %t.cache | FileCheck %s --check-prefix=HIT
// RUN: spyre-tune %s --cache %t.cache --rounding relaxed | FileCheck %s --check-prefix=MISS
// HIT: from the cache
// MISS: 'options' is '' in the entry and 'rounding=relaxed' in this search

#map = affine_map<(d0, d1) -> (d0, d1)>
func.func private @twice(%x: tensor<512x1024xf16> {spyre.dims = ["rows", ""]}) -> tensor<512x1024xf32>
    attributes {spyre.kernel, spyre.knobs = [#spyre.knob<T = 4 in pow2 1 to 8>]} {
  %y = spyre.hint tiles(rows = T) {
    %empty = tensor.empty() : tensor<512x1024xf32>
    %sum = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<512x1024xf16>) outs(%empty : tensor<512x1024xf32>) {
    ^bb0(%in: f16, %out: f32):
      %wide = arith.extf %in : f16 to f32
      %s = arith.addf %wide, %wide : f32
      linalg.yield %s : f32
    } -> tensor<512x1024xf32>
    spyre.yield %sum : tensor<512x1024xf32>
  }
  return %y : tensor<512x1024xf32>
}

func.func @main(%x: tensor<512x1024xf32>) -> tensor<512x1024xf32> {
  %empty = tensor.empty() : tensor<512x1024xf16>
  %rounded = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<512x1024xf32>) outs(%empty : tensor<512x1024xf16>) {
  ^bb0(%in: f32, %out: f16):
    %square = arith.mulf %in, %in : f32
    %to = arith.truncf %square : f32 to f16
    linalg.yield %to : f16
  } -> tensor<512x1024xf16>
  %y = call @twice(%rounded) : (tensor<512x1024xf16>) -> tensor<512x1024xf32>
  return %y : tensor<512x1024xf32>
}
