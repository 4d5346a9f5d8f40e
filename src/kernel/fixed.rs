//! Numbers in a kernel's hint scopes that no knob controls: their names and their valid values.
//!
//! `tiles_rows` is a tile count along `rows`, `splits_rows` a core split along `rows`, and `order` the loop order of a
//! scope: 1 is the order as written, the others number the permutations of the loops in lexicographic order. The second
//! number of one name in a kernel gets the suffix `_2`.

use std::collections::BTreeMap;
use strum::{Display, EnumString, VariantNames};

/// Kind of number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum FixedNumberKind {
    /// Tile counts.
    Tiles,
    /// Loop order that one scope requests.
    Order,
    /// Core splits.
    Splits,
}

/// Maximum tile count that is considered.
const MAX_TILES: i64 = 64;

impl FixedNumberKind {
    /// Returns the name of a number; `None` if the dimension cannot be named on a command line.
    #[must_use]
    pub fn name(self, dim: &str) -> Option<String> {
        let is_word = !dim.is_empty() && dim.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        match self {
            Self::Order => Some("order".to_owned()),
            Self::Tiles => is_word.then(|| format!("tiles_{dim}")),
            Self::Splits => is_word.then(|| format!("splits_{dim}")),
        }
    }

    /// Returns the values that a number may take, in ascending order: the divisors of the dimension size `size`, and
    /// the current `value`. For an order, `size` is the number of loops, and the values number their permutations.
    #[must_use]
    pub fn choices(self, size: i64, value: i64, cores: i64) -> Vec<i64> {
        let most = match self {
            Self::Order => return (1..=(1..=size).product()).collect(),
            Self::Tiles => MAX_TILES,
            Self::Splits => cores,
        };
        let mut choices: Vec<i64> = (1..=most.min(size)).filter(|number| size % number == 0).collect();
        choices.extend((!choices.contains(&value)).then_some(value));
        choices.sort_unstable();
        choices
    }
}

/// Makes equal names unique with numeric suffixes, from the second occurrence on.
#[derive(Default)]
pub struct UniqueNames(BTreeMap<String, usize>);

impl UniqueNames {
    /// Returns the name, with the next suffix if it occurred before.
    pub fn make_unique(&mut self, name: String) -> String {
        let known = self.0.entry(name.clone()).or_default();
        *known += 1;
        if *known == 1 { name } else { format!("{name}_{known}") }
    }
}

/// Returns the permutation of `num_loops` loops with a number, from 1 on; `None` if there are fewer permutations.
#[must_use]
pub fn compute_loop_order(num_loops: usize, number: i64) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..num_loops).collect();
    let mut rest = usize::try_from(number).ok()?.checked_sub(1)?;
    let mut places = Vec::with_capacity(num_loops);
    while !left.is_empty() {
        let of_one: usize = (1..left.len()).product();
        if rest / of_one >= left.len() {
            return None;
        }
        places.push(left.remove(rest / of_one));
        rest %= of_one;
    }
    Some(places)
}

/// Returns the first order that runs loops of these counts in the same sequence as this one, if it is another order; a
/// loop of one iteration does not count as a loop.
#[must_use]
pub fn find_equivalent_order(counts: &[i64], number: i64) -> Option<i64> {
    let loops = |number: i64| {
        let places = compute_loop_order(counts.len(), number)?;
        Some(places.into_iter().filter(|&place| counts[place] != 1).collect::<Vec<usize>>())
    };
    let wanted = loops(number)?;
    (1..number).find(|&other| loops(other).as_ref() == Some(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_orders_lexicographically() {
        let all: Vec<Option<Vec<usize>>> = (0..8).map(|number| compute_loop_order(3, number)).collect();
        let some = |places: [usize; 3]| Some(places.to_vec());
        let six = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(some);
        assert_eq!(all[0], None);
        assert_eq!(all[1..7], six);
        assert_eq!(all[7], None);
        assert_eq!((compute_loop_order(1, 1), compute_loop_order(1, 2)), (Some(vec![0]), None));
    }

    #[test]
    fn ignores_loops_of_one_iteration() {
        assert_eq!(
            (find_equivalent_order(&[4, 2], 2), find_equivalent_order(&[4, 1], 2), find_equivalent_order(&[1, 1], 1)),
            (None, Some(1), None)
        );
        let of_three: Vec<Option<i64>> = (1..=6).map(|number| find_equivalent_order(&[4, 1, 2], number)).collect();
        assert_eq!(of_three, [None, Some(1), Some(1), None, Some(4), Some(4)]);
    }

    #[test]
    fn offers_divisors_and_the_current_value() {
        assert_eq!(FixedNumberKind::Tiles.choices(96, 4, 32), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]);
        assert_eq!(
            FixedNumberKind::Tiles.choices(6, 4, 32),
            [1, 2, 3, 4, 6],
            "the program is refused with it, as it is without tuning"
        );
        assert_eq!(FixedNumberKind::Splits.choices(64, 32, 32), [1, 2, 4, 8, 16, 32]);
        assert_eq!(FixedNumberKind::Order.choices(3, 1, 32), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn numbers_the_second_use_of_a_name() {
        let mut numbered = UniqueNames::default();
        let names = [
            FixedNumberKind::Tiles.name("m"),
            FixedNumberKind::Tiles.name("m"),
            FixedNumberKind::Splits.name("m"),
            FixedNumberKind::Order.name(""),
        ];
        let names: Vec<String> = names.into_iter().flatten().map(|name| numbered.make_unique(name)).collect();
        assert_eq!(names, ["tiles_m", "tiles_m_2", "splits_m", "order"]);
        assert_eq!((FixedNumberKind::Tiles.name(""), FixedNumberKind::Splits.name("a.b")), (None, None));
    }
}
