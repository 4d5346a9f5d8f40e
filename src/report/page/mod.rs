//! The report as one HTML page: the JSON report and the source lines of the program. The page needs no other file and
//! no network.
//!
//! The page shows the numbers of the report and computes none. Text of a program (names, locations, reasons, source) is
//! untrusted. It reaches the browser only as escaped JSON, which cannot end its element, and is displayed as text,
//! never as markup.

use super::Report;
use serde::Serialize;

/// Source file of a program, under the name that locations in the report use.
#[derive(Clone, Copy, Debug)]
pub struct ProgramText<'t> {
    /// Name of the file.
    pub file: &'t str,
    /// Content of the file.
    pub text: &'t str,
}

/// Input of the page's script.
#[derive(Serialize)]
struct PageData<'r> {
    report: &'r Report,
    sources: Vec<SourceLines<'r>>,
}

/// Lines of a source file.
#[derive(Serialize)]
struct SourceLines<'t> {
    file: &'t str,
    lines: Vec<&'t str>,
}

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");

/// Source files of the script, each after those that it depends on.
const SCRIPTS: [&str; 12] = [
    include_str!("places.js"),
    include_str!("model.js"),
    include_str!("groups.js"),
    include_str!("draw.js"),
    include_str!("timeline.js"),
    include_str!("lists.js"),
    include_str!("table.js"),
    include_str!("details.js"),
    include_str!("kernels.js"),
    include_str!("search.js"),
    include_str!("address.js"),
    include_str!("main.js"),
];

/// Maximum number of characters of a displayed line. Constants of models may have lines of megabytes.
const MAX_LINE_CHARS: usize = 240;

/// Returns the page as HTML. Equal reports yield equal text.
///
/// # Errors
/// Returns the error if the report cannot be serialized as JSON.
pub fn render_page(report: &Report, sources: &[ProgramText<'_>]) -> Result<String, String> {
    let sources = sources
        .iter()
        .map(|source| SourceLines { file: source.file, lines: source.text.lines().map(truncate_line).collect() })
        .collect();
    let data = serde_json::to_string(&PageData { report, sources }).map_err(|error| error.to_string())?;
    let script = SCRIPTS.concat();
    Ok(fill_template(TEMPLATE, |name| match name {
        "program" => escape_html(&report.program),
        "summary" => escape_html(&report.to_string()),
        "style" => STYLE.to_owned(),
        "data" => escape_script(&data),
        "script" => script.clone(),
        _ => unreachable!("page.html has no part '{name}'"),
    }))
}

/// Replaces each `{{name}}` in a template by its text. Inserted text is not expanded again.
fn fill_template(template: &str, mut text_of: impl FnMut(&str) -> String) -> String {
    let mut parts = template.split("{{");
    let mut page = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once("}}").unwrap_or((part, ""));
        page.push_str(&text_of(name));
        page.push_str(rest);
    }
    page
}

fn truncate_line(line: &str) -> &str {
    line.char_indices().nth(MAX_LINE_CHARS).map_or(line, |(end, _)| &line[..end])
}

/// Escapes JSON so that it can neither end a script element nor begin a comment. The escaped characters occur in JSON
/// strings only.
fn escape_script(json: &str) -> String {
    let mut safe = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '<' => safe.push_str("\\u003c"),
            '>' => safe.push_str("\\u003e"),
            '&' => safe.push_str("\\u0026"),
            '\u{2028}' => safe.push_str("\\u2028"),
            '\u{2029}' => safe.push_str("\\u2029"),
            _ => safe.push(letter),
        }
    }
    safe
}

/// Escapes text for HTML.
fn escape_html(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            _ => safe.push(letter),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::OpReport;

    /// Name that attempts to inject markup and scripts.
    const HOSTILE: &str = "</script><script>alert(1)</script><!--\u{2028}{{script}}&\"'";

    fn hostile_report() -> Report {
        let op = OpReport {
            function: HOSTILE.to_owned(),
            location: HOSTILE.to_owned(),
            reason: HOSTILE.to_owned(),
            ..OpReport::default()
        };
        Report { program: HOSTILE.to_owned(), ops: vec![op], ..Report::default() }
    }

    /// Returns the content of the page's data element.
    fn page_data(page: &str) -> &str {
        let (_, after) = page.split_once("<script type=\"application/json\" id=\"data\">").unwrap();
        after.split_once("</script>").unwrap().0
    }

    #[test]
    fn escapes_markup_in_names() {
        let page = render_page(&hostile_report(), &[ProgramText { file: HOSTILE, text: HOSTILE }]).unwrap();
        let plain = super::render_page(&Report::default(), &[]).unwrap();
        for tag in ["<script", "</script", "<!--", "alert(1)<"] {
            assert_eq!(page.matches(tag).count(), plain.matches(tag).count(), "{tag}");
        }
        let data = page_data(&page);
        assert!(!data.contains(['<', '>', '&', '\u{2028}']), "{data}");
        let read: serde_json::Value = serde_json::from_str(data).unwrap();
        let read = [
            &read["report"]["program"],
            &read["report"]["ops"][0]["reason"],
            &read["sources"][0]["file"],
            &read["sources"][0]["lines"][0],
        ];
        assert!(read.iter().all(|text| *text == HOSTILE), "{read:?}");
    }

    #[test]
    fn embeds_report_as_data() {
        let report = hostile_report();
        let read: serde_json::Value = serde_json::from_str(page_data(&render_page(&report, &[]).unwrap())).unwrap();
        assert_eq!(read["report"], serde_json::to_value(&report).unwrap());
        assert_eq!(read["sources"], serde_json::json!([]));
    }

    #[test]
    fn references_no_external_resource() {
        let page = render_page(&Report::default(), &[]).unwrap();
        let names = [
            "http:",
            "https:",
            "src=",
            "url(",
            "@import",
            "import(",
            "fetch(",
            "XMLHttpRequest",
            "WebSocket",
            "href=\"//",
        ];
        assert!(names.iter().all(|name| !page.contains(name)), "a page is one file");
        assert!(page.contains("default-src 'none'"), "and the browser is told so");
        assert!(!page.contains("{{"), "every part is filled in");
    }

    #[test]
    fn shows_headline_without_script() {
        let report = Report { program: "main".to_owned(), ..Report::default() };
        let page = render_page(&report, &[]).unwrap();
        let (_, after) = page.split_once("<noscript>").unwrap();
        assert!(after.split_once("</noscript>").unwrap().0.contains("main: 0 ops in 0 launches"));
    }

    #[test]
    fn truncates_long_lines_at_char_boundaries() {
        assert_eq!(truncate_line("short"), "short");
        let long = "ä".repeat(MAX_LINE_CHARS + 1);
        assert_eq!(truncate_line(&long), "ä".repeat(MAX_LINE_CHARS));
        assert_eq!(truncate_line(&long[2..]), &long[2..]);
    }
}
