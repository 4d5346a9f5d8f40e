//! `cargo xtask new-pass`: creates the skeleton of a pass.

use crate::step;
use std::fs;

pub(crate) fn run(stage: &str, argument: &str) -> Result<(), String> {
    let root = step::root();
    let words = argument.strip_prefix("spyre-").filter(|words| words.split('-').all(is_word));
    let Some(words) = words else {
        return Err(format!("a pass is 'spyre-' and words in lower case, found '{argument}'"));
    };
    if !root.join("src").join(stage).is_dir() {
        return Err(format!("no stage '{stage}': there is no folder src/{stage}"));
    }
    let module = words.replace('-', "_");
    let def: String = argument.split('-').map(capitalised).collect();
    let files = [
        (format!("src/{stage}/ir/{module}.rs"), source_text(argument)),
        (format!("test/{stage}/{words}.mlir"), test_text(argument)),
        (format!("test/{stage}/{words}-invalid.mlir"), invalid_test_text(argument)),
    ];
    for (path, _) in &files {
        if root.join(path).exists() {
            return Err(format!("{path} exists"));
        }
    }
    for (path, text) in &files {
        let path = root.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    println!("wrote {}", files.map(|(path, _)| path).join(", "));
    let rows = [
        (format!("src/{stage}/ir/mod.rs"), format!("pub(crate) mod {module};")),
        ("src/pipeline/mod.rs".to_owned(), format!("{stage}::ir::{module}::PASS in PASSES")),
        (
            "src/pipeline/steps.rs".to_owned(),
            format!("PipelineStep::from_pass({module}::PASS), in the phase that runs it"),
        ),
        ("src/README.md".to_owned(), format!("`{argument}` in the row of the stage '{stage}'")),
        (format!("dialects/passes/{}", declaring_file(stage)), "the declaration:".to_owned()),
    ];
    println!("\nadd:");
    for (path, row) in rows {
        println!("  {path:<34}{row}");
    }
    println!(
        "\n{}\nthen docs/guides/write-a-pass.md, steps 3 to 8; the tests fail until the pass is written",
        declaration_text(&def, argument, stage, words, &module)
    );
    Ok(())
}

/// Returns the `.td` file that declares the passes of a stage.
fn declaring_file(stage: &str) -> &'static str {
    match stage {
        "import" | "layout" => "ProgramPasses.td",
        "kernel" => "KernelPasses.td",
        _ => "PlanPasses.td",
    }
}

fn is_word(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit())
}

fn capitalised(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect()
}

fn source_text(argument: &str) -> String {
    format!(
        "//! `{argument}`: verb and object, in half a line.\n\
         //!\n\
         //! Reads ... and writes .... Rejects ....\n\
         \n\
         use crate::{{\n\
         \x20   codes,\n\
         \x20   mlir::{{ErrorReported, Op, Pass, PassOptions, error_at}},\n\
         }};\n\
         \n\
         pub(crate) const PASS: Pass = Pass {{ argument: \"{argument}\", run }};\n\
         \n\
         fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {{\n\
         \x20   // Read the module, call plain functions of this stage, write the result back.\n\
         \x20   Err(error_at(codes::INTERNAL, module, \"pass '{argument}' is not written yet\").report())\n\
         }}\n"
    )
}

fn test_text(argument: &str) -> String {
    format!(
        "// RUN: spyre-opt %s --{argument} | FileCheck %s\n\
         \n\
         // CHECK-LABEL: func.func @keeps_invariant\n\
         func.func @keeps_invariant() {{\n\
         \x20 return\n\
         }}\n"
    )
}

fn invalid_test_text(argument: &str) -> String {
    format!(
        "// RUN: spyre-opt %s --{argument} --split-input-file --verify-diagnostics\n\
         \n\
         func.func @rejects_input() {{\n\
         \x20 // expected-error @+1 {{{{the message}}}}\n\
         \x20 return\n\
         }}\n"
    )
}

fn declaration_text(def: &str, argument: &str, stage: &str, words: &str, module: &str) -> String {
    format!(
        "def {def} : Spyre_Pass<\"{argument}\"> {{\n\
         \x20 let summary = \"...\";\n\
         \x20 let description = [{{\n\
         \x20   Decides ...; reads ...; writes ....\n\
         \n\
         \x20   Errors: ....\n\
         \n\
         \x20   Implemented in `src/{stage}/ir/{module}.rs`.\n\
         \n\
         \x20   Example: `spyre-opt --{argument} test/{stage}/{words}.mlir`\n\
         \x20 }}];\n\
         \x20 let dependentDialects = [\"::spyre::SpyreDialect\"];\n\
         }}\n"
    )
}
