//! Shards of a search, one per machine.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// One of several equal shards of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    number: usize,
    count: usize,
}

/// Maximum number of shards, above any realistic number of machines.
const MAX_SHARDS: usize = 1 << 16;

impl Shard {
    /// Shard that contains the complete search.
    pub const WHOLE: Self = Self { number: 1, count: 1 };

    /// Returns the number of the shard, from 1.
    #[must_use]
    pub const fn ordinal(self) -> usize {
        self.number
    }

    /// Returns the number of shards.
    #[must_use]
    pub const fn count(self) -> usize {
        self.count
    }

    /// Returns whether the work item with this index, from 0, belongs to this shard.
    #[must_use]
    pub const fn contains(self, piece: usize) -> bool {
        piece % self.count + 1 == self.number
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let read = || {
            let (number, count) = text.split_once('/')?;
            let shard = Self { number: number.parse().ok()?, count: count.parse().ok()? };
            (1..=shard.count).contains(&shard.number).then_some(shard).filter(|shard| shard.count <= MAX_SHARDS)
        };
        read().ok_or_else(|| format!("expected NUMBER/COUNT with 1 <= NUMBER <= COUNT <= {MAX_SHARDS}, found '{text}'"))
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.number, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn assigns_each_item_to_one_shard() {
        let shards: Vec<Shard> = (1..=3).map(|number| format!("{number}/3").parse().unwrap()).collect();
        for piece in 0..10 {
            assert_eq!(shards.iter().filter(|shard| shard.contains(piece)).count(), 1);
            assert!(Shard::WHOLE.contains(piece));
        }
        assert_eq!(shards[2].to_string(), "3/3");
    }

    #[test]
    fn rejects_invalid_shards() {
        for wrong in ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/65537"] {
            assert!(wrong.parse::<Shard>().unwrap_err().ends_with(&format!("found '{wrong}'")), "{wrong}");
        }
    }
}
