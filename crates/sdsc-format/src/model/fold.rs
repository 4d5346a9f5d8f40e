//! Folds: how a value repeats over cores, corelets, time and the elements of a core's part.

use super::{CoreKey, EmptyObject, Entries, Text};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One level of a repeated structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// How often.
    #[serde(rename = "factor_")]
    pub factor: i64,
    /// Over what.
    #[serde(rename = "label_")]
    pub label: Text,
}

/// How a value follows from a fold's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FoldFunction {
    /// `alpha * position + beta`.
    Affine {
        /// The step.
        #[serde(rename = "alpha_")]
        alpha: i64,
        /// The start.
        #[serde(rename = "beta_")]
        beta: i64,
    },
    /// It is listed.
    Map(EmptyObject),
    /// It does not.
    Const(EmptyObject),
}

/// The folds of a coordinate, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinateFolds {
    /// The steps.
    #[serde(rename = "dim_prop_func")]
    pub functions: Vec<FoldFunction>,
    /// The counts.
    #[serde(rename = "dim_prop_attr")]
    pub folds: Vec<Fold>,
}

/// Values over folds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "K: Deserialize<'de> + PartialEq + fmt::Debug, V: Deserialize<'de>"))]
pub struct FoldMap<K, V> {
    /// How the value follows from each position.
    #[serde(rename = "dim_prop_func")]
    pub functions: Vec<FoldFunction>,
    /// The folds.
    #[serde(rename = "dim_prop_attr")]
    pub folds: Vec<Fold>,
    /// The listed values.
    #[serde(rename = "data_", default = "Entries::default", skip_serializing_if = "Entries::is_empty")]
    pub data: Entries<K, V>,
}

impl<K, V> Default for FoldMap<K, V> {
    fn default() -> Self {
        Self { functions: Vec::new(), folds: Vec::new(), data: Entries::default() }
    }
}

impl<K, V> FoldMap<K, V> {
    pub(super) fn is_missing(&self) -> bool {
        self.functions.is_empty() && self.folds.is_empty() && self.data.is_empty()
    }
}

impl<V> FoldMap<CoreKey, V> {
    /// Returns the value on a core; a map that is constant over cores lists one value.
    #[must_use]
    pub fn value_on_core(&self, core: i64) -> Option<&V> {
        match (self.functions.first(), self.data.0.as_slice()) {
            (Some(FoldFunction::Const(_)), [(_, value)]) => Some(value),
            _ => self.data.iter().find(|(key, _)| key.core == core).map(|(_, value)| value),
        }
    }
}

/// Folds over time of a file that gives none.
pub(super) fn single_time_fold() -> Vec<Fold> {
    vec![Fold { factor: 1, label: "time".into() }]
}

/// The op over time in a file that does not say it.
pub(super) fn default_time_folds() -> FoldMap<Text, Text> {
    FoldMap {
        functions: vec![FoldFunction::Affine { alpha: 1, beta: 0 }],
        folds: single_time_fold(),
        data: Entries(vec![("[0]".into(), "0".into())]),
    }
}
