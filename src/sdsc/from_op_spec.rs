//! One op spec as one SDSC file ("SuperDSC schema, section 6").

use super::constants::constants;
use super::model::{
    ClassInfo, ClassRelation, ComputeAttributes, ComputeOp, Dsc, Entries, Fold, FoldFunction, FoldMap, Named, Nothing, Operation, Sdsc,
    Sizes, SpaceSizes, Stage, StagePair, StageParams, SymbolicInfo, Text,
};
use super::tensors::texts;
use super::windows::Windows;
use super::{SdscError, model};
use crate::bundle::geometry::{Class, Geometry, OpFamily, Scale, SpaceDim};
use crate::bundle::symbols::{Addresses, MemoryMap};
use crate::bundle::{BundleError, OpSpec};
use crate::target::{DeviceFormat, Unit};

/// The file of an op whose addresses are launch arguments.
///
/// `index` is its depth-first number in the bundle; `first_symbol_id` is what [`Launch`](crate::bundle::Launch) gives it.
///
/// # Errors
///
/// When the op has no form in the file format.
pub fn from_op_spec(op: &OpSpec, index: usize, first_symbol_id: i64) -> Result<Sdsc, SdscError> {
    assemble(op, index, |geometry| Addresses::symbolic(op, geometry, first_symbol_id))
}

/// The file of an op whose addresses are baked in.
///
/// # Errors
///
/// When the op has no form in the file format, or an address is not known before the launch.
pub fn from_op_spec_baked(op: &OpSpec, index: usize, map: &MemoryMap) -> Result<Sdsc, SdscError> {
    assemble(op, index, |geometry| Addresses::baked(op, geometry, map))
}

fn assemble(op: &OpSpec, index: usize, addresses: impl FnOnce(&Geometry) -> Result<Addresses, BundleError>) -> Result<Sdsc, SdscError> {
    let in_op = |source: SdscError| SdscError::InOp { index, function: op.function.clone(), source: Box::new(source) };
    let geometry = Geometry::new(op).map_err(|error| in_op(error.into()))?;
    let addresses = addresses(&geometry).map_err(|error| in_op(error.into()))?;
    let windows = Windows::of(op, &geometry).map_err(in_op)?;
    let context = Context { op, geometry: &geometry, addresses: &addresses, windows };
    let function = context.function();
    Ok(Named { name: format!("{index}_{function}").into(), value: context.operation(&function).map_err(in_op)? })
}

/// An op and what was worked out of it.
pub(super) struct Context<'a> {
    pub(super) op: &'a OpSpec,
    pub(super) geometry: &'a Geometry,
    pub(super) addresses: &'a Addresses,
    pub(super) windows: Windows,
}

impl Context<'_> {
    /// The device function: a reduction beside the stick and a move between scratchpads have names of their own.
    fn function(&self) -> Text {
        let result = self.geometry.tensors.last();
        let reduces_stick = result.is_some_and(|tensor| tensor.dims.iter().any(|dim| dim.scale == Scale::AbsentStick));
        match self.geometry.family {
            _ if self.geometry.owners.is_some() => "shuffle".into(),
            OpFamily::Reduction if !reduces_stick => format!("{}nonstick", self.op.function).into(),
            OpFamily::Matmul
            | OpFamily::Conv2d
            | OpFamily::Depthwise
            | OpFamily::Pool
            | OpFamily::TopK
            | OpFamily::Reduction
            | OpFamily::Elementwise => self.op.function.clone().into(),
        }
    }

    /// The number of tensors that the file lists as inputs; a reduction also lists its result.
    fn n_inputs(&self) -> usize {
        let n_tensors = self.geometry.tensors.len();
        match self.geometry.family {
            OpFamily::Pool | OpFamily::TopK => 1,
            OpFamily::Depthwise | OpFamily::Reduction if self.op.is_reduction => n_tensors,
            OpFamily::Matmul | OpFamily::Conv2d | OpFamily::Depthwise | OpFamily::Reduction | OpFamily::Elementwise => n_tensors - 1,
        }
    }

    /// Whether the file lists a tensor as an input.
    pub(super) fn is_input(&self, tensor: usize) -> bool {
        tensor < self.n_inputs()
    }

    fn has_indices(&self) -> bool {
        self.geometry.tensors.iter().any(|tensor| tensor.access.is_index())
    }

    /// The number format that the op computes in: that of its first operand which holds values.
    fn format(&self) -> DeviceFormat {
        let first = usize::from(self.has_indices());
        self.geometry.tensors.get(first).map_or(DeviceFormat::Sen169Fp16, |tensor| tensor.format)
    }

    fn operation(&self, function: &Text) -> Result<Operation, SdscError> {
        let cores = self.geometry.cores();
        let dims = self.geometry.space.dims();
        let is_symbolic = !self.addresses.dims.is_empty();
        Ok(Operation {
            debug_handle: None,
            fold_props: vec![fold(1, "time")],
            folds: FoldMap {
                functions: vec![FoldFunction::Affine { alpha: 1, beta: 0 }],
                folds: vec![fold(1, "time")],
                data: Entries(vec![("[0]".into(), "0".into())]),
            },
            core_fold: fold(cores, "core"),
            corelet_fold: fold(1, "corelet"),
            n_cores: cores,
            core_to_dsc: (0..cores).map(|core| (core, 0)).collect(),
            slices: dims.iter().map(|dim| (dim.label.name().into(), dim.split)).collect(),
            core_to_slice: self
                .slices_by_core(&self.geometry.divisions, self.geometry.divisions.dims().iter().map(|division| division.label)),
            core_to_schedule: (0..cores).map(|core| (core, vec![[-1, 0, 0, 0]])).collect(),
            dscs: vec![Named { name: function.clone(), value: self.dsc(function)? }],
            data_dscs: is_symbolic.then(Vec::new),
            opcode_correction: is_symbolic.then(Nothing::default),
            symbol_tags: is_symbolic.then(|| self.symbol_tags()),
            symbol_definitions: is_symbolic.then(Nothing::default),
        })
    }

    fn dsc(&self, function: &Text) -> Result<Dsc, SdscError> {
        let cores = self.geometry.cores();
        let n_tensors = self.geometry.tensors.len();
        let (constants, masking_constant) = constants(self.op, self.geometry, self.format());
        let valid = |label, padding| self.geometry.space.size(label) - padding;
        let stage = self.stage();
        Ok(Dsc {
            n_cores: cores,
            n_corelets: 1,
            core_ids: (0..cores).collect(),
            space: self.space(),
            masking: self.geometry.masked.iter().map(|(label, pad)| (label.name().into(), vec![[valid(*label, *pad), *pad]])).collect(),
            masking_constant,
            dim_symbols: self.dim_symbols(),
            stages: StageParams { core: StagePair { steady: stage.clone(), end: stage } },
            classes: self.geometry.classes.iter().map(|class| (class.name.name().into(), self.class(class))).collect(),
            class_relation: self.windows.is_sliding().then_some(ClassRelation { is_reuse: 1 }),
            nodes: (0..n_tensors).map(|index| self.node(index)).collect::<Result<_, _>>()?,
            tensors: (0..n_tensors).map(|index| self.tensor_info(index)).collect::<Result<_, _>>()?,
            constants,
            compute: vec![self.compute(function)],
        })
    }

    fn space(&self) -> SpaceSizes {
        let windows = (!self.windows.full.is_empty()).then(|| self.windows.full.clone());
        SpaceSizes { name: "n".into(), sizes: self.sizes(|dim| dim.size), windows }
    }

    fn sizes(&self, size: impl Fn(&SpaceDim) -> i64) -> Sizes {
        Sizes(self.geometry.space.dims().iter().map(|dim| (dim.label.size_name().into(), size(dim))).collect())
    }

    fn stage(&self) -> Stage {
        let symbolic = self.geometry.space.dims().iter().filter_map(|dim| {
            let bounds = dim.symbolic.as_ref()?;
            let info = SymbolicInfo { max: bounds.max / dim.split, granularity: (bounds.granularity / dim.split).max(1) };
            Some((dim.label.name().into(), info))
        });
        Stage {
            name: "core".into(),
            sizes: self.sizes(|dim| dim.size / dim.split),
            symbolic: symbolic.collect(),
            max_symbolic_volume: Nothing {},
            corelet_split: Nothing {},
            row_split: Nothing {},
            pe_sfp_split: Nothing {},
            windows: self.windows.per_core.clone(),
        }
    }

    fn dim_symbols(&self) -> Option<Entries<Text, Vec<i64>>> {
        let label = |dim: usize| self.geometry.labels.get(dim).map(|label| Text::from(label.name()));
        let symbols: Entries<_, _> = self.addresses.dims.iter().filter_map(|symbol| Some((label(symbol.dim)?, vec![symbol.id]))).collect();
        (!symbols.is_empty()).then_some(symbols)
    }

    fn symbol_tags(&self) -> Entries<model::Decimal, Text> {
        let mut tags = Entries::default();
        for symbol in &self.addresses.dims {
            let id = model::Decimal(symbol.id);
            let size = self.op.iteration_space.get(symbol.dim).and_then(|dim| dim.symbolic.as_ref());
            if let (Some(size), None) = (size, tags.get(&id)) {
                tags.0.push((id, Text::from(size.symbol.clone())));
            }
        }
        tags
    }

    fn class(&self, class: &Class) -> ClassInfo {
        let shown: Vec<_> = class.order.iter().copied().filter(|label| self.windows.shows(*label, class.name)).collect();
        ClassInfo {
            order: texts(&shown),
            stick: texts(&class.stick),
            stick_sizes: class.stick_sizes.clone(),
            stick_replication: self.windows.is_sliding().then(|| vec![1]),
        }
    }

    fn compute(&self, function: &Text) -> ComputeOp {
        let name = |index: usize| Text::from(format!("Tensor{index}-idx{index}"));
        let is_index = |index: &usize| self.geometry.tensors[*index].access.is_index();
        let n_tensors = self.geometry.tensors.len();
        let unit = match self.geometry.family {
            OpFamily::Matmul | OpFamily::Conv2d => Unit::Pt,
            OpFamily::Depthwise | OpFamily::Pool | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => Unit::Sfp,
        };
        ComputeOp {
            unit: unit.name().into(),
            function: function.clone(),
            attributes: ComputeAttributes { format: self.format().name().into(), fidelity: "regular".into() },
            location: "Inner".into(),
            inputs: (0..self.n_inputs()).filter(|index| !is_index(index)).map(name).collect(),
            outputs: vec![name(n_tensors - 1)],
            indices: self.has_indices().then(|| (0..n_tensors).filter(is_index).map(name).collect()),
        }
    }
}

fn fold(factor: i64, label: &'static str) -> Fold {
    Fold { factor, label: label.into() }
}
