//! The SuperDSC file, member by member in file order ("SuperDSC schema, section 6"; format 1.0.0).
//!
//! This is the only place where file spellings stand. It says what a file may contain, not what makes sense: rules that
//! join several members are checks of their own, and profiles of the checker say which members a release demands. The
//! types read every legal file and write it back; [`Operation::complete`] fills the members that a file may leave out
//! with what their absence means. Reading refuses members that are not listed, since a file that says more than we know
//! would be misunderstood.

mod complete;
mod constant;
mod entries;
mod fold;
mod formats;
mod release;
mod space;
mod tensor;

pub use constant::{BitsList, ConstantBits, ConstantInfo, Constants};
pub use entries::{CoreKey, DecimalInteger, Entries, Flag, NamedMember, SizeSymbol, Text, WordLength};
pub use fold::{CoordinateFolds, Fold, FoldFunction, FoldMap};
pub use formats::{NUMBER_FORMATS, number_format_bits};
pub use space::{DimSizes, LabeledSizes, StagePair, StageParams, SymbolicInfo, WindowInfo};
pub use tensor::{
    AllocateNode, ClassInfo, ClassRelation, CoordInfo, Coordinates, MemoryPresence, TensorInfo, TensorMemories,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A file: one operation under the name `<number>_<function>`.
pub type Sdsc = NamedMember<Operation>;

/// One operation on all its cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Where the op comes from; the back end ignores it.
    #[serde(rename = "debug_handle_", default)]
    pub debug_handle: Option<DebugHandle>,
    /// Folds of the whole op over time.
    #[serde(rename = "sdscFoldProps_", default, skip_serializing_if = "Vec::is_empty")]
    pub fold_props: Vec<Fold>,
    /// The op over time: always once.
    #[serde(rename = "sdscFolds_", default, skip_serializing_if = "FoldMap::is_missing")]
    pub folds: FoldMap<Text, Text>,
    /// The cores.
    #[serde(rename = "coreFoldProp_")]
    pub core_fold: Fold,
    /// The corelets of a core: always one.
    #[serde(rename = "coreletFoldProp_")]
    pub corelet_fold: Fold,
    /// The number of cores.
    #[serde(rename = "numCoresUsed_")]
    pub n_cores: i64,
    /// The entry of [`Self::dscs`] that each core runs.
    #[serde(rename = "coreIdToDsc_")]
    pub core_to_dsc: Entries<i64, i64>,
    /// Slices of each dimension.
    #[serde(rename = "numWkSlicesPerDim_", default, skip_serializing_if = "Entries::is_empty")]
    pub slices: Entries<Text, i64>,
    /// The slice of each dimension that a core computes.
    #[serde(rename = "coreIdToWkSlice_", default, skip_serializing_if = "Entries::is_empty")]
    pub core_to_slice: Entries<i64, Entries<Text, i64>>,
    /// The schedule of each core: steps `[data operation, description, barrier before, barrier after]`; -1 is none.
    #[serde(rename = "coreIdToDscSchedule")]
    pub core_to_schedule: Entries<i64, Vec<[i64; 4]>>,
    /// The descriptions; one unless cores have unequal work or several steps.
    #[serde(rename = "dscs_")]
    pub dscs: Vec<NamedMember<Dsc>>,
    /// Data movement descriptions; empty, and only there with symbolic sizes. The format does not specify their
    /// contents.
    #[serde(rename = "datadscs_", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub data_dscs: Option<Vec<Entries<Text, serde_json::Value>>>,
    /// Only there with symbolic sizes, and empty in files of torch-spyre.
    #[serde(
        rename = "dimToSymbolMappingOpcodeCorrection_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub opcode_correction: Option<Entries<Text, Text>>,
    /// The name of the size that each symbol stands for.
    #[serde(
        rename = "inputSymbolsAndTags_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub symbol_tags: Option<Entries<DecimalInteger, Text>>,
    /// Only there with symbolic sizes, and empty in files of torch-spyre.
    #[serde(
        rename = "symbolDefinitions_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub symbol_definitions: Option<Entries<Text, serde_json::Value>>,
    /// How descriptions with unequal work share tensors; not in the released schema.
    #[serde(rename = "ldsShareInfo_", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub share_info: Option<Vec<ShareInfo>>,
}

/// How descriptions share one tensor.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareInfo {
    /// The tensor.
    #[serde(rename = "dsName_")]
    pub tensor: Text,
    /// For each slice of the tensor, the numbers of the descriptions that use it.
    #[serde(rename = "sharedDscs")]
    pub shared: Vec<Vec<i64>>,
    /// For each description, the dimensions along which it repeats, and how often.
    #[serde(
        rename = "repeatHbmLxThroImbalDim",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub repeated: Option<Entries<i64, Vec<(Text, i64)>>>,
}

/// An object without members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EmptyObject {}

impl<'de> Deserialize<'de> for EmptyObject {
    /// An empty array would do for what is derived, and it is none.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Entries::<Text, serde::de::IgnoredAny>::deserialize(deserializer)?.0;
        match members.first() {
            None => Ok(Self {}),
            Some((name, _)) => Err(serde::de::Error::unknown_field(name, &[])),
        }
    }
}

/// A member that may be missing: one that is there is not null.
pub(super) fn present<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Where an op comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DebugHandle {
    /// A decimal number.
    pub id: Text,
    /// The line of the program.
    #[serde(default)]
    pub source: Option<SourceRange>,
    /// The framework's operation.
    #[serde(default)]
    pub aten_op: Option<Text>,
    /// Form of the op in each intermediate representation.
    #[serde(default)]
    pub ir_chain: Vec<Text>,
    /// The ops that became this one.
    #[serde(default)]
    pub fused_from: Vec<DebugHandle>,
    /// Transformations that the front end applied to the op.
    #[serde(default)]
    pub transform_history: Vec<serde_json::Value>,
}

/// A place in a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRange {
    /// The file.
    pub file: Text,
    /// The first line.
    pub start_line: i64,
    /// The first column.
    #[serde(default)]
    pub start_col: i64,
    /// The last line.
    #[serde(default)]
    pub end_line: Option<i64>,
    /// The last column.
    #[serde(default)]
    pub end_col: Option<i64>,
}

/// Program of one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dsc {
    /// The number of cores.
    #[serde(rename = "numCoresUsed_")]
    pub n_cores: i64,
    /// The number of corelets.
    #[serde(
        rename = "numCoreletsUsed_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub n_corelets: Option<i64>,
    /// The cores.
    #[serde(rename = "coreIdsUsed_")]
    pub core_ids: Vec<i64>,
    /// The iteration space.
    #[serde(rename = "N_")]
    pub space: DimSizes,
    /// The padding whose points are replaced: `[valid, padding]`.
    #[serde(rename = "coordinateMasking_", default)]
    pub masking: Entries<Text, Vec<[i64; 2]>>,
    /// The constant that replaces them; -1 without masking.
    #[serde(rename = "maskingConstId_", default = "no_constant")]
    pub masking_constant: i64,
    /// The symbol of each symbolic dimension.
    #[serde(
        rename = "dimToSymbolMapping_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub dim_symbols: Option<Entries<Text, Vec<SizeSymbol>>>,
    /// One core's part of the space.
    #[serde(rename = "dataStageParam_", default, skip_serializing_if = "StageParams::is_missing")]
    pub stages: StageParams,
    /// The layout classes.
    #[serde(rename = "primaryDsInfo_", default, skip_serializing_if = "Entries::is_empty")]
    pub classes: Entries<Text, ClassInfo>,
    /// Set for windowed ops.
    #[serde(rename = "pdsRelation_", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub class_relation: Option<ClassRelation>,
    /// Where each tensor is.
    #[serde(rename = "scheduleTree_")]
    pub nodes: Vec<AllocateNode>,
    /// Descriptions of the tensors.
    #[serde(rename = "labeledDs_")]
    pub tensors: Vec<TensorInfo>,
    /// The constants of the op, by number.
    #[serde(rename = "constantInfo_", default)]
    pub constants: Constants,
    /// The operations; one unless ops are fused.
    #[serde(rename = "computeOp_")]
    pub compute: Vec<ComputeOp>,
}

impl Dsc {
    /// The ids of its sizes and of its start addresses.
    pub fn symbol_ids(&self) -> impl Iterator<Item = i64> {
        let sizes = self
            .dim_symbols
            .iter()
            .flat_map(Entries::iter)
            .flat_map(|(_, symbols)| symbols.iter().map(|symbol| symbol.id));
        let nodes = self.nodes.iter().filter(|node| node.has_symbolic_start());
        sizes.chain(nodes.flat_map(|node| node.start.data.iter().map(|(_, id)| id.0)))
    }
}

/// The operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputeOp {
    /// `pt` or `sfp`.
    #[serde(rename = "exUnit")]
    pub unit: Text,
    /// The device function.
    #[serde(rename = "opFuncName")]
    pub function: Text,
    /// How it computes.
    #[serde(rename = "attributes_", default, skip_serializing_if = "ComputeAttributes::is_missing")]
    pub attributes: ComputeAttributes,
    /// `Inner` in files of torch-spyre; the released schema does not have the member.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub location: Option<Text>,
    /// The inputs, `Tensor<i>-idx<i>`.
    #[serde(rename = "inputLabeledDs")]
    pub inputs: Vec<Text>,
    /// The result.
    #[serde(rename = "outputLabeledDs")]
    pub outputs: Vec<Text>,
    /// The index tensors.
    #[serde(
        rename = "indirectAccessIndexLabeledDs",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub indices: Option<Vec<Text>>,
}

/// How an operation computes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputeAttributes {
    /// The number format it computes in.
    #[serde(rename = "dataFormat_", default)]
    pub format: Text,
    /// `regular` or `fast`.
    #[serde(rename = "fidelity_", default = "regular")]
    pub fidelity: Text,
}

impl ComputeAttributes {
    fn is_missing(&self) -> bool {
        self.format.is_empty()
    }
}

impl Default for ComputeAttributes {
    fn default() -> Self {
        Self { format: Text::default(), fidelity: regular() }
    }
}

fn regular() -> Text {
    "regular".into()
}

/// The stride and the dilation of a window that has none.
const fn one() -> i64 {
    1
}

/// The masking constant of a file that gives none.
const fn no_constant() -> i64 {
    -1
}
