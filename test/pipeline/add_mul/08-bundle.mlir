#c0 = #sdsc.dim<name = "c0", range = 512, split = 4>
#c1 = #sdsc.dim<name = "c1", range = 1024>
#layout = #spyre.layout<[64, 1024, 64], [64, 4096, 1]>
#map = affine_map<(d0, d1)[s0] -> (d0 * 65536 + s0 + d1 * 2097152)>
#map1 = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#hbm = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #map1, memory = "hbm", argument = 0, advance = [32768, 1048576]>
#hbm1 = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #map1, memory = "hbm", argument = 1, advance = [32768, 1048576]>
#hbm2 = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #map1, memory = "hbm", argument = 2, advance = [32768, 1048576]>
#hbm3 = #sdsc.tensor<format = "SEN169_FP16", device_size = [64, 1024, 64], coordinates = #map1, memory = "hbm", argument = 3, advance = [32768, 1048576]>
#lx = #sdsc.tensor<format = "SEN169_FP16", device_size = [16, 512, 64], coordinates = #map1, memory = "lx">
module attributes {spyre.phase = "bundle", spyre.target = {cores = 4 : i64}} {
  sdsc.program @add_mul {
    sdsc.buffer @arg0 input 0 : tensor<1024x4096xf16, #layout>
    sdsc.buffer @arg1 input 1 : tensor<1024x4096xf16, #layout>
    sdsc.buffer @arg2 input 2 : tensor<1024x4096xf16, #layout>
    sdsc.buffer @result0 output 0 : tensor<1024x4096xf16, #layout>
    builtin.module @bundle_0 attributes {sdsc.buffers = [@arg0, @arg1, @arg2, @result0], sdsc.lives = ["lx 0 + 262144: 0 to 1"]} {
      func.func @sdsc_bundle(%arg0: !sdscbundle.input_arg<index>, %arg1: !sdscbundle.input_arg<index>, %arg2: !sdscbundle.input_arg<index>, %arg3: !sdscbundle.input_arg<index>) attributes {sdsc.names = ["arg_0_base_addr", "arg_1_base_addr", "arg_2_base_addr", "arg_3_base_addr", "arg_0", "arg_1", "arg_2", "arg_3", "c0", "c1", "loop_bound_0", "loop_bound_1", "arg_0_core_offset_16384", "arg_0_core_16384", "arg_0_core_offset_32768", "arg_0_core_32768", "arg_0_core_offset_49152", "arg_0_core_49152", "arg_1_core_offset_16384", "arg_1_core_16384", "arg_1_core_offset_32768", "arg_1_core_32768", "arg_1_core_offset_49152", "arg_1_core_49152", "arg_2_core_offset_16384", "arg_2_core_16384", "arg_2_core_offset_32768", "arg_2_core_32768", "arg_2_core_offset_49152", "arg_2_core_49152", "arg_3_core_offset_16384", "arg_3_core_16384", "arg_3_core_offset_32768", "arg_3_core_32768", "arg_3_core_offset_49152", "arg_3_core_49152", "i_0", "i_1", "addr_0", "addr_1", "addr_2", "addr_3", "addr_4", "addr_5", "addr_6", "addr_7", "addr_8", "addr_9", "addr_10", "addr_11", "addr_12", "addr_13", "addr_14", "addr_15"]} {
        %0 = sdscbundle.input_arg_extract value from %arg0 : !sdscbundle.input_arg<index> -> index
        %1 = sdscbundle.input_arg_extract value from %arg1 : !sdscbundle.input_arg<index> -> index
        %2 = sdscbundle.input_arg_extract value from %arg2 : !sdscbundle.input_arg<index> -> index
        %3 = sdscbundle.input_arg_extract value from %arg3 : !sdscbundle.input_arg<index> -> index
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %c2 = arith.constant 2 : index
        %c4 = arith.constant 4 : index
        %c16384 = arith.constant 16384 : index
        %4 = arith.addi %0, %c16384 : index
        %c32768 = arith.constant 32768 : index
        %5 = arith.addi %0, %c32768 : index
        %c49152 = arith.constant 49152 : index
        %6 = arith.addi %0, %c49152 : index
        %c16384_0 = arith.constant 16384 : index
        %7 = arith.addi %1, %c16384_0 : index
        %c32768_1 = arith.constant 32768 : index
        %8 = arith.addi %1, %c32768_1 : index
        %c49152_2 = arith.constant 49152 : index
        %9 = arith.addi %1, %c49152_2 : index
        %c16384_3 = arith.constant 16384 : index
        %10 = arith.addi %2, %c16384_3 : index
        %c32768_4 = arith.constant 32768 : index
        %11 = arith.addi %2, %c32768_4 : index
        %c49152_5 = arith.constant 49152 : index
        %12 = arith.addi %2, %c49152_5 : index
        %c16384_6 = arith.constant 16384 : index
        %13 = arith.addi %3, %c16384_6 : index
        %c32768_7 = arith.constant 32768 : index
        %14 = arith.addi %3, %c32768_7 : index
        %c49152_8 = arith.constant 49152 : index
        %15 = arith.addi %3, %c49152_8 : index
        scf.for %arg4 = %c0 to %c2 step %c1 {
          scf.for %arg5 = %c0 to %c4 step %c1 {
            %16 = affine.apply #map(%arg4, %arg5)[%0]
            %17 = affine.apply #map(%arg4, %arg5)[%4]
            %18 = affine.apply #map(%arg4, %arg5)[%5]
            %19 = affine.apply #map(%arg4, %arg5)[%6]
            %20 = affine.apply #map(%arg4, %arg5)[%1]
            %21 = affine.apply #map(%arg4, %arg5)[%7]
            %22 = affine.apply #map(%arg4, %arg5)[%8]
            %23 = affine.apply #map(%arg4, %arg5)[%9]
            sdscbundle.sdsc_execute (%16, %17, %18, %19, %20, %21, %22, %23) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3, -4, -5, -6, -7, -8]}
            %24 = affine.apply #map(%arg4, %arg5)[%2]
            %25 = affine.apply #map(%arg4, %arg5)[%10]
            %26 = affine.apply #map(%arg4, %arg5)[%11]
            %27 = affine.apply #map(%arg4, %arg5)[%12]
            %28 = affine.apply #map(%arg4, %arg5)[%3]
            %29 = affine.apply #map(%arg4, %arg5)[%13]
            %30 = affine.apply #map(%arg4, %arg5)[%14]
            %31 = affine.apply #map(%arg4, %arg5)[%15]
            sdscbundle.sdsc_execute (%24, %25, %26, %27, %28, %29, %30, %31) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-9, -10, -11, -12, -13, -14, -15, -16]}
          }
        }
        return
      }
      sdsc.op "add" dims [#c0, #c1] ins [#hbm, #hbm1] outs [#lx] file "sdsc_0.json"
      sdsc.op "mul" dims [#c0, #c1] ins [#lx, #hbm2] outs [#hbm3] file "sdsc_1.json"
    }
  }
}

