//! Text of a program: its ops in hint scopes and called functions, or flat.

use crate::random::{
    build::{ProgramBuilder, join_list},
    hints::{HintScope, ProgramHints, ScopeConstruct, class_name},
};
use std::{collections::BTreeMap, fmt::Write as _};

/// Names of the visible values.
type VisibleNames = BTreeMap<usize, String>;

/// Writer of the text of a module.
struct ModuleTextWriter<'a> {
    builder: &'a ProgramBuilder,
    scopes: &'a [HintScope],
    results: &'a [usize],
    functions: String,
    /// Values of the counts that are written as names; `None` if counts are numbers.
    bound: Option<Vec<String>>,
}

/// Returns the module, and the values of its named counts.
pub(crate) fn write_module(builder: &ProgramBuilder, results: &[usize], hints: &ProgramHints) -> (String, Vec<String>) {
    let functions = builder.functions.clone();
    let mut writer =
        ModuleTextWriter { builder, scopes: &hints.scopes, results, functions, bound: hints.are_bound.then(Vec::new) };
    let mut visible = VisibleNames::new();
    let mut arguments = Vec::new();
    for &value in &builder.arguments {
        visible.insert(value, format!("%v{value}"));
        let names =
            join_list(builder.values[value].classes.iter().map(|class| format!("{:?}", class_name(builder, *class))));
        let attribute =
            if hints.names_by_attribute(value) { format!(" {{spyre.dims = [{names}]}}") } else { String::new() };
        arguments.push(format!("%v{value}: {}{attribute}", builder.type_text(value)));
    }
    let types = writer.types_text(results);
    let mut text = format!("func.func @main({}) -> ({types}) {{\n", arguments.join(", "));
    let all: Vec<usize> = (0..hints.scopes.len()).collect();
    writer.write_block(0..builder.ops.len(), &all, &mut visible, 1, &mut text);
    let names: Vec<&str> = results.iter().map(|value| visible[value].as_str()).collect();
    let _ = writeln!(text, "  return {} : {types}\n}}", names.join(", "));
    (text + &writer.functions, writer.bound.unwrap_or_default())
}

impl ModuleTextWriter<'_> {
    fn types_text(&self, values: &[usize]) -> String {
        values.iter().map(|&value| self.builder.type_text(value)).collect::<Vec<_>>().join(", ")
    }

    /// Writes the ops of a range; `scopes` are the remaining scopes in it.
    fn write_block(
        &mut self,
        range: std::ops::Range<usize>,
        scopes: &[usize],
        visible: &mut VisibleNames,
        depth: usize,
        text: &mut String,
    ) {
        let mut op = range.start;
        let mut left = scopes;
        while op < range.end {
            let next = left.iter().position(|&scope| self.scopes[scope].range.start == op);
            let Some(position) = next else {
                self.write_op(op, visible, depth, text);
                op += 1;
                continue;
            };
            let scope = left[position];
            let end = self.scopes[scope].range.end;
            let inner: Vec<usize> =
                left[position + 1..].iter().copied().filter(|&inner| self.scopes[inner].range.end <= end).collect();
            self.write_scope(scope, &inner, visible, depth, text);
            left = &left[position + 1..];
            while left.first().is_some_and(|&next| self.scopes[next].range.start < end) {
                left = &left[1..];
            }
            op = end;
        }
    }

    fn write_scope(
        &mut self,
        scope: usize,
        inner: &[usize],
        visible: &mut VisibleNames,
        depth: usize,
        text: &mut String,
    ) {
        let HintScope { range, around } = self.scopes[scope].clone();
        let made = self.builder.ops[range.clone()].iter().map(|op| op.result);
        let given: Vec<usize> = made.filter(|&value| self.is_read(value, range.end)).collect();
        if given.is_empty() {
            return self.write_block(range, inner, visible, depth, text);
        }
        let names: Vec<String> = given.iter().map(|value| format!("%s{scope}_{value}")).collect();
        let indent = "  ".repeat(depth);
        match around {
            ScopeConstruct::Hint { tiles, work } => {
                let (tiles, work) =
                    (self.format_pairs("tiles", &tiles, true), self.format_pairs("work_div", &work, false));
                let _ = writeln!(text, "{indent}{} = spyre.hint{tiles}{work} {{", names.join(", "));
                let mut inside = visible.clone();
                self.write_block(range, inner, &mut inside, depth + 1, text);
                let yielded: Vec<&str> = given.iter().map(|value| inside[value].as_str()).collect();
                let _ = writeln!(
                    text,
                    "{indent}  spyre.yield {} : {}\n{indent}}}",
                    yielded.join(", "),
                    self.types_text(&given)
                );
            }
            ScopeConstruct::Call => {
                let reads = self.builder.ops[range.clone()].iter().flat_map(|op| op.operands.iter().copied());
                let mut taken: Vec<usize> = reads.filter(|value| visible.contains_key(value)).collect();
                taken.sort_unstable();
                taken.dedup();
                let (from, to) = (self.types_text(&taken), self.types_text(&given));
                let operands: Vec<&str> = taken.iter().map(|value| visible[value].as_str()).collect();
                let _ = writeln!(
                    text,
                    "{indent}{} = func.call @part{scope}({}) : ({from}) -> ({to})",
                    names.join(", "),
                    operands.join(", ")
                );
                let mut inside: VisibleNames = taken.iter().map(|value| (*value, format!("%v{value}"))).collect();
                let parameters =
                    join_list(taken.iter().map(|value| format!("%v{value}: {}", self.builder.type_text(*value))));
                let mut function = format!("func.func private @part{scope}({parameters}) -> ({to}) {{\n");
                self.write_block(range, inner, &mut inside, 1, &mut function);
                let returned: Vec<&str> = given.iter().map(|value| inside[value].as_str()).collect();
                let _ = writeln!(function, "  return {} : {to}\n}}", returned.join(", "));
                self.functions += &function;
            }
        }
        visible.extend(given.into_iter().zip(names));
    }

    /// Formats names with their counts, which may be names themselves.
    fn format_pairs(&mut self, word: &str, pairs: &[(String, usize)], may_be_bound: bool) -> String {
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

    /// Returns whether a value is read from op `from` on, or by the caller.
    fn is_read(&self, value: usize, from: usize) -> bool {
        self.results.contains(&value) || self.builder.ops[from..].iter().any(|op| op.operands.contains(&value))
    }

    fn write_op(&self, op: usize, visible: &mut VisibleNames, depth: usize, text: &mut String) {
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
