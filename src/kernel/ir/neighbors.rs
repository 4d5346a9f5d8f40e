//! Describes the neighbors of a kernel without IR, for the rules of `fusion_rules.rs`.

use super::dim_labels::{DimLabels, LabelList, trace_view_dims};
use crate::dialect::ods::{attr, spyre};
use crate::{
    dialect::{ComputeOp, Knob, collect_users_through_views, format_of, input_dims_of, strip_views},
    kernel::{DimTiling, Epilogue, KernelNeighbor, NeighborKind, OutputUse, Prologue, ViewedInput},
    mlir::{BlockExt, Op, OpExt, TensorType, Value, ValueExt, ValueLike, elements, integer, string, strings},
};
use machine::Target;
use program::SymbolicCount;
use std::collections::BTreeMap;

/// Loop that a hint scope of a kernel requests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RequestedLoop {
    pub(super) name: String,
    /// Tile count; a name if it is bound later.
    pub(super) count: SymbolicCount,
}

/// Kernel with the dimension names of all values in it.
pub(super) struct KernelView<'c> {
    pub(super) op: Op<'c>,
    pub(super) labels: DimLabels<String>,
    knobs: BTreeMap<String, i64>,
    target: Target,
    /// Names of all levels, in order.
    names: Vec<String>,
}

/// Definition of an output: a value in a scope, and the views of it in the order in which they are applied.
pub(super) struct OutputDefinition<'c> {
    pub(super) value: Value<'c>,
    pub(super) views: Vec<Op<'c>>,
    /// Scope or kernel whose body contains the value.
    pub(super) scope: Op<'c>,
}

impl<'c> KernelView<'c> {
    /// Creates the view of a kernel. `of_function` holds the program's names, used by kernels without names of their
    /// own.
    pub(super) fn new(op: Op<'c>, of_function: &DimLabels<String>, target: &Target) -> Self {
        let mut labels = DimLabels::new();
        let own = input_dims_of(op);
        for (number, argument) in op.body_args().into_iter().enumerate() {
            let known =
                own.as_ref().map_or_else(|| of_function.labels_of(op.inputs()[number]), |own| own[number].clone());
            labels.set(argument, known);
        }
        labels.propagate(op);
        let knobs = Knob::collect_from_kernel(op).into_iter().map(|knob| (knob.name, knob.value)).collect();
        let mut view = Self { op, labels, knobs, target: target.clone(), names: Vec::new() };
        let mut names: Vec<String> = Vec::new();
        for scope in op.nested().into_iter().filter(|op| op.is(spyre::HINT)) {
            for level in view.loops_of_scope(scope) {
                names.extend((!names.contains(&level.name)).then_some(level.name));
            }
        }
        view.names = names;
        view
    }

    /// Returns the levels that a scope requests; a tile count of 1 is no loop.
    fn loops_of_scope(&self, scope: Op<'c>) -> Vec<RequestedLoop> {
        let names = scope.attr(attr::TILE_DIMS).and_then(strings).unwrap_or_default();
        let counts = scope.attr(attr::TILE_COUNTS).and_then(elements).unwrap_or_default();
        let count = |count| match string(count) {
            Some(name) => self
                .knobs
                .get(name)
                .map_or_else(|| SymbolicCount::Symbol(name.to_owned()), |number| SymbolicCount::Number(*number)),
            None => SymbolicCount::Number(integer(count).unwrap_or(1)),
        };
        let levels = names
            .into_iter()
            .zip(counts)
            .map(|(name, number)| RequestedLoop { name: name.to_owned(), count: count(number) });
        levels.filter(|level| level.count != SymbolicCount::Number(1)).collect()
    }

    /// Returns the levels around the ops in a scope, outermost first.
    pub(super) fn enclosing_loops(&self, scope: Op<'c>) -> Vec<RequestedLoop> {
        let mut scopes: Vec<Op<'c>> = std::iter::successors(Some(scope), |op| op.parent())
            .take_while(|op| *op != self.op)
            .filter(|op| op.is(spyre::HINT))
            .collect();
        scopes.reverse();
        scopes.into_iter().flat_map(|scope| self.loops_of_scope(scope)).collect()
    }

    fn level_number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Returns the dimensions that levels tile.
    fn collect_tiled_dims(&self, labels: &LabelList<String>, levels: &[RequestedLoop]) -> Vec<DimTiling> {
        let level = |label: &String| {
            levels.iter().find(|level| level.name == *label).and_then(|level| self.level_number(&level.name))
        };
        labels.iter().enumerate().filter_map(|(dim, label)| Some((dim, level(label.as_ref()?)?))).collect()
    }

    pub(super) fn describe_neighbor(
        &self,
        op: Op<'c>,
        does: NeighborKind,
        labels: &LabelList<String>,
        levels: &[RequestedLoop],
    ) -> KernelNeighbor {
        let has_requests = op.attr(attr::HINTS).is_some() || op.attr(attr::WORK_DIV).is_some();
        let is_cut = |level: &&RequestedLoop| labels.iter().flatten().any(|label| *label == level.name);
        let tiles: i64 = levels
            .iter()
            .filter(is_cut)
            .map(|level| if let SymbolicCount::Number(count) = level.count { count } else { 1 })
            .product();
        let bytes = op.outputs().first().map_or(0, |output| device_bytes(*output));
        let tile_bytes = bytes / (tiles * self.target.cores).max(1);
        KernelNeighbor {
            kind: does,
            has_hints: has_requests,
            is_in_kernel_block: op.parent() == self.op.parent(),
            tile_bytes,
            lx_bytes: self.target.lx_bytes,
        }
    }

    //===------------------------------------------------------------------===//
    // Prologues
    //===------------------------------------------------------------------===//

    /// Returns the defining op of an input, traced through views; `None` for an argument of the function.
    pub(super) fn producer(&self, input: usize) -> Option<Op<'c>> {
        strip_views(self.op.inputs()[input]).def()
    }

    /// Returns the inputs that view the result of an op.
    pub(super) fn find_inputs_from(&self, producer: Op<'c>) -> Vec<usize> {
        (0..self.op.inputs().len()).filter(|&input| self.producer(input) == Some(producer)).collect()
    }

    pub(super) fn describe_prologue(&self, producer: Op<'c>) -> Prologue {
        let viewed: Vec<(usize, ViewedInput)> = self
            .find_inputs_from(producer)
            .into_iter()
            .map(|input| (input, self.describe_input(input, producer)))
            .collect();
        let arguments: Vec<Value<'c>> = viewed.iter().map(|(input, _)| self.op.body_args()[*input]).collect();
        let sites: Vec<Op<'c>> = arguments.iter().flat_map(|argument| collect_users_through_views(*argument)).collect();
        let is_whole = |site: &Op<'c>| site.is(spyre::INSERT) && arguments.contains(&strip_views(site.inputs()[1]));
        let readers: Vec<Op<'c>> = producer.outputs().into_iter().flat_map(collect_users_through_views).collect();
        let labels = self.labels_of_producer(producer);
        let levels =
            sites.first().and_then(|site| site.parent()).map(|scope| self.enclosing_loops(scope)).unwrap_or_default();
        Prologue {
            op: self.describe_neighbor(producer, classify_neighbor(producer), &labels, &levels),
            num_earlier_readers: readers
                .iter()
                .filter(|reader| **reader != self.op && !self.is_after_kernel(**reader))
                .count(),
            is_written: sites.iter().any(is_whole),
            is_read_by_loop: sites.iter().any(|site| site.is(spyre::LOOP)),
            inputs: viewed.into_iter().map(|(_, input)| input).collect(),
        }
    }

    /// Returns which dimensions of its producer's result an input views, and how the kernel's scopes tile them.
    fn describe_input(&self, input: usize, producer: Op<'c>) -> ViewedInput {
        let argument = self.op.body_args()[input];
        let labels = self.labels.labels_of(argument);
        let mut cuts: Vec<DimTiling> = Vec::new();
        for site in collect_users_through_views(argument) {
            let levels = site.parent().map(|scope| self.enclosing_loops(scope)).unwrap_or_default();
            let new = self.collect_tiled_dims(&labels, &levels);
            cuts.extend(new.into_iter().filter(|cut| !cuts.contains(cut)).collect::<Vec<_>>());
        }
        let rank = producer.outputs().first().map_or(0, |output| crate::mlir::shape_of(*output).len());
        let dims = trace_dims(&collect_views(self.op.inputs()[input]), rank);
        ViewedInput { dims, cuts }
    }

    /// Returns the kernel's labels for the dimensions of its producer's result; `None` where unknown.
    pub(super) fn labels_of_producer(&self, producer: Op<'c>) -> LabelList<String> {
        let Some(output) = producer.outputs().first().copied() else { return Vec::new() };
        let mut found: LabelList<String> = vec![None; crate::mlir::shape_of(output).len()];
        for input in self.find_inputs_from(producer) {
            let dims = trace_dims(&collect_views(self.op.inputs()[input]), found.len());
            for (label, dim) in self.labels.labels_of(self.op.body_args()[input]).into_iter().zip(dims) {
                if let Some(dim) = dim
                    && found[dim].is_none()
                {
                    found[dim] = label;
                }
            }
        }
        found
    }

    //===------------------------------------------------------------------===//
    // Epilogues
    //===------------------------------------------------------------------===//

    /// Returns the ops that read outputs, in program order, each once.
    pub(super) fn collect_consumers(&self) -> Vec<Op<'c>> {
        let mut found: Vec<Op<'c>> = Vec::new();
        for reader in self.op.outputs().into_iter().flat_map(collect_users_through_views) {
            if !found.contains(&reader) {
                found.push(reader);
            }
        }
        if let Some(block) = self.op.parent().and_then(Op::body) {
            let order = block.ops();
            found.sort_by_key(|op| order.iter().position(|other| other == op));
        }
        found
    }

    /// Returns the definition of an output, traced through views and scopes.
    pub(super) fn find_definition(&self, output: usize) -> OutputDefinition<'c> {
        let (mut value, mut views, mut scope) = (self.op.yielded()[output], Vec::new(), self.op);
        loop {
            match value.def() {
                Some(def) if def.is(spyre::VIEW) => {
                    views.insert(0, def);
                    value = def.inputs()[0];
                }
                Some(def) if def.is(spyre::HINT) => {
                    let number = def.outputs().iter().position(|result| *result == value).unwrap_or(0);
                    (value, scope) = (def.yielded()[number], def);
                }
                _ => break,
            }
        }
        OutputDefinition { value, views, scope }
    }

    /// Returns the output that a value views; `None` if the value is no kernel output.
    pub(super) fn find_viewed_output(&self, value: Value<'c>) -> Option<usize> {
        let after = strip_views(value);
        self.op.outputs().iter().position(|output| *output == after)
    }

    pub(super) fn describe_epilogue(&self, consumer: Op<'c>) -> Epilogue {
        let compute = ComputeOp::from_op(consumer);
        let operands: Vec<Value<'c>> = consumer.inputs();
        let outputs: Vec<(usize, usize)> = operands
            .iter()
            .enumerate()
            .filter_map(|(operand, value)| Some((operand, self.find_viewed_output(*value)?)))
            .collect();
        let scopes = self.collect_defining_scopes(&operands);
        let labels = self.labels_of_consumer(consumer);
        let of_result = compute.map(|compute| result_labels(compute, &labels)).unwrap_or_default();
        let levels = scopes.first().map(|scope| self.enclosing_loops(*scope)).unwrap_or_default();
        Epilogue {
            op: self.describe_neighbor(consumer, classify_neighbor(consumer), &of_result, &levels),
            num_late_operands: self.num_late_operands(&operands),
            num_scopes: scopes.len(),
            reads: outputs
                .into_iter()
                .map(|(operand, output)| self.describe_output_use(compute, operand, operands[operand], output))
                .collect(),
        }
    }

    /// Returns the scopes that define the kernel outputs that these values view, each once.
    pub(super) fn collect_defining_scopes(&self, values: &[Value<'c>]) -> Vec<Op<'c>> {
        let mut scopes: Vec<Op<'c>> = Vec::new();
        for output in values.iter().filter_map(|value| self.find_viewed_output(*value)) {
            let scope = self.find_definition(output).scope;
            scopes.extend((!scopes.contains(&scope)).then_some(scope));
        }
        scopes
    }

    /// Returns how many of these values are defined after the kernel.
    pub(super) fn num_late_operands(&self, values: &[Value<'c>]) -> usize {
        values
            .iter()
            .filter(|value| self.find_viewed_output(**value).is_none() && self.is_defined_after_kernel(**value))
            .count()
    }

    /// Returns whether an op is in the block of the kernel, after the kernel.
    fn is_after_kernel(&self, op: Op<'c>) -> bool {
        op.parent() == self.op.parent() && op != self.op && !op.is_before(self.op)
    }

    /// Returns whether a value is defined after the kernel. Constants are available everywhere, so they do not count.
    fn is_defined_after_kernel(&self, value: Value<'c>) -> bool {
        let Some(def) = strip_views(value).def() else { return false };
        !def.is(spyre::CONSTANT) && self.is_after_kernel(def)
    }

    pub(super) fn describe_output_use(
        &self,
        compute: Option<ComputeOp<'c>>,
        operand: usize,
        value: Value<'c>,
        output: usize,
    ) -> OutputUse {
        let made = self.find_definition(output);
        let levels = self.enclosing_loops(made.scope);
        let cuts = self.collect_tiled_dims(&self.labels.labels_of(made.value), &levels);
        let rank = crate::mlir::shape_of(made.value).len();
        let views: Vec<Op<'c>> = made.views.iter().copied().chain(collect_views(value)).collect();
        let viewed = trace_dims(&views, rank);
        let walked = compute.map(|compute| compute.operand_dims(operand)).unwrap_or_default();
        let dims = (0..rank).map(|dim| {
            viewed
                .iter()
                .position(|of_producer| *of_producer == Some(dim))
                .and_then(|viewed| walked.get(viewed).copied()?)
        });
        let maker = made.value.def();
        let summed: Vec<String> =
            maker.and_then(ComputeOp::from_op).map(|maker| self.reduced_dim_names(maker)).unwrap_or_default();
        let is_of_producer = |level: &&RequestedLoop| {
            self.collect_tiled_dims(&self.labels.labels_of(made.value), std::slice::from_ref(*level)).is_empty()
        };
        let first = levels.iter().find(|level| !is_of_producer(level) || summed.contains(&level.name));
        OutputUse {
            dims: dims.collect(),
            cuts,
            is_summed_outside: first.is_some_and(|level| summed.contains(&level.name)),
            is_in_parts: maker.is_some_and(|maker| maker.is(spyre::INSERT)),
        }
    }

    /// Returns the names of the dimensions that an op reduces.
    pub(super) fn reduced_dim_names(&self, maker: ComputeOp<'c>) -> Vec<String> {
        let labels = self.labels.iteration_labels(maker);
        let num_outputs = labels.len() - maker.num_reduced_dims();
        labels.into_iter().skip(num_outputs).flatten().collect()
    }

    /// Returns the kernel's labels for the iteration dimensions of a consumer; `None` where unknown.
    pub(super) fn labels_of_consumer(&self, consumer: Op<'c>) -> LabelList<String> {
        let Some(compute) = ComputeOp::from_op(consumer) else { return Vec::new() };
        let mut found: LabelList<String> = vec![None; compute.iteration_space().len()];
        for (operand, value) in consumer.inputs().into_iter().enumerate() {
            let Some(output) = self.find_viewed_output(value) else { continue };
            let made = self.find_definition(output);
            let labels = self.labels.labels_of(made.value);
            let views: Vec<Op<'c>> = made.views.iter().copied().chain(collect_views(value)).collect();
            for (viewed, walked) in trace_dims(&views, labels.len()).into_iter().zip(compute.operand_dims(operand)) {
                if let (Some(of_producer), Some(dim)) = (viewed, walked)
                    && found[dim].is_none()
                {
                    found[dim].clone_from(&labels[of_producer]);
                }
            }
        }
        found
    }
}

/// Returns the labels of an op's result, given those of its iteration dimensions.
fn result_labels(compute: ComputeOp<'_>, labels: &LabelList<String>) -> LabelList<String> {
    let dims = compute.operand_dims(compute.read_operands().len());
    dims.into_iter().map(|dim| dim.and_then(|dim| labels[dim].clone())).collect()
}

/// Returns the views between a value and its source, innermost first.
pub(super) fn collect_views(value: Value<'_>) -> Vec<Op<'_>> {
    let mut views: Vec<Op<'_>> = std::iter::successors(value.def().filter(|def| def.is(spyre::VIEW)), |view| {
        view.inputs()[0].def().filter(|def| def.is(spyre::VIEW))
    })
    .collect();
    views.reverse();
    views
}

/// Traces dimensions through views, outermost view first: returns, for each dimension of the viewed value, the
/// corresponding dimension of the source, which has `rank` dimensions.
pub(super) fn trace_dims(views: &[Op<'_>], rank: usize) -> Vec<Option<usize>> {
    let whole: Vec<Option<usize>> = (0..rank).map(Some).collect();
    views.iter().fold(whole, |after, view| {
        trace_view_dims(*view).into_iter().map(|dim| dim.and_then(|dim| after[dim])).collect()
    })
}

fn classify_neighbor(op: Op<'_>) -> NeighborKind {
    match op.full_name() {
        spyre::POINTWISE | spyre::FILL => NeighborKind::Elementwise,
        spyre::CONSTANT => NeighborKind::Constant,
        spyre::GATHER => NeighborKind::Gather,
        spyre::REDUCE | spyre::MATMUL => {
            // Reduced dimensions are the last of the iteration space, in order.
            let (num_dims, num_reduced) = ComputeOp::from_op(op)
                .map_or((0, 0), |compute| (compute.iteration_space().len(), compute.num_reduced_dims()));
            NeighborKind::Reduction((num_dims - num_reduced..num_dims).collect())
        }
        other => NeighborKind::Other(other.to_owned()),
    }
}

/// Returns the bytes of a value's elements in device memory, without padding.
fn device_bytes(value: Value<'_>) -> i64 {
    let Some(tensor) = TensorType::from_type(value.r#type()) else { return 0 };
    let elements: i64 = tensor.shape.iter().product();
    let per_stick = format_of(tensor.element).map_or(machine::STICK_BYTES, |format| format.elements_per_stick());
    elements * machine::STICK_BYTES / per_stick
}
