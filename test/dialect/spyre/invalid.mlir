// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// A function is named after the rule that it breaks.

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected a layout with as many strides as device dimensions, at least 2, found 3 sizes and 2 strides}}
func.func private @layout_c1(tensor<512x1024xf16, #spyre.layout<[16, 512, 64], [64, 1024]>>)

// -----

// expected-error @+1 {{at least 2, found 1 sizes and 1 strides}}
func.func private @layout_c1(tensor<64xf16, #spyre.layout<[64], [1]>>)

// -----

// expected-error @+1 {{expected a positive device dimension, found 0}}
func.func private @layout_c2(tensor<512x1024xf16, #spyre.layout<[16, 0, 64], [64, 1024, 1]>>)

// -----

// expected-error @+1 {{expected a last device dimension of one stick, 64 elements of 'f16', found 32}}
func.func private @layout_c3(tensor<512x1024xf16, #spyre.layout<[32, 512, 32], [32, 1024, 1]>>)

// -----

// expected-error @+1 {{one stick, 32 elements of 'f16', found 64}}
func.func private @layout_c3(tensor<512x1024xf16, #spyre.layout<[16, 512, 64], [64, 1024, 1], format = IEEE_FP32>>)

// -----

// expected-error @+1 {{the device has no format for element type 'f128'}}
func.func private @layout_c3(tensor<512x1024xf128, #spyre.layout<[64, 512, 16], [16, 1024, 1]>>)

// -----

// expected-error @+1 {{unknown device format 'FP16'}}
func.func private @layout_c4(tensor<512x1024xf16, #spyre.layout<[16, 512, 64], [64, 1024, 1], format = FP16>>)

// -----

// expected-error @+1 {{a window of rank 2 cannot be in a buffer of rank 1}}
func.func private @layout_c5(tensor<512x1024xf16, #spyre.layout<[16, 512, 64], [64, 1024, 1], of = [512]>>)

// -----

// expected-error @+1 {{dimension 0 of a window has 512 elements, its buffer only 256}}
func.func private @layout_c5(tensor<512x1024xf16, #spyre.layout<[16, 256, 64], [64, 1024, 1], of = [256, 1024]>>)

// -----

func.func @work_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{a dimension must have at least one slice, found 0}}
  spyre.copy %x {work = #spyre.work<[4, 0]>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @place_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{expected memory 'lx', 'pool' or 'hbm', found 'ddr'}}
  spyre.copy %x {place = #spyre.place<ddr, 0>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @place_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{expected an offset that is a multiple of 128 bytes, found 64}}
  spyre.copy %x {place = #spyre.place<lx, 64>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @place_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{expected an offset that is a multiple of 128 bytes, found -128}}
  spyre.copy %x {place = #spyre.place<pool, -128>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @place_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{expected string}}
  spyre.copy %x {place = #spyre.place<hbm, 128>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @tile_hint_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{dimension 'A' must have at least one tile, found 0}}
  spyre.copy %x {hints = [#spyre.tile_hint<0, A = 0>]} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @tile_hint_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{dimension 'A' is cut into 'T.2' tiles, which is not a name of letters, digits and '_'}}
  spyre.copy %x {hints = [#spyre.tile_hint<0, A = "T.2">]} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @tile_hint_c3(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{the hint for dimension 'A' has the id 9223372036854775807, which is not from 0 to 2147483647}}
  spyre.copy %x {hints = [#spyre.tile_hint<9223372036854775807, A = 2>]} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @work_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{expected an order of cores with each of the 2 dimensions once, found [1, 1]}}
  spyre.copy %x {work = #spyre.work<[4, 1], order = [1, 1]>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @work_hint_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{dimension 'A' must have at least one slice, found 0}}
  spyre.copy %x {work_div = [#spyre.work_hint<0, A = 0>]} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @work_hint_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{the hint for dimension 'A' has the id -1, which is not from 0 to 2147483647}}
  spyre.copy %x {work_div = [#spyre.work_hint<-1, A = 2>]} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// All compute ops
//===----------------------------------------------------------------------===//

func.func @compute_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.copy' op has 2 iteration dimensions, but 'work' has 3 entries}}
  spyre.copy %x {work = #spyre.work<[4, 1, 1]>} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @compute_c1(%a: tensor<128x256xf16>, %b: tensor<256x512xf16>) {
  // expected-error @+1 {{'spyre.matmul' op cannot split dimension 2 of 256 into 512 slices}}
  spyre.matmul(%a, %b) {min_work = #spyre.work<[1, 1, 512]>}
    : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<512x512xf16>
  return
}

// -----

func.func @compute_c2(%a: tensor<128x256xf16>, %b: tensor<256x512xf16>) {
  // expected-error @+1 {{'spyre.matmul' op has 3 iteration dimensions, but 'dims' names 2}}
  spyre.matmul(%a, %b) {dims = ["M", "N"]} : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<128x512xf16>
  return
}

// -----

func.func @compute_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.copy' op expected strings as names of dimensions, found [1]}}
  spyre.copy %x {dims = ["A", [1]]} : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Compute
//===----------------------------------------------------------------------===//

func.func @pointwise_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op 'max' is no elementwise device function}}
  spyre.pointwise max(%x) : tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op 'add' takes 2 operands, found 1}}
  spyre.pointwise add(%x) : tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c3(%x: tensor<4x64xf16>, %row: tensor<64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op operand 1 has rank 1, the result 2}}
  spyre.pointwise add(%x, %row) : (tensor<4x64xf16>, tensor<64xf16>) -> tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c4(%x: tensor<4x64xf16>, %y: tensor<2x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op operand 1 has 2 elements in dimension 0, the result 4}}
  spyre.pointwise add(%x, %y) : (tensor<4x64xf16>, tensor<2x64xf16>) -> tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c5(%x: tensor<4x64xf16>, %y: tensor<4x64xf32>) {
  // expected-error @+1 {{'spyre.pointwise' op operand 1 has elements of 'f32', the result of 'f16'}}
  spyre.pointwise add(%x, %y) : (tensor<4x64xf16>, tensor<4x64xf32>) -> tensor<4x64xf16>
  return
}

// -----

// Only the condition of `where3` may differ.
func.func @pointwise_c5(%c: tensor<4x64xi1>, %x: tensor<4x64xf16>, %y: tensor<4x64xf32>) {
  // expected-error @+1 {{'spyre.pointwise' op operand 2 has elements of 'f32', the result of 'f16'}}
  spyre.pointwise where3(%c, %x, %y) : (tensor<4x64xi1>, tensor<4x64xf16>, tensor<4x64xf32>) -> tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c6(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op 'clip' takes 2 constants, found 1}}
  spyre.pointwise clip(%x) {constants = array<f64: 6.0>} : tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c6(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op 'exp' takes 0 constants, found 1}}
  spyre.pointwise exp(%x) {constants = array<f64: 6.0>} : tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c7(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op 'dl16tofp32' converts f16 or bf16 to f32, found 'f16' and 'f16'}}
  spyre.pointwise dl16tofp32(%x) : tensor<4x64xf16>
  return
}

// -----

func.func @pointwise_c7(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op 'fp32todl16' converts f32 to f16 or bf16, found 'f16' and 'f32'}}
  spyre.pointwise fp32todl16(%x) : (tensor<4x64xf16>) -> tensor<4x64xf32>
  return
}

// -----

func.func @reduce_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.reduce' op 'add' is no reduction of the device}}
  spyre.reduce add(%x) dims [1] : tensor<4x64xf16> -> tensor<4x1xf16>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.reduce' op reduces dimension 2 of a tensor of rank 2}}
  spyre.reduce sum(%x) dims [2] : tensor<4x64xf16> -> tensor<4x1xf16>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.reduce' op reduced dimensions must increase, found 1 before 0}}
  spyre.reduce sum(%x) dims [1, 0] : tensor<4x64xf16> -> tensor<1x1xf16>
  return
}

// -----

func.func @reduce_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.reduce' op reduces no dimension}}
  spyre.reduce sum(%x) dims [] : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

// -----

func.func @reduce_c3(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.reduce' op expected reduced dimensions of size 1 in the result, found 'tensor<4xf16>'}}
  spyre.reduce sum(%x) dims [1] : tensor<4x64xf16> -> tensor<4xf16>
  return
}

// -----

func.func @reduce_c4(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.reduce' op expected a result with elements of 'f16', found 'f32'}}
  spyre.reduce sum(%x) dims [1] : tensor<4x64xf16> -> tensor<4x1xf32>
  return
}

// -----

func.func @reduce_c5(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.reduce' op 'mean' takes 1 constants, found 0}}
  spyre.reduce mean(%x) dims [1] : tensor<4x64xf16> -> tensor<4x1xf16>
  return
}

// -----

func.func @matmul_c1(%a: tensor<128x256xf16>, %b: tensor<4x256x512xf16>) {
  // expected-error @+1 {{'spyre.matmul' op expected tensors of one rank, at least 2, found ranks 2, 3 and 3}}
  spyre.matmul(%a, %b) : (tensor<128x256xf16>, tensor<4x256x512xf16>) -> tensor<4x128x512xf16>
  return
}

// -----

func.func @matmul_c1(%a: tensor<256xf16>) {
  // expected-error @+1 {{'spyre.matmul' op expected tensors of one rank, at least 2, found ranks 1, 1 and 1}}
  spyre.matmul(%a, %a) : (tensor<256xf16>, tensor<256xf16>) -> tensor<1xf16>
  return
}

// -----

func.func @matmul_c2(%a: tensor<4x128x256xf16>, %b: tensor<2x256x512xf16>) {
  // expected-error @+1 {{'spyre.matmul' op batch dimension 0 differs: 4, 2 and 4}}
  spyre.matmul(%a, %b) : (tensor<4x128x256xf16>, tensor<2x256x512xf16>) -> tensor<4x128x512xf16>
  return
}

// -----

func.func @matmul_c3(%a: tensor<128x256xf16>, %b: tensor<512x256xf16>) {
  // expected-error @+1 {{'spyre.matmul' op expected as many columns of the left operand as rows of the right, found 256 and 512}}
  spyre.matmul(%a, %b) : (tensor<128x256xf16>, tensor<512x256xf16>) -> tensor<128x512xf16>
  return
}

// -----

func.func @matmul_c3(%a: tensor<128x256xf16>, %b: tensor<256x512xf16>) {
  // expected-error @+1 {{'spyre.matmul' op computes 128 x 512 elements, but the result has 512 x 128}}
  spyre.matmul(%a, %b) : (tensor<128x256xf16>, tensor<256x512xf16>) -> tensor<512x128xf16>
  return
}

// -----

func.func @matmul_c4(%a: tensor<128x256xf16>, %b: tensor<256x512xf32>) {
  // expected-error @+1 {{'spyre.matmul' op expected tensors of one element type, found 'f16', 'f32' and 'f16'}}
  spyre.matmul(%a, %b) : (tensor<128x256xf16>, tensor<256x512xf32>) -> tensor<128x512xf16>
  return
}

// -----

func.func @gather_c1(%table: tensor<128x256xf16>, %index: tensor<16xi64>) {
  // expected-error @+1 {{'spyre.gather' op expected a dimension of the table, which has rank 2, found dimension 2}}
  spyre.gather(%table, %index) dim 2 : (tensor<128x256xf16>, tensor<16xi64>) -> tensor<16x256xf16>
  return
}

// -----

func.func @gather_c1(%table: tensor<128x256xf16>, %index: tensor<16xi64>) {
  // expected-error @+1 {{'spyre.gather' op expected a dimension of the table, which has rank 2, found dimension -1}}
  spyre.gather(%table, %index) dim -1 : (tensor<128x256xf16>, tensor<16xi64>) -> tensor<16x256xf16>
  return
}

// -----

func.func @gather_c2(%table: tensor<128x256xf16>, %index: tensor<16xi16>) {
  // expected-error @+1 {{'spyre.gather' op expected indices of i32 or i64, found 'i16'}}
  spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<16xi16>) -> tensor<16x256xf16>
  return
}

// -----

func.func @gather_c2(%table: tensor<128x256xf16>, %index: tensor<i64>) {
  // expected-error @+1 {{'spyre.gather' op expected indices of at least one dimension, found 'tensor<i64>'}}
  spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<i64>) -> tensor<256xf16>
  return
}

// -----

func.func @gather_c3(%table: tensor<128x256xf16>, %index: tensor<3x192xi64>) {
  // expected-error @+1 {{'spyre.gather' op expected a result with the dimensions of the index, then the other dimensions of the table, 3x192x256, found 'tensor<576x256xf16>'}}
  spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<3x192xi64>) -> tensor<576x256xf16>
  return
}

// -----

func.func @gather_c3(%table: tensor<128x256xf16>, %index: tensor<16xi64>) {
  // expected-error @+1 {{'spyre.gather' op expected a result with the dimensions of the index, then the other dimensions of the table, 16x128, found 'tensor<16x256xf16>'}}
  spyre.gather(%table, %index) dim 1 : (tensor<128x256xf16>, tensor<16xi64>) -> tensor<16x256xf16>
  return
}

// -----

func.func @gather_c4(%table: tensor<128x256xf16>, %index: tensor<16xi64>) {
  // expected-error @+1 {{'spyre.gather' op expected a result with elements of 'f16', found 'f32'}}
  spyre.gather(%table, %index) dim 0 : (tensor<128x256xf16>, tensor<16xi64>) -> tensor<16x256xf32>
  return
}

// -----

func.func @gather_c5(%table: tensor<128x256xf16>, %index: tensor<16xi64>) {
  // expected-error @+1 {{'spyre.gather' op 'add' is no elementwise device function of one operand and without constants}}
  spyre.gather(%table, %index) dim 0 {function = "add"} : (tensor<128x256xf16>, tensor<16xi64>) -> tensor<16x256xf16>
  return
}

// -----

func.func @gather_c5(%table: tensor<128x256xf16>, %index: tensor<16xi64>) {
  // expected-error @+1 {{'spyre.gather' op 'clip' is no elementwise device function of one operand and without constants}}
  spyre.gather(%table, %index) dim 0 {function = "clip"} : (tensor<128x256xf16>, tensor<16xi64>) -> tensor<16x256xf16>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Data movement and constants
//===----------------------------------------------------------------------===//

func.func @copy_keeps_the_shape(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.copy' op failed to verify that all of {input, output} have same shape}}
  spyre.copy %x : tensor<4x64xf16> -> tensor<64x4xf16>
  return
}

// -----

func.func @copy_c1(%x: tensor<512x256xf16>) {
  // expected-error @+1 {{'spyre.copy' op has 2 dimensions, but 'destination' has slices of 1}}
  spyre.copy %x {destination = #spyre.work<[8]>} : tensor<512x256xf16> -> tensor<512x256xf16>
  return
}

// -----

func.func @copy_c1_cores(%x: tensor<512x256xf16>) {
  // expected-error @+1 {{'spyre.copy' op expected a 'destination' on the 32 cores of 'work', found 8 cores}}
  spyre.copy %x {destination = #spyre.work<[8, 1]>, work = #spyre.work<[32, 1]>} : tensor<512x256xf16> -> tensor<512x256xf16>
  return
}

// -----

#rows = #spyre.layout<[4, 512, 64], [64, 256, 1]>
func.func @restickify_c1(%x: tensor<512x256xf16, #rows>) {
  // expected-error @+1 {{'spyre.restickify' op must change the layout, found #spyre.layout<[4, 512, 64], [64, 256, 1]> on both sides}}
  spyre.restickify %x : tensor<512x256xf16, #rows> -> tensor<512x256xf16, #rows>
  return
}

// -----

func.func @fill_c1() {
  // expected-error @+1 {{'spyre.fill' op fills elements of 'f32' with a value of 'f16'}}
  spyre.fill 0.0 : f16 -> tensor<4x64xf32>
  return
}

// -----

#window = #spyre.layout<[1, 8, 64], [64, 64, 1], of = [8, 64]>
func.func @empty_c1() {
  // expected-error @+1 {{'spyre.empty' op is a whole buffer, but its layout is that of a window of 8, 64}}
  %buffer = spyre.empty : tensor<4x64xf16, #window>
  return
}

// -----

func.func @insert_c1(%part: tensor<64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes a part of rank 1 at 2 offsets into a tensor of rank 2}}
  spyre.insert %part into %buffer at [0, 0] : tensor<64xf16> into tensor<4x64xf16>
  return
}

// -----

func.func @insert_c1(%part: tensor<2x64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes a part of rank 2 at 1 offsets into a tensor of rank 2}}
  spyre.insert %part into %buffer at [0] : tensor<2x64xf16> into tensor<4x64xf16>
  return
}

// -----

func.func @insert_c2(%part: tensor<2x64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes 2 elements from 3 along dimension 0, which has 4}}
  spyre.insert %part into %buffer at [3, 0] : tensor<2x64xf16> into tensor<4x64xf16>
  return
}

// -----

func.func @insert_c2(%part: tensor<2x64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes 64 elements from -1 along dimension 1, which has 64}}
  spyre.insert %part into %buffer at [0, -1] : tensor<2x64xf16> into tensor<4x64xf16>
  return
}

// -----

func.func @insert_c2(%part: tensor<2x64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  // No sum overflows.
  // expected-error @+1 {{'spyre.insert' op writes 2 elements from 9223372036854775807 along dimension 0, which has 4}}
  spyre.insert %part into %buffer at [9223372036854775807, 0] : tensor<2x64xf16> into tensor<4x64xf16>
  return
}

// -----

func.func @insert_c3(%part: tensor<4x64xf32>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.insert' op writes elements of 'f32' into a tensor of 'f16'}}
  spyre.insert %part into %buffer at [0, 0] : tensor<4x64xf32> into tensor<4x64xf16>
  return
}

// -----

func.func @insert_c4(%part: tensor<4x64xf16>, %whole: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.insert' op writes 'tensor<4x64xf16>' in place, which is not a window of 'tensor<8x64xf16>'}}
  %0 = spyre.insert %part into %whole at [0, 0] {in_place} : tensor<4x64xf16> into tensor<8x64xf16>
  return
}

// -----

#part = #spyre.layout<[1, 4, 64], [64, 64, 1]>
#whole = #spyre.layout<[1, 8, 64], [64, 64, 1]>

func.func @insert_c4(%part: tensor<4x64xf16, #part>, %whole: tensor<8x64xf16, #whole>) {
  // expected-error @+1 {{'spyre.insert' op writes 'tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>' in place, which is not a window of}}
  %0 = spyre.insert %part into %whole at [0, 0] {in_place} : tensor<4x64xf16, #part> into tensor<8x64xf16, #whole>
  return
}

// -----

func.func @insert_keeps_the_type(%part: tensor<4x64xf16>) {
  %buffer = spyre.empty : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.insert' op failed to verify that all of {whole, output} have same type}}
  "spyre.insert"(%part, %buffer) {offsets = array<i64: 0, 0>} : (tensor<4x64xf16>, tensor<4x64xf16>) -> tensor<8x64xf16>
  return
}

// -----

func.func @constant_c1() {
  // expected-error @+1 {{'spyre.constant' op expected a result of the shape and element type of 'tensor<1x1xf16>', found 'tensor<1x2xf16>'}}
  spyre.constant dense<1.0> : tensor<1x1xf16> -> tensor<1x2xf16>
  return
}

// -----

func.func @view_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.view' op needs a map from 2 to 2 dimensions without symbols, found affine_map<(d0) -> (d0, 0)>}}
  spyre.view %x by affine_map<(d0) -> (d0, 0)> : tensor<4x64xf16> -> tensor<64x4xf16>
  return
}

// -----

func.func @view_c1(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.view' op needs a map from 1 to 2 dimensions without symbols}}
  spyre.view %x by affine_map<(d0)[s0] -> (d0, s0)> : tensor<4x64xf16> -> tensor<4xf16>
  return
}

// -----

func.func @view_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.view' op reads indices 1 to 4 of dimension 0, which has 4 elements}}
  spyre.view %x by affine_map<(d0, d1) -> (d0 + 1, d1)> : tensor<4x64xf16> -> tensor<4x64xf16>
  return
}

func.func @view_c2_beyond_64_bits(%x: tensor<4x64xf16>) -> tensor<2x64xf16> {
  // expected-error @+1 {{which divides by a number that is not positive, or exceeds 64 bits}}
  %part = spyre.view %x by affine_map<(d0, d1) -> (d0 + 9223372036854775807, d1)> : tensor<4x64xf16> -> tensor<2x64xf16>
  return %part : tensor<2x64xf16>
}

// -----

func.func @view_c2_smallest_index(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'spyre.view' op reads indices -3 to 0 of dimension 0, which has 4 elements}}
  %reversed = spyre.view %x by affine_map<(d0, d1) -> (-d0, d1)> : tensor<4x64xf16> -> tensor<4x64xf16>
  return %reversed : tensor<4x64xf16>
}

// -----

func.func @view_c2_in_the_middle(%x: tensor<4x64xf16>) -> tensor<8x64xf16> {
  // expected-error @+1 {{'spyre.view' op reads indices 0 to 6 of dimension 0, which has 4 elements}}
  %wrapped = spyre.view %x by affine_map<(d0, d1) -> (d0 mod 7, d1)> : tensor<4x64xf16> -> tensor<8x64xf16>
  return %wrapped : tensor<8x64xf16>
}

// -----

func.func @view_c3(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.view' op cannot view elements of 'f16' as 'f128'}}
  spyre.view %x by affine_map<(d0, d1) -> (d0, d1)> : tensor<4x64xf16> -> tensor<4x64xf128>
  return
}

// -----

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

func.func @hint_c1() {
  // expected-error @+1 {{'spyre.hint' op cuts "A" into 0 tiles; a count is positive}}
  spyre.hint tiles(A = 0) {
    spyre.yield
  }
  return
}

// -----

func.func @hint_c1() {
  // expected-error @+1 {{'spyre.hint' op names dimension "A" twice in one scope}}
  spyre.hint tiles(A = 2, A = 4) {
    spyre.yield
  }
  return
}

// -----

func.func @hint_c1() {
  // expected-error @+1 {{'spyre.hint' op requires at least one of 'tiles', 'work_div' or 'recompute'}}
  spyre.hint tiles() {
    spyre.yield
  }
  return
}

// -----

func.func @hint_c4() {
  // expected-error @+1 {{'spyre.hint' op names a dimension twice in 'recompute'}}
  spyre.hint tiles(A = 2) recompute(A, A) {
    spyre.yield
  }
  return
}

// -----

func.func @hint_c1() {
  // expected-error @+1 {{'spyre.hint' op requires at least one of 'tiles', 'work_div' or 'recompute'}}
  spyre.hint recompute() {
    spyre.yield
  }
  return
}

// -----

func.func @again_of_a_number() {
  // expected-error @+1 {{expected valid keyword or string}}
  spyre.hint recompute(2) {
    spyre.yield
  }
  return
}

// -----

func.func @times(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op 'spyre.times' must be a number above 1, found 1}}
  spyre.pointwise exp(%x) {spyre.times = 1 : i64} : tensor<4x64xf16>
  return
}

// -----

func.func @hint_c1() {
  // expected-error @+1 {{expected 'tiles', 'work_div' or 'recompute'}}
  spyre.hint {
    spyre.yield
  }
  return
}

// -----

func.func @hint_c1() {
  // expected-error @+1 {{'spyre.hint' op divides "A" into 0 slices; a number is positive}}
  spyre.hint work_div(A = 0) {
    spyre.yield
  }
  return
}

// -----

// A name may be in both lists, but only once in each.
func.func @hint_c1() {
  // expected-error @+1 {{'spyre.hint' op names dimension "A" twice in one scope}}
  spyre.hint tiles(A = 2) work_div(A = 2, A = 4) {
    spyre.yield
  }
  return
}

// -----

func.func @hint_c1() {
  // expected-error @+1 {{'spyre.hint' op names 1 dimensions and 2 numbers}}
  "spyre.hint"() <{tile_dims = [], tile_counts = [], work_dims = ["A"], work_slices = [2, 4]}> ({
    "spyre.yield"() : () -> ()
  }) : () -> ()
  return
}

// -----

// The pretty form derives the results, so only the generic form can be wrong.
func.func @hint_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.hint' op gives 'tensor<4x64xf32>', but yields 'tensor<4x64xf16>'}}
  "spyre.hint"() <{tile_dims = ["A"], tile_counts = [2]}> ({
    "spyre.yield"(%x) <{operandSegmentSizes = array<i32: 0, 1>, tiled_dims = array<i64>}> : (tensor<4x64xf16>) -> ()
  }) : () -> tensor<4x64xf32>
  return
}

// -----

func.func @hint_c3() {
  // expected-error @+1 {{'spyre.hint' op cuts "A" into "2 T" tiles, which is not a name of letters, digits and '_'}}
  spyre.hint tiles(A = "2 T") {
    spyre.yield
  }
  return
}

// -----

// The two spellings are synonyms, so the order of their lists would be ambiguous.
func.func @hint_spelling() {
  // expected-error @+1 {{expected one list of tiles, found a second one, 'slices'}}
  spyre.hint tiles(A = 2) slices(B = 4) {
    spyre.yield
  }
  return
}

// -----

func.func @hint_spelling() {
  // expected-error @+1 {{expected a number of tiles, or the name of one}}
  spyre.hint tiles(A = [2]) {
    spyre.yield
  }
  return
}

// -----

func.func @loop_c6() {
  // expected-error @+1 {{'spyre.loop' op runs over '' tiles, which is not a name of letters, digits and '_'}}
  spyre.loop 2 "A" attributes {symbol = ""} {
    spyre.yield
  }
  return
}

// -----

func.func @loop_c1() {
  // expected-error @+1 {{'spyre.loop' op expected at least one tile, found 0}}
  spyre.loop 0 "A" {
    spyre.yield
  }
  return
}

// -----

func.func @loop_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{cannot split dimension 0 of 'tensor<4x64xf16>' into 3 tiles}}
  spyre.loop 3 "A" tiled(%x0 = %x[0] : tensor<4x64xf16>) {
    spyre.yield
  }
  return
}

// -----

func.func @loop_c2(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op cannot split dimension 2 of 'tensor<4x64xf16>' into 2 tiles}}
  "spyre.loop"(%x) <{count = 2 : i64, dim = "A", operandSegmentSizes = array<i32: 1, 0>, tiled_dims = array<i64: 2>}> ({
  ^bb0(%x0: tensor<2x64xf16>):
    "spyre.yield"() <{operandSegmentSizes = array<i32: 0, 0>, tiled_dims = array<i64>}> : () -> ()
  }) : (tensor<4x64xf16>) -> ()
  return
}

// -----

func.func @loop_c3(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op expected tile 0 of 'tensor<4x64xf16>' as 'tensor<2x64xf16>', found 'tensor<4x64xf16>'}}
  "spyre.loop"(%x) <{count = 2 : i64, dim = "A", operandSegmentSizes = array<i32: 1, 0>, tiled_dims = array<i64: 0>}> ({
  ^bb0(%x0: tensor<4x64xf16>):
    "spyre.yield"() <{operandSegmentSizes = array<i32: 0, 0>, tiled_dims = array<i64>}> : () -> ()
  }) : (tensor<4x64xf16>) -> ()
  return
}

// -----

// A tile of a buffer with a layout is a window of that buffer.
#rows = #spyre.layout<[1, 4, 64], [64, 64, 1]>
func.func @loop_c3(%x: tensor<4x64xf16, #rows>) {
  // expected-error @+1 {{as 'tensor<2x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1], of = [4, 64]>>', found 'tensor<2x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>'}}
  "spyre.loop"(%x) <{count = 2 : i64, dim = "A", operandSegmentSizes = array<i32: 1, 0>, tiled_dims = array<i64: 0>}> ({
  ^bb0(%x0: tensor<2x64xf16, #rows>):
    "spyre.yield"() <{operandSegmentSizes = array<i32: 0, 0>, tiled_dims = array<i64>}> : () -> ()
  }) : (tensor<4x64xf16, #rows>) -> ()
  return
}

// -----

func.func @loop_c4(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op expected result 0 of 2 tiles of 'tensor<2x64xf16>' along dimension 1, found 'tensor<4x64xf16>'}}
  spyre.loop 2 "A" tiled(%x0 = %x[0] : tensor<4x64xf16>) {
    spyre.yield %x0[1] : tensor<2x64xf16>
  } : tensor<4x64xf16>
  return
}

// -----

func.func @loop_c4(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op cannot concatenate tiles to result 0 along dimension 2 of 'tensor<2x64xf16>'}}
  spyre.loop 2 "A" tiled(%x0 = %x[0] : tensor<4x64xf16>) {
    spyre.yield %x0[2] : tensor<2x64xf16>
  } : tensor<4x64xf16>
  return
}

// -----

func.func @loop_yields_its_results(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op has 1 results, but yields 0 values}}
  spyre.loop 2 "A" tiled(%x0 = %x[0] : tensor<4x64xf16>) {
    spyre.yield
  } : tensor<4x64xf16>
  return
}

// -----

func.func @loop_c5(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op carries 0 operands, but yields 1 values for the next iteration}}
  spyre.loop 2 "A" tiled(%x0 = %x[0] : tensor<4x64xf16>) {
    spyre.yield %x0 : tensor<2x64xf16>
  } : tensor<4x64xf16>
  return
}

// -----

func.func @loop_c5(%x: tensor<4x64xf16>) {
  %y = spyre.pointwise exp(%x) : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.loop' op carries 1 operands, but yields 0 values for the next iteration}}
  spyre.loop 2 "A" carried(%y0 = %y : tensor<4x64xf16>) {
    spyre.yield
  }
  return
}

// -----

func.func @loop_c5(%x: tensor<4x64xf16>) {
  %y = spyre.pointwise exp(%x) : tensor<4x64xf16>
  // expected-error @+1 {{'spyre.loop' op carries 'tensor<4x64xf16>', but yields 'tensor<4x1xf16>' and gives 'tensor<4x64xf16>'}}
  spyre.loop 2 "A" carried(%y0 = %y : tensor<4x64xf16>) {
    %z = spyre.reduce sum(%y0) dims [1] : tensor<4x64xf16> -> tensor<4x1xf16>
    spyre.yield %z : tensor<4x1xf16>
  } : tensor<4x64xf16>
  return
}

// -----

func.func @loop_c5(%x: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op carries 'tensor<4x64xf16>', but operand 0 is 'tensor<4x32xf16>' inside}}
  "spyre.loop"(%x) <{count = 2 : i64, dim = "A", operandSegmentSizes = array<i32: 0, 1>, tiled_dims = array<i64>}> ({
  ^bb0(%x0: tensor<4x32xf16>):
    "spyre.yield"(%x) <{operandSegmentSizes = array<i32: 0, 1>, tiled_dims = array<i64>}> : (tensor<4x64xf16>) -> ()
  }) : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return
}

// -----

func.func @loop_c5(%x: tensor<4x64xf16>, %y: tensor<4x64xf16>) {
  // expected-error @+1 {{'spyre.loop' op expected a dimension for each tiled operand and a block argument for each operand, found 1 tiled operands, 2 operands in all, 2 dimensions and 2 block arguments}}
  "spyre.loop"(%x, %y) <{count = 2 : i64, dim = "A", operandSegmentSizes = array<i32: 1, 1>, tiled_dims = array<i64: 0, 0>}> ({
  ^bb0(%x0: tensor<2x64xf16>, %y0: tensor<4x64xf16>):
    "spyre.yield"() <{operandSegmentSizes = array<i32: 0, 0>, tiled_dims = array<i64>}> : () -> ()
  }) : (tensor<4x64xf16>, tensor<4x64xf16>) -> ()
  return
}

// -----

func.func @yield_c1(%x: tensor<4x64xf16>) {
  spyre.loop 2 "A" tiled(%x0 = %x[0] : tensor<4x64xf16>) {
    // expected-error @+1 {{'spyre.yield' op names 0 dimensions for 1 tiles}}
    "spyre.yield"(%x0) <{operandSegmentSizes = array<i32: 1, 0>, tiled_dims = array<i64>}> : (tensor<2x64xf16>) -> ()
  } : tensor<4x64xf16>
  return
}

// -----

// The operand segments of a yield are verified before they are used.
func.func @yield_lists(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  %y = "spyre.loop"(%x) <{count = 2 : i64, dim = "A", operandSegmentSizes = array<i32: 1, 0>, tiled_dims = array<i64: 0>}> ({
  ^bb0(%x0: tensor<2x64xf16>):
    // expected-error @+1 {{'spyre.yield' op operand count (1) does not match with the total size (3) specified in attribute 'operandSegmentSizes'}}
    "spyre.yield"(%x0) <{operandSegmentSizes = array<i32: 3, 0>, tiled_dims = array<i64: 0, 0, 0>}> : (tensor<2x64xf16>) -> ()
  }) : (tensor<4x64xf16>) -> tensor<4x64xf16>
  return %y : tensor<4x64xf16>
}

// -----

func.func @tiles_come_first(%x: tensor<4x64xf16>, %y: tensor<2x64xf16>) {
  %sum, %all = spyre.loop 2 "A" tiled(%x0 = %x[0] : tensor<4x64xf16>) carried(%before = %y : tensor<2x64xf16>) {
    // expected-error @+1 {{expected tiles before carried values, found a tile after a carried value}}
    spyre.yield %before, %x0[0] : tensor<2x64xf16>, tensor<2x64xf16>
  } : tensor<2x64xf16>, tensor<4x64xf16>
  return
}

// -----

func.func @yield_c2(%x: tensor<4x64xf16>) {
  spyre.hint tiles(A = 2) {
    // expected-error @+1 {{'spyre.yield' op concatenates values in a hint scope, which runs once}}
    spyre.yield %x[0] : tensor<4x64xf16>
  }
  return
}

// -----

//===----------------------------------------------------------------------===//
// Attributes of the dialect on other ops
//===----------------------------------------------------------------------===//

// expected-error @+1 {{'func.func' op argument 0: "A*B" cannot be a name: '*' joins the names of a dimension}}
func.func private @names_are_not_joined(tensor<4x64xf16> {spyre.dims = ["A*B", "C"]})

// -----

// expected-error @+1 {{'func.func' op 'spyre.dim_sizes' must be a dictionary of sizes, found 64 : i64}}
func.func private @sizes_are_a_dictionary(tensor<4x64xf16>) attributes {spyre.dim_sizes = 64}

// -----

// expected-error @+1 {{'func.func' op 'spyre.dim_sizes' must give 'A' a positive number of type i64, found 0 : i64}}
func.func private @sizes_are_positive(tensor<4x64xf16>) attributes {spyre.dim_sizes = {A = 0}}

// -----

// expected-error @+1 {{'func.func' op 'spyre.dim_sizes' must give 'A' a positive number of type i64, found 4 : i32}}
func.func private @sizes_are_i64(tensor<4x64xf16>) attributes {spyre.dim_sizes = {A = 4 : i32}}

// -----

// expected-error @+1 {{'builtin.module' op has an unsupported attribute 'spyre.dim_sizes'}}
module attributes {spyre.dim_sizes = {A = 4}} {
}

// -----

// expected-error @+1 {{'func.func' op 'spyre.symbols' must be a dictionary of maxima, found 8 : i64}}
func.func private @maxima_are_a_dictionary(tensor<4x64xf16>) attributes {spyre.symbols = 8}

// -----

// expected-error @+1 {{'func.func' op 'spyre.symbols' must give 'T' a positive number of type i64, found 0 : i64}}
func.func private @maxima_are_positive(tensor<4x64xf16>) attributes {spyre.symbols = {T = 0}}

// -----

// expected-error @+1 {{'func.func' op 'spyre.symbols' must give 'T' a positive number of type i64, found "8"}}
func.func private @maxima_are_numbers(tensor<4x64xf16>) attributes {spyre.symbols = {T = "8"}}

// -----

// expected-error @+1 {{'builtin.module' op has an unsupported attribute 'spyre.symbols'}}
module attributes {spyre.symbols = {T = 8}} {
}

// -----

// expected-error @+1 {{'func.func' op argument 0: 'spyre.dims' must be an array of strings, found 1 : i64}}
func.func private @dims_are_strings(tensor<4x64xf16> {spyre.dims = 1})

// -----

// expected-error @+1 {{'func.func' op argument 0 has an unsupported attribute 'spyre.names'}}
func.func private @unknown_argument_attribute(tensor<4x64xf16> {spyre.names = ["A", "B"]})

// -----

// expected-error @+1 {{'func.func' op has an unsupported attribute 'spyre.unknown'}}
func.func private @unknown_attribute() attributes {spyre.unknown = 1}

// -----

func.func @only_copies_are_made_for_loops(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'spyre.pointwise' op has an unsupported attribute 'spyre.for_loop'}}
  %exp = spyre.pointwise exp(%x) {spyre.for_loop = "used inside and outside of the loop"} : tensor<4x64xf16>
  return %exp : tensor<4x64xf16>
}

// -----

func.func @a_copy_for_a_loop_says_why(%x: tensor<4x64xf16>) -> tensor<4x64xf16> {
  // expected-error @+1 {{'spyre.copy' op has an unsupported attribute 'spyre.for_loop'}}
  %copy = spyre.copy %x {spyre.for_loop} : tensor<4x64xf16> -> tensor<4x64xf16>
  return %copy : tensor<4x64xf16>
}

// -----

// expected-error @+1 {{'builtin.module' op has an unsupported attribute 'spyre.target'}}
module attributes {spyre.target = 32} {
}

// -----

// expected-error @+1 {{'func.func' op argument 0: 'spyre.range' must be two numbers, the first below the second, found array<i64: 4, 4>}}
func.func @empty_range(%x: tensor<4xi64> {spyre.range = array<i64: 4, 4>}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op argument 0: 'spyre.range' requires a tensor of integers}}
func.func @range_of_numbers(%x: tensor<4xf16> {spyre.range = array<i64: 0, 4>}) {
  return
}

// -----

// An attribute of another kind than the op declares is an error, and not dropped.
func.func @decisions_of_another_kind(%x: tensor<8x256xf16>) {
  // expected-error @+1 {{'spyre.pointwise' op attribute 'work_div' failed to satisfy constraint}}
  spyre.pointwise exp(%x) {work_div = {A = 4 : i64}} : tensor<8x256xf16>
  return
}

// -----

func.func @decisions_of_another_kind(%x: tensor<8x256xf16>) {
  // expected-error @+1 {{'spyre.reduce' op attribute 'constants' failed to satisfy constraint}}
  spyre.reduce sum(%x) dims [1] {constants = 4} : tensor<8x256xf16> -> tensor<8x1xf16>
  return
}

// -----

// expected-error @+1 {{'func.func' op argument 0: 'spyre.shape' must have as many elements as 'tensor<6x70xf16>'}}
func.func @another_shape(%x: tensor<6x70xf16> {spyre.shape = array<i64: 2, 2, 70>}) {
  return
}

// -----

// An argument that is empty for the caller has one element.
// expected-error @+1 {{'func.func' op argument 0: 'spyre.shape' must have as many elements as 'tensor<6x70xf16>'}}
func.func @nothing_of_many(%x: tensor<6x70xf16> {spyre.shape = array<i64: 4, 0, 70>}) {
  return
}

// -----

// expected-error @+1 {{'func.func' op result 0: 'spyre.shape' must be numbers that are not negative, found array<i64: -6, -70>}}
func.func @no_sizes(%x: tensor<6x70xf16>) -> (tensor<6x70xf16> {spyre.shape = array<i64: -6, -70>}) {
  return %x : tensor<6x70xf16>
}

// -----

// expected-error @+1 {{'func.func' op result 0 has an unsupported attribute 'spyre.range'}}
func.func @no_attribute_of_results(%x: tensor<6x70xf16>) -> (tensor<6x70xf16> {spyre.range = array<i64: 0, 2>}) {
  return %x : tensor<6x70xf16>
}

// -----

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

// expected-error @+1 {{expected a knob name of letters, digits and '_', found '2T'}}
func.func @knob_c1() attributes {spyre.knobs = [#spyre.knob<"2T" = 1 in [1]>]} {
  return
}

// -----

// expected-error @+1 {{expected positive values of knob 'T', found 0, 1}}
func.func @knob_c2() attributes {spyre.knobs = [#spyre.knob<T = 1 in [0, 1]>]} {
  return
}

// -----

// expected-error @+1 {{expected positive values of knob 'T', found 4, 2}}
func.func @knob_c2() attributes {spyre.knobs = [#spyre.knob<T = 4 in 4 to 2>]} {
  return
}

// -----

// expected-error @+1 {{expected increasing values of knob 'T', found 1, 4, 2}}
func.func @knob_c2() attributes {spyre.knobs = [#spyre.knob<T = 1 in [1, 4, 2]>]} {
  return
}

// -----

// expected-error @+1 {{knob 'T' has more than 4096 values}}
func.func @knob_c2() attributes {spyre.knobs = [#spyre.knob<T = 1 in 1 to 4097>]} {
  return
}

// -----

// expected-error @+1 {{knob 'T' is 3, which is none of its values}}
func.func @knob_c3() attributes {spyre.knobs = [#spyre.knob<T = 3 in pow2 1 to 8>]} {
  return
}

// -----

// expected-error @+1 {{knob 'T' has the condition "T * <= 8", which has no number and no name before '<= 8'}}
func.func @knob_c4() attributes {spyre.knobs = [#spyre.knob<T = 1 in [1], where "T * <= 8">]} {
  return
}

// -----

// expected-error @+1 {{knob 'T' has the condition "T + 1", which has no comparison before ''}}
func.func @knob_c4() attributes {spyre.knobs = [#spyre.knob<T = 1 in [1], where "T + 1">]} {
  return
}

// -----

// expected-error @+1 {{knob 'T' has the condition "(T < 2", which has no ')' before '< 2'}}
func.func @knob_c4() attributes {spyre.knobs = [#spyre.knob<T = 1 in [1], where "(T < 2">]} {
  return
}

// -----

// expected-error @+1 {{knob 'T' has the condition "T < 2 T", which ends with the unexpected text 'T'}}
func.func @knob_c4() attributes {spyre.knobs = [#spyre.knob<T = 1 in [1], where "T < 2 T">]} {
  return
}

// -----

// expected-error @+1 {{'func.func' op 'spyre.knobs' must be an array of knobs, found [1]}}
func.func @knobs_of_a_function() attributes {spyre.knobs = [1]} {
  return
}

// -----

func.func @kernel_c1(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op takes 'tensor<8x64xf16>', but its body takes 'tensor<64x8xf16>'}}
  %y = "spyre.kernel"(%x) <{name = "k"}> ({
  ^bb0(%in: tensor<64x8xf16>):
    "spyre.yield"(%in) <{operandSegmentSizes = array<i32: 0, 1>, tiled_dims = array<i64>}> : (tensor<64x8xf16>) -> ()
  }) : (tensor<8x64xf16>) -> tensor<64x8xf16>
  return
}

// -----

func.func @kernel_c2(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op gives 'tensor<64x8xf16>', but yields 'tensor<8x64xf16>'}}
  %y = "spyre.kernel"(%x) <{name = "k"}> ({
  ^bb0(%in: tensor<8x64xf16>):
    "spyre.yield"(%in) <{operandSegmentSizes = array<i32: 0, 1>, tiled_dims = array<i64>}> : (tensor<8x64xf16>) -> ()
  }) : (tensor<8x64xf16>) -> tensor<64x8xf16>
  return
}

// -----

func.func @kernel_c3(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op has two knobs 'T'}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) knobs([#spyre.knob<T = 1 in [1, 2]>, #spyre.knob<T = 2 in [1, 2]>]) {
    spyre.yield %in : tensor<8x64xf16>
  }
  return
}

// -----

func.func @kernel_c4(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op has the condition "T < U", which names 'U', which is no knob of the kernel}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) knobs([#spyre.knob<T = 1 in [1, 2], where "T < U">]) {
    spyre.yield %in : tensor<8x64xf16>
  }
  return
}

// -----

func.func @kernel_c4(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op breaks the condition "T * U <= 4 && U % 2 == 0" with T = 4, U = 2}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) knobs([#spyre.knob<T = 4 in [1, 2, 4]>, #spyre.knob<U = 2 in [1, 2], where "T * U <= 4 && U % 2 == 0">]) {
    spyre.yield %in : tensor<8x64xf16>
  }
  return
}

// -----

func.func @kernel_c4(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op has the condition "8 / (T - 1) > 0", which divides by 0, which is not positive}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) knobs([#spyre.knob<T = 1 in [1, 2], where "8 / (T - 1) > 0">]) {
    spyre.yield %in : tensor<8x64xf16>
  }
  return
}

// -----

func.func @kernel_c5(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op expected names for the dimensions of 1 inputs, found 2 lists}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) {
    spyre.yield %in : tensor<8x64xf16>
  } {input_dims = [[], []]}
  return
}

// -----

func.func @kernel_c5(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op expected a list of names for input 0, found "rows"}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) {
    spyre.yield %in : tensor<8x64xf16>
  } {input_dims = ["rows"]}
  return
}

// -----

func.func @kernel_c5(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op names 1 dimensions of input 0, which is 'tensor<8x64xf16>'}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) {
    spyre.yield %in : tensor<8x64xf16>
  } {input_dims = [["rows"]]}
  return
}

// -----

func.func @kernel_c5(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op names a dimension of input 0 "A*B": '*' joins the names of a dimension}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) {
    spyre.yield %in : tensor<8x64xf16>
  } {input_dims = [["A*B", ""]]}
  return
}

// -----

func.func @kernel_c5(%x: tensor<8x64xf16>) {
  // expected-error @+1 {{'spyre.kernel' op expected one size of dimension "A", found 8 and 64}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) {
    spyre.yield %in : tensor<8x64xf16>
  } {input_dims = [["A", "A"]]}
  return
}

// -----

func.func @kernel_c6(%x: tensor<8x64xf16>) {
  %y = spyre.kernel "outer"(%in = %x : tensor<8x64xf16>) {
    // expected-error @+1 {{'spyre.kernel' op is inside of kernel 'outer'; kernels cannot be nested}}
    %z = spyre.kernel "inner"(%again = %in : tensor<8x64xf16>) {
      spyre.yield %again : tensor<8x64xf16>
    }
    spyre.yield %z : tensor<8x64xf16>
  }
  return
}

// -----

func.func @yield_c2(%x: tensor<8x64xf16>) {
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) {
    // expected-error @+1 {{'spyre.yield' op concatenates values in a kernel, which runs once}}
    spyre.yield %in[0] : tensor<8x64xf16>
  }
  return
}

// -----

// A kernel sees its inputs, and nothing else.
func.func @kernel_is_isolated(%x: tensor<8x64xf16>) {
  // expected-note @+1 {{required by region isolation constraints}}
  %y = spyre.kernel "k"(%in = %x : tensor<8x64xf16>) {
    // expected-error @+1 {{'spyre.pointwise' op using value defined outside the region}}
    %z = spyre.pointwise exp(%x) : tensor<8x64xf16>
    spyre.yield %z : tensor<8x64xf16>
  }
  return
}
