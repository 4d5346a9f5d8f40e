//! Snapshot of the planners' choices and step counts. It reveals changes of the search that change no proof
//! (`INSTA_UPDATE=always` updates it). Many small instances share one digest per kind.

use super::{ExactPlanner, Instance, ResidencyMode, dense_instance, linked_instance, random, random_instance};
use scratchpad::{CertifiedCut, Placement, ScratchpadPlan};
use std::fmt::Write;

/// Computes the FNV-1a hash of the numbers.
fn compute_digest(numbers: impl IntoIterator<Item = i64>) -> u64 {
    let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
    numbers.into_iter().flat_map(i64::to_le_bytes).fold(0xCBF2_9CE4_8422_2325, mix)
}

/// Computes a digest of a plan: its residency intervals, and the prices, cuts and multipliers that prove its bound.
fn digest_plan(plan: &ScratchpadPlan) -> u64 {
    let number = |index: usize| index as i64;
    let intervals = plan
        .intervals
        .iter()
        .flat_map(|interval| [number(interval.buffer), number(interval.start), number(interval.end), interval.address]);
    let of_cut = |cut: &CertifiedCut| {
        let intervals =
            cut.intervals.iter().flat_map(|&(buffer, start, end)| [number(buffer), number(start), number(end)]);
        let mergers = cut.mergers.iter().flat_map(|&(child, parent)| [number(child), number(parent)]);
        intervals.chain(mergers).chain(cut.absent.iter().map(|&buffer| number(buffer))).chain([-1]).collect::<Vec<_>>()
    };
    let certificate = &plan.certificate;
    let prices = certificate.prices.iter().flat_map(|&(time, price)| [number(time), price]);
    let multipliers = certificate.multipliers.iter().flat_map(|(time, multipliers)| {
        [number(*time)]
            .into_iter()
            .chain(multipliers.iter().flat_map(|&(buffer, bytes)| [number(buffer), bytes]))
            .collect::<Vec<_>>()
    });
    compute_digest(
        intervals
            .chain([-1])
            .chain(prices)
            .chain([-1])
            .chain(certificate.cuts.iter().flat_map(of_cut))
            .chain(multipliers),
    )
}

/// Returns one line per planner that describes its result for an instance.
fn describe_choices(instance: &Instance) -> Vec<String> {
    let Instance { buffers, capacity, .. } = instance;
    let mut lines = Vec::new();
    for (intervals, budget) in [
        (ResidencyMode::Whole, 3_000),
        (ResidencyMode::Whole, 100_000),
        (ResidencyMode::Split, 3_000),
        (ResidencyMode::Split, 100_000),
    ] {
        let plan = ExactPlanner { mode: intervals, budget }.solve(buffers, capacity);
        let (bytes, bound, steps, plan) = (plan.hbm_bytes_left, plan.lower_bound, plan.steps, digest_plan(&plan));
        lines.push(format!("{intervals:?} {budget}: {bytes} >= {bound}, {steps} steps, plan {plan:016x}"));
    }
    let addresses =
        |placement: &Placement| compute_digest(placement.addresses.iter().map(|address| address.unwrap_or(-1)));
    let mut always = |_: &scratchpad::PlanningProgress| true;
    let peak =
        scratchpad::find_smallest_lx(instance, &mut scratchpad::PlanningLimits { budget: 50_000, go_on: &mut always });
    let (bytes, bound, steps) = (peak.bytes, peak.lower_bound, peak.steps);
    lines.push(format!("peak: {bytes} >= {bound}, {steps} steps, addresses {:016x}", addresses(&peak.placement)));
    for planner in ["greedy", "first-fit", "best-fit"] {
        let placement = scratchpad::find_planner(planner).unwrap().plan(buffers, capacity);
        lines.push(format!("{planner}: addresses {:016x}", addresses(&placement)));
    }
    lines
}

/// Builds the buffers of `n` ops that each read the previous result and the one halfway back. A result has half a
/// megabyte.
fn build_chain_instance(n: usize) -> Instance {
    let mut buffers: Vec<scratchpad::Buffer> = Vec::with_capacity(n);
    for index in 0..n {
        let write = scratchpad::Use { time: index, kind: scratchpad::UseKind::Write };
        let name = format!("v{index}");
        let in_place_parents = index.checked_sub(1).into_iter().collect();
        let (starts_in_hbm, ends_in_hbm) = (false, index + 1 == n);
        buffers.push(scratchpad::Buffer {
            name,
            bytes: 32_768,
            uses: vec![write],
            in_place_parents,
            starts_in_hbm,
            ends_in_hbm,
            barred: None,
        });
        let mut read = |of: usize| {
            let is_known = buffers[of].uses.iter().any(|one| one.time == index);
            if !is_known {
                buffers[of].uses.push(scratchpad::Use { time: index, kind: scratchpad::UseKind::Read });
            }
        };
        if index > 0 {
            read(index - 1);
            read(index / 2);
        }
    }
    Instance {
        name: format!("chain of {n}"),
        capacity: scratchpad::Capacity { bytes: 32_768 * (n as i64 / 5), alignment: 128 },
        buffers,
    }
}

#[test]
fn matches_recorded_choices() {
    let mut text = String::new();
    for (kind, make) in [("random", random_instance as fn(u64) -> Instance), ("linked", linked_instance)] {
        let all =
            (0..200).flat_map(|seed| describe_choices(&make(seed))).flat_map(|line| line.into_bytes()).map(i64::from);
        writeln!(text, "200 {kind} instances: {:016x}", compute_digest(all)).unwrap();
    }
    for instance in (0..24).map(random::sample_layers).chain([dense_instance(), build_chain_instance(120)]) {
        for line in describe_choices(&instance) {
            writeln!(text, "{} {line}", instance.name).unwrap();
        }
    }
    insta::assert_snapshot!(text);
}

/// The steps of a compilation's plan grow linearly with the program, and a split plan pays for its steps.
#[test]
fn takes_compilation_steps_in_proportion_to_program() {
    for n in [75, 300, 600] {
        let Instance { buffers, capacity, .. } = build_chain_instance(n);
        let whole = ExactPlanner::new_for_comparison(n).solve(&buffers, &capacity);
        let split = ExactPlanner::new_for_compilation(ResidencyMode::Split, n).solve(&buffers, &capacity);
        println!("{n}: {} and {} of {} steps", whole.hbm_bytes_left, split.hbm_bytes_left, whole.steps + split.steps);
        let budget = 50_000 + 1_000 * n as u64;
        assert!(whole.steps <= budget / 4 && split.steps <= budget, "{n}: {} and {} steps", whole.steps, split.steps);
        assert!(
            split.hbm_bytes_left < whole.hbm_bytes_left / 4 * 3,
            "{n}: {} and {}",
            split.hbm_bytes_left,
            whole.hbm_bytes_left
        );
        assert!(
            split.hbm_bytes_left < split.lower_bound / 10 * 11,
            "{n}: {} and {}",
            split.hbm_bytes_left,
            split.lower_bound
        );
    }
}

/// More values are live at once than a sweep supports, so the planner uses other searches.
#[test]
fn plans_more_live_values_than_a_sweep_can_hold() {
    let n = 600;
    let buffer = |index: usize| {
        let uses = [(index, scratchpad::UseKind::Write), (2 * n - index, scratchpad::UseKind::Read)];
        scratchpad::Buffer {
            name: format!("op{index}"),
            bytes: 1_024,
            uses: uses.map(|(time, kind)| scratchpad::Use { time, kind }).into(),
            in_place_parents: Vec::new(),
            starts_in_hbm: false,
            ends_in_hbm: false,
            barred: None,
        }
    };
    let buffers: Vec<scratchpad::Buffer> = (0..n).map(buffer).collect();
    let capacity = scratchpad::Capacity { bytes: 1_024 * 100, alignment: 128 };
    for intervals in [ResidencyMode::Whole, ResidencyMode::Split] {
        let plan = ExactPlanner::new_for_compilation(intervals, n).solve(&buffers, &capacity);
        // Each resident value saves a write and a read, and a hundred values fit.
        assert_eq!(plan.hbm_bytes_left, 2 * 1_024 * 500, "{intervals:?}");
    }
}
