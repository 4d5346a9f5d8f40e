//! Descriptions of ops, for unit tests.

use machine::DeviceFormat;
use machine::DeviceFormat::{IeeeFp32, Sen169Fp16};
use machine::Family;
use program::{
    DeviceOperand, DimKind, IterationDim, UndividedOp, UndividedOpError, WorkSplit,
    layout::{Coordinate, DeviceLayout, HostTensor, compute_device_coordinates},
};
use proptest::prelude::*;

fn build_operand(sizes: &[i64], access: &[Coordinate], ranges: &[i64], format: DeviceFormat) -> DeviceOperand {
    let host = HostTensor::row_major(sizes).unwrap();
    let layout = DeviceLayout::row_major(sizes, format).unwrap();
    let coordinates = compute_device_coordinates(&layout, &host, access, ranges).unwrap();
    DeviceOperand { layout, coordinates, part_of: None, indexed: None }
}

fn build_operation(family: Family, dims: Vec<IterationDim>, operands: Vec<DeviceOperand>) -> UndividedOp {
    let minima = WorkSplit::single_core(dims.len());
    UndividedOp { family, dims, operands, minima, hint: None, blocked: Vec::new() }
}

fn output_dim(size: i64) -> IterationDim {
    IterationDim { size, kind: DimKind::Output }
}

fn reduction_dim(size: i64) -> IterationDim {
    IterationDim { size, kind: DimKind::Reduction }
}

/// Returns an elementwise op with one f16 input and a result of the same shape.
pub(super) fn pointwise(sizes: &[i64]) -> UndividedOp {
    let access: Vec<Coordinate> = (0..sizes.len()).map(Coordinate::from_dim).collect();
    let both = build_operand(sizes, &access, sizes, Sen169Fp16);
    build_operation(Family::Pointwise, sizes.iter().map(|&size| output_dim(size)).collect(), vec![both.clone(), both])
}

/// Returns an f16 reduction over one dimension, which stays in the result with size 1.
pub(super) fn reduction(sizes: &[i64], dim: usize) -> UndividedOp {
    let kept: Vec<usize> = (0..sizes.len()).filter(|&other| other != dim).collect();
    let ranges: Vec<i64> = kept.iter().map(|&other| sizes[other]).chain([sizes[dim]]).collect();
    let place = |host: usize| kept.iter().position(|&other| other == host);
    let read: Vec<Coordinate> =
        (0..sizes.len()).map(|host| Coordinate::from_dim(place(host).unwrap_or(kept.len()))).collect();
    let write: Vec<Coordinate> =
        (0..sizes.len()).map(|host| place(host).map_or(Coordinate::constant(0), Coordinate::from_dim)).collect();
    let result: Vec<i64> = (0..sizes.len()).map(|host| if host == dim { 1 } else { sizes[host] }).collect();
    let dims = ranges[..kept.len()].iter().map(|&size| output_dim(size)).chain([reduction_dim(sizes[dim])]).collect();
    let operands =
        vec![build_operand(sizes, &read, &ranges, Sen169Fp16), build_operand(&result, &write, &ranges, Sen169Fp16)];
    build_operation(Family::Reduce, dims, operands)
}

/// Returns an f16 matmul of [batch.., m, k] and [batch.., k, n].
pub(super) fn matmul(batch: &[i64], m: i64, k: i64, n: i64) -> UndividedOp {
    let rank = batch.len();
    let ranges = [batch, &[m, n, k]].concat();
    let access = |rows: usize, columns: usize| {
        let batch = (0..rank).map(Coordinate::from_dim);
        batch.chain([Coordinate::from_dim(rank + rows), Coordinate::from_dim(rank + columns)]).collect::<Vec<_>>()
    };
    let tensor = |rows: usize, columns: usize| {
        let sizes = [batch, &[ranges[rank + rows], ranges[rank + columns]]].concat();
        build_operand(&sizes, &access(rows, columns), &ranges, Sen169Fp16)
    };
    let dims = ranges[..rank + 2].iter().map(|&size| output_dim(size)).chain([reduction_dim(k)]).collect();
    build_operation(Family::Matmul, dims, vec![tensor(0, 2), tensor(2, 1), tensor(0, 1)])
}

/// Returns a small or a large op of any family.
pub(super) fn any_operation() -> impl Strategy<Value = UndividedOp> {
    let size = || prop_oneof![1_i64..300, (1_i64..300).prop_map(|size| size * 64)];
    prop_oneof![
        prop::collection::vec(size(), 1..4).prop_map(|sizes| pointwise(&sizes)),
        (size(), size(), 0_usize..2).prop_map(|(rows, columns, dim)| reduction(&[rows, columns], dim)),
        (prop::collection::vec(1_i64..9, 0..2), size(), size(), size())
            .prop_map(|(batch, m, k, n)| matmul(&batch, m, k, n)),
    ]
}

#[test]
fn counts_stick_dims_in_sticks() {
    assert_eq!(pointwise(&[128, 250]).units(), [128, 4]);
    assert_eq!(matmul(&[], 70, 100, 150).units(), [70, 3, 2]);
    let mut mixed = pointwise(&[128, 256]);
    mixed.operands[1] =
        build_operand(&[128, 256], &[Coordinate::from_dim(0), Coordinate::from_dim(1)], &[128, 256], IeeeFp32);
    assert_eq!(mixed.units(), [128, 4], "the f16 stick is the larger unit");
}

#[test]
fn keeps_masked_reduction_unsplit() {
    assert!(reduction(&[64, 256], 1).may_split(1));
    assert!(!reduction(&[64, 200], 1).may_split(1));
    assert!(reduction(&[50, 256], 0).may_split(1), "rows need no mask");
    assert!(matmul(&[], 70, 100, 150).may_split(2), "nor does a contraction");
}

#[test]
fn rejects_contradictory_operation() {
    let mut short = pointwise(&[128, 256]);
    short.operands[1].coordinates.pop();
    assert_eq!(short.check(), Err(UndividedOpError::Coordinates { operand: 1, expected: 3, found: 2 }));
    let mut foreign = pointwise(&[128, 256]);
    foreign.operands[0].coordinates[1] = Coordinate::from_dim(7);
    assert!(matches!(foreign.check(), Err(UndividedOpError::Layout(_))));
}
