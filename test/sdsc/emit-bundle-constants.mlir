// RUN: rm -rf %t && spyre-opt --spyre-compile --spyre-emit-bundle=output=%t %s
// RUN: FileCheck %s --check-prefix=PROGRAM --input-file=%t/program.json
// RUN: ls %t/constants | FileCheck %s --check-prefix=FILES
// RUN: od -A d -v -t x2 %t/constants/const0.bin | FileCheck %s --check-prefix=ROWS
// RUN: od -A d -v -t x4 %t/constants/const1.bin | FileCheck %s --check-prefix=SINGLE

// The directory is a bundle, and is replaced by the next one.
// RUN: spyre-opt --spyre-compile --spyre-emit-bundle=output=%t %s && spyre-translate --check-bundle %t | count 0

// PROGRAM: "constants": [
// PROGRAM-NEXT: {
// PROGRAM-NEXT: "name": "const0"
// PROGRAM: "bytes": 384,
// PROGRAM-NEXT: "file": "constants/const0.bin"
// PROGRAM: "name": "const1"
// PROGRAM: "bytes": 128,
// PROGRAM-NEXT: "file": "constants/const1.bin"
// PROGRAM-NEXT: }
// PROGRAM-NEXT: ],
// PROGRAM-NEXT: "buffers": []
// PROGRAM: "arguments": [
// PROGRAM-NEXT: "arg0",
// PROGRAM-NEXT: "arg1",
// PROGRAM-NEXT: "const0",
// PROGRAM-NEXT: "const1",

// FILES: const0.bin
// FILES-NEXT: const1.bin
// FILES-NOT: const

// DL16 has 9 bits of mantissa: 1.0, 1.5 and -2.0, each in the stick of its row; 3.0 and 0.1 end the last row. The rest is zero.
// ROWS:      0000000 3e00 3f00 0000 0000
// ROWS:      0000128 c000 3c00 0000 0000
// ROWS:      0000256 4100 373{{[0-9a-f]}} 0000 0000
// ROWS:      0000384

// SINGLE:      0000000 3eaaaaab 00000000 00000000 00000000
// SINGLE-NEXT: 0000016 00000000 00000000 00000000 00000000
// SINGLE:      0000128
func.func @constants(%x: tensor<3x2xf16>, %y: tensor<3x2xf32>) -> (tensor<3x2xf16>, tensor<3x2xf32>) {
  %rows = spyre.constant dense<[[1.0, 1.5], [-2.0, 0.5], [3.0, 0.1]]> : tensor<3x2xf16>
  %third = spyre.constant dense<0.333333343> : tensor<1x1xf32>
  %sum = spyre.pointwise add(%x, %rows) : tensor<3x2xf16>
  %shifted = spyre.pointwise add(%y, %third) : (tensor<3x2xf32>, tensor<1x1xf32>) -> tensor<3x2xf32>
  return %sum, %shifted : tensor<3x2xf16>, tensor<3x2xf32>
}
