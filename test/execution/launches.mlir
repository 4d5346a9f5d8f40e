// 18 arguments with baked addresses are several launches, none of them with more than seven tensors. What launches share lies in one region:
// a value that the first leaves for the last, and others that use the bytes beside it again.
// RUN: rm -rf %t && mkdir %t
// RUN: spyre-compile %s -o %t/one > %t.log && spyre-run %t/one --check %s | FileCheck %s --check-prefixes=ONE,CHECK
// RUN: spyre-compile %s -o %t/lx --addresses baked > %t.log && spyre-run %t/lx --wipe-lx --check %s | FileCheck %s --check-prefixes=LX,CHECK
// RUN: spyre-compile %s -o %t/hbm --addresses baked --lx-planner none > %t.log
// RUN: spyre-run %t/hbm --check %s | FileCheck %s --check-prefixes=HBM,CHECK
// RUN: FileCheck %s --check-prefix=PROGRAM --input-file %t/hbm/program.json

// ONE: launches: 1 launch,
// LX: launches: 4 launches,
// HBM: launches: 5 launches,
// CHECK: result0: correct

// PROGRAM: "name": "temp0"
// PROGRAM: "offset": 16384,
// PROGRAM-NEXT: "first_launch": 0,
// PROGRAM-NEXT: "last_launch": 4
// PROGRAM: "name": "temp1"
// PROGRAM: "offset": 0,
// PROGRAM-NEXT: "first_launch": 0,
// PROGRAM-NEXT: "last_launch": 1
// PROGRAM: "name": "temp2"
// PROGRAM: "offset": 8192,
// PROGRAM-NEXT: "first_launch": 1,
// PROGRAM-NEXT: "last_launch": 2
// PROGRAM: "name": "temp3"
// PROGRAM: "offset": 0,
// PROGRAM-NEXT: "first_launch": 2,
// PROGRAM-NEXT: "last_launch": 3
// PROGRAM: "buffer_bytes": 24576
// PROGRAM: "bundle": "bundle_0"
// PROGRAM: "pool_bytes": 8192

// The fourth buffer where the first, which the last launch reads, is still alive: the numbers are wrong, and the check says so.
// RUN: cp %t/hbm/program.json %t.json
// RUN: sed '/"name": "temp3"/,/last_launch/ s/"offset": 0/"offset": 16384/' %t.json > %t/hbm/program.json
// RUN: not spyre-run %t/hbm --check %s 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not spyre-translate --check-bundle %t/hbm 2>&1 | FileCheck %s --check-prefix=RULE
// WRONG: reads byte 0xc00000000 {{.*}}after its live range has ended
// RULE: program.json:/buffers/3/place: sdsc_r73: 'temp3' overlaps 'temp0' while both are live; a byte belongs to one buffer at a time

// A place outside of the region is refused before anything runs.
// RUN: sed 's/"buffer_bytes": 24576/"buffer_bytes": 16384/' %t.json > %t/hbm/program.json
// RUN: not spyre-run %t/hbm 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// OUTSIDE: 'temp0' has 8192 bytes at 16384, which are no whole sticks within 16384 bytes
// RUN: sed '/"name": "arg0"/,/"bytes"/ s/"bytes": 8192/"bytes": 8192, "place": {"offset": 0, "first_launch": 0, "last_launch": 0}/' %t.json > %t/hbm/program.json
// RUN: not spyre-run %t/hbm 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: 'arg0' has a place, which only buffers have

func.func @launches(
    %a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>, %d: tensor<64x64xf16>, %e: tensor<64x64xf16>,
    %f: tensor<64x64xf16>, %g: tensor<64x64xf16>, %h: tensor<64x64xf16>, %i: tensor<64x64xf16>, %j: tensor<64x64xf16>,
    %k: tensor<64x64xf16>, %l: tensor<64x64xf16>, %m: tensor<64x64xf16>, %n: tensor<64x64xf16>, %o: tensor<64x64xf16>,
    %p: tensor<64x64xf16>, %q: tensor<64x64xf16>, %r: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %empty = tensor.empty() : tensor<64x64xf16>
  %kept = linalg.sub ins(%a, %b : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %cs = linalg.add ins(%kept, %c : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ds = linalg.add ins(%cs, %d : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %es = linalg.add ins(%ds, %e : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %fs = linalg.mul ins(%es, %f : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %gs = linalg.add ins(%fs, %g : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %hs = linalg.add ins(%gs, %h : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %is = linalg.add ins(%hs, %i : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %js = linalg.add ins(%is, %j : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ks = linalg.mul ins(%js, %k : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ls = linalg.add ins(%ks, %l : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ms = linalg.add ins(%ls, %m : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ns = linalg.add ins(%ms, %n : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %os = linalg.add ins(%ns, %o : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %ps = linalg.add ins(%os, %p : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %qs = linalg.add ins(%ps, %q : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %rs = linalg.add ins(%qs, %r : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  %end = linalg.sub ins(%rs, %kept : tensor<64x64xf16>, tensor<64x64xf16>) outs(%empty : tensor<64x64xf16>) -> tensor<64x64xf16>
  return %end : tensor<64x64xf16>
}
