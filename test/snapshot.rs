//! The SDSC files of every op family that the compiler emits, as snapshots.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use spyre::{
    compile::compile,
    mlir::Module,
    pipeline::{Options, Phase},
};
use std::fs;

/// The text of one emitted file of a program of `spyre` ops on 2 cores.
fn emitted(program: &str, file: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let session = spyre::pipeline::session();
    let mut module = Module::parse(&session, program).expect("a valid program");
    let options = Options { cores: 2, compile_to: Phase::Emit, ..Options::default() };
    compile(&mut module, &options, out.to_str().unwrap()).expect("it compiles");
    fs::read_to_string(out.join(file)).unwrap()
}

#[test]
fn pointwise_with_a_broadcast_operand() {
    let program = "func.func @f(%x: tensor<128x256xf16>, %bias: tensor<1x256xf16>) -> tensor<128x256xf16> {
      %y = spyre.pointwise add(%x, %bias) : (tensor<128x256xf16>, tensor<1x256xf16>) -> tensor<128x256xf16>
      return %y : tensor<128x256xf16>
    }";
    insta::assert_snapshot!(emitted(program, "bundle_0/sdsc_0.json"));
}

#[test]
fn reduction_over_the_stick() {
    let program = "func.func @f(%x: tensor<64x256xf16>) -> tensor<64x1xf16> {
      %y = spyre.reduce sum(%x) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
      return %y : tensor<64x1xf16>
    }";
    insta::assert_snapshot!(emitted(program, "bundle_0/sdsc_0.json"));
}

#[test]
fn reduction_over_rows() {
    let program = "func.func @f(%x: tensor<64x256xf16>) -> tensor<1x256xf16> {
      %y = spyre.reduce max(%x) dims [0] : tensor<64x256xf16> -> tensor<1x256xf16>
      return %y : tensor<1x256xf16>
    }";
    insta::assert_snapshot!(emitted(program, "bundle_0/sdsc_0.json"));
}

#[test]
fn reduction_over_a_padded_stick_is_masked() {
    let program = "func.func @f(%x: tensor<100x150xf16>) -> tensor<100x1xf16> {
      %y = spyre.reduce sum(%x) dims [1] : tensor<100x150xf16> -> tensor<100x1xf16>
      return %y : tensor<100x1xf16>
    }";
    insta::assert_snapshot!(emitted(program, "bundle_0/sdsc_0.json"));
}

#[test]
fn matmul() {
    let program = "func.func @f(%x: tensor<64x128xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16> {
      %z = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
      return %z : tensor<64x256xf16>
    }";
    insta::assert_snapshot!(emitted(program, "bundle_0/sdsc_0.json"));
}

#[test]
fn copy_into_lx_and_a_chain_in_place() {
    let program = "func.func @f(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
      %e = spyre.pointwise exp(%x) : tensor<64x256xf16>
      %y = spyre.pointwise sub(%e, %x) : tensor<64x256xf16>
      return %y : tensor<64x256xf16>
    }";
    insta::assert_snapshot!("copy", emitted(program, "bundle_0/sdsc_0.json"));
    insta::assert_snapshot!("chain_bundle", emitted(program, "bundle_0/bundle.mlir"));
}

#[test]
fn f32_has_32_elements_in_a_stick() {
    let program = "func.func @f(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %y = spyre.pointwise exp(%x) : tensor<64x128xf32>
      return %y : tensor<64x128xf32>
    }";
    insta::assert_snapshot!(emitted(program, "bundle_0/sdsc_0.json"));
}
