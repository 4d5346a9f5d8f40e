// Where a program is given sizes, all that it calls is inlined, which a warning says.
// RUN: spyre-opt --verify-diagnostics --spyre-select-program="dim-size=arg0.0=64" %s | FileCheck %s

// CHECK:     func.func @main(%{{.+}}: tensor<64x128xf16>)
// CHECK-NOT: call
func.func @main(%x: tensor<?x128xf16>) -> tensor<?x128xf16> {
  %y = call @kernel(%x) : (tensor<?x128xf16>) -> tensor<?x128xf16>
  return %y : tensor<?x128xf16>
}

// expected-warning @+1 {{'func.func' op is inlined, although it is a kernel, because '--dim-size' gives sizes to the program; export static shapes to keep kernels}}
func.func private @kernel(%x: tensor<?x128xf16>) -> tensor<?x128xf16> attributes {spyre.kernel} {
  %zero = arith.constant 0 : index
  %rows = tensor.dim %x, %zero : tensor<?x128xf16>
  %empty = tensor.empty(%rows) : tensor<?x128xf16>
  %exp = linalg.exp ins(%x : tensor<?x128xf16>) outs(%empty : tensor<?x128xf16>) -> tensor<?x128xf16>
  return %exp : tensor<?x128xf16>
}
