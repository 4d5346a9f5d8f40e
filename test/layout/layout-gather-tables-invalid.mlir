// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-layout-gather-tables %s

func.func @single_elements(%x: tensor<512xf16>, %index: tensor<16xi32>) -> tensor<16xf16> {
  // expected-error @+1 {{'spyre.gather' op cannot lay out its table: a table that is indexed along dimension 0 has no other dimension for its sticks; index another dimension, or reshape the table}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512xf16>, tensor<16xi32>) -> tensor<16xf16>
  return %rows : tensor<16xf16>
}

// -----

func.func @columns_of_one_row(%x: tensor<1x512xf16>, %index: tensor<16xi32>) -> tensor<16x1xf16> {
  // expected-error @+1 {{'spyre.gather' op cannot lay out its table: a table that is indexed along dimension 1 has no other dimension for its sticks; index another dimension, or reshape the table}}
  %rows = spyre.gather(%x, %index) dim 1 : (tensor<1x512xf16>, tensor<16xi32>) -> tensor<16x1xf16>
  return %rows : tensor<16x1xf16>
}

// -----

func.func @no_format(%x: tensor<512x64xf128>, %index: tensor<16xi32>) -> tensor<16x64xf128> {
  // expected-error @+1 {{'spyre.gather' op expected elements of a device format, found f128; convert them before the export}}
  %rows = spyre.gather(%x, %index) dim 0 : (tensor<512x64xf128>, tensor<16xi32>) -> tensor<16x64xf128>
  return %rows : tensor<16x64xf128>
}
