//! Textual form of hints and names in options: `A=2`, `A=T`, `T=8` and `0=A:B`.

use super::CountBinding;
use crate::codes;
use program::SymbolicCount;
use std::{fmt, str::FromStr};

/// `NAME=COUNT`: tile count along the dimension of that name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TileCount {
    /// The dimension.
    pub dim: String,
    /// Tile count.
    pub count: SymbolicCount,
}

impl FromStr for TileCount {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let reject = || {
            format!(
                "expected NAME=COUNT with a positive number or a name as COUNT, found '{text}'; give one such as 'M=4'"
            )
        };
        let (dim, count) = text.split_once('=').ok_or_else(reject)?;
        let count = SymbolicCount::parse(count).filter(|_| !dim.is_empty()).ok_or_else(reject)?;
        Ok(Self { dim: dim.to_owned(), count })
    }
}

impl fmt::Display for TileCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.dim, self.count)
    }
}

impl FromStr for CountBinding {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts =
            text.split_once('=').map(|(symbol, number)| (SymbolicCount::parse(symbol), SymbolicCount::parse(number)));
        match parts {
            Some((Some(SymbolicCount::Symbol(symbol)), Some(SymbolicCount::Number(number)))) => {
                Ok(Self { symbol, number })
            }
            _ => Err(format!(
                "expected NAME=NUMBER with the name of a count and a positive number, found '{text}'; give one such as 'T=8'"
            )),
        }
    }
}

impl fmt::Display for CountBinding {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}={}", self.symbol, self.number)
    }
}

/// `ARG=NAME:NAME@SIZE`: names of an argument in storage order, outermost first, optionally with sizes. The argument is
/// written as its number, or as `arg` and its number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DimNames {
    /// Index of the argument.
    pub argument: usize,
    /// Names.
    pub names: Vec<String>,
    /// Declared sizes, by name.
    pub sizes: Vec<(String, i64)>,
}

impl FromStr for DimNames {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let reject = || {
            format!(
                "expected ARG=NAME:NAME or ARG=NAME@SIZE:NAME with the number of an argument, found '{text}'; give one such as '0=M:K'"
            )
        };
        let (argument, words) = text.split_once('=').ok_or_else(reject)?;
        let argument = argument.strip_prefix("arg").unwrap_or(argument).parse().map_err(|_| reject())?;
        let (mut names, mut sizes) = (Vec::new(), Vec::new());
        for word in words.split(':') {
            let (name, size) = word.split_once('@').map_or((word, None), |(name, size)| (name, Some(size)));
            if name.is_empty() {
                return Err(reject());
            }
            if name.contains('*') {
                return Err(codes::DIM_SPELLING
                    .format(format_args!("expected a dimension name without '*', which joins names, found '{name}'")));
            }
            if let Some(size) = size {
                let size = size.parse().ok().filter(|&size| size > 0);
                sizes.push((
                    name.to_owned(),
                    size.ok_or_else(|| format!("expected NAME@SIZE with a positive size, found '{word}'"))?,
                ));
            }
            names.push(name.to_owned());
        }
        Ok(Self { argument, names, sizes })
    }
}

impl fmt::Display for DimNames {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Sizes are in the order of the names that declare them.
        let mut sizes = self.sizes.iter().peekable();
        let mut word = |name: &String| match sizes.next_if(|(of, _)| of == name) {
            Some((_, size)) => format!("{name}@{size}"),
            None => name.clone(),
        };
        let words: Vec<String> = self.names.iter().map(&mut word).collect();
        write!(formatter, "{}={}", self.argument, words.join(":"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_tile_counts() {
        assert_eq!("A=2".parse(), Ok(TileCount { dim: "A".to_owned(), count: SymbolicCount::Number(2) }));
        assert_eq!("A=T".parse(), Ok(TileCount { dim: "A".to_owned(), count: SymbolicCount::Symbol("T".to_owned()) }));
        for wrong in ["A", "A=", "A=0", "A=-1", "=2", "=T", "A=2x", "A=T=8"] {
            assert!(
                wrong.parse::<TileCount>().is_err_and(|message| message.contains(&format!("found '{wrong}';"))),
                "{wrong}"
            );
        }
    }

    #[test]
    fn parses_count_bindings() {
        assert_eq!("T=8".parse(), Ok(CountBinding { symbol: "T".to_owned(), number: 8 }));
        for wrong in ["T", "T=", "T=0", "T=-1", "T=U", "=8", "2=8", "T=8=8"] {
            assert!(
                wrong.parse::<CountBinding>().is_err_and(|message| message.contains(&format!("found '{wrong}';"))),
                "{wrong}"
            );
        }
    }

    #[test]
    fn parses_dim_names_separated_by_colons() {
        let names = || vec!["A".to_owned(), "B".to_owned()];
        for text in ["1=A:B", "arg1=A:B"] {
            assert_eq!(text.parse(), Ok(DimNames { argument: 1, names: names(), sizes: vec![] }), "{text}");
        }
        assert_eq!("1=A:B@64".parse(), Ok(DimNames { argument: 1, names: names(), sizes: vec![("B".to_owned(), 64)] }));
        for wrong in ["A:B", "x=A", "argx=A", "0=", "0=A::B", "0=A*B", "0=A@", "0=A@0", "0=A@-1", "0=A@x", "0=@8"] {
            assert!(wrong.parse::<DimNames>().is_err(), "{wrong}");
        }
    }
}
