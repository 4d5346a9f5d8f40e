//! Many buffers: everything is packed if that is easy, plans are close to verified bounds, and steps grow with the
//! list.

use super::{HEADING, Instance, ResidencyMode, linked_instance, random, random_instance, verify};
use crate::random_lives::{build_instance, generate_live_ranges};
use scratchpad::{
    Buffer, ExactPlanner, PlanningLimits, PlanningProgress, ScratchpadPlan, Use,
    pack::{Packer, PackingResult, PackingShape, Rectangle, StepBudget},
    plan_instance,
};

fn plan_exactly(instance: &Instance, intervals: ResidencyMode, budget: u64) -> ScratchpadPlan {
    plan_instance(instance, "exact", intervals, &mut PlanningLimits { budget, go_on: &mut |_| true }).unwrap()
}

/// Joins small instances one after the other. Each shares its last operation with the first operation of the next one.
fn join_instances(n: usize, make: fn(u64) -> Instance) -> Instance {
    let mut buffers: Vec<Buffer> = Vec::new();
    let (mut start, mut seed) = (0, 0);
    let mut capacity = None;
    while buffers.len() < n {
        let one = make(seed);
        seed += 1;
        // The LX of the first instance is the LX of all.
        let capacity = capacity.get_or_insert(one.capacity);
        let first = buffers.len();
        let end = one.buffers.iter().map(|buffer| buffer.live_range().end).max().unwrap_or(1);
        for buffer in one.buffers {
            buffers.push(Buffer {
                name: format!("{}_{}", buffer.name, seed),
                bytes: buffer.bytes.min(capacity.bytes),
                uses: buffer.uses.iter().map(|one| Use { time: one.time + start, ..*one }).collect(),
                in_place_parents: buffer.in_place_parents.iter().map(|parent| parent + first).collect(),
                ..buffer
            });
        }
        start += end.max(2) - 1;
    }
    Instance { name: "joined".to_owned(), capacity: capacity.unwrap(), buffers }
}

#[test]
fn packs_more_buffers_than_steps_per_portion() {
    let (text, load) = generate_live_ranges(12_500);
    let instance = build_instance(&text, load, 110);
    let found = plan_exactly(&instance, ResidencyMode::Whole, 100_000);
    assert_eq!((found.intervals.len(), found.optimal), (12_500, true));
    assert!(found.steps <= 8 * 12_500, "{} steps", found.steps);
    let verified = scratchpad_verify::verify(
        &found.to_json(&instance, &HEADING).unwrap(),
        &text,
        (Some(instance.capacity.bytes), Some(128)),
    );
    assert!(verified.is_ok_and(|verified| verified.optimal));
}

/// A list packing gives the same result in portions of any size, even if the list is longer than a portion.
#[test]
fn resumes_list_packing_in_portions() {
    let (text, load) = generate_live_ranges(1_500);
    let rectangle = |buffer: &Buffer| {
        let life = buffer.live_range();
        Rectangle { lower: life.start as i64, upper: life.end as i64, size: buffer.bytes }
    };
    let shapes: Vec<PackingShape> =
        build_instance(&text, load, 100).buffers.iter().map(|buffer| PackingShape::from(rectangle(buffer))).collect();
    for capacity in [load, load * 101 / 100, load * 11 / 10] {
        let run = |portion: u64| {
            let (mut packer, mut taken) = (Packer::new(&shapes, &[], capacity), 0);
            loop {
                let mut steps = StepBudget { left: portion.min(12_000 - taken) };
                let given = steps.left;
                let answer = packer.run(&mut steps);
                taken += given - steps.left;
                if answer != PackingResult::OutOfSteps || taken >= 12_000 {
                    return (answer, taken);
                }
            }
        };
        let at_once = run(12_000);
        assert!([1, 97, 1_000].into_iter().all(|portion| run(portion) == at_once), "{capacity}");
    }
}

#[test]
fn plans_many_buffers_close_to_verified_bounds() {
    for (hundredths, per_cent) in [(70, 17), (40, 18)] {
        let (text, load) = generate_live_ranges(2_000);
        let instance = build_instance(&text, load, hundredths);
        let found = plan_exactly(&instance, ResidencyMode::Whole, 1_000_000);
        let verified = scratchpad_verify::verify(
            &found.to_json(&instance, &HEADING).unwrap(),
            &text,
            (Some(instance.capacity.bytes), Some(128)),
        );
        assert_eq!(verified.map(|verified| verified.hbm_bytes_left), Ok(found.hbm_bytes_left));
        let (left, bound) = (found.hbm_bytes_left, found.lower_bound);
        assert!(left * 100 <= bound * (100 + per_cent), "{hundredths}: {left} above {bound}");
        assert!(found.steps <= 1_000_000 + 200_000);
    }
}

/// The buffers have reuses, links and split live ranges. Some are ineligible, or start or end in HBM.
#[test]
fn plans_many_buffers_of_each_kind_verifiably() {
    let kinds = [random_instance as fn(u64) -> Instance, linked_instance, random::sample_layers];
    for (kind, make) in kinds.into_iter().enumerate() {
        let instance = join_instances(1_200, make);
        let text = random::to_json(&instance);
        for intervals in [ResidencyMode::Whole, ResidencyMode::Split] {
            let found = ExactPlanner { mode: intervals, budget: 150_000 }.solve(&instance.buffers, &instance.capacity);
            let verified = verify(&found.to_json(&instance, &HEADING).unwrap(), &text);
            assert_eq!(
                verified.map(|verified| verified.hbm_bytes_left),
                Ok(found.hbm_bytes_left),
                "kind {kind} {intervals:?}"
            );
            assert_eq!(
                found,
                ExactPlanner { mode: intervals, budget: 150_000 }.solve(&instance.buffers, &instance.capacity),
                "kind {kind} {intervals:?}"
            );
        }
    }
}

#[test]
fn plans_split_ranges_no_worse_than_unsplit_ranges() {
    let small = (0..40).flat_map(|seed| [random_instance(seed), linked_instance(seed), random::sample_layers(seed)]);
    let large = [join_instances(1_100, random::sample_layers), join_instances(1_100, random_instance)];
    let mut num_better = 0;
    for (number, instance) in small.chain(large).enumerate() {
        for budget in [0, 300, 30_000] {
            let [whole, split] = [ResidencyMode::Whole, ResidencyMode::Split]
                .map(|intervals| plan_exactly(&instance, intervals, budget));
            assert!(split.hbm_bytes_left <= whole.hbm_bytes_left, "instance {number}, {budget} steps");
            num_better += usize::from(split.hbm_bytes_left < whole.hbm_bytes_left);
            let verified = verify(&split.to_json(&instance, &HEADING).unwrap(), &random::to_json(&instance));
            assert!(verified.is_ok(), "instance {number}, {budget} steps: {verified:?}");
        }
    }
    assert!(num_better > 40, "{num_better}");
}

/// Few steps pass between two calls of the callback, so a time limit holds. No call follows after it returned false.
#[test]
fn calls_progress_callback_often_and_obeys_it() {
    let (text, load) = generate_live_ranges(3_000);
    for hundredths in [100, 40] {
        let instance = build_instance(&text, load, hundredths);
        let (mut last, mut longest, mut asked) = (0, 0, 0_u32);
        let mut go_on = |progress: &PlanningProgress| {
            longest = longest.max(progress.steps.saturating_sub(last));
            last = progress.steps;
            asked += 1;
            true
        };
        let found = plan_instance(
            &instance,
            "exact",
            ResidencyMode::Whole,
            &mut PlanningLimits { budget: 600_000, go_on: &mut go_on },
        )
        .unwrap();
        assert!(
            longest.max(found.steps.saturating_sub(last)) <= 160_000,
            "{hundredths}: {longest} steps between two questions"
        );
        for most in [0, 1, asked / 4, asked / 2, asked - 1] {
            let mut n = 0;
            let mut go_on = |_: &PlanningProgress| {
                n += 1;
                n <= most
            };
            let stopped = plan_instance(
                &instance,
                "exact",
                ResidencyMode::Whole,
                &mut PlanningLimits { budget: 600_000, go_on: &mut go_on },
            )
            .unwrap();
            assert!(n <= most + 1, "{hundredths}: asked {n} times, and {most} were yes");
            assert!(stopped.timed_out || n <= most, "{hundredths}");
        }
    }
}
