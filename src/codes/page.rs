//! Pages about codes: `--explain`, and the table of all codes for the documentation.

use super::{AREAS, Code, CodeEntry, format_rules};
use std::fmt::Write as _;

/// Page of the documentation with commands and their checked messages.
const ERROR_GALLERY: &str = include_str!("../../docs/reference/errors.md");

/// Width of pages, in characters.
const PAGE_WIDTH: usize = 100;

/// Returns the page about a code, which is given as `SPY0501` or `501`.
///
/// # Errors
/// Returns an error if the code does not exist.
pub fn explain(code: &str) -> Result<String, String> {
    let digits =
        code.trim().trim_start_matches(['s', 'S']).trim_start_matches(['p', 'P']).trim_start_matches(['y', 'Y']);
    let entry = digits.parse().ok().and_then(|number| Code(number).entry());
    let entry = entry.ok_or_else(|| {
        super::UNKNOWN_CODE.format(format_args!(
            "expected a code such as 'SPY0501', found '{code}'; docs/reference/generated/codes.md lists all codes"
        ))
    })?;
    let mut page = format!("{}: {}\n\n{}\n", entry.code, entry.title, wrap_lines(entry.text));
    if let Some(example) = find_example(entry.code) {
        page.push('\n');
        example.lines().for_each(|line| writeln!(page, "    {line}").unwrap_or_default());
    }
    if !entry.see.is_empty() {
        let _ = write!(page, "\nSee also: {}\n", entry.see);
    }
    Ok(page)
}

/// Returns the page that lists every code.
#[must_use]
pub fn render_codes_page() -> String {
    let mut page = "<!-- Made by `cargo xtask docs` from the table in `src/codes`. -->\n\n# Codes of messages\n\n\
                    This page lists the codes of all messages. `spyre-compile --explain CODE` prints the entry of a code\n\
                    with an example. A code keeps its meaning in all versions and is never reused.\n"
        .to_owned();
    for area in AREAS {
        let (first, last) = area.range;
        let _ = write!(page, "\n## {} (SPY{first:04} to SPY{last:04})\n\n", area.title);
        if area.range.0 == 1200 {
            page = page.replace("\n## Simulator", "\n@RULES@## Simulator");
        }
        area.entries.iter().for_each(|entry| page.push_str(&format_entry(entry)));
    }
    page.replace("@RULES@", &format_rules::render_rules_section())
}

fn format_entry(entry: &CodeEntry) -> String {
    let see = if entry.see.is_empty() { String::new() } else { format!(" See also: {}.", entry.see) };
    let text = format!("* **{}**: {}. {}{see}", entry.code, entry.title, entry.text);
    format!("{}\n", wrap_lines(&text).replace('\n', "\n  "))
}

/// Returns the first command of the gallery whose output contains the code, with the output.
fn find_example(code: Code) -> Option<String> {
    let name = format!("[{code}]");
    let blocks = ERROR_GALLERY.split("```console\n").skip(1).filter_map(|block| block.split("\n```").next());
    blocks.into_iter().find(|block| block.contains(&name)).map(ToOwned::to_owned)
}

/// Wraps a text into lines.
fn wrap_lines(text: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if !line.is_empty() && line.len() + word.len() >= PAGE_WIDTH {
            lines.push(std::mem::take(&mut line));
        }
        line = if line.is_empty() { word.to_owned() } else { format!("{line} {word}") };
    }
    lines.push(line);
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explains_code_with_rule_example_and_references() {
        let page = explain("SPY0501").expect("a code of the table");
        assert!(page.starts_with("SPY0501: tile count does not divide the dimension\n\n"), "{page}");
        assert!(page.contains("\n    $ spyre-compile two.mlir") && page.contains("\nSee also: SPY0502"), "{page}");
        assert_eq!(explain("501").as_deref(), Ok(page.as_str()));
        assert!(explain("SPY0000").is_err_and(|message| message.contains("found 'SPY0000'")));
    }

    #[test]
    fn lists_each_code_once() {
        let page = render_codes_page();
        for entry in AREAS.iter().flat_map(|area| area.entries) {
            assert_eq!(page.matches(&format!("* **{}**:", entry.code)).count(), 1, "{}", entry.code);
        }
        assert!(page.contains("* **SPY1050**: `sdsc_r50`"), "{page}");
    }
}
