//! Measures the cost model: it evaluates a kernel in less than a microsecond (`cargo bench --bench cost`).

#![allow(missing_docs, reason = "a benchmark")]

use cost::{CostFormula, Dim, OpFeatures, OpKind, OpShape, OperandShape, estimate_kernel_time, extract_features};
use criterion::{Criterion, criterion_group, criterion_main};
use machine::Target;
use std::hint::black_box;

const ROWS: i64 = 4096;
const COLUMNS: i64 = 2048;

fn tensor(buffer: usize, is_output: bool, is_row_vector: bool, is_in_lx: bool) -> OperandShape {
    OperandShape {
        buffer,
        is_output,
        is_kernel_input: !is_in_lx && !is_output,
        is_in_lx,
        device_bytes: if is_row_vector { 128 * ROWS } else { 2 * ROWS * COLUMNS },
        element_bytes: 2,
        moved_by: if is_row_vector { vec![0] } else { vec![0, 1] },
        stick: (!is_row_vector).then_some(1),
        inner: Some(0),
    }
}

/// Builds a softmax: copy in, max, subtract, exp, sum, divide, copy out. All values except the first and last are in
/// LX.
fn build_softmax() -> Vec<OpFeatures> {
    let dim = |extent: i64, slices: i64, is_reduced: bool| Dim { extent, slices, is_reduced };
    let op = |kind: OpKind, operands: Vec<OperandShape>| {
        let dims = vec![dim(ROWS, 32, false), dim(COLUMNS, 1, kind == OpKind::Reduction)];
        OpShape { kind, dims, operands, ..OpShape::default() }
    };
    let whole = |buffer: usize, is_output: bool| tensor(buffer, is_output, false, true);
    let vector = |buffer: usize, is_output: bool| tensor(buffer, is_output, true, true);
    extract_features(&[
        op(OpKind::Pointwise, vec![tensor(0, false, false, false), whole(1, true)]),
        op(OpKind::Reduction, vec![whole(1, false), vector(2, true)]),
        op(OpKind::Pointwise, vec![whole(1, false), vector(2, false), whole(3, true)]),
        op(OpKind::Pointwise, vec![whole(3, false), whole(4, true)]),
        op(OpKind::Reduction, vec![whole(4, false), vector(5, true)]),
        op(OpKind::Pointwise, vec![whole(4, false), vector(5, false), whole(6, true)]),
        op(OpKind::Pointwise, vec![whole(6, false), tensor(7, true, false, false)]),
    ])
}

/// Builds eight batch matmuls, split over rows and columns.
fn build_batched_matmuls() -> Vec<OpFeatures> {
    let [batch, m, n, k] = [4_i64, 1024, 1024, 2048];
    let operand = |buffer: usize, is_output: bool, dims: [usize; 3], elements: i64| OperandShape {
        buffer,
        is_output,
        is_kernel_input: !is_output,
        is_in_lx: false,
        device_bytes: 2 * elements,
        element_bytes: 2,
        moved_by: dims.to_vec(),
        stick: Some(dims[2]),
        inner: Some(0),
    };
    let dim = |extent: i64, slices: i64, is_reduced: bool| Dim { extent, slices, is_reduced };
    let operands = vec![
        operand(0, false, [0, 1, 3], batch * m * k),
        operand(1, false, [0, 3, 2], batch * k * n),
        operand(2, true, [0, 1, 2], batch * m * n),
    ];
    let dims = vec![dim(batch, 1, false), dim(m, 16, false), dim(n, 2, false), dim(k, 1, true)];
    extract_features(&vec![OpShape { kind: OpKind::Matmul, dims, operands, ..OpShape::default() }; 8])
}

fn benches(criterion: &mut Criterion) {
    let model = Target::spyre().time;
    let mut group = criterion.benchmark_group("price");
    for (name, kernel) in [("softmax, 7 ops", build_softmax()), ("8 batched products", build_batched_matmuls())] {
        for (formula, of) in [(CostFormula::Recommended, "recommended"), (CostFormula::TorchSpyre, "torch-spyre")] {
            group.bench_function(format!("{name}, {of}"), |bencher| {
                bencher.iter(|| estimate_kernel_time(black_box(&kernel), black_box(&model), formula))
            });
        }
    }
    group.finish();
}

criterion_group!(cost, benches);
criterion_main!(cost);
