//! Numbers that the hint scopes of a kernel have without a knob: how they are named and what else they may be.
//!
//! `tiles_rows` is a number of tiles along `rows`, `splits_rows` one of slices over the cores, and `order` the order of a scope's loops: 1 as it is
//! written, the others by the places of the loops, as words in a dictionary. The second of a name in a kernel has `_2` behind it.

use std::collections::BTreeMap;
use strum::{Display, EnumString, VariantNames};

/// A kind of such numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Display, EnumString, VariantNames)]
#[strum(serialize_all = "kebab-case")]
pub enum FixedKind {
    /// Numbers of tiles.
    Tiles,
    /// The order of the loops that one scope asks for.
    Order,
    /// Numbers of slices over the cores.
    Splits,
}

/// More tiles are not looked at.
const MOST_TILES: i64 = 64;

impl FixedKind {
    /// The name of a number; none if the dimension cannot be told on a command line.
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
            Self::Tiles => MOST_TILES,
            Self::Splits => cores,
        };
        let mut choices: Vec<i64> = (1..=most.min(size)).filter(|number| size % number == 0).collect();
        choices.extend((!choices.contains(&value)).then_some(value));
        choices.sort_unstable();
        choices
    }
}

/// Names that are the same get numbers, from the second one on.
#[derive(Default)]
pub struct Numbered(BTreeMap<String, usize>);

impl Numbered {
    /// The name, or the next one of it.
    pub fn next(&mut self, name: String) -> String {
        let known = self.0.entry(name.clone()).or_default();
        *known += 1;
        if *known == 1 { name } else { format!("{name}_{known}") }
    }
}

/// The places of so many loops in the order of a number from 1 on; none if there are not as many orders.
#[must_use]
pub fn order(n_loops: usize, number: i64) -> Option<Vec<usize>> {
    let mut left: Vec<usize> = (0..n_loops).collect();
    let mut rest = usize::try_from(number).ok()?.checked_sub(1)?;
    let mut places = Vec::with_capacity(n_loops);
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

/// The first order in which loops of these counts run as they do in this one, if that is another one: one turn is no loop.
#[must_use]
pub fn same_order(counts: &[i64], number: i64) -> Option<i64> {
    let loops = |number: i64| {
        let places = order(counts.len(), number)?;
        Some(places.into_iter().filter(|&place| counts[place] != 1).collect::<Vec<usize>>())
    };
    let wanted = loops(number)?;
    (1..number).find(|&other| loops(other).as_ref() == Some(&wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_are_counted_as_words_in_a_dictionary() {
        let all: Vec<Option<Vec<usize>>> = (0..8).map(|number| order(3, number)).collect();
        let some = |places: [usize; 3]| Some(places.to_vec());
        let six = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]].map(some);
        assert_eq!(all[0], None);
        assert_eq!(all[1..7], six);
        assert_eq!(all[7], None);
        assert_eq!((order(1, 1), order(1, 2)), (Some(vec![0]), None));
    }

    #[test]
    fn loops_of_one_turn_have_no_order() {
        assert_eq!((same_order(&[4, 2], 2), same_order(&[4, 1], 2), same_order(&[1, 1], 1)), (None, Some(1), None));
        let of_three: Vec<Option<i64>> = (1..=6).map(|number| same_order(&[4, 1, 2], number)).collect();
        assert_eq!(of_three, [None, Some(1), Some(1), None, Some(4), Some(4)]);
    }

    #[test]
    fn a_number_may_be_what_divides_and_what_it_is() {
        assert_eq!(FixedKind::Tiles.choices(96, 4, 32), [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48]);
        assert_eq!(FixedKind::Tiles.choices(6, 4, 32), [1, 2, 3, 4, 6], "the program is refused with it, as it is without tuning");
        assert_eq!(FixedKind::Splits.choices(64, 32, 32), [1, 2, 4, 8, 16, 32]);
        assert_eq!(FixedKind::Order.choices(3, 1, 32), [1, 2, 3, 4, 5, 6]);
    }

    #[test]
    fn names_are_words_and_the_second_of_a_name_has_a_number() {
        let mut numbered = Numbered::default();
        let names = [FixedKind::Tiles.name("m"), FixedKind::Tiles.name("m"), FixedKind::Splits.name("m"), FixedKind::Order.name("")];
        let names: Vec<String> = names.into_iter().flatten().map(|name| numbered.next(name)).collect();
        assert_eq!(names, ["tiles_m", "tiles_m_2", "splits_m", "order"]);
        assert_eq!((FixedKind::Tiles.name(""), FixedKind::Splits.name("a.b")), (None, None));
    }
}
