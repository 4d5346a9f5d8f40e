//! The text of a program: ops in nested hint scopes, or the same ops alone.

use std::{collections::BTreeMap, fmt::Write as _};

/// An op: its lines, with `{0}`, `{1}` for its operands.
#[derive(Clone, Debug)]
pub(crate) struct Op {
    pub(crate) operands: Vec<usize>,
    pub(crate) result: usize,
    pub(crate) text: String,
}

/// Ops from `start` to `end` that are to be tiled together.
#[derive(Clone, Debug)]
pub(crate) struct Scope {
    pub(crate) start: usize,
    pub(crate) end: usize,
    /// Names and counts, outermost first.
    pub(crate) tiles: Vec<(String, usize)>,
}

impl Scope {
    pub(crate) fn contains(&self, op: usize) -> bool {
        (self.start..self.end).contains(&op)
    }

    /// Whether one of both holds the other, or they have nothing in common.
    pub(crate) fn nests_with(&self, other: &Self) -> bool {
        let holds = |outer: &Self, inner: &Self| outer.start <= inner.start && inner.end <= outer.end;
        holds(self, other) || holds(other, self) || self.end <= other.start || other.end <= self.start
    }
}

/// What is written of a program. Scopes are nested, and an outer one stands before the scopes in it.
pub(crate) struct Text<'a> {
    pub(crate) ops: &'a [Op],
    pub(crate) scopes: &'a [Scope],
    /// The types of values, by number.
    pub(crate) types: &'a [String],
    /// The values that the function gives.
    pub(crate) results: &'a [usize],
}

/// Names of the values that can be seen.
type Visible = BTreeMap<usize, String>;

impl Text<'_> {
    /// The function, given its arguments' values and attributes.
    pub(crate) fn function(&self, arguments: &[(usize, String)]) -> String {
        let mut visible = Visible::new();
        let mut list = Vec::new();
        for (value, attributes) in arguments {
            visible.insert(*value, format!("%v{value}"));
            list.push(format!("%v{value}: {}{attributes}", self.types[*value]));
        }
        let types = self.types_of(self.results);
        let mut text = format!("func.func @main({}) -> ({types}) {{\n", list.join(", "));
        let all: Vec<usize> = (0..self.scopes.len()).collect();
        self.block(0..self.ops.len(), &all, &mut visible, 1, &mut text);
        let names: Vec<&str> = self.results.iter().map(|value| visible[value].as_str()).collect();
        let _ = writeln!(text, "  return {} : {types}\n}}", names.join(", "));
        text
    }

    fn types_of(&self, values: &[usize]) -> String {
        values.iter().map(|&value| self.types[value].as_str()).collect::<Vec<_>>().join(", ")
    }

    /// Ops of a range, with the scopes of which these are left.
    fn block(&self, range: std::ops::Range<usize>, scopes: &[usize], visible: &mut Visible, depth: usize, text: &mut String) {
        let mut op = range.start;
        while op < range.end {
            match scopes.iter().position(|&scope| self.scopes[scope].start == op) {
                Some(position) => {
                    let scope = scopes[position];
                    let end = self.scopes[scope].end;
                    let inner: Vec<usize> = scopes[position + 1..].iter().copied().filter(|&inner| self.scopes[inner].end <= end).collect();
                    self.scope(scope, &inner, visible, depth, text);
                    op = end;
                }
                None => {
                    self.op(op, visible, depth, text);
                    op += 1;
                }
            }
        }
    }

    fn scope(&self, scope: usize, inner: &[usize], visible: &mut Visible, depth: usize, text: &mut String) {
        let Scope { start, end, tiles } = &self.scopes[scope];
        let given: Vec<usize> = self.ops[*start..*end].iter().map(|op| op.result).filter(|&value| self.is_read(value, *end)).collect();
        let tiles: Vec<String> = tiles.iter().map(|(name, count)| format!("{name} = {count}")).collect();
        let names: Vec<String> = given.iter().map(|value| format!("%s{scope}_{value}")).collect();
        let indent = "  ".repeat(depth);
        let _ = writeln!(text, "{indent}{} = spyre.hint tiles({}) {{", names.join(", "), tiles.join(", "));
        let mut inside = visible.clone();
        self.block(*start..*end, inner, &mut inside, depth + 1, text);
        let yielded: Vec<&str> = given.iter().map(|value| inside[value].as_str()).collect();
        let _ = writeln!(text, "{indent}  spyre.yield {} : {}\n{indent}}}", yielded.join(", "), self.types_of(&given));
        visible.extend(given.into_iter().zip(names));
    }

    /// Whether a value is read from op `from` on, or by the caller.
    fn is_read(&self, value: usize, from: usize) -> bool {
        self.results.contains(&value) || self.ops[from..].iter().any(|op| op.operands.contains(&value))
    }

    fn op(&self, op: usize, visible: &mut Visible, depth: usize, text: &mut String) {
        let op = &self.ops[op];
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
