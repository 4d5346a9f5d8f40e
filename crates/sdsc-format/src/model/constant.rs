//! Constants in a file.

use super::entries::EntriesVisitor;
use super::{CoreKey, Entries, FoldMap, Text};
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use std::marker::PhantomData;

/// Constants of an op, by number. Files write an empty list as the string `"{}"`; the release permits `{}` too.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Constants(pub Entries<usize, ConstantInfo>);

impl Serialize for Constants {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if self.0.is_empty() { serializer.serialize_str("{}") } else { self.0.serialize(serializer) }
    }
}

impl<'de> Deserialize<'de> for Constants {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ConstantsVisitor)
    }
}

struct ConstantsVisitor;

impl<'de> Visitor<'de> for ConstantsVisitor {
    type Value = Constants;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object of constants, or the string \"{}\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Constants, E> {
        if text == "{}" { Ok(Constants::default()) } else { Err(E::invalid_value(de::Unexpected::Str(text), &self)) }
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Constants, A::Error> {
        EntriesVisitor(PhantomData).visit_map(map).map(Constants)
    }
}

/// Constant of an op.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConstantInfo {
    /// Number format of the bits.
    #[serde(rename = "dataFormat_")]
    pub format: Text,
    /// Name by which the function knows the constant.
    #[serde(rename = "name_")]
    pub name: Text,
    /// Bits of the constant, equal on every core.
    #[serde(rename = "data_")]
    pub data: FoldMap<CoreKey, BitsList>,
}

/// Bits of a constant on a core: a list with one entry. The release also permits the value without a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct BitsList(pub Vec<ConstantBits>);

impl<'de> Deserialize<'de> for BitsList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The two forms in files.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum BitsListSpelling {
            List(Vec<ConstantBits>),
            Single(ConstantBits),
        }
        Ok(match BitsListSpelling::deserialize(deserializer)? {
            BitsListSpelling::List(list) => Self(list),
            BitsListSpelling::Single(bits) => Self(vec![bits]),
        })
    }
}

/// Bits of a constant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ConstantBits {
    /// Bits.
    Known(u32),
    /// Value whose bits are unknown; occurs in golden files only.
    Marker(Text),
}

impl<'de> Deserialize<'de> for ConstantBits {
    /// Reads a number or, as later emitters write it, a string.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        /// The two forms in files.
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum BitsSpelling {
            Number(u32),
            Text(String),
        }
        Ok(match BitsSpelling::deserialize(deserializer)? {
            BitsSpelling::Number(bits) => Self::Known(bits),
            BitsSpelling::Text(text) => text.parse().map_or_else(|_| Self::Marker(text.into()), Self::Known),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spells_no_constants_as_string() {
        assert_eq!(serde_json::to_string(&Constants::default()).unwrap(), r#""{}""#);
        assert_eq!(serde_json::from_str::<Constants>(r#""{}""#).unwrap(), Constants::default());
        assert!(serde_json::from_str::<Constants>(r#""""#).is_err());
        assert_eq!(serde_json::from_str::<Constants>("{}").unwrap(), Constants::default());
    }

    #[test]
    fn reads_four_spellings_of_bits() {
        let bits = |text: &str| serde_json::from_str::<BitsList>(text).unwrap().0;
        for text in ["[31744]", "31744", r#"["31744"]"#, r#""31744""#] {
            assert_eq!(bits(text), [ConstantBits::Known(31744)], "{text}");
        }
        assert_eq!(bits(r#"["?DL16(6.0)"]"#), [ConstantBits::Marker("?DL16(6.0)".into())]);
        assert!(serde_json::from_str::<BitsList>("-1").is_err());
    }
}
