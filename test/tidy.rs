//! Rules of the tree, each a test; a failure names the file and line. `docs/reference/testing.md` lists them.

#[path = "tidy/absent.rs"]
mod absent;
#[path = "tidy/citations.rs"]
mod citations;
#[path = "tidy/codes.rs"]
mod codes;
#[path = "tidy/examples.rs"]
mod examples;
#[path = "tidy/figures.rs"]
mod figures;
#[path = "tidy/links.rs"]
mod links;
#[path = "tidy/names.rs"]
mod names;
#[path = "tidy/options.rs"]
mod options;

use crate::common::bless;
use rooms::{HOUSE, RustSource};
use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

const MAX_LINES: usize = 600;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

/// Returns the positions of `word` in `code` at word boundaries.
fn find_word<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |letter: char| letter.is_alphanumeric() || letter == '_';
    code.match_indices(word).map(|(offset, _)| offset).filter(move |&offset| {
        !code[..offset].ends_with(is_part)
            && (!word.ends_with(is_part) || !code[offset + word.len()..].starts_with(is_part))
    })
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read_file(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Lists the files below `folder` with one of the extensions, sorted by name.
fn list_files(folder: &str, extensions: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![root().join(folder)];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extensions.iter().any(|known| extension == *known)) {
                found.push(path.strip_prefix(root()).unwrap_or(&path).to_string_lossy().into_owned());
            }
        }
    }
    found.sort();
    found
}

fn load_sources(folders: &[&str]) -> Vec<RustSource> {
    let sources = RustSource::read_all(root(), folders).expect("sources can be read");
    assert!(!sources.is_empty(), "no sources in {folders:?}");
    sources
}

/// Fails with the list of violations of a rule.
fn expect_none(rule: &str, violations: &[String]) {
    assert!(violations.is_empty(), "{rule}\n  {}\n", violations.join("\n  "));
}

//===----------------------------------------------------------------------===//
// Rule 1: where unsafe code is allowed
//===----------------------------------------------------------------------===//

#[test]
fn confines_unsafe_code_to_mlir_and_dialect_accessors() {
    let mut violations = Vec::new();
    for source in load_sources(&["crates", "src", "tools", "test"])
        .iter()
        .chain(&[RustSource::new("build.rs", &read_file("build.rs"))])
    {
        // A file of `dialect` with accessors declares them itself.
        let has_accessors = source.path.starts_with("src/dialect/") && source.code.contains("unsafe extern");
        // Names of the two entry points of the plugin, and process state that only C provides.
        let is_exempt = ["src/plugin.rs", "test/process.rs"].contains(&source.path.as_str());
        if source.path.starts_with("src/mlir/") || is_exempt || has_accessors {
            continue;
        }
        for word in ["unsafe", "mlir_sys"] {
            violations
                .extend(find_word(&source.code, word).map(|offset| format!("{}: {word}", source.location(offset))));
        }
    }
    expect_none(
        "`unsafe` and `mlir_sys` stand only in src/mlir and in the files of src/dialect that declare C accessors:",
        &violations,
    );
}

//===----------------------------------------------------------------------===//
// Rules 2 and 3: dependencies between modules
//===----------------------------------------------------------------------===//

#[test]
fn imports_only_preceding_packages_and_rooms() {
    let rooms::Rooms { text, wrong } = rooms::read_rooms(root()).unwrap();
    assert!(text.lines().count() > HOUSE.packages.len() + HOUSE.rooms.len(), "{text}");
    expect_none("tools/rooms/src/house.rs says what may import what, and `cargo xtask rooms` what does:", &wrong);
}

#[test]
fn shows_compiler_phases_in_architecture_picture() {
    let viewed = rooms::PHASES.map(|phase| phase.name);
    assert_eq!(viewed, spyre_compiler::phase::Phase::ALL.map(spyre_compiler::phase::Phase::name));
}

#[test]
fn lists_rooms_in_flow_order_in_documents() {
    let quoted = |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let words = |path: &str| read_file(path).split_whitespace().collect::<Vec<_>>().join(" ");
    let (architecture, map) = (words("docs/reference/architecture.md"), read_file("src/README.md"));
    let order = quoted(&HOUSE.order());
    assert!(architecture.contains(&order), "docs/reference/architecture.md does not say: {order}");
    let rows: Vec<&str> =
        map.lines().filter_map(|line| line.strip_prefix("| `")?.split_once('`').map(|(name, _)| name)).collect();
    let stages: Vec<&str> = HOUSE.stages().collect();
    assert!(rows.starts_with(&stages), "src/README.md has other stages than {stages:?}: {rows:?}");
    let is_named = |name: &str| map.contains(&format!("`{name}`")) || map.contains(&format!("`{name}.rs`"));
    let missing: Vec<String> =
        HOUSE.rooms.iter().map(|room| room.name).filter(|name| !is_named(name)).map(str::to_owned).collect();
    expect_none("src/README.md has a row for each room:", &missing);
    let packages = HOUSE.libraries();
    let missing: Vec<String> =
        packages.map(|package| format!("crate `{}`", package.name)).filter(|row| !map.contains(row)).collect();
    expect_none("src/README.md has a row for each crate:", &missing);
    let page = read_file("docs/reference/architecture.md");
    let first =
        |line: &str| line.strip_prefix("| ").and_then(|row| row.split(" | ").next()).unwrap_or_default().to_owned();
    let rows: Vec<String> =
        page.lines().map(first).flat_map(|cell| cell.split(", ").map(str::to_owned).collect::<Vec<_>>()).collect();
    let rooms = HOUSE.rooms.iter().map(|room| format!("`{}`", room.name));
    let crates = HOUSE.libraries().map(|package| format!("crate `{}`", package.name));
    let missing: Vec<String> = rooms.chain(crates).filter(|name| !rows.contains(name)).collect();
    expect_none("docs/reference/architecture.md says of each crate and room what always holds:", &missing);
}

//===----------------------------------------------------------------------===//
// Rule 4: every pass has its tests and its example
//===----------------------------------------------------------------------===//

/// Pass declared in `Passes.td`.
struct DeclaredPass {
    argument: String,
    summary: String,
    description: String,
    /// Location of the file.
    place: String,
    /// The file that implements it, according to the description.
    file: String,
}

impl DeclaredPass {
    fn load_all() -> Vec<Self> {
        let passes: Vec<Self> =
            list_files("dialects/passes", &["td"]).iter().flat_map(|path| Self::from_file(path)).collect();
        assert!(!passes.is_empty(), "no passes in dialects/passes");
        passes
    }

    fn from_file(path: &str) -> Vec<Self> {
        let text = read_file(path);
        text.match_indices(": Spyre_Pass<\"")
            .filter_map(|(offset, opening)| {
                let (argument, rest) = text[offset + opening.len()..].split_once('"')?;
                let body = rest.split_once("\n}").map_or(rest, |(body, _)| body);
                let (_, summary) = body.split_once("let summary = \"")?;
                let (summary, _) = summary.split_once("\";")?;
                let (_, description) = body.split_once("let description = [{")?;
                let (description, _) = description.split_once("}];")?;
                let description = description.split_whitespace().collect::<Vec<_>>().join(" ");
                let file = description
                    .split_once("Implemented in `")
                    .and_then(|(_, file)| file.split_once('`'))
                    .map(|(file, _)| file);
                Some(Self {
                    argument: argument.to_owned(),
                    summary: summary.to_owned(),
                    place: format!("{path}:{}", 1 + text[..offset].matches('\n').count()),
                    file: file.unwrap_or_default().to_owned(),
                    description,
                })
            })
            .collect()
    }

    /// Returns the stage: the pass in `src/layout/ir/propagate_layouts.rs` is of `layout`.
    fn stage(&self) -> &str {
        self.file.strip_prefix("src/").and_then(|file| file.split_once('/')).map_or("", |(stage, _)| stage)
    }

    /// Returns the path of the test without its extension: `test/layout/propagate-layouts`.
    fn test(&self) -> String {
        format!("test/{}/{}", self.stage(), self.argument.trim_start_matches("spyre-"))
    }

    fn example(&self) -> Option<&str> {
        self.description
            .split_once("Example: `")
            .and_then(|(_, example)| example.split_once('`'))
            .map(|(example, _)| example)
    }
}

#[test]
fn implements_every_pass_where_its_description_says() {
    let mut violations = Vec::new();
    for pass in DeclaredPass::load_all() {
        let expected = format!("//! `{}`:", pass.argument);
        let starts = fs::read_to_string(root().join(&pass.file)).is_ok_and(|text| text.starts_with(&expected));
        if !starts {
            violations.push(format!("{}: '{}' is not a file that begins with \"{expected}\"", pass.place, pass.file));
        }
    }
    expect_none(
        "a description says \"Implemented in `src/STAGE/FILE.rs`\", and that file begins with the pass's name:",
        &violations,
    );
}

#[test]
fn describes_passes_in_one_form() {
    let mut violations = Vec::new();
    for pass in DeclaredPass::load_all() {
        if pass.summary.ends_with('.') || !pass.summary.starts_with(char::is_uppercase) {
            violations.push(format!("{}: summary '{}'", pass.place, pass.summary));
        }
        for word in ["No rewrite pattern", "Refuses"] {
            if pass.description.contains(word) {
                violations.push(format!("{}: '{word}' in the description of {}", pass.place, pass.argument));
            }
        }
    }
    expect_none(
        "the summary of a pass is an imperative without a full stop; its description has no history, and lists errors as \"Errors: ...\":",
        &violations,
    );
}

#[test]
fn tests_every_pass() {
    let mut violations = Vec::new();
    for pass in DeclaredPass::load_all() {
        let mut expected = vec![format!("{}.mlir", pass.test())];
        if pass.description.contains("Errors: ") {
            expected.push(format!("{}-invalid.mlir", pass.test()));
        }
        for path in expected {
            match fs::read_to_string(root().join(&path)) {
                Err(_) => violations.push(format!("{}: {} has no {path}", pass.place, pass.argument)),
                Ok(text) if !text.lines().any(|line| line.contains("RUN:") && line.contains(&pass.argument)) => {
                    violations.push(format!("{path}:1: no RUN line names {}", pass.argument));
                }
                Ok(_) => {}
            }
        }
    }
    expect_none("a pass has test/STAGE/NAME.mlir, and NAME-invalid.mlir if its description lists errors:", &violations);
}

#[test]
fn runs_example_of_every_pass() {
    let opt = Path::new(env!("CARGO_BIN_EXE_spyre-opt"));
    let tools = opt.parent().unwrap_or(Path::new("."));
    let mut path = vec![tools.to_path_buf()];
    path.extend(env::split_paths(&env::var_os("PATH").unwrap_or_default()));
    // Examples may write files.
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("examples");
    fs::create_dir_all(&folder).unwrap();
    let mut violations = Vec::new();
    for pass in DeclaredPass::load_all() {
        let Some(example) = pass.example() else {
            violations.push(format!("{}: no \"Example: `spyre-opt ...`\"", pass.place));
            continue;
        };
        let Some(input) = example
            .split_whitespace()
            .find(|word| word.starts_with("test/"))
            .filter(|input| root().join(input).is_file())
        else {
            violations.push(format!("{}: the example names no file of test/: {example}", pass.place));
            continue;
        };
        let command = example.replace(input, &root().join(input).to_string_lossy());
        let shell = Command::new("sh")
            .args(["-c", &command])
            .current_dir(&folder)
            .env("PATH", env::join_paths(&path).unwrap())
            .output();
        let output = shell.expect("sh runs");
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            violations.push(format!("{}: {example}\n    {}", pass.place, errors.lines().next().unwrap_or_default()));
        }
    }
    expect_none("the example of a pass is a command that works on a test file:", &violations);
}

//===----------------------------------------------------------------------===//
// Labelled constraints
//===----------------------------------------------------------------------===//

/// Returns the labels `(matmul_c3)` of a text with their lines; `prefix` precedes a label, for example "(".
fn find_labels(text: &str, prefix: &str) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (index, line) in text.lines().enumerate() {
        for (offset, _) in line.match_indices(prefix) {
            let label: String = line[offset + prefix.len()..]
                .chars()
                .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
                .collect();
            let is_label = label.rsplit_once("_c").is_some_and(|(name, number)| {
                !name.is_empty() && !number.is_empty() && number.chars().all(|digit| digit.is_ascii_digit())
            });
            if is_label {
                found.entry(label).or_insert(index + 1);
            }
        }
    }
    found
}

#[test]
fn has_code_and_test_for_every_constraint() {
    let mut violations = Vec::new();
    for dialect in ["spyre", "sdsc", "sdscbundle", "tm_tensor"] {
        let collect = |extension: &str, prefix: &str| -> BTreeMap<String, String> {
            let paths = list_files(&format!("dialects/{dialect}"), &[extension]);
            let of_file = |path: String| {
                find_labels(&read_file(&path), prefix)
                    .into_iter()
                    .map(move |(label, line)| (label, format!("{path}:{line}")))
            };
            paths.into_iter().flat_map(of_file).collect()
        };
        let (rules, checks) = (collect("td", "("), collect("cpp", "// "));
        let test = format!("test/dialect/{dialect}/invalid.mlir");
        let text = read_file(&test);
        let mut tests = find_labels(&text, "@");
        tests.extend(find_labels(&text, "#"));
        assert!(!rules.is_empty(), "no labels in dialects/{dialect}");
        for (label, place) in &rules {
            if !checks.contains_key(label) {
                violations.push(format!("{place}: no comment '// {label}' in dialects/{dialect}/*.cpp"));
            }
            if !tests.contains_key(label) {
                violations.push(format!("{place}: no case @{label} in {test}"));
            }
        }
        let stale = checks.iter().filter(|(label, _)| !rules.contains_key(*label));
        violations
            .extend(stale.map(|(label, place)| format!("{place}: {label} is in no .td file of dialects/{dialect}")));
    }
    expect_none(
        "a constraint (label) of a .td file is a comment '// label' in the C++ and a case named after it in invalid.mlir:",
        &violations,
    );
}

//===----------------------------------------------------------------------===//
// Rule 5: generated pages, stable output
//===----------------------------------------------------------------------===//

#[test]
fn generated_docs_are_up_to_date() {
    let build = Path::new(env!("SPYRE_BUILT_DIALECTS"));
    let cmake =
        Command::new("cmake").arg("--build").arg(build).args(["--target", "spyre-docs"]).output().expect("cmake runs");
    assert!(
        cmake.status.success(),
        "{}{}",
        String::from_utf8_lossy(&cmake.stdout),
        String::from_utf8_lossy(&cmake.stderr)
    );
    let from_td = |page: &str| {
        (
            format!("docs/reference/generated/{page}"),
            examples::break_long_lines(&fs::read_to_string(build.join("dialects").join(page)).unwrap()),
        )
    };
    let mut pages =
        ["passes.md", "sdsc.md", "sdscbundle.md", "spyre.md", "stablehlo.md", "tm_tensor.md"].map(from_td).to_vec();
    let tests: Vec<(String, String)> = DeclaredPass::load_all()
        .into_iter()
        .map(|pass| (pass.argument.clone(), read_file(&format!("{}.mlir", pass.test()))))
        .collect();
    pages[0].1 = examples::insert_examples(&pages[0].1, &tests);
    pages.push(("docs/reference/supported-ops.md".to_owned(), spyre_compiler::import::supported_ops_page()));
    pages.push(("docs/reference/generated/codes.md".to_owned(), spyre_compiler::codes::render_codes_page()));
    pages.push(("docs/pictures/architecture.svg".to_owned(), rooms::render_architecture()));
    let mut violations = Vec::new();
    for (page, made) in pages {
        let kept: PathBuf = root().join(&page);
        if bless::is_blessed(&page) {
            fs::create_dir_all(kept.parent().unwrap()).unwrap();
            fs::write(&kept, &made).unwrap();
        }
        let found = fs::read_to_string(&kept).unwrap_or_default();
        if let Some(line) = first_difference(&found, &made) {
            violations.push(format!("{page}:{line}"));
        }
    }
    expect_none(
        "a page is not what the .td files, the tests of the passes or the tables of the import say; `cargo xtask docs` writes it:",
        &violations,
    );
}

/// Returns the first line, from 1, in which two texts differ.
fn first_difference(a: &str, b: &str) -> Option<usize> {
    let longest = a.lines().count().max(b.lines().count());
    (0..longest).find(|&line| a.lines().nth(line) != b.lines().nth(line)).map(|line| line + 1)
}

/// Returns whether a literal is the name of an op or attribute of the project.
fn is_ods_name(literal: &str) -> bool {
    let name = literal.split_once('.').filter(|(dialect, _)| ["spyre", "sdsc", "sdscbundle"].contains(dialect));
    name.is_some_and(|(_, name)| {
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_lowercase() || letter == '_')
    })
}

/// Returns whether a literal is an MLIR element type or iterator type; `index` has other meanings, too.
fn is_type_name(literal: &str) -> bool {
    let (letters, digits) =
        literal.split_at(literal.find(|letter: char| letter.is_ascii_digit()).unwrap_or(literal.len()));
    let has_width =
        ["bf", "f", "i", "si", "ui"].contains(&letters) && digits.starts_with(|digit: char| digit.is_ascii_digit());
    let is_quarter = literal.strip_prefix("f8").is_some_and(|rest| rest.is_empty() || rest.starts_with('E'));
    let is_iterator = ["reduction", "parallel", "tensor<"].contains(&literal) || literal.contains("#linalg.");
    (has_width && digits.parse::<u32>().is_ok()) || is_quarter || is_iterator
}

/// Returns the lines of shipped code that contain a literal of this kind.
fn find_names_as_text(
    sources: &[RustSource],
    is_name: impl Fn(&str) -> bool + Copy,
    text: impl Fn(&RustSource) -> String,
) -> Vec<String> {
    let mut found = Vec::new();
    for source in sources {
        let text = text(source);
        let lines = text.lines().zip(source.shipped.lines()).zip(1..);
        let has_name = |line: &str| line.split('"').skip(1).step_by(2).any(is_name);
        let wrong = lines.filter(|((line, shipped), _)| !shipped.trim().is_empty() && has_name(line));
        found.extend(wrong.map(|((line, _), number)| format!("{}:{number}: {}", source.path, line.trim())));
    }
    found
}

/// Folder of the language server, which reads the text of documents, not IR.
const LANGUAGE_SERVER: &str = "src/tool/lsp/";

#[test]
fn takes_op_and_attribute_names_from_ods() {
    let mut sources = load_sources(&["src"]);
    sources.retain(|source| !source.path.starts_with(LANGUAGE_SERVER));
    let found = find_names_as_text(&sources, is_ods_name, |source| read_file(&source.path));
    expect_none("dialect::ods has the names of ops and attributes:", &found);
    let text = "fn f(op: Op) -> bool {\n    // \"spyre.view\"\n    op.is(\"spyre.view\")\n}\n#[cfg(test)]\nmod tests {\n    const A: &str = \"spyre.view\";\n}\n";
    let planted = find_names_as_text(&[RustSource::new("a.rs", text)], is_ods_name, |_| text.to_owned());
    assert_eq!(planted, ["a.rs:3: op.is(\"spyre.view\")"]);
}

#[test]
fn compares_no_type_as_text() {
    let mut sources = load_sources(&[
        "src",
        "crates/element",
        "crates/referee",
        "crates/sdsc-check",
        "crates/sdsc-format",
        "python",
        "capi",
    ]);
    // Definitions of the names, and the only query without a function in MLIR's C interface.
    sources
        .retain(|source| !["crates/machine/src/element_type.rs", "src/mlir/types.rs"].contains(&source.path.as_str()));
    sources.retain(|source| !source.path.starts_with(LANGUAGE_SERVER));
    let found = find_names_as_text(&sources, is_type_name, |source| read_file(&source.path));
    expect_none(
        "`machine::ElementType` and `mlir::ScalarType` say what elements are, `mlir::is_reduction` what a dimension is:",
        &found,
    );
    let text = "fn f(of: Type) -> bool {\n    of.to_string() == \"f16\" || matches!(of, \"i64\" | \"f8E5M2\")\n        || of == \"fold\"\n        || of.contains(\"reduction\")\n}\n";
    let planted = find_names_as_text(&[RustSource::new("a.rs", text)], is_type_name, |_| text.to_owned());
    assert_eq!(planted.len(), 2, "{planted:?}");
}

#[test]
fn lists_no_hash_map() {
    let mut violations = Vec::new();
    for source in load_sources(&["crates", "src", "tools"]).iter().filter(|source| source.path != "src/mlir/op.rs") {
        for word in ["HashMap", "HashSet"] {
            violations
                .extend(find_word(&source.code, word).map(|offset| format!("{}: {word}", source.location(offset))));
        }
    }
    expect_none("use ordered collections: only src/mlir/op.rs has a HashMap, and does not list it:", &violations);
}

//===----------------------------------------------------------------------===//
// Habits
//===----------------------------------------------------------------------===//

#[test]
fn keeps_library_from_printing_and_panicking() {
    let mut sources = load_sources(&["crates", "src"]);
    sources.retain(|source| source.path.starts_with("src/") || source.path.contains("/src/"));
    let mut violations = Vec::new();
    for source in &sources {
        for word in ["println!", "print!", "eprintln!", "eprint!", "dbg!", "todo!", "unimplemented!", "unwrap()"] {
            violations
                .extend(find_word(&source.shipped, word).map(|offset| format!("{}: {word}", source.location(offset))));
        }
    }
    expect_none(
        "the library returns errors and reports through MLIR; printing is for tools, unwrap() for tests:",
        &violations,
    );
}

#[test]
fn keeps_files_short() {
    let rust = ["crates", "src", "tools", "test"].iter().flat_map(|folder| list_files(folder, &["rs"]));
    let paths = rust.chain(list_files("dialects", &["td", "cpp", "h"])).chain(["build.rs".to_owned()]);
    let lengths = paths.map(|path| (read_file(&path).lines().count(), path));
    let violations: Vec<String> =
        lengths.filter(|(lines, _)| *lines > MAX_LINES).map(|(lines, path)| format!("{path}:{lines}")).collect();
    expect_none(&format!("a file has at most {MAX_LINES} lines:"), &violations);
}
