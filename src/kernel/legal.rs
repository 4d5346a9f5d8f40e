//! Rules for moving ops into kernels: one predicate per rule, without IR. `docs/reference/kernels.md` has the table.
//!
//! The *levels* of a kernel are the loops that its hint scopes request, numbered from outside. The levels must tile a moved op in
//! the same way as the value between op and kernel; otherwise the op would get a loop of its own, and the value would go through
//! memory anyway.

use crate::codes;
use std::{collections::BTreeMap, fmt};

/// Rule that an edge violates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Code {
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
    /// Loops do not tile the producer's result as they tile the input.
    PMap,
    /// A tile of the producer's result does not fit into LX.
    PLx,
    /// The program is faster without the move.
    PCost,
    /// The consumer is neither elementwise nor a reduction or a product within a tile.
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
    /// Loops do not tile the consumer's operand as they tile the output.
    EMap,
    /// A tile of the consumer's result does not fit into LX.
    ELx,
    /// The program is faster without the move.
    ECost,
}

impl Code {
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

impl Code {
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

impl fmt::Display for Code {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Reason why an op does not move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Violated rule.
    pub code: Code,
    /// Message that says which rule is broken.
    pub message: String,
}

impl Refusal {
    /// Returns the refusal of a kernel that tiles the value between the kernels differently.
    #[must_use]
    pub fn of_other_loops() -> Self {
        Self { code: Code::EGrid, message: "the kernel tiles the value between the kernels in another way".to_owned() }
    }
}

fn refuse(code: Code, message: impl Into<String>) -> Result<(), Refusal> {
    Err(Refusal { code, message: message.into() })
}

/// Kind of an op next to a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// Applies one function to each element.
    Elementwise,
    /// Kernel that reads outputs of this one.
    Follows {
        /// Whether it runs in the loops in which this kernel computes these outputs.
        is_in_the_same_loops: bool,
    },
    /// Gather: selects some elements at each index of its result.
    Gathers,
    /// Constant.
    Constant,
    /// Reduction along these iteration dimensions.
    Reduces(Vec<usize>),
    /// Any other op, by its name.
    Other(String),
}

/// Op next to a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbour {
    /// Kind of the op.
    pub does: Does,
    /// Whether the op has its own hints or core split.
    pub has_wishes: bool,
    /// Whether it is in the block of the kernel.
    pub is_beside: bool,
    /// Bytes of one core's slice of a result tile.
    pub tile_bytes: i64,
    /// Bytes of one core's LX.
    pub lx_bytes: i64,
}

/// Dimension, with the level that tiles it.
pub type Cut = (usize, usize);

/// Op whose result a kernel reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prologue {
    /// The op itself.
    pub op: Neighbour,
    /// Number of reading ops other than the kernel that are not after the kernel in its block; those after it can read a result
    /// of the kernel.
    pub n_earlier_readers: usize,
    /// Whether the kernel writes into the result.
    pub is_written: bool,
    /// Whether a `spyre.loop` in the kernel reads the result.
    pub is_read_by_loop: bool,
    /// Kernel inputs that show the result.
    pub inputs: Vec<ShownInput>,
}

/// Kernel input that shows the result of an op.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ShownInput {
    /// For each dimension of the input, the dimension of the result that it indexes in full.
    pub dims: Vec<Option<usize>>,
    /// Dimensions of the input that levels tile.
    pub cuts: Vec<Cut>,
}

/// Op that reads outputs of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Epilogue {
    /// The op itself.
    pub op: Neighbour,
    /// Number of operands that are defined after the kernel.
    pub n_late_operands: usize,
    /// Number of the kernel's scopes that define its operands.
    pub n_scopes: usize,
    /// Kernel outputs that it reads, operand by operand.
    pub reads: Vec<ReadOutput>,
}

/// Operand that shows an output of a kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadOutput {
    /// For each dimension of the output's defining op, the iteration dimension of the reader that indexes all of it.
    pub dims: Vec<Option<usize>>,
    /// Dimensions of the defining op's result that loops tile, with the loop level.
    pub cuts: Vec<Cut>,
    /// Whether the first level of the defining op accumulates the output.
    pub is_summed_outside: bool,
    /// Whether the output is written in slices.
    pub is_in_parts: bool,
}

type Rule<E> = fn(&E) -> Result<(), Refusal>;

const PROLOGUE: [Rule<Prologue>; 8] = [p_kind, p_order, p_own, p_uses, p_tied, p_sites, p_map, p_lx];
const EPILOGUE: [Rule<Epilogue>; 8] = [e_kind, e_order, e_own, e_cover, e_acc, e_multi, e_map, e_lx];

impl Prologue {
    /// Checks whether the op may move into the kernel.
    ///
    /// # Errors
    /// Returns the first rule that it violates.
    pub fn check(&self) -> Result<(), Refusal> {
        // Constants are available everywhere.
        if self.op.does == Does::Constant { p_tied(self) } else { PROLOGUE.iter().try_for_each(|rule| rule(self)) }
    }
}

impl Epilogue {
    /// Checks whether the op may move into the kernel.
    ///
    /// # Errors
    /// Returns the first rule that it violates.
    pub fn check(&self) -> Result<(), Refusal> {
        EPILOGUE.iter().try_for_each(|rule| rule(self))
    }
}

fn p_kind(edge: &Prologue) -> Result<(), Refusal> {
    match &edge.op.does {
        Does::Elementwise | Does::Gathers | Does::Constant => Ok(()),
        Does::Follows { .. } => refuse(Code::PKind, "the op is a kernel"),
        Does::Reduces(_) => refuse(Code::PKind, "the op is a reduction, and each tile of the kernel needs its complete result"),
        Does::Other(name) => refuse(Code::PKind, format!("the op is '{name}'; only elementwise ops and gathers are fused before a kernel")),
    }
}

fn p_order(edge: &Prologue) -> Result<(), Refusal> {
    if edge.op.is_beside { Ok(()) } else { refuse(Code::POrder, "the op is in another scope than the kernel") }
}

fn p_own(edge: &Prologue) -> Result<(), Refusal> {
    if edge.op.has_wishes { refuse(Code::POwn, "the op has its own hints or core split") } else { Ok(()) }
}

fn p_uses(edge: &Prologue) -> Result<(), Refusal> {
    match edge.n_earlier_readers {
        0 => Ok(()),
        1 => refuse(Code::PUses, "the result has a use before the kernel"),
        others => refuse(Code::PUses, format!("the result has {others} uses before the kernel")),
    }
}

fn p_tied(edge: &Prologue) -> Result<(), Refusal> {
    if edge.is_written { refuse(Code::PTied, "the kernel writes into the buffer of the result") } else { Ok(()) }
}

fn p_sites(edge: &Prologue) -> Result<(), Refusal> {
    if edge.is_read_by_loop {
        return refuse(Code::PSites, "a user loop in the kernel reads the result tile by tile");
    }
    Ok(())
}

fn p_map(edge: &Prologue) -> Result<(), Refusal> {
    let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
    let mut dims: BTreeMap<usize, usize> = BTreeMap::new();
    for input in &edge.inputs {
        for &(dim, level) in &input.cuts {
            let Some(of_result) = input.dims[dim] else {
                return refuse(Code::PMap, format!("the kernel tiles dimension {dim} of a view, which is not a dimension of the result"));
            };
            if *levels.entry(of_result).or_insert(level) != level || *dims.entry(level).or_insert(of_result) != of_result {
                return refuse(Code::PMap, "the kernel reads the result twice, with different tiles");
            }
        }
    }
    // An input that is not tiled along a dimension needs its full extent, however another input is tiled.
    let is_cut_alike = |input: &ShownInput| input.cuts.len() == levels.len();
    if !edge.inputs.iter().all(is_cut_alike) {
        return refuse(Code::PMap, "the kernel reads the result twice, once in tiles and once whole");
    }
    Ok(())
}

fn p_lx(edge: &Prologue) -> Result<(), Refusal> {
    fits(&edge.op, Code::PLx)
}

fn fits(op: &Neighbour, code: Code) -> Result<(), Refusal> {
    if op.tile_bytes <= op.lx_bytes {
        return Ok(());
    }
    refuse(code, format!("tiles have {} bytes per core, and LX has {}", op.tile_bytes, op.lx_bytes))
}

fn e_kind(edge: &Epilogue) -> Result<(), Refusal> {
    let reduced = match &edge.op.does {
        Does::Elementwise | Does::Follows { is_in_the_same_loops: true } => return Ok(()),
        Does::Follows { is_in_the_same_loops: false } => return Err(Refusal::of_other_loops()),
        Does::Reduces(dims) => dims,
        Does::Constant => return refuse(Code::EKind, "the op is a constant"),
        Does::Gathers => return refuse(Code::EKind, "the op is a gather, which may read any tile"),
        Does::Other(name) => {
            return refuse(
                Code::EKind,
                format!("the op is '{name}'; only elementwise ops, reductions and matmuls are fused after a kernel"),
            );
        }
    };
    let is_cut = |read: &ReadOutput| read.cuts.iter().any(|(dim, _)| read.dims[*dim].is_some_and(|dim| reduced.contains(&dim)));
    if edge.reads.iter().any(is_cut) { refuse(Code::EKind, "the op reduces a dimension that the kernel tiles") } else { Ok(()) }
}

fn e_order(edge: &Epilogue) -> Result<(), Refusal> {
    match edge.n_late_operands {
        _ if !edge.op.is_beside => refuse(Code::EOrder, "the op is in another scope than the kernel"),
        0 => Ok(()),
        late => refuse(Code::EOrder, format!("the op reads {late} operands that are computed after the kernel")),
    }
}

fn e_own(edge: &Epilogue) -> Result<(), Refusal> {
    if edge.op.has_wishes { refuse(Code::EOwn, "the op has its own hints or core split") } else { Ok(()) }
}

fn e_cover(edge: &Epilogue) -> Result<(), Refusal> {
    let is_in_parts = edge.reads.iter().any(|read| read.is_in_parts);
    if is_in_parts { refuse(Code::ECover, "the kernel writes the output in slices") } else { Ok(()) }
}

fn e_acc(edge: &Epilogue) -> Result<(), Refusal> {
    if edge.reads.iter().any(|read| read.is_summed_outside) {
        return refuse(Code::EAcc, "the outermost loop of the kernel accumulates the output");
    }
    Ok(())
}

fn e_multi(edge: &Epilogue) -> Result<(), Refusal> {
    if edge.n_scopes > 1 {
        return refuse(Code::EMulti, format!("the op reads outputs of {} scopes of the kernel", edge.n_scopes));
    }
    Ok(())
}

fn e_map(edge: &Epilogue) -> Result<(), Refusal> {
    let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
    let mut dims: BTreeMap<usize, usize> = BTreeMap::new();
    for read in &edge.reads {
        for &(dim, level) in &read.cuts {
            let Some(of_reader) = read.dims[dim] else {
                return refuse(Code::EMap, format!("the op does not iterate over dimension {dim} of the output, which the kernel tiles"));
            };
            if *levels.entry(of_reader).or_insert(level) != level || *dims.entry(level).or_insert(of_reader) != of_reader {
                return refuse(Code::EMap, "the op reads outputs at two different indices");
            }
        }
    }
    Ok(())
}

fn e_lx(edge: &Epilogue) -> Result<(), Refusal> {
    fits(&edge.op, Code::ELx)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbour() -> Neighbour {
        Neighbour { does: Does::Elementwise, has_wishes: false, is_beside: true, tile_bytes: 128, lx_bytes: 1024 }
    }

    /// An input with two dimensions, the first of which the outermost level tiles.
    fn input() -> ShownInput {
        ShownInput { dims: vec![Some(0), Some(1)], cuts: vec![(0, 0)] }
    }

    fn prologue() -> Prologue {
        Prologue { op: neighbour(), n_earlier_readers: 0, is_written: false, is_read_by_loop: false, inputs: vec![input()] }
    }

    fn read() -> ReadOutput {
        ReadOutput { dims: vec![Some(0), Some(1)], cuts: vec![(0, 0)], is_summed_outside: false, is_in_parts: false }
    }

    fn epilogue() -> Epilogue {
        Epilogue { op: neighbour(), n_late_operands: 0, n_scopes: 1, reads: vec![read()] }
    }

    fn code_of(checked: Result<(), Refusal>) -> Option<Code> {
        checked.err().map(|refusal| refusal.code)
    }

    /// Each rule rejects its case, and accepts a similar legal case.
    #[test]
    fn prologues_are_refused_by_the_rule_that_they_break() {
        let with = |change: fn(&mut Prologue)| {
            let mut edge = prologue();
            change(&mut edge);
            code_of(edge.check())
        };
        assert_eq!(with(|_| ()), None);
        assert_eq!(with(|edge| edge.op.does = Does::Gathers), None);
        assert_eq!(with(|edge| edge.op.does = Does::Reduces(vec![1])), Some(Code::PKind));
        assert_eq!(with(|edge| edge.op.does = Does::Other("spyre.matmul".to_owned())), Some(Code::PKind));
        assert_eq!(with(|edge| edge.op.is_beside = false), Some(Code::POrder));
        assert_eq!(with(|edge| edge.op.has_wishes = true), Some(Code::POwn));
        assert_eq!(with(|edge| edge.n_earlier_readers = 1), Some(Code::PUses));
        assert_eq!(with(|edge| edge.is_written = true), Some(Code::PTied));
        assert_eq!(with(|edge| edge.is_read_by_loop = true), Some(Code::PSites));
        assert_eq!(with(|edge| edge.op.tile_bytes = 1025), Some(Code::PLx));
        assert_eq!(with(|edge| edge.op.tile_bytes = 1024), None);
        // Dimensions that the kernel does not tile may be viewed in any way; a tiled dimension must be a dimension of the result.
        assert_eq!(with(|edge| edge.inputs[0].dims[1] = None), None);
        assert_eq!(with(|edge| edge.inputs[0].dims[0] = None), Some(Code::PMap));
    }

    #[test]
    fn a_product_that_is_read_twice_is_cut_in_one_way() {
        let twice = |other: ShownInput| code_of(Prologue { inputs: vec![input(), other], ..prologue() }.check());
        assert_eq!(twice(input()), None);
        let turned = ShownInput { dims: vec![Some(1), Some(0)], cuts: vec![(1, 0)] };
        assert_eq!(twice(turned.clone()), None, "the view turns it, and the cut with it");
        assert_eq!(twice(ShownInput { cuts: vec![(0, 0)], ..turned }), Some(Code::PMap), "one level cuts two dimensions");
        assert_eq!(twice(ShownInput { cuts: vec![(0, 1)], ..input() }), Some(Code::PMap), "two levels cut one dimension");
        assert_eq!(twice(ShownInput { cuts: vec![], ..input() }), Some(Code::PMap), "as a whole");
    }

    #[test]
    fn what_is_known_moves_unless_it_is_written_into() {
        let known = |change: fn(&mut Prologue)| {
            let mut edge = Prologue { op: Neighbour { does: Does::Constant, ..neighbour() }, ..prologue() };
            change(&mut edge);
            code_of(edge.check())
        };
        assert_eq!(known(|edge| (edge.n_earlier_readers, edge.op.is_beside) = (3, false)), None);
        assert_eq!(known(|edge| edge.is_written = true), Some(Code::PTied));
    }

    #[test]
    fn epilogues_are_refused_by_the_rule_that_they_break() {
        let with = |change: fn(&mut Epilogue)| {
            let mut edge = epilogue();
            change(&mut edge);
            code_of(edge.check())
        };
        assert_eq!(with(|_| ()), None);
        assert_eq!(with(|edge| edge.op.does = Does::Other("spyre.matmul".to_owned())), Some(Code::EKind));
        assert_eq!(with(|edge| edge.op.does = Does::Gathers), Some(Code::EKind));
        assert_eq!(with(|edge| edge.op.does = Does::Constant), Some(Code::EKind));
        assert_eq!(with(|edge| edge.op.does = Does::Reduces(vec![0])), Some(Code::EKind));
        assert_eq!(with(|edge| edge.op.does = Does::Reduces(vec![1])), None, "a row is in one tile");
        assert_eq!(with(|edge| edge.op.is_beside = false), Some(Code::EOrder));
        assert_eq!(with(|edge| edge.n_late_operands = 1), Some(Code::EOrder));
        assert_eq!(with(|edge| edge.op.has_wishes = true), Some(Code::EOwn));
        assert_eq!(with(|edge| edge.reads[0].is_in_parts = true), Some(Code::ECover));
        assert_eq!(with(|edge| edge.reads[0].is_summed_outside = true), Some(Code::EAcc));
        assert_eq!(with(|edge| edge.n_scopes = 2), Some(Code::EMulti));
        assert_eq!(with(|edge| edge.op.tile_bytes = 1025), Some(Code::ELx));
        assert_eq!(with(|edge| edge.reads[0].dims[1] = None), None);
        assert_eq!(with(|edge| edge.reads[0].dims[0] = None), Some(Code::EMap));
    }

    #[test]
    fn two_outputs_are_read_at_one_index() {
        let twice = |other: ReadOutput| code_of(Epilogue { reads: vec![read(), other], ..epilogue() }.check());
        assert_eq!(twice(read()), None);
        assert_eq!(twice(ReadOutput { dims: vec![Some(1), Some(0)], ..read() }), Some(Code::EMap), "o + transposed o");
        assert_eq!(twice(ReadOutput { dims: vec![Some(0)], ..read() }), None, "outputs of different rank");
        // A column next to a matrix is not tiled along its width.
        assert_eq!(twice(ReadOutput { dims: vec![Some(1)], cuts: vec![], ..read() }), None);
    }
}
