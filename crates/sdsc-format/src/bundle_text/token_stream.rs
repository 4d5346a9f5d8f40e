//! Token stream with one token of lookahead, for the parsers.

use super::lexer::{Lexer, Token};
use super::{Ident, Position, TextError};

/// Text with its next token.
pub(super) struct TokenStream<'a> {
    lexer: Lexer<'a>,
    pub(super) next: (Token<'a>, Position),
}

impl<'a> TokenStream<'a> {
    pub(super) fn new(text: &'a str) -> Result<Self, TextError> {
        let mut lexer = Lexer::new(text);
        let next = lexer.next_token()?;
        Ok(Self { lexer, next })
    }

    pub(super) const fn peek(&self) -> Token<'a> {
        self.next.0
    }

    pub(super) fn next(&mut self) -> Result<(Token<'a>, Position), TextError> {
        let following = self.lexer.next_token()?;
        Ok(std::mem::replace(&mut self.next, following))
    }

    pub(super) fn accept(&mut self, token: Token<'a>) -> Result<bool, TextError> {
        let found = self.peek() == token;
        if found {
            self.next()?;
        }
        Ok(found)
    }

    pub(super) fn expect(&mut self, token: Token<'a>) -> Result<Position, TextError> {
        match self.next()? {
            (found, at) if found == token => Ok(at),
            (found, at) => {
                Err(TextError::new(at, format!("expected {}, found {}", token.describe(), found.describe())))
            }
        }
    }

    pub(super) fn expect_sign(&mut self, sign: char) -> Result<Position, TextError> {
        self.expect(Token::Sign(sign))
    }

    /// Parses a comma-separated list between two delimiters.
    pub(super) fn parse_list<T>(
        &mut self,
        open: char,
        close: char,
        mut item: impl FnMut(&mut Self) -> Result<T, TextError>,
    ) -> Result<Vec<T>, TextError> {
        self.expect_sign(open)?;
        let mut items = Vec::new();
        while self.peek() != Token::Sign(close) {
            if !items.is_empty() {
                self.expect_sign(',')?;
            }
            items.push(item(self)?);
        }
        self.expect_sign(close)?;
        Ok(items)
    }

    pub(super) fn expect_value(&mut self) -> Result<Ident<&'a str>, TextError> {
        match self.next()? {
            (Token::Value(name), at) => Ok(Ident { name, at }),
            (token, at) => Err(TextError::new(at, format!("expected a value, found {}", token.describe()))),
        }
    }

    pub(super) fn expect_integer(&mut self) -> Result<i64, TextError> {
        let is_negative = self.accept(Token::Sign('-'))?;
        match self.next()? {
            (Token::Integer(value), _) => Ok(if is_negative { -value } else { value }),
            (token, at) => Err(TextError::new(at, format!("expected a number, found {}", token.describe()))),
        }
    }

    pub(super) fn expect_string(&mut self) -> Result<&'a str, TextError> {
        match self.next()? {
            (Token::Text(text), _) => Ok(text),
            (token, at) => Err(TextError::new(at, format!("expected a string, found {}", token.describe()))),
        }
    }
}
