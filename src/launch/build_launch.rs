//! Builds the launch of a bundle: declares what its ops need and puts them in order ("SuperDSC schema, section 8").

use super::LaunchError;
use super::geometry::Geometry;
use super::name::{Name, SizeName, SliceName};
use super::statements::{AffineMap, Execute, Launch, Param, SizeBounds, Stmt};
use super::symbols::{Addresses, MemoryMap, Start, Symbol, advances};
use crate::bundle::{Bundle, Item, OpSpec, SymbolicDim};
use machine::{STICK_BYTES, Target};
use std::collections::{BTreeMap, BTreeSet};

impl Launch {
    /// Returns the launch of a bundle on the Spyre card, with symbolic addresses.
    ///
    /// # Errors
    ///
    /// If an op has no form in the file format, or the bundle does not fit in memory.
    pub fn new(bundle: &Bundle) -> Result<Self, LaunchError> {
        Self::symbolic(bundle, &Target::spyre())
    }

    /// Returns the launch of a bundle whose addresses are launch arguments.
    ///
    /// # Errors
    ///
    /// As [`Self::new`].
    pub fn symbolic(bundle: &Bundle, target: &Target) -> Result<Self, LaunchError> {
        Builder::new(bundle, target, None).build()
    }

    /// Returns the launch of a bundle whose addresses are baked into its files.
    ///
    /// # Errors
    ///
    /// As [`Self::new`], and if an address is not known before the launch or moves in a loop.
    pub fn baked(bundle: &Bundle, target: &Target) -> Result<Self, LaunchError> {
        Builder::new(bundle, target, Some(MemoryMap::of(bundle, target))).build()
    }
}

struct Builder<'a> {
    bundle: &'a Bundle,
    target: &'a Target,
    baked: Option<MemoryMap>,
    first_symbol_ids: Vec<i64>,
    next_id: i64,
    maps: BTreeMap<AffineMap, usize>,
    arguments: BTreeSet<u32>,
    uses_pool: bool,
    sizes: BTreeMap<String, SizeName>,
    size_params: Vec<Param>,
    /// The symbols of loops with their numbers and maxima.
    counts: BTreeMap<String, (usize, i64)>,
    n_loops: usize,
    bounds: Vec<Stmt>,
    declared: BTreeSet<Name>,
    declarations: Vec<Stmt>,
    n_addresses: usize,
}

impl<'a> Builder<'a> {
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
            counts: BTreeMap::new(),
            n_loops: 0,
            bounds: Vec::new(),
            declared: BTreeSet::new(),
            declarations: Vec::new(),
            n_addresses: 0,
        }
    }

    fn build(mut self) -> Result<Launch, LaunchError> {
        let program = self.items(&self.bundle.items, &[])?;
        let mut body = Vec::new();
        if self.uses_pool {
            let (found, limit) = (self.bundle.pool_bytes, self.target.pool_bytes);
            if found < 1 || found > limit {
                return Err(LaunchError::PoolBytes { found, limit });
            }
            body.push(Stmt::DeviceMemAllocate { name: Name::Pool, bytes: found });
        }
        let argument = |argument: &u32| Param { name: Name::ArgumentBase(*argument), value: Name::Argument(*argument), bounds: None };
        let params: Vec<_> = self.arguments.iter().map(argument).chain(self.size_params).chain(count_params(&self.counts)).collect();
        body.extend(params.iter().map(|param| Stmt::InputArgExtract { param: *param }));
        if self.n_loops > 0 {
            body.push(Stmt::Constant { name: Name::Zero, value: 0 });
            body.push(Stmt::Constant { name: Name::One, value: 1 });
        }
        body.extend(self.bounds);
        body.extend(self.declarations);
        body.extend(program);
        let mut maps: Vec<_> = self.maps.into_iter().collect();
        maps.sort_by_key(|(_, number)| *number);
        let maps = maps.into_iter().map(|(map, _)| map).collect();
        Ok(Launch { maps, params, body, first_symbol_ids: self.first_symbol_ids })
    }

    fn items(&mut self, items: &[Item], loops: &[usize]) -> Result<Vec<Stmt>, LaunchError> {
        let mut body = Vec::new();
        for item in items {
            match item {
                Item::Op(op) => {
                    let index = self.first_symbol_ids.len();
                    self.op(op, index, loops, &mut body).map_err(|error| error.in_op(index, &op.function))?;
                }
                Item::Loop { count, symbol, body: inner } => {
                    if *count < 0 {
                        return Err(LaunchError::LoopCount { found: *count });
                    }
                    let index = self.n_loops;
                    self.n_loops += 1;
                    let bound = match symbol {
                        Some(symbol) => self.count(&symbol.name, *count)?,
                        None => {
                            self.bounds.push(Stmt::Constant { name: Name::LoopBound(index), value: *count });
                            Name::LoopBound(index)
                        }
                    };
                    let body_of_loop = self.items(inner, &[loops, &[index]].concat())?;
                    body.push(Stmt::For { counter: Name::Induction(index), bound, body: body_of_loop });
                }
            }
        }
        Ok(body)
    }

    /// Returns the parameter for the trip count `symbol`.
    fn count(&mut self, symbol: &str, maximum: i64) -> Result<Name, LaunchError> {
        let next = self.counts.len();
        let (number, first) = *self.counts.entry(symbol.to_owned()).or_insert((next, maximum));
        if first != maximum {
            return Err(LaunchError::SymbolMaximum { symbol: symbol.to_owned(), first, second: maximum });
        }
        Ok(Name::Count(number))
    }

    fn op(&mut self, op: &OpSpec, index: usize, loops: &[usize], body: &mut Vec<Stmt>) -> Result<(), LaunchError> {
        check_advances(op, loops)?;
        let geometry = Geometry::new(op)?;
        if geometry.cores() > self.target.cores {
            return Err(LaunchError::TooManyCores { found: geometry.cores(), limit: self.target.cores });
        }
        let addresses = match &self.baked {
            Some(map) => Addresses::baked(op, &geometry, map)?,
            None => Addresses::symbolic(op, &geometry, self.next_id)?,
        };
        self.first_symbol_ids.push(self.next_id);
        self.next_id = addresses.next_id().min(self.next_id);
        let mut names: Vec<_> = addresses
            .symbols
            .iter()
            .enumerate()
            .map(|(position, symbol)| self.declare(op, index, addresses.id(position), symbol))
            .collect();
        self.advance(op, &geometry, &addresses, loops, &mut names, body);
        let symbol_ids = self.baked.is_none().then(|| used_ids(&addresses));
        let ids = symbol_ids.iter().flatten();
        let operands = ids.filter_map(|id| names.get(addresses.position(*id)?).copied()).collect();
        body.push(Stmt::Execute(Execute { op: index, operands, symbol_ids }));
        Ok(())
    }

    /// Returns the name of a symbol; declares it at its first use.
    fn declare(&mut self, op: &OpSpec, index: usize, id: i64, symbol: &Symbol) -> Name {
        match *symbol {
            Symbol::Dim { dim } => self.declare_size(op, index, id, dim),
            Symbol::Argument { argument } => {
                self.arguments.insert(argument);
                Name::Argument(argument)
            }
            Symbol::Slice { argument, front } => self.declare_slice(SliceName { argument, front }),
            Symbol::Core { argument, front, displacement } => {
                let slice = SliceName { argument, front };
                // Possibly no core starts at `front` itself: cores start before it if the operand is read before its first position.
                self.declare_slice(slice);
                self.declare_sum(Name::Core(slice, displacement), Name::CoreOffset(slice, displacement), slice.start(), displacement)
            }
            Symbol::Pool { offset } => {
                self.uses_pool = true;
                self.declare_sum(Name::PoolAddress(offset), Name::PoolOffset(offset), Name::Pool, offset)
            }
            Symbol::SplitCore { value } => {
                let name = Name::Symbol(-id);
                self.declarations.push(Stmt::Constant { name, value });
                name
            }
        }
    }

    /// Declares the part of an argument at a byte offset; returns the argument itself if the offset is 0.
    fn declare_slice(&mut self, slice: SliceName) -> Name {
        self.arguments.insert(slice.argument);
        let SliceName { argument, front } = slice;
        if front == 0 {
            return Name::Argument(argument);
        }
        self.declare_sum(Name::Slice(slice), Name::SliceOffset(slice), Name::Argument(argument), front)
    }

    fn declare_sum(&mut self, name: Name, offset: Name, base: Name, bytes: i64) -> Name {
        if self.declared.insert(name) {
            self.declarations.push(Stmt::Constant { name: offset, value: bytes });
            self.declarations.push(Stmt::AddI { name, lhs: base, rhs: offset });
        }
        name
    }

    /// A size is named after the op where it first occurs.
    fn declare_size(&mut self, op: &OpSpec, index: usize, id: i64, dim: usize) -> Name {
        let Some(SymbolicDim { symbol, max, granularity }) = op.iteration_space.get(dim).and_then(|dim| dim.symbolic.as_ref()) else {
            return Name::Symbol(-id);
        };
        let first_id = self.first_symbol_ids.last().copied().unwrap_or(-1);
        let ordinal = usize::try_from(first_id - id).unwrap_or_default() + 1;
        let size = *self.sizes.entry(symbol.clone()).or_insert(SizeName { op: index, ordinal });
        if size == (SizeName { op: index, ordinal }) {
            let bounds = Some(SizeBounds { granularity: *granularity, max: *max });
            self.size_params.push(Param { name: Name::SizeBase(size), value: Name::Size(size), bounds });
        }
        Name::Size(size)
    }

    /// Replaces the symbols of moving operands by addresses that depend on the loop counters. Operands that share a symbol move alike.
    fn advance(
        &mut self,
        op: &OpSpec,
        geometry: &Geometry,
        addresses: &Addresses,
        loops: &[usize],
        names: &mut [Name],
        body: &mut Vec<Stmt>,
    ) {
        let mut upgraded = vec![false; names.len()];
        for ((operand, tensor), start) in op.operands.iter().zip(&geometry.tensors).zip(&addresses.starts) {
            let Start::Symbolic(ids) = start else { continue };
            if !advances(operand) {
                continue;
            }
            let levels = operand.tile_advance.iter().zip(loops).filter(|(elements, _)| **elements != 0);
            let (strides, counters): (Vec<_>, Vec<_>) =
                levels.map(|(elements, level)| (elements * tensor.format.bytes(), Name::Induction(*level))).unzip();
            let next = self.maps.len();
            let map = *self.maps.entry(AffineMap { strides }).or_insert(next);
            for position in ids.iter().filter_map(|id| addresses.position(*id)) {
                if std::mem::replace(&mut upgraded[position], true) {
                    continue;
                }
                let name = Name::Address(self.n_addresses);
                self.n_addresses += 1;
                body.push(Stmt::AffineApply { name, map, counters: counters.clone(), base: names[position] });
                names[position] = name;
            }
        }
    }
}

/// Returns the parameters for trip counts, in the order of their first use.
fn count_params(counts: &BTreeMap<String, (usize, i64)>) -> Vec<Param> {
    let mut numbered: Vec<(usize, i64)> = counts.values().copied().collect();
    numbered.sort_unstable();
    let param = |(number, max)| Param {
        name: Name::CountBase(number),
        value: Name::Count(number),
        bounds: Some(SizeBounds { granularity: 1, max }),
    };
    numbered.into_iter().map(param).collect()
}

/// Returns the ids that the op's file mentions: sizes, then addresses in operand and core order, without duplicates.
fn used_ids(addresses: &Addresses) -> Vec<i64> {
    let mut seen = vec![false; addresses.symbols.len()];
    let sizes = addresses.dims.iter().map(|dim| dim.id);
    let starts = addresses.starts.iter().filter_map(|start| match start {
        Start::Symbolic(ids) => Some(ids),
        Start::Fixed(_) => None,
    });
    let mentioned = sizes.chain(starts.flatten().copied());
    let is_new = |id: &i64| addresses.position(*id).is_some_and(|position| !std::mem::replace(&mut seen[position], true));
    mentioned.filter(is_new).collect()
}

fn check_advances(op: &OpSpec, loops: &[usize]) -> Result<(), LaunchError> {
    for (operand, spec) in op.operands.iter().enumerate() {
        let advances = spec.tile_advance.len();
        if advances != 0 && advances != loops.len() {
            return Err(LaunchError::AdvanceCount { operand, advances, loops: loops.len() });
        }
        let bytes = |elements: &i64| elements.saturating_mul(spec.format.bytes());
        if let Some(bytes) = spec.tile_advance.iter().map(bytes).find(|bytes| bytes % STICK_BYTES != 0) {
            return Err(LaunchError::AdvancesInsideStick { operand, bytes, stick: STICK_BYTES });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{dense, op};
    use crate::bundle::{Allocation, LoopSymbol};

    /// Copies a tile of 64 rows from a kernel argument to the pool.
    fn copy(advance: Vec<i64>) -> OpSpec {
        let mut copy = op("identity", &[64, 64], vec![dense(&[64, 64], 0, 1), dense(&[64, 64], 0, 1)]);
        copy.operands[0].tile_advance = advance;
        copy.operands[1].allocation = Allocation::Pool { offset_bytes: 128 };
        copy
    }

    fn bundle(count: i64, copy: OpSpec) -> Bundle {
        Bundle { pool_bytes: 1 << 20, items: vec![Item::Loop { count, symbol: None, body: vec![Item::Op(Box::new(copy))] }] }
    }

    #[test]
    fn an_operand_that_moves_is_computed_before_each_execute() {
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
    fn sizes_are_named_after_their_op_and_counted_in_it() {
        let mut sized = copy(Vec::new());
        for (dim, symbol) in sized.iteration_space.iter_mut().zip(["rows", "columns"]) {
            dim.symbolic = Some(SymbolicDim { symbol: symbol.to_owned(), max: 64, granularity: 64 });
        }
        let bundle = Bundle { pool_bytes: 1 << 20, items: vec![Item::Op(Box::new(sized))] };
        let text = Launch::new(&bundle).unwrap().to_string();
        assert!(text.contains("%sym_0_1") && text.contains("%sym_0_2"), "{text}");
    }

    #[test]
    fn a_level_that_does_not_move_an_operand_is_left_out() {
        let inner = Item::Loop { count: 2, symbol: None, body: vec![Item::Op(Box::new(copy(vec![0, 64])))] };
        let nested = Bundle { pool_bytes: 1 << 20, items: vec![Item::Loop { count: 3, symbol: None, body: vec![inner] }] };
        let launch = Launch::new(&nested).unwrap();
        assert_eq!(launch.maps, [AffineMap { strides: vec![128] }]);
        assert!(launch.to_string().contains("affine.apply #map_0(%i_1)[%arg_0]"));
    }

    fn counted(symbol: &str, count: i64, body: Vec<Item>) -> Item {
        Item::Loop { count, symbol: Some(LoopSymbol { name: symbol.to_owned(), dim: "M".to_owned() }), body }
    }

    #[test]
    fn a_count_that_is_known_at_launch_only_is_a_parameter() {
        let rows = |advance: Vec<i64>| Item::Op(Box::new(copy(advance)));
        let plain = Item::Loop { count: 2, symbol: None, body: vec![counted("U", 8, vec![rows(vec![0, 64])])] };
        let items = vec![plain, counted("T", 4, vec![rows(vec![64])]), counted("U", 8, vec![rows(vec![64])])];
        let text = Launch::new(&Bundle { pool_bytes: 1 << 20, items }).unwrap().to_string();
        // Parameters are in the order of use, after the kernel arguments; loop numbers continue.
        assert!(text.contains("%count_0_base: !sdscbundle.input_arg<index, granularity=1, max_value=8>, %count_1_base: "), "{text}");
        assert!(text.contains(
            "%count_1 = sdscbundle.input_arg_extract value from %count_1_base : !sdscbundle.input_arg<index, granularity=1, max_value=4>"
        ));
        let bounds = ["%i_0 = %c0 to %loop_bound_0 ", "%i_1 = %c0 to %count_0 ", "%i_2 = %c0 to %count_1 ", "%i_3 = %c0 to %count_0 "];
        assert!(bounds.iter().all(|bound| text.contains(&format!("scf.for {bound}step %c1 {{"))), "{text}");
        assert_eq!(text.matches("%loop_bound_").count(), 2);
    }

    #[test]
    fn a_count_has_one_maximum() {
        let items = vec![counted("T", 4, vec![]), counted("T", 8, vec![])];
        let error = LaunchError::SymbolMaximum { symbol: "T".to_owned(), first: 4, second: 8 };
        assert_eq!(Launch::new(&Bundle { pool_bytes: 0, items }), Err(error));
    }

    #[test]
    fn ids_go_on_from_op_to_op_and_names_are_declared_once() {
        let items = vec![Item::Op(Box::new(copy(vec![]))), Item::Op(Box::new(copy(vec![])))];
        let launch = Launch::new(&Bundle { pool_bytes: 4096, items }).unwrap();
        assert_eq!(launch.first_symbol_ids, [-1, -3]);
        assert_eq!(launch.to_string().matches("%pool_addr_128 = ").count(), 1);
    }

    #[test]
    fn baked_addresses_need_neither_parameters_nor_symbols() {
        let launch = Launch::baked(&bundle(4, copy(vec![])), &Target::spyre()).unwrap();
        assert!(launch.params.is_empty());
        assert!(launch.to_string().contains("\t\t\tsdscbundle.sdsc_execute () {sdsc_filename=\"sdsc_0.json\"}\n"));
    }

    #[test]
    fn what_has_no_launch_is_refused() {
        let error = |bundle: &Bundle| Launch::new(bundle).unwrap_err().to_string();
        let within = "op 0 ('identity'): operand 0 has 2 tile advances within 1 loops; it needs one for each loop, or none";
        assert_eq!(error(&bundle(4, copy(vec![1, 2]))), within);
        assert_eq!(error(&bundle(-1, copy(vec![]))), "a loop runs -1 times; the count must not be negative");
        let inside =
            "op 0 ('identity'): operand 0 advances by 2 bytes in an iteration of a loop; addresses advance by whole sticks of 128 bytes";
        assert_eq!(error(&bundle(4, copy(vec![1]))), inside);
        let no_pool = Bundle { pool_bytes: 0, ..bundle(4, copy(vec![])) };
        assert_eq!(error(&no_pool), "a tensor is in the pool, whose size is 0 bytes; it must be between 1 and 15032385536");
        let moving = Launch::baked(&bundle(4, copy(vec![64])), &Target::spyre()).unwrap_err().to_string();
        assert!(moving.ends_with("unroll the loop or keep addresses symbolic"), "{moving}");
        let mut wide = copy(vec![]);
        wide.iteration_space[0].split = 64;
        let wide = error(&bundle(4, wide));
        assert_eq!(wide, "op 0 ('identity'): the splits make 64 slices; each core computes one slice, and there are 32 cores");
    }
}
