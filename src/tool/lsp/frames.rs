//! Framing of messages on a stream: headers with the length, an empty line, JSON.

use serde_json::Value;
use std::io::{self, BufRead, Write};

/// Maximum size of a message, in bytes. A greater length is a header that was misread.
const MAX_MESSAGE_BYTES: usize = 1 << 30;

/// Style of the JSON that is sent to the editor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::tool) enum JsonStyle {
    /// On one line.
    Compact,
    /// Indented, for readers.
    Pretty,
}

/// Reads the next message; `None` at the end of the stream.
///
/// # Errors
/// Returns the I/O error, or `InvalidData` for headers without a length.
pub(super) fn read(stream: &mut impl BufRead) -> io::Result<Option<Vec<u8>>> {
    let Some(length) = read_headers(stream)? else { return Ok(None) };
    let mut content = vec![0; length];
    stream.read_exact(&mut content)?;
    Ok(Some(content))
}

/// Reads the headers up to the empty line. Returns the length of the message, or `None` at the end of the stream.
fn read_headers(stream: &mut impl BufRead) -> io::Result<Option<usize>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if stream.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let header = line.trim_end();
        match (header.split_once(':'), length) {
            (Some((name, value)), _) if name.eq_ignore_ascii_case("content-length") => {
                length = Some(value.trim().parse().map_err(|_| invalid_header(header))?);
            }
            (None, Some(length)) if header.is_empty() && length <= MAX_MESSAGE_BYTES => return Ok(Some(length)),
            (None, _) => return Err(invalid_header(header)),
            (Some(_), _) => {}
        }
    }
}

fn invalid_header(header: &str) -> io::Error {
    let message =
        format!("expected the header 'Content-Length: BYTES' with at most {MAX_MESSAGE_BYTES} bytes, found '{header}'");
    io::Error::new(io::ErrorKind::InvalidData, message)
}

/// Writes the bytes of a message with its header.
///
/// # Errors
/// Returns the I/O error.
pub(super) fn write(stream: &mut impl Write, content: &[u8]) -> io::Result<()> {
    write!(stream, "Content-Length: {}\r\n\r\n", content.len())?;
    stream.write_all(content)?;
    stream.flush()
}

/// Formats and writes a message.
///
/// # Errors
/// Returns the I/O error.
pub(super) fn write_json(stream: &mut impl Write, message: &Value, style: JsonStyle) -> io::Result<()> {
    let content = match style {
        JsonStyle::Compact => serde_json::to_vec(message),
        JsonStyle::Pretty => serde_json::to_vec_pretty(message),
    };
    write(stream, &content.map_err(io::Error::from)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn reads_messages_as_written() {
        let mut stream = Vec::new();
        write(&mut stream, b"{}").unwrap();
        write_json(&mut stream, &json!({"text": "é\n"}), JsonStyle::Compact).unwrap();
        write_json(&mut stream, &json!({"id": 1}), JsonStyle::Pretty).unwrap();
        let mut stream = stream.as_slice();
        let mut next = || read(&mut stream).unwrap().map(|content| String::from_utf8(content).unwrap());
        assert_eq!(next().unwrap(), "{}");
        assert_eq!(next().unwrap(), "{\"text\":\"é\\n\"}");
        assert_eq!(next().unwrap(), "{\n  \"id\": 1\n}");
        assert_eq!(next(), None);
    }

    #[test]
    fn skips_other_headers_and_ignores_case_of_names() {
        let mut stream = &b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: 2\r\n\r\n[]"[..];
        assert_eq!(read(&mut stream).unwrap().unwrap(), b"[]");
    }

    #[test]
    fn rejects_headers_without_length_and_truncated_messages() {
        for text in [
            "\r\n{}",
            "Content-Length: two\r\n\r\n{}",
            "hello\r\n",
            "Content-Length: 99999999999\r\n\r\n",
            "Content-Length: 3\r\n\r\n{}",
        ] {
            assert!(read(&mut text.as_bytes()).is_err(), "{text:?}");
        }
    }
}
