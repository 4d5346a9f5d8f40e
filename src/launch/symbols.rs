//! Start addresses, as symbols or as values ("SuperDSC schema, section 7").
//!
//! A kernel argument's address is known at launch only, so a file refers to symbol -3, say, and `bundle.mlir` defines its value. Ids are
//! negative and consecutive over the bundle. Two operands of one op share a symbol if their addresses are known to be equal in every
//! iteration of the loops around the op. If one moves and the other one is fixed, or moves differently, they have separate symbols, even
//! if both start at the same byte.

use super::LaunchError;
use super::geometry::{Geometry, Label, Scale, Tensor};
use crate::bundle::{Allocation, Bundle, OpSpec, Operand};
use machine::Target;
use std::collections::BTreeMap;

/// Meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// The size of an iteration dimension.
    Dim {
        /// The position in the iteration space.
        dim: usize,
    },
    /// The base of a kernel argument.
    Argument {
        /// The argument.
        argument: u32,
    },
    /// A part of a kernel argument.
    Slice {
        /// The argument.
        argument: u32,
        /// Bytes above its base.
        front: i64,
    },
    /// Part of an argument that one core accesses.
    Core {
        /// The argument.
        argument: u32,
        /// Bytes from the argument's base to the first core's part.
        front: i64,
        /// Bytes from the first core's part to this one's.
        displacement: i64,
    },
    /// Part of a core whose size is symbolic: a plain number, as the front end leaves it.
    SplitCore {
        /// The number.
        value: i64,
    },
    /// A place in the bundle's pool.
    Pool {
        /// Bytes above its start.
        offset: i64,
    },
}

/// Start address of a tensor on each core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// Byte addresses.
    Fixed(Vec<i64>),
    /// Symbol ids.
    Symbolic(Vec<i64>),
}

impl Start {
    /// The addresses or ids, by core.
    #[must_use]
    pub fn by_core(&self) -> &[i64] {
        match self {
            Self::Fixed(values) | Self::Symbolic(values) => values,
        }
    }
}

/// Locations of kernel arguments and the pool, for addresses baked into the files (torch-spyre, memory map).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryMap {
    /// Bytes of a segment.
    pub segment_bytes: i64,
    /// Number of segments.
    pub segments: i64,
    /// Whether the pool takes segment 0.
    pub has_pool: bool,
}

impl MemoryMap {
    /// Returns the map of a bundle on a machine.
    #[must_use]
    pub fn of(bundle: &Bundle, target: &Target) -> Self {
        Self { segment_bytes: target.segment_bytes, segments: target.segments, has_pool: bundle.uses_pool() }
    }

    fn base(&self, argument: u32) -> Result<i64, LaunchError> {
        let segment = i64::from(argument) + i64::from(self.has_pool);
        if segment >= self.segments {
            return Err(LaunchError::Segments { argument, segment, segments: self.segments });
        }
        Ok(segment.saturating_mul(self.segment_bytes))
    }
}

/// The start addresses of one op's operands, and the symbols they use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Addresses {
    /// Id of the first symbol; ids of the others decrease.
    pub first_id: i64,
    /// The symbols of the op: sizes first, then addresses.
    pub symbols: Vec<Symbol>,
    /// The start of every operand.
    pub starts: Vec<Start>,
    /// The symbol of each symbolic dimension.
    pub dims: Vec<DimSymbol>,
}

/// The symbol of a symbolic dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DimSymbol {
    /// The position in the iteration space.
    pub dim: usize,
    /// The id.
    pub id: i64,
}

impl Addresses {
    /// Assigns a symbol to every address; LX addresses are numbers in any case.
    ///
    /// # Errors
    ///
    /// If an operand cannot have an address.
    pub fn symbolic(op: &OpSpec, geometry: &Geometry, first_id: i64) -> Result<Self, LaunchError> {
        check_lx(op)?;
        let mut table = Table { first_id, symbols: Vec::new(), ids: BTreeMap::new(), unused_bases: BTreeMap::new() };
        let dims = table.dim_symbols(op);
        let mut starts = Vec::with_capacity(op.operands.len());
        for (index, (operand, tensor)) in op.operands.iter().zip(&geometry.tensors).enumerate() {
            let positions = positions(geometry, operand, tensor);
            let course = Course::of(operand, tensor);
            starts.push(match operand.allocation {
                Allocation::Lx { .. } => Start::Fixed(positions),
                Allocation::Pool { .. } => {
                    let id = |offset| table.id((Spot::Pool(offset), course.clone()), Symbol::Pool { offset });
                    Start::Symbolic(positions.into_iter().map(id).collect())
                }
                Allocation::Hbm { argument, .. } => {
                    let split = symbolic_split(geometry, tensor);
                    check_symbolic_tiling(index, operand, tensor, split)?;
                    Start::Symbolic(table.argument_ids(argument, &positions, split.is_some(), &course))
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
    pub fn baked(op: &OpSpec, geometry: &Geometry, map: &MemoryMap) -> Result<Self, LaunchError> {
        check_lx(op)?;
        if let Some(dim) = op.iteration_space.iter().position(|dim| dim.symbolic.is_some()) {
            return Err(LaunchError::BakedSymbolic { dim });
        }
        let mut starts = Vec::with_capacity(op.operands.len());
        for (index, (operand, tensor)) in op.operands.iter().zip(&geometry.tensors).enumerate() {
            if advances(operand) {
                return Err(LaunchError::BakedAdvance { operand: index });
            }
            let base = match operand.allocation {
                Allocation::Hbm { argument, .. } => map.base(argument)?,
                Allocation::Pool { .. } | Allocation::Lx { .. } => 0,
            };
            starts.push(Start::Fixed(positions(geometry, operand, tensor).into_iter().map(|position| base + position).collect()));
        }
        Ok(Self { first_id: -1, symbols: Vec::new(), starts, dims: Vec::new() })
    }

    /// The id of the symbol at a position of [`Self::symbols`].
    #[must_use]
    pub fn id(&self, position: usize) -> i64 {
        id_at(self.first_id, position)
    }

    /// The position of a symbol of this op.
    #[must_use]
    pub fn position(&self, id: i64) -> Option<usize> {
        usize::try_from(self.first_id - id).ok().filter(|position| *position < self.symbols.len())
    }

    /// The id that the next op of the bundle starts with.
    #[must_use]
    pub fn next_id(&self) -> i64 {
        self.id(self.symbols.len())
    }
}

/// Returns whether an operand moves in an enclosing loop.
#[must_use]
pub(crate) fn advances(operand: &Operand) -> bool {
    operand.tile_advance.iter().any(|elements| *elements != 0)
}

fn id_at(first_id: i64, position: usize) -> i64 {
    position.try_into().map_or(i64::MIN, |position: i64| first_id - position)
}

/// Returns the byte offset of each core's part, relative to the argument, to the pool, or in LX.
fn positions(geometry: &Geometry, operand: &Operand, tensor: &Tensor) -> Vec<i64> {
    let start = operand.allocation.offset_bytes();
    match operand.allocation {
        Allocation::Lx { .. } => (0..geometry.cores()).map(|_| start + tensor.format.bytes() * tensor.front).collect(),
        Allocation::Hbm { .. } | Allocation::Pool { .. } => {
            (0..geometry.cores()).map(|core| start + tensor.format.bytes() * geometry.start_element(tensor, core)).collect()
        }
    }
}

/// Returns the symbolic dimension along which a tensor is split.
fn symbolic_split(geometry: &Geometry, tensor: &Tensor) -> Option<Label> {
    let is_split = |label: Label| geometry.space.get(label).is_some_and(|dim| dim.symbolic.is_some() && dim.split > 1);
    tensor.dims.iter().find(|dim| dim.scale == Scale::Present && is_split(dim.label)).map(|dim| dim.label)
}

/// Checks that the advance of a moving tensor, whose single dimension is split, is along that dimension.
fn check_symbolic_tiling(index: usize, operand: &Operand, tensor: &Tensor, split: Option<Label>) -> Result<(), LaunchError> {
    let mut present = tensor.dims.iter().filter(|dim| dim.scale == Scale::Present);
    match (split, present.next(), present.next()) {
        (Some(label), Some(_), None) if advances(operand) => Err(LaunchError::SymbolicTiled { operand: index, label }),
        _ => Ok(()),
    }
}

fn check_lx(op: &OpSpec) -> Result<(), LaunchError> {
    for (operand, spec) in op.operands.iter().enumerate().filter(|(_, spec)| spec.allocation.is_lx()) {
        if let Some(elements) = spec.tile_advance.iter().copied().find(|elements| *elements != 0) {
            return Err(LaunchError::TiledLx { operand, elements });
        }
    }
    Ok(())
}

/// Key under which operands of one op share a symbol: the start of the address, and how it advances in loops.
type Key = (Spot, Course);

/// A byte in memory.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Spot {
    Argument(u32),
    Slice(u32, i64),
    Position(u32, i64),
    SplitCore { argument: u32, core: usize, position: i64 },
    Pool(i64),
}

/// Advance of an address in the loops around an op. A fixed address is identified by its byte alone, whatever is read
/// there. A moving address is that of a window: a file does not record strides, so a symbol shared by several windows
/// would be indistinguishable from a mistake.
#[derive(Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Course {
    /// Bytes per iteration of each loop, outermost first; empty for a fixed address.
    steps: Vec<i64>,
    /// The dimensions of the window, with their scales.
    dims: Vec<(Label, i64)>,
    /// Extent of the buffer beyond the window, by dimension.
    gaps: Vec<(Label, i64)>,
}

impl Course {
    fn of(operand: &Operand, tensor: &Tensor) -> Self {
        if !advances(operand) {
            return Self::default();
        }
        Self {
            steps: operand.tile_advance.iter().map(|elements| elements * tensor.format.bytes()).collect(),
            dims: tensor.dims.iter().map(|dim| (dim.label, dim.scale.value())).collect(),
            gaps: tensor.gaps.clone(),
        }
    }
}

/// The symbols of one op.
struct Table {
    first_id: i64,
    symbols: Vec<Symbol>,
    ids: BTreeMap<Key, i64>,
    /// Ids of arguments of which only parts are used so far.
    unused_bases: BTreeMap<u32, i64>,
}

impl Table {
    fn push(&mut self, symbol: Symbol) -> i64 {
        let id = id_at(self.first_id, self.symbols.len());
        self.symbols.push(symbol);
        id
    }

    fn id(&mut self, key: Key, symbol: Symbol) -> i64 {
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = match key.0 {
            Spot::Argument(argument) => self.unused_bases.remove(&argument),
            Spot::Slice(..) | Spot::Position(..) | Spot::SplitCore { .. } | Spot::Pool(_) => None,
        };
        let id = id.unwrap_or_else(|| self.push(symbol));
        self.ids.insert(key, id);
        id
    }

    /// Reserves an id for an argument, if it has none.
    fn reserve_base(&mut self, argument: u32) {
        let has_id = self.ids.keys().any(|(spot, _)| *spot == Spot::Argument(argument));
        if !has_id && !self.unused_bases.contains_key(&argument) {
            let id = self.push(Symbol::Argument { argument });
            self.unused_bases.insert(argument, id);
        }
    }

    /// Returns one symbol for each distinct size.
    fn dim_symbols(&mut self, op: &OpSpec) -> Vec<DimSymbol> {
        let mut seen: BTreeMap<&str, i64> = BTreeMap::new();
        let mut dims = Vec::new();
        for (dim, spec) in op.iteration_space.iter().enumerate() {
            if let Some(symbolic) = &spec.symbolic {
                let id = *seen.entry(&symbolic.symbol).or_insert_with(|| self.push(Symbol::Dim { dim }));
                dims.push(DimSymbol { dim, id });
            }
        }
        dims
    }

    /// Returns the ids of a tensor in a kernel argument. The argument has an id even if the tensor starts above its base.
    fn argument_ids(&mut self, argument: u32, positions: &[i64], is_symbolic_split: bool, course: &Course) -> Vec<i64> {
        let front = positions.first().copied().unwrap_or_default();
        let base = if front > 0 {
            self.reserve_base(argument);
            self.id((Spot::Slice(argument, front), course.clone()), Symbol::Slice { argument, front })
        } else {
            self.id((Spot::Argument(argument), course.clone()), Symbol::Argument { argument })
        };
        let id_of = |(core, &position): (usize, &i64)| {
            if position == front {
                return base;
            }
            let (spot, symbol) = if is_symbolic_split {
                (Spot::SplitCore { argument, core, position }, Symbol::SplitCore { value: i64::from(argument) + position })
            } else {
                (Spot::Position(argument, position), Symbol::Core { argument, front, displacement: position - front })
            };
            self.id((spot, course.clone()), symbol)
        };
        positions.iter().enumerate().map(id_of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bundle::testing::{dense, op};
    use crate::bundle::{Coordinate, SymbolicDim};

    fn add(split: i64) -> OpSpec {
        let mut add = op("add", &[128, 256], vec![dense(&[128, 256], 0, 1), dense(&[128, 256], 0, 1), dense(&[128, 256], 0, 1)]);
        add.iteration_space[0].split = split;
        for (operand, argument) in add.operands.iter_mut().zip(0..) {
            operand.allocation = Allocation::Hbm { argument, offset_bytes: 0 };
        }
        add
    }

    fn symbolic(op: &OpSpec) -> Addresses {
        Addresses::symbolic(op, &Geometry::new(op).unwrap(), -1).unwrap()
    }

    #[test]
    fn each_core_has_its_slice() {
        let addresses = symbolic(&add(2));
        assert_eq!(addresses.starts[1], Start::Symbolic(vec![-3, -4]));
        assert_eq!(addresses.symbols[3], Symbol::Core { argument: 1, front: 0, displacement: 8192 });
        assert_eq!(addresses.next_id(), -7);
    }

    #[test]
    fn operands_at_the_same_place_share_symbols() {
        let mut add = add(2);
        add.operands[1].allocation = add.operands[0].allocation;
        let addresses = symbolic(&add);
        assert_eq!(addresses.starts[0], addresses.starts[1]);
        assert_eq!(addresses.symbols.len(), 4);
    }

    /// The add of a matrix to itself, one operand of which moves by `steps` elements in each loop around it.
    fn add_to_itself(steps: [&[i64]; 2]) -> Addresses {
        let mut add = add(2);
        add.operands[1].allocation = add.operands[0].allocation;
        for (operand, steps) in add.operands.iter_mut().zip(steps) {
            operand.tile_advance = steps.to_vec();
        }
        symbolic(&add)
    }

    #[test]
    fn operands_that_part_in_a_loop_share_no_symbol() {
        for steps in [[&[64][..], &[0]], [&[0], &[64]], [&[64], &[]], [&[64], &[128]], [&[64, 0], &[0, 64]], [&[64, 64], &[64, 0]]] {
            let [first, second, _] = add_to_itself(steps).starts.try_into().unwrap();
            assert!(first.by_core().iter().all(|id| !second.by_core().contains(id)), "{steps:?}");
        }
        for steps in [[&[64][..], &[64]], [&[0], &[]], [&[0, 0], &[0]]] {
            let [first, second, _] = add_to_itself(steps).starts.try_into().unwrap();
            assert_eq!(first, second, "{steps:?}");
        }
    }

    #[test]
    fn windows_that_move_share_no_symbol() {
        let mut add = add(1);
        add.operands[1] = dense(&[128, 512], 0, 1);
        for operand in &mut add.operands[..2] {
            operand.allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };
            operand.tile_advance = vec![64];
        }
        let addresses = symbolic(&add);
        assert_ne!(addresses.starts[0], addresses.starts[1]);
    }

    #[test]
    fn an_argument_has_one_id_beside_those_that_move() {
        let mut add = add(1);
        add.operands[0] = dense(&[128, 512], 0, 1);
        add.operands[0].coordinates[0] = Coordinate::floordiv(1, 64).plus(1);
        add.operands[1].allocation = Allocation::Hbm { argument: 0, offset_bytes: 0 };
        add.operands[1].tile_advance = vec![64];
        // The base of the slice is the id that the operand at the base takes.
        assert_eq!(symbolic(&add).starts[..2], [Start::Symbolic(vec![-2]), Start::Symbolic(vec![-1])]);
    }

    #[test]
    fn a_slice_starts_above_its_argument() {
        let mut add = add(1);
        add.operands[0] = dense(&[128, 512], 0, 1);
        add.operands[0].coordinates[0] = Coordinate::floordiv(1, 64).plus(1);
        let addresses = symbolic(&add);
        assert_eq!(addresses.symbols[..2], [Symbol::Argument { argument: 0 }, Symbol::Slice { argument: 0, front: 16384 }]);
        assert_eq!(addresses.starts[0], Start::Symbolic(vec![-2]));
    }

    #[test]
    fn baked_arguments_have_a_segment_each() {
        let add = add(2);
        let geometry = Geometry::new(&add).unwrap();
        let map = MemoryMap { segment_bytes: 1 << 34, segments: 7, has_pool: true };
        let addresses = Addresses::baked(&add, &geometry, &map).unwrap();
        assert_eq!(addresses.starts[1], Start::Fixed(vec![2 << 34, (2 << 34) + 8192]));
        let full = MemoryMap { segments: 3, ..map };
        let error = Addresses::baked(&add, &geometry, &full).unwrap_err();
        assert_eq!(error, LaunchError::Segments { argument: 2, segment: 3, segments: 3 });
    }

    #[test]
    fn an_lx_tensor_cannot_advance() {
        let mut add = add(1);
        add.operands[0].allocation = Allocation::Lx { offset_bytes: 0 };
        add.operands[0].tile_advance = vec![0, 64];
        let error = Addresses::symbolic(&add, &Geometry::new(&add).unwrap(), -1).unwrap_err();
        assert_eq!(error, LaunchError::TiledLx { operand: 0, elements: 64 });
    }

    #[test]
    fn a_symbolic_size_has_the_first_id_and_its_slices_are_numbers() {
        let mut add = add(2);
        add.iteration_space[0].symbolic = Some(SymbolicDim { symbol: "s".to_owned(), max: 128, granularity: 2 });
        let addresses = symbolic(&add);
        assert_eq!(addresses.dims, [DimSymbol { dim: 0, id: -1 }]);
        assert_eq!(addresses.symbols[4], Symbol::SplitCore { value: 8193 });
    }
}
