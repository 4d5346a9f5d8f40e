//! Prints a bundle as the reference emitter does: tabs, one statement per line ("SuperDSC schema, section 8").

use super::{BundleText, Execute, ForLoop, Ident, LinearMap, MapRef, Param, ParamField, ParamType, Stmt, StmtKind};
use std::fmt::{self, Display, Formatter, Write};

impl<S: Display> Display for BundleText<S> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        for (name, map) in &self.maps {
            writeln!(formatter, "#{name} = {map}")?;
        }
        write!(formatter, "module {{\n\tfunc.func @{}(", self.function)?;
        write_separated(formatter, &self.params, |formatter, Param { name, kind }| {
            write!(formatter, "%{name}: {kind}")
        })?;
        formatter.write_str(") {\n")?;
        write_statements(formatter, &self.body, 2)?;
        formatter.write_str("\t\treturn\n\t}\n}\n")
    }
}

impl<S: Display> Display for Ident<S> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(formatter)
    }
}

impl Display for LinearMap {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str("affine_map<(")?;
        let names = |letter: char, factors: &[i64]| -> Vec<String> {
            (0..factors.len()).map(|index| format!("{letter}{index}")).collect()
        };
        let (dims, symbols) = (names('d', &self.dims), names('s', &self.symbols));
        write_separated(formatter, &dims, |formatter, name| formatter.write_str(name))?;
        formatter.write_char(')')?;
        if !symbols.is_empty() {
            formatter.write_char('[')?;
            write_separated(formatter, &symbols, |formatter, name| formatter.write_str(name))?;
            formatter.write_char(']')?;
        }
        let symbols = self.symbols.iter().zip(&symbols).map(|(factor, name)| match factor {
            1 => name.clone(),
            factor => format!("{factor}*{name}"),
        });
        let dims = self.dims.iter().zip(&dims).map(|(factor, name)| format!("{factor}*{name}"));
        let mut terms: Vec<String> = symbols.chain(dims).collect();
        if self.constant != 0 || terms.is_empty() {
            terms.push(self.constant.to_string());
        }
        write!(formatter, " -> ({})>", terms.join(" + "))
    }
}

impl Display for ParamType {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Self::InputArg { granularity, max } = self else { return formatter.write_str("index") };
        formatter.write_str("!sdscbundle.input_arg<index")?;
        for (name, bound) in [("granularity", granularity), ("max_value", max)] {
            if let Some(bound) = bound {
                write!(formatter, ", {name}={bound}")?;
            }
        }
        formatter.write_char('>')
    }
}

impl Display for ParamField {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Value => "value",
            Self::Granularity => "granularity",
            Self::Max => "max_value",
        })
    }
}

impl<S: Display> Display for MapRef<S> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Named(name) => write!(formatter, "#{name}"),
            Self::Inline(map) => map.fmt(formatter),
        }
    }
}

fn write_statements<S: Display>(formatter: &mut Formatter<'_>, body: &[Stmt<S>], depth: usize) -> fmt::Result {
    body.iter().try_for_each(|statement| write_statement(formatter, &statement.kind, depth))
}

fn write_statement<S: Display>(formatter: &mut Formatter<'_>, statement: &StmtKind<S>, depth: usize) -> fmt::Result {
    write_indent(formatter, depth)?;
    match statement {
        StmtKind::Allocate { result, bytes } => {
            writeln!(formatter, "%{result} = sdscbundle.device_mem_allocate {bytes} bytes : index")
        }
        StmtKind::Extract { result, field, parameter, parameter_type } => {
            writeln!(
                formatter,
                "%{result} = sdscbundle.input_arg_extract {field} from %{parameter} : {parameter_type} -> index"
            )
        }
        StmtKind::Constant { result, value } => writeln!(formatter, "%{result} = arith.constant {value} : index"),
        StmtKind::Add { result, operands: [left, right] } => {
            writeln!(formatter, "%{result} = arith.addi %{left}, %{right} : index")
        }
        StmtKind::Apply { result, map, dims, symbols } => {
            write!(formatter, "%{result} = affine.apply {map}(")?;
            write_values(formatter, dims)?;
            formatter.write_char(')')?;
            if !symbols.is_empty() {
                formatter.write_char('[')?;
                write_values(formatter, symbols)?;
                formatter.write_char(']')?;
            }
            formatter.write_char('\n')
        }
        StmtKind::Execute(execute) => write_execute(formatter, execute),
        StmtKind::For(ForLoop { counter, lower, upper, step, body }) => {
            writeln!(formatter, "scf.for %{counter} = %{lower} to %{upper} step %{step} {{")?;
            write_statements(formatter, body, depth + 1)?;
            write_indent(formatter, depth)?;
            formatter.write_str("}\n")
        }
    }
}

fn write_execute<S: Display>(formatter: &mut Formatter<'_>, execute: &Execute<S>) -> fmt::Result {
    formatter.write_str("sdscbundle.sdsc_execute (")?;
    write_values(formatter, &execute.operands)?;
    write!(formatter, ") {{sdsc_filename=\"{}\"", execute.file)?;
    if let Some(ids) = &execute.symbol_ids {
        formatter.write_str(", \"symbol_ids\"=[")?;
        write_separated(formatter, ids, |formatter, id| write!(formatter, "{id}"))?;
        formatter.write_char(']')?;
    }
    formatter.write_str("}\n")
}

fn write_values<S: Display>(formatter: &mut Formatter<'_>, names: &[Ident<S>]) -> fmt::Result {
    write_separated(formatter, names, |formatter, name| write!(formatter, "%{name}"))
}

fn write_separated<T>(
    formatter: &mut Formatter<'_>,
    items: &[T],
    mut write_item: impl FnMut(&mut Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            formatter.write_str(", ")?;
        }
        write_item(formatter, item)?;
    }
    Ok(())
}

fn write_indent(formatter: &mut Formatter<'_>, depth: usize) -> fmt::Result {
    (0..depth).try_for_each(|_| formatter.write_char('\t'))
}
