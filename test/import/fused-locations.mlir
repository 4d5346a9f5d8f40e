// RUN: spyre-opt --spyre-import-linalg --spyre-fuse-gathers --split-input-file --mlir-print-debuginfo %s | FileCheck %s

// The location of an op that does the work of several operations names all of them, the one that it was built for first.

#map = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @sigmoid
// CHECK:         spyre.pointwise sigmoid({{.+}} loc(#[[AT:loc[0-9]*]])
// CHECK-DAG:   #[[INV:loc[0-9]*]] = loc("inv.py":4:1)
// CHECK-DAG:   #[[NEG:loc[0-9]*]] = loc("neg.py":1:1)
// CHECK-DAG:   #[[EXP:loc[0-9]*]] = loc("exp.py":2:1)
// CHECK-DAG:   #[[SUM:loc[0-9]*]] = loc("sum.py":3:1)
// CHECK-DAG:   #[[DIVF:loc[0-9]*]] = loc(fused<{kind = "decomposition", op = "arith.divf", pass = "spyre-import-linalg"}>[#[[INV]]])
// CHECK-DAG:   #[[NEGF:loc[0-9]*]] = loc(fused<{kind = "decomposition", op = "arith.negf", pass = "spyre-import-linalg"}>[#[[NEG]]])
// CHECK-DAG:   #[[MEXP:loc[0-9]*]] = loc(fused<{kind = "decomposition", op = "math.exp", pass = "spyre-import-linalg"}>[#[[EXP]]])
// CHECK-DAG:   #[[ADDF:loc[0-9]*]] = loc(fused<{kind = "decomposition", op = "arith.addf", pass = "spyre-import-linalg"}>[#[[SUM]]])
// CHECK:       #[[AT]] = loc(fused[#[[DIVF]], #[[NEGF]], #[[MEXP]], #[[ADDF]]])
func.func @sigmoid(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %one = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<4x64xf16>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf16>) outs(%e : tensor<4x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %neg = arith.negf %in : f16 loc("neg.py":1:1)
    %exp = math.exp %neg : f16 loc("exp.py":2:1)
    %sum = arith.addf %exp, %one : f16 loc("sum.py":3:1)
    %inv = arith.divf %one, %sum : f16 loc("inv.py":4:1)
    linalg.yield %inv : f16
  } -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>

// An operation whose operands are computed by ops of their own has its own location.
// CHECK-LABEL: func.func @apart
// CHECK:         spyre.pointwise exp({{.+}} loc(#[[EXP:loc[0-9]*]])
// CHECK:         spyre.pointwise neg({{.+}} loc(#[[NEG:loc[0-9]*]])
// CHECK-DAG:   #[[ALONE:loc[0-9]*]] = loc("alone.py":5:1)
// CHECK-DAG:   #[[BEHIND:loc[0-9]*]] = loc("behind.py":6:1)
// CHECK-DAG:   #[[EXP]] = loc(fused<{kind = "decomposition", op = "math.exp", pass = "spyre-import-linalg"}>[#[[ALONE]]])
// CHECK-DAG:   #[[NEG]] = loc(fused<{kind = "decomposition", op = "arith.negf", pass = "spyre-import-linalg"}>[#[[BEHIND]]])
func.func @apart(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %e = tensor.empty() : tensor<4x64xf16>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x64xf16>) outs(%e : tensor<4x64xf16>) {
  ^bb0(%in: f16, %out: f16):
    %exp = math.exp %in : f16 loc("alone.py":5:1)
    %neg = arith.negf %exp : f16 loc("behind.py":6:1)
    linalg.yield %neg : f16
  } -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}

// -----

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>

// CHECK-LABEL: func.func @gather
// CHECK:         spyre.gather({{.+}} loc(#[[AT:loc[0-9]*]])
// CHECK-DAG:   #[[READ:loc[0-9]*]] = loc("read.py":7:1)
// CHECK-DAG:   #[[OF:loc[0-9]*]] = loc("of.py":8:1)
// CHECK-DAG:   #[[EXTRACT:loc[0-9]*]] = loc(fused<{{.*}}op = "tensor.extract"{{.*}}>[#[[READ]]])
// CHECK-DAG:   #[[EXP:loc[0-9]*]] = loc(fused<{{.*}}op = "math.exp"{{.*}}>[#[[OF]]])
// CHECK:       #[[BOTH:loc[0-9]*]] = loc(fused[#[[EXTRACT]], #[[EXP]]])
// CHECK:       #[[AT]] = loc(fused<{kind = "fusion", pass = "spyre-fuse-gathers"}>[#[[BOTH]]])
func.func @gather(%x: tensor<100x64xf16>, %list: tensor<4xi64>) -> tensor<4x64xf16> {
  %e = tensor.empty() : tensor<4x64xf16>
  %0 = linalg.generic {indexing_maps = [#row, #map], iterator_types = ["parallel", "parallel"]} ins(%list : tensor<4xi64>) outs(%e : tensor<4x64xf16>) {
  ^bb0(%in: i64, %out: f16):
    %at = arith.index_cast %in : i64 to index
    %column = linalg.index 1 : index
    %read = tensor.extract %x[%at, %column] : tensor<100x64xf16> loc("read.py":7:1)
    %exp = math.exp %read : f16 loc("of.py":8:1)
    linalg.yield %exp : f16
  } -> tensor<4x64xf16>
  return %0 : tensor<4x64xf16>
}
