// RUN: spyre-opt --spyre-import-linalg --verify-diagnostics %s

// The largest position would have to be known, for the elements that are not the maximum.
func.func @positions_of_an_argument(%x: tensor<4x8xf16>, %p: tensor<4x8xi32>) -> tensor<4xi32> {
  %least = arith.constant 0xFC00 : f16
  %none = arith.constant 0 : i32
  %e = tensor.empty() : tensor<4xf16>
  %f = linalg.fill ins(%least : f16) outs(%e : tensor<4xf16>) -> tensor<4xf16>
  %ei = tensor.empty() : tensor<4xi32>
  %fi = linalg.fill ins(%none : i32) outs(%ei : tensor<4xi32>) -> tensor<4xi32>
  // expected-error @+1 {{expected positions that follow from the indices of the op, found integers that are known at runtime only; select the integers by the position of the extremum}}
  %m:2 = linalg.reduce ins(%x, %p : tensor<4x8xf16>, tensor<4x8xi32>) outs(%f, %fi : tensor<4xf16>, tensor<4xi32>) dimensions = [1]
    (%a: f16, %i: i32, %o: f16, %oi: i32) {
      %more = arith.cmpf ogt, %a, %o : f16
      %same = arith.cmpf oeq, %a, %o : f16
      %before = arith.cmpi slt, %i, %oi : i32
      %tie = arith.andi %same, %before : i1
      %takes = arith.ori %more, %tie : i1
      %most = arith.maximumf %a, %o : f16
      %at = arith.select %takes, %i, %oi : i32
      linalg.yield %most, %at : f16, i32
    }
  return %m#1 : tensor<4xi32>
}
