//! Model of the SuperDSC file, member by member in file order ("SuperDSC schema, section 6"; format 1.0.0).
//!
//! The model states what a file may contain. Rules on the combination of members are in `sdsc_check`, as are the
//! members that each profile requires. The types read every legal file and write it back; [`Operation::complete`] fills
//! omitted members. Reading rejects unknown members, since a file that has them would be misunderstood.

mod complete;
mod constant;
mod entries;
mod fold;
mod formats;
mod release;
mod space;
mod tensor;
mod uneven;

pub use constant::{BitsList, ConstantBits, ConstantInfo, Constants};
pub use entries::{CoreKey, DecimalInteger, Entries, Flag, NamedMember, SizeSymbol, Text, WordLength};
pub use fold::{CoordinateFolds, Fold, FoldFunction, FoldMap};
pub use formats::{NUMBER_FORMATS, number_format_bits};
pub use space::{
    DimSizes, LabeledSizes, NO_TOTAL_SIZE, StagePair, StageParams, SymbolicInfo, WindowInfo, strip_underscore,
};
pub use tensor::{
    AllocateNode, ClassInfo, ClassRelation, CoordInfo, Coordinates, MemoryPresence, TensorInfo, TensorMemories,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// File: one operation under the name `<number>_<function>`.
pub type Sdsc = NamedMember<Operation>;

/// One operation on all its cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation {
    /// Origin of the op; the back end ignores it.
    #[serde(rename = "debug_handle_", default)]
    pub debug_handle: Option<DebugHandle>,
    /// Folds of the complete op over time.
    #[serde(rename = "sdscFoldProps_", default, skip_serializing_if = "Vec::is_empty")]
    pub fold_props: Vec<Fold>,
    /// Execution of the op over time: always once.
    #[serde(rename = "sdscFolds_", default, skip_serializing_if = "FoldMap::is_missing")]
    pub folds: FoldMap<Text, Text>,
    /// Fold over the cores.
    #[serde(rename = "coreFoldProp_")]
    pub core_fold: Fold,
    /// Fold over the corelets of a core: always one.
    #[serde(rename = "coreletFoldProp_")]
    pub corelet_fold: Fold,
    /// Number of cores.
    #[serde(rename = "numCoresUsed_")]
    pub n_cores: i64,
    /// Entry of [`Self::dscs`] that each core runs.
    #[serde(rename = "coreIdToDsc_")]
    pub core_to_dsc: Entries<i64, i64>,
    /// Number of slices of each dimension.
    #[serde(rename = "numWkSlicesPerDim_", default, skip_serializing_if = "Entries::is_empty")]
    pub slices: Entries<Text, i64>,
    /// Slice of each dimension that a core computes.
    #[serde(rename = "coreIdToWkSlice_", default, skip_serializing_if = "Entries::is_empty")]
    pub core_to_slice: Entries<i64, Entries<Text, i64>>,
    /// Schedule of each core: steps `[data operation, description, barrier before, barrier after]`; -1 is none.
    #[serde(rename = "coreIdToDscSchedule")]
    pub core_to_schedule: Entries<i64, Vec<[i64; 4]>>,
    /// Descriptions; one unless cores have unequal work or several steps.
    #[serde(rename = "dscs_")]
    pub dscs: Vec<NamedMember<Dsc>>,
    /// Descriptions of data movement: empty, and present with symbolic sizes only. The format does not specify their
    /// contents.
    #[serde(rename = "datadscs_", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub data_dscs: Option<Vec<Entries<Text, serde_json::Value>>>,
    /// Present with symbolic sizes only; empty in files of torch-spyre.
    #[serde(
        rename = "dimToSymbolMappingOpcodeCorrection_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub opcode_correction: Option<Entries<Text, Text>>,
    /// Name of the size that each symbol stands for, by the id of the symbol. The release permits other keys.
    #[serde(
        rename = "inputSymbolsAndTags_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub symbol_tags: Option<Entries<Text, Text>>,
    /// Present with symbolic sizes only; empty in files of torch-spyre.
    #[serde(
        rename = "symbolDefinitions_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub symbol_definitions: Option<Entries<Text, serde_json::Value>>,
    /// Sharing of tensors by descriptions with unequal work; not in the released schema.
    #[serde(rename = "ldsShareInfo_", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub share_info: Option<Vec<ShareInfo>>,
}

impl Operation {
    /// Returns the name of the size that a symbol stands for.
    #[must_use]
    pub fn size_name(&self, symbol: i64) -> Option<&Text> {
        self.symbol_tags.as_ref()?.get(&symbol.to_string())
    }
}

/// Sharing of one tensor by descriptions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShareInfo {
    /// Name of the tensor.
    #[serde(rename = "dsName_")]
    pub tensor: Text,
    /// Numbers of the descriptions that use each slice of the tensor.
    #[serde(rename = "sharedDscs")]
    pub shared: Vec<Vec<i64>>,
    /// Dimensions along which each description repeats, with the number of repetitions.
    #[serde(
        rename = "repeatHbmLxThroImbalDim",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub repeated: Option<RepeatedDims>,
}

/// Dimensions along which descriptions repeat, with the number of repetitions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RepeatedDims {
    /// One list for each description.
    List(Vec<Vec<(Text, i64)>>),
    /// Lists by the number of the description.
    ByNumber(Entries<DecimalInteger, Vec<(Text, i64)>>),
}

/// Object without members.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EmptyObject {}

impl<'de> Deserialize<'de> for EmptyObject {
    /// Rejects an empty array, which the derived implementation would accept.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Entries::<Text, serde::de::IgnoredAny>::deserialize(deserializer)?.0;
        match members.first() {
            None => Ok(Self {}),
            Some((name, _)) => Err(serde::de::Error::unknown_field(name, &[])),
        }
    }
}

/// Reads a member that may be missing, but must not be null if it is present.
pub(super) fn present<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}

/// Origin of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DebugHandle {
    /// Decimal number.
    pub id: Text,
    /// Range of lines in the program.
    #[serde(default)]
    pub source: Option<SourceRange>,
    /// Operation of the framework.
    #[serde(default)]
    pub aten_op: Option<Text>,
    /// Form of the op in each intermediate representation.
    #[serde(default)]
    pub ir_chain: Vec<Text>,
    /// Ops that were fused into this one.
    #[serde(default)]
    pub fused_from: Vec<DebugHandle>,
    /// Transformations that the front end applied to the op.
    #[serde(default)]
    pub transform_history: Vec<ProvenanceTransform>,
}

/// Transformation of an op by a pass of the front end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProvenanceTransform {
    /// Kind of the transformation.
    pub kind: TransformKind,
    /// Name of the pass.
    pub pass_name: Text,
    /// Reason that the pass states.
    #[serde(default)]
    pub reason: Option<Text>,
}

/// Kind of a transformation of an op.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, strum::EnumString, strum::IntoStaticStr,
)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum TransformKind {
    /// Replacement by an equivalent op.
    Rewrite,
    /// Combination with other ops.
    Fusion,
    /// Expansion into several ops.
    Decomposition,
    /// Copy of an op.
    Clone,
    /// Renaming of dimensions or operands.
    Remap,
}

/// Range in the text of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRange {
    /// Path of the file.
    pub file: Text,
    /// First line.
    pub start_line: i64,
    /// First column.
    #[serde(default)]
    pub start_col: i64,
    /// Last line.
    #[serde(default)]
    pub end_line: Option<i64>,
    /// Last column.
    #[serde(default)]
    pub end_col: Option<i64>,
}

/// Program of one core.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dsc {
    /// Number of cores.
    #[serde(rename = "numCoresUsed_")]
    pub n_cores: i64,
    /// Number of corelets.
    #[serde(
        rename = "numCoreletsUsed_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub n_corelets: Option<i64>,
    /// Cores that run the program.
    #[serde(rename = "coreIdsUsed_")]
    pub core_ids: Vec<i64>,
    /// Iteration space.
    #[serde(rename = "N_")]
    pub space: DimSizes,
    /// Masked dimensions, each with `[valid points, padding points]`.
    #[serde(rename = "coordinateMasking_", default)]
    pub masking: Entries<Text, Vec<[i64; 2]>>,
    /// Number of the constant that replaces masked padding; -1 without masking.
    #[serde(rename = "maskingConstId_", default = "no_constant")]
    pub masking_constant: i64,
    /// Symbol of each symbolic dimension.
    #[serde(
        rename = "dimToSymbolMapping_",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub dim_symbols: Option<Entries<Text, Vec<SizeSymbol>>>,
    /// One core's slice of the space.
    #[serde(rename = "dataStageParam_", default, skip_serializing_if = "StageParams::is_missing")]
    pub stages: StageParams,
    /// Layout classes.
    #[serde(rename = "primaryDsInfo_", default, skip_serializing_if = "Entries::is_empty")]
    pub classes: Entries<Text, ClassInfo>,
    /// Relation of the layout classes; windowed ops only.
    #[serde(rename = "pdsRelation_", default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub class_relation: Option<ClassRelation>,
    /// Location of each tensor.
    #[serde(rename = "scheduleTree_")]
    pub nodes: Vec<AllocateNode>,
    /// Descriptions of the tensors.
    #[serde(rename = "labeledDs_")]
    pub tensors: Vec<TensorInfo>,
    /// Constants of the op, by number.
    #[serde(rename = "constantInfo_", default)]
    pub constants: Constants,
    /// Operations; one unless ops are fused.
    #[serde(rename = "computeOp_")]
    pub compute: Vec<ComputeOp>,
}

impl Dsc {
    /// Returns the ids of the symbols of sizes and of start addresses.
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

/// Operation of a description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputeOp {
    /// Execution unit, `pt` or `sfp`.
    #[serde(rename = "exUnit")]
    pub unit: Text,
    /// Device function.
    #[serde(rename = "opFuncName")]
    pub function: Text,
    /// Attributes of the computation.
    #[serde(rename = "attributes_", default, skip_serializing_if = "ComputeAttributes::is_missing")]
    pub attributes: ComputeAttributes,
    /// `Inner` in files of torch-spyre; the released schema does not have the member.
    #[serde(default, deserialize_with = "present", skip_serializing_if = "Option::is_none")]
    pub location: Option<Text>,
    /// Inputs, `Tensor<i>-idx<i>`.
    #[serde(rename = "inputLabeledDs")]
    pub inputs: Vec<Text>,
    /// Results.
    #[serde(rename = "outputLabeledDs")]
    pub outputs: Vec<Text>,
    /// Index tensors.
    #[serde(
        rename = "indirectAccessIndexLabeledDs",
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub indices: Option<Vec<Text>>,
}

/// Attributes of a computation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ComputeAttributes {
    /// Number format of the computation.
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

/// Default stride and dilation of a window.
const fn one() -> i64 {
    1
}

/// Default of [`Dsc::masking_constant`]: none.
const fn no_constant() -> i64 {
    -1
}
