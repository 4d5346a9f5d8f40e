//! Work that every plan of a program must do, read from its ops before any decision.

use crate::dialect::ods::{attr, sdsc, spyre};
use crate::{
    dialect::{ComputeOp, Role, Tensor, format_of, home_of, shown_as},
    import::Expansion,
    mlir::{Attribute, Op, OpExt, TensorType, Value, ValueExt, ValueLike, ValueMap, natural, raw_elements, type_of},
    traffic::{Indices, Touched, elements_needed, least_touched, stick_bytes_of},
};
use cost::Work;
use machine::{Family, Target};
use program::UsedAs;
use program::layout::Index;
use std::{
    cmp::Reverse,
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

/// Compulsory traffic of a tensor: elements, or bytes of their sticks once their format is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Needed {
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
    /// Constant of several numbers, or of unknown numbers.
    Constant,
    /// Constant of one number, which a plan may do without.
    ConstantNumber,
    /// Buffer that launches share.
    Temporary,
}

/// Buffer that has a name in the program.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedBuffer {
    pub(super) kind: BufferKind,
    /// Compulsory traffic of the buffer, in bytes.
    pub(super) needed: Needed,
}

/// Compulsory work of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Needs {
    pub(super) work: Work,
    /// Bytes that functions write to HBM because the back end has their results nowhere else, and others read.
    pub(super) through_hbm: i64,
    /// Multiply-adds of products of arguments that reach results, without common operands; and the bytes of their smallest elements.
    products: (i64, i64),
    /// Elements of the arguments that ops read, by position.
    arguments: Vec<Needed>,
    /// Elements of non-splat constants that ops read, by digest of the contents.
    constants: BTreeMap<u64, Needed>,
    /// Elements of the results, by position.
    results: Vec<Needed>,
}

impl Needs {
    /// Reads the ops of a module. An op in a loop counts for a single iteration.
    pub(super) fn of(module: Op<'_>) -> Self {
        let mut needs = Self::default();
        for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
            needs.add_function(function);
        }
        needs
    }

    fn add_function(&mut self, function: Op<'_>) {
        let mut products: Vec<Product<'_>> = Vec::new();
        for compute in ComputeOp::all_in(function) {
            let points = points_of(compute);
            match compute.family() {
                Family::Matmul => self.work.multiply_adds = self.work.multiply_adds.saturating_add(points),
                // A dividend that only products read may be scaled after the product instead, where that is smaller.
                Family::Pointwise if compute.function() == "realdiv" && is_read_by_products(compute.op.output()) => {}
                Family::Pointwise | Family::Reduce => self.work.points = self.work.points.saturating_add(points),
                Family::Copy | Family::Gather => {}
            }
            self.work.n_ops += i64::from(computes(compute));
            self.through_hbm = self.through_hbm.saturating_add(through_hbm(compute));
            products.extend(Product::of(compute));
        }
        self.add_products(products);
        let all = Reads::of(function);
        self.add_constants(&all);
        let Reads { numbers, reads } = all;
        let of = |value: Value<'_>| numbers.get(value).map_or_else(Needed::default, |&number| needed(&reads[number].1));
        self.arguments.extend(function.body_args().into_iter().map(of));
        let whole = |value: Value<'_>| {
            let elements = elements_of(value);
            Needed { if_indices_differ: elements, of_any_indices: elements, per_use: 0 }
        };
        self.results.extend(function.yielded().into_iter().map(whole));
    }

    /// Reads the constants that ops need a second time, once they have their launch form: some are concatenated from parts of the
    /// program's constants.
    pub(super) fn read_constants(&mut self, module: Op<'_>) {
        for function in module.body_ops().into_iter().filter(|op| op.is("func.func") && op.body().is_some()) {
            self.add_constants(&Reads::of(function));
        }
    }

    fn add_constants(&mut self, reads: &Reads<'_>) {
        let mut uses: BTreeMap<u64, i64> = BTreeMap::new();
        for (value, touched) in &reads.reads {
            let elements = value.def().filter(|def| def.is(spyre::CONSTANT)).and_then(|def| def.attr(attr::VALUE));
            if let Some(digest) = elements.and_then(digest_of) {
                let (known, found) = (self.constants.entry(digest).or_default(), needed(touched));
                // Constants of equal elements are one buffer.
                known.if_indices_differ = known.if_indices_differ.max(found.if_indices_differ);
                known.of_any_indices = known.of_any_indices.max(found.of_any_indices);
                let of_uses = uses.entry(digest).or_default();
                *of_uses =
                    touched.iter().map(|one| needed(std::slice::from_ref(one)).if_indices_differ).fold(*of_uses, i64::saturating_add);
            }
        }
        for (digest, of_uses) in uses {
            let known = self.constants.entry(digest).or_default();
            known.per_use = known.per_use.max(of_uses);
        }
    }

    fn add_products(&mut self, mut products: Vec<Product<'_>>) {
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

    /// Returns the bytes that the machine must fetch for the products, given the LX of all cores; 0 without products.
    pub(super) fn product_bytes(&self, target: &Target) -> i64 {
        let (multiply_adds, element_bytes) = self.products;
        let fetched = || elements_needed(multiply_adds, target.cores * target.lx_bytes / element_bytes).saturating_mul(element_bytes);
        if multiply_adds == 0 { 0 } else { fetched() }
    }

    /// Returns the buffers of a lowered program by name, with their compulsory traffic.
    pub(super) fn by_name<'c>(&self, module: Op<'c>) -> BTreeMap<&'c str, NamedBuffer> {
        let named = |buffer: Op<'c>| {
            let kind = kind_of(buffer);
            let by_position = |all: &[Needed]| all.get(buffer.required("position", natural)).copied();
            let needed = match kind {
                BufferKind::Argument => by_position(&self.arguments),
                BufferKind::Result => by_position(&self.results),
                BufferKind::Constant => {
                    buffer.attr(attr::VALUE).and_then(digest_of).and_then(|digest| self.constants.get(&digest)).copied()
                }
                BufferKind::ConstantNumber | BufferKind::Temporary => None,
            };
            let layout = buffer.attr(attr::TYPE).and_then(type_of).and_then(Tensor::of).and_then(|tensor| tensor.layout);
            let bytes = |elements: i64| stick_bytes_of(elements, layout.as_ref().map_or(0, |layout| layout.format().bytes()));
            let Needed { if_indices_differ, of_any_indices, per_use } = needed.unwrap_or_default();
            let needed =
                Needed { if_indices_differ: bytes(if_indices_differ), of_any_indices: bytes(of_any_indices), per_use: bytes(per_use) };
            (buffer.text_attr(attr::SYM_NAME), NamedBuffer { kind, needed })
        };
        module.nested().into_iter().filter(|op| op.is(sdsc::BUFFER)).map(named).collect()
    }
}

fn kind_of(buffer: Op<'_>) -> BufferKind {
    match Role::of(buffer).expect("a buffer has a role") {
        Role::Input => BufferKind::Argument,
        Role::Output => BufferKind::Result,
        Role::Temporary => BufferKind::Temporary,
        Role::Constant if buffer.attr(attr::VALUE).and_then(raw_elements).is_some_and(|raw| raw.is_splat) => BufferKind::ConstantNumber,
        Role::Constant => BufferKind::Constant,
    }
}

/// Elements that the ops of a function read, and those that it returns of its arguments and constants: a launch copies
/// the latter.
#[derive(Default)]
struct Reads<'c> {
    /// Base buffers of all views, in the order of their first reads, with each read.
    reads: Vec<(Value<'c>, Vec<Touched>)>,
    /// Positions of the values in `reads`.
    numbers: ValueMap<usize>,
}

impl<'c> Reads<'c> {
    fn of(function: Op<'c>) -> Self {
        let mut found = Self::default();
        let returned = function.yielded().into_iter().filter_map(touched_by_return);
        for (home, touched) in ComputeOp::all_in(function).into_iter().flat_map(touched_by).chain(returned) {
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

/// Returns a digest that tells the elements of a constant from those of others. Returns `None` for a constant of one
/// number, which a plan may do without, and for unknown elements.
fn digest_of(elements: Attribute<'_>) -> Option<u64> {
    let raw = raw_elements(elements).filter(|raw| !raw.is_splat)?;
    let mut hasher = DefaultHasher::new();
    raw.bytes.hash(&mut hasher);
    Some(hasher.finish())
}

fn needed(touched: &[Touched]) -> Needed {
    let [differ, any] = [Indices::Differ, Indices::Any].map(|indices| least_touched(touched, indices));
    Needed { if_indices_differ: differ, of_any_indices: any, per_use: 0 }
}

/// Returns the elements that an op reads, with the base buffer of each operand. Empty if an index is no sum of
/// mixed-radix terms.
fn touched_by<'c>(compute: ComputeOp<'c>) -> Vec<(Value<'c>, Touched)> {
    let (Ok(mut views), space) = (compute.views(), compute.iteration_space()) else { return Vec::new() };
    views.pop();
    let n_indices = || compute.operand_dims(1).into_iter().flatten().map(|dim| space[dim]).product::<i64>();
    let touched = |(operand, view): (usize, &crate::dialect::View<'c>)| {
        let touched = Touched::of(&view.indices, &space);
        let touched = match compute.used_as(operand) {
            UsedAs::Table(dim) => touched.chosen(n_indices().min(rows_of(compute, operand, dim))),
            UsedAs::Data | UsedAs::Indices => touched,
        };
        (home_of(view.value), touched)
    };
    views.iter().enumerate().map(touched).collect()
}

/// Returns the argument or constant, possibly behind views, that the copy into a result reads, with the elements read.
/// Returns `None` for results of ops, and if an index is no sum of mixed-radix terms.
fn touched_by_return(value: Value<'_>) -> Option<(Value<'_>, Touched)> {
    let shape = TensorType::of(value.r#type())?.shape;
    let (home, indices) = match shown_as(value) {
        Some(shown) => (shown.value, shown.indices),
        None => (value, (0..shape.len()).map(|dim| Index::dim(dim, &shape)).collect::<Result<_, _>>().ok()?),
    };
    let is_given = home.def().is_none_or(|def| def.is(spyre::CONSTANT));
    is_given.then(|| (home, Touched::of(&indices, &shape)))
}

/// Returns the row count of a table as the op sees it; the base buffer of its views may have other dimensions.
fn rows_of(compute: ComputeOp<'_>, operand: usize, dim: usize) -> i64 {
    let shape = TensorType::of(compute.op.inputs()[operand].r#type()).map(|table| table.shape);
    shape.and_then(|shape| shape.get(dim).copied()).unwrap_or(i64::MAX)
}

fn points_of(compute: ComputeOp<'_>) -> i64 {
    compute.iteration_space().into_iter().fold(1, i64::saturating_mul)
}

/// Returns whether an op computes values; copies may be eliminable.
fn computes(compute: ComputeOp<'_>) -> bool {
    matches!(compute.family(), Family::Matmul | Family::Pointwise | Family::Reduce)
}

/// Product of two arguments or constants that is a result.
struct Product<'c> {
    multiply_adds: i64,
    operands: [Value<'c>; 2],
    element_bytes: i64,
}

impl<'c> Product<'c> {
    fn of(compute: ComputeOp<'c>) -> Option<Self> {
        let is_given = |value: &Value<'c>| value.def().is_none_or(|def| def.is(spyre::CONSTANT));
        let homes: Vec<Value<'c>> = compute.reads().into_iter().map(home_of).collect();
        let &[left, right] = homes.as_slice() else { return None };
        let output = compute.op.output();
        if compute.family() != Family::Matmul || left == right || ![left, right].iter().all(is_given) || !is_returned(output) {
            return None;
        }
        // The type that the op sees is that of the device's numbers.
        let sizes = compute.reads().into_iter().chain([output]).map(element_bytes).collect::<Option<Vec<i64>>>()?;
        Some(Self { multiply_adds: points_of(compute), operands: [left, right], element_bytes: *sizes.iter().min()? })
    }
}

/// Returns whether only products read a value, possibly through a reshape.
fn is_read_by_products(value: Value<'_>) -> bool {
    let is_product = |user: &Op<'_>| ComputeOp::of(*user).is_some_and(|compute| compute.family() == Family::Matmul);
    value.users().iter().all(|user| is_product(user) || user.is(spyre::VIEW) && is_read_by_products(user.output()))
}

/// Returns whether the program returns a value, possibly through a reshape.
fn is_returned(value: Value<'_>) -> bool {
    value.users().into_iter().any(|user| user.is("func.return") || user.is(spyre::VIEW) && is_returned(user.output()))
}

fn elements_of(value: Value<'_>) -> i64 {
    TensorType::of(value.r#type()).map_or(0, |tensor| tensor.shape.into_iter().fold(1, i64::saturating_mul))
}

fn element_bytes(value: Value<'_>) -> Option<i64> {
    format_of(TensorType::of(value.r#type())?.element).map(|format| format.bytes())
}

/// Returns the bytes that an op writes to HBM although another op computes with them. Copies and results may share that write.
fn through_hbm(compute: ComputeOp<'_>) -> i64 {
    let may_be_in_lx = match compute.table_row() {
        Some(row) => row.lx || Expansion::of(row.name).is_some(),
        None => compute.family() != Family::Gather,
    };
    let output = compute.op.output();
    let reads = |user: &Op<'_>| ComputeOp::of(*user).is_some_and(computes);
    let users = output.users();
    if may_be_in_lx || !users.iter().any(reads) {
        return 0;
    }
    let bytes = stick_bytes_of(elements_of(output), element_bytes(output).unwrap_or(0));
    bytes.saturating_mul(if users.iter().all(reads) { 2 } else { 1 })
}
