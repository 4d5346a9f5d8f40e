//! Output of `spyre-compile --report`: JSON data or an HTML page, by the file extension.

use crate::{
    codes,
    explain::draw_scratchpad,
    report::{ProgramText, Report, page},
    tool,
};
use std::{fs, path::Path};

/// The form of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON, with a picture beside it.
    Data,
    /// One page of HTML.
    Page,
}

impl Form {
    /// The form that the name of a file asks for. Standard output, and what is there and is no file, gets data.
    ///
    /// # Errors
    /// The endings that there are.
    pub(super) fn of(path: &str) -> Result<Self, String> {
        let is_no_file = path == "-" || (Path::new(path).exists() && !Path::new(path).is_file());
        match Path::new(path).extension().and_then(|ending| ending.to_str()) {
            Some("html") => Ok(Self::Page),
            Some("json") => Ok(Self::Data),
            _ if is_no_file => Ok(Self::Data),
            _ => Err(codes::OUTPUT_KIND.says(format_args!(
                "expected a file name that ends in '.json' or '.html', found '{path}'; use FILE.json for data, or FILE.html for a page"
            ))),
        }
    }
}

/// Checks that the name of a trace ends in `.json`. Standard output, and what is there and is no file, gets data.
///
/// # Errors
/// The ending that there is.
pub(super) fn check_trace(path: &str) -> Result<(), String> {
    match Form::of(path) {
        Ok(Form::Data) => Ok(()),
        _ => Err(codes::OUTPUT_KIND.says(format_args!("expected a file name that ends in '.json', found '{path}'; use FILE.json"))),
    }
}

/// Writes the report of the program in file `input`.
pub(super) fn write(report: &Report, path: &str, input: &str) -> Result<(), String> {
    match Form::of(path)? {
        Form::Data => write_data(report, path),
        Form::Page => {
            let text = text_of(input);
            let program: Vec<ProgramText<'_>> = text.iter().map(|text| ProgramText { file: input, text }).collect();
            tool::write_file(path, page(report, &program)?)
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
            tool::write_file(&format!("{name}.svg"), draw_scratchpad(&report.program, lx_bytes, &report.explain, operations))
        }
        _ => Ok(()),
    }
}

/// The text of the program, if its file can be read again and is text. A page shows lines of no other file: a program may name any.
fn text_of(input: &str) -> Option<String> {
    let is_file = Path::new(input).is_file();
    let bytes = is_file.then(|| fs::read(input).ok()).flatten()?;
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_says_what_is_written() {
        assert_eq!(["a.json", "b/a.html", "-"].map(Form::of), [Ok(Form::Data), Ok(Form::Page), Ok(Form::Data)]);
        assert_eq!(Form::of("/dev/null"), Ok(Form::Data));
        for name in ["a", "a.htm", "a.json.txt", "json"] {
            let refused = Form::of(name).unwrap_err();
            assert!(refused.contains(&format!("'{name}'")) && refused.contains("FILE.html"), "{refused}");
        }
    }

    #[test]
    fn a_trace_ends_in_json() {
        assert_eq!(["a.json", "-", "/dev/null"].map(check_trace), [Ok(()), Ok(()), Ok(())]);
        for name in ["x.html", "x", "x.json.gz"] {
            let refused = check_trace(name).unwrap_err();
            assert!(refused.contains(&format!("'{name}'; use FILE.json")), "{refused}");
        }
    }

    #[test]
    fn bytecode_and_standard_input_have_no_lines() {
        let place = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes: &[u8]| {
            let path = place.path().join(name);
            fs::write(&path, bytes).unwrap();
            path.to_str().unwrap().to_owned()
        };
        assert_eq!(text_of(&file("text.mlir", b"module {}\n")).as_deref(), Some("module {}\n"));
        assert_eq!(
            [text_of(&file("code.mlir", b"ML\xefR\x06")), text_of("-"), text_of(place.path().to_str().unwrap())],
            [None, None, None]
        );
    }
}
