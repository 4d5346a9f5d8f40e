//! Parses enumerated option values.

use std::str::FromStr;
use strum::VariantNames;

/// Parses the name of a value.
///
/// # Errors
/// A message that lists the valid names and the text found.
pub fn parse_enum<T: FromStr + VariantNames>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("expected {}, found '{text}'", format_alternatives(T::VARIANTS)))
}

/// Formats names as `'a', 'b' or 'c'`.
fn format_alternatives(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("'{name}'")).collect();
    match quoted.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => quoted.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, strum::Display, strum::EnumString, VariantNames)]
    #[strum(serialize_all = "kebab-case")]
    enum Size {
        Small,
        VeryLarge,
        Other,
    }

    #[test]
    fn parses_printed_names_and_rejects_others() {
        for size in [Size::Small, Size::VeryLarge, Size::Other] {
            assert_eq!(parse_enum(&size.to_string()), Ok(size));
        }
        let refused = parse_enum::<Size>("VeryLarge").unwrap_err();
        assert_eq!(refused, "expected 'small', 'very-large' or 'other', found 'VeryLarge'");
    }
}
