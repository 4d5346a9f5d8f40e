//! Rules for moving ops into kernels: one predicate per rule, without IR. `docs/reference/kernels.md` has the table.
//!
//! The *levels* of a kernel are the loops that its hint scopes request, numbered from outside. The levels must tile a
//! moved op in the same way as the value between op and kernel; otherwise the op would get a loop of its own, and the
//! value would go through HBM.

use crate::codes;
use std::{collections::BTreeMap, fmt};

/// Rule that an edge violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FusionRule {
    /// The producer is neither elementwise nor a gather.
    PKind,
    /// The producer is in another scope.
    POrder,
    /// The user has specified how the producer runs.
    POwn,
    /// Other ops read the producer's result before the kernel can yield it.
    PUses,
    /// The kernel writes into the input.
    PTied,
    /// A loop that the user wrote reads the input.
    PSites,
    /// The loops do not tile the producer's result in the same way as the input.
    PMap,
    /// A tile of the producer's result does not fit into LX.
    PLx,
    /// The program is faster without the move.
    PCost,
    /// The consumer is neither elementwise nor a reduction or a matmul within a tile.
    EKind,
    /// The consumer is a kernel with different loops.
    EGrid,
    /// The consumer is in another scope, or reads values that are defined after the kernel.
    EOrder,
    /// The user has specified how the consumer runs.
    EOwn,
    /// The output is written in slices.
    ECover,
    /// The outermost loop reduces the output.
    EAcc,
    /// The consumer reads outputs of several scopes.
    EMulti,
    /// The loops do not tile the consumer's operand in the same way as the output.
    EMap,
    /// A tile of the consumer's result does not fit into LX.
    ELx,
    /// The program is faster without the move.
    ECost,
}

impl FusionRule {
    /// Returns the spelling in messages and reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::PKind => "P-KIND",
            Self::POrder => "P-ORDER",
            Self::POwn => "P-OWN",
            Self::PUses => "P-USES",
            Self::PTied => "P-TIED",
            Self::PSites => "P-SITES",
            Self::PMap => "P-MAP",
            Self::PLx => "P-LX",
            Self::PCost => "P-COST",
            Self::EKind => "E-KIND",
            Self::EGrid => "E-GRID",
            Self::EOrder => "E-ORDER",
            Self::EOwn => "E-OWN",
            Self::ECover => "E-COVER",
            Self::EAcc => "E-ACC",
            Self::EMulti => "E-MULTI",
            Self::EMap => "E-MAP",
            Self::ELx => "E-LX",
            Self::ECost => "E-COST",
        }
    }
}

impl FusionRule {
    /// Returns the code of messages about this rule.
    #[must_use]
    pub const fn message_code(self) -> codes::Code {
        match self {
            Self::PKind => codes::P_KIND,
            Self::POrder => codes::P_ORDER,
            Self::POwn => codes::P_OWN,
            Self::PUses => codes::P_USES,
            Self::PTied => codes::P_TIED,
            Self::PSites => codes::P_SITES,
            Self::PMap => codes::P_MAP,
            Self::PLx => codes::P_LX,
            Self::PCost => codes::P_COST,
            Self::EKind => codes::E_KIND,
            Self::EGrid => codes::E_GRID,
            Self::EOrder => codes::E_ORDER,
            Self::EOwn => codes::E_OWN,
            Self::ECover => codes::E_COVER,
            Self::EAcc => codes::E_ACC,
            Self::EMulti => codes::E_MULTI,
            Self::EMap => codes::E_MAP,
            Self::ELx => codes::E_LX,
            Self::ECost => codes::E_COST,
        }
    }
}

impl fmt::Display for FusionRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Reason why an op does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FusionRejection {
    /// Violated rule.
    pub code: FusionRule,
    /// Message that states the violated rule.
    pub message: String,
}

impl FusionRejection {
    /// Returns the rejection of a kernel that tiles the value between the kernels differently.
    #[must_use]
    pub fn from_different_loops() -> Self {
        Self {
            code: FusionRule::EGrid,
            message: "the kernel tiles the value between the kernels in another way".to_owned(),
        }
    }
}

fn reject(code: FusionRule, message: impl Into<String>) -> Result<(), FusionRejection> {
    Err(FusionRejection { code, message: message.into() })
}

/// Kind of an op next to a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NeighborKind {
    /// Applies one function to each element.
    Elementwise,
    /// Kernel that reads outputs of this one.
    ConsumerKernel {
        /// Whether it runs in the loops in which this kernel computes these outputs.
        is_in_the_same_loops: bool,
    },
    /// Gather: selects some elements at each index of its result.
    Gather,
    /// Constant.
    Constant,
    /// Reduction along these iteration dimensions.
    Reduction(Vec<usize>),
    /// Any other op, by its name.
    Other(String),
}

/// Op next to a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelNeighbor {
    /// Kind of the op.
    pub kind: NeighborKind,
    /// Whether the op has its own hints or core split.
    pub has_hints: bool,
    /// Whether it is in the block of the kernel.
    pub is_in_kernel_block: bool,
    /// Bytes of one core's slice of a result tile.
    pub tile_bytes: i64,
    /// Bytes of one core's LX.
    pub lx_bytes: i64,
}

/// Dimension, with the level that tiles it.
pub type DimTiling = (usize, usize);

/// Op whose result a kernel reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prologue {
    /// The op itself.
    pub op: KernelNeighbor,
    /// Number of reading ops other than the kernel that are not after the kernel in its block; those after it can read
    /// a result of the kernel.
    pub num_earlier_readers: usize,
    /// Whether the kernel writes into the result.
    pub is_written: bool,
    /// Whether a `spyre.loop` in the kernel reads the result.
    pub is_read_by_loop: bool,
    /// Kernel inputs that view the result.
    pub inputs: Vec<ViewedInput>,
}

/// Kernel input that views the result of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ViewedInput {
    /// For each dimension of the input, the dimension of the result that it indexes in full.
    pub dims: Vec<Option<usize>>,
    /// Dimensions of the input that levels tile.
    pub cuts: Vec<DimTiling>,
}

/// Op that reads outputs of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epilogue {
    /// The op itself.
    pub op: KernelNeighbor,
    /// Number of operands that are defined after the kernel.
    pub num_late_operands: usize,
    /// Number of the kernel's scopes that define its operands.
    pub num_scopes: usize,
    /// Kernel outputs that it reads, operand by operand.
    pub reads: Vec<OutputUse>,
}

/// Operand that views an output of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputUse {
    /// For each dimension of the output's defining op, the iteration dimension of the reader that indexes all of it.
    pub dims: Vec<Option<usize>>,
    /// Dimensions of the defining op's result that loops tile, with the loop level.
    pub cuts: Vec<DimTiling>,
    /// Whether the first level of the defining op accumulates the output.
    pub is_summed_outside: bool,
    /// Whether the output is written in slices.
    pub is_in_parts: bool,
}

type RuleCheck<E> = fn(&E) -> Result<(), FusionRejection>;

const PROLOGUE_RULES: [RuleCheck<Prologue>; 8] =
    [check_p_kind, check_p_order, check_p_own, check_p_uses, check_p_tied, check_p_sites, check_p_map, check_p_lx];
const EPILOGUE_RULES: [RuleCheck<Epilogue>; 8] =
    [check_e_kind, check_e_order, check_e_own, check_e_cover, check_e_acc, check_e_multi, check_e_map, check_e_lx];

impl Prologue {
    /// Checks whether the op may move into the kernel.
    ///
    /// # Errors
    /// Returns the first rule that it violates.
    pub fn check(&self) -> Result<(), FusionRejection> {
        // Constants are available everywhere.
        if self.op.kind == NeighborKind::Constant {
            check_p_tied(self)
        } else {
            PROLOGUE_RULES.iter().try_for_each(|rule| rule(self))
        }
    }
}

impl Epilogue {
    /// Checks whether the op may move into the kernel.
    ///
    /// # Errors
    /// Returns the first rule that it violates.
    pub fn check(&self) -> Result<(), FusionRejection> {
        EPILOGUE_RULES.iter().try_for_each(|rule| rule(self))
    }
}

fn check_p_kind(edge: &Prologue) -> Result<(), FusionRejection> {
    match &edge.op.kind {
        NeighborKind::Elementwise | NeighborKind::Gather | NeighborKind::Constant => Ok(()),
        NeighborKind::ConsumerKernel { .. } => reject(FusionRule::PKind, "the op is a kernel"),
        NeighborKind::Reduction(_) => {
            reject(FusionRule::PKind, "the op is a reduction, and each tile of the kernel needs its complete result")
        }
        NeighborKind::Other(name) => reject(
            FusionRule::PKind,
            format!("the op is '{name}'; only elementwise ops and gathers are fused before a kernel"),
        ),
    }
}

fn check_p_order(edge: &Prologue) -> Result<(), FusionRejection> {
    if edge.op.is_in_kernel_block {
        Ok(())
    } else {
        reject(FusionRule::POrder, "the op is in another scope than the kernel")
    }
}

fn check_p_own(edge: &Prologue) -> Result<(), FusionRejection> {
    if edge.op.has_hints { reject(FusionRule::POwn, "the op has its own hints or core split") } else { Ok(()) }
}

fn check_p_uses(edge: &Prologue) -> Result<(), FusionRejection> {
    match edge.num_earlier_readers {
        0 => Ok(()),
        1 => reject(FusionRule::PUses, "the result has a use before the kernel"),
        others => reject(FusionRule::PUses, format!("the result has {others} uses before the kernel")),
    }
}

fn check_p_tied(edge: &Prologue) -> Result<(), FusionRejection> {
    if edge.is_written { reject(FusionRule::PTied, "the kernel writes into the buffer of the result") } else { Ok(()) }
}

fn check_p_sites(edge: &Prologue) -> Result<(), FusionRejection> {
    if edge.is_read_by_loop {
        return reject(FusionRule::PSites, "a user loop in the kernel reads the result tile by tile");
    }
    Ok(())
}

fn check_p_map(edge: &Prologue) -> Result<(), FusionRejection> {
    let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
    let mut dims: BTreeMap<usize, usize> = BTreeMap::new();
    for input in &edge.inputs {
        for &(dim, level) in &input.cuts {
            let Some(of_result) = input.dims[dim] else {
                return reject(
                    FusionRule::PMap,
                    format!("the kernel tiles dimension {dim} of a view, which is not a dimension of the result"),
                );
            };
            if *levels.entry(of_result).or_insert(level) != level
                || *dims.entry(level).or_insert(of_result) != of_result
            {
                return reject(FusionRule::PMap, "the kernel reads the result twice, with different tiles");
            }
        }
    }
    // An input that is not tiled along a dimension needs its full extent, however another input is tiled.
    let is_cut_alike = |input: &ViewedInput| input.cuts.len() == levels.len();
    if !edge.inputs.iter().all(is_cut_alike) {
        return reject(FusionRule::PMap, "the kernel reads the result twice, once in tiles and once whole");
    }
    Ok(())
}

fn check_p_lx(edge: &Prologue) -> Result<(), FusionRejection> {
    check_fits_lx(&edge.op, FusionRule::PLx)
}

fn check_fits_lx(op: &KernelNeighbor, code: FusionRule) -> Result<(), FusionRejection> {
    if op.tile_bytes <= op.lx_bytes {
        return Ok(());
    }
    reject(code, format!("tiles have {} bytes per core, and LX has {}", op.tile_bytes, op.lx_bytes))
}

fn check_e_kind(edge: &Epilogue) -> Result<(), FusionRejection> {
    let reduced = match &edge.op.kind {
        NeighborKind::Elementwise | NeighborKind::ConsumerKernel { is_in_the_same_loops: true } => return Ok(()),
        NeighborKind::ConsumerKernel { is_in_the_same_loops: false } => {
            return Err(FusionRejection::from_different_loops());
        }
        NeighborKind::Reduction(dims) => dims,
        NeighborKind::Constant => return reject(FusionRule::EKind, "the op is a constant"),
        NeighborKind::Gather => return reject(FusionRule::EKind, "the op is a gather, which may read any tile"),
        NeighborKind::Other(name) => {
            return reject(
                FusionRule::EKind,
                format!("the op is '{name}'; only elementwise ops, reductions and matmuls are fused after a kernel"),
            );
        }
    };
    let is_cut =
        |read: &OutputUse| read.cuts.iter().any(|(dim, _)| read.dims[*dim].is_some_and(|dim| reduced.contains(&dim)));
    if edge.reads.iter().any(is_cut) {
        reject(FusionRule::EKind, "the op reduces a dimension that the kernel tiles")
    } else {
        Ok(())
    }
}

fn check_e_order(edge: &Epilogue) -> Result<(), FusionRejection> {
    match edge.num_late_operands {
        _ if !edge.op.is_in_kernel_block => reject(FusionRule::EOrder, "the op is in another scope than the kernel"),
        0 => Ok(()),
        late => reject(FusionRule::EOrder, format!("the op reads {late} operands that are computed after the kernel")),
    }
}

fn check_e_own(edge: &Epilogue) -> Result<(), FusionRejection> {
    if edge.op.has_hints { reject(FusionRule::EOwn, "the op has its own hints or core split") } else { Ok(()) }
}

fn check_e_cover(edge: &Epilogue) -> Result<(), FusionRejection> {
    let is_in_parts = edge.reads.iter().any(|read| read.is_in_parts);
    if is_in_parts { reject(FusionRule::ECover, "the kernel writes the output in slices") } else { Ok(()) }
}

fn check_e_acc(edge: &Epilogue) -> Result<(), FusionRejection> {
    if edge.reads.iter().any(|read| read.is_summed_outside) {
        return reject(FusionRule::EAcc, "the outermost loop of the kernel accumulates the output");
    }
    Ok(())
}

fn check_e_multi(edge: &Epilogue) -> Result<(), FusionRejection> {
    if edge.num_scopes > 1 {
        return reject(FusionRule::EMulti, format!("the op reads outputs of {} scopes of the kernel", edge.num_scopes));
    }
    Ok(())
}

fn check_e_map(edge: &Epilogue) -> Result<(), FusionRejection> {
    let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
    let mut dims: BTreeMap<usize, usize> = BTreeMap::new();
    for read in &edge.reads {
        for &(dim, level) in &read.cuts {
            let Some(of_reader) = read.dims[dim] else {
                return reject(
                    FusionRule::EMap,
                    format!("the op does not iterate over dimension {dim} of the output, which the kernel tiles"),
                );
            };
            if *levels.entry(of_reader).or_insert(level) != level
                || *dims.entry(level).or_insert(of_reader) != of_reader
            {
                return reject(FusionRule::EMap, "the op reads outputs at two different indices");
            }
        }
    }
    Ok(())
}

fn check_e_lx(edge: &Epilogue) -> Result<(), FusionRejection> {
    check_fits_lx(&edge.op, FusionRule::ELx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_neighbor() -> KernelNeighbor {
        KernelNeighbor {
            kind: NeighborKind::Elementwise,
            has_hints: false,
            is_in_kernel_block: true,
            tile_bytes: 128,
            lx_bytes: 1024,
        }
    }

    /// Returns an input with two dimensions, the first of which the outermost level tiles.
    fn make_input() -> ViewedInput {
        ViewedInput { dims: vec![Some(0), Some(1)], cuts: vec![(0, 0)] }
    }

    fn make_prologue() -> Prologue {
        Prologue {
            op: make_neighbor(),
            num_earlier_readers: 0,
            is_written: false,
            is_read_by_loop: false,
            inputs: vec![make_input()],
        }
    }

    fn make_output_use() -> OutputUse {
        OutputUse { dims: vec![Some(0), Some(1)], cuts: vec![(0, 0)], is_summed_outside: false, is_in_parts: false }
    }

    fn make_epilogue() -> Epilogue {
        Epilogue { op: make_neighbor(), num_late_operands: 0, num_scopes: 1, reads: vec![make_output_use()] }
    }

    fn violated_rule(checked: Result<(), FusionRejection>) -> Option<FusionRule> {
        checked.err().map(|rejection| rejection.code)
    }

    /// Each rule rejects its case, and accepts a similar legal case.
    #[test]
    fn rejects_prologues_by_the_violated_rule() {
        let with = |change: fn(&mut Prologue)| {
            let mut edge = make_prologue();
            change(&mut edge);
            violated_rule(edge.check())
        };
        assert_eq!(with(|_| ()), None);
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Gather), None);
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Reduction(vec![1])), Some(FusionRule::PKind));
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Other("spyre.matmul".to_owned())), Some(FusionRule::PKind));
        assert_eq!(with(|edge| edge.op.is_in_kernel_block = false), Some(FusionRule::POrder));
        assert_eq!(with(|edge| edge.op.has_hints = true), Some(FusionRule::POwn));
        assert_eq!(with(|edge| edge.num_earlier_readers = 1), Some(FusionRule::PUses));
        assert_eq!(with(|edge| edge.is_written = true), Some(FusionRule::PTied));
        assert_eq!(with(|edge| edge.is_read_by_loop = true), Some(FusionRule::PSites));
        assert_eq!(with(|edge| edge.op.tile_bytes = 1025), Some(FusionRule::PLx));
        assert_eq!(with(|edge| edge.op.tile_bytes = 1024), None);
        // Dimensions that the kernel does not tile may be viewed in any way; a tiled dimension must be a dimension of
        // the result.
        assert_eq!(with(|edge| edge.inputs[0].dims[1] = None), None);
        assert_eq!(with(|edge| edge.inputs[0].dims[0] = None), Some(FusionRule::PMap));
    }

    #[test]
    fn requires_one_tiling_of_a_result_that_is_read_twice() {
        let twice = |other: ViewedInput| {
            violated_rule(Prologue { inputs: vec![make_input(), other], ..make_prologue() }.check())
        };
        assert_eq!(twice(make_input()), None);
        let turned = ViewedInput { dims: vec![Some(1), Some(0)], cuts: vec![(1, 0)] };
        assert_eq!(twice(turned.clone()), None, "the view turns it, and the cut with it");
        assert_eq!(
            twice(ViewedInput { cuts: vec![(0, 0)], ..turned }),
            Some(FusionRule::PMap),
            "one level cuts two dimensions"
        );
        assert_eq!(
            twice(ViewedInput { cuts: vec![(0, 1)], ..make_input() }),
            Some(FusionRule::PMap),
            "two levels cut one dimension"
        );
        assert_eq!(twice(ViewedInput { cuts: vec![], ..make_input() }), Some(FusionRule::PMap), "as a whole");
    }

    #[test]
    fn fuses_constants_that_are_not_written() {
        let known = |change: fn(&mut Prologue)| {
            let mut edge =
                Prologue { op: KernelNeighbor { kind: NeighborKind::Constant, ..make_neighbor() }, ..make_prologue() };
            change(&mut edge);
            violated_rule(edge.check())
        };
        assert_eq!(known(|edge| (edge.num_earlier_readers, edge.op.is_in_kernel_block) = (3, false)), None);
        assert_eq!(known(|edge| edge.is_written = true), Some(FusionRule::PTied));
    }

    #[test]
    fn rejects_epilogues_by_the_violated_rule() {
        let with = |change: fn(&mut Epilogue)| {
            let mut edge = make_epilogue();
            change(&mut edge);
            violated_rule(edge.check())
        };
        assert_eq!(with(|_| ()), None);
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Other("spyre.matmul".to_owned())), Some(FusionRule::EKind));
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Gather), Some(FusionRule::EKind));
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Constant), Some(FusionRule::EKind));
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Reduction(vec![0])), Some(FusionRule::EKind));
        assert_eq!(with(|edge| edge.op.kind = NeighborKind::Reduction(vec![1])), None, "a row is in one tile");
        assert_eq!(with(|edge| edge.op.is_in_kernel_block = false), Some(FusionRule::EOrder));
        assert_eq!(with(|edge| edge.num_late_operands = 1), Some(FusionRule::EOrder));
        assert_eq!(with(|edge| edge.op.has_hints = true), Some(FusionRule::EOwn));
        assert_eq!(with(|edge| edge.reads[0].is_in_parts = true), Some(FusionRule::ECover));
        assert_eq!(with(|edge| edge.reads[0].is_summed_outside = true), Some(FusionRule::EAcc));
        assert_eq!(with(|edge| edge.num_scopes = 2), Some(FusionRule::EMulti));
        assert_eq!(with(|edge| edge.op.tile_bytes = 1025), Some(FusionRule::ELx));
        assert_eq!(with(|edge| edge.reads[0].dims[1] = None), None);
        assert_eq!(with(|edge| edge.reads[0].dims[0] = None), Some(FusionRule::EMap));
    }

    #[test]
    fn requires_one_index_for_several_outputs() {
        let twice = |other: OutputUse| {
            violated_rule(Epilogue { reads: vec![make_output_use(), other], ..make_epilogue() }.check())
        };
        assert_eq!(twice(make_output_use()), None);
        assert_eq!(
            twice(OutputUse { dims: vec![Some(1), Some(0)], ..make_output_use() }),
            Some(FusionRule::EMap),
            "o + transposed o"
        );
        assert_eq!(twice(OutputUse { dims: vec![Some(0)], ..make_output_use() }), None, "outputs of different rank");
        // A column next to a matrix is not tiled along its width.
        assert_eq!(twice(OutputUse { dims: vec![Some(1)], cuts: vec![], ..make_output_use() }), None);
    }
}
