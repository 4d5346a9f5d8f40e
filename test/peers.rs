//! Compares the planners with torch-spyre's own planners, address by address.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test over files")]

use crate::common;
use scratchpad::{Buffer, Capacity, Instance, Use, UseKind, check, find_planner};
use serde_json::Value;
use std::{collections::BTreeMap, fs, path::PathBuf};

fn read_json(path: &PathBuf) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())))
        .unwrap()
}

/// Returns a buffer; `uses` are times, each with `w` for a write or `r` for a read.
fn buffer(name: &str, bytes: i64, uses: &str, in_place_parents: &[usize]) -> Buffer {
    let one = |text: &str| {
        let (time, kind) = text.split_at(text.len() - 1);
        Use { time: time.parse().unwrap(), kind: if kind == "w" { UseKind::Write } else { UseKind::Read } }
    };
    let buffer = Buffer::new(name.to_owned(), bytes, uses.split(' ').map(one).collect());
    Buffer { in_place_parents: in_place_parents.to_vec(), ..buffer }
}

/// Buffers, capacity and alignment, and their offsets by greedy, first fit and best fit.
type RecordedInstance = (Vec<Buffer>, [i64; 2], [Vec<Option<i64>>; 3]);

/// Returns four buffer lists of torch-spyre's own solver tests (commit 9a6b71e4, 2026-08-20), and the results of its
/// solvers: gaps of different sizes, a choice by uses, an address reused in place, and one reused in little space. They
/// are included so that the test runs in a clone; `shared` has all of them.
fn recorded_instances() -> [RecordedInstance; 4] {
    let gaps = vec![
        buffer("middle", 40, "2w 3r", &[]),
        buffer("left", 30, "1w 4r", &[]),
        buffer("right", 30, "3w 7r", &[]),
        buffer("x", 10, "4w 8r", &[]),
    ];
    let uses = vec![buffer("few", 10, "0w 4r", &[]), buffer("many", 10, "0w 1r 2r 3r 4r", &[])];
    let handed_on =
        vec![buffer("plain", 10, "0w 4r", &[]), buffer("parent", 10, "0w 4r", &[]), buffer("child", 10, "4w 8r", &[1])];
    let little_room = vec![
        buffer("stacked", 20, "0w 2r", &[]),
        buffer("late", 5, "6w", &[]),
        buffer("parent", 20, "0w 1r", &[]),
        buffer("child", 5, "1w 2r 5r 6r", &[2]),
    ];
    let all = |addresses: [i64; 4]| addresses.map(Some).to_vec();
    let fit = vec![None, Some(0), Some(0), Some(20)];
    [
        (gaps, [120, 1], [all([30, 0, 70, 100]), all([0, 40, 70, 0]), all([0, 40, 70, 100])]),
        (uses, [10, 1], [vec![Some(0), None], vec![None, Some(0)], vec![None, Some(0)]]),
        (handed_on, [10, 1], [vec![Some(0), None, None], vec![None, Some(0), Some(0)], vec![None, Some(0), Some(0)]]),
        (little_room, [30, 10], [vec![Some(0), Some(0), None, Some(20)], fit.clone(), fit]),
    ]
}

#[test]
fn matches_recorded_placements_of_peers() {
    for (buffers, [bytes, alignment], expected) in recorded_instances() {
        let capacity = Capacity { bytes, alignment };
        for (name, expected) in ["greedy", "first-fit", "best-fit"].into_iter().zip(expected) {
            let placement = find_planner(name).unwrap().plan(&buffers, &capacity);
            assert_eq!(check(&buffers, &capacity, &placement), Ok(()), "{name}: {}", buffers[0].name);
            assert_eq!(placement.addresses, expected, "{name}: {}", buffers[0].name);
        }
    }
}

/// A list of ours in `MiniMalloc`'s format: all buffers fit, in any order of placement.
#[test]
fn reads_and_plans_minimalloc_list() {
    let capacity = Capacity { bytes: 64, alignment: 1 };
    let Instance { buffers, .. } =
        Instance::from_csv("id,lower,upper,size\na,0,4,16\nb,2,6,16\nc,4,9,16\nd,5,7,32\n", capacity).unwrap();
    assert_eq!(buffers.iter().map(Buffer::live_range).collect::<Vec<_>>(), [0..4, 2..6, 4..9, 5..7]);
    for name in ["greedy", "first-fit", "best-fit"] {
        let placement = find_planner(name).unwrap().plan(&buffers, &capacity);
        assert_eq!(check(&buffers, &capacity, &placement), Ok(()));
        assert_eq!(placement.num_placed(), 4, "{name}");
    }
}

/// Tests that need the reference material outside the repository.
mod shared {
    use super::*;

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn matches_placements_of_peers() {
        let planner = common::shared("planner");
        let peers = read_json(&planner.join("peer_results.json"));
        let mut equal: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        let mut different = Vec::new();
        for (name, peer) in peers.as_object().unwrap() {
            let path = planner.join("instances").join(format!("{name}.json"));
            if !path.exists() {
                continue;
            }
            let Instance { buffers, capacity, .. } = Instance::from_json(&fs::read_to_string(&path).unwrap()).unwrap();
            for (solver, name_of_planner) in [("greedy", "greedy"), ("firstfit", "first-fit"), ("bestfit", "best-fit")]
            {
                let theirs = &peer["solvers"][solver];
                let placement = find_planner(name_of_planner).unwrap().plan(&buffers, &capacity);
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
                if same && left {
                    count.0 += 1
                } else {
                    different.push(format!("{name} {name_of_planner} addresses {same} hbm {left}"))
                }
            }
        }
        println!("equal: {equal:?}");
        assert!(different.is_empty(), "{different:#?}");
        assert!(equal.values().all(|&(_, total)| total > 60));
    }

    #[test]
    #[ignore = "needs ../shared, the material beside the project: cargo xtask test runs it where that is"]
    fn reads_and_plans_minimalloc_sets() {
        let capacity = Capacity { bytes: 1 << 20, alignment: 1 };
        let (sets, mut num_sets) = (common::shared("planner/minimalloc"), 0);
        for entry in fs::read_dir(sets).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "csv") {
                continue;
            }
            let instance = Instance::from_csv(&fs::read_to_string(&path).unwrap(), capacity).unwrap();
            for name in ["greedy", "first-fit", "best-fit"] {
                let placement = find_planner(name).unwrap().plan(&instance.buffers, &capacity);
                assert_eq!(check(&instance.buffers, &capacity, &placement), Ok(()));
                println!("{} {name}: {} of {}", path.display(), placement.num_placed(), instance.buffers.len());
            }
            num_sets += 1;
        }
        assert_eq!(num_sets, 11);
    }
}
