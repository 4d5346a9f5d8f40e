module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>, %arg_2_base_addr: !sdscbundle.input_arg<index>) {
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_2 = sdscbundle.input_arg_extract value from %arg_2_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_0_core_offset_512 = arith.constant 512 : index
		%arg_0_core_512 = arith.addi %arg_0, %arg_0_core_offset_512 : index
		%arg_0_core_offset_1024 = arith.constant 1024 : index
		%arg_0_core_1024 = arith.addi %arg_0, %arg_0_core_offset_1024 : index
		%arg_2_core_offset_384 = arith.constant 384 : index
		%arg_2_core_384 = arith.addi %arg_2, %arg_2_core_offset_384 : index
		%arg_2_core_offset_768 = arith.constant 768 : index
		%arg_2_core_768 = arith.addi %arg_2, %arg_2_core_offset_768 : index
		sdscbundle.sdsc_execute (%arg_0, %arg_0_core_512, %arg_0_core_1024, %arg_1, %arg_2, %arg_2_core_384, %arg_2_core_768) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3, -4, -5, -6, -7]}
		return
	}
}
