#map_0 = affine_map<(d0, d1)[s0] -> (s0 + 65536*d0 + 2097152*d1)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>, %arg_2_base_addr: !sdscbundle.input_arg<index>, %arg_3_base_addr: !sdscbundle.input_arg<index>) {
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_2 = sdscbundle.input_arg_extract value from %arg_2_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_3 = sdscbundle.input_arg_extract value from %arg_3_base_addr : !sdscbundle.input_arg<index> -> index
		%c0 = arith.constant 0 : index
		%c1 = arith.constant 1 : index
		%loop_bound_0 = arith.constant 2 : index
		%loop_bound_1 = arith.constant 4 : index
		%arg_0_core_offset_16384 = arith.constant 16384 : index
		%arg_0_core_16384 = arith.addi %arg_0, %arg_0_core_offset_16384 : index
		%arg_0_core_offset_32768 = arith.constant 32768 : index
		%arg_0_core_32768 = arith.addi %arg_0, %arg_0_core_offset_32768 : index
		%arg_0_core_offset_49152 = arith.constant 49152 : index
		%arg_0_core_49152 = arith.addi %arg_0, %arg_0_core_offset_49152 : index
		%arg_1_core_offset_16384 = arith.constant 16384 : index
		%arg_1_core_16384 = arith.addi %arg_1, %arg_1_core_offset_16384 : index
		%arg_1_core_offset_32768 = arith.constant 32768 : index
		%arg_1_core_32768 = arith.addi %arg_1, %arg_1_core_offset_32768 : index
		%arg_1_core_offset_49152 = arith.constant 49152 : index
		%arg_1_core_49152 = arith.addi %arg_1, %arg_1_core_offset_49152 : index
		%arg_2_core_offset_16384 = arith.constant 16384 : index
		%arg_2_core_16384 = arith.addi %arg_2, %arg_2_core_offset_16384 : index
		%arg_2_core_offset_32768 = arith.constant 32768 : index
		%arg_2_core_32768 = arith.addi %arg_2, %arg_2_core_offset_32768 : index
		%arg_2_core_offset_49152 = arith.constant 49152 : index
		%arg_2_core_49152 = arith.addi %arg_2, %arg_2_core_offset_49152 : index
		%arg_3_core_offset_16384 = arith.constant 16384 : index
		%arg_3_core_16384 = arith.addi %arg_3, %arg_3_core_offset_16384 : index
		%arg_3_core_offset_32768 = arith.constant 32768 : index
		%arg_3_core_32768 = arith.addi %arg_3, %arg_3_core_offset_32768 : index
		%arg_3_core_offset_49152 = arith.constant 49152 : index
		%arg_3_core_49152 = arith.addi %arg_3, %arg_3_core_offset_49152 : index
		scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
			scf.for %i_1 = %c0 to %loop_bound_1 step %c1 {
				%addr_0 = affine.apply #map_0(%i_0, %i_1)[%arg_0]
				%addr_1 = affine.apply #map_0(%i_0, %i_1)[%arg_0_core_16384]
				%addr_2 = affine.apply #map_0(%i_0, %i_1)[%arg_0_core_32768]
				%addr_3 = affine.apply #map_0(%i_0, %i_1)[%arg_0_core_49152]
				%addr_4 = affine.apply #map_0(%i_0, %i_1)[%arg_1]
				%addr_5 = affine.apply #map_0(%i_0, %i_1)[%arg_1_core_16384]
				%addr_6 = affine.apply #map_0(%i_0, %i_1)[%arg_1_core_32768]
				%addr_7 = affine.apply #map_0(%i_0, %i_1)[%arg_1_core_49152]
				sdscbundle.sdsc_execute (%addr_0, %addr_1, %addr_2, %addr_3, %addr_4, %addr_5, %addr_6, %addr_7) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3, -4, -5, -6, -7, -8]}
				%addr_8 = affine.apply #map_0(%i_0, %i_1)[%arg_2]
				%addr_9 = affine.apply #map_0(%i_0, %i_1)[%arg_2_core_16384]
				%addr_10 = affine.apply #map_0(%i_0, %i_1)[%arg_2_core_32768]
				%addr_11 = affine.apply #map_0(%i_0, %i_1)[%arg_2_core_49152]
				%addr_12 = affine.apply #map_0(%i_0, %i_1)[%arg_3]
				%addr_13 = affine.apply #map_0(%i_0, %i_1)[%arg_3_core_16384]
				%addr_14 = affine.apply #map_0(%i_0, %i_1)[%arg_3_core_32768]
				%addr_15 = affine.apply #map_0(%i_0, %i_1)[%arg_3_core_49152]
				sdscbundle.sdsc_execute (%addr_8, %addr_9, %addr_10, %addr_11, %addr_12, %addr_13, %addr_14, %addr_15) {sdsc_filename="sdsc_1.json", "symbol_ids"=[-9, -10, -11, -12, -13, -14, -15, -16]}
			}
		}
		return
	}
}
