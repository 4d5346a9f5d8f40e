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

/// `ARG=NAME:NAME@SIZE`: the names of an argument in storage order, outermost first; some with their sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimNames {
    /// The position of the argument.
    pub argument: usize,
    /// The names.
    pub names: Vec<String>,
    /// The sizes that are declared, by name.
    pub sizes: Vec<(String, i64)>,
}

impl FromStr for DimNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refuse = || format!("expected ARG=NAME:NAME or ARG=NAME@SIZE:NAME with the number of an argument, found '{text}'");
        let (argument, words) = text.split_once('=').ok_or_else(refuse)?;
        let argument = argument.parse().map_err(|_| refuse())?;
        let (mut names, mut sizes) = (Vec::new(), Vec::new());
        for word in words.split(':') {
            let (name, size) = word.split_once('@').map_or((word, None), |(name, size)| (name, Some(size)));
            if name.is_empty() {
                return Err(refuse());
            }
            if name.contains('*') {
                return Err(format!("'{name}' cannot be a name: '*' joins the names of a dimension"));
            }
            if let Some(size) = size {
                let size = size.parse().ok().filter(|&size| size > 0);
                sizes.push((name.to_owned(), size.ok_or_else(|| format!("expected NAME@SIZE with a positive size, found '{word}'"))?));
            }
            names.push(name.to_owned());
        }
        Ok(Self { argument, names, sizes })
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
        let names = || vec!["A".to_owned(), "B".to_owned()];
        assert_eq!("1=A:B".parse(), Ok(DimNames { argument: 1, names: names(), sizes: vec![] }));
        assert_eq!("1=A:B@64".parse(), Ok(DimNames { argument: 1, names: names(), sizes: vec![("B".to_owned(), 64)] }));
        for wrong in ["A:B", "x=A", "0=", "0=A::B", "0=A*B", "0=A@", "0=A@0", "0=A@-1", "0=A@x", "0=@8"] {
            assert!(wrong.parse::<DimNames>().is_err(), "{wrong}");
        }
    }
}
