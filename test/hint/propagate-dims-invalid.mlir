// RUN: spyre-opt --split-input-file --verify-diagnostics --spyre-propagate-dims="dims=0=A:B,1=C:D" %s
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=A:B" %s 2>&1 | FileCheck %s --check-prefix=NO-ARGUMENT
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=x=A:B" %s 2>&1 | FileCheck %s --check-prefix=NO-NUMBER
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=0=A::B" %s 2>&1 | FileCheck %s --check-prefix=EMPTY-NAME

// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=0=A*B" %s 2>&1 | FileCheck %s --check-prefix=JOINED
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=0=A@0:B" %s 2>&1 | FileCheck %s --check-prefix=NO-SIZE
// RUN: not spyre-opt --split-input-file --spyre-propagate-dims="dims=0=A@8:B,1=A@4:B" %s 2>&1 | FileCheck %s --check-prefix=TWO-SIZES

// The error stands at the module: an option has no place in the file.
// NO-ARGUMENT: propagate-dims-invalid.mlir:[[#@LINE+6]]:1: error{{.*}}'builtin.module' op option 'dims': expected ARG=NAME:NAME or ARG=NAME@SIZE:NAME with the number of an argument, found 'A:B'
// NO-NUMBER:   propagate-dims-invalid.mlir:[[#@LINE+5]]:1: error{{.*}}'builtin.module' op option 'dims': expected ARG=NAME:NAME or ARG=NAME@SIZE:NAME with the number of an argument, found 'x=A:B'
// EMPTY-NAME:  propagate-dims-invalid.mlir:[[#@LINE+4]]:1: error{{.*}}'builtin.module' op option 'dims': expected ARG=NAME:NAME or ARG=NAME@SIZE:NAME with the number of an argument, found '0=A::B'
// JOINED:      error{{.*}}'builtin.module' op option 'dims': 'A*B' cannot be a name: '*' joins the names of a dimension
// NO-SIZE:     error{{.*}}'builtin.module' op option 'dims': expected NAME@SIZE with a positive size, found 'A@0'
// TWO-SIZES:   error{{.*}}'func.func' op option 'dims' declares 'A' of 4, which is declared of 8 already
module {
  // expected-note @+4 {{'A' comes from here}}
  // expected-note @+3 {{'B' comes from here}}
  // expected-note @+2 {{'C' comes from here}}
  // expected-note @+1 {{'D' comes from here}}
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

// expected-error @+1 {{'func.func' op argument 1 of shape 64 is named 'C' = ?, 'D' = ?: declare the sizes that are not known, all but one}}
func.func @sizes_that_nobody_knows(%x: tensor<8x64xf16>, %y: tensor<64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op argument 1 is named 'C' = 8 (declared), 'D' = ?, but 8 does not divide the 100 elements of its shape 100}}
func.func @no_whole_number_is_left(%x: tensor<8x64xf16>, %y: tensor<100xf16>) -> tensor<8x64xf16> attributes {spyre.dim_sizes = {C = 8}} {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op argument 1 is named 'C' = 8 (declared), 'D' = 16 (by argument 2), 128 elements, but its shape 4x4x4 has 64}}
func.func @sizes_that_come_to_other_elements(%x: tensor<8x64xf16>, %y: tensor<4x4x4xf16>, %z: tensor<16xf16> {spyre.dims = ["D"]}) -> tensor<8x64xf16>
    attributes {spyre.dim_sizes = {C = 8}} {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op argument 1 is no tensor with elements, but has names}}
func.func @names_of_no_tensor(%x: tensor<8x64xf16>, %y: index) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}
