//! Tests that work division chooses the same core splits as torch-spyre.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

use crate::common;
use machine::{DeviceFormat, Family, Target};
use program::layout::{Coordinate, DeviceLayout, HostTensor, compute_device_coordinates};
use program::{DeviceOperand, DimKind, IterationDim, UndividedOp, WorkSplit};
use serde_json::{Value, json};
use spyre_compiler::work::{distribute, divide, reduce_span};
use std::fs;

/// Builds a row-major operand. `access` maps the iteration space of sizes `ranges` to its host dimensions.
fn build_operand(sizes: &[i64], access: &[Coordinate], ranges: &[i64], format: DeviceFormat) -> DeviceOperand {
    let host = HostTensor::row_major(sizes).unwrap();
    let layout = DeviceLayout::row_major(sizes, format).unwrap();
    let coordinates = compute_device_coordinates(&layout, &host, access, ranges).unwrap();
    DeviceOperand { layout, coordinates, part_of: None, indexed: None }
}

fn build_op(family: Family, ranges: &[i64], num_outputs: usize, operands: Vec<DeviceOperand>) -> UndividedOp {
    let kind = |dim: usize| if dim < num_outputs { DimKind::Output } else { DimKind::Reduction };
    let dims = ranges.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect();
    UndividedOp { family, dims, operands, minima: WorkSplit::single_core(ranges.len()), hint: None, blocked: vec![] }
}

/// Returns the identity access to `count` dimensions.
fn identity_access(count: usize) -> Vec<Coordinate> {
    (0..count).map(Coordinate::from_dim).collect()
}

/// Builds a pointwise op. Inputs are broadcast to the shape of the result, aligned at the last dimension as in PyTorch.
fn build_pointwise(inputs: &[Vec<i64>], format: DeviceFormat) -> UndividedOp {
    let rank = inputs.iter().map(Vec::len).max().unwrap();
    let result: Vec<i64> = (0..rank)
        .map(|dim| {
            inputs
                .iter()
                .filter(|input| input.len() + dim >= rank)
                .map(|input| input[input.len() + dim - rank])
                .max()
                .unwrap()
        })
        .collect();
    let build_input = |input: &Vec<i64>| {
        let coordinate = |host: usize| {
            if input[host] == 1 { Coordinate::constant(0) } else { Coordinate::from_dim(rank - input.len() + host) }
        };
        build_operand(input, &(0..input.len()).map(coordinate).collect::<Vec<_>>(), &result, format)
    };
    let mut operands: Vec<DeviceOperand> = inputs.iter().map(build_input).collect();
    operands.push(build_operand(&result, &identity_access(rank), &result, format));
    build_op(Family::Pointwise, &result, rank, operands)
}

fn build_reduction(sizes: &[i64], dim: usize, format: DeviceFormat) -> UndividedOp {
    let output_dims: Vec<usize> = (0..sizes.len()).filter(|&other| other != dim).collect();
    let ranges: Vec<i64> = output_dims.iter().map(|&other| sizes[other]).chain([sizes[dim]]).collect();
    let output_position = |host: usize| output_dims.iter().position(|&other| other == host);
    let input_access: Vec<_> =
        (0..sizes.len()).map(|host| Coordinate::from_dim(output_position(host).unwrap_or(output_dims.len()))).collect();
    let output_access: Vec<_> = (0..sizes.len())
        .map(|host| output_position(host).map_or(Coordinate::constant(0), Coordinate::from_dim))
        .collect();
    let result: Vec<i64> = (0..sizes.len()).map(|host| if host == dim { 1 } else { sizes[host] }).collect();
    let operands = vec![
        build_operand(sizes, &input_access, &ranges, format),
        build_operand(&result, &output_access, &ranges, format),
    ];
    build_op(Family::Reduce, &ranges, output_dims.len(), operands)
}

fn build_matmul(x: &[i64], y: &[i64], format: DeviceFormat) -> UndividedOp {
    let rank = x.len() - 2;
    let (m, k, n) = (x[rank], x[rank + 1], y[y.len() - 1]);
    let ranges = [&x[..rank], &[m, n, k]].concat();
    let batch_access = |host: &[i64]| identity_access(rank)[rank - (host.len() - 2)..].to_vec();
    let access = |host: &[i64], rows: usize, columns: usize| {
        [batch_access(host), vec![Coordinate::from_dim(rank + rows), Coordinate::from_dim(rank + columns)]].concat()
    };
    let result = [&x[..rank], &[m, n]].concat();
    let operands = vec![
        build_operand(x, &access(x, 0, 2), &ranges, format),
        build_operand(y, &access(y, 2, 1), &ranges, format),
        build_operand(&result, &access(&result, 0, 1), &ranges, format),
    ];
    build_op(Family::Matmul, &ranges, rank + 2, operands)
}

fn build_transpose(ranges: &[i64], format: DeviceFormat) -> UndividedOp {
    let input =
        build_operand(&[ranges[1], ranges[0]], &[Coordinate::from_dim(1), Coordinate::from_dim(0)], ranges, format);
    let output = build_operand(ranges, &identity_access(2), ranges, format);
    build_op(Family::Copy, ranges, 2, vec![input, output])
}

/// Builds an op on sparse tensors, which have one element per stick.
fn build_sparse_op(rows: i64, format: DeviceFormat) -> UndividedOp {
    let host = HostTensor::row_major(&[rows, 1]).unwrap();
    let layout = DeviceLayout::sparse(&[rows, 1], 1, format).unwrap();
    let coordinates =
        compute_device_coordinates(&layout, &host, &[Coordinate::from_dim(0), Coordinate::constant(0)], &[rows])
            .unwrap();
    let sparse_operand = DeviceOperand { layout, coordinates, part_of: None, indexed: None };
    build_op(Family::Pointwise, &[rows], 1, vec![sparse_operand.clone(), sparse_operand])
}

fn build_topk(k: i64, columns: i64, rows: i64, format: DeviceFormat) -> UndividedOp {
    let ranges = [k, columns, rows];
    let input = build_operand(&[rows, columns], &[Coordinate::from_dim(2), Coordinate::from_dim(1)], &ranges, format);
    let output = build_operand(&[k, columns], &identity_access(2), &ranges, format);
    let op = build_op(Family::Reduce, &ranges, 2, vec![input, output]);
    // torch-spyre assigns at most 4 of the k values to a core, and never splits the reduced dimension.
    UndividedOp { minima: WorkSplit::new(vec![(k + 3) / 4, 1, 1]).unwrap(), blocked: vec![2], ..op }
}

fn parse_integers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|one| one.as_i64().unwrap()).collect()
}

/// Builds the op that a row of `peer_results.json` describes.
fn build_main_op(row: &Value, format: DeviceFormat) -> UndividedOp {
    let shapes: Vec<Vec<i64>> = row["shapes"].as_array().unwrap().iter().map(parse_integers).collect();
    let name = row["name"].as_str().unwrap();
    match row["op"].as_str().unwrap() {
        "batchmatmul" => build_matmul(&shapes[0], &shapes[1], format),
        "sum" | "max" => {
            build_reduction(&shapes[0], if name.ends_with("dim0") { 0 } else { shapes[0].len() - 1 }, format)
        }
        "ReStickifyOpHBM" => build_transpose(&[shapes[0][1], shapes[0][0]], format),
        "topkvalue" => build_topk(8, shapes[0][1], shapes[0][0], format),
        "add" | "exp" | "layernormnorm" => build_pointwise(&shapes, format),
        other => panic!("{other}"),
    }
}

/// Builds an op from its name and the sizes of its iteration space. Returns `None` for an unknown name.
fn build_op_by_name(name: &str, ranges: &[i64], format: DeviceFormat) -> Option<UndividedOp> {
    match name {
        "identity" | "sub" | "exp" | "realdiv" | "layernormnorm" | "add" => {
            Some(build_pointwise(&[ranges.to_vec()], format))
        }
        "max" | "sum" | "exx2" => Some(build_reduction(ranges, ranges.len() - 1, format)),
        "layernormscale" => Some(build_sparse_op(ranges[0], format)),
        "ReStickifyOpHBM" => Some(build_transpose(ranges, format)),
        _ => None,
    }
}

fn choose_division(op: UndividedOp, target: &Target) -> Vec<i64> {
    let op =
        if op.minima.num_cores() > 1 { op } else { UndividedOp { minima: reduce_span(&op, target).unwrap(), ..op } };
    let split = divide(&op, target).unwrap();
    remove_unit_dims(&op, split.slices())
}

fn remove_unit_dims(op: &UndividedOp, slices: &[i64]) -> Vec<i64> {
    op.dims.iter().zip(slices).filter(|(dim, _)| dim.size > 1).map(|(_, &slices)| slices).collect()
}

/// Returns op, shapes, and torch-spyre's core splits on 32 and on 8 cores (commit 9a6b71e4, 2026-08-20). Dimensions of
/// size 1 are omitted. This sample needs no files outside the repository; module `shared` compares all recorded
/// results.
fn recorded_divisions() -> Vec<(&'static str, Value, [Vec<i64>; 2])> {
    vec![
        ("batchmatmul", json!([[1, 4096], [4096, 11008]]), [vec![4, 8], vec![4, 2]]),
        ("batchmatmul", json!([[2048, 4096], [4096, 4096]]), [vec![4, 8, 1], vec![1, 8, 1]]),
        ("batchmatmul", json!([[8192, 32768], [32768, 4096]]), [vec![4, 2, 4], vec![1, 2, 4]]),
        ("batchmatmul", json!([[70, 100], [100, 150]]), [vec![5, 3, 2], vec![7, 1, 1]]),
        ("batchmatmul", json!([[32, 128, 64], [32, 64, 128]]), [vec![2, 8, 2, 1], vec![1, 4, 2, 1]]),
        ("add", json!([[100, 150], [100, 150]]), [vec![25, 1], vec![5, 1]]),
        ("add", json!([[65536, 8192], [65536, 8192]]), [vec![4, 8], vec![1, 8]]),
        ("add", json!([[512, 4096], [4096]]), [vec![32, 1], vec![8, 1]]),
        ("exp", json!([[1, 32, 512, 512]]), [vec![1, 32, 1], vec![1, 8, 1]]),
        ("sum", json!([[3, 4096]]), [vec![3, 8], vec![3, 2]]),
        ("sum dim0", json!([[64, 256]]), [vec![4, 8], vec![4, 2]]),
        ("max", json!([[512, 200]]), [vec![32, 1], vec![8, 1]]),
        ("layernormnorm", json!([[512, 4096], [4096], [4096]]), [vec![32, 1], vec![8, 1]]),
        ("ReStickifyOpHBM", json!([[2048, 4096]]), [vec![32, 1], vec![8, 1]]),
        ("topkvalue", json!([[4096, 64]]), [vec![2, 1, 1], vec![2, 1, 1]]),
    ]
}

#[test]
fn matches_recorded_splits_of_torch_spyre() {
    for (name, shapes, expected) in recorded_divisions() {
        let row = json!({"name": name, "op": name.split(' ').next().unwrap(), "shapes": shapes});
        for (cores, expected) in [32, 8].into_iter().zip(expected) {
            let target = Target { cores, ..Target::spyre() };
            assert_eq!(
                choose_division(build_main_op(&row, DeviceFormat::Sen169Fp16), &target),
                expected,
                "{row} on {cores} cores"
            );
        }
    }
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn matches_all_splits_of_torch_spyre() {
        let folder = common::shared("planner/workdiv");
        let text = fs::read_to_string(folder.join("peer_results.json")).unwrap();
        let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
        let (mut equal, mut total, mut different) = ([0; 3], [0; 3], vec![]);
        for row in &rows {
            let format = if row["dtype"] == "float32" { DeviceFormat::IeeeFp32 } else { DeviceFormat::Sen169Fp16 };
            for cores in [32, 16, 8] {
                let target = Target { cores, ..Target::spyre() };
                let recorded = &row["cores"][cores.to_string()];
                let mut compare = |kind: usize, what: &str, ours: Vec<i64>, theirs: Vec<i64>| {
                    total[kind] += 1;
                    if ours == theirs {
                        equal[kind] += 1
                    } else {
                        different.push(format!("{} {what} on {cores}: ours {ours:?} theirs {theirs:?}", row["name"]))
                    }
                };
                let op = build_main_op(row, format);
                let splits = recorded["splits"].as_array().unwrap();
                let expected: Vec<i64> =
                    splits.iter().filter(|dim| dim["range"] != 1).map(|dim| dim["split"].as_i64().unwrap()).collect();
                compare(0, "main", choose_division(op.clone(), &target), expected);
                if let Some(default) = recorded["default_splits"].as_object() {
                    let op = UndividedOp { minima: reduce_span(&op, &target).unwrap(), ..op };
                    let mut keys: Vec<_> = default.iter().collect();
                    keys.sort_by(|left, right| left.0.cmp(right.0));
                    let expected: Vec<i64> = keys.into_iter().map(|(_, split)| split.as_i64().unwrap()).collect();
                    compare(1, "default", remove_unit_dims(&op, distribute(&op, &target).slices()), expected);
                }
                for other_op in recorded["all_ops"].as_array().unwrap() {
                    let (ranges, splits) = (parse_integers(&other_op["ranges"]), parse_integers(&other_op["splits"]));
                    if let Some(op) = build_op_by_name(other_op["op"].as_str().unwrap(), &ranges, format).filter(|_| {
                        !row["name"].as_str().unwrap().contains("dim0")
                            && !row["name"].as_str().unwrap().starts_with("add_1x32")
                    }) {
                        compare(2, other_op["op"].as_str().unwrap(), choose_division(op, &target), splits);
                    }
                }
            }
        }
        println!(
            "main ops {}/{}, default rule {}/{}, other ops {}/{}",
            equal[0], total[0], equal[1], total[1], equal[2], total[2]
        );
        assert!(different.is_empty(), "{different:#?}");
    }
}
