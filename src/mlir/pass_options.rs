//! Options of passes: typed values from the compiler, or texts from a pipeline.
//!
//! The compiler creates its passes with typed values ([`PassOptionValue`]), which the passes read back. Text is used
//! for pipelines that users type or MLIR prints: [`escape`] writes a value such that MLIR's pipeline parser followed by
//! [`unescape`] returns the same value.

use super::{ErrorReported, Op, error_at, parse_enum};
use crate::codes;
use std::{any::Any, collections::BTreeMap, fmt, str::FromStr, sync::Arc};
use strum::VariantNames;

/// Option value of a type that the compiler defines.
trait TypedValue: Any + Send + Sync {
    /// Prints the elements of a list, or a single value; not escaped.
    fn texts(&self) -> Vec<String>;
}

/// A single value.
struct SingleValue<T>(T);

impl<T: Any + Send + Sync + fmt::Display> TypedValue for SingleValue<T> {
    fn texts(&self) -> Vec<String> {
        vec![self.0.to_string()]
    }
}

impl<T: Any + Send + Sync + fmt::Display> TypedValue for Vec<T> {
    fn texts(&self) -> Vec<String> {
        self.iter().map(ToString::to_string).collect()
    }
}

/// Value of an option.
#[derive(Clone)]
pub struct PassOptionValue(OptionValueKind);

#[derive(Clone)]
enum OptionValueKind {
    Text(String),
    Number(i64),
    Flag(bool),
    /// Enumerated value, or a list.
    Typed(Arc<dyn TypedValue>),
    /// Options of a nested compilation, which print as words that are already escaped.
    Nested(Arc<dyn TypedValue>),
}

impl PassOptionValue {
    /// Creates a text, such as a path or a name.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(OptionValueKind::Text(text.into()))
    }

    /// Creates a number.
    #[must_use]
    pub const fn from_number(number: i64) -> Self {
        Self(OptionValueKind::Number(number))
    }

    /// Creates a flag.
    #[must_use]
    pub const fn from_flag(is_on: bool) -> Self {
        Self(OptionValueKind::Flag(is_on))
    }

    /// Creates an enumerated value, for [`PassOptions::read_enum`].
    pub fn from_enum<T: Any + Send + Sync + fmt::Display>(value: T) -> Self {
        Self(OptionValueKind::Typed(Arc::new(SingleValue(value))))
    }

    /// Creates a list, for [`PassOptions::read_list`].
    #[must_use]
    pub fn from_list<T: Any + Send + Sync + fmt::Display + Clone>(elements: &[T]) -> Self {
        Self(OptionValueKind::Typed(Arc::new(elements.to_vec())))
    }

    /// Creates the options of a nested compilation, for [`PassOptions::read_nested_options`], which also parses their
    /// printed form.
    pub fn from_nested<T: Any + Send + Sync + fmt::Display>(value: T) -> Self {
        Self(OptionValueKind::Nested(Arc::new(SingleValue(value))))
    }

    /// Prints the value in pipeline syntax; prints nothing for an empty text, an empty list and a flag that is off,
    /// which are the defaults.
    fn format_value(&self) -> Option<String> {
        match &self.0 {
            OptionValueKind::Text(text) => (!text.is_empty()).then(|| escape(text)),
            OptionValueKind::Number(number) => Some(number.to_string()),
            OptionValueKind::Flag(is_on) => is_on.then(|| "true".to_owned()),
            OptionValueKind::Typed(value) => {
                let texts: Vec<String> = value.texts().iter().map(|text| escape(text)).collect();
                (!texts.is_empty()).then(|| texts.join(","))
            }
            OptionValueKind::Nested(value) => Some(format!("{{{}}}", value.texts().concat())),
        }
    }
}

/// Function that parses the nested options of the pass with this argument, into a [`PassOptionValue::from_nested`].
pub type NestedReader = fn(&str, &str) -> Result<PassOptionValue, String>;

/// Options of one run of a pass, by name.
#[derive(Clone)]
pub struct PassOptions {
    source: OptionSource,
}

#[derive(Clone)]
enum OptionSource {
    Typed(BTreeMap<&'static str, PassOptionValue>),
    Textual(OptionTexts),
}

/// Texts of a pass's options. Tablegen has checked that they exist and has filled in the defaults.
#[derive(Clone)]
struct OptionTexts {
    argument: &'static str,
    values: BTreeMap<String, Vec<TextualValue>>,
    read_nested: NestedReader,
}

/// Element of a list, or a single value.
#[derive(Clone)]
struct TextualValue {
    written: String,
    text: String,
}

impl PassOptions {
    /// Options without a value.
    pub(super) const fn empty() -> Self {
        Self { source: OptionSource::Typed(BTreeMap::new()) }
    }

    /// Sets a typed option.
    pub(super) fn set(&mut self, name: &'static str, value: PassOptionValue) {
        if let OptionSource::Typed(values) = &mut self.source {
            values.insert(name, value);
        }
    }

    /// Parses the options of the pass `argument` from the texts of a pipeline; a list has one entry per element.
    ///
    /// # Errors
    /// The option whose value is not escaped as [`escape`] does it.
    pub(super) fn parse_texts(
        argument: &'static str,
        entries: impl IntoIterator<Item = (impl AsRef<str>, impl AsRef<str>)>,
        read_nested: NestedReader,
    ) -> Result<Self, String> {
        let mut values: BTreeMap<String, Vec<TextualValue>> = BTreeMap::new();
        for (name, written) in entries {
            let (name, written) = (name.as_ref(), written.as_ref());
            let text = unescape(written).map_err(|error| format!("option '{name}': {error}"))?;
            values.entry(name.to_owned()).or_default().push(TextualValue { written: written.to_owned(), text });
        }
        Ok(Self { source: OptionSource::Textual(OptionTexts { argument, values, read_nested }) })
    }

    fn typed_value(&self, name: &str) -> Option<&PassOptionValue> {
        match &self.source {
            OptionSource::Typed(values) => values.get(name),
            OptionSource::Textual(_) => None,
        }
    }

    /// Returns the elements of a textual option; `None` for a typed option.
    fn text_elements(&self, name: &str) -> Option<&[TextualValue]> {
        match &self.source {
            OptionSource::Textual(texts) => Some(texts.values.get(name).map_or(&[], Vec::as_slice)),
            OptionSource::Typed(_) => None,
        }
    }

    /// Returns the text of an option; empty if it was not specified and has no default.
    ///
    /// # Panics
    /// If the option is of another kind: a compiler bug.
    #[must_use]
    pub fn get_text(&self, name: &str) -> &str {
        if let Some(elements) = self.text_elements(name) {
            return elements.first().map_or("", |element| &element.text);
        }
        match self.typed_value(name) {
            None => "",
            Some(PassOptionValue(OptionValueKind::Text(text))) => text,
            Some(_) => panic!("'{name}' is no option with a text"),
        }
    }

    /// Returns the value of an enumerated option.
    ///
    /// # Errors
    /// The legal names and the value found, reported at the module.
    ///
    /// # Panics
    /// If the pass has no such option: a compiler bug.
    pub fn read_enum<T: FromStr + VariantNames + Any + Clone>(
        &self,
        module: Op<'_>,
        name: &str,
    ) -> Result<T, ErrorReported> {
        if self.text_elements(name).is_some() {
            return parse_enum(self.get_text(name)).map_err(|error| {
                error_at(codes::OPTION_VALUE, module, format_args!("option '{name}': {error}")).report()
            });
        }
        let value = self.typed_value(name).and_then(|value| match &value.0 {
            OptionValueKind::Typed(value) => (&**value as &dyn Any).downcast_ref::<SingleValue<T>>(),
            _ => None,
        });
        Ok(value.unwrap_or_else(|| panic!("'{name}' is no option with such a name")).0.clone())
    }

    /// Returns the value of a numeric option. Tablegen has rejected other texts.
    ///
    /// # Panics
    /// If the pass has no such option, or the option is not a number: a compiler bug.
    #[must_use]
    pub fn get_number(&self, name: &str) -> i64 {
        let number = match self.typed_value(name) {
            Some(PassOptionValue(OptionValueKind::Number(number))) => Some(*number),
            Some(_) => None,
            None => self.text_elements(name).and_then(|elements| elements.first()?.text.parse().ok()),
        };
        number.unwrap_or_else(|| panic!("'{name}' is no option with a number"))
    }

    /// Returns whether a flag is on. Tablegen has rejected other texts.
    ///
    /// # Panics
    /// As [`PassOptions::get_number`].
    #[must_use]
    pub fn is_enabled(&self, name: &str) -> bool {
        let is_on = match self.typed_value(name) {
            Some(PassOptionValue(OptionValueKind::Flag(is_on))) => Some(*is_on),
            Some(_) => None,
            None => self.text_elements(name).and_then(|elements| elements.first()?.text.parse().ok()),
        };
        is_on.unwrap_or_else(|| panic!("'{name}' is no option that is on or off"))
    }

    /// Returns the elements of a list option.
    ///
    /// # Errors
    /// If an element does not parse; the error of its type is reported at the module, for the first such element.
    ///
    /// # Panics
    /// If the option is of another kind: a compiler bug.
    pub fn read_list<T: FromStr<Err: fmt::Display> + Any + Clone>(
        &self,
        module: Op<'_>,
        name: &str,
    ) -> Result<Vec<T>, ErrorReported> {
        if let Some(elements) = self.text_elements(name) {
            let read: Result<Vec<T>, T::Err> = elements.iter().map(|element| element.text.parse()).collect();
            return read.map_err(|error| {
                error_at(codes::OPTION_VALUE, module, format_args!("option '{name}': {error}")).report()
            });
        }
        let Some(value) = self.typed_value(name) else { return Ok(Vec::new()) };
        let elements = match &value.0 {
            OptionValueKind::Typed(value) => (&**value as &dyn Any).downcast_ref::<Vec<T>>(),
            _ => None,
        };
        Ok(elements.unwrap_or_else(|| panic!("'{name}' is no option with such a list")).clone())
    }

    /// Returns the options of a nested compilation; `None` if there are none.
    ///
    /// # Errors
    /// If an option is invalid; reported at the module.
    ///
    /// # Panics
    /// If the option is of another kind: a compiler bug.
    pub fn read_nested_options<T: Any + Clone>(&self, module: Op<'_>, name: &str) -> Result<Option<T>, ErrorReported> {
        let read;
        let value = match &self.source {
            OptionSource::Typed(values) => values.get(name),
            OptionSource::Textual(texts) => match texts.values.get(name).and_then(|elements| elements.first()) {
                Some(value) if !value.written.is_empty() => {
                    let reject = |error| {
                        error_at(codes::OPTION_VALUE, module, format_args!("option '{name}': {error}")).report()
                    };
                    read = (texts.read_nested)(texts.argument, &value.written).map_err(reject)?;
                    Some(&read)
                }
                _ => None,
            },
        };
        let Some(value) = value else { return Ok(None) };
        let nested = match &value.0 {
            OptionValueKind::Nested(value) => (&**value as &dyn Any).downcast_ref::<SingleValue<T>>(),
            _ => None,
        };
        Ok(Some(nested.unwrap_or_else(|| panic!("'{name}' is no option with such options")).0.clone()))
    }
}

/// Prints typed options as MLIR parses them: `{name=value name=value}`, or nothing.
impl fmt::Display for PassOptions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OptionSource::Typed(values) = &self.source else { return Ok(()) };
        let printed = values.iter().filter_map(|(name, value)| Some(format!("{name}={}", value.format_value()?)));
        let printed: Vec<String> = printed.collect();
        if printed.is_empty() { Ok(()) } else { write!(formatter, "{{{}}}", printed.join(" ")) }
    }
}

/// Escapes a value for the text of a pipeline. Quotes and the separators of values, lists and passes become the
/// hexadecimal digits of their bytes: `a b` becomes `a\20b`.
#[must_use]
pub fn escape(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_whitespace() || letter.is_control() || "{}()'\",\\".contains(letter) {
            let mut bytes = [0; 4];
            written.extend(letter.encode_utf8(&mut bytes).bytes().map(|byte| format!("\\{byte:02X}")));
        } else {
            written.push(letter);
        }
    }
    written
}

/// Parses the output of [`escape`].
///
/// # Errors
/// If hexadecimal digits are missing, or encode no text.
pub fn unescape(written: &str) -> Result<String, String> {
    let mut bytes = Vec::with_capacity(written.len());
    let mut rest = written.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        if byte != b'\\' {
            bytes.push(byte);
            rest = after;
            continue;
        }
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let read = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let reject = || format!("expected two hexadecimal digits after '\\', found '{written}'; write '\\5C' for '\\'");
        bytes.push(read.ok_or_else(reject)?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| format!("expected digits of a text in UTF-8 after '\\', found '{written}'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const NO_NESTED: NestedReader = |argument, text| Err(format!("'{argument}' has no nested options, found '{text}'"));

    #[test]
    fn reads_textual_options_by_name() {
        let entries =
            [("planner", "first-fit"), ("lx-bytes", "128"), ("is-on", "true"), ("file", "a\\20b"), ("file", "c")];
        let options = PassOptions::parse_texts("spyre-x", entries, NO_NESTED).unwrap();
        assert_eq!(
            (options.get_text("planner"), options.get_text("file"), options.get_text("absent")),
            ("first-fit", "a b", "")
        );
        assert_eq!((options.get_number("lx-bytes"), options.is_enabled("is-on")), (128, true));
    }

    #[test]
    #[should_panic(expected = "'core' is no option with a number")]
    fn panics_on_number_of_unknown_option() {
        let _ = PassOptions::parse_texts("spyre-x", [("cores", "2")], NO_NESTED)
            .unwrap_or_else(|error| panic!("{error}"))
            .get_number("core");
    }

    #[test]
    #[should_panic(expected = "'cores' is no option that is on or off")]
    fn reads_typed_values_unchanged() {
        let mut options = PassOptions::empty();
        options.set("cores", PassOptionValue::from_number(2));
        assert_eq!(options.get_number("cores"), 2);
        let _ = options.is_enabled("cores");
    }

    #[test]
    fn escapes_separators() {
        assert_eq!(escape("m y{a},'b'(\"c\")=\\.json"), "m\\20y\\7Ba\\7D\\2C\\27b\\27\\28\\22c\\22\\29=\\5C.json");
        assert_eq!(escape("gr\u{fc}n\u{3000}"), "gr\u{fc}n\\E3\\80\\80");
        for wrong in ["a\\", "a\\2", "a\\+2", "a\\2g", "\\FF"] {
            assert!(unescape(wrong).is_err_and(|error| error.contains(wrong)), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn texts_read_back(text in ".*") {
            let written = escape(&text);
            prop_assert!(!written.contains(|letter: char| letter.is_whitespace() || "{}()'\",".contains(letter)), "{}", written);
            prop_assert_eq!(unescape(&written), Ok(text));
        }
    }
}
