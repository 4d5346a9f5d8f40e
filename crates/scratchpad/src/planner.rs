//! Registry of the planners by name.

use super::{BestFitPlanner, ExactPlanner, FirstFitPlanner, GreedyPlanner, Planner};

/// Error: no planner has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown LX planner '{0}': expected 'none', 'greedy', 'first-fit', 'best-fit' or 'exact'")]
pub struct UnknownPlanner(pub String);

/// Returns the planner with this name.
///
/// # Errors
/// Returns [`UnknownPlanner`] if no planner has this name.
pub fn find_planner(name: &str) -> Result<Box<dyn Planner>, UnknownPlanner> {
    let planners: [Box<dyn Planner>; 4] = [
        Box::new(GreedyPlanner),
        Box::new(FirstFitPlanner),
        Box::new(BestFitPlanner),
        Box::new(ExactPlanner::new_unsplit()),
    ];
    planners.into_iter().find(|planner| planner.name() == name).ok_or_else(|| UnknownPlanner(name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::super::buffer::tests::{buffer, child};
    use super::*;
    use crate::{Buffer, Capacity, PlacementExclusion, check};
    use proptest::prelude::*;

    const PLANNER_NAMES: [&str; 4] = ["greedy", "first-fit", "best-fit", "exact"];

    fn plan_addresses(name: &str, buffers: &[Buffer], bytes: i64, alignment: i64) -> Vec<Option<i64>> {
        find_planner(name).unwrap().plan(buffers, &Capacity { bytes, alignment }).addresses
    }

    #[test]
    fn finds_planners_by_name() {
        assert_eq!(PLANNER_NAMES.map(|name| find_planner(name).unwrap().name()), PLANNER_NAMES);
        assert_eq!(find_planner("worst-fit").err(), Some(UnknownPlanner("worst-fit".to_owned())));
    }

    #[test]
    fn stacks_buffers_that_are_live_together() {
        let buffers = [buffer("a", 3, &[0, 1]), buffer("b", 3, &[0, 1]), buffer("c", 4, &[0, 1])];
        for name in PLANNER_NAMES {
            assert_eq!(plan_addresses(name, &buffers, 10, 1), [Some(0), Some(3), Some(6)], "{name}");
            let aligned = if name == "exact" { [None, None, Some(0)] } else { [Some(0), None, None] };
            assert_eq!(
                plan_addresses(name, &buffers, 10, 128),
                aligned,
                "{name}: one aligned address, the exact planner's for the largest"
            );
        }
    }

    #[test]
    fn skips_ineligible_buffer_but_not_its_child() {
        let parent = Buffer {
            barred: Some(PlacementExclusion("its size is not known".to_owned())),
            ..buffer("parent", 20, &[0, 4])
        };
        let buffers = [parent, child(buffer("child", 15, &[4, 8]), &[0])];
        for name in PLANNER_NAMES {
            assert_eq!(plan_addresses(name, &buffers, 512, 1), [None, Some(0)], "{name}");
        }
    }

    #[test]
    fn reuses_parent_address_once() {
        let buffers = [
            buffer("parent", 40, &[0, 1]),
            child(buffer("first", 20, &[1, 3]), &[0]),
            child(buffer("second", 5, &[1]), &[0]),
        ];
        for name in PLANNER_NAMES {
            let found = plan_addresses(name, &buffers, 120, 1);
            assert!(found[1] == found[0] || found[2] == found[0], "{name}: the address is handed over");
            assert_ne!(found[1], found[2], "{name}: to one of them");
        }
    }

    #[test]
    fn keeps_parent_extent_during_reuse() {
        let buffers =
            [buffer("parent", 40, &[0, 1]), child(buffer("child", 5, &[1, 3]), &[0]), buffer("stranger", 20, &[1, 2])];
        for name in PLANNER_NAMES {
            let capacity = Capacity { bytes: 120, alignment: 1 };
            let placement = find_planner(name).unwrap().plan(&buffers, &capacity);
            assert_eq!((check(&buffers, &capacity, &placement), placement.num_placed()), (Ok(()), 3), "{name}");
        }
    }

    #[test]
    fn rejects_reuse_of_unread_parent() {
        let buffers = [buffer("parent", 40, &[0]), child(buffer("child", 40, &[0, 2]), &[0])];
        for name in PLANNER_NAMES {
            let found = plan_addresses(name, &buffers, 120, 1);
            assert!(found[0].is_some() && found[1].is_some() && found[0] != found[1], "{name}");
        }
    }

    #[test]
    fn places_late_large_buffer_despite_early_small_one() {
        // The "simple fragmentation" pattern of torch-spyre: greedy puts B above A and then finds no gap for C.
        let third = 1000;
        let buffers =
            [buffer("A", third, &[0, 1, 2]), buffer("B", third, &[1, 2, 3, 4]), buffer("C", 2 * third, &[3, 4])];
        for name in ["first-fit", "best-fit"] {
            assert!(plan_addresses(name, &buffers, 3 * third, 1).iter().all(Option::is_some), "{name}");
        }
        assert_eq!(plan_addresses("greedy", &buffers, 3 * third, 1), [Some(0), Some(1000), None]);
    }

    #[test]
    fn takes_gap_that_leaves_least_with_best_fit() {
        let buffers = [
            buffer("mid", 40, &[2, 3]),
            buffer("left", 30, &[1, 4]),
            buffer("right", 30, &[3, 7]),
            buffer("x", 10, &[4, 8]),
        ];
        assert_eq!(plan_addresses("first-fit", &buffers, 120, 1), [Some(0), Some(40), Some(70), Some(0)]);
        assert_eq!(plan_addresses("best-fit", &buffers, 120, 1), [Some(0), Some(40), Some(70), Some(100)]);
    }

    /// Generates a buffer with up to five uses, possibly ineligible or starting in HBM, and parents that may not exist.
    fn any_buffer() -> impl Strategy<Value = Buffer> {
        let steps = prop::collection::vec(0_usize..6, 0..4);
        let parents = prop::collection::vec(0_usize..14, 0..3);
        (0_i64..40, 0_usize..8, steps, parents, 0..8).prop_map(|(bytes, start, steps, parents, kind)| {
            let mut times = vec![start];
            steps.iter().for_each(|step| times.push(times[times.len() - 1] + step));
            let barred = (kind == 0).then(|| PlacementExclusion("its size is not known".to_owned()));
            Buffer { starts_in_hbm: kind == 1, barred, ..child(buffer("any", bytes, &times), &parents) }
        })
    }

    /// Generates up to 14 buffers whose parents precede them in the list.
    fn buffer_lists() -> impl Strategy<Value = Vec<Buffer>> {
        prop::collection::vec(any_buffer(), 0..14).prop_map(|mut buffers| {
            for (index, buffer) in buffers.iter_mut().enumerate() {
                buffer.in_place_parents.retain(|&parent| parent < index);
            }
            buffers
        })
    }

    proptest! {
        #[test]
        fn makes_legal_and_explained_placements(buffers in buffer_lists(), bytes in 0_i64..120, alignment in 1_i64..9) {
            let capacity = Capacity { bytes, alignment };
            for name in PLANNER_NAMES {
                let placement = find_planner(name).unwrap().plan(&buffers, &capacity);
                prop_assert_eq!(check(&buffers, &capacity, &placement), Ok(()), "{}", name);
                for (address, reason) in placement.addresses.iter().zip(&placement.reasons) {
                    prop_assert_eq!(address.is_none(), reason.is_some());
                }
            }
        }
    }
}
