//! Stable message codes: one table for diagnostics, `spyre-compile --explain` and `docs/reference/generated/codes.md`.
//!
//! A code is never reused. A message carries its code as the prefix `[SPY0501] ` until a tool prints it. Errors can
//! thus pass through layers that handle only text.

mod bundle;
mod checks;
mod command_line;
mod format_rules;
mod hint;
mod import;
mod input;
mod internal;
mod kernel;
mod layout;
mod lx;
mod page;
mod simulator;
mod tile;
mod work;

pub use bundle::*;
pub use checks::*;
pub use command_line::*;
pub use format_rules::format_rule_code;
pub use hint::*;
pub use import::*;
pub use input::*;
pub use internal::*;
pub use kernel::*;
pub use layout::*;
pub use lx::*;
pub use page::{explain, render_codes_page};
pub use simulator::*;
pub use tile::*;
pub use work::*;

use std::fmt;

/// Stable code of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Code(u16);

impl Code {
    /// Returns a message that carries this code.
    #[must_use]
    pub fn format(self, message: impl fmt::Display) -> String {
        format!("[{self}] {message}")
    }

    /// Returns the message with this code, or unchanged if it carries a code already.
    #[must_use]
    pub fn add_if_missing(self, message: &str) -> String {
        let (code, message) = split_code(message);
        code.unwrap_or(self).format(message)
    }

    /// Returns the number of the code.
    #[must_use]
    pub fn as_u32(self) -> u32 {
        self.0.into()
    }

    /// Returns the entry of the table; `None` for a number without an entry.
    #[must_use]
    pub fn entry(self) -> Option<CodeEntry> {
        AREAS
            .iter()
            .flat_map(|area| area.entries)
            .find(|entry| entry.code == self)
            .copied()
            .or_else(|| format_rules::find_rule_entry(self))
    }
}

/// Formats the code as in messages: `SPY0501`.
impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "SPY{:04}", self.0)
    }
}

/// Row of the table.
#[derive(Clone, Copy, Debug)]
pub struct CodeEntry {
    /// Code of the row.
    pub code: Code,
    /// Rule that a program or command breaks.
    pub title: &'static str,
    /// Explanation of the rule, and advice.
    pub text: &'static str,
    /// Codes and pages to read next.
    pub see: &'static str,
}

/// Range of codes, for one component of the compiler.
#[derive(Clone, Copy, Debug)]
pub struct CodeArea {
    /// Title of the range.
    pub title: &'static str,
    /// First and last number.
    pub range: (u16, u16),
    /// Codes of the range in ascending order.
    pub entries: &'static [CodeEntry],
}

/// Ranges in ascending order. The rules of the file format have their codes after these, in the order of their labels.
pub const AREAS: [CodeArea; 13] = [
    command_line::AREA,
    input::AREA,
    import::AREA,
    layout::AREA,
    hint::AREA,
    tile::AREA,
    work::AREA,
    lx::AREA,
    kernel::AREA,
    bundle::AREA,
    simulator::AREA,
    checks::AREA,
    internal::AREA,
];

/// Splits a message into its code and its text. Of several codes, the first one counts; all are removed from the text.
#[must_use]
pub fn split_code(message: &str) -> (Option<Code>, String) {
    let (mut code, mut text, mut rest) = (None, String::with_capacity(message.len()), message);
    while let Some(start) = rest.find("[SPY") {
        let Some(found) = parse_marker(&rest[start..]) else {
            text.push_str(&rest[..start + 1]);
            rest = &rest[start + 1..];
            continue;
        };
        code = code.or(Some(found));
        text.push_str(&rest[..start]);
        rest = &rest[start + MARKER_BYTES..];
    }
    text.push_str(rest);
    (code, text)
}

/// Length of `[SPY0501] ` in bytes.
const MARKER_BYTES: usize = 10;

/// Returns the code that a text begins with.
fn parse_marker(text: &str) -> Option<Code> {
    let digits = text.get(..MARKER_BYTES)?.strip_prefix("[SPY")?.strip_suffix("] ")?;
    digits.bytes().all(|digit| digit.is_ascii_digit()).then(|| digits.parse().ok()).flatten().map(Code)
}

/// Declares the codes of an area, as constants and as a table.
macro_rules! codes {
    (
        $title:literal, $first:literal..=$last:literal;
        $($number:literal $name:ident $rule:literal: $text:literal $(see $see:literal)?;)*
    ) => {
        $(#[doc = $rule] pub const $name: $crate::codes::Code = $crate::codes::Code($number);)*

        pub(super) const AREA: $crate::codes::CodeArea = $crate::codes::CodeArea {
            title: $title,
            range: ($first, $last),
            entries: &[$($crate::codes::CodeEntry { code: $name, title: $rule, text: $text, see: concat!("" $(, $see)?) }),*],
        };
    };
}
use codes;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_codes_in_ascending_order_within_area_ranges() {
        let mut last = 0;
        for area in AREAS {
            for entry in area.entries {
                let number = entry.code.0;
                assert!(number > last && area.range.0 <= number && number <= area.range.1, "{}", entry.code);
                last = number;
            }
        }
    }

    #[test]
    fn gives_each_code_a_short_title_and_an_explanation() {
        for entry in AREAS.iter().flat_map(|area| area.entries) {
            assert!(!entry.title.is_empty() && entry.title.len() < 90 && !entry.title.ends_with('.'), "{}", entry.code);
            assert!(entry.text.len() > 40 && entry.text.ends_with('.'), "{}", entry.code);
        }
    }

    #[test]
    fn refers_only_to_existing_codes() {
        for entry in AREAS.iter().flat_map(|area| area.entries) {
            for word in
                entry.see.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| word.starts_with("SPY"))
            {
                let code = word[3..].parse().ok().map(Code);
                assert!(code.is_some_and(|code| code.entry().is_some()), "{}: {word}", entry.code);
            }
        }
    }

    #[test]
    fn returns_first_code_of_message_and_removes_all() {
        assert_eq!(
            split_code("--tiles: [SPY0012] a [SPY0501] b [SPYx] c"),
            (Some(Code(12)), "--tiles: a b [SPYx] c".to_owned())
        );
        assert_eq!(split_code("no code"), (None, "no code".to_owned()));
        assert_eq!(Code(12).add_if_missing("a [SPY0501] b"), "[SPY0501] a b");
        assert_eq!(Code(12).add_if_missing("a"), "[SPY0012] a");
    }
}
