// RUN: spyre-opt --spyre-set-target="cores=4" %s | FileCheck %s
// RUN: spyre-opt --spyre-set-target="cores=4 lx-bytes=4096" %s | FileCheck %s --check-prefix=BOTH
// RUN: spyre-opt --spyre-set-target="lx-bytes=0" %s | FileCheck %s --check-prefix=NO-LX
// RUN: spyre-opt --spyre-set-target="cores=4" --spyre-set-target="lx-bytes=4096" %s | FileCheck %s --check-prefix=BOTH
// RUN: spyre-opt --spyre-set-target %s | FileCheck %s --check-prefix=SPYRE
// RUN: spyre-opt --spyre-set-target="cores=32" %s | FileCheck %s --check-prefix=SPYRE
// RUN: echo '{"cores": 8, "segments": 3}' > %t.json
// RUN: spyre-opt --spyre-set-target="file=%t.json" %s | FileCheck %s --check-prefix=FILE
// RUN: spyre-opt --spyre-set-target="file=%t.json cores=2" %s | FileCheck %s --check-prefix=OVER-FILE
// RUN: echo '{"time": {"hbm": {"one_way": 200, "restickify": 116}, "recommended": {"inner_batch": [300, 160]}}}' > %t.time.json
// RUN: spyre-opt --spyre-set-target="file=%t.time.json" %s | FileCheck %s --check-prefix=TIME
// RUN: spyre-opt --spyre-set-target="file=%t.time.json" --spyre-set-target="cores=4" %s | FileCheck %s --check-prefix=TIME-CORES

// Only what differs from Spyre is written.
// CHECK: module attributes {spyre.target = {cores = 4 : i64}} {

// A second run of the pass keeps the values of the first one.
// BOTH: module attributes {spyre.target = {cores = 4 : i64, lx_bytes = 4096 : i64}} {

// A machine without LX is valid.
// NO-LX: module attributes {spyre.target = {lx_bytes = 0 : i64}} {

// SPYRE:     module {
// SPYRE-NOT: spyre.target

// FILE: module attributes {spyre.target = {cores = 8 : i64, segments = 3 : i64}} {

// An option comes after the file.
// OVER-FILE: module attributes {spyre.target = {cores = 2 : i64, segments = 3 : i64}} {

// Unchanged parameters of the time model are not written either.
// TIME: {spyre.target = {time = {hbm = {one_way = 2.000000e+02 : f64}, recommended = {inner_batch = [3.000000e+02, 1.600000e+02]}}}} {
// TIME-CORES: {spyre.target = {cores = 4 : i64, time = {hbm = {one_way = 2.000000e+02 : f64}, recommended = {inner_batch =
module {
}
