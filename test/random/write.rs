//! The text of a program: its ops in hint scopes and called functions, or plainly one after the other.

use crate::{
    build::{Builder, list},
    choices::Choices,
};
use std::{collections::BTreeMap, fmt::Write as _, ops::Range};

/// What a range of ops stands in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Around {
    /// Names and counts, outermost first; names and slices over the cores.
    Hint { tiles: Vec<(String, usize)>, work: Vec<(String, usize)> },
    /// A function of its own.
    Call,
}

/// A range of ops with what is around it. Scopes are nested, and an outer one stands before the scopes in it.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) range: Range<usize>,
    pub(crate) around: Around,
}

impl Scope {
    fn nests_with(&self, other: &Self) -> bool {
        let holds = |outer: &Range<usize>, inner: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
        holds(&self.range, &other.range) && self.range != other.range
            || self.range.end <= other.range.start
            || other.range.end <= self.range.start
    }
}

/// Names of the values that can be seen.
type Visible = BTreeMap<usize, String>;

/// A module as it is written.
struct Writer<'a> {
    builder: &'a Builder,
    scopes: &'a [Scope],
    results: &'a [usize],
    functions: String,
}

/// The names of classes of dimensions.
pub(crate) fn name_of(builder: &Builder, class: usize) -> String {
    format!("N{}", builder.class(class))
}

/// Draws scopes whose names the ops in them have.
pub(crate) fn scopes(builder: &Builder, choices: &mut Choices) -> Vec<Scope> {
    let n_ops = builder.ops.len();
    let mut scopes: Vec<Scope> = Vec::new();
    for _ in 0..choices.below(4) {
        let start = choices.below(n_ops);
        let end = start + 1 + choices.below(n_ops - start);
        let around = if choices.one_in(5) { Around::Call } else { hint(builder, start..end, choices) };
        let scope = Scope { range: start..end, around };
        let is_empty = matches!(&scope.around, Around::Hint { tiles, work } if tiles.is_empty() && work.is_empty());
        if !is_empty && scopes.iter().all(|other| other.nests_with(&scope)) {
            scopes.push(scope);
        }
    }
    // Outer scopes first among those that begin together.
    scopes.sort_by_key(|scope| (scope.range.start, std::cmp::Reverse(scope.range.end)));
    scopes
}

fn hint(builder: &Builder, range: Range<usize>, choices: &mut Choices) -> Around {
    let mut dims: Vec<(String, usize)> = Vec::new();
    for op in &builder.ops[range] {
        for value in op.operands.iter().chain([&op.result]) {
            let value = &builder.values[*value];
            for (class, size) in value.classes.iter().zip(&value.shape) {
                let dim = (name_of(builder, *class), *size);
                if *size > 1 && !dims.contains(&dim) {
                    dims.push(dim);
                }
            }
        }
    }
    let (mut tiles, mut work) = (Vec::<(String, usize)>::new(), Vec::<(String, usize)>::new());
    if dims.is_empty() {
        return Around::Hint { tiles, work };
    }
    for _ in 0..1 + choices.below(2) {
        let (name, size) = choices.pick(&dims).clone();
        let count = count_of(size, choices);
        if count > 1 && tiles.iter().all(|(known, _)| *known != name) {
            tiles.push((name, count));
        }
    }
    if choices.one_in(6) {
        let (name, size) = choices.pick(&dims).clone();
        work.push((name, count_of(size, choices).clamp(1, 32)));
    }
    Around::Hint { tiles, work }
}

/// Mostly a divisor that leaves whole sticks, at times any, seldom a number that does not divide.
fn count_of(size: usize, choices: &mut Choices) -> usize {
    let whole: Vec<usize> = (2..=size).filter(|count| size.is_multiple_of(count * 64)).collect();
    let any: Vec<usize> = (2..=size.min(32)).filter(|count| size.is_multiple_of(*count)).collect();
    match choices.below(8) {
        0..=4 if !whole.is_empty() => *choices.pick(&whole),
        7 => 2 + choices.below(7),
        _ if !any.is_empty() => *choices.pick(&any),
        _ => 1,
    }
}

/// The module. Arguments carry names if `is_named`, but for some.
pub(crate) fn module(builder: &Builder, results: &[usize], scopes: &[Scope], nameless: &[usize], is_named: bool) -> String {
    let mut writer = Writer { builder, scopes, results, functions: String::new() };
    let mut visible = Visible::new();
    let mut arguments = Vec::new();
    for &value in &builder.arguments {
        visible.insert(value, format!("%v{value}"));
        let names = list(builder.values[value].classes.iter().map(|class| format!("{:?}", name_of(builder, *class))));
        let has_names = is_named && !nameless.contains(&value);
        let attribute = if has_names { format!(" {{spyre.dims = [{names}]}}") } else { String::new() };
        arguments.push(format!("%v{value}: {}{attribute}", builder.type_text(value)));
    }
    let types = writer.types_of(results);
    let mut text = format!("func.func @main({}) -> ({types}) {{\n", arguments.join(", "));
    let all: Vec<usize> = (0..scopes.len()).collect();
    writer.block(0..builder.ops.len(), &all, &mut visible, 1, &mut text);
    let names: Vec<&str> = results.iter().map(|value| visible[value].as_str()).collect();
    let _ = writeln!(text, "  return {} : {types}\n}}", names.join(", "));
    text + &writer.functions
}

impl Writer<'_> {
    fn types_of(&self, values: &[usize]) -> String {
        values.iter().map(|&value| self.builder.type_text(value)).collect::<Vec<_>>().join(", ")
    }

    /// Ops of a range, with the scopes of which these are left.
    fn block(&mut self, range: Range<usize>, scopes: &[usize], visible: &mut Visible, depth: usize, text: &mut String) {
        let mut op = range.start;
        let mut left = scopes;
        while op < range.end {
            let next = left.iter().position(|&scope| self.scopes[scope].range.start == op);
            let Some(position) = next else {
                self.op(op, visible, depth, text);
                op += 1;
                continue;
            };
            let scope = left[position];
            let end = self.scopes[scope].range.end;
            let inner: Vec<usize> = left[position + 1..].iter().copied().filter(|&inner| self.scopes[inner].range.end <= end).collect();
            self.scope(scope, &inner, visible, depth, text);
            left = &left[position + 1..];
            while left.first().is_some_and(|&next| self.scopes[next].range.start < end) {
                left = &left[1..];
            }
            op = end;
        }
    }

    fn scope(&mut self, scope: usize, inner: &[usize], visible: &mut Visible, depth: usize, text: &mut String) {
        let Scope { range, around } = self.scopes[scope].clone();
        let made = self.builder.ops[range.clone()].iter().map(|op| op.result);
        let given: Vec<usize> = made.filter(|&value| self.is_read(value, range.end)).collect();
        if given.is_empty() {
            return self.block(range, inner, visible, depth, text);
        }
        let names: Vec<String> = given.iter().map(|value| format!("%s{scope}_{value}")).collect();
        let indent = "  ".repeat(depth);
        match around {
            Around::Hint { tiles, work } => {
                let pairs = |pairs: &[(String, usize)]| list(pairs.iter().map(|(name, count)| format!("{name} = {count}")));
                let part =
                    |word: &str, of: &[(String, usize)]| if of.is_empty() { String::new() } else { format!(" {word}({})", pairs(of)) };
                let _ = writeln!(text, "{indent}{} = spyre.hint{}{} {{", names.join(", "), part("tiles", &tiles), part("work_div", &work));
                let mut inside = visible.clone();
                self.block(range, inner, &mut inside, depth + 1, text);
                let yielded: Vec<&str> = given.iter().map(|value| inside[value].as_str()).collect();
                let _ = writeln!(text, "{indent}  spyre.yield {} : {}\n{indent}}}", yielded.join(", "), self.types_of(&given));
            }
            Around::Call => {
                let reads = self.builder.ops[range.clone()].iter().flat_map(|op| op.operands.iter().copied());
                let mut taken: Vec<usize> = reads.filter(|value| visible.contains_key(value)).collect();
                taken.sort_unstable();
                taken.dedup();
                let (from, to) = (self.types_of(&taken), self.types_of(&given));
                let operands: Vec<&str> = taken.iter().map(|value| visible[value].as_str()).collect();
                let _ =
                    writeln!(text, "{indent}{} = func.call @part{scope}({}) : ({from}) -> ({to})", names.join(", "), operands.join(", "));
                let mut inside: Visible = taken.iter().map(|value| (*value, format!("%v{value}"))).collect();
                let parameters = list(taken.iter().map(|value| format!("%v{value}: {}", self.builder.type_text(*value))));
                let mut function = format!("func.func private @part{scope}({parameters}) -> ({to}) {{\n");
                self.block(range, inner, &mut inside, 1, &mut function);
                let returned: Vec<&str> = given.iter().map(|value| inside[value].as_str()).collect();
                let _ = writeln!(function, "  return {} : {to}\n}}", returned.join(", "));
                self.functions += &function;
            }
        }
        visible.extend(given.into_iter().zip(names));
    }

    /// Whether a value is read from op `from` on, or by the caller.
    fn is_read(&self, value: usize, from: usize) -> bool {
        self.results.contains(&value) || self.builder.ops[from..].iter().any(|op| op.operands.contains(&value))
    }

    fn op(&self, op: usize, visible: &mut Visible, depth: usize, text: &mut String) {
        let op = &self.builder.ops[op];
        let mut own = op.text.clone();
        for (position, operand) in op.operands.iter().enumerate() {
            own = own.replace(&format!("{{{position}}}"), &visible[operand]);
        }
        for line in own.lines() {
            let _ = writeln!(text, "{}{line}", "  ".repeat(depth));
        }
        visible.insert(op.result, format!("%v{}", op.result));
    }
}
