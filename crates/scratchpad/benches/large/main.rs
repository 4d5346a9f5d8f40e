//! Plans of many buffers, as the rows of a table in `docs/lx-planning.md` (`cargo bench -p scratchpad --bench large`; the numbers of buffers may
//! stand behind it).

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a benchmark"
)]

mod random_lives;

use random_lives::{instance_of, random_lives};
use scratchpad::{Exact, Heading, Limits, Stays, plan_instance, planner_named};
use std::time::Instant;

/// Steps for each buffer, and for a plan at least: the defaults of `spyre-plan`.
const STEPS_OF_BUFFER: u64 = 2_000;
const STEPS: u64 = 2_000_000;

fn main() {
    let asked: Vec<usize> = std::env::args().filter_map(|argument| argument.parse().ok()).collect();
    let sizes = if asked.is_empty() { vec![1_000, 3_000, 9_000, 20_000, 50_000] } else { asked };
    println!("| buffers | of the load | placed | first-fit leaves | left | bound | above it | steps, million | seconds |");
    println!("|---|---|---|---|---|---|---|---|---|");
    for n in sizes {
        let (text, load) = random_lives(n);
        for hundredths in [110, 100, 70, 40] {
            let instance = instance_of(&text, load, hundredths);
            let first_fit = planner_named("first-fit").unwrap().plan(&instance.buffers, &instance.capacity);
            let simple = Exact { stays: Stays::Whole, budget: 0 }.adopt(&instance.buffers, &instance.capacity, &first_fit);
            let started = Instant::now();
            let mut limits = Limits { budget: STEPS.max(STEPS_OF_BUFFER * n as u64), go_on: &mut |_| true };
            let plan = plan_instance(&instance, "exact", Stays::Whole, &mut limits).unwrap();
            let seconds = started.elapsed().as_secs_f64();
            let result = plan.to_json(&instance, &Heading { planner: "exact", seconds, peak: None }).unwrap();
            let verified = scratchpad_verify::verify(&result, &text, (Some(instance.capacity.bytes), Some(128))).unwrap();
            assert_eq!((verified.hbm_bytes_left, verified.lower_bound), (plan.hbm_bytes_left, plan.lower_bound));
            let n_placed = plan.reasons.iter().filter(|reason| reason.is_none()).count();
            let above = 100.0 * (plan.hbm_bytes_left as f64 / plan.lower_bound as f64 - 1.0);
            let (left, bound, steps) = (plan.hbm_bytes_left, plan.lower_bound, plan.steps as f64 / 1e6);
            let (part, simple) = (hundredths as f64 / 100.0, simple.hbm_bytes_left);
            println!("| {n} | {part} | {n_placed} | {simple} | {left} | {bound} | {above:.1} % | {steps:.2} | {seconds:.1} |");
        }
    }
}
