//! Links: buffers that are live in one operation only, and pass on the address that they reuse.

use crate::{HEADING, brute_force, planners_of_both_modes, verify};
use scratchpad::{ExactPlanner, Instance, ResidencyMode};
use serde_json::{Value, json};

/// Returns a buffer that is written in its first operation and read in its last, with its in-place parents.
fn buffer_json(name: &str, size: i64, (first, last): (usize, usize), parents: &[&str]) -> Value {
    let uses = json!([{"time": first, "kind": "write"}, {"time": last, "kind": "read"}]);
    json!({"name": name, "size": size, "uses": uses, "start": first, "end": last + 1, "in_place_parents": parents, "graph_input": false})
}

fn instance_json(limit: i64, buffers: &[Value]) -> String {
    json!({"name": "links", "limit": limit, "alignment": 1, "buffers": buffers}).to_string()
}

/// Returns a result with these intervals (buffer, start, end, address) and this cut, which claims to be optimal in
/// `among`.
fn result_json(text: &str, among: &str, intervals: &[(&str, usize, usize, i64)], (left, cut): (i64, Value)) -> Value {
    let instance = Instance::from_json(text).unwrap();
    let address = |name: &str| intervals.iter().find(|interval| interval.0 == name).map(|interval| interval.3);
    let names = || instance.buffers.iter().map(|buffer| buffer.name.as_str());
    let addresses: serde_json::Map<String, Value> =
        names().map(|name| (name.to_owned(), json!(address(name)))).collect();
    let reasons: serde_json::Map<String, Value> =
        names().filter(|name| address(name).is_none()).map(|name| (name.to_owned(), json!("no room"))).collect();
    let interval = |&(buffer, start, end, address): &(&str, usize, usize, i64)| json!({"buffer": buffer, "start": start, "end": end, "address": address});
    let certificate = json!({"whole_lives": among == "whole lives", "scale": 1, "prices": [], "cuts": [cut]});
    json!({
        "planner": "hand", "capacity": instance.capacity.bytes, "alignment": 1, "addresses": addresses, "reasons": reasons,
        "stays": intervals.iter().map(interval).collect::<Vec<_>>(), "hbm_bytes_left": left, "lower_bound": left, "optimal": true, "among": among,
        "steps": 0, "seconds": 0, "timed_out": false, "certificate": certificate,
    })
}

fn cut_intervals_json(intervals: &[(&str, usize, usize)]) -> Vec<Value> {
    intervals.iter().map(|(buffer, start, end)| json!({"buffer": buffer, "start": start, "end": end})).collect()
}

fn expect_rejection(result: &Value, instance: &str) -> String {
    verify(&result.to_string(), instance).unwrap_err().to_string()
}

/// Returns an instance whose three buffers fit at one address: it passes from `a` to `c` through `b`, in operation 1.
fn chain_json() -> String {
    instance_json(
        4,
        &[buffer_json("a", 4, (0, 1), &[]), buffer_json("b", 4, (1, 1), &["a"]), buffer_json("c", 4, (1, 2), &["b"])],
    )
}

#[test]
fn rejects_cut_that_omits_link() {
    let intervals = [("a", 0, 2, 0), ("b", 1, 2, 0)];
    for among in ["whole lives", "split stays"] {
        let forged = |absent: Value| {
            let cut =
                json!({"stays": cut_intervals_json(&[("a", 0, 2), ("c", 1, 3)]), "mergers": [], "absent": absent});
            result_json(&chain_json(), among, &intervals, (8, cut))
        };
        assert!(
            expect_rejection(&forged(json!([])), &chain_json())
                .contains("cut 0: its residency intervals fit in LX together")
        );
        // Without the link the intervals do not fit, but plans may have the link.
        assert!(
            expect_rejection(&forged(json!(["b"])), &chain_json()).contains("sets of resident values may cost less")
        );
        for absent in [json!(["a"]), json!(["nobody"])] {
            assert!(expect_rejection(&forged(absent), &chain_json()).contains(
                "as absent; expected a buffer with a single use, which is in no residency interval of the cut"
            ));
        }
    }
}

#[test]
fn passes_address_through_link() {
    let instance = Instance::from_json(&chain_json()).unwrap();
    for exact in planners_of_both_modes() {
        let plan = exact.solve(&instance.buffers, &instance.capacity);
        assert_eq!((plan.hbm_bytes_left, plan.optimal), (0, true));
    }
}

/// Two halves, of each of which a quarter remains, leave no space for a third half: a cut is needed. The cut must not
/// exclude the chain with a link.
#[test]
fn keeps_chains_that_need_link() {
    let buffers = [
        buffer_json("over all", 1, (0, 6), &[]),
        buffer_json("a", 4, (0, 1), &[]),
        buffer_json("b", 4, (1, 1), &["a"]),
        buffer_json("c", 4, (1, 2), &["b"]),
        buffer_json("left half", 2, (3, 4), &[]),
        buffer_json("right half", 2, (3, 4), &[]),
        buffer_json("left quarter", 1, (4, 6), &["left half"]),
        buffer_json("right quarter", 1, (4, 6), &["right half"]),
        buffer_json("half", 2, (5, 6), &[]),
    ];
    let text = instance_json(5, &buffers);
    let instance = Instance::from_json(&text).unwrap();
    for exact in planners_of_both_modes() {
        let plan = exact.solve(&instance.buffers, &instance.capacity);
        let least =
            brute_force::find_min_hbm_bytes(&instance.buffers, &instance.capacity, exact.mode == ResidencyMode::Whole);
        assert_eq!((plan.hbm_bytes_left, plan.optimal), (least, true), "{:?}", exact.mode);
        assert!(verify(&plan.to_json(&instance, &HEADING).unwrap(), &text).is_ok_and(|verified| verified.optimal));
    }
}

/// `v` reuses the address of `p`, leaves LX, returns, and passes on the address that it has then. All fit in LX of its
/// size.
#[test]
fn takes_address_from_interval_that_ends() {
    let mut v = buffer_json("v", 4, (1, 3), &["p"]);
    v["uses"] = json!([{"time": 1, "kind": "write"}, {"time": 3, "kind": "read"}]);
    let text = instance_json(
        4,
        &[
            buffer_json("p", 4, (0, 1), &[]),
            v,
            buffer_json("between", 4, (2, 2), &[]),
            buffer_json("d", 4, (3, 4), &["v"]),
        ],
    );
    let mergers = json!([["v", "p"], ["d", "v"]]);
    let cut =
        json!({"stays": cut_intervals_json(&[("p", 0, 2), ("v", 1, 2), ("v", 3, 4), ("d", 3, 5)]), "mergers": mergers});
    let intervals = [("p", 0, 2, 0), ("v", 1, 2, 0), ("between", 2, 3, 0), ("v", 3, 4, 0)];
    let forged = result_json(&text, "split stays", &intervals, (16, cut));
    assert!(expect_rejection(&forged, &text).contains("cut 0: its residency intervals fit in LX together"));
}

/// The multipliers do not charge both values for space that a child may reuse from its parent.
#[test]
fn rejects_multiplier_of_child_at_birth() {
    let text = instance_json(4, &[buffer_json("p", 4, (0, 1), &[]), buffer_json("c", 4, (1, 2), &["p"])]);
    let mut forged = result_json(&text, "whole lives", &[("p", 0, 2, 0)], (8, json!(null)));
    (forged["certificate"]["cuts"], forged["certificate"]["rents"]) = (json!([]), json!([[1, [["p", 8], ["c", 8]]]]));
    assert!(
        expect_rejection(&forged, &text)
            .contains("'c' has a rent in operation 1, in which it may take over an address")
    );
}

/// Within an operation, an address passes on in list order, so it cannot pass in a cycle.
#[test]
fn rejects_cyclic_reuse() {
    let pair = [
        buffer_json("a", 4, (0, 1), &[]),
        buffer_json("b", 4, (1, 1), &["a", "c"]),
        buffer_json("c", 4, (1, 1), &["b"]),
    ];
    let text = instance_json(4, &pair);
    let circle = json!({"stays": cut_intervals_json(&[("b", 1, 2), ("c", 1, 2)]), "mergers": [["b", "c"], ["c", "b"]]});
    let forged = result_json(&text, "whole lives", &[("a", 0, 2, 0)], (16, circle));
    assert!(
        expect_rejection(&forged, &text)
            .contains("a cut merges intervals that cannot share an address, or one interval twice")
    );
    let instance = Instance::from_json(&text).unwrap();
    assert_eq!(ExactPlanner::new_unsplit().solve(&instance.buffers, &instance.capacity).hbm_bytes_left, 0);
}

/// Seven of the nine buffers live for one operation, in which they may reuse each other's addresses in thousands of
/// ways.
#[test]
fn verifies_bound_with_many_reuse_assignments() {
    let instance = crate::linked_instance(67_385);
    for exact in planners_of_both_modes() {
        let plan = exact.solve(&instance.buffers, &instance.capacity);
        let verified = verify(&plan.to_json(&instance, &HEADING).unwrap(), &crate::random::to_json(&instance));
        assert!(verified.as_ref().is_ok_and(|verified| verified.optimal), "{:?}: {verified:?}", exact.mode);
    }
}
