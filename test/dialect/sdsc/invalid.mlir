// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// A bundle or buffer is named after the rule that it breaks.

sdsc.bundle @dim_c1() {
  // expected-error @+1 {{dimension "c0" needs positive numbers, found range 512, split 0, granularity 1, divisor 0}}
  sdsc.op "exp" dims [#sdsc.dim<name = "c0", range = 512, split = 0>] ins [] outs []
}

// -----

sdsc.bundle @dim_c1() {
  // expected-error @+1 {{dimension "c0" needs positive numbers, found range 512, split 1, granularity -64, divisor 0}}
  sdsc.op "exp" dims [#sdsc.dim<name = "c0", range = 512, symbol = "s0", granularity = -64>] ins [] outs []
}

// -----

// expected-error @+1 {{expected an owner with a dimension, at least 2 slices and a positive divisor, found 0, 1 and 1}}
#owner_c1 = #sdsc.owner<dim = 0, slices = 1, divisor = 1>

// -----

// expected-error @+1 {{expected a 64-bit float for constant "beta", found 1.000000e+00 : f32}}
#constant_c1 = #sdsc.constant<name = "beta", value = 1.0 : f32>

// -----

// expected-error @+1 {{expected 4 or 5 numbers for a window axis, found 3}}
#window_c1 = #sdsc.window<height = [3, 1, 0, 1], width = [3, 1, 0]>

// -----

// expected-error @+2 {{unknown device format "FP16"}}
// expected-error @+1 {{failed to parse Sdsc_TensorAttr parameter 'format'}}
#tensor_c1 = #sdsc.tensor<format = "FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "lx">

// -----

// expected-error @+2 {{a tensor is in 'hbm', 'pool' or 'lx', found "ddr"}}
// expected-error @+1 {{failed to parse Sdsc_TensorAttr parameter 'memory'}}
#tensor_c1 = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "ddr">

// -----

// expected-error @+2 {{unknown arrangement "interleaved"}}
// expected-error @+1 {{failed to parse Sdsc_TensorAttr parameter 'arrangement'}}
#tensor_c1 = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "lx", arrangement = "interleaved">

// -----

// expected-error @+1 {{a tensor in "hbm" needs an argument, found argument -1}}
#tensor_c2 = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "hbm">

// -----

// expected-error @+1 {{a tensor in "lx" has no argument, found argument 1}}
#tensor_c2 = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "lx", argument = 1>

// -----

// expected-error @+1 {{expected coordinates for 3 device dimensions and 0 index tensors, found affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>}}
#tensor_c3 = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 1, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "lx">

// -----

// expected-error @+1 {{expected coordinates for 2 device dimensions and 1 index tensors, found affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>}}
#tensor_c3 = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "lx", index_tensors = ["rows"]>

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected 'input', 'constant', 'temporary' or 'output', found 'weight'}}
  sdsc.buffer @buffer_c1 weight 0 : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op needs a tensor with a device layout, found 'tensor<4x64xf16>'}}
  sdsc.buffer @buffer_c2 input 0 : tensor<4x64xf16>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op is 'input' and has a value: only a constant has one}}
  sdsc.buffer @buffer_c3 input 0 = dense<1.0> : tensor<4x64xf16> : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected a value of the shape and element type of 'tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>', found 'tensor<4x32xf16>'}}
  sdsc.buffer @buffer_c3 constant 0 = dense<1.0> : tensor<4x32xf16> : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op has an 'index_range', which is for inputs, not for 'output'}}
  sdsc.buffer @buffer_c4 output 0 {index_range = array<i64: 0, 8>} : tensor<4x64xi64, #spyre.layout<[2, 4, 32], [32, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected an 'index_range' of two numbers, the first below the second, found [0, 8, 9]}}
  sdsc.buffer @buffer_c4 input 0 {index_range = array<i64: 0, 8, 9>} : tensor<4x64xi64, #spyre.layout<[2, 4, 32], [32, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected an 'index_range' of two numbers, the first below the second, found [8, 8]}}
  sdsc.buffer @buffer_c4 input 0 {index_range = array<i64: 8, 8>} : tensor<4x64xi64, #spyre.layout<[2, 4, 32], [32, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected a 'digit_base' above 1, on an output of integers whose first dimension has two digits}}
  sdsc.buffer @buffer_c8 output 0 {digit_base = 1024 : i64} : tensor<4x64xi64, #spyre.layout<[2, 4, 32], [32, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op has an 'offset' or a 'life', which are for temporaries, not for 'output'}}
  sdsc.buffer @buffer_c5 output 0 {life = array<i64: 0, 1>, offset = 0 : i64} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op has an 'offset' or a 'life' without the other}}
  sdsc.buffer @buffer_c5 temporary 0 {offset = 0 : i64} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected an 'offset' that is a multiple of 128 and not negative, found 64}}
  sdsc.buffer @buffer_c6 temporary 0 {life = array<i64: 0, 1>, offset = 64 : i64} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected an 'offset' that is a multiple of 128 and not negative, found -128}}
  sdsc.buffer @buffer_c6 temporary 0 {life = array<i64: 0, 1>, offset = -128 : i64} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected a 'life' of two numbers from 0, the first not above the second, found [2, 1]}}
  sdsc.buffer @buffer_c6 temporary 0 {life = array<i64: 2, 1>, offset = 0 : i64} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

#c0 = #sdsc.dim<name = "c0", range = 512>
#argument_1 = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "hbm", argument = 1>
sdsc.bundle @bundle_c1(@only) {
  // expected-error @+1 {{'sdsc.op' op uses kernel argument 1 of a bundle with 1 buffers}}
  sdsc.op "exp" dims [#c0] ins [#argument_1] outs [#argument_1]
}

// -----

#c0 = #sdsc.dim<name = "c0", range = 512>
#moves = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>, memory = "hbm", argument = 0, advance = [64, 512]>
sdsc.bundle @bundle_c2() {
  sdsc.loop 2 {
    // expected-error @+1 {{'sdsc.op' op is in 1 loops, but a tensor has 2 advances}}
    sdsc.op "exp" dims [#c0] ins [] outs [#moves]
  }
}

// -----

sdsc.bundle @loop_c2() {
  // expected-error @+1 {{'sdsc.loop' op expected all of 'symbol', 'dim', 'tile' and 'granularity' for a dimension of symbolic size, or none, found 's0' and 'M'}}
  sdsc.loop 8 attributes {dim = "M", symbol = "s0"} {
  }
}

// -----

sdsc.bundle @loop_c2() {
  // expected-error @+1 {{'sdsc.loop' op expected all of 'symbol', 'dim', 'tile' and 'granularity' for a dimension of symbolic size, or none, found '' and 'M'}}
  sdsc.loop 8 attributes {dim = "M", granularity = 64 : i64, symbol = "", tile = 64 : i64} {
  }
}

// -----

sdsc.bundle @loop_c3() {
  // expected-error @+1 {{'sdsc.loop' op expected tiles that divide the multiple 64 of 's0', found tiles of 48}}
  sdsc.loop 8 attributes {dim = "M", granularity = 64 : i64, symbol = "s0", tile = 48 : i64} {
  }
}

// -----

sdsc.program @program_c2 attributes {sizes = {s0 = array<i64: 512, 64>}} {
  sdsc.bundle @bundle_0() {
    sdsc.loop 2 {
      // expected-error @+1 {{'sdsc.loop' op has the symbolic size 's1', which the program does not declare}}
      sdsc.loop 8 attributes {dim = "M", granularity = 64 : i64, symbol = "s1", tile = 64 : i64} {
      }
    }
  }
}

// -----

sdsc.program @program_c2 attributes {sizes = {s0 = array<i64: 512, 64>}} {
  sdsc.bundle @bundle_0() {
    // expected-error @+1 {{'sdsc.loop' op has the symbolic size 's0' of at most 256, but the program declares at most 512, in steps of 64}}
    sdsc.loop 4 attributes {dim = "M", granularity = 64 : i64, symbol = "s0", tile = 64 : i64} {
    }
  }
}

// -----

sdsc.bundle @loop_c1() {
  // expected-error @+1 {{'sdsc.loop' op expected a count of at least 1, found 0}}
  sdsc.loop 0 {
  }
}

// -----

sdsc.bundle @op_c1() {
  // expected-error @+1 {{'sdsc.op' op expected one output and at most 7 dimensions, found 0 and 1}}
  sdsc.op "exp" dims [#sdsc.dim<name = "c0", range = 512>] ins [] outs []
}

// -----

#d = #sdsc.dim<name = "c0", range = 2>
#out = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1)>, memory = "lx">
sdsc.bundle @op_c1() {
  // expected-error @+1 {{'sdsc.op' op expected one output and at most 7 dimensions, found 1 and 8}}
  sdsc.op "exp" dims [#d, #d, #d, #d, #d, #d, #d, #d] ins [] outs [#out]
}

// -----

#out = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0, d1) -> (d0, d1)>, memory = "lx">
sdsc.bundle @op_c2() {
  // expected-error @+1 {{'sdsc.op' op has 1 dimensions, but a tensor has coordinates affine_map<(d0, d1) -> (d0, d1)>}}
  sdsc.op "exp" dims [#sdsc.dim<name = "c0", range = 8>] ins [] outs [#out]
}

// -----

#out = #sdsc.tensor<format = "SEN169_FP16", device_size = [8, 64], coordinates = affine_map<(d0, d1) -> (d0, d1)>, memory = "lx">
sdsc.bundle @op_c3() {
  // expected-error @+1 {{'sdsc.op' op cannot split dimension "c0" of 8 into 32 slices}}
  sdsc.op "exp" dims [#sdsc.dim<name = "c0", range = 8, split = 32>, #sdsc.dim<name = "c1", range = 64>] ins [] outs [#out]
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op has 'symbolic' sizes, which are for inputs and outputs, not for 'temporary'}}
  sdsc.buffer @buffer_c7 temporary 0 {symbolic = ["s", ""]} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @main {
  // expected-error @+1 {{'sdsc.buffer' op expected 'symbolic' with a name or an empty string for each dimension of}}
  sdsc.buffer @buffer_c7 input 0 {symbolic = ["s"]} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

// expected-error @+1 {{'sdsc.program' op 'sizes' must give 's' a maximum and a divisor of it, found array<i64: 4, 3>}}
sdsc.program @program_c1 attributes {sizes = {s = array<i64: 4, 3>}} {
}

// -----

sdsc.program @program_c2 {
  // expected-error @+1 {{'sdsc.buffer' op has the symbolic size 's', which the program does not declare}}
  sdsc.buffer @arg0 input 0 {symbolic = ["s", ""]} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

sdsc.program @program_c2 attributes {sizes = {s = array<i64: 8, 2>}} {
  // expected-error @+1 {{'sdsc.buffer' op has the symbolic size 's' of at most 4, but the program declares at most 8, in steps of 2}}
  sdsc.buffer @arg0 input 0 {symbolic = ["s", ""]} : tensor<4x64xf16, #spyre.layout<[1, 4, 64], [64, 64, 1]>>
}

// -----

#c0 = #sdsc.dim<name = "c0", range = 8>
#c1 = #sdsc.dim<name = "c1", range = 128>
#half = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#single = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
#x = #sdsc.tensor<format = "SEN169_FP16", device_size = [2, 8, 64], coordinates = #half, memory = "lx">
#standard = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx">
#wide = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx", arrangement = "DL16_TO_FP32">
sdsc.bundle @op_c4() {
  sdsc.op "dl16tofp32" dims [#c0, #c1] ins [#x] outs [#wide]
  sdsc.op "exp" dims [#c0, #c1] ins [#wide] outs [#wide]
  // expected-error @+1 {{'sdsc.op' op expected operands of one arrangement, found STANDARD and DL16_TO_FP32}}
  sdsc.op "add" dims [#c0, #c1] ins [#wide, #standard] outs [#wide]
}

// -----

#c0 = #sdsc.dim<name = "c0", range = 8>
#c1 = #sdsc.dim<name = "c1", range = 128>
#single = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
#wide = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx", arrangement = "DL16_TO_FP32">
#other = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx", arrangement = "FP32_TO_DL16">
sdsc.bundle @op_c4() {
  // expected-error @+1 {{'sdsc.op' op expected operands of one arrangement, found DL16_TO_FP32 and FP32_TO_DL16}}
  sdsc.op "add" dims [#c0, #c1] ins [#wide, #other] outs [#wide]
}

// -----

#c0 = #sdsc.dim<name = "c0", range = 8>
#c1 = #sdsc.dim<name = "c1", range = 128>
#single = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
#wide = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx", arrangement = "DL16_TO_FP32">
#standard = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx">
sdsc.bundle @op_c4() {
  // expected-error @+1 {{'sdsc.op' op expected a result of arrangement DL16_TO_FP32, found STANDARD}}
  sdsc.op "exp" dims [#c0, #c1] ins [#wide] outs [#standard]
}

// -----

#c0 = #sdsc.dim<name = "c0", range = 8>
#c1 = #sdsc.dim<name = "c1", range = 128>
#half = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#single = affine_map<(d0, d1) -> (d1 floordiv 32, d0, d1 mod 32)>
#narrow = #sdsc.tensor<format = "SEN169_FP16", device_size = [2, 8, 64], coordinates = #half, memory = "lx", arrangement = "FP32_TO_DL16">
#other = #sdsc.tensor<format = "IEEE_FP32", device_size = [4, 8, 32], coordinates = #single, memory = "lx", arrangement = "FP32_TO_DL16">
sdsc.bundle @op_c4() {
  // expected-error @+1 {{'sdsc.op' op cannot convert elements of arrangement FP32_TO_DL16}}
  sdsc.op "fp32todl16" dims [#c0, #c1] ins [#other] outs [#narrow]
}
