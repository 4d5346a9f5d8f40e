//! Checks the bound that multipliers per value and operation prove.
//!
//! Every buffer pays a multiplier for each operation during which it is in LX. The buffers resident during one
//! operation fit together, so their payments are at most the optimum of a knapsack. A plan leaves at least the sum of
//! each buffer's own minimum cost, with its multipliers included, minus the knapsacks of all operations.

use super::{
    Violation,
    files::{Instance, ResultFile},
    relaxation::{RelaxedProblem, ValueLocation},
};

/// Limit of the check: knapsack cells in total and per knapsack.
const MAX_CELLS: i128 = 2_000_000_000;
const MAX_UNITS: i128 = 1 << 20;

/// Confirms the lower bound of the result.
pub(super) fn check_multipliers(instance: &Instance, result: &ResultFile) -> Result<(), Violation> {
    let reject = |what: String| Violation::Bound { bound: result.lower_bound, what };
    let certificate = &result.certificate;
    if !certificate.whole_lives {
        return Err(reject("rents require a plan without split live ranges".to_owned()));
    }
    if !certificate.prices.is_empty() || !certificate.cuts.is_empty() {
        return Err(reject("expected no prices and cuts in a certificate with rents".to_owned()));
    }
    let relaxed = RelaxedProblem::new(instance, true, 1, &[]);
    let mut paid = vec![0; relaxed.values.len()];
    let mut most = relaxed.fixed;
    let mut cells = 0;
    for (time, multipliers) in &certificate.rents {
        let mut payers: Vec<(usize, i128)> = Vec::with_capacity(multipliers.len());
        for (name, bytes) in multipliers {
            let value = find_payer(instance, &relaxed, *time, name).map_err(reject)?;
            if payers.iter().any(|payer| payer.0 == value) {
                return Err(reject(format!("'{name}' has two rents in operation {time}")));
            }
            payers.push((value, i128::from(*bytes)));
            paid[value] += i128::from(*bytes);
        }
        cells += relaxed.capacity * payers.len() as i128;
        if cells > MAX_CELLS || relaxed.capacity > MAX_UNITS {
            return Err(reject("the knapsacks exceed the limit of the check".to_owned()));
        }
        most -= solve_knapsack(&relaxed, &payers);
    }
    for (value, paid) in paid.into_iter().enumerate() {
        let hbm = relaxed.hbm_use_bytes(value, 0, ValueLocation::Hbm);
        let lx = relaxed.load_bytes(value, 0, ValueLocation::Hbm).map(|bytes| {
            bytes + relaxed.final_store_bytes(value, relaxed.location_after_use(value, 0, ValueLocation::Hbm))
        });
        most += lx.map_or(hbm, |lx| hbm.min(lx + paid));
    }
    if most >= i128::from(result.lower_bound) { Ok(()) } else { Err(reject(format!("the rents prove only {most}"))) }
}

/// Returns the value of a buffer that occupies space of its own in an operation whenever the buffer is in LX.
fn find_payer(instance: &Instance, relaxed: &RelaxedProblem, time: usize, name: &str) -> Result<usize, String> {
    let row = instance.find_buffer(name).ok_or_else(|| format!("'{name}' has a rent, but is not a buffer"))?;
    let value = relaxed
        .values
        .iter()
        .position(|value| value.row == row)
        .ok_or_else(|| format!("'{name}' has a rent, but cannot be in LX"))?;
    let uses = &relaxed.values[value].uses;
    let (first, last) = (relaxed.times[uses[0].tick], relaxed.times[uses[uses.len() - 1].tick]);
    if !(first..=last).contains(&time) {
        return Err(format!("'{name}' has a rent in operation {time}, in which it is not live"));
    }
    if time == first && !relaxed.values[value].parents.is_empty() {
        return Err(format!("'{name}' has a rent in operation {time}, in which it may take over an address"));
    }
    Ok(value)
}

/// Returns the maximum payment of a set of values that fits in LX.
fn solve_knapsack(relaxed: &RelaxedProblem, payers: &[(usize, i128)]) -> i128 {
    let units = |payer: &(usize, i128)| usize::try_from(relaxed.values[payer.0].units).unwrap_or(usize::MAX);
    let total = payers.iter().map(units).fold(0, usize::saturating_add);
    let capacity = usize::try_from(relaxed.capacity).expect("a capacity is not negative").min(total);
    let mut most = vec![0; capacity + 1];
    for payer in payers {
        for left in (units(payer)..=capacity).rev() {
            most[left] = most[left].max(most[left - units(payer)] + payer.1);
        }
    }
    most[capacity]
}
