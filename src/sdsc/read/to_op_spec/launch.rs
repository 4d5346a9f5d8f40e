//! The launch that a `bundle.mlir` describes.

use super::ReadError;
use crate::launch::Launch;
use crate::launch::name::Name;
use crate::launch::{AffineMap, Execute, Param, SizeBounds, Stmt};
use sdsc_format::bundle_text::{self, BundleText, Field, Ident, MapRef, ParamType, StmtKind};

/// The launch of the text of a `bundle.mlir`; its [`Launch::first_symbol_ids`] are not read.
///
/// # Errors
///
/// When the text is no bundle, or has values or statements that the emitter does not write.
pub fn to_launch(text: &str) -> Result<Launch, ReadError> {
    let text = bundle_text::parse(text).map_err(|error| ReadError::launch(format!("{}: {}", error.at, error.message)))?;
    let params = text.params.iter().map(|param| param_of(&text, param.name)).collect::<Result<_, _>>()?;
    let maps = text.maps.iter().map(|(_, map)| AffineMap { strides: map.dims.clone() }).collect();
    Ok(Launch { maps, params, body: statements(&text, &text.body)?, first_symbol_ids: vec![] })
}

fn name(ident: Ident<&str>) -> Result<Name, ReadError> {
    ident.name.parse().map_err(|()| ReadError::launch(format!("{}: '%{}' is no name that the emitter gives", ident.at, ident.name)))
}

fn param_of(text: &BundleText<&str>, parameter: Ident<&str>) -> Result<Param, ReadError> {
    let refuse = |what: &str| ReadError::launch(format!("{}: '%{}' {what}", parameter.at, parameter.name));
    let param = text.params.iter().find(|param| param.name.name == parameter.name).ok_or_else(|| refuse("is no parameter"))?;
    let value = text.body.iter().find_map(|statement| match &statement.kind {
        StmtKind::Extract { result, field: Field::Value, parameter: from, .. } if from.name == parameter.name => Some(*result),
        _ => None,
    });
    let bounds = match param.kind {
        ParamType::InputArg { granularity: Some(granularity), max: Some(max) } => Some(SizeBounds { granularity, max }),
        ParamType::InputArg { .. } | ParamType::Index => None,
    };
    Ok(Param { name: name(parameter)?, value: name(value.ok_or_else(|| refuse("is not read"))?)?, bounds })
}

fn statements(text: &BundleText<&str>, body: &[bundle_text::Stmt<&str>]) -> Result<Vec<Stmt>, ReadError> {
    let at = |statement: &bundle_text::Stmt<&str>, what: String| ReadError::launch(format!("{}: {what}", statement.at));
    body.iter().map(|statement| self::statement(text, &statement.kind, |what| at(statement, what))).collect()
}

fn statement(text: &BundleText<&str>, statement: &StmtKind<&str>, refuse: impl Fn(String) -> ReadError) -> Result<Stmt, ReadError> {
    Ok(match statement {
        StmtKind::Allocate { result, bytes } => Stmt::DeviceMemAllocate { name: name(*result)?, bytes: *bytes },
        StmtKind::Extract { parameter, field: Field::Value, .. } => Stmt::InputArgExtract { param: param_of(text, *parameter)? },
        StmtKind::Extract { .. } => return Err(refuse("extracts a bound, which the emitter does not".to_owned())),
        StmtKind::Constant { result, value } => Stmt::Constant { name: name(*result)?, value: *value },
        StmtKind::Add { result, operands: [lhs, rhs] } => Stmt::AddI { name: name(*result)?, lhs: name(*lhs)?, rhs: name(*rhs)? },
        StmtKind::Apply { result, map, dims, symbols } => {
            let MapRef::Named(map) = map else { return Err(refuse("applies a map without a name".to_owned())) };
            let number = text.maps.iter().position(|(known, _)| known.name == map.name);
            let [base] = symbols.as_slice() else { return Err(refuse(format!("has {} bases, not 1", symbols.len()))) };
            Stmt::AffineApply {
                name: name(*result)?,
                map: number.ok_or_else(|| refuse(format!("applies '#{}', which is not there", map.name)))?,
                counters: dims.iter().map(|dim| name(*dim)).collect::<Result<_, _>>()?,
                base: name(*base)?,
            }
        }
        StmtKind::Execute(execute) => Stmt::Execute(Execute {
            op: file_number(execute.file).ok_or_else(|| refuse(format!("runs '{}'; the file of op 0 is sdsc_0.json", execute.file)))?,
            operands: execute.operands.iter().map(|operand| name(*operand)).collect::<Result<_, _>>()?,
            symbol_ids: execute.symbol_ids.clone(),
        }),
        StmtKind::For(counted) => {
            for (ident, wanted) in [(counted.lower, 0), (counted.step, 1)] {
                if constant(text, ident) != Some(wanted) {
                    return Err(refuse(format!("'%{}' is not {wanted}; loops of the emitter count from 0 in steps of 1", ident.name)));
                }
            }
            Stmt::For { counter: name(counted.counter)?, bound: name(counted.upper)?, body: statements(text, &counted.body)? }
        }
    })
}

/// The value of a constant, all of which stand outside of loops.
fn constant(text: &BundleText<&str>, ident: Ident<&str>) -> Option<i64> {
    text.body.iter().find_map(|statement| match &statement.kind {
        StmtKind::Constant { result, value } if result.name == ident.name => Some(*value),
        _ => None,
    })
}

/// The number of the op that has this file.
fn file_number(file: &str) -> Option<usize> {
    file.strip_prefix("sdsc_")?.strip_suffix(".json")?.parse().ok()
}
