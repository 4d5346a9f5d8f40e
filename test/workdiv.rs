//! Compares work division with the splits that torch-spyre chose.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

use crate::common;
use machine::{DeviceFormat, Family, Target};
use program::layout::{Coordinate, DeviceLayout, HostTensor, compute_device_coordinates};
use program::{DeviceOperand, DimKind, IterationDim, UndividedOp, WorkSplit};
use serde_json::{Value, json};
use spyre_compiler::work::{distribute, divide, reduce_span};
use std::fs;

fn operand(sizes: &[i64], access: &[Coordinate], ranges: &[i64], format: DeviceFormat) -> DeviceOperand {
    let host = HostTensor::row_major(sizes).unwrap();
    let layout = DeviceLayout::row_major(sizes, format).unwrap();
    let coordinates = compute_device_coordinates(&layout, &host, access, ranges).unwrap();
    DeviceOperand { layout, coordinates, part_of: None, indexed: None }
}

fn operation(family: Family, ranges: &[i64], num_outputs: usize, operands: Vec<DeviceOperand>) -> UndividedOp {
    let kind = |dim: usize| if dim < num_outputs { DimKind::Output } else { DimKind::Reduction };
    let dims = ranges.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect();
    UndividedOp { family, dims, operands, minima: WorkSplit::single_core(ranges.len()), hint: None, blocked: vec![] }
}

fn dims(count: usize) -> Vec<Coordinate> {
    (0..count).map(Coordinate::from_dim).collect()
}

/// Returns a pointwise op whose inputs are broadcast against the result from the right.
fn pointwise(inputs: &[Vec<i64>], format: DeviceFormat) -> UndividedOp {
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
    let read = |input: &Vec<i64>| {
        let at = |host: usize| {
            if input[host] == 1 { Coordinate::constant(0) } else { Coordinate::from_dim(rank - input.len() + host) }
        };
        operand(input, &(0..input.len()).map(at).collect::<Vec<_>>(), &result, format)
    };
    let mut operands: Vec<DeviceOperand> = inputs.iter().map(read).collect();
    operands.push(operand(&result, &dims(rank), &result, format));
    operation(Family::Pointwise, &result, rank, operands)
}

fn reduction(sizes: &[i64], dim: usize, format: DeviceFormat) -> UndividedOp {
    let kept: Vec<usize> = (0..sizes.len()).filter(|&other| other != dim).collect();
    let ranges: Vec<i64> = kept.iter().map(|&other| sizes[other]).chain([sizes[dim]]).collect();
    let place = |host: usize| kept.iter().position(|&other| other == host);
    let read: Vec<_> = (0..sizes.len()).map(|host| Coordinate::from_dim(place(host).unwrap_or(kept.len()))).collect();
    let write: Vec<_> =
        (0..sizes.len()).map(|host| place(host).map_or(Coordinate::constant(0), Coordinate::from_dim)).collect();
    let result: Vec<i64> = (0..sizes.len()).map(|host| if host == dim { 1 } else { sizes[host] }).collect();
    let operands = vec![operand(sizes, &read, &ranges, format), operand(&result, &write, &ranges, format)];
    operation(Family::Reduce, &ranges, kept.len(), operands)
}

fn matmul(x: &[i64], y: &[i64], format: DeviceFormat) -> UndividedOp {
    let rank = x.len() - 2;
    let (m, k, n) = (x[rank], x[rank + 1], y[y.len() - 1]);
    let ranges = [&x[..rank], &[m, n, k]].concat();
    let batch = |host: &[i64]| dims(rank)[rank - (host.len() - 2)..].to_vec();
    let access = |host: &[i64], rows: usize, columns: usize| {
        [batch(host), vec![Coordinate::from_dim(rank + rows), Coordinate::from_dim(rank + columns)]].concat()
    };
    let result = [&x[..rank], &[m, n]].concat();
    let operands = vec![
        operand(x, &access(x, 0, 2), &ranges, format),
        operand(y, &access(y, 2, 1), &ranges, format),
        operand(&result, &access(&result, 0, 1), &ranges, format),
    ];
    operation(Family::Matmul, &ranges, rank + 2, operands)
}

fn transpose(ranges: &[i64], format: DeviceFormat) -> UndividedOp {
    let input = operand(&[ranges[1], ranges[0]], &[Coordinate::from_dim(1), Coordinate::from_dim(0)], ranges, format);
    let output = operand(ranges, &dims(2), ranges, format);
    operation(Family::Copy, ranges, 2, vec![input, output])
}

/// Returns an op that reads and writes one element per stick.
fn sparse(rows: i64, format: DeviceFormat) -> UndividedOp {
    let host = HostTensor::row_major(&[rows, 1]).unwrap();
    let layout = DeviceLayout::sparse(&[rows, 1], 1, format).unwrap();
    let coordinates =
        compute_device_coordinates(&layout, &host, &[Coordinate::from_dim(0), Coordinate::constant(0)], &[rows])
            .unwrap();
    let both = DeviceOperand { layout, coordinates, part_of: None, indexed: None };
    operation(Family::Pointwise, &[rows], 1, vec![both.clone(), both])
}

fn topk(k: i64, columns: i64, rows: i64, format: DeviceFormat) -> UndividedOp {
    let ranges = [k, columns, rows];
    let input = operand(&[rows, columns], &[Coordinate::from_dim(2), Coordinate::from_dim(1)], &ranges, format);
    let output = operand(&[k, columns], &dims(2), &ranges, format);
    let op = operation(Family::Reduce, &ranges, 2, vec![input, output]);
    // torch-spyre pins k to at most 4 values per core and the reduced dimension to one slice.
    UndividedOp { minima: WorkSplit::new(vec![(k + 3) / 4, 1, 1]).unwrap(), blocked: vec![2], ..op }
}

fn to_numbers(value: &Value) -> Vec<i64> {
    value.as_array().unwrap().iter().map(|one| one.as_i64().unwrap()).collect()
}

/// Returns the op that a row describes.
fn main_op(row: &Value, format: DeviceFormat) -> UndividedOp {
    let shapes: Vec<Vec<i64>> = row["shapes"].as_array().unwrap().iter().map(to_numbers).collect();
    let name = row["name"].as_str().unwrap();
    match row["op"].as_str().unwrap() {
        "batchmatmul" => matmul(&shapes[0], &shapes[1], format),
        "sum" | "max" => reduction(&shapes[0], if name.ends_with("dim0") { 0 } else { shapes[0].len() - 1 }, format),
        "ReStickifyOpHBM" => transpose(&[shapes[0][1], shapes[0][0]], format),
        "topkvalue" => topk(8, shapes[0][1], shapes[0][0], format),
        "add" | "exp" | "layernormnorm" => pointwise(&shapes, format),
        other => panic!("{other}"),
    }
}

/// Returns an op of a program, from its name and ranges only.
fn any_op(name: &str, ranges: &[i64], format: DeviceFormat) -> Option<UndividedOp> {
    match name {
        "identity" | "sub" | "exp" | "realdiv" | "layernormnorm" | "add" => Some(pointwise(&[ranges.to_vec()], format)),
        "max" | "sum" | "exx2" => Some(reduction(ranges, ranges.len() - 1, format)),
        "layernormscale" => Some(sparse(ranges[0], format)),
        "ReStickifyOpHBM" => Some(transpose(ranges, format)),
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

/// Returns core splits of torch-spyre's work division (commit 9a6b71e4, 2026-08-20) on 32 and on 8 cores, for a program
/// of each kind. These few results let a clone alone test some splits; `shared` has all of them. Dimensions of size 1
/// are omitted.
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
fn matches_recorded_splits_of_peer() {
    for (name, shapes, expected) in recorded_divisions() {
        let row = json!({"name": name, "op": name.split(' ').next().unwrap(), "shapes": shapes});
        for (cores, expected) in [32, 8].into_iter().zip(expected) {
            let target = Target { cores, ..Target::spyre() };
            assert_eq!(
                choose_division(main_op(&row, DeviceFormat::Sen169Fp16), &target),
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
    fn matches_splits_of_peer() {
        let folder = common::shared("planner/workdiv");
        let text = fs::read_to_string(folder.join("peer_results.json")).unwrap();
        let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
        let (mut equal, mut total, mut different) = ([0; 3], [0; 3], vec![]);
        for row in &rows {
            let format = if row["dtype"] == "float32" { DeviceFormat::IeeeFp32 } else { DeviceFormat::Sen169Fp16 };
            for cores in [32, 16, 8] {
                let target = Target { cores, ..Target::spyre() };
                let theirs = &row["cores"][cores.to_string()];
                let mut compare = |kind: usize, what: &str, ours: Vec<i64>, theirs: Vec<i64>| {
                    total[kind] += 1;
                    if ours == theirs {
                        equal[kind] += 1
                    } else {
                        different.push(format!("{} {what} on {cores}: ours {ours:?} theirs {theirs:?}", row["name"]))
                    }
                };
                let op = main_op(row, format);
                let splits = theirs["splits"].as_array().unwrap();
                let long: Vec<i64> =
                    splits.iter().filter(|dim| dim["range"] != 1).map(|dim| dim["split"].as_i64().unwrap()).collect();
                compare(0, "main", choose_division(op.clone(), &target), long);
                if let Some(default) = theirs["default_splits"].as_object() {
                    let op = UndividedOp { minima: reduce_span(&op, &target).unwrap(), ..op };
                    let mut keys: Vec<_> = default.iter().collect();
                    keys.sort_by(|left, right| left.0.cmp(right.0));
                    let expected: Vec<i64> = keys.into_iter().map(|(_, split)| split.as_i64().unwrap()).collect();
                    compare(1, "default", remove_unit_dims(&op, distribute(&op, &target).slices()), expected);
                }
                for one in theirs["all_ops"].as_array().unwrap() {
                    let (ranges, splits) = (to_numbers(&one["ranges"]), to_numbers(&one["splits"]));
                    if let Some(op) = any_op(one["op"].as_str().unwrap(), &ranges, format).filter(|_| {
                        !row["name"].as_str().unwrap().contains("dim0")
                            && !row["name"].as_str().unwrap().starts_with("add_1x32")
                    }) {
                        compare(2, one["op"].as_str().unwrap(), choose_division(op, &target), splits);
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
