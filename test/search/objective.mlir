// Minimum time and minimum bytes: in tiles this program moves the lower bound, as it does without loops, and is faster in the model.
// RUN: spyre-compile %S/../../benches/plans/swiglu_m512_h4096_f12800_f16.mlir -o %t.time | FileCheck %s --check-prefix=TIME
// RUN: spyre-compile %S/../../benches/plans/swiglu_m512_h4096_f12800_f16.mlir -o %t.bytes --objective bytes | FileCheck %s --check-prefix=BYTES
// TIME: tiling:
// TIME-NOT: more LX in each core
// TIME: HBM traffic 308.00 MiB (lower bound 308.00 MiB, 1.00 times)
// TIME: modeled time: 3491.6 us
// BYTES: HBM traffic 308.00 MiB (lower bound 308.00 MiB)

// A plan of minimum bytes never moves more than a plan of minimum time.
// RUN: spyre-compile %S/../../benches/plans/swiglu_m2048_h4096_f12800_f16.mlir -o %t.large --objective bytes | FileCheck %s --check-prefix=LARGE
// LARGE: tiling: ops 0-4 in 40 tiles of axis0 with 1 operand copied; {{.*}} us ({{.*}}, objective: bytes);
// LARGE-NEXT: next best: {{.*}} more HBM traffic
// LARGE: HBM traffic 332.00 MiB (lower bound 332.00 MiB, 1.00 times)

// The summary has the next best plan by time, and with a report also the saving by more LX.
// RUN: spyre-compile %S/../../benches/plans/swiglu_m2048_h4096_f12800_f16.mlir -o %t.larger --report %t.json | FileCheck %s --check-prefix=MORE
// RUN: FileCheck %s --check-prefix=REPORT --input-file %t.json
// MORE: tiling: ops 0-4 in 40 tiles of axis0 with 1 operand copied; 11349.7 us
// MORE-NEXT: next best: ops 0-4 in 8 tiles of axis0; 11150.3 us, 240.00 MiB more HBM traffic
// MORE-NEXT: with 1.00 MiB more LX per core: 11001.2 us, the same HBM traffic
// REPORT: "runner_up": {
// REPORT-NEXT: "nests": [
// REPORT-NEXT: "ops 0-4 in 8 tiles of axis0"
// REPORT-NEXT: ],
// REPORT-NEXT: "us": 11150.{{[0-9]+}},
// REPORT-NEXT: "hbm": 599785{{[0-9]+}}
// REPORT: "with_more_lx": {
// REPORT-NEXT: "more_bytes": 1048576,

// RUN: not spyre-compile %s -o %t.refused --objective money 2>&1 | FileCheck %s --check-prefix=MONEY
// MONEY: error{{.*}}invalid value 'money' for '--objective <WHAT>'
// MONEY-NEXT: [possible values: time, bytes]
// RUN: not spyre-compile %s -o %t.refused --objective bytes --lx-planner first-fit 2>&1 | FileCheck %s --check-prefix=PLANNER
// PLANNER: --objective=bytes requires joint planning; remove '--lx-planner', or give '--joint'
