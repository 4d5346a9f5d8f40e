//! Finds the paths into the crate that a file names.

use std::collections::BTreeMap;

/// Module path, or a path into a module, from the root of the crate: `["layout", "ir"]`.
pub(crate) type Module = Vec<String>;

/// Path that a file names, from the root of the crate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Import {
    pub(crate) path: Module,
    /// Offset in the code.
    pub(crate) offset: usize,
    /// Whether the import is a re-export: `pub use`.
    pub(crate) is_handed_on: bool,
}

/// Paths that a file names, and names that it imports.
#[derive(Clone, Debug, Default)]
pub(crate) struct Imports {
    pub(crate) found: Vec<Import>,
    /// Paths of the names that the `use` declarations of the file introduce.
    pub(crate) names: BTreeMap<String, Module>,
}

/// Token: a word, `::`, or another character, with its offset.
type CodeToken<'a> = (&'a str, usize);

fn tokenize(code: &str) -> Vec<CodeToken<'_>> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(letter) = code[at..].chars().next() {
        let rest = &code[at..];
        let length = if is_word(letter) {
            rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())
        } else if rest.starts_with("::") {
            2
        } else {
            letter.len_utf8()
        };
        if !letter.is_whitespace() {
            found.push((&rest[..length], at));
        }
        at += length;
    }
    found
}

/// Parser of one file.
struct ImportReader<'a> {
    tokens: Vec<CodeToken<'a>>,
    at: usize,
    /// Module that contains the code at `at`.
    module: Module,
    is_module: &'a dyn Fn(&[String]) -> bool,
    is_handed_on: bool,
    imports: Imports,
}

/// Returns every path into the crate that the code of a module names: `use` declarations with their groups expanded,
/// and paths in code that begin with `crate`, `self`, `super`, a child module, or a module that a `use` names.
/// `is_module` distinguishes modules from types and functions.
pub(crate) fn parse_imports(module: Module, code: &str, is_module: &dyn Fn(&[String]) -> bool) -> Imports {
    let mut reader = ImportReader {
        tokens: tokenize(code),
        at: 0,
        module,
        is_module,
        is_handed_on: false,
        imports: Imports::default(),
    };
    reader.collect_uses();
    let (mut depth, mut inline) = (0_usize, Vec::new());
    reader.at = 0;
    while reader.at < reader.tokens.len() {
        match reader.peek_word(0) {
            "{" => depth += 1,
            "}" => {
                depth = depth.saturating_sub(1);
                if inline.last() == Some(&depth) {
                    inline.pop();
                    reader.module.pop();
                }
            }
            "mod" if reader.peek_word(2) == "{" => {
                inline.push(depth);
                reader.module.push(reader.peek_word(1).to_owned());
                depth += 1;
                reader.at += 2;
            }
            "use" if reader.is_declaration() => {
                reader.is_handed_on = reader.at > 0 && ["pub", ")"].contains(&reader.tokens[reader.at - 1].0);
                reader.at += 1;
                reader.parse_tree(Vec::new());
                reader.is_handed_on = false;
                continue;
            }
            _ => reader.parse_path(),
        }
        reader.at += 1;
    }
    reader.imports
}

impl ImportReader<'_> {
    /// Returns the token at distance `ahead` from the current one; the empty word after the end.
    fn peek_word(&self, ahead: usize) -> &str {
        self.tokens.get(self.at + ahead).map_or("", |(word, _)| word)
    }

    /// Returns whether the `use` here is a declaration, and not the `use<'a>` of a type.
    fn is_declaration(&self) -> bool {
        self.peek_word(1) != "<"
    }

    /// Collects the names of all declarations of the file first, so that code before a declaration is resolved, too.
    fn collect_uses(&mut self) {
        while self.at < self.tokens.len() {
            let is_use = self.peek_word(0) == "use" && self.is_declaration();
            self.at += 1;
            if is_use {
                self.parse_tree(Vec::new());
            }
        }
        // The second pass, which knows inline modules, lists the imports.
        self.imports.found.clear();
    }

    /// Parses a `use` tree: `a::{b, c::d as e}`. `path` is its prefix.
    fn parse_tree(&mut self, mut path: Vec<String>) {
        let offset = self.tokens.get(self.at).map_or(0, |(_, offset)| *offset);
        loop {
            let word = self.peek_word(0).to_owned();
            self.at += 1;
            match word.as_str() {
                "{" => return self.parse_group(&path),
                "::" => continue,
                "" => return,
                _ => path.push(word),
            }
            if self.peek_word(0) != "::" {
                let name = (self.peek_word(0) == "as").then(|| self.peek_word(1).to_owned());
                self.at += if name.is_some() { 2 } else { 0 };
                return self.declare(&path, name, offset);
            }
        }
    }

    /// Reads the trees of a group, and its closing brace.
    fn parse_group(&mut self, path: &[String]) {
        loop {
            match self.peek_word(0) {
                "," => self.at += 1,
                "}" | "" => break self.at += 1,
                _ => self.parse_tree(path.to_vec()),
            }
        }
    }

    fn declare(&mut self, path: &[String], name: Option<String>, offset: usize) {
        let path = match path {
            [before @ .., last] if last == "self" || last == "*" => before,
            all => all,
        };
        let Some(path) = self.resolve(path) else { return };
        if let Some(name) = name.or_else(|| path.last().cloned()) {
            self.imports.names.insert(name, path.clone());
        }
        self.imports.found.push(Import { path, offset, is_handed_on: self.is_handed_on });
    }

    /// Reads a path in code, if one begins here, up to its last word.
    fn parse_path(&mut self) {
        let before = |words: usize| self.at.checked_sub(words).map_or("", |at| self.tokens[at].0);
        let is_inside = ["::", "."].contains(&before(1));
        // `pub(in path)` is no import.
        let is_visibility = [before(3), before(2), before(1)] == ["pub", "(", "in"];
        if is_inside || is_visibility || self.peek_word(1) != "::" {
            return;
        }
        let (mut path, offset) = (vec![self.peek_word(0).to_owned()], self.tokens[self.at].1);
        while self.peek_word(1) == "::"
            && self.peek_word(2).starts_with(|letter: char| letter.is_alphabetic() || letter == '_')
        {
            path.push(self.peek_word(2).to_owned());
            self.at += 2;
        }
        if let Some(path) = self.resolve(&path) {
            self.imports.found.push(Import { path, offset, is_handed_on: false });
        }
    }

    /// Returns the path from the root of the crate; `None` if it leads into another crate or begins with a type.
    fn resolve(&self, path: &[String]) -> Option<Module> {
        let (first, rest) = path.split_first()?;
        let mut base = match first.as_str() {
            "crate" => Vec::new(),
            "self" | "super" => self.module.clone(),
            name => {
                let below = [self.module.as_slice(), &[name.to_owned()]].concat();
                let known = self.imports.names.get(name).filter(|path| (self.is_module)(path)).cloned();
                (self.is_module)(&below).then_some(below).or(known)?
            }
        };
        if first == "super" {
            base.pop();
        }
        for word in rest {
            match word.as_str() {
                "super" => drop(base.pop()),
                "self" => {}
                _ => base.push(word.clone()),
            }
        }
        Some(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::RustSource;

    /// Returns the paths that a text of module `a::b` names. `a::b::c` and `d` are modules, too.
    fn parse_paths(text: &str) -> Vec<String> {
        let modules = ["a", "a::b", "a::b::c", "d", "d::e"];
        let is_module = |path: &[String]| modules.contains(&path.join("::").as_str());
        let code = RustSource::new("src/a/b.rs", text).shipped;
        parse_imports(vec!["a".to_owned(), "b".to_owned()], &code, &is_module)
            .found
            .into_iter()
            .map(|import| import.path.join("::"))
            .collect()
    }

    #[test]
    fn expands_groups() {
        assert_eq!(parse_paths("use crate::{d::{self, e::{X, Y as Z}}, a::W};"), ["d", "d::e::X", "d::e::Y", "a::W"]);
        assert_eq!(parse_paths("pub(crate) use crate::d::*; use std::fmt; use machine::{Target, d};"), ["d"]);
    }

    #[test]
    fn finds_paths_in_code() {
        assert_eq!(
            parse_paths("fn f(x: crate::d::X) -> Vec<crate::d::e::Y> { crate::a::g::<T>(x.d::<U>()) }"),
            ["d::X", "d::e::Y", "a::g"]
        );
        assert_eq!(
            parse_paths("fn f() -> impl Iterator<Item = u8> + use<> { std::iter::empty() }"),
            Vec::<String>::new()
        );
        assert_eq!(parse_paths("assert!(crate::d::is_so()); pub(in super::super) fn f() {}"), ["d::is_so"]);
    }

    #[test]
    fn resolves_super_out_of_inline_modules_first() {
        assert_eq!(
            parse_paths(
                "use super::X; use super::super::d::Y; mod inner { use super::Z; fn f() { super::super::W::g() } }"
            ),
            ["a::X", "d::Y", "a::b::Z", "a::W::g"]
        );
    }

    #[test]
    fn starts_paths_at_submodules_and_named_modules() {
        assert_eq!(
            parse_paths("fn f() { c::g(); d::h(); e::k() } use crate::{d, d::e as e};"),
            ["a::b::c::g", "d::h", "d::e::k", "d", "d::e"]
        );
    }

    #[test]
    fn ignores_comments_strings_and_tests() {
        let text = "// crate::d::X\n/* crate::d::X */ fn f() { g(\"crate::d::X\", r#\"crate::d\"#) }\n/// [`crate::d::X`]\nfn h() {}\n\
                    #[cfg(test)]\nmod tests { use crate::d::X; }\n#[cfg(test)]\nuse crate::d::Y;";
        assert_eq!(parse_paths(text), Vec::<String>::new());
    }
}
