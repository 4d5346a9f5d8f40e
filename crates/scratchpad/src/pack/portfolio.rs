//! Portfolio of searches: the static orders that are tried, and their step budgets with restarts.
//!
//! A search either goes straight to a packing or is caught far away from one: the number of nodes it takes varies by orders of magnitude
//! with the static order. So many orders get a few nodes each, then all of them twice as many, and so on. Any of them can end with the
//! proof that there is no packing. Measurements are in `docs/measurements/lx-planning.md`.

use super::{
    Packing, Rectangle, Shape, Steps,
    list::List,
    order::{Properties, Property},
    problem::Problem,
    search::{Focus, Ground, Outcome, Search},
};
use Focus::{Heaviest, Lowest};
use Property::{Area, Early, Late, Overlaps, Sections, Size, Total, Width};
use std::rc::Rc;

/// Orders of list packings. Descending sizes are good for graphs with few large buffers among many small ones.
pub(super) const LISTS: [[Property; 3]; 8] = [
    [Total, Width, Area],
    [Size, Width, Area],
    [Area, Total, Size],
    [Width, Area, Total],
    [Size, Total, Early],
    [Early, Size, Width],
    [Late, Size, Width],
    [Total, Size, Area],
];

/// Searches of a round.
pub(super) const SEARCHES: [(Focus, [Property; 3]); 16] = [
    (Heaviest, [Late, Sections, Area]),
    (Lowest, [Total, Sections, Area]),
    (Lowest, [Late, Size, Area]),
    (Heaviest, [Overlaps, Area, Total]),
    (Heaviest, [Width, Area, Total]),
    (Heaviest, [Early, Total, Area]),
    (Lowest, [Early, Size, Area]),
    (Lowest, [Late, Area, Total]),
    (Heaviest, [Late, Total, Area]),
    (Heaviest, [Early, Sections, Area]),
    (Lowest, [Early, Area, Total]),
    (Lowest, [Total, Width, Area]),
    (Heaviest, [Sections, Overlaps, Area]),
    (Lowest, [Early, Sections, Area]),
    (Heaviest, [Total, Area, Size]),
    (Lowest, [Width, Area, Total]),
];

/// Maximum number of items or contacts of a search, which limits its memory.
const MOST_SEARCHED: usize = 12_000;
const MOST_CONTACTS: usize = 1 << 26;

/// Returns whether a subproblem is small enough for a search: its memory is quadratic in the items.
pub(super) fn is_searched(problem: &Problem) -> bool {
    problem.items.len() <= MOST_SEARCHED
}

/// Returns offsets of all rectangles inside `capacity` units, or the proof that there are none.
#[must_use]
pub fn pack(rectangles: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    let shapes: Vec<Shape> = rectangles.iter().copied().map(Shape::from).collect();
    pack_shapes(&shapes, &[], capacity, steps)
}

/// Packs shapes as [`pack`] packs rectangles, on top of `base` (occupied units from 0 up). An item without solid units gets offset 0.
#[must_use]
pub fn pack_shapes(shapes: &[Shape], base: &[Rectangle], capacity: i64, steps: &mut Steps) -> Packing {
    Packer::new(shapes, base, capacity).run(steps)
}

/// Resumable packing: several portions of steps give the same result as one.
pub struct Packer {
    n_shapes: usize,
    /// Subproblems that are not packed yet; the last is the current one.
    parts: Vec<PartPacker>,
    /// Shape and offset of the packed items.
    placed: Vec<(usize, i64)>,
}

impl Packer {
    /// Begins a packing; `base` as for [`pack_shapes`].
    #[must_use]
    pub fn new(shapes: &[Shape], base: &[Rectangle], capacity: i64) -> Self {
        let problems = Problem::split(shapes, base);
        let mut parts: Vec<PartPacker> = problems.into_iter().map(|problem| PartPacker::new(problem, capacity)).collect();
        // Small subproblems first: they may prove quickly that there is no packing.
        parts.sort_by_key(|part| std::cmp::Reverse(part.problem.items.len()));
        Self { n_shapes: shapes.len(), parts, placed: Vec::new() }
    }

    /// Returns whether more steps cannot help: list packings failed, and the subproblem is too large for a search.
    #[must_use]
    pub fn is_at_its_end(&self) -> bool {
        self.parts.last().is_some_and(|part| part.is_at_its_end)
    }

    /// Continues; after a result other than [`Packing::OutOfSteps`], later calls return the same result.
    pub fn run(&mut self, steps: &mut Steps) -> Packing {
        if self.parts.iter().any(|part| !part.load_fits()) {
            return Packing::Impossible;
        }
        while let Some(part) = self.parts.last_mut() {
            match part.run(steps) {
                Packing::Placed(offsets) => {
                    let items = part.problem.items.iter().map(|item| item.shape);
                    self.placed.extend(items.zip(offsets));
                    self.parts.pop();
                }
                other => return other,
            }
        }
        let mut offsets = vec![0; self.n_shapes];
        for &(shape, offset) in &self.placed {
            offsets[shape] = offset;
        }
        Packing::Placed(offsets)
    }
}

/// Packing of one independent subproblem.
struct PartPacker {
    problem: Problem,
    /// Capacity in units of the problem.
    capacity: i64,
    /// Next attempt: first the lists, then the searches of each round.
    attempt: usize,
    /// Unfinished list packing.
    list: Option<List>,
    /// Whether the lists failed and the subproblem is too large for a search.
    is_at_its_end: bool,
    ground: Option<Rc<Ground>>,
    properties: Option<Properties>,
    /// Searches that were begun, in their order.
    orders: Vec<Vec<usize>>,
    search: Option<(Search, Steps)>,
}

impl PartPacker {
    fn new(problem: Problem, capacity: i64) -> Self {
        let capacity = capacity.div_euclid(problem.unit);
        Self {
            problem,
            capacity,
            attempt: 0,
            list: None,
            is_at_its_end: false,
            ground: None,
            properties: None,
            orders: Vec::new(),
            search: None,
        }
    }

    /// Returns whether no load, and no item on its base, exceeds the capacity.
    fn load_fits(&self) -> bool {
        let tops = self.problem.items.iter().map(|item| item.base + item.height);
        self.problem.loads().into_iter().chain(tops).all(|height| height <= self.capacity)
    }

    fn run(&mut self, steps: &mut Steps) -> Packing {
        loop {
            if self.search.is_none() {
                match self.next_attempt(steps) {
                    Packing::OutOfSteps if self.search.is_some() => {}
                    answer => return answer,
                }
            }
            let Some((search, allowance)) = &mut self.search else { return Packing::OutOfSteps };
            let mut portion = Steps { left: allowance.left.min(steps.left) };
            let given = portion.left;
            let outcome = search.run(&mut portion);
            steps.left -= given - portion.left;
            allowance.left -= given - portion.left;
            match outcome {
                Outcome::Found => return Packing::Placed(search.offsets().map(|offset| offset * self.problem.unit).collect()),
                Outcome::Refuted => return Packing::Impossible,
                Outcome::Stopped if steps.left == 0 && allowance.left > 0 => return Packing::OutOfSteps,
                Outcome::Stopped => self.search = None,
            }
        }
    }

    /// Tries lists until one succeeds, or sets up the next search.
    fn next_attempt(&mut self, steps: &mut Steps) -> Packing {
        let n_items = self.problem.items.len() as u64;
        while self.attempt < self.n_lists() {
            let new = || {
                let order = Properties::of(&self.problem, |_| 0).order(&LISTS[self.attempt]);
                List::new(&self.problem, order)
            };
            let list = self.list.get_or_insert_with(new);
            let Some(packed) = list.run(&self.problem, self.capacity, steps) else { return Packing::OutOfSteps };
            self.list = None;
            self.attempt += 1;
            if let Some(offsets) = packed {
                return Packing::Placed(offsets.into_iter().map(|offset| offset * self.problem.unit).collect());
            }
        }
        if self.is_at_its_end {
            return Packing::OutOfSteps;
        }
        if self.ground.is_none() {
            let searched = Some(&self.problem).filter(|problem| is_searched(problem));
            self.ground = searched.and_then(|problem| Ground::of(problem, MOST_CONTACTS)).map(Rc::new);
            let Some(ground) = &self.ground else {
                self.is_at_its_end = true;
                return Packing::OutOfSteps;
            };
            self.properties = Some(Properties::of(&self.problem, |item| ground.overlaps(item)));
        }
        let (Some(ground), Some(properties)) = (&self.ground, &self.properties) else { return Packing::OutOfSteps };
        let turn = Turn::of(self.attempt - self.n_lists());
        self.attempt += 1;
        if self.orders.len() == turn.index {
            self.orders.push(properties.order(&SEARCHES[turn.index].1));
        }
        let order = turn.shaken.map_or_else(|| self.orders[turn.index].clone(), |seed| shaken(&self.orders[turn.index], seed));
        let search = Search::new(&self.problem, ground, SEARCHES[turn.index].0, &order, self.capacity);
        self.search = search.map(|search| (search, Steps { left: (3 * n_items) << turn.doublings }));
        Packing::OutOfSteps
    }

    /// For small subproblems, a search is as fast as a list packing, and better.
    fn n_lists(&self) -> usize {
        if self.problem.items.len() < 1000 { 1 } else { LISTS.len() }
    }
}

/// One search of the portfolio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    /// Index of the search.
    index: usize,
    /// Number of times that its steps are doubled.
    doublings: u32,
    /// Seed of the random perturbation of its order.
    shaken: Option<u64>,
}

impl Turn {
    /// Round 0 is each search once. Round r is 2^r times each search with a shaken order and few steps, then each with 2^r times the steps.
    fn of(attempt: usize) -> Self {
        let n = SEARCHES.len();
        let index = attempt % n;
        let (mut before, mut round) = (n, 0_u32);
        if attempt < n {
            return Self { index, doublings: 0, shaken: None };
        }
        loop {
            round += 1;
            let shaken = n << round.min(40);
            if attempt < before + shaken {
                return Self { index, doublings: 0, shaken: Some(attempt as u64) };
            }
            if attempt < before + shaken + n {
                return Self { index, doublings: round.min(40), shaken: None };
            }
            before += shaken + n;
        }
    }
}

/// Returns the order with every item moved by up to a twentieth of the list.
fn shaken(order: &[usize], seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut random = || {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let spread = order.len() as u64 / 20 + 2;
    let mut keyed: Vec<(u64, usize)> = order.iter().zip(0..).map(|(&item, rank)| (rank + random() % spread, item)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, item)| item).collect()
}
