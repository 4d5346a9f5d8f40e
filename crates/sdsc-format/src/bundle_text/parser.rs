//! Parser of `bundle.mlir`.

use super::lexer::Token;
use super::token_stream::TokenStream;
use super::{
    BundleText, Execute, ForLoop, Ident, MapRef, Param, ParamField, ParamType, Stmt, StmtKind, TextError, affine,
};

/// Maximum depth of a loop nest, so that no text overflows the parser's stack.
const MAX_LOOP_DEPTH: usize = 64;

/// Parses the text of a `bundle.mlir`.
///
/// # Errors
///
/// At the first unexpected token.
pub fn parse(text: &str) -> Result<BundleText<&str>, TextError> {
    let mut parser = TokenStream::new(text)?;
    let mut bundle = BundleText::default();
    parser.parse_aliases(&mut bundle)?;
    let in_module = parser.accept(Token::Word("module"))?;
    if in_module {
        if let Token::Function(_) = parser.peek() {
            parser.next()?;
        }
        parser.expect_sign('{')?;
    }
    parser.parse_function(&mut bundle)?;
    if in_module {
        parser.expect_sign('}')?;
    }
    parser.parse_aliases(&mut bundle)?;
    match parser.next()? {
        (Token::End, _) => Ok(bundle),
        (token, at) => Err(TextError::new(
            at,
            format!("expected the end of the text, found {}; a bundle has one function", token.describe()),
        )),
    }
}

/// Returns whether the function of a text is in a module.
///
/// # Errors
///
/// If the text does not begin with tokens of a bundle.
pub fn has_module(text: &str) -> Result<bool, TextError> {
    let mut parser = TokenStream::new(text)?;
    parser.parse_aliases(&mut BundleText::default())?;
    parser.accept(Token::Word("module"))
}

impl<'a> TokenStream<'a> {
    fn parse_aliases(&mut self, bundle: &mut BundleText<&'a str>) -> Result<(), TextError> {
        while let Token::Alias(name) = self.peek() {
            let (_, at) = self.next()?;
            self.expect_sign('=')?;
            self.expect(Token::Word("affine_map"))?;
            bundle.maps.push((Ident { name, at }, affine::parse_map(self)?));
        }
        Ok(())
    }

    fn parse_function(&mut self, bundle: &mut BundleText<&'a str>) -> Result<(), TextError> {
        self.expect(Token::Word("func.func"))?;
        match self.next()? {
            (Token::Function(name), at) => bundle.function = Ident { name, at },
            (token, at) => {
                return Err(TextError::new(
                    at,
                    format!("expected the name of the function, found {}", token.describe()),
                ));
            }
        }
        bundle.params = self.parse_list('(', ')', |parser| {
            let name = parser.expect_value()?;
            parser.expect_sign(':')?;
            Ok(Param { name, kind: parser.parse_param_type()? })
        })?;
        self.expect_sign('{')?;
        while self.peek() != Token::Word("return") {
            let statement = self.parse_statement(MAX_LOOP_DEPTH)?;
            bundle.body.push(statement);
        }
        self.next()?;
        self.expect_sign('}')?;
        Ok(())
    }

    fn parse_param_type(&mut self) -> Result<ParamType, TextError> {
        match self.next()? {
            (Token::Word("index"), _) => Ok(ParamType::Index),
            (Token::Type("sdscbundle.input_arg"), _) => self.parse_input_arg(),
            (token, at) => Err(TextError::new(
                at,
                format!("expected 'index' or '!sdscbundle.input_arg', found {}", token.describe()),
            )),
        }
    }

    fn parse_input_arg(&mut self) -> Result<ParamType, TextError> {
        let (mut granularity, mut max) = (None, None);
        self.expect_sign('<')?;
        self.expect(Token::Word("index"))?;
        while self.accept(Token::Sign(','))? {
            let (token, at) = self.next()?;
            self.expect_sign('=')?;
            let bound = Some(self.expect_integer()?);
            match token {
                Token::Word("granularity") => granularity = bound,
                Token::Word("max_value") => max = bound,
                token => {
                    return Err(TextError::new(
                        at,
                        format!("expected 'granularity' or 'max_value', found {}", token.describe()),
                    ));
                }
            }
        }
        self.expect_sign('>')?;
        Ok(ParamType::InputArg { granularity, max })
    }

    fn parse_statement(&mut self, loops_left: usize) -> Result<Stmt<&'a str>, TextError> {
        let at = self.next.1;
        let kind = match self.peek() {
            Token::Value(_) => self.parse_definition()?,
            Token::Word("sdscbundle.sdsc_execute") => StmtKind::Execute(self.parse_execute()?),
            Token::Word("scf.for") => StmtKind::For(self.parse_loop(loops_left)?),
            token => return Err(TextError::new(at, format!("expected a statement, found {}", token.describe()))),
        };
        Ok(Stmt { at, kind })
    }

    fn parse_definition(&mut self) -> Result<StmtKind<&'a str>, TextError> {
        let result = self.expect_value()?;
        self.expect_sign('=')?;
        match self.next()? {
            (Token::Word("sdscbundle.device_mem_allocate"), _) => {
                let bytes = self.expect_integer()?;
                self.expect(Token::Word("bytes"))?;
                self.expect_index_type()?;
                Ok(StmtKind::Allocate { result, bytes })
            }
            (Token::Word("sdscbundle.input_arg_extract"), _) => self.parse_extract(result),
            (Token::Word("arith.constant"), _) => {
                let value = self.expect_integer()?;
                self.expect_index_type()?;
                Ok(StmtKind::Constant { result, value })
            }
            (Token::Word("arith.addi"), _) => {
                let left = self.expect_value()?;
                self.expect_sign(',')?;
                let operands = [left, self.expect_value()?];
                self.expect_index_type()?;
                Ok(StmtKind::Add { result, operands })
            }
            (Token::Word("affine.apply"), _) => self.parse_apply(result),
            (token, at) => Err(TextError::new(at, format!("a bundle has no operation {}", token.describe()))),
        }
    }

    /// Parses `: index`.
    fn expect_index_type(&mut self) -> Result<(), TextError> {
        self.expect_sign(':')?;
        self.expect(Token::Word("index"))?;
        Ok(())
    }

    fn parse_extract(&mut self, result: Ident<&'a str>) -> Result<StmtKind<&'a str>, TextError> {
        let field = match self.next()? {
            (Token::Word("value"), _) => ParamField::Value,
            (Token::Word("granularity"), _) => ParamField::Granularity,
            (Token::Word("max_value"), _) => ParamField::Max,
            (token, at) => {
                return Err(TextError::new(
                    at,
                    format!("expected 'value', 'granularity' or 'max_value', found {}", token.describe()),
                ));
            }
        };
        self.expect(Token::Word("from"))?;
        let parameter = self.expect_value()?;
        self.expect_sign(':')?;
        let parameter_type = self.parse_param_type()?;
        self.expect(Token::Arrow)?;
        self.expect(Token::Word("index"))?;
        Ok(StmtKind::Extract { result, field, parameter, parameter_type })
    }

    fn parse_apply(&mut self, result: Ident<&'a str>) -> Result<StmtKind<&'a str>, TextError> {
        let map = match self.next()? {
            (Token::Alias(name), at) => MapRef::Named(Ident { name, at }),
            (Token::Word("affine_map"), _) => MapRef::Inline(affine::parse_map(self)?),
            (token, at) => return Err(TextError::new(at, format!("expected a map, found {}", token.describe()))),
        };
        let dims = self.parse_list('(', ')', Self::expect_value)?;
        let symbols =
            if self.peek() == Token::Sign('[') { self.parse_list('[', ']', Self::expect_value)? } else { Vec::new() };
        Ok(StmtKind::Apply { result, map, dims, symbols })
    }

    fn parse_execute(&mut self) -> Result<Execute<&'a str>, TextError> {
        self.next()?;
        let operands = self.parse_list('(', ')', Self::expect_value)?;
        let at = self.next.1;
        let (mut file, mut symbol_ids) = (None, None);
        self.parse_list('{', '}', |parser| {
            let (name, at) = match parser.next()? {
                (Token::Word(name) | Token::Text(name), at) => (name, at),
                (token, at) => {
                    return Err(TextError::new(at, format!("expected an attribute, found {}", token.describe())));
                }
            };
            parser.expect_sign('=')?;
            match name {
                "sdsc_filename" if file.is_none() => file = Some(parser.expect_string()?),
                "symbol_ids" if symbol_ids.is_none() => {
                    symbol_ids = Some(parser.parse_list('[', ']', Self::expect_integer)?)
                }
                _ => return Err(TextError::new(at, format!("unknown or repeated attribute '{name}'"))),
            }
            Ok(())
        })?;
        let file =
            file.ok_or_else(|| TextError::new(at, "no attribute 'sdsc_filename'; it names the file of the op"))?;
        Ok(Execute { operands, file, symbol_ids })
    }

    fn parse_loop(&mut self, loops_left: usize) -> Result<ForLoop<&'a str>, TextError> {
        let (_, at) = self.next()?;
        let Some(inner) = loops_left.checked_sub(1) else {
            return Err(TextError::new(at, "loops are nested too deeply"));
        };
        let counter = self.expect_value()?;
        self.expect_sign('=')?;
        let lower = self.expect_value()?;
        self.expect(Token::Word("to"))?;
        let upper = self.expect_value()?;
        self.expect(Token::Word("step"))?;
        let step = self.expect_value()?;
        self.expect_sign('{')?;
        let mut body = Vec::new();
        while !self.accept(Token::Sign('}'))? {
            body.push(self.parse_statement(inner)?);
        }
        Ok(ForLoop { counter, lower, upper, step, body })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Position;
    use super::*;

    const TEXT: &str = "
#map_0 = affine_map<(d0)[s0] -> (s0 + 128*d0)>
module {
  func.func @sdsc_bundle(%a: !sdscbundle.input_arg<index>, %s: !sdscbundle.input_arg<index, granularity = 64, max_value=1024>,
                         %n: index) {
    %pool = sdscbundle.device_mem_allocate 65536 bytes : index
    %x = sdscbundle.input_arg_extract value from %a : !sdscbundle.input_arg<index> -> index
    %m = sdscbundle.input_arg_extract max_value from %s : !sdscbundle.input_arg<index, max_value=1024> -> index
    %c = arith.constant -4 : index // a note
    %y = arith.addi %x, %c : index
    scf.for %i = %c to %c step %c {
      %z = affine.apply #map_0(%i)[%y]
      %w = affine.apply affine_map<(d0) -> (7*d0)> (%i)
      sdscbundle.sdsc_execute (%z, %w) { \"sdsc_filename\" = \"sdsc_0.json\" , symbol_ids=[ -1,-2 ] }
    }
    sdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_1.json\"}
    return
  }
}
";

    #[test]
    fn parses_every_statement() {
        let bundle = parse(TEXT).unwrap();
        assert_eq!((bundle.maps.len(), bundle.params.len(), bundle.body.len()), (1, 3, 7));
        assert_eq!(bundle.params[1].kind, ParamType::InputArg { granularity: Some(64), max: Some(1024) });
        let StmtKind::For(counted) = &bundle.body[5].kind else { panic!("{:?}", bundle.body[5]) };
        let StmtKind::Execute(execute) = &counted.body[2].kind else { panic!("{:?}", counted.body[2]) };
        assert_eq!((execute.file, execute.symbol_ids.as_deref()), ("sdsc_0.json", Some([-1, -2].as_slice())));
        assert_eq!(execute.operands[1].at.to_string(), "14:36");
        let StmtKind::Execute(last) = &bundle.body[6].kind else { panic!("{:?}", bundle.body[6]) };
        assert_eq!(last.symbol_ids, None);
    }

    #[test]
    fn reports_position_of_error() {
        let error = |from: &str, to: &str| parse(&TEXT.replacen(from, to, 1)).unwrap_err().to_string();
        assert_eq!(error("bytes", "byte"), "6:50: expected 'bytes', found 'byte'");
        assert_eq!(error("arith.addi", "arith.muli"), "10:10: a bundle has no operation 'arith.muli'");
        assert_eq!(error("return", "}"), "17:5: expected a statement, found '}'");
        assert_eq!(error("symbol_ids", "symbols"), "14:76: unknown or repeated attribute 'symbols'");
        assert_eq!(
            error(" symbol_ids=[ -1,-2 ] ", " sdsc_filename=\"a\""),
            "14:76: unknown or repeated attribute 'sdsc_filename'"
        );
        assert!(parse("").unwrap_err().to_string().starts_with("1:1: expected 'func.func'"));
        let twice = format!("{TEXT}{TEXT}");
        assert!(parse(&twice).unwrap_err().to_string().ends_with("found 'module'; a bundle has one function"));
    }

    #[test]
    fn accepts_bundle_without_module() {
        let empty =
            BundleText { function: Ident { name: "f", at: Position { line: 1, column: 11 } }, ..BundleText::default() };
        assert_eq!(parse("func.func @f() { return }").unwrap(), empty);
        let deep = format!("func.func @f() {{ {} return }}", "scf.for %i = %a to %b step %c {".repeat(100));
        assert!(parse(&deep).unwrap_err().to_string().ends_with("loops are nested too deeply"));
    }
}
