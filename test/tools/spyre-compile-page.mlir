// RUN: rm -rf %t && mkdir -p %t && spyre-compile %s -o %t/out --report %t/report.html && spyre-compile %s -o %t/again --report %t/again.html
// RUN: FileCheck %s --input-file=%t/report.html
// RUN: not ls %t/report.svg
// RUN: spyre-compile %s -o %t/out --report - | FileCheck %s --check-prefix=OUT

// The page has the summary without a script, the data, and the lines of the program; nothing in them is markup.
// CHECK: <title>exp on Spyre</title>
// CHECK: <noscript>
// CHECK: exp: 1 op in 1 launch
// CHECK: </noscript>
// CHECK: <script type="application/json" id="data">{"report":{"version":1,"program":"exp",
// CHECK-SAME: "sources":[{"file":"{{.*}}spyre-compile-page.mlir","lines":[
// CHECK-SAME: "// \u003c/script\u003e of a comment"
// CHECK-SAME: </script>

// Standard output gets data.
// OUT: "program": "exp"

// </script> of a comment
func.func @exp(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %y = linalg.exp ins(%x : tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
