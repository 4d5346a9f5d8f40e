//! Tensors in a file: their properties and locations.

use super::{CoordinateFolds, CoreKey, DecimalInteger, Entries, Flag, FoldMap, Text, WordLength};
use serde::{Deserialize, Serialize};

/// Layout class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassInfo {
    /// Dimensions; the innermost one, next to the stick, is first.
    #[serde(rename = "layoutDimOrder_", default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Text>,
    /// Dimensions along a stick.
    #[serde(rename = "stickDimOrder_", default, skip_serializing_if = "Vec::is_empty")]
    pub stick: Vec<Text>,
    /// Number of elements of a stick along each of these dimensions.
    #[serde(rename = "stickSize_", default, skip_serializing_if = "Vec::is_empty")]
    pub stick_sizes: Vec<i64>,
    /// Copies along each of these dimensions; `[1]` in files of torch-spyre, and present for windowed ops only.
    #[serde(
        rename = "stickRepl_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub stick_replication: Option<Vec<i64>>,
}

/// Sharing of data by layout classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassRelation {
    /// 1 if windows overlap.
    #[serde(rename = "isPdsReuse")]
    pub is_reuse: u8,
}

/// Location of a tensor on every core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AllocateNode {
    /// Always `allocate`.
    #[serde(rename = "nodeType_")]
    pub node_type: Text,
    /// Unique name; `allocate-Tensor<i>_<hbm|lx>` in files of torch-spyre.
    #[serde(rename = "name_")]
    pub name: Text,
    /// Preceding node. The release omits it for the first node; torch-spyre writes an empty name.
    #[serde(rename = "prev_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub previous: Option<Text>,
    /// Number of the tensor; its position if the file omits it.
    #[serde(rename = "ldsIdx_", default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub tensor: Option<usize>,
    /// `hbm` or `lx`.
    #[serde(rename = "component_", default, skip_serializing_if = "str::is_empty")]
    pub component: Text,
    /// Padding of the input of a depthwise convolution. It is read into [`Self::padding`], since only the position of
    /// the member in the file differs.
    #[serde(rename(serialize = "padding_"), skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub early_padding: Option<Entries<Text, Text>>,
    /// 1 if the start addresses are symbols.
    #[serde(
        rename = "isStartAddrSymbolic_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub is_symbolic: Option<Flag>,
    /// Present if each core has its own tensor in HBM, of the size of its slice.
    #[serde(
        rename = "nonUnifiedAllocInHBM_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub non_unified: Option<Flag>,
    /// Dimension order of the tensor.
    #[serde(rename = "layoutDimOrder_", default, skip_serializing_if = "Vec::is_empty")]
    pub order: Vec<Text>,
    /// Number of positions that one index selects, by dimension, or -1.
    #[serde(rename = "maxDimSizes_", default, skip_serializing_if = "Vec::is_empty")]
    pub page_sizes: Vec<i64>,
    /// `no_indirection`, `index_tensor` or `value_tensor`.
    #[serde(rename = "indirectAllocType_", default, skip_serializing_if = "str::is_empty")]
    pub indirection: Text,
    /// Node of the index tensor, or of the tensor that it indexes.
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
    /// Byte address or symbol of each core's slice.
    #[serde(rename = "startAddressCoreCorelet_", default, skip_serializing_if = "FoldMap::is_missing")]
    pub start: FoldMap<CoreKey, DecimalInteger>,
    /// Padding of a windowed input, by dimension.
    #[serde(
        rename = "padding_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub padding: Option<Entries<Text, Text>>,
    /// Elements beyond the region that the op accesses, by dimension and core; core -1 is every core.
    #[serde(
        rename = "backGapCore_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub gaps: Option<Entries<Text, Entries<i64, DecimalInteger>>>,
    /// Mapping of the op's space to the tensor.
    #[serde(rename = "coordinates_", default, skip_serializing_if = "Coordinates::is_missing")]
    pub coordinates: Coordinates,
}

impl AllocateNode {
    /// Returns whether the start addresses are symbols.
    #[must_use]
    pub fn has_symbolic_start(&self) -> bool {
        self.is_symbolic.is_some_and(Flag::is_set)
    }

    /// Returns whether each core has its own tensor: in LX, or in HBM with unrelated addresses.
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

/// Mapping of the op's space to a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Coordinates {
    /// Mapping of each dimension.
    #[serde(rename = "coordInfo", default)]
    pub dims: Entries<Text, CoordInfo>,
    /// Slice that each core holds, if it differs from the one that the core computes.
    #[serde(rename = "coreIdToWkSlice_", default)]
    pub core_to_slice: Entries<i64, Entries<Text, i64>>,
}

/// Mapping of one dimension of the op's space to a tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CoordInfo {
    /// Number of spatial folds: always 3.
    pub spatial: i64,
    /// Number of temporal folds: always 0.
    pub temporal: i64,
    /// Number of folds of the elements.
    #[serde(rename = "elemArr")]
    pub element_folds: i64,
    /// Padding kind of the dimension.
    pub padding: Text,
    /// Folds of the dimension.
    pub folds: CoordinateFolds,
}

impl CoordInfo {
    /// Returns the number of corelets over which the dimension is folded; 1 without such a fold.
    #[must_use]
    pub fn num_corelets(&self) -> i64 {
        self.folds.folds.iter().find(|fold| fold.label == "corelet_fold").map_or(1, |fold| fold.factor)
    }
}

/// Description of a tensor: layout class, element format and permitted memories.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorInfo {
    /// Number of the tensor.
    #[serde(rename = "ldsIdx_")]
    pub tensor: usize,
    /// Unique name; `Tensor<i>` in files of torch-spyre.
    #[serde(rename = "dsName_")]
    pub name: Text,
    /// Layout class.
    #[serde(rename = "dsType_")]
    pub class: Text,
    /// Scale of each dimension of the class: 1, -1 or -2.
    #[serde(
        rename = "scale_",
        default,
        deserialize_with = "super::entries::whole_numbers",
        skip_serializing_if = "Vec::is_empty"
    )]
    pub scales: Vec<i64>,
    /// Length of an element.
    #[serde(rename = "wordLength", default, skip_serializing_if = "WordLength::is_missing")]
    pub word_length: WordLength,
    /// Number format.
    #[serde(rename = "dataFormat_")]
    pub format: Text,
    /// Memories that may hold the tensor.
    #[serde(rename = "memOrg_")]
    pub memory: TensorMemories,
}

/// Memories that may hold a tensor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TensorMemories {
    /// Presence in HBM.
    #[serde(default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub hbm: Option<MemoryPresence>,
    /// Presence in LX.
    #[serde(default, deserialize_with = "super::present", skip_serializing_if = "Option::is_none")]
    pub lx: Option<MemoryPresence>,
}

/// Presence of a tensor in a memory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryPresence {
    /// 1 if the memory may hold the tensor; always 1 in files of torch-spyre.
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
    /// Node of the tensor.
    #[serde(
        rename = "allocateNode_",
        default,
        deserialize_with = "super::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub node: Option<Text>,
}
