//! The words of a `bundle.mlir`.

/// A place in the text, both from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// What is wrong, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl TextError {
    pub(super) fn new(position: Position, message: impl Into<String>) -> Self {
        Self { line: position.line, column: position.column, message: message.into() }
    }
}

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `module`, `func.func`, `!sdscbundle.input_arg`, `%value`, `#map`, `@symbol`: with the sign in front.
    Word(String),
    /// A number.
    Number(i64),
    /// The text between quotes.
    Quoted(String),
    /// One of the punctuation marks.
    Mark(&'static str),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Word(word) => write!(formatter, "'{word}'"),
            Self::Number(number) => write!(formatter, "'{number}'"),
            Self::Quoted(text) => write!(formatter, "\"{text}\""),
            Self::Mark(mark) => write!(formatter, "'{mark}'"),
            Self::End => formatter.write_str("the end of the file"),
        }
    }
}

const MARKS: [&str; 15] = ["->", "(", ")", "{", "}", "[", "]", "<", ">", ",", ":", "=", "+", "*", "-"];

/// The words of a text, each with its place.
pub(super) fn words(text: &str) -> Result<Vec<(Token, Position)>, TextError> {
    let mut words = Vec::new();
    let mut position = Position::default();
    for (index, line) in text.lines().enumerate() {
        let mut rest = line;
        loop {
            rest = rest.trim_start();
            position = Position { line: index + 1, column: line.len() - rest.len() + 1 };
            if rest.is_empty() || rest.starts_with("//") {
                break;
            }
            let (token, length) = word(rest, position)?;
            words.push((token, position));
            rest = &rest[length..];
        }
    }
    words.push((Token::End, position));
    Ok(words)
}

fn word(rest: &str, position: Position) -> Result<(Token, usize), TextError> {
    let first = rest.chars().next().unwrap_or_default();
    if let Some(text) = rest.strip_prefix('"') {
        let length = text.find('"').ok_or_else(|| TextError::new(position, "the string does not end on its line"))?;
        return Ok((Token::Quoted(text[..length].to_owned()), length + 2));
    }
    if first.is_ascii_digit() {
        let length = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let number = rest[..length].parse().map_err(|_| TextError::new(position, "the number does not fit 64 bits"))?;
        return Ok((Token::Number(number), length));
    }
    if first.is_ascii_alphabetic() || "%#@!_".contains(first) {
        let length = 1 + rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && !"_.$".contains(c)).unwrap_or(rest.len() - 1);
        return Ok((Token::Word(rest[..length].to_owned()), length));
    }
    match MARKS.into_iter().find(|mark| rest.starts_with(mark)) {
        Some(mark) => Ok((Token::Mark(mark), mark.len())),
        None => Err(TextError::new(position, format!("unexpected character {first:?}"))),
    }
}
