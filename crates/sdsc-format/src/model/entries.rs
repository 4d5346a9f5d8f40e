//! Building blocks of the file model: maps that keep their order, and values that files spell in a particular way.

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// A word of a file: nearly always one of few, so it is seldom allocated.
pub type Text = Cow<'static, str>;

/// A JSON object with its members in the order of the file.
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
    /// The value of a key.
    #[must_use]
    pub fn get<Q: PartialEq<K> + ?Sized>(&self, key: &Q) -> Option<&V> {
        self.0.iter().find(|(known, _)| key == known).map(|(_, value)| value)
    }
}

impl<K, V> Entries<K, V> {
    /// The members, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V)> {
        self.0.iter().map(|(key, value)| (key, value))
    }

    /// Whether there are no members.
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

/// Reads the members of an object, each key once.
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

/// An object with exactly one member, whose key is a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named<T> {
    /// The key.
    pub name: Text,
    /// The value.
    pub value: T,
}

impl<T: Serialize> Serialize for Named<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(1))?;
        map.serialize_entry(&self.name, &self.value)?;
        map.end()
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut entries = Entries::<Text, T>::deserialize(deserializer)?.0;
        match (entries.pop(), entries.len()) {
            (Some((name, value)), 0) => Ok(Self { name, value }),
            (Some(_), others) => Err(de::Error::invalid_length(others + 1, &"exactly one member")),
            (None, _) => Err(de::Error::invalid_length(0, &"exactly one member")),
        }
    }
}

/// A core in a map over cores, corelets and time: `[core, 0, 0]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CoreKey(pub i64);

impl fmt::Display for CoreKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "[{}, 0, 0]", self.0)
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
        let core = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(", 0, 0]")).and_then(|core| core.parse().ok());
        core.map(Self).ok_or_else(|| de::Error::invalid_value(de::Unexpected::Str(&text), &"a key of the form [core, 0, 0]"))
    }
}

/// An integer that files spell as a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Decimal(pub i64);

impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Text::deserialize(deserializer)?;
        text.parse().map(Self).map_err(|_| de::Error::invalid_value(de::Unexpected::Str(&text), &"an integer as a string"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_keep_their_order() {
        let text = r#"{"out":1,"mb":2}"#;
        let entries: Entries<Text, i64> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&entries).unwrap(), text);
        assert_eq!(entries.get("mb"), Some(&2));
    }

    #[test]
    fn a_key_occurs_once() {
        let error = serde_json::from_str::<Entries<Text, i64>>(r#"{"a":1,"a":2}"#).unwrap_err();
        assert!(error.to_string().starts_with("key \"a\" occurs twice"), "{error}");
    }

    #[test]
    fn core_keys_and_decimals_are_strings() {
        let text = r#"{"[31, 0, 0]":"-4"}"#;
        let entries: Entries<CoreKey, Decimal> = serde_json::from_str(text).unwrap();
        assert_eq!(entries.0, [(CoreKey(31), Decimal(-4))]);
        assert_eq!(serde_json::to_string(&entries).unwrap(), text);
        assert!(serde_json::from_str::<Entries<CoreKey, Decimal>>(r#"{"[1, 1, 0]":"0"}"#).is_err());
    }

    #[test]
    fn core_numbers_are_keys() {
        let text = r#"{"0":5,"31":6}"#;
        let entries: Entries<i64, i64> = serde_json::from_str(text).unwrap();
        assert_eq!(serde_json::to_string(&entries).unwrap(), text);
    }
}
