// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-set-target %s
// RUN: not spyre-opt --split-input-file --spyre-set-target="cores=33" %s 2>&1 | FileCheck %s --check-prefix=CORES
// RUN: not spyre-opt --split-input-file --spyre-set-target="cores=-1" %s 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not spyre-opt --split-input-file --spyre-set-target="lx-bytes=-2" %s 2>&1 | FileCheck %s --check-prefix=LX
// RUN: not spyre-opt --split-input-file --spyre-set-target="lx-bytes=100" %s 2>&1 | FileCheck %s --check-prefix=STICK
// RUN: not spyre-opt --split-input-file --spyre-set-target="file=%t.none" %s 2>&1 | FileCheck %s --check-prefix=NO-FILE
// RUN: echo 'cores: 4' > %t.yaml
// RUN: not spyre-opt --split-input-file --spyre-set-target="file=%t.yaml" %s 2>&1 | FileCheck %s --check-prefix=NO-JSON
// RUN: echo '{"core": 4}' > %t.typo.json
// RUN: not spyre-opt --split-input-file --spyre-set-target="file=%t.typo.json" %s 2>&1 | FileCheck %s --check-prefix=NO-KEY
// RUN: echo '{"segments": 0}' > %t.zero.json
// RUN: not spyre-opt --split-input-file --spyre-set-target="file=%t.zero.json" %s 2>&1 | FileCheck %s --check-prefix=ZERO

// RUN: echo '{"cores": 9223372036854775807}' > %t.many.json
// RUN: not spyre-opt --split-input-file --spyre-set-target="file=%t.many.json" %s 2>&1 | FileCheck %s --check-prefix=MANY

// The error stands at the module: an option has no place in the file.
// CORES:    set-target-invalid.mlir:[[#@LINE+9]]:1: error{{.*}}'builtin.module' op option 'cores': expected 1 to 32 cores, found 33; use at most 32
// NEGATIVE: set-target-invalid.mlir:[[#@LINE+8]]:1: error{{.*}}'builtin.module' op option 'cores': expected 1 to 32 cores, found -1; use at most 32
// LX:       set-target-invalid.mlir:[[#@LINE+7]]:1: error{{.*}}'builtin.module' op option 'lx-bytes': expected a nonnegative number of bytes, found -2; remove the option to use all of LX
// STICK:    set-target-invalid.mlir:[[#@LINE+6]]:1: error{{.*}}'builtin.module' op option 'lx-bytes' must be a multiple of 128, found 100; give 128
// NO-FILE:  set-target-invalid.mlir:[[#@LINE+5]]:1: error{{.*}}'builtin.module' op option 'target': cannot read machine description '{{.+}}.none': No such file or directory
// NO-JSON:  set-target-invalid.mlir:[[#@LINE+4]]:1: error{{.*}}'builtin.module' op option 'target': expected a machine description, found '{{.*}}.yaml': expected value at line 1 column 1; give an object of numbers, such as {"cores": 4}
// NO-KEY:   set-target-invalid.mlir:[[#@LINE+3]]:1: error{{.*}}'builtin.module' op option 'target': expected a machine description, found '{{.*}}.typo.json': unknown field `core`, expected one of `cores`, `lx_bytes`, `core_span_bytes`, `pool_bytes`, `segment_bytes`, `segments`, `lx_fan_in`, `lx_restickify`, `time` at line 1 column 7; give an object of numbers, such as {"cores": 4}
// MANY:     set-target-invalid.mlir:[[#@LINE+2]]:1: error{{.*}}'builtin.module' op 'cores' may be 1024 at most, found 9223372036854775807
// ZERO:     set-target-invalid.mlir:[[#@LINE+1]]:1: error{{.*}}'builtin.module' op 'segments' must be positive, found 0
module {
}

// -----

// expected-error @+1 {{'builtin.module' op 'spyre.target' must hold numbers, found cores = "four"}}
module attributes {spyre.target = {cores = "four"}} {
}

// -----

// expected-error @+1 {{'builtin.module' op 'spyre.target': unknown field `core`}}
module attributes {spyre.target = {core = 4 : i64}} {
}

// -----

// expected-error @+1 {{'builtin.module' op 'cores' must be positive, found 0}}
module attributes {spyre.target = {cores = 0 : i64}} {
}

// -----

// expected-error @+1 {{'builtin.module' op 'lx_bytes' must be a multiple of 128, found -128}}
module attributes {spyre.target = {lx_bytes = -128 : i64}} {
}

// -----

// expected-error @+1 {{'builtin.module' op 'time.hbm.one_way' must be a positive rate, found 0}}
module attributes {spyre.target = {time = {hbm = {one_way = 0.0}}}} {
}

// -----

// expected-error @+1 {{'builtin.module' op 'spyre.target': unknown field `warp`}}
module attributes {spyre.target = {time = {warp = 9.0}}} {
}

// -----

// expected-error @+1 {{'builtin.module' op 'lx_fan_in' must not be negative, found -1}}
module attributes {spyre.target = {lx_fan_in = -1 : i64}} {
}

// -----

// expected-error @+1 {{'builtin.module' op 'lx_restickify' must be 0 or 1, found 2}}
module attributes {spyre.target = {lx_restickify = 2 : i64}} {
}
