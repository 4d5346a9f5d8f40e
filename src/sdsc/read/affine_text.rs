//! Affine expressions as text: `c0 floordiv 64 + 1`, `indirect(t)`, `(core_id mod 8) floordiv 2`.
//!
//! The grammar is MLIR's for affine expressions, plus `indirect(name)`. A device coordinate must reduce to one term and an
//! integer ([`coordinate`]); the slice that a core owns may be any expression of the core ([`Expr::evaluate`]).

use crate::bundle::{Coordinate, Term};

/// An expression that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum AffineError {
    /// The text is no expression.
    #[error("expected {expected} at character {at} of '{text}'")]
    Syntax {
        /// What could stand there.
        expected: &'static str,
        /// The position, from 0.
        at: usize,
        /// The whole text.
        text: String,
    },
    /// A name that stands for nothing.
    #[error("'{name}' is no iteration dimension")]
    UnknownName {
        /// The name.
        name: String,
    },
    /// More than one term, or a term of another form.
    #[error("'{text}' is not of the form ((dim mod m) floordiv d) + k, indirect(tensor) + k or k")]
    NotACoordinate {
        /// The whole text.
        text: String,
    },
    /// A divisor below 1.
    #[error("'{text}' divides by {divisor}; divisors are at least 1")]
    Divisor {
        /// The whole text.
        text: String,
        /// The divisor.
        divisor: i64,
    },
}

/// A parsed expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expr {
    Integer(i64),
    Name(String),
    Indirect(String),
    Binary(Box<Self>, Operator, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    FloorDiv,
    Mod,
}

impl Expr {
    pub(super) fn parse(text: &str) -> Result<Self, AffineError> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let expr = parser.sum()?;
        parser.skip_spaces();
        if parser.at == text.len() { Ok(expr) } else { Err(parser.expected("an operator or the end")) }
    }

    /// The value of the expression when `name` stands for `value`; none when another name occurs or it has no value.
    pub(super) fn evaluate(&self, name: &str, value: i64) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            Self::Name(other) => (other == name).then_some(value),
            Self::Indirect(_) => None,
            Self::Binary(left, operator, right) => {
                let (left, right) = (left.evaluate(name, value)?, right.evaluate(name, value)?);
                match operator {
                    Operator::Add => left.checked_add(right),
                    Operator::Subtract => left.checked_sub(right),
                    Operator::Multiply => left.checked_mul(right),
                    Operator::FloorDiv => (right > 0).then(|| left.div_euclid(right)),
                    Operator::Mod => (right > 0).then(|| left.rem_euclid(right)),
                }
            }
        }
    }
}

/// Reads a device coordinate; `position` finds an iteration dimension by name.
pub(super) fn coordinate(text: &str, position: &impl Fn(&str) -> Option<usize>) -> Result<Coordinate, AffineError> {
    reduce(&Expr::parse(text)?, text, position)
}

fn reduce(expr: &Expr, text: &str, position: &impl Fn(&str) -> Option<usize>) -> Result<Coordinate, AffineError> {
    let no_form = || AffineError::NotACoordinate { text: text.to_owned() };
    match expr {
        Expr::Integer(value) => Ok(Coordinate::constant(*value)),
        Expr::Name(name) => position(name).map(Coordinate::dim).ok_or_else(|| AffineError::UnknownName { name: name.clone() }),
        Expr::Indirect(name) => Ok(Coordinate::indirect(name.clone())),
        Expr::Binary(left, operator, right) => {
            let (left, right) = (reduce(left, text, position)?, reduce(right, text, position)?);
            match (operator, integer(&left), integer(&right)) {
                (Operator::Add, _, Some(value)) => shift(left, value).ok_or_else(no_form),
                (Operator::Add, Some(value), None) => shift(right, value).ok_or_else(no_form),
                (Operator::Subtract, _, Some(value)) => value.checked_neg().and_then(|value| shift(left, value)).ok_or_else(no_form),
                (Operator::Multiply, Some(left), Some(right)) => left.checked_mul(right).map(Coordinate::constant).ok_or_else(no_form),
                (Operator::Multiply, None, Some(1)) => Ok(left),
                (Operator::Multiply, Some(1), None) => Ok(right),
                (Operator::FloorDiv | Operator::Mod, _, Some(divisor)) if divisor < 1 => {
                    Err(AffineError::Divisor { text: text.to_owned(), divisor })
                }
                (Operator::FloorDiv, _, Some(divisor)) => floordiv(&left, divisor).ok_or_else(no_form),
                (Operator::Mod, _, Some(modulo)) => remainder(&left, modulo).ok_or_else(no_form),
                (Operator::Add | Operator::Subtract | Operator::Multiply | Operator::FloorDiv | Operator::Mod, _, _) => Err(no_form()),
            }
        }
    }
}

fn integer(coordinate: &Coordinate) -> Option<i64> {
    match coordinate.term {
        Term::None => Some(coordinate.offset),
        Term::Dim { .. } | Term::Indirect(_) => None,
    }
}

fn shift(coordinate: Coordinate, by: i64) -> Option<Coordinate> {
    Some(Coordinate { offset: coordinate.offset.checked_add(by)?, term: coordinate.term })
}

fn floordiv(coordinate: &Coordinate, by: i64) -> Option<Coordinate> {
    match *coordinate {
        Coordinate { term: Term::None, offset } => Some(Coordinate::constant(offset.div_euclid(by))),
        Coordinate { term: Term::Dim { dim, modulo, divisor }, offset: 0 } => {
            let divisor = divisor.unwrap_or(1).checked_mul(by)?;
            Some(Coordinate { term: Term::Dim { dim, modulo, divisor: (divisor > 1).then_some(divisor) }, offset: 0 })
        }
        Coordinate { term: Term::Dim { .. } | Term::Indirect(_), .. } => None,
    }
}

/// `(v floordiv d) mod m` is `(v mod (d * m)) floordiv d`.
fn remainder(coordinate: &Coordinate, by: i64) -> Option<Coordinate> {
    match *coordinate {
        Coordinate { term: Term::None, offset } => Some(Coordinate::constant(offset.rem_euclid(by))),
        Coordinate { term: Term::Dim { dim, modulo, divisor }, offset: 0 } => {
            let range = by.checked_mul(divisor.unwrap_or(1))?;
            let modulo = match modulo {
                None => range,
                Some(modulo) if modulo % range == 0 => range,
                Some(modulo) if range % modulo == 0 => modulo,
                Some(_) => return None,
            };
            Some(Coordinate { term: Term::Dim { dim, modulo: Some(modulo), divisor }, offset: 0 })
        }
        Coordinate { term: Term::Dim { .. } | Term::Indirect(_), .. } => None,
    }
}

/// Parentheses within each other that an expression may have: a bound for the stack, far above what is written.
const MAX_DEPTH: usize = 100;

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn expected(&self, expected: &'static str) -> AffineError {
        AffineError::Syntax { expected, at: self.at, text: self.text.to_owned() }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_spaces(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Takes the token when the text goes on with it.
    fn take(&mut self, token: &str) -> bool {
        self.skip_spaces();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// The letters, digits, underscores and dots that the text goes on with.
    fn word(&self) -> &str {
        let rest = self.rest();
        let end = rest.find(|character: char| !(character.is_alphanumeric() || "_.".contains(character))).unwrap_or(rest.len());
        &rest[..end]
    }

    fn take_word(&mut self, word: &str) -> bool {
        self.skip_spaces();
        self.word() == word && self.take(word)
    }

    fn sum(&mut self) -> Result<Expr, AffineError> {
        let mut left = self.product()?;
        loop {
            let operator = if self.take("+") {
                Operator::Add
            } else if self.take("-") {
                Operator::Subtract
            } else {
                return Ok(left);
            };
            left = Expr::Binary(Box::new(left), operator, Box::new(self.product()?));
        }
    }

    fn product(&mut self) -> Result<Expr, AffineError> {
        let mut left = self.atom()?;
        loop {
            let operator = if self.take("*") {
                Operator::Multiply
            } else if self.take_word("floordiv") {
                Operator::FloorDiv
            } else if self.take_word("mod") {
                Operator::Mod
            } else {
                return Ok(left);
            };
            left = Expr::Binary(Box::new(left), operator, Box::new(self.atom()?));
        }
    }

    fn atom(&mut self) -> Result<Expr, AffineError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(self.expected("fewer parentheses"));
        }
        let expr = self.atom_within();
        self.depth -= 1;
        expr
    }

    fn atom_within(&mut self) -> Result<Expr, AffineError> {
        if self.take("(") {
            let inner = self.sum()?;
            return if self.take(")") { Ok(inner) } else { Err(self.expected("')'")) };
        }
        if self.take("-") {
            return Ok(Expr::Binary(Box::new(Expr::Integer(0)), Operator::Subtract, Box::new(self.atom()?)));
        }
        let word = self.word().to_owned();
        if word.is_empty() {
            return Err(self.expected("a number, a name or '('"));
        }
        if word.starts_with(|first: char| first.is_ascii_digit()) {
            let value = word.parse().map_err(|_| self.expected("a 64-bit integer"))?;
            self.at += word.len();
            return Ok(Expr::Integer(value));
        }
        self.at += word.len();
        if word != "indirect" || !self.take("(") {
            return Ok(Expr::Name(word));
        }
        self.skip_spaces();
        let name = self.word().to_owned();
        self.at += name.len();
        if name.is_empty() || !self.take(")") {
            return Err(self.expected("the name of a tensor and ')'"));
        }
        Ok(Expr::Indirect(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Coordinate, AffineError> {
        coordinate(text, &|name| ["c0", "c1"].iter().position(|known| *known == name))
    }

    #[test]
    fn the_forms_that_occur_are_read() {
        assert_eq!(read("0"), Ok(Coordinate::constant(0)));
        assert_eq!(read("c1"), Ok(Coordinate::dim(1)));
        assert_eq!(read("c1 mod 64"), Ok(Coordinate::modulo(1, 64)));
        assert_eq!(read("c1 floordiv 64 + 1"), Ok(Coordinate::floordiv(1, 64).plus(1)));
        assert_eq!(read("32 + c0"), Ok(Coordinate::dim(0).plus(32)));
        assert_eq!(read("indirect(arg0_1)"), Ok(Coordinate::indirect("arg0_1")));
    }

    #[test]
    fn a_remainder_of_a_quotient_is_a_quotient_of_a_remainder() {
        let expected = Coordinate { term: Term::Dim { dim: 0, modulo: Some(256), divisor: Some(64) }, offset: 0 };
        assert_eq!(read("(c0 floordiv 64) mod 4"), Ok(expected.clone()));
        assert_eq!(read("(c0 mod 256) floordiv 64"), Ok(expected));
    }

    #[test]
    fn two_dimensions_are_refused() {
        assert_eq!(read("c0 + c1"), Err(AffineError::NotACoordinate { text: "c0 + c1".to_owned() }));
        assert_eq!(read("2 * c0"), Err(AffineError::NotACoordinate { text: "2 * c0".to_owned() }));
    }

    #[test]
    fn bad_text_says_where() {
        assert_eq!(read("c0 floordiv").unwrap_err().to_string(), "expected a number, a name or '(' at character 11 of 'c0 floordiv'");
        assert_eq!(read("c0 mod 0").unwrap_err().to_string(), "'c0 mod 0' divides by 0; divisors are at least 1");
        assert_eq!(read("d0").unwrap_err().to_string(), "'d0' is no iteration dimension");
        assert!(read(&"(".repeat(1000)).is_err());
    }

    #[test]
    fn an_expression_of_the_core_has_a_value_for_each_core() {
        let expr = Expr::parse("(((core_id floordiv 4) mod 2) floordiv 1) mod 2").unwrap();
        let slots: Vec<_> = (0..8).map(|core| expr.evaluate("core_id", core).unwrap()).collect();
        assert_eq!(slots, [0, 0, 0, 0, 1, 1, 1, 1]);
        assert_eq!(expr.evaluate("other", 0), None);
    }
}
