//! Portfolio of searches: static orders, step budgets and restarts.
//!
//! The number of nodes of a search varies by orders of magnitude with the static order. Therefore many orders get a few
//! nodes each, then all of them get twice as many, and so on. Every search can end with the proof that no packing
//! exists. Measurements: `docs/measurements/lx-planning.md`.

use super::{
    PackingResult, PackingShape, Rectangle, StepBudget,
    list_packing::ListPacking,
    order::{ItemProperties, SortProperty},
    problem::PackingProblem,
    search::{FocusRule, PackingSearch, SearchOutcome, SharedProblem},
};
use FocusRule::{Heaviest, Lowest};
use SortProperty::{Area, End, Load, Overlaps, Sections, Size, Start, Width};
use std::rc::Rc;

/// Sort keys of the list packings. Descending sizes suit graphs with few large buffers among many small ones.
pub(super) const LIST_ORDERS: [[SortProperty; 3]; 8] = [
    [Load, Width, Area],
    [Size, Width, Area],
    [Area, Load, Size],
    [Width, Area, Load],
    [Size, Load, Start],
    [Start, Size, Width],
    [End, Size, Width],
    [Load, Size, Area],
];

/// Searches of a round: the selection rule and the sort keys of each.
pub(super) const SEARCH_CONFIGURATIONS: [(FocusRule, [SortProperty; 3]); 16] = [
    (Heaviest, [End, Sections, Area]),
    (Lowest, [Load, Sections, Area]),
    (Lowest, [End, Size, Area]),
    (Heaviest, [Overlaps, Area, Load]),
    (Heaviest, [Width, Area, Load]),
    (Heaviest, [Start, Load, Area]),
    (Lowest, [Start, Size, Area]),
    (Lowest, [End, Area, Load]),
    (Heaviest, [End, Load, Area]),
    (Heaviest, [Start, Sections, Area]),
    (Lowest, [Start, Area, Load]),
    (Lowest, [Load, Width, Area]),
    (Heaviest, [Sections, Overlaps, Area]),
    (Lowest, [Start, Sections, Area]),
    (Heaviest, [Load, Area, Size]),
    (Lowest, [Width, Area, Load]),
];

/// Maximum number of items, and of overlaps, of a search. Both limit its memory.
const MAX_SEARCHED_ITEMS: usize = 12_000;
const MAX_OVERLAPS: usize = 1 << 26;

/// Returns whether a subproblem is small enough for a search, whose memory is quadratic in the items.
pub(super) fn is_searchable(problem: &PackingProblem) -> bool {
    problem.items.len() <= MAX_SEARCHED_ITEMS
}

/// Packs all rectangles into `capacity` units, or proves that no packing exists.
#[must_use]
pub fn pack_rectangles(rectangles: &[Rectangle], capacity: i64, steps: &mut StepBudget) -> PackingResult {
    let shapes: Vec<PackingShape> = rectangles.iter().copied().map(PackingShape::from).collect();
    pack_shapes(&shapes, &[], capacity, steps)
}

/// Packs shapes into `capacity` units, as [`pack_rectangles`] does, above `base` (occupied units from 0 up). A shape of
/// zero area gets offset 0.
#[must_use]
pub fn pack_shapes(
    shapes: &[PackingShape],
    base: &[Rectangle],
    capacity: i64,
    steps: &mut StepBudget,
) -> PackingResult {
    Packer::new(shapes, base, capacity).run(steps)
}

/// Resumable packing. Several portions of steps give the same result as one.
pub struct Packer {
    num_shapes: usize,
    /// Subproblems that are not packed yet. The last one is the current one.
    components: Vec<ComponentPacker>,
    /// Shapes that are packed, with their offsets.
    placed: Vec<(usize, i64)>,
}

impl Packer {
    /// Begins a packing. `base` has the same meaning as in [`pack_shapes`].
    #[must_use]
    pub fn new(shapes: &[PackingShape], base: &[Rectangle], capacity: i64) -> Self {
        let problems = PackingProblem::split_into_components(shapes, base);
        let mut parts: Vec<ComponentPacker> =
            problems.into_iter().map(|problem| ComponentPacker::new(problem, capacity)).collect();
        // Small subproblems come first, because they may prove quickly that no packing exists.
        parts.sort_by_key(|part| std::cmp::Reverse(part.problem.items.len()));
        Self { num_shapes: shapes.len(), components: parts, placed: Vec::new() }
    }

    /// Returns whether more steps cannot help: the list packings failed, and the subproblem is too large for a search.
    #[must_use]
    pub fn is_exhausted(&self) -> bool {
        self.components.last().is_some_and(|part| part.is_exhausted)
    }

    /// Continues. After a result other than [`PackingResult::OutOfSteps`], later calls return the same result.
    pub fn run(&mut self, steps: &mut StepBudget) -> PackingResult {
        if self.components.iter().any(|part| !part.is_load_within_capacity()) {
            return PackingResult::Infeasible;
        }
        while let Some(part) = self.components.last_mut() {
            match part.run(steps) {
                PackingResult::Placed(offsets) => {
                    let items = part.problem.items.iter().map(|item| item.shape);
                    self.placed.extend(items.zip(offsets));
                    self.components.pop();
                }
                other => return other,
            }
        }
        let mut offsets = vec![0; self.num_shapes];
        for &(shape, offset) in &self.placed {
            offsets[shape] = offset;
        }
        PackingResult::Placed(offsets)
    }
}

/// Packer of one independent subproblem.
struct ComponentPacker {
    problem: PackingProblem,
    /// Capacity in units of the subproblem.
    capacity: i64,
    /// Next attempt: first the list packings, then the searches of each round.
    attempt: usize,
    /// Unfinished list packing.
    list: Option<ListPacking>,
    /// Whether the list packings failed and the subproblem is too large for a search.
    is_exhausted: bool,
    shared: Option<Rc<SharedProblem>>,
    properties: Option<ItemProperties>,
    /// Static order of each search that was begun.
    orders: Vec<Vec<usize>>,
    search: Option<(PackingSearch, StepBudget)>,
}

impl ComponentPacker {
    fn new(problem: PackingProblem, capacity: i64) -> Self {
        let capacity = capacity.div_euclid(problem.unit);
        Self {
            problem,
            capacity,
            attempt: 0,
            list: None,
            is_exhausted: false,
            shared: None,
            properties: None,
            orders: Vec::new(),
            search: None,
        }
    }

    /// Returns whether the capacity holds the load of every section, and every item on its base.
    fn is_load_within_capacity(&self) -> bool {
        let tops = self.problem.items.iter().map(|item| item.base + item.height);
        self.problem.compute_loads().into_iter().chain(tops).all(|height| height <= self.capacity)
    }

    fn run(&mut self, steps: &mut StepBudget) -> PackingResult {
        loop {
            if self.search.is_none() {
                match self.start_next_attempt(steps) {
                    PackingResult::OutOfSteps if self.search.is_some() => {}
                    answer => return answer,
                }
            }
            let Some((search, allowance)) = &mut self.search else { return PackingResult::OutOfSteps };
            let mut portion = StepBudget { left: allowance.left.min(steps.left) };
            let given = portion.left;
            let outcome = search.run(&mut portion);
            steps.left -= given - portion.left;
            allowance.left -= given - portion.left;
            match outcome {
                SearchOutcome::Found => {
                    return PackingResult::Placed(search.offsets().map(|offset| offset * self.problem.unit).collect());
                }
                SearchOutcome::Refuted => return PackingResult::Infeasible,
                SearchOutcome::Stopped if steps.left == 0 && allowance.left > 0 => return PackingResult::OutOfSteps,
                SearchOutcome::Stopped => self.search = None,
            }
        }
    }

    /// Tries list packings until one succeeds or all fail. Then sets up the next search.
    fn start_next_attempt(&mut self, steps: &mut StepBudget) -> PackingResult {
        let num_items = self.problem.items.len() as u64;
        while self.attempt < self.num_lists() {
            let new = || {
                let order = ItemProperties::new(&self.problem, |_| 0).sort_items(&LIST_ORDERS[self.attempt]);
                ListPacking::new(&self.problem, order)
            };
            let list = self.list.get_or_insert_with(new);
            let Some(packed) = list.run(&self.problem, self.capacity, steps) else { return PackingResult::OutOfSteps };
            self.list = None;
            self.attempt += 1;
            if let Some(offsets) = packed {
                return PackingResult::Placed(offsets.into_iter().map(|offset| offset * self.problem.unit).collect());
            }
        }
        if self.is_exhausted {
            return PackingResult::OutOfSteps;
        }
        if self.shared.is_none() {
            let searched = Some(&self.problem).filter(|problem| is_searchable(problem));
            self.shared = searched.and_then(|problem| SharedProblem::new(problem, MAX_OVERLAPS)).map(Rc::new);
            let Some(ground) = &self.shared else {
                self.is_exhausted = true;
                return PackingResult::OutOfSteps;
            };
            self.properties = Some(ItemProperties::new(&self.problem, |item| ground.num_overlaps(item)));
        }
        let (Some(ground), Some(properties)) = (&self.shared, &self.properties) else {
            return PackingResult::OutOfSteps;
        };
        let turn = PortfolioRun::from_attempt(self.attempt - self.num_lists());
        self.attempt += 1;
        if self.orders.len() == turn.index {
            self.orders.push(properties.sort_items(&SEARCH_CONFIGURATIONS[turn.index].1));
        }
        let order = turn
            .perturbation_seed
            .map_or_else(|| self.orders[turn.index].clone(), |seed| perturb_order(&self.orders[turn.index], seed));
        let search =
            PackingSearch::new(&self.problem, ground, SEARCH_CONFIGURATIONS[turn.index].0, &order, self.capacity);
        self.search = search.map(|search| (search, StepBudget { left: (3 * num_items) << turn.doublings }));
        PackingResult::OutOfSteps
    }

    /// Returns the number of list packings. One is enough for small subproblems, where a search is as fast and packs
    /// better.
    fn num_lists(&self) -> usize {
        if self.problem.items.len() < 1000 { 1 } else { LIST_ORDERS.len() }
    }
}

/// Run of one search of the portfolio.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct PortfolioRun {
    /// Index of the search.
    index: usize,
    /// Number of times that its step budget is doubled.
    doublings: u32,
    /// Seed of the random perturbation of its order.
    perturbation_seed: Option<u64>,
}

impl PortfolioRun {
    /// Returns the run of an attempt. Round 0 runs each search once. Round r runs each search 2^r times with a
    /// perturbed order and few steps, then once with 2^r times the steps.
    fn from_attempt(attempt: usize) -> Self {
        let n = SEARCH_CONFIGURATIONS.len();
        let index = attempt % n;
        let (mut before, mut round) = (n, 0_u32);
        if attempt < n {
            return Self { index, doublings: 0, perturbation_seed: None };
        }
        loop {
            round += 1;
            let shaken = n << round.min(40);
            if attempt < before + shaken {
                return Self { index, doublings: 0, perturbation_seed: Some(attempt as u64) };
            }
            if attempt < before + shaken + n {
                return Self { index, doublings: round.min(40), perturbation_seed: None };
            }
            before += shaken + n;
        }
    }
}

/// Moves every item of `order` by up to a twentieth of the list, at random.
fn perturb_order(order: &[usize], seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut random = || {
        // SplitMix64 (Steele, Lea, Flood 2014).
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    };
    let spread = order.len() as u64 / 20 + 2;
    let mut keyed: Vec<(u64, usize)> =
        order.iter().zip(0..).map(|(&item, rank)| (rank + random() % spread, item)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, item)| item).collect()
}
