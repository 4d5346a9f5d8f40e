//! `spyre-lower-to-sdsc`, op specs: lowers one device op to its iteration space, the coordinates and allocations of its
//! operands, and its constants.

use super::{LoweredLaunch, SdscLowering, buffer_bytes};
use crate::bundle::{
    Allocation, Coordinate, CoordinateSource, ElementArrangement, IterationDim, NamedConstant, OpSpec, OpSpecOperand,
    OwnedDim, Ownership, SymbolicDim,
    unit_dims::{complete_gather, complete_matmul, drop_unit_dims},
};
use crate::dialect::ods::{attr, spyre};
use crate::{
    codes,
    dialect::{
        ComputeOp, MemoryLocation, MemoryPlacement, OperandAccess, base_buffer_of, core_split_of, placement_owner_of,
        shuffle_destination_of, window_strides,
    },
    mlir::{OpExt, Value, floats},
};
use machine::{Family, STICK_BYTES};
use program::{AccessKind, CoreOrder, WorkSplit};

/// Name of an op's index tensor, by which coordinates refer to it.
const INDEX_TENSOR_NAME: &str = "index";

/// Maximum number of iteration dimensions of a device op.
const MAX_DIMS: usize = 7;

impl<'c> SdscLowering<'c> {
    pub(super) fn lower_op(&self, compute: ComputeOp<'c>, launch: &mut LoweredLaunch) -> Result<OpSpec, String> {
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
        let destination = shuffle_destination_of(compute)?;
        let num_inputs = accesses.len() - 1;
        let mut operands = Vec::with_capacity(accesses.len());
        for (position, access) in accesses.iter().enumerate() {
            let mut operand = self.lower_operand(compute, access, position < num_inputs, launch)?;
            if let Some(destination) = destination.as_ref().filter(|_| position == num_inputs) {
                operand.ownership = Some(to_ownership(destination, space.len()));
            }
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

/// Returns the slices of a shuffle's result that cores hold, without the numbers of cores that have the same slice.
fn to_ownership(destination: &WorkSplit, num_dims: usize) -> Ownership {
    let divisors = destination.divisors(CoreOrder::from_family(Family::Copy));
    let owned = destination.slices().iter().zip(divisors).take(num_dims).enumerate();
    let dims = owned.filter(|(_, (slices, _))| **slices > 1);
    Ownership { dims: dims.map(|(dim, (&slices, divisor))| OwnedDim { dim, slices, divisor }).collect() }
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

/// Returns the numeric constants of the function, by their names in files.
fn named_constants(compute: ComputeOp<'_>) -> Vec<NamedConstant> {
    let names = compute.table_row().map_or(&[][..], |row| row.constants);
    let values = compute.op.attr(attr::CONSTANTS).and_then(floats).unwrap_or_default();
    names.iter().zip(values).map(|(name, value)| NamedConstant { name: (*name).to_owned(), value }).collect()
}

fn lower_coordinate(from: &program::layout::Coordinate) -> Coordinate {
    Coordinate { term: from.term.map(CoordinateSource::Digits), offset: from.offset }
}
