//! The planners against torch-spyre's own, address by address.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

use scratchpad::{Capacity, Instance, check, planner_named};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::PathBuf};

mod common;

fn parse(path: &PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))).unwrap()
}

/// With the material beside the project.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn placements_equal_the_peers() {
        let planner = common::shared("planner");
        let peers = parse(&planner.join("peer_results.json"));
        let mut equal: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut different = Vec::new();
        for (name, peer) in peers.as_object().unwrap() {
            let path = planner.join("instances").join(format!("{name}.json"));
            if !path.exists() {
                continue;
            }
            let Instance { buffers, capacity, .. } = Instance::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
            for (solver, name_of_planner) in [("greedy", "greedy"), ("firstfit", "first-fit"), ("bestfit", "best-fit")] {
                let theirs = &peer["solvers"][solver];
                let placement = planner_named(name_of_planner).unwrap().plan(&buffers, &capacity);
                assert_eq!(check(&buffers, &capacity, &placement), Ok(()), "{name} {name_of_planner}");
                if theirs.get("error").is_some() {
                    continue;
                }
                let same = buffers
                    .iter()
                    .zip(&placement.addresses)
                    .all(|(buffer, address)| theirs["addresses"].get(&buffer.name).and_then(Value::as_i64) == *address);
                let left = theirs["hbm_bytes_left"].as_i64() == Some(placement.hbm_bytes_left(&buffers));
                let count = equal.entry(name_of_planner).or_default();
                count.1 += 1;
                if same && left { count.0 += 1 } else { different.push(format!("{name} {name_of_planner} addresses {same} hbm {left}")) }
            }
        }
        println!("equal: {equal:?}");
        assert!(different.is_empty(), "{different:#?}");
        assert!(equal.values().all(|&(_, total)| total > 60));
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn minimalloc_sets_are_read_and_planned() {
        let capacity = Capacity { bytes: 1 << 20, alignment: 1 };
        let (sets, mut n_sets) = (common::shared("planner/minimalloc"), 0);
        for entry in fs::read_dir(sets).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "csv") {
                continue;
            }
            let instance = Instance::from_csv(&fs::read_to_string(&path).unwrap(), capacity).unwrap();
            for name in ["greedy", "first-fit", "best-fit"] {
                let placement = planner_named(name).unwrap().plan(&instance.buffers, &capacity);
                assert_eq!(check(&instance.buffers, &capacity, &placement), Ok(()));
                println!("{} {name}: {} of {}", path.display(), placement.n_placed(), instance.buffers.len());
            }
            n_sets += 1;
        }
        assert_eq!(n_sets, 11);
    }
}
