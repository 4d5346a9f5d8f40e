//! `spyre-propagate-layouts`, `spyre-insert-restickify`: conversion of a function into the program model of the choice of sticks.

use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{ComputeOp, SymbolicSizes, Tensor, View, format_of, home_of, parts_of},
    layout::{Buffer, Flow, Kind, Op as FlowOp, Read, Role},
    mlir::{Op, OpExt, Reported, ScalarType, TensorType, Type, Value, ValueExt, ValueLike, ValueMap, error_at},
};
use machine::DeviceFormat;
use program::UsedAs;
use program::layout::{DeviceLayout, LayoutError};

/// A function, and its program model.
pub(super) struct LayoutProgram<'c> {
    pub(super) flow: Flow,
    /// For each buffer its value.
    pub(super) values: Vec<Value<'c>>,
    pub(super) ops: Vec<ComputeOp<'c>>,
    /// For each op the base values of its operands, behind all views. A buffer that is written in parts is another value after each part.
    pub(super) sources: Vec<Vec<Value<'c>>>,
    numbers: ValueMap<usize>,
}

impl<'c> LayoutProgram<'c> {
    /// Reads the compute ops of a function.
    pub(super) fn of(function: Op<'c>) -> Result<Self, Reported> {
        let mut program =
            Self { flow: Flow::default(), values: Vec::new(), ops: Vec::new(), sources: Vec::new(), numbers: ValueMap::default() };
        for compute in ComputeOp::all_in(function) {
            program.add(compute).map_err(|message| error_at(codes::LAYOUT_CONFLICT, compute.op, message).report())?;
        }
        program.flow.keep_converted_sticks();
        Ok(program)
    }

    /// Returns the buffer of a value.
    pub(super) fn buffer_of(&self, value: Value<'c>) -> Option<usize> {
        self.numbers.get(value).copied()
    }

    fn add(&mut self, compute: ComputeOp<'c>) -> Result<(), String> {
        let mut views = compute.views()?;
        let Some(result) = views.pop() else { return Err("has no result".to_owned()) };
        let (mut reads, mut sources) = (Vec::with_capacity(views.len()), Vec::with_capacity(views.len()));
        for (operand, view) in views.into_iter().enumerate() {
            let used_as = compute.used_as(operand);
            let source = view.value;
            // Parts are written into their destination buffer, so the result is that buffer.
            let is_parts = source.def().is_some_and(|def| def.is(spyre::INSERT));
            let view = View { value: if is_parts { home_of(source) } else { source }, ..view };
            let buffer = self.buffer(&view, used_as == UsedAs::Indices)?;
            sources.push(source);
            let is_exempt = used_as != UsedAs::Data || compute.op.is(spyre::RESTICKIFY);
            reads.push(Read { buffer, indices: view.indices, is_exempt });
        }
        let home = View { value: if compute.is_insert() { home_of(result.value) } else { result.value }, ..result };
        let result = self.buffer(&home, false)?;
        let kind = match compute.op.full_name() {
            spyre::INSERT => Kind::Insert,
            spyre::RESTICKIFY => Kind::Restickify,
            _ => Kind::of(compute.family(), compute.function()),
        };
        let (ranges, n_reduced) = (compute.iteration_space(), compute.n_reduced());
        let symbolic = named(&compute.symbolic_dims());
        let table_stick = if kind == Kind::Gather { self.table_stick(&reads[0])? } else { None };
        self.flow.ops.push(FlowOp { kind, ranges, n_reduced, reads, result, written: home.indices, table_stick, symbolic });
        self.sources.push(sources);
        self.ops.push(compute);
        Ok(())
    }

    /// Returns the iteration dimension in the sticks of a gather's table.
    fn table_stick(&self, read: &Read) -> Result<Option<usize>, String> {
        let buffer = &self.flow.buffers[read.buffer];
        let (given, host) = (buffer.given.as_ref(), buffer.host().map_err(|error| error.to_string())?);
        let stick = given
            .ok_or_else(|| {
                codes::LAYOUT_MISSING.says(
                    "gathers from a table without a layout; run \
         spyre-lay-out-tables first",
                )
            })?
            .stick_dim(&host);
        let moved = |dim: usize| read.indices[dim].digits.first().map(|digit| digit.dim);
        match stick.and_then(moved) {
            Some(stick) => Ok(Some(stick)),
            None => Err(codes::LAYOUT_GATHER.says("gathers single elements per stick, which is not supported; gather whole rows")),
        }
    }

    /// An argument that no op reads has a layout too.
    pub(super) fn add_argument(&mut self, argument: Value<'c>) -> Result<(), String> {
        let tensor = Tensor::of(argument.r#type()).ok_or("only tensors of static shape have a device layout")?;
        let view = View { value: argument, shown: argument, tensor, indices: Vec::new() };
        self.buffer(&view, false).map(|_| ())
    }

    /// Records how a buffer is returned.
    pub(super) fn note_result(&mut self, value: Value<'c>, regrouped: Vec<usize>) {
        if let Some(buffer) = self.buffer_of(value) {
            let buffer = &mut self.flow.buffers[buffer];
            buffer.regrouped = regrouped;
            buffer.role = Role::Output;
        }
    }

    /// Records which dimensions of buffers have symbolic sizes.
    pub(super) fn note_symbolic(&mut self, sizes: &SymbolicSizes<'c>) {
        for (buffer, value) in self.flow.buffers.iter_mut().zip(&self.values) {
            buffer.symbolic = named(&sizes.labels(*value));
        }
    }

    /// Returns whether an op writes the whole buffer.
    pub(super) fn is_result(&self, buffer: usize) -> bool {
        self.flow.ops.iter().any(|op| op.kind != Kind::Insert && op.result == buffer)
    }

    fn buffer(&mut self, view: &View<'c>, is_index: bool) -> Result<usize, String> {
        let number = match self.numbers.get(view.value) {
            Some(&known) => known,
            None => self.add_buffer(view)?,
        };
        let buffer = &mut self.flow.buffers[number];
        // A list of indices keeps its element order, whichever op writes it.
        if is_index && buffer.given.is_none() {
            buffer.given = Some(DeviceLayout::row_major(&buffer.sizes, buffer.format).map_err(|error| error.to_string())?);
        }
        Ok(number)
    }

    fn add_buffer(&mut self, view: &View<'c>) -> Result<usize, String> {
        let host = &view.tensor.host;
        let format = format_in(view.value).ok_or_else(|| {
            codes::ELEMENT_TYPE
                .says(format_args!("expected elements of a device format, found {}; convert them before the export", host.element))
        })?;
        let sizes = view.tensor.buffer_shape.clone().unwrap_or_else(|| host.shape.clone());
        let given = view.tensor.layout.clone();
        let role = match view.value.def() {
            None => Role::Input,
            Some(def) if def.is(spyre::CONSTANT) => Role::Constant,
            Some(_) => Role::Inner,
        };
        let buffer = Buffer { sizes, format, given, regrouped: Vec::new(), symbolic: Vec::new(), role };
        check(&buffer).map_err(|error| error.to_string())?;
        self.numbers.insert(view.value, self.values.len());
        self.values.push(view.value);
        self.flow.buffers.push(buffer);
        Ok(self.values.len() - 1)
    }
}

/// Returns the dimensions that have a name.
fn named(labels: &[String]) -> Vec<usize> {
    (0..labels.len()).filter(|&dim| !labels[dim].is_empty()).collect()
}

/// Returns whether the device can hold the buffer: in its fixed layout, or in one of those that it may have.
fn check(buffer: &Buffer) -> Result<(), LayoutError> {
    match &buffer.given {
        Some(given) => given.host_dims(&buffer.host()?).map(|_| ()),
        None => buffer.sticks().first().map_or(Ok(()), |&stick| buffer.layout(stick).map(|_| ())),
    }
}

/// Returns the format in which a value is stored: that of the type with which ops compute, even if a view shows it with another type. A
/// copy changes no format: an f32 result may be a copy of a value that was computed in the 16-bit format. Neither does an insert.
pub(super) fn format_in(value: Value<'_>) -> Option<DeviceFormat> {
    let mut value = value;
    while let Some(source) = moved_from(value) {
        value = home_of(source);
    }
    let own = TensorType::of(value.r#type())?.element;
    // The result of an op keeps its format, regardless of the type with which views show it.
    let is_stored = value.def().is_none_or(|def| def.is(spyre::CONSTANT));
    let format = format_of(shown_as_number(value).filter(|_| is_stored).unwrap_or(own))?;
    // Callers have no arrays of one-byte formats: values that no op reads as numbers are stored in 16 bits.
    let is_byte = format.bytes() == 1 && is_stored;
    Some(if is_byte { DeviceFormat::Sen169Fp16 } else { format })
}

/// Returns the value that a copy copies, or the first one that is no constant of those that are inserted into a buffer.
fn moved_from(value: Value<'_>) -> Option<Value<'_>> {
    let def = value.def()?;
    if def.is(spyre::COPY) {
        return Some(def.inputs()[0]);
    }
    let mut parts = parts_of(value).into_iter().filter(|_| def.is(spyre::EMPTY)).map(|part| part.insert.inputs()[0]);
    parts.find(|part| home_of(*part).def().is_none_or(|def| !def.is(spyre::CONSTANT)))
}

/// Returns the other type with which views show a stored value, or a copy of it: truth values have the type that they select or become.
/// Values in the 16-bit format stay in it: a result shows them as f32.
fn shown_as_number(value: Value<'_>) -> Option<Type<'_>> {
    let own = ScalarType::of(TensorType::of(value.r#type())?.element);
    value.users().into_iter().filter(|user| user.is(spyre::VIEW) || user.is(spyre::COPY)).find_map(|shows| {
        let element = TensorType::of(shows.output().r#type())?.element;
        match ScalarType::of(element) {
            shown if own.is_half() && own == shown => None,
            shown if own == shown || shown == ScalarType::Integer(1) => shown_as_number(shows.output()),
            _ if own.is_half() => None,
            _ => Some(element),
        }
    })
}
