//! Converts one op spec to one SDSC file ("SuperDSC schema, section 6").

use super::SdscError;
use super::constants::build_constants;
use super::context::{EmitContext, label_texts};
use super::windows::OpWindows;
use crate::launch::symbols::{MemoryMap, OpAddresses};
use crate::{
    bundle::OpFamily,
    launch::geometry::{Geometry, LayoutClass, Scale, SpaceDim},
};
use crate::{bundle::OpSpec, launch::LaunchError};
use machine::{DeviceFormat, ExecutionUnit};
use sdsc_format::model::{
    ClassInfo, ClassRelation, ComputeAttributes, ComputeOp, DimSizes, Dsc, Entries, Fold, FoldFunction, FoldMap,
    LabeledSizes, NamedMember, Operation, Sdsc, SizeSymbol, StagePair, StageParams, SymbolicInfo, Text,
};

/// Returns the file of an op whose addresses are launch arguments.
///
/// `index` is its depth-first number in the bundle; [`Launch`](crate::launch::Launch) determines `first_symbol_id`.
///
/// # Errors
///
/// If the op has no form in the file format.
pub fn from_op_spec(op: &OpSpec, index: usize, first_symbol_id: i64) -> Result<Sdsc, SdscError> {
    assemble_file(op, index, |geometry| OpAddresses::new_symbolic(op, geometry, first_symbol_id))
}

/// Returns the file of an op whose addresses are baked in.
///
///
/// # Errors
///
/// If the op has no form in the file format, or an address is not known before the launch.
pub fn from_op_spec_baked(op: &OpSpec, index: usize, map: &MemoryMap) -> Result<Sdsc, SdscError> {
    assemble_file(op, index, |geometry| OpAddresses::new_baked(op, geometry, map))
}

fn assemble_file(
    op: &OpSpec,
    index: usize,
    addresses: impl FnOnce(&Geometry) -> Result<OpAddresses, LaunchError>,
) -> Result<Sdsc, SdscError> {
    let in_op = |source: SdscError| SdscError::InOp { index, function: op.function.clone(), source: Box::new(source) };
    let geometry = Geometry::new(op).map_err(|error| in_op(error.into()))?;
    let addresses = addresses(&geometry).map_err(|error| in_op(error.into()))?;
    let windows = OpWindows::from_op(op, &geometry).map_err(in_op)?;
    let context = EmitContext { op, geometry: &geometry, addresses: &addresses, windows };
    let function = context.device_function();
    Ok(NamedMember {
        name: format!("{index}_{function}").into(),
        value: context.build_operation(&function).map_err(in_op)?,
    })
}

impl EmitContext<'_> {
    /// Returns the device function; reductions of dimensions other than the stick, and moves between scratchpads, have
    /// names of their own.
    fn device_function(&self) -> Text {
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

    fn has_indices(&self) -> bool {
        self.geometry.tensors.iter().any(|tensor| tensor.access.is_index())
    }

    /// Returns the number format in which the op computes: that of its first operand that is not an index tensor.
    fn format(&self) -> DeviceFormat {
        let first = usize::from(self.has_indices());
        self.geometry.tensors.get(first).map_or(DeviceFormat::Sen169Fp16, |tensor| tensor.format)
    }

    fn build_operation(&self, function: &Text) -> Result<Operation, SdscError> {
        let cores = self.geometry.num_cores();
        let dims = self.geometry.space.dims();
        // The slices of a shuffle are those of its destination.
        let result = self.geometry.owner(self.geometry.tensors.len() - 1);
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
            slices: dims.iter().map(|dim| (dim.label.name().into(), result.get(dim.label).slices)).collect(),
            core_to_slice: self.slices_by_core(result, result.dims().iter().map(|division| division.label)),
            core_to_schedule: (0..cores).map(|core| (core, vec![[-1, 0, 0, 0]])).collect(),
            dscs: vec![NamedMember { name: function.clone(), value: self.build_dsc(function)? }],
            data_dscs: is_symbolic.then(Vec::new),
            opcode_correction: is_symbolic.then(Entries::default),
            symbol_tags: is_symbolic.then(|| self.build_symbol_tags()),
            symbol_definitions: is_symbolic.then(Entries::default),
            share_info: None,
        })
    }

    fn build_dsc(&self, function: &Text) -> Result<Dsc, SdscError> {
        let cores = self.geometry.num_cores();
        let num_tensors = self.geometry.tensors.len();
        let (constants, masking_constant) = build_constants(self.op, self.geometry, self.format());
        let valid = |label, padding| self.geometry.space.size(label) - padding;
        let stage = self.build_stage();
        Ok(Dsc {
            n_cores: cores,
            n_corelets: Some(1),
            core_ids: (0..cores).collect(),
            space: self.build_space(),
            masking: self
                .geometry
                .masked
                .iter()
                .map(|(label, pad)| (label.name().into(), vec![[valid(*label, *pad), *pad]]))
                .collect(),
            masking_constant,
            dim_symbols: self.build_dim_symbols(),
            stages: StageParams { core: StagePair { name: None, steady: stage.clone(), end: stage } },
            classes: self
                .geometry
                .classes
                .iter()
                .map(|class| (class.name.name().into(), self.build_class(class)))
                .collect(),
            class_relation: self.windows.is_sliding().then_some(ClassRelation { is_reuse: 1 }),
            nodes: (0..num_tensors).map(|index| self.build_node(index)).collect::<Result<_, _>>()?,
            tensors: (0..num_tensors).map(|index| self.build_tensor_info(index)).collect::<Result<_, _>>()?,
            constants,
            compute: vec![self.build_compute_op(function)],
        })
    }

    fn build_space(&self) -> DimSizes {
        let windows = (!self.windows.full.is_empty()).then(|| self.windows.full.clone());
        DimSizes { name: Some("n".into()), sizes: self.build_sizes(|dim| dim.size), windows, ..DimSizes::default() }
    }

    fn build_sizes(&self, size: impl Fn(&SpaceDim) -> i64) -> LabeledSizes {
        LabeledSizes(self.geometry.space.dims().iter().map(|dim| (dim.label.size_name().into(), size(dim))).collect())
    }

    fn build_stage(&self) -> DimSizes {
        let symbolic = self.geometry.space.dims().iter().filter_map(|dim| {
            let bounds = dim.symbolic.as_ref()?;
            let info =
                SymbolicInfo { max: bounds.max / dim.split, granularity: (bounds.granularity / dim.split).max(1) };
            Some((dim.label.name().into(), info))
        });
        let result = self.geometry.owner(self.geometry.tensors.len() - 1);
        DimSizes {
            name: Some("core".into()),
            sizes: self.build_sizes(|dim| dim.size / result.get(dim.label).slices),
            symbolic: Some(symbolic.collect()),
            max_symbolic_volume: Some(Entries::default()),
            corelet_split: Some(Entries::default()),
            row_split: Some(Entries::default()),
            pe_sfp_split: Some(Entries::default()),
            windows: Some(self.windows.per_core.clone()),
        }
    }

    fn build_dim_symbols(&self) -> Option<Entries<Text, Vec<SizeSymbol>>> {
        let label = |dim: usize| self.geometry.labels.get(dim).map(|label| Text::from(label.name()));
        let ids = |id: i64| vec![SizeSymbol { id, is_text: false }];
        let symbols: Entries<_, _> =
            self.addresses.dims.iter().filter_map(|symbol| Some((label(symbol.dim)?, ids(symbol.id)))).collect();
        (!symbols.is_empty()).then_some(symbols)
    }

    fn build_symbol_tags(&self) -> Entries<Text, Text> {
        let mut tags = Entries::default();
        for symbol in &self.addresses.dims {
            let id = Text::from(symbol.id.to_string());
            let size = self.op.iteration_space.get(symbol.dim).and_then(|dim| dim.symbolic.as_ref());
            if let (Some(size), None) = (size, tags.get(&id)) {
                tags.0.push((id, Text::from(size.symbol.clone())));
            }
        }
        tags
    }

    fn build_class(&self, class: &LayoutClass) -> ClassInfo {
        let viewed: Vec<_> =
            class.order.iter().copied().filter(|label| self.windows.includes_dim(*label, class.name)).collect();
        ClassInfo {
            order: label_texts(&viewed),
            stick: label_texts(&class.stick),
            stick_sizes: class.stick_sizes.clone(),
            stick_replication: self.windows.is_sliding().then(|| vec![1]),
        }
    }

    fn build_compute_op(&self, function: &Text) -> ComputeOp {
        let name = |index: usize| Text::from(format!("Tensor{index}-idx{index}"));
        let is_index = |index: &usize| self.geometry.tensors[*index].access.is_index();
        let num_tensors = self.geometry.tensors.len();
        let unit = match self.geometry.family {
            OpFamily::Matmul | OpFamily::Conv2d => ExecutionUnit::Pt,
            OpFamily::Depthwise | OpFamily::Pool | OpFamily::TopK | OpFamily::Reduction | OpFamily::Elementwise => {
                ExecutionUnit::Sfp
            }
        };
        ComputeOp {
            unit: unit.name().into(),
            function: function.clone(),
            attributes: ComputeAttributes { format: self.format().name().into(), fidelity: "regular".into() },
            location: Some("Inner".into()),
            inputs: (0..self.num_inputs()).filter(|index| !is_index(index)).map(name).collect(),
            outputs: vec![name(num_tensors - 1)],
            indices: self.has_indices().then(|| (0..num_tensors).filter(is_index).map(name).collect()),
        }
    }
}

fn fold(factor: i64, label: &'static str) -> Fold {
    Fold { factor, label: label.into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{dense_operand, op, operand};
    use crate::bundle::{Allocation, Coordinate, ElementArrangement, OpSpecOperand, OpWindow, WindowAxis};

    fn dsc(op: &OpSpec) -> (Operation, Dsc) {
        let mut operation = from_op_spec(op, 3, -1).unwrap().value;
        let dsc = operation.dscs.remove(0).value;
        (operation, dsc)
    }

    fn sparse(rows: i64) -> OpSpecOperand {
        operand(&[1, rows, 64], vec![Coordinate::constant(0), Coordinate::dim(0), Coordinate::constant(0)])
    }

    #[test]
    fn renames_reduction_outside_stick() {
        let along = op("sum", &[64, 256], vec![dense_operand(&[64, 256], 0, 1), sparse(64)]);
        assert_eq!(from_op_spec(&along, 3, -1).unwrap().name, "3_sum");
        let column = operand(&[4, 64], vec![Coordinate::floordiv(1, 64), Coordinate::modulo(1, 64)]);
        let beside = op("sum", &[64, 256], vec![dense_operand(&[64, 256], 0, 1), column]);
        assert_eq!(from_op_spec(&beside, 0, -1).unwrap().name, "0_sumnonstick");
    }

    #[test]
    fn lists_result_of_reduction_as_input() {
        let (_, sum) = dsc(&op("sum", &[64, 256], vec![dense_operand(&[64, 256], 0, 1), sparse(64)]));
        assert_eq!(sum.compute[0].inputs, ["Tensor0-idx0", "Tensor1-idx1"]);
        assert_eq!(sum.compute[0].outputs, ["Tensor1-idx1"]);
    }

    #[test]
    fn appends_mask_constant_last() {
        let mut mean = op("sum", &[64, 50], vec![dense_operand(&[64, 50], 0, 1), sparse(64)]);
        assert_eq!(dsc(&mean).1.masking_constant, 0);
        mean.constants = vec![crate::bundle::NamedConstant { name: "scaling_factor".to_owned(), value: 0.02 }];
        let (_, mean) = dsc(&mean);
        assert_eq!(mean.masking_constant, 1);
        assert_eq!(mean.constants.0.0[1].1.name, "samv-maskvalue");
    }

    #[test]
    fn writes_baked_addresses_as_numbers() {
        let mut neg = op("neg", &[64, 64], vec![dense_operand(&[64, 64], 0, 1), dense_operand(&[64, 64], 0, 1)]);
        neg.operands[1].allocation = Allocation::Hbm { argument: 1, offset_bytes: 0 };
        let map = MemoryMap { segment_bytes: 1 << 34, segments: 7, has_pool: false };
        let sdsc = from_op_spec_baked(&neg, 0, &map).unwrap();
        let node = &sdsc.value.dscs[0].value.nodes[1];
        assert_eq!((node.is_symbolic, node.start.data.0[0].1), (None, sdsc_format::model::DecimalInteger(1 << 34)));
    }

    #[test]
    fn names_op_in_error() {
        let mut neg = op("neg", &[64, 64], vec![dense_operand(&[64, 64], 0, 1), dense_operand(&[64, 64], 0, 1)]);
        neg.operands[1].coordinates.pop();
        let error = from_op_spec(&neg, 7, -1).unwrap_err().to_string();
        assert_eq!(
            error,
            "op 7 ('neg'): operand 1 has 2 coordinates for 3 device dimensions; each dimension needs one"
        );
    }

    fn axis(kernel: i64, stride: i64, padding: i64, total_size: Option<i64>) -> WindowAxis {
        WindowAxis { kernel, stride, padding, dilation: 1, total_size }
    }

    /// Returns a pooling of `[1, 64, 8, 8]` with windows of 2 by 2.
    fn pool() -> OpSpec {
        use Coordinate as C;
        let input =
            operand(&[1, 4, 2, 4, 2, 64], vec![C::constant(0), C::dim(0), C::dim(3), C::dim(1), C::dim(4), C::dim(2)]);
        let output = operand(&[1, 4, 4, 64], vec![C::constant(0), C::dim(0), C::dim(1), C::dim(2)]);
        let mut pool = op("avgpoolfwd", &[4, 4, 64, 2, 2], vec![input, output]);
        pool.is_reduction = true;
        pool.window = Some(OpWindow { height: axis(2, 2, 0, None), width: axis(2, 2, 0, None), pad_type: None });
        pool.node_output_ranges = Some([1, 64, 4, 4]);
        pool
    }

    #[test]
    fn hides_window_of_pooling() {
        let (operation, pool) = dsc(&pool());
        assert_eq!(operation.slices.0.len(), 5);
        let class = &pool.classes.0[0].1;
        assert_eq!((class.order.join(" "), class.stick_replication.clone()), ("j i out".to_owned(), Some(vec![1])));
        let height = &pool.nodes[0].coordinates.dims.get("i").unwrap();
        assert_eq!((height.padding.as_ref(), height.folds.folds[3].factor), ("padded_fullspan_wunneeded", 8));
        assert_eq!(pool.nodes[1].coordinates.dims.get("i").unwrap().folds.folds[3].factor, 4);
        assert_eq!(pool.compute[0].inputs, ["Tensor0-idx0"]);
        assert_eq!(pool.constants.0.0[0].1.name, "nmap");
        assert_eq!(pool.tensors[1].memory.hbm.as_ref().unwrap().is_padded, Some(0));
    }

    #[test]
    fn pads_only_input_of_depthwise_convolution() {
        use Coordinate as C;
        let input = operand(&[1, 4, 4, 64], vec![C::constant(0), C::dim(1), C::dim(2), C::dim(0)]);
        let weight = operand(&[1, 3, 3, 64], vec![C::constant(0), C::dim(3), C::dim(4), C::dim(0)]);
        let output = operand(&[1, 4, 4, 64], vec![C::constant(0), C::dim(1), C::dim(2), C::dim(0)]);
        let mut conv = op("depthwiseconv2dnative", &[64, 4, 4, 3, 3], vec![input, weight, output]);
        conv.is_reduction = true;
        conv.iteration_space[1].split = 2;
        let axis = axis(3, 1, 1, Some(6));
        conv.window = Some(OpWindow { height: axis, width: axis, pad_type: Some("padded_nozeropad".to_owned()) });
        conv.node_output_ranges = Some([1, 64, 4, 4]);
        let (_, conv) = dsc(&conv);
        let windows = (&conv.space.windows.unwrap(), &conv.stages.core.steady.windows.unwrap());
        assert_eq!((windows.0.get("i").unwrap().total, windows.1.get("i").unwrap().total), (6, 4));
        assert_eq!(conv.nodes[0].early_padding.as_ref().unwrap().get("j").unwrap(), "padded_nozeropad");
        let height = conv.nodes[0].coordinates.dims.get("i").unwrap();
        assert_eq!((height.folds.folds[3].factor, height.padding.as_ref()), (4, "padded_nozeropad"));
        assert_eq!(conv.nodes[1].order.join(" "), "kj ki out");
        assert_eq!(
            conv.tensors.iter().map(|tensor| tensor.class.as_ref()).collect::<Vec<_>>(),
            ["OUTPUT", "INPUT", "OUTPUT"]
        );
        assert_eq!(conv.compute[0].inputs.len(), 3);
    }

    #[test]
    fn builds_block_folds_of_fp8_matmul_operands() {
        use Coordinate as C;
        let fp8 = |mut operand: OpSpecOperand, arrangement| {
            operand.format = DeviceFormat::Sen143Fp8;
            operand.arrangement = arrangement;
            operand
        };
        let input = operand(&[2, 8, 128], vec![C::floordiv(2, 128), C::dim(0), C::modulo(2, 128)]);
        let weight = operand(&[1, 256, 128], vec![C::constant(0), C::dim(2), C::dim(1)]);
        let operands = vec![
            fp8(input, ElementArrangement::Standard),
            fp8(weight, ElementArrangement::Qfp8Wt),
            dense_operand(&[8, 128], 0, 1),
        ];
        let mut matmul = op("batchmatmulfp8", &[8, 128, 256], operands);
        matmul.is_reduction = true;
        let (_, matmul) = dsc(&matmul);
        let folds = |node: usize, label: &str| matmul.nodes[node].coordinates.dims.get(label).unwrap().element_folds;
        assert_eq!((folds(0, "in"), folds(0, "mb")), (4, 1));
        assert_eq!((folds(1, "in"), folds(1, "out"), folds(2, "out")), (2, 3, 2));
        assert_eq!(matmul.classes.get("KERNEL").unwrap().stick_sizes, [2, 64]);
        assert_eq!(matmul.compute[0].unit, "pt");
    }
}
