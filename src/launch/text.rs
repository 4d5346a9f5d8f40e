//! Prints a launch as the text of `bundle.mlir`, with the names of the reference emitter ("SuperDSC schema, section
//! 8").

use super::name::ValueName;
use super::statements::{AddressMap, Launch, Param, Stmt};
use sdsc_format::bundle_text::{
    self, BundleText, Execute, FUNCTION_NAME, ForLoop, Ident, LinearMap, MapRef, ParamField, ParamType, Position,
    StmtKind,
};
use std::fmt;

impl fmt::Display for Launch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        to_bundle_text(self).fmt(formatter)
    }
}

fn to_bundle_text(launch: &Launch) -> BundleText<String> {
    BundleText {
        maps: launch.maps.iter().enumerate().map(|(number, map)| (map_name(number), to_linear_map(map))).collect(),
        function: ident(FUNCTION_NAME),
        params: launch
            .params
            .iter()
            .map(|param| bundle_text::Param { name: ident(param.name), kind: param_type(param) })
            .collect(),
        body: convert_statements(&launch.body),
    }
}

fn ident(name: impl ToString) -> Ident<String> {
    Ident { name: name.to_string(), at: Position::default() }
}

fn idents(names: &[ValueName]) -> Vec<Ident<String>> {
    names.iter().map(ident).collect()
}

fn map_name(number: usize) -> Ident<String> {
    ident(format_args!("map_{number}"))
}

fn to_linear_map(map: &AddressMap) -> LinearMap {
    LinearMap { dims: map.strides.clone(), symbols: vec![1], constant: 0 }
}

fn param_type(param: &Param) -> ParamType {
    ParamType::InputArg {
        granularity: param.bounds.map(|bounds| bounds.granularity),
        max: param.bounds.map(|bounds| bounds.max),
    }
}

fn convert_statements(body: &[Stmt]) -> Vec<bundle_text::Stmt<String>> {
    body.iter()
        .map(|statement| bundle_text::Stmt { at: Position::default(), kind: convert_statement(statement) })
        .collect()
}

fn convert_statement(statement: &Stmt) -> StmtKind<String> {
    match statement {
        Stmt::DeviceMemAllocate { name, bytes } => StmtKind::Allocate { result: ident(name), bytes: *bytes },
        Stmt::InputArgExtract { param } => StmtKind::Extract {
            result: ident(param.value),
            field: ParamField::Value,
            parameter: ident(param.name),
            parameter_type: param_type(param),
        },
        Stmt::Constant { name, value } => StmtKind::Constant { result: ident(name), value: *value },
        Stmt::AddI { name, lhs, rhs } => StmtKind::Add { result: ident(name), operands: [ident(lhs), ident(rhs)] },
        Stmt::AffineApply { name, map, counters, base } => StmtKind::Apply {
            result: ident(name),
            map: MapRef::Named(map_name(*map)),
            dims: idents(counters),
            symbols: vec![ident(base)],
        },
        Stmt::Execute(execute) => StmtKind::Execute(Execute {
            operands: idents(&execute.operands),
            file: execute.file_name(),
            symbol_ids: execute.symbol_ids.clone(),
        }),
        Stmt::For { counter, bound, step, body } => StmtKind::For(ForLoop {
            counter: ident(counter),
            lower: ident(ValueName::Zero),
            upper: ident(bound),
            step: ident(step),
            body: convert_statements(body),
        }),
    }
}
