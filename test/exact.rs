//! The exact planner: against brute force, on the shared instances, and its checker against corrupted results.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::cast_possible_wrap, clippy::cast_possible_truncation, reason = "a test")]

use serde_json::{Value, json};
use spyre::lx::{self, Exact, Heading, Instance, Stays, Unverified, Verified};
use std::fs;

#[path = "exact/brute.rs"]
mod brute;
mod common;
#[path = "exact/random.rs"]
mod random;

const BUDGET: u64 = 2_000_000;
const HEADING: Heading<'_> = Heading { planner: "exact", seconds: 0.0, peak: None };

fn verify(result: &str, instance: &str) -> Result<Verified, Unverified> {
    lx::verify(result, instance, (None, None))
}

fn both() -> [Exact; 2] {
    [Stays::Whole, Stays::Split].map(|stays| Exact { stays, budget: BUDGET })
}

fn random_instance(seed: u64) -> Instance {
    let (buffers, capacity) = random::instance(seed);
    Instance { name: "random".to_owned(), capacity, buffers }
}

/// 100,000 instances are tried with `SPYRE_EXACT_SEEDS=100000` (two minutes in release); all are equal.
#[test]
fn small_instances_equal_brute_force() {
    let n: u64 = std::env::var("SPYRE_EXACT_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(600);
    for seed in 0..n {
        let instance = random_instance(seed);
        for exact in both() {
            let plan = exact.solve(&instance.buffers, &instance.capacity);
            let least = brute::least_hbm_bytes(&instance.buffers, &instance.capacity, exact.stays == Stays::Whole);
            assert_eq!((plan.hbm_bytes_left, plan.optimal), (least, true), "seed {seed} {:?}", exact.stays);
            let verified = verify(&plan.to_json(&instance, &HEADING).unwrap(), &random::json(&instance));
            assert!(verified.is_ok_and(|verified| verified.optimal), "seed {seed} {:?}", exact.stays);
        }
    }
}

#[test]
fn the_shared_instances_are_proved_optimal_and_never_worse_than_a_peer() {
    let Some(planner) = common::shared("planner") else { return };
    let peers: Value = serde_json::from_str(&fs::read_to_string(planner.join("peer_results.json")).unwrap()).unwrap();
    let mut n_checked = 0;
    for (name, peer) in peers.as_object().unwrap() {
        let Ok(text) = fs::read_to_string(planner.join("instances").join(format!("{name}.json"))) else { continue };
        let instance = Instance::from_json(&text).unwrap();
        let theirs = peer["solvers"].as_object().unwrap().values().filter_map(|solver| solver["hbm_bytes_left"].as_i64()).min();
        for exact in both() {
            let plan = exact.solve(&instance.buffers, &instance.capacity);
            assert!(plan.optimal, "{name} {:?}", exact.stays);
            assert!(theirs.is_none_or(|theirs| plan.hbm_bytes_left <= theirs), "{name} {:?}", exact.stays);
            let verified = verify(&plan.to_json(&instance, &HEADING).unwrap(), &text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(verified.optimal);
            n_checked += 1;
        }
    }
    assert!(n_checked > 120);
}

#[test]
fn the_eviction_patterns_are_solved() {
    let Some(planner) = common::shared("planner/instances") else { return };
    for name in ["pattern_simple_eviction", "pattern_eviction_reallocation"] {
        let text = fs::read_to_string(planner.join(format!("{name}.json"))).unwrap();
        let instance = Instance::from_json(&text).unwrap();
        let plan = Exact::split_stays().solve(&instance.buffers, &instance.capacity);
        assert_eq!((plan.hbm_bytes_left, plan.optimal), (0, true), "{name}");
        assert!(plan.stays.len() > instance.buffers.len(), "{name}: a buffer stays twice");
    }
}

#[test]
fn plans_do_not_depend_on_the_run_or_the_thread() {
    let solve = |seed| {
        let instance = random_instance(seed);
        Exact::split_stays().solve(&instance.buffers, &instance.capacity)
    };
    for seed in 0..20 {
        let first = solve(seed);
        let others = [0, 1].map(|_| std::thread::spawn(move || (0..10).map(|_| solve(seed)).collect::<Vec<_>>()));
        for other in others {
            assert!(other.join().unwrap().iter().all(|plan| *plan == first), "seed {seed}");
        }
    }
}

/// Every number and name of a result that says something about the plan or the bound, changed a little.
fn corruptions(result: &Value) -> Vec<(String, Value)> {
    let mut corrupted = Vec::new();
    let mut change = |pointer: String, new: Value| {
        let mut copy = result.clone();
        *copy.pointer_mut(&pointer).unwrap() = new;
        corrupted.push((pointer, copy));
    };
    for key in ["capacity", "alignment", "hbm_bytes_left", "lower_bound"] {
        let old = result[key].as_i64().unwrap();
        change(format!("/{key}"), json!(old + 1));
    }
    change("/optimal".to_owned(), json!(!result["optimal"].as_bool().unwrap()));
    for (index, stay) in result["stays"].as_array().unwrap().iter().enumerate() {
        for key in ["start", "end"] {
            change(format!("/stays/{index}/{key}"), json!(stay[key].as_i64().unwrap() + 100));
        }
        change(format!("/stays/{index}/address"), json!(stay["address"].as_i64().unwrap() - 1000));
        change(format!("/stays/{index}/buffer"), json!("nobody"));
    }
    for (name, address) in result["addresses"].as_object().unwrap() {
        change(format!("/addresses/{name}"), address.as_i64().map_or(json!(0), |address| json!(address + 1)));
    }
    for name in result["reasons"].as_object().unwrap().keys() {
        change(format!("/reasons/{name}"), json!(""));
    }
    let mut copy = result.clone();
    copy["stays"] = json!([]);
    if copy != *result {
        corrupted.push(("no stays".to_owned(), copy));
    }
    corrupted
}

#[test]
fn a_corrupted_result_is_rejected() {
    for seed in 0..200 {
        let instance = random_instance(seed);
        for exact in both() {
            let plan = exact.solve(&instance.buffers, &instance.capacity);
            let result: Value = serde_json::from_str(&plan.to_json(&instance, &HEADING).unwrap()).unwrap();
            for (what, corrupted) in corruptions(&result) {
                let found = verify(&corrupted.to_string(), &random::json(&instance));
                assert!(found.is_err(), "seed {seed} {:?}: {what}", exact.stays);
            }
        }
    }
}

#[test]
fn a_bound_that_is_too_high_is_rejected() {
    let mut n_tried = 0;
    for seed in 0..300 {
        let instance = random_instance(seed);
        for exact in both() {
            let plan = exact.solve(&instance.buffers, &instance.capacity);
            // A worse plan with the same bound is right; that it is the best is not.
            let nothing = Exact { budget: 0, ..exact }.solve(&instance.buffers, &instance.capacity);
            if nothing.hbm_bytes_left == plan.hbm_bytes_left {
                continue;
            }
            n_tried += 1;
            let mut result: Value = serde_json::from_str(&nothing.to_json(&instance, &HEADING).unwrap()).unwrap();
            let text = random::json(&instance);
            assert!(verify(&result.to_string(), &text).is_ok());
            result["lower_bound"] = json!(plan.hbm_bytes_left + 1);
            result["optimal"] = json!(plan.hbm_bytes_left + 1 == nothing.hbm_bytes_left);
            result["certificate"] =
                serde_json::from_str::<Value>(&plan.to_json(&instance, &HEADING).unwrap()).unwrap()["certificate"].clone();
            assert!(matches!(verify(&result.to_string(), &text), Err(Unverified::Bound { .. })), "seed {seed}");
        }
    }
    assert!(n_tried > 20, "{n_tried}");
}

#[test]
fn a_cut_that_fits_is_rejected() {
    let mut n_tried = 0;
    for seed in 0..3000 {
        let instance = random_instance(seed);
        let plan = Exact::whole_lives().solve(&instance.buffers, &instance.capacity);
        let result: Value = serde_json::from_str(&plan.to_json(&instance, &HEADING).unwrap()).unwrap();
        for cut in 0..plan.certificate.cuts.len() {
            n_tried += 1;
            let mut corrupted = result.clone();
            corrupted["certificate"]["cuts"][cut]["stays"].as_array_mut().unwrap().truncate(1);
            corrupted["certificate"]["cuts"][cut]["mergers"] = json!([]);
            assert!(matches!(verify(&corrupted.to_string(), &random::json(&instance)), Err(Unverified::Bound { .. })), "seed {seed}");
        }
    }
    assert!(n_tried > 20, "{n_tried}");
}
