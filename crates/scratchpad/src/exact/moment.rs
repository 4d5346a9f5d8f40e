//! Operations of a sweep, with the cost of each choice at given prices.

use super::{
    prices::{At, Prices},
    problem::{Problem, Stays},
};

/// One operation.
pub(super) struct Moment {
    pub(super) tick: usize,
    /// Scaled cost of a unit.
    pub(super) price: i64,
    /// Values with a decision in this operation.
    pub(super) items: Vec<Item>,
    /// Items that may take over the address of another one, by descending size.
    pub(super) children: Vec<usize>,
    /// Units of these items.
    pub(super) child_units: i64,
}

/// All operations in program order.
pub(super) struct Moments {
    pub(super) list: Vec<Moment>,
    /// Slots for the live values: the maximum number that are live at once.
    pub(super) n_slots: usize,
}

/// Maximum number of values live at once for which operations are swept.
pub(super) const MOST_SLOTS: usize = 512;

/// A live value in an operation.
pub(super) struct Item {
    pub(super) value: usize,
    pub(super) slot: usize,
    pub(super) units: i64,
    /// Index of the use; none if the value is live but not used.
    pub(super) using: Option<usize>,
    /// Costs by the location of the value before the operation.
    pub(super) choices: [Choice; 3],
    /// Whether a later use exists.
    pub(super) may_leave: bool,
    /// Whether it was born here and need not pay, because it may take over an address.
    pub(super) is_free: bool,
    /// Items of its parents that die in this operation.
    pub(super) parents: Vec<usize>,
}

/// Costs of the decisions for a value: in scaled bytes including all later costs, and in bytes of this operation.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// Cost if it is in LX, if permitted.
    pub(super) stay: Option<Fare>,
    /// Cost if it is not in LX.
    pub(super) out_cost: i64,
    pub(super) out_bytes: i64,
    /// Cost if it is in LX and leaves afterwards.
    pub(super) leave: Fare,
}

#[derive(Clone, Copy)]
pub(super) struct Fare {
    pub(super) cost: i64,
    pub(super) bytes: i64,
    pub(super) after: At,
}

impl Moments {
    /// Returns none if more than [`MOST_SLOTS`] values are live at once.
    pub(super) fn new(problem: &Problem, prices: &Prices) -> Option<Self> {
        if !can_be_swept(problem) {
            return None;
        }
        let mut births: Vec<Vec<usize>> = vec![Vec::new(); problem.n_ticks];
        for (index, value) in problem.values.iter().enumerate() {
            births[value.first()].push(index);
        }
        let mut slots = Slots { values: Vec::new(), slot_of: vec![0; problem.values.len()], next_use: vec![0; problem.values.len()] };
        let mut list = Vec::with_capacity(problem.n_ticks);
        let mut live = 0;
        for (tick, born) in births.iter().enumerate() {
            live += born.iter().map(|&value| problem.values[value].units).sum::<i64>();
            born.iter().for_each(|&value| slots.take(value));
            let price = prices.of_unit[tick];
            let matters = live > problem.units || price > 0;
            let mut items = Vec::new();
            for value in slots.values.iter().flatten().copied() {
                let next = slots.next_use[value];
                let using = Some(next).filter(|&next| problem.values[value].uses[next].tick == tick);
                if using.is_some() || matters {
                    items.push(item(problem, prices, tick, (value, slots.slot_of[value]), next, using));
                }
            }
            let children = link(problem, &mut items);
            let child_units = children.iter().map(|&child| items[child].units).sum();
            for item in items.iter().filter(|item| item.using.is_some()) {
                live -= if slots.use_up(problem, item.value) { item.units } else { 0 };
            }
            list.push(Moment { tick, price, items, children, child_units });
        }
        Some(Self { list, n_slots: slots.values.len() })
    }
}

/// Returns whether at most the maximum number of values is live at once.
pub(super) fn can_be_swept(problem: &Problem) -> bool {
    most_alive(problem) <= MOST_SLOTS
}

/// Returns the maximum number of values live at once.
fn most_alive(problem: &Problem) -> usize {
    let (mut born, mut died) = (vec![0_usize; problem.n_ticks], vec![0_usize; problem.n_ticks]);
    for value in &problem.values {
        born[value.first()] += 1;
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

/// Slot and next use of each live value.
struct Slots {
    values: Vec<Option<usize>>,
    slot_of: Vec<usize>,
    next_use: Vec<usize>,
}

impl Slots {
    /// Assigns the first free slot to a value.
    fn take(&mut self, value: usize) {
        let free = self.values.iter().position(Option::is_none).unwrap_or_else(|| {
            self.values.push(None);
            self.values.len() - 1
        });
        self.values[free] = Some(value);
        self.slot_of[value] = free;
    }

    /// Advances past a use of a value; after the last use, frees the slot and returns true.
    fn use_up(&mut self, problem: &Problem, value: usize) -> bool {
        self.next_use[value] += 1;
        let is_last = self.next_use[value] == problem.values[value].uses.len();
        if is_last {
            self.values[self.slot_of[value]] = None;
        }
        is_last
    }
}

fn item(problem: &Problem, prices: &Prices, tick: usize, (index, slot): (usize, usize), next: usize, using: Option<usize>) -> Item {
    let value = &problem.values[index];
    let choice = |at: At| match using {
        Some(using) => used(problem, prices, index, using, at),
        None => {
            let room = value.units * prices.of_unit[tick];
            let stay = Fare { cost: room + prices.after(index, next, at, tick + 1), bytes: 0, after: at };
            let out_bytes = value.leaving_bytes(problem.stays, at);
            Choice { stay: Some(stay), out_cost: prices.leaving(index, next, at), out_bytes, leave: stay }
        }
    };
    Item {
        value: index,
        slot,
        units: value.units,
        using,
        // Before its first use, a value has only one possible location.
        choices: if using == Some(0) { [choice(At::Hbm); 3] } else { [At::Hbm, At::Dirty, At::Clean].map(choice) },
        may_leave: using.is_some_and(|using| using + 1 < value.uses.len()) && problem.stays == Stays::Split,
        is_free: using == Some(0) && !value.parents.is_empty(),
        parents: Vec::new(),
    }
}

fn used(problem: &Problem, prices: &Prices, index: usize, using: usize, at: At) -> Choice {
    let value = &problem.values[index];
    let out_bytes = value.uses[using].hbm_bytes + value.leaving_bytes(problem.stays, at);
    let out_cost = prices.cost_in_hbm(index, using, at);
    let after = value.after_use(using, at);
    let coming = value.coming_bytes(problem.stays, using, at);
    let ends = using + 1 == value.uses.len();
    let ending = if ends { value.ending_bytes(after) } else { 0 };
    let stay = coming.zip(prices.cost_in_lx(index, using, at));
    let stay = stay.map(|(coming, cost)| Fare { cost, bytes: coming + ending, after: if ends { At::Hbm } else { after } });
    let coming = coming.unwrap_or(0);
    let leave = Fare {
        cost: coming * prices.scale + prices.room(index, using) + prices.leaving(index, using + 1, after),
        bytes: coming + value.leaving_bytes(problem.stays, after),
        after: At::Hbm,
    };
    Choice { stay, out_cost, out_bytes, leave }
}

/// Finds the parents among the items, and the items that have parents, by descending size.
fn link(problem: &Problem, items: &mut [Item]) -> Vec<usize> {
    let mut children = Vec::new();
    for child in 0..items.len() {
        if items[child].using != Some(0) {
            continue;
        }
        let parents = &problem.values[items[child].value].parents;
        let found: Vec<usize> = parents.iter().filter_map(|parent| items.iter().position(|item| item.value == *parent)).collect();
        if !found.is_empty() {
            children.push(child);
        }
        items[child].parents = found;
    }
    children.sort_by_key(|&child| (-items[child].units, child));
    children
}
