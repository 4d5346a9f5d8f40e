//! Snapshots of the SDSC files of every op family that the compiler emits.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use serde_json::Value;
use spyre_compiler::{
    compile::compile,
    mlir::Module,
    pipeline::{CompileOptions, Phase},
};
use std::fs;

/// Returns the text of one emitted file of a program of `spyre` ops on 2 cores.
fn emit_file(program: &str, file: &str) -> String {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let session = spyre_compiler::pipeline::create_session();
    let mut module = Module::parse(&session, program).expect("a valid program");
    let options = CompileOptions { cores: 2, compile_to: Phase::Emit, ..CompileOptions::default() };
    compile(&mut module, &options, out.to_str().unwrap()).expect("it compiles");
    fs::read_to_string(out.join(file)).unwrap()
}

/// Returns the member of an op's file at a pointer below its `dscs_`. Tests compare the members with a short schema;
/// snapshots cover the others.
fn member(text: &str, pointer: &str) -> Value {
    let file: Value = serde_json::from_str(text).unwrap();
    let operation = file.as_object().unwrap().values().next().unwrap();
    let description = operation["dscs_"][0].as_object().unwrap().values().next().unwrap();
    description.pointer(pointer).unwrap_or_else(|| panic!("no {pointer} in {text}")).clone()
}

/// Returns the scale of each dimension of each tensor's class: 1, -1 if the tensor lacks the dimension, or -2 if it has
/// one element per stick.
fn dim_scales(text: &str) -> Vec<Vec<i64>> {
    let tensors = member(text, "/labeledDs_");
    tensors.as_array().unwrap().iter().map(|tensor| serde_json::from_value(tensor["scale_"].clone()).unwrap()).collect()
}

/// Returns the names of the operands of an op, in the order of its file.
fn operand_names(text: &str) -> Vec<String> {
    serde_json::from_value(member(text, "/computeOp_/0/inputLabeledDs")).unwrap()
}

/// Returns the name of the op of a file.
fn op_name(text: &str) -> String {
    let file: Value = serde_json::from_str(text).unwrap();
    file.as_object().unwrap().keys().next().unwrap().clone()
}

#[test]
fn pointwise_with_a_broadcast_operand() {
    let program = "func.func @f(%x: tensor<128x256xf16>, %bias: tensor<1x256xf16>) -> tensor<128x256xf16> {
      %y = spyre.pointwise add(%x, %bias) : (tensor<128x256xf16>, tensor<1x256xf16>) -> tensor<128x256xf16>
      return %y : tensor<128x256xf16>
    }";
    let text = emit_file(program, "bundle_0/sdsc_0.json");
    assert_eq!(dim_scales(&text), [[1, 1], [-1, 1], [1, 1]], "the bias has no rows");
    insta::assert_snapshot!(text);
}

#[test]
fn reduction_over_the_stick() {
    let program = "func.func @f(%x: tensor<64x256xf16>) -> tensor<64x1xf16> {
      %y = spyre.reduce sum(%x) dims [1] : tensor<64x256xf16> -> tensor<64x1xf16>
      return %y : tensor<64x1xf16>
    }";
    let text = emit_file(program, "bundle_0/sdsc_0.json");
    assert_eq!(
        (op_name(&text).as_str(), dim_scales(&text)),
        ("0_sum", vec![vec![1, 1], vec![1, -2]]),
        "one element of each stick is left"
    );
    assert_eq!(operand_names(&text).len(), 2, "a reduction reads its result");
    assert_eq!(member(&text, "/coordinateMasking_"), serde_json::json!({}), "whole sticks need no mask");
    insta::assert_snapshot!(text);
}

#[test]
fn reduction_over_rows() {
    let program = "func.func @f(%x: tensor<64x256xf16>) -> tensor<1x256xf16> {
      %y = spyre.reduce max(%x) dims [0] : tensor<64x256xf16> -> tensor<1x256xf16>
      return %y : tensor<1x256xf16>
    }";
    let text = emit_file(program, "bundle_0/sdsc_0.json");
    assert_eq!(
        (op_name(&text).as_str(), dim_scales(&text)),
        ("0_maxnonstick", vec![vec![1, 1], vec![-1, 1]]),
        "the result has no rows"
    );
    insta::assert_snapshot!(text);
}

#[test]
fn reduction_over_a_padded_stick_is_masked() {
    let program = "func.func @f(%x: tensor<100x150xf16>) -> tensor<100x1xf16> {
      %y = spyre.reduce sum(%x) dims [1] : tensor<100x150xf16> -> tensor<100x1xf16>
      return %y : tensor<100x1xf16>
    }";
    let text = emit_file(program, "bundle_0/sdsc_0.json");
    assert_eq!(
        member(&text, "/coordinateMasking_"),
        serde_json::json!({"out": [[150, 42]]}),
        "150 columns, and 42 up to the third stick"
    );
    assert_eq!(member(&text, "/N_/out_"), 192);
    insta::assert_snapshot!(text);
}

#[test]
fn matmul() {
    let program = "func.func @f(%x: tensor<64x128xf16>, %y: tensor<128x256xf16>) -> tensor<64x256xf16> {
      %z = spyre.matmul(%x, %y) : (tensor<64x128xf16>, tensor<128x256xf16>) -> tensor<64x256xf16>
      return %z : tensor<64x256xf16>
    }";
    let text = emit_file(program, "bundle_0/sdsc_0.json");
    let sizes = ["/N_/mb_", "/N_/out_", "/N_/in_"].map(|size| member(&text, size));
    assert_eq!(
        (sizes, member(&text, "/computeOp_/0/exUnit")),
        ([64.into(), 256.into(), 128.into()], "pt".into()),
        "M, N and K on the array"
    );
    let sticks =
        ["INPUT", "KERNEL", "OUTPUT"].map(|class| member(&text, &format!("/primaryDsInfo_/{class}/stickDimOrder_/0")));
    assert_eq!(sticks, ["in", "out", "out"].map(Value::from), "K in the left sticks, N in the right ones");
    insta::assert_snapshot!(text);
}

#[test]
fn copies_into_lx_and_chains_in_place() {
    let program = "func.func @f(%x: tensor<64x256xf16>) -> tensor<64x256xf16> {
      %e = spyre.pointwise exp(%x) : tensor<64x256xf16>
      %y = spyre.pointwise sub(%e, %x) : tensor<64x256xf16>
      return %y : tensor<64x256xf16>
    }";
    let (copy, bundle) = (emit_file(program, "bundle_0/sdsc_0.json"), emit_file(program, "bundle_0/bundle.mlir"));
    let memories = [0, 1].map(|tensor| member(&copy, &format!("/scheduleTree_/{tensor}/component_")));
    assert_eq!(
        (op_name(&copy).as_str(), memories),
        ("0_identity", ["hbm", "lx"].map(Value::from)),
        "the input is copied into LX"
    );
    let in_lx = bundle.lines().filter(|line| line.contains("sdsc_execute ()")).count();
    assert_eq!(in_lx, 1, "the exponential reads and writes LX only, so it needs no address");
    insta::assert_snapshot!("copy", copy);
    insta::assert_snapshot!("chain_bundle", bundle);
}

#[test]
fn f32_has_32_elements_in_a_stick() {
    let program = "func.func @f(%x: tensor<64x128xf32>) -> tensor<64x128xf32> {
      %y = spyre.pointwise exp(%x) : tensor<64x128xf32>
      return %y : tensor<64x128xf32>
    }";
    let text = emit_file(program, "bundle_0/sdsc_0.json");
    assert_eq!(member(&text, "/primaryDsInfo_/OUTPUT/stickSize_"), serde_json::json!([32]));
    insta::assert_snapshot!(text);
}
