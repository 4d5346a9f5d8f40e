// RUN: spyre-opt %s --split-input-file --verify-diagnostics

// A function is named after the rule that it breaks.

// expected-error @+1 {{expected a kernel argument of type index, found 'i64'}}
func.func private @input_arg_c1(!sdscbundle.input_arg<i64>)

// -----

// expected-error @+1 {{expected positive 'granularity' and 'max_value', or neither, found 0 and 1024}}
func.func private @input_arg_c2(!sdscbundle.input_arg<index, granularity=0, max_value=1024>)

// -----

func.func @device_mem_allocate_c1() {
  // expected-error @+1 {{'sdscbundle.device_mem_allocate' op expected a positive number of bytes, found 0}}
  %pool = sdscbundle.device_mem_allocate 0 bytes : index
  return
}

// -----

func.func @sdsc_execute_c1(%base: index) {
  // expected-error @+1 {{'sdscbundle.sdsc_execute' op has 1 operands, but 2 symbol ids}}
  sdscbundle.sdsc_execute (%base) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}
  return
}

// -----

func.func @sdsc_execute_c2(%base: index) {
  // expected-error @+1 {{'sdscbundle.sdsc_execute' op expected negative symbol ids, found 1}}
  sdscbundle.sdsc_execute (%base) {sdsc_filename="sdsc_0.json", "symbol_ids"=[1]}
  return
}

// -----

func.func @sdsc_execute_c2(%base: index) {
  // expected-error @+1 {{'sdscbundle.sdsc_execute' op names symbol id -1 twice}}
  sdscbundle.sdsc_execute (%base, %base) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -1]}
  return
}

// -----

func.func @sdsc_execute_names_its_file(%base: index) {
  // expected-error @+1 {{'sdsc_execute' needs the attribute 'sdsc_filename'}}
  sdscbundle.sdsc_execute (%base) {"symbol_ids"=[-1]}
  return
}
