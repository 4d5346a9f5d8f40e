//! Work that every plan of a program must do, read from its ops before any decision.

use crate::dialect::ods::{attr, sdsc, spyre};
use crate::{
    dialect::{ComputeOp, DeviceTensor, ProgramBufferRole, base_buffer_of, format_of, read_buffer_view},
    import::Expansion,
    mlir::{
        Attribute, Op, OpExt, TensorType, Value, ValueExt, ValueLike, ValueMap, natural_number, raw_elements, type_of,
    },
    traffic::{AccessFootprint, IndexAssumption, min_distinct_elements, min_moved_elements, stick_bytes},
};
use cost::ProgramWork;
use machine::{Family, Target};
use program::AccessKind;
use program::layout::TensorIndex;
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Compulsory traffic of a tensor: elements, or bytes of their sticks once their format is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CompulsoryTraffic {
    /// Lower bound if all indices differ.
    pub(super) if_indices_differ: i64,
    /// Lower bound for any indices.
    pub(super) of_any_indices: i64,
    /// Traffic if indices differ and each op reads its elements separately; for constants only.
    pub(super) per_use: i64,
}

/// Kind of contents of a buffer that has a name in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BufferKind {
    Argument,
    Result,
    /// Constant with different numbers, or with unknown ones.
    Constant,
    /// Splat constant, which a plan may avoid reading.
    SplatConstant,
    /// Buffer that launches share.
    Temporary,
}

/// Buffer that has a name in the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedBuffer {
    pub(super) kind: BufferKind,
    /// Compulsory traffic of the buffer, in bytes.
    pub(super) needed: CompulsoryTraffic,
}

/// Compulsory work of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct CompulsoryWork {
    pub(super) work: ProgramWork,
    /// Bytes of values that ops exchange through HBM, because the back end cannot place the results of their functions
    /// in LX.
    pub(super) through_hbm: i64,
    /// Multiply-adds of the matmuls of arguments or constants that the program returns, without common operands; and
    /// the bytes of their smallest elements.
    products: (i64, i64),
    /// Elements of the arguments that ops read, by position.
    arguments: Vec<CompulsoryTraffic>,
    /// Elements of non-splat constants that ops read, by digest of the contents.
    constants: BTreeMap<u64, CompulsoryTraffic>,
    /// Elements of the results, by position.
    results: Vec<CompulsoryTraffic>,
}

impl CompulsoryWork {
    /// Reads the ops of a module. An op in a loop counts for a single iteration.
    pub(super) fn from_module(module: Op<'_>) -> Self {
        let mut needs = Self::default();
        for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
            needs.add_function(function);
        }
        needs
    }

    fn add_function(&mut self, function: Op<'_>) {
        let mut products: Vec<ArgumentMatmul<'_>> = Vec::new();
        for compute in ComputeOp::collect_in(function) {
            let points = num_points(compute);
            match compute.family() {
                Family::Matmul => self.work.multiply_adds = self.work.multiply_adds.saturating_add(points),
                // If only matmuls read a dividend, their smaller result may be divided instead.
                Family::Pointwise
                    if compute.function() == "realdiv" && is_read_by_matmuls_only(compute.op.output()) => {}
                Family::Pointwise | Family::Reduce => self.work.points = self.work.points.saturating_add(points),
                Family::Copy | Family::Gather => {}
            }
            self.work.n_ops += i64::from(is_arithmetic(compute));
            self.through_hbm = self.through_hbm.saturating_add(compute_hbm_transit_bytes(compute));
            products.extend(ArgumentMatmul::from_op(compute));
        }
        self.add_matmuls(products);
        let all = FunctionReads::from_function(function);
        self.add_constants(&all);
        let FunctionReads { numbers, reads } = all;
        let of = |value: Value<'_>| {
            numbers
                .get(value)
                .map_or_else(CompulsoryTraffic::default, |&number| compute_compulsory_traffic(&reads[number].1))
        };
        self.arguments.extend(function.body_args().into_iter().map(of));
        let whole = |value: Value<'_>| {
            let elements = num_elements(value);
            CompulsoryTraffic { if_indices_differ: elements, of_any_indices: elements, per_use: 0 }
        };
        self.results.extend(function.yielded().into_iter().map(whole));
    }

    /// Reads the constants that ops need a second time, once they have their launch form: some are concatenated from
    /// parts of the program's constants.
    pub(super) fn read_constants(&mut self, module: Op<'_>) {
        for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
            self.add_constants(&FunctionReads::from_function(function));
        }
    }

    fn add_constants(&mut self, reads: &FunctionReads<'_>) {
        let mut uses: BTreeMap<u64, i64> = BTreeMap::new();
        for (value, touched) in &reads.reads {
            let elements = value.def().filter(|def| def.is(spyre::CONSTANT)).and_then(|def| def.attr(attr::VALUE));
            if let Some(digest) = elements.and_then(compute_digest) {
                let (known, found) = (self.constants.entry(digest).or_default(), compute_compulsory_traffic(touched));
                // Constants of equal elements are one buffer.
                known.if_indices_differ = known.if_indices_differ.max(found.if_indices_differ);
                known.of_any_indices = known.of_any_indices.max(found.of_any_indices);
                let of_uses = uses.entry(digest).or_default();
                *of_uses = touched
                    .iter()
                    .map(|one| compute_compulsory_traffic(std::slice::from_ref(one)).if_indices_differ)
                    .fold(*of_uses, i64::saturating_add);
            }
        }
        for (digest, of_uses) in uses {
            let known = self.constants.entry(digest).or_default();
            known.per_use = known.per_use.max(of_uses);
        }
    }

    fn add_matmuls(&mut self, mut products: Vec<ArgumentMatmul<'_>>) {
        products.sort_by_key(|product| Reverse(product.multiply_adds));
        let mut used: Vec<Value<'_>> = Vec::new();
        for product in products {
            if product.operands.iter().all(|operand| !used.contains(operand)) {
                used.extend(product.operands);
                let (multiply_adds, bytes) = &mut self.products;
                *bytes = if *multiply_adds == 0 { product.element_bytes } else { product.element_bytes.min(*bytes) };
                *multiply_adds = multiply_adds.saturating_add(product.multiply_adds);
            }
        }
    }

    /// Returns the bytes that the machine must fetch for matmuls, given the LX of all cores; 0 without matmuls.
    pub(super) fn min_matmul_bytes(&self, target: &Target) -> i64 {
        let (multiply_adds, element_bytes) = self.products;
        let fetched = || {
            min_moved_elements(multiply_adds, target.cores * target.lx_bytes / element_bytes)
                .saturating_mul(element_bytes)
        };
        if multiply_adds == 0 { 0 } else { fetched() }
    }

    /// Returns the buffers of a lowered program by name, with their compulsory traffic.
    pub(super) fn named_buffers<'c>(&self, module: Op<'c>) -> BTreeMap<&'c str, NamedBuffer> {
        let named = |buffer: Op<'c>| {
            let kind = read_buffer_kind(buffer);
            let by_position =
                |all: &[CompulsoryTraffic]| all.get(buffer.required_attr("position", natural_number)).copied();
            let needed = match kind {
                BufferKind::Argument => by_position(&self.arguments),
                BufferKind::Result => by_position(&self.results),
                BufferKind::Constant => buffer
                    .attr(attr::VALUE)
                    .and_then(compute_digest)
                    .and_then(|digest| self.constants.get(&digest))
                    .copied(),
                BufferKind::SplatConstant | BufferKind::Temporary => None,
            };
            let layout = buffer
                .attr(attr::TYPE)
                .and_then(type_of)
                .and_then(DeviceTensor::from_type)
                .and_then(|tensor| tensor.layout);
            let bytes =
                |elements: i64| stick_bytes(elements, layout.as_ref().map_or(0, |layout| layout.format().bytes()));
            let CompulsoryTraffic { if_indices_differ, of_any_indices, per_use } = needed.unwrap_or_default();
            let needed = CompulsoryTraffic {
                if_indices_differ: bytes(if_indices_differ),
                of_any_indices: bytes(of_any_indices),
                per_use: bytes(per_use),
            };
            (buffer.text_attr(attr::SYM_NAME), NamedBuffer { kind, needed })
        };
        module.nested().into_iter().filter(|op| op.is(sdsc::BUFFER)).map(named).collect()
    }
}

fn read_buffer_kind(buffer: Op<'_>) -> BufferKind {
    match ProgramBufferRole::from_op(buffer).expect("a buffer has a role") {
        ProgramBufferRole::Input => BufferKind::Argument,
        ProgramBufferRole::Output => BufferKind::Result,
        ProgramBufferRole::Temporary => BufferKind::Temporary,
        ProgramBufferRole::Constant
            if buffer.attr(attr::VALUE).and_then(raw_elements).is_some_and(|raw| raw.is_splat) =>
        {
            BufferKind::SplatConstant
        }
        ProgramBufferRole::Constant => BufferKind::Constant,
    }
}

/// Elements that the ops of a function read, and elements of arguments and constants that it returns, which a launch
/// copies.
#[derive(Default)]
struct FunctionReads<'c> {
    /// Base buffers of all views, in the order of their first reads, with each read.
    reads: Vec<(Value<'c>, Vec<AccessFootprint>)>,
    /// Positions of the values in `reads`.
    numbers: ValueMap<usize>,
}

impl<'c> FunctionReads<'c> {
    fn from_function(function: Op<'c>) -> Self {
        let mut found = Self::default();
        let returned = function.yielded().into_iter().filter_map(find_returned_footprint);
        for (home, touched) in
            ComputeOp::collect_in(function).into_iter().flat_map(collect_read_footprints).chain(returned)
        {
            let number = found.numbers.get(home).copied().unwrap_or(found.reads.len());
            if number == found.reads.len() {
                found.numbers.insert(home, number);
                found.reads.push((home, Vec::new()));
            }
            found.reads[number].1.push(touched);
        }
        found
    }
}

/// Returns a digest of a constant's elements. Returns `None` for a splat, which a plan may avoid reading, and for
/// unknown elements.
fn compute_digest(elements: Attribute<'_>) -> Option<u64> {
    let raw = raw_elements(elements).filter(|raw| !raw.is_splat)?;
    let mut hasher = DefaultHasher::new();
    raw.bytes.hash(&mut hasher);
    Some(hasher.finish())
}

fn compute_compulsory_traffic(touched: &[AccessFootprint]) -> CompulsoryTraffic {
    let [differ, any] =
        [IndexAssumption::Differ, IndexAssumption::Any].map(|indices| min_distinct_elements(touched, indices));
    CompulsoryTraffic { if_indices_differ: differ, of_any_indices: any, per_use: 0 }
}

/// Returns the elements that an op reads, with the base buffer of each operand. Empty if an index is no sum of
/// mixed-radix terms.
fn collect_read_footprints<'c>(compute: ComputeOp<'c>) -> Vec<(Value<'c>, AccessFootprint)> {
    let (Ok(mut views), space) = (compute.buffer_views(), compute.iteration_space()) else { return Vec::new() };
    views.pop();
    let num_indices = || compute.operand_dims(1).into_iter().flatten().map(|dim| space[dim]).product::<i64>();
    let touched = |(operand, view): (usize, &crate::dialect::BufferView<'c>)| {
        let touched = AccessFootprint::from_indices(&view.indices, &space);
        let touched = match compute.operand_use(operand) {
            AccessKind::Table(dim) => touched.select_rows(num_indices().min(num_table_rows(compute, operand, dim))),
            AccessKind::Data | AccessKind::Indices => touched,
        };
        (base_buffer_of(view.value), touched)
    };
    views.iter().enumerate().map(touched).collect()
}

/// Returns the argument or constant, possibly under views, that the copy into a result reads, with the elements read.
/// Returns `None` for results of ops, and if an index is no sum of mixed-radix terms.
fn find_returned_footprint(value: Value<'_>) -> Option<(Value<'_>, AccessFootprint)> {
    let shape = TensorType::from_type(value.r#type())?.shape;
    let (home, indices) = match read_buffer_view(value) {
        Some(viewed) => (viewed.value, viewed.indices),
        None => (value, (0..shape.len()).map(|dim| TensorIndex::from_dim(dim, &shape)).collect::<Result<_, _>>().ok()?),
    };
    let is_given = home.def().is_none_or(|def| def.is(spyre::CONSTANT));
    is_given.then(|| (home, AccessFootprint::from_indices(&indices, &shape)))
}

/// Returns the row count of a table as the op sees it; the base buffer of its views may have other dimensions.
fn num_table_rows(compute: ComputeOp<'_>, operand: usize, dim: usize) -> i64 {
    let shape = TensorType::from_type(compute.op.inputs()[operand].r#type()).map(|table| table.shape);
    shape.and_then(|shape| shape.get(dim).copied()).unwrap_or(i64::MAX)
}

fn num_points(compute: ComputeOp<'_>) -> i64 {
    compute.iteration_space().into_iter().fold(1, i64::saturating_mul)
}

/// Returns whether an op computes values; copies may be eliminable.
fn is_arithmetic(compute: ComputeOp<'_>) -> bool {
    matches!(compute.family(), Family::Matmul | Family::Pointwise | Family::Reduce)
}

/// Matmul of two arguments or constants whose result the program returns.
struct ArgumentMatmul<'c> {
    multiply_adds: i64,
    operands: [Value<'c>; 2],
    element_bytes: i64,
}

impl<'c> ArgumentMatmul<'c> {
    fn from_op(compute: ComputeOp<'c>) -> Option<Self> {
        let is_given = |value: &Value<'c>| value.def().is_none_or(|def| def.is(spyre::CONSTANT));
        let homes: Vec<Value<'c>> = compute.read_operands().into_iter().map(base_buffer_of).collect();
        let &[left, right] = homes.as_slice() else { return None };
        let output = compute.op.output();
        if compute.family() != Family::Matmul
            || left == right
            || ![left, right].iter().all(is_given)
            || !is_returned(output)
        {
            return None;
        }
        // Types at the op, because the base buffer may have another element type than the device reads.
        let sizes =
            compute.read_operands().into_iter().chain([output]).map(element_bytes).collect::<Option<Vec<i64>>>()?;
        Some(Self { multiply_adds: num_points(compute), operands: [left, right], element_bytes: *sizes.iter().min()? })
    }
}

/// Returns whether only matmuls read a value, possibly through a reshape.
fn is_read_by_matmuls_only(value: Value<'_>) -> bool {
    let is_product =
        |user: &Op<'_>| ComputeOp::from_op(*user).is_some_and(|compute| compute.family() == Family::Matmul);
    value.users().iter().all(|user| is_product(user) || user.is(spyre::VIEW) && is_read_by_matmuls_only(user.output()))
}

/// Returns whether the program returns a value, possibly through a reshape.
fn is_returned(value: Value<'_>) -> bool {
    value.users().into_iter().any(|user| user.is("func.return") || user.is(spyre::VIEW) && is_returned(user.output()))
}

fn num_elements(value: Value<'_>) -> i64 {
    TensorType::from_type(value.r#type()).map_or(0, |tensor| tensor.shape.into_iter().fold(1, i64::saturating_mul))
}

fn element_bytes(value: Value<'_>) -> Option<i64> {
    format_of(TensorType::from_type(value.r#type())?.element).map(|format| format.bytes())
}

/// Returns the bytes that an op writes to HBM although another op computes with them. Copies and results may share that
/// write.
fn compute_hbm_transit_bytes(compute: ComputeOp<'_>) -> i64 {
    let may_be_in_lx = match compute.table_row() {
        Some(row) => row.lx || Expansion::find(row.name).is_some(),
        None => compute.family() != Family::Gather,
    };
    let output = compute.op.output();
    let reads = |user: &Op<'_>| ComputeOp::from_op(*user).is_some_and(is_arithmetic);
    let users = output.users();
    if may_be_in_lx || !users.iter().any(reads) {
        return 0;
    }
    let bytes = stick_bytes(num_elements(output), element_bytes(output).unwrap_or(0));
    bytes.saturating_mul(if users.iter().all(reads) { 2 } else { 1 })
}
