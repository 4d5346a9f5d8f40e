//! Tests that the plan verifier rejects a corruption of each relevant field of a result, and accepts correct results
//! only.

use crate::{BUDGET, HEADING, brute_force, linked_instance, planners_of_both_modes, random, random_instance, verify};
use proptest::prelude::*;
use scratchpad::{ExactPlanner, Instance, MinimumLxBytes, ResidencyMode};
use scratchpad_verify::Violation;
use serde_json::{Value, json};

fn solve_to_json(planner: ExactPlanner, instance: &Instance) -> Value {
    let plan = planner.solve(&instance.buffers, &instance.capacity);
    serde_json::from_str(&plan.to_json(instance, &HEADING).unwrap()).unwrap()
}

/// Returns copies of a result with one corrupted field each, and the JSON pointers of these fields.
fn corrupt_each_field(result: &Value) -> Vec<(String, Value)> {
    let mut corrupted = Vec::new();
    let mut push_corruption = |pointer: String, new: Value| {
        let mut copy = result.clone();
        *copy.pointer_mut(&pointer).unwrap() = new;
        corrupted.push((pointer, copy));
    };
    for key in ["capacity", "alignment", "hbm_bytes_left", "lower_bound"] {
        let old = result[key].as_i64().unwrap();
        [old + 1, old - 1, -old - 1, i64::MAX, i64::MIN]
            .into_iter()
            .for_each(|new| push_corruption(format!("/{key}"), json!(new)));
    }
    push_corruption("/optimal".to_owned(), json!(!result["optimal"].as_bool().unwrap()));
    for (index, interval) in result["stays"].as_array().unwrap().iter().enumerate() {
        for key in ["start", "end"] {
            let old = interval[key].as_u64().unwrap();
            for new in [json!(old + 100), json!(u64::MAX), json!(-1)] {
                push_corruption(format!("/stays/{index}/{key}"), new);
            }
        }
        let (start, end) = (interval["start"].clone(), interval["end"].clone());
        push_corruption(format!("/stays/{index}/end"), start);
        push_corruption(format!("/stays/{index}/start"), end);
        for new in [interval["address"].as_i64().unwrap() - 1000, -1, i64::MAX, i64::MIN] {
            push_corruption(format!("/stays/{index}/address"), json!(new));
        }
        push_corruption(format!("/stays/{index}/buffer"), json!("nobody"));
        let duplicated = [result["stays"].as_array().unwrap(), &vec![interval.clone()][..]].concat();
        push_corruption("/stays".to_owned(), json!(duplicated));
        // An interval of a split live range may save nothing, so only the removal of an unsplit live range is an error.
        if result["certificate"]["whole_lives"] == json!(true) {
            let mut remaining = result["stays"].as_array().unwrap().clone();
            remaining.remove(index);
            push_corruption("/stays".to_owned(), json!(remaining));
        }
    }
    for (name, address) in result["addresses"].as_object().unwrap() {
        push_corruption(format!("/addresses/{name}"), address.as_i64().map_or(json!(0), |address| json!(address + 1)));
        if !address.is_null() {
            push_corruption(format!("/addresses/{name}"), json!(null));
            push_corruption("/reasons".to_owned(), set_key(&result["reasons"], name, json!("it saves none")));
        }
        push_corruption("/addresses".to_owned(), remove_key(&result["addresses"], name));
    }
    push_corruption("/addresses".to_owned(), set_key(&result["addresses"], "nobody", json!(0)));
    for (name, reason) in result["reasons"].as_object().unwrap() {
        push_corruption(format!("/reasons/{name}"), json!(""));
        if *reason == json!("its size is not known") {
            push_corruption(format!("/reasons/{name}"), json!("it saves none"));
        }
        push_corruption("/reasons".to_owned(), remove_key(&result["reasons"], name));
    }
    push_corruption("/reasons".to_owned(), set_key(&result["reasons"], "nobody", json!("it saves none")));
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
        for planner in planners_of_both_modes() {
            for (pointer, corrupted) in corrupt_each_field(&solve_to_json(planner, &instance)) {
                let verdict = verify(&corrupted.to_string(), &random::to_json(&instance));
                assert!(verdict.is_err(), "seed {seed} {:?}: {pointer}: {corrupted}", planner.mode);
            }
        }
    }
}

/// Returns an instance and its result, whose certificate contains a cut (cutting plane). If `has_merger`, the first cut
/// contains an in-place reuse (`mergers`), otherwise it contains none.
fn find_instance_with_cut(mode: ResidencyMode, has_merger: bool) -> (Instance, Value) {
    let found = (0..20_000).map(random_instance).find_map(|instance| {
        let result = solve_to_json(ExactPlanner { mode, budget: BUDGET }, &instance);
        let cut = &result["certificate"]["cuts"][0];
        let is_match = cut.is_object() && cut["mergers"].as_array().unwrap().is_empty() != has_merger;
        is_match.then_some((instance, result))
    });
    found.unwrap()
}

#[test]
fn rejects_corrupted_certificate() {
    let corruptions: &[(&str, Value)] = &[
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
    for (mode, has_merger) in [
        (ResidencyMode::Whole, false),
        (ResidencyMode::Whole, true),
        (ResidencyMode::Split, false),
        (ResidencyMode::Split, true),
    ] {
        let (instance, result) = find_instance_with_cut(mode, has_merger);
        let instance_json = random::to_json(&instance);
        assert!(verify(&result.to_string(), &instance_json).is_ok_and(|verified| verified.optimal));
        let mut corruptions = corruptions.to_vec();
        let cut_intervals = result["certificate"]["cuts"][0]["stays"].as_array().unwrap();
        corruptions
            .extend((0..cut_intervals.len()).map(|index| ("/certificate/cuts/0/stays", json!([cut_intervals[index]]))));
        corruptions.push(("/certificate/cuts/0/stays", json!([&cut_intervals[..], &cut_intervals[..]].concat())));
        corruptions.push(("/certificate/cuts", json!(vec![result["certificate"]["cuts"][0].clone(); 129])));
        if has_merger {
            let merger = &result["certificate"]["cuts"][0]["mergers"][0];
            corruptions.push(("/certificate/cuts/0/mergers/0", json!([merger[1], merger[0]])));
            corruptions.push(("/certificate/cuts/0/mergers", json!([merger, merger])));
        }
        for (pointer, new) in corruptions {
            let mut corrupted = result.clone();
            *corrupted.pointer_mut(pointer).unwrap() = new.clone();
            assert!(
                verify(&corrupted.to_string(), &instance_json).is_err(),
                "{mode:?}: {pointer} = {new}: {result}\n{instance_json}"
            );
        }
    }
}

/// Tests that a certificate for plans with unsplit live ranges is rejected for plans that may split them, and vice
/// versa.
#[test]
fn rejects_bound_of_other_plan_set() {
    let mut num_tried = 0;
    for seed in 0..400 {
        let instance = random_instance(seed);
        let [unsplit_result, split_result] = planners_of_both_modes().map(|exact| solve_to_json(exact, &instance));
        if unsplit_result["hbm_bytes_left"] == split_result["hbm_bytes_left"] {
            continue;
        }
        num_tried += 1;
        for (mut result, claims_unsplit) in [(unsplit_result, false), (split_result, true)] {
            result["certificate"]["whole_lives"] = json!(claims_unsplit);
            let rejected = verify(&result.to_string(), &random::to_json(&instance)).unwrap_err().to_string();
            assert!(
                rejected
                    .contains("expected the same kind of plans in 'whole_lives' and 'among', found different kinds"),
                "seed {seed}: {rejected}"
            );
            result["among"] = json!(if claims_unsplit { "whole lives" } else { "split stays" });
            assert!(verify(&result.to_string(), &random::to_json(&instance)).is_err(), "seed {seed}: {claims_unsplit}");
        }
    }
    assert!(num_tried > 10, "{num_tried}");
}

#[test]
fn rejects_corrupted_peak() {
    for (seed, mut instance) in (0..20).flat_map(|seed| [(seed, random_instance(seed)), (seed, linked_instance(seed))])
    {
        let mut never_stop = |_: &scratchpad::PlanningProgress| true;
        let minimum = scratchpad::find_smallest_lx(
            &instance,
            &mut scratchpad::PlanningLimits { budget: 100_000, go_on: &mut never_stop },
        );
        instance.capacity.bytes = minimum.bytes;
        let plan = ExactPlanner { mode: ResidencyMode::Whole, budget: 0 }.import_placement(
            &instance.buffers,
            &instance.capacity,
            &minimum.placement,
        );
        let peak = MinimumLxBytes { bytes: minimum.bytes, lower_bound: minimum.lower_bound };
        let result: Value = serde_json::from_str(
            &plan.to_json(&instance, &scratchpad::ReportHeader { peak: Some(peak), ..HEADING }).unwrap(),
        )
        .unwrap();
        let verify_result = |result: &Value| verify(&result.to_string(), &random::to_json(&instance));
        let min_peak = brute_force::find_min_peak(&instance.buffers, instance.capacity.alignment);
        assert!(minimum.lower_bound <= min_peak && min_peak <= minimum.bytes, "seed {seed}: {minimum:?}, {min_peak}");
        assert!(
            verify_result(&result).is_ok_and(|verified| verified.peak_bound == Some(minimum.lower_bound)),
            "seed {seed}"
        );
        let mut changes = vec![("/peak/bytes", json!(minimum.bytes + 1)), ("/peak/bytes", json!(minimum.bytes - 1))];
        changes.push(("/peak/lower_bound", json!(min_peak + 1)));
        if !result["stays"].as_array().unwrap().is_empty() {
            // A plan without values in LX is legal for any capacity, but does not prove the peak.
            let empty_plan = ExactPlanner { mode: ResidencyMode::Whole, budget: 0 }.import_placement(
                &instance.buffers,
                &instance.capacity,
                &build_empty_placement(&instance),
            );
            let empty_result: Value = serde_json::from_str(&empty_plan.to_json(&instance, &HEADING).unwrap()).unwrap();
            assert!(verify_result(&empty_result).is_ok());
            let keys = ["stays", "addresses", "reasons", "hbm_bytes_left", "lower_bound"];
            let mut changed =
                keys.iter().fold(result.clone(), |changed, key| set_key(&changed, key, empty_result[*key].clone()));
            changed["optimal"] = json!(empty_result["optimal"] == json!(true) && minimum.bytes == minimum.lower_bound);
            let rejected = verify_result(&changed);
            assert!(
                rejected.as_ref().is_err_and(|error| error.to_string().contains("is not in LX")),
                "seed {seed}: {rejected:?}"
            );
        }
        for (pointer, new) in changes {
            let mut corrupted = result.clone();
            *corrupted.pointer_mut(pointer).unwrap() = new;
            assert!(verify_result(&corrupted).is_err(), "seed {seed}: {pointer}");
        }
    }
}

/// Builds the placement that leaves all buffers in HBM.
pub(crate) fn build_empty_placement(instance: &Instance) -> scratchpad::Placement {
    let reason = scratchpad::UnplacedReason::NoGap { bytes: 0, time: 0, taken: 0, capacity: 0 };
    let reason = |buffer: &scratchpad::Buffer| {
        Some(buffer.barred.clone().map_or(reason.clone(), scratchpad::UnplacedReason::Ineligible))
    };
    scratchpad::Placement {
        addresses: vec![None; instance.buffers.len()],
        reasons: instance.buffers.iter().map(reason).collect(),
    }
}

/// Collects JSON pointers to all leaves: numbers, Booleans, strings and nulls.
pub(crate) fn collect_leaf_pointers(value: &Value, pointer: &str, pointers: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(key, value)| collect_leaf_pointers(value, &format!("{pointer}/{key}"), pointers))
        }
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(index, value)| collect_leaf_pointers(value, &format!("{pointer}/{index}"), pointers)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => pointers.push(pointer.to_owned()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    /// Replaces one to three leaves of a result. If the verifier still accepts the result, its plan must be legal and
    /// must not beat the optimum, and its lower bound must not exceed the optimum.
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
