// RUN: spyre-opt --spyre-propagate-layouts %s | FileCheck %s

func.func @arguments_are_row_major(%x: tensor<512x1024xf16>) -> tensor<512x1024xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<512x1024xf16>
  return %exp : tensor<512x1024xf16>
}

func.func @the_last_stick_may_be_partly_empty(%x: tensor<8x100xf16>) -> tensor<8x100xf16> {
  %exp = spyre.pointwise exp(%x) : tensor<8x100xf16>
  return %exp : tensor<8x100xf16>
}

func.func @a_stick_of_f32_has_32_elements(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf32>
  return %exp : tensor<8x64xf32>
}

func.func @vectors_and_batches(%x: tensor<256xf16>, %y: tensor<4x8x128xf16>) -> (tensor<256xf16>, tensor<4x8x128xf16>) {
  %exp = spyre.pointwise exp(%x) : tensor<256xf16>
  %neg = spyre.pointwise neg(%y) : tensor<4x8x128xf16>
  return %exp, %neg : tensor<256xf16>, tensor<4x8x128xf16>
}

#columns = #spyre.layout<[8, 256, 64], [16384, 1, 256]>
func.func @given_layouts_stay(%x: tensor<512x256xf16, #columns>) -> tensor<512x256xf16> {
  %exp = spyre.pointwise exp(%x) : (tensor<512x256xf16, #columns>) -> tensor<512x256xf16>
  return %exp : tensor<512x256xf16>
}

func.func @given_column_layout_reduced(%x: tensor<512x256xf16, #columns>) -> (tensor<512x1xf16>, tensor<1x256xf16>) {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<512x256xf16, #columns> -> tensor<512x1xf16>
  %sum0 = spyre.reduce sum(%x) dims [0] : tensor<512x256xf16, #columns> -> tensor<1x256xf16>
  return %sum, %sum0 : tensor<512x1xf16>, tensor<1x256xf16>
}

func.func @reduce_rows(%x: tensor<512x256xf16>) -> (tensor<512x1xf16>, tensor<1x256xf16>) {
  %sum = spyre.reduce sum(%x) dims [1] : tensor<512x256xf16> -> tensor<512x1xf16>
  %sum0 = spyre.reduce sum(%x) dims [0] : tensor<512x256xf16> -> tensor<1x256xf16>
  %exp = spyre.pointwise exp(%sum) : tensor<512x1xf16>
  return %exp, %sum0 : tensor<512x1xf16>, tensor<1x256xf16>
}

func.func @broadcast(%x: tensor<512x256xf16>, %col: tensor<512x1xf16>, %bias: tensor<256xf16>) -> (tensor<512x256xf16>, tensor<512x256xf16>) {
  %sub = spyre.pointwise sub(%col, %x) : (tensor<512x1xf16>, tensor<512x256xf16>) -> tensor<512x256xf16>
  %row = spyre.view %bias by affine_map<(d0, d1) -> (d1)> : tensor<256xf16> -> tensor<1x256xf16>
  %add = spyre.pointwise add(%col, %row) : (tensor<512x1xf16>, tensor<1x256xf16>) -> tensor<512x256xf16>
  return %sub, %add : tensor<512x256xf16>, tensor<512x256xf16>
}
func.func @colcol(%col: tensor<512x1xf16>) -> (tensor<512x64xf16>) {
  %big = spyre.view %col by affine_map<(d0, d1) -> (d0, 0)> : tensor<512x1xf16> -> tensor<512x64xf16>
  %add = spyre.pointwise exp(%big) : tensor<512x64xf16>
  return %add :  tensor<512x64xf16>
}

func.func @matmul(%x: tensor<128x256xf16>, %y: tensor<256x512xf16>, %b: tensor<4x128x256xf16>, %c: tensor<4x256x512xf16>) -> (tensor<128x512xf16>, tensor<4x128x512xf16>) {
  %p = spyre.matmul(%x, %y) : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<128x512xf16>
  %q = spyre.matmul(%b, %c) : (tensor<4x128x256xf16>, tensor<4x256x512xf16>) -> tensor<4x128x512xf16>
  return %p, %q : tensor<128x512xf16>, tensor<4x128x512xf16>
}
func.func @trans(%x: tensor<128x256xf16>) -> (tensor<256x128xf16>) {
  %t = spyre.view %x by affine_map<(d0, d1) -> (d1, d0)> : tensor<128x256xf16> -> tensor<256x128xf16>
  %p = spyre.pointwise exp(%t) : tensor<256x128xf16>
  return %p : tensor<256x128xf16>
}
func.func @fill() -> (tensor<256x128xf16>) {
  %p = spyre.fill 0.0 : f16 -> tensor<256x128xf16>
  %c = spyre.copy %p : tensor<256x128xf16> -> tensor<256x128xf16>
  return %c : tensor<256x128xf16>
}
func.func @const() -> (tensor<1x1xf16>) {
  %p = spyre.constant dense<1.0> : tensor<1x1xf16>
  %c = spyre.copy %p : tensor<1x1xf16> -> tensor<1x1xf16>
  return %c : tensor<1x1xf16>
}
func.func @ints(%x: tensor<128x256xi64>, %m: tensor<128x256xi1>, %a: tensor<128x256xf16>) -> (tensor<128x256xi64>, tensor<128x256xf16>) {
  %t = spyre.pointwise relufwd(%x) : tensor<128x256xi64>
  %w = spyre.pointwise where3(%m, %a, %a) : (tensor<128x256xi1>, tensor<128x256xf16>, tensor<128x256xf16>) -> tensor<128x256xf16>
  return %t, %w : tensor<128x256xi64>, tensor<128x256xf16>
}
func.func @disagree(%x: tensor<128x256xf16>, %y: tensor<256x128xf16>) -> (tensor<128x256xf16>) {
  %t = spyre.view %y by affine_map<(d0, d1) -> (d1, d0)> : tensor<256x128xf16> -> tensor<128x256xf16>
  %w = spyre.pointwise add(%t, %x) : tensor<128x256xf16>
  return %w : tensor<128x256xf16>
}
func.func private @decl(tensor<4xf16>)
