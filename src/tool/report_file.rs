//! Output of `spyre-compile --report`: JSON data or an HTML page, by the file extension.

use crate::{
    codes,
    explain::draw_scratchpad,
    report::{ProgramText, Report, render_page},
    tool,
};
use std::{fs, path::Path};

/// Format of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReportFormat {
    /// JSON, with an SVG picture of the scratchpad next to it.
    Json,
    /// One HTML page.
    Html,
}

impl ReportFormat {
    /// Returns the format for a file name. Standard output, devices and pipes get JSON by default.
    ///
    /// # Errors
    /// Returns the valid extensions if the name has another one.
    pub(super) fn from_path(path: &str) -> Result<Self, String> {
        let is_no_file = path == "-" || (Path::new(path).exists() && !Path::new(path).is_file());
        match Path::new(path).extension().and_then(|ending| ending.to_str()) {
            Some("html") => Ok(Self::Html),
            Some("json") => Ok(Self::Json),
            _ if is_no_file => Ok(Self::Json),
            _ => Err(codes::OUTPUT_KIND.format(format_args!(
                "expected a file name that ends in '.json' or '.html', found '{path}'; use FILE.json for data, or FILE.html for a page"
            ))),
        }
    }
}

/// Checks that the name of a trace ends in `.json`. Standard output, devices and pipes need no extension.
///
/// # Errors
/// Returns the expected extension.
pub(super) fn check_trace_path(path: &str) -> Result<(), String> {
    match ReportFormat::from_path(path) {
        Ok(ReportFormat::Json) => Ok(()),
        _ => Err(codes::OUTPUT_KIND
            .format(format_args!("expected a file name that ends in '.json', found '{path}'; use FILE.json"))),
    }
}

/// Writes the report of the program in file `input`.
pub(super) fn write(report: &Report, path: &str, input: &str) -> Result<(), String> {
    match ReportFormat::from_path(path)? {
        ReportFormat::Json => write_data(report, path),
        ReportFormat::Html => {
            let text = read_program_text(input);
            let program: Vec<ProgramText<'_>> = text.iter().map(|text| ProgramText { file: input, text }).collect();
            tool::write_file(path, render_page(report, &program)?)
        }
    }
}

fn write_data(report: &Report, path: &str) -> Result<(), String> {
    let text = serde_json::to_string_pretty(report).map_err(|error| error.to_string())?;
    tool::write_file(path, format!("{text}\n"))?;
    match path.strip_suffix(".json") {
        Some(name) if !report.explain.scratchpad.is_empty() => {
            let lx_bytes = report.target.get("lx_bytes").copied().unwrap_or_default();
            let operations = report.ops.iter().map(|op| op.function.clone()).collect();
            tool::write_file(
                &format!("{name}.svg"),
                draw_scratchpad(&report.program, lx_bytes, &report.explain, operations),
            )
        }
        _ => Ok(()),
    }
}

/// Returns the text of the program, if its file can be read again and is UTF-8. A page contains the lines of no other
/// file, because a program may name any file in its locations.
fn read_program_text(input: &str) -> Option<String> {
    let is_file = Path::new(input).is_file();
    let bytes = is_file.then(|| fs::read(input).ok()).flatten()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selects_format_by_extension() {
        assert_eq!(
            ["a.json", "b/a.html", "-"].map(ReportFormat::from_path),
            [Ok(ReportFormat::Json), Ok(ReportFormat::Html), Ok(ReportFormat::Json)]
        );
        assert_eq!(ReportFormat::from_path("/dev/null"), Ok(ReportFormat::Json));
        for name in ["a", "a.htm", "a.json.txt", "json"] {
            let rejected = ReportFormat::from_path(name).unwrap_err();
            assert!(rejected.contains(&format!("'{name}'")) && rejected.contains("FILE.html"), "{rejected}");
        }
    }

    #[test]
    fn requires_json_extension_for_traces() {
        assert_eq!(["a.json", "-", "/dev/null"].map(check_trace_path), [Ok(()), Ok(()), Ok(())]);
        for name in ["x.html", "x", "x.json.gz"] {
            let rejected = check_trace_path(name).unwrap_err();
            assert!(rejected.contains(&format!("'{name}'; use FILE.json")), "{rejected}");
        }
    }

    #[test]
    fn returns_no_text_for_bytecode_and_standard_input() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        assert_eq!(read_program_text(&file("text.mlir", b"module {}\n")).as_deref(), Some("module {}\n"));
        assert_eq!(
            [
                read_program_text(&file("code.mlir", b"ML\xefR\x06")),
                read_program_text("-"),
                read_program_text(place.path().to_str().unwrap())
            ],
            [None, None, None]
        );
    }
}
