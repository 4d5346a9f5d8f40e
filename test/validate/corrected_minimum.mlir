// A loop corrects a minimum by how a maximum grows: equal in the order of real numbers, which moves with what is added, and in no order of residues.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s --validate --tiles N=4 --compile-to tile | FileCheck %s --check-prefix=LOOP
// RUN: spyre-compile %s --validate --tiles N=4 -o %t/out --report %t/report.json | FileCheck %s
// RUN: FileCheck %s --check-prefix=REPORT < %t/report.json
// RUN: spyre-run --check %s %t/out

// LOOP:       spyre.loop 4 "N"
// LOOP-SAME:  attributes {spyre.corrects}
// CHECK:      validated: the files and the imported program agree
// CHECK-SAME: maxima and minima were compared in the order of real numbers alone, as a loop corrects them
// REPORT:     "ordered": true

#whole = affine_map<(a, b) -> (a, b)>
#row = affine_map<(a, b) -> (a, 0)>
func.func @smallest(%x: tensor<8x256xf16> {spyre.dims = ["M", "N"]}, %lowest: tensor<8x1xf16>, %highest: tensor<8x1xf16>, %out: tensor<8x256xf16>)
    -> tensor<8x1xf16> {
  %max = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x256xf16>) outs(%lowest : tensor<8x1xf16>) {
  ^bb0(%in: f16, %sofar: f16):
    %r = arith.maximumf %in, %sofar : f16
    linalg.yield %r : f16
  } -> tensor<8x1xf16>
  %moved = linalg.generic {indexing_maps = [#whole, #row, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x, %max : tensor<8x256xf16>, tensor<8x1xf16>) outs(%out : tensor<8x256xf16>) {
  ^bb0(%in: f16, %by: f16, %old: f16):
    %r = arith.addf %in, %by : f16
    linalg.yield %r : f16
  } -> tensor<8x256xf16>
  %min = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%moved : tensor<8x256xf16>) outs(%highest : tensor<8x1xf16>) {
  ^bb0(%in: f16, %sofar: f16):
    %r = arith.minimumf %in, %sofar : f16
    linalg.yield %r : f16
  } -> tensor<8x1xf16>
  return %min : tensor<8x1xf16>
}
