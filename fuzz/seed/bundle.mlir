#map_0 = affine_map<(d0)[s0] -> (s0 + 4096*d0)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>) {
		%pool = sdscbundle.device_mem_allocate 4096 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		%c0 = arith.constant 0 : index
		%c1 = arith.constant 1 : index
		%loop_bound_0 = arith.constant 2 : index
		%arg_0_core_offset_2048 = arith.constant 2048 : index
		%arg_0_core_2048 = arith.addi %arg_0, %arg_0_core_offset_2048 : index
		%pool_offset_0 = arith.constant 0 : index
		%pool_addr_0 = arith.addi %pool, %pool_offset_0 : index
		%pool_offset_2048 = arith.constant 2048 : index
		%pool_addr_2048 = arith.addi %pool, %pool_offset_2048 : index
		%arg_1_core_offset_2048 = arith.constant 2048 : index
		%arg_1_core_2048 = arith.addi %arg_1, %arg_1_core_offset_2048 : index
		scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
			%addr_0 = affine.apply #map_0(%i_0)[%arg_0]
			%addr_1 = affine.apply #map_0(%i_0)[%arg_0_core_2048]
			sdscbundle.sdsc_execute (%addr_0, %addr_1, %pool_addr_0, %pool_addr_2048) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3, -4]}
			%addr_2 = affine.apply #map_0(%i_0)[%arg_0]
			%addr_3 = affine.apply #map_0(%i_0)[%arg_0_core_2048]
			%addr_4 = affine.apply #map_0(%i_0)[%arg_1]
			%addr_5 = affine.apply #map_0(%i_0)[%arg_1_core_2048]
			sdscbundle.sdsc_execute (%addr_2, %addr_3, %pool_addr_0, %pool_addr_2048, %addr_4, %addr_5) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-5, -6, -7, -8, -9, -10]}
		}
		return
	}
}
