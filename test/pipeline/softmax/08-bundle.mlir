#c0 = #sdsc.dim<name = "c0", range = 64, split = 2>
#c1 = #sdsc.dim<name = "c1", range = 256>
#layout = #spyre.layout<[4, 64, 64], [64, 256, 1]>
#map = affine_map<(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)>
#map1 = affine_map<(d0, d1) -> (0, d0, 0)>
#hbm = #sdsc.tensor<format = "SEN169_FP16", device_size = [4, 64, 64], coordinates = #map, memory = "hbm", argument = 0>
#hbm1 = #sdsc.tensor<format = "SEN169_FP16", device_size = [4, 64, 64], coordinates = #map, memory = "hbm", argument = 1>
#lx = #sdsc.tensor<format = "SEN169_FP16", device_size = [4, 64, 64], coordinates = #map, memory = "lx", offset_bytes = 4096>
#lx1 = #sdsc.tensor<format = "SEN169_FP16", device_size = [1, 64, 64], coordinates = #map1, memory = "lx">
module attributes {spyre.phase = "bundle", spyre.target = {cores = 2 : i64}} {
  sdsc.program @softmax {
    sdsc.buffer @arg0 input 0 : tensor<64x256xf16, #layout>
    sdsc.buffer @result0 output 0 : tensor<64x256xf16, #layout>
    builtin.module @bundle_0 attributes {sdsc.buffers = [@arg0, @result0], sdsc.lives = ["lx 4096 + 16384: 0 to 2", "lx 0 + 4096: 1 to 2", "lx 4096 + 16384: 2 to 3", "lx 4096 + 16384: 3 to 5", "lx 0 + 4096: 4 to 5"]} {
      func.func @sdsc_bundle(%arg0: !sdscbundle.input_arg<index>, %arg1: !sdscbundle.input_arg<index>) attributes {sdsc.names = ["arg_0_base_addr", "arg_1_base_addr", "arg_0", "arg_1", "arg_0_core_offset_4096", "arg_0_core_4096", "arg_1_core_offset_4096", "arg_1_core_4096"]} {
        %0 = sdscbundle.input_arg_extract value from %arg0 : !sdscbundle.input_arg<index> -> index
        %1 = sdscbundle.input_arg_extract value from %arg1 : !sdscbundle.input_arg<index> -> index
        %c4096 = arith.constant 4096 : index
        %2 = arith.addi %0, %c4096 : index
        %c4096_0 = arith.constant 4096 : index
        %3 = arith.addi %1, %c4096_0 : index
        sdscbundle.sdsc_execute (%0, %2) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
        sdscbundle.sdsc_execute () {sdsc_filename="sdsc_1.json", "symbol_ids"=[]}
        sdscbundle.sdsc_execute () {sdsc_filename="sdsc_2.json", "symbol_ids"=[]}
        sdscbundle.sdsc_execute () {sdsc_filename="sdsc_3.json", "symbol_ids"=[]}
        sdscbundle.sdsc_execute () {sdsc_filename="sdsc_4.json", "symbol_ids"=[]}
        sdscbundle.sdsc_execute (%1, %3) {sdsc_filename="sdsc_5.json", "symbol_ids"=[-3, -4]}
        return
      }
      sdsc.op "identity" dims [#c0, #c1] ins [#hbm] outs [#lx] file "sdsc_0.json"
      sdsc.op "max" reduction dims [#c0, #c1] ins [#lx] outs [#lx1] file "sdsc_1.json"
      sdsc.op "sub" dims [#c0, #c1] ins [#lx, #lx1] outs [#lx] file "sdsc_2.json"
      sdsc.op "exp" dims [#c0, #c1] ins [#lx] outs [#lx] file "sdsc_3.json"
      sdsc.op "sum" reduction dims [#c0, #c1] ins [#lx] outs [#lx1] file "sdsc_4.json"
      sdsc.op "realdiv" dims [#c0, #c1] ins [#lx, #lx1] outs [#hbm1] file "sdsc_5.json"
    }
  }
}

