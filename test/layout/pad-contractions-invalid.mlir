// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-pad-contractions %s

func.func @no_format(%x: tensor<8x100xf128>, %y: tensor<100x64xf128>) -> tensor<8x64xf128> {
  // expected-error @+1 {{'spyre.matmul' op expected elements of a device format, found f128; convert them before the export}}
  %product = spyre.matmul(%x, %y) : (tensor<8x100xf128>, tensor<100x64xf128>) -> tensor<8x64xf128>
  return %product : tensor<8x64xf128>
}
