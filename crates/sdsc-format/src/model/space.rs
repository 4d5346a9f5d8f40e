//! Iteration space in a file: that of the op, and one core's slice of it.

use super::entries::WholeNumber;
use super::{Entries, Text};
use serde::de::{self, Deserializer};
use serde::{Deserialize, Serialize, Serializer};

/// Sizes by dimension, under keys of the form `<dimension>_`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabeledSizes(pub Entries<Text, i64>);

/// Returns the label of a dimension, which some members write with an underscore.
#[must_use]
pub fn strip_underscore(key: &str) -> &str {
    key.strip_suffix('_').unwrap_or(key)
}

/// Names of dimensions in files.
const DIM_LABELS: [&str; 10] = ["mb", "x", "x1", "y", "i", "j", "ki", "kj", "out", "in"];

impl LabeledSizes {
    /// Returns the size of a dimension, by its label without the underscore.
    #[must_use]
    pub fn get(&self, label: &str) -> Option<i64> {
        self.0.iter().find(|(key, _)| key.strip_suffix('_') == Some(label)).map(|(_, size)| *size)
    }
}

impl Serialize for LabeledSizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for LabeledSizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sizes = Entries::<Text, WholeNumber>::deserialize(deserializer)?;
        let is_label = |key: &str| key.strip_suffix('_').is_some_and(|label| DIM_LABELS.contains(&label));
        if let Some((key, _)) = sizes.0.iter().find(|(key, _)| !is_label(key)) {
            return Err(de::Error::custom(format_args!(
                "unknown field '{key}'; sizes are named after dimensions, as in 'mb_'"
            )));
        }
        Ok(Self(sizes.0.into_iter().map(|(key, size)| (key, size.0)).collect()))
    }
}

/// Stages of data: always one, `0`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StageParams {
    /// The only stage.
    #[serde(rename = "0")]
    pub core: StagePair,
}

impl StageParams {
    pub(super) fn is_missing(&self) -> bool {
        self.core.steady.sizes.0.is_empty() && self.core.end.sizes.0.is_empty()
    }
}

/// Steady state and end of a stage; they differ if work is uneven.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StagePair {
    /// Unit that the sizes belong to; the reference emitter writes it in both members instead.
    #[serde(rename = "name_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
    /// Sizes in the steady state.
    #[serde(rename = "ss_")]
    pub steady: DimSizes,
    /// Sizes at the end.
    #[serde(rename = "el_")]
    pub end: DimSizes,
}

/// Sizes of the units of each corelet, by the name of the unit.
type UnitSplit = Entries<i64, Entries<Text, i64>>;

/// Sizes of an iteration space: of the complete op, or of one core.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DimSizes {
    /// `n` for the complete op, `core` for one core.
    #[serde(rename = "name_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
    /// Number of points of each dimension; -1 for a symbolic size.
    #[serde(flatten)]
    pub sizes: LabeledSizes,
    /// Bounds of symbolic dimensions.
    #[serde(
        rename = "symbolicDimInfo_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub symbolic: Option<Entries<Text, SymbolicInfo>>,
    /// Maximum products of symbolic sizes, by the list of their dimensions.
    #[serde(
        rename = "maxSymbolicVolume_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_symbolic_volume: Option<Entries<Text, i64>>,
    /// Size of each corelet.
    #[serde(
        rename = "coreletSplit_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub corelet_split: Option<Entries<Text, Vec<i64>>>,
    /// Sizes of the rows of each corelet.
    #[serde(
        rename = "rowSplit_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub row_split: Option<Entries<Text, Entries<i64, Vec<i64>>>>,
    /// Sizes of the units of each corelet.
    #[serde(
        rename = "peSfpSplit_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub pe_sfp_split: Option<Entries<Text, UnitSplit>>,
    /// Windows, by dimension.
    #[serde(
        rename = "paddingSizes_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub windows: Option<Entries<Text, WindowInfo>>,
}

impl DimSizes {
    /// Returns the bounds of a symbolic size. Some emitters write its dimension with an underscore.
    #[must_use]
    pub fn bounds(&self, label: &str) -> Option<&SymbolicInfo> {
        let is_dim = |key: &str| strip_underscore(key) == label;
        self.symbolic.iter().flat_map(Entries::iter).find(|(key, _)| is_dim(key)).map(|(_, info)| info)
    }

    /// Returns the windows, by dimension.
    pub fn windows(&self) -> impl Iterator<Item = (&Text, &WindowInfo)> {
        self.windows.iter().flat_map(Entries::iter)
    }
}

/// Bounds of one core's slice of a symbolic dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymbolicInfo {
    /// Maximum size.
    #[serde(rename = "maxSize_")]
    pub max: i64,
    /// Number of which the size is a multiple.
    #[serde(rename = "granularity_")]
    pub granularity: i64,
}

/// Window along one dimension.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowInfo {
    /// Number of points added before the input; -1 for a core of several along the dimension, in the release.
    #[serde(rename = "padFront_", default)]
    pub pad_front: i64,
    /// Number of points added after the input.
    #[serde(rename = "padBack_", default)]
    pub pad_back: i64,
    /// Number of points that no window reads. torch-spyre writes this and the next two members for depthwise
    /// convolutions only.
    #[serde(
        rename = "unneededPad_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub unneeded: Option<i64>,
    /// Number of points subtracted from the front padding.
    #[serde(
        rename = "unneededPadFront_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub unneeded_front: Option<i64>,
    /// Number of points subtracted from the back padding.
    #[serde(
        rename = "unneededPadBack_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub unneeded_back: Option<i64>,
    /// Number of points of the input with padding; [`NO_TOTAL_SIZE`] for `"N/A"`, and 0 if the file omits the member.
    #[serde(
        rename = "totalSize_",
        default,
        deserialize_with = "read_total_size",
        serialize_with = "write_total_size",
        skip_serializing_if = "is_zero"
    )]
    pub total: i64,
    /// Input points from one output point to the next.
    #[serde(rename = "stride_", default = "super::one")]
    pub stride: i64,
    /// Input points from one window point to the next.
    #[serde(rename = "dilation_", default = "super::one")]
    pub dilation: i64,
    /// Dimension of the window's points; empty if the file omits it.
    #[serde(rename = "windowDim_", default, skip_serializing_if = "str::is_empty")]
    pub window_dim: Text,
}

/// [`WindowInfo::total`] of a dimension that is split over cores, if the file does not state it.
pub const NO_TOTAL_SIZE: i64 = -1;

/// Spelling of [`NO_TOTAL_SIZE`].
const NO_TOTAL_TEXT: &str = "N/A";

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(number: &i64) -> bool {
    *number == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn write_total_size<S: Serializer>(total: &i64, serializer: S) -> Result<S::Ok, S::Error> {
    if *total == NO_TOTAL_SIZE { serializer.serialize_str(NO_TOTAL_TEXT) } else { serializer.serialize_i64(*total) }
}

fn read_total_size<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
    /// The two forms in files.
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum TotalSpelling {
        Number(i64),
        Text(String),
    }
    match TotalSpelling::deserialize(deserializer)? {
        TotalSpelling::Number(total) if total > 0 => Ok(total),
        TotalSpelling::Text(text) if text == NO_TOTAL_TEXT => Ok(NO_TOTAL_SIZE),
        TotalSpelling::Number(total) => {
            Err(de::Error::custom(format_args!("{total}; a total is positive, or \"N/A\"")))
        }
        TotalSpelling::Text(text) => Err(de::Error::custom(format_args!("'{text}'; a total is positive, or \"N/A\""))),
    }
}

impl DimSizes {
    /// Fills the members of windows that follow from sizes. A window slides along `i` or `j` over the points of `ki` or
    /// `kj`; `points` has their numbers.
    pub(super) fn complete_windows(&mut self, points: &LabeledSizes) {
        let sizes = &self.sizes;
        for (label, window) in self.windows.iter_mut().flat_map(|windows| &mut windows.0) {
            let is_named = !window.window_dim.is_empty();
            if !is_named && points.get(&format!("k{label}")).is_some() {
                window.window_dim = format!("k{label}").into();
            }
            window.window_dim = window.taps_label().to_owned().into();
            let is_open = window.total == NO_TOTAL_SIZE && !is_named && window.pad_front < 0;
            if let (true, Some(outputs), Some(taps)) =
                (window.total == 0 || is_open, sizes.get(label), points.get(&window.window_dim))
            {
                window.total = window.count_read_points(outputs, taps);
            }
        }
    }
}

impl WindowInfo {
    /// Returns the number of input points that the windows of `outputs` points cover, and unneeded points.
    #[must_use]
    pub fn count_read_points(&self, outputs: i64, taps: i64) -> i64 {
        let reach = |count: i64, step: i64| count.saturating_sub(1).saturating_mul(step);
        let windows = reach(outputs, self.stride).saturating_add(reach(taps, self.dilation)).saturating_add(1);
        windows.saturating_add(self.unneeded.unwrap_or_default())
    }

    /// Returns the label of the dimension of the window's points. Earlier releases write an underscore.
    #[must_use]
    pub fn taps_label(&self) -> &str {
        strip_underscore(&self.window_dim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flattens_sizes_into_members() {
        let text = r#"{"name_":"n","mb_":128,"out_":256}"#;
        let space: DimSizes = serde_json::from_str(text).unwrap();
        assert_eq!((space.sizes.get("mb"), space.sizes.get("x")), (Some(128), None));
        assert_eq!(serde_json::to_string(&space).unwrap(), text);
    }

    #[test]
    fn rejects_sizes_of_unknown_dimensions() {
        let error = serde_json::from_str::<DimSizes>(r#"{"name_":"n","mc_":128}"#).unwrap_err().to_string();
        assert!(error.starts_with("unknown field 'mc_'"), "{error}");
    }
}
