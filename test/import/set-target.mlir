// RUN: spyre-opt --spyre-set-target="cores=4" %s | FileCheck %s
// RUN: spyre-opt --spyre-set-target="cores=4 lx-bytes=4096" %s | FileCheck %s --check-prefix=BOTH
// RUN: spyre-opt --spyre-set-target="lx-bytes=0" %s | FileCheck %s --check-prefix=NO-LX
// RUN: spyre-opt --spyre-set-target="cores=4" --spyre-set-target="lx-bytes=4096" %s | FileCheck %s --check-prefix=BOTH
// RUN: spyre-opt --spyre-set-target %s | FileCheck %s --check-prefix=SPYRE
// RUN: spyre-opt --spyre-set-target="cores=32" %s | FileCheck %s --check-prefix=SPYRE
// RUN: echo '{"cores": 8, "segments": 3}' > %t.json
// RUN: spyre-opt --spyre-set-target="file=%t.json" %s | FileCheck %s --check-prefix=FILE
// RUN: spyre-opt --spyre-set-target="file=%t.json cores=2" %s | FileCheck %s --check-prefix=OVER-FILE

// What is not asked for is Spyre's.
// CHECK: module attributes {spyre.target = {core_span_bytes = 268431360 : i64, cores = 4 : i64, lx_bytes = 1625344 : i64, pool_bytes = 15032385536 : i64, segment_bytes = 17179869184 : i64, segments = 7 : i64}} {

// What one run of the pass says, the next one keeps.
// BOTH: module attributes {spyre.target = {{{.*}}cores = 4 : i64, lx_bytes = 4096 : i64,

// A machine without LX is a machine.
// NO-LX: module attributes {spyre.target = {{{.*}}cores = 32 : i64, lx_bytes = 0 : i64,

// Spyre needs no attribute.
// SPYRE:     module {
// SPYRE-NOT: spyre.target

// FILE: module attributes {spyre.target = {{{.*}}cores = 8 : i64, lx_bytes = 1625344 : i64, {{.*}}segments = 3 : i64}} {

// An option comes after the file.
// OVER-FILE: module attributes {spyre.target = {{{.*}}cores = 2 : i64, lx_bytes = 1625344 : i64, {{.*}}segments = 3 : i64}} {
module {
}
