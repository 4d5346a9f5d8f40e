//! Hints and names as they are typed: `A=2` and `0=A:B`.

use std::str::FromStr;

/// `NAME=COUNT`: run in so many tiles along the dimension of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileCount {
    /// The dimension.
    pub dim: String,
    /// The number of tiles, at least 1.
    pub count: i64,
}

impl FromStr for TileCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("expected NAME=COUNT with a positive count, found '{text}'");
        let (dim, count) = text.split_once('=').ok_or_else(refuse)?;
        let count: i64 = count.parse().map_err(|_| refuse())?;
        if dim.is_empty() || count < 1 {
            return Err(refuse());
        }
        Ok(Self { dim: dim.to_owned(), count })
    }
}

/// `ARG=NAME:NAME`: the names of an argument's dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimNames {
    /// The position of the argument.
    pub argument: usize,
    /// One name per dimension.
    pub names: Vec<String>,
}

impl FromStr for DimNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("expected ARG=NAME:NAME with the number of an argument, found '{text}'");
        let (argument, names) = text.split_once('=').ok_or_else(refuse)?;
        let argument = argument.parse().map_err(|_| refuse())?;
        let names: Vec<String> = names.split(':').map(str::to_owned).collect();
        if names.iter().any(String::is_empty) { Err(refuse()) } else { Ok(Self { argument, names }) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tile_count_needs_a_name_and_a_positive_number() {
        assert_eq!("A=2".parse(), Ok(TileCount { dim: "A".to_owned(), count: 2 }));
        for wrong in ["A", "A=", "A=0", "A=-1", "=2", "A=x"] {
            assert!(wrong.parse::<TileCount>().is_err_and(|message| message.ends_with(&format!("found '{wrong}'"))), "{wrong}");
        }
    }

    #[test]
    fn dim_names_are_separated_by_colons() {
        assert_eq!("1=A:B".parse(), Ok(DimNames { argument: 1, names: vec!["A".to_owned(), "B".to_owned()] }));
        for wrong in ["A:B", "x=A", "0=", "0=A::B"] {
            assert!(wrong.parse::<DimNames>().is_err(), "{wrong}");
        }
    }
}
