// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-select-program %s

// expected-error @+1 {{expected one public function, found 'first' and 'second'; choose one with --entry NAME}}
func.func @first(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}
func.func @second(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{dimensions arg0.0, arg1.1 are dynamic; give their sizes with --dim-size arg0.0=N --dim-size arg1.1=N}}
func.func @open(%x: tensor<?x64xf16>, %y: tensor<2x?xf16>) -> tensor<?x64xf16> {
  return %x : tensor<?x64xf16>
}

// -----

// The one op of @f18 is copied 2^18 times. Of equal calls the first is named.

func.func @doubled(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error @+1 {{'func.call' op expected at most 131072 ops after inlining, found 262144 in 'doubled'; call functions in fewer places, or compile one of them with --entry NAME}}
  %0 = call @f1(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f1(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f1(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f2(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f2(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f2(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f3(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f3(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f3(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f4(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f4(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f4(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f5(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f5(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f5(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f6(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f6(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f6(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f7(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f7(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f7(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f8(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f8(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f8(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f9(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f9(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f9(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f10(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f10(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f10(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f11(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f11(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f11(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f12(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f12(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f12(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f13(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f13(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f13(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f14(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f14(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f14(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f15(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f15(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f15(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f16(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f16(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f16(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f17(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f17(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f17(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @f18(%x) : (tensor<64xf16>) -> tensor<64xf16>
  %1 = call @f18(%0) : (tensor<64xf16>) -> tensor<64xf16>
  return %1 : tensor<64xf16>
}
func.func private @f18(%x: tensor<64xf16>) -> tensor<64xf16> {
  %e = tensor.empty() : tensor<64xf16>
  return %e : tensor<64xf16>
}

// -----

func.func @itself(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @again(%x) : (tensor<64xf16>) -> tensor<64xf16>
  return %0 : tensor<64xf16>
}
func.func private @again(%x: tensor<64xf16>) -> tensor<64xf16> {
  // expected-error @+1 {{'func.call' op expected calls without a cycle, found 'again' calls 'back' calls 'again'; write the repetition as 'scf.for' with a constant trip count}}
  %0 = call @back(%x) : (tensor<64xf16>) -> tensor<64xf16>
  return %0 : tensor<64xf16>
}
func.func private @back(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @again(%x) : (tensor<64xf16>) -> tensor<64xf16>
  return %0 : tensor<64xf16>
}

// -----

// Functions that the program does not call are dropped, and their errors are not reported.

func.func @unrelated(%x: tensor<64xf16>) -> tensor<64xf16> {
  return %x : tensor<64xf16>
}
func.func private @left_out(%x: tensor<64xf16>) -> tensor<64xf16> {
  %0 = call @left_out(%x) : (tensor<64xf16>) -> tensor<64xf16>
  return %0 : tensor<64xf16>
}
