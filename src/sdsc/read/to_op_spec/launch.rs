//! Parses the launch in a `bundle.mlir`.

use super::OpSpecReadError;
use crate::launch::Launch;
use crate::launch::name::ValueName;
use crate::launch::{AddressMap, Execute, Param, SizeBounds, Stmt};
use sdsc_format::bundle_text::{self, BundleText, Ident, LinearMap, MapRef, ParamField, ParamType, StmtKind};

/// Parses the text of a `bundle.mlir`; [`Launch::first_symbol_ids`] is left empty.
///
/// # Errors
///
/// If the text is not a bundle, or has values or statements that the emitter does not write.
pub fn parse_launch(text: &str) -> Result<Launch, OpSpecReadError> {
    let text = bundle_text::parse(text)
        .map_err(|error| OpSpecReadError::launch(format!("{}: {}", error.at, error.message)))?;
    let params = text.params.iter().map(|param| parse_param(&text, param.name)).collect::<Result<_, _>>()?;
    let maps = text.maps.iter().map(|(name, map)| parse_map(*name, map)).collect::<Result<_, _>>()?;
    Ok(Launch { maps, params, body: parse_statements(&text, &text.body)?, first_symbol_ids: vec![] })
}

fn parse_name(ident: Ident<&str>) -> Result<ValueName, OpSpecReadError> {
    ident.name.parse().map_err(|()| {
        OpSpecReadError::launch(format!("{}: '%{}' is not a name that spyre-compile writes", ident.at, ident.name))
    })
}

fn parse_map(name: Ident<&str>, map: &LinearMap) -> Result<AddressMap, OpSpecReadError> {
    if (map.symbols.as_slice(), map.constant) != (&[1], 0) {
        let what = "is not supported: expected a map that adds multiples of the loop counters to one address";
        return Err(OpSpecReadError::launch(format!("{}: '#{}' {what}", name.at, name.name)));
    }
    Ok(AddressMap { strides: map.dims.clone() })
}

fn parse_param(text: &BundleText<&str>, parameter: Ident<&str>) -> Result<Param, OpSpecReadError> {
    let reject = |what: &str| OpSpecReadError::launch(format!("{}: '%{}' {what}", parameter.at, parameter.name));
    let param =
        text.params.iter().find(|param| param.name.name == parameter.name).ok_or_else(|| reject("is no parameter"))?;
    let value = text.body.iter().find_map(|statement| match &statement.kind {
        StmtKind::Extract { result, field: ParamField::Value, parameter: from, .. } if from.name == parameter.name => {
            Some(*result)
        }
        _ => None,
    });
    let bounds = match param.kind {
        ParamType::InputArg { granularity: Some(granularity), max: Some(max) } => Some(SizeBounds { granularity, max }),
        ParamType::InputArg { granularity: None, max: None } => None,
        ParamType::InputArg { .. } => return Err(reject("has one bound; a size has both, an address none")),
        ParamType::Index => {
            return Err(reject(
                "is a plain number; expected a parameter of type 'input_arg', which 'input_arg_extract' reads",
            ));
        }
    };
    Ok(Param { name: parse_name(parameter)?, value: parse_name(value.ok_or_else(|| reject("is not read"))?)?, bounds })
}

fn parse_statements(text: &BundleText<&str>, body: &[bundle_text::Stmt<&str>]) -> Result<Vec<Stmt>, OpSpecReadError> {
    let at = |statement: &bundle_text::Stmt<&str>, what: String| {
        OpSpecReadError::launch(format!("{}: {what}", statement.at))
    };
    body.iter().map(|statement| self::parse_statement(text, &statement.kind, |what| at(statement, what))).collect()
}

fn parse_statement(
    text: &BundleText<&str>,
    statement: &StmtKind<&str>,
    reject: impl Fn(String) -> OpSpecReadError,
) -> Result<Stmt, OpSpecReadError> {
    Ok(match statement {
        StmtKind::Allocate { result, bytes } => Stmt::DeviceMemAllocate { name: parse_name(*result)?, bytes: *bytes },
        StmtKind::Extract { parameter, field: ParamField::Value, .. } => {
            Stmt::InputArgExtract { param: parse_param(text, *parameter)? }
        }
        StmtKind::Extract { .. } => return Err(reject("extracts a bound, which is not supported".to_owned())),
        StmtKind::Constant { result, value } => Stmt::Constant { name: parse_name(*result)?, value: *value },
        StmtKind::Add { result, operands: [lhs, rhs] } => {
            Stmt::AddI { name: parse_name(*result)?, lhs: parse_name(*lhs)?, rhs: parse_name(*rhs)? }
        }
        StmtKind::Apply { result, map, dims, symbols } => {
            let MapRef::Named(map) = map else { return Err(reject("applies a map without a name".to_owned())) };
            let number = text.maps.iter().position(|(known, _)| known.name == map.name);
            let [base] = symbols.as_slice() else { return Err(reject(format!("has {} bases, not 1", symbols.len()))) };
            Stmt::AffineApply {
                name: parse_name(*result)?,
                map: number.ok_or_else(|| reject(format!("applies '#{}', which is not there", map.name)))?,
                counters: dims.iter().map(|dim| parse_name(*dim)).collect::<Result<_, _>>()?,
                base: parse_name(*base)?,
            }
        }
        StmtKind::Execute(execute) => Stmt::Execute(Execute {
            op: parse_file_number(execute.file)
                .ok_or_else(|| reject(format!("runs '{}'; the file of op 0 is sdsc_0.json", execute.file)))?,
            operands: execute.operands.iter().map(|operand| parse_name(*operand)).collect::<Result<_, _>>()?,
            symbol_ids: execute.symbol_ids.clone(),
        }),
        StmtKind::For(counted) => {
            let is_sized = find_constant(text, counted.upper).is_none();
            let is_one = |ident| find_constant(text, ident) == Some(1);
            for (ident, wanted, is_expected) in [
                (counted.lower, 0, find_constant(text, counted.lower) == Some(0)),
                (counted.step, 1, is_one(counted.step) || is_sized && find_constant(text, counted.step).is_some()),
            ] {
                if !is_expected {
                    return Err(reject(format!(
                        "'%{}' is not {wanted}; expected a loop from 0 with step 1",
                        ident.name
                    )));
                }
            }
            Stmt::For {
                counter: parse_name(counted.counter)?,
                bound: parse_name(counted.upper)?,
                step: parse_name(counted.step)?,
                body: parse_statements(text, &counted.body)?,
            }
        }
    })
}

/// Returns the value of a constant; constants are outside of all loops.
fn find_constant(text: &BundleText<&str>, ident: Ident<&str>) -> Option<i64> {
    text.body.iter().find_map(|statement| match &statement.kind {
        StmtKind::Constant { result, value } if result.name == ident.name => Some(*value),
        _ => None,
    })
}

/// Returns the number of the op with this file.
pub(super) fn parse_file_number(file: &str) -> Option<usize> {
    file.strip_prefix("sdsc_")?.strip_suffix(".json")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses a launch with a loop in which one address moves, with another map or another type of parameter.
    fn read(map: &str, parameter: &str) -> Result<Launch, String> {
        parse_launch(&format!(
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
    fn rejects_maps_other_than_address_and_strides() {
        assert_eq!(read(MAP, ADDRESS).unwrap().maps, [AddressMap { strides: vec![128] }]);
        for map in [
            "(d0)[s0] -> (s0 + 128*d0 + 128)",
            "(d0)[s0] -> (2*s0 + 128*d0)",
            "(d0)[s0] -> (128*d0)",
            "(d0)[s0, s1] -> (s0 + s1)",
        ] {
            let rejected = read(map, ADDRESS).unwrap_err();
            assert_eq!(
                rejected,
                "bundle.mlir: 1:1: '#map_0' is not supported: expected a map that adds multiples of the loop counters to one address"
            );
        }
    }

    #[test]
    fn reads_parameters_as_addresses_or_bounded_sizes() {
        let size = read(MAP, "!sdscbundle.input_arg<index, granularity=2, max_value=8>").unwrap();
        assert_eq!(size.params[0].bounds, Some(SizeBounds { granularity: 2, max: 8 }));
        for (parameter, reason) in [
            ("!sdscbundle.input_arg<index, max_value=8>", "has one bound; a size has both, an address none"),
            ("index", "is a plain number; expected a parameter of type 'input_arg', which 'input_arg_extract' reads"),
        ] {
            let rejected = read(MAP, parameter).unwrap_err();
            assert!(rejected.ends_with(&format!("'%arg_0_base_addr' {reason}")), "{rejected}");
        }
    }
}
