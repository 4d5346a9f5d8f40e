//! Folds: repetition of a value over cores, corelets, time and the elements of a core's slice.

use super::{CoreKey, EmptyObject, Entries, Text};
use serde::{Deserialize, Serialize};
use std::fmt;

/// One level of a repeated structure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fold {
    /// Number of repetitions.
    #[serde(rename = "factor_")]
    pub factor: i64,
    /// Name of the repeated unit.
    #[serde(rename = "label_")]
    pub label: Text,
}

/// Map from a fold's position to a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum FoldFunction {
    /// `alpha * position + beta`.
    Affine {
        /// Step.
        #[serde(rename = "alpha_")]
        alpha: i64,
        /// Start.
        #[serde(rename = "beta_")]
        beta: i64,
    },
    /// Listed value for each position.
    Map(EmptyObject),
    /// Same value for all positions.
    Const(EmptyObject),
}

/// Folds of a coordinate, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordinateFolds {
    /// Function of each fold.
    #[serde(rename = "dim_prop_func")]
    pub functions: Vec<FoldFunction>,
    /// Label and count of each fold.
    #[serde(rename = "dim_prop_attr")]
    pub folds: Vec<Fold>,
}

/// Values over folds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "K: Deserialize<'de> + PartialEq + fmt::Debug, V: Deserialize<'de>"))]
pub struct FoldMap<K, V> {
    /// Function of each fold.
    #[serde(rename = "dim_prop_func")]
    pub functions: Vec<FoldFunction>,
    /// Label and count of each fold.
    #[serde(rename = "dim_prop_attr")]
    pub folds: Vec<Fold>,
    /// Listed values.
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

/// Returns the folds of a value: over cores, corelets, and a single time.
fn outer_folds(cores: i64, corelets: i64) -> Vec<Fold> {
    let fold = |factor, label: &'static str| Fold { factor, label: label.into() };
    vec![fold(cores, "core"), fold(corelets, "corelet"), fold(1, "time")]
}

impl<V> FoldMap<CoreKey, V> {
    /// Returns the map with a value for each core, which all corelets share.
    #[must_use]
    pub fn from_core_values(cores: i64, corelets: i64, values: Entries<CoreKey, V>) -> Self {
        let constant = FoldFunction::Const(EmptyObject {});
        Self {
            functions: vec![FoldFunction::Map(EmptyObject {}), constant, constant],
            folds: outer_folds(cores, corelets),
            data: values,
        }
    }

    /// Returns the map with one value for all cores. As in files of torch-spyre, the value is listed over time.
    #[must_use]
    pub fn from_constant(cores: i64, value: V) -> Self {
        let constant = FoldFunction::Const(EmptyObject {});
        Self {
            functions: vec![constant, constant, FoldFunction::Map(EmptyObject {})],
            folds: outer_folds(cores, 1),
            data: Entries(vec![(CoreKey::from_core(0), value)]),
        }
    }

    /// Returns the value on a core, or on its first corelet; a map that is constant over cores lists one value.
    #[must_use]
    pub fn value_on_core(&self, core: i64) -> Option<&V> {
        self.value_on_corelet(core, 0)
    }

    /// Returns the value on a corelet of a core, from the keys of that corelet.
    #[must_use]
    pub fn value_on_corelet(&self, core: i64, corelet: i64) -> Option<&V> {
        match (self.functions.first(), self.data.0.as_slice()) {
            (Some(FoldFunction::Const(_)), [(_, value)]) => Some(value),
            _ => {
                let is_key = |key: &CoreKey| (key.core, key.corelet) == (core, corelet);
                self.data.iter().find(|(key, _)| is_key(key)).map(|(_, value)| value)
            }
        }
    }

    /// Returns whether the values are listed by corelet.
    #[must_use]
    pub fn has_corelet_values(&self) -> bool {
        matches!(self.functions.get(1), Some(FoldFunction::Map(_)))
    }
}

/// Returns the default folds over time: a single one.
pub(super) fn single_time_fold() -> Vec<Fold> {
    vec![Fold { factor: 1, label: "time".into() }]
}

/// Returns the default of [`Operation::folds`](super::Operation::folds): one execution.
pub(super) fn default_time_folds() -> FoldMap<Text, Text> {
    FoldMap {
        functions: vec![FoldFunction::Affine { alpha: 1, beta: 0 }],
        folds: single_time_fold(),
        data: Entries(vec![("[0]".into(), "0".into())]),
    }
}
