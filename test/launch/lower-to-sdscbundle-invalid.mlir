// RUN: spyre-opt --spyre-lower-to-sdscbundle --split-input-file --verify-diagnostics %s
// RUN: not spyre-opt --spyre-lower-to-sdscbundle=loops=fuse --split-input-file %s 2>&1 | FileCheck %s --check-prefix=LOOPS
// RUN: not spyre-opt --spyre-lower-to-sdscbundle=addresses=real --split-input-file %s 2>&1 | FileCheck %s --check-prefix=ADDRESSES
// LOOPS: error{{.*}}'builtin.module' op option 'loops': expected 'keep' or 'unroll', found 'fuse'
// ADDRESSES: error{{.*}}'builtin.module' op option 'addresses': expected 'symbolic' or 'baked', found 'real'

#at = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>
#c0 = #sdsc.dim<name = "c0", range = 128>
// expected-error @+1 {{'sdsc.bundle' op op 0 ('exp'):}}
sdsc.bundle @lx_tensors_do_not_move() {
  sdsc.loop 3 {
    sdsc.op "exp" dims [#c0]
      ins [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = #at, memory = "lx", advance = [128]>]
      outs [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = #at, memory = "hbm", argument = 0>]
  }
}

// -----

#at = affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)>
#c0 = #sdsc.dim<name = "c0", range = 128>
// expected-error @+1 {{'sdsc.bundle' op}}
sdsc.bundle @a_pool_has_a_size() {
  sdsc.op "exp" dims [#c0]
    ins [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = #at, memory = "pool">]
    outs [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = #at, memory = "hbm", argument = 0>]
}

// -----

#c0 = #sdsc.dim<name = "c0", range = 128>
sdsc.bundle @coordinates_are_digits_of_one_dimension() {
  // expected-error @+1 {{'sdsc.op' op expected coordinates that are each one dimension, with 'mod' and 'floordiv', plus a constant, found (d0) -> (d0 * 3, d0 mod 64)}}
  sdsc.op "exp" dims [#c0]
    ins [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = affine_map<(d0) -> (d0 * 3, d0 mod 64)>, memory = "lx">]
    outs [#sdsc.tensor<format = "SEN169_FP16", device_size = [2, 64], coordinates = affine_map<(d0) -> (d0 * 3, d0 mod 64)>, memory = "hbm", argument = 0>]
}

// -----

// expected-error @+1 {{'sdsc.bundle' op loops over 's0' expect at most 128 in steps of 64, and at most 256 in steps of 64; declare one maximum and one multiple}}
sdsc.bundle @a_size_has_one_maximum() {
  sdsc.loop 2 attributes {dim = "M", granularity = 64 : i64, symbol = "s0", tile = 64 : i64} {
  }
  sdsc.loop 4 attributes {dim = "N", granularity = 64 : i64, symbol = "s0", tile = 64 : i64} {
  }
}
