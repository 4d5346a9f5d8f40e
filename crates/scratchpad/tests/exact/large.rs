//! Many buffers: everything is packed where that is easy, plans are close to their bounds and confirmed, and steps grow with the list.

use super::{HEADING, Instance, Stays, linked_instance, random, random_instance, verify};
use crate::random_lives::{instance_of, random_lives};
use scratchpad::{
    Buffer, Exact, Limits, Plan, Progress, Use,
    pack::{Packer, Packing, Rectangle, Shape, Steps},
    plan_instance,
};

fn plan(instance: &Instance, stays: Stays, budget: u64) -> Plan {
    plan_instance(instance, "exact", stays, &mut Limits { budget, go_on: &mut |_| true }).unwrap()
}

/// Small instances one after the other, each two of them live together for an operation.
fn joined(n: usize, make: fn(u64) -> Instance) -> Instance {
    let mut buffers: Vec<Buffer> = Vec::new();
    let (mut start, mut seed) = (0, 0);
    let mut capacity = None;
    while buffers.len() < n {
        let one = make(seed);
        seed += 1;
        // The LX of the first is that of all.
        let capacity = capacity.get_or_insert(one.capacity);
        let first = buffers.len();
        let end = one.buffers.iter().map(|buffer| buffer.life().end).max().unwrap_or(1);
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
fn more_buffers_than_a_portion_has_steps_are_packed() {
    let (text, load) = random_lives(12_500);
    let instance = instance_of(&text, load, 110);
    let found = plan(&instance, Stays::Whole, 100_000);
    assert_eq!((found.stays.len(), found.optimal), (12_500, true));
    assert!(found.steps <= 8 * 12_500, "{} steps", found.steps);
    let verified =
        scratchpad_verify::verify(&found.to_json(&instance, &HEADING).unwrap(), &text, (Some(instance.capacity.bytes), Some(128)));
    assert!(verified.is_ok_and(|verified| verified.optimal));
}

/// In portions of any size the lists of a packer do what they do at once, also if they are longer than a portion.
#[test]
fn a_list_is_continued_where_it_was_left() {
    let (text, load) = random_lives(1_500);
    let rectangle = |buffer: &Buffer| {
        let life = buffer.life();
        Rectangle { lower: life.start as i64, upper: life.end as i64, size: buffer.bytes }
    };
    let shapes: Vec<Shape> = instance_of(&text, load, 100).buffers.iter().map(|buffer| Shape::from(rectangle(buffer))).collect();
    for capacity in [load, load * 101 / 100, load * 11 / 10] {
        let run = |portion: u64| {
            let (mut packer, mut taken) = (Packer::new(&shapes, &[], capacity), 0);
            loop {
                let mut steps = Steps { left: portion.min(12_000 - taken) };
                let given = steps.left;
                let answer = packer.run(&mut steps);
                taken += given - steps.left;
                if answer != Packing::OutOfSteps || taken >= 12_000 {
                    return (answer, taken);
                }
            }
        };
        let at_once = run(12_000);
        assert!([1, 97, 1_000].into_iter().all(|portion| run(portion) == at_once), "{capacity}");
    }
}

#[test]
fn plans_of_many_buffers_are_close_to_their_bounds_and_confirmed() {
    for (hundredths, per_cent) in [(70, 17), (40, 18)] {
        let (text, load) = random_lives(2_000);
        let instance = instance_of(&text, load, hundredths);
        let found = plan(&instance, Stays::Whole, 1_000_000);
        let verified =
            scratchpad_verify::verify(&found.to_json(&instance, &HEADING).unwrap(), &text, (Some(instance.capacity.bytes), Some(128)));
        assert_eq!(verified.map(|verified| verified.hbm_bytes_left), Ok(found.hbm_bytes_left));
        let (left, bound) = (found.hbm_bytes_left, found.lower_bound);
        assert!(left * 100 <= bound * (100 + per_cent), "{hundredths}: {left} above {bound}");
        assert!(found.steps <= 1_000_000 + 200_000);
    }
}

/// Takeovers, links, stays that are split, buffers that are barred or begin or end in HBM.
#[test]
fn plans_of_many_buffers_of_every_kind_are_confirmed() {
    let kinds = [random_instance as fn(u64) -> Instance, linked_instance, random::layers];
    for (kind, make) in kinds.into_iter().enumerate() {
        let instance = joined(1_200, make);
        let text = random::json(&instance);
        for stays in [Stays::Whole, Stays::Split] {
            let found = Exact { stays, budget: 150_000 }.solve(&instance.buffers, &instance.capacity);
            let verified = verify(&found.to_json(&instance, &HEADING).unwrap(), &text);
            assert_eq!(verified.map(|verified| verified.hbm_bytes_left), Ok(found.hbm_bytes_left), "kind {kind} {stays:?}");
            assert_eq!(found, Exact { stays, budget: 150_000 }.solve(&instance.buffers, &instance.capacity), "kind {kind} {stays:?}");
        }
    }
}

#[test]
fn split_stays_are_never_worse_than_whole_lives() {
    let small = (0..40).flat_map(|seed| [random_instance(seed), linked_instance(seed), random::layers(seed)]);
    let large = [joined(1_100, random::layers), joined(1_100, random_instance)];
    let mut n_better = 0;
    for (number, instance) in small.chain(large).enumerate() {
        for budget in [0, 300, 30_000] {
            let [whole, split] = [Stays::Whole, Stays::Split].map(|stays| plan(&instance, stays, budget));
            assert!(split.hbm_bytes_left <= whole.hbm_bytes_left, "instance {number}, {budget} steps");
            n_better += usize::from(split.hbm_bytes_left < whole.hbm_bytes_left);
            let verified = verify(&split.to_json(&instance, &HEADING).unwrap(), &random::json(&instance));
            assert!(verified.is_ok(), "instance {number}, {budget} steps: {verified:?}");
        }
    }
    assert!(n_better > 40, "{n_better}");
}

/// Between two questions of a plan of many buffers are few steps, so that a time limit holds; and after a no there are none.
#[test]
fn the_watcher_is_asked_often_and_obeyed() {
    let (text, load) = random_lives(3_000);
    for hundredths in [100, 40] {
        let instance = instance_of(&text, load, hundredths);
        let (mut last, mut longest, mut asked) = (0, 0, 0_u32);
        let mut go_on = |progress: &Progress| {
            longest = longest.max(progress.steps.saturating_sub(last));
            last = progress.steps;
            asked += 1;
            true
        };
        let found = plan_instance(&instance, "exact", Stays::Whole, &mut Limits { budget: 600_000, go_on: &mut go_on }).unwrap();
        assert!(longest.max(found.steps.saturating_sub(last)) <= 160_000, "{hundredths}: {longest} steps between two questions");
        for most in [0, 1, asked / 4, asked / 2, asked - 1] {
            let mut n = 0;
            let mut go_on = |_: &Progress| {
                n += 1;
                n <= most
            };
            let stopped = plan_instance(&instance, "exact", Stays::Whole, &mut Limits { budget: 600_000, go_on: &mut go_on }).unwrap();
            assert!(n <= most + 1, "{hundredths}: asked {n} times, and {most} were yes");
            assert!(stopped.timed_out || n <= most, "{hundredths}");
        }
    }
}
