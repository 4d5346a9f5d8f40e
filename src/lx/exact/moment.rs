//! The operations of a sweep, with what each choice costs at given prices.

use super::{
    prices::{At, Prices},
    problem::{Problem, Stays},
};

/// One operation.
pub(super) struct Moment {
    pub(super) tick: usize,
    /// Scaled cost of a unit.
    pub(super) price: i64,
    /// The values that something may be decided about.
    pub(super) items: Vec<Item>,
    /// Units of the items that may take over the address of another.
    pub(super) child_units: i64,
}

/// A live value in an operation.
pub(super) struct Item {
    pub(super) value: usize,
    pub(super) slot: usize,
    pub(super) units: i64,
    /// Which use it is; none if the value is only there.
    pub(super) using: Option<usize>,
    /// By where the value is before.
    pub(super) choices: [Choice; 3],
    /// There is another use to stay for.
    pub(super) may_leave: bool,
    /// It was born and need not pay, because it may take over an address.
    pub(super) is_free: bool,
    /// Items of parents that die here.
    pub(super) parents: Vec<usize>,
}

/// What is paid for the fates of a value, in scaled bytes with all that follows, and in bytes now.
#[derive(Clone, Copy)]
pub(super) struct Choice {
    /// It is in LX, if it may.
    pub(super) stay: Option<Fare>,
    /// It is not.
    pub(super) out_cost: i64,
    pub(super) out_bytes: i64,
    /// It is in LX and leaves afterwards.
    pub(super) leave: Fare,
}

#[derive(Clone, Copy)]
pub(super) struct Fare {
    pub(super) cost: i64,
    pub(super) bytes: i64,
    pub(super) after: At,
}

/// The operations in order, and how many slots the live values take.
pub(super) fn moments(problem: &Problem, prices: &Prices) -> (Vec<Moment>, usize) {
    let mut births: Vec<Vec<usize>> = vec![Vec::new(); problem.n_ticks];
    for (index, value) in problem.values.iter().enumerate() {
        births[value.first()].push(index);
    }
    let mut slots: Vec<Option<usize>> = Vec::new();
    let mut slot_of = vec![0; problem.values.len()];
    let mut next_use = vec![0; problem.values.len()];
    let mut moments = Vec::with_capacity(problem.n_ticks);
    for (tick, born) in births.iter().enumerate() {
        for &value in born {
            let free = slots.iter().position(Option::is_none).unwrap_or_else(|| {
                slots.push(None);
                slots.len() - 1
            });
            slots[free] = Some(value);
            slot_of[value] = free;
        }
        let live: i64 = slots.iter().flatten().map(|&value| problem.values[value].units).sum();
        let price = prices.of_unit[tick];
        let matters = live > problem.units || price > 0;
        let mut items = Vec::new();
        for value in slots.iter().flatten().copied() {
            let using = Some(next_use[value]).filter(|&next| problem.values[value].uses[next].tick == tick);
            if using.is_some() || matters {
                items.push(item(problem, prices, tick, (value, slot_of[value]), next_use[value], using));
            }
        }
        let child_units = link(problem, &mut items);
        moments.push(Moment { tick, price, items, child_units });
        for slot in &mut slots {
            let Some(value) = *slot else { continue };
            next_use[value] += usize::from(problem.values[value].uses[next_use[value]].tick == tick);
            if next_use[value] == problem.values[value].uses.len() {
                *slot = None;
            }
        }
    }
    (moments, slots.len())
}

fn item(problem: &Problem, prices: &Prices, tick: usize, (index, slot): (usize, usize), next: usize, using: Option<usize>) -> Item {
    let value = &problem.values[index];
    let choice = |at: At| match using {
        Some(using) => used(problem, prices, index, using, at),
        None => {
            let room = value.units * prices.of_unit[tick];
            let stay = Fare { cost: room + prices.after(problem, index, next, at, tick + 1), bytes: 0, after: at };
            let out_bytes = value.leaving_bytes(problem.stays, at);
            Choice { stay: Some(stay), out_cost: prices.leaving(problem, index, next, at), out_bytes, leave: stay }
        }
    };
    Item {
        value: index,
        slot,
        units: value.units,
        using,
        choices: [At::Hbm, At::Dirty, At::Clean].map(choice),
        may_leave: using.is_some_and(|using| using + 1 < value.uses.len()) && problem.stays == Stays::Split,
        is_free: using == Some(0) && !value.parents.is_empty(),
        parents: Vec::new(),
    }
}

fn used(problem: &Problem, prices: &Prices, index: usize, using: usize, at: At) -> Choice {
    let value = &problem.values[index];
    let out_bytes = value.uses[using].hbm_bytes + value.leaving_bytes(problem.stays, at);
    let out_cost = prices.cost_in_hbm(problem, index, using, at);
    let after = value.after_use(using, at);
    let coming = value.coming_bytes(problem.stays, using, at);
    let ends = using + 1 == value.uses.len();
    let ending = if ends { value.ending_bytes(after) } else { 0 };
    let stay = coming.zip(prices.cost_in_lx(problem, index, using, at));
    let stay = stay.map(|(coming, cost)| Fare { cost, bytes: coming + ending, after: if ends { At::Hbm } else { after } });
    let coming = coming.unwrap_or(0);
    let leave = Fare {
        cost: coming * prices.scale + prices.room(value, using) + prices.leaving(problem, index, using + 1, after),
        bytes: coming + value.leaving_bytes(problem.stays, after),
        after: At::Hbm,
    };
    Choice { stay, out_cost, out_bytes, leave }
}

/// Finds the parents among the items; the units of the items that have some.
fn link(problem: &Problem, items: &mut [Item]) -> i64 {
    let mut child_units = 0;
    for child in 0..items.len() {
        if items[child].using != Some(0) {
            continue;
        }
        let parents = &problem.values[items[child].value].parents;
        let found: Vec<usize> = parents.iter().filter_map(|parent| items.iter().position(|item| item.value == *parent)).collect();
        child_units += if found.is_empty() { 0 } else { items[child].units };
        items[child].parents = found;
    }
    child_units
}
