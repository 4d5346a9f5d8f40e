// Rows that are chosen in front of a kernel in tiles of 16 rows, which would end inside a stick of the list: the program cannot be compiled with that
// move. The other one is made all the same.
// RUN: rm -rf %t
// RUN: spyre-compile %s --validate -o %t 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=WHY < %t.err

// CHECK: kernel 'double' with T = 4: INLINE relufwd; SEPARATE identity [P-COST]
// CHECK: validated: the files and the imported program agree
// WHY:   remark{{.*}}not fused before kernel 'double' (P-COST): the program cannot be compiled with the fusion

func.func @main(%table: tensor<256x1024xf16>, %list: tensor<64xi64>) -> tensor<64x1024xf16> {
  %chosen = spyre.gather(%table, %list) dim 0 : (tensor<256x1024xf16>, tensor<64xi64>) -> tensor<64x1024xf16>
  %y = spyre.kernel "double"(%in = %chosen : tensor<64x1024xf16>) knobs([#spyre.knob<T = 4 in pow2 1 to 8>]) {
    %h = spyre.hint tiles(rows = T) {
      %sum = spyre.pointwise add(%in, %in) : tensor<64x1024xf16>
      spyre.yield %sum : tensor<64x1024xf16>
    }
    spyre.yield %h : tensor<64x1024xf16>
  } {input_dims = [["rows", ""]]}
  %relu = spyre.pointwise relufwd(%y) : tensor<64x1024xf16>
  return %relu : tensor<64x1024xf16>
}
