//! Checks that both declarations of each function between C++ and Rust agree: in `dialects/bridge/Bridge.h` and in
//! Rust.

#![allow(clippy::unwrap_used, reason = "a test over files")]

use rooms::RustSource;
use std::{collections::BTreeMap, fs, path::Path};

/// Rust types of the parameters and of the result, by the name of the function.
type FunctionDeclarations = BTreeMap<String, (Vec<String>, String)>;

/// C types and the corresponding Rust types.
const TYPES: &[(&str, &str)] = &[
    ("void", "()"),
    ("int", "i32"),
    ("unsigned", "u32"),
    ("intptr_t", "isize"),
    ("int64_t", "i64"),
    ("char", "c_char"),
    ("double", "f64"),
    ("SpyreEvent", "ObservedEvent"),
    ("SpyreContextState", "ContextState"),
    ("SpyreDiagnostic", "RawDiagnostic"),
    ("SpyreOptionText", "OptionText"),
    ("SpyrePassInstance", "RawInstance"),
    ("SpyreSource", "RawSource"),
];

#[test]
fn declares_bridge_identically_in_c_and_rust() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = parse_c_functions(&fs::read_to_string(root.join("dialects/bridge/Bridge.h")).unwrap());
    let files: Vec<String> = RustSource::read_all(root, &["src/mlir", "src/dialect"])
        .unwrap()
        .into_iter()
        .map(|source| fs::read_to_string(root.join(source.path)).unwrap())
        .collect();
    let rust = parse_rust_functions(&files.join("\n"));
    assert!(header.len() > 50, "{} functions", header.len());
    let names = |declarations: &FunctionDeclarations| declarations.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&rust), names(&header));
    for (name, types) in &header {
        assert_eq!(&rust[name], types, "{name}: Rust on the left, C on the right");
    }
}

#[test]
fn declares_c_api_as_defined() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (header, structs) = extract_structs(&strip_comments(&read("include/spyre-c/Compile.h")));
    let code = read("capi/src/lib.rs");
    let defined = code.split("#[unsafe(no_mangle)]").skip(1).map(|rest| {
        let (_, function) = rest.split_once("fn ").unwrap();
        format!("fn {};", function.split_once('{').unwrap().0.trim())
    });
    let aliases: Vec<&str> = code.lines().filter(|line| line.starts_with("pub type ")).collect();
    let rust =
        format!("{}\nunsafe extern \"C\" {{\n{}\n}}", aliases.join("\n"), defined.collect::<Vec<_>>().join("\n"));
    // In C a function pointer may be null, so `Option` is removed in Rust.
    let rust =
        parse_rust_functions(&rust.replace("Option<SpyreMessageHandler>", "SpyreMessageHandler").replace(",\n)", ")"));
    assert_eq!(rust.len(), 7);
    assert_eq!(parse_c_functions(&header), rust, "C on the left, Rust on the right");
    for (name, members) in structs {
        let (_, of_rust) =
            code.split_once(&format!("pub struct {name} {{")).unwrap_or_else(|| panic!("Rust has no {name}"));
        let of_rust = of_rust.split_once('}').unwrap().0.split(',').filter_map(|member| member.trim().split_once(": "));
        let of_rust: Vec<(String, String)> =
            of_rust.map(|(name, of_type)| (name.to_owned(), of_type.replace("c_int", "i32"))).collect();
        assert_eq!(members, of_rust, "{name}: C on the left, Rust on the right");
    }
}

/// Returns a header without `/* ... */`.
fn strip_comments(header: &str) -> String {
    let mut parts = header.split("/*");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| text + part.split_once("*/").unwrap().1)
}

/// Names and types of members, in order.
type StructMembers = Vec<(String, String)>;

/// Returns a header without its structs, and the members of the structs by name.
fn extract_structs(header: &str) -> (String, Vec<(String, StructMembers)>) {
    let (mut text, mut structs) = (String::new(), Vec::new());
    let mut rest = header;
    while let Some((before, at)) = rest.split_once("typedef struct {") {
        let (members, after) = at.split_once('}').unwrap();
        let (name, after) = after.split_once(';').unwrap();
        let members = members.split(';').map(str::trim).filter(|member| !member.is_empty()).map(|member| {
            let (of_type, name) = split_type_and_name(member);
            (name, to_rust_type(&of_type, &BTreeMap::new()))
        });
        structs.push((name.trim().to_owned(), members.collect()));
        text += before;
        rest = after;
    }
    (text + rest, structs)
}

#[test]
fn detects_differing_declarations() {
    let header = "/// A comment (of f).\ntypedef void (*Answer)(MlirStringRef text, bool isError, void *data);\nbool f(const int64_t *sizes, Answer answer);";
    let same = "unsafe extern \"C\" {\n    fn f(sizes: *const i64, answer: unsafe extern \"C\" fn(MlirStringRef, bool, *mut c_void)) -> bool;\n}";
    assert_eq!(parse_c_functions(header), parse_rust_functions(same));
    for (old, new) in [
        ("*const i64", "*mut i64"),
        ("bool, *mut", "*mut"),
        (" -> bool", ""),
        ("fn f(", "fn g("),
        ("-> bool", "-> i32"),
    ] {
        assert_ne!(parse_c_functions(header), parse_rust_functions(&same.replace(old, new)), "{old} -> {new}");
    }
}

/// Returns the functions that a header declares.
fn parse_c_functions(header: &str) -> FunctionDeclarations {
    let code: Vec<&str> = header
        .lines()
        .filter(|line| !line.starts_with(['#', '/']))
        .map(|line| line.split("//").next().unwrap())
        .collect();
    let code = code.join(" ").replace("extern \"C\" {", "").replace('}', "");
    let mut typedefs = BTreeMap::new();
    let mut found = FunctionDeclarations::new();
    for declaration in code.split(';').map(str::trim).filter(|declaration| declaration.contains('(')) {
        match declaration.strip_prefix("typedef ") {
            Some(function) => {
                let (name, pointer) = parse_c_function_pointer(function, &typedefs);
                typedefs.insert(name, pointer);
            }
            None => {
                let (before, parameters) = declaration.split_once('(').unwrap();
                let (result, name) = split_type_and_name(before);
                let parameters = split_list(parameters.strip_suffix(')').unwrap())
                    .into_iter()
                    .map(|parameter| parse_c_parameter(&parameter, &typedefs));
                found.insert(
                    name,
                    (parameters.filter(|parameter| parameter != "()").collect(), to_rust_type(&result, &typedefs)),
                );
            }
        }
    }
    found
}

/// Returns the name and the type of a function pointer, such as `void (*name)(int number)`.
fn parse_c_function_pointer(declaration: &str, typedefs: &BTreeMap<String, String>) -> (String, String) {
    let (result, rest) = declaration.split_once("(*").unwrap();
    let (name, parameters) = rest.split_once(")(").unwrap();
    let parameters: Vec<String> = split_list(parameters.strip_suffix(')').unwrap())
        .iter()
        .map(|parameter| parse_c_parameter(parameter, typedefs))
        .collect();
    let result = to_rust_type(result.trim(), typedefs);
    let result = if result == "()" { String::new() } else { format!(" -> {result}") };
    (name.to_owned(), format!("fn({}){result}", parameters.join(", ")))
}

fn parse_c_parameter(parameter: &str, typedefs: &BTreeMap<String, String>) -> String {
    if parameter.contains("(*") {
        return parse_c_function_pointer(parameter, typedefs).1;
    }
    if parameter == "void" {
        return "()".to_owned();
    }
    to_rust_type(&split_type_and_name(parameter).0, typedefs)
}

/// Splits a declaration such as `const int64_t *sizes` into type and name.
fn split_type_and_name(declared: &str) -> (String, String) {
    let declared = declared.trim();
    let at = declared.rfind([' ', '*']).unwrap_or_else(|| panic!("no name in '{declared}'"));
    let (of_type, name) = declared.split_at(at + 1);
    (of_type.trim().to_owned(), name.to_owned())
}

fn to_rust_type(of_type: &str, typedefs: &BTreeMap<String, String>) -> String {
    let base = of_type.trim_end_matches(['*', ' ']);
    let num_pointers = of_type.matches('*').count();
    let (is_const, base) = base.strip_prefix("const ").map_or((false, base), |base| (true, base));
    let base = match TYPES.iter().find(|(c, _)| *c == base) {
        Some(("void", _)) if num_pointers > 0 => "c_void",
        Some((_, rust)) => rust,
        None => typedefs.get(base).map_or(base, String::as_str),
    };
    // `const` applies to the pointee of the innermost pointer.
    (0..num_pointers).fold(base.to_owned(), |pointee, depth| {
        format!("*{} {pointee}", if is_const && depth == 0 { "const" } else { "mut" })
    })
}

/// Returns the functions of the `extern` blocks of Rust code.
fn parse_rust_functions(code: &str) -> FunctionDeclarations {
    let aliases: BTreeMap<&str, String> = code
        .lines()
        .filter_map(|line| line.split("type ").nth(1)?.strip_suffix(';')?.split_once(" = unsafe extern \"C\" "))
        .map(|(name, function)| (name, function.to_owned()))
        .collect();
    let mut found = FunctionDeclarations::new();
    for block in code.split("unsafe extern \"C\" {").skip(1) {
        let block: Vec<&str> = block.split("\n}").next().unwrap().split_whitespace().collect();
        for declaration in block.join(" ").split(';').map(str::trim).filter(|declaration| !declaration.is_empty()) {
            let (_, function) = declaration.split_once("fn ").unwrap();
            let (name, rest) = function.split_once('(').unwrap();
            let end = find_closing_parenthesis(rest);
            let type_of = |parameter: &String| {
                let of_type = parameter
                    .split_once(':')
                    .unwrap()
                    .1
                    .trim()
                    .replace("unsafe extern \"C\" ", "")
                    .replace("c_int", "i32");
                aliases.iter().fold(of_type, |of_type, (name, function)| of_type.replace(name, function))
            };
            let result = rest[end + 1..].trim().strip_prefix("-> ").unwrap_or("()").replace("c_int", "i32");
            let known = found.insert(name.to_owned(), (split_list(&rest[..end]).iter().map(type_of).collect(), result));
            assert_eq!(known, None, "{name} is declared twice");
        }
    }
    found
}

/// Returns the offset of the parenthesis that closes the one open at the start of the text.
fn find_closing_parenthesis(text: &str) -> usize {
    let mut depth = 1;
    let end = text.char_indices().find(|(_, character)| {
        depth += i32::from(*character == '(') - i32::from(*character == ')');
        depth == 0
    });
    end.unwrap_or_else(|| panic!("no end in '{text}'")).0
}

/// Splits a list at the commas outside of parentheses.
fn split_list(list: &str) -> Vec<String> {
    let mut parts = vec![String::new()];
    let mut depth = 0;
    for character in list.chars() {
        depth += i32::from(character == '(') - i32::from(character == ')');
        match character {
            ',' if depth == 0 => parts.push(String::new()),
            _ => parts.last_mut().unwrap().push(character),
        }
    }
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}
