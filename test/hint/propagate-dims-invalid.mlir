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
// JOINED:      error{{.*}}'builtin.module' op option 'dims': expected a dimension name without '*', which joins names, found 'A*B'
// NO-SIZE:     error{{.*}}'builtin.module' op option 'dims': expected NAME@SIZE with a positive size, found 'A@0'
// TWO-SIZES:   error{{.*}}option 'dims': size of 'A' is declared as 8 and as 4; declare it once
module {
  // expected-note @+4 {{'A' comes from here}}
  // expected-note @+3 {{'B' comes from here}}
  // expected-note @+2 {{'C' comes from here}}
  // expected-note @+1 {{'D' comes from here}}
  func.func @first_name_wins(%x: tensor<8x64xf16>, %y: tensor<8x64xf16>) -> tensor<8x64xf16> {
    // expected-warning @+2 {{operands name iteration dimension 0 'A' and 'C'; 'A' is kept}}
    // expected-warning @+1 {{operands name iteration dimension 1 'B' and 'D'; 'B' is kept}}
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
  // expected-warning @+2 {{operands name iteration dimension 0 'A' and 'C'; 'A' is kept}}
  // expected-warning @+1 {{operands name iteration dimension 1 'B' and 'D'; 'B' is kept}}
  %sum = spyre.pointwise add(%exp, %neg) : tensor<8x64xf16>
  return %sum : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{'func.func' op option 'dims': the function has no argument 1; its 1 arguments are numbered from 0}}
func.func @too_few_arguments(%x: tensor<8x64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{expected at most one name without a size for argument 1 (shape 64), found 'C' = ?, 'D' = ?; declare sizes as NAME@SIZE}}
func.func @sizes_that_nobody_knows(%x: tensor<8x64xf16>, %y: tensor<64xf16>) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{expected sizes whose product divides the 100 elements of argument 1 (shape 100), found 'C' = 8 (declared), 'D' = ? with the product 8; correct the declared sizes}}
func.func @no_whole_number_is_left(%x: tensor<8x64xf16>, %y: tensor<100xf16>) -> tensor<8x64xf16> attributes {spyre.dim_sizes = {C = 8}} {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{expected names whose sizes have the product 64 for argument 1 (shape 4x4x4), found 'C' = 8 (declared), 'D' = 16 (by argument 2) with the product 128; correct the names or their sizes}}
func.func @sizes_that_come_to_other_elements(%x: tensor<8x64xf16>, %y: tensor<4x4x4xf16>, %z: tensor<16xf16> {spyre.dims = ["D"]}) -> tensor<8x64xf16>
    attributes {spyre.dim_sizes = {C = 8}} {
  return %x : tensor<8x64xf16>
}

// -----

// expected-error @+1 {{expected a tensor with elements for the names of argument 1; remove the names}}
func.func @names_of_no_tensor(%x: tensor<8x64xf16>, %y: index) -> tensor<8x64xf16> {
  return %x : tensor<8x64xf16>
}
