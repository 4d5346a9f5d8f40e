//! The two descriptions of each tensor in a file: its location (a node of the schedule tree) and its properties.

use super::SdscError;
use super::context::{Context, texts};
use super::folds::{DimExtent, StickForm, coord_info};
use crate::launch::geometry::{Access, Divisions, Label, Scale, Tensor};
use crate::launch::symbols::Start;
use machine::DeviceFormat;
use sdsc_format::model::{
    CoordInfo, Coordinates, CoreKey, Decimal, Entries, Flag, Fold, FoldFunction, FoldMap, Memory, Node, Nothing, Presence, TensorInfo,
    Text, WordLength,
};

impl Context<'_> {
    /// Returns the location of a tensor.
    pub(super) fn node(&self, index: usize) -> Result<Node, SdscError> {
        let tensor = &self.geometry.tensors[index];
        let class = &self.geometry.classes[tensor.class];
        let is_lx = self.op.operands[index].allocation.is_lx();
        let shown: Vec<_> = tensor.order().into_iter().filter(|label| self.windows.shows(*label, class.name)).collect();
        let page = |label: &Label| tensor.dim(*label).map_or(-1, |dim| dim.page);
        let (indirection, related, index_type) = indirection(tensor.access);
        let start = &self.addresses.starts[index];
        Ok(Node {
            node_type: "allocate".into(),
            name: node_name(index, if is_lx { "lx" } else { "hbm" }),
            previous: Some("".into()),
            tensor: Some(index),
            component: if is_lx { "lx" } else { "hbm" }.into(),
            early_padding: self.windows.early_padding(index),
            is_symbolic: matches!(start, Start::Symbolic(_)).then_some(Flag::SET),
            non_unified: None,
            order: texts(&shown),
            page_sizes: shown.iter().map(page).collect(),
            indirection,
            related,
            index_type,
            start: self.start(start),
            padding: self.windows.input_padding(self.is_input(index), &shown),
            gaps: self.gaps(tensor, is_lx, &shown),
            coordinates: Coordinates { dims: self.coordinates(index)?, core_to_slice: self.owned_slices(index) },
        })
    }

    fn start(&self, start: &Start) -> FoldMap<CoreKey, Decimal> {
        let fold = |factor, label: &'static str| Fold { factor, label: label.into() };
        FoldMap {
            functions: vec![FoldFunction::Map(Nothing {}), FoldFunction::Const(Nothing {}), FoldFunction::Const(Nothing {})],
            folds: vec![fold(self.geometry.cores(), "core"), fold(1, "corelet"), fold(1, "time")],
            data: start.by_core().iter().zip(0..).map(|(value, core)| (CoreKey::at(core), Decimal(*value))).collect(),
        }
    }

    /// In HBM a gap is the same for every core; in LX each core has its own tensor.
    fn gaps(&self, tensor: &Tensor, is_lx: bool, shown: &[Label]) -> Option<Entries<Text, Entries<i64, Decimal>>> {
        if tensor.gaps.is_empty() {
            return None;
        }
        let cores = if is_lx { 0..self.geometry.cores() } else { -1..0 };
        let by_core = |gap: i64| cores.clone().map(|core| (core, Decimal(gap))).collect();
        let visible = tensor.gaps.iter().filter(|(label, _)| shown.contains(label));
        Some(visible.map(|(label, gap)| (label.name().into(), by_core(*gap))).collect())
    }

    /// Returns the coordinates of every dimension of the tensor's class, as they occur in the tensor.
    fn coordinates(&self, index: usize) -> Result<Entries<Text, CoordInfo>, SdscError> {
        let tensor = &self.geometry.tensors[index];
        let class = &self.geometry.classes[tensor.class];
        let shown = class.order.iter().filter(|label| self.windows.shows(**label, class.name));
        let entry = |label: &Label| {
            let foreign = SdscError::ForeignDim { tensor: index, label: *label };
            let scale = tensor.dim(*label).ok_or(foreign)?.scale;
            Ok((label.name().into(), coord_info(&self.extent(index, *label, scale))))
        };
        shown.map(entry).collect()
    }

    fn extent(&self, index: usize, label: Label, scale: Scale) -> DimExtent {
        let points = self.geometry.space.size(label);
        let stick = self.stick_form(index, label);
        let plain = |slices, size| DimExtent { scale, slices, size, step: size, padding: "nopad".into(), stick };
        match scale {
            Scale::Absent | Scale::AbsentStick => plain(1, 1),
            Scale::Present => {
                let slices = self.geometry.owner(index).get(label).slices;
                match self.windows.input_extent(index, self.is_input(index), label, points, slices) {
                    Some(input) => DimExtent { scale, slices, size: input.size, step: input.step, padding: input.padding, stick },
                    None => plain(slices, points / slices),
                }
            }
        }
    }

    fn stick_form(&self, index: usize, label: Label) -> StickForm {
        let tensor = &self.geometry.tensors[index];
        let stick = &self.geometry.classes[tensor.class].stick;
        let Some(position) = stick.iter().position(|along| *along == label) else { return StickForm::Beside };
        let is_fp8_matmul = self.op.function == "batchmatmulfp8";
        if tensor.format == DeviceFormat::Sen143Fp8 && stick.len() == 2 && position > 0 {
            StickForm::WeightBlock
        } else if is_fp8_matmul && index == 0 {
            StickForm::ActivationBlock
        } else {
            StickForm::Along(tensor.format)
        }
    }

    fn owned_slices(&self, index: usize) -> Entries<i64, Entries<Text, i64>> {
        let Some(owner) = self.geometry.owners.as_ref().and_then(|owners| owners.get(index)) else { return Entries::default() };
        self.slices_by_core(owner, self.geometry.space.dims().iter().map(|dim| dim.label))
    }

    /// Returns the slice of each dimension that each core has.
    pub(super) fn slices_by_core(&self, divisions: &Divisions, order: impl Iterator<Item = Label>) -> Entries<i64, Entries<Text, i64>> {
        let dims: Vec<_> = order.map(|label| divisions.get(label)).collect();
        let slots = |core| dims.iter().map(|division| (Text::from(division.label.name()), division.slot(core))).collect();
        (0..self.geometry.cores()).map(|core| (core, slots(core))).collect()
    }

    /// Builds the description of a tensor in the file: class, scales, format and memory.
    pub(super) fn tensor_info(&self, index: usize) -> Result<TensorInfo, SdscError> {
        let tensor = &self.geometry.tensors[index];
        let class = &self.geometry.classes[tensor.class];
        let shown = class.order.iter().filter(|label| self.windows.shows(**label, class.name));
        let scale = |label: &Label| {
            let foreign = SdscError::ForeignDim { tensor: index, label: *label };
            tensor.dim(*label).map(|dim| dim.scale.value()).ok_or(foreign)
        };
        Ok(TensorInfo {
            tensor: index,
            name: format!("Tensor{index}").into(),
            class: class.name.name().into(),
            scales: shown.map(scale).collect::<Result<_, _>>()?,
            word_length: WordLength::bytes(tensor.format.bytes()),
            format: tensor.format.name().into(),
            memory: self.memory(index),
        })
    }

    /// The device reads indices from HBM only.
    fn memory(&self, index: usize) -> Memory {
        let plain = Presence { is_present: 1, ..Presence::default() };
        let is_input = self.is_input(index);
        if self.geometry.tensors[index].access.is_index() {
            Memory { hbm: Some(plain), lx: None }
        } else if self.op.operands[index].allocation.is_lx() {
            Memory { hbm: None, lx: Some(self.windows.lx_presence(index)) }
        } else {
            let hbm = self.windows.presence(index, is_input, &node_name(index, "hbm"));
            Memory { hbm: Some(hbm), lx: Some(self.windows.presence(index, is_input, "")) }
        }
    }
}

fn indirection(access: Access) -> (Text, Option<Text>, Option<Text>) {
    match access {
        Access::Direct => ("no_indirection".into(), None, None),
        Access::Index { value } => ("index_tensor".into(), Some(node_name(value, "hbm")), Some("index".into())),
        Access::Value { index } => ("value_tensor".into(), Some(node_name(index, "hbm")), None),
    }
}

fn node_name(tensor: usize, component: &str) -> Text {
    format!("allocate-Tensor{tensor}_{component}").into()
}
