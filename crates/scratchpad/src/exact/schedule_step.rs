//! Steps of the sweep, one per operation, with the cost of each decision at given prices.

use super::{
    prices::{DualPrices, Residency},
    problem::{ResidencyMode, SelectionProblem},
};

/// Step of the sweep: one operation.
pub(super) struct ScheduleStep {
    pub(super) tick: usize,
    /// Scaled price of a unit of LX.
    pub(super) price: i64,
    /// Values that need a decision in this operation.
    pub(super) items: Vec<StepItem>,
    /// Items that may reuse the address of another item, by descending size.
    pub(super) children: Vec<usize>,
    /// Total units of these children.
    pub(super) child_units: i64,
}

/// Steps of all operations, in program order.
pub(super) struct SweepSchedule {
    pub(super) steps: Vec<ScheduleStep>,
    /// Number of slots for live values: the maximum number of values live at once.
    pub(super) num_slots: usize,
}

/// Maximum number of values live at once that a sweep supports.
pub(super) const MAX_SLOTS: usize = 512;

/// Live value in an operation.
pub(super) struct StepItem {
    pub(super) value: usize,
    pub(super) slot: usize,
    pub(super) units: i64,
    /// Index of the use; `None` if the operation does not use the value.
    pub(super) using: Option<usize>,
    /// Costs of the decisions, by the location of the value before the operation.
    pub(super) choices: [ItemCosts; 3],
    /// Whether a later use exists.
    pub(super) may_leave: bool,
    /// Whether LX costs nothing in this operation: the value is born here and may reuse an address.
    pub(super) is_free: bool,
    /// Items of the value's parents that die in this operation.
    pub(super) parents: Vec<usize>,
}

/// Costs of the decisions for a value: `cost` in scaled bytes with all later costs, `bytes` in bytes of this operation.
#[derive(Clone, Copy)]
pub(super) struct ItemCosts {
    /// LX serves the value; `None` if that is illegal.
    pub(super) interval: Option<TransitionCost>,
    /// HBM serves the value.
    pub(super) out_cost: i64,
    pub(super) out_bytes: i64,
    /// LX serves the value, which leaves LX after the operation.
    pub(super) leave: TransitionCost,
}

#[derive(Clone, Copy)]
pub(super) struct TransitionCost {
    pub(super) cost: i64,
    pub(super) bytes: i64,
    pub(super) after: Residency,
}

impl SweepSchedule {
    /// Builds the schedule. Returns `None` if more than [`MAX_SLOTS`] values are live at once.
    pub(super) fn new(problem: &SelectionProblem, prices: &DualPrices) -> Option<Self> {
        if !can_be_swept(problem) {
            return None;
        }
        let mut births: Vec<Vec<usize>> = vec![Vec::new(); problem.num_ticks];
        for (index, value) in problem.values.iter().enumerate() {
            births[value.first_tick()].push(index);
        }
        let mut slots = SlotAllocator {
            values: Vec::new(),
            slot_of: vec![0; problem.values.len()],
            next_use: vec![0; problem.values.len()],
        };
        let mut list = Vec::with_capacity(problem.num_ticks);
        let mut live = 0;
        for (tick, born) in births.iter().enumerate() {
            live += born.iter().map(|&value| problem.values[value].units).sum::<i64>();
            born.iter().for_each(|&value| slots.assign_slot(value));
            let price = prices.unit_prices[tick];
            let matters = live > problem.units || price > 0;
            let mut items = Vec::new();
            for value in slots.values.iter().flatten().copied() {
                let next = slots.next_use[value];
                let using = Some(next).filter(|&next| problem.values[value].uses[next].tick == tick);
                if using.is_some() || matters {
                    items.push(build_item(problem, prices, tick, (value, slots.slot_of[value]), next, using));
                }
            }
            let children = link_parents(problem, &mut items);
            let child_units = children.iter().map(|&child| items[child].units).sum();
            for item in items.iter().filter(|item| item.using.is_some()) {
                live -= if slots.advance_use(problem, item.value) { item.units } else { 0 };
            }
            list.push(ScheduleStep { tick, price, items, children, child_units });
        }
        Some(Self { steps: list, num_slots: slots.values.len() })
    }
}

/// Returns whether at most [`MAX_SLOTS`] values are live at once.
pub(super) fn can_be_swept(problem: &SelectionProblem) -> bool {
    count_max_live_values(problem) <= MAX_SLOTS
}

/// Returns the maximum number of values live at once.
fn count_max_live_values(problem: &SelectionProblem) -> usize {
    let (mut born, mut died) = (vec![0_usize; problem.num_ticks], vec![0_usize; problem.num_ticks]);
    for value in &problem.values {
        born[value.first_tick()] += 1;
        died[value.uses.last().map_or(0, |one| one.tick)] += 1;
    }
    let (mut alive, mut most) = (0, 0);
    for (born, died) in born.into_iter().zip(died) {
        alive += born;
        most = most.max(alive);
        alive -= died;
    }
    most
}

/// Slots and next uses of the live values.
struct SlotAllocator {
    values: Vec<Option<usize>>,
    slot_of: Vec<usize>,
    next_use: Vec<usize>,
}

impl SlotAllocator {
    /// Assigns the first free slot to a value.
    fn assign_slot(&mut self, value: usize) {
        let free = self.values.iter().position(Option::is_none).unwrap_or_else(|| {
            self.values.push(None);
            self.values.len() - 1
        });
        self.values[free] = Some(value);
        self.slot_of[value] = free;
    }

    /// Advances to the next use of a value. After the last use, frees the slot and returns true.
    fn advance_use(&mut self, problem: &SelectionProblem, value: usize) -> bool {
        self.next_use[value] += 1;
        let is_last = self.next_use[value] == problem.values[value].uses.len();
        if is_last {
            self.values[self.slot_of[value]] = None;
        }
        is_last
    }
}

fn build_item(
    problem: &SelectionProblem,
    prices: &DualPrices,
    tick: usize,
    (index, slot): (usize, usize),
    next: usize,
    using: Option<usize>,
) -> StepItem {
    let value = &problem.values[index];
    let choice = |at: Residency| match using {
        Some(using) => compute_use_costs(problem, prices, index, using, at),
        None => {
            let room = value.units * prices.unit_prices[tick];
            let interval =
                TransitionCost { cost: room + prices.cost_from_step(index, next, at, tick + 1), bytes: 0, after: at };
            let out_bytes = value.eviction_bytes(problem.mode, at);
            ItemCosts {
                interval: Some(interval),
                out_cost: prices.eviction_cost(index, next, at),
                out_bytes,
                leave: interval,
            }
        }
    };
    StepItem {
        value: index,
        slot,
        units: value.units,
        using,
        // Before its first use, a value has one possible location.
        choices: if using == Some(0) {
            [choice(Residency::Hbm); 3]
        } else {
            [Residency::Hbm, Residency::Dirty, Residency::Clean].map(choice)
        },
        may_leave: using.is_some_and(|using| using + 1 < value.uses.len()) && problem.mode == ResidencyMode::Split,
        is_free: using == Some(0) && !value.parents.is_empty(),
        parents: Vec::new(),
    }
}

fn compute_use_costs(
    problem: &SelectionProblem,
    prices: &DualPrices,
    index: usize,
    using: usize,
    at: Residency,
) -> ItemCosts {
    let value = &problem.values[index];
    let out_bytes = value.uses[using].hbm_bytes + value.eviction_bytes(problem.mode, at);
    let out_cost = prices.cost_in_hbm(index, using, at);
    let after = value.residency_after_use(using, at);
    let coming = value.load_bytes(problem.mode, using, at);
    let ends = using + 1 == value.uses.len();
    let ending = if ends { value.final_store_bytes(after) } else { 0 };
    let interval = coming.zip(prices.cost_in_lx(index, using, at));
    let interval = interval.map(|(coming, cost)| TransitionCost {
        cost,
        bytes: coming + ending,
        after: if ends { Residency::Hbm } else { after },
    });
    let coming = coming.unwrap_or(0);
    let leave = TransitionCost {
        cost: coming * prices.scale + prices.space_price(index, using) + prices.eviction_cost(index, using + 1, after),
        bytes: coming + value.eviction_bytes(problem.mode, after),
        after: Residency::Hbm,
    };
    ItemCosts { interval, out_cost, out_bytes, leave }
}

/// Sets the parents of each item. Returns the items that have parents, by descending size.
fn link_parents(problem: &SelectionProblem, items: &mut [StepItem]) -> Vec<usize> {
    let mut children = Vec::new();
    for child in 0..items.len() {
        if items[child].using != Some(0) {
            continue;
        }
        let parents = &problem.values[items[child].value].parents;
        let found: Vec<usize> =
            parents.iter().filter_map(|parent| items.iter().position(|item| item.value == *parent)).collect();
        if !found.is_empty() {
            children.push(child);
        }
        items[child].parents = found;
    }
    children.sort_by_key(|&child| (-items[child].units, child));
    children
}
