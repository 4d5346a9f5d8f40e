// One number that stands for very many elements takes no memory of the compiler: the program repeats one element.
// RUN: split-file %s %t
// RUN: spyre-compile %t/returned.mlir -o %t/returned | FileCheck %s --check-prefix=RETURNED
// RUN: spyre-opt --spyre-import-linalg %t/returned.mlir | FileCheck %s --check-prefix=IR
// RUN: spyre-compile %t/integers.mlir -o %t/integers | FileCheck %s --check-prefix=RETURNED
// RUN: spyre-compile %t/filled.mlir -o %t/filled | FileCheck %s --check-prefix=RETURNED
// RUN: spyre-compile %t/splat.mlir -o %t/splat | FileCheck %s --check-prefix=RETURNED
// RUN: spyre-compile %t/generated.mlir -o %t/generated | FileCheck %s --check-prefix=RETURNED
// RUN: spyre-compile %t/factor.mlir -o %t/factor | FileCheck %s --check-prefix=RETURNED
// RUN: spyre-compile %t/padded.mlir -o %t/padded | FileCheck %s --check-prefix=RETURNED
// RUN: spyre-compile %t/summed.mlir -o %t/summed | FileCheck %s --check-prefix=RETURNED
// RUN: not spyre-compile %t/index.mlir -o %t/index 2>&1 | FileCheck %s --check-prefix=INDEX
// RUN: spyre-compile %t/small.mlir -o %t/small && spyre-run %t/small --check %t/small.mlir | FileCheck %s --check-prefix=SMALL

// RETURNED: files written to
// IR:       [[ONE:%.+]] = spyre.constant dense<1.000000e+00> : tensor<1x1x1xf16>
// IR-NEXT:  [[ALL:%.+]] = spyre.view [[ONE]] by
// IR-NEXT:  return [[ALL]]
// INDEX: index.mlir:7:10: error{{.*}}'linalg.index' op expected at most 16777216 elements that are computed at compile time, found 4294967296; give them as an argument, or compute over a smaller shape
// SMALL: result0: correct

//--- returned.mlir
func.func @main(%x: tensor<64xf16>) -> tensor<8192x8192x16xf16> {
  %c = arith.constant dense<1.0> : tensor<8192x8192x16xf16>
  return %c : tensor<8192x8192x16xf16>
}

//--- integers.mlir
func.func @main(%x: tensor<64xf16>) -> tensor<32768x32768xi32> {
  %c = arith.constant dense<7> : tensor<32768x32768xi32>
  return %c : tensor<32768x32768xi32>
}

//--- filled.mlir
func.func @main(%x: tensor<64xf16>) -> tensor<32768x32768xf16> {
  %one = arith.constant 1.0 : f16
  %e = tensor.empty() : tensor<32768x32768xf16>
  %f = linalg.fill ins(%one : f16) outs(%e : tensor<32768x32768xf16>) -> tensor<32768x32768xf16>
  return %f : tensor<32768x32768xf16>
}

//--- splat.mlir
func.func @main(%x: tensor<64xf16>) -> tensor<32768x32768xf16> {
  %one = arith.constant 1.0 : f16
  %s = tensor.splat %one : tensor<32768x32768xf16>
  return %s : tensor<32768x32768xf16>
}

//--- generated.mlir
func.func @main(%x: tensor<64xf16>) -> tensor<32768x32768xf16> {
  %one = arith.constant 1.0 : f16
  %g = tensor.generate {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f16
  } : tensor<32768x32768xf16>
  return %g : tensor<32768x32768xf16>
}

//--- factor.mlir
func.func @main(%x: tensor<64x32768xf16>) -> tensor<64x32768xf16> {
  %zero = arith.constant 0.0 : f16
  %w = arith.constant dense<1.0> : tensor<32768x32768xf16>
  %e = tensor.empty() : tensor<64x32768xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<64x32768xf16>) -> tensor<64x32768xf16>
  %c = linalg.matmul ins(%x, %w : tensor<64x32768xf16>, tensor<32768x32768xf16>) outs(%f : tensor<64x32768xf16>) -> tensor<64x32768xf16>
  return %c : tensor<64x32768xf16>
}

//--- padded.mlir
func.func @main(%x: tensor<64x64xf16>) -> tensor<16384x16384xf16> {
  %one = arith.constant 1.0 : f16
  %p = tensor.pad %x low[0, 0] high[16320, 16320] {
  ^bb0(%i: index, %j: index):
    tensor.yield %one : f16
  } : tensor<64x64xf16> to tensor<16384x16384xf16>
  return %p : tensor<16384x16384xf16>
}

//--- small.mlir
func.func @main(%x: tensor<64xf16>) -> tensor<1500x1500xf16> {
  %c = arith.constant dense<2.5> : tensor<1500x1500xf16>
  return %c : tensor<1500x1500xf16>
}

//--- summed.mlir
func.func @main(%x: tensor<64xf16>) -> tensor<64xf16> {
  %zero = arith.constant 0.0 : f16
  %c = arith.constant dense<5.0e-01> : tensor<64x1073741824xf16>
  %e = tensor.empty() : tensor<64xf16>
  %f = linalg.fill ins(%zero : f16) outs(%e : tensor<64xf16>) -> tensor<64xf16>
  %m = linalg.reduce ins(%c : tensor<64x1073741824xf16>) outs(%f : tensor<64xf16>) dimensions = [1]
    (%a: f16, %b: f16) {
      %s = arith.maximumf %a, %b : f16
      linalg.yield %s : f16
    }
  return %m : tensor<64xf16>
}

//--- index.mlir
#along = affine_map<(d0) -> (d0)>
func.func @main(%x: tensor<4294967296xf16>) -> tensor<4294967296xf16> {
  %e = tensor.empty() : tensor<4294967296xf16>
  %r = linalg.generic {indexing_maps = [#along, #along], iterator_types = ["parallel"]}
    ins(%x : tensor<4294967296xf16>) outs(%e : tensor<4294967296xf16>) {
  ^bb0(%a: f16, %o: f16):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i32
    %f = arith.sitofp %n : i32 to f16
    %s = arith.addf %a, %f : f16
    linalg.yield %s : f16
  } -> tensor<4294967296xf16>
  return %r : tensor<4294967296xf16>
}
