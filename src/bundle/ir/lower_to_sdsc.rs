//! `spyre-lower-to-sdsc`: turns ops into op specs with coordinates and addresses.
//!
//! Reads all decisions. Replaces every function by an `sdsc.program` with its buffers and one `sdsc.bundle` of op specs
//! and loops per launch. Buffers shared by launches get their offsets here, once their users are known.

use super::indexed_rows::IndexedRowCounts;
use crate::bundle::ir::sdsc_ops::{bundle_to_ir, push_items, set_live_ranges};
use crate::bundle::{
    Allocation, Bundle, BundleItem, Coordinate, CoordinateSource, ElementArrangement, IterationDim, LaunchLiveRange,
    LaunchMemory, LoopSymbol, NamedConstant, OpSpec, OpSpecOperand, SharedBuffer, SymbolicDim, place_shared_buffers,
    unit_dims::{complete_gather, complete_matmul, drop_unit_dims},
};
use crate::dialect::ods::{attr, sdsc, spyre};
use crate::{
    codes,
    dialect::{
        ComputeOp, DeviceTensor, EXACT_ATTR, MemoryLocation, MemoryPlacement, OperandAccess, ProgramBufferRole,
        SymbolicSizes, base_buffer_of, core_split_of, declared_maxima, is_in_loop_of_buffer, placement_owner_of,
        target_of, window_strides,
    },
    mlir::{
        Attribute, AttributeList, ErrorReported, Op, OpExt, Pass, PassOptions, ScalarType, Type, Value, ValueExt,
        ValueLike, ValueMap, append_op, argument_attribute, build_dictionary, build_op, error_at, floats,
        insert_before, integer, integers, new_block, raw_elements, result_attribute, string, string_array,
        type_attribute,
    },
    tile::ir::insert_loop_copies::check_settled,
};
use machine::{ElementType, Family, STICK_BYTES, Target};
use program::AccessKind;
use program::CoreOrder;
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

/// Name of an op's index tensor, by which coordinates refer to it.
const INDEX_TENSOR_NAME: &str = "index";

/// Maximum number of iteration dimensions of a device op.
const MAX_DIMS: usize = 7;

/// Buffer of the program that launches receive as an argument.
struct ProgramBuffer<'c> {
    /// Value through which the program accesses the buffer; for a result it may be a view.
    shown: Value<'c>,
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
        self.shown.def().filter(|_| self.role == ProgramBufferRole::Constant)
    }
}

/// Location of a temporary in the region that launches share.
struct SharedLocation {
    offset_bytes: i64,
    /// First and last launch that use it.
    life: [i64; 2],
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
            .find(|buffer| DeviceTensor::from_type(buffer.shown.r#type()).is_none_or(|tensor| tensor.layout.is_none()))
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

    fn add_buffer(&mut self, shown: Value<'c>, role: ProgramBufferRole, position: usize) {
        let buffer = base_buffer_of(shown);
        if self.by_value.get(buffer).is_none() {
            self.by_value.insert(buffer, self.buffers.len());
        }
        self.buffers.push(ProgramBuffer { shown, role, position: i64::try_from(position).expect("fewer than 2^63") });
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
        let attributes = attributes
            .with_option(attr::SYMBOLS, self.symbolic_trip_counts()?)
            .with_option(attr::SIZES, self.symbolic_sizes());
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
                match self.argument_range(buffer.shown, &rows).filter(|_| buffer.role == ProgramBufferRole::Input) {
                    Some(range) => attributes.with_ints(attr::INDEX_RANGE, &range),
                    None => attributes,
                };
            let attributes = attributes.with_option(attr::DIGIT_BASE, self.digit_base(buffer));
            let attributes = match places.get(&number) {
                Some(SharedLocation { offset_bytes, life }) => {
                    attributes.with_int(attr::OFFSET, *offset_bytes).with_ints(attr::LIFE, life)
                }
                None => attributes,
            };
            let at = buffer.constant().map_or_else(|| buffer.shown.location(), OpExt::loc);
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
            set_live_ranges(built, launch.lives);
        }
        Ok(())
    }

    /// Returns the trip counts that are known at launch only, with their maxima.
    fn symbolic_trip_counts(&self) -> Result<Option<Attribute<'c>>, ErrorReported> {
        let declared = declared_maxima(self.function);
        let mut used: BTreeMap<&str, i64> = BTreeMap::new();
        for around in self.function.nested().into_iter().filter(|op| op.is(spyre::LOOP)) {
            let Some(symbol) = around.attr(attr::SYMBOL).and_then(string) else { continue };
            let count = around.required_attr("count", integer);
            let refuse = |what: &str| {
                let message = codes::TRIP_AT_LAUNCH.format(format_args!(
                    "runs '{symbol}' of its {count} tiles, but 'spyre.symbols' of the function {what}; correct the declaration"
                ));
                error_at(codes::BUNDLE_FORM, around, message).report()
            };
            match declared.get(symbol) {
                None => return Err(refuse("does not declare that name")),
                Some(maximum) if *maximum != count => return Err(refuse(&format!("declares a maximum of {maximum}"))),
                Some(_) => used.insert(symbol, count),
            };
        }
        let context = self.function.ctx();
        let entries = used
            .iter()
            .fold(AttributeList::new(context), |entries, (symbol, maximum)| entries.with_int(symbol, *maximum));
        Ok((!used.is_empty()).then(|| build_dictionary(entries)))
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
        let names = sizes.labels(buffer.shown);
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
        let own = buffer.shown.r#type();
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
        let mut lives: BTreeMap<usize, [usize; 2]> = BTreeMap::new();
        for (launch, items) in launches.iter().enumerate() {
            for buffer in self
                .launch_arguments(items)
                .into_iter()
                .filter(|&buffer| self.buffers[buffer].role == ProgramBufferRole::Temporary)
            {
                lives.entry(buffer).or_insert([launch, launch])[1] = launch;
            }
        }
        let shared: Vec<SharedBuffer> = lives
            .iter()
            .map(|(&buffer, &life)| SharedBuffer { bytes: buffer_bytes(self.buffers[buffer].shown), life })
            .collect();
        let mut places = BTreeMap::new();
        for ((buffer, life), offset_bytes) in lives.into_iter().zip(place_shared_buffers(&shared, target.segment_bytes))
        {
            let Some(offset_bytes) = offset_bytes else {
                let (name, bytes) = (self.buffers[buffer].name(), target.segment_bytes);
                let message = format_args!(
                    "has no space for {name}: buffers between launches have {bytes} bytes in all; use smaller tensors"
                );
                return Err(error_at(codes::POOL_FULL, self.function, message).report());
            };
            let life = life.map(|launch| i64::try_from(launch).expect("fewer than 2^63"));
            places.insert(buffer, SharedLocation { offset_bytes, life });
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

    fn lower_launch(&self, items: &[Op<'c>]) -> Result<LoweredLaunch, ErrorReported> {
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

    fn lower_item(&self, op: Op<'c>, launch: &mut LoweredLaunch) -> Result<Option<BundleItem>, ErrorReported> {
        if op.is(spyre::LOOP) {
            let count = op.required_attr("count", integer);
            let mut body = Vec::new();
            for inner in op.body_ops() {
                body.extend(self.lower_item(inner, launch)?);
            }
            let name = op.attr(attr::SYMBOL).and_then(string);
            let symbol = name.map(|name| LoopSymbol { name: name.to_owned(), dim: op.text_attr(attr::DIM).to_owned() });
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
        Ok(Some(BundleItem::Op(Box::new(spec))))
    }

    fn lower_op(&self, compute: ComputeOp<'c>, launch: &mut LoweredLaunch) -> Result<OpSpec, String> {
        if compute.op.is(spyre::FILL) {
            return Err(codes::LAYOUT_MISSING.format("has no tensor to read; run the layout phase first"));
        }
        let space = compute.iteration_space();
        let split = core_split_of(compute)?;
        let divisors = split.divisors(CoreOrder::from_family(compute.family()));
        let symbolic = self.symbolic_iteration_dims(compute, split.slices())?;
        let dim = |(position, (&range, &slices)): (usize, (&i64, &i64))| IterationDim {
            name: Some(format!("c{position}")),
            divisor: (!split.order().is_empty()).then(|| divisors[position]),
            symbolic: symbolic[position].clone(),
            ..IterationDim::new(range, slices)
        };
        let factor = named_constants(compute).first().map_or(1.0, |constant| constant.value);
        if compute.num_reduced_dims() > 0
            && space[space.len() - compute.num_reduced_dims()..].iter().all(|&size| size == 1)
            && factor.total_cmp(&1.0).is_ne()
        {
            return Err(codes::BUNDLE_FORM.format(format_args!(
                "reduces a single element and multiplies it by {factor}, for which the device has no op; write a multiplication"
            )));
        }
        let accesses = compute.accesses()?;
        let num_inputs = accesses.len() - 1;
        let mut operands = Vec::with_capacity(accesses.len());
        for (position, access) in accesses.iter().enumerate() {
            let operand = self.lower_operand(compute, access, position < num_inputs, launch)?;
            launch.record_live_range(base_buffer_of(access.value), &operand, split.slices());
            operands.push(operand);
        }
        let used = (0..accesses.len()).map(|operand| compute.operand_dims(operand).into_iter().flatten().collect());
        let mut with_used: Vec<(OpSpecOperand, Vec<usize>)> = operands.into_iter().zip(used).collect();
        // Index tensors come first.
        with_used.sort_by_key(|(operand, _)| operand.name.is_none());
        let (operands, used): (Vec<OpSpecOperand>, Vec<Vec<usize>>) = with_used.into_iter().unzip();
        let mut spec = OpSpec {
            function: compute.function().to_owned(),
            is_reduction: compute.num_reduced_dims() > 0,
            iteration_space: space.iter().zip(split.slices()).enumerate().map(dim).collect(),
            operands,
            constants: named_constants(compute),
            ..OpSpec::default()
        };
        if let Some(name) = find_symbolic_stick(&spec) {
            return Err(codes::SYMBOLIC_SIZE.format(format_args!(
                "has symbolic dimension '{name}' in its sticks; give one size with '--dim-size NAME=SIZE'"
            )));
        }
        if let Some(dim) = find_unread_dim(&spec).filter(|_| compute.family() == Family::Gather) {
            return Err(codes::BUNDLE_FORM.format(format_args!(
                "repeats a gather along dimension {dim}, which neither the index nor the table has; gather once and broadcast the result"
            )));
        }
        match compute.family() {
            Family::Matmul => complete_matmul(&mut spec, &used),
            Family::Gather => complete_gather(&mut spec, &used),
            Family::Pointwise | Family::Reduce | Family::Copy => {}
        }
        drop_unit_dims(&mut spec, compute.num_reduced_dims());
        match spec.iteration_space.len() {
            ..=MAX_DIMS => Ok(spec),
            num_dims => Err(codes::LAUNCH_LIMIT.format(format_args!(
                "iterates over {num_dims} separate dimensions, and the device has at most {MAX_DIMS}; reshape the operands"
            ))),
        }
    }

    /// Returns the symbolic size of each iteration dimension, if any. A symbolic dimension is never merged with another
    /// one, part of a stick, or divided.
    fn symbolic_iteration_dims(
        &self,
        compute: ComputeOp<'c>,
        slices: &[i64],
    ) -> Result<Vec<Option<SymbolicDim>>, String> {
        let names = compute.symbolic_dims();
        let Some(sizes) = &self.sizes else { return Ok(vec![None; names.len()]) };
        let of = |(dim, name): (usize, &String)| {
            if name.is_empty() {
                return Ok(None);
            }
            let Some(size) = sizes.sizes().find(|size| size.name == *name) else {
                return Err(codes::SYMBOLIC_SIZE.format(format_args!(
                    "merges symbolic dimension '{name}' with others; give one size with '--dim-size NAME=SIZE'"
                )));
            };
            if slices[dim] > 1 {
                return Err(codes::SYMBOLIC_SIZE.format(format_args!(
                    "has {} slices of symbolic dimension '{name}', which must stay whole; run spyre-divide-work again",
                    slices[dim]
                )));
            }
            Ok(Some(SymbolicDim { symbol: size.name.clone(), max: size.maximum, granularity: size.granularity }))
        };
        names.iter().enumerate().map(of).collect()
    }

    fn lower_operand(
        &self,
        compute: ComputeOp<'c>,
        access: &OperandAccess<'c>,
        is_input: bool,
        launch: &mut LoweredLaunch,
    ) -> Result<OpSpecOperand, String> {
        let layout = access.layout()?;
        let mut coordinates: Vec<Coordinate> =
            access.coordinates(&compute.iteration_space())?.iter().map(lower_coordinate).collect();
        let indexed = access.find_indexed_dim(&compute.iteration_space())?;
        if let Some(indexed) = indexed {
            coordinates[indexed] = Coordinate::indirect(INDEX_TENSOR_NAME);
        }
        let mut operand = OpSpecOperand {
            is_input,
            format: layout.format(),
            arrangement: ElementArrangement::Standard,
            device_size: layout.device_size().to_vec(),
            coordinates,
            allocation: self.find_allocation(base_buffer_of(access.value), launch)?,
            tile_advance: window_advances(compute, access.operand)?,
            name: (access.used_as == AccessKind::Indices).then(|| INDEX_TENSOR_NAME.to_owned()),
            ownership: None,
        };
        if let Some(indexed) = indexed {
            operand.begin_at_window(indexed);
        }
        Ok(operand)
    }

    fn find_allocation(&self, buffer: Value<'c>, launch: &mut LoweredLaunch) -> Result<Allocation, String> {
        if let Some(number) = self.find_program_buffer(buffer) {
            let argument = launch
                .arguments
                .iter()
                .position(|&argument| argument == number)
                .expect("a launch has all that its ops use");
            return Ok(Allocation::Hbm {
                argument: u32::try_from(argument).expect("fewer than 2^32 arguments"),
                offset_bytes: 0,
            });
        }
        let owner = placement_owner_of(buffer).ok_or("reads a value that no op writes")?;
        if ComputeOp::from_op(owner).is_none() && !owner.is(spyre::EMPTY) {
            return Err(codes::BUNDLE_ORDER
                .format(format_args!("reads the result of '{}', which is not supported", owner.full_name())));
        }
        match MemoryPlacement::from_op(owner).ok_or("has no 'place'; run spyre-allocate-scratchpad first")?.memory {
            MemoryLocation::Lx(offset_bytes) => Ok(Allocation::Lx { offset_bytes }),
            MemoryLocation::Pool(offset_bytes) => {
                let end = offset_bytes + buffer_bytes(buffer);
                launch.bundle.pool_bytes =
                    launch.bundle.pool_bytes.max((end + STICK_BYTES - 1) / STICK_BYTES * STICK_BYTES);
                Ok(Allocation::Pool { offset_bytes })
            }
            MemoryLocation::Hbm => Err("reads a value in HBM that is no buffer of the program".to_owned()),
        }
    }
}

/// Returns the symbolic size that moves within the sticks of an operand.
fn find_symbolic_stick(spec: &OpSpec) -> Option<&str> {
    let moving = spec.operands.iter().filter_map(|operand| operand.coordinates.last()?.moving_dim());
    let mut symbolic = moving.filter_map(|dim| spec.iteration_space.get(dim)?.symbolic.as_ref());
    symbolic.next().map(|size| size.symbol.as_str())
}

/// Returns an iteration dimension that moves no operand: the file format cannot state the size of a looked-up tensor
/// along it.
fn find_unread_dim(spec: &OpSpec) -> Option<usize> {
    let is_read = |dim| {
        let inputs = spec.operands.iter().filter(|operand| operand.is_input);
        inputs.flat_map(|operand| &operand.coordinates).any(|coordinate| coordinate.moving_dim() == Some(dim))
    };
    (0..spec.iteration_space.len()).find(|&dim| spec.iteration_space[dim].range > 1 && !is_read(dim))
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
struct LoweredLaunch {
    bundle: Bundle,
    arguments: Vec<usize>,
    num_ops: usize,
    lives: Vec<LaunchLiveRange>,
    /// Live range of each buffer, by its position in the list.
    by_buffer: ValueMap<usize>,
}

impl LoweredLaunch {
    fn new(arguments: Vec<usize>) -> Self {
        Self { bundle: Bundle::default(), arguments, num_ops: 0, lives: Vec::new(), by_buffer: ValueMap::default() }
    }

    /// Records that the next op accesses a buffer.
    fn record_live_range(&mut self, buffer: Value<'_>, operand: &OpSpecOperand, slices: &[i64]) {
        let (memory, offset_bytes, bytes) = match operand.allocation {
            Allocation::Hbm { .. } => return,
            Allocation::Lx { offset_bytes } => (LaunchMemory::Lx, offset_bytes, operand.bytes_per_core(slices)),
            Allocation::Pool { offset_bytes } => (LaunchMemory::Pool, offset_bytes, buffer_bytes(buffer)),
        };
        let number = self.by_buffer.get(buffer).copied().unwrap_or(self.lives.len());
        if number == self.lives.len() {
            self.by_buffer.insert(buffer, number);
            self.lives.push(LaunchLiveRange { memory, offset_bytes, bytes, first: self.num_ops, last: self.num_ops });
        }
        let life = &mut self.lives[number];
        (life.bytes, life.last) = (life.bytes.max(bytes), self.num_ops);
    }
}

/// Returns the elements by which the start of a window moves per iteration of each loop around the op, outermost first;
/// empty if it does not move.
fn window_advances<'c>(compute: ComputeOp<'c>, operand: Value<'c>) -> Result<Vec<i64>, String> {
    let loops = compute.enclosing_loops();
    let mut advances = vec![0; loops.len()];
    for moved in window_strides(operand)? {
        if let Some(level) = loops.iter().position(|around| *around == moved.around) {
            advances[level] += moved.elements;
        }
    }
    Ok(if advances.iter().all(|&advance| advance == 0) { Vec::new() } else { advances })
}

fn buffer_bytes(buffer: Value<'_>) -> i64 {
    let layout = DeviceTensor::from_type(buffer.r#type()).and_then(|tensor| tensor.layout);
    layout.map_or(0, |layout| layout.bytes())
}

/// Returns the numeric constants of the function, by their names in files.
fn named_constants(compute: ComputeOp<'_>) -> Vec<NamedConstant> {
    let names = compute.table_row().map_or(&[][..], |row| row.constants);
    let values = compute.op.attr(attr::CONSTANTS).and_then(floats).unwrap_or_default();
    names.iter().zip(values).map(|(name, value)| NamedConstant { name: (*name).to_owned(), value }).collect()
}

fn lower_coordinate(from: &program::layout::Coordinate) -> Coordinate {
    Coordinate { term: from.term.map(CoordinateSource::Digits), offset: from.offset }
}
