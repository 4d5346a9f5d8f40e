//! Version number of a file format, as a member of each file.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};
use std::borrow::Cow;

/// Version `N` of a format. Reading rejects every other version.
///
/// A format gets the next number if a reader of the last version would misread it. Additions that old readers may
/// ignore keep the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormatVersion<const N: u64>;

impl<const N: u64> Serialize for FormatVersion<N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(N)
    }
}

impl<'de, const N: u64> Deserialize<'de> for FormatVersion<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match u64::deserialize(deserializer)? {
            found if found == N => Ok(Self),
            found => Err(D::Error::custom(format!(
                "expected version {N}, found version {found}; use the tool of the release that wrote the file"
            ))),
        }
    }
}

impl<const N: u64> JsonSchema for FormatVersion<N> {
    fn schema_name() -> Cow<'static, str> {
        format!("Version{N}").into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "const": N})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rejects_other_versions() {
        assert_eq!(serde_json::to_string(&FormatVersion::<3>).unwrap(), "3");
        assert!(serde_json::from_str::<FormatVersion<3>>("3").is_ok());
        let rejected = serde_json::from_str::<FormatVersion<3>>("4").unwrap_err().to_string();
        assert!(rejected.starts_with("expected version 3, found version 4"), "{rejected}");
    }
}
