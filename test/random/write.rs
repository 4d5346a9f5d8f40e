//! The text of a program: its ops in hint scopes and called functions, or plainly one after the other.

use crate::random::{
    build::{Builder, list},
    hints::{Around, Hints, Scope, name_of},
};
use std::{collections::BTreeMap, fmt::Write as _};

/// Names of the values that can be seen.
type Visible = BTreeMap<usize, String>;

/// A module as it is written.
struct Writer<'a> {
    builder: &'a Builder,
    scopes: &'a [Scope],
    results: &'a [usize],
    functions: String,
    /// Counts are written as names; this map records their values.
    bound: Option<Vec<String>>,
}

/// The module, and the values of the names of its counts.
pub(crate) fn module(builder: &Builder, results: &[usize], hints: &Hints) -> (String, Vec<String>) {
    let functions = builder.functions.clone();
    let mut writer = Writer { builder, scopes: &hints.scopes, results, functions, bound: hints.are_bound.then(Vec::new) };
    let mut visible = Visible::new();
    let mut arguments = Vec::new();
    for &value in &builder.arguments {
        visible.insert(value, format!("%v{value}"));
        let names = list(builder.values[value].classes.iter().map(|class| format!("{:?}", name_of(builder, *class))));
        let attribute = if hints.names_by_attribute(value) { format!(" {{spyre.dims = [{names}]}}") } else { String::new() };
        arguments.push(format!("%v{value}: {}{attribute}", builder.type_text(value)));
    }
    let types = writer.types_of(results);
    let mut text = format!("func.func @main({}) -> ({types}) {{\n", arguments.join(", "));
    let all: Vec<usize> = (0..hints.scopes.len()).collect();
    writer.block(0..builder.ops.len(), &all, &mut visible, 1, &mut text);
    let names: Vec<&str> = results.iter().map(|value| visible[value].as_str()).collect();
    let _ = writeln!(text, "  return {} : {types}\n}}", names.join(", "));
    (text + &writer.functions, writer.bound.unwrap_or_default())
}

impl Writer<'_> {
    fn types_of(&self, values: &[usize]) -> String {
        values.iter().map(|&value| self.builder.type_text(value)).collect::<Vec<_>>().join(", ")
    }

    /// Ops of a range, with the scopes of which these are left.
    fn block(&mut self, range: std::ops::Range<usize>, scopes: &[usize], visible: &mut Visible, depth: usize, text: &mut String) {
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
                let (tiles, work) = (self.pairs("tiles", &tiles, true), self.pairs("work_div", &work, false));
                let _ = writeln!(text, "{indent}{} = spyre.hint{tiles}{work} {{", names.join(", "));
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

    /// Names with their counts, which may be names themselves.
    fn pairs(&mut self, word: &str, pairs: &[(String, usize)], may_be_bound: bool) -> String {
        let written: Vec<String> = pairs
            .iter()
            .map(|(name, count)| match self.bound.as_mut().filter(|_| may_be_bound) {
                None => format!("{name} = {count}"),
                Some(bound) => {
                    let symbol = format!("T{}", bound.len());
                    bound.push(format!("{symbol}={count}"));
                    format!("{name} = {symbol}")
                }
            })
            .collect();
        if written.is_empty() { String::new() } else { format!(" {word}({})", written.join(", ")) }
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
