//! Contents of a file, in the terms of the emission rules.

use super::location::{self, TensorLocation};
use super::{FileContext, OpSpecReadError};
use crate::bundle::OpSpec;
use crate::{bundle::OpFamily, launch::geometry::DimLabel};
use machine::DeviceFormat;
use sdsc_format::model::{AllocateNode, Dsc, Entries, Operation, Sdsc, TensorInfo, Text};

/// File with the facts that follow from it without a guess.
pub(super) struct SdscFile<'a> {
    pub(super) operation: &'a Operation,
    pub(super) dsc: &'a Dsc,
    pub(super) surroundings: &'a FileContext,
    /// Number of the op.
    pub(super) index: usize,
    /// Device function, without the suffix that files add.
    pub(super) function: String,
    /// Whether the result is listed as an input, as for reductions.
    pub(super) lists_result: bool,
    /// Labelled dimensions in order, including those that the rules added.
    pub(super) labels: Vec<DimLabel>,
    pub(super) places: Vec<TensorLocation>,
}

impl<'a> SdscFile<'a> {
    pub(super) fn new(sdsc: &'a Sdsc, surroundings: &'a FileContext) -> Result<Self, OpSpecReadError> {
        let operation = &sdsc.value;
        let [dsc] = operation.dscs.as_slice() else {
            return Err(OpSpecReadError::member(
                "dscs_",
                format!("a file describes one operation, found {}", operation.dscs.len()),
            ));
        };
        let dsc = &dsc.value;
        let num_tensors = dsc.nodes.len();
        if num_tensors == 0 || dsc.tensors.len() != num_tensors {
            return Err(OpSpecReadError::member(
                "labeledDs_",
                format!("{} tensors for {num_tensors} allocations", dsc.tensors.len()),
            ));
        }
        let Some((index, function)) =
            sdsc.name.split_once('_').and_then(|(index, name)| Some((index.parse().ok()?, name)))
        else {
            return Err(OpSpecReadError::member(sdsc.name.to_string(), "an operation is called <number>_<function>"));
        };
        let result = format!("Tensor{0}-idx{0}", num_tensors - 1);
        let lists_result =
            dsc.compute.first().is_some_and(|compute| compute.inputs.iter().any(|input| *input == result));
        let is_shuffle = function == "shuffle";
        let base = function.strip_suffix("nonstick").filter(|_| lists_result).unwrap_or(function);
        let labels = operation
            .slices
            .iter()
            .map(|(name, _)| parse_label("numWkSlicesPerDim_", name))
            .collect::<Result<_, _>>()?;
        let function = if is_shuffle { "identity" } else { base }.to_owned();
        let places = location::locate_tensors(&dsc.nodes, surroundings)?;
        Ok(Self { operation, dsc, surroundings, index, function, lists_result, labels, places })
    }

    /// Returns the family whose rules the op follows.
    pub(super) fn family(&self, is_reduction: bool) -> OpFamily {
        OpFamily::from_op(&OpSpec { function: self.function.clone(), is_reduction, ..OpSpec::default() })
    }

    /// Returns the number of points of a dimension, including padding.
    pub(super) fn size(&self, label: DimLabel) -> i64 {
        self.dsc.space.sizes.get(label.name()).unwrap_or(1)
    }

    /// Returns the number of slices of a dimension; those of the source of a shuffle that gives several cores the same
    /// slice.
    pub(super) fn split(&self, label: DimLabel) -> i64 {
        match self.source_of_copies() {
            Some(source) => {
                let slots = source.iter().filter_map(|(_, slots)| slots.get(label.name()));
                slots.max().copied().unwrap_or_default().saturating_add(1)
            }
            None => self.operation.slices.get(label.name()).copied().unwrap_or(1),
        }
    }

    /// Returns the slices of the source of a shuffle that gives several cores the same slice; `None` for other ops.
    fn source_of_copies(&self) -> Option<&Entries<i64, Entries<Text, i64>>> {
        let slices = self.operation.slices.iter().fold(1_i64, |product, (_, slices)| product.saturating_mul(*slices));
        let source = &self.dsc.nodes.first()?.coordinates.core_to_slice;
        (slices < self.operation.n_cores && !source.is_empty()).then_some(source)
    }

    /// Returns whether the op accesses tensors through index tensors.
    pub(super) fn is_indirect(&self) -> bool {
        self.dsc.nodes.iter().any(is_index_tensor)
    }

    /// Returns the tensor that `node` is linked to.
    pub(super) fn find_partner(&self, node: &AllocateNode) -> Option<usize> {
        let name = node.related.as_deref()?;
        self.dsc.nodes.iter().position(|other| other.name == name)
    }

    /// Returns the dimensions of a tensor in its own order.
    pub(super) fn order(&self, tensor: usize) -> Result<Vec<DimLabel>, OpSpecReadError> {
        let member = format!("scheduleTree_[{tensor}].layoutDimOrder_");
        self.dsc.nodes[tensor].order.iter().map(|name| parse_label(&member, name)).collect()
    }

    /// Returns the scale of a tensor in a dimension: 1, -1 or -2; `None` if its class lacks the dimension.
    pub(super) fn scale(&self, tensor: usize, label: DimLabel) -> Option<i64> {
        let info: &TensorInfo = &self.dsc.tensors[tensor];
        let class = self.dsc.classes.get(&info.class)?;
        let position = class.order.iter().position(|name| name == label.name())?;
        info.scales.get(position).copied()
    }

    /// Returns the dimensions along the stick of a tensor's class.
    pub(super) fn class_stick(&self, tensor: usize) -> Result<Vec<DimLabel>, OpSpecReadError> {
        let class = &self.dsc.tensors[tensor].class;
        let member = format!("primaryDsInfo_.{class}");
        let info = self
            .dsc
            .classes
            .get(class)
            .ok_or_else(|| OpSpecReadError::member(&member, "a tensor has this class, which is not there"))?;
        info.stick.iter().map(|name| parse_label(&member, name)).collect()
    }

    /// Returns the number format of a tensor. Files declare indices as unsigned; front ends have signed ones.
    pub(super) fn format(&self, tensor: usize) -> Result<DeviceFormat, OpSpecReadError> {
        let name = &self.dsc.tensors[tensor].format;
        let is_known = |format: &DeviceFormat| !DeviceFormat::PACKED.contains(format);
        let format = name.parse().ok().filter(is_known).ok_or_else(|| {
            let formats = DeviceFormat::ALL.into_iter().filter(is_known).map(|format| format!("'{format}'"));
            let formats = formats.collect::<Vec<_>>().join(", ");
            let reason = format!("expected one of {formats}, found '{name}'; op specs have no other formats");
            OpSpecReadError::member(format!("labeledDs_[{tensor}].dataFormat_"), reason)
        })?;
        Ok(if is_index_tensor(&self.dsc.nodes[tensor]) && format == DeviceFormat::SenUint32 {
            DeviceFormat::IeeeInt32
        } else {
            format
        })
    }

    /// Returns the elements of a tensor beyond the region that the op accesses.
    pub(super) fn gap(&self, tensor: usize, label: DimLabel) -> i64 {
        let gaps = self.dsc.nodes[tensor].gaps.as_ref().and_then(|gaps| gaps.get(label.name()));
        gaps.and_then(|by_core| by_core.0.first()).map_or(0, |(_, gap)| gap.0)
    }

    /// Converts a number of bytes to a number of elements of a tensor.
    pub(super) fn bytes_to_elements(&self, tensor: usize, bytes: i64) -> Result<i64, OpSpecReadError> {
        let element = self.format(tensor)?.bytes();
        if bytes % element != 0 {
            let member = format!("scheduleTree_[{tensor}].startAddressCoreCorelet_");
            return Err(OpSpecReadError::member(member, format!("{bytes} bytes are no whole elements of {element}")));
        }
        Ok(bytes / element)
    }

    /// Returns whether the rules add a row before a single dimension.
    pub(super) fn adds_row(&self) -> bool {
        matches!(self.function.as_str(), "dl16tofp32" | "fp32todl16" | "fp8todl16" | "qfp8ch")
    }

    /// Returns the slice of each dimension that each core computes.
    pub(super) fn core_slots(&self) -> impl Iterator<Item = (i64, &Entries<Text, i64>)> {
        self.source_of_copies().unwrap_or(&self.operation.core_to_slice).iter().map(|(core, slots)| (*core, slots))
    }
}

/// Returns whether a tensor holds indices.
pub(super) fn is_index_tensor(node: &AllocateNode) -> bool {
    node.indirection == "index_tensor"
}

/// Returns whether a tensor is accessed through indices.
pub(super) fn is_value_tensor(node: &AllocateNode) -> bool {
    node.indirection == "value_tensor"
}

fn parse_label(member: &str, name: &str) -> Result<DimLabel, OpSpecReadError> {
    DimLabel::from_name(name).ok_or_else(|| OpSpecReadError::member(member, format!("'{name}' is no dimension")))
}
