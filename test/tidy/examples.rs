//! Generates the examples of the page of passes: the shortest function of a pass's test that the pass changes, before
//! and after it.

use std::{
    io::Write,
    process::{Command, Stdio},
};

/// Maximum number of columns of a line of traits or interfaces.
const MAX_COLUMNS: usize = 120;

/// Breaks the lines of a page that list the traits and interfaces of an op, which tablegen writes in one line each.
pub(crate) fn break_long_lines(page: &str) -> String {
    let mut made = String::new();
    for line in page.lines() {
        let is_list = ["Traits: ", "Interfaces: ", "Effects: "].iter().any(|start| line.starts_with(start));
        let mut rest = line;
        while let Some(end) = rest.get(..MAX_COLUMNS).filter(|_| is_list).and_then(|start| start.rfind("`, `")) {
            made.push_str(&format!("{}\n", &rest[..end + 2]));
            rest = rest[end + 2..].trim_start();
        }
        made.push_str(&format!("{rest}\n"));
    }
    made
}

#[test]
fn breaks_trait_lists_at_commas() {
    let traits = |count: usize| vec!["`AlwaysSpeculatableImplTrait`"; count].join(", ");
    let narrowed = break_long_lines(&format!("Traits: {}\n{}\n", traits(9), traits(9)));
    let lines: Vec<&str> = narrowed.lines().collect();
    assert!(lines[..lines.len() - 1].iter().all(|line| line.len() <= MAX_COLUMNS), "{narrowed}");
    assert_eq!((lines[0], lines[lines.len() - 1]), (format!("Traits: {},", traits(3)).as_str(), traits(9).as_str()));
}

/// Returns the page of the passes with an example in each section. `tests` has the name and the test of each pass.
pub(crate) fn insert_examples(page: &str, tests: &[(String, String)]) -> String {
    let mut made = String::new();
    for (number, section) in page.split("### `-").enumerate() {
        if number == 0 {
            made.push_str(section);
            continue;
        }
        let argument = section.split('`').next().unwrap_or_default();
        let test = tests.iter().find(|(name, _)| name == argument).map_or("", |(_, test)| test.as_str());
        made.push_str(&format!("### `-{}\n", section.trim_end()));
        if let Some([before, after]) = find_example(argument, test) {
            made.push_str(&format!(
                "\n#### Example\n\nBefore:\n\n```mlir\n{before}\n```\n\nAfter:\n\n```mlir\n{after}\n```\n"
            ));
        }
        made.push('\n');
    }
    format!("{}\n", made.trim_end())
}

/// Returns the shortest program of a test before and after a pass; `None` for a pass that changes none, or writes
/// files.
fn find_example(argument: &str, test: &str) -> Option<[String; 2]> {
    let runs = test.lines().filter_map(|line| line.strip_prefix("// RUN: spyre-opt "));
    let run = runs
        .map(|run| run.split('|').next().unwrap_or_default())
        .find(|run| run.contains(argument) && !run.contains("%t"))?;
    let words: Vec<String> =
        run.split_whitespace().filter(|word| *word != "%s").map(|word| word.replace('"', "")).collect();
    let name = format!("--{argument}");
    let place = words.iter().rposition(|word| *word == name || word.starts_with(&format!("{name}=")))?;
    let flags = words.iter().filter(|word| word.starts_with("--mlir-"));
    let passes = |n: usize| {
        words[..n]
            .iter()
            .filter(|word| word.starts_with("--") && !word.starts_with("--mlir-") && *word != "--split-input-file")
    };
    let with = |n: usize| passes(n).chain(flags.clone()).cloned().collect::<Vec<String>>();
    let mut programs = split_programs(test);
    programs.sort_by_key(|program| program.lines().count());
    programs.iter().find_map(|program| {
        let (before, after) = (run_spyre_opt(program, &with(place))?, run_spyre_opt(program, &with(place + 1))?);
        (before != after).then_some([before, after])
    })
}

/// Returns each top-level op of a test by itself, after the aliases of its section of the file.
fn split_programs(test: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in test.split("// -----") {
        let lines = part.lines().filter(|line| !line.trim_start().starts_with("//") && !line.trim().is_empty());
        let (aliases, lines): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with('#'));
        let mut program: Vec<&str> = Vec::new();
        for line in lines {
            program.push(line);
            if line.starts_with('}') {
                found.push([aliases.as_slice(), &program].concat().join("\n"));
                program.clear();
            }
        }
    }
    found
}

/// Runs `spyre-opt` on a program. Returns the output without the module around it, or `None` if `spyre-opt` fails.
fn run_spyre_opt(program: &str, arguments: &[String]) -> Option<String> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spyre-opt"));
    let mut tool = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("spyre-opt runs");
    tool.stdin.take().expect("a pipe").write_all(program.as_bytes()).expect("spyre-opt reads");
    let output = tool.wait_with_output().expect("spyre-opt ends");
    let text = String::from_utf8(output.stdout).expect("IR is text").trim().to_owned();
    let inside = text
        .split_once("module {\n")
        .and_then(|(aliases, body)| Some(format!("{aliases}{}", unindent(body.strip_suffix('}')?))));
    output.status.success().then(|| remove_prices(inside.unwrap_or(text).trim_end()))
}

/// Removes the numbers of the tile search from a text, since they change with every cost of the model.
fn remove_prices(text: &str) -> String {
    let found =
        text.split_once("spyre.tile_search = {").and_then(|(before, rest)| Some((before, rest.split_once('}')?.1)));
    found.map_or_else(|| text.to_owned(), |(before, behind)| format!("{before}spyre.tile_search = {{...}}{behind}"))
}

fn unindent(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", line.strip_prefix("  ").unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST: &str = "// RUN: spyre-opt --spyre-layout-gather-tables --spyre-propagate-layouts --spyre-reduce-span --spyre-divide-work %s | FileCheck %s\n\n\
        // CHECK: work\nfunc.func @long(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {\n  %y = spyre.pointwise exp(%x) :
        // tensor<64x64xf16>\n  \
        %z = spyre.pointwise exp(%y) : tensor<64x64xf16>\n  return %z : tensor<64x64xf16>\n}\n\nfunc.func @short(%x: tensor<64x64xf16>) -> tensor<64x64xf16> {\n  \
        %y = spyre.pointwise exp(%x) : tensor<64x64xf16>\n  return %y : tensor<64x64xf16>\n}\n\nfunc.func @same() {\n  return\n}\n";

    #[test]
    fn shows_shortest_changed_function() {
        let page = insert_examples(
            "\n### `-spyre-divide-work`\n\n_Divide_\n\n### `-spyre-unknown`\n\n_Nothing_\n",
            &[("spyre-divide-work".to_owned(), TEST.to_owned())],
        );
        let (_, viewed) = page.split_once("Before:").unwrap();
        let (before, rest) = viewed.split_once("After:").unwrap();
        let (after, rest) = rest.split_once("### `-spyre-unknown`").unwrap();
        assert!(
            before.contains("@short") && before.contains("#spyre.layout") && !before.contains("#spyre.work"),
            "{before}"
        );
        assert!(after.contains("#spyre.work") && !after.contains("module"), "{after}");
        assert!(!rest.contains("Before"), "{rest}");
    }
}
