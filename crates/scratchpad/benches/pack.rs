//! Benchmarks of packings: the public `MiniMalloc` instances, and many buffers (`cargo bench --bench pack`).

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark")]

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use scratchpad::{
    Capacity, Instance,
    pack::{PackingResult, Rectangle, StepBudget, find_smallest_peak, pack_rectangles},
};
use std::{env, fs, hint::black_box};

/// Loads the instances of `SPYRE_MINIMALLOC`, a folder of CSV files. The default folder is next to the project.
fn load_instances() -> Vec<(String, Vec<Rectangle>)> {
    let folder = env::var("SPYRE_MINIMALLOC").unwrap_or_else(|_| "../shared/planner/minimalloc".to_owned());
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<_> = files.filter(|path| path.extension().is_some_and(|extension| extension == "csv")).collect();
    paths.sort();
    let tick = |time: usize| i64::try_from(time).unwrap();
    let instance = |path: &std::path::PathBuf| {
        let read = Instance::from_csv(&fs::read_to_string(path).unwrap(), Capacity { bytes: 0, alignment: 1 }).unwrap();
        let rectangles = read.buffers.iter().map(|buffer| {
            let life = buffer.live_range();
            Rectangle { lower: tick(life.start), upper: tick(life.end), size: buffer.bytes }
        });
        (path.file_stem().unwrap().to_string_lossy().into_owned(), rectangles.collect())
    };
    paths.iter().map(instance).collect()
}

/// Generates buffers as in training graphs: activations that are live until the backward pass, and many short live
/// ranges.
fn generate_activations(num_ticks: i64) -> Vec<Rectangle> {
    let sizes = [16_384, 1_638_400, 2_621_440, 20_971_520, 41_943_040];
    let short = (0..2 * num_ticks).map(|tick| Rectangle {
        lower: tick,
        upper: tick + 1 + tick * 7 % 40,
        size: sizes[(tick * 11 % 5) as usize],
    });
    let long = (0..num_ticks).step_by(3).map(|tick| Rectangle {
        lower: tick,
        upper: 2 * num_ticks - tick,
        size: sizes[(tick / 3 % 5) as usize],
    });
    short.chain(long).collect()
}

fn benches(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("pack");
    group.sample_size(10);
    for (name, rectangles) in load_instances() {
        group.bench_with_input(BenchmarkId::from_parameter(name), &rectangles, |bencher, rectangles| {
            bencher.iter(|| {
                assert!(matches!(
                    pack_rectangles(rectangles, 1 << 20, &mut StepBudget { left: 1_000_000 }),
                    PackingResult::Placed(_)
                ))
            });
        });
    }
    for num_ticks in [1_000, 10_000] {
        let rectangles = generate_activations(num_ticks);
        group.bench_with_input(BenchmarkId::new("list", rectangles.len()), &rectangles, |bencher, rectangles| {
            bencher.iter(|| find_smallest_peak(black_box(rectangles), &mut StepBudget { left: 0 }));
        });
    }
    group.finish();
}

criterion_group!(packing, benches);
criterion_main!(packing);
