module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>, %arg_2_base_addr: !sdscbundle.input_arg<index>) {
		%pool = sdscbundle.device_mem_allocate 73728 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_2 = sdscbundle.input_arg_extract value from %arg_2_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_0_core_offset_2048 = arith.constant 2048 : index
		%arg_0_core_2048 = arith.addi %arg_0, %arg_0_core_offset_2048 : index
		%pool_offset_0 = arith.constant 0 : index
		%pool_addr_0 = arith.addi %pool, %pool_offset_0 : index
		%pool_offset_2048 = arith.constant 2048 : index
		%pool_addr_2048 = arith.addi %pool, %pool_offset_2048 : index
		%arg_1_core_offset_65536 = arith.constant 65536 : index
		%arg_1_core_65536 = arith.addi %arg_1, %arg_1_core_offset_65536 : index
		%pool_offset_8192 = arith.constant 8192 : index
		%pool_addr_8192 = arith.addi %pool, %pool_offset_8192 : index
		%pool_offset_40960 = arith.constant 40960 : index
		%pool_addr_40960 = arith.addi %pool, %pool_offset_40960 : index
		%arg_2_core_offset_2048 = arith.constant 2048 : index
		%arg_2_core_2048 = arith.addi %arg_2, %arg_2_core_offset_2048 : index
		%arg_2_core_offset_8192 = arith.constant 8192 : index
		%arg_2_core_8192 = arith.addi %arg_2, %arg_2_core_offset_8192 : index
		%arg_2_core_offset_10240 = arith.constant 10240 : index
		%arg_2_core_10240 = arith.addi %arg_2, %arg_2_core_offset_10240 : index
		sdscbundle.sdsc_execute (%arg_0, %arg_0_core_2048, %pool_addr_0, %pool_addr_2048) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3, -4]}
		sdscbundle.sdsc_execute (%arg_1, %arg_1_core_65536, %pool_addr_8192, %pool_addr_40960) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-5, -6, -7, -8]}
		sdscbundle.sdsc_execute (%pool_addr_0, %pool_addr_2048, %pool_addr_8192, %pool_addr_40960, %arg_2, %arg_2_core_2048, %arg_2_core_8192, %arg_2_core_10240) {sdsc_filename="sdsc_2.json", "symbol_ids"=[-9, -10, -11, -12, -13, -14, -15, -16]}
		return
	}
}
