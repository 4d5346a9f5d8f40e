//! Tensors in a file: what they are and where they are.

use super::{CoreKey, Decimal, Entries, FoldMap, Folds, Text};
use serde::{Deserialize, Serialize};

/// A layout class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassInfo {
    /// The dimensions, innermost beside the stick first.
    #[serde(rename = "layoutDimOrder_")]
    pub order: Vec<Text>,
    /// The dimensions along a stick.
    #[serde(rename = "stickDimOrder_")]
    pub stick: Vec<Text>,
    /// Elements of a stick along each of them.
    #[serde(rename = "stickSize_")]
    pub stick_sizes: Vec<i64>,
    /// Always `[1]`, and only there for windowed ops.
    #[serde(rename = "stickRepl_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub stick_replication: Option<Vec<i64>>,
}

/// How classes share data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassRelation {
    /// 1 when windows overlap.
    #[serde(rename = "isPdsReuse")]
    pub is_reuse: u8,
}

/// Where a tensor is, on every core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Always `allocate`.
    #[serde(rename = "nodeType_")]
    pub node_type: Text,
    /// `allocate-Tensor<i>_<hbm|lx>`.
    #[serde(rename = "name_")]
    pub name: Text,
    /// Always empty.
    #[serde(rename = "prev_")]
    pub previous: Text,
    /// The number of the tensor.
    #[serde(rename = "ldsIdx_")]
    pub tensor: usize,
    /// `hbm` or `lx`.
    #[serde(rename = "component_")]
    pub component: Text,
    /// The padding of a depthwise convolution's input; read into [`Self::padding`], since only the place in the file differs.
    #[serde(rename(serialize = "padding_"), skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub early_padding: Option<Entries<Text, Text>>,
    /// 1 when the start addresses are symbols.
    #[serde(rename = "isStartAddrSymbolic_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub is_symbolic: Option<u8>,
    /// The tensor's own dimension order.
    #[serde(rename = "layoutDimOrder_")]
    pub order: Vec<Text>,
    /// Positions that one index reaches, by dimension, or -1.
    #[serde(rename = "maxDimSizes_")]
    pub page_sizes: Vec<i64>,
    /// `no_indirection`, `index_tensor` or `value_tensor`.
    #[serde(rename = "indirectAllocType_")]
    pub indirection: Text,
    /// The node of the index tensor, or of what it indexes.
    #[serde(rename = "relatedIndirectAccessAlloc_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub related: Option<Text>,
    /// `index`, on index tensors.
    #[serde(rename = "indexTensorType_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub index_type: Option<Text>,
    /// The byte address or the symbol of each core's part.
    #[serde(rename = "startAddressCoreCorelet_")]
    pub start: FoldMap<CoreKey, Decimal>,
    /// How a windowed input is padded, by dimension.
    #[serde(rename = "padding_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub padding: Option<Entries<Text, Text>>,
    /// Elements beyond the part that the op touches, by dimension and core; core -1 is every core.
    #[serde(rename = "backGapCore_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub gaps: Option<Entries<Text, Entries<i64, Decimal>>>,
    /// How the op's space lies in the tensor.
    #[serde(rename = "coordinates_")]
    pub coordinates: Coordinates,
}

/// How the op's space lies in a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coordinates {
    /// By dimension.
    #[serde(rename = "coordInfo")]
    pub dims: Entries<Text, CoordInfo>,
    /// The slice that each core holds, when that is not what it computes.
    #[serde(rename = "coreIdToWkSlice_")]
    pub core_to_slice: Entries<i64, Entries<Text, i64>>,
}

/// How one dimension of the op's space lies in a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordInfo {
    /// Spatial folds: always 3.
    pub spatial: i64,
    /// Temporal folds: always 0.
    pub temporal: i64,
    /// Folds of the elements.
    #[serde(rename = "elemArr")]
    pub element_folds: i64,
    /// How the dimension is padded.
    pub padding: Text,
    /// The folds.
    pub folds: Folds,
}

impl CoordInfo {
    /// The corelets over which the dimension is folded; 1 without such a fold.
    #[must_use]
    pub fn corelets(&self) -> i64 {
        self.folds.folds.iter().find(|fold| fold.label == "corelet_fold").map_or(1, |fold| fold.factor)
    }
}

/// Description of a tensor: layout class, element format and permitted memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorInfo {
    /// The number of the tensor.
    #[serde(rename = "ldsIdx_")]
    pub tensor: usize,
    /// `Tensor<i>`.
    #[serde(rename = "dsName_")]
    pub name: Text,
    /// Its layout class.
    #[serde(rename = "dsType_")]
    pub class: Text,
    /// 1, -1 or -2 for each dimension of the class.
    #[serde(rename = "scale_")]
    pub scales: Vec<i64>,
    /// Bytes of an element.
    #[serde(rename = "wordLength")]
    pub word_length: i64,
    /// The number format.
    #[serde(rename = "dataFormat_")]
    pub format: Text,
    /// Where it may live.
    #[serde(rename = "memOrg_")]
    pub memory: Memory,
}

/// Where a tensor may live.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// In HBM.
    #[serde(default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub hbm: Option<Presence>,
    /// In LX.
    #[serde(default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub lx: Option<Presence>,
}

/// That a tensor may live somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Presence {
    /// Always 1.
    #[serde(rename = "isPresent")]
    pub is_present: u8,
    /// 1 for the padded inputs of windowed ops.
    #[serde(rename = "isPadded", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub is_padded: Option<u8>,
    /// Always 0.
    #[serde(rename = "isZeroPadded", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub is_zero_padded: Option<u8>,
    /// Always 0.
    #[serde(rename = "dsOffset", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub offset: Option<i64>,
    /// The node of the tensor.
    #[serde(rename = "allocateNode_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub node: Option<Text>,
}
