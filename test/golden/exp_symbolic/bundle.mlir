module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>, %arg_1_base_addr: !sdscbundle.input_arg<index>, %sym_0_1_base: !sdscbundle.input_arg<index, granularity=32, max_value=64>) {
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%arg_1 = sdscbundle.input_arg_extract value from %arg_1_base_addr : !sdscbundle.input_arg<index> -> index
		%sym_0_1 = sdscbundle.input_arg_extract value from %sym_0_1_base : !sdscbundle.input_arg<index, granularity=32, max_value=64> -> index
		sdscbundle.sdsc_execute (%sym_0_1, %arg_0, %arg_1) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2, -3]}
		return
	}
}
