// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-select-program %s

// expected-error @+1 {{'func.func' op is one of several public functions, 'first', 'second': say by --entry NAME which is compiled}}
func.func @first(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}
func.func @second(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op leaves the sizes of arg0.0, arg1.1 open: give them by --dim-size arg0.0=N --dim-size arg1.1=N}}
func.func @open(%x: tensor<?x64xf16>, %y: tensor<2x?xf16>) -> tensor<?x64xf16> {
  return %x : tensor<?x64xf16>
}
