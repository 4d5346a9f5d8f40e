//! `spyre-lower-to-sdsc`: turns ops into op specs with coordinates and addresses.
//!
//! Reads all decisions. Replaces every function by an `sdsc.program` with its buffers and one `sdsc.bundle` of op specs
//! and loops per launch. Buffers shared by launches get their offsets here, once their users are known.

mod op_specs;

use super::indexed_rows::IndexedRowCounts;
use crate::bundle::ir::op_origins::collect_ops;
use crate::bundle::ir::sdsc_ops::{bundle_to_ir, push_items, set_live_ranges};
use crate::bundle::{
    Allocation, Bundle, BundleItem, LaunchLiveRange, LaunchMemory, LoopSymbol, OpSpecOperand, SharedBuffer,
    place_shared_buffers,
};
use crate::dialect::ods::{attr, sdsc, spyre};
use crate::{
    codes,
    dialect::{
        ComputeOp, DeviceTensor, EXACT_ATTR, MemoryLocation, ProgramBufferRole, SymbolicSizes, TiledSize,
        base_buffer_of, is_in_loop_of_buffer, target_of,
    },
    mlir::{
        Attribute, AttributeList, DerivationKind, ErrorReported, Location, Op, OpExt, Pass, PassOptions, ScalarType,
        Type, Value, ValueExt, ValueLike, ValueMap, append_op, argument_attribute, build_dictionary, build_op,
        derived_location, error_at, insert_before, integer, integers, new_block, raw_elements, result_attribute,
        string_array, type_attribute,
    },
    tile::ir::insert_loop_copies::check_settled,
};
use machine::{ElementType, Target};
use std::collections::BTreeMap;

pub(crate) const PASS: Pass = Pass { argument: "spyre-lower-to-sdsc", run };

fn run(module: Op<'_>, _options: &PassOptions) -> Result<(), ErrorReported> {
    let target = target_of(module).map_err(|message| error_at(codes::MALFORMED_IR, module, message).report())?;
    check_settled(module)?;
    for function in module.body_ops().into_iter().filter(|op| op.is("func.func")) {
        if function.body().is_none() {
            return Err(error_at(codes::EXTERNAL_CALL, function, "has no body; define the function").report());
        }
        SdscLowering::new(function)?.lower(&target)?;
        function.erase();
    }
    Ok(())
}

/// Buffer of the program that launches receive as an argument.
struct ProgramBuffer<'c> {
    /// Value through which the program accesses the buffer; for a result it may be a view.
    viewed: Value<'c>,
    role: ProgramBufferRole,
    position: i64,
}

impl<'c> ProgramBuffer<'c> {
    fn name(&self) -> String {
        let prefix = match self.role {
            ProgramBufferRole::Input => "arg",
            ProgramBufferRole::Constant => "const",
            ProgramBufferRole::Temporary => "temp",
            ProgramBufferRole::Output => "result",
        };
        format!("{prefix}{}", self.position)
    }

    /// Returns the op that holds the elements of a constant.
    fn constant(&self) -> Option<Op<'c>> {
        self.viewed.def().filter(|_| self.role == ProgramBufferRole::Constant)
    }
}

/// Location of a temporary in the region that launches share.
struct SharedLocation {
    offset_bytes: i64,
    /// First and last launch that use it.
    live_range: [i64; 2],
}

/// Key that determines the bytes of a constant in device memory. It consists of the device layout, the sizes other than
/// 1, the element type, whether one element stands for all, and the bytes of the elements, rounded and unrounded.
type ConstantKey<'c> = (String, Vec<i64>, ElementType, bool, [&'c [u8]; 2]);

struct SdscLowering<'c> {
    function: Op<'c>,
    buffers: Vec<ProgramBuffer<'c>>,
    /// Position in the list of the buffer of each value.
    by_value: ValueMap<usize>,
    /// Sizes that are known at launch only.
    sizes: Option<SymbolicSizes<'c>>,
}

impl<'c> SdscLowering<'c> {
    fn new(function: Op<'c>) -> Result<Self, ErrorReported> {
        let sizes = SymbolicSizes::derive_and_mark(function)?;
        let mut lowering = Self { function, buffers: Vec::new(), by_value: ValueMap::default(), sizes };
        let arguments = function.body_args();
        let results = function.yielded();
        lowering.add_buffers(arguments, ProgramBufferRole::Input);
        lowering.add_constants();
        let temporaries = lowering.find_temporaries(&results);
        lowering.add_buffers(temporaries, ProgramBufferRole::Temporary);
        lowering.add_buffers(results, ProgramBufferRole::Output);
        if let Some(buffer) = lowering
            .buffers
            .iter()
            .find(|buffer| DeviceTensor::from_type(buffer.viewed.r#type()).is_none_or(|tensor| tensor.layout.is_none()))
        {
            return Err(error_at(
                codes::LAYOUT_MISSING,
                function,
                format_args!("{} has no device layout; run the layout phase first", buffer.name()),
            )
            .report());
        }
        Ok(lowering)
    }

    fn add_buffers(&mut self, values: Vec<Value<'c>>, role: ProgramBufferRole) {
        for (position, value) in values.into_iter().enumerate() {
            self.add_buffer(value, role, position);
        }
    }

    fn add_buffer(&mut self, viewed: Value<'c>, role: ProgramBufferRole, position: usize) {
        let buffer = base_buffer_of(viewed);
        if self.by_value.get(buffer).is_none() {
            self.by_value.insert(buffer, self.buffers.len());
        }
        self.buffers.push(ProgramBuffer { viewed, role, position: i64::try_from(position).expect("fewer than 2^63") });
    }

    /// Adds the constants that ops read, in the order of their first use; constants with equal bytes share a buffer.
    fn add_constants(&mut self) {
        let mut known: BTreeMap<ConstantKey<'c>, usize> = BTreeMap::new();
        let mut position = 0;
        for read in ComputeOp::collect_in(self.function).into_iter().flat_map(|compute| compute.op.inputs()) {
            let constant = base_buffer_of(read);
            if self.by_value.get(constant).is_some() || constant.def().is_none_or(|def| !def.is(spyre::CONSTANT)) {
                continue;
            }
            let content = compute_constant_key(constant);
            if let Some(&same) = content.as_ref().and_then(|content| known.get(content)) {
                self.by_value.insert(constant, same);
                continue;
            }
            known.extend(content.map(|content| (content, self.buffers.len())));
            self.add_buffer(constant, ProgramBufferRole::Constant, position);
            position += 1;
        }
    }

    /// Returns the values in HBM that several launches use.
    fn find_temporaries(&self, results: &[Value<'c>]) -> Vec<Value<'c>> {
        let mut found: Vec<Value<'c>> = Vec::new();
        for compute in ComputeOp::collect_in(self.function) {
            let buffer = base_buffer_of(compute.op.output());
            let is_in_hbm = compute.placement().is_some_and(|place| place.memory == MemoryLocation::Hbm);
            if is_in_hbm && !results.iter().any(|&result| base_buffer_of(result) == buffer) && !found.contains(&buffer)
            {
                found.push(buffer);
            }
        }
        found
    }

    fn lower(&self, target: &Target) -> Result<(), ErrorReported> {
        let (context, location) = (self.function.ctx(), self.function.loc());
        let attributes = AttributeList::new(context).with_text(attr::SYM_NAME, self.function.text_attr(attr::SYM_NAME));
        let attributes = attributes.with_option(attr::SIZES, self.symbolic_sizes());
        let program = build_op(sdsc::PROGRAM, location, &[], &[], attributes, vec![new_block(&[], location)]);
        let program = insert_before(self.function, program);
        let rows = IndexedRowCounts::from_function(self.function)?;
        let launches = self.collect_launches()?;
        let places = self.place_temporaries(&launches, target)?;
        for (number, buffer) in self.buffers.iter().enumerate() {
            let attributes = AttributeList::new(context)
                .with_text(attr::SYM_NAME, &buffer.name())
                .with_attribute(attr::ROLE, buffer.role.to_attribute(context))
                .with_int(attr::POSITION, buffer.position)
                .with_attribute(attr::TYPE, type_attribute(self.buffer_type(buffer)))
                .with_option(attr::VALUE, buffer.constant().and_then(constant_elements))
                .with_option(EXACT_ATTR, buffer.constant().and_then(|constant| constant.attr(EXACT_ATTR)))
                .with_option(attr::SYMBOLIC, self.symbolic_dims(buffer));
            let attributes =
                match self.argument_range(buffer.viewed, &rows).filter(|_| buffer.role == ProgramBufferRole::Input) {
                    Some(range) => attributes.with_ints(attr::INDEX_RANGE, &range),
                    None => attributes,
                };
            let attributes = attributes.with_option(attr::DIGIT_BASE, self.digit_base(buffer));
            let attributes = match places.get(&number) {
                Some(SharedLocation { offset_bytes, live_range }) => {
                    attributes.with_int(attr::OFFSET, *offset_bytes).with_ints(attr::LIFE, live_range)
                }
                None => attributes,
            };
            let at = buffer.constant().map_or_else(|| buffer.viewed.location(), OpExt::loc);
            append_op(program, build_op(sdsc::BUFFER, at, &[], &[], attributes, vec![]));
        }
        for (number, items) in launches.into_iter().enumerate() {
            let launch = self.lower_launch(&items)?;
            let names: Vec<String> = launch.arguments.iter().map(|&buffer| self.buffers[buffer].name()).collect();
            let built = append_op(
                program,
                bundle_to_ir(context, location, &format!("bundle_{number}"), &launch.bundle, &names),
            );
            push_items(built, location, &launch.bundle.items);
            for (op, location) in collect_ops(built).into_iter().zip(&launch.locations) {
                op.set_loc(*location);
            }
            set_live_ranges(built, launch.live_ranges);
        }
        Ok(())
    }

    /// Returns the symbolic sizes with their maxima and granularities.
    fn symbolic_sizes(&self) -> Option<Attribute<'c>> {
        let (context, sizes) = (self.function.ctx(), self.sizes.as_ref()?);
        let entries = sizes.sizes().fold(AttributeList::new(context), |entries, size| {
            entries.with_ints(&size.name, &[size.maximum, size.granularity])
        });
        Some(build_dictionary(entries))
    }

    /// Returns the symbolic sizes of the dimensions of an argument or a result.
    fn symbolic_dims(&self, buffer: &ProgramBuffer<'c>) -> Option<Attribute<'c>> {
        let sizes = self
            .sizes
            .as_ref()
            .filter(|_| matches!(buffer.role, ProgramBufferRole::Input | ProgramBufferRole::Output))?;
        let names = sizes.labels(buffer.viewed);
        names.iter().any(|name| !name.is_empty()).then(|| string_array(self.function.ctx(), &names))
    }

    /// Returns the type of a buffer, in the shape that the caller passes or receives.
    fn buffer_type(&self, buffer: &ProgramBuffer<'c>) -> Type<'c> {
        let position = usize::try_from(buffer.position).expect("a position in a list");
        let shape = match buffer.role {
            ProgramBufferRole::Input => argument_attribute(self.function, position, attr::SPYRE_SHAPE),
            ProgramBufferRole::Output => result_attribute(self.function, position, attr::SPYRE_SHAPE),
            _ => None,
        };
        let own = buffer.viewed.r#type();
        let (Some(shape), Some(mut tensor)) = (shape.and_then(integers), DeviceTensor::from_type(own)) else {
            return own;
        };
        let Some(layout) = tensor.layout.take() else { return own };
        let digits = self.digit_base(buffer).map(|_| 2);
        tensor.host.shape = digits.into_iter().chain(shape).collect();
        tensor.with_layout(self.function.ctx(), &layout, None)
    }

    /// Returns the base of the digits of an integer result that the device format cannot hold.
    fn digit_base(&self, buffer: &ProgramBuffer<'c>) -> Option<Attribute<'c>> {
        let position = usize::try_from(buffer.position).expect("a position in a list");
        (buffer.role == ProgramBufferRole::Output)
            .then(|| result_attribute(self.function, position, attr::SPYRE_DIGITS))
            .flatten()
    }

    /// Returns the range of the integers in an argument, the end excluded. The range is below the row counts of all
    /// tables that they index, or the range that the ops which compute with them accept. Returns `None` if nothing
    /// bounds them.
    fn argument_range(&self, value: Value<'c>, rows: &IndexedRowCounts) -> Option<[i64; 2]> {
        let (_, position) = value.as_block_arg().filter(|_| value.def().is_none())?;
        let promised = argument_attribute(self.function, position, attr::SPYRE_RANGE).and_then(integers);
        rows.index_range(value, promised.and_then(|range| range.try_into().ok()))
    }

    /// Returns the ops and loops of each launch.
    fn collect_launches(&self) -> Result<Vec<Vec<Op<'c>>>, ErrorReported> {
        let mut launches: Vec<Vec<Op<'c>>> = Vec::new();
        for op in self.function.body_ops().into_iter().filter(|op| !ComputeOp::collect_in(*op).is_empty()) {
            let Some(number) =
                op.attr(attr::SPYRE_BUNDLE).and_then(integer).and_then(|number| usize::try_from(number).ok())
            else {
                return Err(
                    error_at(codes::BUNDLE_ORDER, op, "has no 'spyre.bundle'; run spyre-form-bundles first").report()
                );
            };
            if number > launches.len() || number + 1 < launches.len() {
                let next = launches.len();
                let expected = next.checked_sub(1).map_or_else(|| next.to_string(), |last| format!("{last} or {next}"));
                let message = format_args!(
                    "expected launch {expected} in 'spyre.bundle', found {number}; run spyre-form-bundles again"
                );
                return Err(error_at(codes::BUNDLE_ORDER, op, message).report());
            }
            if number == launches.len() {
                launches.push(Vec::new());
            }
            launches[number].push(op);
        }
        Ok(launches)
    }

    /// Returns the location of each temporary, by buffer number.
    fn place_temporaries(
        &self,
        launches: &[Vec<Op<'c>>],
        target: &Target,
    ) -> Result<BTreeMap<usize, SharedLocation>, ErrorReported> {
        let mut live_ranges: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
        for (launch, items) in launches.iter().enumerate() {
            for buffer in self
                .launch_arguments(items)
                .into_iter()
                .filter(|&buffer| self.buffers[buffer].role == ProgramBufferRole::Temporary)
            {
                live_ranges.entry(buffer).or_insert([launch, launch])[1] = launch;
            }
        }
        let shared: Vec<SharedBuffer> = live_ranges
            .iter()
            .map(|(&buffer, &live_range)| SharedBuffer { bytes: buffer_bytes(self.buffers[buffer].viewed), live_range })
            .collect();
        let mut places = BTreeMap::new();
        for ((buffer, live_range), offset_bytes) in
            live_ranges.into_iter().zip(place_shared_buffers(&shared, target.segment_bytes))
        {
            let Some(offset_bytes) = offset_bytes else {
                let (name, bytes) = (self.buffers[buffer].name(), target.segment_bytes);
                let message = format_args!(
                    "has no space for {name}: buffers between launches have {bytes} bytes in all; use smaller tensors"
                );
                return Err(error_at(codes::POOL_FULL, self.function, message).report());
            };
            let live_range = live_range.map(|launch| i64::try_from(launch).expect("fewer than 2^63"));
            places.insert(buffer, SharedLocation { offset_bytes, live_range });
        }
        Ok(places)
    }

    /// Returns the buffers that a launch receives as arguments.
    fn launch_arguments(&self, items: &[Op<'c>]) -> Vec<usize> {
        let mut arguments: Vec<usize> = Vec::new();
        for compute in items.iter().flat_map(|item| ComputeOp::collect_in(*item)) {
            let values = compute.op.inputs().into_iter().chain([compute.op.output()]);
            arguments.extend(values.filter_map(|value| self.find_program_buffer(base_buffer_of(value))));
        }
        arguments.sort_unstable();
        arguments.dedup();
        arguments
    }

    fn lower_launch(&self, items: &[Op<'c>]) -> Result<LoweredLaunch<'c>, ErrorReported> {
        let mut launch = LoweredLaunch::new(self.launch_arguments(items));
        launch.bundle.items = items
            .iter()
            .filter_map(|item| self.lower_item(*item, &mut launch).transpose())
            .collect::<Result<_, _>>()?;
        Ok(launch)
    }

    fn find_program_buffer(&self, buffer: Value<'c>) -> Option<usize> {
        self.by_value.get(buffer).copied()
    }

    fn lower_item(&self, op: Op<'c>, launch: &mut LoweredLaunch<'c>) -> Result<Option<BundleItem>, ErrorReported> {
        if op.is(spyre::LOOP) {
            let count = op.required_attr("count", integer);
            let mut body = Vec::new();
            for inner in op.body_ops() {
                body.extend(self.lower_item(inner, launch)?);
            }
            let tiled = self.sizes.as_ref().and_then(|sizes| sizes.tiled_size(op));
            let symbol = tiled.map(|TiledSize { size, tile }| LoopSymbol {
                name: size.name.clone(),
                dim: op.text_attr(attr::DIM).to_owned(),
                tile,
                granularity: size.granularity,
            });
            return Ok(Some(BundleItem::Loop { count, symbol, body }));
        }
        if op.is(spyre::INSERT) && !is_in_loop_of_buffer(op) {
            return Err(error_at(
                codes::BUNDLE_FORM,
                op,
                "writes a slice of a buffer outside of its loop, which is not supported; write the slice after the loop",
            )
            .report());
        }
        let Some(compute) = ComputeOp::from_op(op) else { return Ok(None) };
        let spec =
            self.lower_op(compute, launch).map_err(|message| error_at(codes::BUNDLE_FORM, op, message).report())?;
        launch.num_ops += 1;
        launch.locations.push(derived_location(op, DerivationKind::Rewrite, PASS.argument));
        Ok(Some(BundleItem::Op(Box::new(spec))))
    }
}

/// Returns the elements of a `spyre.constant`.
fn constant_elements(constant: Op<'_>) -> Option<Attribute<'_>> {
    constant.attr(attr::VALUE)
}

/// Returns the key that determines the bytes of a constant. Returns `None` if its elements are not known; emission of
/// its file reports that.
fn compute_constant_key(constant: Value<'_>) -> Option<ConstantKey<'_>> {
    let tensor = DeviceTensor::from_type(constant.r#type())?;
    let raw = raw_elements(constant.def().and_then(constant_elements)?)?;
    let exact =
        constant.def().and_then(|def| def.attr(EXACT_ATTR)).and_then(raw_elements).map_or(&[][..], |exact| exact.bytes);
    // Dimensions of size 1 do not affect the bytes.
    let sizes = tensor.host.shape.iter().copied().filter(|&size| size != 1).collect();
    let element = ScalarType::from_type(tensor.host.element).element_type()?;
    Some((tensor.layout?.to_string(), sizes, element, raw.is_splat, [raw.bytes, exact]))
}

/// Lowered launch with the program buffers of its kernel arguments.
struct LoweredLaunch<'c> {
    bundle: Bundle,
    /// Locations of the ops, in depth-first order.
    locations: Vec<Location<'c>>,
    arguments: Vec<usize>,
    num_ops: usize,
    live_ranges: Vec<LaunchLiveRange>,
    /// Live range of each buffer, by its position in the list.
    by_buffer: ValueMap<usize>,
}

impl LoweredLaunch<'_> {
    fn new(arguments: Vec<usize>) -> Self {
        Self {
            bundle: Bundle::default(),
            locations: Vec::new(),
            arguments,
            num_ops: 0,
            live_ranges: Vec::new(),
            by_buffer: ValueMap::default(),
        }
    }

    /// Records that the next op accesses a buffer.
    fn record_live_range(&mut self, buffer: Value<'_>, operand: &OpSpecOperand, slices: &[i64]) {
        let (memory, offset_bytes, bytes) = match operand.allocation {
            Allocation::Hbm { .. } => return,
            Allocation::Lx { offset_bytes } => (LaunchMemory::Lx, offset_bytes, operand.bytes_per_core(slices)),
            Allocation::Pool { offset_bytes } => (LaunchMemory::Pool, offset_bytes, buffer_bytes(buffer)),
        };
        let number = self.by_buffer.get(buffer).copied().unwrap_or(self.live_ranges.len());
        if number == self.live_ranges.len() {
            self.by_buffer.insert(buffer, number);
            self.live_ranges.push(LaunchLiveRange {
                memory,
                offset_bytes,
                bytes,
                first: self.num_ops,
                last: self.num_ops,
            });
        }
        let live_range = &mut self.live_ranges[number];
        (live_range.bytes, live_range.last) = (live_range.bytes.max(bytes), self.num_ops);
    }
}

fn buffer_bytes(buffer: Value<'_>) -> i64 {
    let layout = DeviceTensor::from_type(buffer.r#type()).and_then(|tensor| tensor.layout);
    layout.map_or(0, |layout| layout.bytes())
}
