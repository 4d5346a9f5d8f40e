//! The two descriptions of each tensor in a file: its location (a node of the schedule tree) and its properties.

use super::SdscError;
use super::context::{EmitContext, label_texts};
use super::folds::{DimExtent, StickArrangement, build_coord_info};
use crate::launch::geometry::{AddressingMode, CoreDivisions, DimLabel, LabeledTensor, Scale};
use crate::launch::symbols::TensorStart;
use machine::DeviceFormat;
use sdsc_format::model::{
    AllocateNode, CoordInfo, Coordinates, CoreKey, DecimalInteger, Entries, Flag, FoldMap, MemoryPresence, TensorInfo,
    TensorMemories, Text, WordLength,
};

impl EmitContext<'_> {
    /// Returns the location of a tensor.
    pub(super) fn build_node(&self, index: usize) -> Result<AllocateNode, SdscError> {
        let tensor = &self.geometry.tensors[index];
        let class = &self.geometry.classes[tensor.class];
        let is_lx = self.op.operands[index].allocation.is_lx();
        let viewed: Vec<_> =
            tensor.order().into_iter().filter(|label| self.windows.includes_dim(*label, class.name)).collect();
        let page = |label: &DimLabel| tensor.dim(*label).map_or(-1, |dim| dim.page);
        let (indirection, related, index_type) = describe_indirection(tensor.access);
        let start = &self.addresses.starts[index];
        Ok(AllocateNode {
            node_type: "allocate".into(),
            name: node_name(index, if is_lx { "lx" } else { "hbm" }),
            previous: Some("".into()),
            tensor: Some(index),
            component: if is_lx { "lx" } else { "hbm" }.into(),
            early_padding: self.windows.early_padding(index),
            is_symbolic: matches!(start, TensorStart::Symbolic(_)).then_some(Flag::SET),
            non_unified: None,
            order: label_texts(&viewed),
            page_sizes: viewed.iter().map(page).collect(),
            indirection,
            related,
            index_type,
            start: self.build_start(start),
            padding: self.windows.input_padding(self.is_input(index), &viewed),
            gaps: self.build_gaps(tensor, is_lx, &viewed),
            coordinates: Coordinates { dims: self.build_coordinates(index)?, core_to_slice: self.owned_slices(index) },
        })
    }

    fn build_start(&self, start: &TensorStart) -> FoldMap<CoreKey, DecimalInteger> {
        let value = |(value, core): (&i64, i64)| (CoreKey::from_core(core), DecimalInteger(*value));
        let values = start.core_values().iter().zip(0..).map(value).collect();
        FoldMap::from_core_values(self.geometry.num_cores(), 1, values)
    }

    /// Returns the gaps of a tensor: in HBM one for all cores; in LX one per core, since each core has its own tensor.
    fn build_gaps(
        &self,
        tensor: &LabeledTensor,
        is_lx: bool,
        viewed: &[DimLabel],
    ) -> Option<Entries<Text, Entries<i64, DecimalInteger>>> {
        if tensor.gaps.is_empty() {
            return None;
        }
        let cores = if is_lx { 0..self.geometry.num_cores() } else { -1..0 };
        let by_core = |gap: i64| cores.clone().map(|core| (core, DecimalInteger(gap))).collect();
        let visible = tensor.gaps.iter().filter(|(label, _)| viewed.contains(label));
        Some(visible.map(|(label, gap)| (label.name().into(), by_core(*gap))).collect())
    }

    /// Returns the coordinates of every dimension of the tensor's class, as they occur in the tensor.
    fn build_coordinates(&self, index: usize) -> Result<Entries<Text, CoordInfo>, SdscError> {
        let tensor = &self.geometry.tensors[index];
        let class = &self.geometry.classes[tensor.class];
        let viewed = class.order.iter().filter(|label| self.windows.includes_dim(**label, class.name));
        let entry = |label: &DimLabel| {
            let foreign = SdscError::ForeignDim { tensor: index, label: *label };
            let scale = tensor.dim(*label).ok_or(foreign)?.scale;
            Ok((label.name().into(), build_coord_info(&self.dim_extent(index, *label, scale))))
        };
        viewed.map(entry).collect()
    }

    fn dim_extent(&self, index: usize, label: DimLabel, scale: Scale) -> DimExtent {
        let points = self.geometry.space.size(label);
        let stick = self.stick_arrangement(index, label);
        let plain = |slices, size| DimExtent { scale, slices, size, step: size, padding: "nopad".into(), stick };
        match scale {
            Scale::Absent | Scale::AbsentStick => plain(1, 1),
            Scale::Present => {
                let slices = self.geometry.owner(index).get(label).slices;
                match self.windows.input_extent(index, self.is_input(index), label, points, slices) {
                    Some(input) => {
                        DimExtent { scale, slices, size: input.size, step: input.step, padding: input.padding, stick }
                    }
                    None => plain(slices, points / slices),
                }
            }
        }
    }

    fn stick_arrangement(&self, index: usize, label: DimLabel) -> StickArrangement {
        let tensor = &self.geometry.tensors[index];
        let stick = &self.geometry.classes[tensor.class].stick;
        let Some(position) = stick.iter().position(|along| *along == label) else {
            return StickArrangement::OutsideStick;
        };
        let is_fp8_matmul = self.op.function == "batchmatmulfp8";
        if tensor.format == DeviceFormat::Sen143Fp8 && stick.len() == 2 && position > 0 {
            StickArrangement::WeightBlock
        } else if is_fp8_matmul && index == 0 {
            StickArrangement::ActivationBlock
        } else {
            StickArrangement::AlongStick(tensor.format)
        }
    }

    fn owned_slices(&self, index: usize) -> Entries<i64, Entries<Text, i64>> {
        let Some(owner) = self.geometry.owners.as_ref().and_then(|owners| owners.get(index)) else {
            return Entries::default();
        };
        self.slices_by_core(owner, self.geometry.space.dims().iter().map(|dim| dim.label))
    }

    /// Returns the slice of each dimension that each core has.
    pub(super) fn slices_by_core(
        &self,
        divisions: &CoreDivisions,
        order: impl Iterator<Item = DimLabel>,
    ) -> Entries<i64, Entries<Text, i64>> {
        let dims: Vec<_> = order.map(|label| divisions.get(label)).collect();
        let slots =
            |core| dims.iter().map(|division| (Text::from(division.label.name()), division.slot(core))).collect();
        (0..self.geometry.num_cores()).map(|core| (core, slots(core))).collect()
    }

    /// Builds the description of a tensor in the file: class, scales, format and memory.
    pub(super) fn build_tensor_info(&self, index: usize) -> Result<TensorInfo, SdscError> {
        let tensor = &self.geometry.tensors[index];
        let class = &self.geometry.classes[tensor.class];
        let viewed = class.order.iter().filter(|label| self.windows.includes_dim(**label, class.name));
        let scale = |label: &DimLabel| {
            let foreign = SdscError::ForeignDim { tensor: index, label: *label };
            tensor.dim(*label).map(|dim| dim.scale.as_number()).ok_or(foreign)
        };
        Ok(TensorInfo {
            tensor: index,
            name: format!("Tensor{index}").into(),
            class: class.name.name().into(),
            scales: viewed.map(scale).collect::<Result<_, _>>()?,
            word_length: WordLength::from_bytes(tensor.format.bytes()),
            format: tensor.format.name().into(),
            memory: self.build_memory(index),
        })
    }

    /// Returns the memories that may hold a tensor. The device reads indices from HBM only.
    fn build_memory(&self, index: usize) -> TensorMemories {
        let plain = MemoryPresence { is_present: 1, ..MemoryPresence::default() };
        let is_input = self.is_input(index);
        if self.geometry.tensors[index].access.is_index() {
            TensorMemories { hbm: Some(plain), lx: None }
        } else if self.op.operands[index].allocation.is_lx() {
            TensorMemories { hbm: None, lx: Some(self.windows.lx_presence(index)) }
        } else {
            let hbm = self.windows.memory_presence(index, is_input, &node_name(index, "hbm"));
            TensorMemories { hbm: Some(hbm), lx: Some(self.windows.memory_presence(index, is_input, "")) }
        }
    }
}

fn describe_indirection(access: AddressingMode) -> (Text, Option<Text>, Option<Text>) {
    match access {
        AddressingMode::Direct => ("no_indirection".into(), None, None),
        AddressingMode::Index { value } => ("index_tensor".into(), Some(node_name(value, "hbm")), Some("index".into())),
        AddressingMode::Value { index } => ("value_tensor".into(), Some(node_name(index, "hbm")), None),
    }
}

fn node_name(tensor: usize, component: &str) -> Text {
    format!("allocate-Tensor{tensor}_{component}").into()
}
