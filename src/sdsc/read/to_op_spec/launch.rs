//! Parses the launch in a `bundle.mlir`.

use super::ReadError;
use crate::launch::Launch;
use crate::launch::name::Name;
use crate::launch::{AffineMap, Execute, Param, SizeBounds, Stmt};
use sdsc_format::bundle_text::{self, BundleText, Field, Ident, Map, MapRef, ParamType, StmtKind};

/// Parses the text of a `bundle.mlir`; [`Launch::first_symbol_ids`] is left empty.
///
/// # Errors
///
/// If the text is no bundle, or has values or statements that the emitter does not write.
pub fn to_launch(text: &str) -> Result<Launch, ReadError> {
    let text = bundle_text::parse(text).map_err(|error| ReadError::launch(format!("{}: {}", error.at, error.message)))?;
    let params = text.params.iter().map(|param| param_of(&text, param.name)).collect::<Result<_, _>>()?;
    let maps = text.maps.iter().map(|(name, map)| map_of(*name, map)).collect::<Result<_, _>>()?;
    Ok(Launch { maps, params, body: statements(&text, &text.body)?, first_symbol_ids: vec![] })
}

fn name(ident: Ident<&str>) -> Result<Name, ReadError> {
    ident.name.parse().map_err(|()| ReadError::launch(format!("{}: '%{}' is not a name that spyre-compile writes", ident.at, ident.name)))
}

fn map_of(name: Ident<&str>, map: &Map) -> Result<AffineMap, ReadError> {
    if (map.symbols.as_slice(), map.constant) != (&[1], 0) {
        let what = "is not supported: expected a map that adds multiples of the loop counters to one address";
        return Err(ReadError::launch(format!("{}: '#{}' {what}", name.at, name.name)));
    }
    Ok(AffineMap { strides: map.dims.clone() })
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
        ParamType::InputArg { granularity: None, max: None } => None,
        ParamType::InputArg { .. } => return Err(refuse("has one bound; a size has both, an address none")),
        ParamType::Index => {
            return Err(refuse("is a plain number; expected a parameter of type 'input_arg', which 'input_arg_extract' reads"));
        }
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
        StmtKind::Extract { .. } => return Err(refuse("extracts a bound, which is not supported".to_owned())),
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
                    return Err(refuse(format!("'%{}' is not {wanted}; expected a loop from 0 with step 1", ident.name)));
                }
            }
            Stmt::For { counter: name(counted.counter)?, bound: name(counted.upper)?, body: statements(text, &counted.body)? }
        }
    })
}

/// Returns the value of a constant; constants are outside of all loops.
fn constant(text: &BundleText<&str>, ident: Ident<&str>) -> Option<i64> {
    text.body.iter().find_map(|statement| match &statement.kind {
        StmtKind::Constant { result, value } if result.name == ident.name => Some(*value),
        _ => None,
    })
}

/// Returns the number of the op with this file.
pub(super) fn file_number(file: &str) -> Option<usize> {
    file.strip_prefix("sdsc_")?.strip_suffix(".json")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A launch with a loop in which one address moves, with another map or another type of parameter.
    fn read(map: &str, parameter: &str) -> Result<Launch, String> {
        to_launch(&format!(
            "#map_0 = affine_map<{map}>
            func.func @sdsc_bundle(%arg_0_base_addr: {parameter}) {{
                %arg_0 = sdscbundle.input_arg_extract value from %arg_0_base_addr : {parameter} -> index
                %c0 = arith.constant 0 : index
                %c1 = arith.constant 1 : index
                %loop_bound_0 = arith.constant 4 : index
                scf.for %i_0 = %c0 to %loop_bound_0 step %c1 {{ %addr_0 = affine.apply #map_0(%i_0)[%arg_0] }}
                return
            }}"
        ))
        .map_err(|error| error.to_string())
    }

    const MAP: &str = "(d0)[s0] -> (s0 + 128*d0)";
    const ADDRESS: &str = "!sdscbundle.input_arg<index>";

    #[test]
    fn a_map_is_an_address_and_strides_or_is_refused() {
        assert_eq!(read(MAP, ADDRESS).unwrap().maps, [AffineMap { strides: vec![128] }]);
        for map in ["(d0)[s0] -> (s0 + 128*d0 + 128)", "(d0)[s0] -> (2*s0 + 128*d0)", "(d0)[s0] -> (128*d0)", "(d0)[s0, s1] -> (s0 + s1)"] {
            let refused = read(map, ADDRESS).unwrap_err();
            assert_eq!(
                refused,
                "bundle.mlir: 1:1: '#map_0' is not supported: expected a map that adds multiples of the loop counters to one address"
            );
        }
    }

    #[test]
    fn a_parameter_is_an_address_or_a_size_between_bounds() {
        let size = read(MAP, "!sdscbundle.input_arg<index, granularity=2, max_value=8>").unwrap();
        assert_eq!(size.params[0].bounds, Some(SizeBounds { granularity: 2, max: 8 }));
        for (parameter, reason) in [
            ("!sdscbundle.input_arg<index, max_value=8>", "has one bound; a size has both, an address none"),
            ("index", "is a plain number; expected a parameter of type 'input_arg', which 'input_arg_extract' reads"),
        ] {
            let refused = read(MAP, parameter).unwrap_err();
            assert!(refused.ends_with(&format!("'%arg_0_base_addr' {reason}")), "{refused}");
        }
    }
}
