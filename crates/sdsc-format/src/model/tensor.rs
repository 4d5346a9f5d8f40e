//! Tensors in a file: what they are and where they are.

use super::{CoordinateFolds, CoreKey, DecimalInteger, Entries, Flag, FoldMap, Text, WordLength};
use serde::{Deserialize, Serialize};

/// A layout class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassInfo {
    /// The dimensions, innermost beside the stick first.
    #[serde(rename = "layoutDimOrder_", default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Text>,
    /// The dimensions along a stick.
    #[serde(rename = "stickDimOrder_", default, skip_serializing_if = "Vec::is_empty")]
    pub stick: Vec<Text>,
    /// Elements of a stick along each of them.
    #[serde(rename = "stickSize_", default, skip_serializing_if = "Vec::is_empty")]
    pub stick_sizes: Vec<i64>,
    /// Copies along each of them; `[1]` in files of torch-spyre, and only there for windowed ops.
    #[serde(
        rename = "stickRepl_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
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
pub struct AllocateNode {
    /// Always `allocate`.
    #[serde(rename = "nodeType_")]
    pub node_type: Text,
    /// Its own name; `allocate-Tensor<i>_<hbm|lx>` in files of torch-spyre.
    #[serde(rename = "name_")]
    pub name: Text,
    /// The node before it; the release leaves it out for the first node, torch-spyre writes an empty name everywhere.
    #[serde(rename = "prev_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub previous: Option<Text>,
    /// The number of the tensor; its position if the file does not say it.
    #[serde(rename = "ldsIdx_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub tensor: Option<usize>,
    /// `hbm` or `lx`.
    #[serde(rename = "component_", default, skip_serializing_if = "str::is_empty")]
    pub component: Text,
    /// The padding of a depthwise convolution's input; read into [`Self::padding`], since only the place in the file
    /// differs.
    #[serde(rename(serialize = "padding_"), skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub early_padding: Option<Entries<Text, Text>>,
    /// 1 when the start addresses are symbols.
    #[serde(
        rename = "isStartAddrSymbolic_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub is_symbolic: Option<Flag>,
    /// Set if each core has a tensor of its own in HBM, of the size of its slice.
    #[serde(
        rename = "nonUnifiedAllocInHBM_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub non_unified: Option<Flag>,
    /// The tensor's own dimension order.
    #[serde(rename = "layoutDimOrder_", default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Text>,
    /// Positions that one index reaches, by dimension, or -1.
    #[serde(rename = "maxDimSizes_", default, skip_serializing_if = "Vec::is_empty")]
    pub page_sizes: Vec<i64>,
    /// `no_indirection`, `index_tensor` or `value_tensor`.
    #[serde(rename = "indirectAllocType_", default, skip_serializing_if = "str::is_empty")]
    pub indirection: Text,
    /// The node of the index tensor, or of what it indexes.
    #[serde(
        rename = "relatedIndirectAccessAlloc_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub related: Option<Text>,
    /// `index` or `address`, on index tensors.
    #[serde(
        rename = "indexTensorType_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub index_type: Option<Text>,
    /// The byte address or the symbol of each core's part.
    #[serde(rename = "startAddressCoreCorelet_", default, skip_serializing_if = "FoldMap::is_missing")]
    pub start: FoldMap<CoreKey, DecimalInteger>,
    /// How a windowed input is padded, by dimension.
    #[serde(
        rename = "padding_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub padding: Option<Entries<Text, Text>>,
    /// Elements beyond the part that the op touches, by dimension and core; core -1 is every core.
    #[serde(
        rename = "backGapCore_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub gaps: Option<Entries<Text, Entries<i64, DecimalInteger>>>,
    /// How the op's space lies in the tensor.
    #[serde(rename = "coordinates_", default, skip_serializing_if = "Coordinates::is_missing")]
    pub coordinates: Coordinates,
}

impl AllocateNode {
    /// Whether its start addresses are symbols.
    #[must_use]
    pub fn has_symbolic_start(&self) -> bool {
        self.is_symbolic.is_some_and(Flag::is_set)
    }

    /// Whether each core has a tensor of its own: in LX, or in HBM with unrelated addresses.
    #[must_use]
    pub fn is_per_core(&self) -> bool {
        self.component == "lx" || self.non_unified.is_some_and(Flag::is_set)
    }
}

impl Coordinates {
    fn is_missing(&self) -> bool {
        self.dims.is_empty() && self.core_to_slice.is_empty()
    }
}

/// How the op's space lies in a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coordinates {
    /// By dimension.
    #[serde(rename = "coordInfo", default)]
    pub dims: Entries<Text, CoordInfo>,
    /// The slice that each core holds, when that is not what it computes.
    #[serde(rename = "coreIdToWkSlice_", default)]
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
    pub folds: CoordinateFolds,
}

impl CoordInfo {
    /// The corelets over which the dimension is folded; 1 without such a fold.
    #[must_use]
    pub fn num_corelets(&self) -> i64 {
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
    /// Its own name; `Tensor<i>` in files of torch-spyre.
    #[serde(rename = "dsName_")]
    pub name: Text,
    /// Its layout class.
    #[serde(rename = "dsType_")]
    pub class: Text,
    /// 1, -1 or -2 for each dimension of the class.
    #[serde(
        rename = "scale_",
        default,
        deserialize_with = "super::entries::whole_numbers",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub scales: Vec<i64>,
    /// Bytes of an element.
    #[serde(rename = "wordLength", default, skip_serializing_if = "WordLength::is_missing")]
    pub word_length: WordLength,
    /// The number format.
    #[serde(rename = "dataFormat_")]
    pub format: Text,
    /// Where it may live.
    #[serde(rename = "memOrg_")]
    pub memory: TensorMemories,
}

/// Where a tensor may live.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMemories {
    /// In HBM.
    #[serde(default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub hbm: Option<MemoryPresence>,
    /// In LX.
    #[serde(default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub lx: Option<MemoryPresence>,
}

/// That a tensor may live somewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryPresence {
    /// Always 1.
    #[serde(rename = "isPresent")]
    pub is_present: u8,
    /// 1 for the padded inputs of windowed ops.
    #[serde(
        rename = "isPadded",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub is_padded: Option<u8>,
    /// Always 0.
    #[serde(
        rename = "isZeroPadded",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub is_zero_padded: Option<u8>,
    /// Always 0.
    #[serde(
        rename = "dsOffset",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub offset: Option<i64>,
    /// The node of the tensor.
    #[serde(
        rename = "allocateNode_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub node: Option<Text>,
}
