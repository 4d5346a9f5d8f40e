//! Generates hints: scopes around ops, and hints for the function by options.

use crate::random::{build::ProgramBuilder, choices::Choices};
use spyre_compiler::pipeline::CompileOptions;
use std::ops::Range;

/// Construct around a range of ops.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ScopeConstruct {
    /// Hint scope: names and tile counts, outermost first; names and slice counts over the cores.
    Hint { tiles: Vec<(String, usize)>, work: Vec<(String, usize)> },
    /// A separate function, which is called.
    Call,
}

/// A range of ops with the scopes around it. Scopes are nested, and an outer one precedes its inner ones.
#[derive(Clone, Debug)]
pub(crate) struct HintScope {
    pub(crate) range: Range<usize>,
    pub(crate) around: ScopeConstruct,
}

impl HintScope {
    fn nests_with(&self, other: &Self) -> bool {
        let holds = |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
        holds(&self.range, &other.range) && self.range != other.range
            || self.range.end <= other.range.start
            || other.range.end <= self.range.start
    }
}

/// All hints of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramHints {
    pub(crate) scopes: Vec<HintScope>,
    /// Hints for the function, outermost first.
    tiles: Vec<(String, usize)>,
    /// Arguments with named dimensions, by value number.
    named: Vec<usize>,
    /// Whether names come from the option `--dims`.
    are_options: bool,
    /// Whether counts are symbolic; the option `--bind` binds their names.
    pub(crate) are_bound: bool,
}

impl ProgramHints {
    pub(crate) fn names_by_attribute(&self, value: usize) -> bool {
        !self.are_options && self.named.contains(&value)
    }

    /// Draws hints for a program; the names of the program's dimensions limit the choice.
    pub(crate) fn draw(builder: &ProgramBuilder, choices: &mut Choices) -> Self {
        let named: Vec<usize> = builder.arguments.iter().copied().filter(|_| !choices.one_in(12)).collect();
        let mut hints = Self { named, are_options: choices.one_in(4), are_bound: choices.one_in(6), ..Self::default() };
        if choices.one_in(5)
            && let ScopeConstruct::Hint { tiles, .. } = draw_hint(builder, &hints.named, 0..builder.ops.len(), choices)
        {
            hints.tiles = tiles;
        }
        if hints.tiles.is_empty() || choices.one_in(3) {
            hints.scopes = draw_scopes(builder, &hints.named, choices);
        }
        hints
    }

    /// Tiles the function along the axis of a cascade, sometimes inside tiles of another dimension.
    pub(crate) fn draw_axis_tiling(builder: &ProgramBuilder, choices: &mut Choices) -> Self {
        let mut hints = Self { named: builder.arguments.clone(), are_bound: choices.one_in(6), ..Self::default() };
        let Some((class, size)) = builder.axis else { return hints };
        let stick = if builder.element == "f32" { 32 } else { 64 };
        let dim = NameableDim { name: class_name(builder, class), size, may_be_stick: true };
        let count = draw_count(&dim, stick, choices);
        if let (true, ScopeConstruct::Hint { tiles, .. }) =
            (choices.one_in(3), draw_hint(builder, &hints.named, 0..builder.ops.len(), choices))
        {
            hints.tiles = tiles.into_iter().filter(|(name, _)| *name != dim.name).collect();
        }
        if count > 1 {
            hints.tiles.push((dim.name, count));
        }
        hints
    }

    /// Draws called functions, without tiling hints.
    pub(crate) fn draw_calls(builder: &ProgramBuilder, choices: &mut Choices) -> Self {
        let start = choices.below(builder.ops.len());
        let end = start + 1 + choices.below(builder.ops.len() - start);
        Self { scopes: vec![HintScope { range: start..end, around: ScopeConstruct::Call }], ..Self::default() }
    }

    /// Records the hints of the options; `bound` maps the names of counts in the text to numbers.
    pub(crate) fn add_to_options(&self, builder: &ProgramBuilder, bound: &[String], options: &mut CompileOptions) {
        let mut bound = bound.to_vec();
        if !self.tiles.is_empty() {
            let count = |(name, count): &(String, usize)| {
                if !self.are_bound {
                    return format!("{name}={count}");
                }
                let symbol = format!("T{}", bound.len());
                bound.push(format!("{symbol}={count}"));
                format!("{name}={symbol}")
            };
            options.tiles = self.tiles.iter().map(count).map(|tile| tile.parse().unwrap()).collect();
        }
        if !bound.is_empty() {
            options.bind = bound.iter().map(|binding| binding.parse().unwrap()).collect();
        }
        if self.are_options {
            let names = |&value: &usize| {
                let position = builder.arguments.iter().position(|argument| *argument == value)?;
                let names: Vec<String> =
                    builder.values[value].classes.iter().map(|class| class_name(builder, *class)).collect();
                (!names.is_empty()).then(|| format!("{position}={}", names.join(":")))
            };
            options.dims = self.named.iter().filter_map(names).map(|names| names.parse().unwrap()).collect();
        }
    }
}

/// Returns the name of a class of dimensions.
pub(crate) fn class_name(builder: &ProgramBuilder, class: usize) -> String {
    format!("N{}", builder.class(class))
}

/// Draws scopes over dimensions that all of their ops have.
fn draw_scopes(builder: &ProgramBuilder, named: &[usize], choices: &mut Choices) -> Vec<HintScope> {
    let n_ops = builder.ops.len();
    let mut scopes: Vec<HintScope> = Vec::new();
    for _ in 0..1 + choices.below(4) {
        let start = choices.below(n_ops);
        let end = start + 1 + choices.below(n_ops - start);
        let around =
            if choices.one_in(6) { ScopeConstruct::Call } else { draw_hint(builder, named, start..end, choices) };
        let scope = HintScope { range: start..end, around };
        let is_empty =
            matches!(&scope.around, ScopeConstruct::Hint { tiles, work } if tiles.is_empty() && work.is_empty());
        if !is_empty && scopes.iter().all(|other| other.nests_with(&scope)) {
            scopes.push(scope);
        }
    }
    // Outer scopes first among those that begin together.
    scopes.sort_by_key(|scope| (scope.range.start, std::cmp::Reverse(scope.range.end)));
    scopes
}

/// A dimension that a hint may name.
#[derive(Clone, Debug, PartialEq)]
struct NameableDim {
    name: String,
    size: usize,
    /// Whether it is the last dimension of a tensor that an op of the range reads or writes.
    may_be_stick: bool,
}

fn draw_hint(builder: &ProgramBuilder, named: &[usize], range: Range<usize>, choices: &mut Choices) -> ScopeConstruct {
    let is_named = |class: usize| {
        let has = |&value: &usize| builder.values[value].classes.iter().any(|own| builder.class(*own) == class);
        named.iter().any(has)
    };
    let ops = &builder.ops[range];
    let is_last = |class: usize| ops.iter().any(|op| op.last.iter().any(|last| builder.class(*last) == class));
    let mut dims: Vec<NameableDim> = Vec::new();
    for &(class, size) in ops.iter().flat_map(|op| &op.dims) {
        let class = builder.class(class);
        let dim = NameableDim { name: class_name(builder, class), size, may_be_stick: is_last(class) };
        // Sometimes a name that no dimension has.
        if size > 1 && !dims.contains(&dim) && (is_named(class) || choices.one_in(30)) {
            dims.push(dim);
        }
    }
    let (mut tiles, mut work) = (Vec::<(String, usize)>::new(), Vec::<(String, usize)>::new());
    if dims.is_empty() {
        return ScopeConstruct::Hint { tiles, work };
    }
    let stick = if builder.element == "f32" { 32 } else { 64 };
    for _ in 0..1 + choices.below(2) {
        let dim = choices.pick(&dims).clone();
        let count = draw_count(&dim, stick, choices);
        if count > 1 && tiles.iter().all(|(known, _)| *known != dim.name) {
            tiles.push((dim.name, count));
        }
    }
    if choices.one_in(6) {
        let dim = choices.pick(&dims).clone();
        work.push((dim.name.clone(), draw_count(&dim, stick, choices).clamp(1, 32)));
    }
    ScopeConstruct::Hint { tiles, work }
}

/// Returns mostly a divisor that keeps sticks complete, if the dimension may be in sticks. Otherwise returns any
/// divisor, rarely a non-divisor.
fn draw_count(dim: &NameableDim, stick: usize, choices: &mut Choices) -> usize {
    let size = dim.size;
    let whole: Vec<usize> = (2..=size).filter(|count| size.is_multiple_of(count * stick)).collect();
    let any: Vec<usize> = (2..=size.min(32)).filter(|count| size.is_multiple_of(*count)).collect();
    match choices.below(12) {
        0..=7 if !whole.is_empty() => *choices.pick(&whole),
        11 => 2 + choices.below(7),
        0..=9 if dim.may_be_stick => 1,
        _ if !any.is_empty() => *choices.pick(&any),
        _ => 1,
    }
}
