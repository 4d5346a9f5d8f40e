//! Random tiled programs: what they are made of, and what they compute.
//!
//! A program is the interpretation of a recipe of plain choices, so that a failing recipe can be made smaller piece by piece. What the
//! choices give is computed on the way, in plain Rust: an op whose numbers would be rounded is left out.

use crate::{
    array::Array,
    build::{Builder, STICK},
    write::{Op, Scope, Text},
};
use proptest::{
    collection::vec,
    prelude::*,
    sample::{Index, select},
};

const MOST_OPS: usize = 12;

/// Sizes that a stick can be cut from, and others.
const WIDE_SIZES: [usize; 6] = [64, 64, 128, 128, 192, 256];
const SMALL_SIZES: [usize; 10] = [1, 2, 2, 3, 4, 4, 6, 8, 16, 32];

/// The most iterations of all loops around an op.
const MOST_ITERATIONS: usize = 48;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Action {
    Unary(&'static str),
    Binary(&'static str),
    Reduce(&'static str),
    Matmul,
    Transpose,
    Merge,
    Split,
    Slice,
}

const ACTIONS: [Action; 32] = [
    Action::Unary("neg"),
    Action::Unary("abs"),
    Action::Unary("relu"),
    Action::Unary("half"),
    Action::Unary("next"),
    Action::Binary("add"),
    Action::Binary("add"),
    Action::Binary("add"),
    Action::Binary("sub"),
    Action::Binary("sub"),
    Action::Binary("mul"),
    Action::Binary("mul"),
    Action::Binary("mul"),
    Action::Binary("max"),
    Action::Binary("min"),
    Action::Reduce("sum"),
    Action::Reduce("sum"),
    Action::Reduce("sum"),
    Action::Reduce("max"),
    Action::Reduce("max"),
    Action::Reduce("min"),
    Action::Reduce("mean"),
    Action::Reduce("mean"),
    Action::Reduce("prod"),
    Action::Matmul,
    Action::Matmul,
    Action::Matmul,
    Action::Matmul,
    Action::Transpose,
    Action::Merge,
    Action::Split,
    Action::Slice,
];

/// One op; what the choices pick from depends on the program so far.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) action: Action,
    pub(crate) operand: Index,
    pub(crate) other: Index,
    pub(crate) axis: Index,
    pub(crate) order: Index,
    pub(crate) flag: bool,
}

/// A hint scope around some of the ops.
#[derive(Clone, Debug)]
struct Around {
    start: Index,
    length: Index,
    tiles: Vec<(Index, Index, bool)>,
}

/// The choices behind a program.
#[derive(Clone, Debug)]
pub(crate) struct Recipe {
    wide: [usize; 2],
    small: [usize; 3],
    first: (Index, Index),
    steps: Vec<Step>,
    scopes: Vec<Around>,
    seed: u64,
}

pub(crate) fn recipes() -> impl Strategy<Value = Recipe> {
    let wide = [select(&WIDE_SIZES[..]), select(&WIDE_SIZES[..])];
    let small = [select(&SMALL_SIZES[..]), select(&SMALL_SIZES[..]), select(&SMALL_SIZES[..])];
    let first = (any::<Index>(), any::<Index>());
    let content = (vec(step(), 1..=MOST_OPS), vec(around(), 1..5));
    (wide, small, first, content, any::<u64>()).prop_map(|(wide, small, first, (steps, scopes), seed)| Recipe {
        wide,
        small,
        first,
        steps,
        scopes,
        seed,
    })
}

fn step() -> impl Strategy<Value = Step> {
    let choices = (select(&ACTIONS[..]), any::<Index>(), any::<Index>(), any::<Index>(), any::<Index>(), any::<bool>());
    choices.prop_map(|(action, operand, other, axis, order, flag)| Step { action, operand, other, axis, order, flag })
}

fn around() -> impl Strategy<Value = Around> {
    let tile = (any::<Index>(), any::<Index>(), prop::bool::weighted(0.1));
    (any::<Index>(), any::<Index>(), vec(tile, 1..3)).prop_map(|(start, length, tiles)| Around { start, length, tiles })
}

/// What a program is known to have in its loops.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Features {
    /// A loop of more than one iteration.
    pub(crate) loops: bool,
    /// A loop in a loop.
    pub(crate) nests: bool,
    /// A reduction whose reduced dimension is cut.
    pub(crate) split_reductions: bool,
    /// A matrix product whose contracted dimension is cut.
    pub(crate) split_matmuls: bool,
    /// A view in a scope.
    pub(crate) views: bool,
}

/// A program with its inputs and results.
pub(crate) struct Program {
    pub(crate) text: String,
    /// The same without scopes.
    pub(crate) reference: String,
    pub(crate) inputs: Vec<Array>,
    pub(crate) results: Vec<Array>,
    pub(crate) features: Features,
}

/// An op with what its loops are about.
pub(crate) struct TiledOp {
    pub(crate) op: Op,
    pub(crate) is_view: bool,
    pub(crate) is_matmul: bool,
    /// The named dimensions that it goes over, with their sizes, and whether it reduces them.
    pub(crate) dims: Vec<(String, usize, bool)>,
    /// The names of its tensors' last dimensions, along which sticks lie for the most part.
    pub(crate) last: Vec<String>,
}

impl Recipe {
    pub(crate) fn program(&self) -> Program {
        let sizes = [&self.wide[..], &self.small[..]].concat();
        let mut builder = Builder::new(&sizes, self.seed);
        builder.first_argument(self.first.0, self.first.1);
        self.steps.iter().for_each(|step| builder.step(step));
        if builder.ops.is_empty() {
            builder.unary("neg", 0);
        }
        let scopes = self.scopes(&builder.ops);
        let features = features(&builder.ops, &scopes);
        let results = builder.unread();
        let ops: Vec<Op> = builder.ops.iter().map(|op| op.op.clone()).collect();
        let types: Vec<String> = builder.values.iter().map(|value| value.type_text()).collect();
        let text = |scopes: &[Scope]| {
            let attribute = |value: usize| if scopes.is_empty() { String::new() } else { builder.names_text(value) };
            let arguments: Vec<(usize, String)> = builder.arguments.iter().map(|&value| (value, attribute(value))).collect();
            Text { ops: &ops, scopes, types: &types, results: &results }.function(&arguments)
        };
        let arrays = |values: &[usize]| values.iter().map(|&value| builder.values[value].array.clone()).collect();
        Program { text: text(&scopes), reference: text(&[]), inputs: arrays(&builder.arguments), results: arrays(&results), features }
    }

    /// Scopes that nest, outermost first, with counts that divide.
    fn scopes(&self, ops: &[TiledOp]) -> Vec<Scope> {
        let mut ranges: Vec<(Scope, &Around)> = Vec::new();
        for around in &self.scopes {
            let start = around.start.index(ops.len());
            let end = start + 1 + around.length.index(ops.len() - start);
            let scope = Scope { start, end, tiles: vec![] };
            let is_new = ranges.iter().all(|(other, _)| scope.nests_with(other) && (scope.start, scope.end) != (other.start, other.end));
            if is_new {
                ranges.push((scope, around));
            }
        }
        ranges.sort_by_key(|(scope, _)| (scope.start, usize::MAX - scope.end));
        let mut scopes: Vec<Scope> = Vec::new();
        for (mut scope, around) in ranges {
            for choice in &around.tiles {
                if let Some(tile) = tile(ops, &scopes, &scope, choice) {
                    scope.tiles.push(tile);
                }
            }
            if !scope.tiles.is_empty() {
                scopes.push(scope);
            }
        }
        scopes
    }
}

/// A name that some op of a scope has and the scope does not cut yet, and a count that divides what is left of it.
fn tile(ops: &[TiledOp], outer: &[Scope], scope: &Scope, (dim, count, is_any): &(Index, Index, bool)) -> Option<(String, usize)> {
    let mut names: Vec<(&str, usize)> =
        ops[scope.start..scope.end].iter().flat_map(|op| &op.dims).map(|(name, size, _)| (name.as_str(), *size)).collect();
    names.retain(|(name, _)| scope.tiles.iter().all(|(known, _)| known != name));
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return None;
    }
    let (name, size) = *dim.get(&names);
    let around = || outer.iter().filter(|outer| outer.contains(scope.start)).chain([scope]).flat_map(|scope| &scope.tiles);
    let cut: usize = around().filter(|(known, _)| known == name).map(|(_, count)| count).product();
    let iterations: usize = around().map(|(_, count)| count).product();
    let size = size / cut;
    // A tile of a dimension that may be a stick's has whole sticks, but for a few.
    let may_be_stick = !is_any && ops[scope.start..scope.end].iter().any(|op| op.last.iter().any(|last| last == name));
    let unit = if !is_any && size.is_multiple_of(STICK) {
        STICK
    } else if may_be_stick {
        size
    } else {
        1
    };
    let counts: Vec<usize> =
        (1..=size / unit).filter(|count| size.is_multiple_of(count * unit) && iterations * count <= MOST_ITERATIONS).collect();
    // One tile is rarely of interest.
    let several: Vec<usize> = counts.iter().copied().filter(|count| *count > 1).collect();
    let counts = if several.is_empty() || count.index(16) == 0 { counts } else { several };
    (!counts.is_empty()).then(|| (name.to_owned(), *count.get(&counts)))
}

fn features(ops: &[TiledOp], scopes: &[Scope]) -> Features {
    let mut features = Features::default();
    for (position, op) in ops.iter().enumerate() {
        let around: Vec<&Scope> = scopes.iter().filter(|scope| scope.contains(position)).collect();
        features.views |= op.is_view && !around.is_empty();
        let tiles = || around.iter().flat_map(|scope| &scope.tiles).filter(|(_, count)| *count > 1);
        let cut = op.dims.iter().filter(|(name, ..)| tiles().any(|(tiled, _)| tiled == name));
        features.loops |= cut.clone().count() > 0;
        features.nests |= cut.clone().count() > 1;
        let is_split = cut.clone().any(|(.., is_reduced)| *is_reduced);
        features.split_reductions |= is_split && !op.is_matmul;
        features.split_matmuls |= is_split && op.is_matmul;
    }
    features
}
