//! Affine expressions, and the maps of `bundle.mlir`: `affine_map<(d0, d1)[s0] -> (s0 + 65536*d0 + 2097152*d1)>`.
//!
//! The grammar is MLIR's, plus `indirect(name)` for front ends.

use super::TextError;
use super::lexer::Token;
use super::token_stream::TokenStream;

/// A number that is linear in dimensions and symbols ("SuperDSC-Bundle specification, `affine.apply`").
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinearMap {
    /// Coefficient of each dimension.
    pub dims: Vec<i64>,
    /// Coefficient of each symbol.
    pub symbols: Vec<i64>,
    /// Constant term.
    pub constant: i64,
}

/// Evaluator of affine expressions during parsing. Only values are kept, so that a long text builds no deep tree.
pub trait AffineEvaluator {
    /// Value of an expression.
    type Value;

    /// Returns the value of an integer literal.
    fn evaluate_number(&self, value: i64) -> Self::Value;

    /// Returns the value of a name.
    ///
    /// # Errors
    /// If the name is undefined.
    fn evaluate_name(&self, name: &str) -> Result<Self::Value, String>;

    /// Returns the value of `indirect(name)`, an element of the index tensor `name`.
    ///
    /// # Errors
    /// If the evaluator does not support indirect expressions.
    fn evaluate_indirect(&self, name: &str) -> Result<Self::Value, String> {
        Err(format!("'indirect({name})' is a value of a tensor, which has no place here"))
    }

    /// Returns the value of a binary expression.
    ///
    /// # Errors
    /// If the evaluator cannot represent the result.
    fn evaluate_operator(
        &self,
        operator: AffineOperator,
        left: Self::Value,
        right: Self::Value,
    ) -> Result<Self::Value, String>;
}

/// Binary operator of affine expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AffineOperator {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `floordiv`, rounded down.
    FloorDiv,
    /// `mod`, never negative.
    Mod,
}

/// Parses a text that is one affine expression.
///
/// # Errors
/// At the first unexpected token, and if the evaluator rejects a subexpression.
pub fn parse_affine<A: AffineEvaluator>(text: &str, of: &A) -> Result<A::Value, TextError> {
    let mut parser = TokenStream::new(text)?;
    let value = parse_expression(&mut parser, of, MAX_DEPTH)?;
    match parser.next()? {
        (Token::End, _) => Ok(value),
        (token, at) => Err(TextError::new(at, format!("expected an operator or the end, found {}", token.describe()))),
    }
}

/// Maximum nesting of parentheses and signs, so that no text overflows the parser's stack.
const MAX_DEPTH: usize = 64;

/// Parses a sum of terms.
fn parse_expression<A: AffineEvaluator>(
    parser: &mut TokenStream<'_>,
    of: &A,
    depth: usize,
) -> Result<A::Value, TextError> {
    let mut sum = parse_term(parser, of, depth)?;
    loop {
        let operator = match parser.peek() {
            Token::Sign('+') => AffineOperator::Add,
            Token::Sign('-') => AffineOperator::Subtract,
            _ => return Ok(sum),
        };
        let (_, at) = parser.next()?;
        let next = parse_term(parser, of, depth)?;
        sum = of.evaluate_operator(operator, sum, next).map_err(|message| TextError::new(at, message))?;
    }
}

/// Parses factors with `*`, `floordiv` and `mod` between them.
fn parse_term<A: AffineEvaluator>(parser: &mut TokenStream<'_>, of: &A, depth: usize) -> Result<A::Value, TextError> {
    let mut product = parse_factor(parser, of, depth)?;
    loop {
        let operator = match parser.peek() {
            Token::Sign('*') => AffineOperator::Multiply,
            Token::Word("floordiv") => AffineOperator::FloorDiv,
            Token::Word("mod") => AffineOperator::Mod,
            _ => return Ok(product),
        };
        let (_, at) = parser.next()?;
        let next = parse_factor(parser, of, depth)?;
        product = of.evaluate_operator(operator, product, next).map_err(|message| TextError::new(at, message))?;
    }
}

fn parse_factor<A: AffineEvaluator>(parser: &mut TokenStream<'_>, of: &A, depth: usize) -> Result<A::Value, TextError> {
    let (token, at) = parser.next()?;
    let Some(inner) = depth.checked_sub(1) else {
        return Err(TextError::new(at, "an expression is nested too deeply"));
    };
    let placed = |message: String| TextError::new(at, message);
    match token {
        Token::Integer(value) => Ok(of.evaluate_number(value)),
        Token::Word("indirect") if parser.accept(Token::Sign('('))? => {
            let (Token::Word(name), _) = parser.next()? else {
                return Err(placed("'indirect(' needs the name of a tensor".to_owned()));
            };
            parser.expect_sign(')')?;
            of.evaluate_indirect(name).map_err(placed)
        }
        Token::Word(name) => of.evaluate_name(name).map_err(placed),
        Token::Sign('-') => {
            let negated = parse_factor(parser, of, inner)?;
            of.evaluate_operator(AffineOperator::Subtract, of.evaluate_number(0), negated).map_err(placed)
        }
        Token::Sign('(') => {
            let inside = parse_expression(parser, of, inner)?;
            parser.expect_sign(')')?;
            Ok(inside)
        }
        token => Err(placed(format!("expected a number, a name or '(', found {}", token.describe()))),
    }
}

/// Parses a map after the keyword `affine_map`.
pub(super) fn parse_map(parser: &mut TokenStream<'_>) -> Result<LinearMap, TextError> {
    parser.expect_sign('<')?;
    let dims = parse_names(parser, '(', ')')?;
    let symbols = if parser.peek() == Token::Sign('[') { parse_names(parser, '[', ']')? } else { Vec::new() };
    parser.expect(Token::Arrow)?;
    parser.expect_sign('(')?;
    let result = parse_expression(parser, &LinearEvaluator { dims, symbols }, MAX_DEPTH)?;
    parser.expect_sign(')')?;
    parser.expect_sign('>')?;
    Ok(result)
}

fn parse_names<'a>(parser: &mut TokenStream<'a>, open: char, close: char) -> Result<Vec<&'a str>, TextError> {
    parser.parse_list(open, close, |parser| match parser.next()? {
        (Token::Word(name), _) => Ok(name),
        (token, at) => Err(TextError::new(at, format!("expected the name of a variable, found {}", token.describe()))),
    })
}

/// Evaluator of expressions that are linear in the given dimensions and symbols.
struct LinearEvaluator<'a> {
    dims: Vec<&'a str>,
    symbols: Vec<&'a str>,
}

impl AffineEvaluator for LinearEvaluator<'_> {
    type Value = LinearMap;

    fn evaluate_number(&self, constant: i64) -> LinearMap {
        LinearMap { dims: vec![0; self.dims.len()], symbols: vec![0; self.symbols.len()], constant }
    }

    fn evaluate_name(&self, name: &str) -> Result<LinearMap, String> {
        let mut map = self.evaluate_number(0);
        let dim = self.dims.iter().position(|known| *known == name);
        let symbol = self.symbols.iter().position(|known| *known == name);
        match (dim, symbol) {
            (Some(dim), _) => map.dims[dim] = 1,
            (None, Some(symbol)) => map.symbols[symbol] = 1,
            (None, None) => return Err(format!("'{name}' is no variable of the map; it must be linear in them")),
        }
        Ok(map)
    }

    fn evaluate_operator(
        &self,
        operator: AffineOperator,
        left: LinearMap,
        right: LinearMap,
    ) -> Result<LinearMap, String> {
        let result = match operator {
            AffineOperator::Add => add_maps(&left, &right),
            AffineOperator::Subtract => scale_map(&right, -1).and_then(|right| add_maps(&left, &right)),
            AffineOperator::Multiply => match (as_constant(&left), as_constant(&right)) {
                (Some(constant), _) => scale_map(&right, constant),
                (None, Some(constant)) => scale_map(&left, constant),
                (None, None) => return Err("a map multiplies two variables; it must be linear".to_owned()),
            },
            AffineOperator::FloorDiv | AffineOperator::Mod => return Err("a map divides; it must be linear".to_owned()),
        };
        result.ok_or_else(|| "a map has numbers of more than 64 bits".to_owned())
    }
}

fn as_constant(map: &LinearMap) -> Option<i64> {
    map.dims.iter().chain(&map.symbols).all(|factor| *factor == 0).then_some(map.constant)
}

fn scale_map(map: &LinearMap, factor: i64) -> Option<LinearMap> {
    let all = |values: &[i64]| values.iter().map(|value| value.checked_mul(factor)).collect::<Option<Vec<_>>>();
    Some(LinearMap { dims: all(&map.dims)?, symbols: all(&map.symbols)?, constant: map.constant.checked_mul(factor)? })
}

fn add_maps(left: &LinearMap, right: &LinearMap) -> Option<LinearMap> {
    let all = |left: &[i64], right: &[i64]| {
        left.iter().zip(right).map(|(left, right)| left.checked_add(*right)).collect::<Option<Vec<_>>>()
    };
    Some(LinearMap {
        dims: all(&left.dims, &right.dims)?,
        symbols: all(&left.symbols, &right.symbols)?,
        constant: left.constant.checked_add(right.constant)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<LinearMap, String> {
        TokenStream::new(text).and_then(|mut parser| parse_map(&mut parser)).map_err(|error| error.to_string())
    }

    #[test]
    fn parses_linear_maps_in_every_spelling() {
        let expected = LinearMap { dims: vec![128, 5], symbols: vec![1], constant: -3 };
        assert_eq!(read("<(d0, d1)[s0] -> (s0 + 128*d0 + d1 * 5 - 3)>"), Ok(expected.clone()));
        assert_eq!(read("<(i, j)[base]->(-(3 - base) + 64 * 2 * i + (j + 4 * j))>"), Ok(expected));
        assert_eq!(
            read("<(d0) -> (1024 + 128*d0)>"),
            Ok(LinearMap { dims: vec![128], symbols: vec![], constant: 1024 })
        );
        assert_eq!(read("<()[s0] -> (s0)>"), Ok(LinearMap { dims: vec![], symbols: vec![1], constant: 0 }));
    }

    #[test]
    fn rejects_nonlinear_expressions() {
        assert_eq!(
            read("<(d0) -> (d0*d0)>"),
            Err("1:13: a map multiplies two variables; it must be linear".to_owned())
        );
        assert_eq!(read("<(d0) -> (d0 mod 2)>"), Err("1:14: a map divides; it must be linear".to_owned()));
        assert_eq!(
            read("<(d0) -> (d1)>"),
            Err("1:11: 'd1' is no variable of the map; it must be linear in them".to_owned())
        );
        let deep = format!("<(d0) -> ({}d0)>", "-".repeat(100));
        assert!(read(&deep).unwrap_err().ends_with("an expression is nested too deeply"));
    }
}
