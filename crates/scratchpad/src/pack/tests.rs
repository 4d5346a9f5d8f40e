//! Compares packings with brute force, and checks the invariants of every packing.

use super::{
    Packer, Packing, Peak, PeakSearch, Rectangle, Shape, Steps, load,
    order::Properties,
    pack, pack_shapes,
    portfolio::SEARCHES,
    problem::Problem,
    search::{Ground, Outcome, Search},
    smallest_peak,
};
use std::rc::Rc;

const TICKS: i64 = 4;

/// Returns the number of cases compared with brute force; `SPYRE_PACK_CASES` overrides it.
fn n_cases() -> u64 {
    std::env::var("SPYRE_PACK_CASES").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000)
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: i64) -> i64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        i64::try_from((self.0 >> 33) % end.unsigned_abs()).unwrap()
    }

    fn rectangle(&mut self, most: i64) -> Rectangle {
        let lower = self.below(TICKS);
        Rectangle { lower, upper: lower + 1 + self.below(TICKS - lower), size: 1 + self.below(most) }
    }

    /// Returns a random shape: mostly a rectangle, sometimes several steps, overlapping or with a gap, and rarely an
    /// empty one.
    fn shape(&mut self) -> Shape {
        match self.below(8) {
            0 => Shape { steps: vec![self.rectangle(4), self.rectangle(4)] },
            1 if self.below(8) == 0 => Shape { steps: vec![Rectangle { lower: 1, upper: 1, size: 3 }] },
            _ => self.rectangle(4).into(),
        }
    }
}

/// Occupied units in each tick, one bit per unit.
type Taken = [u32; TICKS as usize];

fn taken(steps: &[Rectangle], offset: i64) -> Taken {
    let mut taken = Taken::default();
    for (tick, taken) in (0..).zip(&mut taken) {
        for step in steps.iter().filter(|step| (step.lower..step.upper).contains(&tick)) {
            *taken |= ((1 << step.size) - 1) << offset;
        }
    }
    taken
}

/// Returns whether a packing exists, by trying every offset of every shape.
fn can_be_packed(shapes: &[Shape], above: Taken, capacity: i64) -> bool {
    let Some((shape, rest)) = shapes.split_first() else { return true };
    let height = shape.outline().iter().map(|step| step.size).max().unwrap_or(0);
    (0..=capacity - height).any(|offset| {
        let own = taken(&shape.steps, offset);
        let is_free = own.iter().zip(&above).all(|(own, taken)| own & taken == 0);
        is_free && can_be_packed(rest, std::array::from_fn(|tick| own[tick] | above[tick]), capacity)
    })
}

fn assert_legal(shapes: &[Shape], base: &[Rectangle], offsets: &[i64], capacity: i64) {
    assert_eq!(offsets.len(), shapes.len());
    let mut all = taken(base, 0);
    for (shape, &offset) in shapes.iter().zip(offsets) {
        assert!(offset >= 0);
        let own = taken(&shape.steps, offset);
        for (all, own) in all.iter_mut().zip(own) {
            assert_eq!((*all & own, own >> capacity), (0, 0), "{shapes:?} on {base:?} at {offsets:?}");
            *all |= own;
        }
    }
}

fn assert_disjoint(rectangles: &[Rectangle], offsets: &[i64], capacity: i64) {
    for (index, (one, offset)) in rectangles.iter().zip(offsets).enumerate() {
        assert!((0..=capacity - one.size).contains(offset));
        for (other, place) in rectangles.iter().zip(offsets).skip(index + 1).filter(|(other, _)| one.meets(other)) {
            assert!(offset + one.size <= *place || place + other.size <= *offset);
        }
    }
}

/// Runs a single search of the portfolio to its end.
fn searched(shapes: &[Shape], base: &[Rectangle], capacity: i64, index: usize) -> bool {
    Problem::split(shapes, base).iter().all(|problem| {
        let capacity = capacity / problem.unit;
        if problem.items.iter().any(|item| item.base + item.height > capacity) {
            return false;
        }
        let ground = Rc::new(Ground::of(problem, 1000).unwrap());
        let (focus, order) = SEARCHES[index % SEARCHES.len()];
        let order = Properties::of(problem, |item| ground.overlaps(item)).order(&order);
        let mut search = Search::new(problem, &ground, focus, &order, capacity).unwrap();
        match search.run(&mut Steps { left: 1_000_000 }) {
            Outcome::Found => true,
            Outcome::Refuted => false,
            Outcome::Stopped => panic!("out of steps"),
        }
    })
}

#[test]
fn small_cases_equal_brute_force() {
    let mut random = Random(1);
    let (mut n_impossible, mut n_above_load) = (0, 0);
    for case in 0..n_cases() {
        let shapes: Vec<Shape> = (0..1 + random.below(7)).map(|_| random.shape()).collect();
        let base: Vec<Rectangle> = (0..random.below(3) / 2).map(|_| random.rectangle(2)).collect();
        let outlines: Vec<Rectangle> = shapes.iter().flat_map(Shape::outline).chain(base.iter().copied()).collect();
        let capacity = (load(&outlines) + random.below(8) / 7 - random.below(12) / 11).max(0);
        // A capacity below the load is infeasible.
        let expected = capacity >= load(&outlines) && can_be_packed(&shapes, taken(&base, 0), capacity);
        n_impossible += u64::from(!expected);
        n_above_load += u64::from(!expected && capacity >= load(&outlines));
        match pack_shapes(&shapes, &base, capacity, &mut Steps { left: 1_000_000 }) {
            Packing::Placed(offsets) => assert_legal(&shapes, &base, &offsets, capacity),
            other => assert!(other == Packing::Impossible && !expected, "{other:?}: {shapes:?} on {base:?} in {capacity}"),
        }
        if capacity >= load(&outlines) {
            let index = usize::try_from(case).unwrap();
            assert_eq!(searched(&shapes, &base, capacity, index), expected, "{shapes:?} on {base:?} in {capacity}");
        }
    }
    // Enough cases need a search to prove infeasibility.
    assert!(n_above_load * 200 > n_cases() && n_impossible < n_cases() / 2, "{n_impossible}, {n_above_load}");
}

#[test]
fn small_peaks_equal_brute_force() {
    let mut random = Random(2);
    for _ in 0..n_cases() / 10 {
        let rectangles: Vec<Rectangle> = (0..1 + random.below(7)).map(|_| random.rectangle(4)).collect();
        let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
        let Peak { offsets, height, lower_bound } = smallest_peak(&rectangles, &mut Steps { left: 1_000_000 });
        assert_legal(&shapes, &[], &offsets, height);
        assert_eq!(lower_bound, height);
        assert!(height == load(&rectangles) || !can_be_packed(&shapes, Taken::default(), height - 1), "{rectangles:?}");
    }
}

/// Returns a dense block of `n` rectangles, made by repeated cuts along time or along units.
fn cut_block(seed: u64, n: usize, width: i64, height: i64) -> Vec<Rectangle> {
    let mut random = Random(seed);
    let mut blocks = vec![Rectangle { lower: 0, upper: width, size: height }];
    while blocks.len() < n {
        let largest = (0..blocks.len()).max_by_key(|&index| (blocks[index].upper - blocks[index].lower) * blocks[index].size).unwrap();
        let block = blocks.swap_remove(largest);
        let (long, high) = (block.upper - block.lower, block.size);
        if random.below(2) == 0 && long > 3 {
            let cut = block.lower + long / 4 + random.below(long / 2);
            blocks.extend([Rectangle { upper: cut, ..block }, Rectangle { lower: cut, ..block }]);
        } else {
            let cut = 1 + high / 4 + random.below(high / 2);
            blocks.extend([Rectangle { size: cut, ..block }, Rectangle { size: high - cut, ..block }]);
        }
    }
    blocks
}

#[test]
fn a_dense_block_is_packed_again() {
    for seed in 0..8 {
        let rectangles = cut_block(seed, 60, 1000, 10_000);
        assert_eq!(load(&rectangles), 10_000);
        let Packing::Placed(offsets) = pack(&rectangles, 10_000, &mut Steps { left: 1_000_000 }) else { panic!("seed {seed}") };
        assert_disjoint(&rectangles, &offsets, 10_000);
        assert_eq!(pack(&rectangles, 9_999, &mut Steps { left: 1 }), Packing::Impossible);
    }
}

#[test]
fn steps_in_portions_give_what_they_give_at_once() {
    let rectangles = cut_block(3, 120, 1000, 10_000);
    let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
    let mut at_once = Steps { left: 10_000_000 };
    let expected = Packer::new(&shapes, &[], 10_000).run(&mut at_once);
    let mut packer = Packer::new(&shapes, &[], 10_000);
    let mut taken = 0;
    let found = loop {
        let mut portion = Steps { left: 977 };
        let answer = packer.run(&mut portion);
        taken += 977 - portion.left;
        if answer != Packing::OutOfSteps {
            break answer;
        }
    };
    assert_eq!(found, expected);
    assert_eq!(taken, 10_000_000 - at_once.left);
    assert!(matches!(expected, Packing::Placed(_)));
}

#[test]
fn too_few_steps_are_no_proof() {
    let rectangles = cut_block(3, 120, 1000, 10_000);
    assert_eq!(pack(&rectangles, 10_000, &mut Steps { left: 10 }), Packing::OutOfSteps);
    // Any budget yields a legal placement.
    let Peak { offsets, height, lower_bound } = smallest_peak(&rectangles, &mut Steps { left: 0 });
    assert_disjoint(&rectangles, &offsets, height);
    assert_eq!(lower_bound, 10_000);
}

#[test]
fn what_takes_no_place_is_anywhere() {
    let nothing = [Rectangle { lower: 0, upper: 4, size: 0 }, Rectangle { lower: 3, upper: 3, size: 5 }];
    assert_eq!(pack(&nothing, 0, &mut Steps { left: 0 }), Packing::Placed(vec![0, 0]));
    assert_eq!(smallest_peak(&nothing, &mut Steps { left: 0 }), Peak { offsets: vec![0, 0], height: 0, lower_bound: 0 });
    assert_eq!(pack(&[], 0, &mut Steps { left: 0 }), Packing::Placed(vec![]));
}

#[test]
fn an_address_that_is_handed_on_is_one_shape() {
    // 4 units until tick 2, the first 2 of them until tick 4: the 2 above are free then.
    let step = |lower, upper, size| Rectangle { lower, upper, size };
    let chain = Shape { steps: vec![step(0, 3, 4), step(2, 4, 2)] };
    let shapes = [chain, step(3, 4, 2).into()];
    let Packing::Placed(offsets) = pack_shapes(&shapes, &[], 4, &mut Steps { left: 1000 }) else { panic!() };
    assert_legal(&shapes, &[], &offsets, 4);
    // A fixed rectangle at the bottom that overlaps the chain in time raises the complete chain, which then does not
    // fit.
    assert_eq!(pack_shapes(&shapes, &[step(3, 4, 1)], 4, &mut Steps { left: 1000 }), Packing::Impossible);
}

#[test]
fn large_numbers_are_packed_by_lists() {
    // Sizes without a common divisor, too large for the unit-based search.
    let rectangles = [(0, 2, 3_000_000_001), (1, 3, 4_000_000_000), (2, 4, 3_000_000_000)];
    let rectangles = rectangles.map(|(lower, upper, size)| Rectangle { lower, upper, size });
    let height = load(&rectangles);
    let Packing::Placed(offsets) = pack(&rectangles, height, &mut Steps { left: 1000 }) else { panic!() };
    assert_disjoint(&rectangles, &offsets, height);
}

#[test]
fn loose_lists_of_many_buffers_come_close_to_the_load() {
    let mut random = Random(5);
    let mut rectangles = Vec::new();
    for tick in 0..3000 {
        let length = [2, 3, 5, 20, 100][usize::try_from(random.below(5)).unwrap()];
        let size = [16, 1600, 2560, 20_480, 40_960][usize::try_from(random.below(5)).unwrap()];
        rectangles.push(Rectangle { lower: tick, upper: tick + length, size });
        if tick % 4 == 0 {
            rectangles.push(Rectangle { lower: tick, upper: 6000 - tick, size });
        }
    }
    let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
    let mut search = PeakSearch::new(&shapes, &[]);
    search.run(&mut Steps { left: 30_000 });
    assert_disjoint(&rectangles, &search.peak.offsets, search.peak.height);
    assert!(search.peak.height * 100 <= load(&rectangles) * 101, "{} of {}", search.peak.height, load(&rectangles));
}
