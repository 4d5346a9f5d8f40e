//! Plans of many buffers, and packings without a gap, as rows of the tables in `docs/measurements/lx-planning.md`
//! (`cargo bench -p spyre-scratchpad --bench large`; numbers of buffers may follow as arguments).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a benchmark"
)]

mod random_lives;

use random_lives::{build_instance, generate_live_ranges, random_generator};
use scratchpad::{
    ExactPlanner, PlanningLimits, ReportHeader, ResidencyMode, find_planner,
    pack::{PackingResult, Rectangle, StepBudget, pack_rectangles},
    plan_instance,
};
use std::time::Instant;

/// Steps per buffer, and the minimum for a plan: the defaults of `spyre-plan`.
const STEPS_PER_BUFFER: u64 = 2_000;
const MIN_STEPS: u64 = 2_000_000;

/// Cuts a block of 2^20 by 2^20 into `n` pieces: repeatedly cuts the largest piece in two, along either axis.
fn cut_block_into_pieces(n: usize, seed: u64) -> Vec<Rectangle> {
    let mut below = random_generator(seed);
    let area = |piece: &(Rectangle, i64)| (piece.0.upper - piece.0.lower) * piece.0.size;
    let mut all = vec![(Rectangle { lower: 0, upper: 1 << 20, size: 1 << 20 }, 0)];
    while all.len() < n {
        let largest = (0..all.len()).max_by_key(|&at| area(&all[at])).unwrap();
        let (piece, bottom) = all.swap_remove(largest);
        let width = piece.upper - piece.lower;
        let mut cut = |length: i64| length / 4 + below((length / 2).max(1) as usize) as i64 + i64::from(length < 4);
        if all.len() % 2 == 0 && width > 1 || piece.size < 2 {
            let middle = piece.lower + cut(width);
            all.extend([
                (Rectangle { upper: middle, ..piece }, bottom),
                (Rectangle { lower: middle, ..piece }, bottom),
            ]);
        } else {
            let height = cut(piece.size);
            all.extend([
                (Rectangle { size: height, ..piece }, bottom),
                (Rectangle { size: piece.size - height, ..piece }, bottom + height),
            ]);
        }
    }
    all.sort_by_key(|piece| (piece.0.size * 31 + piece.0.lower * 17) % 1009);
    all.into_iter().map(|piece| piece.0).collect()
}

/// Returns whether no pieces that are live together overlap, and none extends above the block.
fn is_packed(pieces: &[Rectangle], offsets: &[i64]) -> bool {
    let placed: Vec<_> = pieces.iter().zip(offsets).collect();
    let is_apart = |(one, low): &(&Rectangle, &i64), (other, its_low): &(&Rectangle, &i64)| {
        one.upper <= other.lower
            || other.upper <= one.lower
            || *low + one.size <= **its_low
            || *its_low + other.size <= **low
    };
    placed.iter().all(|(one, low)| **low >= 0 && *low + one.size <= 1 << 20)
        && placed.iter().enumerate().all(|(at, one)| placed[..at].iter().all(|other| is_apart(one, other)))
}

fn pack_pieces() {
    println!("\n| pieces | packed | steps | seconds |\n|---|---|---|---|");
    for n in [200, 500, 1_000, 2_000] {
        let (mut num_packed, mut taken, mut seconds) = (0, Vec::new(), Vec::new());
        for seed in 0..5 {
            let pieces = cut_block_into_pieces(n, seed);
            let (started, mut steps) = (Instant::now(), StepBudget { left: MIN_STEPS });
            if let PackingResult::Placed(offsets) = pack_rectangles(&pieces, 1 << 20, &mut steps) {
                assert!(is_packed(&pieces, &offsets));
                num_packed += 1;
                taken.push((MIN_STEPS - steps.left).to_string());
                seconds.push(format!("{:.2}", started.elapsed().as_secs_f64()));
            }
        }
        println!("| {n} | {num_packed} of 5 | {} | {} |", taken.join(", "), seconds.join(", "));
    }
}

fn main() {
    pack_pieces();
    let asked: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![1_000, 3_000, 9_000, 20_000, 50_000] } else { asked };
    println!(
        "| buffers | of the load | placed | first-fit leaves | left | bound | above it | steps, million | seconds |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for n in sizes {
        let (text, load) = generate_live_ranges(n);
        for hundredths in [110, 100, 70, 40] {
            let instance = build_instance(&text, load, hundredths);
            let first_fit = find_planner("first-fit").unwrap().plan(&instance.buffers, &instance.capacity);
            let simple = ExactPlanner { mode: ResidencyMode::Whole, budget: 0 }.import_placement(
                &instance.buffers,
                &instance.capacity,
                &first_fit,
            );
            let started = Instant::now();
            let mut limits =
                PlanningLimits { budget: MIN_STEPS.max(STEPS_PER_BUFFER * n as u64), go_on: &mut |_| true };
            let plan = plan_instance(&instance, "exact", ResidencyMode::Whole, &mut limits).unwrap();
            let seconds = started.elapsed().as_secs_f64();
            let result = plan.to_json(&instance, &ReportHeader { planner: "exact", seconds, peak: None }).unwrap();
            let verified =
                scratchpad_verify::verify(&result, &text, (Some(instance.capacity.bytes), Some(128))).unwrap();
            assert_eq!((verified.hbm_bytes_left, verified.lower_bound), (plan.hbm_bytes_left, plan.lower_bound));
            let num_placed = plan.reasons.iter().filter(|reason| reason.is_none()).count();
            let above = 100.0 * (plan.hbm_bytes_left as f64 / plan.lower_bound as f64 - 1.0);
            let (left, bound, steps) = (plan.hbm_bytes_left, plan.lower_bound, plan.steps as f64 / 1e6);
            let (part, simple) = (hundredths as f64 / 100.0, simple.hbm_bytes_left);
            println!(
                "| {n} | {part} | {num_placed} | {simple} | {left} | {bound} | {above:.1} % | {steps:.2} | {seconds:.1} |"
            );
        }
    }
}
