//! Measures that work division takes linear time, with 1,000 and 10,000 ops (`cargo bench --bench work`).
//!
//! The ops are elementwise ops, reductions and matmuls, a third each, of different sizes. Minima and splits are
//! measured alone, and the two passes on a function of as many elementwise ops.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use machine::{DeviceFormat, Family, Target};
use program::layout::{Coordinate, DeviceLayout, HostTensor, compute_device_coordinates};
use program::{DeviceOperand, DimKind, IterationDim, UndividedOp, WorkSplit};
use spyre_compiler::{
    mlir::Module,
    work::{divide, enumerate_splits, reduce_span},
};

/// Returns an f16 tensor with these iteration dimensions; `None` is a dimension of size 1.
fn operand(dims: &[Option<usize>], ranges: &[i64]) -> DeviceOperand {
    let sizes: Vec<i64> = dims.iter().map(|dim| dim.map_or(1, |dim| ranges[dim])).collect();
    let access: Vec<Coordinate> =
        dims.iter().map(|dim| dim.map_or(Coordinate::constant(0), Coordinate::from_dim)).collect();
    let layout = DeviceLayout::row_major(&sizes, DeviceFormat::Sen169Fp16).unwrap();
    let coordinates =
        compute_device_coordinates(&layout, &HostTensor::row_major(&sizes).unwrap(), &access, ranges).unwrap();
    DeviceOperand { layout, coordinates, part_of: None, indexed: None }
}

fn operation(family: Family, ranges: &[i64], num_outputs: usize, operands: Vec<DeviceOperand>) -> UndividedOp {
    let kind = |dim: usize| if dim < num_outputs { DimKind::Output } else { DimKind::Reduction };
    let dims = ranges.iter().enumerate().map(|(dim, &size)| IterationDim { size, kind: kind(dim) }).collect();
    UndividedOp { family, dims, operands, minima: WorkSplit::single_core(ranges.len()), hint: None, blocked: vec![] }
}

/// Returns op `index` of a program.
fn op(index: usize) -> UndividedOp {
    let step = i64::try_from(index % 31 + 1).unwrap();
    match index % 3 {
        0 => {
            let ranges = [64 * step, 4096];
            let both = operand(&[Some(0), Some(1)], &ranges);
            operation(Family::Pointwise, &ranges, 2, vec![both.clone(), both.clone(), both])
        }
        1 => {
            let ranges = [512, 128 * step];
            operation(
                Family::Reduce,
                &ranges,
                1,
                vec![operand(&[Some(0), Some(1)], &ranges), operand(&[Some(0), None], &ranges)],
            )
        }
        _ => {
            let ranges = [64 * step, 4096, 2048];
            let operands = vec![
                operand(&[Some(0), Some(2)], &ranges),
                operand(&[Some(2), Some(1)], &ranges),
                operand(&[Some(0), Some(1)], &ranges),
            ];
            operation(Family::Matmul, &ranges, 2, operands)
        }
    }
}

/// Divides all ops; returns the sum of their core counts.
fn divide_all(ops: &[UndividedOp]) -> i64 {
    let target = Target::spyre();
    let divided = ops.iter().map(|op| {
        let op = UndividedOp { minima: reduce_span(op, &target).unwrap(), ..op.clone() };
        divide(&op, &target).unwrap().num_cores()
    });
    divided.sum()
}

/// Returns a chain of `n_ops` elementwise ops.
fn chain_text(n_ops: usize) -> String {
    let tensor = "tensor<128x256xf16, #spyre.layout<[4, 128, 64], [64, 256, 1]>>";
    let ops: String =
        (0..n_ops).map(|index| format!("%v{} = spyre.pointwise exp(%v{index}) : {tensor}\n", index + 1)).collect();
    format!("func.func @f(%v0: {tensor}) -> {tensor} {{\n{ops}return %v{n_ops} : {tensor}\n}}")
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("divide");
    group.sample_size(10);
    for n_ops in [1_000, 10_000] {
        let ops: Vec<UndividedOp> = (0..n_ops).map(op).collect();
        group.throughput(Throughput::Elements(n_ops as u64));
        group.bench_with_input(BenchmarkId::from_parameter(n_ops), &ops, |bencher, ops| {
            bencher.iter(|| divide_all(ops))
        });
    }
    group.finish();
    let mut group = criterion.benchmark_group("passes");
    group.sample_size(10);
    for n_ops in [1_000, 10_000] {
        let session = spyre_compiler::pipeline::create_session();
        let mut module = Module::parse(&session, &chain_text(n_ops)).unwrap();
        // The passes are idempotent.
        group.throughput(Throughput::Elements(n_ops as u64));
        group.bench_function(BenchmarkId::from_parameter(n_ops), |bencher| {
            bencher.iter(|| assert!(module.run_pipeline("spyre-reduce-span,spyre-divide-work")));
        });
    }
    group.finish();
    // The matmul with the largest number of candidate splits.
    let matmul = op(29);
    criterion.bench_function("alternatives", |bencher| {
        bencher.iter(|| enumerate_splits(&matmul, &Target::spyre()).unwrap().len())
    });
}

criterion_group!(work, benches);
criterion_main!(work);
