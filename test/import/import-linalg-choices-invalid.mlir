// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-import-linalg %s

func.func @branch_with_an_effect(%x: tensor<8x64xf16>, %flag: tensor<i1>, %other: tensor<i1>) -> tensor<8x64xf16> {
  %is_set = tensor.extract %flag[] : tensor<i1>
  // expected-error @+1 {{'scf.if' op with a runtime condition requires branches without side effects, found an assertion; move it out of the branch}}
  %y = scf.if %is_set -> tensor<8x64xf16> {
    %holds = tensor.extract %other[] : tensor<i1>
    cf.assert %holds, "the other holds"
    scf.yield %x : tensor<8x64xf16>
  } else {
    %z = arith.negf %x : tensor<8x64xf16>
    scf.yield %z : tensor<8x64xf16>
  }
  return %y : tensor<8x64xf16>
}
