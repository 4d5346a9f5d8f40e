//! Tokens of `bundle.mlir`.

use super::{Position, TextError};

/// Token, without its sigil.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// Keyword or name of an operation, such as `scf.for`.
    Word(&'a str),
    /// `%name`: a value.
    Value(&'a str),
    /// `@name`: a function.
    Function(&'a str),
    /// `#name`: a map.
    Alias(&'a str),
    /// `!name`: a type.
    Type(&'a str),
    /// Integer.
    Integer(i64),
    /// String, without its quotes.
    Text(&'a str),
    /// `->`
    Arrow,
    /// Any other character.
    Sign(char),
    /// End of the text.
    End,
}

impl Token<'_> {
    /// Formats the token for a message.
    pub(super) fn describe(self) -> String {
        match self {
            Self::Word(name) => format!("'{name}'"),
            Self::Value(name) => format!("'%{name}'"),
            Self::Function(name) => format!("'@{name}'"),
            Self::Alias(name) => format!("'#{name}'"),
            Self::Type(name) => format!("'!{name}'"),
            Self::Integer(value) => format!("'{value}'"),
            Self::Text(text) => format!("\"{text}\""),
            Self::Arrow => "'->'".to_owned(),
            Self::Sign(sign) => format!("'{sign}'"),
            Self::End => "the end of the text".to_owned(),
        }
    }
}

/// Splits a text into tokens, one at a time.
pub(super) struct Lexer<'a> {
    rest: &'a str,
    line: usize,
    column: usize,
}

impl<'a> Lexer<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { rest: text, line: 1, column: 1 }
    }

    /// Returns the next token and its position.
    pub(super) fn next_token(&mut self) -> Result<(Token<'a>, Position), TextError> {
        self.skip_blank();
        let at = Position { line: self.line, column: self.column };
        let Some(first) = self.rest.chars().next() else { return Ok((Token::End, at)) };
        let token = match first {
            '%' => Token::Value(self.lex_name(at)?),
            '@' => Token::Function(self.lex_name(at)?),
            '#' => Token::Alias(self.lex_name(at)?),
            '!' => Token::Type(self.lex_name(at)?),
            '"' => Token::Text(self.lex_string(at)?),
            '0'..='9' => Token::Integer(self.lex_integer(at)?),
            '-' if self.rest.starts_with("->") => {
                self.take(2);
                Token::Arrow
            }
            first if first == '_' || first.is_ascii_alphabetic() => Token::Word(self.take(name_length(self.rest))),
            first => {
                self.take(first.len_utf8());
                Token::Sign(first)
            }
        };
        Ok((token, at))
    }

    fn skip_blank(&mut self) {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            let comment = if self.rest[blank..].starts_with("//") { self.rest[blank..].find('\n') } else { Some(0) };
            match comment {
                Some(0) => {
                    self.take(blank);
                    return;
                }
                Some(length) => self.take(blank + length),
                None => self.take(self.rest.len()),
            };
        }
    }

    /// Returns the name after a sigil.
    fn lex_name(&mut self, at: Position) -> Result<&'a str, TextError> {
        let sigil = self.take(1);
        match name_length(self.rest) {
            0 => Err(TextError::new(at, format!("'{sigil}' must be followed by a name"))),
            length => Ok(self.take(length)),
        }
    }

    fn lex_string(&mut self, at: Position) -> Result<&'a str, TextError> {
        self.take(1);
        match self.rest.find(['"', '\n', '\\']) {
            Some(length) if self.rest[length..].starts_with('"') => {
                let text = self.take(length);
                self.take(1);
                Ok(text)
            }
            Some(length) if self.rest[length..].starts_with('\\') => {
                Err(TextError::new(at, "a string has an escape; none is needed"))
            }
            Some(_) | None => Err(TextError::new(at, "a string has no end on its line")),
        }
    }

    fn lex_integer(&mut self, at: Position) -> Result<i64, TextError> {
        let digits = self.take(self.rest.find(|sign: char| !sign.is_ascii_digit()).unwrap_or(self.rest.len()));
        digits.parse().map_err(|_| TextError::new(at, format!("the number {digits} has more than 64 bits")))
    }

    /// Consumes and returns the first `length` bytes. Columns count bytes, so that a long line is not rescanned for
    /// every token.
    fn take(&mut self, length: usize) -> &'a str {
        let (taken, rest) = self.rest.split_at(length);
        match taken.rfind('\n') {
            Some(last) => {
                self.line += taken.matches('\n').count();
                self.column = taken.len() - last;
            }
            None => self.column += taken.len(),
        }
        self.rest = rest;
        taken
    }
}

fn name_length(text: &str) -> usize {
    text.find(|sign: char| !(sign.is_ascii_alphanumeric() || matches!(sign, '_' | '.' | '$'))).unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lex_words(text: &str) -> Vec<(String, String)> {
        let mut lexer = Lexer::new(text);
        let mut words = Vec::new();
        loop {
            match lexer.next_token().unwrap() {
                (Token::End, _) => return words,
                (token, at) => words.push((token.describe(), at.to_string())),
            }
        }
    }

    #[test]
    fn reports_position_of_words() {
        let found = lex_words("%a = x.y // a note\n\t-> -12 \"s\" #m !t.u @f");
        let viewed: Vec<_> = found.iter().map(|(word, at)| format!("{word} {at}")).collect();
        let expected = [
            "'%a' 1:1",
            "'=' 1:4",
            "'x.y' 1:6",
            "'->' 2:2",
            "'-' 2:5",
            "'12' 2:6",
            "\"s\" 2:9",
            "'#m' 2:13",
            "'!t.u' 2:16",
            "'@f' 2:21",
        ];
        assert_eq!(viewed, expected);
    }

    #[test]
    fn rejects_unknown_characters() {
        let error = |text| Lexer::new(text).next_token().unwrap_err().to_string();
        assert_eq!(error("  %"), "1:3: '%' must be followed by a name");
        assert_eq!(error("\"a\n\""), "1:1: a string has no end on its line");
        assert_eq!(error("99999999999999999999"), "1:1: the number 99999999999999999999 has more than 64 bits");
        assert!(lex_words("// only a comment").is_empty());
    }
}
