//! Commands for developers of the project; `cargo xtask` lists them.
//!
//! They require only a Rust toolchain: `setup` installs all other dependencies.

mod book;
mod demo;
mod docs;
mod editor;
mod fuzz;
mod models;
mod mutants;
mod mutate_passes;
mod new_pass;
mod nightly;
mod package;
mod pages;
mod plans;
mod plugin;
mod python;
mod release;
mod rooms;
mod setup;
mod step;
mod test;

use std::{env, process::ExitCode};

const HELP: &str = "\
usage: cargo xtask COMMAND

  setup                      install what is missing: MLIR 22, CMake, Ninja (Debian and Ubuntu)
  demo                       setup, build, and compile examples/softmax.mlir
  test                       setup, and every test and check; what CI runs
  docs                       write docs/reference/generated and docs/reference/supported-ops.md again, from the .td files and the import's tables
  book                       make a site of the pages of docs, with mdBook
  rooms                      print the packages and the rooms of src with their imports; fails on one that should not be
  plans [OPTION...]          write the table of HBM bytes in docs/measurements/performance.md again; with options of spyre-compile only print it
  models FOLDER              write the tables of docs/measurements/models.md again, of the exported programs in a folder
  mutants [PROGRAM]          change every field of emitted files and write the table of what finds it in docs/measurements/mutants.md
  fuzz TARGET MINUTES        change files as coverage leads, and give them to what reads them; the targets are those of test/hostile.rs
  plugin                     build the plugin for a stock mlir-opt
  man FOLDER                 write the man pages of the tools
  completions FOLDER         write what bash, zsh and fish complete the options of the tools by
  install PREFIX             install the dialects and the C library where CMake's find_package(SpyreMlir) finds them, the language server,
                             and the extension for VS Code
  editor                     pack the extension for VS Code, and print the command that installs it
  nightly [NUMBER]           the long checks beside CI: all mutants, random programs of this night, exported models (hours)
  release [--check] [TAG]    everything of a release but its upload, in target/release-VERSION; with --check only look at the changelog
  wheel                      build the Python package, and try it in an environment of its own
  mutate-passes [N [FROM [TO]]]
                             break N sampled lines of the passes one at a time, and say which the tests do not notice (hours)
  new-pass STAGE ARGUMENT    write the skeleton of a pass, for example: new-pass work spyre-balance-cores
";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        ["setup"] => setup::run(),
        ["demo"] => demo::run(),
        ["test"] => test::run(),
        ["docs"] => docs::run(),
        ["book"] => book::run(),
        ["rooms"] => rooms::run(),
        ["models", folder] => models::run(folder),
        ["mutants"] => mutants::run(None),
        ["mutants", program] => mutants::run(Some(program)),
        ["plans", options @ ..] => plans::run(options),
        ["fuzz", target, minutes] => fuzz::run(target, minutes),
        ["plugin"] => plugin::run(),
        [kind @ ("man" | "completions"), folder] => pages::run(kind, folder),
        ["install", prefix] => package::run(prefix),
        ["wheel"] => python::build_wheel().map(drop),
        ["editor"] => editor::run(),
        ["nightly"] => nightly::run(None),
        ["nightly", number] => nightly::run(Some(number)),
        ["release", words @ ..] => release::run(words),
        ["mutate-passes", options @ ..] => mutate_passes::run(options),
        ["new-pass", stage, argument] => new_pass::run(stage, argument),
        [] | ["help" | "--help" | "-h"] => {
            print!("{HELP}");
            Ok(())
        }
        _ => Err(format!("cannot read 'xtask {}'\n\n{HELP}", words.join(" "))),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::FAILURE
        }
    }
}
