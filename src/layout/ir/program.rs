//! `spyre-propagate-layouts`, `spyre-insert-restickify`: conversion of a function into the program model for the choice
//! of sticks.

use crate::dialect::ods::spyre;
use crate::{
    codes,
    dialect::{BufferView, ComputeOp, DeviceTensor, SymbolicSizes, base_buffer_of, buffer_slices, format_of},
    layout::{BufferRead, BufferRole, LayoutBuffer, LayoutFlow, LayoutOp as FlowOp, StickRule},
    mlir::{ErrorReported, Op, OpExt, ScalarType, TensorType, Type, Value, ValueExt, ValueLike, ValueMap, error_at},
};
use machine::DeviceFormat;
use program::AccessKind;
use program::layout::{DeviceLayout, LayoutError};

/// Function, and its program model.
pub(super) struct LayoutProgram<'c> {
    pub(super) flow: LayoutFlow,
    /// For each buffer its value.
    pub(super) values: Vec<Value<'c>>,
    pub(super) ops: Vec<ComputeOp<'c>>,
    /// For each op, the base values of its operands, through all views. A buffer that is written in slices is another
    /// value after each slice.
    pub(super) sources: Vec<Vec<Value<'c>>>,
    numbers: ValueMap<usize>,
}

impl<'c> LayoutProgram<'c> {
    /// Reads the compute ops of a function.
    pub(super) fn from_function(function: Op<'c>) -> Result<Self, ErrorReported> {
        let mut program = Self {
            flow: LayoutFlow::default(),
            values: Vec::new(),
            ops: Vec::new(),
            sources: Vec::new(),
            numbers: ValueMap::default(),
        };
        for compute in ComputeOp::collect_in(function) {
            program
                .add_op(compute)
                .map_err(|message| error_at(codes::LAYOUT_CONFLICT, compute.op, message).report())?;
        }
        program.flow.keep_converted_sticks();
        program.flow.record_batch_dims();
        Ok(program)
    }

    /// Returns the buffer of a value.
    pub(super) fn buffer_of(&self, value: Value<'c>) -> Option<usize> {
        self.numbers.get(value).copied()
    }

    fn add_op(&mut self, compute: ComputeOp<'c>) -> Result<(), String> {
        let mut views = compute.buffer_views()?;
        let Some(result) = views.pop() else { return Err("has no result".to_owned()) };
        let (mut reads, mut sources) = (Vec::with_capacity(views.len()), Vec::with_capacity(views.len()));
        for (operand, view) in views.into_iter().enumerate() {
            let used_as = compute.operand_use(operand);
            let source = view.value;
            // Slices are written into their destination buffer, so the result is that buffer.
            let is_parts = source.def().is_some_and(|def| def.is(spyre::INSERT));
            let view = BufferView { value: if is_parts { base_buffer_of(source) } else { source }, ..view };
            let buffer = self.find_or_add_buffer(&view, used_as == AccessKind::Indices)?;
            sources.push(source);
            let is_exempt = used_as != AccessKind::Data || compute.op.is(spyre::RESTICKIFY);
            reads.push(BufferRead { buffer, indices: view.indices, is_exempt });
        }
        let home = BufferView {
            value: if compute.is_insert() { base_buffer_of(result.value) } else { result.value },
            ..result
        };
        let result = self.find_or_add_buffer(&home, false)?;
        let kind = match compute.op.full_name() {
            spyre::INSERT => StickRule::Insert,
            spyre::RESTICKIFY => StickRule::Restickify,
            _ => StickRule::from_family(compute.family(), compute.function()),
        };
        let (ranges, num_reduced) = (compute.iteration_space(), compute.num_reduced_dims());
        let symbolic = find_named_dims(&compute.symbolic_dims());
        let table_stick = if kind == StickRule::Gather { self.table_stick(&reads[0])? } else { None };
        self.flow.ops.push(FlowOp {
            kind,
            ranges,
            num_reduced,
            reads,
            result,
            written: home.indices,
            table_stick,
            symbolic,
        });
        self.sources.push(sources);
        self.ops.push(compute);
        Ok(())
    }

    /// Returns the iteration dimension in the sticks of a gather's table.
    fn table_stick(&self, read: &BufferRead) -> Result<Option<usize>, String> {
        let buffer = &self.flow.buffers[read.buffer];
        let (given, host) = (buffer.given.as_ref(), buffer.host_tensor().map_err(|error| error.to_string())?);
        let stick = given
            .ok_or_else(|| {
                codes::LAYOUT_MISSING.format(
                    "gathers from a table without a layout; run \
         spyre-layout-gather-tables first",
                )
            })?
            .stick_dim(&host);
        let moved = |dim: usize| read.indices[dim].digits.first().map(|digit| digit.dim);
        match stick.and_then(moved) {
            Some(stick) => Ok(Some(stick)),
            None => Err(codes::LAYOUT_GATHER
                .format("gathers single elements per stick, which is not supported; gather whole rows")),
        }
    }

    /// Adds the buffer of an argument that no op reads, since it also has a layout.
    pub(super) fn add_argument(&mut self, argument: Value<'c>) -> Result<(), String> {
        let tensor =
            DeviceTensor::from_type(argument.r#type()).ok_or("only tensors of static shape have a device layout")?;
        let view = BufferView { value: argument, viewed: argument, tensor, indices: Vec::new() };
        self.find_or_add_buffer(&view, false).map(|_| ())
    }

    /// Records how a buffer is returned.
    pub(super) fn record_result(&mut self, value: Value<'c>, regrouped: Vec<usize>) {
        if let Some(buffer) = self.buffer_of(value) {
            let buffer = &mut self.flow.buffers[buffer];
            buffer.regrouped = regrouped;
            buffer.role = BufferRole::Output;
        }
    }

    /// Records which dimensions of buffers have symbolic sizes.
    pub(super) fn record_symbolic_dims(&mut self, sizes: &SymbolicSizes<'c>) {
        for (buffer, value) in self.flow.buffers.iter_mut().zip(&self.values) {
            buffer.symbolic = find_named_dims(&sizes.labels(*value));
        }
    }

    /// Returns whether an op writes the complete buffer.
    pub(super) fn is_written_whole(&self, buffer: usize) -> bool {
        self.flow.ops.iter().any(|op| op.kind != StickRule::Insert && op.result == buffer)
    }

    fn find_or_add_buffer(&mut self, view: &BufferView<'c>, is_index: bool) -> Result<usize, String> {
        let number = match self.numbers.get(view.value) {
            Some(&known) => known,
            None => self.add_buffer(view)?,
        };
        let buffer = &mut self.flow.buffers[number];
        // A list of indices keeps its element order, whichever op writes it.
        if is_index && buffer.given.is_none() {
            buffer.given =
                Some(DeviceLayout::row_major(&buffer.sizes, buffer.format).map_err(|error| error.to_string())?);
        }
        Ok(number)
    }

    fn add_buffer(&mut self, view: &BufferView<'c>) -> Result<usize, String> {
        let host = &view.tensor.host;
        let format = stored_format(view.value).ok_or_else(|| {
            codes::ELEMENT_TYPE.format(format_args!(
                "expected elements of a device format, found {}; convert them before the export",
                host.element
            ))
        })?;
        let sizes = view.tensor.buffer_shape.clone().unwrap_or_else(|| host.shape.clone());
        let given = view.tensor.layout.clone();
        let role = match view.value.def() {
            None => BufferRole::Input,
            Some(def) if def.is(spyre::CONSTANT) => BufferRole::Constant,
            Some(_) => BufferRole::Inner,
        };
        let buffer =
            LayoutBuffer { sizes, format, given, regrouped: Vec::new(), symbolic: Vec::new(), batch: Vec::new(), role };
        check_has_layout(&buffer).map_err(|error| error.to_string())?;
        self.numbers.insert(view.value, self.values.len());
        self.values.push(view.value);
        self.flow.buffers.push(buffer);
        Ok(self.values.len() - 1)
    }
}

/// Returns the dimensions that have a name.
fn find_named_dims(labels: &[String]) -> Vec<usize> {
    (0..labels.len()).filter(|&dim| !labels[dim].is_empty()).collect()
}

/// Returns whether the device can hold the buffer: in its fixed layout, or in one of those that it may have.
fn check_has_layout(buffer: &LayoutBuffer) -> Result<(), LayoutError> {
    match &buffer.given {
        Some(given) => given.host_dims(&buffer.host_tensor()?).map(|_| ()),
        None => buffer.candidate_sticks().first().map_or(Ok(()), |&stick| buffer.layout(stick).map(|_| ())),
    }
}

/// Returns the format in which a value is stored: that of the type with which ops compute, even if a view has another
/// type. A copy does not change the format: an f32 result may be a copy of a value that was computed in the 16-bit
/// format. Neither does an insert.
pub(super) fn stored_format(value: Value<'_>) -> Option<DeviceFormat> {
    let mut value = value;
    while let Some(source) = copy_source(value) {
        value = base_buffer_of(source);
    }
    let own = TensorType::from_type(value.r#type())?.element;
    // The result of an op keeps its format, regardless of the types of its views.
    let is_stored = value.def().is_none_or(|def| def.is(spyre::CONSTANT));
    let format = format_of(viewed_number_type(value).filter(|_| is_stored).unwrap_or(own))?;
    // Callers have no arrays of one-byte formats, so values that no op reads as numbers are stored in 16 bits.
    let is_byte = format.bytes() == 1 && is_stored;
    Some(if is_byte { DeviceFormat::Sen169Fp16 } else { format })
}

/// Returns the value that a copy copies, or the first one that is no constant of those that are inserted into a buffer.
fn copy_source(value: Value<'_>) -> Option<Value<'_>> {
    let def = value.def()?;
    if def.is(spyre::COPY) {
        return Some(def.inputs()[0]);
    }
    let mut parts =
        buffer_slices(value).into_iter().filter(|_| def.is(spyre::EMPTY)).map(|part| part.insert.inputs()[0]);
    parts.find(|part| base_buffer_of(*part).def().is_none_or(|def| !def.is(spyre::CONSTANT)))
}

/// Returns the other type under which a stored value, or a copy of it, is viewed: booleans have the type that they
/// select or are converted to. Values in the 16-bit format stay in it, and a result views them as f32.
fn viewed_number_type(value: Value<'_>) -> Option<Type<'_>> {
    let own = ScalarType::from_type(TensorType::from_type(value.r#type())?.element);
    value.users().into_iter().filter(|user| user.is(spyre::VIEW) || user.is(spyre::COPY)).find_map(|shows| {
        let element = TensorType::from_type(shows.output().r#type())?.element;
        match ScalarType::from_type(element) {
            viewed if own.is_half() && own == viewed => None,
            viewed if own == viewed || viewed == ScalarType::Integer(1) => viewed_number_type(shows.output()),
            _ if own.is_half() => None,
            _ => Some(element),
        }
    })
}
