//! Packing in the order of a list, each chain at the lowest address that is free during its life. Loose problems need no search.

use super::chains::Chain;

/// A chain placed at an address, and what it covers by time.
struct Placed<'c> {
    chain: &'c Chain,
    address: i64,
}

/// What to sort by.
type Key<'a> = &'a dyn Fn(&Chain) -> (i64, i64);

/// Addresses from the first of some list orders that places everything.
pub(crate) fn pack_by_lists(chains: &[Chain], capacity: i64) -> Option<Vec<i64>> {
    let span = |chain: &Chain| (start(chain), end(chain));
    let units = |chain: &Chain| chain.links.iter().map(|link| link.units).max().unwrap_or(0);
    let length = |chain: &Chain| (end(chain) - start(chain)) as i64;
    let keys: [Key<'_>; 4] = [
        &|chain| (-units(chain), -length(chain)),
        &|chain| (-units(chain) * length(chain), -units(chain)),
        &|chain| (-length(chain), -units(chain)),
        &|chain| (span(chain).0 as i64, -length(chain)),
    ];
    keys.iter().find_map(|key| {
        let mut order: Vec<usize> = (0..chains.len()).collect();
        order.sort_by_key(|&index| (key(&chains[index]), index));
        pack_in_order(chains, &order, capacity).into_iter().collect()
    })
}

/// An address for each chain that finds room.
pub(crate) fn pack_in_order(chains: &[Chain], order: &[usize], capacity: i64) -> Vec<Option<i64>> {
    let mut addresses = vec![None; chains.len()];
    let mut placed: Vec<Placed<'_>> = Vec::new();
    let mut blocked: Vec<(i64, i64)> = Vec::new();
    for &index in order {
        let chain = &chains[index];
        // Addresses that would overlap: from just above what lies below, to what lies above.
        blocked.clear();
        for other in &placed {
            if start(other.chain) < end(chain) && start(chain) < end(other.chain) {
                block(chain, other, &mut blocked);
            }
        }
        blocked.sort_unstable();
        let highest = chain.links.iter().map(|link| link.limit.min(capacity) - link.units).min().unwrap_or(-1);
        let address = first_gap(&blocked);
        if address <= highest {
            addresses[index] = Some(address);
            placed.push(Placed { chain, address });
        }
    }
    addresses
}

/// The lowest address that is in none of the sorted open intervals.
fn first_gap(blocked: &[(i64, i64)]) -> i64 {
    let mut address = 0;
    for &(low, high) in blocked {
        if low >= address {
            break;
        }
        address = address.max(high);
    }
    address
}

/// The open intervals of addresses at which the chain would overlap the other.
fn block(chain: &Chain, other: &Placed<'_>, blocked: &mut Vec<(i64, i64)>) {
    for theirs in &other.chain.links {
        let overlapping = chain.links.iter().filter(|link| link.start < theirs.end && theirs.start < link.end);
        for link in overlapping {
            blocked.push((other.address - link.units, other.address + theirs.units));
        }
    }
}

fn start(chain: &Chain) -> usize {
    chain.links.first().map_or(0, |link| link.start)
}

fn end(chain: &Chain) -> usize {
    chain.links.last().map_or(0, |link| link.end)
}
