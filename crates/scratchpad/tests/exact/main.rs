//! Tests of the exact planner: brute force, the shared instances, and the checker on corrupted results.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_possible_wrap,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

use scratchpad::{
    Buffer, ExactPlanner, Instance, ReportHeader, ResidencyMode,
    pack::{PackingResult, Rectangle, StepBudget, pack_rectangles},
};
use scratchpad_verify::{VerifiedPlan, Violation};
use serde_json::{Value, json};
use std::fs;

mod brute_force;
mod choices;
#[path = "../../../../test/common/places.rs"]
mod common;
mod corrupt;
mod forge;
mod large;
mod links;
mod random;
#[path = "../../benches/large/random_lives.rs"]
mod random_lives;

/// Step budget. About one small instance in ten thousand needs more than the default to be proved optimal.
const BUDGET: u64 = 20_000_000;
const HEADING: ReportHeader<'_> = ReportHeader { planner: "exact", seconds: 0.0, peak: None };

fn verify(result: &str, instance: &str) -> Result<VerifiedPlan, Violation> {
    scratchpad_verify::verify(result, instance, (None, None))
}

fn planners_of_both_modes() -> [ExactPlanner; 2] {
    [ResidencyMode::Whole, ResidencyMode::Split].map(|intervals| ExactPlanner { mode: intervals, budget: BUDGET })
}

fn random_instance(seed: u64) -> Instance {
    let (buffers, capacity) = random::sample_buffers(seed);
    Instance { name: "random".to_owned(), capacity, buffers }
}

fn read_number(variable: &str) -> Option<u64> {
    std::env::var(variable)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{variable}: expected a number, found '{text}'")))
}

/// Returns the seeds, from `SPYRE_EXACT_SEEDS` (100,000 take two minutes of one core in release) and
/// `SPYRE_EXACT_FROM`.
fn seed_range() -> std::ops::Range<u64> {
    read_number("SPYRE_EXACT_FROM").unwrap_or(0)..num_seeds()
}

fn num_seeds() -> u64 {
    read_number("SPYRE_EXACT_SEEDS").unwrap_or(300)
}

fn linked_instance(seed: u64) -> Instance {
    let (buffers, capacity) = random::sample_linked_buffers(seed);
    Instance { name: "links".to_owned(), capacity, buffers }
}

#[test]
fn matches_brute_force_on_small_instances() {
    for (seed, instance) in seed_range().flat_map(|seed| [(seed, random_instance(seed)), (seed, linked_instance(seed))])
    {
        for exact in planners_of_both_modes() {
            let plan = exact.solve(&instance.buffers, &instance.capacity);
            let least = brute_force::find_min_hbm_bytes(
                &instance.buffers,
                &instance.capacity,
                exact.mode == ResidencyMode::Whole,
            );
            let name = &instance.name;
            assert_eq!((plan.hbm_bytes_left, plan.optimal), (least, true), "{name}, seed {seed} {:?}", exact.mode);
            let verified = verify(&plan.to_json(&instance, &HEADING).unwrap(), &random::to_json(&instance));
            let is_confirmed = verified.as_ref().is_ok_and(|verified| verified.optimal);
            assert!(is_confirmed, "{name}, seed {seed} {:?}: {verified:?}", exact.mode);
        }
    }
}

/// Without in-place reuse, packing places all buffers exactly if brute force can.
#[test]
fn matches_brute_force_on_packings() {
    let mut num_placed = 0;
    for seed in 0..num_seeds() {
        let Instance { buffers, mut capacity, .. } = random_instance(seed);
        let buffers: Vec<Buffer> =
            buffers.into_iter().map(|buffer| Buffer { in_place_parents: Vec::new(), barred: None, ..buffer }).collect();
        capacity.bytes -= capacity.bytes % capacity.alignment;
        let tick = |time: usize| i64::try_from(time).unwrap();
        let rectangle = |buffer: &Buffer| {
            let (life, size) = (buffer.live_range(), capacity.align(buffer.bytes) / capacity.alignment);
            Rectangle { lower: tick(life.start), upper: tick(life.end), size }
        };
        let rectangles: Vec<Rectangle> = buffers.iter().map(rectangle).collect();
        let packing =
            pack_rectangles(&rectangles, capacity.bytes / capacity.alignment, &mut StepBudget { left: BUDGET });
        assert_ne!(packing, PackingResult::OutOfSteps, "seed {seed}");
        assert_eq!(
            matches!(packing, PackingResult::Placed(_)),
            brute_force::can_place_all(&buffers, &capacity),
            "seed {seed}"
        );
        if let PackingResult::Placed(offsets) = packing {
            num_placed += 1;
            let interval =
                |(buffer, offset): (usize, i64)| (buffer, buffers[buffer].live_range(), offset * capacity.alignment);
            assert!(
                brute_force::is_legal(&buffers, &capacity, offsets.into_iter().enumerate().map(interval)),
                "seed {seed}"
            );
        }
    }
    assert!(num_placed > num_seeds() / 5 && num_placed < num_seeds());
}

/// Layers of up to 40 buffers are too many for brute force. Optimal or not, plans are legal and their bounds verified.
#[test]
fn plans_larger_instances_legally_with_verified_bounds() {
    let mut num_optimal = 0;
    for seed in 0..60 {
        let instance = random::sample_layers(seed);
        for exact in planners_of_both_modes().map(|exact| ExactPlanner { budget: 20_000, ..exact }) {
            let plan = exact.solve(&instance.buffers, &instance.capacity);
            let intervals =
                plan.intervals.iter().map(|interval| (interval.buffer, interval.start..interval.end, interval.address));
            assert!(
                brute_force::is_legal(&instance.buffers, &instance.capacity, intervals),
                "seed {seed} {:?}",
                exact.mode
            );
            let verified = verify(&plan.to_json(&instance, &HEADING).unwrap(), &random::to_json(&instance));
            assert_eq!(verified.map(|verified| verified.optimal), Ok(plan.optimal), "seed {seed} {:?}", exact.mode);
            num_optimal += u64::from(plan.optimal);
        }
    }
    assert!(num_optimal > 60, "{num_optimal}");
}

/// Builds a buffer; `uses` are times, each with `w` or `r` for a write or a read.
fn buffer(name: &str, bytes: i64, uses: &str) -> Buffer {
    let one = |text: &str| {
        let (time, kind) = text.split_at(text.len() - 1);
        let kind = if kind == "w" { scratchpad::UseKind::Write } else { scratchpad::UseKind::Read };
        scratchpad::Use { time: time.parse().unwrap(), kind }
    };
    let uses = uses.split(' ').map(one).collect();
    Buffer::new(name.to_owned(), bytes, uses)
}

/// A buffer that is rewritten needs no address before the rewrite: buffers that are too large together are never
/// resident together.
#[test]
fn frees_address_before_complete_rewrite() {
    let alternate = vec![buffer("a", 1152, "0w 1r 2r 6w 7r 8r"), buffer("b", 1152, "3w 4r 5r")];
    let around = vec![
        buffer("a0", 384, "0w 3r 4r 7w 9r"),
        buffer("a1", 384, "1w 3r 4r 13w 15r"),
        buffer("a2", 384, "2w 3r 4r 19w 21r"),
        buffer("b", 768, "8w 9r 10r 14w 15r 16r 20w 21r 22r"),
    ];
    for buffers in [alternate, around] {
        let plan = ExactPlanner::new_split().solve(&buffers, &scratchpad::Capacity { bytes: 1152, alignment: 128 });
        assert_eq!((plan.hbm_bytes_left, plan.optimal), (0, true));
        assert!(plan.intervals.len() > buffers.len(), "a buffer stays twice");
    }
}

/// Makes 20 plans in each of two settings: one thread, and two threads at the same time.
#[test]
fn makes_same_plan_in_each_run_and_thread() {
    let solve = |seed: u64| {
        let instance = if seed.is_multiple_of(2) { random_instance(seed) } else { random::sample_layers(seed) };
        ExactPlanner { budget: 10_000, ..ExactPlanner::new_split() }.solve(&instance.buffers, &instance.capacity)
    };
    for seed in 0..12 {
        let first = solve(seed);
        assert!((0..19).all(|_| solve(seed) == first), "seed {seed}: one thread");
        let others = [0, 1].map(|_| std::thread::spawn(move || (0..10).map(|_| solve(seed)).collect::<Vec<_>>()));
        for other in others {
            assert!(other.join().unwrap().iter().all(|plan| *plan == first), "seed {seed}: two threads");
        }
    }
}

#[test]
fn rejects_bound_that_is_too_high() {
    let mut num_tried = 0;
    for seed in 0..300 {
        let instance = random_instance(seed);
        for exact in planners_of_both_modes() {
            let plan = exact.solve(&instance.buffers, &instance.capacity);
            // A worse plan with the same bound is valid, but its claim to be optimal is not.
            let nothing = ExactPlanner { budget: 0, ..exact }.solve(&instance.buffers, &instance.capacity);
            if nothing.hbm_bytes_left == plan.hbm_bytes_left {
                continue;
            }
            num_tried += 1;
            let mut result: Value = serde_json::from_str(&nothing.to_json(&instance, &HEADING).unwrap()).unwrap();
            let text = random::to_json(&instance);
            assert!(verify(&result.to_string(), &text).is_ok());
            result["lower_bound"] = json!(plan.hbm_bytes_left + 1);
            result["optimal"] = json!(plan.hbm_bytes_left + 1 == nothing.hbm_bytes_left);
            result["certificate"] = serde_json::from_str::<Value>(&plan.to_json(&instance, &HEADING).unwrap()).unwrap()
                ["certificate"]
                .clone();
            assert!(matches!(verify(&result.to_string(), &text), Err(Violation::Bound { .. })), "seed {seed}");
        }
    }
    assert!(num_tried > 20, "{num_tried}");
}

#[test]
fn rejects_cut_that_fits() {
    let mut num_tried = 0;
    for seed in 0..3000 {
        let instance = random_instance(seed);
        let plan = ExactPlanner::new_unsplit().solve(&instance.buffers, &instance.capacity);
        let result: Value = serde_json::from_str(&plan.to_json(&instance, &HEADING).unwrap()).unwrap();
        for cut in 0..plan.certificate.cuts.len() {
            num_tried += 1;
            let mut corrupted = result.clone();
            corrupted["certificate"]["cuts"][cut]["stays"].as_array_mut().unwrap().truncate(1);
            corrupted["certificate"]["cuts"][cut]["mergers"] = json!([]);
            assert!(
                matches!(verify(&corrupted.to_string(), &random::to_json(&instance)), Err(Violation::Bound { .. })),
                "seed {seed}"
            );
        }
    }
    assert!(num_tried > 20, "{num_tried}");
}

/// Builds buffers of which about half fit. One in five is about half the size of LX.
fn dense_instance() -> Instance {
    let mut random = random::TestRng(7);
    let mut buffer = |index: usize| {
        let first = random.sample_below(30);
        let last = first + 1 + random.sample_below(8);
        let bytes =
            128 * if random.sample_below(5) == 0 { 30 + random.sample_below(30) } else { 5 + random.sample_below(15) };
        let reads =
            (0..1 + random.sample_below(3)).map(|_| scratchpad::Use { time: last, kind: scratchpad::UseKind::Read });
        let uses =
            std::iter::once(scratchpad::Use { time: first, kind: scratchpad::UseKind::Write }).chain(reads).collect();
        Buffer::new(format!("b{index}"), bytes as i64, uses)
    };
    let buffers = (0..90).map(&mut buffer).collect();
    Instance { name: "dense".to_owned(), capacity: scratchpad::Capacity { bytes: 12_800, alignment: 128 }, buffers }
}

#[test]
fn proves_dense_plan_with_multipliers() {
    let instance = dense_instance();
    let text = random::to_json(&instance);
    let all: i64 = instance.buffers.iter().map(|buffer| buffer.bytes * buffer.uses.len() as i64).sum();
    let mut before = i64::MAX;
    for budget in [60_000, 150_000, 400_000] {
        let plan = ExactPlanner { mode: ResidencyMode::Whole, budget }.solve(&instance.buffers, &instance.capacity);
        let verified = verify(&plan.to_json(&instance, &HEADING).unwrap(), &text).unwrap();
        assert_eq!(verified.lower_bound, plan.lower_bound);
        assert!(!plan.certificate.multipliers.is_empty() && plan.steps <= budget, "{budget}");
        assert!(plan.hbm_bytes_left <= before, "{budget}");
        before = plan.hbm_bytes_left;
        let (saved, most) = ((all - plan.hbm_bytes_left) as f64, (all - plan.lower_bound) as f64);
        println!("{budget}: {saved} of at most {most} of {all}");
        assert!(budget < 400_000 || saved > 0.97 * most, "{saved} of {most}");
    }
    for planner in ["first-fit", "best-fit", "greedy"] {
        let placement = scratchpad::find_planner(planner).unwrap().plan(&instance.buffers, &instance.capacity);
        assert!(
            before
                <= ExactPlanner::new_unsplit()
                    .import_placement(&instance.buffers, &instance.capacity, &placement)
                    .hbm_bytes_left,
            "{planner}"
        );
    }
}

#[test]
fn rejects_weak_or_invalid_multipliers() {
    let instance = dense_instance();
    let plan = ExactPlanner { mode: ResidencyMode::Whole, budget: 60_000 }.solve(&instance.buffers, &instance.capacity);
    let result: Value = serde_json::from_str(&plan.to_json(&instance, &HEADING).unwrap()).unwrap();
    let text = random::to_json(&instance);
    assert!(verify(&result.to_string(), &text).is_ok());
    let rejected = |what: &str, change: &dyn Fn(&mut Value)| {
        let mut corrupted = result.clone();
        change(&mut corrupted);
        let found = verify(&corrupted.to_string(), &text);
        assert!(found.as_ref().is_err_and(|error| error.to_string().contains(what)), "{what}: {found:?}");
    };
    let multipliers = |result: &mut Value| result["certificate"]["rents"][0][1].as_array_mut().unwrap().clone();
    let first = instance.buffers.iter().find(|buffer| buffer.live_range().start > 20).unwrap().name.clone();
    rejected("the rents prove", &|result| result["lower_bound"] = json!(plan.lower_bound + 1));
    rejected("rents require a plan without split live ranges", &|result| {
        (result["among"], result["certificate"]["whole_lives"]) = (json!("split stays"), json!(false));
    });
    rejected("expected no prices and cuts", &|result| result["certificate"]["prices"] = json!([[1, 1]]));
    rejected("has two rents", &|result| {
        result["certificate"]["rents"][0][1] = json!([multipliers(result)[0], multipliers(result)[0]])
    });
    rejected("is not a buffer", &|result| result["certificate"]["rents"][0][1] = json!([["nobody", 1]]));
    rejected("not live", &|result| result["certificate"]["rents"][0][1] = json!([[first, 1]]));
    rejected("sorted by operation", &|result| result["certificate"]["rents"][0][0] = json!(1000));
    rejected("expected rents from 0", &|result| result["certificate"]["rents"][0][1][0][1] = json!(-1));
}

/// Tests that need the instances next to the project.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn proves_shared_instances_optimal_and_no_worse_than_peer() {
        let planner = common::shared("planner");
        let peers: Value =
            serde_json::from_str(&fs::read_to_string(planner.join("peer_results.json")).unwrap()).unwrap();
        let mut num_checked = 0;
        for (name, peer) in peers.as_object().unwrap() {
            let Ok(text) = fs::read_to_string(planner.join("instances").join(format!("{name}.json"))) else { continue };
            let instance = Instance::from_json(&text).unwrap();
            let theirs = peer["solvers"]
                .as_object()
                .unwrap()
                .values()
                .filter_map(|solver| solver["hbm_bytes_left"].as_i64())
                .min();
            for exact in planners_of_both_modes() {
                let plan = exact.solve(&instance.buffers, &instance.capacity);
                assert!(plan.optimal, "{name} {:?}", exact.mode);
                assert!(theirs.is_none_or(|theirs| plan.hbm_bytes_left <= theirs), "{name} {:?}", exact.mode);
                let verified = verify(&plan.to_json(&instance, &HEADING).unwrap(), &text)
                    .unwrap_or_else(|error| panic!("{name}: {error}"));
                assert!(verified.optimal);
                num_checked += 1;
            }
        }
        assert!(num_checked > 120);
    }
}
