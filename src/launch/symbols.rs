//! Start addresses of tensors, as launch symbols or as numbers ("SuperDSC schema, section 7").
//!
//! The address of a kernel argument is known only at launch. So a file refers to a symbol, for example -3, and
//! `bundle.mlir` defines its value. Ids are negative and consecutive over the bundle. Two operands of one op share a
//! symbol if their addresses are known to be equal in every iteration of the loops around the op. If one address moves
//! and the other is fixed or moves differently, the operands have separate symbols, even if both start at the same
//! byte.

use super::LaunchError;
use super::geometry::{DimLabel, Geometry, LabeledTensor, Scale};
use crate::bundle::{Allocation, Bundle, OpSpec, OpSpecOperand};
use machine::Target;
use std::collections::BTreeMap;

/// Meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LaunchSymbol {
    /// Size of an iteration dimension.
    Dim {
        /// Position in the iteration space.
        dim: usize,
    },
    /// Base of a kernel argument.
    Argument {
        /// Number of the argument.
        argument: u32,
    },
    /// Slice of a kernel argument.
    Slice {
        /// Number of the argument.
        argument: u32,
        /// Bytes above the base of the argument.
        front: i64,
    },
    /// Slice of an argument that one core accesses.
    Core {
        /// Number of the argument.
        argument: u32,
        /// Bytes from the argument's base to the first core's slice.
        front: i64,
        /// Bytes from the first core's slice to this one's.
        displacement: i64,
    },
    /// Slice of one core along a dimension with a symbolic size. As in files of the front end, its value is a plain
    /// number: the number of the argument plus the byte position.
    SplitCore {
        /// Plain number.
        value: i64,
    },
    /// Address in the bundle's pool.
    Pool {
        /// Bytes above the start of the pool.
        offset: i64,
    },
}

/// Start address of a tensor on each core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TensorStart {
    /// Byte addresses.
    Fixed(Vec<i64>),
    /// Symbol ids.
    Symbolic(Vec<i64>),
}

impl TensorStart {
    /// Returns the addresses or ids, by core.
    #[must_use]
    pub fn core_values(&self) -> &[i64] {
        match self {
            Self::Fixed(values) | Self::Symbolic(values) => values,
        }
    }
}

/// Locations of kernel arguments and the pool, for addresses baked into the files (torch-spyre, memory map).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryMap {
    /// Size of a segment, in bytes.
    pub segment_bytes: i64,
    /// Number of segments.
    pub segments: i64,
    /// Whether the pool occupies segment 0.
    pub has_pool: bool,
}

impl MemoryMap {
    /// Returns the memory map of a bundle on a machine.
    #[must_use]
    pub fn from_bundle(bundle: &Bundle, target: &Target) -> Self {
        Self { segment_bytes: target.segment_bytes, segments: target.segments, has_pool: bundle.uses_pool() }
    }

    /// Returns the start address of the segment of a kernel argument.
    fn argument_base(&self, argument: u32) -> Result<i64, LaunchError> {
        let segment = i64::from(argument) + i64::from(self.has_pool);
        if segment >= self.segments {
            return Err(LaunchError::Segments { argument, segment, segments: self.segments });
        }
        Ok(segment.saturating_mul(self.segment_bytes))
    }
}

/// Start addresses of one op's operands, and the symbols that they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpAddresses {
    /// Id of the first symbol; ids of the others decrease.
    pub first_id: i64,
    /// Symbols of the op: sizes first, then addresses.
    pub symbols: Vec<LaunchSymbol>,
    /// Start of every operand.
    pub starts: Vec<TensorStart>,
    /// Symbol of each symbolic dimension.
    pub dims: Vec<DimSymbol>,
}

/// Symbol of a symbolic dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimSymbol {
    /// Position in the iteration space.
    pub dim: usize,
    /// Id of the symbol.
    pub id: i64,
}

impl OpAddresses {
    /// Assigns symbols to all start addresses in HBM; addresses in LX are always numbers.
    ///
    /// # Errors
    ///
    /// If an operand cannot have an address.
    pub fn new_symbolic(op: &OpSpec, geometry: &Geometry, first_id: i64) -> Result<Self, LaunchError> {
        check_lx_is_fixed(op)?;
        let mut table =
            OpSymbolTable { first_id, symbols: Vec::new(), ids: BTreeMap::new(), unused_bases: BTreeMap::new() };
        let dims = table.assign_dim_symbols(op);
        let mut starts = Vec::with_capacity(op.operands.len());
        for (index, (operand, tensor)) in op.operands.iter().zip(&geometry.tensors).enumerate() {
            let positions = compute_core_offsets(geometry, operand, tensor);
            let advance = AddressAdvance::from_operand(operand, tensor);
            starts.push(match operand.allocation {
                Allocation::Lx { .. } => TensorStart::Fixed(positions),
                Allocation::Pool { .. } => {
                    let id = |offset| {
                        table
                            .find_or_add_id((ByteAddress::Pool(offset), advance.clone()), LaunchSymbol::Pool { offset })
                    };
                    TensorStart::Symbolic(positions.into_iter().map(id).collect())
                }
                Allocation::Hbm { argument, .. } => {
                    let symbolic_split = find_symbolic_split(geometry, tensor);
                    check_symbolic_tiling(index, operand, tensor, symbolic_split)?;
                    TensorStart::Symbolic(table.assign_argument_ids(
                        argument,
                        &positions,
                        symbolic_split.is_some(),
                        &advance,
                    ))
                }
            });
        }
        Ok(Self { first_id, symbols: table.symbols, starts, dims })
    }

    /// Assigns a memory address to every operand.
    ///
    /// # Errors
    ///
    /// If an address is not known before the launch.
    pub fn new_baked(op: &OpSpec, geometry: &Geometry, map: &MemoryMap) -> Result<Self, LaunchError> {
        check_lx_is_fixed(op)?;
        if let Some(dim) = op.iteration_space.iter().position(|dim| dim.symbolic.is_some()) {
            return Err(LaunchError::BakedSymbolic { dim });
        }
        let mut starts = Vec::with_capacity(op.operands.len());
        for (index, (operand, tensor)) in op.operands.iter().zip(&geometry.tensors).enumerate() {
            if has_advance(operand) {
                return Err(LaunchError::BakedAdvance { operand: index });
            }
            let base = match operand.allocation {
                Allocation::Hbm { argument, .. } => map.argument_base(argument)?,
                Allocation::Pool { .. } | Allocation::Lx { .. } => 0,
            };
            starts.push(TensorStart::Fixed(
                compute_core_offsets(geometry, operand, tensor).into_iter().map(|position| base + position).collect(),
            ));
        }
        Ok(Self { first_id: -1, symbols: Vec::new(), starts, dims: Vec::new() })
    }

    /// Returns the id of the symbol at a position of [`Self::symbols`].
    #[must_use]
    pub fn id(&self, position: usize) -> i64 {
        symbol_id(self.first_id, position)
    }

    /// Returns the position of a symbol of this op; `None` for other ids.
    #[must_use]
    pub fn position(&self, id: i64) -> Option<usize> {
        usize::try_from(self.first_id - id).ok().filter(|position| *position < self.symbols.len())
    }

    /// Returns the first id of the next op of the bundle.
    #[must_use]
    pub fn next_id(&self) -> i64 {
        self.id(self.symbols.len())
    }
}

/// Returns whether an operand moves in an enclosing loop.
#[must_use]
pub(crate) fn has_advance(operand: &OpSpecOperand) -> bool {
    operand.tile_advance.iter().any(|elements| *elements != 0)
}

fn symbol_id(first_id: i64, position: usize) -> i64 {
    position.try_into().map_or(i64::MIN, |position: i64| first_id - position)
}

/// Returns the byte offset of each core's slice, relative to the argument, to the pool, or in LX.
fn compute_core_offsets(geometry: &Geometry, operand: &OpSpecOperand, tensor: &LabeledTensor) -> Vec<i64> {
    let start = operand.allocation.offset_bytes();
    match operand.allocation {
        Allocation::Lx { .. } => {
            (0..geometry.num_cores()).map(|_| start + tensor.format.bytes() * tensor.front).collect()
        }
        Allocation::Hbm { .. } | Allocation::Pool { .. } => (0..geometry.num_cores())
            .map(|core| start + tensor.format.bytes() * geometry.start_element(tensor, core))
            .collect(),
    }
}

/// Returns the symbolic dimension along which a tensor is split.
fn find_symbolic_split(geometry: &Geometry, tensor: &LabeledTensor) -> Option<DimLabel> {
    let is_split =
        |label: DimLabel| geometry.space.get(label).is_some_and(|dim| dim.symbolic.is_some() && dim.split > 1);
    tensor.dims.iter().find(|dim| dim.scale == Scale::Present && is_split(dim.label)).map(|dim| dim.label)
}

/// Rejects a tensor that moves in a loop if its only dimension has a symbolic size and is split over cores.
fn check_symbolic_tiling(
    index: usize,
    operand: &OpSpecOperand,
    tensor: &LabeledTensor,
    split: Option<DimLabel>,
) -> Result<(), LaunchError> {
    let mut present = tensor.dims.iter().filter(|dim| dim.scale == Scale::Present);
    match (split, present.next(), present.next()) {
        (Some(label), Some(_), None) if has_advance(operand) => {
            Err(LaunchError::SymbolicTiled { operand: index, label })
        }
        _ => Ok(()),
    }
}

/// Rejects tensors in LX that move in a loop.
fn check_lx_is_fixed(op: &OpSpec) -> Result<(), LaunchError> {
    for (operand, spec) in op.operands.iter().enumerate().filter(|(_, spec)| spec.allocation.is_lx()) {
        if let Some(elements) = spec.tile_advance.iter().copied().find(|elements| *elements != 0) {
            return Err(LaunchError::TiledLx { operand, elements });
        }
    }
    Ok(())
}

/// Key under which operands of one op share a symbol: the start of the address, and how it advances in loops.
type SymbolKey = (ByteAddress, AddressAdvance);

/// Start address of a tensor on one core.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum ByteAddress {
    /// Base of a kernel argument.
    Argument(u32),
    /// Argument, and byte offset of the first core's slice above its base.
    Slice(u32, i64),
    /// Argument, and byte offset of another core's slice above its base.
    CoreSlice(u32, i64),
    /// Slice of one core along a dimension with a symbolic size.
    SplitCore { argument: u32, core: usize, position: i64 },
    /// Byte offset in the pool.
    Pool(i64),
}

/// Advance of an address in the loops around an op.
///
/// A fixed address is identified by its byte alone, independent of the data there. A moving address is identified by
/// its window as well: a file does not record strides, so a symbol shared by several windows would look like a mistake.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct AddressAdvance {
    /// Bytes per iteration of each loop, outermost first; empty for a fixed address.
    steps: Vec<i64>,
    /// Dimensions of the window, with their scales.
    dims: Vec<(DimLabel, i64)>,
    /// Extent of the buffer beyond the window, by dimension.
    gaps: Vec<(DimLabel, i64)>,
}

impl AddressAdvance {
    fn from_operand(operand: &OpSpecOperand, tensor: &LabeledTensor) -> Self {
        if !has_advance(operand) {
            return Self::default();
        }
        Self {
            steps: operand.tile_advance.iter().map(|elements| elements * tensor.format.bytes()).collect(),
            dims: tensor.dims.iter().map(|dim| (dim.label, dim.scale.as_number())).collect(),
            gaps: tensor.gaps.clone(),
        }
    }
}

/// Symbols of one op.
struct OpSymbolTable {
    first_id: i64,
    symbols: Vec<LaunchSymbol>,
    ids: BTreeMap<SymbolKey, i64>,
    /// Ids that are reserved for the bases of arguments of which the op has used only slices so far.
    unused_bases: BTreeMap<u32, i64>,
}

impl OpSymbolTable {
    fn push_symbol(&mut self, symbol: LaunchSymbol) -> i64 {
        let id = symbol_id(self.first_id, self.symbols.len());
        self.symbols.push(symbol);
        id
    }

    fn find_or_add_id(&mut self, key: SymbolKey, symbol: LaunchSymbol) -> i64 {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = match key.0 {
            ByteAddress::Argument(argument) => self.unused_bases.remove(&argument),
            ByteAddress::Slice(..)
            | ByteAddress::CoreSlice(..)
            | ByteAddress::SplitCore { .. }
            | ByteAddress::Pool(_) => None,
        };
        let id = id.unwrap_or_else(|| self.push_symbol(symbol));
        self.ids.insert(key, id);
        id
    }

    /// Reserves an id for the base of an argument, if it has none.
    fn reserve_base(&mut self, argument: u32) {
        let has_id = self.ids.keys().any(|(address, _)| *address == ByteAddress::Argument(argument));
        if !has_id && !self.unused_bases.contains_key(&argument) {
            let id = self.push_symbol(LaunchSymbol::Argument { argument });
            self.unused_bases.insert(argument, id);
        }
    }

    /// Assigns one symbol to each distinct symbolic size, and returns the symbol of each symbolic dimension.
    fn assign_dim_symbols(&mut self, op: &OpSpec) -> Vec<DimSymbol> {
        let mut seen: BTreeMap<&str, i64> = BTreeMap::new();
        let mut dims = Vec::new();
        for (dim, spec) in op.iteration_space.iter().enumerate() {
            if let Some(symbolic) = &spec.symbolic {
                let id = *seen.entry(&symbolic.symbol).or_insert_with(|| self.push_symbol(LaunchSymbol::Dim { dim }));
                dims.push(DimSymbol { dim, id });
            }
        }
        dims
    }

    /// Returns the symbol ids of a tensor in a kernel argument, by core. The base of the argument gets an id even if
    /// the tensor starts above it.
    fn assign_argument_ids(
        &mut self,
        argument: u32,
        positions: &[i64],
        is_symbolic_split: bool,
        advance: &AddressAdvance,
    ) -> Vec<i64> {
        let front = positions.first().copied().unwrap_or_default();
        let base = if front > 0 {
            self.reserve_base(argument);
            self.find_or_add_id(
                (ByteAddress::Slice(argument, front), advance.clone()),
                LaunchSymbol::Slice { argument, front },
            )
        } else {
            self.find_or_add_id((ByteAddress::Argument(argument), advance.clone()), LaunchSymbol::Argument { argument })
        };
        let id_of = |(core, &position): (usize, &i64)| {
            if position == front {
                return base;
            }
            let (address, symbol) = if is_symbolic_split {
                (
                    ByteAddress::SplitCore { argument, core, position },
                    LaunchSymbol::SplitCore { value: i64::from(argument) + position },
                )
            } else {
                (
                    ByteAddress::CoreSlice(argument, position),
                    LaunchSymbol::Core { argument, front, displacement: position - front },
                )
            };
            self.find_or_add_id((address, advance.clone()), symbol)
        };
        positions.iter().enumerate().map(id_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{dense_operand, op};
    use crate::bundle::{Coordinate, SymbolicDim};

    fn new_add_op(split: i64) -> OpSpec {
        let mut add = op(
            "add",
            &[128, 256],
            vec![dense_operand(&[128, 256], 0, 1), dense_operand(&[128, 256], 0, 1), dense_operand(&[128, 256], 0, 1)],
        );
        add.iteration_space[0].split = split;
        for (operand, argument) in add.operands.iter_mut().zip(0..) {
            operand.allocation = Allocation::Hbm { argument, offset_bytes: 0 };
        }
        add
    }

    fn assign_symbols(op: &OpSpec) -> OpAddresses {
        OpAddresses::new_symbolic(op, &Geometry::new(op).unwrap(), -1).unwrap()
    }

    #[test]
    fn assigns_slice_to_each_core() {
        let addresses = assign_symbols(&new_add_op(2));
        assert_eq!(addresses.starts[1], TensorStart::Symbolic(vec![-3, -4]));
        assert_eq!(addresses.symbols[3], LaunchSymbol::Core { argument: 1, front: 0, displacement: 8192 });
        assert_eq!(addresses.next_id(), -7);
    }

    #[test]
    fn shares_symbols_of_operands_at_same_address() {
        let mut add = new_add_op(2);
        add.operands[1].allocation = add.operands[0].allocation;
        let addresses = assign_symbols(&add);
        assert_eq!(addresses.starts[0], addresses.starts[1]);
        assert_eq!(addresses.symbols.len(), 4);
    }

    /// Returns the addresses of an op that adds a matrix to itself. `steps` has, for each of the two operands, the
    /// elements by which it moves in one iteration of each enclosing loop.
    fn add_to_itself(steps: [&[i64]; 2]) -> OpAddresses {
        let mut add = new_add_op(2);
        add.operands[1].allocation = add.operands[0].allocation;
        for (operand, steps) in add.operands.iter_mut().zip(steps) {
            operand.tile_advance = steps.to_vec();
        }
        assign_symbols(&add)
    }

    #[test]
    fn separates_symbols_of_diverging_operands() {
        for steps in [
            [&[64][..], &[0]],
            [&[0], &[64]],
            [&[64], &[]],
            [&[64], &[128]],
            [&[64, 0], &[0, 64]],
            [&[64, 64], &[64, 0]],
        ] {
            let [first, second, _] = add_to_itself(steps).starts.try_into().unwrap();
            assert!(first.core_values().iter().all(|id| !second.core_values().contains(id)), "{steps:?}");
        }
        for steps in [[&[64][..], &[64]], [&[0], &[]], [&[0, 0], &[0]]] {
            let [first, second, _] = add_to_itself(steps).starts.try_into().unwrap();
            assert_eq!(first, second, "{steps:?}");
        }
    }

    #[test]
    fn separates_symbols_of_moving_windows() {
        let mut add = new_add_op(1);
        add.operands[1] = dense_operand(&[128, 512], 0, 1);
        for operand in &mut add.operands[..2] {
            operand.allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };
            operand.tile_advance = vec![64];
        }
        let addresses = assign_symbols(&add);
        assert_ne!(addresses.starts[0], addresses.starts[1]);
    }

    #[test]
    fn assigns_one_id_to_fixed_argument() {
        let mut add = new_add_op(1);
        add.operands[0] = dense_operand(&[128, 512], 0, 1);
        add.operands[0].coordinates[0] = Coordinate::floordiv(1, 64).shifted_by(1);
        add.operands[1].allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };
        add.operands[1].tile_advance = vec![64];
        // The first operand, a slice, reserves an id for the base of the argument. The second operand starts at the
        // base and uses this id.
        assert_eq!(
            assign_symbols(&add).starts[..2],
            [TensorStart::Symbolic(vec![-2]), TensorStart::Symbolic(vec![-1])]
        );
    }

    #[test]
    fn offsets_slice_from_argument() {
        let mut add = new_add_op(1);
        add.operands[0] = dense_operand(&[128, 512], 0, 1);
        add.operands[0].coordinates[0] = Coordinate::floordiv(1, 64).shifted_by(1);
        let addresses = assign_symbols(&add);
        assert_eq!(
            addresses.symbols[..2],
            [LaunchSymbol::Argument { argument: 0 }, LaunchSymbol::Slice { argument: 0, front: 16384 }]
        );
        assert_eq!(addresses.starts[0], TensorStart::Symbolic(vec![-2]));
    }

    #[test]
    fn assigns_segment_to_each_baked_argument() {
        let add = new_add_op(2);
        let geometry = Geometry::new(&add).unwrap();
        let map = MemoryMap { segment_bytes: 1 << 34, segments: 7, has_pool: true };
        let addresses = OpAddresses::new_baked(&add, &geometry, &map).unwrap();
        assert_eq!(addresses.starts[1], TensorStart::Fixed(vec![2 << 34, (2 << 34) + 8192]));
        let full = MemoryMap { segments: 3, ..map };
        let error = OpAddresses::new_baked(&add, &geometry, &full).unwrap_err();
        assert_eq!(error, LaunchError::Segments { argument: 2, segment: 3, segments: 3 });
    }

    #[test]
    fn rejects_advance_of_lx_tensor() {
        let mut add = new_add_op(1);
        add.operands[0].allocation = Allocation::Lx { offset_bytes: 0 };
        add.operands[0].tile_advance = vec![0, 64];
        let error = OpAddresses::new_symbolic(&add, &Geometry::new(&add).unwrap(), -1).unwrap_err();
        assert_eq!(error, LaunchError::TiledLx { operand: 0, elements: 64 });
    }

    #[test]
    fn assigns_first_id_to_symbolic_size() {
        let mut add = new_add_op(2);
        add.iteration_space[0].symbolic = Some(SymbolicDim { symbol: "s".to_owned(), max: 128, granularity: 2 });
        let addresses = assign_symbols(&add);
        assert_eq!(addresses.dims, [DimSymbol { dim: 0, id: -1 }]);
        assert_eq!(addresses.symbols[4], LaunchSymbol::SplitCore { value: 8193 });
    }
}
