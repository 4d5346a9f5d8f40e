//! Affine maps: `affine_map<(d0, d1)[s0] -> (s0 + 65536*d0 + 2097152*d1)>`.

use super::TextError;
use super::lexer::Token;
use super::parser::Parser;

/// A number that is linear in dimensions and symbols ("SuperDSC-Bundle specification, `affine.apply`").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Map {
    /// What each dimension is multiplied by.
    pub dims: Vec<i64>,
    /// What each symbol is multiplied by.
    pub symbols: Vec<i64>,
    /// What is added.
    pub constant: i64,
}

/// Parentheses and signs that an expression may stand in, so that no text makes the parser overflow its stack.
const MAX_DEPTH: usize = 64;

/// Reads a map behind the word `affine_map`.
pub(super) fn map(parser: &mut Parser<'_>) -> Result<Map, TextError> {
    parser.sign('<')?;
    let dims = names(parser, '(', ')')?;
    let symbols = if parser.peek() == Token::Sign('[') { names(parser, '[', ']')? } else { Vec::new() };
    let names = Names { dims, symbols };
    parser.expect(Token::Arrow)?;
    parser.sign('(')?;
    let result = expression(parser, &names, MAX_DEPTH)?;
    parser.sign(')')?;
    parser.sign('>')?;
    Ok(result)
}

struct Names<'a> {
    dims: Vec<&'a str>,
    symbols: Vec<&'a str>,
}

impl Names<'_> {
    fn number(&self, constant: i64) -> Map {
        Map { dims: vec![0; self.dims.len()], symbols: vec![0; self.symbols.len()], constant }
    }

    fn variable(&self, name: &str) -> Option<Map> {
        let mut map = self.number(0);
        let dim = self.dims.iter().position(|known| *known == name);
        let symbol = self.symbols.iter().position(|known| *known == name);
        match (dim, symbol) {
            (Some(dim), _) => map.dims[dim] = 1,
            (None, Some(symbol)) => map.symbols[symbol] = 1,
            (None, None) => return None,
        }
        Some(map)
    }
}

fn names<'a>(parser: &mut Parser<'a>, open: char, close: char) -> Result<Vec<&'a str>, TextError> {
    parser.list(open, close, |parser| match parser.next()? {
        (Token::Word(name), _) => Ok(name),
        (token, at) => Err(TextError::new(at, format!("expected the name of a variable, found {}", token.shown()))),
    })
}

/// A sum of terms.
fn expression(parser: &mut Parser<'_>, names: &Names<'_>, depth: usize) -> Result<Map, TextError> {
    let mut sum = term(parser, names, depth)?;
    loop {
        let factor = if parser.peek() == Token::Sign('+') {
            1
        } else if parser.peek() == Token::Sign('-') {
            -1
        } else {
            return Ok(sum);
        };
        let (_, at) = parser.next()?;
        let next = scaled(&term(parser, names, depth)?, factor);
        sum = next.and_then(|next| added(&sum, &next)).ok_or_else(|| TextError::new(at, "a map has numbers of more than 64 bits"))?;
    }
}

/// A product, of which at most one factor is no number.
fn term(parser: &mut Parser<'_>, names: &Names<'_>, depth: usize) -> Result<Map, TextError> {
    let mut product = factor(parser, names, depth)?;
    while parser.peek() == Token::Sign('*') {
        let (_, at) = parser.next()?;
        let next = factor(parser, names, depth)?;
        let scaled = match (number(&product), number(&next)) {
            (Some(constant), _) => scaled(&next, constant),
            (None, Some(constant)) => scaled(&product, constant),
            (None, None) => return Err(TextError::new(at, "a map multiplies two variables; it must be linear")),
        };
        product = scaled.ok_or_else(|| TextError::new(at, "a map has numbers of more than 64 bits"))?;
    }
    Ok(product)
}

fn factor(parser: &mut Parser<'_>, names: &Names<'_>, depth: usize) -> Result<Map, TextError> {
    let (token, at) = parser.next()?;
    let Some(inner) = depth.checked_sub(1) else { return Err(TextError::new(at, "a map is nested too deeply")) };
    match token {
        Token::Integer(value) => Ok(names.number(value)),
        Token::Word(name) => {
            names.variable(name).ok_or_else(|| TextError::new(at, format!("'{name}' is no variable of the map; it must be linear in them")))
        }
        Token::Sign('-') => {
            let negated = scaled(&factor(parser, names, inner)?, -1);
            negated.ok_or_else(|| TextError::new(at, "a map has numbers of more than 64 bits"))
        }
        Token::Sign('(') => {
            let inside = expression(parser, names, inner)?;
            parser.sign(')')?;
            Ok(inside)
        }
        token => Err(TextError::new(at, format!("expected a number or a variable, found {}", token.shown()))),
    }
}

fn number(map: &Map) -> Option<i64> {
    map.dims.iter().chain(&map.symbols).all(|factor| *factor == 0).then_some(map.constant)
}

fn scaled(map: &Map, factor: i64) -> Option<Map> {
    let all = |values: &[i64]| values.iter().map(|value| value.checked_mul(factor)).collect::<Option<Vec<_>>>();
    Some(Map { dims: all(&map.dims)?, symbols: all(&map.symbols)?, constant: map.constant.checked_mul(factor)? })
}

fn added(left: &Map, right: &Map) -> Option<Map> {
    let all =
        |left: &[i64], right: &[i64]| left.iter().zip(right).map(|(left, right)| left.checked_add(*right)).collect::<Option<Vec<_>>>();
    Some(Map {
        dims: all(&left.dims, &right.dims)?,
        symbols: all(&left.symbols, &right.symbols)?,
        constant: left.constant.checked_add(right.constant)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Map, String> {
        Parser::new(text).and_then(|mut parser| map(&mut parser)).map_err(|error| error.to_string())
    }

    #[test]
    fn linear_maps_are_read_in_every_spelling() {
        let expected = Map { dims: vec![128, 5], symbols: vec![1], constant: -3 };
        assert_eq!(read("<(d0, d1)[s0] -> (s0 + 128*d0 + d1 * 5 - 3)>"), Ok(expected.clone()));
        assert_eq!(read("<(i, j)[base]->(-(3 - base) + 64 * 2 * i + (j + 4 * j))>"), Ok(expected));
        assert_eq!(read("<(d0) -> (1024 + 128*d0)>"), Ok(Map { dims: vec![128], symbols: vec![], constant: 1024 }));
        assert_eq!(read("<()[s0] -> (s0)>"), Ok(Map { dims: vec![], symbols: vec![1], constant: 0 }));
    }

    #[test]
    fn what_is_not_linear_is_refused() {
        assert_eq!(read("<(d0) -> (d0*d0)>"), Err("1:13: a map multiplies two variables; it must be linear".to_owned()));
        assert_eq!(read("<(d0) -> (d0 mod 2)>"), Err("1:14: expected ')', found 'mod'".to_owned()));
        assert_eq!(read("<(d0) -> (d1)>"), Err("1:11: 'd1' is no variable of the map; it must be linear in them".to_owned()));
        let deep = format!("<(d0) -> ({}d0)>", "-".repeat(100));
        assert!(read(&deep).unwrap_err().ends_with("a map is nested too deeply"));
    }
}
