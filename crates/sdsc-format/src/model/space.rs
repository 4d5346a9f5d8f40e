//! The iteration space in a file: whole, and one core's part.

use super::{Entries, Nothing, Text};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

/// The sizes of the iteration space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceSizes {
    /// Always `n`.
    #[serde(rename = "name_")]
    pub name: Text,
    /// Points by dimension.
    #[serde(flatten)]
    pub sizes: Sizes,
    /// The windows.
    #[serde(rename = "paddingSizes_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub windows: Option<Entries<Text, WindowInfo>>,
}

/// Sizes by dimension, under keys of the form `<dimension>_`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(pub Entries<Text, i64>);

/// The names that dimensions have in files.
const DIM_LABELS: [&str; 9] = ["mb", "x", "y", "i", "j", "ki", "kj", "out", "in"];

impl Sizes {
    /// The size of a dimension, by its label without the underscore.
    #[must_use]
    pub fn get(&self, label: &str) -> Option<i64> {
        self.0.iter().find(|(key, _)| key.strip_suffix('_') == Some(label)).map(|(_, size)| *size)
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sizes = Entries::<Text, i64>::deserialize(deserializer)?;
        let is_label = |key: &str| key.strip_suffix('_').is_some_and(|label| DIM_LABELS.contains(&label));
        if let Some((key, _)) = sizes.0.iter().find(|(key, _)| !is_label(key)) {
            return Err(de::Error::custom(format_args!("unknown field '{key}'; sizes are named after dimensions, as in 'mb_'")));
        }
        Ok(Self(sizes))
    }
}

/// The stages of data: always one, `0`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageParams {
    /// The only stage.
    #[serde(rename = "0")]
    pub core: StagePair,
}

/// The steady state and the end of a stage; always equal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagePair {
    /// The steady state.
    #[serde(rename = "ss_")]
    pub steady: Stage,
    /// The end.
    #[serde(rename = "el_")]
    pub end: Stage,
}

/// One core's part of the space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stage {
    /// Always `core`.
    #[serde(rename = "name_")]
    pub name: Text,
    /// Points by dimension.
    #[serde(flatten)]
    pub sizes: Sizes,
    /// The bounds of symbolic dimensions.
    #[serde(rename = "symbolicDimInfo_")]
    pub symbolic: Entries<Text, SymbolicInfo>,
    /// Always empty.
    #[serde(rename = "maxSymbolicVolume_")]
    pub max_symbolic_volume: Nothing,
    /// Always empty.
    #[serde(rename = "coreletSplit_")]
    pub corelet_split: Nothing,
    /// Always empty.
    #[serde(rename = "rowSplit_")]
    pub row_split: Nothing,
    /// Always empty.
    #[serde(rename = "peSfpSplit_")]
    pub pe_sfp_split: Nothing,
    /// The windows.
    #[serde(rename = "paddingSizes_")]
    pub windows: Entries<Text, WindowInfo>,
}

/// The bounds of one core's part of a symbolic dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymbolicInfo {
    /// The largest size.
    #[serde(rename = "maxSize_")]
    pub max: i64,
    /// It is a multiple of this.
    #[serde(rename = "granularity_")]
    pub granularity: i64,
}

/// A window along one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowInfo {
    /// Points added in front of the input.
    #[serde(rename = "padFront_")]
    pub pad_front: i64,
    /// Points added behind the input.
    #[serde(rename = "padBack_")]
    pub pad_back: i64,
    /// Points that no window reads (depthwise convolutions only, as the next two).
    #[serde(rename = "unneededPad_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub unneeded: Option<i64>,
    /// Those taken off the front padding.
    #[serde(rename = "unneededPadFront_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub unneeded_front: Option<i64>,
    /// Those taken off the back padding.
    #[serde(rename = "unneededPadBack_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub unneeded_back: Option<i64>,
    /// Points of the input with padding.
    #[serde(rename = "totalSize_")]
    pub total: i64,
    /// Input points from one output point to the next.
    #[serde(rename = "stride_")]
    pub stride: i64,
    /// Input points from one window point to the next.
    #[serde(rename = "dilation_")]
    pub dilation: i64,
    /// The dimension of the window's points.
    #[serde(rename = "windowDim_")]
    pub window_dim: Text,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_stand_beside_the_other_members() {
        let text = r#"{"name_":"n","mb_":128,"out_":256}"#;
        let space: SpaceSizes = serde_json::from_str(text).unwrap();
        assert_eq!((space.sizes.get("mb"), space.sizes.get("x")), (Some(128), None));
        assert_eq!(serde_json::to_string(&space).unwrap(), text);
    }

    #[test]
    fn a_size_is_named_after_a_dimension() {
        let error = serde_json::from_str::<SpaceSizes>(r#"{"name_":"n","mc_":128}"#).unwrap_err().to_string();
        assert!(error.starts_with("unknown field 'mc_'"), "{error}");
    }
}
