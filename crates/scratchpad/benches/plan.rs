//! Benchmarks of exact plans: graphs of realistic size, and a large one (`cargo bench --bench plan`).

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use scratchpad::{Buffer, Capacity, ExactPlanner, Use, UseKind};
use std::hint::black_box;

/// Builds layers of eleven buffers, as in an MLP with a residual connection: consecutive short live ranges, some that
/// span a layer, and uses of different weight.
fn build_layers(num_buffers: usize) -> Vec<Buffer> {
    let buffer = |index: usize| {
        let (layer, place) = (index / 11, index % 11);
        let birth = layer * 11 + place;
        let length = [11, 1, 2, 1, 5, 1, 3, 1, 1, 2, 1][place];
        let kilobytes = [512, 512, 128, 640, 1024, 1024, 384, 512, 128, 768, 512][(place + layer) % 11];
        let read = |time| Use { time, kind: UseKind::Read };
        let mut uses = vec![Use { time: birth, kind: UseKind::Write }, read(birth + length)];
        if length > 2 {
            uses.insert(1, read(birth + 1));
        }
        let in_place_parents = if place % 3 == 2 { vec![index - 1] } else { vec![] };
        Buffer {
            name: format!("b{index}"),
            bytes: kilobytes << 10,
            uses,
            in_place_parents,
            starts_in_hbm: false,
            ends_in_hbm: false,
            barred: None,
        }
    };
    (0..num_buffers).map(buffer).collect()
}

fn benches(criterion: &mut Criterion) {
    let capacity = Capacity { bytes: 1_625_344, alignment: 128 };
    let mut group = criterion.benchmark_group("plan");
    for num_buffers in [5, 10, 20, 40, 80, 561] {
        let buffers = build_layers(num_buffers);
        for (name, exact) in [("whole", ExactPlanner::new_unsplit()), ("split", ExactPlanner::new_split())] {
            assert!(exact.solve(&buffers, &capacity).optimal);
            group.bench_with_input(BenchmarkId::new(name, num_buffers), &buffers, |bencher, buffers| {
                bencher.iter(|| exact.solve(black_box(buffers), &capacity));
            });
        }
    }
    group.finish();
}

criterion_group!(planning, benches);
criterion_main!(planning);
