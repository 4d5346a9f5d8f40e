//! Corrupted results: the checker rejects a change of each relevant field, and accepts only true results.

use crate::{BUDGET, HEADING, brute_force, linked_instance, planners_of_both_modes, random, random_instance, verify};
use proptest::prelude::*;
use scratchpad::{ExactPlanner, Instance, MinimumLxBytes, ResidencyMode};
use scratchpad_verify::Violation;
use serde_json::{Value, json};

fn solve_to_json(exact: ExactPlanner, instance: &Instance) -> Value {
    let plan = exact.solve(&instance.buffers, &instance.capacity);
    serde_json::from_str(&plan.to_json(instance, &HEADING).unwrap()).unwrap()
}

/// Changes each number and name that describes the plan slightly, one at a time.
fn corrupt_each_field(result: &Value) -> Vec<(String, Value)> {
    let mut corrupted = Vec::new();
    let mut change = |pointer: String, new: Value| {
        let mut copy = result.clone();
        *copy.pointer_mut(&pointer).unwrap() = new;
        corrupted.push((pointer, copy));
    };
    for key in ["capacity", "alignment", "hbm_bytes_left", "lower_bound"] {
        let old = result[key].as_i64().unwrap();
        [old + 1, old - 1, -old - 1, i64::MAX, i64::MIN]
            .into_iter()
            .for_each(|new| change(format!("/{key}"), json!(new)));
    }
    change("/optimal".to_owned(), json!(!result["optimal"].as_bool().unwrap()));
    for (index, interval) in result["stays"].as_array().unwrap().iter().enumerate() {
        for key in ["start", "end"] {
            let old = interval[key].as_u64().unwrap();
            for new in [json!(old + 100), json!(u64::MAX), json!(-1)] {
                change(format!("/stays/{index}/{key}"), new);
            }
        }
        let (start, end) = (interval["start"].clone(), interval["end"].clone());
        change(format!("/stays/{index}/end"), start);
        change(format!("/stays/{index}/start"), end);
        for new in [interval["address"].as_i64().unwrap() - 1000, -1, i64::MAX, i64::MIN] {
            change(format!("/stays/{index}/address"), json!(new));
        }
        change(format!("/stays/{index}/buffer"), json!("nobody"));
        let twice = [result["stays"].as_array().unwrap(), &vec![interval.clone()][..]].concat();
        change("/stays".to_owned(), json!(twice));
        // An interval of a split live range may save nothing, so only the removal of an unsplit live range is an error.
        if result["certificate"]["whole_lives"] == json!(true) {
            let mut without = result["stays"].as_array().unwrap().clone();
            without.remove(index);
            change("/stays".to_owned(), json!(without));
        }
    }
    for (name, address) in result["addresses"].as_object().unwrap() {
        change(format!("/addresses/{name}"), address.as_i64().map_or(json!(0), |address| json!(address + 1)));
        if !address.is_null() {
            change(format!("/addresses/{name}"), json!(null));
            change("/reasons".to_owned(), set_key(&result["reasons"], name, json!("it saves none")));
        }
        change("/addresses".to_owned(), remove_key(&result["addresses"], name));
    }
    change("/addresses".to_owned(), set_key(&result["addresses"], "nobody", json!(0)));
    for (name, reason) in result["reasons"].as_object().unwrap() {
        change(format!("/reasons/{name}"), json!(""));
        if *reason == json!("its size is not known") {
            change(format!("/reasons/{name}"), json!("it saves none"));
        }
        change("/reasons".to_owned(), remove_key(&result["reasons"], name));
    }
    change("/reasons".to_owned(), set_key(&result["reasons"], "nobody", json!("it saves none")));
    for key in [
        "capacity",
        "alignment",
        "addresses",
        "reasons",
        "stays",
        "hbm_bytes_left",
        "lower_bound",
        "optimal",
        "among",
        "certificate",
    ] {
        corrupted.push((format!("no {key}"), remove_key(result, key)));
    }
    corrupted
}

fn set_key(object: &Value, key: &str, value: Value) -> Value {
    let mut object = object.clone();
    object[key] = value;
    object
}

fn remove_key(object: &Value, key: &str) -> Value {
    let mut object = object.clone();
    object.as_object_mut().unwrap().remove(key);
    object
}

#[test]
fn rejects_corrupted_plan() {
    for seed in 0..60 {
        let instance = random_instance(seed);
        for exact in planners_of_both_modes() {
            for (what, corrupted) in corrupt_each_field(&solve_to_json(exact, &instance)) {
                let found = verify(&corrupted.to_string(), &random::to_json(&instance));
                assert!(found.is_err(), "seed {seed} {:?}: {what}: {corrupted}", exact.mode);
            }
        }
    }
}

/// Returns an instance whose bound needs a cut, with or without an in-place reuse, and its result.
fn find_instance_with_cut(intervals: ResidencyMode, has_merger: bool) -> (Instance, Value) {
    let found = (0..20_000).map(random_instance).find_map(|instance| {
        let result = solve_to_json(ExactPlanner { mode: intervals, budget: BUDGET }, &instance);
        let cut = &result["certificate"]["cuts"][0];
        let is_wanted = cut.is_object() && cut["mergers"].as_array().unwrap().is_empty() != has_merger;
        is_wanted.then_some((instance, result))
    });
    found.unwrap()
}

#[test]
fn rejects_corrupted_certificate() {
    let table: &[(&str, Value)] = &[
        ("/certificate/scale", json!(0)),
        ("/certificate/scale", json!(-1)),
        ("/certificate/scale", json!(1_i64 << 40)),
        ("/certificate/prices", json!([[1, 5], [0, 5]])),
        ("/certificate/prices", json!([[0, 5], [0, 5]])),
        ("/certificate/prices", json!([[0, -5]])),
        ("/certificate/prices", json!([[0, i64::MAX]])),
        ("/among", json!("all plans")),
        ("/certificate/prices", json!([[99, 5]])),
        ("/certificate/prices", json!([["0", 5]])),
        ("/certificate/prices", json!(null)),
        ("/certificate/cuts", json!(null)),
        ("/certificate/cuts", json!([])),
        ("/certificate/cuts/0/stays", json!([])),
        ("/certificate/cuts/0/stays/0/buffer", json!("nobody")),
        ("/certificate/cuts/0/stays/0/start", json!(99)),
        ("/certificate/cuts/0/stays/0/end", json!(99)),
        ("/certificate/cuts/0/stays/0/end", json!(0)),
        ("/certificate/cuts/0/mergers", json!([["nobody", "b0"]])),
        ("/certificate/cuts/0/mergers", json!([["b0", "b0"]])),
        ("/certificate/whole_lives", json!(null)),
    ];
    for (intervals, has_merger) in [
        (ResidencyMode::Whole, false),
        (ResidencyMode::Whole, true),
        (ResidencyMode::Split, false),
        (ResidencyMode::Split, true),
    ] {
        let (instance, result) = find_instance_with_cut(intervals, has_merger);
        let text = random::to_json(&instance);
        assert!(verify(&result.to_string(), &text).is_ok_and(|verified| verified.optimal));
        let mut table = table.to_vec();
        let intervals_of_cut = result["certificate"]["cuts"][0]["stays"].as_array().unwrap();
        table.extend(
            (0..intervals_of_cut.len()).map(|kept| ("/certificate/cuts/0/stays", json!([intervals_of_cut[kept]]))),
        );
        table.push(("/certificate/cuts/0/stays", json!([&intervals_of_cut[..], &intervals_of_cut[..]].concat())));
        table.push(("/certificate/cuts", json!(vec![result["certificate"]["cuts"][0].clone(); 129])));
        if has_merger {
            let merger = &result["certificate"]["cuts"][0]["mergers"][0];
            table.push(("/certificate/cuts/0/mergers/0", json!([merger[1], merger[0]])));
            table.push(("/certificate/cuts/0/mergers", json!([merger, merger])));
        }
        for (pointer, new) in table {
            let mut corrupted = result.clone();
            *corrupted.pointer_mut(pointer).unwrap() = new.clone();
            assert!(
                verify(&corrupted.to_string(), &text).is_err(),
                "{intervals:?}: {pointer} = {new}: {result}\n{text}"
            );
        }
    }
}

/// A bound for unsplit live ranges does not hold for plans that may split them.
#[test]
fn rejects_bound_of_other_plan_set() {
    let mut num_tried = 0;
    for seed in 0..400 {
        let instance = random_instance(seed);
        let [whole, split] = planners_of_both_modes().map(|exact| solve_to_json(exact, &instance));
        if whole["hbm_bytes_left"] == split["hbm_bytes_left"] {
            continue;
        }
        num_tried += 1;
        for (mut result, new) in [(whole, false), (split, true)] {
            result["certificate"]["whole_lives"] = json!(new);
            let rejected = verify(&result.to_string(), &random::to_json(&instance)).unwrap_err().to_string();
            assert!(
                rejected
                    .contains("expected the same kind of plans in 'whole_lives' and 'among', found different kinds"),
                "seed {seed}: {rejected}"
            );
            result["among"] = json!(if new { "whole lives" } else { "split stays" });
            assert!(verify(&result.to_string(), &random::to_json(&instance)).is_err(), "seed {seed}: {new}");
        }
    }
    assert!(num_tried > 10, "{num_tried}");
}

#[test]
fn rejects_corrupted_peak() {
    for (seed, mut instance) in (0..20).flat_map(|seed| [(seed, random_instance(seed)), (seed, linked_instance(seed))])
    {
        let mut always = |_: &scratchpad::PlanningProgress| true;
        let found = scratchpad::find_smallest_lx(
            &instance,
            &mut scratchpad::PlanningLimits { budget: 100_000, go_on: &mut always },
        );
        instance.capacity.bytes = found.bytes;
        let plan = ExactPlanner { mode: ResidencyMode::Whole, budget: 0 }.import_placement(
            &instance.buffers,
            &instance.capacity,
            &found.placement,
        );
        let peak = MinimumLxBytes { bytes: found.bytes, lower_bound: found.lower_bound };
        let result: Value = serde_json::from_str(
            &plan.to_json(&instance, &scratchpad::ReportHeader { peak: Some(peak), ..HEADING }).unwrap(),
        )
        .unwrap();
        let check = |result: &Value| verify(&result.to_string(), &random::to_json(&instance));
        let least = brute_force::find_min_peak(&instance.buffers, instance.capacity.alignment);
        assert!(found.lower_bound <= least && least <= found.bytes, "seed {seed}: {found:?}, {least}");
        assert!(check(&result).is_ok_and(|verified| verified.peak_bound == Some(found.lower_bound)), "seed {seed}");
        let mut changes = vec![("/peak/bytes", json!(found.bytes + 1)), ("/peak/bytes", json!(found.bytes - 1))];
        changes.push(("/peak/lower_bound", json!(least + 1)));
        if !result["stays"].as_array().unwrap().is_empty() {
            // A plan without values in LX needs no capacity.
            let nothing = ExactPlanner { mode: ResidencyMode::Whole, budget: 0 }.import_placement(
                &instance.buffers,
                &instance.capacity,
                &place_nothing(&instance),
            );
            let nothing: Value = serde_json::from_str(&nothing.to_json(&instance, &HEADING).unwrap()).unwrap();
            assert!(check(&nothing).is_ok());
            let keys = ["stays", "addresses", "reasons", "hbm_bytes_left", "lower_bound"];
            let mut changed =
                keys.iter().fold(result.clone(), |changed, key| set_key(&changed, key, nothing[*key].clone()));
            changed["optimal"] = json!(nothing["optimal"] == json!(true) && found.bytes == found.lower_bound);
            let rejected = check(&changed);
            assert!(
                rejected.as_ref().is_err_and(|error| error.to_string().contains("is not in LX")),
                "seed {seed}: {rejected:?}"
            );
        }
        for (pointer, new) in changes {
            let mut corrupted = result.clone();
            *corrupted.pointer_mut(pointer).unwrap() = new;
            assert!(check(&corrupted).is_err(), "seed {seed}: {pointer}");
        }
    }
}

/// Returns the placement with no buffer in LX.
pub(crate) fn place_nothing(instance: &Instance) -> scratchpad::Placement {
    let reason = scratchpad::UnplacedReason::NoGap { bytes: 0, time: 0, taken: 0, capacity: 0 };
    let reason = |buffer: &scratchpad::Buffer| {
        Some(buffer.barred.clone().map_or(reason.clone(), scratchpad::UnplacedReason::Ineligible))
    };
    scratchpad::Placement {
        addresses: vec![None; instance.buffers.len()],
        reasons: instance.buffers.iter().map(reason).collect(),
    }
}

/// Collects JSON pointers to all numbers, Booleans and strings.
pub(crate) fn collect_leaf_pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| collect_leaf_pointers(value, &format!("{at}/{key}"), found))
        }
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(index, value)| collect_leaf_pointers(value, &format!("{at}/{index}"), found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => found.push(at.to_owned()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Replaces one to three leaves of a result. A result that is still accepted must be a legal plan with the bytes
    /// that it states. No plan may leave fewer bytes than its bound.
    #[test]
    fn accepts_only_true_results(seed in 0_u64..100_000, split in any::<bool>(), changes in prop::collection::vec((any::<prop::sample::Index>(), -3_i64..4, 0..5), 1..4)) {
        let instance = random_instance(seed);
        let exact = planners_of_both_modes()[usize::from(split)];
        let mut result = solve_to_json(exact, &instance);
        let mut pointers = Vec::new();
        collect_leaf_pointers(&result, "", &mut pointers);
        for (index, step, kind) in changes {
            let pointer = index.get(&pointers);
            let leaf = result.pointer_mut(pointer).unwrap();
            *leaf = match (&*leaf, kind) {
                (Value::Bool(old), _) => json!(!old),
                (Value::String(_), _) => json!(instance.buffers[index.index(instance.buffers.len())].name),
                (Value::Number(old), 0) => json!(old.as_i64().unwrap_or(0).saturating_mul(step)),
                (Value::Number(old), _) => json!(old.as_i64().unwrap_or(0).saturating_add(step)),
                (_, 0) => json!(null),
                _ => json!(step),
            };
        }
        let text = random::to_json(&instance);
        match verify(&result.to_string(), &text) {
            Err(Violation::Instance(what)) => prop_assert!(false, "the instance is not to blame: {}", what),
            Err(_) => {}
            Ok(verified) => {
                let is_whole = result["certificate"]["whole_lives"] == json!(true);
                let least = brute_force::find_min_hbm_bytes(&instance.buffers, &instance.capacity, is_whole);
                prop_assert!(verified.lower_bound <= least, "bound {} of {}", verified.lower_bound, least);
                prop_assert!(verified.hbm_bytes_left >= least);
                prop_assert_eq!(verified.optimal, verified.hbm_bytes_left == verified.lower_bound);
                let find = |name: &Value| instance.buffers.iter().position(|buffer| json!(buffer.name) == *name).unwrap();
                let number = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
                let intervals = result["stays"].as_array().unwrap().iter().map(|interval| {
                    (find(&interval["buffer"]), number(&interval["start"])..number(&interval["end"]), interval["address"].as_i64().unwrap())
                });
                prop_assert!(brute_force::is_legal(&instance.buffers, &instance.capacity, intervals));
            }
        }
    }
}
