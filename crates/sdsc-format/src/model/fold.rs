//! Folds: how a value repeats over cores, corelets, time and the elements of a core's part.

use super::{Entries, Nothing, Text};
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
    Map(Nothing),
    /// It does not.
    Const(Nothing),
}

/// The folds of a coordinate, outermost first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Folds {
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
    #[serde(rename = "data_")]
    pub data: Entries<K, V>,
}
