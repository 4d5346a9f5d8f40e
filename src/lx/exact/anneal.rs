//! Plans for dense problems, where selection and addresses cannot be told apart: one parcel after the other is put where it drives out
//! least, what was driven out is put elsewhere if there is room, and the change is kept if it saves more, or little less while it is hot.

use super::{
    chains::{Chain, Link},
    problem::Problem,
    selection::{Run, Selection, Stay},
};
use crate::lx::pack::Steps;

/// Runs that are placed together or not at all.
pub(super) struct Parcel {
    pub(super) runs: Vec<Run>,
    pub(super) chain: Chain,
    /// HBM bytes saved.
    pub(super) saves: i64,
}

/// A parcel that lives together with another, and the units of both where they meet.
#[derive(Clone, Copy)]
struct Neighbour {
    other: usize,
    own_units: i64,
    units: i64,
}

/// The same numbers on every machine.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        // SplitMix64 (Steele, Lea, Flood 2014).
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        ((self.next() >> 33) % n.max(1) as u64) as usize
    }

    /// Often little, seldom much: close to an exponential distribution with this mean.
    fn noise(&mut self, mean: i64) -> i64 {
        let bits = self.next();
        let sixteenths = i64::from(bits.trailing_zeros().min(40)) * 16 + (bits >> 60) as i64;
        mean * sixteenths / 24
    }
}

/// Where the parcels are.
struct Table {
    begin: Vec<usize>,
    neighbours: Vec<Neighbour>,
    /// No address above.
    highest: Vec<i64>,
    saves: Vec<i64>,
    addresses: Vec<Option<i64>>,
    saved: i64,
    /// Parcels without an address, and where each is in this list.
    waiting: Vec<usize>,
    place_in_waiting: Vec<usize>,
    edges: Vec<(i64, i64)>,
    work: u64,
}

/// Neighbours looked at in one step.
const NEIGHBOURS_OF_STEP: u64 = 16;

/// Better addresses than those at the start, if any are found. `go_on` is told the steps left and the HBM bytes saved from time to time.
pub(super) fn anneal(
    parcels: &[Parcel],
    start: Vec<Option<i64>>,
    capacity: i64,
    hot: i64,
    steps: &mut Steps,
    go_on: &mut dyn FnMut(u64, i64) -> bool,
) -> Vec<Option<i64>> {
    let mut table = Table::new(parcels, start, capacity);
    let total: i64 = table.saves.iter().sum();
    let (mut best, mut best_saved) = (table.addresses.clone(), table.saved);
    let mut dice = Dice(1);
    let n = parcels.len();
    let given = steps.left;
    let hot = total / (n.max(1) as i64) * hot / 100;
    let cycles = 1;
    let mut driven = Vec::new();
    let mut moves = 0_u64;
    let mut kept = 0;
    while best_saved < total && n > 1 && steps.left > 0 {
        moves += 1;
        if moves % 4096 == 0 && !go_on(steps.left, best_saved) {
            break;
        }
        let per = given / cycles + 1;
        let left = (steps.left % per) as i64;
        let fraction = left * 1024 / per as i64;
        let heat = hot * fraction / 1024 * fraction / 1024;
        let parcel = if dice.below(4) > 0 && !table.waiting.is_empty() {
            table.waiting[dice.below(table.waiting.len())]
        } else {
            dice.below(n)
        };
        let before = table.saved;
        let was = table.addresses[parcel];
        if was.is_some() { table.lift(parcel); }
        let Some(address) = table.cheapest(parcel, heat, &mut dice) else { if let Some(a) = was { table.put(parcel, a); } continue };
        table.drive_out(parcel, address, &mut driven);
        table.put(parcel, address);
        driven.sort_unstable_by_key(|&(other, _)| (-table.saves[other], other));
        let mut again = 0;
        for at in 0..driven.len() {
            if let Some(free) = table.free_place(driven[at].0) {
                table.put(driven[at].0, free);
                again += 1;
            }
        }
        let _ = again;
        if table.saved + dice.noise(heat) < before {
            for &(other, _) in &driven { if table.addresses[other].is_some() { table.lift(other); } }
            table.lift(parcel);
            for &(other, address) in &driven { table.put(other, address); }
            if let Some(a) = was { table.put(parcel, a); }
        } else { kept += 1; }
        if table.saved > best_saved {
            best_saved = table.saved;
            best.clone_from(&table.addresses);
        }
        let spent = table.work / NEIGHBOURS_OF_STEP;
        table.work %= NEIGHBOURS_OF_STEP;
        steps.left = steps.left.saturating_sub(spent + 1);
    }
    if std::env::var("DBG").is_ok() { eprintln!("moves {moves} kept {kept} steps {} best {best_saved} of {total} n {n} waiting {}", given - steps.left, table.waiting.len()); }
    best
}

impl Table {
    fn new(parcels: &[Parcel], start: Vec<Option<i64>>, capacity: i64) -> Self {
        let meets = |link: &Link, other: &Link| link.start < other.end && other.start < link.end;
        let units = |one: &Parcel, other: &Parcel| {
            let met = one.chain.links.iter().filter(|link| other.chain.links.iter().any(|its| meets(link, its)));
            met.map(|link| link.units).max()
        };
        let (mut begin, mut neighbours) = (vec![0], Vec::new());
        for (index, one) in parcels.iter().enumerate() {
            for (other, its) in parcels.iter().enumerate().filter(|(other, _)| *other != index) {
                if let Some((own_units, units)) = units(one, its).zip(units(its, one)) {
                    neighbours.push(Neighbour { other, own_units, units });
                }
            }
            begin.push(neighbours.len());
        }
        let n = parcels.len();
        let mut table = Self {
            begin,
            neighbours,
            highest: parcels.iter().map(|parcel| parcel.chain.highest(capacity)).collect(),
            saves: parcels.iter().map(|parcel| parcel.saves).collect(),
            addresses: vec![None; n],
            saved: 0,
            waiting: (0..n).collect(),
            place_in_waiting: (0..n).collect(),
            edges: Vec::new(),
            work: 0,
        };
        for (parcel, address) in start.into_iter().enumerate() {
            if let Some(address) = address {
                table.put(parcel, address);
            }
        }
        table
    }

    fn put(&mut self, parcel: usize, address: i64) {
        self.addresses[parcel] = Some(address);
        self.saved += self.saves[parcel];
        let place = self.place_in_waiting[parcel];
        self.waiting.swap_remove(place);
        if let Some(&moved) = self.waiting.get(place) {
            self.place_in_waiting[moved] = place;
        }
    }

    fn lift(&mut self, parcel: usize) {
        self.addresses[parcel] = None;
        self.saved -= self.saves[parcel];
        self.place_in_waiting[parcel] = self.waiting.len();
        self.waiting.push(parcel);
    }

    /// Where the parcel would touch another or an end of LX: address and the change of what it drives out behind it (twice the address, and
    /// one more where it begins to).
    fn find_edges(&mut self, parcel: usize) {
        self.edges.clear();
        let range = self.begin[parcel]..self.begin[parcel + 1];
        self.work += range.len() as u64;
        for neighbour in &self.neighbours[range] {
            if let Some(address) = self.addresses[neighbour.other] {
                let saves = self.saves[neighbour.other];
                self.edges.push((2 * (address - neighbour.own_units) + 1, saves));
                self.edges.push((2 * (address + neighbour.units), -saves));
            }
        }
        self.edges.push((0, 0));
        self.edges.push((2 * self.highest[parcel], 0));
        self.edges.sort_unstable();
    }

    /// The address at which it drives out least, give or take some noise.
    fn cheapest(&mut self, parcel: usize, heat: i64, dice: &mut Dice) -> Option<i64> {
        let highest = self.highest[parcel];
        if highest < 0 { return None; }
        self.find_edges(parcel);
        let (mut cost, mut best) = (0, None);
        for &(edge, change) in &self.edges {
            let address = edge >> 1;
            if edge & 1 == 0 {
                cost += change;
            }
            if (0..=highest).contains(&address) {
                let noisy = cost + dice.noise(heat);
                if best.is_none_or(|(least, _)| noisy < least) {
                    best = Some((noisy, address));
                }
            }
            if edge & 1 == 1 {
                cost += change;
            }
        }
        best.map(|(_, address)| address)
    }

    /// The lowest address at which nothing is driven out.
    fn free_place(&mut self, parcel: usize) -> Option<i64> {
        let highest = self.highest[parcel];
        self.find_edges(parcel);
        let mut over = 0;
        for &(edge, change) in &self.edges {
            let address = edge >> 1;
            if edge & 1 == 0 {
                over += change;
            }
            if over == 0 && (0..=highest).contains(&address) {
                return Some(address);
            }
            if edge & 1 == 1 {
                over += change;
            }
        }
        None
    }

    fn drive_out(&mut self, parcel: usize, at: i64, driven: &mut Vec<(usize, i64)>) {
        driven.clear();
        for place in self.begin[parcel]..self.begin[parcel + 1] {
            let Neighbour { other, own_units, units } = self.neighbours[place];
            if let Some(address) = self.addresses[other].filter(|address| address - own_units < at && at < address + units) {
                driven.push((other, address));
                self.lift(other);
            }
        }
    }
}

/// The parcels of a selection, and of the values that it leaves in HBM.
pub(super) fn parcels(problem: &Problem, selection: &Selection) -> Vec<Parcel> {
    let mut parcels = super::settle::parcels(problem, selection);
    for (index, value) in problem.values.iter().enumerate() {
        if selection.stays[index].in_lx.iter().any(|in_lx| *in_lx) || value.units == 0 {
            continue;
        }
        let mut alone = Selection::none(problem);
        let before = alone.value_bytes(problem, index);
        let n = value.uses.len();
        alone.stays[index] = Stay { in_lx: vec![true; n], keeps: vec![true; n], parent: None };
        let saves = before - alone.value_bytes(problem, index);
        if saves > 0 {
            let run = Run { value: index, first: 0, last: n - 1 };
            parcels.push(Parcel { runs: vec![run], chain: super::settle::chain(problem, &[run]), saves });
        }
    }
    parcels
}
