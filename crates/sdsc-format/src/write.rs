//! Prints a file byte for byte as Python's `json.dump(..., indent=2)`, which the reference emitter uses.

use super::model::Sdsc;
use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter, Serializer};
use std::io;

/// Prints an SDSC file.
///
/// # Errors
///
/// If `writer` fails.
pub fn write_sdsc(sdsc: &Sdsc, writer: impl io::Write) -> io::Result<()> {
    let mut serializer = Serializer::with_formatter(writer, PythonFormatter(PrettyFormatter::new()));
    sdsc.serialize(&mut serializer).map_err(io::Error::from)
}

/// Initial buffer size in bytes: enough for the file of most ops.
const INITIAL_CAPACITY: usize = 1 << 16;

/// Returns the text of an SDSC file.
#[must_use]
pub fn to_text(sdsc: &Sdsc) -> Vec<u8> {
    let mut text = Vec::with_capacity(INITIAL_CAPACITY);
    // Writing to memory cannot fail, and every key of the model is a string or an integer.
    if let Err(error) = write_sdsc(sdsc, &mut text) {
        unreachable!("an SDSC file has no JSON form: {error}");
    }
    text.shrink_to_fit();
    text
}

/// Formatter that prints JSON as Python does. The indentation of `serde_json` is the same; only the escapes of unusual
/// characters differ.
struct PythonFormatter(PrettyFormatter<'static>);

impl Formatter for PythonFormatter {
    fn begin_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + io::Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + io::Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }

    /// Escapes everything outside printable ASCII as UTF-16 units, as Python does.
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, writer: &mut W, fragment: &str) -> io::Result<()> {
        if fragment.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return writer.write_all(fragment.as_bytes());
        }
        for character in fragment.chars() {
            if (' '..='~').contains(&character) {
                write!(writer, "{character}")?;
            } else {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    write!(writer, "\\u{unit:04x}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_unusual_characters_as_python() {
        let mut text = Vec::new();
        let mut serializer = Serializer::with_formatter(&mut text, PythonFormatter(PrettyFormatter::new()));
        ["a\u{7f}\"é\u{1f600}", ""].serialize(&mut serializer).unwrap();
        let expected = "[\n  \"a\\u007f\\\"\\u00e9\\ud83d\\ude00\",\n  \"\"\n]";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}
