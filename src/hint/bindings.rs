//! Symbolic counts, and the numbers that they are bound to.

use crate::codes::{self, Code};
use program::SymbolicCount;
use std::collections::BTreeMap;

/// `NAME=NUMBER`: binding of a symbolic count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountBinding {
    /// The name.
    pub symbol: String,
    /// The number, at least 1.
    pub number: i64,
}

/// Reason why a symbolic count cannot be resolved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CountError {
    /// The name has neither a number nor a maximum, so the tile size is unknown.
    #[error(
        "tile count '{symbol}' of dimension '{dim}' has no value; give --bind {symbol}=NUMBER, or \
         declare a maximum on the function, 'spyre.symbols = {{{symbol} = NUMBER}}'"
    )]
    Unbound {
        /// The name of the dimension.
        dim: String,
        /// The name of the count.
        symbol: String,
    },
    /// The name has no number, so work cannot be divided among the cores.
    #[error("number of slices '{symbol}' of dimension '{dim}' has no value; give --bind {symbol}=NUMBER")]
    UnboundSlices {
        /// The name of the dimension.
        dim: String,
        /// The name of the number.
        symbol: String,
    },
    /// The number exceeds the maximum that the function declares.
    #[error("'{symbol}={number}' exceeds the maximum {maximum} that 'spyre.symbols' declares; use at most {maximum}")]
    AboveMaximum {
        /// The name.
        symbol: String,
        /// The number.
        number: i64,
        /// The declared maximum.
        maximum: i64,
    },
    /// The name is bound to two numbers.
    #[error("'{symbol}' is bound to {first} and to {second}; bind it once")]
    Twice {
        /// The name.
        symbol: String,
        /// The first number.
        first: i64,
        /// The second number.
        second: i64,
    },
    /// The binding is unused, which indicates a mistake such as a misspelled name.
    #[error(
        "expected the name of a tile count, found '{symbol}={number}'; use the name as in '--tiles DIM={symbol}', or remove the binding"
    )]
    Unused {
        /// The name.
        symbol: String,
        /// The number.
        number: i64,
    },
}

impl CountError {
    /// Returns the code of the message.
    #[must_use]
    pub const fn code(&self) -> Code {
        match self {
            Self::Unbound { .. } | Self::UnboundSlices { .. } => codes::COUNT_UNBOUND,
            Self::AboveMaximum { .. } => codes::BINDING_RANGE,
            Self::Twice { .. } => codes::OPTION_TWICE,
            Self::Unused { .. } => codes::BINDING_UNUSED,
        }
    }
}

/// Numbers that the user bound to names, and whether they were used.
///
/// `bind=T=4` turns `tiles(M = T)` into `tiles(M = 4)`. An unbound symbol needs a maximum, such as
/// `spyre.symbols = {T = 8}` on the function. The dimension is then split into 8 tiles, so their size is known, and a
/// launch executes the first of them: it chooses the size of the dimension, a multiple of a tile. `bind=T=4` is all of
/// the dimension in larger tiles. See `dialect::SymbolicSizes`.
#[derive(Clone, Debug, Default)]
pub struct CountBindings {
    numbers: BTreeMap<String, (i64, bool)>,
}

impl CountBindings {
    /// Returns bindings by name.
    ///
    /// # Errors
    /// If a name is bound twice.
    pub fn new(bindings: impl IntoIterator<Item = CountBinding>) -> Result<Self, CountError> {
        let mut numbers: BTreeMap<String, (i64, bool)> = BTreeMap::new();
        for CountBinding { symbol, number } in bindings {
            if let Some(&(first, _)) = numbers.get(&symbol) {
                return Err(CountError::Twice { symbol, first, second: number });
            }
            numbers.insert(symbol, (number, false));
        }
        Ok(Self { numbers })
    }

    /// Resolves a count along `dim`: returns the number if it is known, otherwise the symbol, which needs a declared
    /// maximum. `maxima` holds the maxima that the function declares.
    ///
    /// # Errors
    /// If a name has neither a number nor a maximum, or a number above its maximum.
    pub fn resolve(
        &mut self,
        dim: &str,
        count: SymbolicCount,
        maxima: &BTreeMap<String, i64>,
    ) -> Result<SymbolicCount, CountError> {
        let SymbolicCount::Symbol(symbol) = count else { return Ok(count) };
        if let Some(number) = self.bound_number(&symbol, maxima)? {
            return Ok(SymbolicCount::Number(number));
        }
        declared_maximum(dim, &symbol, maxima)?;
        Ok(SymbolicCount::Symbol(symbol))
    }

    /// Returns the number that is bound to `symbol`, and marks it as used; `None` if it is unbound.
    ///
    /// # Errors
    /// If it is above the maximum.
    pub fn bound_number(&mut self, symbol: &str, maxima: &BTreeMap<String, i64>) -> Result<Option<i64>, CountError> {
        let Some((number, is_used)) = self.numbers.get_mut(symbol) else { return Ok(None) };
        *is_used = true;
        match maxima.get(symbol) {
            Some(&maximum) if *number > maximum => {
                Err(CountError::AboveMaximum { symbol: symbol.to_owned(), number: *number, maximum })
            }
            _ => Ok(Some(*number)),
        }
    }

    /// Checks that every binding was used.
    ///
    /// # Errors
    /// Returns the first unused name, in alphabetical order.
    pub fn check_used(&self) -> Result<(), CountError> {
        let unused = self.numbers.iter().find(|(_, (_, is_used))| !is_used);
        unused.map_or(Ok(()), |(symbol, &(number, _))| Err(CountError::Unused { symbol: symbol.clone(), number }))
    }
}

/// Returns the declared maximum of a symbolic tile count along `dim`.
///
/// # Errors
/// If none is declared.
pub fn declared_maximum(dim: &str, symbol: &str, maxima: &BTreeMap<String, i64>) -> Result<i64, CountError> {
    maxima.get(symbol).copied().ok_or_else(|| CountError::Unbound { dim: dim.to_owned(), symbol: symbol.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_bindings(list: &[(&str, i64)]) -> Result<CountBindings, CountError> {
        CountBindings::new(list.iter().map(|&(symbol, number)| CountBinding { symbol: symbol.to_owned(), number }))
    }

    fn make_symbol(name: &str) -> SymbolicCount {
        SymbolicCount::Symbol(name.to_owned())
    }

    #[test]
    fn resolves_bound_names_and_requires_maxima_of_others() {
        let mut bound = make_bindings(&[("T", 4)]).unwrap();
        let maxima = BTreeMap::from([("U".to_owned(), 8)]);
        assert_eq!(bound.resolve("M", SymbolicCount::Number(2), &maxima), Ok(SymbolicCount::Number(2)));
        assert_eq!(bound.resolve("M", make_symbol("T"), &maxima), Ok(SymbolicCount::Number(4)));
        assert_eq!(bound.resolve("M", make_symbol("U"), &maxima), Ok(make_symbol("U")));
        let error = CountError::Unbound { dim: "M".to_owned(), symbol: "V".to_owned() };
        assert_eq!(bound.resolve("M", make_symbol("V"), &maxima), Err(error));
    }

    #[test]
    fn rejects_number_above_the_maximum() {
        let maxima = BTreeMap::from([("T".to_owned(), 8)]);
        assert_eq!(make_bindings(&[("T", 8)]).unwrap().bound_number("T", &maxima), Ok(Some(8)));
        let error = CountError::AboveMaximum { symbol: "T".to_owned(), number: 9, maximum: 8 };
        assert_eq!(make_bindings(&[("T", 9)]).unwrap().bound_number("T", &maxima), Err(error));
    }

    #[test]
    fn rejects_unused_and_duplicate_bindings() {
        let mut bound = make_bindings(&[("T", 4), ("U", 2)]).unwrap();
        bound.bound_number("U", &BTreeMap::new()).unwrap();
        assert_eq!(bound.check_used(), Err(CountError::Unused { symbol: "T".to_owned(), number: 4 }));
        bound.bound_number("T", &BTreeMap::new()).unwrap();
        assert_eq!(bound.check_used(), Ok(()));
        let twice = CountError::Twice { symbol: "T".to_owned(), first: 4, second: 8 };
        assert_eq!(make_bindings(&[("T", 4), ("T", 8)]).unwrap_err(), twice);
    }
}
