// RUN: rm -rf %t && mkdir %t && spyre-compile %s -o %t/out > %t.log && spyre-run %t/out | FileCheck %s

// Every fault of a constant's file is found by the check of the format and by the machine.
// RUN: cp -r %t/out %t/short && truncate -s 127 %t/short/constants/const0.bin
// RUN: not spyre-run %t/short 2>&1 | FileCheck %s --check-prefix=SHORT
// RUN: not spyre-translate --check-bundle %t/short 2>&1 | FileCheck %s --check-prefix=SHORT-RULE
// RUN: not spyre-translate --bundle-to-mlir %t/short 2>&1 | FileCheck %s --check-prefix=SHORT-READ
// RUN: cp -r %t/out %t/long && truncate -s 256 %t/long/constants/const0.bin
// RUN: not spyre-run %t/long 2>&1 | FileCheck %s --check-prefix=LONG
// RUN: cp -r %t/out %t/gone && rm %t/gone/constants/const0.bin
// RUN: not spyre-run %t/gone 2>&1 | FileCheck %s --check-prefix=GONE
// RUN: not spyre-translate --check-bundle %t/gone 2>&1 | FileCheck %s --check-prefix=GONE-RULE
// RUN: cp -r %t/gone %t/folder && mkdir %t/folder/constants/const0.bin
// RUN: not spyre-run %t/folder 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: cp -r %t/out %t/outside && sed -i 's|constants/const0|../out/constants/const0|' %t/outside/program.json
// RUN: not spyre-run %t/outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE
// RUN: not spyre-translate --check-bundle %t/outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE-RULE
// RUN: not spyre-translate --bundle-to-mlir %t/outside 2>&1 | FileCheck %s --check-prefix=OUTSIDE-READ

// Without a file, a constant is an input.
// RUN: cp -r %t/out %t/without && sed -i -e '/"file"/d' -e 's/"bytes": 128,/"bytes": 128/' %t/without/program.json
// RUN: not spyre-run %t/without 2>&1 | FileCheck %s --check-prefix=WITHOUT

// CHECK: half: 1 launch
// SHORT: spyre-run: error{{.*}}: {{.*}}const0.bin: expected 128 bytes, the size of 'const0', found 127
// SHORT-RULE: program.json:/constants/0/file: sdsc_r72: 'constants/const0.bin' has 127 bytes; the constant has 128
// SHORT-READ: spyre-translate: error{{.*}}: {{.*}}program.json: 'const0': found 127 bytes, where 64 elements of 'SEN169_FP16' have 128
// LONG: spyre-run: error{{.*}}: {{.*}}const0.bin: expected 128 bytes, the size of 'const0', found 256
// GONE: spyre-run: error{{.*}}: {{.*}}const0.bin: No such file
// GONE-RULE: program.json:/constants/0/file: sdsc_r72: there is no file 'constants/const0.bin' below the directory
// FOLDER: spyre-run: error{{.*}}: {{.*}}const0.bin: is a directory, not a file
// OUTSIDE: spyre-run: error{{.*}}: {{.*}}program.json: '../out/constants/const0.bin' is no path below the directory
// OUTSIDE-RULE: program.json:/constants/0/file: sdsc_r72: there is no file '../out/constants/const0.bin' below the directory
// OUTSIDE-READ: spyre-translate: error{{.*}}: {{.*}}program.json: 'const0': {{.*}}'../out/constants/const0.bin' is no path below the directory
// WITHOUT: spyre-run: error{{.*}}'const0': has no value
func.func @half(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {
  %half = spyre.constant dense<0.5> : tensor<1x1xf16>
  %y = spyre.pointwise mul(%x, %half) : (tensor<64x64xf16>, tensor<1x1xf16>) -> tensor<64x64xf16>
  return %y : tensor<64x64xf16>
}
