//! From words to statements.

use super::affine::{Affine, AffineMap};
use super::lexer::{Position, TextError, Token, words};
use super::{Bundle, Expression, Parameter, SizeBounds, Statement, Value};
use std::collections::BTreeMap;

/// Loops and parentheses may nest so deep; more is no bundle, and would exhaust the stack.
const MAX_DEPTH: usize = 64;

/// Terms and factors of one map; they nest in the expression, so that more would exhaust the stack as well.
const MAX_TERMS: usize = 256;

/// Reads a `bundle.mlir`.
///
/// # Errors
/// The first place that is not of the format.
pub fn parse(text: &str) -> Result<Bundle, TextError> {
    let mut parser = Parser { words: words(text)?, next: 0, maps: BTreeMap::new(), scopes: vec![BTreeMap::new()], n_values: 0, n_terms: 0 };
    parser.module()
}

struct Parser {
    words: Vec<(Token, Position)>,
    next: usize,
    maps: BTreeMap<String, AffineMap>,
    scopes: Vec<BTreeMap<String, Value>>,
    n_values: usize,
    n_terms: usize,
}

type Parsed<T> = Result<T, TextError>;

impl Parser {
    fn module(&mut self) -> Parsed<Bundle> {
        while let Token::Word(name) = self.peek()
            && name.starts_with('#')
        {
            let name = self.word("a map")?;
            self.mark("=")?;
            let map = self.map()?;
            if self.maps.insert(name.clone(), map).is_some() {
                return Err(self.error(format!("'{name}' is defined twice")));
            }
        }
        for word in ["module", "{", "func.func", "@sdsc_bundle", "("] {
            self.expect(word)?;
        }
        let parameters = self.parameters()?;
        self.expect("{")?;
        let body = self.statements(0)?;
        for word in ["return", "}", "}"] {
            self.expect(word)?;
        }
        if *self.peek() == Token::End {
            return Ok(Bundle { parameters, n_values: self.n_values, body });
        }
        let found = self.take();
        Err(self.error(format!("expected the end of the file, found {found}")))
    }

    fn parameters(&mut self) -> Parsed<Vec<Parameter>> {
        let mut parameters = Vec::new();
        while !self.accept(")") {
            if !parameters.is_empty() {
                self.mark(",")?;
            }
            let name = self.word("a parameter")?;
            self.define(&name)?;
            self.mark(":")?;
            let size = self.argument_type()?;
            parameters.push(Parameter { name: name.trim_start_matches('%').to_owned(), size });
        }
        Ok(parameters)
    }

    /// `!sdscbundle.input_arg<index, granularity=64, max_value=1024>`
    fn argument_type(&mut self) -> Parsed<Option<SizeBounds>> {
        for word in ["!sdscbundle.input_arg", "<", "index"] {
            self.expect(word)?;
        }
        let mut size: Option<SizeBounds> = None;
        while self.accept(",") {
            let key = self.word("a bound")?;
            self.mark("=")?;
            let number = self.number()?;
            let bounds = size.get_or_insert_default();
            match key.as_str() {
                "granularity" => bounds.granularity = number,
                "max_value" => bounds.max = number,
                _ => return Err(self.error(format!("unknown bound '{key}'; there are granularity and max_value"))),
            }
        }
        self.mark(">")?;
        Ok(size)
    }

    fn statements(&mut self, depth: usize) -> Parsed<Vec<Statement>> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} nested loops")));
        }
        let mut statements = Vec::new();
        loop {
            match self.peek() {
                Token::Word(word) if word == "scf.for" => statements.push(self.for_loop(depth)?),
                Token::Word(word) if word == "sdscbundle.sdsc_execute" => statements.push(self.execute()?),
                Token::Word(word) if word.starts_with('%') => statements.push(self.definition()?),
                Token::Word(_) | Token::Number(_) | Token::Quoted(_) | Token::Mark(_) | Token::End => return Ok(statements),
            }
        }
    }

    /// `scf.for %i = %lower to %upper step %step {`
    fn for_loop(&mut self, depth: usize) -> Parsed<Statement> {
        self.expect("scf.for")?;
        let name = self.word("an iterator")?;
        self.mark("=")?;
        let lower = self.value()?;
        self.expect("to")?;
        let upper = self.value()?;
        self.expect("step")?;
        let step = self.value()?;
        self.scopes.push(BTreeMap::new());
        let iterator = self.define(&name)?;
        self.expect("{")?;
        let body = self.statements(depth + 1)?;
        self.expect("}")?;
        self.scopes.pop();
        Ok(Statement::For { iterator, lower, upper, step, body })
    }

    /// `sdscbundle.sdsc_execute (%a, %b) {sdsc_filename="sdsc_0.json", "symbol_ids"=[-1, -2]}`
    fn execute(&mut self) -> Parsed<Statement> {
        let line = self.position().line;
        self.expect("sdscbundle.sdsc_execute")?;
        let operands = self.values("(", ")")?;
        self.expect("{")?;
        let (mut file, mut symbols) = (None, None);
        while !self.accept("}") {
            match self.attribute_name()?.as_str() {
                "sdsc_filename" => file = Some(self.quoted()?),
                "symbol_ids" => symbols = Some(self.numbers()?),
                other => return Err(self.error(format!("unknown attribute '{other}'"))),
            }
            self.accept(",");
        }
        let file = file.ok_or_else(|| self.error("the execute has no sdsc_filename".to_owned()))?;
        if let Some(symbols) = &symbols
            && symbols.len() != operands.len()
        {
            return Err(self.error(format!("{} operands but {} symbols", operands.len(), symbols.len())));
        }
        Ok(Statement::Execute { file, operands, symbols, line })
    }

    fn attribute_name(&mut self) -> Parsed<String> {
        let name = match self.take() {
            Token::Word(name) | Token::Quoted(name) => name,
            other @ (Token::Number(_) | Token::Mark(_) | Token::End) => {
                return Err(self.error(format!("expected an attribute, found {other}")));
            }
        };
        self.mark("=")?;
        Ok(name)
    }

    fn definition(&mut self) -> Parsed<Statement> {
        let name = self.word("a value")?;
        self.mark("=")?;
        let op = self.word("an operation")?;
        let expression = match op.as_str() {
            "arith.constant" => Expression::Constant(self.number()?),
            "arith.addi" => {
                let left = self.value()?;
                self.mark(",")?;
                Expression::Add(left, self.value()?)
            }
            "affine.apply" => self.apply()?,
            "sdscbundle.input_arg_extract" => return self.extract(&name),
            "sdscbundle.device_mem_allocate" => {
                let bytes = self.number()?;
                self.expect("bytes")?;
                Expression::Allocate(bytes)
            }
            _ => return Err(self.error(format!("'{op}' is no operation of a bundle"))),
        };
        if !matches!(expression, Expression::Apply { .. }) {
            self.expect(":")?;
            self.expect("index")?;
        }
        Ok(Statement::Define { result: self.define(&name)?, expression })
    }

    /// `sdscbundle.input_arg_extract value from %base : !sdscbundle.input_arg<index> -> index`
    fn extract(&mut self, name: &str) -> Parsed<Statement> {
        self.expect("value")?;
        self.expect("from")?;
        let argument = self.value()?;
        self.mark(":")?;
        self.argument_type()?;
        self.expect("->")?;
        self.expect("index")?;
        Ok(Statement::Define { result: self.define(name)?, expression: Expression::Extract(argument) })
    }

    /// `affine.apply #map(%i)[%base]`
    fn apply(&mut self) -> Parsed<Expression> {
        let map = match self.peek() {
            Token::Word(word) if word == "affine_map" => self.map()?,
            Token::Word(_) | Token::Number(_) | Token::Quoted(_) | Token::Mark(_) | Token::End => {
                let name = self.word("a map")?;
                self.maps.get(&name).cloned().ok_or_else(|| self.error(format!("'{name}' is not defined")))?
            }
        };
        let mut operands = self.values("(", ")")?;
        let n_dims = operands.len();
        if matches!(self.peek(), Token::Mark("[")) {
            operands.extend(self.values("[", "]")?);
        }
        if (n_dims, operands.len() - n_dims) != (map.n_dims, map.n_symbols) {
            return Err(self.error(format!("the map takes {} dimensions and {} symbols", map.n_dims, map.n_symbols)));
        }
        Ok(Expression::Apply { map, operands })
    }

    /// `affine_map<(d0, d1)[s0] -> (s0 + 512*d0 + 64*d1)>`
    fn map(&mut self) -> Parsed<AffineMap> {
        self.expect("affine_map")?;
        self.mark("<")?;
        self.n_terms = 0;
        let mut names = self.names("(", ")")?;
        let n_dims = names.len();
        if matches!(self.peek(), Token::Mark("[")) {
            names.extend(self.names("[", "]")?);
        }
        self.expect("->")?;
        self.expect("(")?;
        let result = self.sum(&names, 0)?;
        self.expect(")")?;
        self.mark(">")?;
        Ok(AffineMap { n_dims, n_symbols: names.len() - n_dims, result })
    }

    fn sum(&mut self, names: &[String], depth: usize) -> Parsed<Affine> {
        let mut left = self.product(names, depth)?;
        loop {
            if self.accept("+") {
                left = Affine::Add(Box::new(left), Box::new(self.product(names, depth)?));
            } else if self.accept("-") {
                let right = Affine::Mul(Box::new(Affine::Constant(-1)), Box::new(self.product(names, depth)?));
                left = Affine::Add(Box::new(left), Box::new(right));
            } else {
                return Ok(left);
            }
        }
    }

    fn product(&mut self, names: &[String], depth: usize) -> Parsed<Affine> {
        let mut left = self.factor(names, depth)?;
        loop {
            let build: fn(Box<Affine>, Box<Affine>) -> Affine = match self.peek() {
                Token::Mark("*") => Affine::Mul,
                Token::Word(word) if word == "floordiv" => Affine::FloorDiv,
                Token::Word(word) if word == "ceildiv" => Affine::CeilDiv,
                Token::Word(word) if word == "mod" => Affine::Mod,
                Token::Word(_) | Token::Number(_) | Token::Quoted(_) | Token::Mark(_) | Token::End => return Ok(left),
            };
            self.take();
            left = build(Box::new(left), Box::new(self.factor(names, depth)?));
        }
    }

    fn factor(&mut self, names: &[String], depth: usize) -> Parsed<Affine> {
        self.n_terms += 1;
        if depth > MAX_DEPTH || self.n_terms > MAX_TERMS {
            return Err(self.error(format!("more than {MAX_DEPTH} nested parentheses or {MAX_TERMS} terms")));
        }
        match self.take() {
            Token::Number(number) => Ok(Affine::Constant(number)),
            Token::Mark("-") => {
                let factor = self.factor(names, depth + 1)?;
                Ok(Affine::Mul(Box::new(Affine::Constant(-1)), Box::new(factor)))
            }
            Token::Mark("(") => {
                let inside = self.sum(names, depth + 1)?;
                self.expect(")")?;
                Ok(inside)
            }
            Token::Word(word) => match names.iter().position(|name| *name == word) {
                Some(index) => Ok(Affine::Operand(index)),
                None => Err(self.error(format!("'{word}' is not defined"))),
            },
            other @ (Token::Quoted(_) | Token::Mark(_) | Token::End) => Err(self.error(format!("expected an operand, found {other}"))),
        }
    }

    fn names(&mut self, open: &'static str, close: &'static str) -> Parsed<Vec<String>> {
        self.list(open, close, |parser| parser.word("a name"))
    }

    fn values(&mut self, open: &'static str, close: &'static str) -> Parsed<Vec<Value>> {
        self.list(open, close, Self::value)
    }

    fn numbers(&mut self) -> Parsed<Vec<i64>> {
        self.list("[", "]", Self::number)
    }

    fn list<T>(&mut self, open: &'static str, close: &'static str, mut item: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        self.mark(open)?;
        let mut items = Vec::new();
        while !self.accept(close) {
            if !items.is_empty() {
                self.mark(",")?;
            }
            items.push(item(self)?);
        }
        Ok(items)
    }

    fn value(&mut self) -> Parsed<Value> {
        let name = self.word("a value")?;
        let known = self.scopes.iter().rev().find_map(|scope| scope.get(&name).copied());
        known.ok_or_else(|| self.error(format!("'{name}' is not defined")))
    }

    fn define(&mut self, name: &str) -> Parsed<Value> {
        if !name.starts_with('%') || self.scopes.iter().any(|scope| scope.contains_key(name)) {
            return Err(self.error(format!("'{name}' is no name of a new value")));
        }
        let value = self.n_values;
        self.n_values += 1;
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_owned(), value);
        }
        Ok(value)
    }

    fn number(&mut self) -> Parsed<i64> {
        let negative = self.accept("-");
        match self.take() {
            Token::Number(number) => Ok(if negative { -number } else { number }),
            other @ (Token::Word(_) | Token::Quoted(_) | Token::Mark(_) | Token::End) => {
                Err(self.error(format!("expected a number, found {other}")))
            }
        }
    }

    fn quoted(&mut self) -> Parsed<String> {
        match self.take() {
            Token::Quoted(text) => Ok(text),
            other @ (Token::Word(_) | Token::Number(_) | Token::Mark(_) | Token::End) => {
                Err(self.error(format!("expected a string, found {other}")))
            }
        }
    }

    fn word(&mut self, what: &str) -> Parsed<String> {
        match self.take() {
            Token::Word(word) => Ok(word),
            other @ (Token::Number(_) | Token::Quoted(_) | Token::Mark(_) | Token::End) => {
                Err(self.error(format!("expected {what}, found {other}")))
            }
        }
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        let found = self.take();
        let same = match &found {
            Token::Word(word) => word == text,
            Token::Mark(mark) => *mark == text,
            Token::Number(_) | Token::Quoted(_) | Token::End => false,
        };
        if same { Ok(()) } else { Err(self.error(format!("expected '{text}', found {found}"))) }
    }

    fn mark(&mut self, mark: &'static str) -> Parsed<()> {
        self.expect(mark)
    }

    fn accept(&mut self, mark: &'static str) -> bool {
        let here = *self.peek() == Token::Mark(mark);
        if here {
            self.next += 1;
        }
        here
    }

    fn peek(&self) -> &Token {
        &self.words[self.next].0
    }

    fn take(&mut self) -> Token {
        let token = self.peek().clone();
        // The end is never passed, so that every look-ahead finds a word.
        self.next = (self.next + 1).min(self.words.len() - 1);
        token
    }

    fn position(&self) -> Position {
        self.words[self.next].1
    }

    /// A fault at the word that was taken last.
    fn error(&self, message: String) -> TextError {
        TextError::new(self.words[self.next.saturating_sub(1)].1, message)
    }
}
