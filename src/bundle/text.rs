//! Prints a launch as the text of `bundle.mlir` ("SuperDSC schema, section 8"): tabs, and names as the reference emitter has them.

use super::launch::{AffineMap, Execute, Launch, Param, Stmt};
use super::name::Name;
use std::fmt::{self, Write};

impl fmt::Display for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, map) in self.maps.iter().enumerate() {
            writeln!(formatter, "#map_{number} = {map}")?;
        }
        formatter.write_str("module {\n\tfunc.func @sdsc_bundle(")?;
        separated(formatter, &self.params, |formatter, param| write!(formatter, "%{}: {}", param.name, ParamType(param)))?;
        formatter.write_str(") {\n")?;
        statements(formatter, &self.body, 2)?;
        formatter.write_str("\t\treturn\n\t}\n}\n")
    }
}

impl fmt::Display for AffineMap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("affine_map<(")?;
        let dims: Vec<_> = (0..self.strides.len()).collect();
        separated(formatter, &dims, |formatter, dim| write!(formatter, "d{dim}"))?;
        formatter.write_str(")[s0] -> (s0")?;
        for (dim, stride) in self.strides.iter().enumerate() {
            write!(formatter, " + {stride}*d{dim}")?;
        }
        formatter.write_str(")>")
    }
}

/// The type of a parameter.
struct ParamType<'a>(&'a Param);

impl fmt::Display for ParamType<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("!sdscbundle.input_arg<index")?;
        if let Some(bounds) = self.0.bounds {
            write!(formatter, ", granularity={}, max_value={}", bounds.granularity, bounds.max)?;
        }
        formatter.write_str(">")
    }
}

fn statements(formatter: &mut fmt::Formatter<'_>, body: &[Stmt], depth: usize) -> fmt::Result {
    body.iter().try_for_each(|statement| write_statement(formatter, statement, depth))
}

fn write_statement(formatter: &mut fmt::Formatter<'_>, statement: &Stmt, depth: usize) -> fmt::Result {
    indent(formatter, depth)?;
    match statement {
        Stmt::DeviceMemAllocate { name, bytes } => writeln!(formatter, "%{name} = sdscbundle.device_mem_allocate {bytes} bytes : index"),
        Stmt::InputArgExtract { param } => {
            let Param { name, value, bounds: _ } = param;
            writeln!(formatter, "%{value} = sdscbundle.input_arg_extract value from %{name} : {} -> index", ParamType(param))
        }
        Stmt::Constant { name, value } => writeln!(formatter, "%{name} = arith.constant {value} : index"),
        Stmt::AddI { name, lhs, rhs } => writeln!(formatter, "%{name} = arith.addi %{lhs}, %{rhs} : index"),
        Stmt::AffineApply { name, map, counters, base } => {
            write!(formatter, "%{name} = affine.apply #map_{map}(")?;
            values(formatter, counters)?;
            writeln!(formatter, ")[%{base}]")
        }
        Stmt::Execute(execute) => write_execute(formatter, execute),
        Stmt::For { counter, bound, body } => {
            writeln!(formatter, "scf.for %{counter} = %{} to %{bound} step %{} {{", Name::Zero, Name::One)?;
            statements(formatter, body, depth + 1)?;
            indent(formatter, depth)?;
            formatter.write_str("}\n")
        }
    }
}

fn write_execute(formatter: &mut fmt::Formatter<'_>, execute: &Execute) -> fmt::Result {
    formatter.write_str("sdscbundle.sdsc_execute (")?;
    values(formatter, &execute.operands)?;
    write!(formatter, ") {{sdsc_filename=\"{}\"", execute.filename())?;
    if let Some(ids) = &execute.symbol_ids {
        formatter.write_str(", \"symbol_ids\"=[")?;
        separated(formatter, ids, |formatter, id| write!(formatter, "{id}"))?;
        formatter.write_char(']')?;
    }
    formatter.write_str("}\n")
}

fn values(formatter: &mut fmt::Formatter<'_>, names: &[Name]) -> fmt::Result {
    separated(formatter, names, |formatter, name| write!(formatter, "%{name}"))
}

fn separated<T>(
    formatter: &mut fmt::Formatter<'_>,
    items: &[T],
    mut write_item: impl FnMut(&mut fmt::Formatter<'_>, &T) -> fmt::Result,
) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            formatter.write_str(", ")?;
        }
        write_item(formatter, item)?;
    }
    Ok(())
}

fn indent(formatter: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
    (0..depth).try_for_each(|_| formatter.write_char('\t'))
}
