// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-dims="dims=0=A:B,1=C:D" %s
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=A:B" %s 2>&1 | FileCheck %s --check-prefix=NO-ARGUMENT
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=x=A:B" %s 2>&1 | FileCheck %s --check-prefix=NO-NUMBER
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=0=A::B" %s 2>&1 | FileCheck %s --check-prefix=EMPTY-NAME

// The error stands at the module: an option has no place in the file.
// NO-ARGUMENT: propagate-dims-invalid.mlir:[[#@LINE+3]]:1: error: 'builtin.module' op option 'dims': expected ARG=NAME:NAME with the number of an argument, found 'A:B'
// NO-NUMBER:   propagate-dims-invalid.mlir:[[#@LINE+2]]:1: error: 'builtin.module' op option 'dims': expected ARG=NAME:NAME with the number of an argument, found 'x=A:B'
// EMPTY-NAME:  propagate-dims-invalid.mlir:[[#@LINE+1]]:1: error: 'builtin.module' op option 'dims': expected ARG=NAME:NAME with the number of an argument, found '0=A::B'
module {
  func.func @first_name_wins(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-warning @+2 {{'spyre.pointwise' op iteration dimension 0 is 'A' by one operand and 'C' by another; keeping 'A'}}
    // expected-warning @+1 {{'spyre.pointwise' op iteration dimension 1 is 'B' by one operand and 'D' by another; keeping 'B'}}
    %sum = spyre.pointwise add(%x, %y) : tensor<8x64xf16>
    return %sum : tensor<8x64xf16>
  }
}

// -----

// A note shows the op that brought each name.
func.func @disagreement_behind_other_ops(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
  // expected-note @+2 {{'A' comes from here}}
  // expected-note @+1 {{'B' comes from here}}
  %exp = spyre.pointwise exp(%x) : tensor<8x64xf16>
  // expected-note @+2 {{'C' comes from here}}
  // expected-note @+1 {{'D' comes from here}}
  %neg = spyre.pointwise neg(%y) : tensor<8x64xf16>
  // expected-warning @+2 {{'spyre.pointwise' op iteration dimension 0 is 'A' by one operand and 'C' by another; keeping 'A'}}
  // expected-warning @+1 {{'spyre.pointwise' op iteration dimension 1 is 'B' by one operand and 'D' by another; keeping 'B'}}
  %sum = spyre.pointwise add(%exp, %neg) : tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op option 'dims' names argument 1, but the function has 1}}
func.func @too_few_arguments(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op option 'dims' gives argument 1 2 names, but it has 1 dimensions}}
func.func @other_rank(%x: tensor<8x64xf16>, %y: tensor<64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// -----

func.func @reshaped_operand(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<512xf16> {
  %flat = spyre.view %x by affine_map<(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<8x64xf16> -> tensor<512xf16>
  // expected-error-re @+1 {{'spyre.pointwise' op reads through {{.*}}floordiv{{.*}}: only permuted, shifted, added or dropped dimensions are supported here}}
  %exp = spyre.pointwise exp(%flat) : tensor<512xf16>
  return %exp : tensor<512xf16>
}
