//! Builds the launch of a bundle: declares the values that its ops need, and orders them ("SuperDSC schema, section
//! 8").

use super::LaunchError;
use super::geometry::Geometry;
use super::name::{SizeName, SliceName, ValueName};
use super::statements::{AddressMap, Execute, Launch, Param, SizeBounds, Stmt};
use super::symbols::{LaunchSymbol, MemoryMap, OpAddresses, TensorStart, has_advance};
use crate::bundle::{Bundle, BundleItem, LoopSymbol, OpSpec, SymbolicDim};
use machine::{STICK_BYTES, Target};
use std::collections::{BTreeMap, BTreeSet};

impl Launch {
    /// Returns the launch of a bundle on the Spyre card, with symbolic addresses.
    ///
    /// # Errors
    ///
    /// If an op has no form in the file format, or the bundle does not fit in memory.
    pub fn new(bundle: &Bundle) -> Result<Self, LaunchError> {
        Self::new_symbolic(bundle, &Target::spyre())
    }

    /// Returns the launch of a bundle whose addresses are launch arguments.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn new_symbolic(bundle: &Bundle, target: &Target) -> Result<Self, LaunchError> {
        LaunchBuilder::new(bundle, target, None).build()
    }

    /// Returns the launch of a bundle whose addresses are baked into its files.
    ///
    /// # Errors
    ///
    /// As [`Self::new`], and if an address is not known before the launch or moves in a loop.
    pub fn new_baked(bundle: &Bundle, target: &Target) -> Result<Self, LaunchError> {
        LaunchBuilder::new(bundle, target, Some(MemoryMap::from_bundle(bundle, target))).build()
    }
}

struct LaunchBuilder<'a> {
    bundle: &'a Bundle,
    target: &'a Target,
    baked: Option<MemoryMap>,
    first_symbol_ids: Vec<i64>,
    next_id: i64,
    maps: BTreeMap<AddressMap, usize>,
    arguments: BTreeSet<u32>,
    uses_pool: bool,
    sizes: BTreeMap<String, SizeName>,
    size_params: Vec<Param>,
    /// Number and bounds of each symbolic size that bounds loops.
    loop_sizes: BTreeMap<String, (usize, SizeBounds)>,
    num_loops: usize,
    bounds: Vec<Stmt>,
    declared: BTreeSet<ValueName>,
    declarations: Vec<Stmt>,
    num_addresses: usize,
}

impl<'a> LaunchBuilder<'a> {
    fn new(bundle: &'a Bundle, target: &'a Target, baked: Option<MemoryMap>) -> Self {
        Self {
            bundle,
            target,
            baked,
            first_symbol_ids: Vec::new(),
            next_id: -1,
            maps: BTreeMap::new(),
            arguments: BTreeSet::new(),
            uses_pool: false,
            sizes: BTreeMap::new(),
            size_params: Vec::new(),
            loop_sizes: BTreeMap::new(),
            num_loops: 0,
            bounds: Vec::new(),
            declared: BTreeSet::new(),
            declarations: Vec::new(),
            num_addresses: 0,
        }
    }

    fn build(mut self) -> Result<Launch, LaunchError> {
        let program = self.build_items(&self.bundle.items, &[])?;
        let mut body = Vec::new();
        if self.uses_pool {
            let (found, limit) = (self.bundle.pool_bytes, self.target.pool_bytes);
            if found < 1 || found > limit {
                return Err(LaunchError::PoolBytes { found, limit });
            }
            body.push(Stmt::DeviceMemAllocate { name: ValueName::Pool, bytes: found });
        }
        let argument = |argument: &u32| Param {
            name: ValueName::ArgumentBase(*argument),
            value: ValueName::Argument(*argument),
            bounds: None,
        };
        let params: Vec<_> =
            self.arguments.iter().map(argument).chain(self.size_params).chain(loop_size_params(&self.loop_sizes)).collect();
        body.extend(params.iter().map(|param| Stmt::InputArgExtract { param: *param }));
        if self.num_loops > 0 {
            body.push(Stmt::Constant { name: ValueName::Zero, value: 0 });
            body.push(Stmt::Constant { name: ValueName::One, value: 1 });
        }
        body.extend(self.bounds);
        body.extend(self.declarations);
        body.extend(program);
        let mut maps: Vec<_> = self.maps.into_iter().collect();
        maps.sort_by_key(|(_, number)| *number);
        let maps = maps.into_iter().map(|(map, _)| map).collect();
        Ok(Launch { maps, params, body, first_symbol_ids: self.first_symbol_ids })
    }

    fn build_items(&mut self, items: &[BundleItem], loops: &[EnclosingLoop]) -> Result<Vec<Stmt>, LaunchError> {
        let mut body = Vec::new();
        for item in items {
            match item {
                BundleItem::Op(op) => {
                    let index = self.first_symbol_ids.len();
                    self.build_op(op, index, loops, &mut body)
                        .map_err(|error| error.annotate_with_op(index, &op.function))?;
                }
                BundleItem::Loop { count, symbol, body: inner } => {
                    if *count < 0 {
                        return Err(LaunchError::LoopCount { found: *count });
                    }
                    let index = self.num_loops;
                    self.num_loops += 1;
                    let (bound, step) = match symbol {
                        Some(symbol) => self.declare_loop_size(index, symbol, *count)?,
                        None => {
                            self.bounds.push(Stmt::Constant { name: ValueName::LoopBound(index), value: *count });
                            (ValueName::LoopBound(index), ValueName::One)
                        }
                    };
                    let around = EnclosingLoop { index, step: symbol.as_ref().map_or(1, |symbol| symbol.tile) };
                    let body_of_loop = self.build_items(inner, &[loops, &[around]].concat())?;
                    body.push(Stmt::For { counter: ValueName::Induction(index), bound, step, body: body_of_loop });
                }
            }
        }
        Ok(body)
    }

    /// Returns the bound and the step of loop `index` with at most `count` tiles along a symbolic size. The device
    /// computes the trip count as the size divided by the step.
    fn declare_loop_size(
        &mut self,
        index: usize,
        symbol: &LoopSymbol,
        count: i64,
    ) -> Result<(ValueName, ValueName), LaunchError> {
        let LoopSymbol { name, dim: _, tile, granularity } = symbol;
        if self.baked.is_some() {
            return Err(LaunchError::BakedLoopSize { symbol: name.clone() });
        }
        let bounds = SizeBounds { granularity: *granularity, max: count.saturating_mul(*tile) };
        let next = self.loop_sizes.len();
        let (number, first) = *self.loop_sizes.entry(name.clone()).or_insert((next, bounds));
        if first != bounds {
            return Err(LaunchError::LoopSizeBounds { symbol: name.clone(), first, second: bounds });
        }
        if *tile < 1 || granularity % tile != 0 {
            return Err(LaunchError::LoopSizeStep { symbol: name.clone(), tile: *tile, granularity: *granularity });
        }
        if *tile == 1 {
            return Ok((ValueName::LoopSize(number), ValueName::One));
        }
        self.bounds.push(Stmt::Constant { name: ValueName::LoopStep(index), value: *tile });
        Ok((ValueName::LoopSize(number), ValueName::LoopStep(index)))
    }

    fn build_op(
        &mut self,
        op: &OpSpec,
        index: usize,
        loops: &[EnclosingLoop],
        body: &mut Vec<Stmt>,
    ) -> Result<(), LaunchError> {
        check_advances(op, loops)?;
        let geometry = Geometry::new(op)?;
        if geometry.num_cores() > self.target.cores {
            return Err(LaunchError::TooManyCores { found: geometry.num_cores(), limit: self.target.cores });
        }
        let addresses = match &self.baked {
            Some(map) => OpAddresses::new_baked(op, &geometry, map)?,
            None => OpAddresses::new_symbolic(op, &geometry, self.next_id)?,
        };
        self.first_symbol_ids.push(self.next_id);
        self.next_id = addresses.next_id().min(self.next_id);
        let mut names: Vec<_> = addresses
            .symbols
            .iter()
            .enumerate()
            .map(|(position, symbol)| self.declare(op, index, addresses.id(position), symbol))
            .collect();
        self.advance_operands(op, &geometry, &addresses, loops, &mut names, body);
        let symbol_ids = self.baked.is_none().then(|| collect_used_ids(&addresses));
        let ids = symbol_ids.iter().flatten();
        let operands = ids.filter_map(|id| names.get(addresses.position(*id)?).copied()).collect();
        body.push(Stmt::Execute(Execute { op: index, operands, symbol_ids }));
        Ok(())
    }

    /// Returns the name of a symbol; declares it at its first use.
    fn declare(&mut self, op: &OpSpec, index: usize, id: i64, symbol: &LaunchSymbol) -> ValueName {
        match *symbol {
            LaunchSymbol::Dim { dim } => self.declare_size(op, index, id, dim),
            LaunchSymbol::Argument { argument } => {
                self.arguments.insert(argument);
                ValueName::Argument(argument)
            }
            LaunchSymbol::Slice { argument, front } => self.declare_slice(SliceName { argument, front }),
            LaunchSymbol::Core { argument, front, displacement } => {
                let slice = SliceName { argument, front };
                // Possibly no core starts at `front`: cores start before it if the operand is read before its first
                // position.
                self.declare_slice(slice);
                self.declare_sum(
                    ValueName::Core(slice, displacement),
                    ValueName::CoreOffset(slice, displacement),
                    slice.start_name(),
                    displacement,
                )
            }
            LaunchSymbol::Pool { offset } => {
                self.uses_pool = true;
                self.declare_sum(ValueName::PoolAddress(offset), ValueName::PoolOffset(offset), ValueName::Pool, offset)
            }
            LaunchSymbol::SplitCore { value } => {
                let name = ValueName::Symbol(-id);
                self.declarations.push(Stmt::Constant { name, value });
                name
            }
        }
    }

    /// Declares the slice of an argument at a byte offset; returns the argument itself if the offset is 0.
    fn declare_slice(&mut self, slice: SliceName) -> ValueName {
        self.arguments.insert(slice.argument);
        let SliceName { argument, front } = slice;
        if front == 0 {
            return ValueName::Argument(argument);
        }
        self.declare_sum(ValueName::Slice(slice), ValueName::SliceOffset(slice), ValueName::Argument(argument), front)
    }

    fn declare_sum(&mut self, name: ValueName, offset: ValueName, base: ValueName, bytes: i64) -> ValueName {
        if self.declared.insert(name) {
            self.declarations.push(Stmt::Constant { name: offset, value: bytes });
            self.declarations.push(Stmt::AddI { name, lhs: base, rhs: offset });
        }
        name
    }

    /// Declares a size, which is named after the op that uses it first.
    fn declare_size(&mut self, op: &OpSpec, index: usize, id: i64, dim: usize) -> ValueName {
        let Some(SymbolicDim { symbol, max, granularity }) =
            op.iteration_space.get(dim).and_then(|dim| dim.symbolic.as_ref())
        else {
            return ValueName::Symbol(-id);
        };
        let first_id = self.first_symbol_ids.last().copied().unwrap_or(-1);
        let ordinal = usize::try_from(first_id - id).unwrap_or_default() + 1;
        let size = *self.sizes.entry(symbol.clone()).or_insert(SizeName { op: index, ordinal });
        if size == (SizeName { op: index, ordinal }) {
            let bounds = Some(SizeBounds { granularity: *granularity, max: *max });
            self.size_params.push(Param { name: ValueName::SizeBase(size), value: ValueName::Size(size), bounds });
        }
        ValueName::Size(size)
    }

    /// Replaces the symbols of moving operands by addresses that depend on the loop counters. Operands that share a
    /// symbol have the same strides.
    fn advance_operands(
        &mut self,
        op: &OpSpec,
        geometry: &Geometry,
        addresses: &OpAddresses,
        loops: &[EnclosingLoop],
        names: &mut [ValueName],
        body: &mut Vec<Stmt>,
    ) {
        let mut upgraded = vec![false; names.len()];
        for ((operand, tensor), start) in op.operands.iter().zip(&geometry.tensors).zip(&addresses.starts) {
            let TensorStart::Symbolic(ids) = start else { continue };
            if !has_advance(operand) {
                continue;
            }
            let levels = operand.tile_advance.iter().zip(loops).filter(|(elements, _)| **elements != 0);
            let (strides, counters): (Vec<_>, Vec<_>) = levels
                .map(|(elements, level)| {
                    (elements * tensor.format.bytes() / level.step, ValueName::Induction(level.index))
                })
                .unzip();
            let next = self.maps.len();
            let map = *self.maps.entry(AddressMap { strides }).or_insert(next);
            for position in ids.iter().filter_map(|id| addresses.position(*id)) {
                if std::mem::replace(&mut upgraded[position], true) {
                    continue;
                }
                let name = ValueName::Address(self.num_addresses);
                self.num_addresses += 1;
                body.push(Stmt::AffineApply { name, map, counters: counters.clone(), base: names[position] });
                names[position] = name;
            }
        }
    }
}

/// Returns the parameters for sizes that bound loops, in the order of their first use.
fn loop_size_params(loop_sizes: &BTreeMap<String, (usize, SizeBounds)>) -> Vec<Param> {
    let mut numbered: Vec<(usize, SizeBounds)> = loop_sizes.values().copied().collect();
    numbered.sort_unstable_by_key(|(number, _)| *number);
    let param = |(number, bounds)| Param {
        name: ValueName::LoopSizeBase(number),
        value: ValueName::LoopSize(number),
        bounds: Some(bounds),
    };
    numbered.into_iter().map(param).collect()
}

/// Returns the ids that the op's file mentions: sizes, then addresses in operand and core order, without duplicates.
fn collect_used_ids(addresses: &OpAddresses) -> Vec<i64> {
    let mut seen = vec![false; addresses.symbols.len()];
    let sizes = addresses.dims.iter().map(|dim| dim.id);
    let starts = addresses.starts.iter().filter_map(|start| match start {
        TensorStart::Symbolic(ids) => Some(ids),
        TensorStart::Fixed(_) => None,
    });
    let mentioned = sizes.chain(starts.flatten().copied());
    let is_new =
        |id: &i64| addresses.position(*id).is_some_and(|position| !std::mem::replace(&mut seen[position], true));
    mentioned.filter(is_new).collect()
}

/// Loop around an op.
#[derive(Clone, Copy)]
struct EnclosingLoop {
    /// Number of the loop in the bundle.
    index: usize,
    /// Difference of the counter between two iterations.
    step: i64,
}

fn check_advances(op: &OpSpec, loops: &[EnclosingLoop]) -> Result<(), LaunchError> {
    for (operand, spec) in op.operands.iter().enumerate() {
        let advances = spec.tile_advance.len();
        if advances != 0 && advances != loops.len() {
            return Err(LaunchError::AdvanceCount { operand, advances, loops: loops.len() });
        }
        let bytes = |elements: &i64| elements.saturating_mul(spec.format.bytes());
        if let Some(bytes) = spec.tile_advance.iter().map(bytes).find(|bytes| bytes % STICK_BYTES != 0) {
            return Err(LaunchError::AdvancesInsideStick { operand, bytes, stick: STICK_BYTES });
        }
        let divides = |(elements, around): (&i64, &EnclosingLoop)| bytes(elements) % around.step == 0;
        if let Some(position) = spec.tile_advance.iter().zip(loops).position(|level| !divides(level)) {
            let (bytes, tile) = (bytes(&spec.tile_advance[position]), loops[position].step);
            return Err(LaunchError::AdvanceOfPosition { operand, bytes, tile });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{dense_operand, op};
    use crate::bundle::{Allocation, LoopSymbol};

    /// Returns an op that copies a tile of 64 rows from a kernel argument to the pool.
    fn copy(advance: Vec<i64>) -> OpSpec {
        let mut copy = op("identity", &[64, 64], vec![dense_operand(&[64, 64], 0, 1), dense_operand(&[64, 64], 0, 1)]);
        copy.operands[0].tile_advance = advance;
        copy.operands[1].allocation = Allocation::Pool { offset_bytes: 128 };
        copy
    }

    fn bundle(count: i64, copy: OpSpec) -> Bundle {
        Bundle {
            pool_bytes: 1 << 20,
            items: vec![BundleItem::Loop { count, symbol: None, body: vec![BundleItem::Op(Box::new(copy))] }],
        }
    }

    #[test]
    fn computes_moving_operand_before_each_execute() {
        let text = Launch::new(&bundle(4, copy(vec![4096]))).unwrap().to_string();
        let expected = "\
#map_0 = affine_map<(d0)[s0] -> (s0 + 8192*d0)>
module {
	func.func @sdsc_bundle(%arg_0_base_addr: !sdscbundle.input_arg<index>) {
		%pool = sdscbundle.device_mem_allocate 1048576 bytes : index
		%arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : !sdscbundle.input_arg<index> -> index
		%c0 = arith.constant 0 : index
		%c1 = arith.constant 1 : index
		%loop_bound_0 = arith.constant 4 : index
		%pool_offset_128 = arith.constant 128 : index
		%pool_addr_128 = arith.addi %pool, %pool_offset_128 : index
		scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {
			%addr_0 = affine.apply #map_0(%i_0)[%arg_0]
			sdscbundle.sdsc_execute (%addr_0, %pool_addr_128) {sdsc_filename=\"sdsc_0.json\", \"symbol_ids\"=[-1, -2]}
		}
		return
	}
}
";
        assert_eq!(text, expected);
    }

    #[test]
    fn names_sizes_after_op_and_ordinal() {
        let mut sized = copy(Vec::new());
        for (dim, symbol) in sized.iteration_space.iter_mut().zip(["rows", "columns"]) {
            dim.symbolic = Some(SymbolicDim { symbol: symbol.to_owned(), max: 64, granularity: 64 });
        }
        let bundle = Bundle { pool_bytes: 1 << 20, items: vec![BundleItem::Op(Box::new(sized))] };
        let text = Launch::new(&bundle).unwrap().to_string();
        assert!(text.contains("%sym_0_1") && text.contains("%sym_0_2"), "{text}");
    }

    #[test]
    fn omits_loops_that_do_not_move_operand() {
        let inner =
            BundleItem::Loop { count: 2, symbol: None, body: vec![BundleItem::Op(Box::new(copy(vec![0, 64])))] };
        let nested =
            Bundle { pool_bytes: 1 << 20, items: vec![BundleItem::Loop { count: 3, symbol: None, body: vec![inner] }] };
        let launch = Launch::new(&nested).unwrap();
        assert_eq!(launch.maps, [AddressMap { strides: vec![128] }]);
        assert!(launch.to_string().contains("affine.apply #map_0(%i_1)[%arg_0]"));
    }

    fn sized_loop(name: &str, (count, tile): (i64, i64), body: Vec<BundleItem>) -> BundleItem {
        let symbol = LoopSymbol { name: name.to_owned(), dim: "M".to_owned(), tile, granularity: 64 };
        BundleItem::Loop { count, symbol: Some(symbol), body }
    }

    #[test]
    fn bounds_loops_by_sizes_with_strides_of_one_position() {
        let rows = |advance: Vec<i64>| BundleItem::Op(Box::new(copy(advance)));
        let inner = sized_loop("s1", (64, 1), vec![rows(vec![0, 64])]);
        let plain = BundleItem::Loop { count: 2, symbol: None, body: vec![inner] };
        let items = vec![plain, sized_loop("s0", (4, 64), vec![rows(vec![4096])])];
        let text = Launch::new(&Bundle { pool_bytes: 1 << 20, items }).unwrap().to_string();
        // Parameters are in the order of use, after the kernel arguments; loops are numbered across the bundle.
        let size = |max: i64| format!("!sdscbundle.input_arg<index, granularity=64, max_value={max}>");
        assert!(text.contains(&format!("%dim_0_base: {}, %dim_1_base: {})", size(64), size(256))), "{text}");
        let extract = format!("%dim_1 = sdscbundle.input_arg_extract value from %dim_1_base : {} -> index", size(256));
        assert!(text.contains(&extract), "{text}");
        for expected in [
            "%step_2 = arith.constant 64 : index\n",
            "scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {",
            "scf.for %i_1 = %c0 to %dim_0 step %c1 {",
            "scf.for %i_2 = %c0 to %dim_1 step %step_2 {",
            "#map_0 = affine_map<(d0)[s0] -> (s0 + 128*d0)>",
        ] {
            assert!(text.contains(expected), "{expected}: {text}");
        }
        // A row of 64 elements has 128 bytes, in both loops.
        assert_eq!(text.matches("affine_map").count(), 1, "{text}");
    }

    #[test]
    fn rejects_contradictory_and_indivisible_sizes() {
        let error =
            |items: Vec<BundleItem>| Launch::new(&Bundle { pool_bytes: 1 << 20, items }).unwrap_err().to_string();
        assert_eq!(
            error(vec![sized_loop("s0", (4, 64), vec![]), sized_loop("s0", (8, 64), vec![])]),
            "loops over 's0' expect at most 256 in steps of 64, and at most 512 in steps of 64; declare one maximum and \
             one multiple"
        );
        assert_eq!(
            error(vec![sized_loop("s0", (4, 48), vec![])]),
            "a loop has tiles of 48 positions of 's0', which is a multiple of 64 only; the tile must divide 64"
        );
        let uneven = sized_loop("s0", (8, 32), vec![BundleItem::Op(Box::new(copy(vec![64 * 31])))]);
        assert_eq!(
            error(vec![uneven]),
            "op 0 ('identity'): operand 0 advances by 3968 bytes for a tile of 32 positions; one position must advance \
             by whole bytes"
        );
    }

    #[test]
    fn continues_ids_across_ops_and_declares_names_once() {
        let items = vec![BundleItem::Op(Box::new(copy(vec![]))), BundleItem::Op(Box::new(copy(vec![])))];
        let launch = Launch::new(&Bundle { pool_bytes: 4096, items }).unwrap();
        assert_eq!(launch.first_symbol_ids, [-1, -3]);
        assert_eq!(launch.to_string().matches("%pool_addr_128 = ").count(), 1);
    }

    #[test]
    fn omits_parameters_and_symbols_for_baked_addresses() {
        let launch = Launch::new_baked(&bundle(4, copy(vec![])), &Target::spyre()).unwrap();
        assert!(launch.params.is_empty());
        assert!(launch.to_string().contains("\t\t\tsdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_0.json\"}\n"));
    }

    #[test]
    fn rejects_bundle_without_launch() {
        let error = |bundle: &Bundle| Launch::new(bundle).unwrap_err().to_string();
        let within =
            "op 0 ('identity'): operand 0 has 2 tile advances within 1 loops; it needs one for each loop, or none";
        assert_eq!(error(&bundle(4, copy(vec![1, 2]))), within);
        assert_eq!(error(&bundle(-1, copy(vec![]))), "a loop runs -1 times; the count must not be negative");
        let inside = "op 0 ('identity'): operand 0 advances by 2 bytes in an iteration of a loop; addresses advance by whole sticks of 128 bytes";
        assert_eq!(error(&bundle(4, copy(vec![1]))), inside);
        let no_pool = Bundle { pool_bytes: 0, ..bundle(4, copy(vec![])) };
        assert_eq!(
            error(&no_pool),
            "a tensor is in the pool, whose size is 0 bytes; it must be between 1 and 15032385536"
        );
        let moving = Launch::new_baked(&bundle(4, copy(vec![64])), &Target::spyre()).unwrap_err().to_string();
        assert!(moving.ends_with("unroll the loop or keep addresses symbolic"), "{moving}");
        let mut wide = copy(vec![]);
        wide.iteration_space[0].split = 64;
        let wide = error(&bundle(4, wide));
        assert_eq!(
            wide,
            "op 0 ('identity'): the splits make 64 slices; each core computes one slice, and there are 32 cores"
        );
    }
}
