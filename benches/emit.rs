//! Measures that emission time is linear, with 1,000 and 10,000 op specs (`cargo bench --bench emit`).

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use machine::DeviceFormat;
use sdsc_format::to_text;
use spyre_compiler::{
    bundle::{Allocation, Bundle, BundleItem, Coordinate, ElementArrangement, IterationDim, OpSpec, OpSpecOperand},
    launch::Launch,
    sdsc::from_op_spec,
};

/// Returns `n_ops` adds of f16 [1024, 4096] tensors, whose rows are split over 32 cores.
fn adds(n_ops: usize) -> Bundle {
    let operand = |is_input: bool, argument: u32| OpSpecOperand {
        is_input,
        format: DeviceFormat::Sen169Fp16,
        arrangement: ElementArrangement::Standard,
        device_size: vec![64, 1024, 64],
        coordinates: vec![Coordinate::floordiv(1, 64), Coordinate::dim(0), Coordinate::modulo(1, 64)],
        allocation: Allocation::Hbm { argument, offset_bytes: 0 },
        tile_advance: vec![],
        name: None,
        ownership: None,
    };
    let add = OpSpec {
        function: "add".to_owned(),
        iteration_space: vec![IterationDim::new(1024, 32), IterationDim::new(4096, 1)],
        operands: vec![operand(true, 0), operand(true, 1), operand(false, 2)],
        ..OpSpec::default()
    };
    Bundle { pool_bytes: 0, items: vec![BundleItem::Op(Box::new(add)); n_ops] }
}

/// Emits all files of a bundle; returns the number of bytes.
fn emit(bundle: &Bundle) -> usize {
    let launch = Launch::new(bundle).unwrap();
    let files = bundle.ops().into_iter().enumerate();
    let json: usize =
        files.map(|(index, op)| to_text(&from_op_spec(op, index, launch.first_symbol_ids[index]).unwrap()).len()).sum();
    launch.to_string().len() + json
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("emit");
    group.sample_size(10);
    for n_ops in [1_000, 10_000] {
        let bundle = adds(n_ops);
        group.throughput(Throughput::Bytes(emit(&bundle) as u64));
        group.bench_with_input(BenchmarkId::from_parameter(n_ops), &bundle, |bencher, bundle| {
            bencher.iter(|| emit(bundle))
        });
    }
    group.finish();
}

criterion_group!(emission, benches);
criterion_main!(emission);
