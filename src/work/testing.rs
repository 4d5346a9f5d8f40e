//! Descriptions of ops, for unit tests.

use machine::DeviceFormat;
use machine::DeviceFormat::{IeeeFp32, Sen169Fp16};
use machine::Family;
use program::{
    DimKind, IterationDim, Operand, Operation, OperationError, WorkSplit,
    layout::{Coordinate, DeviceLayout, HostTensor, device_coordinates},
};
use proptest::prelude::*;

fn operand(sizes: &[i64], access: &[Coordinate], ranges: &[i64], format: DeviceFormat) -> Operand {
    let host = HostTensor::row_major(sizes).unwrap();
    let layout = DeviceLayout::row_major(sizes, format).unwrap();
    let coordinates = device_coordinates(&layout, &host, access, ranges).unwrap();
    Operand { layout, coordinates, part_of: None, indexed: None }
}

fn operation(family: Family, dims: Vec<IterationDim>, operands: Vec<Operand>) -> Operation {
    let minima = WorkSplit::whole(dims.len());
    Operation { family, dims, operands, minima, hint: None, blocked: Vec::new() }
}

fn output(size: i64) -> IterationDim {
    IterationDim { size, kind: DimKind::Output }
}

fn reduced(size: i64) -> IterationDim {
    IterationDim { size, kind: DimKind::Reduction }
}

/// One f16 input and a result of the same shape.
pub(super) fn pointwise(sizes: &[i64]) -> Operation {
    let access: Vec<Coordinate> = (0..sizes.len()).map(Coordinate::dim).collect();
    let both = operand(sizes, &access, sizes, Sen169Fp16);
    operation(Family::Pointwise, sizes.iter().map(|&size| output(size)).collect(), vec![both.clone(), both])
}

/// An f16 reduction over one dimension, which stays in the result with size 1.
pub(super) fn reduction(sizes: &[i64], dim: usize) -> Operation {
    let kept: Vec<usize> = (0..sizes.len()).filter(|&other| other != dim).collect();
    let ranges: Vec<i64> = kept.iter().map(|&other| sizes[other]).chain([sizes[dim]]).collect();
    let place = |host: usize| kept.iter().position(|&other| other == host);
    let read: Vec<Coordinate> = (0..sizes.len()).map(|host| Coordinate::dim(place(host).unwrap_or(kept.len()))).collect();
    let write: Vec<Coordinate> = (0..sizes.len()).map(|host| place(host).map_or(Coordinate::constant(0), Coordinate::dim)).collect();
    let result: Vec<i64> = (0..sizes.len()).map(|host| if host == dim { 1 } else { sizes[host] }).collect();
    let dims = ranges[..kept.len()].iter().map(|&size| output(size)).chain([reduced(sizes[dim])]).collect();
    let operands = vec![operand(sizes, &read, &ranges, Sen169Fp16), operand(&result, &write, &ranges, Sen169Fp16)];
    operation(Family::Reduce, dims, operands)
}

/// An f16 matmul of [batch.., m, k] and [batch.., k, n].
pub(super) fn matmul(batch: &[i64], m: i64, k: i64, n: i64) -> Operation {
    let rank = batch.len();
    let ranges = [batch, &[m, n, k]].concat();
    let access = |rows: usize, columns: usize| {
        let batch = (0..rank).map(Coordinate::dim);
        batch.chain([Coordinate::dim(rank + rows), Coordinate::dim(rank + columns)]).collect::<Vec<_>>()
    };
    let tensor = |rows: usize, columns: usize| {
        let sizes = [batch, &[ranges[rank + rows], ranges[rank + columns]]].concat();
        operand(&sizes, &access(rows, columns), &ranges, Sen169Fp16)
    };
    let dims = ranges[..rank + 2].iter().map(|&size| output(size)).chain([reduced(k)]).collect();
    operation(Family::Matmul, dims, vec![tensor(0, 2), tensor(2, 1), tensor(0, 1)])
}

/// A small or a large op of any family.
pub(super) fn any_operation() -> impl Strategy<Value = Operation> {
    let size = || prop_oneof![1_i64..300, (1_i64..300).prop_map(|size| size * 64)];
    prop_oneof![
        prop::collection::vec(size(), 1..4).prop_map(|sizes| pointwise(&sizes)),
        (size(), size(), 0_usize..2).prop_map(|(rows, columns, dim)| reduction(&[rows, columns], dim)),
        (prop::collection::vec(1_i64..9, 0..2), size(), size(), size()).prop_map(|(batch, m, k, n)| matmul(&batch, m, k, n)),
    ]
}

#[test]
fn stick_dims_are_counted_in_sticks() {
    assert_eq!(pointwise(&[128, 250]).units(), [128, 4]);
    assert_eq!(matmul(&[], 70, 100, 150).units(), [70, 3, 2]);
    let mut mixed = pointwise(&[128, 256]);
    mixed.operands[1] = operand(&[128, 256], &[Coordinate::dim(0), Coordinate::dim(1)], &[128, 256], IeeeFp32);
    assert_eq!(mixed.units(), [128, 4], "the f16 stick is the larger unit");
}

#[test]
fn a_masked_reduction_is_not_split() {
    assert!(reduction(&[64, 256], 1).may_split(1));
    assert!(!reduction(&[64, 200], 1).may_split(1));
    assert!(reduction(&[50, 256], 0).may_split(1), "rows need no mask");
    assert!(matmul(&[], 70, 100, 150).may_split(2), "nor does a contraction");
}

#[test]
fn a_contradictory_operation_is_refused() {
    let mut short = pointwise(&[128, 256]);
    short.operands[1].coordinates.pop();
    assert_eq!(short.check(), Err(OperationError::Coordinates { operand: 1, expected: 3, found: 2 }));
    let mut foreign = pointwise(&[128, 256]);
    foreign.operands[0].coordinates[1] = Coordinate::dim(7);
    assert!(matches!(foreign.check(), Err(OperationError::Layout(_))));
}
