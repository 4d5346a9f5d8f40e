//! Tile counts that users request.

use std::fmt;

/// Tile count.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SymbolicCount {
    /// The number, at least 1.
    Number(i64),
    /// Name of a number that is bound later: a letter, then letters, digits and `_`.
    Symbol(String),
}

impl SymbolicCount {
    /// Parses a count; `None` for text that is neither a positive number nor a name.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_name = text.starts_with(|letter: char| letter.is_ascii_alphabetic())
            && text.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
        if is_name {
            return Some(Self::Symbol(text.to_owned()));
        }
        text.parse().ok().filter(|&number| number >= 1).map(Self::Number)
    }
}

impl fmt::Display for SymbolicCount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Symbol(symbol) => formatter.write_str(symbol),
        }
    }
}
