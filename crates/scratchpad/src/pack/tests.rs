//! Tests of the packer against brute force, and checks of the invariants of every packing.

use super::{
    Packer, PackingPeak, PackingResult, PackingShape, PeakSearch, Rectangle, StepBudget, compute_max_load,
    find_smallest_peak,
    order::ItemProperties,
    pack_rectangles, pack_shapes,
    portfolio::SEARCH_CONFIGURATIONS,
    problem::PackingProblem,
    search::{PackingSearch, SearchOutcome, SharedProblem},
};
use std::rc::Rc;

const NUM_TICKS: i64 = 4;

/// Returns the number of random cases that are compared with brute force; `SPYRE_PACK_CASES` overrides the default.
fn num_cases() -> u64 {
    std::env::var("SPYRE_PACK_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

/// Linear congruential generator of random shapes.
struct LcgRng(u64);

impl LcgRng {
    fn sample_below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % end.unsigned_abs()).unwrap()
    }

    fn sample_rectangle(&mut self, max_size: i64) -> Rectangle {
        let lower = self.sample_below(NUM_TICKS);
        Rectangle {
            lower,
            upper: lower + 1 + self.sample_below(NUM_TICKS - lower),
            size: 1 + self.sample_below(max_size),
        }
    }

    /// Returns a random shape: mostly one rectangle, sometimes two steps that may overlap or have a gap, rarely an
    /// empty shape.
    fn sample_shape(&mut self) -> PackingShape {
        match self.sample_below(8) {
            0 => PackingShape { steps: vec![self.sample_rectangle(4), self.sample_rectangle(4)] },
            1 if self.sample_below(8) == 0 => PackingShape { steps: vec![Rectangle { lower: 1, upper: 1, size: 3 }] },
            _ => self.sample_rectangle(4).into(),
        }
    }
}

/// Bit set of the occupied units in each tick.
type OccupiedUnits = [u32; NUM_TICKS as usize];

fn compute_occupied_units(steps: &[Rectangle], offset: i64) -> OccupiedUnits {
    let mut occupied = OccupiedUnits::default();
    for (tick, bits) in (0..).zip(&mut occupied) {
        for step in steps.iter().filter(|step| (step.lower..step.upper).contains(&tick)) {
            *bits |= ((1 << step.size) - 1) << offset;
        }
    }
    occupied
}

/// Returns whether the shapes fit into the units that are not occupied, by trying every offset of every shape.
fn can_be_packed(shapes: &[PackingShape], occupied: OccupiedUnits, capacity: i64) -> bool {
    let Some((shape, rest)) = shapes.split_first() else { return true };
    let height = shape.compute_outline().iter().map(|step| step.size).max().unwrap_or(0);
    (0..=capacity - height).any(|offset| {
        let own = compute_occupied_units(&shape.steps, offset);
        let is_free = own.iter().zip(&occupied).all(|(own, taken)| own & taken == 0);
        is_free && can_be_packed(rest, std::array::from_fn(|tick| own[tick] | occupied[tick]), capacity)
    })
}

fn assert_legal(shapes: &[PackingShape], base: &[Rectangle], offsets: &[i64], capacity: i64) {
    assert_eq!(offsets.len(), shapes.len());
    let mut all = compute_occupied_units(base, 0);
    for (shape, &offset) in shapes.iter().zip(offsets) {
        assert!(offset >= 0);
        let own = compute_occupied_units(&shape.steps, offset);
        for (all, own) in all.iter_mut().zip(own) {
            assert_eq!((*all & own, own >> capacity), (0, 0), "{shapes:?} on {base:?} at {offsets:?}");
            *all |= own;
        }
    }
}

fn assert_disjoint(rectangles: &[Rectangle], offsets: &[i64], capacity: i64) {
    for (index, (one, offset)) in rectangles.iter().zip(offsets).enumerate() {
        assert!((0..=capacity - one.size).contains(offset));
        for (other, other_offset) in
            rectangles.iter().zip(offsets).skip(index + 1).filter(|(other, _)| one.overlaps_in_time(other))
        {
            assert!(offset + one.size <= *other_offset || other_offset + other.size <= *offset);
        }
    }
}

/// Runs one search configuration of the portfolio to completion. Returns whether it found a packing.
fn search_finds_packing(shapes: &[PackingShape], base: &[Rectangle], capacity: i64, index: usize) -> bool {
    PackingProblem::split_into_components(shapes, base).iter().all(|problem| {
        let capacity = capacity / problem.unit;
        if problem.items.iter().any(|item| item.base + item.height > capacity) {
            return false;
        }
        let shared = Rc::new(SharedProblem::new(problem, 1000).unwrap());
        let (focus, order) = SEARCH_CONFIGURATIONS[index % SEARCH_CONFIGURATIONS.len()];
        let order = ItemProperties::new(problem, |item| shared.num_overlaps(item)).sort_items(&order);
        let mut search = PackingSearch::new(problem, &shared, focus, &order, capacity).unwrap();
        match search.run(&mut StepBudget { left: 1_000_000 }) {
            SearchOutcome::Found => true,
            SearchOutcome::Refuted => false,
            SearchOutcome::Stopped => panic!("out of steps"),
        }
    })
}

#[test]
fn matches_brute_force_on_small_cases() {
    let mut random = LcgRng(1);
    let (mut num_impossible, mut num_above_load) = (0, 0);
    for case in 0..num_cases() {
        let shapes: Vec<PackingShape> = (0..1 + random.sample_below(7)).map(|_| random.sample_shape()).collect();
        let base: Vec<Rectangle> = (0..random.sample_below(3) / 2).map(|_| random.sample_rectangle(2)).collect();
        let outlines: Vec<Rectangle> =
            shapes.iter().flat_map(PackingShape::compute_outline).chain(base.iter().copied()).collect();
        let capacity = (compute_max_load(&outlines) + random.sample_below(8) / 7 - random.sample_below(12) / 11).max(0);
        // A capacity below the load is infeasible.
        let expected = capacity >= compute_max_load(&outlines)
            && can_be_packed(&shapes, compute_occupied_units(&base, 0), capacity);
        num_impossible += u64::from(!expected);
        num_above_load += u64::from(!expected && capacity >= compute_max_load(&outlines));
        match pack_shapes(&shapes, &base, capacity, &mut StepBudget { left: 1_000_000 }) {
            PackingResult::Placed(offsets) => assert_legal(&shapes, &base, &offsets, capacity),
            other => assert!(
                other == PackingResult::Infeasible && !expected,
                "{other:?}: {shapes:?} on {base:?} in {capacity}"
            ),
        }
        if capacity >= compute_max_load(&outlines) {
            let index = usize::try_from(case).unwrap();
            assert_eq!(
                search_finds_packing(&shapes, &base, capacity, index),
                expected,
                "{shapes:?} on {base:?} in {capacity}"
            );
        }
    }
    // In enough cases, infeasibility does not follow from the load, so that a search must prove it.
    assert!(
        num_above_load * 200 > num_cases() && num_impossible < num_cases() / 2,
        "{num_impossible}, {num_above_load}"
    );
}

#[test]
fn matches_brute_force_on_small_peaks() {
    let mut random = LcgRng(2);
    for _ in 0..num_cases() / 10 {
        let rectangles: Vec<Rectangle> = (0..1 + random.sample_below(7)).map(|_| random.sample_rectangle(4)).collect();
        let shapes: Vec<PackingShape> = rectangles.iter().copied().map(PackingShape::from).collect();
        let PackingPeak { offsets, height, lower_bound } =
            find_smallest_peak(&rectangles, &mut StepBudget { left: 1_000_000 });
        assert_legal(&shapes, &[], &offsets, height);
        assert_eq!(lower_bound, height);
        assert!(
            height == compute_max_load(&rectangles) || !can_be_packed(&shapes, OccupiedUnits::default(), height - 1),
            "{rectangles:?}"
        );
    }
}

/// Returns `n` rectangles that tile a block of this width and height: the largest one is cut in time or in units, again
/// and again.
fn cut_block(seed: u64, n: usize, width: i64, height: i64) -> Vec<Rectangle> {
    let mut random = LcgRng(seed);
    let mut blocks = vec![Rectangle { lower: 0, upper: width, size: height }];
    while blocks.len() < n {
        let largest = (0..blocks.len())
            .max_by_key(|&index| (blocks[index].upper - blocks[index].lower) * blocks[index].size)
            .unwrap();
        let block = blocks.swap_remove(largest);
        let (duration, units) = (block.upper - block.lower, block.size);
        if random.sample_below(2) == 0 && duration > 3 {
            let cut = block.lower + duration / 4 + random.sample_below(duration / 2);
            blocks.extend([Rectangle { upper: cut, ..block }, Rectangle { lower: cut, ..block }]);
        } else {
            let cut = 1 + units / 4 + random.sample_below(units / 2);
            blocks.extend([Rectangle { size: cut, ..block }, Rectangle { size: units - cut, ..block }]);
        }
    }
    blocks
}

#[test]
fn repacks_dense_block() {
    for seed in 0..8 {
        let rectangles = cut_block(seed, 60, 1000, 10_000);
        assert_eq!(compute_max_load(&rectangles), 10_000);
        let PackingResult::Placed(offsets) = pack_rectangles(&rectangles, 10_000, &mut StepBudget { left: 1_000_000 })
        else {
            panic!("seed {seed}")
        };
        assert_disjoint(&rectangles, &offsets, 10_000);
        assert_eq!(pack_rectangles(&rectangles, 9_999, &mut StepBudget { left: 1 }), PackingResult::Infeasible);
    }
}

#[test]
fn gives_same_result_in_portions_as_at_once() {
    let rectangles = cut_block(3, 120, 1000, 10_000);
    let shapes: Vec<PackingShape> = rectangles.iter().copied().map(PackingShape::from).collect();
    let mut at_once = StepBudget { left: 10_000_000 };
    let expected = Packer::new(&shapes, &[], 10_000).run(&mut at_once);
    let mut packer = Packer::new(&shapes, &[], 10_000);
    let mut num_steps = 0;
    let found = loop {
        let mut portion = StepBudget { left: 977 };
        let result = packer.run(&mut portion);
        num_steps += 977 - portion.left;
        if result != PackingResult::OutOfSteps {
            break result;
        }
    };
    assert_eq!(found, expected);
    assert_eq!(num_steps, 10_000_000 - at_once.left);
    assert!(matches!(expected, PackingResult::Placed(_)));
}

#[test]
fn proves_nothing_with_too_few_steps() {
    let rectangles = cut_block(3, 120, 1000, 10_000);
    assert_eq!(pack_rectangles(&rectangles, 10_000, &mut StepBudget { left: 10 }), PackingResult::OutOfSteps);
    // Any budget yields a legal placement.
    let PackingPeak { offsets, height, lower_bound } = find_smallest_peak(&rectangles, &mut StepBudget { left: 0 });
    assert_disjoint(&rectangles, &offsets, height);
    assert_eq!(lower_bound, 10_000);
}

#[test]
fn places_empty_rectangles_at_zero() {
    let empty = [Rectangle { lower: 0, upper: 4, size: 0 }, Rectangle { lower: 3, upper: 3, size: 5 }];
    assert_eq!(pack_rectangles(&empty, 0, &mut StepBudget { left: 0 }), PackingResult::Placed(vec![0, 0]));
    assert_eq!(
        find_smallest_peak(&empty, &mut StepBudget { left: 0 }),
        PackingPeak { offsets: vec![0, 0], height: 0, lower_bound: 0 }
    );
    assert_eq!(pack_rectangles(&[], 0, &mut StepBudget { left: 0 }), PackingResult::Placed(vec![]));
}

#[test]
fn packs_address_chain_as_one_shape() {
    // 4 units until tick 2, then 2 units until tick 4.
    let rectangle = |lower, upper, size| Rectangle { lower, upper, size };
    let chain = PackingShape { steps: vec![rectangle(0, 3, 4), rectangle(2, 4, 2)] };
    let shapes = [chain, rectangle(3, 4, 2).into()];
    let PackingResult::Placed(offsets) = pack_shapes(&shapes, &[], 4, &mut StepBudget { left: 1000 }) else { panic!() };
    assert_legal(&shapes, &[], &offsets, 4);
    // A fixed rectangle at the bottom that overlaps the chain in time raises the complete chain, which then does not
    // fit.
    assert_eq!(
        pack_shapes(&shapes, &[rectangle(3, 4, 1)], 4, &mut StepBudget { left: 1000 }),
        PackingResult::Infeasible
    );
}

#[test]
fn packs_large_sizes_by_lists() {
    // Sizes without a common divisor, too large for the unit-based search.
    let rectangles = [(0, 2, 3_000_000_001), (1, 3, 4_000_000_000), (2, 4, 3_000_000_000)];
    let rectangles = rectangles.map(|(lower, upper, size)| Rectangle { lower, upper, size });
    let height = compute_max_load(&rectangles);
    let PackingResult::Placed(offsets) = pack_rectangles(&rectangles, height, &mut StepBudget { left: 1000 }) else {
        panic!()
    };
    assert_disjoint(&rectangles, &offsets, height);
}

#[test]
fn packs_many_buffers_close_to_load() {
    let mut random = LcgRng(5);
    let mut rectangles = Vec::new();
    for tick in 0..3000 {
        let length = [2, 3, 5, 20, 100][usize::try_from(random.sample_below(5)).unwrap()];
        let size = [16, 1600, 2560, 20_480, 40_960][usize::try_from(random.sample_below(5)).unwrap()];
        rectangles.push(Rectangle { lower: tick, upper: tick + length, size });
        if tick % 4 == 0 {
            rectangles.push(Rectangle { lower: tick, upper: 6000 - tick, size });
        }
    }
    let shapes: Vec<PackingShape> = rectangles.iter().copied().map(PackingShape::from).collect();
    let mut search = PeakSearch::new(&shapes, &[]);
    search.run(&mut StepBudget { left: 30_000 });
    assert_disjoint(&rectangles, &search.peak.offsets, search.peak.height);
    assert!(
        search.peak.height * 100 <= compute_max_load(&rectangles) * 101,
        "{} of {}",
        search.peak.height,
        compute_max_load(&rectangles)
    );
}
