//! Building blocks of the file model: maps that keep their order, and values with particular forms in files.

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::ser::{SerializeMap, Serializer};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// Word of a file. Most words are known constants, so they are rarely allocated.
pub type Text = Cow<'static, str>;

/// JSON object with its members in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries<K, V>(pub Vec<(K, V)>);

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K, V> FromIterator<(K, V)> for Entries<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(entries: I) -> Self {
        Self(entries.into_iter().collect())
    }
}

impl<K: PartialEq, V> Entries<K, V> {
    /// Returns the value of a key.
    #[must_use]
    pub fn get<Q: PartialEq<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.0.iter().find(|(known, _)| key == known).map(|(_, value)| value)
    }
}

impl<K, V> Entries<K, V> {
    /// Returns the members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Returns whether there are no members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<K: Serialize, V: Serialize> Serialize for Entries<K, V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

impl<'de, K, V> Deserialize<'de> for Entries<K, V>
where
    K: Deserialize<'de> + PartialEq + fmt::Debug,
    V: Deserialize<'de>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EntriesVisitor(PhantomData))
    }
}

/// Reads the members of an object; rejects repeated keys.
pub(super) struct EntriesVisitor<K, V>(pub(super) PhantomData<(K, V)>);

impl<'de, K, V> Visitor<'de> for EntriesVisitor<K, V>
where
    K: Deserialize<'de> + PartialEq + fmt::Debug,
    V: Deserialize<'de>,
{
    type Value = Entries<K, V>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Entries::default();
        while let Some(key) = map.next_key()? {
            if entries.get(&key).is_some() {
                return Err(de::Error::custom(format_args!("key {key:?} occurs twice")));
            }
            let value = map.next_value()?;
            entries.0.push((key, value));
        }
        Ok(entries)
    }
}

/// Object with exactly one member, whose key is a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedMember<T> {
    /// Key of the member.
    pub name: Text,
    /// Value of the member.
    pub value: T,
}

impl<T: Serialize> Serialize for NamedMember<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.value)?;
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NamedMember<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut entries = Entries::<Text, T>::deserialize(deserializer)?.0;
        match (entries.pop(), entries.len()) {
            (Some((name, value)), 0) => Ok(Self { name, value }),
            (Some(_), others) => Err(de::Error::invalid_length(others + 1, &"exactly one member")),
            (None, _) => Err(de::Error::invalid_length(0, &"exactly one member")),
        }
    }
}

/// Key of a core in a map over cores and corelets, `[core, corelet]`, or over time as well, `[core, corelet, 0]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoreKey {
    /// Number of the core.
    pub core: i64,
    /// Number of the corelet on the core; 0 if the value does not depend on it.
    pub corelet: i64,
    /// Whether the key has a position in time.
    pub is_timed: bool,
}

impl CoreKey {
    /// Returns the key of a core at the only position in time.
    #[must_use]
    pub const fn from_core(core: i64) -> Self {
        Self { core, corelet: 0, is_timed: true }
    }
}

impl fmt::Display for CoreKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}, {}{}]", self.core, self.corelet, if self.is_timed { ", 0" } else { "" })
    }
}

impl Serialize for CoreKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CoreKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        let positions = text
            .strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .map(|inner| inner.split(',').map(str::trim).collect());
        let key = positions.and_then(|positions: Vec<&str>| match positions.as_slice() {
            [core, corelet] => Some((core.parse().ok()?, corelet.parse().ok()?, false)),
            [core, corelet, "0"] => Some((core.parse().ok()?, corelet.parse().ok()?, true)),
            _ => None,
        });
        let key = key.filter(|(_, corelet, _)| (0..2).contains(corelet));
        key.map(|(core, corelet, is_timed)| Self { core, corelet, is_timed }).ok_or_else(|| {
            let form = "a key of the form [core, corelet] or [core, corelet, 0], with corelet 0 or 1";
            de::Error::invalid_value(de::Unexpected::Str(&text), &form)
        })
    }
}

/// Boolean, which files write as 0 or 1, or as a JSON boolean.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Flag {
    /// `true` or `false`.
    Truth(bool),
    /// 1 or 0.
    Digit(u8),
}

impl Flag {
    /// Set flag, as the reference emitter writes it.
    pub const SET: Self = Self::Digit(1);

    /// Returns whether the flag is set.
    #[must_use]
    pub const fn is_set(self) -> bool {
        matches!(self, Self::Truth(true) | Self::Digit(1))
    }
}

/// Symbol of a size: an integer in files of torch-spyre, a string in the release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SizeSymbol {
    /// Id of the symbol.
    pub id: i64,
    /// Whether the file writes it as a string.
    pub is_text: bool,
}

impl Serialize for SizeSymbol {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.is_text { serializer.collect_str(&self.id) } else { serializer.serialize_i64(self.id) }
    }
}

impl<'de> Deserialize<'de> for SizeSymbol {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor).map(|(id, is_text)| Self { id, is_text })
    }
}

/// Reads an integer, or a string with an integer; the second value is true for a string.
struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = (i64, bool);

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an integer, as a number or as a string")
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<(i64, bool), E> {
        Ok((number, false))
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<(i64, bool), E> {
        let fits = i64::try_from(number).map(|number| (number, false));
        fits.map_err(|_| E::invalid_value(de::Unexpected::Unsigned(number), &self))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<(i64, bool), E> {
        text.parse().map(|number| (number, true)).map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}

/// Length of an element: an integer number of bytes, or a fraction for formats of less than a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WordLength {
    /// Length in bits.
    pub bits: i64,
}

impl WordLength {
    /// Returns the length of a number of bytes.
    #[must_use]
    pub const fn from_bytes(bytes: i64) -> Self {
        Self { bits: bytes.saturating_mul(8) }
    }
}

impl WordLength {
    pub(super) const fn is_missing(&self) -> bool {
        self.bits == 0
    }
}

impl fmt::Display for WordLength {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bits % 8 == 0 { write!(formatter, "{}", self.bits / 8) } else { write!(formatter, "{}/8", self.bits) }
    }
}

impl Serialize for WordLength {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.bits % 8 == 0 {
            serializer.serialize_i64(self.bits / 8)
        } else {
            serializer.serialize_f64(self.bits as f64 / 8.0)
        }
    }
}

impl<'de> Deserialize<'de> for WordLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = f64::deserialize(deserializer)?;
        let bits = bytes * 8.0;
        if !(1.0..=1024.0).contains(&bits) || bits.fract() != 0.0 {
            return Err(de::Error::invalid_value(de::Unexpected::Float(bytes), &"bytes of an element, in whole bits"));
        }
        Ok(Self { bits: bits as i64 })
    }
}

/// Reads integers that a file may write with a fraction of zero, as in `1.0`.
pub(super) fn whole_numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<i64>, D::Error> {
    Vec::<WholeNumber>::deserialize(deserializer).map(|numbers| numbers.into_iter().map(|number| number.0).collect())
}

/// Integer that a file may write with a fraction of zero.
pub(super) struct WholeNumber(pub(super) i64);

impl<'de> Deserialize<'de> for WholeNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = serde_json::Number::deserialize(deserializer)?;
        let integral = |value: &f64| value.fract() == 0.0 && value.abs() < 9e15;
        let whole = number.as_i64().or_else(|| number.as_f64().filter(integral).map(|value| value as i64));
        whole.map(Self).ok_or_else(|| de::Error::custom(format_args!("invalid value: '{number}', expected an integer")))
    }
}

/// Integer that files write as a string: always as a key of an object; as a value it may be a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DecimalInteger(pub i64);

impl Serialize for DecimalInteger {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for DecimalInteger {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor).map(|(number, _)| Self(number))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_order_of_members() {
        let text = r#"{"out":1,"mb":2}"#;
        let entries: Entries<Text, i64> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&entries).unwrap(), text);
        assert_eq!(entries.get("mb"), Some(&2));
    }

    #[test]
    fn rejects_duplicate_keys() {
        let error = serde_json::from_str::<Entries<Text, i64>>(r#"{"a":1,"a":2}"#).unwrap_err();
        assert!(error.to_string().starts_with("key \"a\" occurs twice"), "{error}");
    }

    #[test]
    fn spells_core_keys_and_decimals_as_strings() {
        let text = r#"{"[31, 0, 0]":"-4"}"#;
        let entries: Entries<CoreKey, DecimalInteger> = serde_json::from_str(text).unwrap();
        assert_eq!(entries.0, [(CoreKey::from_core(31), DecimalInteger(-4))]);
        assert_eq!(serde_json::to_string(&entries).unwrap(), text);
        let text = r#"{"[1, 1, 0]":"0","[2, 1]":"0"}"#;
        let entries: Entries<CoreKey, DecimalInteger> = serde_json::from_str(text).unwrap();
        assert_eq!((entries.0[0].0.corelet, entries.0[1].0.is_timed), (1, false));
        assert_eq!(serde_json::to_string(&entries).unwrap(), text);
        for key in ["[1, 2, 0]", "[1, 0, 1]", "[1]"] {
            let text = format!(r#"{{"{key}":"0"}}"#);
            assert!(serde_json::from_str::<Entries<CoreKey, DecimalInteger>>(&text).is_err(), "{key}");
        }
    }

    #[test]
    fn spells_core_numbers_as_keys() {
        let text = r#"{"0":5,"31":6}"#;
        let entries: Entries<i64, i64> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&entries).unwrap(), text);
    }
}
