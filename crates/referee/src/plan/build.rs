//! Compiles the op descriptions of an SDSC file into plans.

use super::error::PlanError;
use super::kernel::{OpKernel, TopKOutput};
use super::relayout::{check_relayout, find_relayout_cores, read_source_order};
use super::stagger::Stagger;
use super::tensor::{TensorPlanBuilder, parse_number_format};
use super::{CoreAssignment, IterationDim, OpConstant, OpPlan, PaddingMask, SymbolicSize, TensorPlan};
use crate::error::SimError;
use crate::number::{decode_constant, to_program_number};
use element::Reduction;
use machine::{DeviceFormat, Target};
use sdsc_format::model::{ComputeOp, ConstantBits, ConstantInfo, Dsc, Operation, Sdsc, Text};

/// Maximum number of points along one dimension of one core, and so the maximum length of a table.
const MAX_LOCAL_POINTS: i64 = 1 << 26;

/// Maximum number of entries of all tables of an op.
const MAX_TABLE_ENTRIES: i64 = 1 << 26;

/// Name of the constant that replaces masked points.
const MASK_CONSTANT_NAME: &str = "samv-maskvalue";

/// Compiles one op description of a file.
pub(super) fn compile_plan(file: &str, sdsc: &Sdsc, number: usize, target: &Target) -> Result<OpPlan, SimError> {
    let named = &sdsc.value.dscs[number];
    let (operation, dsc) = (&sdsc.value, &named.value);
    let [compute] = dsc.compute.as_slice() else {
        let fault = match dsc.compute.len() {
            0 => PlanError::Malformed("computeOp_ has no entry".to_owned()),
            count => PlanError::NotSimulated(format!(
                "{count} fused operations: the format does not say how values pass between them"
            )),
        };
        return Err(fault.into_sim_error(format!("{file} ({})", named.name)));
    };
    let function = compute.function.as_ref();
    let name = format!("{file} ({function})");
    let builder = PlanBuilder { operation, dsc, compute, function, name: &name, num_cores: target.cores };
    builder.build_plan().map_err(|fault| fault.into_sim_error(name.clone()))
}

struct PlanBuilder<'f> {
    operation: &'f Operation,
    dsc: &'f Dsc,
    compute: &'f ComputeOp,
    function: &'f str,
    name: &'f str,
    /// Number of cores of the machine.
    num_cores: i64,
}

type PlanResult<T> = Result<T, PlanError>;

fn reject_malformed<T>(message: impl Into<String>) -> PlanResult<T> {
    Err(PlanError::Malformed(message.into()))
}

impl PlanBuilder<'_> {
    fn build_plan(&self) -> PlanResult<OpPlan> {
        let kernel = OpKernel::from_function(self.function)
            .ok_or_else(|| PlanError::NotSimulated(format!("the function '{}'", self.function)))?;
        let dims = self.build_dims()?;
        let cores = match kernel {
            OpKernel::Shuffle => find_relayout_cores(self.operation, self.dsc, &dims, self.num_cores)?,
            _ => self.build_cores(&dims)?,
        };
        let tensors = self.build_tensors(&dims, &cores)?;
        let (inputs, indices, output) = self.find_operands(tensors.len())?;
        if inputs.len() != kernel.num_inputs() {
            return reject_malformed(format!(
                "'{}' takes {} inputs, found {}",
                self.function,
                kernel.num_inputs(),
                inputs.len()
            ));
        }
        let constants = self.build_constants()?;
        let mask = self.build_mask(&dims, &constants)?;
        let points = dims.iter().try_fold(1u64, |points, dim| points.checked_mul(dim.local_size as u64));
        let points = points.ok_or_else(|| PlanError::Malformed("the iteration space is too large".to_owned()))?;
        let sizes = self.build_symbolic_sizes(&dims)?;
        if self.is_uneven() && !sizes.is_empty() {
            return Err(PlanError::NotSimulated("symbolic sizes of an op with unequal work".to_owned()));
        }
        let (name, function) = (self.name.to_owned(), self.function.to_owned());
        let source_order = if kernel == OpKernel::Shuffle { read_source_order(self.dsc, &dims) } else { Vec::new() };
        let plan = OpPlan {
            name,
            function,
            kernel,
            dims,
            cores,
            tensors,
            inputs,
            index_tensors: indices,
            output,
            source_order,
            mask,
            constants,
            symbolic_sizes: sizes,
            points_per_core: points,
        };
        check_plan(&plan)?;
        Ok(plan)
    }

    fn build_dims(&self) -> PlanResult<Vec<IterationDim>> {
        let stage = &self.dsc.stages.core.steady.sizes;
        let mut ends = self.dsc.stages.core.end.sizes.0.iter();
        if let Some((key, size)) = ends.find(|(key, size)| stage.0.get(*key) != Some(*size)) {
            return reject_malformed(format!(
                "'el_' has {size} points of '{key}'; the last one of several slices has at most the points of 'ss_'"
            ));
        }
        let dim = |(key, size): (&Text, &i64)| {
            let label = key.trim_end_matches('_').to_owned();
            let slices = self.operation.slices.get(label.as_str()).copied().unwrap_or(1);
            if *size < 1 || slices < 1 || (size % slices != 0 && !self.is_uneven()) {
                return reject_malformed(format!("'{label}' has {size} points in {slices} slices"));
            }
            let part = stage.get(&label);
            let local = part.filter(|part| self.is_uneven() && (1..=*size).contains(part)).unwrap_or(size / slices);
            if part != Some(local) {
                return reject_malformed(format!(
                    "dataStageParam_ has {part:?} points of '{label}' for a core, not {local}"
                ));
            }
            if local > MAX_LOCAL_POINTS {
                return Err(PlanError::NotSimulated(format!("{local} points of '{label}' on one core")));
            }
            Ok(IterationDim { label, size: *size, num_slices: slices, local_size: local })
        };
        let dims: Vec<IterationDim> = self.dsc.space.sizes.0.iter().map(dim).collect::<PlanResult<_>>()?;
        match self.operation.slices.iter().find(|(label, _)| !dims.iter().any(|dim| dim.label == **label)) {
            Some((label, _)) => reject_malformed(format!("numWkSlicesPerDim_ has '{label}', which N_ does not have")),
            None => Ok(dims),
        }
    }

    /// Returns whether the op descriptions of the file divide the work unequally.
    fn is_uneven(&self) -> bool {
        let sizes = &self.dsc.stages.core.steady.sizes;
        self.operation.dscs.iter().any(|other| other.value.stages.core.steady.sizes != *sizes)
    }

    fn build_cores(&self, dims: &[IterationDim]) -> PlanResult<Vec<CoreAssignment>> {
        let listed = &self.dsc.core_ids;
        let num_slices = dims.iter().try_fold(1i64, |count, dim| count.checked_mul(dim.num_slices));
        let n_cores = listed.len() as i64;
        // The descriptions share the slices.
        let num_shared = if self.operation.dscs.len() > 1 { self.operation.n_cores } else { n_cores };
        if num_slices != Some(num_shared) || self.operation.n_cores != num_shared || self.dsc.n_cores != n_cores {
            return reject_malformed(format!(
                "{} cores for {num_slices:?} slices; every core has one slice",
                listed.len()
            ));
        }
        if let Some(id) = listed.iter().find(|id| !(0..self.num_cores).contains(*id)) {
            return reject_malformed(format!("there is no core {id}; the machine has {}", self.num_cores));
        }
        if n_cores > self.num_cores {
            return reject_malformed(format!("{n_cores} cores; the machine has {}", self.num_cores));
        }
        let mut cores: Vec<CoreAssignment> = Vec::new();
        if self.operation.core_to_slice.is_empty() {
            let what = "several cores without 'coreIdToWkSlice_': the file does not say which slice a core computes"
                .to_owned();
            return Err(PlanError::NotSimulated(what));
        }
        for id in listed {
            let Some(slice) = self.operation.core_to_slice.get(id) else {
                return reject_malformed(format!("coreIdToWkSlice_ lacks core {id}"));
            };
            let slots: Vec<i64> = dims.iter().map(|dim| slice.get(dim.label.as_str()).copied().unwrap_or(0)).collect();
            if let Some((slot, dim)) = slots.iter().zip(dims).find(|(slot, dim)| !(0..dim.num_slices).contains(*slot)) {
                return reject_malformed(format!(
                    "core {id} has slice {slot} of '{}', which has {}",
                    dim.label, dim.num_slices
                ));
            }
            if let Some(other) = cores.iter().find(|other| other.id == *id || other.slice_indices == slots) {
                return reject_malformed(format!("cores {} and {id} have the same slices", other.id));
            }
            cores.push(CoreAssignment { id: *id, corelet: None, slice_indices: slots });
        }
        Ok(cores)
    }

    fn build_tensors(&self, dims: &[IterationDim], cores: &[CoreAssignment]) -> PlanResult<Vec<TensorPlan>> {
        let (nodes, infos) = (&self.dsc.nodes, &self.dsc.tensors);
        let numbered = nodes
            .iter()
            .zip(infos)
            .enumerate()
            .all(|(index, (node, info))| node.tensor.is_none_or(|tensor| tensor == index) && info.tensor == index);
        if nodes.len() != infos.len() || !numbered {
            return reject_malformed("scheduleTree_ and labeledDs_ must list the same tensors, 0, 1, ...");
        }
        let entries = dims.iter().map(|dim| dim.local_size).sum::<i64>().saturating_mul(nodes.len() as i64);
        if entries > MAX_TABLE_ENTRIES {
            return Err(PlanError::NotSimulated(format!("{entries} points along the dimensions of all tensors")));
        }
        let stagger = Stagger::from_function(self.function);
        let file = |(index, (node, info))| TensorPlanBuilder {
            dsc: self.dsc,
            node,
            info,
            function: self.function,
            dims,
            cores,
            // The result is the last tensor.
            stagger: stagger.filter(|_| index + 1 == nodes.len()),
        };
        let build = |numbered| {
            let mut tensor = file(numbered).build_plan()?;
            if !tensor.compute_core_reads(cores) {
                let what = format!("{}: more separate pieces of memory than the simulator keeps", tensor.name);
                return Err(PlanError::NotSimulated(what));
            }
            Ok(tensor)
        };
        nodes.iter().zip(infos).enumerate().map(build).collect()
    }

    /// Returns the positions of the inputs, the index tensors and the result. Reductions also list the result as an
    /// input; it is removed from the inputs.
    fn find_operands(&self, num_tensors: usize) -> PlanResult<(Vec<usize>, Vec<usize>, usize)> {
        let compute = self.compute;
        let number = |label: &str| {
            let number = label.split_once("-idx").and_then(|(_, number)| number.parse::<usize>().ok());
            match number.filter(|number| *number < num_tensors) {
                Some(number) => Ok(number),
                None => reject_malformed(format!("'{label}' is no tensor of the op")),
            }
        };
        let [output] = compute.outputs.as_slice() else {
            return reject_malformed("outputLabeledDs must have exactly one entry");
        };
        let output = number(output)?;
        let inputs: Vec<usize> = compute.inputs.iter().map(|label| number(label)).collect::<PlanResult<_>>()?;
        let indices = compute.indices.iter().flatten().map(|label| number(label)).collect::<PlanResult<_>>()?;
        Ok((inputs.into_iter().filter(|input| *input != output).collect(), indices, output))
    }

    fn build_constants(&self) -> PlanResult<Vec<OpConstant>> {
        self.dsc.constants.0.iter().map(|(_, info)| build_constant(info)).collect()
    }

    fn build_mask(&self, dims: &[IterationDim], constants: &[OpConstant]) -> PlanResult<Option<PaddingMask>> {
        let mut masked = Vec::new();
        for (label, parts) in self.dsc.masking.iter() {
            let dim = dims.iter().position(|dim| dim.label == **label);
            match (dim, parts.as_slice()) {
                (Some(dim), [[valid, pad]])
                    if *valid >= 0 && *pad >= 0 && valid.checked_add(*pad) == Some(dims[dim].size) =>
                {
                    masked.push((dim, *valid));
                }
                _ => {
                    return reject_malformed(format!(
                        "coordinateMasking_ of '{label}' is not [[valid, padding]] of its points"
                    ));
                }
            }
        }
        if masked.is_empty() {
            return Ok(None);
        }
        if self.is_uneven() {
            return Err(PlanError::NotSimulated("masks of an op with unequal work".to_owned()));
        }
        // Look up by name: torch-spyre of August 2026 prints 0 for maskingConstId_ even if another constant is first.
        match constants.iter().position(|constant| constant.name == MASK_CONSTANT_NAME) {
            Some(constant) => Ok(Some(PaddingMask { dims: masked, constant })),
            None => reject_malformed(format!("coordinateMasking_ without a constant '{MASK_CONSTANT_NAME}'")),
        }
    }

    fn build_symbolic_sizes(&self, dims: &[IterationDim]) -> PlanResult<Vec<SymbolicSize>> {
        let mut sizes = Vec::new();
        for (label, symbols) in self.dsc.dim_symbols.iter().flat_map(|symbols| symbols.iter()) {
            let dim = dims.iter().position(|dim| dim.label == **label);
            match (dim, symbols.as_slice()) {
                (Some(dim), [symbol]) => {
                    let name = self.operation.size_name(symbol.id).map(ToString::to_string);
                    sizes.push(SymbolicSize { symbol: symbol.id, dim, name });
                }
                _ => {
                    return reject_malformed(format!(
                        "dimToSymbolMapping_ of '{label}' is not one symbol of a dimension"
                    ));
                }
            }
        }
        Ok(sizes)
    }
}

fn build_constant(info: &ConstantInfo) -> PlanResult<OpConstant> {
    let format = parse_number_format(&info.format)?;
    let mut values = info.data.data.iter().map(|(_, bits)| bits.0.as_slice());
    let bits = values.next();
    if values.any(|other| Some(other) != bits) {
        return Err(PlanError::NotSimulated(format!("the constant '{}', which differs between cores", info.name)));
    }
    match bits {
        Some([ConstantBits::Known(bits)]) => {
            let value = decode_constant(format, *bits);
            Ok(OpConstant { name: info.name.to_string(), value, exact: to_program_number(format, value) })
        }
        Some([ConstantBits::Marker(text)]) => {
            Err(PlanError::NotSimulated(format!("the constant {text}, whose bits are unknown")))
        }
        _ => reject_malformed(format!("constant '{}' has not exactly one value", info.name)),
    }
}

/// Checks that the tensors of a plan meet the requirements of its kernel.
fn check_plan(plan: &OpPlan) -> PlanResult<()> {
    let reduced: Vec<usize> = plan.consumed_dims().into_iter().filter(|dim| plan.dims[*dim].size > 1).collect();
    if plan.kernel.is_elementwise()
        && let Some(dim) = reduced.first()
    {
        return reject_malformed(format!(
            "the result lacks '{}', but '{}' reduces nothing",
            plan.dims[*dim].label, plan.function
        ));
    }
    if plan.tensors.iter().any(|tensor| tensor.indirect.is_some()) == plan.index_tensors.is_empty() {
        return reject_malformed("index tensors and value tensors belong together");
    }
    for name in plan.kernel.required_constants() {
        if plan.find_constant(name).is_none() {
            return reject_malformed(format!("'{}' has no constant '{name}'", plan.function));
        }
    }
    if let OpKernel::TopK(selected) = plan.kernel {
        check_selection(plan, selected)?;
    }
    let pads_zeros = matches!(plan.kernel, OpKernel::Contract | OpKernel::Reduce(Reduction::AveragePool));
    if !pads_zeros && plan.tensors.iter().any(|tensor| !tensor.padded_windows.is_empty()) {
        return Err(PlanError::NotSimulated(format!("'{}' with padding", plan.function)));
    }
    let is_unary = plan.kernel.is_elementwise() && plan.inputs.len() == 1;
    if !plan.index_tensors.is_empty() && plan.kernel != OpKernel::Copy && !is_unary {
        return Err(PlanError::NotSimulated(format!("'{}' with indirect access", plan.function)));
    }
    check_packed_tensors(plan)?;
    let values = plan.tensors.iter().enumerate().filter(|(tensor, _)| !plan.index_tensors.contains(tensor));
    let mut formats = values.map(|(_, tensor)| tensor.format);
    if plan.function == "identity" && formats.next().is_some_and(|first| formats.any(|format| format != first)) {
        return reject_malformed("the tensors of an identity have one format; other functions convert");
    }
    let owned = plan.tensors.iter().filter(|tensor| tensor.ownership.is_some()).count();
    if (plan.kernel == OpKernel::Shuffle) != (owned == plan.tensors.len())
        || (owned != 0 && plan.kernel != OpKernel::Shuffle)
    {
        return reject_malformed("the tensors of a shuffle, and only they, say which slices the cores hold");
    }
    if plan.kernel == OpKernel::Shuffle { check_relayout(plan) } else { Ok(()) }
}

/// Checks that elements that share bytes are only read, by products.
fn check_packed_tensors(plan: &OpPlan) -> PlanResult<()> {
    let is_read = |tensor: usize| plan.kernel == OpKernel::Contract && plan.inputs.contains(&tensor);
    let mut packed =
        plan.tensors.iter().enumerate().filter(|(_, tensor)| DeviceFormat::PACKED.contains(&tensor.format));
    match packed.find(|(tensor, _)| !is_read(*tensor)) {
        Some((_, tensor)) => {
            let what = format!("'{}' with {} in {}", plan.function, tensor.name, tensor.format);
            Err(PlanError::NotSimulated(what))
        }
        None => Ok(()),
    }
}

/// Checks a top-k. It searches one dimension, which is not split over cores. Its results are along another dimension,
/// which the input lacks.
fn check_selection(plan: &OpPlan, selected: TopKOutput) -> PlanResult<()> {
    let Some((searched, ranks)) = plan.find_top_k_dims() else {
        return reject_malformed(format!(
            "'{}' searches one dimension, and its result has one that its input lacks",
            plan.function
        ));
    };
    let (searched, ranks) = (&plan.dims[searched], &plan.dims[ranks]);
    if searched.num_slices > 1 {
        let label = &searched.label;
        return reject_malformed(format!(
            "dimension '{label}' of a top-k search is split over cores, which cannot combine their results"
        ));
    }
    if ranks.size > searched.size {
        return reject_malformed(format!(
            "the {} largest of {} elements along '{}'",
            ranks.size, searched.size, searched.label
        ));
    }
    let format = plan.tensors[plan.output].format;
    if selected == TopKOutput::Position && format != DeviceFormat::IeeeFp32 && searched.size > MAX_EXACT_POSITIONS {
        let message = format!(
            "positions of {} elements in {format}, which represents only the first {MAX_EXACT_POSITIONS} exactly",
            searched.size
        );
        return Err(PlanError::NotSimulated(message));
    }
    Ok(())
}

/// Number of consecutive integers, from 0 on, that DL16 represents exactly.
const MAX_EXACT_POSITIONS: i64 = 1025;
